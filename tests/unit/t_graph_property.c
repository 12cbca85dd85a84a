/* Random profiles: the index against the nested loops of graph_ref.c. */
#include "config.h"

#include "src/graph/graph.h"

#include "src/base/mem.h"
#include "tests/unit/graph_ref.h"
#include "tests/unit/random_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define RUN_COUNT 60u
static struct profile *random_profile(uint64_t seed)
{
	static const struct random_size size = {
		.frames = 24, .nodes = 193, .sites = 120, .births = 20, .snapshots = 12};
	return build_read(random_world(NULL, seed, &size));
}

/* ---- comparison -------------------------------------------------------------------------- */

struct subject {
	struct profile *p;
	struct graph *g;
	struct graph_sum *cohorts;
	uint64_t seed;
	enum graph_pop pop;
	struct graph_window window;
};

#define ASSERT_SUM(s, got, want, ...)                                                 \
	cr_assert((got).blocks == (want).blocks && (got).bytes == (want).bytes,       \
		  "seed %ju %s (%u,%u]: %jd blocks %jd bytes instead of %jd and %jd " \
		  "in " __VA_ARGS__,                                                  \
		  (uintmax_t)(s)->seed, graph_pop_name((s)->pop), (s)->window.from,   \
		  (s)->window.to, (intmax_t)(got).blocks, (intmax_t)(got).bytes,      \
		  (intmax_t)(want).blocks, (intmax_t)(want).bytes)

static void add(struct graph_sum *to, struct graph_sum value)
{
	to->blocks += value.blocks;
	to->bytes += value.bytes;
}

static void compare_cohorts(struct subject *s)
{
	graph_pop_cohorts(s->g, s->pop, s->window, s->cohorts);
	for (size_t c = 0; c < s->p->cohort_count; c++) {
		struct graph_sum want = ref_cohort(s->p, s->pop, s->window, c);
		ASSERT_SUM(s, s->cohorts[c], want, "cohort %zu", c);
	}
}

/* Wrappers, inlined functions and recursion are in the random profiles. */
static void compare_leaves(const struct subject *s)
{
	for (node_id n = PROFILE_NODE_FIRST; n < s->p->node_count; n++) {
		const char *want = ref_leaf(s->p, n, random_is_wrapper);
		entry_id leaf = graph_leaf_entry(s->g, graph_leaf_node(s->g, n));
		const char *got = graph_entry(s->g, leaf).name;
		cr_assert_eq(!got, !want, "seed %ju node %u", (uintmax_t)s->seed, n);
		if (want)
			cr_assert_str_eq(got, want, "seed %ju node %u", (uintmax_t)s->seed, n);
	}
}

static void compare_sites(const struct subject *s)
{
	struct graph_sum *sites = mem_array(s->p->site_count, sizeof *sites);
	graph_sum_sites(s->g, s->cohorts, sites);
	for (size_t c = 0; c < s->p->cohort_count; c++) {
		sites[profile_cohort_site(s->p, c) - 1].blocks -= s->cohorts[c].blocks;
		sites[profile_cohort_site(s->p, c) - 1].bytes -= s->cohorts[c].bytes;
	}
	struct graph_sum none = {0, 0};
	for (size_t i = 0; i < s->p->site_count; i++)
		ASSERT_SUM(s, sites[i], none, "the rest of site %zu", i + 1);
	mem_free(sites);
}

static void compare_timeline(struct subject *s)
{
	snap_id last = graph_last_snap(s->g);
	struct graph_tick *ticks = mem_array((size_t)last + 1, sizeof *ticks);
	graph_timeline(s->g, NULL, ticks);
	for (snap_id snap = 0; snap <= last; snap++) {
		struct graph_sum live = {0, 0};
		for (size_t c = 0; c < s->p->cohort_count; c++)
			add(&live, ref_cohort(s->p, POP_LIVE, (struct graph_window){0, snap}, c));
		ASSERT_SUM(s, ticks[snap].live, live, "the timeline at %u", snap);
	}
	mem_free(ticks);
}

static void subject_init(struct subject *s, uint64_t seed)
{
	const struct graph_options options = {.is_wrapper = random_is_wrapper};
	struct err e = {0};
	*s = (struct subject){.p = random_profile(seed), .seed = seed};
	cr_assert_eq(graph_build(s->p, &options, &s->g, &e), NEAP_OK, "%s", e.text);
	s->cohorts = mem_array(s->p->cohort_count, sizeof *s->cohorts);
}

static void subject_release(struct subject *s)
{
	mem_free(s->cohorts);
	graph_free(s->g);
	profile_free(s->p);
}

Test(graph_property, agrees_with_nested_loops_on_random_profiles)
{
	size_t compared = 0;
	for (uint64_t seed = 1; seed <= RUN_COUNT; seed++) {
		struct subject s;
		subject_init(&s, seed);
		uint64_t random = seed * 77;
		snap_id last = graph_last_snap(s.g);
		compare_timeline(&s);
		compare_leaves(&s);
		for (int pop = 0; pop < POP_COUNT; pop++) {
			s.pop = (enum graph_pop)pop;
			s.window.to = (snap_id)random_below(&random, last + 1u);
			s.window.from = (snap_id)random_below(&random, s.window.to + 1u);
			compare_cohorts(&s);
			compare_sites(&s);
		}
		compared += s.p->cohort_count;
		subject_release(&s);
	}
	cr_assert_gt(compared, 1000);
}
