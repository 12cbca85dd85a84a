/*
 * Growing byte buffers (for text and for binary output) and bounded readers
 * (for hostile input).  Varints are LEB128; signed ones are zigzag-coded.
 *
 * Both keep a sticky failure flag, so that a caller can do many steps and check
 * once: a failed buffer ignores further writes, a failed reader returns zeros.
 */
#ifndef NEAP_BASE_BUF_H
#define NEAP_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty.  `data` is NUL-terminated whenever count_bytes > 0. */
struct buf {
	char *data;
	size_t count_bytes, cap_bytes;
	bool has_failed; /* memory ran out */
};
void buf_release(struct buf *b); /* frees and leaves it empty */
void buf_clear(struct buf *b);   /* empties, keeps the memory and resets has_failed */
void buf_put(struct buf *b, const void *p, size_t bytes);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_repeat(struct buf *b, const char *s, size_t times);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
void buf_u8(struct buf *b, uint8_t v);
void buf_u32(struct buf *b, uint32_t v); /* little-endian */
void buf_u64(struct buf *b, uint64_t v); /* little-endian */
/* zigzag - a signed number as an unsigned one that is small if it is near 0: 0, -1, 1 are 0, 1, 2. */
static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}
void buf_varint_long(struct buf *b,
		     uint64_t v); /* any value; buf_varint is faster for small ones */
static inline void buf_varint(struct buf *b, uint64_t v)
{
	if (v >= 0x80 || b->cap_bytes < b->count_bytes + 2 || b->has_failed) {
		buf_varint_long(b, v);
		return;
	}
	b->data[b->count_bytes++] = (char)v;
	b->data[b->count_bytes] = '\0';
}
void buf_svarint(struct buf *b, int64_t v);
void buf_str(struct buf *b, const char *s, size_t bytes); /* varint length, then the bytes */

struct reader {
	const uint8_t *p, *end;
	bool has_failed; /* something was asked for that was not there, or a varint was malformed */
};
struct reader reader_init(const void *data, size_t bytes);
size_t reader_left(const struct reader *r);
uint8_t reader_u8(struct reader *r);
uint32_t reader_u32(struct reader *r);
uint64_t reader_u64(struct reader *r);
uint64_t reader_varint(struct reader *r);
int64_t reader_svarint(struct reader *r);
/* reader_bytes - n bytes inside the input, borrowed; NULL and failed if fewer are left. */
const uint8_t *reader_bytes(struct reader *r, size_t n);
/* reader_str - varint length and bytes, borrowed and not NUL-terminated. */
const char *reader_str(struct reader *r, size_t *bytes_out);
/*
 * reader_count - a varint that counts items of at least min_bytes each still to
 * come; fails if the remaining bytes cannot hold that many.  min_bytes >= 1.
 */
size_t reader_count(struct reader *r, size_t min_bytes);

#endif
