/*
 * The text report: what a profile says to somebody with a memory problem, in one
 * screen, and below it the places in the code to look at.
 *
 *   header    what ran, how it ended, what went wrong with the recording
 *   totals    peak and who held it, leaked, allocated, temporary
 *   chart     live bytes over time, the peak marked
 *   sections  one table per question (section.c), rows being places in the code
 *
 * Every figure is the answer to a query; each table states its own.
 * Renders into a buffer; prints nothing.
 */
#ifndef NEAP_REPORT_REPORT_H
#define NEAP_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "query/query.h"
#include "src/base/buf.h"
#include "src/base/err.h"

#define REPORT_WIDTH_MIN_COLS 60u
#define REPORT_WIDTH_MAX_COLS 1000u

struct report_options {
	size_t width_cols; /* within the limits above */
	size_t top_count;  /* rows of each table; at least 1 */
	bool has_full_stacks; /* every frame, whole names, modules; lines may be wider than the width */
	bool has_colour;
	bool is_utf8; /* else plain ASCII */
};

/*
 * report_write - append the whole report on the first file of a session to out.
 * The date is in the local time zone.  Same profile and options: same bytes.
 * Cost:  some ten queries, and finding the call paths of their rows.
 * Fails: ERR_NOMEM; out then holds a part of the report.
 */
enum neap_err report_write(struct query_session *s, const struct report_options *options,
			   struct buf *out, struct err *e);

#endif
