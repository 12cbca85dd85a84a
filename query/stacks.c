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

/* While they are built, by node. */
struct recorded {
	const struct query_file *f;
	/* Of a node that is not laid out yet: how many vnodes are at and below it.  Then its innermost
	 * vnode, whose end is where the next child goes: when all are laid out, it ends there. */
	uint32_t *inner;
	uint32_t *leaf;
};

/* Nodes with a frame are nearly all. */
static inline uint32_t frame_of(const struct query_file *f, node_id n)
{
	frame_id frame = profile_node_frame(f->p, n);
	return n >= PROFILE_NODE_FIRST && frame ? frame : graph_frame_of_node(f->g, n);
}

static uint32_t frames_of(const struct query_file *f, node_id n)
{
	uint32_t frame = frame_of(f, n);
	return f->columns.first_entry[frame + 1] - f->columns.first_entry[frame];
}

/* Sizes flow up, from the last node to the first; returns how many vnodes there are in all. */
static size_t find_sizes(struct recorded *r)
{
	const struct profile *p = r->f->p;
	size_t all = VNODE_FIRST;
	for (node_id n = (node_id)p->node_count; n-- > PROFILE_NODE_SIGNAL;) {
		uint32_t frames = frames_of(r->f, n);
		r->inner[n] += frames;
		all += frames;
		if (n >= PROFILE_NODE_FIRST)
			r->inner[profile_node_parent(p, n)] += r->inner[n];
	}
	return all;
}

/*
 * Frames of a node are a chain, outermost first, with all that is below the node below the last:
 * so they all end where the node does.
 */
static void fill_node(struct recorded *r, struct stacks *s, node_id n)
{
	const struct query_file *f = r->f;
	const struct graph_columns *c = &f->columns;
	node_id above = n < PROFILE_NODE_FIRST ? PROFILE_NODE_ROOT : profile_node_parent(f->p, n);
	uint32_t at = above == PROFILE_NODE_ROOT ? VNODE_ROOT : r->inner[above];
	uint32_t frame = frame_of(f, n);
	uint32_t v = s->end[at], end = v + r->inner[n];
	entry_id leaf = c->leaf_entry[frame];
	bool has_leaf = leaf != ENTRY_NONE || above < PROFILE_NODE_FIRST;
	if (has_leaf && leaf == ENTRY_NONE) /* wrappers only: the outermost */
		leaf = c->first_entry[frame + 1] - 1;
	s->end[at] = end;
	for (entry_id i = c->first_entry[frame + 1]; i-- > c->first_entry[frame]; v++) {
		s->parent[v] = at;
		s->entry[v] = i;
		s->end[v] = end;
		if (i == leaf)
			r->leaf[n] = v;
		at = v;
	}
	s->end[at] = v;
	r->inner[n] = at;
	if (!has_leaf)
		r->leaf[n] = r->leaf[above];
}

static void fill_sites(const struct recorded *r, struct stacks *s)
{
	const struct profile *p = r->f->p;
	for (size_t i = 0; i < p->site_count; i++) {
		node_id n = profile_site_node(p, i);
		s->inner[i] = n < PROFILE_NODE_SIGNAL ? VNODE_NO_STACK : r->inner[n];
		s->leaf[i] = n < PROFILE_NODE_SIGNAL ? VNODE_NO_STACK : r->leaf[n];
	}
}

static struct stacks *build_recorded(struct recorded *r)
{
	const struct query_file *f = r->f;
	size_t node_count = f->p->node_count;
	r->inner = mem_zarray(node_count, sizeof *r->inner);
	r->leaf = mem_array(node_count, sizeof *r->leaf);
	size_t count = r->inner && r->leaf ? find_sizes(r) : LIMIT_IDS;
	struct stacks *s = NULL;
	if (count < LIMIT_IDS)
		s = stacks_new(f->p->site_count, count - VNODE_FIRST,
			       graph_leaf_entry(f->g, PROFILE_NODE_ROOT));
	if (!s)
		return NULL;
	s->count = count;
	s->end[VNODE_ROOT] = s->end[VNODE_NO_STACK] = VNODE_FIRST;
	for (node_id n = PROFILE_NODE_SIGNAL; n < node_count; n++)
		fill_node(r, s, n);
	fill_sites(r, s);
	return s;
}

enum neap_err file_need_stacks(struct query_file *f, struct err *e)
{
	if (f->stacks)
		return NEAP_OK;
	struct recorded r = {.f = f};
	f->stacks = build_recorded(&r);
	mem_free(r.inner);
	mem_free(r.leaf);
	return f->stacks ? NEAP_OK : err_nomem(e, "the call tree");
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
