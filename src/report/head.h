/* The top of the report: what ran, what is known about it, the totals. */
#ifndef NEAP_REPORT_HEAD_H
#define NEAP_REPORT_HEAD_H

#include "src/graph/graph.h"
#include "src/report/answer.h"
#include "src/report/missing.h"
#include "src/report/name.h"
#include "src/report/text.h"

/* Totals of the run. */
struct head_totals {
	struct graph_sum peak, leaked, allocated, temporary;
	struct graph_sum inherited; /* live at the start: the process is a fork */
	struct graph_sum mapped;    /* of the peak, by mmap */
	bool has_mappings;          /* some were recorded, at the peak or not */
};

/* head_knows - does the profile know all of these (enum profile_fact)?  Imported ones may not. */
bool head_knows(const struct graph *g, uint64_t facts);
/* head_run - file, command, process, time, how it ended. */
void head_run(struct text *t, struct shortener *nm, const struct graph *g);
/* head_warnings - what the recording missed and what is wrong with the file; may write nothing. */
void head_warnings(struct text *t, struct shortener *nm, const struct graph *g);
/* head_warnings_with - the same if missing_find was asked before. */
void head_warnings_with(struct text *t, struct shortener *nm, const struct graph *g,
			const struct missing *m);
/* head_figures - the totals; holders is the answer to HEAD_HOLDERS_QUERY, or empty if the peak is unknown. */
#define HEAD_HOLDERS_QUERY "peak | by func | top 3 by self"
void head_figures(struct text *t, struct shortener *nm, const struct graph *g,
		  const struct head_totals *totals, const struct answer *holders);

#endif
