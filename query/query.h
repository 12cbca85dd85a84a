/*
 * Running queries: resolve names, types and instants against profiles, plan, execute.
 */
#ifndef NEAP_QUERY_QUERY_H
#define NEAP_QUERY_QUERY_H

#include "query/parse.h"
#include "query/result.h"
#include "query/wrappers.h"

/* Profiles a query may name: opened once, shared by all queries run on them. */
struct query_session;

struct query_options {
	bool is_strict;                  /* a name that matches nothing is an error */
	bool (*is_cancelled)(void *arg); /* polled in long work; may be NULL */
	void *arg;
	/* NULL: sym_is_wrapper */
	bool (*is_wrapper)(const char *name);
	struct query_wrappers *wrappers; /* more of them; may be NULL; must outlive the session */
	/* NULL: sym_type_of */
	bool (*type_of)(const char *name, struct buf *out);
	/* How to read a file; NULL: profile_open. */
	enum neap_err (*open)(const char *path, struct profile **out, struct err *e);
	bool is_as_if_large; /* tests: do with small profiles what is meant for large ones */
	uint64_t cursor_ns;  /* instant of the time word `cursor`; UINT64_MAX: it is an error */
};

enum neap_err query_session_new(const struct query_options *o, struct query_session **out,
				struct err *e);
void query_session_free(struct query_session *s);
/* Add a file; the first is what queries mean, the second what `diff` compares it with. */
enum neap_err query_session_open(struct query_session *s, const char *path, struct err *e);
/*
 * query_session_lend - add the first file of `from` without opening it again.  It must
 * outlive s and be used by the same thread.  Before any file is opened in s.  Fails: ERR_NOMEM.
 */
enum neap_err query_session_lend(struct query_session *s, struct query_session *from,
				 struct err *e);
/* query_session_graph - the index of the first file; NULL without one. */
const struct graph *query_session_graph(const struct query_session *s);

/*
 * query_run - run one query of a script (lets before it apply).
 *   statement_idx  of a statement that is a query
 * Fails: with *error filled (codes of QUERY's exit status follow from error->code:
 *        ERR_USAGE 2, ERR_IO/ERR_FORMAT 3).  *out is then NULL.
 */
enum neap_err query_run(struct query_session *s, const struct ast_script *script,
			size_t statement_idx, struct query_result **out, struct query_error *error);
/*
 * query_run_alike - run queries that differ in their stages on rows only, such as `top 10` and
 * `top 10 by count`: the blocks are counted once.
 *   scripts  [count], of one query each, whose views are no trees
 *   out      [count]
 * Fails: as query_run; all of *out are then NULL.
 */
enum neap_err query_run_alike(struct query_session *s, struct ast_script *const *scripts,
			      size_t count, struct query_result **out, struct query_error *error);
void query_result_free(struct query_result *r);

/* query_explain - the canonical query, then each step of the plan with rows and bytes after it. */
enum neap_err query_explain(struct query_session *s, const struct ast_script *script,
			    size_t statement_idx, struct buf *out, struct query_error *error);

#endif
