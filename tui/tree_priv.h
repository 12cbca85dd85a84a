/*
 * Between view_tree.c (loading and keys), tree_lines.c (what is open), tree_sort.c (the order) and
 * tree_draw.c.
 */
#ifndef NEAP_TUI_TREE_PRIV_H
#define NEAP_TUI_TREE_PRIV_H

#include "src/base/map.h"
#include "tui/browser.h"
#include "tui/list.h"
#include "tui/rows.h"
#include "tui/show.h"

#define TREE_DETAILS_COLS   38u
#define TREE_DETAILS_SCREEN 112u

struct tree_line {
	uint32_t row; /* of the result */
	uint32_t depth;
	bool is_open;
	uint64_t path; /* hash of the names from the root to it */
};

struct tree {
	struct query_opened *q; /* borrowed from the model */
	struct tree_line *lines;
	size_t line_cap;
	struct list list;                       /* count: lines */
	size_t total, self, count, share, name; /* columns; name: the first key */
	int64_t base_bytes;
	bool is_inverted;
	/* From before the last load: paths of open lines, and of the selected one. */
	struct map open;
	uint64_t selected_path;
	uint64_t root_path; /* of the first line; 0: nothing was shown */
	bool has_taken;     /* they are from another time, not from the last load */
	struct {            /* of the row that was selected when they were asked for */
		uint64_t serial;
		uint32_t row;
		struct query_facts facts;
	} known;
};

const struct query_result *tree_result(const struct tree *t);
/* tree_is_other - does the row stand for those that were cut? */
bool tree_is_other(const struct tree *t, uint32_t row);

/* ---- tree_lines.c: `at` is the index of a line ------------------------------------------ */

/* tree_insert_below - the children of a row (OPENED_ROOT: the first level) as lines. */
enum neap_err tree_insert_below(struct tree *t, size_t at, uint32_t row, uint32_t depth,
				struct query_error *error);
bool tree_can_open(const struct tree *t, size_t at);
/* tree_open_line - on failure the line stays closed. */
enum neap_err tree_open_line(struct tree *t, size_t at, struct query_error *error);
void tree_close_line(struct tree *t, size_t at);
/* tree_open_chain - open line after line while one child has most of its parent; the last one. */
size_t tree_open_chain(struct tree *t, size_t at, struct query_error *error);
size_t tree_end_below(const struct tree *t, size_t at); /* after the last line below it */
size_t tree_parent(const struct tree *t, size_t at);
/* tree_keep_open - before a load: remember what is open and selected.  False: no memory. */
bool tree_keep_open(struct tree *t);
/* tree_restore_open - after it: as far as it is still there.  False: nothing of it is. */
bool tree_restore_open(struct tree *t, struct query_error *error);
/* For the view's table. */
void tree_save_folds(const void *self, struct buf *out);
void tree_take_folds(void *self, const char *text);
void tree_save_spot(const void *self, struct buf *out);
void tree_take_spot(void *self, const char *text);

/* ---- tree_sort.c ----------------------------------------------------------------------------- */

/* tree_is_sorted_by - does this column decide the order, as the query says it? */
bool tree_is_sorted_by(const struct browser *b, const char *word, bool *is_ascending);
/* tree_sort - the keys for the order. */
void tree_sort(const struct tree *t, struct browser *b, enum action action);
/* tree_press_heading - on the name of a column; false: there is none. */
bool tree_press_heading(const struct tree *t, struct browser *b, unsigned col);

/* ---- tree_draw.c ----------------------------------------------------------------------------- */

struct tree_columns { /* where columns end; 0: not shown */
	unsigned total, share, bar, bar_cols, self, count, name;
};
struct tree_columns tree_lay_out(const struct tree *t, const struct area *a);
void tree_draw(void *self, struct browser *b, const struct area *a);

#endif
