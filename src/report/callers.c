/* See callers.h. */
#include "config.h"

#include "src/report/callers.h"

uint64_t caller_key(const struct graph *g, entry_id entry)
{
	struct graph_frame f = graph_entry(g, entry);
	return f.func ? f.func : 1ull << 32 | entry;
}

struct caller_walk caller_walk_init(const struct graph *g, node_id leaf_node)
{
	struct caller_walk w = {.g = g, .walk = graph_walk_leaf(g, leaf_node)};
	w.pending = graph_walk_next(&w.walk);
	return w;
}

static entry_id next_visible(struct caller_walk *w)
{
	entry_id entry;
	do
		entry = graph_walk_next(&w->walk);
	while (entry != ENTRY_NONE && graph_entry(w->g, entry).is_wrapper);
	return entry;
}

bool caller_walk_next(struct caller_walk *w, struct caller *out)
{
	if (w->pending == ENTRY_NONE)
		return false;
	*out = (struct caller){.entry = w->pending, .times = 1};
	uint64_t key = caller_key(w->g, w->pending);
	while ((w->pending = next_visible(w)) != ENTRY_NONE && caller_key(w->g, w->pending) == key)
		out->times++;
	return true;
}
