/*
 * Source with its cost: rows have the keys file and line, and each file is shown around the
 * lines that have a row.  A file that is not here, or is newer than the profile, says so once.
 *
 *   src/parse.c
 *        self     total    count   line
 *                                    40      node *n = alloc_node(p);
 *    16.2 MiB  16.2 MiB    9,759     41      n->text = strdup(p->at);
 */
#include "config.h"

#include "src/report/out_priv.h"

#include "src/base/mem.h"
#include "src/report/lines.h"
#include "src/report/source_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONTEXT_LINES 3
#define LINE_COLS     6u

/* ---- writing ---------------------------------------------------------------------- */

struct source {
	struct table t;
	size_t file_column, line_column;
	size_t *rows; /* [count], by file and line */
	size_t count;
	size_t missing_count; /* files that are not here */
};

static const char *file_of(const struct source *s, size_t row)
{
	const struct result_cell *cell = out_cell(s->t.x, row, s->file_column);
	return cell->is_unknown || !cell->text ? "" : cell->text;
}

static int64_t line_of(const struct source *s, size_t row)
{
	const struct result_cell *cell = out_cell(s->t.x, row, s->line_column);
	return cell->is_unknown ? 0 : cell->value;
}

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct source *s = context;
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	int order = strcmp(file_of(s, a), file_of(s, b));
	if (!order)
		order = (line_of(s, a) > line_of(s, b)) - (line_of(s, a) < line_of(s, b));
	return order ? order : (a > b) - (a < b);
}

/* Control characters become nothing a terminal obeys. */
static void put_source_text(struct out *x, const struct lines *l, size_t line)
{
	struct buf *b = &x->scratch;
	buf_clear(b);
	lines_expand(l, line, SIZE_MAX, b);
	if (b->count_bytes)
		text_put(&x->text, STYLE_PLAIN, name_text(&x->names, b->data, SIZE_MAX / 8));
}

static void write_line(struct source *s, size_t row, int64_t line, const struct lines *l)
{
	struct out *x = s->t.x;
	char number[FMT_BYTES];
	if (row == SIZE_MAX)
		text_spaces(&x->text, table_numbers_cols(&s->t));
	else
		table_numbers(&s->t, STYLE_STRONG, out_cell(x, row, 0));
	snprintf(number, sizeof number, line ? "%" PRId64 : "?", line);
	text_right(&x->text, STYLE_DIM, LINE_COLS, number);
	text_spaces(&x->text, OUT_GAP_COLS);
	if (line > 0 && (uint64_t)line <= l->count)
		put_source_text(x, l, (size_t)line);
	text_newline(&x->text);
}

/* From after the last line written, or a little above this one, to a little below it. */
static void write_around(struct source *s, size_t i, size_t end, int64_t *written,
			 const struct lines *l)
{
	int64_t line = line_of(s, s->rows[i]);
	int64_t from = line - CONTEXT_LINES, until = line + CONTEXT_LINES;
	if (from <= *written + 1)
		from = *written + 1;
	else if (*written)
		text_newline(&s->t.x->text);
	if (until > (int64_t)l->count)
		until = (int64_t)l->count;
	if (i + 1 < end && line_of(s, s->rows[i + 1]) <= until)
		until = line_of(s, s->rows[i + 1]) - 1;
	for (int64_t at = from < 1 ? 1 : from; at < line && at <= (int64_t)l->count; at++)
		write_line(s, SIZE_MAX, at, l);
	write_line(s, s->rows[i], line, l);
	for (int64_t at = line + 1; at <= until; at++)
		write_line(s, SIZE_MAX, at, l);
	*written = until > line ? until : line;
}

static void write_file(struct source *s, size_t start, size_t end)
{
	struct out *x = s->t.x;
	struct lines l;
	const char *path = file_of(s, s->rows[start]);
	const struct profile *p = x->r->graph ? graph_profile(x->r->graph) : NULL;
	struct source_ask ask = {
		.graph = x->r->graph, .fetch = x->o->fetch_source, .context = x->o->fetch_context};
	const struct lines_search search = {
		.map = x->o->sources,
		.fetch = p && x->o->fetch_source ? source_ask : NULL,
		.context = &ask,
	};
	bool is_here = lines_find(&l, path, p ? &p->run : NULL, &search, &x->has_failed);
	text_newline(&x->text);
	text_put(&x->text, STYLE_HEADING,
		 *path ? name_text(&x->names, path, SIZE_MAX / 8) : "[unknown]");
	if (!is_here)
		text_put(&x->text, STYLE_WARNING, "  (not found here: lines without their text)");
	else if (l.is_newer)
		text_put(&x->text, STYLE_WARNING,
			 "  (changed since the recording: lines may have moved)");
	s->missing_count += !is_here && *path;
	text_newline(&x->text);
	table_head(&s->t);
	int64_t written = 0;
	for (size_t i = start; i < end; i++) {
		if (is_here && line_of(s, s->rows[i]) > 0)
			write_around(s, i, end, &written, &l);
		else
			write_line(s, s->rows[i], line_of(s, s->rows[i]), &l);
	}
	lines_release(&l);
}

static void write_files(struct source *s)
{
	qsort_r(s->rows, s->count, sizeof *s->rows, compare_rows, s);
	for (size_t start = 0, end; start < s->count; start = end) {
		end = start + 1;
		while (end < s->count &&
		       !strcmp(file_of(s, s->rows[start]), file_of(s, s->rows[end])))
			end++;
		write_file(s, start, end);
	}
	for (size_t row = 0; row < s->t.x->r->row_count; row++) {
		if (s->t.x->r->rows[row].kind == ROW_OTHER)
			table_row(&s->t, row);
	}
}

void out_source(struct out *x)
{
	struct source s = {.file_column = out_find_column(x, "file"),
			   .line_column = out_find_column(x, "line")};
	if (s.file_column == SIZE_MAX || s.line_column == SIZE_MAX) {
		out_table(x);
		return;
	}
	out_hide_column(x, s.file_column); /* headings and line numbers say it */
	out_hide_column(x, s.line_column);
	s.rows = mem_array(x->r->row_count, sizeof *s.rows);
	if (!s.rows || !table_init(&s.t, x)) {
		x->has_failed = true;
		mem_free(s.rows);
		return;
	}
	for (size_t row = 0; row < x->r->row_count; row++) {
		if (x->r->rows[row].kind != ROW_OTHER)
			s.rows[s.count++] = row;
	}
	table_measure(&s.t);
	write_files(&s);
	text_newline(&x->text);
	table_total(&s.t);
	if (s.missing_count) {
		text_newline(&x->text);
		text_printf(&x->text, STYLE_WARNING,
			    "%zu source file%s not found here; --source-path=FROM=TO says where "
			    "sources lie now",
			    s.missing_count, s.missing_count == 1 ? " was" : "s were");
		text_newline(&x->text);
	}
	table_release(&s.t);
	mem_free(s.rows);
}
