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

/* Where sources lie now: prefixes of paths and what takes their place.  Zero-initialised is empty. */
struct source_map {
	struct source_prefix {
		char *from, *to;
	} * items;
	size_t count, cap;
};
/* source_map_add - FROM is (pointer, length); slashes at its end do not count.  False: out of memory. */
bool source_map_add(struct source_map *m, const char *from, size_t from_bytes, const char *to);
void source_map_release(struct source_map *m);

/* Where to look for sources besides the places that the profile says. */
struct lines_search {
	const struct source_map
		*map; /* may be NULL; the first entry that fits counts, before all else */
	/*
	 * May be NULL.  Asks elsewhere for a file that is not here; returns a descriptor, or -1.
	 */
	int (*fetch)(void *context, const char *path);
	void *context;
};

/*
 * lines_read - read a source file of a profile: at its path; a relative one from here, then from
 * where the program ran; one below there also at the same place below here.
 *   run         NULL: not known
 *   has_failed  set if memory ran out, else untouched
 * False: not here (only regular files up to 64 MiB are), or empty; *l is then empty too.
 */
bool lines_read(struct lines *l, const char *path, const struct profile_run *run, bool *has_failed);
/* lines_find - the same with more places to look in; search may be NULL. */
bool lines_find(struct lines *l, const char *path, const struct profile_run *run,
		const struct lines_search *search, bool *has_failed);

/*
 * lines_expand - append a line without its end, tabs as spaces; control characters stay as they
 * are.  Stops after about so many bytes: lines may be as long as files.
 */
void lines_expand(const struct lines *l, size_t line, size_t most_bytes, struct buf *out);

#endif
