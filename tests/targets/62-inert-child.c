/* 62 a child that cannot reach the recorder, and its own child, which can.
 * BUILD: gcc -g -O2 -o 62-inert-child 62-inert-child.c
 * RUN:   ./62-inert-child
 * TRUTH func=before_fork allocs=200000 bytes=219900000 live_blocks=200000 live_bytes=219900000
 * The child may open no descriptor when it allocates for the first time; later it may again, and forks.  The
 * grandchild frees what it inherited.  Only the first process has a profile, and none of them may fail.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#define COUNT   200000
static void *blocks[COUNT];
static void *volatile kept;
NI void before_fork(int at)
{
	for (int i = 0; i < 2000; i++)
		blocks[at + i] = malloc(100 + i);
	KEEP(at);
}
/* Each depth is a call path of its own. */
NI void deeper(int depth)
{
	before_fork(depth * 2000);
	if (depth + 1 < COUNT / 2000)
		deeper(depth + 1);
	KEEP(depth);
}
NI void after_fork(int from, int to)
{
	for (int i = from; i < to; i++) {
		free(blocks[i]);
		kept = malloc(107);
	}
}
static int wait_for(pid_t p)
{
	int st = 1;
	return waitpid(p, &st, 0) != p || st;
}
int main(void)
{
	deeper(0);
	pid_t child = fork();
	if (child)
		return wait_for(child);
	struct rlimit old, none;
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	after_fork(0, COUNT / 2);
	setrlimit(RLIMIT_NOFILE, &old);
	child = fork();
	if (child)
		_exit(wait_for(child));
	after_fork(COUNT / 2, COUNT);
	_exit(0);
}
