/*
 * Snapshots into columns.  See enum snap_column and neap-file(5).
 *
 * The new cohorts of a snapshot are compared with the known pairs (site, thread), as
 * one merges two sorted lists.  A caller that adds cohorts in ascending order of site and
 * thread gets the smallest file; any order is right.
 */
#include "config.h"

#include "src/profile/writer_priv.h"

#include <stdlib.h>
#include <string.h>

static const enum snap_column sparse_columns[SPARSE_COUNT] = {
	[SPARSE_PAIRS] = SNAP_PAIRS,
	[SPARSE_RARE] = SNAP_RARE,
	[SPARSE_SURVIVORS] = SNAP_SURVIVORS,
	[SPARSE_TEMPORARY] = SNAP_TEMPORARY,
	[SPARSE_UNUSUAL] = SNAP_UNUSUAL,
	[SPARSE_DEATHS] = SNAP_DEATHS,
	[SPARSE_OLD_TEMPORARY] = SNAP_OLD_TEMPORARY,
	[SPARSE_OTHER] = SNAP_OTHER,
};

static void sparse_start(struct sparse *s)
{
	buf_clear(&s->items);
	s->count = s->next = 0;
}

static void sparse_gap(struct sparse *s, size_t idx)
{
	buf_varint(&s->items, idx - s->next);
	s->next = idx + 1;
	s->count++;
}

static void sparse_finish(struct sparse *s, struct buf *column)
{
	buf_varint(column, s->count);
	buf_put(column, s->items.data, s->items.count_bytes);
	column->has_failed |= s->items.has_failed;
}

void snap_writer_units(struct snap_writer *s)
{
	s->unit_ns = 1000000;
	s->unit_rss_bytes = 4096;
}

/* ---- new cohorts --------------------------------------------------------------------- */

/* Where among the known pairs the new cohorts belong. */
static void find_known(struct snap_writer *s)
{
	const struct known *known = s->state.known;
	size_t j = 0, count = s->state.known_count;
	for (size_t i = 0; i < s->newborn_count; i++) {
		struct newborn *b = &s->newborn[i];
		uint64_t key = pair_key(b->site, b->thread);
		while (j < count && pair_key(known[j].site, known[j].thread) < key)
			j++;
		b->known_idx = j;
		/* Without births it would look like a pair that has no new cohort. */
		b->is_known = j < count && b->change.births &&
			      pair_key(known[j].site, known[j].thread) == key;
		j += b->is_known;
	}
}

/* What is the same for a known and an unknown pair. */
static void put_newborn(struct profile_writer *w, size_t idx, uint64_t expected_temporary)
{
	struct snap_writer *s = &w->snap;
	const struct newborn *b = &s->newborn[idx];
	const struct profile_change *c = &b->change;
	uint64_t size = w->site_size[b->site - 1];
	/* More deaths than births cannot be; should it happen, put_late_deaths keeps them. */
	bool is_late = c->deaths > c->births;
	uint64_t live = is_late ? c->births : c->births - c->deaths;

	if (live) {
		sparse_gap(&s->sparse[SPARSE_SURVIVORS], idx);
		buf_varint(&s->sparse[SPARSE_SURVIVORS].items, live == c->births ? 0 : live);
	}
	if (c->temporary != expected_temporary) {
		sparse_gap(&s->sparse[SPARSE_TEMPORARY], idx);
		buf_svarint(&s->sparse[SPARSE_TEMPORARY].items,
			    (int64_t)(c->temporary - expected_temporary));
	}
	if (b->birth != s->total_count || b->flags) {
		sparse_gap(&s->sparse[SPARSE_UNUSUAL], idx);
		buf_varint(&s->sparse[SPARSE_UNUSUAL].items, s->total_count - b->birth);
		buf_varint(&s->sparse[SPARSE_UNUSUAL].items, b->flags);
	}
	if (size == PROFILE_SIZE_MIXED) {
		uint64_t died_bytes = is_late ? 0 : c->died_bytes;
		buf_varint(&s->columns[SNAP_MIXED], c->born_bytes);
		buf_svarint(&s->columns[SNAP_MIXED], (int64_t)(c->born_bytes - died_bytes));
		buf_varint(&s->columns[SNAP_MIXED], c->temporary_bytes);
		s->state.live_bytes += c->born_bytes - died_bytes;
	} else {
		s->state.live_bytes += live * size;
	}
}

/* Births of a known pair, which may be 0: dense where some are expected, sparse elsewhere. */
static void put_births(struct snap_writer *s, const struct known *k, uint64_t scale,
		       uint64_t births)
{
	uint64_t expected = snap_expect(k, scale);
	if (expected) {
		buf_svarint(&s->columns[SNAP_BIRTHS], (int64_t)(births - expected));
		return;
	}
	if (births) {
		sparse_gap(&s->sparse[SPARSE_RARE], s->rare_idx);
		buf_varint(&s->sparse[SPARSE_RARE].items, births);
	}
	s->rare_idx++;
}

static void put_known(struct profile_writer *w, size_t idx, const struct known *k, uint64_t scale)
{
	struct snap_writer *s = &w->snap;
	const struct profile_change *c = &s->newborn[idx].change;
	put_births(s, k, scale, c->births);
	put_newborn(w, idx, snap_expect_temporary(k, c->births));
	snap_next_taken(&s->state, k, c->births, c->temporary);
}

/* Known pairs from j up to `end` that have no new cohort.  Returns end. */
static size_t put_idle(struct snap_writer *s, size_t j, size_t end, uint64_t scale)
{
	for (; j < end; j++) {
		put_births(s, &s->state.known[j], scale, 0);
		snap_next_idle(&s->state, &s->state.known[j]);
	}
	return end;
}

/* `last` is the one that was put before in this snapshot; all 0 for the first. */
static void put_unknown(struct profile_writer *w, size_t idx, const struct newborn *last)
{
	struct snap_writer *s = &w->snap;
	const struct newborn *b = &s->newborn[idx];
	struct buf *column = &s->sparse[SPARSE_PAIRS].items;
	buf_varint(column, b->known_idx - last->known_idx);
	buf_svarint(column, (int64_t)b->site - last->site);
	buf_svarint(column, (int64_t)b->thread - last->thread);
	buf_varint(column, b->change.births);
	s->sparse[SPARSE_PAIRS].count++;
	put_newborn(w, idx, 0);
	snap_next_new(&s->state, b->site, b->thread, b->change.births, b->change.temporary);
}

/* Births of the pairs that are known, which their scale follows from. */
static uint64_t known_births(const struct snap_writer *s)
{
	uint64_t births = 0;
	for (size_t i = 0; i < s->newborn_count; i++)
		births += s->newborn[i].is_known ? s->newborn[i].change.births : 0;
	return births;
}

static void put_newborns(struct profile_writer *w, uint64_t births)
{
	struct snap_writer *s = &w->snap;
	uint64_t scale = snap_scale(births, snap_mean_sum(&s->state));
	const struct newborn none = {0}, *last = &none;
	size_t j = 0;
	s->rare_idx = 0;
	for (size_t i = 0; i < s->newborn_count; i++) {
		const struct newborn *b = &s->newborn[i];
		j = put_idle(s, j, b->known_idx, scale);
		if (b->is_known) {
			put_known(w, i, &s->state.known[j++], scale);
		} else {
			put_unknown(w, i, last);
			last = b;
		}
	}
	put_idle(s, j, s->state.known_count, scale);
}

/* ---- changes of older cohorts --------------------------------------------------------- */

static int compare_changed(const void *a, const void *b)
{
	cohort_id x = ((const struct changed *)a)->cohort, y = ((const struct changed *)b)->cohort;
	return x < y ? 1 : x > y ? -1 : 0;
}

static void add_change(struct profile_change *to, const struct profile_change *c)
{
	to->births += c->births;
	to->deaths += c->deaths;
	to->temporary += c->temporary;
	to->born_bytes += c->born_bytes;
	to->died_bytes += c->died_bytes;
	to->temporary_bytes += c->temporary_bytes;
}

/* Descending by cohort, one entry for each. */
static void sort_changed(struct snap_writer *s)
{
	size_t n = 0;
	if (s->changed_count)
		qsort(s->changed, s->changed_count, sizeof *s->changed, compare_changed);
	for (size_t i = 0; i < s->changed_count; i++) {
		if (n && s->changed[n - 1].cohort == s->changed[i].cohort)
			add_change(&s->changed[n - 1].change, &s->changed[i].change);
		else
			s->changed[n++] = s->changed[i];
	}
	s->changed_count = n;
}

static void put_other(struct profile_writer *w, const struct changed *d)
{
	struct snap_writer *s = &w->snap;
	const struct profile_change *c = &d->change;
	uint64_t size = w->site_size[s->cohort_site[d->cohort - 1] - 1];
	struct buf *out = &s->sparse[SPARSE_OTHER].items;
	buf_varint(out, s->cohort_count - d->cohort);
	buf_varint(out, c->births);
	buf_varint(out, c->deaths);
	buf_varint(out, c->temporary);
	if (size == PROFILE_SIZE_MIXED) {
		buf_varint(out, c->born_bytes);
		buf_varint(out, c->died_bytes);
		buf_varint(out, c->temporary_bytes);
		s->state.live_bytes += c->born_bytes - c->died_bytes;
	} else {
		s->state.live_bytes += (c->births - c->deaths) * size;
	}
	s->sparse[SPARSE_OTHER].count++;
	size_t at = snap_survivor_find(&s->state, d->cohort);
	if (at != SIZE_MAX)
		s->state.survivor_live[at] += c->births - c->deaths;
}

/* Only deaths, of a cohort that had live blocks: the usual case.  False if it is not so. */
static bool put_deaths(struct profile_writer *w, const struct changed *d, size_t old_count)
{
	struct snap_writer *s = &w->snap;
	const struct profile_change *c = &d->change;
	size_t at = snap_survivor_find(&s->state, d->cohort);
	uint64_t size = w->site_size[s->cohort_site[d->cohort - 1] - 1];
	if (at == SIZE_MAX || at >= old_count || c->births || c->born_bytes || !c->deaths ||
	    c->deaths > s->state.survivor_live[at])
		return false;
	if (c->temporary) {
		sparse_gap(&s->sparse[SPARSE_OLD_TEMPORARY], s->sparse[SPARSE_DEATHS].count);
		buf_varint(&s->sparse[SPARSE_OLD_TEMPORARY].items, c->temporary);
	}
	/* From the youngest survivor to the older ones. */
	sparse_gap(&s->sparse[SPARSE_DEATHS], old_count - 1 - at);
	buf_varint(&s->sparse[SPARSE_DEATHS].items,
		   c->deaths == s->state.survivor_live[at] ? 0 : c->deaths);
	s->state.survivor_live[at] -= c->deaths;
	if (size == PROFILE_SIZE_MIXED) {
		buf_varint(&s->columns[SNAP_MIXED], c->died_bytes);
		buf_varint(&s->columns[SNAP_MIXED], c->temporary_bytes);
		s->state.live_bytes -= c->died_bytes;
	} else {
		s->state.live_bytes -= c->deaths * size;
	}
	return true;
}

static void put_changed(struct profile_writer *w)
{
	struct snap_writer *s = &w->snap;
	size_t old_count = s->state.survivor_count;
	sort_changed(s);
	/* The deaths of the usual kind first, since both sides do the other changes last. */
	size_t left = 0;
	for (size_t i = 0; i < s->changed_count; i++)
		if (!put_deaths(w, &s->changed[i], old_count))
			s->changed[left++] = s->changed[i];
	s->changed_count = left;
}

/* ---- the whole snapshot ------------------------------------------------------------------ */

static bool add_survivors(struct snap_writer *s)
{
	cohort_id first = (cohort_id)(s->cohort_count - s->newborn_count + 1);
	for (size_t i = 0; i < s->newborn_count; i++) {
		const struct profile_change *c = &s->newborn[i].change;
		uint64_t deaths = c->deaths > c->births ? 0 : c->deaths;
		if (c->births > deaths &&
		    !snap_survivor_add(&s->state, (cohort_id)(first + i), c->births - deaths))
			return false;
	}
	return true;
}

/* New cohorts with more deaths than births: the deaths as another change. */
static void put_late_deaths(struct profile_writer *w)
{
	struct snap_writer *s = &w->snap;
	cohort_id first = (cohort_id)(s->cohort_count - s->newborn_count + 1);
	for (size_t i = 0; i < s->newborn_count; i++) {
		const struct profile_change *c = &s->newborn[i].change;
		if (c->deaths <= c->births)
			continue;
		struct changed d = {.cohort = (cohort_id)(first + i)};
		d.change.deaths = c->deaths;
		d.change.died_bytes = c->died_bytes;
		put_other(w, &d);
	}
}

static void put_head(struct snap_writer *s, uint64_t births)
{
	struct profile_snapshot *now = &s->current;
	struct buf *column = &s->columns[SNAP_HEAD];
	while (now->time_ns % s->unit_ns || now->cpu_ns % s->unit_ns)
		s->unit_ns /= 10;
	while (now->rss_bytes % s->unit_rss_bytes)
		s->unit_rss_bytes /= 2;
	buf_u64(column, now->time_ns);
	buf_u64(column, now->cpu_ns);
	buf_u64(column, now->rss_bytes);
	buf_u64(column, (uint64_t)now->live_bytes - s->state.live_bytes);
	buf_u64(column, births);
}

enum neap_err snap_encode(struct profile_writer *w)
{
	struct snap_writer *s = &w->snap;
	for (size_t i = 0; i < SPARSE_COUNT; i++)
		sparse_start(&s->sparse[i]);
	if (!snap_next_reserve(&s->state, s->newborn_count))
		return ERR_NOMEM;
	find_known(s);
	uint64_t births = known_births(s);
	put_newborns(w, births);
	snap_next_commit(&s->state);
	put_changed(w);
	if (!add_survivors(s))
		return ERR_NOMEM;
	put_late_deaths(w);
	for (size_t i = 0; i < s->changed_count; i++)
		put_other(w, &s->changed[i]);
	for (size_t i = 0; i < SPARSE_COUNT; i++)
		sparse_finish(&s->sparse[i], &s->columns[sparse_columns[i]]);
	put_head(s, births);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		if (s->columns[i].has_failed)
			return ERR_NOMEM;
	s->pending_count++;
	return NEAP_OK;
}

/*
 * The times of the pending snapshots, each against what was expected.  They were kept as
 * 64-bit numbers until now, because only now it is known what unit all are multiples of.
 */
static void put_times(struct snap_writer *s, struct buf *out)
{
	struct reader r =
		reader_init(s->columns[SNAP_HEAD].data, s->columns[SNAP_HEAD].count_bytes);
	uint64_t unit = s->unit_ns, rss_unit = s->unit_rss_bytes;
	buf_varint(out, unit);
	buf_varint(out, rss_unit);
	struct snap_state *st = &s->state;
	struct buf head = {0};
	while (reader_left(&r)) {
		uint64_t time_ns = reader_u64(&r), cpu_ns = reader_u64(&r), rss = reader_u64(&r);
		uint64_t time_guess = (st->time_ns + st->time_step_ns) / unit;
		uint64_t cpu_guess = (st->cpu_ns + st->cpu_step_ns) / unit;
		buf_svarint(&head, (int64_t)(time_ns / unit - time_guess));
		buf_svarint(&head, (int64_t)(cpu_ns / unit - cpu_guess));
		buf_svarint(&head, (int64_t)(rss / rss_unit - st->rss_bytes / rss_unit));
		buf_svarint(&head, (int64_t)reader_u64(&r));
		buf_varint(&head, reader_u64(&r));
		snap_time_commit(st, time_ns, cpu_ns, rss);
	}
	buf_varint(out, head.count_bytes);
	buf_put(out, head.data, head.count_bytes);
	out->has_failed |= head.has_failed;
	buf_release(&head);
}

void snap_payload(struct snap_writer *s, struct buf *out)
{
	/* A snapshot that is only begun is not in the columns. */
	uint32_t open_count = s->is_open ? 1 : 0;
	uint32_t open_cohorts = s->is_open ? (uint32_t)s->newborn_count : 0;
	buf_varint(out, s->total_count - open_count - s->pending_count + 1);
	buf_varint(out, s->pending_count);
	buf_varint(out, s->first_cohort);
	put_times(s, out);
	for (size_t i = SNAP_HEAD + 1; i < SNAP_COLUMN_COUNT; i++)
		buf_str(out, s->columns[i].data, s->columns[i].count_bytes);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		buf_clear(&s->columns[i]);
	s->pending_count = 0;
	s->first_cohort = (uint32_t)s->cohort_count - open_cohorts + 1;
	snap_writer_units(s);
}

size_t snap_pending_bytes(const struct snap_writer *s)
{
	size_t sum = 0;
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		sum += s->columns[i].count_bytes;
	return sum;
}

void snap_writer_release(struct snap_writer *s)
{
	for (size_t i = 0; i < SPARSE_COUNT; i++)
		buf_release(&s->sparse[i].items);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		buf_release(&s->columns[i]);
	mem_free(s->newborn);
	mem_free(s->changed);
	mem_free(s->cohort_site);
	snap_state_release(&s->state);
}
