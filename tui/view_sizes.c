/*
 * Sizes and lifetimes: how many blocks of each size, and how long they live.
 *
 * Both side by side where there is room, else one at a time; Left and Right change between
 * them.  Bars of blocks and of bytes stand next to each other: many small blocks and few large
 * ones are different problems.  Every bin is shown, whatever is cut in other views.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "tui/empty.h"
#include "tui/hist_rows.h"
#include "tui/list.h"
#include "tui/show.h"
#include "tui/sizes_data.h"

#define BOTH_COLS   100u /* so many for two side by side */
#define LABEL_COLS  14u
#define NUMBER_COLS 8u
#define MARKS_COLS  11u
#define TWO_COLS    56u /* so many for blocks and bytes */
#define BAR_MOST    30u
#define FACTS_ROWS  14u /* so many for a second line of facts */

enum side {
	SIDE_SIZES,
	SIDE_LIFETIMES,
	SIDE_COUNT
};

struct sizes {
	struct distribution of[SIDE_COUNT];
	struct list lists[SIDE_COUNT];
	uint64_t kept[SIDE_COUNT]; /* where the selected bin began */
	bool has_kept;
	enum side pane;
	struct hist_rows rows; /* in place of all that, where the query says so */
	bool is_of_rows;
	bool is_by_blocks; /* the one bar where there is room for one */
	bool is_loaded;
};

/* ---- loading ----------------------------------------------------------------------------- */

/* The bin that was selected, else the one with the most bytes. */
static void select_bin(struct sizes *s, enum side p)
{
	const struct distribution *d = &s->of[p];
	size_t heaviest = 0;
	s->lists[p].count = d->bin_count;
	for (size_t i = 0; i < d->bin_count; i++) {
		if (s->has_kept && d->bins[i].from == s->kept[p]) {
			s->lists[p].selected = i;
			return;
		}
		int64_t bytes = d->bins[i].bytes < 0 ? -d->bins[i].bytes : d->bins[i].bytes;
		if (bytes == d->bytes_most)
			heaviest = i;
	}
	s->lists[p].selected = heaviest;
}

static void summarise(struct browser *b, const struct distribution *d, struct query_error *error)
{
	struct query_opened *q;
	const struct compose c = {.by = "size", .without_rows = true};
	if (d->is_time || model_result(&b->model, &c, &q, error))
		return;
	browser_summarise(b, query_opened_result(q));
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct sizes *s = self;
	bool was_loaded = s->is_loaded;
	s->has_kept = s->has_kept || was_loaded;
	s->is_of_rows = model_state(&b->model)->hist;
	enum neap_err code = NEAP_OK;
	s->is_loaded = false;
	for (size_t i = 0; i < SIDE_COUNT; i++) {
		if (was_loaded && s->lists[i].selected < s->of[i].bin_count)
			s->kept[i] = s->of[i].bins[s->lists[i].selected].from;
		s->lists[i].count = 0;
	}
	if (s->is_of_rows)
		return hist_rows_load(&s->rows, b, error);
	for (size_t i = 0; !code && i < SIDE_COUNT; i++) {
		code = distribution_load(&s->of[i], &b->model, i == SIDE_LIFETIMES, error);
		if (!code)
			select_bin(s, (enum side)i);
	}
	if (code)
		return code;
	s->is_loaded = true;
	summarise(b, &s->of[SIDE_SIZES], error);
	return NEAP_OK;
}

static void release(void *self)
{
	struct sizes *s = self;
	for (size_t i = 0; i < SIDE_COUNT; i++)
		distribution_release(&s->of[i]);
}

/* ---- drawing ------------------------------------------------------------------------------- */

struct columns { /* where columns end; 0: not shown */
	unsigned label, blocks, blocks_bar, bytes, bytes_bar, bar_cols, mark;
};

static struct columns lay_out(const struct sizes *s, const struct area *a)
{
	bool has_two = a->cols >= TWO_COLS;
	struct columns c = {.label = has_two ? LABEL_COLS : LABEL_COLS - 2};
	unsigned marks = has_two ? MARKS_COLS : 4;
	unsigned fixed = c.label + (has_two ? 2 : 1) * NUMBER_COLS + marks + 1;
	unsigned left = a->cols > fixed && !a->grid->is_plain ? a->cols - fixed : 0, at = c.label;
	bool has_bars = left >= 4, has_both = has_two && left >= 18;
	c.bar_cols = has_both ? left / 2 - 1 : has_bars ? left - 1 : 0;
	if (c.bar_cols > BAR_MOST)
		c.bar_cols = BAR_MOST;
	if (has_two || s->is_by_blocks)
		c.blocks = at += NUMBER_COLS;
	if (c.blocks && has_bars && (has_both || s->is_by_blocks)) {
		c.blocks_bar = at + 1;
		at += c.bar_cols + 1;
	}
	if (has_two || !s->is_by_blocks)
		c.bytes = at += NUMBER_COLS;
	if (c.bytes && has_bars && (has_both || !s->is_by_blocks)) {
		c.bytes_bar = at + 1;
		at += c.bar_cols + 1;
	}
	c.mark = at + 1;
	return c;
}

/* "p50" or "p50 p90" beside the bin that they fall into. */
static void put_marks(const struct distribution *d, const struct bin *bin, char *dst, size_t cap)
{
	size_t used = 0;
	dst[0] = '\0';
	for (size_t i = 0; i < d->quantile_count; i++) {
		const struct quantile *q = &d->quantiles[i];
		if (q->value < bin->from || q->value >= bin->below || used + 5 > cap)
			continue;
		used += (size_t)snprintf(dst + used, cap - used, "%s%s", used ? " " : "", q->word);
	}
}

static double share_of(int64_t part, int64_t whole)
{
	return whole ? (double)(part < 0 ? -part : part) / (double)whole : 0;
}

static void put_signed(const struct distribution *d, int64_t value, bool is_bytes, char *dst,
		       size_t cap)
{
	size_t sign = d->is_signed && value > 0;
	dst[0] = '+';
	if (is_bytes)
		show_bytes(dst + sign, cap - sign, value);
	else
		show_count(dst + sign, cap - sign, value);
}

static void draw_bin(const struct distribution *d, const struct area *a, unsigned row,
		     const struct columns *c, const struct bin *bin)
{
	char text[FMT_BYTES];
	struct buf label = {0};
	struct look numbers = look(bin->blocks ? ROLE_TEXT : ROLE_DIM);
	bin_text(d, bin, &label);
	if (!label.has_failed)
		area_right(a, row, c->label, c->label, numbers, label.data);
	buf_release(&label);
	put_signed(d, bin->blocks, false, text, sizeof text);
	if (c->blocks)
		area_right(a, row, c->blocks, NUMBER_COLS, numbers, text);
	put_signed(d, bin->bytes, true, text, sizeof text);
	if (c->bytes)
		area_right(a, row, c->bytes, NUMBER_COLS, look(bin->bytes ? ROLE_STRONG : ROLE_DIM),
			   text);
	enum role bar = !d->is_signed ? ROLE_BAR : bin->bytes < 0 ? ROLE_SHRANK : ROLE_GREW;
	if (c->blocks_bar && bin->blocks)
		area_bar(a, row, c->blocks_bar, c->bar_cols, look(bar),
			 share_of(bin->blocks, d->blocks_most));
	if (c->bytes_bar && bin->bytes)
		area_bar(a, row, c->bytes_bar, c->bar_cols, look(bar),
			 share_of(bin->bytes, d->bytes_most));
	put_marks(d, bin, text, sizeof text);
	if (c->mark < a->cols)
		area_put(a, row, c->mark, look(ROLE_MARK), text);
}

/* Sizes, Lifetimes: which of them this is, and how to see the other. */
static void draw_title(const struct sizes *s, const struct area *a, enum side p, bool has_both)
{
	static const char *const names[SIDE_COUNT] = {"Sizes", "Lifetimes"};
	struct look l = look_bold(ROLE_HEADING);
	if (p == s->pane)
		l.flags |= LOOK_UNDERLINE;
	unsigned col = area_put(a, 0, 1, l, names[p]);
	if (a->cols < TWO_COLS)
		col = area_put(a, 0, col, look(ROLE_DIM),
			       s->is_by_blocks ? ", blocks (s: bytes)" : ", bytes (s: blocks)");
	if (!has_both)
		area_printf(a, 0, col + 2, look(ROLE_DIM), "%s: %s",
			    p == SIDE_SIZES ? "Right" : "Left", names[1 - p]);
}

/* Whole or not at all: a number that is cut off is another number. */
static void put_fact(const char *word, const char *value, unsigned cols, struct buf *out)
{
	size_t before = out->count_bytes;
	buf_printf(out, "%s%s %s", before ? "  " : "", word, value);
	if (out->has_failed || text_cols(out->data) <= cols)
		return;
	out->data[before] = '\0';
	out->count_bytes = before;
}

static void put_facts(const struct distribution *d, unsigned cols, struct buf *out)
{
	char text[FMT_BYTES];
	for (size_t i = 0; i < d->quantile_count; i++)
		put_fact(d->quantiles[i].word,
			 distribution_value(d, d->quantiles[i].value, text, sizeof text), cols,
			 out);
	if (!d->is_time && d->most) {
		put_fact("largest", fmt_bytes(text, sizeof text, (int64_t)d->most), cols, out);
		put_fact("mean", fmt_bytes(text, sizeof text, (int64_t)d->mean), cols, out);
	}
}

/* One line of numbers, and one that says what they mean. */
static unsigned draw_facts(const struct distribution *d, const struct area *a, unsigned row)
{
	struct buf facts = {0};
	char text[FMT_BYTES];
	put_facts(d, a->cols > 1 ? a->cols - 1 : 0, &facts);
	if (!facts.has_failed && facts.count_bytes)
		area_put(a, row, 1, look(ROLE_TEXT), facts.data);
	buf_release(&facts);
	row++;
	if (a->rows < FACTS_ROWS)
		return row;
	if (!d->is_time && d->half_bytes)
		area_printf(a, row, 1, look(ROLE_DIM), "half of the bytes: blocks of %s and more",
			    fmt_bytes(text, sizeof text, (int64_t)d->half_bytes));
	else if (d->is_time)
		area_put(a, row, 1, look(ROLE_DIM), "as exact as the time between two snapshots");
	return row + 1;
}

static void draw_pane(struct sizes *s, struct browser *b, const struct area *a, enum side p,
		      bool has_both)
{
	const struct distribution *d = &s->of[p];
	struct list *list = &s->lists[p];
	const struct columns c = lay_out(s, a);
	unsigned row = 0;
	if (a->rows >= 4) {
		draw_title(s, a, p, has_both);
		row = 1;
	}
	if (d->is_unknown) {
		show_wrapped(a, row, 2, look(ROLE_DIM),
			     p == SIDE_SIZES ? " this file does not know the sizes of blocks"
					     : " this file does not know how long blocks lived");
		return;
	}
	if (a->rows >= 8)
		row = draw_facts(d, a, row);
	if (a->rows >= 6) {
		struct look l = look(ROLE_HEADING);
		area_right(a, row, c.label, c.label, l, p == SIDE_SIZES ? "SIZE" : "LIFETIME");
		if (c.blocks)
			area_right(a, row, c.blocks, NUMBER_COLS, l, "BLOCKS");
		if (c.bytes)
			area_right(a, row, c.bytes, NUMBER_COLS, l, "BYTES");
		row++;
	}
	const struct area rows = area_cut(a, row, 0, a->rows - row, a->cols);
	list_fit(list, rows.rows);
	for (unsigned i = 0; i < rows.rows && list->top + i < list->count; i++) {
		size_t at = list->top + i;
		draw_bin(d, &rows, i, &c, &d->bins[at]);
		if (at == list->selected && p == s->pane && b->pane == PANE_ROWS) {
			area_select(&rows, i);
			area_cursor(&rows, i, 0);
		}
	}
}

static bool shows_both(const struct area *a)
{
	return a->cols >= BOTH_COLS;
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct sizes *s = self;
	if (s->is_of_rows) {
		hist_rows_draw(&s->rows, b, a);
		return;
	}
	if (!s->is_loaded)
		return;
	if (!s->lists[SIDE_SIZES].count && !s->of[SIDE_SIZES].is_unknown) {
		empty_draw(b, a, "no blocks: the query leaves nothing", NULL);
		return;
	}
	if (!shows_both(a)) {
		draw_pane(s, b, a, s->pane, false);
		return;
	}
	unsigned half = a->cols / 2;
	struct area part = area_cut(a, 0, 0, a->rows, half - 1);
	draw_pane(s, b, &part, SIDE_SIZES, true);
	area_upright(a, 0, half, a->rows, look(ROLE_DIM));
	part = area_cut(a, 0, half + 1, a->rows, a->cols - half - 1);
	draw_pane(s, b, &part, SIDE_LIFETIMES, true);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* Only the blocks of the selected bin, as a part of the query. */
static void keep_bin(struct sizes *s, struct browser *b)
{
	const struct distribution *d = &s->of[s->pane];
	struct query_error error = {.code = NEAP_OK};
	struct buf text = {0};
	if (!s->lists[s->pane].count)
		return;
	if (d->bins[s->lists[s->pane].selected].is_unknown) {
		browser_say(b, ROLE_DIM, "no condition says what is in this row alone");
		return;
	}
	bin_query(d, &d->bins[s->lists[s->pane].selected], &text);
	enum neap_err code = ERR_NOMEM;
	if (!text.has_failed)
		code = model_set_text(&b->model, text.data, &error);
	buf_release(&text);
	if (code)
		browser_tell(b, code, &error);
	else
		browser_say(b, ROLE_DIM,
			    "only these blocks now: 1 shows who allocated them, Esc undoes");
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct sizes *s = self;
	if (s->is_of_rows && action == ACTION_ENTER) {
		hist_rows_open(&s->rows, b);
		return true;
	}
	if (s->is_of_rows)
		return list_act(&s->rows.list, action);
	switch (action) {
	case ACTION_ENTER:
		keep_bin(s, b);
		return true;
	case ACTION_LEFT:
	case ACTION_RIGHT:
		s->pane = action == ACTION_LEFT ? SIDE_SIZES : SIDE_LIFETIMES;
		return true;
	case ACTION_MEASURE:
		s->is_by_blocks = !s->is_by_blocks;
		return true;
	case ACTION_LIMIT:
		browser_say(b, ROLE_DIM, "every size is here already");
		return true;
	default:
		return list_act(&s->lists[s->pane], action);
	}
}

static unsigned head_rows(const struct area *a)
{
	unsigned rows = a->rows >= 4;
	if (a->rows >= 8)
		rows += a->rows >= FACTS_ROWS ? 2 : 1;
	return rows + (a->rows >= 6);
}

static bool mouse_of_rows(struct sizes *s, struct browser *b, const struct mouse *m)
{
	struct mouse in_list = *m;
	unsigned head = hist_rows_head(&b->view_area);
	bool is_press = m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE;
	if (is_press && m->row < head)
		return true;
	in_list.row -= is_press ? head : 0;
	if (!list_mouse(&s->rows.list, &in_list))
		return false;
	if (m->kind == MOUSE_DOUBLE)
		hist_rows_open(&s->rows, b);
	return true;
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct sizes *s = self;
	struct mouse in_list = *m;
	unsigned head = head_rows(&b->view_area);
	bool is_wheel = m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN;
	if (!is_wheel && m->kind != MOUSE_PRESS && m->kind != MOUSE_DOUBLE)
		return false;
	if (s->is_of_rows)
		return mouse_of_rows(s, b, m);
	if (shows_both(&b->view_area))
		s->pane = m->col > b->view_area.cols / 2 ? SIDE_LIFETIMES : SIDE_SIZES;
	if (!is_wheel && m->row < head)
		return true;
	in_list.row -= is_wheel ? 0 : head;
	if (!list_mouse(&s->lists[s->pane], &in_list))
		return false;
	if (m->kind == MOUSE_DOUBLE)
		keep_bin(s, b);
	return true;
}

static void place(const void *self, struct buf *out)
{
	const struct sizes *s = self;
	list_place(s->is_of_rows ? &s->rows.list : &s->lists[s->pane], out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct sizes *s = self;
	const struct distribution *d = &s->of[s->pane];
	const struct list *list = &s->lists[s->pane];
	(void)b;
	if (s->is_of_rows) {
		hist_rows_text(&s->rows, out);
		return;
	}
	if (!s->is_loaded || list->selected >= list->count)
		return;
	const struct bin *bin = &d->bins[list->selected];
	buf_printf(out, "%s ", d->is_time ? "lifetime" : "size");
	bin_text(d, bin, out);
	buf_puts(out, "  ");
	show_put_sum(out, bin->bytes, d->has_blocks, bin->blocks);
}

static void save_spot(const void *self, struct buf *out)
{
	const struct sizes *s = self;
	list_save_spot(&s->rows.list, out);
	for (size_t i = 0; i < SIDE_COUNT; i++)
		list_save_spot(&s->lists[i], out);
	buf_puts(out, s->pane == SIDE_LIFETIMES ? "l" : "s");
}

static void take_spot(void *self, const char *text)
{
	struct sizes *s = self;
	text = list_take_spot(&s->rows.list, text);
	for (size_t i = 0; i < SIDE_COUNT; i++)
		text = list_take_spot(&s->lists[i], text);
	s->pane = *text == 'l' ? SIDE_LIFETIMES : SIDE_SIZES;
}

const struct view view_sizes = {
	.self_bytes = sizeof(struct sizes),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.row_text = row_text,
	.save_spot = save_spot,
	.take_spot = take_spot,
};
