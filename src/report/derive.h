/*
 * Queries made from one that was asked: the same conditions, with another population at its head
 * and more stages at its end.  The tree is changed, not the text, so that nothing is parsed twice.
 */
#ifndef NEAP_REPORT_DERIVE_H
#define NEAP_REPORT_DERIVE_H

#include "query/query.h"

struct derived_head {
	bool is_changed; /* else the population stays */
	enum graph_pop pop;
	bool has_at;
	uint64_t at_ns; /* with has_at: of live */
};

/*
 * derive_run - run statement statement_idx of a script with another head and more stages.
 *   stages  "| by func | top 20": a query that refines
 * Fails: as query_run does, in words; *out is then NULL.
 */
enum neap_err derive_run(struct query_session *s, const struct ast_script *script,
			 size_t statement_idx, const struct derived_head *head, const char *stages,
			 struct query_result **out, struct err *e);

/* derive_is_plain - does the query say no more than which blocks: no rows, no view? */
bool derive_is_plain(const struct ast_script *script, size_t statement_idx);

#endif
