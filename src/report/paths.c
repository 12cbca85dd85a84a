/*
 * The sites of a population are gone through once; those that belong to a row are kept, and
 * added up by leaf node, which is a call path.  The paths of each row then stand together:
 *
 *   row 0             row 1      row 2
 *   | A B C D E F G | H I | ...
 *
 * Each step asks all paths of the row for their next caller, adds up by function, and
 * moves those of the heaviest function to the front; the others are out.
 */
#include "config.h"

#include "src/report/paths.h"

#include "src/base/mem.h"
#include "src/report/callers.h"

#include <string.h>

#define KEY_NO_CALLER UINT64_MAX
#define NO_ROW        UINT32_MAX

/* ---- places ------------------------------------------------------------------------- */

static uint32_t add_place(const struct graph *g, struct strtab *places, entry_id entry)
{
	struct graph_frame frame = graph_entry(g, entry);
	bool is_address = frame.kind == FRAME_ADDRESS;
	const uint64_t key[] = {frame.kind, frame.func ? frame.func : frame.module,
				is_address ? frame.pc : 0, frame.line ? frame.file : 0, frame.line};
	return strtab_add(places, (const char *)key, sizeof key);
}

static bool find_places(struct path_finder *f)
{
	struct strtab places = {0};
	bool is_good = true;
	for (entry_id entry = 0; is_good && entry < f->columns.entry_count; entry++) {
		f->place_of[entry] = add_place(f->g, &places, entry);
		is_good = f->place_of[entry] != UINT32_MAX;
	}
	f->place_count = places.count;
	strtab_release(&places);
	return is_good;
}

static void find_leaves(struct path_finder *f)
{
	const struct profile *p = graph_profile(f->g);
	for (size_t i = 0; i < p->site_count; i++) {
		struct site_leaf *leaf = &f->leaf_of_site[i];
		leaf->node = graph_leaf_node(f->g, profile_site_node(p, i));
		leaf->place = path_finder_place(f, graph_leaf_entry(f->g, leaf->node));
	}
}

/* What it works with. */
static bool make_room(struct path_finder *f)
{
	const struct profile *p = graph_profile(f->g);
	f->path_of_leaf = mem_zarray(p->node_count, sizeof *f->path_of_leaf);
	f->cohorts = mem_array(p->cohort_count, sizeof *f->cohorts);
	f->sites = mem_array(p->site_count, sizeof *f->sites);
	return f->path_of_leaf && f->cohorts && f->sites;
}

enum neap_err path_finder_init(struct path_finder *f, const struct graph *g, struct err *e)
{
	*f = (struct path_finder){.g = g, .columns = graph_columns(g)};
	f->place_of = mem_array(f->columns.entry_count, sizeof *f->place_of);
	f->leaf_of_site = mem_array(graph_profile(g)->site_count, sizeof *f->leaf_of_site);
	if (make_room(f) && f->place_of && f->leaf_of_site && find_places(f)) {
		find_leaves(f);
		return NEAP_OK;
	}
	path_finder_release(f);
	return err_nomem(e, "the call paths");
}

enum neap_err path_finder_borrow(struct path_finder *f, const struct path_finder *from,
				 struct err *e)
{
	*f = (struct path_finder){
		.g = from->g,
		.columns = from->columns,
		.is_borrower = true,
		.place_count = from->place_count,
		.place_of = from->place_of,
		.leaf_of_site = from->leaf_of_site,
	};
	if (make_room(f))
		return NEAP_OK;
	path_finder_release(f);
	return err_nomem(e, "the call paths");
}

void path_finder_release(struct path_finder *f)
{
	if (!f->is_borrower) {
		mem_free(f->place_of);
		mem_free(f->leaf_of_site);
	}
	mem_free(f->path_of_leaf);
	mem_free(f->cohorts);
	mem_free(f->sites);
	*f = (struct path_finder){.g = NULL};
}

/* Sums of the population by site, if they are not there from the table before. */
static void sum_sites(struct path_finder *f, enum graph_pop pop, struct graph_window window)
{
	if (f->has_sites && f->pop == pop && f->window.from == window.from &&
	    f->window.to == window.to)
		return;
	graph_pop_cohorts(f->g, pop, window, f->cohorts);
	graph_sum_sites(f->g, f->cohorts, f->sites);
	f->has_sites = true;
	f->pop = pop;
	f->window = window;
}

/* ---- gathering -------------------------------------------------------------------- */

struct path {
	node_id leaf;
	uint32_t row;
	uint32_t next; /* while gathering: another of this leaf + 1, of another row; 0 none */
	struct graph_sum sum;
	struct caller_walk walk;
	uint64_t caller;
};

struct site_of_path {
	node_id node, leaf;
	uint32_t row;
	struct graph_sum sum;
};

struct chooser {
	struct path_finder *f;
	enum row_key key;
	struct row *rows;
	size_t row_count;
	uint32_t *first_row; /* by place; NO_ROW: none */
	uint32_t *next_row;  /* by row: another of the same place; NO_ROW: none */
	struct site_of_path *sites;
	size_t site_count, site_cap;
	struct path *found; /* in the order of the file */
	size_t found_count, found_cap;
	struct path *paths; /* by row */
	size_t *first_path; /* [row_count + 1] */
	struct map callers; /* caller -> index in sums; also node -> index */
	struct graph_sum *sums;
	size_t sums_cap;
};

/* The rows of each place, the first one in front. */
static bool link_rows(struct chooser *c)
{
	size_t place_count = c->f->place_count;
	c->first_row = mem_array(place_count, sizeof *c->first_row);
	c->next_row = mem_array(c->row_count, sizeof *c->next_row);
	if (!c->first_row || !c->next_row)
		return false;
	memset(c->first_row, 0xff, place_count * sizeof *c->first_row);
	for (size_t i = c->row_count; i-- > 0;) {
		uint32_t *first = &c->first_row[path_finder_place(c->f, c->rows[i].entry)];
		c->rows[i].shares_place = *first != NO_ROW;
		if (*first != NO_ROW)
			c->rows[*first].shares_place = true;
		c->next_row[i] = *first;
		*first = (uint32_t)i;
	}
	return true;
}

static uint32_t row_of_site(const struct chooser *c, uint32_t place, enum profile_api api)
{
	uint32_t row = c->first_row[place];
	while (row != NO_ROW && c->rows[row].api != ROW_ANY_API && c->rows[row].api != (int)api)
		row = c->next_row[row];
	return row;
}

static void add(struct graph_sum *to, struct graph_sum sum)
{
	to->blocks += sum.blocks;
	to->bytes += sum.bytes;
}

static bool add_to_path(struct chooser *c, const struct site_of_path *s)
{
	uint32_t *first = &c->f->path_of_leaf[s->leaf];
	for (uint32_t at = *first; at; at = c->found[at - 1].next) {
		if (c->found[at - 1].row == s->row) {
			add(&c->found[at - 1].sum, s->sum);
			return true;
		}
	}
	if (!vec_reserve((void **)&c->found, &c->found_cap, c->found_count + 1, sizeof *c->found))
		return false;
	c->found[c->found_count++] =
		(struct path){.leaf = s->leaf, .row = s->row, .next = *first, .sum = s->sum};
	*first = (uint32_t)c->found_count;
	c->rows[s->row].path_count++;
	return true;
}

static bool keep_site(struct chooser *c, size_t site, uint32_t row, struct graph_sum sum)
{
	node_id node = profile_site_node(graph_profile(c->f->g), site);
	if (!vec_reserve((void **)&c->sites, &c->site_cap, c->site_count + 1, sizeof *c->sites))
		return false;
	struct site_of_path *s = &c->sites[c->site_count++];
	*s = (struct site_of_path){node, c->f->leaf_of_site[site].node, row, sum};
	return add_to_path(c, s);
}

static bool find_paths(struct chooser *c)
{
	const struct profile *p = graph_profile(c->f->g);
	for (size_t i = 0; i < p->site_count; i++) {
		struct graph_sum sum = c->f->sites[i];
		if (!sum.blocks && !sum.bytes)
			continue;
		uint32_t row = row_of_site(c, c->f->leaf_of_site[i].place, profile_site_api(p, i));
		if (row != NO_ROW && !keep_site(c, i, row, sum))
			return false;
	}
	return true;
}

/* The paths of each row next to each other, in the order of the file. */
static bool arrange_paths(struct chooser *c)
{
	c->first_path = mem_zarray(c->row_count + 1, sizeof *c->first_path);
	c->paths = mem_array(c->found_count, sizeof *c->paths);
	size_t *cursor = mem_array(c->row_count, sizeof *cursor);
	bool is_good = c->first_path && c->paths && cursor;
	for (size_t i = 0; is_good && i < c->row_count; i++) {
		cursor[i] = c->first_path[i];
		c->first_path[i + 1] = c->first_path[i] + c->rows[i].path_count;
	}
	for (size_t i = 0; is_good && i < c->found_count; i++) {
		struct path *p = &c->paths[cursor[c->found[i].row]++];
		struct caller leaf;
		*p = c->found[i];
		p->walk = caller_walk_init(c->f->g, p->leaf);
		caller_walk_next(&p->walk, &c->f->columns, &leaf);
	}
	mem_free(cursor);
	return is_good;
}

/* ---- choosing ----------------------------------------------------------------------- */

static bool add_to_key(struct chooser *c, uint64_t key, struct graph_sum sum)
{
	uint32_t at = map_find(&c->callers, key);
	if (at == MAP_ABSENT) {
		at = (uint32_t)c->callers.count;
		if (!vec_reserve((void **)&c->sums, &c->sums_cap, (size_t)at + 1,
				 sizeof *c->sums) ||
		    !map_put(&c->callers, key, at))
			return false;
		c->sums[at] = (struct graph_sum){0, 0};
	}
	add(&c->sums[at], sum);
	return true;
}

static struct graph_sum sum_of_key(const struct chooser *c, uint64_t key)
{
	return c->sums[map_find(&c->callers, key)];
}

/* The caller that most comes through; of equal ones the first in the file. */
static uint64_t heaviest_caller(const struct chooser *c, const struct path *paths, size_t count)
{
	uint64_t best = paths[0].caller;
	struct graph_sum best_sum = sum_of_key(c, best);
	for (size_t i = 1; i < count; i++) {
		if (paths[i].caller == best)
			continue;
		struct graph_sum sum = sum_of_key(c, paths[i].caller);
		if (row_compare_sums(sum, best_sum, c->key) < 0) {
			best = paths[i].caller;
			best_sum = sum;
		}
	}
	return best;
}

/* One step: keep the paths of the heaviest next caller.  False: out of memory. */
static bool narrow(struct chooser *c, struct path *paths, size_t *count)
{
	map_clear(&c->callers);
	for (size_t i = 0; i < *count; i++) {
		struct caller next;
		bool has_next = caller_walk_next(&paths[i].walk, &c->f->columns, &next);
		paths[i].caller = has_next ? caller_key(&c->f->columns, next.entry) : KEY_NO_CALLER;
		if (!add_to_key(c, paths[i].caller, paths[i].sum))
			return false;
	}
	uint64_t best = heaviest_caller(c, paths, *count);
	size_t kept = 0;
	for (size_t i = 0; i < *count; i++) {
		if (paths[i].caller == best)
			paths[kept++] = paths[i];
	}
	*count = kept;
	return true;
}

static struct graph_sum sum_of(const struct path *paths, size_t count)
{
	struct graph_sum sum = {0, 0};
	for (size_t i = 0; i < count; i++)
		add(&sum, paths[i].sum);
	return sum;
}

static bool choose(struct chooser *c, size_t row_idx)
{
	struct row *row = &c->rows[row_idx];
	struct path *paths = &c->paths[c->first_path[row_idx]];
	size_t count = row->path_count;
	if (!count)
		return true;
	for (unsigned step = 0; step < CALLERS_NEAREST; step++) {
		if (count > 1 && !narrow(c, paths, &count))
			return false;
		row->through[step] = sum_of(paths, count);
	}
	const struct path *best = &paths[0];
	for (size_t i = 1; i < count; i++) {
		if (row_compare_sums(paths[i].sum, best->sum, c->key) < 0)
			best = &paths[i];
	}
	row->path = best->leaf;
	return true;
}

/* A leaf may have reached the allocator through several wrappers: show the busiest way. */
static bool find_inner(struct chooser *c)
{
	map_clear(&c->callers);
	for (size_t i = 0; i < c->site_count; i++) {
		const struct site_of_path *s = &c->sites[i];
		if (c->rows[s->row].path == s->leaf &&
		    !add_to_key(c, (uint64_t)s->row << 32 | s->node, s->sum))
			return false;
	}
	for (size_t i = 0; i < c->site_count; i++) {
		const struct site_of_path *s = &c->sites[i];
		struct row *row = &c->rows[s->row];
		uint64_t key = (uint64_t)s->row << 32;
		if (row->path == s->leaf &&
		    (!row->inner || row_compare_sums(sum_of_key(c, key | s->node),
						     sum_of_key(c, key | row->inner), c->key) < 0))
			row->inner = s->node;
	}
	return true;
}

enum neap_err paths_choose(struct path_finder *f, enum graph_pop pop, struct graph_window window,
			   enum row_key key, struct row *rows, size_t count, struct err *e)
{
	struct chooser c = {.f = f, .key = key, .rows = rows, .row_count = count};
	if (!count)
		return NEAP_OK;
	sum_sites(f, pop, window);
	bool is_done = link_rows(&c) && find_paths(&c);
	for (size_t i = 0; i < c.found_count; i++)
		f->path_of_leaf[c.found[i].leaf] = 0;
	is_done = is_done && arrange_paths(&c);
	for (size_t i = 0; is_done && i < count; i++)
		is_done = choose(&c, i);
	is_done = is_done && find_inner(&c);
	mem_free(c.first_row);
	mem_free(c.next_row);
	mem_free(c.sites);
	mem_free(c.found);
	mem_free(c.paths);
	mem_free(c.first_path);
	mem_free(c.sums);
	map_release(&c.callers);
	return is_done ? NEAP_OK : err_nomem(e, "the call paths");
}
