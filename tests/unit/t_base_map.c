/* Hash map and interned strings. */
#include "config.h"

#include "src/base/map.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(map, finds_what_was_put_and_nothing_else)
{
	struct map m = {0};
	cr_assert_eq(map_find(&m, 0), MAP_ABSENT);
	for (uint64_t i = 0; i < 20000; i++)
		cr_assert(map_put(&m, i * 0x100000001ull, (uint32_t)i));
	cr_assert_eq(m.count, 20000);
	for (uint64_t i = 0; i < 20000; i++)
		cr_assert_eq(map_find(&m, i * 0x100000001ull), (uint32_t)i);
	cr_assert_eq(map_find(&m, 7), MAP_ABSENT);
	cr_assert_leq(m.count, m.cap / 4 * 3 + 1);
	map_release(&m);
	cr_assert_eq(map_find(&m, 0), MAP_ABSENT);
}

Test(map, replaces_without_counting_twice)
{
	struct map m = {0};
	cr_assert(map_put(&m, 0, 1));
	cr_assert(map_put(&m, 0, 2));
	cr_assert(map_put(&m, UINT64_MAX, 0));
	cr_assert_eq(m.count, 2);
	cr_assert_eq(map_find(&m, 0), 2);
	cr_assert_eq(map_find(&m, UINT64_MAX), 0);
	map_clear(&m);
	cr_assert_eq(m.count, 0);
	cr_assert_eq(map_find(&m, 0), MAP_ABSENT);
	cr_assert(map_put(&m, 5, 6));
	cr_assert_eq(map_find(&m, 5), 6);
	map_release(&m);
}

Test(map, keeps_its_content_when_memory_runs_out)
{
	struct map m = {0};
	uint64_t n = 0;
	bool has_failed = false;
	for (; !has_failed && n < 100000; n++) {
		mem_fail_at(m.cap >= 1024 ? (n & 1) + 1 : 0);
		has_failed = !map_put(&m, n, (uint32_t)n);
	}
	mem_fail_at(0);
	cr_assert(has_failed);
	for (uint64_t i = 0; i < n - 1; i++)
		cr_assert_eq(map_find(&m, i), (uint32_t)i);
	cr_assert(map_put(&m, n, 1));
	map_release(&m);
}

Test(strtab, gives_equal_strings_one_id)
{
	struct strtab t = {0};
	cr_assert_eq(strtab_find(&t, "a", 1), UINT32_MAX);
	cr_assert_eq(strtab_add(&t, "a", 1), 0);
	cr_assert_eq(strtab_add(&t, "", 0), 1);
	cr_assert_eq(strtab_add(&t, "ab", 2), 2);
	cr_assert_eq(strtab_add(&t, "abc", 2), 2);
	cr_assert_eq(strtab_add(&t, "a\0b", 3), 3);
	cr_assert_eq(strtab_add(&t, "a", 1), 0);
	cr_assert_eq(strtab_find(&t, "", 0), 1);
	cr_assert_eq(strtab_find(&t, "b", 1), UINT32_MAX);
	cr_assert_eq(t.count, 4);
	cr_assert_eq(t.lengths[3], 3);
	cr_assert_null(strtab_get(&t, 4));
	strtab_release(&t);
}

Test(strtab, strings_stay_where_they_are)
{
	struct strtab t = {0};
	char name[32];
	strtab_add(&t, "first", 5);
	const char *first = strtab_get(&t, 0);
	for (int i = 0; i < 10000; i++) {
		int n = snprintf(name, sizeof name, "name-%d-of-many", i);
		cr_assert_eq(strtab_add(&t, name, (size_t)n), (uint32_t)i + 1);
	}
	cr_assert_eq(strtab_get(&t, 0), first);
	cr_assert_str_eq(strtab_get(&t, 5000), "name-4999-of-many");
	cr_assert_eq(strtab_find(&t, "name-77-of-many", 15), 78);
	strtab_release(&t);
}

Test(strtab, is_whole_when_memory_runs_out)
{
	struct strtab t = {0};
	uint32_t id = 0;
	for (uint64_t n = 1; n < 40; n++) {
		char name[32];
		int bytes = snprintf(name, sizeof name, "string %d", (int)n);
		mem_fail_at(n % 5 + 1);
		while (strtab_add(&t, name, (size_t)bytes) == UINT32_MAX)
			mem_fail_at(0);
		mem_fail_at(0);
		cr_assert_str_eq(strtab_get(&t, id++), name);
	}
	cr_assert_eq(t.count, 39);
	strtab_release(&t);
}
