/*
 * Functions that left with a jump: their block, and their place in the tree of a loaded profile.
 *
 *   file    node A                 loaded    node A
 *             node C  (below A)                node B [tail]
 *                                                node C
 *
 * The file's tree has what the unwinder saw.  When all of it is read, nodes for what is known to
 * have been between two of its frames are put there, or between a frame and its sites.  Parents
 * keep lower ids than children.  A profile without such functions is not touched.
 */
#include "config.h"

#include "src/profile/reader_priv.h"
#include "src/profile/writer_priv.h"

#include <string.h>

#define SPARE_EACH       2u /* nodes that are made for each of the file's, at most */
#define SPARE_LEAST      4096u
#define LIMIT_TAIL_STEPS 128u /* of one pair: no writer finds more */

void tails_release(struct profile_tails *t)
{
	mem_free(t->frames);
	mem_free(t->items);
	mem_free(t->steps);
	*t = (struct profile_tails){0};
}

/* ---- the block ------------------------------------------------------------------------ */

void tails_payload(const struct profile_symbols *s, struct buf *out)
{
	const struct profile_tails *t = &s->tails;
	uint64_t module = 0, pc = 0;
	buf_varint(out, s->frame_count - t->frame_count);
	buf_varint(out, t->frame_count);
	for (size_t i = 0; i < t->frame_count; i++) {
		buf_svarint(out, (int64_t)(t->frames[i].module - module));
		buf_svarint(out, (int64_t)(t->frames[i].pc - pc));
		module = t->frames[i].module;
		pc = t->frames[i].pc;
	}
	buf_varint(out, t->count);
	for (size_t i = 0; i < t->count; i++) {
		const struct profile_tail *item = &t->items[i];
		buf_varint(out, item->caller);
		buf_varint(out, item->callee);
		buf_varint(out, item->callee ? 0 : (uint64_t)item->api);
		buf_varint(out, item->step_count);
		for (size_t k = 0; k < item->step_count; k++)
			buf_varint(out, t->steps[item->first_step + k]);
	}
}

static bool read_tail_frames(struct reader *r, const struct profile *p, struct profile_tails *t)
{
	uint64_t module = 0, pc = 0;
	for (size_t i = 0; i < t->frame_count && !r->has_failed; i++) {
		module += (uint64_t)get_svarint(r);
		pc += (uint64_t)get_svarint(r);
		if (!module || module > p->module_count)
			return false;
		t->frames[i] = (struct profile_frame){
			.module = (mod_id)module, .flags = FRAME_TAIL, .pc = pc};
	}
	return !r->has_failed;
}

static bool read_item(struct reader *r, size_t first, const struct profile_tails *t,
		      struct profile_tail *out)
{
	uint64_t caller = get_varint(r), callee = get_varint(r), api = get_varint(r);
	uint64_t count = get_varint(r);
	*out = (struct profile_tail){.caller = (frame_id)caller,
				     .callee = (frame_id)callee,
				     .api = api < API_COUNT ? (enum profile_api)api : API_UNKNOWN,
				     .first_step = (uint32_t)t->step_count,
				     .step_count = (uint32_t)count};
	return !r->has_failed && caller && caller <= first && callee <= first && count &&
	       count <= LIMIT_TAIL_STEPS && count <= reader_left(r);
}

static enum neap_err read_items(struct arena *a, struct reader *r, size_t first,
				struct profile_tails *t, struct err *e)
{
	t->count = reader_count(r, 5);
	t->items = arena_array(a, t->count, sizeof *t->items);
	t->steps = arena_array(a, reader_left(r), sizeof *t->steps);
	if (!t->items || !t->steps)
		return err_nomem(e, "tail calls of the profile");
	for (size_t i = 0; i < t->count; i++) {
		if (!read_item(r, first, t, &t->items[i]))
			return err_corrupt(e, "tail calls between unknown frames");
		for (size_t k = 0; k < t->items[i].step_count; k++) {
			uint64_t step = get_varint(r);
			if (step >= t->frame_count)
				return err_corrupt(e, "tail calls of an unknown frame");
			t->steps[t->step_count++] = (uint32_t)step;
		}
	}
	return r->has_failed ? err_corrupt(e, "tail calls that are cut") : NEAP_OK;
}

enum neap_err read_tails(struct loader *l, struct reader *r, struct err *e)
{
	struct arena *a = &l->p->arena;
	struct profile_tails t = {0};
	uint64_t first = get_varint(r);
	t.frame_count = reader_count(r, 2);
	t.frames = arena_array(a, t.frame_count, sizeof *t.frames);
	if (!t.frames)
		return err_nomem(e, "tail calls of the profile");
	if (first > LIMIT_IDS || !read_tail_frames(r, l->p, &t))
		return err_corrupt(e, "tail calls in an unknown module");
	enum neap_err err = read_items(a, r, (size_t)first, &t, e);
	if (err)
		return err;
	l->tails = t;
	l->tails_first_frame = (size_t)first;
	return NEAP_OK;
}

/* ---- their place in the tree ---------------------------------------------------------- */

/* The tree while it is made anew. */
struct grower {
	struct profile *p;
	const struct profile_tails *tails;
	size_t first_frame;     /* frames up to this one are the file's */
	struct map items;       /* caller and callee -> item */
	struct map by_api;      /* caller and api -> item */
	struct map made;        /* parent and step -> node that was made for it */
	uint8_t *has_tail;      /* [frame_count + 1] of the file's: is callee of an item */
	node_id *moved;         /* [node_count] new ids of the file's nodes */
	struct parents parents; /* the new columns */
	struct narrow frames, flags;
	size_t spare_count; /* nodes that may still be made: no real profile needs so many */
};

static uint64_t pair_of(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static bool index_items(struct grower *g)
{
	g->has_tail = mem_zarray(g->first_frame + 1, 1);
	g->moved = mem_array(g->p->node_count, sizeof *g->moved);
	bool is_ok = g->has_tail && g->moved;
	for (uint32_t i = 0; is_ok && i < g->tails->count; i++) {
		const struct profile_tail *t = &g->tails->items[i];
		g->has_tail[t->callee] = 1;
		is_ok = t->callee ? map_put(&g->items, pair_of(t->caller, t->callee), i)
				  : map_put(&g->by_api, pair_of(t->caller, t->api), i);
	}
	return is_ok;
}

/* UINT32_MAX: out of memory, or too many. */
static node_id grow(struct grower *g, node_id parent, frame_id frame, uint64_t flags)
{
	uint64_t frame_number = frame;
	if (g->parents.count + 1 >= LIMIT_IDS || !parents_append(&g->parents, &parent, 1) ||
	    !narrow_append(&g->frames, &frame_number, 1) || !narrow_append(&g->flags, &flags, 1))
		return UINT32_MAX;
	return (node_id)g->parents.count - 1;
}

/* The innermost of an item's steps below a node, made unless it is there; UINT32_MAX: out of memory. */
static node_id grow_steps(struct grower *g, node_id below, uint32_t item)
{
	const struct profile_tail *t = &g->tails->items[item];
	for (size_t k = 0; k < t->step_count && below != UINT32_MAX; k++) {
		uint32_t step = g->tails->steps[t->first_step + k];
		uint64_t key = pair_of(below, step);
		node_id known = map_find(&g->made, key);
		if (known == MAP_ABSENT) {
			if (!g->spare_count)
				return below;
			g->spare_count--;
			known = grow(g, below, (frame_id)(g->first_frame + 1 + step), 0);
			if (known == UINT32_MAX || !map_put(&g->made, key, known))
				return UINT32_MAX;
		}
		below = known;
	}
	return below;
}

static bool grow_node(struct grower *g, node_id n)
{
	const struct profile *p = g->p;
	frame_id frame = profile_node_frame(p, n);
	node_id old_parent = n < PROFILE_NODE_FIRST ? 0 : profile_node_parent(p, n);
	node_id parent = n < PROFILE_NODE_FIRST ? 0 : g->moved[old_parent];
	if (n >= PROFILE_NODE_FIRST && frame <= g->first_frame && g->has_tail[frame]) {
		uint32_t item =
			map_find(&g->items, pair_of(profile_node_frame(p, old_parent), frame));
		if (item != MAP_ABSENT)
			parent = grow_steps(g, parent, item);
	}
	g->moved[n] =
		parent == UINT32_MAX ? parent : grow(g, parent, frame, profile_node_flags(p, n));
	return g->moved[n] != UINT32_MAX;
}

static bool move_site(struct grower *g, size_t row)
{
	struct profile *p = g->p;
	node_id node = profile_site_node(p, row);
	uint64_t kind = pair_of(profile_node_frame(p, node), (uint32_t)profile_site_api(p, row));
	uint32_t item = map_find(&g->by_api, kind);
	node = g->moved[node];
	if (item != MAP_ABSENT)
		node = grow_steps(g, node, item);
	return node != UINT32_MAX && narrow_set(&p->site_nodes, row, node);
}

static bool grow_tree(struct grower *g)
{
	struct profile *p = g->p;
	bool is_ok = index_items(g);
	for (node_id n = 0; is_ok && n < p->node_count; n++)
		is_ok = grow_node(g, n);
	for (size_t i = 0; is_ok && i < p->site_count; i++)
		is_ok = move_site(g, i);
	if (!is_ok)
		return false;
	parents_release(&p->node_parents);
	narrow_release(&p->node_frames);
	narrow_release(&p->node_flags);
	p->node_parents = g->parents;
	p->node_frames = g->frames;
	p->node_flags = g->flags;
	p->node_count = g->parents.count;
	g->parents = (struct parents){0};
	g->frames = g->flags = (struct narrow){0};
	return true;
}

/* Their frames come after the file's. */
static bool add_frames(struct profile *p, const struct profile_tails *t)
{
	size_t cap = p->frame_count;
	if (!vec_reserve((void **)&p->frames, &cap, p->frame_count + t->frame_count,
			 sizeof *p->frames))
		return false;
	memcpy(p->frames + p->frame_count, t->frames, t->frame_count * sizeof *t->frames);
	p->frame_count += t->frame_count;
	return true;
}

/* Symbols of the file's frames only. */
static void cut_symbols(struct profile_symbols *s, size_t frame_count)
{
	if (s->frame_count <= frame_count)
		return;
	s->frame_count = frame_count;
	s->line_count = s->first_line[frame_count];
}

/*
 * Symbols that were written without them, or another time, do not have their names: then they
 * are left out.
 */
bool tails_apply(struct loader *l)
{
	struct profile *p = l->p;
	struct profile_tails *t = &l->tails;
	if (!t->count || !p->has_symbols)
		return true;
	if (p->frame_count != l->tails_first_frame ||
	    p->symbols.frame_count != p->frame_count + t->frame_count) {
		cut_symbols(&p->symbols, l->tails_first_frame);
		return true;
	}
	struct grower g = {.p = p,
			   .tails = t,
			   .first_frame = p->frame_count,
			   .spare_count = SPARE_LEAST + SPARE_EACH * p->node_count};
	bool is_ok = grow_tree(&g) && add_frames(p, t);
	map_release(&g.items);
	map_release(&g.by_api);
	map_release(&g.made);
	mem_free(g.has_tail);
	mem_free(g.moved);
	parents_release(&g.parents);
	narrow_release(&g.frames);
	narrow_release(&g.flags);
	if (is_ok)
		p->symbols.tails = *t;
	return is_ok;
}
