/*
 * Profiles that grow while they are looked at: the files are opened again when their size or
 * time has changed.  Nothing is looked at while a question is open.
 */
#ifndef NEAP_TUI_FOLLOW_H
#define NEAP_TUI_FOLLOW_H

#include "tui/browser.h"

/* follow_begin - after opening: follow if asked to, or if the last recording has no end yet. */
void follow_begin(struct browser *b, bool is_asked);
/* follow_wait_ms - how long to wait for a key before SPECIAL_TICK; -1: for ever. */
int follow_wait_ms(const struct browser *b);
/* follow_tick - time has passed: load what is new.  Cost: a stat for each file if nothing is. */
void follow_tick(struct browser *b);
/* follow_word - "recording" or "following" for the title; NULL: neither. */
const char *follow_word(const struct browser *b);

#endif
