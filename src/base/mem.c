/*
 * Heap memory of the analysis side.  The only file that calls libc's allocator;
 * every other one comes here, so that a test can make any allocation fail.
 *
 * An arena is a list of blocks.  The head block is filled from the front; a
 * request that would waste much of it gets a block of its own behind the head.
 *
 * Large blocks that were freed lie ready for the next request of their size: to get them from
 * the kernel again would mean to clear every page of them, which costs as much as many queries do
 * with them.
 */
#include "config.h"

#include "src/base/mem.h"

#include "src/base/asan.h"

#include <malloc.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_FROM_BYTES ((size_t)4 << 20)

#define ARENA_FIRST_BYTES   ((size_t)4 << 10)
#define ARENA_LARGEST_BYTES ((size_t)1 << 20)
#define ARENA_ALIGN_BYTES   ((size_t)16)

/* Process-wide, since the fault injection of a test has to see every allocation. Relaxed: counters. */
static atomic_uint_fast64_t alloc_count;
static atomic_uint_fast64_t fail_at_count; /* value of alloc_count that fails; 0 = none */

static bool may_allocate(void)
{
	uint64_t n = atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed) + 1;
	return n != atomic_load_explicit(&fail_at_count, memory_order_relaxed);
}

void mem_fail_at(uint64_t n)
{
	uint64_t at = n ? mem_count() + n : 0;
	atomic_store_explicit(&fail_at_count, at, memory_order_relaxed);
}

uint64_t mem_count(void)
{
	return atomic_load_explicit(&alloc_count, memory_order_relaxed);
}

/*
 * Large blocks lie in mappings of their own, where pages of 2 MiB save most page faults.
 * Only advice: it may be refused.
 */
static void *advised(void *p, size_t bytes)
{
	if (p && bytes >= HUGE_FROM_BYTES) {
		uintptr_t start = ((uintptr_t)p + (uintptr_t)MEM_HUGE_BYTES - 1) &
				  ~((uintptr_t)MEM_HUGE_BYTES - 1);
		uintptr_t end = ((uintptr_t)p + bytes) & ~((uintptr_t)MEM_HUGE_BYTES - 1);
		madvise((void *)start, end - start, MADV_HUGEPAGE);
	}
	return p;
}

/* ---- large blocks ------------------------------------------------------------- */

#define LARGE_BYTES ((size_t)1 << 20)
#define READY_MOST  64u
#define READY_TIMES 2u          /* what lies ready is at most so many times what is used */
#define KEEPS_LARGE (!HAS_ASAN) /* who uses a freed block shall be found */

/* Oldest first.  Process-wide as the allocator is; all of it under the lock. */
static struct {
	pthread_mutex_t lock;
	struct ready {
		void *p;
		size_t bytes;
	} blocks[READY_MOST];
	size_t count;
	size_t ready_bytes, used_bytes;
} large = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_large(void)
{
	pthread_mutex_lock(&large.lock);
}

static void unlock_large(void)
{
	pthread_mutex_unlock(&large.lock);
}

/* As libc does for its allocator: a child of a process with threads can allocate. */
static __attribute__((constructor)) void heed_forks(void)
{
	pthread_atfork(lock_large, unlock_large, unlock_large);
}

/* Under the lock. */
static struct ready take_at(size_t i)
{
	struct ready taken = large.blocks[i];
	memmove(&large.blocks[i], &large.blocks[i + 1],
		(--large.count - i) * sizeof large.blocks[0]);
	large.ready_bytes -= taken.bytes;
	return taken;
}

/* Under the lock. */
static void drop_oldest(void)
{
	free(take_at(0).p);
}

/* Under the lock: the oldest make room for what will be got from the kernel, so that there is never
 * more than there would have been without them. */
static void make_room(size_t bytes)
{
	size_t most = large.ready_bytes > bytes ? large.ready_bytes - bytes : 0;
	while (large.count && large.ready_bytes > most)
		drop_oldest();
}

/* The smallest that is large enough and not much too large; NULL: none. */
static void *take_ready(size_t bytes)
{
	size_t best = READY_MOST;
	void *p = NULL;
	lock_large();
	for (size_t i = 0; i < large.count; i++) {
		size_t has = large.blocks[i].bytes;
		if (has >= bytes && has - has / 4 <= bytes &&
		    (best == READY_MOST || has < large.blocks[best].bytes))
			best = i;
	}
	if (best < READY_MOST) {
		struct ready taken = take_at(best);
		large.used_bytes += taken.bytes;
		p = taken.p;
	} else {
		make_room(bytes);
	}
	unlock_large();
	return p;
}

static void note_used(void *p)
{
	if (!p)
		return;
	lock_large();
	large.used_bytes += malloc_usable_size(p);
	unlock_large();
}

static void note_unused(size_t bytes)
{
	large.used_bytes -= bytes < large.used_bytes ? bytes : large.used_bytes;
}

/* false: it is to be freed. */
static bool keep_ready(void *p, size_t bytes)
{
	lock_large();
	note_unused(bytes);
	size_t most = READY_TIMES * large.used_bytes;
	bool is_kept = KEEPS_LARGE && bytes <= most;
	while (is_kept && large.count &&
	       (large.count == READY_MOST || large.ready_bytes + bytes > most))
		drop_oldest();
	if (is_kept) {
		large.blocks[large.count++] = (struct ready){p, bytes};
		large.ready_bytes += bytes;
	}
	unlock_large();
	return is_kept;
}

static void *large_alloc(size_t bytes)
{
	void *p = take_ready(bytes);
	if (!p) {
		p = advised(malloc(bytes), bytes);
		note_used(p);
	}
	return p;
}

static void *large_zalloc(size_t bytes)
{
	void *p = take_ready(bytes);
	if (p)
		return memset(p, 0, bytes);
	p = advised(calloc(1, bytes), bytes);
	note_used(p);
	return p;
}

/* To or from a large block, or both. */
static void *large_realloc(void *p, size_t bytes)
{
	size_t had_bytes = p ? malloc_usable_size(p) : 0;
	lock_large();
	if (bytes > had_bytes)
		make_room(bytes - had_bytes);
	unlock_large();
	void *moved = advised(realloc(p, bytes ? bytes : 1), bytes);
	if (!moved)
		return NULL;
	size_t has_bytes = malloc_usable_size(moved);
	lock_large();
	if (had_bytes >= LARGE_BYTES)
		note_unused(had_bytes);
	if (has_bytes >= LARGE_BYTES)
		large.used_bytes += has_bytes;
	unlock_large();
	return moved;
}

/* ---- allocating ------------------------------------------------------------------ */

void *mem_alloc(size_t bytes)
{
	if (!may_allocate())
		return NULL;
	return bytes < LARGE_BYTES ? malloc(bytes ? bytes : 1) : large_alloc(bytes);
}

void *mem_zalloc(size_t bytes)
{
	if (!may_allocate())
		return NULL;
	return bytes < LARGE_BYTES ? calloc(1, bytes ? bytes : 1) : large_zalloc(bytes);
}

void *mem_array(size_t count, size_t elem_bytes)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, elem_bytes, &bytes))
		return NULL;
	return mem_alloc(bytes);
}

void *mem_zarray(size_t count, size_t elem_bytes)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, elem_bytes, &bytes))
		return NULL;
	return mem_zalloc(bytes);
}

void *mem_realloc_array(void *p, size_t count, size_t elem_bytes)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, elem_bytes, &bytes) || !may_allocate())
		return NULL;
	if (!p && bytes >= LARGE_BYTES)
		return large_alloc(bytes);
	if (bytes < LARGE_BYTES && (!p || malloc_usable_size(p) < LARGE_BYTES))
		return realloc(p, bytes ? bytes : 1);
	return large_realloc(p, bytes);
}

char *mem_strdup(const char *s)
{
	return mem_strndup(s, strlen(s));
}

char *mem_strndup(const char *s, size_t bytes)
{
	char *copy = bytes < SIZE_MAX ? mem_alloc(bytes + 1) : NULL;
	if (!copy)
		return NULL;
	if (bytes)
		memcpy(copy, s, bytes);
	copy[bytes] = '\0';
	return copy;
}

void mem_free(void *p)
{
	size_t bytes = p ? malloc_usable_size(p) : 0;
	if (bytes < LARGE_BYTES || !keep_ready(p, bytes))
		free(p);
}

/* Twice as much is mapped, so that the part of it that is aligned can be kept. */
void *mem_huge_alloc(void)
{
	if (!may_allocate())
		return NULL;
	char *map = mmap(NULL, 2 * MEM_HUGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	size_t before = (MEM_HUGE_BYTES - (uintptr_t)map % MEM_HUGE_BYTES) % MEM_HUGE_BYTES;
	char *p = map + before;
	if (before)
		munmap(map, before);
	munmap(p + MEM_HUGE_BYTES, MEM_HUGE_BYTES - before);
	madvise(p, MEM_HUGE_BYTES, MADV_HUGEPAGE);
	return p;
}

void mem_huge_free(void *p)
{
	if (p)
		munmap(p, MEM_HUGE_BYTES);
}

bool vec_grow(void **data, size_t *cap, size_t need, size_t elem_bytes)
{
	size_t grown = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;
	if (grown < 16)
		grown = 16;
	if (grown < need)
		grown = need;
	void *moved = mem_realloc_array(*data, grown, elem_bytes);
	if (!moved)
		return false;
	*data = moved;
	*cap = grown;
	return true;
}

/* ---- arena ----------------------------------------------------------------- */

struct arena_block {
	struct arena_block *next;
	alignas(16) unsigned char data[];
};

static struct arena_block *block_new(size_t data_bytes)
{
	if (data_bytes > SIZE_MAX - sizeof(struct arena_block))
		return NULL;
	return mem_alloc(sizeof(struct arena_block) + data_bytes);
}

/* A request too large for what is left: its own block, or a new head. */
static void *arena_alloc_slow(struct arena *a, size_t bytes)
{
	size_t head_bytes = a->head ? a->cap_bytes * 2 : ARENA_FIRST_BYTES;
	if (head_bytes > ARENA_LARGEST_BYTES)
		head_bytes = ARENA_LARGEST_BYTES;
	bool has_own_block = bytes > head_bytes / 4;
	struct arena_block *b = block_new(has_own_block ? bytes : head_bytes);
	if (!b)
		return NULL;
	a->total_bytes += bytes;
	if (has_own_block && a->head) {
		b->next = a->head->next;
		a->head->next = b;
		return b->data;
	}
	b->next = a->head;
	a->head = b;
	a->used_bytes = bytes;
	a->cap_bytes = has_own_block ? bytes : head_bytes;
	return b->data;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	if (bytes > SIZE_MAX - ARENA_ALIGN_BYTES)
		return NULL;
	bytes = (bytes + ARENA_ALIGN_BYTES - 1) & ~(ARENA_ALIGN_BYTES - 1);
	if (!a->head || bytes > a->cap_bytes - a->used_bytes)
		return arena_alloc_slow(a, bytes);
	void *p = a->head->data + a->used_bytes;
	a->used_bytes += bytes;
	a->total_bytes += bytes;
	return p;
}

void *arena_zalloc(struct arena *a, size_t bytes)
{
	void *p = arena_alloc(a, bytes);
	return p ? memset(p, 0, bytes) : NULL;
}

void *arena_array(struct arena *a, size_t count, size_t elem_bytes)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, elem_bytes, &bytes))
		return NULL;
	return arena_zalloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t bytes)
{
	char *copy = bytes < SIZE_MAX ? arena_alloc(a, bytes + 1) : NULL;
	if (!copy)
		return NULL;
	if (bytes)
		memcpy(copy, s, bytes);
	copy[bytes] = '\0';
	return copy;
}

void arena_release(struct arena *a)
{
	for (struct arena_block *b = a->head, *next; b; b = next) {
		next = b->next;
		mem_free(b);
	}
	*a = (struct arena){0};
}
