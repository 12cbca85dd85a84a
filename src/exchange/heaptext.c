/* Numbers, rows and mappings in the text formats of heap samplers. */
#include "config.h"

#include "src/exchange/heaptext.h"

#include <math.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice slice_init(const char *s, size_t bytes)
{
	struct slice t = {s, s + bytes};
	slice_blanks(&t);
	while (t.end > t.p && is_blank(t.end[-1]))
		t.end--;
	return t;
}

size_t slice_left(const struct slice *t)
{
	return (size_t)(t->end - t->p);
}

void slice_blanks(struct slice *t)
{
	while (t->p < t->end && is_blank(*t->p))
		t->p++;
}

bool slice_is(struct slice *t, const char *word)
{
	size_t bytes = strlen(word);
	if (slice_left(t) < bytes || memcmp(t->p, word, bytes) != 0)
		return false;
	t->p += bytes;
	return true;
}

bool slice_number(struct slice *t, uint64_t *out)
{
	const char *p = t->p;
	uint64_t value = 0;
	for (; p < t->end && *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return false;
	if (p == t->p)
		return false;
	t->p = p;
	*out = value;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool slice_hex(struct slice *t, uint64_t *out)
{
	struct slice at = *t;
	if (!slice_is(&at, "0x"))
		slice_is(&at, "0X");
	const char *first = at.p;
	uint64_t value = 0;
	for (; at.p < at.end && hex_digit(*at.p) >= 0; at.p++) {
		if (value >> 60)
			return false;
		value = value << 4 | (uint64_t)hex_digit(*at.p);
	}
	if (at.p == first)
		return false;
	*t = at;
	*out = value;
	return true;
}

struct slice slice_word(struct slice *t)
{
	slice_blanks(t);
	struct slice word = {t->p, t->p};
	while (t->p < t->end && !is_blank(*t->p))
		t->p++;
	word.end = t->p;
	return word;
}

/* Blanks, then the character. */
static bool mark(struct slice *t, const char *c)
{
	slice_blanks(t);
	return slice_is(t, c);
}

static bool number(struct slice *t, uint64_t *out)
{
	slice_blanks(t);
	return slice_number(t, out);
}

bool slice_row(struct slice *t, struct heap_row *out)
{
	struct slice at = *t;
	if (!number(&at, &out->live_blocks) || !mark(&at, ":") || !number(&at, &out->live_bytes) ||
	    !mark(&at, "[") || !number(&at, &out->born_blocks) || !mark(&at, ":") ||
	    !number(&at, &out->born_bytes) || !mark(&at, "]"))
		return false;
	if ((out->live_blocks == 0 && out->live_bytes > 0) ||
	    (out->born_blocks == 0 && out->born_bytes > 0))
		return false;
	*t = at;
	return true;
}

static uint64_t scaled(uint64_t value, double factor)
{
	double v = (double)value * factor;
	return v < 0x1p64 ? (uint64_t)v : UINT64_MAX;
}

void heap_unsample(uint64_t period_bytes, uint64_t *blocks, uint64_t *bytes)
{
	if (period_bytes <= 1 || *blocks == 0 || *bytes == 0)
		return;
	double average_bytes = (double)*bytes / (double)*blocks;
	double factor = 1 / (1 - exp(-average_bytes / (double)period_bytes));
	*blocks = scaled(*blocks, factor);
	*bytes = scaled(*bytes, factor);
}

bool slice_map_line(struct slice t, struct map_line *out)
{
	memset(out, 0, sizeof *out);
	if (!slice_hex(&t, &out->start_va) || !slice_is(&t, "-") || !slice_hex(&t, &out->end_va))
		return false;
	struct slice flags = slice_word(&t);
	if (out->end_va <= out->start_va)
		return false;
	if (slice_left(&flags) == 1 && *flags.p == ':') { /* "start-end: path", of old tcmalloc */
		out->is_code = true;
		slice_blanks(&t);
		out->path = t;
		return true;
	}
	if (slice_left(&flags) < 4)
		return false;
	out->is_code = flags.p[2] == 'x';
	slice_blanks(&t);
	if (!slice_hex(&t, &out->offset_bytes))
		return false;
	slice_word(&t); /* device */
	slice_word(&t); /* inode */
	slice_blanks(&t);
	out->path = t;
	return true;
}
