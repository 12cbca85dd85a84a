/* Any result as a table of a page: what people are shown, and what it is sorted by. */
#include "config.h"

#include "src/report/exported.h"

#include "query/vocab.h"

#include <string.h>

#define SHOWN_COLS  110u
#define PLACE_COLS  60u
#define TITLE_BYTES 1000u

struct table_maker {
	struct out *x;
	struct exported *ex;
	size_t columns[64]; /* shown ones: keys first, as one reads a page */
	size_t column_count;
};

static void choose_columns(struct table_maker *m)
{
	const struct out *x = m->x;
	for (int wants_keys = 1; wants_keys >= 0; wants_keys--) {
		for (size_t i = 0; i < x->shown_count; i++) {
			bool is_key = x->r->columns[x->shown[i]].is_key;
			if (is_key == wants_keys &&
			    m->column_count < sizeof m->columns / sizeof m->columns[0])
				m->columns[m->column_count++] = x->shown[i];
		}
	}
}

/* What is known of a frame beyond its short name. */
static const char *title_of(struct table_maker *m, size_t row, size_t column)
{
	struct out *x = m->x;
	const struct result_row *r = &x->r->rows[row];
	if (r->kind == ROW_OTHER || strcmp(key_field(x->r->columns[column].word), "func") != 0)
		return NULL;
	const char *text = out_cell(x, row, column)->text;
	const char *shown = text ? out_function(x, text, SHOWN_COLS) : "";
	if (!text || !strcmp(text, shown))
		return NULL;
	return exported_text(m->ex, "%.*s", (int)TITLE_BYTES, text);
}

/* A line number alone says little: on a page it is the place, or the module where there is none. */
static bool is_place(const struct table_maker *m, const struct result_column *c)
{
	return c->is_key && !strcmp(c->word, "line") && m->x->r->graph &&
	       m->x->r->view != VIEW_SOURCE;
}

static const char *place_of(struct table_maker *m, size_t row)
{
	struct out *x = m->x;
	const struct result_row *r = &x->r->rows[row];
	if (!r->frame_count)
		return "";
	struct graph_frame f = graph_entry(x->r->graph, r->frames[0]);
	const char *place = name_place(&x->names, &f, PLACE_COLS, false);
	if (!*place && f.module_path)
		place = name_module(&x->names, f.module_path, PLACE_COLS);
	return exported_text(m->ex, "%s", place);
}

static bool fill_cell(struct table_maker *m, size_t row, size_t column, struct export_cell *out)
{
	struct out *x = m->x;
	const struct result_column *c = &x->r->columns[column];
	const struct result_cell *cell = out_cell(x, row, column);
	char number[OUT_NUMBER_BYTES];
	if (is_place(m, c)) {
		out->text = place_of(m, row);
	} else if (out_is_text(c)) {
		out->title = title_of(m, row, column);
		out->text = exported_text(m->ex, "%s", out_shown_text(x, row, column, SHOWN_COLS));
	} else if (c->is_key && c->type != RESULT_NUMBER && x->r->view == VIEW_HIST) {
		char bucket[2 * OUT_NUMBER_BYTES];
		out->text = exported_text(m->ex, "%s", out_bucket(bucket, sizeof bucket, c, cell));
		out->number = out_value(c, cell);
	} else {
		out->text = exported_text(m->ex, "%s", out_number(number, x->r, c, cell));
		out->number = out_value(c, cell);
	}
	return out->text;
}

static bool fill_total(struct table_maker *m, size_t column, const struct result_cell *cell,
		       const char *name, struct export_cell *out)
{
	const struct result_column *c = &m->x->r->columns[column];
	char number[OUT_NUMBER_BYTES];
	bool is_number = !out_is_text(c) && !c->is_key;
	out->text = is_number ? exported_text(m->ex, "%s", out_number(number, m->x->r, c, cell))
			      : exported_text(m->ex, "%s", name);
	out->number = is_number ? out_value(c, cell) : 0;
	return out->text;
}

/* A line without keys: the totals, or the rows that were cut. */
static struct export_cell *make_line(struct table_maker *m, const struct result_cell *cells,
				     const char *name)
{
	struct export_cell *line = arena_array(&m->ex->arena, m->column_count + 1, sizeof *line);
	bool is_named = false;
	for (size_t i = 0; line && i < m->column_count; i++) {
		bool is_key = m->x->r->columns[m->columns[i]].is_key;
		if (!fill_total(m, m->columns[i], &cells[m->columns[i]],
				is_key && !is_named ? name : "", &line[i]))
			return NULL;
		is_named = is_named || is_key;
	}
	return line;
}

static bool fill_columns(struct table_maker *m)
{
	const struct query_result *r = m->x->r;
	struct export_table *t = &m->ex->table;
	struct export_column *columns =
		arena_array(&m->ex->arena, m->column_count + 1, sizeof *columns);
	t->bar_column = SIZE_MAX;
	for (size_t i = 0; columns && i < m->column_count; i++) {
		const struct result_column *c = &r->columns[m->columns[i]];
		bool is_text = out_is_text(c) || is_place(m, c);
		columns[i] = (struct export_column){.word = is_place(m, c) ? "place" : c->word,
						    .is_text = is_text,
						    .is_code = is_text};
		if (c->type == RESULT_RATIO)
			t->bar_column = i;
	}
	t->columns = columns;
	t->column_count = m->column_count;
	return columns;
}

static bool is_tree(enum ast_view view)
{
	return view == VIEW_TREE || view == VIEW_CALLERS || view == VIEW_CALLEES ||
	       view == VIEW_FLAME;
}

/* The row of what was cut is the last one of a table; in trees it is where it belongs. */
static bool fill_rows(struct table_maker *m)
{
	struct out *x = m->x;
	const struct query_result *r = x->r;
	struct export_table *t = &m->ex->table;
	struct export_cell *cells =
		arena_array(&m->ex->arena, r->row_count * m->column_count + 1, sizeof *cells);
	uint32_t *depths = arena_array(&m->ex->arena, r->row_count + 1, sizeof *depths);
	char other[OUT_NUMBER_BYTES];
	if (!cells || !depths)
		return false;
	for (size_t row = 0; row < r->row_count; row++) {
		const struct result_cell *from = &r->cells[row * r->column_count];
		if (r->rows[row].kind == ROW_OTHER) {
			struct export_cell *line =
				make_line(m, from, out_other(other, &r->rows[row]));
			if (!line)
				return false;
			if (!is_tree(r->view)) {
				t->others = line;
				continue;
			}
			memcpy(&cells[t->row_count * m->column_count], line,
			       m->column_count * sizeof *line);
		}
		for (size_t i = 0; r->rows[row].kind != ROW_OTHER && i < m->column_count; i++) {
			if (!fill_cell(m, row, m->columns[i],
				       &cells[t->row_count * m->column_count + i]))
				return false;
		}
		depths[t->row_count++] = r->rows[row].depth;
	}
	t->cells = cells;
	t->depths = is_tree(r->view) ? depths : NULL;
	return true;
}

enum neap_err exported_table(struct out *x, struct exported *ex, struct err *e)
{
	struct table_maker m = {.x = x, .ex = ex};
	ex->table = (struct export_table){.row_count = 0};
	choose_columns(&m);
	bool is_good = fill_columns(&m) && fill_rows(&m);
	if (is_good && x->r->view != VIEW_SUM && x->r->view != VIEW_TIMELINE) {
		ex->table.totals = make_line(&m, x->r->totals, "total");
		is_good = ex->table.totals;
	}
	return is_good ? NEAP_OK : err_nomem(e, "the result");
}
