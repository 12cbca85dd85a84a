/*
 * Names of code that a program made while it ran, from the file that runtimes write for perf:
 * /tmp/perf-PID.map, a line "START SIZE NAME" for each piece of code, numbers in hex.
 */
#ifndef NEAP_SYM_PERFMAP_H
#define NEAP_SYM_PERFMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/sym/job.h"

/*
 * perfmap_name - give the frames of a job without a module their names.
 *   job   frames with run-time addresses, sorted
 *   text  what is in the file; where pieces overlap the last one counts, as code is made anew
 *         where other code was
 * False: out of memory; the frames then have no names.
 */
bool perfmap_name(struct job *job, const char *text, size_t bytes);

/* perfmap_read - append what is in the map of a process that we may believe; nothing if there is none. */
void perfmap_read(uint32_t pid, struct buf *out);

#endif
