/*
 * Totals of groups in a space of frames.
 *
 * A group's total is the sum of what lies at and below its outermost frames.  A walk through the stacks
 * (walk.h) tells where these begin and end, in places where cells are:
 *
 *     place 0  a > b > a      a is open from 0 to 2 (the a below it changes nothing),
 *     place 1  a > c > b      b from 0 to 1 and from 1 to 2, c from 1 to 2
 *
 * Many places are walked by two threads, half each: what is open where the one ends, the other opens anew.
 */
#include "config.h"

#include "query/walk.h"

#include "src/base/both.h"

#include <assert.h>

#define TWO_THREADS_FROM 30000u /* places */

bool frames_as_if_large(const struct exec *x)
{
	return x->pl->session->options.is_as_if_large;
}

bool frames_use_two_threads(const struct exec *x, size_t side)
{
	return x->prefix[side].place_count >= TWO_THREADS_FROM || frames_as_if_large(x);
}

/* ---- walks ------------------------------------------------------------------------------- */

/* The word of a place. */
static size_t find_word(const struct places *places, size_t vnode_count, uint32_t place)
{
	size_t low = 0,
	       high = vnode_count / 64 + 1; /* the last word with places[word].before <= place */
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (places[middle].before <= place)
			low = middle;
		else
			high = middle;
	}
	return low;
}

struct walk walk_begin(struct exec *x, size_t side, uint32_t from, uint32_t to)
{
	const struct query_file *f = x->pl->sides[side].file;
	struct walk w = {
		.x = x,
		.side = side,
		.p = x->is_of_nodes ? f->p : NULL,
		.stacks = x->stacks[side],
		.first_entry = f->columns.first_entry,
		.root = x->is_of_nodes ? PROFILE_NODE_ROOT : VNODE_ROOT,
		.places = x->places[side],
		.word = find_word(x->places[side], x->space.vnode_count[side], from),
		.next_place = from,
		.to = to,
	};
	w.bits = w.places[w.word].has_cells;
	for (uint32_t place = w.places[w.word].before; w.bits && place < from; place++)
		w.bits &= w.bits - 1;
	return w;
}

static void go_to(struct walk *w, size_t word, uint64_t bits_before)
{
	w->word = word;
	w->bits = w->places[word].has_cells & ~bits_before;
	w->next_place =
		w->places[word].before + bits_count(w->places[word].has_cells & bits_before);
}

void walk_skip(struct walk *w, uint32_t depth)
{
	uint32_t v = w->way[depth].v;
	uint32_t end = w->p ? parents_end(&w->p->node_parents, v) : w->stacks->end[v];
	uint32_t before = w->next_place;
	go_to(w, end / 64, (UINT64_C(1) << end % 64) - 1);
	assert(w->next_place >= before); /* back, it would walk for ever */
	if (w->next_place > w->to)
		w->next_place = w->to;
}

struct walk walk_all(struct exec *x, size_t side)
{
	struct walk w = walk_begin(x, side, 0, x->prefix[side].place_count);
	w.polls = true;
	return w;
}

void walk_release(struct walk *w)
{
	mem_free(w->way);
	mem_free(w->chains);
	w->way = NULL;
	w->chains = NULL;
}

/* One look at a vnode tells its key mostly. */
static bool find_keys(struct ranges *r)
{
	const struct graph_columns *c = &r->w.x->pl->sides[r->w.side].file->columns;
	size_t count = r->w.p ? c->frame_count : c->entry_count;
	r->key_of_kind = mem_array(count, sizeof *r->key_of_kind);
	for (uint32_t kind = 0; r->key_of_kind && kind < count; kind++) {
		entry_id entry, end;
		walk_entries(&r->w, kind, &entry, &end);
		r->key_of_kind[kind] = end - entry == 1 ? ranges_key(r, entry) : KEY_MANY;
	}
	return r->key_of_kind;
}

bool ranges_begin(struct ranges *r, const struct walk *w, const uint32_t *key_of_group,
		  size_t key_count)
{
	*r = (struct ranges){.w = *w, .key_of_group = key_of_group};
	r->group_of_entry = w->x->space.group_of_entry[w->side];
	r->is_open = mem_zarray(key_count, 1);
	r->is_single = key_count == 1;
	bool is_good = r->is_open && find_keys(r);
	r->w.key_of_kind = r->key_of_kind;
	return is_good;
}

/* What is below a fixed node does not come right after it. */
void ranges_skip(struct ranges *r)
{
	uint32_t depth = r->open[0].depth;
	if (!r->w.p || r->w.way[depth].v >= PROFILE_NODE_FIRST)
		walk_skip(&r->w, depth);
}

void ranges_release(struct ranges *r)
{
	walk_release(&r->w);
	mem_free(r->is_open);
	mem_free(r->key_of_kind);
	mem_free(r->open);
}

/* ---- totals ----------------------------------------------------------------------------- */

/* What a walk finds: sums of all measures, by group. */
struct tally {
	struct exec *x;
	size_t side;
	struct ranges ranges;
	bool is_good;
	struct graph_sum *sums; /* [group * width] */
};

static bool tally_begin(struct tally *t, uint32_t from, uint32_t to, bool polls)
{
	size_t count = t->x->space.group_count;
	struct walk w = walk_begin(t->x, t->side, from, to);
	w.polls = polls;
	t->sums = mem_zarray(count, t->x->prefix[t->side].width * sizeof *t->sums);
	bool is_good = ranges_begin(&t->ranges, &w, NULL, count) && t->sums;
	t->ranges.sums = (const char *)t->sums;
	t->ranges.sums_bytes = t->x->prefix[t->side].width * sizeof *t->sums;
	return is_good;
}

static void tally_release(struct tally *t)
{
	ranges_release(&t->ranges);
	mem_free(t->sums);
}

static void tally_range(void *context, uint32_t group, uint32_t place, uint32_t place_end)
{
	struct tally *t = context;
	const struct prefix *p = &t->x->prefix[t->side];
	prefix_add(p, place, place_end, t->sums + group * p->width);
}

static void tally_walk(void *arg)
{
	struct tally *t = arg;
	t->is_good = ranges_walk(&t->ranges, tally_range, t);
}

static void give_totals(const struct tally *first, const struct tally *second)
{
	struct exec *x = first->x;
	const struct prefix *p = &x->prefix[first->side];
	for (size_t k = 0; k < p->width; k++) {
		struct graph_sum *total = x->sums[first->side][p->measures[k]].total;
		for (uint32_t g = 0; g < x->space.group_count; g++) {
			total[g] = first->sums[g * p->width + k];
			if (second->sums)
				sum_add(&total[g], &second->sums[g * p->width + k]);
		}
	}
}

/* All measures at once: the way is long. */
bool frames_sum(struct exec *x, size_t side)
{
	uint32_t count = x->prefix[side].place_count;
	bool has_two = frames_use_two_threads(x, side);
	uint32_t middle = has_two ? count / 2 : count;
	struct tally first = {.x = x, .side = side};
	struct tally second = {.x = x, .side = side, .is_good = true};
	bool is_good = tally_begin(&first, 0, middle, true) &&
		       (!has_two || tally_begin(&second, middle, count, false));
	if (is_good && has_two)
		both_run(tally_walk, &first, &second);
	else if (is_good)
		tally_walk(&first);
	is_good = is_good && first.is_good && second.is_good;
	if (is_good)
		give_totals(&first, &second);
	tally_release(&first);
	tally_release(&second);
	return is_good;
}

/* ---- extremes ------------------------------------------------------------------------------ */

struct open_frame {
	uint32_t kind; /* see walk.h */
	int64_t max_bytes;
	uint64_t first_ns, last_ns;
};
struct extremes_walk {
	struct walk w;
	const uint32_t *group_of_entry;
	struct extremes by_place, by_group;
	struct open_frame *open; /* vnodes on the way to where the walk is */
	size_t count, cap;
};

static struct extremes of_frame(struct open_frame *f)
{
	return (struct extremes){&f->max_bytes, &f->first_ns, &f->last_ns};
}

/* What ends goes to its groups and to what it is below.  Nested frames of a group change nothing. */
static void close_frames(struct extremes_walk *e, size_t depth)
{
	while (e->count > depth) {
		struct extremes of = of_frame(&e->open[--e->count]);
		entry_id entry, end;
		walk_entries(&e->w, e->open[e->count].kind, &entry, &end);
		for (; entry < end; entry++) {
			if (e->group_of_entry[entry] != GROUP_NONE)
				extremes_widen(&e->by_group, e->group_of_entry[entry], &of, 0);
		}
		if (!e->count)
			return;
		struct extremes above = of_frame(&e->open[e->count - 1]);
		extremes_widen(&above, 0, &of, 0);
	}
}

static bool open_frames(struct extremes_walk *e)
{
	if (!vec_reserve((void **)&e->open, &e->cap, e->w.way_count, sizeof *e->open))
		return false;
	for (; e->count < e->w.way_count; e->count++) {
		e->open[e->count] = (struct open_frame){.kind = e->w.way[e->count].key};
		struct extremes of = of_frame(&e->open[e->count]);
		extremes_clear(&of, 0);
	}
	return true;
}

static bool walk_extremes(struct extremes_walk *e)
{
	while (walk_next(&e->w)) {
		close_frames(e, e->w.kept_count);
		if (!open_frames(e))
			return false;
		struct extremes of = of_frame(&e->open[e->count - 1]);
		extremes_widen(&of, 0, &e->by_place, e->w.place);
	}
	close_frames(e, 0);
	return !e->w.has_failed;
}

bool frames_find_extremes(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	struct extremes_walk e = {.w = walk_all(x, side),
				  .group_of_entry = x->space.group_of_entry[side]};
	bool is_good = extremes_init(&e.by_place, x->prefix[side].place_count) &&
		       extremes_init(&e.by_group, x->space.group_count);
	for (size_t i = 0; is_good && i < c->count; i++)
		extremes_of_cell(&e.by_place, c, i,
				 places_before(x->places[side], x->place[side][MEASURE_MAIN][i]));
	is_good = is_good && walk_extremes(&e);
	extremes_release(&e.by_place);
	mem_free(e.open);
	walk_release(&e.w);
	x->extremes[side] = e.by_group;
	return is_good;
}

/* ---- sets of groups ------------------------------------------------------------------------ */

struct set_totals {
	const struct exec *x;
	size_t side;
	struct values *sets;
};

static void add_to_set(void *context, uint32_t set, uint32_t place, uint32_t place_end)
{
	struct set_totals *t = context;
	const struct prefix *p = &t->x->prefix[t->side];
	struct graph_sum sums[MEASURE_COUNT] = {{0, 0}};
	prefix_add(p, place, place_end, sums);
	for (size_t k = 0; k < p->width; k++)
		sum_add(&t->sets[set].side[t->side].total[p->measures[k]], &sums[k]);
}

bool frames_sum_sets(struct exec *x, size_t side, const uint32_t *set_of_group, size_t set_count,
		     struct values *sets)
{
	struct set_totals t = {.x = x, .side = side, .sets = sets};
	struct walk w = walk_all(x, side);
	struct ranges r;
	bool is_good =
		ranges_begin(&r, &w, set_of_group, set_count) && ranges_walk(&r, add_to_set, &t);
	ranges_release(&r);
	return is_good;
}
