/* Numbers and names for people. */
#include "config.h"

#include "src/base/fmt.h"
#include "src/base/json.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define IS(call, text)                        \
	do {                                  \
		char dst[256];                \
		cr_assert_str_eq(call, text); \
	} while (0)

Test(fmt, bytes_round_to_the_next_unit_not_to_1024)
{
	IS(fmt_bytes(dst, sizeof dst, 0), "0 B");
	IS(fmt_bytes(dst, sizeof dst, 1023), "1023 B");
	IS(fmt_bytes(dst, sizeof dst, 1024), "1.0 KiB");
	IS(fmt_bytes(dst, sizeof dst, -3072), "-3.0 KiB");
	IS(fmt_bytes(dst, sizeof dst, 1048524), "1023.9 KiB");
	IS(fmt_bytes(dst, sizeof dst, 1048525), "1.0 MiB");
	IS(fmt_bytes(dst, sizeof dst, 44145050), "42.1 MiB");
	IS(fmt_bytes(dst, sizeof dst, 1099511627775), "1.0 TiB");
	IS(fmt_bytes(dst, sizeof dst, INT64_MAX), "8.0 EiB");
	IS(fmt_bytes(dst, sizeof dst, INT64_MIN), "-8.0 EiB");
}

Test(fmt, counts_have_separators)
{
	IS(fmt_count(dst, sizeof dst, 0), "0");
	IS(fmt_count(dst, sizeof dst, 999), "999");
	IS(fmt_count(dst, sizeof dst, 1000), "1,000");
	IS(fmt_count(dst, sizeof dst, -1234567), "-1,234,567");
	IS(fmt_things(dst, sizeof dst, 0, "block"), "0 blocks");
	IS(fmt_things(dst, sizeof dst, 1, "block"), "1 block");
	IS(fmt_things(dst, sizeof dst, -1234567, "block"), "-1,234,567 blocks");
	IS(fmt_count(dst, sizeof dst, INT64_MIN), "-9,223,372,036,854,775,808");
	IS(fmt_count(dst, FMT_BYTES, INT64_MAX), "9,223,372,036,854,775,807");
}

Test(fmt, percentages_of_nothing_are_a_dash)
{
	IS(fmt_pct(dst, sizeof dst, 1, 8), "12.5 %");
	IS(fmt_pct(dst, sizeof dst, 9996, 10000), "100.0 %");
	IS(fmt_pct(dst, sizeof dst, 0, 5), "0.0 %");
	IS(fmt_pct(dst, sizeof dst, -1, 1000000), "0.0 %");
	IS(fmt_pct(dst, sizeof dst, -1, 2), "-50.0 %");
	IS(fmt_pct(dst, sizeof dst, 5, 0), "-");
	IS(fmt_pct(dst, sizeof dst, NAN, 1), "-");
	IS(fmt_pct(dst, sizeof dst, 1e300, 1e-300), "-");
}

Test(fmt, durations_carry_over)
{
	IS(fmt_duration(dst, sizeof dst, 0), "0 s");
	IS(fmt_duration(dst, sizeof dst, 999), "999 ns");
	IS(fmt_duration(dst, sizeof dst, 999949), "999.9 us");
	IS(fmt_duration(dst, sizeof dst, 999950), "1.0 ms");
	IS(fmt_duration(dst, sizeof dst, 12345678), "12.3 ms");
	IS(fmt_duration(dst, sizeof dst, 500000000), "0.50 s");
	IS(fmt_duration(dst, sizeof dst, 59994999999), "59.99 s");
	IS(fmt_duration(dst, sizeof dst, 59995000000), "1 m 00 s");
	IS(fmt_duration(dst, sizeof dst, 3599500000000), "1 h 00 m");
	IS(fmt_duration(dst, sizeof dst, 3720000000000), "1 h 02 m");
	IS(fmt_duration(dst, sizeof dst, 86370000000000), "1 d 00 h");
	IS(fmt_duration(dst, FMT_BYTES, UINT64_MAX), "213504 d 00 h");
}

Test(fmt, hex_is_cut_at_whole_bytes)
{
	static const uint8_t id[] = {0x00, 0xfe, 0x12};
	IS(fmt_hex(dst, sizeof dst, id, 3), "00fe12");
	IS(fmt_hex(dst, 6, id, 3), "00fe");
	IS(fmt_hex(dst, 1, id, 3), "");
}

#define BAD "\xef\xbf\xbd"

Test(fmt_safe, takes_the_sting_out_of_names)
{
	IS(fmt_safe(dst, sizeof dst, "plain caf\xc3\xa9", 11, true), "plain caf\xc3\xa9");
	IS(fmt_safe(dst, sizeof dst, "a\x1b[31mb\n", 8, true), "a" BAD "[31mb" BAD);
	/* Eight-bit control sequence introducer, right-to-left override, zero width space. */
	IS(fmt_safe(dst, sizeof dst,
		    "\xc2\x9b"
		    "2J\xe2\x80\xae"
		    "x\xe2\x80\x8b",
		    11, true),
	   BAD "2J" BAD "x" BAD);
	IS(fmt_safe(dst, sizeof dst, "\xd8\x9c\xe2\x81\xa6z", 6, true), BAD BAD "z");
	/* Stray continuation, overlong slash, surrogate, past the end, cut short. */
	IS(fmt_safe(dst, sizeof dst, "\x80|", 2, true), BAD "|");
	IS(fmt_safe(dst, sizeof dst, "\xc0\xaf|", 3, true), BAD BAD "|");
	IS(fmt_safe(dst, sizeof dst, "\xed\xa0\x80|", 4, true), BAD BAD BAD "|");
	IS(fmt_safe(dst, sizeof dst, "\xf4\x90\x80\x80|", 5, true), BAD BAD BAD BAD "|");
	IS(fmt_safe(dst, sizeof dst, "x\xe2\x82", 3, true), "x" BAD BAD);
	IS(fmt_safe(dst, sizeof dst, "a\0b", 3, true), "a" BAD "b");
}

Test(fmt_safe, has_one_question_mark_per_character_without_utf8)
{
	IS(fmt_safe(dst, sizeof dst, "caf\xc3\xa9 \xe6\x97\xa5\x07", 10, false), "caf? ??");
}

Test(fmt_safe, never_splits_a_character)
{
	IS(fmt_safe(dst, 5, "abc\xe6\x97\xa5", 6, true), "abc");
	IS(fmt_safe(dst, 7, "abc\xe6\x97\xa5", 6, true), "abc\xe6\x97\xa5");
	IS(fmt_safe(dst, 1, "abc", 3, true), "");
	char none = 'x';
	fmt_safe(&none, 0, "abc", 3, true);
	cr_assert_eq(none, 'x');
}

Test(fmt_width, counts_columns)
{
	cr_assert_eq(fmt_width("", 0), 0);
	cr_assert_eq(fmt_width("abc", 3), 3);
	cr_assert_eq(fmt_width("\xe6\x97\xa5\xe6\x9c\xac", 6), 4); /* two ideographs */
	cr_assert_eq(fmt_width("e\xcc\x81", 3), 1);                /* e and a combining accent */
	cr_assert_eq(fmt_width("\xf0\x9f\x98\x80", 4), 2);         /* an emoji */
	cr_assert_eq(fmt_width("\xff\xfe", 2), 2);
	cr_assert_eq(fmt_width("\xef\xbc\xa1", 3), 2); /* full-width A */
}

Test(fmt_elide, keeps_the_end_where_the_name_is)
{
	const char *name = "std::vector<int, std::allocator<int>>::push_back";
	IS(fmt_elide(dst, sizeof dst, name, 48, true),
	   "std::vector<int, std::allocator<int>>::push_back");
	IS(fmt_elide(dst, sizeof dst, name, 19, true), "std::v\xe2\x80\xa6>::push_back");
	IS(fmt_elide(dst, sizeof dst, name, 19, false), "std::...::push_back");
	IS(fmt_elide(dst, sizeof dst, name, 1, true), "\xe2\x80\xa6");
	IS(fmt_elide(dst, sizeof dst, name, 2, false), "..");
	IS(fmt_elide(dst, sizeof dst, name, 0, true), "");
}

Test(fmt_elide, fits_with_wide_characters)
{
	const char *wide =
		"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e";
	char dst[64];
	for (size_t width = 0; width <= 13; width++) {
		fmt_elide(dst, sizeof dst, wide, width, true);
		size_t columns = fmt_width(dst, strlen(dst));
		cr_assert_leq(columns, width);
		cr_assert_geq(columns + 2, width > 12 ? 12 : width);
		cr_assert_null(strstr(dst, BAD));
	}
}

Test(fmt_elide, stays_inside_a_small_buffer)
{
	char dst[6] = "?????";
	fmt_elide(dst, 5, "abcdefgh", 100, true);
	cr_assert_str_eq(dst, "abcd");
	cr_assert_eq(dst[5], '\0');
	fmt_elide(dst, 4, "ab\xe6\x97\xa5", 100, true);
	cr_assert_str_eq(dst, "ab");
}

Test(json, escapes_what_it_has_to)
{
	struct buf b = {0};
	json_string(&b, "a\"b\\c\nd\x01 caf\xc3\xa9 \xff", 16);
	cr_assert_str_eq(b.data, "\"a\\\"b\\\\c\\nd\\u0001 caf\xc3\xa9 " BAD "\"");
	buf_clear(&b);
	json_string(&b, NULL, 0);
	cr_assert_str_eq(b.data, "\"\"");
	buf_release(&b);
}

/* U+0080 to U+009F: a terminal may take them for commands. */
Test(json, escapes_control_characters_of_both_kinds)
{
	for (unsigned c = 1; c < 0x100; c++) {
		const char utf8[] = {(char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f))};
		const char ascii = (char)c;
		bool is_control = c < 0x20 || (c >= 0x7f && c < 0xa0);
		char want[16];
		struct buf b = {0};
		if (c == '\n' || c == '"' || c == '\\')
			continue;
		if (c < 0x80)
			json_string(&b, &ascii, 1);
		else
			json_string(&b, utf8, 2);
		if (is_control)
			snprintf(want, sizeof want, "\"\\u%04x\"", c);
		else if (c < 0x80)
			snprintf(want, sizeof want, "\"%c\"", (int)c);
		else
			snprintf(want, sizeof want, "\"%.2s\"", utf8);
		cr_assert_str_eq(b.data, want, "U+%04X", c);
		buf_release(&b);
	}
}
