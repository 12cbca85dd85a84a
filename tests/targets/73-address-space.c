/* 73 the address space runs out, comes back, and runs out again.
 * BUILD: gcc -g -O2 -o 73-address-space 73-address-space.c
 * RUN:   ./73-address-space [data]
 * It allocates blocks of 1000 to 300000 bytes under a limit of 300 MiB until malloc fails, frees them all, and that five
 * times; it prints how many it got.  With "data" the limit is on private memory (RLIMIT_DATA).
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#define MOST    400000
static void *blocks[MOST];
static unsigned long count_all, bytes_all;
static uint32_t random_now = 1;
NI int until_full(uint32_t most_bytes)
{
	int n = 0;
	for (; n < MOST; n++) {
		random_now = random_now * 1664525u + 1013904223u;
		size_t bytes = 1000 + (random_now >> 8) % most_bytes;
		blocks[n] = malloc(bytes);
		KEEP(n);
		if (!blocks[n])
			break;
		*(char *)blocks[n] = 1;
		count_all++;
		bytes_all += bytes;
	}
	return n;
}
int main(int argc, char **argv)
{
	int what = argc > 1 ? RLIMIT_DATA : RLIMIT_AS;
	(void)argv;
	struct rlimit limit;
	setvbuf(stdout, NULL, _IONBF, 0); /* or its buffer is one more block to find no room */
	getrlimit(what, &limit);
	limit.rlim_cur = 300u << 20;
	if (setrlimit(what, &limit))
		return 77;
	for (int round = 0; round < 5; round++) {
		int n = until_full(round & 1 ? 2000 : 300000);
		if (n == MOST)
			return 2;
		while (n-- > 0)
			free(blocks[n]);
	}
	static const char form[] =
		"%s func=until_full allocs=%lu bytes=%lu live_blocks=0 live_bytes=0\n";
	printf(form, "TRUTH", count_all, bytes_all);
	return 0;
}
