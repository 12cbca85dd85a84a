/*
 * Butterfly: one function between those that called it and those that it called.
 *
 *   called by   ...  add up to the function; what began with it is a line of its own
 *   the function
 *   calls       ...  add up to it too, with what it allocated itself
 *
 * Enter on a caller or a callee puts that one in the middle; Esc goes back.
 */
#include "config.h"

#include "tui/browser.h"

#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/list.h"
#include "tui/show.h"

enum side {
	SIDE_CALLERS,
	SIDE_FRAME,
	SIDE_CALLEES,
	SIDE_COUNT
};

#define ROW_REMAINDER UINT32_MAX /* no caller; allocated itself */

struct wing {
	uint32_t row; /* of the result */
	enum side side;
	int64_t bytes, blocks;
};

struct butterfly {
	struct query_opened *q; /* borrowed from the model */
	struct wing *wings;     /* callers, the function, callees */
	size_t wing_cap;
	size_t count[SIDE_COUNT];
	size_t total, blocks, name, role; /* columns */
	int64_t bytes_here, blocks_here;  /* of the function */
	int64_t bytes_all;                /* of the query, with and without the function */
	struct list list;                 /* over all wings */
	size_t top[SIDE_COUNT];           /* first wing shown of each side */
	char subject[256];
};

static const struct query_result *result_of(const struct butterfly *v)
{
	return query_opened_result(v->q);
}

static bool frame_of(const struct butterfly *v, const struct browser *b, size_t at,
		     struct graph_frame *out)
{
	const struct query_result *r = result_of(v);
	if (at >= v->list.count || v->wings[at].row == ROW_REMAINDER)
		return false;
	const struct result_row *row = &r->rows[v->wings[at].row];
	if (!r->graph || !row->frame_count)
		return false;
	*out = graph_entry(b->model.graph, row->frames[0]);
	return true;
}

static const char *name_of(const struct butterfly *v, size_t at)
{
	const struct query_result *r = result_of(v);
	uint32_t row = v->wings[at].row;
	if (row == ROW_REMAINDER || v->name == SIZE_MAX)
		return "";
	const char *text = r->cells[row * r->column_count + v->name].text;
	return text ? text : "";
}

/* ---- loading ----------------------------------------------------------------------------- */

static enum side side_of(const struct butterfly *v, size_t row)
{
	const struct query_result *r = result_of(v);
	const char *role = r->cells[row * r->column_count + v->role].text;
	if (role && !strcmp(role, "caller"))
		return SIDE_CALLERS;
	return role && !strcmp(role, "callee") ? SIDE_CALLEES : SIDE_FRAME;
}

static bool add_wing(struct butterfly *v, struct wing w)
{
	if (!vec_reserve((void **)&v->wings, &v->wing_cap, v->list.count + 1, sizeof *v->wings))
		return false;
	v->wings[v->list.count++] = w;
	v->count[w.side]++;
	return true;
}

static void find_columns(struct butterfly *v)
{
	const struct query_result *r = result_of(v);
	v->total = result_column(r, r->is_signed ? "delta" : "total");
	v->blocks = result_column(r, "count");
	v->role = result_column(r, "role");
	v->name = result_column(r, "func");
}

/* The rows of a side, and what is missing to the function's own sum. */
static bool add_side(struct butterfly *v, enum side side)
{
	const struct query_result *r = result_of(v);
	struct wing rest = {ROW_REMAINDER, side, v->bytes_here, v->blocks_here};
	bool is_good = true;
	for (size_t row = 0; is_good && row < r->row_count; row++) {
		if (side_of(v, row) != side)
			continue;
		const struct wing w = {(uint32_t)row, side, result_value(r, row, v->total),
				       result_value(r, row, v->blocks)};
		rest.bytes -= w.bytes;
		rest.blocks -= w.blocks;
		is_good = add_wing(v, w);
	}
	if (is_good && (rest.bytes || rest.blocks))
		is_good = add_wing(v, rest);
	return is_good;
}

static bool add_wings(struct butterfly *v)
{
	const struct query_result *r = result_of(v);
	v->bytes_here = v->blocks_here = 0;
	if (v->role == SIZE_MAX)
		return true;
	for (size_t row = 0; row < r->row_count; row++) {
		if (side_of(v, row) != SIDE_FRAME)
			continue;
		v->bytes_here += result_value(r, row, v->total);
		v->blocks_here += result_value(r, row, v->blocks);
	}
	for (size_t i = 0; i < SIDE_COUNT; i++) {
		if (!add_side(v, (enum side)i))
			return false;
	}
	return true;
}

static enum neap_err run(struct butterfly *v, struct browser *b, struct query_error *error)
{
	struct buf view = {0};
	buf_printf(&view, "peek %s", model_state(&b->model)->subject);
	/* All of them: rows that were cut would not tell callers from callees. */
	const struct compose c = {
		.by = "func", .view = view.has_failed ? NULL : view.data, .without_rows = true};
	enum neap_err code = ERR_NOMEM;
	if (view.has_failed)
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	else
		code = model_result(&b->model, &c, &v->q, error);
	buf_release(&view);
	return code;
}

/* What the function is a part of. */
static enum neap_err load_all(struct butterfly *v, struct browser *b, struct query_error *error)
{
	struct query_opened *q;
	const struct compose c = {.view = "sum", .without_rows = true};
	enum neap_err code = model_result(&b->model, &c, &q, error);
	if (code)
		return code;
	const struct query_result *r = query_opened_result(q);
	size_t total = result_column(r, r->is_signed ? "delta" : "total");
	v->bytes_all = result_value(r, SIZE_MAX, total);
	return NEAP_OK;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct butterfly *v = self;
	const char *subject = model_state(&b->model)->subject;
	size_t selected = v->list.selected;
	bool is_same = subject && !strncmp(v->subject, subject, sizeof v->subject - 1);
	v->q = NULL;
	v->list.count = 0;
	memset(v->count, 0, sizeof v->count);
	if (!subject)
		return NEAP_OK;
	enum neap_err code = load_all(v, b, error);
	if (!code)
		code = run(v, b, error);
	if (code) {
		v->q = NULL;
		return code;
	}
	find_columns(v);
	browser_summarise(b, result_of(v));
	if (!add_wings(v)) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	snprintf(v->subject, sizeof v->subject, "%s", subject);
	v->list.selected = is_same && selected < v->list.count ? selected : v->count[SIDE_CALLERS];
	if (!is_same)
		memset(v->top, 0, sizeof v->top);
	return NEAP_OK;
}

static void release(void *self)
{
	struct butterfly *v = self;
	mem_free(v->wings);
}

/* ---- drawing -------------------------------------------------------------------------------- */

struct columns { /* where columns end; 0: not shown */
	unsigned total, share, bar, bar_cols, blocks, name;
};

static struct columns lay_out(const struct area *a)
{
	struct columns c = {.total = 8};
	unsigned at = c.total;
	if (a->cols >= 36)
		c.share = at += 7;
	if (a->cols >= 64 && !a->grid->is_plain) {
		c.bar = at + 1;
		c.bar_cols = a->cols >= 100 ? 20 : 10;
		at += c.bar_cols + 1;
	}
	if (a->cols >= 56)
		c.blocks = at += 8;
	c.name = at + 1;
	return c;
}

static const char *remainder_text(enum side side)
{
	return side == SIDE_CALLERS ? "(nobody: stacks begin here)" : "(itself)";
}

static void draw_name(const struct butterfly *v, struct browser *b, const struct area *a,
		      unsigned row, unsigned col, size_t at)
{
	struct graph_frame f;
	const struct wing *w = &v->wings[at];
	unsigned indent = w->side == SIDE_FRAME ? 0 : 2;
	col += indent;
	if (col >= a->cols)
		return;
	if (w->row == ROW_REMAINDER) {
		area_put(a, row, col, look(ROLE_DIM), remainder_text(w->side));
		return;
	}
	const char *full = name_of(v, at);
	bool has_frame = frame_of(v, b, at, &f);
	bool is_match = b->find[0] && strstr(full, b->find);
	struct look l = w->side == SIDE_FRAME ? look_bold(ROLE_STRONG) : look(ROLE_TEXT);
	if (is_match)
		l = look_bold(ROLE_MATCH);
	col = area_put(a, row, col, l,
		       has_frame ? name_frame(&b->names, &f, a->cols - col)
				 : name_function(&b->names, full, a->cols - col));
	if (has_frame && col + 12 < a->cols)
		area_put(a, row, col + 2, look(ROLE_DIM),
			 name_place(&b->names, &f, a->cols - col - 2, a->cols < 120));
}

static void draw_wing(const struct butterfly *v, struct browser *b, const struct area *a,
		      unsigned row, const struct columns *c, size_t at)
{
	const struct wing *w = &v->wings[at];
	bool is_signed = result_of(v)->is_signed, is_dim = w->row == ROW_REMAINDER;
	char text[FMT_BYTES] = "+";
	struct look strong = look(is_dim ? ROLE_DIM : ROLE_STRONG);
	size_t sign = is_signed && w->bytes > 0;
	if (is_signed && w->bytes)
		strong = look(w->bytes > 0 ? ROLE_GREW : ROLE_SHRANK);
	show_bytes(text + sign, sizeof text - sign, w->bytes);
	area_right(a, row, c->total, 8, strong, text);
	show_share(text, sizeof text, (double)w->bytes, (double)v->bytes_here);
	if (c->share)
		area_right(a, row, c->share, 7, look(is_dim ? ROLE_DIM : ROLE_TEXT), text);
	if (c->bar && v->bytes_here)
		area_bar(a, row, c->bar, c->bar_cols, look(is_dim ? ROLE_DIM : ROLE_BAR),
			 (double)w->bytes / (double)v->bytes_here);
	if (c->blocks)
		area_right(a, row, c->blocks, 8, look(is_dim ? ROLE_DIM : ROLE_TEXT),
			   show_count(text, sizeof text, w->blocks));
	draw_name(v, b, a, row, c->name, at);
	if (at == v->list.selected && b->pane == PANE_ROWS) {
		area_select(a, row);
		area_cursor(a, row, 0);
	}
}

static void draw_heading(const struct butterfly *v, const struct area *a, unsigned row,
			 const struct columns *c, enum side side)
{
	char count[FMT_BYTES];
	size_t rows = v->count[side];
	struct look l = look(ROLE_HEADING);
	if (side == SIDE_CALLERS) {
		area_right(a, row, c->total, 8, l, "TOTAL");
		if (c->share)
			area_right(a, row, c->share, 7, l, "SHARE");
		if (c->blocks)
			area_right(a, row, c->blocks, 8, l, "BLOCKS");
	}
	show_count(count, sizeof count, (int64_t)rows);
	area_printf(a, row, c->name, l, "%s (%s)", side == SIDE_CALLERS ? "called by" : "calls",
		    count);
}

static size_t first_of(const struct butterfly *v, enum side side)
{
	size_t first = 0;
	for (size_t i = 0; i < (size_t)side; i++)
		first += v->count[i];
	return first;
}

/* Rows of one side, those around the selected one; what does not fit is counted. */
static void draw_side(struct butterfly *v, struct browser *b, const struct area *a,
		      const struct columns *c, enum side side)
{
	size_t first = first_of(v, side), count = v->count[side], *top = &v->top[side];
	size_t selected = v->list.selected - first; /* wraps if it is before: larger than count */
	unsigned rows = a->rows;
	if (!rows || !count)
		return;
	if (*top + rows > count)
		*top = count > rows ? count - rows : 0;
	if (selected < count && selected < *top)
		*top = selected;
	if (selected < count && selected >= *top + rows)
		*top = selected - rows + 1;
	for (unsigned i = 0; i < rows && *top + i < count; i++)
		draw_wing(v, b, a, i, c, first + *top + i);
}

#define RULES_ROWS 12u /* so many for rules around the function and a line about it */

/* Rows of a screen: heading, callers, [rule], the function, [about, rule], heading, callees. */
struct rows {
	unsigned heads, rules; /* 0 or 1 */
	unsigned of[SIDE_COUNT];
};

/* Half of what is left for each side, and what the other does not need. */
static struct rows share_rows(const struct butterfly *v, unsigned rows)
{
	struct rows s = {.heads = rows >= 6, .rules = rows >= RULES_ROWS};
	unsigned fixed = 2 * s.heads + 3 * s.rules, most = rows / 4 > 1 ? rows / 4 : 1;
	size_t callers = v->count[SIDE_CALLERS], callees = v->count[SIDE_CALLEES];
	unsigned frames = v->count[SIDE_FRAME] < most ? (unsigned)v->count[SIDE_FRAME] : most;
	unsigned left = rows > fixed + frames ? rows - fixed - frames : 0, half = left / 2;
	s.of[SIDE_FRAME] = frames < rows ? frames : rows;
	s.of[SIDE_CALLERS] = callers < half ? (unsigned)callers : half;
	if (callees < left - s.of[SIDE_CALLERS])
		s.of[SIDE_CALLERS] =
			left - callees < callers ? left - (unsigned)callees : (unsigned)callers;
	s.of[SIDE_CALLEES] = left - s.of[SIDE_CALLERS];
	return s;
}

/* Where the rows of a side begin. */
static unsigned row_of(const struct rows *s, enum side side)
{
	unsigned row = s->heads;
	if (side >= SIDE_FRAME)
		row += s->of[SIDE_CALLERS] + s->rules;
	if (side >= SIDE_CALLEES)
		row += s->of[SIDE_FRAME] + 2 * s->rules + s->heads;
	return row;
}

/* The function as a part of everything. */
/* What this function itself allocates through; "" if that is nothing. */
static const char *ways_of(const struct butterfly *v, struct browser *b, const struct area *a)
{
	struct graph_frame f;
	size_t at = first_of(v, SIDE_FRAME);
	if (!v->count[SIDE_FRAME] || !frame_of(v, b, at, &f))
		return "";
	return through_text(&b->through, b->model.graph, &b->names, &f, grid_is_utf8(a->grid));
}

static void draw_about(const struct butterfly *v, struct browser *b, const struct area *a,
		       unsigned row, const struct columns *c)
{
	char share[FMT_BYTES], all[FMT_BYTES], mean[FMT_BYTES] = "";
	if (!v->bytes_all)
		return;
	fmt_pct(share, sizeof share, (double)v->bytes_here, (double)v->bytes_all);
	fmt_bytes(all, sizeof all, v->bytes_all);
	if (v->blocks_here > 0 && v->bytes_here > 0)
		fmt_bytes(mean, sizeof mean, v->bytes_here / v->blocks_here);
	const char *ways = ways_of(v, b, a);
	area_printf(a, row, c->name, look(ROLE_DIM), "%s of %s%s%s%s%s", share, all,
		    mean[0] ? ", mean " : "", mean, *ways ? ", through " : "", ways);
}

static void draw_message(const struct area *a, const char *what, const char *help)
{
	area_put(a, 1, 2, look(ROLE_STRONG), what);
	area_put(a, 3, 2, look(ROLE_DIM), help);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct butterfly *v = self;
	if (!v->q) {
		draw_message(a, "no function was chosen",
			     "select one in Tree, Table or Flame and press c");
		return;
	}
	if (!v->list.count) {
		draw_message(a, "no block has this function on its stack",
			     "Esc goes back; \\ and : change which blocks are looked at");
		return;
	}
	const struct columns c = lay_out(a);
	const struct rows rows = share_rows(v, a->rows);
	for (size_t i = 0; i < SIDE_COUNT; i++) {
		unsigned row = row_of(&rows, (enum side)i);
		const struct area part = area_cut(a, row, 0, rows.of[i], a->cols);
		draw_side(v, b, &part, &c, (enum side)i);
		if (rows.heads && i != SIDE_FRAME)
			draw_heading(v, a, row - 1, &c, (enum side)i);
		if (rows.rules && i == SIDE_FRAME) {
			area_rule(a, row - 1, 0, a->cols, look(ROLE_DIM));
			draw_about(v, b, a, row + rows.of[i], &c);
			area_rule(a, row + rows.of[i] + 1, 0, a->cols, look(ROLE_DIM));
		}
	}
	v->list.page_rows = rows.of[SIDE_CALLEES];
}

/* ---- keys -------------------------------------------------------------------------------------- */

/* Put the function of a row in the middle. */
static void recentre(struct butterfly *v, struct browser *b, size_t at)
{
	struct query_error error = {.code = NEAP_OK};
	struct graph_frame f;
	struct buf step = {0};
	if (!frame_of(v, b, at, &f)) {
		browser_say(b, ROLE_DIM, "this row is no function");
		return;
	}
	query_step(&step, &f);
	struct state *s = model_edit(&b->model);
	if (s && !step.has_failed && state_set_subject(s, step.data)) {
		browser_tell(b, model_commit(&b->model, s, &error), &error);
	} else {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
	}
	buf_release(&step);
}

/* To the selected row of a side, or to its heaviest. */
static void go_to_side(struct butterfly *v, struct browser *b, enum side side)
{
	size_t first = first_of(v, side), at = v->list.selected;
	if (!v->count[side])
		browser_say(b, ROLE_DIM,
			    side == SIDE_CALLERS ? "nobody called it" : "it calls nobody");
	else
		recentre(v, b, at >= first && at < first + v->count[side] ? at : first);
}

/* Back to the function before, or to the view that this one was opened from. */
static bool back(struct browser *b)
{
	return !b->find[0] && b->pane == PANE_ROWS && !b->has_range_start && model_undo(&b->model);
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct butterfly *v = self;
	if (action == ACTION_BACK)
		return back(b);
	if (!v->list.count)
		return false;
	switch (action) {
	case ACTION_ENTER:
	case ACTION_EXPAND:
		if (v->wings[v->list.selected].side != SIDE_FRAME)
			recentre(v, b, v->list.selected);
		return true;
	case ACTION_LEFT:
	case ACTION_PARENT:
		go_to_side(v, b, SIDE_CALLERS);
		return true;
	case ACTION_RIGHT:
		go_to_side(v, b, SIDE_CALLEES);
		return true;
	case ACTION_LIMIT:
		browser_say(b, ROLE_DIM, "all callers and callees are here already");
		return true;
	default:
		return list_act(&v->list, action);
	}
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct butterfly *v = self;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return list_mouse(&v->list, m);
	if ((m->kind != MOUSE_PRESS && m->kind != MOUSE_DOUBLE) || !v->list.count)
		return false;
	const struct rows rows = share_rows(v, b->view_area.rows);
	for (size_t side = 0; side < SIDE_COUNT; side++) {
		unsigned row = row_of(&rows, (enum side)side);
		if (m->row < row || m->row - row >= rows.of[side])
			continue;
		size_t at = v->top[side] + m->row - row;
		if (at >= v->count[side])
			return false;
		v->list.selected = first_of(v, (enum side)side) + at;
		return m->kind == MOUSE_DOUBLE ? act(v, b, ACTION_ENTER) : true;
	}
	return false;
}

static void place(const void *self, struct buf *out)
{
	const struct butterfly *v = self;
	list_place(&v->list, out);
}

static bool frame(const void *self, const struct browser *b, struct graph_frame *out)
{
	const struct butterfly *v = self;
	return v->list.count && frame_of(v, b, v->list.selected, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct butterfly *v = self;
	char bytes[FMT_BYTES], count[FMT_BYTES];
	(void)b;
	if (v->list.selected >= v->list.count)
		return;
	const struct wing *w = &v->wings[v->list.selected];
	buf_printf(out, "%s in %s blocks  %s", fmt_bytes(bytes, sizeof bytes, w->bytes),
		   fmt_count(count, sizeof count, w->blocks),
		   w->row == ROW_REMAINDER ? remainder_text(w->side)
					   : name_of(v, v->list.selected));
}

static bool fits(const struct list_search *s, size_t at)
{
	return strstr(name_of(s->self, at), s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct butterfly *v = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return list_find(&v->list, &s, fits);
}

const struct view view_butterfly = {
	.self_bytes = sizeof(struct butterfly),
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
