/*
 * The histogram of a column over the rows, `by func | hist total`: how many rows hold how much; or
 * of another field of the blocks than size and lifetime, `hist born`.  A part of Sizes, in place
 * of them when the query asks for it.
 */
#ifndef NEAP_TUI_HIST_ROWS_H
#define NEAP_TUI_HIST_ROWS_H

#include "tui/browser.h"
#include "tui/list.h"

struct hist_rows {
	struct query_opened *q;        /* borrowed from the model; NULL: nothing */
	size_t bucket, rows, total;    /* columns */
	bool is_of_blocks;             /* no rows: blocks are counted */
	int64_t rows_most, total_most; /* of one bucket, without sign */
	struct list list;
};

/* hist_rows_load - of the state's `hist`.  Fails: as model_result. */
enum neap_err hist_rows_load(struct hist_rows *h, struct browser *b, struct query_error *error);
void hist_rows_draw(struct hist_rows *h, struct browser *b, const struct area *a);
/* hist_rows_open - the rows of the selected bucket, as a table. */
void hist_rows_open(struct hist_rows *h, struct browser *b);
/* hist_rows_head - rows above the list. */
unsigned hist_rows_head(const struct area *a);
void hist_rows_text(const struct hist_rows *h, struct buf *out);

#endif
