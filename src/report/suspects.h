/*
 * Leak suspects: places in the code that kept growing, told from memory that is merely kept.
 *
 * What is live late in the run is looked at by when it was born, in ten parts of the run:
 *
 *   a leak                  |#########|   some blocks of every part are still there
 *   tables made at start    |#        |   only of the first
 *   a cache that replaces   |       ##|   only of the last; or of many, but no more than before
 *
 * Queries give the evidence: `live at INSTANT | by func,line,born` and
 * `growth in HALF..INSTANT | by func,line,api`.
 *
 * A place is a suspect if blocks from at least eight of the ten parts are live, their mean birth
 * lies in the middle half of the run, and at least a fifth of its live bytes was added in the
 * second half.  All three are told, so that a reader can judge.
 */
#ifndef NEAP_REPORT_SUSPECTS_H
#define NEAP_REPORT_SUSPECTS_H

#include <stdint.h>

#include "src/base/err.h"
#include "src/report/paths.h"
#include "src/report/report.h"

#define SUSPECT_PARTS           10u
#define SUSPECT_PARTS_LEAST     8u
#define SUSPECT_SNAPSHOTS_LEAST 20u /* fewer cannot show parts of the run */

enum holding {
	HOLDING_GROWING,    /* a suspect */
	HOLDING_FROM_EARLY, /* born early in the run and kept */
	HOLDING_RECENT,     /* born late: replaced all the time, or begun late */
	HOLDING_LEVEL,      /* born all over the run, but no more live than at half time */
	HOLDING_COUNT
};

struct suspect {
	struct row row;
	enum holding holding;
	unsigned part_count; /* parts of the run from which something is live */
	double mean_birth;   /* of live bytes: 0 start .. 1 the instant looked at */
	int64_t later_bytes; /* live then minus live at half time */
};

/* Owned by the caller; zero-initialised is empty. */
struct suspects {
	struct suspect *items; /* [count]: the suspects first, each kind by bytes */
	size_t count, suspect_count;
	size_t kind_count[HOLDING_COUNT];
	struct graph_sum kind_sum[HOLDING_COUNT], total;
	snap_id snap; /* the instant looked at: before the program cleaned up at its end */
	snap_id half_snap;
	char births_query[128], growth_query[128]; /* as they were run */
};
void suspects_release(struct suspects *s);

/*
 * suspects_find - judge every place that holds memory late in the run.
 *   top_count  suspects that need a call path
 * Cost:  three queries, and finding the call paths.
 * Fails: ERR_UNSUPPORTED if there are too few snapshots, ERR_NOMEM.
 */
enum neap_err suspects_find(struct query_session *session, struct path_finder *f, size_t top_count,
			    struct suspects *out, struct err *e);

/*
 * suspects_time - an instant as queries take it, that means the snapshot and no earlier one:
 * "1203ms".  dst holds 32 bytes.
 */
const char *suspects_time(const struct graph *g, snap_id snap, char *dst);

/* suspects_write - append the report on leak suspects to out. */
enum neap_err suspects_write(struct query_session *session, const struct report_options *options,
			     struct buf *out, struct err *e);

#endif
