/*
 * Classes of blocks over time.
 *
 *   1  give every cohort the class of the row it is in
 *   2  the area of each class: born bytes times the time they have left, minus the same of deaths
 *   3  the classes of the largest area are kept, the others become one
 *   4  births and deaths as changes at their snapshots, added up
 *
 * Blocks inherited at a fork are in no class of their own and count among the others.
 */
#include "config.h"

#include "query/opened_priv.h"

#include <stdlib.h>
#include <string.h>

struct classing {
	struct query_opened *q;
	const struct query_file *file;
	uint32_t *class_of;    /* by cohort: index of the row; GROUP_NONE: not in the query */
	uint32_t first, count; /* rows; class `count` is all that is in no row */
	double *area;          /* [count + 1] */
	int64_t *end_bytes;    /* the same: what only the last snapshot saw has no area */
	uint32_t *series_of;   /* [count + 1] */
};

void query_series_release(struct query_series *s)
{
	mem_free(s->rows);
	mem_free(s->values);
	mem_free(s->born);
	mem_free(s->peak);
	*s = (struct query_series){.tick_count = 0};
}

/* ---- classes of cohorts ---------------------------------------------------------------- */

/* By group: the row. */
static uint32_t *rows_of_groups(const struct classing *cl)
{
	size_t count = cl->q->x.space.group_count;
	uint32_t *row_of = mem_array(count, sizeof *row_of);
	if (!row_of)
		return NULL;
	memset(row_of, 0xff, count * sizeof *row_of);
	for (uint32_t i = 0; i < cl->count; i++) {
		uint32_t group = cl->q->group_of_row[cl->first + i];
		if (group != GROUP_NONE)
			row_of[group] = i;
	}
	return row_of;
}

static void class_cells(struct classing *cl, const uint32_t *row_of)
{
	const struct exec *x = &cl->q->x;
	const struct cells *c = &x->cells[0][MEASURE_MAIN];
	const uint32_t *group = x->place[0][MEASURE_MAIN];
	for (size_t i = 0; i < c->count; i++) {
		uint32_t row = row_of[group[i]];
		cl->class_of[c->cohort[i]] = row == GROUP_NONE ? cl->count : row;
	}
}

/* Blocks that were live at a fork are allocations of nobody here. */
static enum neap_err class_inherited(struct classing *cl)
{
	struct exec *x = &cl->q->x;
	struct cells c;
	struct err e = {0};
	if (!cl->file->p->run.is_forked)
		return NEAP_OK;
	if (cells_load_births(&x->pl->sides[0], &c, &e))
		return exec_no_memory(x);
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < x->pl->filters.count; i++)
		code = cells_filter(&x->w, &c, x->pl->filters.items[i]);
	if (!code)
		code = space_drop(x, 0, &c);
	for (size_t i = 0; !code && i < c.count; i++) {
		uint32_t *class = &cl->class_of[c.cohort[i]];
		if (*class == GROUP_NONE && !graph_cohort_birth(cl->file->g, c.cohort[i]))
			*class = cl->count;
	}
	cells_release(&c);
	return code;
}

static enum neap_err class_cohorts(struct classing *cl)
{
	size_t count = cl->file->p->cohort_count;
	uint32_t *row_of = rows_of_groups(cl);
	cl->class_of = mem_array(count, sizeof *cl->class_of);
	bool is_good = row_of && cl->class_of;
	if (is_good) {
		memset(cl->class_of, 0xff, count * sizeof *cl->class_of);
		class_cells(cl, row_of);
	}
	mem_free(row_of);
	return is_good ? class_inherited(cl) : exec_no_memory(&cl->q->x);
}

/* ---- what changes when --------------------------------------------------------------------- */

struct change {
	uint32_t class;
	snap_id snap;
	int64_t blocks, bytes;
};
typedef void change_fn(struct classing *cl, void *arg, const struct change *c);

static void each_part(struct classing *cl, change_fn *fn, void *arg)
{
	const struct cells *c = &cl->q->x.cells[0][MEASURE_MAIN];
	for (size_t i = 0; i < c->count; i++) {
		struct change change = {.class = cl->class_of[c->cohort[i]],
					.snap = graph_cohort_birth(cl->file->g, c->cohort[i]),
					.blocks = c->value[i].blocks,
					.bytes = c->value[i].bytes};
		if (change.class == GROUP_NONE)
			continue;
		fn(cl, arg, &change);
		if (!c->death[i])
			continue;
		change.snap = c->death[i];
		change.blocks = -change.blocks;
		change.bytes = -change.bytes;
		fn(cl, arg, &change);
	}
}

static void each_change(struct classing *cl, change_fn *fn, void *arg)
{
	const struct profile *p = cl->file->p;
	if (cl->q->x.cells[0][MEASURE_MAIN].death) {
		each_part(cl, fn, arg);
		return;
	}
	for (size_t i = 0; i < p->cohort_count; i++) {
		const struct change born = {cl->class_of[i], graph_cohort_birth(cl->file->g, i),
					    (int64_t)profile_cohort_births(p, i),
					    (int64_t)profile_cohort_born_bytes(p, i)};
		if (born.class != GROUP_NONE)
			fn(cl, arg, &born);
	}
	for (snap_id s = 1; s <= p->snapshot_count; s++) {
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			const struct change died = {cl->class_of[profile_death_cohort(p, i) - 1], s,
						    -(int64_t)profile_death_blocks(p, i),
						    -(int64_t)profile_death_bytes(p, i)};
			if (died.class != GROUP_NONE)
				fn(cl, arg, &died);
		}
	}
}

static void add_area(struct classing *cl, void *arg, const struct change *c)
{
	const uint64_t *end_ns = arg;
	uint64_t at_ns = graph_snap_time(cl->file->g, c->snap);
	if (*end_ns > at_ns)
		cl->area[c->class] += (double)c->bytes * (double)(*end_ns - at_ns);
	cl->end_bytes[c->class] += c->bytes;
}

static void add_value(struct classing *cl, void *arg, const struct change *c)
{
	struct query_series *s = arg;
	const struct graph_sum v = {c->blocks, c->bytes};
	size_t at = c->snap * s->class_count + cl->series_of[c->class];
	sum_add(&s->values[at], &v);
	if (c->snap && c->blocks > 0) /* what is there at the start was inherited */
		sum_add(&s->born[at], &v);
}

/* ---- the largest ------------------------------------------------------------------------------ */

struct ranked {
	double area;
	int64_t end_bytes;
	uint32_t class;
};

static int compare_areas(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->area != y->area)
		return x->area > y->area ? -1 : 1;
	if (x->end_bytes != y->end_bytes)
		return x->end_bytes > y->end_bytes ? -1 : 1;
	return (x->class > y->class) - (x->class < y->class);
}

/* The last series is for all that have none; always there, so that the sum is whole. */
static bool choose(struct classing *cl, size_t most, struct query_series *out)
{
	struct ranked *order = mem_array(cl->count + 1u, sizeof *order);
	size_t count = 0;
	for (uint32_t i = 0; order && i < cl->count; i++) {
		bool was_seen = cl->area[i] > 0 || cl->end_bytes[i] > 0;
		if (was_seen && cl->q->group_of_row[cl->first + i] != GROUP_NONE)
			order[count++] = (struct ranked){cl->area[i], cl->end_bytes[i], i};
	}
	size_t kept = count < most ? count : most;
	out->rows = mem_array(kept + 1, sizeof *out->rows);
	if (!order || !out->rows) {
		mem_free(order);
		return false;
	}
	qsort(order, count, sizeof *order, compare_areas);
	for (uint32_t i = 0; i <= cl->count; i++)
		cl->series_of[i] = (uint32_t)kept;
	for (size_t i = 0; i < kept; i++) {
		cl->series_of[order[i].class] = (uint32_t)i;
		out->rows[i] = cl->first + order[i].class;
	}
	out->rows[kept] = OPENED_ROOT;
	out->class_count = kept + 1;
	out->other_count = count - kept;
	mem_free(order);
	return true;
}

/* Where deaths are told apart, the parts of a cohort that were live at the peak are not known. */
static bool count_peak(struct classing *cl, struct query_series *out)
{
	size_t count = cl->file->p->cohort_count;
	struct graph_sum *cohorts = mem_array(count, sizeof *cohorts);
	out->peak = mem_zarray(out->class_count, sizeof *out->peak);
	if (!cohorts || !out->peak) {
		mem_free(cohorts);
		return false;
	}
	graph_pop_cohorts(cl->file->g, POP_PEAK, graph_whole_run(cl->file->g), cohorts);
	for (size_t i = 0; i < count && !cl->q->x.cells[0][MEASURE_MAIN].death; i++) {
		if (cl->class_of[i] != GROUP_NONE)
			sum_add(&out->peak[cl->series_of[cl->class_of[i]]], &cohorts[i]);
	}
	mem_free(cohorts);
	return true;
}

static enum neap_err count_up(struct classing *cl, size_t most, struct query_series *out)
{
	uint64_t end_ns = graph_end_time(cl->file->g);
	cl->area = mem_zarray(cl->count + 1u, sizeof *cl->area);
	cl->end_bytes = mem_zarray(cl->count + 1u, sizeof *cl->end_bytes);
	cl->series_of = mem_array(cl->count + 1u, sizeof *cl->series_of);
	if (!cl->area || !cl->end_bytes || !cl->series_of)
		return exec_no_memory(&cl->q->x);
	each_change(cl, add_area, &end_ns);
	out->tick_count = (size_t)graph_last_snap(cl->file->g) + 1;
	if (!choose(cl, most, out))
		return exec_no_memory(&cl->q->x);
	out->values = mem_zarray(out->tick_count * out->class_count, sizeof *out->values);
	out->born = mem_zarray(out->tick_count * out->class_count, sizeof *out->born);
	if (!out->values || !out->born)
		return exec_no_memory(&cl->q->x);
	each_change(cl, add_value, out);
	for (size_t i = out->class_count; i < out->tick_count * out->class_count; i++)
		sum_add(&out->values[i], &out->values[i - out->class_count]);
	return count_peak(cl, out) ? NEAP_OK : exec_no_memory(&cl->q->x);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* All blocks of a cohort are in one row, unless it is for some of their deaths. */
static bool has_classes(const struct query_opened *q)
{
	const struct plan *pl = &q->pl;
	for (size_t k = 0; k < pl->key_count; k++) {
		if (pl->keys[k].field == FIELD_DIED || pl->keys[k].field == FIELD_LIFETIME)
			return false;
	}
	return pl->side_count == 1 && pl->view == VIEW_TABLE && q->x.space.kind == SPACE_FLAT;
}

enum neap_err query_opened_series(struct query_opened *q, size_t class_most,
				  struct query_series *out, struct query_error *error)
{
	struct classing cl = {.q = q, .file = q->pl.sides[0].file};
	*out = (struct query_series){.tick_count = 0};
	q->pl.error = error;
	if (!has_classes(q))
		return query_fail(error, ERR_UNSUPPORTED, q->pl.query->span,
				  "blocks can be in several of these rows");
	enum neap_err code = query_opened_children(q, OPENED_ROOT, &cl.first, &cl.count, error);
	if (!code)
		code = class_cohorts(&cl);
	if (!code)
		code = count_up(&cl, class_most, out);
	mem_free(cl.class_of);
	mem_free(cl.area);
	mem_free(cl.end_bytes);
	mem_free(cl.series_of);
	if (code)
		query_series_release(out);
	return code;
}
