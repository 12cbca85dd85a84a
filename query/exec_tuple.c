/*
 * Groups by keys of allocations, alone or with keys of frames (then of the leaf) or the stack.
 *
 * Each cell is in one group: its values of the keys, as numbers, are the group's name.  Keys
 * of frames count as one value, the group of the leaf.  Without keys there is one group.
 */
#include "config.h"

#include "query/exec.h"

#include <string.h>

#define UNKNOWN UINT64_MAX

struct tuples {
	struct exec *x;
	size_t width;      /* values of a tuple: the keys, and the group of the leaf */
	size_t frame_at;   /* index of the latter; SIZE_MAX: none */
	struct map single; /* value -> group, if width is 1 */
	size_t count, cap;
	struct group *groups;
	uint64_t *tuple, *shown; /* [width]: what makes groups equal, and what they are called by */
};

/* ---- values --------------------------------------------------------------------------- */

static uint64_t decade(uint64_t value)
{
	uint64_t step = 1;
	while (step <= value / 10)
		step *= 10;
	uint64_t lead = value / step; /* 0 .. 9 */
	return lead >= 5 ? 5 * step : lead >= 2 ? 2 * step : lead * step;
}

uint64_t key_slice(const struct plan_key *k, uint64_t value)
{
	switch (k->bucket_kind) {
	case BUCKET_EVEN:
		return k->bucket > 0 ? value - value % (uint64_t)k->bucket : value;
	case BUCKET_POWERS:
		return value ? UINT64_C(1) << (63 - __builtin_clzll(value)) : 0;
	case BUCKET_DECADES:
		return decade(value);
	case BUCKET_NONE:
		break;
	}
	return value;
}

static bool thread_value(struct tuples *t, const struct cells *c, size_t i, size_t k)
{
	thread_id id = c->file->p->cohort_thread[c->cohort[i]];
	t->tuple[k] = t->shown[k] = id ? id : UNKNOWN;
	if (!id || !t->x->pl->is_two_files)
		return true;
	const char *name = file_thread_name(c->file, id);
	uint32_t text = name ? strtab_add(&t->x->names, name, strlen(name)) : UINT32_MAX;
	t->tuple[k] = text;
	return text != UINT32_MAX;
}

static bool type_value(struct tuples *t, const struct cells *c, size_t i, size_t k)
{
	const struct graph_types *types = file_types(t->x->pl->session, c->file);
	uint32_t type = types ? types->of_site[c->file->p->cohort_site[c->cohort[i]] - 1] : 0;
	t->tuple[k] = t->shown[k] = type ? type : UNKNOWN;
	if (!type || !t->x->pl->is_two_files)
		return types;
	const char *name = strtab_get(&types->names, type - 1);
	uint32_t text = strtab_add(&t->x->names, name, strlen(name));
	t->tuple[k] = text;
	return text != UINT32_MAX;
}

static bool key_value(struct tuples *t, const struct cells *c, size_t side, size_t i, size_t k)
{
	const struct plan_key *key = &t->x->pl->keys[k];
	const struct profile *p = c->file->p;
	int64_t value = 0;
	bool is_known = true;
	if (key->kind == KEY_STACK) {
		uint32_t leaf =
			t->x->stacks[side]->leaf[c->file->columns.cohort_node[c->cohort[i]]];
		value = t->x->stack_tree.place[side][leaf];
	} else if (key->kind == KEY_TIME) {
		value = (int64_t)key_slice(key, cell_time(c, i));
	} else if (!known_has_field(t->x->pl, key->field)) {
		is_known = false;
	} else if (key->field == FIELD_THREAD) {
		return thread_value(t, c, i, k);
	} else if (key->field == FIELD_TYPE) {
		return type_value(t, c, i, k);
	} else if (key->field == FIELD_API) {
		value = p->sites[p->cohort_site[c->cohort[i]] - 1].api;
		is_known = value != API_UNKNOWN;
	} else if (key->is_frame) {
		value = 0; /* see frame_at */
	} else {
		is_known = cell_field(c, i, key->field, &value);
		value = value < 0 ? 0 : (int64_t)key_slice(key, (uint64_t)value);
	}
	t->tuple[k] = t->shown[k] = is_known ? (uint64_t)value : UNKNOWN;
	return true;
}

/* ---- groups ------------------------------------------------------------------------------ */

static uint32_t find_group(struct tuples *t)
{
	if (t->width != 1)
		return strtab_add(&t->x->tuples, (const char *)t->tuple,
				  t->width * sizeof *t->tuple);
	uint32_t group = map_find(&t->single, t->tuple[0]);
	if (group != MAP_ABSENT)
		return group;
	group = (uint32_t)t->count;
	return map_put(&t->single, t->tuple[0], group) ? group : UINT32_MAX;
}

static uint32_t group_of(struct tuples *t, size_t side)
{
	uint32_t group = find_group(t);
	if (group == UINT32_MAX || group < t->count)
		return group;
	struct group g = {.value_side = (uint8_t)side, .entry = ENTRY_NONE};
	uint64_t *values = arena_alloc(&t->x->pl->arena, t->width * sizeof *values + 1);
	if (!values || !vec_reserve((void **)&t->groups, &t->cap, t->count + 1, sizeof *t->groups))
		return UINT32_MAX;
	memcpy(values, t->shown, t->width * sizeof *values);
	g.values = values;
	if (t->frame_at != SIZE_MAX) {
		uint64_t frame = t->tuple[t->frame_at];
		g.entry = t->x->frames.groups[frame].entry;
		g.side = t->x->frames.groups[frame].side;
	}
	t->groups[t->count++] = g;
	return group;
}

static bool place_cell(struct tuples *t, size_t side, size_t m, size_t i)
{
	struct exec *x = t->x;
	const struct cells *c = &x->cells[side][m];
	const struct stacks *s = x->stacks[side];
	for (size_t k = 0; k < x->pl->key_count; k++) {
		if (!key_value(t, c, side, i, k))
			return false;
	}
	if (t->frame_at != SIZE_MAX) {
		uint32_t leaf = s->leaf[c->file->columns.cohort_node[c->cohort[i]]];
		t->tuple[t->frame_at] = x->frames.group[side][s->entry[leaf]];
	}
	uint32_t group = group_of(t, side);
	x->place[side][m][i] = x->self[side][m][i] = group;
	return group != UINT32_MAX;
}

static bool place_all(struct tuples *t)
{
	struct exec *x = t->x;
	bool is_good = true;
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		for (size_t m = 0; is_good && m < MEASURE_COUNT; m++) {
			for (size_t i = 0; is_good && i < x->cells[side][m].count; i++)
				is_good = place_cell(t, side, m, i);
		}
	}
	return is_good;
}

/* What the keys need: the groups of frames, the tree of stacks. */
static enum neap_err prepare(struct tuples *t)
{
	struct exec *x = t->x;
	const struct plan *pl = x->pl;
	bool has_frame = false, has_stack = false;
	enum neap_err code = NEAP_OK;
	for (size_t k = 0; k < pl->key_count; k++) {
		has_frame = has_frame || pl->keys[k].is_frame;
		has_stack = has_stack || pl->keys[k].kind == KEY_STACK;
	}
	t->width = pl->key_count + has_frame;
	t->frame_at = has_frame ? pl->key_count : SIZE_MAX;
	if (has_frame)
		code = frame_groups_build(x, pl->keys, pl->key_count, &x->frames);
	if (!code && has_stack)
		code = stack_groups_build(x);
	if (!code && has_stack)
		code = tree_build(x, &x->stack_frames, &x->stack_tree);
	t->tuple = mem_zarray(t->width + 1, sizeof *t->tuple);
	t->shown = mem_zarray(t->width + 1, sizeof *t->shown);
	return code || (t->tuple && t->shown) ? code : exec_no_memory(x);
}

static void use_groups(struct exec *x, struct group *groups, size_t count)
{
	struct space *sp = &x->space;
	sp->kind = SPACE_FLAT;
	sp->groups = groups;
	sp->group_count = sp->vnode_count[0] = sp->vnode_count[1] = count;
}

enum neap_err space_build_tuples(struct exec *x)
{
	struct tuples t = {.x = x};
	enum neap_err code = prepare(&t);
	if (!code && !place_all(&t))
		code = exec_no_memory(x);
	use_groups(x, t.groups, t.count);
	map_release(&t.single);
	mem_free(t.tuple);
	mem_free(t.shown);
	return code;
}

/* ---- peek ---------------------------------------------------------------------------------- */

/*
 * Each cell is in up to three rows: the frame that fits, its caller, and what it calls on the
 * way to the leaf.  The cells are first placed on the frame, so that sums of everything count
 * them once; peek_expand adds the other two when these are done.
 */
enum peek_role {
	PEEK_CALLER,
	PEEK_FRAME,
	PEEK_CALLEE
};

/* `self` keeps where the cell begins until peek_expand. */
static void place_frame_row(struct exec *x, size_t side, size_t m)
{
	const struct stacks *s = x->stacks[side];
	uint32_t *place = x->place[side][m];
	size_t base = PEEK_FRAME * x->frames.count;
	for (size_t i = 0; i < x->cells[side][m].count; i++) {
		x->self[side][m][i] = place[i];
		entry_id entry = s->entry[x->match[side][place[i]]];
		place[i] = (uint32_t)base + x->frames.group[side][entry];
	}
}

enum neap_err space_build_peek(struct exec *x)
{
	const struct plan *pl = x->pl;
	enum neap_err code = frame_groups_build(x, pl->keys, pl->key_count, &x->frames);
	size_t count = x->frames.count;
	if (code)
		return code;
	struct group *groups = mem_array(3 * count, sizeof *groups);
	uint64_t *roles = arena_array(&x->pl->arena, 3 * (pl->key_count + 1), sizeof *roles);
	if (!groups || !roles || 3 * count >= VNODE_NONE) {
		mem_free(groups);
		return exec_no_memory(x);
	}
	for (size_t role = 0; role < 3; role++) {
		uint64_t *values = roles + role * (pl->key_count + 1);
		values[0] = role; /* the first key is the role */
		for (size_t i = 0; i < count; i++) {
			groups[role * count + i] = x->frames.groups[i];
			groups[role * count + i].values = values;
		}
	}
	use_groups(x, groups, 3 * count);
	for (size_t side = 0; side < pl->side_count; side++) {
		for (size_t m = 0; m < MEASURE_COUNT; m++)
			place_frame_row(x, side, m);
	}
	return NEAP_OK;
}

static uint32_t peek_row(const struct exec *x, size_t side, enum peek_role role, uint32_t v)
{
	entry_id entry = x->stacks[side]->entry[v];
	return (uint32_t)(role * x->frames.count) + x->frames.group[side][entry];
}

/* Another row for cell i, as a cell of its own. */
static void add_copy(struct exec *x, size_t side, size_t m, size_t i, uint32_t row)
{
	struct cells *c = &x->cells[side][m];
	size_t at = c->count++;
	c->cohort[at] = c->cohort[i];
	c->value[at] = c->value[i];
	c->inner[at] = c->inner[i];
	c->leaf[at] = c->leaf[i];
	if (c->death)
		c->death[at] = c->death[i];
	x->place[side][m][at] = row;
	x->self[side][m][at] = GROUP_NONE;
}

static bool grow_cells(struct exec *x, size_t side, size_t m, size_t count)
{
	struct cells *c = &x->cells[side][m];
	return grow((void **)&c->cohort, count, sizeof *c->cohort) &&
	       grow((void **)&c->value, count, sizeof *c->value) &&
	       grow((void **)&c->inner, count, sizeof *c->inner) &&
	       grow((void **)&c->leaf, count, sizeof *c->leaf) &&
	       (!c->death || grow((void **)&c->death, count, sizeof *c->death)) &&
	       grow((void **)&x->place[side][m], count, sizeof(uint32_t)) &&
	       grow((void **)&x->self[side][m], count, sizeof(uint32_t));
}

static bool expand(struct exec *x, size_t side, size_t m)
{
	const struct stacks *s = x->stacks[side];
	size_t count = x->cells[side][m].count;
	if (!count)
		return true;
	if (!grow_cells(x, side, m, 3 * count))
		return false;
	for (size_t i = 0; i < count; i++) {
		uint32_t v = x->self[side][m][i], at = x->match[side][v];
		x->self[side][m][i] = v == at ? x->place[side][m][i] : GROUP_NONE;
		if (s->parent[at] != VNODE_ROOT)
			add_copy(x, side, m, i, peek_row(x, side, PEEK_CALLER, s->parent[at]));
		if (v == at)
			continue;
		while (s->parent[v] != at)
			v = s->parent[v];
		add_copy(x, side, m, i, peek_row(x, side, PEEK_CALLEE, v));
	}
	return true;
}

enum neap_err peek_expand(struct exec *x)
{
	bool is_good = true;
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		for (size_t m = 0; is_good && m < MEASURE_COUNT; m++)
			is_good = expand(x, side, m);
	}
	return is_good ? NEAP_OK : exec_no_memory(x);
}
