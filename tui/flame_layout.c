/* Cells of an icicle graph. */
#include "config.h"

#include "tui/flame_layout.h"

#include "src/base/mem.h"
#include "tui/rows.h"
#include "tui/show.h"

static const struct query_result *result_of(const struct flame_layout *l)
{
	return query_opened_result(l->q);
}

static size_t index_of(uint32_t row)
{
	return row == OPENED_ROOT ? SIZE_MAX : row;
}

void flame_columns(struct flame_layout *l, struct query_opened *q)
{
	l->q = q;
	const struct query_result *r = result_of(l);
	l->total = result_column(r, r->is_signed ? "delta" : "total");
	l->a = r->is_signed ? result_column(r, "a") : SIZE_MAX;
	l->b = r->is_signed ? result_column(r, "b") : SIZE_MAX;
	l->count = result_column(r, "count");
	l->name = SIZE_MAX;
	for (size_t i = r->column_count; i-- > 0;) {
		if (r->columns[i].is_key)
			l->name = i;
	}
}

/* Between two instants both sides together: it adds up, and shows what came and what went. */
static int64_t weight_of(const struct flame_layout *l, uint32_t row)
{
	const struct query_result *r = result_of(l);
	int64_t weight = r->is_signed ? result_value(r, index_of(row), l->a) +
						result_value(r, index_of(row), l->b)
				      : result_value(r, index_of(row), l->total);
	return weight > 0 ? weight : 0;
}

#define STEP_REST 1u

/* Of a cell that is a row, or of a rest. */
static uint64_t step_of(const struct flame_layout *l, const struct flame_cell *c)
{
	if (c->rest_count)
		return STEP_REST;
	return c->row == OPENED_ROOT ? ROW_HASH_START
				     : row_hash(ROW_HASH_START, result_of(l), c->row);
}

static struct flame_cell cell_of(const struct flame_layout *l, uint32_t row)
{
	const struct query_result *r = result_of(l);
	struct flame_cell c = {.row = row,
			       .below = INT64_MAX,
			       .parent = FLAME_NONE,
			       .first = FLAME_NONE,
			       .weight = weight_of(l, row),
			       .bytes = result_value(r, index_of(row), l->total),
			       .blocks = result_value(r, index_of(row), l->count)};
	c.step = step_of(l, &c);
	return c;
}

struct flame_cell flame_root(const struct flame_layout *l)
{
	return cell_of(l, OPENED_ROOT);
}

/* ---- children ---------------------------------------------------------------------------- */

static bool is_cut(const struct flame_layout *l, uint32_t row)
{
	return result_of(l)->rows[row].kind == ROW_OTHER;
}

/* Is the row one of those that the cell stands for? */
static bool is_child(const struct flame_layout *l, const struct flame_cell *c, uint32_t row)
{
	return is_cut(l, row) || weight_of(l, row) < c->below;
}

static void add_to_rest(const struct flame_layout *l, struct flame_cell *rest, uint32_t row)
{
	const struct query_result *r = result_of(l);
	uint32_t count = is_cut(l, row) ? r->rows[row].count : 1;
	rest->rest_count += count;
	rest->cut_count += is_cut(l, row) ? count : 0;
	rest->weight += weight_of(l, row);
	rest->bytes += result_value(r, row, l->total);
	rest->blocks += result_value(r, row, l->count);
}

static struct flame_cell empty_rest(uint32_t parent_row, int64_t below)
{
	return (struct flame_cell){.row = parent_row,
				   .below = below,
				   .parent = FLAME_NONE,
				   .first = FLAME_NONE,
				   .step = STEP_REST};
}

bool flame_find(struct flame_layout *l, const struct flame_cell *parent, uint64_t step,
		int64_t below, struct flame_cell *out, struct query_error *error)
{
	uint32_t first, count;
	struct flame_cell rest = empty_rest(parent->row, below);
	if (query_opened_children(l->q, parent->row, &first, &count, error))
		return false;
	for (uint32_t i = first; i < first + count; i++) {
		if (!is_child(l, parent, i))
			continue;
		if (step == STEP_REST) {
			if (is_cut(l, i) || weight_of(l, i) < below)
				add_to_rest(l, &rest, i);
			continue;
		}
		*out = cell_of(l, i);
		if (!is_cut(l, i) && out->step == step)
			return true;
	}
	*out = rest;
	return rest.rest_count;
}

static bool add_cell(struct flame_layout *l, size_t parent, const struct flame_cell *c)
{
	if (l->cell_count + 1 >= FLAME_NONE ||
	    !vec_reserve((void **)&l->cells, &l->cell_cap, l->cell_count + 1, sizeof *l->cells))
		return false;
	struct flame_cell *p = &l->cells[parent];
	if (!p->child_count)
		p->first = (uint32_t)l->cell_count;
	p->child_count++;
	l->cells[l->cell_count] = *c;
	l->cells[l->cell_count].parent = (uint32_t)parent;
	l->cells[l->cell_count].level = p->level + 1;
	l->cell_count++;
	return true;
}

/* A column for what is there but too small: from what is the parent's own, else from the widest. */
static void widen_last(struct flame_layout *l, const struct flame_cell *p)
{
	struct flame_cell *last = &l->cells[l->cell_count - 1], *widest = NULL;
	if (last->cols)
		return;
	last->cols = 1;
	if (last->col < p->col + p->cols)
		return;
	for (struct flame_cell *c = &l->cells[p->first]; c < last; c++) {
		if (!widest || c->cols > widest->cols)
			widest = c;
	}
	if (!widest || widest->cols < 2) { /* no room at all */
		last->cols = 0;
		return;
	}
	widest->cols--;
	for (struct flame_cell *c = widest + 1; c <= last; c++)
		c->col--;
}

/* Places are rounded sums, so that neighbours meet and all end where their parent does. */
static unsigned place_at(const struct flame_cell *p, int64_t sum)
{
	double share = p->weight ? (double)sum / (double)p->weight : 0;
	return p->col + (unsigned)((share < 1 ? share : 1) * p->cols + 0.5);
}

static void place_children(struct flame_layout *l, size_t parent)
{
	const struct flame_cell *p = &l->cells[parent];
	int64_t sum = 0;
	for (uint32_t i = 0; i < p->child_count; i++) {
		struct flame_cell *c = &l->cells[p->first + i];
		c->col = place_at(p, sum);
		sum += c->weight;
		c->cols = place_at(p, sum) - c->col;
	}
	if (p->child_count && l->cells[l->cell_count - 1].weight)
		widen_last(l, p);
	if (p->child_count && !l->cells[l->cell_count - 1].cols) {
		l->cell_count--;
		l->cells[parent].child_count--;
	}
}

static enum neap_err open_cell(struct flame_layout *l, size_t at, struct query_error *error)
{
	const struct flame_cell p = l->cells[at];
	uint32_t first, count, alone = FLAME_NONE;
	enum neap_err code = query_opened_children(l->q, p.row, &first, &count, error);
	bool is_good = true;
	/* Of one column or more. */
	int64_t least = (p.weight + p.cols - 1) / p.cols;
	struct flame_cell rest = empty_rest(p.row, least < p.below ? least : p.below);
	for (uint32_t i = first; !code && is_good && i < first + count; i++) {
		if (!is_child(l, &p, i))
			continue;
		if (!is_cut(l, i) && weight_of(l, i) >= least && least) {
			const struct flame_cell c = cell_of(l, i);
			is_good = add_cell(l, at, &c);
			continue;
		}
		alone = rest.rest_count || is_cut(l, i) ? FLAME_NONE : i;
		add_to_rest(l, &rest, i);
	}
	if (rest.rest_count == 1 && alone != FLAME_NONE)
		rest = cell_of(l, alone);
	if (!code && is_good && rest.weight)
		is_good = add_cell(l, at, &rest);
	if (!is_good) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	place_children(l, at);
	return code;
}

enum neap_err flame_build(struct flame_layout *l, const struct flame_cell *root, unsigned cols,
			  unsigned levels, struct query_error *error)
{
	enum neap_err code = NEAP_OK;
	l->cell_count = 0;
	l->cols = cols;
	l->levels = levels;
	if (!cols || !root->weight)
		return NEAP_OK;
	if (!vec_reserve((void **)&l->cells, &l->cell_cap, 1, sizeof *l->cells)) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	l->cells[0] = *root;
	l->cells[0].cols = cols;
	l->cells[0].col = l->cells[0].level = 0;
	l->cells[0].child_count = 0;
	l->cells[0].parent = FLAME_NONE;
	l->cell_count = 1;
	for (size_t i = 0; !code && i < l->cell_count; i++) {
		const struct flame_cell *c = &l->cells[i];
		bool is_row = !c->rest_count || !i; /* a rest is opened when one zooms into it */
		if (is_row && c->level + 1 < levels && flame_is_wide(c))
			code = open_cell(l, i, error);
	}
	return code;
}

void flame_release(struct flame_layout *l)
{
	mem_free(l->cells);
	*l = (struct flame_layout){.q = NULL};
}
