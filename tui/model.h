/*
 * What the browser looks at: profiles, and a query that every key edits.
 *
 * A state is a screen and a query in parts: a head (which memory) and chips (its stages, one
 * each).  States are kept for undo.  Screens ask for results of the current query with their
 * own view stage at its end; results are kept open, the last few of them.
 */
#ifndef NEAP_TUI_MODEL_H
#define NEAP_TUI_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/opened.h"
#include "src/graph/graph.h"
#include "src/profile/profile.h"

enum screen {
	SCREEN_TREE,
	SCREEN_TABLE,
	SCREEN_TIME,
	SCREEN_FLAME,
	SCREEN_SOURCE,
	SCREEN_SIZES,
	SCREEN_THREADS,
	SCREEN_MODULES,
	SCREEN_RUN,
	SCREEN_BUTTERFLY,
	SCREEN_COUNT,
};
const char *screen_name(enum screen s); /* "Tree", ... */

struct chip {
	enum ast_stage_kind kind;
	bool is_of_rows; /* a `where` after `by` */
	char *text;      /* "where module=libc.so.6", without the bar */
};

struct state {
	enum screen screen;
	bool is_inverted; /* Tree: callers first */
	bool is_moving;   /* made by model_move_head: the next step takes its place */
	/* Time: the classes are callers that many frames above the leaf; a `path` chip leads there. */
	unsigned callers_depth;
	char *subject; /* Butterfly and Source: a step, `[func="f"]`; or NULL */
	char *hist;    /* Sizes: a column, "total", or a field, "born"; NULL: sizes and lifetimes */
	char *head;    /* "live at 40%"; the lets of the query stand before it */
	struct chip *chips;
	size_t chip_count, chip_cap;
	/* Where one was when it was left, for the view that shows it: spots.h.  NULL: it was not. */
	char *spot;
};

#define MODEL_RESULTS_KEPT 8u

struct model {
	struct query_session *session;
	const struct graph *graph; /* of the first file */
	const struct profile *profile;
	const char *const *paths; /* borrowed */
	size_t path_count;
	/* What the query looks at, and of a diff of two files what that is compared with. */
	const struct graph *now, *before; /* before NULL: no such diff */
	const char *now_path, *before_path;

	struct state **states; /* undo: states[at] is the current one */
	size_t state_count, state_cap, at;
	struct state *moved; /* the one that the last move took the place of; NULL: none */
	/* Changes with every state; who keeps something of a result compares it. */
	uint64_t generation;

	struct model_result {
		char *text;
		struct ast_script *script;
		struct query_opened *opened;
		uint64_t used, serial;
	} results[MODEL_RESULTS_KEPT];
	uint64_t result_clock;

	/* From before model_reload: views may look at it until their next load is over. */
	struct query_session *old_session;
	struct model_result old_results[MODEL_RESULTS_KEPT];
};

/* model_open - open one file, or two to compare, and begin with a state.  Fails: as profile_open. */
enum neap_err model_open(struct model *m, const char *const *paths, size_t path_count,
			 const struct query_options *options, struct err *e);
void model_release(struct model *m);
/*
 * model_reload - open the files again; what is looked at stays, and all results are made anew.
 * What was there before lasts until model_drop_old.  Fails: as model_open; nothing has changed then.
 */
enum neap_err model_reload(struct model *m, const struct query_options *options, struct err *e);
void model_drop_old(struct model *m);
/* model_knows - do all files know these (FACT_..., a set of bits)?  Those of other tools may not. */
bool model_knows(const struct model *m, uint64_t facts);
/* model_knows_times - can it be said what the heap held over the run? */
static inline bool model_knows_times(const struct model *m)
{
	return model_knows(m, FACT_ALLOCATED | FACT_TIME);
}
/*
 * model_find_sides - before a load: now and before, as the head of the query says.  Fails with the
 * error that the query has; now and before are those of the last good one then.
 */
enum neap_err model_find_sides(struct model *m, struct query_error *error);
/* model_reset_sides - the file that was opened, or the two to compare. */
void model_reset_sides(struct model *m);
/*
 * model_whole_run - append the head that asks for a population of all of one of the two.
 * Fails if queries cannot say the name of that file: without it they would ask the first.
 */
enum neap_err model_whole_run(const struct model *m, bool is_before, const char *population,
			      struct buf *out, struct query_error *error);

static inline const struct state *model_state(const struct model *m)
{
	return m->states[m->at];
}

/* ---- results ----------------------------------------------------------------------- */

struct compose {
	const char *head;       /* instead of the state's; NULL: that */
	const char *default_by; /* "func": keys if no chip has some; NULL: none */
	const char *by;         /* keys whatever chips say; NULL: theirs */
	const char *view;       /* last stage: "tree", "callers", ...; NULL: none */
	bool without_keys;      /* leave out `by` */
	bool for_screen;        /* leave out what the screen does not use; model_compose sets it */
	bool without_chips;     /* leave out all */
	size_t without_chip;    /* one more than the index of a chip that is left out; 0: none */
	bool without_rows;      /* leave out sort, top, limit, min, select and conditions on rows */
};
/* model_compose - append the text of the current query, put together for its screen. */
void model_compose(const struct model *m, const struct compose *c, struct buf *out);
/*
 * model_result - the composed query, run and kept open.  Borrowed until the next call of
 * model_result: ask for all that a screen needs in one load, and ask again in the next.
 * Up to MODEL_RESULTS_KEPT different ones are safe at the same time.
 */
enum neap_err model_result(struct model *m, const struct compose *c, struct query_opened **out,
			   struct query_error *error);
/* model_serial - tells results apart, also from those that were there before; never 0. */
uint64_t model_serial(const struct model *m, const struct query_opened *q);
/* model_was_stopped - did it fail because the user wanted it to end? */
bool model_was_stopped(const struct query_error *error);
/* model_forget - free all results: the next load runs anew. */
void model_forget(struct model *m);

/* ---- edits: each makes a new state, or leaves everything as it was and fills *error ----------- */

/* A copy of the current state, to be changed and then given to model_commit.  NULL: no memory. */
struct state *model_edit(const struct model *m);
/* model_commit - take it over as the current state if its query parses and it differs. */
enum neap_err model_commit(struct model *m, struct state *s, struct query_error *error);
void state_free(struct state *s); /* NULL is fine */

/* Parts of a state under edit.  False: no memory. */
bool state_set_head(struct state *s, const char *head);
/* state_set_chip - replace the chip of a kind, or put one at its place; NULL takes it away. */
bool state_set_chip(struct state *s, enum ast_stage_kind kind, const char *text);
/* state_add_chip - one more, behind others of its kind. */
bool state_add_chip(struct state *s, enum ast_stage_kind kind, const char *text);
void state_remove_chip(struct state *s, size_t at);
/* state_chip - the text of the first chip of a kind, or NULL. */
const char *state_chip(const struct state *s, enum ast_stage_kind kind);
bool state_set_subject(struct state *s, const char *step);
/*
 * state_subject_stage - append the stage that says what Source or Butterfly is about: "source STEP";
 * nothing without a subject.  It stands behind the chips.
 */
void state_subject_stage(const struct state *s, struct buf *out);
/* state_uses - is a part of its query used by the screen?  Others are kept for those that do. */
bool state_uses(const struct state *s, const struct chip *c);
/* state_own_keys - keys that a screen has whatever the query says: "thread"; NULL: the query's. */
const char *state_own_keys(const struct state *s);
/* has_rows_of_keys - is `hist` of a column, so of rows with keys?  Else it is of the blocks. */
bool has_rows_of_keys(const struct state *s);
/* state_columns - the `select` that a screen brings along; NULL: none. */
const char *state_columns(const struct state *s);

/* Whole edits. */
enum neap_err model_set_screen(struct model *m, enum screen screen, struct query_error *error);
/* model_set_text - a query as typed: replaces the state, or refines it if it begins with a bar. */
enum neap_err model_set_text(struct model *m, const char *text, struct query_error *error);
enum neap_err model_set_head(struct model *m, const char *head, struct query_error *error);
/*
 * model_move_head - the same while something moves: one state for all steps on the way.  The one before
 * can be gone back to until the next move.
 */
enum neap_err model_move_head(struct model *m, const char *head, struct query_error *error);
enum neap_err model_set_stage(struct model *m, enum ast_stage_kind kind, const char *text,
			      struct query_error *error);
enum neap_err model_add_stage(struct model *m, enum ast_stage_kind kind, const char *text,
			      struct query_error *error);
/* model_pop_chip - take the last chip away that the screen uses; false: there is none. */
bool model_pop_chip(struct model *m);
bool model_undo(struct model *m);
bool model_redo(struct model *m);
/* model_go_screen - to the nearest state before or after with another screen. */
bool model_go_screen(struct model *m, bool is_back);

/* model_go_state - to a state that may be among those kept; false: it is not, or is the current one. */
bool model_go_state(struct model *m, const struct state *s);
/* model_leave - note where one was in a state that may be among those kept; the text is taken. */
void model_leave(struct model *m, const struct state *s, char *spot);
/* model_arrive - where one was when the current state was left last, to be freed; NULL: nowhere yet. */
char *model_arrive(struct model *m);

/* A state as text, to be kept in a file or under a letter. */
struct saved_state {
	enum screen screen;
	bool is_inverted;
	unsigned callers_depth;
	char *query, *subject, *hist; /* subject, hist: NULL without one */
};
/* model_save - the current state.  False: no memory; *out is empty then. */
bool model_save(const struct model *m, struct saved_state *out);
void saved_release(struct saved_state *saved);
/* model_go_saved - one edit. */
enum neap_err model_go_saved(struct model *m, const struct saved_state *saved,
			     struct query_error *error);
/* model_begin_here - the current state becomes the first one. */
void model_begin_here(struct model *m);

/* model_text - append the whole query, of the view only what it is about; it parses to itself. */
void model_text(const struct model *m, struct buf *out);
/* model_query - append the query that prints the same view; of Time its view knows it. */
void model_query(const struct model *m, struct buf *out);
/* model_command - append the shell command that asks a query of the files; of Run `neap info`. */
void model_command(const struct model *m, const char *query, struct buf *out);

/* ---- text of queries -------------------------------------------------------------------------- */

/*
 * query_quote - append a string of the language.  Behind `=`, a text with control characters, which
 * strings cannot hold, becomes `~` and a regular expression for just this text.
 */
void query_quote(struct buf *out, const char *text);
/*
 * query_step - append a step for a frame: [func="f"], or its module and address without a name; the
 * file, with its line, or the module where it is no function.
 */
void query_step(struct buf *out, const struct graph_frame *f);
/* query_time - append an instant or a duration as query_canonical spells it: 61200ms, 3s. */
void query_time(struct buf *out, uint64_t ns);
/* query_population - the population that a head names; POP_COUNT if it is a diff. */
enum graph_pop query_population(const char *head);

/* query_is_of_frames - are these keys of frames, "func, line", and none of whole blocks? */
bool query_is_of_frames(const char *keys);

#endif
