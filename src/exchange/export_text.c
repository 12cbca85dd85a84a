/* Texts as formats want them: nothing of a name is ever markup, code or a command. */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/fmt.h"
#include "src/base/utf8.h"

#include <stdio.h>
#include <string.h>

/* C0, DEL, C1, what turns the direction of writing, and what XML forbids. */
static bool is_unsafe(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x200e ||
	       c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       (c & 0xfffe) == 0xfffe;
}

/* One character, or what stands for it; returns its bytes in s. */
static size_t put_clean(struct buf *out, const uint8_t *p, const uint8_t *end, uint32_t *c_out)
{
	size_t n;
	uint32_t c = utf8_decode(p, end, &n);
	*c_out = c;
	if (c == UTF8_REPLACEMENT || is_unsafe(c))
		buf_puts(out, "\xef\xbf\xbd");
	else
		buf_put(out, p, n);
	return n;
}

void export_clean(struct buf *out, const char *s, const char *replace, char by)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + strlen(s);
	while (p < end) {
		uint32_t c = *p;
		if (c < 0x80 && strchr(replace, (int)c)) {
			buf_putc(out, by);
			p++;
		} else {
			p += put_clean(out, p, end, &c);
		}
	}
}

static const char *entity(uint8_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static void put_xml(struct buf *out, const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		uint32_t c;
		const char *e = entity(*p);
		if (e) {
			buf_puts(out, e);
			p++;
		} else {
			p += put_clean(out, p, end, &c);
		}
	}
}

void export_xml(struct buf *out, const char *s)
{
	put_xml(out, (const uint8_t *)s, (const uint8_t *)s + strlen(s));
}

static bool is_continuation(uint8_t c)
{
	return (c & 0xc0) == 0x80;
}

void export_xml_part(struct buf *out, const char *s, size_t most_bytes)
{
	const uint8_t *p = (const uint8_t *)s;
	size_t bytes = strlen(s), half = most_bytes / 2;
	if (bytes <= most_bytes) {
		put_xml(out, p, p + bytes);
		return;
	}
	size_t head = half, tail = bytes - half;
	while (head && is_continuation(p[head]))
		head--;
	while (tail < bytes && is_continuation(p[tail]))
		tail++;
	put_xml(out, p, p + head);
	buf_puts(out, " \xe2\x80\xa6 ");
	put_xml(out, p + tail, p + bytes);
}

void export_fit(struct buf *out, const char *s, size_t most_chars)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + strlen(s), *cut = p;
	size_t chars = 0, n;
	for (const uint8_t *at = p; at < end; at += n) {
		utf8_decode(at, end, &n);
		if (++chars + 1 == most_chars)
			cut = at + n;
	}
	if (chars <= most_chars) {
		put_xml(out, p, end);
		return;
	}
	put_xml(out, p, cut);
	buf_puts(out, "\xe2\x80\xa6");
}

void export_json(struct buf *out, const char *s)
{
	const uint8_t *p = (const uint8_t *)s, *end = p + strlen(s);
	buf_putc(out, '"');
	while (p < end) {
		uint32_t c = *p;
		size_t n = 1;
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", (int)c);
		else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&')
			buf_printf(out, "\\u%04x", c);
		else if (c < 0x80)
			buf_putc(out, (char)c);
		else
			n = put_clean(out, p, end, &c);
		p += n;
	}
	buf_putc(out, '"');
}

const char *export_number(char *dst, enum export_unit unit, int64_t value, bool has_plus)
{
	char text[FMT_BYTES];
	if (unit == EXPORT_BYTES)
		fmt_bytes(text, sizeof text, value);
	else
		fmt_count(text, sizeof text, value);
	snprintf(dst, EXPORT_NUMBER_BYTES, "%s%s", has_plus && value > 0 ? "+" : "", text);
	return dst;
}

void export_cdata(struct buf *out, const char *element, const char *text)
{
	buf_printf(out, "<%s>/*<![CDATA[*/\n", element);
	buf_puts(out, text);
	buf_printf(out, "/*]]>*/</%s>\n", element);
}
