/* Keys and mouse on the time strip, and on the chart of Time in its place. */
#include "config.h"

#include "tui/strip_priv.h"

#define COLS_UNSEEN 80u /* steps of the cursor where the curve has no room */

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
	unsigned col = strip_column(b, cols, strip_now(b));
	if (is_back)
		col = col ? col - 1 : 0;
	else
		col = col + 1 < cols ? col + 1 : cols - 1;
	strip_look_at(b, instant_of(b, col, cols));
}

/* To the tenth of the run before or after. */
static void leap(struct browser *b, bool is_back)
{
	uint64_t now = strip_now(b);
	unsigned tenths = is_back ? 10 : 0;
	while (is_back && tenths && tenth_of(b, tenths) >= now)
		tenths--;
	while (!is_back && tenths < 10 && tenth_of(b, tenths) <= now)
		tenths++;
	strip_look_at(b, tenth_of(b, tenths));
}

static void to_mark(struct browser *b, bool is_back)
{
	const struct profile *p = graph_profile(b->model.now);
	uint64_t now = strip_now(b), best = 0;
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
	uint64_t ns = graph_peak(b->model.now).time_ns;
	if (b->cursor.has_start) {
		strip_look_at(b, ns); /* the query keeps an instant until the range ends */
		return;
	}
	b->cursor.ns = ns;
	set_head(b, "peak", "");
}

static void begin_range(struct browser *b)
{
	b->cursor.start_ns = strip_now(b);
	b->cursor.has_start = true;
	browser_say(b, ROLE_DIM, "a range begins here; v or Enter ends it, Esc gives it up");
}

static void end_range(struct browser *b)
{
	struct buf text = {0};
	uint64_t from, to;
	strip_range(b, &from, &to);
	const char *population = strip_population(b);
	b->cursor.has_start = false;
	if (from == to) {
		browser_say(b, ROLE_DIM, "no range: it would end where it began");
		return;
	}
	b->cursor.ns = to;
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
		if (b->cursor.has_start)
			end_range(b);
		else
			begin_range(b);
		return true;
	case ACTION_ENTER:
		if (!b->cursor.has_start)
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
	if (!b->cursor.has_start && ns != b->drag_start_ns) {
		b->cursor.start_ns = b->drag_start_ns;
		b->cursor.has_start = true;
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
		if (goes_on && b->cursor.has_start)
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
