/* 63 recursion deeper than a stack is kept.
 * BUILD: gcc -g -O2 -o 63-very-deep 63-very-deep.c
 * RUN:   ./63-very-deep
 * TRUTH func=leaf allocs=3000 bytes=303000 live_blocks=0 live_bytes=0
 * TRUTH func=[total] allocs=3000 bytes=303000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=deepest allocs=1000 bytes=101000
 * 40000 frames of three functions that call each other without a pattern; leaf() runs at depths 8000, 20000 and 40000.
 * What is cut off at the outer end is counted as cut; blocks and bytes are all there.
 */
#include <stdint.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
NI void leaf(void)
{
	void *p = malloc(101);
	KEEP(p);
	free(p);
	KEEP(p);
}
NI void leaves(void)
{
	for (int i = 0; i < 1000; i++)
		leaf();
	__asm__ volatile("");
}
NI void deepest(void)
{
	leaves();
	__asm__ volatile("");
}
static void red(int n, uint32_t random), green(int n, uint32_t random),
	blue(int n, uint32_t random);
static void go(int n, uint32_t random)
{
	static void (*const next[4])(int, uint32_t) = {red, green, blue, red};
	if (n == 8000 || n == 20000)
		leaves();
	if (n == 40000) {
		deepest();
		return;
	}
	next[random >> 30](n + 1, random * 1664525u + 1013904223u);
}
#define COLOUR(name)                                \
	NI static void name(int n, uint32_t random) \
	{                                           \
		go(n, random);                      \
		KEEP(n);                            \
	}
COLOUR(red)
COLOUR(green)
COLOUR(blue)
int main(void)
{
	red(1, 77);
	return 0;
}
