/* 76 code made at run time gives its place to a library, which has a call at the very same address.
 * BUILD: gcc -g -O2 -shared -fPIC -fomit-frame-pointer -DLIBRARY -o lib76late.so 76-made-then-loaded.c
 *        gcc -g -O2 -o 76-made-then-loaded 76-made-then-loaded.c -ldl
 * RUN:   ./76-made-then-loaded DIRECTORY   (of lib76late.so)
 * TRUTH func=in_leaf allocs=302 bytes=49830 live_blocks=0 live_bytes=0
 * INCLUSIVE func=library_call allocs=200 bytes=33000
 * INCLUSIVE func=call         allocs=300 bytes=49500
 * The library calls in_leaf() 100 times and is unloaded; code with a frame pointer and without unwind information is
 * put where it was, and calls 100 times from the same address; then the library comes back.  Each time it allocates
 * at another place first, which is what tells that it is there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifdef LIBRARY
NI void library_call(void (*f)(void))
{
	char room[72];
	char *p = room;
	KEEP(p);
	f();
	KEEP(p);
}
NI void library_begin(void (*f)(void))
{
	f();
	__asm__ volatile("");
}
#else
static uint8_t *called_from;
NI void in_leaf(void)
{
	called_from = __builtin_return_address(0);
	void *p = malloc(165);
	KEEP(p);
	free(p);
	KEEP(p);
}
NI void call(void (*f)(void (*)(void)))
{
	for (int i = 0; i < 100; i++) {
		f(in_leaf);
		KEEP(i);
	}
}
static void *load(const char *path, void (**f)(void (*)(void)))
{
	void *h = dlopen(path, RTLD_NOW);
	if (!h)
		exit(2);
	((void (*)(void (*)(void)))dlsym(h, "library_begin"))(in_leaf);
	*f = (void (*)(void (*)(void)))dlsym(h, "library_call");
	return h;
}
int main(int argc, char **argv)
{
	char path[4096];
	void (*f)(void (*)(void)), (*again)(void (*)(void));
	snprintf(path, sizeof path, "%s/lib76late.so", argc > 1 ? argv[1] : ".");
	void *h = load(path, &f);
	call(f);
	dlclose(h);
	/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
	const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	uint8_t *start = called_from - 6, *page = (uint8_t *)((uintptr_t)start & ~4095ul);
	if (mmap(page, 8192, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page)
		return 77;
	memcpy(start, code, sizeof code);
	mprotect(page, 8192, PROT_READ | PROT_EXEC);
	uint8_t *made_at = called_from;
	call((void (*)(void (*)(void)))start);
	munmap(page, 8192);
	h = load(path, &again);
	call(again);
	return again == f && called_from == made_at ? 0 : 77;
}
#endif
