/*
 * Regular expressions, bounded: a pattern that works too hard on a text is an error,
 * never a hang.  PCRE2 is used in regex.c only.
 */
#ifndef NEAP_QUERY_REGEX_H
#define NEAP_QUERY_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/err.h"

struct regex; /* not for two threads at once */

/*
 * regex_compile - from a pattern of (pointer, length).
 *   offset_out  where in the pattern it went wrong
 * Fails: ERR_USAGE with PCRE2's message; ERR_NOMEM.  *out is then NULL.
 */
enum neap_err regex_compile(const char *pattern, size_t bytes, bool ignores_case,
			    struct regex **out, size_t *offset_out, struct err *e);
void regex_free(struct regex *r); /* NULL is fine */

/*
 * regex_search - is there a match anywhere in the text?
 * Fails: ERR_LIMIT if it takes too many steps or too much memory; ERR_NOMEM.
 */
enum neap_err regex_search(struct regex *r, const char *text, size_t bytes, bool *found_out,
			   struct err *e);

#endif
