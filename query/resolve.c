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

#include "query/plan.h"

#include "query/parse.h"

#include <string.h>

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

/* ---- keys ------------------------------------------------------------------------------- */

static enum result_type result_type_of(enum value_type type)
{
	switch (type) {
	case VALUE_NAME:
		return RESULT_TEXT;
	case VALUE_SIZE:
		return RESULT_BYTES;
	case VALUE_COUNT:
		return RESULT_COUNT;
	case VALUE_TIME:
		return RESULT_NS;
	case VALUE_INT:
		return RESULT_NUMBER;
	case VALUE_RATIO:
		return RESULT_RATIO;
	case VALUE_RATE:
		return RESULT_RATE;
	}
	return RESULT_TEXT;
}

static enum neap_err resolve_field_key(struct plan *pl, const struct ast_key *k,
				       struct plan_key *out)
{
	if (k->field >= FIELD_COUNT)
		return query_fail(pl->error, ERR_USAGE, k->span, "a key is missing");
	const struct vocab_word *word = &vocab_fields.words[k->field];
	out->word = word->word;
	out->type = result_type_of(word->type);
	out->is_frame = word->of == OF_FRAME;
	if (k->has_bucket && (out->type == RESULT_TEXT || k->bucket.value <= 0)) {
		query_fail(pl->error, ERR_USAGE, k->span, "'%s' has no slices of this width",
			   word->word);
		return query_fail_help(pl->error, "numbers have: size:4K, lifetime:10ms");
	}
	if (k->field == FIELD_LABEL) {
		out->word = plan_printf(pl, "label.%.*s", (int)k->label.bytes, k->label.s);
		if (!out->word)
			return query_no_memory(pl->error);
	}
	if (k->field == FIELD_LABEL || (k->field == FIELD_TYPE && !plan_knows_types(pl)))
		return plan_note(pl, "the profile knows no %s of allocations",
				 k->field == FIELD_TYPE ? "types" : "labels");
	pl->uses_died = pl->uses_died || k->field == FIELD_DIED;
	pl->uses_lifetime = pl->uses_lifetime || k->field == FIELD_LIFETIME;
	return NEAP_OK;
}

static enum neap_err resolve_key(struct plan *pl, const struct ast_key *k, struct plan_key *out)
{
	*out = (struct plan_key){.kind = k->kind, .field = FIELD_NONE};
	if (k->has_bucket) {
		out->bucket_kind = BUCKET_EVEN;
		out->bucket = k->bucket.value;
	}
	switch (k->kind) {
	case KEY_FIELD:
		out->field = k->field;
		return resolve_field_key(pl, k, out);
	case KEY_STACK:
		out->word = "stack";
		out->type = RESULT_TEXT;
		return NEAP_OK;
	case KEY_CLASS:
		out->word = "class";
		out->type = RESULT_TEXT;
		out->is_frame = true;
		return NEAP_OK;
	case KEY_TIME:
		out->word = "time";
		out->type = RESULT_NS;
		pl->uses_time = true;
		if (!k->has_bucket || k->bucket.value <= 0)
			return query_fail(pl->error, ERR_USAGE, k->span,
					  "say how wide the slices are: time:100ms");
		return NEAP_OK;
	}
	return query_fail(pl->error, ERR_USAGE, k->span, "unknown key");
}

/* line and addr are shown as bare numbers where another key says of what. */
static void find_places(struct plan *pl)
{
	bool has_file = false, has_module = false;
	pl->has_block_key = false;
	for (size_t i = 0; i < pl->key_count; i++) {
		const struct plan_key *k = &pl->keys[i];
		has_file = has_file || (k->kind == KEY_FIELD &&
					(k->field == FIELD_FILE || k->field == FIELD_FUNC));
		has_module = has_module || (k->kind == KEY_FIELD && k->field == FIELD_MODULE);
		pl->has_block_key = pl->has_block_key || !k->is_frame;
	}
	for (size_t i = 0; i < pl->key_count; i++) {
		struct plan_key *k = &pl->keys[i];
		if (k->kind != KEY_FIELD)
			continue;
		k->has_place = k->field == FIELD_LINE ? has_file : has_module;
		if ((k->field == FIELD_LINE || k->field == FIELD_ADDR) && !k->has_place &&
		    !k->bucket_kind)
			k->type = RESULT_TEXT;
	}
}

static enum neap_err resolve_by(struct plan *pl, const struct ast_stage *stage)
{
	if (pl->row_stages.count) {
		query_fail(pl->error, ERR_USAGE, stage->span,
			   "'by' stands after a stage that acts on rows");
		return query_fail_help(pl->error, "put 'by' before sort, top, bottom, limit, min "
						  "and conditions on columns");
	}
	pl->keys = plan_alloc(pl, stage->key_count, sizeof *pl->keys);
	if (!pl->keys)
		return query_no_memory(pl->error);
	pl->key_count = stage->key_count;
	pl->has_by = true;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < stage->key_count; i++)
		code = resolve_key(pl, &stage->keys[i], &pl->keys[i]);
	return code;
}

static enum neap_err set_keys(struct plan *pl, const enum ast_field *fields, size_t count)
{
	struct ast_key k = {.kind = KEY_FIELD};
	pl->keys = plan_alloc(pl, count, sizeof *pl->keys);
	if (!pl->keys)
		return query_no_memory(pl->error);
	pl->key_count = count;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < count; i++) {
		k.field = fields[i];
		code = resolve_key(pl, &k, &pl->keys[i]);
	}
	return code;
}

/* ---- columns ------------------------------------------------------------------------------ */

void plan_needs(struct plan *pl, enum ast_column column)
{
	switch (column) {
	case COL_ALLOCS:
	case COL_RATE:
		pl->needs_measure[MEASURE_ALLOCS] = true;
		break;
	case COL_FREES:
		pl->needs_measure[MEASURE_FREES] = true;
		break;
	case COL_TEMP:
		pl->needs_measure[MEASURE_TEMP] = true;
		break;
	case COL_PEAK:
		pl->needs_measure[MEASURE_PEAK] = true;
		break;
	case COL_MAX:
	case COL_FIRST:
	case COL_LAST:
		pl->needs_extremes = true;
		break;
	case COL_P50:
	case COL_P99:
		pl->needs_quantiles = pl->uses_lifetime = true;
		break;
	default:
		break;
	}
}

static enum neap_err unknown_column(struct plan *pl, const struct ast_text *word)
{
	query_fail(pl->error, ERR_USAGE, word->span, "'%.*s' is neither a column nor a key here",
		   (int)word->bytes, word->s);
	struct buf expected = {0};
	for (size_t i = 0; i < pl->key_count; i++)
		buf_printf(&expected, "%s, ", pl->keys[i].word);
	for (size_t i = 0; i < vocab_columns.count; i++)
		buf_printf(&expected, "%s%s", i ? ", " : "", vocab_columns.words[i].word);
	if (expected.data)
		query_fail_expected(pl->error, "%s", expected.data);
	buf_release(&expected);
	if (vocab_find(&vocab_fields, word->s, word->bytes))
		query_fail_help(pl->error, "group by it first: | by %.*s", (int)word->bytes,
				word->s);
	return pl->error->code;
}

enum neap_err plan_column_of(struct plan *pl, const struct ast_text *word, enum ast_column column,
			     struct plan_column *out)
{
	*out = (struct plan_column){.column = column};
	if (column == COL_ROWS && !pl->is_hist_of_rows) {
		query_fail(pl->error, ERR_USAGE, word->span, "'rows' needs hist of a column");
		return query_fail_help(pl->error, "'by func | hist total'");
	}
	if (column < COL_NONE) {
		bool is_of_diff = column == COL_DELTA || column == COL_A || column == COL_B;
		if (!is_of_diff || pl->is_signed)
			return NEAP_OK;
		query_fail(pl->error, ERR_USAGE, word->span, "'%s' needs diff or growth",
			   vocab_columns.words[column].word);
		return query_fail_help(pl->error, "'growth | ...' or 'diff A, B | ...'");
	}
	for (size_t i = 0; i < pl->key_count; i++) {
		const char *key = pl->keys[i].word;
		if (strlen(key) == word->bytes && !memcmp(key, word->s, word->bytes)) {
			*out = (struct plan_column){.is_key = true, .key = i, .column = COL_NONE};
			return NEAP_OK;
		}
	}
	return unknown_column(pl, word);
}

static enum neap_err add_column(struct plan *pl, struct plan_column c)
{
	pl->columns[pl->column_count++] = c;
	if (!c.is_key)
		plan_needs(pl, c.column);
	return NEAP_OK;
}

/* A sum has no keys to show, even if it is over rows; buckets of rows have their own. */
static void add_keys(struct plan *pl)
{
	if (pl->view == VIEW_SUM)
		return;
	if (pl->is_hist_of_rows) {
		add_column(pl, (struct plan_column){
				       .is_key = true, .key = pl->key_count, .column = COL_NONE});
		return;
	}
	for (size_t i = 0; i < pl->key_count; i++)
		add_column(pl, (struct plan_column){.is_key = true, .key = i, .column = COL_NONE});
}

static void default_columns(struct plan *pl)
{
	bool has_frames = pl->view == VIEW_TREE || pl->view == VIEW_CALLEES ||
			  pl->view == VIEW_FLAME || pl->view == VIEW_SOURCE ||
			  (pl->view == VIEW_TABLE && !pl->has_block_key);
	bool is_series = pl->view == VIEW_TIMELINE;
	add_keys(pl);
	if (pl->is_hist_of_rows)
		add_column(pl, (struct plan_column){.column = COL_ROWS});
	if (has_frames)
		add_column(pl, (struct plan_column){.column = COL_SELF});
	if (pl->is_signed && !is_series) {
		add_column(pl, (struct plan_column){.column = COL_A});
		add_column(pl, (struct plan_column){.column = COL_B});
		add_column(pl, (struct plan_column){.column = COL_DELTA});
	} else {
		add_column(pl, (struct plan_column){.column = COL_TOTAL});
	}
	add_column(pl, (struct plan_column){.column = COL_COUNT});
	if (pl->view == VIEW_SUM && !pl->is_signed)
		add_column(pl, (struct plan_column){.column = COL_AVG});
	else if (!pl->is_signed && !is_series && pl->view != VIEW_SUM)
		add_column(pl, (struct plan_column){.column = COL_SHARE});
}

/* Buckets of rows are called `bucket`; the keys of the rows are gone. */
static enum neap_err select_column_of(struct plan *pl, const struct ast_col *col,
				      struct plan_column *out)
{
	const struct ast_text *word = &col->word;
	const char *bucket = pl->is_hist_of_rows ? pl->keys[pl->key_count].word : "";
	if (word->bytes && strlen(bucket) == word->bytes && !memcmp(bucket, word->s, word->bytes)) {
		*out = (struct plan_column){
			.is_key = true, .key = pl->key_count, .column = COL_NONE};
		return NEAP_OK;
	}
	enum neap_err code = plan_column_of(pl, word, col->column, out);
	if (code || !pl->is_hist_of_rows || !out->is_key)
		return code;
	query_fail(pl->error, ERR_USAGE, word->span, "buckets of rows have no '%.*s'",
		   (int)word->bytes, word->s);
	return query_fail_help(pl->error, "they have 'bucket', 'rows', and columns such as total");
}

/* Keys that are not selected come first all the same, unless some are. */
static enum neap_err select_columns(struct plan *pl, const struct ast_stage *stage)
{
	size_t key_columns = 0;
	struct plan_column c;
	for (size_t i = 0; i < stage->col_count; i++) {
		enum neap_err code = select_column_of(pl, &stage->cols[i], &c);
		if (code)
			return code;
		key_columns += c.is_key;
	}
	if (!key_columns)
		add_keys(pl);
	for (size_t i = 0; i < stage->col_count; i++) {
		select_column_of(pl, &stage->cols[i], &c);
		add_column(pl, c);
	}
	return NEAP_OK;
}

static enum neap_err resolve_columns(struct plan *pl, const struct ast_stage *select)
{
	size_t most = pl->key_count + (select ? select->col_count : 0) + 11;
	enum neap_err code = NEAP_OK;
	pl->columns = plan_alloc(pl, most, sizeof *pl->columns);
	if (!pl->columns)
		return query_no_memory(pl->error);
	if (select)
		code = select_columns(pl, select);
	else
		default_columns(pl);
	return code ? code : resolve_format_columns(pl);
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
		pl->as_stage = stage;
		break;
	case STAGE_ASSERT:
		is_added = plan_append(pl, &pl->asserts, stage);
		break;
	}
	return is_added ? NEAP_OK : query_no_memory(pl->error);
}

/* Rows as a table would have them, counted by the values of a column. */
static enum neap_err resolve_hist_of_rows(struct plan *pl)
{
	static const enum ast_field of_function[] = {FIELD_FUNC};
	const struct ast_col *col = &pl->view_stage->cols[0];
	struct plan_column found;
	enum neap_err code = NEAP_OK;
	pl->is_hist_of_rows = true;
	pl->hist_column = col->column;
	pl->view = VIEW_TABLE;
	if (pl->row_stages.count > pl->stages_before_view) {
		const struct ast_stage *late = pl->row_stages.items[pl->stages_before_view];
		query_fail(pl->error, ERR_USAGE, late->span,
			   "a stage on rows stands after their histogram");
		return query_fail_help(pl->error, "put it before 'hist'");
	}
	enum value_type type = vocab_columns.words[col->column].type;
	if (type == VALUE_RATIO || type == VALUE_RATE || col->column == COL_ROWS) {
		query_fail(pl->error, ERR_USAGE, col->word.span, "'%s' has no buckets",
			   vocab_columns.words[col->column].word);
		return query_fail_help(pl->error, "columns of bytes, blocks and times have: "
						  "hist total");
	}
	if (!pl->has_by)
		code = set_keys(pl, of_function, 1);
	struct plan_key *keys = plan_alloc(pl, pl->key_count + 1, sizeof *keys);
	if (!code && !keys)
		code = query_no_memory(pl->error);
	if (code)
		return code;
	memcpy(keys, pl->keys, pl->key_count * sizeof *keys);
	keys[pl->key_count] = (struct plan_key){
		.word = "bucket",
		.type = result_type_of(type),
		.field = FIELD_NONE,
		.bucket_kind = type == VALUE_TIME ? BUCKET_DECADES : BUCKET_POWERS,
	};
	pl->keys = keys;
	code = plan_column_of(pl, &col->word, col->column, &found);
	if (!code)
		plan_needs(pl, pl->hist_column);
	return code;
}

static enum neap_err resolve_hist(struct plan *pl)
{
	const struct ast_stage *stage = pl->view_stage;
	const struct ast_text *word = stage->col_count ? &stage->cols[0].word : NULL;
	if (word && stage->cols[0].column < COL_NONE)
		return resolve_hist_of_rows(pl);
	const struct vocab_word *field = &vocab_fields.words[FIELD_SIZE];
	if (word)
		field = vocab_find(&vocab_fields, word->s, word->bytes);
	if (!field || field->of != OF_BLOCK || field->type == VALUE_NAME) {
		query_fail(pl->error, ERR_USAGE, word ? word->span : stage->span,
			   "a histogram is over a number of each allocation, or a column");
		query_fail_expected(pl->error, "size, lifetime, born, died, depth, tid, self, "
					       "total, count, ...");
		return pl->error->code;
	}
	size_t count = pl->has_by ? pl->key_count : 0;
	struct plan_key *keys = plan_alloc(pl, count + 1, sizeof *keys);
	if (!keys)
		return query_no_memory(pl->error);
	if (count)
		memcpy(keys, pl->keys, count * sizeof *keys);
	struct ast_key k = {.kind = KEY_FIELD, .field = (enum ast_field)field->id};
	enum neap_err code = resolve_key(pl, &k, &keys[count]);
	keys[count].bucket_kind = field->type == VALUE_TIME  ? BUCKET_DECADES
				  : field->type == VALUE_INT ? BUCKET_NONE
							     : BUCKET_POWERS;
	pl->keys = keys;
	pl->key_count = count + 1;
	return code;
}

/* One key that is no field. */
static enum neap_err set_key(struct plan *pl, struct plan_key key)
{
	pl->keys = plan_alloc(pl, 1, sizeof *pl->keys);
	if (!pl->keys)
		return query_no_memory(pl->error);
	pl->keys[0] = key;
	pl->key_count = 1;
	return NEAP_OK;
}

/* Frames of trees are told apart by the keys of `by` if these are of frames, else by function. */
static enum neap_err resolve_tree_keys(struct plan *pl)
{
	enum neap_err code = NEAP_OK;
	if (!pl->has_by || pl->has_block_key) {
		size_t count;
		const enum ast_field *fields = resolve_format_keys(pl, &count);
		code = set_keys(pl, fields, count);
	}
	if (code || pl->view != VIEW_PEEK)
		return code;
	struct plan_key *keys = plan_alloc(pl, pl->key_count + 1, sizeof *keys);
	if (!keys)
		return query_no_memory(pl->error);
	keys[0] = (struct plan_key){
		.word = "role", .type = RESULT_TEXT, .is_role = true, .field = FIELD_NONE};
	memcpy(keys + 1, pl->keys, pl->key_count * sizeof *keys);
	pl->keys = keys;
	pl->key_count++;
	return NEAP_OK;
}

static enum neap_err resolve_view_keys(struct plan *pl)
{
	static const enum ast_field of_function[] = {FIELD_FUNC};
	static const enum ast_field of_source[] = {FIELD_FILE, FIELD_LINE};
	switch (pl->view) {
	case VIEW_TABLE:
		return pl->has_by ? NEAP_OK : set_keys(pl, of_function, 1);
	case VIEW_TREE:
	case VIEW_CALLERS:
	case VIEW_CALLEES:
	case VIEW_FLAME:
	case VIEW_PEEK:
		return resolve_tree_keys(pl);
	case VIEW_STACKS:
		return set_key(pl, (struct plan_key){.kind = KEY_STACK,
						     .word = "stack",
						     .type = RESULT_TEXT,
						     .field = FIELD_NONE});
	case VIEW_TIMELINE:
		pl->uses_time = true;
		return set_key(pl, (struct plan_key){.kind = KEY_TIME,
						     .word = "time",
						     .type = RESULT_NS,
						     .field = FIELD_NONE});
	case VIEW_HIST:
		return resolve_hist(pl);
	case VIEW_SUM:
		if (!pl->has_by || !pl->row_stages.count)
			pl->key_count = 0;
		break;
	case VIEW_SOURCE:
		return set_keys(pl, of_source, 2);
	}
	return NEAP_OK;
}

static enum neap_err resolve_view(struct plan *pl)
{
	if (pl->view_stage)
		pl->view = pl->view_stage->view;
	else
		pl->view = pl->asserts.count && !pl->has_by && !pl->row_stages.count ? VIEW_SUM
										     : VIEW_TABLE;
	pl->is_by_stack = pl->key_count == 1 && pl->keys[0].kind == KEY_STACK;
	find_places(pl);
	enum neap_err code = resolve_format(pl);
	if (!code && pl->view_stage && pl->view_stage->has_step)
		code = resolve_step(pl, &pl->view_stage->step);
	if (!code)
		code = resolve_view_keys(pl);
	if (!code)
		find_places(pl);
	return code;
}

/* Rows of a timeline have sums only. */
static enum neap_err check_timeline(struct plan *pl)
{
	static const enum ast_column sums[] = {COL_SELF,  COL_TOTAL, COL_COUNT, COL_ALLOCS,
					       COL_FREES, COL_TEMP,  COL_AVG,   COL_SHARE,
					       COL_DELTA, COL_A,     COL_B};
	if (pl->view != VIEW_TIMELINE)
		return NEAP_OK;
	if (pl->has_by || pl->row_stages.count)
		return plan_note(pl, "a timeline is of everything together: stages on rows have no "
				     "effect");
	for (size_t i = 0; i < pl->column_count; i++) {
		bool is_sum = pl->columns[i].is_key || pl->columns[i].is_hidden;
		for (size_t k = 0; !is_sum && k < sizeof sums / sizeof sums[0]; k++)
			is_sum = pl->columns[i].column == sums[k];
		if (!is_sum)
			return query_fail(pl->error, ERR_USAGE, pl->view_stage->span,
					  "a timeline has no column '%s'",
					  vocab_columns.words[pl->columns[i].column].word);
	}
	return NEAP_OK;
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
	return code ? code : check_conditions(pl);
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
