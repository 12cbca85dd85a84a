/* The table of view_table.c for views that are tables with keys of their own. */
#ifndef NEAP_TUI_TABLE_H
#define NEAP_TUI_TABLE_H

#include "tui/model.h"
#include "tui/view.h"

/* table_key - text of a key of the selected row of view_table's value; NULL: no row, or unknown. */
const char *table_key(const void *self, const char *word);
/*
 * table_open - keep what a row of a result holds, and show in the tree who holds it; the row of those
 * that were cut shows them.
 */
void table_open(struct browser *b, const struct query_result *r, size_t row);
/* table_next_keys - rows for the next kind of thing. */
void table_next_keys(struct browser *b);
/* table_only_thread - the thread of the row, or the one that has most of it; false: it is a function. */
bool table_only_thread(const void *self, struct browser *b);

#endif
