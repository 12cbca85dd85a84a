/* 52 frames of every build: realigned stacks, variable frames, alloca, callbacks through libc, deep recursion.
 * BUILD: gcc -g -O2 -o 52-frames 52-frames.c
 * RUN:   ./52-frames
 * TRUTH func=in_leaf allocs=5000 bytes=1285000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=realigned  allocs=1000 bytes=257000
 * INCLUSIVE func=variable   allocs=1000 bytes=257000
 * INCLUSIVE func=both       allocs=1000 bytes=257000
 * INCLUSIVE func=by_qsort   allocs=1000 bytes=257000
 * INCLUSIVE func=frameless  allocs=1000 bytes=257000
 * TRUTH func=deep allocs=6000 bytes=618000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=deep allocs=6000 bytes=618000
 * deep() allocates on the way down 3000 frames of recursion and again on the way up.
 */
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
NI void in_leaf(void)
{
	void *p = malloc(257);
	KEEP(p);
	free(p);
	KEEP(p);
}
NI void realigned(int i)
{
	char wide[128] __attribute__((aligned(64)));
	char *p = wide;
	wide[i % 128] = 1;
	KEEP(p);
	if ((uintptr_t)p % 64)
		abort();
	in_leaf();
	KEEP(p);
}
NI void variable(int i)
{
	char *p = alloca((size_t)(16 + i % 700));
	*p = 1;
	KEEP(p);
	in_leaf();
	KEEP(p);
}
NI void both(int i)
{
	char wide[64] __attribute__((aligned(32)));
	char *q = wide, *p = alloca((size_t)(16 + i % 700));
	*p = *q = 1;
	KEEP(p);
	KEEP(q);
	in_leaf();
	KEEP(p);
	KEEP(q);
}
static int calls;
NI int by_qsort(const void *a, const void *b)
{
	if (calls++ < 1000)
		in_leaf();
	return *(const int *)a - *(const int *)b;
}
__attribute__((noinline, noclone, optimize("omit-frame-pointer"))) void frameless(int i)
{
	in_leaf();
	KEEP(i);
}
NI void deep(int n)
{
	void *p = malloc(103);
	KEEP(p);
	if (n > 1)
		deep(n - 1);
	free(p);
	p = malloc(103);
	KEEP(p);
	free(p);
	KEEP(p);
}
int main(void)
{
	int numbers[1000];
	for (int i = 0; i < 1000; i++) {
		realigned(i);
		variable(i);
		both(i);
		frameless(i);
		numbers[i] = i * 7919 % 1000;
	}
	qsort(numbers, 1000, sizeof numbers[0], by_qsort);
	deep(3000);
	return calls < 1000;
}
