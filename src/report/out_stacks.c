/* Whole stacks: for people one frame a line, from the leaf outwards; folded, from the root. */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/mem.h"
#include "src/report/stack.h"

#include <string.h>

static void write_frames(struct out *x, const struct result_row *row, size_t indent_cols)
{
	for (uint32_t i = row->frame_count; i-- > 0;) {
		struct graph_frame f = graph_entry(x->r->graph, row->frames[i]);
		bool is_leaf = i + 1 == row->frame_count;
		if (!is_leaf)
			text_spaces(&x->text, indent_cols);
		stack_frame(&x->text, &x->names, &f, is_leaf ? STYLE_STRONG : STYLE_PLAIN,
			    indent_cols, f.is_inlined ? "(inlined)" : "");
		text_newline(&x->text);
	}
}

/* Between two files a stack is its names, outermost first. */
static void write_names(struct out *x, const char *names, size_t indent_cols)
{
	size_t end = strlen(names);
	bool is_first = true;
	while (names) {
		size_t start = end;
		while (start && names[start - 1] != ';')
			start--;
		char *name = mem_strndup(names + start, end - start);
		if (!name) {
			x->has_failed = true;
			return;
		}
		if (!is_first)
			text_spaces(&x->text, indent_cols);
		text_put(&x->text, is_first ? STYLE_STRONG : STYLE_PLAIN,
			 name_function(&x->names, name, x->text.width_cols - indent_cols));
		text_newline(&x->text);
		mem_free(name);
		is_first = false;
		if (!start)
			return;
		end = start - 1;
	}
}

static void write_stack(struct table *t, size_t row)
{
	struct out *x = t->x;
	const struct result_row own = result_row(x->r, row), *r = &own;
	size_t indent_cols = table_numbers_cols(t);
	char other[OUT_NUMBER_BYTES];
	table_numbers(t, STYLE_PLAIN, out_cell(x, row, 0));
	if (r->kind == ROW_OTHER) {
		text_put(&x->text, STYLE_DIM, out_other(other, r));
		text_newline(&x->text);
	} else if (r->frame_count && x->r->graph) {
		write_frames(x, r, indent_cols);
	} else {
		const char *names =
			t->text_at == SIZE_MAX ? NULL : out_text(x, row, t->order[t->text_at]);
		write_names(x, names ? names : "[unknown]", indent_cols);
	}
}

void out_stacks(struct out *x)
{
	struct table t;
	if (!table_init(&t, x))
		return;
	table_measure(&t);
	table_head(&t);
	for (size_t row = 0; row < x->r->row_count; row++) {
		write_stack(&t, row);
		text_newline(&x->text);
	}
	table_total(&t);
	table_release(&t);
}

/* ---- folded -------------------------------------------------------------------------- */

static const char *folded_name(struct out *x, size_t row)
{
	static const char other[] = "(other rows)";
	if (result_row(x->r, row).kind == ROW_OTHER)
		return other;
	for (size_t i = 0; i < x->shown_count; i++) {
		const char *text = out_is_text(&x->r->columns[x->shown[i]])
					   ? out_text(x, row, x->shown[i])
					   : NULL;
		if (text)
			return *text ? text : "[unknown]";
	}
	return "[unknown]";
}

void out_folded(struct out *x)
{
	size_t column = out_value_column(x);
	for (size_t row = 0; row < x->r->row_count && column != SIZE_MAX; row++) {
		out_clean(x->text.out, folded_name(x, row), "\n\r\t", ' ');
		buf_putc(x->text.out, ' ');
		out_raw(x->text.out, &x->r->columns[column], out_cell(x, row, column));
		buf_putc(x->text.out, '\n');
	}
}
