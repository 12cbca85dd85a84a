/* Importing: the builder's bookings through small texts, and every truncation of the samples. */
#include "config.h"

#include "src/base/mem.h"
#include "src/exchange/exchange.h"
#include "src/graph/graph.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct profile *parse(const void *data, size_t bytes)
{
	struct profile *p = NULL;
	struct err e = {0};
	cr_assert_eq(exchange_parse(data, bytes, "t", NULL, &p, &e), NEAP_OK, "%s", e.text);
	struct buf findings = {0};
	cr_assert_eq(profile_check(p, &findings), 0, "%s", findings.data);
	buf_release(&findings);
	return p;
}

static struct profile *parse_text(const char *text)
{
	return parse(text, strlen(text));
}

static struct graph_sum sum_of(const struct profile *p, enum graph_pop pop)
{
	struct graph *g;
	struct graph_sum *values = calloc(p->cohort_count + 1, sizeof *values);
	cr_assert_eq(graph_build(p, &(struct graph_options){0}, &g, NULL), NEAP_OK);
	graph_pop_cohorts(g, pop, graph_whole_run(g), values);
	struct graph_sum sum = graph_add_up(values, p->cohort_count);
	free(values);
	graph_free(g);
	return sum;
}

static void expect_sum(const struct profile *p, enum graph_pop pop, int64_t blocks, int64_t bytes)
{
	struct graph_sum sum = sum_of(p, pop);
	cr_assert_eq(sum.blocks, blocks, "%s: %ld blocks", graph_pop_name(pop), (long)sum.blocks);
	cr_assert_eq(sum.bytes, bytes, "%s: %ld bytes", graph_pop_name(pop), (long)sum.bytes);
}

static void expect_failure(const char *text, enum neap_err code, const char *words)
{
	struct profile *p;
	struct err e = {0};
	cr_assert_eq(exchange_parse(text, strlen(text), "t", NULL, &p, &e), code, "%s", e.text);
	cr_assert_null(p);
	cr_assert_not_null(strstr(e.text, words), "'%s' in '%s'", words, e.text);
}

/* ---- heaptrack ---------------------------------------------------------------------------- */

#define HEAD                                                                                 \
	"v 10400 3\nX ./prog -x\nI 1000 10\ns 4 prog\ns 4 main\ns 1b operator new(unsigned " \
	"long)\n"                                                                            \
	"s 3 f.c\ns 4 grow\n"

Test(heaptrack, peak_is_exact_between_ticks)
{
	struct profile *p = parse_text(HEAD "i 100 1 2\nt 1 0\na 64 1\na a 1\n"
					    "c 1\n+ 0\n+ 0\n+ 1\n- 0\n- 0\nc 20\n+ 1\n- 1\n- 1\n");
	cr_assert(p->has_peak);
	cr_assert_eq(p->peak.bytes, 210);
	cr_assert_eq(p->peak.time_ns, 1000000);
	expect_sum(p, POP_PEAK, 3, 210);
	expect_sum(p, POP_ALLOCATED, 4, 220);
	expect_sum(p, POP_FREED, 4, 220);
	expect_sum(p, POP_LIVE, 0, 0);
	expect_sum(p, POP_TEMPORARY, 1, 10);
	profile_free(p);
}

Test(heaptrack, blocks_of_earlier_intervals_are_at_the_peak_too)
{
	struct profile *p =
		parse_text(HEAD "i 100 1 2\nt 1 0\na 64 1\na a 1\n"
				"+ 0\nc 20\nR 2\n+ 1\n+ 1\nc 40\n- 0\n- 1\nc 60\n+ 1\n");
	cr_assert_eq(p->snapshot_count, 4); /* 20, 40, 60, and the end */
	cr_assert_eq(p->snapshots[0].rss_bytes, 0x2000);
	expect_sum(p, POP_PEAK, 3, 120);
	expect_sum(p, POP_LIVE, 2, 20);
	profile_free(p);
}

Test(heaptrack, a_block_freed_right_after_its_birth_is_temporary)
{
	struct profile *p = parse_text(HEAD "i 100 1 2\nt 1 0\na 8 1\na 10 1\n"
					    "+ 0\n+ 1\n- 0\n- 1\n+ 1\nc 64\n- 1\n");
	expect_sum(p, POP_TEMPORARY, 1, 16);
	profile_free(p);
}

Test(heaptrack, operator_new_is_its_callers)
{
	struct profile *p = parse_text(HEAD "i 100 1 2 4 c\ni 200 1 3\nt 1 0\nt 2 1\na 8 2\n+ 0\n");
	cr_assert_eq(p->node_count, PROFILE_NODE_FIRST + 1);
	cr_assert_eq(profile_site_node(p, 0), PROFILE_NODE_FIRST);
	cr_assert_str_eq(p->symbols.funcs[p->symbols.lines[0].func - 1].name, "main");
	cr_assert_str_eq(p->symbols.files[p->symbols.lines[0].file - 1], "f.c");
	cr_assert_eq(p->symbols.lines[0].line, 12);
	cr_assert_eq(p->frames[0].pc, 0x101);
	cr_assert_str_eq(p->modules[0].path, "prog");
	cr_assert_eq(p->run.argv_count, 2);
	cr_assert_str_eq(p->run.argv[1], "-x");
	profile_free(p);
}

Test(heaptrack, inlined_functions_come_innermost_first)
{
	struct profile *p = parse_text(HEAD "i 100 1 5 4 3 2 4 c\nt 1 0\na 8 1\n+ 0\n");
	cr_assert_eq(p->symbols.first_line[1], 2);
	cr_assert_str_eq(p->symbols.funcs[p->symbols.lines[0].func - 1].name, "grow");
	cr_assert_str_eq(p->symbols.funcs[p->symbols.lines[1].func - 1].name, "main");
	profile_free(p);
}

Test(heaptrack, format_0_has_addresses)
{
	struct profile *p = parse_text("v 10000\nX a\ns prog\ns main\ni 100 1 2\nt 1 0\n"
				       "+ 10 1 a000\n+ 8 1 b000\n- b000\n- c000\n+ 8 1 a000\n");
	expect_sum(p, POP_ALLOCATED, 3, 32);
	expect_sum(p, POP_TEMPORARY, 1, 8);
	expect_sum(p, POP_LIVE, 1, 8); /* a000 was given out again */
	profile_free(p);
}

Test(heaptrack, frees_of_nothing_are_noted)
{
	struct profile *p = parse_text(HEAD "i 100 1 2\nt 1 0\na 8 1\n+ 0\n- 0\n- 0\n");
	expect_sum(p, POP_LIVE, 0, 0);
	cr_assert_not_null(strstr(p->source.notes, "1 frees of blocks that were never allocated"));
	profile_free(p);
}

Test(heaptrack, lines_that_are_wrong_are_named)
{
	expect_failure(HEAD "t 1 0\n", ERR_FORMAT, "line 9 of 't'");
	expect_failure(HEAD "i 100 1\nt 1 1\n", ERR_FORMAT, "came before");
	expect_failure(HEAD "+ 0\n", ERR_FORMAT, "line 9");
	expect_failure(HEAD "i 100 1\nt 1 0\n+ 10 1 a000\n", ERR_UNSUPPORTED, "raw data");
	expect_failure("v 10400 9\n", ERR_UNSUPPORTED, "file format 9");
	expect_failure("v 10400 3\ns ff x\n", ERR_FORMAT, "length of a string");
}

/* ---- massif ---------------------------------------------------------------------------------- */

#define SNAP(n, time, heap, extra, tree)                                              \
	"#-----------\nsnapshot=" n "\n#-----------\ntime=" time "\nmem_heap_B=" heap \
	"\nmem_heap_extra_B=" extra "\nmem_stacks_B=0\nheap_tree=" tree "\n"
#define MASSIF "desc: (none)\ncmd: ./prog\ntime_unit: ms\n"

Test(massif, trees_are_turned_round)
{
	struct profile *p = parse_text(MASSIF SNAP("0", "1", "0", "0", "empty") SNAP(
		"1", "5", "100", "8",
		"peak") "n2: 100 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
			" n2: 90 0x10A: f (big.c:10)\n"
			"  n0: 60 0x10B: main (in /bin/x (deleted))\n"
			"  n0: 30 in 2 places, all below massif's threshold (1.00%)\n"
			" n0: 10 0x10C: ???\n" SNAP("2", "7", "40", "0", "empty"));
	cr_assert_eq(p->snapshot_count, 3);
	expect_sum(p, POP_PEAK, 108, 108);
	expect_sum(p, POP_LIVE, 40, 40);
	cr_assert_eq(p->peak.time_ns, 5000000);
	cr_assert(p->source.unknown & FACT_COUNTS);
	bool has_main_f = false;
	for (size_t i = 0; i < p->site_count; i++) {
		node_id n = profile_site_node(p, i), up = profile_node_parent(p, n);
		frame_id leaf = profile_node_frame(p, n);
		if (up < PROFILE_NODE_FIRST || p->frames[leaf - 1].pc != 0x10b)
			continue;
		has_main_f = has_main_f || p->frames[profile_node_frame(p, up) - 1].pc == 0x10c;
	}
	cr_assert(has_main_f); /* main calls f, which allocates */
	cr_assert_str_eq(p->modules[0].path, "/bin/x (deleted)");
	profile_free(p);
}

/* As heaptrack_print writes them. */
Test(massif, times_may_be_fractions_of_seconds)
{
	struct profile *p = parse_text("desc: heaptrack\ncmd: x\ntime_unit: s\n" SNAP(
		"0", "1.25", "7", "0", "empty") SNAP("1", "2.0078", "9", "0", "empty"));
	cr_assert_eq(p->snapshots[0].time_ns, 1250000000u);
	cr_assert_eq(p->snapshots[1].time_ns, 2007800000u);
	cr_assert_str_eq(p->source.time_unit, "");
	profile_free(p);
	p = parse_text(
		"desc: x\ncmd: x\ntime_unit: fortnights\n" SNAP("0", "3", "7", "0", "empty"));
	cr_assert_str_eq(p->source.time_unit, "fortnights");
	profile_free(p);
}

Test(massif, lines_that_are_wrong_are_named)
{
	expect_failure(MASSIF SNAP("0", "x", "0", "0", "empty"), ERR_FORMAT, "line 7");
	expect_failure(MASSIF SNAP("0", "1", "5.5", "0", "empty"), ERR_FORMAT, "line 8");
	expect_failure(MASSIF SNAP("0", "1", "5", "0", "detailed") " n0: 5 0x1: f (a.c:1)\n",
		       ERR_FORMAT, "node of a call tree");
	expect_failure(MASSIF, ERR_FORMAT, "no snapshot");
}

/* ---- DHAT ------------------------------------------------------------------------------------- */

#define DHAT_HEAD                                                             \
	"{\"dhatFileVersion\":2,\"mode\":\"heap\",\"bklt\":true,\"cmd\":\"./" \
	"p\",\"pid\":7,\"te\":9,\"tg\":3,"
#define DHAT_TABLE "\"ftbl\":[\"[root]\",\"0x1: f (a.c:5)\",\"0x2: main (a.c:9)\"]}"

Test(dhat, points_are_added_up)
{
	struct profile *p = parse_text(
		DHAT_HEAD "\"pps\":[{\"tb\":100,\"tbk\":5,\"gb\":60,\"gbk\":3,\"eb\":20,\"ebk\":1,"
			  "\"acc\":[-2,1],\"fs\":[1,2]},"
			  "{\"tb\":7,\"tbk\":1,\"gb\":7,\"gbk\":1,\"eb\":0,\"ebk\":0,\"fs\":[1,2]}]"
			  "," DHAT_TABLE);
	expect_sum(p, POP_ALLOCATED, 6, 107);
	expect_sum(p, POP_LIVE, 1, 20);
	expect_sum(p, POP_PEAK, 4, 67);
	cr_assert_eq(p->peak.bytes, 67);
	cr_assert_eq(p->node_count, PROFILE_NODE_FIRST + 2);
	cr_assert_eq(p->run.pid, 7);
	cr_assert(p->source.unknown & FACT_TIME);
	profile_free(p);
}

Test(dhat, a_peak_below_the_end_is_none)
{
	struct profile *p = parse_text(DHAT_HEAD "\"pps\":[{\"tb\":9,\"tbk\":3,\"gb\":3,\"gbk\":1,"
						 "\"eb\":9,\"ebk\":3,\"fs\":[1]}]," DHAT_TABLE);
	cr_assert_not(p->has_peak);
	cr_assert(p->source.unknown & FACT_PEAK);
	cr_assert_not_null(strstr(p->source.notes, "lower than what is live"));
	profile_free(p);
}

Test(dhat, what_cannot_be_is_refused)
{
	expect_failure(DHAT_HEAD
		       "\"pps\":[{\"tb\":1,\"tbk\":1,\"gb\":1,\"gbk\":1,\"eb\":2,\"ebk\":1,"
		       "\"fs\":[1]}]," DHAT_TABLE,
		       ERR_FORMAT, "more live than was allocated");
	expect_failure(DHAT_HEAD
		       "\"pps\":[{\"tb\":9,\"tbk\":1,\"gb\":9,\"gbk\":0,\"eb\":0,\"ebk\":0,"
		       "\"fs\":[1]}]," DHAT_TABLE,
		       ERR_FORMAT, "no bytes without a block");
	expect_failure(DHAT_HEAD "\"pps\":[{\"tb\":1,\"tbk\":1,\"fs\":[9]}]," DHAT_TABLE,
		       ERR_FORMAT, "numbers of frames");
	expect_failure(DHAT_HEAD "\"pps\":[{\"tb\":1]", ERR_FORMAT, "at byte");
	expect_failure("{\"dhatFileVersion\":2,\"mode\":\"copy\",\"pps\":[]}", ERR_UNSUPPORTED,
		       "'copy'");
	expect_failure("{\"dhatFileVersion\":3,\"mode\":\"heap\",\"pps\":[]}", ERR_UNSUPPORTED,
		       "version 3");
}

/* Each of the six numbers, left out: it is not taken for 0. */
Test(dhat, what_a_point_lacks_is_not_zero)
{
	static const char *const keys[] = {"tb", "tbk", "gb", "gbk", "eb", "ebk"};
	for (size_t left_out = 0; left_out <= 6; left_out++) {
		struct buf text = {0};
		buf_puts(&text, DHAT_HEAD "\"pps\":[{");
		for (size_t i = 0; i < 6; i++)
			if (i != left_out)
				buf_printf(&text, "\"%s\":1,", keys[i]);
		buf_puts(&text, "\"fs\":[1]}]," DHAT_TABLE);
		if (left_out < 6)
			expect_failure(text.data, ERR_FORMAT, "in each program point");
		else
			profile_free(parse_text(text.data));
		buf_release(&text);
	}
}

/* ---- detecting ------------------------------------------------------------------------------------ */

Test(exchange, names_what_it_cannot_read)
{
	expect_failure("", ERR_FORMAT, "empty");
	expect_failure("<!doctype HTML><p>", ERR_FORMAT, "a web page");
	expect_failure("\x7f"
		       "ELF\x02\x01",
		       ERR_FORMAT, "a program");
	expect_failure("\x01\x02", ERR_FORMAT, "binary data");
}

Test(exchange, takes_the_format_it_is_told)
{
	struct exchange_options o = {.format = exchange_format_find("massif")};
	struct profile *p;
	struct err e;
	cr_assert_eq(exchange_parse(HEAD, strlen(HEAD), "t", &o, &p, &e), ERR_FORMAT);
	cr_assert_eq(exchange_format_find("nonsense"), EXCHANGE_ANY);
}

/* ---- truncations ------------------------------------------------------------------------------------ */

static struct buf sample(const char *name)
{
	char path[4096];
	struct buf file = {0};
	struct err e = {0};
	const char *top = getenv("srcdir_abs");
	snprintf(path, sizeof path, "%s/tests/exchange/%s", top ? top : ".", name);
	cr_assert_eq(profile_read_file(path, &file, &e), NEAP_OK, "%s", e.text);
	return file;
}

static int64_t allocated_by(const void *data, size_t bytes)
{
	struct profile *p;
	if (exchange_parse(data, bytes, "sample", NULL, &p, NULL))
		return -1;
	struct graph_sum sum = sum_of(p, POP_ALLOCATED);
	profile_free(p);
	return sum.bytes;
}

/*
 * May these bytes pass for a whole file?  Where lines or packets of memtrace end, in the number that
 * ends a line of folded stacks, which is noted, and where nothing but what neap does not read is missing.
 */
static bool may_be_whole(const struct buf *file, size_t bytes, const char *notes)
{
	bool is_at_line = bytes && file->data[bytes - 1] == '\n';
	bool is_before_line = bytes < file->count_bytes &&
			      (file->data[bytes] == '\n' || file->data[bytes] == '\r');
	bool is_at_packet = bytes && bytes + 4 <= file->count_bytes &&
			    !memcmp(file->data + bytes, "\xc1\x1f\xfc\xc1", 4);
	return bytes == file->count_bytes || is_at_line || is_before_line || is_at_packet ||
	       strstr(notes, "the last line has no end") ||
	       allocated_by(file->data, bytes) == allocated_by(file->data, file->count_bytes);
}

/* A clear message, or a profile that is right in itself, and marked unless the format cannot tell. */
static void cut_at(const char *name, const struct buf *file, size_t bytes)
{
	struct profile *p = NULL;
	struct err e = {0};
	struct buf findings = {0};
	char *copy = mem_alloc(bytes + 1); /* of its size, so that reading on is seen */
	memcpy(copy, file->data, bytes);
	enum neap_err code = exchange_parse(copy, bytes, "sample", NULL, &p, &e);
	mem_free(copy);
	if (code) {
		cr_assert(code == ERR_FORMAT || code == ERR_UNSUPPORTED, "%s, %zu bytes: %d", name,
			  bytes, code);
		cr_assert(strlen(e.text) > 20 && !strstr(e.text, "packed by"), "%s, %zu bytes: %s",
			  name, bytes, e.text);
		return;
	}
	cr_assert_eq(profile_check(p, &findings), 0, "%s, %zu bytes: %s", name, bytes,
		     findings.data);
	cr_assert(p->source.is_partial || may_be_whole(file, bytes, p->source.notes),
		  "%s, %zu of %zu bytes: not marked", name, bytes, file->count_bytes);
	buf_release(&findings);
	profile_free(p);
}

#define CUTS_MOST 400 /* of one file; spread evenly.  NEAP_CUTS says another number */

static void cut_file(const char *name, const struct buf *file)
{
	const char *cuts = getenv("NEAP_CUTS");
	size_t most = cuts ? strtoul(cuts, NULL, 10) : CUTS_MOST;
	size_t step = 1 + file->count_bytes / (most ? most : 1);
	for (size_t bytes = 0; bytes < file->count_bytes; bytes += step)
		cut_at(name, file, bytes);
	cut_at(name, file, file->count_bytes - 1);
}

static void cut_everywhere(const char *name)
{
	struct buf file = sample(name);
	for (size_t bytes = 0; bytes <= file.count_bytes; bytes++)
		cut_at(name, &file, bytes);
	buf_release(&file);
}

/* Those of others are of any size, and are not in the repository. */
static size_t cut_folder(const char *path)
{
	DIR *folder = opendir(path);
	size_t count = 0;
	for (struct dirent *d; folder && (d = readdir(folder)) != NULL;) {
		char name[4096];
		struct buf file = {0};
		struct err e = {0};
		snprintf(name, sizeof name, "%s/%s", path, d->d_name);
		if (d->d_name[0] == '.' || profile_read_file(name, &file, &e) || !file.count_bytes)
			continue;
		cut_file(name, &file);
		buf_release(&file);
		count++;
	}
	if (folder)
		closedir(folder);
	return count;
}

Test(truncated, every_sample)
{
	char path[4096];
	const char *top = getenv("srcdir_abs");
	snprintf(path, sizeof path, "%s/tests/exchange", top ? top : ".");
	cr_assert_gt(cut_folder(path), 10);
}

Test(truncated, every_file_of_others)
{
	static const char *const folders[] = {"chrome",    "dhat",     "folded",
					      "heaptrack", "jemalloc", "julia",
					      "massif",    "memtrace", "pprof"};
	const char *shared = getenv("NEAP_SHARED");
	char path[4096];
	if (!shared)
		cr_skip_test("NEAP_SHARED does not name the folder with data/TRUTH.json");
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		snprintf(path, sizeof path, "%s/data/%s", shared, folders[i]);
		cr_assert_gt(cut_folder(path), 0, "%s", path);
	}
}

Test(truncated, heaptrack_in_zstd)
{
	cut_everywhere("realloc.heaptrack.zst");
	cut_everywhere("peak.heaptrack.zst");
}

Test(truncated, massif)
{
	cut_everywhere("peak.massif");
}

Test(truncated, dhat)
{
	cut_everywhere("peak.dhat.json");
}

/* Its names stand behind its values: those that are there are used, and no stack gets shorter. */
Test(truncated, dhat_keeps_values_when_names_are_cut)
{
	struct buf file = sample("peak.dhat.json");
	struct profile *whole, *part;
	struct err e = {0};
	cr_assert_eq(exchange_parse(file.data, file.count_bytes, "sample", NULL, &whole, &e), 0);
	const char *last = memmem(file.data, file.count_bytes, "\"0x10908C", 9);
	cr_assert_not_null(last);
	cr_assert_eq(exchange_parse(file.data, (size_t)(last - file.data) + 3, "sample", NULL,
				    &part, &e),
		     0, "%s", e.text);
	struct graph_sum a = sum_of(whole, POP_ALLOCATED), b = sum_of(part, POP_ALLOCATED);
	cr_assert(part->source.is_partial);
	cr_assert_not_null(strstr(part->source.notes, "have names"));
	cr_assert_eq(a.blocks, b.blocks);
	cr_assert_eq(a.bytes, b.bytes);
	cr_assert_eq(part->node_count, whole->node_count);
	profile_free(whole);
	profile_free(part);
	buf_release(&file);
}

Test(truncated, heaptrack_as_text)
{
	static const char text[] = HEAD "i 100 1 2\nt 1 0\na 64 1\nc 1\nR 5\n+ 0\n+ 0\n- 0\nc 20\n";
	struct buf file = {0};
	buf_puts(&file, text);
	/* What is shorter could be folded stacks too. */
	for (size_t bytes = strlen("v 10400 3\n"); bytes <= file.count_bytes; bytes++)
		cut_at("text", &file, bytes);
	buf_release(&file);
}

/* ---- out of memory ------------------------------------------------------------------------------------ */

/* Each allocation fails once: an error, or nothing that matters was lost. */
static void fail_everywhere(const char *name)
{
	struct buf file = sample(name);
	for (uint64_t n = 1; n < 100000; n++) {
		struct profile *p = NULL;
		struct err e = {0};
		uint64_t before = mem_count();
		mem_fail_at(n);
		enum neap_err code =
			exchange_parse(file.data, file.count_bytes, "sample", NULL, &p, &e);
		bool is_past = mem_count() - before < n;
		mem_fail_at(0);
		cr_assert(!code || code == ERR_NOMEM || code == ERR_FORMAT, "%s, %lu: %d %s", name,
			  (unsigned long)n, code, e.text);
		cr_assert((code == NEAP_OK) == (p != NULL));
		profile_free(p);
		if (is_past) {
			buf_release(&file);
			return;
		}
	}
	cr_assert_fail("%s takes too many allocations", name);
}

Test(memory, may_run_out_anywhere)
{
	fail_everywhere("realloc.heaptrack.zst");
	fail_everywhere("peak.massif");
	fail_everywhere("peak.dhat.json");
}
