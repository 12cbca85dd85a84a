/* Names by a query each, kept. */
#include "config.h"

#include "tui/names.h"

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

static void list_of(void *arg, enum ast_field field, const char *prefix, size_t bytes,
		    void (*emit)(void *emit_arg, const char *name), void *emit_arg)
{
	const struct query_result *r = result_of(arg, field);
	for (size_t row = 0; r && row < r->row_count; row++) {
		for (size_t c = 0; c < r->column_count; c++) {
			const char *text = r->cells[row * r->column_count + c].text;
			if (r->columns[c].is_key && text && !strncmp(text, prefix, bytes))
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
