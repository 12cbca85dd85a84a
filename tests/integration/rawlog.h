/*
 * The raw log of allocation events that rawlog.so writes and rawsum reads.
 *
 * One file per process image, DIRECTORY/PID.SEQUENCE.raw: this header, then one
 * record per event in the order they happened.  The file is mapped shared, so
 * what was written survives any death of the process.
 */
#ifndef NEAP_TESTS_RAWLOG_H
#define NEAP_TESTS_RAWLOG_H

#include <stdint.h>

#define RAWLOG_MAGIC 0x31474f4c574152ull /* "RAWLOG1" */

struct rawlog_header {
	uint64_t magic;
	uint64_t used_count; /* records; atomic */
	uint64_t record_max; /* records there is room for; later ones are lost */
	uint32_t pid;
	uint32_t is_forked;    /* started as a copy of the parent's memory ... */
	uint64_t parent_count; /* ... which had made this many records of its file */
	char parent[256];      /* its file's name in the same directory; "" if none */
	char exe[256];         /* /proc/self/exe */
	uint8_t pad[512 - 40];
};

enum rawlog_op {
	RAWLOG_NONE,  /* a slot that was taken but not yet written when the process died */
	RAWLOG_ALLOC, /* block `ptr` of `bytes` was returned */
	RAWLOG_FREE,  /* block `ptr` is about to be freed, or to be moved by realloc */
	RAWLOG_UNDO,  /* the free before was a realloc that failed: block `ptr` is still there */
};

struct rawlog_record {
	uint64_t ptr;
	uint64_t bytes;
	uint32_t tid;
	uint32_t op; /* enum rawlog_op; written last */
};

#endif
