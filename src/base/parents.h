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

/* parents_chain - the first of the nodes up to this one that each come right after their parents: the others
 * follow one another down to `node`.  O(1) mostly. */
static inline uint32_t parents_chain(const struct parents *t, uint32_t node)
{
	size_t word = node / 64;
	uint64_t bits = word < t->others.word_count
				? t->others.words[word].bits & (UINT64_MAX >> (63 - node % 64))
				: 0;
	word = word < t->others.word_count ? word : t->others.word_count;
	while (!bits && word)
		bits = t->others.words[--word].bits;
	return bits ? (uint32_t)(word * 64 + 63 - (size_t)__builtin_clzll(bits)) : 0;
}

/* parents_end - in a tree in preorder, the first node after `node` that is not below it.
 * Cost: the nodes below it that do not come right after their parents. */
uint32_t parents_end(const struct parents *t, uint32_t node);

#endif
