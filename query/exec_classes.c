/*
 * Rows of timelines: each class in each step, in the same order in all of them.
 *
 * The stages on rows act on classes, whose values are then the means over time of what is live,
 * and the sums of what was allocated or freed: so the first class is the one with the largest area
 * under its curve, and of events rows are chosen as in a table.
 */
#include "config.h"

#include "query/timeline.h"

#include <string.h>

#include "src/base/limits.h"

/* ---- choosing classes ------------------------------------------------------------------ */

static void add_up(const struct timeline *t, size_t side, size_t m, struct graph_sum *out)
{
	const struct step_sums *s = &t->sums[side][m];
	for (size_t i = 0; i < s->first[t->step_count]; i++)
		sum_add(&out[s->class[i]], &s->value[i]);
}

/* Values by which classes are chosen and ordered. */
static enum neap_err weigh(struct timeline *t, size_t side, size_t m)
{
	struct exec *x = t->x;
	struct sums *s = &x->sums[side][m];
	size_t count = x->space.group_count;
	int64_t steps = (int64_t)t->step_count;
	s->self = mem_zarray(count, sizeof *s->self);
	s->total = mem_array(count, sizeof *s->total);
	if (!s->self || !s->total)
		return exec_no_memory(x);
	const struct step_sums *of = &t->sums[side][m];
	if (of->mean) {
		memcpy(s->self, of->mean, of->mean_count * sizeof *s->self);
	} else {
		add_up(t, side, m, s->self);
		for (size_t i = 0; timeline_is_level(t, side, m) && i < count; i++) {
			s->self[i].blocks /= steps;
			s->self[i].bytes /= steps;
		}
	}
	memcpy(s->total, s->self, count * sizeof *s->total);
	return NEAP_OK;
}

/* One measure of one step, as differences of the sides; `sign` -1 takes it away again. */
static void add_step(const struct timeline *t, size_t m, size_t step, int sign,
		     struct graph_sum *now)
{
	for (size_t side = 0; side < t->x->pl->side_count; side++) {
		const struct step_sums *s = &t->sums[side][m];
		int of_side = side + 1 == t->x->pl->side_count ? sign : -sign;
		for (size_t i = s->first[step]; i < s->first[step + 1]; i++) {
			now[s->class[i]].blocks += of_side * s->value[i].blocks;
			now[s->class[i]].bytes += of_side * s->value[i].bytes;
		}
	}
}

/* What both sides have is in the columns a and b though it is no difference. */
static bool shows_both(const struct plan *pl)
{
	for (size_t i = 0; i < pl->column_count; i++) {
		enum ast_column column = pl->columns[i].column;
		if (!pl->columns[i].is_key && (column == COL_A || column == COL_B))
			return true;
	}
	return false;
}

/* Classes that have anything in this step; of differences those that changed.  `now` is 0. */
static void mark_classes(const struct timeline *t, size_t m, size_t step, struct graph_sum *now,
			 uint8_t *is_row)
{
	bool wants_all = shows_both(t->x->pl);
	add_step(t, m, step, 1, now);
	for (size_t side = 0; side < t->x->pl->side_count; side++) {
		const struct step_sums *s = &t->sums[side][m];
		for (size_t i = s->first[step]; i < s->first[step + 1]; i++) {
			const struct graph_sum *v = &now[s->class[i]];
			is_row[s->class[i]] |= wants_all || v->blocks || v->bytes;
		}
	}
	add_step(t, m, step, -1, now);
}

static enum neap_err list_classes(struct timeline *t, struct row_list *out)
{
	struct exec *x = t->x;
	size_t count = x->space.group_count;
	struct graph_sum *now = mem_zarray(count, sizeof *now);
	uint8_t *is_row = mem_zarray(count, 1);
	out->groups = mem_array(count, sizeof *out->groups);
	bool is_good = now && is_row && out->groups;
	for (size_t m = 0; is_good && m < MEASURE_COUNT; m++) {
		for (size_t step = 0; x->pl->needs_measure[m] && step < t->step_count; step++)
			mark_classes(t, m, step, now, is_row);
	}
	for (size_t i = 0; is_good && i < count; i++) {
		if (is_row[i])
			out->groups[out->count++] = (uint32_t)i;
	}
	mem_free(now);
	mem_free(is_row);
	return is_good ? NEAP_OK : exec_no_memory(x);
}

static enum neap_err choose(struct timeline *t, struct row_list *out)
{
	struct exec *x = t->x;
	enum neap_err code = list_classes(t, out);
	for (size_t side = 0; !code && side < x->pl->side_count; side++) {
		for (size_t m = 0; !code && m < MEASURE_COUNT; m++) {
			if (x->pl->needs_measure[m])
				code = weigh(t, side, m);
		}
	}
	return code ? code : rows_apply(x, out);
}

/* Everything is one class, which has a row even where it has nothing. */
static enum neap_err choose_all(struct timeline *t, struct row_list *out)
{
	out->groups = mem_zarray(1, sizeof *out->groups);
	out->count = 1;
	return out->groups ? NEAP_OK : exec_no_memory(t->x);
}

/* ---- rows ---------------------------------------------------------------------------------- */

struct emitter {
	struct timeline *t;
	struct row_list rows;
	uint32_t *row_of;      /* by class; rows.count: cut away; GROUP_NONE: not wanted */
	size_t row_count;      /* of each step */
	struct values *values; /* [row_count], of the step */
	struct gathered *to;
};

static bool emitter_init(struct emitter *e)
{
	size_t class_count = e->t->x->space.group_count;
	e->row_of = mem_array(class_count, sizeof *e->row_of);
	e->values = mem_array(e->row_count, sizeof *e->values);
	if (!e->row_of || !e->values)
		return false;
	memset(e->row_of, 0xff, class_count * sizeof *e->row_of);
	for (size_t i = 0; i < e->rows.count && class_count; i++)
		e->row_of[e->rows.groups[i]] = (uint32_t)i;
	for (size_t i = 0; i < e->rows.other_count; i++)
		e->row_of[e->rows.others[i]] = (uint32_t)e->rows.count;
	return true;
}

static void emitter_release(struct emitter *e)
{
	mem_free(e->row_of);
	mem_free(e->values);
	row_list_release(&e->rows);
}

static void collect(struct emitter *e, size_t side, size_t m, size_t step)
{
	const struct step_sums *s = &e->t->sums[side][m];
	for (size_t i = s->first[step]; i < s->first[step + 1]; i++) {
		uint32_t row = e->row_of[s->class[i]];
		if (row == GROUP_NONE)
			continue;
		sum_add(&e->values[row].side[side].self[m], &s->value[i]);
		sum_add(&e->values[row].side[side].total[m], &s->value[i]);
	}
}

static enum neap_err emit(struct emitter *e, size_t row, uint64_t time_ns)
{
	struct exec *x = e->t->x;
	const struct plan *pl = x->pl;
	bool is_other = row == e->rows.count, has_keys = pl->has_by && !is_other;
	struct result_row r = {.kind = is_other ? ROW_OTHER : ROW_PLAIN,
			       .parent = UINT32_MAX,
			       .count = is_other ? (uint32_t)e->rows.other_count : 0,
			       .time_ns = time_ns};
	uint32_t class = has_keys ? e->rows.groups[row] : GROUP_NONE;
	enum neap_err code = gather_row(x, e->to, &r, class, &e->values[row]);
	if (code)
		return code;
	struct result_cell *cells = e->to->cells + (e->to->row_count - 1) * pl->column_count;
	for (size_t i = 0; i < pl->column_count; i++) {
		if (pl->columns[i].is_key && pl->keys[pl->columns[i].key].is_step)
			cells[i] = (struct result_cell){.value = (int64_t)time_ns,
							.number = (double)time_ns};
	}
	return NEAP_OK;
}

static enum neap_err emit_step(struct emitter *e, size_t step)
{
	const struct plan *pl = e->t->x->pl;
	const struct values nothing = {
		.side = {{.first_ns = UINT64_MAX}, {.first_ns = UINT64_MAX}}};
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; i < e->row_count; i++)
		e->values[i] = nothing;
	for (size_t side = 0; side < pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			if (pl->needs_measure[m])
				collect(e, side, m, step);
		}
	}
	uint64_t time_ns = timeline_ends(e->t, step);
	for (size_t i = 0; !code && i < e->row_count; i++)
		code = emit(e, i, time_ns);
	return code;
}

/* Every class at every time: that is soon more than anybody can use. */
static enum neap_err check_rows(const struct emitter *e)
{
	const struct plan *pl = e->t->x->pl;
	size_t steps = e->t->step_count;
	if (e->row_count <= LIMIT_TIMELINE_ROWS / steps)
		return NEAP_OK;
	query_fail(pl->error, ERR_LIMIT, pl->view_stage ? pl->view_stage->span : pl->query->span,
		   "a row for each of %zu classes at each of %zu times is too much", e->row_count,
		   steps);
	return query_fail_help(pl->error, "put 'top 10' before it, or ask for fewer times");
}

enum neap_err timeline_gather(struct timeline *t, struct gathered *to)
{
	struct emitter e = {.t = t, .to = to};
	enum neap_err code = t->x->pl->has_by ? choose(t, &e.rows) : choose_all(t, &e.rows);
	e.row_count = e.rows.count + (e.rows.other_count > 0);
	if (t->x->pl->has_by)
		t->x->out->class_count = e.row_count;
	if (!code)
		code = check_rows(&e);
	if (!code && !emitter_init(&e))
		code = exec_no_memory(t->x);
	for (size_t i = 0; !code && i < t->step_count; i++) {
		code = emit_step(&e, i);
		if (!code && plan_is_cancelled(t->x->pl))
			code = exec_no_memory(t->x);
	}
	emitter_release(&e);
	return code;
}
