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

void parents_release(struct parents *t)
{
	rowset_release(&t->others);
	narrow_release(&t->parent);
	*t = (struct parents){0};
}
