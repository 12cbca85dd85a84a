/* Maps of code that was made at run time. */
#include "config.h"

#include "src/sym/jitmap.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u

/* No process has such a number. */
static uint32_t fake_pid(void)
{
	return 4000000000u + (uint32_t)getpid() % 100000000u;
}

static const char *map_path(void)
{
	static char path[64];
	snprintf(path, sizeof path, "/tmp/perf-%u.map", fake_pid());
	return path;
}

static void write_map(const char *text)
{
	FILE *f = fopen(map_path(), "w");
	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_name(const struct jit_map *m, uint64_t pc, const char *name)
{
	const char *found = jit_map_find(m, pc);
	cr_expect(name ? found && !strcmp(found, name) : !found, "at %lx: %s", (unsigned long)pc,
		  found ? found : "nothing");
}

static struct jit_map *read_map(uint32_t pid, uint64_t since_unix_ns)
{
	struct jit_follow f;
	const struct jit_process p = {.seen_pid = pid, .since_unix_ns = since_unix_ns};
	jit_follow_init(&f);
	jit_follow_read(&f, &p, JIT_MAP_BYTES_MOST);
	return jit_follow_map(&f);
}

Test(jitmap, names_what_lies_in_a_function)
{
	write_map("1000 20 first\n0x2000 0x10 second with spaces\n3000 8 third\n");
	struct jit_map *m = read_map(fake_pid(), 0);
	unlink(map_path());
	cr_assert_not_null(m);
	expect_name(m, 0xfff, NULL);
	expect_name(m, 0x1000, "first");
	expect_name(m, 0x101f, "first");
	expect_name(m, 0x1020, NULL);
	expect_name(m, 0x200f, "second with spaces");
	expect_name(m, 0x3007, "third");
	expect_name(m, UINT64_MAX, NULL);
	jit_map_free(m);
}

Test(jitmap, believes_the_last_of_those_at_one_place)
{
	write_map("1000 100 old\n1040 20 middle\n1000 100 new\n1010 10 newest\n2000 10 a\n2000 8 "
		  "b\n");
	struct jit_map *m = read_map(fake_pid(), 0);
	unlink(map_path());
	cr_assert_not_null(m);
	expect_name(m, 0x1005, "new");
	expect_name(m, 0x1010, "newest");
	expect_name(m, 0x1045, "new"); /* written after middle */
	expect_name(m, 0x10ff, "new");
	expect_name(m, 0x2004, "b");
	expect_name(m, 0x200c, "a");
	jit_map_free(m);
}

Test(jitmap, leaves_out_what_is_no_line_of_a_map)
{
	write_map("x\n\n1000\n1000 10\n1000 10 \n1000 0 empty\nffffffffffffffff 10 past the end\n"
		  "11112222333344445555 10 long\n4000 10 good\n5000 10 cut off");
	struct jit_map *m = read_map(fake_pid(), 0);
	unlink(map_path());
	cr_assert_not_null(m);
	expect_name(m, 0x1000, NULL);
	expect_name(m, 0x4000, "good");
	expect_name(m, 0x5000, NULL);
	expect_name(m, UINT64_MAX, NULL);
	jit_map_free(m);
}

Test(jitmap, takes_no_map_of_an_earlier_process)
{
	write_map("1000 20 first\n");
	uint64_t now_ns = (uint64_t)time(NULL) * NS_PER_S;
	struct jit_map *m = read_map(fake_pid(), now_ns + 100ull * NS_PER_S);
	cr_expect_null(m);
	m = read_map(fake_pid(), now_ns - 100ull * NS_PER_S);
	cr_expect_not_null(m);
	jit_map_free(m);
	unlink(map_path());
	cr_expect_null(read_map(fake_pid(), 0));
}

Test(jitmap, follows_no_link)
{
	unlink(map_path());
	cr_assert_eq(symlink("/proc/self/maps", map_path()), 0);
	cr_expect_null(read_map(fake_pid(), 0));
	unlink(map_path());
}

/* It grows, is begun anew in place, is replaced by another file, and is deleted. */
Test(jitmap, keeps_what_was_read_before)
{
	struct jit_follow f;
	const struct jit_process p = {.seen_pid = fake_pid()};
	jit_follow_init(&f);
	jit_follow_read(&f, &p, JIT_MAP_BYTES_MOST);
	write_map("1000 20 first\n2000 10 sec");
	jit_follow_read(&f, &p, JIT_MAP_BYTES_MOST);
	write_map("1000 20 first\n2000 10 second\n3000 10 cut");
	jit_follow_read(&f, &p, JIT_MAP_BYTES_MOST);
	write_map("4000 10 anew\n");
	jit_follow_read(&f, &p, JIT_MAP_BYTES_MOST);
	unlink(map_path());
	write_map("5000 10 other\n");
	jit_follow_read(&f, &p, 1);
	FILE *append = fopen(map_path(), "a");
	fputs("6000 10 last\n", append);
	fclose(append);
	unlink(map_path());
	jit_follow_read(&f, &p, JIT_MAP_BYTES_MOST);
	struct jit_map *m = jit_follow_map(&f);
	cr_assert_not_null(m);
	expect_name(m, 0x1004, "first");
	expect_name(m, 0x2004, "second");
	expect_name(m, 0x3004, NULL);
	expect_name(m, 0x4004, "anew");
	expect_name(m, 0x5004, "other");
	expect_name(m, 0x6004, "last");
	jit_map_free(m);
}
