/*
 * Quantiles of lifetimes.
 *
 * Cells are put in order of their places, so that what lies below a vnode is a run of them.
 * Blocks of each lifetime are summed up before every chunk of that order: a long run is the
 * difference of two such sums and what sticks out at its ends.
 */
#include "config.h"

#include "query/walk.h"

#include "src/base/both.h"

#include <stdlib.h>
#include <string.h>

/* By what cells are ordered: the number of their place where places have numbers, else their vnode. */
static uint32_t number_at(const struct exec *x, size_t side, uint32_t v)
{
	return x->places[side] ? places_before(x->places[side], v) : v;
}

/* Cells of the main measure: those of number k are order[first[k]] .. order[first[k + 1] - 1]. */
static bool order_cells(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	const uint32_t *place = x->place[side][MEASURE_MAIN];
	size_t count = x->places[side] ? x->prefix[side].place_count : x->space.vnode_count[side];
	uint32_t *first = mem_zarray(count + 2, sizeof *first);
	uint32_t *order = mem_array(c->count, sizeof *order);
	x->cell_first[side] = first;
	x->cell_order[side] = order;
	if (!first || !order)
		return false;
	for (size_t i = 0; i < c->count; i++)
		first[number_at(x, side, place[i]) + 2]++;
	for (size_t k = 2; k < count + 2; k++)
		first[k] += first[k - 1];
	/* first[k + 1] serves as the cursor of k and ends where it should. */
	for (size_t i = 0; i < c->count; i++)
		order[first[number_at(x, side, place[i]) + 1]++] = (uint32_t)i;
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
	struct quantiles {
		bool is_known, has_any;
		uint64_t p50_ns, p99_ns;
	} * of_group; /* FRAMES: [group_count]; NULL: nobody asked */
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
	mem_free(l->of_group);
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
	const uint32_t *first = x->cell_first[side];
	add_cells(x->lifetimes[side], first[number_at(x, side, v)], first[number_at(x, side, end)]);
}

static void add_place(const struct exec *x, size_t side, uint32_t place)
{
	add_range(x, side, place, place + 1);
}

/* ---- groups of frames ---------------------------------------------------------------------- */

/*
 * The cells of many groups lie all over the order, and so do the groups of neighbours in it.  So the
 * runs of cells of all outermost vnodes are listed first, apart for every few groups: their blocks of
 * each lifetime, which are what is added to, then stay in the cache.  Two threads list runs of
 * half the places each, and add up every other part.
 */
#define PART_NUMBERS 60000u
#define RUNS_AHEAD   12u
#define NO_ROW       UINT32_MAX

struct run {
	uint32_t row, first, end; /* the group, and cells in order */
};

struct filling {
	struct exec *x;
	size_t side;
	bool polls;             /* in the thread of the query */
	uint32_t from, to;      /* places whose runs it lists */
	const uint32_t *row_of; /* by group; NO_ROW: nobody asks */
	const uint32_t *groups; /* by row */
	size_t row_count, part_rows, part_count;
	unsigned part_shift; /* part_rows is this power of 2 */
	size_t first_part;   /* it adds up this one and each second after it */
	bool has_failed;
	size_t *next;         /* by part: how many runs; then where the next one goes */
	struct run *runs;     /* of both; NULL: they are counted */
	const size_t *end_of; /* by part, in runs */
	double *blocks;       /* [(row of the part) * rank_count + rank] */
};

static bool filling_init(struct filling *f)
{
	size_t ranks = f->x->lifetimes[f->side]->rank_count;
	f->next = mem_zarray(f->part_count, sizeof *f->next);
	f->blocks = mem_array(f->part_rows, ranks * sizeof *f->blocks);
	return f->next && f->blocks;
}

static void filling_release(struct filling *f)
{
	mem_free(f->next);
	mem_free(f->blocks);
}

static void list_run(void *context, uint32_t row, uint32_t place, uint32_t place_end)
{
	struct filling *f = context;
	const uint32_t *first = f->x->cell_first[f->side];
	size_t at = f->next[row >> f->part_shift]++;
	if (f->runs)
		f->runs[at] = (struct run){row, first[place], first[place_end]};
}

static void list_runs(void *arg)
{
	struct filling *f = arg;
	struct walk w = walk_begin(f->x, f->side, f->from, f->to);
	struct ranges r;
	w.polls = f->polls;
	f->has_failed =
		!ranges_begin(&r, &w, f->row_of, f->row_count) || !ranges_walk(&r, list_run, f);
	ranges_release(&r);
}

static void add_each(const struct lifetimes *l, double *blocks, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		blocks[l->ordered_rank[i]] += l->ordered_blocks[i];
}

/* As add_cells, for a row. */
static void fill_row(const struct lifetimes *l, double *blocks, size_t first, size_t end)
{
	if (end - first < CHUNKS_LEAST * l->chunk_cells) {
		add_each(l, blocks, first, end);
		return;
	}
	size_t from = first / l->chunk_cells + 1, to = end / l->chunk_cells;
	const double *upper = l->before + to * l->rank_count;
	const double *lower = l->before + from * l->rank_count;
	for (size_t i = 0; i < l->rank_count; i++)
		blocks[i] += upper[i] - lower[i];
	add_each(l, blocks, first, from * l->chunk_cells);
	add_each(l, blocks, to * l->chunk_cells, end);
}

/* What a row says; blocks of each lifetime, by rank. */
static struct quantiles read_quantiles(const struct lifetimes *l, const double *blocks)
{
	struct quantiles q = {.is_known = true};
	double all = 0, seen = 0;
	for (size_t rank = 0; rank < l->rank_count; rank++)
		all += blocks[rank];
	q.has_any = all > 0;
	for (size_t rank = 0; q.has_any && rank < l->rank_count; rank++) {
		double before = seen;
		seen += blocks[rank];
		if (before * 100 < all * 50 && seen * 100 >= all * 50)
			q.p50_ns = l->ns[rank];
		if (before * 100 < all * 99 && seen * 100 >= all * 99)
			q.p99_ns = l->ns[rank];
	}
	return q;
}

static void fetch_cells(const struct lifetimes *l, const struct run *run)
{
	__builtin_prefetch(&l->ordered_rank[run->first]);
	__builtin_prefetch(&l->ordered_blocks[run->first]);
}

static void add_part(struct filling *f, size_t part)
{
	struct lifetimes *l = f->x->lifetimes[f->side];
	size_t ranks = l->rank_count, first_row = part * f->part_rows;
	size_t end = f->end_of[part], rows = f->row_count - first_row;
	rows = rows < f->part_rows ? rows : f->part_rows;
	memset(f->blocks, 0, rows * ranks * sizeof *f->blocks);
	for (size_t i = part ? f->end_of[part - 1] : 0; i < end; i++) {
		const struct run *run = &f->runs[i];
		if (i + RUNS_AHEAD < end)
			fetch_cells(l, run + RUNS_AHEAD);
		fill_row(l, f->blocks + (run->row - first_row) * ranks, run->first, run->end);
	}
	for (size_t row = 0; row < rows; row++)
		l->of_group[f->groups[first_row + row]] =
			read_quantiles(l, f->blocks + row * ranks);
}

static void add_parts(void *arg)
{
	struct filling *f = arg;
	for (size_t part = f->first_part; part < f->part_count; part += 2) {
		if (f->polls && plan_is_cancelled(f->x->pl))
			return;
		add_part(f, part);
	}
}

static void run_two(struct filling f[2], void (*work)(void *))
{
	if (frames_use_two_threads(f[0].x, f[0].side)) {
		both_run(work, &f[0], &f[1]);
	} else {
		work(&f[0]);
		work(&f[1]);
	}
}

/* Where the runs of each part end, and where each half puts its own; returns how many there are. */
static size_t place_runs(struct filling f[2], size_t *end_of)
{
	size_t count = 0;
	for (size_t part = 0; part < f[0].part_count; part++) {
		for (size_t half = 0; half < 2; half++) {
			size_t of_half = f[half].next[part];
			f[half].next[part] = count;
			count += of_half;
		}
		end_of[part] = count;
	}
	return count;
}

static bool fill(struct filling f[2], size_t *end_of)
{
	const struct plan *pl = f[0].x->pl;
	if (!end_of || !filling_init(&f[0]) || !filling_init(&f[1]))
		return false;
	run_two(f, list_runs);
	bool is_good = !f[0].has_failed && !f[1].has_failed && !pl->was_cancelled;
	size_t count = place_runs(f, end_of);
	struct run *runs = is_good ? mem_array(count, sizeof *runs) : NULL;
	for (size_t half = 0; half < 2; half++) {
		f[half].runs = runs;
		f[half].end_of = end_of;
	}
	if (runs)
		run_two(f, list_runs);
	is_good = runs && !f[0].has_failed && !f[1].has_failed && !pl->was_cancelled;
	if (is_good)
		run_two(f, add_parts);
	mem_free(runs);
	return is_good && !pl->was_cancelled;
}

static unsigned part_shift(const struct exec *x, size_t side)
{
	size_t ranks = x->lifetimes[side]->rank_count;
	unsigned shift = 1;
	while (!frames_as_if_large(x) && (ranks + 1) << shift < PART_NUMBERS)
		shift++;
	return shift;
}

static bool find_quantiles(struct exec *x, size_t side, const uint32_t *groups, size_t count,
			   const uint32_t *row_of)
{
	uint32_t place_count = x->prefix[side].place_count;
	struct filling of = {.x = x,
			     .side = side,
			     .row_of = row_of,
			     .groups = groups,
			     .row_count = count,
			     .part_shift = part_shift(x, side)};
	of.part_rows = (size_t)1 << of.part_shift;
	of.part_count = count / of.part_rows + 1;
	struct filling f[2] = {of, of};
	f[0].polls = true;
	f[0].to = f[1].from = place_count / 2;
	f[1].to = place_count;
	f[1].first_part = 1;
	size_t *end_of = mem_array(of.part_count, sizeof *end_of);
	bool is_good = fill(f, end_of);
	mem_free(end_of);
	filling_release(&f[0]);
	filling_release(&f[1]);
	return is_good;
}

static bool are_known(const struct lifetimes *l, const uint32_t *groups, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!l->of_group[groups[i]].is_known)
			return false;
	}
	return true;
}

static bool prepare_side(struct exec *x, size_t side, const uint32_t *groups, size_t count)
{
	struct lifetimes *l = x->lifetimes[side];
	size_t group_count = x->space.group_count;
	if (!l->of_group)
		l->of_group = mem_zarray(group_count, sizeof *l->of_group);
	if (!l->of_group || are_known(l, groups, count))
		return l->of_group;
	uint32_t *row_of = mem_array(group_count, sizeof *row_of);
	if (!row_of)
		return false;
	memset(row_of, 0xff, group_count * sizeof *row_of);
	for (size_t i = 0; i < count; i++)
		row_of[groups[i]] = (uint32_t)i;
	bool is_good = find_quantiles(x, side, groups, count, row_of);
	mem_free(row_of);
	return is_good;
}

enum neap_err quantiles_prepare(struct exec *x, const uint32_t *groups, size_t count)
{
	for (size_t side = 0; x->space.kind == SPACE_FRAMES && side < x->pl->side_count; side++) {
		if (!prepare_side(x, side, groups, count))
			return exec_no_memory(x);
	}
	return NEAP_OK;
}

static bool prepare_all(struct exec *x, size_t side)
{
	uint32_t *groups = mem_array(x->space.group_count, sizeof *groups);
	for (uint32_t g = 0; groups && g < x->space.group_count; g++)
		groups[g] = g;
	bool is_good = groups && prepare_side(x, side, groups, x->space.group_count);
	mem_free(groups);
	return is_good;
}

/* Rows that nobody prepared come one after the other: all at once, then. */
static bool quantiles_of_group(struct exec *x, size_t side, uint32_t group, struct side_values *out)
{
	const struct lifetimes *l = x->lifetimes[side];
	if ((!l->of_group || !l->of_group[group].is_known) && !prepare_all(x, side))
		return false;
	const struct quantiles *q = &l->of_group[group];
	out->has_quantiles = q->has_any;
	out->p50_ns = q->p50_ns;
	out->p99_ns = q->p99_ns;
	return true;
}

/* ---- sets of groups ------------------------------------------------------------------------ */

struct of_set {
	const struct exec *x;
	size_t side;
};

static void add_range_of_set(void *context, uint32_t set, uint32_t place, uint32_t place_end)
{
	const struct of_set *s = context;
	const uint32_t *first = s->x->cell_first[s->side];
	(void)set;
	add_cells(s->x->lifetimes[s->side], first[place], first[place_end]);
}

static bool add_groups(struct exec *x, size_t side, const uint32_t *groups, size_t count)
{
	uint32_t *set_of = set_of_groups(x, groups, count);
	struct of_set s = {x, side};
	struct walk w = walk_all(x, side);
	struct ranges r;
	bool is_good =
		ranges_begin(&r, &w, set_of, 1) && set_of && ranges_walk(&r, add_range_of_set, &s);
	ranges_release(&r);
	mem_free(set_of);
	return is_good;
}

enum neap_err quantiles_of_set(struct exec *x, const uint32_t *groups, size_t count,
			       struct values *out)
{
	const struct space *sp = &x->space;
	for (size_t side = 0; side < x->pl->side_count; side++) {
		if (sp->kind == SPACE_FRAMES && count == 1) {
			if (!quantiles_of_group(x, side, groups[0], &out->side[side]))
				return exec_no_memory(x);
			continue;
		}
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
