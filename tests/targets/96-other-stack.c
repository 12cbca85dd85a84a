/* 96 functions that run on another stack than those that called them, as with Rust's stacker.
 * BUILD: gcc -g -O2 -pthread -o 96-other-stack 96-other-stack.c
 * RUN:   ./96-other-stack
 * TRUTH func=in_walk allocs=30000 bytes=1230000 live_blocks=300 live_bytes=12300
 * Stacks lie above and below each other, and some are gone when they are back: the way out of a walk leads over up
 * to six of them.  What from_first and from_second called is told apart by frames that lie behind all that.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#define BYTES   65536ul
void on_stack(void *top, void (*fn)(long), long arg);
__asm__(".text\n"
	".globl on_stack\n"
	".type on_stack, @function\n"
	"on_stack:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	mov %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"	mov %rdi, %rsp\n"
	"	mov %rdx, %rdi\n"
	"	call *%rsi\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	".cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size on_stack, .-on_stack\n");
static __thread char *stacks[3];
static __thread int step;
NI static void in_walk(int count)
{
	for (int i = 0; i < count; i++) {
		char *p = malloc(41);
		KEEP(p);
		if (step++ % 100)
			free(p);
	}
}
NI static void walk(long depth)
{
	in_walk(1);
	if (depth > 0)
		on_stack(stacks[depth * 7 % 3] + BYTES - depth * 8192, walk, depth - 1);
	in_walk(2);
}
NI static void new_stacks(void)
{
	for (int i = 0; i < 3; i++) {
		if (stacks[i])
			munmap(stacks[i], BYTES);
		stacks[i] = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				 -1, 0);
	}
}
NI static void from_first(int i)
{
	walk(i % 5 + 1);
	KEEP(i);
}
NI static void from_second(int i)
{
	walk(5 - i % 5);
	KEEP(i);
}
/* A round is 8 walks of 3 allocations, over 1 to 5 other stacks, half of them from either. */
static void *run(void *rounds)
{
	step = 0;
	for (int i = 0; i < (long)rounds; i++) {
		if (i % 100 == 0)
			new_stacks();
		from_first(i);
		from_second(i);
	}
	return NULL;
}
int main(void)
{
	pthread_t t;
	run((void *)500);
	pthread_create(&t, NULL, run, (void *)500);
	pthread_join(t, NULL);
	run((void *)250);
	return 0;
}
