/*
 * Columns of whole numbers that take no more room than they need, and sets of rows.
 *
 * A column is as wide as its largest number: 0 (all are zero), 1, 2, 3, 4 or 8 bytes a
 * row.  One that does not fit widens it.  Rows count from 0.  Zero-initialised is empty.
 */
#ifndef NEAP_BASE_NARROW_H
#define NEAP_BASE_NARROW_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct narrow {
	void *data;           /* little-endian */
	size_t count, cap;    /* rows; cap: at this width */
	uint32_t width_bytes; /* of a row */
	uint32_t mask;        /* of a number, up to 4 bytes */
};

/* Up to 4 bytes without a branch for each width: what is read too much is masked, and there is room for it. */
static inline uint64_t narrow_get(const struct narrow *c, size_t row)
{
	uint32_t number;
	if (c->width_bytes - 1 >= sizeof number)
		return c->width_bytes ? ((const uint64_t *)c->data)[row] : 0;
	memcpy(&number, (const char *)c->data + row * c->width_bytes, sizeof number);
	return le32toh(number) & c->mask;
}
/* narrow_fetch - bring a row near, which will be asked for soon. */
static inline void narrow_fetch(const struct narrow *c, size_t row)
{
	if (c->data)
		__builtin_prefetch((const char *)c->data + row * c->width_bytes);
}

/* Each: false: out of memory; the rows are then as they were. */
bool narrow_append(struct narrow *c, const uint64_t *values, size_t count);
bool narrow_append_zeros(struct narrow *c, size_t count);
bool narrow_set(struct narrow *c, size_t row, uint64_t value); /* row < count */
/* narrow_widen - make it at least as wide as `most` needs, so that setting up to that cannot fail. */
bool narrow_widen(struct narrow *c, uint64_t most);
/* narrow_reorder - row i goes to place[i], each row to another one; false: no memory, nothing is done. */
bool narrow_reorder(struct narrow *c, const uint32_t *place);
/* narrow_cut - drop the last rows; count is at most what it has. */
void narrow_cut(struct narrow *c, size_t count);
void narrow_release(struct narrow *c);

/* bits_count - how many are set; without the instruction for it, which not every machine has, it would be a call. */
static inline uint32_t bits_count(uint64_t w)
{
	w -= w >> 1 & 0x5555555555555555u;
	w = (w & 0x3333333333333333u) + (w >> 2 & 0x3333333333333333u);
	w = (w + (w >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(w * 0x0101010101010101u >> 56);
}

/*
 * struct rowset - a set of rows, each with its place among those of the set: 2 bits for each row up
 * to the last.  Rows are added in ascending order.
 */
struct rowset_word {
	uint64_t bits;
	uint32_t before_count; /* rows of the set in earlier words */
};
struct rowset {
	struct rowset_word *words;
	size_t word_count, word_cap;
	size_t count;
};
/* rowset_add - a row after all that are there; false: out of memory. */
bool rowset_add(struct rowset *s, size_t row);
/* Or in any order: rowset_begin an empty one for rows less than row_count (false: out of memory), rowset_mark
 * each, and rowset_number them before anything else is done with it. */
bool rowset_begin(struct rowset *s, size_t row_count);
static inline void rowset_mark(struct rowset *s, size_t row)
{
	s->words[row / 64].bits |= 1ull << (row % 64);
}
void rowset_number(struct rowset *s);
/* rowset_find - its place, from 0; SIZE_MAX if it is not there. */
static inline size_t rowset_find(const struct rowset *s, size_t row)
{
	size_t word = row / 64;
	uint64_t bit = 1ull << (row % 64);
	if (word >= s->word_count || !(s->words[word].bits & bit))
		return SIZE_MAX;
	return s->words[word].before_count + bits_count(s->words[word].bits & (bit - 1));
}
void rowset_release(struct rowset *s);

#endif
