/* Syntax trees as text: all that they mean and no positions, so that two can be compared. */
#ifndef NEAP_TESTS_UNIT_QUERY_DUMP_H
#define NEAP_TESTS_UNIT_QUERY_DUMP_H

#include "query/ast.h"
#include "src/base/buf.h"

void query_dump(const struct ast_query *q, struct buf *out);

/* query_last - the last query of a script; NULL if there is none. */
const struct ast_query *query_last(const struct ast_script *s);

#endif
