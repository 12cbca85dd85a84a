/*
 * Queries on a profile that is large enough for the ways that only large ones take: more than
 * eight children of a frame, hundreds of cells below one, many rows with equal totals.
 *
 *   main > f00 .. f39 > g0 .. g11     made in an order that is not that of their names
 *   early                             before main: main's cells are not the first ones
 *   main > f00 .. f39 > h             called from another line of main
 */
#include "config.h"

#include "query/query.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define F_COUNT        40u
#define G_COUNT        12u
#define SNAPSHOT_COUNT 12u
#define H              G_COUNT /* leaves[f][H] */
#define EARLY_AT       (H + 1) /* leaves[0][EARLY_AT] */

static struct query_session *session;
static char path[256];

static void make_nodes(struct build *b, node_id leaves[F_COUNT][EARLY_AT + 1])
{
	leaves[0][EARLY_AT] = build_call(b, PROFILE_NODE_ROOT, "early", "/src/early.c", 3);
	node_id start = build_call(b, PROFILE_NODE_ROOT, "main", "/src/main.c", 7);
	for (uint32_t i = 0; i < F_COUNT; i++) {
		char name[16];
		uint32_t f = i * 17 % F_COUNT;
		snprintf(name, sizeof name, "f%02u", f);
		node_id caller = build_call(b, start, name, "/src/f.c", f + 1);
		for (uint32_t k = 0; k < G_COUNT; k++) {
			uint32_t g = k * 5 % G_COUNT;
			snprintf(name, sizeof name, "g%u", g);
			leaves[f][g] = build_call(b, caller, name, "/src/g.c", g + 1);
		}
	}
	for (uint32_t f = 0; f < F_COUNT; f++) {
		char name[16];
		snprintf(name, sizeof name, "f%02u", f);
		node_id caller = build_call(b, start, name, "/src/f.c", f + 101);
		leaves[f][H] = build_call(b, caller, "h", "/src/h.c", 1);
	}
}

/* Blocks of f and g: born in every snapshot, half of them dead f % 5 snapshots later. */
static void write_profile(void)
{
	static node_id leaves[F_COUNT][EARLY_AT + 1];
	static cohort_id cohorts[SNAPSHOT_COUNT + 1][F_COUNT];
	struct build *b = build_new(path, NULL);
	make_nodes(b, leaves);
	for (uint32_t s = 1; s <= SNAPSHOT_COUNT; s++) {
		build_snapshot(b, s * s * BUILD_MS);
		build_alloc(b, leaves[0][EARLY_AT], 16, 1, s);
		for (uint32_t f = 0; f < F_COUNT; f++) {
			for (uint32_t g = 1; s == 1 && g <= H; g++)
				build_alloc(b, leaves[f][g], 16, 1, 1 + g % 3);
			cohorts[s][f] = build_alloc(b, leaves[f][0], 16, 1, 2 + f % 7);
		}
		for (uint32_t f = 0; f < F_COUNT; f++) {
			if (f % 5 && s > f % 5)
				build_free(b, cohorts[s - f % 5][f], 1 + f % 7 / 2, 0);
		}
		build_end_snapshot(b);
	}
	build_close(b);
}

static void setup(void)
{
	const char *dir = getenv("TMPDIR");
	const struct query_options options = {.cursor_ns = UINT64_MAX};
	struct err e = {0};
	snprintf(path, sizeof path, "%s/neap-large-%d.neap", dir ? dir : "/tmp", (int)getpid());
	write_profile();
	cr_assert_eq(query_session_new(&options, &session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(session, path, &e), NEAP_OK, "%s", e.text);
}

static void teardown(void)
{
	query_session_free(session);
	unlink(path);
}

TestSuite(query_large, .init = setup, .fini = teardown);

static struct query_result *run(const char *text)
{
	struct query_error error;
	struct query_result *r;
	struct ast_script *script;
	if (query_parse(text, strlen(text), &script, &error) ||
	    query_run(session, script, 0, &r, &error))
		cr_assert_fail("%s: %s", text, error.text);
	query_script_free(script);
	return r;
}

static const struct result_cell *cell(const struct query_result *r, size_t row, const char *word)
{
	for (size_t k = 0; k < r->column_count; k++) {
		if (!strcmp(r->columns[k].word, word))
			return &result_cells(r, row)[k];
	}
	cr_assert_fail("no column %s", word);
	return NULL;
}

static bool is_same_cell(const struct result_cell *a, const struct result_cell *b, bool is_text)
{
	if (a->is_unknown != b->is_unknown || a->value != b->value || a->number != b->number)
		return false;
	return !is_text || a->is_unknown || !strcmp(a->text, b->text);
}

static void expect_same_rows(const char *one, const char *other)
{
	struct query_result *a = run(one), *b = run(other);
	cr_assert_eq(a->row_count, b->row_count, "%s: %zu rows, %s: %zu", one, a->row_count, other,
		     b->row_count);
	cr_assert_eq(a->column_count, b->column_count);
	for (size_t i = 0; i < a->row_count; i++) {
		const struct result_row x = result_row(a, i), y = result_row(b, i);
		cr_assert(x.kind == y.kind && x.depth == y.depth && x.parent == y.parent &&
				  x.frame_count == y.frame_count,
			  "%s: row %zu", one, i);
		if (x.frame_count)
			cr_assert_eq(x.frames[0], y.frames[0]);
		for (size_t k = 0; k < a->column_count; k++) {
			const struct result_cell c = result_cell(b, i, k);
			cr_assert(is_same_cell(&result_cells(a, i)[k], &c,
					       a->columns[k].type == RESULT_TEXT),
				  "%s: row %zu, column %s", one, i, a->columns[k].word);
		}
	}
	query_result_free(a);
	query_result_free(b);
}

/* `min 0B` cuts nothing, but makes the tree take the way of trees with stages on rows. */
Test(query_large, shows_the_same_tree_with_and_without_stages_on_rows)
{
	expect_same_rows("allocated | tree", "allocated | min 0B | tree");
	expect_same_rows("live | tree", "live | min 0B | tree");
	expect_same_rows("allocated | tree 2", "allocated | min 0B | tree 2");
	expect_same_rows("growth in 20%..80% | tree", "growth in 20%..80% | min 0B | tree");
	expect_same_rows("diff live at 30%, live at 90% | tree",
			 "diff live at 30%, live at 90% | min 0B | tree");
	expect_same_rows("allocated | by file,line | tree",
			 "allocated | by file,line | min 0B | tree");
	expect_same_rows("allocated | by line:10 | tree", "allocated | by line:10 | min 0B | tree");
	expect_same_rows("allocated | select total,avg,max,first,share,func | tree",
			 "allocated | select total,avg,max,first,share,func | min 0B | tree");
	expect_same_rows("freed | callees main", "freed | min 0B | callees main");
}

Test(query_large, puts_children_with_equal_totals_in_order_of_their_names)
{
	struct query_result *r = run("live at 1ms func=g1 | tree");
	char expected[8];
	cr_assert_eq(r->row_count, 1 + 2 * F_COUNT);
	for (uint32_t f = 0; f < F_COUNT; f++) {
		snprintf(expected, sizeof expected, "f%02u", f);
		cr_expect_str_eq(cell(r, 1 + 2 * f, "func")->text, expected);
		cr_expect_eq(cell(r, 1 + 2 * f, "total")->value, 16 * 2);
	}
	query_result_free(r);
}

Test(query_large, merges_the_calls_of_one_function)
{
	struct query_result *r = run("allocated | tree");
	cr_expect_eq(r->row_count, 2 + F_COUNT * (1 + G_COUNT + 1));
	query_result_free(r);
	r = run("allocated | by func,line | tree");
	cr_expect_eq(r->row_count, 2 + F_COUNT * (2 + G_COUNT + 1));
	query_result_free(r);
}

/* A row's lifetimes are those of the total line of what is below it. */
Test(query_large, finds_the_same_quantiles_for_a_frame_as_for_its_blocks)
{
	struct query_result *table = run("allocated | by func | select func,count,p50,p99");
	struct query_result *tree = run("allocated | tree | select func,p50,p99");
	cr_expect_str_eq(cell(tree, 0, "func")->text, "main");
	struct query_result *main_sum = run("allocated func=main | sum | select p50,p99");
	cr_expect_eq(cell(tree, 0, "p50")->value, main_sum->totals[0].value);
	cr_expect_eq(cell(tree, 0, "p99")->value, main_sum->totals[1].value);
	query_result_free(main_sum);
	cr_assert_eq(table->row_count, 2 + F_COUNT + G_COUNT + 1);
	for (size_t i = 0; i < table->row_count; i++) {
		char text[96];
		snprintf(text, sizeof text, "allocated func=%s | sum | select count,p50,p99",
			 cell(table, i, "func")->text);
		struct query_result *one = run(text);
		cr_expect_eq(cell(table, i, "count")->value, one->totals[0].value, "%s", text);
		cr_expect_eq(cell(table, i, "p50")->value, one->totals[1].value, "%s", text);
		cr_expect_eq(cell(table, i, "p99")->value, one->totals[2].value, "%s", text);
		query_result_free(one);
	}
	query_result_free(table);
	query_result_free(tree);
}

/* ---- stopping ---------------------------------------------------------------------------- */

static bool count_poll(void *arg)
{
	++*(unsigned *)arg;
	return false;
}

/* What a session keeps is made by the first query that needs it, which can be stopped there too. */
Test(query_large, can_be_stopped_while_the_call_tree_is_made)
{
	unsigned polls = 0;
	const struct query_options options = {.is_cancelled = count_poll,
					      .arg = &polls,
					      .is_as_if_large = true,
					      .cursor_ns = UINT64_MAX};
	struct err e = {0};
	query_session_free(session);
	cr_assert_eq(query_session_new(&options, &session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(session, path, &e), NEAP_OK);
	query_result_free(run("live lifetime>1ms | by api"));
	unsigned first_count = polls;
	query_result_free(run("live lifetime>1ms | by api"));
	unsigned second_count = polls - first_count;
	const struct profile *p = graph_profile(query_session_graph(session));
	cr_assert_geq(first_count - second_count,
		      2 * (p->node_count - PROFILE_NODE_FIRST) + p->site_count, "%u and %u",
		      first_count, second_count);
}
