/* Narrow columns and sets of rows. */
#include "config.h"

#include "src/base/narrow.h"

#include <assert.h>
#include <string.h>

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

static inline void put_3(uint8_t *at, uint64_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
	at[2] = (uint8_t)(value >> 16);
}

static void put(void *data, uint32_t width_bytes, size_t row, uint64_t value)
{
	switch (width_bytes) {
	case 1:
		((uint8_t *)data)[row] = (uint8_t)value;
		break;
	case 2:
		((uint16_t *)data)[row] = (uint16_t)value;
		break;
	case 3:
		put_3((uint8_t *)data + row * 3, value);
		break;
	case 4:
		((uint32_t *)data)[row] = (uint32_t)value;
		break;
	case 8:
		((uint64_t *)data)[row] = value;
		break;
	default: /* zero, which takes no room */
		break;
	}
}

/* To a larger width, with room for `need` rows. */
static bool convert(struct narrow *c, uint32_t width_bytes, size_t need)
{
	size_t cap = need > c->cap ? need : c->cap;
	void *data = mem_array(cap, width_bytes);
	if (!data)
		return false;
	for (size_t i = 0; i < c->count; i++)
		put(data, width_bytes, i, narrow_get(c, i));
	mem_free(c->data);
	c->data = data;
	c->cap = cap;
	c->width_bytes = width_bytes;
	return true;
}

static bool make_room(struct narrow *c, uint32_t width_bytes, size_t need)
{
	if (width_bytes > c->width_bytes)
		return convert(c, width_bytes, need);
	return !c->width_bytes || vec_reserve(&c->data, &c->cap, need, c->width_bytes);
}

/* Loops of their own, which the compiler makes fast. */
static void copy_in(struct narrow *c, const uint64_t *values, size_t count)
{
	uint8_t *at_1 = c->data;
	uint16_t *at_2 = c->data;
	uint32_t *at_4 = c->data;
	size_t first = c->count;
	if (c->width_bytes == 1)
		for (size_t i = 0; i < count; i++)
			at_1[first + i] = (uint8_t)values[i];
	else if (c->width_bytes == 2)
		for (size_t i = 0; i < count; i++)
			at_2[first + i] = (uint16_t)values[i];
	else if (c->width_bytes == 3)
		for (size_t i = 0; i < count; i++)
			put_3(at_1 + (first + i) * 3, values[i]);
	else if (c->width_bytes == 4)
		for (size_t i = 0; i < count; i++)
			at_4[first + i] = (uint32_t)values[i];
	else if (c->width_bytes == 8 && count)
		memcpy((uint64_t *)c->data + first, values, count * sizeof *values);
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
	void *data = mem_array(c->count, c->width_bytes);
	if (!data)
		return false;
	const uint16_t *from_2 = c->data;
	for (size_t i = 0; i < c->count && c->width_bytes == 2; i++)
		((uint16_t *)data)[place[i]] = from_2[i];
	for (size_t i = 0; i < c->count && c->width_bytes != 2; i++)
		put(data, c->width_bytes, place[i], narrow_get(c, i));
	mem_free(c->data);
	c->data = data;
	c->cap = c->count;
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
		s->count += (size_t)__builtin_popcountll(s->words[w].bits);
	}
}

void rowset_release(struct rowset *s)
{
	mem_free(s->words);
	*s = (struct rowset){0};
}
