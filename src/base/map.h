/*
 * Hash map from uint64_t to uint32_t, and a table of interned strings.
 * Open addressing, linear probing; grows at 3/4; iteration order is not defined.
 */
#ifndef NEAP_BASE_MAP_H
#define NEAP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"

#define MAP_ABSENT UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t value; /* MAP_ABSENT: free slot; so MAP_ABSENT cannot be stored */
};
/* Zero-initialised is empty. */
struct map {
	struct map_slot *slots;
	size_t count, cap;
};
uint32_t map_find(const struct map *m, uint64_t key);      /* MAP_ABSENT if not there */
bool map_put(struct map *m, uint64_t key, uint32_t value); /* false: out of memory */
void map_fetch(const struct map *m, uint64_t key);         /* it will be looked for soon */
void map_clear(struct map *m);
void map_release(struct map *m);

/*
 * struct strtab - each distinct string gets the next id, from 0.  Strings are kept
 * NUL-terminated and stay where they are until release.  Zero-initialised is empty.
 */
struct strtab {
	struct arena arena;
	const char **strings;
	uint32_t *lengths;
	size_t count, cap;
	uint32_t *slots; /* id + 1; 0 = free */
	size_t slot_count;
};
/* strtab_add - id of the string (pointer, length); UINT32_MAX if memory runs out. */
uint32_t strtab_add(struct strtab *t, const char *s, size_t bytes);
/* strtab_find - id, or UINT32_MAX if it was never added. */
uint32_t strtab_find(const struct strtab *t, const char *s, size_t bytes);
/* strtab_get - the string of an id; NULL if there is none. */
const char *strtab_get(const struct strtab *t, uint32_t id);
void strtab_release(struct strtab *t);

#endif
