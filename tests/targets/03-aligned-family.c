/* 03 aligned allocation family must all be tracked, and freed by free().
 * BUILD: gcc -g -O2 -o 03-aligned-family 03-aligned-family.c
 * RUN:   ./03-aligned-family
 * TRUTH func=use_posix_memalign allocs=10 bytes=10010 live_blocks=5 live_bytes=5005
 * TRUTH func=use_aligned_alloc  allocs=10 bytes=20480 live_blocks=5 live_bytes=10240
 * TRUTH func=use_memalign       allocs=10 bytes=30030 live_blocks=5 live_bytes=15015
 * TRUTH func=use_valloc         allocs=10 bytes=40010 live_blocks=5 live_bytes=20005
 * TRUTH func=use_pvalloc        allocs=10 bytes=50030 live_blocks=5 live_bytes=25015 note=pvalloc-rounds-up
 * Sizes are REQUESTED sizes; a tool may additionally report 8192 (rounded) for pvalloc(5003):
 *   then bytes=81920 live=40960; it must be one or the other consistently (alloc and free equal).
 * The program checks alignment itself (exit 1 if the collector broke it).
 * (Valgrind 3.19 itself does not replace pvalloc: DHAT shows 0 for use_pvalloc - the very bug class tested here.)
 * BUG: koute/bytehound#70 (memalign panic), koute/bytehound#78 (aligned_alloc panic),
 *      bloomberg/memray#78, gperftools/gperftools#909 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
void *keep[64];
int nk, bad;
static void sort_out(void *p, int i, uintptr_t al)
{
	if (!p || ((uintptr_t)p % al))
		bad = 1;
	KEEP(p);
	if (i & 1)
		keep[nk++] = p;
	else
		free(p);
}
NI void use_posix_memalign(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = NULL;
		if (posix_memalign(&p, 256, 1001))
			bad = 1;
		sort_out(p, i, 256);
	}
}
NI void use_aligned_alloc(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = aligned_alloc(512, 2048);
		sort_out(p, i, 512);
	}
}
NI void use_memalign(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = memalign(1024, 3003);
		sort_out(p, i, 1024);
	}
}
NI void use_valloc(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = valloc(4001);
		sort_out(p, i, 4096);
	}
}
NI void use_pvalloc(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = pvalloc(5003);
		sort_out(p, i, 4096);
	}
}
int main(void)
{
	use_posix_memalign();
	use_aligned_alloc();
	use_memalign();
	use_valloc();
	use_pvalloc();
	return bad || nk != 25;
}
