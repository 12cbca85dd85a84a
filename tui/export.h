/* Writing the view to a file. */
#ifndef NEAP_TUI_EXPORT_H
#define NEAP_TUI_EXPORT_H

#include "tui/browser.h"

/*
 * export_view - the query of the current view, its rows and numbers, to a file.  The end of the
 * name is the format: .tsv .csv .json .jsonl .md .folded, else text as `neap query` prints it.
 * Says in the last row how it went.
 */
void export_view(struct browser *b, const char *path);

#endif
