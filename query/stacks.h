/* Building trees of frames: the recorded stacks, and what stages and views make of them. */
#ifndef NEAP_QUERY_STACKS_H
#define NEAP_QUERY_STACKS_H

#include "query/plan.h"

/* stacks_new - VNODE_ROOT and VNODE_NO_STACK, with room for more, and for sites; NULL: no memory. */
struct stacks *stacks_new(size_t site_count, size_t vnode_count, entry_id no_stack);
/* stacks_add - a vnode; parents come first.  VNODE_NONE: no memory. */
uint32_t stacks_add(struct stacks *s, uint32_t parent, entry_id entry);
/* stacks_add_next - the same in preorder.  Ends are right when stacks_close was called. */
uint32_t stacks_add_next(struct stacks *s, uint32_t parent, entry_id entry);
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
