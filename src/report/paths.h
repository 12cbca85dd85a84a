/*
 * Which call path to show for a place that is reached by many.  The single heaviest one may
 * hold next to nothing; so the callers are chosen one after the other, each being the
 * function that most of what is left comes through.
 */
#ifndef NEAP_REPORT_PATHS_H
#define NEAP_REPORT_PATHS_H

#include "src/base/err.h"
#include "src/report/rows.h"

/*
 * paths_choose - fill path, inner and through of the first `count` rows.
 *   m  as rows_build left it for these rows
 * Cost: linear in nodes, and in the call paths of these rows times CALLERS_NEAREST.
 */
enum neap_err paths_choose(const struct row_maker *m, enum row_key key, struct row *rows,
			   size_t count, struct err *e);

#endif
