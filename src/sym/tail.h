/*
 * Functions that called the next one with a jump, and so left no frame, as far as call sites of
 * debug information prove them.  Private to src/sym.
 *
 *   frame A   its call site says that it calls B
 *             B jumps to D, D jumps to C          [tail] B, D
 *   frame C
 */
#ifndef NEAP_SYM_TAIL_H
#define NEAP_SYM_TAIL_H

#include <pthread.h>
#include <stdatomic.h>

#include "src/sym/symbolise.h"

/* A frame, and what the next one is in. */
struct tail_pair {
	frame_id caller, callee; /* callee 0: the allocator's function api */
	enum profile_api api;
};
struct tail_step {
	mod_id module;
	uint64_t pc; /* after the jump, in the file's own addresses */
};
/* Pairs and what lies between; zero-initialised is empty. */
struct tail_chains {
	struct tail_pair *pairs; /* [count] */
	uint32_t *first_step;    /* [count + 1] */
	size_t count, pair_cap, first_cap;
	struct tail_step *steps; /* outermost first */
	size_t step_cap;
};
void tail_chains_release(struct tail_chains *c);
/* tails_of_chains - as a profile has them, each step once; free with tails_release.  False: out of memory. */
bool tails_of_chains(const struct tail_chains *c, struct profile_tails *out);

/*
 * tail_prove - what lies between pairs, proved by the call sites of all functions that could:
 * what all ways from one end to the other begin and end with.  Nothing where any function on the
 * way jumps to something unknown, or does not say where it jumps to.  As GDB does it.
 *
 * Reads debug information of all modules that are needed, so it is for a child process.
 *   done  counts pairs
 * Returns false if memory runs out.
 */
bool tail_prove(const struct symbolise_request *req, const struct tail_pair *pairs, size_t count,
		atomic_size_t *done, struct tail_chains *out);

/* tail_is_api - does the allocator's function go by that linkage name? */
bool tail_is_api(const char *name, enum profile_api api);

/* What names say of frames: ids in one table of linkage names, + 1; 0: unknown. */
struct tail_names {
	const uint32_t *func;   /* [frame_count] of the function that holds the code */
	const uint32_t *callee; /* [frame_count] of what it calls */
	const char *(*text)(const void *context, uint32_t id);
	const void *context;
};
/*
 * tail_find - pairs of the tree whose names do not fit together, and what is proved to lie between.
 *   fork_lock  see isolate.h
 * Cost:  one pass over the tree; a child process if there is a pair.
 * Returns false if memory runs out.
 */
bool tail_find(const struct symbolise_request *req, const struct tail_names *names,
	       pthread_mutex_t *fork_lock, struct tail_chains *out);

#endif
