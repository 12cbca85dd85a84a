/* 94 everything is locked, under the limit that a login has; and address space is short.
 * BUILD: gcc -g -O2 -o 94-locked 94-locked.c
 * RUN:   ./94-locked [tight]
 * TRUTH func=in_heap allocs=3000 bytes=1803000 live_blocks=3000 live_bytes=1803000
 * TRUTH func=left allocs=4096 bytes=147456 live_blocks=0 live_bytes=0
 * Root becomes nobody, who may lock 8 MiB; the program alone has more than half of that.  It prints what each call
 * of mlockall said and how much was locked, in steps that differ only by what the program itself did in between.
 * With "tight" it only allocates.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#define LIMIT   (8ul << 20)
static volatile char large[3 << 20];
static char text[4096];
static long status_kib(const char *form)
{
	FILE *f = fopen("/proc/self/status", "r");
	long kib = -1;
	if (!f)
		return -1;
	setvbuf(f, text, _IOFBF, sizeof text);
	char line[200];
	while (fgets(line, sizeof line, f))
		sscanf(line, form, &kib);
	fclose(f);
	return kib;
}
static long locked_kib(void)
{
	return status_kib("VmLck: %ld");
}
static void call(const char *name, int flags)
{
	errno = 0;
	int result = mlockall(flags);
	printf("%s: %d, %s\n", name, result, errno ? strerror(errno) : "no error");
}
/* What is locked now, compared with `before`, and with what the program did. */
static void say(const char *what, long before, long own_kib)
{
	long off = locked_kib() - before - own_kib;
	printf("%s: %s\n", what, off >= -16 && off <= 16 ? "as it should be" : "WRONG");
	if (off < -16 || off > 16)
		printf("#  off by %ld KiB\n", off);
}
NI void in_heap(int count)
{
	for (int i = 0; i < count; i++) {
		char *p = malloc(601);
		KEEP(p);
		*p = 1;
	}
}
/* Many paths and sizes, so that the profiler needs more memory as well: a bit for each call. */
NI void right(int depth, uint32_t bits);
NI void left(int depth, uint32_t bits)
{
	if (!depth) {
		char *p = malloc(36);
		KEEP(p);
		free(p);
	} else if (bits & 1) {
		right(depth - 1, bits >> 1);
	} else {
		left(depth - 1, bits >> 1);
	}
	KEEP(depth);
}
NI void right(int depth, uint32_t bits)
{
	left(depth, bits);
	KEEP(depth);
}
static void set_limit(unsigned long bytes)
{
	struct rlimit limit = {bytes, LIMIT};
	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		exit(77);
}
static int in_little_space(void)
{
	in_heap(3000);
	for (uint32_t i = 0; i < 4096; i++)
		left(12, i);
	return 0;
}
static void map_one(long before, long own_kib)
{
	char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say("a new mapping", before, own_kib);
	munmap(p, 1 << 20);
}
static void as_child(void)
{
	fflush(stdout);
	pid_t pid = fork();
	if (!pid) {
		for (int i = 0; i < 10; i++)
			free(malloc(73));
		_exit(locked_kib() == 0 ? 0 : 9);
	}
	int status;
	waitpid(pid, &status, 0);
	printf("a child: %d\n", status);
}
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		return in_little_space();
	set_limit(LIMIT);
	if (!getuid() && (setgid(65534) || setuid(65534)))
		return 77;
	static char out[4096];
	setvbuf(stdout, out, _IOFBF, sizeof out);
	for (size_t i = 0; i < sizeof large; i += 4096)
		large[i] = 1;
	in_heap(1000);
	call("all", MCL_CURRENT | MCL_FUTURE);
	long first = locked_kib();
	printf("TOTAL %ld\n", first);
	map_one(first, 1024);
	long heap = (long)sbrk(0);
	in_heap(2000);
	for (uint32_t i = 0; i < 4096; i++)
		left(12, i);
	say("after some work", first, ((long)sbrk(0) - heap) / 1024);
	long now = locked_kib();
	char *rest = mmap(NULL, LIMIT - (size_t)now * 1024, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("the rest: %s\n", rest == MAP_FAILED ? "refused" : "given");
	char *more = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	printf("one page more: %s\n", more == MAP_FAILED ? strerror(errno) : "given");
	munmap(rest, LIMIT - (size_t)now * 1024);
	as_child();
	call("only now", MCL_CURRENT);
	say("locked", now, 0);
	map_one(now, 0);
	munlockall();
	printf("unlocked: %ld\n", locked_kib());
	call("from now on", MCL_FUTURE);
	map_one(0, 1024);
	munlockall();
	call("on fault", MCL_CURRENT | MCL_ONFAULT);
	say("locked", now, 0);
	munlockall();
	call("nothing", 0);
	call("only on fault", MCL_ONFAULT);
	call("no such flag", 64);
	set_limit(1 << 20);
	call("too much", MCL_CURRENT);
	set_limit(0);
	call("not allowed", MCL_CURRENT);
	return 0;
}
