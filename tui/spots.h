/*
 * Where one was in a state: rows that are selected, scrolled and open.  It is noted when the state is
 * left, and is there again when undo, redo, `q` or a query that was stopped lead back to it.
 */
#ifndef NEAP_TUI_SPOTS_H
#define NEAP_TUI_SPOTS_H

#include "tui/browser.h"

/* spots_leave - after an input, for the state before it, which its view still has loaded. */
void spots_leave(struct browser *b, const struct state *s, enum screen screen);
/* spots_arrive - after the load of the current state. */
void spots_arrive(struct browser *b);

#endif
