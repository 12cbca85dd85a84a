/*
 * Snapshots: the mirror of write_snap.c.
 *
 * A snapshot is decoded behind the profile's counts and committed when all of it
 * was found to be right.  After the first wrong one no further block is read, since
 * the state that predicts is lost.
 */
#include "config.h"

#include "src/profile/reader_priv.h"

#include <string.h>

/* A list of (gap, value) pairs that is read along with the items it belongs to. */
struct sparse_reader {
	struct reader *r;
	size_t left_count;
	uint64_t next_idx; /* item of the next value */
};

static void sparse_next(struct sparse_reader *s)
{
	if (s->left_count)
		s->next_idx += get_varint(s->r);
}

static struct sparse_reader sparse_begin(struct reader *r)
{
	struct sparse_reader s = {.r = r, .left_count = reader_count(r, 2)};
	sparse_next(&s);
	return s;
}

/* True if item idx has a value, which the caller reads before it calls sparse_done. */
static inline bool sparse_has(const struct sparse_reader *s, size_t idx)
{
	return s->left_count && s->next_idx == idx;
}

static void sparse_done(struct sparse_reader *s)
{
	s->left_count--;
	s->next_idx++;
	sparse_next(s);
}

/* ---- one snapshot --------------------------------------------------------------------- */

struct snap_cursor {
	struct loader *l;
	struct snap_reader *s;
	struct profile_snapshot head;
	uint64_t live_residual;
	uint64_t known_births;
	snap_id snap;
	size_t most_count; /* new cohorts that there is room for */
	size_t rare_idx;   /* as the writer's */
	struct sparse_reader rare, survivors, temporary, unusual;
};

static enum neap_err wrong(struct err *e, const char *what)
{
	return err_corrupt(e, "a snapshot with %s", what);
}

/* base + difference, in units; false if it does not fit or lies below least. */
static bool in_units(uint64_t base, int64_t diff, uint64_t unit, uint64_t least, uint64_t *out)
{
	uint64_t units = base / unit + (uint64_t)diff;
	return !__builtin_mul_overflow(units, unit, out) && *out >= least;
}

static bool read_head(struct snap_cursor *c)
{
	struct snap_reader *s = c->s;
	struct snap_state *st = &s->state;
	struct reader *r = &s->columns[SNAP_HEAD];
	int64_t time = get_svarint(r), cpu = get_svarint(r), rss = get_svarint(r);
	c->live_residual = (uint64_t)get_svarint(r);
	c->known_births = get_varint(r);
	return !r->has_failed &&
	       in_units(st->time_ns + st->time_step_ns, time, s->unit_ns, st->time_ns,
			&c->head.time_ns) &&
	       in_units(st->cpu_ns + st->cpu_step_ns, cpu, s->unit_ns, 0, &c->head.cpu_ns) &&
	       in_units(st->rss_bytes, rss, s->rss_unit_bytes, 0, &c->head.rss_bytes);
}

static bool cohorts_reserve(struct loader *l, size_t extra)
{
	struct new_cohorts *n = &l->snap.born;
	const struct column columns[] = {
		{(void **)&n->sites, sizeof *n->sites},
		{(void **)&n->threads, sizeof *n->threads},
		{(void **)&n->birth_snaps, sizeof *n->birth_snaps},
		{(void **)&n->flags, sizeof *n->flags},
		{(void **)&n->births, sizeof *n->births},
		{(void **)&n->temporary, sizeof *n->temporary},
		{(void **)&n->born_bytes, sizeof *n->born_bytes},
		{(void **)&n->temporary_bytes, sizeof *n->temporary_bytes},
		{(void **)&n->live, sizeof *n->live},
	};
	return columns_reserve(columns, sizeof columns / sizeof columns[0], &n->cap, extra);
}

static bool deaths_reserve(struct loader *l, size_t extra)
{
	struct new_deaths *n = &l->snap.died;
	const struct column columns[] = {
		{(void **)&n->cohorts, sizeof *n->cohorts},
		{(void **)&n->blocks, sizeof *n->blocks},
		{(void **)&n->bytes, sizeof *n->bytes},
	};
	return columns_reserve(columns, 3, &n->cap, n->count + extra);
}

void snap_reader_release(struct snap_reader *s)
{
	struct new_cohorts *n = &s->born;
	uint64_t *columns[] = {n->sites,  n->threads,      n->birth_snaps, n->flags,
			       n->births, n->temporary,    n->born_bytes,  n->temporary_bytes,
			       n->live,   s->died.cohorts, s->died.blocks, s->died.bytes};
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
		mem_free(columns[i]);
	mem_free(s->adjustments);
	snap_state_release(&s->state);
}

/* Room for it was reserved. */
static void put_death(struct loader *l, cohort_id cohort, uint64_t blocks, uint64_t bytes)
{
	struct new_deaths *n = &l->snap.died;
	n->cohorts[n->count] = cohort;
	n->blocks[n->count] = blocks;
	n->bytes[n->count++] = bytes;
	l->snap.state.live_bytes -= bytes;
}

/* Bytes of a new cohort, whose blocks are known already; false if they cannot be. */
static bool put_new_bytes(struct snap_cursor *c, size_t idx, uint64_t size, uint64_t deaths)
{
	struct new_cohorts *n = &c->s->born;
	uint64_t died_bytes, births = n->births[idx];
	if (size == PROFILE_SIZE_MIXED) {
		struct reader *r = &c->s->columns[SNAP_MIXED];
		n->born_bytes[idx] = get_varint(r);
		died_bytes = n->born_bytes[idx] - (uint64_t)get_svarint(r);
		n->temporary_bytes[idx] = get_varint(r);
	} else {
		died_bytes = deaths * size; /* fits, since births * size does */
		if (__builtin_mul_overflow(births, size, &n->born_bytes[idx]) ||
		    __builtin_mul_overflow(n->temporary[idx], size, &n->temporary_bytes[idx]))
			return false;
	}
	c->s->state.live_bytes += n->born_bytes[idx];
	if (deaths || died_bytes)
		put_death(c->l, (cohort_id)(c->l->p->cohort_count + idx + 1), deaths, died_bytes);
	return true;
}

/* One new cohort; its births are known.  False if something about it is wrong. */
static bool put_new(struct snap_cursor *c, site_id site, thread_id thread, uint64_t births,
		    uint64_t expected_temporary)
{
	struct profile *p = c->l->p;
	struct new_cohorts *n = &c->s->born;
	size_t idx = n->count;
	uint64_t live = 0, back = 0, flags = 0, temporary = expected_temporary;
	if (sparse_has(&c->survivors, idx)) {
		live = get_varint(c->survivors.r);
		live = live ? live : births;
		sparse_done(&c->survivors);
	}
	if (sparse_has(&c->temporary, idx)) {
		temporary += (uint64_t)get_svarint(c->temporary.r);
		sparse_done(&c->temporary);
	}
	if (sparse_has(&c->unusual, idx)) {
		back = get_varint(c->unusual.r);
		flags = get_varint(c->unusual.r);
		sparse_done(&c->unusual);
	}
	if (live > births || back >= c->snap || flags > UINT8_MAX)
		return false;
	n->sites[idx] = site;
	n->threads[idx] = thread;
	n->birth_snaps[idx] = c->snap - back;
	n->flags[idx] = flags;
	n->births[idx] = births;
	n->temporary[idx] = temporary;
	n->live[idx] = live;
	n->count++;
	return put_new_bytes(c, idx, profile_site_size_bytes(p, site - 1), births - live);
}

/* ---- new cohorts ------------------------------------------------------------------------ */

/* The next pair that was not known, and how far it is from the one before. */
struct pair_reader {
	struct reader *r;
	size_t left_count;
	uint64_t known_idx; /* it comes before this known pair */
	int64_t site, thread;
};

static void pair_next(struct pair_reader *p)
{
	if (p->left_count)
		p->known_idx += get_varint(p->r);
}

static bool read_unknown(struct snap_cursor *c, struct pair_reader *next)
{
	const struct profile *p = c->l->p;
	next->site = (int64_t)((uint64_t)next->site + (uint64_t)get_svarint(next->r));
	next->thread = (int64_t)((uint64_t)next->thread + (uint64_t)get_svarint(next->r));
	uint64_t births = get_varint(next->r);
	if (next->r->has_failed || next->site < 1 || next->site > (int64_t)p->site_count ||
	    next->thread < 1 || next->thread > (int64_t)p->thread_count)
		return false;
	site_id site = (site_id)next->site;
	thread_id thread = (thread_id)next->thread;
	size_t idx = c->s->born.count;
	if (idx == c->most_count || !put_new(c, site, thread, births, 0))
		return false;
	snap_next_new(&c->s->state, site, thread, births, c->s->born.temporary[idx]);
	next->left_count--;
	pair_next(next);
	return true;
}

static uint64_t read_births(struct snap_cursor *c, const struct known *k, uint64_t scale)
{
	uint64_t births = snap_expect(k, scale);
	if (births)
		return births + (uint64_t)get_svarint(&c->s->columns[SNAP_BIRTHS]);
	if (sparse_has(&c->rare, c->rare_idx)) {
		births = get_varint(c->rare.r);
		sparse_done(&c->rare);
	}
	c->rare_idx++;
	return births;
}

static bool read_known(struct snap_cursor *c, const struct known *k, uint64_t scale)
{
	struct snap_state *st = &c->s->state;
	size_t idx = c->s->born.count;
	uint64_t births = read_births(c, k, scale);
	if (!births) {
		snap_next_idle(st, k);
		return true;
	}
	if (idx == c->most_count ||
	    !put_new(c, k->site, k->thread, births, snap_expect_temporary(k, births)))
		return false;
	snap_next_taken(st, k, births, c->s->born.temporary[idx]);
	return true;
}

static bool read_newborns(struct snap_cursor *c, size_t pair_count)
{
	struct snap_state *st = &c->s->state;
	uint64_t scale = snap_scale(c->known_births, snap_mean_sum(st));
	struct pair_reader next = {.r = &c->s->columns[SNAP_PAIRS], .left_count = pair_count};
	pair_next(&next);
	for (size_t j = 0; j <= st->known_count; j++) {
		while (next.left_count && next.known_idx == j)
			if (!read_unknown(c, &next))
				return false;
		if (j < st->known_count && !read_known(c, &st->known[j], scale))
			return false;
	}
	snap_next_commit(st);
	return !next.left_count && !c->rare.left_count && !c->survivors.left_count &&
	       !c->temporary.left_count && !c->unusual.left_count;
}

static enum neap_err read_new_cohorts(struct snap_cursor *c, struct err *e)
{
	struct snap_reader *s = c->s;
	size_t pair_count = reader_count(&s->columns[SNAP_PAIRS], 4);
	c->rare = sparse_begin(&s->columns[SNAP_RARE]);
	/* Every new cohort has a byte somewhere: this bounds what is allocated. */
	size_t count = reader_left(&s->columns[SNAP_BIRTHS]) + c->rare.left_count;
	count = pair_count + (count < s->state.known_count ? count : s->state.known_count);
	if (count > LIMIT_IDS - c->l->p->cohort_count)
		return wrong(e, "too many cohorts");
	if (!cohorts_reserve(c->l, count) || !deaths_reserve(c->l, count) ||
	    !snap_next_reserve(&s->state, pair_count))
		return err_nomem(e, "cohorts of the profile");
	c->most_count = count;
	c->survivors = sparse_begin(&s->columns[SNAP_SURVIVORS]);
	c->temporary = sparse_begin(&s->columns[SNAP_TEMPORARY]);
	c->unusual = sparse_begin(&s->columns[SNAP_UNUSUAL]);
	return read_newborns(c, pair_count) ? NEAP_OK : wrong(e, "a new cohort that cannot be");
}

/* ---- older cohorts --------------------------------------------------------------------------- */

static bool put_adjustment(struct snap_reader *s, cohort_id cohort, const struct profile_change *ch)
{
	if (!vec_reserve((void **)&s->adjustments, &s->adjustment_cap, s->adjustment_count + 1,
			 sizeof *s->adjustments))
		return false;
	s->adjustments[s->adjustment_count++] = (struct adjustment){cohort, *ch};
	return true;
}

/* Deaths of the survivor at `at`, with those of them that were temporary blocks. */
static enum neap_err read_death(struct snap_cursor *c, size_t at, uint64_t deaths,
				uint64_t temporary, struct err *e)
{
	struct snap_state *st = &c->s->state;
	cohort_id cohort = st->survivor_cohort[at];
	uint64_t size = profile_cohort_size_bytes(c->l->p, cohort - 1),
		 live = st->survivor_live[at];
	deaths = deaths ? deaths : live;
	if (deaths > live)
		return wrong(e, "more deaths than live blocks");
	st->survivor_live[at] = live - deaths;
	struct profile_change change = {.temporary = temporary};
	uint64_t died_bytes;
	if (size == PROFILE_SIZE_MIXED) {
		died_bytes = get_varint(&c->s->columns[SNAP_MIXED]);
		change.temporary_bytes = get_varint(&c->s->columns[SNAP_MIXED]);
	} else if (__builtin_mul_overflow(deaths, size, &died_bytes) ||
		   __builtin_mul_overflow(temporary, size, &change.temporary_bytes)) {
		return wrong(e, "more bytes than there can be");
	}
	put_death(c->l, cohort, deaths, died_bytes);
	if ((temporary || change.temporary_bytes) && !put_adjustment(c->s, cohort, &change))
		return err_nomem(e, "cohorts of the profile");
	return NEAP_OK;
}

static enum neap_err read_deaths(struct snap_cursor *c, struct err *e)
{
	struct reader *r = &c->s->columns[SNAP_DEATHS];
	size_t count = reader_count(r, 2);
	size_t left = c->s->state.survivor_count; /* those older than the ones done */
	struct sparse_reader temporary = sparse_begin(&c->s->columns[SNAP_OLD_TEMPORARY]);
	if (!deaths_reserve(c->l, count))
		return err_nomem(e, "cohorts of the profile");
	for (size_t i = 0; i < count; i++) {
		uint64_t gap = get_varint(r), deaths = get_varint(r), of_temporary = 0;
		if (r->has_failed || gap >= left)
			return wrong(e, "deaths of an unknown cohort");
		left -= (size_t)gap + 1;
		if (sparse_has(&temporary, i)) {
			of_temporary = get_varint(temporary.r);
			sparse_done(&temporary);
		}
		enum neap_err err = read_death(c, left, deaths, of_temporary, e);
		if (err)
			return err;
	}
	return temporary.left_count ? wrong(e, "temporary blocks that did not die") : NEAP_OK;
}

static bool add_survivors(struct snap_cursor *c)
{
	const struct new_cohorts *n = &c->s->born;
	for (size_t i = 0; i < n->count; i++) {
		cohort_id cohort = (cohort_id)(c->l->p->cohort_count + i + 1);
		if (n->live[i] && !snap_survivor_add(&c->s->state, cohort, n->live[i]))
			return false;
	}
	return true;
}

/* Of a cohort of this snapshot, too. */
static uint64_t cohort_size(const struct snap_cursor *c, size_t row)
{
	const struct profile *p = c->l->p;
	return row < p->cohort_count
		       ? profile_cohort_size_bytes(p, row)
		       : profile_site_size_bytes(p, c->s->born.sites[row - p->cohort_count] - 1);
}

static enum neap_err read_other(struct snap_cursor *c, struct err *e)
{
	struct snap_state *st = &c->s->state;
	struct reader *r = &c->s->columns[SNAP_OTHER];
	size_t known_count = c->l->p->cohort_count + c->s->born.count;
	struct profile_change ch = {0};
	uint64_t back = get_varint(r);
	ch.births = get_varint(r);
	ch.deaths = get_varint(r);
	ch.temporary = get_varint(r);
	if (r->has_failed || back >= known_count)
		return wrong(e, "a change of an unknown cohort");
	cohort_id cohort = (cohort_id)(known_count - back);
	uint64_t size = cohort_size(c, cohort - 1);
	if (size == PROFILE_SIZE_MIXED) {
		ch.born_bytes = get_varint(r);
		ch.died_bytes = get_varint(r);
		ch.temporary_bytes = get_varint(r);
	} else if (__builtin_mul_overflow(ch.births, size, &ch.born_bytes) ||
		   __builtin_mul_overflow(ch.deaths, size, &ch.died_bytes) ||
		   __builtin_mul_overflow(ch.temporary, size, &ch.temporary_bytes)) {
		return wrong(e, "more bytes than there can be");
	}
	size_t at = snap_survivor_find(st, cohort);
	if (at != SIZE_MAX)
		st->survivor_live[at] += ch.births - ch.deaths;
	st->live_bytes += ch.born_bytes;
	if (ch.deaths || ch.died_bytes)
		put_death(c->l, cohort, ch.deaths, ch.died_bytes);
	return put_adjustment(c->s, cohort, &ch) ? NEAP_OK : err_nomem(e, "cohorts of the profile");
}

static enum neap_err read_others(struct snap_cursor *c, struct err *e)
{
	size_t count = reader_count(&c->s->columns[SNAP_OTHER], 4);
	if (!deaths_reserve(c->l, count))
		return err_nomem(e, "cohorts of the profile");
	enum neap_err err = NEAP_OK;
	for (size_t i = 0; i < count && !err; i++)
		err = read_other(c, e);
	return err;
}

/* ---- commit ---------------------------------------------------------------------------------------- */

static bool add_to(struct narrow *c, size_t row, uint64_t value)
{
	return !value || narrow_set(c, row, add_capped(narrow_get(c, row), value));
}

static bool adjust(struct profile *p, const struct adjustment *a)
{
	size_t row = a->cohort - 1, mixed = rowset_find(&p->cohort_mixed, row);
	const struct profile_change *ch = &a->change;
	return add_to(&p->cohort_births, row, ch->births) &&
	       add_to(&p->cohort_temporary, row, ch->temporary) &&
	       (mixed == SIZE_MAX ||
		(add_to(&p->mixed_born_bytes, mixed, ch->born_bytes) &&
		 add_to(&p->mixed_temporary_bytes, mixed, ch->temporary_bytes)));
}

static bool append_cohorts(struct profile *p, const struct new_cohorts *n)
{
	size_t first = p->cohort_count;
	if (!narrow_append(&p->cohort_sites, n->sites, n->count))
		return false;
	for (size_t i = 0; i < n->count; i++) {
		if (profile_cohort_size_bytes(p, first + i) == PROFILE_SIZE_MIXED &&
		    !(rowset_add(&p->cohort_mixed, first + i) &&
		      narrow_append(&p->mixed_born_bytes, &n->born_bytes[i], 1) &&
		      narrow_append(&p->mixed_temporary_bytes, &n->temporary_bytes[i], 1)))
			return false;
	}
	return narrow_append(&p->cohort_threads, n->threads, n->count) &&
	       narrow_append(&p->cohort_birth_snaps, n->birth_snaps, n->count) &&
	       narrow_append(&p->cohort_flags, n->flags, n->count) &&
	       narrow_append(&p->cohort_births, n->births, n->count) &&
	       narrow_append(&p->cohort_temporary, n->temporary, n->count);
}

static bool append_deaths(struct profile *p, const struct new_deaths *n)
{
	size_t first = p->death_count;
	for (size_t i = 0; i < n->count; i++) {
		if (profile_cohort_size_bytes(p, n->cohorts[i] - 1) == PROFILE_SIZE_MIXED &&
		    !(rowset_add(&p->death_mixed, first + i) &&
		      narrow_append(&p->mixed_died_bytes, &n->bytes[i], 1)))
			return false;
	}
	return narrow_append(&p->death_cohorts, n->cohorts, n->count) &&
	       narrow_append(&p->death_blocks, n->blocks, n->count);
}

/* False: out of memory, and nothing can be done with the profile any more. */
static bool commit(struct snap_cursor *c)
{
	struct profile *p = c->l->p;
	struct snap_reader *s = c->s;
	c->head.live_bytes = (int64_t)(s->state.live_bytes + c->live_residual);
	snap_time_commit(&s->state, c->head.time_ns, c->head.cpu_ns, c->head.rss_bytes);
	if (c->l->on_snapshot)
		c->l->on_snapshot(c->l->ctx, c->l, &c->head);
	if (!append_cohorts(p, &s->born) || !append_deaths(p, &s->died))
		return false;
	p->cohort_count += s->born.count;
	p->death_count += s->died.count;
	for (size_t i = 0; i < s->adjustment_count; i++)
		if (!adjust(p, &s->adjustments[i]))
			return false;
	p->snapshots[p->snapshot_count++] = c->head;
	p->death_first[p->snapshot_count] = p->death_count;
	return true;
}

static enum neap_err read_snapshot(struct loader *l, struct err *e)
{
	struct snap_reader *s = &l->snap;
	struct snap_cursor c = {.l = l, .s = s, .snap = (snap_id)l->p->snapshot_count + 1};
	s->adjustment_count = s->born.count = s->died.count = 0;
	if (!read_head(&c))
		return wrong(e, "an impossible time");
	enum neap_err err = read_new_cohorts(&c, e);
	if (!err)
		err = read_deaths(&c, e);
	if (!err && !add_survivors(&c))
		err = err_nomem(e, "cohorts of the profile");
	if (!err)
		err = read_others(&c, e);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT && !err; i++)
		if (s->columns[i].has_failed)
			err = wrong(e, "a column that is cut");
	if (!err && !commit(&c))
		err = err_nomem(e, "snapshots of the profile");
	return err;
}

/* Room for the snapshots and for the end of the deaths of each. */
static bool snapshots_reserve(struct loader *l, size_t count)
{
	struct profile *p = l->p;
	const struct column columns[] = {{(void **)&p->snapshots, sizeof *p->snapshots},
					 {(void **)&p->death_first, sizeof *p->death_first}};
	return columns_reserve(columns, 2, &l->snapshot_cap, p->snapshot_count + count + 1);
}

static enum neap_err read_all(struct loader *l, struct reader *r, struct err *e)
{
	struct snap_reader *s = &l->snap;
	uint64_t first = get_varint(r), count = get_varint(r), first_cohort = get_varint(r);
	s->unit_ns = get_varint(r);
	s->rss_unit_bytes = get_varint(r);
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++) {
		size_t bytes;
		const char *column = reader_str(r, &bytes);
		s->columns[i] = reader_init(column, bytes);
	}
	if (r->has_failed || !s->unit_ns || !s->rss_unit_bytes ||
	    first != l->p->snapshot_count + 1 || first_cohort != l->p->cohort_count + 1 ||
	    count > reader_left(&s->columns[SNAP_HEAD]) / 5 ||
	    count > LIMIT_IDS - l->p->snapshot_count)
		return err_corrupt(e, "snapshots out of turn");
	if (!snapshots_reserve(l, (size_t)count))
		return err_nomem(e, "snapshots of the profile");
	for (; count; count--) {
		enum neap_err err = read_snapshot(l, e);
		if (err)
			return err;
	}
	for (size_t i = 0; i < SNAP_COLUMN_COUNT; i++)
		if (reader_left(&s->columns[i]))
			return err_corrupt(e, "snapshots with something left over");
	return NEAP_OK;
}

enum neap_err read_snapshots(struct loader *l, struct reader *r, struct err *e)
{
	if (l->snap.is_closed)
		return err_corrupt(e, "snapshots that follow a broken one");
	enum neap_err err = read_all(l, r, e);
	l->snap.is_closed = err != NEAP_OK;
	return err;
}
