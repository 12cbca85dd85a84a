/* Inputs to actions, actions to edits, the screen as a whole. */
#include "config.h"

#include "tui/browser.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "tui/bookmarks.h"
#include "tui/details.h"
#include "tui/follow.h"
#include "tui/help.h"
#include "tui/only_thread.h"
#include "tui/prompt.h"

/* ---- new and free ---------------------------------------------------------------------- */

enum neap_err browser_new(const struct browser_options *o, struct browser **out, struct err *e)
{
	struct browser *b = mem_zalloc(sizeof *b);
	*out = NULL;
	if (!b)
		return err_nomem(e, "the browser");
	b->grid.glyphs = o->glyphs;
	b->grid.is_plain = o->is_plain;
	b->grid.is_mono = o->is_mono;
	b->names.is_utf8 = o->glyphs != GLYPHS_ASCII;
	enum neap_err code = model_open(&b->model, o->paths, o->path_count, o->query, e);
	if (code) {
		browser_free(b);
		return code;
	}
	b->names.cwd = b->model.profile->run.cwd;
	b->query_options = o->query;
	b->search.map = o->sources;
	*out = b;
	return NEAP_OK;
}

void browser_free(struct browser *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < SCREEN_COUNT; i++) {
		const struct view *v = view_of((enum screen)i);
		if (b->selves[i] && v->release)
			v->release(b->selves[i]);
		mem_free(b->selves[i]);
	}
	bookmarks_release(b);
	editor_release(&b->editor);
	help_close(b);
	prompt_free(b->prompt);
	for (size_t i = 0; i < PROMPT_KINDS; i++)
		history_release(&b->histories[i]);
	names_release(&b->name_lists);
	through_release(&b->through);
	details_free(b->source);
	mem_free(b->ticks);
	model_release(&b->model);
	grid_release(&b->grid);
	shortener_release(&b->names);
	buf_release(&b->clipboard);
	mem_free(b);
}

/* ---- for views ---------------------------------------------------------------------------- */

void browser_say(struct browser *b, enum role role, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(b->message, sizeof b->message, fmt, ap);
	va_end(ap);
	b->message_role = role;
}

void browser_tell(struct browser *b, enum neap_err code, const struct query_error *error)
{
	if (!code)
		return;
	if (model_was_stopped(error)) {
		browser_say(b, ROLE_WARNING, "stopped");
		return;
	}
	browser_say(b, ROLE_ERROR, "%s%s%s", error->text, error->help[0] ? ": " : "", error->help);
}

static const struct result_cell *total_of(const struct query_result *r, const char *word)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, word) && !r->totals[i].is_unknown)
			return &r->totals[i];
	}
	return NULL;
}

void browser_summarise(struct browser *b, const struct query_result *r)
{
	struct summary *s = &b->summary;
	const struct result_cell *bytes = total_of(r, r->is_signed ? "delta" : "total");
	const struct result_cell *count = total_of(r, "count"), *share = total_of(r, "share");
	if (!bytes)
		bytes = total_of(r, "total");
	*s = (struct summary){.is_known = true, .is_signed = r->is_signed};
	snprintf(s->population, sizeof s->population, "%s", r->population);
	s->bytes = bytes ? bytes->value : 0;
	s->blocks = count ? count->value : 0;
	s->base_bytes = s->bytes;
	if (share && share->number != 0)
		s->base_bytes = (int64_t)((double)s->bytes / share->number + 0.5);
}

void *browser_self(const struct browser *b)
{
	return b->selves[model_state(&b->model)->screen];
}

static const struct view *view_now(const struct browser *b)
{
	return view_of(model_state(&b->model)->screen);
}

/* ---- loading --------------------------------------------------------------------------------- */

/* By Esc or Ctrl-C: what was shown before is there again. */
static bool is_stopped(struct browser *b)
{
	if (!model_was_stopped(&b->failure))
		return false;
	b->was_cancelled = b->stop_key == CODE_CANCEL;
	browser_say(b, ROLE_WARNING, "stopped; %sCtrl-R tries it again",
		    b->was_cancelled ? "Ctrl-C again quits, " : "");
	return true;
}

static bool load(struct browser *b)
{
	enum screen s = model_state(&b->model)->screen;
	const struct view *v = view_of(s);
	if (!b->selves[s])
		b->selves[s] = mem_zalloc(v->self_bytes);
	if (!b->selves[s])
		return false;
	if (b->loaded[s] == b->model.generation)
		return true;
	b->loaded[s] = b->model.generation;
	b->failure = (struct query_error){.code = NEAP_OK};
	b->summary.is_known = false;
	v->load(b->selves[s], b, &b->failure);
	model_drop_old(&b->model);
	/* Results are shared among the views: the others load anew when they are shown. */
	for (size_t i = 0; i < SCREEN_COUNT; i++) {
		if (i != s)
			b->loaded[i] = 0;
	}
	if (is_stopped(b))
		return !model_go_state(&b->model, b->shown) || load(b);
	b->shown = model_state(&b->model);
	return true;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

#define STRIP_ROWS        3u
#define STRIP_SCREEN_ROWS 16u
#define CHIPS_SCREEN_ROWS 6u

static unsigned draw_head(struct browser *b, const struct area *all)
{
	unsigned row = 0;
	struct area a;
	if (all->rows >= 4) {
		a = area_cut(all, row++, 0, 1, all->cols);
		chrome_title(b, &a);
	}
	if (all->rows >= CHIPS_SCREEN_ROWS) {
		a = area_cut(all, row++, 0, 1, all->cols);
		chrome_chips(b, &a);
	}
	if (all->rows >= STRIP_SCREEN_ROWS && model_state(&b->model)->screen != SCREEN_TIME) {
		a = area_cut(all, row, 0, STRIP_ROWS, all->cols);
		strip_draw(b, &a);
		row += STRIP_ROWS;
	}
	return row;
}

static unsigned draw_top(struct browser *b, const struct area *all)
{
	b->strip_area = (struct area){.grid = NULL};
	memset(b->tabs, 0, sizeof b->tabs);
	return draw_head(b, all);
}

bool browser_draw_early(struct browser *b, unsigned rows, unsigned cols)
{
	if (!grid_resize(&b->grid, rows, cols))
		return false;
	const struct area all = grid_area(&b->grid);
	const struct area middle = area_cut(&all, draw_top(b, &all), 0, rows, cols);
	area_put(&middle, middle.rows > 2 ? 1 : 0, 2, look(ROLE_DIM), "adding up ...");
	return true;
}

bool browser_draw(struct browser *b, unsigned rows, unsigned cols)
{
	if (!grid_resize(&b->grid, rows, cols) || !load(b))
		return false;
	const struct area all = grid_area(&b->grid);
	unsigned head = draw_top(b, &all);
	if (!b->strip_area.cols && b->pane == PANE_STRIP)
		b->pane = PANE_ROWS;
	b->has_details = false;
	unsigned foot = rows >= 3 ? 1 : 0;
	b->view_area = area_cut(&all, head, 0, rows > head + foot ? rows - head - foot : 0, cols);
	if (b->help)
		help_draw(b, &b->view_area);
	else if (b->failure.code)
		chrome_failure(b, &b->view_area);
	else
		view_now(b)->draw(browser_self(b), b, &b->view_area);
	if (b->pane == PANE_DETAILS && !b->has_details) {
		b->pane = PANE_ROWS;
		return browser_draw(b, rows, cols);
	}
	const struct area last = area_cut(&all, rows - 1, 0, 1, cols);
	if (b->prompt)
		prompt_draw(b, &last, &b->view_area);
	else if (foot)
		chrome_footer(b, &last);
	return true;
}

/* ---- actions of all views -------------------------------------------------------------------------- */

static bool frame_now(const struct browser *b, struct graph_frame *out)
{
	const struct view *v = view_now(b);
	return v->frame && browser_self(b) && !b->failure.code && v->frame(browser_self(b), b, out);
}

static void add_stage(struct browser *b, enum ast_stage_kind kind, struct buf *text)
{
	struct query_error error = {.code = NEAP_OK};
	if (!text->has_failed)
		browser_tell(b, model_add_stage(&b->model, kind, text->data, &error), &error);
	buf_release(text);
}

static void zoom(struct browser *b)
{
	struct graph_frame f;
	struct buf text = {0};
	if (!frame_now(b, &f)) {
		browser_say(b, ROLE_DIM, "this row is no function");
		return;
	}
	buf_puts(&text, "zoom ");
	query_step(&text, &f);
	add_stage(b, STAGE_ZOOM, &text);
}

static void only_module(struct browser *b)
{
	struct graph_frame f;
	struct buf text = {0};
	if (!frame_now(b, &f) || !f.module_path) {
		browser_say(b, ROLE_DIM, "the module of this row is not known");
		return;
	}
	buf_puts(&text, "where module=");
	query_quote(&text, f.module_path);
	add_stage(b, STAGE_WHERE, &text);
}

/* live -> peak -> leaked -> allocated -> temporary -> growth -> live */
static void next_population(struct browser *b)
{
	static const enum graph_pop order[] = {POP_PEAK,      POP_LIVE,      POP_LEAKED,
					       POP_ALLOCATED, POP_TEMPORARY, POP_GROWTH};
	struct query_error error = {.code = NEAP_OK};
	struct buf head = {0};
	size_t count = sizeof order / sizeof order[0], at = 0;
	const char *now_head = model_state(&b->model)->head;
	bool is_diff = !strncmp(now_head, "diff ", 5);
	enum graph_pop now = query_population(is_diff ? now_head + 5 : now_head);
	while (at < count && order[at] != now)
		at++;
	buf_printf(&head, "%s%s", b->model.path_count > 1 ? "diff " : "",
		   graph_pop_name(order[(at + 1) % count]));
	if (!head.has_failed)
		browser_tell(b, model_set_head(&b->model, head.data, &error), &error);
	buf_release(&head);
}

static void toggle_limit(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	bool has_min = state_chip(model_state(&b->model), STAGE_MIN);
	browser_tell(b, model_set_stage(&b->model, STAGE_MIN, has_min ? NULL : "min 1%", &error),
		     &error);
}

static void toggle_base(struct browser *b)
{
	struct query_error error = {.code = NEAP_OK};
	const char *now = state_chip(model_state(&b->model), STAGE_PERCENT);
	browser_tell(b,
		     model_set_stage(&b->model, STAGE_PERCENT, now ? NULL : "percent all", &error),
		     &error);
}

static void show_screen(struct browser *b, enum screen s)
{
	struct query_error error = {.code = NEAP_OK};
	if (view_of(s))
		browser_tell(b, model_set_screen(&b->model, s, &error), &error);
}

/* A screen about the function of the selected row, or its file; that is the state's subject. */
static void show_subject(struct browser *b, enum screen screen)
{
	struct query_error error = {.code = NEAP_OK};
	struct graph_frame f;
	struct buf step = {0};
	if (!view_of(screen))
		return;
	if (!frame_now(b, &f)) {
		browser_say(b, ROLE_DIM, "this row is no function");
		return;
	}
	if (screen == SCREEN_SOURCE && f.file_path) {
		buf_puts(&step, "[file=");
		query_quote(&step, f.file_path);
		buf_putc(&step, ']');
		b->source_line = f.line;
	} else {
		query_step(&step, &f);
	}
	struct state *s = model_edit(&b->model);
	if (s && !step.has_failed && state_set_subject(s, step.data)) {
		s->screen = screen;
		browser_tell(b, model_commit(&b->model, s, &error), &error);
	} else {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
	}
	buf_release(&step);
}

static void find_again(struct browser *b, bool is_back)
{
	const struct view *v = view_now(b);
	if (!b->find[0])
		browser_say(b, ROLE_DIM, "nothing to find yet: / asks for a name");
	else if (!v->find || !v->find(browser_self(b), b, b->find, is_back, false))
		browser_say(b, ROLE_WARNING, "'%s' is in no row here", b->find);
}

static void copy(struct browser *b, bool is_command)
{
	const struct view *v = view_now(b);
	buf_clear(&b->clipboard);
	if (is_command)
		model_command(&b->model, &b->clipboard);
	else if (v->row_text)
		v->row_text(browser_self(b), b, &b->clipboard);
	if (b->clipboard.count_bytes && !b->clipboard.has_failed)
		browser_say(b, ROLE_DIM, "copied: %.400s", b->clipboard.data);
}

/* The innermost thing first; never the last one. */
static void back(struct browser *b)
{
	if (b->has_range_start)
		b->has_range_start = false;
	else if (b->pane != PANE_ROWS)
		b->pane = PANE_ROWS;
	else if (b->find[0])
		b->find[0] = '\0';
	else if (!strip_drop_range(b, false) && !model_pop_chip(&b->model) &&
		 !strip_drop_range(b, true))
		browser_say(b, ROLE_DIM, "nothing to undo here; q goes back, U undoes");
}

static void quit(struct browser *b)
{
	if (!model_go_screen(&b->model, true))
		b->wants_quit = true;
}

/* From the rows to the time strip and the details, where there are any. */
static void next_pane(struct browser *b, bool is_back)
{
	const bool is_there[PANE_COUNT] = {
		[PANE_ROWS] = true,
		[PANE_STRIP] = b->strip_area.cols,
		[PANE_DETAILS] = b->has_details,
	};
	if (model_state(&b->model)->screen == SCREEN_TIME) {
		browser_say(b, ROLE_DIM, "left and right move the instant, up and down the class");
		return;
	}
	unsigned at = b->pane;
	do
		at = (at + (is_back ? PANE_COUNT - 1u : 1u)) % PANE_COUNT;
	while (!is_there[at]);
	b->pane = (enum pane)at;
	if (!b->strip_area.cols && !b->has_details)
		browser_say(b, ROLE_DIM, "there is no room for the time strip; 3 shows the run");
	else if (b->pane == PANE_STRIP)
		browser_say(b, ROLE_DIM,
			    "left and right move the instant; Esc goes back to the rows");
	else if (b->pane == PANE_DETAILS)
		browser_say(b, ROLE_DIM, "up and down move the source; Esc goes back to the rows");
}

static void next_detail(struct browser *b)
{
	static const char *const words[] = {
		"names as they fit", "names without the arguments of templates", "names in full"};
	b->names.detail = (b->names.detail + 1) % NAME_DETAIL_COUNT;
	browser_say(b, ROLE_DIM, "%s", words[b->names.detail]);
}

static void open_query(struct browser *b)
{
	struct buf text = {0};
	model_text(&b->model, &text);
	if (!text.has_failed)
		prompt_open(b, PROMPT_QUERY, text.data);
	buf_release(&text);
}

static bool act_query(struct browser *b, enum action action)
{
	struct graph_frame f;
	switch (action) {
	case ACTION_ZOOM:
		zoom(b);
		break;
	case ACTION_BUTTERFLY:
		show_subject(b, SCREEN_BUTTERFLY);
		break;
	case ACTION_SOURCE:
		show_subject(b, SCREEN_SOURCE);
		break;
	case ACTION_ONLY_MODULE:
		only_module(b);
		break;
	case ACTION_ONLY_THREAD:
		only_thread(b, frame_now(b, &f) ? &f : NULL);
		break;
	case ACTION_POPULATION:
		next_population(b);
		break;
	case ACTION_LIMIT:
		toggle_limit(b);
		break;
	case ACTION_BASE:
		toggle_base(b);
		break;
	default:
		return false;
	}
	return true;
}

static bool act_prompt(struct browser *b, enum action action)
{
	switch (action) {
	case ACTION_QUERY:
		open_query(b);
		break;
	case ACTION_FIND:
		prompt_open(b, PROMPT_FIND, "");
		break;
	case ACTION_FIND_NEXT:
	case ACTION_FIND_PREVIOUS:
		find_again(b, action == ACTION_FIND_PREVIOUS);
		break;
	case ACTION_FILTER:
		prompt_open(b, PROMPT_FILTER, "");
		break;
	case ACTION_WRITE:
		prompt_open(b, PROMPT_WRITE, "");
		break;
	default:
		return false;
	}
	return true;
}

static void act_anywhere(struct browser *b, enum action action)
{
	if (act_query(b, action) || act_prompt(b, action))
		return;
	switch (action) {
	case ACTION_COPY_ROW:
	case ACTION_COPY_COMMAND:
		copy(b, action == ACTION_COPY_COMMAND);
		break;
	case ACTION_NEXT_PANE:
	case ACTION_PREVIOUS_PANE:
		next_pane(b, action == ACTION_PREVIOUS_PANE);
		break;
	case ACTION_UNDO:
		if (!model_undo(&b->model))
			browser_say(b, ROLE_DIM, "nothing to undo");
		break;
	case ACTION_REDO:
		if (!model_redo(&b->model))
			browser_say(b, ROLE_DIM, "nothing to do again");
		break;
	case ACTION_HISTORY_BACK:
	case ACTION_HISTORY_FORTH:
		model_go_screen(&b->model, action == ACTION_HISTORY_BACK);
		break;
	case ACTION_BACK:
		back(b);
		break;
	case ACTION_HELP:
		help_open(b);
		break;
	case ACTION_BOOKMARK:
	case ACTION_GO_BOOKMARK:
		bookmarks_ask(b, action);
		break;
	case ACTION_EDITOR:
		editor_ask(b);
		break;
	case ACTION_REDRAW:
		b->wants_redraw = true;
		if (b->failure.code)
			model_forget(&b->model);
		break;
	case ACTION_NAMES:
		next_detail(b);
		break;
	case ACTION_QUIT:
		quit(b);
		break;
	case ACTION_CANCEL:
		if (b->was_cancelled)
			b->wants_quit = true;
		b->was_cancelled = true;
		browser_say(b, ROLE_DIM, "Ctrl-C again quits; so does q");
		break;
	default:
		break;
	}
}

static void act(struct browser *b, enum action action)
{
	const struct view *v = view_now(b);
	if (action >= ACTION_VIEW_TREE && action <= ACTION_VIEW_RUN) {
		show_screen(b, (enum screen)(action - ACTION_VIEW_TREE));
		return;
	}
	if (strip_act(b, action))
		return;
	if (!b->failure.code && browser_self(b) && v->act(browser_self(b), b, action))
		return;
	act_anywhere(b, action);
}

/* ---- inputs ------------------------------------------------------------------------------------------ */

static bool press_tab(struct browser *b, const struct mouse *m)
{
	for (size_t i = 0; i < SCREEN_COUNT && !m->row && m->kind != MOUSE_RELEASE; i++) {
		if (m->col < b->tabs[i].from || m->col >= b->tabs[i].end)
			continue;
		if (m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE)
			show_screen(b, (enum screen)i);
		return true;
	}
	return false;
}

static void mouse(struct browser *b, const struct mouse *m)
{
	const struct area *a = &b->view_area;
	const struct view *v = view_now(b);
	bool is_time = model_state(&b->model)->screen == SCREEN_TIME;
	bool goes_on = b->is_dragging && (m->kind == MOUSE_DRAG || m->kind == MOUSE_RELEASE);
	if (!goes_on && press_tab(b, m))
		return;
	if ((goes_on || !is_time) && strip_mouse(b, m))
		return;
	if (m->row < a->row || m->row >= a->row + a->rows || m->col < a->col ||
	    m->col >= a->col + a->cols || !v->mouse || b->failure.code)
		return;
	struct mouse inside = *m;
	inside.row -= a->row;
	inside.col -= a->col;
	v->mouse(browser_self(b), b, &inside);
}

void browser_input(struct browser *b, const struct input *in)
{
	if (in->key == SPECIAL_TICK) {
		follow_tick(b);
		return;
	}
	b->message[0] = '\0';
	if (!load(b))
		return;
	if (bookmarks_input(b, in))
		return;
	if (b->prompt) {
		prompt_input(b, in);
		return;
	}
	if (b->help) {
		help_input(b, in);
		return;
	}
	if (in->key == SPECIAL_MOUSE) {
		mouse(b, &in->mouse);
		return;
	}
	enum action action = keymap_action(in->key);
	if (action != ACTION_CANCEL)
		b->was_cancelled = false;
	if (action != ACTION_NONE) {
		act(b, action);
	} else if (in->key != SPECIAL_RESIZE) {
		char name[16];
		browser_say(b, ROLE_DIM, "%s does nothing; ? shows the keys",
			    keymap_name(name, sizeof name, in->key));
	}
}
