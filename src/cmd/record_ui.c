/*
 * The program that is recorded may write to the same terminal, so there is at most one
 * line, drawn four times a second, without colours, and taken away before anything else.
 */
#include "config.h"

#include "src/cmd/record_ui.h"

#include "src/base/fmt.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST_FILES 8u

static bool may_draw(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
	return isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0 &&
	       !(no_color && *no_color);
}

static void clear_line(struct record_ui *ui)
{
	if (ui->has_line)
		fputs("\r\033[K", stderr);
	ui->has_line = false;
}

static const char *safe(char *dst, size_t cap, const char *s)
{
	bool is_utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return fmt_safe(dst, cap, s, strlen(s), is_utf8);
}

void record_ui_say(struct record_ui *ui, const char *text)
{
	char line[2048];
	clear_line(ui);
	fprintf(stderr, "neap: %s\n", safe(line, sizeof line, text));
}

static void say(void *context, const char *text)
{
	record_ui_say(context, text);
}

static size_t terminal_cols(void)
{
	struct winsize size;
	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 ? 80 : size.ws_col;
}

static void format_running(char *line, size_t cap, const struct record_progress *p)
{
	char elapsed[FMT_BYTES], live[FMT_BYTES], peak[FMT_BYTES], rate[FMT_BYTES],
		snaps[FMT_BYTES], processes[FMT_BYTES + 16] = "";
	if (p->process_count != 1)
		snprintf(processes, sizeof processes, "  %zu processes", p->process_count);
	snprintf(line, cap, "neap  %s  live %s  peak %s  %s allocs/s  %s snapshots%s",
		 fmt_duration(elapsed, sizeof elapsed, p->elapsed_ns),
		 fmt_bytes(live, sizeof live, p->live_bytes),
		 fmt_bytes(peak, sizeof peak, (int64_t)p->peak_bytes),
		 fmt_count(rate, sizeof rate, (int64_t)p->allocs_per_s),
		 fmt_count(snaps, sizeof snaps, (int64_t)p->snapshot_count), processes);
}

static void format_naming(char *line, size_t cap, const struct record_progress *p)
{
	char all[FMT_BYTES], share[FMT_BYTES];
	snprintf(line, cap, "neap  naming %s addresses ... %s",
		 fmt_count(all, sizeof all, (int64_t)p->naming_all_count),
		 fmt_pct(share, sizeof share, (double)p->naming_done_count,
			 (double)p->naming_all_count));
}

static void draw(void *context, const struct record_progress *p)
{
	struct record_ui *ui = context;
	char line[512];
	if (p->phase == RECORD_RUNNING)
		format_running(line, sizeof line, p);
	else
		format_naming(line, sizeof line, p);
	size_t cols = terminal_cols();
	if (strlen(line) >= cols) /* ASCII: a byte is a column */
		line[cols - 1] = '\0';
	fprintf(stderr, "\r\033[K%s", line);
	ui->has_line = true;
}

void record_ui_init(struct record_ui *ui, bool is_quiet)
{
	*ui = (struct record_ui){.is_quiet = is_quiet};
	ui->sink.context = ui;
	ui->sink.message = say;
	ui->sink.progress = !is_quiet && may_draw() ? draw : NULL;
}

static const struct record_file *first_file(const struct record_result *r)
{
	const struct record_file *first = NULL;
	for (size_t i = 0; i < r->file_count; i++) {
		if (r->files[i].is_first)
			first = &r->files[i];
	}
	return first ? first : &r->files[0];
}

static void print_totals(const struct record_file *f)
{
	char peak[FMT_BYTES], live[FMT_BYTES], all[FMT_BYTES];
	char blocks[FMT_THINGS_BYTES], allocs[FMT_THINGS_BYTES];
	fprintf(stderr, "neap: peak %s, leaked %s in %s, %s of %s in all\n",
		fmt_bytes(peak, sizeof peak, (int64_t)f->peak_bytes),
		fmt_bytes(live, sizeof live, (int64_t)f->live_bytes),
		fmt_things(blocks, sizeof blocks, (int64_t)f->live_blocks, "block"),
		fmt_things(allocs, sizeof allocs, (int64_t)f->alloc_count, "allocation"),
		fmt_bytes(all, sizeof all, (int64_t)f->alloc_bytes));
	if (f->lost_count)
		fprintf(stderr, "neap: %s could not be counted; neap info %s says why\n",
			fmt_things(blocks, sizeof blocks, (int64_t)f->lost_count, "block"),
			f->path);
	if (f->unseen_bytes)
		fprintf(stderr,
			"neap: it had %s more than its heap: mapped directly, or by an allocator "
			"of its own; --mmap counts what is mapped\n",
			fmt_bytes(all, sizeof all, (int64_t)f->unseen_bytes));
}

/* Comes a before b in the list?  Those with the highest peak first, then as they ended. */
static bool is_before(const struct record_file *a, const struct record_file *b)
{
	return a->peak_bytes != b->peak_bytes ? a->peak_bytes > b->peak_bytes : a < b;
}

/* The one that comes next after `last` (NULL: the first), apart from `without`; NULL: none. */
static const struct record_file *next_file(const struct record_result *r,
					   const struct record_file *last,
					   const struct record_file *without)
{
	const struct record_file *next = NULL;
	for (size_t i = 0; i < r->file_count; i++) {
		const struct record_file *f = &r->files[i];
		if (f != without && (!last || is_before(last, f)) && (!next || is_before(f, next)))
			next = f;
	}
	return next;
}

/* A wrapper's script or a shim starts what the user meant: it is at the top of the list. */
static void print_others(const struct record_result *r, const struct record_file *first)
{
	char peak[FMT_BYTES], path[1024], program[256];
	size_t shown = 0;
	const struct record_file *f = NULL;
	if (r->file_count < 2)
		return;
	fprintf(stderr, "neap: %zu other process%s:\n", r->file_count - 1,
		r->file_count == 2 ? "" : "es, those with the highest peak first");
	while (shown < MOST_FILES && (f = next_file(r, f, first))) {
		shown++;
		fprintf(stderr, "neap:   %s  (%s, process %u, peak %s)\n",
			safe(path, sizeof path, f->path), safe(program, sizeof program, f->program),
			f->pid, fmt_bytes(peak, sizeof peak, (int64_t)f->peak_bytes));
	}
	if (r->file_count - 1 > shown)
		fprintf(stderr, "neap:   and %zu more\n", r->file_count - 1 - shown);
}

void record_ui_end(struct record_ui *ui, const struct record_result *r)
{
	char path[1024], bytes[FMT_BYTES];
	clear_line(ui);
	if (ui->is_quiet || !r->file_count)
		return;
	const struct record_file *first = first_file(r);
	safe(path, sizeof path, first->path);
	if (!first->is_incomplete)
		print_totals(first);
	fprintf(stderr, "neap: wrote %s (%s%s); look further with: neap report %s\n", path,
		fmt_bytes(bytes, sizeof bytes, (int64_t)first->file_bytes),
		first->is_incomplete ? ", incomplete" : "", path);
	print_others(r, first);
}
