/* The call tree: blocks of frames, nodes and sites into columns.  Every id is checked here. */
#include "config.h"

#include "src/profile/reader_priv.h"

#include <string.h>

/* First id and count of a table's block; the first has to follow what is there, and there is one. */
static bool table_start(struct reader *r, uint64_t expected_first, size_t min_bytes,
			size_t *count_out)
{
	uint64_t first = get_varint(r);
	*count_out = reader_count(r, min_bytes);
	return *count_out && first == expected_first && *count_out <= LIMIT_IDS - first;
}

/* Next of the sparse values: their items ascend.  False if it is not inside the count. */
static bool next_sparse(struct reader *r, size_t *idx, size_t count, uint64_t *value_out)
{
	uint64_t gap = get_varint(r);
	*value_out = get_varint(r);
	if (r->has_failed || *idx > count || gap >= count - *idx)
		return false;
	*idx += (size_t)gap;
	return true;
}

enum neap_err read_frames(struct loader *l, struct reader *r, struct err *e)
{
	struct profile *p = l->p;
	size_t count;
	if (!table_start(r, p->frame_count + 1, 2, &count))
		return broken(e, "frames out of turn");
	if (!vec_reserve((void **)&p->frames, &l->frame_cap, p->frame_count + count,
			 sizeof *p->frames))
		return err_nomem(e, "frames of the profile");
	struct profile_frame *frames = p->frames + p->frame_count;
	int64_t most = l->is_lane ? UINT32_MAX : (int64_t)p->module_count;
	for (size_t i = 0; i < count; i++) {
		int64_t module = (int64_t)((uint64_t)get_svarint(r) + l->last_module);
		if (module < 0 || module > most)
			return broken(e, "a frame in an unknown module");
		l->last_module = (mod_id)module;
		l->most_named = l->last_module > l->most_named ? l->last_module : l->most_named;
		frames[i] = (struct profile_frame){.module = l->last_module};
	}
	for (size_t i = 0; i < count; i++)
		frames[i].pc = l->last_pc += (uint64_t)get_svarint(r);
	size_t idx = 0;
	for (size_t left = reader_count(r, 2); left; left--, idx++) {
		uint64_t flags;
		if (!next_sparse(r, &idx, count, &flags))
			return broken(e, "flags of a frame that is not there");
		frames[idx].flags = (uint32_t)flags;
	}
	if (r->has_failed)
		return broken(e, "frames that are cut");
	p->frame_count += count;
	return NEAP_OK;
}

/* Room for what a block says of so many nodes, and for a follower of every frame. */
static bool nodes_reserve(struct loader *l, size_t count)
{
	size_t old_cap = l->follower_cap;
	if (!vec_reserve((void **)&l->parents, &l->parent_cap, count, sizeof *l->parents) ||
	    !vec_reserve((void **)&l->numbers, &l->number_cap, count, sizeof *l->numbers) ||
	    !vec_reserve((void **)&l->follower, &l->follower_cap, l->p->frame_count + 1,
			 sizeof *l->follower))
		return false;
	memset(l->follower + old_cap, 0, (l->follower_cap - old_cap) * sizeof *l->follower);
	return true;
}

/* Into l->parents. */
static bool read_parents(struct loader *l, struct reader *r, size_t count)
{
	size_t first = l->p->node_count;
	for (size_t i = 0; i < count; i++) {
		uint64_t back = get_varint(r);
		if (back >= first + i - 1) /* parents are 1 .. id - 1 */
			return false;
		l->parents[i] = (node_id)(first + i - 1 - back);
	}
	return !r->has_failed;
}

/* Into l->numbers. */
static bool read_node_frames(struct loader *l, struct reader *r, size_t count)
{
	const struct profile *p = l->p;
	frame_id *follower = l->follower, top = l->top_frame;
	uint64_t *frames = l->numbers;
	int64_t most = (int64_t)p->frame_count;
	node_id first = (node_id)p->node_count;
	for (size_t i = 0; i < count; i++) {
		node_id parent = l->parents[i];
		frame_id above = parent >= first ? (frame_id)frames[parent - first]
						 : profile_node_frame(p, parent);
		uint64_t code = get_varint(r);
		int64_t frame = follower[above];
		if (code) {
			uint64_t z = code - 1;
			int64_t below_top = (int64_t)((z >> 1) ^ -(z & 1));
			if (below_top > most || below_top < -most)
				return false;
			frame = (int64_t)top + 1 - below_top;
		}
		if (frame < 1 || frame > most)
			return false;
		frames[i] = follower[above] = (frame_id)frame;
		if (frames[i] > top)
			top = (frame_id)frames[i];
	}
	l->top_frame = top;
	return !r->has_failed;
}

/* Appended to the column, which the caller cuts if it fails. */
static enum neap_err read_node_flags(struct loader *l, struct reader *r, size_t count,
				     struct err *e)
{
	struct profile *p = l->p;
	size_t idx = 0;
	if (!narrow_append_zeros(&p->node_flags, count))
		return err_nomem(e, "nodes of the profile");
	for (size_t left = reader_count(r, 2); left; left--, idx++) {
		uint64_t value;
		if (!next_sparse(r, &idx, count, &value))
			return broken(e, "flags of a node that is not there");
		if (!narrow_set(&p->node_flags, p->node_count + idx, value & UINT8_MAX))
			return err_nomem(e, "nodes of the profile");
	}
	return r->has_failed ? broken(e, "nodes that are cut") : NEAP_OK;
}

enum neap_err read_nodes(struct loader *l, struct reader *r, struct err *e)
{
	struct profile *p = l->p;
	size_t count;
	if (!table_start(r, p->node_count, 2, &count))
		return broken(e, "nodes out of turn");
	if (!nodes_reserve(l, count))
		return err_nomem(e, "nodes of the profile");
	if (!read_parents(l, r, count))
		return broken(e, "a node with an unknown parent");
	if (!read_node_frames(l, r, count))
		return broken(e, "a node with an unknown frame");
	enum neap_err err = read_node_flags(l, r, count, e);
	if (err) {
		narrow_cut(&p->node_flags, p->node_count);
		return err;
	}
	if (!parents_append(&p->node_parents, l->parents, count) ||
	    !narrow_append(&p->node_frames, l->numbers, count))
		return err_nomem(e, "nodes of the profile");
	p->node_count += count;
	return NEAP_OK;
}

/* Into l->numbers. */
static bool read_site_nodes(struct loader *l, struct reader *r, size_t count)
{
	int64_t node = l->last_site_node;
	int64_t most = l->is_lane ? UINT32_MAX : (int64_t)l->p->node_count - 1;
	for (size_t i = 0; i < count; i++) {
		node = (int64_t)((uint64_t)get_svarint(r) + (uint64_t)node);
		if (node < 1 || node > most)
			return false;
		l->numbers[i] = (node_id)node;
		l->most_named = (node_id)node > l->most_named ? (node_id)node : l->most_named;
	}
	l->last_site_node = (node_id)node;
	return true;
}

/* The columns, appended; the caller cuts them if this fails. */
static enum neap_err read_site_columns(struct loader *l, struct reader *r, size_t count,
				       struct err *e)
{
	struct profile *p = l->p;
	uint64_t *numbers = l->numbers;
	if (!read_site_nodes(l, r, count))
		return broken(e, "a site with an unknown node");
	if (!narrow_append(&p->site_nodes, numbers, count))
		return err_nomem(e, "sites of the profile");
	for (size_t i = 0; i < count; i++)
		numbers[i] = get_varint(r);
	if (!narrow_append(&p->site_sizes, numbers, count))
		return err_nomem(e, "sites of the profile");
	for (size_t i = 0; i < count; i++) {
		uint64_t api = get_varint(r);
		numbers[i] = api < API_COUNT ? api : API_UNKNOWN;
	}
	if (!narrow_append(&p->site_apis, numbers, count))
		return err_nomem(e, "sites of the profile");
	return r->has_failed ? broken(e, "sites that are cut") : NEAP_OK;
}

enum neap_err read_sites(struct loader *l, struct reader *r, struct err *e)
{
	struct profile *p = l->p;
	size_t count;
	if (!table_start(r, p->site_count + 1, 3, &count))
		return broken(e, "sites out of turn");
	if (!vec_reserve((void **)&l->numbers, &l->number_cap, count, sizeof *l->numbers))
		return err_nomem(e, "sites of the profile");
	enum neap_err err = read_site_columns(l, r, count, e);
	if (!err) {
		p->site_count += count;
		return NEAP_OK;
	}
	struct narrow *columns[] = {&p->site_nodes, &p->site_sizes, &p->site_apis};
	for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
		if (columns[i]->count > p->site_count)
			narrow_cut(columns[i], p->site_count);
	}
	return err;
}
