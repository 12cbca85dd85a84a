/*
 * Chunks of the shared region.
 *
 * The descriptor of the region is closed right after the start, so later chunks
 * are mapped through the chunk before them: mremap with an old size of 0 makes a
 * second mapping of shared pages, and may be longer than the first (mremap(2),
 * "If the value of old_size is zero").  It starts on the last page of the chunk
 * before and so reaches over it into the next one.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

/* Private memory; see nc.h for who writes what. */
struct nc_global nc;

static const struct {
	uint32_t entry_bytes, chunk_lg, max_count;
} shape[NC_SEC_COUNT] = {
	[NC_SEC_NODES] = {sizeof(struct nc_node), NC_NODES_CHUNK_LG, NC_NODES_MAX},
	[NC_SEC_COHORTS] = {sizeof(struct nc_cohort), NC_COHORTS_CHUNK_LG, NC_COHORTS_MAX},
	[NC_SEC_DIRTY] = {sizeof(uint8_t), NC_DIRTY_CHUNK_LG, NC_DIRTY_MAX},
	[NC_SEC_THREADS] = {sizeof(struct nc_thread), NC_THREADS_CHUNK_LG, NC_THREADS_MAX},
	[NC_SEC_MODULES] = {sizeof(struct nc_module), NC_MODULES_CHUNK_LG, NC_MODULES_MAX},
};

static void **chunk_table(enum nc_section_id section)
{
	switch (section) {
	case NC_SEC_NODES:
		return (void **)nc.nodes;
	case NC_SEC_COHORTS:
		return (void **)nc.cohorts;
	case NC_SEC_DIRTY:
		return (void **)&nc.dirty;
	case NC_SEC_THREADS:
		return (void **)nc.threads;
	default:
		return (void **)nc.modules;
	}
}

static size_t chunk_bytes(enum nc_section_id section)
{
	return (size_t)shape[section].entry_bytes << shape[section].chunk_lg;
}

/* Map the chunk that follows `before` in the file; NULL if refused. */
static void *map_after(uint8_t *before, size_t bytes)
{
	uint8_t *last_page = before + bytes - NC_PAGE_BYTES;
	long p = nc_syscall6(SYS_mremap, (long)last_page, 0, (long)(NC_PAGE_BYTES + bytes),
			     MREMAP_MAYMOVE, 0, 0);
	if (nc_sys_failed(p))
		return NULL;
	nc_unmap((void *)p, NC_PAGE_BYTES);
	return (uint8_t *)p + NC_PAGE_BYTES;
}

bool nc_region_map(enum nc_section_id section, uint32_t idx)
{
	void **chunks = chunk_table(section);
	size_t bytes = chunk_bytes(section);
	uint32_t wanted = idx >> shape[section].chunk_lg;
	if (NC_LIKELY(__atomic_load_n(&chunks[wanted], __ATOMIC_ACQUIRE)))
		return true;
	for (uint32_t c = 1; c <= wanted; c++) {
		if (__atomic_load_n(&chunks[c], __ATOMIC_ACQUIRE))
			continue;
		void *chunk = map_after(chunks[c - 1], bytes);
		if (!chunk)
			return false;
		void *expected = NULL;
		if (!__atomic_compare_exchange_n(&chunks[c], &expected, chunk, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			nc_unmap(chunk, bytes);
	}
	return true;
}

uint32_t nc_region_take(enum nc_section_id section, uint32_t count)
{
	uint32_t *used = &nc.header->used_count[section];
	uint32_t first = __atomic_load_n(used, __ATOMIC_RELAXED);
	do {
		if (first + count > shape[section].max_count)
			return NC_NONE;
	} while (!__atomic_compare_exchange_n(used, &first, first + count, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return nc_region_map(section, first) ? first : NC_NONE;
}

void nc_drop(enum nc_drop cause)
{
	if (nc.header)
		__atomic_fetch_add(&nc.header->drops[cause], 1, __ATOMIC_RELAXED);
}
