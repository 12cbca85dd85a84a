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

/* A tree that grows child by child; entry[] of its vnodes are groups of frames. */
struct growing {
	struct stacks *tree;
	struct map children; /* parent and group -> vnode */
};

static uint32_t child_of(struct growing *gr, uint32_t parent, uint32_t group)
{
	uint64_t key = (uint64_t)parent << 32 | group;
	uint32_t v = map_find(&gr->children, key);
	if (v != MAP_ABSENT)
		return v;
	v = stacks_add(gr->tree, parent, group);
	if (v == VNODE_NONE || !map_put(&gr->children, key, v))
		return VNODE_NONE;
	return v;
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

static bool merge_side(struct exec *x, struct growing *gr, const struct frame_groups *fg,
		       size_t side, uint32_t *place)
{
	const struct stacks *s = x->stacks[side];
	const uint32_t *match = x->match[side];
	uint8_t *marks = mark_cells(x, side, true);
	bool is_good = marks;
	place[VNODE_ROOT] = VNODE_ROOT;
	for (uint32_t v = 1; is_good && v < s->count; v++) {
		place[v] = VNODE_NONE;
		if (!marks[v] || (match && match[v] == VNODE_NONE))
			continue;
		uint32_t parent = match && match[v] == v ? VNODE_ROOT : place[s->parent[v]];
		place[v] = child_of(gr, parent, fg->group[side][s->entry[v]]);
		is_good = place[v] != VNODE_NONE;
	}
	mem_free(marks);
	return is_good;
}

static bool growing_init(struct growing *gr)
{
	*gr = (struct growing){.tree = stacks_new(0, 0, ENTRY_NONE)};
	return gr->tree;
}

static void growing_release(struct growing *gr)
{
	map_release(&gr->children);
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

enum neap_err tree_build(struct exec *x, const struct frame_groups *fg, struct stacks **out,
			 uint32_t *place_out[2])
{
	struct growing gr;
	size_t counts[2] = {0, 0};
	bool is_good = growing_init(&gr);
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		counts[side] = x->stacks[side]->count;
		place_out[side] = mem_array(counts[side], sizeof *place_out[side]);
		is_good = place_out[side] && merge_side(x, &gr, fg, side, place_out[side]);
	}
	if (is_good)
		is_good = growing_close(&gr, out, place_out, counts, x->pl->side_count);
	growing_release(&gr);
	return is_good ? NEAP_OK : exec_no_memory(x);
}

/* ---- spaces ------------------------------------------------------------------------------ */

static void use_tree(struct exec *x, const struct frame_groups *fg, enum space_kind kind)
{
	struct space *sp = &x->space;
	sp->kind = kind;
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
	uint32_t *place_of[2] = {NULL, NULL};
	enum neap_err code = tree_build(x, fg, &x->space.tree, place_of);
	if (!code) {
		move_cells(x, place_of);
		use_tree(x, fg, kind);
	}
	mem_free(place_of[0]);
	mem_free(place_of[1]);
	return code;
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
