/* Renderers of query results, on results made by hand. */
#include "config.h"

#include "src/report/out.h"

#include "src/base/mem.h"
#include "tests/unit/build_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY(w, t)                                        \
	{                                                \
		.word = (w), .type = (t), .is_key = true \
	}
#define COL(w, t)                        \
	{                                \
		.word = (w), .type = (t) \
	}
#define TEXT(s)             \
	{                   \
		.text = (s) \
	}
#define NUM(v)                              \
	{                                   \
		.value = (v), .number = (v) \
	}
#define REAL(v)               \
	{                     \
		.number = (v) \
	}
#define UNKNOWN                    \
	{                          \
		.is_unknown = true \
	}
#define COUNT_OF(a) (sizeof(a) / sizeof(a)[0])
#define ROOT_ROW                     \
	{                            \
		.parent = UINT32_MAX \
	}
#define OTHER_ROW(n)                                                  \
	{                                                             \
		.kind = ROW_OTHER, .parent = UINT32_MAX, .count = (n) \
	}

static struct out_options plain = {.width_cols = 80};

static char *render_as(struct query_result *r, enum ast_format format, const struct out_options *o)
{
	struct buf out = {0};
	struct err e = {0};
	r->format = format;
	cr_assert_eq(out_write(r, o, &out, &e), NEAP_OK, "%s", e.text);
	return out.count_bytes ? out.data : mem_strdup("");
}

static void assert_renders_with(struct query_result *r, enum ast_format format,
				const struct out_options *o, const char *expected)
{
	char *got = render_as(r, format, o);
	cr_assert_str_eq(got, expected, "got:\n%s\nexpected:\n%s", got, expected);
	mem_free(got);
}

static void assert_renders(struct query_result *r, enum ast_format format, const char *expected)
{
	assert_renders_with(r, format, &plain, expected);
}

/* ---- a table by function ---------------------------------------------------------------- */

static struct result_column func_columns[] = {
	KEY("func", RESULT_TEXT),   COL("self", RESULT_BYTES),
	COL("total", RESULT_BYTES), COL("count", RESULT_COUNT),
	COL("share", RESULT_RATIO), {.word = "p99", .type = RESULT_NS, .is_hidden = true},
};
static struct result_cell func_cells[] = {
	TEXT("parse(char const*, int)"),
	NUM(3072),
	NUM(1234567),
	NUM(1200),
	REAL(0.75),
	NUM(5),
	TEXT("a;b\tc\n\033[2J\xff\"x\\y,z|`"),
	NUM(0),
	NUM(1),
	NUM(1),
	REAL(1.0 / 3),
	UNKNOWN,
	UNKNOWN,
	NUM(10),
	NUM(20),
	NUM(3),
	UNKNOWN,
	UNKNOWN,
};
static struct result_cell func_totals[] = {UNKNOWN,   NUM(3082), NUM(1234588),
					   NUM(1204), REAL(1),   UNKNOWN};
static struct result_row func_rows[] = {ROOT_ROW, ROOT_ROW, OTHER_ROW(12)};

static struct query_result func_table(void)
{
	return (struct query_result){
		.view = VIEW_TABLE,
		.canonical = "live | by func",
		.population = "live at 2.00 s (snapshot 9 of 9)",
		.columns = func_columns,
		.column_count = COUNT_OF(func_columns),
		.rows = func_rows,
		.cells = func_cells,
		.row_count = COUNT_OF(func_rows),
		.totals = func_totals,
	};
}

Test(report_out, a_table_has_units_separators_and_a_total)
{
	struct query_result r = func_table();
	assert_renders(&r, FORMAT_TABLE,
		       "live at 2.00 s (snapshot 9 of 9)\n"
		       "     self    total  count    share  func\n"
		       "  3.0 KiB  1.2 MiB  1,200   75.0 %  parse\n"
		       "      0 B      1 B      1   33.3 %  a;b?c??[2J?\"x\\y,z|`\n"
		       "     10 B     20 B      3        -  (other: 12 rows)\n"
		       "  3.0 KiB  1.2 MiB  1,204  100.0 %  total, 14 rows\n");
}

Test(report_out, no_line_of_a_table_is_wider_than_the_terminal)
{
	struct query_result r = func_table();
	struct result_cell cells[COUNT_OF(func_cells)];
	char name[400];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	memcpy(cells, func_cells, sizeof cells);
	cells[0].text = name;
	r.cells = cells;
	for (size_t width = 60; width < 200; width += 7) {
		struct out_options o = {.width_cols = width};
		char *got = render_as(&r, FORMAT_TABLE, &o);
		size_t widest = 0;
		for (const char *p = got; *p;) {
			size_t bytes = strcspn(p, "\n");
			widest = bytes > widest ? bytes : widest;
			p += bytes + (p[bytes] == '\n');
		}
		cr_assert_eq(widest, width, "%zu columns for %zu:\n%s", widest, width, got);
		mem_free(got);
	}
}

Test(report_out, colours_only_if_asked)
{
	struct query_result r = func_table();
	struct out_options o = {.width_cols = 80, .has_colour = true, .is_utf8 = true};
	char *got = render_as(&r, FORMAT_TABLE, &o);
	cr_assert_not_null(strstr(got, "\033[1m"));
	cr_assert_null(strstr(got, "\033[2J"));
	mem_free(got);
	got = render_as(&r, FORMAT_TSV, &o);
	cr_assert_null(strchr(got, '\033'));
	mem_free(got);
}

Test(report_out, tsv_has_raw_numbers_and_escapes)
{
	struct query_result r = func_table();
	assert_renders(&r, FORMAT_TSV,
		       "func\tself\ttotal\tcount\tshare\n"
		       "parse(char const*, int)\t3072\t1234567\t1200\t0.75\n"
		       "a;b\\tc\\n\xef\xbf\xbd[2J\xef\xbf\xbd\"x\\\\y,z|`\t0\t1\t1\t"
		       "0.3333333333333333\n"
		       "(other: 12 rows)\t10\t20\t3\t\n");
}

Test(report_out, csv_is_rfc_4180)
{
	struct query_result r = func_table();
	assert_renders(&r, FORMAT_CSV,
		       "func,self,total,count,share\r\n"
		       "\"parse(char const*, int)\",3072,1234567,1200,0.75\r\n"
		       "\"a;b\xef\xbf\xbd"
		       "c\n\xef\xbf\xbd[2J\xef\xbf\xbd\"\"x\\y,z|`\",0,1,1,0.3333333333333333\r\n"
		       "(other: 12 rows),10,20,3,\r\n");
}

Test(report_out, jsonl_has_an_object_a_row)
{
	struct query_result r = func_table();
	assert_renders(
		&r, FORMAT_JSONL,
		"{\"func\": \"parse(char const*, int)\", \"self\": 3072, \"total\": 1234567, "
		"\"count\": 1200, \"share\": 0.75}\n"
		"{\"func\": \"a;b\\u0009c\\n\\u001b[2J\xef\xbf\xbd\\\"x\\\\y,z|`\", "
		"\"self\": 0, \"total\": 1, \"count\": 1, \"share\": 0.3333333333333333}\n"
		"{\"other_rows\": 12, \"self\": 10, \"total\": 20, \"count\": 3, "
		"\"share\": null}\n");
}

Test(report_out, json_is_one_document)
{
	struct query_result r = func_table();
	const char *notes[] = {"nothing is called \"x\""};
	const char *files[] = {"a.neap", "b.neap"};
	struct out_options o = {.width_cols = 80, .files = files, .file_count = 2};
	r.row_count = 1;
	r.notes = notes;
	r.note_count = 1;
	r.has_assertion = true;
	r.assertion_text = "too much";
	assert_renders_with(
		&r, FORMAT_JSON, &o,
		"{\"tool\": \"neap\", \"version\": \"" PACKAGE_VERSION "\",\n"
		" \"file\": \"a.neap\", \"files\": [\"a.neap\", \"b.neap\"],\n"
		" \"query\": \"live | by func\",\n"
		" \"population\": \"live at 2.00 s (snapshot 9 of 9)\", \"view\": \"table\",\n"
		" \"columns\": [{\"name\": \"func\", \"type\": \"text\", \"is_key\": true}, "
		"{\"name\": \"self\", \"type\": \"number\", \"is_key\": false}, "
		"{\"name\": \"total\", \"type\": \"number\", \"is_key\": false}, "
		"{\"name\": \"count\", \"type\": \"number\", \"is_key\": false}, "
		"{\"name\": \"share\", \"type\": \"number\", \"is_key\": false}],\n"
		" \"units\": {\"self\": \"bytes\", \"total\": \"bytes\", \"count\": \"count\", "
		"\"share\": \"ratio\"},\n"
		" \"rows\": [\n"
		"  {\"func\": \"parse(char const*, int)\", \"self\": 3072, \"total\": 1234567, "
		"\"count\": 1200, \"share\": 0.75}\n"
		" ],\n"
		" \"totals\": {\"self\": 3082, \"total\": 1234588, \"count\": 1204, "
		"\"share\": 1},\n"
		" \"notes\": [\"nothing is called \\\"x\\\"\"],\n"
		" \"assertion\": {\"text\": \"too much\", \"holds\": false}}\n");
}

Test(report_out, markdown_is_a_table_that_names_cannot_break)
{
	struct query_result r = func_table();
	assert_renders(
		&r, FORMAT_MARKDOWN,
		"live at 2.00 s (snapshot 9 of 9): `live \\| by func`\n"
		"\n"
		"| func | self | total | count | share |\n"
		"|:--|--:|--:|--:|--:|\n"
		"| `parse(char const*, int)` | 3.0 KiB | 1.2 MiB | 1,200 | 75.0 % |\n"
		"| `a;b c \xef\xbf\xbd[2J\xef\xbf\xbd\"x\\y,z\\|'` | 0 B | 1 B | 1 | 33.3 % |\n"
		"| (other: 12 rows) | 10 B | 20 B | 3 | - |\n"
		"| **total** | **3.0 KiB** | **1.2 MiB** | **1,204** | **100.0 %** |\n");
}

Test(report_out, nothing_found_is_said)
{
	struct query_result r = func_table();
	r.row_count = 0;
	assert_renders(&r, FORMAT_TABLE, "live at 2.00 s (snapshot 9 of 9)\n  nothing matches\n");
	assert_renders(&r, FORMAT_TSV, "func\tself\ttotal\tcount\tshare\n");
	assert_renders(&r, FORMAT_JSONL, "");
}

Test(report_out, real_numbers_read_back_exactly)
{
	static const double numbers[] = {0.1, 1.0 / 3, 1e-300, 123456789.125, -2.0 / 7, 1e22};
	struct result_column columns[] = {COL("share", RESULT_RATIO)};
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		struct result_cell cells[] = {REAL(numbers[i])};
		struct result_row rows[] = {ROOT_ROW};
		struct query_result r = {.columns = columns,
					 .column_count = 1,
					 .rows = rows,
					 .cells = cells,
					 .row_count = 1,
					 .totals = cells};
		char *got = render_as(&r, FORMAT_TSV, &plain);
		cr_assert_eq(strtod(got + strlen("share\n"), NULL), numbers[i], "%s", got);
		mem_free(got);
	}
}

Test(report_out, differences_have_signs)
{
	struct result_column columns[] = {KEY("func", RESULT_TEXT), COL("a", RESULT_BYTES),
					  COL("b", RESULT_BYTES), COL("delta", RESULT_BYTES),
					  COL("count", RESULT_COUNT)};
	struct result_cell cells[] = {TEXT("f"), NUM(10),   NUM(2058), NUM(2048),  NUM(7),
				      TEXT("g"), NUM(5000), NUM(0),    NUM(-5000), NUM(-1)};
	struct result_cell totals[] = {UNKNOWN, NUM(5010), NUM(2058), NUM(-2952), NUM(6)};
	struct result_row rows[] = {ROOT_ROW, ROOT_ROW};
	struct query_result r = {.is_signed = true,
				 .columns = columns,
				 .column_count = COUNT_OF(columns),
				 .rows = rows,
				 .cells = cells,
				 .row_count = 2,
				 .totals = totals};
	assert_renders(&r, FORMAT_TABLE,
		       "        a        b     delta  count  func\n"
		       "     10 B  2.0 KiB  +2.0 KiB     +7  f\n"
		       "  4.9 KiB      0 B  -4.9 KiB     -1  g\n"
		       "  4.9 KiB  2.0 KiB  -2.9 KiB     +6  total, 2 rows\n");
	assert_renders(&r, FORMAT_TSV,
		       "func\ta\tb\tdelta\tcount\n"
		       "f\t10\t2058\t2048\t7\n"
		       "g\t5000\t0\t-5000\t-1\n");
}

Test(report_out, without_texts_columns_keep_their_order)
{
	struct result_column columns[] = {KEY("time", RESULT_NS), COL("total", RESULT_BYTES),
					  COL("count", RESULT_COUNT)};
	struct result_cell cells[] = {NUM(0), NUM(100), NUM(2), NUM(100000000), NUM(3),
				      NUM(1), UNKNOWN,  NUM(9), NUM(1)};
	struct result_cell totals[] = {UNKNOWN, NUM(112), NUM(4)};
	struct result_row rows[] = {ROOT_ROW, ROOT_ROW, OTHER_ROW(1)};
	struct query_result r = {.columns = columns,
				 .column_count = 3,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 3,
				 .totals = totals};
	assert_renders(&r, FORMAT_TABLE,
		       "    time  total  count\n"
		       "     0 s  100 B      2\n"
		       "  0.10 s    3 B      1\n"
		       "            9 B      1  (other: 1 row)\n"
		       "          112 B      4  total, 3 rows\n");
}

/* ---- trees ---------------------------------------------------------------------------------- */

#define CHILD(d, p)                         \
	{                                   \
		.depth = (d), .parent = (p) \
	}

static struct result_column tree_columns[] = {KEY("func", RESULT_TEXT), COL("total", RESULT_BYTES)};
static struct result_cell tree_cells[] = {
	TEXT("main"), NUM(100),       TEXT("serve"),  NUM(90),     TEXT("answer"),
	NUM(90),      TEXT("render"), NUM(60),        TEXT("log"), NUM(20),
	UNKNOWN,      NUM(10),        TEXT("report"), NUM(10),
};
static struct result_row tree_rows[] = {
	ROOT_ROW,    CHILD(1, 0), CHILD(2, 1),
	CHILD(3, 2), CHILD(3, 2), {.kind = ROW_OTHER, .depth = 3, .parent = 2, .count = 4},
	CHILD(1, 0),
};
static struct result_cell tree_totals[] = {UNKNOWN, NUM(100)};

static struct query_result tree(enum ast_view view)
{
	return (struct query_result){
		.view = view,
		.columns = tree_columns,
		.column_count = 2,
		.rows = tree_rows,
		.cells = tree_cells,
		.row_count = COUNT_OF(tree_rows),
		.totals = tree_totals,
	};
}

Test(report_out, only_forks_of_a_tree_cost_width)
{
	struct query_result r = tree(VIEW_TREE);
	struct out_options utf8 = {.width_cols = 80, .is_utf8 = true};
	assert_renders(&r, FORMAT_TABLE,
		       "  total  func\n"
		       "  100 B  main\n"
		       "   90 B  |- serve\n"
		       "   90 B  |  answer\n"
		       "   60 B  |  |- render\n"
		       "   20 B  |  |- log\n"
		       "   10 B  |  `- (other: 4 rows)\n"
		       "   10 B  `- report\n"
		       "  100 B  total\n");
	assert_renders_with(&r, FORMAT_TABLE, &utf8,
			    "  total  func\n"
			    "  100 B  main\n"
			    "   90 B  \u251c\u2500 serve\n"
			    "   90 B  \u2502  answer\n"
			    "   60 B  \u2502  \u251c\u2500 render\n"
			    "   20 B  \u2502  \u251c\u2500 log\n"
			    "   10 B  \u2502  \u2514\u2500 (other: 4 rows)\n"
			    "   10 B  \u2514\u2500 report\n"
			    "  100 B  total\n");
}

Test(report_out, rows_of_trees_have_depth_and_parent)
{
	struct query_result r = tree(VIEW_CALLERS);
	r.row_count = 3;
	assert_renders(&r, FORMAT_TSV,
		       "depth\tfunc\ttotal\n0\tmain\t100\n1\tserve\t90\n2\tanswer\t90\n");
	assert_renders(&r, FORMAT_JSONL,
		       "{\"depth\": 0, \"parent\": null, \"func\": \"main\", \"total\": 100}\n"
		       "{\"depth\": 1, \"parent\": 0, \"func\": \"serve\", \"total\": 90}\n"
		       "{\"depth\": 2, \"parent\": 1, \"func\": \"answer\", \"total\": 90}\n");
}

/* A fork at every level: what no terminal is wide enough for. */
Test(report_out, deep_trees_stay_within_the_width)
{
	enum {
		LEVELS = 5000
	};
	struct result_row *rows = mem_zarray(2 * LEVELS, sizeof *rows);
	struct result_cell *cells = mem_zarray(4 * LEVELS, sizeof *cells);
	for (uint32_t i = 0; i < LEVELS; i++) {
		rows[i] = (struct result_row){.depth = i, .parent = i ? i - 1 : UINT32_MAX};
		uint32_t at = 2 * LEVELS - 1 - i;
		rows[at] = (struct result_row){.depth = i, .parent = i ? i - 1 : UINT32_MAX};
		cells[2 * i] = cells[2 * at] = (struct result_cell){.text = "function"};
		cells[2 * i + 1] = cells[2 * at + 1] = (struct result_cell){.value = 1};
	}
	struct query_result r = tree(VIEW_TREE);
	r.rows = rows;
	r.cells = cells;
	r.row_count = 2 * LEVELS;
	char *got = render_as(&r, FORMAT_TABLE, &plain);
	size_t lines = 0;
	for (const char *p = got; *p; lines++) {
		size_t bytes = strcspn(p, "\n");
		cr_assert_leq(bytes, 80, "%.*s", (int)bytes, p);
		p += bytes + 1;
	}
	cr_assert_eq(lines, 2 * LEVELS + 2);
	mem_free(got);
	mem_free(rows);
	mem_free(cells);
}

Test(report_out, a_flame_graph_gives_each_row_its_share_of_the_width)
{
	struct query_result r = tree(VIEW_FLAME);
	struct out_options o = {.width_cols = 61};
	assert_renders_with(&r, FORMAT_TABLE, &o,
			    "|main 100 B                                                 |\n"
			    "|serve 90 B                                           |...rt|\n"
			    "|answer 90 B                                          |\n"
			    "|render 60 B                        |log 20 B   |...s)|\n");
}

Test(report_out, peek_tells_callers_from_callees)
{
	struct result_column columns[] = {KEY("role", RESULT_TEXT), KEY("func", RESULT_TEXT),
					  COL("total", RESULT_BYTES)};
	struct result_cell cells[] = {TEXT("frame"), TEXT("f"), NUM(9),         TEXT("callee"),
				      TEXT("c"),     NUM(8),    TEXT("caller"), TEXT("m"),
				      NUM(9),        UNKNOWN,   UNKNOWN,        NUM(1)};
	struct result_cell totals[] = {UNKNOWN, UNKNOWN, NUM(9)};
	struct result_row rows[] = {ROOT_ROW, ROOT_ROW, ROOT_ROW, OTHER_ROW(2)};
	struct query_result r = {.view = VIEW_PEEK,
				 .columns = columns,
				 .column_count = 3,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 4,
				 .totals = totals};
	assert_renders(&r, FORMAT_TABLE,
		       "  total  func\n"
		       "called by\n"
		       "    9 B    m\n"
		       "the function\n"
		       "    9 B  f\n"
		       "calls\n"
		       "    8 B    c\n"
		       "    1 B    (other: 2 rows)\n"
		       "    9 B  total\n");
	assert_renders(&r, FORMAT_TSV,
		       "role\tfunc\ttotal\nframe\tf\t9\ncallee\tc\t8\ncaller\tm\t9\n"
		       "(other: 2 rows)\t\t1\n");
}

/* ---- stacks ------------------------------------------------------------------------------------ */

struct fixture {
	struct profile *p;
	struct graph *g;
	entry_id frames[3];
	struct result_row rows[2];
};

static struct result_column stack_columns[] = {KEY("stack", RESULT_TEXT),
					       COL("total", RESULT_BYTES)};
static struct result_cell stack_cells[] = {UNKNOWN, NUM(4096), UNKNOWN, NUM(7)};
static struct result_cell stack_totals[] = {UNKNOWN, NUM(4103)};

static struct query_result stacks(struct fixture *f)
{
	struct build *b = build_new(NULL, NULL);
	node_id at = build_call(b, PROFILE_NODE_ROOT, "main", "/home/user/demo/src/main.c", 7);
	at = build_call(b, at, "odd;\nname", "/home/user/demo/src/odd.c", 8);
	at = build_call(b, at, "leaf(int)", "/home/user/demo/src/leaf.c", 9);
	build_snapshot(b, 10 * BUILD_MS);
	build_alloc(b, at, 4096, 1, 1);
	build_end_snapshot(b);
	f->p = build_read(b);
	struct err e = {0};
	cr_assert_eq(graph_build(f->p, &(struct graph_options){0}, &f->g, &e), NEAP_OK, "%s",
		     e.text);
	struct graph_walk w = graph_walk_init(f->g, f->p->node_count - 1);
	size_t count = 3;
	for (entry_id entry; (entry = graph_walk_next(&w)) != ENTRY_NONE && count;)
		f->frames[--count] = entry;
	cr_assert_eq(count, 0);
	f->rows[0] =
		(struct result_row){.parent = UINT32_MAX, .frames = f->frames, .frame_count = 3};
	f->rows[1] = (struct result_row){.kind = ROW_OTHER, .parent = UINT32_MAX, .count = 2};
	return (struct query_result){.view = VIEW_STACKS,
				     .columns = stack_columns,
				     .column_count = 2,
				     .rows = f->rows,
				     .cells = stack_cells,
				     .row_count = 2,
				     .totals = stack_totals,
				     .graph = f->g};
}

static void fixture_release(struct fixture *f)
{
	graph_free(f->g);
	profile_free(f->p);
}

Test(report_out, stacks_list_their_frames_from_the_leaf)
{
	struct fixture f;
	struct query_result r = stacks(&f);
	assert_renders(&r, FORMAT_TABLE,
		       "    total  stack\n"
		       "  4.0 KiB  leaf  src/leaf.c:9\n"
		       "           odd;?name  src/odd.c:8\n"
		       "           main  src/main.c:7\n"
		       "\n"
		       "      7 B  (other: 2 rows)\n"
		       "\n"
		       "  4.0 KiB  total, 3 rows\n");
	r.view = VIEW_TABLE;
	assert_renders(&r, FORMAT_TABLE,
		       "    total  stack\n"
		       "  4.0 KiB  leaf < odd;?name < main\n"
		       "      7 B  (other: 2 rows)\n"
		       "  4.0 KiB  total, 3 rows\n");
	fixture_release(&f);
}

Test(report_out, folded_stacks_begin_at_the_root)
{
	struct fixture f;
	struct query_result r = stacks(&f);
	assert_renders(&r, FORMAT_FOLDED,
		       "main;odd: name;leaf(int) 4096\n"
		       "(other rows) 7\n");
	assert_renders(&r, FORMAT_TSV,
		       "stack\ttotal\nmain;odd:\\nname;leaf(int)\t4096\n(other: 2 rows)\t7\n");
	fixture_release(&f);
}

Test(report_out, json_has_the_frames_of_stacks)
{
	struct fixture f;
	struct query_result r = stacks(&f);
	r.row_count = 1;
	char *got = render_as(&r, FORMAT_JSONL, &plain);
	cr_assert_not_null(strstr(got,
				  "{\"stack\": [{\"func\": \"main\", \"file\": "
				  "\"/home/user/demo/src/main.c\", \"line\": 7, \"module\": "));
	cr_assert_not_null(strstr(got, "{\"func\": \"odd;\\nname\""));
	cr_assert_not_null(
		strstr(got, "\"is_inlined\": false, \"is_tail\": false}], \"total\": 4096}\n"));
	mem_free(got);
	fixture_release(&f);
}

Test(report_out, between_two_files_stacks_are_names)
{
	struct result_cell cells[] = {TEXT("main;f;g(int)"), NUM(5)};
	struct result_row rows[] = {ROOT_ROW};
	struct query_result r = {.view = VIEW_STACKS,
				 .columns = stack_columns,
				 .column_count = 2,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 1,
				 .totals = stack_totals};
	assert_renders(&r, FORMAT_TABLE,
		       "    total  stack\n"
		       "      5 B  g\n"
		       "           f\n"
		       "           main\n"
		       "\n"
		       "  4.0 KiB  total, 1 row\n");
	assert_renders(&r, FORMAT_FOLDED, "main;f;g(int) 5\n");
}

/* ---- other views --------------------------------------------------------------------------------- */

Test(report_out, a_sum_is_said_to_the_byte)
{
	struct result_column columns[] = {COL("total", RESULT_BYTES), COL("count", RESULT_COUNT),
					  COL("avg", RESULT_BYTES)};
	struct result_cell cells[] = {NUM(2049), NUM(2), {.value = 1024, .number = 1024.5}};
	struct result_row rows[] = {ROOT_ROW};
	struct query_result r = {.view = VIEW_SUM,
				 .columns = columns,
				 .column_count = 3,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 1,
				 .totals = cells};
	assert_renders(&r, FORMAT_TABLE,
		       "  total  2.0 KiB  2,049 bytes\n"
		       "  count        2\n"
		       "  avg    1.0 KiB  1,024 bytes\n");
	assert_renders(&r, FORMAT_TSV, "total\tcount\tavg\n2049\t2\t1024.5\n");
	struct buf totals = {0};
	out_totals(&r, &totals);
	cr_assert_str_eq(totals.data,
			 "total 2.0 KiB = 2,049 bytes, count 2, avg 1.0 KiB = 1,024 bytes");
	buf_release(&totals);
}

Test(report_out, a_histogram_names_its_slices_and_draws_bars)
{
	struct result_column columns[] = {KEY("size", RESULT_BYTES), COL("count", RESULT_COUNT)};
	struct result_cell cells[] = {NUM(0), NUM(1), NUM(64), NUM(50), NUM(1024), NUM(100)};
	struct result_cell totals[] = {UNKNOWN, NUM(151)};
	struct result_row rows[] = {ROOT_ROW, ROOT_ROW, ROOT_ROW};
	struct out_options o = {.width_cols = 60};
	struct query_result r = {.view = VIEW_HIST,
				 .columns = columns,
				 .column_count = 2,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 3,
				 .totals = totals};
	assert_renders_with(&r, FORMAT_TABLE, &o,
			    "                  size  count\n"
			    "                   0 B      1  .\n"
			    "       64 B .. < 128 B     50  ##############\n"
			    "  1.0 KiB .. < 2.0 KiB    100  #############################\n"
			    "                          151  total, 3 rows\n");
	columns[0] = (struct result_column)KEY("lifetime", RESULT_NS);
	cells[2].value = 2000000;
	cells[4].value = 5000000;
	char *got = render_as(&r, FORMAT_TABLE, &o);
	cr_assert_not_null(strstr(got, "2.0 ms .. < 5.0 ms"), "%s", got);
	cr_assert_not_null(strstr(got, "5.0 ms .. < 10.0 ms"), "%s", got);
	mem_free(got);
	assert_renders(&r, FORMAT_TSV, "lifetime\tcount\n0\t1\n2000000\t50\n5000000\t100\n");
}

Test(report_out, a_timeline_is_a_chart_with_its_extremes)
{
	struct result_column columns[] = {KEY("time", RESULT_NS), COL("total", RESULT_BYTES),
					  COL("count", RESULT_COUNT)};
	struct result_row rows[10];
	struct result_cell cells[30];
	for (int i = 0; i < 10; i++) {
		uint64_t time_ns = (uint64_t)(i + 1) * 100000000;
		rows[i] = (struct result_row){.parent = UINT32_MAX, .time_ns = time_ns};
		cells[3 * i] = (struct result_cell)NUM((int64_t)time_ns);
		cells[3 * i + 1] = (struct result_cell)NUM(1024 * (i < 5 ? i + 1 : 10 - i));
		cells[3 * i + 2] = (struct result_cell)NUM(i);
	}
	struct query_result r = {.view = VIEW_TIMELINE,
				 .columns = columns,
				 .column_count = 3,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 10,
				 .totals = cells};
	struct out_options o = {.width_cols = 60};
	char *got = render_as(&r, FORMAT_TABLE, &o);
	cr_assert_not_null(strstr(got, "    5.0 KiB +"), "%s", got);
	cr_assert_not_null(strstr(got, "0 s "), "%s", got);
	cr_assert_not_null(strstr(got, " 1.00 s\n"), "%s", got);
	cr_assert_not_null(strstr(got,
				  "  total: highest 5.0 KiB at 0.50 s, lowest 1.0 KiB at "
				  "0.10 s, last 1.0 KiB\n"
				  "  count: highest 9 at 1.00 s, lowest 0 at 0.10 s, last 9\n"),
			   "%s", got);
	mem_free(got);
}

static void write_file(char *path, const char *text)
{
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(report_out, source_shows_the_cost_beside_the_lines)
{
	char path[] = "/tmp/neap-source-XXXXXX", expected[1024];
	write_file(path,
		   "one\ntwo\n\tthree\nfour\nfive\nsix\nseven\neight\nnine\nten\033[2J\n11\n");
	struct result_column columns[] = {KEY("file", RESULT_TEXT), KEY("line", RESULT_NUMBER),
					  COL("total", RESULT_BYTES)};
	struct result_cell cells[] = {TEXT(path),         NUM(10), NUM(5),
				      TEXT("/no/such.c"), NUM(3),  NUM(7),
				      TEXT(path),         NUM(2),  NUM(9)};
	struct result_cell totals[] = {UNKNOWN, UNKNOWN, NUM(21)};
	struct result_row rows[] = {ROOT_ROW, ROOT_ROW, ROOT_ROW};
	struct query_result r = {.view = VIEW_SOURCE,
				 .columns = columns,
				 .column_count = 3,
				 .rows = rows,
				 .cells = cells,
				 .row_count = 3,
				 .totals = totals};
	snprintf(expected, sizeof expected,
		 "\n/no/such.c  (not found here: lines without their text)\n"
		 "  total\n"
		 "    7 B       3\n"
		 "\n%s\n"
		 "  total\n"
		 "              1  one\n"
		 "    9 B       2  two\n"
		 "              3          three\n"
		 "              4  four\n"
		 "              5  five\n"
		 "\n"
		 "              7  seven\n"
		 "              8  eight\n"
		 "              9  nine\n"
		 "    5 B      10  ten?[2J\n"
		 "             11  11\n"
		 "\n"
		 "   21 B  total, 3 rows\n"
		 "\n"
		 "1 source file was not found here; --source-path=FROM=TO says where sources lie "
		 "now\n",
		 path);
	assert_renders(&r, FORMAT_TABLE, expected);
	unlink(path);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static void fail_everywhere(struct query_result *r, enum ast_format format)
{
	struct out_options o = {.width_cols = 80, .is_utf8 = true};
	r->format = format;
	for (uint64_t n = 1;; n++) {
		struct buf out = {0};
		struct err e = {0};
		mem_fail_at(n);
		enum neap_err code = out_write(r, &o, &out, &e);
		mem_fail_at(0);
		buf_release(&out);
		if (!code)
			return;
		cr_assert_eq(code, ERR_NOMEM);
	}
}

Test(report_out, running_out_of_memory_anywhere_is_an_error)
{
	struct fixture f;
	struct query_result results[] = {func_table(), tree(VIEW_TREE), tree(VIEW_FLAME),
					 stacks(&f)};
	for (size_t i = 0; i < COUNT_OF(results); i++) {
		for (int format = 0; format < FORMAT_COUNT; format++)
			fail_everywhere(&results[i], (enum ast_format)format);
	}
	fixture_release(&f);
}
