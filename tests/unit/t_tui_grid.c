/* The grid: clipping, wide and combining characters, hostile text, bars. */
#include "config.h"

#include "tui/grid.h"

#include <criterion/criterion.h>
#include <string.h>

static struct grid g;

static void begin(unsigned rows, unsigned cols, enum glyphs glyphs)
{
	g = (struct grid){.glyphs = glyphs};
	cr_assert(grid_resize(&g, rows, cols));
}

static void shows(const char *expected)
{
	struct buf text = {0};
	grid_text(&g, &text);
	cr_assert_str_eq(text.data, expected);
	buf_release(&text);
}

static void finish(void)
{
	grid_release(&g);
}

Test(grid, text_is_clipped_at_the_edges_of_its_area, .fini = finish)
{
	begin(2, 8, GLYPHS_BLOCK);
	const struct area all = grid_area(&g), part = area_cut(&all, 0, 2, 1, 4);
	cr_assert_eq(area_put(&part, 0, 1, look(ROLE_TEXT), "abcdef"), 4);
	cr_assert_eq(area_put(&part, 1, 0, look(ROLE_TEXT), "below"), 0);
	cr_assert_eq(area_put(&part, 0, 9, look(ROLE_TEXT), "right"), 9);
	shows("   abc\n\n");
}

Test(grid, an_area_is_never_larger_than_what_it_is_cut_from, .fini = finish)
{
	begin(4, 10, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	const struct area part = area_cut(&all, 3, 8, 100, 100), none = area_cut(&all, 9, 99, 1, 1);
	cr_assert_eq(part.rows, 1);
	cr_assert_eq(part.cols, 2);
	cr_assert_eq(none.rows, 0);
	cr_assert_eq(none.cols, 0);
	area_fill(&none, 0, 0, 5, 5, look(ROLE_TEXT), 'x');
	shows("\n\n\n\n");
}

Test(grid, a_wide_character_is_never_halved, .fini = finish)
{
	begin(2, 5, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	cr_assert_eq(area_put(&all, 0, 0, look(ROLE_TEXT), "漢字漢"), 4);
	shows("漢字\n\n");
	area_put(&all, 0, 1, look(ROLE_TEXT), "x");
	shows(" x字\n\n");
	area_put(&all, 0, 2, look(ROLE_TEXT), "y");
	shows(" xy\n\n");
}

Test(grid, combining_characters_stay_with_their_base, .fini = finish)
{
	begin(1, 4, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	cr_assert_eq(area_put(&all, 0, 0, look(ROLE_TEXT), "e\u0301x"), 2);
	shows("e\u0301x\n");
	/* A hundred of them are not a hundred columns, and not a hundred cells of memory. */
	char many[256] = "a";
	for (unsigned i = 0; i < 100; i++)
		memcpy(many + 1 + (size_t)2 * i, "\u0301", 3);
	cr_assert_eq(area_put(&all, 0, 0, look(ROLE_TEXT), many), 1);
	shows("a\u0301\u0301x\n");
}

Test(grid, nothing_hostile_reaches_a_cell, .fini = finish)
{
	begin(1, 40, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	area_put(&all, 0, 0, look(ROLE_TEXT), "\033[2J\007\x9b\x80 \u202e\u2066\t\n\r\x7f|");
	for (unsigned i = 0; i < g.cols; i++) {
		uint32_t c = g.cells[i].c;
		cr_assert(c >= 0x20 && c != 0x7f && (c < 0x80 || c > 0x9f), "cell %u: %x", i, c);
		cr_assert(c < 0x200e || c > 0x202e);
		cr_assert(c < 0x2066 || c > 0x2069);
	}
}

Test(grid, ascii_means_ascii, .fini = finish)
{
	begin(1, 12, GLYPHS_ASCII);
	const struct area all = grid_area(&g);
	cr_assert_eq(area_put(&all, 0, 0, look(ROLE_TEXT), "é漢x"), 3);
	area_bar(&all, 0, 6, 4, look(ROLE_BAR), 0.4);
	for (unsigned i = 0; i < g.cols; i++)
		cr_assert_lt(g.cells[i].c, 0x80);
	shows("??x   #.\n");
}

Test(grid, bars_show_that_there_is_something, .fini = finish)
{
	begin(1, 8, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	area_bar(&all, 0, 0, 8, look(ROLE_BAR), 0.0001);
	shows("▏\n");
	area_bar(&all, 0, 0, 8, look(ROLE_BAR), 0.5);
	shows("████\n");
	area_bar(&all, 0, 0, 8, look(ROLE_BAR), 7);
	shows("████████\n");
	grid_clear(&g);
	area_bar(&all, 0, 0, 8, look(ROLE_BAR), -1);
	shows("\n");
	g.is_plain = true;
	area_bar(&all, 0, 0, 8, look(ROLE_BAR), 1);
	shows("\n");
}

Test(grid, long_names_are_cut_in_the_middle, .fini = finish)
{
	char name[20001];
	begin(1, 20, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	cr_assert_eq(area_elide(&all, 0, 0, 12, look(ROLE_TEXT), "first::second::last"), 12);
	shows("fir…nd::last\n");
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	cr_assert_eq(area_put(&all, 0, 0, look(ROLE_TEXT), name), 20);
	cr_assert_eq(area_elide(&all, 0, 0, 20, look(ROLE_TEXT), name), 20);
}

Test(grid, text_aligned_right_ends_where_it_should, .fini = finish)
{
	begin(2, 10, GLYPHS_BLOCK);
	const struct area all = grid_area(&g);
	area_right(&all, 0, 6, 6, look(ROLE_TEXT), "12");
	area_right(&all, 1, 6, 3, look(ROLE_TEXT), "123456");
	shows("    12\n   123\n");
}
