/* What an opened query keeps. */
#ifndef NEAP_QUERY_OPENED_PRIV_H
#define NEAP_QUERY_OPENED_PRIV_H

#include "query/exec.h"
#include "query/opened.h"

struct opened_run { /* the rows below one: in the result */
	uint32_t first, count;
	bool is_made;
};

struct query_opened {
	struct plan pl;
	struct exec x;
	struct query_result *r;
	struct gathered rows;     /* lent to r */
	uint32_t *group_of_row;   /* GROUP_NONE: rows cut away */
	struct opened_run *below; /* by row */
	struct opened_run top;
	size_t group_cap, below_cap;
	struct stack_cut cut;
};

/* opened_is_tree - are rows made when their parent is opened? */
bool opened_is_tree(const struct query_opened *q);

#endif
