/*
 * Which call path to show for a place that is reached by many.  The single heaviest one may
 * hold next to nothing; so the callers are chosen one after the other, each being the
 * function that most of what is left comes through.
 */
#ifndef NEAP_REPORT_PATHS_H
#define NEAP_REPORT_PATHS_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/base/map.h"
#include "src/report/rows.h"

/* What the tables of one report share. */
struct path_finder {
	const struct graph *g;
	struct graph_columns columns;
	/* Do not change any more; may be lent by another finder. */
	bool is_borrower;
	uint32_t place_count;
	uint32_t *place_of; /* by entry */
	struct site_leaf {
		node_id node;
		uint32_t place;
	} * leaf_of_site;       /* site_id - 1 */
	uint32_t *path_of_leaf; /* by node: index of a path + 1, 0 none; all 0 between calls */
	/* Of the population asked for last: */
	bool has_sites;
	enum graph_pop pop;
	struct graph_window window;
	struct graph_sum *cohorts, *sites;
};
/* path_finder_init - linear in sites and entries.  Fails: ERR_NOMEM; *f is then empty. */
enum neap_err path_finder_init(struct path_finder *f, const struct graph *g, struct err *e);
/* path_finder_borrow - one more of the same profile, for another thread; `from` must outlive it.  Fails as above. */
enum neap_err path_finder_borrow(struct path_finder *f, const struct path_finder *from,
				 struct err *e);
void path_finder_release(struct path_finder *f);

/* path_finder_place - equal for entries that `by func,line` puts in one row. */
static inline uint32_t path_finder_place(const struct path_finder *f, entry_id entry)
{
	return f->place_of[entry];
}

/*
 * paths_choose - fill what rows say of paths and shared places.
 *   pop, window  the blocks that the rows hold
 * Cost: a pass over the cohorts unless the last call had the same blocks; linear in sites, and in
 * the call paths of these rows times CALLERS_NEAREST.
 */
enum neap_err paths_choose(struct path_finder *f, enum graph_pop pop, struct graph_window window,
			   enum row_key key, struct row *rows, size_t count, struct err *e);

#endif
