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

enum row_key {
	ROW_BYTES,
	ROW_BLOCKS,
};

struct row {
	entry_id entry; /* the place */
	struct graph_sum sum;
	node_id heaviest; /* leaf node of the call path that holds most, by the key */
	struct graph_sum heaviest_sum;
	node_id inner; /* below it, through allocation wrappers: the node that holds most */
	struct graph_sum inner_sum;
	uint32_t path_count; /* call paths (leaf nodes) that hold anything */
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
 * Places that hold neither blocks nor bytes are left out; the rows add up to total.
 * Fails: ERR_NOMEM; *out is then empty.
 */
enum neap_err rows_build(struct row_maker *m, enum graph_pop pop, enum row_key key,
			 struct rows *out, struct err *e);

/* row_value - the number that a key sorts by. */
int64_t row_value(struct graph_sum sum, enum row_key key);

/*
 * rows_by_function - the same blocks by function only: sums and entry are meaningful,
 * paths are not.  Same order.
 */
enum neap_err rows_by_function(const struct graph *g, const struct rows *places, enum row_key key,
			       struct rows *out, struct err *e);

#endif
