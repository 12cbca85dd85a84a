/* The order of the tree: a `sort` stage, set by keys and by presses on headings. */
#include "config.h"

#include "tui/tree_priv.h"

#include <stdio.h>
#include <string.h>

bool tree_is_sorted_by(const struct browser *b, const char *word, bool *is_ascending)
{
	const char *sort = state_chip(model_state(&b->model), STAGE_SORT);
	size_t bytes = strlen(word);
	*is_ascending = false;
	if (!sort || strncmp(sort + strlen("sort "), word, bytes) != 0)
		return false;
	const char *order = sort + strlen("sort ") + bytes;
	*is_ascending = !strncmp(order, " asc", 4);
	return !*order || *order == ' ' || *order == ',';
}

static void sort_by(struct browser *b, const char *word, bool is_ascending)
{
	struct query_error error = {.code = NEAP_OK};
	char text[64];
	snprintf(text, sizeof text, "sort %s %s", word, is_ascending ? "asc" : "desc");
	browser_tell(b, model_set_stage(&b->model, STAGE_SORT, text, &error), &error);
}

/* What its names are. */
static const char *key_of(const struct tree *t)
{
	const struct query_result *r = tree_result(t);
	return t->name < r->column_count ? r->columns[t->name].word : "func";
}

/* A press on a column's name: by that column; once more: the other way round. */
bool tree_press_heading(const struct tree *t, struct browser *b, unsigned col)
{
	struct area rows = b->view_area;
	if (rows.cols >= TREE_DETAILS_SCREEN)
		rows.cols -= TREE_DETAILS_COLS;
	const struct tree_columns c = tree_lay_out(t, &rows);
	unsigned self = c.self ? c.self : c.share;
	const char *word = col < c.total              ? "total"
			   : col < c.share            ? "share"
			   : c.self && col < self     ? (t->is_inverted ? "avg" : "self")
			   : c.count && col < c.count ? "count"
			   : col >= c.name            ? key_of(t)
						      : NULL;
	bool is_ascending;
	if (!word || col >= rows.cols)
		return false;
	bool is_sorted = tree_is_sorted_by(b, word, &is_ascending);
	sort_by(b, word, is_sorted ? !is_ascending : !strcmp(word, key_of(t)));
	return true;
}

/* The order moves by one column, or turns round. */
void tree_sort(const struct tree *t, struct browser *b, enum action action)
{
	const char *words[4] = {"total"};
	size_t count = 1, at = 0;
	bool is_ascending = false, has_blocks = result_knows(tree_result(t), t->count);
	if (has_blocks || !t->is_inverted)
		words[count++] = t->is_inverted ? "avg" : "self";
	if (has_blocks)
		words[count++] = "count";
	words[count++] = key_of(t);
	while (at < count && !tree_is_sorted_by(b, words[at], &is_ascending))
		at++;
	if (at == count)
		at = 0;
	if (action == ACTION_SORT_REVERSE) {
		sort_by(b, words[at], !is_ascending);
		return;
	}
	at = (at + (action == ACTION_SORT_LEFT ? count - 1 : 1)) % count;
	sort_by(b, words[at], !strcmp(words[at], key_of(t)));
}
