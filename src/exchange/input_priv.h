/* Sources of bytes, one on top of the other: the file, what unwraps it, what decodes its text. */
#ifndef NEAP_EXCHANGE_INPUT_PRIV_H
#define NEAP_EXCHANGE_INPUT_PRIV_H

#include "src/exchange/input.h"

struct source;
struct source_class {
	/* Fill dst with 1 .. cap bytes and return how many; 0 at the end or after a failure, then in *e. */
	size_t (*fill)(struct source *s, uint8_t *dst, size_t cap, struct err *e);
	void (*free)(struct source *s);
};
struct source {
	const struct source_class *class;
	struct source *below; /* what it reads from; freed by source_free, not by class->free */
	bool is_cut;          /* a compressed stream that ends early */
};

/* source_free - with everything below.  NULL is fine. */
void source_free(struct source *s);

/*
 * unwrap - put the right decompressor on top of s (unwrap.c).
 *   head, bytes  how its data begins (at least 6 bytes if it has so many)
 *   name_out     "gzip", ..., "" if it is not compressed; *s is then unchanged
 * The bytes of head are given again: s must be at its beginning.
 * Fails: ERR_NOMEM; *s is unchanged.
 */
enum neap_err unwrap(struct source **s, const uint8_t *head, size_t bytes, const char *file_name,
		     const char **name_out, struct err *e);

#endif
