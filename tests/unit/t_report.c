#include "config.h"

#include "src/report/report.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/report/rows.h"
#include "src/sym/sym.h"
#include "tests/golden/profiles.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct fixture {
	struct profile *p;
	struct graph *g;
};

static struct fixture open_golden(const char *name)
{
	struct fixture f = {0};
	for (size_t i = 0; i < golden_profile_count; i++) {
		if (!strcmp(golden_profiles[i].name, name))
			f.p = build_read(golden_profiles[i].make(NULL));
	}
	cr_assert_not_null(f.p, "no profile is called %s", name);
	/* The name of the temporary file is another one each time. */
	snprintf(f.p->path, strlen(f.p->path) + 1, "t.neap");
	const struct graph_options options = {.is_wrapper = sym_is_wrapper};
	struct err e = {0};
	cr_assert_eq(graph_build(f.p, &options, &f.g, &e), NEAP_OK, "%s", e.text);
	return f;
}

static void fixture_release(struct fixture *f)
{
	graph_free(f->g);
	profile_free(f->p);
}

static struct buf report_of(const struct fixture *f, const struct report_options *options)
{
	struct buf out = {0};
	struct err e = {0};
	cr_assert_eq(report_write(f->g, options, &out, &e), NEAP_OK, "%s", e.text);
	return out;
}

static void assert_shows(const struct buf *out, const char *text)
{
	cr_assert_not_null(strstr(out->data, text), "no '%s' in:\n%s", text, out->data);
}

/* ---- rows ----------------------------------------------------------------------------- */

Test(report, rows_add_up_to_the_population_and_are_in_order)
{
	for (size_t i = 0; i < golden_profile_count; i++) {
		struct fixture f = open_golden(golden_profiles[i].name);
		struct row_maker maker;
		struct err e = {0};
		cr_assert_eq(row_maker_init(&maker, f.g, &e), NEAP_OK);
		for (int pop = 0; pop < POP_COUNT; pop++) {
			struct rows rows, functions;
			cr_assert_eq(
				rows_build(&maker, (enum graph_pop)pop, ROW_BYTES, 3, &rows, &e),
				NEAP_OK);
			cr_assert_eq(rows_by_function(f.g, &rows, ROW_BYTES, &functions, &e),
				     NEAP_OK);
			int64_t bytes = 0, blocks = 0, function_bytes = 0;
			for (size_t r = 0; r < rows.count; r++) {
				bytes += rows.rows[r].sum.bytes;
				blocks += rows.rows[r].sum.blocks;
				cr_assert(!r ||
					  rows.rows[r].sum.bytes <= rows.rows[r - 1].sum.bytes);
			}
			for (size_t r = 0; r < functions.count; r++)
				function_bytes += functions.rows[r].sum.bytes;
			cr_assert_eq(bytes, rows.total.bytes);
			cr_assert_eq(blocks, rows.total.blocks);
			cr_assert_eq(function_bytes, rows.total.bytes);
			cr_assert_leq(functions.count, rows.count);
			rows_release(&rows);
			rows_release(&functions);
		}
		row_maker_release(&maker);
		fixture_release(&f);
	}
}

Test(report, counts_call_paths_and_shows_the_heaviest_callers)
{
	struct build *b = build_new(NULL, NULL);
	node_id top = build_call(b, PROFILE_NODE_ROOT, "main", "/s/m.c", 1);
	build_snapshot(b, BUILD_MS);
	for (unsigned i = 0; i < 5; i++) {
		char caller[16];
		snprintf(caller, sizeof caller, "caller%u", i);
		node_id below =
			build_call(b, build_call(b, top, caller, "/s/c.c", i), "leaf", "/s/l.c", 9);
		build_alloc(b, below, 10, 1, i == 3 ? 6 : 1);
	}
	build_end_snapshot(b);
	struct fixture f = {.p = build_read(b)};
	struct err e = {0};
	cr_assert_eq(graph_build(f.p, NULL, &f.g, &e), NEAP_OK);
	const struct report_options options = {.width_cols = 80, .top_count = 10};
	struct buf out = report_of(&f, &options);
	assert_shows(&out, "leaf  s/l.c:9");
	assert_shows(&out, "< caller3  s/c.c:3  60.0 %");
	assert_shows(&out, "5 call paths");
	cr_assert_null(strstr(out.data, "caller0"));
	buf_release(&out);
	fixture_release(&f);
}

/*
 * One path of 5 blocks through lone; nine of 2 through busy, from different callers: what
 * helps is to see busy, though no path through it is the heaviest.
 */
Test(report, prefers_the_caller_that_most_comes_through_to_the_heaviest_path)
{
	struct build *b = build_new(NULL, NULL);
	node_id top = build_call(b, PROFILE_NODE_ROOT, "main", "/s/m.c", 1);
	build_snapshot(b, BUILD_MS);
	node_id lone = build_call(b, build_call(b, top, "lone", "/s/c.c", 1), "leaf", "/s/l.c", 9);
	build_alloc(b, lone, 10, 1, 5);
	for (unsigned i = 0; i < 9; i++) {
		char caller[16];
		snprintf(caller, sizeof caller, "caller%u", i);
		node_id busy =
			build_call(b, build_call(b, top, caller, "/s/c.c", 7), "busy", "/s/b.c", i);
		build_alloc(b, build_call(b, busy, "leaf", "/s/l.c", 9), 10, 1, 2);
	}
	build_end_snapshot(b);
	struct fixture f = {.p = build_read(b)};
	struct err e = {0};
	cr_assert_eq(graph_build(f.p, NULL, &f.g, &e), NEAP_OK);
	struct row_maker maker;
	struct rows rows;
	cr_assert_eq(row_maker_init(&maker, f.g, &e), NEAP_OK);
	cr_assert_eq(rows_build(&maker, POP_LEAKED, ROW_BLOCKS, 1, &rows, &e), NEAP_OK);
	cr_assert_eq(rows.count, 1);
	cr_assert_eq(rows.rows[0].path_count, 10);
	cr_assert_eq(rows.rows[0].through[0].blocks, 18);
	cr_assert_eq(rows.rows[0].through[1].blocks, 2);
	cr_assert_eq(rows.rows[0].through[2].blocks, 2);
	cr_assert_neq(rows.rows[0].path, lone);
	cr_assert_eq(rows.rows[0].inner, rows.rows[0].path);
	rows_release(&rows);
	row_maker_release(&maker);
	fixture_release(&f);
}

/* ---- the page --------------------------------------------------------------------------- */

Test(report, says_on_the_first_screen_what_the_peak_is_when_and_who_holds_it)
{
	struct fixture f = open_golden("json");
	const struct report_options options = {.width_cols = 80, .top_count = 10};
	struct buf out = report_of(&f, &options);
	char *end = out.data;
	for (int line = 0; line < 24; line++)
		end = strchr(end, '\n') + 1;
	*end = '\0';
	assert_shows(&out, "2.98 s");
	assert_shows(&out, "held by");
	assert_shows(&out, "_M_insert_unique_node");
	assert_shows(&out, "intern_key");
	assert_shows(&out, "v");
	buf_release(&out);
	fixture_release(&f);
}

static void assert_page_is_safe(const struct buf *out, const struct report_options *o)
{
	const char *line = out->data;
	while (*line) {
		size_t bytes = strcspn(line, "\n");
		for (size_t i = 0; i < bytes; i++)
			cr_assert((unsigned char)line[i] >= ' ' && line[i] != 0x7f &&
					  (o->is_utf8 || !(line[i] & 0x80)),
				  "byte 0x%02x in: %.*s", (unsigned char)line[i], (int)bytes, line);
		if (!o->has_full_stacks)
			cr_assert_leq(fmt_width(line, bytes), o->width_cols, "width %zu: %.*s",
				      o->width_cols, (int)bytes, line);
		cr_assert(!bytes || line[bytes - 1] != ' ', "spaces at the end: %.*s", (int)bytes,
			  line);
		line += bytes + 1;
	}
}

Test(report, keeps_to_the_width_and_to_harmless_characters)
{
	for (size_t i = 0; i < golden_profile_count; i++) {
		struct fixture f = open_golden(golden_profiles[i].name);
		for (size_t width = REPORT_WIDTH_MIN_COLS; width < 210; width += 7) {
			struct report_options options = {.width_cols = width,
							 .top_count = 1 + width % 30,
							 .is_utf8 = width % 2,
							 .has_full_stacks = width % 5 == 0};
			struct buf out = report_of(&f, &options);
			assert_page_is_safe(&out, &options);
			buf_release(&out);
		}
		fixture_release(&f);
	}
}

Test(report, uses_colours_only_if_asked_and_closes_them_on_every_line)
{
	struct fixture f = open_golden("json");
	struct report_options options = {.width_cols = 100, .top_count = 5, .has_colour = true};
	struct buf out = report_of(&f, &options);
	cr_assert_not_null(strchr(out.data, '\033'));
	char *rest = out.data, *line;
	while ((line = strsep(&rest, "\n"))) {
		int open = 0;
		for (char *at = line; (at = strchr(at, '\033')); at++)
			open = strncmp(at, "\033[0m", 4) != 0;
		cr_assert_not(open, "%s", line);
	}
	buf_release(&out);
	fixture_release(&f);
}

Test(report, says_that_nothing_leaked_in_one_line)
{
	struct fixture f = open_golden("empty");
	const struct report_options options = {.width_cols = 80, .top_count = 10};
	struct buf out = report_of(&f, &options);
	assert_shows(&out, "\n  nothing leaked\n");
	assert_shows(&out, "\n  nothing was allocated\n");
	cr_assert_null(strstr(out.data, "share"));
	buf_release(&out);
	fixture_release(&f);
}

Test(report, warns_above_the_tables_in_words)
{
	struct fixture f = open_golden("hostile");
	const struct report_options options = {.width_cols = 200, .top_count = 10};
	struct buf out = report_of(&f, &options);
	assert_shows(&out, "! 12,345 ");
	assert_shows(&out, profile_drop_meaning(DROP_NODES));
	assert_shows(&out, "! The recording stopped early: no space left?[2J on device");
	const char *warning = strstr(out.data, "! 12,345"), *peak = strstr(out.data, "  peak ");
	cr_assert_lt(warning, peak);
	buf_release(&out);
	fixture_release(&f);
}

Test(report, is_the_same_every_time)
{
	struct fixture one = open_golden("json"), two = open_golden("json");
	const struct report_options options = {.width_cols = 100, .top_count = 10};
	struct buf a = report_of(&one, &options), b = report_of(&two, &options);
	cr_assert_str_eq(a.data, b.data);
	buf_release(&a);
	buf_release(&b);
	fixture_release(&one);
	fixture_release(&two);
}

Test(report, reports_running_out_of_memory_at_any_allocation)
{
	struct fixture f = open_golden("json");
	for (int full = 0; full < 2; full++) {
		const struct report_options options = {
			.width_cols = 80, .top_count = 3, .has_full_stacks = full};
		uint64_t n = 1;
		for (;; n++) {
			struct buf out = {0};
			struct err e = {0};
			mem_fail_at(n);
			enum neap_err code = report_write(f.g, &options, &out, &e);
			mem_fail_at(0);
			buf_release(&out);
			if (code == NEAP_OK)
				break;
			cr_assert_eq(code, ERR_NOMEM, "allocation %ju", (uintmax_t)n);
			cr_assert_lt(n, 100000);
		}
		cr_assert_gt(n, 20);
	}
	fixture_release(&f);
}
