/*
 * Styles are SGR sequences around whole words, never across a newline, so that any
 * line of a report can be cut out or searched.
 */
#include "config.h"

#include "src/report/text.h"

#include "src/base/fmt.h"

#include <string.h>

static const char *const sgr[] = {
	[STYLE_PLAIN] = "",          [STYLE_HEADING] = "\033[1m",  [STYLE_STRONG] = "\033[1m",
	[STYLE_DIM] = "\033[2m",     [STYLE_WARNING] = "\033[33m", [STYLE_CHART] = "\033[36m",
	[STYLE_PEAK] = "\033[1;31m",
};

static const char *const glyphs[GLYPH_COUNT][2] = {
	[GLYPH_CALLER] = {"<", "\u2190"},     [GLYPH_SKIP] = {":", "\u22ee"},
	[GLYPH_ELLIPSIS] = {"...", "\u2026"}, [GLYPH_TIMES] = {"x", "\u00d7"},
	[GLYPH_WARNING] = {"!", "!"},         [GLYPH_PEAK] = {"v", "\u25bc"},
	[GLYPH_AXIS] = {"|", "\u2502"},       [GLYPH_AXIS_TICK] = {"+", "\u2524"},
	[GLYPH_CORNER] = {"+", "\u2514"},     [GLYPH_LINE] = {"-", "\u2500"},
	[GLYPH_LINE_TICK] = {"+", "\u252c"},
};

static const char *const bars[9][2] = {
	{" ", " "},      {".", "\u2581"}, {".", "\u2582"}, {":", "\u2583"}, {":", "\u2584"},
	{":", "\u2585"}, {"#", "\u2586"}, {"#", "\u2587"}, {"#", "\u2588"},
};

const char *text_glyph(const struct text *t, enum text_glyph glyph)
{
	return glyphs[glyph][t->is_utf8];
}

const char *text_bar(const struct text *t, unsigned eighths)
{
	return bars[eighths < 8 ? eighths : 8][t->is_utf8];
}

static void open_style(struct text *t, enum text_style style)
{
	if (t->has_colour)
		buf_puts(t->out, sgr[style]);
}

static void close_style(struct text *t, enum text_style style)
{
	if (t->has_colour && style != STYLE_PLAIN)
		buf_puts(t->out, "\033[0m");
}

void text_put(struct text *t, enum text_style style, const char *s)
{
	if (!*s)
		return;
	open_style(t, style);
	buf_puts(t->out, s);
	close_style(t, style);
}

void text_printf(struct text *t, enum text_style style, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	open_style(t, style);
	buf_vprintf(t->out, fmt, ap);
	close_style(t, style);
	va_end(ap);
}

void text_spaces(struct text *t, size_t cols)
{
	buf_repeat(t->out, " ", cols);
}

void text_right(struct text *t, enum text_style style, size_t cols, const char *s)
{
	size_t used = fmt_width(s, strlen(s));
	if (used < cols)
		text_spaces(t, cols - used);
	text_put(t, style, s);
}

void text_left(struct text *t, enum text_style style, size_t cols, const char *s)
{
	size_t used = fmt_width(s, strlen(s));
	text_put(t, style, s);
	if (used < cols)
		text_spaces(t, cols - used);
}

/* No line of a report ends in spaces. */
void text_newline(struct text *t)
{
	struct buf *b = t->out;
	while (b->count_bytes && b->data[b->count_bytes - 1] == ' ')
		b->count_bytes--;
	buf_putc(b, '\n');
}

void text_wrap(struct text *t, enum text_style style, size_t start_cols, size_t indent_cols,
	       const char *s)
{
	size_t at_cols = start_cols;
	bool is_first = true;
	open_style(t, style);
	while (*s) {
		size_t bytes = strcspn(s, " ");
		size_t cols = fmt_width(s, bytes);
		if (!is_first && at_cols + 1 + cols > t->width_cols) {
			close_style(t, style);
			text_newline(t);
			text_spaces(t, indent_cols);
			open_style(t, style);
			at_cols = indent_cols;
		} else if (!is_first) {
			buf_putc(t->out, ' ');
			at_cols++;
		}
		buf_put(t->out, s, bytes);
		at_cols += cols;
		s += bytes;
		s += strspn(s, " ");
		is_first = false;
	}
	close_style(t, style);
}
