/* 26 a 2 ms spike between periodic snapshots; phases with known timeline.
 * BUILD: gcc -g -O2 -o 26-peak-between-snapshots 26-peak-between-snapshots.c
 * RUN:   ./26-peak-between-snapshots          (about 2.0 s wall clock, almost no CPU)
 * timeline: 0.0s phase_a +10 x 1000003; 0.5s spike +64 x 1000033, freed within ~2 ms; 1.0s phase_c +20 x 1000037;
 *           1.5s phase_a's blocks are freed by phase_d; 2.0s end.
 * TRUTH func=phase_a allocs=10 bytes=10000030 live_blocks=0 live_bytes=0
 * TRUTH func=spike   allocs=64 bytes=64002112 live_blocks=0 live_bytes=0
 * TRUTH func=phase_c allocs=20 bytes=20000740 live_blocks=20 live_bytes=20000740
 * PEAK  exact = 10000030 + 64002112 = 74002142 app bytes at t = 0.5 s, of which spike = 64002112.
 * A peak of about 30 MB means the tool only looks at snapshots. Time axis must be wall-clock seconds (2.0),
 * not CPU time (~0.01); the peak must be placed near 0.5 s; graph end 20000740.
 * BUG: bloomberg/memray#96, #97 (high water mark aggregation), cms-sw/cmssw#50693 (peak during realloc) */
#include <stdlib.h>
#include <time.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
void *a[10], *s[64], *c[20];
static void nap(void)
{
	struct timespec t = {0, 500000000};
	nanosleep(&t, 0);
}
NI void phase_a(void)
{
	for (int i = 0; i < 10; i++) {
		a[i] = malloc(1000003);
		KEEP(a[i]);
	}
}
NI void spike(void)
{
	for (int i = 0; i < 64; i++) {
		s[i] = malloc(1000033);
		KEEP(s[i]);
	}
	for (int i = 0; i < 64; i++)
		free(s[i]);
	KEEP(s);
}
NI void phase_c(void)
{
	for (int i = 0; i < 20; i++) {
		c[i] = malloc(1000037);
		KEEP(c[i]);
	}
}
NI void phase_d(void)
{
	for (int i = 0; i < 10; i++)
		free(a[i]);
	KEEP(a);
}
int main(void)
{
	phase_a();
	nap();
	spike();
	nap();
	phase_c();
	nap();
	phase_d();
	nap();
	return 0;
}
