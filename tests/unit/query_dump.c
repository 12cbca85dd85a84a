/* Syntax trees as text, written apart from query/print.c: numbers for all that is an enum. */
#include "config.h"

#include "tests/unit/query_dump.h"

static void dump_expr(const struct ast_expr *e, struct buf *out);

static void dump_text(const char *name, const struct ast_text *t, struct buf *out)
{
	if (!t->s)
		return;
	buf_printf(out, " %s=%u:", name, t->bytes);
	buf_put(out, t->s, t->bytes);
}

static void dump_quantity(const char *name, const struct ast_quantity *q, struct buf *out)
{
	buf_printf(out, " %s=%d/%lld/%a", name, (int)q->unit, (long long)q->value, q->number);
}

static void dump_pattern(const struct ast_pattern *p, struct buf *out)
{
	buf_printf(out, " pattern=%d%d", (int)p->kind, p->ignores_case);
	dump_text("text", &p->text, out);
	if (p->is_quantity)
		dump_quantity("number", &p->quantity, out);
}

static void dump_time(const char *name, const struct ast_time *t, struct buf *out)
{
	buf_printf(out, " %s=%d%+lld", name, (int)t->base, (long long)t->offset_ns);
	if (t->base == TIME_MARK)
		dump_text("mark", &t->mark, out);
	if (t->base == TIME_DURATION || t->base == TIME_PERCENT)
		dump_quantity("at", &t->quantity, out);
}

static void dump_step(const struct ast_step *s, struct buf *out)
{
	buf_printf(out, " (step %d far=%d", (int)s->kind, s->is_far);
	if (s->kind == STEP_PATTERN)
		dump_pattern(&s->pattern, out);
	if (s->kind == STEP_EXPR)
		dump_expr(s->expr, out);
	buf_putc(out, ')');
}

static void dump_compare(const struct ast_compare *c, struct buf *out)
{
	buf_printf(out, " q=%d^%u field=%d column=%d op=%d", (int)c->quantifier.of,
		   c->quantifier.up, (int)c->field, (int)c->column, (int)c->op);
	dump_text("word", &c->word, out);
	dump_text("label", &c->label, out);
	for (size_t i = 0; i < c->value_count; i++)
		dump_pattern(&c->values[i], out);
	if (c->has_low)
		dump_quantity("low", &c->low, out);
	if (c->has_high)
		dump_quantity("high", &c->high, out);
}

static void dump_expr(const struct ast_expr *e, struct buf *out)
{
	buf_printf(out, " (%d", (int)e->kind);
	if (e->kind == EXPR_COMPARE)
		dump_compare(&e->compare, out);
	if (e->kind == EXPR_QUANT)
		buf_printf(out, " q=%d^%u", (int)e->quantifier.of, e->quantifier.up);
	if (e->kind == EXPR_PATH)
		buf_printf(out, " ^%d $%d", e->is_rooted, e->is_leafed);
	for (size_t i = 0; i < e->step_count; i++)
		dump_step(&e->steps[i], out);
	for (size_t i = 0; i < e->item_count; i++)
		dump_expr(e->items[i], out);
	if (e->kind == EXPR_NAME) {
		dump_text("name", &e->name, out);
		dump_expr(e->let_expr, out);
	}
	if (e->warning)
		buf_printf(out, " warning=%s", e->warning);
	buf_putc(out, ')');
}

static void dump_source(const char *name, const struct ast_source *s, struct buf *out)
{
	buf_printf(out, "%s: %d", name, (int)s->pop);
	if (s->has_file)
		dump_text("of", &s->file, out);
	if (s->has_at)
		dump_time("at", &s->at, out);
	if (s->has_in)
		buf_puts(out, " in");
	if (s->has_in && s->in.has_from)
		dump_time("from", &s->in.from, out);
	if (s->has_in && s->in.has_to)
		dump_time("to", &s->in.to, out);
	buf_putc(out, '\n');
}

static void dump_lists(const struct ast_stage *s, struct buf *out)
{
	for (size_t i = 0; i < s->key_count; i++) {
		const struct ast_key *k = &s->keys[i];
		buf_printf(out, " key=%d/%d q=%d^%u", (int)k->kind, (int)k->field,
			   (int)k->quantifier.of, k->quantifier.up);
		dump_text("label", &k->label, out);
		if (k->has_bucket)
			dump_quantity("bucket", &k->bucket, out);
	}
	for (size_t i = 0; i < s->col_count; i++) {
		const struct ast_col *c = &s->cols[i];
		buf_printf(out, " col=%d/%d%d", (int)c->column, c->has_order, c->is_ascending);
		dump_text("word", &c->word, out);
	}
}

static void dump_stage(const struct ast_stage *s, struct buf *out)
{
	buf_printf(out, "stage %d: view=%d format=%d %d%d%d", (int)s->kind, (int)s->view,
		   (int)s->format, s->is_recursion, s->is_selection, s->is_inverted);
	dump_lists(s, out);
	if (s->expr)
		dump_expr(s->expr, out);
	if (s->has_quantity)
		dump_quantity("quantity", &s->quantity, out);
	if (s->has_step)
		dump_step(&s->step, out);
	if (s->has_file)
		dump_text("file", &s->file, out);
	if (s->has_message)
		dump_text("message", &s->message, out);
	buf_putc(out, '\n');
}

void query_dump(const struct ast_query *q, struct buf *out)
{
	buf_printf(out, "head %d b=%d\n", (int)q->head, q->has_b);
	dump_source("a", &q->a, out);
	dump_source("b", &q->b, out);
	if (q->filter)
		dump_expr(q->filter, out);
	buf_putc(out, '\n');
	for (size_t i = 0; i < q->stage_count; i++)
		dump_stage(&q->stages[i], out);
}

const struct ast_query *query_last(const struct ast_script *s)
{
	for (size_t i = s->statement_count; i-- > 0;) {
		if (!s->statements[i].is_let)
			return &s->statements[i].query;
	}
	return NULL;
}
