/*
 *                 v peak 2.0 MiB at 0.50 s
 *  2.0 MiB |      #
 *          |    :##
 *  1.0 MiB +   :###:
 *          |  :#####::
 *      0 B +::########:::::
 *          +---------+---------
 *          0 s     0.50 s     1.00 s
 */
#include "config.h"

#include "src/report/chart.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"

#include <stdio.h>
#include <string.h>

#define CHART_ROWS       6u
#define LABEL_COLS       12u /* indent, "1023.9 MiB", a space */
#define CHART_MAX_COLS   160u
#define EIGHTHS_PER_CELL 8u
#define MARKS_SHOWN      8u
#define GLYPH_BYTES      4u

struct chart {
	struct graph_peak peak; /* of a whole run only */
	uint64_t start_ns, end_ns;
	int64_t top_bytes;
	size_t cols;
	int64_t *bytes; /* [cols] */
	bool is_count;  /* blocks, in spite of the names here */
};

static const char *value_text(const struct chart *c, char *dst, int64_t value)
{
	return c->is_count ? fmt_count(dst, FMT_BYTES, value) : fmt_bytes(dst, FMT_BYTES, value);
}

static size_t column_of(const struct chart *c, uint64_t time_ns)
{
	if (!c->end_ns || time_ns >= c->end_ns)
		return c->cols - 1;
	return (size_t)((unsigned __int128)time_ns * c->cols / c->end_ns);
}

static void raise(int64_t *value, int64_t to)
{
	if (to > *value)
		*value = to;
}

/* Between two snapshots the last value goes on; what the peak record knows is added. */
static void fill(struct chart *c, const struct graph_tick *ticks, size_t tick_count)
{
	memset(c->bytes, 0, c->cols * sizeof *c->bytes);
	for (size_t i = 0; i < tick_count; i++) {
		size_t until =
			i + 1 < tick_count ? column_of(c, ticks[i + 1].time_ns) : c->cols - 1;
		size_t from = column_of(c, ticks[i].time_ns);
		for (size_t col = from; col <= until; col++)
			raise(&c->bytes[col], ticks[i].live.bytes);
	}
	raise(&c->bytes[column_of(c, c->peak.time_ns)], c->peak.bytes);
	for (size_t col = 0; col < c->cols; col++)
		raise(&c->top_bytes, c->bytes[col]);
}

static void write_marker(struct text *t, const struct chart *c)
{
	char bytes[FMT_BYTES], when[FMT_BYTES], label[2 * FMT_BYTES + 16];
	snprintf(label, sizeof label, "peak %s at %s",
		 fmt_bytes(bytes, sizeof bytes, c->peak.bytes),
		 fmt_duration(when, sizeof when, c->peak.time_ns));
	size_t at = column_of(c, c->peak.time_ns), label_cols = strlen(label);
	bool is_right = at + 2 + label_cols <= c->cols;
	size_t start = LABEL_COLS + 1 + at;
	if (!is_right)
		start -= label_cols + 1;
	text_spaces(t, start);
	if (!is_right)
		text_printf(t, STYLE_PEAK, "%s ", label);
	text_put(t, STYLE_PEAK, text_glyph(t, GLYPH_PEAK));
	if (is_right)
		text_printf(t, STYLE_PEAK, " %s", label);
	text_newline(t);
}

static unsigned eighths_at(const struct chart *c, size_t col, size_t row_from_below)
{
	int64_t full = CHART_ROWS * EIGHTHS_PER_CELL;
	int64_t value = c->bytes[col];
	if (value <= 0)
		return 0;
	int64_t height = (int64_t)((__int128)value * full / c->top_bytes);
	if (!height)
		height = 1;
	height -= (int64_t)(row_from_below * EIGHTHS_PER_CELL);
	return height <= 0 ? 0 : height >= EIGHTHS_PER_CELL ? EIGHTHS_PER_CELL : (unsigned)height;
}

static void add_glyph(char *cells, size_t *at, const char *glyph)
{
	size_t bytes = strlen(glyph);
	memcpy(cells + *at, glyph, bytes + 1);
	*at += bytes;
}

static void write_row(struct text *t, const struct chart *c, size_t row_from_below)
{
	char label[FMT_BYTES] = "";
	if (row_from_below == CHART_ROWS - 1)
		value_text(c, label, c->top_bytes);
	else if (row_from_below == CHART_ROWS / 2 - 1)
		value_text(c, label, c->top_bytes / 2);
	text_right(t, STYLE_DIM, LABEL_COLS - 1, label);
	text_spaces(t, 1);
	text_put(t, STYLE_DIM, text_glyph(t, *label ? GLYPH_AXIS_TICK : GLYPH_AXIS));
	char cells[CHART_MAX_COLS * GLYPH_BYTES + 1];
	size_t at = 0;
	for (size_t col = 0; col < c->cols; col++)
		add_glyph(cells, &at, text_bar(t, eighths_at(c, col, row_from_below)));
	while (at && cells[at - 1] == ' ')
		at--;
	cells[at] = '\0';
	text_put(t, STYLE_CHART, cells);
	text_newline(t);
}

static void write_axis(struct text *t, const struct chart *c)
{
	char start[FMT_BYTES], middle[FMT_BYTES], end[FMT_BYTES];
	text_right(t, STYLE_DIM, LABEL_COLS - 1, c->is_count ? "0" : "0 B");
	text_spaces(t, 1);
	char cells[(CHART_MAX_COLS + 1) * GLYPH_BYTES + 1];
	size_t at = 0;
	add_glyph(cells, &at, text_glyph(t, GLYPH_CORNER));
	for (size_t col = 0; col < c->cols; col++)
		add_glyph(cells, &at,
			  text_glyph(t, col == c->cols / 2 ? GLYPH_LINE_TICK : GLYPH_LINE));
	text_put(t, STYLE_DIM, cells);
	text_newline(t);
	fmt_duration(start, sizeof start, c->start_ns);
	fmt_duration(middle, sizeof middle, c->start_ns + (c->end_ns - c->start_ns) / 2);
	fmt_duration(end, sizeof end, c->end_ns);
	size_t middle_col = c->cols / 2 + 1 - strlen(middle) / 2;
	text_spaces(t, LABEL_COLS);
	text_left(t, STYLE_DIM, middle_col, start);
	text_put(t, STYLE_DIM, middle);
	text_right(t, STYLE_DIM, c->cols + 1 - middle_col - strlen(middle), end);
	text_newline(t);
}

static void draw_area(struct text *t, const struct chart *c)
{
	for (size_t row = CHART_ROWS; row-- > 0;)
		write_row(t, c, row);
	write_axis(t, c);
}

static void draw(struct text *t, const struct chart *c)
{
	if (c->top_bytes <= 0) {
		text_put(t, STYLE_PLAIN, "  Nothing was live at any snapshot.");
		text_newline(t);
		return;
	}
	write_marker(t, c);
	draw_area(t, c);
}

/* What was live at the instants that the program named. */
static void write_marks(struct text *t, struct shortener *nm, const struct profile *p,
			const struct graph_tick *ticks)
{
	char when[FMT_BYTES], bytes[FMT_BYTES], more[FMT_BYTES];
	for (size_t i = 0; i < p->mark_count && i < MARKS_SHOWN; i++) {
		snap_id snap = p->marks[i].snap;
		if (snap > p->snapshot_count)
			continue;
		text_spaces(t, 2);
		text_left(t, STYLE_DIM, LABEL_COLS - 2, i ? "" : "marks");
		text_printf(t, STYLE_PLAIN, " %s at %s, %s live",
			    name_text(nm, p->marks[i].name, t->width_cols - LABEL_COLS - 40),
			    fmt_duration(when, sizeof when, p->marks[i].time_ns),
			    fmt_bytes(bytes, sizeof bytes, ticks[snap].live.bytes));
		text_newline(t);
	}
	if (p->mark_count > MARKS_SHOWN) {
		text_spaces(t, LABEL_COLS + 1);
		text_printf(t, STYLE_DIM, "(%s more)",
			    fmt_count(more, sizeof more, (int64_t)(p->mark_count - MARKS_SHOWN)));
		text_newline(t);
	}
}

enum neap_err chart_write(struct text *t, struct shortener *nm, const struct graph *g,
			  struct err *e)
{
	struct chart c = {.peak = graph_peak(g), .end_ns = graph_end_time(g)};
	c.cols = t->width_cols - LABEL_COLS - 2;
	if (c.cols > CHART_MAX_COLS)
		c.cols = CHART_MAX_COLS;
	size_t tick_count = (size_t)graph_last_snap(g) + 1;
	struct graph_tick *ticks = mem_array(tick_count, sizeof *ticks);
	c.bytes = mem_array(c.cols, sizeof *c.bytes);
	enum neap_err code = NEAP_OK;
	if (ticks && c.bytes) {
		graph_timeline(g, NULL, ticks);
		fill(&c, ticks, tick_count);
		draw(t, &c);
		write_marks(t, nm, graph_profile(g), ticks);
	} else {
		code = err_nomem(e, "the chart");
	}
	mem_free(ticks);
	mem_free(c.bytes);
	return code;
}

/* Each point gets the same number of columns; if there are too many, several share one. */
bool chart_points(struct text *t, const struct chart_points *p)
{
	struct chart c = {.start_ns = p->start_ns, .end_ns = p->end_ns, .is_count = p->is_count};
	size_t most = t->width_cols - LABEL_COLS - 2;
	if (most > CHART_MAX_COLS)
		most = CHART_MAX_COLS;
	if (!p->count)
		return true;
	c.cols = p->count < most ? p->count * (most / p->count) : most;
	c.bytes = mem_zarray(c.cols, sizeof *c.bytes);
	if (!c.bytes)
		return false;
	for (size_t i = 0; i < p->count; i++) {
		size_t from = i * c.cols / p->count, until = (i + 1) * c.cols / p->count;
		for (size_t col = from; col < until || col == from; col++)
			raise(&c.bytes[col], p->values[i]);
		raise(&c.top_bytes, p->values[i]);
	}
	if (c.top_bytes > 0)
		draw_area(t, &c);
	mem_free(c.bytes);
	return true;
}
