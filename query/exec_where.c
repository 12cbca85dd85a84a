/*
 * Conditions on allocations, evaluated a column at a time.
 *
 *   by function, file or module   a condition on names, once per distinct name
 *   by entry                      conditions on one frame: a byte per entry of the index
 *   by vnode                      any, all, root and paths: one pass from parents to children
 *   by cell                       everything together: a byte per cell
 *
 * The columns by entry and by vnode do not depend on the population and are kept for the
 * other populations of the query.
 *
 * A value that is unknown (line 0, no file, no module) fits no comparison, not even != .
 */
#include "config.h"

#include "query/exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "query/names.h"

/* ---- memory -------------------------------------------------------------------------- */

enum memo_kind {
	MEMO_ENTRIES,
	MEMO_ANY,
	MEMO_ALL,
	MEMO_PATH
};

static uint8_t *find_memo(const struct where *w, const void *what, enum memo_kind kind,
			  const struct query_file *f)
{
	for (size_t i = 0; i < w->memo_count; i++) {
		const struct where_memo *m = &w->memos[i];
		if (m->what == what && m->kind == (int)kind && m->file == f)
			return m->flags;
	}
	return NULL;
}

/* Takes over the flags, also when it fails. */
static uint8_t *keep_memo(struct where *w, const void *what, enum memo_kind kind,
			  const struct query_file *f, uint8_t *flags)
{
	if (!flags)
		return NULL;
	if (!vec_reserve((void **)&w->memos, &w->memo_cap, w->memo_count + 1, sizeof *w->memos)) {
		mem_free(flags);
		query_no_memory(w->pl->error);
		return NULL;
	}
	w->memos[w->memo_count++] =
		(struct where_memo){.what = what, .kind = (int)kind, .file = f, .flags = flags};
	return flags;
}

void where_release(struct where *w)
{
	for (size_t i = 0; i < w->memo_count; i++)
		mem_free(w->memos[i].flags);
	mem_free(w->memos);
	*w = (struct where){.pl = NULL};
}

static uint8_t *new_flags(struct where *w, size_t count)
{
	uint8_t *flags = mem_zarray(count, 1);
	if (!flags)
		query_no_memory(w->pl->error);
	return flags;
}

/* ---- frames ------------------------------------------------------------------------------ */

/* Answers by id of a name: 0 not asked yet, 1 no, 2 yes. */
struct answers {
	struct text_match *match;
	uint8_t *known;
};

static bool ask(struct answers *a, uint32_t id, const char *text, const char *alternative,
		uint8_t *out)
{
	if (!a->known[id]) {
		bool fits;
		if (text_match_run(a->match, text, alternative, &fits))
			return false;
		a->known[id] = fits ? 2 : 1;
	}
	*out = a->known[id] == 2;
	return true;
}

/* Functions without a name are compared by what they are shown as. */
static bool match_functions(struct query_file *f, struct answers *a, uint8_t *flags)
{
	const struct graph_columns *c = &f->columns;
	const struct profile_func *funcs = f->p->symbols.funcs;
	bool is_good = true;
	for (entry_id i = 0; is_good && i < c->entry_count; i++) {
		func_id id = c->entry_func[i];
		if (id) {
			is_good = ask(a, id, funcs[id - 1].name, funcs[id - 1].linkage, &flags[i]);
			continue;
		}
		const char *name = file_entry_name(f, i);
		bool fits = false;
		if (!name)
			return query_no_memory(a->match->error) == NEAP_OK;
		is_good = !text_match_run(a->match, name, NULL, &fits);
		flags[i] = fits;
	}
	return is_good;
}

static bool match_files(struct query_file *f, struct answers *a, uint8_t *flags)
{
	const struct graph_columns *c = &f->columns;
	bool is_good = true;
	for (entry_id i = 0; is_good && i < c->entry_count; i++) {
		file_id id = c->entry_file[i];
		if (id)
			is_good = ask(a, id, f->p->symbols.files[id - 1], NULL, &flags[i]);
	}
	return is_good;
}

static bool match_modules(struct query_file *f, struct answers *a, uint8_t *flags)
{
	bool is_good = true;
	for (entry_id i = 0; is_good && i < f->columns.entry_count; i++) {
		mod_id id = graph_entry(f->g, i).module;
		if (id)
			is_good = ask(a, id, f->p->modules[id - 1].path, NULL, &flags[i]);
	}
	return is_good;
}

/* func, file or module; a step is `func` and contains. */
static bool match_names(struct where *w, struct query_file *f, enum ast_field field,
			struct text_match *m, uint8_t *flags)
{
	const struct profile *p = f->p;
	size_t count = field == FIELD_FUNC   ? p->symbols.func_count
		       : field == FIELD_FILE ? p->symbols.file_count
					     : p->module_count;
	struct answers a = {.match = m, .known = new_flags(w, count + 1)};
	bool is_good = a.known;
	if (is_good)
		is_good = field == FIELD_FUNC   ? match_functions(f, &a, flags)
			  : field == FIELD_FILE ? match_files(f, &a, flags)
						: match_modules(f, &a, flags);
	mem_free(a.known);
	return is_good;
}

static void match_numbers(const struct query_file *f, const struct ast_compare *c, uint8_t *flags)
{
	for (entry_id i = 0; i < f->columns.entry_count; i++) {
		if (c->field == FIELD_LINE) {
			uint32_t line = f->columns.entry_line[i];
			flags[i] = line && number_fits(c, line);
		} else {
			struct graph_frame frame = graph_entry(f->g, i);
			flags[i] = frame.frame && number_fits(c, (double)frame.pc);
		}
	}
}

static uint8_t *compare_entries(struct where *w, struct query_file *f, const struct ast_compare *c)
{
	struct text_match m;
	uint8_t *flags = new_flags(w, f->columns.entry_count);
	if (!flags)
		return NULL;
	if (vocab_fields.words[c->field].type != VALUE_NAME) {
		match_numbers(f, c, flags);
		return flags;
	}
	bool is_good =
		!text_match_init(&m, c->op, c->field, c->values, c->value_count, w->pl->error) &&
		match_names(w, f, c->field, &m, flags);
	text_match_release(&m);
	if (is_good)
		return flags;
	mem_free(flags);
	return NULL;
}

static uint8_t *pattern_entries(struct where *w, struct query_file *f,
				const struct ast_pattern *pattern)
{
	struct text_match m;
	uint8_t *flags = new_flags(w, f->columns.entry_count);
	if (!flags)
		return NULL;
	bool is_good = !text_match_init(&m, OP_MATCH, FIELD_NONE, pattern, 1, w->pl->error) &&
		       match_names(w, f, FIELD_FUNC, &m, flags);
	text_match_release(&m);
	if (is_good)
		return flags;
	mem_free(flags);
	return NULL;
}

static void invert(uint8_t *flags, size_t count)
{
	for (size_t i = 0; i < count; i++)
		flags[i] = !flags[i];
}

static void combine(uint8_t *to, const uint8_t *from, size_t count, bool is_and)
{
	for (size_t i = 0; i < count; i++)
		to[i] = is_and ? to[i] & from[i] : to[i] | from[i];
}

/* and, or, not over the flags of the items. */
static uint8_t *combine_entries(struct where *w, struct query_file *f, const struct ast_expr *x)
{
	size_t count = f->columns.entry_count;
	uint8_t *flags = new_flags(w, count);
	if (!flags)
		return NULL;
	memset(flags, x->kind != EXPR_OR, count);
	for (size_t i = 0; i < x->item_count; i++) {
		const uint8_t *item = where_entries(w, f, x->items[i]);
		if (!item) {
			mem_free(flags);
			return NULL;
		}
		combine(flags, item, count, x->kind != EXPR_OR);
	}
	if (x->kind == EXPR_NOT)
		invert(flags, count);
	return flags;
}

static uint8_t *all_entries(struct where *w, struct query_file *f)
{
	uint8_t *flags = new_flags(w, f->columns.entry_count);
	if (flags)
		memset(flags, 1, f->columns.entry_count);
	return flags;
}

const uint8_t *where_step(struct where *w, struct query_file *f, const struct ast_step *step)
{
	if (step->kind == STEP_EXPR)
		return where_entries(w, f, step->expr);
	const uint8_t *known = find_memo(w, step, MEMO_ENTRIES, f);
	if (known)
		return known;
	uint8_t *flags = step->kind == STEP_PATTERN ? pattern_entries(w, f, &step->pattern)
						    : all_entries(w, f);
	return keep_memo(w, step, MEMO_ENTRIES, f, flags);
}

const uint8_t *where_entries(struct where *w, struct query_file *f, const struct ast_expr *x)
{
	while (x->kind == EXPR_NAME)
		x = x->let_expr;
	if (x->kind == EXPR_STEP)
		return where_step(w, f, &x->steps[0]);
	const uint8_t *known = find_memo(w, x, MEMO_ENTRIES, f);
	if (known)
		return known;
	uint8_t *flags = x->kind == EXPR_COMPARE ? compare_entries(w, f, &x->compare)
						 : combine_entries(w, f, x);
	return keep_memo(w, x, MEMO_ENTRIES, f, flags);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static uint8_t *spread_any(struct where *w, const struct stacks *s, const uint8_t *entries)
{
	uint8_t *flags = new_flags(w, s->count);
	for (size_t v = 1; flags && v < s->count; v++)
		flags[v] = flags[s->parent[v]] | entries[s->entry[v]];
	return flags;
}

static uint8_t *spread_all(struct where *w, const struct stacks *s, const uint8_t *entries)
{
	uint8_t *flags = new_flags(w, s->count);
	if (flags)
		flags[VNODE_ROOT] = 1;
	for (size_t v = 1; flags && v < s->count; v++)
		flags[v] = flags[s->parent[v]] & entries[s->entry[v]];
	return flags;
}

/* Flags by vnode of any, none (inverted later) and all. */
static const uint8_t *spread(struct where *w, struct query_file *f, const void *what, bool is_all,
			     const uint8_t *entries)
{
	enum memo_kind kind = is_all ? MEMO_ALL : MEMO_ANY;
	const uint8_t *known = find_memo(w, what, kind, f);
	if (known)
		return known;
	uint8_t *flags =
		is_all ? spread_all(w, f->stacks, entries) : spread_any(w, f->stacks, entries);
	return keep_memo(w, what, kind, f, flags);
}

static bool any_cells(struct where *w, const struct cells *c, const void *what,
		      const uint8_t *entries, uint8_t *out)
{
	const uint8_t *flags = spread(w, c->file, what, false, entries);
	for (size_t i = 0; flags && i < c->count; i++)
		out[i] = flags[cell_inner(c, i)];
	return flags;
}

static bool all_cells(struct where *w, const struct cells *c, const void *what,
		      const uint8_t *entries, uint8_t *out)
{
	const uint8_t *flags = spread(w, c->file, what, true, entries);
	for (size_t i = 0; flags && i < c->count; i++)
		out[i] = flags[cell_inner(c, i)];
	return flags;
}

static void leaf_cells(const struct cells *c, const uint8_t *entries, uint8_t *out)
{
	const struct stacks *s = c->file->stacks;
	for (size_t i = 0; i < c->count; i++)
		out[i] = entries[s->entry[cell_leaf(c, i)]];
}

/* The outermost frame of each vnode's stack flows down. */
static bool root_cells(struct where *w, const struct cells *c, const uint8_t *entries, uint8_t *out)
{
	const struct stacks *s = c->file->stacks;
	uint8_t *flags = new_flags(w, s->count);
	for (size_t v = 1; flags && v < s->count; v++)
		flags[v] = s->parent[v] == VNODE_ROOT ? entries[s->entry[v]] : flags[s->parent[v]];
	for (size_t i = 0; flags && i < c->count; i++)
		out[i] = flags[cell_inner(c, i)];
	mem_free(flags);
	return flags;
}

/* Stacks that have no frame so far out fit nothing. */
static void caller_cells(const struct cells *c, const uint8_t *entries, uint32_t up, uint8_t *out)
{
	const struct stacks *s = c->file->stacks;
	for (size_t i = 0; i < c->count; i++) {
		uint32_t v = stacks_up(s, cell_leaf(c, i), up);
		out[i] = v != VNODE_ROOT && entries[s->entry[v]];
	}
}

static bool frame_cells(struct where *w, const struct cells *c, const struct ast_expr *x,
			struct ast_quant quantifier, uint8_t *out)
{
	const struct ast_expr *of = x->kind == EXPR_QUANT ? x->items[0] : x;
	const uint8_t *entries = where_entries(w, c->file, of);
	if (!entries)
		return false;
	switch (quantifier.of) {
	case QUANT_ALL:
		return all_cells(w, c, x, entries, out);
	case QUANT_LEAF:
		leaf_cells(c, entries, out);
		return true;
	case QUANT_CALLER:
		caller_cells(c, entries, quantifier.up, out);
		return true;
	case QUANT_ROOT:
		return root_cells(w, c, entries, out);
	case QUANT_NONE:
		if (!any_cells(w, c, x, entries, out))
			return false;
		invert(out, c->count);
		return true;
	case QUANT_DEFAULT:
	case QUANT_ANY:
		break;
	}
	return any_cells(w, c, x, entries, out);
}

/* A match that is tied to the leaf ends there or further in, where only wrappers stand. */
static bool ends_at_leaf(const struct stacks *s, const uint8_t *flags, uint32_t inner,
			 uint32_t leaf)
{
	for (uint32_t v = inner;; v = s->parent[v]) {
		if (flags[v])
			return true;
		if (v == leaf || v == VNODE_ROOT)
			return false;
	}
}

static bool path_cells(struct where *w, const struct cells *c, const struct ast_expr *x,
		       uint8_t *out)
{
	const struct stacks *s = c->file->stacks;
	const uint8_t *flags = find_memo(w, x, MEMO_PATH, c->file);
	if (!flags) {
		uint8_t *made = path_flags(w, c->file, x);
		/* Untied: what ends at a frame holds for all further in. */
		for (size_t v = 1; made && !x->is_leafed && v < s->count; v++)
			made[v] |= made[s->parent[v]];
		flags = keep_memo(w, x, MEMO_PATH, c->file, made);
	}
	for (size_t i = 0; flags && i < c->count; i++)
		out[i] = x->is_leafed ? ends_at_leaf(s, flags, cell_inner(c, i), cell_leaf(c, i))
				      : flags[cell_inner(c, i)];
	return flags;
}

/* ---- allocations ------------------------------------------------------------------------------ */

/* By name, by number, or by both as rows show them. */
enum neap_err thread_fits(struct text_match *m, struct query_file *f, thread_id id, bool *out)
{
	const char *name = f->p->threads[id - 1].name, *shown = file_thread_name(f, id);
	char number[16];
	bool fits = false, shown_fits = false;
	*out = false;
	if (!shown)
		return query_no_memory(m->error);
	snprintf(number, sizeof number, "%" PRIu32, id);
	bool has_name = name && *name;
	enum neap_err code =
		text_match_run(m, has_name ? name : number, has_name ? number : NULL, &fits);
	bool is_exact = m->op != OP_MATCH && m->op != OP_NOT_MATCH;
	if (!code && is_exact)
		code = text_match_run(m, shown, NULL, &shown_fits);
	if (!is_exact)
		*out = fits;
	else
		*out = m->op == OP_NE ? fits && shown_fits : fits || shown_fits;
	return code;
}

static bool thread_cells(const struct cells *c, struct text_match *m, uint8_t *known, uint8_t *out)
{
	const struct profile *p = c->file->p;
	for (size_t i = 0; i < c->count; i++) {
		thread_id id = profile_cohort_thread(p, c->cohort[i]);
		bool fits = false;
		if (id && !known[id]) {
			if (thread_fits(m, c->file, id, &fits))
				return false;
			known[id] = fits ? 2 : 1;
		}
		out[i] = known[id] == 2;
	}
	return true;
}

static bool api_cells(const struct cells *c, struct text_match *m, uint8_t *known, uint8_t *out)
{
	const struct profile *p = c->file->p;
	struct answers a = {.match = m, .known = known};
	bool is_good = true;
	for (size_t i = 0; is_good && i < c->count; i++) {
		enum profile_api api = profile_site_api(p, cell_site(c, i));
		if (api != API_UNKNOWN)
			is_good = ask(&a, api, profile_api_name(api), NULL, &out[i]);
	}
	return is_good;
}

static bool type_cells(const struct cells *c, const struct graph_types *types, struct text_match *m,
		       uint8_t *known, uint8_t *out)
{
	struct answers a = {.match = m, .known = known};
	bool is_good = true;
	for (size_t i = 0; is_good && i < c->count; i++) {
		uint32_t type = types->of_site[cell_site(c, i)];
		if (type)
			is_good = ask(&a, type, strtab_get(&types->names, type - 1), NULL, &out[i]);
	}
	return is_good;
}

static bool named_cells(struct where *w, const struct cells *c, const struct ast_compare *cmp,
			uint8_t *out)
{
	struct text_match m;
	const struct graph_types *types = NULL;
	if (cmp->field == FIELD_LABEL)
		return true; /* labels are unknown: nothing fits */
	if (cmp->field == FIELD_TYPE && !(types = file_types(w->pl->session, c->file)))
		return query_no_memory(w->pl->error) == NEAP_OK;
	size_t count = c->file->p->thread_count + API_COUNT + (types ? types->names.count : 0) + 1;
	uint8_t *known = new_flags(w, count);
	bool is_good = known && !text_match_init(&m, cmp->op, cmp->field, cmp->values,
						 cmp->value_count, w->pl->error);
	if (is_good) {
		is_good = types                        ? type_cells(c, types, &m, known, out)
			  : cmp->field == FIELD_THREAD ? thread_cells(c, &m, known, out)
						       : api_cells(c, &m, known, out);
		text_match_release(&m);
	}
	mem_free(known);
	return is_good;
}

static bool compare_cells(struct where *w, const struct cells *c, const struct ast_expr *x,
			  uint8_t *out)
{
	const struct ast_compare *cmp = &x->compare;
	const struct vocab_word *field = &vocab_fields.words[cmp->field];
	if (field->of == OF_FRAME)
		return frame_cells(w, c, x, cmp->quantifier, out);
	if (field->type == VALUE_NAME)
		return named_cells(w, c, cmp, out);
	for (size_t i = 0; i < c->count; i++) {
		int64_t value;
		out[i] = cell_field(c, i, cmp->field, &value) && number_fits(cmp, (double)value);
	}
	return true;
}

static bool eval_cells(struct where *w, const struct cells *c, const struct ast_expr *x,
		       uint8_t *out);

static bool combine_cells(struct where *w, const struct cells *c, const struct ast_expr *x,
			  uint8_t *out)
{
	memset(out, x->kind != EXPR_OR, c->count);
	uint8_t *item = new_flags(w, c->count);
	bool is_good = item;
	for (size_t i = 0; is_good && i < x->item_count; i++) {
		memset(item, 0, c->count);
		is_good = eval_cells(w, c, x->items[i], item);
		if (is_good)
			combine(out, item, c->count, x->kind != EXPR_OR);
	}
	mem_free(item);
	if (x->kind == EXPR_NOT)
		invert(out, c->count);
	return is_good;
}

/* out is zeroed. */
static bool eval_cells(struct where *w, const struct cells *c, const struct ast_expr *x,
		       uint8_t *out)
{
	switch (x->kind) {
	case EXPR_AND:
	case EXPR_OR:
	case EXPR_NOT:
		return combine_cells(w, c, x, out);
	case EXPR_COMPARE:
		return compare_cells(w, c, x, out);
	case EXPR_QUANT:
	case EXPR_STEP:
		return frame_cells(w, c, x, x->quantifier, out);
	case EXPR_PATH:
		return path_cells(w, c, x, out);
	case EXPR_NAME:
		return eval_cells(w, c, x->let_expr, out);
	}
	return false;
}

enum neap_err cells_filter(struct where *w, struct cells *c, const struct ast_expr *x)
{
	if (!c->count)
		return NEAP_OK;
	uint8_t *keep = new_flags(w, c->count);
	if (!keep || !eval_cells(w, c, x, keep)) {
		mem_free(keep);
		return w->pl->error->code;
	}
	cells_keep(c, keep);
	mem_free(keep);
	return NEAP_OK;
}
