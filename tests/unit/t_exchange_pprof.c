/* The importer of pprof's profile.proto; files are written here byte by byte. */
#include "config.h"

#include "foreign.h"

#include "src/base/mem.h"
#include "src/exchange/exchange.h"
#include "src/profile/profile.h"

#include <criterion/criterion.h>
#include <string.h>

/* ---- a writer -------------------------------------------------------------------------------- */

struct proto {
	struct buf out, names;
	size_t name_count;
};

static void put_number(struct buf *b, unsigned field, uint64_t value)
{
	buf_varint(b, field << 3);
	buf_varint(b, value);
}

static void put_message(struct buf *b, unsigned field, struct buf *message)
{
	buf_varint(b, field << 3 | 2);
	buf_str(b, message->data ? message->data : "", message->count_bytes);
	buf_release(message);
}

/* The number of a text; all are written at the end, as the real writers do. */
static uint64_t name(struct proto *p, const char *s)
{
	buf_varint(&p->names, 6 << 3 | 2);
	buf_str(&p->names, s, strlen(s));
	return p->name_count++;
}

static struct proto start(void)
{
	struct proto p = {0};
	name(&p, "");
	return p;
}

static void put_type(struct proto *p, unsigned field, const char *type, const char *unit)
{
	struct buf m = {0};
	put_number(&m, 1, name(p, type));
	put_number(&m, 2, name(p, unit));
	put_message(&p->out, field, &m);
}

static void put_function(struct proto *p, uint64_t id, const char *function, const char *linkage,
			 const char *file)
{
	struct buf m = {0};
	put_number(&m, 1, id);
	put_number(&m, 2, name(p, function));
	put_number(&m, 3, name(p, linkage));
	put_number(&m, 4, name(p, file));
	put_message(&p->out, 5, &m);
}

/* With up to two lines, the inner function first; function 0: none. */
static void put_location(struct proto *p, uint64_t id, uint64_t mapping, uint64_t address,
			 uint64_t inner, uint64_t outer)
{
	struct buf m = {0}, line = {0};
	put_number(&m, 1, id);
	put_number(&m, 2, mapping);
	put_number(&m, 3, address);
	for (int i = 0; i < 2; i++) {
		uint64_t function = i ? outer : inner;
		if (!function)
			continue;
		put_number(&line, 1, function);
		put_number(&line, 2, 10 * function);
		put_message(&m, 4, &line);
	}
	put_message(&p->out, 4, &m);
}

static void put_packed(struct buf *b, unsigned field, const uint64_t *values, size_t count)
{
	struct buf m = {0};
	for (size_t i = 0; i < count; i++)
		buf_varint(&m, values[i]);
	put_message(b, field, &m);
}

static void put_label(struct proto *p, struct buf *sample, const char *key, const char *text,
		      uint64_t number)
{
	struct buf m = {0};
	put_number(&m, 1, name(p, key));
	if (text)
		put_number(&m, 2, name(p, text));
	else
		put_number(&m, 3, number);
	put_message(sample, 3, &m);
}

/* A stack of two, with values; size_bytes 0: no label. */
static struct buf sample(struct proto *p, uint64_t leaf, uint64_t root, const uint64_t *values,
			 size_t count, uint64_t size_bytes)
{
	struct buf m = {0};
	put_packed(&m, 1, (const uint64_t[]){leaf, root}, root ? 2 : 1);
	put_packed(&m, 2, values, count);
	if (size_bytes)
		put_label(p, &m, "bytes", NULL, size_bytes);
	return m;
}

static void finish(struct proto *p)
{
	buf_put(&p->out, p->names.data, p->names.count_bytes);
	buf_release(&p->names);
}

static void expect(struct proto *p, const char *want)
{
	finish(p);
	expect_import(p->out.data, p->out.count_bytes, want);
	buf_release(&p->out);
}

static void expect_no(struct proto *p, enum neap_err code, const char *words)
{
	finish(p);
	expect_refusal(p->out.data, p->out.count_bytes, code, words);
	buf_release(&p->out);
}

/* Four types as Go has them, three functions, a mapping. */
static struct proto go_like(void)
{
	struct proto p = start();
	struct buf m = {0};
	put_type(&p, 1, "alloc_objects", "count");
	put_type(&p, 1, "alloc_space", "bytes");
	put_type(&p, 1, "inuse_objects", "count");
	put_type(&p, 1, "inuse_space", "bytes");
	put_number(&m, 1, 1);
	put_number(&m, 2, 0x7f0000000000);
	put_number(&m, 3, 0x7f0000010000);
	put_number(&m, 5, name(&p, "/bin/prog"));
	put_number(&m, 6, name(&p, "00ff10"));
	put_message(&p.out, 3, &m);
	put_function(&p, 1, "leaf", "leaf", "l.go");
	put_function(&p, 2, "mid()", "_Zmid", "");
	put_function(&p, 3, "main", "", "m.go");
	put_location(&p, 11, 1, 0x7f0000000100, 1, 2); /* leaf, inlined into mid() */
	put_location(&p, 12, 1, 0x7f0000000200, 3, 0);
	put_location(&p, 13, 1, 0x7f0000000300, 0, 0);
	return p;
}

/* ---- what is read ------------------------------------------------------------------------------ */

Test(pprof, reads_the_four_types_and_inlined_functions)
{
	struct proto p = go_like();
	struct buf s = sample(&p, 11, 12, (const uint64_t[]){5, 500, 2, 200}, 4, 100);
	put_message(&p.out, 2, &s);
	s = sample(&p, 13, 12, (const uint64_t[]){1, 8, 1, 8}, 4, 8);
	put_message(&p.out, 2, &s);
	put_number(&p.out, 12, 1);
	expect(&p, "total 6 blocks 508 bytes, live 3 208\n"
		   "main(m.go:30);mid()<leaf(l.go:10) 5 500 live 2 200\n"
		   "main(m.go:30);/bin/prog+0x301 1 8 live 1 8\n");
}

Test(pprof, knows_what_it_lacks)
{
	struct proto p = start();
	put_type(&p, 1, "space", "bytes");
	put_location(&p, 1, 0, 0x10, 0, 0);
	struct buf s = sample(&p, 1, 0, (const uint64_t[]){50}, 1, 0);
	put_message(&p.out, 2, &s);
	finish(&p);
	struct foreign_sums sums = foreign_import(p.out.data, p.out.count_bytes);
	cr_expect_eq(sums.live_bytes, 50);
	uint64_t lacks = FACT_COUNTS | FACT_ALLOCATED | FACT_FREED | FACT_SIZES | FACT_TIME;
	cr_expect_eq(sums.unknown & lacks, lacks);
	cr_expect(!(sums.unknown & FACT_LIVE));
	cr_expect(!sums.is_estimated);
	buf_release(&p.out);
}

Test(pprof, keeps_sums_where_scaling_left_counts_that_do_not_fit_the_size)
{
	struct proto p = go_like();
	put_type(&p, 11, "space", "bytes");
	put_number(&p.out, 12, 524288);
	struct buf s = sample(&p, 12, 0, (const uint64_t[]){7, 707, 3, 301}, 4, 100);
	put_message(&p.out, 2, &s);
	finish(&p);
	struct foreign_sums sums = foreign_import(p.out.data, p.out.count_bytes);
	cr_expect_eq(sums.born_bytes, 707);
	cr_expect_eq(sums.live_bytes, 301);
	cr_expect_eq(sums.live_blocks, 3);
	cr_expect(sums.is_estimated);
	cr_expect(sums.unknown & FACT_SIZES);
	buf_release(&p.out);
}

Test(pprof, reads_allocations_of_julia_and_their_types)
{
	struct proto p = start();
	put_type(&p, 1, "allocs", "count");
	put_type(&p, 1, "size", "bytes");
	put_function(&p, 1, "Alloc: Vector{Int64}", "", "");
	put_function(&p, 2, "f", "f", "f.jl");
	put_location(&p, 1, 0, 0, 1, 0);
	put_location(&p, 2, 0, 0, 2, 0);
	struct buf s = sample(&p, 1, 2, (const uint64_t[]){1, 72}, 2, 72);
	put_label(&p, &s, "type", "Vector{Int64}", 0);
	put_message(&p.out, 2, &s);
	s = sample(&p, 2, 0, (const uint64_t[]){2, 16}, 2, 8);
	put_label(&p, &s, "type", "Float64", 0);
	put_message(&p.out, 2, &s);
	put_number(&p.out, 12, 1);
	finish(&p);
	struct foreign_sums sums = foreign_import(p.out.data, p.out.count_bytes);
	cr_expect(sums.unknown & FACT_LIVE);
	cr_expect(!(sums.unknown & FACT_ALLOCATED));
	expect_import(p.out.data, p.out.count_bytes,
		      "total 3 blocks 88 bytes, live 3 88\n"
		      "f(f.jl:20);Alloc: Vector{Int64} 1 72 live 1 72\n"
		      "f(f.jl:20);Alloc: Float64 2 16 live 2 16\n");
	buf_release(&p.out);
}

Test(pprof, reads_the_peak_and_threads)
{
	struct proto p = go_like();
	put_type(&p, 1, "peak_objects", "count");
	put_type(&p, 1, "peak_space", "bytes");
	struct buf s = sample(&p, 12, 0, (const uint64_t[]){5, 50, 1, 10, 3, 30}, 6, 10);
	put_label(&p, &s, "thread", NULL, 9);
	put_message(&p.out, 2, &s);
	s = sample(&p, 12, 0, (const uint64_t[]){1, 10, 1, 10, 1, 10}, 6, 10);
	put_label(&p, &s, "thread", "worker", 0);
	put_message(&p.out, 2, &s);
	finish(&p);
	struct foreign_sums sums = foreign_import(p.out.data, p.out.count_bytes);
	cr_expect_eq(sums.peak_bytes, 40);
	cr_expect_eq(sums.unknown & (FACT_PEAK | FACT_PEAK_EXACT | FACT_THREADS), 0);
	buf_release(&p.out);
}

/* A sample without a thread comes first; names belong to the threads that say them. */
Test(pprof, threads_are_told_from_the_unknown_one)
{
	static const char *const names[] = {"[unknown]", "worker", "writer", "lone"};
	static const uint32_t tids[] = {0, 7, 9, 0};
	struct proto p = go_like();
	struct buf s = sample(&p, 12, 0, (const uint64_t[]){1, 10, 1, 10}, 4, 0);
	put_message(&p.out, 2, &s);
	for (int round = 0; round < 2; round++) { /* numbers first, then names too */
		for (int i = 1; i <= 2; i++) {
			s = sample(&p, 12, 0, (const uint64_t[]){1, 10, 1, 10}, 4, 0);
			if (round)
				put_label(&p, &s, "thread_name", names[i], 0);
			put_label(&p, &s, "thread", NULL, tids[i]);
			put_message(&p.out, 2, &s);
		}
	}
	for (int round = 0; round < 2; round++) { /* by its name alone */
		s = sample(&p, 12, 0, (const uint64_t[]){1, 10, 1, 10}, 4, 0);
		put_label(&p, &s, "thread", names[3], 0);
		put_message(&p.out, 2, &s);
	}
	finish(&p);
	struct profile *profile;
	struct err e = {0};
	cr_assert_eq(exchange_parse(p.out.data, p.out.count_bytes, "t", NULL, &profile, &e),
		     NEAP_OK, "%s", e.text);
	cr_assert_eq(profile->thread_count, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_str_eq(profile->threads[i].name, names[i]);
		cr_expect_eq(profile->threads[i].tid, tids[i]);
	}
	profile_free(profile);
	buf_release(&p.out);
}

Test(pprof, counts_what_is_live_as_allocated_at_least)
{
	struct proto p = go_like();
	struct buf s = sample(&p, 12, 0, (const uint64_t[]){1, 10, 2, 30}, 4, 0);
	put_message(&p.out, 2, &s);
	expect(&p, "total 2 blocks 30 bytes, live 2 30\n"
		   "main(m.go:30) 2 30 live 2 30\n"
		   "note: at 1 stacks more is live than was allocated; all of that counts as "
		   "allocated\n");
}

Test(pprof, leaves_a_peak_out_that_cannot_be)
{
	static const uint64_t values[][6] = {
		{5, 50, 3, 30, 2, 20}, /* less than what is live */
		{5, 50, 3, 30, 6, 60}, /* more than was allocated */
	};
	for (size_t i = 0; i < 2; i++) {
		struct proto p = go_like();
		put_type(&p, 1, "peak_objects", "count");
		put_type(&p, 1, "peak_space", "bytes");
		struct buf s = sample(&p, 12, 0, values[i], 6, 10);
		put_message(&p.out, 2, &s);
		expect(&p, "total 5 blocks 50 bytes, live 3 30\n"
			   "main(m.go:30) 5 50 live 3 30\n"
			   "note: the peak that the file gives does not fit what it says is live, "
			   "and is "
			   "left out\n");
	}
}

/* ---- what is refused --------------------------------------------------------------------------- */

Test(pprof, refuses_other_profiles_by_their_types)
{
	struct proto p = start();
	put_type(&p, 1, "samples", "count");
	put_type(&p, 1, "cpu", "nanoseconds");
	expect_no(&p, ERR_UNSUPPORTED, "a pprof profile of samples/count, cpu/nanoseconds");
}

Test(pprof, refuses_differences)
{
	struct proto p = go_like();
	struct buf s =
		sample(&p, 12, 0, (const uint64_t[]){1, 10, (uint64_t)-1, (uint64_t)-10}, 4, 0);
	put_message(&p.out, 2, &s);
	expect_no(&p, ERR_UNSUPPORTED, "the difference of two profiles");
}

Test(pprof, refuses_what_does_not_fit_together)
{
	struct proto p = go_like();
	struct buf s = sample(&p, 99, 0, (const uint64_t[]){1, 10, 1, 10}, 4, 0);
	put_message(&p.out, 2, &s);
	expect_no(&p, ERR_FORMAT, "location 99, which the file does not have");

	p = go_like();
	s = sample(&p, 12, 0, (const uint64_t[]){1, 10}, 2, 0);
	put_message(&p.out, 2, &s);
	expect_no(&p, ERR_FORMAT, "a sample has 2 values, expected 4");

	p = go_like();
	buf_puts(&p.out, "\x12\x02\x0a\x09"); /* a sample that is longer than it is */
	expect_no(&p, ERR_FORMAT, "a sample is damaged");

	p = go_like();
	struct buf type = {0};
	put_number(&type, 1, 77);
	put_message(&p.out, 1, &type);
	expect_no(&p, ERR_FORMAT, "names and speaks of more: it is cut");
}

Test(pprof, a_web_page_is_called_one)
{
	static const char page[] = "<!DOCTYPE html>\n<html><body>404 Not Found</body></html>\n";
	expect_refusal(page, sizeof page - 1, ERR_FORMAT, "a web page");
}

Test(exchange, reads_and_cuts_a_profile_of_go)
{
	struct buf file = foreign_file("go.pb.gz", false);
	cr_assert_gt(file.count_bytes, 0);
	struct foreign_sums s = foreign_import(file.data, file.count_bytes);
	cr_expect_eq(s.born_blocks, 208);
	cr_expect_eq(s.born_bytes, 538704);
	cr_expect_eq(s.live_blocks, 105);
	cr_expect_eq(s.live_bytes, 128960);
	cr_expect(!s.is_estimated && !s.is_partial);
	expect_fair_cuts(file.data, file.count_bytes, 1);
	expect_refusal(file.data, file.count_bytes / 2, ERR_FORMAT, "copy or download it again");
	buf_release(&file);
}

Test(exchange, every_beginning_of_a_plain_profile_is_fair)
{
	struct proto p = go_like();
	struct buf s = sample(&p, 11, 12, (const uint64_t[]){5, 500, 2, 200}, 4, 100);
	put_message(&p.out, 2, &s);
	finish(&p);
	expect_fair_cuts(p.out.data, p.out.count_bytes, 1);
	expect_fair_lack_of_memory(p.out.data, p.out.count_bytes);
	buf_release(&p.out);
}
