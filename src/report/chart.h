/* Live bytes over time as an area of characters, the peak marked. */
#ifndef NEAP_REPORT_CHART_H
#define NEAP_REPORT_CHART_H

#include "src/base/err.h"
#include "src/graph/graph.h"
#include "src/report/name.h"
#include "src/report/text.h"

/*
 * chart_write - marker line, chart, time axis, marks; or one sentence if there is nothing to draw.
 * Every column shows the highest value within its slice of time, so nothing short is lost.
 */
enum neap_err chart_write(struct text *t, struct shortener *nm, const struct graph *g,
			  struct err *e);

/* Values at equal steps of time; what is below zero counts as zero. */
struct chart_points {
	const int64_t *values;
	size_t count;
	uint64_t start_ns, end_ns; /* start_ns <= end_ns */
	bool is_count;             /* blocks, not bytes */
};
/* chart_points - chart and axis; nothing if no value is above zero.  False: no memory. */
bool chart_points(struct text *t, const struct chart_points *p);

#endif
