/*
 * The call tree: insert-only, shared by all threads, free of locks.
 *
 * A node's children are a digital search tree over a hash of their keys (see
 * format.h): reading follows links, inserting swaps one empty link.  Ids come
 * from a small stock of the thread, so that nodes made together lie together.
 *
 * Sites are nodes too: the children of a path whose key is a size.
 */
#include "config.h"

#include "collector/nc.h"

#define NODE_STOCK 16u

/*
 * Sizes of one path are told apart up to this depth of the search tree (thousands of
 * sizes); deeper ones, if they are at least this large, share the mixed site.
 */
#define MIXED_DEPTH     14u
#define MIXED_MIN_BYTES 4096u

static uint32_t node_new(struct nc_ctx *t)
{
	if (NC_LIKELY(t->node_next < t->node_end))
		return t->node_next++;
	uint32_t first = nc_region_take(NC_SEC_NODES, NODE_STOCK);
	if (!first)
		return NC_NONE;
	t->node_next = first + 1;
	t->node_end = first + NODE_STOCK;
	return first;
}

/* Put a new node into the empty link; if another thread filled it first, return its node. */
static uint32_t link_node(struct nc_ctx *t, uint32_t *link, uint32_t parent, uint64_t key)
{
	uint32_t id = node_new(t);
	if (!id)
		return NC_NONE;
	struct nc_node *n = nc_node(id);
	n->key = key;
	n->parent = parent;
	uint32_t expected = NC_NONE;
	if (__atomic_compare_exchange_n(link, &expected, id, false, __ATOMIC_RELEASE,
					__ATOMIC_ACQUIRE))
		return id;
	t->node_next--; /* it was the last one handed out: use it next time */
	return expected;
}

struct found {
	uint32_t id; /* NC_NONE: not there, and `link` is where it belongs */
	uint32_t *link;
	uint64_t hash; /* bits not used yet */
	uint32_t depth;
};

NC_INLINE struct found search(uint32_t *link, uint64_t hash, uint64_t key)
{
	uint32_t depth = 0;
	for (;; depth++) {
		uint32_t id = __atomic_load_n(link, __ATOMIC_ACQUIRE);
		if (!id)
			return (struct found){NC_NONE, link, hash, depth};
		struct nc_node *n = nc_node(id);
		if (NC_LIKELY(n->key == key))
			return (struct found){id, link, hash, depth};
		link = &n->next[hash >> 63];
		hash <<= 1;
	}
}

/* Insert where the search ended; another thread may have inserted something else there. */
static uint32_t insert(struct nc_ctx *t, struct found f, uint32_t parent, uint64_t key)
{
	for (;;) {
		uint32_t id = link_node(t, f.link, parent, key);
		if (!id || nc_node(id)->key == key)
			return id;
		f = search(f.link, f.hash, key);
		if (f.id)
			return f.id;
	}
}

uint32_t nc_child(struct nc_ctx *t, uint32_t parent, uint64_t key)
{
	struct found f = search(&nc_node(parent)->kid, nc_key_hash(key), key);
	return NC_LIKELY(f.id) ? f.id : insert(t, f, parent, key);
}

uint32_t nc_site(struct nc_ctx *t, uint32_t path, enum nc_api api, uint64_t size_bytes)
{
	uint64_t key = nc_site_key(api, size_bytes);
	struct found f = search(&nc_node(path)->kid, nc_key_hash(key), key);
	if (NC_LIKELY(f.id))
		return f.id;
	if (f.depth >= MIXED_DEPTH && size_bytes >= MIXED_MIN_BYTES)
		return nc_child(t, path, nc_site_key(api, NC_SIZE_MIXED));
	return insert(t, f, path, key);
}
