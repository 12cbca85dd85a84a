/* Keys on rows of tables.  A row is opened by making its keys a condition of the tree. */
#include "config.h"

#include "tui/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "query/vocab.h"
#include "tui/browser.h"
#include "tui/only_thread.h"
#include "tui/show.h"

static bool is_any(const char *word, const char *const *words)
{
	while (*words && strcmp(word, *words) != 0)
		words++;
	return *words;
}

/* A row of `size:64` has 64 sizes, from its own on; other buckets have no condition here. */
static bool put_size(const struct browser *b, int64_t bytes, struct buf *out)
{
	const char *by = state_chip(model_state(&b->model), STAGE_BY);
	const char *bucket = by ? strstr(by, "size:") : NULL;
	char *end;
	if (!bucket) {
		buf_printf(out, "size=%" PRId64, bytes);
		return true;
	}
	unsigned long many = strtoul(bucket + strlen("size:"), &end, 10);
	if (!many || many > UINT32_MAX || (*end && *end != ',') || bytes > INT64_MAX / 2)
		return false;
	buf_printf(out, "size in %" PRId64 "..%" PRId64, bytes, bytes + (int64_t)many - 1);
	return true;
}

/* False: no condition says it, as for what is not known. */
static bool put_key(const struct browser *b, const struct result_column *c,
		    const struct result_cell *cell, struct buf *out)
{
	static const char *const texts[] = {"func", "file", "module", "type", "api", NULL};
	const char *field = key_field(c->word);
	bool is_missing = field != c->word && cell->text && !strcmp(cell->text, "[none]");
	if (cell->is_unknown || is_missing)
		return false;
	if (!strcmp(c->word, "thread") && cell->text) {
		only_thread_put(b, cell->text, out);
		return true;
	}
	if (is_any(field, texts) && cell->text) {
		buf_printf(out, "%s=", c->word);
		query_quote(out, cell->text);
		return true;
	}
	if (!strcmp(c->word, "size"))
		return put_size(b, cell->value, out);
	if (strcmp(field, "line") != 0 || cell->value <= 0)
		return false;
	buf_printf(out, "%s=%" PRId64, c->word, cell->value);
	return true;
}

static const char *const frame_words[] = {"func", "file", "line", "module", NULL};

/* Beside keys of allocations those of frames are of the leaf. */
static bool is_of_leaf(const struct query_result *r)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (r->columns[i].is_key && !is_any(r->columns[i].word, frame_words))
			return true;
	}
	return false;
}

/* Those of frames are all of the same frame. */
static bool put_keys(const struct browser *b, const struct query_result *r, size_t row,
		     bool of_frames, struct buf *out)
{
	const struct result_cell *cells = &r->cells[row * r->column_count];
	struct buf keys = {0};
	size_t count = 0;
	bool is_good = true;
	for (size_t i = 0; is_good && i < r->column_count; i++) {
		const struct result_column *c = &r->columns[i];
		if (!c->is_key || c->is_hidden || is_any(c->word, frame_words) != of_frames)
			continue;
		buf_puts(&keys, count++ ? " " : "");
		is_good = put_key(b, c, &cells[i], &keys);
	}
	const char *frame = !of_frames ? "" : is_of_leaf(r) ? "leaf" : count > 1 ? "any" : "";
	if (is_good && count)
		buf_printf(out, *frame ? "%s%s[%s]" : "%s%s%s", out->count_bytes ? " " : "", frame,
			   keys.data ? keys.data : "");
	is_good = is_good && !keys.has_failed;
	buf_release(&keys);
	return is_good;
}

/* The keys are said now, and rows of the tree are others. */
static void drop_rows(struct state *s)
{
	for (size_t i = s->chip_count; i-- > 0;) {
		if (s->chips[i].kind == STAGE_BY || s->chips[i].is_of_rows)
			state_remove_chip(s, i);
	}
}

void table_open(struct browser *b, const struct query_result *r, size_t row)
{
	struct query_error error = {.code = NEAP_OK};
	struct buf keys = {0}, where = {0};
	if (r->rows[row].kind == ROW_OTHER) {
		browser_tell(b, model_set_stage(&b->model, STAGE_MIN, NULL, &error), &error);
		return;
	}
	bool is_good = put_keys(b, r, row, true, &keys) && put_keys(b, r, row, false, &keys) &&
		       keys.count_bytes && !keys.has_failed;
	if (is_good)
		buf_printf(&where, "where %s", keys.data);
	struct state *s = is_good ? model_edit(&b->model) : NULL;
	if (!is_good) {
		browser_say(b, ROLE_DIM, "no condition says what is in this row alone");
	} else if (s && !where.has_failed && state_add_chip(s, STAGE_WHERE, where.data)) {
		drop_rows(s);
		s->screen = SCREEN_TREE;
		browser_tell(b, model_commit(&b->model, s, &error), &error);
	} else {
		state_free(s);
		browser_say(b, ROLE_ERROR, "out of memory");
	}
	buf_release(&keys);
	buf_release(&where);
}

/* ---- other keys ----------------------------------------------------------------------------- */

void table_next_keys(struct browser *b)
{
	static const char *const order[] = {"by func",  "by func, line", "by file",   "by module",
					    "by class", "by thread",     "by size:2", "by api"};
	struct query_error error = {.code = NEAP_OK};
	const char *now = state_chip(model_state(&b->model), STAGE_BY);
	size_t count = sizeof order / sizeof order[0], at = 0;
	while (now && at < count && strcmp(order[at], now) != 0)
		at++;
	browser_tell(b, model_set_stage(&b->model, STAGE_BY, order[(at + 1) % count], &error),
		     &error);
}

bool table_only_thread(const void *t, struct browser *b)
{
	static const char *const words[] = {"file", "module", "api"};
	struct buf condition = {0};
	const char *key = table_key(t, "thread");
	if (key) {
		only_thread_named(b, key);
		return true;
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		key = table_key(t, words[i]);
		if (!key || table_key(t, "func"))
			continue;
		buf_printf(&condition, "%s=", words[i]);
		query_quote(&condition, key);
		if (!condition.has_failed)
			only_thread_where(b, condition.data);
		buf_release(&condition);
		return true;
	}
	if (table_key(t, "func"))
		return false;
	browser_say(b, ROLE_DIM, "t is for rows of functions, files, modules and threads");
	return true;
}
