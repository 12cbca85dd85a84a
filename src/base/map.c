/* Hash map from uint64_t to uint32_t, and interned strings.  Linear probing; capacities are powers of two. */
#include "config.h"

#include "src/base/map.h"

#include <string.h>

#define FIRST_SLOTS ((size_t)16)

static uint64_t mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ (h >> 29);
}

/* Slot of key, or the free slot where it belongs; cap > count guarantees one. */
static struct map_slot *map_slot(struct map_slot *slots, size_t cap, uint64_t key)
{
	size_t i = mix(key) & (cap - 1);
	while (slots[i].value != MAP_ABSENT && slots[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

uint32_t map_find(const struct map *m, uint64_t key)
{
	return m->cap ? map_slot(m->slots, m->cap, key)->value : MAP_ABSENT;
}

void map_fetch(const struct map *m, uint64_t key)
{
	if (m->cap)
		__builtin_prefetch(&m->slots[mix(key) & (m->cap - 1)]);
}

static bool map_grow(struct map *m)
{
	size_t cap = m->cap ? m->cap * 2 : FIRST_SLOTS;
	struct map_slot *slots = mem_array(cap, sizeof *slots);
	if (!slots)
		return false;
	memset(slots, 0xff, cap * sizeof *slots); /* MAP_ABSENT everywhere */
	for (size_t i = 0; i < m->cap; i++) {
		if (m->slots[i].value != MAP_ABSENT)
			*map_slot(slots, cap, m->slots[i].key) = m->slots[i];
	}
	mem_free(m->slots);
	m->slots = slots;
	m->cap = cap;
	return true;
}

bool map_put(struct map *m, uint64_t key, uint32_t value)
{
	if (m->count >= m->cap / 4 * 3 && map_find(m, key) == MAP_ABSENT && !map_grow(m))
		return false;
	struct map_slot *slot = map_slot(m->slots, m->cap, key);
	m->count += slot->value == MAP_ABSENT;
	*slot = (struct map_slot){key, value};
	return true;
}

void map_clear(struct map *m)
{
	if (m->cap)
		memset(m->slots, 0xff, m->cap * sizeof *m->slots);
	m->count = 0;
}

void map_release(struct map *m)
{
	mem_free(m->slots);
	*m = (struct map){0};
}

/* ---- strings ---------------------------------------------------------------- */

static uint64_t hash_string(const char *s, size_t bytes)
{
	uint64_t h = mix(bytes + 0x51ed270b);
	for (; bytes >= 8; s += 8, bytes -= 8) {
		uint64_t word;
		memcpy(&word, s, 8);
		h = mix(h ^ word) * 0xff51afd7ed558ccdull;
	}
	uint64_t tail = 0;
	if (bytes)
		memcpy(&tail, s, bytes);
	return mix(mix(h ^ tail) * 0xff51afd7ed558ccdull);
}

/* Slot that holds the string, or the free one where it belongs. */
static size_t strtab_slot(const struct strtab *t, const char *s, size_t bytes)
{
	size_t mask = t->slot_count - 1;
	size_t i = hash_string(s, bytes) & mask;
	for (; t->slots[i]; i = (i + 1) & mask) {
		uint32_t id = t->slots[i] - 1;
		if (t->lengths[id] == bytes && (!bytes || !memcmp(t->strings[id], s, bytes)))
			break;
	}
	return i;
}

static bool strtab_grow_slots(struct strtab *t)
{
	size_t count = t->slot_count ? t->slot_count * 2 : FIRST_SLOTS;
	uint32_t *slots = mem_zarray(count, sizeof *slots);
	if (!slots)
		return false;
	mem_free(t->slots);
	t->slots = slots;
	t->slot_count = count;
	for (size_t id = 0; id < t->count; id++)
		t->slots[strtab_slot(t, t->strings[id], t->lengths[id])] = (uint32_t)id + 1;
	return true;
}

/* Room for one more entry in both columns, which share `cap`. */
static bool strtab_grow_entries(struct strtab *t)
{
	if (t->count < t->cap)
		return true;
	size_t strings_cap = t->cap, lengths_cap = t->cap;
	if (!vec_reserve((void **)&t->strings, &strings_cap, t->count + 1, sizeof *t->strings) ||
	    !vec_reserve((void **)&t->lengths, &lengths_cap, t->count + 1, sizeof *t->lengths))
		return false;
	t->cap = lengths_cap;
	return true;
}

uint32_t strtab_add(struct strtab *t, const char *s, size_t bytes)
{
	if (t->count >= t->slot_count / 4 * 3 && !strtab_grow_slots(t))
		return UINT32_MAX;
	size_t slot = strtab_slot(t, s, bytes);
	if (t->slots[slot])
		return t->slots[slot] - 1;
	if (bytes >= UINT32_MAX || t->count >= UINT32_MAX - 1 || !strtab_grow_entries(t))
		return UINT32_MAX;
	const char *copy = arena_strndup(&t->arena, s, bytes);
	if (!copy)
		return UINT32_MAX;
	t->strings[t->count] = copy;
	t->lengths[t->count] = (uint32_t)bytes;
	t->slots[slot] = (uint32_t)t->count + 1;
	return (uint32_t)t->count++;
}

uint32_t strtab_find(const struct strtab *t, const char *s, size_t bytes)
{
	if (!t->slot_count)
		return UINT32_MAX;
	/* A free slot holds 0, which gives the absent id. */
	return t->slots[strtab_slot(t, s, bytes)] - 1;
}

const char *strtab_get(const struct strtab *t, uint32_t id)
{
	return id < t->count ? t->strings[id] : NULL;
}

void strtab_release(struct strtab *t)
{
	arena_release(&t->arena);
	mem_free(t->strings);
	mem_free(t->lengths);
	mem_free(t->slots);
	*t = (struct strtab){0};
}
