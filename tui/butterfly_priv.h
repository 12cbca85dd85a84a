/* Between view_butterfly.c (loading and keys) and butterfly_draw.c. */
#ifndef NEAP_TUI_BUTTERFLY_PRIV_H
#define NEAP_TUI_BUTTERFLY_PRIV_H

#include "tui/browser.h"
#include "tui/list.h"

enum side {
	SIDE_CALLERS,
	SIDE_FRAME,
	SIDE_CALLEES,
	SIDE_COUNT
};

#define ROW_REMAINDER UINT32_MAX /* no caller; allocated itself */

struct wing {
	uint32_t row; /* of the result */
	enum side side;
	int64_t bytes, blocks;
};

struct butterfly {
	struct query_opened *q; /* borrowed from the model */
	struct wing *wings;     /* callers, the function, callees */
	size_t wing_cap;
	size_t count[SIDE_COUNT];
	size_t total, blocks, name, role; /* columns */
	int64_t bytes_here, blocks_here;  /* of the function */
	int64_t bytes_all;                /* of the query, with and without the function */
	struct list list;                 /* over all wings */
	size_t top[SIDE_COUNT];           /* first wing shown of each side */
	char subject[256];
};

/* ---- wings: `at` counts over callers, the function, callees ------------------------------------ */

const struct query_result *butterfly_result(const struct butterfly *v);
/* butterfly_frame - of a wing; false: it is no function. */
bool butterfly_frame(const struct butterfly *v, size_t at, struct graph_frame *out);
const char *butterfly_name(const struct butterfly *v, size_t at); /* "": it has none */

/* ---- butterfly_draw.c -------------------------------------------------------------------------- */

size_t butterfly_first(const struct butterfly *v, enum side side); /* of the wings of a side */
/* butterfly_rest_name - what ROW_REMAINDER is called. */
const char *butterfly_rest_name(enum side side);
/* Rows of a screen: heading, callers, [rule], the function, [about, rule], heading, callees. */
struct butterfly_rows {
	unsigned heads, rules; /* 0 or 1 */
	unsigned of[SIDE_COUNT];
};
/* butterfly_share_rows - half of what is left for each side, and what the other does not need. */
struct butterfly_rows butterfly_share_rows(const struct butterfly *v, unsigned rows);
/* butterfly_row - where the rows of a side begin. */
unsigned butterfly_row(const struct butterfly_rows *s, enum side side);
void butterfly_draw(void *self, struct browser *b, const struct area *a);

#endif
