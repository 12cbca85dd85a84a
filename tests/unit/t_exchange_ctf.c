/* memtrace's packets, written here by hand as the format says, decoded and imported. */
#include "config.h"

#include "foreign.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/exchange/ctf.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#define START_US UINT64_C(0x5e0000001fffff0) /* low 25 bits overflow soon */
#define PID      77

/* ---- a writer ------------------------------------------------------------------ */

struct trace {
	struct buf b;
	unsigned version;
	size_t packet; /* where it begins */
	size_t alloc_ids;
};

static void put_u16(struct buf *b, unsigned v)
{
	buf_u8(b, (uint8_t)v);
	buf_u8(b, (uint8_t)(v >> 8));
}

static void patch(struct buf *b, size_t at, uint64_t v, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		b->data[at + i] = (char)(v >> (8 * i));
}

static void begin_packet(struct trace *t, unsigned domain, uint64_t pid, uint64_t first_id)
{
	t->packet = t->b.count_bytes;
	buf_u32(&t->b, CTF_MAGIC);
	buf_u32(&t->b, 0);
	buf_u64(&t->b, START_US);
	buf_u64(&t->b, START_US + 1000);
	buf_u32(&t->b, 0);
	put_u16(&t->b, t->version);
	buf_u64(&t->b, pid);
	if (t->version >= 3)
		put_u16(&t->b, domain);
	put_u16(&t->b, 0xffff);
	put_u16(&t->b, 0);
	buf_u64(&t->b, 0);
	t->alloc_ids = t->b.count_bytes;
	buf_u64(&t->b, first_id);
	buf_u64(&t->b, first_id);
}

static void end_packet(struct trace *t, uint64_t end_id)
{
	patch(&t->b, t->packet + 4, 8 * (t->b.count_bytes - t->packet), 4);
	patch(&t->b, t->alloc_ids + 8, end_id, 8);
}

static void put_event(struct trace *t, unsigned kind, unsigned after_us)
{
	buf_u32(&t->b, kind << 25 | (uint32_t)((START_US + after_us) & 0x1ffffff));
}

static void put_cstr(struct trace *t, const char *s)
{
	buf_put(&t->b, s, strlen(s) + 1);
}

static struct trace start(unsigned version)
{
	struct trace t = {.version = version};
	double rate = 0.25;
	uint64_t bits;
	memcpy(&bits, &rate, sizeof bits);
	begin_packet(&t, 0, PID, 0);
	put_event(&t, 0, 0);
	buf_u64(&t.b, bits);
	buf_u8(&t.b, 64);
	put_cstr(&t, "/bin/prog");
	put_cstr(&t, "host");
	put_cstr(&t, "a=1");
	buf_u64(&t.b, PID);
	if (version >= 2)
		put_cstr(&t, "context");
	end_packet(&t, 0);
	return t;
}

/* One location with one place; the names are written if the index is 31. */
static void put_location(struct trace *t, uint64_t code, unsigned file, const char *file_name,
			 unsigned def, const char *def_name, unsigned line)
{
	put_event(t, 1, 1);
	buf_u64(&t->b, code);
	buf_u8(&t->b, 1);
	uint64_t bits = line | UINT64_C(5) << 20 | UINT64_C(9) << 28 | (uint64_t)file << 38 |
			(uint64_t)def << 43;
	buf_u32(&t->b, (uint32_t)bits);
	put_u16(&t->b, (unsigned)(bits >> 32));
	if (file == 31)
		put_cstr(t, file_name);
	if (def == 31)
		put_cstr(t, def_name);
}

static void put_short(struct trace *t, unsigned words, unsigned common, unsigned code_count)
{
	put_event(t, 100 + words, 1);
	buf_u8(&t->b, (uint8_t)common);
	buf_u8(&t->b, (uint8_t)code_count);
}

static void put_miss(struct trace *t, unsigned slot, uint64_t code)
{
	put_u16(&t->b, slot << 2 | 3);
	buf_u64(&t->b, code);
}

/* ---- and what is read ------------------------------------------------------------- */

/* All events as lines; a failure is the last one. */
static void read_all(const struct buf *b, struct buf *out)
{
	struct ctf *c = ctf_new();
	struct err e = {0};
	struct ctf_event ev = {0};
	const uint8_t *data = (const uint8_t *)b->data;
	size_t at = 0, bytes = 0;
	for (; at < b->count_bytes && ev.kind != CTF_FAILED; at += bytes) {
		if (ctf_packet_bytes(data + at, at, &bytes, &e) || bytes > b->count_bytes - at ||
		    ctf_begin(c, data + at, bytes, at, &e))
			break;
		while (ctf_next(c, &ev, &e) != CTF_END && ev.kind != CTF_FAILED) {
			if (ev.kind == CTF_LOCATION)
				buf_printf(out, "loc %" PRIx64 " %s %s %u\n", ev.code,
					   ev.locations[0].def, ev.locations[0].file,
					   ev.locations[0].line);
			else
				buf_printf(out, "%s d%u id%" PRIu64 " at %" PRIu64,
					   ev.kind == CTF_ALLOC     ? "alloc"
					   : ev.kind == CTF_PROMOTE ? "promote"
								    : "collect",
					   ev.domain, ev.id, ev.time_us - START_US);
			if (ev.kind == CTF_ALLOC) {
				buf_printf(out, " %" PRIu64 "w %" PRIu64 "s s%d common %zu%s:",
					   ev.length_words, ev.sample_count, (int)ev.source,
					   ev.common_count, ev.is_cut ? " cut" : "");
				for (size_t i = 0; i < ev.code_count; i++)
					buf_printf(out, " %" PRIx64, ev.codes[i]);
			}
			if (ev.kind != CTF_LOCATION)
				buf_putc(out, '\n');
		}
	}
	if (e.code)
		buf_printf(out, "! %s\n", e.text);
	ctf_free(c);
}

static void expect(struct trace *t, const char *want)
{
	struct buf out = {0};
	read_all(&t->b, &out);
	cr_expect_str_eq(out.data ? out.data : "", want);
	buf_release(&out);
	buf_release(&t->b);
}

static void expect_failure(struct trace *t, const char *part)
{
	struct buf out = {0};
	read_all(&t->b, &out);
	cr_expect(out.data && strstr(out.data, part), "want '%s' in: %s", part,
		  out.data ? out.data : "");
	buf_release(&out);
	buf_release(&t->b);
}

Test(ctf, tells_the_facts_about_the_trace)
{
	for (unsigned version = 1; version <= 3; version++) {
		struct trace t = start(version);
		struct ctf *c = ctf_new();
		struct ctf_event ev;
		cr_assert_null(ctf_info(c));
		cr_assert_eq(ctf_begin(c, (const uint8_t *)t.b.data, t.b.count_bytes, 0, NULL),
			     NEAP_OK);
		const struct ctf_info *info = ctf_info(c);
		cr_expect_eq(info->version, version);
		cr_expect_eq(info->rate, 0.25);
		cr_expect_eq(info->word_bytes, 8);
		cr_expect_eq(info->start_us, START_US);
		cr_expect_str_eq(info->exe, "/bin/prog");
		cr_expect_str_eq(info->params, "a=1");
		cr_expect_str_eq(info->context, version >= 2 ? "context" : "");
		cr_expect_eq(ctf_next(c, &ev, NULL), CTF_END);
		ctf_free(c);
		buf_release(&t.b);
	}
}

Test(ctf, follows_hits_misses_and_predictions)
{
	struct trace t = start(2);
	begin_packet(&t, 0, PID, 10);
	put_short(&t, 3, 0, 4); /* a b c d, all new */
	put_miss(&t, 1, 0xa);
	put_miss(&t, 2, 0xb);
	put_miss(&t, 3, 0xc);
	put_miss(&t, 4, 0xd);
	put_short(&t, 1, 0, 1); /* slot 1, then two predicted */
	put_u16(&t.b, 1 << 2 | 2);
	buf_u8(&t.b, 2);
	put_short(&t, 16, 2, 2); /* a b, then d with no prediction, then a with one */
	put_u16(&t.b, 4 << 2);
	put_u16(&t.b, 1 << 2 | 1);
	put_event(&t, 2, 20);
	buf_u8(&t.b, 254); /* words */
	buf_u32(&t.b, 100000);
	buf_u8(&t.b, 253); /* samples */
	put_u16(&t.b, 300);
	buf_u8(&t.b, 1);
	buf_u8(&t.b, 3); /* a b d, nothing new */
	put_u16(&t.b, 0);
	put_event(&t, 3, 21);
	buf_u8(&t.b, 3);
	put_event(&t, 4, 1000);
	buf_u8(&t.b, 0);
	end_packet(&t, 14);
	expect(&t, "alloc d0 id10 at 1 3w 1s s0 common 0: a b c d\n"
		   "alloc d0 id11 at 1 1w 1s s0 common 0: a b c\n"
		   "alloc d0 id12 at 1 16w 1s s0 common 2: a b d a b\n"
		   "alloc d0 id13 at 20 100000w 300s s1 common 3: a b d\n"
		   "promote d0 id10 at 21\n"
		   "collect d0 id13 at 1000\n");
}

Test(ctf, keeps_the_outer_part_of_a_stack_that_was_cut)
{
	struct trace t = start(2);
	begin_packet(&t, 0, PID, 0);
	put_short(&t, 1, 0, 1);
	put_miss(&t, 1, 0xa);
	put_short(&t, 1, 9, 1); /* shares 9 frames with a stack of 1 */
	put_miss(&t, 2, 0xb);
	put_short(&t, 1, 0, 2); /* slot 2 was learnt nevertheless */
	put_u16(&t.b, 1 << 2);
	put_u16(&t.b, 2 << 2);
	end_packet(&t, 3);
	expect(&t, "alloc d0 id0 at 1 1w 1s s0 common 0: a\n"
		   "alloc d0 id1 at 1 1w 1s s0 common 1 cut: a\n"
		   "alloc d0 id2 at 1 1w 1s s0 common 0: a b\n");
}

/* 31 files with a definition each, then a 32nd whose table of definitions is not new. */
static struct trace many_files(unsigned version)
{
	static const char names[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh";
	struct trace t = start(version);
	begin_packet(&t, 0, PID, 0);
	for (unsigned i = 0; i < 31; i++) {
		char file[2] = {names[i], 0}, def[3] = {'f', names[i], 0};
		put_location(&t, i, 31, file, 31, def, i);
	}
	put_location(&t, 100, 30, NULL, 0, NULL, 7);  /* A to the front, with fA */
	put_location(&t, 101, 31, "new", 0, NULL, 8); /* in place of B, with fB */
	put_location(&t, 102, 1, NULL, 31, "gA", 9);  /* A again */
	put_location(&t, 103, 0, NULL, 1, NULL, 10);  /* A, fA */
	end_packet(&t, 0);
	return t;
}

Test(ctf, version_1_goes_on_with_the_definitions_of_the_file_that_left)
{
	struct trace t = many_files(1);
	struct buf out = {0};
	read_all(&t.b, &out);
	cr_expect(
		strstr(out.data, "loc 64 fA A 7\nloc 65 fB new 8\nloc 66 gA A 9\nloc 67 fA A 10\n"),
		"%s", out.data);
	buf_release(&out);
	buf_release(&t.b);
}

Test(ctf, later_versions_begin_a_file_without_definitions)
{
	struct trace t = many_files(2);
	expect_failure(&t, "definition 0 of the table, which is free");
}

Test(ctf, domains_have_tables_of_their_own)
{
	struct trace t = start(3);
	for (unsigned domain = 0; domain < 2; domain++) {
		begin_packet(&t, domain, PID, domain * 100);
		put_location(&t, 1 + domain, 31, domain ? "b.ml" : "a.ml", 31, "f", 3);
		put_short(&t, 2, 0, 1);
		put_miss(&t, 5, 1 + domain);
		end_packet(&t, domain * 100 + 1);
	}
	begin_packet(&t, 0, PID, 1);
	put_location(&t, 9, 0, NULL, 0, NULL, 4);
	put_short(&t, 2, 1, 1);
	put_u16(&t.b, 5 << 2);
	end_packet(&t, 2);
	expect(&t, "loc 1 f a.ml 3\nalloc d0 id0 at 1 2w 1s s0 common 0: 1\n"
		   "loc 2 f b.ml 3\nalloc d1 id100 at 1 2w 1s s0 common 0: 2\n"
		   "loc 9 f a.ml 4\nalloc d0 id1 at 1 2w 1s s0 common 1: 1 1\n");
}

Test(ctf, skips_packets_of_a_fork)
{
	struct trace t = start(2);
	begin_packet(&t, 0, PID + 1, 5);
	put_short(&t, 1, 0, 1);
	put_miss(&t, 1, 0xa);
	end_packet(&t, 6);
	expect(&t, "");
}

Test(ctf, says_where_it_goes_wrong)
{
	struct trace t = start(2);
	begin_packet(&t, 0, PID, 0);
	put_short(&t, 1, 0, 1);
	put_miss(&t, 1, 0xa);
	end_packet(&t, 2);
	expect_failure(&t, "memtrace packet 2, byte ");

	t = start(2);
	begin_packet(&t, 0, PID, 0);
	put_short(&t, 1, 0, 1);
	put_miss(&t, 1, 0xa);
	end_packet(&t, 0);
	expect_failure(&t, "more allocations than the packet says");

	t = start(2);
	begin_packet(&t, 0, PID, 0);
	put_short(&t, 1, 0, 9);
	put_miss(&t, 1, 0xa);
	end_packet(&t, 1);
	expect_failure(&t, "a stack of 9 parts");

	t = start(2);
	begin_packet(&t, 0, PID, 0);
	patch(&t.b, t.packet + 38, 1, 2); /* slot 1 should lead to slot 2 */
	patch(&t.b, t.packet + 40, 2, 2);
	end_packet(&t, 0);
	expect_failure(&t, "the table of stacks is not what the writer had (slot 1)");

	t = start(2);
	begin_packet(&t, 0, PID, 0);
	put_event(&t, 5, 0);
	end_packet(&t, 0);
	expect_failure(&t, "an event of kind 5");

	t = start(2);
	begin_packet(&t, 0, PID, 0);
	put_event(&t, 4, 2000);
	buf_u8(&t.b, 0);
	end_packet(&t, 0);
	expect_failure(&t, "an event outside the time of its packet");

	t = start(2);
	patch(&t.b, 28, 4, 2);
	expect_failure(&t, "a memtrace file of version 4");
}

Test(ctf, survives_lack_of_memory)
{
	struct trace t = many_files(2);
	for (uint64_t n = 1; n < 60; n++) {
		struct err e = {0};
		struct ctf_event ev;
		size_t bytes, at = 0;
		mem_fail_at(n);
		struct ctf *c = ctf_new();
		for (; c && at < t.b.count_bytes && !e.code; at += bytes) {
			const uint8_t *data = (const uint8_t *)t.b.data + at;
			cr_assert_eq(ctf_packet_bytes(data, at, &bytes, &e), NEAP_OK);
			if (!ctf_begin(c, data, bytes, at, &e))
				while (ctf_next(c, &ev, &e) != CTF_END && ev.kind != CTF_FAILED)
					;
		}
		cr_expect(!c || e.code == ERR_NOMEM || e.code == ERR_FORMAT, "%s", e.text);
		ctf_free(c);
		mem_fail_at(0);
	}
	buf_release(&t.b);
}

/* ---- imported -------------------------------------------------------------------------------- */

static void put_collect(struct trace *t, unsigned after_us, unsigned delta)
{
	put_event(t, 4, after_us);
	buf_u8(&t->b, (uint8_t)delta);
}

/* An allocation of many samples at the code that slot 1 of the table has. */
static void put_long(struct trace *t, unsigned after_us, unsigned words, unsigned samples)
{
	put_event(t, 2, after_us);
	buf_u8(&t->b, (uint8_t)words);
	buf_u8(&t->b, (uint8_t)samples);
	buf_u8(&t->b, 0);
	buf_u8(&t->b, 0);
	put_u16(&t->b, 1);
	put_u16(&t->b, 1 << 2);
}

/*
 * At the rate of a quarter a sample is 4 words, 32 bytes.  A block of 3 words and its header is
 * seen with the chance 1 - 0.75^4, so one stands for 1.46 blocks, three for 4.39.
 */
static struct trace small_trace(unsigned version)
{
	struct trace t = start(version);
	begin_packet(&t, 0, PID, 0);
	put_location(&t, 0xa, 31, "a.ml", 31, "A.f", 3);
	put_location(&t, 0xb, 0, NULL, 31, "A.g", 4);
	put_short(&t, 3, 0, 1);
	put_miss(&t, 1, 0xa);
	put_short(&t, 3, 1, 1);
	put_miss(&t, 2, 0xb);
	put_long(&t, 500, 3, 1);
	put_long(&t, 500, 3, 2);
	put_collect(&t, 501, 3);
	put_collect(&t, 600, 0);
	put_collect(&t, 600, 0); /* twice */
	put_event(&t, 3, 600);   /* promoted */
	buf_u8(&t.b, 1);
	end_packet(&t, 4);
	return t;
}

#define NOTE(promoted)                                                                         \
	"note: 4 blocks were sampled, 5 times (0.25 of all words); " promoted " of them were " \
	"promoted, 3 collected\n"

Test(memtrace, scales_samples_and_books_deaths_to_the_births_they_end)
{
	struct trace t = small_trace(1);
	expect_import(t.b.data, t.b.count_bytes,
		      "total 5 blocks 160 bytes, live 3 64, estimated\n"
		      "A.f(a.ml:3) 1 32 live 0 0\n"
		      "A.f(a.ml:3);A.g(a.ml:4) 1 32 live 1 32\n"
		      "A.f(a.ml:3) 3 96 live 2 32\n" NOTE("1"));
	buf_release(&t.b);
	t = small_trace(2);
	struct foreign_sums s = foreign_import(t.b.data, t.b.count_bytes);
	cr_expect_eq(s.peak_bytes, 160);
	cr_expect(s.unknown & FACT_THREADS);
	cr_expect_eq(s.unknown & (FACT_LIFETIMES | FACT_TIME | FACT_PEAK_EXACT), 0);
	buf_release(&t.b);
}

Test(memtrace, takes_events_of_domains_in_the_order_of_time)
{
	struct trace t = start(3);
	begin_packet(&t, 1, PID, 100); /* frees, later, what the next packet allocates */
	put_collect(&t, 700, 90);
	end_packet(&t, 100);
	begin_packet(&t, 0, PID, 9);
	put_location(&t, 0xa, 31, "a.ml", 31, "A.f", 3);
	put_short(&t, 3, 0, 1);
	put_miss(&t, 1, 0xa);
	end_packet(&t, 10);
	expect_import(t.b.data, t.b.count_bytes,
		      "total 1 blocks 32 bytes, live 0 0, estimated\n"
		      "A.f(a.ml:3) 1 32 live 0 0 @0\n"
		      "note: its context: context\n"
		      "note: 1 blocks were sampled, 1 times (0.25 of all words); 0 of them were "
		      "promoted, "
		      "1 collected\n");
	buf_release(&t.b);
}

Test(memtrace, keeps_what_came_before_a_damaged_packet)
{
	struct trace t = small_trace(2);
	size_t whole = t.b.count_bytes;
	begin_packet(&t, 0, PID, 4);
	put_event(&t, 9, 0);
	end_packet(&t, 4);
	struct foreign_sums s = foreign_import(t.b.data, t.b.count_bytes);
	cr_expect(s.is_partial);
	cr_expect_eq(s.born_bytes, 160);
	s = foreign_import(t.b.data, whole);
	cr_expect(!s.is_partial);
	expect_refusal(t.b.data, 100, ERR_FORMAT, "the file ends inside a packet");
	buf_release(&t.b);
}

Test(memtrace, every_beginning_is_fair_and_so_is_lack_of_memory)
{
	for (unsigned version = 1; version <= 3; version++) {
		struct trace t = small_trace(version);
		expect_fair_cuts(t.b.data, t.b.count_bytes, 1);
		expect_fair_lack_of_memory(t.b.data, t.b.count_bytes);
		buf_release(&t.b);
	}
}
