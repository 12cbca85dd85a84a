/*
 * What groups hold.
 *
 * Cells are spread over the vnodes of the stacks or of a tree.  Those that have any are numbered in
 * preorder; P[k] is the sum of the first k of them, so what lies at and below v is
 * P[first from end[v] on] - P[first from v on].  In a tree that is all.  In a space of frames a
 * group's total is the sum of that over its outermost vnodes (exec_frames.c).
 */
#include "config.h"

#include "query/exec.h"

#include <string.h>

/* ---- sums of all groups --------------------------------------------------------------- */

/* Number the places where cells of any measure are. */
static bool number_places(struct exec *x, size_t side)
{
	size_t word_count = x->space.vnode_count[side] / 64 + 1;
	struct places *places = x->places[side] = mem_zarray(word_count, sizeof *places);
	if (!places)
		return false;
	for (size_t m = 0; m < MEASURE_COUNT; m++) {
		const uint32_t *place = x->place[side][m];
		for (size_t i = 0; i < x->cells[side][m].count; i++)
			places[place[i] / 64].has_cells |= UINT64_C(1) << place[i] % 64;
	}
	uint32_t count = 0;
	for (size_t w = 0; w < word_count; w++) {
		places[w].before = count;
		count = places_before(&places[w], 63) + places_has(&places[w], 63);
	}
	x->prefix[side].place_count = count;
	return true;
}

static bool make_prefix(struct exec *x, size_t side)
{
	struct prefix *p = &x->prefix[side];
	const struct places *places = x->places[side];
	for (size_t m = 0; m < MEASURE_COUNT; m++) {
		if (!x->pl->needs_measure[m])
			continue;
		p->index_of[m] = p->width;
		p->measures[p->width++] = (enum measure)m;
	}
	size_t width = p->width, place_count = p->place_count;
	p->sums = mem_zarray(place_count + 1, width * sizeof *p->sums);
	for (size_t k = 0; p->sums && k < width; k++) {
		const struct cells *c = &x->cells[side][p->measures[k]];
		const uint32_t *place = x->place[side][p->measures[k]];
		struct graph_sum *sums = p->sums + width + k; /* what lies before the next */
		for (size_t i = 0; i < c->count; i++)
			sum_add(&sums[places_before(places, place[i]) * width], &c->value[i]);
	}
	for (size_t i = width; p->sums && i < (place_count + 1) * width; i++)
		sum_add(&p->sums[i], &p->sums[i - width]);
	return p->sums;
}

static bool sum_side(struct exec *x, size_t side, size_t m)
{
	const struct cells *c = &x->cells[side][m];
	struct sums *s = &x->sums[side][m];
	s->self = mem_zarray(x->space.group_count, sizeof *s->self);
	s->total = mem_zarray(x->space.group_count, sizeof *s->total);
	if (!s->self || !s->total)
		return false;
	for (size_t i = 0; i < c->count; i++) {
		if (x->self[side][m][i] != GROUP_NONE)
			sum_add(&s->self[x->self[side][m][i]], &c->value[i]);
	}
	for (size_t i = 0; x->space.kind == SPACE_FLAT && i < c->count; i++)
		sum_add(&s->total[x->place[side][m][i]], &c->value[i]);
	return true;
}

/* ---- extremes ------------------------------------------------------------------------------ */

static uint64_t born_ns(const struct cells *c, size_t i)
{
	return graph_snap_time(c->file->g, graph_cohort_birth(c->file->g, c->cohort[i]));
}

void extremes_widen(struct extremes *to, size_t at, const struct extremes *from, size_t from_at)
{
	if (to->max_bytes[at] < from->max_bytes[from_at])
		to->max_bytes[at] = from->max_bytes[from_at];
	if (to->first_ns[at] > from->first_ns[from_at])
		to->first_ns[at] = from->first_ns[from_at];
	if (to->last_ns[at] < from->last_ns[from_at])
		to->last_ns[at] = from->last_ns[from_at];
}

void extremes_clear(struct extremes *e, size_t at)
{
	e->max_bytes[at] = 0;
	e->first_ns[at] = UINT64_MAX;
	e->last_ns[at] = 0;
}

bool grow(void **data, size_t count, size_t elem_bytes)
{
	void *more = mem_realloc_array(*data, count, elem_bytes);
	if (more)
		*data = more;
	return more;
}

bool extremes_grow(struct extremes *e, size_t count)
{
	return grow((void **)&e->max_bytes, count, sizeof *e->max_bytes) &&
	       grow((void **)&e->first_ns, count, sizeof *e->first_ns) &&
	       grow((void **)&e->last_ns, count, sizeof *e->last_ns);
}

void extremes_release(struct extremes *e)
{
	mem_free(e->max_bytes);
	mem_free(e->first_ns);
	mem_free(e->last_ns);
	*e = (struct extremes){.max_bytes = NULL};
}

bool extremes_init(struct extremes *e, size_t count)
{
	bool is_good = extremes_grow(e, count);
	for (size_t i = 0; is_good && i < count; i++)
		extremes_clear(e, i);
	return is_good;
}

void extremes_of_cell(struct extremes *e, const struct cells *c, size_t i, size_t at)
{
	int64_t size = cell_size(c, i);
	uint64_t born = born_ns(c, i);
	if (e->max_bytes[at] < size)
		e->max_bytes[at] = size;
	if (e->first_ns[at] > born)
		e->first_ns[at] = born;
	if (e->last_ns[at] < born)
		e->last_ns[at] = born;
}

static bool find_extremes(struct exec *x, size_t side)
{
	const struct cells *c = &x->cells[side][MEASURE_MAIN];
	struct extremes *e = &x->extremes[side];
	size_t count = x->space.vnode_count[side];
	if (x->space.kind == SPACE_FRAMES)
		return frames_find_extremes(x, side);
	if (!extremes_init(e, count))
		return false;
	for (size_t i = 0; i < c->count; i++)
		extremes_of_cell(e, c, i, x->place[side][MEASURE_MAIN][i]);
	if (x->space.kind == SPACE_FLAT)
		return true;
	const uint32_t *parent = x->space.tree->parent;
	for (size_t v = count; v-- > 1;)
		extremes_widen(e, parent[v], e, v);
	return true;
}

/* ---- building and reading ----------------------------------------------------------------------- */

enum neap_err sums_build(struct exec *x)
{
	const struct plan *pl = x->pl;
	bool is_lazy = x->space.kind == SPACE_INVERTED, is_placed = space_is_placed(&x->space);
	bool is_good = is_lazy || is_placed || exec_each_measure(x, sum_side);
	for (size_t side = 0; is_good && side < pl->side_count; side++) {
		if (is_good && (is_placed || x->space.kind == SPACE_FRAMES))
			is_good = number_places(x, side) && make_prefix(x, side);
		if (is_good && x->space.kind == SPACE_FRAMES)
			is_good = frames_sum(x, side);
		if (is_good && pl->needs_extremes && !is_lazy)
			is_good = find_extremes(x, side);
		if (is_good && pl->needs_quantiles)
			is_good = lifetimes_order(x, side);
	}
	return is_good ? NEAP_OK : exec_no_memory(x);
}

void sums_release(struct exec *x)
{
	for (size_t side = 0; side < 2; side++) {
		struct extremes *e = &x->extremes[side];
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			mem_free(x->sums[side][m].self);
			mem_free(x->sums[side][m].total);
			x->sums[side][m] = (struct sums){.self = NULL};
		}
		extremes_release(e);
		mem_free(x->prefix[side].sums);
		x->prefix[side] = (struct prefix){.width = 0};
		mem_free(x->places[side]);
		x->places[side] = NULL;
		lifetimes_release(x, side);
	}
}

static const struct values no_values = {
	.side = {{.first_ns = UINT64_MAX}, {.first_ns = UINT64_MAX}}};

void values_of_cells(const struct exec *x, struct values *out)
{
	*out = no_values;
	for (size_t side = 0; side < x->pl->side_count; side++) {
		struct side_values *v = &out->side[side];
		struct extremes e = {&v->max_bytes, &v->first_ns, &v->last_ns};
		const struct cells *main_cells = &x->cells[side][MEASURE_MAIN];
		for (size_t m = 0; m < MEASURE_COUNT; m++)
			v->self[m] = v->total[m] = cells_sum(&x->cells[side][m]);
		for (size_t i = 0; x->pl->needs_extremes && i < main_cells->count; i++)
			extremes_of_cell(&e, main_cells, i, 0);
	}
}

struct graph_sum self_of_group(const struct exec *x, size_t side, enum measure m, uint32_t group)
{
	if (!space_is_placed(&x->space))
		return x->sums[side][m].self[group];
	const struct places *places = x->places[side];
	uint32_t place = places_before(places, group);
	return prefix_between(&x->prefix[side], m, place, place + places_has(places, group));
}

struct graph_sum total_of_group(const struct exec *x, size_t side, enum measure m, uint32_t group)
{
	if (!space_is_placed(&x->space))
		return x->sums[side][m].total[group];
	const struct places *places = x->places[side];
	uint32_t end = space_end_of(&x->space, side, group);
	return prefix_between(&x->prefix[side], m, places_before(places, group),
			      places_before(places, end));
}

void values_of_group(const struct exec *x, uint32_t group, struct values *out)
{
	*out = no_values;
	for (size_t side = 0; side < x->pl->side_count; side++) {
		struct side_values *v = &out->side[side];
		const struct extremes *e = &x->extremes[side];
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			if (!x->pl->needs_measure[m])
				continue;
			v->self[m] = self_of_group(x, side, (enum measure)m, group);
			v->total[m] = total_of_group(x, side, (enum measure)m, group);
		}
		struct extremes to = {&v->max_bytes, &v->first_ns, &v->last_ns};
		if (e->max_bytes)
			extremes_widen(&to, 0, e, group);
	}
}

static void add_values(const struct exec *x, const struct values *one, struct values *out)
{
	for (size_t side = 0; side < x->pl->side_count; side++) {
		struct side_values *to = &out->side[side];
		const struct side_values *from = &one->side[side];
		for (size_t m = 0; m < MEASURE_COUNT; m++) {
			sum_add(&to->self[m], &from->self[m]);
			sum_add(&to->total[m], &from->total[m]);
		}
		if (to->max_bytes < from->max_bytes)
			to->max_bytes = from->max_bytes;
		if (to->first_ns > from->first_ns)
			to->first_ns = from->first_ns;
		if (to->last_ns < from->last_ns)
			to->last_ns = from->last_ns;
	}
}

enum neap_err values_of_sets(struct exec *x, const uint32_t *set_of_group, size_t set_count,
			     struct values *out)
{
	bool is_nested = x->space.kind == SPACE_FRAMES;
	for (size_t i = 0; i < set_count; i++)
		out[i] = no_values;
	for (uint32_t g = 0; g < x->space.group_count; g++) {
		struct values one;
		if (set_of_group[g] == GROUP_NONE)
			continue;
		values_of_group(x, g, &one);
		add_values(x, &one, &out[set_of_group[g]]);
	}
	for (size_t side = 0; is_nested && side < x->pl->side_count; side++) {
		for (size_t i = 0; i < set_count; i++)
			memset(out[i].side[side].total, 0, sizeof out[i].side[side].total);
		if (!frames_sum_sets(x, side, set_of_group, set_count, out))
			return exec_no_memory(x);
	}
	return NEAP_OK;
}

uint32_t *set_of_groups(const struct exec *x, const uint32_t *groups, size_t count)
{
	uint32_t *set_of = mem_array(x->space.group_count, sizeof *set_of);
	if (!set_of)
		return NULL;
	memset(set_of, 0xff, x->space.group_count * sizeof *set_of);
	for (size_t i = 0; i < count; i++)
		set_of[groups[i]] = 0;
	return set_of;
}

enum neap_err values_of_set(struct exec *x, const uint32_t *groups, size_t count,
			    struct values *out)
{
	struct values one;
	*out = no_values;
	for (size_t i = 0; i < count; i++) {
		values_of_group(x, groups[i], &one);
		add_values(x, &one, out);
	}
	if (x->space.kind != SPACE_FRAMES)
		return NEAP_OK;
	uint32_t *set_of = set_of_groups(x, groups, count);
	bool is_good = set_of;
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		memset(out->side[side].total, 0, sizeof out->side[side].total);
		is_good = frames_sum_sets(x, side, set_of, 1, out);
	}
	mem_free(set_of);
	return is_good ? NEAP_OK : exec_no_memory(x);
}
