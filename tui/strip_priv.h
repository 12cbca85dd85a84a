/* Between strip.c (drawing), strip_time.c (instants and ranges) and strip_keys.c (keys, mouse). */
#ifndef NEAP_TUI_STRIP_PRIV_H
#define NEAP_TUI_STRIP_PRIV_H

#include "tui/browser.h"

/*
 * strip_population - what was born in a window, in the words of the population that was looked at
 * before moving.
 */
const char *strip_population(const struct browser *b);

#endif
