/* See random_world.h. */
#include "config.h"

#include "tests/unit/random_world.h"

#include "src/base/mem.h"

#include <stdio.h>
#include <string.h>

#define FRAMES_MOST  32u
#define NODES_MOST   256u
#define SITES_MOST   128u
#define LIVING_MOST  2000u
#define INLINED_MOST 3u

/* splitmix64: same numbers everywhere */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return next_random(state) % limit;
}

static const char *const functions[] = {"a",      "b(int)", "ns::c",   "ns::d(char)",
					"wrap_x", "wrap_y", "ns::k::e"};
#define FUNCTION_COUNT 7u

bool random_is_wrapper(const char *name)
{
	return !strncmp(name, "wrap", 4);
}

struct living {
	cohort_id cohort;
	bool is_mixed;
	uint64_t blocks, bytes, size_bytes;
};

struct world {
	uint64_t random;
	struct random_size size;
	struct build *b;
	frame_id frames[FRAMES_MOST];
	node_id nodes[NODES_MOST];
	size_t node_count;
	site_id sites[SITES_MOST];
	bool site_is_mixed[SITES_MOST];
	uint64_t site_size[SITES_MOST];
	size_t site_count;
	thread_id thread_count;
	struct living living[LIVING_MOST];
	size_t living_count;
};

static void make_frame(struct world *w, size_t i)
{
	struct build_line lines[INLINED_MOST];
	size_t count = random_below(&w->random, 8) ? 1 + random_below(&w->random, INLINED_MOST)
						   : 0; /* 0: no name */
	for (size_t k = 0; k < count; k++)
		lines[k] = (struct build_line){functions[random_below(&w->random, FUNCTION_COUNT)],
					       random_below(&w->random, 3) ? "/s/x.c" : "/s/t/y.c",
					       (uint32_t)random_below(&w->random, 3)};
	for (size_t k = 0; k < count; k++) {
		if (!random_below(&w->random, 5))
			lines[k].file = "";
	}
	char module[32];
	snprintf(module, sizeof module, "/lib/%d.so", (int)random_below(&w->random, 3));
	mod_id id = random_below(&w->random, 5) ? build_module(w->b, module) : 0;
	w->frames[i] = build_frame(w->b, id, 0, lines, count);
}

static void make_nodes(struct world *w)
{
	w->nodes[0] = PROFILE_NODE_ROOT;
	w->nodes[1] = PROFILE_NODE_SIGNAL;
	w->nodes[2] = PROFILE_NODE_TRUNCATED;
	w->node_count = 3;
	size_t count = 3 + random_below(&w->random, w->size.nodes - 3);
	while (w->node_count < count) {
		/* Mostly below recent nodes, so that stacks get deep and functions recur. */
		size_t back = 1 + random_below(&w->random,
					       random_below(&w->random, 2) ? 3 : w->node_count);
		node_id parent = w->nodes[back >= w->node_count ? 0 : w->node_count - back];
		frame_id frame = w->frames[random_below(&w->random, w->size.frames)];
		bool is_exiting = !random_below(&w->random, 9);
		w->nodes[w->node_count++] =
			build_node(w->b, parent, frame, is_exiting ? NODE_EXITING : 0);
	}
}

static void make_sites(struct world *w)
{
	w->site_count = 1 + random_below(&w->random, w->size.sites);
	for (size_t i = 0; i < w->site_count; i++) {
		w->site_is_mixed[i] = !random_below(&w->random, 4);
		w->site_size[i] = random_below(&w->random, 300);
		struct profile_site s = {
			.node = w->nodes[random_below(&w->random, w->node_count)],
			.size_bytes = w->site_is_mixed[i] ? PROFILE_SIZE_MIXED : w->site_size[i],
			.api = (enum profile_api)random_below(&w->random, 4),
		};
		w->sites[i] = profile_add_site(build_writer(w->b), &s);
	}
}

static void add_births(struct world *w, snap_id snap)
{
	size_t count = random_below(&w->random, w->size.births);
	for (size_t i = 0; i < count && w->living_count < LIVING_MOST; i++) {
		size_t site = random_below(&w->random, w->site_count);
		struct living *l = &w->living[w->living_count++];
		l->is_mixed = w->site_is_mixed[site];
		l->size_bytes = w->site_size[site];
		l->blocks = 1 + random_below(&w->random, 20);
		l->bytes = l->is_mixed ? l->blocks * (1 + random_below(&w->random, 100))
				       : l->blocks * l->size_bytes;
		struct profile_change change = {
			.births = l->blocks, .temporary = random_below(&w->random, l->blocks + 1)};
		bool is_inherited = snap == 1 && !random_below(&w->random, 3);
		if (is_inherited)
			change.temporary = 0;
		if (l->is_mixed) {
			change.born_bytes = l->bytes;
			change.temporary_bytes =
				change.temporary ? random_below(&w->random, l->bytes + 1) : 0;
		}
		thread_id thread = 1 + (thread_id)random_below(&w->random, w->thread_count);
		l->cohort = profile_add_cohort(build_writer(w->b), w->sites[site], thread, snap,
					       is_inherited ? COHORT_INHERITED : 0, &change);
	}
}

static void add_deaths(struct world *w)
{
	for (size_t i = 0; i < w->living_count; i++) {
		struct living *l = &w->living[i];
		if (!l->blocks || random_below(&w->random, 3))
			continue;
		struct profile_change change = {.deaths = 1 + random_below(&w->random, l->blocks)};
		if (l->is_mixed) {
			change.died_bytes = change.deaths == l->blocks
						    ? l->bytes
						    : random_below(&w->random, l->bytes + 1);
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
	struct profile_peak_entry entries[LIVING_MOST];
	size_t count = 0;
	struct profile_peak peak = {.snap = snap, .time_ns = snap * 10 * BUILD_MS - BUILD_MS};
	for (size_t i = 0; i < w->living_count; i++) {
		const struct living *l = &w->living[i];
		if (!l->blocks)
			continue;
		entries[count++] = (struct profile_peak_entry){l->cohort, l->blocks, l->bytes};
		peak.bytes += l->bytes;
	}
	profile_set_peak(build_writer(w->b), &peak, entries, count);
}

struct build *random_world(const char *path, uint64_t seed, const struct random_size *size)
{
	struct world *w = mem_zalloc(sizeof *w);
	w->random = seed;
	w->size = *size;
	w->b = build_new(path, NULL);
	w->thread_count = 1 + (thread_id)random_below(&w->random, 4);
	for (thread_id t = 2; t <= w->thread_count; t++)
		build_thread(w->b, t == 4 ? "" : "worker");
	for (size_t i = 0; i < size->frames; i++)
		make_frame(w, i);
	make_nodes(w);
	make_sites(w);
	snap_id snap_count = (snap_id)random_below(&w->random, size->snapshots);
	snap_id peak_snap = (snap_id)random_below(&w->random, size->snapshots);
	for (snap_id snap = 1; snap <= snap_count; snap++) {
		build_snapshot(w->b, snap * 10 * BUILD_MS);
		add_births(w, snap);
		add_deaths(w);
		build_end_snapshot(w->b);
		if (snap == peak_snap)
			set_peak(w, snap);
	}
	build_symbols(w->b, random_below(&w->random, 8));
	struct build *b = w->b;
	mem_free(w);
	return b;
}
