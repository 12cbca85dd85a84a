/* 98 a program without libc's beginning: nobody called its first function, and where the return address would be is argc.
 * BUILD: gcc -g -O2 -nostartfiles -o 98-own-start 98-own-start.c
 * RUN:   ./98-own-start x y
 * TRUTH func=in_start allocs=30 bytes=3030 live_blocks=10 live_bytes=1010
 */
#include <stdlib.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
NI static void in_start(void)
{
	for (int i = 0; i < 30; i++) {
		char *p = malloc(101);
		KEEP(p);
		if (i % 3)
			free(p);
	}
}
__attribute__((force_align_arg_pointer)) void _start(void)
{
	in_start();
	_exit(0);
}
