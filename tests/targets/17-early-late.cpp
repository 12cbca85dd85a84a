/* 17 allocations before main and after main: preinit_array, init priority, static ctor, atexit, static dtor,
 *    destructor attribute.
 * BUILD: g++ -g -O2 -o 17-early-late 17-early-late.cpp
 * RUN:   ./17-early-late
 * TRUTH func=in_preinit    allocs=7 bytes=21007 live_blocks=7 live_bytes=21007
 * TRUTH func=in_ctor_prio  allocs=6 bytes=18042 live_blocks=6 live_bytes=18042
 * TRUTH func=in_static_ctor allocs=5 bytes=15055 live_blocks=5 live_bytes=15055
 * TRUTH func=in_main       allocs=4 bytes=12076 live_blocks=0 live_bytes=0
 * TRUTH func=in_atexit     allocs=3 bytes=9069  live_blocks=3 live_bytes=9069
 * TRUTH func=in_static_dtor allocs=2 bytes=6058 live_blocks=2 live_bytes=6058
 * TRUTH func=in_fini       allocs=1 bytes=3037  live_blocks=1 live_bytes=3037
 * in_main's 4 blocks are freed in the static destructor (after main): live 0, not "leaked at exit of main".
 * If the collector writes its result from its own destructor before in_fini runs, in_fini (and only
 * it) may be missing, and the report has to say it stopped at that point.
 * BUG: jemalloc#2505, #443, apache/doris#65428 (startup deadlock), bytehound#10 (init recursion), jemalloc#2162 */
#include <cstdlib>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")
static void *keep[64];
static int nk;
static void *mainblk[4];
NI static void in_preinit()
{
	for (int i = 0; i < 7; i++) {
		void *p = malloc(3001);
		KEEP(p);
		keep[nk++] = p;
	}
}
__attribute__((section(".preinit_array"), used)) static void (*pre)() = in_preinit;
__attribute__((constructor(101))) NI static void in_ctor_prio()
{
	for (int i = 0; i < 6; i++) {
		void *p = malloc(3007);
		KEEP(p);
		keep[nk++] = p;
	}
}
NI static void in_static_ctor()
{
	for (int i = 0; i < 5; i++) {
		void *p = malloc(3011);
		KEEP(p);
		keep[nk++] = p;
	}
}
NI static void in_static_dtor()
{
	for (auto p : mainblk)
		free(p);
	for (int i = 0; i < 2; i++) {
		void *p = malloc(3029);
		KEEP(p);
		keep[nk++] = p;
	}
}
struct S {
	S()
	{
		in_static_ctor();
	}
	~S()
	{
		in_static_dtor();
	}
};
static S s;
NI static void in_atexit()
{
	for (int i = 0; i < 3; i++) {
		void *p = malloc(3023);
		KEEP(p);
		keep[nk++] = p;
	}
}
__attribute__((destructor(101))) NI static void in_fini()
{
	void *p = malloc(3037);
	KEEP(p);
	keep[nk++] = p;
}
NI static void in_main()
{
	for (auto &p : mainblk) {
		p = malloc(3019);
		KEEP(p);
	}
}
int main()
{
	atexit(in_atexit);
	in_main();
	return 0;
}
