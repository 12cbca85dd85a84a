/*
 * Asking, and looking at the answer.
 *
 * Each result has a session of its own that borrows the profiles: it holds the files that
 * the query opened and the texts of the cells, and ends with the result.
 */
#include "config.h"

#include "src/lib/neap/query.h"

#include "query/vocab.h"
#include "src/base/mem.h"
#include "src/lib/lib_priv.h"

#include <string.h>

#define SAME(of_result, of_library) \
	_Static_assert((int)(of_result) == (int)(of_library), "types are in the same order")
SAME(RESULT_TEXT, NEAP_TYPE_TEXT);
SAME(RESULT_BYTES, NEAP_TYPE_BYTES);
SAME(RESULT_COUNT, NEAP_TYPE_COUNT);
SAME(RESULT_NUMBER, NEAP_TYPE_NUMBER);
SAME(RESULT_NS, NEAP_TYPE_NS);
SAME(RESULT_RATIO, NEAP_TYPE_RATIO);
SAME(RESULT_RATE, NEAP_TYPE_RATE);

struct neap_result {
	struct query_session *session;
	struct query_result *r;
	size_t *shown; /* columns that are not hidden: their indexes in r */
	size_t shown_count;
};

/* ---- asking ------------------------------------------------------------------------- */

struct asking {
	const char *text;
	const struct neap_query_options *options;
	struct ast_script *script;
	bool was_cancelled;
};

static bool is_cancelled(void *arg)
{
	struct asking *a = arg;
	a->was_cancelled = a->was_cancelled || a->options->is_cancelled(a->options->arg);
	return a->was_cancelled;
}

static enum neap_err open_session(struct asking *a, struct neap_profile *p,
				  struct neap_profile *other, struct query_session **out,
				  struct err *e)
{
	struct query_options options = {.arg = a, .cursor_ns = UINT64_MAX};
	if (a->options) {
		options.is_strict = a->options->is_strict;
		options.is_cancelled = a->options->is_cancelled ? is_cancelled : NULL;
	}
	enum neap_err code = query_session_new(&options, out, e);
	if (!code)
		code = query_session_lend(*out, p->session, e);
	if (!code && other)
		code = query_session_lend(*out, other->session, e);
	return code;
}

/* The one statement that is a query. */
static enum neap_err find_query(const struct asking *a, size_t *idx_out, struct query_error *error)
{
	bool has_found = false;
	for (size_t i = 0; i < a->script->statement_count; i++) {
		const struct ast_statement *s = &a->script->statements[i];
		if (s->is_let)
			continue;
		if (has_found) {
			*error = (struct query_error){
				.code = ERR_USAGE,
				.span = s->query.span,
				.text = "a second query",
				.help = "one query at a time, after any number of 'let'"};
			return error->code;
		}
		has_found = true;
		*idx_out = i;
	}
	if (has_found)
		return NEAP_OK;
	*error = (struct query_error){.code = ERR_USAGE,
				      .span = {(uint32_t)strlen(a->text), 0},
				      .text = "there is no query",
				      .help = "for example: live | by func | top 20"};
	return error->code;
}

/* Columns that were computed for a condition or an order only are nobody's business. */
static enum neap_err choose_columns(struct neap_result *nr, struct query_error *error)
{
	nr->shown = mem_array(nr->r->column_count, sizeof *nr->shown);
	if (!nr->shown) {
		*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
		return error->code;
	}
	for (size_t i = 0; i < nr->r->column_count; i++) {
		if (!nr->r->columns[i].is_hidden)
			nr->shown[nr->shown_count++] = i;
	}
	return NEAP_OK;
}

static enum neap_err run(struct asking *a, struct neap_result *nr, struct query_error *error)
{
	size_t statement_idx = 0;
	enum neap_err code = query_parse(a->text, strlen(a->text), &a->script, error);
	if (!code)
		code = find_query(a, &statement_idx, error);
	if (!code)
		code = query_run(nr->session, a->script, statement_idx, &nr->r, error);
	if (!code)
		code = choose_columns(nr, error);
	query_script_free(a->script);
	return code;
}

enum neap_status neap_query(struct neap_profile *p, struct neap_profile *other, const char *text,
			    const struct neap_query_options *options, struct neap_result **out,
			    struct neap_error **error_out)
{
	struct asking a = {.text = text, .options = options};
	struct err e = {.code = NEAP_OK};
	struct query_error error = {.code = NEAP_OK};
	enum neap_status status = NEAP_STATUS_OK;
	*out = NULL;
	if (error_out)
		*error_out = NULL;
	struct neap_result *nr = mem_zalloc(sizeof *nr);
	if (!nr)
		err_nomem(&e, "a result");
	else if (!open_session(&a, p, other, &nr->session, &e) && !run(&a, nr, &error)) {
		*out = nr;
		return NEAP_STATUS_OK;
	}
	neap_result_free(nr);
	if (e.code)
		return error_from_err(&e, error_out);
	if (a.was_cancelled && error.code == ERR_LIMIT)
		status = NEAP_STATUS_CANCELLED;
	return error_from_query(&error, text, status, error_out);
}

void neap_result_free(struct neap_result *r)
{
	if (!r)
		return;
	query_result_free(r->r);
	query_session_free(r->session);
	mem_free(r->shown);
	mem_free(r);
}

/* ---- the answer as a whole ------------------------------------------------------------- */

void neap_result_answer(const struct neap_result *r, struct neap_answer *out)
{
	const struct query_result *q = r->r;
	bool has_failed = q->has_assertion && !q->assertion_holds;
	*out = (struct neap_answer){
		.query = q->canonical,
		.population = q->population,
		.view = vocab_views.words[q->view].word,
		.format = vocab_formats.words[q->format].word,
		.to_file = q->to_file,
		.is_signed = q->is_signed,
		.is_incomplete = q->is_incomplete,
		.has_assertion = q->has_assertion,
		.assertion_holds = q->has_assertion && q->assertion_holds,
		.assertion = has_failed ? q->assertion_text : NULL,
	};
}

size_t neap_result_note_count(const struct neap_result *r)
{
	return r->r->note_count;
}

const char *neap_result_note(const struct neap_result *r, size_t note_idx)
{
	return note_idx < r->r->note_count ? r->r->notes[note_idx] : NULL;
}

/* ---- columns and rows --------------------------------------------------------------------- */

size_t neap_result_column_count(const struct neap_result *r)
{
	return r->shown_count;
}

bool neap_result_column(const struct neap_result *r, size_t column_idx, struct neap_column *out)
{
	if (column_idx >= r->shown_count)
		return false;
	const struct result_column *c = &r->r->columns[r->shown[column_idx]];
	*out = (struct neap_column){c->word, (enum neap_type)c->type, c->is_key};
	return true;
}

size_t neap_result_row_count(const struct neap_result *r)
{
	return r->r->row_count;
}

bool neap_result_row(const struct neap_result *r, size_t row_idx, struct neap_row *out)
{
	if (row_idx >= r->r->row_count)
		return false;
	const struct result_row own = result_row(r->r, row_idx), *row = &own;
	*out = (struct neap_row){
		.depth = row->depth,
		.parent_idx = row->depth ? row->parent : NEAP_NO_PARENT,
		.other_count = row->kind == ROW_OTHER ? row->count : 0,
		.time_ns = row->time_ns,
		.frame_count = r->r->graph ? row->frame_count : 0,
	};
	return true;
}

static void show_cell(const struct result_cell *cell, enum result_type type, struct neap_cell *out)
{
	*out = (struct neap_cell){.is_unknown = cell->is_unknown};
	if (cell->is_unknown)
		return;
	if (type == RESULT_TEXT) {
		out->text = cell->text ? cell->text : "";
	} else if (type == RESULT_RATIO || type == RESULT_RATE) {
		out->number = cell->number;
	} else {
		out->integer = cell->value;
		out->number = (double)cell->value;
	}
}

bool neap_result_cell(const struct neap_result *r, size_t row_idx, size_t column_idx,
		      struct neap_cell *out)
{
	const struct query_result *q = r->r;
	if (row_idx >= q->row_count || column_idx >= r->shown_count)
		return false;
	size_t c = r->shown[column_idx];
	const struct result_cell cell = result_cell(q, row_idx, c);
	show_cell(&cell, q->columns[c].type, out);
	return true;
}

bool neap_result_total(const struct neap_result *r, size_t column_idx, struct neap_cell *out)
{
	if (column_idx >= r->shown_count)
		return false;
	size_t c = r->shown[column_idx];
	show_cell(&r->r->totals[c], r->r->columns[c].type, out);
	return true;
}

/* ---- stacks ------------------------------------------------------------------------------------ */

static enum neap_frame_kind kind_of(enum graph_frame_kind kind)
{
	switch (kind) {
	case FRAME_NAMED:
		return NEAP_FRAME_FUNCTION;
	case FRAME_SIGNAL:
		return NEAP_FRAME_SIGNAL;
	case FRAME_TRUNCATED:
		return NEAP_FRAME_TRUNCATED;
	case FRAME_NO_STACK:
		return NEAP_FRAME_NO_STACK;
	case FRAME_ADDRESS:
		break;
	}
	return NEAP_FRAME_ADDRESS;
}

bool neap_result_frame(const struct neap_result *r, size_t row_idx, size_t frame_idx,
		       struct neap_frame *out)
{
	const struct query_result *q = r->r;
	if (row_idx >= q->row_count || !q->graph)
		return false;
	const struct result_row row = result_row(q, row_idx);
	if (frame_idx >= row.frame_count)
		return false;
	struct graph_frame f = graph_entry(q->graph, row.frames[frame_idx]);
	*out = (struct neap_frame){
		.kind = kind_of(f.kind),
		.function = f.name,
		.linkage = f.linkage,
		.file = f.file_path,
		.line = f.line,
		.module = f.module_path,
		.pc = f.pc,
		.is_inlined = f.is_inlined,
		.is_guessed = f.is_guessed,
		.is_wrapper = f.is_wrapper,
		.is_tail = f.is_tail,
	};
	return true;
}
