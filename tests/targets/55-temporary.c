/* 55 temporary blocks: freed before the same thread allocated anything else.
 * BUILD: gcc -g -O2 -pthread -o 55-temporary 55-temporary.c
 * RUN:   ./55-temporary
 * TRUTH func=at_once     allocs=500 bytes=20500 temporary=500 live_blocks=0
 * TRUTH func=in_pairs    allocs=1000 bytes=43000 temporary=500 live_blocks=0
 * TRUTH func=kept_first  allocs=1500 bytes=47000 temporary=500 live_blocks=0
 * TRUTH func=by_realloc  allocs=1000 bytes=79500 temporary=1000 live_blocks=0 conv=realloc
 * TRUTH func=given_away  allocs=300 bytes=15900 temporary=0 live_blocks=0
 * in_pairs frees the second block of each pair first: that one is temporary, the first is not.
 * kept_first's blocks of 47 bytes are not temporary; a block of 0 bytes in between is.
 * by_realloc grows a block right after it was made and frees it: both were the thread's last.
 * given_away is freed by another thread.
 */
#include <pthread.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static void *given[300];
NI void at_once(void)
{
	for (int i = 0; i < 500; i++) {
		void *p = malloc(41);
		KEEP(p);
		free(p);
	}
}
NI void in_pairs(void)
{
	for (int i = 0; i < 500; i++) {
		void *p = malloc(43), *q;
		KEEP(p);
		q = malloc(43);
		KEEP(q);
		free(q);
		free(p);
	}
}
NI void kept_first(void)
{
	for (int i = 0; i < 500; i++) {
		void *p = malloc(47), *q;
		KEEP(p);
		q = malloc(47);
		KEEP(q);
		free(p);
		p = malloc(0);
		KEEP(p);
		free(p);
		free(q);
	}
}
NI void by_realloc(void)
{
	for (int i = 0; i < 500; i++) {
		void *p = malloc(53);
		KEEP(p);
		p = realloc(p, 106);
		KEEP(p);
		free(p);
	}
}
NI void given_away(void)
{
	for (int i = 0; i < 300; i++) {
		given[i] = malloc(53);
		KEEP(given[i]);
	}
}
static void *other(void *arg)
{
	for (int i = 0; i < 300; i++)
		free(given[i]);
	return arg;
}
int main(void)
{
	pthread_t t;
	at_once();
	in_pairs();
	kept_first();
	by_realloc();
	given_away();
	if (pthread_create(&t, NULL, other, NULL))
		return 2;
	pthread_join(t, NULL);
	return 0;
}
