/* Columns: those asked for or usual, and what computing them takes. */
#include "config.h"

#include "query/resolve_priv.h"

#include <string.h>

void plan_needs(struct plan *pl, enum ast_column column)
{
	switch (column) {
	case COL_RATE:
		pl->compares_rates = true;
		/* fallthrough */
	case COL_ALLOCS:
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

/* The time alone, in a timeline of classes. */
static bool says_no_class(const struct plan *pl, const struct plan_column *c)
{
	return pl->view == VIEW_TIMELINE && pl->has_by && pl->keys[c->key].is_step;
}

/* Keys that are not selected come first all the same, unless some are. */
static enum neap_err select_columns(struct plan *pl, const struct ast_stage *stage)
{
	bool has_own_keys = false;
	struct plan_column c;
	for (size_t i = 0; i < stage->col_count; i++) {
		enum neap_err code = select_column_of(pl, &stage->cols[i], &c);
		if (code)
			return code;
		has_own_keys = has_own_keys || (c.is_key && !says_no_class(pl, &c));
	}
	if (!has_own_keys)
		add_keys(pl);
	for (size_t i = 0; i < stage->col_count; i++) {
		select_column_of(pl, &stage->cols[i], &c);
		if (has_own_keys || !c.is_key)
			add_column(pl, c);
	}
	return NEAP_OK;
}

enum neap_err resolve_columns(struct plan *pl, const struct ast_stage *select)
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
