/*
 * Tree: who calls whom, top-down or from the leaf up.
 *
 * Rows of the result are made when they are opened.  What is on the screen is a list of lines,
 * the opened rows in preorder; every opened row has its children right below it, the ones that
 * were cut as one line, so that the lines of a level add up to their parent.
 */
#include "config.h"

#include "tui/browser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/map.h"
#include "src/base/mem.h"
#include "tui/details.h"
#include "tui/empty.h"
#include "tui/list.h"
#include "tui/show.h"

#define CHAIN_SHARE    0.5 /* the heaviest chain goes on while a child has that part of its parent */
#define EXPAND_MOST    2000u
#define FOLDS_MOST     4000u /* kept from one time to the next */
#define DETAILS_COLS   38u
#define DETAILS_SCREEN 112u

struct line {
	uint32_t row; /* of the result */
	uint32_t depth;
	bool is_open;
	uint64_t path; /* hash of the names from the root to it */
};

struct tree {
	struct query_opened *q; /* borrowed from the model */
	struct line *lines;
	size_t line_cap;
	struct list list;                       /* count: lines */
	size_t total, self, count, share, name; /* columns */
	int64_t base_bytes;
	bool is_inverted;
	/* From before the last load: paths of open lines, and of the selected one. */
	struct map open;
	uint64_t selected_path;
	uint64_t root_path; /* of the first line; 0: nothing was shown */
	bool has_taken;     /* they are from another time, not from the last load */
	struct {            /* of the row that was selected when they were asked for */
		uint64_t serial;
		uint32_t row;
		struct query_facts facts;
	} known;
};

static const struct query_result *result_of(const struct tree *t)
{
	return query_opened_result(t->q);
}

static bool is_other(const struct tree *t, uint32_t row)
{
	return result_of(t)->rows[row].kind == ROW_OTHER;
}

static const char *name_of(const struct tree *t, uint32_t row)
{
	const struct query_result *r = result_of(t);
	if (t->name >= r->column_count)
		return "";
	const struct result_cell *c = &r->cells[row * r->column_count + t->name];
	return c->text ? c->text : "";
}

/* FNV-1a; lines of the same names are the same line. */
static uint64_t path_of(const struct tree *t, uint64_t parent, uint32_t row)
{
	uint64_t hash = 0xcbf29ce484222325u ^ parent * 0x100000001b3u;
	const char *name = is_other(t, row) ? "(other)" : name_of(t, row);
	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
	return hash & INT64_MAX;
}

/* ---- opening ----------------------------------------------------------------------------- */

static enum neap_err insert_below(struct tree *t, size_t at, uint32_t row, uint32_t depth,
				  struct query_error *error)
{
	uint32_t first, count;
	enum neap_err code = query_opened_children(t->q, row, &first, &count, error);
	if (code || !count)
		return code;
	if (!vec_reserve((void **)&t->lines, &t->line_cap, t->list.count + count,
			 sizeof *t->lines)) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	memmove(&t->lines[at + count], &t->lines[at], (t->list.count - at) * sizeof *t->lines);
	uint64_t parent = depth ? t->lines[at - 1].path : 0;
	for (uint32_t i = 0; i < count; i++)
		t->lines[at + i] = (struct line){
			.row = first + i, .depth = depth, .path = path_of(t, parent, first + i)};
	t->list.count += count;
	return NEAP_OK;
}

static bool can_open(const struct tree *t, size_t at)
{
	return query_opened_has_children(t->q, t->lines[at].row);
}

static enum neap_err open_line(struct tree *t, size_t at, struct query_error *error)
{
	const struct line *l = &t->lines[at];
	if (l->is_open || !can_open(t, at))
		return NEAP_OK;
	enum neap_err code = insert_below(t, at + 1, l->row, l->depth + 1, error);
	t->lines[at].is_open = !code;
	return code;
}

static size_t end_below(const struct tree *t, size_t at)
{
	size_t end = at + 1;
	while (end < t->list.count && t->lines[end].depth > t->lines[at].depth)
		end++;
	return end;
}

static void close_line(struct tree *t, size_t at)
{
	size_t end = end_below(t, at);
	t->lines[at].is_open = false;
	memmove(&t->lines[at + 1], &t->lines[end], (t->list.count - end) * sizeof *t->lines);
	t->list.count -= end - at - 1;
	if (t->list.selected > at && t->list.selected < end)
		t->list.selected = at;
	else if (t->list.selected >= end)
		t->list.selected -= end - at - 1;
}

/* Open line after line while one child has most of its parent; returns the last one. */
static size_t open_chain(struct tree *t, size_t at, struct query_error *error)
{
	for (unsigned i = 0; i < EXPAND_MOST && can_open(t, at); i++) {
		int64_t parent = result_value(result_of(t), t->lines[at].row, t->total);
		if (open_line(t, at, error))
			break;
		if (at + 1 >= t->list.count || t->lines[at + 1].depth <= t->lines[at].depth)
			break;
		int64_t child = result_value(result_of(t), t->lines[at + 1].row, t->total);
		if (is_other(t, t->lines[at + 1].row) ||
		    (double)child < CHAIN_SHARE * (double)parent)
			break;
		at++;
	}
	return at;
}

static size_t parent_line(const struct tree *t, size_t at)
{
	uint32_t depth = t->lines[at].depth;
	while (at > 0 && t->lines[at].depth >= depth)
		at--;
	return at;
}

/* ---- what was open before --------------------------------------------------------------------- */

/* What is on the screen has to be the same after another query, as far as it is still there. */
static bool keep_open(struct tree *t)
{
	if (t->has_taken) {
		t->has_taken = false;
		return true;
	}
	if (!t->q) /* the load before failed: what was open before it */
		return true;
	map_clear(&t->open);
	t->selected_path = 0;
	t->root_path = t->list.count ? t->lines[0].path : 0;
	if (t->list.selected < t->list.count)
		t->selected_path = t->lines[t->list.selected].path;
	for (size_t i = 0; i < t->list.count; i++) {
		if (t->lines[i].is_open && !map_put(&t->open, t->lines[i].path, 1))
			return false;
	}
	return true;
}

/* The selected line, or the nearest one above it that is still there. */
static bool restore_open(struct tree *t, struct query_error *error)
{
	bool has_opened = false;
	t->list.selected = 0;
	for (size_t i = 0; i < t->list.count; i++) {
		if (t->lines[i].path == t->selected_path)
			t->list.selected = i;
		if (map_find(&t->open, t->lines[i].path) == MAP_ABSENT)
			continue;
		has_opened = true;
		if (open_line(t, i, error))
			break;
	}
	return has_opened;
}

/* The selected path, then the open ones, as hexadecimal numbers. */
static void save_folds(const void *self, struct buf *out)
{
	const struct tree *t = self;
	size_t count = 0;
	if (t->list.selected >= t->list.count)
		return;
	buf_printf(out, "%" PRIx64, t->lines[t->list.selected].path);
	for (size_t i = 0; i < t->list.count && count < FOLDS_MOST; i++) {
		if (!t->lines[i].is_open)
			continue;
		buf_printf(out, " %" PRIx64, t->lines[i].path);
		count++;
	}
}

static void take_folds(void *self, const char *text)
{
	struct tree *t = self;
	char *end;
	t->selected_path = strtoull(text, &end, 16) & INT64_MAX;
	for (size_t i = 0; *end == ' ' && i < FOLDS_MOST; i++) {
		const char *at = end + 1;
		uint64_t path = strtoull(at, &end, 16) & INT64_MAX;
		if (end == at || !map_put(&t->open, path, 1))
			break;
	}
	t->has_taken = true;
}

/* ---- loading --------------------------------------------------------------------------------- */

static void find_columns(struct tree *t, struct browser *b)
{
	const struct query_result *r = result_of(t);
	t->total = result_column(r, "total");
	if (t->total == SIZE_MAX)
		t->total = result_column(r, "delta");
	t->self = result_column(r, "self");
	t->count = result_column(r, "count");
	t->share = result_column(r, "share");
	t->name = SIZE_MAX;
	for (size_t i = r->column_count; i-- > 0;) {
		if (r->columns[i].is_key)
			t->name = i;
	}
	browser_summarise(b, r);
	t->base_bytes = b->summary.base_bytes;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct tree *t = self;
	const struct state *s = model_state(&b->model);
	const struct compose c = {.view = s->is_inverted ? "callers" : "tree"};
	if (!keep_open(t)) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	t->is_inverted = s->is_inverted;
	t->q = NULL;
	t->list.count = 0;
	enum neap_err code = model_result(&b->model, &c, &t->q, error);
	if (code)
		return code;
	find_columns(t, b);
	code = insert_below(t, 0, OPENED_ROOT, 0, error);
	if (code || restore_open(t, error))
		return code;
	/* Closed by the user, it stays closed. */
	bool is_new = t->list.count && t->lines[0].path != t->root_path;
	if (is_new && !is_other(t, t->lines[0].row))
		open_chain(t, 0, error);
	return NEAP_OK;
}

static void release(void *self)
{
	struct tree *t = self;
	mem_free(t->lines);
	map_release(&t->open);
}

/* ---- drawing ----------------------------------------------------------------------------------- */

struct columns { /* where columns end; 0: not shown */
	unsigned total, share, bar, bar_cols, self, count, name;
};

static struct columns lay_out(const struct area *a)
{
	struct columns c = {.total = 7};
	unsigned at = 7;
	if (a->cols >= 36)
		c.share = at += 7;
	if (a->cols >= 64 && !a->grid->is_plain) {
		c.bar = at + 1;
		c.bar_cols = a->cols >= 100 ? 8 : 5;
		at += c.bar_cols + 1;
	}
	if (a->cols >= 56)
		c.self = at += 8;
	if (a->cols >= 72)
		c.count = at += 8;
	c.name = at + 1;
	return c;
}

/* The column that decides the order, as the query says it. */
static bool is_sorted_by(const struct browser *b, const char *word, bool *is_ascending)
{
	const char *sort = state_chip(model_state(&b->model), STAGE_SORT);
	size_t bytes = strlen(word);
	*is_ascending = false;
	if (!sort || strncmp(sort + strlen("sort "), word, bytes) != 0)
		return false;
	const char *order = sort + strlen("sort ") + bytes;
	*is_ascending = !strncmp(order, " asc", 4);
	return !*order || *order == ' ' || *order == ',';
}

static void put_heading(const struct browser *b, const struct area *a, unsigned end, unsigned cols,
			const char *text, const char *word)
{
	char heading[32];
	bool is_ascending, is_sorted = is_sorted_by(b, word, &is_ascending);
	struct look l = look(ROLE_HEADING);
	if (!end)
		return;
	if (is_sorted)
		l.flags = LOOK_BOLD;
	snprintf(heading, sizeof heading, "%s%s", text, !is_sorted ? "" : is_ascending ? "^" : "v");
	area_right(a, 0, end, cols, l, heading);
}

static void draw_heading(const struct tree *t, const struct browser *b, const struct area *a,
			 const struct columns *c)
{
	struct look l = look(ROLE_HEADING);
	put_heading(b, a, c->total, 7, "TOTAL", "total");
	put_heading(b, a, c->share, 7, "SHARE", "share");
	put_heading(b, a, c->self, 8, t->is_inverted ? "MEAN" : "SELF",
		    t->is_inverted ? "avg" : "self");
	put_heading(b, a, c->count, 8, "BLOCKS", "count");
	area_put(a, 0, c->name, l,
		 t->is_inverted ? "allocated by, then its callers" : "calls from the start down");
}

/*
 * Of the row's own; from the leaf up, where a row is a function's bytes for one caller or another
 * and nothing is its own, the mean size of its blocks.
 */
static int64_t own_of(const struct tree *t, uint32_t row)
{
	const struct query_result *r = result_of(t);
	if (!t->is_inverted)
		return result_value(r, row, t->self);
	int64_t blocks = result_value(r, row, t->count);
	return blocks ? result_value(r, row, t->total) / blocks : 0;
}

static void draw_values(const struct tree *t, const struct area *a, unsigned row,
			const struct columns *c, uint32_t at)
{
	const struct query_result *r = result_of(t);
	char text[FMT_BYTES];
	int64_t total = result_value(r, at, t->total), self = own_of(t, at);
	bool is_dim = is_other(t, at);
	struct look strong = look(is_dim ? ROLE_DIM : ROLE_STRONG);
	if (r->is_signed && total)
		strong = look(total > 0 ? ROLE_GREW : ROLE_SHRANK);
	area_right(a, row, c->total, 7, strong, show_bytes(text, sizeof text, total));
	show_share(text, sizeof text, (double)total, (double)t->base_bytes);
	if (c->share)
		area_right(a, row, c->share, 7, look(is_dim ? ROLE_DIM : ROLE_TEXT), text);
	if (c->bar && t->base_bytes)
		area_bar(a, row, c->bar, c->bar_cols, look(is_dim ? ROLE_DIM : ROLE_BAR),
			 (double)total / (double)t->base_bytes);
	if (c->self)
		area_right(a, row, c->self, 8, look(self ? ROLE_TEXT : ROLE_DIM),
			   show_bytes(text, sizeof text, self));
	if (c->count)
		area_right(a, row, c->count, 8, look(ROLE_TEXT),
			   show_count(text, sizeof text, result_value(r, at, t->count)));
}

static bool frame_of(const struct tree *t, const struct browser *b, uint32_t row,
		     struct graph_frame *out)
{
	const struct query_result *r = result_of(t);
	if (!r->graph || !r->rows[row].frame_count)
		return false;
	*out = graph_entry(b->model.graph, r->rows[row].frames[0]);
	return true;
}

static void draw_other(const struct tree *t, struct browser *b, const struct area *a, unsigned row,
		       unsigned col, uint32_t at)
{
	char count[FMT_BYTES];
	const char *min = state_chip(model_state(&b->model), STAGE_MIN);
	unsigned room = a->cols > col ? a->cols - col : 0;
	struct buf text = {0};
	fmt_count(count, sizeof count, result_of(t)->rows[at].count);
	buf_printf(&text, "%s more", count);
	if (min) {
		size_t short_bytes = text.count_bytes;
		buf_printf(&text, " below %s  (L shows them)", min + strlen("min "));
		if (!text.has_failed && text_cols(text.data) > room) {
			text.data[short_bytes] = '\0';
			text.count_bytes = short_bytes;
			buf_puts(&text, "  L");
		}
	}
	if (!text.has_failed)
		area_put(a, row, col, look(ROLE_DIM), text.data);
	buf_release(&text);
}

/* By level, and capped: most of the room is for names. */
static unsigned indent_of(const struct area *a, const struct columns *c, uint32_t depth)
{
	unsigned room = a->cols > c->name ? (a->cols - c->name) / 3 : 0;
	unsigned step = a->cols >= 100 ? 2 : 1;
	return depth > room / step ? room : depth * step;
}

static void draw_name(struct tree *t, struct browser *b, const struct area *a, unsigned row,
		      const struct columns *c, size_t at)
{
	const struct line *l = &t->lines[at];
	struct graph_frame f;
	bool is_utf8 = grid_is_utf8(a->grid);
	unsigned col = c->name + indent_of(a, c, l->depth);
	if (is_other(t, l->row)) {
		draw_other(t, b, a, row, col + 2, l->row);
		return;
	}
	const char *sign = l->is_open ? (is_utf8 ? "\u25be" : "v") : is_utf8 ? "\u25b8" : ">";
	if (can_open(t, at))
		area_put(a, row, col, look(ROLE_KEY), sign);
	col += 2;
	if (col >= a->cols)
		return;
	bool has_frame = frame_of(t, b, l->row, &f);
	const char *name = has_frame ? name_frame(&b->names, &f, a->cols - col)
				     : name_text(&b->names, name_of(t, l->row), a->cols - col);
	bool is_match = b->find[0] && strstr(name_of(t, l->row), b->find);
	struct look plain = look(has_frame && f.is_wrapper ? ROLE_DIM : ROLE_TEXT);
	col = area_put(a, row, col, is_match ? look_bold(ROLE_MATCH) : plain, name);
	if (has_frame && col + 12 < a->cols)
		area_put(a, row, col + 2, look(ROLE_DIM),
			 name_place(&b->names, &f, a->cols - col - 2, a->cols < 120));
}

static void draw_lines(struct tree *t, struct browser *b, const struct area *a,
		       const struct columns *c)
{
	for (unsigned i = 0; i < a->rows && t->list.top + i < t->list.count; i++) {
		size_t at = t->list.top + i;
		draw_values(t, a, i, c, t->lines[at].row);
		draw_name(t, b, a, i, c, at);
		if (at != t->list.selected || b->pane == PANE_STRIP)
			continue;
		area_select(a, i);
		if (b->pane == PANE_ROWS)
			area_cursor(a, i, 0);
	}
}

/* Found again only for another row. */
static struct query_facts facts_of(struct tree *t, struct browser *b, uint32_t row)
{
	struct query_error ignored;
	uint64_t serial = model_serial(&b->model, t->q);
	if (t->known.serial == serial && t->known.row == row)
		return t->known.facts;
	t->known.serial = query_opened_facts(t->q, row, &t->known.facts, &ignored) ? 0 : serial;
	t->known.row = row;
	b->details_scroll = 0;
	return t->known.facts;
}

static void draw_details(struct tree *t, struct browser *b, const struct area *a)
{
	if (t->list.selected >= t->list.count)
		return;
	uint32_t row = t->lines[t->list.selected].row;
	const struct query_result *r = result_of(t);
	struct details d = {.total_bytes = result_value(r, row, t->total),
			    .self_bytes = result_value(r, row, t->self),
			    .has_no_self = t->is_inverted,
			    .blocks = result_value(r, row, t->count),
			    .base_bytes = t->base_bytes,
			    .facts = facts_of(t, b, row)};
	d.has_frame = frame_of(t, b, row, &d.frame);
	area_upright(a, 0, 0, a->rows,
		     b->pane == PANE_DETAILS ? look_bold(ROLE_CURSOR) : look(ROLE_DIM));
	b->has_details = true;
	if (b->pane == PANE_DETAILS)
		area_cursor(a, 0, 2);
	const struct area inner = area_cut(a, 0, 2, a->rows, a->cols);
	details_draw(b, &inner, &d);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct tree *t = self;
	struct area rows = *a;
	if (!t->list.count) {
		empty_draw(b, a, "no blocks: the query leaves nothing", result_of(t));
		return;
	}
	if (a->cols >= DETAILS_SCREEN) {
		const struct area side =
			area_cut(a, 0, a->cols - DETAILS_COLS, a->rows, DETAILS_COLS);
		rows = area_cut(a, 0, 0, a->rows, a->cols - DETAILS_COLS);
		draw_details(t, b, &side);
	}
	struct columns c = lay_out(&rows);
	if (rows.rows > 3) {
		draw_heading(t, b, &rows, &c);
		rows = area_cut(&rows, 1, 0, rows.rows, rows.cols);
	}
	list_fit(&t->list, rows.rows);
	draw_lines(t, b, &rows, &c);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static void expand_all(struct tree *t, struct browser *b, size_t at)
{
	struct query_error error = {.code = NEAP_OK};
	size_t end = end_below(t, at), room = t->list.page_rows ? t->list.page_rows : 1;
	for (size_t i = at; i < end && i < at + room && !error.code; i++) {
		size_t before = t->list.count;
		open_line(t, i, &error);
		end += t->list.count - before;
	}
	browser_tell(b, error.code, &error);
}

static void collapse_all(struct tree *t)
{
	while (t->list.count && t->lines[t->list.selected].depth)
		t->list.selected = parent_line(t, t->list.selected);
	for (size_t i = 0; i < t->list.count; i++)
		close_line(t, i);
}

static bool invert(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	struct state *s = model_edit(&b->model);
	if (!s)
		return true;
	s->is_inverted = !s->is_inverted;
	enum neap_err code = model_commit(&b->model, s, &error);
	browser_tell(b, code, &error);
	return true;
}

/* The key that shows what is cut. */
static bool show_cut(struct tree *t, struct browser *b, size_t at)
{
	if (!is_other(t, t->lines[at].row))
		return false;
	struct query_error error = {.code = NEAP_OK};
	browser_tell(b, model_set_stage(&b->model, STAGE_MIN, NULL, &error), &error);
	return true;
}

static bool act_fold(struct tree *t, struct browser *b, enum action action)
{
	struct query_error error = {.code = NEAP_OK};
	size_t at = t->list.selected;
	struct line *l = &t->lines[at];
	switch (action) {
	case ACTION_ENTER:
		if (show_cut(t, b, at))
			return true;
		if (l->is_open)
			close_line(t, at);
		else
			open_line(t, at, &error);
		break;
	case ACTION_RIGHT:
	case ACTION_EXPAND:
		if (l->is_open && action == ACTION_RIGHT && at + 1 < t->list.count)
			t->list.selected++;
		else
			open_line(t, at, &error);
		break;
	case ACTION_LEFT:
	case ACTION_COLLAPSE:
		if (l->is_open)
			close_line(t, at);
		else if (action == ACTION_LEFT)
			t->list.selected = parent_line(t, at);
		break;
	case ACTION_PARENT:
		t->list.selected = parent_line(t, at);
		break;
	case ACTION_EXPAND_CHAIN:
		t->list.selected = open_chain(t, at, &error);
		break;
	case ACTION_EXPAND_ALL:
		expand_all(t, b, at);
		break;
	case ACTION_COLLAPSE_ALL:
		collapse_all(t);
		break;
	default:
		return false;
	}
	browser_tell(b, error.code, &error);
	return true;
}

static void sort_by(struct browser *b, const char *word, bool is_ascending)
{
	struct query_error error = {.code = NEAP_OK};
	char text[64];
	snprintf(text, sizeof text, "sort %s %s", word, is_ascending ? "asc" : "desc");
	browser_tell(b, model_set_stage(&b->model, STAGE_SORT, text, &error), &error);
}

/* A press on a column's name: by that column; once more: the other way round. */
static bool press_heading(const struct tree *t, struct browser *b, unsigned col)
{
	struct area rows = b->view_area;
	if (rows.cols >= DETAILS_SCREEN)
		rows.cols -= DETAILS_COLS;
	const struct columns c = lay_out(&rows);
	unsigned self = c.self ? c.self : c.share;
	const char *word = col < c.total              ? "total"
			   : col < c.share            ? "share"
			   : c.self && col < self     ? (t->is_inverted ? "avg" : "self")
			   : c.count && col < c.count ? "count"
			   : col >= c.name            ? "func"
						      : NULL;
	bool is_ascending;
	if (!word || col >= rows.cols)
		return false;
	bool is_sorted = is_sorted_by(b, word, &is_ascending);
	sort_by(b, word, is_sorted ? !is_ascending : !strcmp(word, "func"));
	return true;
}

/* The order moves by one column, or turns round. */
static void sort(const struct tree *t, struct browser *b, enum action action)
{
	const char *const words[] = {"total", t->is_inverted ? "avg" : "self", "count", "func"};
	const size_t count = sizeof words / sizeof words[0];
	bool is_ascending = false;
	size_t at = 0;
	while (at < count && !is_sorted_by(b, words[at], &is_ascending))
		at++;
	if (at == count)
		at = 0;
	if (action == ACTION_SORT_REVERSE) {
		sort_by(b, words[at], !is_ascending);
		return;
	}
	at = (at + (action == ACTION_SORT_LEFT ? count - 1 : 1)) % count;
	sort_by(b, words[at], !strcmp(words[at], "func"));
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct tree *t = self;
	if (b->pane == PANE_DETAILS && details_act(b, action))
		return true;
	if (action == ACTION_INVERT)
		return invert(b);
	if (action == ACTION_SORT_LEFT || action == ACTION_SORT_RIGHT ||
	    action == ACTION_SORT_REVERSE) {
		sort(t, b, action);
		return true;
	}
	if (list_act(&t->list, action))
		return true;
	return t->list.count && act_fold(t, b, action);
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct tree *t = self;
	struct mouse in_list = *m;
	if (b->view_area.rows > 3) {
		bool is_press = m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE;
		if (!in_list.row && is_press)
			return press_heading(t, b, m->col);
		in_list.row -= in_list.row > 0;
	}
	if (!list_mouse(&t->list, &in_list))
		return false;
	return m->kind == MOUSE_DOUBLE ? act_fold(t, b, ACTION_ENTER) : true;
}

static void place(const void *self, struct buf *out)
{
	const struct tree *t = self;
	list_place(&t->list, out);
}

static bool frame(const void *self, const struct browser *b, struct graph_frame *out)
{
	const struct tree *t = self;
	return t->list.selected < t->list.count &&
	       frame_of(t, b, t->lines[t->list.selected].row, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct tree *t = self;
	char total[FMT_BYTES], count[FMT_BYTES];
	(void)b;
	if (t->list.selected >= t->list.count)
		return;
	uint32_t row = t->lines[t->list.selected].row;
	const struct query_result *r = result_of(t);
	buf_printf(out, "%s in %s blocks  %s",
		   fmt_bytes(total, sizeof total, result_value(r, row, t->total)),
		   fmt_count(count, sizeof count, result_value(r, row, t->count)), name_of(t, row));
}

static bool fits(const struct list_search *s, size_t at)
{
	const struct tree *t = s->self;
	return strstr(name_of(t, t->lines[at].row), s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct tree *t = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return list_find(&t->list, &s, fits);
}

const struct view view_tree = {
	.self_bytes = sizeof(struct tree),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
	.save_folds = save_folds,
	.take_folds = take_folds,
};
