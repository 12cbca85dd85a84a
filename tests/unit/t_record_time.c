/*
 * Time as the recorder sees it, run by a clock of our own through the code that records: the same
 * ticks, snapshots and file as ever, only the program is played by the test.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/record/record_priv.h"

#define HOUR_NS     (3600 * NS_PER_S)
#define DAY_NS      (24 * HOUR_NS)
#define BLOCK_BYTES 48u
#define SITE        (NC_NODE_FIRST_FREE + 1)

static char dir[] = "/tmp/neap-t_time-XXXXXX";

static void start(void)
{
	cr_assert(mkdtemp(dir));
	cr_assert_eq(chdir(dir), 0);
}

static void stop(void)
{
	char command[PATH_MAX];
	snprintf(command, sizeof command, "rm -rf %s", dir);
	if (chdir("/") || system(command))
		fprintf(stderr, "cannot remove %s\n", dir);
}

TestSuite(record_time, .init = start, .fini = stop);

/* A recorder with one process, whose region the test writes. */
struct bench {
	struct record_options options;
	struct recorder r;
	struct record_result result;
	struct process *p;
	uint64_t now, alloc_count;
	uint32_t cohort, birth; /* of the current interval */
	uint32_t finds_places;  /* so many call paths are met at each work */
};

/* One path with one site, and the thread that allocates there. */
static void lay_out(struct region *region)
{
	struct nc_node *nodes = (struct nc_node *)(uintptr_t)region->nodes;
	nodes[NC_NODE_FIRST_FREE] = (struct nc_node){.key = 0x401000, .parent = NC_NODE_ROOT};
	nodes[SITE] = (struct nc_node){
		.key = NC_KEY_SITE | (uint64_t)NC_API_MALLOC << NC_KEY_API_SHIFT | BLOCK_BYTES,
		.parent = NC_NODE_FIRST_FREE,
	};
	region->threads[1] = (struct nc_thread){.tid = (uint32_t)getpid(), .flags = NC_THREAD_USED};
	region->header->used_count[NC_SEC_NODES] = SITE + 1;
	region->header->used_count[NC_SEC_COHORTS] = NC_DIRTY_COHORTS;
	region->header->used_count[NC_SEC_THREADS] = 2;
	region->header->used_count[NC_SEC_MODULES] = 1;
	region->header->start_ns = 1;
}

static void bench_init(struct bench *b, uint64_t interval_ns)
{
	struct err e;
	*b = (struct bench){.options = {.tool = "test",
					.output = "out.neap",
					.wants_overwrite = true,
					.recycle_from_count = RECORD_RECYCLE_FROM}};
	b->options.interval_ns = interval_ns ? interval_ns : RECORD_INTERVAL_NS;
	b->r.options = &b->options;
	b->r.is_adaptive = !interval_ns;
	pthread_mutex_init(&b->r.speaker.lock, NULL);
	module_files_init(&b->r.module_files);
	cr_assert_eq(namer_init(&b->r.namer, &b->options, &e), NEAP_OK, "%s", e.text);
	cr_assert_eq(naming_init(&b->r.naming, &b->r, &b->result, &e), NEAP_OK, "%s", e.text);
	struct newcomer n = {.pid = getpid(), .is_first = true, .pidfd = -1, .program = "p"};
	n.output.fd = -1;
	cr_assert_eq(namer_open(&b->r.namer, "p", 1, false, &n.output, &e), NEAP_OK, "%s", e.text);
	char *argv[] = {(char *)(uintptr_t) "p", NULL};
	b->options.argv = argv;
	cr_assert_eq(process_new(&b->r, &n, &b->p, &e), NEAP_OK, "%s", e.text);
	b->options.argv = NULL;
	lay_out(&b->p->region);
	b->now = b->p->base_ns;
}

/* The program allocates a block, and frees it if told to. */
static void work(struct bench *b, bool frees)
{
	struct nc_header *h = b->p->region.header;
	struct nc_cohort *cohorts = (struct nc_cohort *)(uintptr_t)b->p->region.cohorts;
	if (b->birth != h->interval) {
		b->cohort = h->used_count[NC_SEC_COHORTS]++;
		b->birth = h->interval;
		cohorts[b->cohort] = (struct nc_cohort){
			.site = SITE, .birth = b->birth, .thread = 1, .size_or_max = BLOCK_BYTES};
	}
	cohorts[b->cohort].births++;
	cohorts[b->cohort].deaths += frees;
	b->p->region.dirty[b->cohort / NC_DIRTY_COHORTS] = 1;
	b->alloc_count++;
	h->live_primary_bytes += frees ? 0 : BLOCK_BYTES;
	h->peak_primary_bytes = (uint64_t)h->live_primary_bytes;
	h->used_count[NC_SEC_NODES] += b->finds_places;
}

/* As if the recorder had started with the program and used a processor for so long already. */
static void pretend_spent(struct bench *b, uint64_t spent_ns)
{
	b->r.start_ns = b->p->base_ns;
	b->r.start_cpu_ns = own_cpu_ns() - spent_ns;
}

/* Ticks at the times the recorder asks for, until `until`; the program works before each `every`th. */
static uint64_t run(struct bench *b, uint64_t until, uint64_t every, bool frees)
{
	uint64_t tick_count = 0;
	while (b->now < until) {
		if (every && tick_count % every == 0)
			work(b, frees);
		uint64_t next = process_tick(b->p, b->now);
		cr_assert_gt(next, b->now, "time does not stand still");
		b->now = next;
		tick_count++;
	}
	return tick_count;
}

static struct profile *finish(struct bench *b)
{
	struct profile *p;
	struct err e;
	struct profile_end end = {
		.kind = END_EXITED, .time_ns = b->now - b->p->base_ns, .reason = ""};
	process_finish(b->p, &end);
	while (!naming_end(&b->r.naming))
		usleep(1000);
	naming_release(&b->r.naming);
	namer_release(&b->r.namer);
	module_files_release(&b->r.module_files);
	record_result_release(&b->result);
	cr_assert_eq(profile_open("out.neap", &p, &e), NEAP_OK, "%s", e.text);
	cr_expect_not(p->damage.is_cut);
	return p;
}

static uint64_t births(const struct profile *p)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < p->cohort_count; i++)
		sum += profile_cohort_births(p, i);
	return sum;
}

static void expect_whole(const struct bench *b, const struct profile *p, uint64_t length_ns)
{
	cr_expect_eq(births(p), b->alloc_count);
	cr_assert_gt(p->snapshot_count, 0);
	uint64_t last = p->snapshots[p->snapshot_count - 1].time_ns;
	cr_expect(last >= length_ns - length_ns / 500 && last <= length_ns + NS_PER_S,
		  "the last snapshot is at %.1f s of %.1f", (double)last / 1e9,
		  (double)length_ns / 1e9);
	for (size_t i = 1; i < p->snapshot_count; i++)
		cr_assert_geq(p->snapshots[i].time_ns, p->snapshots[i - 1].time_ns);
}

/* ---- long runs -------------------------------------------------------------------------- */

Test(record_time, a_busy_week_has_about_ten_thousand_snapshots)
{
	struct bench b;
	bench_init(&b, 10 * NS_PER_MS);
	run(&b, b.now + 7 * DAY_NS, 1, true);
	cr_expect_geq(b.p->interval_ns, 10 * NS_PER_MS << 14);
	struct profile *p = finish(&b);
	cr_expect(p->snapshot_count > 8000 && p->snapshot_count < 11000, "%zu snapshots",
		  (size_t)p->snapshot_count);
	cr_expect_lt(p->file_bytes, 400000);
	expect_whole(&b, p, 7 * DAY_NS);
	/* 1000 at 10 ms, then 500 at 20 ms, 500 at 40 ms, ... */
	cr_expect(p->snapshots[999].time_ns > 9 * NS_PER_S &&
		  p->snapshots[999].time_ns < 11 * NS_PER_S);
	cr_expect(p->snapshots[1499].time_ns > 19 * NS_PER_S &&
		  p->snapshots[1499].time_ns < 22 * NS_PER_S);
	cr_expect(p->snapshots[1999].time_ns > 39 * NS_PER_S &&
		  p->snapshots[1999].time_ns < 43 * NS_PER_S);
	profile_free(p);
}

Test(record_time, a_week_that_grows_has_no_more_where_the_interval_adapts)
{
	struct bench b;
	bench_init(&b, 0);
	run(&b, b.now + 7 * DAY_NS, 3, false);
	struct profile *p = finish(&b);
	cr_expect(p->snapshot_count > 500 && p->snapshot_count < 11000, "%zu snapshots",
		  (size_t)p->snapshot_count);
	expect_whole(&b, p, 7 * DAY_NS);
	profile_free(p);
}

/* ---- idle -------------------------------------------------------------------------------- */

Test(record_time, idle_minutes_cost_nothing_and_are_not_lost)
{
	struct bench b;
	bench_init(&b, 0);
	run(&b, b.now + NS_PER_S, 1, false);
	uint32_t before = b.p->snapshot_count;
	uint64_t idle_end = b.now + 10 * 60 * NS_PER_S;
	uint64_t ticks = run(&b, idle_end, 0, false);
	cr_expect_leq(b.p->snapshot_count - before, 2, "%u snapshots of nothing",
		      b.p->snapshot_count - before);
	cr_expect_lt(ticks, 13000, "%zu ticks in 10 minutes", (size_t)ticks);
	/* What comes after is dated after, not at the last snapshot before. */
	uint32_t interval = b.p->interval;
	work(&b, false);
	run(&b, b.now + 100 * NS_PER_MS, 0, false);
	cr_assert_eq(b.p->interval, interval + 1);
	uint64_t length_ns = b.now - b.p->base_ns;
	struct profile *p = finish(&b);
	expect_whole(&b, p, length_ns);
	cr_expect_geq(p->snapshots[interval - 1].time_ns, 600 * NS_PER_S);
	cr_expect_leq(p->snapshots[interval - 1].time_ns, 602 * NS_PER_S);
	profile_free(p);
}

/* The recorder itself was stopped or its machine slept: one late tick, then as ever. */
Test(record_time, a_gap_in_the_ticks_is_one_interval)
{
	struct bench b;
	bench_init(&b, 10 * NS_PER_MS);
	run(&b, b.now + NS_PER_S, 1, true);
	uint32_t before = b.p->snapshot_count;
	b.now += 8 * HOUR_NS;
	run(&b, b.now + NS_PER_S, 1, true);
	cr_expect(b.p->snapshot_count - before > 90 && b.p->snapshot_count - before < 110,
		  "%u snapshots in a second after it", b.p->snapshot_count - before);
	struct profile *p = finish(&b);
	cr_expect_eq(births(p), b.alloc_count);
	profile_free(p);
}

/* ---- what it costs ---------------------------------------------------------------------- */

static uint32_t snapshots_of_dear_recorder(uint64_t interval_ns)
{
	struct bench b;
	bench_init(&b, interval_ns);
	b.finds_places = 1;
	pretend_spent(&b, 10 * NS_PER_S);
	run(&b, b.now + 5 * NS_PER_S, 1, false);
	uint64_t length_ns = b.now - b.p->base_ns;
	struct profile *p = finish(&b);
	uint32_t count = p->snapshot_count;
	cr_expect_eq(births(p), b.alloc_count);
	cr_expect_geq(p->snapshots[count - 1].time_ns, length_ns - length_ns / 4);
	profile_free(p);
	return count;
}

/* Intervals of an eighth of the time so far: some 5 for each doubling of 10 ms to 5 s. */
Test(record_time, a_dear_recorder_takes_fewer_snapshots_but_not_few)
{
	uint32_t count = snapshots_of_dear_recorder(0);
	cr_expect(count >= 30 && count <= 60, "%u snapshots", count);
}

Test(record_time, an_interval_that_was_asked_for_is_kept_by_a_dear_recorder)
{
	uint32_t count = snapshots_of_dear_recorder(10 * NS_PER_MS);
	cr_expect(count >= 450 && count <= 510, "%u snapshots", count);
}

/* ---- steady stretches -------------------------------------------------------------------- */

Test(record_time, a_steady_stretch_is_as_long_as_all_before_it)
{
	struct bench b;
	bench_init(&b, 0);
	pretend_spent(&b, 0);
	run(&b, b.now + 60 * NS_PER_S, 1, true);
	struct profile *p = finish(&b);
	cr_expect(p->snapshot_count >= 25 && p->snapshot_count <= 35, "%u snapshots",
		  (unsigned)p->snapshot_count);
	for (size_t i = 1; i < p->snapshot_count; i++) {
		uint64_t before = p->snapshots[i - 1].time_ns;
		uint64_t length = p->snapshots[i].time_ns - before;
		cr_expect_leq(length, 2700 * NS_PER_MS);
		cr_expect_leq(length, before + 20 * NS_PER_MS, "%zu ns after %zu ns",
			      (size_t)length, (size_t)before);
	}
	profile_free(p);
}

/* ---- handing out ------------------------------------------------------------------------- */

static uint64_t file_bytes(void)
{
	struct stat st;
	cr_assert_eq(stat("out.neap", &st), 0);
	return (uint64_t)st.st_size;
}

Test(record_time, little_is_handed_out_within_ten_seconds)
{
	struct bench b;
	bench_init(&b, 0);
	pretend_spent(&b, 0);
	uint64_t at_start = file_bytes();
	run(&b, b.now + 9 * NS_PER_S, 1, true);
	cr_expect_eq(file_bytes(), at_start);
	run(&b, b.now + 3 * NS_PER_S, 1, true);
	cr_expect_gt(file_bytes(), at_start);
	profile_free(finish(&b));
}
