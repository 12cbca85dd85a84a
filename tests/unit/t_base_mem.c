/* Allocation, growing arrays, arenas, errors, checksums. */
#include "config.h"

#include "src/base/crc32c.h"
#include "src/base/err.h"
#include "src/base/mem.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20)

static bool is_all(const unsigned char *p, size_t bytes, unsigned char value)
{
	return p[0] == value && !memcmp(p, p + 1, bytes - 1);
}

Test(mem, large_blocks_that_were_used_come_back_zeroed)
{
	unsigned char *used = mem_alloc(LARGE), *p = mem_alloc(LARGE);
	cr_assert(used && p);
	for (int i = 0; i < 3; i++) {
		memset(p, 0xa5, LARGE);
		mem_free(p);
		p = mem_zarray(LARGE / 8, 8);
		cr_assert(p && is_all(p, LARGE, 0));
	}
	mem_free(p);
	mem_free(used);
}

Test(mem, large_blocks_keep_their_bytes_when_they_grow_and_shrink)
{
	static const size_t sizes[] = {LARGE, 100, LARGE / 2, 2 * LARGE, LARGE / 4 + 1, 1};
	unsigned char *used = mem_alloc(4 * LARGE), *p = mem_alloc(10);
	size_t had = 10;
	cr_assert(used && p);
	memset(p, 0x5a, had);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		mem_free(mem_alloc(sizes[i])); /* what lies ready must not be the same block */
		p = mem_realloc_array(p, sizes[i], 1);
		cr_assert(p && is_all(p, had < sizes[i] ? had : sizes[i], 0x5a));
		memset(p, 0x5a, had = sizes[i]);
	}
	mem_free(p);
	mem_free(used);
}

static atomic_bool has_hammered_enough;

static void *hammer(void *unused)
{
	while (!atomic_load(&has_hammered_enough))
		mem_free(mem_alloc(LARGE));
	return unused;
}

/* The lock must not be held for ever in a child, by a thread that is not there. */
Test(mem, large_blocks_can_be_had_in_a_child_of_a_process_with_threads)
{
#if defined(__SANITIZE_ADDRESS__)
	cr_skip_test("ASan's own allocator holds its lock across fork");
#endif
	pthread_t thread;
	void *used = mem_alloc(LARGE);
	cr_assert(used);
	cr_assert_eq(pthread_create(&thread, NULL, hammer, NULL), 0);
	for (int i = 0; i < 500; i++) {
		int status;
		pid_t child = fork();
		cr_assert_geq(child, 0);
		if (!child) {
			alarm(10);
			mem_free(mem_alloc(LARGE));
			/* Not by exit: what the other thread had is lost here, as valgrind would say. */
			execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert_eq(status, 0, "child %d hung", i + 1);
	}
	atomic_store(&has_hammered_enough, true);
	pthread_join(thread, NULL);
	mem_free(used);
}

/* Several sizes in an order that makes each find others ready, some too small, some too large. */
Test(mem, large_blocks_are_never_shared)
{
	unsigned char *p[8] = {NULL};
	size_t bytes[8] = {0};
	uint32_t random = 1;
	for (int round = 0; round < 400; round++) {
		random = random * 1664525 + 1013904223;
		size_t i = random >> 29;
		cr_assert(!p[i] || is_all(p[i], bytes[i], (unsigned char)i));
		mem_free(p[i]);
		bytes[i] = LARGE / 8 + (random >> 12) % LARGE;
		p[i] = random & 0x800 ? mem_alloc(bytes[i]) : mem_zalloc(bytes[i]);
		cr_assert(p[i] && (random & 0x800 || is_all(p[i], bytes[i], 0)));
		memset(p[i], (int)i, bytes[i]);
	}
	for (size_t i = 0; i < 8; i++)
		mem_free(p[i]);
}

Test(mem, sizes_that_overflow_are_out_of_memory)
{
	cr_assert_null(mem_array(SIZE_MAX / 2, 3));
	cr_assert_null(mem_zarray(SIZE_MAX, 2));
	cr_assert_null(mem_realloc_array(NULL, SIZE_MAX / 4, 8));
	cr_assert_null(mem_strndup("x", SIZE_MAX));
}

Test(mem, the_nth_allocation_fails_and_only_that)
{
	mem_fail_at(3);
	void *p[4];
	for (int i = 0; i < 4; i++)
		p[i] = mem_alloc(8);
	cr_assert_not_null(p[0]);
	cr_assert_not_null(p[1]);
	cr_assert_null(p[2]);
	cr_assert_not_null(p[3]);
	for (int i = 0; i < 4; i++)
		mem_free(p[i]);
	uint64_t before = mem_count();
	mem_free(mem_zalloc(0));
	cr_assert_eq(mem_count(), before + 1);
}

Test(mem, empty_requests_give_a_pointer)
{
	void *p = mem_array(0, 8), *q = mem_realloc_array(NULL, 0, 8);
	cr_assert_not_null(p);
	cr_assert_not_null(q);
	mem_free(p);
	mem_free(q);
	mem_free(NULL);
}

Test(vec, grows_by_doubling_and_keeps_its_content)
{
	int *items = NULL;
	size_t cap = 0;
	for (size_t i = 0; i < 5000; i++) {
		cr_assert(vec_reserve((void **)&items, &cap, i + 1, sizeof *items));
		cr_assert_geq(cap, i + 1);
		items[i] = (int)i;
	}
	for (size_t i = 0; i < 5000; i++)
		cr_assert_eq(items[i], (int)i);
	cr_assert_lt(cap, 10001);
	mem_free(items);
}

Test(vec, is_unchanged_when_memory_runs_out)
{
	int *items = NULL;
	size_t cap = 0;
	cr_assert(vec_reserve((void **)&items, &cap, 1, sizeof *items));
	int *before = items;
	size_t cap_before = cap;
	mem_fail_at(1);
	cr_assert_not(vec_reserve((void **)&items, &cap, cap + 1, sizeof *items));
	cr_assert_eq(items, before);
	cr_assert_eq(cap, cap_before);
	cr_assert_not(vec_reserve((void **)&items, &cap, SIZE_MAX / 2, sizeof *items));
	cr_assert_eq(cap, cap_before);
	mem_free(items);
}

Test(arena, hands_out_aligned_memory_that_does_not_overlap)
{
	struct arena a = {0};
	unsigned char *p[600];
	for (size_t i = 0; i < 600; i++) {
		size_t bytes = i * 37 % 5000;
		p[i] = arena_alloc(&a, bytes);
		cr_assert_not_null(p[i]);
		cr_assert_eq((uintptr_t)p[i] % 16, 0);
		memset(p[i], (int)i, bytes);
	}
	for (size_t i = 0; i < 600; i++)
		for (size_t k = 0; k < i * 37 % 5000; k++)
			cr_assert_eq(p[i][k], (unsigned char)i);
	arena_release(&a);
	cr_assert_null(a.head);
	cr_assert_eq(a.total_bytes, 0);
}

Test(arena, large_requests_do_not_waste_the_head)
{
	struct arena a = {0};
	char *first = arena_alloc(&a, 16);
	cr_assert_not_null(arena_alloc(&a, 1 << 20));
	char *second = arena_alloc(&a, 16);
	cr_assert_eq(second, first + 16);
	cr_assert_null(arena_alloc(&a, SIZE_MAX));
	cr_assert_null(arena_array(&a, SIZE_MAX / 2, 4));
	arena_release(&a);
}

Test(arena, copies_strings_with_a_nul)
{
	struct arena a = {0};
	char *s = arena_strndup(&a, "nameless", 4);
	cr_assert_str_eq(s, "name");
	cr_assert_str_eq(arena_strndup(&a, NULL, 0), "");
	const char *zeros = arena_zalloc(&a, 100);
	for (int i = 0; i < 100; i++)
		cr_assert_eq(zeros[i], 0);
	arena_release(&a);
}

Test(err, keeps_code_and_one_line_of_text)
{
	struct err e;
	cr_assert_eq(err_set(&e, ERR_LIMIT, "bad\nname %d", 7), ERR_LIMIT);
	cr_assert_str_eq(e.text, "bad?name 7");
	cr_assert_eq(e.code, ERR_LIMIT);
	cr_assert_eq(err_sys(&e, ENOENT, "open", "/x"), ERR_IO);
	cr_assert_str_eq(e.text, "cannot open '/x': No such file or directory");
	cr_assert_eq(err_sys(&e, ENOMEM, "map", NULL), ERR_NOMEM);
	cr_assert_eq(err_nomem(NULL, "anything"), ERR_NOMEM);
	cr_assert_eq(err_set(NULL, ERR_USAGE, "nobody reads this"), ERR_USAGE);
}

Test(err, context_stands_in_front)
{
	struct err e;
	err_corrupt(&e, "section %d", 3);
	cr_assert_eq(e.code, ERR_FORMAT);
	cr_assert_not_null(strstr(e.check_file, "t_base_mem.c"));
	cr_assert_gt(e.check_line, 0);
	cr_assert_eq(err_context(&e, "reading '%s'", "f"), ERR_FORMAT);
	cr_assert_str_eq(e.text, "reading 'f': section 3");
	cr_assert_eq(err_context(NULL, "x"), NEAP_OK);
}

Test(err, long_texts_are_cut_not_overrun)
{
	struct err e;
	char name[3000];
	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	err_set(&e, ERR_IO, "%s", name);
	cr_assert_eq(strlen(e.text), ERR_TEXT_BYTES - 1);
	err_context(&e, "c");
	cr_assert_eq(strncmp(e.text, "c: nnn", 6), 0);
	cr_assert_eq(strlen(e.text), ERR_TEXT_BYTES - 1);
	err_context(&e, "%s", name);
	cr_assert_eq(strlen(e.text), ERR_TEXT_BYTES - 1);
}

/* Vectors of RFC 3720, B.4, and the usual check value. */
Test(crc32c, gives_the_published_values)
{
	unsigned char data[32];
	cr_assert_eq(crc32c(0, "123456789", 9), 0xe3069283u);
	memset(data, 0, sizeof data);
	cr_assert_eq(crc32c(0, data, 32), 0x8a9136aau);
	memset(data, 0xff, sizeof data);
	cr_assert_eq(crc32c(0, data, 32), 0x62a8ab43u);
	for (int i = 0; i < 32; i++)
		data[i] = (unsigned char)i;
	cr_assert_eq(crc32c(0, data, 32), 0x46dd794eu);
	for (int i = 0; i < 32; i++)
		data[i] = (unsigned char)(31 - i);
	cr_assert_eq(crc32c(0, data, 32), 0x113fdb5cu);
	cr_assert_eq(crc32c(0, "", 0), 0);
}

Test(crc32c, is_the_same_in_pieces_and_without_instructions)
{
	unsigned char data[1000];
	for (size_t i = 0; i < sizeof data; i++)
		data[i] = (unsigned char)(i * i >> 3);
	for (size_t n = 0; n < sizeof data; n += 13) {
		uint32_t whole = crc32c(0, data, n);
		cr_assert_eq(crc32c_portable(0, data, n), whole);
		cr_assert_eq(crc32c(crc32c(0, data, n / 3), data + n / 3, n - n / 3), whole);
	}
}
