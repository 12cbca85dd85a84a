/* Stages: what stands between two `|`. */
#include "config.h"

#include "query/parse_priv.h"

#include <stdio.h>
#include <string.h>

/* ---- keys and columns --------------------------------------------------------------- */

/* The word of a key, column or field; `in_by`: keys only. */
static const struct vocab_word *find_row_word(struct parser *p, bool in_by, bool *is_column,
					      bool *is_key)
{
	const struct vocab_word *column =
		in_by ? NULL : parser_is_vocab(p, LEX_NAME, &vocab_columns);
	const struct vocab_word *field = parser_is_vocab(p, LEX_NAME, &vocab_fields);
	const struct vocab_word *key = parser_is_vocab(p, LEX_NAME, &vocab_keys);
	/* Keys of rows that nobody can ask for: the view has them. */
	static const struct vocab_word role = {.word = "role", .type = VALUE_NAME};
	static const struct vocab_word bucket = {.word = "bucket", .type = VALUE_INT};
	bool is_role = !in_by &&
		       parser_is_word(p, LEX_NAME, role.word, "of peek: caller, frame or callee");
	bool is_bucket = !in_by && parser_is_word(p, LEX_NAME, bucket.word,
						  "of hist of a column: where it begins");
	*is_column = column;
	*is_key = key || is_role || is_bucket;
	if (is_role || is_bucket)
		return is_role ? &role : &bucket;
	return column ? column : field ? field : key;
}

static bool parse_bucket(struct parser *p, enum value_type type, struct ast_key *out)
{
	out->has_bucket = true;
	parser_take(p);
	if (!parse_quantity(p, type, &out->bucket))
		return false;
	parser_forget(p);
	return out->bucket.value > 0 ||
	       parser_fail_at(p, out->bucket.span, "slices must be larger than 0");
}

/* Is it `leaf`, `root` or `caller`, whose field follows?  Fields of any frame, or of all, are no keys. */
static bool is_one_frame_next(struct parser *p, struct ast_quant *out)
{
	const struct token *t = parser_look(p, LEX_NAME);
	*out = (struct ast_quant){.of = QUANT_DEFAULT};
	for (size_t i = 0; i < vocab_quantifiers.count; i++) {
		const struct vocab_word *w = &vocab_quantifiers.words[i];
		if (quant_is_one_frame((struct ast_quant){.of = (enum ast_quantifier)w->id}))
			parser_want(p, w->word, w->meaning);
	}
	if (t->kind == TOK_WORD)
		vocab_quantifier(p->lexer.text + t->span.start, t->span.bytes, out);
	if (!quant_is_one_frame(*out))
		*out = (struct ast_quant){.of = QUANT_DEFAULT};
	return out->of != QUANT_DEFAULT;
}

/* A property of frames, after `leaf.`. */
static const struct vocab_word *find_frame_word(struct parser *p, bool *is_key)
{
	const struct token *t = parser_look(p, LEX_NAME);
	const struct vocab_word *class = &vocab_keys.words[KEY_CLASS - 1];
	const char *s = p->lexer.text + t->span.start;
	const struct vocab_word *found = NULL;
	for (size_t i = 0; i < vocab_fields.count; i++) {
		if (vocab_fields.words[i].of == OF_FRAME)
			parser_want(p, vocab_fields.words[i].word, vocab_fields.words[i].meaning);
	}
	parser_want(p, class->word, class->meaning);
	if (t->kind == TOK_WORD)
		found = vocab_find(&vocab_fields, s, t->span.bytes);
	*is_key = token_is(p, t, class->word);
	return *is_key ? class : found && found->of == OF_FRAME ? found : NULL;
}

/* `leaf.`, if one follows, and the word of the property. */
static const struct vocab_word *find_word_of_frame(struct parser *p, bool in_by,
						   struct ast_quant *quantifier, bool *is_column,
						   bool *is_key)
{
	const struct vocab_word *w = find_row_word(p, in_by, is_column, is_key);
	if (w)
		return w;
	if (!is_one_frame_next(p, quantifier)) {
		const struct token *t = &p->token;
		bool is_of_many = vocab_find(&vocab_quantifiers, p->lexer.text + t->span.start,
					     t->span.bytes);
		parser_unexpected(p, in_by ? "key" : "column");
		if (is_of_many)
			parser_help(p, "a key is of one frame: leaf.func, caller.func, root.func");
		return NULL;
	}
	parser_take(p);
	if (!parser_is(p, LEX_NAME, TOK_DOT, "a field of that frame")) {
		parser_unexpected(p, NULL);
		return NULL;
	}
	parser_take(p);
	w = find_frame_word(p, is_key);
	if (!w)
		parser_unexpected(p, "field of a frame");
	return w;
}

static bool parse_key(struct parser *p, struct ast_key *out)
{
	bool is_column, is_key;
	uint32_t start = parser_look(p, LEX_NAME)->span.start;
	const struct vocab_word *w =
		find_word_of_frame(p, true, &out->quantifier, &is_column, &is_key);
	if (!w)
		return false;
	parser_take(p);
	out->kind = is_key ? (enum ast_key_kind)w->id : KEY_FIELD;
	out->field = is_key ? FIELD_NONE : (enum ast_field)w->id;
	if (out->field == FIELD_LABEL && !parse_label_key(p, &out->label))
		return false;
	bool takes_bucket = is_key ? w->id == KEY_TIME : w->type != VALUE_NAME;
	if (takes_bucket && parser_is(p, LEX_NAME, TOK_COLON, "width of one slice")) {
		if (!parse_bucket(p, w->type, out))
			return false;
	} else if (is_key && w->id == KEY_TIME) {
		parser_look(p, LEX_NAME);
		parser_unexpected(p, NULL);
		return parser_help(p, "say how wide the slices are: time:100ms");
	}
	out->span = span_to_here(p, start);
	return true;
}

/* label.KEY as one word. */
static bool join_label(struct parser *p, const struct token *t, struct ast_text *word)
{
	struct ast_text key;
	if (!parse_label_key(p, &key))
		return false;
	size_t head = t->span.bytes + 1;
	char *s = arena_zalloc(&p->script->arena, head + key.bytes + 1);
	if (!s)
		return parser_no_memory(p);
	memcpy(s, word->s, t->span.bytes);
	s[t->span.bytes] = '.';
	memcpy(s + head, key.s, key.bytes);
	word->s = s;
	word->bytes = (uint32_t)(head + key.bytes);
	word->span = span_to_here(p, t->span.start);
	return true;
}

bool parse_col(struct parser *p, struct ast_col *out)
{
	bool is_column, is_key;
	struct ast_quant quantifier = {.of = QUANT_DEFAULT};
	uint32_t start = parser_look(p, LEX_NAME)->span.start;
	const struct vocab_word *w = find_word_of_frame(p, false, &quantifier, &is_column, &is_key);
	if (!w)
		return false;
	struct token t = *parser_look(p, LEX_NAME);
	*out = (struct ast_col){.column = is_column ? (enum ast_column)w->id : COL_NONE};
	if (!parser_text(p, &t, &out->word))
		return false;
	parser_take(p);
	if (!parser_key_word(p, quantifier, &out->word))
		return false;
	out->word.span = span_to_here(p, start);
	bool is_label = !is_column && !is_key && w->id == FIELD_LABEL;
	return !is_label || join_label(p, &t, &out->word);
}

static bool parse_order(struct parser *p, struct ast_col *out)
{
	bool is_asc = parser_is_word(p, LEX_NAME, "asc", "smallest first");
	bool is_desc = parser_is_word(p, LEX_NAME, "desc", "largest first");
	out->has_order = is_asc || is_desc;
	out->is_ascending = is_asc;
	if (out->has_order)
		parser_take(p);
	return true;
}

static bool parse_cols(struct parser *p, struct ast_stage *s, bool has_order)
{
	do {
		if (s->col_count)
			parser_take_open(p);
		struct ast_col *c = parser_append(p, &s->cols, &s->col_count, sizeof *c, "columns");
		if (!c || !parse_col(p, c) || (has_order && !parse_order(p, c)))
			return false;
	} while (parser_is(p, LEX_NAME, TOK_COMMA, "one more column"));
	return true;
}

static bool parse_one_col(struct parser *p, struct ast_stage *s)
{
	struct ast_col *c = parser_append(p, &s->cols, &s->col_count, sizeof *c, "columns");
	return c && parse_col(p, c);
}

/* ---- stages with a function of their own ------------------------------------------------- */

static bool parse_by(struct parser *p, struct ast_stage *s)
{
	do {
		if (s->key_count)
			parser_take_open(p);
		struct ast_key *k = parser_append(p, &s->keys, &s->key_count, sizeof *k, "keys");
		if (!k || !parse_key(p, k))
			return false;
	} while (parser_is(p, LEX_NAME, TOK_COMMA, "one more key"));
	return true;
}

static bool parse_top(struct parser *p, struct ast_stage *s)
{
	s->has_quantity = true;
	if (!parse_int(p, &s->quantity))
		return false;
	if (!parser_is_word(p, LEX_NAME, "by", "which column decides"))
		return true;
	parser_take(p);
	return parse_one_col(p, s);
}

static bool parse_min(struct parser *p, struct ast_stage *s)
{
	size_t unit_bytes;
	struct ast_quantity q;
	parser_want(p, "a percentage such as 1%", NULL);
	parser_want(p, "a size such as 64K", NULL);
	struct token *t = parser_look(p, LEX_NUMBER);
	enum value_type type = VALUE_INT;
	if (t->kind == TOK_WORD &&
	    lex_number(p->lexer.text + t->span.start, t->span.bytes, &q, &unit_bytes) == NUMBER_OK)
		type = q.unit == UNIT_PERCENT ? VALUE_RATIO
		       : q.unit == UNIT_NONE  ? VALUE_INT
					      : VALUE_SIZE;
	s->has_quantity = true;
	if (!parse_quantity(p, type, &s->quantity))
		return false;
	parser_forget(p);
	return s->quantity.value >= 0 ||
	       parser_fail_at(p, s->quantity.span, "the smallest share cannot be negative");
}

static bool parse_stage_step(struct parser *p, struct ast_stage *s)
{
	s->has_step = true;
	return parse_step(p, false, &s->step);
}

static bool parse_collapse(struct parser *p, struct ast_stage *s)
{
	if (!parser_is_word(p, LEX_STEP, "recursion", "a function's calls of itself"))
		return parse_stage_step(p, s);
	parser_take(p);
	s->is_recursion = true;
	return true;
}

static bool parse_percent(struct parser *p, struct ast_stage *s)
{
	bool is_all = parser_is_word(p, LEX_NAME, "all", "of the population");
	s->is_selection = parser_is_word(p, LEX_NAME, "selection", "of what the filters keep");
	if (!is_all && !s->is_selection)
		return parser_unexpected(p, "base of percentages");
	parser_take(p);
	return true;
}

static bool parse_assert(struct parser *p, struct ast_stage *s)
{
	p->is_assert = true;
	if (!parse_expr(p, PLACE_ROWS, &s->expr))
		return false;
	p->is_assert = false;
	parser_want(p, "\"a message\"", NULL);
	struct token *t = parser_look(p, LEX_EXPR);
	if (t->kind != TOK_STRING)
		return true;
	s->has_message = true;
	if (!parser_text(p, t, &s->message))
		return false;
	parser_take(p);
	return true;
}

static bool parse_as(struct parser *p, struct ast_stage *s)
{
	const struct vocab_word *f = parser_is_vocab(p, LEX_NAME, &vocab_formats);
	if (!f)
		return parser_unexpected(p, "format");
	s->format = (enum ast_format)f->id;
	parser_take(p);
	s->has_file = parser_is_word(p, LEX_NAME, "to", "write to a file");
	if (!s->has_file)
		return true;
	parser_take(p);
	return parse_file(p, &s->file);
}

/* ---- views --------------------------------------------------------------------------------- */

static bool parse_count(struct parser *p, struct ast_stage *s)
{
	s->has_quantity = is_number_next(p, LEX_NUMBER, VALUE_INT);
	return !s->has_quantity || parse_int(p, &s->quantity);
}

static bool is_col_next(struct parser *p)
{
	parser_want_vocab(p, &vocab_columns);
	parser_want_vocab(p, &vocab_fields);
	return parser_look(p, LEX_NAME)->kind == TOK_WORD;
}

static bool parse_view(struct parser *p, struct ast_stage *s)
{
	switch (s->view) {
	case VIEW_TREE:
	case VIEW_TIMELINE:
		return parse_count(p, s);
	case VIEW_CALLERS:
	case VIEW_CALLEES:
		return !is_step_next(p, false) || parse_stage_step(p, s);
	case VIEW_PEEK:
	case VIEW_SOURCE:
		return parse_stage_step(p, s);
	case VIEW_FLAME:
		s->is_inverted = parser_is_word(p, LEX_NAME, "inverted", "leaves at the bottom");
		if (s->is_inverted)
			parser_take(p);
		return true;
	case VIEW_HIST:
		return !is_col_next(p) || parse_one_col(p, s);
	case VIEW_TABLE:
	case VIEW_STACKS:
	case VIEW_SUM:
		break;
	}
	return true;
}

/* ---- all ------------------------------------------------------------------------------------ */

static bool parse_rest(struct parser *p, struct ast_stage *s)
{
	switch (s->kind) {
	case STAGE_WHERE:
		return parse_expr(p, PLACE_ROWS, &s->expr);
	case STAGE_BY:
		return parse_by(p, s);
	case STAGE_SORT:
		return parse_cols(p, s, true);
	case STAGE_TOP:
	case STAGE_BOTTOM:
		return parse_top(p, s);
	case STAGE_LIMIT:
		s->has_quantity = true;
		return parse_int(p, &s->quantity);
	case STAGE_SELECT:
		return parse_cols(p, s, false);
	case STAGE_MIN:
		return parse_min(p, s);
	case STAGE_HIDE:
	case STAGE_ZOOM:
	case STAGE_TRIM:
		return parse_stage_step(p, s);
	case STAGE_COLLAPSE:
		return parse_collapse(p, s);
	case STAGE_PERCENT:
		return parse_percent(p, s);
	case STAGE_VIEW:
		return parse_view(p, s);
	case STAGE_AS:
		return parse_as(p, s);
	case STAGE_ASSERT:
		return parse_assert(p, s);
	}
	return false;
}

/* Words of other languages. */
static const struct {
	const char *word, *help;
} aliases[] = {
	{"group", "write 'by'"},
	{"groupby", "write 'by'"},
	{"filter", "write 'where'"},
	{"grep", "write 'where'"},
	{"having", "write 'where'"},
	{"order", "write 'sort'"},
	{"orderby", "write 'sort'"},
	{"head", "write 'top'"},
	{"first", "write 'top'"},
	{"tail", "write 'bottom'"},
	{"last", "write 'bottom'"},
	{"columns", "write 'select'"},
	{"format", "write 'as FORMAT'"},
	{"export", "write 'as FORMAT to FILE'"},
	{"flamegraph", "write 'flame'"},
	{"histogram", "write 'hist'"},
	{"total", "write 'sum'"},
	{"count", "write 'sum'"},
	{"exclude", "write 'where not'"},
	{"focus", "write 'zoom', or 'where'"},
	{"ignore", "write 'where not'"},
	{"show", "write 'select'"},
	{"graph", "write 'tree' or 'flame'"},
};

static bool unknown_stage(struct parser *p)
{
	parser_unexpected(p, "stage");
	for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
		if (token_is(p, &p->token, aliases[i].word))
			parser_help(p, "%s", aliases[i].help);
	}
	for (size_t i = 0; i < vocab_formats.count; i++) {
		if (token_is(p, &p->token, vocab_formats.words[i].word))
			parser_help(p, "write 'as %s'", vocab_formats.words[i].word);
	}
	return false;
}

void want_stages(struct parser *p)
{
	parser_want_vocab(p, &vocab_stages);
	parser_want_vocab(p, &vocab_views);
}

bool parse_stage(struct parser *p, struct ast_stage *out)
{
	const struct vocab_word *stage = parser_is_vocab(p, LEX_NAME, &vocab_stages);
	const struct vocab_word *view = parser_is_vocab(p, LEX_NAME, &vocab_views);
	if (!stage && !view)
		return unknown_stage(p);
	struct token t = parser_take(p);
	out->format = FORMAT_NONE;
	out->kind = view ? STAGE_VIEW : (enum ast_stage_kind)stage->id;
	if (view)
		out->view = (enum ast_view)view->id;
	if (!parse_rest(p, out))
		return false;
	out->span = span_to_here(p, t.span.start);
	return true;
}
