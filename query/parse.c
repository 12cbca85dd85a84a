/* Scripts, lets, heads and sources; where parsing begins and ends. */
#include "config.h"

#include "query/parse_priv.h"

#include <string.h>

#include "src/base/limits.h"

/* ---- sources -------------------------------------------------------------------- */

/* `of`, `at` or `in`, which is next, does not go with this population (any more). */
static bool wrong_clause(struct parser *p, const struct vocab_word *pop, const struct ast_source *s)
{
	struct token *t = &p->token;
	bool is_at = token_is(p, t, "at"), is_in = token_is(p, t, "in");
	if (token_is(p, t, "of") || (is_at && s->has_at) || (is_in && s->has_in))
		return parser_fail_at(p, t->span, "'%.2s' is given twice",
				      p->lexer.text + t->span.start);
	if (pop->instants == INSTANTS_NONE) {
		parser_fail_at(p, t->span, "'%s' takes no time: it is one instant by itself",
			       pop->word);
		return parser_help(p, "did you mean '%s'?", is_at ? "live at" : "survivors in");
	}
	if (is_at) {
		parser_fail_at(p, t->span, "'%s' takes a window, not an instant", pop->word);
		return parser_help(p, "did you mean '%s in' or 'live at'?", pop->word);
	}
	parser_fail_at(p, t->span, "'%s' takes an instant, not a window", pop->word);
	return parser_help(p, "did you mean 'survivors in' or 'allocated in'?");
}

static bool parse_clause(struct parser *p, const struct vocab_word *pop, struct ast_source *s,
			 bool *was_found)
{
	bool takes_at = pop->instants == INSTANTS_AT && !s->has_at;
	bool takes_in =
		(pop->instants == INSTANTS_IN || pop->instants == INSTANTS_IN_NEEDED) && !s->has_in;
	*was_found = true;
	if (!s->has_file && parser_is_word(p, LEX_EXPR, "of", "which file")) {
		parser_take(p);
		s->has_file = true;
		return parse_file(p, &s->file);
	}
	if (takes_at && parser_is_word(p, LEX_EXPR, "at", "an instant")) {
		parser_take(p);
		s->has_at = true;
		return parse_time(p, &s->at);
	}
	if (takes_in && parser_is_word(p, LEX_EXPR, "in", "a window")) {
		parser_take(p);
		s->has_in = true;
		return parse_timerange(p, &s->in);
	}
	struct token *t = parser_look(p, LEX_EXPR);
	*was_found = false;
	if (token_is(p, t, "of") || token_is(p, t, "at") || token_is(p, t, "in"))
		return wrong_clause(p, pop, s);
	return true;
}

/* What follows the population's word. */
static bool parse_source(struct parser *p, struct ast_source *s)
{
	const struct vocab_word *pop = parser_is_vocab(p, LEX_NAME, &vocab_populations);
	if (!pop)
		return parser_unexpected(p, "population");
	struct token t = parser_take(p);
	s->pop = (enum graph_pop)pop->id;
	bool was_found = true;
	while (was_found) {
		if (!parse_clause(p, pop, s, &was_found))
			return false;
	}
	if (pop->instants == INSTANTS_IN_NEEDED && !s->has_in) {
		parser_fail_at(p, t.span, "'%s' needs a window", pop->word);
		return parser_help(p, "write '%s in FROM..TO'", pop->word);
	}
	s->span = span_to_here(p, t.span.start);
	return true;
}

/* ---- queries --------------------------------------------------------------------------- */

static bool parse_filter(struct parser *p, struct ast_query *q)
{
	p->place = PLACE_BLOCKS;
	return !is_expr_next(p) || parse_expr(p, PLACE_BLOCKS, &q->filter);
}

static bool parse_diff(struct parser *p, struct ast_query *q)
{
	q->head = HEAD_DIFF;
	parser_take(p);
	if (!parse_source(p, &q->a))
		return false;
	if (parser_is(p, LEX_EXPR, TOK_COMMA, "what to compare with")) {
		parser_take_open(p);
		q->has_b = true;
		if (!parse_source(p, &q->b))
			return false;
	}
	return parse_filter(p, q);
}

static bool add_stage(struct parser *p, struct ast_query *q)
{
	struct ast_stage *s = parser_append(p, &q->stages, &q->stage_count, sizeof *s, "stages");
	return s && parse_stage(p, s);
}

/* The head; stages that follow a first one are parsed by parse_query. */
static bool parse_head(struct parser *p, struct ast_query *q)
{
	if (parser_is_word(p, LEX_NAME, "diff", "what changed between two"))
		return parse_diff(p, q);
	if (parser_is_vocab(p, LEX_NAME, &vocab_populations))
		return parse_source(p, &q->a) && parse_filter(p, q);
	q->head = HEAD_REFINE;
	if (parser_is(p, LEX_NAME, TOK_PIPE, "refine what is shown")) {
		parser_take_open(p);
		return add_stage(p, q);
	}
	want_stages(p);
	struct token *t = parser_look(p, LEX_NAME);
	const char *s = p->lexer.text + t->span.start;
	if (t->kind == TOK_WORD && (vocab_find(&vocab_stages, s, t->span.bytes) ||
				    vocab_find(&vocab_views, s, t->span.bytes)))
		return add_stage(p, q);
	bool is_word = t->kind == TOK_WORD;
	parser_unexpected(p, "population or stage");
	if (is_word && !p->error->help[0])
		parser_help(p,
			    "a query begins with a population: live, peak, leaked, allocated, ...");
	return false;
}

bool parse_query(struct parser *p, struct ast_query *q)
{
	uint32_t start = parser_look(p, LEX_NAME)->span.start;
	if (!parse_head(p, q))
		return false;
	while (parser_is(p, LEX_NAME, TOK_PIPE, "next stage")) {
		parser_take_open(p);
		if (!add_stage(p, q))
			return false;
	}
	q->span = span_to_here(p, start);
	return true;
}

/* ---- let ----------------------------------------------------------------------------------- */

static bool add_symbol(struct parser *p, const struct token *t, struct ast_let *let)
{
	char shown[SHOWN_BYTES];
	if (!parser_text(p, t, &let->name))
		return false;
	for (size_t i = 0; i < p->let_count; i++) {
		const struct ast_text *n = &p->lets[i].name;
		if (n->bytes == let->name.bytes && !memcmp(n->s, let->name.s, n->bytes)) {
			parser_forget(p);
			return parser_fail_at(p, t->span, "'%s' is defined twice",
					      parser_show(p, t->span, shown));
		}
	}
	if (!vec_reserve((void **)&p->lets, &p->let_cap, p->let_count + 1, sizeof p->lets[0]))
		return parser_no_memory(p);
	p->lets[p->let_count++] = (struct let_symbol){.name = let->name};
	return true;
}

static bool parse_let(struct parser *p, struct ast_let *let)
{
	parser_take(p);
	struct token t = *parser_look(p, LEX_NAME);
	parser_want(p, "a name", NULL);
	if (t.kind != TOK_WORD) {
		parser_unexpected(p, NULL);
		return t.kind == TOK_NAME ? parser_help(p, "write the name without '$' here")
					  : false;
	}
	if (!add_symbol(p, &t, let))
		return false;
	parser_take(p);
	if (!parser_is(p, LEX_EXPR, TOK_EQ, "what it stands for"))
		return parser_unexpected(p, NULL);
	parser_take_open(p);
	p->let = &p->lets[p->let_count - 1];
	if (!parse_expr(p, PLACE_LET, &let->expr))
		return false;
	p->let->expr = let->expr;
	p->let->node_count = p->node_count;
	p->let->depth = p->deepest;
	p->let = NULL;
	return true;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static bool is_separator(enum token_kind kind)
{
	return kind == TOK_SEMICOLON || kind == TOK_NEWLINE;
}

static bool parse_statement(struct parser *p)
{
	struct ast_script *s = p->script;
	struct ast_statement *st =
		parser_append(p, &s->statements, &s->statement_count, sizeof *st, "statements");
	if (!st)
		return false;
	p->node_count = p->deepest = 0;
	st->is_let = parser_is_word(p, LEX_NAME, "let", "name a condition: let NAME = ...");
	if (st->is_let ? !parse_let(p, &st->let) : !parse_query(p, &st->query))
		return false;
	struct token *t = parser_look(p, LEX_NAME);
	parser_want(p, ";", NULL);
	parser_want(p, lex_token_text(TOK_END), NULL);
	if (t->kind == TOK_END || is_separator(t->kind))
		return true;
	bool is_let_piped = st->is_let && t->kind == TOK_PIPE;
	parser_unexpected(p, NULL);
	return is_let_piped && parser_help(p, "a let ends before '|': put ';' after it");
}

bool parse_script(struct parser *p)
{
	while (true) {
		while (is_separator(parser_look(p, LEX_NAME)->kind))
			parser_take(p);
		if (p->token.kind == TOK_END && p->script->statement_count &&
		    !p->lexer.is_completing)
			return true;
		if (!parse_statement(p))
			return false;
		if (p->token.kind == TOK_END)
			return true;
	}
}

void parser_init(struct parser *p, struct ast_script *s, struct query_error *error)
{
	*p = (struct parser){.script = s, .error = error};
	p->lexer = (struct lexer){.text = s->text, .bytes = (uint32_t)s->text_bytes};
	*error = (struct query_error){.code = NEAP_OK};
	parser_forget(p);
}

enum neap_err query_parse(const char *text, size_t bytes, struct ast_script **out,
			  struct query_error *error)
{
	*out = NULL;
	*error = (struct query_error){.code = NEAP_OK};
	if (bytes > LIMIT_QUERY_BYTES) {
		*error = (struct query_error){.code = ERR_LIMIT,
					      .span = {LIMIT_QUERY_BYTES, 0},
					      .text = "the query is longer than 64 KiB"};
		return ERR_LIMIT;
	}
	struct ast_script *s = mem_zalloc(sizeof *s);
	if (!s) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return ERR_NOMEM;
	}
	s->text = text;
	s->text_bytes = bytes;
	struct parser p;
	parser_init(&p, s, error);
	bool is_good = parse_script(&p);
	mem_free(p.lets);
	if (!is_good) {
		query_script_free(s);
		return error->code;
	}
	*out = s;
	return NEAP_OK;
}

void query_script_free(struct ast_script *s)
{
	if (!s)
		return;
	arena_release(&s->arena);
	mem_free(s);
}
