/*
 * The counting parts of the collector under many threads, without a target.
 *
 * Includes the sources, so that it can stand in for what they need: a region in
 * a memfd as the recorder makes it, stacks invented by a random number instead of
 * an unwinder, blocks that are only addresses.  An observer advances the interval
 * and checks what a reader may rely on at any time; at the end every sum is compared
 * with what the threads know they did.  Then once more with threads that are late.
 *
 * Plain main, so that it runs under ThreadSanitizer.  Exits 0, 1, or 77 if the
 * processor is not the collector's.
 */
#include "config.h"

#include <stdio.h>

#if !defined(__x86_64__)
int main(void)
{
	puts("SKIP: the collector runs on x86-64 only");
	return 77;
}
#else

#include <unistd.h>

/* collector/sys.h maps memory by raw system calls, which ThreadSanitizer does not see; here
 * libc does it, so that memory that is unmapped and mapped again is known to be new. */
#define nc_map   nc_map_raw
#define nc_unmap nc_unmap_raw
#include "collector/sys.h"
#undef nc_map
#undef nc_unmap
static inline void *nc_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return p == MAP_FAILED ? NULL : p;
}
static inline void nc_unmap(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

/*
 * Where one event takes several steps, a thread may be taken off its processor in between.  With
 * "late" it is, as often as it takes to see it, for longer than all others need to go on.
 */
static void be_late(void);
#define NC_BEFORE_TOTAL() be_late()
#define NC_BEFORE_EPOCH() be_late()

#include "collector/count.c"
#include "collector/livemap.c"
#include "collector/region.c"
#include "collector/thread.c"
#include "collector/tree.c"

#include <stdlib.h>
#include <string.h>

#define THREADS    8
#define STEPS      60000
#define PATHS      300
#define HELD       512 /* blocks a thread holds at most */
#define BOX        64  /* blocks on their way to another thread */
#define BASE_VA    0x100000000000ull
#define MIXED_PATH 7u /* allocates more sizes than are told apart */

struct nc_gate nc_gate = {.state = NC_ON};

NC_NOINLINE bool nc_start(void)
{
	return false;
}

/* A stack of 1 to 6 frames made from the "program counter". */
uint32_t nc_capture(struct nc_ctx *t, const struct nc_origin *at)
{
	uint32_t node = NC_NODE_ROOT;
	uint64_t depth = 1 + at->pc % 6;
	for (uint64_t i = 0; i < depth && node; i++)
		node = nc_child(t, node, at->pc / (1 + depth - i) + i + 1);
	return node;
}

void nc_modules_abandon(void)
{
}

static int failed_count;

static uint32_t late_share; /* one of so many; 0: none */
static void be_late(void)
{
	static __thread uint32_t random_now = 1;
	random_now = random_now * 1664525u + 1013904223u;
	if (late_share && (random_now >> 8) % late_share == 0)
		usleep(200);
}

static void check(bool is_ok, const char *what, uint64_t want, uint64_t got)
{
	if (is_ok)
		return;
	printf("not ok - %s: expected %llu got %llu\n", what, (unsigned long long)want,
	       (unsigned long long)got);
	failed_count++;
}

static void check_equal(const char *what, uint64_t want, uint64_t got)
{
	check(want == got, what, want, got);
}

/* ---- the region, as a recorder makes it --------------------------------------------- */

static void section_begin(enum nc_section_id section, int fd, uint64_t *offset, uint32_t max,
			  uint64_t entry_bytes)
{
	nc.header->sections[section].max_count = max;
	void *p = mmap(NULL, nc_region_first_bytes(section), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       (off_t)*offset);
	*offset += (max * entry_bytes + NC_PAGE_BYTES - 1) & ~(uint64_t)(NC_PAGE_BYTES - 1);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(2);
	}
	nc_region_begin(section, p);
}

static void make_region(void)
{
	int fd = memfd_create("counters", 0);
	uint64_t at = NC_PAGE_BYTES;
	if (fd < 0 || ftruncate(fd, (off_t)1 << 36)) {
		perror("memfd");
		exit(2);
	}
	nc.header = mmap(NULL, NC_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	section_begin(NC_SEC_NODES, fd, &at, NC_NODES_MAX, sizeof(struct nc_node));
	section_begin(NC_SEC_COHORTS, fd, &at, NC_COHORTS_MAX, sizeof(struct nc_cohort));
	section_begin(NC_SEC_DIRTY, fd, &at, NC_DIRTY_MAX, 1);
	section_begin(NC_SEC_THREADS, fd, &at, NC_THREADS_MAX, sizeof(struct nc_thread));
	close(fd);
	nc.header->epoch_primary = 1;
	nc.header->interval = 1;
	nc.header->batch_bytes = NC_BATCH_BYTES;
	nc.header->used_count[NC_SEC_NODES] = NC_NODE_FIRST_FREE;
	nc.header->used_count[NC_SEC_COHORTS] = NC_COHORT_CHUNK;
	nc.header->used_count[NC_SEC_THREADS] = 1;
}

/* ---- the threads ----------------------------------------------------------------------- */

struct block {
	void *va;
	size_t bytes;
};

struct worker {
	pthread_t thread;
	uint64_t random, next_va;
	struct block held[HELD];
	uint64_t born_count, born_bytes, died_count, died_bytes;
	uint64_t path_count[PATHS], path_bytes[PATHS];
};
static struct worker workers[THREADS];

/* Blocks for other threads, under a lock: handing over a block is the program's synchronisation. */
static pthread_mutex_t box_lock = PTHREAD_MUTEX_INITIALIZER;
static struct block box[BOX];

static uint32_t random_below(struct worker *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->random >> 33) % n;
}

static struct block make_block(struct worker *w)
{
	uint32_t path = random_below(w, PATHS);
	size_t bytes = 1 + random_below(w, 64) * 8;
	if (path == MIXED_PATH)
		bytes = 4096 + random_below(w, 1u << 24);
	struct nc_origin at = {.pc = 1000 + path};
	struct block b = {(void *)w->next_va, bytes};
	w->next_va +=
		64 * THREADS; /* addresses are not used twice; neighbours belong to other threads */
	nc_born(b.va, bytes, NC_API_MALLOC, &at);
	w->born_count++;
	w->born_bytes += bytes;
	w->path_count[path]++;
	w->path_bytes[path] += bytes;
	return b;
}

static void drop_block(struct worker *w, struct block b)
{
	if (!b.va)
		return;
	nc_freed(b.va);
	w->died_count++;
	w->died_bytes += b.bytes;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	for (int i = 0; i < STEPS; i++) {
		struct block b = make_block(w);
		uint32_t slot = random_below(w, HELD);
		if (random_below(w, 4) == 0) {
			uint32_t k = random_below(w, BOX);
			pthread_mutex_lock(&box_lock);
			struct block other = box[k];
			box[k] = b;
			pthread_mutex_unlock(&box_lock);
			b = other;
		}
		drop_block(w, w->held[slot]);
		w->held[slot] = b;
	}
	return NULL;
}

/* ---- the observer ------------------------------------------------------------------------ */

static uint32_t observer_stop;

static uint64_t load_u64(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_RELAXED);
}

/* Deaths before births: then live is never negative, whatever happens in between. */
static void observe_cohort(const struct nc_cohort *c)
{
	if (!__atomic_load_n(&c->birth, __ATOMIC_ACQUIRE) || c->site == UINT32_MAX)
		return;
	uint64_t temporary = load_u64(&c->temporary);
	__asm__ volatile("" ::: "memory");
	uint64_t dead = load_u64(&c->deaths) + load_u64(&c->remote_deaths);
	__asm__ volatile("" ::: "memory");
	uint64_t born = load_u64(&c->births);
	check(temporary <= dead, "temporary is at most deaths", dead, temporary);
	check(dead <= born, "deaths are at most births", born, dead);
}

static void *observe(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&observer_stop, __ATOMIC_RELAXED)) {
		uint32_t used =
			__atomic_load_n(&nc.header->used_count[NC_SEC_COHORTS], __ATOMIC_RELAXED);
		for (uint32_t id = NC_COHORT_CHUNK; id < used; id++)
			if (__atomic_load_n(&nc.cohorts[id >> NC_COHORTS_CHUNK_LG],
					    __ATOMIC_ACQUIRE))
				observe_cohort(nc_cohort(id));
		__atomic_fetch_add(&nc.header->interval, 1, __ATOMIC_RELAXED);
		usleep(500);
	}
	return NULL;
}

/* ---- the sums ------------------------------------------------------------------------------- */

struct sums {
	uint64_t born_count, dead_count, born_bytes, dead_bytes, peak_bytes;
};

static uint64_t size_of(const struct nc_cohort *c)
{
	return c->size_or_max == UINT32_MAX ? nc_node(c->site)->key & NC_KEY_SIZE_MASK
					    : c->size_or_max;
}

static void add_cohort(struct sums *s, struct nc_cohort *c)
{
	uint64_t dead = c->deaths + c->remote_deaths;
	uint64_t epoch = nc.header->epoch_primary + nc.header->epoch_shared;
	s->born_count += c->births;
	s->dead_count += dead;
	check(dead <= c->births, "deaths are at most births", c->births, dead);
	if (size_of(c) == NC_SIZE_MIXED) {
		const struct nc_cohort_bytes *b = (const struct nc_cohort_bytes *)(c + 1);
		uint64_t dead_bytes = b->died_bytes + b->remote_died_bytes;
		s->born_bytes += b->born_bytes;
		s->dead_bytes += dead_bytes;
		s->peak_bytes += c->epoch == epoch ? b->at_peak_bytes : b->born_bytes - dead_bytes;
		return;
	}
	s->born_bytes += c->births * size_of(c);
	s->dead_bytes += dead * size_of(c);
	s->peak_bytes += (c->epoch == epoch ? c->at_peak : c->births - dead) * size_of(c);
}

/* No two children of a node have the same key; every node hangs where its parent says. */
static int by_parent_and_key(const void *a, const void *b)
{
	const struct nc_node *x = nc_node(*(const uint32_t *)a), *y = nc_node(*(const uint32_t *)b);
	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static size_t collect_nodes(uint32_t *ids, uint32_t used)
{
	size_t count = 0, done = 0;
	ids[count++] = NC_NODE_ROOT;
	for (; done < count && count + 3 < used; done++) {
		const struct nc_node *n = nc_node(ids[done]);
		uint32_t kid = n->key & NC_KEY_SITE ? NC_NONE : n->kid;
		const uint32_t links[3] = {kid, n->next[0], n->next[1]};
		for (int i = 0; i < 3; i++)
			if (links[i])
				ids[count++] = links[i];
		if (kid)
			check_equal("a child knows its parent", ids[done], nc_node(kid)->parent);
	}
	return count;
}

static void check_tree(void)
{
	uint32_t used = nc.header->used_count[NC_SEC_NODES];
	uint32_t *ids = calloc(used + 4, sizeof ids[0]);
	if (!ids)
		exit(2);
	size_t count = collect_nodes(ids, used);
	qsort(ids, count, sizeof ids[0], by_parent_and_key);
	for (size_t i = 1; i < count; i++)
		check(by_parent_and_key(&ids[i - 1], &ids[i]) != 0, "nodes are distinct", 0,
		      ids[i]);
	check(count > 1000, "number of nodes", 1000, count);
	free(ids);
}

static void check_sums(const char *title)
{
	struct sums want = {0}, got = {0};
	for (int i = 0; i < THREADS; i++) {
		want.born_count += workers[i].born_count;
		want.born_bytes += workers[i].born_bytes;
		want.dead_count += workers[i].died_count;
		want.dead_bytes += workers[i].died_bytes;
	}
	uint32_t used = nc.header->used_count[NC_SEC_COHORTS];
	for (uint32_t id = NC_COHORT_CHUNK; id < used; id++)
		if (nc_cohort(id)->birth && nc_cohort(id)->site != UINT32_MAX)
			add_cohort(&got, nc_cohort(id));
	check_equal("births", want.born_count, got.born_count);
	check_equal("bytes born", want.born_bytes, got.born_bytes);
	check_equal("deaths", want.dead_count, got.dead_count);
	check_equal("bytes died", want.dead_bytes, got.dead_bytes);
	check_equal("live total", want.born_bytes - want.dead_bytes,
		    (uint64_t)(nc.header->live_primary_bytes + nc.header->live_shared_bytes));
	uint64_t peak = nc_peak_bytes(nc.header), bound_bytes = nc_peak_bound_bytes(nc.header);
	uint64_t off = got.peak_bytes > peak ? got.peak_bytes - peak : peak - got.peak_bytes;
	check(off <= bound_bytes, "cohorts at the peak add up to it", peak, got.peak_bytes);
	for (int d = 0; d < NC_DROP_COUNT; d++)
		check_equal("nothing dropped", 0, nc.header->drops[d]);
	printf("# %s: %llu births, %u cohorts, peak %llu, off by %llu (bound %llu)\n", title,
	       (unsigned long long)got.born_count, used, (unsigned long long)peak,
	       (unsigned long long)off, (unsigned long long)bound_bytes);
}

int main(int argc, char **argv)
{
	pthread_t observer;
	if (argc > 1 && !strcmp(argv[1], "late"))
		late_share = 20;
	make_region();
	nc_thread_init();
	for (int i = 0; i < THREADS; i++) {
		workers[i].random = (uint64_t)i + 1;
		workers[i].next_va = BASE_VA + (uint64_t)i * 64;
	}
	/* One thread: the peak is exact. */
	work(&workers[0]);
	check_sums("one thread");
	check_equal("with one thread the peak is exact", 0, nc_peak_bound_bytes(nc.header));
	if (pthread_create(&observer, NULL, observe, NULL))
		return 2;
	for (int i = 1; i < THREADS; i++)
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return 2;
	work(&workers[0]); /* which is the primary thread */
	for (int i = 1; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	__atomic_store_n(&observer_stop, 1, __ATOMIC_RELAXED);
	pthread_join(observer, NULL);
	check_sums("many threads");
	check_tree();
	nc.header->sections[NC_SEC_THREADS].max_count = nc.header->used_count[NC_SEC_THREADS];
	check_equal("a section is full where the recorder says", NC_NONE,
		    nc_region_take(NC_SEC_THREADS, 1));
	printf("%s - collector's counters, %d threads%s\n", failed_count ? "not ok" : "ok", THREADS,
	       late_share ? ", some late" : "");
	fflush(stdout);
	if (!failed_count && !late_share)
		execl(argv[0], argv[0], "late", NULL);
	return failed_count != 0 || !late_share;
}
#endif
