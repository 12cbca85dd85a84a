/*
 * The shared region in this process's memory.
 *
 * The descriptor of the region is closed right after the start, so what is needed later is mapped
 * through what is mapped: mremap with an old size of 0 makes a second mapping of shared
 * pages, and may be longer than the first (mremap(2), "If the value of old_size is zero").
 *
 * A section begins small, because address space may be limited: only a first step of its first
 * chunk is mapped - but room for some thousand paths, as a program may forbid itself all further memory.
 * Each further step is a mapping of four times as much from the same beginning.  It takes the
 * place of the one before, which stays, since other threads may be using it: both show the same
 * pages.  Further chunks are mapped whole; each starts on the last page of the chunk before and
 * so reaches over it into the next one.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

/* Private memory; see nc.h for who writes what. */
struct nc_global nc;

#define STEP_LG          2
#define NODES_FIRST_LG   14
#define COHORTS_FIRST_LG 14
#define DIRTY_FIRST_LG   13
#define THREADS_FIRST_LG 6
#define MODULES_FIRST_LG 2

static const struct {
	uint32_t entry_bytes, first_lg, chunk_lg, max_count;
} shape[NC_SEC_COUNT] = {
	[NC_SEC_NODES] = {sizeof(struct nc_node), NODES_FIRST_LG, NC_NODES_CHUNK_LG, NC_NODES_MAX},
	[NC_SEC_COHORTS] = {sizeof(struct nc_cohort), COHORTS_FIRST_LG, NC_COHORTS_CHUNK_LG,
			    NC_COHORTS_MAX},
	[NC_SEC_DIRTY] = {sizeof(uint8_t), DIRTY_FIRST_LG, NC_DIRTY_CHUNK_LG, NC_DIRTY_MAX},
	[NC_SEC_THREADS] = {sizeof(struct nc_thread), THREADS_FIRST_LG, NC_THREADS_CHUNK_LG,
			    NC_THREADS_MAX},
	[NC_SEC_MODULES] = {sizeof(struct nc_module), MODULES_FIRST_LG, NC_MODULES_CHUNK_LG,
			    NC_MODULES_MAX},
};

/* The first step is whole pages, and the last one the whole chunk. */
#define STEPS_FIT(entry_bytes, first_lg, chunk_lg)             \
	(((entry_bytes) << (first_lg)) % NC_PAGE_BYTES == 0 && \
	 ((chunk_lg) - (first_lg)) % STEP_LG == 0 &&           \
	 ((chunk_lg) - (first_lg)) / STEP_LG < NC_STEPS)
_Static_assert(STEPS_FIT(sizeof(struct nc_node), NODES_FIRST_LG, NC_NODES_CHUNK_LG), "nodes");
_Static_assert(STEPS_FIT(sizeof(struct nc_cohort), COHORTS_FIRST_LG, NC_COHORTS_CHUNK_LG),
	       "cohorts");
_Static_assert(STEPS_FIT(1, DIRTY_FIRST_LG, NC_DIRTY_CHUNK_LG), "dirty");
_Static_assert(STEPS_FIT(sizeof(struct nc_thread), THREADS_FIRST_LG, NC_THREADS_CHUNK_LG),
	       "threads");
_Static_assert(STEPS_FIT(sizeof(struct nc_module), MODULES_FIRST_LG, NC_MODULES_CHUNK_LG),
	       "modules");
_Static_assert(NC_CHUNKS(NC_DIRTY_MAX, NC_DIRTY_CHUNK_LG) == 1, "nc.dirty is one chunk");

static void **chunk_table(struct nc_global *g, enum nc_section_id section)
{
	switch (section) {
	case NC_SEC_NODES:
		return (void **)g->nodes;
	case NC_SEC_COHORTS:
		return (void **)g->cohorts;
	case NC_SEC_DIRTY:
		return (void **)&g->dirty;
	case NC_SEC_THREADS:
		return (void **)g->threads;
	default:
		return (void **)g->modules;
	}
}

static size_t chunk_bytes(enum nc_section_id section)
{
	return (size_t)shape[section].entry_bytes << shape[section].chunk_lg;
}

static size_t step_bytes(enum nc_section_id section, uint32_t step)
{
	return (size_t)shape[section].entry_bytes << (shape[section].first_lg + STEP_LG * step);
}

/* The first step that has this entry of the first chunk. */
static uint32_t step_of(enum nc_section_id section, uint32_t idx)
{
	uint32_t step = 0;
	while (idx >> (shape[section].first_lg + STEP_LG * step))
		step++;
	return step;
}

/* Map shared pages a second time, from `at` on; NULL if refused. */
static void *map_again(void *at, size_t bytes)
{
	long p = nc_syscall6(SYS_mremap, (long)at, 0, (long)bytes, MREMAP_MAYMOVE, 0, 0);
	return nc_sys_failed(p) ? NULL : (void *)p;
}

/* Map the chunk that follows `before` in the file; NULL if refused. */
static void *map_after(void *before, size_t bytes)
{
	uint8_t *p = map_again((uint8_t *)before + bytes - NC_PAGE_BYTES, NC_PAGE_BYTES + bytes);
	if (!p)
		return NULL;
	nc_unmap(p, NC_PAGE_BYTES);
	return p + NC_PAGE_BYTES;
}

/* Set *entry to a new mapping unless another thread was faster; false if there is none. */
static bool set_once(void **entry, void *mapping, size_t bytes)
{
	void *expected = NULL;
	if (mapping && !__atomic_compare_exchange_n(entry, &expected, mapping, false,
						    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		nc_unmap(mapping, bytes);
	return mapping != NULL;
}

/*
 * Any thread may find a step mapped that another has not yet put in place, and then does so
 * itself: the chunk only ever moves from one step to the next.
 */
static bool first_chunk_map(enum nc_section_id section, uint32_t idx)
{
	void **chunk = chunk_table(&nc, section), **steps = nc.steps[section];
	uint32_t wanted = step_of(section, idx);
	for (uint32_t s = 1; s <= wanted; s++) {
		size_t bytes = step_bytes(section, s);
		void *before = steps[s - 1];
		if (!__atomic_load_n(&steps[s], __ATOMIC_ACQUIRE) &&
		    !set_once(&steps[s], map_again(before, bytes), bytes))
			return false;
		if (__atomic_load_n(chunk, __ATOMIC_ACQUIRE) == before)
			__atomic_compare_exchange_n(chunk, &before, steps[s], false,
						    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	}
	return true;
}

static bool entry_map(enum nc_section_id section, uint32_t idx)
{
	void **chunks = chunk_table(&nc, section);
	size_t bytes = chunk_bytes(section);
	uint32_t wanted = idx >> shape[section].chunk_lg;
	if (!wanted)
		return first_chunk_map(section, idx);
	if (NC_LIKELY(__atomic_load_n(&chunks[wanted], __ATOMIC_ACQUIRE)))
		return true;
	if (!first_chunk_map(section, (1u << shape[section].chunk_lg) - 1))
		return false;
	for (uint32_t c = 1; c <= wanted; c++)
		if (!__atomic_load_n(&chunks[c], __ATOMIC_ACQUIRE) &&
		    !set_once(&chunks[c], map_after(chunks[c - 1], bytes), bytes))
			return false;
	return true;
}

bool nc_region_map(enum nc_section_id section, uint32_t idx)
{
	return entry_map(section, idx) &&
	       (section != NC_SEC_COHORTS || entry_map(NC_SEC_DIRTY, idx / NC_DIRTY_COHORTS));
}

size_t nc_region_first_bytes(enum nc_section_id section)
{
	return step_bytes(section, 0);
}

void nc_region_begin(enum nc_section_id section, void *first)
{
	nc.steps[section][0] = first;
	chunk_table(&nc, section)[0] = first;
}

bool nc_region_has(const struct nc_global *g, enum nc_section_id section, uint32_t idx)
{
	void *const *chunks = chunk_table((struct nc_global *)g, section);
	uint32_t chunk = idx >> shape[section].chunk_lg;
	if (chunk)
		return chunks[chunk];
	for (uint32_t s = step_of(section, idx); s < NC_STEPS; s++)
		if (g->steps[section][s] && g->steps[section][s] == chunks[0])
			return true;
	return false;
}

void nc_region_each(const struct nc_global *g, nc_own_fn *fn, void *arg)
{
	for (int section = 0; section < NC_SEC_COUNT; section++) {
		void *const *chunks = chunk_table((struct nc_global *)g, section);
		for (uint32_t s = 0; s < NC_STEPS; s++)
			if (g->steps[section][s])
				fn(g->steps[section][s], step_bytes(section, s), arg);
		for (uint32_t c = 1;
		     c < NC_CHUNKS(shape[section].max_count, shape[section].chunk_lg); c++)
			if (chunks[c])
				fn(chunks[c], chunk_bytes(section), arg);
	}
	if (g->header)
		fn(g->header, NC_PAGE_BYTES, arg);
}

uint32_t nc_region_max(enum nc_section_id section)
{
	uint32_t max = nc.header->sections[section].max_count;
	return max < shape[section].max_count ? max : shape[section].max_count;
}

/* What cannot be mapped is not handed out either: the recorder reads all that was. */
uint32_t nc_region_take(enum nc_section_id section, uint32_t count)
{
	uint32_t *used = &nc.header->used_count[section], max = nc_region_max(section);
	uint32_t first = __atomic_load_n(used, __ATOMIC_RELAXED);
	do {
		if (first + count > max || !nc_region_map(section, first))
			return NC_NONE;
	} while (!__atomic_compare_exchange_n(used, &first, first + count, true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return first;
}

void nc_drop(enum nc_drop cause)
{
	if (nc.header)
		__atomic_fetch_add(&nc.header->drops[cause], 1, __ATOMIC_RELAXED);
}
