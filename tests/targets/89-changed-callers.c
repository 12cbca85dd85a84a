/* 89 the frames next to the allocation come back as they were, while the callers further out have changed.
 * BUILD: gcc -g -O2 -o 89-changed-callers 89-changed-callers.c
 * RUN:   ./89-changed-callers
 * TRUTH func=give allocs=18000 bytes=2286000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=even     allocs=9000 bytes=1136000
 * INCLUSIVE func=odd      allocs=9000 bytes=1150000
 * INCLUSIVE func=one      allocs=3000 bytes=304000
 * INCLUSIVE func=two      allocs=3000 bytes=317000
 * INCLUSIVE func=through  allocs=6000 bytes=621000
 * INCLUSIVE func=left     allocs=3000 bytes=377000
 * INCLUSIVE func=right    allocs=3000 bytes=397000
 * INCLUSIVE func=shifted  allocs=6000 bytes=774000
 * INCLUSIVE func=near     allocs=3000 bytes=439000
 * INCLUSIVE func=far      allocs=3000 bytes=452000
 * INCLUSIVE func=realigned allocs=6000 bytes=891000
 * through(), shifted() and realigned() call even() and odd() from one place, so that their own frames are the same
 * whatever they call.  one() and two() differ in where they call through() from.  shifted() has a frame of
 * one size or another at the same stack pointer, below left() or right().  realigned() lies where a multiple of 256 is,
 * while its callers lie 64 bytes apart, so that only its pointer to them tells where to go on.  What was the
 * way out the last time is still in memory every time.  Every way to give() asks for bytes of its own.
 */
#include <alloca.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
static size_t bytes;
NI void give(long i)
{
	void *p = malloc(bytes);
	KEEP(p);
	free(p);
	KEEP(i);
}
NI void even(long i)
{
	give(i);
	KEEP(i);
}
NI void odd(long i)
{
	give(i);
	KEEP(i);
}
static void (*const inner[2])(long) = {even, odd};

/* ---- other callers of the same frames ---------------------------------------------------- */

NI void through(long i)
{
	inner[i & 1](i);
	KEEP(i);
}
NI void one(long i)
{
	through(i);
	KEEP(i);
}
NI void two(long i)
{
	through(i);
	KEEP(i);
}
/* After two of a kind of inner frames comes the other caller with the first kind: o e o | e o e | o e o ... */
static void by_callers(void)
{
	for (long i = 0; i < 6000; i++) {
		int is_one = i / 3 % 2;
		bytes = (size_t)(100 + (is_one ? 0 : 5) + 2 * (i & 1));
		is_one ? one(i) : two(i);
	}
}

/* ---- frames of other sizes, found by rbp ---------------------------------------------------- */

NI void shifted(long i, size_t room)
{
	char *p = alloca(room);
	*p = 1;
	KEEP(p);
	inner[i & 1](i);
	KEEP(p);
}
NI void left(long i, size_t room)
{
	shifted(i, room);
	KEEP(i);
}
NI void right(long i, size_t room)
{
	shifted(i, room);
	KEEP(i);
}
NI void shift(long i, int is_left, size_t room)
{
	char *p = alloca(room);
	*p = 1;
	KEEP(p);
	bytes = (size_t)(125 + (is_left ? 0 : 6) + 2 * (i & 1));
	is_left ? left(i, 1024 - room) : right(i, 1024 - room);
	KEEP(p);
}
/* The fourth and the sixth have their frames where those of the first lay, and what the third left further out. */
static void by_sizes(void)
{
	static const struct {
		long kind;
		int is_left;
		size_t room;
	} steps[6] = {{0, 1, 32}, {1, 1, 32}, {0, 1, 512}, {1, 0, 32}, {0, 0, 512}, {1, 0, 32}};
	for (long i = 0; i < 6000; i++)
		shift(steps[i % 6].kind, steps[i % 6].is_left, steps[i % 6].room);
}

/* ---- a realigned frame ------------------------------------------------------------------------ */

/* An argument on the stack keeps the compiler from finding the caller by rbp. */
NI void realigned(long i, long b, long c, long d, long e, long f, long on_stack, long on_stack_too)
{
	char room[512] __attribute__((aligned(256)));
	char *p = room, *more = alloca((size_t)on_stack);
	KEEP(p);
	KEEP(more);
	inner[i & 1](i + b + c + d + e + f);
	KEEP(p);
	KEEP(on_stack_too);
}
NI void near(long i)
{
	char *p = alloca(64);
	KEEP(p);
	realigned(i, 0, 0, 0, 0, 0, 32, 1);
	KEEP(p);
}
NI void far(long i)
{
	char *p = alloca(128);
	KEEP(p);
	realigned(i, 0, 0, 0, 0, 0, 32, 1);
	KEEP(p);
}
static void (*const callers[2])(long) = {far, near};
/* With every position of near() and far() between two multiples of 256. */
NI void at_position(size_t room)
{
	char *p = alloca(room);
	KEEP(p);
	for (long i = 0; i < 600; i++) {
		int is_near = i / 3 % 2;
		bytes = (size_t)(145 + (is_near ? 0 : 5) + 2 * (i & 1));
		callers[is_near](i);
	}
	KEEP(p);
}
int main(void)
{
	by_callers();
	by_sizes();
	for (size_t room = 64; room < 64 + 10 * 32; room += 32)
		at_position(room);
	return 0;
}
