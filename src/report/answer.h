/*
 * Asking the profile in the query language.  Whatever the report tabulates comes from here, so
 * that a reader who runs a query that it states gets the same rows.
 */
#ifndef NEAP_REPORT_ANSWER_H
#define NEAP_REPORT_ANSWER_H

#include "query/query.h"
#include "src/base/err.h"
#include "src/graph/graph.h"

/* Zero-initialised is none.  Belongs to the caller, and must go before the session. */
struct answer {
	char *text; /* the query */
	struct ast_script *script;
	struct query_result *result;
};

/*
 * answer_get - run one query.
 * Cost:  that of the query.
 * Fails: as query_run does, in words; *out is then empty.
 */
enum neap_err answer_get(struct query_session *s, const char *query, struct answer *out,
			 struct err *e);
#define ANSWERS_MOST 4u
/*
 * answers_get - the same for queries that differ in their stages on rows only (query_run_alike).
 *   count  1 .. ANSWERS_MOST, of queries and out
 */
enum neap_err answers_get(struct query_session *s, const char *const *queries, size_t count,
			  struct answer *out, struct err *e);
void answer_release(struct answer *a);

/* answer_cell - the cell of a column in a row; NULL: no such column. */
const struct result_cell *answer_cell(const struct answer *a, size_t row, const char *column);
/* answer_sum - blocks and bytes of a row; bytes are those of `column`, "total" or "self". */
struct graph_sum answer_sum(const struct answer *a, size_t row, const char *column);
/* answer_total - the same of the total line. */
struct graph_sum answer_total(const struct answer *a);
/* answer_entry - the frame that a row is called by; ENTRY_NONE: by none. */
entry_id answer_entry(const struct answer *a, size_t row);

#endif
