/* Differences of two screens as few bytes. */
#include "config.h"

#include "tui/paint.h"

#include <string.h>

#include "src/base/mem.h"

#define UNKNOWN_CELL  UINT32_MAX
#define REWRITE_MOST  4u /* cells that are the same are written again rather than skipped */
#define CLEAR_CELLS   4u /* so many blanks are worth a command */
#define ERASE_CELLS   6u
#define ADVANCE_BYTES 16u

/* ---- looks ------------------------------------------------------------------------------ */

/*
 * One role on terminals of all kinds.  -1: as the terminal has it.  Nobody says whether the
 * background is dark or light: these can be read on both.
 */
struct ink {
	int rgb, of_256, of_16, of_8;
};

enum {
	BLACK,
	RED,
	GREEN,
	YELLOW,
	BLUE,
	MAGENTA,
	CYAN,
	WHITE,
};

static const struct ink inks[ROLE_COUNT] = {
	[ROLE_TEXT] = {-1, -1, -1, -1},
	[ROLE_DIM] = {0x8a8f98, 245, 8, -1},
	[ROLE_STRONG] = {-1, -1, -1, -1},
	[ROLE_TITLE] = {-1, -1, -1, -1},
	[ROLE_CHIP] = {0x0087d7, 32, 6, CYAN},
	[ROLE_KEY] = {0x0087d7, 32, 6, CYAN},
	[ROLE_HEADING] = {0x8a8f98, 245, 8, -1},
	[ROLE_BAR] = {0x5f87af, 67, 12, BLUE},
	[ROLE_MATCH] = {0xd78700, 172, 5, MAGENTA},
	[ROLE_WARNING] = {0xff8700, 208, 5, MAGENTA},
	[ROLE_ERROR] = {0xff5f5f, 203, 9, RED},
	[ROLE_CHART] = {0x5f87af, 67, 12, BLUE},
	[ROLE_PEAK] = {0xff5f5f, 203, 9, RED},
	[ROLE_MARK] = {0xaf8700, 136, 5, MAGENTA},
	[ROLE_CURSOR] = {-1, -1, -1, -1},
	[ROLE_RSS] = {-1, -1, -1, -1},
	[ROLE_GREW] = {0xff5f5f, 203, 9, RED},
	[ROLE_SHRANK] = {0x5faf5f, 71, 2, GREEN},
	[ROLE_OTHER] = {0x6c6f75, 242, 8, WHITE},
	[ROLE_FLAME + 0] = {0xd7875f, 173, 3, YELLOW},
	[ROLE_FLAME + 1] = {0xd7af5f, 179, 11, YELLOW},
	[ROLE_FLAME + 2] = {0xff875f, 209, 9, RED},
	[ROLE_FLAME + 3] = {0xffaf87, 216, 1, RED},
	[ROLE_SERIES + 0] = {0x5f87d7, 68, 4, BLUE},
	[ROLE_SERIES + 1] = {0xd78700, 172, 3, YELLOW},
	[ROLE_SERIES + 2] = {0x5faf5f, 71, 2, GREEN},
	[ROLE_SERIES + 3] = {0xd75f87, 168, 1, RED},
	[ROLE_SERIES + 4] = {0x8787d7, 104, 5, MAGENTA},
	[ROLE_SERIES + 5] = {0x5fafaf, 73, 6, CYAN},
	[ROLE_SERIES + 6] = {0xd7d75f, 185, 11, YELLOW},
	[ROLE_SERIES + 7] = {0xd787d7, 176, 13, MAGENTA},
};

static int ink_of(unsigned role, int colours)
{
	const struct ink *ink = &inks[role < ROLE_COUNT ? role : ROLE_TEXT];
	if (colours >= 1 << 24)
		return ink->rgb;
	if (colours >= 256)
		return ink->of_256;
	return colours >= 16 ? ink->of_16 : ink->of_8;
}

/* Text on a colour: dark on the light ones. */
static int ink_on(int back, int colours)
{
	if (colours >= 1 << 24)
		return 0x101216;
	if (colours >= 256)
		return 233;
	return back == BLUE || back == RED || back == MAGENTA || back == 8 ? WHITE : BLACK;
}

struct pen pen_of(struct look look, int colours)
{
	struct pen pen = {.front = -1, .back = -1, .flags = look.flags};
	/* With few colours, what stands out does so by weight. */
	if (colours < 16 && look.role == ROLE_DIM)
		pen.flags |= PEN_DIM;
	if (colours < 16 && look.role == ROLE_STRONG)
		pen.flags |= LOOK_BOLD;
	if (!colours) {
		if (look.back)
			pen.flags |= LOOK_REVERSE;
		return pen;
	}
	pen.front = ink_of(look.role, colours);
	pen.back = look.back ? ink_of(look.back, colours) : -1;
	if (pen.front < 0 && pen.back >= 0)
		pen.front = ink_on(pen.back, colours);
	return pen;
}

/* ---- commands ------------------------------------------------------------------------------ */

static void put(struct paint *p, enum paint_command command)
{
	if (p->commands[command])
		buf_puts(&p->out, p->commands[command]);
}

static void put_number(struct paint *p, enum paint_command command, int number)
{
	if (p->commands[command])
		buf_puts(&p->out, p->expand(p->commands[command], number, 0));
}

static bool is_same_pen(struct pen a, struct pen b)
{
	return a.front == b.front && a.back == b.back && a.flags == b.flags;
}

static void put_plain(struct paint *p)
{
	put(p, PAINT_PLAIN);
	p->pen = (struct pen){.front = -1, .back = -1};
	p->is_pen_known = true;
}

/* What can't be taken back alone is taken back with all else. */
static void take_back(struct paint *p, struct pen pen)
{
	unsigned gone = p->pen.flags & ~pen.flags;
	bool loses_colour =
		(pen.front < 0 && p->pen.front >= 0) || (pen.back < 0 && p->pen.back >= 0);
	bool is_kept = (p->pen.flags & pen.flags) || (pen.front >= 0 && p->pen.front == pen.front);
	if (!p->is_pen_known || (gone & ~LOOK_REVERSE) ||
	    (gone && (!p->commands[PAINT_NOT_REVERSE] || !is_kept)) ||
	    (loses_colour && (!p->commands[PAINT_NO_COLOURS] || !(p->pen.flags & pen.flags)))) {
		put_plain(p);
		return;
	}
	if (gone)
		put(p, PAINT_NOT_REVERSE);
	if (loses_colour) {
		put(p, PAINT_NO_COLOURS);
		p->pen.front = p->pen.back = -1;
	}
}

static void set_pen(struct paint *p, struct pen pen)
{
	static const struct {
		unsigned flag;
		enum paint_command command;
	} flags[] = {{LOOK_BOLD, PAINT_BOLD},
		     {LOOK_UNDERLINE, PAINT_UNDERLINE},
		     {LOOK_REVERSE, PAINT_REVERSE},
		     {PEN_DIM, PAINT_DIM}};
	if (p->cannot_blend && (pen.front >= 0 || pen.back >= 0))
		pen.flags &= ~(PEN_DIM | LOOK_UNDERLINE);
	if (p->is_pen_known && is_same_pen(p->pen, pen))
		return;
	take_back(p, pen);
	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		if ((pen.flags & flags[i].flag) && !(p->pen.flags & flags[i].flag))
			put(p, flags[i].command);
	}
	if (pen.front != p->pen.front)
		put_number(p, PAINT_FRONT, pen.front);
	if (pen.back != p->pen.back)
		put_number(p, PAINT_BEHIND, pen.back);
	p->pen = pen;
}

/* ---- the cursor ------------------------------------------------------------------------------ */

static void keep_shorter(char *best, size_t cap, const char *way)
{
	if (way && strlen(way) < strlen(best) && strlen(way) < cap)
		memcpy(best, way, strlen(way) + 1);
}

/* Steps back, if each is one character: the most of them that are worth it. */
static bool put_back(struct paint *p, unsigned count, char *way, size_t cap)
{
	const char *back = p->commands[PAINT_BACK];
	if (!back || strlen(back) != 1 || count >= cap)
		return false;
	memset(way, back[0], count);
	way[count] = '\0';
	return true;
}

/* A row down, and from there back. */
static bool put_down(struct paint *p, unsigned row, unsigned col, char *way, size_t cap)
{
	const char *down = p->commands[PAINT_DOWN];
	if (row != p->row + 1 || col > p->col || !down || strlen(down) != 1 ||
	    !put_back(p, p->col - col, way + 1, cap - 1))
		return false;
	way[0] = down[0];
	return true;
}

static void place(struct paint *p, unsigned row, unsigned col)
{
	char best[64], way[ADVANCE_BYTES];
	if (p->is_placed && p->row == row && p->col == col)
		return;
	const char *full = p->expand(p->commands[PAINT_PLACE], (int)row, (int)col);
	best[0] = '\0';
	if (strlen(full) < sizeof best)
		memcpy(best, full, strlen(full) + 1);
	if (p->is_placed && row == p->row) {
		if (col > p->col && p->commands[PAINT_FORWARD])
			keep_shorter(best, sizeof best,
				     p->expand(p->commands[PAINT_FORWARD], (int)(col - p->col), 0));
		if (p->commands[PAINT_COLUMN])
			keep_shorter(best, sizeof best,
				     p->expand(p->commands[PAINT_COLUMN], (int)col, 0));
		if (col < p->col && put_back(p, p->col - col, way, sizeof way))
			keep_shorter(best, sizeof best, way);
	} else if (p->is_placed && put_down(p, row, col, way, sizeof way)) {
		keep_shorter(best, sizeof best, way);
	}
	buf_puts(&p->out, best);
	p->row = row;
	p->col = col;
	p->is_placed = true;
}

/* ---- cells -------------------------------------------------------------------------------------- */

/* Blank as a cleared cell is. */
static bool is_empty(const struct cell *cell)
{
	return cell->c == ' ' && !cell->marks[0] && !cell->look.back && !cell->look.flags;
}

static bool is_same_cell(const struct cell *a, const struct cell *b)
{
	if (is_empty(a) && is_empty(b))
		return true;
	return a->c == b->c && a->marks[0] == b->marks[0] && a->marks[1] == b->marks[1] &&
	       a->look.role == b->look.role && a->look.back == b->look.back &&
	       a->look.flags == b->look.flags;
}

static bool is_wide(const struct grid *g, unsigned row, unsigned col)
{
	return col + 1 < g->cols && !g->cells[(size_t)row * g->cols + col + 1].c;
}

/* Terminals do not agree on the width of what is not plain: the cursor is placed anew after it. */
static void write_cell(struct paint *p, const struct grid *g, unsigned row, unsigned col)
{
	const struct cell *cell = &g->cells[(size_t)row * g->cols + col];
	struct cell *shown = &p->shown[(size_t)row * g->cols + col];
	place(p, row, col);
	struct pen pen = pen_of(cell->look, p->colours);
	if (cell->c == ' ' && !cell->marks[0] && !(pen.flags & (LOOK_REVERSE | LOOK_UNDERLINE))) {
		/* Of a blank only what is behind it can be seen. */
		pen.front = p->is_pen_known ? p->pen.front : -1;
		pen.flags = p->is_pen_known ? p->pen.flags & (LOOK_BOLD | PEN_DIM) : 0;
	}
	set_pen(p, pen);
	/* In the last column what combines may go to the next row. */
	struct cell bare = *cell;
	if (col + 1 == g->cols)
		bare.marks[0] = 0;
	cell_text(&bare, &p->out);
	*shown = *cell;
	p->col++;
	if (is_wide(g, row, col)) {
		shown[1] = cell[1];
		p->col++;
	}
	p->is_placed = p->col < g->cols && !cell->marks[0] && !is_wide(g, row, col);
}

/* Where the content of a row ends; what is behind it is empty. */
static unsigned end_of(const struct cell *cells, unsigned cols)
{
	while (cols && is_empty(&cells[cols - 1]))
		cols--;
	return cols;
}

/* The rest of a row, if it is to be empty and is not: by one command. */
static void clear_rest(struct paint *p, const struct grid *g, unsigned row, unsigned col)
{
	struct cell *shown = p->shown + (size_t)row * g->cols;
	const struct cell blank = {.c = ' '};
	unsigned end = end_of(shown, g->cols);
	if (end < col + CLEAR_CELLS || !p->commands[PAINT_CLEAR_ROW])
		return;
	place(p, row, col);
	if (!p->is_pen_known || p->pen.back >= 0 || p->pen.flags)
		put_plain(p);
	put(p, PAINT_CLEAR_ROW);
	for (unsigned i = col; i < g->cols; i++)
		shown[i] = blank;
}

/* Empty cells in the middle of a row, by one command; how many, 0: not worth it. */
static unsigned erase(struct paint *p, const struct grid *g, unsigned row, unsigned col)
{
	const struct cell *cells = g->cells + (size_t)row * g->cols;
	struct cell *shown = p->shown + (size_t)row * g->cols;
	unsigned end = col;
	while (end < g->cols && is_empty(&cells[end]))
		end++;
	while (end > col && is_empty(&shown[end - 1]))
		end--;
	if (end - col < ERASE_CELLS || !p->commands[PAINT_ERASE])
		return 0;
	place(p, row, col);
	if (!p->is_pen_known || p->pen.back >= 0 || p->pen.flags)
		put_plain(p);
	put_number(p, PAINT_ERASE, (int)(end - col));
	for (unsigned i = col; i < end; i++)
		shown[i] = (struct cell){.c = ' '};
	return end - col;
}

/* The next cell that differs, or the first of a few that are written again on the way to it. */
static unsigned next_change(const struct paint *p, const struct grid *g, unsigned row, unsigned col)
{
	const struct cell *cells = g->cells + (size_t)row * g->cols;
	const struct cell *shown = p->shown + (size_t)row * g->cols;
	unsigned at = col;
	while (at < g->cols && is_same_cell(&cells[at], &shown[at]))
		at++;
	if (at >= g->cols || at == col || at - col > REWRITE_MOST || !p->is_placed ||
	    p->row != row || p->col != col)
		return at;
	for (unsigned i = col; i < at; i++) {
		if (cells[i].c < ' ' || cells[i].c >= 0x7f || cells[i].marks[0] ||
		    !is_same_pen(pen_of(cells[i].look, p->colours), p->pen))
			return at;
	}
	return col;
}

static void paint_row(struct paint *p, const struct grid *g, unsigned row)
{
	const struct cell *cells = g->cells + (size_t)row * g->cols;
	unsigned end = end_of(cells, g->cols);
	clear_rest(p, g, row, end);
	for (unsigned col = 0; col < g->cols; col++) {
		col = next_change(p, g, row, col);
		if (col >= g->cols)
			break;
		unsigned erased = erase(p, g, row, col);
		if (erased) {
			col += erased - 1;
			continue;
		}
		bool is_corner = row + 1 == g->rows && col + 1 == g->cols;
		if (cells[col].c && !(is_corner && p->is_corner_bad))
			write_cell(p, g, row, col);
		if (is_wide(g, row, col))
			col++;
	}
}

/* ---- screens -------------------------------------------------------------------------------------- */

static bool begin_anew(struct paint *p, const struct grid *g)
{
	size_t count = (size_t)g->rows * g->cols;
	const struct cell blank = {.c = ' '};
	if (!p->shown || p->rows != g->rows || p->cols != g->cols) {
		struct cell *cells = mem_array(count + 1, sizeof *cells);
		if (!cells)
			return false;
		mem_free(p->shown);
		p->shown = cells;
		p->rows = g->rows;
		p->cols = g->cols;
	}
	put_plain(p);
	put(p, PAINT_CLEAR);
	for (size_t i = 0; i < count; i++)
		p->shown[i] = blank;
	p->is_known = true;
	p->row = p->col = 0;
	p->is_placed = false; /* not all clear to the corner */
	return true;
}

bool paint_grid(struct paint *p, const struct grid *g)
{
	bool is_anew = !p->is_known || p->rows != g->rows || p->cols != g->cols;
	if (is_anew && !begin_anew(p, g))
		return false;
	for (unsigned row = 0; row < g->rows; row++)
		paint_row(p, g, row);
	/* What others write, a note or an echo, is plain. */
	if (p->is_pen_known && (p->pen.flags || p->pen.front >= 0 || p->pen.back >= 0))
		put_plain(p);
	place(p, g->cursor_row < g->rows ? g->cursor_row : 0,
	      g->cursor_col < g->cols ? g->cursor_col : 0);
	return !p->out.has_failed;
}

void paint_lose_last_row(struct paint *p)
{
	struct cell *shown = p->shown;
	if (!p->is_known || !p->rows)
		return;
	shown += (size_t)(p->rows - 1) * p->cols;
	for (unsigned i = 0; i < p->cols; i++)
		shown[i] = (struct cell){.c = UNKNOWN_CELL};
	p->is_placed = p->is_pen_known = false;
}

void paint_forget(struct paint *p)
{
	p->is_known = p->is_placed = p->is_pen_known = false;
}

void paint_release(struct paint *p)
{
	mem_free(p->shown);
	buf_release(&p->out);
	p->shown = NULL;
	p->rows = p->cols = 0;
	paint_forget(p);
}
