/*
 * A child of fork gets a region of its own on its first event.
 *
 * Its private memory - live map, module table, rules - is a copy of the parent's,
 * with the parent's numbers in it.  So the call tree and the module records are
 * copied under the same numbers, and the live map is walked once: every block that
 * was live at the fork is counted in an inherited cohort of its site, one per site.
 *
 * The live map itself stays as it is, with the parent's cohorts, since to write it would copy all
 * of it: this process's cohorts have higher numbers than any of them, and a table leads from
 * theirs to its own.
 *
 * The parent's region is only read, while the parent goes on changing it: nodes are
 * insert-only, and links to nodes made after the copy began are cut.
 *
 * A cohort that the parent recycled since the fork tells so by its birth interval;
 * its blocks go to a site without a path.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <string.h>

/* Numbers that a child may pass over to keep its parent's; in debug builds no grandchild may. */
#ifdef NEAP_DEBUG_BUILD
#define KEPT_COHORTS_MAX(parent) ((parent)->inherited_end ? 0 : nc_region_max(NC_SEC_COHORTS) / 2)
#else
#define KEPT_COHORTS_MAX(parent) (nc_region_max(NC_SEC_COHORTS) / 2)
#endif

#define NODES_PER_CHUNK (1u << NC_NODES_CHUNK_LG)

static struct nc_node *parent_node(const struct nc_global *parent, uint32_t id)
{
	return &parent->nodes[id >> NC_NODES_CHUNK_LG][id & (NODES_PER_CHUNK - 1)];
}

static uint32_t link_below(uint32_t id, uint32_t count)
{
	return id < count ? id : NC_NONE;
}

static bool copy_nodes(const struct nc_global *parent)
{
	uint32_t count =
		__atomic_load_n(&parent->header->used_count[NC_SEC_NODES], __ATOMIC_ACQUIRE);
	for (uint32_t id = 1; id < count; id++) {
		if (!nc_region_has(parent, NC_SEC_NODES, id)) {
			count = id; /* handed out, but never mapped before the fork */
			break;
		}
		if (!nc_region_map(NC_SEC_NODES, id))
			return false;
		const struct nc_node *from = parent_node(parent, id);
		struct nc_node *to = nc_node(id);
		*to = *from;
		to->kid = from->key & NC_KEY_SITE ? NC_NONE : link_below(from->kid, count);
		to->next[0] = link_below(from->next[0], count);
		to->next[1] = link_below(from->next[1], count);
	}
	if (count > NC_NODE_FIRST_FREE)
		nc.header->used_count[NC_SEC_NODES] = count;
	return true;
}

/* Links to ids past the end of what could be copied; only if the copy ended early. */
static void cut_links(void)
{
	uint32_t count = nc.header->used_count[NC_SEC_NODES];
	for (uint32_t id = 1; id < count; id++) {
		struct nc_node *n = nc_node(id);
		n->kid = link_below(n->kid, count);
		n->next[0] = link_below(n->next[0], count);
		n->next[1] = link_below(n->next[1], count);
	}
}

static bool copy_modules(const struct nc_global *parent)
{
	/* Not the ones the parent has met since: their numbers are free here. */
	uint32_t count = nc_modules_count();
	for (uint32_t id = 1; id < count && nc_region_has(parent, NC_SEC_MODULES, id); id++) {
		if (!nc_region_map(NC_SEC_MODULES, id))
			return false;
		uint32_t at = id & ((1u << NC_MODULES_CHUNK_LG) - 1);
		memcpy(nc_module(id), &parent->modules[id >> NC_MODULES_CHUNK_LG][at],
		       sizeof(struct nc_module));
		nc_module(id)->first_interval = 1;
		nc.header->used_count[NC_SEC_MODULES] = id + 1;
	}
	return true;
}

struct inherit {
	const struct nc_global *parent;
	struct nc_ctx *t;
	uint32_t *cohort_of_site; /* indexed by node */
	uint32_t node_count;
	uint32_t unknown_site, unknown_mapping;
	uint64_t skip_va; /* slots below hold the size of a mixed block */
	uint64_t live_bytes;
	uint32_t *own; /* [own_count], by the parent's cohort; 0: not met yet */
	uint32_t own_count;
	uint32_t *met; /* [own_count]: blocks of it that are not counted yet; 0: not met yet */
	bool is_renumbering; /* numbers run out: the live map is written after all */
};

static uint32_t inherited_cohort(struct inherit *in, uint32_t site, bool is_mixed)
{
	if (in->cohort_of_site[site])
		return in->cohort_of_site[site];
	struct nc_ctx *t = in->t;
	uint32_t slots = is_mixed ? 2 : 1;
	if (t->cohort_end - t->cohort_next < slots) {
		t->cohort_next = nc_region_take(NC_SEC_COHORTS, NC_COHORT_CHUNK);
		t->cohort_end = t->cohort_next ? t->cohort_next + NC_COHORT_CHUNK : 0;
		if (!t->cohort_next)
			return NC_NONE;
	}
	uint32_t id = t->cohort_next;
	t->cohort_next += slots;
	struct nc_cohort *c = nc_cohort(id);
	uint64_t size_bytes = nc_node(site)->key & NC_KEY_SIZE_MASK;
	c->site = site;
	c->size_or_max = is_mixed || size_bytes >= UINT32_MAX ? UINT32_MAX : (uint32_t)size_bytes;
	if (is_mixed)
		((struct nc_cohort_bytes *)(c + 1))->is_bytes = UINT32_MAX;
	c->birth = NC_BIRTH_INHERITED;
	in->cohort_of_site[site] = id;
	return id;
}

/* The site of a cohort of the live map, as the parent left it, at the fork. */
static uint32_t site_at_fork(const struct inherit *in, uint32_t cohort)
{
	if (cohort < in->parent->inherited_end)
		cohort = in->parent->inherited[cohort];
	if (!cohort || cohort >= in->own_count)
		return in
			->unknown_site; /* there was no room for it; or nonsense, from the program */
	if (!nc_region_has(in->parent, NC_SEC_COHORTS, cohort))
		return in->unknown_site;
	const struct nc_cohort *c =
		&in->parent->cohorts[cohort >> NC_COHORTS_CHUNK_LG]
				    [cohort & ((1u << NC_COHORTS_CHUNK_LG) - 1)];
	uint32_t site = c->site;
	bool is_inherited = c->birth == NC_BIRTH_INHERITED;
	if ((!is_inherited && c->birth > in->parent->last_interval) || site >= in->node_count)
		return in->unknown_site;
	return site;
}

static uint64_t mixed_size(uint64_t block_va)
{
	const uint32_t *low = nc_slot_find((const void *)(block_va + 16));
	const uint32_t *high = nc_slot_find((const void *)(block_va + 32));
	return (low ? *low : 0) | (uint64_t)(high ? *high : 0) << 32;
}

/* Blocks that were live at the fork; id: their own cohort, 0 if there is no room for one. */
static void inherit_bytes(struct inherit *in, uint32_t id, uint32_t count, uint64_t size_bytes)
{
	if (!id) {
		__atomic_fetch_add(&nc.header->drops[NC_DROP_COHORTS], count, __ATOMIC_RELAXED);
		return;
	}
	struct nc_cohort *c = nc_cohort(id);
	c->births += count;
	if ((nc_node(c->site)->key & NC_KEY_SIZE_MASK) == NC_SIZE_MIXED)
		((struct nc_cohort_bytes *)(c + 1))->born_bytes += size_bytes;
	nc.dirty[id / NC_DIRTY_COHORTS] = 1;
	in->live_bytes += size_bytes;
}

/* The cohort of a block that was in the parent's `cohort`; 0: no room. */
static uint32_t own_cohort(struct inherit *in, uint32_t cohort)
{
	if (!in->own[cohort]) {
		uint32_t site = site_at_fork(in, cohort);
		bool is_mixed = (nc_node(site)->key & NC_KEY_SIZE_MASK) == NC_SIZE_MIXED;
		in->own[cohort] = inherited_cohort(in, site, is_mixed);
	}
	return in->own[cohort];
}

static uint64_t inherited_size(const struct inherit *in, uint32_t cohort)
{
	uint32_t id = in->own[cohort];
	uint32_t site = id ? nc_cohort(id)->site : site_at_fork(in, cohort);
	return nc_node(site)->key & NC_KEY_SIZE_MASK;
}

static void inherit_block(uint32_t *slot, uint64_t block_va, void *arg)
{
	struct inherit *in = arg;
	uint32_t cohort = *slot;
	if (block_va < in->skip_va)
		return;
	if (cohort >= in->own_count) {
		nc_drop(NC_DROP_COHORTS);
		return;
	}
	if (in->met[cohort] && in->met[cohort] < UINT32_MAX) {
		in->met[cohort]++; /* most blocks */
	} else {
		uint32_t id = own_cohort(in, cohort);
		bool is_mixed = inherited_size(in, cohort) == NC_SIZE_MIXED;
		if (is_mixed) {
			inherit_bytes(in, id, 1, mixed_size(block_va));
			in->skip_va = block_va + 48;
		}
		in->met[cohort] = is_mixed ? 0 : in->met[cohort] + 1;
	}
	if (in->is_renumbering)
		*slot = in->own[cohort];
}

/* The blocks that were met, all of one size in each cohort. */
static void count_met(struct inherit *in)
{
	for (uint32_t c = 0; c < in->own_count; c++)
		if (in->met[c])
			inherit_bytes(in, in->own[c], in->met[c],
				      in->met[c] * inherited_size(in, c));
}

/* What is left of a mapping; like a block of a mixed site. */
static void inherit_mapping(uint32_t *cohort, uint64_t bytes, void *arg)
{
	struct inherit *in = arg;
	uint32_t site = site_at_fork(in, *cohort);
	if ((nc_node(site)->key & NC_KEY_SIZE_MASK) != NC_SIZE_MIXED)
		site = in->unknown_mapping;
	*cohort = inherited_cohort(in, site, true);
	inherit_bytes(in, *cohort, 1, bytes);
}

/* Cohorts of this process begin where the parent's end, or from the start if few are left. */
static bool choose_numbers(struct inherit *in)
{
	struct nc_header *h = nc.header;
	in->own_count =
		__atomic_load_n(&in->parent->header->used_count[NC_SEC_COHORTS], __ATOMIC_ACQUIRE);
	if (in->own_count > NC_COHORTS_MAX)
		in->own_count = NC_COHORTS_MAX;
	in->own = nc_map(sizeof(uint32_t) * in->own_count);
	in->met = nc_map(sizeof(uint32_t) * in->own_count);
	in->is_renumbering = in->own_count > KEPT_COHORTS_MAX(in->parent);
	if (!in->is_renumbering) {
		h->used_count[NC_SEC_COHORTS] =
			(in->own_count + NC_COHORT_CHUNK - 1) & ~(NC_COHORT_CHUNK - 1);
		h->first_cohort = h->used_count[NC_SEC_COHORTS];
	}
	return in->own && in->met;
}

/* From now on the live map is read with the table, or needs none. */
static void keep_numbers(struct inherit *in)
{
	if (in->is_renumbering) {
		nc_unmap(in->own, sizeof(uint32_t) * in->own_count);
		return;
	}
	nc.inherited = in->own;
	nc.inherited_end = in->own_count;
	nc.header->inherited_va = (uint64_t)in->own;
}

static bool inherit_blocks(const struct nc_global *parent, struct nc_ctx *t)
{
	struct inherit in = {.parent = parent, .t = t};
	if (!choose_numbers(&in))
		return false;
	in.unknown_site = nc_site(t, NC_NODE_TRUNCATED, NC_API_UNKNOWN, 0);
	in.unknown_mapping = nc_site(t, NC_NODE_TRUNCATED, NC_API_MMAP, NC_SIZE_MIXED);
	in.node_count = nc.header->used_count[NC_SEC_NODES];
	in.cohort_of_site = nc_map(sizeof(uint32_t) * in.node_count);
	if (!in.unknown_site || !in.unknown_mapping || !in.cohort_of_site)
		return false;
	nc_slots_each(inherit_block, &in);
	count_met(&in);
	nc_mappings_each(inherit_mapping, &in);
	nc_unmap(in.cohort_of_site, sizeof(uint32_t) * in.node_count);
	nc_unmap(in.met, sizeof(uint32_t) * in.own_count);
	keep_numbers(&in);
	struct nc_header *h = nc.header;
	h->live_shared_bytes = (int64_t)in.live_bytes;
	h->peak_shared_bytes = in.live_bytes;
	h->peak_tick_ns = h->tick_ns;
	h->peak_interval = h->interval;
	return true;
}

static void unmap(const void *at, size_t bytes, void *arg)
{
	(void)arg;
	nc_unmap((void *)at, bytes);
}

void nc_fork_release(const struct nc_global *parent)
{
	nc_region_each(parent, unmap, NULL);
	nc_unmap(parent->inherited, sizeof(uint32_t) * parent->inherited_end);
}

bool nc_fork_copy(const struct nc_global *parent)
{
	nc_modules_forked();
	if (!copy_nodes(parent) || !copy_modules(parent))
		return false;
	cut_links();
	struct nc_ctx *t = nc_thread_forked();
	bool ok = t && inherit_blocks(parent, t);
	nc_fork_release(parent);
	return ok;
}
