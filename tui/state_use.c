/*
 * Which parts of a query a screen uses.  All are kept: a column that the table is sorted by may be
 * none of the tree, and is one again back in the table.
 */
#include "config.h"

#include "tui/model.h"

#include <string.h>

#include "query/vocab.h"

static bool is_tree(const struct state *s)
{
	return s->screen == SCREEN_TREE || s->screen == SCREEN_FLAME;
}

static bool shows_rows_of_hist(const struct state *s)
{
	return s->screen == SCREEN_SIZES && has_rows_of_keys(s);
}

/* Screens of classes over time, and those that show all rows, have none to choose or to order. */
static bool shows_all_rows(const struct state *s)
{
	return s->screen == SCREEN_TIME || s->screen == SCREEN_BUTTERFLY ||
	       (s->screen == SCREEN_SIZES && !has_rows_of_keys(s));
}

/* The word at the start of a list, without its bucket or its order; *rest_out: the others. */
static size_t next_word(const char *list, const char **rest_out)
{
	size_t bytes = strcspn(list, ":, ");
	*rest_out = list + strcspn(list, ",");
	*rest_out += strspn(*rest_out, ", ");
	return bytes;
}

static bool has_word(const char *list, const char *word, size_t bytes)
{
	for (const char *rest; *list; list = rest) {
		size_t here = next_word(list, &rest);
		if (here == bytes && !memcmp(list, word, bytes))
			return true;
	}
	return false;
}

bool query_is_of_frames(const char *keys)
{
	static const char words[] = "func, line, file, module, class, addr";
	for (const char *rest; *keys; keys = rest) {
		size_t bytes = next_word(keys, &rest);
		if (!has_word(words, keys, bytes))
			return false;
	}
	return true;
}

/* Those that the rows of a screen have. */
static const char *keys_of(const struct state *s)
{
	const char *by = state_chip(s, STAGE_BY);
	const char *keys = by ? by + strlen("by ") : "func";
	if (state_own_keys(s))
		return state_own_keys(s);
	if (s->screen == SCREEN_SOURCE)
		return "file, line";
	return is_tree(s) && !query_is_of_frames(keys) ? "func" : keys;
}

static bool is_of_difference(const struct state *s)
{
	enum graph_pop pop = query_population(s->head);
	return pop == POP_COUNT || pop == POP_GROWTH;
}

/* Has the screen these columns and keys? */
static bool can_sort(const struct state *s, const char *columns)
{
	for (const char *rest; *columns; columns = rest) {
		size_t bytes = next_word(columns, &rest);
		bool is_of_two = has_word("a, b, delta", columns, bytes);
		if (is_of_two && !is_of_difference(s))
			return false;
		if (!vocab_find(&vocab_columns, columns, bytes) &&
		    !has_word(keys_of(s), columns, bytes))
			return false;
	}
	return true;
}

bool state_uses(const struct state *s, const struct chip *c)
{
	switch (c->kind) {
	case STAGE_HIDE:
	case STAGE_ZOOM:
	case STAGE_TRIM:
	case STAGE_COLLAPSE:
	case STAGE_PERCENT:
		return true;
	case STAGE_WHERE:
		return !c->is_of_rows || !shows_all_rows(s);
	case STAGE_SELECT:
		return s->screen == SCREEN_TABLE || shows_rows_of_hist(s);
	case STAGE_BY:
		return s->screen == SCREEN_TABLE || s->screen == SCREEN_TIME ||
		       shows_rows_of_hist(s) ||
		       (is_tree(s) && query_is_of_frames(c->text + strlen("by ")));
	case STAGE_SORT:
		return !shows_all_rows(s) && can_sort(s, c->text + strlen("sort "));
	default:
		return !shows_all_rows(s);
	}
}
