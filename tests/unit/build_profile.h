/*
 * Small profiles for tests, made with the real writer and read back with the real reader.
 *
 *   struct build *b = build_new(NULL, NULL);
 *   node_id main_node = build_call(b, PROFILE_NODE_ROOT, "main", "/src/main.c", 7);
 *   node_id leaf = build_call(b, main_node, "parse", "/src/parse.c", 12);
 *   build_snapshot(b, 10 * BUILD_MS);
 *   cohort_id c = build_alloc(b, leaf, 48, 1, 100);    100 blocks of 48 bytes, thread 1
 *   build_end_snapshot(b);
 *   struct profile *p = build_read(b);                 frees b
 *
 * A call that fails aborts the test program: a broken fixture is no result.
 */
#ifndef NEAP_TESTS_UNIT_BUILD_PROFILE_H
#define NEAP_TESTS_UNIT_BUILD_PROFILE_H

#include "src/profile/profile.h"

#define BUILD_MS 1000000ull /* nanoseconds */

struct build;

/* Starts in "/home/user/demo" on host "box", pid 4711, at 2024-05-01 12:00:00 UTC. */
extern const struct profile_run build_default_run;

struct build_line {
	const char *name, *file; /* file "" = unknown */
	uint32_t line;
};

/* path: the file to write (replaced); NULL: a temporary file, removed when it was read.
 * run: NULL = build_default_run. */
struct build *build_new(const char *path, const struct profile_run *run);
struct profile_writer *build_writer(struct build *b); /* for what has no helper */

/* Module of a path, made when first named.  Two pages of addresses each. */
mod_id build_module(struct build *b, const char *path);
/* A thread; ids count from 1.  Thread 1, "main", is there from the start. */
thread_id build_thread(struct build *b, const char *name);
/* A new frame with its functions, the innermost inlined one first; none: no name. */
frame_id build_frame(struct build *b, mod_id module, uint32_t flags, const struct build_line *lines,
		     size_t count);
/* Node of the frame `name` at file:line called from parent, in the main module; the same
 * arguments give the same node again. */
node_id build_call(struct build *b, node_id parent, const char *name, const char *file,
		   uint32_t line);
/* Same for a frame made before. */
node_id build_node(struct build *b, node_id parent, frame_id frame, uint32_t flags);

snap_id build_snapshot(struct build *b, uint64_t time_ns);
void build_end_snapshot(struct build *b);
/* Inside a snapshot: births blocks of size bytes at node, by thread, born in this interval. */
cohort_id build_alloc(struct build *b, node_id node, uint64_t size_bytes, thread_id thread,
		      uint64_t births);
/* Inside a snapshot: some die, of which `temporary` were temporary. */
void build_free(struct build *b, cohort_id c, uint64_t deaths, uint64_t temporary);

/* Name the functions in the file?  True unless switched off. */
void build_symbols(struct build *b, bool has_symbols);
/* How the process ended; default END_EXITED with status 0 at the time of the last snapshot. */
void build_ending(struct build *b, const struct profile_end *end);
/* build_close - finish the file.  Frees b. */
void build_close(struct build *b);
/* build_read - finish it and read it back.  Frees b; the profile is the caller's. */
struct profile *build_read(struct build *b);

#endif
