/*
 * Time: what the heap holds over the run, as stacked areas of the classes that the query's keys
 * make.  Every block is in one class: its leaf function, or one of the callers of a function that
 * was entered, or a value of another key.
 *
 *   88.7M |        BBBB              A 20.2M  json_parse
 *         |    BBBBBAAAA             B  9.9M  hash_insert
 *         |BBBBAAAAAAAAAAAAA         .  0.4M  12 others
 *         +------------------
 *          0 s      ^peak  @warmup
 *
 * Up and down choose a class, left and right an instant, Enter shows who called the class:
 * a `path` chip names the way from the caller down to the leaf.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "tui/empty.h"
#include "tui/list.h"
#include "tui/show.h"
#include "tui/time_chart.h"

#define CLASSES_MOST   SERIES_MOST
#define AXIS_COLS      8u
#define LEGEND_COLS    46u
#define LEGEND_SCREEN  104u
#define RSS_SCALE_MOST 2.0 /* the scale grows for the RSS line at most by this */

enum measured {
	LIVE_BYTES,
	LIVE_BLOCKS,
	ALLOCATED_BYTES, /* per second */
	MEASURED_COUNT,
};

struct time_view {
	struct query_opened *q; /* borrowed from the model */
	uint64_t serial;        /* of what series was made of */
	unsigned depth;
	struct query_series series;
	struct list list; /* of classes, as in the legend */
	enum measured measured;
	bool is_grouped;                          /* by values of keys, not by frames */
	struct graph_sum means[CLASSES_MOST + 1]; /* of the range, by class */
	int64_t rates[CLASSES_MOST + 1];          /* allocated per second in the range */
	const struct graph *graph;                /* of the last load */

	/* What was drawn last, for the mouse. */
	struct area chart_area;
	struct time_chart chart;
	int64_t *columns; /* chart.values */
	size_t *ticks;    /* [cols]: the tick shown in a column */
};

/* After the last tick: the exact peak, and the mean of the range. */
#define TICK_PEAK  SIZE_MAX
#define TICK_RANGE (SIZE_MAX - 1)

static int64_t per_second(int64_t bytes, uint64_t ns)
{
	return ns ? (int64_t)((double)bytes * 1e9 / (double)ns + 0.5) : 0;
}

/* Allocated in the interval that ends with a tick. */
static int64_t rate_at(const struct time_view *t, size_t tick, size_t class)
{
	if (tick == TICK_RANGE)
		return t->rates[class];
	if (!tick || tick == TICK_PEAK)
		return 0;
	uint64_t from = graph_snap_time(t->graph, (snap_id)(tick - 1));
	uint64_t to = graph_snap_time(t->graph, (snap_id)tick);
	return per_second(t->series.born[tick * t->series.class_count + class].bytes,
			  to > from ? to - from : 0);
}

static int64_t measure(const struct time_view *t, size_t tick, size_t class)
{
	if (t->measured == ALLOCATED_BYTES)
		return rate_at(t, tick, class);
	const struct graph_sum *v =
		tick == TICK_PEAK    ? &t->series.peak[class]
		: tick == TICK_RANGE ? &t->means[class]
				     : &t->series.values[tick * t->series.class_count + class];
	return t->measured == LIVE_BLOCKS ? v->blocks : v->bytes;
}

static const char *show_measure(const struct time_view *t, char *dst, size_t cap, int64_t value)
{
	return t->measured == LIVE_BLOCKS ? show_count(dst, cap, value)
					  : show_bytes(dst, cap, value);
}

/* "1.3 M blocks", "42.1 MiB", "42.1 MiB/s". */
static void put_measure(const struct time_view *t, int64_t value, struct buf *out)
{
	char text[FMT_BYTES];
	if (t->measured == LIVE_BLOCKS)
		buf_printf(out, "%s blocks", fmt_count(text, sizeof text, value));
	else
		buf_printf(out, "%s%s", fmt_bytes(text, sizeof text, value),
			   t->measured == ALLOCATED_BYTES ? "/s" : "");
}

static int64_t sum_at(const struct time_view *t, size_t tick)
{
	int64_t sum = 0;
	for (size_t i = 0; i < t->series.class_count; i++)
		sum += measure(t, tick, i);
	return sum;
}

static uint64_t end_ns(const struct browser *b)
{
	uint64_t end = graph_end_time(b->model.graph);
	return end ? end : 1;
}

/* ---- loading ----------------------------------------------------------------------------- */

static bool is_of_frames(const char *by)
{
	static const char *const words[] = {"func", "line", "file", "module", "class", "addr"};
	const char *p = by ? by + strlen("by ") : "func";
	while (*p) {
		size_t bytes = strcspn(p, ", "), i = 0;
		while (i < 6 && (strlen(words[i]) != bytes || memcmp(words[i], p, bytes) != 0))
			i++;
		if (i == 6)
			return false;
		p += bytes;
		p += strspn(p, ", ");
	}
	return true;
}

/* Down from the leaf along the path that the query leaves. */
static enum neap_err find_parent(struct time_view *t, unsigned depth, uint32_t *row_out,
				 struct query_error *error)
{
	enum neap_err code = NEAP_OK;
	*row_out = OPENED_ROOT;
	while (!code && depth--) {
		uint32_t first, count;
		code = query_opened_children(t->q, *row_out, &first, &count, error);
		if (!code && !count)
			break;
		*row_out = first;
	}
	return code;
}

static enum neap_err make_series(struct time_view *t, unsigned depth, struct query_error *error)
{
	uint32_t row;
	query_series_release(&t->series);
	enum neap_err code = find_parent(t, depth, &row, error);
	return code ? code : query_opened_series(t->q, row, CLASSES_MOST, &t->series, error);
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct time_view *t = self;
	const struct state *s = model_state(&b->model);
	const char *by = state_chip(s, STAGE_BY);
	t->is_grouped = !is_of_frames(by);
	t->graph = b->model.graph;
	const struct compose c = {.head = "allocated",
				  .default_by = "func",
				  .view = t->is_grouped ? NULL : "callers",
				  .without_rows = true};
	enum neap_err code = model_result(&b->model, &c, &t->q, error);
	if (code)
		return code;
	uint64_t serial = model_serial(&b->model, t->q);
	if (serial != t->serial || s->callers_depth != t->depth) {
		t->serial = 0;
		t->list = (struct list){.count = 0};
		code = make_series(t, s->callers_depth, error);
		if (code)
			return code;
		t->serial = serial;
		t->depth = s->callers_depth;
	}
	const struct query_result *r = query_opened_result(t->q);
	browser_summarise(b, r);
	snprintf(b->summary.population, sizeof b->summary.population, "allocated:");
	b->summary.is_other = true;
	return NEAP_OK;
}

static void release(void *self)
{
	struct time_view *t = self;
	query_series_release(&t->series);
	mem_free(t->columns);
	mem_free(t->ticks);
}

/* ---- columns of the chart --------------------------------------------------------------------- */

static unsigned column_of(const struct browser *b, unsigned cols, uint64_t ns)
{
	unsigned col = (unsigned)((double)ns / (double)end_ns(b) * cols);
	return col >= cols ? cols - 1 : col;
}

/* In each column the tick with the highest sum; a column without a tick shows the one before. */
static void choose_ticks(struct time_view *t, const struct browser *b, unsigned cols)
{
	size_t tick = 0;
	for (unsigned col = 0; col < cols; col++) {
		size_t best = tick ? tick - 1 : 0;
		bool is_first = true;
		for (; tick < t->series.tick_count; tick++) {
			uint64_t ns = graph_snap_time(b->model.graph, (snap_id)tick);
			if (column_of(b, cols, ns) > col)
				break;
			if (is_first || sum_at(t, tick) > sum_at(t, best))
				best = tick;
			is_first = false;
		}
		t->ticks[col] = best;
	}
	unsigned col = column_of(b, cols, graph_peak(b->model.graph).time_ns);
	if (cols && sum_at(t, TICK_PEAK) > sum_at(t, t->ticks[col]))
		t->ticks[col] = TICK_PEAK;
}

static bool make_columns(struct time_view *t, const struct browser *b, unsigned cols)
{
	size_t classes = t->series.class_count;
	mem_free(t->columns);
	mem_free(t->ticks);
	t->columns = mem_zarray((size_t)cols * classes + 1, sizeof *t->columns);
	t->ticks = mem_zarray(cols + 1u, sizeof *t->ticks);
	if (!t->columns || !t->ticks)
		return false;
	choose_ticks(t, b, cols);
	t->chart = (struct time_chart){.values = t->columns,
				       .class_count = classes,
				       .other_class = classes - 1,
				       .selected = t->list.selected};
	for (unsigned col = 0; col < cols; col++) {
		int64_t sum = 0;
		for (size_t i = 0; i < classes; i++)
			sum += t->columns[col * classes + i] = measure(t, t->ticks[col], i);
		if (sum > t->chart.most)
			t->chart.most = sum;
	}
	return true;
}

/* RSS at the tick of each column.  Returns the highest. */
static int64_t make_line(const struct time_view *t, const struct browser *b, unsigned cols,
			 int64_t *line)
{
	const struct profile *p = b->model.profile;
	int64_t most = 0;
	for (unsigned col = 0; col < cols; col++) {
		size_t tick = t->ticks[col];
		if (tick == TICK_PEAK)
			tick = graph_snap_at(b->model.graph, graph_peak(b->model.graph).time_ns);
		line[col] = tick ? (int64_t)p->snapshots[tick - 1].rss_bytes : -1;
		if (!line[col])
			line[col] = -1;
		if (line[col] > most)
			most = line[col];
	}
	return most;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

static uint64_t cursor_ns(const struct browser *b)
{
	uint64_t ns;
	return strip_instant(b, &ns) ? ns : b->strip_cursor_ns;
}

static size_t cursor_tick(const struct time_view *t, const struct browser *b)
{
	uint64_t from, to;
	if (strip_range(b, &from, &to) && from < to)
		return TICK_RANGE;
	bool is_live = t->measured != ALLOCATED_BYTES;
	if (is_live && query_population(model_state(&b->model)->head) == POP_PEAK)
		return TICK_PEAK;
	size_t tick = graph_snap_at(b->model.graph, cursor_ns(b));
	return tick < t->series.tick_count ? tick : t->series.tick_count - 1;
}

/* What a class held on average in a range: each tick counts for as long as it was the last one. */
static int64_t mean_of(const struct time_view *t, const struct browser *b, size_t class,
		       uint64_t from, uint64_t to, bool is_of_blocks)
{
	double sum = 0;
	for (size_t i = 0; i < t->series.tick_count; i++) {
		uint64_t start = graph_snap_time(b->model.graph, (snap_id)i), end = to;
		if (i + 1 < t->series.tick_count)
			end = graph_snap_time(b->model.graph, (snap_id)(i + 1));
		const struct graph_sum *v = &t->series.values[i * t->series.class_count + class];
		start = start < from ? from : start;
		end = end > to ? to : end;
		if (start < end)
			sum += (double)(is_of_blocks ? v->blocks : v->bytes) *
			       (double)(end - start);
	}
	return (int64_t)(sum / (double)(to - from) + 0.5);
}

/* Intervals that end in the range. */
static int64_t rate_in(const struct time_view *t, size_t class, uint64_t from, uint64_t to)
{
	int64_t bytes = 0;
	for (size_t i = 1; i < t->series.tick_count; i++) {
		uint64_t ns = graph_snap_time(t->graph, (snap_id)i);
		if (ns > from && ns <= to)
			bytes += t->series.born[i * t->series.class_count + class].bytes;
	}
	return per_second(bytes, to - from);
}

static void make_means(struct time_view *t, const struct browser *b)
{
	uint64_t from, to;
	if (cursor_tick(t, b) != TICK_RANGE || !strip_range(b, &from, &to))
		return;
	for (size_t i = 0; i < t->series.class_count; i++) {
		t->means[i].bytes = mean_of(t, b, i, from, to, false);
		t->means[i].blocks = mean_of(t, b, i, from, to, true);
		t->rates[i] = rate_in(t, i, from, to);
	}
}

static void draw_axis(const struct time_view *t, const struct area *a, const struct area *chart)
{
	char text[FMT_BYTES];
	const int64_t values[] = {t->chart.most, t->chart.most / 2};
	unsigned rows[] = {chart->row - a->row, chart->row - a->row + chart->rows / 2};
	for (size_t i = 0; i < 2 && (!i || chart->rows > 3); i++) {
		show_measure(t, text, sizeof text, values[i]);
		area_right(a, rows[i], AXIS_COLS - 1, AXIS_COLS - 1, look(ROLE_DIM), text);
	}
	area_upright(a, chart->row - a->row, AXIS_COLS - 1, chart->rows, look(ROLE_DIM));
}

static void draw_peak(struct browser *b, const struct area *foot)
{
	char when[FMT_BYTES], bytes[FMT_BYTES];
	struct graph_peak peak = graph_peak(b->model.graph);
	unsigned col = column_of(b, foot->cols, peak.time_ns);
	const char *sign = grid_is_utf8(foot->grid) ? "\u25b4" : "^";
	struct buf text = {0};
	buf_printf(&text, "peak %s%s at %s", peak.is_exact && !peak.bound_bytes ? "" : "about ",
		   fmt_bytes(bytes, sizeof bytes, peak.bytes),
		   fmt_duration(when, sizeof when, peak.time_ns));
	unsigned width = text.has_failed ? 0 : text_cols(text.data);
	if (width && col + width + 12 < foot->cols && !strip_range_cuts(b, foot, col, width))
		area_printf(foot, 0, col, look(ROLE_PEAK), "%s%s", sign, text.data);
	else if (width && col >= width && !strip_range_cuts(b, foot, col - width, width))
		area_printf(foot, 0, col - width, look(ROLE_PEAK), "%s%s", text.data, sign);
	else
		area_put(foot, 0, col, look(ROLE_PEAK), sign);
	buf_release(&text);
}

static void draw_foot(struct browser *b, const struct area *foot)
{
	const struct profile *p = b->model.profile;
	char text[FMT_BYTES];
	area_put(foot, 0, 0, look(ROLE_DIM), "0 s");
	area_right(foot, 0, foot->cols, 12, look(ROLE_DIM),
		   fmt_duration(text, sizeof text, end_ns(b)));
	for (size_t i = 0; i < p->mark_count; i++) {
		unsigned col = column_of(b, foot->cols, p->marks[i].time_ns);
		col = area_put(foot, 0, col, look(ROLE_MARK), "@");
		area_elide(foot, 0, col, 12, look(ROLE_MARK), p->marks[i].name);
	}
	draw_peak(b, foot);
	strip_draw_range(b, foot);
}

static void draw_chart(struct time_view *t, struct browser *b, const struct area *a)
{
	if (a->cols <= AXIS_COLS + 4 || a->rows < 3)
		return;
	b->strip_area = t->chart_area =
		area_cut(a, 0, AXIS_COLS, a->rows - 1, a->cols - AXIS_COLS - 1);
	const struct area foot = area_cut(a, a->rows - 1, AXIS_COLS, 1, a->cols - AXIS_COLS - 1);
	unsigned cols = t->chart_area.cols;
	int64_t *line = mem_array(cols + 1u, sizeof *line);
	if (line && make_columns(t, b, cols)) {
		int64_t rss = make_line(t, b, cols, line);
		struct graph_peak peak = graph_peak(b->model.graph);
		if (t->measured == LIVE_BYTES && peak.bytes > t->chart.most &&
		    !state_chip(model_state(&b->model), STAGE_WHERE))
			t->chart.most = peak.bytes;
		if (t->measured == LIVE_BYTES) {
			t->chart.line = line;
			if ((double)rss <= RSS_SCALE_MOST * (double)t->chart.most &&
			    rss > t->chart.most)
				t->chart.most = rss;
		}
		time_chart_draw(&t->chart_area, &t->chart);
		t->chart.line = NULL;
		draw_axis(t, a, &t->chart_area);
		strip_reverse(b, &t->chart_area, true);
		draw_foot(b, &foot);
	}
	mem_free(line);
}

static bool frame_of(const struct time_view *t, const struct browser *b, size_t class,
		     struct graph_frame *out)
{
	if (t->is_grouped || class + 1 >= t->series.class_count)
		return false;
	const struct result_row *row = &query_opened_result(t->q)->rows[t->series.rows[class]];
	if (!row->frame_count || b->model.path_count > 1)
		return false;
	*out = graph_entry(b->model.graph, row->frames[0]);
	return true;
}

/* The first key of a class. */
static const char *key_of(const struct time_view *t, size_t class)
{
	const struct query_result *r = query_opened_result(t->q);
	const char *text = "";
	for (size_t i = r->column_count; i-- > 0;) {
		const struct result_cell *c =
			&r->cells[t->series.rows[class] * r->column_count + i];
		if (r->columns[i].is_key)
			text = c->is_unknown || !c->text ? "[unknown]" : c->text;
	}
	return text;
}

static const char *name_of(const struct time_view *t, struct browser *b, size_t class,
			   unsigned cols)
{
	const char *by = state_chip(model_state(&b->model), STAGE_BY);
	struct graph_frame f;
	if ((!by || !strcmp(by, "by func")) && frame_of(t, b, class, &f))
		return name_frame(&b->names, &f, cols);
	if (by && !strcmp(by, "by module"))
		return name_module(&b->names, key_of(t, class), cols);
	return name_text(&b->names, key_of(t, class), cols);
}

static void draw_class(struct time_view *t, struct browser *b, const struct area *a, unsigned row,
		       size_t class, size_t tick)
{
	char text[FMT_BYTES];
	bool is_other = class + 1 == t->series.class_count;
	struct look l = look(time_chart_role(&t->chart, class));
	int64_t value = measure(t, tick, class);
	bool has_blocks = grid_is_utf8(a->grid) && !a->grid->is_mono;
	unsigned col = has_blocks ? area_put(a, row, 0, l, "\u2588\u2588 ") : 0;
	col = area_printf(a, row, col, look_bold(ROLE_TEXT), "%c",
			  time_chart_letter(&t->chart, class));
	show_measure(t, text, sizeof text, value);
	area_right(a, row, col + 8, 7, look(value ? ROLE_STRONG : ROLE_DIM), text);
	area_right(a, row, col + 15, 7, look(ROLE_DIM),
		   show_share(text, sizeof text, (double)value, (double)sum_at(t, tick)));
	col += 17;
	if (is_other && t->series.other_count)
		area_printf(a, row, col, look(ROLE_DIM), "%zu others", t->series.other_count);
	else if (is_other)
		area_put(a, row, col, look(ROLE_DIM), "no further caller");
	else if (col < a->cols)
		area_put(a, row, col, look(ROLE_TEXT), name_of(t, b, class, a->cols - col));
}

/* All that has no class of its own: many small ones, or stacks that end here. */
static bool has_others(const struct time_view *t)
{
	if (!t->series.class_count)
		return false;
	size_t last = t->series.class_count - 1;
	bool has_some = t->series.other_count || measure(t, TICK_PEAK, last);
	for (size_t i = 0; !has_some && i < t->series.tick_count; i++)
		has_some = measure(t, i, last);
	return has_some;
}

/* "live at 8.75 s", "mean of 8.00 s..12.00 s". */
static void put_when(const struct browser *b, size_t tick, const char *word, struct buf *out)
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
		     is_peak ? graph_peak(b->model.graph).time_ns
			     : graph_snap_time(b->model.graph, (snap_id)tick));
	buf_printf(out, "%s at %s", is_peak ? "peak" : word, when);
}

/* Of the process, which is more than its heap; where the chart has no room for its line too. */
static void put_rss(const struct time_view *t, const struct browser *b, size_t tick,
		    struct buf *out)
{
	const struct profile *p = b->model.profile;
	char text[FMT_BYTES];
	if (tick == TICK_PEAK)
		tick = graph_snap_at(b->model.graph, graph_peak(b->model.graph).time_ns);
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
	size_t tick = cursor_tick(t, b);
	make_means(t, b);
	put_when(b, tick, t->measured == ALLOCATED_BYTES ? "allocated" : "live", &when);
	buf_puts(&when, ": ");
	put_measure(t, sum_at(t, tick), &when);
	put_rss(t, b, tick, &when);
	if (!when.has_failed) {
		unsigned col = area_put(a, 0, 0, look(ROLE_HEADING), when.data) + 2;
		if (col + text_cols(what) <= a->cols)
			area_put(a, 0, col, look(ROLE_HEADING), what);
	}
	buf_release(&when);
	const struct area rows = area_cut(a, 1, 0, a->rows - 1, a->cols);
	t->list.count = t->series.class_count - !has_others(t);
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

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct time_view *t = self;
	if (t->series.class_count <= 1 && !has_others(t)) {
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

/* ---- keys ------------------------------------------------------------------------------------------ */

/* The path chip of the query, which ends at the leaf, or NULL. */
static const char *path_chip(const struct state *s)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		const char *text = s->chips[i].text;
		if (s->chips[i].kind == STAGE_WHERE && !strncmp(text, "where path ", 11))
			return text;
	}
	return NULL;
}

static bool replace_path(struct state *s, const char *text)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		if (!strncmp(s->chips[i].text, "where path ", 11)) {
			state_remove_chip(s, i);
			break;
		}
	}
	return state_add_chip(s, STAGE_WHERE, text);
}

static void commit(struct browser *b, struct state *s, bool is_good)
{
	struct query_error error = {.code = NEAP_OK};
	if (!s || !is_good) {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
		return;
	}
	browser_tell(b, model_commit(&b->model, s, &error), &error);
}

/* Who called this class of functions. */
static void enter_frame(struct time_view *t, struct browser *b, const struct graph_frame *f)
{
	struct buf path = {0};
	struct state *s = model_edit(&b->model);
	const char *old = s && t->depth ? path_chip(s) : NULL;
	buf_puts(&path, "where path ");
	query_step(&path, f);
	if (old)
		buf_printf(&path, " > %s", old + strlen("where path "));
	else
		buf_putc(&path, '$');
	bool is_good = s && !path.has_failed;
	if (is_good) {
		is_good = replace_path(s, path.data);
		s->callers_depth = t->depth + 1;
	}
	buf_release(&path);
	commit(b, s, is_good);
}

/* Only this module, file, thread: then by function. */
static void enter_key(struct time_view *t, struct browser *b, const char *by, size_t class)
{
	struct buf where = {0};
	const char *word = by + strlen("by ");
	const char *key = key_of(t, class);
	if (strpbrk(word, ",:") || !strcmp(word, "class") || !strcmp(key, "[unknown]")) {
		browser_say(b, ROLE_DIM, "this class cannot be entered");
		return;
	}
	struct state *s = model_edit(&b->model);
	buf_printf(&where, "where %s%s=", t->is_grouped ? "" : "leaf.", word);
	query_quote(&where, key);
	bool is_good = s && !where.has_failed && state_add_chip(s, STAGE_WHERE, where.data) &&
		       state_set_chip(s, STAGE_BY, NULL);
	buf_release(&where);
	commit(b, s, is_good);
}

static void enter(struct time_view *t, struct browser *b)
{
	struct graph_frame f;
	const char *by = state_chip(model_state(&b->model), STAGE_BY);
	size_t class = t->list.selected;
	if (class + 1 >= t->series.class_count)
		browser_say(b, ROLE_DIM, "these are many classes; 2 lists them all");
	else if (by && strcmp(by, "by func") != 0)
		enter_key(t, b, by, class);
	else if (frame_of(t, b, class, &f))
		enter_frame(t, b, &f);
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct time_view *t = self;
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		return list_act(&t->list, action);
	case ACTION_ENTER:
		enter(t, b);
		return true;
	case ACTION_MEASURE:
		t->measured = (t->measured + 1) % MEASURED_COUNT;
		return true;
	default:
		return false;
	}
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct time_view *t = self;
	unsigned row = m->row + b->view_area.row, col = m->col + b->view_area.col;
	const struct area *a = &t->chart_area;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return list_mouse(&t->list, m);
	bool is_inside =
		row >= a->row && row < a->row + a->rows && col >= a->col && col < a->col + a->cols;
	if (is_inside && t->columns && (m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE)) {
		size_t class = time_chart_class(&t->chart, a, row - a->row, col - a->col);
		if (class < t->series.class_count)
			t->list.selected = class;
	}
	const struct mouse in_grid = {.kind = m->kind, .row = row, .col = col};
	bool is_mine = strip_mouse(b, &in_grid);
	if (is_mine && m->kind == MOUSE_DOUBLE)
		enter(t, b);
	return is_mine;
}

static void place(const void *self, struct buf *out)
{
	const struct time_view *t = self;
	list_place(&t->list, out);
}

static bool frame(const void *self, const struct browser *b, struct graph_frame *out)
{
	const struct time_view *t = self;
	return t->serial && frame_of(t, b, t->list.selected, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct time_view *t = self;
	if (!t->serial || t->list.selected + 1 >= t->series.class_count)
		return;
	put_measure(t, measure(t, cursor_tick(t, b), t->list.selected), out);
	buf_printf(out, "  %s", key_of(t, t->list.selected));
}

const struct view view_time = {
	.self_bytes = sizeof(struct time_view),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
};
