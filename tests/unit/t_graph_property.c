/* Random profiles: the index against the nested loops of graph_ref.c. */
#include "config.h"

#include "src/graph/graph.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/graph_ref.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define RUN_COUNT  60u
#define NAME_COUNT 7u

/* splitmix64: same numbers everywhere */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t limit)
{
	return next_random(state) % limit;
}

static const char *const names[NAME_COUNT] = {"a", "b", "c", "d", "wrap_x", "wrap_y", "e"};

static bool is_test_wrapper(const char *name)
{
	return !strncmp(name, "wrap", 4);
}

/* ---- generation ------------------------------------------------------------------------ */

struct living {
	cohort_id cohort;
	bool is_mixed;
	uint64_t blocks, bytes, size_bytes;
};

struct world {
	uint64_t random;
	struct build *b;
	node_id nodes[200];
	size_t node_count;
	site_id sites[120];
	bool site_is_mixed[120];
	uint64_t site_size[120];
	size_t site_count;
	thread_id thread_count;
	struct living living[2000];
	size_t living_count;
};

static void make_nodes(struct world *w)
{
	frame_id frames[24];
	for (size_t i = 0; i < 24; i++) {
		struct build_line lines[4];
		size_t count = below(&w->random, 4); /* 0: no name */
		for (size_t k = 0; k < count; k++)
			lines[k] = (struct build_line){names[below(&w->random, NAME_COUNT)],
						       below(&w->random, 2) ? "/s/x.c" : "",
						       (uint32_t)below(&w->random, 3)};
		char module[32];
		snprintf(module, sizeof module, "/lib/%d.so", (int)below(&w->random, 3));
		mod_id id = below(&w->random, 5) ? build_module(w->b, module) : 0;
		frames[i] = build_frame(w->b, id, 0, lines, count);
	}
	w->nodes[0] = PROFILE_NODE_ROOT;
	w->nodes[1] = PROFILE_NODE_SIGNAL;
	w->nodes[2] = PROFILE_NODE_TRUNCATED;
	w->node_count = 3;
	size_t count = 3 + below(&w->random, 190);
	while (w->node_count < count) {
		/* Mostly below recent nodes, so that stacks get deep and functions recur. */
		size_t back = 1 + below(&w->random, below(&w->random, 2) ? 3 : w->node_count);
		node_id parent = w->nodes[back >= w->node_count ? 0 : w->node_count - back];
		w->nodes[w->node_count++] = build_node(w->b, parent, frames[below(&w->random, 24)],
						       below(&w->random, 9) ? 0 : NODE_EXITING);
	}
}

static void make_sites(struct world *w)
{
	w->site_count = 1 + below(&w->random, 120);
	for (size_t i = 0; i < w->site_count; i++) {
		w->site_is_mixed[i] = !below(&w->random, 4);
		w->site_size[i] = below(&w->random, 300);
		struct profile_site s = {
			.node = w->nodes[below(&w->random, w->node_count)],
			.size_bytes = w->site_is_mixed[i] ? PROFILE_SIZE_MIXED : w->site_size[i],
			.api = API_MALLOC,
		};
		w->sites[i] = profile_add_site(build_writer(w->b), &s);
	}
}

static void add_births(struct world *w, snap_id snap)
{
	size_t count = below(&w->random, 20);
	for (size_t i = 0; i < count && w->living_count < 2000; i++) {
		size_t site = below(&w->random, w->site_count);
		struct living *l = &w->living[w->living_count++];
		l->is_mixed = w->site_is_mixed[site];
		l->size_bytes = w->site_size[site];
		l->blocks = 1 + below(&w->random, 50);
		l->bytes = l->is_mixed ? l->blocks * (1 + below(&w->random, 100))
				       : l->blocks * l->size_bytes;
		struct profile_change change = {.births = l->blocks,
						.temporary = below(&w->random, l->blocks + 1)};
		if (l->is_mixed) {
			change.born_bytes = l->bytes;
			change.temporary_bytes = below(&w->random, l->bytes + 1);
		}
		bool is_inherited = snap == 1 && !below(&w->random, 3);
		if (is_inherited)
			change.temporary = change.temporary_bytes = 0;
		thread_id thread = 1 + (thread_id)below(&w->random, w->thread_count);
		l->cohort = profile_add_cohort(build_writer(w->b), w->sites[site], thread, snap,
					       is_inherited ? COHORT_INHERITED : 0, &change);
	}
}

static void add_deaths(struct world *w)
{
	for (size_t i = 0; i < w->living_count; i++) {
		struct living *l = &w->living[i];
		if (!l->blocks || below(&w->random, 3))
			continue;
		struct profile_change change = {.deaths = 1 + below(&w->random, l->blocks)};
		if (l->is_mixed) {
			change.died_bytes = change.deaths == l->blocks
						    ? l->bytes
						    : below(&w->random, l->bytes + 1);
			l->bytes -= change.died_bytes;
		} else {
			l->bytes -= change.deaths * l->size_bytes;
		}
		l->blocks -= change.deaths;
		profile_change_cohort(build_writer(w->b), l->cohort, &change);
	}
}

/* What is live now, as if the peak were now. */
static void set_peak(struct world *w, snap_id snap)
{
	struct profile_peak_entry entries[2000];
	size_t count = 0;
	struct profile_peak peak = {.snap = snap, .time_ns = snap * BUILD_MS};
	for (size_t i = 0; i < w->living_count; i++) {
		const struct living *l = &w->living[i];
		if (!l->blocks)
			continue;
		entries[count++] = (struct profile_peak_entry){l->cohort, l->blocks, l->bytes};
		peak.bytes += l->bytes;
	}
	profile_set_peak(build_writer(w->b), &peak, entries, count);
}

static struct profile *random_profile(uint64_t seed)
{
	struct world *w = mem_zalloc(sizeof *w);
	w->random = seed;
	w->b = build_new(NULL, NULL);
	w->thread_count = 1 + (thread_id)below(&w->random, 4);
	for (thread_id t = 2; t <= w->thread_count; t++)
		build_thread(w->b, "worker");
	make_nodes(w);
	make_sites(w);
	snap_id snap_count = (snap_id)below(&w->random, 12);
	snap_id peak_snap = (snap_id)below(&w->random, 12);
	for (snap_id snap = 1; snap <= snap_count; snap++) {
		build_snapshot(w->b, snap * BUILD_MS);
		add_births(w, snap);
		add_deaths(w);
		build_end_snapshot(w->b);
		if (snap == peak_snap)
			set_peak(w, snap);
	}
	build_symbols(w->b, below(&w->random, 8));
	struct profile *p = build_read(w->b);
	mem_free(w);
	return p;
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
		const char *want = ref_leaf(s->p, n, is_test_wrapper);
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
		sites[s->p->cohort_site[c] - 1].blocks -= s->cohorts[c].blocks;
		sites[s->p->cohort_site[c] - 1].bytes -= s->cohorts[c].bytes;
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
	const struct graph_options options = {.is_wrapper = is_test_wrapper};
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
			s.window.to = (snap_id)below(&random, last + 1u);
			s.window.from = (snap_id)below(&random, s.window.to + 1u);
			compare_cohorts(&s);
			compare_sites(&s);
		}
		compared += s.p->cohort_count;
		subject_release(&s);
	}
	cr_assert_gt(compared, 1000);
}
