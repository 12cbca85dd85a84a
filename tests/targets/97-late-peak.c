/* 97 the peak is in a destructor, after exit() and after all that registered with atexit; the program was stopped before.
 * BUILD: gcc -g -O2 -o 97-late-peak 97-late-peak.c
 * RUN:   ./97-late-peak
 * TRUTH func=base allocs=1 bytes=1000003 live_blocks=1 live_bytes=1000003
 * TRUTH func=in_main allocs=1 bytes=5000011 live_blocks=0 live_bytes=0
 * TRUTH func=at_end allocs=1 bytes=7000013 live_blocks=0 live_bytes=0
 * TRUTH func=in_destructor allocs=1 bytes=9000019 live_blocks=0 live_bytes=0
 * Three rising peaks, each the highest so far, with nothing between the last one and the end of the process.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static char *kept;
NI static void base(void)
{
	kept = malloc(1000003);
	KEEP(kept);
}
NI static void in_main(void)
{
	char *p = malloc(5000011);
	KEEP(p);
	free(p);
}
NI static void at_end(void)
{
	char *p = malloc(7000013);
	KEEP(p);
	free(p);
}
NI __attribute__((destructor)) static void in_destructor(void)
{
	char *p = malloc(9000019);
	KEEP(p);
	free(p);
}
/* Another process lets this one go on. */
static void be_stopped(void)
{
	int status;
	pid_t child = fork();
	if (!child) {
		kill(getppid(), SIGSTOP);
		usleep(100000);
		kill(getppid(), SIGCONT);
		_exit(0);
	}
	waitpid(child, &status, 0);
}
int main(void)
{
	atexit(at_end);
	base();
	in_main();
	be_stopped();
	return 0;
}
