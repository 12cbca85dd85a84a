/*
 * The time strip: live bytes over the whole run, the peak, marks, and what the query looks at.
 *
 *   88.7M ⣀⣤⣶⣿⣿⣷⣶⣤⣀         values at snapshots, each column the highest of its slice
 *         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣀⣀⣤⣶
 *      0s      ^peak   @warmup      61 s
 *
 * When it has the focus, the arrows move an instant and the query becomes `live at` it; a range
 * makes it `survivors in` it, or `allocated in` it if that was looked at.  In the Time view, whose
 * chart takes the strip's place, keys and mouse do the same.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/chart.h"
#include "tui/show.h"

#define LABEL_COLS 8u

void strip_forget(struct browser *b)
{
	for (size_t i = 0; i < 2; i++) {
		mem_free(b->curves[i].ticks);
		b->curves[i] = (struct curve){.graph = NULL};
	}
}

static bool need_ticks(struct curve *c, const struct graph *g)
{
	if (c->graph == g && c->ticks)
		return true;
	mem_free(c->ticks);
	c->ticks = mem_array(graph_profile(g)->snapshot_count + 1, sizeof *c->ticks);
	c->graph = g;
	if (c->ticks)
		graph_timeline(g, NULL, c->ticks);
	return c->ticks;
}

/* The highest value within each step; what no snapshot fell into is as it was before. */
static int64_t fill_values(const struct browser *b, const struct curve *c, int64_t *values,
			   unsigned count)
{
	int64_t most = 0, last = 0;
	unsigned at = 0;
	struct graph_peak peak = graph_peak(c->graph);
	memset(values, 0, count * sizeof *values);
	for (size_t i = 0; i <= graph_profile(c->graph)->snapshot_count; i++) {
		unsigned step = strip_column(b, count, c->ticks[i].time_ns);
		while (at < step)
			values[++at] = last;
		last = c->ticks[i].live.bytes;
		if (last > values[step])
			values[step] = last;
	}
	unsigned end = strip_column(b, count, graph_end_time(c->graph));
	while (at < end)
		values[++at] = last;
	unsigned step = strip_column(b, count, peak.time_ns);
	if (peak.bytes > values[step])
		values[step] = peak.bytes;
	for (unsigned i = 0; i < count; i++) {
		if (values[i] > most)
			most = values[i];
	}
	return most;
}

/* ---- drawing ---------------------------------------------------------------------------------- */

#define MARK_COLS 12u /* of its name */

void strip_draw_marks(const struct browser *b, const struct area *foot)
{
	const struct profile *p = graph_profile(b->model.now);
	unsigned free_col = 0;
	for (size_t i = 0; i < p->mark_count; i++) {
		unsigned col = strip_column(b, foot->cols, p->marks[i].time_ns);
		if (col < free_col)
			continue;
		unsigned end = area_put(foot, 0, col, look(ROLE_MARK), "@");
		free_col =
			area_elide(foot, 0, end, MARK_COLS, look(ROLE_MARK), p->marks[i].name) + 1;
	}
}

bool strip_draw_range(struct browser *b, const struct area *foot)
{
	uint64_t from, to;
	if (!strip_range(b, &from, &to))
		return false;
	unsigned low = strip_column(b, foot->cols, from), high = strip_column(b, foot->cols, to);
	area_fill(foot, 0, low, 1, 1, look_bold(ROLE_CURSOR), '[');
	area_fill(foot, 0, high, 1, 1, look_bold(ROLE_CURSOR), low == high ? '|' : ']');
	return true;
}

/* Stands a bracket of the range, or a mark with its name, in these columns? */
static bool is_taken(const struct browser *b, const struct area *foot, unsigned from, unsigned end)
{
	const struct profile *p = graph_profile(b->model.now);
	uint64_t start_ns, end_ns;
	if (strip_range(b, &start_ns, &end_ns)) {
		unsigned low = strip_column(b, foot->cols, start_ns);
		unsigned high = strip_column(b, foot->cols, end_ns);
		if ((low >= from && low < end) || (high >= from && high < end))
			return true;
	}
	for (size_t i = 0; i < p->mark_count; i++) {
		unsigned col = strip_column(b, foot->cols, p->marks[i].time_ns);
		unsigned cols = text_cols(p->marks[i].name);
		if (col < end && col + 1 + (cols < MARK_COLS ? cols : MARK_COLS) > from)
			return true;
	}
	return false;
}

void strip_draw_peak(const struct browser *b, const struct area *foot, uint64_t peak_ns,
		     const char *const *texts, size_t count)
{
	char end_text[FMT_BYTES];
	unsigned col = strip_column(b, foot->cols, peak_ns);
	unsigned end_cols = text_cols(fmt_duration(end_text, sizeof end_text, strip_end_ns(b)));
	const char *sign = grid_is_utf8(foot->grid) ? "\u25b4" : "^";
	const struct look l = look(ROLE_PEAK);
	for (size_t i = 0; i < count; i++) {
		unsigned width = text_cols(texts[i]) + 1;
		if (col + width + end_cols < foot->cols &&
		    !is_taken(b, foot, col, col + width + 1)) {
			area_printf(foot, 0, col, l, "%s%s", sign, texts[i]);
			return;
		}
		if (col + 1 >= width && !is_taken(b, foot, col + 1 - width, col + 1)) {
			area_printf(foot, 0, col + 1 - width, l, "%s%s", texts[i], sign);
			return;
		}
	}
	area_put(foot, 0, col, l, sign);
}

void strip_reverse(struct browser *b, const struct area *chart, bool has_colours)
{
	uint64_t from, to;
	if (!strip_range(b, &from, &to)) {
		if (!strip_instant(b, &from))
			return;
		to = from;
	}
	unsigned low = strip_column(b, chart->cols, from), high = strip_column(b, chart->cols, to);
	bool has_lines = grid_is_utf8(chart->grid) && !chart->grid->is_mono;
	if (has_lines && (low == high || has_colours)) {
		area_line(chart, low);
		area_line(chart, high);
		return;
	}
	for (unsigned row = 0; row < chart->rows; row++)
		area_flag(chart, row, low, high - low + 1, LOOK_REVERSE);
}

static void draw_foot(struct browser *b, const struct area *a)
{
	char text[FMT_BYTES], when[FMT_BYTES + 8];
	const char *const texts[] = {when};
	uint64_t ns;
	struct graph_peak peak = graph_peak(b->model.now);
	area_right(a, 0, a->cols, 12, look(ROLE_DIM),
		   fmt_duration(text, sizeof text, strip_end_ns(b)));
	strip_draw_marks(b, a);
	snprintf(when, sizeof when, "peak %s", fmt_duration(text, sizeof text, peak.time_ns));
	strip_draw_peak(b, a, peak.time_ns, texts, 1);
	if (strip_draw_range(b, a))
		return;
	if (strip_instant(b, &ns)) {
		unsigned col = strip_column(b, a->cols, ns);
		area_put(a, 0, col, look_bold(ROLE_CURSOR), grid_is_utf8(a->grid) ? "\u25b2" : "|");
		if (b->pane == PANE_STRIP)
			area_cursor(a, 0, col);
	}
}

#define STRIP_ROWS        3u
#define STRIP_SCREEN_ROWS 16u
#define LARGE_SCREEN_ROWS 30u /* so many for two rows of each of two files */

unsigned strip_rows(const struct browser *b, unsigned rows)
{
	if (rows < STRIP_SCREEN_ROWS || !model_knows(&b->model, FACT_TIME))
		return 0;
	if (b->grid.is_plain)
		return b->model.before ? 2 : 1;
	return b->model.before && rows >= LARGE_SCREEN_ROWS ? STRIP_ROWS + 2 : STRIP_ROWS;
}

/* What is drawn: the run, or above it the one that it is compared with, on the same scale. */
struct curves {
	int64_t *values[2]; /* of model.now, of model.before */
	int64_t most[2];
	size_t count;
};

static bool make_curves(struct browser *b, unsigned count, struct curves *c)
{
	const struct graph *graphs[] = {b->model.now, b->model.before};
	*c = (struct curves){.count = b->model.before ? 2 : 1};
	for (size_t i = 0; i < c->count; i++) {
		c->values[i] = mem_array(count, sizeof **c->values);
		if (!c->values[i] || !need_ticks(&b->curves[i], graphs[i]))
			return false;
		c->most[i] = fill_values(b, &b->curves[i], c->values[i], count);
	}
	return true;
}

static void draw_curves(const struct browser *b, const struct area *a, const struct area *chart,
			const struct curves *c)
{
	static const char *const words[] = {"new", "old"};
	char text[FMT_BYTES];
	unsigned rows = chart->rows / (unsigned)c->count, label = chart->col - a->col;
	int64_t most = c->most[0] > c->most[1] ? c->most[0] : c->most[1];
	const struct look l = look(b->pane == PANE_STRIP ? ROLE_CURSOR : ROLE_CHART);
	for (unsigned i = 0; i < c->count; i++) {
		unsigned row = (unsigned)(c->count - 1 - i) * rows;
		const struct area part = area_cut(chart, row, 0, rows, chart->cols);
		if (c->count > 1)
			area_put(a, row, 1, look(ROLE_DIM), words[i]);
		area_right(a, row, label - 1, LABEL_COLS - 1, look(ROLE_DIM),
			   show_bytes(text, sizeof text, c->most[i]));
		chart_area(&part, i ? look(ROLE_DIM) : l, c->values[i], most);
	}
}

/* Of the run, for numbers in place of a curve. */
struct parts {
	unsigned count;
	const char *word; /* what one of them is */
};

/* "peak 52.5M at 2.98 s of 4.01 s; most in each tenth: 1.2M 3.4M ..." */
static void put_parts(const struct browser *b, const struct curve *c, const int64_t *values,
		      const struct parts *parts, const char *what, struct buf *out)
{
	char text[FMT_BYTES];
	struct graph_peak peak = graph_peak(c->graph);
	buf_printf(out, "%speak %s", what, show_bytes(text, sizeof text, peak.bytes));
	buf_printf(out, " at %s", fmt_duration(text, sizeof text, peak.time_ns));
	buf_printf(out, " of %s", fmt_duration(text, sizeof text, strip_end_ns(b)));
	if (parts->count)
		buf_printf(out, "; most in each %s:", parts->word);
	for (unsigned i = 0; i < parts->count; i++)
		buf_printf(out, " %s", show_bytes(text, sizeof text, values[i]));
}

/* In so many parts; false: some text has no room. */
static bool draw_parts(struct browser *b, const struct area *a, const struct parts *parts)
{
	struct curves c;
	struct buf text = {0};
	bool is_good = make_curves(b, parts->count ? parts->count : 1, &c);
	for (unsigned i = 0; is_good && i < c.count; i++) {
		const char *what = c.count < 2 ? "" : i ? "old: " : "new: ";
		buf_clear(&text);
		put_parts(b, &b->curves[i], c.values[i], parts, what, &text);
		is_good = !text.has_failed && (!parts->count || text_cols(text.data) < a->cols);
		if (is_good)
			area_put(a, (unsigned)c.count - 1 - i, 1, look(ROLE_DIM), text.data);
	}
	for (size_t i = 0; i < c.count; i++)
		mem_free(c.values[i]);
	buf_release(&text);
	return is_good;
}

/* Numbers, for who has them read out; where it has the focus, the chips say the instant. */
static void draw_plain(struct browser *b, const struct area *a)
{
	static const struct parts choices[] = {
		{10, "tenth"}, {5, "fifth"}, {4, "quarter"}, {2, "half"}, {0, ""}};
	for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
		area_fill(a, 0, 0, a->rows, a->cols, look(ROLE_TEXT), ' ');
		if (draw_parts(b, a, &choices[i]))
			break;
	}
	if (b->pane == PANE_STRIP)
		area_cursor(a, 0, 0);
	b->strip_area = area_cut(a, 0, 0, 0, a->cols); /* no rows: nothing to press on */
}

void strip_draw(struct browser *b, const struct area *a)
{
	if (a->grid->is_plain) {
		draw_plain(b, a);
		return;
	}
	unsigned label = LABEL_COLS + (b->model.before ? strlen("new ") : 0);
	struct curves c;
	if (a->cols < 3 * LABEL_COLS || a->rows < STRIP_ROWS)
		return;
	const struct area chart = area_cut(a, 0, label, a->rows - 1, a->cols - label - 1);
	if (make_curves(b, chart.cols * chart_steps(a->grid), &c)) {
		draw_curves(b, a, &chart, &c);
		b->strip_area = chart;
		strip_reverse(b, &chart, false);
		const struct area foot = area_cut(a, a->rows - 1, label, 1, a->cols - label - 1);
		draw_foot(b, &foot);
	}
	for (size_t i = 0; i < c.count; i++)
		mem_free(c.values[i]);
}
