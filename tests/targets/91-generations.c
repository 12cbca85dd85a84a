/* 91 four generations of forked processes, each with blocks of all before it, of many sizes too.
 * BUILD: gcc -g -O2 -o 91-generations 91-generations.c
 * RUN:   ./91-generations
 *        Prints "GENERATION PID" of each process.  Exits with 1 if a child's first allocation wrote to much
 *        memory: it knows its parent's blocks without copying what the parent knows of them.
 * FIRST: oldest allocs=400000 bytes=19200000, all live; many_sizes: 400 live
 * SECOND: 360000 of oldest and 300 of many_sizes live; middle allocs=1000 bytes=72000 live 1000
 * THIRD: 330000 of oldest, 100 of many_sizes, 499 of middle live; one of middle grown in youngest,
 *        which has allocs=101 bytes=15100 live 101
 * FOURTH: nothing of all that is live */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI       __attribute__((noinline, noclone))
#define KEEP(p)  __asm__ volatile("" ::"r"(p) : "memory")
#define OLDEST   400000
#define SIZES    400
#define MIDDLE   1000
#define YOUNGEST 100
static void *oldest_blocks[OLDEST], *sized[SIZES], *middle_blocks[MIDDLE], *young[YOUNGEST];

NI static void oldest(void)
{
	for (int i = 0; i < OLDEST; i++) {
		oldest_blocks[i] = malloc(48);
		KEEP(oldest_blocks[i]);
	}
}

NI static void many_sizes(void)
{
	for (int i = 0; i < 100 * SIZES; i++) {
		void *p = malloc(4096 + (size_t)i);
		KEEP(p);
		if (i % 100)
			free(p);
		else
			sized[i / 100] = p;
	}
}

NI static void middle(void)
{
	for (int i = 0; i < MIDDLE; i++) {
		middle_blocks[i] = malloc(72);
		KEEP(middle_blocks[i]);
	}
}

NI static void youngest(void)
{
	for (int i = 0; i < YOUNGEST; i++) {
		young[i] = malloc(150);
		KEEP(young[i]);
	}
	middle_blocks[0] = realloc(middle_blocks[0], 100);
	KEEP(middle_blocks[0]);
}

static void let_go(void **blocks, int from, int to)
{
	for (int i = from; i < to; i++) {
		free(blocks[i]);
		blocks[i] = NULL;
	}
}

/* KiB that this process alone has written to; 0 if the kernel does not tell. */
static long own_kib(void)
{
	static char text[4096];
	int fd = open("/proc/self/smaps_rollup", O_RDONLY);
	ssize_t bytes = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
	close(fd);
	text[bytes > 0 ? bytes : 0] = 0;
	const char *line = strstr(text, "Private_Dirty:");
	return line ? atol(line + 14) : 0;
}

static void say(int number)
{
	char line[40];
	int bytes = snprintf(line, sizeof line, "%d %d\n", number, (int)getpid());
	if (write(1, line, (size_t)bytes) != bytes)
		exit(98);
}

/* Runs in a child of fork; the status with which that ended. */
static int in_child(int number, int (*run)(void))
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		say(number);
		exit(run());
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

static int fourth(void)
{
	let_go(oldest_blocks, 70000, OLDEST);
	let_go(sized, 300, SIZES);
	let_go(middle_blocks, 0, MIDDLE);
	let_go(young, 0, YOUNGEST);
	return 0;
}

static int third(void)
{
	let_go(oldest_blocks, 40000, 70000);
	let_go(sized, 100, 300);
	let_go(middle_blocks, 500, MIDDLE);
	youngest();
	return in_child(4, fourth);
}

static int second(void)
{
	long before = own_kib();
	middle_blocks[0] = malloc(10);
	long written = own_kib() - before;
	free(middle_blocks[0]);
	if (written > 4000) /* the live map of the oldest blocks alone has 6,250 */
		return 1;
	let_go(oldest_blocks, 0, 40000);
	let_go(sized, 0, 100);
	middle();
	return in_child(3, third);
}

int main(void)
{
	oldest();
	many_sizes();
	say(1);
	return in_child(2, second);
}
