/* Between view_time.c (loading and keys), time_values.c (what is measured when) and time_draw.c. */
#ifndef NEAP_TUI_TIME_PRIV_H
#define NEAP_TUI_TIME_PRIV_H

#include "tui/browser.h"
#include "tui/list.h"
#include "tui/time_chart.h"

#define CLASSES_MOST SERIES_MOST

enum time_measured {
	LIVE_BYTES,
	LIVE_BLOCKS,
	ALLOCATED_BYTES, /* per second */
	MEASURED_COUNT,
};

struct time_view {
	struct query_opened *q; /* borrowed from the model */
	uint64_t serial;        /* of what series was made of */
	unsigned depth;
	struct query_series series;
	struct list list; /* of classes, as in the legend */
	enum time_measured measured;
	bool is_unknown;                   /* the file cannot say what was held when */
	bool is_grouped;                   /* by values of keys, not by frames */
	int64_t means[CLASSES_MOST + 1];   /* of what is measured, in the range, by class */
	const struct graph *graph;         /* what the query looks at */
	const struct graph *before;        /* what it is compared with; NULL: nothing */
	struct query_series before_series; /* all of that in two classes */
	uint64_t before_serial;

	/* What was drawn last, for the mouse. */
	struct area chart_area;
	struct time_chart chart;
	int64_t *columns; /* chart.values */
	size_t *ticks;    /* [cols]: the tick shown in a column */
};

/* After the last tick: the exact peak, and the mean of the range. */
#define TICK_PEAK  SIZE_MAX
#define TICK_RANGE (SIZE_MAX - 1)
#define TICK_NONE  (SIZE_MAX - 2) /* the run was over */

/* ---- time_values.c -------------------------------------------------------------------------- */

/* time_measure - of a class at a tick; time_sum - of all. */
int64_t time_measure(const struct time_view *t, size_t tick, size_t class);
int64_t time_sum(const struct time_view *t, size_t tick);
/* time_show - in few columns; time_put - append it with its unit. */
const char *time_show(const struct time_view *t, char *dst, size_t cap, int64_t value);
void time_put(const struct time_view *t, int64_t value, struct buf *out);
/* time_has_others - is there something that has no class of its own? */
bool time_has_others(const struct time_view *t);
/* time_cursor_tick - what the legend is about. */
size_t time_cursor_tick(const struct time_view *t, const struct browser *b);
/* time_make_means - of the range, if there is one. */
void time_make_means(struct time_view *t, const struct browser *b);
/* time_make_columns - t->chart for so many columns.  False: no memory. */
bool time_make_columns(struct time_view *t, const struct browser *b, unsigned cols);
/*
 * time_before - of what the run is compared with, all together: at the instant of the cursor, in the
 * range, or at its own peak, as time_cursor_tick says.
 */
int64_t time_before(const struct time_view *t, const struct browser *b, size_t tick);
/* time_make_before - the most in each column, -1 after its end.  Returns the highest. */
int64_t time_make_before(const struct time_view *t, const struct browser *b, unsigned cols,
			 int64_t *line);
/* time_make_line - RSS at the tick of each column, -1: unknown.  Returns the highest. */
int64_t time_make_line(const struct time_view *t, unsigned cols, int64_t *line);

/* ---- classes: view_time.c ------------------------------------------------------------------------ */

/* time_frame - of a class; false: it is no function. */
bool time_frame(const struct time_view *t, size_t class, struct graph_frame *out);
const char *time_name(const struct time_view *t, struct browser *b, size_t class, unsigned cols);

/* time_put_keys - append what classes are told apart by: the keys of the query, where they are of
 * frames those of the leaf or of the frame that called what was entered. */
void time_put_keys(const struct time_view *t, const struct browser *b, struct buf *out);
/* time_question - the query of the language that prints the classes: time_query.c. */
void time_question(const void *self, struct browser *b, struct buf *out);
void time_draw(void *self, struct browser *b, const struct area *a); /* time_draw.c */
/* time_draw_plain - numbers in place of the chart: time_plain.c. */
void time_draw_plain(struct time_view *t, struct browser *b, const struct area *a);

#endif
