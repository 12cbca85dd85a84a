/* Between view_source.c (loading and keys), source_lines.c (which lines there are) and source_draw.c. */
#ifndef NEAP_TUI_SOURCE_PRIV_H
#define NEAP_TUI_SOURCE_PRIV_H

#include "tui/browser.h"
#include "tui/list.h"
#include "tui/show.h"

#define SOURCE_TEXT_BYTES 8192u /* of a line */

/* What stands in place of a row of the result. */
#define TAIL_OTHERS UINT32_MAX       /* lines in other files */
#define NO_ROW      (UINT32_MAX - 1) /* a line without memory */

struct numbered {      /* a line with memory */
	uint32_t line; /* 0: not known */
	uint32_t row;  /* of the result */
};

struct source {
	struct query_opened *q; /* borrowed from the model */
	struct list list;       /* lines of the file, then the tail */
	struct buf file;        /* its path; empty: not known */
	struct lines text;      /* empty: the file is not here */
	struct buf text_path;   /* whose text that is */
	bool has_tried;
	struct numbered *lines; /* of this file, by line */
	size_t line_count, line_cap;
	size_t before_text, in_text; /* of them: line not known; the text has it */
	struct numbered *tail;       /* lines that the text does not have, then what was cut */
	size_t tail_count, tail_cap;
	size_t others; /* lines in other files */
	int64_t others_self_bytes;
	size_t total, self, count, file_column, line_column;
	int64_t base_bytes;
	struct buf subject; /* of the last load */
	uint32_t kept_line; /* the one that was selected before it; 0: none */
	struct buf work;
};

const struct query_result *source_result(const struct source *s);
const char *source_path(const struct source *s); /* of the file; "": unknown */
/* source_is_plain - is the row a line, not what was cut? */
bool source_is_plain(const struct source *s, size_t row);
/* source_frame - of a row, or what stands in its place; false: it has none. */
bool source_frame(const struct source *s, uint32_t row, struct graph_frame *out);
struct source_values {
	int64_t total, self, count;
};
struct source_values source_values(const struct source *s, uint32_t row);
int64_t source_magnitude(int64_t v);
void source_set(struct buf *b, const char *text);
bool source_is(const struct buf *b, const char *text); /* is it that text? */

/* ---- after a load, in this order; false: no memory ------------------------------------------- */

/* source_choose_file - the file of the heaviest line; one that is known first. */
void source_choose_file(struct source *s);
/* source_gather - the lines of this file; the others are only added up. */
bool source_gather(struct source *s);
bool source_read_text(struct source *s, const struct browser *b);
/* source_make_tail - what the text has no line for. */
bool source_make_tail(struct source *s);

/* ---- places in the list ------------------------------------------------------------------------ */

/* source_item - what is at a place of the list. */
struct numbered source_item(const struct source *s, size_t at);
size_t source_place(const struct source *s, uint32_t line); /* SIZE_MAX: nowhere */
uint32_t source_heaviest_line(const struct source *s);      /* 0: none is known */

void source_draw(void *self, struct browser *b, const struct area *a); /* source_draw.c */

#endif
