/*
 * Conditions.  `and` may be left out between two of them; not binds tightest, then and, then
 * or.  Lists are flat: a and (b and c) is one list of three.
 */
#include "config.h"

#include "query/parse_priv.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "src/base/limits.h"

static bool parse_or(struct parser *p, struct ast_expr **out);

/* Words that are part of conditions and so need quotes as names. */
static const char *const reserved[] = {"and", "or", "not", "in", "of", "at"};

/* ---- what may come --------------------------------------------------------------- */

static bool is_primary_next(struct parser *p)
{
	want_fields(p);
	if (p->place != PLACE_FRAME && !p->is_assert) {
		parser_want_vocab(p, &vocab_quantifiers);
		parser_want(p, "path", "calls: a > b, a >> b");
	}
	parser_want(p, "(", "a condition in brackets");
	p->wants_let = true;
	bool is_pattern = is_pattern_next(p, LEX_EXPR, FIELD_FUNC);
	enum token_kind kind = p->token.kind;
	return is_pattern || kind == TOK_OPEN || kind == TOK_NAME;
}

static bool is_reserved(const struct parser *p)
{
	for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
		if (token_is(p, &p->token, reserved[i]))
			return true;
	}
	return false;
}

bool is_expr_next(struct parser *p)
{
	bool is_primary = is_primary_next(p);
	parser_want(p, "not", "what does not meet the condition");
	return is_primary || p->token.kind == TOK_BANG;
}

/* ---- making nodes ------------------------------------------------------------------- */

static bool count_nodes(struct parser *p, size_t count, struct ast_span span)
{
	p->node_count += count;
	return p->node_count <= LIMIT_QUERY_NODES ||
	       parser_too_many(p, span, "conditions, with those that names stand for",
			       LIMIT_QUERY_NODES);
}

static bool enter(struct parser *p, unsigned levels, struct ast_span span)
{
	p->depth += levels;
	if (p->depth > p->deepest)
		p->deepest = p->depth;
	return p->depth <= LIMIT_QUERY_DEPTH ||
	       parser_too_many(p, span, "levels of nesting", LIMIT_QUERY_DEPTH);
}

struct ast_expr *expr_new(struct parser *p, enum ast_expr_kind kind, struct ast_span span)
{
	if (!count_nodes(p, 1, span))
		return NULL;
	struct ast_expr *e = arena_zalloc(&p->script->arena, sizeof *e);
	if (!e) {
		parser_no_memory(p);
		return NULL;
	}
	e->kind = kind;
	e->span = span;
	e->compare.field = FIELD_NONE;
	e->compare.column = COL_NONE;
	return e;
}

static bool add_one(struct parser *p, struct ast_expr *list, struct ast_expr *item)
{
	struct ast_expr **at = parser_append(p, &list->items, &list->item_count,
					     sizeof(struct ast_expr *), "conditions in one list");
	if (at)
		*at = item;
	return at;
}

/* A list in a list of the same kind is spliced. */
static bool add_item(struct parser *p, struct ast_expr *list, struct ast_expr *item)
{
	if (item->kind != list->kind || list->kind == EXPR_NOT)
		return add_one(p, list, item);
	for (size_t i = 0; i < item->item_count; i++) {
		if (!add_one(p, list, item->items[i]))
			return false;
	}
	return true;
}

/* Make *out a list of `kind` unless it is one, and add an item. */
static bool join(struct parser *p, enum ast_expr_kind kind, struct ast_expr **out,
		 struct ast_expr *item)
{
	struct ast_expr *list = *out;
	if (list->kind != kind) {
		list = expr_new(p, kind, list->span);
		if (!list || !add_item(p, list, *out))
			return false;
		*out = list;
	}
	if (!add_item(p, list, item))
		return false;
	list->span = span_to_here(p, list->span.start);
	return true;
}

/* A bracket was opened, and something else came than its end. */
bool parser_unclosed(struct parser *p, struct ast_span open, const char *close)
{
	char shown[SHOWN_BYTES];
	if (p->token.kind != TOK_END)
		return parser_unexpected(p, NULL);
	if (p->lexer.is_completing)
		return false; /* what was noted stays for the completion */
	parser_forget(p);
	parser_want(p, close, NULL);
	return parser_fail_at(p, open, "'%s' is never closed", parser_show(p, open, shown));
}

/* ---- quantifiers, paths, names -------------------------------------------------------------- */

bool parse_frame_expr(struct parser *p, struct ast_span open, struct ast_expr **out)
{
	enum expr_place place = p->place;
	bool is_assert = p->is_assert;
	p->place = PLACE_FRAME;
	p->is_assert = false;
	p->bracket_depth++;
	if (!parse_or(p, out))
		return false;
	bool is_closed = parser_is(p, LEX_EXPR, TOK_UNBRACKET, "end of the frame");
	if (!is_closed)
		return parser_unclosed(p, open, "]");
	p->bracket_depth--;
	parser_take(p);
	p->place = place;
	p->is_assert = is_assert;
	return true;
}

static bool parse_quantified_field(struct parser *p, struct ast_quant q, uint32_t start,
				   struct ast_expr **out)
{
	char shown[SHOWN_BYTES];
	enum expr_place place = p->place;
	parser_take(p);
	p->place = PLACE_FRAME;
	struct token t = *parser_look(p, LEX_NAME);
	want_fields(p);
	const struct vocab_word *w =
		vocab_find(&vocab_fields, p->lexer.text + t.span.start, t.span.bytes);
	if (t.kind != TOK_WORD)
		return parser_unexpected(p, NULL);
	if (w && w->of != OF_FRAME) {
		parser_fail_at(p, t.span, "'%s' belongs to the allocation, not to a frame",
			       parser_show(p, t.span, shown));
		return parser_help(p, "write '%s' alone", shown);
	}
	if (!w)
		return fail_unknown_field(p, &t);
	parser_take(p);
	bool is_good = parse_compare(p, &t, q, start, out);
	p->place = place;
	return is_good;
}

static bool parse_quant(struct parser *p, const struct vocab_word *w, struct ast_quant q,
			struct ast_expr **out)
{
	struct token t = parser_take(p);
	note_let_use(p, NULL, w->word);
	if (parser_is(p, LEX_NAME, TOK_DOT, "a field of that frame"))
		return parse_quantified_field(p, q, t.span.start, out);
	if (!parser_is(p, LEX_NAME, TOK_BRACKET, "conditions on the same frame")) {
		parser_unexpected(p, NULL);
		return parser_help(p, "write %s.FIELD or %s[...]; as a name: \"%s\"", w->word,
				   w->word, w->word);
	}
	struct token open = parser_take(p);
	struct ast_expr *inner, *e = expr_new(p, EXPR_QUANT, t.span);
	if (!e || !parse_frame_expr(p, open.span, &inner) || !add_one(p, e, inner))
		return false;
	e->quantifier = q;
	e->span = span_to_here(p, t.span.start);
	*out = e;
	return true;
}

static bool parse_path_step(struct parser *p, struct ast_expr *e, bool is_far)
{
	struct ast_step *step =
		parser_append(p, &e->steps, &e->step_count, sizeof *step, "steps of a path");
	if (!step || !parse_step(p, true, step))
		return false;
	step->is_far = is_far;
	return true;
}

static bool parse_path(struct parser *p, struct ast_expr **out)
{
	struct token t = parser_take(p);
	struct ast_expr *e = expr_new(p, EXPR_PATH, t.span);
	if (!e)
		return false;
	note_let_use(p, NULL, "path");
	if (parser_is(p, LEX_STEP, TOK_CARET, "at the root")) {
		e->is_rooted = true;
		parser_take(p);
	}
	if (!parse_path_step(p, e, false))
		return false;
	while (true) {
		bool is_near = parser_is(p, LEX_EXPR, TOK_GT, "calls");
		bool is_far =
			parser_is(p, LEX_EXPR, TOK_FAR, "calls, through any number of frames");
		if (!is_near && !is_far)
			break;
		parser_take_open(p);
		if (!parse_path_step(p, e, is_far))
			return false;
	}
	if (parser_is(p, LEX_EXPR, TOK_DOLLAR, "at the leaf")) {
		e->is_leafed = true;
		parser_take(p);
	} else if (p->token.kind != TOK_FAR && is_op(p->token.kind)) {
		parser_unexpected(p, NULL);
		return parser_help(p, "a condition is a step in brackets: [func=NAME]");
	}
	e->span = span_to_here(p, t.span.start);
	*out = e;
	return true;
}

static const struct let_symbol *find_let(const struct parser *p, const struct ast_text *name)
{
	for (size_t i = 0; i < p->let_count; i++) {
		const struct ast_text *n = &p->lets[i].name;
		if (n->bytes == name->bytes && !memcmp(n->s, name->s, n->bytes))
			return &p->lets[i];
	}
	return NULL;
}

static bool undefined(struct parser *p, struct ast_span span)
{
	char shown[SHOWN_BYTES];
	parser_forget(p);
	for (size_t i = 0; i < p->let_count && i < WANT_MOST; i++) {
		if (p->lets[i].expr)
			parser_want(p, p->lets[i].name.s, "name");
	}
	struct ast_span name = {span.start + 1, span.bytes - 1};
	parser_fail_at(p, name, "'$%s' is not defined before it is used",
		       parser_show(p, name, shown));
	p->error->span = span;
	return false;
}

static bool parse_name(struct parser *p, struct ast_expr **out)
{
	char shown[SHOWN_BYTES];
	struct token t = p->token;
	struct ast_expr *e = expr_new(p, EXPR_NAME, t.span);
	if (!e || !parser_text(p, &t, &e->name))
		return false;
	const struct let_symbol *let = find_let(p, &e->name);
	parser_forget(p);
	if (!let)
		return undefined(p, t.span);
	parser_show(p, t.span, shown);
	if (!let->expr)
		return parser_fail_at(p, t.span, "'%s' is used in its own definition", shown);
	if (p->place == PLACE_BLOCKS && let->column)
		return parser_fail_at(p, t.span,
				      "'%s' uses the column '%s', which allocations do not have",
				      shown, let->column);
	if (p->place == PLACE_FRAME && let->not_frame)
		return parser_fail_at(p, t.span, "'%s' uses '%s', which a frame does not have",
				      shown, let->not_frame);
	note_let_use(p, let->column, let->not_frame);
	unsigned depth = p->depth;
	if (!count_nodes(p, let->node_count, t.span) || !enter(p, let->depth, t.span))
		return false;
	p->depth = depth;
	e->let_expr = let->expr;
	parser_take(p);
	*out = e;
	return true;
}

/* ---- primaries ------------------------------------------------------------------------------- */

static const char *bare_warning(const struct parser *p, const struct token *t)
{
	const char *s = p->lexer.text + t->span.start;
	uint32_t n = t->span.bytes;
	if (t->kind != TOK_WORD)
		return NULL;
	/* Columns a and b: too short to be taken for a mistake. */
	if (vocab_find(&vocab_fields, s, n) || (n > 1 && vocab_find(&vocab_columns, s, n)))
		return "the word is a field, but without a comparison it means functions that "
		       "have it in their name";
	if (vocab_find(&vocab_stages, s, n) || vocab_find(&vocab_views, s, n))
		return "the word is a stage, but without '|' before it it means functions that "
		       "have it in their name";
	if (vocab_find(&vocab_populations, s, n))
		return "the word is a population, but here it means functions that have it in "
		       "their name";
	return NULL;
}

/* A frame by a part of its function's name. */
static bool make_step(struct parser *p, const struct token *t, const struct ast_pattern *pattern,
		      struct ast_expr **out)
{
	struct ast_expr *e = expr_new(p, EXPR_STEP, t->span);
	if (!e)
		return false;
	struct ast_step *step =
		parser_append(p, &e->steps, &e->step_count, sizeof *step, "steps of a path");
	if (!step)
		return false;
	step->kind = STEP_PATTERN;
	step->pattern = *pattern;
	step->span = t->span;
	e->warning = bare_warning(p, t);
	*out = e;
	return true;
}

/* A word: a field and its comparison, or a part of a function's name. */
static bool parse_word(struct parser *p, struct ast_expr **out)
{
	char shown[SHOWN_BYTES];
	struct ast_pattern pattern;
	struct ast_compare unused = {.field = FIELD_NONE};
	struct token t = p->token;
	const struct vocab_word *w = find_field(p, &t, &unused);
	uint32_t end = t.span.start + t.span.bytes;
	bool is_label =
		unused.field == FIELD_LABEL && end < p->lexer.bytes && p->lexer.text[end] == '.';
	if (!is_label && !parse_pattern(p, FIELD_FUNC, &pattern))
		return false;
	if (is_label)
		parser_take(p);
	else if (w)
		want_ops(p, w->type);
	if (is_label || is_op_next(p))
		return parse_compare(p, &t, (struct ast_quant){.of = QUANT_DEFAULT}, t.span.start,
				     out);
	if (pattern.is_quantity) {
		parser_forget(p);
		parser_fail_at(p, t.span, "'%s' is a number, not a condition",
			       parser_show(p, t.span, shown));
		return parser_help(p, "compare something with it: size >= %s", shown);
	}
	return make_step(p, &t, &pattern, out);
}

static bool parse_parens(struct parser *p, struct ast_expr **out)
{
	struct token open = parser_take(p);
	bool is_assert = p->is_assert;
	p->is_assert = false;
	p->bracket_depth++;
	if (!parse_or(p, out))
		return false;
	bool is_closed = parser_is(p, LEX_EXPR, TOK_CLOSE, "end of the condition");
	if (!is_closed)
		return parser_unclosed(p, open.span, ")");
	p->bracket_depth--;
	p->is_assert = is_assert;
	parser_take(p);
	return true;
}

static bool parse_primary(struct parser *p, struct ast_expr **out)
{
	struct ast_pattern pattern;
	bool is_primary = is_primary_next(p);
	struct token t = p->token;
	if (!is_primary || is_reserved(p)) {
		parser_unexpected(p, NULL);
		if (token_is(p, &t, "at") || token_is(p, &t, "in") || token_is(p, &t, "of"))
			return parser_help(p, "'%.2s' comes right after the population",
					   p->lexer.text + t.span.start);
		return is_primary && parser_help(p, "to mean a name, put it in double quotes");
	}
	if (t.kind == TOK_OPEN)
		return parse_parens(p, out);
	if (t.kind == TOK_NAME)
		return parse_name(p, out);
	if (t.kind == TOK_WORD) {
		struct ast_quant quant;
		const struct vocab_word *q =
			vocab_quantifier(p->lexer.text + t.span.start, t.span.bytes, &quant);
		bool is_path = token_is(p, &t, "path");
		if (p->place == PLACE_FRAME && (q || is_path)) {
			parser_unexpected(p, NULL);
			return parser_help(p, "inside [...] everything is about one frame");
		}
		return q         ? parse_quant(p, q, quant, out)
		       : is_path ? parse_path(p, out)
				 : parse_word(p, out);
	}
	return parse_pattern(p, FIELD_FUNC, &pattern) && make_step(p, &t, &pattern, out);
}

/* ---- not, and, or ------------------------------------------------------------------------------ */

static bool is_not_next(struct parser *p)
{
	bool is_word = parser_is_word(p, LEX_EXPR, "not", "what does not meet the condition");
	return is_word || p->token.kind == TOK_BANG;
}

static bool parse_not(struct parser *p, struct ast_expr **out)
{
	struct ast_expr *outer = NULL, *inner = NULL;
	unsigned depth = p->depth;
	while (is_not_next(p)) {
		struct ast_expr *e = expr_new(p, EXPR_NOT, p->token.span);
		if (!e || !enter(p, 1, p->token.span) || (inner && !add_one(p, inner, e)))
			return false;
		outer = outer ? outer : e;
		inner = e;
		parser_take_open(p);
	}
	struct ast_expr *primary = NULL;
	if (!parse_primary(p, &primary) || (inner && !add_one(p, inner, primary)))
		return false;
	p->depth = depth;
	for (struct ast_expr *e = outer; e && e->kind == EXPR_NOT; e = e->items[0]) {
		e->span = span_to_here(p, e->span.start);
		if (e == inner)
			break;
	}
	*out = outer ? outer : primary;
	assert(*out);
	return true;
}

/* After a condition: does another follow without `and`? */
static bool is_joined_next(struct parser *p)
{
	if (!is_expr_next(p) || token_is(p, &p->token, "or"))
		return false;
	return !(p->is_assert && p->token.kind == TOK_STRING);
}

static bool parse_and(struct parser *p, struct ast_expr **out)
{
	if (!parse_not(p, out))
		return false;
	while (true) {
		struct ast_expr *item;
		if (parser_is_word(p, LEX_EXPR, "and", "both conditions"))
			parser_take_open(p);
		else if (!is_joined_next(p))
			return true;
		if (!parse_not(p, &item) || !join(p, EXPR_AND, out, item))
			return false;
	}
}

static bool parse_or(struct parser *p, struct ast_expr **out)
{
	unsigned depth = p->depth;
	if (!enter(p, 1, parser_look(p, LEX_EXPR)->span) || !parse_and(p, out))
		return false;
	while (parser_is_word(p, LEX_EXPR, "or", "one of the conditions")) {
		struct ast_expr *item;
		parser_take_open(p);
		if (!parse_and(p, &item) || !join(p, EXPR_OR, out, item))
			return false;
	}
	p->depth = depth;
	return true;
}

bool parse_expr(struct parser *p, enum expr_place place, struct ast_expr **out)
{
	p->place = place;
	return parse_or(p, out);
}
