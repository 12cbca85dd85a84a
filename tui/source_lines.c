/* Lines of a source with memory, and what the text has no line for. */
#include "config.h"

#include "tui/source_priv.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

const struct query_result *source_result(const struct source *s)
{
	return query_opened_result(s->q);
}

static const struct result_cell *source_cell(const struct source *s, size_t row, size_t column)
{
	return &source_result(s)->cells[row * source_result(s)->column_count + column];
}

static const char *file_of(const struct source *s, size_t row)
{
	const struct result_cell *c = source_cell(s, row, s->file_column);
	return c->is_unknown || !c->text ? "" : c->text;
}

const char *source_path(const struct source *s)
{
	return s->file.count_bytes ? s->file.data : "";
}

void source_set(struct buf *b, const char *text)
{
	buf_clear(b);
	buf_puts(b, text);
}

bool source_is(const struct buf *b, const char *text)
{
	return !strcmp(b->count_bytes ? b->data : "", text);
}

/* ---- loading ------------------------------------------------------------------------------ */

int64_t source_magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* Lines that allocate themselves count before lines that call. */
static bool source_is_heavier(const struct source *s, size_t a, size_t b)
{
	int64_t self_a = source_magnitude(result_value(source_result(s), a, s->self));
	int64_t self_b = source_magnitude(result_value(source_result(s), b, s->self));
	if (self_a != self_b)
		return self_a > self_b;
	return source_magnitude(result_value(source_result(s), a, s->total)) >
	       source_magnitude(result_value(source_result(s), b, s->total));
}

bool source_is_plain(const struct source *s, size_t row)
{
	return source_result(s)->rows[row].kind == ROW_PLAIN;
}

/* The file of the heaviest line; one that is known comes before those that are not. */
void source_choose_file(struct source *s)
{
	size_t best = SIZE_MAX, count = source_result(s)->row_count;
	for (size_t i = 0; i < count; i++) {
		if (!source_is_plain(s, i))
			continue;
		bool is_known = *file_of(s, i), was_known = best != SIZE_MAX && *file_of(s, best);
		if (best == SIZE_MAX || (is_known && !was_known) ||
		    (is_known == was_known && source_is_heavier(s, i, best)))
			best = i;
	}
	source_set(&s->file, best == SIZE_MAX ? "" : file_of(s, best));
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
bool source_gather(struct source *s)
{
	size_t count = source_result(s)->row_count;
	bool is_good = true;
	s->line_count = s->others = 0;
	s->others_self_bytes = 0;
	for (size_t i = 0; is_good && i < count; i++) {
		if (!source_is_plain(s, i))
			continue;
		const struct result_cell *c = source_cell(s, i, s->line_column);
		uint32_t line = c->is_unknown || c->value < 0 ? 0 : (uint32_t)c->value;
		if (!strcmp(file_of(s, i), source_path(s))) {
			is_good = add_line(&s->lines, &s->line_count, &s->line_cap, line, i);
			continue;
		}
		s->others++;
		s->others_self_bytes += result_value(source_result(s), i, s->self);
	}
	if (is_good && s->line_count)
		qsort(s->lines, s->line_count, sizeof *s->lines, compare_lines);
	return is_good;
}

bool source_make_tail(struct source *s)
{
	const struct query_result *r = source_result(s);
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
		if (!source_is_plain(s, i))
			is_good = add_line(&s->tail, &s->tail_count, &s->tail_cap, 0, i);
	}
	s->list.count = s->text.count + s->tail_count;
	return is_good;
}

bool source_read_text(struct source *s, const struct browser *b)
{
	bool has_failed = false;
	struct source_ask ask = b->ask;
	struct lines_search search = b->search;
	if (s->has_tried && source_is(&s->text_path, source_path(s)))
		return true;
	ask.graph = b->model.now;
	search.fetch = ask.fetch ? source_ask : NULL;
	search.context = &ask;
	lines_release(&s->text);
	source_set(&s->text_path, source_path(s));
	s->has_tried = true;
	if (*source_path(s))
		lines_find(&s->text, source_path(s), &graph_profile(b->model.now)->run, &search,
			   &has_failed);
	return !has_failed;
}

struct source_values source_values(const struct source *s, uint32_t row)
{
	const struct query_result *r = source_result(s);
	if (row == TAIL_OTHERS)
		return (struct source_values){.self = s->others_self_bytes};
	return (struct source_values){result_value(r, row, s->total), result_value(r, row, s->self),
				      result_value(r, row, s->count)};
}

bool source_frame(const struct source *s, uint32_t row, struct graph_frame *out)
{
	const struct query_result *r = source_result(s);
	if (row >= NO_ROW || !r->graph || !r->rows[row].frame_count)
		return false;
	*out = graph_entry(r->graph, r->rows[row].frames[r->rows[row].frame_count - 1]);
	return true;
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
struct numbered source_item(const struct source *s, size_t at)
{
	if (at >= s->text.count)
		return s->tail[at - s->text.count];
	struct numbered item = {.line = (uint32_t)at + 1, .row = NO_ROW};
	size_t i = lower_bound(s, item.line);
	if (i < s->line_count && s->lines[i].line == item.line)
		item.row = s->lines[i].row;
	return item;
}

size_t source_place(const struct source *s, uint32_t line)
{
	if (line && line <= s->text.count)
		return line - 1;
	for (size_t i = 0; i < s->tail_count; i++) {
		if (s->tail[i].line == line && s->tail[i].row < NO_ROW)
			return s->text.count + i;
	}
	return SIZE_MAX;
}

uint32_t source_heaviest_line(const struct source *s)
{
	size_t best = 0;
	for (size_t i = 1; i < s->line_count; i++) {
		if (source_is_heavier(s, s->lines[i].row, s->lines[best].row))
			best = i;
	}
	return s->line_count ? s->lines[best].line : 0;
}
