/*
 * The inside of planning and running: what a query means once names, types and instants are
 * known, and the data that the executor passes from step to step.
 *
 *   cells   groups of equal blocks of a population, after the filters: a cohort, or a cohort
 *           and a death if a condition, key or column asks for deaths
 *   stacks  the call tree with one vnode per frame, inlined functions apart, in preorder
 *   space   the vnodes on which cells are placed, and the group (the row) of each vnode
 *   sums    what each group holds, from prefix sums over the vnodes
 *   rows    groups in the order asked for, some cut away
 *
 * Nothing recurses over stacks.  Conditions are recursed over: the parser bounds them.
 */
#ifndef NEAP_QUERY_PLAN_H
#define NEAP_QUERY_PLAN_H

#include "query/query.h"
#include "query/regex.h"
#include "query/vocab.h"
#include "src/base/map.h"
#include "src/base/mem.h"

/* ---- profiles (session.c) ------------------------------------------------------------ */

#define VNODE_ROOT     0u /* of every stack; no frame */
#define VNODE_NO_STACK 1u /* [no stack]: blocks whose stack is unknown, or has no frame left */
#define VNODE_FIRST    2u
#define VNODE_NONE     UINT32_MAX
#define GROUP_NONE     UINT32_MAX

/* Call tree with a vnode per frame.  Preorder: the vnodes below v are v + 1 .. end[v] - 1. */
struct stacks {
	size_t count, cap;
	uint32_t *parent, *end;
	entry_id *entry; /* ENTRY_NONE for VNODE_ROOT */
	/* by site, site_id - 1: the innermost frame, and the leaf; VNODE_NONE: zoomed away */
	uint32_t *inner, *leaf;
};
void stacks_free(struct stacks *s); /* NULL is fine */
/* stacks_up - the frame that is so many frames further out; VNODE_ROOT: there is none. */
static inline uint32_t stacks_up(const struct stacks *s, uint32_t v, uint32_t up)
{
	while (up-- && v != VNODE_ROOT)
		v = s->parent[v];
	return v;
}

struct granule;
#define GRANULES_KEPT 6

struct query_file {
	char *path;
	struct profile *p;
	struct graph *g;
	struct graph_columns columns;
	struct stacks *stacks; /* made by file_need_stacks */
	uint32_t *depth;       /* by vnode: frames from the root to it; made by file_depth */
	struct granule *granules[GRANULES_KEPT];
	unsigned next_granule;       /* to be replaced */
	struct strtab address_names; /* "libc.so.6+0x1234" by entry without a name */
	uint32_t *address_name_of;   /* by entry; UINT32_MAX: not made yet */
	struct strtab thread_names;
	struct graph_types types; /* made by file_types */
};
struct query_session {
	struct query_options options;
	struct query_file **files;
	size_t file_count, file_cap;
	size_t named_count;  /* the first ones, added by query_session_open */
	size_t lent_count;   /* the first of these, which are borrowed */
	struct strtab texts; /* made for cells of results, which outlive their query */
};
/* session_file - a file by the path in a query; opened if it is new.  Borrowed. */
enum neap_err session_file(struct query_session *s, const struct ast_text *path,
			   struct query_file **out, struct query_error *error);
struct exec;
/* file_need_stacks - make f->stacks unless it is there.  Fails: ERR_NOMEM, or cancelled; it is then not there. */
enum neap_err file_need_stacks(struct exec *x, struct query_file *f);
/* file_depth - frames from the root to a vnode of the recorded stacks. */
uint32_t file_depth(struct query_file *f, uint32_t v);
/* file_entry_name - what a function is called; "libc.so.6+0x1234" or "[signal]" without a name; NULL: no memory. */
const char *file_entry_name(struct query_file *f, entry_id entry);

/* file_thread_name - "worker #3", or "#3" without a name; NULL: no memory. */
const char *file_thread_name(struct query_file *f, thread_id id);

/* file_types - types of sites; the same pointer each time; NULL: no memory. */
const struct graph_types *file_types(const struct query_session *s, struct query_file *f);

/* ---- errors (plan.c) ------------------------------------------------------------------ */

/* query_fail - fill *error; returns code. */
enum neap_err query_fail(struct query_error *error, enum neap_err code, struct ast_span span,
			 const char *fmt, ...) __attribute__((format(printf, 4, 5)));
enum neap_err query_fail_help(struct query_error *error, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum neap_err query_fail_expected(struct query_error *error, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
enum neap_err query_no_memory(struct query_error *error);
/* query_fail_err - an error of a lower layer, at a place of the query. */
enum neap_err query_fail_err(struct query_error *error, struct ast_span span, const struct err *e);

/* ---- the plan ------------------------------------------------------------------------------ */

enum measure {
	MEASURE_MAIN,   /* the population asked for */
	MEASURE_ALLOCS, /* the same query of `allocated` in the side's window, ... */
	MEASURE_FREES,
	MEASURE_TEMP,
	MEASURE_PEAK,
	MEASURE_LIVE, /* at the end of the window; only for formats that want it */
	MEASURE_COUNT
};

/* One population with its instants.  A plain query has one side, diff and growth two: B - A. */
struct plan_side {
	struct query_file *file;
	enum graph_pop pop;
	struct graph_window window; /* in which allocs, frees, temp and rate are counted */
	uint64_t instant_ns;        /* of live, peak, leaked, survivors */
	uint64_t seconds_ns;        /* length of the window */
};

enum bucket_kind {
	BUCKET_NONE,
	BUCKET_EVEN,   /* multiples of bucket */
	BUCKET_POWERS, /* powers of two */
	BUCKET_DECADES /* 1, 2, 5, 10, 20, ... of the unit */
};
struct plan_key {
	enum ast_key_kind kind;
	enum ast_field field; /* KEY_FIELD */
	enum bucket_kind bucket_kind;
	int64_t bucket;
	const char *word;
	enum result_type type;
	bool is_frame; /* of frames (class too); else of whole allocations */
	/* leaf, root, caller: it is of this frame of each stack, and so of whole allocations. */
	struct ast_quant frame;
	bool is_role; /* of peek: caller, frame, callee */
	bool is_step; /* of timeline: no property of blocks */
};

/* Groups of entries by keys of frames, kept for the next query. */
#define GRANULE_KEYS_MOST 6
struct granule {
	struct plan_key keys[GRANULE_KEYS_MOST];
	size_t key_count;
	uint32_t *group; /* by entry */
	entry_id *first; /* by group: its first entry */
	size_t count;
	unsigned users; /* queries' steps that borrow from it: not to be replaced */
	/* All stacks merged by these groups; NULL: not made.  Few granules of a file have it. */
	struct stacks *tree;
	uint32_t *place; /* by vnode of the file's stacks */
	uint32_t
		*rank; /* by group: order of what they are called, equal if equal; NULL: not made */
};
void granule_free(struct granule *gr); /* NULL is fine */

struct plan_column {
	bool is_key;
	size_t key;             /* index */
	enum ast_column column; /* else */
	bool is_hidden;         /* not asked for, but the format needs it */
};

struct plan_pointers { /* a growing list in the plan's arena */
	const void **items;
	size_t count;
};

struct plan {
	struct query_session *session;
	const struct ast_script *script;
	size_t statement_idx;
	const struct ast_query *query;
	struct query_error *error;
	struct arena arena;

	struct plan_side sides[2];
	size_t side_count;
	bool is_signed;
	bool query_is_growth; /* sides: live at the start and at the end of the window */
	bool is_two_files;
	const char *population;

	struct plan_pointers filters;    /* struct ast_expr: of allocations */
	struct plan_pointers transforms; /* struct ast_stage */
	struct plan_pointers
		row_stages;           /* struct ast_stage: where, sort, top, bottom, limit, min */
	struct plan_pointers asserts; /* struct ast_stage */
	struct plan_key *keys;
	size_t key_count;
	bool has_by, is_by_stack; /* as written */
	bool has_block_key;       /* among keys */
	/*
	 * hist of a column: the view is VIEW_TABLE, whose rows are counted by hist_column;
	 * keys[key_count] is the key `bucket` of the result.
	 */
	bool is_hist_of_rows;
	enum ast_column hist_column;
	size_t stages_before_view; /* of row_stages */
	struct plan_column *columns;
	size_t column_count;
	bool is_percent_all;
	enum ast_view view;
	const struct ast_stage *view_stage; /* NULL: no view was named */
	const struct ast_stage *as_stage;
	enum ast_format format;
	const char *to_file;

	bool uses_died, uses_lifetime, uses_time; /* in conditions, keys or columns */
	bool needs_measure[MEASURE_COUNT];
	bool has_rows_of[MEASURE_COUNT]; /* rows show it, or are chosen or sorted by it */
	bool compares_rates;
	bool needs_extremes, needs_quantiles;
	bool needs_samples; /* the result lists blocks of each size at each stack (exec_samples.c) */
	bool needs_pixels; /* rows of trees are drawn: what is too small to be seen is not opened */

	uint64_t unknown_facts; /* enum profile_fact: what a file of a side does not know */

	const char **notes;
	size_t note_count, note_cap;
	bool is_incomplete;

	bool was_cancelled, cannot_stop;

	/* --explain */
	bool is_explaining;
	struct buf *explain;
};

/* plan_knows_types - is there a type of anything in a file of the query?  Also true without memory. */
bool plan_knows_types(const struct plan *pl);
/* plan_note - a note of the result, once. */
enum neap_err plan_note(struct plan *pl, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void *plan_alloc(struct plan *pl, size_t count, size_t elem_bytes); /* zeroed; NULL */
char *plan_printf(struct plan *pl, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool plan_append(struct plan *pl, struct plan_pointers *list, const void *item);
/* plan_is_cancelled - is the query to be stopped?  From then on always. */
bool plan_is_cancelled(struct plan *pl);
/* plan_polls - the same in a long loop, which asks in some of its rounds. */
#define POLL_ROUNDS 8192u
bool plan_polls(struct plan *pl, size_t round);
/* plan_no_memory - the error of a step that could not go on: it was cancelled, or there is no memory. */
enum neap_err plan_no_memory(struct plan *pl);
void plan_release(struct plan *pl);

/* plan_build - everything that can be wrong with a query is found here or while its conditions are evaluated. */
enum neap_err plan_build(struct query_session *s, const struct ast_script *script,
			 size_t statement_idx, struct plan *out, struct query_error *error);

/* resolve_format - what the format makes of the view (resolve_format.c). */
enum neap_err resolve_format(struct plan *pl);
/* resolve_format_keys - by what the format tells frames of trees apart. */
const enum ast_field *resolve_format_keys(const struct plan *pl, size_t *count_out);
/* resolve_format_columns - add what the format needs besides the columns asked for. */
enum neap_err resolve_format_columns(struct plan *pl);

/* plan_column_of - what a name of sort, select, top or a row condition means here. */
enum neap_err plan_column_of(struct plan *pl, const struct ast_text *word, enum ast_column column,
			     struct plan_column *out);
/* plan_fail_rows - the error for the column `rows` in a stage on rows. */
enum neap_err plan_fail_rows(struct plan *pl, const struct ast_text *word);
/* plan_needs - note what computing a column takes. */
void plan_needs(struct plan *pl, enum ast_column column);

/* resolve_side - file and instants of a source (resolve_time.c).  text_out: "live at 2.00 s (snapshot 3 of 9)". */
enum neap_err resolve_side(struct plan *pl, const struct ast_source *src, struct query_file *file,
			   struct plan_side *out, const char **text_out);

/* ---- what an imported profile does not know (known.c) -------------------------------------- */

/* known_note - notes on where the file comes from; collects unknown_facts. */
enum neap_err known_note(struct plan *pl, const struct query_file *f);
/* Each fails with ERR_UNSUPPORTED if the answer would need what is not known. */
enum neap_err known_population(struct plan *pl, const struct ast_source *src,
			       const struct query_file *f);
enum neap_err known_condition(struct plan *pl, const struct ast_compare *c);
enum neap_err known_check(struct plan *pl); /* keys, order and view of a plan */
/* Else cells of the column, and values of the key, are unknown. */
bool known_has_column(const struct plan *pl, enum ast_column column);
bool known_has_field(const struct plan *pl, enum ast_field field);

/* ---- conditions (resolve_expr.c, exec_match.c, exec_where.c, exec_path.c) --------------------- */

enum condition_of {
	OF_BLOCKS, /* allocations: where before by */
	OF_FRAMES, /* one frame: inside [...] */
	OF_ROWS,   /* where after by */
	OF_TOTALS  /* assert: columns of the total line */
};
/* resolve_expr - check types and places of a condition; notes what it needs. */
enum neap_err resolve_expr(struct plan *pl, const struct ast_expr *x, enum condition_of of);
enum neap_err resolve_step(struct plan *pl, const struct ast_step *step);
/* resolve_mentions_column - is it a condition on rows by what it names? */
bool resolve_mentions_column(const struct ast_expr *x);
/* resolve_number - the value of an = or in (...) for a numeric field; false: it is none. */
bool resolve_number(const struct ast_text *text, struct ast_quantity *out);

/* A comparison ready for texts. */
struct text_match {
	enum ast_op op;
	enum ast_field field; /* decides what = means; FIELD_NONE: plain text */
	const struct ast_pattern *patterns;
	size_t pattern_count;
	struct regex *regex;
	struct query_error *error;
};
enum neap_err text_match_init(struct text_match *m, enum ast_op op, enum ast_field field,
			      const struct ast_pattern *patterns, size_t count,
			      struct query_error *error);
void text_match_release(struct text_match *m);
/* text_match_run - does the text fit?  alternative: another spelling (the mangled name) or NULL. */
enum neap_err text_match_run(struct text_match *m, const char *text, const char *alternative,
			     bool *fits_out);
/* number_fits - numeric comparison, all operators; lists of =, != and in (...) too. */
bool number_fits(const struct ast_compare *c, double value);

/* Flags by entry or by vnode that were computed for a condition, kept for the query. */
struct where_memo {
	const void *what; /* address of the condition */
	int kind;
	const struct query_file *file;
	uint8_t *flags;
};
struct where {
	struct plan *pl;
	struct where_memo *memos;
	size_t memo_count, memo_cap;
};
void where_release(struct where *w);
/* where_entries - which frames fit a frame condition, or a step.  Borrowed; NULL: failed, error filled. */
const uint8_t *where_entries(struct where *w, struct query_file *f, const struct ast_expr *x);
const uint8_t *where_step(struct where *w, struct query_file *f, const struct ast_step *step);
/* where_check_names - notes (errors if strict) for exact names that fit nothing. */
enum neap_err where_check_names(struct where *w);

struct cells {
	struct query_file *file;
	struct plan_side side; /* with the population of the measure */
	size_t count;
	uint32_t *cohort; /* index from 0 */
	snap_id *death;   /* 0: none; NULL: deaths were not asked for */
	struct graph_sum *value;
};
static inline size_t cell_site(const struct cells *c, size_t i) /* its index */
{
	return profile_cohort_site(c->file->p, c->cohort[i]) - 1;
}
/* Where a cell is in the recorded stacks: its innermost frame, its leaf. */
static inline uint32_t cell_inner(const struct cells *c, size_t i)
{
	return c->file->stacks->inner[cell_site(c, i)];
}
static inline uint32_t cell_leaf(const struct cells *c, size_t i)
{
	return c->file->stacks->leaf[cell_site(c, i)];
}
void cells_release(struct cells *c);
/* cells_by_death - must the cells of a population be told apart by their deaths? */
bool cells_by_death(const struct plan *pl, enum graph_pop pop);
/* cells_load - the population of a side, unfiltered, empty cohorts left out (exec_cells.c). */
enum neap_err cells_load(const struct plan_side *side, bool by_death, struct cells *out,
			 struct err *e);
/* cells_filter - keep what fits all conditions. */
enum neap_err cells_filter(struct where *w, struct cells *c, const struct ast_expr *x);
/* cell_field - the value of a numeric field of allocations; false: unknown. */
bool cell_field(const struct cells *c, size_t i, enum ast_field field, int64_t *out);
/* cell_time - what the key time: goes by: death for freed, else birth. */
uint64_t cell_time(const struct cells *c, size_t i);
/* cell_lifetime - see exec_cells.c for the formulas. */
uint64_t cell_lifetime(const struct cells *c, size_t i);

/* path_flags - for each vnode, whether a match of the path ends there (exec_path.c).  Caller frees. */
uint8_t *path_flags(struct where *w, struct query_file *f, const struct ast_expr *path);

/* ---- running (exec.c and friends) ---------------------------------------------------------------- */

/* Values of one group on one side. */
struct side_values {
	struct graph_sum self[MEASURE_COUNT], total[MEASURE_COUNT];
	int64_t max_bytes;
	uint64_t first_ns, last_ns; /* first > last: no block */
	bool has_quantiles;
	uint64_t p50_ns, p99_ns;
	int64_t lifetime_blocks; /* 0: no lifetimes */
};
struct values {
	struct side_values side[2];
	int64_t row_count; /* of a bucket, the total line, ... of hist over rows */
};

#endif
