/* Forks while other threads are inside malloc and free.
 * RUN: ./fork-storm
 * TRUTH func=in_worker allocs=4000000 bytes=399999800 live_blocks=0 live_bytes=0
 * TRUTH func=before_fork allocs=100 bytes=71300 live_blocks=100 live_bytes=71300
 * TRUTH func=in_child allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * 4 threads make 1000000 pairs each while the first thread forks 40 children one after the
 * other.  A child (whose other threads are gone, wherever they were) frees 30 of the 100
 * blocks it inherited and allocates 10 x 1013 bytes in in_child, of which it frees 4.
 * Every fifth child leaves by _exit, every seventh forks once more: the grandchild does the same
 * with the blocks that are left.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NI       __attribute__((noinline, noclone))
#define KEEP(p)  __asm__ volatile("" ::"r"(p) : "memory")
#define WORKERS  4
#define PAIRS    1000000
#define CHILDREN 40

static void *inherited[100], *own[20];
static int own_count, next_inherited;
static atomic_int forks_done;

NI static void before_fork(void)
{
	for (int i = 0; i < 100; i++) {
		inherited[i] = malloc(713);
		KEEP(inherited[i]);
	}
}

NI static void in_worker(int bytes)
{
	void *p = malloc((size_t)bytes);
	KEEP(p);
	free(p);
	KEEP(p);
}

static void *work(void *arg)
{
	(void)arg;
	for (int i = 0; i < PAIRS; i++)
		in_worker(50 + i % 101);
	while (!atomic_load(&forks_done))
		usleep(1000);
	return NULL;
}

NI static void in_child(void)
{
	for (int i = 0; i < 10; i++) {
		own[own_count] = malloc(1013);
		KEEP(own[own_count]);
		if (i < 4)
			free(own[own_count]);
		else
			own_count++;
	}
	for (int i = 0; i < 30; i++)
		free(inherited[next_inherited++]);
}

static void child(int number)
{
	in_child();
	if (number % 7 == 0) {
		pid_t p = fork();
		if (p == 0) {
			own_count = 10;
			in_child();
			_exit(0);
		}
		waitpid(p, NULL, 0);
	}
	if (number % 5 == 0)
		_exit(0);
	exit(0);
}

int main(void)
{
	pthread_t t[WORKERS];
	int failures = 0;
	before_fork();
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&t[i], NULL, work, NULL))
			return 2;
	for (int n = 0; n < CHILDREN; n++) {
		int st = 1;
		pid_t p = fork();
		if (p == 0)
			child(n);
		if (p < 0 || waitpid(p, &st, 0) != p || st)
			failures++;
	}
	atomic_store(&forks_done, 1);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(t[i], NULL);
	return failures;
}
