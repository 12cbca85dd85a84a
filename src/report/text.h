/*
 * Text with styles and columns, into a buffer.  Everything that reaches the buffer
 * through here must be safe for a terminal already (see name.h for names).
 */
#ifndef NEAP_REPORT_TEXT_H
#define NEAP_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"

enum text_style {
	STYLE_PLAIN,
	STYLE_HEADING,
	STYLE_STRONG,
	STYLE_DIM,
	STYLE_WARNING,
	STYLE_CHART,
	STYLE_PEAK,
};

enum text_glyph {
	GLYPH_CALLER, /* in front of the caller of what stands above */
	GLYPH_SKIP,   /* in front of a caller further out */
	GLYPH_ELLIPSIS,
	GLYPH_TIMES,
	GLYPH_WARNING,
	GLYPH_PEAK,
	GLYPH_AXIS,
	GLYPH_AXIS_TICK,
	GLYPH_CORNER,
	GLYPH_LINE,
	GLYPH_LINE_TICK,
	GLYPH_COUNT,
};

struct text {
	struct buf *out;
	size_t width_cols;
	bool has_colour, is_utf8;
};

void text_put(struct text *t, enum text_style style, const char *s);
void text_printf(struct text *t, enum text_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void text_right(struct text *t, enum text_style style, size_t cols, const char *s);
void text_left(struct text *t, enum text_style style, size_t cols, const char *s);
void text_spaces(struct text *t, size_t cols);
void text_newline(struct text *t);
const char *text_glyph(const struct text *t, enum text_glyph glyph);
/* text_bar - a cell of a bar chart filled from below; eighths 0 .. 8. */
const char *text_bar(const struct text *t, unsigned eighths);
/* text_wrap - words of s in lines of at most the width, all lines but the first indented. */
void text_wrap(struct text *t, enum text_style style, size_t start_cols, size_t indent_cols,
	       const char *s);

#endif
