/*
 * Completion: parse the text with an end that stands for whatever is typed next.  The parser
 * stops there, and its expected set is the answer.
 */
#include "config.h"

#include "query/parse_priv.h"

#include <string.h>

#include "src/base/limits.h"

#define MOST_NAMES 200

struct completer {
	const struct parser *parser;
	const char *prefix; /* what is typed of the word, without an opening quote */
	size_t prefix_bytes, replaced_bytes;
	bool is_quoted;
	const char *meaning;
	size_t name_count;
	struct buf *out;
};

static bool has_prefix(const struct completer *c, const char *word)
{
	return strlen(word) >= c->prefix_bytes && !memcmp(word, c->prefix, c->prefix_bytes);
}

static void emit(const struct completer *c, const char *before, const char *word,
		 const char *meaning)
{
	buf_printf(c->out, "%zu\t%s%s\t%s\n", c->replaced_bytes, before, word, meaning);
}

static bool is_first(const struct parser *p, size_t idx)
{
	for (size_t i = 0; i < idx; i++) {
		if (!strcmp(p->wants[i].text, p->wants[idx].text))
			return false;
	}
	return true;
}

static void emit_words(const struct completer *c)
{
	const struct parser *p = c->parser;
	for (size_t i = 0; i < p->want_count; i++) {
		const struct want *w = &p->wants[i];
		if (w->meaning && has_prefix(c, w->text) && is_first(p, i))
			emit(c, "", w->text, w->meaning);
	}
}

static void emit_lets(const struct completer *c)
{
	const struct parser *p = c->parser;
	bool is_dollar = c->prefix_bytes && c->prefix[0] == '$';
	struct completer name = *c;
	name.prefix += is_dollar;
	name.prefix_bytes -= is_dollar;
	for (size_t i = 0; i < p->let_count && (is_dollar || !c->prefix_bytes); i++) {
		if (p->lets[i].expr && has_prefix(&name, p->lets[i].name.s))
			emit(c, "$", p->lets[i].name.s, "a condition of yours");
	}
}

/* Names that a bare word cannot hold are quoted; those with control characters are left out. */
static void emit_name(void *arg, const char *name)
{
	struct completer *c = arg;
	size_t bytes = strlen(name);
	if (c->name_count >= MOST_NAMES || bytes > LIMIT_QUERY_BYTES)
		return;
	for (size_t i = 0; i < bytes; i++) {
		if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
			return;
	}
	c->name_count++;
	bool is_plain = lex_is_word(name, bytes, c->parser->token_mode) && !strpbrk(name, "*?") &&
			!vocab_find(&vocab_fields, name, bytes);
	if (!c->is_quoted && is_plain) {
		emit(c, "", name, c->meaning);
		return;
	}
	buf_printf(c->out, "%zu\t\"", c->replaced_bytes);
	for (size_t i = 0; i < bytes; i++)
		buf_printf(c->out, name[i] == '"' || name[i] == '\\' ? "\\%c" : "%c", name[i]);
	buf_printf(c->out, "\"\t%s\n", c->meaning);
}

static void emit_names(struct completer *c, const struct query_names *names)
{
	enum ast_field field = c->parser->want_names;
	if (!names || field == FIELD_NONE)
		return;
	c->meaning = vocab_fields.words[field].word;
	names->list(names->arg, field, c->prefix, c->prefix_bytes, emit_name, c);
}

static void complete(const struct parser *p, const struct query_names *names, struct buf *out)
{
	const struct token *t = &p->token;
	if (!p->has_token || t->kind != TOK_END || t->is_dead)
		return;
	struct completer c = {.parser = p, .is_quoted = t->is_quoted, .out = out};
	c.prefix = p->lexer.text + t->span.start + t->is_quoted;
	c.prefix_bytes = t->span.bytes - t->is_quoted;
	c.replaced_bytes = t->span.bytes;
	if (!c.is_quoted) {
		emit_words(&c);
		if (p->wants_let)
			emit_lets(&c);
	}
	emit_names(&c, names);
}

enum neap_err query_complete(const char *text, size_t bytes, const struct query_names *names,
			     struct buf *out, struct err *e)
{
	struct query_error error;
	struct parser p;
	if (bytes > LIMIT_QUERY_BYTES)
		return err_set(e, ERR_LIMIT, "the query is longer than 64 KiB");
	struct ast_script s = {.text = text, .text_bytes = bytes};
	parser_init(&p, &s, &error);
	p.lexer.is_completing = true;
	parse_script(&p);
	if (error.code != ERR_NOMEM)
		complete(&p, names, out);
	mem_free(p.lets);
	arena_release(&s.arena);
	if (error.code == ERR_NOMEM || out->has_failed)
		return err_nomem(e, "completions");
	return NEAP_OK;
}
