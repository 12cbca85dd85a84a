/* Narrow columns and sets of rows. */
#include "config.h"

#include "src/base/narrow.h"

#include <assert.h>

#include "src/base/mem.h"

#define NARROW_3_MAX 0xffffffu

static uint32_t width_for(uint64_t value)
{
	if (!value)
		return 0;
	if (value <= UINT8_MAX)
		return 1;
	if (value <= UINT16_MAX)
		return 2;
	if (value <= NARROW_3_MAX)
		return 3;
	return value <= UINT32_MAX ? 4 : 8;
}

static inline void put(void *data, uint32_t width_bytes, size_t row, uint64_t value)
{
	char *at = data ? (char *)data + row * width_bytes : NULL; /* zeros take no room */
	uint16_t low = htole16((uint16_t)value);
	uint32_t word = htole32((uint32_t)value);
	switch (width_bytes) {
	case 1:
		*at = (char)value;
		break;
	case 2:
		memcpy(at, &low, sizeof low);
		break;
	case 3:
		memcpy(at, &low, sizeof low);
		at[2] = (char)(value >> 16);
		break;
	case 4:
		memcpy(at, &word, sizeof word);
		break;
	case 8:
		((uint64_t *)data)[row] = value;
		break;
	default:
		break;
	}
}

#define ROWS_BEHIND 3u /* narrow_get may read three bytes too much */

static void *room_for(size_t rows, uint32_t width_bytes)
{
	return mem_array(rows + ROWS_BEHIND, width_bytes);
}

static void set_data(struct narrow *c, void *data, size_t cap, uint32_t width_bytes)
{
	mem_free(c->data);
	c->data = data;
	c->cap = cap;
	c->width_bytes = width_bytes;
	c->mask = width_bytes < sizeof c->mask ? (UINT32_C(1) << 8 * width_bytes) - 1 : UINT32_MAX;
}

/* To a larger width, with room for `need` rows. */
static bool convert(struct narrow *c, uint32_t width_bytes, size_t need)
{
	size_t cap = need > c->cap ? need : c->cap;
	void *data = room_for(cap, width_bytes);
	if (!data)
		return false;
	for (size_t i = 0; i < c->count; i++)
		put(data, width_bytes, i, narrow_get(c, i));
	set_data(c, data, cap, width_bytes);
	return true;
}

static bool make_room(struct narrow *c, uint32_t width_bytes, size_t need)
{
	if (width_bytes > c->width_bytes)
		return convert(c, width_bytes, need);
	size_t cap = c->cap + ROWS_BEHIND;
	if (!c->width_bytes || need <= c->cap)
		return true;
	if (!vec_reserve(&c->data, &cap, need + ROWS_BEHIND, c->width_bytes))
		return false;
	c->cap = cap - ROWS_BEHIND;
	return true;
}

/* A loop of each width of its own, which the compiler makes fast. */
static inline __attribute__((always_inline)) void put_all(struct narrow *c, uint32_t width_bytes,
							  const uint64_t *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put(c->data, width_bytes, c->count + i, values[i]);
}

static void copy_in(struct narrow *c, const uint64_t *values, size_t count)
{
	switch (c->width_bytes) {
	case 1:
		put_all(c, 1, values, count);
		break;
	case 2:
		put_all(c, 2, values, count);
		break;
	case 3:
		put_all(c, 3, values, count);
		break;
	case 4:
		put_all(c, 4, values, count);
		break;
	default:
		put_all(c, c->width_bytes, values, count);
		break;
	}
}

bool narrow_append(struct narrow *c, const uint64_t *values, size_t count)
{
	uint64_t any = 0; /* as wide as the widest */
	for (size_t i = 0; i < count; i++)
		any |= values[i];
	if (!make_room(c, width_for(any), c->count + count))
		return false;
	copy_in(c, values, count);
	c->count += count;
	return true;
}

bool narrow_append_zeros(struct narrow *c, size_t count)
{
	if (!make_room(c, 0, c->count + count))
		return false;
	if (c->width_bytes && count)
		memset((char *)c->data + c->count * c->width_bytes, 0, count * c->width_bytes);
	c->count += count;
	return true;
}

bool narrow_widen(struct narrow *c, uint64_t most)
{
	return make_room(c, width_for(most), c->count);
}

bool narrow_set(struct narrow *c, size_t row, uint64_t value)
{
	assert(row < c->count);
	if (width_for(value) > c->width_bytes && !narrow_widen(c, value))
		return false;
	put(c->data, c->width_bytes, row, value);
	return true;
}

bool narrow_reorder(struct narrow *c, const uint32_t *place)
{
	if (!c->width_bytes)
		return true;
	void *data = room_for(c->count, c->width_bytes);
	if (!data)
		return false;
	for (size_t i = 0; i < c->count; i++)
		put(data, c->width_bytes, place[i], narrow_get(c, i));
	set_data(c, data, c->count, c->width_bytes);
	return true;
}

void narrow_cut(struct narrow *c, size_t count)
{
	assert(count <= c->count);
	c->count = count;
}

void narrow_release(struct narrow *c)
{
	mem_free(c->data);
	*c = (struct narrow){0};
}

/* ---- sets of rows -------------------------------------------------------------------- */

bool rowset_add(struct rowset *s, size_t row)
{
	size_t word = row / 64;
	if (!vec_reserve((void **)&s->words, &s->word_cap, word + 1, sizeof *s->words))
		return false;
	for (; s->word_count <= word; s->word_count++)
		s->words[s->word_count] = (struct rowset_word){.before_count = (uint32_t)s->count};
	assert(word + 1 == s->word_count && !(s->words[word].bits >> (row % 64)));
	s->words[word].bits |= 1ull << (row % 64);
	s->count++;
	return true;
}

bool rowset_begin(struct rowset *s, size_t row_count)
{
	s->word_count = s->word_cap = row_count / 64 + 1;
	s->words = mem_zarray(s->word_count, sizeof *s->words);
	return s->words;
}

void rowset_number(struct rowset *s)
{
	s->count = 0;
	for (size_t w = 0; w < s->word_count; w++) {
		s->words[w].before_count = (uint32_t)s->count;
		s->count += bits_count(s->words[w].bits);
	}
}

void rowset_release(struct rowset *s)
{
	mem_free(s->words);
	*s = (struct rowset){0};
}
