/*
 * Trees for views: the stacks of both sides merged by the groups of their frames.
 *
 *   stacks        tree
 *   main > f > g  main
 *   main > f > g  |- f
 *   main > h > g  |  `- g
 *                 `- h
 *                    `- g
 */
#include "config.h"

#include "query/exec.h"

#include "src/base/limits.h"

#include <string.h>

/*
 * The tree is made in preorder.  A vnode of it stands for vnodes of the stacks, its sources: the
 * children of these, told apart by group, are the sources of its children.  What is still to be
 * made lies on a stack, the next one on top, and so do its sources:
 *
 *     open     main (1 source)   ->   h (1)  f (2)
 *     sources  4                 ->   9      5 7
 */
struct open_vnode {
	uint32_t parent, group;
	uint32_t count[2]; /* of its sources, by side: the last ones */
	uint32_t source;   /* if it has one: that one, which is not among the sources */
};
struct child {
	uint32_t group, count[2];
	uint32_t source; /* if it has one */
	size_t next[2];  /* where its next source goes */
};
struct merging {
	struct exec *x;
	const struct frame_groups *fg;
	size_t side_count;
	const uint8_t *marks[2]; /* by vnode: is there anything at or below it?  NULL: take all */
	struct stacks *tree;     /* entry[] are groups of frames */
	uint32_t **place;        /* by side, by vnode */
	uint32_t *sources[2];
	size_t source_count[2], source_cap[2];
	struct open_vnode *open;
	size_t open_count, open_cap;
	/* Of the vnode that is being made: its children, and the sources of these. */
	struct child *children;
	size_t child_count, child_cap;
	struct below {
		uint32_t child, v;
	} * below; /* those of side 0 come first */
	size_t below_count[2], below_cap;
	/* By group: the last vnode that had a child of this group, plus one; which child it was. */
	uint32_t *seen_by, *child_of;
};

static bool is_single(const uint32_t count[2])
{
	return count[0] + count[1] == 1;
}

/* The child of a vnode of the tree that a vnode of the stacks is part of. */
static bool add_below(struct merging *mg, size_t side, uint32_t parent, uint32_t v)
{
	uint32_t group = mg->fg->group[side][mg->x->stacks[side]->entry[v]];
	if (mg->seen_by[group] != parent + 1) {
		if (!vec_reserve((void **)&mg->children, &mg->child_cap, mg->child_count + 1,
				 sizeof *mg->children))
			return false;
		mg->seen_by[group] = parent + 1;
		mg->child_of[group] = (uint32_t)mg->child_count;
		mg->children[mg->child_count++] = (struct child){.group = group};
	}
	size_t count = mg->below_count[0] + mg->below_count[1];
	if (!vec_reserve((void **)&mg->below, &mg->below_cap, count + 1, sizeof *mg->below))
		return false;
	mg->below[count] = (struct below){mg->child_of[group], v};
	mg->below_count[side]++;
	mg->children[mg->child_of[group]].count[side]++;
	return true;
}

static bool list_children(struct merging *mg, size_t side, uint32_t parent, uint32_t source)
{
	const uint32_t *end = mg->x->stacks[side]->end;
	const uint8_t *marks = mg->marks[side];
	for (uint32_t v = source + 1; v < end[source]; v = end[v]) {
		if ((!marks || marks[v]) && !add_below(mg, side, parent, v))
			return false;
	}
	return true;
}

/* In a view of one frame the tree begins at the matches. */
static bool list_matches(struct merging *mg, size_t side)
{
	const uint32_t *match = mg->x->match[side];
	const uint8_t *marks = mg->marks[side];
	for (uint32_t v = 1; v < mg->x->stacks[side]->count; v++) {
		if (match[v] == v && (!marks || marks[v]) && !add_below(mg, side, VNODE_ROOT, v))
			return false;
	}
	return true;
}

/* Sources of children that have several of them; the others keep theirs. */
static bool push_sources(struct merging *mg)
{
	const struct below *below = mg->below;
	for (size_t side = 0; side < mg->side_count; side++) {
		size_t *at = &mg->source_count[side];
		if (!vec_reserve((void **)&mg->sources[side], &mg->source_cap[side],
				 *at + mg->below_count[side], sizeof *mg->sources[side]))
			return false;
		for (size_t i = mg->child_count; i-- > 0;) {
			struct child *c = &mg->children[i];
			c->next[side] = *at;
			*at += is_single(c->count) ? 0 : c->count[side];
		}
		for (size_t i = 0; i < mg->below_count[side]; i++, below++) {
			struct child *c = &mg->children[below->child];
			if (is_single(c->count))
				c->source = below->v;
			else
				mg->sources[side][c->next[side]++] = below->v;
		}
	}
	return true;
}

/* The first child has to come next, so it goes on top. */
static bool push_children(struct merging *mg, uint32_t parent)
{
	if (!push_sources(mg) || !vec_reserve((void **)&mg->open, &mg->open_cap,
					      mg->open_count + mg->child_count, sizeof *mg->open))
		return false;
	for (size_t i = mg->child_count; i-- > 0;) {
		const struct child *c = &mg->children[i];
		mg->open[mg->open_count++] = (struct open_vnode){
			parent, c->group, {c->count[0], c->count[1]}, c->source};
	}
	mg->child_count = mg->below_count[0] = mg->below_count[1] = 0;
	return true;
}

/* ---- one source: most vnodes of most trees ----------------------------------------------- */

#define FEW 8u

struct few { /* children of a vnode of the stacks, all of different groups */
	size_t count;
	uint32_t v[FEW], group[FEW];
};

/* false: there are more, or some are of one group. */
static bool find_few(const struct merging *mg, size_t side, uint32_t source, struct few *out)
{
	const struct stacks *s = mg->x->stacks[side];
	const uint8_t *marks = mg->marks[side];
	size_t count = 0;
	for (uint32_t v = source + 1; v < s->end[source]; v = s->end[v]) {
		if (marks && !marks[v])
			continue;
		uint32_t group = mg->fg->group[side][s->entry[v]];
		if (count == FEW)
			return false;
		for (size_t i = 0; i < count; i++) {
			if (out->group[i] == group)
				return false;
		}
		out->v[count] = v;
		out->group[count++] = group;
	}
	out->count = count;
	return true;
}

static bool push_few(struct merging *mg, size_t side, uint32_t parent, const struct few *few)
{
	if (!vec_reserve((void **)&mg->open, &mg->open_cap, mg->open_count + few->count,
			 sizeof *mg->open))
		return false;
	for (size_t i = few->count; i-- > 0;)
		mg->open[mg->open_count++] = (struct open_vnode){
			parent, few->group[i], {side == 0, side == 1}, few->v[i]};
	return true;
}

/* Down a chain of only children at once. */
static bool make_chain(struct merging *mg, const struct open_vnode *first)
{
	struct few few;
	struct open_vnode at = *first;
	size_t side = at.count[1];
	for (;;) {
		uint32_t v = stacks_add_next(mg->tree, at.parent, at.group);
		if (v == VNODE_NONE)
			return false;
		mg->place[side][at.source] = v;
		if (!find_few(mg, side, at.source, &few))
			return list_children(mg, side, v, at.source) && push_children(mg, v);
		if (few.count != 1)
			return push_few(mg, side, v, &few);
		at.parent = v;
		at.group = few.group[0];
		at.source = few.v[0];
	}
}

static bool make_next(struct merging *mg)
{
	const struct open_vnode next = mg->open[--mg->open_count];
	if (is_single(next.count))
		return make_chain(mg, &next);
	uint32_t v = stacks_add_next(mg->tree, next.parent, next.group);
	bool is_good = v != VNODE_NONE;
	for (size_t side = 0; is_good && side < mg->side_count; side++) {
		uint32_t count = next.count[side];
		mg->source_count[side] -= count;
		/* Nothing is written onto the sources before all children are listed. */
		const uint32_t *sources = mg->sources[side] + mg->source_count[side];
		for (uint32_t i = 0; is_good && i < count; i++) {
			mg->place[side][sources[i]] = v;
			is_good = list_children(mg, side, v, sources[i]);
		}
	}
	return is_good && (!mg->child_count || push_children(mg, v));
}

static bool merge(struct merging *mg)
{
	bool is_good = true;
	for (size_t side = 0; is_good && side < mg->side_count; side++) {
		mg->place[side][VNODE_ROOT] = VNODE_ROOT;
		is_good = mg->x->match[side] ? list_matches(mg, side)
					     : list_children(mg, side, VNODE_ROOT, VNODE_ROOT);
	}
	is_good = is_good && push_children(mg, VNODE_ROOT);
	for (uint32_t i = 0; is_good && mg->open_count; i++)
		is_good = make_next(mg) && !exec_polls(mg->x, i);
	if (is_good)
		stacks_close(mg->tree);
	return is_good;
}

static void merging_release(struct merging *mg)
{
	for (size_t side = 0; side < 2; side++) {
		mem_free((void *)mg->marks[side]);
		mem_free(mg->sources[side]);
	}
	mem_free(mg->open);
	mem_free(mg->children);
	mem_free(mg->below);
	mem_free(mg->seen_by);
	mem_free(mg->child_of);
}

uint8_t *mark_cells(const struct exec *x, size_t side, bool upwards)
{
	const struct stacks *s = x->stacks[side];
	uint8_t *marks = mem_zarray(s->count, 1);
	if (!marks)
		return NULL;
	if (x->pl->view == VIEW_TIMELINE) { /* it looks at cells of other instants, too */
		memset(marks, 1, s->count);
		return marks;
	}
	for (size_t m = 0; m < MEASURE_COUNT; m++) {
		for (size_t i = 0; i < x->cells[side][m].count; i++)
			marks[x->place[side][m][i]] = 1;
	}
	for (size_t v = s->count; upwards && v-- > 1;)
		marks[s->parent[v]] |= marks[v];
	return marks;
}

/* What has no place is VNODE_NONE. */
static bool places_init(struct merging *mg, size_t side, bool is_whole)
{
	size_t count = mg->x->stacks[side]->count;
	uint32_t *place = mg->place[side] = mem_array(count, sizeof *place);
	if (!is_whole)
		mg->marks[side] = mark_cells(mg->x, side, true);
	if (!place || (!is_whole && !mg->marks[side]))
		return false;
	memset(place, 0xff, count * sizeof *place);
	return true;
}

/* is_whole: all stacks, not only those with cells. */
static bool build(struct exec *x, const struct frame_groups *fg, struct merged *out, bool is_whole)
{
	size_t most = 0;
	for (size_t side = 0; side < (is_whole ? 1 : x->pl->side_count); side++)
		most += x->stacks[side]->count;
	struct merging mg = {
		.x = x,
		.fg = fg,
		.side_count = is_whole ? 1 : x->pl->side_count,
		.place = out->place,
		.tree = stacks_new(0, most < LIMIT_IDS - VNODE_FIRST ? most : 0, ENTRY_NONE),
		.seen_by = mem_zarray(fg->count, sizeof *mg.seen_by),
		.child_of = mem_array(fg->count, sizeof *mg.child_of),
	};
	out->tree = mg.tree;
	bool is_good = mg.tree && mg.seen_by && mg.child_of;
	for (size_t side = 0; is_good && side < mg.side_count; side++)
		is_good = places_init(&mg, side, is_whole);
	is_good = is_good && merge(&mg);
	merging_release(&mg);
	return is_good;
}

void merged_release(struct merged *m)
{
	if (!m->is_kept) {
		stacks_free(m->tree);
		mem_free(m->place[0]);
		mem_free(m->place[1]);
	}
	*m = (struct merged){.tree = NULL};
}

#define TREES_KEPT 2u /* besides a new one */

static void drop_trees(struct query_file *f)
{
	size_t kept = 0;
	for (size_t i = 0; i < GRANULES_KEPT; i++) {
		struct granule *gr = f->granules[i];
		if (gr && gr->tree && !gr->users && ++kept > TREES_KEPT)
			granule_drop_tree(gr);
	}
}

/*
 * The tree of the recorded stacks does not depend on the population: it is made once, whole,
 * and kept with the groups it is made of.
 */
static bool use_kept(struct exec *x, const struct frame_groups *fg, struct merged *out)
{
	struct granule *gr = fg->granule;
	struct query_file *f = x->pl->sides[0].file;
	if (!gr->tree) {
		drop_trees(f);
		if (!build(x, fg, out, true))
			return false;
		gr->tree = out->tree;
		gr->place = out->place[0];
	}
	*out = (struct merged){.tree = gr->tree, .place = {gr->place, gr->place}, .is_kept = true};
	return true;
}

#define KEPT_VNODES_MOST 4000000u /* larger ones are made anew: memory matters more */

enum neap_err tree_build(struct exec *x, const struct frame_groups *fg, struct merged *out)
{
	const struct plan *pl = x->pl;
	*out = (struct merged){.tree = NULL};
	bool is_keepable = fg->granule && !pl->is_two_files && !pl->transforms.count &&
			   !x->match[0] && x->stacks[0]->count < KEPT_VNODES_MOST;
	bool is_good = is_keepable ? use_kept(x, fg, out) : build(x, fg, out, false);
	if (is_good)
		return NEAP_OK;
	merged_release(out);
	return exec_no_memory(x);
}

/* ---- spaces ------------------------------------------------------------------------------ */

static void use_tree(struct exec *x, const struct frame_groups *fg, enum space_kind kind)
{
	struct space *sp = &x->space;
	sp->kind = kind;
	sp->tree = sp->merged.tree;
	sp->tree_groups = fg;
	sp->group_count = sp->tree->count;
	for (size_t side = 0; side < 2; side++) {
		sp->vnode_count[side] = sp->tree->count;
		sp->end[side] = kind == SPACE_TREE ? sp->tree->end : NULL;
	}
}

/* Cells move from the stacks to the tree. */
static void move_cells(struct exec *x, uint32_t *const place_of[2])
{
	for (size_t side = 0; side < x->pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			uint32_t *place = x->place[side][m];
			for (size_t i = 0; i < x->cells[side][m].count; i++)
				place[i] = place_of[side][place[i]];
		}
	}
}

static enum neap_err build_merged(struct exec *x, const struct frame_groups *fg,
				  enum space_kind kind)
{
	enum neap_err code = tree_build(x, fg, &x->space.merged);
	if (code)
		return code;
	move_cells(x, x->space.merged.place);
	use_tree(x, fg, kind);
	return NEAP_OK;
}

/* Stacks are told apart by function, file and line; by function if a line means little: between
 * two files, or where only names are shown. */
enum neap_err stack_groups_build(struct exec *x)
{
	static const struct plan_key keys[] = {
		{.kind = KEY_FIELD, .field = FIELD_FUNC, .is_frame = true},
		{.kind = KEY_FIELD, .field = FIELD_LINE, .is_frame = true},
	};
	bool is_rough = x->pl->is_two_files || x->pl->format == FORMAT_FOLDED;
	return frame_groups_build(x, keys, is_rough ? 1 : 2, &x->stack_frames);
}

enum neap_err space_build_stacks(struct exec *x)
{
	enum neap_err code = stack_groups_build(x);
	return code ? code : build_merged(x, &x->stack_frames, SPACE_FLAT);
}

enum neap_err space_build_tree(struct exec *x)
{
	enum neap_err code = frame_groups_build(x, x->pl->keys, x->pl->key_count, &x->frames);
	return code ? code : build_merged(x, &x->frames, SPACE_TREE);
}
