/* What Source shows adds up, whatever is cut, elsewhere, or past the end of the file. */
#include "config.h"

#include "tui/browser.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/build_profile.h"

#define ROWS 60u
#define COLS 120u

static char profile_path[] = "/tmp/neap-source.XXXXXX", source_path[] = "/tmp/neap-text.XXXXXX";

/* Fewer than 1024 bytes, so that every number is shown whole; 4 lines of source. */
static void make_files(void)
{
	int fd = mkstemp(source_path);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, "1\n2\n3\n4\n", 8), 8);
	close(fd);
	fd = mkstemp(profile_path);
	cr_assert_geq(fd, 0);
	close(fd);
	struct build *b = build_new(profile_path, NULL);
	node_id main_node = build_call(b, PROFILE_NODE_ROOT, "main", "/src/main.c", 7);
	node_id one = build_call(b, main_node, "one", source_path, 2);
	node_id again = build_call(b, one, "one", source_path, 2);
	node_id two = build_call(b, again, "two", source_path, 3);
	node_id past = build_call(b, main_node, "past", source_path, 9);
	node_id other = build_call(b, one, "other", "/src/other.c", 1);
	build_snapshot(b, 10 * BUILD_MS);
	build_alloc(b, one, 10, 1, 20);
	build_alloc(b, two, 100, 1, 3);
	build_alloc(b, past, 40, 1, 2);
	build_alloc(b, other, 30, 1, 5);
	build_alloc(b, again, 1, 1, 4);
	build_alloc(b, main_node, 2, 1, 1);
	build_end_snapshot(b);
	build_close(b);
}

static void remove_files(void)
{
	unlink(profile_path);
	unlink(source_path);
}

static struct browser *open_browser(void)
{
	static const struct query_options query = {.cursor_ns = UINT64_MAX};
	static const char *paths[1];
	paths[0] = profile_path;
	const struct browser_options o = {
		.paths = paths, .path_count = 1, .query = &query, .is_plain = true};
	struct browser *b;
	struct err e = {0};
	cr_assert_eq(browser_new(&o, &b, &e), NEAP_OK, "%s", e.text);
	return b;
}

static void show(struct browser *b, const char *query)
{
	struct query_error error = {.code = NEAP_OK};
	cr_assert_eq(model_set_text(&b->model, query, &error), NEAP_OK, "%s", error.text);
	cr_assert(browser_draw(b, ROWS, COLS));
	cr_assert_eq(b->failure.code, NEAP_OK, "%s", b->failure.text);
	cr_assert(b->summary.is_known);
}

/* The numbers that end where the heading does, added up. */
static long sum_of_column(struct browser *b, const char *heading)
{
	struct buf text = {0};
	long sum = 0;
	grid_text(&b->grid, &text);
	cr_assert(text.count_bytes && !text.has_failed);
	char *at = strstr(text.data, heading);
	cr_assert_not_null(at, "no heading %s in\n%s", heading, text.data);
	char *line = at;
	while (line > text.data && line[-1] != '\n')
		line--;
	size_t end = (size_t)(at - line) + strlen(heading);
	while ((line = strchr(line, '\n'))) {
		line++;
		if (strcspn(line, "\n") < end || line[0] == ':')
			continue;
		size_t start = end;
		while (start && strchr("0123456789-", line[start - 1]))
			start--;
		if (start < end)
			sum += strtol(line + start, NULL, 10);
	}
	buf_release(&text);
	return sum;
}

static void expect_whole(const char *query, long self_bytes)
{
	struct browser *b = open_browser();
	show(b, query);
	long sum = sum_of_column(b, "SELF");
	cr_assert_eq(sum, self_bytes, "%s: rows have %ld, not %ld", query, sum, self_bytes);
	browser_free(b);
}

TestSuite(tui_source, .init = make_files, .fini = remove_files);

Test(tui_source, rows_add_up_to_the_total)
{
	/* 200 + 4 at line 2, 300 at 3, 80 past the end, 150 elsewhere, 2 in main. */
	expect_whole("live | source [file=*]", 736);
	expect_whole("live | min 30% | source [file=*]", 736);
	expect_whole("live | top 1 | source [file=*]", 736);
}

Test(tui_source, counts_only_lines_of_the_subject)
{
	char query[128];
	snprintf(query, sizeof query, "live | source [file=\"%s\"]", source_path);
	expect_whole(query, 584);
	expect_whole("live | source [func=two]", 300);
	expect_whole("live | source main", 2);
}

Test(tui_source, says_what_it_has_no_line_for)
{
	struct browser *b = open_browser();
	struct buf text = {0};
	show(b, "live | source [file=*]");
	grid_text(&b->grid, &text);
	cr_assert_not_null(strstr(text.data, "past"), "%s", text.data);
	cr_assert_not_null(strstr(text.data, "2 lines in other files"), "%s", text.data);
	buf_release(&text);
	browser_free(b);
}
