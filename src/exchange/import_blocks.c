/*
 * Bookings: births and deaths of accounts, snapshots, the peak.
 *
 *   account -> top lot -> older lot -> ...     lots with live blocks, youngest first
 *           -> counters of the current interval, which become a lot when it is closed
 *
 * The peak is kept as in the collector: `epoch` counts peaks.  Before a lot (or the counters of the current
 * interval) changes, if its epoch is not the current one, what is live in it is saved and stamped.  So at
 * any time what was live at the peak is the saved value if it is stamped with the current epoch, else
 * what is live now.
 */
#include "config.h"

#include "src/exchange/import_priv.h"

#include <string.h>

#define SNAPS_FIRST  1000u   /* after that many the interval doubles, ... */
#define SNAPS_NEXT   500u    /* ... and after every further so many */
#define COHORTS_NEXT 250000u /* the same by what the snapshots hold */

/* ---- bookings -------------------------------------------------------------------------------- */

/* Room for an id in one level of a set: the words that are new are empty. */
static bool reserve_bits(uint64_t **bits, size_t *cap, size_t idx)
{
	size_t old_cap = *cap;
	if (!vec_reserve((void **)bits, cap, idx / 64 + 1, sizeof **bits))
		return false;
	if (*cap > old_cap)
		memset(*bits + old_cap, 0, (*cap - old_cap) * sizeof **bits);
	(*bits)[idx / 64] |= UINT64_C(1) << (idx % 64);
	return true;
}

static bool add_dirty(struct import *im, account_id id)
{
	struct id_set *set = &im->dirty;
	if (!reserve_bits(&set->bits, &set->bit_cap, id - 1) ||
	    !reserve_bits(&set->words, &set->word_cap, (id - 1) / 64)) {
		import_no_memory(im);
		return false;
	}
	im->accounts[id - 1].is_dirty = true;
	im->is_booked = true;
	return true;
}

static inline bool mark_dirty(struct import *im, account_id id)
{
	return im->accounts[id - 1].is_dirty || add_dirty(im, id);
}

/* Bytes of the current interval's blocks that are live. */
static inline uint64_t young_bytes(const struct import *im, const struct account *a)
{
	if (a->mixed == MIXED_NONE)
		return (a->births - a->deaths) * a->size_bytes;
	return im->mixed[a->mixed].born_bytes - im->mixed[a->mixed].died_bytes;
}

static uint64_t young_peak_bytes(const struct import *im, const struct account *a)
{
	return a->mixed == MIXED_NONE ? a->peak_blocks * a->size_bytes
				      : im->mixed[a->mixed].peak_bytes;
}

/* Before the blocks of the current interval change. */
static inline void stamp_account(const struct import *im, struct account *a)
{
	if (a->epoch == im->epoch || im->peak_mode == PEAK_GIVEN)
		return;
	a->epoch = im->epoch;
	a->peak_blocks = a->births - a->deaths;
	if (a->mixed != MIXED_NONE)
		im->mixed[a->mixed].peak_bytes = young_bytes(im, a);
}

static inline void stamp_lot(const struct import *im, struct lot *l)
{
	if (l->epoch == im->epoch || im->peak_mode == PEAK_GIVEN)
		return;
	l->epoch = im->epoch;
	l->peak_blocks = l->live_blocks;
	l->peak_bytes = l->live_bytes;
}

static void raise_peak(struct import *im, uint64_t time_ns)
{
	im->epoch++;
	im->peak.bytes = im->live.bytes;
	im->peak.time_ns = time_ns;
	im->peak.snap = im->snap + 1;
}

/* blocks * size for accounts of one size. */
static inline uint64_t bytes_of(const struct account *a, uint64_t blocks, uint64_t bytes)
{
	uint64_t product;
	if (a->size_bytes == PROFILE_SIZE_MIXED)
		return bytes;
	return __builtin_mul_overflow(blocks, a->size_bytes, &product) ? UINT64_MAX : product;
}

#define SUM_BITS 62 /* of all that was ever born, so that sums of hostile numbers stay sums */

static bool count_born(struct import *im, uint64_t blocks, uint64_t bytes)
{
	if (!((blocks | bytes) >> SUM_BITS)) {
		im->born.blocks += blocks;
		im->born.bytes += bytes;
		if (!((im->born.blocks | im->born.bytes) >> SUM_BITS))
			return true;
	}
	import_fail(im, ERR_FORMAT, "'%s' counts more bytes than there can be", input_name(im->in));
	return false;
}

void import_born(struct import *im, account_id id, uint64_t blocks, uint64_t bytes)
{
	if (!id || import_has_failed(im))
		return;
	struct account *a = &im->accounts[id - 1];
	bytes = bytes_of(a, blocks, bytes);
	if (!count_born(im, blocks, bytes) || !mark_dirty(im, id))
		return;
	stamp_account(im, a);
	a->births += blocks;
	if (a->mixed != MIXED_NONE)
		im->mixed[a->mixed].born_bytes += bytes;
	im->live.blocks += blocks;
	im->live.bytes += bytes;
	if (im->peak_mode == PEAK_TRACK && im->live.bytes > im->peak.bytes)
		raise_peak(im, im->now.time_ns);
}

struct dying { /* what is left to book */
	uint64_t blocks, bytes, temporary;
};

/* Of `there`, the part that d takes: all of it, or what d asks for.  Bytes of mixed accounts go in proportion to what is asked for,
 * but the last block takes the last byte and no byte is left without a block. */
static struct dying part_of(const struct account *a, const struct dying *d, uint64_t there_blocks,
			    uint64_t there_bytes)
{
	struct dying part = {.blocks = d->blocks < there_blocks ? d->blocks : there_blocks};
	part.temporary = d->temporary < part.blocks ? d->temporary : part.blocks;
	if (a->size_bytes != PROFILE_SIZE_MIXED)
		part.bytes = part.blocks * a->size_bytes;
	else if (part.blocks == there_blocks)
		part.bytes = there_bytes;
	else
		part.bytes = d->bytes < there_bytes ? d->bytes : there_bytes;
	return part;
}

static uint64_t temporary_bytes(const struct dying *part)
{
	if (!part->temporary)
		return 0;
	return part->temporary == part->blocks ? part->bytes
					       : (uint64_t)((unsigned __int128)part->bytes *
							    part->temporary / part->blocks);
}

static void take_part(struct import *im, struct dying *d, const struct dying *part)
{
	d->blocks -= part->blocks;
	d->bytes -= part->bytes < d->bytes ? part->bytes : d->bytes;
	d->temporary -= part->temporary;
	im->live.blocks -= part->blocks;
	im->live.bytes -= part->bytes;
}

static void die_young(struct import *im, struct account *a, struct dying *d)
{
	if (a->births == a->deaths)
		return;
	struct dying part = part_of(a, d, a->births - a->deaths, young_bytes(im, a));
	stamp_account(im, a);
	a->deaths += part.blocks;
	a->temporary += part.temporary;
	if (a->mixed != MIXED_NONE) {
		im->mixed[a->mixed].died_bytes += part.bytes;
		im->mixed[a->mixed].temporary_bytes += temporary_bytes(&part);
	}
	take_part(im, d, &part);
}

static struct change *change_of(struct import *im, struct lot *l)
{
	if (l->change_idx < im->change_count && im->changes[l->change_idx].cohort == l->cohort)
		return &im->changes[l->change_idx];
	if (im->change_count >= UINT32_MAX ||
	    !vec_reserve((void **)&im->changes, &im->change_cap, im->change_count + 1,
			 sizeof *im->changes)) {
		import_no_memory(im);
		return NULL;
	}
	l->change_idx = (uint32_t)im->change_count;
	im->changes[im->change_count] = (struct change){.cohort = l->cohort};
	return &im->changes[im->change_count++];
}

/* Dead now, but live at the peak. */
static void keep_gone(struct import *im, cohort_id cohort, uint64_t blocks, uint64_t bytes)
{
	if (im->gone_epoch != im->epoch) {
		im->gone_epoch = im->epoch;
		im->gone_count = 0;
	}
	if (!vec_reserve((void **)&im->gone, &im->gone_cap, im->gone_count + 1, sizeof *im->gone)) {
		import_no_memory(im);
		return;
	}
	im->gone[im->gone_count++] = (struct profile_peak_entry){cohort, blocks, bytes};
}

static void pop_lot(struct import *im, struct account *a)
{
	uint32_t idx = a->top;
	struct lot *l = &im->lots[idx];
	a->top = l->below;
	if (l->epoch == im->epoch && l->peak_blocks)
		keep_gone(im, l->cohort, l->peak_blocks, l->peak_bytes);
	l->below = im->free_lot;
	im->free_lot = idx;
}

static void die_old(struct import *im, struct account *a, struct dying *d)
{
	while (d->blocks && a->top != LOT_NONE) {
		struct lot *l = &im->lots[a->top];
		struct change *c = change_of(im, l);
		if (!c)
			return;
		struct dying part = part_of(a, d, l->live_blocks, l->live_bytes);
		stamp_lot(im, l);
		l->live_blocks -= part.blocks;
		l->live_bytes -= part.bytes;
		c->change.deaths += part.blocks;
		c->change.temporary += part.temporary;
		if (a->size_bytes == PROFILE_SIZE_MIXED) {
			c->change.died_bytes += part.bytes;
			c->change.temporary_bytes += temporary_bytes(&part);
		}
		take_part(im, d, &part);
		if (!l->live_blocks)
			pop_lot(im, a);
	}
}

void import_died(struct import *im, account_id id, uint64_t blocks, uint64_t bytes,
		 uint64_t temporary)
{
	if (!id || import_has_failed(im) || !mark_dirty(im, id))
		return;
	struct account *a = &im->accounts[id - 1];
	struct dying d = {blocks, bytes_of(a, blocks, bytes),
			  temporary < blocks ? temporary : blocks};
	die_young(im, a, &d);
	if (d.blocks)
		die_old(im, a, &d);
	im->excess_deaths += d.blocks;
}

void import_touch(const struct import *im, account_id id)
{
	if (id)
		__builtin_prefetch(&im->accounts[id - 1], 1);
}

void import_touch_again(const struct import *im, account_id id)
{
	uint32_t lot = id - 1 < im->account_count ? im->accounts[id - 1].top : LOT_NONE;
	if (lot != LOT_NONE)
		__builtin_prefetch(&im->lots[lot], 1);
}

/* ---- what is live ---------------------------------------------------------------------------- */

struct import_sum import_live_of(const struct import *im, account_id id)
{
	struct import_sum sum = {0, 0};
	if (!id)
		return sum;
	const struct account *a = &im->accounts[id - 1];
	sum = (struct import_sum){a->births - a->deaths, young_bytes(im, a)};
	for (uint32_t l = a->top; l != LOT_NONE; l = im->lots[l].below) {
		sum.blocks += im->lots[l].live_blocks;
		sum.bytes += im->lots[l].live_bytes;
	}
	return sum;
}

struct import_sum import_live(const struct import *im)
{
	return im->live;
}

void import_set_live(struct import *im, account_id id, uint64_t blocks, uint64_t bytes)
{
	if (!id || import_has_failed(im))
		return;
	struct import_sum now = import_live_of(im, id);
	bytes = bytes_of(&im->accounts[id - 1], blocks, bytes);
	bool is_more = blocks >= now.blocks && bytes >= now.bytes;
	bool is_less = blocks <= now.blocks && bytes <= now.bytes;
	if (is_more && is_less)
		return;
	if (is_more && (blocks > now.blocks || !now.blocks)) {
		import_born(im, id, blocks - now.blocks, bytes - now.bytes);
	} else if (is_less && blocks && blocks < now.blocks) {
		import_died(im, id, now.blocks - blocks, now.bytes - bytes, 0);
	} else { /* more of one, less of the other: all anew */
		import_died(im, id, now.blocks, now.bytes, 0);
		import_born(im, id, blocks, bytes);
	}
}

/* ---- snapshots -------------------------------------------------------------------------------- */

static void push_lot(struct import *im, struct account *a, const struct lot *lot)
{
	uint32_t idx = im->free_lot;
	if (idx != LOT_NONE) {
		im->free_lot = im->lots[idx].below;
	} else {
		if (im->lot_count >= LOT_NONE ||
		    !lines_reserve(&im->lot_lines, (void **)&im->lots, im->lot_count)) {
			import_no_memory(im);
			return;
		}
		idx = (uint32_t)im->lot_count++;
	}
	im->lots[idx] = *lot;
	a->top = idx;
}

static void close_account(struct import *im, account_id id, snap_id snap)
{
	struct account *a = &im->accounts[id - 1];
	const struct account_name *name = &im->names[id - 1];
	struct mixed none = {0}, *m = a->mixed == MIXED_NONE ? &none : &im->mixed[a->mixed];
	a->is_dirty = false;
	if (!a->births)
		return;
	const struct profile_change c = {
		.births = a->births,
		.deaths = a->deaths,
		.temporary = a->temporary,
		.born_bytes = m->born_bytes,
		.died_bytes = m->died_bytes,
		.temporary_bytes = m->temporary_bytes,
	};
	uint64_t peak_bytes = young_peak_bytes(im, a);
	cohort_id cohort = profile_add_cohort(im->w, name->site, name->thread, snap, 0, &c);
	im->cohort_count++;
	if (a->births > a->deaths)
		push_lot(im, a,
			 &(struct lot){.cohort = cohort,
				       .below = a->top,
				       .change_idx = UINT32_MAX,
				       .live_blocks = a->births - a->deaths,
				       .live_bytes = young_bytes(im, a),
				       .epoch = a->epoch,
				       .peak_blocks = a->peak_blocks,
				       .peak_bytes = peak_bytes});
	else if (a->epoch == im->epoch && a->peak_blocks)
		keep_gone(im, cohort, a->peak_blocks, peak_bytes);
	a->births = a->deaths = a->temporary = 0;
	*m = (struct mixed){0};
	a->epoch = UINT64_MAX;
}

/* Cohorts in the order of accounts take the least room. */
static void close_dirty(struct import *im, snap_id snap)
{
	struct id_set *set = &im->dirty;
	for (size_t i = 0; i < set->word_cap; i++) {
		for (; set->words[i]; set->words[i] &= set->words[i] - 1) {
			size_t word = i * 64 + (size_t)__builtin_ctzll(set->words[i]);
			for (; set->bits[word]; set->bits[word] &= set->bits[word] - 1)
				close_account(
					im,
					(account_id)(word * 64 + 1 +
						     (size_t)__builtin_ctzll(set->bits[word])),
					snap);
		}
	}
}

void import_step(struct import *im, const struct import_instant *at)
{
	if (import_has_failed(im))
		return;
	if (at->time_ns > im->now.time_ns)
		im->now.time_ns = at->time_ns;
	const struct profile_snapshot s = {.time_ns = im->now.time_ns,
					   .cpu_ns = at->cpu_ns,
					   .rss_bytes = at->rss_bytes,
					   .live_bytes = (int64_t)im->live.bytes};
	snap_id snap = profile_snapshot_begin(im->w, &s);
	close_dirty(im, snap);
	for (size_t i = 0; i < im->change_count; i++)
		profile_change_cohort(im->w, im->changes[i].cohort, &im->changes[i].change);
	im->change_count = 0;
	im->snap++;
	im->is_booked = false;
	im->last = *at;
	struct err e;
	enum neap_err code = profile_snapshot_end(im->w, &e);
	if (code)
		import_fail(im, code, "%s", e.text);
}

void import_tick(struct import *im, const struct import_instant *at)
{
	if (at->time_ns > im->now.time_ns)
		im->now.time_ns = at->time_ns;
	if (im->now.time_ns < im->due_ns)
		return;
	import_step(im, at);
	bool has_many = im->snap >= SNAPS_FIRST && (im->snap - SNAPS_FIRST) % SNAPS_NEXT == 0;
	if (im->cohort_count >= im->cohort_most) {
		im->cohort_most += COHORTS_NEXT;
		has_many = true;
	}
	if (has_many && im->interval_ns < UINT64_MAX / 4)
		im->interval_ns *= 2;
	im->due_ns = im->now.time_ns + im->interval_ns;
}

snap_id import_step_count(const struct import *im)
{
	return im->snap;
}

void import_mark(struct import *im, const char *name, uint64_t time_ns)
{
	if (!import_has_failed(im))
		profile_add_mark(im->w, name, im->snap + 1, time_ns);
}

/* ---- the peak ---------------------------------------------------------------------------------- */

void import_track_peak(struct import *im)
{
	im->peak_mode = PEAK_TRACK;
}

void import_peak_here(struct import *im, uint64_t time_ns)
{
	im->peak_mode = PEAK_HERE;
	raise_peak(im, time_ns);
}

void import_peak_entry(struct import *im, account_id id, uint64_t blocks, uint64_t bytes)
{
	if (!id || import_has_failed(im))
		return;
	struct account *a = &im->accounts[id - 1];
	bytes = bytes_of(a, blocks, bytes);
	if (im->peak_mode != PEAK_GIVEN) {
		im->peak_mode = PEAK_GIVEN;
		raise_peak(im, 0);
		im->peak.bytes = 0;
	}
	struct mixed none = {0}, *m = a->mixed == MIXED_NONE ? &none : &im->mixed[a->mixed];
	if (a->epoch != im->epoch)
		a->peak_blocks = m->peak_bytes = 0;
	if (blocks > a->births - a->peak_blocks ||
	    (m != &none && bytes > m->born_bytes - m->peak_bytes)) {
		import_odd(im, "more at the peak than was ever allocated");
		return;
	}
	a->epoch = im->epoch;
	a->peak_blocks += blocks;
	m->peak_bytes += bytes;
	im->peak.bytes += bytes;
}

void import_peak_time(struct import *im, uint64_t time_ns, uint64_t bound_bytes)
{
	im->peak.time_ns = time_ns;
	im->peak.bound_bytes = bound_bytes;
}

uint64_t import_peak_bytes(const struct import *im)
{
	return im->peak.bytes;
}
