/*
 * Totals of groups in a space of frames.
 *
 * A group's total is the sum of what lies at and below its outermost vnodes; in preorder these are
 * found by keeping for each group the end of the last one:
 *
 *     v      0 1 2 3 4 5
 *     group  . a b a a c      vnode 3 is below 1 (end 4): not outermost; vnode 4 is
 *
 * The way through the vnodes of a large profile is walked by two threads, half each.  What the
 * second has to know of the first half are the vnodes that its own lie below.
 */
#include "config.h"

#include "query/exec.h"

#include "src/base/both.h"

#define TWO_THREADS_FROM 200000u /* vnodes */

bool frames_as_if_large(const struct exec *x)
{
	return x->pl->session->options.is_as_if_large;
}

bool frames_use_two_threads(const struct exec *x, size_t side)
{
	return x->space.vnode_count[side] >= TWO_THREADS_FROM || frames_as_if_large(x);
}

struct frame_walk frame_walk_init(const struct exec *x, size_t side, uint32_t from, uint32_t to)
{
	const struct space *sp = &x->space;
	return (struct frame_walk){
		.end = sp->end[side],
		.entry = sp->entry_of[side],
		.group_of_entry = sp->group_of_entry[side],
		.places = x->places[side],
		.v = from,
		.to = to,
		.next_place = places_before(x->places[side], from),
	};
}

bool frames_above(const struct exec *x, size_t side, uint32_t *v, uint32_t *group_out,
		  uint32_t *end_out)
{
	*v = x->stacks[side]->parent[*v];
	*group_out = space_group_at(&x->space, side, *v);
	*end_out = space_end_of(&x->space, side, *v);
	return *v != VNODE_ROOT;
}

/* ---- totals ----------------------------------------------------------------------------- */

/* What a walk finds.  By group lie side by side where its last outermost vnode ends, and its sums:
 * rows[group * stride], and as graph_sum what follows it. */
struct tally {
	struct exec *x;
	size_t side, stride;
	uint32_t from, to; /* vnodes */
	bool polls;        /* in the thread of the query */
	int64_t *rows;
};

static struct graph_sum *sums_at(const struct tally *t, uint32_t group)
{
	return (struct graph_sum *)&t->rows[group * t->stride + 1];
}

static bool tally_init(struct tally *t)
{
	const struct space *sp = &t->x->space;
	t->stride = 1 + 2 * t->x->prefix[t->side].width;
	t->rows = mem_zarray(sp->group_count, t->stride * sizeof *t->rows);
	return t->rows;
}

static void cover_above(struct tally *t)
{
	uint32_t group, end;
	for (uint32_t v = t->from; frames_above(t->x, t->side, &v, &group, &end);) {
		if (group != GROUP_NONE && t->rows[group * t->stride] < end)
			t->rows[group * t->stride] = end;
	}
}

static void tally_walk(void *arg)
{
	struct tally *t = arg;
	const struct prefix *p = &t->x->prefix[t->side];
	struct frame_walk w = frame_walk_init(t->x, t->side, t->from, t->to);
	cover_above(t);
	for (uint32_t i = 1; frame_walk_next(&w); i++) {
		if (t->polls && exec_polls(t->x, i))
			return;
		int64_t *covered_to = w.group == GROUP_NONE ? NULL : &t->rows[w.group * t->stride];
		if (!covered_to || w.at < *covered_to)
			continue;
		*covered_to = w.at_end;
		prefix_add(p, w.place, w.place_end, sums_at(t, w.group));
	}
}

static void give_totals(const struct tally *first, const struct tally *second)
{
	struct exec *x = first->x;
	const struct prefix *p = &x->prefix[first->side];
	for (size_t k = 0; k < p->width; k++) {
		struct graph_sum *total = x->sums[first->side][p->measures[k]].total;
		for (uint32_t g = 0; g < x->space.group_count; g++) {
			total[g] = sums_at(first, g)[k];
			if (second->rows)
				sum_add(&total[g], &sums_at(second, g)[k]);
		}
	}
}

/* All measures at once: the way is long. */
bool frames_sum(struct exec *x, size_t side)
{
	uint32_t count = (uint32_t)x->space.vnode_count[side];
	bool has_two = frames_use_two_threads(x, side);
	uint32_t middle = has_two ? count / 2 : count;
	struct tally first = {.x = x, .side = side, .to = middle, .polls = true};
	struct tally second = {.x = x, .side = side, .from = middle, .to = count};
	bool is_good = tally_init(&first) && (!has_two || tally_init(&second));
	if (is_good && has_two)
		both_run(tally_walk, &first, &second);
	else if (is_good)
		tally_walk(&first);
	is_good = is_good && !x->pl->was_cancelled;
	if (is_good)
		give_totals(&first, &second);
	mem_free(first.rows);
	mem_free(second.rows);
	return is_good;
}

/* ---- extremes ------------------------------------------------------------------------------ */

struct open_frame {
	uint32_t end, group;
	int64_t max_bytes;
	uint64_t first_ns, last_ns;
};
struct extremes_walk {
	struct exec *x;
	struct extremes by_place, by_group;
	struct open_frame *open; /* vnodes on the way to where the walk is */
	size_t count, cap;
};

static struct extremes of_frame(struct open_frame *f)
{
	return (struct extremes){&f->max_bytes, &f->first_ns, &f->last_ns};
}

/* What ends before v goes to its group and to what it is below. */
static void close_frames(struct extremes_walk *w, uint32_t v)
{
	while (w->count && w->open[w->count - 1].end <= v) {
		struct extremes e = of_frame(&w->open[--w->count]);
		uint32_t group = w->open[w->count].group;
		if (group != GROUP_NONE)
			extremes_widen(&w->by_group, group, &e, 0);
		if (!w->count)
			return;
		struct extremes above = of_frame(&w->open[w->count - 1]);
		extremes_widen(&above, 0, &e, 0);
	}
}

/* Nested vnodes of a group change nothing. */
static bool walk_extremes(struct extremes_walk *w, size_t side)
{
	struct frame_walk at =
		frame_walk_init(w->x, side, 0, (uint32_t)w->x->space.vnode_count[side]);
	for (uint32_t i = 1; frame_walk_next(&at); i++) {
		close_frames(w, at.at);
		if (!vec_reserve((void **)&w->open, &w->cap, w->count + 1, sizeof *w->open) ||
		    exec_polls(w->x, i))
			return false;
		w->open[w->count] = (struct open_frame){.end = at.at_end, .group = at.group};
		struct extremes e = of_frame(&w->open[w->count++]);
		extremes_clear(&e, 0);
		if (at.place != at.next_place)
			extremes_widen(&e, 0, &w->by_place, at.place);
	}
	close_frames(w, UINT32_MAX);
	return true;
}

bool frames_find_extremes(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	struct extremes_walk w = {.x = x};
	bool is_good = extremes_init(&w.by_place, x->prefix[side].place_count) &&
		       extremes_init(&w.by_group, x->space.group_count);
	for (size_t i = 0; is_good && i < c->count; i++)
		extremes_of_cell(&w.by_place, c, i,
				 places_before(x->places[side], x->place[side][MEASURE_MAIN][i]));
	is_good = is_good && walk_extremes(&w, side);
	extremes_release(&w.by_place);
	mem_free(w.open);
	x->extremes[side] = w.by_group;
	return is_good;
}
