/* Flame: cells, names and numbers on the screen. */
#include "config.h"

#include "tui/flame_priv.h"

#include <stdio.h>
#include <string.h>

#include "query/names.h"
#include "src/base/fmt.h"
#include "tui/empty.h"
#include "tui/rows.h"
#include "tui/show.h"

#define BYTES_COLS 8u   /* " 1023.9M" at the end of a cell */
#define NAME_MOST  500u /* columns of a name before it is cut */

/* Else it is everything, or small ones together. */
static bool is_row(const struct flame_cell *c)
{
	return c->row != OPENED_ROOT && !c->rest_count;
}

bool flame_frame(const struct flame *f, const struct flame_cell *c, struct graph_frame *out)
{
	return is_row(c) && row_frame(flame_result(f), c->row, out);
}

bool flame_matches(const struct flame *f, const struct flame_cell *c, const char *text)
{
	return is_row(c) && row_matches(flame_result(f), c->row, text);
}

/* ---- names and numbers ------------------------------------------------------------------------ */

static const char *name_of(const struct flame *f, struct browser *b, const struct flame_cell *c,
			   unsigned cols)
{
	return is_row(c) ? row_name(&b->names, flame_result(f), c->row, cols, &b->label) : "";
}

/* Where the last part of a name begins: after the last separator of scopes outside of brackets. */
static const char *own_part(const char *name)
{
	struct brackets b = {0};
	size_t own = 0;
	for (size_t i = 0; name[i]; i = brackets_step(name, i, &b)) {
		size_t n = b.depth == 0 ? name_scope_bytes(name, i) : 0;
		if (n && name[i + n])
			own = i + n;
	}
	return name + own;
}

#define NAME_LEAST 4u /* columns: less says nothing */
#define DOTS_LEAST 8u /* so many for three dots in the middle of a name */

/* A name for a cell: what does not fit is left out from the front, then cut in the own part. */
static void put_name(const struct flame *f, struct browser *b, const struct flame_cell *c,
		     unsigned cols, struct buf *out)
{
	buf_puts(out, name_of(f, b, c, NAME_MOST));
	if (out->has_failed)
		return;
	const char *own = own_part(out->data);
	const char *cut = name_of(f, b, c, cols);
	if (strstr(cut, own)) {
		buf_clear(out);
		buf_puts(out, cut);
	} else if (cols < NAME_LEAST && text_cols(own) > cols) {
		buf_clear(out);
	} else {
		size_t bytes = strlen(own);
		if (text_cols(own) > cols && strncmp(own, "operator", 8) != 0 && own[0] != '<')
			bytes = strcspn(own, "<");
		memmove(out->data, own, bytes);
		out->data[bytes] = '\0';
		out->count_bytes = bytes;
	}
}

/* "12 smaller", or less where there is no room. */
static void put_rest(const struct flame_cell *c, unsigned cols, char *dst, size_t cap)
{
	char count[FMT_BYTES];
	show_count(count, sizeof count, c->rest_count);
	snprintf(dst, cap, "%s smaller", count);
	if (text_cols(dst) > cols)
		snprintf(dst, cap, "+%s", count);
	if (text_cols(dst) > cols)
		snprintf(dst, cap, "%s", cols ? "+" : "");
}

static void put_label(const struct flame *f, struct browser *b, const struct flame_cell *c,
		      unsigned cols, struct buf *out)
{
	char text[64];
	buf_clear(out);
	if (c->rest_count) {
		put_rest(c, cols, text, sizeof text);
		buf_puts(out, text);
	} else if (c->row == OPENED_ROOT) {
		buf_puts(out, cols > 30 && f->is_inverted ? "all, by what allocated it" : "all");
	} else {
		put_name(f, b, c, cols, out);
	}
}

static const char *put_bytes(const struct flame *f, int64_t bytes, char *dst, size_t cap)
{
	size_t sign = flame_result(f)->is_signed && bytes > 0;
	dst[0] = '+';
	show_bytes(dst + sign, cap - sign, bytes);
	return dst;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* A function has the same shade wherever it is; the shades mean nothing but that. */
static enum role role_of(const struct flame *f, const struct flame_cell *c)
{
	if (flame_result(f)->is_signed)
		return c->bytes > 0 ? ROLE_GREW : c->bytes < 0 ? ROLE_SHRANK : ROLE_OTHER;
	if (c->row == OPENED_ROOT)
		return ROLE_OTHER;
	return (enum role)(ROLE_FLAME + (c->step >> 20) % FLAME_MOST);
}

static void draw_cell(struct flame *f, struct browser *b, const struct area *a, unsigned row,
		      const struct flame_cell *c)
{
	char bytes[FMT_BYTES];
	bool is_small = c->rest_count;
	bool has_colour = !is_small && !a->grid->is_mono;
	struct look l = {.role = is_small ? ROLE_DIM : ROLE_TEXT,
			 .back = (uint8_t)(has_colour ? role_of(f, c) : ROLE_TEXT)};
	area_fill(a, row, c->col, 1, c->cols, l, ' ');
	area_fill(a, row, c->col, 1, 1, l, grid_is_utf8(a->grid) ? 0x258f : '|');
	if (c->cols < 2)
		return;
	unsigned room = c->cols - 1;
	put_label(f, b, c, room, &f->label);
	struct look name = l;
	if (b->find[0] && flame_matches(f, c, b->find))
		name.flags = LOOK_BOLD | LOOK_UNDERLINE;
	unsigned end = c->col + 1;
	bool is_tight = !grid_is_utf8(a->grid) && room < DOTS_LEAST;
	if (f->label.count_bytes && !f->label.has_failed)
		end = is_tight ? area_put_most(a, row, end, room, name, f->label.data)
			       : area_elide(a, row, end, room, name, f->label.data);
	if (end + BYTES_COLS <= c->col + c->cols)
		area_right(a, row, c->col + c->cols, BYTES_COLS, l,
			   put_bytes(f, c->bytes, bytes, sizeof bytes));
}

/* What no child holds. */
static int64_t own_of(const struct flame *f, const struct flame_cell *c)
{
	int64_t own = c->bytes;
	for (uint32_t i = 0; i < c->child_count; i++)
		own -= f->layout.cells[c->first + i].bytes;
	return own;
}

/* What a cell holds itself, right of its children. */
static void draw_own(const struct flame *f, const struct area *a, unsigned row,
		     const struct flame_cell *c)
{
	const struct flame_cell *cells = f->layout.cells;
	if (!c->child_count)
		return;
	const struct flame_cell *last = &cells[c->first + c->child_count - 1];
	unsigned from = last->col + last->cols, end = c->col + c->cols;
	if (from >= end)
		return;
	char bytes[FMT_BYTES], text[64];
	area_fill(a, row, from, 1, end - from, look(ROLE_DIM), grid_is_utf8(a->grid) ? 0xb7 : '.');
	int64_t own = own_of(f, c);
	if (flame_result(f)->is_signed && !own)
		snprintf(text, sizeof text, " unchanged ");
	else
		snprintf(text, sizeof text, " %s %s ", f->is_inverted ? "starts here" : "own",
			 put_bytes(f, own, bytes, sizeof bytes));
	if (text_cols(text) + 2 <= end - from)
		area_put(a, row, from + 1, look(ROLE_DIM), text);
}

/* Cells too narrow for their children: a sign that there are some. */
static void draw_more(const struct flame *f, const struct area *a, unsigned row,
		      const struct flame_cell *c)
{
	bool has_row = c->row != OPENED_ROOT && !c->rest_count;
	if (!flame_is_wide(c) && c->cols && has_row &&
	    query_opened_has_children(f->layout.q, c->row))
		area_fill(a, row, c->col, 1, 1, look(ROLE_DIM),
			  grid_is_utf8(a->grid) ? 0x250a : ':');
}

void flame_draw_cells(struct flame *f, struct browser *b, const struct area *a)
{
	for (size_t i = 0; i < f->layout.cell_count; i++) {
		const struct flame_cell *c = &f->layout.cells[i];
		unsigned row = c->level - f->top; /* wraps above the top: not drawn */
		if (c->level >= f->top && row < a->rows) {
			draw_cell(f, b, a, row, c);
			if (i == f->selected && b->pane == PANE_ROWS) {
				area_flag(a, row, c->col, c->cols, LOOK_REVERSE);
				area_cursor(a, row, c->col);
			}
		}
		if (c->level + 1 >= f->top && row + 1 < a->rows) {
			draw_own(f, a, row + 1, c);
			draw_more(f, a, row + 1, c);
		}
	}
}

/* What is above: the cells on the way to the first one, and those scrolled away. */
static void put_way(struct flame *f, struct browser *b, const char *arrow, struct buf *out)
{
	const struct flame_cell *cells = f->layout.cells, *c = flame_selected(f);
	buf_puts(out, "all");
	for (size_t i = 0; i + (f->top ? 0 : 1) < f->zoom_count; i++) {
		const struct flame_cell *step = &f->zoom[i].cell;
		buf_puts(out, arrow);
		buf_puts(out, step->rest_count ? "smaller ones" : name_of(f, b, step, 40));
	}
	for (unsigned level = 1; c && level < f->top; level++) {
		const struct flame_cell *at = c;
		while (at->level > level)
			at = &cells[at->parent];
		buf_puts(out, arrow);
		buf_puts(out, name_of(f, b, at, 40));
	}
}

static const char *explain(const struct flame *f)
{
	if (flame_result(f)->is_signed)
		return "width: bytes before and after together; what grew has a +";
	return f->is_inverted ? "width: bytes; below a function its callers"
			      : "width: bytes held; below a function what it calls";
}

void flame_draw_way(struct flame *f, struct browser *b, const struct area *a)
{
	const char *arrow = grid_is_utf8(a->grid) ? " \u203a " : " > ";
	struct buf way = {0};
	if (!f->zoom_count && !f->top) {
		area_put(a, 0, 1, look(ROLE_HEADING), explain(f));
		return;
	}
	put_way(f, b, arrow, &way);
	unsigned col = 0;
	if (f->zoom_count)
		col = area_put(a, 0, 1, look_bold(ROLE_KEY), "Esc");
	col = area_put(a, 0, col + 1, look(ROLE_HEADING), f->zoom_count ? "back to " : "above: ");
	if (!way.has_failed && col < a->cols)
		area_elide(a, 0, col, a->cols - col, look(ROLE_HEADING), way.data);
	buf_release(&way);
}

void flame_put_numbers(const struct flame *f, const struct browser *b, const struct flame_cell *c,
		       struct buf *out)
{
	char bytes[FMT_BYTES], share[FMT_BYTES], blocks[FMT_BYTES];
	put_bytes(f, c->bytes, bytes, sizeof bytes);
	show_share(share, sizeof share, (double)c->bytes, (double)b->summary.base_bytes);
	show_count(blocks, sizeof blocks, c->blocks);
	buf_printf(out, "%s %s", bytes, share);
	if (b->summary.has_blocks)
		buf_printf(out, " in %s %s", blocks, show_blocks_word(c->blocks));
}

/* The selected cell in words: its name may not fit into it. */
void flame_draw_status(const struct flame *f, struct browser *b, const struct area *a)
{
	const struct flame_cell *c = flame_selected(f);
	struct graph_frame frame;
	struct buf text = {0};
	if (!c || !a->rows)
		return;
	bool has_frame = flame_frame(f, c, &frame);
	flame_put_numbers(f, b, c, &text);
	unsigned col = 1;
	if (a->rows == 1 && a->cols < 60) /* the name is what the cell may not show */
		buf_clear(&text);
	if (!text.has_failed && a->rows == 1 && text.count_bytes)
		col = area_put(a, 0, col, look_bold(ROLE_STRONG), text.data) + 2;
	unsigned room = a->cols > col ? a->cols - col : 0;
	if (c->rest_count && c->cut_count == c->rest_count)
		area_printf(a, 0, col, look(ROLE_DIM), "%u smaller  (L shows them)", c->rest_count);
	else if (c->rest_count)
		area_printf(a, 0, col, look(ROLE_DIM), "%u too small to draw  (Enter shows them)",
			    c->rest_count);
	else if (c->row == OPENED_ROOT)
		area_put(a, 0, col, look_bold(ROLE_TEXT), "all");
	else
		area_put_most(a, 0, col, room, look_bold(ROLE_TEXT), name_of(f, b, c, room));
	if (a->rows > 1) {
		col = text.has_failed ? 1 : area_put(a, 1, 1, look(ROLE_STRONG), text.data) + 2;
		if (has_frame && row_is_function(&frame) && col + 8 < a->cols)
			area_put(a, 1, col, look(ROLE_DIM),
				 name_place(&b->names, &frame, a->cols - col, false));
	}
	buf_release(&text);
}

/* ---- without graphics ----------------------------------------------------------------------------- */

static void draw_plain_line(struct flame *f, struct browser *b, const struct area *a, unsigned row,
			    uint32_t at, unsigned indent)
{
	const struct flame_cell *c = &f->layout.cells[at];
	char bytes[FMT_BYTES], share[FMT_BYTES];
	if (row >= a->rows)
		return;
	put_bytes(f, c->bytes, bytes, sizeof bytes);
	show_share(share, sizeof share, (double)c->bytes, (double)b->summary.base_bytes);
	area_right(a, row, 8, 8, look(ROLE_STRONG), bytes);
	area_right(a, row, 15, 7, look(ROLE_TEXT), share);
	unsigned col = 16 + indent;
	if (col < a->cols)
		put_label(f, b, c, a->cols - col, &f->label);
	if (col < a->cols && f->label.count_bytes && !f->label.has_failed)
		area_elide(a, row, col, a->cols - col, look(ROLE_TEXT), f->label.data);
	if (at == f->selected && b->pane == PANE_ROWS) {
		area_select(a, row);
		area_cursor(a, row, 0);
	}
}

/* The way to the selected cell, and what is below it: as lines, for screen readers. */
void flame_draw_plain(struct flame *f, struct browser *b, const struct area *a)
{
	const struct flame_cell *cells = f->layout.cells, *c = flame_selected(f);
	if (!c)
		return;
	/* Half of the rows for the way. */
	unsigned most = a->rows / 2 ? a->rows / 2 : 1, level = c->level, row = 0;
	unsigned skip = level + 1 > most ? level + 1 - most : 0;
	uint32_t at = f->selected;
	for (unsigned i = level + 1; i-- > skip; at = cells[at].parent)
		draw_plain_line(f, b, a, i - skip, at, i - skip);
	row = level + 1 - skip;
	for (uint32_t i = 0; i < c->child_count && row < a->rows; i++)
		draw_plain_line(f, b, a, row++, c->first + i, level + 1 - skip);
	char bytes[FMT_BYTES];
	if (c->child_count && own_of(f, c) && row < a->rows) {
		area_right(a, row, 8, 8, look(ROLE_DIM),
			   put_bytes(f, own_of(f, c), bytes, sizeof bytes));
		area_put(a, row, 17 + level + 1 - skip, look(ROLE_DIM),
			 f->is_inverted ? "(starts here)" : "(its own)");
	}
}

void flame_draw_empty(const struct flame *f, struct browser *b, const struct area *a)
{
	bool has_bytes = f->layout.total != SIZE_MAX;
	empty_draw(b, a,
		   has_bytes ? "no bytes: the query leaves nothing to draw"
			     : "no widths: the query selects no total",
		   flame_result(f));
}
