/*
 * Flame: the tree as widths, the start of the program at the top, or from the leaf up.
 *
 * A cell is as wide as the bytes held below it.  Enter makes a cell as wide as the screen; the
 * line above the cells then says what they are a part of, and Esc goes back.  That is a matter of
 * looking, like folds of the tree, and no part of the query; `z` makes it one.
 */
#include "config.h"

#include "tui/flame_priv.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/rows.h"

#define FIRST_LEVELS 60u /* to look for it in */
#define WIDE_SHARE   0.9 /* the first look is at the first cell that is narrower */

/* ---- what is selected ---------------------------------------------------------------------- */

static enum neap_err no_memory(struct query_error *error)
{
	*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	return ERR_NOMEM;
}

/* The way to the selected cell, which outlives the cells. */
static bool keep_selected(struct flame *f)
{
	const struct flame_cell *cells = f->layout.cells, *c = flame_selected(f);
	if (!c)
		return true;
	if (!vec_reserve((void **)&f->kept, &f->kept_cap, c->level, sizeof *f->kept))
		return false;
	f->kept_count = c->level;
	for (size_t i = c->level; i--; c = &cells[c->parent])
		f->kept[i] = c->step;
	return true;
}

static void select_kept(struct flame *f)
{
	const struct flame_cell *cells = f->layout.cells;
	f->selected = 0;
	for (size_t i = 0; f->layout.cell_count && i < f->kept_count; i++) {
		const struct flame_cell *p = &cells[f->selected];
		uint32_t at = 0;
		while (at < p->child_count && cells[p->first + at].step != f->kept[i])
			at++;
		if (at == p->child_count)
			return;
		f->selected = p->first + at;
	}
}

/* ---- laying out ---------------------------------------------------------------------------- */

/* The rows of the cells on the way, in a new result; as far as they are still there. */
static void find_zoom(struct flame *f, struct query_error *error)
{
	struct flame_cell parent = flame_root(&f->layout);
	size_t i = 0;
	for (; i < f->zoom_count; i++) {
		struct flame_step *s = &f->zoom[i];
		if (!flame_find(&f->layout, &parent, s->step, s->below, &s->cell, error))
			break;
		parent = s->cell;
	}
	f->zoom_count = i;
	f->is_zoom_old = false;
}

static enum neap_err lay_out(struct flame *f, unsigned cols, unsigned levels,
			     struct query_error *error)
{
	if (!f->is_stale && f->layout.cols == cols && f->layout.levels >= levels)
		return NEAP_OK;
	if (!keep_selected(f))
		return no_memory(error);
	if (f->is_zoom_old)
		find_zoom(f, error);
	struct flame_cell root =
		f->zoom_count ? f->zoom[f->zoom_count - 1].cell : flame_root(&f->layout);
	enum neap_err code = flame_build(&f->layout, &root, cols, levels, error);
	f->is_stale = false;
	select_kept(f);
	return code;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct flame *f = self;
	struct query_opened *q;
	const struct state *s = model_state(&b->model);
	/* The same query as the tree's, so that what one has opened is there for the other. */
	const struct compose c = {.view = s->is_inverted ? "callers" : "tree"};
	bool is_good = keep_selected(f);
	f->selected = FLAME_NONE;
	f->layout.cell_count = 0;
	f->is_stale = f->is_zoom_old = true;
	f->layout.q = NULL;
	if (!is_good)
		return no_memory(error);
	enum neap_err code = model_result(&b->model, &c, &q, error);
	if (code)
		return code;
	if (f->is_inverted != s->is_inverted)
		f->kept_count = f->zoom_count = f->top = 0;
	f->is_first = !f->kept_count && !f->zoom_count && !s->is_inverted;
	f->is_inverted = s->is_inverted;
	flame_columns(&f->layout, q);
	browser_summarise(b, flame_result(f));
	return NEAP_OK;
}

static void release(void *self)
{
	struct flame *f = self;
	flame_release(&f->layout);
	mem_free(f->zoom);
	mem_free(f->kept);
	buf_release(&f->label);
}

/* The first look is at where the tree begins to branch. */
static void look_first(struct flame *f)
{
	const struct flame_cell *cells = f->layout.cells, *c = flame_selected(f);
	while (c && c->child_count && !cells[c->first].rest_count &&
	       cells[c->first].cols >= WIDE_SHARE * f->layout.cols)
		c = &cells[c->first];
	if (!c || !c->level)
		return;
	f->selected = (uint32_t)(c - cells);
	if (c->level > f->page_rows / 3)
		f->top = c->level - f->page_rows / 3;
}

/* Lay out so much that the selected cell and a screen below the top are there. */
static enum neap_err fit(struct flame *f, const struct area *a, struct query_error *error)
{
	bool is_first = f->is_first;
	enum neap_err code =
		lay_out(f, a->cols, is_first ? FIRST_LEVELS : f->top + a->rows + 1, error);
	f->page_rows = a->rows;
	if (is_first && !code)
		look_first(f);
	f->is_first = false;
	const struct flame_cell *c = flame_selected(f);
	if (code || !c || !a->rows)
		return code;
	/* No empty rows at the end while there are levels above. */
	unsigned deepest = f->layout.cells[f->layout.cell_count - 1].level + 1;
	if (f->top && deepest < f->top + a->rows)
		f->top = deepest > a->rows ? deepest - a->rows : 0;
	if (c->level < f->top)
		f->top = c->level;
	if (c->level >= f->top + a->rows)
		f->top = c->level - a->rows + 1;
	return lay_out(f, a->cols, f->top + a->rows + 1, error);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct flame *f = self;
	struct query_error error = {.code = NEAP_OK};
	struct area cells = *a;
	if (!f->layout.q)
		return;
	if (a->rows > 5)
		cells = area_cut(&cells, 1, 0, cells.rows - 1, cells.cols);
	unsigned status = a->rows >= 12 ? 2 : a->rows >= 4 ? 1 : 0;
	const struct area last = area_cut(&cells, cells.rows - status, 0, status, cells.cols);
	cells = area_cut(&cells, 0, 0, cells.rows - status, cells.cols);
	browser_tell(b, fit(f, &cells, &error), &error);
	if (a->rows > 5 && f->layout.cell_count)
		flame_draw_way(f, b, a);
	if (!f->layout.cell_count)
		flame_draw_empty(f, b, a);
	else if (a->grid->is_plain)
		flame_draw_plain(f, b, &cells);
	else
		flame_draw_cells(f, b, &cells);
	if (f->layout.cell_count)
		flame_draw_status(f, b, &last);
}

/* ---- moving ------------------------------------------------------------------------------------------ */

/* The heaviest child, laid out if it has to be; false: none. */
static bool go_down(struct flame *f, struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	const struct flame_cell *c = flame_selected(f);
	if (c && c->level + 1 >= f->layout.levels) {
		unsigned more = f->page_rows ? f->page_rows : 1;
		browser_tell(b, lay_out(f, f->layout.cols, f->layout.levels + more, &error),
			     &error);
		c = flame_selected(f);
	}
	if (!c || !c->child_count)
		return false;
	uint32_t best = c->first;
	for (uint32_t i = 1; i < c->child_count; i++) {
		const struct flame_cell *child = &f->layout.cells[c->first + i];
		if (!child->rest_count && child->weight > f->layout.cells[best].weight)
			best = c->first + i;
	}
	f->selected = best;
	return true;
}

static bool go_up(struct flame *f)
{
	const struct flame_cell *c = flame_selected(f);
	if (!c || c->parent == FLAME_NONE)
		return false;
	f->selected = c->parent;
	return true;
}

/* The next cell of the same level; false: there is none. */
static bool go_aside(struct flame *f, bool is_left)
{
	const struct flame_cell *cells = f->layout.cells;
	uint32_t at = f->selected;
	if (is_left ? at == 0 : at + 1 >= f->layout.cell_count)
		return false;
	uint32_t next = is_left ? at - 1 : at + 1;
	if (cells[next].level != cells[at].level)
		return false;
	f->selected = next;
	return true;
}

/* ---- zooming ------------------------------------------------------------------------------------------- */

bool flame_push_zoom(struct flame *f, const struct flame_cell *c)
{
	if (!vec_reserve((void **)&f->zoom, &f->zoom_cap, f->zoom_count + 1, sizeof *f->zoom))
		return false;
	f->zoom[f->zoom_count++] =
		(struct flame_step){.step = c->step, .below = c->below, .cell = *c};
	return true;
}

void flame_begin(struct flame *f)
{
	f->kept_count = 0;
	f->layout.cell_count = 0;
	f->selected = FLAME_NONE;
	f->is_stale = true;
	f->top = 0;
}

static void show_cut(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	browser_tell(b, model_set_stage(&b->model, STAGE_MIN, NULL, &error), &error);
}

static void zoom_in(struct flame *f, struct browser *b)
{
	const struct flame_cell *c = flame_selected(f);
	if (!c)
		return;
	if (c->rest_count && c->cut_count == c->rest_count) {
		show_cut(b);
		return;
	}
	if (!c->level)
		return;
	if (c->rest_count && c->level == 1 && f->layout.cells[0].rest_count &&
	    f->layout.cells[0].below == c->below) {
		browser_say(b, ROLE_DIM, "all of these are too small to draw: 2 lists functions");
		return;
	}
	/* From the first cell, which is zoomed into already, down to this one. */
	size_t before = f->zoom_count, count = c->level;
	for (size_t i = 0; i < count; i++) {
		const struct flame_cell *step = c;
		for (size_t up = count - 1 - i; up--;)
			step = &f->layout.cells[step->parent];
		if (!flame_push_zoom(f, step)) {
			f->zoom_count = before;
			browser_say(b, ROLE_ERROR, "out of memory");
			return;
		}
	}
	f->zoom[f->zoom_count - 1].is_stop = true;
	flame_begin(f);
}

/* Back to where Enter was pressed, with the cell selected that was entered. */
static bool zoom_out(struct flame *f, bool is_all)
{
	size_t to = f->zoom_count;
	if (!to)
		return false;
	do {
		to--;
	} while (to && (is_all || !f->zoom[to - 1].is_stop));
	if (!vec_reserve((void **)&f->kept, &f->kept_cap, f->zoom_count - to, sizeof *f->kept))
		return true;
	flame_begin(f);
	f->kept_count = f->zoom_count - to;
	for (size_t i = 0; i < f->kept_count; i++)
		f->kept[i] = f->zoom[to + i].step;
	f->zoom_count = to;
	return true;
}

static void invert(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct state *s = model_edit(&b->model);
	if (!s)
		return;
	s->is_inverted = !s->is_inverted;
	browser_tell(b, model_commit(&b->model, s, &error), &error);
}

/* ---- keys -------------------------------------------------------------------------------------------------- */

static void act_moves(struct flame *f, struct browser *b, enum action action)
{
	unsigned page = f->page_rows > 1 ? f->page_rows - 1 : 1;
	switch (action) {
	case ACTION_UP:
	case ACTION_PARENT:
		go_up(f);
		break;
	case ACTION_DOWN:
		go_down(f, b);
		break;
	case ACTION_LEFT:
		if (!go_aside(f, true) && flame_selected(f) && !flame_selected(f)->level)
			zoom_out(f, false);
		break;
	case ACTION_RIGHT:
		go_aside(f, false);
		break;
	case ACTION_PAGE_UP:
		while (page-- && go_up(f)) {
		}
		break;
	case ACTION_PAGE_DOWN:
		while (page-- && go_down(f, b)) {
		}
		break;
	case ACTION_FIRST:
		f->selected = 0;
		break;
	default: /* the end of the heaviest chain */
		while (go_down(f, b)) {
		}
		break;
	}
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct flame *f = self;
	switch (action) {
	case ACTION_UP:
	case ACTION_PARENT:
	case ACTION_DOWN:
	case ACTION_LEFT:
	case ACTION_RIGHT:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
	case ACTION_EXPAND_CHAIN:
		act_moves(f, b, action);
		return true;
	case ACTION_ENTER:
	case ACTION_EXPAND:
		zoom_in(f, b);
		return true;
	case ACTION_COLLAPSE:
	case ACTION_COLLAPSE_ALL:
		zoom_out(f, action == ACTION_COLLAPSE_ALL);
		return true;
	case ACTION_BACK:
		return !b->find[0] && b->pane == PANE_ROWS && !b->cursor.has_start &&
		       zoom_out(f, false);
	case ACTION_INVERT:
		invert(b);
		return true;
	default:
		return false;
	}
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct flame *f = self;
	unsigned head = b->view_area.rows > 5 ? 1 : 0;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN) {
		act_moves(f, b, m->kind == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN);
		return true;
	}
	bool is_press = m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE;
	if (!is_press || m->row < head || m->row - head >= f->page_rows || b->grid.is_plain)
		return false;
	for (size_t i = 0; i < f->layout.cell_count; i++) {
		const struct flame_cell *c = &f->layout.cells[i];
		if (c->level != f->top + m->row - head || m->col < c->col ||
		    m->col >= c->col + c->cols)
			continue;
		f->selected = (uint32_t)i;
		if (m->kind == MOUSE_DOUBLE)
			zoom_in(f, b);
		return true;
	}
	return false;
}

static void place(const void *self, struct buf *out)
{
	const struct flame *f = self;
	const struct flame_cell *c = flame_selected(f);
	if (c)
		buf_printf(out, "depth %zu", f->zoom_count + c->level);
}

static bool frame(const void *self, struct graph_frame *out)
{
	const struct flame *f = self;
	const struct flame_cell *c = flame_selected(f);
	return c && flame_frame(f, c, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct flame *f = self;
	const struct flame_cell *c = flame_selected(f);
	if (!c)
		return;
	flame_put_numbers(f, b, c, out);
	buf_puts(out, "  ");
	if (c->rest_count)
		buf_printf(out, "%u smaller ones", c->rest_count);
	else if (c->row == OPENED_ROOT)
		buf_puts(out, "all");
	else
		row_put_keys(flame_result(f), c->row, out);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct flame *f = self;
	size_t count = f->layout.cell_count;
	(void)b;
	for (size_t i = is_here ? 0 : 1; i <= count && count; i++) {
		size_t at = (f->selected + (is_back ? count - i % count : i)) % count;
		if (flame_matches(f, &f->layout.cells[at], text)) {
			f->selected = (uint32_t)at;
			return true;
		}
	}
	return false;
}

const struct view view_flame = {
	.self_bytes = sizeof(struct flame),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
	.save_spot = flame_save_spot,
	.take_spot = flame_take_spot,
};
