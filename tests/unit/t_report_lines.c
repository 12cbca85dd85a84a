/* Where sources of a profile are found, and what of them reaches a reader. */
#include "config.h"

#include "src/report/lines.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void write_file(const char *path, const char *text, size_t bytes)
{
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	cr_assert_eq(fwrite(text, 1, bytes, f), bytes);
	fclose(f);
}

/* FOLDER/src/a.c and FOLDER/here/b.c; the test stands in FOLDER/here. */
static void set_up(void)
{
	snprintf(folder, sizeof folder, "/tmp/neap-lines.XXXXXX");
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(chdir(folder), 0);
	cr_assert_eq(mkdir("src", 0755), 0);
	cr_assert_eq(mkdir("here", 0755), 0);
	write_file("src/a.c", "one\n\ttwo\r\nthree", 16);
	cr_assert_eq(chdir("here"), 0);
	write_file("b.c", "b\n", 2);
}

static void tear_down(void)
{
	cr_assert_eq(chdir(folder), 0);
	unlink("src/a.c");
	unlink("here/b.c");
	rmdir("src");
	rmdir("here");
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(rmdir(folder), 0);
}

TestSuite(lines, .init = set_up, .fini = tear_down);

static size_t count_of(const char *path, const struct profile_run *run)
{
	struct lines l;
	bool has_failed = false;
	size_t count = lines_read(&l, path, run, &has_failed) ? l.count : 0;
	cr_assert_not(has_failed);
	lines_release(&l);
	return count;
}

Test(lines, are_found_at_their_path_or_from_where_the_program_ran)
{
	char path[128];
	const struct profile_run run = {.cwd = folder};
	snprintf(path, sizeof path, "%s/src/a.c", folder);
	cr_assert_eq(count_of(path, NULL), 3);
	cr_assert_eq(count_of("src/a.c", NULL), 0, "it is not below here");
	cr_assert_eq(count_of("src/a.c", &run), 3);
	cr_assert_eq(count_of("../src/a.c", &run), 3);
}

Test(lines, are_found_here_at_the_place_they_had_there)
{
	const struct profile_run run = {.cwd = "/no/such/folder"};
	cr_assert_eq(count_of("/no/such/folder/b.c", &run), 1);
	cr_assert_eq(count_of("/no/such/folder2/b.c", &run), 0);
	cr_assert_eq(count_of("/no/such/folder/", &run), 0);
	cr_assert_eq(count_of("/no/such/other/b.c", &run), 0);
}

Test(lines, come_from_regular_files_only)
{
	cr_assert_eq(count_of("/dev/zero", NULL), 0);
	cr_assert_eq(count_of(folder, NULL), 0);
	cr_assert_eq(count_of("", NULL), 0);
	cr_assert_eq(mkfifo("pipe", 0600), 0);
	cr_assert_eq(count_of("pipe", NULL), 0, "nobody writes to it: that must not block");
	unlink("pipe");
}

Test(lines, know_whether_they_are_newer_than_the_recording)
{
	struct lines l;
	bool has_failed = false;
	const struct profile_run old = {.start_unix_ns = 1000000000};
	const struct profile_run late = {.start_unix_ns = UINT64_C(9000000000) * 1000000000};
	cr_assert(lines_read(&l, "b.c", &old, &has_failed));
	cr_assert(l.is_newer);
	lines_release(&l);
	cr_assert(lines_read(&l, "b.c", &late, &has_failed));
	cr_assert_not(l.is_newer);
	lines_release(&l);
}

static void expect_expanded(const struct lines *l, size_t line, size_t most, const char *text)
{
	struct buf b = {0};
	lines_expand(l, line, most, &b);
	cr_assert_str_eq(b.count_bytes ? b.data : "", text);
	buf_release(&b);
}

Test(lines, expand_tabs_and_end_before_their_end)
{
	struct lines l;
	bool has_failed = false;
	cr_assert(lines_read(&l, "../src/a.c", NULL, &has_failed));
	expect_expanded(&l, 1, SIZE_MAX, "one");
	expect_expanded(&l, 2, SIZE_MAX, "        two");
	expect_expanded(&l, 3, SIZE_MAX, "three");
	expect_expanded(&l, 3, 2, "th");
	lines_release(&l);
}

static size_t count_mapped(const struct source_map *m, const char *path, char *found, size_t cap)
{
	struct lines l;
	bool has_failed = false;
	const struct lines_search search = {.map = m};
	size_t count = lines_find(&l, path, NULL, &search, &has_failed) ? l.count : 0;
	cr_assert_not(has_failed);
	snprintf(found, cap, "%s", count ? l.path.data : "");
	lines_release(&l);
	return count;
}

Test(lines, are_found_where_the_user_says_they_lie_now)
{
	struct source_map m = {.count = 0};
	char src[128], found[256], want[256];
	snprintf(src, sizeof src, "%s/src", folder);
	cr_assert(source_map_add(&m, "/build/one/", 11, "/nowhere"));
	cr_assert(source_map_add(&m, "/build/one", 10, src));
	cr_assert(source_map_add(&m, "gen", 3, src));
	snprintf(want, sizeof want, "%s/a.c", src);
	/* the first prefix fits too, but has no such file */
	cr_expect_eq(count_mapped(&m, "/build/one/a.c", found, sizeof found), 3);
	cr_expect_str_eq(found, want);
	cr_expect_eq(count_mapped(&m, "gen/a.c", found, sizeof found), 3);
	/* a prefix ends where a part of the path ends */
	cr_expect_eq(count_mapped(&m, "/build/one2/a.c", found, sizeof found), 0);
	cr_expect_eq(count_mapped(&m, "/build/onea.c", found, sizeof found), 0);
	cr_expect_eq(count_mapped(&m, "/build/one", found, sizeof found), 0);
	cr_expect_eq(count_mapped(&m, "/other/a.c", found, sizeof found), 0);
	/* what lies at its path is found without the map */
	cr_expect_eq(count_mapped(&m, want, found, sizeof found), 3);
	source_map_release(&m);
}

static int give_file(void *context, const char *path)
{
	const char **asked = context;
	*asked = path;
	return open("../src/a.c", O_RDONLY);
}

Test(lines, are_asked_for_elsewhere_last)
{
	struct lines l;
	const char *asked = NULL;
	bool has_failed = false;
	const struct lines_search search = {.fetch = give_file, .context = &asked};
	const struct profile_run run = {.start_unix_ns = 1};
	cr_assert(lines_find(&l, "b.c", &run, &search, &has_failed));
	cr_expect_null(asked);
	lines_release(&l);
	cr_assert(lines_find(&l, "/gone/a.c", &run, &search, &has_failed));
	cr_expect_str_eq(asked, "/gone/a.c");
	cr_expect_eq(l.count, 3);
	cr_expect_not(l.is_newer); /* what a server has is what was compiled */
	lines_release(&l);
	cr_expect_not(has_failed);
}
