/* 61 handlers that allocate while malloc, free and the profiler inside them are interrupted.
 * BUILD: gcc -g -O2 -shared -fPIC -DLIBRARY -o lib61safe.so 61-interrupted.c
 *        gcc -g -O2 -o 61-interrupted 61-interrupted.c -L. -l61safe -Wl,-rpath,'$ORIGIN'
 * RUN:   ./61-interrupted
 * TRUTH func=in_loop allocs=400000 bytes=53197891 live_blocks=0 live_bytes=0
 * It prints the TRUTH about the rest, which depends on how often the timer fired.  The library is an allocator
 * that handlers may call: it blocks signals.  A timer of 1 kHz on an alternate stack allocates in its handler, at two
 * depths, keeps some blocks, frees others and frees what the main program allocated; a second signal interrupts
 * the handler and allocates too; its stack ends there, so that it is not below the first handler.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#ifdef LIBRARY
/* Power-of-two classes in one arena; every entry point runs with signals blocked, one thread at a time. */
static char *arena, *arena_end;
static void *lists[40];
static char lock;
volatile sig_atomic_t allocator_depth;
/* Not by libc, which leaves the signal out that cancels threads. */
static void set_mask(const unsigned long *set, unsigned long *old)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, set, old, sizeof *set);
}
static void enter(unsigned long *old)
{
	const unsigned long all = ~0ul;
	set_mask(&all, old);
	while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE))
		sched_yield();
	allocator_depth++;
}
static void leave(const unsigned long *old)
{
	allocator_depth--;
	__atomic_clear(&lock, __ATOMIC_RELEASE);
	set_mask(old, NULL);
}
static void *take(size_t bytes)
{
	int lg = 5;
	while (((size_t)1 << lg) < bytes + 16)
		lg++;
	char *p = lists[lg];
	if (p) {
		lists[lg] = *(void **)(p + 16);
		return p + 16;
	}
	if (!arena) {
		arena = mmap(NULL, 1ul << 32, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		arena_end = arena + (1ul << 32);
	}
	p = arena;
	arena += 1ul << lg;
	if (arena > arena_end)
		abort();
	*(size_t *)p = lg;
	return p + 16;
}
void *malloc(size_t bytes)
{
	unsigned long old;
	enter(&old);
	void *p = take(bytes);
	leave(&old);
	return p;
}
void free(void *p)
{
	unsigned long old;
	if (!p)
		return;
	enter(&old);
	char *block = (char *)p - 16;
	*(void **)p = lists[*(size_t *)block];
	lists[*(size_t *)block] = block;
	leave(&old);
}
void *calloc(size_t n, size_t bytes)
{
	void *p = malloc(n * bytes);
	KEEP(p); /* or the compiler makes a call of calloc of it */
	return memset(p, 0, n * bytes);
}
void *realloc(void *p, size_t bytes)
{
	void *q = malloc(bytes);
	if (p) {
		size_t had = ((size_t)1 << *(size_t *)((char *)p - 16)) - 16;
		memcpy(q, p, had < bytes ? had : bytes);
		free(p);
	}
	return q;
}
void *memalign(size_t align, size_t bytes)
{
	return align <= 16 ? malloc(bytes) : NULL;
}
void *aligned_alloc(size_t align, size_t bytes)
{
	return memalign(align, bytes);
}
int posix_memalign(void **out, size_t align, size_t bytes)
{
	*out = memalign(align, bytes);
	return *out ? 0 : 12;
}
size_t malloc_usable_size(void *p)
{
	return p ? ((size_t)1 << *(size_t *)((char *)p - 16)) - 16 : 0;
}
#else
#define ROUNDS   400000
#define KEPT_MAX 100000
static volatile long handled, nested, kept_count;
static void *kept[KEPT_MAX];
static void *volatile shared_block;

NI void in_nested(void)
{
	void *p = malloc(401);
	KEEP(p);
	nested++;
	free(p);
	KEEP(p);
}
static void second_handler(int sig)
{
	(void)sig;
	in_nested();
}
NI void in_handler(long n)
{
	void *p = malloc(307), *q = malloc(311);
	KEEP(p);
	KEEP(q);
	if (n % 16 == 0 && kept_count < KEPT_MAX)
		kept[kept_count++] = q;
	else
		free(q);
	raise(SIGUSR2);
	free(p);
	void *old = shared_block;
	shared_block = NULL;
	free(old);
	KEEP(n);
}
NI void deeper(long n)
{
	char room[200];
	char *p = room;
	KEEP(p);
	in_handler(n);
	KEEP(p);
}
static void handler(int sig)
{
	(void)sig;
	long n = handled++;
	if (n & 1)
		in_handler(n);
	else
		deeper(n);
}
NI void in_loop(int bytes)
{
	void *p = malloc((size_t)bytes);
	KEEP(p);
	void *old = shared_block;
	if (old) {
		free(p);
	} else {
		/* The handler may free it at any moment from now on; else the next round does. */
		void *expected = NULL;
		if (!__atomic_compare_exchange_n(&shared_block, &expected, p, 0, __ATOMIC_SEQ_CST,
						 __ATOMIC_SEQ_CST))
			free(p);
		free(__atomic_exchange_n(&shared_block, NULL, __ATOMIC_SEQ_CST));
	}
	KEEP(p);
}
int main(void)
{
	static char alternate[65536];
	stack_t ss = {.ss_sp = alternate, .ss_size = sizeof alternate};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
	struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	sigaltstack(&ss, NULL);
	sigaction(SIGALRM, &sa, NULL);
	sa.sa_handler = second_handler;
	sigaction(SIGUSR2, &sa, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < ROUNDS; i++)
		in_loop(68 + i % 131);
	setitimer(ITIMER_REAL, &never, NULL);
	dprintf(1, "%s func=in_handler allocs=%ld bytes=%ld live_blocks=%ld live_bytes=%ld\n",
		"TRUTH", 2 * handled, (307 + 311) * handled, kept_count, 311 * kept_count);
	dprintf(1, "%s func=in_nested allocs=%ld bytes=%ld live_blocks=0 live_bytes=0\n", "TRUTH",
		nested, 401 * nested);
	dprintf(1, "%s func=deeper allocs=%ld\n", "INCLUSIVE", 2 * ((handled + 1) / 2));
	return 0;
}
#endif
