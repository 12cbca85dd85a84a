/* Queries kept open: rows made one by one are those of query_run; classes over time add up. */
#include "config.h"

#include "query/opened.h"

#include "query/parse.h"
#include "src/base/mem.h"
#include "tests/golden/profiles.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct query_session *session;
static struct ast_script *script;
static char path[64];

static void open_profile(const char *name)
{
	struct err e = {0};
	snprintf(path, sizeof path, "/tmp/neap-opened-%d.neap", (int)getpid());
	for (size_t i = 0; i < golden_profile_count; i++) {
		if (!strcmp(golden_profiles[i].name, name))
			build_close(golden_profiles[i].make(path));
	}
	cr_assert_eq(query_session_new(NULL, &session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(session, path, &e), NEAP_OK, "%s", e.text);
	unlink(path);
}

static void close_all(void)
{
	query_script_free(script);
	query_session_free(session);
	script = NULL;
	session = NULL;
}

static struct query_opened *open_query(const char *text)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_opened *q = NULL;
	query_script_free(script);
	cr_assert_eq(query_parse(text, strlen(text), &script, &error), NEAP_OK, "%s", error.text);
	cr_assert_eq(query_opened_new(session, script, 0, &q, &error), NEAP_OK, "%s", error.text);
	return q;
}

/* ---- rows ------------------------------------------------------------------------------ */

static void same_cells(const struct query_result *a, size_t row_a, const struct query_result *b,
		       size_t row_b)
{
	for (size_t i = 0; i < a->column_count; i++) {
		const struct result_cell *x = &a->cells[row_a * a->column_count + i];
		const struct result_cell *y = &result_cells(b, row_b)[i];
		cr_assert_eq(x->is_unknown, y->is_unknown);
		cr_assert_eq(x->value, y->value, "row %zu, %s", row_b, a->columns[i].word);
		if (!x->is_unknown && a->columns[i].type == RESULT_TEXT)
			cr_assert_str_eq(x->text ? x->text : "", y->text ? y->text : "");
	}
}

/* Opens everything in preorder; *at counts the rows of the whole tree. */
static void compare_below(struct query_opened *q, uint32_t row, const struct query_result *whole,
			  size_t *at)
{
	struct query_error error = {.code = NEAP_OK};
	uint32_t first, count, again, again_count;
	cr_assert_eq(query_opened_children(q, row, &first, &count, &error), NEAP_OK);
	if (row != OPENED_ROOT)
		cr_assert_eq(query_opened_has_children(q, row), count > 0);
	for (uint32_t i = 0; i < count; i++) {
		const struct query_result *r = query_opened_result(q);
		bool may_open = query_opened_has_children(q, first + i);
		cr_assert_lt(*at, whole->row_count);
		same_cells(r, first + i, whole, *at);
		cr_assert_eq(r->rows[first + i].depth, result_row(whole, *at).depth);
		cr_assert_eq(r->rows[first + i].kind, result_row(whole, *at).kind);
		bool has_below = *at + 1 < whole->row_count &&
				 result_row(whole, *at + 1).depth > result_row(whole, *at).depth;
		cr_assert_eq(may_open, has_below, "row %zu", *at);
		(*at)++;
		compare_below(q, first + i, whole, at);
	}
	cr_assert_eq(query_opened_children(q, row, &again, &again_count, &error), NEAP_OK);
	cr_assert_eq(again_count, count);
	cr_assert(!count || again == first);
}

static void compare_tree(const char *text)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_result *whole = NULL;
	struct query_opened *q = open_query(text);
	size_t at = 0;
	cr_assert_eq(query_opened_result(q)->row_count, 0);
	cr_assert_eq(query_run(session, script, 0, &whole, &error), NEAP_OK);
	compare_below(q, OPENED_ROOT, whole, &at);
	cr_assert_eq(at, whole->row_count, "%s", text);
	cr_assert_gt(at, 1);
	query_result_free(whole);
	query_opened_free(q);
}

Test(opened, rows_of_trees_are_those_of_the_whole_tree, .fini = close_all)
{
	open_profile("json");
	compare_tree("peak | tree");
	compare_tree("peak | callers");
	compare_tree("peak | min 5% | tree");
	compare_tree("allocated | collapse recursion | min 1% | callers");
	compare_tree("allocated | by module | tree");
	compare_tree("peak | zoom parse_document | flame");
	compare_tree("peak | by stack | top 2 | tree");
}

/* Facts of every row below one, against a query that has the same as columns. */
static void compare_facts(struct query_opened *q, struct query_opened *wide, uint32_t row)
{
	struct query_error error = {.code = NEAP_OK};
	uint32_t first, count, wide_first, wide_count;
	cr_assert_eq(query_opened_children(q, row, &first, &count, &error), NEAP_OK);
	cr_assert_eq(query_opened_children(wide, row, &wide_first, &wide_count, &error), NEAP_OK);
	cr_assert_eq(first, wide_first);
	cr_assert_eq(count, wide_count);
	for (uint32_t i = first; i < first + count; i++) {
		const struct query_result *r = query_opened_result(wide);
		const struct result_cell *cells = &r->cells[i * r->column_count];
		struct query_facts facts;
		int64_t bytes = 0;
		cr_assert_eq(query_opened_facts(q, i, &facts, &error), NEAP_OK);
		if (r->rows[i].kind != ROW_PLAIN)
			continue;
		for (size_t c = 0; c < r->column_count; c++) {
			const char *word = r->columns[c].word;
			if (!strcmp(word, "p50"))
				cr_assert(cells[c].is_unknown
						  ? !facts.has_lifetimes
						  : facts.p50_ns == (uint64_t)cells[c].value,
					  "row %u", i);
			if (!strcmp(word, "p99"))
				cr_assert(cells[c].is_unknown
						  ? !facts.has_lifetimes
						  : facts.p99_ns == (uint64_t)cells[c].value,
					  "row %u", i);
			if (!strcmp(word, "total"))
				bytes = cells[c].value;
		}
		for (size_t t = 0; t < facts.thread_count && t < FACTS_THREADS_MOST; t++) {
			bytes -= facts.threads[t].sum.bytes;
			cr_assert(!t ||
				  facts.threads[t].sum.bytes <= facts.threads[t - 1].sum.bytes);
		}
		cr_assert(facts.thread_count > FACTS_THREADS_MOST ? bytes >= 0 : bytes == 0);
		compare_facts(q, wide, i);
	}
}

Test(opened, facts_of_a_row_are_those_of_its_columns, .fini = close_all)
{
	static const char *const heads[] = {
		"live",
		"peak",
		"leaked",
		"allocated",
		"freed",
		"temporary",
		"live at 50%",
		"allocated in 10%..60%",
		"freed in 10%..60%",
	};
	static const char *const views[] = {"tree", "callers"};
	static const char *const profiles[] = {"json", "forked"};
	for (size_t p = 0; p < 2; p++) {
		open_profile(profiles[p]);
		for (size_t i = 0; i < sizeof heads / sizeof heads[0] * 2; i++) {
			char text[160];
			struct ast_script *first_script;
			snprintf(text, sizeof text, "%s | %s", heads[i / 2], views[i % 2]);
			struct query_opened *q = open_query(text);
			first_script = script;
			script = NULL;
			snprintf(text, sizeof text, "%s | %s | select total, p50, p99",
				 heads[i / 2], views[i % 2]);
			struct query_opened *wide = open_query(text);
			compare_facts(q, wide, OPENED_ROOT);
			query_opened_free(q);
			query_opened_free(wide);
			query_script_free(first_script);
		}
		close_all();
	}
}

Test(opened, tables_have_all_their_rows_at_once, .fini = close_all)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_result *whole = NULL;
	open_profile("json");
	static const char *const texts[] = {"peak | by func",        "peak | by func | top 3",
					    "allocated | by thread", "live | timeline 20",
					    "leaked | sum",          "allocated | hist size"};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct query_opened *q = open_query(texts[i]);
		const struct query_result *r = query_opened_result(q);
		cr_assert_eq(query_run(session, script, 0, &whole, &error), NEAP_OK);
		cr_assert_eq(r->row_count, whole->row_count, "%s", texts[i]);
		for (size_t row = 0; row < r->row_count; row++) {
			same_cells(r, row, whole, row);
			cr_assert_not(query_opened_has_children(q, (uint32_t)row));
		}
		query_result_free(whole);
		query_opened_free(q);
	}
}

/* ---- over time ----------------------------------------------------------------------------- */

static struct graph_sum sum_of(const struct query_series *s, size_t tick)
{
	return graph_add_up(&s->values[tick * s->class_count], s->class_count);
}

/* All classes together are what is live, whatever they are and however many are kept. */
static void adds_up(const char *text, size_t class_most)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_series s;
	const struct graph *g = query_session_graph(session);
	size_t ticks = graph_last_snap(g) + 1u;
	struct graph_tick *all = mem_array(ticks, sizeof *all);
	struct query_opened *q = open_query(text);
	cr_assert_eq(query_opened_series(q, class_most, &s, &error), NEAP_OK, "%s", error.text);
	graph_timeline(g, NULL, all);
	cr_assert_eq(s.tick_count, ticks);
	cr_assert_leq(s.class_count, class_most + 1);
	cr_assert_eq(s.rows[s.class_count - 1], OPENED_ROOT);
	for (size_t i = 0; i < ticks; i++) {
		cr_assert_eq(sum_of(&s, i).bytes, all[i].live.bytes, "%s: tick %zu", text, i);
		cr_assert_eq(sum_of(&s, i).blocks, all[i].live.blocks);
		struct graph_sum born = graph_add_up(&s.born[i * s.class_count], s.class_count);
		cr_assert_eq(born.bytes, all[i].allocated.bytes, "%s: tick %zu", text, i);
		cr_assert_eq(born.blocks, all[i].allocated.blocks);
	}
	if (!strstr(text, "lifetime")) /* it is not known what of a cohort was there */
		cr_assert_eq(graph_add_up(s.peak, s.class_count).bytes, graph_peak(g).bytes);
	mem_free(all);
	query_series_release(&s);
	query_opened_free(q);
}

Test(opened, classes_add_up_to_what_is_live_at_every_snapshot, .fini = close_all)
{
	open_profile("json");
	adds_up("allocated | by leaf.func", 1);
	adds_up("allocated | by leaf.func", 3);
	adds_up("allocated | by leaf.func", 100);
	adds_up("allocated | by leaf.module", 8);
	adds_up("allocated | by caller.file", 2);
	adds_up("allocated | by caller9.func", 2);
	adds_up("allocated | by thread", 8);
	adds_up("allocated | by size | top 2", 8);
	adds_up("allocated | by leaf.func | min 10%", 8);
	adds_up("allocated lifetime >= 0ns | by leaf.func", 8);
}

Test(opened, blocks_inherited_at_a_fork_are_among_the_others, .fini = close_all)
{
	open_profile("forked");
	adds_up("allocated | by leaf.func", 8);
	adds_up("allocated | by api", 8);
}

/* Each class is what a query for it alone says. */
Test(opened, a_class_is_what_its_own_timeline_says, .fini = close_all)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_series s;
	open_profile("json");
	struct query_opened *q = open_query("allocated | by leaf.func");
	cr_assert_eq(query_opened_series(q, 2, &s, &error), NEAP_OK);
	cr_assert_eq(s.class_count, 3);
	const struct query_result *r = query_opened_result(q);
	for (size_t class = 0; class < 2; class ++) {
		struct buf text = {0};
		struct ast_script *one = NULL;
		struct query_result *line = NULL;
		const char *name = r->cells[s.rows[class] * r->column_count].text;
		buf_printf(&text, "live leaf.func=\"%s\" | timeline %zu", name, s.tick_count - 1);
		cr_assert_eq(query_parse(text.data, text.count_bytes, &one, &error), NEAP_OK);
		cr_assert_eq(query_run(session, one, 0, &line, &error), NEAP_OK);
		cr_assert_eq(line->row_count, s.tick_count - 1);
		size_t total = 0;
		while (strcmp(line->columns[total].word, "total") != 0)
			total++;
		for (size_t i = 0; i < line->row_count; i++)
			cr_assert_eq(result_cell(line, i, total).value,
				     s.values[(i + 1) * s.class_count + class].bytes);
		query_result_free(line);
		query_script_free(one);
		buf_release(&text);
	}
	query_series_release(&s);
	query_opened_free(q);
}

/* The callers of a class share out what the class holds. */
static void check_callers(const char *name, const struct query_series *whole, size_t class)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_series parts;
	struct buf text = {0};
	buf_printf(&text, "allocated leaf.func=\"%s\" | by caller.func", name);
	struct query_opened *q = open_query(text.data);
	cr_assert_eq(query_opened_series(q, 4, &parts, &error), NEAP_OK);
	for (size_t i = 0; i < whole->tick_count; i++)
		cr_assert_eq(sum_of(&parts, i).bytes,
			     whole->values[i * whole->class_count + class].bytes);
	query_series_release(&parts);
	query_opened_free(q);
	buf_release(&text);
}

Test(opened, callers_of_a_class_share_what_it_holds, .fini = close_all)
{
	struct query_error error = {.code = NEAP_OK};
	struct query_series whole;
	const char *names[3]; /* they belong to the session */
	open_profile("json");
	struct query_opened *q = open_query("allocated | by leaf.func");
	const struct query_result *r = query_opened_result(q);
	cr_assert_eq(query_opened_series(q, 3, &whole, &error), NEAP_OK);
	cr_assert_eq(whole.class_count, 4);
	for (size_t class = 0; class < 3; class ++)
		names[class] = r->cells[whole.rows[class] * r->column_count].text;
	query_opened_free(q);
	for (size_t class = 0; class < 3; class ++)
		check_callers(names[class], &whole, class);
	query_series_release(&whole);
}

Test(opened, rows_that_share_blocks_are_no_classes, .fini = close_all)
{
	static const char *const texts[] = {"peak | by func", "peak | callers", "peak | tree",
					    "allocated | by lifetime", "diff peak, live | by api"};
	open_profile("json");
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct query_error error = {.code = NEAP_OK};
		struct query_series s;
		struct query_opened *q = open_query(texts[i]);
		cr_assert_eq(query_opened_series(q, 3, &s, &error), ERR_UNSUPPORTED, "%s",
			     texts[i]);
		cr_assert_eq(s.tick_count, 0);
		query_opened_free(q);
	}
}
