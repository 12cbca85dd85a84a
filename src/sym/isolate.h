/*
 * Work that may crash, in a process of its own.
 *
 * Debug information is hostile input, and the reader of it is not ours: damaged range
 * lists and line tables make it crash now and then.  A recording must survive that.
 */
#ifndef NEAP_SYM_ISOLATE_H
#define NEAP_SYM_ISOLATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"

#define ISOLATED_FDS 3

struct isolated {
	/* Runs in the child; appends its result to out and counts what it did in done.  False: no result. */
	bool (*work)(void *context, atomic_size_t *done, struct buf *out);
	/* Runs in the caller's process a few times per second; may be NULL. */
	void (*tick)(void *context, size_t done_count);
	void *context;
	int fds[ISOLATED_FDS]; /* descriptors that work needs; -1: none.  All others are closed */
	const int *more_fds;   /* [more_count] likewise; may be NULL */
	size_t more_count;
	pthread_mutex_t *lock; /* the same for all threads that may call isolate_run at once */
	unsigned patience_ms;  /* killed if it counts nothing for so long */
};

/*
 * isolate_run - fork, work there, append the result to `result` here.
 * Returns false if the child could not be started, died, hung, or had no result; `result` is
 * then as it was.  A child in which the allocator hangs is replaced by another one.  The child's crash leaves no core file and prints nothing.
 */
bool isolate_run(const struct isolated *job, struct buf *result);

#endif
