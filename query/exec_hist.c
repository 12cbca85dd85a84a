/*
 * Distributions of a column over the rows that a table would have.
 *
 * Rows are put in order of where their slices begin; those of one slice are a bucket:
 *
 *     by func | hist total      main 5000, parse 4600, put 320
 *     bucket  rows  total
 *        256     1    320
 *       4096     2   5000       a block counts once for its bucket
 *
 * Slices of negative values, in diff and growth, mirror those of positive ones.  Rows that were cut
 * by stages are the row `(other: N rows)`.
 */
#include "config.h"

#include "query/exec.h"

#include <stdlib.h>
#include <string.h>

struct hist_row {
	int64_t start; /* of its slice */
	bool is_unknown;
	uint32_t group;
};

struct hist {
	struct hist_row *rows; /* in order of slices */
	size_t count;
	size_t *first; /* [bucket_count + 1]: first row of each */
	size_t bucket_count;
	uint32_t *bucket_of_group;
	struct values *values; /* by bucket */
};

static void hist_release(struct hist *h)
{
	mem_free(h->rows);
	mem_free(h->first);
	mem_free(h->bucket_of_group);
	mem_free(h->values);
}

/* Unknown values come first, as they do in sorted tables. */
static int compare_starts(const struct hist_row *a, const struct hist_row *b)
{
	if (a->is_unknown || b->is_unknown)
		return (int)b->is_unknown - (int)a->is_unknown;
	return (a->start > b->start) - (a->start < b->start);
}

static int compare_rows(const void *a_row, const void *b_row)
{
	const struct hist_row *a = a_row, *b = b_row;
	int order = compare_starts(a, b);
	return order ? order : (a->group > b->group) - (a->group < b->group);
}

static int64_t start_of(const struct plan_key *bucket, int64_t value)
{
	if (value >= 0)
		return (int64_t)key_slice(bucket, (uint64_t)value);
	return (int64_t)(0 - key_slice(bucket, 0 - (uint64_t)value));
}

static enum neap_err fill_rows(struct exec *x, struct hist *h, const struct row_list *rows)
{
	const struct plan *pl = x->pl;
	bool is_lifetime = pl->hist_column == COL_P50 || pl->hist_column == COL_P99;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < rows->count; i++) {
		struct values v;
		values_of_group(x, rows->groups[i], &v);
		if (is_lifetime)
			code = quantiles_of_set(x, &rows->groups[i], 1, &v);
		struct result_cell cell = column_cell(x, &v, pl->hist_column);
		h->rows[h->count++] = (struct hist_row){
			.start = start_of(&pl->keys[pl->key_count], cell.value),
			.is_unknown = cell.is_unknown,
			.group = rows->groups[i],
		};
	}
	if (!code && h->count)
		qsort(h->rows, h->count, sizeof *h->rows, compare_rows);
	return code;
}

static void find_buckets(struct exec *x, struct hist *h)
{
	memset(h->bucket_of_group, 0xff, x->space.group_count * sizeof *h->bucket_of_group);
	for (size_t i = 0; i < h->count; i++) {
		if (!i || compare_starts(&h->rows[i - 1], &h->rows[i]))
			h->first[h->bucket_count++] = i;
		h->bucket_of_group[h->rows[i].group] = (uint32_t)(h->bucket_count - 1);
	}
	h->first[h->bucket_count] = h->count;
}

/* The groups of one bucket as one. */
static enum neap_err bucket_quantiles(struct exec *x, struct hist *h, size_t bucket)
{
	size_t first = h->first[bucket], count = h->first[bucket + 1] - first;
	uint32_t *groups = mem_array(count, sizeof *groups);
	if (!groups)
		return exec_no_memory(x);
	for (size_t i = 0; i < count; i++)
		groups[i] = h->rows[first + i].group;
	enum neap_err code = quantiles_of_set(x, groups, count, &h->values[bucket]);
	mem_free(groups);
	return code;
}

static enum neap_err hist_build(struct exec *x, struct hist *h, const struct row_list *rows)
{
	h->rows = mem_array(rows->count, sizeof *h->rows);
	h->first = mem_array(rows->count + 1, sizeof *h->first);
	h->bucket_of_group = mem_array(x->space.group_count, sizeof *h->bucket_of_group);
	if (!h->rows || !h->first || !h->bucket_of_group)
		return exec_no_memory(x);
	enum neap_err code = fill_rows(x, h, rows);
	if (code)
		return code;
	find_buckets(x, h);
	h->values = mem_array(h->bucket_count, sizeof *h->values);
	if (!h->values)
		return exec_no_memory(x);
	code = values_of_sets(x, h->bucket_of_group, h->bucket_count, h->values);
	for (size_t i = 0; !code && x->pl->needs_quantiles && i < h->bucket_count; i++)
		code = bucket_quantiles(x, h, i);
	return code;
}

static enum neap_err gather_bucket(struct exec *x, struct gathered *to, struct hist *h,
				   size_t bucket)
{
	const struct plan *pl = x->pl;
	const struct hist_row *first = &h->rows[h->first[bucket]];
	const struct result_row row = {.kind = ROW_PLAIN, .parent = UINT32_MAX};
	struct values *v = &h->values[bucket];
	v->row_count = (int64_t)(h->first[bucket + 1] - h->first[bucket]);
	enum neap_err code = gather_row(x, to, &row, GROUP_NONE, v);
	if (code || first->is_unknown)
		return code;
	struct result_cell *cells = to->cells + (to->row_count - 1) * pl->column_count;
	for (size_t i = 0; i < pl->column_count; i++) {
		if (pl->columns[i].is_key)
			cells[i] = (struct result_cell){.value = first->start,
							.number = (double)first->start};
	}
	return NEAP_OK;
}

enum neap_err gather_hist(struct exec *x, struct gathered *to)
{
	struct row_list rows;
	struct hist h = {.count = 0};
	enum neap_err code = rows_select(x, &rows);
	if (!code)
		code = hist_build(x, &h, &rows);
	for (size_t i = 0; !code && i < h.bucket_count; i++)
		code = gather_bucket(x, to, &h, i);
	if (!code)
		code = gather_other(x, to, &rows, 0, UINT32_MAX);
	x->totals.row_count = (int64_t)(rows.count + rows.other_count);
	rows.count = h.bucket_count;
	if (!code && x->explains_rows)
		explain_rows(x, &rows, x->pl->view_stage);
	hist_release(&h);
	row_list_release(&rows);
	return code;
}
