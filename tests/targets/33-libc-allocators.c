/* 33 memory allocated inside libc on the caller's behalf and freed by the caller (strdup, asprintf, getline, ...).
 * BUILD: gcc -g -O2 -o 33-libc-allocators 33-libc-allocators.c
 * RUN:   ./33-libc-allocators
 * TRUTH func=use_strdup   allocs=100 bytes=30100 live_blocks=10 live_bytes=3010
 * TRUTH func=use_strndup  allocs=50  bytes=5050  live_blocks=5 live_bytes=505
 * TRUTH func=use_callocs  allocs=30  bytes=63210 live_blocks=3 live_bytes=6321
 * TRUTH func=use_getcwd   live_blocks=0 live_bytes=0 allocs=any bytes=any
 * TRUTH func=use_asprintf live_blocks=2 allocs=any bytes=any live_bytes=any note=2-results-of-at-least-203-bytes-kept
 * Frames: main > use_strdup > strdup > malloc (strdup visible as libc frame; self may be charged to strdup, but
 * inclusive for use_strdup is exact). Frees of these blocks must not be "unknown pointer".
 * BUG: libleak#25 (strdup in init), gperftools#909 (pointer allocated behind the tool's back), malt#106 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
static char s[301];
void *k[128];
int nk;
static void settle(void *p, int keepit)
{
	KEEP(p);
	if (keepit)
		k[nk++] = p;
	else
		free(p);
	KEEP(p);
}
NI void use_strdup(void)
{
	for (int i = 0; i < 100; i++)
		settle(strdup(s), i % 10 == 0);
}
NI void use_strndup(void)
{
	for (int i = 0; i < 50; i++)
		settle(strndup(s, 100), i % 10 == 0);
}
NI void use_callocs(void)
{
	for (int i = 0; i < 30; i++)
		settle(calloc(49, 43), i % 10 == 0);
}
NI void use_getcwd(void)
{
	for (int i = 0; i < 5; i++)
		settle(getcwd(NULL, 0), 0);
}
NI void use_asprintf(void)
{
	for (int i = 0; i < 4; i++) {
		char *p = 0;
		if (asprintf(&p, "%.202s", s) < 0)
			abort();
		settle(p, i & 1);
	}
}
int main(void)
{
	memset(s, 'x', 300);
	use_strdup();
	use_strndup();
	use_callocs();
	use_getcwd();
	use_asprintf();
	return nk != 20;
}
