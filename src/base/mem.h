/*
 * All heap memory of the analysis side comes from here, so that a test can make
 * the n-th allocation fail.  Functions return NULL when memory runs out; nothing
 * here prints or exits.  Sizes that overflow count as out of memory.
 *
 * Blocks of a MiB and more that were freed are kept for the next request of their size, as long
 * as they are not more than those in use.  Any thread.
 */
#ifndef NEAP_BASE_MEM_H
#define NEAP_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t bytes);
void *mem_zalloc(size_t bytes);
void *mem_array(size_t count, size_t elem_bytes);  /* uninitialised */
void *mem_zarray(size_t count, size_t elem_bytes); /* zeroed */
void *mem_realloc_array(void *p, size_t count, size_t elem_bytes);
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t bytes);
void mem_free(void *p); /* NULL is fine */

/*
 * mem_huge_alloc - MEM_HUGE_BYTES zeroed bytes of a mapping of their own, in one large page if the
 * system has any: then one page fault instead of 512, and nothing to clear by hand.
 */
#define MEM_HUGE_BYTES ((size_t)2 << 20)
void *mem_huge_alloc(void);
void mem_huge_free(void *p); /* NULL is fine */

/* mem_fail_at - make allocation number n from now (1 = the next) return NULL; 0 = never. */
void mem_fail_at(uint64_t n);
/* mem_count - allocations since the program started. */
uint64_t mem_count(void);

/*
 * vec_reserve - make room for `need` elements in a growing array.
 *
 *   data      address of the array's pointer; *data may be NULL
 *   cap       its capacity in elements; doubled as needed
 * Returns false if memory runs out; the array is then unchanged.
 * Use:  if (!vec_reserve((void **)&v->items, &v->cap, v->count + 1, sizeof v->items[0])) ...
 */
bool vec_grow(void **data, size_t *cap, size_t need, size_t elem_bytes);
static inline bool vec_reserve(void **data, size_t *cap, size_t need, size_t elem_bytes)
{
	return need <= *cap || vec_grow(data, cap, need, elem_bytes);
}

/*
 * struct arena - memory freed all at once.  Zero-initialised is empty.
 * arena_release frees everything and leaves it empty again.  Not thread-safe.
 */
struct arena_block;
struct arena {
	struct arena_block *head;
	size_t used_bytes, cap_bytes; /* of the head block */
	size_t total_bytes;           /* handed out in all */
};
void *arena_alloc(struct arena *a, size_t bytes); /* 16-byte aligned, uninitialised; NULL */
void *arena_zalloc(struct arena *a, size_t bytes);
void *arena_array(struct arena *a, size_t count, size_t elem_bytes); /* zeroed */
char *arena_strndup(struct arena *a, const char *s, size_t bytes);
void arena_release(struct arena *a);

#endif
