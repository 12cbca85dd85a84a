/*
 * Queries on one small profile whose numbers can be checked by hand.
 *
 *   snapshot    1 (10 ms)           2 (20 ms)           3 (30 ms)        4 (40 ms)
 *   A   10 x 100  parse > xmalloc   -4, 1 temporary     -6
 *   B   5 x 64    Cache::put        worker thread                        -1
 *   C                               4 x 1000, deeper    -4
 *   D                                                   2 x 64           mark "warm" at 3
 *   live bytes  1320                4920                448              384
 *
 *   main > parse(Doc&) > xmalloc                A
 *   main > parse(Doc&) > parse(Doc&) > xmalloc  C
 *   main > Cache::put(int)                      B (thread worker), D (thread main)
 */
#include "config.h"

#include "query/query.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct nodes {
	node_id main_xmalloc, deep_xmalloc, put;
};

static struct nodes make_nodes(struct build *b)
{
	node_id start = build_call(b, PROFILE_NODE_ROOT, "main", "/src/main.c", 7);
	node_id parse = build_call(b, start, "parse(Doc&)", "/src/parse.c", 12);
	node_id deep = build_call(b, parse, "parse(Doc&)", "/src/parse.c", 20);
	return (struct nodes){
		.main_xmalloc = build_call(b, parse, "xmalloc", "/src/util.c", 3),
		.deep_xmalloc = build_call(b, deep, "xmalloc", "/src/util.c", 3),
		.put = build_call(b, start, "Cache::put(int)", "/src/cache.c", 40),
	};
}

/* is_new: another version, in which C is twice as large. */
static void write_profile(const char *path, bool is_new)
{
	struct build *b = build_new(path, NULL);
	struct nodes n = make_nodes(b);
	thread_id worker = build_thread(b, "worker");
	build_snapshot(b, 10 * BUILD_MS);
	cohort_id a = build_alloc(b, n.main_xmalloc, 100, 1, 10);
	cohort_id put = build_alloc(b, n.put, 64, worker, 5);
	build_end_snapshot(b);
	build_snapshot(b, 20 * BUILD_MS);
	cohort_id c = build_alloc(b, n.deep_xmalloc, is_new ? 2000 : 1000, 1, 4);
	build_free(b, a, 4, 1);
	build_end_snapshot(b);
	build_snapshot(b, 30 * BUILD_MS);
	build_alloc(b, n.put, 64, 1, 2);
	build_free(b, c, 4, 0);
	build_free(b, a, 6, 0);
	build_end_snapshot(b);
	profile_add_mark(build_writer(b), "warm", 3, 30 * BUILD_MS);
	build_snapshot(b, 40 * BUILD_MS);
	build_free(b, put, 1, 0);
	build_end_snapshot(b);
	build_close(b);
}

/* ---- fixture ------------------------------------------------------------------------- */

static struct query_session *session;
static char paths[2][256];

static void open_session(bool is_strict, size_t file_count)
{
	const struct query_options options = {.is_strict = is_strict, .cursor_ns = UINT64_MAX};
	struct err e = {0};
	cr_assert_eq(query_session_new(&options, &session, &e), NEAP_OK);
	for (size_t i = 0; i < file_count; i++) {
		enum neap_err code = query_session_open(session, paths[i], &e);
		cr_assert_eq(code, NEAP_OK, "%s", e.text);
	}
}

static void setup(void)
{
	const char *dir = getenv("TMPDIR");
	for (size_t i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof paths[i], "%s/neap-exec-%d-%zu.neap", dir ? dir : "/tmp",
			 (int)getpid(), i);
		write_profile(paths[i], i);
	}
	open_session(false, 1);
}

static void teardown(void)
{
	query_session_free(session);
	unlink(paths[0]);
	unlink(paths[1]);
}

TestSuite(query_exec, .init = setup, .fini = teardown);

/* ---- running ----------------------------------------------------------------------------- */

static struct ast_script *parse(const char *text)
{
	struct query_error error;
	struct ast_script *script;
	if (query_parse(text, strlen(text), &script, &error))
		cr_assert_fail("%s: %s", text, error.text);
	return script;
}

static size_t last_query(const struct ast_script *script)
{
	size_t i = script->statement_count;
	while (i-- > 0 && script->statements[i].is_let)
		;
	return i;
}

static void put_cell(struct buf *out, const struct result_column *c, const struct result_cell *cell)
{
	if (cell->is_unknown)
		buf_puts(out, "?");
	else if (c->type == RESULT_TEXT)
		buf_puts(out, cell->text);
	else if (c->type == RESULT_RATIO)
		buf_printf(out, "%.1f%%", cell->number * 100);
	else if (c->type == RESULT_RATE)
		buf_printf(out, "%.0f/s", cell->number);
	else if (c->type == RESULT_NS)
		buf_printf(out, "%" PRId64 "ms", cell->value / (int64_t)BUILD_MS);
	else
		buf_printf(out, "%" PRId64, cell->value);
}

static void put_stack(struct buf *out, const struct query_result *r, const struct result_row *row)
{
	for (uint32_t i = 0; i < row->frame_count; i++)
		buf_printf(out, "%s%s", i ? ">" : " ", graph_entry(r->graph, row->frames[i]).name);
}

/* One line per row: cells with blanks between them, two blanks a level. */
static void put_result(struct buf *out, const struct query_result *r)
{
	for (size_t i = 0; i < r->row_count; i++) {
		const struct result_row own = result_row(r, i), *row = &own;
		buf_repeat(out, "  ", row->depth);
		if (row->kind == ROW_OTHER)
			buf_printf(out, "(other: %u) ", row->count);
		for (size_t k = 0; k < r->column_count; k++) {
			if (k)
				buf_putc(out, ' ');
			put_cell(out, &r->columns[k], &result_cells(r, i)[k]);
		}
		if (row->frame_count > 1)
			put_stack(out, r, row);
		buf_putc(out, '\n');
	}
	buf_puts(out, "=");
	for (size_t k = 0; k < r->column_count; k++) {
		if (!r->columns[k].is_key) {
			buf_putc(out, ' ');
			put_cell(out, &r->columns[k], &r->totals[k]);
		}
	}
	buf_putc(out, '\n');
}

static struct query_result *run(const char *text)
{
	struct query_error error;
	struct query_result *r;
	struct ast_script *script = parse(text);
	if (query_run(session, script, last_query(script), &r, &error))
		cr_assert_fail("%s: %s", text, error.text);
	query_script_free(script);
	return r;
}

static void expect(const char *text, const char *expected)
{
	struct buf got = {0};
	struct query_result *r = run(text);
	put_result(&got, r);
	cr_expect_str_eq(got.data, expected, "%s\ngave\n%sinstead of\n%s", text, got.data,
			 expected);
	query_result_free(r);
	buf_release(&got);
}

static void expect_note(const char *text, const char *part)
{
	struct query_result *r = run(text);
	bool is_found = false;
	for (size_t i = 0; i < r->note_count; i++)
		is_found = is_found || strstr(r->notes[i], part);
	cr_expect(is_found, "%s: no note '%s' (%zu notes, first '%s')", text, part, r->note_count,
		  r->note_count ? r->notes[0] : "");
	query_result_free(r);
}

static void expect_no_note(const char *text)
{
	struct query_result *r = run(text);
	cr_expect_eq(r->note_count, 0, "%s: '%s'", text, r->note_count ? r->notes[0] : "");
	query_result_free(r);
}

/* The caret stands under `under`; a part of the message, and of the help. */
static void expect_error(const char *text, const char *under, const char *part, const char *help)
{
	struct query_error error;
	struct query_result *r;
	struct ast_script *script = parse(text);
	enum neap_err code = query_run(session, script, last_query(script), &r, &error);
	cr_expect_neq(code, NEAP_OK, "%s: no error", text);
	cr_expect_null(r);
	if (!code)
		return;
	cr_expect(strstr(error.text, part), "%s: '%s'", text, error.text);
	cr_expect(strstr(error.help, help), "%s: help '%s'", text, error.help);
	cr_expect(error.span.bytes == strlen(under) &&
			  !strncmp(text + error.span.start, under, error.span.bytes),
		  "%s: caret under '%.*s'", text, (int)error.span.bytes, text + error.span.start);
	query_script_free(script);
}

/* ---- populations ---------------------------------------------------------------------------- */

Test(query_exec, knows_every_population)
{
	expect("live | sum", "384 6 64\n= 384 6 64\n");
	expect("live at 20ms | sum", "4920 15 328\n= 4920 15 328\n");
	expect("live at 25ms | sum", "4920 15 328\n= 4920 15 328\n");
	expect("live at start | sum", "0 0 ?\n= 0 0 ?\n");
	expect("live at 50% | sum", "4920 15 328\n= 4920 15 328\n");
	expect("live at @warm | sum", "448 7 64\n= 448 7 64\n");
	expect("live at @warm-10ms | sum", "4920 15 328\n= 4920 15 328\n");
	expect("live at end-30ms | sum", "1320 15 88\n= 1320 15 88\n");
	expect("peak | sum", "4920 15 328\n= 4920 15 328\n");
	expect("leaked | sum", "384 6 64\n= 384 6 64\n");
	expect("allocated | sum", "5448 21 259\n= 5448 21 259\n");
	expect("allocated in 10ms..30ms | sum", "4128 6 688\n= 4128 6 688\n");
	expect("freed | sum", "5064 15 337\n= 5064 15 337\n");
	expect("freed in @warm.. | sum", "64 1 64\n= 64 1 64\n");
	expect("temporary | sum", "100 1 100\n= 100 1 100\n");
	expect("survivors in ..10ms | sum", "1320 15 88\n= 1320 15 88\n");
	expect("survivors in 20ms..end | sum", "128 2 64\n= 128 2 64\n");
	expect("growth in 10ms..20ms | sum", "1320 4920 3600 0\n= 1320 4920 3600 0\n");
}

Test(query_exec, names_the_instants_really_used)
{
	struct query_result *r = run("live at 25ms | sum");
	cr_expect_str_eq(r->population, "live at 20.0 ms (snapshot 2 of 4)");
	query_result_free(r);
	r = run("peak | sum");
	cr_expect_str_eq(r->population, "peak at 20.0 ms (the highest snapshot)");
	query_result_free(r);
	r = run("freed in 5ms..@warm | sum");
	cr_expect_str_eq(r->population, "freed from the start to 30.0 ms (snapshot 3 of 4)");
	query_result_free(r);
}

/* ---- filters ---------------------------------------------------------------------------------- */

Test(query_exec, filters_by_frames)
{
	expect("peak parse | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak func=parse | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak func=\"parse(Doc&)\" | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak func=Cache::* | sum", "320 5 64\n= 320 5 64\n");
	expect("peak leaf.func=parse | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak leaf.func=xmalloc | sum", "0 0 ?\n= 0 0 ?\n");
	expect("peak root.func=main | sum", "4920 15 328\n= 4920 15 328\n");
	expect("peak all.file~src | sum", "4920 15 328\n= 4920 15 328\n");
	expect("peak none[func~/^parse/] | sum", "320 5 64\n= 320 5 64\n");
	expect("peak any[func=parse line=20] | sum", "4000 4 1000\n= 4000 4 1000\n");
	expect("peak any[func=parse line=7] | sum", "0 0 ?\n= 0 0 ?\n");
	expect("peak func=parse line=7 | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak file=cache.c or line=20 | sum", "4320 9 480\n= 4320 9 480\n");
	expect("peak module=demo | sum", "4920 15 328\n= 4920 15 328\n");
	expect("let p = func=parse; peak not $p | sum", "320 5 64\n= 320 5 64\n");
}

Test(query_exec, filters_by_paths)
{
	expect("peak path main > parse > xmalloc | sum", "600 6 100\n= 600 6 100\n");
	expect("peak path main >> xmalloc | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak path main > * > * > xmalloc | sum", "4000 4 1000\n= 4000 4 1000\n");
	expect("peak path main > ** > xmalloc | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak path ^parse | sum", "0 0 ?\n= 0 0 ?\n");
	expect("peak path ^main > put$ | sum", "320 5 64\n= 320 5 64\n");
	/* Allocation wrappers may follow the leaf, and may be named as the end. */
	expect("peak path parse$ | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak path parse > xmalloc$ | sum", "4600 10 460\n= 4600 10 460\n");
	expect("peak path main$ | sum", "0 0 ?\n= 0 0 ?\n");
	expect("peak path [func=parse line=12] > [line=20] | sum", "4000 4 1000\n= 4000 4 1000\n");
}

Test(query_exec, filters_by_the_allocation)
{
	expect("allocated size=100 | sum", "1000 10 100\n= 1000 10 100\n");
	expect("allocated size in 64..100 | sum", "1448 17 85\n= 1448 17 85\n");
	expect("allocated size in (64,1000) | sum", "4448 11 404\n= 4448 11 404\n");
	expect("allocated thread=worker | sum", "320 5 64\n= 320 5 64\n");
	expect("allocated thread=1 | sum", "5128 16 320\n= 5128 16 320\n");
	expect("allocated thread in (2,7) | sum", "320 5 64\n= 320 5 64\n");
	expect("allocated thread=\"worker #2\" | sum", "320 5 64\n= 320 5 64\n");
	expect("allocated tid=4711 | sum", "5448 21 259\n= 5448 21 259\n");
	expect("allocated api=malloc | sum", "5448 21 259\n= 5448 21 259\n");
	expect("allocated api!=malloc | sum", "0 0 ?\n= 0 0 ?\n");
	expect("allocated depth=2 | sum", "448 7 64\n= 448 7 64\n");
	expect("allocated born>10ms | sum", "4128 6 688\n= 4128 6 688\n");
	expect("allocated died<=20ms | sum", "400 4 100\n= 400 4 100\n");
	expect("allocated not died<=40ms | sum", "384 6 64\n= 384 6 64\n");
	/* A: 4 lived 10 ms, 6 lived 20 ms; C 10 ms; B: one 30 ms, four to the end; D 10 ms. */
	expect("allocated lifetime=20ms | sum", "600 6 100\n= 600 6 100\n");
	expect("allocated lifetime>=30ms | sum", "320 5 64\n= 320 5 64\n");
	expect("live lifetime>10ms | sum", "256 4 64\n= 256 4 64\n");
	expect("freed lifetime>10ms | sum", "664 7 94\n= 664 7 94\n");
	expect("allocated type=Foo | sum", "0 0 ?\n= 0 0 ?\n");
}

/* ---- tables ------------------------------------------------------------------------------------- */

Test(query_exec, groups_by_frames_and_counts_recursion_once)
{
	expect("peak | by func", "parse(Doc&) 4600 4600 10 93.5%\n"
				 "Cache::put(int) 320 320 5 6.5%\n"
				 "main 0 4920 15 100.0%\n"
				 "xmalloc 0 4600 10 93.5%\n"
				 "= 4920 4920 15 100.0%\n");
	expect("peak", "parse(Doc&) 4600 4600 10 93.5%\n"
		       "Cache::put(int) 320 320 5 6.5%\n"
		       "main 0 4920 15 100.0%\n"
		       "xmalloc 0 4600 10 93.5%\n"
		       "= 4920 4920 15 100.0%\n");
	expect("peak | by file,line | select self,total", "/src/parse.c 20 4000 4000\n"
							  "/src/parse.c 12 600 4600\n"
							  "/src/cache.c 40 320 320\n"
							  "/src/main.c 7 0 4920\n"
							  "/src/util.c 3 0 4600\n"
							  "= 4920 4920\n");
	expect("peak | by class | select total", "parse 4600\nCache 320\nmain 4920\nxmalloc 4600\n"
						 "= 4920\n");
	expect("peak | by line | select total", "/src/parse.c:20 4000\n"
						"/src/parse.c:12 4600\n"
						"/src/cache.c:40 320\n"
						"/src/main.c:7 4920\n"
						"/src/util.c:3 4600\n"
						"= 4920\n");
}

Test(query_exec, groups_by_the_allocation)
{
	expect("allocated | by size", "1000 4000 4 73.4%\n100 1000 10 18.4%\n64 448 7 8.2%\n"
				      "= 5448 21 100.0%\n");
	expect("allocated | by size:64 | select size,count", "64 17\n960 4\n= 21\n");
	expect("allocated | by thread | select total", "main #1 5128\nworker #2 320\n= 5448\n");
	expect("allocated | by func,thread | select total", "parse(Doc&) main #1 5000\n"
							    "Cache::put(int) worker #2 320\n"
							    "Cache::put(int) main #1 128\n"
							    "= 5448\n");
	expect("allocated | by time:20ms | select time,total", "0ms 1320\n20ms 4128\n= 5448\n");
	expect("freed | by time:20ms | select time,count", "20ms 14\n40ms 1\n= 15\n");
	expect("allocated | by lifetime | select count", "10ms 10\n20ms 6\n30ms 5\n= 21\n");
	expect("allocated | by died | select count", "? 6\n20ms 4\n30ms 10\n40ms 1\n= 21\n");
	expect("allocated | by type | select total", "? 5448\n= 5448\n");
	expect("leaked | by stack", " 384 6 100.0% main>Cache::put(int)\n= 384 6 100.0%\n");
}

Test(query_exec, computes_every_column)
{
	expect("allocated | by func | select self,total,count,avg,max",
	       "parse(Doc&) 5000 5000 14 357 1000\n"
	       "Cache::put(int) 448 448 7 64 64\n"
	       "main 0 5448 21 259 1000\n"
	       "xmalloc 0 5000 14 357 1000\n"
	       "= 5448 5448 21 259 1000\n");
	expect("live | by func | select allocs,frees,temp,peak,rate",
	       "Cache::put(int) 7 1 0 320 11200/s\n"
	       "main 21 15 1 4920 136200/s\n"
	       "parse(Doc&) 14 14 1 4600 125000/s\n"
	       "xmalloc 14 14 1 4600 125000/s\n"
	       "= 21 15 1 4920 136200/s\n");
	/* Worker has no temporary block, but what it allocated is in the total line. */
	expect("temporary | by thread | select thread,total,allocs",
	       "main #1 100 16\nworker #2 0 5\n= 100 21\n");
	/* Lifetimes of 21 blocks: 10 ms ten times, 20 ms six times, 30 ms five times. */
	expect("allocated | by func | select p50,p99,first,last",
	       "parse(Doc&) 10ms 20ms 10ms 20ms\n"
	       "Cache::put(int) 30ms 30ms 10ms 30ms\n"
	       "main 20ms 30ms 10ms 30ms\n"
	       "xmalloc 10ms 20ms 10ms 20ms\n"
	       "= 20ms 30ms 10ms 30ms\n");
	expect("peak parse | by func | select total,share | percent all",
	       "parse(Doc&) 4600 93.5%\nmain 4600 93.5%\nxmalloc 4600 93.5%\n= 4600 93.5%\n");
	expect("peak parse | by func | select total,share | percent selection",
	       "parse(Doc&) 4600 100.0%\nmain 4600 100.0%\nxmalloc 4600 100.0%\n= 4600 100.0%\n");
}

Test(query_exec, sorts_and_cuts)
{
	expect("peak | by func | sort total | select total",
	       "main 4920\nparse(Doc&) 4600\nxmalloc 4600\n"
	       "Cache::put(int) 320\n= 4920\n");
	expect("peak | by func | sort func | select total",
	       "Cache::put(int) 320\nmain 4920\n"
	       "parse(Doc&) 4600\nxmalloc 4600\n= 4920\n");
	expect("peak | by func | sort count asc, func desc | select count",
	       "Cache::put(int) 5\nxmalloc 10\nparse(Doc&) 10\nmain 15\n= 15\n");
	/* The others together: each block once. */
	expect("peak | by func | top 1 | select self,total",
	       "parse(Doc&) 4600 4600\n(other: 3) ? 320 4920\n= 4920 4920\n");
	expect("peak | by func | top 2 by total | select self,total",
	       "main 0 4920\nparse(Doc&) 4600 4600\n(other: 2) ? 320 4920\n= 4920 4920\n");
	expect("allocated | by size | bottom 2 | select size,total",
	       "64 448\n100 1000\n(other: 1) ? 4000\n= 5448\n");
	expect("allocated | by size | bottom 1 by count | select count",
	       "1000 4\n(other: 2) ? 17\n= 21\n");
	expect("allocated | by size | limit 1 | select total",
	       "1000 4000\n(other: 2) ? 1448\n= 5448\n");
	expect("allocated | by size | min 500B | select total",
	       "1000 4000\n100 1000\n(other: 1) ? 448\n= 5448\n");
	expect("allocated | by size | min 5 | select count",
	       "100 10\n64 7\n(other: 1) ? 4\n= 21\n");
	expect("allocated | by size | min 50% | select total",
	       "1000 4000\n(other: 2) ? 1448\n= 5448\n");
}

Test(query_exec, filters_rows_after_by)
{
	expect("peak | by func | where count > 5 | select count",
	       "parse(Doc&) 10\nmain 15\nxmalloc 10\n= 15\n");
	expect("peak | by func | where func~parse or total < 1K | select total",
	       "parse(Doc&) 4600\nCache::put(int) 320\n= 4920\n");
	expect("peak | by func | where parse | select total", "parse(Doc&) 4600\n= 4920\n");
	expect("peak | by func | where not func=main self = 0 | select total",
	       "xmalloc 4600\n= 4920\n");
	expect("allocated | by size | where size >= 100 | top 1 | select total",
	       "1000 4000\n(other: 1) ? 1000\n= 5448\n");
	/* Naming a column means rows, by function if nothing else is said. */
	expect("peak | where share > 95% | select share", "main 100.0%\n= 100.0%\n");
	expect("allocated | by size | where size >= 100 | sum | select total,count",
	       "5000 14\n= 5000 14\n");
}

/* ---- views ------------------------------------------------------------------------------------------ */

Test(query_exec, shows_trees_from_the_root_and_from_the_leaf)
{
	expect("peak | tree | select self,total", "main 0 4920\n"
						  "  parse(Doc&) 600 4600\n"
						  "    parse(Doc&) 4000 4000\n"
						  "  Cache::put(int) 320 320\n"
						  "= 4920 4920\n");
	expect("peak | tree 2 | select total",
	       "main 4920\n  parse(Doc&) 4600\n  Cache::put(int) 320\n"
	       "= 4920\n");
	expect("peak | callers | select self,total", "parse(Doc&) 4600 4600\n"
						     "  parse(Doc&) 0 4000\n"
						     "    main 0 4000\n"
						     "  main 0 600\n"
						     "Cache::put(int) 320 320\n"
						     "  main 0 320\n"
						     "= 4920 4920\n");
	/* From the outermost frame that fits: who called it from outside. */
	expect("peak | callers parse | select total", "parse(Doc&) 4600\n  main 4600\n= 4600\n");
	expect("peak | callers xmalloc | select total", "xmalloc 4600\n"
							"  parse(Doc&) 4600\n"
							"    parse(Doc&) 4000\n"
							"      main 4000\n"
							"    main 600\n"
							"= 4600\n");
	expect("peak | callees parse | select self,total",
	       "parse(Doc&) 600 4600\n  parse(Doc&) 4000 4000\n= 4600 4600\n");
	expect("peak | by file | tree | select total", "/src/main.c 4920\n"
						       "  /src/parse.c 4600\n"
						       "    /src/parse.c 4000\n"
						       "  /src/cache.c 320\n"
						       "= 4920\n");
	expect("peak | tree | top 1 | select total", "main 4920\n"
						     "  parse(Doc&) 4600\n"
						     "    parse(Doc&) 4000\n"
						     "  (other: 1) ? 320\n"
						     "= 4920\n");
	expect("peak | flame inverted | min 50% | select total", "parse(Doc&) 4600\n"
								 "  parse(Doc&) 4000\n"
								 "    main 4000\n"
								 "  (other: 1) ? 600\n"
								 "(other: 1) ? 320\n"
								 "= 4920\n");
}

Test(query_exec, shows_one_function_with_its_neighbours)
{
	expect("peak | peek parse", "caller main 4600 10 100.0%\n"
				    "frame parse(Doc&) 4600 10 100.0%\n"
				    "callee parse(Doc&) 4000 4 87.0%\n"
				    "= 4600 10 100.0%\n");
	expect("peak | peek main", "frame main 4920 15 100.0%\n"
				   "callee parse(Doc&) 4600 10 93.5%\n"
				   "callee Cache::put(int) 320 5 6.5%\n"
				   "= 4920 15 100.0%\n");
	expect("peak | peek main | sort role desc,total | select role,func,total",
	       "callee parse(Doc&) 4600\ncallee Cache::put(int) 320\nframe main 4920\n= 4920\n");
	expect("peak | peek parse | select role,count", "caller 10\nframe 10\ncallee 4\n= 10\n");
	expect("peak | source parse | select line,self,total", "12 600 4600\n20 4000 4000\n"
							       "= 4600 4600\n");
}

Test(query_exec, lists_stacks)
{
	expect("peak | stacks | select total", " 4000 main>parse(Doc&)>parse(Doc&)\n"
					       " 600 main>parse(Doc&)\n"
					       " 320 main>Cache::put(int)\n"
					       "= 4920\n");
	/* Stages after `by stack` act on stacks, what they cut is one row of the tree. */
	expect("peak | by stack | top 1 | tree | select total", "main 4000\n"
								"  parse(Doc&) 4000\n"
								"    parse(Doc&) 4000\n"
								"(other: 2) ? 920\n"
								"= 4920\n");
	struct query_result *r = run("peak | as folded");
	cr_expect_eq(r->view, VIEW_STACKS);
	query_result_free(r);
}

Test(query_exec, changes_stacks)
{
	expect("peak | hide parse | tree | select self,total",
	       "main 4600 4920\n  Cache::put(int) 320 320\n= 4920 4920\n");
	expect("peak | zoom parse | tree | select total",
	       "parse(Doc&) 4600\n  parse(Doc&) 4000\n= 4600\n");
	expect("peak | trim parse | by func | select self,total",
	       "main 4600 4920\nCache::put(int) 320 320\n= 4920 4920\n");
	expect("peak | collapse recursion | tree | select self,total",
	       "main 0 4920\n  parse(Doc&) 4600 4600\n  Cache::put(int) 320 320\n= 4920 4920\n");
	expect("peak | collapse [func~/parse|xmalloc/] | by func | select self,total",
	       "parse(Doc&) 4600 4600\nCache::put(int) 320 320\nmain 0 4920\n= 4920 4920\n");
	expect("peak | hide [file~src] | by func | select self", "[no stack] 4920\n= 4920\n");
	expect("peak | zoom xmalloc | by func | select self,total",
	       "xmalloc 4600 4600\n= 4600 4600\n");
}

Test(query_exec, shows_time)
{
	expect("live | timeline", "10ms 1320 15\n20ms 4920 15\n30ms 448 7\n40ms 384 6\n= 384 6\n");
	expect("live | timeline 2", "20ms 4920 15\n40ms 384 6\n= 384 6\n");
	expect("allocated | timeline",
	       "10ms 1320 15\n20ms 4000 4\n30ms 128 2\n40ms 0 0\n= 5448 21\n");
	expect("freed parse | timeline",
	       "10ms 0 0\n20ms 400 4\n30ms 4600 10\n40ms 0 0\n= 5000 14\n");
	expect("live lifetime>=10ms | timeline", "10ms 0 0\n20ms 920 11\n30ms 320 5\n40ms 384 6\n"
						 "= 384 6\n");
	expect("growth in 10ms.. | timeline",
	       "20ms 3600 0\n30ms -872 -8\n40ms -936 -9\n= -936 -9\n");
	expect("live | by func | timeline",
	       "10ms parse(Doc&) 1000 10\n10ms Cache::put(int) 320 5\n"
	       "20ms parse(Doc&) 4600 10\n20ms Cache::put(int) 320 5\n"
	       "30ms parse(Doc&) 0 0\n30ms Cache::put(int) 448 7\n"
	       "40ms parse(Doc&) 0 0\n40ms Cache::put(int) 384 6\n= 384 6\n");
	expect("live | by caller.func | timeline 2",
	       "20ms parse(Doc&) 4000 4\n20ms main 920 11\n"
	       "40ms parse(Doc&) 0 0\n40ms main 384 6\n= 384 6\n");
}

Test(query_exec, shows_distributions)
{
	expect("allocated | hist", "64 1448 17 26.6%\n512 4000 4 73.4%\n= 5448 21 100.0%\n");
	expect("allocated | hist lifetime | select count", "10ms 10\n20ms 11\n= 21\n");
	expect("allocated | by class | hist size | select count",
	       "Cache 64 7\nparse 64 10\nparse 512 4\n= 21\n");
}

/* Rows of allocated by func: main 5448, parse 5000, xmalloc 5000, Cache::put 448. */
Test(query_exec, counts_rows_by_a_column)
{
	expect("allocated | by func | hist total", "256 1 448 448 7 8.2%\n4096 3 5000 5448 21 "
						   "100.0%\n= 4 5448 5448 21 100.0%\n");
	expect("allocated | hist count | select rows,total", "4 1 448\n8 2 5000\n16 1 5448\n"
							     "= 4 5448\n");
	expect("allocated | by func | where total < 5K | hist total | select bucket,rows,count",
	       "256 1 7\n4096 2 14\n= 3 21\n");
	expect("allocated | by func | top 1 by total | hist total | select rows,self,total",
	       "4096 1 0 5448\n(other: 3) ? 3 5448 5448\n= 4 5448 5448\n");
	expect("allocated | by thread | hist p50 | select rows,p50,total",
	       "10ms 1 10ms 5128\n20ms 1 30ms 320\n= 2 20ms 5448\n");
	expect("diff live at 20ms, live at 40ms | by func | hist delta | select rows,self,delta",
	       "-4096 3 -4600 -4536\n64 1 64 64\n= 4 -4536 -4536\n");
	expect("allocated func=Cache::put | hist temp | select rows,total", "0 2 448\n= 2 448\n");
	expect("freed in 0ms..0ms | hist total | select rows", "= 0\n");
	struct query_result *r = run("allocated | hist total | assert rows = 4");
	cr_expect(r->has_assertion && r->assertion_holds);
	cr_expect_eq(r->view, VIEW_HIST);
	query_result_free(r);
	r = run("allocated | hist total | assert rows < 4");
	cr_expect_not(r->assertion_holds);
	query_result_free(r);
}

/* ---- differences ---------------------------------------------------------------------------------- */

Test(query_exec, subtracts_two_instants)
{
	expect("growth in 10ms..20ms | by func", "parse(Doc&) 3600 1000 4600 3600 0\n"
						 "main 0 1320 4920 3600 0\n"
						 "xmalloc 0 1000 4600 3600 0\n"
						 "= 3600 1320 4920 3600 0\n");
	expect("diff live at 20ms, live at 40ms | by func | select self,delta",
	       "Cache::put(int) 64 64\nmain 0 -4536\nxmalloc 0 -4600\nparse(Doc&) -4600 -4600\n"
	       "= -4536 -4536\n");
	expect("diff live at 20ms, live at 40ms | tree | select delta", "main -4536\n"
									"  Cache::put(int) 64\n"
									"  parse(Doc&) -4600\n"
									"    parse(Doc&) -4000\n"
									"= -4536\n");
}

Test(query_exec, subtracts_two_files_by_names)
{
	query_session_free(session);
	open_session(false, 2);
	expect("diff peak | by func", "parse(Doc&) 4000 4600 8600 4000 0\n"
				      "main 0 4920 8920 4000 0\n"
				      "xmalloc 0 4600 8600 4000 0\n"
				      "= 4000 4920 8920 4000 0\n");
	expect("diff peak | stacks | select a,b", "main;parse(Doc&);parse(Doc&) 4000 8000\n"
						  "(other: 2) ? 920 920\n"
						  "= 4920 8920\n");
	char text[600];
	snprintf(text, sizeof text, "diff peak of \"%s\", peak of \"%s\" | sum", paths[1],
		 paths[0]);
	expect(text, "8920 4920 -4000 0\n= 8920 4920 -4000 0\n");
	snprintf(text, sizeof text, "peak of \"%s\" | sum", paths[1]);
	expect(text, "8920 15 594\n= 8920 15 594\n");
}

/* ---- the rest ---------------------------------------------------------------------------------------- */

Test(query_exec, holds_assertions_against_the_total_line)
{
	struct query_result *r = run("peak | assert total < 5K and count <= 15");
	cr_expect(r->has_assertion && r->assertion_holds);
	query_result_free(r);
	r = run("peak | assert total < 4K \"too much\"");
	cr_expect(r->has_assertion && !r->assertion_holds);
	cr_expect_str_eq(r->assertion_text, "too much");
	query_result_free(r);
	r = run("peak | assert count < 100 | assert avg < 1 | assert count < 0");
	cr_expect_not(r->assertion_holds);
	cr_expect_str_eq(r->assertion_text, "avg < 1");
	query_result_free(r);
	r = run("peak | sum");
	cr_expect_not(r->has_assertion);
	query_result_free(r);
}

Test(query_exec, refines_the_query_before_it)
{
	expect("peak parse | by func\n| sum", "4600 10 460\n= 4600 10 460\n");
}

Test(query_exec, notes_names_that_match_nothing_and_offers_near_ones)
{
	expect_note("peak func=prase | sum", "no func is 'prase'; did you mean 'parse'?");
	expect_note("peak func=put | sum", "did you mean 'Cache::put'?");
	expect_note("peak cahce | sum", "no func has 'cahce' in its name");
	expect_note("peak file=cash.c | sum", "did you mean 'cache.c'?");
	expect_note("peak thread=wroker | sum", "did you mean 'worker'?");
	expect_note("peak api=mallok | sum", "did you mean 'malloc'?");
	expect_note("peak | hide prase | sum", "no func has 'prase'");
	expect_note("peak type=Foo | sum", "knows no types");
	expect_note("peak func!=parse | sum", "holds if any frame differs");
	expect_note("live at 1h | sum", "the run has no instant");
	expect_no_note("peak func=parse thread=worker api=malloc file=cache.c main | sum");
	query_session_free(session);
	open_session(true, 1);
	expect_error("peak func=prase | sum", "prase", "no func is 'prase'", "'parse'");
	expect_error("peak cahce | sum", "cahce", "no func has 'cahce'", "");
}

Test(query_exec, says_what_is_wrong_and_where)
{
	expect_error("live at @cold | sum", "@cold", "no mark 'cold'", "");
	expect_error("live at @wam | sum", "@wam", "no mark 'wam'", "'@warm'");
	expect_error("live at cursor | sum", "cursor", "cursor", "");
	expect_error("allocated in 30ms..10ms | sum", "30ms..10ms", "ends before", "");
	expect_error("diff peak | by func", "diff peak | by func", "two profiles", "");
	expect_error("peak | by func | sort size", "size", "neither a column nor a key", "by size");
	expect_error("peak | by func | select delta", "delta", "needs diff or growth", "growth");
	expect_error("peak | by func | top 3 | by file", "by file", "after a stage", "before");
	expect_error("peak func~/[z-a]/ | sum", "a", "range out of order", "");
	expect_error("live | timeline | select p50", "timeline", "no column 'p50'", "");
	expect_error("peak | hist total | top 3", "top 3", "after their histogram",
		     "before 'hist'");
	expect_error("peak | hist share", "share", "'share' has no buckets", "hist total");
	expect_error("peak | hist delta", "delta", "needs diff or growth", "growth");
	expect_error("peak | by func | select rows", "rows", "needs hist of a column",
		     "hist total");
	expect_error("peak | by func | sort rows | hist total", "rows", "counts rows in buckets",
		     "");
	expect_error("peak | where rows > 1 | hist total", "rows", "counts rows in buckets", "");
	expect_error("peak | hist total | select func", "func", "have no 'func'", "'bucket'");
	expect_error("peak | by func | select bucket", "bucket", "neither a column nor a key", "");
	expect_error("peak | hist func", "func", "a number of each allocation", "");
	expect_error("peak | by func | as folded", "as folded", "whole stacks only", "");
	expect_error("leaked of /nowhere/x.neap | sum", "/nowhere/x.neap", "/nowhere/x.neap", "");
	expect_error("| by func", "| by func", "no view to refine", "population");
}

Test(query_exec, gives_up_on_a_regular_expression_that_works_too_hard)
{
	char path[300];
	snprintf(path, sizeof path, "%s.long", paths[0]);
	struct build *b = build_new(path, NULL);
	char name[2000];
	memset(name, 'a', sizeof name - 1);
	name[sizeof name - 2] = '!';
	name[sizeof name - 1] = 0;
	node_id n = build_call(b, PROFILE_NODE_ROOT, name, "", 0);
	build_snapshot(b, BUILD_MS);
	build_alloc(b, n, 1, 1, 1);
	build_end_snapshot(b);
	build_close(b);
	query_session_free(session);
	open_session(false, 0);
	struct err e = {0};
	cr_assert_eq(query_session_open(session, path, &e), NEAP_OK);
	unlink(path);
	expect_error("live func~/^(\\w+\\s?)*$/ | sum", "/^(\\w+\\s?)*$/", "too many steps", "");
}

Test(query_exec, explains_what_each_step_leaves)
{
	struct buf out = {0};
	struct query_error error;
	struct ast_script *script = parse("peak parse size>100 | by func | sort total | top 1");
	cr_assert_eq(query_explain(session, script, 0, &out, &error), NEAP_OK, "%s", error.text);
	cr_expect(strstr(out.data, "\npopulation peak at 20.0 ms (the highest snapshot)\t"
				   "3 cohorts\t4920 bytes\n"),
		  "%s", out.data);
	cr_expect(strstr(out.data, "where size>100\t1 cohorts\t4000 bytes\n"), "%s", out.data);
	cr_expect(strstr(out.data, "rows by func\t3 rows\t4000 bytes\n"), "%s", out.data);
	cr_expect(strstr(out.data, "top 1\t1 rows\t"), "%s", out.data);
	buf_release(&out);
	query_script_free(script);
}

static bool always(void *arg)
{
	(void)arg;
	return true;
}

Test(query_exec, stops_when_told)
{
	const struct query_options options = {.is_cancelled = always, .cursor_ns = UINT64_MAX};
	struct err e = {0};
	query_session_free(session);
	cr_assert_eq(query_session_new(&options, &session, &e), NEAP_OK);
	cr_assert_eq(query_session_open(session, paths[0], &e), NEAP_OK);
	expect_error("peak | by func", "", "cancelled", "");
}

/* ---- running out of memory ---------------------------------------------------------------------------- */

static const char *const many[] = {
	"peak parse | by func | top 1",
	"allocated size>50 lifetime>=10ms func~/a/ | by func,line,thread | select "
	"self,p50,max,peak",
	"live path main >> * > xmalloc$ | tree 3",
	"freed | by stack | top 1 | tree",
	"allocated | callers xmalloc | min 1% | select self,first,p99",
	"growth in 10ms..20ms | by class | where class~x or total > 3 | sort total",
	"peak | hide main | collapse recursion | zoom parse | trim xmalloc | flame inverted",
	"peak | peek parse",
	"live lifetime>1ms | timeline 3",
	"live | timeline",
	"live | by func | top 1 | timeline",
	"live lifetime>1ms | by caller.func,stack | timeline 3",
	"diff live at 20ms, live at 40ms | by caller.func | timeline | select a,b",
	"allocated caller.func~parse | by root.func,leaf.line:10",
	"allocated | by api | hist size",
	"diff live at 20ms, live at 40ms | by module,addr",
	"peak func=prase thread=wroker | sum",
	"peak | source parse",
	"live | source parse | select self,max,first,last | top 1",
	"allocated | by stack,thread,time:10ms | bottom 2 by count",
	"peak | stacks | assert total < 1 \"no\"",
	"live at @warm any[func~parse not line=3] | by line",
	"allocated | by func,line | select self,p50,p99,first,last,max | sort p99",
	"live | by stack | sort count | tree",
	"allocated | by func | where p50 > 0ns | min 0.1%",
};

/* ---- stopping ------------------------------------------------------------------------------------------ */

struct stop {
	unsigned polls, at; /* the poll that says yes; 0: none */
};

static bool is_time_to_stop(void *arg)
{
	struct stop *s = arg;
	return ++s->polls == s->at;
}

static enum neap_err run_until(const char *text, struct stop *stop, struct query_error *error)
{
	const struct query_options options = {.is_cancelled = is_time_to_stop,
					      .arg = stop,
					      .is_as_if_large = true,
					      .cursor_ns = UINT64_MAX};
	struct query_session *s;
	struct query_result *r = NULL;
	struct ast_script *script;
	struct err e = {0};
	stop->polls = 0;
	cr_assert_eq(query_session_new(&options, &s, &e), NEAP_OK);
	cr_assert_eq(query_session_open(s, paths[0], &e), NEAP_OK, "%s", e.text);
	cr_assert_eq(query_parse(text, strlen(text), &script, error), NEAP_OK);
	enum neap_err code = query_run(s, script, 0, &r, error);
	cr_assert(!code || !r);
	query_result_free(r);
	query_script_free(script);
	query_session_free(s);
	return code;
}

/* Wherever a query looks whether it is to stop, it stops there, and says that it was cancelled. */
Test(query_exec, stops_wherever_it_asks)
{
	for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
		struct query_error error;
		struct stop stop = {.at = 0};
		cr_assert_eq(run_until(many[i], &stop, &error), NEAP_OK, "%s", error.text);
		unsigned polls = stop.polls;
		cr_assert_gt(polls, 0, "%s", many[i]);
		for (unsigned at = 1; at <= polls; at++) {
			stop.at = at;
			cr_assert_eq(run_until(many[i], &stop, &error), ERR_LIMIT, "%s at %u",
				     many[i], at);
			cr_assert_str_eq(error.text, "cancelled");
		}
	}
}

/* From an empty session, so that what it keeps is made again. */
static enum neap_err run_once(const char *text, bool is_as_if_large, uint64_t fail_at)
{
	const struct query_options options = {.is_as_if_large = is_as_if_large,
					      .cursor_ns = UINT64_MAX};
	struct query_session *s = NULL;
	struct query_result *r = NULL;
	struct query_error error;
	struct err e = {0};
	struct ast_script *script = parse(text);
	mem_fail_at(fail_at);
	enum neap_err code = query_session_new(&options, &s, &e);
	if (!code)
		code = query_session_open(s, paths[0], &e);
	if (!code)
		code = query_run(s, script, 0, &r, &error);
	mem_fail_at(0);
	cr_assert_eq(code != NEAP_OK, r == NULL);
	query_result_free(r);
	query_session_free(s);
	query_script_free(script);
	return code;
}

static void run_out_of_memory(const char *text, bool is_as_if_large)
{
	enum neap_err code = ERR_NOMEM;
	uint64_t n;
	for (n = 1; code && n < 3000; n++) {
		code = run_once(text, is_as_if_large, n);
		cr_assert(!code || code == ERR_NOMEM, "%s: %d at %ju", text, (int)code,
			  (uintmax_t)n);
	}
	cr_assert_eq(code, NEAP_OK, "%s", text);
	cr_assert_gt(n, 50);
}

Test(query_exec, survives_running_out_of_memory_anywhere)
{
	for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
		run_out_of_memory(many[i], false);
		run_out_of_memory(many[i], true);
	}
}
