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

#endif
