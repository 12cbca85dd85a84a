/* What a view makes of the keys; histograms. */
#include "config.h"

#include "query/resolve_priv.h"

#include <string.h>

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
		code = resolve_set_keys(pl, of_function, 1);
	struct plan_key *keys = plan_alloc(pl, pl->key_count + 1, sizeof *keys);
	if (!code && !keys)
		code = query_no_memory(pl->error);
	if (code)
		return code;
	memcpy(keys, pl->keys, pl->key_count * sizeof *keys);
	keys[pl->key_count] = (struct plan_key){
		.word = "bucket",
		.type = resolve_type(type),
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
		code = resolve_set_keys(pl, fields, count);
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

/* Steps, and in each the classes. */
static enum neap_err resolve_timeline_keys(struct plan *pl)
{
	size_t count = pl->has_by ? pl->key_count : 0;
	struct plan_key *keys = plan_alloc(pl, count + 1, sizeof *keys);
	if (!keys)
		return query_no_memory(pl->error);
	for (size_t i = 0; i < count; i++) {
		if (pl->keys[i].kind == KEY_TIME) {
			query_fail(pl->error, ERR_USAGE, pl->view_stage->span,
				   "a timeline has its own steps, and no slices of time");
			return query_fail_help(pl->error, "leave out 'time', or 'timeline'");
		}
		keys[i + 1] = pl->keys[i];
	}
	keys[0] = (struct plan_key){.kind = KEY_TIME,
				    .word = "time",
				    .type = RESULT_NS,
				    .field = FIELD_NONE,
				    .is_step = true};
	pl->keys = keys;
	pl->key_count = count + 1;
	pl->uses_time = true;
	return NEAP_OK;
}

static enum neap_err resolve_view_keys(struct plan *pl)
{
	static const enum ast_field of_function[] = {FIELD_FUNC};
	static const enum ast_field of_source[] = {FIELD_FILE, FIELD_LINE};
	switch (pl->view) {
	case VIEW_TABLE:
		return pl->has_by ? NEAP_OK : resolve_set_keys(pl, of_function, 1);
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
		return resolve_timeline_keys(pl);
	case VIEW_HIST:
		return resolve_hist(pl);
	case VIEW_SUM:
		if (!pl->has_by || !pl->row_stages.count)
			pl->key_count = 0;
		break;
	case VIEW_SOURCE:
		return resolve_set_keys(pl, of_source, 2);
	}
	return NEAP_OK;
}

enum neap_err resolve_view(struct plan *pl)
{
	if (pl->view_stage)
		pl->view = pl->view_stage->view;
	else
		pl->view = pl->asserts.count && !pl->has_by && !pl->row_stages.count ? VIEW_SUM
										     : VIEW_TABLE;
	pl->is_by_stack = pl->key_count == 1 && pl->keys[0].kind == KEY_STACK;
	resolve_places(pl);
	enum neap_err code = resolve_format(pl);
	if (!code && pl->view_stage && pl->view_stage->has_step)
		code = resolve_step(pl, &pl->view_stage->step);
	if (!code)
		code = resolve_view_keys(pl);
	if (!code)
		resolve_places(pl);
	return code;
}
