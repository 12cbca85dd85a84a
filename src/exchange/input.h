/*
 * A foreign file as a stream of bytes or lines, unwrapped on the way.
 *
 *   file -> gz, zstd, bz2 or xz taken off, by content -> UTF-16 to UTF-8, by byte order mark -> here
 *
 * One wrapper is taken off, and a byte order mark.  Memory is bounded: a window of 1 MiB, which
 * grows only for what is asked for in one piece, up to INPUT_PIECE_MOST.
 * Failures are sticky: after one, everything gives nothing, and input_error has it.  A
 * compressed stream that ends early is no failure but a cut, told by input_is_cut: what came
 * before is given.
 */
#ifndef NEAP_EXCHANGE_INPUT_H
#define NEAP_EXCHANGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"

#define INPUT_PIECE_MOST ((size_t)64 << 20) /* a line, or what is peeked at, is at most this long */

struct input;

/*
 * input_open - open a file; "-" is standard input.
 * Fails:  ERR_IO, ERR_NOMEM.  Not for content: that shows while reading.
 */
enum neap_err input_open(const char *path, struct input **out, struct err *e);
/* Same from memory, for tests and fuzzing; data is borrowed until input_close. */
enum neap_err input_open_memory(const void *data, size_t bytes, const char *name,
				struct input **out, struct err *e);
void input_close(struct input *in); /* NULL is fine */

/* input_peek - what comes next, without taking it: at least want_bytes unless the input ends
 * before.  *data_out is valid until the next call that reads.  Returns how many bytes are there. */
size_t input_peek(struct input *in, size_t want_bytes, const uint8_t **data_out);
/* input_skip - take bytes that were peeked at. */
void input_skip(struct input *in, size_t bytes);
/* input_read - take exactly `bytes`; false if there are fewer (then none is taken). */
bool input_read(struct input *in, void *dst, size_t bytes);

/*
 * input_line - take the next line.
 *   line_out   without its end (LF or CR LF), not NUL-terminated, valid until the next call that reads
 * Returns false at the end.  The last line needs no end; input_line_is_cut tells that it had none.
 * A line longer than INPUT_PIECE_MOST fails with ERR_LIMIT.
 */
bool input_line(struct input *in, const char **line_out, size_t *bytes_out);
bool input_line_is_cut(const struct input *in);

/* input_lines - take all whole lines that are in the window at once, ends included, for fast
 * parsers; input_count_lines tells how many they were.  0 at the end; the last may have no end. */
size_t input_lines(struct input *in, const char **lines_out);
void input_count_lines(struct input *in, uint64_t lines);

const char *input_name(const struct input *in);     /* path, for messages */
const char *input_wrapper(const struct input *in);  /* "gzip", "zstd", "bzip2", "xz", or "" */
uint64_t input_offset(const struct input *in);      /* bytes taken, of the unwrapped data */
uint64_t input_line_number(const struct input *in); /* of the line taken last, from 1 */
bool input_is_cut(const struct input *in);          /* the compressed stream ended early */
/* input_has_failed, input_error - the failure, with the file's name in it; code NEAP_OK: none. */
bool input_has_failed(const struct input *in);
enum neap_err input_error(const struct input *in, struct err *e);
/* Of the file as it is on disk, for progress; all_bytes 0 = unknown (a pipe). */
void input_progress(const struct input *in, uint64_t *done_bytes, uint64_t *all_bytes);
/* input_watch - call is_stopped before each reading of about 1 MiB; if it is true, the input fails with ERR_USAGE. */
void input_watch(struct input *in, bool (*is_stopped)(void *arg, const struct input *in),
		 void *arg);

#endif
