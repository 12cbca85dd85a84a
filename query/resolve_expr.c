/*
 * Conditions: do fields, operators and values fit each other and the place?
 *
 * The parser refuses most of what is refused here, with the same words; trees can also be
 * made by hand (the browser does), and nothing after this may meet one that it cannot run.
 */
#include "config.h"

#include "query/plan.h"

#include "query/lex.h"

#include <string.h>

bool resolve_number(const struct ast_text *text, struct ast_quantity *out)
{
	size_t unit_bytes;
	*out = (struct ast_quantity){.unit = UNIT_NONE};
	return lex_number(text->s, text->bytes, out, &unit_bytes) == NUMBER_OK;
}

/* ---- values ---------------------------------------------------------------------------- */

static enum value_type type_of(const struct ast_compare *c)
{
	if (c->field < FIELD_COUNT)
		return vocab_fields.words[c->field].type;
	if (c->column < COL_NONE)
		return vocab_columns.words[c->column].type;
	const struct vocab_word *key = vocab_find(&vocab_keys, c->word.s, c->word.bytes);
	return key ? key->type : VALUE_NAME;
}

static bool unit_fits(enum value_type type, enum ast_unit unit, int64_t value)
{
	if (unit == UNIT_NONE)
		return type != VALUE_TIME || value == 0;
	switch (type) {
	case VALUE_SIZE:
	case VALUE_RATE:
		return unit == UNIT_BYTES;
	case VALUE_COUNT: /* 64K blocks */
	case VALUE_INT:
		return unit == UNIT_BYTES;
	case VALUE_TIME:
		return unit == UNIT_NS;
	case VALUE_RATIO:
		return unit == UNIT_PERCENT;
	case VALUE_NAME:
		break;
	}
	return false;
}

static enum neap_err check_quantity(struct plan *pl, const struct ast_compare *c,
				    const struct ast_quantity *q)
{
	static const char *const helps[] = {
		[VALUE_SIZE] = "sizes are written 4096, 64K, 1.5MiB",
		[VALUE_COUNT] = "counts are plain numbers",
		[VALUE_TIME] = "times are written 10ms, 1.5s, 2m",
		[VALUE_INT] = "write a plain number",
		[VALUE_RATIO] = "shares are written 5%",
		[VALUE_RATE] = "rates are bytes per second: 64K, 1MiB",
		[VALUE_NAME] = "compare names with = or ~",
	};
	enum value_type type = type_of(c);
	if (unit_fits(type, q->unit, q->value))
		return NEAP_OK;
	query_fail(pl->error, ERR_USAGE, q->span, "this does not fit '%.*s'", (int)c->word.bytes,
		   c->word.s);
	return query_fail_help(pl->error, "%s", helps[type]);
}

static enum neap_err check_numbers(struct plan *pl, const struct ast_compare *c)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < c->value_count; i++) {
		const struct ast_pattern *v = &c->values[i];
		struct ast_quantity q;
		if (v->kind == PATTERN_REGEX || !resolve_number(&v->text, &q)) {
			query_fail(pl->error, ERR_USAGE, v->text.span, "'%.*s' is no number",
				   (int)v->text.bytes, v->text.s);
			return query_fail_help(pl->error, "'%.*s' is compared with numbers",
					       (int)c->word.bytes, c->word.s);
		}
		q.span = v->text.span;
		code = check_quantity(pl, c, &q);
	}
	bool has_low = c->op == OP_LT || c->op == OP_LE || c->op == OP_GT || c->op == OP_GE ||
		       (c->op == OP_IN_RANGE && c->has_low);
	if (!code && has_low)
		code = check_quantity(pl, c, &c->low);
	if (!code && c->op == OP_IN_RANGE && c->has_high)
		code = check_quantity(pl, c, &c->high);
	if (!code && c->op == OP_IN_RANGE && c->has_low && c->has_high &&
	    c->low.number > c->high.number)
		code = query_fail(pl->error, ERR_USAGE, c->low.span,
				  "the range ends before it begins");
	return code;
}

static enum neap_err check_values(struct plan *pl, const struct ast_compare *c,
				  const struct ast_expr *x)
{
	bool is_match = c->op == OP_MATCH || c->op == OP_NOT_MATCH;
	bool is_list = c->op == OP_EQ || c->op == OP_NE || c->op == OP_IN_LIST;
	if ((is_match || is_list) && !c->value_count)
		return query_fail(pl->error, ERR_USAGE, x->span, "a value is missing");
	if (type_of(c) == VALUE_NAME) {
		if (is_match || is_list)
			return NEAP_OK;
		query_fail(pl->error, ERR_USAGE, x->span, "'%.*s' is a name: it has no order",
			   (int)c->word.bytes, c->word.s);
		return query_fail_help(pl->error, "compare it with =, != , ~ or !~");
	}
	if (is_match) {
		query_fail(pl->error, ERR_USAGE, x->span, "'%.*s' is a number: ~ is for names",
			   (int)c->word.bytes, c->word.s);
		return query_fail_help(pl->error, "compare it with =, <, > or in FROM..TO");
	}
	return check_numbers(pl, c);
}

/* ---- places ------------------------------------------------------------------------------- */

static void note_field(struct plan *pl, enum ast_field field)
{
	pl->uses_died = pl->uses_died || field == FIELD_DIED;
	pl->uses_lifetime = pl->uses_lifetime || field == FIELD_LIFETIME;
}

static enum neap_err check_row_name(struct plan *pl, const struct ast_compare *c,
				    enum condition_of of)
{
	struct plan_column found;
	if (of == OF_TOTALS && c->field < FIELD_COUNT) {
		query_fail(pl->error, ERR_USAGE, c->word.span,
			   "'%.*s' is no column: the total line has only columns",
			   (int)c->word.bytes, c->word.s);
		return query_fail_help(pl->error, "for example: assert total < 64M");
	}
	enum ast_column column = c->field < FIELD_COUNT ? COL_NONE : c->column;
	enum neap_err code = plan_column_of(pl, &c->key, column, &found);
	if (!code && of == OF_ROWS && found.column == COL_ROWS)
		return plan_fail_rows(pl, &c->word);
	if (!code && !found.is_key)
		plan_needs(pl, found.column);
	return code;
}

/* `any` of several frames differs from almost everything: say what was probably meant. */
static enum neap_err note_negation(struct plan *pl, const struct ast_compare *c)
{
	if (c->quantifier.of != QUANT_DEFAULT || (c->op != OP_NE && c->op != OP_NOT_MATCH))
		return NEAP_OK;
	return plan_note(pl,
			 "'%.*s%s...' holds if any frame differs; 'none.%.*s%s...' holds if no "
			 "frame is like it",
			 (int)c->word.bytes, c->word.s, c->op == OP_NE ? "!=" : "!~",
			 (int)c->word.bytes, c->word.s, c->op == OP_NE ? "=" : "~");
}

static enum neap_err check_compare(struct plan *pl, const struct ast_expr *x, enum condition_of of)
{
	const struct ast_compare *c = &x->compare;
	enum neap_err code = known_condition(pl, c);
	if (code)
		return code;
	if (of == OF_ROWS || of == OF_TOTALS) {
		code = check_row_name(pl, c, of);
		return code ? code : check_values(pl, c, x);
	}
	if (c->field >= FIELD_COUNT) {
		query_fail(pl->error, ERR_USAGE, c->word.span,
			   "'%.*s' belongs to rows, not to allocations", (int)c->word.bytes,
			   c->word.s);
		return query_fail_help(pl->error, "put it in '| where' after '| by'");
	}
	bool is_frame = vocab_fields.words[c->field].of == OF_FRAME;
	if (of == OF_FRAMES && !is_frame) {
		query_fail(pl->error, ERR_USAGE, c->word.span,
			   "'%.*s' belongs to the allocation, not to a frame", (int)c->word.bytes,
			   c->word.s);
		return query_fail_help(pl->error, "write it outside of the brackets");
	}
	if (c->quantifier.of != QUANT_DEFAULT && (of == OF_FRAMES || !is_frame))
		return query_fail(
			pl->error, ERR_USAGE, x->span,
			"a quantifier belongs before a field of frames, outside brackets");
	code = check_values(pl, c, x);
	if (!code && is_frame && of == OF_BLOCKS)
		code = note_negation(pl, c);
	if (!is_frame)
		note_field(pl, c->field);
	return code;
}

enum neap_err resolve_step(struct plan *pl, const struct ast_step *step)
{
	if (step->kind == STEP_EXPR)
		return resolve_expr(pl, step->expr, OF_FRAMES);
	return NEAP_OK;
}

#define PATH_STEPS_MOST 62u /* the automaton keeps a bit for each, and one more */

static enum neap_err check_path(struct plan *pl, const struct ast_expr *x)
{
	enum neap_err code = NEAP_OK;
	if (!x->step_count || x->step_count > PATH_STEPS_MOST)
		return query_fail(pl->error, ERR_LIMIT, x->span, "a path has 1 to %u steps",
				  PATH_STEPS_MOST);
	for (size_t i = 0; !code && i < x->step_count; i++)
		code = resolve_step(pl, &x->steps[i]);
	return code;
}

static enum neap_err check_items(struct plan *pl, const struct ast_expr *x, enum condition_of of)
{
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < x->item_count; i++)
		code = resolve_expr(pl, x->items[i], of);
	return code;
}

static enum neap_err note_warning(struct plan *pl, const struct ast_expr *x)
{
	const char *text = pl->script->text;
	if (!x->warning)
		return NEAP_OK;
	return plan_note(pl, "'%.*s': %s", (int)x->span.bytes, text + x->span.start, x->warning);
}

enum neap_err resolve_expr(struct plan *pl, const struct ast_expr *x, enum condition_of of)
{
	enum neap_err code = note_warning(pl, x);
	if (code)
		return code;
	switch (x->kind) {
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_NOT:
		return check_items(pl, x, of);
	case EXPR_COMPARE:
		return check_compare(pl, x, of);
	case EXPR_STEP:
		if (of == OF_TOTALS)
			break;
		return x->step_count == 1 ? resolve_step(pl, &x->steps[0]) : check_path(pl, x);
	case EXPR_NAME:
		return resolve_expr(pl, x->let_expr, of);
	case EXPR_QUANT:
		if (of != OF_BLOCKS)
			break;
		return check_items(pl, x, OF_FRAMES);
	case EXPR_PATH:
		if (of != OF_BLOCKS)
			break;
		return check_path(pl, x);
	}
	return query_fail(pl->error, ERR_USAGE, x->span,
			  of == OF_FRAMES   ? "inside brackets only fields of one frame may stand"
			  : of == OF_TOTALS ? "an assertion compares columns of the total line"
					    : "after 'by' only columns and keys may stand");
}

bool resolve_mentions_column(const struct ast_expr *x)
{
	if (x->kind == EXPR_COMPARE)
		return x->compare.field >= FIELD_COUNT;
	if (x->kind == EXPR_NAME)
		return resolve_mentions_column(x->let_expr);
	for (size_t i = 0; i < x->item_count; i++) {
		if (resolve_mentions_column(x->items[i]))
			return true;
	}
	return false;
}
