/* Parents of nodes, where most need not be stored. */
#include "config.h"

#include "src/base/parents.h"

bool parents_append(struct parents *t, const uint32_t *parents, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t node = t->count + i;
		uint64_t parent = parents[i];
		if (node == parent + 1)
			continue;
		if (!rowset_add(&t->others, node) || !narrow_append(&t->parent, &parent, 1))
			return false;
	}
	t->count += count;
	return true;
}

bool parents_reorder(struct parents *t, const uint32_t *place)
{
	struct parents moved = {.count = t->count};
	if (!rowset_begin(&moved.others, t->count))
		return false;
	for (uint32_t i = 0; i < t->count; i++) {
		if (place[i] != place[parents_of(t, i)] + 1)
			rowset_mark(&moved.others, place[i]);
	}
	rowset_number(&moved.others);
	bool is_good = narrow_append_zeros(&moved.parent, moved.others.count) &&
		       narrow_widen(&moved.parent, t->count);
	for (uint32_t i = 0; is_good && i < t->count; i++) {
		size_t at = rowset_find(&moved.others, place[i]);
		is_good = at == SIZE_MAX || narrow_set(&moved.parent, at, place[parents_of(t, i)]);
	}
	parents_release(t);
	*t = moved;
	return is_good;
}

uint32_t parents_end(const struct parents *t, uint32_t node)
{
	size_t word = ((size_t)node + 1) / 64;
	if (word >= t->others.word_count)
		return (uint32_t)t->count;
	uint64_t before = (UINT64_C(1) << ((node + 1) % 64)) - 1;
	uint64_t bits = t->others.words[word].bits;
	size_t at = t->others.words[word].before_count + bits_count(bits & before);
	bits &= ~before;
	for (;; at++, bits &= bits - 1) {
		while (!bits) {
			if (++word == t->others.word_count)
				return (uint32_t)t->count;
			bits = t->others.words[word].bits;
		}
		if (narrow_get(&t->parent, at) < node)
			return (uint32_t)(word * 64 + (size_t)__builtin_ctzll(bits));
	}
}

void parents_release(struct parents *t)
{
	rowset_release(&t->others);
	narrow_release(&t->parent);
	*t = (struct parents){0};
}
