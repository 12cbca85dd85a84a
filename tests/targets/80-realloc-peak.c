/* 80 the peak is reached by realloc, and passed by nothing that realloc does on its way.
 * BUILD: gcc -g -O2 -o 80-realloc-peak 80-realloc-peak.c
 * RUN:   ./80-realloc-peak
 * TRUTH func=base    allocs=1 bytes=3000017 live_blocks=1 live_bytes=3000017
 * TRUTH func=start   allocs=1 bytes=8000009 live_blocks=0 live_bytes=0
 * TRUTH func=grow    allocs=3 bytes=42000039 live_blocks=0 live_bytes=0
 * TRUTH func=shrink  allocs=1 bytes=1000003 live_blocks=0 live_bytes=0
 * TRUTH func=refused allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=later   allocs=1 bytes=14000023 live_blocks=0 live_bytes=0
 * PEAK  exact = 3000017 + 16000013 = 19000030, held by base and grow.  Old and new block are never live together
 * (27 MB and more would be that), a realloc that fails leaves everything as it was, and 17000040 later on is less. */
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
static char *kept, *block;
NI void base(void)
{
	kept = malloc(3000017);
	KEEP(kept);
}
NI void start(void)
{
	block = malloc(8000009);
	KEEP(block);
}
NI void grow(size_t bytes)
{
	block = realloc(block, bytes);
	KEEP(block);
}
NI void refused(void)
{
	if (realloc(block, (size_t)1 << 60) || reallocarray(block, (size_t)1 << 40, 1 << 30))
		exit(1);
	KEEP(block);
}
NI void shrink(void)
{
	block = realloc(block, 1000003);
	KEEP(block);
	free(block);
}
NI void later(void)
{
	block = malloc(14000023);
	KEEP(block);
	free(block);
}
int main(void)
{
	base();
	start();
	grow(12000011);
	refused();
	grow(14000015);
	grow(16000013);
	refused();
	shrink();
	later();
	return 0;
}
