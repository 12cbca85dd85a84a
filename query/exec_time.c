/*
 * Timelines: the run, or the window of the population, in equal steps.
 *
 *   live                  what is live at the end of each step
 *   growth                the same, minus what was live at the start of the window
 *   freed                 what died in each step
 *   all others            those blocks of the population that were born in each step
 *
 * The filters choose cohorts once: births and deaths are then added up from step to step.  Only
 * if they look at lifetimes or deaths, `live` is evaluated again for every step.
 */
#include "config.h"

#include "query/timeline.h"

#include <string.h>

#define POINTS_DEFAULT 60
#define POINTS_DRAWN   500 /* where a drawing shows each */

/* ---- steps ----------------------------------------------------------------------------- */

struct steps { /* of one side */
	snap_id from, to;
	size_t count;
	const struct query_file *file;
};

static struct steps steps_of(const struct timeline *t, size_t side)
{
	const struct plan *pl = t->x->pl;
	const struct plan_side *s = &pl->sides[side];
	struct steps st = {.from = s->window.from,
			   .to = s->window.to,
			   .count = t->step_count,
			   .file = s->file};
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

uint64_t timeline_ends(const struct timeline *t, size_t step)
{
	struct steps s = steps_of(t, t->x->pl->side_count - 1);
	return step_end(&s, step);
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

static size_t count_steps(const struct timeline *t)
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

/* ---- sums of a step ----------------------------------------------------------------------- */

/* What each class has now; written down at the end of each step. */
struct now {
	struct exec *x;
	struct graph_sum *of_class;
	size_t class_count, cap;
	struct step_sums *out;
	size_t step_count; /* that have ended */
};

static enum neap_err now_begin(struct now *n, struct exec *x, struct step_sums *out, size_t steps)
{
	*n = (struct now){.x = x, .out = out};
	out->first = mem_zarray(steps + 1, sizeof *out->first);
	return out->first ? NEAP_OK : exec_no_memory(x);
}

/* Room for the classes that there are; more may come with each step. */
static enum neap_err now_grow(struct now *n)
{
	size_t count = n->x->space.group_count;
	if (count > n->class_count) {
		if (!vec_reserve((void **)&n->of_class, &n->cap, count, sizeof *n->of_class))
			return exec_no_memory(n->x);
		memset(n->of_class + n->class_count, 0,
		       (count - n->class_count) * sizeof *n->of_class);
		n->class_count = count;
	}
	return NEAP_OK;
}

static enum neap_err now_end_step(struct now *n)
{
	struct step_sums *out = n->out;
	size_t at = out->first[n->step_count];
	for (size_t i = 0; i < n->class_count; i++) {
		const struct graph_sum *v = &n->of_class[i];
		if (exec_polls(n->x, i))
			return exec_no_memory(n->x);
		if (!v->blocks && !v->bytes)
			continue;
		if (!vec_reserve((void **)&out->class, &out->class_cap, at + 1,
				 sizeof *out->class) ||
		    !vec_reserve((void **)&out->value, &out->value_cap, at + 1, sizeof *out->value))
			return exec_no_memory(n->x);
		out->class[at] = (uint32_t)i;
		out->value[at++] = *v;
	}
	out->first[++n->step_count] = at;
	return NEAP_OK;
}

static void now_clear(struct now *n)
{
	if (n->class_count)
		memset(n->of_class, 0, n->class_count * sizeof *n->of_class);
}

/* ---- cells by step ------------------------------------------------------------------------- */

/* Indexes of cells, those of each step together; what is in no step is left out. */
struct cells_by_step {
	uint32_t *order;
	size_t *first; /* [count + 1] */
};

static void by_step_release(struct cells_by_step *b)
{
	mem_free(b->order);
	mem_free(b->first);
}

/* step_of_cell: `count` for none. */
static bool by_step_make(struct cells_by_step *b, const uint32_t *step_of_cell, size_t cell_count,
			 size_t count)
{
	b->order = mem_array(cell_count, sizeof *b->order);
	b->first = mem_zarray(count + 2, sizeof *b->first);
	if (!b->order || !b->first)
		return false;
	for (size_t i = 0; i < cell_count; i++)
		b->first[step_of_cell[i] + 1]++;
	for (size_t s = 1; s <= count + 1; s++)
		b->first[s] += b->first[s - 1];
	for (size_t i = 0; i < cell_count; i++)
		b->order[b->first[step_of_cell[i]]++] = (uint32_t)i;
	for (size_t s = count + 1; s > 0; s--)
		b->first[s] = b->first[s - 1];
	b->first[0] = 0;
	return true;
}

static void add_cells(struct now *n, const struct cells *c, const uint32_t *class,
		      const struct cells_by_step *b, size_t step)
{
	for (size_t at = b->first[step]; at < b->first[step + 1]; at++) {
		uint32_t i = b->order[at];
		sum_add(&n->of_class[class[i]], &c->value[i]);
	}
}

/* ---- what happened in a step ------------------------------------------------------------------ */

static enum neap_err sum_events(struct now *n, const struct cells *c, const uint32_t *class,
				const struct steps *s)
{
	struct cells_by_step by_step = {0};
	uint32_t *step_of_cell = mem_array(c->count, sizeof *step_of_cell);
	enum neap_err code = now_grow(n);
	for (size_t i = 0; step_of_cell && i < c->count; i++)
		step_of_cell[i] = (uint32_t)step_of(s, cell_time(c, i));
	if (!step_of_cell || !by_step_make(&by_step, step_of_cell, c->count, s->count))
		code = exec_no_memory(n->x);
	for (size_t i = 0; !code && i < s->count; i++) {
		add_cells(n, c, class, &by_step, i);
		code = now_end_step(n);
		now_clear(n);
	}
	mem_free(step_of_cell);
	by_step_release(&by_step);
	return code;
}

/* Always the same. */
static enum neap_err sum_constant(struct now *n, const struct cells *c, const uint32_t *class,
				  const struct steps *s)
{
	enum neap_err code = now_grow(n);
	for (size_t i = 0; !code && i < c->count; i++)
		sum_add(&n->of_class[class[i]], &c->value[i]);
	for (size_t i = 0; !code && i < s->count; i++)
		code = now_end_step(n);
	return code;
}

/* ---- what is live at the end of a step ------------------------------------------------------------ */

static enum neap_err filter(struct exec *x, size_t side, struct cells *c)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < x->pl->filters.count; i++)
		code = cells_filter(&x->w, c, x->pl->filters.items[i]);
	return code ? code : space_drop(x, side, c);
}

/* Filter, and find the classes; *class_out is the caller's to free. */
static enum neap_err classify(struct exec *x, size_t side, struct cells *c, uint32_t **class_out)
{
	enum neap_err code = filter(x, side, c);
	*class_out = NULL;
	if (code)
		return code;
	*class_out = mem_array(c->count, sizeof **class_out);
	return *class_out ? tuples_place(x, side, c, *class_out) : exec_no_memory(x);
}

/* Births of all cohorts, by step; deaths are looked up in the profile, which has them by snapshot. */
struct births {
	struct cells cells;
	uint32_t *class;
	struct cells_by_step by_step;
	uint32_t *class_of_cohort; /* GROUP_NONE: not in the query */
};

static void births_release(struct births *b)
{
	cells_release(&b->cells);
	mem_free(b->class);
	by_step_release(&b->by_step);
	mem_free(b->class_of_cohort);
}

/* By snapshot: the first step at whose end it is over; the count of steps if there is none. */
static uint32_t *steps_of_snaps(const struct steps *s)
{
	size_t count = (size_t)graph_last_snap(s->file->g) + 1, step = 0;
	uint32_t *out = mem_array(count, sizeof *out);
	for (size_t snap = 0; out && snap < count; snap++) {
		while (step < s->count && step_snap(s, step) < snap)
			step++;
		out[snap] = (uint32_t)step;
	}
	return out;
}

static bool births_order(struct births *b, const struct steps *s)
{
	const struct cells *c = &b->cells;
	uint32_t *of_snap = steps_of_snaps(s);
	uint32_t *step_of_cell = mem_array(c->count, sizeof *step_of_cell);
	bool is_good = of_snap && step_of_cell;
	for (size_t i = 0; is_good && i < c->count; i++)
		step_of_cell[i] = of_snap[graph_cohort_birth(s->file->g, c->cohort[i])];
	is_good = is_good && by_step_make(&b->by_step, step_of_cell, c->count, s->count);
	mem_free(of_snap);
	mem_free(step_of_cell);
	return is_good;
}

static enum neap_err births_load(struct births *b, struct exec *x, size_t side,
				 const struct steps *s)
{
	struct err e = {0};
	size_t cohort_count = s->file->p->cohort_count;
	*b = (struct births){.class = NULL};
	if (cells_load_births(&x->pl->sides[side], &b->cells, &e))
		return exec_no_memory(x);
	enum neap_err code = classify(x, side, &b->cells, &b->class);
	b->class_of_cohort = mem_array(cohort_count, sizeof *b->class_of_cohort);
	if (!code && (!b->class_of_cohort || !births_order(b, s)))
		code = exec_no_memory(x);
	if (code)
		return code;
	memset(b->class_of_cohort, 0xff, cohort_count * sizeof *b->class_of_cohort);
	for (size_t i = 0; i < b->cells.count; i++)
		b->class_of_cohort[b->cells.cohort[i]] = b->class[i];
	return NEAP_OK;
}

static void take_deaths(struct now *n, const struct profile *p, const struct births *b,
			snap_id snap)
{
	for (size_t i = p->death_first[snap - 1]; i < p->death_first[snap]; i++) {
		uint32_t class = b->class_of_cohort[profile_death_cohort(p, i) - 1];
		const struct graph_sum died = {(int64_t)profile_death_blocks(p, i),
					       (int64_t)profile_death_bytes(p, i)};
		if (class != GROUP_NONE)
			sum_take(&n->of_class[class], &died);
	}
}

/* Value times time, of both numbers. */
struct area {
	double blocks, bytes;
};

/* What is there from a snapshot on, until the end of the window. */
static void add_area(struct area *a, const struct steps *s, snap_id since, int64_t blocks,
		     int64_t bytes)
{
	uint64_t to = graph_snap_time(s->file->g, s->to);
	uint64_t from = graph_snap_time(s->file->g, since > s->from ? since : s->from);
	double ns = from < to ? (double)(to - from) : 0;
	a->blocks += ns * (double)blocks;
	a->bytes += ns * (double)bytes;
}

static void add_areas(struct area *areas, const struct births *b, const struct steps *s)
{
	const struct profile *p = s->file->p;
	for (size_t i = 0; i < b->cells.count; i++)
		add_area(&areas[b->class[i]], s, graph_cohort_birth(s->file->g, b->cells.cohort[i]),
			 b->cells.value[i].blocks, b->cells.value[i].bytes);
	for (snap_id snap = 1; snap <= s->to; snap++) {
		for (size_t i = p->death_first[snap - 1]; i < p->death_first[snap]; i++) {
			uint32_t class = b->class_of_cohort[profile_death_cohort(p, i) - 1];
			if (class != GROUP_NONE)
				add_area(&areas[class], s, snap,
					 -(int64_t)profile_death_blocks(p, i),
					 -(int64_t)profile_death_bytes(p, i));
		}
	}
}

/* The mean over the window, however many steps are shown. */
static enum neap_err find_means(struct now *n, const struct births *b, const struct steps *s)
{
	double ns =
		(double)(graph_snap_time(s->file->g, s->to) - graph_snap_time(s->file->g, s->from));
	if (ns <= 0)
		return NEAP_OK; /* of no time there is none */
	struct area *areas = mem_zarray(n->class_count, sizeof *areas);
	n->out->mean = mem_zarray(n->class_count, sizeof *n->out->mean);
	n->out->mean_count = n->class_count;
	bool is_good = areas && n->out->mean;
	if (is_good)
		add_areas(areas, b, s);
	for (size_t i = 0; is_good && i < n->class_count; i++)
		n->out->mean[i] = (struct graph_sum){(int64_t)(areas[i].blocks / ns + 0.5),
						     (int64_t)(areas[i].bytes / ns + 0.5)};
	mem_free(areas);
	return is_good ? NEAP_OK : exec_no_memory(n->x);
}

static enum neap_err sum_live(struct now *n, size_t side, const struct steps *s)
{
	struct births b;
	const struct profile *p = s->file->p;
	snap_id snap = 0;
	enum neap_err code = births_load(&b, n->x, side, s);
	if (!code)
		code = now_grow(n);
	if (!code && n->x->pl->has_by)
		code = find_means(n, &b, s);
	for (size_t i = 0; !code && i < s->count; i++) {
		add_cells(n, &b.cells, b.class, &b.by_step, i);
		while (snap < step_snap(s, i))
			take_deaths(n, p, &b, ++snap);
		code = now_end_step(n);
	}
	births_release(&b);
	return code;
}

/* Where a condition looks at deaths or lifetimes, it holds for other blocks at each instant. */
static enum neap_err sum_live_anew(struct now *n, size_t side, const struct steps *s)
{
	struct exec *x = n->x;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < s->count; i++) {
		struct err e = {0};
		struct cells c;
		uint32_t *class = NULL;
		struct plan_side at = x->pl->sides[side];
		at.window.to = step_snap(s, i);
		at.instant_ns = graph_snap_time(s->file->g, at.window.to);
		if (plan_is_cancelled(x->pl))
			return exec_no_memory(x);
		if (cells_load(&at, cells_by_death(x->pl, POP_LIVE), &c, &e))
			return exec_no_memory(x);
		code = classify(x, side, &c, &class);
		if (!code)
			code = now_grow(n);
		now_clear(n);
		for (size_t k = 0; !code && k < c.count; k++)
			sum_add(&n->of_class[class[k]], &c.value[k]);
		if (!code)
			code = now_end_step(n);
		mem_free(class);
		cells_release(&c);
	}
	return code;
}

/* ---- measures ----------------------------------------------------------------------------------------- */

static bool is_start_of_growth(const struct timeline *t, size_t side, size_t m)
{
	return m == MEASURE_MAIN && t->x->pl->query_is_growth && side == 0;
}

bool timeline_is_level(const struct timeline *t, size_t side, size_t m)
{
	return m == MEASURE_MAIN && t->x->pl->sides[side].pop == POP_LIVE;
}

static enum neap_err fill(struct timeline *t, size_t side, size_t m)
{
	struct exec *x = t->x;
	const struct plan *pl = x->pl;
	const struct steps s = steps_of(t, side);
	struct now n;
	enum neap_err code = now_begin(&n, x, &t->sums[side][m], t->step_count);
	if (!code && is_start_of_growth(t, side, m))
		code = sum_constant(&n, &x->cells[side][m], x->place[side][m], &s);
	else if (!code && !timeline_is_level(t, side, m))
		code = sum_events(&n, &x->cells[side][m], x->place[side][m], &s);
	else if (!code && (pl->uses_lifetime || pl->uses_died))
		code = sum_live_anew(&n, side, &s);
	else if (!code)
		code = sum_live(&n, side, &s);
	mem_free(n.of_class);
	return code;
}

static void release(struct timeline *t)
{
	for (size_t side = 0; side < 2; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			mem_free(t->sums[side][m].first);
			mem_free(t->sums[side][m].class);
			mem_free(t->sums[side][m].value);
			mem_free(t->sums[side][m].mean);
		}
	}
}

enum neap_err gather_timeline(struct exec *x, struct gathered *to)
{
	struct timeline t = {.x = x};
	enum neap_err code = NEAP_OK;
	t.step_count = count_steps(&t);
	for (size_t side = 0; !code && t.step_count && side < x->pl->side_count; side++) {
		for (size_t m = 0; !code && m < MEASURE_COUNT; m++) {
			if (x->pl->needs_measure[m])
				code = fill(&t, side, m);
		}
	}
	if (!code && t.step_count)
		code = timeline_gather(&t, to);
	release(&t);
	return code;
}
