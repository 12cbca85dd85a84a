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

#include "tui/butterfly_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/rows.h"
#include "tui/show.h"

const struct query_result *butterfly_result(const struct butterfly *v)
{
	return query_opened_result(v->q);
}

bool butterfly_frame(const struct butterfly *v, size_t at, struct graph_frame *out)
{
	return at < v->list.count && v->wings[at].row != ROW_REMAINDER &&
	       row_frame(butterfly_result(v), v->wings[at].row, out) && row_is_function(out);
}

const char *butterfly_name(const struct butterfly *v, size_t at)
{
	const struct query_result *r = butterfly_result(v);
	uint32_t row = v->wings[at].row;
	if (row == ROW_REMAINDER || v->name == SIZE_MAX)
		return "";
	const char *text = r->cells[row * r->column_count + v->name].text;
	return text ? text : "";
}

/* ---- loading ----------------------------------------------------------------------------- */

static enum side side_of(const struct butterfly *v, size_t row)
{
	const struct query_result *r = butterfly_result(v);
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
	const struct query_result *r = butterfly_result(v);
	v->total = result_column(r, r->is_signed ? "delta" : "total");
	v->blocks = result_column(r, "count");
	v->role = result_column(r, "role");
	v->name = result_column(r, "func");
}

/* The rows of a side, and what is missing to the function's own sum. */
static bool add_side(struct butterfly *v, enum side side)
{
	const struct query_result *r = butterfly_result(v);
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
	const struct query_result *r = butterfly_result(v);
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
	browser_summarise(b, butterfly_result(v));
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

/* ---- keys -------------------------------------------------------------------------------------- */

/* Put the function of a row in the middle. */
static void recentre(struct butterfly *v, struct browser *b, size_t at)
{
	struct query_error error = {.code = NEAP_OK};
	struct graph_frame f;
	struct buf step = {0};
	if (!butterfly_frame(v, at, &f)) {
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
	size_t first = butterfly_first(v, side), at = v->list.selected;
	if (!v->count[side])
		browser_say(b, ROLE_DIM,
			    side == SIDE_CALLERS ? "nobody called it" : "it calls nobody");
	else
		recentre(v, b, at >= first && at < first + v->count[side] ? at : first);
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct butterfly *v = self;
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
	const struct butterfly_rows rows = butterfly_share_rows(v, b->view_area.rows);
	for (size_t side = 0; side < SIDE_COUNT; side++) {
		unsigned row = butterfly_row(&rows, (enum side)side);
		if (m->row < row || m->row - row >= rows.of[side])
			continue;
		size_t at = v->top[side] + m->row - row;
		if (at >= v->count[side])
			return false;
		v->list.selected = butterfly_first(v, (enum side)side) + at;
		return m->kind == MOUSE_DOUBLE ? act(v, b, ACTION_ENTER) : true;
	}
	return false;
}

static void place(const void *self, struct buf *out)
{
	const struct butterfly *v = self;
	list_place(&v->list, out);
}

static bool frame(const void *self, struct graph_frame *out)
{
	const struct butterfly *v = self;
	return v->list.count && butterfly_frame(v, v->list.selected, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct butterfly *v = self;
	(void)b;
	if (v->list.selected >= v->list.count)
		return;
	const struct wing *w = &v->wings[v->list.selected];
	show_put_sum(out, w->bytes, result_knows(butterfly_result(v), v->blocks), w->blocks);
	buf_printf(out, "  %s",
		   w->row == ROW_REMAINDER ? butterfly_rest_name(w->side)
					   : butterfly_name(v, v->list.selected));
}

static bool fits(const struct list_search *s, size_t at)
{
	return strstr(butterfly_name(s->self, at), s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct butterfly *v = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return list_find(&v->list, &s, fits);
}

static void save_spot(const void *self, struct buf *out)
{
	const struct butterfly *v = self;
	list_save_spot(&v->list, out);
	for (size_t i = 0; i < SIDE_COUNT; i++)
		buf_printf(out, "%zu ", v->top[i]);
}

static void take_spot(void *self, const char *text)
{
	struct butterfly *v = self;
	text = list_take_spot(&v->list, text);
	for (size_t i = 0; i < SIDE_COUNT; i++) {
		char *end;
		v->top[i] = strtoul(text, &end, 10);
		text = end;
	}
}

const struct view view_butterfly = {
	.self_bytes = sizeof(struct butterfly),
	.release = release,
	.load = load,
	.draw = butterfly_draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
	.save_spot = save_spot,
	.take_spot = take_spot,
};
