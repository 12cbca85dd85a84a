/*
 * Tree: who calls whom, top-down or from the leaf up.
 *
 * Rows of the result are made when they are opened.  What is on the screen is a list of lines,
 * the opened rows in preorder; every opened row has its children right below it, the ones that
 * were cut as one line, so that the lines of a level add up to their parent.
 */
#include "config.h"

#include "tui/tree_priv.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/details.h"

/* ---- loading --------------------------------------------------------------------------------- */

static void find_columns(struct tree *t, struct browser *b)
{
	const struct query_result *r = tree_result(t);
	t->total = result_column(r, "total");
	if (t->total == SIZE_MAX)
		t->total = result_column(r, "delta");
	t->self = result_column(r, "self");
	t->count = result_column(r, "count");
	t->share = result_column(r, "share");
	t->name = SIZE_MAX;
	for (size_t i = r->column_count; i-- > 0;) {
		if (r->columns[i].is_key)
			t->name = i;
	}
	browser_summarise(b, r);
	t->base_bytes = b->summary.base_bytes;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct tree *t = self;
	const struct state *s = model_state(&b->model);
	const struct compose c = {.view = s->is_inverted ? "callers" : "tree"};
	if (!tree_keep_open(t)) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	t->is_inverted = s->is_inverted;
	t->q = NULL;
	t->list.count = 0;
	enum neap_err code = model_result(&b->model, &c, &t->q, error);
	if (code)
		return code;
	find_columns(t, b);
	code = tree_insert_below(t, 0, OPENED_ROOT, 0, error);
	if (code || tree_restore_open(t, error))
		return code;
	/* Closed by the user, it stays closed. */
	bool is_new = t->list.count && t->lines[0].path != t->root_path;
	if (is_new && !tree_is_other(t, t->lines[0].row))
		tree_open_chain(t, 0, error);
	return NEAP_OK;
}

static void release(void *self)
{
	struct tree *t = self;
	mem_free(t->lines);
	map_release(&t->open);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static void expand_all(struct tree *t, struct browser *b, size_t at)
{
	struct query_error error = {.code = NEAP_OK};
	size_t end = tree_end_below(t, at), room = t->list.page_rows ? t->list.page_rows : 1;
	for (size_t i = at; i < end && i < at + room && !error.code; i++) {
		size_t before = t->list.count;
		tree_open_line(t, i, &error);
		end += t->list.count - before;
	}
	browser_tell(b, error.code, &error);
}

static void collapse_all(struct tree *t)
{
	while (t->list.count && t->lines[t->list.selected].depth)
		t->list.selected = tree_parent(t, t->list.selected);
	for (size_t i = 0; i < t->list.count; i++)
		tree_close_line(t, i);
}

static bool invert(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct state *s = model_edit(&b->model);
	if (!s)
		return true;
	s->is_inverted = !s->is_inverted;
	enum neap_err code = model_commit(&b->model, s, &error);
	browser_tell(b, code, &error);
	return true;
}

/* The key that shows what is cut. */
static bool show_cut(struct tree *t, struct browser *b, size_t at)
{
	if (!tree_is_other(t, t->lines[at].row))
		return false;
	struct query_error error = {.code = NEAP_OK};
	browser_tell(b, model_set_stage(&b->model, STAGE_MIN, NULL, &error), &error);
	return true;
}

static bool act_fold(struct tree *t, struct browser *b, enum action action)
{
	struct query_error error = {.code = NEAP_OK};
	size_t at = t->list.selected;
	struct tree_line *l = &t->lines[at];
	switch (action) {
	case ACTION_ENTER:
		if (show_cut(t, b, at))
			return true;
		if (l->is_open)
			tree_close_line(t, at);
		else
			tree_open_line(t, at, &error);
		break;
	case ACTION_RIGHT:
	case ACTION_EXPAND:
		if (l->is_open && action == ACTION_RIGHT && at + 1 < t->list.count)
			t->list.selected++;
		else
			tree_open_line(t, at, &error);
		break;
	case ACTION_LEFT:
	case ACTION_COLLAPSE:
		if (l->is_open)
			tree_close_line(t, at);
		else if (action == ACTION_LEFT)
			t->list.selected = tree_parent(t, at);
		break;
	case ACTION_PARENT:
		t->list.selected = tree_parent(t, at);
		break;
	case ACTION_EXPAND_CHAIN:
		t->list.selected = tree_open_chain(t, at, &error);
		break;
	case ACTION_EXPAND_ALL:
		expand_all(t, b, at);
		break;
	case ACTION_COLLAPSE_ALL:
		collapse_all(t);
		break;
	default:
		return false;
	}
	browser_tell(b, error.code, &error);
	return true;
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct tree *t = self;
	if (b->pane == PANE_DETAILS && details_act(b, action))
		return true;
	if (action == ACTION_INVERT)
		return invert(b);
	if (action == ACTION_SORT_LEFT || action == ACTION_SORT_RIGHT ||
	    action == ACTION_SORT_REVERSE) {
		tree_sort(t, b, action);
		return true;
	}
	if (list_act(&t->list, action))
		return true;
	return t->list.count && act_fold(t, b, action);
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct tree *t = self;
	struct mouse in_list = *m;
	if (b->view_area.rows > 3) {
		bool is_press = m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE;
		if (!in_list.row && is_press)
			return tree_press_heading(t, b, m->col);
		in_list.row -= in_list.row > 0;
	}
	if (!list_mouse(&t->list, &in_list))
		return false;
	return m->kind == MOUSE_DOUBLE ? act_fold(t, b, ACTION_ENTER) : true;
}

static void place(const void *self, struct buf *out)
{
	const struct tree *t = self;
	list_place(&t->list, out);
}

static bool frame(const void *self, struct graph_frame *out)
{
	const struct tree *t = self;
	return t->list.selected < t->list.count &&
	       row_frame(tree_result(t), t->lines[t->list.selected].row, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct tree *t = self;
	(void)b;
	if (t->list.selected >= t->list.count)
		return;
	uint32_t row = t->lines[t->list.selected].row;
	const struct query_result *r = tree_result(t);
	show_put_sum(out, result_value(r, row, t->total), result_knows(r, t->count),
		     result_value(r, row, t->count));
	buf_puts(out, "  ");
	row_put_keys(r, row, out);
}

static bool fits(const struct list_search *s, size_t at)
{
	const struct tree *t = s->self;
	return row_matches(tree_result(t), t->lines[at].row, s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct tree *t = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return list_find(&t->list, &s, fits);
}

const struct view view_tree = {
	.self_bytes = sizeof(struct tree),
	.release = release,
	.load = load,
	.draw = tree_draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
	.save_folds = tree_save_folds,
	.take_folds = tree_take_folds,
	.save_spot = tree_save_spot,
	.take_spot = tree_take_spot,
};
