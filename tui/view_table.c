/*
 * Table: one row for each value of the keys; any columns of the language.
 *
 * The columns of numbers stand at the left, the keys at the right, so that long names are cut
 * and not numbers.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "tui/empty.h"
#include "tui/list.h"
#include "tui/rows.h"
#include "tui/show.h"
#include "tui/table.h"

#define NUMBER_COLS 9u
#define BAR_COLS    8u

struct table {
	struct query_opened *q; /* borrowed from the model */
	struct list list;
	struct buf kept; /* keys of the row that was selected when it was drawn */
	int64_t base_bytes;
	size_t sorted; /* column that decides the order; SIZE_MAX: none */
	bool is_ascending;
};

static const struct query_result *result_of(const struct table *t)
{
	return query_opened_result(t->q);
}

static const struct result_cell *cell_of(const struct query_result *r, size_t row, size_t column)
{
	return row == SIZE_MAX ? &r->totals[column] : &r->cells[row * r->column_count + column];
}

static bool is_shown(const struct query_result *r, size_t column)
{
	return !r->columns[column].is_hidden;
}

/* ---- loading ------------------------------------------------------------------------------ */

static void find_order(struct table *t, const struct browser *b)
{
	const struct query_result *r = result_of(t);
	const char *sort = state_chip(model_state(&b->model), STAGE_SORT);
	char word[64] = "";
	t->sorted = SIZE_MAX;
	t->is_ascending = false;
	if (sort) {
		sort += strlen("sort ");
		snprintf(word, sizeof word, "%.*s", (int)strcspn(sort, " ,"), sort);
		const char *order = sort + strlen(word);
		t->is_ascending = !strncmp(order, " asc", 4);
		t->sorted = result_column(r, word);
	}
}

static void restore_selected(struct table *t)
{
	const struct query_result *r = result_of(t);
	struct buf keys = {0};
	size_t row = 0;
	bool has_found = false;
	for (; t->kept.count_bytes && !has_found && row < r->row_count; row++) {
		buf_clear(&keys);
		row_put_keys(r, row, &keys);
		has_found = keys.count_bytes == t->kept.count_bytes &&
			    !memcmp(keys.data, t->kept.data, keys.count_bytes);
	}
	t->list.selected = has_found ? row - 1 : 0;
	buf_release(&keys);
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct table *t = self;
	const struct compose c = {.default_by = "func",
				  .by = state_own_keys(model_state(&b->model)),
				  .view = state_columns(model_state(&b->model))};
	t->list.count = 0;
	enum neap_err code = model_result(&b->model, &c, &t->q, error);
	if (code) {
		t->q = NULL;
		return code;
	}
	browser_summarise(b, result_of(t));
	t->base_bytes = b->summary.base_bytes;
	t->list.count = result_of(t)->row_count;
	find_order(t, b);
	restore_selected(t);
	return NEAP_OK;
}

static void release(void *self)
{
	struct table *t = self;
	buf_release(&t->kept);
}

/* ---- drawing -------------------------------------------------------------------------------- */

struct layout {
	size_t numbers[16]; /* columns of numbers that fit */
	size_t number_count;
	unsigned bar; /* column of the bar; 0: none */
	unsigned keys;
};

static size_t key_count(const struct query_result *r)
{
	size_t count = 0;
	for (size_t i = 0; i < r->column_count; i++)
		count += is_shown(r, i) && r->columns[i].is_key;
	return count;
}

static struct layout lay_out(const struct query_result *r, const struct area *a)
{
	struct layout l = {.number_count = 0};
	unsigned keep = a->cols / 3 > 16 ? a->cols / 3 : 16;
	unsigned room = a->cols > keep ? a->cols - keep : 0;
	for (size_t i = 0; i < r->column_count && l.number_count < 16; i++) {
		if (!is_shown(r, i) || r->columns[i].is_key)
			continue;
		if ((l.number_count + 1) * NUMBER_COLS > room)
			break;
		l.numbers[l.number_count++] = i;
	}
	unsigned at = (unsigned)l.number_count * NUMBER_COLS;
	if (a->cols >= at + BAR_COLS + keep && !a->grid->is_plain) {
		l.bar = at + 1;
		at += BAR_COLS + 1;
	}
	l.keys = at + 1;
	return l;
}

/* As headings are; the word itself is what queries call the column. */
static const char *put_upper(char *dst, size_t cap, const char *word, const char *sign)
{
	snprintf(dst, cap, "%s%s", word, sign);
	for (char *c = dst; *c; c++) {
		if (*c >= 'a' && *c <= 'z' && *c != *sign)
			*c = (char)(*c - 'a' + 'A');
	}
	return dst;
}

static void draw_heading(const struct table *t, const struct area *a, const struct layout *l)
{
	const struct query_result *r = result_of(t);
	char text[64];
	unsigned col = l->keys;
	for (size_t i = 0; i < l->number_count; i++) {
		size_t c = l->numbers[i];
		const char *sign = c != t->sorted ? "" : t->is_ascending ? "^" : "v";
		put_upper(text, sizeof text, r->columns[c].word, sign);
		struct look lk = look(ROLE_HEADING);
		if (c == t->sorted)
			lk.flags = LOOK_BOLD;
		area_right(a, 0, (unsigned)(i + 1) * NUMBER_COLS, NUMBER_COLS, lk, text);
	}
	for (size_t i = 0; i < r->column_count; i++) {
		if (r->columns[i].is_key && is_shown(r, i))
			col = area_put(a, 0, col, look(ROLE_HEADING),
				       put_upper(text, sizeof text, r->columns[i].word, "")) +
			      2;
	}
}

static void draw_keys(const struct table *t, struct browser *b, const struct area *a, unsigned row,
		      const struct layout *l, size_t at)
{
	const struct query_result *r = result_of(t);
	char text[FMT_BYTES], count[FMT_BYTES];
	unsigned col = l->keys;
	unsigned left = (unsigned)key_count(r); /* columns that room must be kept for */
	if (r->rows[at].kind == ROW_OTHER) {
		const char *min = state_chip(model_state(&b->model), STAGE_MIN);
		fmt_count(count, sizeof count, r->rows[at].count);
		area_printf(a, row, col, look(ROLE_DIM), "%s more%s%s%s", count,
			    min ? " below " : "", min ? min + strlen("min ") : "",
			    min ? "  (L shows them)" : "  (cut by the query)");
		return;
	}
	for (size_t i = 0; i < r->column_count && col < a->cols; i++) {
		if (!r->columns[i].is_key || !is_shown(r, i))
			continue;
		unsigned room = a->cols - col;
		unsigned most = room / (left ? left : 1);
		const char *key = row_key(&b->names, r, at, i, most, text);
		bool is_match = b->find[0] && strstr(key, b->find);
		area_put_most(a, row, col, most, is_match ? look_bold(ROLE_MATCH) : look(ROLE_TEXT),
			      key);
		col += most > 1 && left > 1 ? most : room;
		left -= left > 0;
	}
}

static void draw_row(const struct table *t, struct browser *b, const struct area *a, unsigned row,
		     const struct layout *l, size_t at)
{
	const struct query_result *r = result_of(t);
	char text[FMT_BYTES];
	bool is_other = r->rows[at].kind == ROW_OTHER;
	size_t bar = result_column(r, r->is_signed ? "delta" : "total");
	for (size_t i = 0; i < l->number_count; i++) {
		size_t c = l->numbers[i];
		const struct result_cell *cell = cell_of(r, at, c);
		bool is_zero = cell->is_unknown || (!cell->value && !(cell->number != 0));
		struct look lk = look(is_other || is_zero ? ROLE_DIM : i ? ROLE_TEXT : ROLE_STRONG);
		if (!strcmp(r->columns[c].word, "delta") && !is_zero)
			lk = look(cell->value > 0 ? ROLE_GREW : ROLE_SHRANK);
		area_right(a, row, (unsigned)(i + 1) * NUMBER_COLS, NUMBER_COLS - 1, lk,
			   show_cell(text, sizeof text, cell, r->columns[c].type));
	}
	if (l->bar && bar != SIZE_MAX && t->base_bytes)
		area_bar(a, row, l->bar, BAR_COLS, look(is_other ? ROLE_DIM : ROLE_BAR),
			 (double)result_value(r, at, bar) / (double)t->base_bytes);
	draw_keys(t, b, a, row, l, at);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct table *t = self;
	struct area rows = *a;
	const struct layout l = lay_out(result_of(t), a);
	if (!t->list.count) {
		empty_draw(b, a, "no blocks: the query leaves nothing", result_of(t));
		return;
	}
	if (a->rows > 3) {
		draw_heading(t, a, &l);
		rows = area_cut(a, 1, 0, a->rows, a->cols);
	}
	list_fit(&t->list, rows.rows);
	buf_clear(&t->kept);
	row_put_keys(result_of(t), t->list.selected, &t->kept);
	for (unsigned i = 0; i < rows.rows && t->list.top + i < t->list.count; i++) {
		size_t at = t->list.top + i;
		draw_row(t, b, &rows, i, &l, at);
		if (at == t->list.selected && b->pane == PANE_ROWS) {
			area_select(&rows, i);
			area_cursor(&rows, i, 0);
		}
	}
}

/* ---- keys ------------------------------------------------------------------------------------- */

static void sort_by(struct browser *b, const struct query_result *r, size_t column,
		    bool is_ascending)
{
	struct query_error error = {.code = NEAP_OK};
	char text[96];
	snprintf(text, sizeof text, "sort %s %s", r->columns[column].word,
		 is_ascending ? "asc" : "desc");
	browser_tell(b, model_set_stage(&b->model, STAGE_SORT, text, &error), &error);
}

/* What the file does not know is in no order. */
static bool can_sort_by(const struct query_result *r, size_t column)
{
	return is_shown(r, column) && (r->columns[column].is_key || result_knows(r, column));
}

/* Move the order by one column, or turn it round. */
static void sort(struct table *t, struct browser *b, enum action action)
{
	const struct query_result *r = result_of(t);
	size_t count = r->column_count, at = t->sorted;
	bool is_ascending = action == ACTION_SORT_REVERSE && !t->is_ascending;
	if (at == SIZE_MAX)
		at = result_column(r, r->is_signed ? "delta" : "total");
	if (at == SIZE_MAX)
		at = 0;
	do {
		if (action == ACTION_SORT_LEFT)
			at = (at + count - 1) % count;
		else if (action == ACTION_SORT_RIGHT)
			at = (at + 1) % count;
	} while (action != ACTION_SORT_REVERSE && !can_sort_by(r, at));
	sort_by(b, r, at, is_ascending);
}

/* A press on a column's name: by that column; once more: the other way round. */
static bool press_heading(struct table *t, struct browser *b, unsigned col)
{
	const struct query_result *r = result_of(t);
	const struct layout l = lay_out(r, &b->view_area);
	size_t column = SIZE_MAX;
	if (col / NUMBER_COLS < l.number_count)
		column = l.numbers[col / NUMBER_COLS];
	for (size_t i = 0; i < r->column_count && col >= l.keys && column == SIZE_MAX; i++) {
		if (r->columns[i].is_key && is_shown(r, i))
			column = i;
	}
	if (column == SIZE_MAX)
		return false;
	if (!can_sort_by(r, column)) {
		browser_say(b, ROLE_DIM, "this file does not know that");
		return true;
	}
	bool is_name = r->columns[column].is_key;
	sort_by(b, r, column, column == t->sorted ? !t->is_ascending : is_name);
	return true;
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct table *t = self;
	switch (action) {
	case ACTION_ONLY_THREAD:
		return table_only_thread(t, b);
	case ACTION_SORT_LEFT:
	case ACTION_SORT_RIGHT:
	case ACTION_SORT_REVERSE:
		if (t->q)
			sort(t, b, action);
		return true;
	case ACTION_NEXT_KEYS:
		table_next_keys(b);
		return true;
	case ACTION_ENTER:
	case ACTION_RIGHT:
	case ACTION_EXPAND:
		if (t->q && t->list.selected < t->list.count)
			table_open(b, result_of(t), t->list.selected);
		return true;
	default:
		return list_act(&t->list, action);
	}
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct table *t = self;
	struct mouse in_list = *m;
	if (b->view_area.rows > 3 && t->list.count) {
		bool is_press = m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE;
		if (!in_list.row && is_press)
			return press_heading(t, b, m->col);
		in_list.row -= in_list.row > 0;
	}
	if (!list_mouse(&t->list, &in_list))
		return false;
	if (m->kind == MOUSE_DOUBLE && t->q && t->list.selected < t->list.count)
		table_open(b, result_of(t), t->list.selected);
	return true;
}

static void place(const void *self, struct buf *out)
{
	const struct table *t = self;
	list_place(&t->list, out);
}

static bool frame(const void *self, struct graph_frame *out)
{
	const struct table *t = self;
	return t->q && row_frame(result_of(t), t->list.selected, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct table *t = self;
	char text[FMT_BYTES];
	(void)b;
	if (!t->q || t->list.selected >= t->list.count)
		return;
	const struct query_result *r = result_of(t);
	for (size_t i = 0; i < r->column_count; i++) {
		if (!r->columns[i].is_key && is_shown(r, i))
			buf_printf(out, "%s %s  ", r->columns[i].word,
				   show_cell(text, sizeof text, cell_of(r, t->list.selected, i),
					     r->columns[i].type));
	}
	row_put_keys(r, t->list.selected, out);
}

static bool fits(const struct list_search *s, size_t at)
{
	return row_matches(result_of(s->self), at, s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct table *t = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return list_find(&t->list, &s, fits);
}

const char *table_key(const void *self, const char *word)
{
	const struct table *t = self;
	if (!t->q || t->list.selected >= t->list.count ||
	    result_of(t)->rows[t->list.selected].kind == ROW_OTHER)
		return NULL;
	size_t column = result_column(result_of(t), word);
	return column == SIZE_MAX ? NULL : cell_of(result_of(t), t->list.selected, column)->text;
}

/* The keys of the row come last: they may be anything. */
static void save_spot(const void *self, struct buf *out)
{
	const struct table *t = self;
	if (!t->q || t->list.selected >= t->list.count)
		return;
	list_save_spot(&t->list, out);
	row_put_keys(result_of(t), t->list.selected, out);
}

static void take_spot(void *self, const char *text)
{
	struct table *t = self;
	const char *keys = list_take_spot(&t->list, text);
	buf_clear(&t->kept);
	buf_puts(&t->kept, keys);
	if (t->q && !t->kept.has_failed)
		restore_selected(t);
}

const struct view view_table = {
	.self_bytes = sizeof(struct table),
	.release = release,
	.load = load,
	.draw = draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
	.save_spot = save_spot,
	.take_spot = take_spot,
};
