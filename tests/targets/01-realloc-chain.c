/* 01 realloc chain: memory "not freed" because it was moved or freed by realloc.
 * BUILD: gcc -g -O2 -o 01-realloc-chain 01-realloc-chain.c
 * RUN:   ./01-realloc-chain
 * TRUTH (realloc = free(old)+alloc(new) charged to the realloc call site)
 * TRUTH func=grow_chain    allocs=4 bytes=15022 live_blocks=0 live_bytes=0 conv=realloc
 * TRUTH func=shrink_keep   allocs=2 bytes=50522 live_blocks=1 live_bytes=501 conv=realloc
 * TRUTH func=alloc_origin  allocs=1 bytes=709   live_blocks=0 live_bytes=0 conv=realloc
 * TRUTH func=realloc_owner allocs=1 bytes=1409  live_blocks=1 live_bytes=1409 conv=realloc
 * Convention note: Valgrind DHAT keeps a realloc'ed block on its ORIGINAL site (alloc_origin 1409 live, realloc_owner 0).
 *   Either convention is acceptable if documented, but the 1409 bytes must appear exactly once, never in both or neither.
 * PEAK  50021 app bytes (the block before shrinking). Live at end 1910 bytes in 2 blocks.
 * WRONG ANSWERS SEEN: a 1009-byte "leak" in grow_chain; 709 still live in alloc_origin.
 * BUG: jemalloc/jemalloc#499, jemalloc/jemalloc#557, JuliaLang/julia#51027, emscripten#6223 */
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
void *g1, *g2;
NI void grow_chain(void)
{
	char *p = malloc(1009);
	KEEP(p);
	p = realloc(p, 2003);
	KEEP(p);
	p = realloc(p, 4001);
	KEEP(p);
	p = realloc(p, 8009);
	KEEP(p);
	free(p);
	KEEP(p);
}
NI void shrink_keep(void)
{
	char *p = malloc(50021);
	KEEP(p);
	p = realloc(p, 501);
	KEEP(p);
	g1 = p;
}
NI void *alloc_origin(void)
{
	void *p = malloc(709);
	KEEP(p);
	return p;
}
NI void realloc_owner(void *p)
{
	p = realloc(p, 1409);
	KEEP(p);
	g2 = p;
}
int main(void)
{
	grow_chain();
	shrink_keep();
	realloc_owner(alloc_origin());
	return !(g1 && g2);
}
