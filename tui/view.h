/*
 * Views: what fills the middle of the screen.
 *
 * A view is a table of functions and a value of its own.  It loads results of the current
 * query, draws them into an area, and answers to actions; everything that changes what is
 * looked at is an edit of the model, after which it is loaded anew.
 */
#ifndef NEAP_TUI_VIEW_H
#define NEAP_TUI_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/grid.h"
#include "tui/keymap.h"
#include "tui/model.h"

struct browser;

struct view {
	size_t self_bytes; /* zeroed by the browser before the first load */
	void (*release)(void *self);
	/*
	 * Fetch what is shown.  Called before drawing when the model's generation changed, not on
	 * resizing.  A row that was selected stays selected where it still is.  On failure the view
	 * must be able to draw itself empty.  Results of model_result are good until the next load.
	 */
	enum neap_err (*load)(void *self, struct browser *b, struct query_error *error);
	/* May move what is scrolled, so that the selected row is inside; sets the cursor there. */
	void (*draw)(void *self, struct browser *b, const struct area *a);
	/* False: not a key of this view.  Those of all views (browser.c) come after it. */
	bool (*act)(void *self, struct browser *b, enum action action);
	bool (*mouse)(void *self, struct browser *b, const struct mouse *m); /* may be NULL */
	/* Append where one is, for the end of the last line: "12/132"; may be NULL. */
	void (*place)(const void *self, struct buf *out);
	/* The function of the selected row, for zoom, source, callers, ...; false: it has none. */
	bool (*frame)(const void *self, struct graph_frame *out);
	/* Append the selected row as one line, for copying; may be NULL. */
	void (*row_text)(const void *self, struct browser *b, struct buf *out);
	/* Append the query that prints what is shown; NULL: model_query does. */
	void (*question)(const void *self, struct browser *b, struct buf *out);
	/*
	 * Select the next row (or the one before) whose name contains the text, from the selected
	 * one on, around the end; it stays if is_here and it fits.  False: none.  May be NULL.
	 */
	bool (*find)(void *self, struct browser *b, const char *text, bool is_back, bool is_here);
	/*
	 * Append, as one line, what is open and selected; and take it over for the next load, from
	 * a line that anybody may have written.  Both may be NULL.
	 */
	void (*save_folds)(const void *self, struct buf *out);
	void (*take_folds)(void *self, const char *text);
	/*
	 * Append, in whatever words, where one is: what is selected, at the top of a list, open.  And
	 * go there, after a load of the same query; a file that grew may have other rows now.  Both may
	 * be NULL.
	 */
	void (*save_spot)(const void *self, struct buf *out);
	void (*take_spot)(void *self, const char *text);
};

/* view_of - of a screen. */
const struct view *view_of(enum screen s);

/* In the order of enum screen; one file each.  A new one: here, in views.c, in local.mk. */
extern const struct view view_tree, view_table, view_time;
extern const struct view view_source, view_threads, view_modules, view_run;
extern const struct view view_flame, view_butterfly, view_sizes;

#endif
