/*
 * Rows and columns for people.
 *
 *        total    share    count  func
 *     16.2 MiB   39.6 %    9,759  render_article
 *     24.7 MiB   60.4 %  269,016  (other: 14 rows)
 *     40.9 MiB  100.0 %  278,775  total, 15 rows
 *
 * Numbers stand first.  Keys stand at the right end, where a long name pushes nothing aside,
 * unless no key is a text: then all columns keep their order, and what the last rows are is
 * said behind them.
 */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/mem.h"

#include <stdio.h>
#include <string.h>

#define TEXT_MIN_COLS 12u
#define BAR_MAX_COLS  40u

static const struct result_column *column_at(const struct table *t, size_t i)
{
	return &t->x->r->columns[t->order[i]];
}

static bool is_text_at(const struct table *t, size_t i)
{
	return out_is_text(column_at(t, i));
}

/* ---- order of columns --------------------------------------------------------------- */

static void set_order(struct table *t)
{
	const struct out *x = t->x;
	bool has_text = false;
	size_t at = 0;
	for (size_t i = 0; i < x->shown_count; i++)
		has_text = has_text || out_is_text(&x->r->columns[x->shown[i]]);
	for (size_t i = 0; i < x->shown_count; i++) {
		if (!has_text || !x->r->columns[x->shown[i]].is_key)
			t->order[at++] = x->shown[i];
	}
	t->first_right = at;
	for (size_t i = 0; i < x->shown_count; i++) {
		if (has_text && x->r->columns[x->shown[i]].is_key)
			t->order[at++] = x->shown[i];
	}
	t->text_at = SIZE_MAX;
	for (size_t i = t->first_right; i < x->shown_count; i++) {
		if (t->text_at == SIZE_MAX && is_text_at(t, i))
			t->text_at = i;
	}
}

bool table_init(struct table *t, struct out *x)
{
	*t = (struct table){
		.x = x,
		.order = mem_array(x->shown_count, sizeof *t->order),
		.cols = mem_zarray(x->shown_count, sizeof *t->cols),
		.bar_column = SIZE_MAX,
		.bucket_column = SIZE_MAX,
	};
	if (!t->order || !t->cols) {
		table_release(t);
		x->has_failed = true;
		return false;
	}
	set_order(t);
	return true;
}

void table_release(struct table *t)
{
	mem_free(t->order);
	mem_free(t->cols);
	buf_release(&t->prefix_text);
}

/* ---- widths --------------------------------------------------------------------------- */

static void widen(size_t *cols, const char *s)
{
	size_t width = fmt_width(s, strlen(s));
	if (width > *cols)
		*cols = width;
}

static const char *prefix_of(struct table *t, size_t row)
{
	buf_clear(&t->prefix_text);
	if (t->prefix)
		t->prefix(t->prefix_arg, row, &t->prefix_text);
	if (t->prefix_text.has_failed)
		t->x->has_failed = true;
	return t->prefix_text.count_bytes ? t->prefix_text.data : "";
}

static const char *number_at(const struct table *t, char *dst, size_t i,
			     const struct result_cell *cell)
{
	const struct result_column *c = column_at(t, i);
	if (t->order[i] == t->bucket_column)
		return out_bucket(dst, OUT_NUMBER_BYTES, c, cell);
	return out_number(dst, t->x->r, c, cell);
}

static void measure_row(struct table *t, size_t row)
{
	struct out *x = t->x;
	char number[OUT_NUMBER_BYTES];
	bool is_other = result_row(x->r, row).kind == ROW_OTHER;
	for (size_t i = 0; i < x->shown_count; i++) {
		if (is_other && column_at(t, i)->is_key)
			continue;
		if (!is_text_at(t, i)) {
			widen(&t->cols[i], number_at(t, number, i, out_cell(x, row, t->order[i])));
			continue;
		}
		if (t->cols[i] >= x->text.width_cols)
			continue; /* it will be cut anyway */
		const char *text = out_shown_text(x, row, t->order[i], x->text.width_cols);
		size_t cols = fmt_width(text, strlen(text));
		if (i == t->text_at) {
			const char *prefix = prefix_of(t, row);
			cols += fmt_width(prefix, strlen(prefix));
		}
		if (cols > t->cols[i])
			t->cols[i] = cols;
	}
}

/* The widest width that lets all texts in `avail` columns if wider ones are cut to it. */
static size_t fair_width(const struct table *t, size_t avail)
{
	size_t width = TEXT_MIN_COLS;
	for (;; width++) {
		size_t sum = 0;
		bool is_cut = false;
		for (size_t i = t->first_right; i < t->x->shown_count; i++) {
			bool is_wider = is_text_at(t, i) && t->cols[i] > width + 1;
			sum += is_wider ? width + 1 : t->cols[i];
			is_cut = is_cut || is_wider;
		}
		if (sum > avail || !is_cut)
			return sum > avail ? width : width + 1;
	}
}

static void fit_texts(struct table *t)
{
	size_t used = table_numbers_cols(t), count = t->x->shown_count;
	if (t->first_right == count)
		return;
	used += OUT_GAP_COLS * (count - t->first_right - 1);
	size_t avail = t->x->text.width_cols > used ? t->x->text.width_cols - used : 0;
	size_t width = fair_width(t, avail);
	for (size_t i = t->first_right; i < count; i++) {
		if (is_text_at(t, i) && t->cols[i] > width)
			t->cols[i] = width;
	}
}

void table_measure(struct table *t)
{
	struct out *x = t->x;
	char number[OUT_NUMBER_BYTES];
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = column_at(t, i);
		widen(&t->cols[i], name_text(&x->names, c->word, x->text.width_cols));
		if (!c->is_key && !out_is_text(c))
			widen(&t->cols[i], out_number(number, x->r, c, &x->r->totals[t->order[i]]));
	}
	for (size_t row = 0; row < x->r->row_count; row++) {
		measure_row(t, row);
		if (t->bar_column == SIZE_MAX)
			continue;
		double value =
			out_value(&x->r->columns[t->bar_column], out_cell(x, row, t->bar_column));
		if (value > t->bar_most)
			t->bar_most = value;
	}
	fit_texts(t);
}

/* ---- lines ------------------------------------------------------------------------------ */

size_t table_numbers_cols(const struct table *t)
{
	size_t cols = 0;
	for (size_t i = 0; i < t->first_right; i++)
		cols += OUT_GAP_COLS + t->cols[i];
	return cols + OUT_GAP_COLS;
}

void table_head(struct table *t)
{
	struct out *x = t->x;
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = column_at(t, i);
		const char *word = name_text(&x->names, c->word, t->cols[i]);
		text_spaces(&x->text, OUT_GAP_COLS);
		if (out_is_text(c))
			text_left(&x->text, STYLE_DIM, t->cols[i], word);
		else
			text_right(&x->text, STYLE_DIM, t->cols[i], word);
	}
	text_newline(&x->text);
}

/* A cell of a row without keys, such as the total line, stays empty. */
static void put_number(struct table *t, enum text_style style, size_t i,
		       const struct result_cell *cell, bool has_keys)
{
	char number[OUT_NUMBER_BYTES];
	bool is_empty = column_at(t, i)->is_key && !has_keys;
	text_spaces(&t->x->text, OUT_GAP_COLS);
	text_right(&t->x->text, style, t->cols[i], is_empty ? "" : number_at(t, number, i, cell));
}

void table_numbers(struct table *t, enum text_style style, const struct result_cell *cells)
{
	bool has_keys = cells != t->x->r->totals;
	for (size_t i = 0; i < t->first_right; i++)
		put_number(t, style, i, &cells[t->order[i]], has_keys);
	text_spaces(&t->x->text, OUT_GAP_COLS);
}

/* Bars end in a fraction of a cell only where the terminal can draw one. */
static void put_bar(struct table *t, double value, size_t used_cols)
{
	static const char *const parts[] = {"",       "\u258f", "\u258e", "\u258d",
					    "\u258c", "\u258b", "\u258a", "\u2589"};
	struct text *text = &t->x->text;
	size_t cols = text->width_cols > used_cols + 10 ? text->width_cols - used_cols : 10;
	if (cols > BAR_MAX_COLS)
		cols = BAR_MAX_COLS;
	if (value <= 0 || t->bar_most <= 0)
		return;
	size_t eighths = (size_t)(value / t->bar_most * (double)cols * 8 + 0.5);
	if (!eighths)
		eighths = 1;
	struct buf bar = {0};
	buf_repeat(&bar, text->is_utf8 ? "\u2588" : "#", eighths / 8);
	if (text->is_utf8)
		buf_puts(&bar, parts[eighths % 8]);
	else if (eighths < 8)
		buf_putc(&bar, '.');
	if (bar.has_failed)
		t->x->has_failed = true;
	else
		text_put(text, STYLE_CHART, bar.data);
	buf_release(&bar);
}

static size_t table_cols(const struct table *t)
{
	size_t cols = table_numbers_cols(t);
	for (size_t i = t->first_right; i < t->x->shown_count; i++)
		cols += t->cols[i] + OUT_GAP_COLS;
	return cols;
}

static void put_keys(struct table *t, size_t row)
{
	struct out *x = t->x;
	for (size_t i = t->first_right; i < x->shown_count; i++) {
		if (i > t->first_right)
			text_spaces(&x->text, OUT_GAP_COLS);
		if (!is_text_at(t, i)) {
			char number[OUT_NUMBER_BYTES];
			text_right(&x->text, STYLE_PLAIN, t->cols[i],
				   number_at(t, number, i, out_cell(x, row, t->order[i])));
			continue;
		}
		const char *prefix = i == t->text_at ? prefix_of(t, row) : "";
		size_t used = fmt_width(prefix, strlen(prefix));
		size_t left = t->cols[i] > used + TEXT_MIN_COLS ? t->cols[i] - used : TEXT_MIN_COLS;
		text_put(&x->text, STYLE_DIM, prefix);
		text_left(&x->text, STYLE_PLAIN, left, out_shown_text(x, row, t->order[i], left));
	}
}

void table_row(struct table *t, size_t row)
{
	struct out *x = t->x;
	const struct result_row own = result_row(x->r, row), *r = &own;
	char other[OUT_NUMBER_BYTES];
	const struct result_cell *cells = out_cell(x, row, 0);
	if (r->kind == ROW_OTHER) {
		for (size_t i = 0; i < t->first_right; i++)
			put_number(t, STYLE_PLAIN, i, &cells[t->order[i]], false);
		text_spaces(&x->text, OUT_GAP_COLS);
		text_put(&x->text, STYLE_DIM, prefix_of(t, row));
		text_put(&x->text, STYLE_DIM, out_other(other, r));
	} else {
		table_numbers(t, STYLE_PLAIN, cells);
		put_keys(t, row);
		if (t->bar_column != SIZE_MAX && t->first_right < x->shown_count)
			text_spaces(&x->text, OUT_GAP_COLS);
		if (t->bar_column != SIZE_MAX)
			put_bar(t, out_value(&x->r->columns[t->bar_column], &cells[t->bar_column]),
				table_cols(t));
	}
	text_newline(&x->text);
}

void table_total(struct table *t)
{
	struct out *x = t->x;
	char count[FMT_BYTES];
	int64_t rows = 0;
	for (size_t i = 0; i < x->r->row_count; i++) {
		const struct result_row r = result_row(x->r, i);
		rows += r.kind == ROW_OTHER ? r.count : 1;
	}
	table_numbers(t, STYLE_STRONG, x->r->totals);
	if (out_find_column(x, "rows") != SIZE_MAX) /* a column says how many */
		text_put(&x->text, STYLE_STRONG, "total");
	else
		text_printf(&x->text, STYLE_STRONG, "total, %s %s",
			    fmt_count(count, sizeof count, rows), rows == 1 ? "row" : "rows");
	text_newline(&x->text);
}

/* ---- views ------------------------------------------------------------------------------- */

static void write_table(struct table *t)
{
	table_measure(t);
	table_head(t);
	for (size_t row = 0; row < t->x->r->row_count; row++)
		table_row(t, row);
	table_total(t);
	table_release(t);
}

void out_table(struct out *x)
{
	struct table t;
	if (table_init(&t, x))
		write_table(&t);
}

/* 1, 2, 5, 10, ...: where the slice that begins here ends. */
static int64_t decade_end(int64_t start)
{
	int64_t step = 1;
	while (step <= start / 10)
		step *= 10;
	int64_t lead = start / step;
	return lead >= 5 ? 10 * step : lead >= 2 ? 5 * step : 2 * step;
}

int64_t out_bucket_end(const struct result_column *c, int64_t from)
{
	if (from > INT64_MAX / 16)
		return INT64_MAX;
	if (from < -(INT64_MAX / 16))
		return -INT64_MAX;
	if (!from)
		return 1;
	if (c->type != RESULT_NS)
		return 2 * from;
	return from < 0 ? -decade_end(-from) : decade_end(from);
}

const char *out_bucket(char *dst, size_t cap, const struct result_column *c,
		       const struct result_cell *cell)
{
	char first[FMT_BYTES + 1], last[FMT_BYTES + 1];
	int64_t v = cell->value;
	if (cell->is_unknown || v < -(INT64_MAX / 16) || v > INT64_MAX / 16)
		snprintf(dst, cap, "[unknown]");
	else if (c->type == RESULT_BYTES && v < -1)
		snprintf(dst, cap, "> %s .. %s", fmt_bytes(first, FMT_BYTES, 2 * v),
			 fmt_bytes(last, FMT_BYTES, v));
	else if (c->type == RESULT_COUNT && v < -1)
		snprintf(dst, cap, "%s .. %s", fmt_count(first, FMT_BYTES, 2 * v + 1),
			 fmt_count(last, FMT_BYTES, v));
	else if (c->type == RESULT_NS && v < 0)
		snprintf(dst, cap, "> -%s .. -%s",
			 fmt_duration(first, FMT_BYTES, (uint64_t)decade_end(-v)),
			 fmt_duration(last, FMT_BYTES, (uint64_t)-v));
	else if (c->type == RESULT_BYTES && v > 1)
		snprintf(dst, cap, "%s .. < %s", fmt_bytes(first, FMT_BYTES, v),
			 fmt_bytes(last, FMT_BYTES, 2 * v));
	else if (c->type == RESULT_BYTES)
		fmt_bytes(dst, cap < FMT_BYTES ? cap : FMT_BYTES, v);
	else if (c->type == RESULT_COUNT && v > 1)
		snprintf(dst, cap, "%s .. %s", fmt_count(first, FMT_BYTES, v),
			 fmt_count(last, FMT_BYTES, 2 * v - 1));
	else if (c->type == RESULT_NS && v)
		snprintf(dst, cap, "%s .. < %s", fmt_duration(first, FMT_BYTES, (uint64_t)v),
			 fmt_duration(last, FMT_BYTES, (uint64_t)decade_end(v)));
	else if (c->type == RESULT_NS)
		snprintf(dst, cap, "0 s");
	else
		snprintf(dst, cap, "%lld", (long long)v);
	return dst;
}

void out_hist(struct out *x)
{
	struct table t;
	if (!table_init(&t, x))
		return;
	size_t column = out_find_column(x, "rows"); /* of a column: how many rows have it */
	if (column == SIZE_MAX)
		column = out_find_column(x, "count");
	t.bar_column = column != SIZE_MAX ? column : out_value_column(x);
	for (size_t i = 0; i < x->shown_count; i++) {
		if (x->r->columns[x->shown[i]].is_key)
			t.bucket_column = x->shown[i];
	}
	write_table(&t);
}
