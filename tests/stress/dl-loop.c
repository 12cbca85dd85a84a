/* Threads that load a plugin, call it and unload it, again and again.
 * RUN: ./dl-loop DIRECTORY    (of plug18a.so and plug18b.so)
 * TRUTH func=plugin_one_leak allocs=25600 bytes=25830400 live_blocks=25600 live_bytes=25830400
 * TRUTH func=plugin_two_leak allocs=12800 bytes=25638400 live_blocks=12800 live_bytes=25638400
 * TRUTH func=in_other_thread allocs=300000 bytes=33000000 live_blocks=0 live_bytes=0
 * 2 threads x 200 rounds with each plugin (64 x 1009 and 32 x 2003 bytes a call), while a third
 * thread allocates.  A plugin is unloaded only when neither thread uses it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
#define ROUNDS  200

static char paths[2][4096];

NI static void use(const char *path, const char *name)
{
	void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*f)(void) = h ? (void (*)(void))dlsym(h, name) : NULL;
	if (!f) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	f();
	KEEP(h);
	dlclose(h);
}

static void *load(void *arg)
{
	(void)arg;
	for (int i = 0; i < ROUNDS; i++) {
		use(paths[0], "plugin_one_leak");
		use(paths[1], "plugin_two_leak");
	}
	return NULL;
}

NI static void in_other_thread(void)
{
	void *p = malloc(110);
	KEEP(p);
	free(p);
	KEEP(p);
}

static void *allocate(void *arg)
{
	(void)arg;
	for (int i = 0; i < 300000; i++)
		in_other_thread();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	const char *dir = argc > 1 ? argv[1] : ".";
	snprintf(paths[0], sizeof paths[0], "%s/plug18a.so", dir);
	snprintf(paths[1], sizeof paths[1], "%s/plug18b.so", dir);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, i < 2 ? load : allocate, NULL))
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
