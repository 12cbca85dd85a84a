/* What the browser remembers, bookmarks, the editor's command, stopped queries, grown files. */
#include "config.h"

#include "tui/saved.h"

#include "src/base/mem.h"
#include "tests/golden/profiles.h"
#include "tui/bookmarks.h"
#include "tui/follow.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];
static const char *paths[1] = {path};
static struct browser *b;
static unsigned polls_left; /* until a query is stopped; 0: none is */

static bool is_cancelled(void *arg)
{
	(void)arg;
	return polls_left && !--polls_left;
}

static const struct query_options query = {.cursor_ns = UINT64_MAX, .is_cancelled = is_cancelled};

static void make_profile(size_t golden)
{
	unlink(path);
	build_close(golden_profiles[golden].make(path));
}

static struct browser *open_browser(void)
{
	struct err e = {0};
	struct browser *out;
	const struct browser_options o = {
		.paths = paths, .path_count = 1, .query = &query, .glyphs = GLYPHS_ASCII};
	cr_assert_eq(browser_new(&o, &out, &e), NEAP_OK, "%s", e.text);
	return out;
}

static void begin(void)
{
	snprintf(path, sizeof path, "/tmp/neap-saved-%d.neap", (int)getpid());
	make_profile(0);
	b = open_browser();
	cr_assert(browser_draw(b, 30, 100));
}

static void finish(void)
{
	browser_free(b);
	unlink(path);
}

static void press(const char *keys)
{
	for (; *keys; keys++) {
		const struct input in = {.key = (unsigned char)*keys};
		browser_input(b, &in);
		cr_assert(browser_draw(b, 30, 100));
	}
}

static bool shows(const char *text)
{
	struct buf screen = {0};
	grid_text(&b->grid, &screen);
	bool is_there = strstr(screen.data, text);
	buf_release(&screen);
	return is_there;
}

static void is_query(const char *expected)
{
	struct buf text = {0};
	model_text(&b->model, &text);
	cr_assert_str_eq(text.data, expected);
	buf_release(&text);
}

/* ---- bookmarks ------------------------------------------------------------------------- */

Test(bookmarks, go_back_to_a_view, .init = begin, .fini = finish)
{
	press("bma2");
	is_query("live | min 1%");
	press("Lbmb");
	is_query("leaked");
	press("'a");
	is_query("live | min 1%");
	cr_assert_eq(model_state(&b->model)->screen, SCREEN_TREE);
	press("'b");
	is_query("leaked");
	cr_assert_eq(model_state(&b->model)->screen, SCREEN_TABLE);
	press("U");
	is_query("live | min 1%");
}

Test(bookmarks, take_letters_and_digits_only, .init = begin, .fini = finish)
{
	press("'");
	cr_assert(shows("no bookmarks yet"));
	press("m%");
	cr_assert_eq(b->bookmark_count, 0);
	press("m\033m\003");
	cr_assert_eq(b->bookmark_count, 0);
	cr_assert(!b->wants_quit);
	press("mZm0mama");
	cr_assert_eq(b->bookmark_count, 3);
	cr_assert_eq(b->bookmarks[0].letter, '0');
	cr_assert_eq(b->bookmarks[2].letter, 'a');
	press("'q");
	cr_assert(!b->wants_quit);
	cr_assert(shows("there are 0 Z a"));
}

/* ---- text ---------------------------------------------------------------------------------- */

static void save(struct buf *out)
{
	buf_clear(out);
	saved_text(b, out);
	cr_assert(!out->has_failed);
}

Test(saved, reads_what_it_writes, .init = begin, .fini = finish)
{
	struct buf first = {0}, second = {0};
	struct query_error error;
	press("ma");
	cr_assert_eq(model_set_text(&b->model, "live | where func=\"a\\nb\\\\n c\" | by func,line",
				    &error),
		     NEAP_OK);
	press("mb'aClj3"); /* not what is open at first */
	save(&first);
	cr_assert(strstr(first.data, "\nmark a\nview Tree down 0\nquery peak | min 1%\n"));
	browser_free(b);
	b = open_browser();
	cr_assert(saved_take(b, first.data, first.count_bytes));
	cr_assert(browser_draw(b, 30, 100));
	press("1");
	press("3");
	save(&second);
	cr_assert_str_eq(second.data, first.data);
	cr_assert(strstr(first.data, "\nfolds Tree "));
	browser_free(b);
	b = open_browser();
	cr_assert(saved_take(b, first.data, first.count_bytes));
	cr_assert_eq(model_state(&b->model)->screen, SCREEN_TIME);
	press("q");
	cr_assert(b->wants_quit, "there is no view before the one of last time");
	buf_release(&first);
	buf_release(&second);
}

/* Every cut and many changes of bytes: taken whole or not at all, and never worse. */
Test(saved, survives_damage, .init = begin, .fini = finish)
{
	struct buf good = {0};
	unsigned seed = 1, taken = 0;
	press("lma2mb");
	save(&good);
	for (size_t bytes = 0; bytes < good.count_bytes; bytes++) {
		char *copy = mem_strndup(good.data, bytes);
		cr_assert(!saved_take(b, copy, bytes), "cut at %zu", bytes);
		mem_free(copy);
	}
	for (unsigned i = 0; i < 3000; i++) {
		char *copy = mem_strndup(good.data, good.count_bytes);
		for (unsigned k = 0; k < 1 + i % 3; k++) {
			seed = seed * 1103515245u + 12345u;
			copy[(seed >> 8) % good.count_bytes] = (char)(seed >> 16);
		}
		taken += saved_take(b, copy, good.count_bytes);
		mem_free(copy);
		cr_assert(browser_draw(b, 30, 100));
	}
	cr_assert_gt(taken, 0);
	cr_assert_lt(taken, 3000);
	buf_release(&good);
}

Test(saved, is_named_by_the_recording, .init = begin, .fini = finish)
{
	struct buf first = {0}, moved = {0}, other = {0};
	char old[sizeof path];
	setenv("XDG_STATE_HOME", "/nowhere", 1);
	cr_assert(saved_path(b, &first));
	cr_assert(!strncmp(first.data, "/nowhere/neap/browse/", 21));
	browser_free(b);
	memcpy(old, path, sizeof old);
	snprintf(path, sizeof path, "/tmp/neap-saved-%d.moved", (int)getpid());
	cr_assert_eq(rename(old, path), 0);
	b = open_browser();
	cr_assert(saved_path(b, &moved));
	cr_assert_str_eq(moved.data, first.data);
	browser_free(b);
	make_profile(1);
	b = open_browser();
	cr_assert(saved_path(b, &other));
	cr_assert_str_neq(other.data, first.data);
	buf_clear(&other);
	setenv("XDG_STATE_HOME", "not/absolute", 1);
	setenv("HOME", "/home/x", 1);
	cr_assert(saved_path(b, &other));
	cr_assert(!strncmp(other.data, "/home/x/.local/state/neap/browse/", 33));
	buf_clear(&other);
	unsetenv("HOME");
	cr_assert(!saved_path(b, &other));
	buf_release(&first);
	buf_release(&moved);
	buf_release(&other);
}

/* ---- the editor --------------------------------------------------------------------------------- */

static void is_command(const char *words, const char *file, uint32_t line, const char *expected)
{
	struct editor_command c;
	struct err e = {0};
	struct buf got = {0};
	cr_assert_eq(editor_split(words, file, line, &c, &e), NEAP_OK, "%s: %s", words, e.text);
	for (size_t i = 0; i < c.count; i++)
		buf_printf(&got, "[%s]", c.args[i]);
	cr_assert_null(c.args[c.count]);
	cr_assert_str_eq(got.data, expected);
	editor_release(&c);
	buf_release(&got);
}

Test(editor, gets_the_line_as_it_wants_it)
{
	is_command("vi", "a.c", 7, "[vi][+7][a.c]");
	is_command("/usr/bin/nvim", "a.c", 7, "[/usr/bin/nvim][+7][a.c]");
	is_command("emacs -nw", "a.c", 7, "[emacs][-nw][+7][a.c]");
	is_command("code --wait", "a.c", 7, "[code][--wait][-g][a.c:7]");
	is_command("gedit", "a.c", 7, "[gedit][a.c]");
	is_command("vi", "a.c", 0, "[vi][a.c]");
	is_command("vi", "-c:q", 7, "[vi][+7][./-c:q]");
}

Test(editor, is_split_without_a_shell)
{
	struct editor_command c;
	struct err e = {0};
	is_command("  'my editor'  \"a \\\" b\" c\\ d ''", "f", 1, "[my editor][a \" b][c d][][f]");
	is_command("ed;$(rm) `x` $HOME *", "$(x);y", 1, "[ed;$(rm)][`x`][$HOME][*][$(x);y]");
	cr_assert_eq(editor_split("'vi", "f", 1, &c, &e), ERR_USAGE);
	cr_assert_eq(editor_split("  ", "f", 1, &c, &e), ERR_USAGE);
	cr_assert_eq(editor_split("''", "f", 1, &c, &e), ERR_USAGE);
}

/* ---- long queries --------------------------------------------------------------------------------- */

Test(cancel, brings_back_what_was_there, .init = begin, .fini = finish)
{
	polls_left = 1;
	press("b");
	cr_assert_eq(polls_left, 0, "nobody asks whether to stop");
	is_query("peak | min 1%");
	cr_assert(shows("stopped"));
	cr_assert(shows("TOTAL"));
	press("\022");
	is_query("live | min 1%");
	cr_assert(!b->wants_quit);
	polls_left = 1;
	b->stop_key = CODE_ESCAPE;
	press("b");
	press("\003");
	cr_assert(!b->wants_quit, "Ctrl-C once after Esc");
	polls_left = 1;
	b->stop_key = CODE_CANCEL;
	press("b");
	press("\003");
	cr_assert(b->wants_quit, "Ctrl-C a second time quits");
}

/* ---- files that grow ----------------------------------------------------------------------------------- */

static void tick(void)
{
	const struct input in = {.key = SPECIAL_TICK};
	b->follow.next_ms = 0;
	browser_input(b, &in);
	cr_assert(browser_draw(b, 30, 100));
}

Test(follow, keeps_the_view_of_a_grown_file, .init = begin, .fini = finish)
{
	struct buf before = {0}, after = {0};
	follow_begin(b, false);
	cr_assert_eq(follow_wait_ms(b), -1, "this one has an end");
	follow_begin(b, true);
	cr_assert_gt(follow_wait_ms(b), 0);
	press("jjjm1");
	size_t selected = b->grid.cursor_row;
	saved_text(b, &before);
	tick();
	cr_assert_eq(b->follow.load_count, 0);
	make_profile(0);
	tick();
	cr_assert(shows("has grown"));
	saved_text(b, &after);
	cr_assert_str_eq(after.data, before.data);
	cr_assert_eq(b->grid.cursor_row, selected);
	buf_release(&before);
	buf_release(&after);
}

/* Nothing of the old profile is looked at: meant for AddressSanitizer. */
Test(follow, reloads_under_every_view, .init = begin, .fini = finish)
{
	follow_begin(b, true);
	for (unsigned round = 0; round < 3 * golden_profile_count; round++) {
		char key[] = {"123456789"[round % 9], '\0'};
		press(key);
		press("jjl");
		press("123456789c");
		press(key);
		make_profile(round % golden_profile_count);
		tick();
		cr_assert_eq(b->follow.load_count, round + 1);
		press("123456789ck");
	}
}

Test(follow, waits_for_a_file_that_is_replaced, .init = begin, .fini = finish)
{
	follow_begin(b, true);
	unlink(path);
	tick();
	cr_assert_eq(b->follow.load_count, 0);
	FILE *out = fopen(path, "w");
	fputs("not a profile", out);
	fclose(out);
	tick();
	cr_assert(shows("cannot be read"));
	cr_assert(shows("TOTAL"));
	make_profile(0);
	tick();
	cr_assert(shows("has grown"));
}

static void make_recording(bool has_ended)
{
	const struct profile_end end = {.kind = END_UNKNOWN, .reason = ""};
	unlink(path);
	struct build *p = build_new(path, NULL);
	build_snapshot(p, 10 * BUILD_MS);
	build_alloc(p, build_call(p, PROFILE_NODE_ROOT, "main", "/src/main.c", 7), 48, 1, 100);
	build_end_snapshot(p);
	if (!has_ended)
		build_ending(p, &end);
	build_close(p);
}

Test(follow, goes_on_until_the_recording_ends, .init = begin, .fini = finish)
{
	browser_free(b);
	make_recording(false);
	b = open_browser();
	follow_begin(b, false);
	cr_assert(browser_draw(b, 30, 100));
	cr_assert_gt(follow_wait_ms(b), 0);
	cr_assert(!shows("recording"), "it may have been cut off");
	make_recording(true);
	tick();
	cr_assert(shows("the recording has ended"));
	cr_assert_eq(follow_wait_ms(b), -1);
	cr_assert_null(follow_word(b));
}

/* A question stays open: nothing changes below it. */
Test(follow, waits_while_a_prompt_is_open, .init = begin, .fini = finish)
{
	follow_begin(b, true);
	press(":");
	make_profile(1);
	tick();
	cr_assert_eq(b->follow.load_count, 0);
	press("\033");
	tick();
	cr_assert_eq(b->follow.load_count, 1);
}

/* The prompt completes and previews with the profile as it is now. */
Test(follow, leaves_nothing_old_to_a_prompt, .init = begin, .fini = finish)
{
	follow_begin(b, true);
	press(":live func=\t\033\033");
	make_profile(1);
	tick();
	cr_assert_eq(b->follow.load_count, 1);
	press(":live | by func | where func=\t\t\033\033\\x\t\033");
	cr_assert(!b->wants_quit);
}
