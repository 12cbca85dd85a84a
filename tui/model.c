/* Profiles, results, undo. */
#include "config.h"

#include "tui/model.h"

#include <stdio.h>
#include <string.h>

#include "query/parse.h"
#include "query/plan.h"
#include "src/base/mem.h"
#include "tui/model_priv.h"

const char *screen_name(enum screen s)
{
	static const char *const names[SCREEN_COUNT] = {"Tree",   "Table",  "Time",    "Flame",
							"Source", "Sizes",  "Threads", "Modules",
							"Run",    "Callers"};
	return s < SCREEN_COUNT ? names[s] : "";
}

/* ---- opening ---------------------------------------------------------------------------- */

bool model_knows(const struct model *m, uint64_t facts)
{
	const struct query_session *s = m->session;
	for (size_t i = 0; i < s->named_count; i++) {
		const struct profile *p = s->files[i]->p;
		if (p->has_source && p->source.unknown & facts)
			return false;
	}
	return true;
}

/*
 * What a new user looks for first: what is held at the peak, or at the end where a file of another
 * tool does not know the peak; with two files, what changed.
 */
static struct state *first_state(const struct model *m)
{
	const char *word = model_knows(m, FACT_PEAK)   ? "peak"
			   : model_knows(m, FACT_LIVE) ? "live"
						       : "allocated";
	char head[32];
	snprintf(head, sizeof head, "%s%s", m->path_count > 1 ? "diff " : "", word);
	struct state *s = mem_zalloc(sizeof *s);
	bool is_good = s && state_set_head(s, head) && state_add_chip(s, STAGE_MIN, "min 1%");
	if (is_good)
		return s;
	state_free(s);
	return NULL;
}

enum neap_err model_open(struct model *m, const char *const *paths, size_t path_count,
			 const struct query_options *options, struct err *e)
{
	struct query_error error = {.code = NEAP_OK};
	*m = (struct model){.paths = paths, .path_count = path_count};
	enum neap_err code = query_session_new(options, &m->session, e);
	for (size_t i = 0; !code && i < path_count; i++)
		code = query_session_open(m->session, paths[i], e);
	if (code)
		return code;
	m->graph = query_session_graph(m->session);
	m->profile = graph_profile(m->graph);
	struct state *s = first_state(m);
	if (!s || model_commit(m, s, &error))
		return err_nomem(e, "the browser");
	model_reset_sides(m);
	return NEAP_OK;
}

static void result_release(struct model_result *r)
{
	query_opened_free(r->opened);
	query_script_free(r->script);
	mem_free(r->text);
	*r = (struct model_result){.text = NULL};
}

void model_forget(struct model *m)
{
	for (size_t i = 0; i < MODEL_RESULTS_KEPT; i++)
		result_release(&m->results[i]);
	m->generation++;
}

void model_drop_old(struct model *m)
{
	for (size_t i = 0; i < MODEL_RESULTS_KEPT; i++)
		result_release(&m->old_results[i]);
	query_session_free(m->old_session);
	m->old_session = NULL;
}

enum neap_err model_reload(struct model *m, const struct query_options *options, struct err *e)
{
	struct query_session *session = NULL;
	enum neap_err code = query_session_new(options, &session, e);
	for (size_t i = 0; !code && i < m->path_count; i++)
		code = query_session_open(session, m->paths[i], e);
	if (code) {
		query_session_free(session);
		return code;
	}
	model_drop_old(m);
	memcpy(m->old_results, m->results, sizeof m->results);
	memset(m->results, 0, sizeof m->results);
	m->old_session = m->session;
	m->session = session;
	m->graph = query_session_graph(session);
	m->profile = graph_profile(m->graph);
	m->generation++;
	struct query_error ignored; /* the next load says it */
	model_reset_sides(m);       /* nothing points into what was there before */
	model_find_sides(m, &ignored);
	return NEAP_OK;
}

void model_release(struct model *m)
{
	model_forget(m);
	model_drop_old(m);
	for (size_t i = 0; i < m->state_count; i++)
		state_free(m->states[i]);
	mem_free(m->states);
	state_free(m->moved);
	query_session_free(m->session);
	*m = (struct model){.session = NULL};
}

/* ---- results ----------------------------------------------------------------------------- */

static enum neap_err fail_nomem(struct query_error *error)
{
	*error = (struct query_error){.code = ERR_NOMEM, .text = "out of memory"};
	return ERR_NOMEM;
}

static struct model_result *find_result(struct model *m, const char *text)
{
	for (size_t i = 0; i < MODEL_RESULTS_KEPT; i++) {
		struct model_result *r = &m->results[i];
		if (r->text && !strcmp(r->text, text))
			return r;
	}
	return NULL;
}

static struct model_result *oldest_result(struct model *m)
{
	struct model_result *oldest = &m->results[0];
	for (size_t i = 1; i < MODEL_RESULTS_KEPT; i++) {
		if (m->results[i].used < oldest->used)
			oldest = &m->results[i];
	}
	return oldest;
}

static size_t query_of(const struct ast_script *s)
{
	size_t idx = 0;
	while (idx + 1 < s->statement_count && s->statements[idx].is_let)
		idx++;
	return idx;
}

static enum neap_err run(struct model *m, struct model_result *r, struct query_error *error)
{
	enum neap_err code = query_parse(r->text, strlen(r->text), &r->script, error);
	if (!code)
		code = query_opened_new(m->session, r->script, query_of(r->script), &r->opened,
					error);
	return code;
}

enum neap_err model_result(struct model *m, const struct compose *c, struct query_opened **out,
			   struct query_error *error)
{
	struct buf text = {0};
	enum neap_err code = NEAP_OK;
	*out = NULL;
	model_compose(m, c, &text);
	struct model_result *r = text.has_failed ? NULL : find_result(m, text.data);
	if (!r) {
		r = oldest_result(m);
		result_release(r);
		r->text = text.has_failed ? NULL : mem_strdup(text.data);
		code = r->text ? run(m, r, error) : fail_nomem(error);
		if (code)
			result_release(r);
	}
	buf_release(&text);
	if (code)
		return code;
	r->used = ++m->result_clock;
	if (!r->serial)
		r->serial = r->used;
	*out = r->opened;
	return NEAP_OK;
}

bool model_was_stopped(const struct query_error *error)
{
	return error->code == ERR_LIMIT && !strcmp(error->text, "cancelled");
}

uint64_t model_serial(const struct model *m, const struct query_opened *q)
{
	for (size_t i = 0; i < MODEL_RESULTS_KEPT; i++) {
		if (m->results[i].opened == q)
			return m->results[i].serial;
	}
	return 0;
}

/* ---- undo ----------------------------------------------------------------------------------- */

static void drop_after(struct model *m, size_t at)
{
	while (m->state_count > at)
		state_free(m->states[--m->state_count]);
}

enum neap_err model_commit(struct model *m, struct state *s, struct query_error *error)
{
	enum neap_err code = state_check(s, error);
	bool is_same = !code && m->state_count && state_equal(s, m->states[m->at]);
	if (!code && !is_same &&
	    !vec_reserve((void **)&m->states, &m->state_cap, m->state_count + 1, sizeof *m->states))
		code = fail_nomem(error);
	if (code || is_same) {
		state_free(s);
		return code;
	}
	drop_after(m, m->state_count ? m->at + 1 : 0);
	m->states[m->state_count++] = s;
	m->at = m->state_count - 1;
	m->generation++;
	return NEAP_OK;
}

/* Put a state that was kept aside before the current one, and go there. */
static bool put_back(struct model *m)
{
	if (!vec_reserve((void **)&m->states, &m->state_cap, m->state_count + 1, sizeof *m->states))
		return false;
	memmove(&m->states[m->at + 1], &m->states[m->at],
		(m->state_count - m->at) * sizeof *m->states);
	m->states[m->at] = m->moved;
	m->state_count++;
	m->moved = NULL;
	m->generation++;
	return true;
}

/* Take the current state, which a move made, out of those for undo. */
static void put_aside(struct model *m)
{
	state_free(m->moved);
	m->moved = m->states[m->at];
	m->state_count--;
	memmove(&m->states[m->at], &m->states[m->at + 1],
		(m->state_count - m->at) * sizeof *m->states);
	m->at--;
	m->generation++;
}

enum neap_err model_move_head(struct model *m, const char *head, struct query_error *error)
{
	struct state *s = model_edit(m);
	if (!s || !state_set_head(s, head)) {
		state_free(s);
		return fail_nomem(error);
	}
	bool was_moving = m->states[m->at]->is_moving;
	s->is_moving = true;
	if (!was_moving || !m->at)
		return model_commit(m, s, error);
	if (state_equal(s, m->states[m->at])) {
		state_free(s);
		return NEAP_OK;
	}
	put_aside(m);
	enum neap_err code = model_commit(m, s, error);
	if (code) {
		m->at++;
		put_back(m); /* there is room: it was there before */
	}
	return code;
}

bool model_undo(struct model *m)
{
	if (!m->at)
		return false;
	m->at--;
	m->generation++;
	return true;
}

bool model_redo(struct model *m)
{
	if (m->at + 1 >= m->state_count)
		return false;
	m->at++;
	m->generation++;
	return true;
}

bool model_go_screen(struct model *m, bool is_back)
{
	enum screen now = model_state(m)->screen;
	size_t at = m->at;
	while (is_back ? at > 0 : at + 1 < m->state_count) {
		at = is_back ? at - 1 : at + 1;
		if (m->states[at]->screen == now)
			continue;
		m->at = at;
		m->generation++;
		return true;
	}
	return false;
}

bool model_go_state(struct model *m, const struct state *s)
{
	if (s && s == m->moved)
		return put_back(m);
	for (size_t i = 0; i < m->state_count; i++) {
		if (m->states[i] != s || i == m->at)
			continue;
		m->at = i;
		m->generation++;
		return true;
	}
	return false;
}

void model_leave(struct model *m, const struct state *s, char *spot)
{
	struct state *kept = s == m->moved ? m->moved : NULL;
	for (size_t i = 0; i < m->state_count && !kept; i++)
		kept = m->states[i] == s ? m->states[i] : NULL;
	if (kept) {
		mem_free(kept->spot);
		kept->spot = spot;
	} else {
		mem_free(spot);
	}
}

char *model_arrive(struct model *m)
{
	char *spot = m->states[m->at]->spot;
	m->states[m->at]->spot = NULL;
	return spot;
}

void model_begin_here(struct model *m)
{
	drop_after(m, m->at + 1);
	for (size_t i = 0; i < m->at; i++)
		state_free(m->states[i]);
	m->states[0] = m->states[m->at];
	m->state_count = 1;
	m->at = 0;
}
