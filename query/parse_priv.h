/*
 * The inside of the parser.
 *
 * Every question about the next token goes through a function that also notes what would
 * have been fine there.  So at any moment p->wants is the expected set: it is what an error
 * prints and, when the text ends there, what completion offers.
 */
#ifndef NEAP_QUERY_PARSE_PRIV_H
#define NEAP_QUERY_PARSE_PRIV_H

#include "query/lex.h"
#include "query/parse.h"
#include "query/vocab.h"

/* Where a condition stands, which decides the names it may use. */
enum expr_place {
	PLACE_BLOCKS, /* filters allocations: fields */
	PLACE_ROWS,   /* filters rows or asserts: fields and columns */
	PLACE_FRAME,  /* inside [...]: fields of one frame */
	PLACE_LET,    /* what it needs is noted for where its name is used */
};

/* A name that a let has made. */
struct let_symbol {
	struct ast_text name;
	struct ast_expr *expr;          /* NULL while its own condition is parsed */
	const char *column, *not_frame; /* a column that it uses, and a word that no frame has */
	size_t node_count;
	unsigned depth;
};

/* One thing that would be fine at the token looked at. */
struct want {
	const char *text;
	const char
		*meaning; /* for completion; NULL: it stands for a class and cannot be completed */
};
#define WANT_MOST 320 /* twice what any place wants */

struct parser {
	struct lexer lexer;
	uint32_t pos; /* after the last token taken */
	struct token token;
	enum lex_mode token_mode;
	bool has_token;
	bool continues; /* newlines before the next token are blanks */

	struct want wants[WANT_MOST];
	size_t want_count;
	enum ast_field want_names; /* names of this field would be fine; FIELD_NONE: of none */
	bool wants_let;            /* $NAME would be fine */

	unsigned depth, bracket_depth;
	enum expr_place place;
	bool is_assert;         /* outside brackets a string ends the condition */
	struct let_symbol *let; /* the one being parsed, or NULL */
	size_t node_count;      /* conditions of the statement being parsed */
	unsigned deepest;       /* largest depth in it */

	struct let_symbol *lets;
	size_t let_count, let_cap;
	struct ast_script *script;
	struct query_error *error;
};

/* parser_init - ready to parse; out-parameters are emptied. */
void parser_init(struct parser *p, struct ast_script *s, struct query_error *error);
/* parse_script - false: *p->error is filled. */
bool parse_script(struct parser *p);

/* ---- tokens (parse_core.c) ---------------------------------------------------------- */

struct token *parser_look(struct parser *p, enum lex_mode mode);
/* parser_take - step over the token looked at; what was expected is forgotten. */
struct token parser_take(struct parser *p);
/* parser_take_open - the same, and newlines do not matter before the next. */
struct token parser_take_open(struct parser *p);

/* Is this the next token?  Noted as expected. */
bool parser_is(struct parser *p, enum lex_mode mode, enum token_kind kind, const char *meaning);
bool parser_is_word(struct parser *p, enum lex_mode mode, const char *word, const char *meaning);
const struct vocab_word *parser_is_vocab(struct parser *p, enum lex_mode mode,
					 const struct vocab *v);
/* Does the token have this text?  Nothing is noted. */
bool token_is(const struct parser *p, const struct token *t, const char *word);
/* parser_want - note a class of things that would be fine ("a number"). */
void parser_want(struct parser *p, const char *text, const char *meaning);
void parser_want_vocab(struct parser *p, const struct vocab *v);
void parser_forget(struct parser *p);

/* ---- failing -------------------------------------------------------------------------- */

/*
 * All return false and fill *p->error at the span; the expected set is what was noted, the
 * help "did you mean" if a noted word is near (parser_fail_at with a span of one word).
 */
bool parser_fail_at(struct parser *p, struct ast_span span, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* parser_help - replace the help of the error just made; returns false. */
bool parser_help(struct parser *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* parser_unexpected - the token looked at does not fit; what: "stage", "field", for unknown words. */
bool parser_unexpected(struct parser *p, const char *what);
bool parser_no_memory(struct parser *p);
bool parser_too_many(struct parser *p, struct ast_span span, const char *what, unsigned limit);

/* ---- building ----------------------------------------------------------------------------- */

/* parser_append - room for one more, zeroed, in a list of the arena; NULL: it has failed. */
void *parser_append(struct parser *p, void *list, size_t *count, size_t elem_bytes,
		    const char *what);
/* parser_text - text of a token, decoded and copied. */
bool parser_text(struct parser *p, const struct token *t, struct ast_text *out);
/* parser_key_word - put `caller.` before the word of a field, if that is whose it is. */
bool parser_key_word(struct parser *p, struct ast_quant q, struct ast_text *word);
struct ast_span span_to_here(const struct parser *p, uint32_t start);
/* Quoted text for messages, made safe and cut. */
#define SHOWN_BYTES 96
const char *parser_show(const struct parser *p, struct ast_span span, char dst[SHOWN_BYTES]);

/* ---- values (parse_value.c) ---------------------------------------------------------------- */

/* parse_quantity - of a type, in LEX_NUMBER. */
bool parse_quantity(struct parser *p, enum value_type type, struct ast_quantity *out);
/* parse_quantity_token - the same for a word already looked at in another mode. */
bool parse_quantity_token(struct parser *p, enum value_type type, struct ast_quantity *out);
bool is_number_next(struct parser *p, enum lex_mode mode, enum value_type type);
bool parse_int(struct parser *p, struct ast_quantity *out);
bool parse_value(struct parser *p, enum ast_field field, enum value_type type,
		 struct ast_pattern *out);
bool parse_pattern(struct parser *p, enum ast_field names, struct ast_pattern *out);
bool is_pattern_next(struct parser *p, enum lex_mode mode, enum ast_field names);
bool parse_step(struct parser *p, bool in_path, struct ast_step *out);
bool is_step_next(struct parser *p, bool in_path);
bool parse_time(struct parser *p, struct ast_time *out);
bool parse_timerange(struct parser *p, struct ast_timerange *out);
/* parse_label_key - KEY of label.KEY, after the word. */
bool parse_label_key(struct parser *p, struct ast_text *out);
bool parse_file(struct parser *p, struct ast_text *out);

/* ---- conditions (parse_expr.c) --------------------------------------------------------------- */

bool is_expr_next(struct parser *p);
/* parse_expr - a whole condition of a place. */
bool parse_expr(struct parser *p, enum expr_place place, struct ast_expr **out);
/* parse_frame_expr - after `[`, up to and with `]`. */
bool parse_frame_expr(struct parser *p, struct ast_span open, struct ast_expr **out);

/* expr_new - zeroed but for field and column, counted against the limit; NULL: it has failed. */
struct ast_expr *expr_new(struct parser *p, enum ast_expr_kind kind, struct ast_span span);
/* parser_unclosed - the failure that `close` is missing for what was opened there. */
bool parser_unclosed(struct parser *p, struct ast_span open, const char *close);

/* ---- comparisons (parse_compare.c) ------------------------------------------------------------ */

/* want_fields - note what may begin a comparison here. */
void want_fields(struct parser *p);
/* want_ops - note the operators for values of a type. */
void want_ops(struct parser *p, enum value_type type);
bool is_op(enum token_kind kind);
/* find_field - the field, column or key of a word, as far as this place has it; fills c->field or
 * c->column. */
const struct vocab_word *find_field(const struct parser *p, const struct token *t,
				    struct ast_compare *c);
/* is_op_next - does an operator follow?  Decides between a comparison and a bare word. */
bool is_op_next(struct parser *p);
/* parse_compare - the rest of a comparison, after its field's word `t`. */
bool parse_compare(struct parser *p, const struct token *t, struct ast_quant q, uint32_t start,
		   struct ast_expr **out);
bool fail_unknown_field(struct parser *p, const struct token *t);
/* note_let_use - what a name uses that not every place has. */
void note_let_use(struct parser *p, const char *column, const char *not_frame);

/* ---- queries ------------------------------------------------------------------------------------ */

bool parse_query(struct parser *p, struct ast_query *q);
bool parse_stage(struct parser *p, struct ast_stage *out); /* parse_stage.c */
void want_stages(struct parser *p);
/* parse_row_word - a column, key or field by its word: label.KEY too. */
bool parse_col(struct parser *p, struct ast_col *out);

#endif
