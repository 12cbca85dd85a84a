/* 6 threads on random call paths; each knows what it allocated, main prints the sum.
 * RUN: ./threads-walk STEPS
 */
#include <pthread.h>

#include "walk.h"

#define THREADS 6

static long steps = 40000;

static void *run(void *arg)
{
	struct walk *w = arg;
	for (long i = 0; i < steps; i++)
		walk_step(w, 14);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct walk walks[THREADS], sum;
	static void *rings[THREADS][1024];
	pthread_t t[THREADS];
	if (argc > 1)
		steps = strtol(argv[1], NULL, 10);
	for (int i = 0; i < THREADS; i++) {
		walks[i] = (struct walk){
			.random = (uint64_t)i + 1, .ring = rings[i], .ring_count = 1024};
		if (pthread_create(&t[i], NULL, run, &walks[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		sum.alloc_count += walks[i].alloc_count;
		sum.alloc_bytes += walks[i].alloc_bytes;
		for (int k = 0; k < WALK_FUNCS; k++) {
			sum.below_count[k] += walks[i].below_count[k];
			sum.below_bytes[k] += walks[i].below_bytes[k];
		}
	}
	walk_print(&sum, stdout);
	return 0;
}
