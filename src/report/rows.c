/* Gathering leaf nodes into places, and ranking them. */
#include "config.h"

#include "src/report/rows.h"

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/report/name.h"
#include "src/report/paths.h"

#include <stdlib.h>
#include <string.h>

void rows_release(struct rows *r)
{
	mem_free(r->rows);
	*r = (struct rows){0};
}

enum neap_err row_maker_init(struct row_maker *m, struct graph *g, struct err *e)
{
	const struct profile *p = graph_profile(g);
	*m = (struct row_maker){
		.g = g,
		.cohorts = mem_array(p->cohort_count, sizeof *m->cohorts),
		.self = mem_array(p->node_count, sizeof *m->self),
		.leaves = mem_array(p->node_count, sizeof *m->leaves),
	};
	if (!m->cohorts || !m->self || !m->leaves) {
		row_maker_release(m);
		return err_nomem(e, "the report");
	}
	enum neap_err code = graph_group(g, GROUP_BY_LINE, &m->places, e);
	if (code)
		row_maker_release(m);
	return code;
}

void row_maker_release(struct row_maker *m)
{
	graph_groups_free(m->places);
	mem_free(m->cohorts);
	mem_free(m->self);
	mem_free(m->leaves);
	*m = (struct row_maker){0};
}

int64_t row_value(struct graph_sum sum, enum row_key key)
{
	return key == ROW_BYTES ? sum.bytes : sum.blocks;
}

static int64_t other_value(struct graph_sum sum, enum row_key key)
{
	return key == ROW_BYTES ? sum.blocks : sum.bytes;
}

int row_compare_sums(struct graph_sum a, struct graph_sum b, enum row_key key)
{
	int64_t a_value = row_value(a, key), b_value = row_value(b, key);
	if (a_value != b_value)
		return a_value > b_value ? -1 : 1;
	a_value = other_value(a, key);
	b_value = other_value(b, key);
	return a_value == b_value ? 0 : a_value > b_value ? -1 : 1;
}

struct order {
	const struct graph *g;
	enum row_key key;
};

static int compare_rows(const void *left, const void *right, void *context)
{
	const struct order *order = context;
	const struct row *a = left, *b = right;
	int result = row_compare_sums(a->sum, b->sum, order->key);
	if (result)
		return result;
	struct graph_frame a_frame = graph_entry(order->g, a->entry);
	struct graph_frame b_frame = graph_entry(order->g, b->entry);
	result = name_compare(&a_frame, &b_frame);
	return result ? result : (a->entry > b->entry) - (a->entry < b->entry);
}

static void rank(const struct graph *g, enum row_key key, struct rows *r)
{
	struct order order = {.g = g, .key = key};
	if (r->count)
		qsort_r(r->rows, r->count, sizeof *r->rows, compare_rows, &order);
}

static void gather(const struct row_maker *m, struct row *by_group)
{
	const struct profile *p = graph_profile(m->g);
	for (node_id n = 0; n < p->node_count; n++) {
		struct graph_sum sum = m->leaves[n];
		if (!sum.blocks && !sum.bytes)
			continue;
		entry_id entry = graph_leaf_entry(m->g, n);
		struct row *row = &by_group[graph_group_of(m->places, entry)];
		if (!row->path_count++)
			row->entry = entry;
		row->sum.blocks += sum.blocks;
		row->sum.bytes += sum.bytes;
	}
}

enum neap_err rows_build(struct row_maker *m, enum graph_pop pop, enum row_key key,
			 size_t top_count, struct rows *out, struct err *e)
{
	return rows_build_in(m, pop, graph_whole_run(m->g), key, top_count, out, e);
}

enum neap_err rows_build_in(struct row_maker *m, enum graph_pop pop, struct graph_window window,
			    enum row_key key, size_t top_count, struct rows *out, struct err *e)
{
	*out = (struct rows){0};
	size_t group_count = graph_group_count(m->places);
	struct row *rows = mem_zarray(group_count, sizeof *rows);
	if (!rows)
		return err_nomem(e, "the report");
	graph_pop_cohorts(m->g, pop, window, m->cohorts);
	graph_sum_nodes(m->g, m->cohorts, m->self);
	graph_sum_leaves(m->g, m->self, m->leaves);
	gather(m, rows);
	for (size_t group = 0; group < group_count; group++) {
		if (rows[group].path_count)
			rows[out->count++] = rows[group];
	}
	out->rows = rows;
	out->total = graph_add_up(m->cohorts, graph_profile(m->g)->cohort_count);
	rank(m->g, key, out);
	enum neap_err code =
		paths_choose(m, key, rows, top_count < out->count ? top_count : out->count, e);
	if (code)
		rows_release(out);
	return code;
}

enum neap_err rows_by_function(const struct graph *g, const struct rows *places, enum row_key key,
			       struct rows *out, struct err *e)
{
	struct map seen = {0};
	*out = (struct rows){.total = places->total};
	out->rows = mem_zarray(places->count, sizeof *out->rows);
	bool is_complete = out->rows != NULL;
	for (size_t i = 0; is_complete && i < places->count; i++) {
		uint64_t function = caller_key(g, places->rows[i].entry);
		uint32_t at = map_find(&seen, function);
		if (at == MAP_ABSENT) {
			at = (uint32_t)out->count++;
			out->rows[at].entry = places->rows[i].entry;
			is_complete = map_put(&seen, function, at);
		}
		out->rows[at].sum.blocks += places->rows[i].sum.blocks;
		out->rows[at].sum.bytes += places->rows[i].sum.bytes;
	}
	map_release(&seen);
	if (!is_complete) {
		rows_release(out);
		return err_nomem(e, "the report");
	}
	rank(g, key, out);
	return NEAP_OK;
}
