/*
 * The nodes of a loaded profile in preorder: what is below a node comes right after it.
 *
 *   file      node 4 main            loaded   4 main
 *             node 5 f  (below 4)             5 f
 *             node 6 g  (below 4)             6 h
 *             node 7 h  (below 5)             7 g
 *
 * A file has nodes in the order in which a program came to them.  In preorder a walk through all
 * stacks reads the columns from one end to the other, and hardly any parent has to be stored.
 * The fixed nodes stay; what is below one of them comes after what is below the one before.
 */
#include "config.h"

#include "src/profile/reader_priv.h"

/* Sizes flow up, from the last node to the first: how many nodes are at and below each; below a fixed one. */
static void find_sizes(const struct profile *p, uint32_t *sizes)
{
	for (node_id n = (node_id)p->node_count; n-- > PROFILE_NODE_FIRST;)
		sizes[profile_node_parent(p, n)] += ++sizes[n];
}

/* next: sizes at first; where the next child goes of nodes that have their place. */
static void find_places(const struct profile *p, uint32_t *next, node_id *place)
{
	node_id first = PROFILE_NODE_FIRST;
	for (node_id n = 0; n < PROFILE_NODE_FIRST; n++) {
		uint32_t below_count = next[n];
		place[n] = n;
		next[n] = first;
		first += below_count;
	}
	for (node_id n = PROFILE_NODE_FIRST; n < p->node_count; n++) {
		node_id parent = profile_node_parent(p, n);
		place[n] = next[parent];
		next[parent] += next[n];
		next[n] = place[n] + 1;
	}
}

static bool move_sites(struct profile *p, const node_id *place)
{
	bool is_good = narrow_widen(&p->site_nodes, p->node_count - 1);
	for (size_t i = 0; is_good && i < p->site_count; i++)
		is_good = narrow_set(&p->site_nodes, i, place[profile_site_node(p, i)]);
	return is_good;
}

bool preorder_apply(struct profile *p)
{
	uint32_t *next = mem_zarray(p->node_count, sizeof *next);
	node_id *place = mem_array(p->node_count, sizeof *place);
	bool is_good = next && place;
	if (is_good) {
		find_sizes(p, next);
		find_places(p, next, place);
	}
	mem_free(next); /* before more is made room for */
	is_good = is_good && parents_reorder(&p->node_parents, place) &&
		  narrow_reorder(&p->node_frames, place) && narrow_reorder(&p->node_flags, place) &&
		  move_sites(p, place);
	mem_free(place);
	return is_good;
}
