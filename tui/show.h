/* Numbers in few columns, and cells of results. */
#ifndef NEAP_TUI_SHOW_H
#define NEAP_TUI_SHOW_H

#include <stddef.h>
#include <stdint.h>

#include "query/result.h"
#include "src/base/fmt.h"
#include "tui/grid.h"

#define SHOW_BYTES_COLS \
	7u /* the widest of show_bytes and show_count: "-1023.9M" is cut to "-1024M" */

/* show_bytes - "0", "512", "42.1K", "1.3M": powers of 1024. */
const char *show_bytes(char *dst, size_t cap, int64_t bytes);
/* show_count - "310", "12.1k", "1.3M": powers of 1000. */
const char *show_count(char *dst, size_t cap, int64_t count);
/* show_count_words - the same in a sentence: "12.1 k", "1.3 M". */
const char *show_count_words(char *dst, size_t cap, int64_t count);
/* show_blocks_word - "block" or "blocks", behind a number of them in few columns; else fmt_things. */
const char *show_blocks_word(int64_t count);
/* show_share - "47.5%", or "" if there is no whole. */
const char *show_share(char *dst, size_t cap, double part, double whole);
/* show_cell - a cell of a result by its type; text is borrowed from the cell. */
const char *show_cell(char *dst, size_t cap, const struct result_cell *cell, enum result_type type);

/* show_put_sum - append "1.2 MiB in 310 blocks"; without their number where it is not known. */
void show_put_sum(struct buf *out, int64_t bytes, bool has_blocks, int64_t blocks);

/* show_fitting - how many bytes of a text fit so many columns, up to a space if there is one; never 0. */
size_t show_fitting(const char *text, size_t bytes, unsigned cols);
/*
 * show_wrapped - a text over so many rows at most, from a row of the area on; the last one is
 * elided.  Returns the row after it.
 */
unsigned show_wrapped(const struct area *a, unsigned row, unsigned rows_most, struct look l,
		      const char *text);

/* result_column - index of a column by its word; SIZE_MAX: there is none. */
size_t result_column(const struct query_result *r, const char *word);
/* result_knows - is the column there, and known to the file? */
bool result_knows(const struct query_result *r, size_t column);
/* result_value - a number of a row, 0 if the column is not there or unknown; row SIZE_MAX: the total line. */
int64_t result_value(const struct query_result *r, size_t row, size_t column);

#endif
