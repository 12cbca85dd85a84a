/* Buffers and bounded readers. */
#include "config.h"

#include "src/base/buf.h"
#include "src/base/mem.h"

#include <criterion/criterion.h>
#include <string.h>

Test(buf, stays_terminated_while_it_grows)
{
	struct buf b = {0};
	for (int i = 0; i < 1000; i++) {
		buf_putc(&b, 'x');
		cr_assert_eq(b.data[b.count_bytes], '\0');
	}
	buf_printf(&b, "%s-%d", "tail", 7);
	cr_assert_str_eq(b.data + 1000, "tail-7");
	buf_repeat(&b, "ab", 3);
	cr_assert_str_eq(b.data + 1006, "ababab");
	buf_clear(&b);
	cr_assert_str_eq(b.data, "");
	cr_assert_eq(b.count_bytes, 0);
	buf_release(&b);
	cr_assert_null(b.data);
}

Test(buf, failure_is_sticky_until_cleared)
{
	struct buf b = {0};
	mem_fail_at(1);
	buf_puts(&b, "lost");
	cr_assert(b.has_failed);
	buf_puts(&b, "ignored");
	buf_varint(&b, 300);
	cr_assert_eq(b.count_bytes, 0);
	buf_clear(&b);
	buf_puts(&b, "kept");
	cr_assert_str_eq(b.data, "kept");
	buf_release(&b);
}

static const uint64_t numbers[] = {
	0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 62, 1ull << 63, UINT64_MAX,
};

Test(buf, varints_come_back)
{
	struct buf b = {0};
	size_t n = sizeof numbers / sizeof numbers[0];
	for (size_t i = 0; i < n; i++) {
		buf_varint(&b, numbers[i]);
		buf_svarint(&b, (int64_t)numbers[i]);
		buf_svarint(&b, -(int64_t)(numbers[i] >> 1));
	}
	struct reader r = reader_init(b.data, b.count_bytes);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(reader_varint(&r), numbers[i]);
		cr_assert_eq(reader_svarint(&r), (int64_t)numbers[i]);
		cr_assert_eq(reader_svarint(&r), -(int64_t)(numbers[i] >> 1));
	}
	cr_assert_eq(reader_left(&r), 0);
	cr_assert_not(r.has_failed);
	buf_release(&b);
}

Test(buf, fixed_numbers_are_little_endian)
{
	struct buf b = {0};
	buf_u8(&b, 0xab);
	buf_u32(&b, 0x01020304);
	buf_u64(&b, 0x1112131415161718);
	cr_assert_eq(memcmp(b.data, "\xab\x04\x03\x02\x01\x18\x17\x16\x15\x14\x13\x12\x11", 13), 0);
	struct reader r = reader_init(b.data, b.count_bytes);
	cr_assert_eq(reader_u8(&r), 0xab);
	cr_assert_eq(reader_u32(&r), 0x01020304);
	cr_assert_eq(reader_u64(&r), 0x1112131415161718);
	cr_assert_eq(reader_u8(&r), 0);
	cr_assert(r.has_failed);
	buf_release(&b);
}

Test(reader, refuses_varints_past_64_bits)
{
	/* Ten bytes hold 70 bits: the tenth may only be 0 or 1. */
	static const char most[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	static const char over[] = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
	static const char endless[] = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00";
	struct reader r = reader_init(most, 10);
	cr_assert_eq(reader_varint(&r), UINT64_MAX);
	r = reader_init(over, 10);
	cr_assert_eq(reader_varint(&r), 0);
	cr_assert(r.has_failed);
	r = reader_init(endless, 12);
	cr_assert_eq(reader_varint(&r), 0);
	cr_assert(r.has_failed);
}

Test(reader, fails_for_good_at_the_first_missing_byte)
{
	struct reader r = reader_init("\x80", 1);
	cr_assert_eq(reader_varint(&r), 0);
	cr_assert(r.has_failed);
	r = reader_init("abc", 3);
	cr_assert_null(reader_bytes(&r, 4));
	cr_assert(r.has_failed);
	cr_assert_eq(reader_left(&r), 0);
	cr_assert_eq(reader_u8(&r), 0);
	cr_assert_null(reader_bytes(&r, 0));
}

Test(reader, reads_nothing_from_nothing)
{
	struct reader r = reader_init(NULL, 0);
	cr_assert_eq(reader_left(&r), 0);
	cr_assert_eq(reader_u64(&r), 0);
	cr_assert(r.has_failed);
}

Test(reader, counts_fit_in_what_is_left)
{
	/* A count of 5, with 10 bytes behind it. */
	static const char data[] = "\x05__________";
	struct reader r = reader_init(data, 11);
	cr_assert_eq(reader_count(&r, 2), 5);
	cr_assert_not(r.has_failed);
	r = reader_init(data, 11);
	cr_assert_eq(reader_count(&r, 3), 0);
	cr_assert(r.has_failed);
	/* A count that would overflow if it was multiplied. */
	r = reader_init("\xff\xff\xff\xff\xff\xff\xff\xff\x7f_", 10);
	cr_assert_eq(reader_count(&r, SIZE_MAX), 0);
	cr_assert(r.has_failed);
}

Test(reader, strings_are_borrowed_and_bounded)
{
	struct buf b = {0};
	size_t bytes;
	buf_str(&b, "name", 4);
	buf_str(&b, "", 0);
	buf_varint(&b, 9);
	buf_puts(&b, "short");
	struct reader r = reader_init(b.data, b.count_bytes);
	const char *s = reader_str(&r, &bytes);
	cr_assert_eq(bytes, 4);
	cr_assert_eq(memcmp(s, "name", 4), 0);
	cr_assert_not_null(reader_str(&r, &bytes));
	cr_assert_eq(bytes, 0);
	cr_assert_null(reader_str(&r, &bytes));
	cr_assert_eq(bytes, 0);
	cr_assert(r.has_failed);
	buf_release(&b);
}
