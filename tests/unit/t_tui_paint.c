/*
 * What is written to a terminal, byte by byte, for one whose commands are letters between braces;
 * that its screen is right at all is held up by tests/tui/pty.
 */
#include "config.h"

#include "tui/paint.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct paint p;
static struct grid g;

static const char *expand(const char *command, int first, int second)
{
	static char text[32];
	if (command[1] == 'P')
		snprintf(text, sizeof text, "{P%d,%d}", first, second);
	else
		snprintf(text, sizeof text, "{%c%d}", command[1], first);
	return text;
}

static void begin(unsigned rows, unsigned cols)
{
	static const char *const commands[PAINT_COMMANDS] = {
		[PAINT_PLACE] = "{P",      [PAINT_CLEAR] = "{C}",       [PAINT_PLAIN] = "{n}",
		[PAINT_CLEAR_ROW] = "{E}", [PAINT_ERASE] = "{X",        [PAINT_FORWARD] = "{>",
		[PAINT_DOWN] = "|",        [PAINT_BACK] = "<",          [PAINT_BOLD] = "{b}",
		[PAINT_REVERSE] = "{r}",   [PAINT_NOT_REVERSE] = "{/}", [PAINT_UNDERLINE] = "{u}",
		[PAINT_FRONT] = "{F",      [PAINT_BEHIND] = "{B",
	};
	g = (struct grid){.glyphs = GLYPHS_BRAILLE};
	p = (struct paint){.expand = expand, .colours = 8};
	memcpy(p.commands, commands, sizeof commands);
	cr_assert(grid_resize(&g, rows, cols));
	cr_assert(paint_grid(&p, &g));
	buf_clear(&p.out);
}

static void finish(void)
{
	paint_release(&p);
	grid_release(&g);
}

static void put(unsigned row, unsigned col, struct look look, const char *text)
{
	const struct area a = grid_area(&g);
	area_put(&a, row, col, look, text);
}

static void writes(const char *expected)
{
	cr_assert(paint_grid(&p, &g));
	cr_assert_str_eq(p.out.count_bytes ? p.out.data : "", expected);
	buf_clear(&p.out);
}

Test(paint, the_first_screen_is_cleared_and_has_no_blanks, .fini = finish)
{
	begin(2, 10);
	paint_forget(&p);
	put(1, 2, look(ROLE_TEXT), "ab");
	g.cursor_row = 1;
	writes("{n}{C}{P1,2}ab<<<<");
}

Test(paint, nothing_is_written_where_nothing_changes, .fini = finish)
{
	begin(2, 10);
	put(0, 0, look(ROLE_BAR), "bar");
	put(1, 0, look(ROLE_DIM), "   ");
	writes("{F4}bar{n}<<<");
	writes("");
}

Test(paint, a_few_equal_cells_are_written_again_rather_than_skipped, .fini = finish)
{
	begin(1, 40);
	put(0, 0, look(ROLE_TEXT), "a bc d and what stays there x");
	writes("a bc d and what stays there x{P0,0}");
	put(0, 0, look(ROLE_TEXT), "A bc D and what stays there X");
	writes("A bc D{>22}X{P0,0}");
}

Test(paint, reverse_goes_along_with_a_colour_that_stays, .fini = finish)
{
	begin(2, 4);
	const struct look bar = look(ROLE_BAR);
	struct look selected = bar;
	selected.flags = LOOK_REVERSE;
	put(0, 0, selected, "a");
	put(0, 1, bar, "b");
	put(1, 1, selected, "c");
	writes("{r}{F4}a{/}b|<{r}c{n}{P0,0}");
}

Test(paint, what_was_bold_is_plain_again, .fini = finish)
{
	begin(1, 4);
	put(0, 0, look_bold(ROLE_TEXT), "a");
	put(0, 1, look(ROLE_TEXT), "b");
	writes("{b}a{n}b<<");
}

Test(paint, the_rest_of_a_row_goes_by_one_command, .fini = finish)
{
	begin(1, 20);
	put(0, 0, look(ROLE_TEXT), "what is gone");
	writes("what is gone{P0,0}");
	grid_clear(&g);
	put(0, 0, look(ROLE_TEXT), "what");
	writes("{>4}{E}<<<<");
	grid_clear(&g);
	put(0, 0, look(ROLE_TEXT), "wh");
	writes("wh  <<<<"); /* two blanks are shorter */
}

Test(paint, what_goes_before_something_that_stays_is_erased_at_once, .fini = finish)
{
	begin(1, 20);
	put(0, 0, look(ROLE_TEXT), "what is gone      |");
	writes("what is gone{>6}|{P0,0}");
	grid_clear(&g);
	put(0, 18, look(ROLE_TEXT), "|");
	writes("{X12}");
}

Test(paint, the_cursor_is_placed_anew_after_wide_and_combining_characters, .fini = finish)
{
	begin(1, 10);
	put(0, 0, look(ROLE_TEXT), "\xe6\xbc\xa2x");
	writes("\xe6\xbc\xa2{P0,2}x<<<");
	put(0, 3, look(ROLE_TEXT), "e\xcc\x81y");
	writes("{>3}e\xcc\x81{P0,4}y<<<<<");
}

Test(paint, a_wide_character_that_goes_leaves_nothing, .fini = finish)
{
	begin(1, 10);
	put(0, 0, look(ROLE_TEXT), "\xe6\xbc\xa2");
	writes("\xe6\xbc\xa2{P0,0}");
	grid_clear(&g);
	put(0, 0, look(ROLE_TEXT), "ab");
	writes("ab<<");
}

Test(paint, what_others_wrote_over_the_last_row_is_taken_away, .fini = finish)
{
	begin(2, 8);
	put(0, 0, look(ROLE_TEXT), "stays");
	put(1, 0, look(ROLE_TEXT), "keys");
	writes("stays{P1,0}keys{P0,0}");
	paint_lose_last_row(&p);
	writes("{P1,4}{n}{E}<<<<keys{P0,0}");
}

Test(paint, the_last_cell_is_left_out_where_it_would_scroll, .fini = finish)
{
	begin(1, 3);
	p.is_corner_bad = true;
	put(0, 0, look(ROLE_TEXT), "abc");
	writes("ab<<");
	p.is_corner_bad = false;
	writes("abc{P0,0}");
}

Test(paint, without_colours_what_is_filled_is_reversed, .fini = finish)
{
	const struct pen mono = pen_of((struct look){.role = ROLE_TEXT, .back = ROLE_BAR}, 0);
	cr_assert_eq(mono.flags, LOOK_REVERSE);
	cr_assert_eq(mono.front, -1);
	const struct pen few = pen_of(look(ROLE_DIM), 8);
	cr_assert_eq(few.flags, PEN_DIM);
	const struct pen many = pen_of((struct look){.role = ROLE_TEXT, .back = ROLE_BAR}, 256);
	cr_assert_geq(many.front, 0, "text on a colour has one of its own");
	cr_assert_geq(many.back, 0);
}
