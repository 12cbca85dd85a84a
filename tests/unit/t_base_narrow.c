/* Columns as wide as their largest number, and sets of rows. */
#include "config.h"

#include "src/base/narrow.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "src/base/mem.h"

#define ROWS 20000u

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return *state >> 16;
}

Test(narrow, takes_no_room_for_zeros)
{
	struct narrow c = {0};
	const uint64_t zeros[100] = {0};
	cr_assert(narrow_append(&c, zeros, 100));
	cr_assert(narrow_append_zeros(&c, 1000));
	cr_assert_eq(c.count, 1100);
	cr_assert_null(c.data);
	cr_assert_eq(narrow_get(&c, 1099), 0);
	narrow_release(&c);
}

Test(narrow, is_as_wide_as_its_largest_number_and_keeps_the_others)
{
	static const struct {
		uint64_t value;
		uint32_t width_bytes;
	} steps[] = {{0, 0},          {1, 1},
		     {UINT8_MAX, 1},  {UINT8_MAX + 1, 2},
		     {UINT16_MAX, 2}, {UINT16_MAX + 1, 3},
		     {0xffffff, 3},   {7, 3},
		     {0x1000000, 4},  {3, 4},
		     {UINT32_MAX, 4}, {UINT32_MAX + 1ull, 8},
		     {UINT64_MAX, 8}};
	struct narrow c = {0};
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
		cr_assert(narrow_append(&c, &steps[i].value, 1));
		cr_assert_eq(c.width_bytes, steps[i].width_bytes, "step %zu", i);
		for (size_t k = 0; k <= i; k++)
			cr_assert_eq(narrow_get(&c, k), steps[k].value);
	}
	narrow_release(&c);
	cr_assert_eq(c.count, 0);
}

/* Any mixture of operations, against an array of wide numbers. */
Test(narrow, does_what_an_array_does)
{
	uint64_t *want = mem_zarray(ROWS, sizeof *want), random = 1;
	struct narrow c = {0};
	while (c.count < ROWS) {
		size_t room = ROWS - c.count, count = next_random(&random) % 200;
		count = count < room ? count : room;
		unsigned shift = (unsigned)(next_random(&random) % 64);
		if (next_random(&random) % 3) {
			for (size_t i = 0; i < count; i++)
				want[c.count + i] = next_random(&random) >> shift;
			cr_assert(narrow_append(&c, want + c.count, count));
		} else {
			for (size_t i = 0; i < count; i++)
				want[c.count + i] = 0;
			cr_assert(narrow_append_zeros(&c, count));
		}
		if (c.count && next_random(&random) % 2) {
			size_t row = next_random(&random) % c.count;
			want[row] = next_random(&random) >> shift;
			cr_assert(narrow_set(&c, row, want[row]));
		}
		if (next_random(&random) % 8 == 0)
			narrow_cut(&c, c.count - c.count / 10);
	}
	for (size_t i = 0; i < ROWS; i++)
		cr_assert_eq(narrow_get(&c, i), want[i], "row %zu", i);
	narrow_release(&c);
	mem_free(want);
}

Test(narrow, keeps_its_rows_when_memory_runs_out)
{
	struct narrow c = {0};
	const uint64_t small[2] = {7, 9}, large = UINT64_MAX;
	cr_assert(narrow_append(&c, small, 2));
	mem_fail_at(1);
	cr_assert_not(narrow_append(&c, &large, 1));
	mem_fail_at(1);
	cr_assert_not(narrow_set(&c, 0, large));
	mem_fail_at(1);
	cr_assert_not(narrow_append_zeros(&c, c.cap));
	mem_fail_at(0);
	cr_assert_eq(c.count, 2);
	cr_assert_eq(narrow_get(&c, 0), 7);
	cr_assert_eq(narrow_get(&c, 1), 9);
	narrow_release(&c);
}

Test(narrow, sets_without_memory_up_to_what_it_was_widened_for)
{
	struct narrow c = {0};
	cr_assert(narrow_append_zeros(&c, 3));
	cr_assert(narrow_widen(&c, 1000));
	mem_fail_at(1);
	cr_assert(narrow_set(&c, 2, UINT16_MAX));
	mem_fail_at(0);
	cr_assert_eq(narrow_get(&c, 1), 0);
	cr_assert_eq(narrow_get(&c, 2), UINT16_MAX);
	narrow_release(&c);
}

Test(rowset, knows_the_place_of_each_row_and_no_other)
{
	struct rowset s = {0};
	size_t *rows = mem_array(ROWS, sizeof *rows), count = 0, row = 0;
	uint64_t random = 5;
	cr_assert_eq(rowset_find(&s, 0), SIZE_MAX);
	for (; count < ROWS; count++) {
		row += next_random(&random) % 8 ? 1 : 1 + next_random(&random) % 300;
		rows[count] = row;
		cr_assert(rowset_add(&s, row));
	}
	cr_assert_eq(s.count, ROWS);
	for (size_t i = 0, at = 0; i < row + 1000; i++) {
		bool is_there = at < ROWS && rows[at] == i;
		cr_assert_eq(rowset_find(&s, i), is_there ? at : SIZE_MAX, "row %zu", i);
		at += is_there;
	}
	rowset_release(&s);
	cr_assert_eq(rowset_find(&s, rows[0]), SIZE_MAX);
	mem_free(rows);
}

Test(rowset, stays_as_it_is_when_memory_runs_out)
{
	struct rowset s = {0};
	cr_assert(rowset_add(&s, 3));
	mem_fail_at(1);
	cr_assert_not(rowset_add(&s, 100000));
	mem_fail_at(0);
	cr_assert_eq(s.count, 1);
	cr_assert_eq(rowset_find(&s, 3), 0);
	cr_assert_eq(rowset_find(&s, 100000), SIZE_MAX);
	rowset_release(&s);
}
