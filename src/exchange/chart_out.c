/*
 * A value over time as SVG: an area with axes, marks, and the exact peak of the process, which
 * lies between two snapshots as a rule.
 */
#include "config.h"

#include "src/exchange/chart_priv.h"

#include "src/base/fmt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double chart_x(const struct chart *c, uint64_t time_ns)
{
	double from = (double)c->s->start_ns, to = (double)c->s->end_ns, t = (double)time_ns;
	if (to <= from)
		return LEFT_PX;
	t = t < from ? from : t > to ? to : t;
	return LEFT_PX + (t - from) / (to - from) * (RIGHT_PX - LEFT_PX);
}

double chart_y(const struct chart *c, double value)
{
	return c->bottom_px - (value - c->low) / (c->high - c->low) * (c->bottom_px - c->top_px);
}

/* ---- axes -------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten; of bytes a power of two that fmt_bytes shows well. */
static double nice_step(double range, unsigned most, bool is_bytes)
{
	double unit = 1;
	while (is_bytes && range / most >= 1024 * unit)
		unit *= 1024;
	for (double ten = unit;; ten *= 10) {
		static const double factors[] = {1, 2, 5};
		for (size_t i = 0; i < 3; i++) {
			if (range / (ten * factors[i]) <= most)
				return ten * factors[i];
		}
	}
}

static void find_range(struct chart *c)
{
	const struct export_series *s = c->s;
	double low = 0, high = 0;
	for (size_t i = 0; i < s->point_count; i++) {
		double v = (double)s->points[i].value;
		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	if (s->has_peak && s->has_peak_value && (double)s->peak.value > high)
		high = (double)s->peak.value;
	layers_range(s, &low, &high);
	if (high <= low)
		high = low + 1;
	c->step = nice_step(high - low, 5, s->unit == EXPORT_BYTES);
	c->low = floor(low / c->step) * c->step;
	c->high = ceil(high / c->step) * c->step;
}

static void draw_values(struct chart *c)
{
	char number[EXPORT_NUMBER_BYTES];
	int steps = (int)((c->high - c->low) / c->step + 0.5);
	for (int i = 0; i <= steps; i++) {
		double v = c->low + i * c->step;
		double y = chart_y(c, v);
		buf_printf(c->out,
			   "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>"
			   "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
			   LEFT_PX, y, RIGHT_PX, y, LEFT_PX - 8, y + 4,
			   export_number(number, c->s->unit, (int64_t)v, false));
	}
}

/* Steps of 1, 2, 5 up to seconds, then of what a clock shows. */
static double time_step(double range_ns)
{
	static const double clock_s[] = {10,   15,   30,   60,    120,   300,  600,
					 1800, 3600, 7200, 21600, 43200, 86400};
	if (range_ns <= 60e9)
		return nice_step(range_ns, 10, false);
	for (size_t i = 0; i < sizeof clock_s / sizeof clock_s[0]; i++) {
		if (range_ns / (clock_s[i] * 1e9) <= 12)
			return clock_s[i] * 1e9;
	}
	return nice_step(range_ns / 86400e9, 10, false) * 86400e9;
}

static const char *time_text(char *dst, size_t cap, double ns, double step_ns)
{
	double s = ns / 1e9;
	if (step_ns >= 60e9)
		snprintf(dst, cap, "%" PRIu64 ":%02u:%02u", (uint64_t)(s / 3600),
			 (unsigned)(s / 60) % 60, (unsigned)fmod(s, 60));
	else if (step_ns >= 1e9)
		snprintf(dst, cap, "%.0f s", s);
	else if (step_ns >= 1e8)
		snprintf(dst, cap, "%.1f s", s);
	else if (step_ns >= 1e7)
		snprintf(dst, cap, "%.2f s", s);
	else
		fmt_duration(dst, cap, (uint64_t)ns);
	return dst;
}

static void draw_times(struct chart *c)
{
	char text[64];
	double from = (double)c->s->start_ns, to = (double)c->s->end_ns;
	buf_printf(c->out,
		   "<line class=\"axis\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>\n",
		   LEFT_PX, c->bottom_px, RIGHT_PX, c->bottom_px);
	if (to <= from)
		return;
	double step = time_step(to - from);
	double first = ceil(from / step);
	int steps = (int)floor(to / step - first);
	for (int i = 0; i <= steps; i++) {
		double t = (first + i) * step;
		double x = chart_x(c, (uint64_t)t);
		buf_printf(c->out,
			   "<line class=\"axis\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>"
			   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
			   x, c->bottom_px, x, c->bottom_px + 5, x, c->bottom_px + 19,
			   time_text(text, sizeof text, t, step));
	}
}

/* ---- the curve ------------------------------------------------------------------------------- */

/* Straight lines between what was measured; the exact peak is one of the points. */
static void put_points(struct chart *c)
{
	const struct export_series *s = c->s;
	bool has_peak = s->has_peak && s->has_peak_value;
	for (size_t i = 0; i < s->point_count; i++) {
		const struct export_point *p = &s->points[i];
		if (has_peak && s->peak.time_ns <= p->time_ns) {
			buf_printf(c->out, " %.2f %.2f", chart_x(c, s->peak.time_ns),
				   chart_y(c, (double)s->peak.value));
			has_peak = false;
		}
		buf_printf(c->out, " %.2f %.2f", chart_x(c, p->time_ns),
			   chart_y(c, (double)p->value));
	}
}

static void draw_curve(struct chart *c)
{
	const struct export_series *s = c->s;
	if (!s->point_count)
		return;
	double base = chart_y(c, c->low < 0 ? 0 : c->low);
	if (s->layer_count) {
		layers_draw(c);
	} else {
		buf_printf(c->out, "<path class=\"area\" d=\"M %.2f %.2f L",
			   chart_x(c, s->points[0].time_ns), base);
		put_points(c);
		buf_printf(c->out, " L %.2f %.2f Z\"/>\n",
			   chart_x(c, s->points[s->point_count - 1].time_ns), base);
	}
	buf_printf(c->out, "<polyline class=\"curve%s\" points=\"", s->layer_count ? " whole" : "");
	put_points(c);
	buf_puts(c->out, "\"/>\n");
}

/* ---- marks and the peak ------------------------------------------------------------------------ */

static void draw_mark(struct chart *c, const struct export_mark *m, double *free_px)
{
	char when[FMT_BYTES];
	double x = chart_x(c, m->time_ns);
	size_t row = 0;
	while (row < MARK_ROWS && free_px[row] > x)
		row++;
	buf_puts(c->out, "<g class=\"mark\"><title>");
	export_xml_part(c->out, m->name, 300);
	buf_printf(c->out, " at %s</title><line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
		   fmt_duration(when, sizeof when, m->time_ns), x,
		   c->top_px - (row < MARK_ROWS ? 4 + 14.0 * (double)row : 0), x, c->bottom_px);
	size_t chars = fmt_width(m->name, strlen(m->name));
	chars = chars > MARK_CHARS ? MARK_CHARS : chars;
	double width = (double)chars * MARK_CHAR_PX + 10;
	if (row < MARK_ROWS && x + width <= RIGHT_PX + 14) {
		buf_printf(c->out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3,
			   c->top_px - 6 - 14.0 * (double)row);
		export_fit(c->out, m->name, MARK_CHARS);
		buf_puts(c->out, "</text>");
		free_px[row] = x + width;
	}
	buf_puts(c->out, "</g>\n");
}

static void draw_marks(struct chart *c)
{
	double free_px[MARK_ROWS] = {0};
	for (size_t i = 0; i < c->s->mark_count && i < MARKS_MOST; i++)
		draw_mark(c, &c->s->marks[i], free_px);
}

static void draw_peak(struct chart *c)
{
	const struct export_series *s = c->s;
	char number[EXPORT_NUMBER_BYTES], when[FMT_BYTES];
	if (!s->has_peak)
		return;
	double x = chart_x(c, s->peak.time_ns);
	bool is_right = x > RIGHT_PX - 220;
	double y = s->has_peak_value ? chart_y(c, (double)s->peak.value) : c->top_px;
	buf_printf(c->out,
		   "<g class=\"peak\"><line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>", x,
		   y, x, c->bottom_px);
	if (s->has_peak_value)
		buf_printf(c->out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>", x, y);
	buf_printf(c->out, "<text x=\"%.1f\" y=\"%.1f\"%s>peak", x + (is_right ? -9 : 9),
		   y < c->top_px + 12 ? c->top_px + 12 : y, is_right ? " text-anchor=\"end\"" : "");
	if (s->has_peak_value)
		buf_printf(c->out, " %s", export_number(number, s->unit, s->peak.value, false));
	buf_printf(c->out, " at %s</text></g>\n", fmt_duration(when, sizeof when, s->peak.time_ns));
}

/* ---- the document ---------------------------------------------------------------------------------- */

static void put_words(struct chart *c, const struct export_about *about)
{
	buf_puts(c->out, "<text class=\"title\" x=\"14\" y=\"24\">");
	export_fit(c->out, about->title, 120);
	buf_puts(c->out, "</text>\n<text x=\"14\" y=\"44\">");
	export_fit(c->out, c->s->name, 60);
	buf_puts(c->out, ": ");
	export_fit(c->out, about->query, 140);
	buf_puts(c->out, about->is_estimated ? " (estimated from samples)</text>\n" : "</text>\n");
}

/* Milliseconds and values, for the script. */
static void put_data(struct chart *c)
{
	const struct export_series *s = c->s;
	buf_printf(c->out,
		   " data-left=\"%.0f\" data-right=\"%.0f\" data-start=\"%.3f\" data-end=\"%.3f\" "
		   "data-top=\"%.1f\" data-bottom=\"%.1f\" data-low=\"%.0f\" data-high=\"%.0f\" "
		   "data-unit=\"%s\" data-points=\"",
		   LEFT_PX, RIGHT_PX, (double)s->start_ns / 1e6, (double)s->end_ns / 1e6, c->top_px,
		   c->bottom_px, c->low, c->high, s->unit == EXPORT_BYTES ? "bytes" : "blocks");
	for (size_t i = 0; i < s->point_count; i++)
		buf_printf(c->out, "%s%.3f,%" PRId64, i ? " " : "",
			   (double)s->points[i].time_ns / 1e6, s->points[i].value);
	buf_putc(c->out, '"');
}

void chart_draw(const struct export_about *about, const struct export_series *s, bool is_alone,
		struct buf *out)
{
	struct chart c = {.s = s, .out = out};
	c.top_px = (is_alone ? HEAD_PX : 0) + MARKS_PX;
	c.bottom_px = c.top_px + PLOT_PX;
	find_range(&c);
	double legend_px = c.bottom_px + AXIS_PX;
	double height = c.bottom_px + FOOT_PX + layers_legend_height(s);
	if (is_alone)
		buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" viewBox=\"0 0 %.0f "
		   "%.0f\"",
		   DRAWING_WIDTH, height);
	if (is_alone)
		buf_printf(out, " width=\"%.0f\" height=\"%.0f\"", DRAWING_WIDTH, height);
	if (s->point_count)
		put_data(&c);
	buf_puts(out, ">\n");
	if (is_alone) {
		export_cdata(out, "style", export_chart_css);
		buf_printf(out, "<rect class=\"paper\" width=\"%.0f\" height=\"%.0f\"/>\n",
			   DRAWING_WIDTH, height);
		put_words(&c, about);
	}
	draw_values(&c);
	draw_times(&c);
	draw_curve(&c);
	draw_marks(&c);
	draw_peak(&c);
	layers_legend(&c, legend_px);
	buf_printf(out,
		   "<line class=\"chart-cursor\" y1=\"%.0f\" y2=\"%.0f\" x1=\"0\" x2=\"0\"/>"
		   "<text class=\"chart-says\" x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\"> </text>"
		   "<rect class=\"catch\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
		   c.top_px, c.bottom_px, RIGHT_PX, height - 8, LEFT_PX, c.top_px,
		   RIGHT_PX - LEFT_PX, PLOT_PX);
	if (is_alone && s->point_count)
		export_cdata(out, "script", export_chart_js);
	buf_puts(out, "</svg>\n");
}

enum neap_err export_chart(const struct export_about *about, const struct export_series *s,
			   struct buf *out, struct err *e)
{
	chart_draw(about, s, true, out);
	return out->has_failed ? err_nomem(e, "the chart") : NEAP_OK;
}
