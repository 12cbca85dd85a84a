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
/*
 * term_stop_key - in long work: what was pressed since the last call to stop it: CODE_ESCAPE, or
 * CODE_CANCEL, which also says that the program is to end; 0: nothing.  Other keys are kept for
 * term_input.
 */
uint32_t term_stop_key(void);
/* term_has_input - in work that any input makes pointless: is there one?  It is kept too. */
bool term_has_input(void);
/*
 * term_busy - long work begins: if it lasts, the last row says so, and for how long, until
 * term_draw.  It says it however the work goes on, and a second Ctrl-C ends the program.
 *   what          "reading app.neap"; kept, cut off if it is long
 *   ends_at_once  nothing can be stopped in this work: the first Ctrl-C ends the program
 * Fine without term_open.
 */
void term_busy(const char *what, bool ends_at_once);
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
