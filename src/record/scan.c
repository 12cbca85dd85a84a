/*
 * From the region to a snapshot.
 *
 * The end of an interval: raise the interval first, so that blocks born from now on
 * belong to the next one; clear the dirty bytes; then read.  An event may cross the
 * clearing: its counter is still on its way to memory while its thread has seen the
 * dirty byte set.  So a little time passes before counters are read (system calls for
 * processor time and memory), and groups are read again at the next snapshot if they
 * are few, or if something in them was not yet complete.  What was missed even so is
 * found when the group changes next, at the latest by the last snapshot, which looks
 * at everything.
 *
 *   dirty groups + those carried over -> cohorts that differ from their shadow
 *     -> the queue of snapshots to be written (queue.c)
 *
 * Counters are read in the order temporary, deaths, births: the reverse of the order
 * in which they are stored.  So temporary <= deaths <= births in every reading.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <string.h>

#define CARRY_ALL 128u /* dirty groups up to which all are read again */

_Static_assert(CHUNK_ENTRIES % NC_COHORT_CHUNK == 0, "a mixed cohort lies in one chunk of shadows");
_Static_assert(NC_COHORT_CHUNK % NC_DIRTY_COHORTS == 0, "a chunk of cohorts is whole groups");

void scanner_init(struct scanner *s)
{
	*s = (struct scanner){.shadows = {.elem_bytes = sizeof(struct shadow)}};
}

void scanner_release(struct scanner *s)
{
	chunks_release(&s->shadows);
	mem_free(s->dirty);
	mem_free(s->carry);
	mem_free(s->merged);
	scanner_init(s);
}

/* ---- which groups ---------------------------------------------------------- */

static uint32_t group_count(const struct process *p)
{
	uint32_t used = region_used(&p->region, NC_SEC_COHORTS);
	return (uint32_t)(((uint64_t)used + NC_DIRTY_COHORTS - 1) / NC_DIRTY_COHORTS);
}

/* The first group, rounded down to a whole word of dirty bytes: a child of fork uses none before. */
static uint32_t first_group(const struct process *p)
{
	uint32_t first = p->region.header->first_cohort / NC_DIRTY_COHORTS;
	return first & ~7u;
}

/* The section is a multiple of 8 bytes, and its unused part is clear. */
static uint64_t dirty_word(const struct process *p, uint32_t first_group)
{
	const uint64_t *words = (const uint64_t *)(const void *)p->region.dirty;
	return __atomic_load_n(&words[first_group / 8], __ATOMIC_RELAXED);
}

static bool has_dirty(const struct process *p)
{
	uint32_t groups = group_count(p);
	for (uint32_t g = first_group(p); g < groups; g += 8) {
		if (dirty_word(p, g))
			return true;
	}
	return false;
}

/* List the dirty groups in ascending order and clear their bytes. */
static bool take_dirty(struct process *p)
{
	struct scanner *s = &p->scanner;
	uint32_t groups = group_count(p);
	s->dirty_count = 0;
	for (uint32_t g = first_group(p); g < groups; g += 8) {
		if (!dirty_word(p, g))
			continue;
		if (!vec_reserve((void **)&s->dirty, &s->dirty_cap, s->dirty_count + 8,
				 sizeof s->dirty[0]))
			return false;
		for (uint32_t i = g; i < g + 8 && i < groups; i++) {
			if (!__atomic_load_n(&p->region.dirty[i], __ATOMIC_RELAXED))
				continue;
			__atomic_store_n(&p->region.dirty[i], 0, __ATOMIC_RELAXED);
			s->dirty[s->dirty_count++] = i;
		}
	}
	/* The cleared bytes are visible before any counter is read. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* Union of two ascending lists into s->merged; returns how many. */
static size_t merge_groups(struct scanner *s)
{
	size_t d = 0, c = 0, n = 0;
	while (d < s->dirty_count || c < s->carry_count) {
		uint32_t from_dirty = d < s->dirty_count ? s->dirty[d] : UINT32_MAX;
		uint32_t from_carry = c < s->carry_count ? s->carry[c] : UINT32_MAX;
		uint32_t next = from_dirty < from_carry ? from_dirty : from_carry;
		d += next == from_dirty;
		c += next == from_carry;
		s->merged[n++] = next;
	}
	return n;
}

/* The groups to read now are in s->merged. */
static bool choose_groups(struct process *p, size_t *count_out)
{
	struct scanner *s = &p->scanner;
	if (!take_dirty(p) || !vec_reserve((void **)&s->merged, &s->merged_cap,
					   s->dirty_count + s->carry_count, sizeof s->merged[0]))
		return false;
	*count_out = merge_groups(s);
	s->carry_count = 0;
	s->has_checked_carry = false;
	return true;
}

/* Read this group again at the next snapshot. */
static void carry(struct process *p, uint32_t group)
{
	struct scanner *s = &p->scanner;
	if (!vec_reserve((void **)&s->carry, &s->carry_cap, s->carry_count + 1, sizeof s->carry[0]))
		p->is_starved = true;
	else
		s->carry[s->carry_count++] = group;
}

static bool choose_all_groups(struct process *p, size_t *count_out)
{
	struct scanner *s = &p->scanner;
	uint32_t groups = group_count(p);
	size_t count = 0;
	if (!vec_reserve((void **)&s->merged, &s->merged_cap, groups, sizeof s->merged[0]))
		return false;
	for (uint32_t g = first_group(p); g < groups; g++)
		s->merged[count++] = g;
	*count_out = count;
	return true;
}

/* ---- one cohort ----------------------------------------------------------------- */

static uint64_t load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

struct counters {
	uint64_t births, deaths, temporary;
};

static struct counters read_blocks(const struct nc_cohort *c)
{
	struct counters r;
	r.temporary = load(&c->temporary);
	r.deaths = load(&c->deaths) + load(&c->remote_deaths);
	r.births = load(&c->births);
	return r;
}

static struct counters read_bytes(const struct nc_cohort *c)
{
	const struct nc_cohort_bytes *b = (const void *)(c + 1);
	struct counters r;
	r.temporary = load(&b->temporary_bytes);
	r.deaths = load(&b->died_bytes) + load(&b->remote_died_bytes);
	r.births = load(&b->born_bytes);
	return r;
}

static bool is_same(const struct counters *r, const struct shadow *s)
{
	return r->births == s->births && r->deaths == s->deaths && r->temporary == s->temporary;
}

/* Its owner is about to give the slot to a new cohort: look again next time. */
static bool is_being_reused(const struct counters *r, const struct shadow *s)
{
	return r->births < s->births || r->deaths < s->deaths || r->temporary < s->temporary;
}

static void remember(struct shadow *s, const struct counters *r)
{
	s->births = r->births;
	s->deaths = r->deaths;
	s->temporary = r->temporary;
}

/* Two slots of a mixed cohort lie in the same chunk of a thread. */
static bool may_be_mixed(uint32_t idx)
{
	return idx % NC_COHORT_CHUNK != NC_COHORT_CHUNK - 1;
}

enum delta {
	DELTA_NONE,
	DELTA_SOME,
	DELTA_UNCLEAR /* being reused */
};

/* Fill in the difference to what was written and remember it. */
static enum delta take_delta(const struct nc_cohort *c, struct shadow *s, struct profile_change *d)
{
	struct counters bytes = {0, 0, 0}, blocks;
	bool is_mixed = s->flags & SHADOW_MIXED;
	if (is_mixed)
		bytes = read_bytes(c);
	blocks = read_blocks(c);
	bool is_new_blocks = !is_same(&blocks, s);
	bool is_new_bytes = is_mixed && !is_same(&bytes, s + 1);
	if (!is_new_blocks && !is_new_bytes)
		return DELTA_NONE;
	if (is_being_reused(&blocks, s) || (is_mixed && is_being_reused(&bytes, s + 1)))
		return DELTA_UNCLEAR;
	*d = (struct profile_change){
		.births = blocks.births - s->births,
		.deaths = blocks.deaths - s->deaths,
		.temporary = blocks.temporary - s->temporary,
	};
	remember(s, &blocks);
	if (is_mixed) {
		d->born_bytes = bytes.births - s[1].births;
		d->died_bytes = bytes.deaths - s[1].deaths;
		d->temporary_bytes = bytes.temporary - s[1].temporary;
		remember(s + 1, &bytes);
	}
	return DELTA_SOME;
}

static void count_births(struct process *p, const struct shadow *s, const struct profile_change *d)
{
	if (s->flags & SHADOW_INHERITED)
		return;
	p->alloc_count += d->births;
	p->alloc_bytes += s->flags & SHADOW_MIXED ? d->born_bytes : d->births * s->size_bytes;
}

/* A birth interval that this snapshot can name; 0 if the cohort is for the next one. */
static snap_id birth_snap(uint32_t birth, snap_id snap, bool is_last)
{
	if (birth == NC_BIRTH_INHERITED)
		return 1;
	if (birth <= snap)
		return birth;
	return is_last ? snap : 0;
}

/* The slot was used for another cohort before, or never. */
static void begin_shadow(struct process *p, const struct nc_cohort *c, struct shadow *s,
			 uint32_t idx, uint32_t birth)
{
	*s = (struct shadow){.birth = birth, .left_idx = UINT32_MAX};
	uint32_t site = c->site;
	uint64_t key = site < p->region.max_count[NC_SEC_NODES] ? p->region.nodes[site].key : 0;
	uint64_t size_bytes = key & NC_KEY_SIZE_MASK;
	if (birth == NC_BIRTH_INHERITED)
		s->flags |= SHADOW_INHERITED;
	if (!(key & NC_KEY_SITE) || (size_bytes == NC_SIZE_MIXED && !may_be_mixed(idx))) {
		s->flags |= SHADOW_IGNORED;
		p->scanner.odd_count++;
	} else if (size_bytes == NC_SIZE_MIXED) {
		s->flags |= SHADOW_MIXED;
		s[1] = (struct shadow){.left_idx = UINT32_MAX};
	} else {
		s->size_bytes = size_bytes;
	}
}

static enum delta scan_new(struct process *p, uint32_t idx, struct shadow *s, uint32_t birth,
			   snap_id snap)
{
	const struct nc_cohort *c = &p->region.cohorts[idx];
	struct profile_change delta;
	begin_shadow(p, c, s, idx, birth);
	if (s->flags & SHADOW_IGNORED)
		return DELTA_NONE;
	/* Inherited blocks belong to no thread of this process: they go to its first. */
	thread_id thread = threads_find(p, c->thread ? c->thread : 1);
	if (!thread) {
		s->flags |= SHADOW_IGNORED;
		p->scanner.odd_count++;
		return DELTA_NONE;
	}
	if (take_delta(c, s, &delta) != DELTA_SOME) {
		s->birth = 0; /* nothing counted yet: still unknown */
		return DELTA_UNCLEAR;
	}
	struct queued_cohort cohort = {
		.site_node = c->site,
		.thread = thread,
		.birth = snap,
		.is_inherited = (s->flags & SHADOW_INHERITED) != 0,
	};
	s->number = queue_newborn(&p->queue, &cohort, &delta);
	p->is_starved |= !s->number;
	count_births(p, s, &delta);
	return DELTA_SOME;
}

static enum delta scan_known(struct process *p, uint32_t idx, struct shadow *s)
{
	struct profile_change delta;
	if (s->flags & SHADOW_IGNORED)
		return DELTA_NONE;
	enum delta found = take_delta(&p->region.cohorts[idx], s, &delta);
	if (found != DELTA_SOME)
		return found;
	if (s->flags & SHADOW_PUSHED)
		recycle_revive(p, idx, s);
	p->is_starved |= !queue_moved(&p->queue, s->number, &delta);
	count_births(p, s, &delta);
	return DELTA_SOME;
}

/* Dead and written.  recycle.c waits until no late event can come. */
static bool may_retire(const struct shadow *s)
{
	const uint32_t never = SHADOW_QUEUED | SHADOW_PUSHED | SHADOW_MIXED | SHADOW_IGNORED;
	return s->births == s->deaths && s->birth && !(s->flags & never);
}

/* One slot in use; DELTA_UNCLEAR if it must be looked at again soon. */
static enum delta scan_cohort(struct process *p, uint32_t idx, struct shadow *s, snap_id snap,
			      bool is_last)
{
	uint32_t birth = __atomic_load_n(&p->region.cohorts[idx].birth, __ATOMIC_ACQUIRE);
	if (!birth)
		return DELTA_NONE;
	if (birth == s->birth)
		return scan_known(p, idx, s);
	snap_id in_snap = birth_snap(birth, snap, is_last);
	return in_snap ? scan_new(p, idx, s, birth, in_snap) : DELTA_UNCLEAR;
}

/* The lines were just written by another processor: fetch them at once, not one by one.  Sites of
 * cohorts that are new are looked at too. */
static void prefetch_group(const struct process *p, uint32_t first, const struct shadow *shadows)
{
	const struct nc_cohort *cohorts = &p->region.cohorts[first];
	uint32_t node_count = p->region.max_count[NC_SEC_NODES];
	for (uint32_t i = 0; i < NC_DIRTY_COHORTS; i++)
		__builtin_prefetch(&cohorts[i]);
	for (uint32_t i = 0; i < NC_DIRTY_COHORTS; i++) {
		if (cohorts[i].birth != shadows[i].birth && cohorts[i].site < node_count)
			__builtin_prefetch(&p->region.nodes[cohorts[i].site]);
	}
}

/* True if the group must be looked at again at the next snapshot. */
static bool scan_group(struct process *p, uint32_t group, snap_id snap, bool is_last)
{
	uint32_t first = group * NC_DIRTY_COHORTS;
	uint32_t end = first + NC_DIRTY_COHORTS;
	uint32_t used = region_used(&p->region, NC_SEC_COHORTS);
	struct shadow *shadows = chunks_at(&p->scanner.shadows, first);
	bool is_unclear = false;
	if (!shadows) {
		p->is_starved = true;
		return false;
	}
	prefetch_group(p, first, shadows);
	for (uint32_t idx = first ? first : 1; idx < end && idx < used; idx++) {
		struct shadow *s = &shadows[idx - first];
		if (scan_cohort(p, idx, s, snap, is_last) == DELTA_UNCLEAR)
			is_unclear = true;
		else if (!is_last && may_retire(s))
			recycle_queue(p, idx, s);
	}
	return is_unclear;
}

/* ---- is there anything new? ------------------------------------------------------- */

static bool group_has_news(const struct process *p, uint32_t group)
{
	uint32_t first = group * NC_DIRTY_COHORTS;
	uint32_t used = region_used(&p->region, NC_SEC_COHORTS);
	const struct shadow *shadows = chunks_find(&p->scanner.shadows, first);
	if (!shadows)
		return true;
	for (uint32_t i = first ? 0 : 1; i < NC_DIRTY_COHORTS && first + i < used; i++) {
		const struct nc_cohort *c = &p->region.cohorts[first + i];
		const struct shadow *s = &shadows[i];
		uint32_t birth = __atomic_load_n(&c->birth, __ATOMIC_ACQUIRE);
		if (!birth)
			continue;
		struct counters r = read_blocks(c);
		if (birth == s->birth ? !(s->flags & SHADOW_IGNORED) && !is_same(&r, s)
				      : r.births != 0)
			return true;
	}
	return false;
}

bool scan_has_news(struct process *p)
{
	struct scanner *s = &p->scanner;
	if (has_dirty(p))
		return true;
	if (s->has_checked_carry)
		return false;
	for (size_t i = 0; i < s->carry_count; i++) {
		if (group_has_news(p, s->carry[i]))
			return true;
	}
	s->has_checked_carry = true;
	return false;
}

/* ---- all of it ----------------------------------------------------------------------- */

static void close_interval(struct process *p)
{
	p->interval++;
	__atomic_store_n(&p->region.header->interval, p->interval, __ATOMIC_SEQ_CST);
}

void scan_snapshot(struct process *p, struct profile_snapshot *head, bool is_last)
{
	struct scanner *s = &p->scanner;
	snap_id snap = p->interval;
	size_t group_total = 0;
	if (!is_last)
		close_interval(p);
	if (!(is_last ? choose_all_groups(p, &group_total) : choose_groups(p, &group_total))) {
		p->is_starved = true;
		return;
	}
	process_measure(p, head); /* takes long enough for stores under way to arrive */
	bool is_few = !is_last && s->dirty_count <= CARRY_ALL;
	for (size_t i = 0; i < group_total && !p->is_starved; i++) {
		if (scan_group(p, s->merged[i], snap, is_last) || is_few)
			carry(p, s->merged[i]);
	}
	bool is_wanted = !is_last || !p->snapshot_count || queue_has_open(&p->queue);
	if (p->is_starved || !is_wanted)
		return;
	p->is_starved = !queue_close(&p->queue, head);
	p->snapshot_count++;
}
