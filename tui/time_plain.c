/* Time without pictures: what the classes held in parts of the run, as numbers. */
#include "config.h"

#include "tui/time_priv.h"

#include <stdio.h>

#include "tui/show.h"

#define PARTS_MOST 10u
#define VALUE_COLS 8u
#define WHEN_COLS  12u

static size_t classes_shown(const struct time_view *t, const struct area *a)
{
	size_t room = a->cols > WHEN_COLS + VALUE_COLS + 2
			      ? (a->cols - WHEN_COLS - VALUE_COLS - 2) / VALUE_COLS
			      : 0;
	return t->series.class_count < room ? t->series.class_count : room;
}

static void draw_heading(const struct time_view *t, const struct area *a, size_t classes)
{
	unsigned end = WHEN_COLS + VALUE_COLS;
	area_right(a, 0, WHEN_COLS, WHEN_COLS, look(ROLE_HEADING), "MOST UNTIL");
	area_right(a, 0, end, VALUE_COLS, look(ROLE_HEADING), "TOTAL");
	for (size_t i = 0; i < classes; i++) {
		const char letter[] = {time_chart_letter(&t->chart, i), '\0'};
		end += VALUE_COLS;
		area_right(a, 0, end, VALUE_COLS, look(ROLE_HEADING), letter);
	}
}

/* The part of the run that the query looks at has a sign. */
static bool is_looked_at(const struct browser *b, unsigned part, unsigned parts)
{
	uint64_t from, to;
	if (!strip_range(b, &from, &to))
		from = to = strip_now(b);
	return strip_column(b, parts, from) <= part && part <= strip_column(b, parts, to);
}

void time_draw_plain(struct time_view *t, struct browser *b, const struct area *a)
{
	char text[FMT_BYTES];
	unsigned parts = a->rows > PARTS_MOST ? PARTS_MOST : a->rows > 1 ? a->rows - 1u : 0;
	if (!parts || !time_make_columns(t, b, parts))
		return;
	size_t classes = classes_shown(t, a), all = t->series.class_count;
	draw_heading(t, a, classes);
	for (unsigned part = 0; part < parts; part++) {
		unsigned row = part + 1, end = WHEN_COLS + VALUE_COLS;
		uint64_t until = (uint64_t)((double)strip_end_ns(b) / parts * (part + 1));
		if (is_looked_at(b, part, parts))
			area_put(a, row, 0, look_bold(ROLE_CURSOR), ">");
		area_right(a, row, WHEN_COLS, WHEN_COLS - 1, look(ROLE_DIM),
			   fmt_duration(text, sizeof text, until));
		area_right(a, row, end, VALUE_COLS, look(ROLE_STRONG),
			   time_show(t, text, sizeof text, time_sum(t, t->ticks[part])));
		for (size_t i = 0; i < classes; i++) {
			end += VALUE_COLS;
			area_right(a, row, end, VALUE_COLS, look(ROLE_TEXT),
				   time_show(t, text, sizeof text, t->columns[part * all + i]));
		}
	}
}
