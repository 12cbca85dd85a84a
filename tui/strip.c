/*
 * The time strip: live bytes over the whole run, the peak, marks, and what the query looks at.
 *
 *   88.7M ⣀⣤⣶⣿⣿⣷⣶⣤⣀         values at snapshots, each column the highest of its slice
 *         ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿⣀⣀⣤⣶
 *      0s      ^peak   @warmup      61 s
 *
 * When it has the focus, the arrows move an instant and the query becomes `live at` it; a range
 * makes it `survivors in` it.
 */
#include "config.h"

#include "tui/browser.h"

#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/chart.h"
#include "tui/show.h"

#define LABEL_COLS 8u

static uint64_t end_ns(const struct browser *b)
{
	uint64_t end = graph_end_time(b->model.graph);
	return end ? end : 1;
}

static unsigned column_of(const struct browser *b, unsigned cols, uint64_t ns)
{
	unsigned col = (unsigned)((double)ns / (double)end_ns(b) * cols);
	return col >= cols ? cols - 1 : col;
}

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
		unsigned step = column_of(b, count, b->ticks[i].time_ns);
		while (at < step)
			values[++at] = last;
		last = b->ticks[i].live.bytes;
		if (last > values[step])
			values[step] = last;
	}
	while (at + 1 < count)
		values[++at] = last;
	unsigned step = column_of(b, count, peak.time_ns);
	if (peak.bytes > values[step])
		values[step] = peak.bytes;
	for (unsigned i = 0; i < count; i++) {
		if (values[i] > most)
			most = values[i];
	}
	return most;
}

/* ---- instants ------------------------------------------------------------------------------- */

/* The last word of "live at 61200ms", in a form that only this file writes. */
static bool parse_instant(const char *head, const char *word, uint64_t *ns_out)
{
	const char *at = strstr(head, word);
	uint64_t n = 0;
	if (!at)
		return false;
	const char *p = at + strlen(word);
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (n > UINT64_MAX / 10000)
			return false;
		n = n * 10 + (uint64_t)(*p - '0');
	}
	uint64_t unit = !strcmp(p, "ns")   ? 1
			: !strcmp(p, "us") ? 1000
			: !strcmp(p, "ms") ? 1000000
			: !strcmp(p, "s")  ? 1000000000
					   : 0;
	if (!unit || n > UINT64_MAX / unit)
		return false;
	*ns_out = n * unit;
	return true;
}

bool strip_instant(const struct browser *b, uint64_t *ns_out)
{
	const char *head = model_state(&b->model)->head;
	if (parse_instant(head, "live at ", ns_out))
		return true;
	switch (query_population(head)) {
	case POP_PEAK:
		*ns_out = graph_peak(b->model.graph).time_ns;
		return true;
	case POP_LIVE:
	case POP_LEAKED:
		*ns_out = end_ns(b);
		return !strchr(head, ' ');
	default:
		return false;
	}
}

static void look_at(struct browser *b, uint64_t ns)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf head = {0};
	b->strip_cursor_ns = ns;
	buf_printf(&head, "%slive at ", b->model.path_count > 1 ? "diff " : "");
	query_time(&head, ns);
	if (!head.has_failed)
		browser_tell(b, model_move_head(&b->model, head.data, &error), &error);
	buf_release(&head);
}

/* ---- drawing ---------------------------------------------------------------------------------- */

static void draw_marks(struct browser *b, const struct area *a)
{
	const struct profile *p = b->model.profile;
	unsigned free_col = 0;
	for (size_t i = 0; i < p->mark_count; i++) {
		unsigned col = column_of(b, a->cols, p->marks[i].time_ns);
		if (col < free_col)
			continue;
		unsigned end = area_put(a, 0, col, look(ROLE_MARK), "@");
		free_col = area_elide(a, 0, end, 12, look(ROLE_MARK), p->marks[i].name) + 1;
	}
}

static void draw_foot(struct browser *b, const struct area *a)
{
	char text[FMT_BYTES];
	uint64_t ns;
	struct graph_peak peak = graph_peak(b->model.graph);
	area_right(a, 0, a->cols, 12, look(ROLE_DIM), fmt_duration(text, sizeof text, end_ns(b)));
	draw_marks(b, a);
	fmt_duration(text, sizeof text, peak.time_ns);
	unsigned col = column_of(b, a->cols, peak.time_ns);
	const char *sign = grid_is_utf8(a->grid) ? "\u25b4" : "^";
	unsigned width = text_cols(text) + 7;
	if (col + width < a->cols)
		area_printf(a, 0, col, look(ROLE_PEAK), "%speak %s ", sign, text);
	else if (col >= width)
		area_printf(a, 0, col + 1 - width, look(ROLE_PEAK), " peak %s%s", text, sign);
	if (strip_instant(b, &ns)) {
		col = column_of(b, a->cols, ns);
		area_put(a, 0, col, look_bold(ROLE_CURSOR), grid_is_utf8(a->grid) ? "\u25b2" : "|");
		if (b->is_strip_focused)
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
	chart_area(&chart, look(b->is_strip_focused ? ROLE_CURSOR : ROLE_CHART), values, most);
	mem_free(values);
	uint64_t ns;
	if (strip_instant(b, &ns))
		for (unsigned r = 0; r < chart.rows; r++)
			area_flag(&chart, r, column_of(b, chart.cols, ns), 1, LOOK_REVERSE);
	const struct area foot = area_cut(a, a->rows - 1, LABEL_COLS, 1, a->cols - LABEL_COLS - 1);
	draw_foot(b, &foot);
}

/* ---- keys ----------------------------------------------------------------------------------------- */

static uint64_t instant_now(const struct browser *b)
{
	uint64_t ns;
	return strip_instant(b, &ns) ? ns : b->strip_cursor_ns;
}

/* A column is what one sees move. */
static uint64_t step_ns(const struct browser *b)
{
	unsigned cols = b->grid.cols > LABEL_COLS + 1 ? b->grid.cols - LABEL_COLS - 1 : 1;
	uint64_t step = end_ns(b) / cols;
	return step > 1000 ? step / 1000 * 1000 : step ? step : 1;
}

static void move(struct browser *b, bool is_back, unsigned steps)
{
	uint64_t now = instant_now(b), by = step_ns(b) * steps, end = end_ns(b);
	if (is_back)
		look_at(b, now > by ? now - by : 0);
	else
		look_at(b, end - (now > end ? end : now) > by ? now + by : end);
}

static void to_mark(struct browser *b, bool is_back)
{
	const struct profile *p = b->model.profile;
	uint64_t now = instant_now(b), best = 0;
	bool has_found = false;
	for (size_t i = 0; i < p->mark_count; i++) {
		uint64_t ns = p->marks[i].time_ns;
		bool is_nearer = is_back ? ns < now && (!has_found || ns > best)
					 : ns > now && (!has_found || ns < best);
		if (is_nearer) {
			best = ns;
			has_found = true;
		}
	}
	if (has_found)
		look_at(b, best);
	else
		browser_say(b, ROLE_DIM, "no mark %s the cursor", is_back ? "before" : "after");
}

static void look_at_peak(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	b->strip_cursor_ns = graph_peak(b->model.graph).time_ns;
	browser_tell(
		b,
		model_set_head(&b->model, b->model.path_count > 1 ? "diff peak" : "peak", &error),
		&error);
}

static void range(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf head = {0};
	uint64_t now = instant_now(b), start = b->range_start_ns;
	if (!b->has_range_start) {
		b->has_range_start = true;
		b->range_start_ns = now;
		browser_say(b, ROLE_DIM, "range begins here; v again ends it, Esc gives it up");
		return;
	}
	b->has_range_start = false;
	buf_puts(&head, "survivors in ");
	query_time(&head, now < start ? now : start);
	buf_puts(&head, "..");
	query_time(&head, now < start ? start : now);
	if (!head.has_failed && now != start)
		browser_tell(b, model_set_head(&b->model, head.data, &error), &error);
	buf_release(&head);
}

bool strip_act(struct browser *b, enum action action)
{
	if (model_state(&b->model)->screen == SCREEN_TIME)
		return false;
	switch (action) {
	case ACTION_TO_PEAK:
		look_at_peak(b);
		return true;
	case ACTION_MARK_PREVIOUS:
	case ACTION_MARK_NEXT:
		to_mark(b, action == ACTION_MARK_PREVIOUS);
		return true;
	case ACTION_RANGE:
		range(b);
		return true;
	default:
		break;
	}
	if (!b->is_strip_focused)
		return false;
	switch (action) {
	case ACTION_LEFT:
	case ACTION_RIGHT:
		move(b, action == ACTION_LEFT, 1);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		move(b, action == ACTION_PAGE_UP, 10);
		return true;
	case ACTION_FIRST:
		look_at(b, 0);
		return true;
	case ACTION_LAST:
		look_at(b, end_ns(b));
		return true;
	default:
		return false;
	}
}
