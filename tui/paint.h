/*
 * What to write to a terminal so that it shows a grid: only what differs from what it shows.
 *
 * Knows what the terminal shows and where its cursor is; what the commands of a terminal look like
 * is told by whoever knows terminfo.  Writes little, for slow links: attributes and colours one by
 * one where they change, short ways for the cursor, blanks at the ends of rows as one command.
 */
#ifndef NEAP_TUI_PAINT_H
#define NEAP_TUI_PAINT_H

#include <stdbool.h>

#include "src/base/buf.h"
#include "tui/grid.h"

enum paint_command {     /* NULL where the terminal has none; the first four are needed */
	PAINT_PLACE,     /* row, column */
	PAINT_CLEAR,     /* the whole screen, cursor to its corner */
	PAINT_PLAIN,     /* no attributes, colours of the terminal */
	PAINT_CLEAR_ROW, /* to its end */
	PAINT_ERASE,     /* so many cells, the cursor stays */
	PAINT_FORWARD,   /* columns */
	PAINT_COLUMN,    /* column */
	PAINT_DOWN,      /* one row, same column */
	PAINT_BACK,      /* one column */
	PAINT_BOLD,
	PAINT_DIM,
	PAINT_UNDERLINE,
	PAINT_REVERSE,
	PAINT_NOT_REVERSE,
	PAINT_FRONT, /* number of a colour */
	PAINT_BEHIND,
	PAINT_NO_COLOURS, /* both as the terminal has them */
	PAINT_COMMANDS
};

struct pen {
	int front, back; /* colours; -1: as the terminal has it */
	unsigned flags;  /* LOOK_..., and */
};
#define PEN_DIM 8u

struct paint {
	/* By the owner, before the first call. */
	const char *commands[PAINT_COMMANDS];
	/* A command with its numbers; lasts until the next call.  For PAINT_PLACE and the like. */
	const char *(*expand)(const char *command, int first, int second);
	int colours;        /* 0: none; 8, 16, 256, 1 << 24 */
	bool is_corner_bad; /* writing the last cell would scroll */
	bool cannot_blend;  /* with a colour there is neither dim nor underlined */

	/* What the terminal shows, as far as it is known. */
	struct cell *shown; /* [rows * cols]; c UINT32_MAX: not known */
	unsigned rows, cols;
	bool is_known; /* false: it has to be cleared first */
	bool is_placed;
	unsigned row, col; /* of the cursor, if is_placed */
	bool is_pen_known;
	struct pen pen;
	struct buf out; /* what to write; the owner writes and clears it */
};

/* paint_grid - append to p->out what makes the terminal show the grid.  False: no memory. */
bool paint_grid(struct paint *p, const struct grid *g);
/* paint_lose_last_row - somebody has written over it, and has left the cursor there, without attributes. */
void paint_lose_last_row(struct paint *p);
/* paint_forget - the terminal may show anything: the next paint_grid begins anew. */
void paint_forget(struct paint *p);
void paint_release(struct paint *p);

/* pen_of - what a look is in so many colours. */
struct pen pen_of(struct look look, int colours);

#endif
