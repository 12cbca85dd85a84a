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

#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/chart.h"
#include "tui/show.h"

#define LABEL_COLS 8u

static bool need_ticks(struct browser *b)
{
	size_t count = b->model.profile->snapshot_count + 1;
	if (b->ticks)
		return true;
	b->ticks = mem_array(count, sizeof *b->ticks);
	if (b->ticks)
		graph_timeline(b->model.graph, NULL, b->ticks);
	return b->ticks;
}

/* The highest value within each step; what no snapshot fell into is as it was before. */
static int64_t fill_values(const struct browser *b, int64_t *values, unsigned count)
{
	const struct profile *p = b->model.profile;
	int64_t most = 0, last = 0;
	unsigned at = 0;
	struct graph_peak peak = graph_peak(b->model.graph);
	memset(values, 0, count * sizeof *values);
	for (size_t i = 0; i <= p->snapshot_count; i++) {
		unsigned step = strip_column(b, count, b->ticks[i].time_ns);
		while (at < step)
			values[++at] = last;
		last = b->ticks[i].live.bytes;
		if (last > values[step])
			values[step] = last;
	}
	while (at + 1 < count)
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

static void draw_marks(struct browser *b, const struct area *a)
{
	const struct profile *p = b->model.profile;
	unsigned free_col = 0;
	for (size_t i = 0; i < p->mark_count; i++) {
		unsigned col = strip_column(b, a->cols, p->marks[i].time_ns);
		if (col < free_col)
			continue;
		unsigned end = area_put(a, 0, col, look(ROLE_MARK), "@");
		free_col = area_elide(a, 0, end, 12, look(ROLE_MARK), p->marks[i].name) + 1;
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

bool strip_range_cuts(const struct browser *b, const struct area *foot, unsigned col, unsigned cols)
{
	uint64_t from, to;
	if (!strip_range(b, &from, &to))
		return false;
	unsigned low = strip_column(b, foot->cols, from), high = strip_column(b, foot->cols, to);
	return (low >= col && low <= col + cols) || (high >= col && high <= col + cols);
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
	char text[FMT_BYTES];
	uint64_t ns;
	struct graph_peak peak = graph_peak(b->model.graph);
	area_right(a, 0, a->cols, 12, look(ROLE_DIM),
		   fmt_duration(text, sizeof text, strip_end_ns(b)));
	draw_marks(b, a);
	fmt_duration(text, sizeof text, peak.time_ns);
	unsigned col = strip_column(b, a->cols, peak.time_ns);
	const char *sign = grid_is_utf8(a->grid) ? "\u25b4" : "^";
	unsigned width = text_cols(text) + 7;
	if (col + width < a->cols && !strip_range_cuts(b, a, col, width))
		area_printf(a, 0, col, look(ROLE_PEAK), "%speak %s ", sign, text);
	else if (col >= width && !strip_range_cuts(b, a, col + 1 - width, width))
		area_printf(a, 0, col + 1 - width, look(ROLE_PEAK), " peak %s%s", text, sign);
	else
		area_put(a, 0, col, look(ROLE_PEAK), sign);
	if (strip_draw_range(b, a))
		return;
	if (strip_instant(b, &ns)) {
		col = strip_column(b, a->cols, ns);
		area_put(a, 0, col, look_bold(ROLE_CURSOR), grid_is_utf8(a->grid) ? "\u25b2" : "|");
		if (b->pane == PANE_STRIP)
			area_cursor(a, 0, col);
	}
}

void strip_draw(struct browser *b, const struct area *a)
{
	char text[FMT_BYTES];
	if (a->cols < 3 * LABEL_COLS || a->rows < 2)
		return;
	const struct area chart = area_cut(a, 0, LABEL_COLS, a->rows - 1, a->cols - LABEL_COLS - 1);
	unsigned count = chart.cols * chart_steps(a->grid);
	int64_t *values = mem_array(count, sizeof *values);
	if (!values || !need_ticks(b)) {
		mem_free(values);
		return;
	}
	int64_t most = fill_values(b, values, count);
	area_right(a, 0, LABEL_COLS - 1, LABEL_COLS - 1, look(ROLE_DIM),
		   show_bytes(text, sizeof text, most));
	chart_area(&chart, look(b->pane == PANE_STRIP ? ROLE_CURSOR : ROLE_CHART), values, most);
	mem_free(values);
	b->strip_area = chart;
	strip_reverse(b, &chart, false);
	const struct area foot = area_cut(a, a->rows - 1, LABEL_COLS, 1, a->cols - LABEL_COLS - 1);
	draw_foot(b, &foot);
}
