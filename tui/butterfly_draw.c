/* A function between its callers and its callees, on the screen. */
#include "config.h"

#include "tui/butterfly_priv.h"

#include <string.h>

#include "src/base/fmt.h"
#include "tui/show.h"

struct columns { /* where columns end; 0: not shown */
	unsigned total, share, bar, bar_cols, blocks, name;
};

static struct columns lay_out(const struct butterfly *v, const struct area *a)
{
	struct columns c = {.total = 8};
	unsigned at = c.total;
	if (a->cols >= 36)
		c.share = at += 7;
	if (a->cols >= 64 && !a->grid->is_plain) {
		c.bar = at + 1;
		c.bar_cols = a->cols >= 100 ? 20 : 10;
		at += c.bar_cols + 1;
	}
	if (a->cols >= 56 && result_knows(butterfly_result(v), v->blocks))
		c.blocks = at += 8;
	c.name = at + 1;
	return c;
}

const char *butterfly_rest_name(enum side side)
{
	return side == SIDE_CALLERS ? "(nobody: stacks begin here)" : "(itself)";
}

static void draw_name(const struct butterfly *v, struct browser *b, const struct area *a,
		      unsigned row, unsigned col, size_t at)
{
	struct graph_frame f;
	const struct wing *w = &v->wings[at];
	unsigned indent = w->side == SIDE_FRAME ? 0 : 2;
	col += indent;
	if (col >= a->cols)
		return;
	if (w->row == ROW_REMAINDER) {
		area_put(a, row, col, look(ROLE_DIM), butterfly_rest_name(w->side));
		return;
	}
	const char *full = butterfly_name(v, at);
	bool has_frame = butterfly_frame(v, at, &f);
	bool is_match = b->find[0] && strstr(full, b->find);
	struct look l = w->side == SIDE_FRAME ? look_bold(ROLE_STRONG) : look(ROLE_TEXT);
	if (is_match)
		l = look_bold(ROLE_MATCH);
	col = area_put(a, row, col, l,
		       has_frame ? name_frame(&b->names, &f, a->cols - col)
				 : name_function(&b->names, full, a->cols - col));
	if (has_frame && col + 12 < a->cols)
		area_put(a, row, col + 2, look(ROLE_DIM),
			 name_place(&b->names, &f, a->cols - col - 2, a->cols < 120));
}

static void draw_wing(const struct butterfly *v, struct browser *b, const struct area *a,
		      unsigned row, const struct columns *c, size_t at)
{
	const struct wing *w = &v->wings[at];
	bool is_signed = butterfly_result(v)->is_signed, is_dim = w->row == ROW_REMAINDER;
	char text[FMT_BYTES] = "+";
	struct look strong = look(is_dim ? ROLE_DIM : ROLE_STRONG);
	size_t sign = is_signed && w->bytes > 0;
	if (is_signed && w->bytes)
		strong = look(w->bytes > 0 ? ROLE_GREW : ROLE_SHRANK);
	show_bytes(text + sign, sizeof text - sign, w->bytes);
	area_right(a, row, c->total, 8, strong, text);
	show_share(text, sizeof text, (double)w->bytes, (double)v->bytes_here);
	if (c->share)
		area_right(a, row, c->share, 7, look(is_dim ? ROLE_DIM : ROLE_TEXT), text);
	if (c->bar && v->bytes_here)
		area_bar(a, row, c->bar, c->bar_cols, look(is_dim ? ROLE_DIM : ROLE_BAR),
			 (double)w->bytes / (double)v->bytes_here);
	if (c->blocks)
		area_right(a, row, c->blocks, 8, look(is_dim ? ROLE_DIM : ROLE_TEXT),
			   show_count(text, sizeof text, w->blocks));
	draw_name(v, b, a, row, c->name, at);
	if (at == v->list.selected && b->pane == PANE_ROWS) {
		area_select(a, row);
		area_cursor(a, row, 0);
	}
}

static void draw_heading(const struct butterfly *v, const struct area *a, unsigned row,
			 const struct columns *c, enum side side)
{
	char count[FMT_BYTES];
	size_t rows = v->count[side];
	struct look l = look(ROLE_HEADING);
	if (side == SIDE_CALLERS) {
		area_right(a, row, c->total, 8, l,
			   butterfly_result(v)->is_signed ? "CHANGE" : "TOTAL");
		if (c->share)
			area_right(a, row, c->share, 7, l, "SHARE");
		if (c->blocks)
			area_right(a, row, c->blocks, 8, l, "BLOCKS");
	}
	show_count(count, sizeof count, (int64_t)rows);
	area_printf(a, row, c->name, l, "%s (%s)", side == SIDE_CALLERS ? "called by" : "calls",
		    count);
}

size_t butterfly_first(const struct butterfly *v, enum side side)
{
	size_t first = 0;
	for (size_t i = 0; i < (size_t)side; i++)
		first += v->count[i];
	return first;
}

/* Rows of one side, those around the selected one; what does not fit is counted. */
static void draw_side(struct butterfly *v, struct browser *b, const struct area *a,
		      const struct columns *c, enum side side)
{
	size_t first = butterfly_first(v, side), count = v->count[side], *top = &v->top[side];
	size_t selected = v->list.selected - first; /* wraps if it is before: larger than count */
	unsigned rows = a->rows;
	if (!rows || !count)
		return;
	if (*top + rows > count)
		*top = count > rows ? count - rows : 0;
	if (selected < count && selected < *top)
		*top = selected;
	if (selected < count && selected >= *top + rows)
		*top = selected - rows + 1;
	for (unsigned i = 0; i < rows && *top + i < count; i++)
		draw_wing(v, b, a, i, c, first + *top + i);
}

#define RULES_ROWS 12u /* so many for rules around the function and a line about it */

struct butterfly_rows butterfly_share_rows(const struct butterfly *v, unsigned rows)
{
	struct butterfly_rows s = {.heads = rows >= 6, .rules = rows >= RULES_ROWS};
	unsigned fixed = 2 * s.heads + 3 * s.rules, most = rows / 4 > 1 ? rows / 4 : 1;
	size_t callers = v->count[SIDE_CALLERS], callees = v->count[SIDE_CALLEES];
	unsigned frames = v->count[SIDE_FRAME] < most ? (unsigned)v->count[SIDE_FRAME] : most;
	unsigned left = rows > fixed + frames ? rows - fixed - frames : 0, half = left / 2;
	s.of[SIDE_FRAME] = frames < rows ? frames : rows;
	s.of[SIDE_CALLERS] = callers < half ? (unsigned)callers : half;
	if (callees < left - s.of[SIDE_CALLERS])
		s.of[SIDE_CALLERS] =
			left - callees < callers ? left - (unsigned)callees : (unsigned)callers;
	s.of[SIDE_CALLEES] = left - s.of[SIDE_CALLERS];
	return s;
}

unsigned butterfly_row(const struct butterfly_rows *s, enum side side)
{
	unsigned row = s->heads;
	if (side >= SIDE_FRAME)
		row += s->of[SIDE_CALLERS] + s->rules;
	if (side >= SIDE_CALLEES)
		row += s->of[SIDE_FRAME] + 2 * s->rules + s->heads;
	return row;
}

/* What this function itself allocates through; "" if that is nothing. */
static const char *ways_of(const struct butterfly *v, struct browser *b, const struct area *a)
{
	struct graph_frame f;
	size_t at = butterfly_first(v, SIDE_FRAME);
	if (!v->count[SIDE_FRAME] || !butterfly_frame(v, at, &f))
		return "";
	return through_text(&b->through, b->model.now, &b->names, &f, grid_is_utf8(a->grid));
}

/* The function as a part of everything. */
static void draw_about(const struct butterfly *v, struct browser *b, const struct area *a,
		       unsigned row, const struct columns *c)
{
	char share[FMT_BYTES], all[FMT_BYTES], mean[FMT_BYTES] = "";
	if (!v->bytes_all)
		return;
	fmt_pct(share, sizeof share, (double)v->bytes_here, (double)v->bytes_all);
	fmt_bytes(all, sizeof all, v->bytes_all);
	if (v->blocks_here > 0 && v->bytes_here > 0)
		fmt_bytes(mean, sizeof mean, v->bytes_here / v->blocks_here);
	const char *ways = ways_of(v, b, a);
	area_printf(a, row, c->name, look(ROLE_DIM), "%s of %s%s%s%s%s", share, all,
		    mean[0] ? ", mean " : "", mean, *ways ? ", through " : "", ways);
}

static void draw_message(const struct area *a, const char *what, const char *help)
{
	area_put(a, 1, 2, look(ROLE_STRONG), what);
	area_put(a, 3, 2, look(ROLE_DIM), help);
}

void butterfly_draw(void *self, struct browser *b, const struct area *a)
{
	struct butterfly *v = self;
	if (!v->q) {
		draw_message(a, "no function was chosen",
			     "select one in Tree, Table or Flame and press c");
		return;
	}
	if (!v->list.count) {
		draw_message(a, "no block has this function on its stack",
			     "Esc goes back; \\ and : change which blocks are looked at");
		return;
	}
	const struct columns c = lay_out(v, a);
	const struct butterfly_rows rows = butterfly_share_rows(v, a->rows);
	for (size_t i = 0; i < SIDE_COUNT; i++) {
		unsigned row = butterfly_row(&rows, (enum side)i);
		const struct area part = area_cut(a, row, 0, rows.of[i], a->cols);
		draw_side(v, b, &part, &c, (enum side)i);
		if (rows.heads && i != SIDE_FRAME)
			draw_heading(v, a, row - 1, &c, (enum side)i);
		if (rows.rules && i == SIDE_FRAME) {
			area_rule(a, row - 1, 0, a->cols, look(ROLE_DIM));
			draw_about(v, b, a, row + rows.of[i], &c);
			area_rule(a, row + rows.of[i] + 1, 0, a->cols, look(ROLE_DIM));
		}
	}
	v->list.page_rows = rows.of[SIDE_CALLEES];
}
