/* Leak suspects: a leak among memory that is kept, replaced, or begun late. */
#include "config.h"

#include "src/report/suspects.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SNAPSHOTS 100

struct fixture {
	struct query_session *session;
	const struct graph *g;
	struct path_finder finder;
	struct suspects s;
};

static void name_file(char *path, size_t cap)
{
	const char *dir = getenv("TMPDIR");
	snprintf(path, cap, "%s/neap-suspects-%d.neap", dir ? dir : "/tmp", (int)getpid());
}

static struct build *build_file(void)
{
	char path[256];
	name_file(path, sizeof path);
	return build_new(path, NULL);
}

static node_id function(struct build *b, node_id main_node, const char *name)
{
	return build_call(b, main_node, name, "/home/user/demo/src/f.c", 1);
}

/* Blocks of `tables` stay from the start; `leak` adds some all the time; `ring` replaces each
 * block soon; `level` replaces blocks of its start one by one; `late` begins near the end. */
static void fill(struct build *b, unsigned snapshots)
{
	node_id main_node =
		build_call(b, PROFILE_NODE_ROOT, "main", "/home/user/demo/src/main.c", 7);
	node_id tables = function(b, main_node, "tables"), leak = function(b, main_node, "leak");
	node_id ring = function(b, main_node, "ring"), level = function(b, main_node, "level");
	node_id late = function(b, main_node, "late");
	cohort_id ring_old = 0, level_start = 0;
	for (unsigned i = 1; i <= snapshots; i++) {
		build_snapshot(b, i * 10 * BUILD_MS);
		if (i == 1) {
			build_alloc(b, tables, 64, 1, 1000);
			level_start = build_alloc(b, level, 48, 1, 10 * snapshots);
		}
		build_alloc(b, leak, 100, 1, 3);
		build_alloc(b, level, 48, 1, 10);
		build_free(b, level_start, 10, 0);
		if (ring_old)
			build_free(b, ring_old, 20, 0);
		ring_old = build_alloc(b, ring, 512, 1, 20);
		if (i > snapshots * 9 / 10)
			build_alloc(b, late, 4096, 1, 4);
		build_end_snapshot(b);
	}
}

static struct fixture opened(struct build *b)
{
	const struct query_options options = {.cursor_ns = UINT64_MAX};
	struct fixture f = {.session = NULL};
	struct err e = {0};
	char path[256];
	name_file(path, sizeof path);
	build_close(b);
	cr_assert_eq(query_session_new(&options, &f.session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(f.session, path, &e), NEAP_OK, "%s", e.text);
	unlink(path);
	f.g = query_session_graph(f.session);
	cr_assert_eq(path_finder_init(&f.finder, f.g, &e), NEAP_OK);
	return f;
}

static struct fixture judged(struct build *b)
{
	struct fixture f = opened(b);
	struct err e = {0};
	cr_assert_eq(suspects_find(f.session, &f.finder, 10, &f.s, &e), NEAP_OK, "%s", e.text);
	return f;
}

static void fixture_release(struct fixture *f)
{
	suspects_release(&f->s);
	path_finder_release(&f->finder);
	query_session_free(f->session);
}

static const struct suspect *find(const struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->s.count; i++) {
		struct graph_frame frame = graph_entry(f->g, f->s.items[i].row.entry);
		if (!strcmp(frame.name, name))
			return &f->s.items[i];
	}
	cr_assert_fail("no place is called %s", name);
	return NULL;
}

Test(report_suspects, a_leak_is_told_from_what_is_kept_or_replaced)
{
	struct build *b = build_file();
	fill(b, SNAPSHOTS);
	struct fixture f = judged(b);
	cr_assert_eq(f.s.count, 5);
	cr_assert_eq(f.s.suspect_count, 1);
	cr_assert_eq(find(&f, "leak")->holding, HOLDING_GROWING);
	cr_assert_eq(find(&f, "tables")->holding, HOLDING_FROM_EARLY);
	cr_assert_eq(find(&f, "ring")->holding, HOLDING_RECENT);
	cr_assert_eq(find(&f, "late")->holding, HOLDING_RECENT);
	cr_assert_eq(find(&f, "level")->holding, HOLDING_LEVEL);
	fixture_release(&f);
}

Test(report_suspects, the_evidence_is_exact)
{
	struct build *b = build_file();
	fill(b, SNAPSHOTS);
	struct fixture f = judged(b);
	const struct suspect *leak = find(&f, "leak");
	cr_assert_eq(leak, &f.s.items[0]);
	cr_assert_eq(leak->row.sum.blocks, 3 * SNAPSHOTS);
	cr_assert_eq(leak->row.sum.bytes, 300 * SNAPSHOTS);
	cr_assert_eq(leak->part_count, SUSPECT_PARTS);
	cr_assert_eq(leak->later_bytes, 300 * SNAPSHOTS / 2);
	cr_assert_float_eq(leak->mean_birth, 0.5, 0.001);
	fixture_release(&f);
}

Test(report_suspects, kinds_add_up_to_what_is_live)
{
	struct build *b = build_file();
	fill(b, SNAPSHOTS);
	struct fixture f = judged(b);
	int64_t bytes = 0, blocks = 0;
	size_t count = 0;
	for (size_t kind = 0; kind < HOLDING_COUNT; kind++) {
		bytes += f.s.kind_sum[kind].bytes;
		blocks += f.s.kind_sum[kind].blocks;
		count += f.s.kind_count[kind];
	}
	cr_assert_eq(bytes, f.s.total.bytes);
	cr_assert_eq(blocks, f.s.total.blocks);
	cr_assert_eq(count, f.s.count);
	fixture_release(&f);
}

/* What is forgotten in a container is freed when the container goes: at exit. */
Test(report_suspects, cleaning_up_at_exit_hides_nothing)
{
	struct build *b = build_file();
	node_id leak = build_call(b, PROFILE_NODE_ROOT, "leak", "/home/user/demo/src/f.c", 1);
	cohort_id born[SNAPSHOTS];
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		build_snapshot(b, (i + 1) * 10 * BUILD_MS);
		born[i] = build_alloc(b, leak, 100, 1, 3);
		build_end_snapshot(b);
	}
	build_snapshot(b, (SNAPSHOTS + 1) * 10 * BUILD_MS);
	for (unsigned i = 0; i < SNAPSHOTS; i++)
		build_free(b, born[i], 3, 0);
	build_end_snapshot(b);
	struct fixture f = judged(b);
	cr_assert_eq(f.s.snap, SNAPSHOTS);
	cr_assert_eq(f.s.suspect_count, 1);
	cr_assert_eq(f.s.items[0].row.sum.bytes, 300 * SNAPSHOTS);
	fixture_release(&f);
}

Test(report_suspects, a_short_run_is_refused)
{
	struct build *b = build_file();
	fill(b, SUSPECT_SNAPSHOTS_LEAST - 1);
	struct fixture f = opened(b);
	struct err e = {0};
	struct buf out = {0};
	const struct report_options options = {.width_cols = 100, .top_count = 10};
	cr_assert_eq(suspects_write(f.session, &options, &out, &e), ERR_UNSUPPORTED);
	cr_assert_not_null(strstr(e.text, "19 snapshots are too few"), "%s", e.text);
	buf_release(&out);
	fixture_release(&f);
}

Test(report_suspects, the_report_says_why)
{
	struct build *b = build_file();
	fill(b, SNAPSHOTS);
	struct fixture f = judged(b);
	struct err e = {0};
	struct buf out = {0};
	const struct report_options options = {.width_cols = 160, .top_count = 10};
	cr_assert_eq(suspects_write(f.session, &options, &out, &e), NEAP_OK);
	static const char *const wanted[] = {
		"LEAK SUSPECTS: what kept growing until 1.00 s\n"
		"  query: live at 1000ms | by func,line,born\n"
		"  query: growth in 500ms..1000ms | by func,line,api\n"
		"  1 of 5 places that hold memory\n",
		"Blocks from 10 of 10 parts of the run are still there, allocated at 50.0 % of it "
		"on average.",
		"14.6 KiB came in its second",
		"half, about 29.3 KiB a second.",
		"query: live at 1000ms leaf.func=leak | callers\n",
		"(kept since early in the run: 1 place)",
		"(allocated late: replaced all the time, or begun late: 2 places)",
		"(replaced, and no more than at half time: 1 place)",
	};
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		cr_assert_not_null(strstr(out.data, wanted[i]), "no '%s' in:\n%s", wanted[i],
				   out.data);
	buf_release(&out);
	fixture_release(&f);
}

Test(report_suspects, running_out_of_memory_is_an_error)
{
	struct build *b = build_file();
	fill(b, SNAPSHOTS);
	struct fixture f = judged(b);
	const struct report_options options = {.width_cols = 100, .top_count = 10};
	enum neap_err code;
	uint64_t n = 0;
	do {
		struct err e = {0};
		struct buf out = {0};
		mem_fail_at(++n);
		code = suspects_write(f.session, &options, &out, &e);
		mem_fail_at(0);
		buf_release(&out);
		cr_assert(!code || code == ERR_NOMEM);
	} while (code);
	cr_assert_gt(n, 5);
	fixture_release(&f);
}
