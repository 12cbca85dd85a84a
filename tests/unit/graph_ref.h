/*
 * The slow, obvious counterpart of src/graph: every value from the raw columns of a
 * profile by nested loops, one block group at a time.  Names are compared as text.
 */
#ifndef NEAP_TESTS_UNIT_GRAPH_REF_H
#define NEAP_TESTS_UNIT_GRAPH_REF_H

#include "src/graph/graph.h"

/* Value of one cohort (index from 0) by the formulas of graph.h. */
struct graph_sum ref_cohort(const struct profile *p, enum graph_pop pop, struct graph_window w,
			    size_t cohort_idx);
/* Is `above` on the way from n to its root (n itself included)? */
bool ref_is_below(const struct profile *p, node_id n, node_id above);
/* Number of frames whose function is called name, on the stack of n. */
size_t ref_count_on_stack(const struct profile *p, node_id n, const char *name);
/* Has the stack of n a frame in the module of this path (NULL: in no module)?  The roots of
 * signals and truncated stacks are frames in no module; an ordinary root counts if it is all. */
bool ref_is_in_module(const struct profile *p, node_id n, const char *path);
/* Name of the leaf of n's stack: innermost that is no wrapper, else outermost; NULL: no name. */
const char *ref_leaf(const struct profile *p, node_id n, bool (*is_wrapper)(const char *));

#endif
