/* Signals arrive inside malloc, free and the profiler's hooks.
 * RUN: ./signal-storm
 * TRUTH func=in_loop allocs=2000000 bytes=235999901 live_blocks=0 live_bytes=0
 * TRUTH func=in_handler allocs=1000 bytes=331000 live_blocks=1000 live_bytes=331000
 * A timer interrupts every 50 microseconds, on an alternate stack, without allocating; the main
 * loop checks that errno and its blocks survive.  After the storm the handler allocates 331 bytes
 * 1000 times, called by raise() where that is safe: these stacks lie below a signal handler.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")

static volatile sig_atomic_t ticks, may_allocate;
static void *kept[1000];
static volatile int kept_count;

NI static void in_handler(void)
{
	kept[kept_count] = malloc(331);
	KEEP(kept[kept_count]);
	kept_count++;
}

static void handler(int sig)
{
	(void)sig;
	ticks++;
	if (may_allocate)
		in_handler();
}

NI static int in_loop(int bytes)
{
	errno = 77;
	char *p = malloc((size_t)bytes);
	KEEP(p);
	int is_bad = !p || errno != 77;
	free(p);
	KEEP(p);
	return is_bad || errno != 77;
}

int main(void)
{
	static char alternate[65536];
	stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	int bad = sigaltstack(&ss, NULL);
	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 2000000; i++)
		bad |= in_loop(68 + i % 101);
	setitimer(ITIMER_REAL, &never, NULL);
	may_allocate = 1;
	for (int i = 0; i < 1000; i++)
		raise(SIGUSR1);
	return bad || !ticks || kept_count != 1000;
}
