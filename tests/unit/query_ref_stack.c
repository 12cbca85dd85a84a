/* Stacks as lists of frames: conditions on them, and what changes them.  See query_ref.h. */
#include "config.h"

#include "tests/unit/query_ref_stack.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stacks ----------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void add_frame(struct ref_stack *s, const struct ref_frame *f)
{
	ref_must(s->count < REF_FRAMES, "stack too deep");
	memmove(s->frames + 1, s->frames, (size_t)s->count * sizeof *f);
	s->frames[0] = *f;
	s->count++;
}

static void add_word(struct ref_stack *s, const char *word)
{
	struct ref_frame f = {.is_named = false};
	snprintf(f.func, sizeof f.func, "%s", word);
	add_frame(s, &f);
}

/* The functions of one node, innermost first, each put outside of those before. */
static void add_node(struct ref_stack *s, const struct profile *p, node_id n)
{
	frame_id id = profile_node_frame(p, n);
	const struct profile_frame *code = &p->frames[id - 1];
	struct ref_frame f = {.pc = code->pc, .has_code = true};
	f.path = code->module ? p->modules[code->module - 1].path : NULL;
	uint32_t first = 0, end = 0;
	if (p->has_symbols && id <= p->symbols.frame_count) {
		first = p->symbols.first_line[id - 1];
		end = p->symbols.first_line[id];
	}
	if (first == end) {
		if (f.path)
			snprintf(f.func, sizeof f.func, "%s+0x%" PRIx64, last_part(f.path), f.pc);
		else
			snprintf(f.func, sizeof f.func, "0x%" PRIx64, f.pc);
		add_frame(s, &f);
	}
	for (uint32_t i = first; i < end; i++) {
		const struct profile_line *l = &p->symbols.lines[i];
		const struct profile_func *func = l->func ? &p->symbols.funcs[l->func - 1] : NULL;
		ref_must(func, "a line without a function");
		snprintf(f.func, sizeof f.func, "%s", func->name);
		f.linkage = func->linkage;
		f.file = l->file ? p->symbols.files[l->file - 1] : NULL;
		f.line = l->line;
		f.is_named = true;
		add_frame(s, &f);
	}
}

void ref_make_stack(struct ref_stack *s, const struct ref_side *side, node_id n)
{
	const struct profile *p = side->p;
	memset(s, 0, sizeof *s);
	for (; n >= PROFILE_NODE_FIRST; n = profile_node_parent(p, n))
		add_node(s, p, n);
	if (n == PROFILE_NODE_SIGNAL)
		add_word(s, "[signal]");
	else if (n == PROFILE_NODE_TRUNCATED)
		add_word(s, "[truncated]");
	else if (!s->count)
		add_word(s, "[no stack]");
	s->leaf = s->count - 1;
	while (s->leaf > 0 && s->frames[s->leaf].is_named &&
	       side->is_wrapper(s->frames[s->leaf].func))
		s->leaf--;
	/* Wrappers only, below a root that is no function: the outermost function. */
	if (s->leaf == 0 && s->count > 1 && !s->frames[0].has_code)
		s->leaf = 1;
	/* The outermost address of wrappers only: the function that holds its code. */
}

/* ---- texts ---------------------------------------------------------------------------------- */

static bool text_is(const struct ast_text *t, const char *s, size_t bytes)
{
	return t->bytes == bytes && !memcmp(t->s, s, bytes);
}

static bool glob(const char *p, const char *p_end, const char *s)
{
	if (p == p_end)
		return !*s;
	if (*p == '*')
		return glob(p + 1, p_end, s) || (*s && glob(p, p_end, s + 1));
	return *s && (*p == '?' || *p == *s) && glob(p + 1, p_end, s + 1);
}

bool ref_value_is(const struct ast_pattern *v, const char *s)
{
	const struct ast_text *t = &v->text;
	if (v->kind == PATTERN_WORD)
		return glob(t->s, t->s + t->bytes, s);
	return text_is(t, s, strlen(s));
}

/* Names of the tests have no brackets but those of a parameter list at the end. */
static bool function_is(const struct ast_pattern *v, const struct ref_frame *f)
{
	char plain[96];
	snprintf(plain, sizeof plain, "%s", f->func);
	char *open = f->is_named ? strchr(plain, '(') : NULL;
	if (open)
		*open = 0;
	return ref_value_is(v, f->func) || ref_value_is(v, plain) ||
	       (f->linkage && ref_value_is(v, f->linkage));
}

static bool file_is(const struct ast_pattern *v, const char *path)
{
	for (const char *s = path; s; s = strchr(s, '/') ? strchr(s, '/') + 1 : NULL) {
		if (ref_value_is(v, s))
			return true;
	}
	return false;
}

bool ref_contains(const struct ast_pattern *v, const char *s)
{
	char part[128];
	ref_must(v->kind != PATTERN_REGEX, "regular expressions are tested apart");
	snprintf(part, sizeof part, "%.*s", (int)v->text.bytes, v->text.s);
	return strstr(s, part);
}

static double number(const struct ast_text *t)
{
	char text[64], *end;
	snprintf(text, sizeof text, "%.*s", (int)t->bytes, t->s);
	double value = strtod(text, &end);
	if (!strcmp(end, "K"))
		return value * 1024;
	if (!strcmp(end, "ms"))
		return value * 1e6;
	ref_must(!*end, "a unit that the tests do not use");
	return value;
}

bool ref_number_fits(const struct ast_compare *c, double x)
{
	bool is_listed = false;
	for (size_t i = 0; i < c->value_count; i++)
		is_listed = is_listed || number(&c->values[i].text) == x;
	double low = (double)c->low.value, high = (double)c->high.value;
	switch (c->op) {
	case OP_EQ:
	case OP_IN_LIST:
		return is_listed;
	case OP_NE:
		return !is_listed;
	case OP_LT:
		return x < low;
	case OP_LE:
		return x <= low;
	case OP_GT:
		return x > low;
	case OP_GE:
		return x >= low;
	case OP_IN_RANGE:
		return (!c->has_low || x >= low) && (!c->has_high || x <= high);
	default:
		ref_must(false, "~ on a number");
		return false;
	}
}

/* ---- conditions on frames ----------------------------------------------------------------------- */

static bool frame_fits(const struct ref_frame *f, const struct ast_expr *x);

static bool frame_value_is(const struct ref_frame *f, enum ast_field field,
			   const struct ast_pattern *v)
{
	if (field == FIELD_FUNC)
		return function_is(v, f);
	if (field == FIELD_FILE)
		return file_is(v, f->file);
	return ref_value_is(v, f->path) || ref_value_is(v, last_part(f->path));
}

static bool frame_compare(const struct ref_frame *f, const struct ast_compare *c)
{
	if (c->field == FIELD_LINE)
		return f->line && ref_number_fits(c, f->line);
	if (c->field == FIELD_ADDR)
		return f->has_code && ref_number_fits(c, (double)f->pc);
	const char *text = c->field == FIELD_FUNC   ? f->func
			   : c->field == FIELD_FILE ? f->file
						    : f->path;
	bool fits = false;
	if (!text)
		return false;
	if (c->op == OP_MATCH || c->op == OP_NOT_MATCH)
		return ref_contains(&c->values[0], text) == (c->op == OP_MATCH);
	for (size_t i = 0; i < c->value_count; i++)
		fits = fits || frame_value_is(f, c->field, &c->values[i]);
	return fits == (c->op != OP_NE);
}

bool ref_step_fits(const struct ref_frame *f, const struct ast_step *s)
{
	if (s->kind == STEP_EXPR)
		return frame_fits(f, s->expr);
	return s->kind == STEP_ONE || ref_contains(&s->pattern, f->func);
}

static bool frame_fits(const struct ref_frame *f, const struct ast_expr *x)
{
	bool fits = x->kind == EXPR_AND;
	switch (x->kind) {
	case EXPR_AND:
		for (size_t i = 0; i < x->item_count; i++)
			fits = fits && frame_fits(f, x->items[i]);
		return fits;
	case EXPR_OR:
		for (size_t i = 0; i < x->item_count; i++)
			fits = fits || frame_fits(f, x->items[i]);
		return fits;
	case EXPR_NOT:
		return !frame_fits(f, x->items[0]);
	case EXPR_COMPARE:
		return frame_compare(f, &x->compare);
	case EXPR_STEP:
		return ref_step_fits(f, &x->steps[0]);
	case EXPR_NAME:
		return frame_fits(f, x->let_expr);
	default:
		ref_must(false, "not a condition on a frame");
		return false;
	}
}

/* ---- conditions on stacks ------------------------------------------------------------------------ */

/* Steps k.. against frames from i on; gap: any number of frames may come first. */
static bool path_from(const struct ref_stack *s, const struct ast_expr *x, size_t k, int i,
		      bool gap)
{
	if (k == x->step_count) {
		/* The match has ended before frame i. */
		return !x->is_leafed || i - 1 >= s->leaf;
	}
	const struct ast_step *step = &x->steps[k];
	gap = gap || step->is_far;
	if (step->kind == STEP_MANY) {
		/* `**` at the end takes frames too, so that the match may end at any of them. */
		for (int next = i; next <= s->count; next++) {
			if (path_from(s, x, k + 1, next, false))
				return true;
		}
		return false;
	}
	for (int at = i; at < s->count && (gap || at == i); at++) {
		if (ref_step_fits(&s->frames[at], step) && path_from(s, x, k + 1, at + 1, false))
			return true;
	}
	return false;
}

const struct ref_frame *ref_one_frame(const struct ref_stack *s, struct ast_quant q)
{
	if (q.of == QUANT_ROOT)
		return &s->frames[0];
	return (int)q.up > s->leaf ? NULL : &s->frames[s->leaf - (int)q.up];
}

bool ref_stack_has(const struct ref_stack *s, const struct ast_expr *x, struct ast_quant q)
{
	const struct ast_expr *of = x->kind == EXPR_QUANT ? x->items[0] : x;
	int fitting = 0;
	for (int i = 0; i < s->count; i++)
		fitting += frame_fits(&s->frames[i], of);
	const struct ref_frame *one = ref_one_frame(s, q);
	switch (q.of) {
	case QUANT_ALL:
		return fitting == s->count;
	case QUANT_NONE:
		return !fitting;
	case QUANT_LEAF:
	case QUANT_ROOT:
	case QUANT_CALLER:
		return one && frame_fits(one, of);
	default:
		return fitting;
	}
}

bool ref_path_fits(const struct ref_stack *s, const struct ast_expr *x)
{
	return path_from(s, x, 0, 0, !x->is_rooted);
}

/* ---- transforms ------------------------------------------------------------------------------------- */

/* Put frame i of `from` at the end of `to`. */
static int keep(struct ref_stack *to, const struct ref_frame *f)
{
	to->frames[to->count] = *f;
	return to->count++;
}

static bool is_same_function(const struct ref_frame *a, const struct ref_frame *b)
{
	if (a->is_named != b->is_named)
		return false;
	/* Without names, only the very same address is the same function. */
	return a->is_named ? !strcmp(a->func, b->func)
			   : a->pc == b->pc && a->path == b->path && !strcmp(a->func, b->func);
}

/* place[0 .. known - 1] of frames that are folded away become -3. */
static int fold_recursion(struct ref_stack *to, const struct ref_frame *f, int *place, int known)
{
	for (int i = 0; i < to->count; i++) {
		if (!is_same_function(&to->frames[i], f))
			continue;
		to->count = i + 1;
		for (int k = 0; k < known; k++)
			place[k] = place[k] > i ? -3 : place[k];
		return i;
	}
	return keep(to, f);
}

void ref_transform(struct ref_stack *s, const struct ast_stage *stage)
{
	struct ref_stack from = *s;
	bool was_fitting = false, is_on = false, leaf_is_out = false;
	int place[REF_FRAMES];
	if (from.is_dropped)
		return;
	bool is_unknown = from.count == 1 && !strcmp(from.frames[0].func, "[no stack]");
	s->count = 0;
	for (int i = 0; i < from.count; i++) {
		const struct ref_frame *f = &from.frames[i];
		bool fits = stage->has_step && ref_step_fits(f, &stage->step);
		if (is_unknown && stage->kind != STAGE_ZOOM)
			place[i] = keep(s, f);
		else if (stage->kind == STAGE_HIDE)
			place[i] = fits ? s->count - 1 : keep(s, f);
		else if (stage->kind == STAGE_ZOOM) {
			is_on = is_on || fits;
			place[i] = is_on ? keep(s, f) : -2;
		} else if (stage->kind == STAGE_TRIM) {
			is_on = is_on || fits;
			place[i] = is_on ? s->count - 1 : keep(s, f);
		} else if (stage->is_recursion) {
			place[i] = fold_recursion(s, f, place, i);
		} else {
			place[i] = fits && was_fitting ? s->count - 1 : keep(s, f);
			was_fitting = fits;
		}
	}
	leaf_is_out = place[from.leaf] == -2;
	s->is_dropped = place[from.count - 1] == -2;
	s->leaf = leaf_is_out ? 0 : place[from.leaf] == -3 ? s->count - 1 : place[from.leaf];
	if (!s->count && !s->is_dropped) {
		add_word(s, "[no stack]");
		s->leaf = 0;
	} else if (s->leaf < 0) {
		s->leaf = 0; /* only wrappers are left */
	}
}
