/*
 * Text to tokens.  What a `/` or a `*` means depends on the place, so the parser says in
 * which mode it looks; a token does not depend on anything read before.
 */
#ifndef NEAP_QUERY_LEX_H
#define NEAP_QUERY_LEX_H

#include "query/ast.h"

enum lex_mode {
	LEX_EXPR,  /* conditions: `leaf.` and `label.` end before the dot; a leading / is a regex */
	LEX_STEP,  /* frames by name, patterns after ~: as LEX_EXPR, but dots do not divide */
	LEX_VALUE, /* after = : wildcards, paths */
	LEX_NAME,  /* keywords, columns, keys: letters, digits, _ */
	LEX_NUMBER, /* quantities, with a minus */
	LEX_TIME,   /* quantities and words between + - .. */
	LEX_MARK,   /* after @ */
	LEX_LABEL,  /* after label. */
	LEX_FILE,   /* names of files */
};

enum token_kind {
	TOK_END, /* of the text; or, while completing, the word that the text ends in */
	TOK_NEWLINE,
	TOK_SEMICOLON,
	TOK_WORD,
	TOK_STRING,
	TOK_REGEX,
	TOK_NAME, /* $name */
	TOK_PIPE,
	TOK_COMMA,
	TOK_OPEN,    /* ( */
	TOK_CLOSE,   /* ) */
	TOK_BRACKET, /* [ */
	TOK_UNBRACKET,
	TOK_EQ,
	TOK_NE,
	TOK_MATCH,
	TOK_NOT_MATCH,
	TOK_LT,
	TOK_LE,
	TOK_GT,
	TOK_GE,
	TOK_FAR, /* >> */
	TOK_BANG,
	TOK_CARET,
	TOK_DOLLAR,
	TOK_STAR,
	TOK_STARSTAR,
	TOK_DOT,
	TOK_DOTDOT,
	TOK_COLON,
	TOK_AT,
	TOK_PLUS,
	TOK_MINUS,
	TOK_BAD, /* `problem` says why */
	TOK_COUNT,
};

struct token {
	enum token_kind kind;
	bool ignores_case; /* TOK_REGEX */
	bool is_quoted;    /* TOK_END: in a string that is not closed yet */
	bool is_dead;      /* TOK_END: in a comment or a regular expression, nothing to complete */
	struct ast_span span;
	const char *problem; /* TOK_BAD */
	const char *help;    /* TOK_BAD, or NULL */
};

struct lexer {
	const char *text;
	uint32_t bytes;
	bool is_completing;
};

/*
 * lex_at - the token at or after byte `pos`.
 *   skips_newlines  newlines are blanks (inside brackets); otherwise they are tokens,
 *                   unless the next line begins with `|`
 * Strings and regular expressions are checked for their end and their escapes only.
 */
struct token lex_at(const struct lexer *l, uint32_t pos, enum lex_mode mode, bool skips_newlines);

/* lex_token_text - "'|'", "a string", ...: what a kind is called in messages. */
const char *lex_token_text(enum token_kind kind);

enum lex_number {
	NUMBER_OK,
	NUMBER_NONE,      /* does not begin with a digit */
	NUMBER_MALFORMED, /* "1.2.3", or more digits than 18 */
	NUMBER_UNIT,      /* a unit that does not exist */
	NUMBER_TOO_LARGE  /* does not fit 63 bits */
};
/* lex_number - read a whole word as a quantity; *unit_bytes_out is the length of what follows the number. */
enum lex_number lex_number(const char *s, size_t bytes, struct ast_quantity *out,
			   size_t *unit_bytes_out);

/* lex_is_word - would `mode` read exactly this text as one word? */
bool lex_is_word(const char *s, size_t bytes, enum lex_mode mode);

#endif
