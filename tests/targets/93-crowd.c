/* 93 a hundred children that all meet the recorder at once.
 * BUILD: gcc -g -O2 -o 93-crowd 93-crowd.c
 * RUN:   ./93-crowd [stop]    With "stop" its parent, the recorder, is stopped while they come.
 * Each child: in_child allocs=20 bytes=2020 live_blocks=20 live_bytes=2020 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define NI       __attribute__((noinline, noclone))
#define KEEP(p)  __asm__ volatile("" : : "r"(p) : "memory")
#define CHILDREN 100
static void *blocks[20];
NI static void in_child(void)
{
	for (int i = 0; i < 20; i++) {
		blocks[i] = malloc(101);
		KEEP(blocks[i]);
	}
}
int main(int count, char **args)
{
	(void)args;
	int status, failed = 0;
	if (count > 1)
		kill(getppid(), SIGSTOP);
	for (int i = 0; i < CHILDREN; i++) {
		if (fork() == 0) {
			in_child();
			_exit(0);
		}
	}
	if (count > 1) {
		const struct timespec while_they_come = {0, 300000000};
		nanosleep(&while_they_come, NULL);
		kill(getppid(), SIGCONT);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}
