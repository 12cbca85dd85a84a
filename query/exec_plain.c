/*
 * Large trees in the usual order: by total, then by key, and no stage on rows.
 *
 * Such a tree can have as many rows as the profile has nodes, so nothing is allocated, looked up
 * or compared per row that can be done once per group: names of groups, and their order, which is
 * asked for only where totals are equal.
 */
#include "config.h"

#include "query/exec.h"

#include <stdlib.h>
#include <string.h>

struct open_row {
	uint32_t v, depth, parent;
	uint32_t place, end; /* of side 0: the places at and below v */
	int64_t total_bytes;
};

struct plain {
	struct exec *x;
	bool by_total; /* else by key alone */
	uint32_t depth_most;

	size_t key_columns;
	struct result_cell *names; /* [group * key_columns]: cells of the columns that are keys */
	uint8_t *has_names;        /* by group */
	uint32_t *rank;            /* by group: order of the keys; NULL: not needed yet */

	struct open_row *open; /* rows that are still to be shown, the next one last */
	size_t open_count, open_cap;

	struct result_flat *flat; /* NULL: rows are laid out */
};

bool tree_is_plain(const struct exec *x)
{
	const struct plan *pl = x->pl;
	return x->space.kind == SPACE_TREE && !pl->needs_quantiles &&
	       (!pl->row_stages.count || x->has_cut_stacks);
}

/* row_has_values, for most trees without a call.  Fills what the row's total is. */
static inline bool has_values(const struct plain *t, const struct open_row *above,
			      struct open_row *row)
{
	const struct exec *x = t->x;
	if (x->pl->side_count == 1 && row->place == row->end)
		return false;
	if (x->pl->side_count == 1 && above->v != VNODE_ROOT && row->place == above->place &&
	    row->end == above->end) { /* all that is there: long chains of calls are common */
		row->total_bytes = above->total_bytes;
		return true;
	}
	struct graph_sum total = prefix_between(&x->prefix[0], MEASURE_MAIN, row->place, row->end);
	bool has = x->pl->side_count == 1 && (total.blocks || total.bytes);
	row->total_bytes = total.bytes;
	if (x->pl->side_count == 2) {
		struct graph_sum later = total_of_group(x, 1, MEASURE_MAIN, row->v);
		sum_take(&later, &total);
		row->total_bytes = later.bytes;
	}
	return has || row_has_values(x, row->v);
}

/* ---- order --------------------------------------------------------------------------- */

struct ranking {
	const struct plan *pl;
	const struct result_cell *cells; /* [group * key_count] */
};

/* As exec_rows.c compares keys: unknown ones are the smallest. */
static int compare_groups(const void *a_group, const void *b_group, void *arg)
{
	const struct ranking *r = arg;
	size_t width = r->pl->key_count;
	const struct result_cell *a = r->cells + *(const uint32_t *)a_group * width;
	const struct result_cell *b = r->cells + *(const uint32_t *)b_group * width;
	for (size_t k = 0; k < width; k++) {
		int order = 0;
		if (a[k].is_unknown || b[k].is_unknown)
			order = (int)b[k].is_unknown - (int)a[k].is_unknown;
		else if (r->pl->keys[k].type == RESULT_TEXT)
			order = strcmp(a[k].text, b[k].text);
		else
			order = (a[k].value > b[k].value) - (a[k].value < b[k].value);
		if (order)
			return order;
	}
	return 0;
}

static bool fill_ranks(struct plain *t, struct ranking *r, uint32_t *order, uint32_t *rank)
{
	struct exec *x = t->x;
	const struct frame_groups *fg = x->space.tree_groups;
	struct result_cell *cells = mem_array(fg->count * x->pl->key_count, sizeof *cells);
	if (!cells)
		return false;
	for (size_t g = 0; g < fg->count; g++) {
		order[g] = (uint32_t)g;
		for (size_t k = 0; k < x->pl->key_count; k++)
			cells[g * x->pl->key_count + k] = group_key(x, &fg->groups[g], k);
	}
	r->cells = cells;
	if (!x->has_no_memory)
		qsort_r(order, fg->count, sizeof *order, compare_groups, r);
	for (size_t i = 0; i < fg->count; i++) {
		bool is_same = i && !compare_groups(&order[i - 1], &order[i], r);
		rank[order[i]] = is_same ? rank[order[i - 1]] : (uint32_t)i;
	}
	mem_free(cells);
	return !x->has_no_memory;
}

/* Equal keys have equal ranks.  Of one file they are the same for every query: the granule keeps them. */
static bool need_ranks(struct plain *t)
{
	struct exec *x = t->x;
	struct granule *gr = x->space.tree_groups->granule;
	size_t count = x->space.tree_groups->count;
	if (gr && gr->rank) {
		t->rank = gr->rank;
		return true;
	}
	struct ranking r = {.pl = x->pl};
	uint32_t *order = mem_array(count, sizeof *order);
	uint32_t *rank = mem_array(count, sizeof *rank);
	bool is_good = order && rank && fill_ranks(t, &r, order, rank);
	mem_free(order);
	if (!is_good) {
		mem_free(rank);
		return false;
	}
	t->rank = rank;
	if (gr)
		gr->rank = rank;
	return true;
}

/* The order in which they are shown. */
static int compare_open(const void *a_row, const void *b_row, void *arg)
{
	const struct plain *t = arg;
	const struct open_row *a = a_row, *b = b_row;
	if (t->by_total && a->total_bytes != b->total_bytes)
		return a->total_bytes > b->total_bytes ? -1 : 1;
	if (t->rank) {
		const uint32_t *group = t->x->space.tree->entry;
		uint32_t x = t->rank[group[a->v]], y = t->rank[group[b->v]];
		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a->v > b->v) - (a->v < b->v);
}

static int compare_later_first(const void *a, const void *b, void *arg)
{
	return compare_open(b, a, arg);
}

/* Are the totals of neighbours in order equal anywhere?  Then names decide. */
static bool has_equals(const struct open_row *rows, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (rows[i - 1].total_bytes == rows[i].total_bytes)
			return true;
	}
	return false;
}

#define INSERTED_MOST 12u

static void sort_open(struct plain *t, struct open_row *rows, size_t count)
{
	if (count > INSERTED_MOST) {
		qsort_r(rows, count, sizeof *rows, compare_later_first, t);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct open_row moved = rows[i];
		size_t at = i;
		for (; at && compare_later_first(&rows[at - 1], &moved, t) > 0; at--)
			rows[at] = rows[at - 1];
		rows[at] = moved;
	}
}

static bool order_open(struct plain *t, struct open_row *rows, size_t count)
{
	if (count < 2)
		return true;
	sort_open(t, rows, count);
	if (t->rank || (t->by_total && !has_equals(rows, count)))
		return true;
	if (!need_ranks(t))
		return false;
	sort_open(t, rows, count);
	return true;
}

/* ---- rows ----------------------------------------------------------------------------- */

static void make_names(struct plain *t, uint32_t group)
{
	struct exec *x = t->x;
	const struct group *g = &x->space.tree_groups->groups[group];
	struct result_cell *to = t->names + group * t->key_columns;
	for (size_t i = 0; i < x->pl->column_count; i++) {
		if (x->pl->columns[i].is_key)
			*to++ = group_key(x, g, x->pl->columns[i].key);
	}
	t->has_names[group] = 1;
}

static void fill_cells(struct plain *t, uint32_t v, struct result_cell *cells)
{
	struct exec *x = t->x;
	const struct plan *pl = x->pl;
	uint32_t group = x->space.tree->entry[v];
	struct values values;
	bool has_values = false;
	if (!t->has_names[group])
		make_names(t, group);
	const struct result_cell *name = t->names + group * t->key_columns;
	for (size_t i = 0; i < pl->column_count; i++) {
		const struct plan_column *c = &pl->columns[i];
		if (c->is_key) {
			cells[i] = *name++;
			continue;
		}
		struct graph_sum self = self_of_group(x, 0, MEASURE_MAIN, v),
				 total = total_of_group(x, 0, MEASURE_MAIN, v);
		if (pl->side_count == 1 &&
		    flat_value(&self, &total, x->base_bytes, c->column, &cells[i]))
			continue;
		if (!has_values)
			values_of_group(x, v, &values);
		has_values = true;
		cells[i] = column_cell(x, &values, c->column);
	}
}

static bool show_flat(struct plain *t, struct gathered *to, const struct open_row *row)
{
	struct result_flat *flat = t->flat;
	uint32_t group = t->x->space.tree->entry[row->v];
	if (!vec_reserve((void **)&flat->rows, &flat->row_cap, to->row_count + 1,
			 sizeof *flat->rows))
		return false;
	if (!t->has_names[group])
		make_names(t, group);
	flat->rows[to->row_count++] = (struct flat_row){
		.place = row->place,
		.end = row->end,
		.depth = row->depth & INT32_MAX,
		.is_own = places_has(t->x->places[0], row->v),
		.group = group,
		.parent = row->parent,
	};
	return true;
}

static bool show(struct plain *t, struct gathered *to, const struct open_row *row)
{
	struct exec *x = t->x;
	size_t width = x->pl->column_count, at = to->row_count * width;
	if (t->flat)
		return show_flat(t, to, row);
	if (!vec_reserve((void **)&to->rows, &to->row_cap, to->row_count + 1, sizeof *to->rows) ||
	    !vec_reserve((void **)&to->cells, &to->cell_cap, at + width, sizeof *to->cells))
		return false;
	fill_cells(t, row->v, to->cells + at);
	if (x->row_of)
		x->row_of[row->v] = (uint32_t)to->row_count;
	struct result_row *r = &to->rows[to->row_count++];
	*r = (struct result_row){.kind = ROW_PLAIN, .depth = row->depth, .parent = row->parent};
	uint32_t group = x->space.tree->entry[row->v];
	if (!x->pl->is_two_files && x->first_entries[group] != ENTRY_NONE) {
		r->frames = &x->first_entries[group];
		r->frame_count = 1;
	}
	return true;
}

/* Children go on the stack in reverse: they come off in order. */
static bool open_children(struct plain *t, const struct open_row *row, uint32_t row_idx)
{
	const uint32_t *end = t->x->space.tree->end;
	const struct places *places = t->x->places[0];
	size_t first = t->open_count;
	struct open_row child = {.depth = row->v == VNODE_ROOT ? 0 : row->depth + 1,
				 .parent = row_idx,
				 .end = row->place + places_has(places, row->v)};
	if (child.depth >= t->depth_most)
		return true;
	for (uint32_t c = row->v + 1; c < end[row->v]; c = end[c]) {
		child.v = c;
		child.place = child.end; /* of the one before */
		child.end = places_before(places, end[c]);
		if (!has_values(t, row, &child))
			continue;
		if (!vec_reserve((void **)&t->open, &t->open_cap, t->open_count + 1,
				 sizeof *t->open))
			return false;
		t->open[t->open_count++] = child;
	}
	size_t count = t->open_count - first;
	return !count || order_open(t, t->open + first, count);
}

/* Room for all rows at once; a depth leaves most of them out. */
static bool reserve_rows(const struct plain *t, struct gathered *to)
{
	size_t count = 0, width = t->x->pl->column_count;
	if (t->depth_most < UINT32_MAX)
		return true;
	if (t->flat) /* room that is not used costs nothing */
		return vec_reserve((void **)&t->flat->rows, &t->flat->row_cap,
				   t->x->space.group_count, sizeof *t->flat->rows);
	for (uint32_t v = 1; v < t->x->space.group_count; v++)
		count += row_has_values(t->x, v);
	return vec_reserve((void **)&to->rows, &to->row_cap, to->row_count + count,
			   sizeof *to->rows) &&
	       vec_reserve((void **)&to->cells, &to->cell_cap, (to->row_count + count) * width,
			   sizeof *to->cells);
}

static bool plain_init(struct plain *t, struct exec *x, uint32_t depth_most)
{
	const struct plan *pl = x->pl;
	const struct frame_groups *fg = x->space.tree_groups;
	const struct plan_key *key = pl->key_count ? &pl->keys[0] : NULL;
	*t = (struct plain){.x = x, .depth_most = depth_most};
	t->by_total = !key || (key->type != RESULT_NS && key->bucket_kind == BUCKET_NONE);
	for (size_t i = 0; i < pl->column_count; i++)
		t->key_columns += pl->columns[i].is_key;
	t->names = mem_array(fg->count * t->key_columns, sizeof *t->names);
	t->has_names = mem_zarray(fg->count, 1);
	x->first_entries = arena_alloc(&x->out->arena, fg->count * sizeof *x->first_entries);
	if (!t->names || !t->has_names || !x->first_entries)
		return false;
	for (size_t i = 0; i < fg->count; i++)
		x->first_entries[i] = fg->groups[i].entry;
	return true;
}

/* ---- rows that are not laid out --------------------------------------------------------- */

/* Formats of other programs look at all rows at once. */
static bool is_read_by_rows(enum ast_format format)
{
	switch (format) {
	case FORMAT_SVG:
	case FORMAT_HTML:
	case FORMAT_DOT:
	case FORMAT_MASSIF:
	case FORMAT_PPROF:
	case FORMAT_CALLGRIND:
	case FORMAT_SPEEDSCOPE:
		return false;
	default:
		return true;
	}
}

/* Few rows, or columns that sums do not give, are laid out. */
static bool can_be_flat(const struct plain *t)
{
	const struct exec *x = t->x;
	const struct plan *pl = x->pl;
	static const struct graph_sum nothing;
	struct result_cell cell;
	bool can = t->depth_most == UINT32_MAX && pl->side_count == 1 && !x->has_cut_stacks &&
		   is_read_by_rows(pl->format);
	for (size_t i = 0; can && i < pl->column_count; i++)
		can = pl->columns[i].is_key ||
		      flat_value(&nothing, &nothing, 0, pl->columns[i].column, &cell);
	return can;
}

static bool flat_init(struct plain *t)
{
	struct exec *x = t->x;
	size_t bytes = x->pl->column_count * sizeof *x->pl->columns;
	struct plan_column *columns = arena_alloc(&x->out->arena, bytes);
	struct result_flat *flat = columns ? mem_zalloc(sizeof *flat) : NULL;
	if (!flat)
		return false;
	t->flat = flat;
	memcpy(columns, x->pl->columns, bytes);
	flat->columns = columns;
	flat->row_cells = arena_array(&x->out->arena, x->pl->column_count, sizeof *flat->row_cells);
	return flat->row_cells;
}

/* The rows are there: what they are made of goes over to the result. */
static void flat_take(struct plain *t)
{
	struct result_flat *flat = t->flat;
	flat->prefix = t->x->prefix[0];
	t->x->prefix[0].sums = NULL;
	flat->names = t->names;
	flat->name_count = t->key_columns;
	t->names = NULL;
	flat->first_entries = t->x->first_entries;
	flat->base_bytes = t->x->base_bytes;
}

enum neap_err gather_plain_tree(struct exec *x, struct gathered *to, uint32_t depth_most)
{
	struct plain t;
	struct open_row row = {.v = VNODE_ROOT, .parent = UINT32_MAX};
	bool is_good = plain_init(&t, x, depth_most);
	if (is_good && can_be_flat(&t))
		is_good = flat_init(&t);
	is_good = is_good && reserve_rows(&t, to) && open_children(&t, &row, UINT32_MAX);
	while (is_good && t.open_count) {
		row = t.open[--t.open_count];
		uint32_t row_idx = (uint32_t)to->row_count;
		is_good = show(&t, to, &row) && open_children(&t, &row, row_idx) &&
			  !exec_polls(x, row_idx);
	}
	if (is_good && t.flat)
		flat_take(&t);
	to->flat = t.flat;
	mem_free(t.names);
	mem_free(t.has_names);
	mem_free(t.open);
	if (t.rank && !x->space.tree_groups->granule)
		mem_free(t.rank);
	return is_good && !x->has_no_memory ? NEAP_OK : exec_no_memory(x);
}
