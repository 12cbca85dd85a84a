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

#include "tui/browser.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/report/lines.h"
#include "tui/empty.h"
#include "tui/list.h"
#include "tui/show.h"

#define HOT_SHARE  0.1 /* lines above it are bold */
#define TEXT_BYTES 8192u

/* What stands in place of a row of the result. */
#define TAIL_OTHERS UINT32_MAX       /* lines in other files */
#define NO_ROW      (UINT32_MAX - 1) /* a line without memory */

struct numbered {      /* a line with memory */
	uint32_t line; /* 0: not known */
	uint32_t row;  /* of the result */
};

struct source {
	struct query_opened *q; /* borrowed from the model */
	struct list list;       /* lines of the file, then the tail */
	struct buf file;        /* its path; empty: not known */
	struct lines text;      /* empty: the file is not here */
	struct buf text_path;   /* whose text that is */
	bool has_tried;
	struct numbered *lines; /* of this file, by line */
	size_t line_count, line_cap;
	size_t before_text, in_text; /* of them: line not known; the text has it */
	struct numbered *tail;       /* lines that the text does not have, then what was cut */
	size_t tail_count, tail_cap;
	size_t others; /* lines in other files */
	int64_t others_self_bytes;
	size_t total, self, count, file_column, line_column;
	int64_t base_bytes;
	struct buf subject; /* of the last load */
	uint32_t kept_line; /* the one that was selected before it; 0: none */
	struct buf work;
};

static const struct query_result *result_of(const struct source *s)
{
	return query_opened_result(s->q);
}

static const struct result_cell *cell_of(const struct source *s, size_t row, size_t column)
{
	return &result_of(s)->cells[row * result_of(s)->column_count + column];
}

static const char *file_of(const struct source *s, size_t row)
{
	const struct result_cell *c = cell_of(s, row, s->file_column);
	return c->is_unknown || !c->text ? "" : c->text;
}

static const char *path_of(const struct source *s)
{
	return s->file.count_bytes ? s->file.data : "";
}

static void set_buf(struct buf *b, const char *text)
{
	buf_clear(b);
	buf_puts(b, text);
}

static bool is_buf(const struct buf *b, const char *text)
{
	return !strcmp(b->count_bytes ? b->data : "", text);
}

/* ---- loading ------------------------------------------------------------------------------ */

static int64_t magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* Lines that allocate themselves count before lines that call. */
static bool is_heavier(const struct source *s, size_t a, size_t b)
{
	int64_t self_a = magnitude(result_value(result_of(s), a, s->self));
	int64_t self_b = magnitude(result_value(result_of(s), b, s->self));
	if (self_a != self_b)
		return self_a > self_b;
	return magnitude(result_value(result_of(s), a, s->total)) >
	       magnitude(result_value(result_of(s), b, s->total));
}

static bool is_plain(const struct source *s, size_t row)
{
	return result_of(s)->rows[row].kind == ROW_PLAIN;
}

/* The file of the heaviest line; one that is known comes before those that are not. */
static void choose_file(struct source *s)
{
	size_t best = SIZE_MAX, count = result_of(s)->row_count;
	for (size_t i = 0; i < count; i++) {
		if (!is_plain(s, i))
			continue;
		bool is_known = *file_of(s, i), was_known = best != SIZE_MAX && *file_of(s, best);
		if (best == SIZE_MAX || (is_known && !was_known) ||
		    (is_known == was_known && is_heavier(s, i, best)))
			best = i;
	}
	set_buf(&s->file, best == SIZE_MAX ? "" : file_of(s, best));
}

static bool add_line(struct numbered **to, size_t *count, size_t *cap, uint32_t line, size_t row)
{
	if (!vec_reserve((void **)to, cap, *count + 1, sizeof **to))
		return false;
	(*to)[(*count)++] = (struct numbered){.line = line, .row = (uint32_t)row};
	return true;
}

static int compare_lines(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Lines of this file; the others are only added up. */
static bool gather(struct source *s)
{
	size_t count = result_of(s)->row_count;
	bool is_good = true;
	s->line_count = s->others = 0;
	s->others_self_bytes = 0;
	for (size_t i = 0; is_good && i < count; i++) {
		if (!is_plain(s, i))
			continue;
		const struct result_cell *c = cell_of(s, i, s->line_column);
		uint32_t line = c->is_unknown || c->value < 0 ? 0 : (uint32_t)c->value;
		if (!strcmp(file_of(s, i), path_of(s))) {
			is_good = add_line(&s->lines, &s->line_count, &s->line_cap, line, i);
			continue;
		}
		s->others++;
		s->others_self_bytes += result_value(result_of(s), i, s->self);
	}
	if (is_good && s->line_count)
		qsort(s->lines, s->line_count, sizeof *s->lines, compare_lines);
	return is_good;
}

static bool make_tail(struct source *s)
{
	const struct query_result *r = result_of(s);
	bool is_good = true;
	s->tail_count = s->before_text = s->in_text = 0;
	for (size_t i = 0; is_good && i < s->line_count; i++) {
		const struct numbered *l = &s->lines[i];
		s->before_text += !l->line;
		if (l->line && l->line <= s->text.count)
			s->in_text++;
		else
			is_good = add_line(&s->tail, &s->tail_count, &s->tail_cap, l->line, l->row);
	}
	if (is_good && s->others)
		is_good = add_line(&s->tail, &s->tail_count, &s->tail_cap, 0, TAIL_OTHERS);
	for (size_t i = 0; is_good && i < r->row_count; i++) {
		if (!is_plain(s, i))
			is_good = add_line(&s->tail, &s->tail_count, &s->tail_cap, 0, i);
	}
	s->list.count = s->text.count + s->tail_count;
	return is_good;
}

static bool read_text(struct source *s, const struct browser *b)
{
	bool has_failed = false;
	if (s->has_tried && is_buf(&s->text_path, path_of(s)))
		return true;
	lines_release(&s->text);
	set_buf(&s->text_path, path_of(s));
	s->has_tried = true;
	if (*path_of(s))
		lines_find(&s->text, path_of(s), &b->model.profile->run, &b->search, &has_failed);
	return !has_failed;
}

/* ---- positions ------------------------------------------------------------------------------- */

/* The first line with memory that is not before this one; line_count: none. */
static size_t lower_bound(const struct source *s, uint32_t line)
{
	size_t low = 0, high = s->line_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (s->lines[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* What is at a place of the list. */
static struct numbered item_of(const struct source *s, size_t at)
{
	if (at >= s->text.count)
		return s->tail[at - s->text.count];
	struct numbered item = {.line = (uint32_t)at + 1, .row = NO_ROW};
	size_t i = lower_bound(s, item.line);
	if (i < s->line_count && s->lines[i].line == item.line)
		item.row = s->lines[i].row;
	return item;
}

static size_t place_of(const struct source *s, uint32_t line)
{
	if (line && line <= s->text.count)
		return line - 1;
	for (size_t i = 0; i < s->tail_count; i++) {
		if (s->tail[i].line == line && s->tail[i].row < NO_ROW)
			return s->text.count + i;
	}
	return SIZE_MAX;
}

static uint32_t heaviest_line(const struct source *s)
{
	size_t best = 0;
	for (size_t i = 1; i < s->line_count; i++) {
		if (is_heavier(s, s->lines[i].row, s->lines[best].row))
			best = i;
	}
	return s->line_count ? s->lines[best].line : 0;
}

/* Where the browser was asked to go, else where it was, else the heaviest line; with some lines before it. */
static void choose_line(struct source *s, struct browser *b, uint32_t kept)
{
	size_t at = SIZE_MAX;
	if (b->source_line)
		at = place_of(s, b->source_line);
	b->source_line = 0;
	if (at == SIZE_MAX && kept)
		at = place_of(s, kept);
	if (at == SIZE_MAX)
		at = place_of(s, heaviest_line(s));
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
	const struct query_result *r = result_of(s);
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
	if (!is_buf(&s->subject, subject ? subject : ""))
		s->kept_line = 0;
	else if (s->q && s->list.selected < s->list.count)
		s->kept_line = item_of(s, s->list.selected).line;
	set_buf(&s->subject, subject ? subject : "");
	s->list.count = s->line_count = s->tail_count = 0;
	enum neap_err code = run(s, b, error);
	if (code) {
		s->q = NULL;
		return code;
	}
	find_columns(s, b);
	if (s->file_column == SIZE_MAX || s->line_column == SIZE_MAX)
		return NEAP_OK;
	choose_file(s);
	if (!gather(s) || !read_text(s, b) || !make_tail(s) || s->file.has_failed ||
	    s->text_path.has_failed)
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

/* ---- drawing ------------------------------------------------------------------------------------ */

struct columns { /* where columns end; 0: not shown */
	unsigned total, share, bar, bar_cols, self, count, line, text;
};

static struct columns lay_out(const struct area *a)
{
	struct columns c = {.total = 7};
	unsigned at = 7;
	if (a->cols >= 64)
		c.share = at += 7;
	if (a->cols >= 72 && !a->grid->is_plain) {
		c.bar = at + 1;
		c.bar_cols = a->cols >= 100 ? 8 : 5;
		at += c.bar_cols + 1;
	}
	if (a->cols >= 56)
		c.self = at += 8;
	if (a->cols >= 100)
		c.count = at += 8;
	c.line = at += 6;
	c.text = at + 2;
	return c;
}

static bool frame_of(const struct source *s, const struct browser *b, uint32_t row,
		     struct graph_frame *out)
{
	const struct query_result *r = result_of(s);
	if (row >= NO_ROW || !r->graph || !r->rows[row].frame_count)
		return false;
	*out = graph_entry(b->model.graph, r->rows[row].frames[r->rows[row].frame_count - 1]);
	return true;
}

/* The function that the selected line belongs to: it may be one that was inlined. */
static void draw_function(const struct source *s, struct browser *b, const struct area *a,
			  unsigned col)
{
	struct graph_frame f;
	if (s->list.selected >= s->list.count ||
	    !frame_of(s, b, item_of(s, s->list.selected).row, &f))
		return;
	const char *what = f.is_inlined ? "here: inlined " : f.is_tail ? "here: [tail] " : "here: ";
	col = area_put(a, 0, col, look(ROLE_DIM), what);
	area_put(a, 0, col, look(ROLE_TEXT), name_frame(&b->names, &f, a->cols - col));
}

/* Which file, and if it is not the one that was compiled: why. */
static void draw_title(struct source *s, struct browser *b, const struct area *a)
{
	const char *what = "";
	size_t count = s->line_count;
	if (!*path_of(s))
		what = "no debug information says where";
	else if (!s->text.count)
		what = a->cols < 72 ? "not found here" : "not found here: only lines with memory";
	else if (s->text.is_newer)
		what = "changed since: lines may have moved";
	unsigned room = text_cols(what) + 14 < a->cols ? a->cols - text_cols(what) - 3 : a->cols;
	const char *name = *path_of(s) ? name_path(&b->names, path_of(s), room) : "[unknown file]";
	unsigned col = area_elide(a, 0, 1, room - 1, look_bold(ROLE_STRONG), name) + 2;
	if (*what)
		col = area_put(a, 0, col, look(ROLE_WARNING), what) + 2;
	if (col + 34 < a->cols)
		col = area_printf(a, 0, col, look(ROLE_DIM), "%zu line%s with memory", count,
				  count == 1 ? "" : "s");
	if (s->text.count && col + 24 < a->cols)
		draw_function(s, b, a, col + 2);
}

static void draw_heading(const struct source *s, const struct area *a, const struct columns *c)
{
	const struct look l = look(ROLE_HEADING);
	area_right(a, 0, c->total, 7, l, result_of(s)->is_signed ? "CHANGE" : "TOTAL");
	if (c->share)
		area_right(a, 0, c->share, 7, l, "SHARE");
	if (c->self)
		area_right(a, 0, c->self, 8, l, "SELF");
	if (c->count)
		area_right(a, 0, c->count, 8, l, "BLOCKS");
	area_right(a, 0, c->line, 6, l, "LINE");
	area_put(a, 0, c->text, l, s->text.count ? "" : "function");
}

struct values {
	int64_t total, self, count;
};

static struct values values_of(const struct source *s, uint32_t row)
{
	const struct query_result *r = result_of(s);
	if (row == TAIL_OTHERS)
		return (struct values){.self = s->others_self_bytes};
	return (struct values){result_value(r, row, s->total), result_value(r, row, s->self),
			       result_value(r, row, s->count)};
}

static double share_of(const struct source *s, int64_t bytes)
{
	return s->base_bytes ? (double)bytes / (double)s->base_bytes : 0;
}

static void draw_values(const struct source *s, const struct area *a, unsigned row,
			const struct columns *c, uint32_t at)
{
	char text[FMT_BYTES];
	struct values v = values_of(s, at);
	bool is_line = at != TAIL_OTHERS && is_plain(s, at);
	struct look strong = look(is_line ? ROLE_STRONG : ROLE_DIM);
	if (result_of(s)->is_signed && v.total)
		strong = look(v.total > 0 ? ROLE_GREW : ROLE_SHRANK);
	/* Totals of lines in other files may have blocks in common: there is no sum of them. */
	if (at != TAIL_OTHERS) {
		area_right(a, row, c->total, 7, strong, show_bytes(text, sizeof text, v.total));
		show_share(text, sizeof text, (double)v.total, (double)s->base_bytes);
		if (c->share)
			area_right(a, row, c->share, 7, look(ROLE_TEXT), text);
		if (c->bar)
			area_bar(a, row, c->bar, c->bar_cols, look(is_line ? ROLE_BAR : ROLE_DIM),
				 share_of(s, v.total));
		if (c->count)
			area_right(a, row, c->count, 8, look(ROLE_TEXT),
				   show_count(text, sizeof text, v.count));
	}
	if (c->self)
		area_right(a, row, c->self, 8, look(v.self ? ROLE_TEXT : ROLE_DIM),
			   show_bytes(text, sizeof text, v.self));
}

static void draw_cut(const struct source *s, struct browser *b, const struct area *a, unsigned row,
		     const struct columns *c, uint32_t at)
{
	const char *min = state_chip(model_state(&b->model), STAGE_MIN);
	if (at == TAIL_OTHERS)
		area_printf(a, row, c->text, look(ROLE_DIM),
			    "%zu line%s in other files  (Right: next file)", s->others,
			    s->others == 1 ? "" : "s");
	else
		area_printf(a, row, c->text, look(ROLE_DIM), "%u more line%s%s%s%s",
			    result_of(s)->rows[at].count,
			    result_of(s)->rows[at].count == 1 ? "" : "s", min ? " below " : "",
			    min ? min + strlen("min ") : "", min ? "  (L shows them)" : "");
}

static const char *text_of(struct source *s, struct browser *b, const struct numbered *item,
			   unsigned cols)
{
	struct graph_frame f;
	buf_clear(&s->work);
	if (item->line && item->line <= s->text.count)
		lines_expand(&s->text, item->line, TEXT_BYTES, &s->work);
	else if (frame_of(s, b, item->row, &f))
		return name_frame(&b->names, &f, cols);
	return s->work.count_bytes && !s->work.has_failed ? s->work.data : "";
}

static void draw_line(struct source *s, struct browser *b, const struct area *a, unsigned row,
		      const struct columns *c, size_t at)
{
	const struct numbered item = item_of(s, at);
	bool has_memory = item.row < NO_ROW;
	struct look l = look(has_memory ? ROLE_TEXT : ROLE_DIM);
	if (item.row != NO_ROW)
		draw_values(s, a, row, c, item.row);
	if (item.row == TAIL_OTHERS || (has_memory && !is_plain(s, item.row))) {
		draw_cut(s, b, a, row, c, item.row);
		return;
	}
	if (has_memory && share_of(s, magnitude(values_of(s, item.row).total)) >= HOT_SHARE)
		l = look_bold(ROLE_STRONG);
	char number[FMT_BYTES] = "?";
	if (item.line)
		snprintf(number, sizeof number, "%" PRIu32, item.line);
	area_right(a, row, c->line, 6, look(has_memory ? ROLE_KEY : ROLE_DIM), number);
	if (c->text >= a->cols)
		return;
	const char *text = text_of(s, b, &item, a->cols - c->text);
	if (b->find[0] && strstr(text, b->find))
		l = look_bold(ROLE_MATCH);
	area_put(a, row, c->text, l, text);
}

static void draw(void *self, struct browser *b, const struct area *a)
{
	struct source *s = self;
	struct area rows = *a;
	const struct columns c = lay_out(a);
	if (!s->list.count) {
		empty_draw(b, a, "no line of source has memory here", result_of(s));
		return;
	}
	if (rows.rows > 2) {
		draw_title(s, b, &rows);
		rows = area_cut(&rows, 1, 0, rows.rows, rows.cols);
	}
	if (rows.rows > 5) {
		draw_heading(s, &rows, &c);
		rows = area_cut(&rows, 1, 0, rows.rows, rows.cols);
	}
	if (!s->list.page_rows && s->list.selected > rows.rows / 2)
		s->list.top = s->list.selected - rows.rows / 2;
	list_fit(&s->list, rows.rows);
	for (unsigned i = 0; i < rows.rows && s->list.top + i < s->list.count; i++) {
		size_t at = s->list.top + i;
		draw_line(s, b, &rows, i, &c, at);
		if (at == s->list.selected && b->pane == PANE_ROWS) {
			area_select(&rows, i);
			area_cursor(&rows, i, 0);
		}
	}
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
	const char *path = column == SIZE_MAX ? NULL : neighbour(r, column, path_of(s), is_back);
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

static bool frame(const void *self, const struct browser *b, struct graph_frame *out)
{
	const struct source *s = self;
	if (!s->q || s->list.selected >= s->list.count)
		return false;
	uint32_t row = item_of(s, s->list.selected).row;
	return row < NO_ROW && is_plain(s, row) && frame_of(s, b, row, out);
}

static void row_text(const void *self, struct browser *b, struct buf *out)
{
	const struct source *s = self;
	char total[FMT_BYTES], count[FMT_BYTES];
	(void)b;
	if (!s->q || s->list.selected >= s->list.count)
		return;
	const struct numbered item = item_of(s, s->list.selected);
	if (item.row < NO_ROW) {
		struct values v = values_of(s, item.row);
		buf_printf(out, "%s in %s blocks  ", fmt_bytes(total, sizeof total, v.total),
			   fmt_count(count, sizeof count, v.count));
	}
	buf_printf(out, "%s:%u  ", path_of(s), item.line);
	if (item.line && item.line <= s->text.count)
		lines_expand(&s->text, item.line, TEXT_BYTES, out);
}

static bool fits(const struct list_search *s, size_t at)
{
	const struct source *source = s->self;
	struct graph_frame f;
	const struct lines *l = &source->text;
	if (at < l->count)
		return memmem(l->start[at], (size_t)(l->start[at + 1] - l->start[at]), s->text,
			      strlen(s->text));
	return frame_of(source, s->b, item_of(source, at).row, &f) && f.name &&
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

const struct view view_source = {
	.self_bytes = sizeof(struct source),
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
