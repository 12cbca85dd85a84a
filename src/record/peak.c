/*
 * After the last snapshot: what every cohort held at the peak, and what is left.
 *
 * A cohort stamped with the current peak epoch has its live value at the peak saved;
 * any other has not changed since, so its live value is it.  Cohorts that were
 * recycled since the peak are in recycler.left.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <stdlib.h>

struct share {
	uint64_t blocks, bytes;
};

static struct share live_share(const struct process *p, uint32_t idx, const struct shadow *s)
{
	struct share live = {.blocks = s->births - s->deaths};
	if (!(s->flags & SHADOW_MIXED)) {
		live.bytes = live.blocks * s->size_bytes;
		return live;
	}
	const struct shadow *b = chunks_find(&p->scanner.shadows, idx + 1);
	live.bytes = b ? b->births - b->deaths : 0;
	return live;
}

static struct share peak_share(const struct process *p, uint32_t idx, const struct shadow *s,
			       uint64_t epoch)
{
	const struct nc_cohort *c = &p->region.cohorts[idx];
	if (c->epoch != epoch)
		return live_share(p, idx, s);
	if (!(s->flags & SHADOW_MIXED))
		return (struct share){c->at_peak, c->at_peak * s->size_bytes};
	const struct nc_cohort_bytes *b = (const void *)(c + 1);
	return (struct share){c->at_peak, b->at_peak_bytes};
}

/* Does the region still hold the cohort that was last written from this index? */
static bool is_in_place(const struct process *p, uint32_t idx, const struct shadow *s)
{
	const struct nc_cohort *c = &p->region.cohorts[idx];
	return s && s->number && c->birth == s->birth && c->births >= s->births;
}

struct entries {
	struct profile_peak_entry *items;
	size_t count, cap;
	uint64_t blocks, bytes; /* sums */
	bool has_failed;
};

static void add_entry(const struct process *p, struct entries *list, uint32_t number,
		      struct share share)
{
	cohort_id id = queue_cohort_id(&p->queue, number);
	if (!id || !share.blocks || list->has_failed)
		return;
	if (!vec_reserve((void **)&list->items, &list->cap, list->count + 1,
			 sizeof list->items[0])) {
		list->has_failed = true;
		return;
	}
	list->items[list->count++] = (struct profile_peak_entry){id, share.blocks, share.bytes};
	list->blocks += share.blocks;
	list->bytes += share.bytes;
}

static int by_cohort(const void *a, const void *b)
{
	cohort_id x = ((const struct profile_peak_entry *)a)->cohort;
	cohort_id y = ((const struct profile_peak_entry *)b)->cohort;
	return (x > y) - (x < y);
}

/* What every cohort holds now; also the process's totals at its end. */
static void collect_live(struct process *p, struct entries *list)
{
	uint32_t used = region_used(&p->region, NC_SEC_COHORTS);
	for (uint32_t idx = 1; idx < used; idx++) {
		const struct shadow *s = chunks_find(&p->scanner.shadows, idx);
		if (is_in_place(p, idx, s))
			add_entry(p, list, s->number, live_share(p, idx, s));
	}
}

static void collect_peak(struct process *p, uint64_t epoch, struct entries *list)
{
	uint32_t used = region_used(&p->region, NC_SEC_COHORTS);
	for (uint32_t idx = 1; idx < used; idx++) {
		const struct shadow *s = chunks_find(&p->scanner.shadows, idx);
		if (is_in_place(p, idx, s))
			add_entry(p, list, s->number, peak_share(p, idx, s, epoch));
	}
	const struct recycler *r = &p->recycler;
	if (r->epoch != epoch)
		return;
	for (size_t i = 0; i < r->left_count; i++) {
		const struct left_share *left = &r->left[i];
		if (!left->idx)
			continue;
		const struct shadow *s = chunks_find(&p->scanner.shadows, left->idx);
		if (s && s->birth == left->birth && is_in_place(p, left->idx, s))
			continue; /* not reused: counted above */
		add_entry(p, list, left->number, (struct share){left->blocks, left->bytes});
	}
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static struct profile_peak read_peak(const struct process *p)
{
	const struct nc_header *h = p->region.header;
	uint64_t tick_ns = h->peak_tick_ns;
	struct profile_peak peak = {
		.bytes = nc_peak_bytes(h),
		.time_ns = tick_ns > p->base_ns ? tick_ns - p->base_ns : 0,
		.bound_bytes = nc_peak_bound_bytes(h),
		.snap = h->peak_interval < 1 ? 1 : h->peak_interval,
	};
	if (peak.snap > p->snapshot_count)
		peak.snap = p->snapshot_count;
	return peak;
}

/*
 * The program may have been killed between two stores of one event: a block is counted,
 * but not yet in the total, or the total is a new peak of the old epoch.  Then the peak is now.
 */
static bool is_peak_now(const struct profile_peak *peak, uint64_t peak_sum_bytes,
			uint64_t live_bytes)
{
	if (live_bytes > peak->bytes && live_bytes - peak->bytes > peak->bound_bytes)
		return true;
	return distance(peak_sum_bytes, peak->bytes) > peak->bound_bytes &&
	       distance(live_bytes, peak->bytes) <= peak->bound_bytes;
}

void peak_write(struct process *p, uint64_t now)
{
	struct entries then = {0}, live = {0};
	struct profile_peak peak = read_peak(p);
	collect_peak(p, region_peak_epoch(&p->region), &then);
	collect_live(p, &live);
	p->live_blocks = live.blocks;
	p->live_bytes = live.bytes;
	struct entries *chosen = &then;
	if (is_peak_now(&peak, then.bytes, live.bytes)) {
		chosen = &live;
		if (live.bytes > peak.bytes)
			peak.bytes = live.bytes;
		peak.time_ns = now - p->base_ns;
		peak.snap = p->snapshot_count;
	}
	/* Never claim more than the counters say. */
	if (distance(chosen->bytes, peak.bytes) > peak.bound_bytes)
		peak.bound_bytes = distance(chosen->bytes, peak.bytes);
	p->peak_bytes = peak.bytes;
	if (chosen->count > 1)
		qsort(chosen->items, chosen->count, sizeof chosen->items[0], by_cohort);
	if (then.has_failed || live.has_failed)
		p->is_starved = true;
	else
		profile_set_peak(p->writer, &peak, chosen->items, chosen->count);
	mem_free(then.items);
	mem_free(live.items);
}
