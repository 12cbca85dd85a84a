/*
 * Counters against each other.  The reader has made sure that ids are right; here the
 * numbers are compared, each rule by one function.
 */
#include "config.h"

#include "src/profile/profile.h"

#include <inttypes.h>

#include "src/base/mem.h"

#define LINES_PER_RULE 10

struct checker {
	const struct profile *p;
	struct buf *out;
	size_t finding_count;          /* of all rules */
	size_t rule_count;             /* of the current rule */
	uint64_t *deaths, *died_bytes; /* by cohort, index id - 1 */
};

static void found(struct checker *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void found(struct checker *k, const char *fmt, ...)
{
	k->finding_count++;
	if (++k->rule_count > LINES_PER_RULE)
		return;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(k->out, fmt, ap);
	va_end(ap);
	buf_putc(k->out, '\n');
}

static void cohort_counters(struct checker *k)
{
	const struct profile *p = k->p;
	for (size_t i = 0; i < p->cohort_count; i++) {
		if (k->deaths[i] > profile_cohort_births(p, i))
			found(k, "cohort %zu: %" PRIu64 " deaths of %" PRIu64 " births", i + 1,
			      k->deaths[i], profile_cohort_births(p, i));
		else if (k->died_bytes[i] > profile_cohort_born_bytes(p, i))
			found(k, "cohort %zu: %" PRIu64 " bytes freed of %" PRIu64, i + 1,
			      k->died_bytes[i], profile_cohort_born_bytes(p, i));
		else if (k->deaths[i] == profile_cohort_births(p, i) &&
			 k->died_bytes[i] != profile_cohort_born_bytes(p, i))
			found(k, "cohort %zu: all blocks freed, but not all bytes", i + 1);
	}
}

static void temporary_blocks(struct checker *k)
{
	const struct profile *p = k->p;
	for (size_t i = 0; i < p->cohort_count; i++)
		if (profile_cohort_temporary(p, i) > k->deaths[i] ||
		    profile_cohort_temporary_bytes(p, i) > k->died_bytes[i])
			found(k, "cohort %zu: %" PRIu64 " temporary blocks of %" PRIu64 " deaths",
			      i + 1, profile_cohort_temporary(p, i), k->deaths[i]);
}

static void deaths_follow_births(struct checker *k)
{
	const struct profile *p = k->p;
	for (size_t s = 1; s <= p->snapshot_count; s++)
		for (size_t d = p->death_first[s - 1]; d < p->death_first[s]; d++)
			if (profile_cohort_birth(p, profile_death_cohort(p, d) - 1) > s)
				found(k, "cohort %u: deaths in interval %zu, before its birth",
				      profile_death_cohort(p, d), s);
}

static void inherited_cohorts(struct checker *k)
{
	const struct profile *p = k->p;
	for (size_t i = 0; i < p->cohort_count && !p->run.is_forked; i++)
		if (profile_cohort_flags(p, i) & COHORT_INHERITED)
			found(k, "cohort %zu: inherited, but the process was not forked", i + 1);
}

/* a + b, or the largest number. */
static uint64_t add_bound(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void peak_entries(struct checker *k)
{
	const struct profile *p = k->p;
	uint64_t sum = 0;
	for (size_t i = 0; i < p->peak_entry_count; i++) {
		const struct profile_peak_entry *x = &p->peak_entries[i];
		sum += x->bytes;
		if (x->blocks > profile_cohort_births(p, x->cohort - 1))
			found(k, "peak: %" PRIu64 " live blocks of cohort %u, which has %" PRIu64,
			      x->blocks, x->cohort, profile_cohort_births(p, x->cohort - 1));
	}
	if (p->has_peak && distance(sum, p->peak.bytes) > p->peak.bound_bytes)
		found(k,
		      "peak: its entries add up to %" PRIu64 " bytes, not to %" PRIu64
		      " (exact within %" PRIu64 ")",
		      sum, p->peak.bytes, p->peak.bound_bytes);
}

static void peak_twice(struct checker *k)
{
	const struct profile *p = k->p;
	struct map seen = {0};
	for (size_t i = 0; i < p->peak_entry_count; i++) {
		cohort_id c = p->peak_entries[i].cohort;
		if (map_find(&seen, c) != MAP_ABSENT)
			found(k, "peak: cohort %u is there twice", c);
		else if (!map_put(&seen, c, 1))
			found(k, "peak: not checked, out of memory");
	}
	map_release(&seen);
}

/* Live bytes after each snapshot, from the cohorts: births minus deaths up to there. */
static void live_bytes(struct checker *k)
{
	const struct profile *p = k->p;
	uint64_t *born = mem_zarray(p->snapshot_count + 1, sizeof *born);
	if (!born) {
		found(k, "live bytes: not checked, out of memory");
		return;
	}
	for (size_t i = 0; i < p->cohort_count; i++)
		born[profile_cohort_birth(p, i)] += profile_cohort_born_bytes(p, i);
	uint64_t live = 0, bound = p->peak.bound_bytes;
	for (size_t s = 1; s <= p->snapshot_count; s++) {
		live += born[s];
		for (size_t d = p->death_first[s - 1]; d < p->death_first[s]; d++)
			live -= profile_death_bytes(p, d);
		/* A birth that was seen late counts early here, so only too much at the end is wrong. */
		if ((int64_t)live < 0)
			found(k, "snapshot %zu: %" PRId64 " live bytes", s, (int64_t)live);
	}
	if (p->has_peak && (int64_t)live > 0 && live > add_bound(p->peak.bytes, bound))
		found(k, "peak: %" PRIu64 " bytes, but %" PRIu64 " are live at the end",
		      p->peak.bytes, live);
	mem_free(born);
}

static void running_total(struct checker *k)
{
	const struct profile *p = k->p;
	/* With several threads the total may have been read while one of them was adding to it. */
	if (p->thread_count != 1 || p->end.kind != END_EXITED || !p->snapshot_count)
		return;
	uint64_t live = 0;
	for (size_t i = 0; i < p->cohort_count; i++)
		live += profile_cohort_born_bytes(p, i) - k->died_bytes[i];
	uint64_t total = (uint64_t)p->snapshots[p->snapshot_count - 1].live_bytes;
	if (live != total)
		found(k,
		      "snapshot %zu: its cohorts have %" PRId64
		      " live bytes, the running total was %" PRId64,
		      p->snapshot_count, (int64_t)live, (int64_t)total);
}

static void life_spans(struct checker *k)
{
	const struct profile *p = k->p;
	for (size_t i = 0; i < p->module_count; i++) {
		const struct profile_module *m = &p->modules[i];
		if (m->last_snap && m->last_snap < m->first_snap)
			found(k, "module %zu: unloaded in interval %u, loaded in %u", i + 1,
			      m->last_snap, m->first_snap);
		if (m->end_va <= m->start_va)
			found(k, "module %zu: ends at 0x%" PRIx64 ", starts at 0x%" PRIx64, i + 1,
			      m->end_va, m->start_va);
	}
	for (size_t i = 0; i < p->thread_count; i++) {
		const struct profile_thread *t = &p->threads[i];
		if (t->last_snap && t->last_snap < t->first_snap)
			found(k, "thread %zu: ended in interval %u, started in %u", i + 1,
			      t->last_snap, t->first_snap);
	}
	if (p->snapshot_count && p->end.time_ns < p->snapshots[p->snapshot_count - 1].time_ns)
		found(k, "end: before the last snapshot");
}

static bool sum_deaths(struct checker *k)
{
	const struct profile *p = k->p;
	k->deaths = mem_zarray(p->cohort_count, sizeof *k->deaths);
	k->died_bytes = mem_zarray(p->cohort_count, sizeof *k->died_bytes);
	if (!k->deaths || !k->died_bytes)
		return false;
	for (size_t d = 0; d < p->death_count; d++) {
		k->deaths[profile_death_cohort(p, d) - 1] += profile_death_blocks(p, d);
		k->died_bytes[profile_death_cohort(p, d) - 1] += profile_death_bytes(p, d);
	}
	return true;
}

size_t profile_check(const struct profile *p, struct buf *out)
{
	static void (*const rules[])(struct checker *) = {
		cohort_counters,   temporary_blocks, deaths_follow_births,
		inherited_cohorts, peak_entries,     peak_twice,
		live_bytes,        running_total,    life_spans,
	};
	struct checker k = {.p = p, .out = out};
	if (!sum_deaths(&k)) {
		found(&k, "nothing was checked: out of memory");
	} else {
		for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
			k.rule_count = 0;
			rules[i](&k);
			if (k.rule_count > LINES_PER_RULE)
				buf_printf(out, "... and %zu more of this kind\n",
					   k.rule_count - LINES_PER_RULE);
		}
	}
	mem_free(k.deaths);
	mem_free(k.died_bytes);
	return k.finding_count;
}
