#include "config.h"

#include "src/report/report.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "src/report/section.h"
#include "tests/golden/profiles.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A session over a profile of its own. */
static struct query_session *session_of(struct build *(*make)(const char *path))
{
	const struct query_options options = {.cursor_ns = UINT64_MAX};
	const char *dir = getenv("TMPDIR");
	char path[256];
	struct query_session *s = NULL;
	struct err e = {0};
	snprintf(path, sizeof path, "%s/neap-report-%d.neap", dir ? dir : "/tmp", (int)getpid());
	build_close(make(path));
	cr_assert_eq(query_session_new(&options, &s, &e), NEAP_OK);
	cr_assert_eq(query_session_open(s, path, &e), NEAP_OK, "%s", e.text);
	unlink(path);
	return s;
}

static struct query_session *open_golden(const char *name)
{
	for (size_t i = 0; i < golden_profile_count; i++) {
		if (!strcmp(golden_profiles[i].name, name))
			return session_of(golden_profiles[i].make);
	}
	cr_assert_fail("no profile is called %s", name);
	return NULL;
}

static struct buf report_of(struct query_session *s, const struct report_options *options)
{
	struct buf out = {0};
	struct err e = {0};
	cr_assert_eq(report_write(s, options, &out, &e), NEAP_OK, "%s", e.text);
	return out;
}

static void assert_shows(const struct buf *out, const char *text)
{
	cr_assert_not_null(strstr(out->data, text), "no '%s' in:\n%s", text, out->data);
}

/* ---- rows ----------------------------------------------------------------------------- */

/* `top` cuts rows at any place: what is left out is in the totals. */
Test(report, rows_add_up_to_the_population_and_are_in_order)
{
	for (size_t i = 0; i < golden_profile_count; i++) {
		struct query_session *s = session_of(golden_profiles[i].make);
		const struct graph *g = query_session_graph(s);
		size_t cohort_count = graph_profile(g)->cohort_count;
		struct graph_sum *cohorts = mem_array(cohort_count, sizeof *cohorts);
		for (size_t k = 0; k < SECTION_COUNT; k++) {
			const struct section *section = &report_sections[k];
			struct section_table t;
			struct err e = {0};
			cr_assert_eq(sections_ask(s, section, 1, 1 + i, &t, &e), NEAP_OK, "%s",
				     e.text);
			graph_pop_cohorts(g, section->pop, graph_whole_run(g), cohorts);
			struct graph_sum all = graph_add_up(cohorts, cohort_count);
			struct graph_sum sum = t.rows.other;
			for (size_t r = 0; r < t.rows.count; r++) {
				const struct row *row = &t.rows.rows[r];
				sum.bytes += row->sum.bytes;
				sum.blocks += row->sum.blocks;
				cr_assert(!r || row_value(row->sum, section->key) <=
							row_value(row[-1].sum, section->key));
			}
			cr_assert_leq(t.rows.count, 1 + i);
			cr_assert_eq(sum.bytes, all.bytes);
			cr_assert_eq(sum.blocks, all.blocks);
			cr_assert_eq(t.rows.total.bytes, all.bytes);
			cr_assert_eq(t.rows.total.blocks, all.blocks);
			section_release(&t);
		}
		mem_free(cohorts);
		query_session_free(s);
	}
}

static void assert_same_rows(const struct rows *a, const struct rows *b)
{
	cr_assert_eq(a->count, b->count);
	cr_assert_eq(a->other_count, b->other_count);
	cr_assert(!memcmp(&a->other, &b->other, sizeof a->other));
	cr_assert(!memcmp(&a->total, &b->total, sizeof a->total));
	for (size_t i = 0; i < a->count; i++) {
		cr_assert_eq(a->rows[i].entry, b->rows[i].entry, "row %zu", i);
		cr_assert_eq(a->rows[i].api, b->rows[i].api);
		cr_assert(!memcmp(&a->rows[i].sum, &b->rows[i].sum, sizeof a->rows[i].sum));
	}
}

Test(report, sections_that_are_asked_together_say_what_they_say_alone)
{
	for (size_t i = 0; i < golden_profile_count; i++) {
		struct query_session *s = session_of(golden_profiles[i].make);
		struct section_table together[ANSWERS_MOST], alone;
		const struct section *first = &report_sections[SECTION_ALLOCATED];
		struct err e = {0};
		size_t count = sections_alike(first, SECTION_COUNT - SECTION_ALLOCATED);
		cr_assert_eq(count, 2);
		cr_assert_eq(sections_ask(s, first, count, 2, together, &e), NEAP_OK, "%s", e.text);
		for (size_t k = 0; k < count; k++) {
			cr_assert_eq(sections_ask(s, &first[k], 1, 2, &alone, &e), NEAP_OK);
			assert_same_rows(&together[k].rows, &alone.rows);
			section_release(&together[k]);
			section_release(&alone);
		}
		query_session_free(s);
	}
}

static struct build *make_callers(const char *path)
{
	struct build *b = build_new(path, NULL);
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
	return b;
}

Test(report, counts_call_paths_and_shows_the_heaviest_callers)
{
	struct query_session *s = session_of(make_callers);
	const struct report_options options = {.width_cols = 80, .top_count = 10};
	struct buf out = report_of(s, &options);
	assert_shows(&out, "leaf  s/l.c:9");
	assert_shows(&out, "< caller3  s/c.c:3  60.0 %");
	assert_shows(&out, "5 call paths");
	cr_assert_null(strstr(out.data, "caller0"));
	buf_release(&out);
	query_session_free(s);
}

/*
 * One path of 5 blocks through lone; nine of 2 through busy, from different callers: what
 * helps is to see busy, though no path through it is the heaviest.
 */
static struct build *make_busy(const char *path)
{
	struct build *b = build_new(path, NULL);
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
	return b;
}

/* The rows of a section with their paths; to be released. */
static struct section_table paths_of(struct query_session *s, enum section_id id, size_t top_count)
{
	const struct graph *g = query_session_graph(s);
	struct path_finder finder;
	struct section_table t;
	struct err e = {0};
	cr_assert_eq(path_finder_init(&finder, g, &e), NEAP_OK);
	cr_assert_eq(sections_ask(s, &report_sections[id], 1, top_count, &t, &e), NEAP_OK, "%s",
		     e.text);
	cr_assert_eq(paths_choose(&finder, t.section->pop, graph_whole_run(g), t.section->key,
				  t.rows.rows, t.rows.count, &e),
		     NEAP_OK);
	path_finder_release(&finder);
	return t;
}

Test(report, prefers_the_caller_that_most_comes_through_to_the_heaviest_path)
{
	struct query_session *s = session_of(make_busy);
	const struct graph *g = query_session_graph(s);
	struct section_table t = paths_of(s, SECTION_OFTEN, 1);
	cr_assert_eq(t.rows.count, 1);
	const struct row *row = &t.rows.rows[0];
	cr_assert_eq(row->path_count, 10);
	cr_assert_eq(row->through[0].blocks, 18);
	cr_assert_eq(row->through[1].blocks, 2);
	cr_assert_eq(row->through[2].blocks, 2);
	struct caller_walk walk = caller_walk_init(g, row->path);
	struct caller caller;
	const struct graph_columns columns = graph_columns(g);
	cr_assert(caller_walk_next(&walk, &columns, &caller));
	cr_assert(caller_walk_next(&walk, &columns, &caller));
	cr_assert_str_eq(graph_entry(g, caller.entry).name, "busy");
	cr_assert_eq(row->inner, row->path);
	section_release(&t);
	query_session_free(s);
}

/* leaf calls malloc from a, and calloc from b; xrealloc is a wrapper, reached by two ways. */
static struct build *make_apis(const char *path)
{
	struct build *b = build_new(path, NULL);
	struct profile_writer *w = build_writer(b);
	node_id top = build_call(b, PROFILE_NODE_ROOT, "main", "/s/m.c", 1);
	node_id leaf[] = {build_call(b, build_call(b, top, "a", "/s/c.c", 1), "leaf", "", 0),
			  build_call(b, build_call(b, top, "b", "/s/c.c", 2), "leaf", "", 0)};
	build_snapshot(b, BUILD_MS);
	for (int i = 0; i < 3; i++) {
		static const enum profile_api apis[] = {API_MALLOC, API_CALLOC, API_REALLOC};
		node_id node = i < 2 ? leaf[i] : build_call(b, top, "grow", "/s/g.c", 3);
		const struct profile_site site = {.node = node, .size_bytes = 10, .api = apis[i]};
		uint64_t births = 8 >> i;
		const struct profile_change first = {.births = births, .born_bytes = births * 10};
		profile_add_cohort(w, profile_add_site(w, &site), 1, 1, 0, &first);
	}
	build_end_snapshot(b);
	return b;
}

Test(report, tells_functions_of_the_allocator_apart)
{
	struct query_session *s = session_of(make_apis);
	struct section_table t = paths_of(s, SECTION_OFTEN, 10);
	cr_assert_eq(t.rows.count, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(t.rows.rows[i].sum.blocks, 8 >> i);
		cr_assert_eq(t.rows.rows[i].path_count, 1);
		cr_assert_eq(t.rows.rows[i].through[0].blocks, 8 >> i);
		cr_assert_eq(t.rows.rows[i].shares_place, i < 2);
	}
	const struct report_options options = {.width_cols = 100, .top_count = 10};
	struct buf out = report_of(s, &options);
	assert_shows(&out, "  8   57.1 %        80 B  leaf  demo  (malloc)\n                       "
			   "        < a  ");
	assert_shows(&out, "  4   28.6 %        40 B  leaf  demo  (calloc)\n                       "
			   "        < b  ");
	assert_shows(&out, "  2   14.3 %        20 B  grow  s/g.c:3  (realloc)\n");
	buf_release(&out);
	section_release(&t);
	query_session_free(s);
}

/* ---- the page --------------------------------------------------------------------------- */

Test(report, says_on_the_first_screen_what_the_peak_is_when_and_who_holds_it)
{
	struct query_session *s = open_golden("json");
	const struct report_options options = {.width_cols = 80, .top_count = 10};
	struct buf out = report_of(s, &options);
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
	query_session_free(s);
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
		struct query_session *s = session_of(golden_profiles[i].make);
		for (size_t width = REPORT_WIDTH_MIN_COLS; width < 210; width += 7) {
			struct report_options options = {.width_cols = width,
							 .top_count = 1 + width % 30,
							 .is_utf8 = width % 2,
							 .has_full_stacks = width % 5 == 0};
			struct buf out = report_of(s, &options);
			assert_page_is_safe(&out, &options);
			buf_release(&out);
		}
		query_session_free(s);
	}
}

Test(report, uses_colours_only_if_asked_and_closes_them_on_every_line)
{
	struct query_session *s = open_golden("json");
	struct report_options options = {.width_cols = 100, .top_count = 5, .has_colour = true};
	struct buf out = report_of(s, &options);
	cr_assert_not_null(strchr(out.data, '\033'));
	char *rest = out.data, *line;
	while ((line = strsep(&rest, "\n"))) {
		int open = 0;
		for (char *at = line; (at = strchr(at, '\033')); at++)
			open = strncmp(at, "\033[0m", 4) != 0;
		cr_assert_not(open, "%s", line);
	}
	buf_release(&out);
	query_session_free(s);
}

Test(report, says_that_nothing_leaked_in_one_line)
{
	struct query_session *s = open_golden("empty");
	const struct report_options options = {.width_cols = 80, .top_count = 10};
	struct buf out = report_of(s, &options);
	assert_shows(&out, "\n  nothing leaked\n");
	assert_shows(&out, "\n  nothing was allocated\n");
	cr_assert_null(strstr(out.data, "share"));
	buf_release(&out);
	query_session_free(s);
}

Test(report, warns_above_the_tables_in_words)
{
	struct query_session *s = open_golden("hostile");
	const struct report_options options = {.width_cols = 200, .top_count = 10};
	struct buf out = report_of(s, &options);
	assert_shows(&out, "! 12,345 ");
	assert_shows(&out, profile_drop_meaning(DROP_NODES));
	assert_shows(&out, "! The recording stopped early: no space left?[2J on device");
	const char *warning = strstr(out.data, "! 12,345"), *peak = strstr(out.data, "  peak ");
	cr_assert_lt(warning, peak);
	buf_release(&out);
	query_session_free(s);
}

Test(report, is_the_same_every_time)
{
	struct query_session *one = open_golden("json"), *two = open_golden("json");
	const struct report_options options = {.width_cols = 100, .top_count = 10};
	struct buf a = report_of(one, &options), b = report_of(two, &options);
	cr_assert_str_eq(a.data, b.data);
	buf_release(&a);
	buf_release(&b);
	query_session_free(one);
	query_session_free(two);
}

Test(report, reports_running_out_of_memory_at_any_allocation)
{
	struct query_session *s = open_golden("json");
	for (int full = 0; full < 2; full++) {
		const struct report_options options = {
			.width_cols = 80, .top_count = 3, .has_full_stacks = full};
		uint64_t n = 1;
		for (;; n++) {
			struct buf out = {0};
			struct err e = {0};
			mem_fail_at(n);
			enum neap_err code = report_write(s, &options, &out, &e);
			mem_fail_at(0);
			buf_release(&out);
			if (code == NEAP_OK)
				break;
			cr_assert_eq(code, ERR_NOMEM, "allocation %ju", (uintmax_t)n);
			cr_assert_lt(n, 100000);
		}
		cr_assert_gt(n, 20);
	}
	query_session_free(s);
}
