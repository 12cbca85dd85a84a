/* Sorting of a snapshot's changes: by radix, since it happens a hundred times a second. */
#include "config.h"

#include "src/record/record_priv.h"

#include <string.h>

#define FEW 24u /* items up to which insertion is faster */

static void sort_few(struct sort_item *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct sort_item item = items[i];
		size_t at = i;
		for (; at && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* One pass over 8 bits; false if they are the same in all items and nothing was moved. */
static bool sort_digit(const struct sort_item *from, struct sort_item *to, size_t count,
		       unsigned shift)
{
	uint32_t start[256] = {0};
	for (size_t i = 0; i < count; i++)
		start[from[i].key >> shift & 255]++;
	if (start[from[0].key >> shift & 255] == count)
		return false;
	uint32_t sum = 0;
	for (unsigned d = 0; d < 256; d++) {
		uint32_t n = start[d];
		start[d] = sum;
		sum += n;
	}
	for (size_t i = 0; i < count; i++)
		to[start[from[i].key >> shift & 255]++] = from[i];
	return true;
}

void sort_items(struct sort_item *items, struct sort_item *tmp, size_t count)
{
	if (count <= FEW) {
		sort_few(items, count);
		return;
	}
	uint64_t used = 0;
	bool is_sorted = true;
	for (size_t i = 0; i < count; i++) {
		used |= items[i].key;
		is_sorted &= !i || items[i - 1].key <= items[i].key;
	}
	if (is_sorted)
		return;
	struct sort_item *from = items, *to = tmp;
	for (unsigned shift = 0; shift < 64 && used >> shift; shift += 8) {
		if (!sort_digit(from, to, count, shift))
			continue;
		struct sort_item *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof items[0]);
}
