/*
 * Numbers with units.  Decimal only, exact: mantissa and power of ten are kept as integers
 * until the end, and neither the locale nor binary fractions come into it.
 */
#include "config.h"

#include "query/lex.h"
#include "query/vocab.h"

#include <string.h>

#define MOST_DIGITS 18 /* of the mantissa, so that it fits 63 bits */

typedef unsigned __int128 wide;

struct decimal {
	uint64_t mantissa, scale; /* mantissa / scale; scale a power of ten */
	size_t used_bytes;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool read_digits(const char *s, size_t bytes, struct decimal *d, unsigned *digits)
{
	for (; d->used_bytes < bytes && is_digit(s[d->used_bytes]); d->used_bytes++) {
		d->mantissa = d->mantissa * 10 + (uint64_t)(s[d->used_bytes] - '0');
		if (d->mantissa && ++*digits > MOST_DIGITS)
			return false;
	}
	return true;
}

static enum lex_number read_decimal(const char *s, size_t bytes, struct decimal *d)
{
	unsigned digits = 0;
	*d = (struct decimal){.scale = 1};
	if (!bytes || !is_digit(s[0]))
		return NUMBER_NONE;
	if (!read_digits(s, bytes, d, &digits))
		return NUMBER_TOO_LARGE;
	if (d->used_bytes == bytes || s[d->used_bytes] != '.')
		return NUMBER_OK;
	size_t point = d->used_bytes++;
	if (!read_digits(s, bytes, d, &digits))
		return NUMBER_MALFORMED;
	size_t places = d->used_bytes - point - 1;
	if (!places || places > MOST_DIGITS)
		return NUMBER_MALFORMED;
	for (size_t i = 0; i < places; i++)
		d->scale *= 10;
	return NUMBER_OK;
}

static bool read_unit(const char *s, size_t bytes, struct ast_quantity *q, int64_t *factor)
{
	*factor = 1;
	if (!bytes)
		return true;
	for (size_t i = 0; i < vocab_unit_count; i++) {
		const struct vocab_unit *u = &vocab_units[i];
		if (strlen(u->word) == bytes && !memcmp(u->word, s, bytes)) {
			q->unit = u->unit;
			*factor = u->factor;
			return true;
		}
	}
	return false;
}

enum lex_number lex_number(const char *s, size_t bytes, struct ast_quantity *out,
			   size_t *unit_bytes_out)
{
	struct decimal d;
	int64_t factor;
	bool is_negative = bytes && s[0] == '-';
	*out = (struct ast_quantity){.unit = UNIT_NONE};
	*unit_bytes_out = 0;
	enum lex_number rc = read_decimal(s + is_negative, bytes - is_negative, &d);
	if (rc != NUMBER_OK)
		return rc;
	size_t used_bytes = d.used_bytes + is_negative;
	*unit_bytes_out = bytes - used_bytes;
	if (used_bytes < bytes && s[used_bytes] == '.')
		return NUMBER_MALFORMED;
	if (!read_unit(s + used_bytes, bytes - used_bytes, out, &factor))
		return NUMBER_UNIT;
	wide product = (wide)d.mantissa * (wide)factor;
	wide rounded = (product + d.scale / 2) / d.scale;
	if (rounded > INT64_MAX)
		return NUMBER_TOO_LARGE;
	out->value = (int64_t)rounded;
	out->number = product % d.scale ? (double)product / (double)d.scale : (double)out->value;
	if (is_negative && d.mantissa) {
		out->value = -out->value;
		out->number = -out->number;
	}
	return NUMBER_OK;
}
