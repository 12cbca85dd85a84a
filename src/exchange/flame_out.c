/*
 * Flame graphs as SVG: every frame as wide as what it holds, below its caller (inverted: below
 * what it calls).
 *
 *   |all                                      |
 *   |main                             |start  |
 *   |parse            |report |(3 smaller)|
 *
 * Frames narrower than a fraction of a pixel are not drawn: neighbours that are large enough
 * together become one box that says how many, the rest is counted in the last line.
 *
 * Of differences a frame is as wide as the larger of its two sides, so that what is gone can be
 * seen too; the colour tells what became more and what less.
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LEVEL_PX      18.0
#define MIN_PX        0.35 /* of a frame that is drawn */
#define NARROW_PX     3.0  /* of a frame without a line around it */
#define TEXT_MIN_PX   20.0 /* of a frame with a name in it */
#define CHAR_PX       6.7  /* flame.js has it too */
#define PAD_PX        3.0
#define HEAD_PX       64.0 /* of a document of its own */
#define FOOT_PX       26.0
#define LEVELS_MOST   1500u /* deeper frames are below the edge of any picture */
#define PALETTE_COUNT 8u

/* Neighbours too small to be drawn, and where the next frame goes. */
struct level {
	double next_px, small_start_px, small_px;
	uint32_t small_count;
};
struct flame {
	const struct export_about *about;
	const struct export_tree *t;
	struct buf *out;
	double *weight; /* by node */
	double whole, scale;
	struct level *levels;
	uint32_t level_count; /* with frames */
	double top_px;
	uint64_t hidden_count;
};

/* ---- widths --------------------------------------------------------------------------- */

static double larger_side(const struct export_tree *t, size_t node)
{
	double a = (double)export_self(t, node, t->before_value);
	double b = (double)export_self(t, node, t->after_value);
	double w = a > b ? a : b;
	return w > 0 ? w : 0;
}

/* Widths of children never exceed their parent's. */
static bool find_weights(struct flame *f)
{
	const struct export_tree *t = f->t;
	f->weight = mem_zarray(t->node_count + 1, sizeof *f->weight);
	if (!f->weight)
		return false;
	for (size_t i = t->node_count; i-- > 0;) {
		double total = (double)export_total(t, i, t->main_value);
		if (export_is_diff(t))
			f->weight[i] += larger_side(t, i);
		else if (f->weight[i] < total)
			f->weight[i] = total;
		uint32_t parent = t->nodes[i].parent;
		if (parent == EXPORT_NONE)
			f->whole += f->weight[i];
		else
			f->weight[parent] += f->weight[i];
	}
	f->scale = f->whole > 0 ? DRAWING_WIDTH / f->whole : 0;
	return true;
}

/* Which levels have anything to be seen, so that the height is known. */
static void find_levels(struct flame *f)
{
	const struct export_tree *t = f->t;
	for (uint32_t i = 0; i < t->node_count;) {
		uint32_t depth = t->nodes[i].depth;
		if (depth < LEVELS_MOST && depth + 1 > f->level_count)
			f->level_count = depth + 1;
		i = f->weight[i] * f->scale >= MIN_PX ? i + 1 : t->nodes[i].end;
	}
}

/* ---- colours ---------------------------------------------------------------------------- */

/* One colour for each module; grey where there is no name. */
static unsigned colour_of(const struct export_frame *f)
{
	uint32_t hash = 2166136261u;
	const char *path = f->module_path;
	if (!path)
		return 0;
	const char *slash = strrchr(path, '/');
	for (const char *p = slash ? slash + 1 : path; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 16777619u;
	return (hash ^ hash >> 15) % PALETTE_COUNT;
}

/* Neighbours of one module differ by a tint of the function's own. */
static unsigned tint_of(const char *name)
{
	uint32_t hash = 2166136261u;
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return (hash ^ hash >> 16) % 3;
}

static void put_class(struct flame *f, uint32_t node, double width)
{
	const struct export_tree *t = f->t;
	const struct export_frame *frame = &t->frames[t->nodes[node].frame];
	if (export_is_diff(t)) {
		double delta = (double)export_total(t, node, t->main_value);
		double part = f->weight[node] > 0 ? delta / f->weight[node] : 0;
		double size = part < 0 ? -part : part;
		int step = size < 0.005 ? 0 : size < 0.1 ? 1 : size < 0.3 ? 2 : size < 0.6 ? 3 : 4;
		buf_printf(f->out, "f %s%d", part < 0 ? "less" : "more", step);
	} else if (frame->is_other) {
		buf_puts(f->out, "f rest");
	} else if (!frame->has_name && !frame->module_path) {
		buf_puts(f->out, "f none");
	} else {
		buf_printf(f->out, "f m%u t%u", colour_of(frame), tint_of(frame->function));
	}
	if (width < NARROW_PX)
		buf_puts(f->out, " thin");
}

/* ---- frames ----------------------------------------------------------------------------- */

/* Name, then place, then values: the script takes the first line for the name. */
static void put_numbers(struct flame *f, const int64_t *total, const int64_t *self)
{
	const struct export_tree *t = f->t;
	char number[EXPORT_NUMBER_BYTES], share[FMT_BYTES];
	for (size_t v = 0; v < t->value_count; v++) {
		bool is_side = v == t->before_value || v == t->after_value;
		bool is_delta = export_is_diff(t) && !is_side;
		export_number(number, t->values[v].unit, total[v], is_delta);
		buf_printf(f->out, "%s%s: %s", v ? ", " : "\n", t->values[v].name, number);
		if (v == t->main_value && !export_is_diff(t))
			buf_printf(f->out, " (%s)",
				   fmt_pct(share, sizeof share, (double)total[v],
					   (double)t->whole[v]));
	}
	if (self && self[t->main_value] && self[t->main_value] != total[t->main_value])
		buf_printf(f->out, ", itself: %s",
			   export_number(number, t->values[t->main_value].unit, self[t->main_value],
					 export_is_diff(t)));
}

static void put_place(struct flame *f, const struct export_frame *frame)
{
	if (!frame->file && !frame->module_path)
		return;
	buf_putc(f->out, '\n');
	export_xml_part(f->out, frame->file ? frame->file : frame->module_path, 200);
	if (frame->file && frame->line)
		buf_printf(f->out, ":%" PRIu32, frame->line);
}

static void put_box(struct flame *f, double x, double width, uint32_t level, const char *label)
{
	double y = f->top_px + level * LEVEL_PX;
	buf_printf(f->out, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%.0f\"/>", x, y,
		   width, LEVEL_PX - 1);
	if (width >= TEXT_MIN_PX) {
		buf_printf(f->out, "<text x=\"%.2f\" y=\"%.0f\">", x + PAD_PX, y + 12.5);
		export_fit(f->out, label, (size_t)((width - 2 * PAD_PX) / CHAR_PX));
		buf_puts(f->out, "</text>");
	}
	buf_puts(f->out, "</g>\n");
}

static void put_frame(struct flame *f, uint32_t node, double x, double width)
{
	const struct export_tree *t = f->t;
	const struct export_frame *frame = &t->frames[t->nodes[node].frame];
	buf_puts(f->out, "<g class=\"");
	put_class(f, node, width);
	buf_puts(f->out, "\"><title>");
	export_xml_part(f->out, frame->function, EXPORT_TITLE_BYTES);
	if (frame->is_inlined)
		buf_puts(f->out, " (inlined)");
	if (frame->is_tail)
		buf_puts(f->out, " [tail]");
	put_place(f, frame);
	put_numbers(f, &t->totals[node * t->value_count], &t->selfs[node * t->value_count]);
	buf_puts(f->out, "</title>");
	put_box(f, x, width, t->nodes[node].depth + 1, frame->label);
}

static void flush_small(struct flame *f, uint32_t depth)
{
	struct level *l = &f->levels[depth];
	char label[64], number[EXPORT_NUMBER_BYTES], count[FMT_BYTES];
	if (l->small_count && l->small_px >= MIN_PX) {
		double value = f->scale > 0 ? l->small_px / f->scale : 0;
		snprintf(label, sizeof label, "(%s smaller)",
			 fmt_count(count, sizeof count, l->small_count));
		buf_printf(f->out,
			   "<g class=\"f rest\"><title>%s\n%s together, each too narrow to be "
			   "drawn</title>",
			   label,
			   export_number(number, f->t->values[f->t->main_value].unit,
					 (int64_t)value, false));
		put_box(f, l->small_start_px, l->small_px, depth + 1, label);
	}
	l->small_count = 0;
	l->small_px = 0;
}

static void draw_all(struct flame *f)
{
	const struct export_tree *t = f->t;
	char number[EXPORT_NUMBER_BYTES];
	buf_puts(f->out, "<g class=\"f all\"><title>all");
	put_numbers(f, t->whole, NULL);
	buf_puts(f->out, "</title>");
	struct buf label = {0};
	buf_printf(&label, "all: %s",
		   export_number(number, t->values[t->main_value].unit, t->whole[t->main_value],
				 export_is_diff(t)));
	put_box(f, 0, DRAWING_WIDTH, 0, label.count_bytes ? label.data : "all");
	buf_release(&label);
}

/* A frame that is too small, with all below it. */
static void skip(struct flame *f, uint32_t node, double width)
{
	const struct export_node *n = &f->t->nodes[node];
	struct level *l = &f->levels[n->depth];
	if (!l->small_count)
		l->small_start_px = l->next_px;
	l->small_count++;
	l->small_px += width;
	f->hidden_count += n->end - node;
}

static void draw_frames(struct flame *f)
{
	const struct export_tree *t = f->t;
	uint32_t depth = 0; /* of the frame before */
	for (uint32_t i = 0; i < t->node_count;) {
		const struct export_node *n = &t->nodes[i];
		double width = f->weight[i] * f->scale;
		if (n->depth >= f->level_count) {
			f->hidden_count += n->end - i;
			i = n->end;
			continue;
		}
		for (; depth > n->depth; depth--)
			flush_small(f, depth);
		depth = n->depth;
		struct level *l = &f->levels[depth];
		if (width < MIN_PX) {
			skip(f, i, width);
			l->next_px += width;
			i = n->end;
			continue;
		}
		flush_small(f, depth);
		put_frame(f, i, l->next_px, width);
		if (depth + 1 < f->level_count)
			f->levels[depth + 1].next_px = l->next_px;
		l->next_px += width;
		i++;
	}
	for (depth = f->level_count; depth-- > 0;)
		flush_small(f, depth);
}

/* ---- the document --------------------------------------------------------------------------- */

static void put_line(struct flame *f, const char *class, double y, const char *text)
{
	buf_printf(f->out, "<text class=\"%s\" x=\"0\" y=\"%.0f\">", class, y);
	export_fit(f->out, text, 190);
	buf_puts(f->out, "</text>\n");
}

static void put_head(struct flame *f)
{
	struct buf line = {0};
	put_line(f, "title", 17, f->about->title);
	buf_printf(&line, "%s  \xc2\xb7  %s", f->about->population, f->about->query);
	put_line(f, "sub", 36, line.count_bytes ? line.data : "");
	f->out->has_failed = f->out->has_failed || line.has_failed;
	buf_release(&line);
	buf_puts(f->out, "<text class=\"flame-reset hidden\" x=\"0\" y=\"55\">reset zoom</text>\n"
			 "<text class=\"flame-details\" x=\"90\" y=\"55\"> </text>\n");
	buf_printf(f->out,
		   "<text class=\"flame-search\" x=\"%.0f\" y=\"17\" text-anchor=\"end\">search (/)"
		   "</text>\n<text class=\"flame-match\" x=\"%.0f\" y=\"55\" "
		   "text-anchor=\"end\"> </text>\n",
		   DRAWING_WIDTH, DRAWING_WIDTH);
}

static void put_foot(struct flame *f, double y)
{
	char count[FMT_BYTES];
	buf_printf(f->out, "<text class=\"foot\" x=\"0\" y=\"%.0f\">", y);
	if (export_is_diff(f->t))
		buf_puts(f->out, "as wide as the larger side; red: more, blue: less.  ");
	if (f->about->is_estimated)
		buf_puts(f->out, "Estimated from samples.  ");
	if (f->hidden_count)
		buf_printf(f->out, "Not drawn: %s %s narrower than %.2f px.",
			   fmt_count(count, sizeof count, (int64_t)f->hidden_count),
			   f->hidden_count == 1 ? "frame" : "frames", MIN_PX);
	buf_puts(f->out, "</text>\n");
}

static void draw(struct flame *f, bool is_alone)
{
	f->top_px = is_alone ? HEAD_PX : 0;
	double foot = f->top_px + (f->level_count + 1) * LEVEL_PX + 15;
	double height = f->top_px + (f->level_count + 1) * LEVEL_PX + FOOT_PX;
	if (is_alone)
		buf_puts(f->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	buf_printf(
		f->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"flame%s\" viewBox=\"%s %s %.0f "
		"%.0f\"",
		is_alone ? " alone" : "", is_alone ? "-12" : "0", is_alone ? "-8" : "0",
		DRAWING_WIDTH + (is_alone ? 24 : 0), height + (is_alone ? 12 : 0));
	if (is_alone)
		buf_printf(f->out, " width=\"%.0f\" height=\"%.0f\"", DRAWING_WIDTH + 24,
			   height + 12);
	buf_puts(f->out, ">\n");
	if (is_alone) {
		export_cdata(f->out, "style", export_flame_css);
		buf_printf(f->out,
			   "<rect class=\"paper\" x=\"-12\" y=\"-8\" width=\"%.0f\" "
			   "height=\"%.0f\"/>\n",
			   DRAWING_WIDTH + 24, height + 12);
		put_head(f);
	}
	draw_all(f);
	draw_frames(f);
	put_foot(f, foot);
	if (is_alone)
		export_cdata(f->out, "script", export_flame_js);
	buf_puts(f->out, "</svg>\n");
}

enum neap_err flame_draw(const struct export_about *about, const struct export_tree *t,
			 bool is_alone, struct buf *out, struct err *e)
{
	struct flame f = {.about = about, .t = t, .out = out};
	bool is_good = find_weights(&f);
	if (is_good) {
		find_levels(&f);
		f.levels = mem_zarray(f.level_count + 1u, sizeof *f.levels);
		is_good = f.levels;
	}
	if (is_good)
		draw(&f, is_alone);
	mem_free(f.weight);
	mem_free(f.levels);
	return is_good && !out->has_failed ? NEAP_OK : err_nomem(e, "the flame graph");
}

enum neap_err export_flame(const struct export_about *about, const struct export_tree *t,
			   struct buf *out, struct err *e)
{
	return flame_draw(about, t, true, out, e);
}
