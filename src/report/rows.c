/* See rows.h. */
#include "config.h"

#include "src/report/rows.h"

#include "src/base/mem.h"

#include <assert.h>
#include <string.h>

void rows_release(struct rows *r)
{
	mem_free(r->rows);
	*r = (struct rows){0};
}

int64_t row_value(struct graph_sum sum, enum row_key key)
{
	return key == ROW_BYTES ? sum.bytes : sum.blocks;
}

int row_compare_sums(struct graph_sum a, struct graph_sum b, enum row_key key)
{
	enum row_key other = key == ROW_BYTES ? ROW_BLOCKS : ROW_BYTES;
	int64_t a_value = row_value(a, key), b_value = row_value(b, key);
	if (a_value == b_value) {
		a_value = row_value(a, other);
		b_value = row_value(b, other);
	}
	return (a_value < b_value) - (a_value > b_value);
}

static int api_of(const struct answer *a, size_t row)
{
	const struct result_cell *cell = answer_cell(a, row, "api");
	if (!cell)
		return ROW_ANY_API;
	for (int api = API_UNKNOWN + 1; !cell->is_unknown && api < API_COUNT; api++) {
		if (!strcmp(cell->text, profile_api_name((enum profile_api)api)))
			return api;
	}
	return API_UNKNOWN;
}

enum neap_err rows_take(const struct answer *a, struct rows *out, struct err *e)
{
	const struct query_result *r = a->result;
	*out = (struct rows){.rows = mem_zarray(r->row_count, sizeof *out->rows)};
	if (!out->rows)
		return err_nomem(e, "the report");
	out->total = answer_total(a);
	for (size_t i = 0; i < r->row_count; i++) {
		struct graph_sum sum = answer_sum(a, i, "total");
		if (r->rows[i].kind == ROW_OTHER) {
			out->other = sum;
			out->other_count = r->rows[i].count;
			continue;
		}
		struct row *row = &out->rows[out->count++];
		*row = (struct row){.entry = answer_entry(a, i), .api = api_of(a, i), .sum = sum};
		assert(row->entry != ENTRY_NONE); /* the query is by func */
	}
	return NEAP_OK;
}
