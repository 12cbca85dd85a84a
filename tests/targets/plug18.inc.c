/* plugin body for 18 (own code). NAME allocates CNT blocks of SZ bytes per call and leaks them. */
#include <stdlib.h>
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
__attribute__((noinline, visibility("default"))) void NAME(void)
{
	for (int i = 0; i < CNT; i++) {
		void *p = malloc(SZ);
		KEEP(p);
	}
}
