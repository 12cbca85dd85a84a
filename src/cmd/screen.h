/* What the terminal can show, and the options that say so. */
#ifndef NEAP_CMD_SCREEN_H
#define NEAP_CMD_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum colour_when {
	COLOUR_AUTO,
	COLOUR_ALWAYS,
	COLOUR_NEVER
};
/* screen_parse_colour - auto, always or never. */
bool screen_parse_colour(const char *text, enum colour_when *out);
/* screen_has_colour - on a terminal that is not dumb, unless NO_COLOR is set. */
bool screen_has_colour(enum colour_when when);
/* screen_width - what the user set, else the terminal's, within sensible bounds. */
size_t screen_width(void);
/* screen_is_utf8 - does the locale's character set allow more than ASCII? */
bool screen_is_utf8(void);

/* screen_say - "neap: KIND TEXT" to stderr.  Names from a profile may be in it: none reaches the terminal as a command. */
void screen_say(const char *kind, const char *text, size_t bytes);

/* parse_count - a whole number in low .. high, all of the text; 0 if it is none (low is at least 1). */
size_t parse_count(const char *text, size_t low, size_t high);

#endif
