/*
 * Timelines: a chart of everything together, then the highest and lowest values, or a line for
 * each class with a small chart of its own.
 *
 *   2.0 MiB |      #
 *           |  :#####::
 *       0 B +---------+---------
 *           0 s     0.50 s     1.00 s
 *    highest       at     last  over time  func
 *    1.2 MiB   0.50 s  1.0 KiB  .:##:..    json_parse
 */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/mem.h"
#include "src/report/chart.h"

#include <string.h>

#define SMALL_COLS 24u /* of a chart in a line */
#define KEY_COLS   12u /* of a class's name, at least */

struct timeline {
	struct out *x;
	size_t column;                  /* that is drawn */
	size_t class_count, step_count; /* rows: all classes of the first step, then of the next */
	int64_t *sums;                  /* [step_count]: all classes together */
	size_t *name_cols;              /* [shown_count] */
};

static double value_at(const struct timeline *t, size_t class, size_t step)
{
	return out_value(&t->x->r->columns[t->column],
			 out_cell(t->x, step * t->class_count + class, t->column));
}

/* Lowest and highest value with their times, and the last. */
static void write_range(struct out *x, size_t column)
{
	const struct query_result *r = x->r;
	const struct result_column *c = &r->columns[column];
	size_t low = 0, high = 0;
	char number[OUT_NUMBER_BYTES], when[FMT_BYTES];
	for (size_t row = 1; row < r->row_count; row++) {
		double value = out_value(c, out_cell(x, row, column));
		low = value < out_value(c, out_cell(x, low, column)) ? row : low;
		high = value > out_value(c, out_cell(x, high, column)) ? row : high;
	}
	text_printf(&x->text, STYLE_PLAIN, "  %s: highest %s", c->word,
		    out_number(number, r, c, out_cell(x, high, column)));
	text_printf(&x->text, STYLE_PLAIN, " at %s, lowest %s",
		    fmt_duration(when, sizeof when, r->rows[high].time_ns),
		    out_number(number, r, c, out_cell(x, low, column)));
	text_printf(&x->text, STYLE_PLAIN, " at %s",
		    fmt_duration(when, sizeof when, r->rows[low].time_ns));
	text_printf(&x->text, STYLE_PLAIN, ", last %s",
		    out_number(number, r, c, out_cell(x, r->row_count - 1, column)));
	text_newline(&x->text);
}

/* Rows tell where their step ends; the first is as long as the second. */
uint64_t out_first_start(const struct query_result *r)
{
	if (!r->row_count)
		return 0;
	uint64_t first = r->rows[0].time_ns;
	size_t next = r->class_count ? r->class_count : 1;
	uint64_t step = r->row_count > next ? r->rows[next].time_ns - first : first;
	return step < first ? first - step : 0;
}

/* ---- classes ------------------------------------------------------------------------ */

/* Of one class. */
struct line {
	char highest[OUT_NUMBER_BYTES], when[FMT_BYTES], last[OUT_NUMBER_BYTES];
	double most;
};

static void make_line(const struct timeline *t, size_t class, struct line *out)
{
	const struct query_result *r = t->x->r;
	const struct result_column *c = &r->columns[t->column];
	size_t high = 0, last = (t->step_count - 1) * t->class_count + class;
	for (size_t step = 1; step < t->step_count; step++)
		high = value_at(t, class, step) > value_at(t, class, high) ? step : high;
	size_t row = high * t->class_count + class;
	out->most = value_at(t, class, high);
	out_number(out->highest, r, c, out_cell(t->x, row, t->column));
	out_number(out->last, r, c, out_cell(t->x, last, t->column));
	fmt_duration(out->when, sizeof out->when, r->rows[row].time_ns);
}

static void widen(size_t *cols, const char *text)
{
	size_t width = fmt_width(text, strlen(text));
	*cols = width > *cols ? width : *cols;
}

/* Each class fills its own height; several steps in a column show the highest of them. */
static void put_small_chart(struct timeline *t, size_t class, double most)
{
	struct text *text = &t->x->text;
	size_t cols = t->step_count < SMALL_COLS ? t->step_count : SMALL_COLS;
	for (size_t col = 0; col < cols; col++) {
		size_t from = col * t->step_count / cols, to = (col + 1) * t->step_count / cols;
		double value = 0;
		for (size_t step = from; step < to; step++)
			value = value_at(t, class, step) > value ? value_at(t, class, step) : value;
		unsigned eighths = most > 0 ? (unsigned)(value / most * 8 + 0.5) : 0;
		text_put(text, STYLE_CHART, text_bar(text, value > 0 && !eighths ? 1 : eighths));
	}
}

/* ---- what classes are called ---------------------------------------------------------- */

static bool is_name(const struct timeline *t, size_t shown)
{
	const struct result_column *c = &t->x->r->columns[t->x->shown[shown]];
	return c->is_key && c->type != RESULT_NS;
}

/* A key of a class, in at most `most` columns; a number into dst. */
static const char *key_text(struct timeline *t, size_t class, size_t shown, size_t most, char *dst)
{
	const struct result_column *c = &t->x->r->columns[t->x->shown[shown]];
	if (out_is_text(c))
		return out_shown_text(t->x, class, t->x->shown[shown], most);
	return out_number(dst, t->x->r, c, out_cell(t->x, class, t->x->shown[shown]));
}

static size_t count_names(const struct timeline *t, size_t from)
{
	size_t count = 0;
	for (size_t i = from; i < t->x->shown_count; i++)
		count += is_name(t, i);
	return count;
}

/* Each key may have an equal part of what those before it leave; the last one has no end. */
static void measure_names(struct timeline *t, size_t left)
{
	char number[OUT_NUMBER_BYTES];
	for (size_t i = 0; i < t->x->shown_count; i++) {
		size_t after = count_names(t, i), cols = 0;
		if (!is_name(t, i))
			continue;
		size_t most = left / after > KEY_COLS ? left / after : KEY_COLS;
		widen(&cols, t->x->r->columns[t->x->shown[i]].word);
		for (size_t class = 0; class < t->class_count; class ++) {
			if (result_row(t->x->r, class).kind != ROW_OTHER)
				widen(&cols, key_text(t, class, i, most, number));
		}
		t->name_cols[i] = after == 1 ? most : cols;
		left = left > cols + OUT_GAP_COLS ? left - cols - OUT_GAP_COLS : 0;
	}
}

static void put_names(struct timeline *t, size_t class)
{
	struct text *text = &t->x->text;
	const struct result_row r = result_row(t->x->r, class);
	char number[OUT_NUMBER_BYTES];
	if (r.kind == ROW_OTHER) {
		text_spaces(text, OUT_GAP_COLS);
		text_put(text, STYLE_DIM, out_other(number, &r));
		return;
	}
	for (size_t i = 0; i < t->x->shown_count; i++) {
		if (!is_name(t, i))
			continue;
		const char *name = key_text(t, class, i, t->name_cols[i], number);
		text_spaces(text, OUT_GAP_COLS);
		if (count_names(t, i) > 1)
			text_left(text, STYLE_PLAIN, t->name_cols[i], name);
		else
			text_put(text, STYLE_PLAIN, name);
	}
}

static void put_name_heads(struct timeline *t)
{
	for (size_t i = 0; i < t->x->shown_count; i++) {
		const char *word = t->x->r->columns[t->x->shown[i]].word;
		if (!is_name(t, i))
			continue;
		text_spaces(&t->x->text, OUT_GAP_COLS);
		if (count_names(t, i) > 1)
			text_left(&t->x->text, STYLE_DIM, t->name_cols[i], word);
		else
			text_put(&t->x->text, STYLE_DIM, word);
	}
}

/* ---- their lines ------------------------------------------------------------------------ */

struct line_cols {
	size_t numbers[3], chart;
};

static void put_head(struct timeline *t, const struct line_cols *cols)
{
	struct text *text = &t->x->text;
	static const char *const words[] = {"highest", "at", "last"};
	for (size_t i = 0; i < 3; i++) {
		text_spaces(text, OUT_GAP_COLS);
		text_right(text, STYLE_DIM, cols->numbers[i], words[i]);
	}
	text_spaces(text, OUT_GAP_COLS);
	text_left(text, STYLE_DIM, cols->chart,
		  cols->chart >= strlen("over time") ? "over time" : "");
	put_name_heads(t);
	text_newline(text);
}

static void put_line(struct timeline *t, size_t class, const struct line_cols *cols)
{
	struct text *text = &t->x->text;
	struct line line;
	make_line(t, class, &line);
	const char *const numbers[] = {line.highest, line.when, line.last};
	for (size_t i = 0; i < 3; i++) {
		text_spaces(text, OUT_GAP_COLS);
		text_right(text, i == 1 ? STYLE_DIM : STYLE_PLAIN, cols->numbers[i], numbers[i]);
	}
	text_spaces(text, OUT_GAP_COLS);
	put_small_chart(t, class, line.most);
	put_names(t, class);
	text_newline(text);
}

static void write_classes(struct timeline *t)
{
	struct line_cols cols = {
		.numbers = {strlen("highest"), strlen("at"), strlen("last")},
		.chart = t->step_count < SMALL_COLS ? t->step_count : SMALL_COLS,
	};
	size_t width = t->x->text.width_cols, used = cols.chart + 4 * OUT_GAP_COLS;
	for (size_t class = 0; class < t->class_count; class ++) {
		struct line line;
		make_line(t, class, &line);
		widen(&cols.numbers[0], line.highest);
		widen(&cols.numbers[1], line.when);
		widen(&cols.numbers[2], line.last);
	}
	for (size_t i = 0; i < 3; i++)
		used += cols.numbers[i];
	measure_names(t, width > used + OUT_GAP_COLS ? width - used - OUT_GAP_COLS : 0);
	put_head(t, &cols);
	for (size_t class = 0; class < t->class_count; class ++)
		put_line(t, class, &cols);
}

/* ---- the whole ---------------------------------------------------------------------- */

static void write_chart(struct timeline *t)
{
	const struct query_result *r = t->x->r;
	if (r->class_count && !out_adds_up(&r->columns[t->column]))
		return;
	for (size_t step = 0; step < t->step_count; step++) {
		for (size_t class = 0; class < t->class_count; class ++)
			t->sums[step] += (int64_t)value_at(t, class, step);
	}
	struct chart_points points = {.values = t->sums,
				      .count = t->step_count,
				      .start_ns = out_first_start(r),
				      .end_ns = r->rows[r->row_count - 1].time_ns,
				      .is_count = r->columns[t->column].type == RESULT_COUNT};
	if (!chart_points(&t->x->text, &points))
		t->x->has_failed = true;
}

void out_timeline(struct out *x)
{
	const struct query_result *r = x->r;
	struct timeline t = {.x = x,
			     .column = out_value_column(x),
			     .class_count = r->class_count ? r->class_count : 1};
	if (t.column == SIZE_MAX) { /* only keys were selected */
		out_table(x);
		return;
	}
	t.step_count = r->row_count / t.class_count;
	t.sums = mem_zarray(t.step_count, sizeof *t.sums);
	t.name_cols = mem_zarray(x->shown_count, sizeof *t.name_cols);
	x->has_failed = x->has_failed || !t.sums || !t.name_cols;
	if (t.sums && t.name_cols) {
		write_chart(&t);
		if (r->class_count)
			write_classes(&t);
		for (size_t i = 0; !r->class_count && i < x->shown_count; i++) {
			if (!r->columns[x->shown[i]].is_key)
				write_range(x, x->shown[i]);
		}
	}
	mem_free(t.sums);
	mem_free(t.name_cols);
}
