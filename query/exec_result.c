/* Rows of results: tables, trees in preorder, the rows that were cut as one. */
#include "config.h"

#include "query/exec.h"

#include "src/base/limits.h"

#include <string.h>

/* ---- frames of a row -------------------------------------------------------------------- */

/* The stack that a row is for, as a vnode of a tree of stacks; NULL if it is for none. */
static const struct stacks *stack_of(const struct exec *x, uint32_t group, uint32_t *v_out)
{
	const struct plan *pl = x->pl;
	if (x->space.kind != SPACE_FLAT)
		return NULL;
	if (x->space.tree) {
		*v_out = group;
		return x->space.tree;
	}
	const struct group *g = space_group(x, group);
	for (size_t k = 0; g->values && k < pl->key_count; k++) {
		if (pl->keys[k].kind == KEY_STACK) {
			*v_out = (uint32_t)g->values[k];
			return x->stack_tree.tree;
		}
	}
	return NULL;
}

/* Deep stacks that hold blocks at every depth have far more frames together than the profile has. */
static enum neap_err check_stacks(struct exec *x, const struct row_list *rows)
{
	uint32_t v = 0;
	uint64_t frame_count = 0;
	const struct stacks *s = rows->count ? stack_of(x, rows->groups[0], &v) : NULL;
	uint32_t *depth = s ? mem_zarray(s->count, sizeof *depth) : NULL;
	if (s && !depth)
		return exec_no_memory(x);
	for (uint32_t i = 1; s && i < s->count; i++)
		depth[i] = depth[s->parent[i]] + 1;
	for (size_t i = 0; s && i < rows->count; i++) {
		stack_of(x, rows->groups[i], &v);
		frame_count += depth[v];
	}
	mem_free(depth);
	if (frame_count <= LIMIT_ANSWER_FRAMES)
		return NEAP_OK;
	query_fail(
		x->pl->error, ERR_LIMIT, x->pl->query->span,
		"the %zu stacks of the answer have %ju frames together; at most %u can be listed",
		rows->count, (uintmax_t)frame_count, LIMIT_ANSWER_FRAMES);
	return query_fail_help(
		x->pl->error,
		"`collapse recursion` or `top` makes them fewer; a tree has each frame once");
}

static bool list_frames(struct exec *x, const struct stacks *s, uint32_t v, struct result_row *row)
{
	uint32_t depth = 0;
	for (uint32_t at = v; at != VNODE_ROOT; at = s->parent[at])
		depth++;
	entry_id *frames = arena_array(&x->out->arena, depth + 1u, sizeof *frames);
	if (!frames)
		return false;
	row->frames = frames;
	row->frame_count = depth;
	for (uint32_t at = v; at != VNODE_ROOT; at = s->parent[at])
		frames[--depth] = x->stack_frames.groups[s->entry[at]].entry;
	return true;
}

/* Between two files there is no one graph that frames could belong to: names, then. */
static const char *stack_text(struct exec *x, const struct stacks *s, uint32_t v)
{
	struct buf b = {0};
	uint32_t depth = 0;
	for (uint32_t at = v; at != VNODE_ROOT; at = s->parent[at])
		depth++;
	uint32_t *path = mem_array(depth, sizeof *path);
	for (uint32_t at = v, i = depth; path && at != VNODE_ROOT; at = s->parent[at])
		path[--i] = at;
	for (uint32_t i = 0; path && i < depth; i++) {
		const struct group *g = &x->stack_frames.groups[s->entry[path[i]]];
		const char *name = file_entry_name(x->pl->sides[g->side].file, g->entry);
		buf_printf(&b, "%s%s", i ? ";" : "", name ? name : "?");
		x->has_no_memory = x->has_no_memory || !name;
	}
	mem_free(path);
	char *text = path && !b.has_failed && b.data
			     ? arena_strndup(&x->out->arena, b.data, b.count_bytes)
			     : NULL;
	buf_release(&b);
	x->has_no_memory = x->has_no_memory || !text;
	return text;
}

static bool copy_entries(struct exec *x)
{
	x->first_entries = arena_array(&x->out->arena, x->frames.count, sizeof *x->first_entries);
	for (size_t i = 0; x->first_entries && i < x->frames.count; i++)
		x->first_entries[i] = x->frames.groups[i].entry;
	return x->first_entries;
}

static bool add_frames(struct exec *x, uint32_t group, struct result_row *row,
		       struct result_cell *cells)
{
	const struct plan *pl = x->pl;
	uint32_t v = 0;
	const struct stacks *s = stack_of(x, group, &v);
	if (s && pl->is_two_files) {
		const char *text = stack_text(x, s, v);
		for (size_t i = 0; i < pl->column_count; i++) {
			if (pl->columns[i].is_key && pl->keys[pl->columns[i].key].kind == KEY_STACK)
				cells[i] = (struct result_cell){.text = text, .is_unknown = !text};
		}
		return text;
	}
	if (s)
		return list_frames(x, s, v, row);
	const struct group *g = space_group(x, group);
	if (!g || g->entry == ENTRY_NONE || pl->is_two_files)
		return true;
	/* Rows of one group share what names them. */
	const struct frame_groups *fg = &x->frames;
	if (g >= fg->groups && g < fg->groups + fg->count) {
		if (!x->first_entries && !copy_entries(x))
			return false;
		row->frames = &x->first_entries[g - fg->groups];
	} else {
		entry_id *frame = arena_array(&x->out->arena, 1, sizeof *frame);
		if (!frame)
			return false;
		*frame = g->entry;
		row->frames = frame;
	}
	row->frame_count = 1;
	return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

enum neap_err gather_row(struct exec *x, struct gathered *to, const struct result_row *row,
			 uint32_t group, const struct values *v)
{
	const struct plan *pl = x->pl;
	size_t at = to->row_count * pl->column_count;
	if (to->row_count >= UINT32_MAX ||
	    !vec_reserve((void **)&to->rows, &to->row_cap, to->row_count + 1, sizeof *to->rows) ||
	    !vec_reserve((void **)&to->cells, &to->cell_cap, at + pl->column_count,
			 sizeof *to->cells))
		return exec_no_memory(x);
	const struct group *g = group == GROUP_NONE ? NULL : space_group(x, group);
	struct result_cell *cells = to->cells + at;
	for (size_t i = 0; i < pl->column_count; i++) {
		const struct plan_column *c = &pl->columns[i];
		if (!c->is_key)
			cells[i] = column_cell(x, v, c->column);
		else
			cells[i] = g ? group_key(x, g, c->key)
				     : (struct result_cell){.is_unknown = true};
	}
	struct result_row *new_row = &to->rows[to->row_count];
	*new_row = *row;
	if (g && !add_frames(x, group, new_row, cells))
		return exec_no_memory(x);
	to->row_count++;
	return x->has_no_memory ? exec_no_memory(x) : NEAP_OK;
}

enum neap_err gather_other(struct exec *x, struct gathered *to, const struct row_list *rows,
			   uint32_t depth, uint32_t parent)
{
	struct values v;
	if (!rows->other_count)
		return NEAP_OK;
	enum neap_err code = values_of_set(x, rows->others, rows->other_count, &v);
	if (!code && x->pl->needs_quantiles)
		code = quantiles_of_set(x, rows->others, rows->other_count, &v);
	v.row_count = (int64_t)rows->other_count;
	struct result_row row = {.kind = ROW_OTHER,
				 .depth = depth,
				 .parent = parent,
				 .count = (uint32_t)rows->other_count};
	return code ? code : gather_row(x, to, &row, GROUP_NONE, &v);
}

static enum neap_err gather_group(struct exec *x, struct gathered *to, uint32_t group,
				  uint32_t depth, uint32_t parent)
{
	struct values v;
	struct result_row row = {.kind = ROW_PLAIN, .depth = depth, .parent = parent};
	if (x->row_of)
		x->row_of[group] = (uint32_t)to->row_count;
	enum neap_err code = row_values(x, group, &v);
	return code ? code : gather_row(x, to, &row, group, &v);
}

enum neap_err gather_table(struct exec *x, struct gathered *to)
{
	struct row_list rows;
	enum neap_err code = rows_select(x, &rows);
	if (!code)
		code = check_stacks(x, &rows);
	if (!code && x->pl->needs_quantiles)
		code = quantiles_prepare(x, rows.groups, rows.count);
	for (size_t i = 0; !code && i < rows.count; i++)
		code = exec_polls(x, i) ? exec_no_memory(x)
					: gather_group(x, to, rows.groups[i], 0, UINT32_MAX);
	if (!code)
		code = gather_other(x, to, &rows, 0, UINT32_MAX);
	row_list_release(&rows);
	return code;
}

/* The rows that are left after the conditions on them, together. */
enum neap_err gather_sum(struct exec *x, struct gathered *to)
{
	struct row_list rows = {.count = 0};
	enum neap_err code = NEAP_OK;
	if (x->pl->key_count) {
		code = rows_select(x, &rows);
		for (size_t i = 0; !code && i < rows.other_count; i++)
			rows.groups[rows.count++] = rows.others[i]; /* they came from there */
		if (!code)
			code = values_of_set(x, rows.groups, rows.count, &x->totals);
		if (!code && x->pl->needs_quantiles)
			code = quantiles_of_set(x, rows.groups, rows.count, &x->totals);
		row_list_release(&rows);
	}
	struct result_row row = {.kind = ROW_PLAIN, .parent = UINT32_MAX};
	return code ? code : gather_row(x, to, &row, GROUP_NONE, &x->totals);
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* What is still to be shown: a vnode with what is below it, or the rows cut at one place. */
struct pending {
	struct row_list cut; /* others; empty: a vnode */
	uint32_t group, depth, parent;
};
struct walk {
	struct pending *items;
	size_t count, cap;
	uint32_t depth_most;
};

static bool push(struct walk *w, const struct pending *item)
{
	if (!vec_reserve((void **)&w->items, &w->cap, w->count + 1, sizeof *w->items))
		return false;
	w->items[w->count++] = *item;
	return true;
}

static bool find_children(const struct exec *x, uint32_t v, struct row_list *out)
{
	const uint32_t *end = x->space.tree->end;
	size_t count = 0;
	for (uint32_t c = v + 1; c < end[v]; c = end[c])
		count += row_has_values(x, c);
	*out = (struct row_list){.groups = mem_array(count, sizeof *out->groups)};
	if (!out->groups)
		return false;
	for (uint32_t c = v + 1; c < end[v]; c = end[c]) {
		if (row_has_values(x, c))
			out->groups[out->count++] = c;
	}
	return true;
}

enum neap_err tree_open(struct exec *x, uint32_t v, struct row_list *out)
{
	enum neap_err code = NEAP_OK;
	*out = (struct row_list){.count = 0};
	if (x->space.kind == SPACE_INVERTED)
		code = inverted_open(x, v, out);
	else if (!find_children(x, v, out))
		code = exec_no_memory(x);
	return code ? code : rows_apply(x, out);
}

#define DRAWN_PART \
	4000.0 /* of the whole: less than a third of a pixel where drawings are 1200 wide */

static double side_bytes(const struct exec *x, size_t side, uint32_t v)
{
	double bytes = (double)total_of_group(x, side, MEASURE_MAIN, v).bytes;
	return bytes < 0 ? -bytes : bytes;
}

/* From the leaf up there are far more rows than can be drawn. */
static bool is_too_small(const struct exec *x, uint32_t v)
{
	if (!x->pl->needs_pixels || v == VNODE_ROOT)
		return false;
	double most = 0, whole = 0;
	for (size_t side = 0; side < x->pl->side_count; side++) {
		double bytes = side_bytes(x, side, v);
		double all = (double)x->totals.side[side].total[MEASURE_MAIN].bytes;
		most = bytes > most ? bytes : most;
		whole = all > whole ? all : whole;
	}
	return most * DRAWN_PART < whole;
}

/* Children go on the stack last first, so that they come off in order. */
static enum neap_err open_vnode(struct exec *x, struct walk *w, uint32_t v, uint32_t depth,
				uint32_t parent)
{
	struct row_list rows = {.count = 0};
	bool is_good = true;
	if (depth >= w->depth_most || is_too_small(x, v))
		return NEAP_OK;
	enum neap_err code = tree_open(x, v, &rows);
	if (!code && rows.other_count) {
		struct pending other = {.depth = depth, .parent = parent};
		other.cut.others = rows.others;
		other.cut.other_count = rows.other_count;
		is_good = push(w, &other);
		if (is_good)
			rows.others = NULL;
	}
	for (size_t i = rows.count; !code && is_good && i-- > 0;) {
		struct pending child = {.group = rows.groups[i], .depth = depth, .parent = parent};
		is_good = push(w, &child);
	}
	row_list_release(&rows);
	return code || is_good ? code : exec_no_memory(x);
}

static enum neap_err show_next(struct exec *x, struct gathered *to, struct walk *w)
{
	struct pending next = w->items[--w->count];
	if (next.cut.other_count) {
		enum neap_err code = gather_other(x, to, &next.cut, next.depth, next.parent);
		row_list_release(&next.cut);
		return code;
	}
	uint32_t row = (uint32_t)to->row_count;
	enum neap_err code = gather_group(x, to, next.group, next.depth, next.parent);
	return code ? code : open_vnode(x, w, next.group, next.depth + 1, row);
}

enum neap_err gather_tree(struct exec *x, struct gathered *to)
{
	const struct ast_stage *view = x->pl->view_stage;
	struct walk w = {.depth_most = UINT32_MAX};
	if (view && view->view == VIEW_TREE && view->has_quantity &&
	    view->quantity.value < UINT32_MAX)
		w.depth_most = view->quantity.value < 1 ? 1 : (uint32_t)view->quantity.value;
	enum neap_err code = samples_begin(x);
	if (code)
		return code;
	if (tree_is_plain(x))
		return gather_plain_tree(x, to, w.depth_most);
	code = open_vnode(x, &w, VNODE_ROOT, 0, UINT32_MAX);
	while (!code && w.count) {
		code = show_next(x, to, &w);
		if (!code && exec_polls(x, to->row_count))
			code = exec_no_memory(x);
	}
	while (w.count)
		row_list_release(&w.items[--w.count].cut);
	mem_free(w.items);
	return code;
}
