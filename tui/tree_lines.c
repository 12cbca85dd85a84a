/* Lines of the tree: which are open, and which were. */
#include "config.h"

#include "tui/tree_priv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"

#define CHAIN_SHARE 0.5 /* the heaviest chain goes on while a child has that part of its parent */
#define EXPAND_MOST 2000u
#define FOLDS_MOST  4000u /* kept from one time to the next */

const struct query_result *tree_result(const struct tree *t)
{
	return query_opened_result(t->q);
}

bool tree_is_other(const struct tree *t, uint32_t row)
{
	return tree_result(t)->rows[row].kind == ROW_OTHER;
}

/* Lines of the same keys are the same line. */
static uint64_t path_of(const struct tree *t, uint64_t parent, uint32_t row)
{
	uint64_t hash = ROW_HASH_START ^ parent * ROW_HASH_PRIME;
	if (!tree_is_other(t, row))
		return row_hash(hash, tree_result(t), row) & INT64_MAX;
	for (const char *p = "(other)"; *p; p++)
		hash = (hash ^ (unsigned char)*p) * ROW_HASH_PRIME;
	return hash & INT64_MAX;
}

/* ---- opening ----------------------------------------------------------------------------- */

enum neap_err tree_insert_below(struct tree *t, size_t at, uint32_t row, uint32_t depth,
				struct query_error *error)
{
	uint32_t first, count;
	enum neap_err code = query_opened_children(t->q, row, &first, &count, error);
	if (code || !count)
		return code;
	if (!vec_reserve((void **)&t->lines, &t->line_cap, t->list.count + count,
			 sizeof *t->lines)) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	memmove(&t->lines[at + count], &t->lines[at], (t->list.count - at) * sizeof *t->lines);
	uint64_t parent = depth ? t->lines[at - 1].path : 0;
	for (uint32_t i = 0; i < count; i++)
		t->lines[at + i] = (struct tree_line){
			.row = first + i, .depth = depth, .path = path_of(t, parent, first + i)};
	t->list.count += count;
	return NEAP_OK;
}

bool tree_can_open(const struct tree *t, size_t at)
{
	return query_opened_has_children(t->q, t->lines[at].row);
}

enum neap_err tree_open_line(struct tree *t, size_t at, struct query_error *error)
{
	const struct tree_line *l = &t->lines[at];
	if (l->is_open || !tree_can_open(t, at))
		return NEAP_OK;
	enum neap_err code = tree_insert_below(t, at + 1, l->row, l->depth + 1, error);
	t->lines[at].is_open = !code;
	return code;
}

size_t tree_end_below(const struct tree *t, size_t at)
{
	size_t end = at + 1;
	while (end < t->list.count && t->lines[end].depth > t->lines[at].depth)
		end++;
	return end;
}

void tree_close_line(struct tree *t, size_t at)
{
	size_t end = tree_end_below(t, at);
	t->lines[at].is_open = false;
	memmove(&t->lines[at + 1], &t->lines[end], (t->list.count - end) * sizeof *t->lines);
	t->list.count -= end - at - 1;
	if (t->list.selected > at && t->list.selected < end)
		t->list.selected = at;
	else if (t->list.selected >= end)
		t->list.selected -= end - at - 1;
}

size_t tree_open_chain(struct tree *t, size_t at, struct query_error *error)
{
	for (unsigned i = 0; i < EXPAND_MOST && tree_can_open(t, at); i++) {
		int64_t parent = result_value(tree_result(t), t->lines[at].row, t->total);
		if (tree_open_line(t, at, error))
			break;
		if (at + 1 >= t->list.count || t->lines[at + 1].depth <= t->lines[at].depth)
			break;
		int64_t child = result_value(tree_result(t), t->lines[at + 1].row, t->total);
		if (tree_is_other(t, t->lines[at + 1].row) ||
		    (double)child < CHAIN_SHARE * (double)parent)
			break;
		at++;
	}
	return at;
}

size_t tree_parent(const struct tree *t, size_t at)
{
	uint32_t depth = t->lines[at].depth;
	while (at > 0 && t->lines[at].depth >= depth)
		at--;
	return at;
}

/* ---- what was open before --------------------------------------------------------------------- */

/* What is on the screen has to be the same after another query, as far as it is still there. */
bool tree_keep_open(struct tree *t)
{
	if (t->has_taken) {
		t->has_taken = false;
		return true;
	}
	if (!t->q) /* the load before failed: what was open before it */
		return true;
	map_clear(&t->open);
	t->selected_path = 0;
	t->root_path = t->list.count ? t->lines[0].path : 0;
	if (t->list.selected < t->list.count)
		t->selected_path = t->lines[t->list.selected].path;
	for (size_t i = 0; i < t->list.count; i++) {
		if (t->lines[i].is_open && !map_put(&t->open, t->lines[i].path, 1))
			return false;
	}
	return true;
}

/* The selected line, or the nearest one above it that is still there. */
bool tree_restore_open(struct tree *t, struct query_error *error)
{
	bool has_opened = false;
	t->list.selected = 0;
	for (size_t i = 0; i < t->list.count; i++) {
		if (t->lines[i].path == t->selected_path)
			t->list.selected = i;
		if (map_find(&t->open, t->lines[i].path) == MAP_ABSENT)
			continue;
		has_opened = true;
		if (tree_open_line(t, i, error))
			break;
	}
	return has_opened;
}

/* The selected path, then the open ones, as hexadecimal numbers. */
static void put_folds(const struct tree *t, size_t most, struct buf *out)
{
	size_t count = 0;
	if (t->list.selected >= t->list.count)
		return;
	buf_printf(out, "%" PRIx64, t->lines[t->list.selected].path);
	for (size_t i = 0; i < t->list.count && count < most; i++) {
		if (!t->lines[i].is_open)
			continue;
		buf_printf(out, " %" PRIx64, t->lines[i].path);
		count++;
	}
}

void tree_save_folds(const void *self, struct buf *out)
{
	put_folds(self, FOLDS_MOST, out);
}

static void parse_folds(struct tree *t, const char *text, size_t most)
{
	char *end;
	t->selected_path = strtoull(text, &end, 16) & INT64_MAX;
	for (size_t i = 0; *end == ' ' && i < most; i++) {
		const char *at = end + 1;
		uint64_t path = strtoull(at, &end, 16) & INT64_MAX;
		if (end == at || !map_put(&t->open, path, 1))
			break;
	}
}

void tree_take_folds(void *self, const char *text)
{
	struct tree *t = self;
	parse_folds(t, text, FOLDS_MOST);
	t->has_taken = true;
}

void tree_save_spot(const void *self, struct buf *out)
{
	const struct tree *t = self;
	list_save_spot(&t->list, out);
	put_folds(t, SIZE_MAX, out);
}

/* What cannot be opened now stays closed, as with any load. */
void tree_take_spot(void *self, const char *text)
{
	struct tree *t = self;
	struct query_error ignored = {.code = NEAP_OK};
	struct list was = {.count = 0};
	if (!t->list.count)
		return;
	text = list_take_spot(&was, text);
	map_clear(&t->open);
	parse_folds(t, text, SIZE_MAX);
	t->list.count = 0;
	if (!tree_insert_below(t, 0, OPENED_ROOT, 0, &ignored))
		tree_restore_open(t, &ignored);
	t->list.top = was.top;
}
