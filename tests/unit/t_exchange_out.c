/* Writers of foreign formats, on trees made by hand. */
#include "config.h"

#include "src/base/mem.h"
#include "src/exchange/export.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/*
 * main            100 bytes, 10 of its own
 * `- walk          90, 20 of its own
 *    `- walk       70, 30 of its own (recursion)
 *       `- leaf    40
 */
static struct export_frame frames[] = {
	{.function = "main",
	 .label = "main",
	 .file = "main.c",
	 .line = 5,
	 .module = EXPORT_NONE,
	 .place = EXPORT_NONE,
	 .has_name = true},
	{.function = "walk",
	 .label = "walk",
	 .file = "walk.c",
	 .line = 9,
	 .module = EXPORT_NONE,
	 .place = EXPORT_NONE,
	 .has_name = true},
	{.function = "leaf",
	 .label = "leaf",
	 .file = "leaf.c",
	 .line = 2,
	 .module = EXPORT_NONE,
	 .place = EXPORT_NONE,
	 .has_name = true},
};
static const struct export_node nodes[] = {
	{EXPORT_NONE, 0, 0, 4}, {0, 1, 1, 4}, {1, 1, 2, 4}, {2, 2, 3, 4}};
static const struct export_value values[] = {{"total", EXPORT_BYTES}, {"count", EXPORT_BLOCKS}};
static const int64_t totals[] = {100, 10, 90, 9, 70, 7, 40, 4};
static const int64_t selfs[] = {10, 1, 20, 2, 30, 3, 40, 4};
static const int64_t whole[] = {100, 10};

static const struct export_about about = {
	.title = "prog", .query = "peak", .population = "peak at 1 s", .tool = "neap test"};

static struct export_tree small_tree(void)
{
	return (struct export_tree){.frames = frames,
				    .frame_count = 3,
				    .nodes = nodes,
				    .node_count = 4,
				    .values = values,
				    .value_count = 2,
				    .totals = totals,
				    .selfs = selfs,
				    .whole = whole,
				    .before_value = SIZE_MAX,
				    .after_value = SIZE_MAX};
}

static struct buf out;
static struct err e;

static void teardown(void)
{
	buf_release(&out);
}
TestSuite(exchange_out, .fini = teardown);

static void expect(const char *text)
{
	cr_assert(out.count_bytes && strstr(out.data, text), "'%s' is not in:\n%s", text,
		  out.count_bytes ? out.data : "");
}

static size_t count_of(const char *text)
{
	size_t count = 0;
	for (const char *p = out.data; (p = strstr(p, text)); p += strlen(text))
		count++;
	return count;
}

Test(exchange_out, callgrind_tells_levels_of_recursion_apart)
{
	struct export_tree t = small_tree();
	cr_assert_eq(export_callgrind(&about, &t, &out, &e), NEAP_OK);
	expect("summary: 100 10\n");
	expect("fn=(1) main\n5 10 1\n");
	expect("cfn=(2) walk\ncalls=9 0\n5 90 9\n");
	expect("cfn=(3) walk'2\ncalls=7 0\n9 70 7\n");
	expect("fn=(3)\n9 30 3\n");
	expect("cfn=(4) leaf\ncalls=4 0\n9 40 4\n");
}

Test(exchange_out, dot_counts_a_recursive_function_once)
{
	struct export_tree t = small_tree();
	cr_assert_eq(export_dot(&about, &t, 0, &out, &e), NEAP_OK);
	expect("N1 [label=\"main\\n10 B (10.0 %)\\nof 100 B (100.0 %)\"");
	expect("N2 [label=\"walk\\n50 B (50.0 %)\\nof 90 B (90.0 %)\"");
	expect("N1 -> N2 [label=\" 90 B\"");
	expect("N2 -> N2 [label=\" 70 B\"");
	expect("N2 -> N3 [label=\" 40 B\"");
	cr_assert_not(strstr(out.data, "not drawn"));
}

Test(exchange_out, dot_says_what_it_leaves_out_and_draws_through_it)
{
	struct export_tree t = small_tree();
	/* walk is below the share, main and leaf are not: leaf is made larger for that. */
	static const int64_t thin[] = {100, 10, 50, 9, 50, 7, 95, 4};
	t.totals = thin;
	cr_assert_eq(export_dot(&about, &t, 0.6, &out, &e), NEAP_OK);
	expect("not drawn: 1 function smaller than 60.0 %");
	expect("N1 -> N3 [label=\" 95 B\"");
	expect("style=dashed");
}

Test(exchange_out, speedscope_has_a_weight_for_each_stack)
{
	struct export_tree t = small_tree();
	cr_assert_eq(export_speedscope(&about, &t, &out, &e), NEAP_OK);
	expect("\"samples\":[\n[0],\n[0,1],\n[0,1,1],\n[0,1,1,2]],\n\"weights\":[10,20,30,40]");
	expect("\"endValue\":100");
	expect("\"name\":\"count\",\"unit\":\"none\"");
}

Test(exchange_out, speedscope_splits_differences)
{
	struct export_tree t = small_tree();
	static const int64_t signed_selfs[] = {10, 0, -20, 0, 0, 0, 40, 0};
	t.selfs = signed_selfs;
	t.value_count = 1;
	static const int64_t one[] = {10, -20, 0, 40};
	t.selfs = one;
	t.totals = one;
	cr_assert_eq(export_speedscope(&about, &t, &out, &e), NEAP_OK);
	expect("\"name\":\"total (more)\",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":50");
	expect("\"name\":\"total (less)\",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":20");
	expect("\"weights\":[20]");
}

Test(exchange_out, massif_has_trees_from_the_leaf_up)
{
	struct export_frame other = {.function = "(other: 1,203 rows)",
				     .label = "",
				     .module = EXPORT_NONE,
				     .is_other = true};
	struct export_frame list[] = {frames[2], frames[1], other};
	list[0].address = 0x1234;
	static const struct export_node up[] = {
		{EXPORT_NONE, 0, 0, 2}, {0, 1, 1, 2}, {EXPORT_NONE, 2, 0, 3}};
	static const int64_t up_totals[] = {90, 90, 10};
	static const int64_t up_whole[] = {100};
	struct export_tree t = small_tree();
	t.frames = list;
	t.nodes = up;
	t.node_count = 3;
	t.value_count = 1;
	t.totals = t.selfs = up_totals;
	t.whole = up_whole;
	const struct export_snapshot snapshots[] = {
		{.time_ns = 1500000, .bytes = 7},
		{.time_ns = 2400000, .bytes = 100, .is_peak = true, .tree = &t}};
	cr_assert_eq(export_massif(&about, snapshots, 2, 1, &out, &e), NEAP_OK);
	expect("snapshot=0\n#-----------\ntime=2\nmem_heap_B=7\n");
	expect("heap_tree=peak\nn2: 100 (heap allocation functions)");
	expect("\n n1: 90 0x1234: leaf (leaf.c:2)\n  n0: 90 0x0: walk (walk.c:9)\n");
	expect("\n n0: 10 in 1203 places, all below massif's threshold (1.00%)\n");
}

Test(exchange_out, names_are_never_markup)
{
	static char long_name[10001];
	struct export_tree t = small_tree();
	struct export_frame list[3];
	memcpy(list, frames, sizeof list);
	list[0].function = list[0].label = "</script><b>&\"'\x1b[31m\xff\n";
	memset(long_name, 'x', sizeof long_name - 1);
	list[1].function = list[1].label = long_name;
	t.frames = list;
	const struct export_section section = {
		.title = "</h2><script>alert(1)</script>", .query = "peak 'a'", .tree = &t};
	const struct export_page page = {.sections = &section, .section_count = 1};
	cr_assert_eq(export_html(&about, &page, &out, &e), NEAP_OK);
	cr_assert_not(strstr(out.data, "</script><b>"));
	cr_assert_not(strstr(out.data, "<script>alert"));
	cr_assert_not(strchr(out.data, '\x1b'));
	cr_assert_not(strchr(out.data, '\xff'));
	expect("&lt;/script&gt;&lt;b&gt;&amp;&quot;&#39;\xef\xbf\xbd[31m\xef\xbf\xbd\xef\xbf\xbd");
	expect("neap query &#39;peak &#39;\\&#39;&#39;a&#39;\\&#39;&#39;&#39;</code>");
	cr_assert_null(strstr(out.data, long_name), "10,000 characters are cut");
	buf_clear(&out);
	cr_assert_eq(export_speedscope(&about, &t, &out, &e), NEAP_OK);
	expect("\"\\u003c/"
	       "script\\u003e\\u003cb\\u003e\\u0026\\\"'\\u001b[31m\xef\xbf\xbd\\u000a\"");
	buf_clear(&out);
	cr_assert_eq(export_dot(&about, &t, 0, &out, &e), NEAP_OK);
	expect("</script><b>&\\\"'");
}

Test(exchange_out, flame_graphs_gather_what_is_too_narrow)
{
	/* A wide frame and 2000 narrow ones that are a pixel together, two by two below main. */
	enum {
		COUNT = 2002
	};
	static struct export_node many[COUNT];
	static int64_t sizes[COUNT];
	struct export_tree t = small_tree();
	many[0] = (struct export_node){EXPORT_NONE, 0, 0, COUNT};
	for (uint32_t i = 1; i < COUNT; i++) {
		many[i] = (struct export_node){0, i == 1 ? 1 : 2, 1, i + 1};
		sizes[i] = i == 1 ? 1000000 : 1;
		sizes[0] += sizes[i];
	}
	t.nodes = many;
	t.node_count = COUNT;
	t.value_count = 1;
	t.totals = t.selfs = sizes;
	t.whole = sizes;
	cr_assert_eq(export_flame(&about, &t, &out, &e), NEAP_OK);
	expect("<title>(2,000 smaller)\n");
	expect("Not drawn: 2,000 frames narrower than 0.35 px.");
	cr_assert_eq(count_of("<title>leaf"), 0);
	cr_assert_eq(count_of("<title>walk"), 1);
}

Test(exchange_out, differences_are_as_wide_as_their_larger_side)
{
	static const struct export_node pair[] = {
		{EXPORT_NONE, 0, 0, 3}, {0, 1, 1, 2}, {0, 2, 1, 3}};
	static const struct export_value three[] = {
		{"a", EXPORT_BYTES}, {"b", EXPORT_BYTES}, {"delta", EXPORT_BYTES}};
	/* walk is gone, leaf is new. */
	static const int64_t sides[] = {300, 100, -200, 300, 0, -300, 0, 100, 100};
	static const int64_t own[] = {0, 0, 0, 300, 0, -300, 0, 100, 100};
	struct export_tree t = small_tree();
	t.nodes = pair;
	t.node_count = 3;
	t.values = three;
	t.value_count = 3;
	t.main_value = 2;
	t.totals = sides;
	t.selfs = own;
	t.whole = sides;
	t.before_value = 0;
	t.after_value = 1;
	cr_assert_eq(export_flame(&about, &t, &out, &e), NEAP_OK);
	expect("<g class=\"f less4\"><title>walk\nwalk.c:9\na: 300 B, b: 0 B, delta: -300 B");
	expect("<g class=\"f more4\"><title>leaf");
	expect("x=\"0.00\" y=\"100\" width=\"900.00\"");
	expect("x=\"900.00\" y=\"100\" width=\"300.00\"");
}

Test(exchange_out, charts_put_the_exact_peak_between_the_snapshots)
{
	static const struct export_point points[] = {{1000000000, 10}, {2000000000, 20}};
	static const struct export_mark marks[] = {{"<warm>", 1500000000}};
	const struct export_series s = {.name = "total over time",
					.unit = EXPORT_BYTES,
					.points = points,
					.point_count = 2,
					.end_ns = 2000000000,
					.marks = marks,
					.mark_count = 1,
					.has_peak = true,
					.has_peak_value = true,
					.peak = {1500000000, 80}};
	cr_assert_eq(export_chart(&about, &s, &out, &e), NEAP_OK);
	expect("peak 80 B at 1.50 s");
	expect("<title>&lt;warm&gt; at 1.50 s</title>");
	expect("points=\" 632.00 282.50 906.00 90.00 1180.00 255.00\"");
}

static const struct export_point layer_points[] = {{1000000000, 30}, {2000000000, 40}};
static const int64_t layer_values[2][2] = {{20, 40}, {10, 0}};

/* Two layers over both points. */
static struct export_series layered(const struct export_layer layers[2])
{
	return (struct export_series){.name = "total over time",
				      .unit = EXPORT_BYTES,
				      .points = layer_points,
				      .point_count = 2,
				      .layers = layers,
				      .layer_count = 2,
				      .end_ns = 2000000000};
}

Test(exchange_out, layers_of_a_chart_stand_on_each_other_and_meet_at_the_peak)
{
	const struct export_layer layers[] = {{"a<b>&\"c\"", layer_values[0], 60, false},
					      {"all others", layer_values[1], 20, true}};
	struct export_series s = layered(layers);
	s.has_peak = s.has_peak_value = true;
	s.peak = (struct export_point){1500000000, 80};
	cr_assert_eq(export_chart(&about, &s, &out, &e), NEAP_OK);
	/* Up along the top, back along the bottom, which is the top of the layer below. */
	expect("<g class=\"layer la\" data-values=\"20 "
	       "40\"><title>a&lt;b&gt;&amp;&quot;c&quot;</title>"
	       "<path class=\"layer-area\" d=\"M 632.00 255.00 906.00 145.00 1180.00 200.00 "
	       "1180.00 310.00 906.00 310.00 632.00 310.00 Z\"/></g>");
	expect("<g class=\"layer rest\" data-values=\"10 0\"><title>all others</title>"
	       "<path class=\"layer-area\" d=\"M 632.00 227.50 906.00 90.00 1180.00 200.00 "
	       "1180.00 200.00 906.00 145.00 632.00 255.00 Z\"/></g>");
	expect("<g class=\"legend la\">");
	expect(">a&lt;b&gt;&amp;&quot;c&quot;</text></g>");
	expect("<polyline class=\"curve whole\" points=\" 632.00 227.50 906.00 90.00 1180.00 "
	       "200.00\"/>");
}

Test(exchange_out, layers_of_a_difference_are_lines)
{
	static const int64_t fell[2] = {-60, -10};
	const struct export_layer layers[] = {{"grew", layer_values[0], 0, false},
					      {"fell", fell, 0, false}};
	struct export_series s = layered(layers);
	s.is_signed = true;
	cr_assert_eq(export_chart(&about, &s, &out, &e), NEAP_OK);
	expect("<title>fell</title><path class=\"layer-line\" d=\"M 632.00 ");
	expect(">-60 B</text>"); /* the axis reaches down to it */
	cr_assert(!strstr(out.data, "layer-area\" d"));
}

Test(exchange_out, pprof_is_gzip_and_fails_cleanly_without_memory)
{
	static const struct export_sample samples[] = {{3, 10}, {0, 0}};
	static const struct export_value types[] = {{"inuse_objects", EXPORT_BLOCKS},
						    {"inuse_space", EXPORT_BYTES}};
	static const int64_t numbers[] = {4, 40, 1, 10};
	struct export_tree t = small_tree();
	t.samples = samples;
	t.sample_count = 2;
	t.sample_values = types;
	t.sample_value_count = 2;
	t.main_sample_value = 1;
	t.sample_numbers = numbers;
	cr_assert_eq(export_pprof(&about, &t, &out, &e), NEAP_OK);
	cr_assert(out.count_bytes > 20 && (uint8_t)out.data[0] == 0x1f &&
		  (uint8_t)out.data[1] == 0x8b);
}

typedef enum neap_err writer(const struct export_about *a, const struct export_tree *t,
			     struct buf *to, struct err *error);

Test(exchange_out, survives_running_out_of_memory_anywhere)
{
	static writer *const writers[] = {export_speedscope, export_callgrind, export_flame,
					  export_pprof};
	struct export_tree t = small_tree();
	for (size_t w = 0; w < sizeof writers / sizeof writers[0]; w++) {
		enum neap_err code = ERR_NOMEM;
		for (uint64_t n = 1; code == ERR_NOMEM && n < 10000; n++) {
			buf_release(&out);
			mem_fail_at(n);
			code = writers[w](&about, &t, &out, &e);
			mem_fail_at(0);
		}
		cr_assert_eq(code, NEAP_OK, "writer %zu", w);
	}
}
