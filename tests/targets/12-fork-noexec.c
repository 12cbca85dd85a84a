/* 12 fork without exec: parent and child profiles must not overwrite or mix with each other.
 * BUILD: gcc -g -O2 -o 12-fork-noexec 12-fork-noexec.c
 * RUN:   ./12-fork-noexec
 * PARENT profile:
 * TRUTH func=before_fork allocs=100 bytes=120100 live_blocks=100 live_bytes=120100
 * TRUTH func=parent_after allocs=25 bytes=35225 live_blocks=25 live_bytes=35225
 * TRUTH func=child_alloc allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * CHILD profile (separate file, different pid in its name/metadata), if children are followed:
 *   child_alloc allocs=50 bytes=65050 live 50; before_fork inherited: 60 of 100 still live
 *   (child frees 40 of the inherited blocks -> no negative count); parent_after absent.
 * If children are not followed the parent's numbers must be exactly as above and the child must not
 * truncate, append to, or delete the parent's output.
 * BUG: gperftools/gperftools#1488, #601, #381, #1116; bloomberg/memray#210; koute/bytehound#80,#84 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
void *a[100], *b[50], *c[25];
NI void before_fork(void)
{
	for (int i = 0; i < 100; i++) {
		a[i] = malloc(1201);
		KEEP(a[i]);
	}
}
NI void child_alloc(void)
{
	for (int i = 0; i < 50; i++) {
		b[i] = malloc(1301);
		KEEP(b[i]);
	}
	for (int i = 0; i < 40; i++)
		free(a[i]);
}
NI void parent_after(void)
{
	for (int i = 0; i < 25; i++) {
		c[i] = malloc(1409);
		KEEP(c[i]);
	}
}
int main(void)
{
	before_fork();
	pid_t p = fork();
	if (p == 0) {
		child_alloc();
		exit(0);
	}
	int st;
	waitpid(p, &st, 0);
	parent_after();
	return st;
}
