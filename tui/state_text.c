/*
 * States as text and from text: queries that were typed, kept, or put together for a screen.  A
 * query is made canonical first, so that its parts are.
 */
#include "config.h"

#include "tui/model.h"

#include <string.h>

#include "src/base/mem.h"
#include "tui/model_priv.h"

/* ---- as text -------------------------------------------------------------------------------- */

static bool is_of_rows(const struct chip *c)
{
	return state_rank(c->kind, c->is_of_rows) > 1 && c->kind != STAGE_PERCENT;
}

static void compose(const struct state *s, const struct compose *c, struct buf *out)
{
	bool has_by = c->by;
	buf_puts(out, c->head ? c->head : s->head);
	for (size_t i = 0; i < s->chip_count; i++) {
		const struct chip *chip = &s->chips[i];
		if (c->without_chips || c->without_chip == i + 1 ||
		    (c->for_screen && !state_uses(s, chip)) ||
		    ((c->by || c->without_keys) && chip->kind == STAGE_BY) ||
		    (c->without_rows && is_of_rows(chip)))
			continue;
		if (state_rank(chip->kind, chip->is_of_rows) > 0 && c->by && has_by) {
			buf_printf(out, " | by %s", c->by);
			has_by = false;
		}
		buf_printf(out, " | %s", chip->text);
	}
	if (has_by)
		buf_printf(out, " | by %s", c->by);
	if (c->view)
		buf_printf(out, " | %s", c->view);
}

void model_compose(const struct model *m, const struct compose *c, struct buf *out)
{
	struct compose full = *c;
	full.for_screen = true;
	if (!full.by && !state_chip(model_state(m), STAGE_BY))
		full.by = full.default_by;
	compose(model_state(m), &full, out);
}

/* The query as its user sees it. */
static void put_text(const struct state *s, struct buf *out)
{
	struct buf subject = {0};
	state_subject_stage(s, &subject);
	const struct compose c = {.view = subject.data};
	compose(s, &c, out);
	out->has_failed = out->has_failed || subject.has_failed;
	buf_release(&subject);
}

void model_text(const struct model *m, struct buf *out)
{
	put_text(model_state(m), out);
}

/* ---- from text ------------------------------------------------------------------------------ */

static char *part_of(const struct ast_script *script, uint32_t start, uint32_t end)
{
	return mem_strndup(script->text + start, end - start);
}

static uint32_t end_of(struct ast_span span)
{
	return span.start + span.bytes;
}

static bool is_word(const struct ast_text *text, const char *word)
{
	return text->bytes == strlen(word) && !memcmp(text->s, word, text->bytes);
}

/* `hist` of sizes or lifetimes: both are shown.  Others have a picture of their own. */
static bool take_hist(struct state *s, const struct ast_stage *st)
{
	const struct ast_text *word = st->col_count ? &st->cols[0].word : NULL;
	bool is_usual = !word || is_word(word, "size") || is_word(word, "lifetime");
	char *text = is_usual ? NULL : mem_strndup(word->s, word->bytes);
	if (!is_usual && !text)
		return false;
	mem_free(s->hist);
	s->hist = text;
	return true;
}

/* A view at the end of a query means a screen. */
static bool take_view(struct state *s, const struct ast_script *script, const struct ast_stage *st)
{
	static const enum screen screens[] = {
		[VIEW_TABLE] = SCREEN_TABLE,    [VIEW_TREE] = SCREEN_TREE,
		[VIEW_CALLERS] = SCREEN_TREE,   [VIEW_CALLEES] = SCREEN_TREE,
		[VIEW_PEEK] = SCREEN_BUTTERFLY, [VIEW_STACKS] = SCREEN_TREE,
		[VIEW_FLAME] = SCREEN_FLAME,    [VIEW_TIMELINE] = SCREEN_TIME,
		[VIEW_HIST] = SCREEN_SIZES,     [VIEW_SUM] = SCREEN_TABLE,
		[VIEW_SOURCE] = SCREEN_SOURCE,
	};
	s->screen = screens[st->view];
	s->is_inverted = st->view == VIEW_CALLERS || (st->view == VIEW_FLAME && st->is_inverted);
	if (st->view == VIEW_HIST && !take_hist(s, st))
		return false;
	if (!st->has_step)
		return true;
	char *step = part_of(script, st->step.span.start, end_of(st->step.span));
	bool is_good = step;
	if (is_good && (st->view == VIEW_PEEK || st->view == VIEW_SOURCE)) {
		is_good = state_set_subject(s, step);
	} else if (is_good) {
		struct buf zoom = {0};
		buf_printf(&zoom, "zoom %s", step);
		is_good = !zoom.has_failed && state_add_chip(s, STAGE_ZOOM, zoom.data);
		buf_release(&zoom);
	}
	mem_free(step);
	return is_good;
}

static bool take_stages(struct state *s, const struct ast_script *script, const struct ast_query *q)
{
	bool has_by = false;
	for (size_t i = 0; i < q->stage_count; i++) {
		const struct ast_stage *st = &q->stages[i];
		if (st->kind == STAGE_VIEW) {
			if (!take_view(s, script, st))
				return false;
			continue;
		}
		if (st->kind == STAGE_AS)
			continue;
		has_by = has_by || st->kind == STAGE_BY;
		char *text = part_of(script, st->span.start, end_of(st->span));
		if (!state_take_chip(s, st->kind, st->kind == STAGE_WHERE && has_by, text))
			return false;
	}
	return true;
}

static bool take_filter(struct state *s, const struct ast_script *script, const struct ast_query *q)
{
	struct buf where = {0};
	if (!q->filter)
		return true;
	buf_puts(&where, "where ");
	buf_put(&where, script->text + q->filter->span.start, q->filter->span.bytes);
	bool is_good = !where.has_failed && state_add_chip(s, STAGE_WHERE, where.data);
	buf_release(&where);
	return is_good;
}

/* From the text of a canonical query. */
static bool take_query(struct state *s, const struct ast_script *script, const struct ast_query *q)
{
	if (q->head != HEAD_REFINE) {
		uint32_t end = end_of(q->a.span);
		if (q->has_b)
			end = end_of(q->b.span);
		char *head = part_of(script, 0, end);
		bool is_good = head && state_set_head(s, head);
		mem_free(head);
		if (!is_good)
			return false;
		while (s->chip_count)
			state_remove_chip(s, 0);
		s->callers_depth = 0;
	}
	return take_filter(s, script, q) && take_stages(s, script, q);
}

static const struct ast_query *last_query(const struct ast_script *script)
{
	const struct ast_query *q = NULL;
	for (size_t i = 0; i < script->statement_count; i++) {
		if (!script->statements[i].is_let)
			q = &script->statements[i].query;
	}
	return q;
}

/* Canonical, so that the parts of it are. */
static enum neap_err parse_canonical(const char *text, struct buf *canonical,
				     struct ast_script **out, struct query_error *error)
{
	struct ast_script *script = NULL;
	*out = NULL;
	enum neap_err code = query_parse(text, strlen(text), &script, error);
	const struct ast_query *q = code ? NULL : last_query(script);
	if (!code && !q)
		code = model_fail(error, ERR_USAGE, "there is no query");
	if (!code)
		query_canonical(q, canonical);
	query_script_free(script);
	if (code)
		return code;
	if (canonical->has_failed)
		return model_fail(error, ERR_NOMEM, "out of memory");
	return query_parse(canonical->data, canonical->count_bytes, out, error);
}

/* Takes head and chips from a canonical query, and stays where it is. */
static bool retake(struct state *s, const struct ast_script *script)
{
	const enum screen screen = s->screen;
	const bool is_inverted = s->is_inverted;
	const unsigned callers_depth = s->callers_depth;
	bool is_good = take_query(s, script, last_query(script));
	s->screen = screen;
	s->is_inverted = is_inverted;
	s->callers_depth = callers_depth;
	return is_good;
}

enum neap_err state_check(struct state *s, struct query_error *error)
{
	struct ast_script *script = NULL;
	struct buf text = {0}, canonical = {0};
	put_text(s, &text);
	enum neap_err code = text.has_failed
				     ? model_fail(error, ERR_NOMEM, "out of memory")
				     : parse_canonical(text.data, &canonical, &script, error);
	if (!code && strcmp(text.data, canonical.data) != 0 && !retake(s, script))
		code = model_fail(error, ERR_NOMEM, "out of memory");
	query_script_free(script);
	buf_release(&text);
	buf_release(&canonical);
	return code;
}

/* ---- kept as text ---------------------------------------------------------------------------- */

void saved_release(struct saved_state *saved)
{
	mem_free(saved->query);
	mem_free(saved->subject);
	mem_free(saved->hist);
	*saved = (struct saved_state){.query = NULL};
}

bool model_save(const struct model *m, struct saved_state *out)
{
	const struct state *s = model_state(m);
	struct buf text = {0};
	model_text(m, &text);
	*out = (struct saved_state){.screen = s->screen,
				    .is_inverted = s->is_inverted,
				    .callers_depth = s->callers_depth};
	out->query = text.has_failed ? NULL : mem_strdup(text.data);
	buf_release(&text);
	if (out->query && state_set_text(&out->subject, s->subject) &&
	    state_set_text(&out->hist, s->hist))
		return true;
	saved_release(out);
	return false;
}

static bool take_saved(struct state *s, const struct saved_state *saved,
		       const struct ast_script *script)
{
	if (!state_set_subject(s, saved->subject) || !state_set_text(&s->hist, saved->hist) ||
	    !take_query(s, script, last_query(script)))
		return false;
	s->screen = saved->screen;
	s->is_inverted = saved->is_inverted;
	s->callers_depth = saved->callers_depth;
	return true;
}

/* saved NULL: the text alone decides. */
static enum neap_err go_text(struct model *m, const char *text, const struct saved_state *saved,
			     struct query_error *error)
{
	struct buf canonical = {0};
	struct ast_script *script = NULL;
	enum neap_err code = parse_canonical(text, &canonical, &script, error);
	if (!code) {
		struct state *s = model_edit(m);
		bool is_good = s && (saved ? take_saved(s, saved, script)
					   : take_query(s, script, last_query(script)));
		code = model_commit_if(m, s, is_good, error);
	}
	query_script_free(script);
	buf_release(&canonical);
	return code;
}

enum neap_err model_set_text(struct model *m, const char *text, struct query_error *error)
{
	return go_text(m, text, NULL, error);
}

enum neap_err model_go_saved(struct model *m, const struct saved_state *saved,
			     struct query_error *error)
{
	return go_text(m, saved->query, saved, error);
}
