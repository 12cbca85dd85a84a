/*
 * Populations: the formulas of graph.h over cohorts and deaths.
 *
 * Deaths lie in the file grouped by snapshot, so D(s) is a prefix of them.  The sum of
 * all deaths of each cohort is kept, which allows to count a prefix from the other end
 * when that is shorter: D(s) = D(S) - deaths after s.
 */
#include "config.h"

#include "src/graph/graph_priv.h"

#include <string.h>

static const char *const pop_names[] = {
	[POP_LIVE] = "live",           [POP_PEAK] = "peak",     [POP_LEAKED] = "leaked",
	[POP_ALLOCATED] = "allocated", [POP_FREED] = "freed",   [POP_TEMPORARY] = "temporary",
	[POP_SURVIVORS] = "survivors", [POP_GROWTH] = "growth",
};

const char *graph_pop_name(enum graph_pop pop)
{
	return pop < POP_COUNT ? pop_names[pop] : "unknown";
}

struct graph_window graph_whole_run(const struct graph *g)
{
	return (struct graph_window){.from = 0, .to = graph_last_snap(g)};
}

/* value += sign * deaths recorded by snapshots from + 1 .. to */
static void add_death_rows(const struct profile *p, struct graph_window w, int sign,
			   struct graph_sum *values)
{
	if (w.from >= w.to)
		return;
	for (size_t i = p->death_first[w.from]; i < p->death_first[w.to]; i++) {
		struct graph_sum *v = &values[profile_death_cohort(p, i) - 1];
		v->blocks += sign * (int64_t)profile_death_blocks(p, i);
		v->bytes += sign * (int64_t)profile_death_bytes(p, i);
	}
}

/* D(S) of one cohort. */
static struct graph_sum died_of(const struct graph *g, size_t row)
{
	uint64_t blocks = narrow_get(&g->cohort_died, row);
	uint64_t size = profile_cohort_size_bytes(g->p, row);
	uint64_t bytes = size != PROFILE_SIZE_MIXED
				 ? blocks * size
				 : g->mixed_died_bytes[rowset_find(&g->p->cohort_mixed, row)];
	return (struct graph_sum){(int64_t)blocks, (int64_t)bytes};
}

/* value += sign * (D(to) - D(from)), by whichever way has fewer rows */
static void add_deaths(const struct graph *g, struct graph_window w, int sign,
		       struct graph_sum *values)
{
	const struct profile *p = g->p;
	snap_id last = graph_last_snap(g);
	if (w.from >= w.to)
		return;
	size_t rows = p->death_first[w.to] - p->death_first[w.from];
	if (rows <= p->death_count / 2) {
		add_death_rows(p, w, sign, values);
		return;
	}
	for (size_t i = 0; i < p->cohort_count; i++) {
		struct graph_sum died = died_of(g, i);
		values[i].blocks += sign * died.blocks;
		values[i].bytes += sign * died.bytes;
	}
	add_death_rows(p, (struct graph_window){.from = 0, .to = w.from}, -sign, values);
	add_death_rows(p, (struct graph_window){.from = w.to, .to = last}, -sign, values);
}

/* Births in the window.  Inherited cohorts are born at 0, so no window holds them. */
static void set_births(const struct profile *p, struct graph_window w, struct graph_sum *values)
{
	for (size_t i = 0; i < p->cohort_count; i++) {
		snap_id birth = graph_birth(p, i);
		int64_t is_in = birth > w.from && birth <= w.to;
		values[i].blocks = is_in * (int64_t)profile_cohort_births(p, i);
		values[i].bytes = is_in * (int64_t)profile_cohort_born_bytes(p, i);
	}
}

static void set_temporary(const struct profile *p, struct graph_window w, struct graph_sum *values)
{
	for (size_t i = 0; i < p->cohort_count; i++) {
		snap_id birth = graph_birth(p, i);
		int64_t is_in = birth > w.from && birth <= w.to;
		values[i].blocks = is_in * (int64_t)profile_cohort_temporary(p, i);
		values[i].bytes = is_in * (int64_t)profile_cohort_temporary_bytes(p, i);
	}
}

static void set_live(const struct graph *g, snap_id at, struct graph_sum *values)
{
	const struct profile *p = g->p;
	for (size_t i = 0; i < p->cohort_count; i++) {
		int64_t is_in = graph_birth(p, i) <= at;
		values[i].blocks = is_in * (int64_t)profile_cohort_births(p, i);
		values[i].bytes = is_in * (int64_t)profile_cohort_born_bytes(p, i);
	}
	add_deaths(g, (struct graph_window){.from = 0, .to = at}, -1, values);
}

static void set_peak(const struct graph *g, struct graph_sum *values)
{
	const struct profile *p = g->p;
	if (!p->has_peak) {
		set_live(g, g->peak_snap, values);
		return;
	}
	memset(values, 0, p->cohort_count * sizeof *values);
	for (size_t i = 0; i < p->peak_entry_count; i++) {
		const struct profile_peak_entry *entry = &p->peak_entries[i];
		values[entry->cohort - 1].blocks += (int64_t)entry->blocks;
		values[entry->cohort - 1].bytes += (int64_t)entry->bytes;
	}
}

/* Of the births of the window, those that D(to) does not name. */
static void set_survivors(const struct graph *g, struct graph_window w, struct graph_sum *values)
{
	const struct profile *p = g->p;
	set_live(g, w.to, values);
	for (size_t i = 0; i < p->cohort_count; i++) {
		snap_id birth = graph_birth(p, i);
		int64_t is_in = birth > w.from && birth <= w.to;
		values[i].blocks *= is_in;
		values[i].bytes *= is_in;
	}
}

/* live(to) - live(from) = births in the window - deaths in it. */
static void set_growth(const struct graph *g, struct graph_window w, struct graph_sum *values)
{
	set_births(g->p, w, values);
	add_deaths(g, w, -1, values);
}

void graph_pop_cohorts(const struct graph *g, enum graph_pop pop, struct graph_window w,
		       struct graph_sum *cohorts_out)
{
	snap_id last = graph_last_snap(g);
	if (w.to > last)
		w.to = last;
	if (w.from > w.to)
		w.from = w.to;
	switch (pop) {
	case POP_LIVE:
		set_live(g, w.to, cohorts_out);
		break;
	case POP_PEAK:
		set_peak(g, cohorts_out);
		break;
	case POP_LEAKED:
		set_live(g, last, cohorts_out);
		break;
	case POP_ALLOCATED:
		set_births(g->p, w, cohorts_out);
		break;
	case POP_FREED:
		memset(cohorts_out, 0, g->p->cohort_count * sizeof *cohorts_out);
		add_deaths(g, w, 1, cohorts_out);
		break;
	case POP_TEMPORARY:
		set_temporary(g->p, w, cohorts_out);
		break;
	case POP_SURVIVORS:
		set_survivors(g, w, cohorts_out);
		break;
	case POP_GROWTH:
		set_growth(g, w, cohorts_out);
		break;
	case POP_COUNT:
		break;
	}
}

/* ---- gathering ------------------------------------------------------------------- */

static void add_to(struct graph_sum *to, const struct graph_sum *value)
{
	to->blocks += value->blocks;
	to->bytes += value->bytes;
}

struct graph_sum graph_add_up(const struct graph_sum *values, size_t count)
{
	struct graph_sum sum = {0, 0};
	for (size_t i = 0; i < count; i++)
		add_to(&sum, &values[i]);
	return sum;
}

void graph_sum_sites(const struct graph *g, const struct graph_sum *cohorts,
		     struct graph_sum *sites_out)
{
	const struct profile *p = g->p;
	memset(sites_out, 0, p->site_count * sizeof *sites_out);
	for (size_t i = 0; i < p->cohort_count; i++)
		add_to(&sites_out[profile_cohort_site(p, i) - 1], &cohorts[i]);
}

/* ---- over time ------------------------------------------------------------------------ */

static void add_births_over_time(const struct profile *p, const uint8_t *keep,
				 struct graph_tick *ticks)
{
	for (size_t i = 0; i < p->cohort_count; i++) {
		snap_id birth = graph_birth(p, i);
		if ((keep && !keep[i]) || birth > p->snapshot_count)
			continue;
		struct graph_sum *at = birth ? &ticks[birth].allocated : &ticks[0].live;
		at->blocks += (int64_t)profile_cohort_births(p, i);
		at->bytes += (int64_t)profile_cohort_born_bytes(p, i);
	}
}

void graph_timeline(const struct graph *g, const uint8_t *keep, struct graph_tick *ticks_out)
{
	const struct profile *p = g->p;
	size_t count = p->snapshot_count + 1;
	memset(ticks_out, 0, count * sizeof *ticks_out);
	add_births_over_time(p, keep, ticks_out);
	for (size_t s = 1; s < count; s++) {
		struct graph_tick *tick = &ticks_out[s];
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			if (keep && !keep[profile_death_cohort(p, i) - 1])
				continue;
			tick->freed.blocks += (int64_t)profile_death_blocks(p, i);
			tick->freed.bytes += (int64_t)profile_death_bytes(p, i);
		}
		tick->time_ns = p->snapshots[s - 1].time_ns;
		tick->live.blocks =
			ticks_out[s - 1].live.blocks + tick->allocated.blocks - tick->freed.blocks;
		tick->live.bytes =
			ticks_out[s - 1].live.bytes + tick->allocated.bytes - tick->freed.bytes;
	}
}
