/*
 * Sums per function from the raw columns of a profile: see truth_sum.h.
 *
 * For every site the stack is walked once; each cohort's numbers are added to the
 * site's leaf function and once to every distinct function of its stack (a stamp
 * per function keeps recursion from counting twice).
 */
#include "config.h"

#include "tests/integration/truth_sum.h"

#include <string.h>

#include "src/base/mem.h"
#include "src/sym/sym.h"

#define STACK_NAMES_MAX 65536

/* Length of a function's name without parameters and clone suffixes. */
static size_t bare_length(const char *s)
{
	static const char anonymous[] = "(anonymous namespace)";
	size_t n = 0;
	while (s[n]) {
		if (!strncmp(s + n, anonymous, sizeof anonymous - 1)) {
			n += sizeof anonymous - 1;
			continue;
		}
		if (s[n] == '(' && n >= 8 && !strncmp(s + n - 8, "operator", 8) &&
		    s[n + 1] == ')') {
			n += 2;
			continue;
		}
		if (s[n] == '(' || (n && (s[n] == '.' || (s[n] == ' ' && s[n + 1] == '['))))
			break;
		n++;
	}
	return n;
}

/* Demangled templates begin with their return type: where the name itself begins. */
static size_t name_start(const char *s, size_t length)
{
	size_t start = 0, depth = 0;
	for (size_t i = 0; i < length; i++) {
		if (s[i] == '<' || s[i] == '(')
			depth++;
		else if ((s[i] == '>' || s[i] == ')') && depth)
			depth--;
		else if (s[i] == ' ' && !depth && !(i >= 8 && !strncmp(s + i - 8, "operator", 8)))
			start = i + 1;
	}
	return start;
}

static void sum_add(struct truth_sum *to, const struct truth_sum *s)
{
	to->alloc_count += s->alloc_count;
	to->alloc_bytes += s->alloc_bytes;
	to->live_count += s->live_count;
	to->live_bytes += s->live_bytes;
	to->peak_count += s->peak_count;
	to->peak_bytes += s->peak_bytes;
	to->temporary_count += s->temporary_count;
	to->temporary_bytes += s->temporary_bytes;
}

static enum neap_err add_cohorts(struct truth *t, struct err *e)
{
	const struct profile *p = t->profile;
	t->cohorts = mem_zarray(p->cohort_count + 1, sizeof t->cohorts[0]);
	if (!t->cohorts)
		return err_nomem(e, "cohorts");
	for (size_t i = 0; i < p->cohort_count; i++) {
		struct truth_sum *c = &t->cohorts[i];
		c->live_count = profile_cohort_births(p, i);
		c->live_bytes = profile_cohort_born_bytes(p, i);
		if (!(profile_cohort_flags(p, i) & COHORT_INHERITED)) {
			c->alloc_count = profile_cohort_births(p, i);
			c->alloc_bytes = profile_cohort_born_bytes(p, i);
		}
		c->temporary_count = profile_cohort_temporary(p, i);
		c->temporary_bytes = profile_cohort_temporary_bytes(p, i);
	}
	for (size_t i = 0; i < p->death_count; i++) {
		t->cohorts[profile_death_cohort(p, i) - 1].live_count -= profile_death_blocks(p, i);
		t->cohorts[profile_death_cohort(p, i) - 1].live_bytes -= profile_death_bytes(p, i);
	}
	for (size_t i = 0; i < p->peak_entry_count; i++) {
		const struct profile_peak_entry *k = &p->peak_entries[i];
		t->cohorts[k->cohort - 1].peak_count += k->blocks;
		t->cohorts[k->cohort - 1].peak_bytes += k->bytes;
	}
	for (size_t i = 0; i < p->cohort_count; i++)
		sum_add(&t->total, &t->cohorts[i]);
	return NEAP_OK;
}

static enum neap_err name_functions(struct truth *t, struct err *e)
{
	const struct profile_symbols *s = &t->profile->symbols;
	size_t count = t->profile->has_symbols ? s->func_count : 0;
	t->func_name = mem_zarray(count + 1, sizeof t->func_name[0]);
	if (!t->func_name)
		return err_nomem(e, "function names");
	for (size_t i = 0; i < count; i++) {
		const char *name = s->funcs[i].name;
		size_t length = bare_length(name), start = name_start(name, length);
		t->func_name[i] = strtab_add(&t->names, name + start, length - start);
		if (t->func_name[i] == UINT32_MAX)
			return err_nomem(e, "function names");
	}
	return NEAP_OK;
}

static void lines_of(const struct profile *p, frame_id f, uint32_t *first_out, uint32_t *end_out)
{
	const struct profile_symbols *s = &p->symbols;
	*first_out = *end_out = 0;
	if (p->has_symbols && f && f <= s->frame_count) {
		*first_out = s->first_line[f - 1];
		*end_out = s->first_line[f];
	}
}

/* The innermost function that is no allocation wrapper and did not leave with a jump; UINT32_MAX: none, or one
 * without a name. */
static uint32_t leaf_of(const struct truth *t, node_id node, const bool *is_wrapper)
{
	const struct profile *p = t->profile;
	for (; node >= PROFILE_NODE_FIRST; node = profile_node_parent(p, node)) {
		frame_id f = profile_node_frame(p, node);
		uint32_t first, end;
		lines_of(p, f, &first, &end);
		if (f && p->frames[f - 1].flags & FRAME_TAIL)
			continue;
		if (first == end)
			return UINT32_MAX;
		for (uint32_t i = first; i < end; i++) {
			uint32_t name = t->func_name[p->symbols.lines[i].func - 1];
			if (!is_wrapper[name])
				return name;
		}
	}
	return UINT32_MAX;
}

size_t truth_stack(const struct truth *t, node_id node, uint32_t *names_out, size_t cap)
{
	const struct profile *p = t->profile;
	const struct profile_symbols *s = &p->symbols;
	size_t n = 0;
	for (; node >= PROFILE_NODE_FIRST; node = profile_node_parent(p, node)) {
		uint32_t first, end;
		lines_of(p, profile_node_frame(p, node), &first, &end);
		if (first == end && n++ < cap)
			names_out[n - 1] = UINT32_MAX;
		for (uint32_t i = first; i < end; i++)
			if (n++ < cap)
				names_out[n - 1] = t->func_name[s->lines[i].func - 1];
	}
	return n < cap ? n : cap;
}

/* The names of a stack at which one site's blocks are counted. */
struct site_names {
	uint32_t leaf, count;
	uint32_t *distinct;
};

static void site_resolve(const struct truth *t, node_id node, const bool *is_wrapper,
			 uint32_t *stamps, uint32_t stamp, struct site_names *out)
{
	size_t n = truth_stack(t, node, out->distinct, STACK_NAMES_MAX);
	out->leaf = leaf_of(t, node, is_wrapper);
	out->count = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = out->distinct[i];
		if (name == UINT32_MAX || stamps[name] == stamp)
			continue;
		stamps[name] = stamp;
		out->distinct[out->count++] = name;
	}
}

static void add_sites(struct truth *t, const struct truth_sum *sites, const bool *is_wrapper,
		      uint32_t *stamps, uint32_t *scratch)
{
	const struct profile *p = t->profile;
	for (size_t i = 0; i < p->site_count; i++) {
		struct site_names at = {.distinct = scratch};
		site_resolve(t, profile_site_node(p, i), is_wrapper, stamps, (uint32_t)i + 1, &at);
		if (at.leaf != UINT32_MAX)
			sum_add(&t->leaf[at.leaf], &sites[i]);
		for (uint32_t k = 0; k < at.count; k++)
			sum_add(&t->inclusive[at.distinct[k]], &sites[i]);
	}
}

enum neap_err truth_load(const struct profile *p, struct truth *out, struct err *e)
{
	*out = (struct truth){.profile = p};
	enum neap_err rc = add_cohorts(out, e);
	if (rc == NEAP_OK)
		rc = name_functions(out, e);
	if (rc != NEAP_OK)
		return rc;

	size_t names = out->names.count + 1;
	struct truth_sum *sites = mem_zarray(p->site_count + 1, sizeof sites[0]);
	bool *is_wrapper = mem_zarray(names, sizeof is_wrapper[0]);
	uint32_t *stamps = mem_zarray(names, sizeof stamps[0]);
	uint32_t *scratch = mem_array(STACK_NAMES_MAX, sizeof scratch[0]);
	out->leaf = mem_zarray(names, sizeof out->leaf[0]);
	out->inclusive = mem_zarray(names, sizeof out->inclusive[0]);
	if (!sites || !is_wrapper || !stamps || !scratch || !out->leaf || !out->inclusive) {
		rc = err_nomem(e, "sums per function");
		goto out;
	}
	for (size_t i = 0; i < p->cohort_count; i++)
		sum_add(&sites[profile_cohort_site(p, i) - 1], &out->cohorts[i]);
	for (size_t i = 0; i < (p->has_symbols ? p->symbols.func_count : 0); i++)
		is_wrapper[out->func_name[i]] |= sym_is_wrapper(p->symbols.funcs[i].name);
	add_sites(out, sites, is_wrapper, stamps, scratch);
out:
	mem_free(scratch);
	mem_free(stamps);
	mem_free(is_wrapper);
	mem_free(sites);
	return rc;
}

void truth_release(struct truth *t)
{
	strtab_release(&t->names);
	mem_free(t->leaf);
	mem_free(t->inclusive);
	mem_free(t->cohorts);
	mem_free(t->func_name);
	*t = (struct truth){0};
}
