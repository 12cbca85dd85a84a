/*
 * fixed-time.so - a preload that stops the clock of time(2).
 *
 * libxml2 seeds its hash tables with it, and how they grow depends on the seed.
 */
#include <time.h>

__attribute__((visibility("default"))) time_t time(time_t *out)
{
	if (out)
		*out = 1000000000;
	return 1000000000;
}
