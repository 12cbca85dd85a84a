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

#include <string.h>

/*
 * A tree that grows child by child; entry[] of its vnodes are groups of frames.  Most vnodes have
 * few children, which are looked through; the children of the others are in a map.
 */
struct growing {
	struct stacks *tree;
	struct siblings {
		uint32_t first, next; /* VNODE_NONE: none */
		uint32_t count;       /* of children */
	} * of;                       /* by vnode */
	size_t cap;
	struct map children; /* parent and group -> vnode */
};

#define LISTED_MOST 8u /* children; then they are in the map */

static uint64_t child_key(uint32_t parent, uint32_t group)
{
	return (uint64_t)parent << 32 | group;
}

static uint32_t find_child(const struct growing *gr, uint32_t parent, uint32_t group)
{
	const struct siblings *of = gr->of;
	if (of[parent].count > LISTED_MOST) {
		uint32_t v = map_find(&gr->children, child_key(parent, group));
		return v == MAP_ABSENT ? VNODE_NONE : v;
	}
	uint32_t v = of[parent].first;
	while (v != VNODE_NONE && gr->tree->entry[v] != group)
		v = of[v].next;
	return v;
}

/* Into the map: the new child, or all of them if it is the first too many. */
static bool map_children(struct growing *gr, uint32_t parent)
{
	const struct siblings *of = gr->of;
	bool is_good = true;
	if (of[parent].count <= LISTED_MOST)
		return true;
	uint32_t v = of[parent].first;
	do {
		is_good = map_put(&gr->children, child_key(parent, gr->tree->entry[v]), v);
		v = of[v].next;
	} while (is_good && v != VNODE_NONE && of[parent].count == LISTED_MOST + 1);
	return is_good;
}

static uint32_t add_child(struct growing *gr, uint32_t parent, uint32_t group)
{
	uint32_t v = stacks_add(gr->tree, parent, group);
	if (v == VNODE_NONE ||
	    !vec_reserve((void **)&gr->of, &gr->cap, gr->tree->count, sizeof *gr->of))
		return VNODE_NONE;
	gr->of[v] = (struct siblings){.first = VNODE_NONE, .next = gr->of[parent].first};
	gr->of[parent].first = v;
	gr->of[parent].count++;
	return map_children(gr, parent) ? v : VNODE_NONE;
}

static uint32_t child_of(struct growing *gr, uint32_t parent, uint32_t group)
{
	uint32_t v = find_child(gr, parent, group);
	return v != VNODE_NONE ? v : add_child(gr, parent, group);
}

uint8_t *mark_cells(const struct exec *x, size_t side, bool upwards)
{
	const struct stacks *s = x->stacks[side];
	uint8_t *marks = mem_zarray(s->count, 1);
	if (!marks)
		return NULL;
	for (size_t m = 0; m < MEASURE_COUNT; m++) {
		for (size_t i = 0; i < x->cells[side][m].count; i++)
			marks[x->place[side][m][i]] = 1;
	}
	for (size_t v = s->count; upwards && v-- > 1;)
		marks[s->parent[v]] |= marks[v];
	return marks;
}

/* is_whole: all stacks, not only those with cells. */
static bool merge_side(struct exec *x, struct growing *gr, const struct frame_groups *fg,
		       size_t side, uint32_t *place, bool is_whole)
{
	const struct stacks *s = x->stacks[side];
	const uint32_t *match = x->match[side];
	uint8_t *marks = is_whole ? NULL : mark_cells(x, side, true);
	bool is_good = marks || is_whole;
	place[VNODE_ROOT] = VNODE_ROOT;
	for (uint32_t v = 1; is_good && v < s->count; v++) {
		place[v] = VNODE_NONE;
		if ((marks && !marks[v]) || (match && match[v] == VNODE_NONE))
			continue;
		uint32_t parent = match && match[v] == v ? VNODE_ROOT : place[s->parent[v]];
		place[v] = child_of(gr, parent, fg->group[side][s->entry[v]]);
		is_good = place[v] != VNODE_NONE;
	}
	mem_free(marks);
	return is_good;
}

/* Room for as many vnodes as there can be. */
static bool growing_init(struct growing *gr, size_t vnode_count)
{
	*gr = (struct growing){.tree = stacks_new(0, vnode_count, ENTRY_NONE)};
	if (!gr->tree || !vec_reserve((void **)&gr->of, &gr->cap, gr->tree->cap, sizeof *gr->of))
		return false;
	for (uint32_t v = 0; v < gr->tree->count; v++)
		gr->of[v] = (struct siblings){.first = VNODE_NONE, .next = VNODE_NONE};
	return true;
}

static void growing_release(struct growing *gr)
{
	map_release(&gr->children);
	mem_free(gr->of);
	stacks_free(gr->tree);
}

/* Put it in preorder, and move what points into it. */
static bool growing_close(struct growing *gr, struct stacks **out, uint32_t *const *arrays,
			  const size_t *counts, size_t array_count)
{
	uint32_t *moved = stacks_reorder(gr->tree);
	if (!moved)
		return false;
	for (size_t k = 0; k < array_count; k++) {
		for (size_t i = 0; i < counts[k]; i++) {
			if (arrays[k][i] != VNODE_NONE)
				arrays[k][i] = moved[arrays[k][i]];
		}
	}
	mem_free(moved);
	*out = gr->tree;
	gr->tree = NULL;
	return true;
}

static bool build(struct exec *x, const struct frame_groups *fg, struct merged *out, bool is_whole)
{
	struct growing gr;
	size_t counts[2] = {0, 0};
	size_t sides = is_whole ? 1 : x->pl->side_count;
	bool is_good = growing_init(&gr, is_whole ? x->stacks[0]->count : 0);
	for (size_t side = 0; is_good && side < sides; side++) {
		counts[side] = x->stacks[side]->count;
		out->place[side] = mem_array(counts[side], sizeof *out->place[side]);
		is_good = out->place[side] &&
			  merge_side(x, &gr, fg, side, out->place[side], is_whole);
	}
	if (is_good)
		is_good = growing_close(&gr, &out->tree, out->place, counts, sides);
	growing_release(&gr);
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

/* Cells move from the stacks to the tree; their leaf is where they are. */
static void move_cells(struct exec *x, uint32_t *const place_of[2])
{
	for (size_t side = 0; side < x->pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			uint32_t *place = x->place[side][m];
			for (size_t i = 0; i < x->cells[side][m].count; i++) {
				place[i] = place_of[side][place[i]];
				x->self[side][m][i] = place[i];
			}
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
