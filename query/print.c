/*
 * Queries as text.  What is printed parses to the same tree: `and` is always written,
 * brackets stand where a list is inside another kind of list, quantities that are whole are
 * printed in the largest unit that divides them.
 *
 * The lets that a query uses stand before it, so that the text is complete.
 */
#include "config.h"

#include <string.h>

#include "query/lex.h"
#include "query/parse.h"
#include "query/vocab.h"

static void print_expr(const struct ast_expr *e, struct buf *out);

/* ---- texts ----------------------------------------------------------------------- */

static void print_raw(const struct ast_text *t, struct buf *out)
{
	buf_put(out, t->s, t->bytes);
}

static void print_quoted(const struct ast_text *t, struct buf *out)
{
	buf_putc(out, '"');
	for (uint32_t i = 0; i < t->bytes; i++) {
		char c = t->s[i];
		if (c == '"' || c == '\\')
			buf_putc(out, '\\');
		if (c == '\n')
			buf_puts(out, "\\n");
		else if (c == '\t')
			buf_puts(out, "\\t");
		else
			buf_putc(out, c);
	}
	buf_putc(out, '"');
}

/* Bare where that reads as one word, else quoted. */
static void print_word(const struct ast_text *t, enum lex_mode mode, struct buf *out)
{
	if (lex_is_word(t->s, t->bytes, mode))
		print_raw(t, out);
	else
		print_quoted(t, out);
}

static void print_pattern(const struct ast_pattern *p, struct buf *out)
{
	switch (p->kind) {
	case PATTERN_WORD:
		print_raw(&p->text, out);
		break;
	case PATTERN_STRING:
		print_quoted(&p->text, out);
		break;
	case PATTERN_REGEX:
		buf_putc(out, '/');
		print_raw(&p->text, out);
		buf_puts(out, p->ignores_case ? "/i" : "/");
		break;
	}
}

/* ---- quantities ---------------------------------------------------------------------- */

static const char *const units[][9] = {
	[UNIT_BYTES] = {"T", "G", "M", "K", "GB", "MB", "KB", "B"},
	[UNIT_NS] = {"h", "m", "s", "ms", "us", "ns"},
	[UNIT_PERCENT] = {"%"},
	[UNIT_NONE] = {NULL},
};

static int64_t factor_of(const char *unit)
{
	for (size_t i = 0; i < vocab_unit_count; i++) {
		if (!strcmp(vocab_units[i].word, unit))
			return vocab_units[i].factor;
	}
	return 1;
}

/* A whole number in the largest unit that divides it. */
static void print_whole(int64_t value, enum ast_unit unit, struct buf *out)
{
	const char *last = "";
	for (size_t i = 0; units[unit][i]; i++) {
		last = units[unit][i];
		int64_t factor = factor_of(last);
		if (value && value % factor == 0) {
			buf_printf(out, "%lld%s", (long long)(value / factor), last);
			return;
		}
	}
	buf_printf(out, "%lld%s", (long long)value, last);
}

static void print_quantity(const struct ast_quantity *q, struct buf *out)
{
	if (q->number == (double)q->value)
		print_whole(q->value, q->unit, out);
	else
		print_raw(&q->word, out);
}

static void print_time(const struct ast_time *t, struct buf *out)
{
	static const char *const words[] = {[TIME_START] = "start",
					    [TIME_END] = "end",
					    [TIME_PEAK] = "peak",
					    [TIME_CURSOR] = "cursor"};
	switch (t->base) {
	case TIME_MARK:
		buf_putc(out, '@');
		print_word(&t->mark, LEX_MARK, out);
		break;
	case TIME_DURATION:
	case TIME_PERCENT:
		print_quantity(&t->quantity, out);
		break;
	default:
		buf_puts(out, words[t->base]);
	}
	if (t->offset_ns > 0)
		buf_putc(out, '+');
	if (t->offset_ns)
		print_whole(t->offset_ns, UNIT_NS, out);
}

/* ---- conditions --------------------------------------------------------------------------- */

/* Before a field. */
static void print_frame_of(struct ast_quant q, struct buf *out)
{
	vocab_put_quantifier(q, out);
	if (q.of != QUANT_DEFAULT)
		buf_putc(out, '.');
}

static const char *op_text(enum ast_op op)
{
	static const enum token_kind kinds[] = {
		[OP_EQ] = TOK_EQ,       [OP_NE] = TOK_NE,
		[OP_MATCH] = TOK_MATCH, [OP_NOT_MATCH] = TOK_NOT_MATCH,
		[OP_LT] = TOK_LT,       [OP_LE] = TOK_LE,
		[OP_GT] = TOK_GT,       [OP_GE] = TOK_GE,
	};
	return lex_token_text(kinds[op]);
}

static void print_list(const struct ast_compare *c, struct buf *out)
{
	buf_puts(out, " in (");
	for (size_t i = 0; i < c->value_count; i++) {
		if (i)
			buf_puts(out, ", ");
		print_pattern(&c->values[i], out);
	}
	buf_putc(out, ')');
}

static void print_compare(const struct ast_compare *c, struct buf *out)
{
	print_frame_of(c->quantifier, out);
	print_raw(&c->word, out);
	if (c->field == FIELD_LABEL) {
		buf_putc(out, '.');
		print_raw(&c->label, out);
	}
	switch (c->op) {
	case OP_EQ:
	case OP_NE:
	case OP_MATCH:
	case OP_NOT_MATCH:
		buf_puts(out, op_text(c->op));
		print_pattern(&c->values[0], out);
		break;
	case OP_IN_RANGE:
		buf_puts(out, " in ");
		if (c->has_low)
			print_quantity(&c->low, out);
		buf_puts(out, "..");
		if (c->has_high)
			print_quantity(&c->high, out);
		break;
	case OP_IN_LIST:
		print_list(c, out);
		break;
	default:
		buf_printf(out, " %s ", op_text(c->op));
		print_quantity(&c->low, out);
	}
}

static void print_step(const struct ast_step *s, struct buf *out)
{
	switch (s->kind) {
	case STEP_PATTERN:
		print_pattern(&s->pattern, out);
		break;
	case STEP_EXPR:
		buf_putc(out, '[');
		print_expr(s->expr, out);
		buf_putc(out, ']');
		break;
	case STEP_ONE:
		buf_putc(out, '*');
		break;
	case STEP_MANY:
		buf_puts(out, "**");
		break;
	}
}

static void print_path(const struct ast_expr *e, struct buf *out)
{
	buf_puts(out, e->is_rooted ? "path ^" : "path ");
	for (size_t i = 0; i < e->step_count; i++) {
		if (i)
			buf_puts(out, e->steps[i].is_far ? " >> " : " > ");
		print_step(&e->steps[i], out);
	}
	if (e->is_leafed)
		buf_putc(out, '$');
}

static void print_item(const struct ast_expr *e, bool in_not, struct buf *out)
{
	bool needs_parens = e->kind == EXPR_OR || (in_not && e->kind == EXPR_AND);
	if (needs_parens)
		buf_putc(out, '(');
	print_expr(e, out);
	if (needs_parens)
		buf_putc(out, ')');
}

static void print_items(const struct ast_expr *e, const char *word, struct buf *out)
{
	for (size_t i = 0; i < e->item_count; i++) {
		if (i)
			buf_puts(out, word);
		if (e->kind == EXPR_OR)
			print_expr(e->items[i], out);
		else
			print_item(e->items[i], false, out);
	}
}

/* Depth is that of the tree, which the parser limits. */
static void print_expr(const struct ast_expr *e, struct buf *out)
{
	switch (e->kind) {
	case EXPR_AND:
		print_items(e, " and ", out);
		break;
	case EXPR_OR:
		print_items(e, " or ", out);
		break;
	case EXPR_NOT:
		buf_puts(out, "not ");
		print_item(e->items[0], true, out);
		break;
	case EXPR_COMPARE:
		print_compare(&e->compare, out);
		break;
	case EXPR_QUANT:
		vocab_put_quantifier(e->quantifier, out);
		buf_putc(out, '[');
		print_expr(e->items[0], out);
		buf_putc(out, ']');
		break;
	case EXPR_PATH:
		print_path(e, out);
		break;
	case EXPR_STEP:
		print_step(&e->steps[0], out);
		break;
	case EXPR_NAME:
		buf_putc(out, '$');
		print_raw(&e->name, out);
		break;
	}
}

/* ---- lets ----------------------------------------------------------------------------------- */

/* Definitions already printed, by the names' addresses in order of definition. */
struct let_list {
	const struct ast_expr **exprs;
	size_t count, cap;
	struct buf *out;
};

static bool was_printed(const struct let_list *l, const struct ast_expr *e)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->exprs[i] == e)
			return true;
	}
	return false;
}

/* What an expression uses first, then its own definition. */
static void print_lets(const struct ast_expr *e, struct let_list *l)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->item_count; i++)
		print_lets(e->items[i], l);
	for (size_t i = 0; i < e->step_count; i++)
		print_lets(e->steps[i].expr, l);
	if (e->kind != EXPR_NAME || was_printed(l, e->let_expr))
		return;
	print_lets(e->let_expr, l);
	if (!vec_reserve((void **)&l->exprs, &l->cap, l->count + 1, sizeof *l->exprs)) {
		l->out->has_failed = true;
		return;
	}
	l->exprs[l->count++] = e->let_expr;
	buf_puts(l->out, "let ");
	print_raw(&e->name, l->out);
	buf_puts(l->out, " = ");
	print_expr(e->let_expr, l->out);
	buf_puts(l->out, "; ");
}

static void print_all_lets(const struct ast_query *q, struct buf *out)
{
	struct let_list l = {.out = out};
	print_lets(q->filter, &l);
	for (size_t i = 0; i < q->stage_count; i++) {
		print_lets(q->stages[i].expr, &l);
		print_lets(q->stages[i].step.expr, &l);
	}
	mem_free(l.exprs);
}

/* ---- queries --------------------------------------------------------------------------------- */

static void print_source(const struct ast_source *s, struct buf *out)
{
	buf_puts(out, vocab_populations.words[s->pop].word);
	if (s->has_file) {
		buf_puts(out, " of ");
		print_word(&s->file, LEX_FILE, out);
	}
	if (s->has_at) {
		buf_puts(out, " at ");
		print_time(&s->at, out);
	}
	if (s->has_in) {
		buf_puts(out, " in ");
		if (s->in.has_from)
			print_time(&s->in.from, out);
		buf_puts(out, "..");
		if (s->in.has_to)
			print_time(&s->in.to, out);
	}
}

static void print_key(const struct ast_key *k, struct buf *out)
{
	print_frame_of(k->quantifier, out);
	if (k->kind == KEY_FIELD)
		buf_puts(out, vocab_fields.words[k->field].word);
	else
		buf_puts(out, vocab_keys.words[k->kind - 1].word);
	if (k->field == FIELD_LABEL) {
		buf_putc(out, '.');
		print_raw(&k->label, out);
	}
	if (k->has_bucket) {
		buf_putc(out, ':');
		print_quantity(&k->bucket, out);
	}
}

static void print_keys(const struct ast_stage *s, struct buf *out)
{
	for (size_t i = 0; i < s->key_count; i++) {
		buf_puts(out, i ? ", " : " ");
		print_key(&s->keys[i], out);
	}
}

static void print_cols(const struct ast_stage *s, struct buf *out)
{
	for (size_t i = 0; i < s->col_count; i++) {
		buf_puts(out, i ? ", " : " ");
		print_raw(&s->cols[i].word, out);
		if (s->cols[i].has_order)
			buf_puts(out, s->cols[i].is_ascending ? " asc" : " desc");
	}
}

/* What follows the word of the stage, in the order of the grammar. */
static void print_arguments(const struct ast_stage *s, struct buf *out)
{
	bool is_ranked = s->kind == STAGE_TOP || s->kind == STAGE_BOTTOM;
	print_keys(s, out);
	if (s->has_quantity) {
		buf_putc(out, ' ');
		print_quantity(&s->quantity, out);
	}
	if (is_ranked && s->col_count)
		buf_puts(out, " by");
	print_cols(s, out);
	if (s->has_step) {
		buf_putc(out, ' ');
		print_step(&s->step, out);
	}
	if (s->is_recursion)
		buf_puts(out, " recursion");
	if (s->kind == STAGE_PERCENT)
		buf_puts(out, s->is_selection ? " selection" : " all");
	if (s->is_inverted)
		buf_puts(out, " inverted");
	if (s->expr) {
		buf_putc(out, ' ');
		print_expr(s->expr, out);
	}
	if (s->has_message) {
		buf_putc(out, ' ');
		print_quoted(&s->message, out);
	}
}

static void print_stage(const struct ast_stage *s, struct buf *out)
{
	if (s->kind == STAGE_VIEW) {
		buf_puts(out, vocab_views.words[s->view].word);
	} else {
		for (size_t i = 0; i < vocab_stages.count; i++) {
			if (vocab_stages.words[i].id == (int)s->kind)
				buf_puts(out, vocab_stages.words[i].word);
		}
	}
	if (s->kind == STAGE_AS)
		buf_printf(out, " %s", vocab_formats.words[s->format].word);
	print_arguments(s, out);
	if (s->has_file) {
		buf_puts(out, " to ");
		print_word(&s->file, LEX_FILE, out);
	}
}

/* After `in 2s..` a name such as peak would be an instant. */
static void print_filter(const struct ast_query *q, struct buf *out)
{
	const struct ast_source *last = q->has_b ? &q->b : &q->a;
	bool is_open = last->has_in && !last->in.has_to;
	buf_puts(out, is_open ? " (" : " ");
	print_expr(q->filter, out);
	if (is_open)
		buf_putc(out, ')');
}

void query_canonical(const struct ast_query *q, struct buf *out)
{
	print_all_lets(q, out);
	if (q->head == HEAD_DIFF)
		buf_puts(out, "diff ");
	if (q->head != HEAD_REFINE)
		print_source(&q->a, out);
	if (q->has_b) {
		buf_puts(out, ", ");
		print_source(&q->b, out);
	}
	if (q->filter)
		print_filter(q, out);
	for (size_t i = 0; i < q->stage_count; i++) {
		buf_puts(out, q->head == HEAD_REFINE && !i ? "| " : " | ");
		print_stage(&q->stages[i], out);
	}
}
