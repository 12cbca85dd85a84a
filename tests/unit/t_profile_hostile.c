/* Cut, flipped and forged files; memory that runs out. */
#include "config.h"

#include "sample_profile.h"
#include "src/base/crc32c.h"
#include "src/base/mem.h"
#include "src/profile/profile_priv.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <zstd.h>

static struct buf small_file(void)
{
	struct buf file = {0};
	struct err e = {0};
	cr_assert_eq(sample_write(sample_small, NULL, &file, &e), NEAP_OK, "%s", e.text);
	return file;
}

/* What the columns say, as text: equal texts are equal profiles. */
static void tell(const struct profile *p, struct buf *out)
{
	buf_printf(out, "run %s %zu %u end %d %d\n", p->run.exe, p->run.argv_count, p->run.pid,
		   (int)p->end.kind, p->end.status);
	for (size_t i = 0; i < p->cohort_count; i++)
		buf_printf(out, "c %u %u %u %llu %llu %llu\n", profile_cohort_site(p, i),
			   profile_cohort_thread(p, i), profile_cohort_birth(p, i),
			   (unsigned long long)profile_cohort_births(p, i),
			   (unsigned long long)profile_cohort_born_bytes(p, i),
			   (unsigned long long)profile_cohort_temporary(p, i));
	for (size_t i = 0; i < p->death_count; i++)
		buf_printf(out, "d %u %llu %llu\n", profile_death_cohort(p, i),
			   (unsigned long long)profile_death_blocks(p, i),
			   (unsigned long long)profile_death_bytes(p, i));
	for (size_t i = 0; i < p->snapshot_count; i++)
		buf_printf(out, "s %llu %lld\n", (unsigned long long)p->snapshots[i].time_ns,
			   (long long)p->snapshots[i].live_bytes);
	buf_printf(out, "n %zu f %zu s %zu m %zu t %zu k %zu p %zu y %zu\n", p->node_count,
		   p->frame_count, p->site_count, p->module_count, p->thread_count, p->mark_count,
		   p->peak_entry_count, p->symbols.line_count);
	for (size_t i = 0; i < DROP_COUNT; i++)
		buf_printf(out, "%llu ", (unsigned long long)p->drops[i]);
}

/* What columns, messages and damage there are, read with two threads or with one. */
static struct buf tell_with(const void *data, size_t bytes, uint64_t thread_from_bytes)
{
	struct profile *p;
	struct err e = {0};
	struct buf text = {0};
	enum neap_err err = profile_parse_with(data, bytes, "f", thread_from_bytes, &p, &e);
	buf_printf(&text, "%d %s\n", (int)err, e.text);
	if (!err) {
		tell(p, &text);
		for (size_t i = 0; i < p->node_count; i++)
			buf_printf(&text, "n %u %u %u\n", profile_node_parent(p, i),
				   profile_node_frame(p, i), profile_node_flags(p, (node_id)i));
		for (size_t i = 0; i < p->frame_count; i++)
			buf_printf(&text, "f %u %llx\n", p->frames[i].module,
				   (unsigned long long)p->frames[i].pc);
		for (size_t i = 0; i < p->site_count; i++)
			buf_printf(&text, "s %u %llu\n", profile_site_node(p, i),
				   (unsigned long long)profile_site_size_bytes(p, i));
		buf_printf(&text, "%s %llu %llu\n", p->damage.text,
			   (unsigned long long)p->damage.whole_bytes,
			   (unsigned long long)p->damage.lost_bytes);
	}
	profile_free(p);
	return text;
}

static void expect_threads_make_no_difference(const void *data, size_t bytes)
{
	struct buf one = tell_with(data, bytes, UINT64_MAX), two = tell_with(data, bytes, 0);
	cr_assert_str_eq(two.data, one.data);
	buf_release(&one);
	buf_release(&two);
}

/*
 * Parse; the answer must be an error with a message, or a profile that is right.  Returns true
 * if it is whole: the same as `whole`, without damage.
 */
static bool try(const void *data, size_t bytes, const struct buf *whole)
{
	struct profile *p;
	struct err e = {0};
	enum neap_err err = profile_parse(data, bytes, "f", &p, &e);
	if (err) {
		cr_assert(err == ERR_FORMAT || err == ERR_UNSUPPORTED);
		cr_assert_null(p);
		cr_assert_neq(e.text[0], '\0');
		return false;
	}
	const char *wrong = sample_wrong(p);
	cr_assert_null(wrong, "%s", wrong);
	bool is_damaged = p->damage.text[0] != '\0';
	cr_assert_eq(is_damaged, p->damage.is_cut || p->damage.bad_blocks);
	struct buf text = {0};
	tell(p, &text);
	bool is_same = !strcmp(text.data, whole->data);
	cr_assert(is_damaged || is_same, "silently wrong:\n%s", text.data);
	buf_release(&text);
	profile_free(p);
	return !is_damaged;
}

static struct buf tell_whole(const struct buf *file)
{
	struct profile *p;
	struct buf text = {0};
	cr_assert_eq(profile_parse(file->data, file->count_bytes, "f", &p, NULL), NEAP_OK);
	tell(p, &text);
	profile_free(p);
	return text;
}

Test(hostile, every_cut_is_noticed_and_the_rest_is_read)
{
	struct buf file = small_file(), whole = tell_whole(&file);
	for (size_t bytes = 0; bytes < file.count_bytes; bytes++) {
		/* A copy of exactly this length, so that a read past it is seen by ASan and valgrind. */
		char *cut = mem_strndup(file.data, bytes);
		cut = mem_realloc_array(cut, bytes, 1);
		cr_assert_not(try(cut, bytes, &whole), "%zu of %zu bytes", bytes, file.count_bytes);
		mem_free(cut);
	}
	cr_assert(try(file.data, file.count_bytes, &whole));
	buf_release(&file);
	buf_release(&whole);
}

Test(hostile, a_cut_says_how_much_is_missing)
{
	struct buf file = small_file();
	struct profile *p;
	cr_assert_eq(profile_parse(file.data, file.count_bytes - 3, "f", &p, NULL), NEAP_OK);
	cr_assert(p->damage.is_cut);
	cr_assert_eq(p->damage.whole_bytes + p->damage.lost_bytes, file.count_bytes - 3);
	cr_assert_gt(p->damage.lost_bytes, 0);
	cr_assert_not_null(strstr(p->damage.text, "the file is cut: its last "));
	cr_assert_not_null(strstr(p->damage.text, "what is whole ends at 30.0 ms, snapshot 3"));
	cr_assert_eq(p->snapshot_count, 3);
	profile_free(p);
	buf_release(&file);
}

Test(hostile, every_flipped_bit_is_noticed)
{
	struct buf file = small_file(), whole = tell_whole(&file);
	for (size_t bit = 0; bit < file.count_bytes * 8; bit++) {
		file.data[bit / 8] = (char)(file.data[bit / 8] ^ (1 << bit % 8));
		cr_assert_not(try(file.data, file.count_bytes, &whole), "bit %zu", bit);
		file.data[bit / 8] = (char)(file.data[bit / 8] ^ (1 << bit % 8));
	}
	buf_release(&file);
	buf_release(&whole);
}

/* The block of this type, counted from 0 among those of the type. */
static struct block find_block(const struct buf *file, unsigned type, unsigned nth)
{
	size_t pos;
	struct block b;
	cr_assert_eq(file_header_check(file->data, file->count_bytes, "f", &pos, NULL), NEAP_OK);
	while (block_next((const uint8_t *)file->data, file->count_bytes, &pos, &b) == BLOCK_WHOLE)
		if (b.type == type && !nth--)
			return b;
	cr_assert_fail("no block %u", type);
	return b;
}

static struct profile *parse_with_damage(struct buf *file, unsigned type, unsigned nth)
{
	struct block b = find_block(file, type, nth);
	struct profile *p;
	file->data[b.offset + BLOCK_HEADER_BYTES] ^= 1;
	cr_assert_eq(profile_parse(file->data, file->count_bytes, "f", &p, NULL), NEAP_OK);
	cr_assert_null(sample_wrong(p));
	return p;
}

Test(hostile, a_damaged_block_in_the_middle_costs_only_what_depends_on_it)
{
	struct buf file = small_file();
	struct profile *p = parse_with_damage(&file, BLOCK_MARKS, 0);
	cr_assert_eq(p->mark_count, 0);
	cr_assert_eq(p->snapshot_count, 3);
	cr_assert_eq(p->end.kind, END_SIGNALED);
	cr_assert_eq(p->damage.bad_blocks, 1);
	cr_assert_not_null(strstr(p->damage.text, "1 damaged block left out (marks)"));
	profile_free(p);
	buf_release(&file);

	/* The second snapshots block cannot do without the first, nor can the peak. */
	file = small_file();
	p = parse_with_damage(&file, BLOCK_SNAPSHOTS, 0);
	cr_assert_eq(p->snapshot_count, 0);
	cr_assert_not(p->has_peak);
	cr_assert(p->has_symbols);
	cr_assert_eq(p->site_count, 5);
	cr_assert_eq(p->damage.bad_blocks, 3);
	cr_assert_eq(p->threads[1].last_snap, 0);
	profile_free(p);
	buf_release(&file);

	file = small_file();
	p = parse_with_damage(&file, BLOCK_SNAPSHOTS, 1);
	cr_assert_eq(p->snapshot_count, 2);
	cr_assert_not(p->has_peak);
	profile_free(p);
	buf_release(&file);
}

Test(hostile, a_damaged_block_header_is_stepped_over)
{
	struct buf file = small_file();
	struct block b = find_block(&file, BLOCK_MARKS, 0);
	struct profile *p;
	file.data[b.offset + 3] ^= 0x40; /* the stored length */
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
	cr_assert_eq(p->mark_count, 0);
	cr_assert_eq(p->snapshot_count, 3);
	cr_assert_eq(p->damage.lost_bytes, 0);
	cr_assert_not_null(strstr(p->damage.text, "something unknown"));
	profile_free(p);
	buf_release(&file);
}

/* ---- blocks with right checksums and wrong content ------------------------------------------ */

/* Raw payload of a block, uncompressed. */
static struct buf raw_of(const struct block *b)
{
	struct buf raw = {0};
	struct reader r;
	struct block_opener *o = block_opener_new();
	cr_assert_eq(block_open(o, b, &r, NULL), NEAP_OK);
	buf_put(&raw, r.p, reader_left(&r));
	block_opener_free(o);
	return raw;
}

/* The file with this block's payload replaced. */
static struct buf with_payload(const struct buf *file, const struct block *b, const struct buf *raw)
{
	struct buf out = {0};
	struct block_packer *k = block_packer_new();
	buf_put(&out, file->data, b->offset);
	cr_assert_eq(block_pack(k, (enum block_type)b->type, raw, &out, NULL), NEAP_OK);
	size_t after = b->offset + BLOCK_HEADER_BYTES + b->stored_bytes;
	buf_put(&out, file->data + after, file->count_bytes - after);
	block_packer_free(k);
	return out;
}

static void parse_forged(const struct buf *file, const struct block *b, const struct buf *raw)
{
	struct buf forged = with_payload(file, b, raw), text = {0};
	struct profile *p;
	struct err e;
	enum neap_err err = profile_parse(forged.data, forged.count_bytes, "f", &p, &e);
	cr_assert(err == NEAP_OK || err == ERR_FORMAT);
	if (!err) {
		const char *wrong = sample_wrong(p);
		cr_assert_null(wrong, "%s in block %u", wrong, b->type);
		profile_check(p, &text);
		profile_free(p);
	}
	profile_dump(forged.data, forged.count_bytes, "f", &text, NULL);
	expect_threads_make_no_difference(forged.data, forged.count_bytes);
	buf_release(&text);
	buf_release(&forged);
}

static void forge_every_byte(const struct buf *file, const struct block *b)
{
	static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
	struct buf raw = raw_of(b);
	for (size_t i = 0; i < raw.count_bytes; i++) {
		char kept = raw.data[i];
		for (size_t v = 0; v < sizeof values; v++) {
			raw.data[i] = (char)values[v];
			parse_forged(file, b, &raw);
		}
		raw.data[i] = (char)(kept + 1);
		parse_forged(file, b, &raw);
		raw.data[i] = (char)(kept - 1);
		parse_forged(file, b, &raw);
		raw.data[i] = kept;
	}
	for (size_t whole = raw.count_bytes; raw.count_bytes; raw.count_bytes--)
		if (raw.count_bytes != whole)
			parse_forged(file, b, &raw);
	buf_release(&raw);
}

Test(hostile, forged_bytes_with_right_checksums_never_give_wrong_ids)
{
	struct buf file = small_file();
	static const unsigned twice = BLOCK_SNAPSHOTS;
	for (unsigned type = BLOCK_RUN; type < BLOCK_TYPE_COUNT; type++) {
		struct block b = find_block(&file, type, 0);
		forge_every_byte(&file, &b);
	}
	struct block b = find_block(&file, twice, 1);
	forge_every_byte(&file, &b);
	buf_release(&file);
}

/* A huge number, where a count is expected, in every block. */
Test(hostile, counts_that_cannot_be_are_refused_before_anything_is_allocated)
{
	struct buf file = small_file();
	for (unsigned type = BLOCK_RUN; type < BLOCK_TYPE_COUNT; type++) {
		struct block b = find_block(&file, type, 0);
		struct buf raw = raw_of(&b);
		for (size_t at = 0; at < raw.count_bytes; at++) {
			struct buf big = {0};
			buf_put(&big, raw.data, at);
			buf_varint(&big, (uint64_t)1 << (30 + at % 34));
			buf_put(&big, raw.data + at, raw.count_bytes - at);
			parse_forged(&file, &b, &big);
			buf_release(&big);
		}
		buf_release(&raw);
	}
	buf_release(&file);
}

static void put_header(struct buf *out, unsigned type, unsigned flags, uint32_t stored,
		       uint32_t raw, uint32_t crc)
{
	size_t start = out->count_bytes;
	buf_u8(out, (uint8_t)type);
	buf_u8(out, (uint8_t)flags);
	buf_u32(out, stored);
	buf_u32(out, raw);
	buf_u32(out, crc);
	buf_u32(out, crc32c(0, out->data + start, BLOCK_HEADER_BYTES - 4));
}

Test(hostile, a_block_that_would_grow_without_bound_is_left_out)
{
	static char zeros[1 << 20];
	char small[4096];
	size_t n = ZSTD_compress(small, sizeof small, zeros, sizeof zeros, 3);
	cr_assert_not(ZSTD_isError(n));
	struct buf file = small_file();
	put_header(&file, BLOCK_NODES, BLOCK_IS_ZSTD, (uint32_t)n, sizeof zeros,
		   crc32c(0, small, n));
	buf_put(&file, small, n);
	struct profile *p;
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
	cr_assert_eq(p->damage.bad_blocks, 1);
	cr_assert_not_null(strstr(p->damage.text, "nodes"));
	profile_free(p);
	buf_release(&file);
}

static void only_zeros(struct profile_writer *w, void *ctx)
{
	(void)ctx;
	static const struct profile_site site = {PROFILE_NODE_ROOT, 0, API_UNKNOWN};
	for (int i = 0; i < 200000; i++)
		profile_add_site(w, &site);
	profile_add_end(w, &(struct profile_end){.kind = END_EXITED});
}

Test(hostile, the_writer_never_makes_a_block_that_the_reader_refuses)
{
	struct buf file = {0};
	struct profile *p;
	cr_assert_eq(sample_write(only_zeros, NULL, &file, NULL), NEAP_OK);
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
	cr_assert_eq(p->site_count, 200000);
	cr_assert_str_eq(p->damage.text, "");
	profile_free(p);
	buf_release(&file);
}

/* ---- other versions ------------------------------------------------------------------------------ */

Test(version, blocks_of_unknown_type_are_skipped)
{
	struct buf file = small_file(), whole = tell_whole(&file);
	put_header(&file, 200, 0, 5, 5, crc32c(0, "hello", 5));
	buf_puts(&file, "hello");
	put_header(&file, 0, 0, 0, 0, 0);
	cr_assert(try(file.data, file.count_bytes, &whole));
	buf_release(&file);
	buf_release(&whole);
}

static struct buf with_header(uint32_t version, uint32_t required, uint32_t optional,
			      const char *names, size_t names_bytes)
{
	struct buf file = small_file(), out = {0};
	size_t pos;
	cr_assert_eq(file_header_check(file.data, file.count_bytes, "f", &pos, NULL), NEAP_OK);
	buf_put(&out, FILE_MAGIC, FILE_MAGIC_BYTES);
	buf_u32(&out, version);
	buf_u32(&out, required);
	buf_u32(&out, optional);
	buf_u32(&out, (uint32_t)names_bytes);
	buf_put(&out, names, names_bytes);
	buf_u32(&out, crc32c(0, out.data, out.count_bytes));
	buf_put(&out, file.data + pos, file.count_bytes - pos);
	buf_release(&file);
	return out;
}

static void refuses(struct buf file, const char *text)
{
	struct profile *p;
	struct err e;
	cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, &e), ERR_UNSUPPORTED);
	cr_assert_str_eq(e.text, text);
	buf_release(&file);
}

Test(version, unknown_required_features_are_refused_by_name)
{
	refuses(with_header(1, 1 | 4 | 8, 0, "zstd\0time travel\0more\0", 21),
		"'f' needs the feature 'time travel' (bit 2), which this neap does not have");
	refuses(with_header(1, 1u << 31, 0, "unterminated", 12),
		"'f' needs the feature '' (bit 31), which this neap does not have");
	refuses(with_header(2, 1, 0, "zstd\0", 5),
		"'f' has format version 2; this neap reads version 1");
}

Test(version, unknown_optional_features_are_read)
{
	struct buf file = with_header(1, 1, 6, "zstd\0colours\0sounds\0", 20);
	struct buf plain = small_file(), whole = tell_whole(&plain);
	cr_assert(try(file.data, file.count_bytes, &whole));
	buf_release(&file);
	buf_release(&plain);
	buf_release(&whole);
}

/* ---- threads ---- */

Test(threads, whole_and_cut_files_are_read_as_by_one)
{
	struct buf file = small_file();
	for (size_t bytes = 0; bytes <= file.count_bytes; bytes++)
		expect_threads_make_no_difference(file.data, bytes);
	buf_release(&file);
}

/* The blocks of one type go behind all others: what names their records comes too early. */
static struct buf with_type_last(const struct buf *file, unsigned type)
{
	struct buf out = {0}, late = {0};
	size_t pos, from;
	struct block b;
	cr_assert_eq(file_header_check(file->data, file->count_bytes, "f", &pos, NULL), NEAP_OK);
	buf_put(&out, file->data, pos);
	for (from = pos;
	     block_next((const uint8_t *)file->data, file->count_bytes, &pos, &b) == BLOCK_WHOLE;
	     from = pos)
		buf_put(b.type == type ? &late : &out, file->data + from, pos - from);
	buf_put(&out, late.data, late.count_bytes);
	buf_release(&late);
	return out;
}

Test(threads, blocks_out_of_turn_are_left_out_as_by_one)
{
	struct buf file = small_file();
	for (unsigned type = BLOCK_RUN; type < BLOCK_TYPE_COUNT; type++) {
		struct buf moved = with_type_last(&file, type);
		expect_threads_make_no_difference(moved.data, moved.count_bytes);
		if (type == BLOCK_NODES || type == BLOCK_MODULES) {
			struct buf text = tell_with(moved.data, moved.count_bytes, 0);
			cr_assert_not_null(strstr(text.data, "left out"), "%s", text.data);
			buf_release(&text);
		}
		buf_release(&moved);
	}
	buf_release(&file);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they need addresses too */
static void *nothing(void *arg)
{
	return arg;
}

Test(threads, one_does_all_if_there_can_be_no_other)
{
	struct buf file = small_file();
	struct buf want = tell_with(file.data, file.count_bytes, UINT64_MAX);
	struct rlimit limit;
	pthread_t thread;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	cr_assert_not_null(f);
	cr_assert_eq(fscanf(f, "%lu", &pages), 1);
	fclose(f);
	cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = pages * 4096ul + (1ul << 20); /* less than a stack */
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	int code = pthread_create(&thread, NULL, nothing, NULL);
	struct buf got = tell_with(file.data, file.count_bytes, 0);
	limit.rlim_cur = limit.rlim_max;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
	cr_assert_eq(code, EAGAIN);
	cr_assert_str_eq(got.data, want.data);
	buf_release(&got);
	buf_release(&want);
	buf_release(&file);
}
#endif

/* ---- memory -------------------------------------------------------------------------------------- */

static void read_with_failed_allocations(uint64_t thread_from_bytes)
{
	struct buf file = small_file();
	struct err e;
	struct profile *p;
	uint64_t before = mem_count();
	cr_assert_eq(
		profile_parse_with(file.data, file.count_bytes, "f", thread_from_bytes, &p, &e),
		NEAP_OK);
	uint64_t count = mem_count() - before;
	profile_free(p);
	cr_assert_gt(count, 20);
	for (uint64_t n = 1; n <= count; n++) {
		mem_fail_at(n);
		cr_assert_eq(profile_parse_with(file.data, file.count_bytes, "f", thread_from_bytes,
						&p, &e),
			     ERR_NOMEM, "allocation %llu of %llu", (unsigned long long)n,
			     (unsigned long long)count);
		cr_assert_null(p);
		cr_assert_eq(strncmp(e.text, "out of memory: ", 15), 0);
	}
	mem_fail_at(0);
	buf_release(&file);
}

Test(memory, reading_survives_every_failed_allocation)
{
	read_with_failed_allocations(UINT64_MAX);
}

Test(memory, reading_with_two_threads_survives_every_failed_allocation)
{
	read_with_failed_allocations(0);
}

Test(memory, dumping_survives_every_failed_allocation)
{
	struct buf file = small_file(), text = {0};
	struct err e;
	uint64_t before = mem_count();
	cr_assert_eq(profile_dump(file.data, file.count_bytes, "f", &text, &e), NEAP_OK);
	uint64_t count = mem_count() - before;
	buf_release(&text);
	for (uint64_t n = 1; n <= count; n++) {
		mem_fail_at(n);
		cr_assert_eq(profile_dump(file.data, file.count_bytes, "f", &text, &e), ERR_NOMEM);
		buf_release(&text);
	}
	mem_fail_at(0);
	buf_release(&file);
}

Test(memory, writing_survives_every_failed_allocation)
{
	struct buf file = {0};
	struct err e;
	uint64_t before = mem_count();
	cr_assert_eq(sample_write(sample_small, NULL, &file, &e), NEAP_OK);
	uint64_t count = mem_count() - before;
	for (uint64_t n = 1; n <= count; n++) {
		struct buf again = {0};
		e = (struct err){0};
		mem_fail_at(n);
		enum neap_err err = sample_write(sample_small, NULL, &again, &e);
		mem_fail_at(0);
		/* The last allocations are those of reading the file back. */
		cr_assert_eq(err, ERR_NOMEM, "allocation %llu of %llu", (unsigned long long)n,
			     (unsigned long long)count);
		buf_release(&again);
	}
	buf_release(&file);
}

static void fail_in_the_middle(struct profile_writer *w, void *ctx)
{
	sample_small(w, NULL);
	profile_writer_flush(w, NULL);
	mem_fail_at(*(uint64_t *)ctx);
	for (int i = 0; i < 100; i++)
		profile_add_mark(w, "a mark with a long name", 1, 1);
	profile_writer_flush(w, NULL);
	mem_fail_at(0);
}

Test(memory, what_was_written_before_stays_valid)
{
	unsigned failed_count = 0;
	for (uint64_t n = 1; n <= 6; n++) {
		struct buf file = {0};
		struct profile *p;
		enum neap_err err = sample_write(fail_in_the_middle, &n, &file, NULL);
		cr_assert(err == ERR_NOMEM || err == NEAP_OK);
		failed_count += err == ERR_NOMEM;
		cr_assert_eq(profile_parse(file.data, file.count_bytes, "f", &p, NULL), NEAP_OK);
		cr_assert_str_eq(p->damage.text, "");
		cr_assert_eq(p->snapshot_count, 3);
		cr_assert_eq(p->mark_count, err ? 1 : 101);
		profile_free(p);
		buf_release(&file);
	}
	cr_assert_gt(failed_count, 0);
}
