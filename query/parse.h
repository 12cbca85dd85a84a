/*
 * Text to syntax tree; the same LL(1) parser yields the tree, the caret messages with
 * what was expected, and the completions.
 */
#ifndef NEAP_QUERY_PARSE_H
#define NEAP_QUERY_PARSE_H

#include "query/ast.h"
#include "src/base/buf.h"
#include "src/base/err.h"

/* An error in a query, for people: query_error_print makes the lines of QUERY's "Errors". */
struct query_error {
	enum neap_err code;   /* ERR_USAGE, ERR_LIMIT, ERR_NOMEM, ...; NEAP_OK: no error */
	struct ast_span span; /* where the caret goes */
	char text[256];       /* "unknown field 'siez'" */
	char expected[512];   /* "func, file, line, ..."; empty if it says nothing */
	char help[256];       /* "did you mean 'size'?"; empty if there is none */
};

/*
 * query_parse - parse a script: lets and queries separated by ; or newlines.
 * Names of lets are resolved here; instants, files and names of the profile are not.
 * The text must stay until the script is freed.
 * Limits: LIMIT_QUERY_BYTES of text, LIMIT_QUERY_DEPTH of nesting, LIMIT_QUERY_ITEMS of any list.
 */
enum neap_err query_parse(const char *text, size_t bytes, struct ast_script **out,
			  struct query_error *error);
void query_script_free(struct ast_script *s);

/* query_error_print - "error: ...", " --> NAME:LINE:COLUMN", the line, the caret, "= expected", "= help". */
void query_error_print(const struct query_error *error, const char *name, const char *text,
		       size_t bytes, struct buf *out);

/*
 * query_canonical - the query in its canonical spelling; parsing it again yields the same tree.
 * The lets that it uses stand before it.  out->has_failed if memory runs out.
 */
void query_canonical(const struct ast_query *q, struct buf *out);

/*
 * query_complete - what may come at the end of a text: words of the grammar, one per line, each
 * "REPLACED_BYTES<TAB>WORD<TAB>MEANING".  Names from the profile come from `names` if it is not NULL.
 */
struct query_names {
	/* Calls emit for each name of a field that starts with the prefix, heaviest first. */
	void (*list)(void *arg, enum ast_field field, const char *prefix, size_t bytes,
		     void (*emit)(void *emit_arg, const char *name), void *emit_arg);
	void *arg;
};
enum neap_err query_complete(const char *text, size_t bytes, const struct query_names *names,
			     struct buf *out, struct err *e);

/*
 * query_near - the nearest of some words within 2 edits (1 for words up to 3 bytes), or NULL; for
 * "did you mean".  Case of ASCII letters does not matter.  Cost: linear in the words.
 */
const char *query_near(const char *word, size_t bytes, const char *const *words, size_t count);

#endif
