/* 68 threads on the smallest stacks, and thread-local storage of a library that is loaded later.
 * BUILD: gcc -g -O2 -shared -fPIC -DLIBRARY -o lib68tls.so 68-small-threads.c
 *        gcc -g -O2 -pthread -o 68-small-threads 68-small-threads.c -ldl
 * RUN:   ./68-small-threads DIRECTORY   (of lib68tls.so)
 * TRUTH func=in_thread allocs=6000 bytes=762000 live_blocks=2000 live_bytes=254000
 * TRUTH func=in_key_destructor allocs=2000 bytes=262000 live_blocks=0 live_bytes=0
 * TRUTH func=in_late_destructor allocs=8000 bytes=1096000 live_blocks=0 live_bytes=0
 * 2000 threads with stacks of 16 KiB, 20 at a time.  Each allocates 3 blocks of 127 bytes: one it frees, one is
 * freed by the main thread after its end, one is kept.  One destructor allocates once, another comes back in
 * every one of the four rounds.  Each thread touches 40 KiB of thread-local storage of a library loaded by
 * dlopen, which ld.so allocates at that moment and frees when the thread ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifdef LIBRARY
static __thread char large[40 << 10];
int library_touch(int n)
{
	large[n] = 1;
	char *p = large;
	KEEP(p);
	return p[n];
}
#else
#define COUNT 2000
#define WIDTH 20
static pthread_key_t key, late_key;
static int (*touch)(int);
static void *kept[COUNT + 1], *for_main[COUNT + 1];
static int failures;
NI void *in_thread(void)
{
	void *p = malloc(127);
	KEEP(p);
	return p;
}
NI void in_key_destructor(void *arg)
{
	void *p = malloc(131);
	KEEP(p);
	free(p);
	KEEP(arg);
}
NI void in_late_destructor(void *arg)
{
	void *p = malloc(137);
	KEEP(p);
	free(p);
	pthread_setspecific(late_key, arg);
	KEEP(arg);
}
static void *run(void *arg)
{
	int n = (int)(long)arg;
	pthread_setspecific(key, arg);
	pthread_setspecific(late_key, arg);
	if (touch(n) != 1)
		failures++;
	void *own = in_thread();
	for_main[n] = in_thread();
	kept[n] = in_thread();
	free(own);
	return NULL;
}
int main(int argc, char **argv)
{
	char path[4096];
	pthread_attr_t attr;
	pthread_t t[WIDTH];
	snprintf(path, sizeof path, "%s/lib68tls.so", argc > 1 ? argv[1] : ".");
	void *h = dlopen(path, RTLD_NOW);
	touch = h ? (int (*)(int))dlsym(h, "library_touch") : NULL;
	if (!touch)
		return 2;
	pthread_key_create(&key, in_key_destructor);
	pthread_key_create(&late_key, in_late_destructor);
	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN))
		return 3;
	for (long i = 0; i < COUNT; i += WIDTH) {
		for (long k = 0; k < WIDTH; k++)
			if (pthread_create(&t[k], &attr, run, (void *)(i + k + 1)))
				return 4;
		for (long k = 0; k < WIDTH; k++)
			pthread_join(t[k], NULL);
	}
	for (int i = 1; i <= COUNT; i++)
		free(for_main[i]);
	return failures;
}
#endif
