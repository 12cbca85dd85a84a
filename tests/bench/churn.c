/*
 * malloc+free pairs below a given number of frames.
 *
 *   churn PAIRS DEPTH [THREADS]
 *
 * Every thread makes PAIRS pairs of 256 sizes.  Prints two numbers: nanoseconds of
 * wall time per pair of one thread, which with perfect scaling does not depend on
 * THREADS, and nanoseconds of processor time per pair.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NI          __attribute__((noinline, noclone))
#define KEEP(p)     __asm__ volatile("" ::"r"(p) : "memory")
#define THREADS_MAX 64

static long pairs, depth;

NI static void pair(long i)
{
	char *p = malloc(16 + ((size_t)i & 255));
	KEEP(p);
	*(volatile char *)p = 1;
	free(p);
}

NI static void descend(long frames)
{
	if (frames > 0) {
		descend(frames - 1);
	} else {
		for (long i = 0; i < pairs; i++)
			pair(i);
	}
	KEEP(&frames);
}

static void *run(void *arg)
{
	(void)arg;
	descend(depth);
	return NULL;
}

static double now_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS_MAX];
	if (argc < 3) {
		fprintf(stderr, "usage: churn PAIRS DEPTH [THREADS]\n");
		return 2;
	}
	pairs = strtol(argv[1], NULL, 10);
	depth = strtol(argv[2], NULL, 10);
	long threads = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
	if (pairs < 1 || threads < 1 || threads > THREADS_MAX)
		return 2;
	free(malloc(1)); /* whatever happens once happens here */
	double start = now_ns(CLOCK_MONOTONIC), cpu_start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (long i = 1; i < threads; i++)
		if (pthread_create(&t[i], NULL, run, NULL))
			return 2;
	run(NULL);
	for (long i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
	printf("%.2f %.2f\n", (now_ns(CLOCK_MONOTONIC) - start) / (double)pairs,
	       (now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start) / (double)(pairs * threads));
	return 0;
}
