/* 82 destructors of thread-specific keys that allocate and set their key again, to the last round there is.
 * BUILD: gcc -g -O2 -pthread -o 82-late-keys 82-late-keys.c
 * RUN:   ./82-late-keys
 * TRUTH func=in_thread     allocs=240 bytes=24240 live_blocks=0 live_bytes=0
 * TRUTH func=in_destructor allocs=1920 bytes=211200 live_blocks=960 live_bytes=105600
 * TRUTH func=last_of_all   allocs=240 bytes=25680 live_blocks=240 live_bytes=25680
 * INCLUSIVE func=deeper    allocs=1920 bytes=211200
 * 240 threads, 8 at a time, with 2 keys whose destructors run in each of the 4 rounds that POSIX grants here.  Each thread
 * is one thread of the profile: with main 241. */
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static pthread_key_t keys[2];
NI void in_destructor(void)
{
	void *p = malloc(110), *q = 0;
	KEEP(p);
	KEEP(q);
	if (((unsigned long)pthread_getspecific(keys[1]) & 1) == 0)
		free(p);
}
NI void deeper(int depth)
{
	if (depth)
		deeper(depth - 1);
	else
		in_destructor();
	KEEP(depth);
}
NI void last_of_all(void)
{
	void *p = malloc(107);
	KEEP(p);
}
static void again(pthread_key_t key, unsigned long round)
{
	pthread_setspecific(keys[1], (void *)round); /* what in_destructor looks at */
	deeper((int)round);
	if (key == keys[0])
		pthread_setspecific(keys[1], (void *)round);
	if (key == keys[1] && round == PTHREAD_DESTRUCTOR_ITERATIONS)
		last_of_all();
	pthread_setspecific(key, (void *)(round + 1));
}
static void first(void *round)
{
	again(keys[0], (unsigned long)round);
}
static void second(void *round)
{
	again(keys[1], (unsigned long)round);
}
NI void *in_thread(void *arg)
{
	void *p = malloc(101);
	KEEP(p);
	free(p);
	pthread_setspecific(keys[0], (void *)1);
	pthread_setspecific(keys[1], (void *)1);
	return arg;
}
int main(void)
{
	pthread_t t[8];
	if (pthread_key_create(&keys[0], first) || pthread_key_create(&keys[1], second))
		return 1;
	for (int i = 0; i < 30; i++) {
		for (int k = 0; k < 8; k++)
			if (pthread_create(&t[k], NULL, in_thread, NULL))
				return 2;
		for (int k = 0; k < 8; k++)
			pthread_join(t[k], NULL);
	}
	return 0;
}
