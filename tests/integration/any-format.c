/*
 * Random queries on random profiles in every format that results can be written in:
 *
 *   any-format DIR PROFILES QUERIES
 *
 * Writes DIR/FORMAT/NUMBER.FORMAT for parsers that nobody here wrote (any-format.sh), and reads by
 * itself what neap can read.  A query that cannot be had in a format is refused as wrong usage; any other failure
 * is a fault.  Prints for each format how many were written and how many were refused.
 */
#include "config.h"

#include "query/query.h"
#include "query/vocab.h"

#include "src/base/mem.h"
#include "src/exchange/exchange.h"
#include "src/report/compose.h"
#include "tests/unit/query_random.h"
#include "tests/unit/random_world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TEXT_BYTES (RANDOM_QUERY_BYTES + 128)

struct tally {
	unsigned written, refused, read_again;
};

struct writing {
	const char *dir;
	struct query_session *session;
	struct tally tallies[64]; /* by format */
	unsigned number;
	const char *text; /* of the query, for messages */
};

_Noreturn static void fail(const struct writing *w, const char *what, const char *why)
{
	fprintf(stderr, "any-format: %s\n  %s: %s\n", w->text ? w->text : "", what, why);
	exit(1);
}

static void save(const struct writing *w, const char *format, const struct buf *out)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", w->dir, format);
	if (mkdir(path, 0777) && errno != EEXIST)
		fail(w, path, strerror(errno));
	snprintf(path, sizeof path, "%s/%s/%06u.%s", w->dir, format, w->number, format);
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(out->data, 1, out->count_bytes, f) != out->count_bytes || fclose(f))
		fail(w, path, strerror(errno));
}

static int64_t total_of(const struct query_result *r)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, "total"))
			return r->totals[i].value;
	}
	return -1;
}

static int64_t live_bytes(const struct profile *p)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < p->cohort_count; i++)
		bytes += profile_cohort_born_bytes(p, i);
	for (size_t i = 0; i < p->death_count; i++)
		bytes -= profile_death_bytes(p, i);
	return (int64_t)bytes;
}

/* An importer takes it, and finds the same sum where the format has one. */
static void read_again(struct writing *w, const struct query_result *r, const struct buf *out,
		       struct tally *t)
{
	const char *word = vocab_formats.words[r->format].word;
	enum exchange_format format = exchange_format_find(word);
	struct profile *p;
	struct err e = {0};
	if (format == EXCHANGE_ANY || !exchange_format_info(format)->can_read || !total_of(r) ||
	    r->is_signed)
		return;
	const struct exchange_options o = {.format = format};
	if (exchange_parse(out->data, out->count_bytes, word, &o, &p, &e))
		fail(w, word, e.text);
	bool has_sum = r->format == FORMAT_FOLDED || r->format == FORMAT_SPEEDSCOPE;
	if (has_sum && live_bytes(p) != total_of(r)) {
		snprintf(e.text, sizeof e.text, "%" PRId64 " bytes instead of %" PRId64,
			 live_bytes(p), total_of(r));
		fail(w, word, e.text);
	}
	profile_free(p);
	t->read_again++;
}

static void write_it(struct writing *w, const struct ast_script *script,
		     const struct query_result *r, struct tally *t)
{
	static const char *const files[] = {"a & <b>.neap", "\"c\".neap"};
	const struct out_options o = {
		.width_cols = 80, .is_utf8 = true, .files = files, .file_count = 2};
	struct buf out = {0};
	struct err e = {0};
	buf_puts(&out, "");
	enum neap_err code = compose_write(w->session, script, 0, r, &o, &out, &e);
	if (code == ERR_USAGE) {
		t->refused++;
	} else if (code) {
		fail(w, "it cannot be written", e.text);
	} else {
		save(w, vocab_formats.words[r->format].word, &out);
		read_again(w, r, &out, t);
		t->written++;
	}
	buf_release(&out);
}

static void ask(struct writing *w, const char *query, unsigned format)
{
	char text[TEXT_BYTES];
	struct query_error error;
	struct ast_script *script;
	struct query_result *r;
	snprintf(text, sizeof text, "%s | as %s", query, vocab_formats.words[format].word);
	w->text = text;
	w->number++;
	if (query_parse(text, strlen(text), &script, &error))
		fail(w, "syntax", error.text);
	enum neap_err code = query_run(w->session, script, 0, &r, &error);
	if (code && code != ERR_USAGE)
		fail(w, "it cannot be run", error.text);
	if (code)
		w->tallies[format].refused++;
	else
		write_it(w, script, r, &w->tallies[format]);
	query_result_free(r);
	query_script_free(script);
	w->text = NULL;
}

/* The query as it is, with its columns, and with another end. */
static void ask_in_all(struct writing *w, const struct random_query *m)
{
	static const char *const ends[] = {"",         " | stacks",         " | timeline 7",
					   " | flame", " | flame inverted", " | hist size",
					   " | sum",   " | tree 2"};
	char text[TEXT_BYTES];
	for (unsigned format = 0; format < vocab_formats.count; format++) {
		ask(w, m->text, format);
		snprintf(text, sizeof text, "%.*s", (int)m->select_at, m->text);
		ask(w, text, format);
		snprintf(text, sizeof text, "%.*s%s", (int)m->shape_at, m->text,
			 ends[w->number / vocab_formats.count % (sizeof ends / sizeof *ends)]);
		ask(w, text, format);
	}
}

static void open_session(struct writing *w, uint64_t seed)
{
	const struct query_options options = {.cursor_ns = UINT64_MAX,
					      .is_as_if_large = seed % 2,
					      .is_wrapper = random_is_wrapper,
					      .type_of = random_type_of};
	struct err e = {0};
	if (query_session_new(&options, &w->session, &e))
		fail(w, "a session", e.text);
	for (unsigned i = 0; i < 2; i++) {
		char path[4096];
		snprintf(path, sizeof path, "%s/profile-%u", w->dir, i);
		random_profile(path, seed + 1000 * i);
		if (query_session_open(w->session, path, &e))
			fail(w, path, e.text);
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	struct writing w = {.dir = argv[1]};
	for (uint64_t seed = 1; seed <= strtoull(argv[2], NULL, 10); seed++) {
		struct random_query m = {.random = seed * 104729};
		open_session(&w, seed);
		for (unsigned i = 0; i < strtoul(argv[3], NULL, 10); i++) {
			random_query(&m, i % 4 == 3);
			ask_in_all(&w, &m);
		}
		query_session_free(w.session);
	}
	for (unsigned i = 0; i < vocab_formats.count; i++)
		printf("%s %u %u %u\n", vocab_formats.words[i].word, w.tallies[i].written,
		       w.tallies[i].refused, w.tallies[i].read_again);
	return 0;
}
