/*
 * Cells of an icicle graph: which rows of a tree are wide enough to be seen, and where.
 *
 *   level 0  | all                                                  |
 *   level 1  | main                                   | worker      |
 *   level 2  | parse              | log     |3 smaller|.............|
 *
 * The children of a cell stand below it, as wide as what they hold; what is left at the right is
 * the cell's own.  Children below one column are one cell, with those that the query cut.  Rows
 * are opened only below cells that are on the screen and at least two columns wide.
 */
#ifndef NEAP_TUI_FLAME_LAYOUT_H
#define NEAP_TUI_FLAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/opened.h"

#define FLAME_NONE UINT32_MAX

struct flame_cell {
	uint32_t row; /* of the result; OPENED_ROOT: everything; of a rest: its parent */
	/* Rest: the children of `row` that weigh less than `below`, and those cut; else INT64_MAX. */
	int64_t below;
	uint32_t rest_count;    /* rows in it; 0: no rest */
	uint32_t cut_count;     /* of these, cut by the query */
	int64_t weight;         /* decides the width; never negative */
	int64_t bytes, blocks;  /* of a diff: signed */
	uint32_t parent, first; /* cells; children are neighbours */
	uint32_t child_count;
	unsigned level, col, cols;
	uint64_t step; /* hash of the name: finds it again in another result */
};

struct flame_layout {
	struct query_opened *q;
	size_t total, a, b, count, name; /* columns of the result */
	struct flame_cell *cells;        /* level by level, from the left to the right */
	size_t cell_count, cell_cap;
	unsigned cols, levels; /* of the last flame_build */
};

/* flame_columns - take a result over; cells stay as they are until flame_build. */
void flame_columns(struct flame_layout *l, struct query_opened *q);
/* flame_root - the cell of everything, with no place yet. */
struct flame_cell flame_root(const struct flame_layout *l);
/*
 * flame_find - the child of a cell by its step; `below` as in the cell that is looked for.
 * False: it is not there any more.
 */
bool flame_find(struct flame_layout *l, const struct flame_cell *parent, uint64_t step,
		int64_t below, struct flame_cell *out, struct query_error *error);
/*
 * flame_build - lay out what is below a root, so many levels, the root's included.
 * Cost: linear in the children of cells that are shown.
 */
enum neap_err flame_build(struct flame_layout *l, const struct flame_cell *root, unsigned cols,
			  unsigned levels, struct query_error *error);
/* flame_is_wide - are its children laid out where there are levels for them? */
static inline bool flame_is_wide(const struct flame_cell *c)
{
	return c->cols >= 2;
}
void flame_release(struct flame_layout *l);

#endif
