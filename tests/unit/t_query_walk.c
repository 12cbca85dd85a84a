/*
 * Walks through stacks (query/walk.h) against what the parents of nodes and vnodes say, on random
 * profiles: every place, the whole way to it, what is kept of it, and where ranges begin and end.
 */
#include "config.h"

#include "query/walk.h"

#include "query/query.h"
#include "tests/unit/random_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLDS     25u
#define DEPTH_MOST 2000u
#define LATE_NS    (1000000 * BUILD_MS) /* after all snapshots of a random world */

/* The first walks nodes as they lie, the others stacks that were made. */
static const char *const queries[] = {
	"allocated | by func",
	"allocated size >= 0B | by func,line",
	"allocated | collapse recursion | by func",
};

struct subject {
	struct query_session *session;
	struct ast_script *script;
	struct query_error error;
	struct plan pl;
	struct exec x;
	const struct profile *p;
	uint32_t *places; /* vnodes with cells, in order */
	uint32_t place_count;
	unsigned polls, stop_at; /* 0: never */
};

static bool is_stopped(void *arg)
{
	struct subject *s = arg;
	return ++s->polls == s->stop_at;
}

/* Blocks of no stack, of a signal's and of a cut one, too. */
static void write_world(const char *path, uint64_t seed)
{
	const struct random_size size = {
		.frames = 30, .nodes = 250, .sites = 120, .births = 60, .snapshots = 6};
	struct build *b = random_world(path, seed, &size);
	build_snapshot(b, LATE_NS);
	for (node_id n = PROFILE_NODE_ROOT; n < PROFILE_NODE_FIRST; n++)
		build_alloc(b, n, 24, 1, 1);
	build_end_snapshot(b);
	build_close(b);
}

static int compare_vnodes(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

static void find_places(struct subject *s)
{
	size_t count = s->x.cells[0][MEASURE_MAIN].count;
	s->places = mem_array(count, sizeof *s->places);
	memcpy(s->places, s->x.place[0][MEASURE_MAIN], count * sizeof *s->places);
	qsort(s->places, count, sizeof *s->places, compare_vnodes);
	s->place_count = 0;
	for (size_t i = 0; i < count; i++) {
		if (!i || s->places[i] != s->places[i - 1])
			s->places[s->place_count++] = s->places[i];
	}
}

static void subject_init(struct subject *s, uint64_t seed, const char *query)
{
	const struct query_options options = {.is_wrapper = random_is_wrapper,
					      .is_cancelled = is_stopped,
					      .arg = s,
					      .is_as_if_large = seed % 2,
					      .cursor_ns = UINT64_MAX};
	const char *dir = getenv("TMPDIR");
	char path[256];
	struct err e = {0};
	struct stack_cut cut;
	*s = (struct subject){.session = NULL};
	snprintf(path, sizeof path, "%s/neap-walk-%d.neap", dir ? dir : "/tmp", (int)getpid());
	write_world(path, seed);
	cr_assert_eq(query_session_new(&options, &s->session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(s->session, path, &e), NEAP_OK, "%s", e.text);
	unlink(path);
	cr_assert_eq(query_parse(query, strlen(query), &s->script, &s->error), NEAP_OK);
	cr_assert_eq(plan_build(s->session, s->script, 0, &s->pl, &s->error), NEAP_OK, "%s",
		     s->error.text);
	s->x.pl = s->x.w.pl = &s->pl;
	cr_assert_eq(exec_begin(&s->x, &cut), NEAP_OK, "%s", s->error.text);
	s->p = s->pl.sides[0].file->p;
	find_places(s);
}

static void subject_release(struct subject *s)
{
	exec_release(&s->x);
	plan_release(&s->pl);
	query_script_free(s->script);
	query_session_free(s->session);
	mem_free(s->places);
}

/* ---- what parents say ------------------------------------------------------------------------ */

static uint32_t parent_of(const struct subject *s, uint32_t v)
{
	return s->x.is_of_nodes ? profile_node_parent(s->p, v) : s->x.stacks[0]->parent[v];
}

static uint32_t root_of(const struct subject *s)
{
	return s->x.is_of_nodes ? PROFILE_NODE_ROOT : VNODE_ROOT;
}

/* Outermost first; the root is a frame only where there is no other. */
static size_t way_to(const struct subject *s, uint32_t v, uint32_t *way)
{
	size_t count = 0;
	do {
		cr_assert_lt(count, DEPTH_MOST);
		way[count++] = v;
		v = parent_of(s, v);
	} while (v > root_of(s));
	for (size_t i = 0; i < count / 2; i++) {
		uint32_t moved = way[i];
		way[i] = way[count - 1 - i];
		way[count - 1 - i] = moved;
	}
	return count;
}

static uint32_t kind_of(const struct subject *s, uint32_t v)
{
	return s->x.is_of_nodes ? graph_frame_of_node(s->pl.sides[0].file->g, v)
				: s->x.stacks[0]->entry[v];
}

static bool is_at_or_below(const struct subject *s, uint32_t v, uint32_t above)
{
	while (v != above && v > root_of(s))
		v = parent_of(s, v);
	return v == above;
}

/* ---- walks ----------------------------------------------------------------------------------- */

struct known_way {
	uint32_t v[DEPTH_MOST];
	size_t count;
};

/* The walk is at a place: `before` is the way that it had. */
static void check_place(const struct subject *s, const struct walk *w, uint32_t place,
			struct known_way *before)
{
	static struct known_way now;
	size_t common = 0;
	now.count = way_to(s, s->places[place], now.v);
	cr_assert_eq(w->place, place);
	cr_assert_eq(w->way_count, now.count, "place %u", place);
	for (size_t i = 0; i < now.count; i++) {
		cr_assert_eq(w->way[i].v, now.v[i], "place %u, depth %zu", place, i);
		cr_assert_eq(w->way[i].key, kind_of(s, now.v[i]));
	}
	while (common < before->count && common < now.count && before->v[common] == now.v[common])
		common++;
	cr_assert_eq(w->kept_count, common, "place %u", place);
	*before = now;
}

static void check_part(struct subject *s, uint32_t from, uint32_t to)
{
	static struct known_way before;
	struct walk w = walk_begin(&s->x, 0, from, to);
	before.count = 0;
	for (uint32_t place = from; place < to; place++) {
		cr_assert(walk_next(&w));
		check_place(s, &w, place, &before);
	}
	cr_assert(!walk_next(&w) && !w.has_failed);
	walk_release(&w);
}

static void check_skips(struct subject *s, uint64_t *random)
{
	static struct known_way before;
	struct walk w = walk_all(&s->x, 0);
	uint32_t place = 0;
	before.count = 0;
	while (place < s->place_count) {
		cr_assert(walk_next(&w));
		check_place(s, &w, place++, &before);
		uint32_t depth = (uint32_t)random_below(random, w.way_count);
		uint32_t v = w.way[depth].v;
		if ((s->x.is_of_nodes && v < PROFILE_NODE_FIRST) || random_below(random, 2))
			continue;
		walk_skip(&w, depth);
		while (place < s->place_count && is_at_or_below(s, s->places[place], v))
			place++;
	}
	cr_assert(!walk_next(&w) && !w.has_failed);
	walk_release(&w);
}

/* With a profile and a query of each kind. */
static void for_each_subject(void (*check)(struct subject *s, uint64_t seed))
{
	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++) {
			static struct subject s;
			subject_init(&s, seed, queries[q]);
			cr_assert_eq(s.x.is_of_nodes, q == 0);
			check(&s, seed);
			subject_release(&s);
		}
	}
}

static void check_all(struct subject *s, uint64_t seed)
{
	(void)seed;
	cr_assert_eq(s->x.prefix[0].place_count, s->place_count);
	check_part(s, 0, s->place_count);
}

Test(query_walk, has_each_place_and_the_way_to_it)
{
	for_each_subject(check_all);
}

static void check_parts(struct subject *s, uint64_t seed)
{
	uint64_t random = seed;
	for (unsigned i = 0; i < 20; i++) {
		uint32_t from = (uint32_t)random_below(&random, s->place_count + 1);
		uint32_t to = from + (uint32_t)random_below(&random, s->place_count + 1 - from);
		check_part(s, from, to);
	}
	check_part(s, s->place_count, s->place_count);
}

Test(query_walk, begins_and_ends_at_any_place)
{
	for_each_subject(check_parts);
}

static void check_many_skips(struct subject *s, uint64_t seed)
{
	for (uint64_t random = seed, i = 0; i < 10; i++)
		check_skips(s, &random);
}

Test(query_walk, passes_over_what_is_below)
{
	for_each_subject(check_many_skips);
}

static void check_stop(struct subject *s, uint64_t seed)
{
	struct walk w = walk_all(&s->x, 0);
	struct ranges r;
	if (!(seed % 2)) /* small ones are not looked at */
		return;
	s->polls = 0;
	s->stop_at = 3;
	for (unsigned i = 0; i < 2; i++)
		cr_assert(walk_next(&w));
	cr_assert_not(walk_next(&w));
	cr_assert(w.has_failed);
	walk_release(&w);
	w = walk_all(&s->x, 0);
	cr_assert(ranges_begin(&r, &w, NULL, s->x.space.group_count));
	cr_assert_not(walk_next(&r.w), "stopped for good");
	ranges_release(&r);
}

Test(query_walk, can_be_stopped)
{
	for_each_subject(check_stop);
}

/* ---- ranges ------------------------------------------------------------------------------------ */

#define RANGES_MOST 100000u

struct range {
	uint32_t key, place, end;
};
struct told {
	struct range ranges[RANGES_MOST];
	size_t count;
};
static struct told told, expected;

static void tell(void *context, uint32_t key, uint32_t place, uint32_t end)
{
	struct told *t = context;
	cr_assert_lt(t->count, RANGES_MOST);
	t->ranges[t->count++] = (struct range){key, place, end};
}

static int compare_ranges(const void *a_range, const void *b_range)
{
	const struct range *a = a_range, *b = b_range;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static uint32_t key_of(const struct subject *s, const uint32_t *key_of_group, entry_id entry)
{
	uint32_t group = s->x.space.group_of_entry[0][entry];
	if (group == GROUP_NONE)
		return KEY_NONE;
	return key_of_group ? key_of_group[group] : group;
}

static bool has_key(const struct subject *s, const uint32_t *key_of_group, uint32_t v, uint32_t key)
{
	const uint32_t *first = s->pl.sides[0].file->columns.first_entry;
	uint32_t kind = kind_of(s, v);
	if (!s->x.is_of_nodes)
		return key_of(s, key_of_group, kind) == key;
	for (entry_id entry = first[kind]; entry < first[kind + 1]; entry++) {
		if (key_of(s, key_of_group, entry) == key)
			return true;
	}
	return false;
}

/* For each key, the outermost frame on the way to each place: places with the same one are a range. */
static void expect_ranges(const struct subject *s, const uint32_t *key_of_group, size_t key_count)
{
	static uint32_t way[DEPTH_MOST];
	expected.count = 0;
	for (uint32_t key = 0; key < key_count; key++) {
		uint32_t open = UINT32_MAX;
		for (uint32_t place = 0; place < s->place_count; place++) {
			size_t count = way_to(s, s->places[place], way), i = 0;
			while (i < count && !has_key(s, key_of_group, way[i], key))
				i++;
			uint32_t outermost = i < count ? way[i] : UINT32_MAX;
			if (outermost != UINT32_MAX && outermost == open)
				expected.ranges[expected.count - 1].end++;
			else if (outermost != UINT32_MAX)
				tell(&expected, key, place, place + 1);
			open = outermost;
		}
	}
}

static void check_ranges(struct subject *s, const uint32_t *key_of_group, size_t key_count)
{
	struct walk w = walk_all(&s->x, 0);
	struct ranges r;
	told.count = 0;
	cr_assert(ranges_begin(&r, &w, key_of_group, key_count));
	cr_assert(ranges_walk(&r, tell, &told));
	ranges_release(&r);
	for (size_t i = 1; i < told.count; i++)
		cr_assert_geq(told.ranges[i].end, told.ranges[i - 1].end,
			      "in the order of their ends");
	expect_ranges(s, key_of_group, key_count);
	qsort(told.ranges, told.count, sizeof told.ranges[0], compare_ranges);
	cr_assert_eq(told.count, expected.count, "%zu ranges, not %zu", told.count, expected.count);
	for (size_t i = 0; i < told.count; i++)
		cr_assert(!memcmp(&told.ranges[i], &expected.ranges[i], sizeof told.ranges[i]),
			  "range %zu of key %u", i, expected.ranges[i].key);
}

static void check_groups(struct subject *s, uint64_t seed)
{
	(void)seed;
	check_ranges(s, NULL, s->x.space.group_count);
}

Test(query_walk, tells_ranges_of_groups)
{
	for_each_subject(check_groups);
}

/* As `source` does: a fourth of the frames has no group. */
static uint32_t *restrict_groups(struct subject *s, uint64_t *random)
{
	size_t count = s->pl.sides[0].file->columns.entry_count;
	uint32_t *groups = mem_array(count, sizeof *groups);
	for (size_t i = 0; i < count; i++)
		groups[i] = random_below(random, 4) ? s->x.space.group_of_entry[0][i] : GROUP_NONE;
	s->x.space.group_of_entry[0] = groups;
	return groups;
}

/* Several groups are a key, some are none; with one key what is below its frames is passed over. */
static void check_keys(struct subject *s, uint64_t seed)
{
	uint64_t random = seed;
	size_t count = s->x.space.group_count;
	uint32_t *keys = mem_array(count, sizeof *keys);
	uint32_t *groups = restrict_groups(s, &random);
	for (size_t key_count = 1; key_count < 4; key_count++) {
		for (size_t g = 0; g < count; g++) {
			uint64_t key = random_below(&random, 2 * key_count + 2);
			keys[g] = key < key_count ? (uint32_t)key : KEY_NONE;
		}
		check_ranges(s, keys, key_count);
	}
	mem_free(keys);
	mem_free(groups);
}

Test(query_walk, tells_ranges_of_keys)
{
	for_each_subject(check_keys);
}

/* ---- what walks are for ------------------------------------------------------------------------ */

static bool sum_frames(struct subject *s)
{
	return frames_sum(&s->x, 0);
}

static bool find_extremes(struct subject *s)
{
	extremes_release(&s->x.extremes[0]);
	return frames_find_extremes(&s->x, 0);
}

/* Whichever thread it is that has no memory. */
static void check_without_memory(struct subject *s, bool (*work)(struct subject *s))
{
	uint64_t before = mem_count();
	cr_assert(work(s));
	uint64_t count = mem_count() - before;
	for (uint64_t at = 1; at <= count; at++) {
		mem_fail_at(at);
		bool is_done = work(s);
		mem_fail_at(0);
		cr_assert_not(is_done, "allocation %ju of %ju", (uintmax_t)at, (uintmax_t)count);
	}
	cr_assert(work(s));
}

static void check_all_without_memory(struct subject *s, uint64_t seed)
{
	check_without_memory(s, sum_frames);
	check_without_memory(s, find_extremes);
	uint32_t *groups = restrict_groups(s, &seed);
	cr_assert(find_extremes(s));
	mem_free(groups);
}

Test(query_walk, adds_up_all_or_fails)
{
	for_each_subject(check_all_without_memory);
}

static void check_work_stops(struct subject *s, uint64_t seed)
{
	if (!(seed % 2)) /* small ones are not looked at */
		return;
	s->polls = 0;
	s->stop_at = 1;
	cr_assert_not(sum_frames(s));
	s->pl.was_cancelled = false;
	s->polls = 0;
	cr_assert_not(find_extremes(s));
}

Test(query_walk, stops_while_it_adds_up)
{
	for_each_subject(check_work_stops);
}
