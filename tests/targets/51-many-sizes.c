/* 51 one call site, very many sizes.
 * BUILD: gcc -g -O2 -o 51-many-sizes 51-many-sizes.c
 * RUN:   ./51-many-sizes
 * TRUTH func=small_sizes allocs=60000 bytes=122885115 live_blocks=600 live_bytes=1232565
 * TRUTH func=large_sizes allocs=60000 bytes=6247870005 live_blocks=600 live_bytes=62221849
 * TRUTH func=regrown allocs=30000 bytes=2099940000 live_blocks=1 live_bytes=129996 conv=realloc
 * small_sizes: 16..4080 in a scrambled order; large_sizes: 60000 different sizes from 4137 to 204131;
 * regrown: one block that grows by realloc through 30000 sizes.
 */
#include <stdint.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
void *kept[2000];
int kept_count;
static void settle(void *p, int i)
{
	if (i % 100 == 0)
		kept[kept_count++] = p;
	else
		free(p);
}
NI void small_sizes(void)
{
	for (int i = 0; i < 60000; i++) {
		void *p = malloc((size_t)(i * 7919ll % 4065 + 16));
		KEEP(p);
		settle(p, i);
	}
}
NI void large_sizes(void)
{
	for (int i = 0; i < 60000; i++) {
		void *p = malloc((size_t)(i * 104729ll % 199999 + 4137));
		KEEP(p);
		settle(p, i);
	}
}
NI void regrown(void)
{
	void *p = NULL;
	for (int i = 0; i < 30000; i++) {
		p = realloc(p, (size_t)(10000 + i * 4));
		KEEP(p);
	}
	kept[kept_count++] = p;
}
int main(void)
{
	small_sizes();
	large_sizes();
	regrown();
	return 0;
}
