/* Dies by SIGKILL while it allocates at full speed.
 * RUN: ./sigkill MICROSECONDS [exec]
 * The kernel kills the process when the timer fires, at whatever instruction it is.
 * exec: arms SIGALRM, which does the same by its default action and survives exec,
 * then starts itself again: the end falls into the start of the program. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "walk.h"

static void arm_kill(long us)
{
	struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec at = {.it_value = {us / 1000000, us % 1000000 * 1000}};
	timer_t timer;
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &at, NULL))
		_exit(3);
}

int main(int argc, char **argv)
{
	long us = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	if (argc > 2 && !strcmp(argv[2], "exec")) {
		struct itimerval at = {.it_value = {us / 1000000, us % 1000000}};
		setitimer(ITIMER_REAL, &at, NULL);
		execl("/proc/self/exe", argv[0], "60000000", (char *)NULL);
		_exit(4);
	}
	static void *ring[4096];
	struct walk w = {.random = (uint64_t)us, .ring = ring, .ring_count = 4096};
	arm_kill(us);
	for (;;)
		walk_step(&w, 12);
}
