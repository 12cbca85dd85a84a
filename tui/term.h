/*
 * The terminal: the only place that knows curses.
 *
 * Whatever way the program ends, the terminal is as before: term_close is called, or the
 * handlers of the signals that end a program do what it does.
 */
#ifndef NEAP_TUI_TERM_H
#define NEAP_TUI_TERM_H

#include <stdbool.h>

#include "src/base/err.h"
#include "tui/grid.h"
#include "tui/keymap.h"

enum term_colour {
	TERM_COLOUR_AUTO,
	TERM_COLOUR_ALWAYS,
	TERM_COLOUR_NEVER
};

struct term_options {
	enum term_colour colour;
	bool has_mouse;
};
/* term_open - Fails: ERR_UNSUPPORTED (no terminal, or one that cannot place the cursor). */
enum neap_err term_open(const struct term_options *o, struct err *e);
void term_close(void); /* fine without term_open, and twice */
/* term_has_colours - after term_open. */
bool term_has_colours(void);
void term_size(unsigned *rows_out, unsigned *cols_out);
/* term_draw - make the screen show the grid; writes only what differs. */
void term_draw(const struct grid *g);
/* term_redraw - write everything at the next term_draw. */
void term_redraw(void);
/*
 * term_input - wait for an input; after wait_ms without one (-1: for ever) it is SPECIAL_TICK.
 * False: the terminal is gone, or a signal ends the program.
 */
bool term_input(struct input *out, int wait_ms);
/* term_is_interrupted - in long work: was Ctrl-C pressed since the last call, or is the program
 * to end? */
bool term_is_interrupted(void);
/* term_note - write over the last row at once; the next term_draw takes it away.  Fine without
 * term_open. */
void term_note(const char *text);
/*
 * term_run - leave the terminal to another program, wait for its end, and come back.
 *   args  the program, found in PATH, and its arguments; a NULL at the end
 * Fails: ERR_IO (it cannot be started), ERR_UNSUPPORTED (it ended by a signal, or with a status).
 */
enum neap_err term_run(char *const *args, struct err *e);
/* term_copy - put a text into the clipboard of the terminal (OSC 52). */
void term_copy(const char *text, size_t bytes);
/* term_signal - the signal that ends the program; 0: none. */
int term_signal(void);

#endif
