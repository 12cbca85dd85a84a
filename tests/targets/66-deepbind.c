/* 66 a plugin with RTLD_DEEPBIND calls the allocator past the profiler.
 * BUILD: gcc -g -O2 -shared -fPIC -DLIBRARY -o lib66deep.so 66-deepbind.c
 *        gcc -g -O2 -o 66-deepbind 66-deepbind.c -ldl
 * RUN:   ./66-deepbind DIRECTORY   (of lib66deep.so)
 * TRUTH func=in_program allocs=2000 bytes=302000 live_blocks=0 live_bytes=0
 * The plugin's 100 blocks are freed by the program: frees of unknown blocks.  1000 of the program's blocks are
 * freed by the plugin, unseen; their addresses are given to the program again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifdef LIBRARY
void *plugin_make(size_t bytes)
{
	void *p = malloc(bytes);
	KEEP(p);
	return p;
}
void plugin_drop(void *p)
{
	free(p);
	KEEP(p);
}
#else
static void *blocks[1000];
NI void in_program(int i)
{
	blocks[i] = malloc(151);
	KEEP(i);
}
int main(int argc, char **argv)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/lib66deep.so", argc > 1 ? argv[1] : ".");
	void *h = dlopen(path, RTLD_NOW | RTLD_DEEPBIND);
	if (!h)
		return 2;
	void *(*make)(size_t) = (void *(*)(size_t))dlsym(h, "plugin_make");
	void (*drop)(void *) = (void (*)(void *))dlsym(h, "plugin_drop");
	for (int i = 0; i < 100; i++)
		free(make(163));
	for (int i = 0; i < 1000; i++)
		in_program(i);
	for (int i = 0; i < 1000; i++)
		drop(blocks[i]);
	for (int i = 0; i < 1000; i++)
		in_program(i);
	for (int i = 0; i < 1000; i++)
		free(blocks[i]);
	return 0;
}
#endif
