/* What rows of results are about, and what they are called. */
#ifndef NEAP_TUI_ROWS_H
#define NEAP_TUI_ROWS_H

#include "query/result.h"
#include "src/base/buf.h"
#include "src/base/fmt.h"
#include "src/graph/graph.h"
#include "src/report/name.h"

/*
 * row_frame - what is known of the function, line, file or module that a row is about; false: it is
 * about none of them.
 *   out  of a row that is no function, as one of a module, has no more than its keys say, and is
 *        none for row_is_function; in a diff of two files there are only the names
 */
bool row_frame(const struct query_result *r, size_t row, struct graph_frame *out);
bool row_is_function(const struct graph_frame *f);

/* row_put_keys - append the texts of its keys, a tab between them. */
void row_put_keys(const struct query_result *r, size_t row, struct buf *out);
/* row_matches - is the text in one of them? */
bool row_matches(const struct query_result *r, size_t row, const char *text);
/*
 * row_key - one of them for the screen, in at most cols columns.  Borrowed from names, the result or
 * scratch until the next call.
 */
const char *row_key(struct shortener *names, const struct query_result *r, size_t row,
		    size_t column, unsigned cols, char scratch[FMT_BYTES]);
/*
 * row_label - its keys side by side; row_name - its function alone where that is among them, for who
 * shows beside it where the function is.  Borrowed until the next call with the same scratch.
 */
const char *row_label(struct shortener *names, const struct query_result *r, size_t row,
		      unsigned cols, struct buf *scratch);
const char *row_name(struct shortener *names, const struct query_result *r, size_t row,
		     unsigned cols, struct buf *scratch);

/* row_hash - a hash goes on over its keys: FNV-1a. */
#define ROW_HASH_START 0xcbf29ce484222325u
#define ROW_HASH_PRIME 0x100000001b3u
uint64_t row_hash(uint64_t hash, const struct query_result *r, size_t row);

#endif
