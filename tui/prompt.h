/*
 * The prompt in the last row: a query, a name to find, a filter, a file to write to.
 *
 * It completes words and names, says how many blocks what was typed leaves, and shows where an
 * error is.  Up and Down go through what was typed before.
 */
#ifndef NEAP_TUI_PROMPT_H
#define NEAP_TUI_PROMPT_H

#include "tui/browser.h"

enum prompt_kind {
	PROMPT_QUERY,
	PROMPT_FIND,
	PROMPT_FILTER,
	PROMPT_WRITE,
	PROMPT_KINDS,
};

/* prompt_open - with a text to begin with. */
void prompt_open(struct browser *b, enum prompt_kind kind, const char *text);
void prompt_close(struct browser *b);
/* prompt_input - an input for the open prompt; it may close. */
void prompt_input(struct browser *b, const struct input *in);
/* prompt_draw - the line itself, and above it candidates and messages. */
void prompt_draw(struct browser *b, const struct area *line, const struct area *above);
void prompt_free(struct prompt *p); /* NULL is fine */

void history_add(struct history *h, const char *text);
void history_release(struct history *h);

#endif
