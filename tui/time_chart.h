/* Stacked areas over time. */
#ifndef NEAP_TUI_TIME_CHART_H
#define NEAP_TUI_TIME_CHART_H

#include <stdint.h>

#include "tui/grid.h"

struct time_chart {
	const int64_t *values; /* [cols * class_count]: the lowest class first */
	size_t class_count;
	size_t other_class;  /* drawn as ROLE_OTHER */
	const int64_t *line; /* [cols]: drawn over the areas (RSS); below 0: none; NULL: none */
	int64_t most;        /* value at the top */
	size_t selected;     /* class that stands out; class_count: none */
};
/* time_chart_draw - fill the area, a column of values for each column of cells. */
void time_chart_draw(const struct area *a, const struct time_chart *c);
/* time_chart_role, time_chart_letter - what a class looks like in chart and legend. */
enum role time_chart_role(const struct time_chart *c, size_t class);
char time_chart_letter(const struct time_chart *c, size_t class);
/* time_chart_class - the class at a cell; class_count: above all. */
size_t time_chart_class(const struct time_chart *c, const struct area *a, unsigned row,
			unsigned col);

#endif
