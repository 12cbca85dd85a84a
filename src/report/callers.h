/*
 * A stack as a person would tell it: from the leaf outwards, without allocation
 * wrappers, a function that calls itself told once.
 */
#ifndef NEAP_REPORT_CALLERS_H
#define NEAP_REPORT_CALLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/graph/graph.h"

#define CALLERS_NEAREST 3u /* callers that tell one call path from another */

struct caller {
	entry_id entry; /* innermost of them */
	uint32_t times; /* entries in a row of the same function */
};

struct caller_walk {
	struct graph_walk walk;
	entry_id pending; /* read but not told; ENTRY_NONE: the end */
};
struct caller_walk caller_walk_init(const struct graph *g, node_id leaf_node);
/* caller_walk_next - the leaf first; false at the end.  c are the columns of the graph. */
bool caller_walk_next(struct caller_walk *w, const struct graph_columns *c, struct caller *out);
/* caller_key - equal for entries of one function, and for one address without a function. */
uint64_t caller_key(const struct graph_columns *c, entry_id entry);

#endif
