/* Curves and areas out of cells: braille dots, blocks, or ASCII. */
#ifndef NEAP_TUI_CHART_H
#define NEAP_TUI_CHART_H

#include <stdint.h>

#include "tui/grid.h"

/* chart_steps - how many values a column takes side by side at this level of glyphs: 2 with braille, else 1. */
unsigned chart_steps(const struct grid *g);
/* chart_levels - how many heights a cell can show: 4, 8 or 2. */
unsigned chart_levels(const struct grid *g);
/*
 * chart_area - fill below a curve.
 *   values   [cols * chart_steps], at the left first; what is below zero counts as zero
 *   most     value at the top
 */
void chart_area(const struct area *a, struct look look, const int64_t *values, int64_t most);

#endif
