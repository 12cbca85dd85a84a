/* Modules whose code has no names, and how much memory that matters for. */
#ifndef NEAP_REPORT_MISSING_H
#define NEAP_REPORT_MISSING_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/graph/graph.h"

struct missing_module {
	mod_id module;
	size_t frame_count; /* addresses without a name */
	/* of blocks whose stack goes through one of them */
	struct graph_sum peak, allocated;
};

struct missing {
	struct missing_module *items; /* most bytes at the peak first */
	size_t count;
	struct graph_sum peak, allocated; /* of all blocks */
};

/*
 * missing_find - modules with addresses that have no name.
 *
 * The first three frames of a stack are left out where they are the C library's: names for the
 * code that starts programs and threads tell nobody anything.
 * Cost:  one pass over the nodes for each 64 modules found.
 * Fails: ERR_NOMEM.
 */
enum neap_err missing_find(const struct graph *g, struct missing *out, struct err *e);
void missing_release(struct missing *m);

/*
 * missing_is_grave - is it worth a warning in a report: does a hundredth of the peak or of what
 * was allocated go through it?
 */
bool missing_is_grave(const struct missing *m, size_t i);
/* missing_write - all of them as text, and what to do. */
void missing_write(const struct missing *m, const struct profile *p, bool is_utf8, struct buf *out);

#endif
