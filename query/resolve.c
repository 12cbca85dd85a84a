/*
 * From syntax tree to plan: populations and instants, which stage acts on what, keys,
 * columns, and what must be computed for them.
 *
 * Choices that the language leaves open are made here:
 *   - without `by`, tables have one row per function; an assertion alone needs only the sum
 *   - columns: self,total,count,share where keys are of frames, total,count,share else; in diff
 *     and growth a,b,delta take the place of total
 *   - `where` filters allocations before `by` and rows after it, and rows too if it names a
 *     column
 *   - `as folded` means stacks, and other formats other views (resolve_format.c)
 *   - `hist` of a field is of allocations, of a column of the rows that a table would have
 */
#include "config.h"

#include "query/resolve_priv.h"

#include <string.h>

#include "query/parse.h"

/* ---- sources -------------------------------------------------------------------------- */

/* The queries that this one refines, oldest first. */
static enum neap_err collect_queries(struct plan *pl, struct plan_pointers *chain)
{
	size_t i = pl->statement_idx;
	if (i >= pl->script->statement_count || pl->script->statements[i].is_let)
		return query_fail(pl->error, ERR_USAGE, (struct ast_span){0, 0},
				  "there is no query to run");
	const struct ast_query *q = &pl->script->statements[i].query;
	size_t first = i;
	while (q->head == HEAD_REFINE) {
		while (first-- > 0 && pl->script->statements[first].is_let)
			;
		if (first == SIZE_MAX) {
			query_fail(pl->error, ERR_USAGE, q->span, "there is no view to refine");
			return query_fail_help(pl->error, "begin with a population: live, peak, "
							  "leaked, allocated, ...");
		}
		q = &pl->script->statements[first].query;
	}
	for (; first <= i; first++) {
		const struct ast_statement *st = &pl->script->statements[first];
		if (!st->is_let && !plan_append(pl, chain, &st->query))
			return query_no_memory(pl->error);
	}
	return NEAP_OK;
}

static struct query_file *named_file(const struct plan *pl, size_t i)
{
	return i < pl->session->named_count ? pl->session->files[i] : NULL;
}

/*
 * Which files the sides of a diff mean if they do not say: with one population, the first and
 * the second; with two, the first, or both in order if there are two.  `diff peak of OLD` is
 * OLD against the first.
 */
static enum neap_err resolve_diff(struct plan *pl, const struct ast_query *q)
{
	struct ast_source b = q->has_b ? q->b : q->a;
	struct query_file *first = named_file(pl, 0), *second = named_file(pl, 1);
	if (!q->has_b && q->a.has_file) {
		b.has_file = false;
		second = first;
	} else if (!q->has_b && !second) {
		query_fail(pl->error, ERR_USAGE, q->span,
			   "diff of one population needs two profiles");
		return query_fail_help(pl->error, "give two files, or two instants: diff live at "
						  "10%%, live at 90%%");
	} else if (!second || (q->has_b && (q->a.has_file || q->b.has_file))) {
		second = first;
	}
	const char *a_text, *b_text;
	enum neap_err code = resolve_side(pl, &q->a, first, &pl->sides[0], &a_text);
	if (!code)
		code = resolve_side(pl, &b, second, &pl->sides[1], &b_text);
	if (code)
		return code;
	pl->side_count = 2;
	pl->is_two_files = pl->sides[0].file != pl->sides[1].file;
	if (pl->is_two_files)
		pl->population =
			plan_printf(pl, "%s of %s, minus %s of %s", b_text, pl->sides[1].file->path,
				    a_text, pl->sides[0].file->path);
	else
		pl->population = plan_printf(pl, "%s, minus %s", b_text, a_text);
	return pl->population ? NEAP_OK : query_no_memory(pl->error);
}

/* Live at the end of the window minus live at its start. */
static void split_growth(struct plan *pl)
{
	struct plan_side *a = &pl->sides[0], *b = &pl->sides[1];
	*b = *a;
	pl->query_is_growth = true;
	a->pop = b->pop = POP_LIVE;
	a->window = (struct graph_window){0, b->window.from};
	b->window = (struct graph_window){0, b->window.to};
	a->instant_ns = a->seconds_ns = graph_snap_time(a->file->g, a->window.to);
	b->instant_ns = b->seconds_ns = graph_snap_time(b->file->g, b->window.to);
	pl->side_count = 2;
}

static enum neap_err resolve_head(struct plan *pl, const struct ast_query *q)
{
	pl->is_signed = q->head == HEAD_DIFF || q->a.pop == POP_GROWTH;
	if (q->head == HEAD_DIFF)
		return resolve_diff(pl, q);
	pl->side_count = 1;
	enum neap_err code =
		resolve_side(pl, &q->a, named_file(pl, 0), &pl->sides[0], &pl->population);
	if (!code && q->a.pop == POP_GROWTH)
		split_growth(pl);
	return code;
}

/* ---- stages ------------------------------------------------------------------------------- */

struct stages { /* the last one of each that counts */
	const struct ast_stage *select, *percent;
};

/* Conditions that must all hold are steps of their own: each has less left to look at. */
static enum neap_err add_filter(struct plan *pl, const struct ast_expr *x)
{
	if (x->kind != EXPR_AND)
		return plan_append(pl, &pl->filters, x) ? NEAP_OK : query_no_memory(pl->error);
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < x->item_count; i++)
		code = add_filter(pl, x->items[i]);
	return code;
}

static enum neap_err add_stage(struct plan *pl, const struct ast_stage *stage, struct stages *found)
{
	bool is_added = true;
	switch (stage->kind) {
	case STAGE_WHERE:
		if (pl->has_by || resolve_mentions_column(stage->expr))
			is_added = plan_append(pl, &pl->row_stages, stage);
		else
			return add_filter(pl, stage->expr);
		break;
	case STAGE_BY:
		return resolve_by(pl, stage);
	case STAGE_SORT:
	case STAGE_TOP:
	case STAGE_BOTTOM:
	case STAGE_LIMIT:
	case STAGE_MIN:
		is_added = plan_append(pl, &pl->row_stages, stage);
		break;
	case STAGE_HIDE:
	case STAGE_ZOOM:
	case STAGE_TRIM:
	case STAGE_COLLAPSE:
		is_added = plan_append(pl, &pl->transforms, stage);
		break;
	case STAGE_SELECT:
		found->select = stage;
		break;
	case STAGE_PERCENT:
		found->percent = stage;
		break;
	case STAGE_VIEW:
		pl->view_stage = stage;
		pl->stages_before_view = pl->row_stages.count;
		break;
	case STAGE_AS:
		if (pl->as_stage && plan_note(pl, "of two formats only the last one is written"))
			return pl->error->code;
		pl->as_stage = stage;
		break;
	case STAGE_ASSERT:
		is_added = plan_append(pl, &pl->asserts, stage);
		break;
	}
	return is_added ? NEAP_OK : query_no_memory(pl->error);
}

/* Rows of a timeline have sums only. */
static enum neap_err check_timeline(struct plan *pl)
{
	static const enum ast_column sums[] = {COL_SELF,  COL_TOTAL, COL_COUNT, COL_ALLOCS,
					       COL_FREES, COL_TEMP,  COL_AVG,   COL_SHARE,
					       COL_DELTA, COL_A,     COL_B};
	if (pl->view != VIEW_TIMELINE)
		return NEAP_OK;
	for (size_t i = 0; i < pl->column_count; i++) {
		bool is_sum = pl->columns[i].is_key || pl->columns[i].is_hidden;
		for (size_t k = 0; !is_sum && k < sizeof sums / sizeof sums[0]; k++)
			is_sum = pl->columns[i].column == sums[k];
		if (!is_sum)
			return query_fail(pl->error, ERR_USAGE, pl->view_stage->span,
					  "a timeline has no column '%s'",
					  vocab_columns.words[pl->columns[i].column].word);
	}
	if (pl->row_stages.count && !pl->has_by)
		return plan_note(pl, "without 'by' a timeline has one value at each time: stages "
				     "on rows have no effect");
	return NEAP_OK;
}

/* Its classes too are chosen by sums. */
static enum neap_err check_timeline_stages(struct plan *pl)
{
	if (pl->view != VIEW_TIMELINE || (!pl->needs_extremes && !pl->needs_quantiles))
		return NEAP_OK;
	const struct ast_stage *stage = pl->row_stages.items[0];
	query_fail(pl->error, ERR_USAGE, stage->span,
		   "what a timeline shows can be chosen by sums only");
	return query_fail_help(pl->error, "columns that are sums: total, count, allocs, frees");
}

/* Stages on rows come before these are counted. */
enum neap_err plan_fail_rows(struct plan *pl, const struct ast_text *word)
{
	return query_fail(pl->error, ERR_USAGE, word->span,
			  "'rows' counts rows in buckets: a row has no such number");
}

static enum neap_err check_row_stage(struct plan *pl, const struct ast_stage *stage)
{
	enum neap_err code = NEAP_OK;
	if (stage->kind == STAGE_WHERE)
		code = resolve_expr(pl, stage->expr, OF_ROWS);
	for (size_t i = 0; !code && i < stage->col_count; i++) {
		struct plan_column c;
		code = plan_column_of(pl, &stage->cols[i].word, stage->cols[i].column, &c);
		if (!code && !c.is_key && c.column == COL_ROWS)
			return plan_fail_rows(pl, &stage->cols[i].word);
		if (!code && !c.is_key)
			plan_needs(pl, c.column);
	}
	return code;
}

static enum neap_err check_conditions(struct plan *pl)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < pl->filters.count; i++)
		code = resolve_expr(pl, pl->filters.items[i], OF_BLOCKS);
	for (size_t i = 0; !code && i < pl->transforms.count; i++) {
		const struct ast_stage *stage = pl->transforms.items[i];
		if (stage->has_step)
			code = resolve_step(pl, &stage->step);
	}
	for (size_t i = 0; !code && i < pl->row_stages.count; i++)
		code = check_row_stage(pl, pl->row_stages.items[i]);
	memcpy(pl->has_rows_of, pl->needs_measure, sizeof pl->has_rows_of);
	for (size_t i = 0; !code && i < pl->asserts.count; i++) {
		const struct ast_stage *stage = pl->asserts.items[i];
		code = resolve_expr(pl, stage->expr, OF_TOTALS);
	}
	return code;
}

/* ---- what is known to be missing ------------------------------------------------------------ */

static enum neap_err note_losses(struct plan *pl, const struct query_file *f)
{
	const struct profile *p = f->p;
	enum neap_err code = NEAP_OK;
	if (p->damage.text[0]) {
		pl->is_incomplete = true;
		code = plan_note(pl, "%s: %s", f->path, p->damage.text);
	}
	for (int d = 0; !code && d < DROP_COUNT; d++) {
		if (!p->drops[d])
			continue;
		pl->is_incomplete = true;
		code = plan_note(pl, "%s: %s: %ju", f->path,
				 profile_drop_meaning((enum profile_drop)d),
				 (uintmax_t)p->drops[d]);
	}
	if (!code && p->run.sample_bytes && !p->has_source)
		code = plan_note(pl, "%s: sampled every %ju bytes; numbers are of the samples",
				 f->path, (uintmax_t)p->run.sample_bytes);
	return code;
}

static enum neap_err build(struct plan *pl)
{
	struct plan_pointers chain = {0};
	struct stages found = {0};
	enum neap_err code = collect_queries(pl, &chain);
	if (code)
		return code;
	pl->query = chain.items[chain.count - 1];
	code = resolve_head(pl, chain.items[0]);
	for (size_t i = 0; !code && i < pl->side_count; i++)
		code = note_losses(pl, pl->sides[i].file);
	for (size_t i = 0; !code && i < pl->side_count; i++)
		code = known_note(pl, pl->sides[i].file);
	for (size_t i = 0; !code && i < chain.count; i++) {
		const struct ast_query *q = chain.items[i];
		if (q->filter)
			code = add_filter(pl, q->filter);
		for (size_t k = 0; !code && k < q->stage_count; k++)
			code = add_stage(pl, &q->stages[k], &found);
	}
	if (!code)
		code = resolve_view(pl);
	pl->is_percent_all = found.percent && !found.percent->is_selection;
	pl->needs_measure[MEASURE_MAIN] = true;
	if (!code)
		code = resolve_columns(pl, found.select);
	if (!code)
		code = check_timeline(pl);
	if (!code)
		code = known_check(pl);
	if (!code)
		code = check_conditions(pl);
	return code ? code : check_timeline_stages(pl);
}

enum neap_err plan_build(struct query_session *s, const struct ast_script *script,
			 size_t statement_idx, struct plan *out, struct query_error *error)
{
	*error = (struct query_error){.code = NEAP_OK};
	*out = (struct plan){
		.session = s,
		.script = script,
		.statement_idx = statement_idx,
		.error = error,
	};
	return build(out);
}
