/*
 * For each row the leaf nodes that are its call paths stand in one run of an array:
 *
 *   row 0             row 1      row 2
 *   | A B C D E F G | H I | ...
 *
 * Each step asks all paths of the row for their next caller, adds up by function, and
 * moves those of the heaviest function to the front; the others are out.
 */
#include "config.h"

#include "src/report/paths.h"

#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/report/callers.h"

#include <string.h>

#define KEY_NO_CALLER UINT64_MAX
#define NO_ROW        UINT32_MAX

struct path {
	node_id leaf;
	struct graph_sum sum;
	struct caller_walk walk;
	uint64_t caller;
};

struct chooser {
	const struct row_maker *m;
	enum row_key key;
	struct row *rows;
	size_t row_count;
	uint32_t *row_of_group;
	struct path *paths; /* runs of all rows */
	size_t *first_path; /* [row_count + 1] */
	struct map callers; /* caller -> index in sums */
	struct graph_sum *sums;
	size_t sums_cap;
};

static uint32_t row_of_leaf(const struct chooser *c, node_id leaf)
{
	entry_id entry = graph_leaf_entry(c->m->g, leaf);
	return c->row_of_group[graph_group_of(c->m->places, entry)];
}

/* ---- gathering -------------------------------------------------------------------- */

static bool allocate(struct chooser *c)
{
	size_t group_count = graph_group_count(c->m->places), path_count = 0;
	c->row_of_group = mem_array(group_count, sizeof *c->row_of_group);
	c->first_path = mem_zarray(c->row_count + 1, sizeof *c->first_path);
	if (!c->row_of_group || !c->first_path)
		return false;
	for (size_t group = 0; group < group_count; group++)
		c->row_of_group[group] = NO_ROW;
	for (uint32_t i = 0; i < c->row_count; i++) {
		c->row_of_group[graph_group_of(c->m->places, c->rows[i].entry)] = i;
		c->first_path[i] = path_count;
		path_count += c->rows[i].path_count;
	}
	c->first_path[c->row_count] = path_count;
	c->paths = mem_array(path_count, sizeof *c->paths);
	return c->paths != NULL;
}

static bool gather_paths(struct chooser *c)
{
	const struct graph *g = c->m->g;
	size_t node_count = graph_profile(g)->node_count;
	size_t *cursor = mem_array(c->row_count, sizeof *cursor);
	if (!cursor)
		return false;
	memcpy(cursor, c->first_path, c->row_count * sizeof *cursor);
	for (node_id n = 0; n < node_count; n++) {
		struct graph_sum sum = c->m->leaves[n];
		if (!sum.blocks && !sum.bytes)
			continue;
		uint32_t row = row_of_leaf(c, n);
		if (row == NO_ROW)
			continue;
		struct caller leaf;
		struct path *p = &c->paths[cursor[row]++];
		*p = (struct path){.leaf = n, .sum = sum, .walk = caller_walk_init(g, n)};
		caller_walk_next(&p->walk, &leaf);
	}
	mem_free(cursor);
	return true;
}

/* ---- choosing ----------------------------------------------------------------------- */

static bool add_to_caller(struct chooser *c, const struct path *p)
{
	uint32_t at = map_find(&c->callers, p->caller);
	if (at == MAP_ABSENT) {
		at = (uint32_t)c->callers.count;
		if (!vec_reserve((void **)&c->sums, &c->sums_cap, (size_t)at + 1,
				 sizeof *c->sums) ||
		    !map_put(&c->callers, p->caller, at))
			return false;
		c->sums[at] = (struct graph_sum){0, 0};
	}
	c->sums[at].blocks += p->sum.blocks;
	c->sums[at].bytes += p->sum.bytes;
	return true;
}

/* The caller that most comes through; of equal ones the first in the file. */
static uint64_t heaviest_caller(const struct chooser *c, const struct path *paths, size_t count)
{
	uint64_t best = paths[0].caller;
	struct graph_sum best_sum = c->sums[map_find(&c->callers, best)];
	for (size_t i = 1; i < count; i++) {
		struct graph_sum sum = c->sums[map_find(&c->callers, paths[i].caller)];
		if (row_compare_sums(sum, best_sum, c->key) < 0) {
			best = paths[i].caller;
			best_sum = sum;
		}
	}
	return best;
}

/* One step: keep the paths of the heaviest next caller.  False: out of memory. */
static bool narrow(struct chooser *c, struct path *paths, size_t *count)
{
	map_clear(&c->callers);
	for (size_t i = 0; i < *count; i++) {
		struct caller next;
		bool has_next = caller_walk_next(&paths[i].walk, &next);
		paths[i].caller = has_next ? caller_key(c->m->g, next.entry) : KEY_NO_CALLER;
		if (!add_to_caller(c, &paths[i]))
			return false;
	}
	uint64_t best = heaviest_caller(c, paths, *count);
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++) {
		if (paths[i].caller == best)
			paths[kept++] = paths[i];
	}
	*count = kept;
	return true;
}

static struct graph_sum sum_of(const struct path *paths, size_t count)
{
	struct graph_sum sum = {0, 0};
	for (size_t i = 0; i < count; i++) {
		sum.blocks += paths[i].sum.blocks;
		sum.bytes += paths[i].sum.bytes;
	}
	return sum;
}

static bool choose(struct chooser *c, size_t row_idx)
{
	struct row *row = &c->rows[row_idx];
	struct path *paths = &c->paths[c->first_path[row_idx]];
	size_t count = row->path_count;
	for (unsigned step = 0; step < CALLERS_NEAREST; step++) {
		if (count > 1 && !narrow(c, paths, &count))
			return false;
		row->through[step] = sum_of(paths, count);
	}
	const struct path *best = &paths[0];
	for (size_t i = 1; i < count; i++) {
		if (row_compare_sums(paths[i].sum, best->sum, c->key) < 0)
			best = &paths[i];
	}
	row->path = best->leaf;
	return true;
}

/* A leaf may have reached the allocator through several wrappers: show the busiest way. */
static void find_inner(const struct chooser *c)
{
	const struct graph *g = c->m->g;
	size_t node_count = graph_profile(g)->node_count;
	for (node_id n = 0; n < node_count; n++) {
		struct graph_sum sum = c->m->self[n];
		if (!sum.blocks && !sum.bytes)
			continue;
		node_id leaf = graph_leaf_node(g, n);
		uint32_t at = row_of_leaf(c, leaf);
		if (at == NO_ROW || c->rows[at].path != leaf)
			continue;
		struct row *row = &c->rows[at];
		if (!row->inner || row_compare_sums(sum, c->m->self[row->inner], c->key) < 0)
			row->inner = n;
	}
}

enum neap_err paths_choose(const struct row_maker *m, enum row_key key, struct row *rows,
			   size_t count, struct err *e)
{
	struct chooser c = {.m = m, .key = key, .rows = rows, .row_count = count};
	bool is_done = allocate(&c) && gather_paths(&c);
	for (size_t i = 0; is_done && i < count; i++)
		is_done = choose(&c, i);
	if (is_done)
		find_inner(&c);
	mem_free(c.row_of_group);
	mem_free(c.first_path);
	mem_free(c.paths);
	mem_free(c.sums);
	map_release(&c.callers);
	return is_done ? NEAP_OK : err_nomem(e, "the call paths");
}
