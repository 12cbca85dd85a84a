/* 53 frames at the same place with the same registers, but of other callers, and rbp as data in between.
 * BUILD: gcc -g -O2 -o 53-same-frames 53-same-frames.c
 * RUN:   ./53-same-frames
 * TRUTH func=give allocs=32000 bytes=1324000 live_blocks=0 live_bytes=0
 * INCLUSIVE func=even      allocs=16000 bytes=646000
 * INCLUSIVE func=odd       allocs=16000 bytes=678000
 * INCLUSIVE func=first     allocs=12000 bytes=414000
 * INCLUSIVE func=second    allocs=4000 bytes=154000
 * INCLUSIVE func=third     allocs=4000 bytes=170000
 * INCLUSIVE func=fourth    allocs=4000 bytes=186000
 * INCLUSIVE func=one       allocs=12000 bytes=456000
 * INCLUSIVE func=two       allocs=12000 bytes=468000
 * INCLUSIVE func=sized     allocs=8000 bytes=324000
 * INCLUSIVE func=left      allocs=4000 bytes=136000
 * INCLUSIVE func=right     allocs=4000 bytes=264000
 * INCLUSIVE func=shifted   allocs=8000 bytes=400000
 * one() and two() have frames of one shape and call the same functions, so that all further in has equal
 * addresses; even() and odd() differ in nothing but where they call from.  All of them keep data in rbp.
 * sized(), shift() and shifted() find their frames by rbp; that of shifted() lies higher or lower, as shift()
 * makes room, while its stack pointer is the same, and the return addresses of the last call still lie where
 * they were.  Every way to give() asks for bytes of its own, so that no two mistakes make up for each other.
 */
#include <alloca.h>
#include <stdlib.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
/* A caller-saved value that lives across the call, in rbp. */
#define DATA_IN_RBP(value)                           \
	register long data __asm__("rbp") = (value); \
	__asm__ volatile("" : "+r"(data))
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
	DATA_IN_RBP(i * 77777);
	give(i);
	KEEP(data);
}
NI void odd(long i)
{
	DATA_IN_RBP(i * 99999);
	give(i);
	KEEP(data);
}
NI void first(long i)
{
	DATA_IN_RBP(i);
	i & 1 ? odd(i) : even(i);
	KEEP(data);
}
NI void second(long i)
{
	DATA_IN_RBP(-i);
	i & 1 ? odd(i) : even(i);
	KEEP(data);
}
NI void third(long i)
{
	DATA_IN_RBP(7);
	i & 1 ? odd(i) : even(i);
	KEEP(data);
}
NI void fourth(long i)
{
	DATA_IN_RBP(i % 3);
	i & 1 ? odd(i) : even(i);
	KEEP(data);
}
static void (*const inner[4])(long) = {first, second, third, fourth};
NI void one(long i, int which)
{
	bytes = 33 + 4 * which + 2 * (i & 1);
	DATA_IN_RBP(i + 1);
	inner[which](i);
	KEEP(data);
}
NI void two(long i, int which)
{
	bytes = 34 + 4 * which + 2 * (i & 1);
	DATA_IN_RBP(i + 2);
	inner[which](i);
	KEEP(data);
}
NI void one_or_two(long i)
{
	i / 8 & 1 ? one(i, i / 2 % 4) : two(i, i / 2 % 4);
	KEEP(i);
}
NI void sized(long i)
{
	char *p = alloca((size_t)(16 + i % 5 * 16));
	*p = 1;
	KEEP(p);
	one_or_two(i);
	KEEP(p);
}
NI void shifted(long i, size_t room)
{
	char *p = alloca(room);
	*p = 1;
	KEEP(p);
	i / 2 & 1 ? odd(i) : even(i);
	KEEP(p);
}
NI void left(long i, size_t room)
{
	bytes = 33 + 2 * (i / 2 & 1);
	shifted(i, room);
	KEEP(i);
}
NI void right(long i, size_t room)
{
	bytes = 65 + 2 * (i / 2 & 1);
	shifted(i, room);
	KEEP(i);
}
NI void shift(long i, size_t room)
{
	char *p = alloca(room);
	*p = 1;
	KEEP(p);
	i & 1 ? left(i, 1024 - room) : right(i, 1024 - room);
	KEEP(p);
}
int main(void)
{
	for (long i = 0; i < 8000; i++)
		sized(i);
	for (long i = 0; i < 8000; i++)
		one_or_two(i);
	for (long i = 0; i < 8000; i++)
		i / 2 & 1 ? one(i, 0) : two(i, 0);
	for (long i = 0; i < 8000; i++)
		shift(i, i & 1 ? 32 : 512);
	return 0;
}
