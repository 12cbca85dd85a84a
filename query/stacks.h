/* Building trees of frames: the recorded stacks, and what stages and views make of them. */
#ifndef NEAP_QUERY_STACKS_H
#define NEAP_QUERY_STACKS_H

#include "query/plan.h"

/* stacks_new - VNODE_ROOT and VNODE_NO_STACK, with room for more, and for sites; NULL: no memory. */
struct stacks *stacks_new(size_t site_count, size_t vnode_count, entry_id no_stack);
/* stacks_reserve - room for so many vnodes; false: no memory. */
bool stacks_reserve(struct stacks *s, size_t count);

/* stacks_add - a vnode; parents come first.  VNODE_NONE: no memory. */
static inline uint32_t stacks_add(struct stacks *s, uint32_t parent, entry_id entry)
{
	if (s->count == s->cap && !stacks_reserve(s, s->count + 1))
		return VNODE_NONE;
	uint32_t v = (uint32_t)s->count++;
	s->parent[v] = parent;
	s->entry[v] = entry;
	return v;
}

/* stacks_add_next - the same in preorder: what is not above the new vnode ends before it.  Ends are right
 * when stacks_close was called. */
static inline uint32_t stacks_add_next(struct stacks *s, uint32_t parent, entry_id entry)
{
	uint32_t before = (uint32_t)s->count - 1, v = stacks_add(s, parent, entry);
	for (; v != VNODE_NONE && before != parent; before = s->parent[before])
		s->end[before] = v;
	return v;
}

void stacks_close(struct stacks *s);
/* stacks_reorder - put a tree in preorder, with its ends; the new vnode of each old one, for the
 * caller to free and to move inner and leaf by; NULL: no memory.  The two fixed ones stay. */
uint32_t *stacks_reorder(struct stacks *s);

/*
 * stacks_transform - the stacks after hide, zoom, trim and collapse (transform.c).
 *   *out is f->stacks if there is none of these stages, else the caller's (stacks_free).
 */
enum neap_err stacks_transform(struct where *w, struct query_file *f, const struct stacks **out,
			       struct stacks **owned_out);

#endif
