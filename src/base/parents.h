/*
 * The parent of each node of a tree whose nodes mostly come right after their parents.
 *
 * Only parents of the other nodes are stored: two bits a node, and as many bytes as a number needs
 * for each of these.  Nodes count from 0.  Zero-initialised is empty.
 */
#ifndef NEAP_BASE_PARENTS_H
#define NEAP_BASE_PARENTS_H

#include "src/base/narrow.h"

struct parents {
	size_t count; /* nodes */
	struct rowset others;
	struct narrow parent; /* of these, in their order */
};

/* parents_append - of the next nodes; false: out of memory, and it may only be released. */
bool parents_append(struct parents *t, const uint32_t *parents, size_t count);
/* parents_reorder - node i becomes node place[i], each another one; false: as above. */
bool parents_reorder(struct parents *t, const uint32_t *place);
void parents_release(struct parents *t);

/* parents_of - of a node; O(1). */
static inline uint32_t parents_of(const struct parents *t, uint32_t node)
{
	size_t at = rowset_find(&t->others, node);
	return at == SIZE_MAX ? node - 1 : (uint32_t)narrow_get(&t->parent, at);
}

#endif
