/*
 * Rows of the report: blocks gathered by the place that asked for them, which is the
 * leaf frame (the innermost that is no allocation wrapper) with function, file and line.
 */
#ifndef NEAP_REPORT_ROWS_H
#define NEAP_REPORT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/graph/graph.h"
#include "src/report/callers.h"

enum row_key {
	ROW_BYTES,
	ROW_BLOCKS,
};

struct row {
	entry_id entry; /* the place */
	struct graph_sum sum;
	uint32_t path_count; /* call paths (leaf nodes) that hold anything */
	/* Of the first rows only, see paths.h: */
	node_id path;  /* leaf node of the call path to show */
	node_id inner; /* below path, through wrappers: where the allocator was called */
	struct graph_sum
		through[CALLERS_NEAREST]; /* of sum: through caller 1, 1 and 2, all three */
};

/* Owned by the caller; zero-initialised is empty. */
struct rows {
	struct row *rows; /* [count], the highest key first, then by name */
	size_t count;
	struct graph_sum total;
};
void rows_release(struct rows *r);

/* Memory shared by the tables of one report. */
struct row_maker {
	struct graph *g;
	struct graph_groups *places;
	struct graph_sum *cohorts, *self, *leaves;
};
enum neap_err row_maker_init(struct row_maker *m, struct graph *g, struct err *e);
void row_maker_release(struct row_maker *m);

/*
 * rows_build - the places of a population over the whole run.
 *   top_count  rows that need a call path
 * Places that hold neither blocks nor bytes are left out; the rows add up to total.
 * Fails: ERR_NOMEM; *out is then empty.
 */
enum neap_err rows_build(struct row_maker *m, enum graph_pop pop, enum row_key key,
			 size_t top_count, struct rows *out, struct err *e);
/* rows_build_in - the same in a window, or for `live` at its end. */
enum neap_err rows_build_in(struct row_maker *m, enum graph_pop pop, struct graph_window window,
			    enum row_key key, size_t top_count, struct rows *out, struct err *e);

/* row_value - the number that a key sorts by. */
int64_t row_value(struct graph_sum sum, enum row_key key);
/* row_compare_sums - negative if a comes first: by the key, then by the other number. */
int row_compare_sums(struct graph_sum a, struct graph_sum b, enum row_key key);

/*
 * rows_by_function - the same blocks by function only: sums and entry are meaningful,
 * paths are not.  Same order.
 */
enum neap_err rows_by_function(const struct graph *g, const struct rows *places, enum row_key key,
			       struct rows *out, struct err *e);

#endif
