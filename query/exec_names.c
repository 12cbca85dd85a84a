/*
 * Names that match nothing are hardly meant: a note says so and offers near ones.
 *
 * A condition counts as matched if it fits anything in any profile of the query, whether or
 * not any allocation of the population has it.
 */
#include "config.h"

#include "query/exec.h"

#include "query/names.h"

#include <stdio.h>
#include <string.h>

#define MEANT_NAME_BYTES 160
#define MEANT_BYTES      250u

/* ---- all names of a field ------------------------------------------------------------- */

struct name_list {
	struct strtab strings;
	bool has_failed;
};

static void add_name(struct name_list *l, const char *s, size_t bytes)
{
	if (s && bytes && strtab_add(&l->strings, s, bytes) == UINT32_MAX)
		l->has_failed = true;
}

/* Where a plain function name's last part begins. */
static const char *own_part(const char *name, size_t bytes)
{
	size_t start = 0;
	struct brackets b = {0};
	for (size_t i = 0; i < bytes; i = brackets_step(name, i, &b)) {
		size_t n = b.depth == 0 ? name_scope_bytes(name, i) : 0;
		if (n)
			start = i + n;
	}
	return name + start;
}

static void list_types(const struct graph_types *types, struct name_list *l)
{
	for (uint32_t i = 0; types && i < types->names.count; i++)
		add_name(l, types->names.strings[i], types->names.lengths[i]);
	l->has_failed = l->has_failed || !types;
}

static void list_names(const struct query_file *f, enum ast_field field, struct name_list *l)
{
	const struct profile *p = f->p;
	switch (field) {
	case FIELD_FUNC:
		for (size_t i = 0; i < p->symbols.func_count; i++) {
			const char *name = p->symbols.funcs[i].name;
			struct part part = name_plain(name);
			add_name(l, name + part.start, part.end - part.start);
		}
		break;
	case FIELD_FILE:
		for (size_t i = 0; i < p->symbols.file_count; i++)
			add_name(l, path_last(p->symbols.files[i]),
				 strlen(path_last(p->symbols.files[i])));
		break;
	case FIELD_MODULE:
		for (size_t i = 0; i < p->module_count; i++)
			add_name(l, path_last(p->modules[i].path),
				 strlen(path_last(p->modules[i].path)));
		break;
	case FIELD_THREAD:
		for (size_t i = 0; i < p->thread_count; i++) {
			const char *name = p->threads[i].name;
			add_name(l, name, name ? strlen(name) : 0);
		}
		break;
	case FIELD_API:
		for (int api = API_UNKNOWN + 1; api < API_COUNT; api++) {
			const char *name = profile_api_name((enum profile_api)api);
			add_name(l, name, strlen(name));
		}
		break;
	default:
		break;
	}
}

/* A full name whose last part is the word, or is near it; else a near full name. */
static const char *find_near(const struct strtab *names, const struct ast_text *word)
{
	const char *near = query_near(word->s, word->bytes, names->strings, names->count);
	for (size_t i = 0; i < names->count; i++) {
		const char *s = names->strings[i], *own = own_part(s, names->lengths[i]);
		if (own != s && strlen(own) == word->bytes && !memcmp(own, word->s, word->bytes))
			return s;
	}
	for (size_t i = 0; !near && i < names->count; i++) {
		const char *own = own_part(names->strings[i], names->lengths[i]);
		if (query_near(word->s, word->bytes, &own, 1))
			near = names->strings[i];
	}
	return near;
}

/* The shortest name that has the word in it: who leaves out ".so.6" or "std::" means that one. */
static const char *find_longer(const struct strtab *names, const struct ast_text *word)
{
	const char *best = NULL;
	size_t best_bytes = SIZE_MAX;
	for (size_t i = 0; word->bytes && i < names->count; i++) {
		const char *s = names->strings[i];
		if (names->lengths[i] < best_bytes &&
		    memmem(s, names->lengths[i], word->s, word->bytes)) {
			best = s;
			best_bytes = names->lengths[i];
		}
	}
	return best;
}

/* What may have been meant, as words behind the message; "" if nothing. */
static void put_meant(char *dst, size_t cap, const char *what, const struct strtab *names,
		      const struct ast_pattern *value)
{
	const struct ast_text *word = &value->text;
	const char *near = find_near(names, word), *longer = near ? NULL : find_longer(names, word);
	const char *quote = value->kind == PATTERN_WORD ? "" : "\"";
	dst[0] = '\0';
	if (near)
		snprintf(dst, cap, "did you mean '%.*s'?", MEANT_NAME_BYTES, near);
	else if (longer)
		snprintf(dst, cap, "%s~%s%.*s%s finds '%.*s'", what, quote, (int)word->bytes,
			 word->s, quote, MEANT_NAME_BYTES, longer);
}

static enum neap_err report(struct where *w, enum ast_field field, const struct ast_pattern *value,
			    bool is_part)
{
	struct plan *pl = w->pl;
	struct name_list l = {.has_failed = false};
	const struct ast_text *t = &value->text;
	const char *what = vocab_fields.words[field].word;
	for (size_t i = 0; i < pl->side_count; i++) {
		if (field == FIELD_TYPE)
			list_types(file_types(pl->session, pl->sides[i].file), &l);
		else
			list_names(pl->sides[i].file, field, &l);
	}
	char meant[MEANT_BYTES];
	put_meant(meant, sizeof meant, what, &l.strings, value);
	enum neap_err code;
	if (l.has_failed) {
		code = query_no_memory(pl->error);
	} else if (pl->session->options.is_strict) {
		code = query_fail(pl->error, ERR_USAGE, t->span,
				  is_part ? "no %s has '%.*s' in its name" : "no %s is '%.*s'",
				  what, (int)t->bytes, t->s);
		if (*meant)
			query_fail_help(pl->error, "%s", meant);
	} else {
		code = plan_note(
			pl, is_part ? "no %s has '%.*s' in its name%s%s" : "no %s is '%.*s'%s%s",
			what, (int)t->bytes, t->s, *meant ? "; " : "", meant);
	}
	strtab_release(&l.strings);
	return code;
}

/* ---- does a value fit anything? ------------------------------------------------------------ */

static enum neap_err fits_type(struct text_match *m, const struct graph_types *types, bool *out)
{
	enum neap_err code = types ? NEAP_OK : query_no_memory(m->error);
	*out = false;
	for (uint32_t i = 0; !code && !*out && i < types->names.count; i++)
		code = text_match_run(m, strtab_get(&types->names, i), NULL, out);
	return code;
}

static enum neap_err fits_list(struct text_match *m, struct query_file *f, bool *out)
{
	const struct profile *p = f->p;
	enum neap_err code = NEAP_OK;
	*out = false;
	if (m->field == FIELD_FUNC) {
		for (size_t i = 0; !code && !*out && i < p->symbols.func_count; i++)
			code = text_match_run(m, p->symbols.funcs[i].name,
					      p->symbols.funcs[i].linkage, out);
	} else if (m->field == FIELD_FILE) {
		for (size_t i = 0; !code && !*out && i < p->symbols.file_count; i++)
			code = text_match_run(m, p->symbols.files[i], NULL, out);
	} else if (m->field == FIELD_MODULE) {
		for (size_t i = 0; !code && !*out && i < p->module_count; i++)
			code = text_match_run(m, p->modules[i].path, NULL, out);
	} else if (m->field == FIELD_THREAD) {
		for (thread_id id = 1; !code && !*out && id <= p->thread_count; id++)
			code = thread_fits(m, f, id, out);
	} else {
		for (int api = API_UNKNOWN + 1; !code && !*out && api < API_COUNT; api++)
			code = text_match_run(m, profile_api_name((enum profile_api)api), NULL,
					      out);
	}
	return code;
}

/* Frames without a name are not listed: ask for their entries. */
static enum neap_err fits_address(struct text_match *m, struct query_file *f, bool *out)
{
	enum neap_err code = NEAP_OK;
	for (entry_id i = 0; !code && !*out && i < f->columns.entry_count; i++) {
		if (f->columns.entry_func[i])
			continue;
		const char *name = file_entry_name(f, i);
		code = name ? text_match_run(m, name, NULL, out) : query_no_memory(m->error);
	}
	return code;
}

static enum neap_err check_value(struct where *w, enum ast_field field,
				 const struct ast_pattern *value, bool is_part)
{
	struct plan *pl = w->pl;
	struct text_match m;
	bool fits = false;
	enum neap_err code =
		text_match_init(&m, is_part ? OP_MATCH : OP_EQ, field, value, 1, pl->error);
	for (size_t i = 0; !code && !fits && i < pl->side_count; i++) {
		struct query_file *f = pl->sides[i].file;
		code = field == FIELD_TYPE ? fits_type(&m, file_types(pl->session, f), &fits)
					   : fits_list(&m, f, &fits);
		if (!code && !fits && field == FIELD_FUNC)
			code = fits_address(&m, f, &fits);
	}
	text_match_release(&m);
	return code || fits ? code : report(w, field, value, is_part);
}

static enum neap_err check_compare(struct where *w, const struct ast_compare *c)
{
	enum neap_err code = NEAP_OK;
	bool is_named = c->field == FIELD_FUNC || c->field == FIELD_FILE ||
			c->field == FIELD_MODULE || c->field == FIELD_THREAD ||
			c->field == FIELD_API || c->field == FIELD_TYPE;
	if (c->field == FIELD_LABEL)
		return plan_note(w->pl, "the profile knows no labels: '%.*s' matches nothing",
				 (int)c->word.bytes, c->word.s);
	if (c->field == FIELD_TYPE && !plan_knows_types(w->pl))
		return plan_note(w->pl,
				 "the profile knows no types of objects: '%.*s' matches nothing",
				 (int)c->word.bytes, c->word.s);
	if (!is_named || (c->op != OP_EQ && c->op != OP_NE && c->op != OP_IN_LIST))
		return NEAP_OK;
	for (size_t i = 0; !code && i < c->value_count; i++) {
		const struct ast_pattern *v = &c->values[i];
		bool is_wild = v->kind == PATTERN_WORD && has_wildcard(v->text.s, v->text.bytes);
		if (v->kind != PATTERN_REGEX && !is_wild)
			code = check_value(w, c->field, v, false);
	}
	return code;
}

static enum neap_err check_expr(struct where *w, const struct ast_expr *x);

static enum neap_err check_step(struct where *w, const struct ast_step *step)
{
	if (step->kind == STEP_EXPR)
		return check_expr(w, step->expr);
	if (step->kind != STEP_PATTERN || step->pattern.kind == PATTERN_REGEX)
		return NEAP_OK;
	return check_value(w, FIELD_FUNC, &step->pattern, true);
}

static enum neap_err check_expr(struct where *w, const struct ast_expr *x)
{
	enum neap_err code = NEAP_OK;
	if (x->kind == EXPR_NAME)
		return check_expr(w, x->let_expr);
	if (x->kind == EXPR_COMPARE)
		return check_compare(w, &x->compare);
	for (size_t i = 0; !code && i < x->item_count; i++)
		code = check_expr(w, x->items[i]);
	for (size_t i = 0; !code && i < x->step_count; i++)
		code = check_step(w, &x->steps[i]);
	return code;
}

enum neap_err where_check_names(struct where *w)
{
	const struct plan *pl = w->pl;
	enum neap_err code = NEAP_OK;
	for (size_t i = 0; !code && i < pl->filters.count; i++)
		code = check_expr(w, pl->filters.items[i]);
	for (size_t i = 0; !code && i < pl->transforms.count; i++) {
		const struct ast_stage *s = pl->transforms.items[i];
		if (s->has_step)
			code = check_step(w, &s->step);
	}
	if (!code && pl->view_stage && pl->view_stage->has_step)
		code = check_step(w, &pl->view_stage->step);
	return code;
}
