/* What stands in place of rows where the query leaves none. */
#ifndef NEAP_TUI_EMPTY_H
#define NEAP_TUI_EMPTY_H

#include "tui/browser.h"

/*
 * empty_draw - that there is nothing, the notes of the query (names that are not there, and which
 * are near), which part of the query took everything, and how much there is without it; or that the
 * population, or the file, has nothing.
 *   what  "no blocks: the query leaves nothing"
 *   r     whose notes; NULL: those of the query by function
 * Asks the model for results, once for each generation.
 */
void empty_draw(struct browser *b, const struct area *a, const char *what,
		const struct query_result *r);

#endif
