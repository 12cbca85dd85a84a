/*
 * One stack of 300,000 frames, each of which holds as much as the others: written out, its stacks
 * would have 45,000,000,000 frames together.  What takes time or room for each of these never ends.
 */
#include "config.h"

#include "src/report/out.h"

#include "query/query.h"
#include "tests/unit/build_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAMES       300000u
#define FUNCTIONS    100u
#define BLOCK_BYTES  16u
#define TEXT_FOR_ONE 300u /* bytes of any format for each frame, generously */

static struct query_session *session;

static void write_profile(const char *path)
{
	struct build *b = build_new(path, NULL);
	struct profile_writer *w = build_writer(b);
	const struct profile_change born = {.births = 1};
	frame_id frames[FUNCTIONS];
	node_id node = PROFILE_NODE_ROOT;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		char name[16];
		snprintf(name, sizeof name, "f%02u", i);
		const struct build_line line = {name, "/src/f.c", i + 1};
		frames[i] = build_frame(b, build_module(b, "/bin/deep"), 0, &line, 1);
	}
	snap_id snap = build_snapshot(b, BUILD_MS);
	for (uint32_t i = 0; i < FRAMES; i++) {
		node = profile_add_node(w, node, frames[i % FUNCTIONS], 0);
		const struct profile_site site = {
			.node = node, .size_bytes = BLOCK_BYTES, .api = API_MALLOC};
		cr_assert(profile_add_cohort(w, profile_add_site(w, &site), 1, snap, 0, &born));
	}
	build_end_snapshot(b);
	build_close(b);
}

static void setup(void)
{
	const char *dir = getenv("TMPDIR");
	const struct query_options options = {.cursor_ns = UINT64_MAX};
	struct err e = {0};
	char path[256];
	snprintf(path, sizeof path, "%s/neap-deep-%d.neap", dir ? dir : "/tmp", (int)getpid());
	write_profile(path);
	cr_assert_eq(query_session_new(&options, &session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(session, path, &e), NEAP_OK, "%s", e.text);
	unlink(path);
}

static void teardown(void)
{
	query_session_free(session);
}

TestSuite(deep, .init = setup, .fini = teardown, .timeout = 120);

/* What is written, or the words of the failure. */
static enum neap_err answer(const char *text, struct buf *out)
{
	struct query_error error;
	struct query_result *r = NULL;
	struct ast_script *script;
	const struct out_options options = {.width_cols = 100, .is_utf8 = true};
	struct err e = {0};
	cr_assert_eq(query_parse(text, strlen(text), &script, &error), NEAP_OK, "%s", error.text);
	enum neap_err code = query_run(session, script, 0, &r, &error);
	if (code) {
		buf_puts(out, error.text);
	} else {
		code = out_write(r, &options, out, &e);
		if (code) {
			buf_clear(out);
			buf_puts(out, e.text);
		}
	}
	query_result_free(r);
	query_script_free(script);
	return code;
}

static void expect_text(const struct buf *out, const char *text)
{
	cr_assert(memmem(out->data, out->count_bytes, text, strlen(text)), "no '%s'", text);
}

Test(deep, stacks_that_begin_alike_are_compared)
{
	struct buf out = {0};
	cr_assert_eq(answer("live | by stack | top 2", &out), NEAP_OK, "%s", out.data);
	expect_text(&out, "f00\n");
	expect_text(&out, "f01 \xe2\x86\x90 f00\n");
	expect_text(&out, "(other: 299,998 rows)");
	buf_release(&out);
}

Test(deep, trees_are_written_with_each_frame_once)
{
	static const char *const queries[] = {
		"live | tree",           "live | tree | as json",
		"live | tree | as tsv",  "live | by stack | tree",
		"live | flame | as svg", "live | flame | as html",
		"live | as callgrind",   "live | as dot",
		"live | as speedscope",
	};
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		struct buf out = {0};
		cr_assert_eq(answer(queries[i], &out), NEAP_OK, "%s: %s", queries[i], out.data);
		cr_assert_leq(out.count_bytes, FRAMES * TEXT_FOR_ONE, "%s: %zu", queries[i],
			      out.count_bytes);
		buf_release(&out);
	}
}

Test(deep, speedscope_has_all_that_its_stacks_hold)
{
	struct buf out = {0};
	cr_assert_eq(answer("live | select total | as speedscope", &out), NEAP_OK);
	expect_text(&out, "{\"type\":\"evented\",\"name\":\"total\",\"unit\":\"bytes\","
			  "\"startValue\":0,\"endValue\":4800000,");
	expect_text(&out, "{\"type\":\"O\",\"frame\":0,\"at\":0},\n"
			  "{\"type\":\"O\",\"frame\":1,\"at\":16},\n");
	expect_text(&out, "{\"type\":\"C\",\"frame\":0,\"at\":4800000}]}");
	buf_release(&out);
}

/* Such files have each stack whole. */
Test(deep, lists_of_stacks_are_refused_in_words)
{
	static const char *const queries[] = {
		"live | as folded",          "live | stacks",
		"live | by stack | as json", "live | by stack,api | as csv",
		"live | as pprof",
	};
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		struct buf out = {0};
		cr_assert_eq(answer(queries[i], &out), ERR_LIMIT, "%s", queries[i]);
		expect_text(&out, "have 45000150000 frames together");
		buf_release(&out);
	}
}

Test(deep, what_makes_stacks_fewer_makes_lists_of_them)
{
	static const char *const queries[] = {
		"live | collapse recursion | as folded",
		"live | collapse recursion | as pprof",
		"live | stacks | top 5",
		"live | stacks | top 5 | as folded",
	};
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		struct buf out = {0};
		cr_assert_eq(answer(queries[i], &out), NEAP_OK, "%s: %s", queries[i], out.data);
		cr_assert_gt(out.count_bytes, 0);
		buf_release(&out);
	}
}
