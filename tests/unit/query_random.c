/* See query_random.h. */
#include "config.h"

#include "tests/unit/query_random.h"

#include "tests/unit/random_world.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void random_profile(const char *path, uint64_t seed)
{
	static const struct random_size size = {
		.frames = 16, .nodes = 73, .sites = 60, .births = 16, .snapshots = 10};
	build_close(random_world(path, seed, &size));
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

#define PICK(m, list) ((list)[random_below(&(m)->random, sizeof(list) / sizeof *(list))])

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
	uint64_t kind = random_below(&m->random, depth > 0 ? 7 : 4);
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
	uint64_t kind = random_below(&m->random, in_path ? 5 : 3);
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
	say(m, "path %s", random_below(&m->random, 3) ? "" : "^");
	size_t steps = 1 + random_below(&m->random, 4);
	for (size_t i = 0; i < steps; i++) {
		if (i)
			say(m, random_below(&m->random, 2) ? " > " : " >> ");
		make_step(m, true);
	}
	say(m, random_below(&m->random, 3) ? " " : "$ ");
}

static void make_expr(struct random_query *m, int depth)
{
	static const char *const quantifiers[] = {"any",  "all",    "none",   "leaf",
						  "root", "caller", "caller2"};
	uint64_t kind = random_below(&m->random, depth > 0 ? 11 : 7);
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
	uint64_t kind = random_below(&m->random, 5);
	if (kind == 0)
		say(m, "%s", PICK(m, live));
	else if (kind == 1)
		say(m, random_below(&m->random, 2) ? "peak" : "leaked");
	else
		say(m, "%s in %s", others[random_below(&m->random, is_diff ? 4 : 5)],
		    PICK(m, windows));
}

static void make_transforms(struct random_query *m)
{
	static const char *const kinds[] = {"hide", "zoom", "trim", "collapse"};
	for (uint64_t i = random_below(&m->random, 4); i > 1; i--) {
		if (!random_below(&m->random, 4)) {
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
		"size",
		"size:64",
		"thread",
		"tid",
		"api",
		"lifetime",
		"lifetime:20ms",
		"born",
		"died",
		"depth",
		"time:20ms",
		"func,thread",
		"thread,api",
		"stack",
		"stack,thread",
		"module,size:100",
		"type",
		"class,api",
		"type,func",
		"thread,type",
		"leaf.func",
		"caller.func",
		"func,caller.func",
		"root.module,caller2.line",
		"caller.file,caller.line",
		"leaf.class,size:64",
	};
	static const char *const trees[] = {"tree", "callers", "callees", "flame",
					    "flame inverted"};
	uint64_t kind = random_below(&m->random, 6);
	if (kind < 2) {
		say(m, " | by %s", PICK(m, frame_keys));
	} else if (kind < 4) {
		say(m, " | by %s", PICK(m, block_keys));
	} else if (kind == 4) {
		if (random_below(&m->random, 3) == 0)
			say(m, " | by %s", PICK(m, frame_keys));
		say(m, " | %s", PICK(m, trees));
	} else {
		say(m, " | %s ", random_below(&m->random, 2) ? "callers" : "callees");
		make_step(m, false);
	}
}

static void make_filter(struct random_query *m)
{
	if (random_below(&m->random, 4)) {
		say(m, " ");
		make_expr(m, 2);
	}
	make_transforms(m);
}

void random_filter(struct random_query *m)
{
	m->used = 0;
	m->text[0] = '\0';
	make_filter(m);
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
	make_filter(m);
	m->shape_at = m->used;
	make_shape(m);
	if (!random_below(&m->random, 3))
		say(m, " | percent all");
	m->select_at = m->used;
	say(m, " | select " RANDOM_COLUMNS);
}
