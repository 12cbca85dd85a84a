/*
 * The inside of charts: axes, curve and marks (chart_out.c), and the layers of a curve
 * (chart_layers.c).
 */
#ifndef NEAP_EXCHANGE_CHART_PRIV_H
#define NEAP_EXCHANGE_CHART_PRIV_H

#include "src/exchange/export_priv.h"

#define LEFT_PX      84.0
#define RIGHT_PX     1180.0
#define PLOT_PX      220.0
#define HEAD_PX      56.0 /* of a document of its own */
#define MARKS_PX     34.0 /* names of marks, above the plot */
#define FOOT_PX      46.0
#define AXIS_PX      32.0 /* of it: the times */
#define MARKS_MOST   200u /* that are drawn */
#define MARK_ROWS    2u
#define MARK_CHAR_PX 6.6
#define MARK_CHARS   26u

struct chart {
	const struct export_series *s;
	struct buf *out;
	double low, high; /* of the vertical axis */
	double step;
	double top_px, bottom_px;
};

/* chart_x, chart_y - where a time and a value are drawn. */
double chart_x(const struct chart *c, uint64_t time_ns);
double chart_y(const struct chart *c, double value);

/* layers_range - widen the range of values to what the layers need. */
void layers_range(const struct export_series *s, double *low, double *high);
void layers_draw(struct chart *c);
/* layers_legend - names and colours, from top_px down. */
double layers_legend_height(const struct export_series *s); /* in pixels */
void layers_legend(struct chart *c, double top_px);

#endif
