/*
 * Sparse arrays indexed by the ids of a region: chunks of zeroed entries, made
 * when first touched, that never move.  As many chunks as lie in the first two MiB
 * are made one by one, and all further ones by the two MiB (mem_huge_alloc).
 */
#ifndef NEAP_RECORD_CHUNKS_H
#define NEAP_RECORD_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"

#define CHUNK_ENTRIES_LG 12
#define CHUNK_ENTRIES    (1u << CHUNK_ENTRIES_LG)

/* elem_bytes is set by the owner; the rest is zero when empty. */
struct chunks {
	size_t elem_bytes;
	void **chunk; /* NULL: nothing there yet */
	size_t chunk_count, chunk_cap;
};

void *chunks_grow(struct chunks *c, uint32_t idx);
void chunks_release(struct chunks *c); /* keeps elem_bytes */

/* chunks_find - the entry, or NULL if its chunk was never touched. */
static inline void *chunks_find(const struct chunks *c, uint32_t idx)
{
	size_t i = idx >> CHUNK_ENTRIES_LG;
	if (i >= c->chunk_count || !c->chunk[i])
		return NULL;
	return (char *)c->chunk[i] + (idx & (CHUNK_ENTRIES - 1)) * c->elem_bytes;
}

/* chunks_at - the entry, made if need be; NULL if memory runs out. */
static inline void *chunks_at(struct chunks *c, uint32_t idx)
{
	void *entry = chunks_find(c, idx);
	return entry ? entry : chunks_grow(c, idx);
}

#endif
