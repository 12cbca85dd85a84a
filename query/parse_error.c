/*
 * An error with the line it is in and a caret.
 *
 * Columns count characters.  The caret's line repeats tabs and pads wide characters with as
 * many blanks as they are wide, so that it points at the right place on any terminal.
 */
#include "config.h"

#include "query/parse.h"

#include <string.h>

#include "src/base/fmt.h"
#include "src/base/utf8.h"

#define LINE_BEFORE_CHARS 100 /* of a long line shown before the caret */
#define LINE_AFTER_CHARS  60  /* and after its start */
#define CHAR_BYTES        16

struct line {
	size_t start, end;     /* bytes of the text */
	size_t number, column; /* from 1; column of the caret in characters */
};

static size_t next_char(const char *text, size_t pos, size_t end)
{
	size_t bytes;
	utf8_decode((const uint8_t *)text + pos, (const uint8_t *)text + end, &bytes);
	return pos + bytes;
}

static struct line find_line(const char *text, size_t bytes, size_t at)
{
	struct line l = {.number = 1, .column = 1, .end = bytes};
	for (size_t i = 0; i < at; i++) {
		if (text[i] == '\n') {
			l.number++;
			l.start = i + 1;
		}
	}
	const char *newline = at < bytes ? memchr(text + at, '\n', bytes - at) : NULL;
	if (newline)
		l.end = (size_t)(newline - text);
	if (l.end > l.start && text[l.end - 1] == '\r' && l.end - 1 >= at)
		l.end--;
	for (size_t i = l.start; i < at; i = next_char(text, i, l.end))
		l.column++;
	return l;
}

/* One character as it is shown; a tab stays one. */
static size_t show_char(const char *text, size_t pos, size_t end, char dst[CHAR_BYTES])
{
	size_t next = next_char(text, pos, end);
	if (text[pos] == '\t') {
		dst[0] = '\t';
		dst[1] = '\0';
	} else {
		fmt_safe(dst, CHAR_BYTES, text + pos, next - pos, true);
	}
	return next;
}

static void print_line(const char *text, const struct line *l, const struct ast_span *span,
		       struct buf *out)
{
	char c[CHAR_BYTES];
	struct buf carets = {0};
	size_t span_end = (size_t)span->start + span->bytes, column = 1;
	bool is_cut = l->column > LINE_BEFORE_CHARS + 1;
	if (span_end > l->end)
		span_end = l->end;
	buf_puts(out, is_cut ? " | ..." : " | ");
	buf_puts(&carets, is_cut ? " |    " : " | ");
	for (size_t pos = l->start; pos < l->end; column++) {
		size_t at = pos;
		pos = show_char(text, pos, l->end, c);
		if (column + LINE_BEFORE_CHARS < l->column)
			continue;
		if (column > l->column + LINE_AFTER_CHARS) {
			buf_puts(out, "...");
			break;
		}
		buf_puts(out, c);
		size_t width = c[0] == '\t' ? 1 : fmt_width(c, strlen(c));
		if (at < span->start)
			buf_repeat(&carets, c[0] == '\t' ? "\t" : " ", width);
		else if (at == span->start)
			buf_putc(&carets, '^');
		if (at > span->start && at < span_end)
			buf_repeat(&carets, "~", width);
		else if (at == span->start && at < span_end && width > 1)
			buf_repeat(&carets, "~", width - 1);
	}
	if (span->start >= l->end)
		buf_putc(&carets, '^');
	buf_putc(out, '\n');
	buf_put(out, carets.data, carets.count_bytes);
	buf_putc(out, '\n');
	out->has_failed |= carets.has_failed;
	buf_release(&carets);
}

void query_error_print(const struct query_error *error, const char *name, const char *text,
		       size_t bytes, struct buf *out)
{
	struct ast_span span = error->span;
	buf_printf(out, "error: %s\n", error->text);
	if (error->code == ERR_NOMEM)
		return;
	if (span.start > bytes)
		span = (struct ast_span){(uint32_t)bytes, 0};
	struct line l = find_line(text, bytes, span.start);
	buf_printf(out, " --> %s:%zu:%zu\n", name, l.number, l.column);
	print_line(text, &l, &span, out);
	if (error->expected[0])
		buf_printf(out, " = expected: %s\n", error->expected);
	if (error->help[0])
		buf_printf(out, " = help: %s\n", error->help);
}
