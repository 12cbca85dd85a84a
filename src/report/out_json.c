/*
 * json: one document.
 *
 *   {"tool": "neap", "version": "0.1.0", "file": "a.neap", "files": ["a.neap"],
 *    "query": "live | by func", "population": "live at ...", "view": "table",
 *    "columns": [{"name": "func", "type": "text", "is_key": true}, ...],
 *    "units": {"total": "bytes", ...},
 *    "rows": [{"func": "main", "total": 123}, ..., {"other_rows": 12, "total": 9}],
 *    "totals": {"total": 132}, "notes": [], "assertion": {"text": "...", "holds": true}}
 *
 * Rows of trees have depth and parent (an index into rows, or null), rows of stacks have
 * frames, outermost first.  What is unknown is null.  jsonl has the rows only, one a line.
 */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/json.h"

#include <inttypes.h>
#include <string.h>

static void put_string(struct buf *b, const char *s)
{
	if (s)
		json_string(b, s, strlen(s));
	else
		buf_puts(b, "null");
}

static void put_name(struct buf *b, const char *name, bool *is_first)
{
	if (!*is_first)
		buf_puts(b, ", ");
	*is_first = false;
	put_string(b, name);
	buf_puts(b, ": ");
}

/* ---- rows ------------------------------------------------------------------------- */

static void put_frame(struct out *x, entry_id entry)
{
	struct graph_frame f = graph_entry(x->r->graph, entry);
	struct buf *b = x->text.out;
	buf_puts(b, "{\"func\": ");
	put_string(b, f.kind == FRAME_NAMED ? f.name : NULL);
	if (f.kind == FRAME_SIGNAL || f.kind == FRAME_TRUNCATED || f.kind == FRAME_NO_STACK) {
		buf_puts(b, ", \"special\": ");
		put_string(b, name_frame(&x->names, &f, 64));
	}
	buf_puts(b, ", \"file\": ");
	put_string(b, f.file_path);
	if (f.line)
		buf_printf(b, ", \"line\": %" PRIu32, f.line);
	else
		buf_puts(b, ", \"line\": null");
	buf_puts(b, ", \"module\": ");
	put_string(b, f.module_path);
	buf_printf(b, ", \"addr\": %" PRIu64 ", \"is_inlined\": %s, \"is_tail\": %s}", f.pc,
		   f.is_inlined ? "true" : "false", f.is_tail ? "true" : "false");
}

static void put_cell(struct out *x, const struct result_column *c, const struct result_cell *cell)
{
	if (cell->is_unknown)
		buf_puts(x->text.out, "null");
	else if (out_is_text(c))
		put_string(x->text.out, cell->text);
	else
		out_raw(x->text.out, c, cell);
}

static void put_place(struct out *x, const struct result_row *r, bool *is_first)
{
	struct buf *b = x->text.out;
	bool is_tree = x->r->view == VIEW_TREE || x->r->view == VIEW_CALLERS ||
		       x->r->view == VIEW_CALLEES || x->r->view == VIEW_FLAME;
	if (!is_tree)
		return;
	put_name(b, "depth", is_first);
	buf_printf(b, "%" PRIu32, r->depth);
	put_name(b, "parent", is_first);
	if (r->depth)
		buf_printf(b, "%" PRIu32, r->parent);
	else
		buf_puts(b, "null");
}

static bool is_stack(const struct out *x, const struct result_row *r, const struct result_column *c)
{
	return c->is_key && !strcmp(c->word, "stack") && r->frame_count && x->r->graph;
}

static void put_frames(struct out *x, const struct result_row *r)
{
	buf_putc(x->text.out, '[');
	for (uint32_t i = 0; i < r->frame_count; i++) {
		if (i)
			buf_puts(x->text.out, ", ");
		put_frame(x, r->frames[i]);
	}
	buf_putc(x->text.out, ']');
}

static void put_row(struct out *x, size_t row)
{
	const struct result_row own = result_row(x->r, row), *r = &own;
	struct buf *b = x->text.out;
	bool is_first = true;
	buf_putc(b, '{');
	put_place(x, r, &is_first);
	if (r->kind == ROW_OTHER) {
		put_name(b, "other_rows", &is_first);
		buf_printf(b, "%" PRIu32, r->count);
	}
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		if (out_is_cut(x, row, x->shown[i]))
			continue;
		put_name(b, c->word, &is_first);
		if (is_stack(x, r, c))
			put_frames(x, r);
		else
			put_cell(x, c, out_cell(x, row, x->shown[i]));
	}
	buf_putc(b, '}');
}

/* ---- the rest ------------------------------------------------------------------------ */

static const char *unit_of(enum result_type type)
{
	switch (type) {
	case RESULT_BYTES:
		return "bytes";
	case RESULT_COUNT:
		return "count";
	case RESULT_NS:
		return "ns";
	case RESULT_RATIO:
		return "ratio";
	case RESULT_RATE:
		return "bytes/s";
	case RESULT_TEXT:
	case RESULT_NUMBER:
		break;
	}
	return NULL;
}

static void put_columns(struct out *x)
{
	struct buf *b = x->text.out;
	buf_puts(b, ",\n \"columns\": [");
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		buf_puts(b, i ? ", {\"name\": " : "{\"name\": ");
		put_string(b, c->word);
		buf_printf(b, ", \"type\": \"%s\", \"is_key\": %s}",
			   out_is_text(c) ? "text" : "number", c->is_key ? "true" : "false");
	}
	buf_puts(b, "],\n \"units\": {");
	bool is_first = true;
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		if (!unit_of(c->type))
			continue;
		put_name(b, c->word, &is_first);
		put_string(b, unit_of(c->type));
	}
	buf_putc(b, '}');
}

static void put_totals(struct out *x)
{
	struct buf *b = x->text.out;
	bool is_first = true;
	buf_puts(b, ",\n \"totals\": {");
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		if (c->is_key)
			continue;
		put_name(b, c->word, &is_first);
		put_cell(x, c, &x->r->totals[x->shown[i]]);
	}
	buf_putc(b, '}');
}

static void put_list(struct buf *b, const char *const *texts, size_t count)
{
	buf_putc(b, '[');
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_puts(b, ", ");
		put_string(b, texts[i]);
	}
	buf_putc(b, ']');
}

static const char *view_word(enum ast_view view)
{
	static const char *const words[] = {
#define VIEW(id, word, meaning) word,
#include "query/fields.def"
	};
	return words[view];
}

static void put_head(struct out *x)
{
	struct buf *b = x->text.out;
	buf_puts(b, "{\"tool\": \"neap\", \"version\": ");
	put_string(b, PACKAGE_VERSION);
	buf_puts(b, ",\n \"file\": ");
	put_string(b, x->o->file_count ? x->o->files[0] : NULL);
	buf_puts(b, ", \"files\": ");
	put_list(b, x->o->files, x->o->file_count);
	buf_puts(b, ",\n \"query\": ");
	put_string(b, x->r->canonical);
	buf_puts(b, ",\n \"population\": ");
	put_string(b, x->r->population);
	buf_puts(b, ", \"view\": ");
	put_string(b, view_word(x->r->view));
}

void out_json(struct out *x)
{
	struct buf *b = x->text.out;
	put_head(x);
	put_columns(x);
	buf_puts(b, ",\n \"rows\": [");
	for (size_t row = 0; row < x->r->row_count; row++) {
		buf_puts(b, row ? ",\n  " : "\n  ");
		put_row(x, row);
	}
	buf_puts(b, x->r->row_count ? "\n ]" : "]");
	put_totals(x);
	buf_puts(b, ",\n \"notes\": ");
	put_list(b, x->r->notes, x->r->note_count);
	if (x->r->has_assertion) {
		buf_puts(b, ",\n \"assertion\": {\"text\": ");
		put_string(b, x->r->assertion_text);
		buf_printf(b, ", \"holds\": %s}", x->r->assertion_holds ? "true" : "false");
	}
	buf_puts(b, "}\n");
}

void out_jsonl(struct out *x)
{
	for (size_t row = 0; row < x->r->row_count; row++) {
		put_row(x, row);
		buf_putc(x->text.out, '\n');
	}
}
