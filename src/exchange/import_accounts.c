/* Accounts of the builder: the blocks of one stack, size, thread and kind of call. */
#include "config.h"

#include "src/exchange/import_priv.h"

#include <string.h>

static uint64_t hash_site(node_id node, uint64_t size_bytes, unsigned api)
{
	return hash_mix(hash_mix(node, size_bytes), api);
}

static uint64_t site_hash_of(const void *ctx, uint32_t id)
{
	const struct import *im = ctx;
	const struct account_name *n = &im->names[id - 1];
	return hash_site(n->node, im->accounts[id - 1].size_bytes, n->api);
}

static uint64_t account_hash_of(const void *ctx, uint32_t id)
{
	return hash_mix(site_hash_of(ctx, id), ((const struct import *)ctx)->names[id - 1].thread);
}

static bool is_same_site(const struct import *im, account_id id, const struct import_account *a)
{
	const struct account_name *n = &im->names[id - 1];
	return n->node == a->node && im->accounts[id - 1].size_bytes == a->size_bytes &&
	       n->api == (uint32_t)a->api;
}

/* An account of the same site, in whatever thread; 0: none. */
static account_id find_site(const struct import *im, const struct import_account *a, uint64_t hash)
{
	account_id id;
	for (size_t at = 0; (id = index_next(&im->site_index, hash, &at)) != 0;) {
		if (is_same_site(im, id, a))
			return id;
	}
	return 0;
}

static account_id find_account(const struct import *im, const struct import_account *a,
			       thread_id thread, uint64_t hash)
{
	account_id id;
	for (size_t at = 0; (id = index_next(&im->account_index, hash, &at)) != 0;) {
		if (is_same_site(im, id, a) && im->names[id - 1].thread == thread)
			return id;
	}
	return 0;
}

static thread_id thread_or_unknown(struct import *im, thread_id thread)
{
	return thread ? thread : import_unknown_thread(im);
}

_Static_assert(sizeof(struct account) == LINE_BYTES && sizeof(struct lot) == LINE_BYTES,
	       "one fetch for each");

/* Not realloc: what the kernel moves loses its large pages. */
bool lines_reserve(struct lines *l, void **items, size_t count)
{
	if (count < l->cap)
		return true;
	size_t cap = l->cap ? 2 * l->cap : 64;
	char *block = mem_array(cap + 1, LINE_BYTES);
	if (!block)
		return false;
	void *moved = block + (LINE_BYTES - (uintptr_t)block % LINE_BYTES) % LINE_BYTES;
	if (count)
		memcpy(moved, *items, count * LINE_BYTES);
	mem_free(l->block);
	*l = (struct lines){block, cap};
	*items = moved;
	return true;
}

static account_id add_account(struct import *im, const struct import_account *a, thread_id thread,
			      site_id site)
{
	size_t n = im->account_count;
	bool is_mixed = a->size_bytes == PROFILE_SIZE_MIXED;
	if (!site)
		return 0;
	if (n >= UINT32_MAX - 1 || !lines_reserve(&im->account_lines, (void **)&im->accounts, n) ||
	    !vec_reserve((void **)&im->names, &im->name_cap, n + 1, sizeof *im->names) ||
	    !vec_reserve((void **)&im->mixed, &im->mixed_cap, im->mixed_count + 1,
			 sizeof *im->mixed)) {
		import_no_memory(im);
		return 0;
	}
	im->accounts[n] = (struct account){
		.size_bytes = a->size_bytes,
		.top = LOT_NONE,
		.mixed = is_mixed ? (uint32_t)im->mixed_count : MIXED_NONE,
		.epoch = UINT64_MAX,
	};
	im->names[n] = (struct account_name){a->node, site, thread, (uint32_t)a->api};
	if (is_mixed)
		im->mixed[im->mixed_count++] = (struct mixed){0};
	im->account_count++;
	return (account_id)im->account_count;
}

static site_id add_site(struct import *im, const struct import_account *a)
{
	return profile_add_site(im->w, &(struct profile_site){.node = a->node,
							      .size_bytes = a->size_bytes,
							      .api = a->api});
}

account_id import_account_new(struct import *im, const struct import_account *a)
{
	if (import_has_failed(im))
		return 0;
	return add_account(im, a, thread_or_unknown(im, a->thread), add_site(im, a));
}

account_id import_account(struct import *im, const struct import_account *a)
{
	if (import_has_failed(im))
		return 0;
	thread_id thread = thread_or_unknown(im, a->thread);
	uint64_t site_hash = hash_site(a->node, a->size_bytes, a->api);
	uint64_t hash = hash_mix(site_hash, thread);
	account_id id = find_account(im, a, thread, hash);
	if (id)
		return id;
	account_id twin = find_site(im, a, site_hash);
	id = add_account(im, a, thread, twin ? im->names[twin - 1].site : add_site(im, a));
	if (id && (!index_add(&im->account_index, hash, id, account_hash_of, im) ||
		   (!twin && !index_add(&im->site_index, site_hash, id, site_hash_of, im))))
		import_no_memory(im);
	return id;
}

account_id import_account_again(struct import *im, account_id id)
{
	if (!id || import_has_failed(im))
		return 0;
	const struct account_name n = im->names[id - 1];
	const struct import_account twin = {.node = n.node,
					    .size_bytes = im->accounts[id - 1].size_bytes,
					    .api = (enum profile_api)n.api};
	return add_account(im, &twin, n.thread, n.site);
}
