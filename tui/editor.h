/*
 * The editor of the user at a line of source: which command, with which arguments.
 */
#ifndef NEAP_TUI_EDITOR_H
#define NEAP_TUI_EDITOR_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

struct browser;

struct editor_command {
	char **args; /* [count] and a NULL */
	size_t count;
};
/*
 * editor_split - the words of $VISUAL or $EDITOR, and the file at the line as that editor wants it.
 *   words  split at blanks; '...', "..." and a backslash keep them; nothing else has a meaning
 *   line   from 1; 0: not known
 * Free with editor_release.  Fails: ERR_USAGE (no word, or an open quote), ERR_NOMEM.
 */
enum neap_err editor_split(const char *words, const char *path, uint32_t line,
			   struct editor_command *out, struct err *e);
void editor_release(struct editor_command *c);

/*
 * editor_ask - leave what is to be run in b->editor, for the owner of the terminal, or say why
 * there is nothing to run.
 */
void editor_ask(struct browser *b);
/* editor_open - the same for a line of a file. */
void editor_open(struct browser *b, const char *path, uint32_t line);

#endif
