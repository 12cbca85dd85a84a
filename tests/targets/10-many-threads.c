/* 10 2000 short-lived threads; blocks freed by another thread after the owner has exited.
 * BUILD: gcc -g -O2 -pthread -o 10-many-threads 10-many-threads.c
 * RUN:   ./10-many-threads
 * TRUTH func=worker_alloc allocs=6000 bytes=4398000 live_blocks=2000 live_bytes=1466000
 * Each thread allocates 3 x 733: frees one itself, main frees one after join, one leaks.
 * Live must not go negative, must not depend on thread ids being reused; no per-thread file/fd leak:
 * the collector must survive 2000 thread exits with bounded memory.
 * BUG: bytehound#93, memtt/malt#142, jemalloc#2681 (tdata destroy), llvm-project#159499 */
#include <pthread.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
void *leak[2000];
NI void *worker_alloc(void)
{
	void *p = malloc(733);
	KEEP(p);
	return p;
}
static void *run(void *a)
{
	void *x = worker_alloc(), *y = worker_alloc();
	leak[(long)a] = worker_alloc();
	free(x);
	return y;
}
int main(void)
{
	for (long b = 0; b < 2000; b += 40) {
		pthread_t t[40];
		for (long i = 0; i < 40; i++)
			if (pthread_create(&t[i], 0, run, (void *)(b + i)))
				return 2;
		for (int i = 0; i < 40; i++) {
			void *y;
			pthread_join(t[i], &y);
			free(y);
		}
	}
	return 0;
}
