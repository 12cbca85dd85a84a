#include "config.h"

#include "src/graph/graph.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"
#include "tests/unit/graph_ref.h"

#include <criterion/criterion.h>
#include <string.h>

static bool is_test_wrapper(const char *name)
{
	return !strncmp(name, "wrap", 4);
}

static struct graph *index_of(const struct profile *p)
{
	const struct graph_options options = {.is_wrapper = is_test_wrapper};
	struct graph *g;
	struct err e = {0};
	cr_assert_eq(graph_build(p, &options, &g, &e), NEAP_OK, "%s", e.text);
	return g;
}

static void assert_sum(struct graph_sum got, struct graph_sum want, const char *what, size_t id)
{
	cr_assert(got.blocks == want.blocks && got.bytes == want.bytes,
		  "%s of %zu: %jd blocks %jd bytes, not %jd and %jd", what, id,
		  (intmax_t)got.blocks, (intmax_t)got.bytes, (intmax_t)want.blocks,
		  (intmax_t)want.bytes);
}

/* ---- a profile small enough to know the answers ------------------------------------ */

/*
 * main -> parse -> parse -> wrap_alloc    10 x 16 in 1, 4 die in 2, 6 in 3
 *      -> load                             5 x 100 in 2, 1 dies in 2, temporary
 * inherited at load: 3 x 8, one dies in 3
 */
struct small {
	struct profile *p;
	struct graph *g;
	node_id main, parse, nested, wrapper, load;
};

static struct small small_profile(void)
{
	struct small s;
	struct build *b = build_new(NULL, NULL);
	s.main = build_call(b, PROFILE_NODE_ROOT, "main", "/s/main.c", 1);
	s.parse = build_call(b, s.main, "parse", "/s/parse.c", 10);
	s.nested = build_call(b, s.parse, "parse", "/s/parse.c", 12);
	s.wrapper = build_call(b, s.nested, "wrap_alloc", "/s/wrap.c", 3);
	s.load = build_call(b, s.main, "load", "/s/load.c", 5);
	struct profile_site old = {.node = s.load, .size_bytes = 8, .api = API_MALLOC};
	site_id old_site = profile_add_site(build_writer(b), &old);
	struct profile_change three = {.births = 3};

	build_snapshot(b, 10 * BUILD_MS);
	cohort_id inherited =
		profile_add_cohort(build_writer(b), old_site, 1, 1, COHORT_INHERITED, &three);
	cohort_id parsed = build_alloc(b, s.wrapper, 16, 1, 10);
	build_end_snapshot(b);
	build_snapshot(b, 20 * BUILD_MS);
	cohort_id loaded = build_alloc(b, s.load, 100, 1, 5);
	build_free(b, loaded, 1, 1);
	build_free(b, parsed, 4, 0);
	build_end_snapshot(b);
	build_snapshot(b, 30 * BUILD_MS);
	build_free(b, inherited, 1, 0);
	build_free(b, parsed, 6, 0);
	build_end_snapshot(b);
	s.p = build_read(b);
	s.g = index_of(s.p);
	return s;
}

static void small_release(struct small *s)
{
	graph_free(s->g);
	profile_free(s->p);
}

static struct graph_sum whole(const struct small *s, enum graph_pop pop, snap_id from, snap_id to)
{
	struct graph_sum *cohorts = mem_array(s->p->cohort_count, sizeof *cohorts);
	graph_pop_cohorts(s->g, pop, (struct graph_window){from, to}, cohorts);
	struct graph_sum sum = graph_add_up(cohorts, s->p->cohort_count);
	mem_free(cohorts);
	return sum;
}

Test(graph, counts_every_population_of_a_known_profile)
{
	struct small s = small_profile();
	const struct {
		enum graph_pop pop;
		snap_id from, to;
		struct graph_sum want;
	} cases[] = {
		{POP_LIVE, 0, 0, {3, 24}},       {POP_LIVE, 0, 1, {13, 184}},
		{POP_LIVE, 0, 2, {13, 520}},     {POP_LIVE, 0, 3, {6, 416}},
		{POP_LIVE, 0, 99, {6, 416}},     {POP_LEAKED, 0, 0, {6, 416}},
		{POP_PEAK, 0, 0, {13, 520}},     {POP_ALLOCATED, 0, 3, {15, 660}},
		{POP_ALLOCATED, 1, 3, {5, 500}}, {POP_FREED, 0, 3, {12, 268}},
		{POP_FREED, 1, 2, {5, 164}},     {POP_TEMPORARY, 0, 3, {1, 100}},
		{POP_TEMPORARY, 0, 1, {0, 0}},   {POP_SURVIVORS, 0, 2, {10, 496}},
		{POP_SURVIVORS, 1, 3, {4, 400}}, {POP_GROWTH, 1, 3, {-7, 232}},
		{POP_GROWTH, 0, 3, {3, 392}},    {POP_GROWTH, 2, 2, {0, 0}},
		{POP_FREED, 3, 1, {0, 0}},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		assert_sum(whole(&s, cases[i].pop, cases[i].from, cases[i].to), cases[i].want,
			   graph_pop_name(cases[i].pop), i);
	small_release(&s);
}

Test(graph, finds_snapshots_by_time)
{
	struct small s = small_profile();
	cr_assert_eq(graph_snap_at(s.g, 0), 0);
	cr_assert_eq(graph_snap_at(s.g, 10 * BUILD_MS - 1), 0);
	cr_assert_eq(graph_snap_at(s.g, 10 * BUILD_MS), 1);
	cr_assert_eq(graph_snap_at(s.g, 29 * BUILD_MS), 2);
	cr_assert_eq(graph_snap_at(s.g, UINT64_MAX), 3);
	cr_assert_eq(graph_snap_time(s.g, 2), 20 * BUILD_MS);
	cr_assert_eq(graph_end_time(s.g), 30 * BUILD_MS);
	small_release(&s);
}

Test(graph, takes_the_highest_snapshot_for_the_peak_if_none_was_recorded)
{
	struct small s = small_profile();
	struct graph_peak peak = graph_peak(s.g);
	cr_assert_not(peak.is_exact);
	cr_assert_eq(peak.snap, 2);
	cr_assert_eq(peak.bytes, 520);
	cr_assert_eq(peak.time_ns, 20 * BUILD_MS);
	small_release(&s);
}

Test(graph, follows_live_memory_over_time)
{
	struct small s = small_profile();
	struct graph_tick ticks[4];
	graph_timeline(s.g, NULL, ticks);
	assert_sum(ticks[0].live, (struct graph_sum){3, 24}, "live", 0);
	assert_sum(ticks[2].live, (struct graph_sum){13, 520}, "live", 2);
	assert_sum(ticks[2].allocated, (struct graph_sum){5, 500}, "allocated", 2);
	assert_sum(ticks[2].freed, (struct graph_sum){5, 164}, "freed", 2);
	assert_sum(ticks[3].live, (struct graph_sum){6, 416}, "live", 3);
	cr_assert_eq(ticks[3].time_ns, 30 * BUILD_MS);
	uint8_t keep[3] = {0, 1, 0}; /* only what parse allocated */
	graph_timeline(s.g, keep, ticks);
	assert_sum(ticks[0].live, (struct graph_sum){0, 0}, "live", 0);
	assert_sum(ticks[2].live, (struct graph_sum){6, 96}, "live", 2);
	small_release(&s);
}

Test(graph, walks_a_stack_outwards_and_stops_at_the_root)
{
	struct small s = small_profile();
	static const char *const want[] = {"wrap_alloc", "parse", "parse", "main"};
	struct graph_walk w = graph_walk_init(s.g, s.wrapper);
	entry_id entry;
	size_t count = 0;
	while ((entry = graph_walk_next(&w)) != ENTRY_NONE) {
		cr_assert_lt(count, 4);
		cr_assert_str_eq(graph_entry(s.g, entry).name, want[count++]);
	}
	cr_assert_eq(count, 4);
	w = graph_walk_leaf(s.g, s.wrapper);
	cr_assert_str_eq(graph_entry(s.g, graph_walk_next(&w)).name, "parse");
	cr_assert_eq(w.node, s.nested);
	small_release(&s);
}

Test(graph, shows_signal_truncated_and_missing_stacks)
{
	struct build *b = build_new(NULL, NULL);
	node_id handler = build_call(b, PROFILE_NODE_SIGNAL, "handler", "/s/h.c", 1);
	node_id deep = build_call(b, PROFILE_NODE_TRUNCATED, "deep", "/s/d.c", 1);
	build_snapshot(b, BUILD_MS);
	build_alloc(b, PROFILE_NODE_ROOT, 1, 1, 1);
	build_end_snapshot(b);
	struct profile *p = build_read(b);
	struct graph *g = index_of(p);
	const struct {
		node_id node;
		enum graph_frame_kind last;
	} cases[] = {
		{handler, FRAME_SIGNAL},
		{deep, FRAME_TRUNCATED},
		{PROFILE_NODE_ROOT, FRAME_NO_STACK},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct graph_walk w = graph_walk_init(g, cases[i].node);
		enum graph_frame_kind last = FRAME_NAMED;
		for (entry_id entry; (entry = graph_walk_next(&w)) != ENTRY_NONE;)
			last = graph_entry(g, entry).kind;
		cr_assert_eq(last, cases[i].last, "case %zu", i);
	}
	graph_free(g);
	profile_free(p);
}

Test(graph, blames_the_outermost_frame_of_a_stack_of_wrappers)
{
	static const struct build_line inner[] = {{"wrap_a", "", 0}, {"wrap_b", "", 0}};
	static const struct build_line outer[] = {{"wrap_c", "", 0}, {"wrap_d", "", 0}};
	struct build *b = build_new(NULL, NULL);
	mod_id module = build_module(b, "/lib/x.so");
	node_id top = build_node(b, PROFILE_NODE_ROOT, build_frame(b, module, 0, outer, 2), 0);
	node_id leaf = build_node(b, top, build_frame(b, module, 0, inner, 2), 0);
	struct profile *p = build_read(b);
	struct graph *g = index_of(p);
	cr_assert_eq(graph_leaf_node(g, leaf), top);
	cr_assert_str_eq(graph_entry(g, graph_leaf_entry(g, top)).name, "wrap_d");
	graph_free(g);
	profile_free(p);
}

Test(graph, takes_the_first_of_equally_high_snapshots_for_the_peak)
{
	struct build *b = build_new(NULL, NULL);
	node_id n = build_call(b, PROFILE_NODE_ROOT, "main", "/s/m.c", 1);
	for (unsigned snap = 1; snap <= 4; snap++) {
		build_snapshot(b, snap * BUILD_MS);
		if (snap == 2)
			build_alloc(b, n, 64, 1, 1);
		build_end_snapshot(b);
	}
	struct profile *p = build_read(b);
	struct graph *g = index_of(p);
	cr_assert_eq(graph_peak(g).snap, 2);
	graph_free(g);
	profile_free(p);
}

Test(graph, merges_functions_of_one_name)
{
	struct build *b = build_new(NULL, NULL);
	struct profile_frame frames[2] = {{.pc = 1}, {.pc = 2}};
	frame_id first = profile_add_frame(build_writer(b), &frames[0]);
	frame_id second = profile_add_frame(build_writer(b), &frames[1]);
	node_id one = profile_add_node(build_writer(b), PROFILE_NODE_ROOT, first, 0);
	node_id two = profile_add_node(build_writer(b), PROFILE_NODE_ROOT, second, 0);
	struct profile_func funcs[] = {{"C::C()", "_ZN1CC1Ev"}, {"C::C()", "_ZN1CC2Ev"}};
	struct profile_line lines[] = {{.func = 1}, {.func = 2}};
	uint32_t first_line[] = {0, 1, 2};
	struct profile_symbols symbols = {.funcs = funcs,
					  .func_count = 2,
					  .lines = lines,
					  .line_count = 2,
					  .first_line = first_line,
					  .frame_count = 2};
	build_symbols(b, false);
	profile_add_symbols(build_writer(b), &symbols);
	struct profile *p = build_read(b);
	struct graph *g = index_of(p);
	struct graph_frame x = graph_entry(g, graph_leaf_entry(g, one));
	struct graph_frame y = graph_entry(g, graph_leaf_entry(g, two));
	cr_assert_eq(x.func, y.func);
	cr_assert_str_eq(x.name, "C::C()");
	graph_free(g);
	profile_free(p);
}

Test(graph, survives_a_profile_without_anything)
{
	struct profile *p = build_read(build_new(NULL, NULL));
	struct graph *g = index_of(p);
	struct graph_tick tick;
	graph_timeline(g, NULL, &tick);
	assert_sum(tick.live, (struct graph_sum){0, 0}, "live", 0);
	cr_assert_eq(graph_peak(g).bytes, 0);
	cr_assert_eq(graph_last_snap(g), 0);
	graph_free(g);
	profile_free(p);
}

Test(graph, reports_running_out_of_memory_at_any_allocation)
{
	struct small s = small_profile();
	uint64_t n = 1;
	for (;; n++) {
		struct graph *g;
		struct err e = {0};
		mem_fail_at(n);
		enum neap_err code = graph_build(s.p, NULL, &g, &e);
		mem_fail_at(0);
		graph_free(g);
		cr_assert_eq(code, e.code);
		if (code == NEAP_OK)
			break;
		cr_assert_eq(code, ERR_NOMEM);
		cr_assert_lt(n, 1000);
	}
	cr_assert_gt(n, 10);
	small_release(&s);
}
