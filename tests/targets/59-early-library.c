/* 59 the first allocation of the process is made by the constructor of a library.
 * BUILD: gcc -g -O2 -shared -fPIC -DLIBRARY -o lib59early.so 59-early-library.c
 *        gcc -g -O2 -o 59-early-library 59-early-library.c -L. -l59early -Wl,-rpath,'$ORIGIN'
 * RUN:   ./59-early-library
 * TRUTH func=in_library allocs=3 bytes=1803 live_blocks=3 live_bytes=1803
 * TRUTH func=in_library_end allocs=2 bytes=1206 live_blocks=2 live_bytes=1206
 * TRUTH func=in_program allocs=5 bytes=3035 live_blocks=0 live_bytes=0
 * TRUTH func=[total] allocs=10 bytes=6044 live_blocks=5 live_bytes=3009
 * Nothing else allocates here: one block more in the total was made by the profiler itself.
 */
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifdef LIBRARY
void *library_kept[8];
NI void in_library(void)
{
	for (int i = 0; i < 3; i++) {
		void *p = malloc(601);
		KEEP(p);
		library_kept[i] = p;
	}
}
NI void in_library_end(void)
{
	for (int i = 0; i < 2; i++) {
		void *p = malloc(603);
		KEEP(p);
		library_kept[3 + i] = p;
	}
}
__attribute__((constructor)) static void begin(void)
{
	in_library();
	KEEP(library_kept[0]);
}
__attribute__((destructor)) static void end(void)
{
	in_library_end();
	KEEP(library_kept[0]);
}
#else
extern void *library_kept[8];
NI void in_program(void)
{
	for (int i = 0; i < 5; i++) {
		void *p = malloc(607);
		KEEP(p);
		free(p);
	}
}
int main(void)
{
	in_program();
	return !library_kept[0];
}
#endif
