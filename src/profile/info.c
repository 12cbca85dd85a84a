/*
 * The facts about a profile.  One struct of totals feeds both outputs, so that they
 * cannot differ.
 */
#include "config.h"

#include "src/profile/info.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "src/base/fmt.h"
#include "src/base/json.h"

#define TEXT_BYTES 4096
#define NS_PER_S   1000000000ull

struct totals {
	uint64_t blocks, bytes; /* allocated by this process */
	uint64_t freed_blocks, freed_bytes;
	uint64_t temporary_blocks;
	uint64_t mapped_blocks, mapped_bytes;       /* of blocks and bytes, by mmap and mremap */
	uint64_t inherited_blocks, inherited_bytes; /* live when the process was forked */
	size_t named_frames;
	uint64_t dropped_count;
};

static struct totals add_up(const struct profile *p)
{
	struct totals t = {0};
	for (size_t i = 0; i < p->cohort_count; i++) {
		bool is_own = !(profile_cohort_flags(p, i) & COHORT_INHERITED);
		*(is_own ? &t.blocks : &t.inherited_blocks) += profile_cohort_births(p, i);
		*(is_own ? &t.bytes : &t.inherited_bytes) += profile_cohort_born_bytes(p, i);
		t.temporary_blocks += profile_cohort_temporary(p, i);
		if (!is_own || profile_site_api(p, profile_cohort_site(p, i) - 1) != API_MMAP)
			continue;
		t.mapped_blocks += profile_cohort_births(p, i);
		t.mapped_bytes += profile_cohort_born_bytes(p, i);
	}
	for (size_t i = 0; i < p->death_count; i++) {
		t.freed_blocks += profile_death_blocks(p, i);
		t.freed_bytes += profile_death_bytes(p, i);
	}
	for (size_t f = 0; p->has_symbols && f < profile_own_frames(p); f++)
		t.named_frames += p->symbols.first_line[f] < p->symbols.first_line[f + 1];
	for (size_t i = 0; i < DROP_COUNT; i++)
		t.dropped_count += p->drops[i];
	return t;
}

static const char *end_kind(enum profile_end_kind kind)
{
	static const char *const names[] = {
		[END_UNKNOWN] = "unknown", [END_EXITED] = "exited",   [END_SIGNALED] = "signaled",
		[END_EXEC] = "exec",       [END_STOPPED] = "stopped",
	};
	return names[kind];
}

/* ---- for people ---------------------------------------------------------------------- */

struct text {
	struct buf *out;
	bool is_utf8;
};

static void label(const struct text *t, const char *name)
{
	buf_printf(t->out, "%-11s ", name);
}

static void put_name(const struct text *t, const char *s)
{
	char safe[TEXT_BYTES];
	buf_puts(t->out, fmt_safe(safe, sizeof safe, s, strlen(s), t->is_utf8));
}

/* A word of a command line as one would type it. */
static void put_word(const struct text *t, const char *s)
{
	bool is_plain = *s && !strpbrk(s, " \t\n'\"\\$`&|;<>()*?[]#~!{}");
	buf_puts(t->out, is_plain ? "" : "'");
	for (const char *quote; !is_plain && (quote = strchr(s, '\'')); s = quote + 1) {
		char part[TEXT_BYTES];
		fmt_safe(part, sizeof part, s, (size_t)(quote - s), t->is_utf8);
		buf_printf(t->out, "%s'\\''", part);
	}
	put_name(t, s);
	buf_puts(t->out, is_plain ? "" : "'");
}

static bool knows(const struct profile *p, uint64_t facts)
{
	return !p->has_source || !(p->source.unknown & facts);
}

/* What an importer was not told is 0, or empty. */
static bool is_told(const struct profile *p, uint64_t v)
{
	return v || !p->has_source;
}

static void put_told(const struct text *t, const struct profile *p, const char *s)
{
	if (is_told(p, (unsigned char)*s))
		put_name(t, s);
	else
		buf_puts(t->out, "[unknown]");
}

static void put_told_number(const struct text *t, const struct profile *p, uint64_t v)
{
	if (is_told(p, v))
		buf_printf(t->out, "%" PRIu64, v);
	else
		buf_puts(t->out, "[unknown]");
}

/* Its times may have a unit of their own even though it does not know when blocks came and went. */
static bool has_duration(const struct profile *p)
{
	return knows(p, FACT_TIME) || p->end.time_ns;
}

static void text_source(const struct profile *p, const struct text *t)
{
	const struct profile_source *s = &p->source;
	if (!p->has_source)
		return;
	label(t, "Imported:");
	buf_puts(t->out, "from ");
	put_name(t, s->title);
	buf_puts(t->out, *s->producer ? " (" : "");
	put_name(t, s->producer);
	buf_puts(t->out, *s->producer ? "), " : ", ");
	put_name(t, s->file);
	buf_printf(t->out, "%s%s\n", s->is_estimated ? ", estimated from samples" : "",
		   s->is_partial ? ", which ends too early" : "");
	label(t, "Not known:");
	profile_facts_text(s->unknown, t->out);
	buf_putc(t->out, '\n');
	if (*s->time_unit) {
		label(t, "Times:");
		buf_puts(t->out, "1 ns stands for one of ");
		put_name(t, s->time_unit);
		buf_putc(t->out, '\n');
	}
	for (const char *note = s->notes; *note;) {
		char safe[TEXT_BYTES];
		size_t bytes = strcspn(note, "\n");
		label(t, "Note:");
		buf_printf(t->out, "%s\n", fmt_safe(safe, sizeof safe, note, bytes, t->is_utf8));
		note += bytes + (note[bytes] == '\n');
	}
}

static void text_run(const struct profile *p, const struct text *t)
{
	const struct profile_run *r = &p->run;
	label(t, "Command:");
	for (size_t i = 0; i < r->argv_count; i++) {
		buf_puts(t->out, i ? " " : "");
		put_word(t, r->argv[i]);
	}
	buf_puts(t->out, r->argv_count || !p->has_source ? "\n" : "[unknown]\n");
	label(t, "Program:");
	put_told(t, p, r->exe);
	buf_puts(t->out, ", in ");
	put_told(t, p, r->cwd);
	buf_putc(t->out, '\n');
	label(t, "Host:");
	put_told(t, p, r->host);
	buf_puts(t->out, ", ");
	put_told(t, p, r->kernel);
	buf_puts(t->out, ", ");
	put_told_number(t, p, r->cpu_count);
	buf_printf(t->out, " processor%s\n", r->cpu_count == 1 ? "" : "s");
	label(t, "Process:");
	put_told_number(t, p, r->pid);
	buf_puts(t->out, ", started by ");
	put_told_number(t, p, r->ppid);
	buf_printf(t->out, "%s\n", r->is_forked ? " as a copy of itself (fork)" : "");
}

static void text_times(const struct profile *p, const struct text *t)
{
	char when[64] = "unknown", duration[FMT_BYTES], interval[FMT_BYTES];
	time_t start = (time_t)(p->run.start_unix_ns / NS_PER_S);
	struct tm tm;
	if (p->run.start_unix_ns && localtime_r(&start, &tm))
		strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S %z", &tm);
	label(t, "Started:");
	buf_printf(t->out, "%s, recorded by ", when);
	put_name(t, p->run.tool);
	buf_putc(t->out, '\n');
	label(t, "Duration:");
	buf_printf(t->out, "%s, %zu snapshot%s",
		   has_duration(p) ? fmt_duration(duration, sizeof duration, p->end.time_ns)
				   : "[unknown]",
		   p->snapshot_count, p->snapshot_count == 1 ? "" : "s");
	if (is_told(p, p->run.interval_ns))
		buf_printf(t->out, ", at first every %s",
			   fmt_duration(interval, sizeof interval, p->run.interval_ns));
	buf_putc(t->out, '\n');
}

static void text_end(const struct profile *p, const struct text *t)
{
	const struct profile_end *e = &p->end;
	label(t, "Ended:");
	if (e->kind == END_EXITED && e->has_status)
		buf_printf(t->out, "exited with status %d", e->status);
	else if (e->kind == END_EXITED)
		buf_puts(t->out, "exited, status not known");
	else if (e->kind == END_SIGNALED && e->has_status)
		buf_printf(t->out, "killed by signal %d (%s)", e->status, strsignal(e->status));
	else if (e->kind == END_SIGNALED)
		buf_puts(t->out, "killed by a signal");
	else if (e->kind == END_EXEC)
		buf_puts(t->out, "replaced itself by another program (exec)");
	else if (e->kind == END_STOPPED)
		buf_puts(t->out, "still ran when the recording stopped");
	else
		buf_puts(t->out, "not known, the file has no end");
	if (*e->reason) {
		buf_puts(t->out, ": ");
		put_name(t, e->reason);
	}
	buf_putc(t->out, '\n');
}

static void text_unknown(const struct text *t, const char *name)
{
	label(t, name);
	buf_puts(t->out, "[unknown]\n");
}

static void text_amount(const struct text *t, const char *name, uint64_t blocks, uint64_t bytes)
{
	char count[FMT_BYTES], size[FMT_BYTES], exact[FMT_BYTES];
	label(t, name);
	buf_printf(t->out, "%s in %s block%s (%s bytes)\n",
		   fmt_bytes(size, sizeof size, (int64_t)bytes),
		   fmt_count(count, sizeof count, (int64_t)blocks), blocks == 1 ? "" : "s",
		   fmt_count(exact, sizeof exact, (int64_t)bytes));
}

/* Of what was imported, only the bytes may be known, or nothing. */
static void text_if_known(const struct profile *p, const struct text *t, const char *name,
			  uint64_t fact, uint64_t blocks, uint64_t bytes)
{
	char size[FMT_BYTES], exact[FMT_BYTES];
	if (!knows(p, fact)) {
		text_unknown(t, name);
	} else if (!knows(p, FACT_COUNTS)) {
		label(t, name);
		buf_printf(t->out, "%s in [unknown] blocks (%s bytes)\n",
			   fmt_bytes(size, sizeof size, (int64_t)bytes),
			   fmt_count(exact, sizeof exact, (int64_t)bytes));
	} else {
		text_amount(t, name, blocks, bytes);
	}
}

static void text_peak(const struct profile *p, const struct text *t)
{
	char size[FMT_BYTES], exact[FMT_BYTES], when[FMT_BYTES], bound[FMT_BYTES];
	label(t, "Peak:");
	if (!p->has_peak) {
		buf_puts(t->out, "not in the file\n");
		return;
	}
	buf_printf(t->out, "%s (%s bytes) at %s, ",
		   fmt_bytes(size, sizeof size, (int64_t)p->peak.bytes),
		   fmt_count(exact, sizeof exact, (int64_t)p->peak.bytes),
		   fmt_duration(when, sizeof when, p->peak.time_ns));
	if (!knows(p, FACT_PEAK_EXACT))
		buf_puts(t->out, "the highest of the instants that were looked at\n");
	else if (p->peak.bound_bytes)
		buf_printf(t->out, "exact within %s\n",
			   fmt_bytes(bound, sizeof bound, (int64_t)p->peak.bound_bytes));
	else
		buf_puts(t->out, "exact\n");
}

static void text_counts(const struct profile *p, const struct totals *sum, const struct text *t)
{
	char a[FMT_THINGS_BYTES], b[FMT_THINGS_BYTES], c[FMT_THINGS_BYTES], d[FMT_THINGS_BYTES];
	label(t, "Call tree:");
	buf_printf(t->out, "%s, %s, %s, %s\n",
		   fmt_things(a, sizeof a, (int64_t)(p->node_count - PROFILE_NODE_FIRST), "node"),
		   fmt_things(b, sizeof b, (int64_t)profile_own_frames(p), "frame"),
		   fmt_things(c, sizeof c, (int64_t)p->site_count, "site"),
		   fmt_things(d, sizeof d, (int64_t)p->cohort_count, "cohort"));
	label(t, "Threads:");
	if (knows(p, FACT_THREADS))
		buf_printf(t->out, "%zu\n", p->thread_count);
	else
		buf_puts(t->out, "[unknown]\n");
	if (p->mark_count) {
		label(t, "Marks:");
		buf_printf(t->out, "%zu\n", p->mark_count);
	}
	label(t, "Names:");
	if (p->has_symbols)
		buf_printf(t->out, "for %s of %s frames\n",
			   fmt_count(a, sizeof a, (int64_t)sum->named_frames),
			   fmt_count(b, sizeof b, (int64_t)profile_own_frames(p)));
	else
		buf_puts(t->out, "none in the file\n");
}

static void text_drops(const struct profile *p, const struct totals *sum, const struct text *t)
{
	char count[FMT_BYTES];
	if (!sum->dropped_count) {
		label(t, "Dropped:");
		buf_puts(t->out, "nothing\n");
	}
	for (unsigned i = 0; i < DROP_COUNT; i++) {
		if (!p->drops[i])
			continue;
		label(t, "Dropped:");
		buf_printf(t->out, "%s %s\n", fmt_count(count, sizeof count, (int64_t)p->drops[i]),
			   profile_drop_meaning((enum profile_drop)i));
	}
}

static void text_modules(const struct profile *p, const struct text *t)
{
	buf_printf(t->out, "\nModules (%zu), with build id:\n", p->module_count);
	for (size_t i = 0; i < p->module_count; i++) {
		const struct profile_module *m = &p->modules[i];
		char hex[2 * sizeof m->build_id + 1] = "none";
		if (m->build_id_bytes)
			fmt_hex(hex, sizeof hex, m->build_id, m->build_id_bytes);
		buf_printf(t->out, "  %-40s  ", hex);
		put_name(t, m->path);
		if (m->last_snap)
			buf_printf(t->out, "  (unloaded in interval %u)", m->last_snap);
		buf_putc(t->out, '\n');
	}
}

void profile_info_text(const struct profile *p, bool is_utf8, struct buf *out)
{
	const struct text t = {out, is_utf8};
	struct totals sum = add_up(p);
	char size[FMT_BYTES], sample[FMT_BYTES];
	label(&t, "File:");
	put_name(&t, p->path);
	buf_printf(out, ", %s\n", fmt_bytes(size, sizeof size, (int64_t)p->file_bytes));
	if (p->damage.text[0]) {
		label(&t, "Damage:");
		buf_printf(out, "%s\n", p->damage.text);
	}
	text_source(p, &t);
	text_run(p, &t);
	text_times(p, &t);
	text_end(p, &t);
	if (p->run.sample_bytes) {
		label(&t, "Sampled:");
		buf_printf(out, "one block in every %s; the counts are %s\n",
			   fmt_bytes(sample, sizeof sample, (int64_t)p->run.sample_bytes),
			   p->has_source ? "estimates made of the samples"
					 : "those of the samples");
	}
	text_if_known(p, &t, "Allocated:", FACT_ALLOCATED, sum.blocks, sum.bytes);
	if (sum.mapped_blocks)
		text_amount(&t, "  by mmap:", sum.mapped_blocks, sum.mapped_bytes);
	if (sum.inherited_blocks)
		text_amount(&t, "Inherited:", sum.inherited_blocks, sum.inherited_bytes);
	text_if_known(p, &t, "Still live:", FACT_LIVE,
		      sum.blocks + sum.inherited_blocks - sum.freed_blocks,
		      sum.bytes + sum.inherited_bytes - sum.freed_bytes);
	text_peak(p, &t);
	text_counts(p, &sum, &t);
	text_drops(p, &sum, &t);
	text_modules(p, &t);
}

/* ---- for programs -------------------------------------------------------------------------- */

/* Keys are written in order; `separator` is what stands before the next one. */
struct json {
	struct buf *out;
	const char *separator;
};

static void key(struct json *j, const char *name)
{
	buf_printf(j->out, "%s\"%s\":", j->separator, name);
	j->separator = ",";
}

static void put_string(struct json *j, const char *name, const char *s)
{
	key(j, name);
	json_string(j->out, s, strlen(s));
}

static void put_number(struct json *j, const char *name, uint64_t v)
{
	key(j, name);
	buf_printf(j->out, "%" PRIu64, v);
}

/* null if the profile does not know it. */
static void put_known(struct json *j, const char *name, uint64_t v, bool is_known)
{
	if (is_known) {
		put_number(j, name, v);
		return;
	}
	key(j, name);
	buf_puts(j->out, "null");
}

/* null if it is empty because an importer was not told. */
static void put_told_string(struct json *j, const char *name, const struct profile *p,
			    const char *s)
{
	if (is_told(p, (unsigned char)*s)) {
		put_string(j, name, s);
		return;
	}
	key(j, name);
	buf_puts(j->out, "null");
}

static void put_bool(struct json *j, const char *name, bool v)
{
	key(j, name);
	buf_puts(j->out, v ? "true" : "false");
}

static void begin(struct json *j, const char *name, char bracket)
{
	if (name)
		key(j, name);
	else
		buf_puts(j->out, j->separator);
	buf_putc(j->out, bracket);
	j->separator = "";
}

static void end(struct json *j, char bracket)
{
	buf_putc(j->out, bracket);
	j->separator = ",";
}

static void json_source(const struct profile *p, struct json *j)
{
	const struct profile_source *s = &p->source;
	if (!p->has_source) {
		key(j, "source");
		buf_puts(j->out, "null");
		return;
	}
	begin(j, "source", '{');
	put_string(j, "format", s->format);
	put_string(j, "title", s->title);
	put_string(j, "file", s->file);
	put_string(j, "producer", s->producer);
	put_string(j, "time_unit", s->time_unit);
	put_string(j, "notes", s->notes);
	put_bool(j, "is_estimated", s->is_estimated);
	put_bool(j, "is_partial", s->is_partial);
	begin(j, "unknown", '[');
	for (unsigned bit = 0; bit < FACT_COUNT; bit++) {
		if (!(s->unknown >> bit & 1))
			continue;
		buf_puts(j->out, j->separator);
		json_string(j->out, profile_fact_name(bit), strlen(profile_fact_name(bit)));
		j->separator = ",";
	}
	end(j, ']');
	end(j, '}');
}

static void json_run(const struct profile *p, struct json *j)
{
	const struct profile_run *r = &p->run;
	begin(j, "command", '[');
	for (size_t i = 0; i < r->argv_count; i++) {
		buf_puts(j->out, i ? "," : "");
		json_string(j->out, r->argv[i], strlen(r->argv[i]));
	}
	end(j, ']');
	put_string(j, "tool", r->tool);
	put_told_string(j, "exe", p, r->exe);
	put_told_string(j, "cwd", p, r->cwd);
	put_told_string(j, "host", p, r->host);
	put_told_string(j, "kernel", p, r->kernel);
	put_known(j, "cpu_count", r->cpu_count, is_told(p, r->cpu_count));
	put_known(j, "pid", r->pid, is_told(p, r->pid));
	put_known(j, "ppid", r->ppid, is_told(p, r->ppid));
	put_bool(j, "is_forked", r->is_forked);
	put_known(j, "start_unix_ns", r->start_unix_ns, is_told(p, r->start_unix_ns));
	put_known(j, "interval_ns", r->interval_ns, is_told(p, r->interval_ns));
	put_known(j, "sample_bytes", r->sample_bytes,
		  r->sample_bytes || !p->has_source || !p->source.is_estimated);
	put_known(j, "duration_ns", p->end.time_ns, has_duration(p));
}

static void json_end(const struct profile *p, struct json *j)
{
	begin(j, "end", '{');
	put_string(j, "kind", end_kind(p->end.kind));
	key(j, "status");
	if (p->end.has_status)
		buf_printf(j->out, "%d", p->end.status);
	else
		buf_puts(j->out, "null");
	put_string(j, "reason", p->end.reason);
	end(j, '}');
}

static void json_totals(const struct profile *p, const struct totals *sum, struct json *j)
{
	put_number(j, "snapshot_count", p->snapshot_count);
	put_number(j, "node_count", p->node_count - PROFILE_NODE_FIRST);
	put_number(j, "frame_count", profile_own_frames(p));
	put_number(j, "named_frame_count", sum->named_frames);
	put_number(j, "site_count", p->site_count);
	put_number(j, "cohort_count", p->cohort_count);
	put_known(j, "thread_count", p->thread_count, knows(p, FACT_THREADS));
	put_number(j, "mark_count", p->mark_count);
	put_known(j, "allocated_blocks", sum->blocks, knows(p, FACT_ALLOCATED | FACT_COUNTS));
	put_known(j, "allocated_bytes", sum->bytes, knows(p, FACT_ALLOCATED));
	put_number(j, "inherited_blocks", sum->inherited_blocks);
	put_number(j, "inherited_bytes", sum->inherited_bytes);
	put_known(j, "freed_blocks", sum->freed_blocks, knows(p, FACT_FREED | FACT_COUNTS));
	put_known(j, "freed_bytes", sum->freed_bytes, knows(p, FACT_FREED));
	put_known(j, "temporary_blocks", sum->temporary_blocks,
		  knows(p, FACT_TEMPORARY | FACT_COUNTS));
}

static void json_peak(const struct profile *p, struct json *j)
{
	if (!p->has_peak) {
		key(j, "peak");
		buf_puts(j->out, "null");
		return;
	}
	begin(j, "peak", '{');
	put_number(j, "bytes", p->peak.bytes);
	put_number(j, "time_ns", p->peak.time_ns);
	put_number(j, "bound_bytes", p->peak.bound_bytes);
	put_number(j, "snapshot", p->peak.snap);
	end(j, '}');
}

static void json_modules(const struct profile *p, struct json *j)
{
	begin(j, "modules", '[');
	for (size_t i = 0; i < p->module_count; i++) {
		const struct profile_module *m = &p->modules[i];
		char hex[2 * sizeof m->build_id + 1];
		begin(j, NULL, '{');
		put_string(j, "path", m->path);
		put_string(j, "build_id", fmt_hex(hex, sizeof hex, m->build_id, m->build_id_bytes));
		put_number(j, "start_va", m->start_va);
		put_number(j, "end_va", m->end_va);
		put_number(j, "bias", m->bias);
		put_number(j, "first_snapshot", m->first_snap);
		put_number(j, "last_snapshot", m->last_snap);
		end(j, '}');
	}
	end(j, ']');
}

static void json_damage(const struct profile *p, struct json *j)
{
	begin(j, "damage", '{');
	put_bool(j, "is_cut", p->damage.is_cut);
	put_number(j, "whole_bytes", p->damage.whole_bytes);
	put_number(j, "lost_bytes", p->damage.lost_bytes);
	put_number(j, "bad_block_count", p->damage.bad_blocks);
	put_string(j, "text", p->damage.text);
	end(j, '}');
}

void profile_info_json(const struct profile *p, struct buf *out)
{
	struct json j = {out, ""};
	struct totals sum = add_up(p);
	begin(&j, NULL, '{');
	put_string(&j, "file", p->path);
	put_number(&j, "file_bytes", p->file_bytes);
	json_source(p, &j);
	json_run(p, &j);
	json_end(p, &j);
	json_totals(p, &sum, &j);
	json_peak(p, &j);
	begin(&j, "drops", '{');
	for (unsigned i = 0; i < DROP_COUNT; i++)
		put_number(&j, profile_drop_name((enum profile_drop)i), p->drops[i]);
	end(&j, '}');
	json_modules(p, &j);
	json_damage(p, &j);
	end(&j, '}');
	buf_putc(out, '\n');
}
