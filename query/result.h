/*
 * What a query yields: columns and rows, before any formatting.
 *
 * One shape for all views.  Tables have rows of depth 0; trees have rows in preorder with
 * depth and parent; `stacks` has one row per stack whose frames are listed.  Renderers
 * (src/report) need nothing but this and, for names, the graph.
 */
#ifndef NEAP_QUERY_RESULT_H
#define NEAP_QUERY_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/ast.h"

enum result_type {
	RESULT_TEXT,   /* text */
	RESULT_BYTES,  /* value, signed */
	RESULT_COUNT,  /* value, signed */
	RESULT_NUMBER, /* value, a plain number: line, tid, address */
	RESULT_NS,     /* value */
	RESULT_RATIO,  /* number, 0.25 = 25 % */
	RESULT_RATE,   /* number, bytes per second */
};

struct result_column {
	const char *word; /* as in the language: "total", "func"; heading in machine formats */
	enum result_type type;
	bool is_key;
	bool is_hidden; /* computed for sorting or conditions only */
};

struct result_cell {
	const char *text; /* RESULT_TEXT; not to be trusted: from the profile */
	int64_t value;
	double number;
	bool is_unknown; /* prints as "[unknown]" or an empty or null cell */
};

enum result_row_kind {
	ROW_PLAIN,
	ROW_OTHER, /* the rows cut by top, limit or min, added up; `count` says how many */
};

struct result_row {
	enum result_row_kind kind;
	uint32_t depth, parent; /* index of the parent row; UINT32_MAX at depth 0 */
	uint32_t count;         /* ROW_OTHER: rows in it */
	uint64_t time_ns;       /* views over time */
	/*
	 * Of a stack, outermost first (the text of the key `stack` is then empty); of rows for frames one
	 * of them.  None between two files: there a stack is the names with ";" between them.
	 */
	const entry_id *frames;
	uint32_t frame_count;
};

/* Blocks of one size whose stack is that of a row of a tree. */
struct result_sample {
	uint32_t row;        /* UINT32_MAX: the stack is unknown */
	uint64_t size_bytes; /* of each block; 0: of many sizes */
};
struct result_flat; /* rows of a large tree that are made when they are asked for */

struct query_result {
	enum ast_view view;
	enum ast_format format;
	const char *to_file;    /* NULL: standard output */
	bool is_signed;         /* diff, growth */
	const char *canonical;  /* the query */
	const char *question;   /* the same without `as`: gives the same numbers in any format */
	const char *population; /* "live at 12.00 s (snapshot 400 of 1000)": instants really used */

	struct result_column *columns;
	size_t column_count;
	/* Of whole trees NULL: ask result_row and result_cells, which know all results. */
	struct result_row *rows;
	struct result_cell *cells; /* row-major: [row_count * column_count] */
	size_t row_count;
	size_t class_count;         /* of timelines by classes: rows of each time, in one order */
	struct result_flat *flat;   /* instead of rows and cells; or NULL */
	struct result_cell *totals; /* [column_count]: the total line */

	/*
	 * For formats that tell sizes apart, else none: what samples hold of each population.
	 * Their sums are [sample_count * sample_word_count].
	 */
	struct result_sample *samples;
	size_t sample_count;
	struct graph_sum *sample_sums;
	const char *const *sample_words; /* "alloc", "inuse", "peak", ... */
	size_t sample_word_count, main_sample_word;

	const char **notes; /* warnings and notes, one line each */
	size_t note_count;
	bool is_incomplete; /* damaged or lossy profile: exit status 4 if strict */

	bool has_assertion, assertion_holds;
	const char *assertion_text; /* the condition or its message */

	struct graph *graph; /* for names of frames; NULL in a diff of two files with only keys */
	/*
	 * Owns everything but rows, cells, flat and samples, which are apart (query_result_free),
	 * and the graph and the texts of cells, which belong to the session: free the result first.
	 */
	struct arena arena;
};

/* result_row - a row by its index. */
struct result_row result_row(const struct query_result *r, size_t row_idx);
/*
 * result_cells - the cells of a row, one for each column; valid until another row of this
 * result is asked for, by one thread only.  result_cell, one of them, can be called by any.
 */
const struct result_cell *result_cells(const struct query_result *r, size_t row_idx);
struct result_cell result_cell(const struct query_result *r, size_t row_idx, size_t column_idx);

#endif
