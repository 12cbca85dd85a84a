/* Coroutines: many stacks, switched by swapcontext and by hand, with equal shapes.
 * RUN: ./coroutines
 * TRUTH func=in_red allocs=20000 bytes=2220000 live_blocks=0 live_bytes=0
 * TRUTH func=in_blue allocs=20000 bytes=4460000 live_blocks=0 live_bytes=0
 * TRUTH func=in_reused allocs=2000 bytes=666000 live_blocks=0 live_bytes=0
 * 40 coroutines, red and blue by turns, allocate 1000 x 111 or 223 bytes and yield after each
 * one, 1 of 3 times from deeper frames.  Then one stack is used again and again by coroutines
 * that enter at different functions (reused_a, reused_b: 1000 each).
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#define NI          __attribute__((noinline, noclone))
#define KEEP(p)     __asm__ volatile("" ::"r"(p) : "memory")
#define COUNT       40
#define STACK_BYTES 65536

static ucontext_t scheduler, coroutines[COUNT];
static char stacks[COUNT][STACK_BYTES];
static int current;

NI static void in_red(void)
{
	void *p = malloc(111);
	KEEP(p);
	swapcontext(&coroutines[current], &scheduler);
	free(p);
	KEEP(p);
}

NI static void in_blue(void)
{
	void *p = malloc(223);
	KEEP(p);
	swapcontext(&coroutines[current], &scheduler);
	free(p);
	KEEP(p);
}

NI static void deeper(int depth, void (*f)(void))
{
	if (depth)
		deeper(depth - 1, f);
	else
		f();
	KEEP(&depth);
}

static void red(void)
{
	for (int i = 0; i < 1000; i++)
		deeper(i % 3 * 5, in_red);
}

static void blue(void)
{
	for (int i = 0; i < 1000; i++)
		deeper(i % 3 * 5, in_blue);
}

NI static void in_reused(void)
{
	void *p = malloc(333);
	KEEP(p);
	free(p);
	KEEP(p);
}

NI static void reused_a(void)
{
	in_reused();
	KEEP(&current);
}

NI static void reused_b(void)
{
	in_reused();
	KEEP(&current);
}

static void start(int i, void (*f)(void))
{
	getcontext(&coroutines[i]);
	coroutines[i].uc_stack.ss_sp = stacks[i];
	coroutines[i].uc_stack.ss_size = STACK_BYTES;
	coroutines[i].uc_link = &scheduler;
	makecontext(&coroutines[i], f, 0);
}

int main(void)
{
	for (int i = 0; i < COUNT; i++)
		start(i, i % 2 ? blue : red);
	for (int round = 0; round <= 1000; round++)
		for (current = 0; current < COUNT; current++)
			swapcontext(&scheduler, &coroutines[current]);
	current = 0;
	for (int i = 0; i < 2000; i++) {
		start(0, i % 2 ? reused_b : reused_a);
		swapcontext(&scheduler, &coroutines[0]);
	}
	return 0;
}
