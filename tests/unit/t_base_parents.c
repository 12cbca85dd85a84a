/* Parents of nodes, most of which are not stored. */
#include "config.h"

#include "src/base/parents.h"

#include <criterion/criterion.h>

#include "src/base/mem.h"

#define NODES 20000u

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 16;
}

/* A parent for each node: mostly the one before, and sometimes one that comes later. */
static void make_parents(uint32_t *parents, uint64_t *random)
{
	for (uint32_t n = 0; n < NODES; n++) {
		uint32_t any = (uint32_t)(next_random(random) % NODES);
		parents[n] = n && next_random(random) % 4 ? n - 1 : any;
	}
}

static void append_in_parts(struct parents *t, const uint32_t *parents, uint64_t *random)
{
	while (t->count < NODES) {
		size_t room = NODES - t->count, count = next_random(random) % 300;
		cr_assert(parents_append(t, parents + t->count, count < room ? count : room));
	}
}

Test(parents, are_what_was_appended)
{
	static uint32_t parents[NODES];
	uint64_t random = 3;
	struct parents t = {0};
	make_parents(parents, &random);
	append_in_parts(&t, parents, &random);
	for (uint32_t n = 0; n < NODES; n++)
		cr_assert_eq(parents_of(&t, n), parents[n], "node %u", n);
	parents_release(&t);
	cr_assert_eq(t.count, 0);
}

Test(parents, go_with_their_nodes_to_other_places)
{
	static uint32_t parents[NODES], place[NODES];
	uint64_t random = 11;
	struct parents t = {0};
	make_parents(parents, &random);
	append_in_parts(&t, parents, &random);
	for (uint32_t n = 0; n < NODES; n++)
		place[n] = n;
	for (uint32_t n = NODES; n-- > 1;) {
		uint32_t other = (uint32_t)(next_random(&random) % (n + 1)), was = place[n];
		place[n] = place[other];
		place[other] = was;
	}
	cr_assert(parents_reorder(&t, place));
	for (uint32_t n = 0; n < NODES; n++)
		cr_assert_eq(parents_of(&t, place[n]), place[parents[n]], "node %u", n);
	parents_release(&t);
}

/* Nodes in preorder: each is below the one before, or below something that that one is below. */
static void make_preorder(uint32_t *parents, uint64_t *random)
{
	parents[0] = 0;
	for (uint32_t n = 1; n < NODES; n++) {
		uint64_t up = next_random(random) % 3 ? 0 : next_random(random) % 9;
		for (parents[n] = n - 1; up && parents[n]; up--)
			parents[n] = parents[parents[n]];
	}
}

Test(parents, in_preorder_tell_where_a_node_ends_and_its_chain_begins)
{
	static uint32_t parents[NODES], end[NODES];
	uint64_t random = 17;
	struct parents t = {0};
	make_preorder(parents, &random);
	append_in_parts(&t, parents, &random);
	for (uint32_t n = NODES; n-- > 0;) {
		end[n] = end[n] ? end[n] : n + 1;
		end[parents[n]] = end[n] > end[parents[n]] ? end[n] : end[parents[n]];
	}
	for (uint32_t n = 0; n < NODES; n++) {
		uint32_t first = n;
		while (first && parents[first] == first - 1)
			first--;
		cr_assert_eq(parents_end(&t, n), end[n], "node %u", n);
		cr_assert_eq(parents_chain(&t, n), first, "node %u", n);
	}
	parents_release(&t);
}

Test(parents, of_a_chain_take_no_room)
{
	uint32_t parents[100] = {0};
	struct parents t = {0};
	for (uint32_t n = 1; n < 100; n++)
		parents[n] = n - 1;
	cr_assert(parents_append(&t, parents, 100));
	cr_assert_eq(t.others.count, 1); /* node 0 */
	cr_assert_eq(parents_of(&t, 99), 98);
	parents_release(&t);
}

/* The last nodes go on below `start`, which is below node 0: nothing is stored for them, nor words. */
static void check_last_chain(uint32_t start)
{
	uint32_t parents[300] = {0}, place[300];
	struct parents t = {0};
	for (uint32_t n = 0; n < 300; n++) {
		parents[n] = n && n != start ? n - 1 : 0;
		place[n] = n;
	}
	cr_assert(parents_append(&t, parents, 300));
	for (unsigned i = 0; i < 2; i++) {
		for (uint32_t n = 0; n < 300; n++) {
			cr_assert_eq(parents_end(&t, n), n && n < start ? start : 300, "node %u",
				     n);
			cr_assert_eq(parents_chain(&t, n), n < start ? 0 : start, "node %u", n);
		}
		cr_assert(parents_reorder(&t, place));
		cr_assert_eq(t.others.count, 1 + (start > 0),
			     "in their places they are chains again");
	}
	parents_release(&t);
}

Test(parents, of_chains_end_behind_them)
{
	check_last_chain(0);
	check_last_chain(70);
	check_last_chain(299);
}

Test(parents, can_be_released_when_memory_ran_out)
{
	uint32_t parents[64], place[64];
	struct parents t = {0};
	for (uint32_t n = 0; n < 64; n++) {
		parents[n] = 63;
		place[n] = 63 - n;
	}
	for (uint64_t at = 1; at <= 2; at++) {
		mem_fail_at(at);
		cr_assert_not(parents_append(&t, parents, 64));
		mem_fail_at(0);
		parents_release(&t);
	}
	cr_assert(parents_append(&t, parents, 64));
	mem_fail_at(1);
	cr_assert_not(parents_reorder(&t, place));
	mem_fail_at(0);
	parents_release(&t);
}
