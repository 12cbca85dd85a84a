/* Quantities, patterns, steps, instants and names of files. */
#include "config.h"

#include "query/parse_priv.h"

#include <stdio.h>
#include <string.h>

/* ---- quantities ----------------------------------------------------------------- */

static const char *type_text(enum value_type type)
{
	switch (type) {
	case VALUE_SIZE:
		return "a size such as 64K";
	case VALUE_COUNT:
	case VALUE_INT:
		return "a whole number";
	case VALUE_TIME:
		return "a duration such as 10ms";
	case VALUE_RATIO:
		return "a percentage such as 5%";
	case VALUE_RATE:
		return "bytes per second such as 64K";
	case VALUE_NAME:
		break;
	}
	return "a name";
}

static bool fits(enum value_type type, const struct ast_quantity *q)
{
	switch (type) {
	case VALUE_SIZE:
	case VALUE_RATE:
		return q->unit == UNIT_BYTES || q->unit == UNIT_NONE;
	case VALUE_COUNT:
	case VALUE_INT:
		return q->unit == UNIT_NONE && q->number == (double)q->value;
	case VALUE_TIME:
		return q->unit == UNIT_NS || (q->unit == UNIT_NONE && !q->value);
	case VALUE_RATIO:
		return q->unit == UNIT_PERCENT;
	case VALUE_NAME:
		break;
	}
	return true;
}

static void want_units(struct parser *p, enum value_type type)
{
	parser_forget(p);
	for (size_t i = 0; i < vocab_unit_count; i++) {
		if (vocab_units[i].of == type ||
		    (type == VALUE_RATE && vocab_units[i].of == VALUE_SIZE))
			parser_want(p, vocab_units[i].word, "unit");
	}
}

/* The word is no number of the language. */
static bool malformed(struct parser *p, enum lex_number rc, enum value_type type, size_t unit_bytes)
{
	char shown[SHOWN_BYTES], unit[SHOWN_BYTES];
	struct ast_span span = p->token.span;
	struct ast_span unit_span = {span.start + span.bytes - (uint32_t)unit_bytes,
				     (uint32_t)unit_bytes};
	parser_show(p, span, shown);
	switch (rc) {
	case NUMBER_UNIT:
		want_units(p, type);
		return parser_fail_at(p, unit_span, "unknown unit '%s'",
				      parser_show(p, unit_span, unit));
	case NUMBER_TOO_LARGE:
		return parser_fail_at(p, span, "the number '%s' is too large", shown);
	case NUMBER_MALFORMED:
		return parser_fail_at(p, span, "'%s' is not a number", shown);
	case NUMBER_NONE:
	case NUMBER_OK:
		break;
	}
	return parser_unexpected(p, NULL);
}

/* A number, but of something else. */
static bool misfit(struct parser *p, enum value_type type, const struct ast_quantity *q)
{
	char shown[SHOWN_BYTES];
	struct ast_span span = p->token.span;
	parser_show(p, span, shown);
	if (q->unit == UNIT_NONE && type == VALUE_TIME) {
		parser_fail_at(p, span, "the duration '%s' has no unit", shown);
		return parser_help(p, "write %ss, %sms, %sus, ...", shown, shown, shown);
	}
	if (q->unit == UNIT_NONE && type == VALUE_RATIO) {
		parser_fail_at(p, span, "the percentage '%s' has no unit", shown);
		return parser_help(p, "write %s%%", shown);
	}
	if (q->unit == UNIT_NONE)
		return parser_fail_at(p, span, "'%s' is not a whole number", shown);
	if (type == VALUE_COUNT || type == VALUE_INT) {
		parser_fail_at(p, span, "'%s' has a unit, where a plain number is meant", shown);
		return parser_help(p, "write the number in full: %lld", (long long)q->value);
	}
	const char *is = q->unit == UNIT_BYTES ? "a size"
			 : q->unit == UNIT_NS  ? "a duration"
					       : "a percentage";
	return parser_fail_at(p, span, "'%s' is %s, where something else is meant", shown, is);
}

bool parse_quantity_token(struct parser *p, enum value_type type, struct ast_quantity *out)
{
	size_t unit_bytes;
	struct token t = p->token;
	*out = (struct ast_quantity){.span = t.span};
	if (t.kind != TOK_WORD)
		return parser_unexpected(p, NULL);
	enum lex_number rc =
		lex_number(p->lexer.text + t.span.start, t.span.bytes, out, &unit_bytes);
	if (rc != NUMBER_OK)
		return malformed(p, rc, type, unit_bytes);
	if (!fits(type, out))
		return misfit(p, type, out);
	out->span = t.span;
	return parser_text(p, &t, &out->word);
}

/* `5 MiB` would be a size and a function with MiB in its name. */
static bool has_unit_apart(struct parser *p)
{
	char unit[SHOWN_BYTES];
	struct token next = lex_at(&p->lexer, p->pos, LEX_EXPR, false);
	for (size_t i = 0; i < vocab_unit_count; i++) {
		if (!token_is(p, &next, vocab_units[i].word))
			continue;
		parser_forget(p);
		parser_fail_at(p, next.span, "space before the unit '%s'",
			       parser_show(p, next.span, unit));
		return !parser_help(p, "write it right after the number");
	}
	return false;
}

bool parse_quantity(struct parser *p, enum value_type type, struct ast_quantity *out)
{
	parser_want(p, type_text(type), NULL);
	parser_look(p, LEX_NUMBER);
	if (!parse_quantity_token(p, type, out))
		return false;
	parser_take(p);
	return !has_unit_apart(p);
}

bool is_number_next(struct parser *p, enum lex_mode mode, enum value_type type)
{
	parser_want(p, type_text(type), NULL);
	struct token *t = parser_look(p, mode);
	const char *s = p->lexer.text + t->span.start;
	return t->kind == TOK_WORD &&
	       ((s[0] >= '0' && s[0] <= '9') || (s[0] == '-' && t->span.bytes > 1));
}

bool parse_int(struct parser *p, struct ast_quantity *out)
{
	if (!parse_quantity(p, VALUE_INT, out))
		return false;
	if (out->value > 0)
		return true;
	parser_forget(p);
	return parser_fail_at(p, out->span, "the number must be at least 1");
}

/* ---- patterns --------------------------------------------------------------------- */

static void want_names_of(struct parser *p, enum ast_field field)
{
	parser_want(p, field == FIELD_FUNC ? "a function" : "a name", NULL);
	p->want_names = field;
}

/* `foo(int)` would be the name foo and a condition in brackets. */
static bool has_bracket_joined(struct parser *p, const struct token *t)
{
	uint32_t end = t->span.start + t->span.bytes;
	if (t->kind != TOK_WORD || end >= p->lexer.bytes)
		return false;
	char next = p->lexer.text[end];
	if (next != '(' && next != '[' && next != '<')
		return false;
	if (next == '<' && p->token_mode != LEX_VALUE)
		return false; /* `siez<3`: a comparison */
	parser_forget(p);
	parser_fail_at(p, (struct ast_span){end, 1}, "a name ends where '%c' begins", next);
	return !parser_help(p, "put a name with brackets in double quotes");
}

static bool fill_pattern(struct parser *p, struct token *t, struct ast_pattern *out)
{
	size_t unit_bytes;
	*out = (struct ast_pattern){.ignores_case = t->ignores_case};
	if (has_bracket_joined(p, t))
		return false;
	out->kind = t->kind == TOK_STRING  ? PATTERN_STRING
		    : t->kind == TOK_REGEX ? PATTERN_REGEX
					   : PATTERN_WORD;
	if (!parser_text(p, t, &out->text))
		return false;
	if (t->kind == TOK_WORD)
		out->is_quantity = lex_number(out->text.s, out->text.bytes, &out->quantity,
					      &unit_bytes) == NUMBER_OK;
	if (out->is_quantity) {
		out->quantity.span = t->span;
		out->quantity.word = out->text;
	} else {
		out->quantity = (struct ast_quantity){0};
	}
	return true;
}

bool parse_value(struct parser *p, enum ast_field field, enum value_type type,
		 struct ast_pattern *out)
{
	struct ast_quantity number;
	struct token *t = parser_look(p, LEX_VALUE);
	if (type == VALUE_NAME)
		want_names_of(p, field);
	else
		parser_want(p, type_text(type), NULL);
	if (t->kind == TOK_MATCH) {
		parser_fail_at(p, t->span, "unexpected '~' after '='");
		return parser_help(p, "write '~' alone to match a pattern");
	}
	if (t->kind != TOK_WORD && (t->kind != TOK_STRING || type != VALUE_NAME))
		return parser_unexpected(p, NULL);
	if (type != VALUE_NAME && !parse_quantity_token(p, type, &number))
		return false;
	if (!fill_pattern(p, t, out))
		return false;
	parser_take(p);
	return type == VALUE_NAME || !has_unit_apart(p);
}

bool is_pattern_next(struct parser *p, enum lex_mode mode, enum ast_field names)
{
	want_names_of(p, names);
	parser_want(p, "\"a string\"", NULL);
	parser_want(p, "/a regular expression/", NULL);
	struct token *t = parser_look(p, mode);
	return t->kind == TOK_WORD || t->kind == TOK_STRING || t->kind == TOK_REGEX;
}

bool parse_pattern(struct parser *p, enum ast_field names, struct ast_pattern *out)
{
	if (!is_pattern_next(p, LEX_STEP, names))
		return parser_unexpected(p, NULL);
	struct token t = p->token;
	if (!fill_pattern(p, &t, out))
		return false;
	if (t.kind != TOK_REGEX && !out->text.bytes) {
		parser_forget(p);
		parser_fail_at(p, t.span, "empty name");
		return parser_help(p, "every name contains it");
	}
	parser_take(p);
	return true;
}

/* ---- steps --------------------------------------------------------------------------- */

bool is_step_next(struct parser *p, bool in_path)
{
	bool is_step = is_pattern_next(p, LEX_STEP, FIELD_FUNC);
	is_step |= parser_is(p, LEX_STEP, TOK_BRACKET, "a frame that meets a condition");
	if (in_path) {
		is_step |= parser_is(p, LEX_STEP, TOK_STAR, "one frame");
		is_step |= parser_is(p, LEX_STEP, TOK_STARSTAR, "any number of frames");
	}
	return is_step;
}

bool parse_step(struct parser *p, bool in_path, struct ast_step *out)
{
	*out = (struct ast_step){0};
	if (!is_step_next(p, in_path))
		return parser_unexpected(p, NULL);
	struct token t = p->token;
	switch (t.kind) {
	case TOK_BRACKET:
		parser_take(p);
		out->kind = STEP_EXPR;
		if (!parse_frame_expr(p, t.span, &out->expr))
			return false;
		break;
	case TOK_STAR:
	case TOK_STARSTAR:
		parser_take(p);
		out->kind = t.kind == TOK_STAR ? STEP_ONE : STEP_MANY;
		break;
	default:
		out->kind = STEP_PATTERN;
		if (!parse_pattern(p, FIELD_FUNC, &out->pattern))
			return false;
	}
	out->span = span_to_here(p, t.span.start);
	return true;
}

/* ---- instants --------------------------------------------------------------------------- */

static const struct time_word {
	const char *word, *meaning;
	enum ast_time_base base;
} time_words[] = {
	{"start", "of the run", TIME_START},
	{"end", "of the run", TIME_END},
	{"peak", "when the process held most", TIME_PEAK},
	{"cursor", "the instant chosen in the browser", TIME_CURSOR},
};

/* The base of an instant if one is next; -1 if not. */
static int time_base_next(struct parser *p)
{
	int base = -1;
	for (size_t i = 0; i < sizeof time_words / sizeof time_words[0]; i++) {
		if (parser_is_word(p, LEX_TIME, time_words[i].word, time_words[i].meaning))
			base = (int)time_words[i].base;
	}
	if (parser_is(p, LEX_TIME, TOK_AT, "a mark"))
		base = TIME_MARK;
	if (is_number_next(p, LEX_TIME, VALUE_TIME))
		base = TIME_DURATION;
	parser_want(p, "a percentage of the run", NULL);
	return base;
}

static bool parse_mark(struct parser *p, struct ast_text *out)
{
	parser_take(p);
	struct token *t = parser_look(p, LEX_MARK);
	parser_want(p, "the name of a mark", NULL);
	if (t->kind != TOK_WORD && t->kind != TOK_STRING)
		return parser_unexpected(p, NULL);
	if (!parser_text(p, t, out))
		return false;
	parser_take(p);
	return true;
}

static bool parse_instant_number(struct parser *p, struct ast_time *out)
{
	struct token t = p->token;
	bool is_percent = p->lexer.text[t.span.start + t.span.bytes - 1] == '%';
	if (!parse_quantity_token(p, is_percent ? VALUE_RATIO : VALUE_TIME, &out->quantity))
		return false;
	if (is_percent && out->quantity.number > 100)
		return parser_fail_at(p, t.span, "an instant past 100%% of the run");
	out->base = is_percent ? TIME_PERCENT : TIME_DURATION;
	parser_take(p);
	return true;
}

static bool parse_offset(struct parser *p, int64_t *offset_ns)
{
	struct ast_quantity q;
	bool is_plus = parser_is(p, LEX_TIME, TOK_PLUS, "later");
	bool is_minus = parser_is(p, LEX_TIME, TOK_MINUS, "earlier");
	if (!is_plus && !is_minus)
		return true;
	parser_take(p);
	if (!is_number_next(p, LEX_TIME, VALUE_TIME))
		return parser_unexpected(p, NULL);
	if (!parse_quantity_token(p, VALUE_TIME, &q))
		return false;
	parser_take(p);
	*offset_ns = is_plus ? q.value : -q.value;
	return true;
}

/* The instant whose base was looked at. */
static bool parse_time_of(struct parser *p, int base, struct ast_time *out)
{
	uint32_t start = p->token.span.start;
	*out = (struct ast_time){.base = (enum ast_time_base)base};
	if (base == TIME_MARK) {
		if (!parse_mark(p, &out->mark))
			return false;
	} else if (base == TIME_DURATION) {
		if (!parse_instant_number(p, out))
			return false;
	} else {
		parser_take(p);
	}
	if (!parse_offset(p, &out->offset_ns))
		return false;
	out->span = span_to_here(p, start);
	return true;
}

bool parse_time(struct parser *p, struct ast_time *out)
{
	int base = time_base_next(p);
	if (base < 0)
		return parser_unexpected(p, "instant");
	return parse_time_of(p, base, out);
}

bool parse_timerange(struct parser *p, struct ast_timerange *out)
{
	*out = (struct ast_timerange){0};
	int base = time_base_next(p);
	uint32_t start = p->token.span.start;
	if (base >= 0) {
		out->has_from = true;
		if (!parse_time_of(p, base, &out->from))
			return false;
	}
	if (!parser_is(p, LEX_TIME, TOK_DOTDOT, "up to")) {
		parser_unexpected(p, out->has_from ? NULL : "instant");
		return out->has_from ? parser_help(p, "a window has two ends: FROM..TO") : false;
	}
	parser_take(p);
	base = time_base_next(p);
	if (base >= 0) {
		out->has_to = true;
		if (!parse_time_of(p, base, &out->to))
			return false;
	}
	out->span = span_to_here(p, start);
	return true;
}

/* ---- labels and files ------------------------------------------------------------------- */

bool parse_label_key(struct parser *p, struct ast_text *out)
{
	if (!parser_is(p, LEX_NAME, TOK_DOT, "label.KEY"))
		return parser_unexpected(p, NULL);
	parser_take(p);
	struct token *t = parser_look(p, LEX_LABEL);
	parser_want(p, "the key of a label", NULL);
	if (t->kind != TOK_WORD)
		return parser_unexpected(p, NULL);
	if (!parser_text(p, t, out))
		return false;
	parser_take(p);
	return true;
}

bool parse_file(struct parser *p, struct ast_text *out)
{
	parser_want(p, "the name of a file", NULL);
	struct token t = *parser_look(p, LEX_FILE);
	if (t.kind != TOK_WORD && t.kind != TOK_STRING)
		return parser_unexpected(p, NULL);
	if (!parser_text(p, &t, out))
		return false;
	if (!out->bytes)
		return parser_fail_at(p, t.span, "empty file name");
	parser_take(p);
	return true;
}
