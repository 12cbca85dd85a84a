/* 75 handlers that are left by siglongjmp while malloc, free and the profiler inside them are interrupted.
 * BUILD: gcc -g -O2 -o 75-jump-out 75-jump-out.c -L. -l61safe -Wl,-rpath,'$ORIGIN'
 * RUN:   ./75-jump-out
 * TRUTH func=after allocs=1000 bytes=171000 live_blocks=0 live_bytes=0
 * The allocator is that of 61, which blocks signals, so the program is right to do so.  A timer interrupts a loop of
 * allocations 200 times and jumps out of it; each time a few blocks are lost to the program.  What is allocated
 * afterwards is counted as ever, and threads do not wait for what the jumps left behind.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static sigjmp_buf back;
static volatile int jumps;
static void handler(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}
NI void in_loop(int i, int depth)
{
	void *p = malloc((size_t)(20 + i % 3000));
	KEEP(p);
	if (depth)
		in_loop(i + 1, depth - 1);
	free(p);
	KEEP(p);
}
NI void after(void)
{
	void *p = malloc(171);
	KEEP(p);
	free(p);
	KEEP(p);
}
int main(void)
{
	struct sigaction sa = {.sa_handler = handler};
	struct itimerval soon = {{0, 0}, {0, 1000}};
	sigaction(SIGALRM, &sa, NULL);
	if (sigsetjmp(back, 1))
		jumps++;
	if (jumps < 200) {
		soon.it_value.tv_usec = 500 + jumps * 7;
		setitimer(ITIMER_REAL, &soon, NULL);
		for (int i = 0;; i++)
			in_loop(i, i % 7);
	}
	for (int i = 0; i < 1000; i++)
		after();
	return 0;
}
