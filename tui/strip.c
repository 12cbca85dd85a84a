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

#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/chart.h"
#include "tui/show.h"

#define LABEL_COLS  8u
#define COLS_UNSEEN 80u /* steps of the cursor where the curve has no room */

uint64_t strip_end_ns(const struct browser *b)
{
	uint64_t end = graph_end_time(b->model.graph);
	return end ? end : 1;
}

unsigned strip_column(const struct browser *b, unsigned cols, uint64_t ns)
{
	unsigned col = (unsigned)((double)ns / (double)strip_end_ns(b) * cols);
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

/* ---- instants ------------------------------------------------------------------------------- */

/* "61200ms", as query_time writes it, or "40%", "peak", "end", "start", "@mark". */
static bool parse_instant(const struct browser *b, const char *p, size_t bytes, uint64_t *ns_out)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
	const struct profile *profile = b->model.profile;
	char word[64];
	char *rest = word;
	if (!bytes || bytes >= sizeof word)
		return false;
	memcpy(word, p, bytes);
	word[bytes] = '\0';
	for (size_t i = 0; word[0] == '@' && i < profile->mark_count; i++) {
		*ns_out = profile->marks[i].time_ns;
		if (!strcmp(profile->marks[i].name, word + 1))
			return true;
	}
	*ns_out = !strcmp(word, "start")  ? 0
		  : !strcmp(word, "peak") ? graph_peak(b->model.graph).time_ns
					  : strip_end_ns(b);
	if (!strcmp(word, "start") || !strcmp(word, "peak") || !strcmp(word, "end"))
		return true;
	double n = word[0] >= '0' && word[0] <= '9' ? strtod(word, &rest) : -1, ns = -1;
	if (n < 0)
		return false;
	if (!strcmp(rest, "%"))
		ns = n / 100 * (double)strip_end_ns(b);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
		if (!strcmp(rest, units[i].word))
			ns = n * units[i].ns;
	}
	if (ns < 0)
		return false;
	*ns_out = ns > (double)strip_end_ns(b) ? strip_end_ns(b) : (uint64_t)(ns + 0.5);
	return true;
}

/* The text of a head after " at " or " in "; lets stand before it. */
static const char *time_of(const char *head, const char *word, size_t *bytes_out)
{
	const char *semicolon = strrchr(head, ';');
	const char *at = strstr(semicolon ? semicolon : head, word);
	if (!at)
		return NULL;
	at += strlen(word);
	*bytes_out = strcspn(at, " ");
	return at;
}

static uint64_t instant_now(const struct browser *b)
{
	uint64_t ns;
	return strip_instant(b, &ns) ? ns : b->strip_cursor_ns;
}

bool strip_range(const struct browser *b, uint64_t *from_out, uint64_t *to_out)
{
	size_t bytes = 0;
	if (b->has_range_start) {
		uint64_t now = instant_now(b), start = b->range_start_ns;
		*from_out = now < start ? now : start;
		*to_out = now < start ? start : now;
		return true;
	}
	const char *text = time_of(model_state(&b->model)->head, " in ", &bytes);
	const char *dots = text ? strstr(text, "..") : NULL;
	if (!dots || dots >= text + bytes)
		return false;
	const char *second = dots + 2;
	*from_out = 0;
	*to_out = strip_end_ns(b);
	return (dots == text || parse_instant(b, text, (size_t)(dots - text), from_out)) &&
	       (second == text + bytes ||
		parse_instant(b, second, (size_t)(text + bytes - second), to_out));
}

bool strip_instant(const struct browser *b, uint64_t *ns_out)
{
	const char *head = model_state(&b->model)->head;
	size_t bytes = 0;
	const char *text = time_of(head, "live at ", &bytes);
	if (text && parse_instant(b, text, bytes, ns_out))
		return true;
	if (!strncmp(head, "diff ", 5))
		head += 5;
	switch (query_population(head)) {
	case POP_PEAK:
		*ns_out = graph_peak(b->model.graph).time_ns;
		return true;
	case POP_LIVE:
	case POP_LEAKED:
		*ns_out = strip_end_ns(b);
		return !strchr(head, ' ');
	default:
		return false;
	}
}

/* What was born in a window, in the words of the population that was looked at before moving. */
static const char *population_in(const struct browser *b)
{
	const char *head = model_state(&b->model)->head;
	if (model_state(&b->model)->is_moving && b->range_population)
		return b->range_population;
	enum graph_pop pop = query_population(!strncmp(head, "diff ", 5) ? head + 5 : head);
	switch (pop) {
	case POP_ALLOCATED:
	case POP_FREED:
	case POP_TEMPORARY:
	case POP_GROWTH:
		return graph_pop_name(pop);
	default:
		return "survivors";
	}
}

void strip_look_at(struct browser *b, uint64_t ns)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf head = {0};
	b->range_population = population_in(b);
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

/* ---- keys ----------------------------------------------------------------------------------------- */

/* Without digits that nobody asked for: to a power of ten that is at most a part of most_ns. */
static uint64_t round_to(double ns, double most_ns)
{
	uint64_t unit = 1;
	while ((double)unit * 10 <= most_ns)
		unit *= 10;
	return (uint64_t)(ns / (double)unit + 0.5) * unit;
}

static uint64_t instant_of(const struct browser *b, unsigned col, unsigned cols)
{
	double col_ns = (double)strip_end_ns(b) / cols;
	return round_to(col_ns * (col + 0.5), col_ns / 4);
}

static uint64_t tenth_of(const struct browser *b, unsigned tenths)
{
	double end = (double)strip_end_ns(b);
	return tenths >= 10 ? strip_end_ns(b) : round_to(end / 10 * tenths, end / 1000);
}

/* A column is what one sees move. */
static void step(struct browser *b, bool is_back, unsigned cols)
{
	unsigned col = strip_column(b, cols, instant_now(b));
	if (is_back)
		col = col ? col - 1 : 0;
	else
		col = col + 1 < cols ? col + 1 : cols - 1;
	strip_look_at(b, instant_of(b, col, cols));
}

/* To the tenth of the run before or after. */
static void leap(struct browser *b, bool is_back)
{
	uint64_t now = instant_now(b);
	unsigned tenths = is_back ? 10 : 0;
	while (is_back && tenths && tenth_of(b, tenths) >= now)
		tenths--;
	while (!is_back && tenths < 10 && tenth_of(b, tenths) <= now)
		tenths++;
	strip_look_at(b, tenth_of(b, tenths));
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
		strip_look_at(b, best);
	else
		browser_say(b, ROLE_DIM, "no mark %s the cursor", is_back ? "before" : "after");
}

static void set_head(struct browser *b, const char *head, const char *time)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf text = {0};
	buf_printf(&text, "%s%s%s", b->model.path_count > 1 ? "diff " : "", head, time);
	if (!text.has_failed)
		browser_tell(b, model_set_head(&b->model, text.data, &error), &error);
	buf_release(&text);
}

static void to_peak(struct browser *b)
{
	uint64_t ns = graph_peak(b->model.graph).time_ns;
	if (b->has_range_start) {
		strip_look_at(b, ns); /* the query keeps an instant until the range ends */
		return;
	}
	b->strip_cursor_ns = ns;
	set_head(b, "peak", "");
}

static void begin_range(struct browser *b)
{
	b->range_start_ns = instant_now(b);
	b->has_range_start = true;
	browser_say(b, ROLE_DIM, "a range begins here; v or Enter ends it, Esc gives it up");
}

static void end_range(struct browser *b)
{
	struct buf text = {0};
	uint64_t from, to;
	strip_range(b, &from, &to);
	const char *population = population_in(b);
	b->has_range_start = false;
	if (from == to) {
		browser_say(b, ROLE_DIM, "no range: it would end where it began");
		return;
	}
	b->strip_cursor_ns = to;
	buf_puts(&text, " in ");
	query_time(&text, from);
	buf_puts(&text, "..");
	query_time(&text, to);
	if (!text.has_failed)
		set_head(b, population, text.data);
	buf_release(&text);
}

/* Esc takes a range away while it is the last thing that was done to the query. */
bool strip_drop_range(struct browser *b, bool is_last_resort)
{
	const struct model *m = &b->model;
	uint64_t from, to;
	if (!strip_range(b, &from, &to))
		return false;
	bool is_newest = m->at && m->states[m->at - 1]->chip_count == m->states[m->at]->chip_count;
	if (!is_newest && !is_last_resort)
		return false;
	struct buf text = {0};
	buf_puts(&text, " at ");
	query_time(&text, to);
	if (!text.has_failed)
		set_head(b, "live", text.data);
	buf_release(&text);
	return true;
}

static bool act_focused(struct browser *b, enum action action, unsigned cols)
{
	switch (action) {
	case ACTION_LEFT:
	case ACTION_RIGHT:
		step(b, action == ACTION_LEFT, cols);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		leap(b, action == ACTION_PAGE_UP);
		return true;
	case ACTION_FIRST:
		strip_look_at(b, 0);
		return true;
	case ACTION_LAST:
		strip_look_at(b, strip_end_ns(b));
		return true;
	default:
		return false;
	}
}

bool strip_act(struct browser *b, enum action action)
{
	bool is_time = model_state(&b->model)->screen == SCREEN_TIME;
	switch (action) {
	case ACTION_TO_PEAK:
		to_peak(b);
		return true;
	case ACTION_MARK_PREVIOUS:
	case ACTION_MARK_NEXT:
		to_mark(b, action == ACTION_MARK_PREVIOUS);
		return true;
	case ACTION_RANGE:
		if (b->has_range_start)
			end_range(b);
		else
			begin_range(b);
		return true;
	case ACTION_ENTER:
		if (!b->has_range_start)
			return false;
		end_range(b);
		return true;
	default:
		break;
	}
	unsigned cols = b->strip_area.cols ? b->strip_area.cols : COLS_UNSEEN;
	return (is_time || b->pane == PANE_STRIP) && act_focused(b, action, cols);
}

/* ---- mouse ------------------------------------------------------------------------------------ */

static bool is_inside(const struct area *a, const struct mouse *m)
{
	return m->row >= a->row && m->row < a->row + a->rows && m->col >= a->col &&
	       m->col < a->col + a->cols;
}

static void drag_to(struct browser *b, uint64_t ns)
{
	if (!b->has_range_start && ns != b->drag_start_ns) {
		b->range_start_ns = b->drag_start_ns;
		b->has_range_start = true;
	}
	strip_look_at(b, ns);
}

bool strip_mouse(struct browser *b, const struct mouse *m)
{
	const struct area *a = &b->strip_area;
	bool goes_on = b->is_dragging && (m->kind == MOUSE_DRAG || m->kind == MOUSE_RELEASE);
	if (!a->cols || !a->rows || (!goes_on && !is_inside(a, m)))
		return false;
	unsigned col = m->col > a->col ? m->col - a->col : 0;
	uint64_t ns = instant_of(b, col < a->cols ? col : a->cols - 1, a->cols);
	switch (m->kind) {
	case MOUSE_PRESS:
	case MOUSE_DOUBLE:
		b->is_dragging = true;
		b->drag_start_ns = ns;
		strip_look_at(b, ns);
		return true;
	case MOUSE_DRAG:
		if (goes_on)
			drag_to(b, ns);
		return true;
	case MOUSE_RELEASE:
		if (goes_on && ns != b->drag_start_ns)
			drag_to(b, ns);
		if (goes_on && b->has_range_start)
			end_range(b);
		b->is_dragging = false;
		return true;
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		if (model_state(&b->model)->screen == SCREEN_TIME)
			return false;
		step(b, m->kind == MOUSE_WHEEL_UP, a->cols);
		return true;
	}
	return false;
}
