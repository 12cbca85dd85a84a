/* 74 16384 distinct call paths of equal depth, twice over, and from another thread.
 * BUILD: gcc -g -O2 -pthread -o 74-same-depth 74-same-depth.c
 * RUN:   ./74-same-depth
 * TRUTH func=at_end allocs=49152 bytes=7520256 live_blocks=16384 live_bytes=2506752
 * INCLUSIVE func=left  allocs=49149
 * INCLUSIVE func=right allocs=49149
 * Each of 14 levels goes through left() or right(): every combination once per round.  The 16384 blocks of the first
 * round stay.  Every path but all-left and all-right holds both.
 */
#include <pthread.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static __thread int round_now;
NI void at_end(void)
{
	void *p = malloc(153);
	KEEP(p);
	if (round_now)
		free(p);
	KEEP(p);
}
static void both(int depth, unsigned path);
NI void left(int depth, unsigned path)
{
	both(depth, path);
	__asm__ volatile("");
}
NI void right(int depth, unsigned path)
{
	both(depth, path);
	__asm__ volatile("");
}
NI static void both(int depth, unsigned path)
{
	if (!depth)
		at_end();
	else if (path & 1)
		right(depth - 1, path >> 1);
	else
		left(depth - 1, path >> 1);
	__asm__ volatile("");
}
static void *one_round(void *arg)
{
	round_now = (int)(long)arg;
	for (unsigned path = 0; path < 16384; path++)
		both(14, path);
	return NULL;
}
int main(void)
{
	pthread_t t;
	one_round(NULL);
	one_round((void *)1);
	if (pthread_create(&t, NULL, one_round, (void *)2) || pthread_join(t, NULL))
		return 2;
	return 0;
}
