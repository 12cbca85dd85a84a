/*
 * Strings for JSON (RFC 8259): quote, backslash and control characters are escaped, those of C1
 * (U+0080 to U+009F) too: a terminal may take U+009B for the beginning of a command.
 */
#include "config.h"

#include "src/base/json.h"

#include "src/base/utf8.h"

static void put_char(struct buf *out, uint32_t c, const uint8_t *from, size_t bytes)
{
	if (c == '"' || c == '\\')
		buf_printf(out, "\\%c", (int)c);
	else if (c == '\n')
		buf_puts(out, "\\n");
	else if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		buf_printf(out, "\\u%04x", c);
	else if (c == UTF8_REPLACEMENT)
		buf_puts(out, "\xef\xbf\xbd");
	else
		buf_put(out, from, bytes);
}

void json_string(struct buf *out, const char *s, size_t bytes)
{
	const uint8_t *p = (const uint8_t *)s, *end = bytes ? p + bytes : p;
	size_t n;
	buf_putc(out, '"');
	for (; p < end; p += n) {
		uint32_t c = utf8_decode(p, end, &n);
		put_char(out, c, p, n);
	}
	buf_putc(out, '"');
}
