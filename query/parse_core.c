/* Tokens, the expected set, errors and lists: what the rest of the parser is built on. */
#include "config.h"

#include "query/parse_priv.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/limits.h"

#define EXPECTED_WHOLE 12 /* longer sets are cut ... */
#define EXPECTED_CUT   4  /* ... to this many */
#define SHOWN_CHARS    40 /* of a word in a message */

/* ---- tokens ------------------------------------------------------------------- */

struct token *parser_look(struct parser *p, enum lex_mode mode)
{
	if (!p->has_token || p->token_mode != mode) {
		p->token = lex_at(&p->lexer, p->pos, mode, p->bracket_depth || p->continues);
		p->token_mode = mode;
		p->has_token = true;
	}
	return &p->token;
}

void parser_forget(struct parser *p)
{
	p->want_count = 0;
	p->want_names = FIELD_NONE;
	p->wants_let = false;
}

struct token parser_take(struct parser *p)
{
	assert(p->has_token);
	parser_forget(p);
	p->pos = p->token.span.start + p->token.span.bytes;
	p->has_token = false;
	p->continues = false;
	return p->token;
}

struct token parser_take_open(struct parser *p)
{
	struct token t = parser_take(p);
	p->continues = true;
	return t;
}

void parser_want(struct parser *p, const char *text, const char *meaning)
{
	assert(p->want_count < WANT_MOST);
	p->wants[p->want_count++] = (struct want){text, meaning};
}

void parser_want_vocab(struct parser *p, const struct vocab *v)
{
	for (size_t i = 0; i < v->count; i++)
		parser_want(p, v->words[i].word, v->words[i].meaning);
}

bool parser_is(struct parser *p, enum lex_mode mode, enum token_kind kind, const char *meaning)
{
	parser_want(p, lex_token_text(kind), meaning);
	return parser_look(p, mode)->kind == kind;
}

bool token_is(const struct parser *p, const struct token *t, const char *word)
{
	return t->kind == TOK_WORD && t->span.bytes == strlen(word) &&
	       !memcmp(p->lexer.text + t->span.start, word, t->span.bytes);
}

bool parser_is_word(struct parser *p, enum lex_mode mode, const char *word, const char *meaning)
{
	parser_want(p, word, meaning);
	return token_is(p, parser_look(p, mode), word);
}

const struct vocab_word *parser_is_vocab(struct parser *p, enum lex_mode mode,
					 const struct vocab *v)
{
	parser_want_vocab(p, v);
	struct token *t = parser_look(p, mode);
	if (t->kind != TOK_WORD)
		return NULL;
	return vocab_find(v, p->lexer.text + t->span.start, t->span.bytes);
}

/* ---- failing -------------------------------------------------------------------- */

const char *parser_show(const struct parser *p, struct ast_span span, char dst[SHOWN_BYTES])
{
	char safe[SHOWN_BYTES];
	uint32_t bytes = span.bytes < SHOWN_BYTES ? span.bytes : SHOWN_BYTES;
	fmt_safe(safe, sizeof safe, p->lexer.text + span.start, bytes, true);
	return fmt_elide(dst, SHOWN_BYTES, safe, SHOWN_CHARS, true);
}

static bool is_separator(const char *text)
{
	return strchr(",;.:|()[]@", text[0]) && strlen(text) <= 2;
}

static bool was_listed(const struct parser *p, size_t idx)
{
	for (size_t i = 0; i < idx; i++) {
		if (!strcmp(p->wants[i].text, p->wants[idx].text))
			return true;
	}
	return false;
}

static void list_wants(struct parser *p)
{
	char *dst = p->error->expected;
	size_t cap = sizeof p->error->expected, used = 0, unique = 0, listed = 0;
	for (size_t i = 0; i < p->want_count; i++)
		unique += !was_listed(p, i);
	size_t most = unique > EXPECTED_WHOLE ? EXPECTED_CUT : unique;
	dst[0] = '\0';
	for (size_t i = 0; i < p->want_count && listed < most && used < cap; i++) {
		if (was_listed(p, i))
			continue;
		const char *quote = is_separator(p->wants[i].text) ? "'" : "";
		int n = snprintf(dst + used, cap - used, "%s%s%s%s", listed++ ? ", " : "", quote,
				 p->wants[i].text, quote);
		used += n > 0 ? (size_t)n : 0;
	}
	if (most < unique && used < cap)
		snprintf(dst + used, cap - used, ", ...");
}

static void suggest_near(struct parser *p, struct ast_span span)
{
	const char *words[WANT_MOST];
	size_t count = 0;
	p->error->help[0] = '\0';
	for (size_t i = 0; i < p->want_count; i++) {
		if (p->wants[i].meaning)
			words[count++] = p->wants[i].text;
	}
	const char *near = query_near(p->lexer.text + span.start, span.bytes, words, count);
	if (near)
		snprintf(p->error->help, sizeof p->error->help, "did you mean '%s'?", near);
}

static bool fail(struct parser *p, enum neap_err code, struct ast_span span, const char *fmt,
		 va_list ap)
{
	p->error->code = code;
	p->error->span = span;
	p->error->expected[0] = p->error->help[0] = '\0';
	vsnprintf(p->error->text, sizeof p->error->text, fmt, ap);
	return false;
}

bool parser_fail_at(struct parser *p, struct ast_span span, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fail(p, ERR_USAGE, span, fmt, ap);
	va_end(ap);
	list_wants(p);
	suggest_near(p, span);
	return false;
}

bool parser_help(struct parser *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(p->error->help, sizeof p->error->help, fmt, ap);
	va_end(ap);
	return false;
}

bool parser_unexpected(struct parser *p, const char *what)
{
	char shown[SHOWN_BYTES];
	const struct token *t = &p->token;
	if (t->kind == TOK_BAD) {
		parser_forget(p);
		parser_fail_at(p, t->span, "%s", t->problem);
		return t->help ? parser_help(p, "%s", t->help) : false;
	}
	if (t->kind == TOK_END)
		return parser_fail_at(p, (struct ast_span){p->pos, 0},
				      p->pos ? "the query ends too early" : "the query is empty");
	if (t->kind == TOK_NEWLINE)
		return parser_fail_at(p, (struct ast_span){t->span.start, 0},
				      "the line ends too early");
	parser_show(p, t->span, shown);
	if (t->kind == TOK_WORD && what)
		return parser_fail_at(p, t->span, "unknown %s '%s'", what, shown);
	parser_fail_at(p, t->span, "unexpected '%s'", shown);
	if (!p->bracket_depth && (t->kind == TOK_CLOSE || t->kind == TOK_UNBRACKET))
		return parser_help(p, "there is no open bracket for it");
	bool is_joined =
		t->span.start == p->pos && p->pos && !strchr(" \t\n|", p->lexer.text[p->pos - 1]);
	if (is_joined && (t->kind == TOK_OPEN || t->kind == TOK_BRACKET || t->kind == TOK_LT))
		return parser_help(p, "put a name with brackets in double quotes");
	if (is_joined && (t->kind == TOK_STAR || t->kind == TOK_STARSTAR))
		return parser_help(p, "wildcards work after '=' only: func=abc*");
	return false;
}

bool parser_no_memory(struct parser *p)
{
	*p->error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	return false;
}

bool parser_too_many(struct parser *p, struct ast_span span, const char *what, unsigned limit)
{
	parser_forget(p);
	parser_fail_at(p, span, "more than %u %s", limit, what);
	p->error->code = ERR_LIMIT;
	return false;
}

/* ---- building -------------------------------------------------------------------- */

/* Capacity follows from the count: 4, then the next power of two. */
void *parser_append(struct parser *p, void *list, size_t *count, size_t elem_bytes,
		    const char *what)
{
	void **items = list;
	size_t n = *count;
	if (n >= LIMIT_QUERY_ITEMS) {
		parser_too_many(p, p->token.span, what, LIMIT_QUERY_ITEMS);
		return NULL;
	}
	if (!n || (n >= 4 && !(n & (n - 1)))) {
		void *grown = arena_array(&p->script->arena, n ? 2 * n : 4, elem_bytes);
		if (!grown) {
			parser_no_memory(p);
			return NULL;
		}
		if (n)
			memcpy(grown, *items, n * elem_bytes);
		*items = grown;
	}
	*count = n + 1;
	return (char *)*items + n * elem_bytes;
}

static char decode(char escaped)
{
	return escaped == 'n' ? '\n' : escaped == 't' ? '\t' : escaped;
}

bool parser_text(struct parser *p, const struct token *t, struct ast_text *out)
{
	uint32_t start = t->span.start, end = start + t->span.bytes, bytes = 0;
	*out = (struct ast_text){.span = t->span};
	if (t->kind == TOK_STRING || t->kind == TOK_REGEX) {
		start++;
		end -= 1 + t->ignores_case;
	} else if (t->kind == TOK_NAME) {
		start++;
	}
	char *copy = arena_strndup(&p->script->arena, p->lexer.text + start, end - start);
	if (!copy)
		return parser_no_memory(p);
	for (uint32_t i = start; i < end; i++) {
		char c = p->lexer.text[i];
		if (c == '\\' && t->kind == TOK_STRING)
			c = decode(p->lexer.text[++i]);
		copy[bytes++] = c;
	}
	copy[bytes] = '\0';
	out->s = copy;
	out->bytes = bytes;
	return true;
}

bool parser_key_word(struct parser *p, struct ast_quant q, struct ast_text *word)
{
	struct buf joined = {0};
	if (!quant_is_one_frame(q))
		return true;
	vocab_put_quantifier(q, &joined);
	buf_printf(&joined, ".%s", word->s);
	char *s = joined.has_failed
			  ? NULL
			  : arena_strndup(&p->script->arena, joined.data, joined.count_bytes);
	word->bytes = (uint32_t)joined.count_bytes;
	word->s = s;
	buf_release(&joined);
	return s || parser_no_memory(p);
}

struct ast_span span_to_here(const struct parser *p, uint32_t start)
{
	return (struct ast_span){start, p->pos > start ? p->pos - start : 0};
}
