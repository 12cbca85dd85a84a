/*
 * Trees from the leaf up, opened row by row.
 *
 * The whole inverted tree of a large profile has many times more vnodes than the stacks, and
 * most of it is never shown.  So children are made when a row is opened.  An item is a place
 * in the stacks where cells begin; the items of a row are a run of `order`, and its children
 * are that run sorted by the group of the next frame outwards:
 *
 *   row g      items 4 7 2 9       next frames  f h f f
 *   `- f       items 4 2 9         the same run, sorted in place: a row's items stay together
 *   `- h       items 7             whatever happens further down
 *
 * Rows are vnodes of x->space.tree, appended in the order of opening, with sums like others.
 */
#include "config.h"

#include "query/exec.h"

#include <stdlib.h>
#include <string.h>

struct item {
	uint32_t begin,
		at;     /* vnodes of the side's stacks: where cells are, the frame of this row */
	uint32_t group; /* scratch: of the next frame */
	uint8_t side;
	bool is_leaf; /* the first row is the leaf */
};
struct run {
	uint32_t first, count; /* in items */
};
struct inverted {
	struct item *items;
	size_t item_count;
	struct run *runs; /* by vnode of the tree */
	size_t run_cap;
	struct graph_sum *sums[2][MEASURE_COUNT]; /* by vnode of the side's stacks */
	struct extremes extremes[2];              /* the same */
};

void inverted_free(struct inverted *inv)
{
	if (!inv)
		return;
	for (size_t side = 0; side < 2; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++)
			mem_free(inv->sums[side][m]);
		extremes_release(&inv->extremes[side]);
	}
	mem_free(inv->items);
	mem_free(inv->runs);
	mem_free(inv);
}

/* ---- items ------------------------------------------------------------------------------ */

static bool sum_places(struct exec *x, struct inverted *inv, size_t side)
{
	size_t count = x->stacks[side]->count;
	for (size_t m = 0; m < MEASURE_COUNT; m++) {
		const struct cells *c = &x->cells[side][m];
		if (!x->pl->needs_measure[m])
			continue;
		struct graph_sum *sums = mem_zarray(count, sizeof *sums);
		inv->sums[side][m] = sums;
		if (!sums)
			return false;
		for (size_t i = 0; i < c->count; i++)
			sum_add(&sums[x->place[side][m][i]], &c->value[i]);
	}
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	if (!x->pl->needs_extremes)
		return true;
	if (!extremes_init(&inv->extremes[side], count))
		return false;
	for (size_t i = 0; i < c->count; i++)
		extremes_of_cell(&inv->extremes[side], c, i, x->place[side][MEASURE_MAIN][i]);
	return true;
}

static bool add_items(struct exec *x, struct inverted *inv, size_t side, size_t *cap)
{
	const uint32_t *match = x->match[side];
	uint8_t *marks = mark_cells(x, side, false);
	bool is_good = marks;
	for (uint32_t v = 0; is_good && v < x->stacks[side]->count; v++) {
		if (!marks[v])
			continue;
		is_good = vec_reserve((void **)&inv->items, cap, inv->item_count + 1,
				      sizeof *inv->items);
		if (is_good)
			inv->items[inv->item_count++] = (struct item){
				.begin = v,
				.at = match ? match[v] : v,
				.side = (uint8_t)side,
				.is_leaf = !match || match[v] == v,
			};
	}
	mem_free(marks);
	return is_good;
}

/* ---- opening ------------------------------------------------------------------------------ */

static int compare_groups(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	/* Any fixed order will do: sums do not depend on it. */
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->begin > y->begin) - (x->begin < y->begin);
}

#define DIGIT_BITS    11u
#define DIGITS        (1u << DIGIT_BITS)
#define COMPARED_MOST (2u * DIGITS) /* fewer are sorted by comparing them */

/* Items by one digit of their groups, in the order that they had. */
static void sort_digit(const struct item *from, struct item *to, size_t count, unsigned shift)
{
	uint32_t next[DIGITS] = {0}, before = 0;
	for (size_t i = 0; i < count; i++)
		next[from[i].group >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t of_digit = next[d];
		next[d] = before;
		before += of_digit;
	}
	for (size_t i = 0; i < count; i++)
		to[next[from[i].group >> shift & (DIGITS - 1)]++] = from[i];
}

/* Many items at once: digit by digit, the last first.  Without memory they are compared. */
static void sort_items(struct item *items, size_t count, size_t group_count)
{
	struct item *from = items, *to = NULL, *spare = NULL;
	if (count > COMPARED_MOST)
		to = spare = mem_array(count, sizeof *to);
	if (!spare) {
		qsort(items, count, sizeof *items, compare_groups);
		return;
	}
	for (unsigned shift = 0; shift < 32 && group_count >> shift; shift += DIGIT_BITS) {
		sort_digit(from, to, count, shift);
		struct item *sorted = to;
		to = from;
		from = sorted;
	}
	if (from != items)
		memcpy(items, from, count * sizeof *items);
	mem_free(spare);
}

static bool grow_rows(struct exec *x, struct inverted *inv)
{
	size_t need = x->space.tree->count;
	size_t side_count = x->pl->side_count, old = inv->run_cap;
	if (!vec_reserve((void **)&inv->runs, &inv->run_cap, need, sizeof *inv->runs))
		return false;
	if (inv->run_cap == old)
		return true;
	for (size_t side = 0; side < side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			struct sums *s = &x->sums[side][m];
			if (x->pl->needs_measure[m] &&
			    (!grow((void **)&s->self, inv->run_cap, sizeof *s->self) ||
			     !grow((void **)&s->total, inv->run_cap, sizeof *s->total)))
				return false;
		}
		if (x->pl->needs_extremes && !extremes_grow(&x->extremes[side], inv->run_cap))
			return false;
	}
	return true;
}

static void sum_run(struct exec *x, const struct inverted *inv, uint32_t v, bool is_first)
{
	const struct run *run = &inv->runs[v];
	for (size_t side = 0; side < x->pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			if (x->pl->needs_measure[m])
				x->sums[side][m].self[v] = x->sums[side][m].total[v] =
					(struct graph_sum){0, 0};
		}
		if (x->pl->needs_extremes)
			extremes_clear(&x->extremes[side], v);
	}
	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		const struct item *item = &inv->items[i];
		size_t side = item->side;
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			if (!x->pl->needs_measure[m])
				continue;
			const struct graph_sum *sum = &inv->sums[side][m][item->begin];
			sum_add(&x->sums[side][m].total[v], sum);
			if (is_first && item->is_leaf)
				sum_add(&x->sums[side][m].self[v], sum);
		}
		if (x->pl->needs_extremes)
			extremes_widen(&x->extremes[side], v, &inv->extremes[side], item->begin);
	}
}

/* Rows for the run first .. end - 1, which is sorted by group. */
static bool add_children(struct exec *x, struct inverted *inv, uint32_t parent, uint32_t first,
			 uint32_t end)
{
	while (first < end) {
		uint32_t group = inv->items[first].group, stop = first;
		while (stop < end && inv->items[stop].group == group)
			stop++;
		uint32_t v = stacks_add(x->space.tree, parent, group);
		if (v == VNODE_NONE || !grow_rows(x, inv))
			return false;
		inv->runs[v] = (struct run){first, stop - first};
		sum_run(x, inv, v, parent == VNODE_ROOT);
		first = stop;
	}
	x->space.group_count = x->space.tree->count;
	return true;
}

/*
 * The items of v move one frame outwards; those that end at v go to the front and out.  The
 * root's items stay where they are.
 */
static void step_outwards(const struct exec *x, struct inverted *inv, uint32_t v, uint32_t *first,
			  uint32_t *end)
{
	struct run *run = &inv->runs[v];
	uint32_t done = run->first;
	*end = run->first + run->count;
	for (uint32_t i = run->first; i < *end; i++) {
		struct item *item = &inv->items[i];
		const struct stacks *s = x->stacks[item->side];
		if (v != VNODE_ROOT)
			item->at = s->parent[item->at];
		if (item->at == VNODE_ROOT) {
			struct item kept = inv->items[done];
			inv->items[done++] = *item;
			inv->items[i] = kept;
			continue;
		}
		item->group = x->frames.group[item->side][s->entry[item->at]];
	}
	*first = done;
}

enum neap_err inverted_open(struct exec *x, uint32_t v, struct row_list *out)
{
	struct inverted *inv = x->inverted;
	uint32_t first, end, from = (uint32_t)x->space.tree->count;
	*out = (struct row_list){.count = 0};
	step_outwards(x, inv, v, &first, &end);
	if (end > first)
		sort_items(inv->items + first, end - first, x->frames.count);
	if (!add_children(x, inv, v, first, end))
		return exec_no_memory(x);
	uint32_t count = (uint32_t)x->space.tree->count - from;
	out->groups = mem_array(count, sizeof *out->groups);
	if (!out->groups)
		return exec_no_memory(x);
	for (uint32_t c = from; c < from + count; c++) {
		if (row_has_values(x, c))
			out->groups[out->count++] = c;
	}
	return NEAP_OK;
}

bool inverted_has_more(const struct exec *x, uint32_t v)
{
	const struct inverted *inv = x->inverted;
	const struct run *run = &inv->runs[v];
	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		const struct item *item = &inv->items[i];
		if (x->stacks[item->side]->parent[item->at] != VNODE_ROOT)
			return true;
	}
	return false;
}

void inverted_mark(const struct exec *x, uint32_t v, uint32_t mark, uint32_t *by_place)
{
	const struct inverted *inv = x->inverted;
	const struct run *run = &inv->runs[v];
	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		if (!inv->items[i].side)
			by_place[inv->items[i].begin] = mark;
	}
}

void inverted_places(const struct exec *x, uint32_t v, size_t side,
		     void (*add)(const struct exec *x, size_t side, uint32_t place))
{
	const struct inverted *inv = x->inverted;
	const struct run *run = &inv->runs[v];
	for (uint32_t i = run->first; i < run->first + run->count; i++) {
		const struct item *item = &inv->items[i];
		if (item->side == side)
			add(x, side, item->begin);
	}
}

/* ---- the space ------------------------------------------------------------------------------- */

enum neap_err space_build_inverted(struct exec *x)
{
	struct inverted *inv = x->inverted = mem_zalloc(sizeof *inv);
	struct space *sp = &x->space;
	size_t cap = 0;
	enum neap_err code = frame_groups_build(x, x->pl->keys, x->pl->key_count, &x->frames);
	sp->kind = SPACE_INVERTED;
	sp->tree_groups = &x->frames;
	if (code)
		return code;
	sp->tree = sp->merged.tree = stacks_new(0, 0, ENTRY_NONE);
	bool is_good = inv && sp->tree;
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		sp->vnode_count[side] = x->stacks[side]->count; /* where cells are */
		is_good = sum_places(x, inv, side) && add_items(x, inv, side, &cap);
	}
	if (!is_good || inv->item_count >= UINT32_MAX)
		return exec_no_memory(x);
	sp->group_count = sp->tree->count;
	if (!grow_rows(x, inv))
		return exec_no_memory(x);
	inv->runs[VNODE_ROOT] = (struct run){0, (uint32_t)inv->item_count};
	inv->runs[VNODE_NO_STACK] = (struct run){0, 0};
	return NEAP_OK;
}
