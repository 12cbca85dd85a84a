/* Source files as lines.  Paths come from a profile and contents from anywhere: both are hostile. */
#ifndef NEAP_REPORT_LINES_H
#define NEAP_REPORT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/profile/profile.h"

/* Line n (from 1) is start[n - 1] .. start[n] - 1, its newline included. */
struct lines {
	struct buf path; /* where it was found */
	struct buf text;
	const char **start; /* [count + 1] */
	size_t count;
	bool is_newer; /* changed since the recording */
};
void lines_release(struct lines *l);

/*
 * lines_read - read a source file of a profile: at its path; a relative one from here, then from
 * where the program ran; one below there also at the same place below here.
 *   run         NULL: not known
 *   has_failed  set if memory ran out, else untouched
 * False: not here (only regular files up to 64 MiB are), or empty; *l is then empty too.
 */
bool lines_read(struct lines *l, const char *path, const struct profile_run *run, bool *has_failed);

/*
 * lines_expand - append a line without its end, tabs as spaces; control characters stay as they
 * are.  Stops after about so many bytes: lines may be as long as files.
 */
void lines_expand(const struct lines *l, size_t line, size_t most_bytes, struct buf *out);

#endif
