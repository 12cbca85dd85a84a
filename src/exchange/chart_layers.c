/*
 * The parts of a curve as areas that stand on each other, the largest at the bottom, and what
 * their colours mean.  Of a difference each is a line: what is below zero cannot be stacked.
 */
#include "config.h"

#include "src/exchange/chart_priv.h"

#include <inttypes.h>

#define LEGEND_COLUMNS 3u
#define LEGEND_ROW_PX  18.0
#define LEGEND_CHARS   48u
#define SWATCH_PX      10.0

void layers_range(const struct export_series *s, double *low, double *high)
{
	for (size_t l = 0; s->is_signed && l < s->layer_count; l++) {
		for (size_t i = 0; i < s->point_count; i++) {
			double v = (double)s->layers[l].values[i];
			*low = v < *low ? v : *low;
			*high = v > *high ? v : *high;
		}
	}
}

/* ---- points, with the exact peak among them ------------------------------------------- */

static bool has_peak(const struct export_series *s)
{
	return s->has_peak && s->has_peak_value;
}

/* How many points of the series lie before the peak. */
static size_t points_before_peak(const struct export_series *s)
{
	size_t i = 0;
	while (i < s->point_count && s->points[i].time_ns < s->peak.time_ns)
		i++;
	return i;
}

static size_t count_points(const struct export_series *s)
{
	return s->point_count + has_peak(s);
}

/* The index of a point among those of the series; point_count for the peak. */
static size_t index_of(const struct export_series *s, size_t point)
{
	size_t before = has_peak(s) ? points_before_peak(s) : s->point_count;
	return point < before ? point : point == before ? s->point_count : point - 1;
}

static uint64_t time_of(const struct export_series *s, size_t index)
{
	return index < s->point_count ? s->points[index].time_ns : s->peak.time_ns;
}

static double value_of(const struct export_series *s, size_t layer, size_t index)
{
	const struct export_layer *l = &s->layers[layer];
	return (double)(index < s->point_count ? l->values[index] : l->peak);
}

/* What the layers below one hold together. */
static double below(const struct export_series *s, size_t layer, size_t index)
{
	double sum = 0;
	for (size_t l = 0; l < layer; l++)
		sum += value_of(s, l, index);
	return sum;
}

/* ---- drawing ------------------------------------------------------------------------------- */

static void put_point(struct chart *c, size_t index, double value)
{
	buf_printf(c->out, " %.2f %.2f", chart_x(c, time_of(c->s, index)), chart_y(c, value));
}

static void put_line(struct chart *c, size_t layer)
{
	for (size_t i = 0; i < c->s->point_count; i++)
		put_point(c, i, value_of(c->s, layer, i));
}

static void put_area(struct chart *c, size_t layer)
{
	const struct export_series *s = c->s;
	size_t count = count_points(s);
	for (size_t i = 0; i < count; i++)
		put_point(c, index_of(s, i), below(s, layer + 1, index_of(s, i)));
	for (size_t i = count; i-- > 0;)
		put_point(c, index_of(s, i), below(s, layer, index_of(s, i)));
}

static const char *layer_class(const struct chart *c, size_t layer, char dst[16])
{
	if (c->s->layers[layer].is_rest)
		return "rest";
	dst[0] = 'l';
	dst[1] = (char)('a' + layer % EXPORT_LAYERS_MOST);
	dst[2] = '\0';
	return dst;
}

/* The values are for the script, which says what lies under the pointer. */
static void draw_layer(struct chart *c, size_t layer)
{
	const struct export_series *s = c->s;
	char class[16];
	buf_printf(c->out, "<g class=\"layer %s\" data-values=\"", layer_class(c, layer, class));
	for (size_t i = 0; i < s->point_count; i++)
		buf_printf(c->out, "%s%" PRId64, i ? " " : "", s->layers[layer].values[i]);
	buf_puts(c->out, "\"><title>");
	export_xml_part(c->out, s->layers[layer].name, 300);
	buf_printf(c->out, "</title><path class=\"%s\" d=\"M",
		   s->is_signed ? "layer-line" : "layer-area");
	if (s->is_signed)
		put_line(c, layer);
	else
		put_area(c, layer);
	buf_puts(c->out, s->is_signed ? "\"/></g>\n" : " Z\"/></g>\n");
}

void layers_draw(struct chart *c)
{
	for (size_t l = 0; l < c->s->layer_count; l++)
		draw_layer(c, l);
}

double layers_legend_height(const struct export_series *s)
{
	size_t rows = (s->layer_count + LEGEND_COLUMNS - 1) / LEGEND_COLUMNS;
	return (double)rows * LEGEND_ROW_PX;
}

void layers_legend(struct chart *c, double top_px)
{
	char class[16];
	double width = (RIGHT_PX - LEFT_PX) / LEGEND_COLUMNS;
	for (size_t l = 0; l < c->s->layer_count; l++) {
		size_t row = l / LEGEND_COLUMNS, column = l % LEGEND_COLUMNS;
		double x = LEFT_PX + (double)column * width;
		double y = top_px + (double)row * LEGEND_ROW_PX;
		buf_printf(c->out,
			   "<g class=\"legend %s\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" "
			   "height=\"%.0f\"/><text x=\"%.1f\" y=\"%.1f\">",
			   layer_class(c, l, class), x, y, SWATCH_PX, SWATCH_PX, x + 16, y + 9);
		export_fit(c->out, c->s->layers[l].name, LEGEND_CHARS);
		buf_puts(c->out, "</text></g>\n");
	}
}
