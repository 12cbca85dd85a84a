/* The histogram of a column over the rows. */
#include "config.h"

#include "tui/hist_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "src/report/out.h"
#include "tui/empty.h"
#include "tui/show.h"

#define LABEL_COLS  26u
#define NUMBER_COLS 8u
#define BAR_MOST    40u
#define LABEL_MOST  96u

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -(v + 1) + 1 : v;
}

enum neap_err hist_rows_load(struct hist_rows *h, struct browser *b, struct query_error *error)
{
	const struct state *s = model_state(&b->model);
	struct buf view = {0};
	enum neap_err code = ERR_NOMEM;
	h->q = NULL;
	h->list.count = 0;
	h->rows_most = h->total_most = 0;
	buf_printf(&view, "hist %s", s->hist);
	h->is_of_blocks = !has_rows_of_keys(s);
	if (!view.has_failed) {
		const struct compose c = {.default_by = h->is_of_blocks ? NULL : "func",
					  .view = view.data,
					  .without_keys = h->is_of_blocks,
					  .without_rows = h->is_of_blocks};
		code = model_result(&b->model, &c, &h->q, error);
	}
	buf_release(&view);
	if (code)
		return code;
	const struct query_result *r = query_opened_result(h->q);
	h->bucket = result_column(r, h->is_of_blocks ? s->hist : "bucket");
	h->rows = result_column(r, h->is_of_blocks ? "count" : "rows");
	h->total = result_column(r, r->is_signed ? "delta" : "total");
	for (size_t row = 0; row < r->row_count; row++) {
		int64_t rows = magnitude(result_value(r, row, h->rows));
		int64_t total = magnitude(result_value(r, row, h->total));
		h->rows_most = rows > h->rows_most ? rows : h->rows_most;
		h->total_most = total > h->total_most ? total : h->total_most;
	}
	h->list.count = r->row_count;
	browser_summarise(b, r);
	return NEAP_OK;
}

static const char *label_of(const struct hist_rows *h, size_t row, char *dst, size_t cap)
{
	const struct query_result *r = query_opened_result(h->q);
	if (h->bucket >= r->column_count)
		return "";
	return out_bucket(dst, cap, &r->columns[h->bucket],
			  &r->cells[row * r->column_count + h->bucket]);
}

/* ---- drawing ------------------------------------------------------------------------------- */

struct columns { /* where columns end; bars 0: not shown */
	unsigned label, rows, rows_bar, total, total_bar, bar_cols;
};

static struct columns lay_out(const struct area *a)
{
	struct columns c = {.label = a->cols >= 50 ? LABEL_COLS : a->cols > 20 ? a->cols - 16 : 0};
	unsigned fixed = c.label + 2 * NUMBER_COLS + 3;
	unsigned left = a->cols > fixed && !a->grid->is_plain ? (a->cols - fixed) / 2 : 0;
	c.bar_cols = left < 4 ? 0 : left > BAR_MOST ? BAR_MOST : left;
	c.rows = c.label + NUMBER_COLS;
	c.rows_bar = c.bar_cols ? c.rows + 1 : 0;
	c.total = c.rows + NUMBER_COLS + (c.bar_cols ? c.bar_cols + 1 : 0);
	c.total_bar = c.bar_cols ? c.total + 1 : 0;
	return c;
}

static void draw_row(const struct hist_rows *h, const struct area *a, unsigned at,
		     const struct columns *c, size_t row)
{
	const struct query_result *r = query_opened_result(h->q);
	int64_t rows = result_value(r, row, h->rows), total = result_value(r, row, h->total);
	enum role bar = !r->is_signed ? ROLE_BAR : total < 0 ? ROLE_SHRANK : ROLE_GREW;
	char text[LABEL_MOST];
	area_right(a, at, c->label, c->label, look(ROLE_TEXT), label_of(h, row, text, sizeof text));
	area_right(a, at, c->rows, NUMBER_COLS, look(ROLE_STRONG),
		   show_count(text, sizeof text, rows));
	text[0] = '+';
	show_bytes(text + (r->is_signed && total > 0), sizeof text - 1, total);
	area_right(a, at, c->total, NUMBER_COLS, look(ROLE_TEXT), text);
	if (c->rows_bar && h->rows_most)
		area_bar(a, at, c->rows_bar, c->bar_cols, look(ROLE_BAR),
			 (double)magnitude(rows) / (double)h->rows_most);
	if (c->total_bar && h->total_most)
		area_bar(a, at, c->total_bar, c->bar_cols, look(bar),
			 (double)magnitude(total) / (double)h->total_most);
}

/* What a row is: "by func" without its first word. */
static const char *keys_of(const struct browser *b)
{
	const char *by = state_chip(model_state(&b->model), STAGE_BY);
	return by && !strncmp(by, "by ", 3) ? by + 3 : "func";
}

unsigned hist_rows_head(const struct area *a)
{
	return a->rows >= 6 ? 3 : a->rows >= 4 ? 1 : 0;
}

static void draw_head(const struct hist_rows *h, const struct browser *b, const struct area *a,
		      const struct columns *c)
{
	const struct query_result *r = query_opened_result(h->q);
	const struct look l = look(ROLE_HEADING);
	unsigned head = hist_rows_head(a);
	char count[FMT_BYTES];
	if (head > 1) {
		const char *what = h->is_of_blocks ? "blocks" : "rows";
		unsigned col = area_printf(a, 0, 1, look_bold(ROLE_HEADING), "%s by %s",
					   h->is_of_blocks ? "Blocks" : keys_of(b),
					   model_state(&b->model)->hist);
		show_count_words(count, sizeof count, result_value(r, SIZE_MAX, h->rows));
		area_printf(a, 0, col + 2, look(ROLE_DIM), "%s %s in all", count, what);
		area_printf(a, 1, 1, look(ROLE_DIM), "Enter keeps the %s of one line", what);
	}
	if (!head)
		return;
	area_right(a, head - 1, c->label, c->label, l, model_state(&b->model)->hist);
	area_right(a, head - 1, c->rows, NUMBER_COLS, l, h->is_of_blocks ? "BLOCKS" : "ROWS");
	area_right(a, head - 1, c->total, NUMBER_COLS, l, r->is_signed ? "DELTA" : "TOTAL");
}

void hist_rows_draw(struct hist_rows *h, struct browser *b, const struct area *a)
{
	if (!h->q)
		return;
	if (!h->list.count) {
		empty_draw(b, a, "no rows: the query leaves nothing", query_opened_result(h->q));
		return;
	}
	const struct columns c = lay_out(a);
	draw_head(h, b, a, &c);
	const struct area rows = area_cut(a, hist_rows_head(a), 0, a->rows, a->cols);
	list_fit(&h->list, rows.rows);
	for (unsigned i = 0; i < rows.rows && h->list.top + i < h->list.count; i++) {
		size_t at = h->list.top + i;
		draw_row(h, &rows, i, &c, at);
		if (at == h->list.selected && b->pane == PANE_ROWS) {
			area_select(&rows, i);
			area_cursor(&rows, i, 0);
		}
	}
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Where a bucket begins and ends, from the next but one bound: they are powers of two, or decades. */
static void put_bounds(const struct result_column *c, int64_t from, const char *word,
		       struct buf *out)
{
	const char *unit = c->type == RESULT_BYTES ? "B" : c->type == RESULT_NS ? "ns" : "";
	int64_t below = out_bucket_end(c, from);
	if (from < 0)
		buf_printf(out, "%s > -%" PRId64 "%s and %s <= -%" PRId64 "%s", word, -below, unit,
			   word, -from, unit);
	else
		buf_printf(out, "%s >= %" PRId64 "%s and %s < %" PRId64 "%s", word, from, unit,
			   word, below, unit);
}

void hist_rows_open(struct hist_rows *h, struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf text = {0};
	if (!h->q || h->list.selected >= h->list.count)
		return;
	const struct query_result *r = query_opened_result(h->q);
	const struct result_cell *cell = &r->cells[h->list.selected * r->column_count + h->bucket];
	const struct state *s = model_state(&b->model);
	const struct compose c = {.default_by = "func"};
	if (cell->is_unknown)
		return;
	if (!h->is_of_blocks)
		model_compose(&b->model, &c, &text);
	buf_puts(&text, " | where ");
	put_bounds(&r->columns[h->bucket], cell->value, s->hist, &text);
	buf_puts(&text, h->is_of_blocks ? "" : " | table");
	if (!text.has_failed)
		browser_tell(b, model_set_text(&b->model, text.data, &error), &error);
	buf_release(&text);
}

void hist_rows_text(const struct hist_rows *h, struct buf *out)
{
	char label[LABEL_MOST], bytes[FMT_BYTES], count[FMT_BYTES];
	if (!h->q || h->list.selected >= h->list.count)
		return;
	const struct query_result *r = query_opened_result(h->q);
	buf_printf(out, "%s  %s in %s %s", label_of(h, h->list.selected, label, sizeof label),
		   fmt_bytes(bytes, sizeof bytes, result_value(r, h->list.selected, h->total)),
		   fmt_count(count, sizeof count, result_value(r, h->list.selected, h->rows)),
		   h->is_of_blocks ? "blocks" : "rows");
}
