/* 72 a program that locks itself up with a seccomp filter, and goes on allocating.
 * BUILD: gcc -g -O2 -o 72-sandbox 72-sandbox.c
 * RUN:   ./72-sandbox
 * TRUTH func=before allocs=100 bytes=13100 live_blocks=100 live_bytes=13100
 * TRUTH func=after  allocs=100000 bytes=55000000 live_blocks=10000 live_bytes=5455000
 * After the filter only the calls that malloc itself may need are allowed (brk, mmap, munmap, mremap, madvise,
 * futex) and the end of the process; any other kills it.  The blocks come from 200 new call paths.
 */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static void *kept[20000];
static int kept_count;
NI void before(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(131);
		KEEP(p);
		kept[kept_count++] = p;
	}
}
NI void after(int i)
{
	void *p = malloc((size_t)(1 + i % 1100));
	KEEP(p);
	if (i % 10)
		free(p);
	else
		kept[kept_count++] = p;
	KEEP(i);
}
NI void deeper(int depth, int i)
{
	if (depth)
		deeper(depth - 1, i);
	else
		after(i);
	KEEP(depth);
}
#define ALLOW(call)                                            \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static int lock_up(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(brk),
		ALLOW(mmap),
		ALLOW(munmap),
		ALLOW(mremap),
		ALLOW(madvise),
		ALLOW(futex),
		ALLOW(exit_group),
		ALLOW(exit),
		ALLOW(write),
		ALLOW(rt_sigreturn),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof code / sizeof code[0], code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
int main(void)
{
	before();
	if (lock_up())
		return 77;
	for (int i = 0; i < 100000; i++)
		deeper(i / 500, i);
	return 0;
}
