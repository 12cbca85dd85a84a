/*
 * Rows by their keys.  A row of `by module` has a frame too, one of many: what it is about is said
 * by its keys alone.
 */
#include "config.h"

#include "tui/rows.h"

#include <string.h>

#include "query/vocab.h"
#include "tui/show.h"

#define KEY_GAP 2u /* columns between keys in a label */

static const struct result_cell *cell_of(const struct query_result *r, size_t row, size_t column)
{
	return &r->cells[row * r->column_count + column];
}

/* ---- frames ------------------------------------------------------------------------------- */

bool row_is_function(const struct graph_frame *f)
{
	return f->kind == FRAME_NAMED || (f->kind == FRAME_ADDRESS && (f->module_path || f->pc));
}

static bool has_key(const struct query_result *r, const char *word)
{
	size_t column = result_column(r, word);
	return column != SIZE_MAX && r->columns[column].is_key;
}

/* The text of a key; NULL: there is none, or it is not known. */
static const char *text_of(const struct query_result *r, size_t row, const char *word)
{
	if (!has_key(r, word))
		return NULL;
	const struct result_cell *c = cell_of(r, row, result_column(r, word));
	return c->is_unknown || !c->text || !*c->text ? NULL : c->text;
}

/* leaf.func, caller.func, ...: the first of them is what the row is about. */
static bool has_function_of_frame(const struct query_result *r)
{
	for (size_t i = 0; i < r->column_count; i++) {
		const char *key = r->columns[i].word, *field = key_field(key);
		if (r->columns[i].is_key && field != key && !strcmp(field, "func"))
			return true;
	}
	return false;
}

/* What a diff of two files has of a function: frames of one are none of the other. */
static void take_name(const char *name, struct graph_frame *out)
{
	if (!name || name[0] == '[') /* [no stack] and its like */
		return;
	out->kind = FRAME_NAMED;
	out->name = name;
}

bool row_frame(const struct query_result *r, size_t row, struct graph_frame *out)
{
	*out = (struct graph_frame){.kind = FRAME_NO_STACK, .entry = ENTRY_NONE};
	if (row >= r->row_count || r->rows[row].kind != ROW_PLAIN)
		return false;
	const struct result_row *at = &r->rows[row];
	bool has_frames = r->graph && at->frame_count;
	bool is_of_function = has_key(r, "func") || has_key(r, "addr") || has_key(r, "stack") ||
			      has_function_of_frame(r);
	struct graph_frame f = {.kind = FRAME_NO_STACK};
	if (has_frames)
		f = graph_entry(r->graph, at->frames[at->frame_count - 1]);
	if (has_frames && is_of_function) {
		*out = f;
		return true;
	}
	take_name(text_of(r, row, "func"), out);
	out->module_path = text_of(r, row, "module");
	out->file_path = text_of(r, row, "file");
	if (has_key(r, "line") && has_frames) {
		out->file_path = f.file_path;
		out->line = f.line;
	}
	return out->name || out->module_path || out->file_path;
}

/* ---- names ---------------------------------------------------------------------------------- */

void row_put_keys(const struct query_result *r, size_t row, struct buf *out)
{
	char text[FMT_BYTES];
	const char *before = "";
	for (size_t i = 0; i < r->column_count; i++) {
		if (!r->columns[i].is_key)
			continue;
		buf_printf(out, "%s%s", before,
			   show_cell(text, sizeof text, cell_of(r, row, i), r->columns[i].type));
		before = "\t";
	}
}

bool row_matches(const struct query_result *r, size_t row, const char *text)
{
	char scratch[FMT_BYTES];
	bool is_it = false;
	for (size_t i = 0; i < r->column_count && !is_it; i++)
		is_it = r->columns[i].is_key &&
			strstr(show_cell(scratch, sizeof scratch, cell_of(r, row, i),
					 r->columns[i].type),
			       text);
	return is_it;
}

const char *row_key(struct shortener *names, const struct query_result *r, size_t row,
		    size_t column, unsigned cols, char scratch[FMT_BYTES])
{
	const char *key = r->columns[column].word, *word = key_field(key);
	const struct result_cell *c = cell_of(r, row, column);
	struct graph_frame f = {.kind = FRAME_NO_STACK};
	bool is_of_one_frame =
		word != key; /* leaf.func, caller.func: not always what the row is about */
	bool is_function = !strcmp(key, "func") || (!strcmp(key, "stack") && r->graph);
	if (is_of_one_frame && !strcmp(word, "func"))
		take_name(c->text, &f);
	if (is_function)
		row_frame(r, row, &f);
	if (row_is_function(&f))
		return name_frame(names, &f, cols);
	if (c->is_unknown)
		return "[unknown]";
	if (!strcmp(word, "file") || (!strcmp(word, "line") && c->text))
		return name_path(names, c->text, cols);
	if (!strcmp(word, "module"))
		return name_module(names, c->text, cols);
	if (r->columns[column].type == RESULT_TEXT)
		return name_text(names, c->text ? c->text : "", cols);
	if (r->columns[column].type == RESULT_BYTES)
		return fmt_bytes(scratch, FMT_BYTES, c->value);
	return show_cell(scratch, FMT_BYTES, c, r->columns[column].type);
}

static bool is_shown_key(const struct query_result *r, size_t column)
{
	return r->columns[column].is_key && !r->columns[column].is_hidden;
}

/* What keys from a column on need, each at most its share, with gaps before them. */
static unsigned cols_from(struct shortener *names, const struct query_result *r, size_t row,
			  size_t column, unsigned share)
{
	char number[FMT_BYTES];
	unsigned cols = 0;
	for (size_t i = column; i < r->column_count; i++) {
		if (is_shown_key(r, i))
			cols += text_cols(row_key(names, r, row, i, share, number)) + KEY_GAP;
	}
	return cols;
}

const char *row_label(struct shortener *names, const struct query_result *r, size_t row,
		      unsigned cols, struct buf *scratch)
{
	char number[FMT_BYTES];
	unsigned count = 0, left = cols;
	buf_clear(scratch);
	for (size_t i = 0; i < r->column_count; i++)
		count += is_shown_key(r, i);
	for (size_t i = 0; i < r->column_count && !scratch->has_failed; i++) {
		if (!is_shown_key(r, i))
			continue;
		unsigned later = count > 1 ? cols_from(names, r, row, i + 1, cols / count) : 0;
		const char *key =
			row_key(names, r, row, i, left > later ? left - later : 1, number);
		unsigned taken = text_cols(key) + KEY_GAP;
		buf_printf(scratch, "%s%s", scratch->count_bytes ? "  " : "", key);
		left = left > taken ? left - taken : 0;
	}
	return scratch->count_bytes && !scratch->has_failed ? scratch->data : "";
}

const char *row_name(struct shortener *names, const struct query_result *r, size_t row,
		     unsigned cols, struct buf *scratch)
{
	struct graph_frame f;
	if (has_key(r, "func") && row_frame(r, row, &f) && row_is_function(&f))
		return name_frame(names, &f, cols);
	return row_label(names, r, row, cols, scratch);
}

static uint64_t add_bytes(uint64_t hash, const void *data, size_t bytes)
{
	for (const unsigned char *p = data; bytes--; p++)
		hash = (hash ^ *p) * ROW_HASH_PRIME;
	return hash;
}

uint64_t row_hash(uint64_t hash, const struct query_result *r, size_t row)
{
	for (size_t i = 0; i < r->column_count; i++) {
		const struct result_cell *c = cell_of(r, row, i);
		if (r->columns[i].is_key && r->columns[i].type != RESULT_TEXT)
			hash = add_bytes(hash, &c->value, sizeof c->value);
		else if (r->columns[i].is_key && c->text)
			hash = add_bytes(hash, c->text, strlen(c->text));
	}
	return hash;
}
