/*
 * Names that a runtime gave to code it made while running: /tmp/perf-PID.map, as Linux's perf
 * reads it (linux/tools/perf/Documentation/jit-interface.txt).  One line a function:
 *
 *   START SIZE NAME     hexadecimal run-time address and size; the name goes up to the line's end
 */
#ifndef NEAP_SYM_JITMAP_H
#define NEAP_SYM_JITMAP_H

#include <stdint.h>

struct jit_map;

/*
 * jit_map_read - the map of a process, by the pid that it has itself.  NULL: there is none, it is
 * another user's, it is older than since_unix_ns (of an earlier process with this pid), or
 * memory ran out.  Lines that are not of this form are left out.
 */
struct jit_map *jit_map_read(uint32_t pid, uint64_t since_unix_ns);
void jit_map_free(struct jit_map *m); /* NULL is fine */

/*
 * jit_map_find - the function at a run-time address; NULL.  Code is thrown away and its place used
 * again: of several the one that was written last counts.
 */
const char *jit_map_find(const struct jit_map *m, uint64_t pc);

#endif
