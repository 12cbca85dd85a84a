/*
 * A walk through the stacks of a side, in a space of frames: from each place where cells are to the next,
 * in preorder, with the way from the root to it.  What has no cells at or below it is never looked at.
 *
 *     place 0  main > f > g         way 0 1 2
 *     place 1  main > f             way 0 1        kept 2
 *     place 2  main > h > i > k     way 0 3 4 5    kept 1
 *
 * Where a query asks for nothing of single stacks, the recorded nodes are walked as they lie in the
 * profile, and a node may have several entries; else it is the vnodes of stacks made for the query.
 * Both are called vnodes here.
 */
#ifndef NEAP_QUERY_WALK_H
#define NEAP_QUERY_WALK_H

#include "query/exec.h"

/* The compiler makes what one walk needs of what all have in common. */
#define WALK_INLINE __attribute__((always_inline))

struct walk_step {
	uint32_t v;
	uint32_t key; /* key_of_kind[walk_kind], or walk_kind */
};

struct walk {
	struct exec *x;
	size_t side;
	const struct profile *p;     /* of nodes; NULL: of vnodes */
	const struct stacks *stacks; /* of vnodes */
	const uint32_t *first_entry; /* of nodes, by frame */
	uint32_t root;               /* vnodes up to this one are no frames */
	const struct places *places;
	size_t word;   /* of places: where it goes on */
	uint64_t bits; /* of this word, those still to come */
	uint32_t next_place, to;
	const uint32_t *key_of_kind; /* may be NULL */
	bool polls;                  /* in the thread of the query */
	bool has_failed;             /* no memory, or cancelled */
	struct chain {
		uint32_t first, last;
	} * chains; /* on the way up: vnodes that come one after the other */
	size_t chain_cap;
	/* What was found: a place and the way to its vnode.  Before `kept` it is as it was. */
	uint32_t place;
	struct walk_step *way;
	size_t way_cap;
	uint32_t way_count, kept_count;
};

/* walk_begin - before the places from .. to - 1; release it in any case. */
struct walk walk_begin(struct exec *x, size_t side, uint32_t from, uint32_t to);
/* walk_all - before all of them, in the thread of the query. */
struct walk walk_all(struct exec *x, size_t side);
void walk_release(struct walk *w);

/* walk_entries - the entries of a kind: *first .. *end - 1. */
static inline void walk_entries(const struct walk *w, uint32_t kind, entry_id *first, entry_id *end)
{
	*first = w->p ? w->first_entry[kind] : kind;
	*end = w->p ? w->first_entry[kind + 1] : kind + 1;
}

/* walk_kind - what tells the entries of a vnode: the frame of a node, or the entry. */
static inline uint32_t walk_kind(const struct walk *w, uint32_t v)
{
	if (!w->p)
		return w->stacks->entry[v];
	uint32_t frame = profile_node_frame(w->p, v); /* 0: a fixed node */
	return frame ? frame : graph_frame_of_node(w->x->pl->sides[w->side].file->g, v);
}

/* The first of those that follow one another down to v, and what it is below. */
static inline uint32_t walk_chain(const struct walk *w, uint32_t v, uint32_t *above_out)
{
	if (w->p) {
		uint32_t first = parents_chain(&w->p->node_parents, v);
		first = first < w->root ? w->root : first;
		*above_out = profile_node_parent(w->p, first);
		return first;
	}
	*above_out = w->stacks->parent[v];
	return v;
}

/* Chains go onto the way, the outermost first. */
static inline WALK_INLINE bool walk_down(struct walk *w, size_t chain_count, size_t step_count)
{
	size_t need = w->way_count + step_count;
	if (need > w->way_cap && !vec_reserve((void **)&w->way, &w->way_cap, need, sizeof *w->way))
		return false;
	struct walk_step *at = w->way + w->way_count;
	while (chain_count--) {
		const struct chain *c = &w->chains[chain_count];
		for (uint32_t v = c->first; v <= c->last; v++) {
			uint32_t kind = walk_kind(w, v);
			*at++ = (struct walk_step){v, w->key_of_kind ? w->key_of_kind[kind] : kind};
		}
	}
	w->way_count = (uint32_t)need;
	return true;
}

/* From v up to where the way is still the same; what is not on it any more leaves it.  Parents have smaller
 * numbers than what is below them.  false: no memory. */
static inline WALK_INLINE bool walk_to(struct walk *w, uint32_t v)
{
	size_t chain_count = 0, step_count = 0;
	uint32_t last = v, above;
	do {
		uint32_t first = walk_chain(w, last, &above);
		while (w->way_count && w->way[w->way_count - 1].v > last)
			w->way_count--;
		uint32_t known = w->way_count ? w->way[w->way_count - 1].v : 0;
		bool is_known = w->way_count && known >= first;
		first = is_known ? known + 1 : first;
		if (chain_count == w->chain_cap && !vec_reserve((void **)&w->chains, &w->chain_cap,
								chain_count + 1, sizeof *w->chains))
			return false;
		w->chains[chain_count++] = (struct chain){first, last};
		step_count += last + 1 - first;
		if (is_known)
			break;
		last = above;
		if (above <= w->root)
			w->way_count = 0;
	} while (above > w->root);
	w->kept_count = w->way_count;
	return walk_down(w, chain_count, step_count);
}

/* walk_next - the next place; false: there is none, or has_failed. */
static inline WALK_INLINE bool walk_next(struct walk *w)
{
	if (w->next_place == w->to)
		return false;
	while (!w->bits)
		w->bits = w->places[++w->word].has_cells;
	uint32_t v = (uint32_t)(w->word * 64 + (size_t)__builtin_ctzll(w->bits));
	w->bits &= w->bits - 1;
	w->place = w->next_place++;
	if (!walk_to(w, v) || (w->polls && exec_polls(w->x, w->next_place)))
		w->has_failed = true;
	return !w->has_failed;
}

/* walk_skip - pass over what is below a vnode on the way that is no fixed node: what is below a fixed one does not
 * come right after it, and the walk, which may only go on, would go back. */
void walk_skip(struct walk *w, uint32_t depth);

/*
 * Ranges of places below the outermost frames of keys: what is below frames of a key on any stack, each place
 * once.  A key is a group, or what several groups have in common.
 */
#define KEY_NONE UINT32_MAX

#define KEY_MANY (UINT32_MAX - 1) /* in key_of_kind: there are several entries */

struct ranges {
	struct walk w;
	const uint32_t *group_of_entry;
	const uint32_t *key_of_group; /* NULL: groups are keys; KEY_NONE: in no range */
	uint32_t *key_of_kind;        /* see walk_kind */
	uint8_t *is_open;             /* by key */
	struct open_range {
		uint32_t key, place, depth;
	} * open; /* on the way, outermost first */
	size_t open_count, open_cap;
	bool is_single; /* there is one key */
	/* By key, what will be added to when it is closed: it may be fetched meanwhile.  NULL: unknown. */
	const char *sums;
	size_t sums_bytes;
};

/* ranges_begin - release it in any case; false: no memory. */
bool ranges_begin(struct ranges *r, const struct walk *w, const uint32_t *key_of_group,
		  size_t key_count);
void ranges_release(struct ranges *r);

/* ranges_skip - if there is one key only, nothing below its frames matters any more. */
void ranges_skip(struct ranges *r);

typedef void (*range_fn)(void *context, uint32_t key, uint32_t place, uint32_t place_end);

/* What was opened at that depth or further in ends before a place. */
static inline WALK_INLINE void ranges_close(struct ranges *r, uint32_t depth, uint32_t place,
					    range_fn tell, void *context)
{
	while (r->open_count && r->open[r->open_count - 1].depth >= depth) {
		const struct open_range *o = &r->open[--r->open_count];
		r->is_open[o->key] = 0;
		tell(context, o->key, o->place, place);
	}
}

static inline WALK_INLINE bool ranges_open(struct ranges *r, uint32_t key, uint32_t depth)
{
	if (r->is_open[key])
		return true;
	if (r->open_count == r->open_cap &&
	    !vec_reserve((void **)&r->open, &r->open_cap, r->open_count + 1, sizeof *r->open))
		return false;
	if (r->sums)
		__builtin_prefetch(r->sums + key * r->sums_bytes, 1);
	r->is_open[key] = 1;
	r->open[r->open_count++] = (struct open_range){key, r->w.place, depth};
	return true;
}

static inline uint32_t ranges_key(const struct ranges *r, entry_id entry)
{
	uint32_t group = r->group_of_entry[entry];
	return r->key_of_group && group != GROUP_NONE ? r->key_of_group[group] : group;
}

static inline WALK_INLINE bool ranges_open_step(struct ranges *r, uint32_t depth)
{
	entry_id entry, end;
	uint32_t key = r->w.way[depth].key;
	if (key != KEY_MANY)
		return key == KEY_NONE || ranges_open(r, key, depth);
	walk_entries(&r->w, walk_kind(&r->w, r->w.way[depth].v), &entry, &end);
	for (; entry < end; entry++) {
		key = ranges_key(r, entry);
		if (key != KEY_NONE && !ranges_open(r, key, depth))
			return false;
	}
	return true;
}

/* ranges_walk - tell all of them, in the order of their ends; false: no memory, or cancelled. */
static inline WALK_INLINE bool ranges_walk(struct ranges *r, range_fn tell, void *context)
{
	while (walk_next(&r->w)) {
		uint32_t depth = r->w.kept_count;
		ranges_close(r, depth, r->w.place, tell, context);
		for (; depth < r->w.way_count; depth++) {
			if (!ranges_open_step(r, depth))
				return false;
		}
		if (r->is_single && r->open_count)
			ranges_skip(r);
	}
	ranges_close(r, 0, r->w.next_place, tell, context);
	return !r->w.has_failed;
}

#endif
