/*
 * Heap profiles as text, of gperftools and tcmalloc, and of Go (debug=1).
 *
 *   heap profile:   9713: 16879858 [2607096: 214222226] @ heapprofile
 *     8829: 15351348 [  9759: 16978544] @ 0x55ad063d02a7 0x55ad063cb769
 *   #	0x55ad063d02a6	main.work+0x26	/src/main.go:12      Go's names for the row above
 *
 *   MAPPED_LIBRARIES:
 *   (the lines of /proc/PID/maps)
 *
 * A row has blocks and bytes that are live, then in brackets what was ever allocated, then the stack,
 * innermost first.  After the last @ of the first line stands what it is:
 *   heapprofile                 everything was counted (HEAPPROFILE)
 *   heap_v2/N, heapz_v2/N       samples, one in N bytes on average
 *   heap/N                      the same with N twice as large (Go, old tcmalloc)
 *   growth, growthz             where the allocator took memory from the system
 * Without the rate it is 128 KiB.  Samplers repeat what is live in the brackets if they know no more.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/stackrows.h"

#include <inttypes.h>
#include <string.h>

#define DEFAULT_PERIOD_BYTES (128u << 10)

struct gperftools {
	struct input *in;
	struct import *im;
	struct stackrows stacks;
	struct heap_row totals;   /* of the first line */
	uint64_t period_bytes;    /* 1: everything was counted */
	bool is_growth, is_exact; /* heapprofile */
	bool has_stack, has_maps, has_names;
	struct heap_row sums; /* of the rows, before scaling */
};

static const char header[] = "heap profile:";

/* ---- what it is ---------------------------------------------------------------------------- */

/* gperftools' CPU profiles: words of 8 or 4 bytes, 0, 3, 0, the period, 0. */
static bool is_binary_cpu(const uint8_t *head, size_t bytes)
{
	for (size_t word = 4; word <= 8; word += 4) {
		bool fits = bytes >= 5 * word;
		for (size_t i = 0; fits && i < 3 * word; i++)
			fits = head[i] == (i == word ? 3 : 0);
		for (size_t i = 4 * word; fits && i < 5 * word; i++)
			fits = head[i] == 0;
		if (fits)
			return true;
	}
	return false;
}

/* Other things that the same programs write as text; NULL if it is none of them. */
static const char *other_kind(struct slice t)
{
	static const struct {
		const char *begins, *kind;
	} others[] = {
		{"--- contention", "a profile of waiting for locks"},
		{"--- mutex", "a profile of waiting for locks"},
		{"--- thread", "a list of threads"},
		{"--- Thread", "a list of threads"},
		{"goroutine profile:", "a list of Go's goroutines"},
		{"threadcreate profile:", "a list of Go's threads"},
		{"--- symbol", "a profile with symbols, made by pprof --raw"},
	};
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (slice_is(&t, others[i].begins))
			return others[i].kind;
	return NULL;
}

bool gperftools_detect(const uint8_t *head, size_t bytes)
{
	struct slice t = slice_init((const char *)head, bytes);
	return is_binary_cpu(head, bytes) || other_kind(t) || slice_is(&t, header);
}

static enum neap_err refuse(const char *kind, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "this is %s: it has no heap in it; import a heap profile (HEAPPROFILE of "
		       "gperftools, /debug/pprof/heap of Go)",
		       kind);
}

/* What stands after the last @ of the first line. */
static enum neap_err read_kind(struct gperftools *g, struct slice t, struct err *e)
{
	struct slice kind = t;
	bool is_sampled = true;
	g->period_bytes = DEFAULT_PERIOD_BYTES;
	if (slice_left(&t) == 0) /* of old tcmalloc: its samples had nothing but what is live */
		is_sampled = g->totals.live_blocks == g->totals.born_blocks &&
			     g->totals.live_bytes == g->totals.born_bytes;
	else if (slice_is(&t, "heapprofile"))
		g->is_exact = true, is_sampled = false;
	else if (slice_is(&t, "growth"))
		g->is_growth = true, is_sampled = false;
	else if (!slice_is(&t, "heapz_v2") && !slice_is(&t, "heap_v2") && !slice_is(&t, "heap"))
		return err_set(
			e, ERR_UNSUPPORTED,
			"a heap profile of kind '%.*s'; neap reads heapprofile, heap, heap_v2, "
			"heapz_v2 and growth",
			(int)(slice_left(&kind) < 40 ? slice_left(&kind) : 40), kind.p);
	bool is_doubled = slice_left(&t) > 0 && t.p[-1] == 'p'; /* "heap" */
	if (!is_sampled)
		g->period_bytes = 1;
	else if (slice_is(&t, "/") && slice_number(&t, &g->period_bytes))
		g->period_bytes /= is_doubled ? 2 : 1;
	else
		import_note(g->im, "the file does not say how much is between samples; 128 KiB is "
				   "taken, as pprof does");
	return NEAP_OK;
}

static enum neap_err read_header(struct gperftools *g, struct err *e)
{
	const char *line;
	size_t bytes;
	const uint8_t *head;
	bytes = input_peek(g->in, 64, &head);
	if (is_binary_cpu(head, bytes))
		return refuse("a CPU profile of gperftools", e);
	struct slice t = {NULL, NULL};
	do { /* blank lines may come first */
		if (!input_line(g->in, &line, &bytes))
			return err_corrupt(e, "the file has nothing in it");
		t = slice_init(line, bytes);
	} while (slice_left(&t) == 0);
	if (other_kind(t))
		return refuse(other_kind(t), e);
	if (!slice_is(&t, header) || !slice_row(&t, &g->totals))
		return err_corrupt(
			e,
			"line %" PRIu64
			": expected 'heap profile: BLOCKS: BYTES [BLOCKS: BYTES] @ KIND'",
			input_line_number(g->in));
	slice_blanks(&t);
	if (slice_is(&t, "@"))
		slice_blanks(&t);
	return read_kind(g, t, e);
}

/* ---- rows and names -------------------------------------------------------------------------- */

/* Go names what the program called; other addresses of a named stack are inside of its runtime. */
static void end_row(struct gperftools *g)
{
	if (g->has_stack)
		stackrows_keep_named(&g->stacks);
	g->has_stack = false;
}

static void read_row(struct gperftools *g, struct slice t)
{
	struct heap_row r;
	end_row(g);
	if (!slice_row(&t, &r)) {
		import_odd(g->im, "expected BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESSES");
		return;
	}
	slice_blanks(&t);
	if (!slice_is(&t, "@") || !stackrows_stack(&g->stacks, t)) {
		import_odd(g->im, "expected @ and addresses after the numbers");
		return;
	}
	g->has_stack = true;
	g->sums.live_bytes += r.live_bytes;
	g->sums.born_bytes += r.born_bytes;
	heap_unsample(g->period_bytes, &r.live_blocks, &r.live_bytes);
	heap_unsample(g->period_bytes, &r.born_blocks, &r.born_bytes);
	stackrows_row(&g->stacks, 0, &r);
}

/* "#	0xADDRESS	FUNCTION+0xOFFSET	FILE:LINE" of Go, where the address is in the call. */
static void read_name(struct gperftools *g, struct slice t)
{
	uint64_t addr, line = 0;
	slice_blanks(&t);
	if (!g->has_stack || !slice_hex(&t, &addr))
		return; /* "# runtime.MemStats" and what follows it */
	slice_blanks(&t);
	const char *tab = memchr(t.p, '\t', slice_left(&t));
	struct slice func = {t.p, tab ? tab : t.end}, file = {func.end, t.end};
	slice_blanks(&file);
	for (const char *p = func.end; p - 3 > func.p; p--)
		if (!memcmp(p - 3, "+0x", 3)) {
			func.end = p - 3;
			break;
		}
	for (const char *p = file.end; p > file.p; p--)
		if (p[-1] == ':') {
			struct slice number = {p, file.end};
			if (slice_number(&number, &line))
				file.end = p - 1;
			break;
		}
	struct profile_line l = {import_func(g->im, func.p, slice_left(&func)),
				 import_file(g->im, file.p, slice_left(&file)),
				 line <= UINT32_MAX ? (uint32_t)line : 0};
	stackrows_name(&g->stacks, addr + 1, &l);
	g->has_names = true;
}

static void read_line(struct gperftools *g, struct slice t)
{
	if (slice_left(&t) == 0)
		end_row(g);
	else if (g->has_maps)
		stackrows_map(&g->stacks, t);
	else if (slice_is(&t, "MAPPED_LIBRARIES") || slice_is(&t, "--- Memory map:"))
		g->has_maps = true;
	else if (slice_is(&t, "#"))
		read_name(g, t);
	else
		read_row(g, t);
}

static enum neap_err read_lines(struct gperftools *g, struct err *e)
{
	const char *line;
	size_t bytes;
	bool is_cut = false;
	while (!is_cut && input_line(g->in, &line, &bytes)) {
		is_cut = input_line_is_cut(g->in) && bytes > 0;
		if (!is_cut || g->has_maps)
			read_line(g, slice_init(line, bytes));
	}
	end_row(g);
	if (input_has_failed(g->in))
		return NEAP_OK;
	if (is_cut || input_is_cut(g->in)) {
		if (g->stacks.row_count == 0)
			return err_corrupt(e,
					   "the file is cut in line %" PRIu64
					   ", before the end of its first row",
					   input_line_number(g->in));
		import_partial(g->im, "it is cut in line %" PRIu64, input_line_number(g->in));
	}
	return NEAP_OK;
}

/*
 * The first line has the sums of the rows, before scaling, so that one sees when rows are missing.
 * Some samplers say more in its brackets than their rows have, so only what is live is compared.
 */
static void check_whole(struct gperftools *g)
{
	if (g->sums.live_bytes < g->totals.live_bytes ||
	    (g->is_exact && g->sums.born_bytes < g->totals.born_bytes))
		import_partial(g->im,
			       "its rows have %" PRIu64 " bytes live and %" PRIu64
			       " allocated, its first line says %" PRIu64 " and %" PRIu64,
			       g->sums.live_bytes, g->sums.born_bytes, g->totals.live_bytes,
			       g->totals.born_bytes);
	else if (g->is_exact && !g->has_maps)
		import_partial(g->im, "its list of libraries is missing");
}

enum neap_err gperftools_read(struct input *in, struct import *im, struct err *e)
{
	struct gperftools g = {.in = in, .im = im};
	enum neap_err err = read_header(&g, e);
	if (!err)
		err = read_lines(&g, e);
	if (!err && !input_has_failed(in)) {
		bool is_sampled = g.period_bytes > 1;
		bool has_allocated = !g.is_growth &&
				     (!is_sampled || g.totals.live_blocks != g.totals.born_blocks ||
				      g.totals.live_bytes != g.totals.born_bytes);
		check_whole(&g);
		import_process(im, &(struct import_process){
					   .sample_bytes = is_sampled ? g.period_bytes : 0});
		if (is_sampled)
			import_estimated(im);
		if (g.has_names)
			import_producer(im, "Go");
		if (g.is_growth)
			import_note(im, "this is growth: memory that the allocator took from the "
					"system, not what the program asked for");
		if (!has_allocated)
			import_lacks(im, FACT_ALLOCATED | FACT_FREED);
		err = stackrows_book(&g.stacks, im, NULL, has_allocated, e);
	}
	stackrows_release(&g.stacks);
	return err;
}
