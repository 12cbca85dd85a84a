/*
 * Groups of entries, with sums that count a block once under recursion.
 *
 * A block is on the stack of a group if any frame of its path is in the group.  To
 * count it once, only the outermost node of each group on each path counts:
 *
 *     main        main
 *     `- parse    parse *          total(parse) = total of the node marked *
 *        `- parse (nested, its total is part of it)
 *
 * Which nodes are outermost does not depend on the population, so it is found once,
 * in one preorder pass with a counter per group of how often it is on the path.
 */
#include "config.h"

#include "src/graph/graph_priv.h"

#include <string.h>

struct pair {
	node_id node;
	uint32_t group;
};

struct graph_groups {
	struct graph *g;
	uint32_t *group_of;    /* by entry */
	entry_id *first_entry; /* by group */
	size_t group_count;
	struct pair *pairs; /* outermost node and its group */
	size_t pair_count, pair_cap;
	bool has_pairs;
	uint32_t root_group; /* of blocks without any stack */
};

/* ---- which group ------------------------------------------------------------------ */

struct group_id {
	uint64_t pc;
	uint32_t kind, func, file, line, module;
	uint32_t pad; /* zero: compared as bytes */
};

static struct group_id group_id_of(const struct graph *g, enum graph_by by, entry_id entry)
{
	struct graph_frame f = graph_entry(g, entry);
	struct group_id id = {.kind = 0};
	if (by == GROUP_BY_FILE) {
		id.file = f.file;
		return id;
	}
	if (by == GROUP_BY_MODULE) {
		id.module = f.module;
		return id;
	}
	id.kind = f.kind;
	id.func = f.func;
	if (f.kind == FRAME_ADDRESS) {
		id.module = f.module;
		id.pc = f.pc;
	}
	if (by == GROUP_BY_LINE && f.kind == FRAME_NAMED) {
		id.module = f.module;
		id.file = f.line ? f.file : 0;
		id.line = f.line;
	}
	return id;
}

static bool name_groups(struct graph_groups *gr, enum graph_by by, struct strtab *ids)
{
	size_t count = gr->g->entry_count;
	for (entry_id entry = 0; entry < count; entry++) {
		struct group_id id = group_id_of(gr->g, by, entry);
		uint32_t group = strtab_add(ids, (const char *)&id, sizeof id);
		if (group == UINT32_MAX)
			return false;
		gr->group_of[entry] = group;
		if (group == gr->group_count)
			gr->first_entry[gr->group_count++] = entry;
	}
	return true;
}

/* ---- outermost nodes --------------------------------------------------------------- */

struct on_path {
	uint32_t *times; /* by group: entries on the current path */
	node_id *nodes;  /* by depth */
	size_t depth;    /* nodes on the path */
};

static void leave_node(const struct graph_groups *gr, struct on_path *path)
{
	const struct graph *g = gr->g;
	node_id n = path->nodes[--path->depth];
	uint32_t frame = graph_frame_index(g, n);
	/* The ordinary root is on every path but is no frame of any. */
	if (n == PROFILE_NODE_ROOT)
		return;
	for (entry_id i = g->first_entry[frame]; i < g->first_entry[frame + 1]; i++)
		path->times[gr->group_of[i]]--;
}

static bool enter_path(struct graph_groups *gr, struct on_path *path, node_id n)
{
	const struct graph *g = gr->g;
	uint32_t frame = graph_frame_index(g, n);
	entry_id first = g->first_entry[frame], end = g->first_entry[frame + 1];
	path->nodes[path->depth++] = n;
	if (n == PROFILE_NODE_ROOT)
		return true;
	if (!vec_reserve((void **)&gr->pairs, &gr->pair_cap, gr->pair_count + (end - first),
			 sizeof *gr->pairs))
		return false;
	for (entry_id i = first; i < end; i++) {
		uint32_t group = gr->group_of[i];
		if (path->times[group]++ == 0)
			gr->pairs[gr->pair_count++] = (struct pair){.node = n, .group = group};
	}
	return true;
}

static bool find_outermost(struct graph_groups *gr, struct on_path *path)
{
	const struct graph *g = gr->g;
	for (size_t i = 0; i < g->preorder_count; i++) {
		node_id n = g->preorder[i];
		while (path->depth > g->depth[n])
			leave_node(gr, path);
		if (!enter_path(gr, path, n))
			return false;
	}
	return true;
}

static bool build_groups(struct graph_groups *gr, enum graph_by by)
{
	const struct graph *g = gr->g;
	struct strtab ids = {0};
	gr->group_of = mem_array(g->entry_count, sizeof *gr->group_of);
	gr->first_entry = mem_array(g->entry_count, sizeof *gr->first_entry);
	bool is_done = gr->group_of && gr->first_entry && name_groups(gr, by, &ids);
	strtab_release(&ids);
	if (is_done)
		gr->root_group = gr->group_of[graph_leaf_entry(g, PROFILE_NODE_ROOT)];
	return is_done;
}

enum neap_err graph_group(struct graph *g, enum graph_by by, struct graph_groups **out,
			  struct err *e)
{
	*out = NULL;
	struct graph_groups *gr = mem_zalloc(sizeof *gr);
	if (!gr)
		return err_nomem(e, "the groups");
	gr->g = g;
	if (!build_groups(gr, by)) {
		graph_groups_free(gr);
		return err_nomem(e, "the groups");
	}
	*out = gr;
	return NEAP_OK;
}

enum neap_err graph_group_need_totals(struct graph_groups *gr, struct err *e)
{
	if (gr->has_pairs)
		return NEAP_OK;
	enum neap_err code = graph_need_tree(gr->g, e);
	if (code)
		return code;
	struct on_path path = {
		.times = mem_zarray(gr->group_count, sizeof *path.times),
		.nodes = mem_array((size_t)gr->g->depth_max + 1, sizeof *path.nodes),
	};
	gr->pair_count = 0;
	gr->has_pairs = path.times && path.nodes && find_outermost(gr, &path);
	mem_free(path.times);
	mem_free(path.nodes);
	return gr->has_pairs ? NEAP_OK : err_nomem(e, "the totals of groups");
}

void graph_groups_free(struct graph_groups *gr)
{
	if (!gr)
		return;
	mem_free(gr->group_of);
	mem_free(gr->first_entry);
	mem_free(gr->pairs);
	mem_free(gr);
}

/* ---- sums ---------------------------------------------------------------------------- */

size_t graph_group_count(const struct graph_groups *gr)
{
	return gr->group_count;
}

uint32_t graph_group_of(const struct graph_groups *gr, entry_id entry)
{
	return gr->group_of[entry];
}

entry_id graph_group_entry(const struct graph_groups *gr, uint32_t group)
{
	return gr->first_entry[group];
}

static void add_to(struct graph_sum *to, const struct graph_sum *value)
{
	to->blocks += value->blocks;
	to->bytes += value->bytes;
}

void graph_group_self(const struct graph_groups *gr, const struct graph_sum *leaves,
		      struct graph_sum *out)
{
	memset(out, 0, gr->group_count * sizeof *out);
	for (node_id n = 0; n < gr->g->p->node_count; n++) {
		if (leaves[n].blocks || leaves[n].bytes)
			add_to(&out[gr->group_of[graph_leaf_entry(gr->g, n)]], &leaves[n]);
	}
}

void graph_group_total(const struct graph_groups *gr, const struct graph_sum *self,
		       const struct graph_sum *total, struct graph_sum *out)
{
	memset(out, 0, gr->group_count * sizeof *out);
	for (size_t i = 0; i < gr->pair_count; i++)
		add_to(&out[gr->pairs[i].group], &total[gr->pairs[i].node]);
	add_to(&out[gr->root_group], &self[PROFILE_NODE_ROOT]);
}
