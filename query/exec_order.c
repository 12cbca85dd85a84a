/*
 * The order of stacks: by the names of their frames, outermost first; what others begin with comes before
 * them.  That is the preorder of their tree with the children of each vnode by name:
 *
 *   main             0
 *   main > a         1
 *   main > a > z     2
 *   main > b         3
 *
 * Few stacks are compared mostly, and these from where they part.  Only when that has looked at as many vnodes as
 * the tree has is it put in order: deep stacks, of which all are equal but for their depth, would take for ever.
 */
#include "config.h"

#include "query/exec.h"

#include <stdlib.h>
#include <string.h>

void stack_order_release(struct stack_order *o)
{
	mem_free(o->rank);
	*o = (struct stack_order){.tree = NULL};
}

/* Two children of one vnode. */
static int compare_siblings(const void *a_vnode, const void *b_vnode, void *arg)
{
	struct exec *x = arg;
	const struct stacks *s = x->stack_order.tree;
	const struct frame_groups *fg = &x->stack_frames;
	entry_id a = s->entry[*(const uint32_t *)a_vnode], b = s->entry[*(const uint32_t *)b_vnode];
	const struct group *ga = &fg->groups[a], *gb = &fg->groups[b];
	const char *an = file_entry_name(x->pl->sides[ga->side].file, ga->entry);
	const char *bn = file_entry_name(x->pl->sides[gb->side].file, gb->entry);
	int order = an && bn ? strcmp(an, bn) : 0;
	return order ? order : (a > b) - (a < b);
}

/* ---- one by one -------------------------------------------------------------------------------- */

static uint32_t depth_of(const struct stacks *s, uint32_t v)
{
	uint32_t depth = 0;
	for (; v != VNODE_ROOT; v = s->parent[v])
		depth++;
	return depth;
}

static int compare_from_the_leaf(struct exec *x, uint32_t a, uint32_t b)
{
	const struct stacks *s = x->stack_order.tree;
	uint32_t a_depth = depth_of(s, a), b_depth = depth_of(s, b);
	int shorter = (a_depth > b_depth) - (a_depth < b_depth);
	x->stack_order.looked_at += (uint64_t)a_depth + b_depth;
	for (; a_depth > b_depth; a_depth--)
		a = s->parent[a];
	for (; b_depth > a_depth; b_depth--)
		b = s->parent[b];
	if (a == b)
		return shorter;
	while (s->parent[a] != s->parent[b]) {
		a = s->parent[a];
		b = s->parent[b];
	}
	return compare_siblings(&a, &b, x);
}

/* ---- all of them ------------------------------------------------------------------------------ */

/* Vnodes that have no rank yet, the next one last. */
struct pending {
	uint32_t *vnodes;
	size_t count;
};

/* The children of a vnode, the first by name last.  There is room for all vnodes. */
static void push_children(struct exec *x, uint32_t v, struct pending *todo)
{
	const struct stacks *s = x->stack_order.tree;
	size_t first = todo->count;
	for (uint32_t c = v + 1; c < s->end[v]; c = s->end[c]) {
		if (s->entry[c] != ENTRY_NONE) /* VNODE_NO_STACK, which is in no merged tree */
			todo->vnodes[todo->count++] = c;
	}
	size_t count = todo->count - first;
	qsort_r(todo->vnodes + first, count, sizeof *todo->vnodes, compare_siblings, x);
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t moved = todo->vnodes[first + i];
		todo->vnodes[first + i] = todo->vnodes[todo->count - 1 - i];
		todo->vnodes[todo->count - 1 - i] = moved;
	}
}

/* false: no memory, or cancelled. */
static bool make_ranks(struct exec *x)
{
	struct stack_order *o = &x->stack_order;
	struct pending todo = {.vnodes = mem_array(o->tree->count, sizeof *todo.vnodes)};
	o->rank = mem_zarray(o->tree->count, sizeof *o->rank);
	bool is_good = todo.vnodes && o->rank;
	if (is_good)
		todo.vnodes[todo.count++] = VNODE_ROOT;
	for (uint32_t rank = 0; is_good && todo.count; rank++) {
		uint32_t v = todo.vnodes[--todo.count];
		o->rank[v] = rank;
		push_children(x, v, &todo);
		is_good = !exec_polls(x, rank);
	}
	mem_free(todo.vnodes);
	if (!is_good) {
		mem_free(o->rank);
		o->rank = NULL;
	}
	return is_good;
}

int stack_order_compare(struct exec *x, const struct stacks *tree, uint32_t a, uint32_t b)
{
	struct stack_order *o = &x->stack_order;
	if (o->tree != tree) {
		stack_order_release(o);
		o->tree = tree;
	}
	bool is_worth_it = o->looked_at > tree->count || frames_as_if_large(x);
	if (!o->rank && is_worth_it && !o->has_failed)
		o->has_failed = !make_ranks(x);
	if (!o->rank)
		return compare_from_the_leaf(x, a, b);
	return (o->rank[a] > o->rank[b]) - (o->rank[a] < o->rank[b]);
}
