/* 05 C++ exceptions thrown through many frames; exception objects and RAII memory are all released.
 * BUILD: g++ -g -O2 -o 05-exceptions 05-exceptions.cpp
 * RUN:   ./05-exceptions      (must not crash, must print nothing, exit 0)
 * TRUTH func=hold_and_go    allocs=3000 bytes=5997000 live_blocks=0 live_bytes=0
 * TRUTH func=throw_at_bottom allocs=1000 bytes=1861000 live_blocks=0 live_bytes=0 note=1733-byte-object-plus-128-byte-libstdc++-header
 * TRUTH func=after_all      allocs=9 bytes=14391 live_blocks=9 live_bytes=14391
 * 1000 throws, each through 3 levels of hold_and_go. PEAK about 3*1999+1861 + constant.
 * The libsupc++ emergency pool (72704 bytes, live, allocated at start in libstdc++) is library noise.
 * WRONG ANSWERS SEEN: exception objects reported as 1000 leaks; crash on first throw.
 * BUG: koute/bytehound#119, koute/bytehound#17 */
#include <cstdlib>
#include <cstring>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
struct Big {
	char pad[1733];
};
struct Holder {
	char *p;
	NI explicit Holder(char *q) : p(q)
	{
		KEEP(p);
	}
	~Holder()
	{
		free(p);
	}
};
NI void throw_at_bottom()
{
	Big b;
	memset(&b, 1, sizeof b);
	throw b;
}
NI void hold_and_go(int n)
{
	Holder h((char *)malloc(1999));
	KEEP(h.p);
	if (n == 0)
		throw_at_bottom();
	else
		hold_and_go(n - 1);
	KEEP(h.p);
}
void *keep[9];
NI void after_all()
{
	for (int i = 0; i < 9; i++) {
		keep[i] = malloc(1599);
		KEEP(keep[i]);
	}
}
int main()
{
	int caught = 0;
	for (int i = 0; i < 1000; i++) {
		try {
			hold_and_go(2);
		} catch (const Big &b) {
			caught += b.pad[7];
		}
	}
	after_all();
	return caught == 1000 ? 0 : 1;
}
