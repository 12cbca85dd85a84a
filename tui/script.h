/*
 * Key scripts: what the browser does without a terminal, for tests and for pictures.
 *
 *   # a comment
 *   size 24 80           of the screen from here on; at first 24 rows of 80
 *   Down Down Enter      keys by name, one after another
 *   text json_parse      the rest of the line as typed
 *   mouse press 5 10     press, drag, release, double, up, down; row and column from 0
 *   :screenshot FILE     the screen as text; FILE.styled if it ends in that: with looks
 *   :expect TEXT         fail unless the screen shows it
 */
#ifndef NEAP_TUI_SCRIPT_H
#define NEAP_TUI_SCRIPT_H

#include "src/base/err.h"
#include "tui/browser.h"

/* script_run - text of a script; name is for messages.  Fails: ERR_USAGE with the line, ERR_IO. */
enum neap_err script_run(struct browser *b, const char *name, const char *text, size_t bytes,
			 struct err *e);

#endif
