/* A source on the screen. */
#include "config.h"

#include "tui/source_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/empty.h"

#define HOT_SHARE 0.1 /* lines above it are bold */

struct columns { /* where columns end; 0: not shown */
	unsigned total, share, bar, bar_cols, self, count, line, text;
};

static struct columns lay_out(const struct source *s, const struct area *a)
{
	struct columns c = {.total = 7};
	unsigned at = 7;
	if (a->cols >= 64)
		c.share = at += 7;
	if (a->cols >= 72 && !a->grid->is_plain) {
		c.bar = at + 1;
		c.bar_cols = a->cols >= 100 ? 8 : 5;
		at += c.bar_cols + 1;
	}
	if (a->cols >= 56)
		c.self = at += 8;
	if (a->cols >= 100 && result_knows(source_result(s), s->count))
		c.count = at += 8;
	c.line = at += 6;
	c.text = at + 2;
	return c;
}

/* The function that the selected line belongs to: it may be one that was inlined. */
static void draw_function(const struct source *s, struct browser *b, const struct area *a,
			  unsigned col)
{
	struct graph_frame f;
	if (s->list.selected >= s->list.count ||
	    !source_frame(s, source_item(s, s->list.selected).row, &f))
		return;
	const char *what = f.is_inlined ? "here: inlined " : f.is_tail ? "here: [tail] " : "here: ";
	col = area_put(a, 0, col, look(ROLE_DIM), what);
	area_put(a, 0, col, look(ROLE_TEXT), name_frame(&b->names, &f, a->cols - col));
}

/* Which file, and if it is not the one that was compiled: why. */
static void draw_title(struct source *s, struct browser *b, const struct area *a)
{
	const char *what = "";
	size_t count = s->line_count;
	if (!*source_path(s))
		what = "no debug information says where";
	else if (!s->text.count)
		what = "not found here";
	else if (s->text.is_newer)
		what = "changed since: lines may have moved";
	unsigned room = text_cols(what) + 14 < a->cols ? a->cols - text_cols(what) - 3 : a->cols;
	const char *name =
		*source_path(s) ? name_path(&b->names, source_path(s), room) : "[unknown file]";
	unsigned col = area_elide(a, 0, 1, room - 1, look_bold(ROLE_STRONG), name) + 2;
	if (*what)
		col = area_put(a, 0, col, look(ROLE_WARNING), what) + 2;
	if (col + 34 < a->cols)
		col = area_printf(a, 0, col, look(ROLE_DIM), "%zu line%s with memory", count,
				  count == 1 ? "" : "s");
	if (s->text.count && col + 24 < a->cols)
		draw_function(s, b, a, col + 2);
}

static void draw_heading(const struct source *s, const struct area *a, const struct columns *c)
{
	const struct look l = look(ROLE_HEADING);
	area_right(a, 0, c->total, 7, l, source_result(s)->is_signed ? "CHANGE" : "TOTAL");
	if (c->share)
		area_right(a, 0, c->share, 7, l, "SHARE");
	if (c->self)
		area_right(a, 0, c->self, 8, l, "SELF");
	if (c->count)
		area_right(a, 0, c->count, 8, l, "BLOCKS");
	area_right(a, 0, c->line, 6, l, "LINE");
	area_put(a, 0, c->text, l, s->text.count ? "" : "function");
}

static double share_of(const struct source *s, int64_t bytes)
{
	return s->base_bytes ? (double)bytes / (double)s->base_bytes : 0;
}

static void draw_values(const struct source *s, const struct area *a, unsigned row,
			const struct columns *c, uint32_t at)
{
	char text[FMT_BYTES];
	struct source_values v = source_values(s, at);
	bool is_line = at != TAIL_OTHERS && source_is_plain(s, at);
	struct look strong = look(is_line ? ROLE_STRONG : ROLE_DIM);
	if (source_result(s)->is_signed && v.total)
		strong = look(v.total > 0 ? ROLE_GREW : ROLE_SHRANK);
	/* Totals of lines in other files may have blocks in common: there is no sum of them. */
	if (at != TAIL_OTHERS) {
		area_right(a, row, c->total, 7, strong, show_bytes(text, sizeof text, v.total));
		show_share(text, sizeof text, (double)v.total, (double)s->base_bytes);
		if (c->share)
			area_right(a, row, c->share, 7, look(ROLE_TEXT), text);
		if (c->bar)
			area_bar(a, row, c->bar, c->bar_cols, look(is_line ? ROLE_BAR : ROLE_DIM),
				 share_of(s, v.total));
		if (c->count)
			area_right(a, row, c->count, 8, look(ROLE_TEXT),
				   show_count(text, sizeof text, v.count));
	}
	if (c->self)
		area_right(a, row, c->self, 8, look(v.self ? ROLE_TEXT : ROLE_DIM),
			   show_bytes(text, sizeof text, v.self));
}

static void draw_cut(const struct source *s, struct browser *b, const struct area *a, unsigned row,
		     const struct columns *c, uint32_t at)
{
	const char *min = state_chip(model_state(&b->model), STAGE_MIN);
	if (at == TAIL_OTHERS)
		area_printf(a, row, c->text, look(ROLE_DIM),
			    "%zu line%s in other files  (Right: next file)", s->others,
			    s->others == 1 ? "" : "s");
	else
		area_printf(a, row, c->text, look(ROLE_DIM), "%u more line%s%s%s%s",
			    source_result(s)->rows[at].count,
			    source_result(s)->rows[at].count == 1 ? "" : "s", min ? " below " : "",
			    min ? min + strlen("min ") : "", min ? "  (L shows them)" : "");
}

static const char *text_of(struct source *s, struct browser *b, const struct numbered *item,
			   unsigned cols)
{
	struct graph_frame f;
	buf_clear(&s->work);
	if (item->line && item->line <= s->text.count)
		lines_expand(&s->text, item->line, SOURCE_TEXT_BYTES, &s->work);
	else if (source_frame(s, item->row, &f))
		return name_frame(&b->names, &f, cols);
	return s->work.count_bytes && !s->work.has_failed ? s->work.data : "";
}

static void draw_line(struct source *s, struct browser *b, const struct area *a, unsigned row,
		      const struct columns *c, size_t at)
{
	const struct numbered item = source_item(s, at);
	bool has_memory = item.row < NO_ROW;
	struct look l = look(has_memory ? ROLE_TEXT : ROLE_DIM);
	if (item.row != NO_ROW)
		draw_values(s, a, row, c, item.row);
	if (item.row == TAIL_OTHERS || (has_memory && !source_is_plain(s, item.row))) {
		draw_cut(s, b, a, row, c, item.row);
		return;
	}
	if (has_memory &&
	    share_of(s, source_magnitude(source_values(s, item.row).total)) >= HOT_SHARE)
		l = look_bold(ROLE_STRONG);
	char number[FMT_BYTES] = "?";
	if (item.line)
		snprintf(number, sizeof number, "%" PRIu32, item.line);
	area_right(a, row, c->line, 6, look(has_memory ? ROLE_KEY : ROLE_DIM), number);
	if (c->text >= a->cols)
		return;
	const char *text = text_of(s, b, &item, a->cols - c->text);
	if (b->find[0] && strstr(text, b->find))
		l = look_bold(ROLE_MATCH);
	area_put(a, row, c->text, l, text);
}

void source_draw(void *self, struct browser *b, const struct area *a)
{
	struct source *s = self;
	struct area rows = *a;
	const struct columns c = lay_out(s, a);
	if (!s->list.count) {
		empty_draw(b, a, "no line of source has memory here", source_result(s));
		return;
	}
	if (rows.rows > 2) {
		draw_title(s, b, &rows);
		rows = area_cut(&rows, 1, 0, rows.rows, rows.cols);
	}
	if (rows.rows > 5) {
		draw_heading(s, &rows, &c);
		rows = area_cut(&rows, 1, 0, rows.rows, rows.cols);
	}
	if (!s->list.page_rows && s->list.selected > rows.rows / 2)
		s->list.top = s->list.selected - rows.rows / 2;
	list_fit(&s->list, rows.rows);
	for (unsigned i = 0; i < rows.rows && s->list.top + i < s->list.count; i++) {
		size_t at = s->list.top + i;
		draw_line(s, b, &rows, i, &c, at);
		if (at == s->list.selected && b->pane == PANE_ROWS) {
			area_select(&rows, i);
			area_cursor(&rows, i, 0);
		}
	}
}
