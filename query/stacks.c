/*
 * The call tree with a vnode per frame.
 *
 *   node main      vnode main                      VNODE_ROOT
 *   `- node f+g    `- vnode f       (f inlined g)  |- VNODE_NO_STACK
 *      |              `- vnode g                   `- main ...
 *      `- node h         `- vnode h
 *
 * Vnodes are in preorder: subtrees are contiguous, which makes "is it below" a comparison and a
 * total a difference of two prefix sums.
 */
#include "config.h"

#include "query/exec.h"

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

bool stacks_reserve(struct stacks *s, size_t count)
{
	size_t parent_cap = s->cap, end_cap = s->cap, entry_cap = s->cap;
	if (count <= s->cap)
		return true;
	if (count >= LIMIT_IDS ||
	    !vec_reserve((void **)&s->parent, &parent_cap, count, sizeof *s->parent) ||
	    !vec_reserve((void **)&s->end, &end_cap, count, sizeof *s->end) ||
	    !vec_reserve((void **)&s->entry, &entry_cap, count, sizeof *s->entry))
		return false;
	s->cap = parent_cap;
	return true;
}

struct stacks *stacks_new(size_t site_count, size_t vnode_count, entry_id no_stack)
{
	struct stacks *s = mem_zalloc(sizeof *s);
	if (!s)
		return NULL;
	s->inner = mem_array(site_count, sizeof *s->inner);
	s->leaf = mem_array(site_count, sizeof *s->leaf);
	if (!s->inner || !s->leaf || !stacks_reserve(s, vnode_count + VNODE_FIRST)) {
		stacks_free(s);
		return NULL;
	}
	stacks_add(s, VNODE_ROOT, ENTRY_NONE);
	stacks_add_next(s, VNODE_ROOT, no_stack);
	return s;
}

void stacks_close(struct stacks *s)
{
	for (uint32_t v = (uint32_t)s->count - 1; v != VNODE_ROOT; v = s->parent[v])
		s->end[v] = (uint32_t)s->count;
	s->end[VNODE_ROOT] = (uint32_t)s->count;
}

/* ---- the recorded stacks -------------------------------------------------------------- */

/* Only fixed nodes have none of their own. */
static inline uint32_t frame_of(const struct query_file *f, node_id n)
{
	frame_id frame = profile_node_frame(f->p, n);
	return frame ? frame : graph_frame_of_node(f->g, n);
}

/* SIZE_MAX: cancelled. */
static size_t count_vnodes(struct exec *x, const struct query_file *f)
{
	size_t count = VNODE_FIRST;
	for (node_id n = PROFILE_NODE_SIGNAL; n < f->p->node_count; n++) {
		uint32_t frame = frame_of(f, n);
		count += f->columns.first_entry[frame + 1] - f->columns.first_entry[frame];
		if (exec_polls(x, n))
			return SIZE_MAX;
	}
	return count;
}

/* Frames of a node, outermost first, below a vnode; returns the innermost. */
static uint32_t add_node(const struct query_file *f, struct stacks *s, node_id n, uint32_t above)
{
	uint32_t frame = frame_of(f, n), v = above;
	for (entry_id i = f->columns.first_entry[frame + 1]; i-- > f->columns.first_entry[frame];)
		v = stacks_add_next(s, v, i);
	return v;
}

/* inner: by node, its innermost vnode.  false: cancelled. */
static bool add_nodes(struct exec *x, const struct query_file *f, struct stacks *s, uint32_t *inner)
{
	const struct profile *p = f->p;
	node_id fixed = PROFILE_NODE_ROOT;
	inner[PROFILE_NODE_ROOT] = VNODE_ROOT;
	for (node_id n = PROFILE_NODE_FIRST; n <= p->node_count; n++) {
		node_id parent =
			n < p->node_count ? profile_node_parent(p, n) : PROFILE_NODE_TRUNCATED;
		/* A fixed node is laid out before what is below it. */
		while (parent < PROFILE_NODE_FIRST && fixed < parent) {
			fixed++;
			inner[fixed] = add_node(f, s, fixed, VNODE_ROOT);
		}
		if (n < p->node_count)
			inner[n] = add_node(f, s, n, inner[parent]);
		if (exec_polls(x, n))
			return false;
	}
	stacks_close(s);
	return true;
}

/* Its entries are a chain that ends with the innermost, which is the first. */
static uint32_t leaf_of(const struct query_file *f, const uint32_t *inner, node_id n)
{
	node_id leaf = graph_leaf_node(f->g, n);
	return inner[leaf] -
	       (graph_leaf_entry(f->g, leaf) - f->columns.first_entry[frame_of(f, leaf)]);
}

static bool fill_sites(struct exec *x, const struct query_file *f, struct stacks *s,
		       const uint32_t *inner)
{
	for (size_t i = 0; i < f->p->site_count; i++) {
		node_id n = profile_site_node(f->p, i);
		bool has_stack = n >= PROFILE_NODE_SIGNAL;
		s->inner[i] = has_stack ? inner[n] : VNODE_NO_STACK;
		s->leaf[i] = has_stack ? leaf_of(f, inner, n) : VNODE_NO_STACK;
		if (exec_polls(x, i))
			return false;
	}
	return true;
}

/* NULL: no memory, or cancelled. */
static struct stacks *build_recorded(struct exec *x, const struct query_file *f)
{
	size_t count = count_vnodes(x, f);
	uint32_t *inner = mem_array(f->p->node_count, sizeof *inner);
	struct stacks *s = NULL;
	if (inner && count < LIMIT_IDS)
		s = stacks_new(f->p->site_count, count - VNODE_FIRST,
			       graph_leaf_entry(f->g, PROFILE_NODE_ROOT));
	if (s && (!add_nodes(x, f, s, inner) || !fill_sites(x, f, s, inner))) {
		stacks_free(s);
		s = NULL;
	}
	mem_free(inner);
	return s;
}

enum neap_err file_need_stacks(struct exec *x, struct query_file *f)
{
	if (!f->stacks)
		f->stacks = build_recorded(x, f);
	return f->stacks ? NEAP_OK : exec_no_memory(x);
}

static void make_depths(struct query_file *f)
{
	const struct stacks *s = f->stacks;
	f->depth = mem_array(s->count, sizeof *f->depth);
	if (!f->depth)
		return;
	f->depth[VNODE_ROOT] = 0;
	for (size_t v = 1; v < s->count; v++)
		f->depth[v] = f->depth[s->parent[v]] + 1;
}

uint32_t file_depth(struct query_file *f, uint32_t v)
{
	uint32_t depth = 0;
	if (!f->depth)
		make_depths(f);
	if (f->depth)
		return f->depth[v];
	for (; v != VNODE_ROOT; v = f->stacks->parent[v]) /* without memory: slower */
		depth++;
	return depth;
}

/* ---- putting any tree in preorder -------------------------------------------------------- */

/* By old vnode: how many vnodes are at and below it; when it has its place, where its next child goes. */
static void find_places(const struct stacks *s, uint32_t *next, uint32_t *place, struct stacks *to)
{
	for (size_t v = s->count; v-- > 1;) {
		next[v]++;
		next[s->parent[v]] += next[v];
	}
	place[VNODE_ROOT] = VNODE_ROOT;
	to->end[VNODE_ROOT] = (uint32_t)s->count;
	next[VNODE_ROOT] = VNODE_NO_STACK;
	for (uint32_t v = 1; v < s->count; v++) {
		uint32_t parent = s->parent[v], at = next[parent];
		place[v] = at;
		next[parent] += next[v];
		to->parent[at] = place[parent];
		to->entry[at] = s->entry[v];
		to->end[at] = next[parent];
		next[v] = at + 1;
	}
	to->count = s->count;
}

uint32_t *stacks_reorder(struct stacks *s)
{
	struct stacks to = *s, was = *s;
	uint32_t *next = mem_zarray(s->count, sizeof *next);
	uint32_t *place = mem_array(s->count, sizeof *place);
	to.parent = mem_array(s->cap, sizeof *to.parent);
	to.entry = mem_array(s->cap, sizeof *to.entry);
	bool is_done = next && place && to.parent && to.entry;
	if (is_done) {
		to.parent[VNODE_ROOT] = VNODE_ROOT;
		to.entry[VNODE_ROOT] = s->entry[VNODE_ROOT];
		find_places(s, next, place, &to);
		*s = to;
	}
	mem_free(next);
	mem_free(is_done ? was.parent : to.parent);
	mem_free(is_done ? was.entry : to.entry);
	if (!is_done) {
		mem_free(place);
		place = NULL;
	}
	return place;
}
