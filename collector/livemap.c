/*
 * The live map: block address -> cohort.
 *
 * Three levels over the 47 bits of user addresses; a leaf covers 1 MiB and holds
 * one 4-byte slot per 16 bytes, so a block owns the slot of its first byte and no
 * other block can have it.  That makes the map free of locks: a slot is written
 * only by the thread that is just receiving or releasing the block.
 *
 *   root (static) -> middle, 128 KiB -> leaf, 256 KiB, touched only where blocks are
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* Entries go from NULL to their value once (compare-and-swap). */
uint32_t **nc_live_root[1u << NC_MAP_ROOT_LG];

static const size_t mid_bytes = sizeof(uint32_t *) << NC_MAP_MID_LG;
static const size_t leaf_bytes = sizeof(uint32_t) << NC_MAP_LEAF_LG;

/* Set *entry to a new table unless another thread was faster; false if memory is refused. */
static bool fill_entry(void **entry, size_t bytes)
{
	if (__atomic_load_n(entry, __ATOMIC_ACQUIRE))
		return true;
	void *table = nc_map(bytes);
	if (!table)
		return false;
	void *expected = NULL;
	if (!__atomic_compare_exchange_n(entry, &expected, table, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		nc_unmap(table, bytes);
	return true;
}

uint32_t *nc_slot_make(const void *block)
{
	uint64_t va = (uint64_t)block;
	if (va >> 47)
		return NULL;
	uint32_t ***root = &nc_live_root[va >> NC_MAP_ROOT_VA_LG];
	if (!fill_entry((void **)root, mid_bytes))
		return NULL;
	uint32_t **mid = &(*root)[(va >> NC_MAP_MID_VA_LG) & ((1u << NC_MAP_MID_LG) - 1)];
	if (!fill_entry((void **)mid, leaf_bytes))
		return NULL;
	return nc_slot_find(block);
}

static void leaf_each(uint32_t *leaf, uint64_t leaf_va, void (*fn)(uint32_t *, uint64_t, void *),
		      void *arg)
{
	const uint64_t *pairs = (const uint64_t *)leaf;
	/* Most of a leaf was never touched: let the kernel map its zeroes at once. */
	nc_syscall3(SYS_madvise, (long)leaf, (long)leaf_bytes, MADV_POPULATE_READ);
	for (uint32_t i = 0; i < 1u << NC_MAP_LEAF_LG; i += 2) {
		if (!pairs[i / 2])
			continue;
		for (uint32_t k = i; k < i + 2; k++)
			if (leaf[k])
				fn(&leaf[k], leaf_va + ((uint64_t)k << 4), arg);
	}
}

void nc_slots_each(void (*fn)(uint32_t *slot, uint64_t block_va, void *arg), void *arg)
{
	for (uint64_t r = 0; r < 1u << NC_MAP_ROOT_LG; r++) {
		if (!nc_live_root[r])
			continue;
		for (uint64_t m = 0; m < 1u << NC_MAP_MID_LG; m++)
			if (nc_live_root[r][m])
				leaf_each(nc_live_root[r][m],
					  r << NC_MAP_ROOT_VA_LG | m << NC_MAP_MID_VA_LG, fn, arg);
	}
}

void nc_map_each(nc_own_fn *fn, void *arg)
{
	for (uint64_t r = 0; r < 1u << NC_MAP_ROOT_LG; r++) {
		uint32_t **mid = __atomic_load_n(&nc_live_root[r], __ATOMIC_ACQUIRE);
		if (!mid)
			continue;
		fn(mid, mid_bytes, arg);
		for (uint64_t m = 0; m < 1u << NC_MAP_MID_LG; m++) {
			uint32_t *leaf = __atomic_load_n(&mid[m], __ATOMIC_RELAXED);
			if (leaf)
				fn(leaf, leaf_bytes, arg);
		}
	}
}
