/* See callers.h. */
#include "config.h"

#include "src/report/callers.h"

uint64_t caller_key(const struct graph_columns *c, entry_id entry)
{
	func_id func = c->entry_func[entry];
	return func ? func : 1ull << 32 | entry;
}

struct caller_walk caller_walk_init(const struct graph *g, node_id leaf_node)
{
	struct caller_walk w = {.walk = graph_walk_leaf(g, leaf_node)};
	w.pending = graph_walk_next(&w.walk);
	return w;
}

static entry_id next_visible(struct caller_walk *w, const struct graph_columns *c)
{
	entry_id entry;
	do
		entry = graph_walk_next(&w->walk);
	while (entry != ENTRY_NONE && c->func_is_wrapper[c->entry_func[entry]]);
	return entry;
}

bool caller_walk_next(struct caller_walk *w, const struct graph_columns *c, struct caller *out)
{
	if (w->pending == ENTRY_NONE)
		return false;
	*out = (struct caller){.entry = w->pending, .times = 1};
	uint64_t key = caller_key(c, w->pending);
	while ((w->pending = next_visible(w, c)) != ENTRY_NONE && caller_key(c, w->pending) == key)
		out->times++;
	return true;
}
