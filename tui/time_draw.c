/* Time on the screen: the chart and its legend. */
#include "config.h"

#include "tui/time_priv.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "tui/empty.h"
#include "tui/rows.h"
#include "tui/show.h"

#define AXIS_COLS      8u
#define LEGEND_COLS    46u
#define LEGEND_SCREEN  104u
#define RSS_SCALE_MOST 2.0 /* the scale grows for the RSS line at most by this */

static void draw_axis(const struct time_view *t, const struct area *a, const struct area *chart)
{
	char text[FMT_BYTES];
	const int64_t values[] = {t->chart.most, t->chart.most / 2};
	unsigned rows[] = {chart->row - a->row, chart->row - a->row + chart->rows / 2};
	for (size_t i = 0; i < 2 && (!i || chart->rows > 3); i++) {
		time_show(t, text, sizeof text, values[i]);
		area_right(a, rows[i], AXIS_COLS - 1, AXIS_COLS - 1, look(ROLE_DIM), text);
	}
	area_upright(a, chart->row - a->row, AXIS_COLS - 1, chart->rows, look(ROLE_DIM));
}

static void draw_peak(const struct time_view *t, struct browser *b, const struct area *foot)
{
	char when[FMT_BYTES], bytes[FMT_BYTES], full[96], brief[FMT_BYTES + 8];
	const char *const texts[] = {full, brief};
	struct graph_peak peak = graph_peak(t->graph);
	fmt_duration(when, sizeof when, peak.time_ns);
	snprintf(full, sizeof full, "peak %s%s at %s",
		 peak.is_exact && !peak.bound_bytes ? "" : "about ",
		 fmt_bytes(bytes, sizeof bytes, peak.bytes), when);
	snprintf(brief, sizeof brief, "peak %s", when);
	strip_draw_peak(b, foot, peak.time_ns, texts, 2);
}

static void draw_foot(const struct time_view *t, struct browser *b, const struct area *foot)
{
	char text[FMT_BYTES];
	area_put(foot, 0, 0, look(ROLE_DIM), "0 s");
	area_right(foot, 0, foot->cols, 12, look(ROLE_DIM),
		   fmt_duration(text, sizeof text, strip_end_ns(b)));
	strip_draw_marks(b, foot);
	draw_peak(t, b, foot);
	strip_draw_range(b, foot);
}

/* RSS, or all that the run is compared with: that has to fit whatever it is. */
static void add_line(struct time_view *t, const struct browser *b, unsigned cols, int64_t *line)
{
	double most = RSS_SCALE_MOST * (double)t->chart.most;
	if (!t->before && t->measured != LIVE_BYTES)
		return;
	int64_t highest =
		t->before ? time_make_before(t, b, cols, line) : time_make_line(t, cols, line);
	t->chart.line = line;
	if (highest > t->chart.most && (t->before || (double)highest <= most))
		t->chart.most = highest;
}

static void draw_chart(struct time_view *t, struct browser *b, const struct area *a)
{
	if (a->cols <= AXIS_COLS + 4 || a->rows < 3)
		return;
	if (a->grid->is_plain) {
		t->chart_area = (struct area){.grid = a->grid};
		time_draw_plain(t, b, a);
		return;
	}
	b->strip_area = t->chart_area =
		area_cut(a, 0, AXIS_COLS, a->rows - 1, a->cols - AXIS_COLS - 1);
	const struct area foot = area_cut(a, a->rows - 1, AXIS_COLS, 1, a->cols - AXIS_COLS - 1);
	unsigned cols = t->chart_area.cols;
	int64_t *line = mem_array(cols + 1u, sizeof *line);
	if (line && time_make_columns(t, b, cols)) {
		struct graph_peak peak = graph_peak(t->graph);
		if (t->measured == LIVE_BYTES && peak.bytes > t->chart.most &&
		    !state_chip(model_state(&b->model), STAGE_WHERE))
			t->chart.most = peak.bytes;
		add_line(t, b, cols, line);
		time_chart_draw(&t->chart_area, &t->chart);
		t->chart.line = NULL;
		draw_axis(t, a, &t->chart_area);
		strip_reverse(b, &t->chart_area, true);
		draw_foot(t, b, &foot);
	}
	mem_free(line);
}

static void draw_class(struct time_view *t, struct browser *b, const struct area *a, unsigned row,
		       size_t class, size_t tick)
{
	char text[FMT_BYTES];
	bool is_other = class + 1 == t->series.class_count;
	bool is_match = !is_other && b->find[0] &&
			row_matches(query_opened_result(t->q), t->series.rows[class], b->find);
	struct look l = look(time_chart_role(&t->chart, class));
	int64_t value = time_measure(t, tick, class);
	bool has_blocks = grid_is_utf8(a->grid) && !a->grid->is_mono && !a->grid->is_plain;
	unsigned col = has_blocks ? area_put(a, row, 0, l, "\u2588\u2588 ") : 0;
	col = area_printf(a, row, col, look_bold(ROLE_TEXT), "%c",
			  time_chart_letter(&t->chart, class));
	time_show(t, text, sizeof text, value);
	area_right(a, row, col + 8, 7, look(value ? ROLE_STRONG : ROLE_DIM), text);
	area_right(a, row, col + 15, 7, look(ROLE_DIM),
		   show_share(text, sizeof text, (double)value, (double)time_sum(t, tick)));
	col += 17;
	if (is_other && t->series.other_count)
		area_printf(a, row, col, look(ROLE_DIM), "%zu other%s", t->series.other_count,
			    t->series.other_count == 1 ? "" : "s");
	else if (is_other)
		area_put(a, row, col, look(ROLE_DIM),
			 t->depth ? "no further caller, or short-lived"
				  : "short-lived, or not known what allocated it");
	else if (col < a->cols)
		area_put(a, row, col, is_match ? look_bold(ROLE_MATCH) : look(ROLE_TEXT),
			 time_name(t, b, class, a->cols - col));
}

/* "live at 8.75 s", "mean of 8.00 s..12.00 s". */
static void put_when(const struct time_view *t, const struct browser *b, size_t tick,
		     const char *word, struct buf *out)
{
	char when[FMT_BYTES];
	uint64_t from = 0, to = 0;
	if (tick == TICK_RANGE) {
		strip_range(b, &from, &to);
		buf_printf(out, "mean of %s", fmt_duration(when, sizeof when, from));
		buf_printf(out, "..%s", fmt_duration(when, sizeof when, to));
		return;
	}
	bool is_peak = tick == TICK_PEAK;
	fmt_duration(when, sizeof when,
		     is_peak ? graph_peak(t->graph).time_ns
			     : graph_snap_time(t->graph, (snap_id)tick));
	buf_printf(out, "%s at %s", is_peak ? "peak" : word, when);
}

/* Of the run that this one is compared with. */
static void put_before(const struct time_view *t, const struct browser *b, size_t tick,
		       struct buf *out)
{
	buf_puts(out, grid_is_utf8(&b->grid) ? "  \u2500 old " : "  - old ");
	time_put(t, time_before(t, b, tick), out);
}

/* Of the process, which is more than its heap; where the chart has no room for its line too. */
static void put_rss(const struct time_view *t, size_t tick, struct buf *out)
{
	const struct profile *p = graph_profile(t->graph);
	char text[FMT_BYTES];
	if (tick == TICK_PEAK)
		tick = graph_snap_at(t->graph, graph_peak(t->graph).time_ns);
	if (t->measured != LIVE_BYTES || !tick || tick > p->snapshot_count ||
	    !p->snapshots[tick - 1].rss_bytes)
		return;
	buf_printf(out, "  RSS %s",
		   fmt_bytes(text, sizeof text, (int64_t)p->snapshots[tick - 1].rss_bytes));
}

static void draw_legend(struct time_view *t, struct browser *b, const struct area *a)
{
	const char *what = t->depth ? "by caller" : "by what allocated it";
	struct buf when = {0};
	size_t tick = time_cursor_tick(t, b);
	time_make_means(t, b);
	put_when(t, b, tick, t->measured == ALLOCATED_BYTES ? "allocated" : "live", &when);
	buf_puts(&when, ": ");
	time_put(t, time_sum(t, tick), &when);
	if (t->before)
		put_before(t, b, tick, &when);
	else
		put_rss(t, tick, &when);
	if (!when.has_failed) {
		unsigned col = area_put(a, 0, 0, look(ROLE_HEADING), when.data) + 2;
		if (col + text_cols(what) <= a->cols)
			area_put(a, 0, col, look(ROLE_HEADING), what);
	}
	buf_release(&when);
	const struct area rows = area_cut(a, 1, 0, a->rows - 1, a->cols);
	t->list.count = t->series.class_count - !time_has_others(t);
	list_fit(&t->list, rows.rows);
	for (unsigned i = 0; i < rows.rows && t->list.top + i < t->list.count; i++) {
		size_t class = t->list.top + i;
		draw_class(t, b, &rows, i, class, tick);
		if (class == t->list.selected) {
			area_select(&rows, i);
			area_cursor(&rows, i, 0);
		}
	}
}

void time_draw(void *self, struct browser *b, const struct area *a)
{
	struct time_view *t = self;
	if (t->is_unknown) {
		area_put(a, 1, 2, look(ROLE_STRONG),
			 "this file does not know what was allocated when");
		area_put(a, 2, 2, look(ROLE_DIM),
			 "1 and 2 show what it knows; 9 lists what it does not");
		return;
	}
	if (t->series.class_count <= 1 && !time_has_others(t)) {
		empty_draw(b, a, "no blocks: the query leaves nothing", query_opened_result(t->q));
		return;
	}
	if (a->cols >= LEGEND_SCREEN) {
		const struct area left = area_cut(a, 0, 0, a->rows, a->cols - LEGEND_COLS - 1);
		const struct area right =
			area_cut(a, 0, a->cols - LEGEND_COLS, a->rows, LEGEND_COLS);
		draw_chart(t, b, &left);
		draw_legend(t, b, &right);
		return;
	}
	unsigned legend = (unsigned)t->series.class_count + 1;
	unsigned most = a->rows > 8 ? a->rows * 2 / 5 : a->rows / 2;
	if (legend > most)
		legend = most ? most : 1;
	const struct area upper = area_cut(a, 0, 0, a->rows - legend, a->cols);
	const struct area lower = area_cut(a, a->rows - legend, 1, legend, a->cols);
	draw_chart(t, b, &upper);
	draw_legend(t, b, &lower);
}
