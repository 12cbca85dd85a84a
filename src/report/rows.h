/*
 * Rows of the report: blocks gathered by the place that asked for them, which is the
 * leaf frame (the innermost that is no allocation wrapper) with function and line, and by the
 * function of the allocator that it called.  They are the rows of a query.
 */
#ifndef NEAP_REPORT_ROWS_H
#define NEAP_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/graph/graph.h"
#include "src/report/answer.h"
#include "src/report/callers.h"

enum row_key {
	ROW_BYTES,
	ROW_BLOCKS,
};

#define ROW_ANY_API (-1)

struct row {
	entry_id entry;    /* one frame of the place */
	int api;           /* enum profile_api; ROW_ANY_API: not told apart */
	bool shares_place; /* with another row, from which only api tells it */
	struct graph_sum sum;
	/* Filled by paths_choose: */
	uint32_t path_count; /* call paths (leaf nodes) that hold anything */
	node_id path;        /* leaf node of the call path to show */
	node_id inner;       /* below path, through wrappers: where the allocator was called */
	struct graph_sum
		through[CALLERS_NEAREST]; /* of sum: through caller 1, 1 and 2, all three */
};

/* Owned by the caller; zero-initialised is empty. */
struct rows {
	struct row *rows; /* [count], as the query ordered them */
	size_t count;
	size_t other_count; /* rows that `top` cut */
	struct graph_sum other, total;
};
void rows_release(struct rows *r);

/*
 * rows_take - the rows of an answer by func, line and perhaps api.
 * Fails: ERR_NOMEM; *out is then empty.
 */
enum neap_err rows_take(const struct answer *a, struct rows *out, struct err *e);

/* row_value - the number that a key sorts by. */
int64_t row_value(struct graph_sum sum, enum row_key key);
/* row_compare_sums - negative if a comes first: by the key, then by the other number. */
int row_compare_sums(struct graph_sum a, struct graph_sum b, enum row_key key);

#endif
