/*
 * The first screen.  A label column of fixed width, one fact a line; what went wrong
 * with the recording stands before any number that it may have changed.
 */
#include "config.h"

#include "src/report/head.h"

#include "src/base/fmt.h"
#include "src/report/missing.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LABEL_COLS 13u
#define LINE_BYTES 1024u
#define NS_PER_S   1000000000ull

static void label(struct text *t, const char *name)
{
	text_spaces(t, 2);
	text_left(t, STYLE_DIM, LABEL_COLS - 2, name);
}

static size_t value_cols(const struct text *t)
{
	return t->width_cols - LABEL_COLS;
}

/* ---- the run ---------------------------------------------------------------------- */

static bool needs_quotes(const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";
	return !*arg || arg[strspn(arg, plain)];
}

/* As a shell would need it, so that it can be copied. */
static void quote(struct buf *out, const char *arg)
{
	if (!needs_quotes(arg)) {
		buf_puts(out, arg);
		return;
	}
	buf_putc(out, '\'');
	for (; *arg; arg++) {
		if (*arg == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *arg);
	}
	buf_putc(out, '\'');
}

static void write_command(struct text *t, struct shortener *nm, const struct profile *p)
{
	const struct profile_run *run = &p->run;
	struct buf command = {0};
	for (size_t i = 0; i < run->argv_count; i++) {
		if (i)
			buf_putc(&command, ' ');
		quote(&command, run->argv[i]);
	}
	if (command.has_failed)
		nm->has_failed = true;
	label(t, "command");
	if (!command.count_bytes && p->has_source && !*run->exe)
		text_put(t, STYLE_DIM, "[unknown]");
	else
		text_put(t, STYLE_STRONG,
			 name_text(nm, command.count_bytes ? command.data : run->exe,
				   value_cols(t)));
	text_newline(t);
	buf_release(&command);
}

/* The rest of a labelled line, in as many lines as it takes. */
static void write_words(struct text *t, size_t used_cols, const char *words)
{
	text_wrap(t, STYLE_PLAIN, used_cols, LABEL_COLS, words);
	text_newline(t);
}

bool head_knows(const struct graph *g, uint64_t facts)
{
	const struct profile *p = graph_profile(g);
	return !p->has_source || !(p->source.unknown & facts);
}

/* Where an imported profile comes from, and what it cannot tell. */
static void write_source(struct text *t, struct shortener *nm, const struct profile *p)
{
	const struct profile_source *s = &p->source;
	struct buf words = {0};
	if (!p->has_source)
		return;
	buf_printf(&words, "from %s%s%s%s%s", s->title, *s->producer ? " (" : "", s->producer,
		   *s->producer ? ")" : "", s->is_estimated ? ", estimated from samples" : "");
	if (s->unknown) {
		buf_puts(&words, "; not known: ");
		profile_facts_text(s->unknown, &words);
	}
	if (*s->time_unit)
		buf_printf(&words, "; times are counted in %s", s->time_unit);
	nm->has_failed |= words.has_failed;
	label(t, "imported");
	write_words(t, LABEL_COLS, name_text(nm, words.data ? words.data : "", SIZE_MAX));
	buf_release(&words);
}

static void write_process(struct text *t, struct shortener *nm, const struct profile *p)
{
	bool has_threads = !p->has_source || !(p->source.unknown & FACT_THREADS);
	bool has_pid = p->run.pid || !p->has_source;
	if (!has_pid && !has_threads)
		return;
	char count[FMT_BYTES], pid[FMT_BYTES] = "", forked[64] = "", line[LINE_BYTES];
	bool has_host = p->run.host && *p->run.host;
	if (p->run.is_forked)
		snprintf(forked, sizeof forked, ", forked by %" PRIu32, p->run.ppid);
	if (has_pid)
		snprintf(pid, sizeof pid, "pid %" PRIu32, p->run.pid);
	snprintf(line, sizeof line, "%s%s%s%s%s%s%s", pid, forked,
		 has_pid && has_threads ? ", " : "",
		 has_threads ? fmt_count(count, sizeof count, (int64_t)p->thread_count) : "",
		 !has_threads           ? ""
		 : p->thread_count == 1 ? " thread that allocated"
					: " threads that allocated",
		 has_host ? ", on " : "",
		 has_host ? name_text(nm, p->run.host, value_cols(t) / 2) : "");
	label(t, "process");
	write_words(t, LABEL_COLS, line);
}

/* Not from libc, whose names depend on the locale. */
static const char *signal_name(int number)
{
	static const struct {
		int number;
		const char *name;
	} signals[] = {
		{SIGABRT, "SIGABRT"}, {SIGALRM, "SIGALRM"}, {SIGBUS, "SIGBUS"},
		{SIGFPE, "SIGFPE"},   {SIGHUP, "SIGHUP"},   {SIGILL, "SIGILL"},
		{SIGINT, "SIGINT"},   {SIGKILL, "SIGKILL"}, {SIGPIPE, "SIGPIPE"},
		{SIGQUIT, "SIGQUIT"}, {SIGSEGV, "SIGSEGV"}, {SIGSYS, "SIGSYS"},
		{SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGUSR1, "SIGUSR1"},
		{SIGUSR2, "SIGUSR2"}, {SIGXCPU, "SIGXCPU"}, {SIGXFSZ, "SIGXFSZ"},
	};
	for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		if (signals[i].number == number)
			return signals[i].name;
	}
	return NULL;
}

static const char *how_it_ended(const struct profile_end *end, char *dst, size_t cap)
{
	const char *name = NULL;
	switch (end->kind) {
	case END_EXITED:
		if (end->has_status)
			snprintf(dst, cap, "exited with status %d", end->status);
		else
			snprintf(dst, cap, "exited");
		break;
	case END_SIGNALED:
		name = end->has_status ? signal_name(end->status) : NULL;
		if (name)
			snprintf(dst, cap, "killed by %s", name);
		else if (end->has_status)
			snprintf(dst, cap, "killed by signal %d", end->status);
		else
			snprintf(dst, cap, "killed by a signal");
		break;
	case END_EXEC:
		snprintf(dst, cap, "replaced itself by another program (exec)");
		break;
	case END_STOPPED:
		snprintf(dst, cap, "the recording stopped before the process ended");
		break;
	case END_UNKNOWN:
		snprintf(dst, cap, "how it ended is not known");
		break;
	}
	return dst;
}

static void write_time(struct text *t, const struct graph *g)
{
	const struct profile *p = graph_profile(g);
	if (p->has_source && !p->run.start_unix_ns && !head_knows(g, FACT_TIME))
		return;
	char date[64] = "", duration[FMT_BYTES], how[128], line[LINE_BYTES];
	time_t start = (time_t)(p->run.start_unix_ns / NS_PER_S);
	struct tm tm;
	if (p->run.start_unix_ns && localtime_r(&start, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z, ", &tm);
	snprintf(line, sizeof line, "%sran %s, %s", date,
		 fmt_duration(duration, sizeof duration, graph_end_time(g)),
		 how_it_ended(&p->end, how, sizeof how));
	label(t, "run");
	write_words(t, LABEL_COLS, line);
}

void head_run(struct text *t, struct shortener *nm, const struct graph *g)
{
	const struct profile *p = graph_profile(g);
	label(t, "profile");
	text_put(t, STYLE_PLAIN, name_text(nm, p->path ? p->path : "", value_cols(t)));
	text_newline(t);
	write_command(t, nm, p);
	write_source(t, nm, p);
	write_process(t, nm, p);
	write_time(t, g);
}

/* ---- warnings --------------------------------------------------------------------- */

static void warn(struct text *t, struct shortener *nm, const char *words)
{
	text_printf(t, STYLE_WARNING, "  %s ", text_glyph(t, GLYPH_WARNING));
	text_wrap(t, STYLE_WARNING, 4, 4, name_text(nm, words, SIZE_MAX));
	text_newline(t);
}

static void warn_of_drops(struct text *t, struct shortener *nm, const struct profile *p)
{
	char count[FMT_BYTES], line[LINE_BYTES];
	for (int d = 0; d < DROP_COUNT; d++) {
		const char *meaning = profile_drop_meaning((enum profile_drop)d);
		if (!p->drops[d])
			continue;
		if (p->drops[d] == 1)
			snprintf(line, sizeof line, "%s (once)", meaning);
		else
			snprintf(line, sizeof line, "%s %s",
				 fmt_count(count, sizeof count, (int64_t)p->drops[d]), meaning);
		warn(t, nm, line);
	}
}

static void warn_of_peak(struct text *t, struct shortener *nm, const struct graph *g)
{
	char bytes[FMT_BYTES], line[LINE_BYTES];
	struct graph_peak peak = graph_peak(g);
	if (!head_knows(g, FACT_PEAK))
		return;
	if (!head_knows(g, FACT_PEAK_EXACT) && peak.is_exact)
		warn(t, nm, "The peak is the highest instant that was looked at.");
	else if (!peak.is_exact && peak.bytes)
		warn(t, nm,
		     "The exact peak was not recorded: what is called the peak is the highest "
		     "snapshot.");
	else if (peak.is_exact && peak.bound_bytes) {
		snprintf(line, sizeof line,
			 "The peak is exact to within %s, because several threads allocated at "
			 "once.",
			 fmt_bytes(bytes, sizeof bytes, (int64_t)peak.bound_bytes));
		warn(t, nm, line);
	}
}

#define MISSING_SHOWN 3u

static void warn_of_module(struct text *t, struct shortener *nm, const struct profile *p,
			   const struct missing *m, size_t i)
{
	const struct missing_module *item = &m->items[i];
	const char *path = p->modules[item->module - 1].path, *slash = strrchr(path, '/');
	bool is_of_peak = item->peak.bytes >= m->peak.bytes / 100;
	char count[FMT_BYTES], share[FMT_BYTES], line[LINE_BYTES];
	double part = (double)(is_of_peak ? item->peak : item->allocated).bytes;
	snprintf(line, sizeof line, "%.200s: %s %s without a name, on the call paths of %s of %s.",
		 slash ? slash + 1 : path,
		 fmt_count(count, sizeof count, (int64_t)item->frame_count),
		 item->frame_count == 1 ? "address" : "addresses",
		 fmt_pct(share, sizeof share, part,
			 (double)(is_of_peak ? m->peak : m->allocated).bytes),
		 is_of_peak ? "the peak" : "what was allocated");
	warn(t, nm, line);
}

/* One for each module where it matters, and where to read what to do. */
static void warn_of_missing_names(struct text *t, struct shortener *nm, const struct graph *g,
				  const struct missing *m)
{
	char line[LINE_BYTES], count[FMT_BYTES];
	size_t grave_count = 0;
	for (size_t i = 0; i < m->count; i++) {
		if (missing_is_grave(m, i) && grave_count++ < MISSING_SHOWN)
			warn_of_module(t, nm, graph_profile(g), m, i);
	}
	if (grave_count > MISSING_SHOWN) {
		snprintf(line, sizeof line, "%s more modules without names.",
			 fmt_count(count, sizeof count, (int64_t)(grave_count - MISSING_SHOWN)));
		warn(t, nm, line);
	}
	if (grave_count)
		warn(t, nm,
		     "Supply symbols with neap symbolize; neap info --missing-symbols says which.");
}

/* One warning for each note of the import. */
static void warn_of_import(struct text *t, struct shortener *nm, const struct profile *p)
{
	const char *note = p->has_source ? p->source.notes : "";
	while (*note) {
		char line[LINE_BYTES];
		size_t bytes = strcspn(note, "\n");
		bool has_stop = bytes && note[bytes - 1] == '.';
		snprintf(line, sizeof line, "%.*s%s", (int)bytes, note, has_stop ? "" : ".");
		warn(t, nm, line);
		note += bytes + (note[bytes] == '\n');
	}
}

void head_warnings(struct text *t, struct shortener *nm, const struct graph *g)
{
	struct missing m;
	struct err e;
	if (missing_find(g, &m, &e))
		nm->has_failed = true;
	else
		head_warnings_with(t, nm, g, &m);
	missing_release(&m);
}

void head_warnings_with(struct text *t, struct shortener *nm, const struct graph *g,
			const struct missing *m)
{
	const struct profile *p = graph_profile(g);
	char line[LINE_BYTES], bytes[FMT_BYTES];
	if (*p->damage.text)
		warn(t, nm, p->damage.text);
	if (p->end.kind == END_STOPPED) {
		snprintf(line, sizeof line,
			 "The recording stopped early%s%s; what happened later is not in here.",
			 p->end.reason && *p->end.reason ? ": " : "",
			 p->end.reason ? p->end.reason : "");
		warn(t, nm, line);
	}
	if (p->run.sample_bytes && !p->has_source) {
		snprintf(line, sizeof line,
			 "Sampled, about one block every %s: the numbers are of the sampled "
			 "blocks only, not estimates of all.",
			 fmt_bytes(bytes, sizeof bytes, (int64_t)p->run.sample_bytes));
		warn(t, nm, line);
	}
	if (!p->has_symbols)
		warn(t, nm,
		     "The file has no function names: the recording ended before they were looked "
		     "up.  neap symbolize adds them.");
	else if (!p->has_source)
		warn_of_missing_names(t, nm, g, m);
	warn_of_import(t, nm, p);
	warn_of_drops(t, nm, p);
	warn_of_peak(t, nm, g);
}

/* ---- totals ------------------------------------------------------------------------ */

#define FIGURE_COLS 10u /* "1023.9 MiB" */

/* What a figure is of, and what it takes to know it. */
static bool is_figure_known(struct text *t, const struct graph *g, const char *name, uint64_t facts)
{
	if (head_knows(g, facts))
		return true;
	label(t, name);
	text_right(t, STYLE_DIM, FIGURE_COLS, "[unknown]");
	text_newline(t);
	return false;
}

/* "1.2 MiB in 34 blocks", then the rest of the sentence. */
static void write_figure(struct text *t, const struct graph *g, const char *name,
			 struct graph_sum sum, const char *one_block, const char *blocks,
			 const char *rest)
{
	char bytes[FMT_BYTES], count[FMT_BYTES], line[LINE_BYTES];
	label(t, name);
	text_right(t, STYLE_STRONG, FIGURE_COLS, fmt_bytes(bytes, sizeof bytes, sum.bytes));
	text_spaces(t, 1);
	if (!head_knows(g, FACT_COUNTS)) {
		write_words(t, LABEL_COLS + FIGURE_COLS + 1, *rest ? rest + 1 : "");
		return;
	}
	snprintf(line, sizeof line, "in %s %s%s", fmt_count(count, sizeof count, sum.blocks),
		 sum.blocks == 1 ? one_block : blocks, rest);
	write_words(t, LABEL_COLS + FIGURE_COLS + 1, line);
}

static void write_peak(struct text *t, const struct graph *g, struct graph_sum sum)
{
	char when[FMT_BYTES], share[FMT_BYTES], rest[LINE_BYTES] = "";
	struct graph_peak peak = graph_peak(g);
	if (!is_figure_known(t, g, "peak", FACT_PEAK))
		return;
	if (sum.blocks && head_knows(g, FACT_TIME))
		snprintf(rest, sizeof rest, " at %s (%s of the run)",
			 fmt_duration(when, sizeof when, peak.time_ns),
			 fmt_pct(share, sizeof share, (double)peak.time_ns,
				 (double)graph_end_time(g)));
	write_figure(t, g, "peak", sum, "block", "blocks", rest);
}

/* The answer most people came for, before anything else. */
static void write_holders(struct text *t, struct shortener *nm, const struct graph *g,
			  const struct answer *holders)
{
	int64_t all_bytes = answer_total(holders).bytes;
	for (size_t i = 0; i < holders->result->row_count; i++) {
		int64_t held_bytes = answer_sum(holders, i, "self").bytes;
		if (holders->result->rows[i].kind == ROW_OTHER || held_bytes <= 0)
			break;
		char share[FMT_BYTES], bytes[FMT_BYTES], line[2 * FMT_BYTES];
		struct graph_frame f = graph_entry(g, answer_entry(holders, i));
		snprintf(line, sizeof line, "%7s ",
			 fmt_pct(share, sizeof share, (double)held_bytes, (double)all_bytes));
		fmt_bytes(bytes, sizeof bytes, held_bytes);
		label(t, i ? "" : "  held by");
		text_right(t, STYLE_PLAIN, FIGURE_COLS, bytes);
		text_put(t, STYLE_PLAIN, " ");
		text_put(t, STYLE_DIM, line);
		text_put(t, STYLE_STRONG, name_frame(nm, &f, value_cols(t) - 20));
		text_newline(t);
	}
}

static void write_temporary(struct text *t, const struct graph *g, const struct head_totals *totals)
{
	char share[FMT_BYTES], rest[LINE_BYTES] = "";
	if (!is_figure_known(t, g, "temporary", FACT_TEMPORARY))
		return;
	if (totals->allocated.blocks)
		snprintf(rest, sizeof rest, " (%s), freed at once",
			 fmt_pct(share, sizeof share, (double)totals->temporary.blocks,
				 (double)totals->allocated.blocks));
	write_figure(t, g, "temporary", totals->temporary, "allocation", "allocations", rest);
}

void head_figures(struct text *t, struct shortener *nm, const struct graph *g,
		  const struct head_totals *totals, const struct answer *holders)
{
	write_peak(t, g, totals->peak);
	if (holders->result)
		write_holders(t, nm, g, holders);
	if (is_figure_known(t, g, "leaked", FACT_LIVE))
		write_figure(t, g, "leaked", totals->leaked, "block", "blocks", "");
	if (is_figure_known(t, g, "allocated", FACT_ALLOCATED))
		write_figure(t, g, "allocated", totals->allocated, "allocation", "allocations", "");
	write_temporary(t, g, totals);
	if (totals->has_mappings && is_figure_known(t, g, "mapped", FACT_PEAK))
		write_figure(t, g, "mapped", totals->mapped, "mapping", "mappings",
			     " at the peak; all figures are of heap and mappings together");
	if (totals->inherited.blocks)
		write_figure(t, g, "inherited", totals->inherited, "block", "blocks",
			     " from the parent process, not counted as allocated");
}
