/* Invariants of the browser. */
#include "config.h"

#include "tests/tui/invariants.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "query/parse.h"
#include "src/base/fmt.h"
#include "src/base/mem.h"

static char broken[4096];

static const char *say(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(broken, sizeof broken, fmt, ap);
	va_end(ap);
	return broken;
}

/* ---- cells ------------------------------------------------------------------------------ */

static size_t cols_of(const struct cell *cell)
{
	struct buf text = {0};
	if (cell->c >= 0x20 && cell->c < 0x7f && !cell->marks[0])
		return 1;
	cell_text(cell, &text);
	size_t cols = text.has_failed ? SIZE_MAX : fmt_width(text.data, text.count_bytes);
	buf_release(&text);
	return cols;
}

/* Characters that are commands to a terminal, or change the order of others. */
static bool is_dangerous(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0x061c || c == 0xfeff;
}

static const char *wrong_cell(const struct grid *g, unsigned row, unsigned col)
{
	const struct cell *cell = &g->cells[(size_t)row * g->cols + col];
	bool is_half = col && cols_of(cell - 1) == 2;
	if (!cell->c)
		return is_half ? NULL : "an empty cell that is no half of a wide character";
	if (is_half)
		return "something in the right half of a wide character";
	if (is_dangerous(cell->c))
		return "a character that a terminal obeys";
	if (!grid_is_utf8(g) && cell->c > 0x7e)
		return "more than ASCII";
	for (unsigned i = 0; i < CELL_MARKS && cell->marks[i]; i++) {
		const struct cell mark = {.c = cell->marks[i]};
		if (is_dangerous(mark.c) || cols_of(&mark) != 0)
			return "a mark that does not combine";
	}
	size_t cols = cols_of(cell);
	if (cols != 1 && cols != 2)
		return "a character of no width";
	if (cols == 2 && col + 1 == g->cols)
		return "half of a wide character at the right edge";
	if (cell->look.role >= ROLE_COUNT || cell->look.back >= ROLE_COUNT)
		return "a look that there is not";
	return NULL;
}

static const char *wrong_grid(const struct grid *g)
{
	for (unsigned row = 0; row < g->rows; row++) {
		for (unsigned col = 0; col < g->cols; col++) {
			const char *wrong = wrong_cell(g, row, col);
			if (wrong)
				return say("cell %u,%u (U+%04X): %s", row, col,
					   g->cells[(size_t)row * g->cols + col].c, wrong);
		}
	}
	if (g->cursor_row >= g->rows || g->cursor_col >= g->cols)
		return say("the cursor is at %u,%u of %u,%u", g->cursor_row, g->cursor_col, g->rows,
			   g->cols);
	return NULL;
}

/* ---- the query ------------------------------------------------------------------------------- */

static const char *wrong_text(const struct buf *text, bool is_canonical)
{
	struct ast_script *script = NULL;
	struct query_error error = {.code = NEAP_OK};
	struct buf again = {0};
	const char *wrong = NULL;
	if (text->has_failed || query_parse(text->data, text->count_bytes, &script, &error))
		return say("the query does not parse (%s): %.1000s", error.text,
			   text->data ? text->data : "");
	query_canonical(&script->statements[script->statement_count - 1].query, &again);
	if (is_canonical && (again.has_failed || strcmp(again.data, text->data) != 0))
		wrong = say("the query parses to another: %.1000s\n  and not to: %.1000s",
			    again.data ? again.data : "", text->data);
	buf_release(&again);
	query_script_free(script);
	return wrong;
}

static const char *wrong_query(const struct model *m)
{
	struct buf text = {0}, view = {0};
	model_text(m, &text);
	model_query(m, &view);
	const char *wrong = wrong_text(&text, true);
	if (!wrong)
		wrong = wrong_text(&view, false);
	buf_release(&text);
	buf_release(&view);
	return wrong;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static size_t column_of(const struct query_result *r, const char *word)
{
	size_t i = 0;
	while (i < r->column_count && strcmp(r->columns[i].word, word) != 0)
		i++;
	return i < r->column_count ? i : SIZE_MAX;
}

/* Sums of a column over the children of each row; slot row_count is the first level. */
static const char *wrong_level(const struct query_result *r, const char *word, int64_t *sums,
			       bool *has_children)
{
	size_t column = column_of(r, word), self = column_of(r, "self");
	bool adds_up = r->view == VIEW_TREE || r->view == VIEW_FLAME;
	if (column == SIZE_MAX)
		return NULL;
	memset(sums, 0, (r->row_count + 1) * sizeof *sums);
	memset(has_children, 0, r->row_count + 1);
	for (size_t i = 0; i < r->row_count; i++) {
		size_t parent = r->rows[i].depth ? r->rows[i].parent : r->row_count;
		if (parent > r->row_count || (parent == i))
			return say("row %zu of %s has parent %zu", i, r->canonical, parent);
		sums[parent] += r->cells[i * r->column_count + column].value;
		has_children[parent] = true;
	}
	if (has_children[r->row_count] && sums[r->row_count] != r->totals[column].value)
		return say("rows add up to %s %lld of %lld: %.1000s", word,
			   (long long)sums[r->row_count], (long long)r->totals[column].value,
			   r->canonical);
	for (size_t i = 0; i < r->row_count; i++) {
		const struct result_cell *cells = &r->cells[i * r->column_count];
		int64_t limit = cells[column].value;
		if (!has_children[i] || r->is_signed)
			continue;
		bool is_bytes = self != SIZE_MAX && !strcmp(word, "total");
		if (adds_up && is_bytes && sums[i] + cells[self].value != limit)
			return say("row %zu: %s %lld, its own %lld and below it %lld: %.1000s", i,
				   word, (long long)limit, (long long)cells[self].value,
				   (long long)sums[i], r->canonical);
		if (sums[i] > limit)
			return say("row %zu: %s %lld, but below it %lld: %.1000s", i, word,
				   (long long)limit, (long long)sums[i], r->canonical);
	}
	return NULL;
}

/* May a block be in more than one row?  Those of its stack's functions, lines, ... it is all in. */
static bool overlaps(const struct query_result *r)
{
	static const char *const apart[] = {"thread", "size", "lifetime", "birth", "death"};
	for (size_t i = 0; i < r->column_count; i++) {
		bool is_apart = !r->columns[i].is_key;
		for (size_t k = 0; k < sizeof apart / sizeof apart[0]; k++)
			is_apart = is_apart || !strcmp(r->columns[i].word, apart[k]);
		if (!is_apart)
			return true;
	}
	return false;
}

/* Of rows that overlap only what is their own adds up. */
static const char *wrong_table(const struct query_result *r)
{
	static const char *const words[] = {"self", "total", "count", "allocs", "frees"};
	size_t word_count = overlaps(r) ? 1 : sizeof words / sizeof words[0];
	for (size_t k = 0; r->row_count && k < word_count; k++) {
		size_t column = column_of(r, words[k]);
		int64_t sum = 0;
		if (column == SIZE_MAX)
			continue;
		for (size_t i = 0; i < r->row_count; i++)
			sum += r->cells[i * r->column_count + column].value;
		if (sum != r->totals[column].value)
			return say("rows add up to %s %lld of %lld: %.1000s", words[k],
				   (long long)sum, (long long)r->totals[column].value,
				   r->canonical);
	}
	return NULL;
}

static const char *wrong_tree(const struct query_result *r)
{
	static const char *const words[] = {"total", "count", "delta"};
	int64_t *sums = mem_array(r->row_count + 1, sizeof *sums);
	bool *has_children = mem_array(r->row_count + 1, sizeof *has_children);
	const char *wrong = sums && has_children ? NULL : "no memory";
	for (size_t i = 0; !wrong && i < sizeof words / sizeof words[0]; i++)
		wrong = wrong_level(r, words[i], sums, has_children);
	mem_free(sums);
	mem_free(has_children);
	return wrong;
}

static bool drops_rows(const struct model *m)
{
	const struct state *s = model_state(m);
	for (size_t i = 0; i < s->chip_count; i++) {
		if (s->chips[i].is_of_rows)
			return true;
	}
	return false;
}

static const char *wrong_rows(const struct model *m)
{
	static struct {
		uint64_t serial;
		size_t row_count;
	} seen[MODEL_RESULTS_KEPT]; /* a level, once made, stays as it is */
	for (size_t i = 0; i < MODEL_RESULTS_KEPT; i++) {
		if (!m->results[i].opened || drops_rows(m))
			continue;
		const struct query_result *r = query_opened_result(m->results[i].opened);
		if (seen[i].serial == m->results[i].serial && seen[i].row_count == r->row_count)
			continue;
		seen[i].serial = m->results[i].serial;
		seen[i].row_count = r->row_count;
		const char *wrong = NULL;
		if (r->view == VIEW_TREE || r->view == VIEW_FLAME || r->view == VIEW_CALLERS)
			wrong = wrong_tree(r);
		else if (r->view == VIEW_TABLE)
			wrong = wrong_table(r);
		if (wrong)
			return wrong;
	}
	return NULL;
}

/* It may be pasted into a shell. */
static const char *wrong_copy(const struct buf *clipboard)
{
	for (size_t i = 0; i < clipboard->count_bytes && !clipboard->has_failed; i++) {
		unsigned char c = (unsigned char)clipboard->data[i];
		if (c < 0x20 || c == 0x7f)
			return say("byte %02x is copied: %.1000s", c, clipboard->data);
	}
	return NULL;
}

const char *invariants_broken(struct browser *b)
{
	const char *wrong = wrong_grid(&b->grid);
	if (!wrong)
		wrong = wrong_copy(&b->clipboard);
	if (!wrong)
		wrong = wrong_query(&b->model);
	return wrong ? wrong : wrong_rows(&b->model);
}
