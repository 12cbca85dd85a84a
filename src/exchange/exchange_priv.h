/* What the formats share inside this folder: the shapes of detectors and readers. */
#ifndef NEAP_EXCHANGE_EXCHANGE_PRIV_H
#define NEAP_EXCHANGE_EXCHANGE_PRIV_H

#include "src/exchange/exchange.h"
#include "src/exchange/import.h"
#include "src/exchange/input.h"

#define DETECT_BYTES \
	((size_t)64 << 10) /* what a detector may see: the beginning, at most this much */

/*
 * x_detect - is this the beginning of a file of format x?  Looks, takes nothing.
 *   head, bytes  all of the file if it is shorter than DETECT_BYTES
 *
 * x_read - feed the builder.  Said before: the format's facts, the name of the file.
 * Returns ERR_FORMAT (err_corrupt with line or offset and what was expected), ERR_UNSUPPORTED (this
 * file holds nothing that can be imported: what it is, and what to do), or NEAP_OK, also when the input is cut after something
 * useful: then import_partial was called.  Failures of input and builder are found by the caller.
 */
typedef bool detect_fn(const uint8_t *head, size_t bytes);
typedef enum neap_err read_fn(struct input *in, struct import *im, struct err *e);

#define READS(x)              \
	detect_fn x##_detect; \
	read_fn x##_read;
#define NO_READER
#define WRITES(x)
#define NO_WRITER
#define FORMAT(id, name, suffixes, title, reader, writer, facts) reader
#include "src/exchange/formats.def"
#undef READS
#undef NO_READER
#undef WRITES
#undef NO_WRITER

/* ---- the builder's other side (import.c) ------------------------------------------------------ */

/* import_new - a builder that writes to fd (taken over).  Fails: ERR_IO, ERR_NOMEM. */
enum neap_err import_new(struct input *in, enum exchange_format format, int fd,
			 const char *out_path, const struct exchange_options *o,
			 struct import **out, struct err *e);
/* import_finish - write what is left and close.  Frees im.  Fails: the first failure of the builder. */
enum neap_err import_finish(struct import *im, struct err *e);
void import_abandon(struct import *im); /* close without finishing; NULL is fine */

#endif
