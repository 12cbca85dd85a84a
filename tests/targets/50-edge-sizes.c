/* 50 sizes and results at the edges: zero, huge, failing.
 * BUILD: gcc -g -O2 -o 50-edge-sizes 50-edge-sizes.c
 * RUN:   ./50-edge-sizes
 * TRUTH func=zero_sizes   allocs=30 bytes=0 live_blocks=10 live_bytes=0
 * TRUTH func=realloc_zero allocs=10 bytes=5010 live_blocks=0 live_bytes=0 conv=realloc
 * TRUTH func=failing      allocs=10 bytes=6070 live_blocks=10 live_bytes=6070 conv=realloc
 * TRUTH func=never        allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=huge         allocs=3 bytes=18000000021 live_blocks=1 live_bytes=6000000007
 * TRUTH func=exactly_4g   allocs=3 bytes=12884901885 live_blocks=0 live_bytes=0
 * Sizes above 32 bits need overcommit; the program exits 77 where the system refuses them.
 * In failing(), realloc to an impossible size fails and the 607-byte blocks stay where they are.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
void *kept[64];
int kept_count;
static size_t too_much = PTRDIFF_MAX;
NI void zero_sizes(void)
{
	for (int i = 0; i < 10; i++) {
		void *a = malloc(0), *b = calloc(0, 8), *c = realloc(NULL, 0);
		KEEP(a);
		KEEP(b);
		KEEP(c);
		free(a);
		free(b);
		kept[kept_count++] = c;
	}
}
NI void realloc_zero(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = malloc(501);
		KEEP(p);
		p = realloc(p, 0);
		KEEP(p);
	}
}
NI void failing(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = malloc(607);
		KEEP(p);
		void *q = realloc(p, too_much);
		KEEP(q);
		q = q ? q : reallocarray(p, too_much, 4);
		KEEP(q);
		kept[kept_count++] = p;
	}
}
NI int never(void)
{
	void *p = malloc(too_much), *q = calloc(too_much, 16), *r = NULL;
	KEEP(p);
	KEEP(q);
	int a = posix_memalign(&r, 24, 100), b = posix_memalign(&r, 64, too_much);
	void *s = memalign(64, too_much);
	KEEP(s);
	return p || q || r || s || !a || !b;
}
NI int huge(void)
{
	for (int i = 0; i < 3; i++) {
		void *p = malloc(6000000007);
		KEEP(p);
		if (!p)
			return 1;
		if (i)
			free(p);
		else
			kept[kept_count++] = p;
	}
	return 0;
}
NI int exactly_4g(void)
{
	for (int i = 0; i < 3; i++) {
		void *p = malloc(4294967294 + (size_t)i); /* around UINT32_MAX */
		KEEP(p);
		if (!p)
			return 1;
		free(p);
	}
	return 0;
}
int main(void)
{
	zero_sizes();
	realloc_zero();
	failing();
	if (never())
		return 1;
	return huge() || exactly_4g() ? 77 : 0;
}
