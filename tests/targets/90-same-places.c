/* 90 two plugins that take turns at one address, called from one place: everything on the stack is the same.
 * BUILD: gcc -g -O2 -o 90-same-places 90-same-places.c -ldl
 * RUN:   ./90-same-places DIR     (with the plugins of 18-dlopen-dlclose)
 * TRUTH func=plugin_one_leak allocs=640 bytes=645760 live_blocks=640 live_bytes=645760
 * TRUTH func=plugin_two_leak allocs=320 bytes=640960 live_blocks=320 live_bytes=640960
 * Exit status 77 if the address is not used again.  Return addresses, stack pointers and the values of all slots
 * are those of the plugin before; only that it was unloaded tells its frames from the other's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))
NI static void *use(const char *dir, const char *file, const char *name)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, file);
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!h)
		exit(2);
	void (*f)(void) = (void (*)(void))dlsym(h, name);
	f();
	dlclose(h);
	return (void *)f;
}
int main(int argc, char **argv)
{
	static const char *const plugins[2][2] = {{"plug18a.so", "plugin_one_leak"},
						  {"plug18b.so", "plugin_two_leak"}};
	void *at[2] = {NULL, NULL};
	for (int i = 0; i < 20; i++)
		at[i & 1] = use(argc > 1 ? argv[1] : ".", plugins[i & 1][0], plugins[i & 1][1]);
	return at[0] == at[1] ? 0 : 77;
}
