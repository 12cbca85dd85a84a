/* What holds for the browser after every input, whatever the input and the profile. */
#ifndef NEAP_TESTS_TUI_INVARIANTS_H
#define NEAP_TESTS_TUI_INVARIANTS_H

#include "tui/browser.h"

/*
 * invariants_broken - what is wrong after browser_draw; NULL: nothing.  Borrowed until the next call.
 *
 *   cells     printable, none that moves or hides others; wide ones whole; ASCII where that was asked for
 *   cursor    on the screen
 *   query     the text of the chips parses to itself, and what Y copies parses
 *   rows      of all results that are open: what is shown and what is cut is the total
 * Cost: linear in the screen; in a result when it has rows that were not looked at yet.
 */
const char *invariants_broken(struct browser *b);

#endif
