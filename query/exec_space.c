/*
 * Which space a view needs, and where its cells begin.
 *
 * A cell begins at its leaf: allocation wrappers further in are part of no tree.  Where rows
 * are functions it begins at the innermost frame, so that wrappers too are rows with totals,
 * and its leaf decides the self value.  Views of one frame (callers, callees, peek, source) keep
 * the cells that have it on their stacks, and begin at the innermost frame if only a wrapper
 * fits.
 */
#include "config.h"

#include "query/exec.h"

#include <string.h>

bool space_is_of_frames(const struct plan *pl)
{
	bool is_table = pl->view == VIEW_TABLE || pl->view == VIEW_SUM;
	return (is_table && pl->key_count && !pl->has_block_key) || pl->view == VIEW_SOURCE;
}

bool space_is_of_tuples(const struct plan *pl)
{
	bool is_of_stacks = pl->key_count == 1 && pl->keys[0].kind == KEY_STACK;
	bool is_table = pl->view == VIEW_TABLE || pl->view == VIEW_SUM;
	return (is_table && !is_of_stacks && !space_is_of_frames(pl)) || pl->view == VIEW_HIST ||
	       pl->view == VIEW_TIMELINE;
}

/* By vnode: the outermost frame of its stack that fits the step of the view. */
static enum neap_err find_matches(struct exec *x, size_t side)
{
	const struct plan *pl = x->pl;
	const struct stacks *s = x->stacks[side];
	const uint8_t *flags = where_step(&x->w, pl->sides[side].file, &pl->view_stage->step);
	if (!flags)
		return pl->error->code;
	uint32_t *match = mem_array(s->count, sizeof *match);
	if (!match)
		return exec_no_memory(x);
	x->match[side] = match;
	match[VNODE_ROOT] = VNODE_NONE;
	for (uint32_t v = 1; v < s->count; v++) {
		match[v] = match[s->parent[v]];
		if (match[v] == VNODE_NONE && flags[s->entry[v]])
			match[v] = v;
		if (exec_polls(x, v))
			return exec_no_memory(x);
	}
	return NEAP_OK;
}

/* What a match calls on the way to each vnode below it. */
static enum neap_err find_below(struct exec *x, size_t side)
{
	const struct stacks *s = x->stacks[side];
	const uint32_t *match = x->match[side];
	uint32_t *below = x->below[side] = mem_array(s->count, sizeof *below);
	if (!below)
		return exec_no_memory(x);
	for (uint32_t v = 0; v < s->count; v++) {
		uint32_t parent = s->parent[v];
		bool is_below = match[v] != VNODE_NONE && match[v] != v;
		below[v] = !is_below ? VNODE_NONE : parent == match[v] ? v : below[parent];
	}
	return NEAP_OK;
}

static uint32_t begin_of(const struct exec *x, size_t side, size_t site)
{
	if (x->is_of_nodes)
		return profile_site_node(x->pl->sides[side].file->p, site);
	const struct stacks *s = x->stacks[side];
	const uint32_t *match = x->match[side];
	uint32_t leaf = s->leaf[site], inner = s->inner[site];
	if (space_is_of_frames(x->pl))
		return match && (inner == VNODE_NONE || match[inner] == VNODE_NONE) ? VNODE_NONE
										    : inner;
	if (!match || leaf == VNODE_NONE || match[leaf] != VNODE_NONE)
		return leaf;
	return match[inner] != VNODE_NONE ? inner : VNODE_NONE;
}

static bool is_dropped(const uint32_t *place, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (place[i] == VNODE_NONE)
			return true;
	}
	return false;
}

static bool drop_unplaced(struct cells *c, uint32_t *place)
{
	if (!is_dropped(place, c->count))
		return true;
	uint8_t *keep = mem_array(c->count, 1);
	if (!keep)
		return false;
	size_t kept = 0;
	for (size_t i = 0; i < c->count; i++)
		keep[i] = place[i] != VNODE_NONE;
	for (size_t i = 0; i < c->count; i++) {
		if (keep[i])
			place[kept++] = place[i];
	}
	cells_keep(c, keep);
	mem_free(keep);
	return true;
}

static bool begin_cells(struct exec *x, size_t side, size_t m)
{
	struct cells *c = &x->cells[side][m];
	uint32_t *place = mem_array(c->count, sizeof *place);
	x->place[side][m] = place;
	if (!place)
		return false;
	for (size_t i = 0; i < c->count; i++)
		place[i] = begin_of(x, side, cell_site(c, i));
	return drop_unplaced(c, place);
}

bool space_need_self(struct exec *x)
{
	bool is_good = true;
	for (size_t side = 0; side < x->pl->side_count; side++) {
		for (size_t m = 0; is_good && m < MEASURE_COUNT; m++) {
			if (!x->pl->needs_measure[m])
				continue;
			uint32_t *self = mem_array(x->cells[side][m].count, sizeof *self);
			x->self[side][m] = self;
			is_good = self;
		}
	}
	return is_good;
}

enum neap_err space_drop(struct exec *x, size_t side, struct cells *c)
{
	uint32_t *place = mem_array(c->count, sizeof *place);
	bool is_good = place;
	for (size_t i = 0; is_good && i < c->count; i++)
		place[i] = begin_of(x, side, cell_site(c, i));
	is_good = is_good && drop_unplaced(c, place);
	mem_free(place);
	return is_good ? NEAP_OK : exec_no_memory(x);
}

/* ---- frames ------------------------------------------------------------------------------ */

/* Only frames that fit the view's step have groups. */
static enum neap_err restrict_groups(struct exec *x, size_t side)
{
	struct space *sp = &x->space;
	const struct plan_side *ps = &x->pl->sides[side];
	const uint8_t *flags = where_step(&x->w, ps->file, &x->pl->view_stage->step);
	size_t count = ps->file->columns.entry_count;
	if (!flags)
		return x->pl->error->code;
	uint32_t *groups = mem_array(count, sizeof *groups);
	if (!groups)
		return exec_no_memory(x);
	for (size_t i = 0; i < count; i++)
		groups[i] = flags[i] ? sp->group_of_entry[side][i] : GROUP_NONE;
	sp->owned_groups[side] = groups;
	sp->group_of_entry[side] = groups;
	return NEAP_OK;
}

static entry_id node_leaf_entry(const struct query_file *f, node_id n)
{
	frame_id frame = profile_node_frame(f->p, n);
	entry_id leaf = frame ? f->columns.leaf_entry[frame] : ENTRY_NONE;
	return leaf == ENTRY_NONE ? graph_leaf_entry(f->g, graph_leaf_node(f->g, n)) : leaf;
}

entry_id space_leaf_entry(const struct exec *x, size_t side, size_t site)
{
	const struct query_file *f = x->pl->sides[side].file;
	if (x->is_of_nodes)
		return node_leaf_entry(f, profile_site_node(f->p, site));
	const struct stacks *s = x->stacks[side];
	return s->leaf[site] == VNODE_NONE ? ENTRY_NONE : s->entry[s->leaf[site]];
}

#define CELLS_AHEAD 16u

static void place_nodes(struct exec *x, size_t side, size_t m)
{
	const struct query_file *f = x->pl->sides[side].file;
	const struct narrow *frames = &f->p->node_frames;
	const uint32_t *place = x->place[side][m], *group = x->space.group_of_entry[side];
	size_t count = x->cells[side][m].count;
	for (size_t i = 0; i < count; i++) {
		if (i + CELLS_AHEAD < count)
			narrow_fetch(frames, place[i + CELLS_AHEAD]);
		x->self[side][m][i] = group[node_leaf_entry(f, place[i])];
	}
}

static bool place_frames(struct exec *x, size_t side, size_t m)
{
	const struct cells *c = &x->cells[side][m];
	const uint32_t *group = x->space.group_of_entry[side];
	if (x->is_of_nodes) {
		place_nodes(x, side, m);
		return true;
	}
	for (size_t i = 0; i < c->count; i++) {
		entry_id leaf = space_leaf_entry(x, side, cell_site(c, i));
		x->self[side][m][i] = leaf == ENTRY_NONE ? GROUP_NONE : group[leaf];
	}
	return true;
}

static enum neap_err build_frames(struct exec *x)
{
	struct plan *pl = x->pl;
	struct space *sp = &x->space;
	enum neap_err code = frame_groups_build(x, pl->keys, pl->key_count, &x->frames);
	if (!code && !space_need_self(x))
		code = exec_no_memory(x);
	sp->kind = SPACE_FRAMES;
	sp->group_count = x->frames.count;
	for (size_t side = 0; !code && side < pl->side_count; side++) {
		sp->group_of_entry[side] = x->frames.group[side];
		sp->vnode_count[side] = x->is_of_nodes ? pl->sides[side].file->p->node_count
						       : x->stacks[side]->count;
		if (pl->view == VIEW_SOURCE)
			code = restrict_groups(x, side);
	}
	if (!code)
		exec_each_measure(x, place_frames);
	return code;
}

const struct group *space_group(const struct exec *x, uint32_t group)
{
	const struct space *sp = &x->space;
	if (sp->kind == SPACE_FRAMES)
		return &x->frames.groups[group];
	if (!sp->tree)
		return &sp->groups[group];
	entry_id at = sp->tree->entry[group];
	return at == ENTRY_NONE ? NULL : &sp->tree_groups->groups[at];
}

/* ---- choosing ------------------------------------------------------------------------------ */

static enum neap_err begin(struct exec *x, size_t side)
{
	const struct plan *pl = x->pl;
	const struct ast_stage *view = pl->view_stage;
	if (x->is_of_nodes)
		return NEAP_OK;
	enum neap_err code = stacks_transform(&x->w, pl->sides[side].file, &x->stacks[side],
					      &x->owned_stacks[side]);
	if (!code && view && view->has_step)
		code = find_matches(x, side);
	if (!code && pl->view == VIEW_PEEK)
		code = find_below(x, side);
	return code;
}

enum neap_err space_build(struct exec *x)
{
	const struct plan *pl = x->pl;
	enum neap_err code = NEAP_OK;
	for (size_t side = 0; !code && side < pl->side_count; side++)
		code = begin(x, side);
	if (!code && !exec_each_measure(x, begin_cells))
		code = exec_no_memory(x);
	if (code)
		return code;
	if (space_is_of_tuples(pl))
		return space_build_tuples(x);
	if (space_is_of_frames(pl))
		return build_frames(x);
	switch (pl->view) {
	case VIEW_TABLE:
	case VIEW_SUM:
	case VIEW_STACKS:
		return space_build_stacks(x);
	case VIEW_TREE:
	case VIEW_CALLEES:
		return space_build_tree(x);
	case VIEW_FLAME:
		return pl->view_stage->is_inverted ? space_build_inverted(x) : space_build_tree(x);
	case VIEW_CALLERS:
		return space_build_inverted(x);
	case VIEW_PEEK:
		return space_build_peek(x);
	case VIEW_SOURCE:
	case VIEW_HIST:
	case VIEW_TIMELINE:
		break;
	}
	return NEAP_OK;
}

void space_release(struct exec *x)
{
	struct space *sp = &x->space;
	for (size_t side = 0; side < 2; side++) {
		mem_free(sp->owned_groups[side]);
		mem_free(x->match[side]);
		mem_free(x->below[side]);
		stacks_free(x->owned_stacks[side]);
		x->match[side] = x->below[side] = NULL;
		x->owned_stacks[side] = NULL;
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			mem_free(x->place[side][m]);
			mem_free(x->self[side][m]);
			x->place[side][m] = x->self[side][m] = NULL;
		}
	}
	inverted_free(x->inverted);
	tuples_free(x->tuples);
	x->inverted = NULL;
	x->tuples = NULL;
	stack_order_release(&x->stack_order);
	merged_release(&sp->merged);
	merged_release(&x->stack_tree);
	mem_free(sp->groups);
	frame_groups_release(&x->frames);
	frame_groups_release(&x->stack_frames);
	*sp = (struct space){.group_count = 0};
}
