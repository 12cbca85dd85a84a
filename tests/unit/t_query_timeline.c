/*
 * Timelines by classes on random profiles: each step against the table of the same classes at
 * its instant, or in its slice of time; the rows that are cut; the timeline of everything.
 */
#include "config.h"

#include "query/query.h"

#include "src/base/mem.h"
#include "tests/unit/query_random.h"
#include "tests/unit/random_world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROFILE_COUNT 20u
#define QUERIES_EACH  40u
#define TEXT_BYTES    (RANDOM_QUERY_BYTES + 256)
#define KEY_BYTES     8192u

static struct query_session *open_session(uint64_t seed)
{
	const struct query_options options = {.cursor_ns = UINT64_MAX,
					      .is_as_if_large = seed % 2,
					      .is_wrapper = random_is_wrapper,
					      .type_of = random_type_of};
	struct query_session *session;
	struct err e = {0};
	char path[256];
	const char *dir = getenv("TMPDIR");
	cr_assert_eq(query_session_new(&options, &session, &e), NEAP_OK, "%s", e.text);
	snprintf(path, sizeof path, "%s/neap-timeline-%d", dir ? dir : "/tmp", (int)getpid());
	random_profile(path, seed);
	cr_assert_eq(query_session_open(session, path, &e), NEAP_OK, "%s", e.text);
	unlink(path);
	return session;
}

struct answer {
	char text[TEXT_BYTES];
	struct ast_script *script;
	struct query_result *r;
};

static void ask(struct query_session *session, struct answer *a)
{
	struct query_error error;
	enum neap_err code = query_parse(a->text, strlen(a->text), &a->script, &error);
	if (!code)
		code = query_run(session, a->script, 0, &a->r, &error);
	if (code) {
		struct buf b = {0};
		query_error_print(&error, "query", a->text, strlen(a->text), &b);
		cr_assert_fail("%s", b.data);
	}
}

static void answer_release(struct answer *a)
{
	query_result_free(a->r);
	query_script_free(a->script);
}

/* ---- cells ------------------------------------------------------------------------------ */

static int64_t value(const struct query_result *r, size_t row, const char *word)
{
	for (size_t i = 0; i < r->column_count; i++) {
		if (!strcmp(r->columns[i].word, word))
			return result_cells(r, row)[i].value;
	}
	cr_assert_fail("no column %s", word);
	return 0;
}

/* All keys but the time; frames of a stack by their ids. */
static void key_of(const struct query_result *r, size_t row, char out[KEY_BYTES])
{
	size_t used = 0;
	const struct result_row own = result_row(r, row);
	*out = '\0';
	for (size_t i = 0; i < r->column_count; i++) {
		const struct result_cell *c = &result_cells(r, row)[i];
		const struct result_column *column = &r->columns[i];
		if (!column->is_key || !strcmp(column->word, "time"))
			continue;
		if (c->is_unknown)
			used += (size_t)snprintf(out + used, KEY_BYTES - used, "?|");
		else if (column->type != RESULT_TEXT)
			used += (size_t)snprintf(out + used, KEY_BYTES - used, "%" PRId64 "|",
						 c->value);
		else
			used += (size_t)snprintf(out + used, KEY_BYTES - used, "%s|", c->text);
		for (uint32_t f = 0; !strcmp(column->word, "stack") && f < own.frame_count; f++)
			used += (size_t)snprintf(out + used, KEY_BYTES - used, "%u;",
						 (unsigned)own.frames[f]);
		cr_assert_lt(used, KEY_BYTES);
	}
}

static size_t find_row(const struct query_result *r, const char *key)
{
	char other[KEY_BYTES];
	for (size_t i = 0; i < r->row_count; i++) {
		key_of(r, i, other);
		if (!strcmp(key, other))
			return i;
	}
	return SIZE_MAX;
}

/* ---- comparing ---------------------------------------------------------------------------- */

struct question {
	const char *source; /* "live", "freed", ... */
	const char *filter;
	const char *by;    /* of the timeline */
	const char *table; /* of a table with the same rows */
	unsigned points;
};

static void compare_step(struct query_session *session, const struct question *q,
			 const struct query_result *r, size_t step)
{
	struct answer at;
	size_t first = step * r->class_count, found = 0;
	uint64_t to = r->rows[first].time_ns;
	uint64_t from = step ? r->rows[first - 1].time_ns : 0;
	char key[KEY_BYTES];
	if (!strcmp(q->source, "live"))
		snprintf(at.text, sizeof at.text, "live at %" PRIu64 "ns%s | by %s", to, q->filter,
			 q->table);
	else
		snprintf(at.text, sizeof at.text, "%s in %" PRIu64 "ns..%" PRIu64 "ns%s | by %s",
			 q->source, from, to, q->filter, q->table);
	ask(session, &at);
	for (size_t class = 0; class < r->class_count; class ++) {
		key_of(r, first + class, key);
		size_t row = find_row(at.r, key);
		int64_t total = row == SIZE_MAX ? 0 : value(at.r, row, "total");
		int64_t count = row == SIZE_MAX ? 0 : value(at.r, row, "count");
		found += row != SIZE_MAX;
		cr_assert_eq(value(r, first + class, "total"), total, "%s: %s", at.text, key);
		cr_assert_eq(value(r, first + class, "count"), count, "%s: %s", at.text, key);
	}
	cr_assert_eq(found, at.r->row_count, "%s: %zu of %zu rows", at.text, found,
		     at.r->row_count);
	answer_release(&at);
}

/* Each step of both has the same sum. */
static void compare_sums(const struct query_result *a, const struct query_result *b)
{
	size_t in_a = a->class_count ? a->class_count : 1,
	       in_b = b->class_count ? b->class_count : 1;
	if (!a->row_count)
		return;
	cr_assert_eq(a->row_count / in_a, b->row_count / in_b);
	for (size_t step = 0; step < a->row_count / in_a; step++) {
		int64_t sum = 0;
		for (size_t i = 0; i < in_a; i++)
			sum += value(a, step * in_a + i, "total");
		for (size_t i = 0; i < in_b; i++)
			sum -= value(b, step * in_b + i, "total");
		cr_assert_eq(sum, 0, "%s, step %zu", a->canonical, step);
	}
}

static void compare_cut(struct query_session *session, const struct question *q,
			const struct query_result *whole)
{
	struct answer cut;
	char a[KEY_BYTES], b[KEY_BYTES];
	snprintf(cut.text, sizeof cut.text, "%s%s | by %s | top 2 | timeline %u", q->source,
		 q->filter, q->by, q->points);
	ask(session, &cut);
	compare_sums(cut.r, whole);
	size_t most = whole->class_count < 3 ? whole->class_count : 3;
	cr_assert_eq(cut.r->class_count, most);
	for (size_t i = 0; i < cut.r->row_count; i++) {
		size_t class = i % most, step = i / most;
		bool is_other = class == 2;
		cr_assert_eq(cut.r->rows[i].kind, is_other ? ROW_OTHER : ROW_PLAIN);
		cr_assert_eq(cut.r->rows[i].time_ns,
			     whole->rows[step * whole->class_count].time_ns);
		if (is_other) {
			cr_assert_eq(cut.r->rows[i].count, whole->class_count - 2);
			continue;
		}
		key_of(cut.r, i, a);
		key_of(whole, step * whole->class_count + class, b);
		cr_assert_str_eq(a, b);
	}
	answer_release(&cut);
}

/* ---- order ---------------------------------------------------------------------------------- */

static double sum_of_class(const struct query_result *r, size_t class)
{
	double sum = 0;
	for (size_t i = class; i < r->row_count; i += r->class_count)
		sum += (double)value(r, i, "total");
	return sum;
}

/* Bytes times nanoseconds, from each snapshot to the next; what is there at the start is inherited. */
static double area_of_class(const struct query_result *whole, const struct query_result *start,
			    const char *key)
{
	char other[KEY_BYTES];
	size_t at = find_row(start, key), class = 0, last = whole->row_count - whole->class_count;
	double before = at == SIZE_MAX ? 0 : (double)value(start, at, "total"), area = 0;
	uint64_t before_ns = 0;
	for (key_of(whole, class, other); strcmp(key, other) != 0; key_of(whole, class, other))
		class ++;
	for (size_t i = class; i < last + whole->class_count; i += whole->class_count) {
		area += before * (double)(whole->rows[i].time_ns - before_ns);
		before = (double)value(whole, i, "total");
		before_ns = whole->rows[i].time_ns;
	}
	return area;
}

/* The largest area over the whole run first, or the largest sum; means are rounded. */
static void check_order(struct query_session *session, const struct question *q,
			const struct query_result *r)
{
	struct answer whole, start;
	char key[KEY_BYTES];
	bool is_live = !strcmp(q->source, "live");
	double before = 0, end_ns = (double)r->rows[r->row_count - 1].time_ns;
	snprintf(whole.text, sizeof whole.text, "%s%s | by %s | timeline 1000", q->source,
		 q->filter, q->by);
	snprintf(start.text, sizeof start.text, "live at start%s | by %s", q->filter, q->table);
	ask(session, &whole);
	ask(session, &start);
	for (size_t class = 0; class < r->class_count; class ++) {
		key_of(r, class, key);
		double now = is_live ? area_of_class(whole.r, start.r, key) / end_ns
				     : sum_of_class(r, class);
		cr_assert(!class || now <= before + 1, "%s: %f after %f", r->canonical, now,
			  before);
		before = now;
	}
	answer_release(&whole);
	answer_release(&start);
}

static size_t check(struct query_session *session, const struct question *q)
{
	struct answer whole, plain;
	snprintf(whole.text, sizeof whole.text, "%s%s | by %s | timeline %u", q->source, q->filter,
		 q->by, q->points);
	snprintf(plain.text, sizeof plain.text, "%s%s | timeline %u", q->source, q->filter,
		 q->points);
	ask(session, &whole);
	ask(session, &plain);
	const struct query_result *r = whole.r;
	size_t rows = r->row_count;
	compare_sums(r, plain.r);
	for (size_t step = 0; r->class_count && step < rows / r->class_count; step++)
		compare_step(session, q, r, step);
	if (r->class_count) {
		if (!strstr(q->filter, "lifetime") && !strstr(q->filter, "died"))
			check_order(session, q, r);
		compare_cut(session, q, r);
	}
	answer_release(&plain);
	answer_release(&whole);
	return rows;
}

Test(query_timeline, has_in_each_step_what_a_table_has_at_its_instant)
{
	static const char *const sources[] = {"live", "live", "live", "allocated", "freed"};
	static const char *const keys[][2] = {
		{"func", "leaf.func"},
		{"file,line", "leaf.file,leaf.line"},
		{"class", "leaf.class"},
		{"caller.func", "caller.func"},
		{"func,caller2.func", "func,caller2.func"},
		{"module,thread", "module,thread"},
		{"size", "size"},
		{"api,root.func", "api,root.func"},
		{"stack", "stack"},
		{"thread,type", "thread,type"},
	};
	size_t rows = 0;
	for (uint64_t seed = 1; seed <= PROFILE_COUNT; seed++) {
		struct random_query m = {.random = seed * 104729};
		struct query_session *session = open_session(seed);
		for (size_t i = 0; i < QUERIES_EACH; i++) {
			const char *const *by =
				keys[random_below(&m.random, sizeof keys / sizeof *keys)];
			const char *source =
				sources[random_below(&m.random, sizeof sources / sizeof *sources)];
			unsigned points = 1 + (unsigned)random_below(&m.random, 12);
			random_filter(&m);
			const struct question q = {.source = source,
						   .filter = m.text,
						   .by = by[0],
						   .table = by[1],
						   .points = points};
			rows += check(session, &q);
		}
		query_session_free(session);
	}
	cr_assert_gt(rows, 5000);
}
