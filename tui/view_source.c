/*
 * Source: a file with the memory of each line, inlined code included.
 *
 * The subject is a step, `[file="f"]` or `[func="f"]`; of the files that it fits, the heaviest is
 * shown whole.  Below its lines stand the rows that it has no line for: lines past its end,
 * the lines of other files, and what was cut, so that SELF adds up to the total.  Where the file
 * is not here, its lines with numbers are listed by function.
 *
 *   TOTAL  SHARE     SELF  BLOCKS  LINE
 *   12.1M  28.7%    12.1M   9,759    41      n->text = strdup(p->at);
 */
#include "config.h"

#include "tui/source_priv.h"

#include <string.h>

#include "src/base/mem.h"

/* ---- loading ------------------------------------------------------------------------------ */

/* Where the browser was asked to go, else where it was, else the heaviest line; with some lines before it. */
static void choose_line(struct source *s, struct browser *b, uint32_t kept)
{
	size_t at = SIZE_MAX;
	if (b->source_line)
		at = source_place(s, b->source_line);
	b->source_line = 0;
	if (at == SIZE_MAX && kept)
		at = source_place(s, kept);
	if (at == SIZE_MAX)
		at = source_place(s, source_heaviest_line(s));
	if (at == SIZE_MAX)
		at = 0;
	size_t before = s->list.page_rows ? s->list.page_rows / 2 : 5;
	if (!kept || at < s->list.top || at >= s->list.top + s->list.page_rows)
		s->list.top = at > before ? at - before : 0;
	s->list.selected = at;
}

static enum neap_err fail_nomem(struct source *s, struct query_error *error)
{
	s->list.count = 0;
	*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	return ERR_NOMEM;
}

static enum neap_err run(struct source *s, struct browser *b, struct query_error *error)
{
	const char *subject = model_state(&b->model)->subject;
	buf_clear(&s->work);
	buf_printf(&s->work, "source %s", subject ? subject : "[file=*]");
	if (s->work.has_failed)
		return fail_nomem(s, error);
	const struct compose c = {.view = s->work.data};
	return model_result(&b->model, &c, &s->q, error);
}

static void find_columns(struct source *s, struct browser *b)
{
	const struct query_result *r = source_result(s);
	s->total = result_column(r, r->is_signed ? "delta" : "total");
	if (s->total == SIZE_MAX)
		s->total = result_column(r, "total");
	s->self = result_column(r, "self");
	s->count = result_column(r, "count");
	s->file_column = result_column(r, "file");
	s->line_column = result_column(r, "line");
	browser_summarise(b, r);
	s->base_bytes = b->summary.base_bytes;
}

static enum neap_err load(void *self, struct browser *b, struct query_error *error)
{
	struct source *s = self;
	const char *subject = model_state(&b->model)->subject;
	if (!source_is(&s->subject, subject ? subject : ""))
		s->kept_line = 0;
	else if (s->q && s->list.selected < s->list.count)
		s->kept_line = source_item(s, s->list.selected).line;
	source_set(&s->subject, subject ? subject : "");
	s->list.count = s->line_count = s->tail_count = 0;
	enum neap_err code = run(s, b, error);
	if (code) {
		s->q = NULL;
		return code;
	}
	find_columns(s, b);
	if (s->file_column == SIZE_MAX || s->line_column == SIZE_MAX)
		return NEAP_OK;
	source_choose_file(s);
	if (!source_gather(s) || !source_read_text(s, b) || !source_make_tail(s) ||
	    s->file.has_failed || s->text_path.has_failed)
		return fail_nomem(s, error);
	choose_line(s, b, s->kept_line);
	return NEAP_OK;
}

static void release(void *self)
{
	struct source *s = self;
	lines_release(&s->text);
	buf_release(&s->file);
	buf_release(&s->text_path);
	buf_release(&s->subject);
	buf_release(&s->work);
	mem_free(s->lines);
	mem_free(s->tail);
}

/* ---- keys ------------------------------------------------------------------------------------------ */

static void center(struct source *s)
{
	if (s->list.selected < s->list.top || s->list.selected >= s->list.top + s->list.page_rows)
		s->list.top = s->list.selected > s->list.page_rows / 2
				      ? s->list.selected - s->list.page_rows / 2
				      : 0;
}

/* Places of lines with memory from the top down, the tail's after those of the text. */
static size_t hot_place(const struct source *s, size_t i)
{
	return i < s->in_text ? s->lines[s->before_text + i].line - 1
			      : s->text.count + (i - s->in_text);
}

/* To the nearest of them in this direction. */
static bool next_hot(struct source *s, bool is_back)
{
	size_t low = 0, high = s->in_text + s->tail_count;
	while (low < high) { /* the first that is past the selected place, or at it if going back */
		size_t middle = low + (high - low) / 2;
		if (hot_place(s, middle) < s->list.selected + !is_back)
			low = middle + 1;
		else
			high = middle;
	}
	if (is_back ? !low : low == s->in_text + s->tail_count)
		return false;
	s->list.selected = hot_place(s, is_back ? low - 1 : low);
	return true;
}

/* Files from the one that allocates most down. */
static enum neap_err list_files(struct browser *b, struct query_opened **q,
				struct query_error *error)
{
	const struct compose c = {.by = "file", .view = "table", .without_rows = true};
	return model_result(&b->model, &c, q, error);
}

static const char *neighbour(const struct query_result *r, size_t column, const char *path,
			     bool is_back)
{
	const char *last = NULL, *first = NULL;
	bool was_here = false;
	for (size_t i = 0; i < r->row_count; i++) {
		const struct result_cell *c = &r->cells[i * r->column_count + column];
		if (r->rows[i].kind != ROW_PLAIN || c->is_unknown || !c->text)
			continue;
		if (was_here && !is_back)
			return c->text;
		first = first ? first : c->text;
		was_here = !strcmp(c->text, path);
		if (was_here && is_back)
			return last;
		last = c->text;
	}
	return was_here ? NULL : first;
}

static void go_file(struct source *s, struct browser *b, bool is_back)
{
	struct query_opened *q;
	struct query_error error = {.code = NEAP_OK};
	struct buf step = {0};
	if (list_files(b, &q, &error)) {
		browser_tell(b, error.code, &error);
		return;
	}
	const struct query_result *r = query_opened_result(q);
	size_t column = result_column(r, "file");
	const char *path =
		column == SIZE_MAX ? NULL : neighbour(r, column, source_path(s), is_back);
	if (!path) {
		browser_say(b, ROLE_DIM,
			    is_back ? "this is the file that holds most" : "this is the last file");
		return;
	}
	buf_puts(&step, "[file=");
	query_quote(&step, path);
	buf_putc(&step, ']');
	struct state *state = model_edit(&b->model);
	if (state && !step.has_failed && state_set_subject(state, step.data))
		browser_tell(b, model_commit(&b->model, state, &error), &error);
	else
		state_free(state);
	buf_release(&step);
}

static bool act(void *self, struct browser *b, enum action action)
{
	struct source *s = self;
	switch (action) {
	case ACTION_LEFT:
	case ACTION_RIGHT:
		if (s->q)
			go_file(s, b, action == ACTION_LEFT);
		return true;
	case ACTION_HOT_NEXT:
	case ACTION_HOT_PREVIOUS:
		if (!s->list.count || !next_hot(s, action == ACTION_HOT_PREVIOUS))
			browser_say(b, ROLE_DIM, "no more lines with memory in this direction");
		center(s);
		return true;
	case ACTION_EDITOR: /* also of a line that has no memory */
		if (!s->list.count || !*source_path(s) || !source_item(s, s->list.selected).line)
			return false;
		editor_open(b, source_path(s), source_item(s, s->list.selected).line);
		return true;
	case ACTION_SOURCE:
		if (s->list.count)
			browser_say(b, ROLE_DIM, "this is its source; o opens it in your editor");
		return s->list.count;
	default:
		return list_act(&s->list, action);
	}
}

static unsigned head_rows(unsigned rows)
{
	return rows <= 2 ? 0 : rows <= 6 ? 1 : 2;
}

static bool mouse(void *self, struct browser *b, const struct mouse *m)
{
	struct source *s = self;
	struct mouse in_list = *m;
	unsigned head = head_rows(b->view_area.rows);
	if (in_list.row < head)
		return false;
	in_list.row -= head;
	return list_mouse(&s->list, &in_list);
}

static void place(const void *self, struct buf *out)
{
	const struct source *s = self;
	list_place(&s->list, out);
}

static bool frame(const void *self, struct graph_frame *out)
{
	const struct source *s = self;
	if (!s->q || s->list.selected >= s->list.count)
		return false;
	uint32_t row = source_item(s, s->list.selected).row;
	return row < NO_ROW && source_is_plain(s, row) && source_frame(s, row, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct source *s = self;
	(void)b;
	if (!s->q || s->list.selected >= s->list.count)
		return;
	const struct numbered item = source_item(s, s->list.selected);
	if (item.row < NO_ROW) {
		struct source_values v = source_values(s, item.row);
		show_put_sum(out, v.total, result_knows(source_result(s), s->count), v.count);
		buf_puts(out, "  ");
	}
	buf_printf(out, "%s:%u  ", source_path(s), item.line);
	if (item.line && item.line <= s->text.count)
		lines_expand(&s->text, item.line, SOURCE_TEXT_BYTES, out);
}

static bool fits(const struct list_search *s, size_t at)
{
	const struct source *source = s->self;
	struct graph_frame f;
	const struct lines *l = &source->text;
	if (at < l->count)
		return memmem(l->start[at], (size_t)(l->start[at + 1] - l->start[at]), s->text,
			      strlen(s->text));
	return source_frame(source, source_item(source, at).row, &f) && f.name &&
	       strstr(f.name, s->text);
}

static bool find(void *self, struct browser *b, const char *text, bool is_back, bool is_here)
{
	struct source *source = self;
	const struct list_search s = {self, b, text, is_back, is_here};
	bool has_found = list_find(&source->list, &s, fits);
	if (has_found)
		center(source);
	return has_found;
}

static void save_spot(const void *self, struct buf *out)
{
	const struct source *s = self;
	list_save_spot(&s->list, out);
}

static void take_spot(void *self, const char *text)
{
	struct source *s = self;
	list_take_spot(&s->list, text);
}

const struct view view_source = {
	.self_bytes = sizeof(struct source),
	.release = release,
	.load = load,
	.draw = source_draw,
	.act = act,
	.mouse = mouse,
	.place = place,
	.frame = frame,
	.row_text = row_text,
	.find = find,
	.save_spot = save_spot,
	.take_spot = take_spot,
};
