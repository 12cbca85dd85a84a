/*
 * The recorder: starts a program with the collector preloaded, observes the
 * shared regions of its processes and writes one profile file for each.
 *
 * Nothing here prints: what people should read goes through struct record_sink.
 */
#ifndef NEAP_RECORD_RECORD_H
#define NEAP_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/err.h"

#define RECORD_INTERVAL_NS     UINT64_C(10000000) /* default */
#define RECORD_RECYCLE_FROM    65536u /* cohorts in use before dead ones are used again */
#define RECORD_INTERVAL_MIN_NS UINT64_C(1000000)
#define RECORD_INTERVAL_MAX_NS UINT64_C(3600000000000)

struct record_options {
	char *const *argv;     /* program and arguments, NULL-terminated */
	const char *tool;      /* "neap 0.1.0", written into the file */
	const char *output;    /* pattern with %p %n %h %t %%; NULL = PROG.PID.neap */
	const char *collector; /* path of libneap-collector.so; NULL = find it */
	/* First snapshot interval.  0 = RECORD_INTERVAL_NS, longer in steady stretches (steady.c). */
	uint64_t interval_ns;
	uint32_t recycle_from_count;   /* 0 = RECORD_RECYCLE_FROM */
	bool wants_mappings;           /* count mmap, mremap and munmap too */
	bool has_no_children;          /* record the first process only */
	bool wants_wait_all;           /* until the last process has ended, not the first */
	bool wants_overwrite;          /* replace an existing file instead of numbering */
	const char *const *debug_dirs; /* NULL-terminated, for names; may be NULL */
};

enum record_phase {
	RECORD_RUNNING,
	RECORD_NAMING
};

struct record_progress {
	enum record_phase phase;
	uint64_t elapsed_ns;
	int64_t live_bytes;    /* of all processes being recorded */
	uint64_t peak_bytes;   /* highest of a single process */
	uint64_t alloc_count;  /* of all processes so far */
	uint64_t allocs_per_s; /* lately */
	uint64_t snapshot_count;
	size_t process_count;                       /* being recorded now */
	size_t process_all_count;                   /* recorded so far, those that ended included */
	size_t naming_done_count, naming_all_count; /* addresses */
};

/* Functions are called from the thread that called record_run, except message (any thread,
 * never two at once).  Both may be NULL. */
struct record_sink {
	void *context;
	void (*message)(void *context, const char *text); /* one line, no newline */
	void (*progress)(void *context, const struct record_progress *p);
};

struct record_file { /* one written profile */
	char *path, *program;
	uint32_t pid;
	bool is_first;      /* of the process that neap started */
	bool is_incomplete; /* writing stopped early */
	uint64_t file_bytes;
	uint64_t alloc_count, alloc_bytes;
	uint64_t peak_bytes, live_bytes, live_blocks; /* live at the end */
	uint64_t lost_count;                          /* blocks that could not be counted */
	uint64_t unseen_bytes; /* memory that was much more than the heap; 0 if it was not */
};

struct record_result {
	int exit_status; /* of the program; 126, 127 or 2 if it was not started */
	bool was_started;
	struct record_file *files;
	size_t file_count, file_cap;
};

/*
 * record_run - record one program to its end.
 *
 * Returns an error only if nothing was recorded because the program was not started;
 * out->exit_status then says what to exit with.  Problems after that are messages, and
 * the program goes on.  Must be called while the process has one thread; blocks
 * SIGTERM, SIGHUP, SIGQUIT and SIGINT for the rest of the process.
 */
enum neap_err record_run(const struct record_options *options, const struct record_sink *sink,
			 struct record_result *out, struct err *e);
void record_result_release(struct record_result *out);

/*
 * record_find_collector - path of libneap-collector.so: $NEAP_COLLECTOR, else beside the
 * build tree of this executable, else where it was installed.  Owned by the caller.
 */
enum neap_err record_find_collector(char **path_out, struct err *e);

#define RECORD_OWN_MALLOC "malloc"

/*
 * record_check_target - can this file be recorded by preloading?  Follows #! lines.
 * *allocator_out (may be NULL) becomes the name of an allocator linked into the program, whose
 * calls may not be seen: RECORD_OWN_MALLOC if it defines malloc itself; NULL if there is none.
 * Fails: ERR_UNSUPPORTED with what to do instead (static, sanitizer, setuid, other machine, ...),
 *        ERR_IO if it cannot be read (then nothing is known: the caller may go on).
 */
enum neap_err record_check_target(const char *path, const char **allocator_out, struct err *e);

#endif
