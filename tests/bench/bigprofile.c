/*
 * bigprofile - write a profile with very many nodes, the same bytes every time.
 *
 *   bigprofile FILE [NODES]      10,000,000 nodes unless said otherwise
 *
 * The shape is that of a compiler's profile: a program that goes down and up its call graph,
 * 20 to 120 frames deep, with recursion; every function calls a few others, one of them most of
 * the time.  Per million nodes there are about 20,000 frames with names as long as C++ makes
 * them, 200,000 sites and as many cohorts in 40 snapshots, most of whose blocks die soon.
 */
#include "config.h"

#include "src/base/map.h"
#include "src/profile/profile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_DEFAULT   10000000u
#define NODES_MOST      200000000u
#define SNAPSHOT_COUNT  40u
#define THREAD_COUNT    5u
#define MODULE_COUNT    12u
#define DEPTH_LEAST     20u
#define DEPTH_MOST      120u
#define CALLEES         12u
#define PC_STEP         23u
#define MODULE_VA_BYTES 0x4000000ull

struct site {
	uint64_t size_bytes;
	uint64_t live; /* blocks of its cohort */
	cohort_id cohort;
};

struct maker {
	struct profile_writer *w;
	uint64_t random;
	uint32_t node_goal, frame_count, func_count, file_count;
	uint32_t node_count;
	struct map children; /* parent and frame -> node */
	node_id stack[DEPTH_MOST + 1];
	frame_id frames[DEPTH_MOST + 1];
	uint32_t depth;
	struct site *sites; /* site_id - 1 */
	size_t site_count, site_cap, old_count;
	struct map site_of; /* node and size -> site */
	int64_t live_bytes;
};

static void die(const char *what)
{
	fprintf(stderr, "bigprofile: %s\n", what);
	exit(1);
}

static uint32_t pick(struct maker *m, uint32_t below)
{
	m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((m->random >> 32) * below >> 32);
}

/* How many in a row with chance 3/4 each. */
static uint32_t pick_run(struct maker *m)
{
	uint32_t n = 1;
	while (pick(m, 4) && n < 12)
		n++;
	return n;
}

/* ---- frames -------------------------------------------------------------------------- */

static void add_modules(struct maker *m)
{
	for (uint32_t i = 0; i < MODULE_COUNT; i++) {
		char path[64];
		snprintf(path, sizeof path, i ? "/usr/lib/libpart%02u.so.1" : "/usr/bin/big", i);
		struct profile_module module = {.path = path,
						.build_id_bytes = 20,
						.flags = i ? 0 : MODULE_MAIN,
						.start_va = 0x7f0000000000ull + i * MODULE_VA_BYTES,
						.first_snap = 1};
		module.end_va = module.start_va + MODULE_VA_BYTES;
		module.bias = module.start_va;
		memset(module.build_id, (int)i + 1, sizeof module.build_id);
		profile_add_module(m->w, &module);
	}
	for (uint32_t i = 0; i < THREAD_COUNT; i++) {
		char name[16];
		snprintf(name, sizeof name, i ? "worker %u" : "main", i);
		struct profile_thread t = {.name = name, .tid = 1000 + i, .first_snap = 1};
		profile_add_thread(m->w, &t);
	}
}

static void add_frames(struct maker *m)
{
	uint32_t per_module = m->frame_count / MODULE_COUNT + 1;
	for (uint32_t i = 0; i < m->frame_count; i++) {
		struct profile_frame f = {.module = i / per_module + 1,
					  .pc = 0x1000 + (uint64_t)(i % per_module) * PC_STEP};
		profile_add_frame(m->w, &f);
	}
}

/* The j-th function that a frame calls: near it, or anywhere. */
static frame_id callee(const struct maker *m, frame_id from, uint32_t j)
{
	uint64_t h = ((uint64_t)from * 0x9e3779b97f4a7c15ull) ^ (j * 0xc2b2ae3d27d4eb4full);
	h ^= h >> 29;
	h *= 0xbf58476d1ce4e5b9ull;
	h ^= h >> 32;
	uint64_t span = j < CALLEES / 2 && m->frame_count > 400 ? 400 : m->frame_count;
	return (frame_id)((from + h % span) % m->frame_count + 1);
}

/* ---- the walk ---------------------------------------------------------------------------- */

static void push(struct maker *m, frame_id frame)
{
	node_id parent = m->depth ? m->stack[m->depth - 1] : PROFILE_NODE_ROOT;
	uint64_t key = (uint64_t)parent << 32 | frame;
	node_id n = map_find(&m->children, key);
	if (n == MAP_ABSENT) {
		n = profile_add_node(m->w, parent, frame, 0);
		m->node_count++;
		if (!n || !map_put(&m->children, key, n))
			die("out of memory");
	}
	m->stack[m->depth] = n;
	m->frames[m->depth++] = frame;
}

static void walk(struct maker *m)
{
	uint32_t up = pick_run(m), down = pick_run(m);
	while (up-- && m->depth > DEPTH_LEAST)
		m->depth--;
	while (m->depth < DEPTH_MOST && (down-- || m->depth < DEPTH_LEAST)) {
		uint32_t j = pick(m, 3) ? pick(m, 3) : pick(m, CALLEES);
		frame_id above = m->depth ? m->frames[m->depth - 1] : 0;
		push(m, m->depth ? callee(m, above, j) : 1);
	}
}

static void allocate(struct maker *m)
{
	static const uint16_t sizes[] = {8,  16, 24, 24,  32,  32,   40,
					 48, 64, 80, 120, 256, 1024, 4096};
	uint64_t size = sizes[pick(m, sizeof sizes / sizeof sizes[0])];
	node_id node = m->stack[m->depth - 1];
	uint64_t key = (uint64_t)node << 32 | size;
	if (map_find(&m->site_of, key) != MAP_ABSENT)
		return;
	struct profile_site s = {.node = node, .size_bytes = size, .api = API_MALLOC};
	if (pick(m, 50) == 0)
		s.size_bytes = PROFILE_SIZE_MIXED;
	s.api = pick(m, 3) ? API_NEW : API_MALLOC;
	site_id id = profile_add_site(m->w, &s);
	if (!id || !map_put(&m->site_of, key, id) ||
	    !vec_reserve((void **)&m->sites, &m->site_cap, m->site_count + 1, sizeof *m->sites))
		die("out of memory");
	m->sites[m->site_count++] = (struct site){.size_bytes = s.size_bytes};
}

/* ---- snapshots ------------------------------------------------------------------------------ */

#define MIXED_MEAN_BYTES 100u

static uint64_t size_of(const struct site *s)
{
	return s->size_bytes == PROFILE_SIZE_MIXED ? MIXED_MEAN_BYTES : s->size_bytes;
}

/* Bytes are told only where blocks have many sizes. */
static struct profile_change change_of(const struct site *s, uint64_t births, uint64_t deaths,
				       uint64_t temporary)
{
	struct profile_change c = {.births = births, .deaths = deaths, .temporary = temporary};
	if (s->size_bytes == PROFILE_SIZE_MIXED) {
		c.born_bytes = births * MIXED_MEAN_BYTES;
		c.died_bytes = deaths * MIXED_MEAN_BYTES;
		c.temporary_bytes = temporary * MIXED_MEAN_BYTES;
	}
	return c;
}

static void kill_some(struct maker *m)
{
	for (size_t i = 0; i < m->old_count; i++) {
		struct site *s = &m->sites[i];
		if (!s->live || pick(m, 4))
			continue;
		uint64_t deaths = pick(m, 2) ? s->live : 1;
		struct profile_change c = change_of(s, 0, deaths, 0);
		profile_change_cohort(m->w, s->cohort, &c);
		m->live_bytes -= (int64_t)(deaths * size_of(s));
		s->live -= deaths;
	}
}

static void bear(struct maker *m, size_t i, snap_id snap)
{
	struct site *s = &m->sites[i];
	uint64_t births = pick(m, 3) ? 1 + pick(m, 4) : 1 + pick(m, 60);
	uint64_t deaths = pick(m, 3) ? births : births - pick(m, (uint32_t)births + 1);
	struct profile_change c = change_of(s, births, deaths, pick(m, 2) ? deaths / 2 : 0);
	thread_id thread = pick(m, 4) ? 1 : 1 + pick(m, THREAD_COUNT);
	cohort_id cohort = profile_add_cohort(m->w, (site_id)(i + 1), thread, snap, 0, &c);
	if (!cohort)
		die("cannot add a cohort");
	if (i >= m->old_count || !s->live) { /* of two cohorts of a site the older is left alone */
		s->cohort = cohort;
		s->live = births - deaths;
	}
	m->live_bytes += (int64_t)((births - deaths) * size_of(s));
}

static void set_peak(struct maker *m, snap_id snap, uint64_t time_ns)
{
	struct profile_peak_entry *entries = mem_array(m->site_count, sizeof *entries);
	struct profile_peak peak = {.time_ns = time_ns, .snap = snap};
	size_t count = 0;
	if (!entries)
		die("out of memory");
	for (size_t i = 0; i < m->site_count; i++) {
		const struct site *s = &m->sites[i];
		if (!s->live)
			continue;
		uint64_t bytes = s->live * size_of(s);
		entries[count++] = (struct profile_peak_entry){s->cohort, s->live, bytes};
		peak.bytes += bytes;
	}
	profile_set_peak(m->w, &peak, entries, count);
	mem_free(entries);
}

static void snapshot(struct maker *m, uint32_t number)
{
	uint64_t time_ns = number * 250000000ull;
	struct profile_snapshot s = {.time_ns = time_ns,
				     .cpu_ns = time_ns / 10 * 9,
				     .rss_bytes = (200ull + number) << 20,
				     .live_bytes = m->live_bytes};
	struct err e = {0};
	snap_id snap = profile_snapshot_begin(m->w, &s);
	kill_some(m);
	for (size_t i = 0; i < m->old_count; i++) {
		if (pick(m, 200) == 0) /* a site of before allocates again */
			bear(m, i, snap);
	}
	for (size_t i = m->old_count; i < m->site_count; i++)
		bear(m, i, snap);
	m->old_count = m->site_count;
	if (profile_snapshot_end(m->w, &e))
		die(e.text);
	if (number == SNAPSHOT_COUNT * 3 / 4)
		set_peak(m, snap, time_ns);
}

static void record(struct maker *m)
{
	for (uint32_t number = 1; number <= SNAPSHOT_COUNT; number++) {
		uint64_t goal = (uint64_t)m->node_goal * number / SNAPSHOT_COUNT;
		while (m->node_count < goal) {
			walk(m);
			allocate(m);
		}
		snapshot(m, number);
	}
	struct profile_end end = {.kind = END_EXITED,
				  .has_status = true,
				  .time_ns = SNAPSHOT_COUNT * 250000000ull,
				  .reason = ""};
	profile_add_end(m->w, &end);
}

/* ---- symbols --------------------------------------------------------------------------------- */

static const char *function_name(struct arena *a, uint32_t i)
{
	static const char *const forms[] = {
		"big::part%u::Parser<char, std::allocator<char> "
		">::parse_%u(std::basic_string_view<char> const&, unsigned int)",
		"std::vector<big::Node%u*, std::allocator<big::Node%u*> "
		">::_M_realloc_insert(big::Node*&&)",
		"big::ir%u::Builder::build_%u(big::ir::Type const*, big::ir::Value*, unsigned int)",
		"parse_item_%u_%u",
		"llvm::FoldingSet<big::Type%u>::FindNodeOrInsertPos_%u(big::ID const&, void*&)",
	};
	char name[256];
	int n;
	if (i == 0)
		return "operator new(unsigned long)";
	n = snprintf(name, sizeof name, forms[i % 5], i % 89, i);
	return arena_strndup(a, name, (size_t)n);
}

static void add_symbols(struct maker *m)
{
	struct arena a = {0};
	size_t line_cap = 2u * m->frame_count;
	struct profile_symbols s = {
		.funcs = arena_array(&a, m->func_count, sizeof *s.funcs),
		.func_count = m->func_count,
		.files = arena_array(&a, m->file_count, sizeof *s.files),
		.file_count = m->file_count,
		.lines = arena_array(&a, line_cap, sizeof *s.lines),
		.first_line = arena_array(&a, m->frame_count + 1u, sizeof *s.first_line),
		.frame_count = m->frame_count,
	};
	if (!s.funcs || !s.files || !s.lines || !s.first_line)
		die("out of memory");
	for (uint32_t i = 0; i < m->func_count; i++)
		s.funcs[i].name = s.funcs[i].linkage = function_name(&a, i);
	for (uint32_t i = 0; i < m->file_count; i++) {
		char path[64];
		int n = snprintf(path, sizeof path, "/src/big/part%u/file%u.cpp", i % 37, i);
		s.files[i] = arena_strndup(&a, path, (size_t)n);
	}
	for (uint32_t f = 0; f < m->frame_count; f++) {
		/* Two frames of three have a name, one of five of these an inlined function too. */
		uint32_t named = f % 3 == 2 ? 0 : f % 15 == 0 ? 2 : 1;
		for (uint32_t k = 0; k < named; k++) {
			uint32_t func = (f + k * 7) % m->func_count;
			s.lines[s.line_count++] = (struct profile_line){
				func + 1, func % m->file_count + 1, f % 997 + 1};
		}
		s.first_line[f + 1] = (uint32_t)s.line_count;
	}
	profile_add_symbols(m->w, &s);
	arena_release(&a);
}

/* ---- main ---------------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	char *end = "";
	unsigned long nodes = argc > 2 ? strtoul(argv[2], &end, 10) : NODES_DEFAULT;
	if (argc < 2 || *end || nodes < SNAPSHOT_COUNT || nodes > NODES_MOST) {
		fprintf(stderr, "usage: bigprofile FILE [NODES]\n");
		return 2;
	}
	struct maker m = {.random = 1, .node_goal = (uint32_t)nodes};
	m.frame_count = m.node_goal / 50 + 100;
	m.func_count = m.frame_count / 3 + 1;
	m.file_count = m.func_count / 20 + 1;
	const char *const args[] = {"/usr/bin/big", "input.big"};
	struct profile_run run = {.tool = "bigprofile",
				  .argv = args,
				  .argv_count = 2,
				  .exe = args[0],
				  .cwd = "/src/big",
				  .host = "bench",
				  .kernel = "Linux",
				  .pid = 1000,
				  .ppid = 1,
				  .cpu_count = 2,
				  .start_unix_ns = 1700000000000000000ull,
				  .interval_ns = 250000000};
	struct err e = {0};
	int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		die("cannot write the file");
	if (profile_writer_new(fd, argv[1], &run, &m.w, &e))
		die(e.text);
	add_modules(&m);
	add_frames(&m);
	record(&m);
	add_symbols(&m);
	if (profile_writer_close(m.w, &e))
		die(e.text);
	map_release(&m.children);
	map_release(&m.site_of);
	mem_free(m.sites);
	return 0;
}
