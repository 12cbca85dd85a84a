/*
 * Facts of one row of a tree: how long its blocks lived, and which threads allocated them.
 *
 * Cells of the row are found by where they begin.  Where the query did not tell deaths apart,
 * those of the row's cohorts are read from the file, as exec_cells.c would have done.
 */
#include "config.h"

#include "query/opened_priv.h"

#include <string.h>

struct part { /* blocks that lived equally long */
	uint64_t ns;
	int64_t blocks;
};

struct finding {
	const struct exec *x;
	const struct cells *cells;
	uint8_t *is_inside; /* by cell */
	struct part *parts;
	size_t part_count;
};

/* ---- cells of the row --------------------------------------------------------------------- */

static bool mark_inverted(struct finding *f, uint32_t group)
{
	const struct exec *x = f->x;
	const uint32_t *place = x->place[0][MEASURE_MAIN];
	uint32_t *marks = mem_zarray(x->stacks[0]->count, sizeof *marks);
	if (!marks)
		return false;
	inverted_mark(x, group, 1, marks);
	for (size_t i = 0; i < f->cells->count; i++)
		f->is_inside[i] = marks[place[i]] != 0;
	mem_free(marks);
	return true;
}

static bool mark_cells_of(struct finding *f, uint32_t group)
{
	const struct exec *x = f->x;
	const uint32_t *place = x->place[0][MEASURE_MAIN];
	f->is_inside = mem_array(f->cells->count, 1);
	if (!f->is_inside)
		return false;
	if (x->space.kind == SPACE_INVERTED)
		return mark_inverted(f, group);
	uint32_t end = space_end_of(&x->space, 0, group);
	for (size_t i = 0; i < f->cells->count; i++)
		f->is_inside[i] = place[i] >= group && place[i] < end;
	return true;
}

/* ---- threads ------------------------------------------------------------------------------- */

static void insert_thread(struct query_facts *out, struct query_thread_share share)
{
	size_t at = out->thread_count < FACTS_THREADS_MOST ? out->thread_count : FACTS_THREADS_MOST;
	while (at && out->threads[at - 1].sum.bytes < share.sum.bytes) {
		if (at < FACTS_THREADS_MOST)
			out->threads[at] = out->threads[at - 1];
		at--;
	}
	if (at < FACTS_THREADS_MOST)
		out->threads[at] = share;
	out->thread_count++;
}

static bool find_threads(const struct finding *f, struct query_facts *out)
{
	const struct profile *p = f->cells->file->p;
	struct graph_sum *sums = mem_zarray(p->thread_count + 1, sizeof *sums);
	if (!sums)
		return false;
	for (size_t i = 0; i < f->cells->count; i++) {
		thread_id id = profile_cohort_thread(p, f->cells->cohort[i]);
		if (f->is_inside[i] && id <= p->thread_count)
			sum_add(&sums[id], &f->cells->value[i]);
	}
	for (thread_id id = 1; id <= p->thread_count; id++) {
		if (sums[id].blocks)
			insert_thread(out, (struct query_thread_share){id, sums[id]});
	}
	mem_free(sums);
	return true;
}

/* ---- lifetimes ----------------------------------------------------------------------------- */

static void add_part(struct finding *f, uint64_t ns, int64_t blocks)
{
	if (blocks > 0)
		f->parts[f->part_count++] = (struct part){ns, blocks};
}

static void add_cells(struct finding *f)
{
	for (size_t i = 0; i < f->cells->count; i++) {
		if (f->is_inside[i])
			add_part(f, cell_lifetime(f->cells, i), f->cells->value[i].blocks);
	}
}

static bool is_freed_in(const struct cells *c, snap_id death)
{
	return c->side.pop != POP_FREED ||
	       (death > c->side.window.from && death <= c->side.window.to);
}

/* Each death of the row's cohorts, then what never died. */
static bool add_deaths(struct finding *f)
{
	const struct cells *c = f->cells;
	const struct profile *p = c->file->p;
	const struct graph *g = c->file->g;
	int64_t *left = mem_zarray(p->cohort_count, sizeof *left);
	uint64_t last_ns = graph_snap_time(g, graph_last_snap(g));
	if (!left)
		return false;
	for (size_t i = 0; i < c->count; i++)
		left[c->cohort[i]] = f->is_inside[i] ? c->value[i].blocks : 0;
	for (snap_id s = 1; s <= p->snapshot_count; s++) {
		uint64_t at_ns = graph_snap_time(g, s);
		for (size_t i = p->death_first[s - 1]; i < p->death_first[s]; i++) {
			size_t cohort = profile_death_cohort(p, i) - 1;
			int64_t died = (int64_t)profile_death_blocks(p, i);
			if (left[cohort] <= 0 || !is_freed_in(c, s))
				continue;
			uint64_t born_ns = graph_snap_time(g, graph_cohort_birth(g, cohort));
			died = died < left[cohort] ? died : left[cohort];
			left[cohort] -= died;
			add_part(f, at_ns > born_ns ? at_ns - born_ns : 0, died);
		}
	}
	for (size_t i = 0; i < p->cohort_count; i++) {
		uint64_t born_ns = left[i] > 0 ? graph_snap_time(g, graph_cohort_birth(g, i)) : 0;
		add_part(f, last_ns > born_ns ? last_ns - born_ns : 0, left[i]);
	}
	mem_free(left);
	return true;
}

#define DIGIT_BITS 8u
#define DIGITS     (1u << DIGIT_BITS)

/*
 * The shortest lifetime that at least pct per cent of the blocks do not exceed: digit by digit,
 * from the highest, the one where so many blocks are reached.
 */
static uint64_t quantile(const struct finding *f, double all, double pct)
{
	uint64_t value = 0, known = 0, most_ns = 1;
	double seen = 0;
	for (size_t i = 0; i < f->part_count; i++)
		most_ns = f->parts[i].ns > most_ns ? f->parts[i].ns : most_ns;
	unsigned highest = (63u - (unsigned)__builtin_clzll(most_ns)) / DIGIT_BITS * DIGIT_BITS;
	for (unsigned shift = highest; shift <= highest; shift -= DIGIT_BITS) {
		double blocks[DIGITS] = {0};
		unsigned digit = 0;
		for (size_t i = 0; i < f->part_count; i++) {
			if ((f->parts[i].ns & known) == value)
				blocks[f->parts[i].ns >> shift & (DIGITS - 1)] +=
					(double)f->parts[i].blocks;
		}
		while (digit + 1 < DIGITS && (seen + blocks[digit]) * 100 < all * pct)
			seen += blocks[digit++];
		value |= (uint64_t)digit << shift;
		known |= (uint64_t)(DIGITS - 1) << shift;
	}
	return value;
}

static bool find_lifetimes(struct finding *f, struct query_facts *out)
{
	const struct cells *c = f->cells;
	enum graph_pop pop = c->side.pop;
	bool is_over = pop == POP_ALLOCATED || pop == POP_FREED || pop == POP_TEMPORARY;
	bool needs_deaths = is_over && !c->death;
	double all = 0;
	f->parts = mem_array(c->count + (needs_deaths ? c->file->p->death_count : 0) + 1,
			     sizeof *f->parts);
	if (!f->parts)
		return false;
	if (!needs_deaths)
		add_cells(f);
	else if (!add_deaths(f))
		return false;
	for (size_t i = 0; i < f->part_count; i++)
		all += (double)f->parts[i].blocks;
	out->has_lifetimes = all > 0;
	out->is_over = is_over;
	if (all > 0) {
		out->p50_ns = quantile(f, all, 50);
		out->p99_ns = quantile(f, all, 99);
	}
	return true;
}

/* ---- the whole ------------------------------------------------------------------------------ */

enum neap_err query_opened_facts(struct query_opened *q, uint32_t row, struct query_facts *out,
				 struct query_error *error)
{
	struct finding f = {.x = &q->x, .cells = &q->x.cells[0][MEASURE_MAIN]};
	uint32_t group = q->group_of_row[row];
	*out = (struct query_facts){.thread_count = 0};
	q->pl.error = error;
	if (!opened_is_tree(q) || group == GROUP_NONE || q->pl.side_count != 1)
		return NEAP_OK;
	uint64_t unknown = q->pl.unknown_facts;
	bool is_good = mark_cells_of(&f, group) &&
		       (unknown & FACT_THREADS || find_threads(&f, out)) &&
		       (unknown & (FACT_TIME | FACT_LIFETIMES) || find_lifetimes(&f, out));
	mem_free(f.is_inside);
	mem_free(f.parts);
	return is_good ? NEAP_OK : exec_no_memory(&q->x);
}
