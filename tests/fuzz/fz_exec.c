/*
 * Runs arbitrary text as queries, on two small profiles that have all there is in one.
 *
 * The first byte tells how: its lowest bit has small profiles do what is meant for large ones.  Beyond not
 * crashing: an error has a message and a place inside the text, and a query that can be
 * explained can be run.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/parse.h"
#include "query/query.h"
#include "query/result.h"
#include "tests/unit/random_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define BYTES_MOST      4096u
#define STATEMENTS_MOST 3u
#define RUNS_EACH       500u /* queries of a session: what it keeps for the next ones is part of it */

static char paths[2][64];

static void remove_files(void)
{
	unlink(paths[0]);
	unlink(paths[1]);
}

static void make_files(void)
{
	static const struct random_size size = {
		.frames = 14, .nodes = 40, .sites = 30, .births = 20, .snapshots = 5};
	const char *dir = getenv("TMPDIR");
	for (unsigned i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof paths[i], "%.40s/neap-fz-%ld-%u", dir ? dir : "/tmp",
			 (long)getpid(), i);
		build_close(random_world(paths[i], i + 1, &size));
	}
	atexit(remove_files);
}

/* No query opens anything else. */
static enum neap_err open_one(const char *path, struct profile **out, struct err *e)
{
	return profile_open(paths[strcmp(path, paths[0]) != 0], out, e);
}

static bool no_type(const char *name, struct buf *out)
{
	buf_puts(out, name);
	return strchr(name, 'b');
}

static struct query_session *new_session(bool is_as_if_large)
{
	struct query_options o = {.is_wrapper = random_is_wrapper,
				  .type_of = no_type,
				  .open = open_one,
				  .is_as_if_large = is_as_if_large,
				  .cursor_ns = 1000000};
	struct query_session *s;
	struct err e;
	if (query_session_new(&o, &s, &e) || query_session_open(s, paths[0], &e) ||
	    query_session_open(s, paths[1], &e))
		abort();
	return s;
}

static struct query_session *session_of(bool is_as_if_large)
{
	static struct query_session *sessions[2];
	static unsigned runs[2];
	if (!paths[0][0])
		make_files();
	if (runs[is_as_if_large]++ % RUNS_EACH == 0) {
		query_session_free(sessions[is_as_if_large]);
		sessions[is_as_if_large] = new_session(is_as_if_large);
	}
	return sessions[is_as_if_large];
}

static void require(bool holds, const char *what, const char *text, size_t bytes)
{
	if (holds)
		return;
	fprintf(stderr, "%s: %.*s\n", what, (int)bytes, text);
	abort();
}

static void check_error(const struct query_error *e, const char *text, size_t bytes)
{
	require(e->text[0], "an error without a message", text, bytes);
	require((size_t)e->span.start + e->span.bytes <= bytes, "a place outside the text", text,
		bytes);
}

static void run(struct query_session *s, const struct ast_script *script, size_t statement,
		const char *text, size_t bytes)
{
	struct query_result *r = NULL;
	struct query_error e = {.code = NEAP_OK};
	struct buf explained = {0};
	enum neap_err code = query_run(s, script, statement, &r, &e);
	if (code)
		check_error(&e, text, bytes);
	else
		require(query_explain(s, script, statement, &explained, &e) == NEAP_OK,
			"it runs, but cannot be explained", text, bytes);
	query_result_free(r);
	buf_release(&explained);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct ast_script *script;
	struct query_error e;
	if (!bytes || bytes > BYTES_MOST)
		return 0;
	const char *text = (const char *)data + 1;
	size_t count = 0;
	bytes--;
	if (!query_parse(text, bytes, &script, &e)) {
		struct query_session *s = session_of(data[0] & 1);
		for (size_t i = 0; i < script->statement_count && count < STATEMENTS_MOST; i++) {
			if (!script->statements[i].is_let) {
				run(s, script, i, text, bytes);
				count++;
			}
		}
	}
	query_script_free(script);
	return 0;
}
