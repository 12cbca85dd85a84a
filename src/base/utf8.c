/* Reading UTF-8 that may be broken. */
#include "config.h"

#include "src/base/utf8.h"

uint32_t utf8_decode(const uint8_t *p, const uint8_t *end, size_t *bytes_out)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	*bytes_out = 1;
	if (n == 1)
		return *p;
	if (*p < 0xc2 || *p > 0xf4 || (size_t)(end - p) < n)
		return UTF8_REPLACEMENT;
	uint32_t c = *p & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return UTF8_REPLACEMENT;
		c = c << 6 | (p[i] & 0x3fu);
	}
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return UTF8_REPLACEMENT;
	*bytes_out = n;
	return c;
}
