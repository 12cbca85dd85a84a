/*
 * Snapshots into columns.  See enum snap_column and neap-file(5).
 *
 * The new cohorts of a snapshot are compared with the known pairs (site, thread), as
 * one merges two sorted lists: take, skip, insert.  A caller that adds cohorts in
 * ascending order of site and thread gets the smallest file; any order is right.
 */
#include "config.h"

#include "src/profile/writer_priv.h"

#include <stdlib.h>
#include <string.h>

#define UNIT_NS        1000u
#define UNIT_RSS_BYTES 4096u

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

/* ---- new cohorts --------------------------------------------------------------------- */

static bool find_ops(struct snap_writer *s)
{
	size_t i = 0, j = 0;
	s->op_count = 0;
	while (i < s->newborn_count) {
		struct snap_op op = {0};
		for (; i < s->newborn_count; i++) {
			const struct newborn *b = &s->newborn[i];
			if (j == s->state.known_count ||
			    pair_key(s->state.known[j].site, s->state.known[j].thread) !=
				    pair_key(b->site, b->thread))
				break;
			j++;
			op.take_count++;
		}
		for (; i < s->newborn_count && j < s->state.known_count; j++) {
			const struct newborn *b = &s->newborn[i];
			if (pair_key(s->state.known[j].site, s->state.known[j].thread) >=
			    pair_key(b->site, b->thread))
				break;
			op.skip_count++;
		}
		for (; i < s->newborn_count; i++) {
			const struct newborn *b = &s->newborn[i];
			if (j < s->state.known_count &&
			    pair_key(s->state.known[j].site, s->state.known[j].thread) <=
				    pair_key(b->site, b->thread))
				break;
			op.insert_count++;
		}
		if (!vec_reserve((void **)&s->ops, &s->op_cap, s->op_count + 1, sizeof *s->ops))
			return false;
		s->ops[s->op_count++] = op;
	}
	return true;
}

static void put_ops(struct snap_writer *s)
{
	struct buf *column = &s->columns[SNAP_OPS];
	size_t left = s->state.known_count;
	buf_varint(column, s->op_count);
	for (size_t o = 0; o < s->op_count; o++) {
		const struct snap_op *op = &s->ops[o];
		buf_varint(column, op->take_count == left ? 0 : op->take_count + 1);
		buf_varint(column, op->skip_count);
		buf_varint(column, op->insert_count);
		left -= op->take_count + op->skip_count;
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
		sparse_gap(&s->survivors, idx);
		buf_varint(&s->survivors.items, live == c->births ? 0 : live);
	}
	if (c->temporary != expected_temporary) {
		sparse_gap(&s->temporary, idx);
		buf_svarint(&s->temporary.items, (int64_t)(c->temporary - expected_temporary));
	}
	if (b->birth != s->total_count || b->flags) {
		sparse_gap(&s->unusual, idx);
		buf_varint(&s->unusual.items, s->total_count - b->birth);
		buf_varint(&s->unusual.items, b->flags);
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

static void put_taken(struct profile_writer *w, size_t idx, const struct known *k, uint64_t scale)
{
	struct snap_writer *s = &w->snap;
	const struct profile_change *c = &s->newborn[idx].change;
	buf_svarint(&s->columns[SNAP_BIRTHS], (int64_t)(c->births - snap_expect(k, scale)));
	put_newborn(w, idx, snap_expect_temporary(k, c->births));
	snap_next_taken(&s->state, k, c->births, c->temporary);
}

static void put_inserted(struct profile_writer *w, size_t idx, site_id last_site,
			 thread_id last_thread)
{
	struct snap_writer *s = &w->snap;
	const struct newborn *b = &s->newborn[idx];
	struct buf *column = &s->columns[SNAP_PAIRS];
	buf_svarint(column, (int64_t)b->site - last_site);
	buf_svarint(column, (int64_t)b->thread - last_thread);
	buf_varint(column, b->change.births);
	put_newborn(w, idx, 0);
	snap_next_new(&s->state, b->site, b->thread, b->change.births, b->change.temporary);
}

/* Births and means of the pairs that are taken: what the scale of the snapshot follows from. */
static uint64_t taken_births(const struct snap_writer *s, uint64_t *mean_sum_out)
{
	uint64_t births = 0, mean_sum = 0;
	size_t i = 0, j = 0;
	for (size_t o = 0; o < s->op_count; o++) {
		for (size_t n = 0; n < s->ops[o].take_count; n++) {
			births += s->newborn[i++].change.births;
			mean_sum += s->state.known[j++].mean;
		}
		j += s->ops[o].skip_count;
		i += s->ops[o].insert_count;
	}
	*mean_sum_out = mean_sum;
	return births;
}

static uint64_t put_newborns(struct profile_writer *w)
{
	struct snap_writer *s = &w->snap;
	uint64_t mean_sum, births = taken_births(s, &mean_sum);
	uint64_t scale = snap_scale(births, mean_sum);
	const struct known *known = s->state.known;
	site_id last_site = 0;
	thread_id last_thread = 0;
	size_t i = 0, j = 0;
	for (size_t o = 0; o < s->op_count; o++) {
		for (size_t n = 0; n < s->ops[o].take_count; n++)
			put_taken(w, i++, &known[j++], scale);
		for (size_t n = 0; n < s->ops[o].skip_count; n++)
			snap_next_idle(&s->state, &known[j++]);
		for (size_t n = 0; n < s->ops[o].insert_count; n++, i++) {
			put_inserted(w, i, last_site, last_thread);
			last_site = s->newborn[i].site;
			last_thread = s->newborn[i].thread;
		}
	}
	while (j < s->state.known_count)
		snap_next_idle(&s->state, &known[j++]);
	return births;
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
	struct buf *out = &s->other.items;
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
	s->other.count++;
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
		sparse_gap(&s->old_temporary, s->deaths.count);
		buf_varint(&s->old_temporary.items, c->temporary);
	}
	/* From the youngest survivor to the older ones. */
	sparse_gap(&s->deaths, old_count - 1 - at);
	buf_varint(&s->deaths.items, c->deaths == s->state.survivor_live[at] ? 0 : c->deaths);
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
	s->has_odd_time |= now->time_ns % UNIT_NS || now->cpu_ns % UNIT_NS;
	s->has_odd_rss |= now->rss_bytes % UNIT_RSS_BYTES != 0;
	buf_u64(column, now->time_ns);
	buf_u64(column, now->cpu_ns);
	buf_u64(column, now->rss_bytes);
	buf_u64(column, (uint64_t)now->live_bytes - s->state.live_bytes);
	buf_u64(column, births);
}

enum neap_err snap_encode(struct profile_writer *w)
{
	struct snap_writer *s = &w->snap;
	struct sparse *lists[] = {&s->survivors, &s->temporary,     &s->unusual,
				  &s->deaths,    &s->old_temporary, &s->other};
	static const enum snap_column columns[] = {SNAP_SURVIVORS, SNAP_TEMPORARY,     SNAP_UNUSUAL,
						   SNAP_DEATHS,    SNAP_OLD_TEMPORARY, SNAP_OTHER};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		sparse_start(lists[i]);
	if (!find_ops(s) || !snap_next_reserve(&s->state, s->newborn_count))
		return ERR_NOMEM;
	put_ops(s);
	uint64_t births = put_newborns(w);
	snap_next_commit(&s->state);
	put_changed(w);
	if (!add_survivors(s))
		return ERR_NOMEM;
	put_late_deaths(w);
	for (size_t i = 0; i < s->changed_count; i++)
		put_other(w, &s->changed[i]);
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		sparse_finish(lists[i], &s->columns[columns[i]]);
	put_head(s, births);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		if (s->columns[i].has_failed)
			return ERR_NOMEM;
	s->pending_count++;
	return NEAP_OK;
}

/*
 * The times of the pending snapshots, each against what was expected.  They were kept as
 * 64-bit numbers until now, because only now it is known whether all are whole units.
 */
static void put_times(struct snap_writer *s, struct buf *out)
{
	struct reader r =
		reader_init(s->columns[SNAP_HEAD].data, s->columns[SNAP_HEAD].count_bytes);
	uint64_t unit = s->has_odd_time ? 1 : UNIT_NS;
	uint64_t rss_unit = s->has_odd_rss ? 1 : UNIT_RSS_BYTES;
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
	s->has_odd_time = s->has_odd_rss = false;
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
	struct sparse *lists[] = {&s->survivors, &s->temporary,     &s->unusual,
				  &s->deaths,    &s->old_temporary, &s->other};
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		buf_release(&lists[i]->items);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		buf_release(&s->columns[i]);
	mem_free(s->newborn);
	mem_free(s->changed);
	mem_free(s->ops);
	mem_free(s->cohort_site);
	snap_state_release(&s->state);
}
