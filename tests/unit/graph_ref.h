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
/* Name of the leaf of n's stack: innermost that is no wrapper, else outermost; NULL: no name. */
const char *ref_leaf(const struct profile *p, node_id n, bool (*is_wrapper)(const char *));

#endif
