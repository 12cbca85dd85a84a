/* 78 no descriptor may be opened any more when threads and coroutines first allocate.
 * BUILD: gcc -g -O2 -pthread -o 78-no-descriptors 78-no-descriptors.c
 * RUN:   ./78-no-descriptors
 * TRUTH func=in_leaf allocs=6000 bytes=1086000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=run_thread    allocs=4000 bytes=724000
 * INCLUSIVE func=run_coroutine allocs=1000 bytes=181000
 * INCLUSIVE func=run_many      allocs=6000 bytes=1086000
 * 20 threads allocate 200 times from 0 to 49 frames further in, then main 1000 times, then a coroutine 1000 times from not more than
 * 3 frames, whose stack nobody knows the bounds of.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <ucontext.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static ucontext_t scheduler, coroutine;
NI void in_leaf(void)
{
	void *p = malloc(181);
	KEEP(p);
	free(p);
	KEEP(p);
}
NI void deeper(int depth)
{
	if (depth)
		deeper(depth - 1);
	else
		in_leaf();
	KEEP(depth);
}
NI void run_many(int count, int most)
{
	for (int i = 0; i < count; i++) {
		deeper(i % most);
		KEEP(i);
	}
}
static void *run_thread(void *arg)
{
	run_many(200, 50);
	KEEP(arg);
	return arg;
}
static void run_coroutine(void)
{
	run_many(1000, 3);
	__asm__ volatile("");
}
int main(void)
{
	static char stack[256 << 10] __attribute__((aligned(4096)));
	struct rlimit none;
	pthread_t t[20];
	getrlimit(RLIMIT_NOFILE, &none);
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	for (int i = 0; i < 20; i++)
		if (pthread_create(&t[i], NULL, run_thread, NULL))
			return 2;
	for (int i = 0; i < 20; i++)
		pthread_join(t[i], NULL);
	run_many(1000, 50);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof stack;
	coroutine.uc_link = &scheduler;
	makecontext(&coroutine, run_coroutine, 0);
	swapcontext(&scheduler, &coroutine);
	return 0;
}
