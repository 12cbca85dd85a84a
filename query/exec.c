/*
 * A query from plan to result.
 *
 *   1  cells of every population that a column needs, filtered
 *   2  after `by stack`, before a tree: the stages on rows act on stacks, and what they cut
 *      becomes one row beside the tree
 *   3  the space of the view, and where cells are in it
 *   4  the total line, the sums of groups
 *   5  rows, assertions
 */
#include "config.h"

#include "query/exec.h"

#include "query/parse.h"
#include "src/base/both.h"

#include <assert.h>
#include <string.h>

enum neap_err exec_no_memory(struct exec *x)
{
	return plan_no_memory(x->pl);
}

static void release_cells(struct exec *x)
{
	for (size_t side = 0; side < 2; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++)
			cells_release(&x->cells[side][m]);
	}
}

void exec_release(struct exec *x)
{
	sums_release(x);
	space_release(x);
	release_cells(x);
	row_matches_release(x);
	strtab_release(&x->names);
	mem_free(x->row_of);
	where_release(&x->w);
}

/* ---- measures ---------------------------------------------------------------------------- */

/* Each second measure, of both sides. */
struct measures_half {
	struct exec *x;
	bool (*work)(struct exec *x, size_t side, size_t m);
	size_t first;
	bool is_good;
};

static void work_on_half(void *arg)
{
	struct measures_half *h = arg;
	size_t index = 0;
	h->is_good = true;
	for (size_t side = 0; side < h->x->pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			if (h->x->pl->needs_measure[m] && index++ % 2 == h->first)
				h->is_good = h->is_good && h->work(h->x, side, m);
		}
	}
}

#define TWO_THREADS_FROM 100000u /* cohorts */

bool exec_each_measure(struct exec *x, bool (*work)(struct exec *x, size_t side, size_t m))
{
	struct measures_half first = {.x = x, .work = work};
	struct measures_half second = {.x = x, .work = work, .first = 1};
	size_t count = x->pl->sides[0].file->p->cohort_count, measures = 0;
	for (size_t m = 0; m < MEASURE_COUNT; m++)
		measures += x->pl->needs_measure[m] * x->pl->side_count;
	if (measures > 1 && (count >= TWO_THREADS_FROM || frames_as_if_large(x))) {
		both_run(work_on_half, &first, &second);
	} else {
		work_on_half(&first);
		work_on_half(&second);
	}
	return first.is_good && second.is_good;
}

/* ---- cells --------------------------------------------------------------------------- */

/* The side with the population of a measure. */
static struct plan_side measure_side(const struct plan *pl, const struct plan_side *side, size_t m)
{
	static const enum graph_pop pops[] = {
		[MEASURE_ALLOCS] = POP_ALLOCATED, [MEASURE_FREES] = POP_FREED,
		[MEASURE_TEMP] = POP_TEMPORARY,   [MEASURE_PEAK] = POP_PEAK,
		[MEASURE_LIVE] = POP_LIVE,
	};
	struct plan_side s = *side;
	if (m == MEASURE_MAIN)
		return s;
	s.pop = pops[m];
	if (s.pop == POP_PEAK)
		s.instant_ns = graph_peak(s.file->g).time_ns;
	/* The peak is an instant of the whole run; a file of samples tells of all of it. */
	if (pl->needs_samples && side->pop == POP_PEAK && s.pop != POP_PEAK) {
		s.window = graph_whole_run(s.file->g);
		s.instant_ns = graph_snap_time(s.file->g, s.window.to);
	}
	if (pl->needs_samples && s.pop == POP_LIVE)
		s.instant_ns = graph_snap_time(s.file->g, s.window.to);
	return s;
}

/* The stacks are there: nothing but memory can be missing. */
static bool load(struct exec *x, size_t side, size_t m)
{
	const struct plan *pl = x->pl;
	struct err e = {0};
	struct plan_side s = measure_side(pl, &pl->sides[side], m);
	struct cells *c = &x->cells[side][m];
	if (cells_load(&s, cells_by_death(pl, s.pop), c, &e))
		return false;
	if (m == MEASURE_MAIN)
		x->all[side] = cells_sum(c);
	return true;
}

/* Whole populations need none, unless rows are stacks or parts of them. */
static bool is_of_nodes(const struct plan *pl)
{
	bool has_step = pl->view_stage && pl->view_stage->has_step;
	for (size_t k = 0; k < pl->key_count; k++) {
		enum ast_quantifier of = pl->keys[k].frame.of;
		if (pl->keys[k].kind == KEY_STACK || pl->keys[k].field == FIELD_DEPTH ||
		    of == QUANT_CALLER || of == QUANT_ROOT)
			return false;
	}
	return (space_is_of_frames(pl) || space_is_of_tuples(pl)) && !has_step &&
	       !pl->filters.count && !pl->transforms.count;
}

static enum neap_err need_stacks(struct exec *x)
{
	enum neap_err code = NEAP_OK;
	x->is_of_nodes = is_of_nodes(x->pl);
	for (size_t side = 0; !code && !x->is_of_nodes && side < x->pl->side_count; side++)
		code = file_need_stacks(x, x->pl->sides[side].file);
	return code;
}

static enum neap_err filter_all(struct exec *x, const struct ast_expr *filter)
{
	enum neap_err code = NEAP_OK;
	for (size_t side = 0; !code && side < x->pl->side_count; side++) {
		for (size_t m = 0; !code && m < MEASURE_COUNT; m++) {
			if (x->pl->needs_measure[m])
				code = cells_filter(&x->w, &x->cells[side][m], filter);
		}
	}
	return code;
}

static enum neap_err check_cancelled(struct plan *pl)
{
	return plan_is_cancelled(pl) ? plan_no_memory(pl) : NEAP_OK;
}

static enum neap_err load_cells(struct exec *x)
{
	struct plan *pl = x->pl;
	enum neap_err code = need_stacks(x);
	if (!code)
		code = check_cancelled(pl);
	if (!code && !exec_each_measure(x, load))
		code = exec_no_memory(x);
	if (!code)
		code = check_cancelled(pl);
	explain_cells(x, "population %s", pl->population);
	for (size_t i = 0; !code && i < pl->filters.count; i++) {
		const struct ast_expr *f = pl->filters.items[i];
		code = filter_all(x, f);
		explain_cells(x, "where %.*s", (int)f->span.bytes,
			      pl->script->text + f->span.start);
		if (!code)
			code = check_cancelled(pl);
	}
	return code;
}

/* ---- steps ----------------------------------------------------------------------------- */

static enum neap_err find_totals(struct exec *x)
{
	const struct plan *pl = x->pl;
	enum neap_err code = NEAP_OK;
	values_of_cells(x, &x->totals);
	if (pl->needs_quantiles)
		code = quantiles_of_cells(x, &x->totals);
	struct graph_sum base[2] = {x->totals.side[0].total[MEASURE_MAIN],
				    x->totals.side[1].total[MEASURE_MAIN]};
	if (pl->is_percent_all)
		memcpy(base, x->all, sizeof base);
	if (pl->side_count == 2)
		sum_take(&base[1], &base[0]);
	x->base_bytes = base[pl->side_count - 1].bytes;
	return code;
}

static enum neap_err build_space(struct exec *x)
{
	enum neap_err code = space_build(x);
	if (!code && !x->has_cut_stacks)
		code = find_totals(x);
	if (!code && x->pl->view == VIEW_PEEK)
		code = peek_expand(x);
	if (!code && x->pl->view != VIEW_TIMELINE)
		code = sums_build(x);
	return code ? code : check_cancelled(x->pl);
}

/* ---- stages on stacks before a tree ------------------------------------------------------ */

static bool is_tree_view(enum ast_view view)
{
	return view == VIEW_TREE || view == VIEW_CALLERS || view == VIEW_CALLEES ||
	       view == VIEW_FLAME || view == VIEW_PEEK;
}

/* Only cells on the stacks that are left. */
static enum neap_err keep_stacks(struct exec *x, const struct row_list *rows)
{
	uint8_t *wanted = mem_zarray(x->space.group_count, 1);
	bool is_good = wanted;
	for (size_t i = 0; is_good && i < rows->count; i++)
		wanted[rows->groups[i]] = 1;
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		for (size_t m = 0; is_good && m < MEASURE_COUNT; m++) {
			struct cells *c = &x->cells[side][m];
			uint8_t *keep = mem_array(c->count, 1);
			is_good = keep;
			for (size_t i = 0; is_good && i < c->count; i++)
				keep[i] = wanted[x->place[side][m][i]];
			if (is_good)
				cells_keep(c, keep);
			mem_free(keep);
		}
	}
	mem_free(wanted);
	return is_good ? NEAP_OK : exec_no_memory(x);
}

static enum neap_err run_on_stacks(struct exec *x, struct stack_cut *cut)
{
	struct row_list rows = {.count = 0};
	enum neap_err code = build_space(x);
	if (!code)
		code = rows_select(x, &rows);
	cut->count = rows.other_count;
	if (!code)
		code = values_of_set(x, rows.others, rows.other_count, &cut->values);
	if (!code && x->pl->needs_quantiles)
		code = quantiles_of_set(x, rows.others, rows.other_count, &cut->values);
	if (!code)
		code = keep_stacks(x, &rows);
	row_list_release(&rows);
	sums_release(x);
	space_release(x);
	return code;
}

static enum neap_err cut_stacks(struct exec *x, struct stack_cut *cut)
{
	struct plan *pl = x->pl;
	struct plan_key stack = {
		.kind = KEY_STACK, .word = "stack", .type = RESULT_TEXT, .field = FIELD_NONE};
	struct plan kept = *pl;
	pl->keys = &stack;
	pl->key_count = 1;
	pl->view = VIEW_STACKS;
	pl->view_stage = NULL;
	enum neap_err code = run_on_stacks(x, cut);
	pl->keys = kept.keys;
	pl->key_count = kept.key_count;
	pl->view = kept.view;
	pl->view_stage = kept.view_stage;
	x->has_cut_stacks = true;
	return code;
}

enum neap_err gather_cut(struct exec *x, struct gathered *to, const struct stack_cut *cut)
{
	struct result_row row = {
		.kind = ROW_OTHER, .parent = UINT32_MAX, .count = (uint32_t)cut->count};
	return cut->count ? gather_row(x, to, &row, GROUP_NONE, &cut->values) : NEAP_OK;
}

/* ---- results ---------------------------------------------------------------------------------- */

/* Names are checked before anything is counted: they may be errors. */
enum neap_err exec_begin(struct exec *x, struct stack_cut *cut)
{
	const struct plan *pl = x->pl;
	*cut = (struct stack_cut){.count = 0};
	x->poll_mask = frames_as_if_large(x) ? 0 : POLL_ROUNDS - 1;
	enum neap_err code = where_check_names(&x->w);
	if (!code)
		code = load_cells(x);
	if (!code && pl->is_by_stack && is_tree_view(pl->view) && pl->row_stages.count)
		code = cut_stacks(x, cut);
	return code ? code : build_space(x);
}

static enum neap_err gather(struct exec *x, const struct stack_cut *cut, struct gathered *to)
{
	const struct plan *pl = x->pl;
	enum neap_err code = NEAP_OK;
	x->explains_rows = !is_tree_view(pl->view);
	switch (pl->view) {
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES:
	case VIEW_FLAME:
		code = gather_tree(x, to);
		break;
	case VIEW_TIMELINE:
		code = gather_timeline(x, to);
		break;
	case VIEW_SUM:
		code = gather_sum(x, to);
		break;
	case VIEW_TABLE:
	case VIEW_PEEK:
	case VIEW_STACKS:
	case VIEW_HIST:
	case VIEW_SOURCE:
		code = pl->is_hist_of_rows ? gather_hist(x, to) : gather_table(x, to);
		break;
	}
	if (!code)
		code = gather_cut(x, to, cut);
	if (!code && pl->needs_samples)
		code = samples_make(x, to, cut);
	return code;
}

static bool make_columns(struct exec *x)
{
	const struct plan *pl = x->pl;
	struct query_result *r = x->out;
	r->columns = arena_array(&r->arena, pl->column_count + 1, sizeof *r->columns);
	r->totals = arena_array(&r->arena, pl->column_count + 1, sizeof *r->totals);
	if (!r->columns || !r->totals)
		return false;
	r->column_count = pl->column_count;
	for (size_t i = 0; i < pl->column_count; i++) {
		const struct plan_column *c = &pl->columns[i];
		const struct plan_key *k = c->is_key ? &pl->keys[c->key] : NULL;
		const char *word = k ? k->word : vocab_columns.words[c->column].word;
		r->columns[i] = (struct result_column){
			.word = arena_strndup(&r->arena, word, strlen(word)),
			.type = k ? k->type : column_type(c->column),
			.is_key = c->is_key,
			.is_hidden = c->is_hidden,
		};
		r->totals[i] = k ? (struct result_cell){.is_unknown = true}
				 : column_cell(x, &x->totals, c->column);
		if (!r->columns[i].word)
			return false;
	}
	return true;
}

static const char *copy_text(struct query_result *r, const char *s, size_t bytes, bool *is_good)
{
	const char *text = arena_strndup(&r->arena, s, bytes);
	*is_good = *is_good && text;
	return text;
}

static bool make_notes(struct exec *x)
{
	const struct plan *pl = x->pl;
	struct query_result *r = x->out;
	bool is_good = true;
	r->notes = arena_array(&r->arena, pl->note_count + 1, sizeof *r->notes);
	if (!r->notes)
		return false;
	for (size_t i = 0; i < pl->note_count; i++)
		r->notes[r->note_count++] =
			copy_text(r, pl->notes[i], strlen(pl->notes[i]), &is_good);
	return is_good;
}

static const char *canonical_text(struct query_result *r, const struct ast_query *q, bool *is_good)
{
	struct buf text = {0};
	query_canonical(q, &text);
	*is_good = *is_good && !text.has_failed;
	const char *copy = copy_text(r, text.data ? text.data : "", text.count_bytes, is_good);
	buf_release(&text);
	return copy;
}

static const char *question_text(struct query_result *r, const struct ast_query *q, bool *is_good)
{
	struct ast_query kept = *q;
	kept.stages = arena_array(&r->arena, q->stage_count + 1, sizeof *kept.stages);
	kept.stage_count = 0;
	for (size_t i = 0; kept.stages && i < q->stage_count; i++) {
		if (q->stages[i].kind != STAGE_AS)
			kept.stages[kept.stage_count++] = q->stages[i];
	}
	*is_good = *is_good && kept.stages;
	return canonical_text(r, kept.stages ? &kept : q, is_good);
}

static bool make_head(struct exec *x)
{
	const struct plan *pl = x->pl;
	struct query_result *r = x->out;
	bool is_good = true;
	r->canonical = canonical_text(r, pl->query, &is_good);
	r->question = question_text(r, pl->query, &is_good);
	r->view = pl->is_hist_of_rows ? VIEW_HIST : pl->view;
	r->format = pl->format;
	r->is_signed = pl->is_signed;
	r->is_incomplete = pl->is_incomplete;
	r->population = copy_text(r, pl->population, strlen(pl->population), &is_good);
	if (pl->to_file)
		r->to_file = copy_text(r, pl->to_file, strlen(pl->to_file), &is_good);
	r->graph = pl->is_two_files ? NULL : pl->sides[0].file->g;
	return is_good;
}

/* The first assertion that fails is the one to report. */
static enum neap_err check_assertions(struct exec *x)
{
	const struct plan *pl = x->pl;
	struct query_result *r = x->out;
	bool is_good = true;
	r->assertion_holds = true;
	r->has_assertion = pl->asserts.count;
	for (size_t i = 0; i < pl->asserts.count && r->assertion_holds; i++) {
		const struct ast_stage *s = pl->asserts.items[i];
		enum neap_err code = totals_fit(x, s->expr, &r->assertion_holds);
		if (code)
			return code;
		const char *text =
			s->has_message ? s->message.s : pl->script->text + s->expr->span.start;
		size_t bytes = s->has_message ? s->message.bytes : s->expr->span.bytes;
		r->assertion_text = copy_text(r, text, bytes, &is_good);
	}
	return is_good ? NEAP_OK : exec_no_memory(x);
}

enum neap_err exec_make_result(struct exec *x)
{
	if (!make_columns(x) || !make_notes(x) || !make_head(x))
		return exec_no_memory(x);
	return check_assertions(x);
}

/* The result takes over the rows. */
static enum neap_err make_result(struct exec *x, struct gathered *rows)
{
	struct query_result *r = x->out;
	r->rows = rows->rows;
	r->cells = rows->cells;
	r->row_count = rows->row_count;
	r->flat = rows->flat;
	*rows = (struct gathered){.row_count = 0};
	return exec_make_result(x);
}

static enum neap_err fill_result(struct exec *x, const struct stack_cut *cut)
{
	struct gathered rows = {.row_count = 0};
	enum neap_err code = gather(x, cut, &rows);
	if (!code)
		code = make_result(x, &rows);
	if (!code && x->has_no_memory)
		code = exec_no_memory(x);
	mem_free(rows.rows);
	mem_free(rows.cells);
	result_flat_free(rows.flat);
	return code;
}

static enum neap_err answer(struct exec *x, const struct stack_cut *cut, struct query_result **out)
{
	x->out = mem_zalloc(sizeof *x->out);
	x->first_entries = NULL; /* of the result before */
	enum neap_err code = x->out ? fill_result(x, cut) : exec_no_memory(x);
	if (code)
		query_result_free(x->out);
	else
		*out = x->out;
	return code;
}

/* The plan becomes that of another query, which counts the same. */
static void take_stages(struct plan *pl, const struct plan *other)
{
	assert(pl->key_count == other->key_count && pl->column_count == other->column_count &&
	       pl->view == other->view && pl->needs_quantiles == other->needs_quantiles &&
	       !memcmp(pl->needs_measure, other->needs_measure, sizeof pl->needs_measure) &&
	       !is_tree_view(pl->view));
	pl->script = other->script;
	pl->query = other->query;
	pl->row_stages = other->row_stages;
}

/* Plans that differ in their stages on rows only; the first becomes each of the others. */
static enum neap_err run_plans(struct plan *plans, size_t count, struct query_result **out)
{
	struct exec x = {.pl = &plans[0], .w = {.pl = &plans[0]}};
	struct stack_cut cut;
	enum neap_err code = exec_begin(&x, &cut);
	for (size_t i = 0; !code && i < count; i++) {
		if (i)
			take_stages(x.pl, &plans[i]);
		code = answer(&x, &cut, &out[i]);
	}
	exec_release(&x);
	return code;
}

static enum neap_err run_plan(struct plan *pl, struct query_result **out)
{
	return run_plans(pl, 1, out);
}

void query_result_free(struct query_result *r)
{
	if (!r)
		return;
	mem_free(r->rows);
	mem_free(r->cells);
	mem_free(r->samples);
	mem_free(r->sample_sums);
	result_flat_free(r->flat);
	arena_release(&r->arena);
	mem_free(r);
}

enum neap_err query_run(struct query_session *s, const struct ast_script *script,
			size_t statement_idx, struct query_result **out, struct query_error *error)
{
	struct plan pl;
	*out = NULL;
	enum neap_err code = plan_build(s, script, statement_idx, &pl, error);
	if (!code)
		code = run_plan(&pl, out);
	plan_release(&pl);
	return code;
}

enum neap_err query_run_alike(struct query_session *s, struct ast_script *const *scripts,
			      size_t count, struct query_result **out, struct query_error *error)
{
	struct plan *plans = mem_zarray(count, sizeof *plans);
	enum neap_err code = plans ? NEAP_OK : query_no_memory(error);
	size_t built_count = 0;
	memset(out, 0, count * sizeof(struct query_result *));
	while (!code && built_count < count) {
		code = plan_build(s, scripts[built_count], 0, &plans[built_count], error);
		built_count++;
	}
	if (!code)
		code = run_plans(plans, count, out);
	while (built_count)
		plan_release(&plans[--built_count]);
	mem_free(plans);
	for (size_t i = 0; code && i < count; i++) {
		query_result_free(out[i]);
		out[i] = NULL;
	}
	return code;
}

enum neap_err query_explain(struct query_session *s, const struct ast_script *script,
			    size_t statement_idx, struct buf *out, struct query_error *error)
{
	struct plan pl;
	struct query_result *r = NULL;
	enum neap_err code = plan_build(s, script, statement_idx, &pl, error);
	pl.explain = out;
	if (!code) {
		query_canonical(pl.query, out);
		buf_putc(out, '\n');
		code = run_plan(&pl, &r);
	}
	query_result_free(r);
	plan_release(&pl);
	if (!code && out->has_failed)
		code = query_no_memory(error);
	return code;
}
