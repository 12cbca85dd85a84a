/* What Time measures: classes at ticks, in ranges and in the columns of the chart. */
#include "config.h"

#include "tui/time_priv.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/show.h"

/* Whose classes, and the instants of whose ticks. */
struct run {
	const struct query_series *series;
	const struct graph *graph;
	enum time_measured measured;
};

static struct run run_now(const struct time_view *t)
{
	return (struct run){&t->series, t->graph, t->measured};
}

static struct run run_before(const struct time_view *t)
{
	return (struct run){&t->before_series, t->before, t->measured};
}

static int64_t per_second(int64_t bytes, uint64_t ns)
{
	return ns ? (int64_t)((double)bytes * 1e9 / (double)ns + 0.5) : 0;
}

/* Allocated in the interval that ends with a tick. */
static int64_t rate_at(const struct run *r, size_t tick, size_t class)
{
	if (!tick || tick == TICK_PEAK)
		return 0;
	uint64_t from = graph_snap_time(r->graph, (snap_id)(tick - 1));
	uint64_t to = graph_snap_time(r->graph, (snap_id)tick);
	return per_second(r->series->born[tick * r->series->class_count + class].bytes,
			  to > from ? to - from : 0);
}

/* Of a class at one of the run's own ticks, or at its peak. */
static int64_t measure_at(const struct run *r, size_t tick, size_t class)
{
	const struct query_series *s = r->series;
	if (r->measured == ALLOCATED_BYTES)
		return rate_at(r, tick, class);
	const struct graph_sum *v =
		tick == TICK_PEAK ? &s->peak[class] : &s->values[tick * s->class_count + class];
	return r->measured == LIVE_BLOCKS ? v->blocks : v->bytes;
}

int64_t time_measure(const struct time_view *t, size_t tick, size_t class)
{
	const struct run r = run_now(t);
	if (tick == TICK_NONE)
		return 0;
	return tick == TICK_RANGE ? t->means[class] : measure_at(&r, tick, class);
}

const char *time_show(const struct time_view *t, char *dst, size_t cap, int64_t value)
{
	return t->measured == LIVE_BLOCKS ? show_count(dst, cap, value)
					  : show_bytes(dst, cap, value);
}

/* "1.3 M blocks", "42.1 MiB", "42.1 MiB/s". */
void time_put(const struct time_view *t, int64_t value, struct buf *out)
{
	char text[FMT_THINGS_BYTES];
	if (t->measured == LIVE_BLOCKS)
		buf_puts(out, fmt_things(text, sizeof text, value, "block"));
	else
		buf_printf(out, "%s%s", fmt_bytes(text, sizeof text, value),
			   t->measured == ALLOCATED_BYTES ? "/s" : "");
}

int64_t time_sum(const struct time_view *t, size_t tick)
{
	int64_t sum = 0;
	for (size_t i = 0; i < t->series.class_count; i++)
		sum += time_measure(t, tick, i);
	return sum;
}

/* All that has no class of its own: many small ones, or stacks that end here. */
bool time_has_others(const struct time_view *t)
{
	if (!t->series.class_count)
		return false;
	size_t last = t->series.class_count - 1;
	bool has_some = t->series.other_count || time_measure(t, TICK_PEAK, last);
	for (size_t i = 0; !has_some && i < t->series.tick_count; i++)
		has_some = time_measure(t, i, last);
	return has_some;
}

/* ---- at the cursor --------------------------------------------------------------------------- */

size_t time_cursor_tick(const struct time_view *t, const struct browser *b)
{
	uint64_t from, to;
	if (strip_range(b, &from, &to) && from < to)
		return TICK_RANGE;
	bool is_live = t->measured != ALLOCATED_BYTES;
	const char *head = model_state(&b->model)->head;
	bool is_diff = !strncmp(head, "diff ", 5);
	if (is_live && query_population(is_diff ? head + 5 : head) == POP_PEAK)
		return TICK_PEAK;
	size_t tick = graph_snap_at(t->graph, strip_now(b));
	return tick < t->series.tick_count ? tick : t->series.tick_count - 1;
}

/* What a class held on average in a range: each tick counts for as long as it was the last one. */
static int64_t mean_of(const struct run *r, size_t class, uint64_t from, uint64_t to)
{
	double sum = 0;
	for (size_t i = 0; i < r->series->tick_count; i++) {
		uint64_t start = graph_snap_time(r->graph, (snap_id)i), end = to;
		if (i + 1 < r->series->tick_count)
			end = graph_snap_time(r->graph, (snap_id)(i + 1));
		start = start < from ? from : start;
		end = end > to ? to : end;
		if (start < end)
			sum += (double)measure_at(r, i, class) * (double)(end - start);
	}
	return (int64_t)(sum / (double)(to - from) + 0.5);
}

/* Intervals that end in the range. */
static int64_t rate_in(const struct run *r, size_t class, uint64_t from, uint64_t to)
{
	int64_t bytes = 0;
	for (size_t i = 1; i < r->series->tick_count; i++) {
		uint64_t ns = graph_snap_time(r->graph, (snap_id)i);
		if (ns > from && ns <= to)
			bytes += r->series->born[i * r->series->class_count + class].bytes;
	}
	return per_second(bytes, to - from);
}

static int64_t measure_in(const struct run *r, size_t class, uint64_t from, uint64_t to)
{
	return r->measured == ALLOCATED_BYTES ? rate_in(r, class, from, to)
					      : mean_of(r, class, from, to);
}

void time_make_means(struct time_view *t, const struct browser *b)
{
	uint64_t from, to;
	const struct run r = run_now(t);
	if (time_cursor_tick(t, b) != TICK_RANGE || !strip_range(b, &from, &to))
		return;
	for (size_t i = 0; i < t->series.class_count; i++)
		t->means[i] = measure_in(&r, i, from, to);
}

/* ---- columns of the chart --------------------------------------------------------------------- */

/* In each column the tick with the highest sum; a column without a tick shows the one before. */
static void choose_ticks(struct time_view *t, const struct browser *b, unsigned cols)
{
	size_t tick = 0;
	unsigned last = strip_column(b, cols, graph_end_time(t->graph));
	for (unsigned col = 0; col < cols; col++) {
		size_t best = tick ? tick - 1 : 0;
		bool is_first = true;
		for (; tick < t->series.tick_count; tick++) {
			uint64_t ns = graph_snap_time(t->graph, (snap_id)tick);
			if (strip_column(b, cols, ns) > col)
				break;
			if (is_first || time_sum(t, tick) > time_sum(t, best))
				best = tick;
			is_first = false;
		}
		t->ticks[col] = col > last ? TICK_NONE : best;
	}
	unsigned col = strip_column(b, cols, graph_peak(t->graph).time_ns);
	if (cols && time_sum(t, TICK_PEAK) > time_sum(t, t->ticks[col]))
		t->ticks[col] = TICK_PEAK;
}

bool time_make_columns(struct time_view *t, const struct browser *b, unsigned cols)
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
			sum += t->columns[col * classes + i] = time_measure(t, t->ticks[col], i);
		if (sum > t->chart.most)
			t->chart.most = sum;
	}
	return true;
}

/* RSS at the tick of each column.  Returns the highest. */
int64_t time_make_line(const struct time_view *t, unsigned cols, int64_t *line)
{
	const struct profile *p = graph_profile(t->graph);
	int64_t most = 0;
	for (unsigned col = 0; col < cols; col++) {
		size_t tick = t->ticks[col];
		if (tick == TICK_PEAK)
			tick = graph_snap_at(t->graph, graph_peak(t->graph).time_ns);
		line[col] =
			tick && tick != TICK_NONE ? (int64_t)p->snapshots[tick - 1].rss_bytes : -1;
		if (!line[col])
			line[col] = -1;
		if (line[col] > most)
			most = line[col];
	}
	return most;
}

/* ---- what it is compared with -------------------------------------------------------------------- */

static int64_t before_at(const struct time_view *t, size_t tick)
{
	const struct run r = run_before(t);
	int64_t sum = 0;
	if (tick != TICK_PEAK && tick >= r.series->tick_count)
		return 0;
	for (size_t i = 0; i < r.series->class_count; i++)
		sum += measure_at(&r, tick, i);
	return sum;
}

int64_t time_before(const struct time_view *t, const struct browser *b, size_t tick)
{
	const struct run r = run_before(t);
	uint64_t from, to;
	int64_t sum = 0;
	if (tick == TICK_PEAK)
		return before_at(t, tick);
	if (tick != TICK_RANGE || !strip_range(b, &from, &to))
		return before_at(t, graph_snap_at(t->before, strip_now(b)));
	for (size_t i = 0; i < r.series->class_count; i++)
		sum += measure_in(&r, i, from, to);
	return sum;
}

/* In each column the most; one without a tick is as it was before. */
int64_t time_make_before(const struct time_view *t, const struct browser *b, unsigned cols,
			 int64_t *line)
{
	int64_t most = 0, last = 0, peak = before_at(t, TICK_PEAK);
	unsigned end = strip_column(b, cols, graph_end_time(t->before));
	unsigned peak_col = strip_column(b, cols, graph_peak(t->before).time_ns);
	size_t tick = 0;
	for (unsigned col = 0; col < cols; col++) {
		int64_t best = last;
		for (bool is_first = true; tick < t->before_series.tick_count; tick++) {
			if (strip_column(b, cols, graph_snap_time(t->before, (snap_id)tick)) > col)
				break;
			last = before_at(t, tick);
			best = is_first || last > best ? last : best;
			is_first = false;
		}
		if (col == peak_col && peak > best)
			best = peak;
		line[col] = col > end ? -1 : best;
		most = best > most ? best : most;
	}
	return most;
}
