/* Areas out of cells. */
#include "config.h"

#include "tui/chart.h"

#include "src/base/mem.h"

unsigned chart_steps(const struct grid *g)
{
	return g->glyphs == GLYPHS_BRAILLE ? 2 : 1;
}

unsigned chart_levels(const struct grid *g)
{
	switch (g->glyphs) {
	case GLYPHS_BRAILLE:
		return 4;
	case GLYPHS_BLOCK:
		return 8;
	default:
		return 2;
	}
}

/* Levels filled in all rows together; anything above zero shows. */
static unsigned height_of(int64_t value, int64_t most, unsigned levels)
{
	if (value <= 0 || most <= 0)
		return 0;
	double h = (double)value / (double)most * levels + 0.5;
	unsigned height = h > levels ? levels : (unsigned)h;
	return height ? height : 1;
}

/* Dots of a braille column of two, from below, 0 to 4 in each half. */
static uint32_t braille(unsigned left, unsigned right)
{
	static const uint8_t lefts[] = {0, 0x40, 0x44, 0x46, 0x47};
	static const uint8_t rights[] = {0, 0x80, 0xa0, 0xb0, 0xb8};
	return 0x2800u + lefts[left] + rights[right];
}

static unsigned clip(unsigned height, unsigned below, unsigned levels)
{
	if (height <= below)
		return 0;
	return height - below > levels ? levels : height - below;
}

static uint32_t glyph(const struct grid *g, unsigned left, unsigned right)
{
	static const char ascii[] = " .#";
	if (g->glyphs == GLYPHS_BRAILLE)
		return left || right ? braille(left, right) : ' ';
	if (g->glyphs == GLYPHS_BLOCK)
		return left ? 0x2580 + left : ' ';
	return (uint32_t)ascii[left];
}

void chart_area(const struct area *a, struct look look, const int64_t *values, int64_t most)
{
	unsigned levels = chart_levels(a->grid), steps = chart_steps(a->grid);
	for (unsigned col = 0; col < a->cols; col++) {
		unsigned left = height_of(values[col * steps], most, levels * a->rows);
		unsigned right = height_of(values[col * steps + steps - 1], most, levels * a->rows);
		for (unsigned row = 0; row < a->rows; row++) {
			unsigned below = (a->rows - 1 - row) * levels;
			uint32_t c = glyph(a->grid, clip(left, below, levels),
					   clip(right, below, levels));
			if (c != ' ')
				area_fill(a, row, col, 1, 1, look, c);
		}
	}
}
