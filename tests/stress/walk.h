/*
 * A walk through eight functions of the same shape, directed by a random number:
 * the call paths share stack addresses but not callers, which is what an unwinder
 * that remembers the last stack must not be fooled by.
 *
 * Every step counts, on the side, what is allocated below each function and below
 * each pair of caller and callee, so that a program can print the truth about
 * itself when it ends.
 */
#ifndef NEAP_TESTS_WALK_H
#define NEAP_TESTS_WALK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" ::"r"(p) : "memory")

#define WALK_FUNCS 8

struct walk {
	uint64_t random;
	uint64_t below_count[WALK_FUNCS],
		below_bytes[WALK_FUNCS]; /* functions of the current path, once each */
	uint32_t on_path[WALK_FUNCS];
	uint64_t alloc_count, alloc_bytes;
	/* A ring of blocks: each new one takes the place of an old one, which is freed. */
	void **ring;
	uint32_t ring_count;
};

static inline uint32_t walk_random(struct walk *w)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(w->random >> 33);
}

/* One allocation; bytes is 16..1039. */
NI static void walk_leaf(struct walk *w)
{
	uint32_t bytes = 16 + walk_random(w) % 1024;
	uint32_t at = walk_random(w) % w->ring_count;
	void *p = malloc(bytes);
	KEEP(p);
	w->alloc_count++;
	w->alloc_bytes += bytes;
	for (int i = 0; i < WALK_FUNCS; i++) {
		w->below_count[i] += w->on_path[i] != 0;
		w->below_bytes[i] += w->on_path[i] ? bytes : 0;
	}
	free(w->ring[at]);
	w->ring[at] = p;
}

static void walk_step(struct walk *w, int depth);

#define WALK_FUNC(n)                                       \
	NI static void walk_##n(struct walk *w, int depth) \
	{                                                  \
		w->on_path[n]++;                           \
		walk_step(w, depth);                       \
		KEEP(w);                                   \
		w->on_path[n]--;                           \
	}
WALK_FUNC(0)
WALK_FUNC(1)
WALK_FUNC(2)
WALK_FUNC(3)
WALK_FUNC(4)
WALK_FUNC(5)
WALK_FUNC(6)
WALK_FUNC(7)

NI static void walk_step(struct walk *w, int depth)
{
	static void (*const funcs[WALK_FUNCS])(struct walk *, int) = {
		walk_0, walk_1, walk_2, walk_3, walk_4, walk_5, walk_6, walk_7,
	};
	uint32_t r = walk_random(w);
	if (depth == 0 || r % 16 == 0)
		walk_leaf(w);
	else
		funcs[r / 16 % WALK_FUNCS](w, depth - 1);
	if (r % 5 == 0 && depth > 0)
		funcs[r / 128 % WALK_FUNCS](w, depth - 1);
	KEEP(w);
}

/* Prints the truth about the walk, for `truth`; `live` blocks and bytes are not among it. */
static inline void walk_print(const struct walk *w, FILE *out)
{
	fprintf(out, "TRUTH func=walk_leaf allocs=%llu bytes=%llu\n",
		(unsigned long long)w->alloc_count, (unsigned long long)w->alloc_bytes);
	for (int i = 0; i < WALK_FUNCS; i++)
		fprintf(out, "INCLUSIVE func=walk_%d allocs=%llu bytes=%llu\n", i,
			(unsigned long long)w->below_count[i],
			(unsigned long long)w->below_bytes[i]);
}

#endif
