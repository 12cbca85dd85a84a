/*
 * Stages that change stacks: hide, zoom, trim, collapse.
 *
 * Each makes a new tree from the one before in one pass from parents to children, and says
 * where every old vnode went.  Frames are outermost first:
 *
 *   hide c             a > b > c > d       ->  a > b > d
 *   zoom b             a > b > c > b       ->  b > c > b      stacks without b are dropped
 *   trim c             a > b > c > d       ->  a > b          b is charged
 *   collapse [c or d]  a > c > d > c > b   ->  a > c > b      the outermost of a run stays
 *   collapse recursion a > b > c > b > d   ->  a > b > d      back to where the function was
 *
 * A stack that has no frame left is [no stack].
 */
#include "config.h"

#include "query/stacks.h"

#include <string.h>

/*
 * Recursion: the way from the root of `from` to the vnode before, and where its frames are now.
 *
 *   way     0  main  f  g  f  h        the second f went back to the first, which cut g off:
 *   to      0  1     2  3  2  4        a further f would go back to vnode 2, a further g is new
 *   fold    0  0     0  0  4  4        4 is the step that folded
 */
struct step {
	uint32_t v, key;
	uint32_t to, to_depth; /* in the new tree */
	uint32_t before;       /* the step before of the same function; 0: none */
	uint32_t fold;         /* the last step up to this one that went back; 0: none */
};

struct transform {
	struct plan *pl;
	const struct ast_stage *stage;
	const struct graph_columns *columns;
	size_t func_count;
	const uint8_t *flags; /* by entry: does the step fit?  NULL for recursion */
	const struct stacks *from;
	struct stacks *to;
	uint32_t *map;  /* by vnode of from */
	uint8_t *state; /* zoom: inside; trim: cut; collapse: fits */
	struct step *way;
	size_t way_count, way_cap;
	uint32_t *last_step; /* by function, or entry without one: on the way; 0: none */
};

/* Frames without a function are known by their entry. */
static uint32_t function_key(const struct transform *t, entry_id entry)
{
	func_id func = t->columns->entry_func[entry];
	return func ? (uint32_t)t->columns->entry_count + func : entry;
}

static void back_to(struct transform *t, uint32_t parent)
{
	while (t->way[t->way_count - 1].v != parent) {
		const struct step *left = &t->way[--t->way_count];
		t->last_step[left->key] = left->before;
	}
}

/* A step's frame is still there if none that followed went back to further out. */
static bool is_cut_off(const struct transform *t, uint32_t step)
{
	uint32_t fold = t->way[t->way_count - 1].fold;
	for (; fold > step; fold = t->way[fold - 1].fold) {
		if (t->way[fold].to_depth < t->way[step].to_depth)
			return true;
	}
	return false;
}

static uint32_t fold_recursion(struct transform *t, uint32_t v, entry_id entry)
{
	if (!vec_reserve((void **)&t->way, &t->way_cap, t->way_count + 1, sizeof *t->way))
		return VNODE_NONE;
	back_to(t, t->from->parent[v]);
	const struct step *above = &t->way[t->way_count - 1];
	struct step step = {.v = v, .key = function_key(t, entry), .fold = above->fold};
	step.before = t->last_step[step.key];
	if (step.before && !is_cut_off(t, step.before)) {
		step.to = t->way[step.before].to;
		step.to_depth = t->way[step.before].to_depth;
		step.fold = (uint32_t)t->way_count;
	} else {
		step.to = stacks_add(t->to, above->to, entry);
		step.to_depth = above->to_depth + 1;
	}
	t->last_step[step.key] = (uint32_t)t->way_count;
	t->way[t->way_count++] = step;
	return step.to;
}

static uint32_t move_vnode(struct transform *t, uint32_t v)
{
	uint32_t parent = t->from->parent[v], at = t->map[parent];
	entry_id entry = t->from->entry[v];
	if (t->stage->is_recursion)
		return fold_recursion(t, v, entry);
	bool fits = t->flags && t->flags[entry];
	switch (t->stage->kind) {
	case STAGE_HIDE:
		return fits ? at : stacks_add_next(t->to, at, entry);
	case STAGE_ZOOM:
		t->state[v] = t->state[parent] || fits;
		return t->state[v] ? stacks_add_next(t->to, at, entry) : VNODE_ROOT;
	case STAGE_TRIM:
		t->state[v] = t->state[parent] || fits;
		return t->state[v] ? at : stacks_add_next(t->to, at, entry);
	default:
		break;
	}
	t->state[v] = fits;
	return fits && t->state[parent] ? at : stacks_add_next(t->to, at, entry);
}

static bool move_all(struct transform *t)
{
	t->map[VNODE_ROOT] = VNODE_ROOT;
	t->map[VNODE_NO_STACK] = VNODE_NO_STACK;
	t->state[VNODE_NO_STACK] = t->flags && t->flags[t->from->entry[VNODE_NO_STACK]];
	for (uint32_t v = VNODE_FIRST; v < t->from->count; v++) {
		t->map[v] = move_vnode(t, v);
		if (t->map[v] == VNODE_NONE || plan_polls(t->pl, v))
			return false;
	}
	if (!t->stage->is_recursion) {
		stacks_close(t->to);
		return true;
	}
	uint32_t *place = stacks_reorder(t->to);
	for (size_t v = 0; place && v < t->from->count; v++)
		t->map[v] = place[t->map[v]];
	mem_free(place);
	return place;
}

static uint32_t new_place(const struct transform *t, uint32_t old)
{
	if (old == VNODE_NONE || (t->stage->kind == STAGE_ZOOM && !t->state[old]))
		return VNODE_NONE;
	return t->map[old] == VNODE_ROOT ? VNODE_NO_STACK : t->map[old];
}

/*
 * The leaf of what is left of a stack.  If only allocation wrappers are left, the outermost is
 * the leaf; if folding went back to before the leaf, the frame it went back to.
 */
static uint32_t new_leaf(const struct transform *t, uint32_t old, uint32_t inner)
{
	uint32_t leaf = new_place(t, old);
	if (inner == VNODE_NONE || inner == VNODE_NO_STACK)
		return leaf;
	if (leaf != VNODE_NONE && leaf != VNODE_NO_STACK)
		return leaf <= inner && inner < t->to->end[leaf] ? leaf : inner;
	while (t->to->parent[inner] != VNODE_ROOT)
		inner = t->to->parent[inner];
	return inner;
}

static bool init(struct transform *t, size_t site_count)
{
	t->map = mem_array(t->from->count, sizeof *t->map);
	t->state = mem_zarray(t->from->count, sizeof *t->state);
	t->last_step =
		mem_zarray(t->columns->entry_count + t->func_count + 1, sizeof *t->last_step);
	t->to = stacks_new(site_count, t->from->count, t->from->entry[VNODE_NO_STACK]);
	bool has_way = vec_reserve((void **)&t->way, &t->way_cap, 1, sizeof *t->way);
	if (has_way)
		t->way[t->way_count++] = (struct step){.v = VNODE_ROOT, .to = VNODE_ROOT};
	return has_way && t->map && t->state && t->last_step && t->to;
}

static struct stacks *apply(struct transform *t, size_t site_count)
{
	bool is_good = init(t, site_count) && move_all(t);
	for (size_t i = 0; is_good && i < site_count; i++) {
		t->to->inner[i] = new_place(t, t->from->inner[i]);
		t->to->leaf[i] = new_leaf(t, t->from->leaf[i], t->to->inner[i]);
	}
	mem_free(t->map);
	mem_free(t->state);
	mem_free(t->way);
	mem_free(t->last_step);
	if (!is_good) {
		stacks_free(t->to);
		t->to = NULL;
	}
	return t->to;
}

enum neap_err stacks_transform(struct where *w, struct query_file *f, const struct stacks **out,
			       struct stacks **owned_out)
{
	const struct plan_pointers *stages = &w->pl->transforms;
	*out = f->stacks;
	*owned_out = NULL;
	for (size_t i = 0; i < stages->count; i++) {
		struct transform t = {.pl = w->pl,
				      .stage = stages->items[i],
				      .columns = &f->columns,
				      .func_count = f->p->symbols.func_count,
				      .from = *out};
		if (!t.stage->is_recursion) {
			t.flags = where_step(w, f, &t.stage->step);
			if (!t.flags)
				return w->pl->error->code;
		}
		struct stacks *next = apply(&t, f->p->site_count);
		stacks_free(*owned_out);
		*owned_out = next;
		*out = next;
		if (!next)
			return plan_no_memory(w->pl);
	}
	return NEAP_OK;
}
