/*
 * Groups by keys of allocations, alone or with keys of frames (then of the leaf) or the stack.
 *
 * Each cell is in one group: its values of the keys, as numbers, are the group's name.  Keys
 * of frames count as one value, the group of the leaf.  Without keys there is one group.
 */
#include "config.h"

#include "query/exec.h"

#include "src/base/limits.h"

#include <string.h>

#define UNKNOWN UINT64_MAX

/*
 * Values are joined one by one: a number for those so far and the next value give the number of
 * both.  The last number is the group, so these are given from 0 on.  What depends on the site
 * alone comes first and is remembered by site.
 */
struct tuples {
	struct exec *x;
	size_t width;                  /* values of a tuple: the keys, and the group of the leaf */
	size_t frame_at;               /* index of the latter; SIZE_MAX: none */
	struct frame_groups *of_frame; /* by key: groups of entries, where it is of one frame */
	struct level {
		struct map joined; /* number so far and value -> number */
		struct map large;  /* values that do not fit into 31 bits -> their number */
	} * levels;                /* [width] */
	size_t join_count;         /* values that are joined: keys of frames are one, the leaf */
	size_t site_count;         /* of these, they depend on the site alone */
	uint32_t *of_site[2];      /* by site: number of its values, or NOT_MET, ... */
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
	thread_id id = profile_cohort_thread(c->file->p, c->cohort[i]);
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
	uint32_t type = types ? types->of_site[cell_site(c, i)] : 0;
	t->tuple[k] = t->shown[k] = type ? type : UNKNOWN;
	if (!type || !t->x->pl->is_two_files)
		return types;
	const char *name = strtab_get(&types->names, type - 1);
	uint32_t text = strtab_add(&t->x->names, name, strlen(name));
	t->tuple[k] = text;
	return text != UINT32_MAX;
}

/* The frame that a key is of; ENTRY_NONE: the stack has none there. */
static entry_id key_entry(const struct tuples *t, size_t side, size_t site, struct ast_quant of)
{
	const struct stacks *s = t->x->stacks[side];
	if (of.of == QUANT_LEAF)
		return space_leaf_entry(t->x, side, site);
	uint32_t v = stacks_up(s, s->leaf[site], of.up);
	while (of.of == QUANT_ROOT && v != VNODE_ROOT && s->parent[v] != VNODE_ROOT)
		v = s->parent[v];
	return s->entry[v];
}

/* Frames without a line, or an address, are shown as stacks without the frame: as one. */
static bool has_number(const struct query_file *f, entry_id entry, const struct plan_key *k)
{
	if (k->type == RESULT_TEXT)
		return true;
	struct graph_frame frame = graph_entry(f->g, entry);
	return k->field == FIELD_LINE ? frame.line : frame.frame;
}

static void frame_value(struct tuples *t, const struct cells *c, size_t side, size_t i, size_t k)
{
	const struct plan_key *key = &t->x->pl->keys[k];
	entry_id entry = key_entry(t, side, cell_site(c, i), key->frame);
	t->tuple[k] = t->shown[k] = UNKNOWN;
	if (entry == ENTRY_NONE || !has_number(c->file, entry, key))
		return;
	t->tuple[k] = t->of_frame[k].group[side][entry];
	t->shown[k] = entry;
}

static bool key_value(struct tuples *t, const struct cells *c, size_t side, size_t i, size_t k)
{
	const struct plan_key *key = &t->x->pl->keys[k];
	const struct profile *p = c->file->p;
	int64_t value = 0;
	bool is_known = true;
	if (key->frame.of != QUANT_DEFAULT) {
		frame_value(t, c, side, i, k);
		return true;
	}
	if (key->is_step) {
		value = 0; /* see exec_time.c */
	} else if (key->kind == KEY_STACK) {
		uint32_t leaf = t->x->stacks[side]->leaf[cell_site(c, i)];
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
		value = profile_site_api(p, cell_site(c, i));
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

/* Is the value the same for all blocks of a site?  Sizes are, unless it has blocks of many. */
static bool is_of_site(const struct tuples *t, size_t k)
{
	const struct plan_key *key = k < t->x->pl->key_count ? &t->x->pl->keys[k] : NULL;
	if (!key || key->is_frame || key->is_step || key->kind == KEY_STACK ||
	    key->frame.of != QUANT_DEFAULT)
		return true;
	return key->kind == KEY_FIELD && (key->field == FIELD_SIZE || key->field == FIELD_API);
}

static bool is_mixed(const struct cells *c, uint32_t site_idx)
{
	return profile_site_size_bytes(c->file->p, site_idx) == PROFILE_SIZE_MIXED;
}

static uint32_t number_of(struct map *m, uint64_t key)
{
	uint32_t number = map_find(m, key);
	if (number != MAP_ABSENT)
		return number;
	number = (uint32_t)m->count;
	return number < LIMIT_IDS && map_put(m, key, number) ? number : UINT32_MAX;
}

#define SMALL_END (UINT64_C(1) << 31)

/* Of sites that have no number: not met, met for the first time, or each of their cells has its own. */
#define NOT_MET    UINT32_MAX
#define MET        (UINT32_MAX - 1)
#define EACH_APART (UINT32_MAX - 2)

/* What the number so far and a value are known by; the first of several is known by itself. */
static bool join_key(struct tuples *t, size_t k, bool is_alone, uint32_t number, uint64_t *key_out)
{
	uint64_t value = t->tuple[k];
	if (value >= SMALL_END) {
		uint32_t large = number_of(&t->levels[k].large, value);
		if (large >= SMALL_END)
			return false;
		value = SMALL_END | large;
	}
	*key_out = is_alone ? value : (uint64_t)number << 32 | value;
	return true;
}

static bool value_at(struct tuples *t, const struct cells *c, size_t side, size_t i, size_t k)
{
	if (k != t->frame_at)
		return key_value(t, c, side, i, k);
	entry_id leaf = space_leaf_entry(t->x, side, cell_site(c, i));
	t->tuple[k] = t->shown[k] = t->x->frames.group[side][leaf];
	return true;
}

static bool is_joined(const struct tuples *t, size_t k)
{
	return k >= t->x->pl->key_count || !t->x->pl->keys[k].is_frame;
}

#define AHEAD 16u /* cells: what they are joined to is fetched before it is needed */

/* The cells whose values are joined, in order, and the number of each so far. */
struct joining {
	size_t side;
	const struct cells *of;
	const uint32_t *cells; /* NULL: all of them */
	uint32_t *numbers;
	size_t count;
};

static size_t cell_at(const struct joining *j, size_t at)
{
	return j->cells ? j->cells[at] : at;
}

/* One more value of each. */
static bool join_column(struct tuples *t, const struct joining *j, size_t k, bool is_first)
{
	const struct cells *c = j->of;
	struct map *joined = &t->levels[k].joined;
	uint64_t *keys = mem_array(j->count, sizeof *keys);
	bool is_alone = is_first && t->join_count > 1, is_good = keys;
	for (size_t i = 0; is_good && i < j->count; i++)
		is_good = value_at(t, c, j->side, cell_at(j, i), k) &&
			  join_key(t, k, is_alone, j->numbers[i], &keys[i]) && !exec_polls(t->x, i);
	for (size_t i = 0; is_good && i < j->count; i++) {
		if (!is_alone && i + AHEAD < j->count)
			map_fetch(joined, keys[i + AHEAD]);
		j->numbers[i] = is_alone ? (uint32_t)keys[i] : number_of(joined, keys[i]);
		is_good = j->numbers[i] != UINT32_MAX && !exec_polls(t->x, i);
	}
	mem_free(keys);
	return is_good;
}

/* Join the values that are of the site alone, or after them the others. */
static bool join_some(struct tuples *t, const struct joining *j, bool of_site)
{
	size_t before = of_site ? 0 : t->site_count;
	for (size_t k = 0; k < t->width; k++) {
		if (!is_joined(t, k) || is_of_site(t, k) != of_site)
			continue;
		if (!join_column(t, j, k, !before++))
			return false;
	}
	return true;
}

/* The frame of the first key that is a function's stands for the group, or of any that has one. */
static void name_by_key(const struct tuples *t, struct group *g)
{
	bool has_function = false;
	for (size_t k = 0; k < t->x->pl->key_count && !has_function; k++) {
		const struct plan_key *key = &t->x->pl->keys[k];
		if (key->frame.of == QUANT_DEFAULT || g->values[k] == UNKNOWN)
			continue;
		has_function = key->kind == KEY_FIELD && key->field == FIELD_FUNC;
		if (!has_function && g->entry != ENTRY_NONE)
			continue;
		g->entry = (entry_id)g->values[k];
		g->side = g->value_side;
	}
}

static bool add_group(struct tuples *t, size_t side, const struct cells *c, size_t i)
{
	struct group g = {.value_side = (uint8_t)side, .entry = ENTRY_NONE};
	uint64_t *values = arena_alloc(&t->x->pl->arena, t->width * sizeof *values + 1);
	bool is_good = values &&
		       vec_reserve((void **)&t->groups, &t->cap, t->count + 1, sizeof *t->groups);
	for (size_t k = 0; is_good && k < t->width; k++)
		is_good = value_at(t, c, side, i, k);
	if (!is_good)
		return false;
	memcpy(values, t->shown, t->width * sizeof *values);
	g.values = values;
	if (t->frame_at != SIZE_MAX) {
		uint64_t frame = t->tuple[t->frame_at];
		g.entry = t->x->frames.groups[frame].entry;
		g.side = t->x->frames.groups[frame].side;
	} else {
		name_by_key(t, &g);
	}
	t->groups[t->count++] = g;
	return true;
}

/* Cells of sites that were not met, one of each; all of sites with blocks of many sizes. */
static size_t list_new(struct tuples *t, size_t side, const struct cells *c, uint32_t *cells)
{
	size_t count = 0;
	for (size_t i = 0; i < c->count; i++) {
		uint32_t *known = &t->of_site[side][cell_site(c, i)];
		if (*known == NOT_MET)
			*known = is_mixed(c, (uint32_t)cell_site(c, i)) ? EACH_APART : MET;
		else if (*known != EACH_APART)
			continue;
		cells[count++] = (uint32_t)i;
	}
	return count;
}

/* The part of the numbers that the sites give. */
static bool number_sites(struct tuples *t, size_t side, const struct cells *c, uint32_t *numbers)
{
	uint32_t *of_site = t->of_site[side];
	uint32_t *cells = mem_array(c->count, sizeof *cells);
	struct joining j = {.side = side, .of = c, .cells = cells};
	j.numbers = mem_zarray(c->count, sizeof *j.numbers);
	bool is_good = cells && j.numbers;
	if (is_good) {
		j.count = list_new(t, side, c, cells);
		is_good = join_some(t, &j, true);
	}
	for (size_t i = 0, at = 0; is_good && i < c->count; i++) {
		uint32_t *known = &of_site[cell_site(c, i)];
		bool is_new = at < j.count && cells[at] == i;
		numbers[i] = is_new ? j.numbers[at++] : *known;
		if (is_new && *known == MET)
			*known = numbers[i];
	}
	mem_free(cells);
	mem_free(j.numbers);
	return is_good;
}

/* The group of each cell. */
static bool place_cells(struct tuples *t, size_t side, const struct cells *c, uint32_t *group_out)
{
	struct joining j = {.side = side, .of = c, .numbers = group_out, .count = c->count};
	if (j.count)
		memset(group_out, 0, j.count * sizeof *group_out);
	bool is_good =
		(!t->site_count || number_sites(t, side, c, group_out)) && join_some(t, &j, false);
	for (size_t i = 0; is_good && i < j.count; i++)
		is_good = group_out[i] < t->count || add_group(t, side, c, i);
	return is_good;
}

static bool place_measure(struct tuples *t, size_t side, size_t m)
{
	struct exec *x = t->x;
	const struct cells *c = &x->cells[side][m];
	bool is_good = place_cells(t, side, c, x->place[side][m]);
	if (is_good && c->count)
		memcpy(x->self[side][m], x->place[side][m], c->count * sizeof *x->self[side][m]);
	return is_good;
}

static bool place_all(struct tuples *t)
{
	struct exec *x = t->x;
	bool is_good = space_need_self(x);
	for (size_t side = 0; is_good && side < x->pl->side_count; side++) {
		for (size_t m = 0; is_good && m < MEASURE_COUNT; m++) {
			if (x->pl->needs_measure[m])
				is_good = place_measure(t, side, m);
		}
	}
	return is_good;
}

/* Groups of the frames that keys are of, each key for itself. */
static enum neap_err group_frames(struct tuples *t)
{
	const struct plan *pl = t->x->pl;
	enum neap_err code = NEAP_OK;
	t->of_frame = mem_zarray(pl->key_count, sizeof *t->of_frame);
	if (!t->of_frame)
		return exec_no_memory(t->x);
	for (size_t k = 0; !code && k < pl->key_count; k++) {
		struct plan_key key = pl->keys[k];
		key.is_frame = true;
		if (key.frame.of != QUANT_DEFAULT)
			code = frame_groups_build(t->x, &key, 1, &t->of_frame[k]);
	}
	return code;
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
	if (!code)
		code = group_frames(t);
	if (!code && has_stack)
		code = stack_groups_build(x);
	if (!code && has_stack)
		code = tree_build(x, &x->stack_frames, &x->stack_tree);
	t->tuple = mem_zarray(t->width + 1, sizeof *t->tuple);
	t->shown = mem_zarray(t->width + 1, sizeof *t->shown);
	t->levels = mem_zarray(t->width + 1, sizeof *t->levels);
	return code || (t->tuple && t->shown && t->levels) ? code : exec_no_memory(x);
}

static enum neap_err prepare_sites(struct tuples *t)
{
	struct exec *x = t->x;
	for (size_t k = 0; k < t->width; k++) {
		t->join_count += is_joined(t, k);
		t->site_count += is_joined(t, k) && is_of_site(t, k);
	}
	for (size_t side = 0; t->site_count && side < x->pl->side_count; side++) {
		size_t count = x->pl->sides[side].file->p->site_count;
		uint32_t *of_site = t->of_site[side] = mem_array(count, sizeof *of_site);
		if (!of_site)
			return exec_no_memory(x);
		memset(of_site, 0xff, count * sizeof *of_site);
	}
	return NEAP_OK;
}

void tuples_free(struct tuples *t)
{
	if (!t)
		return;
	for (size_t k = 0; t->levels && k < t->width; k++) {
		map_release(&t->levels[k].joined);
		map_release(&t->levels[k].large);
	}
	for (size_t k = 0; t->of_frame && k < t->x->pl->key_count; k++)
		frame_groups_release(&t->of_frame[k]);
	mem_free(t->of_frame);
	mem_free(t->levels);
	mem_free(t->of_site[0]);
	mem_free(t->of_site[1]);
	mem_free(t->tuple);
	mem_free(t->shown);
	mem_free(t);
}

/* The space takes the groups. */
static void use_groups(struct exec *x, struct group *groups, size_t count)
{
	struct space *sp = &x->space;
	sp->kind = SPACE_FLAT;
	sp->groups = groups;
	sp->group_count = sp->vnode_count[0] = sp->vnode_count[1] = count;
}

enum neap_err space_build_tuples(struct exec *x)
{
	struct tuples *t = x->tuples = mem_zalloc(sizeof *t);
	if (!t)
		return exec_no_memory(x);
	t->x = x;
	enum neap_err code = prepare(t);
	if (!code)
		code = prepare_sites(t);
	if (!code && !place_all(t))
		code = exec_no_memory(x);
	use_groups(x, t->groups, t->count);
	return code;
}

enum neap_err tuples_place(struct exec *x, size_t side, const struct cells *c, uint32_t *group_out)
{
	bool is_good = place_cells(x->tuples, side, c, group_out);
	use_groups(x, x->tuples->groups, x->tuples->count);
	return is_good ? NEAP_OK : exec_no_memory(x);
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
	if (!space_need_self(x))
		return exec_no_memory(x);
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
		if (v != at)
			add_copy(x, side, m, i, peek_row(x, side, PEEK_CALLEE, x->below[side][v]));
		if (exec_polls(x, i))
			return false;
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
