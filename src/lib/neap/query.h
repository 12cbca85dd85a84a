/*
 * libneap: questions to heap profiles, in the language of neap-query(7), and their answers as
 * columns, rows and stacks.  Ownership, threads, errors and units: <neap/profile.h>.
 */
#ifndef NEAP_NEAP_QUERY_H
#define NEAP_NEAP_QUERY_H

#include <neap/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- asking ---------------------------------------------------------------------- */

struct neap_result;

/* Zero-initialise it, so that what is reserved is 0. */
struct neap_query_options {
	bool is_strict; /* an exact name that matches nothing is an error, not a note */
	bool (*is_cancelled)(void *arg); /* polled in long work; NULL: never */
	void *arg;
	uint64_t reserved[4];
};

/*
 * neap_query - ask one profile, or compare two.
 *
 *   p        what the query is about
 *   other    what a `diff` compares it with (p is the old, other the new); else NULL
 *   text     one query, after any number of `let`
 *   options  NULL: none
 *
 * The library writes nothing: `as FORMAT to FILE` and `assert` are parts of the result.  A
 * query that names files itself opens them.
 * Fails: NEAP_STATUS_USAGE, _LIMIT, _ABSENT, _CANCELLED, _NOMEM; _IO, _FORMAT and
 *        _UNSUPPORTED for files that the query names.  neap_error_place says where.
 * Cost:  one pass over the profile, as a rule; what can serve the next query is kept with p.
 */
enum neap_status neap_query(struct neap_profile *p, struct neap_profile *other, const char *text,
			    const struct neap_query_options *options, struct neap_result **out,
			    struct neap_error **error_out);
/* neap_result_free - before the profiles it was made from.  NULL is fine. */
void neap_result_free(struct neap_result *r);

/* ---- what is wrong with a query ------------------------------------------------------ */

/* Where the error is in the text. */
struct neap_place {
	size_t offset_bytes, span_bytes; /* span 0: between two bytes, or at the end */
	size_t line, column;             /* from 1; columns are characters */
};
/* neap_error_place - false if the error has no place in a query: *out is then untouched. */
bool neap_error_place(const struct neap_error *e, struct neap_place *out);
/* neap_error_expected - "func, file, line, ..."; "" if there is nothing to say. */
const char *neap_error_expected(const struct neap_error *e);
/* neap_error_help - "did you mean 'size'?"; "" if there is nothing to say. */
const char *neap_error_help(const struct neap_error *e);
/* neap_error_report - all of it as `neap query` prints it: lines, the last with its newline.  Safe
 * for a terminal, in UTF-8. */
const char *neap_error_report(const struct neap_error *e);

/* ---- the answer as a whole --------------------------------------------------------------- */

struct neap_answer {
	const char *query;      /* in its canonical spelling */
	const char *population; /* what was looked at, and the instants: "live at 12.00 s ..." */
	const char *view;       /* "table", "tree", "stacks", ... */
	const char *format;     /* asked for by `as`; "table" if it was not */
	const char *to_file;    /* asked for by `to`; NULL if it was not */
	bool is_signed;         /* a difference: of files or instants */
	bool is_incomplete;     /* a profile is damaged, or something was not counted */
	bool has_assertion, assertion_holds;
	const char *
		assertion; /* message of the first that fails, or its condition; NULL: none failed */
};
void neap_result_answer(const struct neap_result *r, struct neap_answer *out);

/* neap_result_note - warnings and notes, one line each; NULL past the last. */
size_t neap_result_note_count(const struct neap_result *r);
const char *neap_result_note(const struct neap_result *r, size_t note_idx);

/* ---- columns and rows ------------------------------------------------------------------------ */

enum neap_type {
	NEAP_TYPE_TEXT,   /* text */
	NEAP_TYPE_BYTES,  /* integer */
	NEAP_TYPE_COUNT,  /* integer: blocks */
	NEAP_TYPE_NUMBER, /* integer: a line, a thread's id, an address */
	NEAP_TYPE_NS,     /* integer: an instant or a duration */
	NEAP_TYPE_RATIO,  /* number: 0.25 is 25 % */
	NEAP_TYPE_RATE,   /* number: bytes per second */
};
struct neap_column {
	const char *name; /* word of the language: "total", "func" */
	enum neap_type type;
	bool is_key; /* says what the row is about */
};
size_t neap_result_column_count(const struct neap_result *r);
bool neap_result_column(const struct neap_result *r, size_t column_idx, struct neap_column *out);

#define NEAP_NO_PARENT UINT32_MAX
struct neap_row {
	uint32_t depth;       /* of trees, whose rows are in preorder; else 0 */
	uint32_t parent_idx;  /* row; NEAP_NO_PARENT at depth 0 */
	uint32_t other_count; /* 0; else this row adds up so many that were cut by top or limit */
	uint64_t time_ns;     /* of views over time, else 0 */
	size_t frame_count;   /* neap_result_frame; 0 between two files */
};
size_t neap_result_row_count(const struct neap_result *r);
bool neap_result_row(const struct neap_result *r, size_t row_idx, struct neap_row *out);

struct neap_cell {
	bool is_unknown;  /* then nothing else counts */
	const char *text; /* NEAP_TYPE_TEXT, else NULL */
	int64_t integer;  /* types of integers, else 0 */
	double number;    /* types of numbers; of integers the same value */
};
/* neap_result_cell, neap_result_total - a value of a row, and of the line of totals. */
bool neap_result_cell(const struct neap_result *r, size_t row_idx, size_t column_idx,
		      struct neap_cell *out);
bool neap_result_total(const struct neap_result *r, size_t column_idx, struct neap_cell *out);

/* ---- stacks ---------------------------------------------------------------------------------- */

enum neap_frame_kind {
	NEAP_FRAME_ADDRESS,   /* no name is known: module and address, or only an address */
	NEAP_FRAME_FUNCTION,  /* function and linkage are known */
	NEAP_FRAME_SIGNAL,    /* what follows ran below a signal handler */
	NEAP_FRAME_TRUNCATED, /* the outer part of the stack is missing */
	NEAP_FRAME_NO_STACK,  /* nothing is known of the stack */
};
struct neap_frame {
	enum neap_frame_kind kind;
	const char *function; /* demangled; NULL: unknown, as all below */
	const char *linkage;  /* as in the object file */
	const char *file;     /* path of the source */
	uint32_t line;        /* 0: unknown */
	const char *module;   /* path of the program or library */
	uint64_t pc;          /* return address in the module's own terms */
	bool is_inlined;      /* into the function one further out */
	bool is_guessed;      /* found by the frame pointer only */
	bool is_wrapper;      /* malloc, operator new, xmalloc, ... */
	bool is_tail;         /* it jumped to the function further in, and left no frame */
};
/* neap_result_frame - frame of a row, the outermost (main) first.  O(1). */
bool neap_result_frame(const struct neap_result *r, size_t row_idx, size_t frame_idx,
		       struct neap_frame *out);

#ifdef __cplusplus
}
#endif

#endif
