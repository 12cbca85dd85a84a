/* 57 children by fork+exec, vfork+exec and posix_spawn; the program also replaces itself in the end.
 * BUILD: gcc -g -O2 -o 57-exec-spawn 57-exec-spawn.c
 * RUN:   ./57-exec-spawn
 * Five process images, each with its own profile:
 *   first (no argument): in_first allocs=40 bytes=4120 live 40; ends by exec
 *   three children ("child" as argument): in_child allocs=20 bytes=2140 live 5 live_bytes=535
 *   last ("last"): in_last allocs=10 bytes=1090 live 10
 * between() is called between vfork and exec: its 7 x 113 bytes belong to the first image.
 */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
extern char **environ;
void *kept[64];
int kept_count;
NI void in_first(void)
{
	for (int i = 0; i < 40; i++) {
		void *p = malloc(103);
		KEEP(p);
		kept[kept_count++] = p;
	}
}
NI void in_child(void)
{
	for (int i = 0; i < 20; i++) {
		void *p = malloc(107);
		KEEP(p);
		if (i % 4)
			free(p);
		else
			kept[kept_count++] = p;
	}
}
NI void in_last(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = malloc(109);
		KEEP(p);
		kept[kept_count++] = p;
	}
}
NI void between(void)
{
	for (int i = 0; i < 7; i++) {
		void *p = malloc(113);
		KEEP(p);
		free(p);
	}
}
static int wait_for(pid_t p)
{
	int st;
	return waitpid(p, &st, 0) != p || st != 0;
}
int main(int argc, char **argv)
{
	char *child[] = {argv[0], "child", NULL}, *last[] = {argv[0], "last", NULL};
	if (argc > 1 && !strcmp(argv[1], "child")) {
		in_child();
		return 0;
	}
	if (argc > 1) {
		in_last();
		return 0;
	}
	in_first();
	int bad = 0;
	pid_t p = fork();
	if (p == 0) {
		execv("/proc/self/exe", child);
		_exit(9);
	}
	bad |= wait_for(p);
	p = vfork();
	if (p == 0) {
		between();
		execv("/proc/self/exe", child);
		_exit(9);
	}
	bad |= wait_for(p);
	bad |= posix_spawn(&p, "/proc/self/exe", NULL, NULL, child, environ) || wait_for(p);
	if (!bad)
		execv("/proc/self/exe", last);
	return 1;
}
