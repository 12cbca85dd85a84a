/*
 * Queries kept open: trees whose rows are made when somebody opens them, and the rows of a
 * table over time.  For programs that show a part of a large answer and come back for more.
 */
#ifndef NEAP_QUERY_OPENED_H
#define NEAP_QUERY_OPENED_H

#include "query/query.h"

struct query_opened;

/*
 * query_opened_new - plan and run a query up to its sums.  Views tree, callers, callees and flame
 * start with no row, all others with all of theirs.
 *   script  must outlive *out, and so must s
 * Fails: as query_run; *out is then NULL.
 */
enum neap_err query_opened_new(struct query_session *s, const struct ast_script *script,
			       size_t statement_idx, struct query_opened **out,
			       struct query_error *error);
void query_opened_free(struct query_opened *q); /* NULL is fine */

/* query_opened_result - columns, totals, notes, and the rows made so far; rows and cells move
 * when others are opened. */
const struct query_result *query_opened_result(const struct query_opened *q);

#define OPENED_ROOT UINT32_MAX

/*
 * query_opened_children - the rows below one of a tree, in order, the cut ones as one last row.
 *   row        of the result, or OPENED_ROOT for the first level
 *   first_out  where they begin in the result; *count_out may be 0
 * The second call for a row returns the same rows.  Cost: linear in the children, from the
 * leaf up in the places below the row.
 */
enum neap_err query_opened_children(struct query_opened *q, uint32_t row, uint32_t *first_out,
				    uint32_t *count_out, struct query_error *error);
/* query_opened_has_children - may the row be opened? */
bool query_opened_has_children(const struct query_opened *q, uint32_t row);

#define FACTS_THREADS_MOST 3u

struct query_facts {
	/* At the resolution of snapshots, as the columns p50 and p99. */
	bool has_lifetimes;
	bool is_over; /* from birth to death; else to the instant looked at */
	uint64_t p50_ns, p99_ns;
	size_t thread_count; /* that have blocks of the row */
	struct query_thread_share {
		thread_id thread;
		struct graph_sum sum;
	} threads[FACTS_THREADS_MOST]; /* the heaviest, by bytes */
};
/*
 * query_opened_facts - what is known of the blocks of one row of a tree.  Nothing of rows that
 * stand for no frame, and of differences.  Cost: linear in cohorts and deaths.  Fails: ERR_NOMEM.
 */
enum neap_err query_opened_facts(struct query_opened *q, uint32_t row, struct query_facts *out,
				 struct query_error *error);

/*
 * What rows of a table hold at each snapshot: those blocks of the query that are live there,
 * whatever its population is.  Every block is in one row: they are by keys of allocations, or of
 * one frame of each stack.
 */
struct query_series {
	size_t tick_count, class_count;
	uint32_t *rows; /* [class_count]: of the result, largest area first; then OPENED_ROOT
				     for all others together */
	struct graph_sum *values; /* [tick_count * class_count]; tick 0 is the start */
	struct graph_sum *born;   /* the same: allocated in the interval that ends with the tick */
	struct graph_sum
		*peak;      /* [class_count]: at the peak of the process, which no tick may show */
	size_t other_count; /* rows in the last class */
};
/*
 * query_opened_series - the rows of a table as classes.
 *   class_most  rows that get a class of their own, at least 1; the others share one
 * Deaths are told apart only if the query asks for them.  Free with query_series_release.
 * Cost: linear in cohorts and deaths.  Fails: ERR_UNSUPPORTED for rows that are no classes.
 */
enum neap_err query_opened_series(struct query_opened *q, size_t class_most,
				  struct query_series *out, struct query_error *error);
void query_series_release(struct query_series *s);

#endif
