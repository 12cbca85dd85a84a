/* 54 stacks that are unmapped and mapped again at the same place with another size.
 * BUILD: gcc -g -O2 -o 54-stack-remap 54-stack-remap.c
 * RUN:   ./54-stack-remap
 * TRUTH func=work allocs=6000 bytes=606000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=shallow allocs=2000 bytes=202000
 * INCLUSIVE func=deeper  allocs=2000 bytes=202000
 * INCLUSIVE func=small_first allocs=1000 bytes=101000
 * INCLUSIVE func=large_next  allocs=1000 bytes=101000
 * A coroutine runs on 256 KiB and reaches work() through 100 KiB of frames; then its stack is unmapped,
 * only the lower half is mapped again, and work() runs at the same address, reached directly.  What an
 * unwinder remembers of the first stack lies in memory that is gone.  Then the same the other way round.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#define NI          __attribute__((noinline, noclone))
#define KEEP(p)     __asm__ volatile("" : "+r"(p) : : "memory")
#define WHOLE_BYTES (256u << 10)
#define LOWER_BYTES (128u << 10)
static ucontext_t scheduler, coroutine;
static uintptr_t work_at;
NI void work(void)
{
	void *p = malloc(101);
	KEEP(p);
	free(p);
	p = malloc(101);
	KEEP(p);
	free(p);
	KEEP(p);
}
/* Moves the stack pointer to where work() shall be called, the same in both cases. */
NI void call_at(uintptr_t sp)
{
	volatile char here;
	uintptr_t now = (uintptr_t)&here;
	char *gap = alloca(now > sp ? (now - sp) & ~(uintptr_t)15 : 0);
	KEEP(gap);
	work();
	KEEP(gap);
}
NI void deeper(void)
{
	char *gap = alloca(100 << 10);
	KEEP(gap);
	call_at(work_at);
	KEEP(gap);
}
NI void shallow(void)
{
	call_at(work_at);
	KEEP(work_at);
}
NI void small_first(void)
{
	call_at(work_at);
	KEEP(work_at);
}
NI void large_next(void)
{
	char *gap = alloca(100 << 10);
	KEEP(gap);
	call_at(work_at);
	KEEP(gap);
}
static void *run_on(void *at, size_t bytes, void (*f)(void))
{
	void *stack = mmap(at, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
	if (stack == MAP_FAILED)
		exit(2);
	work_at = (uintptr_t)stack + LOWER_BYTES - (64u << 10);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = bytes;
	coroutine.uc_link = &scheduler;
	makecontext(&coroutine, f, 0);
	swapcontext(&scheduler, &coroutine);
	munmap(stack, bytes);
	return stack;
}
int main(void)
{
	void *at = run_on(NULL, WHOLE_BYTES, deeper);
	for (int i = 0; i < 1000; i++) {
		run_on(at, LOWER_BYTES, shallow);
		if (i < 999)
			run_on(at, WHOLE_BYTES, deeper);
	}
	/* Elsewhere the small one comes first. */
	void *other = mmap(NULL, 16 * WHOLE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 500; i++) {
		run_on((char *)other + 8 * WHOLE_BYTES, LOWER_BYTES, small_first);
		run_on((char *)other + 8 * WHOLE_BYTES, WHOLE_BYTES, large_next);
	}
	return 0;
}
