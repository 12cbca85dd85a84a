/*
 * What stands between a function and the allocator: wrappers such as operator new, which the leaf of
 * a stack passes over.
 */
#ifndef NEAP_TUI_THROUGH_H
#define NEAP_TUI_THROUGH_H

#include "src/graph/graph.h"
#include "src/report/name.h"

/* What was found last, for the function that was asked for. */
struct through {
	const struct graph *graph; /* NULL: nothing was */
	func_id func;
	entry_id entry;
	struct buf text;
};

/*
 * through_text - "malloc <- operator new", several ways with ", " between them, of all blocks whose
 * leaf is this function; "" if there is none, or no memory.  Valid until the next call.
 * Cost: linear in sites, if another function was asked for before.
 */
const char *through_text(struct through *t, const struct graph *g, struct shortener *names,
			 const struct graph_frame *f, bool is_utf8);
void through_release(struct through *t);

#endif
