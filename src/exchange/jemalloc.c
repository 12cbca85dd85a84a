/*
 * Heap dumps of jemalloc (MALLOC_CONF=prof:true, mallctl prof.dump).
 *
 *   heap_v2/524288                          mean bytes between samples
 *     t*: 28106: 56637512 [0: 0]            all threads: live blocks: bytes [allocated: bytes]
 *     t0: 352: 16777344 [0: 0] main         each thread, maybe with its name
 *   @ 0x5f 0x6a 0x12                        a stack, innermost first; then its rows
 *     t*: 13: 6688 [0: 0]
 *     t0: 12: 6496 [0: 0]
 *   MAPPED_LIBRARIES:
 *   (the lines of /proc/PID/maps)
 *
 * Stacks begin inside of jemalloc; where that is a library of its own, its frames are left out.
 * What is in brackets is 0 unless prof_accum was on.  Numbers are those of the samples.  Each
 * stack's t* row is scaled up, then summed; its threads get their share of it, so that they add up.
 */
#include "config.h"

#include "src/exchange/exchange_priv.h"
#include "src/exchange/stackrows.h"

#include <inttypes.h>
#include <string.h>

struct thread_row {
	thread_id thread;
	struct heap_row values; /* scaled on its own */
};

struct jemalloc {
	struct input *in;
	struct import *im;
	struct stackrows stacks;
	uint64_t period_bytes;
	bool has_threads, has_allocated;
	enum {
		IN_SUMMARY,
		IN_STACKS,
		IN_MAPS
	} part;

	/* the stack being read */
	bool has_stack, has_all_row;
	struct heap_row all;
	struct thread_row *rows;
	size_t row_count, row_cap;
};

bool jemalloc_detect(const uint8_t *head, size_t bytes)
{
	struct slice t = {(const char *)head, (const char *)head + bytes};
	uint64_t version;
	return slice_is(&t, "heap_v") && slice_number(&t, &version) && slice_is(&t, "/");
}

static enum neap_err read_header(struct jemalloc *j, struct err *e)
{
	const char *line;
	size_t bytes;
	uint64_t version = 0;
	if (!input_line(j->in, &line, &bytes))
		return err_corrupt(e, "the file is empty");
	struct slice t = slice_init(line, bytes);
	if (!slice_is(&t, "heap_v") || !slice_number(&t, &version) || !slice_is(&t, "/") ||
	    !slice_number(&t, &j->period_bytes) || slice_left(&t) > 0)
		return err_corrupt(e,
				   "line 1: expected heap_v2/BYTES, the mean distance of samples");
	if (version != 2)
		return err_set(e, ERR_UNSUPPORTED,
			       "a heap dump of jemalloc in format heap_v%" PRIu64
			       "; neap reads heap_v2",
			       version);
	return NEAP_OK;
}

/* ---- rows ------------------------------------------------------------------------------ */

static void unsample(const struct jemalloc *j, struct heap_row *r)
{
	heap_unsample(j->period_bytes, &r->live_blocks, &r->live_bytes);
	heap_unsample(j->period_bytes, &r->born_blocks, &r->born_bytes);
}

static uint64_t *number_at(struct thread_row *r, size_t offset)
{
	return (uint64_t *)((char *)&r->values + offset);
}

/*
 * Divides `all` in the proportions of shares, in place: cumulated and rounded down, so that the
 * parts add up to the whole.
 */
static void divide(uint64_t all, struct thread_row *rows, size_t count, size_t offset)
{
	double sum = 0, so_far = 0;
	uint64_t given = 0;
	for (size_t i = 0; i < count; i++)
		sum += (double)*number_at(&rows[i], offset);
	for (size_t i = 0; i < count; i++) {
		so_far += (double)*number_at(&rows[i], offset);
		double part = sum > 0 ? (double)all * (so_far / sum) : 0;
		uint64_t upto = i + 1 == count || part >= (double)all ? all : (uint64_t)part;
		if (upto < given)
			upto = given;
		*number_at(&rows[i], offset) = upto - given;
		given = upto;
	}
}

/* Between what was allocated and what died, which can be divided like what is live. */
static void born_to_died(struct heap_row *r)
{
	r->born_blocks -= r->born_blocks < r->live_blocks ? r->born_blocks : r->live_blocks;
	r->born_bytes -= r->born_bytes < r->live_bytes ? r->born_bytes : r->live_bytes;
}

/* Bytes cannot be without a block: those of threads that got no block go to the one that has most. */
static void mend_blocks(struct jemalloc *j, size_t blocks_offset, size_t bytes_offset)
{
	struct thread_row *most = &j->rows[0];
	for (size_t i = 0; i < j->row_count; i++)
		if (*number_at(&j->rows[i], blocks_offset) > *number_at(most, blocks_offset))
			most = &j->rows[i];
	if (*number_at(most, blocks_offset) == 0)
		return;
	for (size_t i = 0; i < j->row_count; i++) {
		if (*number_at(&j->rows[i], blocks_offset) > 0)
			continue;
		*number_at(most, bytes_offset) += *number_at(&j->rows[i], bytes_offset);
		*number_at(&j->rows[i], bytes_offset) = 0;
	}
}

static void divide_all(struct jemalloc *j)
{
	born_to_died(&j->all);
	for (size_t i = 0; i < j->row_count; i++)
		born_to_died(&j->rows[i].values);
	divide(j->all.live_blocks, j->rows, j->row_count, offsetof(struct heap_row, live_blocks));
	divide(j->all.live_bytes, j->rows, j->row_count, offsetof(struct heap_row, live_bytes));
	divide(j->all.born_blocks, j->rows, j->row_count, offsetof(struct heap_row, born_blocks));
	divide(j->all.born_bytes, j->rows, j->row_count, offsetof(struct heap_row, born_bytes));
	mend_blocks(j, offsetof(struct heap_row, live_blocks),
		    offsetof(struct heap_row, live_bytes));
	for (size_t i = 0; i < j->row_count; i++) {
		j->rows[i].values.born_blocks += j->rows[i].values.live_blocks;
		j->rows[i].values.born_bytes += j->rows[i].values.live_bytes;
	}
	mend_blocks(j, offsetof(struct heap_row, born_blocks),
		    offsetof(struct heap_row, born_bytes));
}

/* Hands the stack that was read to the stacks. */
static void end_stack(struct jemalloc *j)
{
	if (!j->has_stack)
		return;
	if (j->has_all_row && j->row_count == 0)
		stackrows_row(&j->stacks, 0, &j->all);
	else if (j->has_all_row)
		divide_all(j);
	for (size_t i = 0; i < j->row_count; i++)
		stackrows_row(&j->stacks, j->rows[i].thread, &j->rows[i].values);
	j->has_stack = j->has_all_row = false;
	j->row_count = 0;
}

static enum neap_err add_row(struct jemalloc *j, thread_id thread, const struct heap_row *r,
			     struct err *e)
{
	if (!vec_reserve((void **)&j->rows, &j->row_cap, j->row_count + 1, sizeof j->rows[0]))
		return err_nomem(e, "threads of a heap dump");
	j->rows[j->row_count++] = (struct thread_row){thread, *r};
	j->has_threads = true;
	return NEAP_OK;
}

/* After the "t": "*: row" or "N: row name". */
static enum neap_err read_row(struct jemalloc *j, struct slice t, struct err *e)
{
	uint64_t number = 0;
	bool is_all = slice_is(&t, "*");
	struct heap_row r;
	if ((!is_all && !slice_number(&t, &number)) || !slice_is(&t, ":") || !slice_row(&t, &r)) {
		import_odd(j->im, "expected tNUMBER: BLOCKS: BYTES [BLOCKS: BYTES]");
		return NEAP_OK;
	}
	j->has_allocated = j->has_allocated || r.born_blocks > 0;
	slice_blanks(&t);
	if (j->part == IN_SUMMARY) {
		if (!is_all)
			import_thread(j->im, (uint32_t)number, t.p, slice_left(&t));
		return NEAP_OK;
	}
	unsample(j, &r);
	if (is_all) {
		j->all = r;
		j->has_all_row = true;
		return NEAP_OK;
	}
	return add_row(j, import_thread(j->im, (uint32_t)number, NULL, 0), &r, e);
}

/* ---- lines ------------------------------------------------------------------------------ */

static enum neap_err read_line(struct jemalloc *j, const char *line, size_t bytes, struct err *e)
{
	struct slice t = slice_init(line, bytes);
	if (slice_left(&t) == 0)
		return NEAP_OK;
	if (j->part == IN_MAPS) {
		stackrows_map(&j->stacks, t);
		return NEAP_OK;
	}
	if (slice_is(&t, "MAPPED_LIBRARIES")) {
		end_stack(j);
		j->part = IN_MAPS;
		return NEAP_OK;
	}
	if (slice_is(&t, "@")) {
		end_stack(j);
		j->part = IN_STACKS;
		j->has_stack = stackrows_stack(&j->stacks, t);
		if (!j->has_stack)
			import_odd(j->im, "expected addresses after the @");
		return NEAP_OK;
	}
	if (slice_is(&t, "t")) {
		if (j->part == IN_STACKS && !j->has_stack)
			return NEAP_OK; /* of a stack that could not be read */
		return read_row(j, t, e);
	}
	import_odd(j->im, "expected @ ADDRESSES or tNUMBER: ...");
	return NEAP_OK;
}

/* A line without an end is not to be trusted: a number may have more digits. */
static enum neap_err read_lines(struct jemalloc *j, struct err *e)
{
	const char *line;
	size_t bytes;
	enum neap_err err = NEAP_OK;
	bool is_cut = false;
	while (!err && !is_cut && input_line(j->in, &line, &bytes)) {
		is_cut = input_line_is_cut(j->in);
		if (!is_cut || j->part == IN_MAPS)
			err = read_line(j, line, bytes, e);
	}
	if (err || input_has_failed(j->in))
		return err;
	end_stack(j);
	if (j->stacks.stack_count == 0)
		return err_corrupt(e, "the file ends in line %" PRIu64 ", before the first stack",
				   input_line_number(j->in));
	if (j->part != IN_MAPS || is_cut || input_is_cut(j->in))
		import_partial(j->im,
			       "it ends in line %" PRIu64
			       ", before the end of its list of libraries",
			       input_line_number(j->in));
	return NEAP_OK;
}

static void say_facts(struct jemalloc *j)
{
	if (j->period_bytes > 1) {
		import_process(j->im, &(struct import_process){.sample_bytes = j->period_bytes});
		import_estimated(j->im);
	}
	if (!j->has_threads)
		import_lacks(j->im, FACT_THREADS);
	if (!j->has_allocated)
		import_lacks(j->im, FACT_ALLOCATED | FACT_FREED);
}

enum neap_err jemalloc_read(struct input *in, struct import *im, struct err *e)
{
	struct jemalloc j = {.in = in, .im = im};
	enum neap_err err = read_header(&j, e);
	if (!err)
		err = read_lines(&j, e);
	if (!err) {
		say_facts(&j);
		err = stackrows_book(&j.stacks, im, "libjemalloc.so", j.has_allocated, e);
	}
	mem_free(j.rows);
	stackrows_release(&j.stacks);
	return err;
}
