/* See graph_ref.h. */
#include "config.h"

#include "tests/unit/graph_ref.h"

#include <string.h>

static bool is_inherited(const struct profile *p, size_t c)
{
	return profile_cohort_flags(p, c) & COHORT_INHERITED;
}

static struct graph_sum deaths_until(const struct profile *p, size_t c, snap_id until)
{
	struct graph_sum sum = {0, 0};
	for (snap_id s = 1; s <= until; s++) {
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			if (profile_death_cohort(p, i) != c + 1)
				continue;
			sum.blocks += (int64_t)profile_death_blocks(p, i);
			sum.bytes += (int64_t)profile_death_bytes(p, i);
		}
	}
	return sum;
}

static struct graph_sum minus(struct graph_sum a, struct graph_sum b)
{
	return (struct graph_sum){a.blocks - b.blocks, a.bytes - b.bytes};
}

static struct graph_sum births(const struct profile *p, size_t c)
{
	return (struct graph_sum){(int64_t)profile_cohort_births(p, c),
				  (int64_t)profile_cohort_born_bytes(p, c)};
}

static struct graph_sum live_at(const struct profile *p, size_t c, snap_id at)
{
	bool is_born = is_inherited(p, c) || profile_cohort_birth(p, c) <= at;
	struct graph_sum none = {0, 0};
	return minus(is_born ? births(p, c) : none, deaths_until(p, c, at));
}

static snap_id highest_snapshot(const struct profile *p)
{
	snap_id best = 0;
	int64_t best_bytes = INT64_MIN;
	for (snap_id s = 0; s <= p->snapshot_count; s++) {
		int64_t bytes = 0;
		for (size_t c = 0; c < p->cohort_count; c++)
			bytes += live_at(p, c, s).bytes;
		if (bytes > best_bytes) {
			best = s;
			best_bytes = bytes;
		}
	}
	return best;
}

static struct graph_sum at_peak(const struct profile *p, size_t c)
{
	struct graph_sum sum = {0, 0};
	if (!p->has_peak)
		return live_at(p, c, highest_snapshot(p));
	for (size_t i = 0; i < p->peak_entry_count; i++) {
		if (p->peak_entries[i].cohort != c + 1)
			continue;
		sum.blocks += (int64_t)p->peak_entries[i].blocks;
		sum.bytes += (int64_t)p->peak_entries[i].bytes;
	}
	return sum;
}

struct graph_sum ref_cohort(const struct profile *p, enum graph_pop pop, struct graph_window w,
			    size_t c)
{
	struct graph_sum none = {0, 0};
	bool is_born_in = !is_inherited(p, c) && profile_cohort_birth(p, c) > w.from &&
			  profile_cohort_birth(p, c) <= w.to;
	switch (pop) {
	case POP_LIVE:
		return live_at(p, c, w.to);
	case POP_PEAK:
		return at_peak(p, c);
	case POP_LEAKED:
		return live_at(p, c, (snap_id)p->snapshot_count);
	case POP_ALLOCATED:
		return is_born_in ? births(p, c) : none;
	case POP_FREED:
		return minus(deaths_until(p, c, w.to), deaths_until(p, c, w.from));
	case POP_TEMPORARY:
		if (is_born_in)
			return (struct graph_sum){(int64_t)profile_cohort_temporary(p, c),
						  (int64_t)profile_cohort_temporary_bytes(p, c)};
		return none;
	case POP_SURVIVORS:
		return is_born_in ? live_at(p, c, w.to) : none;
	case POP_GROWTH:
		return minus(live_at(p, c, w.to), live_at(p, c, w.from));
	case POP_COUNT:
		break;
	}
	return none;
}

static const char *name_at(const struct profile *p, node_id n, size_t i)
{
	frame_id f = profile_node_frame(p, n);
	const struct profile_symbols *s = &p->symbols;
	if (!f || !p->has_symbols || s->first_line[f - 1] + i >= s->first_line[f])
		return NULL;
	return s->funcs[s->lines[s->first_line[f - 1] + i].func - 1].name;
}

const char *ref_leaf(const struct profile *p, node_id n, bool (*is_wrapper)(const char *))
{
	const char *last = NULL;
	for (; n >= PROFILE_NODE_FIRST; n = profile_node_parent(p, n)) {
		const char *at = name_at(p, n, 0);
		if (!at)
			return NULL; /* an address without a name is no wrapper */
		for (size_t i = 0; (at = name_at(p, n, i)); i++) {
			if (!is_wrapper(at))
				return at;
			last = at;
		}
	}
	return last;
}
