/* 86 huge pages: asked for one by one, made by the kernel of a heap that wants them, and given back.
 * BUILD: gcc -g -O2 -o 86-huge-pages 86-huge-pages.c
 * RUN:   ./86-huge-pages [explicit]          (recorded with --mmap)
 * TRUTH func=advised allocs=6 bytes=50331648 live_blocks=2 live_bytes=16777216
 * TRUTH func=small   allocs=20000 bytes=2180000 live_blocks=10000 live_bytes=1090000
 * TRUTH func=aligned allocs=3 bytes=12582912 live_blocks=1 live_bytes=4194304
 * With "explicit" also explicit: allocs=3 bytes=13631488 live_blocks=2 live_bytes=8388608, from the pool of huge pages of the
 * system; it ends with 77 where that is empty.  A mapping of 3 MiB has the bytes that were asked for, and dies when its 4 MiB
 * are given back. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
#define MIB     1048576ul
static void *kept[10000];
#define MAP(bytes, flags) \
	mmap(NULL, (bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (flags), -1, 0)
NI void advised(void)
{
	for (int i = 0; i < 6; i++) {
		char *p = MAP(8 * MIB, 0);
		madvise(p, 8 * MIB, MADV_HUGEPAGE);
		memset(p, i, 8 * MIB);
		madvise(p + 2 * MIB, 3 * MIB + 4096, MADV_DONTNEED);
		if (i > 1)
			munmap(p, 8 * MIB);
	}
}
NI void small(int i)
{
	void *p = malloc(109);
	KEEP(p);
	if (i % 2)
		free(p);
	else
		kept[i / 2] = p;
}
NI void aligned(void)
{
	for (int i = 0; i < 3; i++) {
		char *p = aligned_alloc(2 * MIB, 4 * MIB);
		madvise(p, 4 * MIB, MADV_HUGEPAGE);
		memset(p, 1, 4 * MIB);
		if (i)
			free(p);
	}
}
NI int explicit(void)
{
	char *a = MAP(3 * MIB, MAP_HUGETLB), *b = MAP(4 * MIB, MAP_HUGETLB);
	if (a == MAP_FAILED || b == MAP_FAILED)
		return 77;
	a[0] = b[4 * MIB - 1] = 1;
	if (munmap(a, 4 * MIB))
		return 1;
	char *c = MAP(6 * MIB, MAP_HUGETLB);
	if (c == MAP_FAILED)
		return 77;
	c[0] = 1;
	if (munmap(c + 4 * MIB, 4096) ==
	    0) /* less than a page of it: refused, and nothing has happened */
		return 2;
	return munmap(c, 2 * MIB) ? 3 : munmap(c + 5 * MIB, 0) == 0;
}
int main(int argc, char **argv)
{
	(void)argv;
	advised();
	for (int i = 0; i < 20000; i++)
		small(i);
	/* What lies around the blocks of the heap becomes huge pages. */
	madvise((void *)((unsigned long)kept[0] & ~(2 * MIB - 1)), 4 * MIB, MADV_HUGEPAGE);
	aligned();
	return argc > 1 ? explicit() : 0;
}
