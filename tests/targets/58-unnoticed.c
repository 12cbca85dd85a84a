/* 58 what a program could notice of a profiler at its start and while it runs.
 * BUILD: gcc -g -O2 -o 58-unnoticed 58-unnoticed.c -ldl
 * RUN:   ./58-unnoticed $(./58-unnoticed count)
 *        prints nothing, exit status 0; else one line per thing noticed.  count: prints how many
 *        descriptors above 2 it was given, which is then what it expects.
 * TRUTH func=in_main allocs=100 bytes=12700 live_blocks=0 live_bytes=0
 * Looked at: dlerror() left over from someone else's dlsym, errno, open descriptors, signal handlers and
 * mask, number of threads, alignment, and that errno survives malloc and free.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static int noticed;
static void notice(int is_there, const char *what)
{
	if (!is_there)
		return;
	dprintf(1, "noticed: %s\n", what);
	noticed = 1;
}
NI void in_main(void)
{
	for (int i = 0; i < 100; i++) {
		errno = 1000 + i;
		void *p = malloc(127);
		KEEP(p);
		notice(errno != 1000 + i, "malloc changed errno");
		notice((uintptr_t)p % 16 != 0, "alignment");
		free(p);
		notice(errno != 1000 + i, "free changed errno");
	}
}
static int open_descriptors(void)
{
	int count = 0;
	for (int fd = 3; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}
static int handlers(void)
{
	int count = 0;
	struct sigaction sa;
	for (int sig = 1; sig < 32; sig++)
		count += !sigaction(sig, NULL, &sa) && sa.sa_handler != SIG_DFL &&
			 sa.sa_handler != SIG_IGN;
	return count;
}
static int threads(void)
{
	int count = 0;
	DIR *d = opendir("/proc/self/task");
	for (struct dirent *e; d && (e = readdir(d));)
		count += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return count;
}
__attribute__((constructor)) static void early(void)
{
	notice(errno != 0, "errno in a constructor");
	const char *e = dlerror();
	notice(e != NULL, e ? e : "");
}
int main(int argc, char **argv)
{
	sigset_t mask;
	if (argc > 1 && !strcmp(argv[1], "count")) {
		dprintf(1, "%d\n", open_descriptors());
		return 0;
	}
	notice(errno != 0, "errno at the start of main");
	in_main();
	const char *e = dlerror();
	notice(e != NULL, e ? e : "");
	notice(open_descriptors() != (argc > 1 ? atoi(argv[1]) : 0), "open descriptors");
	notice(handlers() != 0, "signal handlers");
	sigprocmask(SIG_SETMASK, NULL, &mask);
	notice(!sigisemptyset(&mask), "signal mask");
	notice(threads() != 1, "threads");
	return noticed;
}
