/*
 * The best of two sets of names for the same frames: what a profile knew, and what was found
 * now, perhaps on another machine where other files are missing.
 */
#ifndef NEAP_SYM_KEEP_H
#define NEAP_SYM_KEEP_H

#include <stddef.h>

#include "src/base/err.h"
#include "src/profile/profile.h"

struct kept_symbols {
	struct profile_symbols symbols; /* arrays are ours, strings those of the two sets */
	size_t better_count;            /* frames for which what was found is used */
	size_t named_count;             /* frames with at least a function */
	size_t lined_count;             /* frames with a line of source */
};

/*
 * symbols_keep - choose for each frame.
 *
 * What was found replaces what was known only where it says more: lines of source where
 * there were none, else more functions (inlined ones).  So nothing that was known is lost,
 * and found twice changes nothing the second time.
 * Functions that left with a jump are those of both, and what was found of a pair counts.
 *   known   of as many frames as found, but for those of tails, or of none
 * Fails: ERR_NOMEM.
 */
enum neap_err symbols_keep(const struct profile_symbols *known, const struct profile_symbols *found,
			   struct kept_symbols *out, struct err *e);
void kept_symbols_release(struct kept_symbols *k);

/* symbols_is_named - is at least a function known of a frame? */
bool symbols_is_named(const struct profile_symbols *s, frame_id f);

#endif
