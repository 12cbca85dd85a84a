/* The index as flat columns, for scans that would be too slow one call at a time. */
#include "config.h"

#include "src/graph/graph_priv.h"

struct graph_columns graph_columns(const struct graph *g)
{
	return (struct graph_columns){
		.entry_count = g->entry_count,
		.entry_func = g->entry_func,
		.entry_file = g->entry_file,
		.entry_line = g->entry_line,
		.func_is_wrapper = g->func_is_wrapper,
		.frame_count = g->frame_count + PSEUDO_COUNT,
		.first_entry = g->first_entry,
		.leaf_entry = g->leaf_entry,
	};
}

uint32_t graph_frame_of_node(const struct graph *g, node_id n)
{
	return graph_frame_index(g, n);
}

snap_id graph_cohort_birth(const struct graph *g, size_t cohort_idx)
{
	return graph_birth(g->p, cohort_idx);
}
