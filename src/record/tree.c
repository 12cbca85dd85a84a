/*
 * The call tree on its way from the region to the file.
 *
 * A path is written when the first site below it is met: from the site upward to
 * the first node that the file knows, then down again.  The region belongs to a
 * program that may write anywhere, so every index is checked and the walk is
 * bounded: a path that makes no sense hangs on the truncated root.
 */
#include "config.h"

#include "src/record/record_priv.h"

#define MAX_DEPTH (NC_MAX_FRAMES + 64u)

_Static_assert(PROFILE_NODE_ROOT == NC_NODE_ROOT, "fixed nodes have the same ids");
_Static_assert(PROFILE_NODE_SIGNAL == NC_NODE_SIGNAL, "fixed nodes have the same ids");
_Static_assert(PROFILE_NODE_TRUNCATED == NC_NODE_TRUNCATED, "fixed nodes have the same ids");
_Static_assert((int)API_COUNT == (int)NC_API_COUNT, "same kinds of calls");

void tree_init(struct tree *t)
{
	*t = (struct tree){.ids = {.elem_bytes = sizeof(uint32_t)}};
}

void tree_release(struct tree *t)
{
	chunks_release(&t->ids);
	map_release(&t->frame_ids);
	mem_free(t->frames);
	mem_free(t->path);
	tree_init(t);
}

static bool is_fixed(uint32_t node)
{
	return node >= NC_NODE_ROOT && node <= NC_NODE_TRUNCATED;
}

/* File node of a region node that was written already; 0 if it was not. */
static uint32_t known_node(const struct tree *t, uint32_t node)
{
	if (is_fixed(node))
		return node;
	const uint32_t *id = chunks_find(&t->ids, node);
	return id ? *id : 0;
}

static frame_id add_frame(struct process *p, uint64_t key)
{
	struct tree *t = &p->tree;
	mod_id module = modules_find(p, key >> NC_KEY_MODULE_SHIFT & NC_KEY_MODULE_MASK);
	struct profile_frame f = {
		.module = module,
		.flags = key & NC_KEY_GUESSED ? FRAME_GUESSED : 0,
		.pc = key & NC_KEY_PC_MASK,
	};
	if (module)
		f.pc -= p->modules.items[module - 1].bias;
	if (!vec_reserve((void **)&t->frames, &t->frame_cap, t->frame_count + 1,
			 sizeof t->frames[0]))
		return 0;
	frame_id id = profile_add_frame(p->writer, &f);
	if (!id || !map_put(&t->frame_ids, key, id))
		return 0;
	t->frames[t->frame_count++] = f;
	return id;
}

static bool is_exit_code(const struct process *p, uint64_t key)
{
	const struct nc_header *h = p->region.header;
	uint64_t va = (key & NC_KEY_PC_MASK) - 1;
	return va >= h->exit_start_va && va < h->exit_end_va;
}

/* Write one node below a known parent (file id and flag); 0 if that failed. */
static uint32_t add_node(struct process *p, uint32_t node, uint32_t parent)
{
	uint64_t key = p->region.nodes[node].key & ~NC_KEY_SITE;
	frame_id frame = map_find(&p->tree.frame_ids, key);
	if (frame == MAP_ABSENT)
		frame = add_frame(p, key);
	uint32_t *slot = chunks_at(&p->tree.ids, node);
	if (!frame || !slot)
		return 0;
	uint32_t exiting = parent & TREE_EXITING;
	if (!exiting && is_exit_code(p, key))
		exiting = TREE_EXITING;
	node_id id = profile_add_node(p->writer, parent & ~TREE_EXITING, frame,
				      exiting ? NODE_EXITING : 0);
	if (!id)
		return 0;
	*slot = id | exiting;
	return *slot;
}

/* File node (with its flag) of a region node, added with its parents as far as needed. */
static uint32_t path_node(struct process *p, uint32_t node)
{
	struct tree *t = &p->tree;
	uint32_t max = p->region.max_count[NC_SEC_NODES];
	size_t depth = 0;
	uint32_t known;
	while (!(known = known_node(t, node))) {
		if (node < NC_NODE_FIRST_FREE || node >= max || depth == MAX_DEPTH) {
			known = PROFILE_NODE_TRUNCATED;
			break;
		}
		if (!vec_reserve((void **)&t->path, &t->path_cap, depth + 1, sizeof t->path[0]))
			return 0;
		t->path[depth++] = node;
		node = p->region.nodes[node].parent;
	}
	while (depth && known)
		known = add_node(p, t->path[--depth], known);
	return known;
}

site_id tree_site(struct process *p, uint32_t node)
{
	uint32_t known = known_node(&p->tree, node);
	if (known)
		return is_fixed(node) ? 0 : known & ~TREE_EXITING;
	if (node < NC_NODE_FIRST_FREE || node >= p->region.max_count[NC_SEC_NODES])
		return 0;
	const struct nc_node *n = &p->region.nodes[node];
	uint64_t key = n->key;
	uint64_t api = key >> NC_KEY_API_SHIFT & NC_KEY_API_MASK;
	if (!(key & NC_KEY_SITE))
		return 0;
	uint32_t path = path_node(p, n->parent);
	uint32_t *slot = chunks_at(&p->tree.ids, node);
	if (!path || !slot) {
		p->is_starved = true;
		return 0;
	}
	uint64_t size_bytes = key & NC_KEY_SIZE_MASK;
	struct profile_site site = {
		.node = path & ~TREE_EXITING,
		.size_bytes = size_bytes == NC_SIZE_MIXED ? PROFILE_SIZE_MIXED : size_bytes,
		.api = api < API_COUNT ? (enum profile_api)api : API_UNKNOWN,
	};
	*slot = profile_add_site(p->writer, &site);
	return *slot;
}
