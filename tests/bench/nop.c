/*
 * nop.so - a preload that only passes on: what interposing costs by itself.
 *
 * dlsym may allocate while it looks up the next malloc; these first few blocks
 * come from a small pool that is never given back.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

static char pool[8192] __attribute__((aligned(16)));
static size_t pool_used;
static int is_starting;

static void *pool_take(size_t bytes)
{
	size_t at = pool_used;
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > sizeof pool - at)
		return NULL;
	pool_used += bytes;
	return pool + at;
}

static int is_pool(const void *p)
{
	return (const char *)p >= pool && (const char *)p < pool + sizeof pool;
}

static __attribute__((noinline)) void start(void)
{
	is_starting = 1;
	next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
	next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
	next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
	next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	is_starting = 0;
}

EXPORT void *malloc(size_t n)
{
	if (__builtin_expect(!next_malloc, 0)) {
		if (is_starting)
			return pool_take(n);
		start();
	}
	return next_malloc(n);
}

EXPORT void *calloc(size_t n, size_t m)
{
	if (__builtin_expect(!next_malloc, 0)) {
		if (is_starting)
			return pool_take(n * m);
		start();
	}
	return next_calloc(n, m);
}

EXPORT void *realloc(void *p, size_t n)
{
	if (__builtin_expect(!next_malloc, 0))
		start();
	if (is_pool(p)) {
		void *q = next_malloc(n);
		size_t left = (size_t)(pool + sizeof pool - (char *)p);
		return q ? memcpy(q, p, n < left ? n : left) : NULL;
	}
	return next_realloc(p, n);
}

EXPORT void free(void *p)
{
	if (__builtin_expect(!next_malloc, 0))
		start();
	if (!is_pool(p))
		next_free(p);
}
