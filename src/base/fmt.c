/*
 * Numbers, times and hostile names for people.  Numbers are rounded in integers
 * and printed without printf's decimal point, so no locale can change them.
 */
#include "config.h"

#include "src/base/fmt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/base/utf8.h"

struct range {
	uint32_t first, last;
};

#include "src/base/width.inc"

#define NS_PER_S 1000000000ull

static uint64_t magnitude(int64_t v)
{
	return v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
}

const char *fmt_bytes(char *dst, size_t cap, int64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	const char *sign = bytes < 0 ? "-" : "";
	uint64_t v = magnitude(bytes);
	if (v < 1024) {
		snprintf(dst, cap, "%s%" PRIu64 " B", sign, v);
		return dst;
	}
	size_t unit = 1;
	uint64_t tenths;
	/* 1023.96 KiB would round to 1024.0 KiB: say 1.0 MiB. */
	for (;; unit++) {
		unsigned shift = 10 * (unsigned)unit;
		uint64_t part = v & ((1ull << shift) - 1);
		uint64_t half = 1ull << (shift - 1);
		/* part * 10 may not fit in EiB: take the low bits off first, they cannot matter. */
		unsigned drop = shift > 56 ? shift - 56 : 0;
		tenths = (v >> shift) * 10 +
			 (((part >> drop) * 10 + (half >> drop)) >> (shift - drop));
		if (tenths < 10240 || unit == 6)
			break;
	}
	snprintf(dst, cap, "%s%" PRIu64 ".%" PRIu64 " %s", sign, tenths / 10, tenths % 10,
		 units[unit]);
	return dst;
}

const char *fmt_count(char *dst, size_t cap, int64_t count)
{
	char digits[FMT_BYTES], text[FMT_BYTES];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, magnitude(count));
	size_t at = 0;
	if (count < 0)
		text[at++] = '-';
	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	snprintf(dst, cap, "%s", text);
	return dst;
}

const char *fmt_things(char *dst, size_t cap, int64_t count, const char *thing)
{
	char number[FMT_BYTES];
	snprintf(dst, cap, "%s %s%s", fmt_count(number, sizeof number, count), thing,
		 count == 1 ? "" : "s");
	return dst;
}

const char *fmt_pct(char *dst, size_t cap, double part, double whole)
{
	double tenths = part / whole * 1000;
	if (whole == 0 || !(fabs(tenths) < 1e15)) {
		snprintf(dst, cap, "-");
		return dst;
	}
	uint64_t v = (uint64_t)(fabs(tenths) + 0.5);
	const char *sign = tenths < 0 && v ? "-" : "";
	snprintf(dst, cap, "%s%" PRIu64 ".%" PRIu64 " %%", sign, v / 10, v % 10);
	return dst;
}

/* ns in whole units of unit_ns, rounded half up. */
static uint64_t rounded(uint64_t ns, uint64_t unit_ns)
{
	return ns / unit_ns + (ns % unit_ns >= unit_ns - unit_ns / 2);
}

const char *fmt_duration(char *dst, size_t cap, uint64_t ns)
{
	uint64_t v;
	if (!ns)
		snprintf(dst, cap, "0 s");
	else if (ns < 1000)
		snprintf(dst, cap, "%" PRIu64 " ns", ns);
	else if ((v = rounded(ns, 100)) < 10000)
		snprintf(dst, cap, "%" PRIu64 ".%" PRIu64 " us", v / 10, v % 10);
	else if ((v = rounded(ns, 100000)) < 1000)
		snprintf(dst, cap, "%" PRIu64 ".%" PRIu64 " ms", v / 10, v % 10);
	else if ((v = rounded(ns, NS_PER_S / 100)) < 6000)
		snprintf(dst, cap, "%" PRIu64 ".%02" PRIu64 " s", v / 100, v % 100);
	else if ((v = rounded(ns, NS_PER_S)) < 3600)
		snprintf(dst, cap, "%" PRIu64 " m %02" PRIu64 " s", v / 60, v % 60);
	else if ((v = rounded(ns, 60 * NS_PER_S)) < 24 * 60)
		snprintf(dst, cap, "%" PRIu64 " h %02" PRIu64 " m", v / 60, v % 60);
	else if ((v = rounded(ns, 3600 * NS_PER_S)))
		snprintf(dst, cap, "%" PRIu64 " d %02" PRIu64 " h", v / 24, v % 24);
	return dst;
}

const char *fmt_hex(char *dst, size_t cap, const uint8_t *data, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;
	for (size_t i = 0; i < bytes && at + 2 < cap; i++) {
		dst[at++] = digits[data[i] >> 4];
		dst[at++] = digits[data[i] & 15];
	}
	if (cap)
		dst[at] = '\0';
	return dst;
}

/* ---- UTF-8 -------------------------------------------------------------------- */

static bool in_ranges(const struct range *ranges, size_t count, uint32_t c)
{
	size_t low = 0;
	while (count) {
		size_t half = count / 2;
		if (ranges[low + half].last < c) {
			low += half + 1;
			count -= half + 1;
		} else if (ranges[low + half].first > c) {
			count = half;
		} else {
			return true;
		}
	}
	return false;
}

/* What must not reach a terminal: it moves the cursor, reorders text or hides. */
static bool is_unsafe(uint32_t c)
{
	static const struct range unsafe[] = {
		{0x0, 0x1f},         {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200b},
		{0x200e, 0x200f},    {0x2028, 0x202e}, {0x2060, 0x206f}, {0xd800, 0xf8ff},
		{0xfeff, 0xfeff},    {0xfff0, 0xfffd}, {0xffff, 0xffff}, {0xe0000, 0xe007f},
		{0xf0000, 0x10ffff},
	};
	return in_ranges(unsafe, sizeof unsafe / sizeof unsafe[0], c);
}

const char *fmt_safe(char *dst, size_t cap, const char *s, size_t bytes, bool is_utf8)
{
	static const uint8_t mark[] = {0xef, 0xbf, 0xbd};
	const uint8_t *p = (const uint8_t *)s, *end = bytes ? p + bytes : p;
	size_t at = 0, n;
	if (!cap)
		return dst;
	for (; p < end; p += n) {
		uint32_t c = utf8_decode(p, end, &n);
		const uint8_t *from = p;
		size_t take = n;
		if (is_unsafe(c) || (!is_utf8 && c >= 0x80)) {
			from = is_utf8 ? mark : (const uint8_t *)"?";
			take = is_utf8 ? sizeof mark : 1;
		}
		if (take >= cap - at)
			break;
		memcpy(dst + at, from, take);
		at += take;
	}
	dst[at] = '\0';
	return dst;
}

static size_t columns_of(uint32_t c)
{
	if (c < 0x300 || is_unsafe(c)) /* what fmt_safe replaces takes one column */
		return 1;
	if (in_ranges(zero_width, sizeof zero_width / sizeof zero_width[0], c))
		return 0;
	return in_ranges(double_width, sizeof double_width / sizeof double_width[0], c) ? 2 : 1;
}

size_t fmt_width(const char *s, size_t bytes)
{
	const uint8_t *p = (const uint8_t *)s, *end = bytes ? p + bytes : p;
	size_t columns = 0, n;
	for (; p < end; p += n)
		columns += columns_of(utf8_decode(p, end, &n));
	return columns;
}

/* Bytes of s that fit in `columns`, with the marks that belong to the last character. */
static size_t prefix_bytes(const char *s, size_t bytes, size_t columns)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + bytes;
	size_t n;
	for (; p < end; p += n) {
		size_t w = columns_of(utf8_decode(p, end, &n));
		if (w > columns)
			break;
		columns -= w;
	}
	return (size_t)(p - (const uint8_t *)s);
}

/* Start of the longest end of s that takes at most `columns`; it does not begin with a mark. */
static size_t suffix_start(const char *s, size_t bytes, size_t columns)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + bytes;
	size_t skip = fmt_width(s, bytes), n;
	for (; p < end; p += n) {
		size_t w = columns_of(utf8_decode(p, end, &n));
		if (skip <= columns && w)
			break;
		skip -= w;
	}
	return (size_t)(p - (const uint8_t *)s);
}

/* Append n bytes of s to dst at *at, as many whole characters as fit. */
static void append(char *dst, size_t cap, size_t *at, const char *s, size_t n)
{
	if (n > cap - 1 - *at) {
		n = cap - 1 - *at;
		while (n && ((uint8_t)s[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(dst + *at, s, n);
	*at += n;
	dst[*at] = '\0';
}

const char *fmt_elide(char *dst, size_t cap, const char *s, size_t width, bool is_utf8)
{
	size_t bytes = strlen(s), at = 0;
	if (!cap)
		return dst;
	dst[0] = '\0';
	if (fmt_width(s, bytes) <= width) {
		append(dst, cap, &at, s, bytes);
		return dst;
	}
	const char *cut = is_utf8 ? "\u2026" : "...";
	size_t cut_columns = is_utf8 ? 1 : 3;
	if (width <= cut_columns) {
		append(dst, cap, &at, cut, is_utf8 ? (width ? 3 : 0) : width);
		return dst;
	}
	size_t head_columns = (width - cut_columns) / 3;
	size_t head = prefix_bytes(s, bytes, head_columns);
	size_t tail_columns = width - cut_columns - fmt_width(s, head);
	size_t tail = suffix_start(s, bytes, tail_columns);
	append(dst, cap, &at, s, head);
	append(dst, cap, &at, cut, strlen(cut));
	append(dst, cap, &at, s + tail, bytes - tail);
	return dst;
}
