/*
 * Births, deaths, and the exact peak.
 *
 * A birth: stack -> path node -> (path, api, size), next to the node or in the thread's
 * site table -> cohort of the current interval -> plain increments in one cache line.  A death:
 * live map -> cohort -> increment.  Nothing is looked up twice.
 *
 * Peak.  Whenever the live total passes its highest value, the peak epoch is
 * raised.  Before a cohort changes for the first time in an epoch, its live value
 * is saved as "live at the peak"; a cohort not touched since has its live value.
 * So at any time every cohort's share of the peak is known, at O(1) per event.
 *
 * The primary thread (the first that allocated) keeps its part of the live total
 * exact with plain stores; other threads add to a shared total in batches, which bounds the
 * error of the peak (header.batch_bytes).  Beyond that, cohorts and peak differ only
 *   - by an event that was counted in its cohort before a new epoch and in the total after it: whoever
 *     adds a large event or a batch looks whether the epoch is still the one it began in;
 *   - by what others did while a thread was on its way from a new peak to its epoch: it looks at the
 *     total once more.  If another raised the peak further meanwhile, the epoch is that one's.
 * Both are added to header.slack_bytes.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/same.h"
#include "collector/sys.h"

/* Adds that a signal handler on the same thread cannot split, at no cost: one instruction. */
NC_INLINE void owner_add(uint64_t *counter, uint64_t n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*counter) : "er"(n));
}

NC_INLINE void atomic_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

NC_INLINE uint64_t load_relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

NC_INLINE uint64_t current_epoch(const struct nc_header *h)
{
	return load_relaxed(&h->epoch_primary) + load_relaxed(&h->epoch_shared);
}

/* The byte counters of a cohort of a mixed site. */
NC_INLINE struct nc_cohort_bytes *bytes_of(struct nc_cohort *c)
{
	return (struct nc_cohort_bytes *)(c + 1);
}

NC_INLINE bool is_mixed(const struct nc_cohort *c)
{
	if (NC_LIKELY(c->size_or_max != UINT32_MAX))
		return false;
	return (nc_node(c->site)->key & NC_KEY_SIZE_MASK) == NC_SIZE_MIXED;
}

/* What was live when an epoch began.  Lies so in struct nc_cohort and struct nc_cohort_bytes. */
struct at_peak {
	uint64_t live, epoch;
};
#define IS_AT_PEAK(type, live_member)                                        \
	(offsetof(struct type, live_member) % sizeof(struct at_peak) == 0 && \
	 offsetof(struct type, epoch) ==                                     \
		 offsetof(struct type, live_member) + offsetof(struct at_peak, epoch))
_Static_assert(IS_AT_PEAK(nc_cohort, at_peak) && IS_AT_PEAK(nc_cohort_bytes, at_peak_bytes),
	       "pairs that can be swapped at once");

NC_INLINE bool is_swapped(struct at_peak *at, struct at_peak old, struct at_peak fresh)
{
	bool is_done;
	__asm__ volatile("lock cmpxchg16b %1"
			 : "=@ccz"(is_done), "+m"(*at), "+a"(old.live), "+d"(old.epoch)
			 : "b"(fresh.live), "c"(fresh.epoch)
			 : "memory");
	return is_done;
}

/*
 * Save the live value if this is its first change in `epoch`.  The owner and threads that free may
 * come here at once, and one may be late: as long as the pair is what it was, nobody who
 * knows this epoch has changed the counters, since all come here before.
 */
NC_INLINE void save_live(void *at_peak, uint64_t epoch, bool is_alone, const uint64_t *born,
			 const uint64_t *died, const uint64_t *remote_died)
{
	struct at_peak *at = at_peak, old, fresh = {.epoch = epoch};
	do {
		old = (struct at_peak){load_relaxed(&at->live), load_relaxed(&at->epoch)};
		if (old.epoch >= epoch)
			return;
		fresh.live = load_relaxed(born) - load_relaxed(died) - load_relaxed(remote_died);
		if (is_alone) {
			__atomic_store_n(&at->live, fresh.live, __ATOMIC_RELAXED);
			__atomic_store_n(&at->epoch, epoch, __ATOMIC_RELAXED);
			return;
		}
	} while (!is_swapped(at, old, fresh));
}

/* Out of line: it needs more registers than all the rest of an event. */
static NC_NOINLINE void stamp_anew(struct nc_cohort *c, const struct nc_header *h, uint64_t epoch)
{
	bool is_alone = !__atomic_load_n(&h->batching_threads, __ATOMIC_RELAXED);
	if (NC_UNLIKELY(is_mixed(c))) {
		struct nc_cohort_bytes *b = bytes_of(c);
		save_live(&b->at_peak_bytes, epoch, is_alone, &b->born_bytes, &b->died_bytes,
			  &b->remote_died_bytes);
	}
	save_live(&c->at_peak, epoch, is_alone, &c->births, &c->deaths, &c->remote_deaths);
}

/* Before a change of a cohort; the epoch it is now. */
NC_INLINE uint64_t stamp(struct nc_cohort *c, const struct nc_header *h)
{
	uint64_t epoch = current_epoch(h);
	if (NC_UNLIKELY(load_relaxed(&c->epoch) != epoch))
		stamp_anew(c, h, epoch);
	return epoch;
}

NC_INLINE void mark_dirty(uint32_t cohort)
{
	uint8_t *byte = &__atomic_load_n(&nc.dirty, __ATOMIC_RELAXED)[cohort / NC_DIRTY_COHORTS];
	if (!__atomic_load_n(byte, __ATOMIC_RELAXED))
		__atomic_store_n(byte, 1, __ATOMIC_RELAXED);
}

/* ---- live total -------------------------------------------------------------- */

/* Where tests/stress/counters.c has a thread wait: counted, but not in the total; a new peak, but no epoch. */
#ifndef NC_BEFORE_TOTAL
#define NC_BEFORE_TOTAL() ((void)0)
#define NC_BEFORE_EPOCH() ((void)0)
#endif

static int64_t live_total(const struct nc_header *h)
{
	return __atomic_load_n(&h->live_primary_bytes, __ATOMIC_RELAXED) +
	       __atomic_load_n(&h->live_shared_bytes, __ATOMIC_RELAXED);
}

NC_INLINE void note_peak_time(struct nc_header *h)
{
	__atomic_store_n(&h->peak_tick_ns, load_relaxed(&h->tick_ns), __ATOMIC_RELAXED);
	__atomic_store_n(&h->peak_interval, __atomic_load_n(&h->interval, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a > b ? (uint64_t)(a - b) : (uint64_t)(b - a);
}

/* An event, or a batch of them, is in the total from now on: was it counted in this same epoch? */
static NC_NOINLINE void look_twice(struct nc_header *h, uint64_t epoch, uint64_t bytes)
{
	if (current_epoch(h) != epoch)
		__atomic_fetch_add(&h->slack_bytes, bytes, __ATOMIC_RELAXED);
}

/*
 * A new peak seen by a thread other than the primary one.  Whoever sets it also begins its epoch,
 * unless it is passed meanwhile.
 */
static void raise_peak_shared(struct nc_header *h)
{
	int64_t total;
	uint64_t epoch, slack, peak = __atomic_load_n(&h->peak_shared_bytes, __ATOMIC_RELAXED);
	do {
		total = live_total(h);
		if (total <= (int64_t)nc_peak_bytes(h))
			return;
	} while (!__atomic_compare_exchange_n(&h->peak_shared_bytes, &peak, (uint64_t)total, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	NC_BEFORE_EPOCH();
	int64_t before;
	do {
		epoch = load_relaxed(&h->epoch_shared);
		slack = load_relaxed(&h->slack_bytes);
		before = live_total(h);
		if ((int64_t)nc_peak_bytes(h) != total)
			return;
	} while (!__atomic_compare_exchange_n(&h->epoch_shared, &epoch, epoch + 1, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	uint64_t off = distance(before, total), off_after = distance(live_total(h), total);
	if (off < off_after)
		off = off_after;
	if (off)
		__atomic_fetch_add(&h->slack_bytes, off, __ATOMIC_RELAXED);
	__atomic_store_n(&h->slack_before_bytes, slack, __ATOMIC_RELAXED);
	note_peak_time(h);
}

/* Others added to the total, or raised the peak, while the primary thread did. */
static NC_NOINLINE void raised_late(struct nc_header *h)
{
	uint64_t off = distance(live_total(h), (int64_t)nc_peak_bytes(h));
	__atomic_fetch_add(&h->slack_bytes, off, __ATOMIC_RELAXED);
}

/* After a birth in the primary thread: is the total, of which it knows its own part, a new peak? */
NC_INLINE void raise_peak_primary(struct nc_header *h)
{
	int64_t shared = __atomic_load_n(&h->live_shared_bytes, __ATOMIC_RELAXED);
	int64_t total = __atomic_load_n(&h->live_primary_bytes, __ATOMIC_RELAXED) + shared;
	if (NC_LIKELY(total <= (int64_t)load_relaxed(&h->peak_primary_bytes)) ||
	    total <= (int64_t)load_relaxed(&h->peak_shared_bytes))
		return;
	uint64_t slack = load_relaxed(&h->slack_bytes);
	__atomic_store_n(&h->peak_primary_bytes, (uint64_t)total, __ATOMIC_RELAXED);
	note_peak_time(h);
	NC_BEFORE_EPOCH();
	owner_add(&h->epoch_primary, 1);
	__atomic_store_n(&h->slack_before_bytes, slack, __ATOMIC_RELAXED);
	if (NC_UNLIKELY(__atomic_load_n(&h->live_shared_bytes, __ATOMIC_RELAXED) != shared))
		raised_late(h);
}

static void flush_live(struct nc_ctx *t)
{
	__atomic_fetch_add(&nc.header->live_shared_bytes, t->unflushed_bytes, __ATOMIC_RELAXED);
	t->unflushed_bytes = 0;
}

void nc_flush_live(struct nc_ctx *t)
{
	flush_live(t);
	raise_peak_shared(nc.header);
}

static NC_NOINLINE void add_batch(struct nc_ctx *t, uint64_t epoch)
{
	int64_t bytes = t->unflushed_bytes;
	NC_BEFORE_TOTAL();
	flush_live(t);
	look_twice(nc.header, epoch, distance(bytes, 0));
	raise_peak_shared(nc.header);
}

enum change {
	BIRTH,
	DEATH
};

/* An event that its cohort has counted in `epoch`. */
NC_INLINE void live_change(struct nc_ctx *t, enum change what, uint64_t size_bytes, uint64_t epoch)
{
	struct nc_header *h = nc.header;
	uint64_t bytes = what == BIRTH ? size_bytes : -size_bytes;
	if (NC_LIKELY(t->is_primary)) {
		owner_add((uint64_t *)&h->live_primary_bytes, bytes);
		if (NC_UNLIKELY(size_bytes > NC_SMALL_BYTES))
			look_twice(h, epoch, size_bytes);
		if (what == BIRTH)
			raise_peak_primary(h);
		return;
	}
	owner_add((uint64_t *)&t->unflushed_bytes, bytes);
	if (NC_UNLIKELY(t->unflushed_bytes > NC_HOLD_BYTES || t->unflushed_bytes < -NC_HOLD_BYTES))
		add_batch(t, epoch);
}

/* ---- cohorts --------------------------------------------------------------------- */

/* A cohort of this thread that the recorder found without live blocks; 0 if there is none. */
static uint32_t recycled_cohort(struct nc_ctx *t)
{
	struct nc_thread *shared = t->shared;
	uint32_t tail = shared->ring_tail;
	uint32_t found = NC_NONE;
	while (!found && tail != __atomic_load_n(&shared->ring_head, __ATOMIC_ACQUIRE)) {
		uint64_t entry = shared->ring[tail++ % NC_RING_ENTRIES];
		uint32_t id = (uint32_t)entry;
		struct nc_cohort *c = nc_cohort(id);
		/* A late event may have come, and its death too: then it stays what it is. */
		if (entry == nc_ring_entry(id, c->births) &&
		    c->births == c->deaths + __atomic_load_n(&c->remote_deaths, __ATOMIC_ACQUIRE))
			found = id;
	}
	__atomic_store_n(&shared->ring_tail, tail, __ATOMIC_RELEASE);
	return found;
}

/* The rest of an ended thread's chunk, if there is one. */
static void take_spare(struct nc_ctx *t)
{
	uint64_t spare = __atomic_exchange_n(&nc.spare_cohorts, 0, __ATOMIC_RELAXED);
	t->cohort_next = (uint32_t)(spare >> 32);
	t->cohort_end = (uint32_t)spare;
}

/* `slots` fresh neighbouring cohorts of one dirty group. */
static uint32_t fresh_cohort(struct nc_ctx *t, uint32_t slots)
{
	if (NC_UNLIKELY(t->cohort_end - t->cohort_next < slots))
		take_spare(t);
	if (NC_UNLIKELY(t->cohort_end - t->cohort_next < slots)) {
		uint32_t first = nc_region_take(NC_SEC_COHORTS, NC_COHORT_CHUNK);
		if (!first)
			return NC_NONE;
		t->cohort_next = first;
		t->cohort_end = first + NC_COHORT_CHUNK;
	}
	uint32_t id = t->cohort_next;
	t->cohort_next += slots;
	return id;
}

static NC_NOINLINE uint32_t cohort_new(struct nc_ctx *t, uint32_t site, uint64_t size_bytes,
				       bool mixed)
{
	uint32_t id = mixed || t->is_late ? NC_NONE : recycled_cohort(t);
	if (!id)
		id = fresh_cohort(t, mixed ? 2 : 1);
	if (!id) {
		nc_drop(NC_DROP_COHORTS);
		return NC_NONE;
	}
	struct nc_cohort *c = nc_cohort(id);
	c->births = c->deaths = c->temporary = c->at_peak = c->epoch = 0;
	__atomic_store_n(&c->remote_deaths, 0, __ATOMIC_RELAXED);
	c->site = site;
	c->thread = t->thread;
	c->size_or_max = mixed || size_bytes >= UINT32_MAX ? UINT32_MAX : (uint32_t)size_bytes;
	if (mixed)
		bytes_of(c)->is_bytes = UINT32_MAX;
	uint32_t interval = __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED);
	if (__atomic_load_n(&nc.last_interval, __ATOMIC_RELAXED) != interval)
		__atomic_store_n(&nc.last_interval, interval, __ATOMIC_RELAXED);
	/* Last: what the recorder takes as the sign of a new cohort. */
	__atomic_store_n(&c->birth, interval, __ATOMIC_RELEASE);
	return id;
}

/* ---- site table ---------------------------------------------------------------------- */

NC_INLINE uint64_t slot_hash(uint64_t key, uint32_t lg)
{
	return (key * 0x9e3779b97f4a7c15ull) >> (64 - lg);
}

static bool slots_grow(struct nc_ctx *t)
{
	uint32_t new_lg = t->slot_lg + (t->slot_lg < 16 ? 2 : 1);
	struct nc_site_slot *fresh = nc_map(sizeof *fresh << new_lg);
	if (!fresh)
		return false;
	size_t mask = ((size_t)1 << new_lg) - 1;
	for (size_t i = 0; i < (size_t)1 << t->slot_lg; i++) {
		if (!t->slots[i].key)
			continue;
		size_t at = slot_hash(t->slots[i].key, new_lg);
		while (fresh[at].key)
			at = (at + 1) & mask;
		fresh[at] = t->slots[i];
	}
	struct nc_site_slot *old = t->slots;
	size_t old_bytes = sizeof *old << t->slot_lg;
	/* In this order: a signal handler may leave this place by longjmp. */
	__atomic_store_n(&t->slots, fresh, __ATOMIC_RELEASE);
	__atomic_store_n(&t->slot_lg, new_lg, __ATOMIC_RELEASE);
	nc_unmap(old, old_bytes);
	return true;
}

static bool site_is_mixed(uint32_t site)
{
	return (nc_node(site)->key & NC_KEY_SIZE_MASK) == NC_SIZE_MIXED;
}

/* A cohort under both its names, so that it is not looked up twice. */
struct cohort_ref {
	uint32_t id; /* NC_NONE: there is none */
	struct nc_cohort *c;
};

NC_INLINE struct cohort_ref ref_of(uint32_t id)
{
	return (struct cohort_ref){id, id ? nc_cohort(id) : NULL};
}

NC_INLINE bool is_current(const struct nc_cohort *c, uint32_t site)
{
	return c->birth == __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED) &&
	       c->site == site;
}

#define MIXED_SLOT_SIZE 0xffffffffull /* stands for all sizes of the mixed site of a (path, api) */

NC_INLINE uint64_t slot_key(uint32_t path, enum nc_api api, uint64_t size_bytes)
{
	return (uint64_t)path << 36 | (uint64_t)api << 32 | size_bytes;
}

/* The slot of a key, or the free one where it belongs. */
NC_INLINE struct nc_site_slot *slot_find(struct nc_ctx *t, uint64_t key)
{
	size_t mask = ((size_t)1 << t->slot_lg) - 1;
	size_t i = slot_hash(key, t->slot_lg);
	while (NC_UNLIKELY(t->slots[i].key != key) && t->slots[i].key)
		i = (i + 1) & mask;
	return &t->slots[i];
}

static void slot_fill(struct nc_ctx *t, struct nc_site_slot *slot, uint64_t key, uint32_t site,
		      uint32_t cohort)
{
	*slot = (struct nc_site_slot){.key = key, .site = site, .cohort = cohort};
	if (++t->slot_used * 2 > 1u << t->slot_lg && !slots_grow(t))
		slot->key = 0; /* no room to grow: keep one slot free, so that probing ends */
}

/* The cohort of a slot's site in this interval. */
NC_INLINE struct cohort_ref slot_cohort(struct nc_ctx *t, struct nc_site_slot *slot,
					uint64_t size_bytes)
{
	struct cohort_ref kept = {slot->cohort, nc_cohort(slot->cohort)};
	if (NC_LIKELY(is_current(kept.c, slot->site)))
		return kept;
	uint32_t fresh = cohort_new(t, slot->site, size_bytes, site_is_mixed(slot->site));
	if (fresh)
		slot->cohort = fresh;
	return ref_of(fresh);
}

/* The cohort of a site whose key may not be in the table yet. */
static struct cohort_ref slotted_cohort(struct nc_ctx *t, uint64_t key, uint32_t site,
					uint64_t size_bytes)
{
	struct nc_site_slot *slot = slot_find(t, key);
	if (slot->key)
		return slot_cohort(t, slot, size_bytes);
	uint32_t cohort = cohort_new(t, site, size_bytes, site_is_mixed(site));
	if (cohort)
		slot_fill(t, slot, key, site, cohort);
	return ref_of(cohort);
}

/*
 * The primary thread finds most of its cohorts without the table: the site of a path's first
 * size lies next to the path it has just found, and knows the cohort.
 */
NC_INLINE struct cohort_ref primary_cohort(struct nc_ctx *t, uint32_t site, uint64_t size_bytes)
{
	uint32_t *kept = &nc_node(site)->kid;
	struct cohort_ref ref = {*kept, nc_cohort(*kept)};
	if (NC_LIKELY(ref.id && is_current(ref.c, site)))
		return ref;
	uint32_t fresh = cohort_new(t, site, size_bytes, false);
	if (fresh)
		*kept = fresh;
	return ref_of(fresh);
}

/* A size that is not in the table: new, of the mixed site, or too large for a key. */
static NC_NOINLINE struct cohort_ref cohort_uncommon(struct nc_ctx *t, uint32_t path,
						     enum nc_api api, uint64_t size_bytes)
{
	uint32_t site = nc_site(t, path, api, size_bytes);
	if (!site) {
		nc_drop(NC_DROP_NODES);
		return ref_of(NC_NONE);
	}
	bool mixed = site_is_mixed(site);
	if (t->is_primary && nc_first_site(path, api, size_bytes))
		return primary_cohort(t, site, size_bytes);
	if (!mixed && size_bytes >= MIXED_SLOT_SIZE)
		return ref_of(cohort_new(t, site, size_bytes, false));
	return slotted_cohort(t, slot_key(path, api, mixed ? MIXED_SLOT_SIZE : size_bytes), site,
			      size_bytes);
}

NC_INLINE struct cohort_ref cohort_of(struct nc_ctx *t, uint32_t path, enum nc_api api,
				      uint64_t size_bytes)
{
	uint32_t site = t->is_primary ? nc_first_site(path, api, size_bytes) : NC_NONE;
	if (site)
		return primary_cohort(t, site, size_bytes);
	if (NC_LIKELY(size_bytes < MIXED_SLOT_SIZE)) {
		struct nc_site_slot *slot = slot_find(t, slot_key(path, api, size_bytes));
		if (NC_LIKELY(slot->key))
			return slot_cohort(t, slot, size_bytes);
	}
	return cohort_uncommon(t, path, api, size_bytes);
}

/* ---- births ------------------------------------------------------------------------------ */

/* A block of a mixed site keeps its size in the two slots after its own; it is large enough. */
static void mixed_size_store(void *block, uint64_t size_bytes)
{
	uint32_t *low = nc_slot_make((uint8_t *)block + 16);
	uint32_t *high = nc_slot_make((uint8_t *)block + 32);
	if (low)
		*low = (uint32_t)size_bytes;
	if (high)
		*high = (uint32_t)(size_bytes >> 32);
}

static uint64_t mixed_size_take(const void *block)
{
	uint32_t *low = nc_slot_find((const uint8_t *)block + 16);
	uint32_t *high = nc_slot_find((const uint8_t *)block + 32);
	uint64_t size_bytes = (low ? *low : 0) | (uint64_t)(high ? *high : 0) << 32;
	if (low)
		*low = 0;
	if (high)
		*high = 0;
	return size_bytes;
}

/*
 * There is a block at this address already: it was released past the hooks, by a plugin that
 * sees the allocator directly; or an allocator's calloc called malloc, and this is the same block.
 */
static NC_NOINLINE void end_unseen(const struct nc_ctx *t, void *block, uint32_t *slot)
{
	if (t->last_block != block)
		nc_drop(NC_DROP_FOREIGN);
	uint32_t used = __atomic_load_n(&nc.header->used_count[NC_SEC_COHORTS], __ATOMIC_RELAXED);
	uint32_t id = nc_own_cohort(*slot);
	if (id && id < used && nc_region_map(NC_SEC_COHORTS, id) && nc_cohort(id)->birth)
		nc_freed(block);
	*slot = NC_NONE;
}

void nc_born(void *block, size_t size_bytes, enum nc_api api, const struct nc_origin *at)
{
	struct nc_ctx *t = nc_enter();
	if (NC_UNLIKELY(!t))
		return;
	uint32_t *slot = nc_slot_find(block);
	__builtin_prefetch(slot,
			   1); /* needed when the stack is known; most often not in the cache */
	uint32_t path = nc_path(t, at);
	if (NC_UNLIKELY(!path)) {
		nc_drop(NC_DROP_NODES);
		goto out;
	}
	if (NC_UNLIKELY(!slot) && !(slot = nc_slot_make(block))) {
		nc_drop(NC_DROP_MAP);
		goto out;
	}
	if (NC_UNLIKELY(*slot))
		end_unseen(t, block, slot);
	struct cohort_ref ref = cohort_of(t, path, api, size_bytes);
	if (NC_UNLIKELY(!ref.id))
		goto out;
	struct nc_cohort *c = ref.c;
	uint64_t epoch = stamp(c, nc.header);
	owner_add(&c->births, 1);
	if (NC_UNLIKELY(is_mixed(c))) {
		owner_add(&bytes_of(c)->born_bytes, size_bytes);
		mixed_size_store(block, size_bytes);
	}
	mark_dirty(ref.id);
	*slot = ref.id;
	t->last_block = block;
	live_change(t, BIRTH, size_bytes, epoch);
out:
	nc_leave(t);
}

bool nc_is_counted(const void *block)
{
	const uint32_t *slot = nc_slot_find(block);
	return slot && *slot;
}

/* ---- deaths -------------------------------------------------------------------------------- */

NC_INLINE struct nc_taken take(void *block)
{
	struct nc_taken none = {0, 0};
	uint32_t *slot = nc_slot_find(block);
	if (NC_UNLIKELY(!slot || !*slot)) {
		nc_drop(NC_DROP_FOREIGN);
		return none;
	}
	uint32_t id = nc_own_cohort(*slot);
	*slot = 0;
	if (NC_UNLIKELY(!id)) /* there was no room for it when this child began */
		return none;
	struct nc_cohort *c = nc_cohort(id);
	if (NC_LIKELY(c->size_or_max != UINT32_MAX))
		return (struct nc_taken){id, c->size_or_max};
	uint64_t size_bytes = nc_node(c->site)->key & NC_KEY_SIZE_MASK;
	if (size_bytes == NC_SIZE_MIXED)
		size_bytes = mixed_size_take(block);
	return (struct nc_taken){id, size_bytes};
}

struct nc_taken nc_take(void *block)
{
	return take(block);
}

void nc_untake(void *block, struct nc_taken taken)
{
	uint32_t *slot = taken.cohort ? nc_slot_find(block) : NULL;
	if (!slot)
		return;
	if (is_mixed(nc_cohort(taken.cohort)))
		mixed_size_store(block, taken.size_bytes);
	*slot = taken.cohort;
}

NC_INLINE void mixed_died(struct nc_cohort *c, bool is_owner, bool is_temporary, uint64_t bytes)
{
	struct nc_cohort_bytes *b = bytes_of(c);
	if (is_owner)
		owner_add(&b->died_bytes, bytes);
	else
		atomic_add(&b->remote_died_bytes, bytes);
	if (is_temporary)
		owner_add(&b->temporary_bytes, bytes);
}

NC_INLINE void count_death(struct nc_cohort *c, bool is_owner)
{
	if (NC_LIKELY(is_owner))
		owner_add(&c->deaths, 1);
	else
		atomic_add(&c->remote_deaths, 1);
}

NC_INLINE void live_sub(struct nc_ctx *t, uint64_t bytes, uint64_t epoch)
{
	if (NC_LIKELY(t != NULL)) {
		live_change(t, DEATH, bytes, epoch);
		return;
	}
	__atomic_fetch_sub(&nc.header->live_shared_bytes, (int64_t)bytes, __ATOMIC_RELAXED);
	look_twice(nc.header, epoch, bytes);
}

/*
 * Order of stores: birth, death, temporary.  A reader that loads them the other way
 * round sees temporary <= deaths <= births.
 */
NC_INLINE void died(const void *block, struct nc_taken taken)
{
	if (NC_UNLIKELY(!taken.cohort))
		return;
	struct nc_cohort *c = nc_cohort(taken.cohort);
	struct nc_ctx *t = nc_tls;
	if (NC_UNLIKELY(t && t->busy)) /* a signal handler: not the owner of anything here */
		t = NULL;
	uint64_t epoch = stamp(c, nc.header);
	bool is_owner = t && c->thread == t->thread;
	bool is_temporary = is_owner && t->last_block == block;
	if (is_temporary)
		t->last_block = NULL;
	if (NC_UNLIKELY(is_mixed(c)))
		mixed_died(c, is_owner, is_temporary, taken.size_bytes);
	count_death(c, is_owner);
	if (is_temporary)
		owner_add(&c->temporary, 1);
	mark_dirty(taken.cohort);
	live_sub(t, taken.size_bytes, epoch);
}

void nc_died(const void *block, struct nc_taken taken)
{
	died(block, taken);
}

void nc_freed(void *block)
{
	died(block, take(block));
}

/* ---- mappings -------------------------------------------------------------------------------- */

uint32_t nc_mapping_born(uint64_t bytes, const struct nc_origin *at)
{
	struct nc_ctx *t = nc_enter();
	struct cohort_ref ref = {NC_NONE, NULL};
	if (NC_UNLIKELY(!t))
		return NC_NONE;
	uint32_t path = nc_path(t, at);
	uint32_t site = path ? nc_site(t, path, NC_API_MMAP, NC_SIZE_MIXED) : NC_NONE;
	if (NC_UNLIKELY(!site)) {
		nc_drop(NC_DROP_NODES);
		goto out;
	}
	ref = slotted_cohort(t, slot_key(path, NC_API_MMAP, MIXED_SLOT_SIZE), site, NC_SIZE_MIXED);
	if (NC_UNLIKELY(!ref.id))
		goto out;
	struct nc_cohort *c = ref.c;
	uint64_t epoch = stamp(c, nc.header);
	owner_add(&c->births, 1);
	owner_add(&bytes_of(c)->born_bytes, bytes);
	mark_dirty(ref.id);
	live_change(t, BIRTH, bytes, epoch);
out:
	nc_leave(t);
	return ref.id;
}

void nc_mapping_shrank(uint32_t cohort, uint64_t bytes, bool has_gone)
{
	struct nc_cohort *c = nc_cohort(cohort);
	struct nc_ctx *t = nc_tls;
	if (t && t->busy)
		t = NULL;
	uint64_t epoch = stamp(c, nc.header);
	bool is_owner = t && c->thread == t->thread;
	mixed_died(c, is_owner, false, bytes);
	if (has_gone)
		count_death(c, is_owner);
	mark_dirty(cohort);
	live_sub(t, bytes, epoch);
}
