/* 16 process ends without (or with unusual) exit processing after a known leak.
 * BUILD: gcc -g -O2 -o 16-ways-to-die 16-ways-to-die.c
 * RUN:   ./16-ways-to-die return|exit|_exit|quick_exit|abort|kill|segv|term|pthread_exit|fini-exit|signalN (without a nap)
 *        expected status without a profiler: 0,0,0,0,SIGABRT,SIGKILL,SIGSEGV,SIGTERM,0,0
 * TRUTH func=leak_before_death allocs=100 bytes=90700 live_blocks=100 live_bytes=90700
 * TRUTH func=freed_before_death allocs=50 bytes=46050 live_blocks=0 live_bytes=0
 * return/exit/_exit/quick_exit/pthread_exit/fini-exit: the full truth must be in the profile.
 * abort/segv/term: full truth, or last snapshot, with the file readable and marked incomplete; the
 * process must still die of the SAME signal (status unchanged). kill (SIGKILL): file must be readable
 * (or absent) and marked incomplete, never reported as a finished run with smaller numbers.
 * The program sleeps 1.2 s between the leak and death so a periodic snapshot can happen.
 * BUG: apache/gluten#9756 (no dump on kill/exit), jemalloc#2162, bytehound#19 (unreadable file), xprofiler#203 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
void *k[100];
NI void leak_before_death(void)
{
	for (int i = 0; i < 100; i++) {
		k[i] = malloc(907);
		KEEP(k[i]);
	}
}
NI void freed_before_death(void)
{
	for (int i = 0; i < 50; i++) {
		void *p = malloc(921);
		KEEP(p);
		free(p);
		KEEP(p);
	}
}
static void call_under_exit(void)
{
	_exit(0);
}
int main(int argc, char **argv)
{
	const char *m = argc > 1 ? argv[1] : "return";
	leak_before_death();
	freed_before_death();
	struct timespec ts = {1, 200000000};
	if (!strncmp(m, "signal", 6)) {
		signal(atoi(m + 6), SIG_DFL);
		raise(atoi(m + 6));
	}
	if (strcmp(m, "return"))
		nanosleep(&ts, 0);
	if (!strcmp(m, "exit"))
		exit(0);
	if (!strcmp(m, "_exit"))
		_exit(0);
	if (!strcmp(m, "quick_exit"))
		quick_exit(0);
	if (!strcmp(m, "abort"))
		abort();
	if (!strcmp(m, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(m, "term"))
		raise(SIGTERM);
	if (!strcmp(m, "segv")) {
		volatile int *volatile z = 0;
		*z = 1;
	}
	if (!strcmp(m, "pthread_exit"))
		pthread_exit(0);
	if (!strcmp(m, "fini-exit")) {
		atexit(call_under_exit);
		exit(5);
	}
	return 0;
}
