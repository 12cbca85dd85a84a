/* Between view_flame.c, which moves and zooms, flame_draw.c and flame_spot.c. */
#ifndef NEAP_TUI_FLAME_PRIV_H
#define NEAP_TUI_FLAME_PRIV_H

#include "tui/browser.h"
#include "tui/flame_layout.h"

/* One cell on the way to what is zoomed into. */
struct flame_step {
	uint64_t step;
	int64_t below;
	struct flame_cell cell;
	bool is_stop; /* Esc stops here */
};

struct flame {
	struct flame_layout layout;
	struct flame_step *zoom;
	size_t zoom_count, zoom_cap;
	uint64_t *kept; /* steps from the first cell to the selected one */
	size_t kept_count, kept_cap;
	bool is_stale; /* the layout is of another result, zoom or size */
	bool is_inverted, is_zoom_old, is_first;
	uint32_t selected; /* cell */
	unsigned top, page_rows;
	struct buf label; /* scratch */
};

static inline const struct query_result *flame_result(const struct flame *f)
{
	return query_opened_result(f->layout.q);
}
/* flame_selected - NULL: nothing is. */
static inline const struct flame_cell *flame_selected(const struct flame *f)
{
	return f->selected < f->layout.cell_count ? &f->layout.cells[f->selected] : NULL;
}
/* flame_frame - of a cell; false: it is no frame. */
bool flame_frame(const struct flame *f, const struct flame_cell *c, struct graph_frame *out);
/* flame_matches - is the text in one of its keys? */
bool flame_matches(const struct flame *f, const struct flame_cell *c, const char *text);

/* flame_push_zoom - one step more on the way to what is zoomed into.  False: no memory. */
bool flame_push_zoom(struct flame *f, const struct flame_cell *c);
/* flame_begin - lay out anew from where the zoom is, with nothing selected. */
void flame_begin(struct flame *f);

/* For the view's table: flame_spot.c. */
void flame_save_spot(const void *self, struct buf *out);
void flame_take_spot(void *self, const char *text);

/* flame_draw_way - one row: what the cells are a part of, or what their width means. */
void flame_draw_way(struct flame *f, struct browser *b, const struct area *a);
void flame_draw_cells(struct flame *f, struct browser *b, const struct area *a);
/* flame_draw_plain - the way to the selected cell, and what is below it, as lines. */
void flame_draw_plain(struct flame *f, struct browser *b, const struct area *a);
/* flame_draw_status - the selected cell in words, in one row or two. */
void flame_draw_status(const struct flame *f, struct browser *b, const struct area *a);
void flame_draw_empty(const struct flame *f, struct browser *b, const struct area *a);
/* flame_put_numbers - append "42.1M 47.5% in 310k blocks". */
void flame_put_numbers(const struct flame *f, const struct browser *b, const struct flame_cell *c,
		       struct buf *out);

#endif
