/* Tables with facts below: all but the keys is done by view_table.c. */
#include "config.h"

#include "tui/facts.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/show.h"
#include "tui/table.h"

#define FACTS_ROWS        2u
#define FACTS_SCREEN_ROWS 9u

enum neap_err facts_load(struct facts *f, struct browser *b, struct query_error *error)
{
	if (!f->table)
		f->table = mem_zalloc(view_table.self_bytes);
	if (!f->table) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	return view_table.load(f->table, b, error);
}

void facts_release(struct facts *f)
{
	if (f->table)
		view_table.release(f->table);
	mem_free(f->table);
	mem_free(f->modules);
}

void facts_draw(struct facts *f, struct browser *b, const struct area *a,
		const struct facts_kind *kind)
{
	struct area table = *a;
	struct buf text = {0};
	const char *key = table_key(f->table, kind->word);
	if (a->rows < FACTS_SCREEN_ROWS) {
		view_table.draw(f->table, b, a);
		return;
	}
	unsigned first = a->rows - FACTS_ROWS;
	table.rows = first - 1;
	area_rule(a, first - 1, 0, a->cols, look(ROLE_DIM));
	view_table.draw(f->table, b, &table);
	if (key)
		kind->say(f, b, key, &text);
	const struct area words = area_cut(a, first, 1, FACTS_ROWS, a->cols - 2);
	if (text.count_bytes && !text.has_failed)
		show_wrapped(&words, 0, FACTS_ROWS, look(ROLE_TEXT), text.data);
	buf_release(&text);
}

static void show_in_tree(struct browser *b, const char *stage)
{
	struct query_error error = {.code = NEAP_OK};
	struct state *s = model_edit(&b->model);
	if (!s || !state_add_chip(s, STAGE_WHERE, stage)) {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
		return;
	}
	s->screen = SCREEN_TREE;
	browser_tell(b, model_commit(&b->model, s, &error), &error);
}

static void enter(const struct facts *f, struct browser *b, const struct facts_kind *kind)
{
	const char *key = table_key(f->table, kind->word);
	struct buf stage = {0};
	if (!key) { /* those that were cut, or unknown */
		view_table.act(f->table, b, ACTION_ENTER);
		return;
	}
	buf_puts(&stage, "where ");
	kind->put_condition(b, key, &stage);
	if (!stage.has_failed)
		show_in_tree(b, stage.data);
	buf_release(&stage);
}

bool facts_act(struct facts *f, struct browser *b, enum action action,
	       const struct facts_kind *kind)
{
	if (action == ACTION_ENTER) {
		enter(f, b, kind);
		return true;
	}
	return action != ACTION_NEXT_KEYS && view_table.act(f->table, b, action);
}

bool facts_mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct facts *f = self;
	if (b->view_area.rows >= FACTS_SCREEN_ROWS && m->row + FACTS_ROWS + 1 >= b->view_area.rows)
		return false;
	return view_table.mouse(f->table, b, m);
}

void facts_place(const void *self, struct buf *out)
{
	const struct facts *f = self;
	view_table.place(f->table, out);
}

bool facts_frame(const void *self, struct graph_frame *out)
{
	const struct facts *f = self;
	return view_table.frame(f->table, out);
}

void facts_row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct facts *f = self;
	view_table.row_text(f->table, b, out);
}

bool facts_find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct facts *f = self;
	return view_table.find(f->table, b, text, is_back, is_here);
}

void facts_save_spot(const void *self, struct buf *out)
{
	const struct facts *f = self;
	if (f->table)
		view_table.save_spot(f->table, out);
}

void facts_take_spot(void *self, const char *text)
{
	struct facts *f = self;
	view_table.take_spot(f->table, text);
}
