/*
 * Feeds arbitrary text to the lexer, the parser, the printers and the completion.
 *
 * Beyond not crashing: an error has a message and a place inside the text; a query that is
 * accepted has a canonical spelling that is accepted and means the same.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/lex.h"
#include "query/parse.h"
#include "tests/unit/query_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool holds, const char *what, const struct buf *text)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %s\n", what, text->data ? text->data : "");
	abort();
}

static void check_error(const struct query_error *e, const char *text, size_t bytes)
{
	struct buf out = {0};
	query_error_print(e, "query", text, bytes, &out);
	require(e->text[0] && strchr(out.data, '^'), "a message without a caret", &out);
	require((size_t)e->span.start + e->span.bytes <= bytes, "a caret outside the text", &out);
	buf_release(&out);
}

static void check_canonical(const struct ast_query *q)
{
	struct buf text = {0}, tree = {0}, tree_again = {0}, text_again = {0};
	struct ast_script *s;
	struct query_error e;
	query_canonical(q, &text);
	/* `and` and the lets are spelled out, so it can be longer than a query may be. */
	enum neap_err rc = query_parse(text.data, text.count_bytes, &s, &e);
	require(rc == NEAP_OK || rc == ERR_LIMIT, "a canonical query is refused", &text);
	if (!rc) {
		query_dump(q, &tree);
		query_dump(query_last(s), &tree_again);
		require(!strcmp(tree.data, tree_again.data), "a canonical query differs", &text);
		query_canonical(query_last(s), &text_again);
		require(!strcmp(text.data, text_again.data), "not canonical", &text);
		query_script_free(s);
	}
	buf_release(&text);
	buf_release(&text_again);
	buf_release(&tree);
	buf_release(&tree_again);
}

static void check_lexer(const char *text, size_t bytes)
{
	struct lexer l = {.text = text, .bytes = (uint32_t)bytes};
	for (int mode = LEX_EXPR; mode <= LEX_FILE; mode++) {
		uint32_t pos = 0;
		for (struct token t = {0}; pos < bytes; pos = t.span.start + t.span.bytes) {
			t = lex_at(&l, pos, (enum lex_mode)mode, false);
			if (t.kind == TOK_END)
				break;
			if (!t.span.bytes || t.span.start < pos ||
			    t.span.start + t.span.bytes > bytes)
				abort();
		}
	}
}

static void list_one(void *arg, enum ast_field field, const char *prefix, size_t bytes,
		     void (*emit)(void *emit_arg, const char *name), void *emit_arg)
{
	(void)arg, (void)field, (void)prefix, (void)bytes;
	emit(emit_arg, "std::vector<\"int\">");
	emit(emit_arg, "main");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static const struct query_names names = {.list = list_one};
	const char *text = (const char *)data;
	struct ast_script *s;
	struct query_error e;
	struct buf out = {0};
	if (query_parse(text, bytes, &s, &e))
		check_error(&e, text, bytes);
	for (size_t i = 0; s && i < s->statement_count && i < 20; i++) {
		if (!s->statements[i].is_let)
			check_canonical(&s->statements[i].query);
	}
	query_script_free(s);
	if (bytes <= 4096)
		check_lexer(text, bytes);
	query_complete(text, bytes, &names, &out, NULL);
	buf_release(&out);
	return 0;
}
