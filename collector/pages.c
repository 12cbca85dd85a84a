/*
 * Which mapping a page belongs to: only in recordings of mappings (--mmap).
 *
 *   root (static), 512 GiB an entry -> 1 GiB -> 2 MiB -> one page
 *
 * An entry says that its whole range belongs to one mapping, or to none, or leads to a table
 * of 512 entries for its parts.  So a large mapping takes few entries wherever it lies, and a
 * part of it can be given back.  Tables are never freed.
 *
 * No lock: pages belong to whoever maps or unmaps them, so an entry whose range has two
 * owners is only ever split, by compare-and-swap; all others have one writer.
 *
 * A mapping ends when its last page is gone.  Its number is used again after that.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#define LEVELS     4
#define TABLE_LG   9
#define ROOT_LG    8 /* with LEVELS - 1 tables and NC_PAGE_LG: 47 bits */
#define CHUNK_LG   10
#define CHUNKS_MAX 1024u

struct mapping {
	uint32_t cohort;     /* 0: not counted; atomic */
	uint32_t next;       /* free one behind this */
	uint64_t end_va;     /* after the last byte that was asked for */
	uint64_t left_bytes; /* of those, still mapped; atomic */
};

/* Entries: 0, number of a mapping << 1 | 1, or the address of a table. */
static uint64_t root[1u << ROOT_LG];
static struct mapping *chunks[CHUNKS_MAX]; /* from NULL to their value once */
static uint32_t used_count = 1;            /* numbers handed out so far; atomic */
static uint64_t free_list;                 /* changes << 32 | first free number; atomic */

/* ---- mappings ------------------------------------------------------------------- */

static struct mapping *mapping_at(uint32_t id)
{
	return &__atomic_load_n(&chunks[id >> CHUNK_LG],
				__ATOMIC_ACQUIRE)[id & ((1u << CHUNK_LG) - 1)];
}

static uint32_t take_free(void)
{
	uint64_t head = __atomic_load_n(&free_list, __ATOMIC_ACQUIRE), next;
	do {
		if (!(uint32_t)head)
			return 0;
		next = ((head >> 32) + 1) << 32 | mapping_at((uint32_t)head)->next;
	} while (!__atomic_compare_exchange_n(&free_list, &head, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	return (uint32_t)head;
}

static void give_free(uint32_t id)
{
	uint64_t head = __atomic_load_n(&free_list, __ATOMIC_RELAXED), next;
	do {
		mapping_at(id)->next = (uint32_t)head;
		next = ((head >> 32) + 1) << 32 | id;
	} while (!__atomic_compare_exchange_n(&free_list, &head, next, true, __ATOMIC_ACQ_REL,
					      __ATOMIC_RELAXED));
}

static uint32_t mapping_new(void)
{
	uint32_t id = take_free();
	if (id)
		return id;
	id = __atomic_fetch_add(&used_count, 1, __ATOMIC_RELAXED);
	if (id >> CHUNK_LG >= CHUNKS_MAX) {
		__atomic_store_n(&used_count, CHUNKS_MAX << CHUNK_LG, __ATOMIC_RELAXED);
		return 0;
	}
	struct mapping **chunk = &chunks[id >> CHUNK_LG];
	if (__atomic_load_n(chunk, __ATOMIC_ACQUIRE))
		return id;
	struct mapping *fresh = nc_map(sizeof *fresh << CHUNK_LG), *expected = NULL;
	if (!fresh)
		return 0;
	if (!__atomic_compare_exchange_n(chunk, &expected, fresh, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		nc_unmap(fresh, sizeof *fresh << CHUNK_LG);
	return id;
}

/* ---- pages ------------------------------------------------------------------------- */

static bool is_table(uint64_t entry)
{
	return entry && !(entry & 1);
}

/* The table of an entry, made if need be with what the entry says; NULL if memory is refused. */
static uint64_t *split(uint64_t *entry)
{
	uint64_t old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
	if (is_table(old))
		return (uint64_t *)old;
	uint64_t *table = nc_map(sizeof *table << TABLE_LG);
	if (!table)
		return NULL;
	do {
		for (uint32_t i = 0; i < 1u << TABLE_LG; i++)
			table[i] = old;
		if (__atomic_compare_exchange_n(entry, &old, (uint64_t)table, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return table;
	} while (!is_table(old));
	nc_unmap(table, sizeof *table << TABLE_LG);
	return (uint64_t *)old;
}

/*
 * Give the pages of a range to `value`, an entry, and hand what they belonged to before to
 * `was`, run by run.  False if memory for tables is refused; the pages before *done_va are done.
 */
static bool pages_set(struct nc_pages range, uint64_t value, struct nc_unmapped *was,
		      uint64_t *done_va)
{
	uint64_t va = range.start;
	while (va < range.end) {
		uint64_t *entry = &root[va >> (NC_PAGE_LG + (LEVELS - 1) * TABLE_LG)];
		int level = LEVELS - 1;
		uint64_t bytes, old;
		for (;; level--) {
			int lg = NC_PAGE_LG + level * TABLE_LG;
			bytes = 1ull << lg;
			old = __atomic_load_n(entry, __ATOMIC_ACQUIRE);
			bool is_whole = !(va & (bytes - 1)) && range.end - va >= bytes;
			if (!is_table(old) && (is_whole || old == value))
				break;
			uint64_t *table = split(entry);
			*done_va = va;
			if (!table)
				return false;
			entry = &table[va >> (lg - TABLE_LG) & ((1u << TABLE_LG) - 1)];
		}
		uint64_t next = (va & ~(bytes - 1)) + bytes;
		if (next > range.end)
			next = range.end;
		if (old != value)
			__atomic_store_n(entry, value, __ATOMIC_RELEASE);
		if (was && old)
			nc_unmapped_add(was, (uint32_t)(old >> 1), (struct nc_pages){va, next});
		va = next;
	}
	*done_va = range.end;
	return true;
}

/* ---- what goes --------------------------------------------------------------------------- */

/* These pages of a mapping are gone for good. */
static void give_back(const struct nc_unmapped_run *run)
{
	struct mapping *m = mapping_at(run->mapping);
	uint64_t end = run->pages.end < m->end_va ? run->pages.end : m->end_va;
	uint64_t bytes = end > run->pages.start ? end - run->pages.start : 0;
	uint32_t cohort = __atomic_load_n(&m->cohort, __ATOMIC_ACQUIRE);
	uint64_t left = __atomic_sub_fetch(&m->left_bytes, bytes, __ATOMIC_ACQ_REL);
	if (cohort)
		nc_mapping_shrank(cohort, bytes, !left);
	if (left)
		return;
	__atomic_store_n(&m->cohort, 0, __ATOMIC_RELEASE);
	give_free(run->mapping);
}

void nc_unmapped_add(struct nc_unmapped *u, uint32_t mapping, struct nc_pages pages)
{
	struct nc_unmapped_run *last = u->count ? &u->runs[u->count - 1] : NULL;
	if (last && last->mapping == mapping && last->pages.end == pages.start) {
		last->pages.end = pages.end;
		return;
	}
	if (u->count == NC_UNMAPPED_RUNS) { /* the first can no longer be taken back */
		give_back(&u->runs[0]);
		for (uint32_t i = 1; i < NC_UNMAPPED_RUNS; i++)
			u->runs[i - 1] = u->runs[i];
		u->count--;
	}
	u->runs[u->count++] = (struct nc_unmapped_run){mapping, pages};
}

void nc_pages_take(struct nc_pages range, struct nc_unmapped *out)
{
	uint64_t done_va;
	out->count = 0;
	if (!pages_set(range, 0, out, &done_va))
		nc_drop(NC_DROP_MAP);
}

void nc_unmapped_done(const struct nc_unmapped *u)
{
	for (uint32_t i = 0; i < u->count; i++)
		give_back(&u->runs[i]);
}

void nc_unmapped_undo(const struct nc_unmapped *u)
{
	uint64_t done_va;
	for (uint32_t i = 0; i < u->count; i++)
		pages_set(u->runs[i].pages, (uint64_t)u->runs[i].mapping << 1 | 1, NULL, &done_va);
}

/* ---- what comes ---------------------------------------------------------------------------- */

void nc_pages_map(uint64_t start_va, uint64_t bytes, const struct nc_origin *at)
{
	struct nc_pages range = nc_pages_of(start_va, bytes);
	struct nc_unmapped was = {.count = 0};
	uint64_t done_va = range.start;
	uint32_t id = mapping_new();
	if (id) {
		struct mapping *m = mapping_at(id);
		m->end_va = start_va + bytes;
		m->left_bytes = bytes;
	}
	bool is_kept = pages_set(range, id ? (uint64_t)id << 1 | 1 : 0, &was, &done_va) && id;
	nc_unmapped_done(&was); /* what MAP_FIXED mapped over */
	if (is_kept) {
		__atomic_store_n(&mapping_at(id)->cohort, nc_mapping_born(bytes, at),
				 __ATOMIC_RELEASE);
		return;
	}
	/* Its number is not used again, since not every page may have been cleared. */
	nc_drop(NC_DROP_MAP);
	range.end = done_va;
	pages_set(range, 0, NULL, &done_va);
}

void nc_mappings_each(void (*fn)(uint32_t *cohort, uint64_t bytes, void *arg), void *arg)
{
	uint32_t count = __atomic_load_n(&used_count, __ATOMIC_RELAXED);
	for (uint32_t id = 1; id < count && id >> CHUNK_LG < CHUNKS_MAX; id++) {
		if (!chunks[id >> CHUNK_LG])
			continue;
		struct mapping *m = mapping_at(id);
		if (m->cohort && m->left_bytes)
			fn(&m->cohort, m->left_bytes, arg);
	}
}
