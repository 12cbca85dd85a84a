/*
 * The profiles that the golden tests look at; every run makes the same.
 *
 *   json     an ordinary C++ program: recursion, wrappers, two threads, exit handlers
 *   hostile  names and paths made to break a terminal, drops, an early end
 *   forked   a child that inherited blocks, was killed, and has an inexact peak
 *   nonames  no symbols and no recorded peak
 *   empty    nothing was allocated
 */
#ifndef NEAP_TESTS_GOLDEN_PROFILES_H
#define NEAP_TESTS_GOLDEN_PROFILES_H

#include "tests/unit/build_profile.h"

struct golden_profile {
	const char *name;
	/* Written to path, or to a temporary file if NULL; the caller closes or reads it. */
	struct build *(*make)(const char *path);
};

extern const struct golden_profile golden_profiles[];
extern const size_t golden_profile_count;

#endif
