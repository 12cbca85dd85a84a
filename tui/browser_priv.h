/* Between browser.c (loading, drawing), inputs.c, actions.c (keys) and edits.c (those that edit the query). */
#ifndef NEAP_TUI_BROWSER_PRIV_H
#define NEAP_TUI_BROWSER_PRIV_H

#include "tui/browser.h"

static inline const struct view *browser_view(const struct browser *b)
{
	return view_of(model_state(&b->model)->screen);
}
/* browser_load - what the current state shows, if that is not there already.  False: no memory. */
bool browser_load(struct browser *b);

/* actions_do - one action of the table of keys. */
void actions_do(struct browser *b, enum action action);

/* edits_do - False: it edits no query. */
bool edits_do(struct browser *b, enum action action);
void edits_show_screen(struct browser *b, enum screen s);

#endif
