/* See query_random.h. */
#include "config.h"

#include "tests/unit/query_random.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char *const functions[] = {"a",      "b(int)", "ns::c",   "ns::d(char)",
					"wrap_x", "wrap_y", "ns::k::e"};
#define FUNCTION_COUNT 7u

bool random_is_wrapper(const char *name)
{
	return !strncmp(name, "wrap", 4);
}

const char *random_type(const char *name)
{
	if (!strcmp(name, "wrap_x") || !strcmp(name, "b(int)"))
		return "ns::x";
	return !strcmp(name, "a") ? "char*" : NULL;
}

bool random_type_of(const char *name, struct buf *out)
{
	const char *type = random_type(name);
	if (type)
		buf_puts(out, type);
	return type;
}

/* ---- profiles ------------------------------------------------------------------------------ */

struct living {
	cohort_id cohort;
	bool is_mixed;
	uint64_t blocks, bytes, size_bytes;
};

struct world {
	uint64_t random;
	struct build *b;
	frame_id frames[16];
	node_id nodes[80];
	size_t node_count;
	site_id sites[60];
	bool site_is_mixed[60];
	uint64_t site_size[60];
	size_t site_count;
	thread_id thread_count;
	struct living living[400];
	size_t living_count;
};

static void make_frames(struct world *w)
{
	for (size_t i = 0; i < 16; i++) {
		struct build_line lines[3];
		size_t count = below(&w->random, 8) ? 1 + below(&w->random, 2) : 0; /* 0: no name */
		for (size_t k = 0; k < count; k++)
			lines[k] = (struct build_line){functions[below(&w->random, FUNCTION_COUNT)],
						       below(&w->random, 3) ? "/s/x.c" : "/s/t/y.c",
						       (uint32_t)below(&w->random, 3)};
		for (size_t k = 0; k < count; k++) {
			if (!below(&w->random, 5))
				lines[k].file = "";
		}
		char module[32];
		snprintf(module, sizeof module, "/lib/%d.so", (int)below(&w->random, 3));
		w->frames[i] = build_frame(w->b, build_module(w->b, module), 0, lines, count);
	}
}

static void make_nodes(struct world *w)
{
	w->nodes[0] = PROFILE_NODE_ROOT;
	w->nodes[1] = PROFILE_NODE_SIGNAL;
	w->nodes[2] = PROFILE_NODE_TRUNCATED;
	w->node_count = 3;
	size_t count = 3 + below(&w->random, 70);
	while (w->node_count < count) {
		/* Mostly below recent nodes, so that stacks get deep and functions recur. */
		size_t back = 1 + below(&w->random, below(&w->random, 2) ? 3 : w->node_count);
		node_id parent = w->nodes[back >= w->node_count ? 0 : w->node_count - back];
		frame_id frame = w->frames[below(&w->random, 16)];
		w->nodes[w->node_count++] = build_node(w->b, parent, frame, 0);
	}
}

static void make_sites(struct world *w)
{
	w->site_count = 1 + below(&w->random, 60);
	for (size_t i = 0; i < w->site_count; i++) {
		w->site_is_mixed[i] = !below(&w->random, 4);
		w->site_size[i] = below(&w->random, 300);
		struct profile_site s = {
			.node = w->nodes[below(&w->random, w->node_count)],
			.size_bytes = w->site_is_mixed[i] ? PROFILE_SIZE_MIXED : w->site_size[i],
			.api = (enum profile_api)below(&w->random, 4),
		};
		w->sites[i] = profile_add_site(build_writer(w->b), &s);
	}
}

static void add_births(struct world *w, snap_id snap)
{
	size_t count = below(&w->random, 16);
	for (size_t i = 0; i < count && w->living_count < 400; i++) {
		size_t site = below(&w->random, w->site_count);
		struct living *l = &w->living[w->living_count++];
		l->is_mixed = w->site_is_mixed[site];
		l->size_bytes = w->site_size[site];
		l->blocks = 1 + below(&w->random, 20);
		l->bytes = l->is_mixed ? l->blocks * (1 + below(&w->random, 100))
				       : l->blocks * l->size_bytes;
		struct profile_change change = {.births = l->blocks,
						.temporary = below(&w->random, l->blocks + 1)};
		bool is_inherited = snap == 1 && !below(&w->random, 3);
		if (is_inherited)
			change.temporary = 0;
		if (l->is_mixed) {
			change.born_bytes = l->bytes;
			change.temporary_bytes =
				change.temporary ? below(&w->random, l->bytes + 1) : 0;
		}
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
	struct profile_peak_entry entries[400];
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

void random_profile(const char *path, uint64_t seed)
{
	struct world *w = mem_zalloc(sizeof *w);
	w->random = seed;
	w->b = build_new(path, NULL);
	w->thread_count = 1 + (thread_id)below(&w->random, 4);
	for (thread_id t = 2; t <= w->thread_count; t++)
		build_thread(w->b, t == 4 ? "" : "worker");
	make_frames(w);
	make_nodes(w);
	make_sites(w);
	snap_id snap_count = (snap_id)below(&w->random, 10);
	snap_id peak_snap = (snap_id)below(&w->random, 10);
	for (snap_id snap = 1; snap <= snap_count; snap++) {
		build_snapshot(w->b, snap * 10 * BUILD_MS);
		add_births(w, snap);
		add_deaths(w);
		build_end_snapshot(w->b);
		if (snap == peak_snap)
			set_peak(w, snap);
	}
	build_symbols(w->b, below(&w->random, 8));
	build_close(w->b);
	mem_free(w);
}

/* ---- queries --------------------------------------------------------------------------------- */

static void say(struct random_query *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(struct random_query *m, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = vsnprintf(m->text + m->used, sizeof m->text - m->used, fmt, ap);
	va_end(ap);
	if (n < 0 || m->used + (size_t)n >= sizeof m->text) {
		fprintf(stderr, "query_random: the query is too long\n");
		abort();
	}
	m->used += (size_t)n;
}

#define PICK(m, list) ((list)[below(&(m)->random, sizeof(list) / sizeof *(list))])

static const char *const frame_conditions[] = {
	"func=a",       "func=\"b(int)\"", "func=b",          "func=ns::*",         "func=ns::?",
	"func!=a",      "func~ns",         "func!~w",         "func in (a,ns::c)",  "file=x.c",
	"file=t/y.c",   "file~\"/s/\"",    "file=\"/s/x.c\"", "file!=y.c",          "line=1",
	"line>1",       "line in 1..2",    "line!=2",         "module=0.so",        "module~lib",
	"module=*2.so", "module!=1.so",    "addr>=4160",      "addr in 4096..4200",
};
static const char *const words[] = {"a", "ns", "wrap", "\"b(\"", "k", "so+0x", "signal"};
static const char *const block_conditions[] = {
	"size>100",
	"size in 40..200",
	"size=0",
	"size<=1K",
	"thread=1",
	"thread=worker",
	"thread=\"worker #2\"",
	"thread!=\"worker #3\"",
	"thread in (2,3)",
	"thread!=main",
	"thread~work",
	"tid=4711",
	"api=malloc",
	"api!=calloc",
	"api in (realloc,malloc)",
	"lifetime>20ms",
	"lifetime<=30ms",
	"lifetime=0",
	"born>20ms",
	"born in 10ms..40ms",
	"died<50ms",
	"died>=20ms",
	"depth>3",
	"depth in 1..4",
	"type=ns::x",
	"type=\"char*\"",
	"type!=ns::x",
	"type=x",
	"type in (n*,y)",
	"type~char",
	"type!~x",
	"api~alloc",
};

static void make_frame_expr(struct random_query *m, int depth)
{
	uint64_t kind = below(&m->random, depth > 0 ? 7 : 4);
	if (kind < 3) {
		say(m, "%s", PICK(m, frame_conditions));
	} else if (kind == 3) {
		say(m, "%s", PICK(m, words));
	} else if (kind == 4) {
		say(m, "not ");
		make_frame_expr(m, 0);
	} else {
		say(m, "(");
		make_frame_expr(m, depth - 1);
		say(m, kind == 5 ? " and " : " or ");
		make_frame_expr(m, depth - 1);
		say(m, ")");
	}
}

static void make_step(struct random_query *m, bool in_path)
{
	uint64_t kind = below(&m->random, in_path ? 5 : 3);
	if (kind < 2) {
		say(m, "%s", PICK(m, words));
	} else if (kind == 2) {
		say(m, "[");
		make_frame_expr(m, 1);
		say(m, "]");
	} else {
		say(m, kind == 3 ? "*" : "**");
	}
}

static void make_path(struct random_query *m)
{
	say(m, "path %s", below(&m->random, 3) ? "" : "^");
	size_t steps = 1 + below(&m->random, 4);
	for (size_t i = 0; i < steps; i++) {
		if (i)
			say(m, below(&m->random, 2) ? " > " : " >> ");
		make_step(m, true);
	}
	say(m, below(&m->random, 3) ? " " : "$ ");
}

static void make_expr(struct random_query *m, int depth)
{
	static const char *const quantifiers[] = {"any", "all", "none", "leaf", "root"};
	uint64_t kind = below(&m->random, depth > 0 ? 11 : 7);
	if (kind < 2) {
		say(m, "%s", PICK(m, block_conditions));
	} else if (kind == 2) {
		say(m, "%s", PICK(m, frame_conditions));
	} else if (kind == 3) {
		say(m, "%s.%s", PICK(m, quantifiers), PICK(m, frame_conditions));
	} else if (kind == 4) {
		say(m, "%s[", PICK(m, quantifiers));
		make_frame_expr(m, 2);
		say(m, "]");
	} else if (kind == 5) {
		make_path(m);
	} else if (kind == 6) {
		say(m, "%s", PICK(m, words));
	} else if (kind == 7) {
		say(m, "not ");
		make_expr(m, 0);
	} else {
		say(m, "(");
		make_expr(m, depth - 1);
		say(m, kind < 10 ? " and " : " or ");
		make_expr(m, depth - 1);
		say(m, ")");
	}
}

static void make_source(struct random_query *m, bool is_diff)
{
	static const char *const live[] = {"live", "live at start", "live at 25ms", "live at 60%",
					   "live at end-10ms"};
	static const char *const others[] = {"allocated", "freed", "temporary", "survivors",
					     "growth"};
	static const char *const windows[] = {"10ms..40ms", "..30ms", "20ms..", "30%..80%",
					      "0ms..100%"};
	uint64_t kind = below(&m->random, 5);
	if (kind == 0)
		say(m, "%s", PICK(m, live));
	else if (kind == 1)
		say(m, below(&m->random, 2) ? "peak" : "leaked");
	else
		say(m, "%s in %s", others[below(&m->random, is_diff ? 4 : 5)], PICK(m, windows));
}

static void make_transforms(struct random_query *m)
{
	static const char *const kinds[] = {"hide", "zoom", "trim", "collapse"};
	for (uint64_t i = below(&m->random, 4); i > 1; i--) {
		if (!below(&m->random, 4)) {
			say(m, " | collapse recursion");
			continue;
		}
		say(m, " | %s ", PICK(m, kinds));
		make_step(m, false);
	}
}

/* What comes after the filters; the keys of the reference follow from `by`. */
static void make_shape(struct random_query *m)
{
	static const char *const frame_keys[] = {"func",      "file", "module",     "class",
						 "file,line", "line", "func,module"};
	static const char *const block_keys[] = {
		"size",       "size:64",   "thread",        "tid",
		"api",        "lifetime",  "lifetime:20ms", "born",
		"died",       "depth",     "time:20ms",     "func,thread",
		"thread,api", "stack",     "stack,thread",  "module,size:100",
		"type",       "class,api", "type,func",     "thread,type",
	};
	static const char *const trees[] = {"tree", "callers", "callees", "flame",
					    "flame inverted"};
	uint64_t kind = below(&m->random, 6);
	if (kind < 2) {
		say(m, " | by %s", PICK(m, frame_keys));
	} else if (kind < 4) {
		say(m, " | by %s", PICK(m, block_keys));
	} else if (kind == 4) {
		if (below(&m->random, 3) == 0)
			say(m, " | by %s", PICK(m, frame_keys));
		say(m, " | %s", PICK(m, trees));
	} else {
		say(m, " | %s ", below(&m->random, 2) ? "callers" : "callees");
		make_step(m, false);
	}
}

void random_query(struct random_query *m, bool is_diff)
{
	m->used = 0;
	if (is_diff) {
		say(m, "diff ");
		make_source(m, is_diff);
		say(m, ", ");
	}
	make_source(m, is_diff);
	if (below(&m->random, 4)) {
		say(m, " ");
		make_expr(m, 2);
	}
	make_transforms(m);
	make_shape(m);
	if (!below(&m->random, 3))
		say(m, " | percent all");
	say(m, " | select " RANDOM_COLUMNS);
}
