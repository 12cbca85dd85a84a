/*
 * Time: what the heap holds over the run, as stacked areas of the classes that the query's keys
 * make.  Every block is in one class: its leaf function, or one of the callers of a function that
 * was entered, or a value of another key.
 *
 *   88.7M |        BBBB              A 20.2M  json_parse
 *         |    BBBBBAAAA             B  9.9M  hash_insert
 *         |BBBBAAAAAAAAAAAAA         .  0.4M  12 others
 *         +------------------
 *          0 s      ^peak  @warmup
 *
 * Up and down choose a class, left and right an instant, Enter shows who called the class:
 * a `path` chip names the way from the caller down to the leaf.
 */
#include "config.h"

#include "tui/time_priv.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "tui/rows.h"

/* ---- loading ----------------------------------------------------------------------------- */

/* Everything that was allocated in one of the files that the query looks at. */
static enum neap_err run(struct time_view *t, struct browser *b, bool is_before,
			 struct query_opened **q, struct query_error *error)
{
	struct buf head = {0}, keys = {0};
	enum neap_err code = model_whole_run(&b->model, is_before, "allocated", &head, error);
	time_put_keys(t, b, &keys);
	const struct compose c = {.head = head.data, .by = keys.data, .without_rows = true};
	*q = NULL;
	if (!code && keys.has_failed) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		code = ERR_NOMEM;
	}
	if (!code)
		code = model_result(&b->model, &c, q, error);
	buf_release(&head);
	buf_release(&keys);
	return code;
}

/* What it is compared with is a line over the areas; without it they stand alone. */
static void load_before(struct time_view *t, struct browser *b)
{
	struct query_opened *q;
	struct query_error ignored;
	t->before = NULL;
	if (!b->model.before || run(t, b, true, &q, &ignored))
		return;
	uint64_t serial = model_serial(&b->model, q);
	if (serial != t->before_serial) {
		query_series_release(&t->before_series);
		t->before_serial = 0;
		if (query_opened_series(q, 1, &t->before_series, &ignored))
			return;
		t->before_serial = serial;
	}
	t->before = query_opened_result(q)->graph;
}

/* Of a file of another tool that cannot say it there are only the totals. */
static enum neap_err load_sum(struct time_view *t, struct browser *b, struct query_error *error)
{
	const struct compose c = {.view = "sum", .without_rows = true};
	struct query_opened *q;
	enum neap_err code = model_result(&b->model, &c, &q, error);
	t->serial = 0;
	t->list.count = 0;
	if (!code)
		browser_summarise(b, query_opened_result(q));
	return code;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct time_view *t = self;
	const struct state *s = model_state(&b->model);
	const char *by = state_chip(s, STAGE_BY);
	t->is_grouped = by && !query_is_of_frames(by + strlen("by "));
	t->depth = s->callers_depth;
	t->is_unknown = !model_knows_times(&b->model);
	t->q = NULL; /* until there is one: keys come here even then */
	if (t->is_unknown)
		return load_sum(t, b, error);
	/* It asks for the whole run and not for the head, which may be wrong. */
	enum neap_err code = model_find_sides(&b->model, error);
	if (!code)
		code = run(t, b, false, &t->q, error);
	if (code)
		return code;
	const struct query_result *r = query_opened_result(t->q);
	uint64_t serial = model_serial(&b->model, t->q);
	t->graph = r->graph ? r->graph : b->model.graph;
	if (serial != t->serial) {
		t->serial = 0;
		t->list = (struct list){.count = 0};
		query_series_release(&t->series);
		code = query_opened_series(t->q, CLASSES_MOST, &t->series, error);
		if (code)
			return code;
		t->serial = serial;
	}
	browser_summarise(b, r);
	snprintf(b->summary.population, sizeof b->summary.population, "allocated:");
	b->summary.is_other = true;
	load_before(t, b);
	return NEAP_OK;
}

static void release(void *self)
{
	struct time_view *t = self;
	query_series_release(&t->series);
	query_series_release(&t->before_series);
	mem_free(t->columns);
	mem_free(t->ticks);
}

/* ---- classes ------------------------------------------------------------------------------------ */

bool time_frame(const struct time_view *t, size_t class, struct graph_frame *out)
{
	if (t->is_grouped || class + 1 >= t->series.class_count)
		return false;
	return row_frame(query_opened_result(t->q), t->series.rows[class], out);
}

/* The first key of a class. */
static const char *key_of(const struct time_view *t, size_t class)
{
	const struct query_result *r = query_opened_result(t->q);
	const char *text = "";
	for (size_t i = r->column_count; i-- > 0;) {
		const struct result_cell *c =
			&r->cells[t->series.rows[class] * r->column_count + i];
		if (r->columns[i].is_key)
			text = c->is_unknown || !c->text ? "[unknown]" : c->text;
	}
	return text;
}

const char *time_name(const struct time_view *t, struct browser *b, size_t class, unsigned cols)
{
	return row_label(&b->names, query_opened_result(t->q), t->series.rows[class], cols,
			 &b->label);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

/* The path chip of the query, which ends at the leaf, or NULL. */
static const char *path_chip(const struct state *s)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		const char *text = s->chips[i].text;
		if (s->chips[i].kind == STAGE_WHERE && !strncmp(text, "where path ", 11))
			return text;
	}
	return NULL;
}

static bool replace_path(struct state *s, const char *text)
{
	for (size_t i = 0; i < s->chip_count; i++) {
		if (!strncmp(s->chips[i].text, "where path ", 11)) {
			state_remove_chip(s, i);
			break;
		}
	}
	return state_add_chip(s, STAGE_WHERE, text);
}

static void commit(struct browser *b, struct state *s, bool is_good)
{
	struct query_error error = {.code = NEAP_OK};
	if (!s || !is_good) {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
		return;
	}
	browser_tell(b, model_commit(&b->model, s, &error), &error);
}

/* Who called this class of functions. */
static void enter_frame(struct time_view *t, struct browser *b, const struct graph_frame *f)
{
	struct buf path = {0};
	struct state *s = model_edit(&b->model);
	const char *old = s && t->depth ? path_chip(s) : NULL;
	buf_puts(&path, "where path ");
	query_step(&path, f);
	if (old)
		buf_printf(&path, " > %s", old + strlen("where path "));
	else
		buf_putc(&path, '$');
	bool is_good = s && !path.has_failed;
	if (is_good) {
		is_good = replace_path(s, path.data);
		s->callers_depth = t->depth + 1;
	}
	buf_release(&path);
	commit(b, s, is_good);
}

/* Only this module, file, thread: then by function. */
static void enter_key(struct time_view *t, struct browser *b, const char *by, size_t class)
{
	struct buf where = {0};
	const char *word = by + strlen("by ");
	const char *key = key_of(t, class);
	if (strpbrk(word, ",:") || !strcmp(word, "class") || !strcmp(key, "[unknown]")) {
		browser_say(b, ROLE_DIM, "this class cannot be entered");
		return;
	}
	struct state *s = model_edit(&b->model);
	buf_printf(&where, "where %s%s=", t->is_grouped ? "" : "leaf.", word);
	query_quote(&where, key);
	bool is_good = s && !where.has_failed && state_add_chip(s, STAGE_WHERE, where.data) &&
		       state_set_chip(s, STAGE_BY, NULL);
	buf_release(&where);
	commit(b, s, is_good);
}

static void enter(struct time_view *t, struct browser *b)
{
	struct graph_frame f;
	const char *by = state_chip(model_state(&b->model), STAGE_BY);
	size_t class = t->list.selected;
	if (class + 1 >= t->series.class_count)
		browser_say(b, ROLE_DIM, "these are many classes; 2 lists them all");
	else if (by && strcmp(by, "by func") != 0)
		enter_key(t, b, by, class);
	else if (time_frame(t, class, &f))
		enter_frame(t, b, &f);
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct time_view *t = self;
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		return list_act(&t->list, action);
	case ACTION_ENTER:
		if (!t->is_unknown)
			enter(t, b);
		return true;
	case ACTION_MEASURE:
		t->measured = (t->measured + 1) % MEASURED_COUNT;
		return true;
	default:
		return false;
	}
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct time_view *t = self;
	unsigned row = m->row + b->view_area.row, col = m->col + b->view_area.col;
	const struct area *a = &t->chart_area;
	if (t->is_unknown)
		return false;
	if (m->kind == MOUSE_WHEEL_UP || m->kind == MOUSE_WHEEL_DOWN)
		return list_mouse(&t->list, m);
	bool is_inside =
		row >= a->row && row < a->row + a->rows && col >= a->col && col < a->col + a->cols;
	if (is_inside && t->columns && (m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE)) {
		size_t class = time_chart_class(&t->chart, a, row - a->row, col - a->col);
		if (class < t->series.class_count)
			t->list.selected = class;
	}
	const struct mouse in_grid = {.kind = m->kind, .row = row, .col = col};
	bool is_mine = strip_mouse(b, &in_grid);
	if (is_mine && m->kind == MOUSE_DOUBLE)
		enter(t, b);
	return is_mine;
}

static void place(const void *self, struct buf *out)
{
	const struct time_view *t = self;
	list_place(&t->list, out);
}

static bool frame(const void *self, struct graph_frame *out)
{
	const struct time_view *t = self;
	return t->serial && time_frame(t, t->list.selected, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct time_view *t = self;
	if (!t->serial || !t->q || t->list.selected + 1 >= t->series.class_count)
		return;
	time_put(t, time_measure(t, time_cursor_tick(t, b), t->list.selected), out);
	buf_puts(out, "  ");
	row_put_keys(query_opened_result(t->q), t->series.rows[t->list.selected], out);
}

static bool fits(const struct list_search *s, size_t at)
{
	const struct time_view *t = s->self;
	return at + 1 < t->series.class_count &&
	       row_matches(query_opened_result(t->q), t->series.rows[at], s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct time_view *t = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	return t->serial && t->q && list_find(&t->list, &s, fits);
}

static void save_spot(const void *self, struct buf *out)
{
	const struct time_view *t = self;
	list_save_spot(&t->list, out);
}

static void take_spot(void *self, const char *text)
{
	struct time_view *t = self;
	list_take_spot(&t->list, text);
}

const struct view view_time = {
	.self_bytes = sizeof(struct time_view),
	.release = release,
	.load = load,
	.draw = time_draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.question = time_question,
	.find = find,
	.save_spot = save_spot,
	.take_spot = take_spot,
};
