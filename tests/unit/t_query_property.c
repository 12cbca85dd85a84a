/* Random queries on random profiles: query/ against query_ref.c. */
#include "config.h"

#include "query/query.h"

#include "src/base/mem.h"
#include "tests/unit/query_random.h"
#include "tests/unit/query_ref.h"
#include "tests/unit/random_world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROFILE_COUNT      40u
#define QUERIES_EACH       120u
#define RANDOM_QUERY_BYTES 1024

/* ---- comparing --------------------------------------------------------------------------------- */

struct subject {
	struct query_session *session;
	struct profile *p[2];
	struct graph *g[2];
	const char *text;
	uint64_t seed;
	const struct ast_query *query;
	struct query_result *r;
	struct ref_side side[2];
	size_t side_count;
	struct ref_question question;
	struct ref_table table[2][5]; /* by measure: main, allocs, frees, temp, peak */
	uint64_t window_ns[2];
	size_t compared; /* rows */
};

static void fail(const struct subject *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
static void fail(const struct subject *s, const char *fmt, ...)
{
	va_list ap;
	fprintf(stderr, "seed %ju: %s\n", (uintmax_t)s->seed, s->text);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	cr_assert_fail("the query and the reference differ");
	abort();
}

static snap_id snap_at(const struct profile *p, uint64_t ns)
{
	snap_id at = 0;
	for (snap_id s = 1; s <= p->snapshot_count; s++) {
		if (p->snapshots[s - 1].time_ns <= ns)
			at = s;
	}
	return at;
}

static uint64_t end_of(const struct profile *p)
{
	return p->snapshot_count ? p->snapshots[p->snapshot_count - 1].time_ns : 0;
}

static snap_id instant(const struct profile *p, const struct ast_time *t)
{
	uint64_t ns = 0;
	if (t->base == TIME_END)
		ns = end_of(p);
	else if (t->base == TIME_DURATION)
		ns = (uint64_t)t->quantity.value;
	else if (t->base == TIME_PERCENT)
		ns = (uint64_t)((double)end_of(p) * t->quantity.number / 100);
	if (t->offset_ns < 0 && ns < (uint64_t)-t->offset_ns)
		ns = 0;
	else
		ns += (uint64_t)t->offset_ns;
	return snap_at(p, ns);
}

/* One source as sides; growth becomes two. */
static void add_sides(struct subject *s, const struct ast_source *src, const struct profile *p,
		      const struct graph *g)
{
	struct ref_side side = {
		.p = p, .pop = src->pop, .is_wrapper = random_is_wrapper, .type = random_type};
	side.window = (struct graph_window){0, (snap_id)p->snapshot_count};
	if (src->has_at)
		side.window.to = instant(p, &src->at);
	if (src->has_in && src->in.has_from)
		side.window.from = instant(p, &src->in.from);
	if (src->has_in && src->in.has_to)
		side.window.to = instant(p, &src->in.to);
	if (src->pop == POP_PEAK) {
		side.window.to = graph_peak(g).snap;
		side.instant_ns = graph_peak(g).time_ns;
	} else {
		side.instant_ns = graph_snap_time(g, side.window.to);
	}
	if (src->pop == POP_GROWTH) {
		struct ref_side start = side;
		start.pop = side.pop = POP_LIVE;
		start.window = (struct graph_window){0, side.window.from};
		start.instant_ns = graph_snap_time(g, start.window.to);
		side.window.from = 0;
		s->side[s->side_count++] = start;
	}
	s->side[s->side_count++] = side;
}

static const struct ast_stage *find_stage(const struct ast_query *q, enum ast_stage_kind kind)
{
	for (size_t i = 0; i < q->stage_count; i++) {
		if (q->stages[i].kind == kind)
			return &q->stages[i];
	}
	return NULL;
}

static const struct ast_key func_key = {.kind = KEY_FIELD, .field = FIELD_FUNC};

static bool has_block_key(const struct ast_stage *by)
{
	for (size_t i = 0; by && i < by->key_count; i++) {
		const struct ast_key *k = &by->keys[i];
		bool is_frame = k->kind == KEY_CLASS ||
				(k->kind == KEY_FIELD &&
				 (k->field == FIELD_FUNC || k->field == FIELD_FILE ||
				  k->field == FIELD_LINE || k->field == FIELD_MODULE));
		if (!is_frame || k->quantifier.of != QUANT_DEFAULT)
			return true;
	}
	return false;
}

static void make_question(struct subject *s)
{
	const struct ast_stage *by = find_stage(s->query, STAGE_BY);
	const struct ast_stage *view = find_stage(s->query, STAGE_VIEW);
	struct ref_question *q = &s->question;
	*q = (struct ref_question){.query = s->query, .keys = &func_key, .key_count = 1};
	if (by) {
		q->keys = by->keys;
		q->key_count = by->key_count;
	}
	q->line_is_number = q->key_count == 2 && q->keys[1].field == FIELD_LINE &&
			    q->keys[0].field == FIELD_FILE;
	q->stacks_by_name = s->p[1] && s->query->head == HEAD_DIFF;
	q->view = has_block_key(by) ? REF_TUPLES : REF_FRAME_KEYS;
	if (view) {
		bool is_up = view->view == VIEW_CALLERS || view->is_inverted;
		q->view = is_up ? REF_INVERTED : REF_TREE;
		q->step = view->has_step ? &view->step : NULL;
	}
}

static void answer(struct subject *s)
{
	static const enum graph_pop pops[] = {POP_COUNT, POP_ALLOCATED, POP_FREED, POP_TEMPORARY,
					      POP_PEAK};
	for (size_t side = 0; side < s->side_count; side++) {
		for (size_t m = 0; m < 5; m++) {
			struct ref_side at = s->side[side];
			if (m)
				at.pop = pops[m];
			if (at.pop == POP_PEAK) {
				const struct graph *g = s->g[at.p == s->p[1] && s->p[1]];
				at.window.to = graph_peak(g).snap;
				at.instant_ns = graph_peak(g).time_ns;
			}
			ref_answer(&s->question, &at, &s->table[side][m]);
		}
		struct graph_window w = s->side[side].window;
		const struct profile *p = s->side[side].p;
		uint64_t from = w.from ? p->snapshots[w.from - 1].time_ns : 0;
		uint64_t to = w.to ? p->snapshots[w.to - 1].time_ns : 0;
		s->window_ns[side] = to - from;
	}
}

/* The key of a result row as the reference writes it. */
static void row_key(const struct subject *s, size_t row, char *to, size_t cap)
{
	const struct query_result *r = s->r;
	size_t used = 0;
	for (size_t i = 0, k = 0; i < r->column_count; i++) {
		const struct result_cell *c = &result_cells(r, row)[i];
		if (!r->columns[i].is_key)
			continue;
		used += (size_t)snprintf(to + used, cap - used, "%s", k++ ? "|" : "");
		if (!strcmp(r->columns[i].word, "stack") && r->graph) {
			for (uint32_t f = 0; f < result_row(r, row).frame_count; f++) {
				struct graph_frame at =
					graph_entry(r->graph, result_row(r, row).frames[f]);
				char name[96];
				snprintf(name, sizeof name, "%s", at.name ? at.name : "");
				if (at.kind == FRAME_ADDRESS && !at.module_path)
					snprintf(name, sizeof name, "0x%" PRIx64, at.pc);
				else if (at.kind == FRAME_ADDRESS)
					snprintf(name, sizeof name, "%s+0x%" PRIx64,
						 strrchr(at.module_path, '/') + 1, at.pc);
				else if (at.kind != FRAME_NAMED)
					snprintf(name, sizeof name, "%s",
						 at.kind == FRAME_SIGNAL      ? "[signal]"
						 : at.kind == FRAME_TRUNCATED ? "[truncated]"
									      : "[no stack]");
				used += (size_t)snprintf(
					to + used, cap - used, "%s%s@%s:%u", f ? ";" : "", name,
					at.line && at.file_path ? at.file_path : "", at.line);
			}
		} else if (c->is_unknown) {
			used += (size_t)snprintf(to + used, cap - used, "?");
		} else if (r->columns[i].type == RESULT_TEXT) {
			used += (size_t)snprintf(to + used, cap - used, "%s", c->text);
		} else {
			used += (size_t)snprintf(to + used, cap - used, "%" PRId64, c->value);
		}
		cr_assert_lt(used, cap);
	}
}

#define KEY_BYTES 8192

/* In trees: the keys on the way from the root. */
static void full_key(const struct subject *s, size_t row, char *to)
{
	const struct query_result *r = s->r;
	char one[KEY_BYTES];
	*to = 0;
	for (size_t at = row;; at = result_row(r, at).parent) {
		row_key(s, at, one, sizeof one);
		size_t bytes = strlen(one), used = strlen(to);
		cr_assert_lt(bytes + used + 2, KEY_BYTES);
		memmove(to + bytes + (used > 0), to, used + 1);
		memcpy(to, one, bytes);
		if (used)
			to[bytes] = '\n';
		if (result_row(r, at).parent == UINT32_MAX)
			return;
	}
}

static const struct result_cell *cell(const struct subject *s, const struct result_cell *cells,
				      const char *word)
{
	for (size_t i = 0; i < s->r->column_count; i++) {
		if (!strcmp(s->r->columns[i].word, word))
			return &cells[i];
	}
	cr_assert_fail("no column %s", word);
	return NULL;
}

static const struct ref_row nothing = {.key = NULL, .first_ns = UINT64_MAX};

/* One side's value of a column; false: unknown. */
static bool ref_value(const struct subject *s, size_t side, const struct ref_row *const rows[5],
		      const char *word, double *out)
{
	const struct ref_row *r = rows[0];
	uint64_t ns = 0;
	*out = 0;
	if (!strcmp(word, "self"))
		*out = (double)r->self.bytes;
	else if (!strcmp(word, "total"))
		*out = (double)r->total.bytes;
	else if (!strcmp(word, "count"))
		*out = (double)r->total.blocks;
	else if (!strcmp(word, "allocs"))
		*out = (double)rows[1]->total.blocks;
	else if (!strcmp(word, "frees"))
		*out = (double)rows[2]->total.blocks;
	else if (!strcmp(word, "temp"))
		*out = (double)rows[3]->total.blocks;
	else if (!strcmp(word, "peak"))
		*out = (double)rows[4]->total.bytes;
	else if (!strcmp(word, "max"))
		*out = (double)r->max_bytes;
	else if (!strcmp(word, "rate")) {
		*out = s->window_ns[side]
			       ? (double)rows[1]->total.bytes * 1e9 / (double)s->window_ns[side]
			       : 0;
		return s->window_ns[side];
	} else if (!strcmp(word, "avg")) {
		*out = r->total.blocks > 0 ? (double)(r->total.bytes / r->total.blocks) : 0;
		return r->total.blocks > 0;
	} else if (!strcmp(word, "p50") || !strcmp(word, "p99")) {
		bool is_known = ref_quantile(r, word[1] == '5' ? 50 : 99, &ns);
		*out = (double)ns;
		return is_known;
	} else if (!strcmp(word, "first") || !strcmp(word, "last")) {
		*out = (double)(*word == 'f' ? r->first_ns : r->last_ns);
		return r->first_ns <= r->last_ns;
	} else {
		cr_assert_fail("the reference has no column %s", word);
	}
	return true;
}

static double share_base(const struct subject *s)
{
	bool is_all = find_stage(s->query, STAGE_PERCENT);
	double base = 0;
	for (size_t side = 0; side < s->side_count; side++) {
		const struct ref_table *t = &s->table[side][0];
		double bytes = (double)(is_all ? t->all.bytes : t->totals.total.bytes);
		base = side + 1 < s->side_count ? -bytes : base + bytes;
	}
	return base;
}

static void compare_cells(const struct subject *s, const struct result_cell *cells,
			  const struct ref_row *const rows[2][5], const char *key)
{
	static const char *const columns[] = {"self", "total", "count", "allocs", "frees",
					      "temp", "avg",   "max",   "p50",    "p99",
					      "peak", "rate",  "first", "last"};
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		const char *word = columns[i];
		const struct result_cell *got = cell(s, cells, word);
		double a = 0, b = 0, want;
		bool a_is_known = true;
		if (s->side_count == 2)
			a_is_known = ref_value(s, 0, rows[0], word, &a);
		bool b_is_known =
			ref_value(s, s->side_count - 1, rows[s->side_count - 1], word, &b);
		bool is_sum = strcmp(word, "p50") && strcmp(word, "p99") && strcmp(word, "first") &&
			      strcmp(word, "last") && strcmp(word, "rate");
		bool is_known = (a_is_known && b_is_known) || (s->side_count == 2 && is_sum);
		want = b - a;
		if (got->is_unknown != !is_known)
			fail(s, "%s of '%s' is %s", word, key, is_known ? "unknown" : "known");
		double value = strcmp(word, "rate") ? (double)got->value : got->number;
		double slack = strcmp(word, "rate") ? 0 : 1e-6 * (want < 0 ? -want : want);
		if (is_known && (value < want - slack || value > want + slack))
			fail(s, "%s of '%s' is %.3f instead of %.3f", word, key, value, want);
	}
	double base = share_base(s), total = (double)cell(s, cells, "total")->value;
	const struct result_cell *share = cell(s, cells, "share");
	if (share->is_unknown != (base == 0))
		fail(s, "share of '%s'", key);
	double wrong = base != 0 ? share->number - total / base : 0;
	if (wrong > 1e-9 || wrong < -1e-9)
		fail(s, "share of '%s' is %f instead of %f", key, share->number, total / base);
}

/* Of one measure; times: rates over windows of different lengths are no less different. */
static bool has_measure(const struct subject *s, const struct ref_row *const rows[2][5], size_t m)
{
	const struct ref_row *b = rows[s->side_count - 1][m];
	struct graph_sum self = b->self, total = b->total;
	bool is_rate = m == 1 && s->window_ns[0] != s->window_ns[1];
	bool is_something = self.blocks || self.bytes || total.blocks || total.bytes;
	if (s->side_count == 1)
		return is_something;
	const struct ref_row *a = rows[0][m];
	if (is_rate)
		return is_something || a->total.blocks || a->total.bytes;
	return self.blocks != a->self.blocks || self.bytes != a->self.bytes ||
	       total.blocks != a->total.blocks || total.bytes != a->total.bytes;
}

/* Of any column: all are selected. */
static bool has_values(const struct subject *s, const struct ref_row *const rows[2][5])
{
	bool has_any = false;
	for (size_t m = 0; m < 5; m++)
		has_any = has_any || has_measure(s, rows, m);
	return has_any;
}

static void rows_of(const struct subject *s, const char *key, const struct ref_row *rows[2][5])
{
	for (size_t side = 0; side < s->side_count; side++) {
		for (size_t m = 0; m < 5; m++) {
			const struct ref_row *r = ref_find(&s->table[side][m], key);
			rows[side][m] = r ? r : &nothing;
		}
	}
}

/* Is a row of one of the first `count` tables called so? */
static bool is_listed(const struct subject *s, size_t count, const char *key)
{
	for (size_t t = 0; t < count; t++) {
		if (ref_find(&s->table[t / 5][t % 5], key))
			return true;
	}
	return false;
}

static size_t count_expected(const struct subject *s)
{
	size_t count = 0;
	for (size_t t = 0; t < 5 * s->side_count; t++) {
		const struct ref_table *table = &s->table[t / 5][t % 5];
		for (size_t i = 0; i < table->count; i++) {
			const struct ref_row *rows[2][5];
			rows_of(s, table->rows[i].key, rows);
			count += !is_listed(s, t, table->rows[i].key) && has_values(s, rows);
		}
	}
	return count;
}

/* Largest self first, then largest total, then by the first key. */
static void check_order(const struct subject *s)
{
	const struct query_result *r = s->r;
	for (size_t i = 1; i < r->row_count; i++) {
		const struct result_cell *a = r->cells + (i - 1) * r->column_count;
		const struct result_cell *b = a + r->column_count;
		int64_t self = cell(s, a, "self")->value - cell(s, b, "self")->value;
		int64_t total = cell(s, a, "total")->value - cell(s, b, "total")->value;
		if (self < 0 || (!self && total < 0))
			fail(s, "row %zu is out of order", i);
		if (!self && !total && r->columns[0].type == RESULT_TEXT && !a->is_unknown &&
		    !b->is_unknown && strcmp(a->text, b->text) > 0)
			fail(s, "row %zu is out of order by name", i);
	}
}

static void compare(struct subject *s)
{
	const struct query_result *r = s->r;
	char key[KEY_BYTES];
	for (size_t row = 0; row < r->row_count; row++) {
		const struct ref_row *rows[2][5];
		cr_assert_eq(result_row(r, row).kind, ROW_PLAIN);
		full_key(s, row, key);
		rows_of(s, key, rows);
		if (!has_values(s, rows))
			fail(s, "row '%s' should not be there", key);
		compare_cells(s, result_cells(r, row), rows, key);
	}
	size_t expected = count_expected(s);
	if (expected != r->row_count)
		fail(s, "%zu rows instead of %zu", r->row_count, expected);
	s->compared += expected;
	if (s->question.view == REF_FRAME_KEYS)
		check_order(s);
	const struct ref_row *totals[2][5];
	for (size_t side = 0; side < s->side_count; side++) {
		for (size_t m = 0; m < 5; m++)
			totals[side][m] = &s->table[side][m].totals;
	}
	compare_cells(s, r->totals, totals, "total line");
}

static void release_tables(struct subject *s)
{
	for (size_t side = 0; side < s->side_count; side++) {
		for (size_t m = 0; m < 5; m++)
			ref_table_release(&s->table[side][m]);
	}
}

/* ---- the rows that are cut ------------------------------------------------------------------------ */

/* ---- adding up ---------------------------------------------------------------------------------- */

/* Which rows a column's numbers add up over; a and b in trees: what did not change is left out. */
enum adds_up {
	NOWHERE,
	OVER_ALL,
	OVER_TOP
};
static enum adds_up where_it_adds_up(const struct subject *s, const char *word)
{
	bool is_self = !strcmp(word, "self");
	switch (s->question.view) {
	case REF_TUPLES:
	case REF_STACKS:
	case REF_SUM:
		return OVER_ALL;
	case REF_FRAME_KEYS:
		return is_self ? OVER_ALL : NOWHERE;
	case REF_TREE:
	case REF_INVERTED:
		break;
	}
	if (is_self)
		return s->question.view == REF_TREE ? OVER_ALL : NOWHERE;
	return !strcmp(word, "a") || !strcmp(word, "b") ? NOWHERE : OVER_TOP;
}

/* The rows, with the row of those that were cut, add up to the total line. */
static void check_column(const struct subject *s, size_t column)
{
	const struct query_result *r = s->r;
	const char *word = r->columns[column].word;
	enum adds_up where = where_it_adds_up(s, word);
	int64_t sum = 0;
	double real = 0;
	for (size_t row = 0; row < r->row_count && where != NOWHERE; row++) {
		bool is_top = result_row(r, row).parent == UINT32_MAX;
		const struct result_cell *c = &result_cells(r, row)[column];
		sum += is_top || where == OVER_ALL ? c->value : 0;
		real += is_top || where == OVER_ALL ? c->number : 0;
	}
	const struct result_cell *total = &r->totals[column];
	if (where == NOWHERE || total->is_unknown)
		return;
	bool is_real = r->columns[column].type == RESULT_RATE;
	double wrong = real - total->number, size = total->number < 0 ? -wrong : wrong;
	double slack = 1e-6 * (1 + (total->number < 0 ? -total->number : total->number));
	if (is_real ? size > slack || size < -slack : sum != total->value)
		fail(s, "rows add up to %s %jd or %f, not %jd or %f", word, (intmax_t)sum, real,
		     (intmax_t)total->value, total->number);
}

static void check_sums(const struct subject *s)
{
	static const char *const sums[] = {"self", "total", "count", "allocs", "frees", "temp",
					   "peak", "rate",  "a",     "b",      "delta"};
	for (size_t i = 0; i < s->r->column_count; i++) {
		for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
			if (!strcmp(s->r->columns[i].word, sums[k]))
				check_column(s, i);
		}
	}
}

/* ---- rows that are cut ------------------------------------------------------------------------------ */

struct cut_rows {
	char (*keys)[KEY_BYTES];
	size_t count;
};

static bool is_cut(const char *key, void *arg)
{
	const struct cut_rows *cut = arg;
	for (size_t i = 0; i < cut->count; i++) {
		if (!strcmp(cut->keys[i], key))
			return true;
	}
	return false;
}

/* The same question again with `| top 2`: first rows in order, and one row for the others. */
static void compare_cut(struct subject *s, struct query_result *whole)
{
	struct query_result *r = s->r;
	struct cut_rows others_of = {.count = 0};
	size_t kept = whole->row_count < 2 ? whole->row_count : 2;
	others_of.keys = mem_array(whole->row_count, sizeof *others_of.keys);
	s->r = whole;
	for (size_t i = kept; i < whole->row_count; i++)
		full_key(s, i, others_of.keys[others_of.count++]);
	s->r = r;
	for (size_t i = 0; i < kept; i++) {
		for (size_t k = 0; k < r->column_count; k++) {
			const struct result_cell *a = &r->cells[i * r->column_count + k];
			const struct result_cell *b = &whole->cells[i * r->column_count + k];
			if (a->value != b->value || a->is_unknown != b->is_unknown)
				fail(s, "row %zu differs with top 2", i);
		}
	}
	if (r->row_count != kept + (whole->row_count > kept))
		fail(s, "%zu rows with top 2 of %zu", r->row_count, whole->row_count);
	if (r->row_count > kept && s->question.view == REF_FRAME_KEYS) {
		const struct ref_row *others[2][5];
		s->question.is_cut = is_cut;
		s->question.arg = &others_of;
		release_tables(s);
		answer(s);
		for (size_t side = 0; side < s->side_count; side++) {
			for (size_t m = 0; m < 5; m++)
				others[side][m] = &s->table[side][m].other;
		}
		cr_assert_eq(r->rows[kept].kind, ROW_OTHER);
		cr_assert_eq(r->rows[kept].count, whole->row_count - kept);
		/* Rows that changed nothing are no rows, and so are not among the others. */
		if (s->side_count == 1)
			compare_cells(s, r->cells + kept * r->column_count, others, "others");
	}
	mem_free(others_of.keys);
}

/* ---- rows in buckets ------------------------------------------------------------------------------- */

/* 1, 2, 4, ... of sizes and counts; 1, 2, 5, 10, ... of times. */
static int64_t bucket_of(int64_t value, bool is_time)
{
	int64_t magnitude = value < 0 ? -value : value, start = 0, next = 1;
	for (int i = 0; next <= magnitude; i++) {
		start = next;
		next = is_time && i % 3 == 1 ? start / 2 * 5 : 2 * start;
	}
	return value < 0 ? -start : start;
}

/* Where the bucket of a row of the whole table begins; false: the value is unknown. */
static bool whole_bucket(const struct subject *s, const struct query_result *whole, size_t row,
			 const char *word, int64_t *out)
{
	const struct result_cell *c = cell(s, whole->cells + row * whole->column_count, word);
	bool is_time = !strcmp(word, "p50") || !strcmp(word, "p99") || !strcmp(word, "first") ||
		       !strcmp(word, "last");
	*out = c->is_unknown ? 0 : bucket_of(c->value, is_time);
	return !c->is_unknown;
}

/* Rows of the whole table that are in the bucket of a row of the histogram. */
static struct cut_rows rows_in(struct subject *s, struct query_result *whole, const char *word,
			       const struct result_cell *bucket)
{
	struct query_result *r = s->r;
	struct cut_rows in = {.keys = mem_array(whole->row_count, sizeof *in.keys)};
	s->r = whole;
	for (size_t i = 0; i < whole->row_count; i++) {
		int64_t start;
		bool is_known = whole_bucket(s, whole, i, word, &start);
		if (is_known == !bucket->is_unknown && (!is_known || start == bucket->value))
			full_key(s, i, in.keys[in.count++]);
	}
	s->r = r;
	return in;
}

/* The sums of a bucket: blocks once each, from the reference. */
static void compare_bucket(struct subject *s, struct cut_rows *in, size_t row)
{
	const struct ref_row *sums[2][5];
	s->question.is_cut = is_cut;
	s->question.arg = in;
	release_tables(s);
	answer(s);
	for (size_t side = 0; side < s->side_count; side++) {
		for (size_t m = 0; m < 5; m++)
			sums[side][m] = &s->table[side][m].other;
	}
	compare_cells(s, s->r->cells + row * s->r->column_count, sums, "bucket");
}

/* Where no block is in two rows, sums are those of the rows. */
static void compare_plain_bucket(struct subject *s, struct query_result *whole, const char *word,
				 size_t row)
{
	struct query_result *r = s->r;
	static const char *const sums[] = {"self",  "total", "count", "allocs",
					   "frees", "temp",  "peak"};
	const struct result_cell *cells = r->cells + row * r->column_count;
	const struct result_cell *bucket = cell(s, cells, "bucket");
	for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
		int64_t want = 0, start, got = cell(s, cells, sums[k])->value;
		s->r = whole; /* its columns */
		for (size_t i = 0; i < whole->row_count; i++) {
			bool is_known = whole_bucket(s, whole, i, word, &start);
			if (is_known == !bucket->is_unknown &&
			    (!is_known || start == bucket->value))
				want += cell(s, whole->cells + i * whole->column_count, sums[k])
						->value;
		}
		s->r = r;
		if (got != want)
			fail(s, "%s of bucket %zu is not %jd", sums[k], row, (intmax_t)want);
	}
}

static void compare_hist(struct subject *s, struct query_result *whole, const char *word)
{
	const struct query_result *r = s->r;
	int64_t rows = 0, before = INT64_MIN;
	cr_assert_eq(r->view, VIEW_HIST);
	for (size_t i = 0; i < r->row_count; i++) {
		const struct result_cell *cells = r->cells + i * r->column_count;
		const struct result_cell *bucket = cell(s, cells, "bucket");
		struct cut_rows in = rows_in(s, whole, word, bucket);
		int64_t count = cell(s, cells, "rows")->value;
		if (!in.count || count != (int64_t)in.count)
			fail(s, "bucket %zu has %jd rows, not %zu", i, (intmax_t)count, in.count);
		if (i && (bucket->is_unknown || bucket->value <= before))
			fail(s, "bucket %zu is out of order", i);
		before = bucket->is_unknown ? INT64_MIN : bucket->value;
		rows += count;
		/* A side that has none of a row is not listed, and so not in the sums. */
		if (s->question.view == REF_FRAME_KEYS && s->side_count == 1)
			compare_bucket(s, &in, i);
		if (s->question.view == REF_TUPLES)
			compare_plain_bucket(s, whole, word, i);
		mem_free(in.keys);
	}
	if (rows != (int64_t)whole->row_count || cell(s, r->totals, "rows")->value != rows)
		fail(s, "%jd rows in buckets, not %zu", (intmax_t)rows, whole->row_count);
}

/* ---- running ------------------------------------------------------------------------------------ */

static struct query_result *run(const struct subject *s, const struct ast_script *script)
{
	struct query_error error;
	struct query_result *r;
	enum neap_err code = query_run(s->session, script, 0, &r, &error);
	if (code) {
		struct buf b = {0};
		query_error_print(&error, "query", s->text, strlen(s->text), &b);
		cr_assert_fail("seed %ju: %s", (uintmax_t)s->seed, b.data);
	}
	return r;
}

static struct ast_script *parse(const char *text)
{
	struct query_error error;
	struct ast_script *script;
	if (query_parse(text, strlen(text), &script, &error)) {
		struct buf b = {0};
		query_error_print(&error, "query", text, strlen(text), &b);
		cr_assert_fail("%s", b.data);
	}
	return script;
}

/* The same question again with a stage at its end; whole NULL: does it add up? */
static void check_more(struct subject *s, struct query_result *whole, const char *stage,
		       const char *hist_word)
{
	char text[RANDOM_QUERY_BYTES + 256];
	const char *kept = s->text;
	snprintf(text, sizeof text, "%s | %s", s->text, stage);
	struct ast_script *script = parse(text);
	s->r = run(s, script);
	s->text = text;
	if (hist_word)
		compare_hist(s, whole, hist_word);
	else if (whole)
		compare_cut(s, whole);
	if (!hist_word || s->question.view == REF_TUPLES)
		check_sums(s);
	query_result_free(s->r);
	query_script_free(script);
	s->text = kept;
}

static void check_hist(struct subject *s, struct query_result *whole)
{
	static const char *const words[] = {"self", "total", "count", "allocs", "frees",
					    "temp", "avg",   "max",   "p50",    "p99",
					    "peak", "first", "last"};
	const char *word = words[s->compared % (sizeof words / sizeof *words)];
	char stage[256];
	snprintf(stage, sizeof stage, "hist %s | select rows," RANDOM_COLUMNS, word);
	check_more(s, whole, stage, word);
}

static void check(struct subject *s, const char *text)
{
	struct ast_script *script = parse(text);
	const struct ast_query *q = &script->statements[0].query;
	const size_t second = s->p[1] ? 1 : 0;
	s->text = text;
	s->query = q;
	s->side_count = 0;
	add_sides(s, &q->a, s->p[0], s->g[0]);
	if (q->head == HEAD_DIFF)
		add_sides(s, &q->b, s->p[second], s->g[second]);
	make_question(s);
	answer(s);
	struct query_result *whole = run(s, script);
	s->r = whole;
	compare(s);
	check_sums(s);
	check_more(s, NULL, "select frees,total", NULL);
	if (whole->is_signed)
		check_more(s, NULL, "select self,a,b,delta,temp", NULL);
	if (s->question.view == REF_FRAME_KEYS || s->question.view == REF_TUPLES) {
		check_more(s, whole, "top 2", NULL);
		check_hist(s, whole);
	}
	release_tables(s);
	query_result_free(whole);
	query_script_free(script);
}

static void open_profile(struct subject *s, size_t i, const char *path)
{
	const struct graph_options options = {.is_wrapper = random_is_wrapper};
	struct err e = {0};
	cr_assert_eq(query_session_open(s->session, path, &e), NEAP_OK, "%s", e.text);
	cr_assert_eq(profile_open(path, &s->p[i], &e), NEAP_OK, "%s", e.text);
	cr_assert_eq(graph_build(s->p[i], &options, &s->g[i], &e), NEAP_OK, "%s", e.text);
}

static void subject_init(struct subject *s, uint64_t seed, size_t file_count)
{
	const struct query_options options = {.cursor_ns = UINT64_MAX,
					      .is_as_if_large = seed % 2,
					      .is_wrapper = random_is_wrapper,
					      .type_of = random_type_of};
	struct err e = {0};
	*s = (struct subject){.seed = seed};
	cr_assert_eq(query_session_new(&options, &s->session, &e), NEAP_OK, "%s", e.text);
	for (size_t i = 0; i < file_count; i++) {
		char path[256];
		const char *dir = getenv("TMPDIR");
		snprintf(path, sizeof path, "%s/neap-query-%d-%zu", dir ? dir : "/tmp",
			 (int)getpid(), i);
		random_profile(path, seed + 1000 * i);
		open_profile(s, i, path);
		unlink(path);
	}
}

static void subject_release(struct subject *s)
{
	for (size_t i = 0; i < 2; i++) {
		graph_free(s->g[i]);
		profile_free(s->p[i]);
	}
	query_session_free(s->session);
}

/* Every profile with its own queries; returns how many rows were compared. */
static size_t run_all(size_t profile_count, size_t file_count, bool is_diff)
{
	size_t compared = 0;
	for (uint64_t seed = 1; seed <= profile_count; seed++) {
		struct subject s;
		struct random_query m = {.random = seed * 7919 + is_diff};
		subject_init(&s, seed, file_count);
		for (size_t i = 0; i < QUERIES_EACH; i++) {
			random_query(&m, is_diff);
			check(&s, m.text);
		}
		compared += s.compared;
		subject_release(&s);
	}
	return compared;
}

Test(query_property, agrees_with_the_reference_on_random_queries)
{
	cr_assert_gt(run_all(PROFILE_COUNT, 1, false), 20000);
}

Test(query_property, agrees_on_differences_of_two_instants)
{
	cr_assert_gt(run_all(PROFILE_COUNT / 2, 1, true), 10000);
}

Test(query_property, agrees_on_differences_of_two_files)
{
	cr_assert_gt(run_all(PROFILE_COUNT / 2, 2, true), 10000);
}
