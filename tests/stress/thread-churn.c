/* Threads that come and go at full speed and allocate until their last instruction.
 * RUN: ./thread-churn
 * TRUTH func=in_thread allocs=32000 bytes=9856000 live_blocks=8000 live_bytes=2464000
 * TRUTH func=in_destructor allocs=16000 bytes=3344000 live_blocks=8000 live_bytes=1672000
 * 8 x 1000 threads, 8 at a time.  Each allocates 4 x 308 bytes: one is freed by itself, one by
 * the destructor of its thread-specific data, one by the thread that joins it, one is kept.
 * The destructor, which runs when the thread is nearly gone, allocates 2 x 209 bytes: one is
 * freed at once, one is kept.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
#define WAVES   1000
#define WIDTH   8

static pthread_key_t key;
static void *kept[WAVES * WIDTH][2];

struct job {
	void *by_destructor;
	int slot;
};

NI static void *in_thread(void)
{
	void *p = malloc(308);
	KEEP(p);
	return p;
}

NI static void *in_destructor(void)
{
	void *p = malloc(209);
	KEEP(p);
	return p;
}

static void destroy(void *arg)
{
	struct job *job = arg;
	free(job->by_destructor);
	kept[job->slot][1] = in_destructor();
	free(in_destructor());
}

static void *run(void *arg)
{
	struct job *job = arg;
	pthread_setspecific(key, job);
	void *own = in_thread(), *for_joiner = in_thread();
	job->by_destructor = in_thread();
	kept[job->slot][0] = in_thread();
	free(own);
	return for_joiner;
}

int main(void)
{
	pthread_key_create(&key, destroy);
	for (int w = 0; w < WAVES; w++) {
		pthread_t t[WIDTH];
		struct job jobs[WIDTH];
		for (int i = 0; i < WIDTH; i++) {
			jobs[i].slot = w * WIDTH + i;
			if (pthread_create(&t[i], NULL, run, &jobs[i]))
				return 2;
		}
		for (int i = 0; i < WIDTH; i++) {
			void *p;
			pthread_join(t[i], &p);
			free(p);
		}
	}
	return 0;
}
