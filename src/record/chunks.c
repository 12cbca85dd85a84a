/* Sparse arrays: the slow paths of chunks.h. */
#include "config.h"

#include "src/record/chunks.h"

#include <string.h>

void *chunks_grow(struct chunks *c, uint32_t idx)
{
	size_t i = idx >> CHUNK_ENTRIES_LG;
	if (i >= c->chunk_count) {
		if (!vec_reserve((void **)&c->chunk, &c->chunk_cap, i + 1, sizeof c->chunk[0]))
			return NULL;
		memset(c->chunk + c->chunk_count, 0, (i + 1 - c->chunk_count) * sizeof c->chunk[0]);
		c->chunk_count = i + 1;
	}
	if (!c->chunk[i])
		c->chunk[i] = mem_zarray(CHUNK_ENTRIES, c->elem_bytes);
	return chunks_find(c, idx);
}

void chunks_release(struct chunks *c)
{
	for (size_t i = 0; i < c->chunk_count; i++)
		mem_free(c->chunk[i]);
	mem_free(c->chunk);
	*c = (struct chunks){.elem_bytes = c->elem_bytes};
}
