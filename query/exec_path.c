/*
 * Path conditions as an automaton run once down the tree.
 *
 * State k: the first k steps are matched, and the frame read last is at or after the one
 * that step k matched.  A set of states is a word of bits.  Reading a frame e of a stack,
 * outermost first:
 *
 *   k -> k + 1   if step k (from 0) fits e
 *   k -> k       if any number of frames may stand before step k: it is `>>`, it is `**`, or it
 *                is the first and the path is not tied to the root
 *   k -> k + 1   at once, reading nothing, if step k is `**`
 *
 * A match ends at a frame if state `step_count` was reached by reading it.
 */
#include "config.h"

#include "query/plan.h"

#include "query/exec.h"

struct automaton {
	uint64_t loops, empties,
		end; /* states that stay, steps that may be empty, the last state */
	uint64_t start;
	uint64_t *fits; /* by entry: the steps that fit it */
};

static uint64_t add_empties(const struct automaton *a, uint64_t states)
{
	uint64_t more;
	while ((more = ((states & a->empties) << 1) & ~states))
		states |= more;
	return states;
}

static uint64_t read_frame(const struct automaton *a, uint64_t states, entry_id entry)
{
	return add_empties(a, (states & a->loops) | (states & a->fits[entry]) << 1);
}

static bool add_step(struct automaton *a, struct where *w, struct query_file *f,
		     const struct ast_step *step, size_t k)
{
	uint64_t bit = UINT64_C(1) << k;
	size_t count = f->columns.entry_count;
	if (step->is_far || step->kind == STEP_MANY)
		a->loops |= bit;
	if (step->kind == STEP_MANY) {
		a->empties |= bit;
		return true;
	}
	const uint8_t *flags = NULL;
	if (step->kind != STEP_ONE) {
		flags = where_step(w, f, step);
		if (!flags)
			return false;
	}
	for (size_t i = 0; i < count; i++)
		a->fits[i] |= !flags || flags[i] ? bit : 0;
	return true;
}

static bool automaton_build(struct automaton *a, struct where *w, struct query_file *f,
			    const struct ast_expr *path)
{
	*a = (struct automaton){.end = UINT64_C(1) << path->step_count};
	a->fits = mem_zarray(f->columns.entry_count, sizeof *a->fits);
	if (!a->fits) {
		query_no_memory(w->pl->error);
		return false;
	}
	if (!path->is_rooted)
		a->loops |= 1;
	for (size_t k = 0; k < path->step_count; k++) {
		if (!add_step(a, w, f, &path->steps[k], k))
			return false;
	}
	a->start = add_empties(a, 1);
	return true;
}

uint8_t *path_flags(struct where *w, struct query_file *f, const struct ast_expr *path)
{
	const struct stacks *s = f->stacks;
	struct automaton a;
	uint8_t *flags = mem_zarray(s->count, sizeof *flags);
	uint64_t *states = mem_array(s->count, sizeof *states);
	bool is_built = automaton_build(&a, w, f, path), is_good = is_built && flags && states;
	if (is_good)
		states[VNODE_ROOT] = a.start;
	for (size_t v = 1; is_good && v < s->count; v++) {
		states[v] = read_frame(&a, states[s->parent[v]], s->entry[v]);
		flags[v] = (states[v] & a.end) != 0;
		is_good = !plan_polls(w->pl, v);
	}
	if (is_built && !is_good)
		plan_no_memory(w->pl);
	if (!is_good) {
		mem_free(flags);
		flags = NULL;
	}
	mem_free(states);
	mem_free(a.fits);
	return flags;
}
