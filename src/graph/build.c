/*
 * Building the index, and what is fixed once it is built: leaves, stacks, time.
 *
 * Ids of nodes grow from parents to children.  So whatever flows down the tree is one
 * pass over the nodes from first to last, and whatever flows up is one pass from last
 * to first; no recursion anywhere.
 */
#include "config.h"

#include "src/graph/graph_priv.h"

/* Deaths of every cohort, all snapshots together. */
static bool sum_deaths(struct graph *g)
{
	const struct profile *p = g->p;
	struct narrow *died = &g->cohort_died;
	g->mixed_died_bytes = mem_zarray(p->cohort_mixed.count, sizeof *g->mixed_died_bytes);
	if (!g->mixed_died_bytes || !narrow_append_zeros(died, p->cohort_count))
		return false;
	for (size_t i = 0; i < p->death_count; i++) {
		size_t row = profile_death_cohort(p, i) - 1;
		uint64_t blocks = narrow_get(died, row) + profile_death_blocks(p, i);
		if (!narrow_set(died, row, blocks))
			return false;
	}
	for (size_t w = 0; w < p->death_mixed.word_count; w++) {
		uint64_t bits = p->death_mixed.words[w].bits;
		for (; bits; bits &= bits - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(bits);
			size_t at = rowset_find(&p->cohort_mixed, profile_death_cohort(p, i) - 1);
			g->mixed_died_bytes[at] += profile_death_bytes(p, i);
		}
	}
	return true;
}

/* Without an exact peak the best that is known is the highest snapshot. */
static enum neap_err find_peak(struct graph *g, struct err *e)
{
	const struct profile *p = g->p;
	if (p->has_peak) {
		for (size_t i = 0; i < p->peak_entry_count; i++)
			g->peak_bytes += (int64_t)p->peak_entries[i].bytes;
		return NEAP_OK;
	}
	struct graph_tick *ticks = mem_array(p->snapshot_count + 1, sizeof *ticks);
	if (!ticks)
		return err_nomem(e, "the timeline");
	graph_timeline(g, NULL, ticks);
	for (snap_id s = 0; s <= p->snapshot_count; s++) {
		if (!s || ticks[s].live.bytes > g->peak_bytes) {
			g->peak_bytes = ticks[s].live.bytes;
			g->peak_snap = s;
		}
	}
	mem_free(ticks);
	return NEAP_OK;
}

static enum neap_err build(struct graph *g, const struct graph_options *options, struct err *e)
{
	enum neap_err code = graph_build_entries(g, options, e);
	if (code)
		return code;
	if (!sum_deaths(g))
		return err_nomem(e, "the index of deaths");
	return find_peak(g, e);
}

enum neap_err graph_build(const struct profile *p, const struct graph_options *options,
			  struct graph **out, struct err *e)
{
	*out = NULL;
	struct graph *g = mem_zalloc(sizeof *g);
	if (!g)
		return err_nomem(e, "the index");
	g->p = p;
	enum neap_err code = build(g, options, e);
	if (code) {
		graph_free(g);
		return code;
	}
	*out = g;
	return NEAP_OK;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	mem_free(g->first_entry);
	mem_free(g->leaf_entry);
	mem_free(g->entry_frame);
	mem_free(g->entry_line);
	mem_free(g->entry_func);
	mem_free(g->entry_file);
	mem_free(g->func_canon);
	mem_free(g->file_canon);
	mem_free(g->module_canon);
	mem_free(g->func_is_wrapper);
	narrow_release(&g->cohort_died);
	mem_free(g->mixed_died_bytes);
	mem_free(g);
}

const struct profile *graph_profile(const struct graph *g)
{
	return g->p;
}

/* ---- leaves and stacks ------------------------------------------------------------ */

node_id graph_leaf_node(const struct graph *g, node_id n)
{
	while (n >= PROFILE_NODE_FIRST && g->leaf_entry[graph_frame_index(g, n)] == ENTRY_NONE) {
		node_id parent = profile_node_parent(g->p, n);
		if (parent < PROFILE_NODE_FIRST)
			break;
		n = parent;
	}
	return n;
}

entry_id graph_leaf_entry(const struct graph *g, node_id leaf_node)
{
	uint32_t frame = graph_frame_index(g, leaf_node);
	entry_id leaf = g->leaf_entry[frame];
	return leaf != ENTRY_NONE ? leaf : g->first_entry[frame + 1] - 1;
}

bool graph_is_exiting(const struct graph *g, node_id n)
{
	for (; n >= PROFILE_NODE_FIRST; n = profile_node_parent(g->p, n)) {
		if (profile_node_flags(g->p, n) & NODE_EXITING)
			return true;
	}
	return false;
}

static void enter_node(struct graph_walk *w, node_id n)
{
	const struct graph *g = w->graph;
	uint32_t frame = graph_frame_index(g, n);
	w->node = n;
	w->next_entry = g->first_entry[frame];
	w->end_entry = g->first_entry[frame + 1];
	w->next_node = n < PROFILE_NODE_FIRST ? 0 : profile_node_parent(g->p, n);
	/* The ordinary root is no frame; it shows only where there is nothing else. */
	if (w->next_node == PROFILE_NODE_ROOT)
		w->next_node = 0;
}

struct graph_walk graph_walk_init(const struct graph *g, node_id n)
{
	struct graph_walk w = {.graph = g};
	enter_node(&w, n);
	return w;
}

struct graph_walk graph_walk_leaf(const struct graph *g, node_id n)
{
	node_id leaf = graph_leaf_node(g, n);
	struct graph_walk w = graph_walk_init(g, leaf);
	w.next_entry = graph_leaf_entry(g, leaf);
	return w;
}

entry_id graph_walk_next(struct graph_walk *w)
{
	if (w->next_entry == w->end_entry) {
		if (!w->next_node)
			return ENTRY_NONE;
		enter_node(w, w->next_node);
	}
	return w->next_entry++;
}

/* ---- time ---------------------------------------------------------------------------- */

snap_id graph_last_snap(const struct graph *g)
{
	return (snap_id)g->p->snapshot_count;
}

uint64_t graph_snap_time(const struct graph *g, snap_id s)
{
	return s && s <= g->p->snapshot_count ? g->p->snapshots[s - 1].time_ns : 0;
}

snap_id graph_snap_at(const struct graph *g, uint64_t time_ns)
{
	snap_id low = 0, high = graph_last_snap(g); /* the answer is in low .. high */
	while (low < high) {
		snap_id middle = high - (high - low) / 2;
		if (graph_snap_time(g, middle) <= time_ns)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

uint64_t graph_end_time(const struct graph *g)
{
	uint64_t end_ns = graph_snap_time(g, graph_last_snap(g));
	if (g->p->end.kind != END_UNKNOWN && g->p->end.time_ns > end_ns)
		end_ns = g->p->end.time_ns;
	if (g->p->has_peak && g->p->peak.time_ns > end_ns)
		end_ns = g->p->peak.time_ns;
	return end_ns;
}

struct graph_peak graph_peak(const struct graph *g)
{
	const struct profile *p = g->p;
	if (!p->has_peak)
		return (struct graph_peak){
			.time_ns = graph_snap_time(g, g->peak_snap),
			.snap = g->peak_snap,
			.bytes = g->peak_bytes,
		};
	return (struct graph_peak){
		.time_ns = p->peak.time_ns,
		.snap = p->peak.snap,
		.bytes = g->peak_bytes,
		.bound_bytes = p->peak.bound_bytes,
		.is_exact = true,
	};
}
