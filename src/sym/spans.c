/*
 * Nested ranges to disjoint segments, by one sweep with a stack:
 *
 *   spans     |-------- f ---------|      |-- g --|
 *                  |-- a --|
 *                     |b|
 *   segments  | f  | a|b|a | f     | none | g     | none
 *
 * Ranges that overlap without nesting, which only broken input has, are fine:
 * the one that starts last wins until it ends.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <stdlib.h>

bool spans_add(struct span_list *l, uint64_t low_va, uint64_t high_va, uint32_t value)
{
	if (low_va >= high_va)
		return true;
	if (!vec_reserve((void **)&l->items, &l->cap, l->count + 1, sizeof *l->items))
		return false;
	l->items[l->count++] = (struct span){low_va, high_va, value};
	return true;
}

static int compare_spans(const void *pa, const void *pb)
{
	const struct span *a = pa, *b = pb;
	if (a->low_va != b->low_va)
		return a->low_va < b->low_va ? -1 : 1;
	if (a->high_va != b->high_va)
		return a->high_va > b->high_va ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* `value` holds from va on; a later entry for the same address replaces an earlier one. */
static bool put(struct segments *out, uint64_t va, uint32_t value)
{
	if (out->count && out->items[out->count - 1].low_va == va) {
		out->items[out->count - 1].value = value;
		return true;
	}
	if (out->count && out->items[out->count - 1].value == value)
		return true;
	if (!vec_reserve((void **)&out->items, &out->cap, out->count + 1, sizeof *out->items))
		return false;
	out->items[out->count++] = (struct segment){va, value};
	return true;
}

/* Ends everything on the stack that ends at or before va. */
static bool pop_until(struct segments *out, const struct span *spans, const uint32_t *stack,
		      size_t *top, uint64_t va)
{
	while (*top && spans[stack[*top - 1]].high_va <= va) {
		uint64_t ended_va = spans[stack[--*top]].high_va;
		/* whatever lies below may have ended under it */
		while (*top && spans[stack[*top - 1]].high_va <= ended_va)
			--*top;
		uint32_t below = *top ? spans[stack[*top - 1]].value : SYM_NONE;
		if (!put(out, ended_va, below))
			return false;
	}
	return true;
}

bool spans_flatten(struct span_list *l, struct segments *out)
{
	*out = (struct segments){0};
	uint32_t *stack = mem_array(l->count, sizeof *stack);
	if (!stack)
		return false;
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, compare_spans);
	size_t top = 0;
	bool is_ok = true;
	for (size_t i = 0; is_ok && i < l->count; i++) {
		is_ok = pop_until(out, l->items, stack, &top, l->items[i].low_va) &&
			put(out, l->items[i].low_va, l->items[i].value);
		stack[top++] = (uint32_t)i;
	}
	is_ok = is_ok && pop_until(out, l->items, stack, &top, UINT64_MAX);
	mem_free(stack);
	if (!is_ok)
		segments_release(out);
	return is_ok;
}

uint32_t segments_find(const struct segments *s, uint64_t va)
{
	size_t low = 0, high = s->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (s->items[mid].low_va <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? s->items[low - 1].value : SYM_NONE;
}

void segments_release(struct segments *s)
{
	mem_free(s->items);
	*s = (struct segments){0};
}
