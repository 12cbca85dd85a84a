/*
 * The lexer: one pure function from a position and a mode to a token.
 *
 * Words end at what their mode does not hold, and (but for values and files) before `..`.
 * Bytes from 0x80 up belong to words; control characters belong to nothing.
 */
#include "config.h"

#include "query/lex.h"

#include <string.h>

#include "query/vocab.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c >= 0x80;
}

static bool is_control(char c)
{
	return ((unsigned char)c < 0x20 && c != '\t') || c == 0x7f;
}

static bool is_one_of(char c, const char *set)
{
	return c && strchr(set, c);
}

/* Character at pos, or NUL, which no token holds, at the end. */
static char at(const struct lexer *l, uint32_t pos)
{
	return pos < l->bytes ? l->text[pos] : '\0';
}

/* ---- blanks --------------------------------------------------------------------- */

static uint32_t skip_blanks(const struct lexer *l, uint32_t pos, bool skips_newlines,
			    bool *in_comment)
{
	*in_comment = false;
	for (; pos < l->bytes; pos++) {
		char c = l->text[pos];
		if (c == '#') {
			const char *end = memchr(l->text + pos, '\n', l->bytes - pos);
			if (!end) {
				*in_comment = true;
				return l->bytes;
			}
			pos = (uint32_t)(end - l->text);
			c = '\n';
		}
		if (c == '\n' ? !skips_newlines : !is_one_of(c, " \t\r"))
			break;
	}
	return pos;
}

/* A newline does not count if the next line begins with `|`. */
static uint32_t skip_to_token(const struct lexer *l, uint32_t pos, bool skips_newlines,
			      bool *in_comment)
{
	pos = skip_blanks(l, pos, skips_newlines, in_comment);
	if (at(l, pos) != '\n')
		return pos;
	bool unused;
	uint32_t next = skip_blanks(l, pos, true, &unused);
	return at(l, next) == '|' ? next : pos;
}

/* ---- words ------------------------------------------------------------------------- */

static bool begins_word(char c, enum lex_mode mode)
{
	switch (mode) {
	case LEX_EXPR:
	case LEX_STEP:
		return is_letter(c) || is_digit(c) || is_one_of(c, ".:");
	case LEX_VALUE:
		return !is_control(c) && !is_one_of(c, " \t\"'|;,()[]<>&=!~^$#");
	case LEX_FILE:
		return !is_control(c) && !is_one_of(c, " \t\"'|;,()[]<>&#");
	case LEX_MARK:
	case LEX_LABEL:
	case LEX_NAME:
	case LEX_TIME:
		return is_letter(c) || is_digit(c);
	case LEX_NUMBER:
		return is_letter(c) || is_digit(c) || c == '-';
	}
	return false;
}

static bool continues_word(const struct lexer *l, uint32_t pos, enum lex_mode mode)
{
	char c = at(l, pos), next = at(l, pos + 1);
	switch (mode) {
	case LEX_EXPR:
	case LEX_STEP:
		return is_letter(c) || is_digit(c) || is_one_of(c, ".:+/@#%") ||
		       (c == '-' && next != '>');
	case LEX_VALUE:
	case LEX_FILE:
		return !is_control(c) && !is_one_of(c, " \t\"'|;,()[]<>&");
	case LEX_MARK:
		return is_letter(c) || is_digit(c) || is_one_of(c, ".:/") ||
		       (c == '-' && is_letter(next));
	case LEX_LABEL:
		return is_letter(c) || is_digit(c) || is_one_of(c, ".-");
	case LEX_NAME:
		return is_letter(c) || is_digit(c);
	case LEX_TIME:
	case LEX_NUMBER:
		return is_letter(c) || is_digit(c) || is_one_of(c, ".%");
	}
	return false;
}

static bool stops_at_dotdot(enum lex_mode mode)
{
	return mode != LEX_VALUE && mode != LEX_FILE;
}

/* End of the word that begins at pos; pos if none does. */
static uint32_t word_end(const struct lexer *l, uint32_t pos, enum lex_mode mode)
{
	char next = at(l, pos + 1);
	if (pos >= l->bytes || !begins_word(l->text[pos], mode) ||
	    (stops_at_dotdot(mode) && l->text[pos] == '.' && next == '.') ||
	    (mode == LEX_NUMBER && l->text[pos] == '-' && !is_digit(next)) ||
	    ((mode == LEX_EXPR || mode == LEX_STEP) && l->text[pos] == ':' && next != ':'))
		return pos;
	uint32_t end = pos + 1;
	while (end < l->bytes && continues_word(l, end, mode) &&
	       !(stops_at_dotdot(mode) && l->text[end] == '.' && at(l, end + 1) == '.'))
		end++;
	return end;
}

/* `leaf.func`: the word before the dot, if it is a quantifier or `label`. */
static uint32_t prefix_end(const struct lexer *l, uint32_t pos, uint32_t end)
{
	const char *word = l->text + pos;
	const char *dot = memchr(word, '.', end - pos);
	size_t bytes = dot ? (size_t)(dot - word) : 0;
	struct ast_quant quantifier;
	if (!dot)
		return end;
	bool is_label = bytes == strlen("label") && !memcmp(word, "label", bytes);
	return is_label || vocab_quantifier(word, bytes, &quantifier) ? pos + (uint32_t)bytes : end;
}

bool lex_is_word(const char *s, size_t bytes, enum lex_mode mode)
{
	if (!bytes || bytes >= UINT32_MAX)
		return false;
	struct lexer l = {.text = s, .bytes = (uint32_t)bytes};
	return word_end(&l, 0, mode) == bytes &&
	       (mode != LEX_EXPR || prefix_end(&l, 0, (uint32_t)bytes) == bytes);
}

/* ---- strings and regular expressions --------------------------------------------------- */

static struct token token(enum token_kind kind, uint32_t start, uint32_t end)
{
	return (struct token){.kind = kind, .span = {start, end - start}};
}

static struct token bad(uint32_t start, uint32_t end, const char *problem, const char *help)
{
	struct token t = token(TOK_BAD, start, end);
	t.problem = problem;
	t.help = help;
	return t;
}

/* What a text that stops inside a string or a regular expression is. */
static struct token unclosed(const struct lexer *l, uint32_t start, uint32_t end, bool is_string)
{
	if (l->is_completing && end == l->bytes) {
		struct token t = token(TOK_END, start, end);
		t.is_quoted = is_string;
		t.is_dead = !is_string;
		return t;
	}
	if (is_string)
		return bad(start, end, "this string is never closed",
			   "end it with \" on the same line");
	return bad(start, end, "this regular expression is never closed",
		   "end it with / on the same line; a / inside is written \\/");
}

static struct token lex_string(const struct lexer *l, uint32_t start)
{
	uint32_t pos = start + 1;
	for (; pos < l->bytes && l->text[pos] != '"'; pos++) {
		if (l->text[pos] == '\n')
			return unclosed(l, start, pos, true);
		if (is_control(l->text[pos]))
			return bad(pos, pos + 1, "control character in a string",
				   "write \\n or \\t");
		if (l->text[pos] != '\\')
			continue;
		if (pos + 1 < l->bytes && !is_one_of(l->text[pos + 1], "\\\"nt"))
			return bad(pos, pos + 2, "unknown escape in a string",
				   "known are \\\" \\\\ \\n \\t");
		pos++;
	}
	return pos < l->bytes ? token(TOK_STRING, start, pos + 1)
			      : unclosed(l, start, l->bytes, true);
}

static struct token lex_regex(const struct lexer *l, uint32_t start)
{
	uint32_t pos = start + 1;
	for (; pos < l->bytes && l->text[pos] != '/'; pos++) {
		if (l->text[pos] == '\\' && pos + 1 < l->bytes && l->text[pos + 1] != '\n')
			pos++;
		if (l->text[pos] == '\n')
			return unclosed(l, start, pos, false);
		if (is_control(l->text[pos]))
			return bad(pos, pos + 1, "control character in a regular expression",
				   "write it as an escape such as \\x01");
	}
	if (pos >= l->bytes)
		return unclosed(l, start, l->bytes, false);
	if (pos == start + 1)
		return bad(start, pos + 1, "empty regular expression", "it would match everything");
	bool ignores_case = at(l, pos + 1) == 'i';
	uint32_t end = pos + 1 + ignores_case;
	if (is_letter(at(l, end)) || is_digit(at(l, end)))
		return bad(end, end + 1, "unknown flag of a regular expression",
			   "the only flag is i: ignore case; a / inside is written \\/");
	if (l->is_completing && end == l->bytes)
		return unclosed(l, start, end, false); /* a word here would be its flags */
	struct token t = token(TOK_REGEX, start, end);
	t.ignores_case = ignores_case;
	return t;
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* Longer ones first.  Those with a problem are what people bring from other languages. */
static const struct mark {
	const char *text;
	enum token_kind kind;
	const char *problem, *help;
} marks[] = {
	{"||", TOK_BAD, "unknown operator '||'", "write 'or'"},
	{"&&", TOK_BAD, "unknown operator '&&'", "write 'and'"},
	{"==", TOK_BAD, "unknown operator '=='", "write '='"},
	{"=~", TOK_BAD, "unknown operator '=~'", "write '~'"},
	{"<>", TOK_BAD, "unknown operator '<>'", "write '!='"},
	{"&", TOK_BAD, "unknown operator '&'", "write 'and'"},
	{"'", TOK_BAD, "single quotes mean nothing here", "use double quotes: \"...\""},
	{"`", TOK_BAD, "backquotes mean nothing here", "use double quotes: \"...\""},
	{"|", TOK_PIPE, NULL, NULL},
	{";", TOK_SEMICOLON, NULL, NULL},
	{",", TOK_COMMA, NULL, NULL},
	{"(", TOK_OPEN, NULL, NULL},
	{")", TOK_CLOSE, NULL, NULL},
	{"[", TOK_BRACKET, NULL, NULL},
	{"]", TOK_UNBRACKET, NULL, NULL},
	{"=", TOK_EQ, NULL, NULL},
	{"!=", TOK_NE, NULL, NULL},
	{"!~", TOK_NOT_MATCH, NULL, NULL},
	{"!", TOK_BANG, NULL, NULL},
	{"~", TOK_MATCH, NULL, NULL},
	{"<=", TOK_LE, NULL, NULL},
	{"<", TOK_LT, NULL, NULL},
	{">>", TOK_FAR, NULL, NULL},
	{">=", TOK_GE, NULL, NULL},
	{">", TOK_GT, NULL, NULL},
	{"^", TOK_CARET, NULL, NULL},
	{"$", TOK_DOLLAR, NULL, NULL},
	{"**", TOK_STARSTAR, NULL, NULL},
	{"*", TOK_STAR, NULL, NULL},
	{"..", TOK_DOTDOT, NULL, NULL},
	{".", TOK_DOT, NULL, NULL},
	{":", TOK_COLON, NULL, NULL},
	{"@", TOK_AT, NULL, NULL},
	{"+", TOK_PLUS, NULL, NULL},
	{"-", TOK_MINUS, NULL, NULL},
};

static struct token lex_mark(const struct lexer *l, uint32_t pos)
{
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		size_t bytes = strlen(marks[i].text);
		if (bytes > l->bytes - pos || memcmp(l->text + pos, marks[i].text, bytes))
			continue;
		struct token t = token(marks[i].kind, pos, pos + (uint32_t)bytes);
		t.problem = marks[i].problem;
		t.help = marks[i].help;
		return t;
	}
	return bad(pos, pos + 1,
		   is_control(l->text[pos]) ? "control character" : "unexpected character",
		   is_control(l->text[pos]) ? NULL
					    : "put names with unusual characters in double quotes");
}

/* $name, or nothing of the kind. */
static uint32_t name_end(const struct lexer *l, uint32_t pos)
{
	if (at(l, pos) != '$')
		return pos;
	uint32_t end = word_end(l, pos + 1, LEX_NAME);
	if (end == pos + 1 && !(l->is_completing && end == l->bytes))
		return pos;
	return end;
}

static bool takes_regex(enum lex_mode mode)
{
	return mode == LEX_EXPR || mode == LEX_STEP;
}

struct token lex_at(const struct lexer *l, uint32_t pos, enum lex_mode mode, bool skips_newlines)
{
	bool in_comment;
	pos = skip_to_token(l, pos, skips_newlines, &in_comment);
	if (pos >= l->bytes) {
		struct token t = token(TOK_END, l->bytes, l->bytes);
		t.is_dead = in_comment;
		return t;
	}
	if (l->text[pos] == '\n')
		return token(TOK_NEWLINE, pos, pos + 1);
	if (l->text[pos] == '"')
		return lex_string(l, pos);
	if (l->text[pos] == '/' && takes_regex(mode))
		return lex_regex(l, pos);
	uint32_t end = name_end(l, pos);
	if (end > pos && mode != LEX_FILE)
		return token(l->is_completing && end == l->bytes ? TOK_END : TOK_NAME, pos, end);
	end = word_end(l, pos, mode);
	if (mode == LEX_EXPR)
		end = prefix_end(l, pos, end);
	if (end == pos)
		return lex_mark(l, pos);
	return token(l->is_completing && end == l->bytes ? TOK_END : TOK_WORD, pos, end);
}

const char *lex_token_text(enum token_kind kind)
{
	static const char *const texts[TOK_COUNT] = {
		[TOK_END] = "end of the query",
		[TOK_NEWLINE] = "end of line",
		[TOK_WORD] = "a word",
		[TOK_STRING] = "a string",
		[TOK_REGEX] = "a regular expression",
		[TOK_NAME] = "$NAME",
	};
	if (kind < TOK_COUNT && texts[kind])
		return texts[kind];
	for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
		if (marks[i].kind == kind && kind != TOK_BAD)
			return marks[i].text;
	}
	return "?";
}
