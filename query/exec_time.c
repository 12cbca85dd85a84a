/*
 * Timelines: the run, or the window of the population, in equal steps.
 *
 *   live                  what is live at the end of each step
 *   growth                the same, minus what was live at the start of the window
 *   freed                 what died in each step
 *   all others            those blocks of the population that were born in each step
 *
 * There are never more steps than snapshots in the window.  The filters choose cohorts once;
 * only if they look at lifetimes or deaths, `live` is evaluated again for every step.
 */
#include "config.h"

#include "query/exec.h"

#define POINTS_DEFAULT 60
#define POINTS_DRAWN   500 /* where a drawing shows each */

struct timeline {
	struct exec *x;
	size_t count;
	struct graph_sum *values[2][MEASURE_COUNT]; /* [count] */
};

struct steps { /* of one side */
	snap_id from, to;
	size_t count;
	const struct query_file *file;
};

static struct steps steps_of(const struct timeline *t, size_t side)
{
	const struct plan *pl = t->x->pl;
	const struct plan_side *s = &pl->sides[side];
	struct steps st = {
		.from = s->window.from, .to = s->window.to, .count = t->count, .file = s->file};
	if (pl->is_signed && pl->query_is_growth) {
		st.from = pl->sides[0].window.to;
		st.to = pl->sides[1].window.to;
	}
	return st;
}

static uint64_t step_end(const struct steps *s, size_t i)
{
	uint64_t from = graph_snap_time(s->file->g, s->from),
		 to = graph_snap_time(s->file->g, s->to);
	if (s->to - s->from == s->count)
		return graph_snap_time(s->file->g, s->from + (snap_id)i + 1);
	return from + (uint64_t)((unsigned __int128)(to - from) * (i + 1) / s->count);
}

static snap_id step_snap(const struct steps *s, size_t i)
{
	if (s->to - s->from == s->count)
		return s->from + (snap_id)i + 1;
	if (i + 1 == s->count)
		return s->to;
	return graph_snap_at(s->file->g, step_end(s, i));
}

/* The first step that ends at or after a time; the last for what is later. */
static size_t step_of(const struct steps *s, uint64_t ns)
{
	size_t low = 0, high = s->count - 1;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (step_end(s, middle) >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void sum_by_time(const struct cells *c, const struct steps *s, struct graph_sum *out)
{
	for (size_t i = 0; i < c->count; i++)
		sum_add(&out[step_of(s, cell_time(c, i))], &c->value[i]);
}

static enum neap_err filter(struct exec *x, size_t side, struct cells *c)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < x->pl->filters.count; i++)
		code = cells_filter(&x->w, c, x->pl->filters.items[i]);
	return code ? code : space_drop(x, side, c);
}

static enum neap_err live_of_cohorts(struct exec *x, size_t side, const struct steps *s,
				     struct graph_sum *out)
{
	struct err e = {0};
	struct cells c;
	const struct query_file *f = s->file;
	if (cells_load_births(&x->pl->sides[side], &c, &e))
		return exec_no_memory(x);
	enum neap_err code = filter(x, side, &c);
	uint8_t *keep = mem_zarray(f->p->cohort_count, 1);
	struct graph_tick *ticks = mem_array(f->p->snapshot_count + 1, sizeof *ticks);
	if (!code && (!keep || !ticks))
		code = exec_no_memory(x);
	for (size_t i = 0; !code && i < c.count; i++)
		keep[c.cohort[i]] = 1;
	if (!code)
		graph_timeline(f->g, keep, ticks);
	for (size_t i = 0; !code && i < s->count; i++)
		out[i] = ticks[step_snap(s, i)].live;
	mem_free(keep);
	mem_free(ticks);
	cells_release(&c);
	return code;
}

static enum neap_err live_of_instants(struct exec *x, size_t side, const struct steps *s,
				      struct graph_sum *out)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < s->count; i++) {
		struct err e = {0};
		struct cells c;
		struct plan_side at = x->pl->sides[side];
		at.window.to = step_snap(s, i);
		at.instant_ns = graph_snap_time(s->file->g, at.window.to);
		if (plan_is_cancelled(x->pl))
			return exec_no_memory(x);
		if (cells_load(&at, cells_by_death(x->pl, POP_LIVE), &c, &e))
			return exec_no_memory(x);
		code = filter(x, side, &c);
		out[i] = cells_sum(&c);
		cells_release(&c);
	}
	return code;
}

static enum neap_err fill(struct timeline *t, size_t side, size_t m)
{
	struct exec *x = t->x;
	const struct plan *pl = x->pl;
	const struct cells *c = &x->cells[side][m];
	struct steps s = steps_of(t, side);
	struct graph_sum *out = mem_zarray(t->count, sizeof *out);
	t->values[side][m] = out;
	if (!out)
		return exec_no_memory(x);
	if (m == MEASURE_MAIN && pl->query_is_growth && side == 0) {
		for (size_t i = 0; i < t->count; i++)
			out[i] = cells_sum(c);
		return NEAP_OK;
	}
	if (m != MEASURE_MAIN || pl->sides[side].pop != POP_LIVE) {
		sum_by_time(c, &s, out);
		return NEAP_OK;
	}
	if (pl->uses_lifetime || pl->uses_died)
		return live_of_instants(x, side, &s, out);
	return live_of_cohorts(x, side, &s, out);
}

static size_t count_points(const struct timeline *t)
{
	const struct plan *pl = t->x->pl;
	const struct ast_stage *view = pl->view_stage;
	bool is_drawn = pl->format == FORMAT_SVG || pl->format == FORMAT_HTML;
	size_t count = is_drawn ? POINTS_DRAWN : POINTS_DEFAULT;
	if (view && view->has_quantity && view->quantity.value > 0)
		count = (size_t)view->quantity.value;
	for (size_t side = 0; side < pl->side_count; side++) {
		struct steps s = steps_of(t, side);
		size_t most = s.to > s.from ? s.to - s.from : 0;
		if (pl->query_is_growth || side == pl->side_count - 1)
			count = count < most ? count : most;
	}
	return count;
}

static enum neap_err add_point(struct timeline *t, struct gathered *to, size_t i)
{
	struct exec *x = t->x;
	const struct plan *pl = x->pl;
	struct steps s = steps_of(t, pl->side_count - 1);
	struct values v = {.side = {{.first_ns = UINT64_MAX}, {.first_ns = UINT64_MAX}}};
	struct result_row row = {.kind = ROW_PLAIN, .parent = UINT32_MAX};
	row.time_ns = step_end(&s, i);
	for (size_t side = 0; side < pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			if (t->values[side][m])
				v.side[side].self[m] = v.side[side].total[m] =
					t->values[side][m][i];
		}
	}
	enum neap_err code = gather_row(x, to, &row, GROUP_NONE, &v);
	if (code)
		return code;
	struct result_cell *cells = to->cells + (to->row_count - 1) * pl->column_count;
	for (size_t k = 0; k < pl->column_count; k++) {
		if (pl->columns[k].is_key)
			cells[k] = (struct result_cell){.value = (int64_t)row.time_ns,
							.number = (double)row.time_ns};
	}
	return NEAP_OK;
}

enum neap_err gather_timeline(struct exec *x, struct gathered *to)
{
	struct timeline t = {.x = x};
	enum neap_err code = NEAP_OK;
	t.count = count_points(&t);
	for (size_t side = 0; !code && t.count && side < x->pl->side_count; side++) {
		for (size_t m = 0; !code && m < MEASURE_COUNT; m++) {
			if (x->pl->needs_measure[m])
				code = fill(&t, side, m);
		}
	}
	for (size_t i = 0; !code && i < t.count; i++)
		code = add_point(&t, to, i);
	for (size_t side = 0; side < 2; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++)
			mem_free(t.values[side][m]);
	}
	return code;
}
