/* See answer.h. */
#include "config.h"

#include "src/report/answer.h"

#include "src/base/mem.h"

#include <string.h>

enum neap_err answer_get(struct query_session *s, const char *query, struct answer *out,
			 struct err *e)
{
	struct query_error error = {.code = NEAP_OK};
	*out = (struct answer){.text = mem_strdup(query)};
	if (!out->text)
		return err_nomem(e, "a query");
	enum neap_err code = query_parse(out->text, strlen(out->text), &out->script, &error);
	if (!code)
		code = query_run(s, out->script, 0, &out->result, &error);
	if (!code)
		return NEAP_OK;
	answer_release(out);
	if (code == ERR_NOMEM)
		return err_nomem(e, "the report");
	return err_set(e, code, "the query '%s' failed: %s", query, error.text);
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
