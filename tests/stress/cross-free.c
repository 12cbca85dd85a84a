/* 64 threads allocate; each block travels to another thread, which frees it.
 * RUN: ./cross-free
 * TRUTH func=produce allocs=640000 bytes=340160000 live_blocks=6400 live_bytes=3401600
 * TRUTH func=regrow allocs=6400 bytes=5379200 live_blocks=0 live_bytes=0 conv=realloc
 * Thread t allocates 10000 blocks of 500 + t bytes and puts each into a slot shared by all;
 * whatever was in the slot is freed by whoever finds it there.  Every 100th block is kept
 * for good; for every second one of these a block of 681 bytes, grown to 1000, takes its way.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
#define THREADS 64
#define PER     10000
#define SLOTS   997

static _Atomic(void *) slots[SLOTS];
static void *kept[THREADS][PER / 100];

NI static void *produce(int thread)
{
	void *p = malloc((size_t)(500 + thread));
	KEEP(p);
	return p;
}

NI static void *regrow(void)
{
	void *p = malloc(681);
	KEEP(p);
	p = realloc(p, 1000);
	KEEP(p);
	return p;
}

static void *run(void *arg)
{
	int thread = (int)(intptr_t)arg;
	uint32_t random = (uint32_t)thread * 2654435761u + 1;
	for (int i = 0; i < PER; i++) {
		void *p = produce(thread);
		random = random * 1664525u + 1013904223u;
		if (i % 100 == 0) {
			kept[thread][i / 100] = p;
			p = i % 200 == 0 ? regrow() : NULL;
		}
		free(atomic_exchange(&slots[(random >> 8) % SLOTS], p));
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, run, (void *)(intptr_t)i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		free(slots[i]);
	return 0;
}
