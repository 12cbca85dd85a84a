/* The tree on the screen: columns, names, the pane of details. */
#include "config.h"

#include "tui/tree_priv.h"

#include <stdio.h>
#include <string.h>

#include "tui/details.h"
#include "tui/empty.h"

struct tree_columns tree_lay_out(const struct tree *t, const struct area *a)
{
	struct tree_columns c = {.total = 7};
	bool has_blocks = result_knows(tree_result(t), t->count);
	unsigned at = 7;
	if (a->cols >= 36)
		c.share = at += 7;
	if (a->cols >= 64 && !a->grid->is_plain) {
		c.bar = at + 1;
		c.bar_cols = a->cols >= 100 ? 8 : 5;
		at += c.bar_cols + 1;
	}
	if (a->cols >= 56 && (has_blocks || !t->is_inverted))
		c.self = at += 8;
	if (a->cols >= 72 && has_blocks)
		c.count = at += 8;
	c.name = at + 1;
	return c;
}

static void put_heading(const struct browser *b, const struct area *a, unsigned end, unsigned cols,
			const char *text, const char *word)
{
	char heading[32];
	bool is_ascending, is_sorted = tree_is_sorted_by(b, word, &is_ascending);
	struct look l = look(ROLE_HEADING);
	if (!end)
		return;
	if (is_sorted)
		l.flags = LOOK_BOLD;
	snprintf(heading, sizeof heading, "%s%s", text, !is_sorted ? "" : is_ascending ? "^" : "v");
	area_right(a, 0, end, cols, l, heading);
}

static void draw_heading(const struct tree *t, const struct browser *b, const struct area *a,
			 const struct tree_columns *c)
{
	struct look l = look(ROLE_HEADING);
	put_heading(b, a, c->total, 7, tree_result(t)->is_signed ? "CHANGE" : "TOTAL", "total");
	put_heading(b, a, c->share, 7, "SHARE", "share");
	put_heading(b, a, c->self, 8, t->is_inverted ? "MEAN" : "SELF",
		    t->is_inverted ? "avg" : "self");
	put_heading(b, a, c->count, 8, "BLOCKS", "count");
	area_put(a, 0, c->name, l,
		 t->is_inverted ? "allocated by, then its callers" : "calls from the start down");
}

/*
 * Of the row's own; from the leaf up, where a row is a function's bytes for one caller or another
 * and nothing is its own, the mean size of its blocks.
 */
static int64_t own_of(const struct tree *t, uint32_t row)
{
	const struct query_result *r = tree_result(t);
	if (!t->is_inverted)
		return result_value(r, row, t->self);
	int64_t blocks = result_value(r, row, t->count);
	return blocks ? result_value(r, row, t->total) / blocks : 0;
}

static void draw_values(const struct tree *t, const struct area *a, unsigned row,
			const struct tree_columns *c, uint32_t at)
{
	const struct query_result *r = tree_result(t);
	char text[FMT_BYTES];
	int64_t total = result_value(r, at, t->total), self = own_of(t, at);
	bool is_dim = tree_is_other(t, at);
	struct look strong = look(is_dim ? ROLE_DIM : ROLE_STRONG);
	if (r->is_signed && total)
		strong = look(total > 0 ? ROLE_GREW : ROLE_SHRANK);
	area_right(a, row, c->total, 7, strong, show_bytes(text, sizeof text, total));
	show_share(text, sizeof text, (double)total, (double)t->base_bytes);
	if (c->share)
		area_right(a, row, c->share, 7, look(is_dim ? ROLE_DIM : ROLE_TEXT), text);
	if (c->bar && t->base_bytes)
		area_bar(a, row, c->bar, c->bar_cols, look(is_dim ? ROLE_DIM : ROLE_BAR),
			 (double)total / (double)t->base_bytes);
	if (c->self)
		area_right(a, row, c->self, 8, look(self ? ROLE_TEXT : ROLE_DIM),
			   show_bytes(text, sizeof text, self));
	if (c->count)
		area_right(a, row, c->count, 8, look(ROLE_TEXT),
			   show_count(text, sizeof text, result_value(r, at, t->count)));
}

static void draw_other(const struct tree *t, struct browser *b, const struct area *a, unsigned row,
		       unsigned col, uint32_t at)
{
	char count[FMT_BYTES];
	const char *min = state_chip(model_state(&b->model), STAGE_MIN);
	unsigned room = a->cols > col ? a->cols - col : 0;
	struct buf text = {0};
	fmt_count(count, sizeof count, tree_result(t)->rows[at].count);
	buf_printf(&text, "%s more", count);
	if (min) {
		size_t short_bytes = text.count_bytes;
		buf_printf(&text, " below %s  (L shows them)", min + strlen("min "));
		if (!text.has_failed && text_cols(text.data) > room) {
			text.data[short_bytes] = '\0';
			text.count_bytes = short_bytes;
			buf_puts(&text, "  L");
		}
	}
	if (!text.has_failed)
		area_put(a, row, col, look(ROLE_DIM), text.data);
	buf_release(&text);
}

/* By level, and capped: most of the room is for names. */
static unsigned indent_of(const struct area *a, const struct tree_columns *c, uint32_t depth)
{
	unsigned room = a->cols > c->name ? (a->cols - c->name) / 3 : 0;
	unsigned step = a->cols >= 100 ? 2 : 1;
	return depth > room / step ? room : depth * step;
}

/* Its function and where that is, or its keys. */
static void draw_label(const struct tree *t, struct browser *b, const struct area *a, unsigned row,
		       unsigned col, uint32_t at)
{
	const struct query_result *r = tree_result(t);
	struct graph_frame f;
	bool is_function = row_frame(r, at, &f) && row_is_function(&f);
	bool is_match = b->find[0] && row_matches(r, at, b->find);
	struct look plain = look(is_function && f.is_wrapper ? ROLE_DIM : ROLE_TEXT);
	col = area_put(a, row, col, is_match ? look_bold(ROLE_MATCH) : plain,
		       row_name(&b->names, r, at, a->cols - col, &b->label));
	if (is_function && col + 12 < a->cols)
		area_put(a, row, col + 2, look(ROLE_DIM),
			 name_place(&b->names, &f, a->cols - col - 2, a->cols < 120));
}

static void draw_name(struct tree *t, struct browser *b, const struct area *a, unsigned row,
		      const struct tree_columns *c, size_t at)
{
	const struct tree_line *l = &t->lines[at];
	bool is_utf8 = grid_is_utf8(a->grid);
	unsigned col = c->name + indent_of(a, c, l->depth);
	if (tree_is_other(t, l->row)) {
		draw_other(t, b, a, row, col + 2, l->row);
		return;
	}
	const char *sign = l->is_open ? (is_utf8 ? "\u25be" : "v") : is_utf8 ? "\u25b8" : ">";
	if (tree_can_open(t, at))
		area_put(a, row, col, look(ROLE_KEY), sign);
	if (col + 2 < a->cols)
		draw_label(t, b, a, row, col + 2, l->row);
}

static void draw_lines(struct tree *t, struct browser *b, const struct area *a,
		       const struct tree_columns *c)
{
	for (unsigned i = 0; i < a->rows && t->list.top + i < t->list.count; i++) {
		size_t at = t->list.top + i;
		draw_values(t, a, i, c, t->lines[at].row);
		draw_name(t, b, a, i, c, at);
		if (at != t->list.selected || b->pane == PANE_STRIP)
			continue;
		area_select(a, i);
		if (b->pane == PANE_ROWS)
			area_cursor(a, i, 0);
	}
}

/* Found again only for another row. */
static struct query_facts facts_of(struct tree *t, struct browser *b, uint32_t row)
{
	struct query_error ignored;
	uint64_t serial = model_serial(&b->model, t->q);
	if (t->known.serial == serial && t->known.row == row)
		return t->known.facts;
	t->known.serial = query_opened_facts(t->q, row, &t->known.facts, &ignored) ? 0 : serial;
	t->known.row = row;
	b->details_scroll = 0;
	return t->known.facts;
}

static void draw_details(struct tree *t, struct browser *b, const struct area *a)
{
	if (t->list.selected >= t->list.count)
		return;
	uint32_t row = t->lines[t->list.selected].row;
	const struct query_result *r = tree_result(t);
	struct details d = {.total_bytes = result_value(r, row, t->total),
			    .self_bytes = result_value(r, row, t->self),
			    .has_no_self = t->is_inverted,
			    .has_blocks = result_knows(r, t->count),
			    .blocks = result_value(r, row, t->count),
			    .base_bytes = t->base_bytes,
			    .facts = facts_of(t, b, row)};
	d.has_frame = row_frame(r, row, &d.frame);
	area_upright(a, 0, 0, a->rows,
		     b->pane == PANE_DETAILS ? look_bold(ROLE_CURSOR) : look(ROLE_DIM));
	b->has_details = true;
	if (b->pane == PANE_DETAILS)
		area_cursor(a, 0, 2);
	const struct area inner = area_cut(a, 0, 2, a->rows, a->cols);
	details_draw(b, &inner, &d);
}

void tree_draw(void *self, struct browser *b, const struct area *a)
{
	struct tree *t = self;
	struct area rows = *a;
	if (!t->list.count) {
		empty_draw(b, a, "no blocks: the query leaves nothing", tree_result(t));
		return;
	}
	if (a->cols >= TREE_DETAILS_SCREEN) {
		const struct area side =
			area_cut(a, 0, a->cols - TREE_DETAILS_COLS, a->rows, TREE_DETAILS_COLS);
		rows = area_cut(a, 0, 0, a->rows, a->cols - TREE_DETAILS_COLS);
		draw_details(t, b, &side);
	}
	struct tree_columns c = tree_lay_out(t, &rows);
	if (rows.rows > 3) {
		draw_heading(t, b, &rows, &c);
		rows = area_cut(&rows, 1, 0, rows.rows, rows.cols);
	}
	list_fit(&t->list, rows.rows);
	draw_lines(t, b, &rows, &c);
}
