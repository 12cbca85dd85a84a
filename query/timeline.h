/*
 * The inside of timelines: sums by step and class (exec_time.c), and the rows made of them
 * (exec_classes.c).
 *
 *   step    equal parts of the window; never more than snapshots in it
 *   class   a group of the keys of `by`, index in the space of the query; without `by` there is
 *           one class for everything
 */
#ifndef NEAP_QUERY_TIMELINE_H
#define NEAP_QUERY_TIMELINE_H

#include "query/exec.h"

/* Those classes of each step that have anything, one step after the other. */
struct step_sums {
	size_t *first; /* [step_count + 1] */
	uint32_t *class;
	struct graph_sum *value;
	size_t class_cap, value_cap;
	struct graph_sum *mean; /* [mean_count]: by class, over all of the window; NULL: that of
				      the steps.  Classes that came later have nothing here. */
	size_t mean_count;
};

struct timeline {
	struct exec *x;
	size_t step_count;
	struct step_sums sums[2][MEASURE_COUNT];
};

/* timeline_ends - the end of a step, on the side that gives rows their times. */
uint64_t timeline_ends(const struct timeline *t, size_t step);
/* timeline_is_level - is a measure what is there at the end of a step?  Else what happened in it. */
bool timeline_is_level(const struct timeline *t, size_t side, size_t m);

/* timeline_gather - rows: by time, and all classes of each step in the same order; those that the
 * stages on rows cut are one more.  Fails: ERR_LIMIT if these are too many. */
enum neap_err timeline_gather(struct timeline *t, struct gathered *to);

#endif
