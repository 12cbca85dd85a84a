/* Allocation wrappers that the user adds: regular expressions for names of functions. */
#ifndef NEAP_QUERY_WRAPPERS_H
#define NEAP_QUERY_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

struct query_wrappers; /* not for two threads at once */

/*
 * query_wrappers_add - add a pattern; the first makes the set.
 *   w        *w NULL: none yet; free with query_wrappers_free
 *   pattern  PCRE2, matches anywhere in the demangled name, as ~ in conditions does
 * Fails: ERR_USAGE (no regular expression), ERR_NOMEM.
 */
enum neap_err query_wrappers_add(struct query_wrappers **w, const char *pattern, struct err *e);
void query_wrappers_free(struct query_wrappers *w); /* NULL is fine */

/* query_wrappers_fit - does a name fit any?  A pattern that works too hard fits nothing from then on. */
bool query_wrappers_fit(void *w, const char *name);
/* query_wrappers_trouble - fails if a pattern worked too hard: ERR_LIMIT, with the pattern; ERR_NOMEM. */
enum neap_err query_wrappers_trouble(const struct query_wrappers *w, struct err *e);

#endif
