/* Names by a query each, kept. */
#include "config.h"

#include "tui/names.h"

#include <ctype.h>
#include <string.h>

void names_release(struct name_lists *n)
{
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		query_result_free(n->of[i]);
		n->of[i] = NULL;
	}
}

static const struct query_result *result_of(struct name_lists *n, enum ast_field field)
{
	static const char *const queries[FIELD_COUNT] = {
		[FIELD_FUNC] = "allocated | by func | sort total desc",
		[FIELD_FILE] = "allocated | by file | sort total desc",
		[FIELD_MODULE] = "allocated | by module | sort total desc",
		[FIELD_THREAD] = "allocated | by thread | sort total desc",
		[FIELD_TYPE] = "allocated | by type | sort total desc",
		[FIELD_API] = "allocated | by api | sort total desc",
	};
	struct ast_script *script = NULL;
	struct query_error error;
	const char *query = field < FIELD_COUNT ? queries[field] : NULL;
	if (!query || n->of[field])
		return query ? n->of[field] : NULL;
	if (!query_parse(query, strlen(query), &script, &error) &&
	    query_run(n->session, script, 0, &n->of[field], &error))
		n->of[field] = NULL;
	query_script_free(script);
	return n->of[field];
}

/* Does a word in the name begin so: the name of a function behind its namespaces, say? */
static bool has_word(const char *name, const char *prefix, size_t bytes)
{
	for (const char *at = name + 1; bytes && *name && *at; at++) {
		bool is_start = !isalnum((unsigned char)at[-1]) && at[-1] != '_';
		if (is_start && !strncmp(at, prefix, bytes))
			return true;
	}
	return false;
}

/* What begins so comes before what has it in its middle. */
static void list_of(void *arg, enum ast_field field, const char *prefix, size_t bytes,
		    void (*emit)(void *emit_arg, const char *name), void *emit_arg)
{
	const struct query_result *r = result_of(arg, field);
	size_t key = 0;
	while (r && key < r->column_count && !r->columns[key].is_key)
		key++;
	for (int pass = 0; r && key < r->column_count && pass < 2; pass++) {
		for (size_t row = 0; row < r->row_count; row++) {
			const char *text = r->cells[row * r->column_count + key].text;
			bool is_first = text && !strncmp(text, prefix, bytes);
			if (text && (pass ? !is_first && has_word(text, prefix, bytes) : is_first))
				emit(emit_arg, text);
		}
	}
}

enum neap_err names_complete(struct name_lists *n, const char *text, size_t bytes, struct buf *out,
			     struct err *e)
{
	const struct query_names names = {.list = list_of, .arg = n};
	return query_complete(text, bytes, &names, out, e);
}
