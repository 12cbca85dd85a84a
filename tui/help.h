/*
 * The help screen: what the browser shows, then every key; scrolled and searched like any list.
 */
#ifndef NEAP_TUI_HELP_H
#define NEAP_TUI_HELP_H

#include "tui/browser.h"

void help_open(struct browser *b);
void help_close(struct browser *b);
/* help_input - a key for the open help; it may close. */
void help_input(struct browser *b, const struct input *in);
void help_draw(struct browser *b, const struct area *a);
/* help_find - as a view's find. */
bool help_find(struct browser *b, const char *text, bool is_back, bool is_here);

/* help_place - as a view's place. */
void help_place(const struct browser *b, struct buf *out);

#endif
