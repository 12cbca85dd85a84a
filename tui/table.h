/* The table of view_table.c for views that are tables with keys of their own. */
#ifndef NEAP_TUI_TABLE_H
#define NEAP_TUI_TABLE_H

#include "tui/view.h"

/* table_key - text of a key of the selected row of view_table's value; NULL: no row, or unknown. */
const char *table_key(const void *self, const char *word);

#endif
