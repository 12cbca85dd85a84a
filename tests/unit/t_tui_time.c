/* Time: what it says beside its chart. */
#include "config.h"

#include "tui/browser.h"

#include "tests/golden/profiles.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static const char *paths[1] = {path};
static const struct query_options query = {.cursor_ns = UINT64_MAX};
static struct browser *b;

static void begin(void)
{
	struct err e = {0};
	const struct browser_options o = {
		.paths = paths, .path_count = 1, .query = &query, .glyphs = GLYPHS_ASCII};
	snprintf(path, sizeof path, "/tmp/neap-time-%d.neap", (int)getpid());
	build_close(golden_profiles[0].make(path));
	cr_assert_eq(browser_new(&o, &b, &e), NEAP_OK, "%s", e.text);
}

static void finish(void)
{
	browser_free(b);
	unlink(path);
}

static void set_rss(uint64_t bytes)
{
	for (size_t i = 0; i < b->model.profile->snapshot_count; i++)
		b->model.profile->snapshots[i].rss_bytes = bytes;
}

static bool shows(unsigned cols, const char *text)
{
	const struct input in = {.key = '3'};
	struct buf screen = {0};
	browser_input(b, &in);
	cr_assert(browser_draw(b, 30, cols));
	grid_text(&b->grid, &screen);
	bool is_there = strstr(screen.data, text);
	buf_release(&screen);
	return is_there;
}

/* The line of the chart is left out where the heap would be flat below it. */
Test(time, tells_the_rss_that_the_chart_has_no_room_for, .init = begin, .fini = finish)
{
	set_rss(0);
	cr_assert(!shows(120, "RSS"));
	set_rss(20ull << 30);
	cr_assert(shows(120, "RSS 20.0 GiB"));
	cr_assert(shows(80, "RSS 20.0 GiB"));
}

/* The chips say "peak", but what is drawn is the whole run. */
Test(time, says_what_its_total_is_where_the_title_is_narrow, .init = begin, .fini = finish)
{
	for (unsigned cols = 80; cols < 200; cols++)
		cr_assert(shows(cols, "allocated: "), "%u columns", cols);
}
