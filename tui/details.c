/* The selected row in words. */
#include "config.h"

#include "tui/details.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/report/lines.h"
#include "tui/rows.h"
#include "tui/show.h"

#define SOURCE_ROWS  13u
#define NUMBER_COLS  6u
#define EXPAND_BYTES 400u
#define FAR_LINES    (1 << 24)

/* The file that was shown last; of one that is not here, only its path. */
struct details_source {
	char *path;
	struct lines lines;
};

void details_free(struct details_source *source)
{
	if (!source)
		return;
	mem_free(source->path);
	lines_release(&source->lines);
	mem_free(source);
}

static const struct lines *read_source(struct browser *b, const char *path)
{
	bool has_failed = false;
	if (b->source && !strcmp(b->source->path, path))
		return b->source->lines.count ? &b->source->lines : NULL;
	details_free(b->source);
	b->source = mem_zalloc(sizeof *b->source);
	if (b->source)
		b->source->path = mem_strdup(path);
	if (!b->source || !b->source->path) {
		details_free(b->source);
		b->source = NULL;
		return NULL;
	}
	if (!lines_find(&b->source->lines, path, &graph_profile(b->model.now)->run, &b->search,
			&has_failed))
		return NULL;
	return &b->source->lines;
}

/* The lines around that of the frame, which has a mark. */
static void draw_source(struct browser *b, const struct area *a, unsigned row,
			const struct graph_frame *f)
{
	if (!f->file_path || !f->line || row + 3 > a->rows)
		return;
	const struct lines *l = read_source(b, f->file_path);
	bool is_focused = b->pane == PANE_DETAILS;
	unsigned rows = a->rows - row;
	if (!l || f->line > l->count)
		return;
	if (rows > SOURCE_ROWS && !is_focused)
		rows = SOURCE_ROWS;
	int64_t middle = (int64_t)f->line - rows / 2, most = (int64_t)l->count - rows + 1;
	int64_t first = middle + b->details_scroll;
	first = first < most ? first : most;
	first = first > 1 ? first : 1;
	b->details_scroll = (int)(first - middle);
	if (is_focused)
		area_cursor(a, row, 0);
	if (l->is_newer)
		area_put(a, row - 1, 0, look(ROLE_WARNING), "changed since the recording:");
	for (unsigned i = 0; i < rows && (size_t)first + i <= l->count; i++) {
		struct buf text = {0};
		size_t number = (size_t)first + i;
		bool is_it = number == f->line;
		lines_expand(l, number, EXPAND_BYTES, &text);
		area_printf(a, row + i, 0, look(is_it ? ROLE_STRONG : ROLE_DIM), "%c%*zu",
			    is_it ? '>' : ' ', (int)NUMBER_COLS - 1, number);
		if (text.count_bytes && !text.has_failed)
			area_put_most(a, row + i, NUMBER_COLS + 1, a->cols,
				      is_it ? look_bold(ROLE_STRONG) : look(ROLE_TEXT), text.data);
		buf_release(&text);
	}
}

bool details_act(struct browser *b, enum action action)
{
	static const struct {
		enum action action;
		int lines;
	} moves[] = {
		{ACTION_UP, -1},        {ACTION_DOWN, 1},           {ACTION_PAGE_UP, -10},
		{ACTION_PAGE_DOWN, 10}, {ACTION_FIRST, -FAR_LINES}, {ACTION_LAST, FAR_LINES},
	};
	for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
		if (moves[i].action != action)
			continue;
		if (abs(b->details_scroll) < FAR_LINES ||
		    (b->details_scroll > 0) != (moves[i].lines > 0))
			b->details_scroll += moves[i].lines;
		return true;
	}
	return false;
}

/* Wrappers are no rows of their own: what a function allocates is its own. */
static unsigned draw_through(struct browser *b, const struct area *a, unsigned row,
			     const struct graph_frame *f)
{
	char line[512];
	const char *ways =
		through_text(&b->through, b->model.now, &b->names, f, grid_is_utf8(a->grid));
	if (!*ways)
		return row;
	snprintf(line, sizeof line, "allocated through %s", ways);
	return show_wrapped(a, row, 4, look(ROLE_DIM), line);
}

static unsigned draw_frame(struct browser *b, const struct area *a, unsigned row,
			   const struct graph_frame *f)
{
	if (row_is_function(f))
		row = show_wrapped(a, row, 6, look_bold(ROLE_TEXT),
				   f->name ? f->name : name_frame(&b->names, f, a->cols));
	if (f->file_path && f->line)
		area_printf(a, row++, 0, look(ROLE_DIM), "%s:%u",
			    name_path(&b->names, f->file_path, a->cols - 6), f->line);
	else if (f->file_path)
		area_put(a, row++, 0, look(ROLE_DIM), name_path(&b->names, f->file_path, a->cols));
	if (f->module_path)
		area_printf(a, row++, 0, look(ROLE_DIM), "in %s",
			    name_module(&b->names, f->module_path, a->cols));
	if (f->is_inlined)
		area_put(a, row++, 0, look(ROLE_DIM), "inlined into its caller");
	if (f->is_tail)
		area_put(a, row++, 0, look(ROLE_DIM), "[tail] ended with a jump, left no frame");
	if (f->is_guessed)
		area_put(a, row++, 0, look(ROLE_WARNING), "frame was guessed: no unwind data");
	return row + 1;
}

/* Of what still lives, its age. */
static unsigned draw_lifetimes(const struct area *a, unsigned row, const struct query_facts *f)
{
	char half[FMT_BYTES], most[FMT_BYTES];
	if (!f->has_lifetimes)
		return row;
	area_printf(a, row, 0, look(ROLE_TEXT), "%s p50 %s  p99 %s",
		    f->is_over ? "lifetime" : "age", fmt_duration(half, sizeof half, f->p50_ns),
		    fmt_duration(most, sizeof most, f->p99_ns));
	return row + 1;
}

/* "thread 1 main", "threads 3 worker 62 %, 7 io 30 %, 2 more". */
static unsigned draw_threads(struct browser *b, const struct area *a, unsigned row,
			     const struct details *d)
{
	const struct query_facts *f = &d->facts;
	size_t shown = f->thread_count < FACTS_THREADS_MOST ? f->thread_count : FACTS_THREADS_MOST;
	struct buf line = {0};
	char share[FMT_BYTES];
	buf_puts(&line, f->thread_count == 1 ? "thread" : "threads");
	for (size_t i = 0; i < shown; i++) {
		const struct query_thread_share *t = &f->threads[i];
		const char *name = graph_profile(b->model.now)->threads[t->thread - 1].name;
		buf_printf(&line, "%s %" PRIu32 "%s%s", i ? "," : "", t->thread,
			   name && *name ? " " : "", name ? name : "");
		if (f->thread_count > 1)
			buf_printf(&line, " %s",
				   fmt_pct(share, sizeof share, (double)t->sum.bytes,
					   (double)d->total_bytes));
	}
	if (f->thread_count > shown)
		buf_printf(&line, ", %zu more", f->thread_count - shown);
	if (f->thread_count && !line.has_failed)
		row = show_wrapped(a, row, 3, look(ROLE_TEXT), line.data);
	buf_release(&line);
	return row;
}

void details_draw(struct browser *b, const struct area *a, const struct details *d)
{
	char bytes[FMT_BYTES], count[FMT_THINGS_BYTES], share[FMT_BYTES];
	unsigned row = 0;
	if (d->has_frame)
		row = draw_frame(b, a, row, &d->frame);
	area_printf(a, row++, 0, look(ROLE_STRONG), "%s (%s)",
		    fmt_bytes(bytes, sizeof bytes, d->total_bytes),
		    fmt_pct(share, sizeof share, (double)d->total_bytes, (double)d->base_bytes));
	if (d->has_blocks)
		area_printf(a, row++, 0, look(ROLE_TEXT), "in %s",
			    fmt_things(count, sizeof count, d->blocks, "block"));
	if (d->has_blocks && d->blocks > 0)
		area_printf(a, row++, 0, look(ROLE_TEXT), "mean %s",
			    fmt_bytes(bytes, sizeof bytes, d->total_bytes / d->blocks));
	if (!d->has_no_self)
		area_printf(a, row++, 0, look(ROLE_TEXT), "%s of its own",
			    fmt_bytes(bytes, sizeof bytes, d->self_bytes));
	row = draw_lifetimes(a, row, &d->facts);
	row = draw_threads(b, a, row, d);
	if (!d->has_frame)
		return;
	if (d->self_bytes && d->frame.entry != ENTRY_NONE)
		row = draw_through(b, a, row, &d->frame);
	draw_source(b, a, row + 1, &d->frame);
}
