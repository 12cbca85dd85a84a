/* Inside of struct graph, for src/graph only. */
#ifndef NEAP_GRAPH_GRAPH_PRIV_H
#define NEAP_GRAPH_GRAPH_PRIV_H

#include "src/base/limits.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/graph/graph.h"

/*
 * Frames are indexed by frame_id; after the last real one come the pseudo frames
 * of the fixed roots, so that every node has a run of entries:
 *   entries of frame index i are first_entry[i] .. first_entry[i + 1] - 1
 */
enum pseudo_frame {
	PSEUDO_NO_STACK, /* of PROFILE_NODE_ROOT and of nodes without a frame */
	PSEUDO_SIGNAL,
	PSEUDO_TRUNCATED,
	PSEUDO_COUNT,
};

struct graph {
	const struct profile *p;

	/* entries: innermost inlined function first, the function that holds the code last */
	size_t frame_count; /* frame ids 0 .. frame_count - 1, pseudo frames after them */
	uint32_t *first_entry;
	uint32_t *entry_frame, *entry_line;
	func_id *entry_func;
	file_id *entry_file;
	entry_id *leaf_entry; /* by frame index: first that may be a leaf; ENTRY_NONE if none */
	size_t entry_count;

	/* first id with the same string, so that equal ids mean equal names; [count + 1] */
	func_id *func_canon;
	file_id *file_canon;
	mod_id *module_canon;
	uint8_t *func_is_wrapper;

	/* D(S), by cohort index; bytes only where the site has many sizes, as in p->cohort_mixed */
	struct narrow cohort_died;
	uint64_t *mixed_died_bytes;

	snap_id peak_snap; /* without an exact peak */
	int64_t peak_bytes;
};

/* graph_frame_index - of a node, pseudo frames included. */
static inline uint32_t graph_frame_index(const struct graph *g, node_id n)
{
	if (n < PROFILE_NODE_FIRST)
		return (uint32_t)g->frame_count + (n == PROFILE_NODE_SIGNAL      ? PSEUDO_SIGNAL
						   : n == PROFILE_NODE_TRUNCATED ? PSEUDO_TRUNCATED
										 : PSEUDO_NO_STACK);
	frame_id f = profile_node_frame(g->p, n);
	return f ? f : (uint32_t)g->frame_count + PSEUDO_NO_STACK;
}

static inline snap_id graph_birth(const struct profile *p, size_t cohort_idx)
{
	return profile_cohort_flags(p, cohort_idx) & COHORT_INHERITED
		       ? 0
		       : profile_cohort_birth(p, cohort_idx);
}

/* build_entries - the entry columns and leaf_entry.  build.c calls it first. */
enum neap_err graph_build_entries(struct graph *g, const struct graph_options *options,
				  struct err *e);

#endif
