/* Importers of JSON: V8's heap profiles and speedscope. */
#include "config.h"

#include "foreign.h"

#include "src/profile/profile.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect_text(const char *text, const char *want)
{
	expect_import(text, strlen(text), want);
}

static void expect_text_refusal(const char *text, enum neap_err code, const char *words)
{
	expect_refusal(text, strlen(text), code, words);
}

/* ---- V8 -------------------------------------------------------------------------------------- */

#define V8_NOTE                                                                                   \
	"note: bytes are what V8 estimates from its samples; how far apart these were is not in " \
	"the file\n"

static const char v8[] =
	"{\"head\":{\"callFrame\":{\"functionName\":\"(root)\",\"scriptId\":\"0\",\"url\":\"\","
	"\"lineNumber\":-1,\"columnNumber\":-1},\"selfSize\":3,\"id\":1,\"children\":["
	"{\"callFrame\":{\"functionName\":\"main\",\"scriptId\":\"9\",\"url\":\"/a.js\","
	"\"lineNumber\":0,\"columnNumber\":10},\"selfSize\":10,\"id\":2,\"children\":["
	"{\"callFrame\":{\"functionName\":\"\",\"url\":\"/b.js\",\"lineNumber\":41},"
	"\"selfSize\":32,\"id\":3,\"children\":[]},"
	"{\"callFrame\":{\"functionName\":\"main\",\"url\":\"/a.js\",\"lineNumber\":0},"
	"\"selfSize\":0,\"id\":4,\"children\":[]}]}]},"
	"\"samples\":[{\"size\":42,\"nodeId\":3,\"ordinal\":1}]}\n";

Test(heapprofile, reads_the_tree)
{
	expect_text(v8, "total 45 blocks 45 bytes, live 45 45, estimated\n"
			"main(/a.js:1);(anonymous)(/b.js:42) 32 32 live 32 32\n"
			"main(/a.js:1) 10 10 live 10 10\n"
			"[no stack] 3 3 live 3 3\n" V8_NOTE);
	struct foreign_sums s = foreign_import(v8, sizeof v8 - 1);
	cr_expect(s.unknown & FACT_COUNTS);
	cr_expect(s.unknown & FACT_ALLOCATED);
}

Test(heapprofile, does_not_mind_the_order_of_members_or_new_ones)
{
	expect_text(" {\"startTime\": 1.5, \"nested\": {\"a\": [1, {}]}, \"head\": {\"callFrame\": "
		    "{\"functionName\": \"f\", \"more\": {\"x\": []}, \"lineNumber\": \"?\"}, "
		    "\"children\": [], \"new\": [[]], \"selfSize\": 7.0}}",
		    "total 7 blocks 7 bytes, live 7 7, estimated\nf 7 7 live 7 7\n" V8_NOTE);
}

Test(heapprofile, says_what_is_wrong)
{
	expect_text_refusal("{\"head\": {\"callFrame\": {}, \"selfSize\": \"x\"}}", ERR_FORMAT,
			    "expected a number of bytes after \"selfSize\"");
	expect_text_refusal("{\"head\": {\"children\": [{\"callFrame\": {}}]}}", ERR_FORMAT,
			    "\"callFrame\" before \"children\"");
	expect_text_refusal("{\"head\": {\"callFrame\": {}, \"children\": [3]}}", ERR_FORMAT,
			    "expected an object in \"children\"");
	expect_text_refusal("{\"head\": {\"callFrame\": {}, \"selfSize\": -4}}", ERR_FORMAT,
			    "expected a number of bytes");
}

Test(heapprofile, names_other_files_of_v8)
{
	expect_text_refusal("{\"snapshot\":{\"meta\":{\"node_fields\":[\"type\"]}},\"nodes\":[]}",
			    ERR_UNSUPPORTED, "a heap snapshot of V8");
	expect_text_refusal(
		"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"\"},\"hitCount\":0}]}",
		ERR_UNSUPPORTED, "a CPU profile of V8");
	expect_text_refusal("{\"traceEvents\":[]}", ERR_UNSUPPORTED, "a trace of Chrome");
}

/* ---- speedscope -------------------------------------------------------------------------------- */

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define FRAMES                                                                               \
	"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"m.c\",\"line\":3,\"col\":1}," \
	"{\"name\":\"f\"},{\"name\":\"\"}]}"

static const char sampled[] =
	"{" SCHEMA FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"live\",\"unit\":"
	"\"bytes\",\"startValue\":0,\"endValue\":17,\"samples\":[[0,1],[0],[],"
	"[0,1],[0,2,1]],\"weights\":[8,1.4,2,1.4,5]}],\"exporter\":\"x 1\"}";

Test(speedscope, reads_sampled_profiles)
{
	expect_text(sampled, "total 17 blocks 17 bytes, live 17 17\n"
			     "main(m.c:3) 1 1 live 1 1\n"
			     "main(m.c:3);f 9 9 live 9 9\n"
			     "main(m.c:3);[no name];f 5 5 live 5 5\n"
			     "[no stack] 2 2 live 2 2\n");
}

Test(speedscope, reads_evented_profiles_and_frames_that_come_last)
{
	expect_text("{" SCHEMA
		    "\"profiles\":[{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"bytes\","
		    "\"startValue\":0,\"endValue\":9,\"events\":["
		    "{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":2},"
		    "{\"type\":\"C\",\"frame\":1,\"at\":6},{\"type\":\"C\",\"frame\":0,\"at\":7},"
		    "{\"type\":\"C\",\"frame\":0,\"at\":9}]}]," FRAMES "}",
		    "total 7 blocks 7 bytes, live 7 7\n"
		    "main(m.c:3) 3 3 live 3 3\n"
		    "main(m.c:3);f 4 4 live 4 4\n");
}

#define ONE(name, unit, weight)                                                                \
	"{\"type\":\"sampled\",\"name\":\"" name "\",\"unit\":\"" unit "\",\"samples\":[[0]]," \
	"\"weights\":[" weight "]}"

Test(speedscope, chooses_the_active_profile_if_it_counts_bytes)
{
	expect_text("{" FRAMES ",\"profiles\":[" ONE("a", "bytes", "1") "," ONE(
			    "b", "bytes", "2") "],\"activeProfileIndex\":1}",
		    "total 2 blocks 2 bytes, live 2 2\nmain(m.c:3) 2 2 live 2 2\n"
		    "note: of the 2 profiles in the file, 'b' was read\n");
	expect_text("{" FRAMES ",\"profiles\":[" ONE("a", "none", "1") "," ONE(
			    "b", "bytes", "2") "],\"activeProfileIndex\":0}",
		    "total 2 blocks 2 bytes, live 2 2\nmain(m.c:3) 2 2 live 2 2\n"
		    "note: of the 2 profiles in the file, 'b' was read\n");
	expect_text(
		"{" FRAMES ",\"profiles\":[" ONE("a", "none", "4") "]}",
		"total 4 blocks 4 bytes, live 4 4\nmain(m.c:3) 4 4 live 4 4\n"
		"note: its numbers are taken for bytes; the file does not say what they count\n");
}

Test(speedscope, refuses_time_and_what_does_not_fit_together)
{
	expect_text_refusal("{" FRAMES ",\"profiles\":[" ONE("a", "milliseconds", "1") "]}",
			    ERR_UNSUPPORTED, "a speedscope profile in milliseconds");
	expect_text_refusal("{" FRAMES ",\"profiles\":[]}", ERR_FORMAT, "no profile in it");
	expect_text_refusal("{" SCHEMA "\"profiles\":[" ONE("a", "bytes", "1") "]}", ERR_FORMAT,
			    "no frames");
	expect_text_refusal("{" FRAMES ",\"profiles\":[{\"unit\":\"bytes\",\"samples\":[[9]],"
			    "\"weights\":[1]}]}",
			    ERR_FORMAT, "frame 9 of 3");
	expect_text_refusal("{" FRAMES ",\"profiles\":[{\"unit\":\"bytes\",\"samples\":[[0]],"
			    "\"weights\":[1,2]}]}",
			    ERR_FORMAT, "\"samples\" before \"weights\", and as many");
}

/* A list longer than what is parsed at once, where something else is expected. */
static void put_long_list(struct buf *text)
{
	buf_putc(text, '[');
	for (int i = 0; i < 40000; i++)
		buf_puts(text, i ? ",1" : "1");
	buf_putc(text, ']');
}

Test(speedscope, passes_over_long_values_of_other_types)
{
	struct buf text = {0};
	buf_puts(&text, "{\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":");
	put_long_list(&text);
	buf_puts(&text, ",\"line\":");
	put_long_list(&text);
	buf_puts(&text, "}]},\"exporter\":");
	put_long_list(&text);
	buf_puts(&text, ",\"activeProfileIndex\":");
	put_long_list(&text);
	buf_puts(&text, ",\"profiles\":[{\"unit\":\"bytes\",\"samples\":[[0]],\"weights\":[4]}]}");
	struct foreign_sums s = foreign_import(text.data, text.count_bytes);
	cr_expect_eq(s.live_bytes, 4);
	buf_release(&text);
}

Test(speedscope, leaves_negative_weights_out)
{
	expect_text("{" FRAMES ",\"profiles\":[{\"unit\":\"bytes\",\"samples\":[[0],[0,1]],"
		    "\"weights\":[-3,4]}]}",
		    "total 4 blocks 4 bytes, live 4 4\nmain(m.c:3);f 4 4 live 4 4\n"
		    "note: 1 stacks with weights below 0 were left out\n");
}

Test(exchange, every_beginning_of_a_json_file_is_fair)
{
	expect_fair_cuts(v8, sizeof v8 - 1, 1);
	expect_fair_cuts(sampled, sizeof sampled - 1, 1);
}

Test(exchange, lack_of_memory_while_reading_json_is_told)
{
	expect_fair_lack_of_memory(v8, sizeof v8 - 1);
	expect_fair_lack_of_memory(sampled, sizeof sampled - 1);
}
