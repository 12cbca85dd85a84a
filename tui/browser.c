/* The browser as a whole: made, loaded, drawn. */
#include "config.h"

#include "tui/browser_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"
#include "tui/bookmarks.h"
#include "tui/details.h"
#include "tui/help.h"
#include "tui/prompt.h"
#include "tui/spots.h"

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
	b->ask = (struct source_ask){.fetch = o->fetch_source, .context = o->fetch_context};
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
	strip_forget(b);
	model_release(&b->model);
	grid_release(&b->grid);
	shortener_release(&b->names);
	buf_release(&b->clipboard);
	buf_release(&b->label);
	buf_release(&b->there);
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
	s->has_bytes = bytes;
	s->bytes = bytes ? bytes->value : 0;
	s->has_blocks = count;
	s->blocks = count ? count->value : 0;
	s->base_bytes = s->bytes;
	if (share && share->number != 0)
		s->base_bytes = (int64_t)((double)s->bytes / share->number + 0.5);
}

void browser_question(struct browser *b, struct buf *out)
{
	const struct view *v = browser_view(b);
	if (v->question)
		v->question(browser_self(b), b, out);
	else
		model_query(&b->model, out);
}

void *browser_self(const struct browser *b)
{
	return b->selves[model_state(&b->model)->screen];
}

/* ---- loading --------------------------------------------------------------------------------- */

/* By Esc or Ctrl-C: what was shown before is there again. */
static bool is_stopped(struct browser *b)
{
	if (!model_was_stopped(&b->failure))
		return false;
	b->was_cancelled = b->stop_key == CODE_CANCEL;
	b->cursor = b->shown_cursor;
	browser_say(b, ROLE_WARNING, "stopped; %sCtrl-R tries it again",
		    b->was_cancelled ? "Ctrl-C again quits, " : "");
	return true;
}

bool browser_load(struct browser *b)
{
	enum screen s = model_state(&b->model)->screen;
	const struct view *v = view_of(s);
	if (!b->selves[s])
		b->selves[s] = mem_zalloc(v->self_bytes);
	if (!b->selves[s])
		return false;
	if (b->loaded[s] == b->model.generation) {
		b->shown_cursor = b->cursor;
		return true;
	}
	b->loaded[s] = b->model.generation;
	b->failure = (struct query_error){.code = NEAP_OK};
	b->summary.is_known = false;
	struct query_error ignored; /* queries say it too; who asks none of the head asks again */
	model_find_sides(&b->model, &ignored);
	v->load(b->selves[s], b, &b->failure);
	model_drop_old(&b->model);
	/* Results are shared among the views: the others load anew when they are shown. */
	for (size_t i = 0; i < SCREEN_COUNT; i++) {
		if (i != s)
			b->loaded[i] = 0;
	}
	if (!b->failure.code)
		spots_arrive(b);
	if (is_stopped(b))
		return !model_go_state(&b->model, b->shown) || browser_load(b);
	if (b->shown != model_state(&b->model))
		strip_settle(b);
	b->shown = model_state(&b->model);
	b->shown_cursor = b->cursor;
	return true;
}

/* ---- drawing ------------------------------------------------------------------------------------ */

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
	unsigned strip = strip_rows(b, all->rows);
	bool has_chart =
		model_state(&b->model)->screen == SCREEN_TIME && model_knows_times(&b->model);
	if (strip && !has_chart) {
		a = area_cut(all, row, 0, strip, all->cols);
		strip_draw(b, &a);
		row += strip;
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
	if (!grid_resize(&b->grid, rows, cols) || !browser_load(b))
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
		browser_view(b)->draw(browser_self(b), b, &b->view_area);
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
