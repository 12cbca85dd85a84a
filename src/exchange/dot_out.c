/*
 * Functions and who calls whom, for Graphviz.
 *
 * A function's total counts a block once however often the function is on its stack, and so does
 * a call's.  Functions below a share of the whole are left out; a call through them is drawn
 * dashed, and the label of the graph says how many are missing.
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/fmt.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MOST 150u /* more cannot be read, and take dot minutes */
#define LABEL_BYTES    72u

struct function {
	int64_t self, total;
	uint32_t on_stack;
	bool is_kept;
};
struct edge {
	uint32_t from, to;
	int64_t total;
	uint32_t on_stack;
	bool is_direct; /* some call is */
};
struct dot {
	const struct export_tree *t;
	struct buf *out;
	struct function *functions; /* by frame */
	struct map edge_of;         /* from and to -> edge */
	struct edge *edges;
	size_t edge_count, edge_cap;
	uint32_t *edge_at; /* by depth: the edge to the node there; EXPORT_NONE */
	uint32_t *kept_at; /* by depth: the innermost function that is kept; EXPORT_NONE */
	double whole, cutoff;
	size_t kept_count, used_count;
};

static double magnitude(int64_t v)
{
	return v < 0 ? -(double)v : (double)v;
}

/* ---- adding up ----------------------------------------------------------------------- */

static void add_functions(struct dot *d)
{
	const struct export_tree *t = d->t;
	uint32_t open = EXPORT_NONE;
	for (uint32_t i = 0; i < t->node_count; i++) {
		for (; open != t->nodes[i].parent; open = t->nodes[open].parent)
			d->functions[t->nodes[open].frame].on_stack--;
		struct function *f = &d->functions[t->nodes[i].frame];
		if (!f->on_stack++)
			f->total += export_total(t, i, t->main_value);
		f->self += export_self(t, i, t->main_value);
		open = i;
	}
}

static int compare_sizes(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x < y) - (x > y);
}

/* The share asked for, or more if too many functions are that large. */
static bool choose(struct dot *d, double min_share)
{
	size_t count = d->t->frame_count;
	double *sizes = mem_array(count + 1, sizeof *sizes);
	if (!sizes)
		return false;
	for (size_t i = 0; i < count; i++)
		sizes[i] = magnitude(d->functions[i].total);
	if (count)
		qsort(sizes, count, sizeof *sizes, compare_sizes);
	d->cutoff = min_share * d->whole;
	if (count > FUNCTIONS_MOST && sizes[FUNCTIONS_MOST - 1] > d->cutoff)
		d->cutoff = sizes[FUNCTIONS_MOST - 1];
	mem_free(sizes);
	for (size_t i = 0; i < count; i++) {
		struct function *f = &d->functions[i];
		d->used_count += f->total || f->self;
		f->is_kept = magnitude(f->total) >= d->cutoff && (f->total || f->self) &&
			     d->kept_count < 2 * FUNCTIONS_MOST;
		d->kept_count += f->is_kept;
	}
	return true;
}

static uint32_t edge_between(struct dot *d, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t id = map_find(&d->edge_of, key);
	if (id != MAP_ABSENT)
		return id;
	if (!vec_reserve((void **)&d->edges, &d->edge_cap, d->edge_count + 1, sizeof *d->edges))
		return EXPORT_NONE;
	id = (uint32_t)d->edge_count++;
	d->edges[id] = (struct edge){.from = from, .to = to};
	return map_put(&d->edge_of, key, id) ? id : EXPORT_NONE;
}

static bool add_edge(struct dot *d, uint32_t i)
{
	const struct export_node *n = &d->t->nodes[i];
	uint32_t caller = n->depth ? d->kept_at[n->depth - 1] : EXPORT_NONE;
	d->edge_at[n->depth] = EXPORT_NONE;
	d->kept_at[n->depth] = caller;
	if (!d->functions[n->frame].is_kept)
		return true;
	d->kept_at[n->depth] = n->frame;
	if (caller == EXPORT_NONE)
		return true;
	uint32_t id = edge_between(d, caller, n->frame);
	if (id == EXPORT_NONE)
		return false;
	struct edge *edge = &d->edges[id];
	if (!edge->on_stack++)
		edge->total += export_total(d->t, i, d->t->main_value);
	edge->is_direct = edge->is_direct || d->t->nodes[n->parent].frame == caller;
	d->edge_at[n->depth] = id;
	return true;
}

static bool add_edges(struct dot *d)
{
	const struct export_tree *t = d->t;
	uint32_t open_depths = 0, depth_most = 0;
	for (size_t i = 0; i < t->node_count; i++)
		depth_most = t->nodes[i].depth > depth_most ? t->nodes[i].depth : depth_most;
	d->edge_at = mem_array(depth_most + 1u, sizeof *d->edge_at);
	d->kept_at = mem_array(depth_most + 1u, sizeof *d->kept_at);
	if (!d->edge_at || !d->kept_at)
		return false;
	for (uint32_t i = 0; i < t->node_count; i++) {
		while (open_depths > t->nodes[i].depth) {
			uint32_t id = d->edge_at[--open_depths];
			if (id != EXPORT_NONE)
				d->edges[id].on_stack--;
		}
		if (!add_edge(d, i))
			return false;
		open_depths = t->nodes[i].depth + 1;
	}
	return true;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Inside a quoted string, where a backslash would begin an escape. */
static void put_quoted(struct buf *out, const char *s, size_t most_bytes)
{
	struct buf clean = {0};
	export_clean(&clean, s, "", ' ');
	size_t bytes = clean.count_bytes;
	bool is_cut = bytes > most_bytes;
	if (is_cut) {
		bytes = most_bytes;
		while (bytes && ((uint8_t)clean.data[bytes] & 0xc0) == 0x80)
			bytes--;
	}
	for (size_t i = 0; i < bytes; i++) {
		if (clean.data[i] == '"' || clean.data[i] == '\\')
			buf_putc(out, '\\');
		buf_putc(out, clean.data[i]);
	}
	if (is_cut)
		buf_puts(out, "\xe2\x80\xa6");
	out->has_failed = out->has_failed || clean.has_failed;
	buf_release(&clean);
}

static void put_number(const struct dot *d, int64_t value)
{
	char number[EXPORT_NUMBER_BYTES], share[FMT_BYTES];
	const struct export_value *v = &d->t->values[d->t->main_value];
	export_number(number, v->unit, value, export_is_diff(d->t));
	buf_printf(d->out, "%s (%s)", number,
		   fmt_pct(share, sizeof share, (double)value, d->whole));
}

/* Light to strong with the share; blue is less than before. */
static void put_colour(const struct dot *d, int64_t value)
{
	double share = d->whole > 0 ? magnitude(value) / d->whole : 0;
	double strength = sqrt(share > 1 ? 1 : share);
	int saturation = (int)(60 + 340 * strength);
	buf_printf(d->out, "\"%s 0.%03d 0.98\"", value < 0 ? "0.58" : "0.07", saturation);
}

static void put_function(const struct dot *d, uint32_t i)
{
	const struct export_frame *f = &d->t->frames[i];
	const struct function *fn = &d->functions[i];
	double share = d->whole > 0 ? magnitude(fn->self) / d->whole : 0;
	buf_printf(d->out, "  N%" PRIu32 " [label=\"", i + 1);
	put_quoted(d->out, f->label, LABEL_BYTES);
	buf_puts(d->out, "\\n");
	if (fn->self) {
		put_number(d, fn->self);
		buf_puts(d->out, fn->self == fn->total ? "" : "\\nof ");
	}
	if (fn->self != fn->total)
		put_number(d, fn->total);
	buf_puts(d->out, "\", tooltip=\"");
	put_quoted(d->out, f->function, EXPORT_TITLE_BYTES);
	buf_printf(d->out,
		   "\", fontsize=%d, fillcolor=", 10 + (int)(22 * sqrt(share > 1 ? 1 : share)));
	put_colour(d, fn->total);
	buf_puts(d->out, "];\n");
}

static void put_edge(const struct dot *d, const struct edge *edge)
{
	char number[EXPORT_NUMBER_BYTES];
	double share = d->whole > 0 ? magnitude(edge->total) / d->whole : 0;
	if (magnitude(edge->total) < d->cutoff)
		return;
	export_number(number, d->t->values[d->t->main_value].unit, edge->total,
		      export_is_diff(d->t));
	buf_printf(d->out, "  N%" PRIu32 " -> N%" PRIu32 " [label=\" %s\", penwidth=%d",
		   edge->from + 1, edge->to + 1, number, 1 + (int)(5 * (share > 1 ? 1 : share)));
	buf_printf(d->out, ", weight=%d%s%s];\n", 1 + (int)(100 * (share > 1 ? 1 : share)),
		   edge->is_direct ? "" : ", style=dashed",
		   edge->total < 0 ? ", color=\"#3b6fb6\"" : "");
}

static void put_head(const struct dot *d, const struct export_about *about)
{
	char count[FMT_BYTES], share[FMT_BYTES];
	struct buf *out = d->out;
	size_t cut = d->used_count - d->kept_count;
	buf_puts(out, "digraph heap {\n  graph [fontname=\"Helvetica\", labelloc=t, labeljust=l, "
		      "label=\"");
	put_quoted(out, about->title, 160);
	buf_puts(out, "\\l");
	put_quoted(out, about->population, 160);
	buf_puts(out, ": ");
	put_number(d, d->t->whole[d->t->main_value]);
	buf_puts(out, "\\l");
	put_quoted(out, about->query, 300);
	buf_puts(out, "\\l");
	if (cut)
		buf_printf(out, "not drawn: %s %s smaller than %s\\l",
			   fmt_count(count, sizeof count, (int64_t)cut),
			   cut == 1 ? "function" : "functions",
			   fmt_pct(share, sizeof share, d->cutoff, d->whole));
	if (about->is_estimated)
		buf_puts(out, "estimated from samples\\l");
	buf_puts(out, "\"];\n  node [fontname=\"Helvetica\", shape=box, style=\"filled,rounded\", "
		      "color=\"#777777\"];\n"
		      "  edge [fontname=\"Helvetica\", fontsize=10, color=\"#8a8a8a\"];\n");
}

/* Differences are shares of what was gained and lost. */
static double whole_of(const struct export_tree *t)
{
	double whole = 0;
	if (!export_is_diff(t))
		return magnitude(t->whole[t->main_value]);
	for (size_t i = 0; i < t->node_count; i++)
		whole += magnitude(export_self(t, i, t->main_value));
	return whole;
}

enum neap_err export_dot(const struct export_about *about, const struct export_tree *t,
			 double min_share, struct buf *out, struct err *e)
{
	struct dot d = {.t = t, .out = out, .whole = whole_of(t)};
	d.functions = mem_zarray(t->frame_count + 1, sizeof *d.functions);
	bool is_good = d.functions;
	if (is_good) {
		add_functions(&d);
		is_good = choose(&d, min_share) && add_edges(&d);
	}
	if (is_good) {
		put_head(&d, about);
		for (uint32_t i = 0; i < t->frame_count; i++) {
			if (d.functions[i].is_kept)
				put_function(&d, i);
		}
		for (size_t i = 0; i < d.edge_count; i++)
			put_edge(&d, &d.edges[i]);
		buf_puts(out, "}\n");
	}
	mem_free(d.functions);
	map_release(&d.edge_of);
	mem_free(d.edges);
	mem_free(d.edge_at);
	mem_free(d.kept_at);
	return is_good && !out->has_failed ? NEAP_OK : err_nomem(e, "the graph");
}
