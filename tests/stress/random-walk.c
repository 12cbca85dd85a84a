/* Random call paths with the same stack layout; the program knows what it allocated.
 * RUN: ./random-walk STEPS DEPTH [SEED]     prints TRUTH and INCLUSIVE lines about itself */
#include "walk.h"

int main(int argc, char **argv)
{
	long steps = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
	int depth = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 12;
	static void *ring[4096];
	struct walk w = {.random = argc > 3 ? strtoull(argv[3], NULL, 10) : 1,
			 .ring = ring,
			 .ring_count = 4096};
	for (long i = 0; i < steps; i++)
		walk_step(&w, depth);
	walk_print(&w, stdout);
	for (int i = 0; i < 4096; i++)
		free(ring[i]);
	return 0;
}
