/*
 * Names that a runtime gave to code it made while running: /tmp/perf-PID.map, as Linux's perf
 * reads it (linux/tools/perf/Documentation/jit-interface.txt).  One line a function:
 *
 *   START SIZE NAME     hexadecimal run-time address and size; the name goes up to the line's end
 */
#ifndef NEAP_SYM_JITMAP_H
#define NEAP_SYM_JITMAP_H

#include <stdint.h>

#include "src/base/buf.h"

struct jit_map;

/* Whose map. */
struct jit_process {
	uint32_t pid;      /* as this process sees it, while it lives; 0: only our /tmp counts */
	uint32_t seen_pid; /* as it sees itself */
	uint64_t since_unix_ns; /* older maps are of an earlier process with this pid */
};

/*
 * What was read of a map so far.  A runtime appends to its map, may begin it anew, and may delete
 * it at its end: what was read stays, and what is in an open file can be read until the end.
 */
struct jit_follow {
	int fd; /* -1: none yet */
	uint64_t device, inode, read_bytes;
	struct buf text;
};
void jit_follow_init(struct jit_follow *f);
void jit_follow_release(struct jit_follow *f);

#define JIT_MAP_BYTES_MOST ((size_t)512 << 20)
/*
 * jit_follow_read - read what is new, as long as it is no more than most_bytes in all.  A map that
 * is a link, another user's or too old is as none.
 * Cost: two system calls if nothing is new.
 */
void jit_follow_read(struct jit_follow *f, const struct jit_process *p, size_t most_bytes);
/*
 * jit_follow_map - what was read, as a map; f is then empty.  Lines that are not of that form are
 * left out.  NULL: nothing was, or memory ran out.
 */
struct jit_map *jit_follow_map(struct jit_follow *f);
void jit_map_free(struct jit_map *m); /* NULL is fine */

/*
 * jit_map_find - the function at a run-time address; NULL.  Code is thrown away and its place used
 * again: of several the one that was written last counts.
 */
const char *jit_map_find(const struct jit_map *m, uint64_t pc);

#endif
