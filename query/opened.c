/*
 * Queries kept open.
 *
 * The plan and the executor stay as they are after the sums; rows are appended to the result
 * when somebody asks for them.  The granules that the executor borrows stay borrowed.
 */
#include "config.h"

#include "query/opened_priv.h"

#include <string.h>

bool opened_is_tree(const struct query_opened *q)
{
	return q->x.space.kind == SPACE_TREE || q->x.space.kind == SPACE_INVERTED;
}

/* ---- rows ---------------------------------------------------------------------------- */

static void lend_rows(struct query_opened *q)
{
	q->r->rows = q->rows.rows;
	q->r->cells = q->rows.cells;
	q->r->row_count = q->rows.row_count;
}

/* The row that was gathered last is for this group. */
static enum neap_err note_group(struct query_opened *q, uint32_t group)
{
	size_t count = q->rows.row_count;
	if (!vec_reserve((void **)&q->group_of_row, &q->group_cap, count,
			 sizeof *q->group_of_row) ||
	    !vec_reserve((void **)&q->below, &q->below_cap, count, sizeof *q->below))
		return exec_no_memory(&q->x);
	q->group_of_row[count - 1] = group;
	q->below[count - 1] = (struct opened_run){.count = 0};
	return NEAP_OK;
}

static enum neap_err add_group(struct query_opened *q, uint32_t group, uint32_t depth,
			       uint32_t parent)
{
	struct values v;
	const struct result_row row = {.kind = ROW_PLAIN, .depth = depth, .parent = parent};
	enum neap_err code = row_values(&q->x, group, &v);
	if (!code)
		code = gather_row(&q->x, &q->rows, &row, group, &v);
	return code ? code : note_group(q, group);
}

static enum neap_err add_rows(struct query_opened *q, const struct row_list *rows, uint32_t depth,
			      uint32_t parent)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < rows->count; i++)
		code = add_group(q, rows->groups[i], depth, parent);
	if (!code && rows->other_count) {
		code = gather_other(&q->x, &q->rows, rows, depth, parent);
		if (!code)
			code = note_group(q, GROUP_NONE);
	}
	return code;
}

static enum neap_err add_cut(struct query_opened *q)
{
	size_t before = q->rows.row_count;
	enum neap_err code = gather_cut(&q->x, &q->rows, &q->cut);
	if (!code && q->rows.row_count > before)
		code = note_group(q, GROUP_NONE);
	return code;
}

static enum neap_err open_row(struct query_opened *q, uint32_t row)
{
	struct row_list rows = {.count = 0};
	bool is_top = row == OPENED_ROOT;
	uint32_t v = is_top ? VNODE_ROOT : q->group_of_row[row];
	uint32_t first = (uint32_t)q->rows.row_count;
	q->pl.cannot_stop = true; /* from the leaf up, a row can be opened only once */
	enum neap_err code = tree_open(&q->x, v, &rows);
	q->pl.cannot_stop = false;
	if (!code)
		code = add_rows(q, &rows, is_top ? 0 : q->rows.rows[row].depth + 1,
				is_top ? UINT32_MAX : row);
	if (!code && is_top)
		code = add_cut(q);
	row_list_release(&rows);
	if (code) { /* rows without a group must not be seen */
		q->rows.row_count = first;
		lend_rows(q);
		return code;
	}
	struct opened_run run = {first, (uint32_t)q->rows.row_count - first, true};
	if (is_top)
		q->top = run;
	else
		q->below[row] = run;
	lend_rows(q);
	return code;
}

enum neap_err query_opened_children(struct query_opened *q, uint32_t row, uint32_t *first_out,
				    uint32_t *count_out, struct query_error *error)
{
	struct opened_run none = {.is_made = true};
	struct opened_run *run = row == OPENED_ROOT ? &q->top : &q->below[row];
	enum neap_err code = NEAP_OK;
	q->pl.error = error;
	if (row != OPENED_ROOT && (!opened_is_tree(q) || q->group_of_row[row] == GROUP_NONE))
		run = &none;
	if (!run->is_made)
		code = open_row(q, row);
	run = run == &none ? run : row == OPENED_ROOT ? &q->top : &q->below[row];
	*first_out = run->first;
	*count_out = code ? 0 : run->count;
	return code;
}

bool query_opened_has_children(const struct query_opened *q, uint32_t row)
{
	uint32_t v = q->group_of_row[row];
	if (!opened_is_tree(q) || v == GROUP_NONE)
		return false;
	if (q->below[row].is_made)
		return q->below[row].count;
	if (q->x.space.kind == SPACE_INVERTED)
		return inverted_has_more(&q->x, v);
	const uint32_t *end = q->x.space.tree->end;
	for (uint32_t c = v + 1; c < end[v]; c = end[c]) {
		if (row_has_values(&q->x, c))
			return true;
	}
	return false;
}

/* ---- the whole ------------------------------------------------------------------------- */

static enum neap_err gather_flat(struct query_opened *q)
{
	struct row_list rows = {.count = 0};
	enum neap_err code = NEAP_OK;
	switch (q->pl.view) {
	case VIEW_TIMELINE:
		code = gather_timeline(&q->x, &q->rows);
		break;
	case VIEW_SUM:
		code = gather_sum(&q->x, &q->rows);
		break;
	default:
		if (q->pl.is_hist_of_rows) {
			code = gather_hist(&q->x, &q->rows);
			break;
		}
		code = rows_select(&q->x, &rows);
		if (!code)
			code = add_rows(q, &rows, 0, UINT32_MAX);
		row_list_release(&rows);
		break;
	}
	q->top = (struct opened_run){0, (uint32_t)q->rows.row_count, true};
	lend_rows(q);
	return code;
}

/* Rows of time, sums and buckets stand for no group. */
static enum neap_err fill_groups(struct query_opened *q)
{
	size_t count = q->rows.row_count;
	if (!vec_reserve((void **)&q->group_of_row, &q->group_cap, count + 1,
			 sizeof *q->group_of_row) ||
	    !vec_reserve((void **)&q->below, &q->below_cap, count + 1, sizeof *q->below))
		return exec_no_memory(&q->x);
	for (size_t i = 0; i < count; i++) {
		if (q->pl.view == VIEW_TIMELINE || q->pl.view == VIEW_SUM ||
		    q->pl.is_hist_of_rows) {
			q->group_of_row[i] = GROUP_NONE;
			q->below[i] = (struct opened_run){.count = 0};
		}
	}
	return NEAP_OK;
}

static enum neap_err begin(struct query_opened *q)
{
	q->x.pl = q->x.w.pl = &q->pl;
	q->x.out = q->r;
	enum neap_err code = exec_begin(&q->x, &q->cut);
	if (!code && !opened_is_tree(q))
		code = gather_flat(q);
	if (!code)
		code = fill_groups(q);
	return code ? code : exec_make_result(&q->x);
}

enum neap_err query_opened_new(struct query_session *s, const struct ast_script *script,
			       size_t statement_idx, struct query_opened **out,
			       struct query_error *error)
{
	struct query_opened *q = mem_zalloc(sizeof *q);
	*out = NULL;
	if (!q)
		return query_no_memory(error);
	enum neap_err code = plan_build(s, script, statement_idx, &q->pl, error);
	q->r = mem_zalloc(sizeof *q->r);
	if (!code && !q->r)
		code = query_no_memory(error);
	if (!code)
		code = begin(q);
	if (code) {
		query_opened_free(q);
		return code;
	}
	*out = q;
	return NEAP_OK;
}

void query_opened_free(struct query_opened *q)
{
	if (!q)
		return;
	if (q->x.pl)
		exec_release(&q->x);
	plan_release(&q->pl);
	if (q->r) {
		q->r->rows = NULL;
		q->r->cells = NULL;
	}
	query_result_free(q->r);
	mem_free(q->rows.rows);
	mem_free(q->rows.cells);
	mem_free(q->group_of_row);
	mem_free(q->below);
	mem_free(q);
}

const struct query_result *query_opened_result(const struct query_opened *q)
{
	return q->r;
}
