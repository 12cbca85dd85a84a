/* 81 children that change their user before they first allocate, one of which becomes a new program.
 * BUILD: gcc -g -O2 -o 81-other-user 81-other-user.c
 * RUN:   ./81-other-user            (as root; ends with 77 otherwise)
 * TRUTH func=before   allocs=30 bytes=5730 live_blocks=30 live_bytes=5730
 * TRUTH func=in_child allocs=0
 * In each child: func=in_child allocs=20 bytes=3860 live_blocks=10 live_bytes=1930; the first one has 25 of before's
 * blocks too.  Their files belong to who recorded them, not to the user they became. */
#define _GNU_SOURCE
#include <grp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
static void *kept[30];
NI void before(void)
{
	for (int i = 0; i < 30; i++) {
		kept[i] = malloc(191);
		KEEP(kept[i]);
	}
}
NI void in_child(void)
{
	for (int i = 0; i < 20; i++) {
		void *p = malloc(193);
		KEEP(p);
		if (i % 2)
			free(p);
	}
}
static void become_nobody(void)
{
	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(77);
}
/* Not every root may, in a container. */
static int may_become_nobody(void)
{
	return !setegid(65534) && !setegid(0) && !seteuid(65534) && !seteuid(0);
}
static int wait_for(pid_t p)
{
	int st = 1;
	return waitpid(p, &st, 0) != p || st;
}
int main(int argc, char **argv)
{
	char *again[] = {argv[0], "image", NULL};
	if (argc > 1) {
		in_child();
		return 0;
	}
	if (geteuid() || !may_become_nobody())
		return 77;
	before();
	pid_t child = fork();
	if (!child) {
		become_nobody();
		for (int i = 0; i < 5; i++)
			free(kept[i]);
		in_child();
		return 0;
	}
	if (wait_for(child))
		return 1;
	child = vfork();
	if (!child) {
		become_nobody();
		execv(argv[0], again);
		_exit(0);
	}
	return wait_for(child);
}
