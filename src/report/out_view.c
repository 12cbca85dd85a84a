/* Views that are no tables: one sum, a flame graph of text. */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/mem.h"

#include <stdio.h>
#include <string.h>

/* ---- sum ------------------------------------------------------------------------ */

/* A size is said again to the byte: it may be what a limit is set by. */
static void write_exact(struct out *x, const struct result_column *c,
			const struct result_cell *cell)
{
	char number[FMT_BYTES];
	bool is_small = cell->value < 1024 && cell->value > -1024;
	if (c->type != RESULT_BYTES || cell->is_unknown || is_small)
		return;
	text_printf(&x->text, STYLE_DIM, "  %s bytes",
		    fmt_count(number, sizeof number, cell->value));
}

void out_sum(struct out *x)
{
	size_t word_cols = 0, number_cols = 0;
	char number[OUT_NUMBER_BYTES];
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		size_t cols = strlen(c->word);
		word_cols = cols > word_cols ? cols : word_cols;
		cols = strlen(out_number(number, x->r, c, &x->r->totals[x->shown[i]]));
		number_cols = cols > number_cols ? cols : number_cols;
	}
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		const struct result_cell *cell = &x->r->totals[x->shown[i]];
		if (c->is_key)
			continue;
		text_spaces(&x->text, OUT_GAP_COLS);
		text_left(&x->text, STYLE_DIM, word_cols + OUT_GAP_COLS, c->word);
		text_right(&x->text, STYLE_STRONG, number_cols, out_number(number, x->r, c, cell));
		write_exact(x, c, cell);
		text_newline(&x->text);
	}
}

/* ---- flame graph ----------------------------------------------------------------------- */

/*
 * An icicle: the outermost calls on top, each below its caller and as wide as its share.
 *
 *   |main 40.9 MiB                                             |
 *   |serve 36.1 MiB                                |monthly_rep|
 *   |render_article 16.2 MiB |log 8.0 MiB |
 */
struct flame {
	struct out *x;
	size_t column;
	double *start, *end; /* by row, in terminal columns */
	uint32_t *seen;      /* [seen_count]: rows that take a column at least, in order */
	size_t seen_count;
	uint32_t depth_most;
};

static double row_width(const struct flame *f, size_t row)
{
	double value = out_value(&f->x->r->columns[f->column], out_cell(f->x, row, f->column));
	return value > 0 ? value : 0;
}

static size_t left_of(const struct flame *f, size_t row)
{
	return (size_t)(f->start[row] + 0.5);
}

static size_t right_of(const struct flame *f, size_t row)
{
	return (size_t)(f->end[row] + 0.5);
}

/* Children stand side by side from their parent's left edge. */
static void place(struct flame *f)
{
	const struct query_result *r = f->x->r;
	double whole = 0, at_root = 0;
	for (size_t row = 0; row < r->row_count; row++)
		whole += result_row(r, row).depth ? 0 : row_width(f, row);
	double scale = whole > 0 ? (double)(f->x->text.width_cols - 1) / whole : 0;
	double *used = f->end; /* of a row whose children are being placed: where the next goes */
	for (size_t row = 0; row < r->row_count; row++) {
		const struct result_row own = result_row(r, row);
		double *from = !own.depth || own.parent >= row ? &at_root : &used[own.parent];
		f->start[row] = used[row] = *from;
		*from += row_width(f, row) * scale;
	}
	for (size_t row = 0; row < r->row_count; row++) {
		f->end[row] = f->start[row] + row_width(f, row) * scale;
		if (right_of(f, row) <= left_of(f, row))
			continue;
		f->seen[f->seen_count++] = (uint32_t)row;
		uint32_t depth = result_row(r, row).depth;
		f->depth_most = depth > f->depth_most ? depth : f->depth_most;
	}
}

static const char *box_label(struct flame *f, size_t row, size_t cols)
{
	struct out *x = f->x;
	char other[OUT_NUMBER_BYTES];
	const struct result_row r = result_row(x->r, row);
	if (r.kind == ROW_OTHER)
		return name_text(&x->names, out_other(other, &r), cols);
	for (size_t i = 0; i < x->shown_count; i++) {
		if (out_is_text(&x->r->columns[x->shown[i]]))
			return out_shown_text(x, row, x->shown[i], cols);
	}
	return "";
}

/* The number follows the name where both have room. */
static void write_box(struct flame *f, size_t row, size_t cols)
{
	struct out *x = f->x;
	char number[OUT_NUMBER_BYTES];
	const struct result_column *c = &x->r->columns[f->column];
	const char *label = box_label(f, row, cols);
	size_t used = fmt_width(label, strlen(label));
	text_put(&x->text, STYLE_DIM, x->text.is_utf8 ? "\u2502" : "|");
	text_put(&x->text, STYLE_STRONG, label);
	out_number(number, x->r, c, out_cell(x, row, f->column));
	if (used + 1 + strlen(number) < cols) {
		text_printf(&x->text, STYLE_CHART, " %s", number);
		used += 1 + strlen(number);
	}
	text_spaces(&x->text, used < cols ? cols - used : 0);
}

static void write_level(struct flame *f, uint32_t depth)
{
	const struct query_result *r = f->x->r;
	size_t at = 0;
	bool is_open = false;
	for (size_t i = 0; i < f->seen_count; i++) {
		size_t row = f->seen[i], from = left_of(f, row), to = right_of(f, row);
		if (result_row(r, row).depth != depth || from < at)
			continue;
		if (from > at) {
			/* A gap of one column needs no end: the next box begins with a bar. */
			bool has_end = is_open && from - at > 1;
			if (has_end)
				text_put(&f->x->text, STYLE_DIM,
					 f->x->text.is_utf8 ? "\u2502" : "|");
			text_spaces(&f->x->text, from - at - has_end);
		}
		write_box(f, row, to - from - 1);
		at = to;
		is_open = true;
	}
	if (is_open)
		text_put(&f->x->text, STYLE_DIM, f->x->text.is_utf8 ? "\u2502" : "|");
	text_newline(&f->x->text);
}

void out_flame(struct out *x)
{
	size_t count = x->r->row_count;
	struct flame f = {.x = x,
			  .column = out_value_column(x),
			  .start = mem_zarray(count, sizeof *f.start),
			  .end = mem_zarray(count, sizeof *f.end),
			  .seen = mem_array(count, sizeof *f.seen)};
	if (!f.start || !f.end || !f.seen)
		x->has_failed = true;
	if (!x->has_failed && f.column != SIZE_MAX) {
		place(&f);
		for (uint32_t depth = 0; depth <= f.depth_most; depth++)
			write_level(&f, depth);
	}
	mem_free(f.start);
	mem_free(f.end);
	mem_free(f.seen);
}
