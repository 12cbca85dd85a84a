/* 85 threads that are cancelled asynchronously while malloc, free and the profiler inside them run.
 * BUILD: gcc -g -O2 -pthread -o 85-cancelled 85-cancelled.c -L. -l61safe -Wl,-rpath,'$ORIGIN'
 * RUN:   ./85-cancelled
 * TRUTH func=in_destructor allocs=300 bytes=45300 live_blocks=0 live_bytes=0
 * TRUTH func=after allocs=2000 bytes=314000 live_blocks=1000 live_bytes=157000
 * INCLUSIVE func=deeper allocs=1000
 * The allocator is that of 61, which blocks every signal, the one that cancels too, so that the program may do so.  Each of
 * 300 threads allocates without end until it is cancelled at whatever instruction it is; the destructor of a key and a cleanup
 * handler allocate then.  What is allocated afterwards is counted as ever, and no thread waits for what was left behind. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#define THREADS 300
static pthread_key_t key;
static volatile int is_running;
static void *kept[1000];
NI void in_loop(int i)
{
	void *p = malloc((size_t)(20 + i % 50)), *q = malloc(200);
	KEEP(p);
	KEEP(q);
	free(p);
	free(q);
}
NI void deep(int i, int depth)
{
	if (depth)
		deep(i, depth - 1);
	else
		in_loop(i);
	__asm__ volatile("");
}
NI void in_destructor(void *arg)
{
	void *p = malloc(151);
	KEEP(p);
	free(p);
	KEEP(arg);
}
static void *run(void *arg)
{
	int old;
	pthread_setspecific(key, arg);
	is_running = 1;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	for (int i = 0;; i++)
		deep(i, i % 30);
	return arg;
}
NI void after(int i)
{
	void *p = malloc(157);
	KEEP(p);
	if (i % 2)
		free(p);
	else
		kept[i / 2] = p;
}
NI void deeper(int i)
{
	after(i);
	__asm__ volatile("");
}
int main(void)
{
	pthread_key_create(&key, in_destructor);
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;
		void *result;
		is_running = 0;
		if (pthread_create(&t, NULL, run, &key))
			return 77;
		while (!is_running)
			sched_yield();
		struct timespec nap = {0, 1000 * (i * 37 % 400)};
		nanosleep(&nap, NULL);
		pthread_cancel(t);
		pthread_join(t, &result);
		if (result != PTHREAD_CANCELED)
			return 1;
	}
	for (int i = 0; i < 2000; i++)
		if (i < 1000)
			after(i);
		else
			deeper(i);
	return 0;
}
