/* Time without pictures: what the classes held in parts of the run, as numbers. */
#include "config.h"

#include "tui/time_priv.h"

#include <stdio.h>

#include "tui/show.h"

#define PARTS_MOST 10u
#define VALUE_COLS 8u
#define WHEN_COLS  12u

/* The columns before those of the classes: what is compared with has one of its own. */
static unsigned totals_cols(bool has_before)
{
	return WHEN_COLS + (has_before ? 2 : 1) * VALUE_COLS;
}

static size_t classes_shown(const struct time_view *t, const struct area *a, unsigned taken)
{
	size_t room = a->cols > taken + 2 ? (a->cols - taken - 2) / VALUE_COLS : 0;
	return t->series.class_count < room ? t->series.class_count : room;
}

static void draw_heading(const struct time_view *t, const struct area *a, size_t classes,
			 bool has_before)
{
	unsigned end = totals_cols(has_before);
	area_right(a, 0, WHEN_COLS, WHEN_COLS, look(ROLE_HEADING), "MOST UNTIL");
	area_right(a, 0, WHEN_COLS + VALUE_COLS, VALUE_COLS, look(ROLE_HEADING),
		   has_before ? "NEW" : "TOTAL");
	if (has_before)
		area_right(a, 0, end, VALUE_COLS, look(ROLE_HEADING), "OLD");
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

/* A dash, value -1, where a run was over before the other one. */
static void draw_value(const struct time_view *t, const struct area *a, unsigned row, unsigned end,
		       enum role role, int64_t value)
{
	char text[FMT_BYTES];
	if (value < 0)
		area_right(a, row, end, VALUE_COLS, look(ROLE_DIM), "-");
	else
		area_right(a, row, end, VALUE_COLS, look(role),
			   time_show(t, text, sizeof text, value));
}

void time_draw_plain(struct time_view *t, struct browser *b, const struct area *a)
{
	char text[FMT_BYTES];
	int64_t before[PARTS_MOST];
	unsigned parts = a->rows > PARTS_MOST ? PARTS_MOST : a->rows > 1 ? a->rows - 1u : 0;
	if (!parts || !time_make_columns(t, b, parts))
		return;
	bool has_before = t->before;
	unsigned taken = totals_cols(has_before);
	size_t classes = classes_shown(t, a, taken), all = t->series.class_count;
	if (has_before)
		time_make_before(t, b, parts, before);
	draw_heading(t, a, classes, has_before);
	for (unsigned part = 0; part < parts; part++) {
		unsigned row = part + 1, end = taken;
		uint64_t until = (uint64_t)((double)strip_end_ns(b) / parts * (part + 1));
		bool is_over = t->ticks[part] == TICK_NONE;
		if (is_looked_at(b, part, parts))
			area_put(a, row, 0, look_bold(ROLE_CURSOR), ">");
		area_right(a, row, WHEN_COLS, WHEN_COLS - 1, look(ROLE_DIM),
			   fmt_duration(text, sizeof text, until));
		draw_value(t, a, row, WHEN_COLS + VALUE_COLS, ROLE_STRONG,
			   is_over ? -1 : time_sum(t, t->ticks[part]));
		if (has_before)
			draw_value(t, a, row, end, ROLE_TEXT, before[part]);
		for (size_t i = 0; i < classes; i++) {
			end += VALUE_COLS;
			draw_value(t, a, row, end, ROLE_TEXT,
				   is_over ? -1 : t->columns[part * all + i]);
		}
	}
}
