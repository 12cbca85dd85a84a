/* See answer.h. */
#include "config.h"

#include "src/report/answer.h"

#include "src/base/mem.h"

#include <string.h>

static enum neap_err parse(struct answer *a, const char *query, struct query_error *error)
{
	a->text = mem_strdup(query);
	return a->text ? query_parse(a->text, strlen(a->text), &a->script, error) : ERR_NOMEM;
}

enum neap_err answers_get(struct query_session *s, const char *const *queries, size_t count,
			  struct answer *out, struct err *e)
{
	struct query_error error = {.code = NEAP_OK};
	struct ast_script *scripts[ANSWERS_MOST] = {NULL};
	struct query_result *results[ANSWERS_MOST] = {NULL};
	enum neap_err code = NEAP_OK;
	memset(out, 0, count * sizeof *out);
	for (size_t i = 0; !code && i < count; i++) {
		code = parse(&out[i], queries[i], &error);
		scripts[i] = out[i].script;
	}
	if (!code)
		code = query_run_alike(s, scripts, count, results, &error);
	for (size_t i = 0; i < count; i++) {
		if (code)
			answer_release(&out[i]);
		else
			out[i].result = results[i];
	}
	if (code == ERR_NOMEM)
		return err_nomem(e, "the report");
	return code ? err_set(e, code, "the query '%s' failed: %s", queries[0], error.text)
		    : NEAP_OK;
}

enum neap_err answer_get(struct query_session *s, const char *query, struct answer *out,
			 struct err *e)
{
	return answers_get(s, &query, 1, out, e);
}

void answer_release(struct answer *a)
{
	query_result_free(a->result);
	query_script_free(a->script);
	mem_free(a->text);
	*a = (struct answer){.text = NULL};
}

static const struct result_cell *find_cell(const struct query_result *r,
					   const struct result_cell *cells, const char *column)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, column))
			return &cells[i];
	}
	return NULL;
}

const struct result_cell *answer_cell(const struct answer *a, size_t row, const char *column)
{
	const struct query_result *r = a->result;
	return find_cell(r, &r->cells[row * r->column_count], column);
}

static struct graph_sum sum_of(const struct query_result *r, const struct result_cell *cells,
			       const char *column)
{
	const struct result_cell *bytes = find_cell(r, cells, column);
	const struct result_cell *blocks = find_cell(r, cells, "count");
	return (struct graph_sum){.bytes = bytes ? bytes->value : 0,
				  .blocks = blocks ? blocks->value : 0};
}

struct graph_sum answer_sum(const struct answer *a, size_t row, const char *column)
{
	return sum_of(a->result, &a->result->cells[row * a->result->column_count], column);
}

struct graph_sum answer_total(const struct answer *a)
{
	return sum_of(a->result, a->result->totals, "total");
}

entry_id answer_entry(const struct answer *a, size_t row)
{
	const struct result_row *r = &a->result->rows[row];
	return r->frame_count ? r->frames[0] : ENTRY_NONE;
}
