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
	/* Recursion: by function, how many frames of it are on the way to the root of `from`. */
	uint32_t *on_way;
	uint32_t last; /* vnode that on_way is about */
};

static bool is_same_function(const struct transform *t, entry_id a, entry_id b)
{
	func_id func = t->columns->entry_func[a];
	return a == b || (func && func == t->columns->entry_func[b]);
}

/* Frames without a function are known by their entry. */
static uint32_t *on_way(const struct transform *t, uint32_t v)
{
	entry_id entry = t->from->entry[v];
	func_id func = t->columns->entry_func[entry];
	return &t->on_way[func ? t->columns->entry_count + func : entry];
}

/* From the vnode before v in preorder to v. */
static void go_on(struct transform *t, uint32_t v)
{
	for (; t->last != t->from->parent[v]; t->last = t->from->parent[t->last])
		--*on_way(t, t->last);
	++*on_way(t, v);
	t->last = v;
}

/* The frame of the same function on the way from `at` to the root. */
static uint32_t find_function(const struct transform *t, uint32_t at, entry_id entry)
{
	while (at != VNODE_ROOT && !is_same_function(t, t->to->entry[at], entry))
		at = t->to->parent[at];
	return at;
}

/* Only folding recursion goes back to frames that others came after. */
static uint32_t add_vnode(struct transform *t, uint32_t at, entry_id entry)
{
	return t->stage->is_recursion ? stacks_add(t->to, at, entry)
				      : stacks_add_next(t->to, at, entry);
}

static uint32_t fold_recursion(struct transform *t, uint32_t v, uint32_t at, entry_id entry)
{
	go_on(t, v);
	uint32_t same = *on_way(t, v) > 1 ? find_function(t, at, entry) : VNODE_ROOT;
	return same != VNODE_ROOT ? same : add_vnode(t, at, entry);
}

static uint32_t move_vnode(struct transform *t, uint32_t v)
{
	uint32_t parent = t->from->parent[v], at = t->map[parent];
	entry_id entry = t->from->entry[v];
	bool fits = t->flags && t->flags[entry];
	switch (t->stage->kind) {
	case STAGE_HIDE:
		return fits ? at : add_vnode(t, at, entry);
	case STAGE_ZOOM:
		t->state[v] = t->state[parent] || fits;
		return t->state[v] ? add_vnode(t, at, entry) : VNODE_ROOT;
	case STAGE_TRIM:
		t->state[v] = t->state[parent] || fits;
		return t->state[v] ? at : add_vnode(t, at, entry);
	default:
		break;
	}
	if (t->stage->is_recursion)
		return fold_recursion(t, v, at, entry);
	t->state[v] = fits;
	return fits && t->state[parent] ? at : add_vnode(t, at, entry);
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

static struct stacks *apply(struct transform *t, size_t site_count)
{
	entry_id no_stack = t->from->entry[VNODE_NO_STACK];
	t->map = mem_array(t->from->count, sizeof *t->map);
	t->state = mem_zarray(t->from->count, sizeof *t->state);
	t->on_way = mem_zarray(t->columns->entry_count + t->func_count + 1, sizeof *t->on_way);
	t->to = stacks_new(site_count, t->from->count, no_stack);
	bool is_good = t->map && t->state && t->on_way && t->to && move_all(t);
	for (size_t i = 0; is_good && i < site_count; i++) {
		t->to->inner[i] = new_place(t, t->from->inner[i]);
		t->to->leaf[i] = new_leaf(t, t->from->leaf[i], t->to->inner[i]);
	}
	mem_free(t->map);
	mem_free(t->state);
	mem_free(t->on_way);
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
