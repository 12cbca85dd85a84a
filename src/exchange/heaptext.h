/*
 * What the text formats of heap samplers have in common: gperftools, Go and jemalloc write
 * rows "live: bytes [allocated: bytes]", addresses in hex and the lines of /proc/PID/maps.
 */
#ifndef NEAP_EXCHANGE_HEAPTEXT_H
#define NEAP_EXCHANGE_HEAPTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A place in a line that is gone through from left to right. */
struct slice {
	const char *p, *end;
};
struct slice slice_init(const char *s, size_t bytes); /* without blanks at either end */
size_t slice_left(const struct slice *t);
void slice_blanks(struct slice *t); /* steps over spaces and tabs */
/* Each steps over what it names and returns true, or stays where it is. */
bool slice_is(struct slice *t, const char *word);
bool slice_number(struct slice *t, uint64_t *out); /* decimal, below 2^64 */
bool slice_hex(struct slice *t, uint64_t *out);    /* with or without 0x, below 2^64 */
/* slice_word - up to the next blank; *out is empty at the end. */
struct slice slice_word(struct slice *t);

struct heap_row {
	uint64_t live_blocks, live_bytes, born_blocks, born_bytes;
};
/* slice_row - "n: bytes [n: bytes]", with blanks anywhere between its parts; no bytes without blocks. */
bool slice_row(struct slice *t, struct heap_row *out);

/*
 * heap_unsample - blocks and bytes that were probably there, when each byte had the same chance
 * to be sampled and one in period_bytes was on average: both divided by the chance of a
 * block of average size to be seen, 1 - exp(-average / period).  Rounded down, as google/pprof does.
 * A period of 0 or 1: every block was counted.  What does not fit is UINT64_MAX.
 */
void heap_unsample(uint64_t period_bytes, uint64_t *blocks, uint64_t *bytes);

/* A line of /proc/PID/maps: "start-end perms offset device inode path". */
struct map_line {
	uint64_t start_va, end_va, offset_bytes;
	bool is_code;
	struct slice path; /* may be empty */
};
bool slice_map_line(struct slice t, struct map_line *out);

#endif
