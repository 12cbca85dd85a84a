/* Calls that are jumps, in C; see sym-tail.sh. */
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))

void lib_one(size_t bytes);
void cxx_one(size_t bytes);
void (*volatile pointer)(size_t bytes);
void *volatile kept[64];
volatile unsigned count, ways;

NI void leaf(size_t bytes)
{
	kept[count] = malloc(bytes);
	count++;
}
NI void one(size_t bytes)
{
	ways++;
	leaf(bytes);
}
NI void two(size_t bytes)
{
	ways += 2;
	one(bytes);
}
NI void three(size_t bytes)
{
	ways += 3;
	one(bytes);
}
NI void either(size_t bytes)
{
	if (ways++ == 1000)
		one(bytes);
	else
		leaf(bytes);
}
NI void both(size_t bytes)
{
	if (ways++ == 1000)
		two(bytes);
	else
		three(bytes);
}
NI void ping(size_t bytes);
NI void pong(size_t bytes)
{
	if (ways++ % 2)
		ping(bytes);
	else
		leaf(bytes);
}
NI void ping(size_t bytes)
{
	ways += 2;
	pong(bytes);
}
NI void pointed(size_t bytes)
{
	ways++;
	pointer(bytes);
}
NI void *wrap(size_t bytes)
{
	ways++;
	return malloc(bytes);
}
NI void *wrap2(size_t bytes)
{
	ways++;
	return calloc(1, bytes);
}
NI void *zeroed(size_t bytes)
{
	ways++;
	return wrap2(bytes);
}
int main(void)
{
	pointer = leaf;
	one(11);
	two(12);
	either(13);
	both(14);
	ping(15);
	pointed(16);
	lib_one(17);
	cxx_one(18);
	kept[40] = wrap(19);
	kept[41] = zeroed(20);
	return 0;
}
