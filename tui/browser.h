/*
 * The browser without a terminal: inputs in, a grid out.
 *
 *   row 0      title: file, which memory, totals, the views
 *   row 1      chips: the query in parts
 *   rows 2..   time strip: live bytes over the run, the peak, marks, the instant looked at
 *   middle     the view
 *   last row   keys, or a message, or the prompt
 *
 * What does not fit is left out from the top down: strip, chips, title.
 */
#ifndef NEAP_TUI_BROWSER_H
#define NEAP_TUI_BROWSER_H

#include <stdbool.h>
#include <stddef.h>

#include "src/report/lines.h"
#include "src/report/name.h"
#include "src/report/source_ask.h"
#include "tui/editor.h"
#include "tui/grid.h"
#include "tui/keymap.h"
#include "tui/model.h"
#include "tui/names.h"
#include "tui/through.h"
#include "tui/view.h"

/* Of the result that the view shows, for the title. */
struct summary {
	bool is_known;
	char population[160];
	int64_t bytes, blocks;
	int64_t base_bytes; /* 100 % */
	bool has_bytes;     /* they are among the columns */
	bool has_blocks;    /* their number is known */
	bool is_signed;
	bool is_other; /* the population is another one than the head of the query */
};

enum pane {
	PANE_ROWS,
	PANE_STRIP,
	PANE_DETAILS,
	PANE_COUNT,
};

struct browser {
	struct model model;
	struct grid grid;
	struct through through;
	struct details_source *source; /* details.c; NULL: none was read */
	struct shortener names; /* for names in views; its results last until the next call */
	struct buf label;       /* scratch of row_label */
	void *selves[SCREEN_COUNT];
	uint64_t loaded[SCREEN_COUNT]; /* generation of the model; 0: never */
	struct query_error failure;    /* of the last load; code NEAP_OK: none */
	struct summary summary;
	struct area view_area; /* where the view was drawn last */
	uint32_t source_line;  /* Source: where to go when it is loaded; 0: the heaviest line */

	enum pane pane;     /* that the arrows move in */
	bool has_details;   /* they were drawn last */
	int details_scroll; /* lines of source, from where the selected one is in the middle */
	struct curve {
		const struct graph *graph; /* that it was made of; NULL: none yet */
		struct graph_tick *ticks;  /* [snapshots + 1]: live blocks of the run */
	} curves[2];                       /* of model.now, and of model.before */
	struct area strip_area; /* the curve of the strip, or of Time; no columns: not drawn */
	struct cursor {         /* on the curve; beside what the query says */
		uint64_t ns;
		bool has_start; /* a range is being made, from there to the cursor */
		uint64_t start_ns;
		const char *population; /* what a range will be a window of, while it moves */
	} cursor, shown_cursor;         /* shown: with what was loaded last without being stopped */
	bool is_dragging;
	uint64_t drag_start_ns;
	struct tab {
		unsigned from, end; /* columns in the first row; the same: not there */
	} tabs[SCREEN_COUNT];

	struct prompt *prompt; /* prompt.h; NULL: closed */
	bool is_previewing;    /* what runs is pointless as soon as something is typed */
	struct history {
		char **texts; /* what was typed before, oldest first */
		size_t count, cap;
	} histories[4]; /* enum prompt_kind */
	struct name_lists name_lists;
	struct help *help; /* help.c; NULL: closed */
	char find[256];
	struct {
		uint64_t generation; /* of the model; 0: never */
		char text[256];      /* "without x there are 7 rows, 2.0 MiB"; "": unknown */
		const char *hint;    /* the key that helps */
	} emptied;                   /* empty.h */
	char message[512];           /* in the last row until the next key; "" none */
	enum role message_role;

	struct buf there;     /* the file that was not written because it is there; empty: none */
	struct buf clipboard; /* to be sent to the terminal; empty: nothing */
	bool wants_redraw, wants_quit;
	bool was_cancelled; /* the last key was Ctrl-C */
	uint32_t stop_key;  /* what stopped the last work that was stopped; 0: nothing */
	const struct query_options *query_options;
	struct lines_search search; /* for sources */
	struct source_ask ask;      /* for those that Source does not find; fetch NULL: nobody */
	const struct state *shown;  /* what was loaded last without being stopped; only compared */

	struct bookmark { /* by letter; bookmarks.h */
		char letter;
		struct saved_state state;
	} * bookmarks;
	size_t bookmark_count, bookmark_cap;
	enum action awaits_letter;    /* the bookmark key that was pressed; ACTION_NONE */
	struct editor_command editor; /* to be run by the owner of the terminal; no args: nothing */
	struct follow {               /* follow.h */
		bool is_on, is_asked;
		size_t load_count; /* how often it had grown */
		int64_t next_ms;   /* not before */
		struct follow_file {
			int64_t bytes, time_s, time_ns;
			uint64_t inode;
		} files[2]; /* as they were when they were loaded; bytes -1: not there */
	} follow;
};

struct browser_options {
	const char *const *paths;
	size_t path_count;
	const struct query_options *query;
	const struct source_map *sources; /* where sources lie now; may be NULL */
	/* Where Source asks for those that are not here, as fetch of struct source_ask; may be NULL. */
	int (*fetch_source)(void *context, const uint8_t *build_id, size_t build_id_bytes,
			    const char *path);
	void *fetch_context;
	enum glyphs glyphs;
	bool is_plain, is_mono;
};
/* browser_new - open the profiles.  Fails: as profile_open; *out is then NULL. */
enum neap_err browser_new(const struct browser_options *o, struct browser **out, struct err *e);
void browser_free(struct browser *b); /* NULL is fine */

/* browser_input - one key or mouse event. */
void browser_input(struct browser *b, const struct input *in);
/* browser_draw - the whole screen into b->grid.  False: no memory. */
bool browser_draw(struct browser *b, unsigned rows, unsigned cols);
/* browser_draw_early - what is known without a query, with nothing in the middle. */
bool browser_draw_early(struct browser *b, unsigned rows, unsigned cols);

/* ---- for views ------------------------------------------------------------------------ */

/* browser_say - a message in the last row, until the next key. */
void browser_say(struct browser *b, enum role role, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* browser_tell - what an edit answered: nothing if it went well. */
void browser_tell(struct browser *b, enum neap_err code, const struct query_error *error);
/* browser_summarise - totals of the result that the view shows. */
void browser_summarise(struct browser *b, const struct query_result *r);
/* browser_self - the value of the current view. */
void *browser_self(const struct browser *b);
/* browser_question - append the query that prints what is shown. */
void browser_question(struct browser *b, struct buf *out);

/* ---- chrome.c, chips.c ------------------------------------------------------------------ */

void chrome_title(struct browser *b, const struct area *a);
void chrome_chips(struct browser *b, const struct area *a);
void chrome_footer(struct browser *b, const struct area *a);
/* chrome_failure - the error of the query, in place of the view. */
void chrome_failure(struct browser *b, const struct area *a);

/* ---- strip.c ------------------------------------------------------------------------------ */

uint64_t strip_end_ns(const struct browser *b); /* of the run, or the longer one; never 0 */
/* strip_column - of an instant, on a chart of the whole run. */
unsigned strip_column(const struct browser *b, unsigned cols, uint64_t ns);
/* strip_rows - that it takes on a screen of so many; 0: none. */
unsigned strip_rows(const struct browser *b, unsigned rows);
void strip_draw(struct browser *b, const struct area *a);
/* strip_forget - the curves: what they were made of is gone. */
void strip_forget(struct browser *b);
bool strip_act(struct browser *b, enum action action);
/* strip_mouse - an event over the curve, rows and columns of the grid; false: it is elsewhere. */
bool strip_mouse(struct browser *b, const struct mouse *m);
void strip_look_at(struct browser *b, uint64_t ns);
/* strip_now - the instant that the query looks at, or the one before it had a window. */
uint64_t strip_now(const struct browser *b);
/* strip_range - the range that is being made, or the window of the query; false: there is none. */
bool strip_range(const struct browser *b, uint64_t *from_out, uint64_t *to_out);
/* strip_settle - after the load of another state: one that has a window ends a range in the making. */
void strip_settle(struct browser *b);
/* strip_drop_range - take the window away if it came last, or come what may; false: it stays. */
bool strip_drop_range(struct browser *b, bool is_last_resort);
/* strip_draw_range - brackets at its ends in the row below a curve; false: there is none. */
bool strip_draw_range(struct browser *b, const struct area *foot);
/* strip_draw_marks - in the row below a curve, as many as have room. */
void strip_draw_marks(const struct browser *b, const struct area *foot);
/*
 * strip_draw_peak - a sign below the peak, and the first of some words that have room beside it and
 * cover no mark and no end of a range.
 */
void strip_draw_peak(const struct browser *b, const struct area *foot, uint64_t peak_ns,
		     const char *const *texts, size_t count);
/*
 * strip_reverse - show the range, or the instant, on a curve; where colours tell classes, they
 * stay as they are between the ends of a range.
 */
void strip_reverse(struct browser *b, const struct area *chart, bool has_colours);
/* strip_instant - the instant that the query looks at; false: it has none, or a window. */
bool strip_instant(const struct browser *b, uint64_t *ns_out);

#endif
