/*
 * Failing one allocation or one system call of neap, each in turn.
 *
 * A library to preload.  hooks.c stands before the allocator and the calls that can
 * fail, and counts them; serve.c takes main's place, forks the program once for each
 * of them, and lets that one fail; judge.c says whether what the program then did is
 * what it should have done.  At the end the program runs once more, undisturbed, so
 * that the caller sees what it asked for.
 *
 *   NEAP_FAULTS        what fails, words with spaces between:
 *     memory           the n-th allocation
 *     memory-from      the n-th allocation and every later one
 *     calls            the n-th call, with its error, with EINTR, and cut short
 *     disk             the n-th write and every later one, with ENOSPC
 *     stdout           every write to the standard output, with ENOSPC
 *   NEAP_FAULTS_LOG    file to append to: a line for each run of the program, its faults before it
 *   NEAP_FAULTS_MOST   failures tried for each word, spread evenly; absent = every one
 *   NEAP_FAULTS_PLACES   failures tried for each place: a stack that something fails in; absent = every one
 *   NEAP_FAULTS_ONLY   the one number to try; the stack of what fails is in the log
 *   NEAP_FAULTS_JUDGE  shell command that judges instead of judge.c; see serve.c
 */
#ifndef NEAP_TESTS_FAULTS_H
#define NEAP_TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault {
	FAULT_NONE,
	FAULT_NOMEM,
	FAULT_NOMEM_FROM,
	FAULT_ERROR,
	FAULT_EINTR,
	FAULT_SHORT,
	FAULT_DISK,
	FAULT_STDOUT,
};

/* What is to fail, and what did; in memory that the forked programs share. */
struct faults {
	enum fault fault;
	uint64_t at_count; /* of what can fail, from 1; 0 = only count */
	uint64_t seen_count;
	bool has_hit;
	bool must_recover;  /* the call is one that has to be repeated */
	bool is_completing; /* neap query --complete */
	int errnum;
	char name[24]; /* of the function that failed */
};
extern struct faults *faults; /* NULL: nothing fails */
#define PLACES_MOST ((uint64_t)1 << 20)
extern uint64_t *
	faults_places; /* [PLACES_MOST]: place of failure n, n - 1, while they are counted; NULL: not asked for */
extern int faults_trace_fd; /* where the stack of what fails is written; -1 = nowhere */

struct text {
	char *data;
	size_t bytes;
};

#define FILES_MOST 8

/* All that a run left behind. */
struct run {
	int status; /* of waitpid */
	struct text out, err;
	size_t file_count; /* new in the working directory */
	struct text file_names[FILES_MOST], files[FILES_MOST];
};

/* judge_run - NULL if r is a fair answer to f, else what is wrong; refs: n undisturbed runs. */
const char *judge_run(const struct faults *f, const struct run *r, const struct run *refs,
		      size_t n);

#endif
