/*
 * Dead cohorts on their way back to a thread.
 *
 *   scan.c finds one dead -> young (waits) -> ready of its thread -> its ring -> reused
 *
 * A thread that was preempted inside a hook can still count an event in a cohort of an
 * interval that is over; if that cohort were handed on and reused at once, the event would be
 * overwritten before it was seen here.  So it waits, and its births go along with it: the
 * thread does not take it if there were more since.
 *
 * Nothing is recycled in a process that has not used many cohorts: a child of fork reads
 * its parent's at its first event, which may be long after the fork (collector/fork.c).
 *
 * What a recycled cohort held at the peak is kept in `left` until the peak moves on.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <string.h>

#define WAIT_BUSY_NS   (250 * NS_PER_MS)
#define WAIT_SNAPSHOTS 4u

void recycler_release(struct recycler *r)
{
	mem_free(r->young.items);
	mem_free(r->recent);
	mem_free(r->left);
	*r = (struct recycler){0};
}

static bool append(struct retirees *q, const struct retiree *item)
{
	if (q->first > 64 && q->first * 2 > q->count) {
		memmove(q->items, q->items + q->first, (q->count - q->first) * sizeof q->items[0]);
		q->count -= q->first;
		q->first = 0;
	}
	if (!vec_reserve((void **)&q->items, &q->cap, q->count + 1, sizeof q->items[0]))
		return false;
	q->items[q->count++] = *item;
	return true;
}

void recycle_queue(struct process *p, uint32_t idx, struct shadow *s)
{
	const struct region *region = &p->region;
	uint64_t used = region_used(region, NC_SEC_COHORTS), unused = region->header->first_cohort;
	if (used < unused + p->recorder->options->recycle_from_count)
		return;
	struct retiree item = {
		.idx = idx,
		.birth = s->birth,
		.births = (uint32_t)s->births,
		.since = p->interval,
	};
	/* Out of memory: it is just not recycled. */
	if (append(&p->recycler.young, &item))
		s->flags |= SHADOW_QUEUED;
}

/* Forget shares of peaks that were passed. */
static uint64_t follow_epoch(struct process *p)
{
	struct recycler *r = &p->recycler;
	uint64_t epoch = region_peak_epoch(&p->region);
	if (epoch != r->epoch)
		r->left_count = 0;
	r->epoch = epoch;
	return epoch;
}

void recycle_revive(struct process *p, uint32_t idx, struct shadow *s)
{
	struct recycler *r = &p->recycler;
	s->flags &= ~(uint32_t)SHADOW_PUSHED;
	if (s->left_idx < r->left_count && r->left[s->left_idx].idx == idx)
		r->left[s->left_idx].idx = NC_NONE;
}

static bool keep_share(struct process *p, uint32_t idx, struct shadow *s)
{
	struct recycler *r = &p->recycler;
	const struct nc_cohort *c = &p->region.cohorts[idx];
	uint64_t epoch = follow_epoch(p);
	s->left_idx = UINT32_MAX;
	if (c->epoch != epoch || !c->at_peak)
		return true;
	if (!vec_reserve((void **)&r->left, &r->left_cap, r->left_count + 1, sizeof r->left[0]))
		return false;
	s->left_idx = (uint32_t)r->left_count;
	r->left[r->left_count++] = (struct left_share){
		.idx = idx,
		.birth = s->birth,
		.number = s->number,
		.births = s->births,
		.blocks = c->at_peak,
		.bytes = c->at_peak * s->size_bytes,
	};
	return true;
}

/* Is it certain that the place where it was put before has been taken? */
static bool has_left_ring(const struct process *p, const struct shadow *s)
{
	if (!s->push_thread)
		return true;
	const struct thread_entry *t = &p->threads.entries[s->push_thread];
	if (t->flags & NC_THREAD_ENDED)
		return true;
	uint32_t tail =
		__atomic_load_n(&p->region.threads[s->push_thread].ring_tail, __ATOMIC_ACQUIRE);
	return (int32_t)(tail - s->push_head) > 0;
}

/* Nothing has happened to the cohort that was not written yet. */
static bool is_settled(const struct process *p, const struct retiree *item, const struct shadow *s)
{
	const struct nc_cohort *c = &p->region.cohorts[item->idx];
	uint64_t deaths = __atomic_load_n(&c->deaths, __ATOMIC_ACQUIRE) +
			  __atomic_load_n(&c->remote_deaths, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->births, __ATOMIC_ACQUIRE) == s->births && deaths == s->deaths &&
	       __atomic_load_n(&c->birth, __ATOMIC_ACQUIRE) == item->birth;
}

enum handing {
	HAND_NOW,
	HAND_LATER,
	HAND_NEVER
};

static enum handing may_hand_on(const struct process *p, const struct retiree *item,
				const struct shadow *s)
{
	if (!s || s->birth != item->birth || !(s->flags & SHADOW_QUEUED) || s->births != s->deaths)
		return HAND_NEVER;
	if ((uint32_t)s->births != item->births || !has_left_ring(p, s) || !is_settled(p, item, s))
		return HAND_LATER;
	return HAND_NOW;
}

/* The thread whose ring a cohort goes to; 0 if there is none. */
static uint32_t choose_thread(struct process *p, uint32_t idx)
{
	struct threads *ts = &p->threads;
	uint32_t owner = p->region.cohorts[idx].thread;
	if (owner < ts->entry_count && ts->entries[owner].id &&
	    !(ts->entries[owner].flags & NC_THREAD_ENDED))
		return owner;
	for (size_t i = 0; i < ts->live_count; i++) {
		uint32_t live = ts->live[ts->next_live++ % ts->live_count];
		if (!(ts->entries[live].flags & (NC_THREAD_NESTED | NC_THREAD_ENDED)))
			return live;
	}
	return 0;
}

static void drop(struct shadow *s, uint32_t birth)
{
	if (s && s->birth == birth)
		s->flags &= ~(uint32_t)SHADOW_QUEUED;
}

/* Wait again from now on. */
static void put_back(struct process *p, const struct retiree *item, struct shadow *s)
{
	s->flags &= ~(uint32_t)SHADOW_QUEUED;
	recycle_queue(p, item->idx, s);
}

static void sort_out_young(struct process *p)
{
	struct recycler *r = &p->recycler;
	while (r->young.first < r->young.count) {
		struct retiree item = r->young.items[r->young.first];
		if (item.since > r->ripe_snap)
			break;
		r->young.first++;
		struct shadow *s = chunks_find(&p->scanner.shadows, item.idx);
		enum handing h = may_hand_on(p, &item, s);
		uint32_t thread = h == HAND_NOW ? choose_thread(p, item.idx) : 0;
		if (h == HAND_LATER)
			put_back(p, &item, s);
		else if (!thread || !append(&p->threads.entries[thread].ready, &item))
			drop(s, item.birth);
	}
}

/* Which snapshots are long enough ago, in time that the program was busy and in snapshots. */
static void ripen(struct process *p)
{
	struct recycler *r = &p->recycler;
	if (r->recent_first > 64 && r->recent_first * 2 > r->recent_count) {
		r->recent_count -= r->recent_first;
		memmove(r->recent, r->recent + r->recent_first,
			r->recent_count * sizeof r->recent[0]);
		r->recent_first = 0;
	}
	if (vec_reserve((void **)&r->recent, &r->recent_cap, r->recent_count + 1,
			sizeof r->recent[0]))
		r->recent[r->recent_count++] = (struct ripening){p->interval, r->busy_ns};
	while (r->recent_first < r->recent_count) {
		const struct ripening *oldest = &r->recent[r->recent_first];
		if (oldest->busy_ns + WAIT_BUSY_NS > r->busy_ns ||
		    oldest->snap + WAIT_SNAPSHOTS > p->interval)
			break;
		r->ripe_snap = oldest->snap;
		r->recent_first++;
	}
}

static void fill_ring(struct process *p, uint32_t thread)
{
	struct nc_thread *in = &p->region.threads[thread];
	struct retirees *ready = &p->threads.entries[thread].ready;
	uint32_t head = in->ring_head;
	uint32_t tail = __atomic_load_n(&in->ring_tail, __ATOMIC_ACQUIRE);
	while (ready->first < ready->count && head - tail < NC_RING_ENTRIES) {
		struct retiree item = ready->items[ready->first++];
		struct shadow *s = chunks_find(&p->scanner.shadows, item.idx);
		enum handing h = may_hand_on(p, &item, s);
		if (h == HAND_LATER) {
			put_back(p, &item, s);
			continue;
		}
		if (h == HAND_NEVER || !keep_share(p, item.idx, s)) {
			drop(s, item.birth);
			continue;
		}
		s->flags = (s->flags & ~(uint32_t)SHADOW_QUEUED) | SHADOW_PUSHED;
		s->push_thread = thread;
		s->push_head = head;
		in->ring[head++ % NC_RING_ENTRIES] = nc_ring_entry(item.idx, s->births);
		__atomic_store_n(&in->ring_head, head, __ATOMIC_RELEASE);
	}
}

void recycle_run(struct process *p)
{
	follow_epoch(p);
	ripen(p);
	sort_out_young(p);
	for (size_t i = 0; i < p->threads.live_count; i++) {
		const struct retirees *ready = &p->threads.entries[p->threads.live[i]].ready;
		if (ready->first < ready->count)
			fill_ring(p, p->threads.live[i]);
	}
}
