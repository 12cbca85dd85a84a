/* See query_ref.h. */
#include "config.h"

#include "tests/unit/query_ref_stack.h"

#include "src/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ref_must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "query_ref: %s\n", what);
	abort();
}

/* ---- groups of blocks ------------------------------------------------------------------------------ */

struct part {
	size_t cohort;
	snap_id birth, death; /* death 0: never */
	struct graph_sum value;
};

static uint64_t time_of(const struct profile *p, snap_id s)
{
	return s ? p->snapshots[s - 1].time_ns : 0;
}

static uint64_t lifetime_of(const struct ref_side *side, const struct part *b)
{
	const struct profile *p = side->p;
	uint64_t to = side->instant_ns, from = time_of(p, b->birth);
	if (side->pop == POP_ALLOCATED || side->pop == POP_FREED || side->pop == POP_TEMPORARY)
		to = time_of(p, b->death ? b->death : (snap_id)p->snapshot_count);
	return to > from ? to - from : 0;
}

static int64_t size_of(const struct profile *p, const struct part *b)
{
	uint64_t size = profile_site_size_bytes(p, profile_cohort_site(p, b->cohort) - 1);
	if (size != PROFILE_SIZE_MIXED)
		return (int64_t)size;
	return (int64_t)(profile_cohort_born_bytes(p, b->cohort) /
			 profile_cohort_births(p, b->cohort));
}

static bool block_number(const struct ref_side *side, const struct part *b,
			 const struct ref_stack *s, enum ast_field field, int64_t *out)
{
	const struct profile *p = side->p;
	switch (field) {
	case FIELD_SIZE:
		*out = size_of(p, b);
		return true;
	case FIELD_TID:
		*out = p->threads[profile_cohort_thread(p, b->cohort) - 1].tid;
		return *out;
	case FIELD_LIFETIME:
		*out = (int64_t)lifetime_of(side, b);
		return true;
	case FIELD_BORN:
		*out = (int64_t)time_of(p, b->birth);
		return true;
	case FIELD_DIED:
		*out = (int64_t)time_of(p, b->death);
		return b->death;
	case FIELD_DEPTH:
		*out = s->count;
		return true;
	default:
		ref_must(false, "not a number of blocks");
		return false;
	}
}

/* What the innermost function tells that is an allocation wrapper or called by one; or NULL. */
static const char *type_of(const struct ref_side *side, const struct ref_stack *recorded)
{
	for (int i = recorded->count - 1; i >= 0; i--) {
		const struct ref_frame *f = &recorded->frames[i];
		const char *type = f->is_named ? side->type(f->func) : NULL;
		if (type || !f->is_named || !side->is_wrapper(f->func))
			return type;
	}
	return NULL;
}

static bool block_named(const struct ref_side *side, const struct part *b,
			const struct ref_stack *s, const struct ast_compare *c)
{
	const struct profile *p = side->p;
	thread_id thread = profile_cohort_thread(p, b->cohort);
	const char *text = p->threads[thread - 1].name;
	char id[16], shown[64];
	bool fits = false;
	snprintf(id, sizeof id, "%u", thread);
	snprintf(shown, sizeof shown, "%s%s#%s", text, *text ? " " : "", id);
	if (c->field == FIELD_API) {
		enum profile_api api = profile_site_api(p, profile_cohort_site(p, b->cohort) - 1);
		if (api == API_UNKNOWN)
			return false;
		text = profile_api_name(api);
		id[0] = shown[0] = 0;
	} else if (c->field == FIELD_TYPE) {
		text = type_of(side, s);
		if (!text)
			return false;
		id[0] = shown[0] = 0;
	} else if (c->field != FIELD_THREAD) {
		return false;
	}
	if (c->op == OP_MATCH || c->op == OP_NOT_MATCH)
		return ref_contains(&c->values[0], text && *text ? text : id) ==
		       (c->op == OP_MATCH);
	for (size_t i = 0; i < c->value_count; i++)
		fits = fits || (text && *text && ref_value_is(&c->values[i], text)) ||
		       (id[0] && ref_value_is(&c->values[i], id)) ||
		       (shown[0] && ref_value_is(&c->values[i], shown));
	return fits == (c->op != OP_NE);
}

static bool block_fits(const struct ref_side *side, const struct part *b, const struct ref_stack *s,
		       const struct ast_expr *x)
{
	bool fits = x->kind == EXPR_AND;
	int64_t value;
	const struct ast_compare *c = &x->compare;
	switch (x->kind) {
	case EXPR_AND:
		for (size_t i = 0; i < x->item_count; i++)
			fits = fits && block_fits(side, b, s, x->items[i]);
		return fits;
	case EXPR_OR:
		for (size_t i = 0; i < x->item_count; i++)
			fits = fits || block_fits(side, b, s, x->items[i]);
		return fits;
	case EXPR_NOT:
		return !block_fits(side, b, s, x->items[0]);
	case EXPR_NAME:
		return block_fits(side, b, s, x->let_expr);
	case EXPR_QUANT:
		return ref_stack_has(s, x, x->quantifier);
	case EXPR_STEP:
		return ref_stack_has(s, x, (struct ast_quant){.of = QUANT_ANY});
	case EXPR_PATH:
		return ref_path_fits(s, x);
	case EXPR_COMPARE:
		break;
	}
	if (c->field == FIELD_FUNC || c->field == FIELD_FILE || c->field == FIELD_MODULE ||
	    c->field == FIELD_LINE || c->field == FIELD_ADDR)
		return ref_stack_has(s, x, c->quantifier);
	if (c->field == FIELD_THREAD || c->field == FIELD_API || c->field == FIELD_TYPE ||
	    c->field == FIELD_LABEL)
		return block_named(side, b, s, c);
	return block_number(side, b, s, c->field, &value) && ref_number_fits(c, (double)value);
}

/* ---- populations -------------------------------------------------------------------------------------- */

struct parts {
	struct part *items;
	size_t count, cap;
};

static void add_part(struct parts *ps, const struct part *b)
{
	if (!b->value.blocks && !b->value.bytes)
		return;
	ref_must(vec_reserve((void **)&ps->items, &ps->cap, ps->count + 1, sizeof *b), "memory");
	ps->items[ps->count++] = *b;
}

/* All blocks of a cohort by their deaths, those that never died last. */
static void split_cohort(const struct profile *p, size_t c, struct parts *out)
{
	struct part rest = {
		.cohort = c,
		.birth = profile_cohort_flags(p, c) & COHORT_INHERITED ? 0
								       : profile_cohort_birth(p, c),
		.value = {(int64_t)profile_cohort_births(p, c),
			  (int64_t)profile_cohort_born_bytes(p, c)},
	};
	for (snap_id s = 1; s <= p->snapshot_count; s++) {
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			if (profile_death_cohort(p, i) != c + 1)
				continue;
			struct part b = rest;
			b.death = s;
			b.value.blocks = (int64_t)profile_death_blocks(p, i);
			b.value.bytes = (int64_t)profile_death_bytes(p, i);
			rest.value.blocks -= b.value.blocks;
			rest.value.bytes -= b.value.bytes;
			add_part(out, &b);
		}
	}
	add_part(out, &rest);
}

/* `left` blocks taken from the parts in order of death, or against it. */
static void take(const struct parts *all, struct graph_sum left, bool is_last_first,
		 struct parts *out)
{
	struct part b = {.cohort = all->count ? all->items[0].cohort : 0,
			 .birth = all->count ? all->items[0].birth : 0};
	for (size_t k = 0; k < all->count && left.blocks > 0; k++) {
		b = all->items[is_last_first ? all->count - 1 - k : k];
		if (!b.death && !is_last_first)
			continue; /* what never died is not temporary */
		if (b.value.blocks <= 0)
			continue;
		if (left.blocks <= b.value.blocks)
			b.value = left;
		left.blocks -= b.value.blocks;
		left.bytes -= b.value.bytes;
		add_part(out, &b);
	}
	b.death = 0;
	b.value = left;
	add_part(out, &b);
}

static struct graph_sum peak_of(const struct profile *p, size_t c)
{
	struct graph_sum sum = {0, 0};
	for (size_t i = 0; i < p->peak_entry_count; i++) {
		if (p->peak_entries[i].cohort == c + 1) {
			sum.blocks += (int64_t)p->peak_entries[i].blocks;
			sum.bytes += (int64_t)p->peak_entries[i].bytes;
		}
	}
	return sum;
}

static void population_of(const struct ref_side *side, size_t c, struct parts *out)
{
	const struct profile *p = side->p;
	struct graph_window w = side->window;
	struct parts all = {0};
	split_cohort(p, c, &all);
	snap_id birth =
		profile_cohort_flags(p, c) & COHORT_INHERITED ? 0 : profile_cohort_birth(p, c);
	bool is_born_in = birth > w.from && birth <= w.to;
	if (side->pop == POP_TEMPORARY && is_born_in)
		take(&all,
		     (struct graph_sum){(int64_t)profile_cohort_temporary(p, c),
					(int64_t)profile_cohort_temporary_bytes(p, c)},
		     false, out);
	if (side->pop == POP_PEAK && p->has_peak)
		take(&all, peak_of(p, c), true, out);
	for (size_t i = 0; i < all.count; i++) {
		struct part b = all.items[i];
		bool outlives = !b.death || b.death > w.to;
		bool is_in = false;
		switch (side->pop) {
		case POP_LIVE:
			is_in = birth <= w.to && outlives;
			break;
		case POP_PEAK: /* without an exact one the window ends at the highest snapshot */
			is_in = !p->has_peak && birth <= w.to && outlives;
			break;
		case POP_LEAKED:
			is_in = !b.death;
			break;
		case POP_ALLOCATED:
			is_in = is_born_in;
			break;
		case POP_FREED:
			is_in = b.death > w.from && b.death <= w.to;
			break;
		case POP_SURVIVORS:
			is_in = is_born_in && outlives;
			break;
		default:
			break;
		}
		if (is_in)
			add_part(out, &b);
	}
	mem_free(all.items);
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

struct ref_row *ref_find(const struct ref_table *t, const char *key)
{
	for (size_t i = 0; i < t->count; i++) {
		if (!strcmp(t->rows[i].key, key))
			return &t->rows[i];
	}
	return NULL;
}

static struct ref_row *row_for(struct ref_table *t, const char *key)
{
	struct ref_row *r = ref_find(t, key);
	if (r)
		return r;
	ref_must(vec_reserve((void **)&t->rows, &t->cap, t->count + 1, sizeof *t->rows), "memory");
	r = &t->rows[t->count++];
	*r = (struct ref_row){.key = mem_strdup(key), .first_ns = UINT64_MAX};
	return r;
}

static void add_sum(struct graph_sum *to, struct graph_sum v)
{
	to->blocks += v.blocks;
	to->bytes += v.bytes;
}

static void add_total(struct ref_row *r, const struct ref_side *side, const struct part *b)
{
	uint64_t born = time_of(side->p, b->birth);
	int64_t size = size_of(side->p, b);
	add_sum(&r->total, b->value);
	if (r->max_bytes < size)
		r->max_bytes = size;
	if (r->first_ns > born)
		r->first_ns = born;
	if (r->last_ns < born)
		r->last_ns = born;
	ref_must(vec_reserve((void **)&r->lifetimes, &r->lifetime_cap, r->lifetime_count + 1,
			     sizeof *r->lifetimes),
		 "memory");
	r->lifetimes[r->lifetime_count++] =
		(struct ref_lifetime){lifetime_of(side, b), b->value.blocks};
}

#define KEY_BYTES 8192

static void put(char *to, const char *text)
{
	size_t used = strlen(to);
	ref_must(used + strlen(text) + 1 < KEY_BYTES, "key too long");
	memcpy(to + used, text, strlen(text) + 1);
}

static void put_number(char *to, uint64_t value)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, value);
	put(to, text);
}

/* What a frame is called by one key; "?" if that is unknown. */
static void put_frame_key(char *to, const struct ref_question *q, const struct ref_frame *f,
			  const struct ast_key *k)
{
	if (k->kind == KEY_CLASS) {
		char name[96];
		snprintf(name, sizeof name, "%s", f->func);
		char *open = f->is_named ? strchr(name, '(') : NULL, *colons = NULL;
		if (open)
			*open = 0;
		for (char *s = name; f->is_named && (s = strstr(s, "::")); s += 2)
			colons = s;
		if (colons)
			*colons = 0;
		put(to, name);
	} else if (k->field == FIELD_FUNC) {
		put(to, f->func);
	} else if (k->field == FIELD_FILE) {
		put(to, f->file ? f->file : "?");
	} else if (k->field == FIELD_MODULE) {
		put(to, f->path ? f->path : "?");
	} else if (k->field == FIELD_LINE && f->line) {
		if (!q->line_is_number) {
			put(to, f->file ? f->file : "?");
			put(to, ":");
		}
		put_number(to, f->line);
	} else {
		put(to, "?");
	}
}

static void frame_key(char *to, const struct ref_question *q, const struct ref_frame *f)
{
	*to = 0;
	for (size_t i = 0; i < q->key_count; i++) {
		if (i)
			put(to, "|");
		put_frame_key(to, q, f, &q->keys[i]);
	}
}

static void put_stack(char *to, const struct ref_question *q, const struct ref_stack *s)
{
	for (int i = 0; i <= s->leaf; i++) {
		const struct ref_frame *f = &s->frames[i];
		if (i)
			put(to, ";");
		put(to, f->func);
		if (q->stacks_by_name)
			continue;
		put(to, "@");
		put(to, f->line && f->file ? f->file : "");
		put(to, ":");
		put_number(to, f->line);
	}
}

static uint64_t bucket(const struct ast_key *k, uint64_t value)
{
	return k->has_bucket ? value / (uint64_t)k->bucket.value * (uint64_t)k->bucket.value
			     : value;
}

static void put_block_key(char *to, const struct ref_question *q, const struct ref_side *side,
			  const struct part *b, const struct ref_stack *s, const struct ast_key *k)
{
	const struct profile *p = side->p;
	int64_t value;
	if (k->kind == KEY_STACK) {
		put_stack(to, q, s);
	} else if (k->kind == KEY_TIME) {
		put_number(to, bucket(k, time_of(p, side->pop == POP_FREED ? b->death : b->birth)));
	} else if (k->field == FIELD_THREAD) {
		thread_id id = profile_cohort_thread(p, b->cohort);
		put(to, p->threads[id - 1].name);
		put(to, *p->threads[id - 1].name ? " #" : "#");
		put_number(to, id);
	} else if (k->field == FIELD_API) {
		enum profile_api api = profile_site_api(p, profile_cohort_site(p, b->cohort) - 1);
		put(to, api == API_UNKNOWN ? "?" : profile_api_name(api));
	} else if (k->field == FIELD_TYPE) {
		put(to, type_of(side, s) ? type_of(side, s) : "?");
	} else if (k->field == FIELD_LABEL) {
		put(to, "?");
	} else if (block_number(side, b, s, k->field, &value)) {
		put_number(to, bucket(k, (uint64_t)value));
	} else {
		put(to, "?");
	}
}

static bool is_frame_key(const struct ast_key *k)
{
	return k->kind == KEY_CLASS ||
	       (k->kind == KEY_FIELD && (k->field == FIELD_FUNC || k->field == FIELD_FILE ||
					 k->field == FIELD_LINE || k->field == FIELD_MODULE));
}

static void add_tuple(const struct ref_question *q, const struct ref_side *side,
		      const struct part *b, const struct ref_stack *recorded,
		      const struct ref_stack *s, struct ref_table *t)
{
	char key[KEY_BYTES] = "";
	for (size_t i = 0; i < q->key_count; i++) {
		if (i)
			put(key, "|");
		const struct ast_key *k = &q->keys[i];
		const struct ref_frame *one = ref_one_frame(s, k->quantifier);
		if (is_frame_key(k) && one)
			put_frame_key(key, q, one, k);
		else if (is_frame_key(k))
			put(key, k->field == FIELD_LINE && q->line_is_number ? "?" : "[none]");
		else /* depth is that of the recorded stack */
			put_block_key(key, q, side, b, q->keys[i].kind == KEY_STACK ? s : recorded,
				      &q->keys[i]);
	}
	struct ref_row *r = row_for(t, key);
	add_sum(&r->self, b->value);
	add_total(r, side, b);
}

static void add_frames(const struct ref_question *q, const struct ref_side *side,
		       const struct part *b, const struct ref_stack *s, struct ref_table *t)
{
	char key[KEY_BYTES], earlier[KEY_BYTES];
	bool is_cut = false;
	for (int i = 0; i < s->count; i++) {
		bool is_new = true;
		frame_key(key, q, &s->frames[i]);
		for (int k = 0; k < i && is_new; k++) {
			frame_key(earlier, q, &s->frames[k]);
			is_new = strcmp(key, earlier) != 0;
		}
		if (is_new)
			add_total(row_for(t, key), side, b);
		is_cut = is_cut || (q->is_cut && q->is_cut(key, q->arg));
	}
	if (is_cut)
		add_total(&t->other, side, b);
	frame_key(key, q, &s->frames[s->leaf]);
	add_sum(&row_for(t, key)->self, b->value);
	if (q->is_cut && q->is_cut(key, q->arg))
		add_sum(&t->other.self, b->value);
}

/* Rows of a tree are called by the path to them. */
static void add_path(const struct ref_question *q, const struct ref_side *side,
		     const struct part *b, const struct ref_stack *s, int from, int to,
		     struct ref_table *t)
{
	char key[KEY_BYTES] = "", one[KEY_BYTES];
	int step = from <= to ? 1 : -1;
	for (int i = from;; i += step) {
		frame_key(one, q, &s->frames[i]);
		if (i != from)
			put(key, "\n");
		put(key, one);
		add_total(row_for(t, key), side, b);
		if (i == to)
			return;
	}
}

static void add_tree(const struct ref_question *q, const struct ref_side *side,
		     const struct part *b, const struct ref_stack *s, struct ref_table *t)
{
	int first = 0, last = s->leaf;
	char key[KEY_BYTES] = "", one[KEY_BYTES];
	if (q->step) {
		while (first < s->count && !ref_step_fits(&s->frames[first], q->step))
			first++;
		if (first > last)
			last = s->count - 1; /* only a wrapper fits */
	}
	if (q->view == REF_TREE) {
		add_path(q, side, b, s, first, last, t);
		for (int i = first; i <= last; i++) {
			frame_key(one, q, &s->frames[i]);
			if (i != first)
				put(key, "\n");
			put(key, one);
		}
		add_sum(&row_for(t, key)->self, b->value);
		return;
	}
	int begin = q->step ? first : last;
	add_path(q, side, b, s, begin, 0, t);
	frame_key(key, q, &s->frames[begin]);
	if (begin == last)
		add_sum(&row_for(t, key)->self, b->value);
}

static void add_block(const struct ref_question *q, const struct ref_side *side,
		      const struct part *b, struct ref_table *t)
{
	struct ref_stack s, recorded;
	const struct profile *p = side->p;
	ref_make_stack(&recorded, side,
		       profile_site_node(p, profile_cohort_site(p, b->cohort) - 1));
	s = recorded;
	add_sum(&t->all, b->value);
	if (q->query->filter && !block_fits(side, b, &s, q->query->filter))
		return;
	for (size_t i = 0; i < q->query->stage_count; i++) {
		const struct ast_stage *stage = &q->query->stages[i];
		if (stage->kind == STAGE_HIDE || stage->kind == STAGE_ZOOM ||
		    stage->kind == STAGE_TRIM || stage->kind == STAGE_COLLAPSE)
			ref_transform(&s, stage);
	}
	bool fits = !q->step;
	for (int i = 0; i < s.count && q->step; i++)
		fits = fits || ref_step_fits(&s.frames[i], q->step);
	if (s.is_dropped || !fits)
		return;
	add_sum(&t->totals.self, b->value);
	add_total(&t->totals, side, b);
	if (q->view == REF_FRAME_KEYS)
		add_frames(q, side, b, &s, t);
	else if (q->view == REF_TREE || q->view == REF_INVERTED)
		add_tree(q, side, b, &s, t);
	else if (q->view != REF_SUM)
		add_tuple(q, side, b, &recorded, &s, t);
}

void ref_answer(const struct ref_question *q, const struct ref_side *side, struct ref_table *out)
{
	*out = (struct ref_table){.totals = {.first_ns = UINT64_MAX},
				  .other = {.first_ns = UINT64_MAX}};
	for (size_t c = 0; c < side->p->cohort_count; c++) {
		struct parts parts = {0};
		population_of(side, c, &parts);
		for (size_t i = 0; i < parts.count; i++)
			add_block(q, side, &parts.items[i], out);
		mem_free(parts.items);
	}
}

void ref_table_release(struct ref_table *t)
{
	for (size_t i = 0; i < t->count; i++) {
		mem_free(t->rows[i].key);
		mem_free(t->rows[i].lifetimes);
	}
	mem_free(t->rows);
	mem_free(t->totals.lifetimes);
	mem_free(t->other.lifetimes);
	*t = (struct ref_table){.count = 0};
}

bool ref_quantile(const struct ref_row *r, int percent, uint64_t *out)
{
	int64_t all = 0, best_seen = 0;
	uint64_t best = UINT64_MAX;
	for (size_t i = 0; i < r->lifetime_count; i++)
		all += r->lifetimes[i].blocks;
	/* Of all lifetimes that enough blocks do not exceed, the smallest. */
	for (size_t i = 0; i < r->lifetime_count; i++) {
		int64_t seen = 0;
		for (size_t k = 0; k < r->lifetime_count; k++) {
			if (r->lifetimes[k].ns <= r->lifetimes[i].ns)
				seen += r->lifetimes[k].blocks;
		}
		if (seen * 100 >= all * percent && r->lifetimes[i].ns < best) {
			best = r->lifetimes[i].ns;
			best_seen = seen;
		}
	}
	*out = best;
	return best_seen;
}
