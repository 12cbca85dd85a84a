/*
 * The call tree with a vnode per frame.
 *
 *   node main      vnode main                      VNODE_ROOT
 *   `- node f+g    `- vnode f       (f inlined g)  |- VNODE_NO_STACK
 *      |              `- vnode g                   `- main ...
 *      `- node h         `- vnode h
 *
 * The graph's preorder keeps subtrees contiguous, and so do the vnodes made in that order.
 * For a set of vnodes this makes "is it below" a comparison and a total a difference of two
 * prefix sums.
 */
#include "config.h"

#include "query/plan.h"

#include "query/stacks.h"
#include "src/base/limits.h"

#include <string.h>

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	mem_free(s->parent);
	mem_free(s->end);
	mem_free(s->entry);
	mem_free(s->inner);
	mem_free(s->leaf);
	mem_free(s);
}

static bool reserve(struct stacks *s, size_t need)
{
	size_t parent_cap = s->cap, end_cap = s->cap, entry_cap = s->cap;
	if (need <= s->cap)
		return true;
	if (need >= LIMIT_IDS ||
	    !vec_reserve((void **)&s->parent, &parent_cap, need, sizeof *s->parent) ||
	    !vec_reserve((void **)&s->end, &end_cap, need, sizeof *s->end) ||
	    !vec_reserve((void **)&s->entry, &entry_cap, need, sizeof *s->entry))
		return false;
	s->cap = parent_cap;
	return true;
}

uint32_t stacks_add(struct stacks *s, uint32_t parent, entry_id entry)
{
	if (!reserve(s, s->count + 1))
		return VNODE_NONE;
	uint32_t v = (uint32_t)s->count++;
	s->parent[v] = parent;
	s->entry[v] = entry;
	return v;
}

struct stacks *stacks_new(size_t node_count, size_t vnode_count, entry_id no_stack)
{
	struct stacks *s = mem_zalloc(sizeof *s);
	if (!s)
		return NULL;
	s->inner = mem_array(node_count, sizeof *s->inner);
	s->leaf = mem_array(node_count, sizeof *s->leaf);
	if (!s->inner || !s->leaf || !reserve(s, vnode_count + VNODE_FIRST)) {
		stacks_free(s);
		return NULL;
	}
	/* Nodes that nobody asks for must not point anywhere. */
	for (size_t n = 0; n < node_count; n++)
		s->inner[n] = s->leaf[n] = VNODE_NO_STACK;
	stacks_add(s, VNODE_ROOT, ENTRY_NONE);
	stacks_add(s, VNODE_ROOT, no_stack);
	return s;
}

/* Sizes of subtrees flow up, from the last vnode to the first. */
void stacks_close(struct stacks *s)
{
	for (size_t v = 0; v < s->count; v++)
		s->end[v] = (uint32_t)v + 1;
	for (size_t v = s->count; v-- > 1;) {
		uint32_t parent = s->parent[v];
		if (s->end[parent] < s->end[v])
			s->end[parent] = s->end[v];
	}
}

/* The frames of one node, outermost first, below those of its parent. */
static bool add_node(struct query_file *f, struct stacks *s, node_id n)
{
	const struct graph_columns *c = &f->columns;
	uint32_t frame = graph_frame_of_node(f->g, n);
	uint32_t at = n < PROFILE_NODE_FIRST || f->p->node_parent[n] == PROFILE_NODE_ROOT
			      ? VNODE_ROOT
			      : s->inner[f->p->node_parent[n]];
	bool has_leaf = c->leaf_node[n] == n;
	entry_id leaf = has_leaf ? graph_leaf_entry(f->g, n) : ENTRY_NONE;
	for (entry_id i = c->first_entry[frame + 1]; i-- > c->first_entry[frame];) {
		at = stacks_add(s, at, i);
		if (at == VNODE_NONE)
			return false;
		if (i == leaf)
			s->leaf[n] = at;
	}
	s->inner[n] = at;
	if (!has_leaf)
		s->leaf[n] = s->leaf[c->leaf_node[n]];
	return true;
}

enum neap_err file_need_stacks(struct query_file *f, struct err *e)
{
	if (f->stacks)
		return NEAP_OK;
	enum neap_err code = graph_need_tree(f->g, e);
	if (code)
		return code;
	f->columns = graph_columns(f->g);
	const struct graph_columns *c = &f->columns;
	entry_id no_stack = graph_leaf_entry(f->g, PROFILE_NODE_ROOT);
	struct stacks *s = stacks_new(f->p->node_count, c->preorder_count, no_stack);
	bool is_done = s;
	for (size_t i = 0; is_done && i < c->preorder_count; i++) {
		if (c->preorder[i] != PROFILE_NODE_ROOT)
			is_done = add_node(f, s, c->preorder[i]);
	}
	uint32_t *depth = is_done ? mem_zarray(s->count, sizeof *depth) : NULL;
	if (!depth) {
		stacks_free(s);
		return err_nomem(e, "the call tree");
	}
	for (size_t v = 1; v < s->count; v++)
		depth[v] = depth[s->parent[v]] + 1;
	stacks_close(s);
	f->stacks = s;
	f->depth = depth;
	return NEAP_OK;
}

/* ---- putting any tree in preorder -------------------------------------------------------- */

struct reorder {
	uint32_t *size, *cursor, *place; /* by old vnode */
};

static void find_places(const struct stacks *s, struct reorder *r)
{
	for (size_t v = s->count; v-- > 0;) {
		r->size[v]++;
		if (v != VNODE_ROOT)
			r->size[s->parent[v]] += r->size[v];
	}
	r->place[VNODE_ROOT] = VNODE_ROOT;
	r->cursor[VNODE_ROOT] = VNODE_NO_STACK;
	for (uint32_t v = 1; v < s->count; v++) {
		uint32_t *next = &r->cursor[s->parent[v]];
		r->place[v] = *next;
		*next += r->size[v];
		r->cursor[v] = r->place[v] + 1;
	}
}

static bool move_columns(struct stacks *s, const uint32_t *place)
{
	uint32_t *parent = mem_array(s->cap, sizeof *parent);
	entry_id *entry = mem_array(s->cap, sizeof *entry);
	if (!parent || !entry) {
		mem_free(parent);
		mem_free(entry);
		return false;
	}
	for (size_t v = 0; v < s->count; v++) {
		parent[place[v]] = place[s->parent[v]];
		entry[place[v]] = s->entry[v];
	}
	mem_free(s->parent);
	mem_free(s->entry);
	s->parent = parent;
	s->entry = entry;
	return true;
}

uint32_t *stacks_reorder(struct stacks *s)
{
	struct reorder r = {
		.size = mem_zarray(s->count, sizeof *r.size),
		.cursor = mem_zarray(s->count, sizeof *r.cursor),
		.place = mem_array(s->count, sizeof *r.place),
	};
	bool is_done = r.size && r.cursor && r.place;
	if (is_done) {
		find_places(s, &r);
		is_done = move_columns(s, r.place);
	}
	mem_free(r.size);
	mem_free(r.cursor);
	if (!is_done) {
		mem_free(r.place);
		return NULL;
	}
	stacks_close(s);
	return r.place;
}
