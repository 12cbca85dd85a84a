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

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONTEXT_LINES    3
#define SOURCE_MAX_BYTES (64u << 20)
#define TAB_COLS         8u
#define LINE_COLS        6u

struct lines { /* of one file */
	struct buf text;
	const char **start; /* [count + 1] */
	size_t count;
	bool is_newer;
};

static void lines_release(struct lines *l)
{
	buf_release(&l->text);
	mem_free(l->start);
}

/* ---- reading -------------------------------------------------------------------- */

/* Only a regular file: the path comes from the profile, and may name a device. */
static int open_source(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size <= (off_t)SOURCE_MAX_BYTES)
		return fd;
	close(fd);
	return -1;
}

static bool split_lines(struct lines *l)
{
	size_t bytes = l->text.count_bytes, cap = 0;
	const char *p = l->text.data, *end = p + bytes;
	while (p < end) {
		if (!vec_reserve((void **)&l->start, &cap, l->count + 2, sizeof *l->start))
			return false;
		l->start[l->count++] = p;
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		p = newline ? newline + 1 : end;
		l->start[l->count] = p;
	}
	return true;
}

/* False: not here; *has_failed: no memory. */
static bool lines_read(struct lines *l, const char *path, uint64_t recorded_unix_ns,
		       bool *has_failed)
{
	struct stat st;
	char part[16384];
	ssize_t got;
	*l = (struct lines){.count = 0};
	int fd = open_source(path, &st);
	if (fd < 0)
		return false;
	while ((got = read(fd, part, sizeof part)) > 0 && l->text.count_bytes <= SOURCE_MAX_BYTES)
		buf_put(&l->text, part, (size_t)got);
	close(fd);
	l->is_newer = recorded_unix_ns &&
		      (uint64_t)st.st_mtim.tv_sec > recorded_unix_ns / UINT64_C(1000000000);
	*has_failed = l->text.has_failed || !split_lines(l);
	return !*has_failed && !got && l->count;
}

/* ---- writing ---------------------------------------------------------------------- */

struct source {
	struct table t;
	size_t file_column, line_column;
	size_t *rows; /* [count], by file and line */
	size_t count;
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

/* Tabs become spaces, control characters nothing a terminal obeys. */
static void put_source_text(struct out *x, const char *s, size_t bytes)
{
	struct buf *b = &x->scratch;
	size_t at_cols = 0;
	buf_clear(b);
	while (bytes && (s[bytes - 1] == '\n' || s[bytes - 1] == '\r'))
		bytes--;
	for (size_t i = 0; i < bytes; i++) {
		size_t cols = s[i] == '\t' ? TAB_COLS - at_cols % TAB_COLS : 1;
		if (s[i] == '\t')
			buf_repeat(b, " ", cols);
		else
			buf_putc(b, s[i]);
		at_cols += cols;
	}
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
		put_source_text(x, l->start[line - 1],
				(size_t)(l->start[line] - l->start[line - 1]));
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
	bool is_here = lines_read(&l, path, p ? p->run.start_unix_ns : 0, &x->has_failed);
	text_newline(&x->text);
	text_put(&x->text, STYLE_HEADING,
		 *path ? name_text(&x->names, path, SIZE_MAX / 8) : "[unknown]");
	if (!is_here)
		text_put(&x->text, STYLE_WARNING, "  (not found here: lines without their text)");
	else if (l.is_newer)
		text_put(&x->text, STYLE_WARNING,
			 "  (changed since the recording: lines may have moved)");
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
	table_release(&s.t);
	mem_free(s.rows);
}
