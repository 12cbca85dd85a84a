/*
 * Stacked areas.
 *
 * A cell is cut into levels from below (8 with blocks, 1 with letters).  The class at its lowest
 * level is drawn as a block in the class's colour; what is above shows as the colour behind it.
 * A letter in the largest place of each class says which one it is without any colour; without
 * colours the areas consist of letters.
 */
#include "config.h"

#include "tui/time_chart.h"

#include "tui/chart.h"

enum role time_chart_role(const struct time_chart *c, size_t class)
{
	if (class == c->other_class || class >= SERIES_MOST)
		return ROLE_OTHER;
	return (enum role)(ROLE_SERIES + class);
}

char time_chart_letter(const struct time_chart *c, size_t class)
{
	if (class == c->other_class)
		return '.';
	return (char)('A' + class % 26);
}

static bool is_lettered(const struct grid *g)
{
	return g->is_mono || !grid_is_utf8(g);
}

/* Heights are rounded where bands meet, so that they add up. */
static unsigned level_of(int64_t value, int64_t most, unsigned levels)
{
	if (value <= 0 || most <= 0)
		return 0;
	double h = (double)value / (double)most * levels + 0.5;
	return h > levels ? levels : (unsigned)h;
}

/* The class that covers a level, counted from below; class_count: none. */
static size_t class_at(const struct time_chart *c, unsigned col, unsigned level, unsigned levels)
{
	int64_t below = 0;
	for (size_t i = 0; i < c->class_count; i++) {
		int64_t v = c->values[col * c->class_count + i];
		if (v > 0)
			below += v;
		if (level < level_of(below, c->most, levels))
			return i;
	}
	return c->class_count;
}

size_t time_chart_class(const struct time_chart *c, const struct area *a, unsigned row,
			unsigned col)
{
	unsigned levels = a->rows * 8;
	return class_at(c, col, (a->rows - 1 - row) * 8 + 3, levels);
}

/* ---- cells --------------------------------------------------------------------------------- */

static void draw_letter(const struct area *a, const struct time_chart *c, unsigned row,
			unsigned col)
{
	size_t class = class_at(c, col, a->rows - 1 - row, a->rows);
	if (class == c->class_count)
		return;
	struct look l = look(time_chart_role(c, class));
	if (class == c->selected)
		l.flags = LOOK_BOLD | LOOK_REVERSE;
	area_fill(a, row, col, 1, 1, l, (uint32_t)time_chart_letter(c, class));
}

static void draw_block(const struct area *a, const struct time_chart *c, unsigned row, unsigned col)
{
	unsigned levels = a->rows * 8, first = (a->rows - 1 - row) * 8, height = 1;
	size_t low = class_at(c, col, first, levels);
	if (low == c->class_count)
		return;
	while (height < 8 && class_at(c, col, first + height, levels) == low)
		height++;
	struct look l = look(time_chart_role(c, low));
	if (height == 8) { /* a blank on the colour: one byte, whatever goes on beside it */
		const struct look whole = {ROLE_TEXT, l.role, 0};
		area_fill(a, row, col, 1, 1, whole, ' ');
		return;
	}
	size_t above = class_at(c, col, first + height, levels);
	if (above != c->class_count)
		l.back = (uint8_t)time_chart_role(c, above);
	area_fill(a, row, col, 1, 1, l, 0x2580 + height);
}

/* Where the band of a class is tallest: its letter. */
static void draw_label(const struct area *a, const struct time_chart *c, size_t class)
{
	unsigned best_rows = 0, best_row = 0, best_col = 0;
	for (unsigned col = 0; col < a->cols; col++) {
		unsigned rows = 0;
		for (unsigned row = 0; row < a->rows; row++) {
			unsigned first = (a->rows - 1 - row) * 8, levels = a->rows * 8;
			bool is_whole = class_at(c, col, first, levels) == class &&
					class_at(c, col, first + 7, levels) == class;
			rows = is_whole ? rows + 1 : 0;
			if (rows > best_rows) {
				best_rows = rows;
				best_row = row - (rows - 1) / 2;
				best_col = col;
			}
		}
	}
	if (!best_rows)
		return;
	/* The middle of the run of equal columns looks better than its start. */
	unsigned end = best_col;
	while (end + 1 < a->cols && end - best_col < 8 &&
	       time_chart_class(c, a, best_row, end + 1) == class)
		end++;
	/* The selected one stands out, as in the list. */
	struct look l = {ROLE_TEXT, (uint8_t)time_chart_role(c, class), LOOK_BOLD};
	unsigned col = best_col + (end - best_col) / 2;
	if (class == c->selected) {
		l = (struct look){ROLE_TEXT, ROLE_TEXT, LOOK_BOLD | LOOK_REVERSE};
		area_fill(a, best_row, col ? col - 1 : col, 1, 3, l, ' ');
	}
	area_fill(a, best_row, col, 1, 1, l, (uint32_t)time_chart_letter(c, class));
}

static void draw_line(const struct area *a, const struct time_chart *c)
{
	bool is_utf8 = grid_is_utf8(a->grid);
	for (unsigned col = 0; c->line && col < a->cols; col++) {
		unsigned level = level_of(c->line[col], c->most, a->rows * 2);
		if (c->line[col] < 0 || !level || c->line[col] > c->most)
			continue;
		unsigned row = a->rows - 1 - (level - 1) / 2;
		struct look l = look_bold(ROLE_RSS);
		size_t class = time_chart_class(c, a, row, col);
		if (class < c->class_count && !is_lettered(a->grid))
			l.back = (uint8_t)time_chart_role(c, class);
		area_fill(a, row, col, 1, 1, l, !is_utf8 ? '-' : level % 2 ? 0x2581u : 0x2500u);
	}
}

void time_chart_draw(const struct area *a, const struct time_chart *c)
{
	for (unsigned col = 0; col < a->cols; col++) {
		for (unsigned row = 0; row < a->rows; row++) {
			if (is_lettered(a->grid))
				draw_letter(a, c, row, col);
			else
				draw_block(a, c, row, col);
		}
	}
	for (size_t i = 0; i < c->class_count && !is_lettered(a->grid); i++)
		draw_label(a, c, i);
	draw_line(a, c);
}
