/*
 * The screen as cells: text and attribute, no terminal.
 *
 * Views draw into areas, which clip.  Whatever a cell receives is safe: control characters,
 * bidi controls and broken UTF-8 become U+FFFD here, so that no name from a profile reaches a
 * terminal as a command.  Colours are roles; term.c and the theme decide what they look like,
 * and nothing may be told by them alone.
 */
#ifndef NEAP_TUI_GRID_H
#define NEAP_TUI_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

/* How much the terminal can draw; each level can do what those before it can. */
enum glyphs {
	GLYPHS_ASCII,
	GLYPHS_BLOCK,   /* UTF-8 with block elements and lines */
	GLYPHS_BRAILLE, /* and braille dots */
};

#define SERIES_MOST 8u /* colours of classes; what comes after them is ROLE_OTHER */

#define FLAME_MOST 4u

enum role {
	ROLE_TEXT,
	ROLE_DIM,     /* of little interest: zeros, places, lines */
	ROLE_STRONG,  /* numbers that matter, names in focus */
	ROLE_TITLE,   /* the first line */
	ROLE_CHIP,    /* a part of the query */
	ROLE_KEY,     /* a key in footer and help */
	ROLE_HEADING, /* column names */
	ROLE_BAR,     /* of shares */
	ROLE_MATCH,   /* what find found */
	ROLE_WARNING,
	ROLE_ERROR,
	ROLE_CHART, /* live bytes over time */
	ROLE_PEAK,
	ROLE_MARK,
	ROLE_CURSOR, /* instant under the cursor, range */
	ROLE_RSS,
	ROLE_GREW, /* diff and growth: with a sign beside it */
	ROLE_SHRANK,
	ROLE_OTHER, /* classes without a colour of their own */
	ROLE_FLAME, /* ROLE_FLAME + i, i < FLAME_MOST: functions of a flame graph */
	ROLE_SERIES = ROLE_FLAME + FLAME_MOST, /* ROLE_SERIES + i, i < SERIES_MOST */
	ROLE_COUNT = ROLE_SERIES + SERIES_MOST,
};

#define LOOK_BOLD      1u
#define LOOK_UNDERLINE 2u
#define LOOK_REVERSE   4u /* the selected row */

struct look {
	uint8_t role;
	uint8_t back; /* role whose colour fills the cell; ROLE_TEXT: nothing */
	uint8_t flags;
};
static inline struct look look(enum role role)
{
	return (struct look){.role = (uint8_t)role};
}
static inline struct look look_bold(enum role role)
{
	return (struct look){.role = (uint8_t)role, .flags = LOOK_BOLD};
}

#define CELL_MARKS 2u
struct cell {
	uint32_t c;                 /* code point; 0: the right half of a wide one */
	uint32_t marks[CELL_MARKS]; /* combining; 0: none */
	struct look look;
};

struct grid {
	unsigned rows, cols;
	struct cell *cells; /* [rows * cols] */
	enum glyphs glyphs;
	bool is_plain; /* no boxes, no bars */
	bool is_mono;  /* colours will not be seen */
	unsigned cursor_row, cursor_col;
};

/* grid_resize - make it so large and empty it; contents are lost.  False: no memory. */
bool grid_resize(struct grid *g, unsigned rows, unsigned cols);
void grid_release(struct grid *g);
void grid_clear(struct grid *g);
static inline bool grid_is_utf8(const struct grid *g)
{
	return g->glyphs != GLYPHS_ASCII;
}
/* cell_text - append the characters of a cell; nothing for the right half of a wide one. */
void cell_text(const struct cell *cell, struct buf *out);
/* grid_text - the rows as lines, spaces at the ends cut off. */
void grid_text(const struct grid *g, struct buf *out);
/*
 * grid_styled - the same, and after a line with anything but plain text one that names the
 * look of each cell by a letter, after "~"; for golden tests.
 */
void grid_styled(const struct grid *g, struct buf *out);

/* A rectangle of a grid.  Rows and columns count from its corner; what is outside is not drawn. */
struct area {
	struct grid *grid;
	unsigned row, col, rows, cols;
};
struct area grid_area(struct grid *g);
/* area_cut - a part of it, made smaller where it does not fit. */
struct area area_cut(const struct area *a, unsigned row, unsigned col, unsigned rows,
		     unsigned cols);

/* area_put - text from a column to the right, clipped; returns the column after it. */
unsigned area_put(const struct area *a, unsigned row, unsigned col, struct look look,
		  const char *text);
/* area_put_most - the same, at most so many columns (a wide character is never halved). */
unsigned area_put_most(const struct area *a, unsigned row, unsigned col, unsigned cols,
		       struct look look, const char *text);
/* area_right - text that ends before column `end`; cut off at the left edge of `cols` columns. */
void area_right(const struct area *a, unsigned row, unsigned end, unsigned cols, struct look look,
		const char *text);
/* area_elide - text in so many columns, cut in the middle so that its end stays; returns the column after it. */
unsigned area_elide(const struct area *a, unsigned row, unsigned col, unsigned cols,
		    struct look look, const char *text);
unsigned area_printf(const struct area *a, unsigned row, unsigned col, struct look look,
		     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* area_fill - the same code point in a rectangle; c must be one column wide. */
void area_fill(const struct area *a, unsigned row, unsigned col, unsigned rows, unsigned cols,
	       struct look look, uint32_t c);
/* area_flag - add flags (LOOK_...) to cells of a row. */
void area_flag(const struct area *a, unsigned row, unsigned col, unsigned cols, unsigned flags);
/*
 * area_select - a row as the selected one: reversed, in one colour but for what tells something;
 * bars stay as they are, to the whole cell.
 */
void area_select(const struct area *a, unsigned row);
/* area_back - fill cells of a row with the colour of a role, their text stays. */
void area_back(const struct area *a, unsigned row, unsigned col, unsigned cols, enum role role);
/* area_bar - a horizontal bar for a share 0 .. 1 of so many columns; nothing if plain. */
void area_bar(const struct area *a, unsigned row, unsigned col, unsigned cols, struct look look,
	      double share);
/* area_rule, area_upright - a horizontal or a vertical rule; nothing if plain. */
void area_rule(const struct area *a, unsigned row, unsigned col, unsigned cols, struct look look);
void area_upright(const struct area *a, unsigned row, unsigned col, unsigned rows,
		  struct look look);
/* area_line - an upright line over what is there, whose colours stay behind it. */
void area_line(const struct area *a, unsigned col);
/* area_cursor - put the hardware cursor there. */
void area_cursor(const struct area *a, unsigned row, unsigned col);
/* text_cols - columns of a text when put. */
unsigned text_cols(const char *text);

#endif
