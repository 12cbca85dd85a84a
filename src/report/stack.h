/* Call paths below a row: a few callers, or every frame. */
#ifndef NEAP_REPORT_STACK_H
#define NEAP_REPORT_STACK_H

#include <stddef.h>

#include "src/base/err.h"
#include "src/graph/graph.h"
#include "src/report/name.h"
#include "src/report/rows.h"
#include "src/report/text.h"

/* stack_frame - name and place of a frame in what is left of the line after `used_cols`. */
void stack_frame(struct text *t, struct shortener *nm, const struct graph_frame *f,
		 enum text_style style, size_t used_cols, const char *note);

/*
 * stack_short - the callers of a row's place: the nearest few, then the outermost.  Allocation
 * wrappers and the code that starts programs and threads are left out, a function
 * that calls itself is shown once.  A percentage says how much of the row came this way,
 * where that is not what the line above says.
 */
enum neap_err stack_short(struct text *t, struct shortener *nm, const struct graph *g,
			  const struct row *row, enum row_key key, size_t indent_cols,
			  struct err *e);

/* stack_full - every frame from the call of the allocator outwards, nothing shortened;
 * "(wrapper)" behind those that the leaf is looked for behind. */
void stack_full(struct text *t, struct shortener *nm, const struct graph *g, node_id node);

#endif
