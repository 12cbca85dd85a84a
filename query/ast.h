/*
 * Syntax tree of the query language (grammar: neap-query(7)).
 *
 * The parser makes it, the resolver reads it.  Everything lies in the arena of the
 * script and points nowhere else; each node knows the text it came from, so that a
 * later error can show a caret.
 */
#ifndef NEAP_QUERY_AST_H
#define NEAP_QUERY_AST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/mem.h"
#include "src/graph/graph.h"

struct ast_span { /* bytes of the script's text */
	uint32_t start, bytes;
};

struct ast_text { /* not NUL-terminated; quotes and delimiters removed, escapes resolved */
	const char *s;
	uint32_t bytes;
	struct ast_span span; /* with quotes */
};

enum ast_field {
#define FIELD(id, word, of, type, meaning) FIELD_##id,
#include "query/fields.def"
	FIELD_COUNT,
	FIELD_NONE = FIELD_COUNT,
};
enum ast_column {
#define COLUMN(id, word, type, meaning) COL_##id,
#include "query/fields.def"
	COL_NONE, /* also how many there are */
};
enum ast_format {
#define FORMAT(id, word, views, meaning) FORMAT_##id,
#include "query/fields.def"
	FORMAT_COUNT,
	FORMAT_NONE = FORMAT_COUNT,
};

/* ---- values --------------------------------------------------------------------- */

enum ast_unit {
	UNIT_NONE,
	UNIT_BYTES,
	UNIT_NS,
	UNIT_PERCENT
};

struct ast_quantity {
	enum ast_unit unit;
	int64_t value;        /* bytes, ns, or a plain number, rounded */
	double number;        /* the same unrounded; for UNIT_PERCENT 0..100 */
	struct ast_text word; /* as written; for errors and where value is rounded */
	struct ast_span span;
};

enum ast_pattern_kind {
	PATTERN_WORD,   /* a bare word; after `=` its * and ? are wildcards */
	PATTERN_STRING, /* quoted: literal */
	PATTERN_REGEX,  /* PCRE2 between slashes */
};
struct ast_pattern {
	enum ast_pattern_kind kind;
	bool ignores_case; /* /.../i */
	struct ast_text text;
	bool is_quantity; /* a bare word that reads as a number, with or without unit */
	struct ast_quantity quantity;
};

enum ast_time_base {
	TIME_START,
	TIME_END,
	TIME_PEAK,
	TIME_CURSOR,
	TIME_MARK,
	TIME_DURATION,
	TIME_PERCENT
};
struct ast_time {
	enum ast_time_base base;
	struct ast_text mark;         /* TIME_MARK */
	struct ast_quantity quantity; /* TIME_DURATION, TIME_PERCENT */
	int64_t offset_ns;            /* + or - DURATION after it */
	struct ast_span span;
};
struct ast_timerange { /* absent ends: the start and the end of the run */
	bool has_from, has_to;
	struct ast_time from, to;
	struct ast_span span;
};

/* ---- conditions -------------------------------------------------------------------- */

enum ast_quantifier {
	QUANT_DEFAULT /* any */,
	QUANT_ANY,
	QUANT_ALL,
	QUANT_NONE,
	QUANT_LEAF,
	QUANT_ROOT,
	QUANT_CALLER
};
/* Which frame of a stack, or which frames. */
struct ast_quant {
	enum ast_quantifier of;
	uint32_t up; /* QUANT_CALLER: frames further out than the leaf, from 1 */
};
enum ast_op {
	OP_EQ,
	OP_NE,
	OP_MATCH,
	OP_NOT_MATCH,
	OP_LT,
	OP_LE,
	OP_GT,
	OP_GE,
	OP_IN_RANGE,
	OP_IN_LIST
};

enum ast_expr_kind {
	EXPR_AND,
	EXPR_OR,
	EXPR_NOT,
	EXPR_COMPARE,
	EXPR_QUANT,
	EXPR_PATH,
	EXPR_STEP,
	EXPR_NAME
};

struct ast_compare {
	struct ast_quant quantifier;
	enum ast_field
		field; /* FIELD_NONE: then `column` is meant (only where rows are filtered) */
	enum ast_column column; /* COL_NONE too: the key `time` or `class`, by its word */
	struct ast_text word;   /* as written, also for keys of other stages */
	struct ast_text key;    /* what rows call it: `caller.func` where word is `func` */
	struct ast_text label;  /* KEY of label.KEY */
	enum ast_op op;
	struct ast_pattern
		*values; /* OP_EQ, OP_NE: one; OP_MATCH, OP_NOT_MATCH: one; OP_IN_LIST: many */
	size_t value_count;
	bool has_low, has_high; /* OP_IN_RANGE; other comparisons of numbers use low, OP_EQ too */
	struct ast_quantity low, high;
};

enum ast_step_kind {
	STEP_PATTERN,
	STEP_EXPR,
	STEP_ONE /* * */,
	STEP_MANY /* ** */
};
struct ast_step {
	enum ast_step_kind kind;
	bool is_far;                /* `>>` stands before it; else `>` (or it is the first) */
	struct ast_pattern pattern; /* STEP_PATTERN: its text is contained in the function's name */
	struct ast_expr *expr;      /* STEP_EXPR */
	struct ast_span span;
};

struct ast_expr {
	enum ast_expr_kind kind;
	struct ast_span span;
	struct ast_expr **items; /* EXPR_AND, EXPR_OR: two or more; EXPR_NOT, EXPR_QUANT: one */
	size_t item_count;
	struct ast_quant quantifier; /* EXPR_QUANT */
	struct ast_compare compare;  /* EXPR_COMPARE */
	struct ast_step *steps;      /* EXPR_PATH: one or more; EXPR_STEP: one */
	size_t step_count;
	bool is_rooted, is_leafed; /* EXPR_PATH: ^ and $ */
	struct ast_text name;      /* EXPR_NAME: of a let, without $ */
	struct ast_expr *let_expr; /* EXPR_NAME: what it stands for; never NULL, never circular */
	const char *warning; /* NULL, or what is odd though correct, for the notes of the result */
};

/* ---- queries ---------------------------------------------------------------------------- */

struct ast_source {
	enum graph_pop pop;
	bool has_file, has_at, has_in;
	struct ast_text file;
	struct ast_time at;
	struct ast_timerange in;
	struct ast_span span;
};

enum ast_key_kind {
	KEY_FIELD,
	KEY_STACK,
	KEY_TIME,
	KEY_CLASS
};
struct ast_key {
	enum ast_key_kind kind;
	enum ast_field field;
	struct ast_quant quantifier; /* leaf, root, caller: the frame whose field it is */
	struct ast_text label;
	bool has_bucket;
	struct ast_quantity bucket; /* field:bucket, time:DURATION */
	struct ast_span span;
};

struct ast_col {                /* a column, or a key by its word */
	enum ast_column column; /* COL_NONE: it must be a key of the query */
	struct ast_text word;
	bool is_ascending, has_order;
};

enum ast_stage_kind {
	STAGE_WHERE,
	STAGE_BY,
	STAGE_SORT,
	STAGE_TOP,
	STAGE_BOTTOM,
	STAGE_LIMIT,
	STAGE_SELECT,
	STAGE_MIN,
	STAGE_HIDE,
	STAGE_ZOOM,
	STAGE_TRIM,
	STAGE_COLLAPSE,
	STAGE_PERCENT,
	STAGE_VIEW,
	STAGE_AS,
	STAGE_ASSERT,
};
enum ast_view {
	VIEW_TABLE,
	VIEW_TREE,
	VIEW_CALLERS,
	VIEW_CALLEES,
	VIEW_PEEK,
	VIEW_STACKS,
	VIEW_FLAME,
	VIEW_TIMELINE,
	VIEW_HIST,
	VIEW_SUM,
	VIEW_SOURCE,
};

struct ast_stage {
	enum ast_stage_kind kind;
	struct ast_span span;
	struct ast_expr *expr; /* WHERE, ASSERT */
	struct ast_key *keys;  /* BY */
	size_t key_count;
	struct ast_col *cols; /* SORT, SELECT; TOP, BOTTOM and hist: at most one */
	size_t col_count;
	struct ast_quantity
		quantity; /* MIN; count of TOP, BOTTOM, LIMIT, tree DEPTH, timeline POINTS */
	bool has_quantity;
	bool has_step; /* HIDE, ZOOM, TRIM, COLLAPSE, views with a step */
	struct ast_step step;
	bool is_recursion; /* collapse recursion */
	bool is_selection; /* percent selection (else all) */
	bool is_inverted;  /* flame inverted */
	enum ast_view view;
	enum ast_format format; /* AS */
	bool has_file;
	struct ast_text file; /* AS ... to FILE */
	bool has_message;
	struct ast_text message; /* ASSERT */
};

enum ast_head_kind {
	HEAD_SOURCE,
	HEAD_DIFF,
	HEAD_REFINE
};
struct ast_query {
	enum ast_head_kind head;
	struct ast_source a, b;
	bool has_b;              /* diff with two sources */
	struct ast_expr *filter; /* NULL if there is none */
	struct ast_stage *stages;
	size_t stage_count;
	struct ast_span span;
};

struct ast_let {
	struct ast_text name;
	struct ast_expr *expr;
};
struct ast_statement {
	bool is_let;
	struct ast_let let;
	struct ast_query query;
};
struct ast_script {
	const char *text; /* borrowed from the caller of query_parse */
	size_t text_bytes;
	struct ast_statement *statements;
	size_t statement_count;
	struct arena arena;
};

#endif
