/* Random numbers and random profiles, the same for the same seed. */
#ifndef NEAP_TESTS_UNIT_RANDOM_WORLD_H
#define NEAP_TESTS_UNIT_RANDOM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/build_profile.h"

/* random_below - 0 .. limit - 1; changes the state. */
uint64_t random_below(uint64_t *state, uint64_t limit);

struct random_size { /* at most so many, of births for each snapshot */
	uint32_t frames, nodes, sites, births, snapshots;
};
/* random_world - all but its end: recursion, inlined functions, frames without names or
 * modules, nodes that are leaving their functions, several threads, sites of many sizes,
 * inherited blocks, with and without an exact peak. */
struct build *random_world(const char *path, uint64_t seed, const struct random_size *size);
/* The allocation wrappers of these profiles. */
bool random_is_wrapper(const char *name);

#endif
