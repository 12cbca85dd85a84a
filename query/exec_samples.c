/*
 * Blocks of each size at each row of a tree, in every population that a file of samples has.
 *
 *   tree          samples: row  size  alloc      inuse      peak
 *   0 main                 1    64    9 / 576    2 / 128    4 / 256
 *   1 `- parse             1    4096  1 / 4096   0 / 0      1 / 4096
 *
 * A cell whose own row was cut away is charged to the nearest row above it, or to the row of
 * what was cut at the root.
 */
#include "config.h"

#include "query/exec.h"

#include <string.h>

#define KINDS_MOST 4u

struct sampling {
	struct exec *x;
	const struct gathered *rows;
	enum measure measures[KINDS_MOST]; /* by word */
	const char *words[KINDS_MOST];
	size_t word_count, main_word;
	struct map sizes; /* size -> number of it */
	struct map found; /* row and number of size -> sample */
	struct result_sample *items;
	struct graph_sum *sums;
	size_t count, cap, sum_cap;
	uint32_t rest_row; /* of what was cut at the root; UINT32_MAX: none */
};

enum neap_err samples_begin(struct exec *x)
{
	size_t count = x->space.group_count;
	if (!x->pl->needs_samples)
		return NEAP_OK;
	x->row_of = mem_array(count + 1, sizeof *x->row_of);
	if (!x->row_of)
		return exec_no_memory(x);
	memset(x->row_of, 0xff, (count + 1) * sizeof *x->row_of);
	return NEAP_OK;
}

/* ---- which populations ------------------------------------------------------------------- */

static void add_word(struct sampling *s, const char *word, enum measure m)
{
	if (m == MEASURE_MAIN)
		s->main_word = s->word_count;
	s->words[s->word_count] = word;
	s->measures[s->word_count++] = m;
}

static void choose_words(struct sampling *s)
{
	const struct plan *pl = s->x->pl;
	enum graph_pop pop = pl->sides[0].pop;
	bool is_live = pop == POP_LIVE || pop == POP_LEAKED;
	if (pl->side_count == 2) {
		add_word(s, "delta", MEASURE_MAIN);
		return;
	}
	add_word(s, "alloc", pop == POP_ALLOCATED ? MEASURE_MAIN : MEASURE_ALLOCS);
	add_word(s, "inuse", is_live ? MEASURE_MAIN : MEASURE_LIVE);
	add_word(s, "peak", pop == POP_PEAK ? MEASURE_MAIN : MEASURE_PEAK);
	if (!is_live && pop != POP_ALLOCATED && pop != POP_PEAK)
		add_word(s, graph_pop_name(pop), MEASURE_MAIN);
}

/* ---- adding up ---------------------------------------------------------------------------- */

/* MAP_ABSENT: no memory. */
static uint32_t number_of_size(struct sampling *s, uint64_t size)
{
	uint32_t number = map_find(&s->sizes, size);
	if (number != MAP_ABSENT)
		return number;
	number = (uint32_t)s->sizes.count;
	return map_put(&s->sizes, size, number) ? number : MAP_ABSENT;
}

/* The sums of a sample; NULL: no memory. */
static struct graph_sum *sample_at(struct sampling *s, uint32_t row, uint64_t size_bytes)
{
	uint32_t number = number_of_size(s, size_bytes);
	uint64_t key = (uint64_t)row << 32 | number;
	if (number == MAP_ABSENT)
		return NULL;
	uint32_t id = map_find(&s->found, key);
	if (id != MAP_ABSENT)
		return &s->sums[id * s->word_count];
	size_t at = s->count * s->word_count;
	if (!vec_reserve((void **)&s->items, &s->cap, s->count + 1, sizeof *s->items) ||
	    !vec_reserve((void **)&s->sums, &s->sum_cap, at + s->word_count, sizeof *s->sums) ||
	    !map_put(&s->found, key, (uint32_t)s->count))
		return NULL;
	s->items[s->count++] = (struct result_sample){row, size_bytes};
	memset(&s->sums[at], 0, s->word_count * sizeof *s->sums);
	return &s->sums[at];
}

static uint64_t size_of(const struct cells *c, size_t i)
{
	const struct profile *p = c->file->p;
	uint64_t size = profile_site_size_bytes(p, cell_site(c, i));
	return size == PROFILE_SIZE_MIXED ? 0 : size;
}

static uint32_t row_of(const struct sampling *s, uint32_t v)
{
	const struct exec *x = s->x;
	while (v != VNODE_ROOT && x->row_of[v] == UINT32_MAX)
		v = x->space.tree->parent[v];
	return v == VNODE_ROOT ? s->rest_row : x->row_of[v];
}

static bool add_cells(struct sampling *s, size_t side, size_t word)
{
	const struct exec *x = s->x;
	enum measure m = s->measures[word];
	const struct cells *c = &x->cells[side][m];
	for (size_t i = 0; i < c->count; i++) {
		struct graph_sum *sums =
			sample_at(s, row_of(s, x->place[side][m][i]), size_of(c, i));
		if (!sums)
			return false;
		if (x->pl->side_count == 2 && side == 0)
			sum_take(&sums[word], &c->value[i]);
		else
			sum_add(&sums[word], &c->value[i]);
	}
	return true;
}

static bool add_cut(struct sampling *s, const struct stack_cut *cut)
{
	const struct plan *pl = s->x->pl;
	if (!cut->count)
		return true;
	struct graph_sum *sums = sample_at(s, s->rest_row, 0);
	for (size_t word = 0; sums && word < s->word_count; word++) {
		enum measure m = s->measures[word];
		sum_add(&sums[word], &cut->values.side[pl->side_count - 1].total[m]);
		if (pl->side_count == 2)
			sum_take(&sums[word], &cut->values.side[0].total[m]);
	}
	return sums;
}

static uint32_t find_rest(const struct gathered *rows)
{
	for (size_t i = rows->row_count; i-- > 0;) {
		if (rows->rows[i].kind == ROW_OTHER && !rows->rows[i].depth)
			return (uint32_t)i;
	}
	return UINT32_MAX;
}

static bool give_words(struct sampling *s)
{
	struct query_result *r = s->x->out;
	const char **words = arena_array(&r->arena, s->word_count, sizeof *words);
	if (!words)
		return false;
	memcpy(words, s->words, s->word_count * sizeof *words);
	r->sample_words = words;
	r->sample_word_count = s->word_count;
	r->main_sample_word = s->main_word;
	return true;
}

enum neap_err samples_make(struct exec *x, const struct gathered *rows, const struct stack_cut *cut)
{
	struct sampling s = {.x = x, .rows = rows, .rest_row = find_rest(rows)};
	choose_words(&s);
	bool is_good = give_words(&s);
	for (size_t side = 0; side < x->pl->side_count; side++) {
		for (size_t word = 0; is_good && word < s.word_count; word++)
			is_good = add_cells(&s, side, word);
	}
	is_good = is_good && add_cut(&s, cut);
	map_release(&s.sizes);
	map_release(&s.found);
	x->out->samples = s.items;
	x->out->sample_sums = s.sums;
	x->out->sample_count = s.count;
	return is_good ? NEAP_OK : exec_no_memory(x);
}
