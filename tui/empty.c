/* Empty views. */
#include "config.h"

#include "tui/empty.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "tui/show.h"

#define PARTS_MOST 3u /* that are left out one by one: each is a query */
#define PART_COLS  40u
#define NOTE_ROWS  3u

static bool can_empty(const struct chip *c)
{
	return c->kind != STAGE_BY && c->kind != STAGE_SORT && c->kind != STAGE_PERCENT &&
	       c->kind != STAGE_SELECT;
}

/* Also those that a row stands for. */
static int64_t rows_of(const struct query_result *r)
{
	int64_t count = 0;
	for (size_t i = 0; i < r->row_count; i++)
		count += r->rows[i].kind == ROW_OTHER ? r->rows[i].count : 1;
	return count;
}

/* The query of the view by its keys, without some of its parts.  NULL: it fails. */
static const struct query_result *run(struct browser *b, struct compose c)
{
	struct query_opened *q;
	struct query_error ignored;
	struct buf head = {0};
	enum neap_err code = NEAP_OK;
	bool is_time = model_state(&b->model)->screen == SCREEN_TIME;
	if (is_time)
		code = model_whole_run(&b->model, false, "allocated", &head, &ignored);
	c.head = head.data; /* NULL: the query's */
	c.default_by = "func";
	c.without_rows = is_time;
	if (!code)
		code = model_result(&b->model, &c, &q, &ignored);
	buf_release(&head);
	return code ? NULL : query_opened_result(q);
}

static void say(struct browser *b, const struct chip *c, const struct query_result *r)
{
	char rows[FMT_THINGS_BYTES], bytes[FMT_BYTES], part[160];
	size_t total = result_column(r, r->is_signed ? "delta" : "total");
	const char *text = strncmp(c->text, "where ", 6) ? c->text : c->text + 6;
	fmt_elide(part, sizeof part, text, PART_COLS, grid_is_utf8(&b->grid));
	int64_t count = rows_of(r);
	snprintf(b->emptied.text, sizeof b->emptied.text, "without %s there %s %s, %s", part,
		 count == 1 ? "is" : "are", fmt_things(rows, sizeof rows, count, "row"),
		 fmt_bytes(bytes, sizeof bytes, result_value(r, SIZE_MAX, total)));
}

/* The last part without which something is left. */
static void find_part(struct browser *b)
{
	const struct state *s = model_state(&b->model);
	unsigned tried = 0;
	for (size_t i = s->chip_count; i-- > 0 && tried < PARTS_MOST;) {
		if (!can_empty(&s->chips[i]))
			continue;
		tried++;
		const struct query_result *r = run(b, (struct compose){.without_chip = i + 1});
		if (!r || !r->row_count)
			continue;
		say(b, &s->chips[i], r);
		return;
	}
}

/* Is it the file, which blocks are looked at, or a part of the query? */
static void find_reason(struct browser *b)
{
	const struct state *s = model_state(&b->model);
	b->emptied.generation = b->model.generation;
	b->emptied.text[0] = '\0';
	b->emptied.hint = s->chip_count ? "Esc takes the last part of the query away"
			  : b->model.at ? "U undoes the last change"
					: "";
	if (!graph_profile(b->model.now)->cohort_count) {
		snprintf(b->emptied.text, sizeof b->emptied.text,
			 "nothing was allocated in this recording");
		b->emptied.hint = "9 shows what was recorded";
		return;
	}
	const struct query_result *all = run(b, (struct compose){.without_chips = true});
	if (all && !all->row_count) {
		const char *fmt = all->is_signed ? "'%.160s' finds no difference at all"
						 : "nothing is in '%.160s' at all";
		snprintf(b->emptied.text, sizeof b->emptied.text, fmt, s->head);
		b->emptied.hint = "b chooses other blocks";
		return;
	}
	find_part(b);
}

void empty_draw(struct browser *b, const struct area *a, const char *what,
		const struct query_result *r)
{
	const struct area inner = area_cut(a, 0, 2, a->rows, a->cols > 3 ? a->cols - 3 : 1);
	unsigned row = a->rows > 4 ? 1 : 0;
	if (b->emptied.generation != b->model.generation)
		find_reason(b);
	row = show_wrapped(&inner, row, NOTE_ROWS, look(ROLE_STRONG), what);
	if (!r)
		r = run(b, (struct compose){.without_chip = 0});
	for (size_t i = 0; r && i < r->note_count; i++)
		row = show_wrapped(&inner, row, NOTE_ROWS, look(ROLE_WARNING), r->notes[i]);
	row = show_wrapped(&inner, row, NOTE_ROWS, look(ROLE_TEXT), b->emptied.text);
	area_put(&inner, row + 1, 0, look(ROLE_DIM), b->emptied.hint);
	area_cursor(a, 0, 0);
}
