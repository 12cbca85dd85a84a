/* A line of text that is being edited. */
#ifndef NEAP_TUI_LINE_H
#define NEAP_TUI_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

struct line_edit {
	struct buf text;
	size_t cursor; /* bytes before it */
};
void line_release(struct line_edit *l);
/* line_set - another text, the cursor at its end. */
void line_set(struct line_edit *l, const char *text);
const char *line_text(const struct line_edit *l);
/* line_key - the usual keys of line editing, and characters.  False: another key. */
bool line_key(struct line_edit *l, uint32_t key);
/* line_replace - put a text in place of some bytes before the cursor. */
void line_replace(struct line_edit *l, size_t bytes, const char *text);

#endif
