/*
 * Inside the renderers of results: what they share.
 *
 *   out_cell.c    one cell, for people and for programs
 *   out_table.c   rows and columns; trees and histograms are tables with guides and bars
 *   out_tree.c    guides of trees; peek
 *   out_view.c    sums, timelines, flame graphs
 *   out_stacks.c  whole stacks; folded
 *   out_source.c  annotated source
 *   out_sep.c     tsv, csv, markdown
 *   out_json.c    json, jsonl
 *   out_exchange.c, exported.c, exported_table.c   formats of other tools
 */
#ifndef NEAP_REPORT_OUT_PRIV_H
#define NEAP_REPORT_OUT_PRIV_H

#include "src/base/fmt.h"
#include "src/report/name.h"
#include "src/report/out.h"
#include "src/report/text.h"

#define OUT_NUMBER_BYTES 48u
#define OUT_GAP_COLS     2u

/* Shortening a C++ name takes longer than everything else about a row, and names repeat. */
struct name_slot {
	const char *name; /* where it is, not what it says; NULL: empty */
	size_t width_cols;
	char *shown;
};
#define NAME_SLOTS 4096u

struct out {
	const struct query_result *r;
	const struct out_options *o;
	struct text text;
	struct shortener names;
	struct name_slot *slots; /* [NAME_SLOTS]; NULL until the first name */
	size_t *shown;           /* indexes of the columns that are not hidden */
	size_t shown_count;
	struct buf scratch; /* of out_cell_text and out_label */
	bool has_failed;    /* memory ran out */
	struct err *e;
	enum neap_err code; /* what a writer of src/exchange ended with */
};

/* out_begin - ready for the renderers below; false: no memory.  End it with out_end in any case but that. */
bool out_begin(struct out *x, const struct query_result *r, const struct out_options *o,
	       struct buf *out);
bool out_end(struct out *x); /* false: memory ran out somewhere */

/* ---- cells (out_cell.c) ----------------------------------------------------------- */

/* out_cell - valid until another row is asked for. */
const struct result_cell *out_cell(const struct out *x, size_t row, size_t column);
bool out_is_text(const struct result_column *c);
/* out_number - a number for people, "-" if it is unknown; dst holds OUT_NUMBER_BYTES. */
const char *out_number(char *dst, const struct query_result *r, const struct result_column *c,
		       const struct result_cell *cell);
/* out_raw - a number for programs: integers as they are, ratios so that they read back exactly. */
void out_raw(struct buf *b, const struct result_column *c, const struct result_cell *cell);
/*
 * out_text - a text cell as the profile has it, hostile: stacks as "a;b;c" from the root.
 * NULL: unknown.  Valid until the next call.
 */
const char *out_text(struct out *x, size_t row, size_t column);
/* out_function - name_function, with a memory. */
const char *out_function(struct out *x, const char *name, size_t width_cols);
void out_release_names(struct out *x);
/* out_shown_text - a text cell for people, safe and in at most width columns. */
const char *out_shown_text(struct out *x, size_t row, size_t column, size_t width_cols);
/* out_adds_up - is a column of several rows together the sum of theirs?  Averages are not. */
bool out_adds_up(const struct result_column *c);
/* out_is_cut - is it a key that the row of what was cut has no value of?  Its time it does have. */
bool out_is_cut(const struct out *x, size_t row, size_t column);
/* out_other - "(other: 12 rows)". */
const char *out_other(char *dst, const struct result_row *row);
/* out_clean - append a text without control characters, as valid UTF-8; each character of
 * `replace` becomes `by`. */
void out_clean(struct buf *b, const char *s, const char *replace, char by);
/* out_value_column - the column that bars, flames and folded stacks go by; SIZE_MAX: none. */
size_t out_value_column(const struct out *x);
double out_value(const struct result_column *c, const struct result_cell *cell);
/* out_find_column - the shown column of a word; SIZE_MAX: none. */
size_t out_find_column(const struct out *x, const char *word);
void out_hide_column(struct out *x, size_t column);

/* ---- tables (out_table.c) ------------------------------------------------------------- */

struct table {
	struct out *x;
	size_t *order;      /* [x->shown_count]: columns from left to right */
	size_t *cols;       /* [x->shown_count]: width of each of them */
	size_t first_right; /* index in order of the first key at the right end */
	size_t text_at;     /* index in order of the first text key; SIZE_MAX: none */
	size_t bar_column;  /* SIZE_MAX: no bars */
	double bar_most;
	size_t bucket_column; /* holds where a slice begins, of a histogram; SIZE_MAX: none */
	/* What stands before the first text key of a row; NULL: nothing. */
	void (*prefix)(void *arg, size_t row, struct buf *out);
	void *prefix_arg;
	struct buf prefix_text;
};
/* table_init - lay the rows out; widths come from all of them.  False: no memory. */
bool table_init(struct table *t, struct out *x);
void table_release(struct table *t);
void table_measure(struct table *t);
void table_head(struct table *t);
void table_row(struct table *t, size_t row);
/* table_numbers - the cells before the keys at the right end. */
void table_numbers(struct table *t, enum text_style style, const struct result_cell *cells);
size_t table_numbers_cols(const struct table *t);
void table_total(struct table *t);

void out_table(struct out *x);
void out_hist(struct out *x);
/* out_bucket - "64 B .. 127 B": what a row of a histogram stands for. */
const char *out_bucket(char *dst, size_t cap, const struct result_column *c,
		       const struct result_cell *cell);

/* ---- other views ------------------------------------------------------------------------ */

void out_tree(struct out *x);
void out_peek(struct out *x);
void out_sum(struct out *x);
void out_timeline(struct out *x);
/* out_first_start - where the first step of a timeline begins. */
uint64_t out_first_start(const struct query_result *r);
void out_flame(struct out *x);
void out_stacks(struct out *x);
void out_source(struct out *x);

/* ---- machine formats ---------------------------------------------------------------------- */

void out_folded(struct out *x);
void out_separated(struct out *x, bool is_csv);
void out_markdown(struct out *x);
void out_json(struct out *x);
void out_jsonl(struct out *x);
/* out_exchange - formats of other tools (src/exchange); sets x->code. */
void out_exchange(struct out *x);

#endif
