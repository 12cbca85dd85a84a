/*
 * Stages that act on rows: where, sort, top, bottom, limit, min.
 *
 * Tables have all groups as rows; in trees the stages act on the children of each row.  Rows
 * that are cut away are kept apart, for the row `(other: N rows)`; rows that `where` refuses
 * are gone.
 *
 *   top N      the first N in the order so far; with `by COL`, of the order by COL, largest first
 *   bottom N   the last N, from the end; with `by COL` the smallest first
 *   limit N    the first N
 *   min X      by total for sizes, by count for numbers, by share for percentages; of signed
 *              values the magnitude counts
 *
 * Without `sort`: by total, tables of frames by self, largest first; slices of time and sizes
 * from the first to the last.  Equal rows follow their keys.
 */
#include "config.h"

#include "query/exec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one row --------------------------------------------------------------------------- */

struct sort_key {
	struct plan_column column;
	bool is_ascending;
};
struct sort_keys {
	const struct sort_key *by;
	size_t count;
};

enum neap_err row_values(struct exec *x, uint32_t group, struct values *out)
{
	values_of_group(x, group, out);
	return x->pl->needs_quantiles ? quantiles_of_set(x, &group, 1, out) : NEAP_OK;
}

static struct result_cell row_key(struct exec *x, uint32_t group, size_t key)
{
	const struct group *g = space_group(x, group);
	return g ? group_key(x, g, key) : (struct result_cell){.is_unknown = true};
}

/* Columns of most rows that are sorted or cut: without the other values of their groups. */
static bool plain_cell(const struct exec *x, uint32_t group, enum ast_column c,
		       struct result_cell *out)
{
	if (x->pl->side_count == 2 || !known_has_column(x->pl, c))
		return false;
	struct graph_sum self = {0, 0}, total = {0, 0};
	if (c == COL_SELF)
		self = self_of_group(x, 0, MEASURE_MAIN, group);
	else
		total = total_of_group(x, 0, MEASURE_MAIN, group);
	return flat_value(&self, &total, x->base_bytes, c, out);
}

static enum neap_err row_cell(struct exec *x, uint32_t group, const struct plan_column *c,
			      struct result_cell *out)
{
	struct values v;
	if (c->is_key) {
		*out = row_key(x, group, c->key);
		return NEAP_OK;
	}
	enum neap_err code = NEAP_OK;
	if (plain_cell(x, group, c->column, out))
		return code;
	values_of_group(x, group, &v);
	if (c->column == COL_P50 || c->column == COL_P99)
		code = quantiles_of_set(x, &group, 1, &v); /* dear: not for other columns */
	*out = column_cell(x, &v, c->column);
	return code;
}

static bool is_something(const struct graph_sum *v)
{
	return v->blocks || v->bytes;
}

/* Is there anything of a measure on a side? */
static bool side_has_any(const struct exec *x, size_t side, size_t m, uint32_t group)
{
	struct graph_sum self = self_of_group(x, side, (enum measure)m, group),
			 total = total_of_group(x, side, (enum measure)m, group);
	return is_something(&self) || is_something(&total);
}

/* Rates over windows of different lengths differ though equally much was allocated. */
static bool has_rates(const struct exec *x, size_t m)
{
	const struct plan_side *sides = x->pl->sides;
	return x->pl->compares_rates && m == MEASURE_ALLOCS &&
	       sides[0].seconds_ns != sides[1].seconds_ns;
}

static bool has_measure(const struct exec *x, size_t m, uint32_t group)
{
	if (x->pl->side_count == 1)
		return side_has_any(x, 0, m, group);
	if (has_rates(x, m))
		return side_has_any(x, 0, m, group) || side_has_any(x, 1, m, group);
	enum measure of = (enum measure)m;
	struct graph_sum self = self_of_group(x, 1, of, group),
			 total = total_of_group(x, 1, of, group);
	struct graph_sum self_before = self_of_group(x, 0, of, group),
			 total_before = total_of_group(x, 0, of, group);
	sum_take(&self, &self_before);
	sum_take(&total, &total_before);
	return is_something(&self) || is_something(&total);
}

/* Also if only what its other columns count is there: rows have to add up in every column. */
bool row_has_values(const struct exec *x, uint32_t group)
{
	for (size_t m = 0; m < MEASURE_COUNT; m++) {
		if (x->pl->has_rows_of[m] && has_measure(x, m, group))
			return true;
	}
	return false;
}

/* Groups of which each side has as much are no rows, but a and b of the total line count them. */
static bool counts_unchanged(const struct exec *x)
{
	const struct plan *pl = x->pl;
	bool shows_sides = false;
	for (size_t i = 0; i < pl->column_count; i++)
		shows_sides = shows_sides ||
			      (!pl->columns[i].is_key &&
			       (pl->columns[i].column == COL_A || pl->columns[i].column == COL_B));
	for (size_t i = 0; i < pl->row_stages.count; i++) {
		const struct ast_stage *stage = pl->row_stages.items[i];
		shows_sides = shows_sides && stage->kind != STAGE_WHERE; /* it would refuse some */
	}
	bool adds_up = x->space.kind == SPACE_FLAT && pl->view != VIEW_PEEK;
	return shows_sides && (adds_up || pl->view == VIEW_SUM);
}

static bool is_unchanged(const struct exec *x, uint32_t group)
{
	return !row_has_values(x, group) && side_has_any(x, 0, MEASURE_MAIN, group);
}

/* ---- order --------------------------------------------------------------------------------- */

/* Unknown values are smaller than all others. */
static int compare_cells(const struct result_cell *a, const struct result_cell *b, bool is_text,
			 bool is_real)
{
	if (a->is_unknown || b->is_unknown)
		return (int)b->is_unknown - (int)a->is_unknown;
	if (is_text)
		return strcmp(a->text, b->text);
	if (is_real)
		return (a->number > b->number) - (a->number < b->number);
	return (a->value > b->value) - (a->value < b->value);
}

struct sorter {
	struct exec *x;
	const struct sort_key *by;
	size_t by_count;
	struct result_cell *cells; /* [row][by, then keys unless these are lazy] */
	size_t width;
	bool has_lazy_keys; /* few rows are kept, so few ties need them */
	const uint32_t *groups;
};

/* Roles have an order of their own. */
static bool is_text_key(const struct plan_key *k)
{
	return k->type == RESULT_TEXT && !k->is_role;
}

static bool is_real_column(const struct plan_column *c)
{
	return !c->is_key &&
	       (column_type(c->column) == RESULT_RATIO || column_type(c->column) == RESULT_RATE);
}

static struct result_cell key_cell(const struct sorter *s, uint32_t row, size_t k)
{
	return s->has_lazy_keys ? row_key(s->x, s->groups[row], k)
				: s->cells[row * s->width + s->by_count + k];
}

static int compare_keys(const struct sorter *s, uint32_t a, uint32_t b)
{
	struct exec *x = s->x;
	const struct plan *pl = x->pl;
	for (size_t k = 0; k < pl->key_count; k++) {
		struct result_cell ca, cb;
		int order = 0;
		if (pl->keys[k].kind != KEY_STACK) {
			ca = key_cell(s, a, k);
			cb = key_cell(s, b, k);
			order = compare_cells(&ca, &cb, is_text_key(&pl->keys[k]), false);
		} else if (x->space.tree)
			order = stack_order_compare(x, x->space.tree, s->groups[a], s->groups[b]);
		else
			order = stack_order_compare(
				x, x->stack_tree.tree,
				(uint32_t)space_group(x, s->groups[a])->values[k],
				(uint32_t)space_group(x, s->groups[b])->values[k]);
		if (order)
			return order;
	}
	return (s->groups[a] > s->groups[b]) - (s->groups[a] < s->groups[b]);
}

static int compare_rows(const void *a_idx, const void *b_idx, void *arg)
{
	const struct sorter *s = arg;
	uint32_t a = *(const uint32_t *)a_idx, b = *(const uint32_t *)b_idx;
	for (size_t i = 0; i < s->by_count; i++) {
		const struct plan_column *c = &s->by[i].column;
		bool is_text = c->is_key && is_text_key(&s->x->pl->keys[c->key]);
		int order = compare_cells(&s->cells[a * s->width + i], &s->cells[b * s->width + i],
					  is_text, is_real_column(c));
		if (order)
			return s->by[i].is_ascending ? order : -order;
	}
	return compare_keys(s, a, b);
}

static enum neap_err fill_cells(struct sorter *s, size_t count)
{
	enum neap_err code = NEAP_OK;
	for (size_t r = 0; !code && r < count; r++) {
		struct result_cell *cells = s->cells + r * s->width;
		if (exec_polls(s->x, r))
			return exec_no_memory(s->x);
		for (size_t i = 0; !code && i < s->by_count; i++)
			code = row_cell(s->x, s->groups[r], &s->by[i].column, &cells[i]);
		for (size_t k = s->by_count; k < s->width; k++)
			cells[k] = row_key(s->x, s->groups[r], k - s->by_count);
	}
	return code;
}

/* Let the row at i of a heap whose largest row is on top sink to its place. */
static void sift(struct sorter *s, uint32_t *heap, size_t count, size_t i)
{
	while (2 * i + 1 < count) {
		size_t child = 2 * i + 1;
		if (child + 1 < count && compare_rows(&heap[child], &heap[child + 1], s) < 0)
			child++;
		if (compare_rows(&heap[i], &heap[child], s) >= 0)
			return;
		uint32_t moved = heap[i];
		heap[i] = heap[child];
		heap[child] = moved;
		i = child;
	}
}

/* Two runs that are in order become one. */
static void merge_runs(struct sorter *s, const uint32_t *a, size_t a_count, const uint32_t *b,
		       size_t b_count, uint32_t *to)
{
	const uint32_t *a_end = a + a_count, *b_end = b + b_count;
	while (a < a_end && b < b_end)
		*to++ = compare_rows(b, a, s) < 0 ? *b++ : *a++;
	memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
	memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *to);
}

#define RUN_ROWS 4096u

/* Run by run, so that a long sort can be stopped.  spare has as much room.  false: cancelled. */
static bool sort_rows(struct sorter *s, uint32_t *order, uint32_t *spare, size_t count)
{
	size_t run = frames_as_if_large(s->x) ? 2 : RUN_ROWS;
	uint32_t *from = order, *to = spare;
	for (size_t i = 0; i < count; i += run) {
		size_t left = count - i;
		if (plan_is_cancelled(s->x->pl))
			return false;
		qsort_r(order + i, left < run ? left : run, sizeof *order, compare_rows, s);
	}
	for (; run < count; run *= 2) {
		for (size_t i = 0; i < count; i += 2 * run) {
			size_t left = count - i, a_count = left < run ? left : run;
			size_t b_count = left - a_count < run ? left - a_count : run;
			if (plan_is_cancelled(s->x->pl))
				return false;
			merge_runs(s, from + i, a_count, from + i + a_count, b_count, to + i);
		}
		uint32_t *merged = to;
		to = from;
		from = merged;
	}
	if (from != order)
		memcpy(order, from, count * sizeof *order);
	return true;
}

/* Only the first `kept` rows in order, the rest after them in any.  false: cancelled. */
static bool sort_first(struct sorter *s, uint32_t *order, uint32_t *spare, size_t count,
		       size_t kept)
{
	for (size_t i = kept / 2; i-- > 0;)
		sift(s, order, kept, i);
	for (size_t i = kept; kept && i < count; i++) {
		if (exec_polls(s->x, i))
			return false;
		if (compare_rows(&order[i], &order[0], s) >= 0)
			continue;
		uint32_t moved = order[0];
		order[0] = order[i];
		order[i] = moved;
		sift(s, order, kept, 0);
	}
	return sort_rows(s, order, spare, kept);
}

#define LAZY_PART 16u /* of the rows, kept: then keys are made when they are compared */

/* kept: how many of them will be looked at. */
static enum neap_err sort_groups(struct exec *x, uint32_t *groups, size_t count, size_t kept,
				 const struct sort_keys *keys)
{
	const struct sort_key *by = keys->by;
	size_t by_count = keys->count;
	struct sorter s = {.x = x, .by = by, .by_count = by_count, .groups = groups};
	if (count < 2 || !kept)
		return NEAP_OK;
	s.has_lazy_keys = kept < count / LAZY_PART;
	s.width = by_count + (s.has_lazy_keys ? 0 : x->pl->key_count);
	s.cells = mem_zarray(count * s.width, sizeof *s.cells);
	uint32_t *order = mem_array(count, sizeof *order);
	uint32_t *sorted = mem_array(count, sizeof *sorted);
	enum neap_err code = s.cells && order && sorted ? fill_cells(&s, count) : exec_no_memory(x);
	if (!code) {
		for (size_t i = 0; i < count; i++)
			order[i] = (uint32_t)i;
		if (!sort_first(&s, order, sorted, count, kept < count ? kept : count))
			code = exec_no_memory(x);
	}
	if (!code) {
		for (size_t i = 0; i < count; i++)
			sorted[i] = groups[order[i]];
		memcpy(groups, sorted, count * sizeof *sorted);
	}
	mem_free(s.cells);
	mem_free(order);
	mem_free(sorted);
	return code;
}

static enum neap_err sort_default(struct exec *x, uint32_t *groups, size_t count, size_t kept)
{
	const struct plan *pl = x->pl;
	const struct plan_key *first = pl->key_count ? &pl->keys[0] : NULL;
	struct sort_key by[8] = {{.column = {.column = COL_TOTAL}}};
	size_t by_count = 1;
	bool is_series = first && pl->view != VIEW_TIMELINE &&
			 (first->type == RESULT_NS || first->bucket_kind != BUCKET_NONE);
	if (pl->view == VIEW_HIST || pl->view == VIEW_SOURCE || is_series)
		by_count = 0; /* by the keys */
	else if (pl->view == VIEW_PEEK)
		by_count = 0;
	else if (x->space.kind == SPACE_FRAMES)
		by[0].column.column = COL_SELF;
	if (pl->view == VIEW_PEEK) { /* callers, the frame, callees */
		by[by_count++] = (struct sort_key){.column = {.is_key = true, .key = 0}};
		by[0].is_ascending = true;
		by[by_count++] = (struct sort_key){.column = {.column = COL_TOTAL}};
	}
	if (x->space.kind == SPACE_FRAMES && by_count)
		by[by_count++] = (struct sort_key){.column = {.column = COL_TOTAL}};
	struct sort_keys keys = {by, by_count};
	return sort_groups(x, groups, count, kept, &keys);
}

/* ---- conditions ------------------------------------------------------------------------------ */

struct row_match {
	const struct ast_expr *what;
	struct text_match match;
};

static struct text_match *match_for(struct exec *x, const struct ast_expr *e)
{
	for (size_t i = 0; i < x->match_count; i++) {
		if (x->row_matches[i].what == e)
			return &x->row_matches[i].match;
	}
	if (!vec_reserve((void **)&x->row_matches, &x->match_cap, x->match_count + 1,
			 sizeof *x->row_matches)) {
		exec_no_memory(x);
		return NULL;
	}
	struct row_match *m = &x->row_matches[x->match_count];
	const struct ast_compare *c = &e->compare;
	enum neap_err code;
	m->what = e;
	if (e->kind == EXPR_STEP)
		code = text_match_init(&m->match, OP_MATCH, FIELD_NONE, &e->steps[0].pattern, 1,
				       x->pl->error);
	else
		code = text_match_init(&m->match, c->op, c->field, c->values, c->value_count,
				       x->pl->error);
	if (code)
		return NULL;
	x->match_count++;
	return &m->match;
}

void row_matches_release(struct exec *x)
{
	for (size_t i = 0; i < x->match_count; i++)
		text_match_release(&x->row_matches[i].match);
	mem_free(x->row_matches);
	x->row_matches = NULL;
	x->match_count = x->match_cap = 0;
}

/* A row with its values; group GROUP_NONE is the total line. */
struct row {
	uint32_t group;
	const struct values *values;
};

static enum neap_err fits_compare(struct exec *x, const struct row *r, const struct ast_expr *e,
				  bool *out)
{
	const struct ast_compare *c = &e->compare;
	struct plan_column column;
	enum ast_column named = c->field < FIELD_COUNT ? COL_NONE : c->column;
	enum neap_err code = plan_column_of(x->pl, &c->key, named, &column);
	*out = false;
	if (code || (column.is_key && r->group == GROUP_NONE))
		return code;
	if (!column.is_key) {
		struct result_cell cell = column_cell(x, r->values, column.column);
		bool is_real = is_real_column(&column);
		*out = !cell.is_unknown &&
		       number_fits(c, is_real ? cell.number : (double)cell.value);
		return NEAP_OK;
	}
	struct result_cell cell = row_key(x, r->group, column.key);
	if (cell.is_unknown)
		return NEAP_OK;
	if (x->pl->keys[column.key].type != RESULT_TEXT) {
		*out = number_fits(c, (double)cell.value);
		return NEAP_OK;
	}
	struct text_match *m = match_for(x, e);
	return m ? text_match_run(m, cell.text, NULL, out) : x->pl->error->code;
}

/* A word alone: some key contains it. */
static enum neap_err fits_step(struct exec *x, const struct row *r, const struct ast_expr *e,
			       bool *out)
{
	struct text_match *m = match_for(x, e);
	enum neap_err code = m ? NEAP_OK : x->pl->error->code;
	*out = false;
	for (size_t k = 0; !code && !*out && k < x->pl->key_count && r->group != GROUP_NONE; k++) {
		struct result_cell cell = row_key(x, r->group, k);
		if (!cell.is_unknown && x->pl->keys[k].type == RESULT_TEXT)
			code = text_match_run(m, cell.text, NULL, out);
	}
	return code;
}

static enum neap_err fits(struct exec *x, const struct row *r, const struct ast_expr *e, bool *out)
{
	enum neap_err code = NEAP_OK;
	bool one;
	switch (e->kind) {
	case EXPR_AND:
	case EXPR_OR:
		*out = e->kind == EXPR_AND;
		for (size_t i = 0; !code && i < e->item_count; i++) {
			code = fits(x, r, e->items[i], &one);
			*out = e->kind == EXPR_AND ? *out && one : *out || one;
		}
		return code;
	case EXPR_NOT:
		code = fits(x, r, e->items[0], &one);
		*out = !one;
		return code;
	case EXPR_COMPARE:
		return fits_compare(x, r, e, out);
	case EXPR_STEP:
		return fits_step(x, r, e, out);
	case EXPR_NAME:
		return fits(x, r, e->let_expr, out);
	case EXPR_QUANT:
	case EXPR_PATH:
		break;
	}
	*out = false;
	return code;
}

enum neap_err totals_fit(struct exec *x, const struct ast_expr *e, bool *out)
{
	struct row total = {.group = GROUP_NONE, .values = &x->totals};
	return fits(x, &total, e, out);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static enum neap_err keep_fitting(struct exec *x, struct row_list *rows,
				  const struct ast_stage *stage)
{
	size_t kept = 0;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < rows->count; i++) {
		struct values v;
		bool is_kept = false;
		if (exec_polls(x, i))
			return exec_no_memory(x);
		code = row_values(x, rows->groups[i], &v);
		struct row r = {.group = rows->groups[i], .values = &v};
		if (!code)
			code = fits(x, &r, stage->expr, &is_kept);
		if (is_kept)
			rows->groups[kept++] = rows->groups[i];
	}
	rows->count = kept;
	return code;
}

static bool cut(struct row_list *rows, uint32_t group)
{
	if (!vec_reserve((void **)&rows->others, &rows->other_cap, rows->other_count + 1,
			 sizeof *rows->others))
		return false;
	rows->others[rows->other_count++] = group;
	return true;
}

static enum neap_err keep_first(struct exec *x, struct row_list *rows, int64_t most)
{
	for (; rows->count && (int64_t)rows->count > most; rows->count--) {
		if (!cut(rows, rows->groups[rows->count - 1]))
			return exec_no_memory(x);
	}
	return NEAP_OK;
}

static bool is_large(const struct exec *x, uint32_t group, const struct ast_quantity *least)
{
	struct values v;
	struct result_cell cell;
	enum ast_column column = least->unit == UNIT_PERCENT ? COL_SHARE
				 : least->unit == UNIT_BYTES ? COL_TOTAL
							     : COL_COUNT;
	if (!plain_cell(x, group, column, &cell)) {
		values_of_group(x, group, &v);
		cell = column_cell(x, &v, column);
	}
	if (column == COL_SHARE)
		return !cell.is_unknown && fabs(cell.number) * 100 >= least->number;
	return fabs(cell.number) >= (double)least->value;
}

static enum neap_err keep_large(struct exec *x, struct row_list *rows,
				const struct ast_quantity *least)
{
	size_t kept = 0;
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t group = rows->groups[i];
		if (is_large(x, group, least))
			rows->groups[kept++] = group;
		else if (!cut(rows, group) || exec_polls(x, i))
			return exec_no_memory(x);
	}
	rows->count = kept;
	return NEAP_OK;
}

/* Columns unless said otherwise largest first, keys smallest first. */
static enum neap_err sort_by(struct exec *x, struct row_list *rows, const struct ast_col *cols,
			     size_t count, size_t kept)
{
	struct sort_key *by = mem_zarray(count, sizeof *by);
	enum neap_err code = by ? NEAP_OK : exec_no_memory(x);
	for (size_t i = 0; !code && i < count; i++) {
		code = plan_column_of(x->pl, &cols[i].word, cols[i].column, &by[i].column);
		by[i].is_ascending = cols[i].has_order ? cols[i].is_ascending : by[i].column.is_key;
	}
	struct sort_keys keys = {by, count};
	if (!code)
		code = sort_groups(x, rows->groups, rows->count, kept, &keys);
	mem_free(by);
	return code;
}

static void reverse(struct row_list *rows)
{
	for (size_t i = 0; i < rows->count / 2; i++) {
		uint32_t kept = rows->groups[i];
		rows->groups[i] = rows->groups[rows->count - 1 - i];
		rows->groups[rows->count - 1 - i] = kept;
	}
}

static enum neap_err keep_end(struct exec *x, struct row_list *rows, const struct ast_stage *stage)
{
	enum neap_err code = NEAP_OK;
	if (stage->col_count) {
		struct ast_col by = stage->cols[0];
		by.has_order = true;
		by.is_ascending = stage->kind == STAGE_BOTTOM;
		code = sort_by(x, rows, &by, 1, (size_t)stage->quantity.value);
	} else if (stage->kind == STAGE_BOTTOM) {
		reverse(rows);
	}
	return code ? code : keep_first(x, rows, stage->quantity.value);
}

static enum neap_err apply(struct exec *x, struct row_list *rows, const struct ast_stage *stage,
			   size_t kept)
{
	switch (stage->kind) {
	case STAGE_WHERE:
		return keep_fitting(x, rows, stage);
	case STAGE_SORT:
		return sort_by(x, rows, stage->cols, stage->col_count, kept);
	case STAGE_TOP:
	case STAGE_BOTTOM:
		return keep_end(x, rows, stage);
	case STAGE_LIMIT:
		return keep_first(x, rows, stage->quantity.value);
	case STAGE_MIN:
		return keep_large(x, rows, &stage->quantity);
	default:
		return NEAP_OK;
	}
}

/* How many rows the stages from i on can show of what was sorted before them. */
static size_t looked_at(const struct plan_pointers *stages, size_t i)
{
	const struct ast_stage *next = i < stages->count ? stages->items[i] : NULL;
	if (!next)
		return SIZE_MAX;
	bool is_end = next->kind == STAGE_TOP || next->kind == STAGE_BOTTOM;
	if (next->kind == STAGE_SORT || (is_end && next->col_count))
		return 0; /* orders them anew */
	if ((next->kind != STAGE_TOP && next->kind != STAGE_LIMIT) || next->quantity.value < 0)
		return SIZE_MAX;
	return (size_t)next->quantity.value;
}

static bool needs_no_order(const struct ast_stage *stage)
{
	return stage->kind == STAGE_WHERE || stage->kind == STAGE_MIN;
}

/* Stages that do not look at the order come before the first sort: it has less to do. */
enum neap_err rows_apply(struct exec *x, struct row_list *rows)
{
	static const struct plan_pointers no_stages;
	const struct plan_pointers *stages = x->has_cut_stacks ? &no_stages : &x->pl->row_stages;
	enum neap_err code = NEAP_OK;
	bool is_sorted = false;
	for (size_t i = 0; !code && i < stages->count; i++) {
		const struct ast_stage *stage = stages->items[i];
		if (!is_sorted && !needs_no_order(stage)) {
			code = sort_default(x, rows->groups, rows->count, looked_at(stages, i));
			is_sorted = true;
		}
		if (!code)
			code = apply(x, rows, stage, looked_at(stages, i + 1));
		if (!code && x->explains_rows)
			explain_rows(x, rows, stage);
	}
	if (!code && !is_sorted)
		code = sort_default(x, rows->groups, rows->count, SIZE_MAX);
	return code;
}

/* The first group from g on that may have anything; group_count if there is none. */
static uint32_t next_group(const struct exec *x, uint32_t g)
{
	uint32_t count = (uint32_t)x->space.group_count;
	if (!space_is_placed(&x->space))
		return g;
	while (g < count) {
		uint64_t bits = x->places[0][g / 64].has_cells;
		if (x->pl->side_count == 2)
			bits |= x->places[1][g / 64].has_cells;
		bits = bits >> g % 64;
		if (bits)
			return g + (uint32_t)__builtin_ctzll(bits);
		g = (g / 64 + 1) * 64;
	}
	return count;
}

/* Sums of places are as many as there are of them; other groups are few. */
static size_t most_rows(const struct exec *x)
{
	if (!space_is_placed(&x->space))
		return x->space.group_count;
	return (size_t)x->prefix[0].place_count + x->prefix[1].place_count;
}

enum neap_err rows_select(struct exec *x, struct row_list *out)
{
	*out = (struct row_list){.count = 0};
	bool has_unchanged = counts_unchanged(x);
	out->groups = mem_array(most_rows(x), sizeof *out->groups);
	if (!out->groups)
		return exec_no_memory(x);
	for (uint32_t g = next_group(x, 0); g < x->space.group_count; g = next_group(x, g + 1)) {
		if (row_has_values(x, g))
			out->groups[out->count++] = g;
		else if (has_unchanged && is_unchanged(x, g) && !cut(out, g))
			return exec_no_memory(x);
		if (exec_polls(x, g))
			return exec_no_memory(x);
	}
	if (x->explains_rows)
		explain_rows(x, out, NULL);
	return rows_apply(x, out);
}

void row_list_release(struct row_list *rows)
{
	mem_free(rows->groups);
	mem_free(rows->others);
	*rows = (struct row_list){.count = 0};
}
