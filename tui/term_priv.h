/* Between term.c (the screen), term_keys.c (inputs), term_signals.c and term_run.c. */
#ifndef NEAP_TUI_TERM_PRIV_H
#define NEAP_TUI_TERM_PRIV_H

#include <signal.h>
#include <stdint.h>
#include <termios.h>

#include "tui/paint.h"
#include "tui/term.h"

#define TERM_AHEAD_MOST 1024u /* keys typed while something is worked on */

/* There is one terminal, and handlers of signals have no other way to their data. */
struct terminal {
	bool is_open, has_mouse;
	struct _win_st *keys; /* where they are read from */
	struct paint paint;
	struct input ahead[TERM_AHEAD_MOST];
	unsigned ahead_count;
	struct {
		char text
			[160]; /* goes to the last row, what is worked on, and leaves room for a time */
		size_t text_bytes;
		char end[48]; /* what stops it, and clears the rest of the row */
		size_t end_bytes;
		volatile sig_atomic_t ticks,
			end_ticks; /* of the timer; ticks 0: nothing was written */
		volatile sig_atomic_t is_on, ends_at_once;
	} busy;
	struct termios before;
	char strings[1024]; /* of terminfo, one behind the other */
	size_t string_bytes;
	char restore[256]; /* leaves the screen of the program */
	size_t restore_bytes;
	int64_t press_ns;
	unsigned press_row, press_col;
};
extern struct terminal term;

/* Set by handlers of signals, and looked at elsewhere. */
struct term_flags {
	volatile sig_atomic_t ended_by; /* the signal; 0: none */
	volatile sig_atomic_t was_interrupted, wants_stop;
};
extern struct term_flags term_flags;

void term_write(const char *text, size_t bytes);
/* term_leave - to another program, or for good; term_come_back draws all at the next term_draw. */
void term_leave(void);
void term_come_back(void);

/* term_signals.c */
void term_catch_signals(void);
void term_be_ready(void); /* what term_busy said has its end */

void term_define_keys(void); /* term_keys.c; after initscr */

#endif
