/* 21 tail calls and calls that never return: return-address arithmetic.
 * BUILD: gcc -g -O2 -foptimize-sibling-calls -fno-reorder-functions -o 21-tailcall-noreturn 21-tailcall-noreturn.c
 * RUN:   ./21-tailcall-noreturn
 * tail_wrapper() ends in a sibling call to malloc: it is NOT on the stack when malloc runs.
 *   caller_of_wrapper: 40 x 771 = 30840 bytes live (nearest real frame). Showing tail_wrapper above it
 *   (from DW_TAG_call_site) is fine; charging any other function is wrong.
 * last_call() ends with a call to a noreturn function, so its return address is the first byte AFTER
 *   last_call (in the next function, innocent_next). A symboliser that looks up the raw return address
 *   shows innocent_next as the caller of never_returns.
 * TRUTH func=caller_of_wrapper allocs=40 bytes=30840 live_blocks=40 live_bytes=30840
 * TRUTH func=never_returns allocs=25 bytes=20075 live_blocks=25 live_bytes=20075
 * TRUTH func=innocent_next allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * Every never_returns stack has caller last_call, then main. innocent_next: 0 inclusive.
 * BUG: libunwind/libunwind#94 (off by one), libunwind#1059, AliveToolkit/alive2#318 (TCO hides the calling frame) */
#include <setjmp.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
static jmp_buf jb;
void *keep[80];
int nk;
NI void *tail_wrapper(int n)
{
	return malloc(n);
}
NI void caller_of_wrapper(void)
{
	void *p = tail_wrapper(771);
	KEEP(p);
	keep[nk++] = p;
}
__attribute__((noinline, noclone, noreturn)) void never_returns(void)
{
	void *p = malloc(803);
	KEEP(p);
	keep[nk++] = p;
	longjmp(jb, 1);
}
__attribute__((noinline, noclone, noreturn)) void last_call(void)
{
	KEEP(&jb);
	never_returns();
}
NI int innocent_next(int x)
{
	KEEP(&x);
	return x + 1;
}
int main(void)
{
	for (int i = 0; i < 40; i++)
		caller_of_wrapper();
	for (volatile int i = 0; i < 25; i++)
		if (!setjmp(jb))
			last_call();
	return innocent_next(nk) != 66;
}
