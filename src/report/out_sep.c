/*
 * Columns with separators.
 *
 *   tsv       tabs; tab, newline, return and backslash inside a name are \t, \n, \r, \\
 *   csv       RFC 4180: CRLF, quotes where a cell needs them
 *   markdown  a table for people
 *
 * tsv and csv have a header line and every row; there is no total line to be added up by
 * mistake.  Rows of trees begin with their depth.
 */
#include "config.h"

#include "src/report/out_priv.h"

#include <string.h>

static bool is_tree(const struct out *x)
{
	switch (x->r->view) {
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES:
	case VIEW_FLAME:
		return true;
	default:
		return false;
	}
}

/* ---- tsv and csv -------------------------------------------------------------------- */

static void put_tsv(struct buf *b, const char *s)
{
	for (; *s;) {
		size_t bytes = strcspn(s, "\t\n\r\\");
		struct buf part = {0};
		buf_put(&part, s, bytes);
		out_clean(b, part.count_bytes ? part.data : "", "", ' ');
		b->has_failed = b->has_failed || part.has_failed;
		buf_release(&part);
		s += bytes;
		if (*s) {
			buf_putc(b, '\\');
			buf_putc(b, *s == '\t' ? 't' : *s == '\n' ? 'n' : *s == '\r' ? 'r' : '\\');
			s++;
		}
	}
}

static void put_csv(struct buf *b, const char *s)
{
	bool has_quotes = strpbrk(s, ",\"\r\n") || *s == ' ' || (*s && s[strlen(s) - 1] == ' ');
	if (!has_quotes) {
		out_clean(b, s, "", ' ');
		return;
	}
	buf_putc(b, '"');
	for (;;) {
		size_t bytes = strcspn(s, "\"\r\n");
		struct buf part = {0};
		buf_put(&part, s, bytes);
		out_clean(b, part.count_bytes ? part.data : "", "", ' ');
		b->has_failed = b->has_failed || part.has_failed;
		buf_release(&part);
		s += bytes;
		if (!*s)
			break;
		if (*s == '"')
			buf_putc(b, '"');
		buf_putc(b, *s++);
	}
	buf_putc(b, '"');
}

static void put_text(struct buf *b, const char *s, bool is_csv)
{
	if (is_csv)
		put_csv(b, s);
	else
		put_tsv(b, s);
}

/* What was cut is named in the first key that it has no value of, so that the rows add up. */
static void put_cell(struct out *x, size_t row, size_t column, bool is_first_key, bool is_csv)
{
	const struct result_row own = result_row(x->r, row), *r = &own;
	const struct result_column *c = &x->r->columns[column];
	struct buf *b = x->text.out;
	char other[OUT_NUMBER_BYTES];
	if (out_is_cut(x, row, column)) {
		if (is_first_key)
			put_text(b, out_other(other, r), is_csv);
		return;
	}
	if (out_is_text(c)) {
		const char *text = out_text(x, row, column);
		put_text(b, text ? text : "[unknown]", is_csv);
	} else if (!out_cell(x, row, column)->is_unknown) {
		out_raw(b, c, out_cell(x, row, column));
	}
}

static void put_line(struct out *x, size_t row, bool is_csv)
{
	struct buf *b = x->text.out;
	char separator = is_csv ? ',' : '\t';
	bool has_key = false;
	if (is_tree(x))
		buf_printf(b, "%u", result_row(x->r, row).depth);
	for (size_t i = 0; i < x->shown_count; i++) {
		if (i || is_tree(x))
			buf_putc(b, separator);
		put_cell(x, row, x->shown[i], !has_key, is_csv);
		has_key = has_key || out_is_cut(x, row, x->shown[i]);
	}
	buf_puts(b, is_csv ? "\r\n" : "\n");
}

void out_separated(struct out *x, bool is_csv)
{
	struct buf *b = x->text.out;
	char separator = is_csv ? ',' : '\t';
	if (is_tree(x))
		buf_puts(b, "depth");
	for (size_t i = 0; i < x->shown_count; i++) {
		if (i || is_tree(x))
			buf_putc(b, separator);
		put_text(b, x->r->columns[x->shown[i]].word, is_csv);
	}
	buf_puts(b, is_csv ? "\r\n" : "\n");
	for (size_t row = 0; row < x->r->row_count; row++)
		put_line(x, row, is_csv);
}

/* ---- markdown ------------------------------------------------------------------------ */

/* Names are code, so that nothing in them is markup; a bar would end the cell all the same. */
static void put_code(struct buf *b, const char *s)
{
	buf_putc(b, '`');
	for (; *s;) {
		size_t bytes = strcspn(s, "|`");
		struct buf part = {0};
		buf_put(&part, s, bytes);
		out_clean(b, part.count_bytes ? part.data : "", "\t\n\r", ' ');
		b->has_failed = b->has_failed || part.has_failed;
		buf_release(&part);
		s += bytes;
		if (*s)
			buf_puts(b, *s++ == '|' ? "\\|" : "'");
	}
	buf_putc(b, '`');
}

static void put_markdown_key(struct out *x, size_t row, size_t column, bool is_first)
{
	struct buf *b = x->text.out;
	const struct result_row own = result_row(x->r, row), *r = &own;
	char other[OUT_NUMBER_BYTES];
	if (out_is_cut(x, row, column)) {
		buf_puts(b, is_first ? out_other(other, r) : "");
		return;
	}
	if (is_first && is_tree(x))
		buf_repeat(b, "&nbsp;&nbsp;", r->depth < 40 ? r->depth : 40);
	const char *text = out_text(x, row, column);
	put_code(b, text && *text ? text : "[unknown]");
}

static void put_markdown_row(struct out *x, size_t row)
{
	struct buf *b = x->text.out;
	char number[OUT_NUMBER_BYTES];
	bool has_key = false;
	const struct result_row r = result_row(x->r, row);
	for (size_t i = 0; i < x->shown_count; i++) {
		size_t column = x->shown[i];
		const struct result_column *c = &x->r->columns[column];
		buf_puts(b, i ? " | " : "| ");
		if (out_is_text(c)) {
			put_markdown_key(x, row, column, !has_key);
			has_key = true;
		} else if (!out_is_cut(x, row, column)) {
			buf_puts(b, out_number(number, x->r, c, out_cell(x, row, column)));
		} else if (!has_key) {
			buf_puts(b, out_other(number, &r));
			has_key = true;
		}
	}
	buf_puts(b, " |\n");
}

static void put_markdown_total(struct out *x)
{
	struct buf *b = x->text.out;
	char number[OUT_NUMBER_BYTES];
	bool has_key = false;
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct result_column *c = &x->r->columns[x->shown[i]];
		buf_puts(b, i ? " | " : "| ");
		if (!c->is_key)
			buf_printf(b, "**%s**",
				   out_number(number, x->r, c, &x->r->totals[x->shown[i]]));
		else if (!has_key)
			buf_puts(b, "**total**");
		has_key = has_key || c->is_key;
	}
	buf_puts(b, " |\n");
}

void out_markdown(struct out *x)
{
	struct buf *b = x->text.out;
	if (x->r->population) {
		out_clean(b, x->r->population, "\t\n\r", ' ');
		buf_puts(b, ": ");
	}
	put_code(b, x->r->canonical ? x->r->canonical : "");
	buf_puts(b, "\n\n");
	for (size_t i = 0; i < x->shown_count; i++) {
		buf_puts(b, i ? " | " : "| ");
		out_clean(b, x->r->columns[x->shown[i]].word, "|\t\n\r", ' ');
	}
	buf_puts(b, " |\n");
	for (size_t i = 0; i < x->shown_count; i++)
		buf_puts(b, out_is_text(&x->r->columns[x->shown[i]]) ? "|:--" : "|--:");
	buf_puts(b, "|\n");
	for (size_t row = 0; row < x->r->row_count; row++)
		put_markdown_row(x, row);
	if (x->r->view != VIEW_SUM && x->r->view != VIEW_TIMELINE)
		put_markdown_total(x);
}
