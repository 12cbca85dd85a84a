/* Growing byte buffers and bounded readers.  Failure is sticky in both. */
#include "config.h"

#include "src/base/buf.h"

#include <stdio.h>
#include <string.h>

#include "src/base/mem.h"

#define VARINT_MOST_BYTES 10

/* ---- buffers ---------------------------------------------------------------- */

void buf_release(struct buf *b)
{
	mem_free(b->data);
	*b = (struct buf){0};
}

void buf_clear(struct buf *b)
{
	b->count_bytes = 0;
	b->has_failed = false;
	if (b->data)
		b->data[0] = '\0';
}

/* Room for `bytes` more and the NUL; NULL and failed if there is none. */
static char *make_room(struct buf *b, size_t bytes)
{
	size_t need;
	if (b->has_failed)
		return NULL;
	if (__builtin_add_overflow(b->count_bytes + 1, bytes, &need) ||
	    !vec_reserve((void **)&b->data, &b->cap_bytes, need, 1)) {
		b->has_failed = true;
		return NULL;
	}
	return b->data + b->count_bytes;
}

static void has_written(struct buf *b, size_t bytes)
{
	b->count_bytes += bytes;
	b->data[b->count_bytes] = '\0';
}

void buf_put(struct buf *b, const void *p, size_t bytes)
{
	char *at = make_room(b, bytes);
	if (!at || !bytes)
		return;
	memcpy(at, p, bytes);
	has_written(b, bytes);
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_repeat(struct buf *b, const char *s, size_t times)
{
	size_t bytes = strlen(s);
	for (size_t i = 0; i < times && !b->has_failed; i++)
		buf_put(b, s, bytes);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		b->has_failed = true;
	char *at = n > 0 ? make_room(b, (size_t)n) : NULL;
	if (at) {
		vsnprintf(at, (size_t)n + 1, fmt, again);
		has_written(b, (size_t)n);
	}
	va_end(again);
}

void buf_u8(struct buf *b, uint8_t v)
{
	buf_put(b, &v, 1);
}

static void put_le(struct buf *b, uint64_t v, size_t bytes)
{
	uint8_t le[8];
	for (size_t i = 0; i < bytes; i++)
		le[i] = (uint8_t)(v >> (8 * i));
	buf_put(b, le, bytes);
}

void buf_u32(struct buf *b, uint32_t v)
{
	put_le(b, v, 4);
}

void buf_u64(struct buf *b, uint64_t v)
{
	put_le(b, v, 8);
}

void buf_varint_long(struct buf *b, uint64_t v)
{
	uint8_t *at = (uint8_t *)make_room(b, VARINT_MOST_BYTES);
	if (!at)
		return;
	size_t n = 0;
	for (; v >= 0x80; v >>= 7)
		at[n++] = (uint8_t)(v | 0x80);
	at[n++] = (uint8_t)v;
	has_written(b, n);
}

void buf_svarint(struct buf *b, int64_t v)
{
	buf_varint(b, zigzag(v));
}

void buf_str(struct buf *b, const char *s, size_t bytes)
{
	buf_varint(b, bytes);
	buf_put(b, s, bytes);
}

/* ---- readers ---------------------------------------------------------------- */

/* A failed reader has nothing left, so a caller's loop over p < end stops too. */
static void fail(struct reader *r)
{
	r->p = r->end;
	r->has_failed = true;
}

struct reader reader_init(const void *data, size_t bytes)
{
	const uint8_t *p = data;
	return (struct reader){.p = p, .end = bytes ? p + bytes : p};
}

size_t reader_left(const struct reader *r)
{
	return r->has_failed ? 0 : (size_t)(r->end - r->p);
}

const uint8_t *reader_bytes(struct reader *r, size_t n)
{
	if (r->has_failed || n > (size_t)(r->end - r->p)) {
		fail(r);
		return NULL;
	}
	const uint8_t *at = r->p;
	r->p += n;
	return at;
}

static uint64_t get_le(struct reader *r, size_t bytes)
{
	const uint8_t *at = reader_bytes(r, bytes);
	uint64_t v = 0;
	for (size_t i = 0; at && i < bytes; i++)
		v |= (uint64_t)at[i] << (8 * i);
	return v;
}

uint8_t reader_u8(struct reader *r)
{
	return (uint8_t)get_le(r, 1);
}

uint32_t reader_u32(struct reader *r)
{
	return (uint32_t)get_le(r, 4);
}

uint64_t reader_u64(struct reader *r)
{
	return get_le(r, 8);
}

uint64_t reader_varint(struct reader *r)
{
	uint64_t v = 0;
	if (r->has_failed)
		return 0;
	for (unsigned shift = 0; r->p < r->end; shift += 7) {
		uint8_t byte = *r->p++;
		/* The tenth byte holds bit 63 alone: anything more does not fit. */
		if (shift == 63 && byte > 1)
			break;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return v;
	}
	fail(r);
	return 0;
}

int64_t reader_svarint(struct reader *r)
{
	uint64_t z = reader_varint(r);
	return (int64_t)((z >> 1) ^ -(z & 1));
}

const char *reader_str(struct reader *r, size_t *bytes_out)
{
	*bytes_out = 0;
	size_t n = reader_count(r, 1);
	const uint8_t *at = reader_bytes(r, n);
	if (at)
		*bytes_out = n;
	return (const char *)at;
}

size_t reader_count(struct reader *r, size_t min_bytes)
{
	uint64_t n = reader_varint(r);
	if (n > reader_left(r) / min_bytes) {
		fail(r);
		return 0;
	}
	return (size_t)n;
}
