/*
 * Results in formats that hold more than one answer: a page is a timeline, tables and a flame
 * graph, a massif file has a tree for some of its snapshots.  They are made of queries like the one
 * that was asked: of the same blocks at other instants, in other views.
 */
#ifndef NEAP_REPORT_COMPOSE_H
#define NEAP_REPORT_COMPOSE_H

#include "query/query.h"
#include "src/report/out.h"

/*
 * compose_write - append a result in its format, whatever that takes.
 *   script, statement_idx  what *r is the result of
 * Fails: as out_write and query_run, in words.
 */
enum neap_err compose_write(struct query_session *s, const struct ast_script *script,
			    size_t statement_idx, const struct query_result *r,
			    const struct out_options *o, struct buf *out, struct err *e);

#endif
