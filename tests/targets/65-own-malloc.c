/* 65 a program that defines malloc itself: nothing of it can be seen, and neap says so.
 * BUILD: gcc -g -O2 -o 65-own-malloc 65-own-malloc.c
 *        gcc -g -O2 -DWRAPPER -o 65-wrapped-malloc 65-own-malloc.c -ldl
 * RUN:   ./65-own-malloc
 * The second program's malloc passes on to the next one (RTLD_NEXT), so its 100 blocks of 109 bytes in
 * in_main are seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifdef WRAPPER
void *malloc(size_t bytes)
{
	static void *(*next)(size_t);
	if (!next)
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	void *p = next(bytes);
	KEEP(p);
	return p;
}
#else
static char pool[1 << 20] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t bytes)
{
	void *p = pool + used;
	used += (bytes + 15) & ~(size_t)15;
	return used <= sizeof pool ? p : NULL;
}
void free(void *p)
{
	KEEP(p);
}
void *calloc(size_t count, size_t bytes)
{
	return malloc(count * bytes);
}
void *realloc(void *p, size_t bytes)
{
	void *q = malloc(bytes);
	return p && q ? memcpy(q, p, bytes) : q;
}
#endif
NI void in_main(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(109);
		KEEP(p);
	}
}
int main(void)
{
	in_main();
	return 0;
}
