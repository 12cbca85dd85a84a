/* The library's part of tail.c. */
#include <stdlib.h>
#define NI __attribute__((noinline, noclone))

void *volatile lib_kept;
volatile unsigned lib_ways;

NI static void lib_leaf(size_t bytes)
{
	lib_kept = malloc(bytes);
	lib_ways++;
}
NI void lib_one(size_t bytes)
{
	lib_ways += 2;
	lib_leaf(bytes);
}
