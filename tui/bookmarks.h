/* Views under letters: one key asks for the letter, the next one is it. */
#ifndef NEAP_TUI_BOOKMARKS_H
#define NEAP_TUI_BOOKMARKS_H

#include "tui/browser.h"

#define BOOKMARKS_MOST 62u /* letters and digits */

/* bookmarks_ask - for the letter of ACTION_BOOKMARK or ACTION_GO_BOOKMARK. */
void bookmarks_ask(struct browser *b, enum action action);
/* bookmarks_input - the key that may be the letter; false: nobody asked. */
bool bookmarks_input(struct browser *b, const struct input *in);
/* bookmarks_set - under a letter, in place of what was there; takes over *s.  False: no memory, or
 * it is no letter; *s is freed then. */
bool bookmarks_set(struct browser *b, uint32_t letter, struct saved_state *s);
const struct saved_state *bookmarks_find(const struct browser *b, uint32_t letter);
void bookmarks_release(struct browser *b);

#endif
