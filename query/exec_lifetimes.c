/*
 * Quantiles of lifetimes.
 *
 * Cells are put in order of their vnodes, so that what lies below a vnode is a run of them.
 * Blocks of each lifetime are summed up before every chunk of that order: a long run is the
 * difference of two such sums and what sticks out at its ends.
 */
#include "config.h"

#include "query/exec.h"

#include <stdlib.h>
#include <string.h>

/* Cells of the main measure by vnode: those of v are order[first[v]] .. order[first[v + 1] - 1]. */
static bool order_cells(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	const uint32_t *place = x->place[side][MEASURE_MAIN];
	size_t count = x->space.vnode_count[side];
	uint32_t *first = mem_zarray(count + 2, sizeof *first);
	uint32_t *order = mem_array(c->count, sizeof *order);
	x->cell_first[side] = first;
	x->cell_order[side] = order;
	if (!first || !order)
		return false;
	for (size_t i = 0; i < c->count; i++)
		first[place[i] + 2]++;
	for (size_t v = 2; v < count + 2; v++)
		first[v] += first[v - 1];
	/* first[v + 1] serves as the cursor of v and ends where it should. */
	for (size_t i = 0; i < c->count; i++)
		order[first[place[i] + 1]++] = (uint32_t)i;
	return true;
}

/*
 * Lifetimes are differences of snapshot times, so there are few distinct ones: they are
 * numbered in order, and a quantile is read off the blocks of each number.
 */
struct lifetimes {
	uint32_t *rank; /* by cell */
	uint64_t *ns;   /* by rank */
	size_t rank_count;
	/* Of the set looked at; all of it zeroed between sets. */
	double *blocks, all; /* by rank, and together */
	uint64_t *used;      /* a bit for each rank that may have blocks */
	/* By place in cell_order, so that the cells below a vnode lie side by side. */
	uint32_t *ordered_rank;
	double *ordered_blocks;
	/* Of every chunk of cells in that order: blocks of each rank before it. */
	double *before;     /* [chunk * rank_count + rank] */
	double *before_all; /* [chunk]: of all ranks together */
	size_t chunk_cells;
	/* FRAMES, made when first asked for: the cells below the outermost vnodes of each group
	 * are ranges[i].first .. ranges[i].end - 1 for i from first_range[group] on. */
	uint32_t *first_range;
	struct cell_range {
		uint32_t first, end; /* places in cell_order */
	} * ranges;
};

static void lifetimes_free(struct lifetimes *l)
{
	if (!l)
		return;
	mem_free(l->rank);
	mem_free(l->ns);
	mem_free(l->blocks);
	mem_free(l->ordered_rank);
	mem_free(l->ordered_blocks);
	mem_free(l->used);
	mem_free(l->before);
	mem_free(l->before_all);
	mem_free(l->first_range);
	mem_free(l->ranges);
	mem_free(l);
}

void lifetimes_release(struct exec *x, size_t side)
{
	mem_free(x->cell_order[side]);
	mem_free(x->cell_first[side]);
	x->cell_order[side] = x->cell_first[side] = NULL;
	lifetimes_free(x->lifetimes[side]);
	x->lifetimes[side] = NULL;
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* Number distinct lifetimes as they come. */
static bool collect(struct lifetimes *l, const struct cells *c, struct map *ids)
{
	size_t cap = 0;
	for (size_t i = 0; i < c->count; i++) {
		uint64_t ns = cell_lifetime(c, i);
		uint32_t id = map_find(ids, ns);
		if (id == MAP_ABSENT) {
			id = (uint32_t)l->rank_count;
			if (!vec_reserve((void **)&l->ns, &cap, id + 1u, sizeof *l->ns) ||
			    !map_put(ids, ns, id))
				return false;
			l->ns[l->rank_count++] = ns;
		}
		l->rank[i] = id;
	}
	return true;
}

/* The numbers become ranks. */
static bool order_ranks(struct lifetimes *l, const struct cells *c, struct map *ids)
{
	uint32_t *rank_of = mem_array(l->rank_count, sizeof *rank_of);
	uint64_t *sorted = mem_array(l->rank_count, sizeof *sorted);
	bool is_good = rank_of && sorted;
	if (is_good && l->rank_count) {
		memcpy(sorted, l->ns, l->rank_count * sizeof *sorted);
		qsort(sorted, l->rank_count, sizeof *sorted, compare_ns);
	}
	for (uint32_t i = 0; is_good && i < l->rank_count; i++)
		rank_of[map_find(ids, sorted[i])] = i;
	for (size_t i = 0; is_good && i < c->count; i++)
		l->rank[i] = rank_of[l->rank[i]];
	mem_free(rank_of);
	mem_free(l->ns);
	l->ns = sorted;
	return is_good;
}

static bool lifetimes_build(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	struct lifetimes *l = x->lifetimes[side] = mem_zalloc(sizeof *l);
	struct map ids = {0};
	if (!l)
		return false;
	l->rank = mem_array(c->count, sizeof *l->rank);
	bool is_good = l->rank && collect(l, c, &ids) && order_ranks(l, c, &ids);
	l->blocks = mem_zarray(l->rank_count, sizeof *l->blocks);
	l->used = mem_zarray(l->rank_count / 64 + 1, sizeof *l->used);
	map_release(&ids);
	return is_good && l->blocks && l->used;
}

static double blocks_of(const struct cells *c, size_t i)
{
	return c->value[i].blocks > 0 ? (double)c->value[i].blocks : 0;
}

#define CHUNK_CELLS_LEAST 64u
#define CHUNKS_OF_RANKS   4u
#define CHUNKS_LEAST      3u /* shorter runs are added cell by cell */

/* With chunks a quarter as long as there are ranks, this takes four times as much room as the cells. */
static bool make_chunks(struct lifetimes *l, size_t count)
{
	size_t ranks = l->rank_count;
	l->chunk_cells = ranks / CHUNKS_OF_RANKS;
	if (l->chunk_cells < CHUNK_CELLS_LEAST)
		l->chunk_cells = CHUNK_CELLS_LEAST;
	size_t chunks = count / l->chunk_cells + 1;
	double *before = l->before = mem_zarray(chunks, ranks * sizeof *before);
	double *before_all = l->before_all = mem_zarray(chunks, sizeof *before_all);
	if (!before || !before_all)
		return false;
	for (size_t k = 1; k < chunks; k++) {
		double *row = before + k * ranks;
		memcpy(row, row - ranks, ranks * sizeof *row);
		before_all[k] = before_all[k - 1];
		for (size_t i = (k - 1) * l->chunk_cells; i < k * l->chunk_cells; i++) {
			row[l->ordered_rank[i]] += l->ordered_blocks[i];
			before_all[k] += l->ordered_blocks[i];
		}
	}
	return true;
}

static bool order_lifetimes(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	const uint32_t *order = x->cell_order[side];
	struct lifetimes *l = x->lifetimes[side];
	l->ordered_rank = mem_array(c->count, sizeof *l->ordered_rank);
	l->ordered_blocks = mem_array(c->count, sizeof *l->ordered_blocks);
	if (!l->ordered_rank || !l->ordered_blocks)
		return false;
	for (size_t i = 0; i < c->count; i++) {
		l->ordered_rank[i] = l->rank[order[i]];
		l->ordered_blocks[i] = blocks_of(c, order[i]);
	}
	return make_chunks(l, c->count);
}

/* Peek has added cells since the total line was made. */
bool lifetimes_order(struct exec *x, size_t side)
{
	if (!order_cells(x, side))
		return false;
	if (!x->lifetimes[side] || x->pl->view == VIEW_PEEK) {
		lifetimes_free(x->lifetimes[side]);
		x->lifetimes[side] = NULL;
		if (!lifetimes_build(x, side))
			return false;
	}
	return order_lifetimes(x, side);
}

static void add_lifetimes(struct lifetimes *l, const uint32_t *ranks, const double *blocks,
			  size_t count)
{
	double all = l->all;
	for (size_t i = 0; i < count; i++) {
		l->blocks[ranks[i]] += blocks[i];
		l->used[ranks[i] / 64] |= UINT64_C(1) << ranks[i] % 64;
		all += blocks[i];
	}
	l->all = all;
}

/* Of cells in order: whole chunks at once where there are many. */
static void add_cells(struct lifetimes *l, size_t first, size_t end)
{
	size_t from = first / l->chunk_cells + 1, to = end / l->chunk_cells;
	if (end - first < CHUNKS_LEAST * l->chunk_cells) {
		add_lifetimes(l, l->ordered_rank + first, l->ordered_blocks + first, end - first);
		return;
	}
	const double *upper = l->before + to * l->rank_count;
	const double *lower = l->before + from * l->rank_count;
	for (size_t i = 0; i < l->rank_count; i++)
		l->blocks[i] += upper[i] - lower[i];
	l->all += l->before_all[to] - l->before_all[from];
	memset(l->used, 0xff, (l->rank_count / 64 + 1) * sizeof *l->used);
	size_t middle = from * l->chunk_cells, last = to * l->chunk_cells;
	add_lifetimes(l, l->ordered_rank + first, l->ordered_blocks + first, middle - first);
	add_lifetimes(l, l->ordered_rank + last, l->ordered_blocks + last, end - last);
}

/*
 * Read the set off, and forget it.  A quantile is the smallest lifetime that at least so many of the
 * blocks do not exceed.
 */
static void finish_lifetimes(const struct exec *x, size_t side, struct side_values *out)
{
	struct lifetimes *l = x->lifetimes[side];
	double seen = 0, before;
	out->has_quantiles = l->all > 0;
	for (size_t w = 0; w <= l->rank_count / 64; w++) {
		for (uint64_t bits = l->used[w]; bits; bits &= bits - 1) {
			size_t rank = w * 64 + (size_t)__builtin_ctzll(bits);
			if (rank >= l->rank_count)
				break;
			before = seen;
			seen += l->blocks[rank];
			if (before * 100 < l->all * 50 && seen * 100 >= l->all * 50)
				out->p50_ns = l->ns[rank];
			if (before * 100 < l->all * 99 && seen * 100 >= l->all * 99)
				out->p99_ns = l->ns[rank];
			l->blocks[rank] = 0;
		}
		l->used[w] = 0;
	}
	l->all = 0;
}

enum neap_err quantiles_of_cells(struct exec *x, struct values *out)
{
	for (size_t side = 0; side < x->pl->side_count; side++) {
		if (!x->lifetimes[side] && !lifetimes_build(x, side))
			return exec_no_memory(x);
		const struct cells *c = &x->cells[side][MEASURE_MAIN];
		for (size_t i = 0; i < c->count; i++) {
			double blocks = blocks_of(c, i);
			add_lifetimes(x->lifetimes[side], &x->lifetimes[side]->rank[i], &blocks, 1);
		}
		finish_lifetimes(x, side, &out->side[side]);
	}
	return NEAP_OK;
}

static void add_range(const struct exec *x, size_t side, uint32_t v, uint32_t end)
{
	struct lifetimes *l = x->lifetimes[side];
	add_cells(l, x->cell_first[side][v], x->cell_first[side][end]);
}

static void add_place(const struct exec *x, size_t side, uint32_t place)
{
	add_range(x, side, place, place + 1);
}

/*
 * Outermost vnodes with cells of every group, as add_totals finds them.  Counts them by group
 * in at[group + 1] if `to` is NULL; else at[group] is where the next one goes.
 */
static void list_ranges(const struct exec *x, size_t side, uint32_t *covered, uint32_t *at,
			struct cell_range *to)
{
	const struct space *sp = &x->space;
	const uint32_t *first = x->cell_first[side];
	for (uint32_t v = 0; v < sp->vnode_count[side];) {
		uint32_t end = space_end_of(sp, side, v);
		if (first[v] == first[end]) {
			v = end;
			continue;
		}
		uint32_t group = space_group_at(sp, side, v);
		if (group != GROUP_NONE && v >= covered[group]) {
			covered[group] = end;
			if (to)
				to[at[group]++] = (struct cell_range){first[v], first[end]};
			else
				at[group + 1]++;
		}
		v++;
	}
}

static bool find_ranges(struct exec *x, size_t side)
{
	struct lifetimes *l = x->lifetimes[side];
	size_t count = x->space.group_count;
	uint32_t *covered = mem_zarray(count, sizeof *covered);
	uint32_t *first = l->first_range = mem_zarray(count + 2, sizeof *first);
	bool is_good = covered && first;
	if (is_good) {
		list_ranges(x, side, covered, first + 1, NULL);
		for (size_t g = 1; g < count + 2; g++)
			first[g] += first[g - 1];
		l->ranges = mem_array(first[count + 1], sizeof *l->ranges);
		is_good = l->ranges;
	}
	if (is_good) { /* first[g + 1] serves as the cursor of g and ends where it should */
		memset(covered, 0, count * sizeof *covered);
		list_ranges(x, side, covered, first + 1, l->ranges);
	}
	mem_free(covered);
	return is_good;
}

static bool add_group(struct exec *x, size_t side, uint32_t group)
{
	struct lifetimes *l = x->lifetimes[side];
	if (!l->ranges && !find_ranges(x, side))
		return false;
	for (uint32_t i = l->first_range[group]; i < l->first_range[group + 1]; i++)
		add_cells(l, l->ranges[i].first, l->ranges[i].end);
	return true;
}

/* The outermost vnodes of a set of groups; wanted is by group. */
static void add_marked(const struct exec *x, size_t side, const uint8_t *wanted)
{
	const struct space *sp = &x->space;
	const uint32_t *first = x->cell_first[side];
	for (uint32_t v = 0; v < sp->vnode_count[side];) {
		uint32_t group = space_group_at(sp, side, v), end = space_end_of(sp, side, v);
		if (first[v] == first[end]) {
			v = end;
		} else if (group == GROUP_NONE || !wanted[group]) {
			v++;
		} else {
			add_range(x, side, v, end);
			v = end;
		}
	}
}

static bool add_groups(struct exec *x, size_t side, const uint32_t *groups, size_t count)
{
	const struct space *sp = &x->space;
	if (count == 1)
		return add_group(x, side, groups[0]);
	uint8_t *wanted = mem_zarray(sp->group_count, 1);
	if (!wanted)
		return false;
	for (size_t i = 0; i < count; i++)
		wanted[groups[i]] = 1;
	add_marked(x, side, wanted);
	mem_free(wanted);
	return true;
}

enum neap_err quantiles_of_set(struct exec *x, const uint32_t *groups, size_t count,
			       struct values *out)
{
	const struct space *sp = &x->space;
	for (size_t side = 0; side < x->pl->side_count; side++) {
		if (sp->kind == SPACE_FRAMES && !add_groups(x, side, groups, count))
			return exec_no_memory(x);
		for (size_t i = 0; sp->kind != SPACE_FRAMES && i < count; i++) {
			uint32_t v = groups[i];
			if (sp->kind == SPACE_INVERTED)
				inverted_places(x, v, side, add_place);
			else
				add_range(x, side, v, space_end_of(sp, side, v));
		}
		finish_lifetimes(x, side, &out->side[side]);
	}
	return NEAP_OK;
}
