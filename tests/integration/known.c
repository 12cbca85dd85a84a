/* A program with a known heap, which scripts start in odd surroundings: in_known allocates 100 blocks of 1009 bytes and keeps 25. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static void *kept[100];
NI void in_known(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(1009);
		KEEP(p);
		if (i % 4)
			free(p);
		else
			kept[i] = p;
	}
}
static void copy_to(int to, const char *path)
{
	char chunk[65536];
	size_t n;
	FILE *f = fopen(path, "re");
	while (f && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		if (write(to, chunk, n) != (ssize_t)n)
			_exit(9);
	fclose(f);
}
extern char **environ;
int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	if (!strcmp(how, "memfd")) { /* replaces itself by a copy that has no file */
		int fd = memfd_create("known in memory", MFD_CLOEXEC);
		char *again[] = {argv[0], NULL};
		copy_to(fd, "/proc/self/exe");
		fexecve(fd, again, environ);
		return 8;
	}
	if (!strcmp(how, "chroot") && (chroot(argv[2]) || chdir("/")))
		return 77;
	if (!strcmp(how, "delete"))
		unlink(argv[0]);
	if (!strcmp(how, "replace") || !strcmp(how, "upgrade"))
		rename("other", argv[0]);
	if (!strcmp(how, "move"))
		rename(argv[0], "known.moved");
	if (!strcmp(how, "upgrade") || !strcmp(how, "move"))
		usleep(300000); /* the recorder looks at it several times before it goes on */
	if (!strcmp(how, "rmdir"))
		rmdir(argv[2]);
	if (!strcmp(how, "stdio"))
		return write(0, "x", 1) == 1 || write(1, "x", 1) == 1 || write(2, "x", 1) == 1;
	in_known();
	if (!strcmp(how, "wait"))
		usleep(2500000);
	return 7;
}
