/* Comparisons of a field, a column or a key with a value, a list or a range. */
#include "config.h"

#include "query/parse_priv.h"

#include <string.h>

/* ---- operators and values ----------------------------------------------------------------- */

static const struct op {
	enum token_kind kind;
	enum ast_op op;
	bool for_names, for_numbers;
	const char *meaning;
} ops[] = {
	{TOK_EQ, OP_EQ, true, true, "is"},
	{TOK_NE, OP_NE, true, true, "is not"},
	{TOK_MATCH, OP_MATCH, true, false, "contains, or matches /.../"},
	{TOK_NOT_MATCH, OP_NOT_MATCH, true, false, "does not contain or match"},
	{TOK_LT, OP_LT, false, true, "less than"},
	{TOK_LE, OP_LE, false, true, "at most"},
	{TOK_GT, OP_GT, false, true, "more than"},
	{TOK_GE, OP_GE, false, true, "at least"},
};

static const struct op *op_of_token(enum token_kind kind)
{
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		if (ops[i].kind == kind)
			return &ops[i];
	}
	return NULL;
}

bool is_op(enum token_kind kind)
{
	return op_of_token(kind);
}

bool is_op_next(struct parser *p)
{
	struct token *t = parser_look(p, LEX_EXPR);
	return op_of_token(t->kind) || token_is(p, t, "in");
}

void want_ops(struct parser *p, enum value_type type)
{
	for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
		if (type == VALUE_NAME ? ops[i].for_names : ops[i].for_numbers)
			parser_want(p, lex_token_text(ops[i].kind), ops[i].meaning);
	}
	parser_want(p, "in", type == VALUE_NAME ? "one of (A, B)" : "FROM..TO, or one of (A, B)");
}

static bool parse_list(struct parser *p, struct ast_compare *c, enum value_type type)
{
	struct token open = parser_take(p);
	p->bracket_depth++;
	do {
		if (c->value_count)
			parser_take(p);
		struct ast_pattern *v = parser_append(p, &c->values, &c->value_count, sizeof *v,
						      "values in a list");
		if (!v || !parse_value(p, c->field, type, v))
			return false;
	} while (parser_is(p, LEX_EXPR, TOK_COMMA, "one more"));
	bool is_closed = parser_is(p, LEX_EXPR, TOK_CLOSE, "end of the list");
	if (!is_closed)
		return parser_unclosed(p, open.span, ")");
	p->bracket_depth--;
	parser_take(p);
	c->op = OP_IN_LIST;
	return true;
}

static bool parse_in(struct parser *p, struct ast_compare *c, enum value_type type)
{
	parser_take(p);
	if (parser_is(p, LEX_NUMBER, TOK_OPEN, "a list"))
		return parse_list(p, c, type);
	if (type == VALUE_NAME)
		return parser_unexpected(p, NULL);
	c->op = OP_IN_RANGE;
	if (is_number_next(p, LEX_NUMBER, type)) {
		c->has_low = true;
		if (!parse_quantity(p, type, &c->low))
			return false;
	}
	if (!parser_is(p, LEX_NUMBER, TOK_DOTDOT, "up to")) {
		parser_unexpected(p, NULL);
		return c->has_low ? parser_help(p, "a range is FROM..TO, FROM.. or ..TO") : false;
	}
	parser_take(p);
	if (is_number_next(p, LEX_NUMBER, type)) {
		c->has_high = true;
		return parse_quantity(p, type, &c->high);
	}
	return true;
}

static bool parse_op(struct parser *p, struct ast_compare *c, enum value_type type)
{
	char shown[SHOWN_BYTES];
	struct token *t = parser_look(p, LEX_EXPR);
	want_ops(p, type);
	if (token_is(p, t, "in"))
		return parse_in(p, c, type);
	const struct op *op = op_of_token(t->kind);
	if (!op)
		return parser_unexpected(p, NULL);
	if (type == VALUE_NAME ? !op->for_names : !op->for_numbers)
		return parser_fail_at(p, t->span, "'%s' cannot be compared by '%s': it is %s",
				      parser_show(p, c->word.span, shown), lex_token_text(t->kind),
				      type == VALUE_NAME ? "text" : "a number");
	parser_take(p);
	c->op = op->op;
	if (op->op > OP_NOT_MATCH) {
		c->has_low = true;
		return parse_quantity(p, type, &c->low);
	}
	struct ast_pattern *v =
		parser_append(p, &c->values, &c->value_count, sizeof *v, "values in a list");
	if (!v)
		return false;
	if (op->op >= OP_MATCH)
		return parse_pattern(p, c->field, v);
	if (!parse_value(p, c->field, type, v))
		return false;
	c->has_low = type != VALUE_NAME;
	if (c->has_low)
		c->low = v->quantity;
	return true;
}

/* `func=/x/`: a path by the grammar, but hardly meant. */
static const char *slashes_warning(const struct ast_compare *c)
{
	if (c->op != OP_EQ && c->op != OP_NE)
		return NULL;
	const struct ast_text *v = &c->values[0].text;
	size_t end = v->bytes > 1 && v->s[v->bytes - 1] == 'i' ? v->bytes - 1 : v->bytes;
	if (c->values[0].kind != PATTERN_WORD || end < 3 || v->s[0] != '/' || v->s[end - 1] != '/')
		return NULL;
	return "after '=' slashes are part of the name; a regular expression is written with '~'";
}

/* ---- fields ------------------------------------------------------------------------------- */

void want_fields(struct parser *p)
{
	if (p->is_assert) {
		parser_want_vocab(p, &vocab_columns);
		return;
	}
	for (size_t i = 0; i < vocab_fields.count; i++) {
		const struct vocab_word *f = &vocab_fields.words[i];
		if (p->place != PLACE_FRAME || f->of == OF_FRAME)
			parser_want(p, f->word, f->meaning);
	}
	if (p->place != PLACE_ROWS && p->place != PLACE_LET)
		return;
	parser_want_vocab(p, &vocab_columns);
	for (size_t i = 0; i < vocab_keys.count; i++) {
		if (vocab_keys.words[i].id != KEY_STACK)
			parser_want(p, vocab_keys.words[i].word, vocab_keys.words[i].meaning);
	}
}

bool fail_unknown_field(struct parser *p, const struct token *t)
{
	char shown[SHOWN_BYTES];
	const char *s = p->lexer.text + t->span.start;
	const char *dot = memchr(s, '.', t->span.bytes);
	parser_forget(p);
	if (dot && p->place != PLACE_FRAME &&
	    vocab_find(&vocab_fields, dot + 1, (size_t)(s + t->span.bytes - dot - 1))) {
		struct ast_span head = {t->span.start, (uint32_t)(dot - s)};
		parser_want_vocab(p, &vocab_quantifiers);
		return parser_fail_at(p, head, "unknown quantifier '%s'",
				      parser_show(p, head, shown));
	}
	want_fields(p);
	parser_show(p, t->span, shown);
	if (p->place == PLACE_BLOCKS && vocab_find(&vocab_columns, s, t->span.bytes)) {
		parser_fail_at(p, t->span, "'%s' is a column, not a field of allocations", shown);
		return parser_help(p, "use it in '| where' after '| by'");
	}
	if (p->place == PLACE_FRAME && vocab_find(&vocab_fields, s, t->span.bytes)) {
		parser_fail_at(p, t->span, "'%s' belongs to the allocation, not to a frame", shown);
		return parser_help(p, "write '%s' outside the brackets", shown);
	}
	return parser_fail_at(p, t->span, "unknown %s '%s'", p->is_assert ? "column" : "field",
			      shown);
}

void note_let_use(struct parser *p, const char *column, const char *not_frame)
{
	if (!p->let || p->place != PLACE_LET)
		return;
	if (!p->let->column)
		p->let->column = column;
	if (!p->let->not_frame)
		p->let->not_frame = not_frame;
}

const struct vocab_word *find_field(const struct parser *p, const struct token *t,
				    struct ast_compare *c)
{
	const char *s = p->lexer.text + t->span.start;
	bool has_rows = p->place == PLACE_ROWS || p->place == PLACE_LET;
	const struct vocab_word *w = vocab_find(&vocab_fields, s, t->span.bytes);
	if (w && (p->place != PLACE_FRAME || w->of == OF_FRAME)) {
		c->field = (enum ast_field)w->id;
		return w;
	}
	w = has_rows ? vocab_find(&vocab_columns, s, t->span.bytes) : NULL;
	if (w) {
		c->column = (enum ast_column)w->id;
		return w;
	}
	w = has_rows ? vocab_find(&vocab_keys, s, t->span.bytes) : NULL;
	return w && w->id != KEY_STACK ? w : NULL;
}

bool parse_compare(struct parser *p, const struct token *t, struct ast_quant q, uint32_t start,
		   struct ast_expr **out)
{
	struct ast_expr *e = expr_new(p, EXPR_COMPARE, t->span);
	if (!e)
		return false;
	struct ast_compare *c = &e->compare;
	const struct vocab_word *w = find_field(p, t, c);
	if (!w)
		return fail_unknown_field(p, t);
	note_let_use(p, c->field == FIELD_NONE ? w->word : NULL,
		     c->field == FIELD_NONE || w->of == OF_BLOCK ? w->word : NULL);
	c->quantifier = q;
	if (!parser_text(p, t, &c->word))
		return false;
	c->key = c->word;
	if (!parser_key_word(p, q, &c->key))
		return false;
	if (c->field == FIELD_LABEL && !parse_label_key(p, &c->label))
		return false;
	if (!parse_op(p, c, w->type))
		return false;
	e->warning = slashes_warning(c);
	e->span = span_to_here(p, start);
	*out = e;
	return true;
}
