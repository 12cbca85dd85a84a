/* Sparse arrays: the slow paths of chunks.h. */
#include "config.h"

#include "src/record/chunks.h"

#include <stdbool.h>
#include <string.h>

/* Whole chunks in MEM_HUGE_BYTES; if not even one fits, all are made one by one. */
static size_t per_block(const struct chunks *c)
{
	size_t chunk_bytes = CHUNK_ENTRIES * c->elem_bytes;
	return chunk_bytes && chunk_bytes <= MEM_HUGE_BYTES ? MEM_HUGE_BYTES / chunk_bytes
							    : SIZE_MAX;
}

static bool list_chunks(struct chunks *c, size_t count)
{
	if (!vec_reserve((void **)&c->chunk, &c->chunk_cap, count, sizeof c->chunk[0]))
		return false;
	memset(c->chunk + c->chunk_count, 0, (count - c->chunk_count) * sizeof c->chunk[0]);
	c->chunk_count = count;
	return true;
}

static bool make_one(struct chunks *c, size_t i)
{
	c->chunk[i] = mem_zarray(CHUNK_ENTRIES, c->elem_bytes);
	return c->chunk[i] != NULL;
}

/* All chunks of the block that holds chunk i. */
static bool make_block(struct chunks *c, size_t i)
{
	size_t per = per_block(c), first = i - i % per;
	if (c->chunk_count < first + per && !list_chunks(c, first + per))
		return false;
	char *block = mem_huge_alloc();
	for (size_t k = 0; block && k < per; k++)
		c->chunk[first + k] = block + k * CHUNK_ENTRIES * c->elem_bytes;
	return block != NULL;
}

void *chunks_grow(struct chunks *c, uint32_t idx)
{
	size_t i = idx >> CHUNK_ENTRIES_LG;
	if (i >= c->chunk_count && !list_chunks(c, i + 1))
		return NULL;
	if (!c->chunk[i] && !(i < per_block(c) ? make_one(c, i) : make_block(c, i)))
		return NULL;
	return chunks_find(c, idx);
}

void chunks_release(struct chunks *c)
{
	size_t per = per_block(c);
	for (size_t i = 0; i < c->chunk_count && i < per; i++)
		mem_free(c->chunk[i]);
	for (size_t i = per; i < c->chunk_count; i += per)
		mem_huge_free(c->chunk[i]);
	mem_free(c->chunk);
	*c = (struct chunks){.elem_bytes = c->elem_bytes};
}
