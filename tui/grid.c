/* Cells, clipping, the safety of what is put in them. */
#include "config.h"

#include "tui/grid.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/base/utf8.h"

#include <string.h>

bool grid_resize(struct grid *g, unsigned rows, unsigned cols)
{
	if (rows != g->rows || cols != g->cols || !g->cells) {
		struct cell *cells = mem_array((size_t)rows * cols + 1, sizeof *cells);
		if (!cells)
			return false;
		mem_free(g->cells);
		g->cells = cells;
		g->rows = rows;
		g->cols = cols;
	}
	grid_clear(g);
	return true;
}

void grid_release(struct grid *g)
{
	mem_free(g->cells);
	g->cells = NULL;
	g->rows = g->cols = 0;
}

void grid_clear(struct grid *g)
{
	const struct cell blank = {.c = ' '};
	for (size_t i = 0; i < (size_t)g->rows * g->cols; i++)
		g->cells[i] = blank;
	g->cursor_row = g->cursor_col = 0;
}

/* ---- as text ---------------------------------------------------------------------------- */

static void put_utf8(struct buf *out, uint32_t c)
{
	if (c < 0x80) {
		buf_putc(out, (char)c);
	} else if (c < 0x800) {
		buf_putc(out, (char)(0xc0 | c >> 6));
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_putc(out, (char)(0xe0 | c >> 12));
		buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_putc(out, (char)(0xf0 | c >> 18));
		buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_putc(out, (char)(0x80 | (c & 0x3f)));
	}
}

void cell_text(const struct cell *cell, struct buf *out)
{
	if (!cell->c)
		return;
	put_utf8(out, cell->c);
	for (unsigned i = 0; i < CELL_MARKS && cell->marks[i]; i++)
		put_utf8(out, cell->marks[i]);
}

static void row_text(const struct grid *g, unsigned row, struct buf *out)
{
	const struct cell *cells = g->cells + (size_t)row * g->cols;
	unsigned end = g->cols;
	while (end && cells[end - 1].c == ' ')
		end--;
	for (unsigned i = 0; i < end; i++)
		cell_text(&cells[i], out);
	buf_putc(out, '\n');
}

void grid_text(const struct grid *g, struct buf *out)
{
	for (unsigned row = 0; row < g->rows; row++)
		row_text(g, row, out);
}

/* One letter for a look; plain is a space. */
static char look_letter(struct look look)
{
	static const char letters[] = " dsTCKhb/!E~^mcr+-ofgij01234567";
	_Static_assert(sizeof letters == ROLE_COUNT + 1, "a letter for each role");
	char letter = look.back ? letters[look.back] : letters[look.role];
	if (look.flags & LOOK_REVERSE)
		return letter == ' ' ? '#' : letter;
	if (letter == ' ' && look.flags)
		return 'B';
	return letter;
}

void grid_styled(const struct grid *g, struct buf *out)
{
	for (unsigned row = 0; row < g->rows; row++) {
		const struct cell *cells = g->cells + (size_t)row * g->cols;
		unsigned end = g->cols;
		row_text(g, row, out);
		while (end && look_letter(cells[end - 1].look) == ' ')
			end--;
		if (!end)
			continue;
		buf_putc(out, '~');
		for (unsigned i = 0; i < end; i++)
			buf_putc(out, look_letter(cells[i].look));
		buf_putc(out, '\n');
	}
	buf_printf(out, "cursor %u,%u\n", g->cursor_row, g->cursor_col);
}

/* ---- areas --------------------------------------------------------------------------------- */

struct area grid_area(struct grid *g)
{
	return (struct area){.grid = g, .rows = g->rows, .cols = g->cols};
}

struct area area_cut(const struct area *a, unsigned row, unsigned col, unsigned rows, unsigned cols)
{
	if (row > a->rows)
		row = a->rows;
	if (col > a->cols)
		col = a->cols;
	if (rows > a->rows - row)
		rows = a->rows - row;
	if (cols > a->cols - col)
		cols = a->cols - col;
	return (struct area){a->grid, a->row + row, a->col + col, rows, cols};
}

static struct cell *cell_at(const struct area *a, unsigned row, unsigned col)
{
	return &a->grid->cells[(size_t)(a->row + row) * a->grid->cols + a->col + col];
}

/* A wide character whose half is overwritten becomes a space. */
static void break_wide(const struct area *a, unsigned row, unsigned col)
{
	struct cell *cell = cell_at(a, row, col);
	unsigned at = a->col + col;
	if (!cell->c && at)
		cell[-1] = (struct cell){.c = ' ', .look = cell[-1].look};
	if (at + 1 < a->grid->cols && !cell[1].c)
		cell[1] = (struct cell){.c = ' ', .look = cell[1].look};
}

/* Joiners are left out: where a terminal obeys them, cells behind would move to the left. */
static void add_mark(const struct area *a, unsigned row, unsigned col, uint32_t c)
{
	struct cell *cell = cell_at(a, row, col);
	if (c == 0x200c || c == 0x200d)
		return;
	if (!cell->c && a->col + col)
		cell--;
	for (unsigned i = 0; i < CELL_MARKS; i++) {
		if (!cell->marks[i]) {
			cell->marks[i] = c;
			return;
		}
	}
}

/* Puts safe text. */
static unsigned put_safe(const struct area *a, unsigned row, unsigned col, unsigned end,
			 struct look look, const char *text, size_t bytes)
{
	const uint8_t *p = (const uint8_t *)text, *stop = p + bytes;
	unsigned first = col;
	while (p < stop) {
		size_t n;
		uint32_t c = utf8_decode(p, stop, &n);
		unsigned width = (unsigned)fmt_width((const char *)p, n);
		p += n;
		if (c >= 0x80 && !grid_is_utf8(a->grid))
			c = '?';
		if (!width && col > first)
			add_mark(a, row, col - 1, c);
		if (!width)
			continue;
		if (col + width > end)
			break;
		for (unsigned i = 0; i < width; i++) {
			break_wide(a, row, col + i);
			*cell_at(a, row, col + i) = (struct cell){.c = i && c >= 0x80 ? 0
								       : i            ? '?'
										      : c,
								  .look = look};
		}
		col += width;
	}
	return col;
}

unsigned area_put_most(const struct area *a, unsigned row, unsigned col, unsigned cols,
		       struct look look, const char *text)
{
	char safe[1024];
	size_t left = strlen(text);
	if (row >= a->rows || col >= a->cols)
		return col;
	unsigned end = cols < a->cols - col ? col + cols : a->cols;
	while (left && col < end) {
		/* Parts end before a byte that begins a character. */
		size_t part = left < 256 ? left : 256;
		while (part < left && part > 1 && ((uint8_t)text[part] & 0xc0) == 0x80)
			part--;
		fmt_safe(safe, sizeof safe, text, part, grid_is_utf8(a->grid));
		unsigned next = put_safe(a, row, col, end, look, safe, strlen(safe));
		if (next == col && part >= 256)
			break;
		col = next;
		text += part;
		left -= part;
	}
	return col;
}

unsigned area_put(const struct area *a, unsigned row, unsigned col, struct look look,
		  const char *text)
{
	return area_put_most(a, row, col, UINT32_MAX, look, text);
}

unsigned text_cols(const char *text)
{
	return (unsigned)fmt_width(text, strlen(text));
}

void area_right(const struct area *a, unsigned row, unsigned end, unsigned cols, struct look look,
		const char *text)
{
	unsigned width = text_cols(text);
	if (width > cols)
		width = cols;
	if (width > end)
		width = end;
	area_put_most(a, row, end - width, width, look, text);
}

unsigned area_elide(const struct area *a, unsigned row, unsigned col, unsigned cols,
		    struct look look, const char *text)
{
	char safe[4096], cut[4096];
	if (row >= a->rows || col >= a->cols)
		return col;
	if (cols > a->cols - col)
		cols = a->cols - col;
	bool is_utf8 = grid_is_utf8(a->grid);
	fmt_safe(safe, sizeof safe, text, strlen(text), is_utf8);
	fmt_elide(cut, sizeof cut, safe, cols, is_utf8);
	return area_put_most(a, row, col, cols, look, cut);
}

unsigned area_printf(const struct area *a, unsigned row, unsigned col, struct look look,
		     const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	if (!b.has_failed && b.count_bytes)
		col = area_put(a, row, col, look, b.data);
	buf_release(&b);
	return col;
}

void area_fill(const struct area *a, unsigned row, unsigned col, unsigned rows, unsigned cols,
	       struct look look, uint32_t c)
{
	const struct area part = area_cut(a, row, col, rows, cols);
	for (unsigned r = 0; r < part.rows; r++) {
		for (unsigned i = 0; i < part.cols; i++) {
			break_wide(&part, r, i);
			*cell_at(&part, r, i) = (struct cell){.c = c, .look = look};
		}
	}
}

void area_flag(const struct area *a, unsigned row, unsigned col, unsigned cols, unsigned flags)
{
	const struct area part = area_cut(a, row, col, 1, cols);
	for (unsigned i = 0; part.rows && i < part.cols; i++)
		cell_at(&part, 0, i)->look.flags |= (uint8_t)flags;
}

/* Roles whose colour stays on the selected row: it says what this is. */
static bool keeps_colour(unsigned role)
{
	return role >= ROLE_SERIES || role == ROLE_MATCH || role == ROLE_WARNING ||
	       role == ROLE_ERROR || role == ROLE_GREW || role == ROLE_SHRANK;
}

void area_select(const struct area *a, unsigned row)
{
	const struct area part = area_cut(a, row, 0, 1, a->cols);
	for (unsigned i = 0; part.rows && i < part.cols; i++) {
		struct cell *cell = cell_at(&part, 0, i);
		if (cell->c == 0x2588 && !part.grid->is_mono)
			continue;
		if (cell->c > 0x2588 && cell->c < 0x2590 && !part.grid->is_mono)
			*cell = (struct cell){.c = ' '};
		if (!keeps_colour(cell->look.role) && !cell->look.back)
			cell->look.role = ROLE_TEXT;
		cell->look.flags |= LOOK_REVERSE;
	}
}

void area_back(const struct area *a, unsigned row, unsigned col, unsigned cols, enum role role)
{
	const struct area part = area_cut(a, row, col, 1, cols);
	for (unsigned i = 0; part.rows && i < part.cols; i++)
		cell_at(&part, 0, i)->look.back = (uint8_t)role;
}

void area_line(const struct area *a, unsigned col)
{
	const struct area part = area_cut(a, 0, col, a->rows, 1);
	for (unsigned row = 0; row < part.rows && part.cols; row++) {
		struct cell *cell = cell_at(&part, row, 0);
		/* Of a block in part, what is below counts. */
		uint8_t back =
			cell->c > 0x2583 && cell->c <= 0x2588 ? cell->look.role : cell->look.back;
		break_wide(&part, row, 0);
		*cell = (struct cell){.c = 0x2502, .look = {ROLE_CURSOR, back, LOOK_BOLD}};
	}
}

void area_cursor(const struct area *a, unsigned row, unsigned col)
{
	if (row < a->rows && col < a->cols) {
		a->grid->cursor_row = a->row + row;
		a->grid->cursor_col = a->col + col;
	}
}

/* ---- bars and rules ----------------------------------------------------------------------------- */

void area_bar(const struct area *a, unsigned row, unsigned col, unsigned cols, struct look look,
	      double share)
{
	const struct grid *g = a->grid;
	if (g->is_plain || !(share > 0))
		return;
	unsigned parts = grid_is_utf8(g) ? 8 : 2;
	unsigned filled = (unsigned)((share < 1 ? share : 1) * cols * parts + 0.5);
	if (!filled)
		filled = 1;
	unsigned whole = filled / parts, rest = filled % parts;
	area_fill(a, row, col, 1, whole, look, grid_is_utf8(g) ? 0x2588 : '#');
	if (rest && whole < cols)
		area_fill(a, row, col + whole, 1, 1, look, grid_is_utf8(g) ? 0x2590 - rest : '.');
}

void area_rule(const struct area *a, unsigned row, unsigned col, unsigned cols, struct look look)
{
	if (!a->grid->is_plain)
		area_fill(a, row, col, 1, cols, look, grid_is_utf8(a->grid) ? 0x2500 : '-');
}

void area_upright(const struct area *a, unsigned row, unsigned col, unsigned rows, struct look look)
{
	if (!a->grid->is_plain)
		area_fill(a, row, col, rows, 1, look, grid_is_utf8(a->grid) ? 0x2502 : '|');
}
