/*
 * Populations as cells.
 *
 * For a cohort c with birth snapshot b (0 if inherited), B births and deaths (s, d) recorded
 * by snapshots s, the blocks of c fall into parts: d blocks that died at s for every death,
 * and R = B - all deaths that never died (s = none, later than everything).  In (from, to]:
 *
 *   live       parts with b <= to < s
 *   leaked     the same at the last snapshot
 *   allocated  from < b <= to, not inherited: all parts
 *   freed      from < s <= to
 *   survivors  from < b <= to, not inherited, to < s
 *   peak       what the peak recorded for c, taken from the parts that died last
 *   temporary  the temporary blocks of c, taken from the parts that died first
 *   growth     (only inside diff) live at to, minus live at from
 *
 * Times.  t(s) is when snapshot s was taken, t(0) = 0.  Births and deaths are known by the
 * snapshot that ends their interval, so all of these are at the resolution of snapshots:
 *
 *   born      t(b)
 *   died      t(s); unknown if there is none, and then no condition on it holds
 *   lifetime  live, leaked, survivors, growth   t(instant) - t(b)
 *             peak                              time of the peak - t(b), at least 0
 *             freed, temporary                  t(s) - t(b)
 *             allocated                         t(s) - t(b); t(last) - t(b) if it never died
 *
 * Sites whose blocks differ in size know bytes but no sizes: `size` and `max` are then the mean
 * of all births of the cohort, rounded down.
 */
#include "config.h"

#include "query/exec.h"

#include <string.h>

void cells_release(struct cells *c)
{
	mem_free(c->cohort);
	mem_free(c->death);
	mem_free(c->value);
	*c = (struct cells){.count = 0};
}

bool cells_by_death(const struct plan *pl, enum graph_pop pop)
{
	if (pl->uses_died)
		return true;
	bool is_over = pop == POP_ALLOCATED || pop == POP_FREED || pop == POP_TEMPORARY;
	return (pl->uses_lifetime && is_over) || (pl->uses_time && pop == POP_FREED);
}

/* ---- fields ---------------------------------------------------------------------------- */

static snap_id birth_of(const struct cells *c, size_t i)
{
	return graph_cohort_birth(c->file->g, c->cohort[i]);
}

static uint64_t since(uint64_t to_ns, uint64_t from_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

uint64_t cell_lifetime(const struct cells *c, size_t i)
{
	const struct graph *g = c->file->g;
	uint64_t born_ns = graph_snap_time(g, birth_of(c, i));
	switch (c->side.pop) {
	case POP_ALLOCATED:
	case POP_FREED:
	case POP_TEMPORARY: {
		snap_id death = c->death && c->death[i] ? c->death[i] : graph_last_snap(g);
		return since(graph_snap_time(g, death), born_ns);
	}
	default:
		return since(c->side.instant_ns, born_ns);
	}
}

uint64_t cell_time(const struct cells *c, size_t i)
{
	if (c->side.pop == POP_FREED && c->death)
		return graph_snap_time(c->file->g, c->death[i]);
	return graph_snap_time(c->file->g, birth_of(c, i));
}

int64_t cell_size(const struct cells *c, size_t i)
{
	const struct profile *p = c->file->p;
	uint64_t size = profile_site_size_bytes(p, cell_site(c, i));
	if (size != PROFILE_SIZE_MIXED)
		return size > INT64_MAX ? INT64_MAX : (int64_t)size;
	uint64_t births = profile_cohort_births(p, c->cohort[i]);
	uint64_t bytes = profile_cohort_born_bytes(p, c->cohort[i]);
	return births && bytes / births <= INT64_MAX ? (int64_t)(bytes / births) : 0;
}

bool cell_field(const struct cells *c, size_t i, enum ast_field field, int64_t *out)
{
	const struct profile *p = c->file->p;
	const struct graph *g = c->file->g;
	*out = 0;
	switch (field) {
	case FIELD_SIZE:
		*out = cell_size(c, i);
		return true;
	case FIELD_TID: {
		thread_id id = profile_cohort_thread(p, c->cohort[i]);
		*out = id ? p->threads[id - 1].tid : 0;
		return *out != 0;
	}
	case FIELD_LIFETIME:
		*out = (int64_t)cell_lifetime(c, i);
		return true;
	case FIELD_BORN:
		*out = (int64_t)graph_snap_time(g, birth_of(c, i));
		return true;
	case FIELD_DIED:
		if (!c->death || !c->death[i])
			return false;
		*out = (int64_t)graph_snap_time(g, c->death[i]);
		return true;
	case FIELD_DEPTH:
		*out = file_depth(c->file, cell_inner(c, i));
		return true;
	default:
		return false;
	}
}

/* ---- loading -------------------------------------------------------------------------------- */

static bool reserve(struct cells *c, size_t count, bool by_death)
{
	c->cohort = mem_array(count, sizeof *c->cohort);
	c->value = mem_array(count, sizeof *c->value);
	if (by_death)
		c->death = mem_array(count, sizeof *c->death);
	return c->cohort && c->value && (!by_death || c->death);
}

static void emit(struct cells *c, size_t cohort, snap_id death, struct graph_sum value)
{
	if (!value.blocks && !value.bytes)
		return;
	c->cohort[c->count] = (uint32_t)cohort;
	c->value[c->count] = value;
	if (c->death)
		c->death[c->count] = death;
	c->count++;
}

static enum neap_err load_cohorts(struct cells *c, struct err *e)
{
	size_t count = c->file->p->cohort_count;
	if (!reserve(c, count, false))
		return err_nomem(e, "the population");
	graph_pop_cohorts(c->file->g, c->side.pop, c->side.window, c->value);
	for (size_t i = 0; i < count; i++) /* forwards, onto what was read */
		emit(c, i, 0, c->value[i]);
	return NEAP_OK;
}

static struct graph_sum death_value(const struct profile *p, size_t row)
{
	return (struct graph_sum){(int64_t)profile_death_blocks(p, row),
				  (int64_t)profile_death_bytes(p, row)};
}

static void take_death(struct graph_sum *from, const struct profile *p, size_t row)
{
	struct graph_sum v = death_value(p, row);
	sum_take(from, &v);
}

/* R of every cohort. */
static struct graph_sum *load_rests(const struct profile *p)
{
	struct graph_sum *rest = mem_array(p->cohort_count, sizeof *rest);
	for (size_t i = 0; rest && i < p->cohort_count; i++)
		rest[i] = (struct graph_sum){(int64_t)profile_cohort_births(p, i),
					     (int64_t)profile_cohort_born_bytes(p, i)};
	for (size_t i = 0; rest && i < p->death_count; i++)
		take_death(&rest[profile_death_cohort(p, i) - 1], p, i);
	return rest;
}

/* Is a part of the population?  death 0: never.  Not for peak and temporary. */
static bool has_part(enum graph_pop pop, struct graph_window w, snap_id birth, snap_id death)
{
	bool is_born_in = birth > w.from && birth <= w.to;
	bool outlives = !death || death > w.to;
	switch (pop) {
	case POP_ALLOCATED:
		return is_born_in;
	case POP_FREED:
		return death > w.from && death <= w.to;
	case POP_SURVIVORS:
		return is_born_in && outlives;
	default:
		return birth <= w.to && outlives;
	}
}

static void emit_parts(struct cells *c, enum graph_pop pop, struct graph_window w,
		       const struct graph_sum *rests)
{
	const struct profile *p = c->file->p;
	const struct graph *g = c->file->g;
	for (size_t i = 0; i < p->cohort_count; i++) {
		if (has_part(pop, w, graph_cohort_birth(g, i), 0))
			emit(c, i, 0, rests[i]);
	}
	for (snap_id s = 1; s <= p->snapshot_count; s++) {
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			size_t cohort = profile_death_cohort(p, i) - 1;
			if (has_part(pop, w, graph_cohort_birth(g, cohort), s))
				emit(c, cohort, s, death_value(p, i));
		}
	}
}

/* Of what is left to take from a cohort, take at most a part of it. */
static void take_part(struct cells *c, size_t cohort, snap_id death, struct graph_sum part,
		      struct graph_sum *left)
{
	if (left->blocks <= 0 || part.blocks <= 0)
		return;
	struct graph_sum taken = left->blocks <= part.blocks ? *left : part;
	sum_take(left, &taken);
	emit(c, cohort, death, taken);
}

static void take_parts(struct cells *c, struct graph_sum *left, const struct graph_sum *rests)
{
	const struct profile *p = c->file->p;
	bool is_peak = c->side.pop == POP_PEAK;
	for (size_t i = 0; is_peak && i < p->cohort_count; i++)
		take_part(c, i, 0, rests[i], &left[i]);
	for (size_t k = 0; k < p->snapshot_count; k++) {
		snap_id s = (snap_id)(is_peak ? p->snapshot_count - k : k + 1);
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			size_t cohort = profile_death_cohort(p, i) - 1;
			take_part(c, cohort, s, death_value(p, i), &left[cohort]);
		}
	}
	/* What does not fit the deaths of the file must not be lost. */
	for (size_t i = 0; i < p->cohort_count; i++)
		emit(c, i, 0, left[i]);
}

static void negate(struct cells *c, size_t from)
{
	for (size_t i = from; i < c->count; i++) {
		struct graph_sum v = {0, 0};
		sum_take(&v, &c->value[i]);
		c->value[i] = v;
	}
}

static void emit_by_death(struct cells *c, struct graph_sum *left, const struct graph_sum *rests)
{
	struct graph_window w = c->side.window;
	switch (c->side.pop) {
	case POP_PEAK:
	case POP_TEMPORARY:
		graph_pop_cohorts(c->file->g, c->side.pop, w, left);
		take_parts(c, left, rests);
		break;
	case POP_GROWTH: {
		emit_parts(c, POP_LIVE, (struct graph_window){0, w.from}, rests);
		negate(c, 0);
		emit_parts(c, POP_LIVE, (struct graph_window){0, w.to}, rests);
		break;
	}
	case POP_LEAKED:
		w.to = graph_last_snap(c->file->g);
		emit_parts(c, POP_LIVE, w, rests);
		break;
	default:
		emit_parts(c, c->side.pop, w, rests);
	}
}

static enum neap_err load_by_death(struct cells *c, struct err *e)
{
	const struct profile *p = c->file->p;
	/* Each death gives one cell, each cohort the rest and what is left over. */
	size_t most = 2 * (p->death_count + p->cohort_count);
	struct graph_sum *rests = load_rests(p);
	struct graph_sum *left = mem_zarray(p->cohort_count, sizeof *left);
	bool is_good = rests && left && reserve(c, most, true);
	if (is_good)
		emit_by_death(c, left, rests);
	mem_free(rests);
	mem_free(left);
	return is_good ? NEAP_OK : err_nomem(e, "the population");
}

static enum neap_err finish(struct cells *c, enum neap_err code)
{
	if (code)
		cells_release(c);
	return code;
}

enum neap_err cells_load_births(const struct plan_side *side, struct cells *out, struct err *e)
{
	const struct profile *p = side->file->p;
	enum neap_err code = NEAP_OK;
	*out = (struct cells){.file = side->file, .side = *side};
	if (!reserve(out, p->cohort_count, false))
		code = err_nomem(e, "the population");
	for (size_t i = 0; !code && i < p->cohort_count; i++) {
		struct graph_sum born = {(int64_t)profile_cohort_births(p, i),
					 (int64_t)profile_cohort_born_bytes(p, i)};
		emit(out, i, 0, born);
	}
	return finish(out, code);
}

enum neap_err cells_load(const struct plan_side *side, bool by_death, struct cells *out,
			 struct err *e)
{
	*out = (struct cells){.file = side->file, .side = *side};
	return finish(out, by_death ? load_by_death(out, e) : load_cohorts(out, e));
}

void cells_keep(struct cells *c, const uint8_t *keep)
{
	size_t kept = 0;
	for (size_t i = 0; i < c->count; i++) {
		if (!keep[i])
			continue;
		c->cohort[kept] = c->cohort[i];
		c->value[kept] = c->value[i];
		if (c->death)
			c->death[kept] = c->death[i];
		kept++;
	}
	c->count = kept;
}

struct graph_sum cells_sum(const struct cells *c)
{
	struct graph_sum sum = {0, 0};
	for (size_t i = 0; i < c->count; i++)
		sum_add(&sum, &c->value[i]);
	return sum;
}
