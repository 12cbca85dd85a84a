/*
 * Flame: the tree as widths, the start of the program at the top, or from the leaf up.
 *
 * A cell is as wide as the bytes held below it.  Enter makes a cell as wide as the screen; the
 * line above the cells then says what they are a part of, and Esc goes back.  That is a matter of
 * looking, like folds of the tree, and no part of the query; `z` makes it one.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/flame_layout.h"
#include "tui/show.h"

#define BYTES_COLS   8u   /* " 1023.9M" at the end of a cell */
#define NAME_MOST    500u /* columns of a name before it is cut */
#define FIRST_LEVELS 60u  /* to look for it in */
#define WIDE_SHARE   0.9  /* the first look is at the first cell that is narrower */

/* One cell on the way to what is zoomed into. */
struct flame_step {
	uint64_t step;
	int64_t below;
	struct flame_cell cell;
	bool is_stop; /* Esc stops here */
};

struct flame {
	struct flame_layout layout;
	struct flame_step *zoom;
	size_t zoom_count, zoom_cap;
	uint64_t *kept; /* steps from the first cell to the selected one */
	size_t kept_count, kept_cap;
	bool is_stale; /* the layout is of another result, zoom or size */
	bool is_inverted, is_zoom_old, is_first;
	uint32_t selected; /* cell */
	unsigned top, page_rows;
	struct buf label;            /* scratch */
	mod_id modules[SERIES_MOST]; /* in the order of their colours */
	size_t module_count;
};

static const struct flame_cell *selected_of(const struct flame *f)
{
	return f->selected < f->layout.cell_count ? &f->layout.cells[f->selected] : NULL;
}

static const struct query_result *result_of(const struct flame *f)
{
	return query_opened_result(f->layout.q);
}

static bool frame_of(const struct flame *f, const struct browser *b, const struct flame_cell *c,
		     struct graph_frame *out)
{
	const struct query_result *r = result_of(f);
	if (c->row == OPENED_ROOT || c->rest_count || !r->graph || !r->rows[c->row].frame_count)
		return false;
	*out = graph_entry(b->model.graph, r->rows[c->row].frames[0]);
	return true;
}

/* ---- what is selected ---------------------------------------------------------------------- */

static enum neap_err no_memory(struct query_error *error)
{
	*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	return ERR_NOMEM;
}

/* The way to the selected cell, which outlives the cells. */
static bool keep_selected(struct flame *f)
{
	const struct flame_cell *cells = f->layout.cells, *c = selected_of(f);
	if (!c)
		return true;
	if (!vec_reserve((void **)&f->kept, &f->kept_cap, c->level, sizeof *f->kept))
		return false;
	f->kept_count = c->level;
	for (size_t i = c->level; i--; c = &cells[c->parent])
		f->kept[i] = c->step;
	return true;
}

static void select_kept(struct flame *f)
{
	const struct flame_cell *cells = f->layout.cells;
	f->selected = 0;
	for (size_t i = 0; f->layout.cell_count && i < f->kept_count; i++) {
		const struct flame_cell *p = &cells[f->selected];
		uint32_t at = 0;
		while (at < p->child_count && cells[p->first + at].step != f->kept[i])
			at++;
		if (at == p->child_count)
			return;
		f->selected = p->first + at;
	}
}

/* ---- laying out ---------------------------------------------------------------------------- */

/* The rows of the cells on the way, in a new result; as far as they are still there. */
static void find_zoom(struct flame *f, struct query_error *error)
{
	struct flame_cell parent = flame_root(&f->layout);
	size_t i = 0;
	for (; i < f->zoom_count; i++) {
		struct flame_step *s = &f->zoom[i];
		if (!flame_find(&f->layout, &parent, s->step, s->below, &s->cell, error))
			break;
		parent = s->cell;
	}
	f->zoom_count = i;
	f->is_zoom_old = false;
}

static enum neap_err lay_out(struct flame *f, unsigned cols, unsigned levels,
			     struct query_error *error)
{
	if (!f->is_stale && f->layout.cols == cols && f->layout.levels >= levels)
		return NEAP_OK;
	if (!keep_selected(f))
		return no_memory(error);
	if (f->is_zoom_old)
		find_zoom(f, error);
	struct flame_cell root =
		f->zoom_count ? f->zoom[f->zoom_count - 1].cell : flame_root(&f->layout);
	enum neap_err code = flame_build(&f->layout, &root, cols, levels, error);
	f->is_stale = false;
	select_kept(f);
	return code;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct flame *f = self;
	struct query_opened *q;
	const struct state *s = model_state(&b->model);
	/* The same query as the tree's, so that what one has opened is there for the other. */
	const struct compose c = {.view = s->is_inverted ? "callers" : "tree"};
	bool is_good = keep_selected(f);
	f->selected = FLAME_NONE;
	f->layout.cell_count = 0;
	f->is_stale = f->is_zoom_old = true;
	if (f->is_inverted != s->is_inverted)
		f->kept_count = f->zoom_count = f->top = 0;
	f->is_first = !f->kept_count && !f->zoom_count && !s->is_inverted;
	f->is_inverted = s->is_inverted;
	f->layout.q = NULL;
	if (!is_good)
		return no_memory(error);
	enum neap_err code = model_result(&b->model, &c, &q, error);
	if (code)
		return code;
	flame_columns(&f->layout, q);
	browser_summarise(b, result_of(f));
	return NEAP_OK;
}

static void release(void *self)
{
	struct flame *f = self;
	flame_release(&f->layout);
	mem_free(f->zoom);
	mem_free(f->kept);
	buf_release(&f->label);
}

/* ---- names and numbers ------------------------------------------------------------------------ */

static const char *name_of(const struct flame *f, struct browser *b, const struct flame_cell *c,
			   unsigned cols)
{
	struct graph_frame frame;
	const struct query_result *r = result_of(f);
	size_t key = f->layout.name;
	bool is_func = key != SIZE_MAX && !strcmp(r->columns[key].word, "func");
	if (is_func && frame_of(f, b, c, &frame))
		return name_frame(&b->names, &frame, cols);
	if (is_func)
		return name_function(&b->names, flame_name(&f->layout, c), cols);
	return name_text(&b->names, flame_name(&f->layout, c), cols);
}

/* Where the last part of a name begins: after the last "::" outside of template arguments. */
static const char *own_part(const char *name)
{
	const char *own = name;
	int depth = 0;
	for (const char *p = name; *p; p++) {
		depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
		if (!depth && p[0] == ':' && p[1] == ':' && p[2])
			own = p + 2;
	}
	return own;
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
	size_t sign = result_of(f)->is_signed && bytes > 0;
	dst[0] = '+';
	show_bytes(dst + sign, cap - sign, bytes);
	return dst;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

/* Modules keep their colours from the first time they are seen. */
static enum role module_role(struct flame *f, mod_id module)
{
	size_t i = 0;
	if (!module)
		return ROLE_OTHER;
	while (i < f->module_count && f->modules[i] != module)
		i++;
	if (i == SERIES_MOST)
		return ROLE_OTHER;
	if (i == f->module_count)
		f->modules[f->module_count++] = module;
	return (enum role)(ROLE_SERIES + i);
}

static enum role role_of(struct flame *f, const struct browser *b, const struct flame_cell *c)
{
	struct graph_frame frame;
	if (result_of(f)->is_signed)
		return c->bytes > 0 ? ROLE_GREW : c->bytes < 0 ? ROLE_SHRANK : ROLE_OTHER;
	return frame_of(f, b, c, &frame) ? module_role(f, frame.module) : ROLE_OTHER;
}

static void draw_cell(struct flame *f, struct browser *b, const struct area *a, unsigned row,
		      const struct flame_cell *c)
{
	char bytes[FMT_BYTES];
	bool is_small = c->rest_count;
	bool has_colour = !is_small && !a->grid->is_mono;
	struct look l = {.role = is_small ? ROLE_DIM : ROLE_TEXT,
			 .back = (uint8_t)(has_colour ? role_of(f, b, c) : ROLE_TEXT)};
	const char *full = flame_name(&f->layout, c);
	area_fill(a, row, c->col, 1, c->cols, l, ' ');
	area_fill(a, row, c->col, 1, 1, l, grid_is_utf8(a->grid) ? 0x258f : '|');
	if (c->cols < 2)
		return;
	unsigned room = c->cols - 1;
	put_label(f, b, c, room, &f->label);
	struct look name = l;
	if (b->find[0] && strstr(full, b->find))
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
	if (result_of(f)->is_signed && !own)
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

static void draw_cells(struct flame *f, struct browser *b, const struct area *a)
{
	for (size_t i = 0; i < f->layout.cell_count; i++) {
		const struct flame_cell *c = &f->layout.cells[i];
		unsigned row = c->level - f->top; /* wraps above the top: not drawn */
		if (c->level >= f->top && row < a->rows) {
			draw_cell(f, b, a, row, c);
			if (i == f->selected && !b->is_strip_focused) {
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
	const struct flame_cell *cells = f->layout.cells, *c = selected_of(f);
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
	if (result_of(f)->is_signed)
		return "width: bytes before and after together; what grew has a +";
	return f->is_inverted ? "width: bytes; below a function its callers"
			      : "width: bytes held; below a function what it calls";
}

static void draw_way(struct flame *f, struct browser *b, const struct area *a)
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

static void put_numbers(const struct flame *f, const struct browser *b, const struct flame_cell *c,
			struct buf *out)
{
	char bytes[FMT_BYTES], share[FMT_BYTES], blocks[FMT_BYTES];
	put_bytes(f, c->bytes, bytes, sizeof bytes);
	show_share(share, sizeof share, (double)c->bytes, (double)b->summary.base_bytes);
	show_count(blocks, sizeof blocks, c->blocks);
	buf_printf(out, "%s %s", bytes, share);
	buf_printf(out, " in %s blocks", blocks);
}

/* The selected cell in words: its name may not fit into it. */
static void draw_status(const struct flame *f, struct browser *b, const struct area *a)
{
	const struct flame_cell *c = selected_of(f);
	struct graph_frame frame;
	struct buf text = {0};
	if (!c || !a->rows)
		return;
	bool has_frame = frame_of(f, b, c, &frame);
	put_numbers(f, b, c, &text);
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
		if (has_frame && col + 8 < a->cols)
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
	if (at == f->selected && !b->is_strip_focused) {
		area_flag(a, row, 0, a->cols, LOOK_REVERSE);
		area_cursor(a, row, 0);
	}
}

/* The way to the selected cell, and what is below it: as lines, for screen readers. */
static void draw_plain(struct flame *f, struct browser *b, const struct area *a)
{
	const struct flame_cell *cells = f->layout.cells, *c = selected_of(f);
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

static void draw_empty(const struct flame *f, const struct area *a)
{
	const struct query_result *r = result_of(f);
	bool has_bytes = f->layout.total != SIZE_MAX;
	unsigned row = 1;
	area_put(a, row++, 2, look(ROLE_STRONG),
		 has_bytes ? "no bytes: the query leaves nothing to draw"
			   : "no widths: the query selects no total");
	for (size_t i = 0; i < r->note_count; i++)
		area_elide(a, row++, 2, a->cols > 2 ? a->cols - 2 : 0, look(ROLE_WARNING),
			   r->notes[i]);
	area_put(a, row + 1, 2, look(ROLE_DIM), "Esc takes the last part of the query away");
}

/* The first look is at where the tree begins to branch. */
static void look_first(struct flame *f)
{
	const struct flame_cell *cells = f->layout.cells, *c = selected_of(f);
	while (c && c->child_count && !cells[c->first].rest_count &&
	       cells[c->first].cols >= WIDE_SHARE * f->layout.cols)
		c = &cells[c->first];
	if (!c || !c->level)
		return;
	f->selected = (uint32_t)(c - cells);
	if (c->level > f->page_rows / 3)
		f->top = c->level - f->page_rows / 3;
}

/* Lay out so much that the selected cell and a screen below the top are there. */
static enum neap_err fit(struct flame *f, const struct area *a, struct query_error *error)
{
	bool is_first = f->is_first;
	enum neap_err code =
		lay_out(f, a->cols, is_first ? FIRST_LEVELS : f->top + a->rows + 1, error);
	f->page_rows = a->rows;
	if (is_first && !code)
		look_first(f);
	f->is_first = false;
	const struct flame_cell *c = selected_of(f);
	if (code || !c || !a->rows)
		return code;
	/* No empty rows at the end while there are levels above. */
	unsigned deepest = f->layout.cells[f->layout.cell_count - 1].level + 1;
	if (f->top && deepest < f->top + a->rows)
		f->top = deepest > a->rows ? deepest - a->rows : 0;
	if (c->level < f->top)
		f->top = c->level;
	if (c->level >= f->top + a->rows)
		f->top = c->level - a->rows + 1;
	return lay_out(f, a->cols, f->top + a->rows + 1, error);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct flame *f = self;
	struct query_error error = {.code = NEAP_OK};
	struct area cells = *a;
	if (!f->layout.q)
		return;
	if (a->rows > 5)
		cells = area_cut(&cells, 1, 0, cells.rows - 1, cells.cols);
	unsigned status = a->rows >= 12 ? 2 : a->rows >= 4 ? 1 : 0;
	const struct area last = area_cut(&cells, cells.rows - status, 0, status, cells.cols);
	cells = area_cut(&cells, 0, 0, cells.rows - status, cells.cols);
	browser_tell(b, fit(f, &cells, &error), &error);
	if (a->rows > 5 && f->layout.cell_count)
		draw_way(f, b, a);
	if (!f->layout.cell_count)
		draw_empty(f, a);
	else if (a->grid->is_plain)
		draw_plain(f, b, &cells);
	else
		draw_cells(f, b, &cells);
	if (f->layout.cell_count)
		draw_status(f, b, &last);
}

/* ---- moving ------------------------------------------------------------------------------------------ */

/* The heaviest child, laid out if it has to be; false: none. */
static bool go_down(struct flame *f, struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	const struct flame_cell *c = selected_of(f);
	if (c && c->level + 1 >= f->layout.levels) {
		unsigned more = f->page_rows ? f->page_rows : 1;
		browser_tell(b, lay_out(f, f->layout.cols, f->layout.levels + more, &error),
			     &error);
		c = selected_of(f);
	}
	if (!c || !c->child_count)
		return false;
	uint32_t best = c->first;
	for (uint32_t i = 1; i < c->child_count; i++) {
		const struct flame_cell *child = &f->layout.cells[c->first + i];
		if (!child->rest_count && child->weight > f->layout.cells[best].weight)
			best = c->first + i;
	}
	f->selected = best;
	return true;
}

static bool go_up(struct flame *f)
{
	const struct flame_cell *c = selected_of(f);
	if (!c || c->parent == FLAME_NONE)
		return false;
	f->selected = c->parent;
	return true;
}

/* The next cell of the same level; false: there is none. */
static bool go_aside(struct flame *f, bool is_left)
{
	const struct flame_cell *cells = f->layout.cells;
	uint32_t at = f->selected;
	if (is_left ? at == 0 : at + 1 >= f->layout.cell_count)
		return false;
	uint32_t next = is_left ? at - 1 : at + 1;
	if (cells[next].level != cells[at].level)
		return false;
	f->selected = next;
	return true;
}

/* ---- zooming ------------------------------------------------------------------------------------------- */

static bool push_zoom(struct flame *f, const struct flame_cell *c)
{
	if (!vec_reserve((void **)&f->zoom, &f->zoom_cap, f->zoom_count + 1, sizeof *f->zoom))
		return false;
	f->zoom[f->zoom_count++] =
		(struct flame_step){.step = c->step, .below = c->below, .cell = *c};
	return true;
}

static void begin_zoomed(struct flame *f)
{
	f->kept_count = 0;
	f->layout.cell_count = 0;
	f->selected = FLAME_NONE;
	f->is_stale = true;
	f->top = 0;
}

static void show_cut(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	browser_tell(b, model_set_stage(&b->model, STAGE_MIN, NULL, &error), &error);
}

static void zoom_in(struct flame *f, struct browser *b)
{
	const struct flame_cell *c = selected_of(f);
	if (!c)
		return;
	if (c->rest_count && c->cut_count == c->rest_count) {
		show_cut(b);
		return;
	}
	if (!c->level)
		return;
	if (c->rest_count && c->level == 1 && f->layout.cells[0].rest_count &&
	    f->layout.cells[0].below == c->below) {
		browser_say(b, ROLE_DIM, "all of these are too small to draw: 2 lists functions");
		return;
	}
	/* From the first cell, which is zoomed into already, down to this one. */
	size_t before = f->zoom_count, count = c->level;
	for (size_t i = 0; i < count; i++) {
		const struct flame_cell *step = c;
		for (size_t up = count - 1 - i; up--;)
			step = &f->layout.cells[step->parent];
		if (!push_zoom(f, step)) {
			f->zoom_count = before;
			browser_say(b, ROLE_ERROR, "out of memory");
			return;
		}
	}
	f->zoom[f->zoom_count - 1].is_stop = true;
	begin_zoomed(f);
}

/* Back to where Enter was pressed, with the cell selected that was entered. */
static bool zoom_out(struct flame *f, bool is_all)
{
	size_t to = f->zoom_count;
	if (!to)
		return false;
	do {
		to--;
	} while (to && (is_all || !f->zoom[to - 1].is_stop));
	if (!vec_reserve((void **)&f->kept, &f->kept_cap, f->zoom_count - to, sizeof *f->kept))
		return true;
	begin_zoomed(f);
	f->kept_count = f->zoom_count - to;
	for (size_t i = 0; i < f->kept_count; i++)
		f->kept[i] = f->zoom[to + i].step;
	f->zoom_count = to;
	return true;
}

static void invert(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct state *s = model_edit(&b->model);
	if (!s)
		return;
	s->is_inverted = !s->is_inverted;
	browser_tell(b, model_commit(&b->model, s, &error), &error);
}

/* ---- keys -------------------------------------------------------------------------------------------------- */

static void act_moves(struct flame *f, struct browser *b, enum action action)
{
	unsigned page = f->page_rows > 1 ? f->page_rows - 1 : 1;
	switch (action) {
	case ACTION_UP:
	case ACTION_PARENT:
		go_up(f);
		break;
	case ACTION_DOWN:
		go_down(f, b);
		break;
	case ACTION_LEFT:
		if (!go_aside(f, true) && selected_of(f) && !selected_of(f)->level)
			zoom_out(f, false);
		break;
	case ACTION_RIGHT:
		go_aside(f, false);
		break;
	case ACTION_PAGE_UP:
		while (page-- && go_up(f)) {
		}
		break;
	case ACTION_PAGE_DOWN:
		while (page-- && go_down(f, b)) {
		}
		break;
	case ACTION_FIRST:
		f->selected = 0;
		break;
	default: /* the end of the heaviest chain */
		while (go_down(f, b)) {
		}
		break;
	}
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct flame *f = self;
	switch (action) {
	case ACTION_UP:
	case ACTION_PARENT:
	case ACTION_DOWN:
	case ACTION_LEFT:
	case ACTION_RIGHT:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
	case ACTION_EXPAND_CHAIN:
		act_moves(f, b, action);
		return true;
	case ACTION_ENTER:
	case ACTION_EXPAND:
		zoom_in(f, b);
		return true;
	case ACTION_COLLAPSE:
	case ACTION_COLLAPSE_ALL:
		zoom_out(f, action == ACTION_COLLAPSE_ALL);
		return true;
	case ACTION_BACK:
		return !b->find[0] && !b->is_strip_focused && !b->has_range_start &&
		       zoom_out(f, false);
	case ACTION_INVERT:
		invert(b);
		return true;
	default:
		return false;
	}
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct flame *f = self;
	unsigned head = b->view_area.rows > 5 ? 1 : 0;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN) {
		act_moves(f, b, m->kind == MOUSE_WHEEL_UP ? ACTION_UP : ACTION_DOWN);
		return true;
	}
	bool is_press = m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE;
	if (!is_press || m->row < head || m->row - head >= f->page_rows || b->grid.is_plain)
		return false;
	for (size_t i = 0; i < f->layout.cell_count; i++) {
		const struct flame_cell *c = &f->layout.cells[i];
		if (c->level != f->top + m->row - head || m->col < c->col ||
		    m->col >= c->col + c->cols)
			continue;
		f->selected = (uint32_t)i;
		if (m->kind == MOUSE_DOUBLE)
			zoom_in(f, b);
		return true;
	}
	return false;
}

static void place(const void *self, struct buf *out)
{
	const struct flame *f = self;
	const struct flame_cell *c = selected_of(f);
	if (c)
		buf_printf(out, "depth %zu", f->zoom_count + c->level);
}

static bool frame(const void *self, const struct browser *b, struct graph_frame *out)
{
	const struct flame *f = self;
	const struct flame_cell *c = selected_of(f);
	return c && frame_of(f, b, c, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct flame *f = self;
	const struct flame_cell *c = selected_of(f);
	if (!c)
		return;
	put_numbers(f, b, c, out);
	if (c->rest_count)
		buf_printf(out, "  %u smaller ones", c->rest_count);
	else
		buf_printf(out, "  %s", c->row == OPENED_ROOT ? "all" : flame_name(&f->layout, c));
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct flame *f = self;
	size_t count = f->layout.cell_count;
	(void)b;
	for (size_t i = is_here ? 0 : 1; i <= count && count; i++) {
		size_t at = (f->selected + (is_back ? count - i % count : i)) % count;
		if (strstr(flame_name(&f->layout, &f->layout.cells[at]), text)) {
			f->selected = (uint32_t)at;
			return true;
		}
	}
	return false;
}

const struct view view_flame = {
	.self_bytes = sizeof(struct flame),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
};
