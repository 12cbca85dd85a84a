/* Allocation wrappers below a leaf. */
#include "config.h"

#include "tui/through.h"

#include <string.h>

#include "src/profile/profile.h"

#define WAYS_MOST  4u
#define STEPS_MOST 6u
#define NAME_COLS  40u

/* One way: the function of the allocator, and the entries from it to the leaf. */
struct way {
	enum profile_api api;
	entry_id steps[STEPS_MOST];
	unsigned step_count;
};

static bool is_leaf(const struct graph *g, const struct graph_columns *c,
		    const struct graph_frame *f, node_id leaf_node)
{
	entry_id leaf = graph_leaf_entry(g, leaf_node);
	return leaf == f->entry ||
	       (f->func && leaf < c->entry_count && c->entry_func[leaf] == f->func);
}

static struct way way_of(const struct graph *g, size_t site_idx, node_id leaf_node)
{
	const struct profile *p = graph_profile(g);
	struct way w = {.api = profile_site_api(p, site_idx)};
	entry_id leaf = graph_leaf_entry(g, leaf_node), entry;
	struct graph_walk walk = graph_walk_init(g, profile_site_node(p, site_idx));
	while (w.step_count < STEPS_MOST && (entry = graph_walk_next(&walk)) != ENTRY_NONE) {
		if (entry == leaf && walk.node == leaf_node)
			break;
		w.steps[w.step_count++] = entry;
	}
	return w;
}

static bool is_same_way(const struct graph_columns *c, const struct way *a, const struct way *b)
{
	if (a->api != b->api || a->step_count != b->step_count)
		return false;
	for (unsigned i = 0; i < a->step_count; i++) {
		if (c->entry_func[a->steps[i]] != c->entry_func[b->steps[i]])
			return false;
	}
	return true;
}

static void put_way(const struct graph *g, struct shortener *names, const struct way *w,
		    bool is_utf8, struct buf *out)
{
	const char *before = profile_api_name(w->api);
	buf_puts(out, before);
	for (unsigned i = 0; i < w->step_count; i++) {
		const struct graph_frame f = graph_entry(g, w->steps[i]);
		if (f.name && !strcmp(f.name, before)) /* malloc, called by a malloc of its own */
			continue;
		buf_printf(out, " %s %s", is_utf8 ? "\u2190" : "<-",
			   name_frame(names, &f, NAME_COLS));
	}
}

static void find_ways(struct through *t, struct shortener *names, const struct graph_frame *f,
		      bool is_utf8)
{
	const struct graph *g = t->graph;
	const struct profile *p = graph_profile(g);
	const struct graph_columns c = graph_columns(g);
	struct way ways[WAYS_MOST];
	size_t count = 0;
	for (size_t i = 0; i < p->site_count && count < WAYS_MOST; i++) {
		node_id leaf_node = graph_leaf_node(g, profile_site_node(p, i));
		if (!is_leaf(g, &c, f, leaf_node))
			continue;
		size_t known = 0;
		ways[count] = way_of(g, i, leaf_node);
		while (known < count && !is_same_way(&c, &ways[known], &ways[count]))
			known++;
		count += known == count;
	}
	for (size_t i = 0; i < count; i++) {
		buf_puts(&t->text, i ? ", " : "");
		put_way(g, names, &ways[i], is_utf8, &t->text);
	}
	if (count == WAYS_MOST)
		buf_puts(&t->text, ", ...");
}

const char *through_text(struct through *t, const struct graph *g, struct shortener *names,
			 const struct graph_frame *f, bool is_utf8)
{
	if (f->entry == ENTRY_NONE)
		return "";
	if (t->graph != g || t->func != f->func || t->entry != f->entry) {
		buf_clear(&t->text);
		t->graph = g;
		t->func = f->func;
		t->entry = f->entry;
		find_ways(t, names, f, is_utf8);
	}
	return t->text.count_bytes && !t->text.has_failed ? t->text.data : "";
}

void through_release(struct through *t)
{
	buf_release(&t->text);
	t->graph = NULL;
}
