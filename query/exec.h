/*
 * Running a plan: from cells to rows.
 *
 *   space FRAMES  vnodes are the stacks of a side, or the nodes of its profile (walk.h); a group is a
 *                 value of the frame keys, and its total counts a cell once: only the outermost
 *                 frame of a group on each stack
 *   space TREE    vnodes are a tree made for the view; every vnode is a group
 *   space INVERTED  the same from the leaf up; rows are made when they are opened
 *   space FLAT    vnodes are values of keys of allocations, or whole stacks; every vnode is a
 *                 group, and nothing is below another
 */
#ifndef NEAP_QUERY_EXEC_H
#define NEAP_QUERY_EXEC_H

#include "query/plan.h"
#include "query/stacks.h"

/* ---- cells (exec_cells.c) -------------------------------------------------------------- */

void cells_keep(struct cells *c, const uint8_t *keep);
struct graph_sum cells_sum(const struct cells *c);
/* Signed sums that wrap instead of overflowing: counters come from files. */
static inline void sum_add(struct graph_sum *to, const struct graph_sum *v)
{
	to->blocks = (int64_t)((uint64_t)to->blocks + (uint64_t)v->blocks);
	to->bytes = (int64_t)((uint64_t)to->bytes + (uint64_t)v->bytes);
}
static inline void sum_take(struct graph_sum *from, const struct graph_sum *v)
{
	from->blocks = (int64_t)((uint64_t)from->blocks - (uint64_t)v->blocks);
	from->bytes = (int64_t)((uint64_t)from->bytes - (uint64_t)v->bytes);
}
/* cells_load_births - every cohort with all that was born in it, inherited ones too. */
enum neap_err cells_load_births(const struct plan_side *side, struct cells *out, struct err *e);
/* cell_size - bytes of a block; the mean where a site has blocks of many sizes. */
int64_t cell_size(const struct cells *c, size_t i);

/* thread_fits - a condition on one thread (exec_where.c). */
enum neap_err thread_fits(struct text_match *m, struct query_file *f, thread_id id, bool *out);

/* ---- groups (exec_group.c) ----------------------------------------------------------------- */

/* What a group is called: by a frame of one side, or by the values of keys of allocations. */
struct group {
	uint8_t side;           /* of entry */
	uint8_t value_side;     /* of values: ids belong to its file */
	entry_id entry;         /* for keys of frames; ENTRY_NONE: none */
	const uint64_t *values; /* [key_count] of the plan, for other keys; UINT64_MAX: unknown */
};

/* Frames by keys: of both sides, with joint groups. */
struct frame_groups {
	const uint32_t *group[2]; /* by entry of a side's file */
	uint32_t *owned[2];
	struct group *groups;
	size_t count;
	struct granule *granule; /* what it borrows from, or was kept as; or NULL */
};
void frame_groups_release(struct frame_groups *fg);
void granule_drop_tree(struct granule *gr);

enum space_kind {
	SPACE_FRAMES,
	SPACE_TREE,
	SPACE_INVERTED,
	SPACE_FLAT
};
/* Stacks merged into one tree; entry[] of its vnodes are groups of frames. */
struct merged {
	struct stacks *tree;
	uint32_t *place[2]; /* by vnode of a side's stacks: the vnode of the tree; VNODE_NONE */
	bool is_kept;       /* by a granule */
};
void merged_release(struct merged *m);

struct space {
	enum space_kind kind;
	size_t group_count;
	struct group *groups; /* FLAT of tuples: by group */
	/* TREE, INVERTED, and FLAT of stacks: entry[] holds indexes of tree_groups->groups */
	struct merged merged;
	struct stacks *tree; /* of merged */
	const struct frame_groups *tree_groups;
	size_t vnode_count[2];
	const uint32_t *end[2];            /* by vnode; NULL: v + 1; not of FRAMES */
	const uint32_t *group_of_entry[2]; /* FRAMES; GROUP_NONE: in no group */
	uint32_t *owned_groups[2];
};

/* space_is_placed - are groups vnodes in preorder?  Their sums come from those of places. */
static inline bool space_is_placed(const struct space *sp)
{
	return sp->tree && sp->kind != SPACE_INVERTED;
}
/* space_end_of - the first vnode that is not below v. */
static inline uint32_t space_end_of(const struct space *sp, size_t side, uint32_t v)
{
	return sp->end[side] ? sp->end[side][v] : v + 1;
}
/* ---- sums (exec_sums.c) ------------------------------------------------------------------------ */

struct places {             /* of 64 vnodes */
	uint64_t has_cells; /* a bit for each */
	uint32_t before;    /* how many vnodes with cells come before these */
};
/* How many places before v have cells. */
static inline uint32_t places_before(const struct places *places, uint32_t v)
{
	const struct places *at = &places[v / 64];
	return at->before + bits_count(at->has_cells & ((UINT64_C(1) << v % 64) - 1));
}
static inline uint32_t places_has(const struct places *places, uint32_t v)
{
	return places[v / 64].has_cells >> v % 64 & 1;
}

struct sums {                           /* of one side and measure */
	struct graph_sum *self, *total; /* by group; NULL where vnodes are groups */
};
/* By number of a place, what lies before it.  Measures lie side by side: what is asked for at one
 * place is asked for of all of them. */
struct prefix {
	size_t width; /* measures that there are */
	enum measure measures[MEASURE_COUNT];
	size_t index_of[MEASURE_COUNT]; /* in measures */
	uint32_t place_count;
	struct graph_sum *sums; /* [(place_count + 1) * width] */
};
static inline struct graph_sum prefix_between(const struct prefix *p, enum measure m,
					      uint32_t place, uint32_t end)
{
	const struct graph_sum *sums = p->sums + p->index_of[m];
	struct graph_sum v = sums[end * p->width];
	sum_take(&v, &sums[place * p->width]);
	return v;
}
/* prefix_add - add what lies between two places, of all measures: out[width]. */
static inline void prefix_add(const struct prefix *p, uint32_t place, uint32_t end,
			      struct graph_sum *out)
{
	const struct graph_sum *from = p->sums + place * p->width, *to = p->sums + end * p->width;
	for (size_t k = 0; k < p->width; k++) {
		sum_add(&out[k], &to[k]);
		sum_take(&out[k], &from[k]);
	}
}
struct extremes { /* of the main measure of one side, by group */
	int64_t *max_bytes;
	uint64_t *first_ns, *last_ns;
};

/* What comparing stacks of a tree has found out (exec_order.c). */
struct stack_order {
	const struct stacks *tree;
	uint64_t looked_at; /* vnodes, by comparisons from the leaf */
	uint32_t *rank;     /* by vnode; NULL: not made */
	bool has_failed;    /* to make ranks: then without */
};

struct inverted;
struct tuples;
struct lifetimes;
struct row_list;

struct exec {
	struct plan *pl;
	struct where w;
	struct cells cells[2][MEASURE_COUNT];
	uint32_t *place[2][MEASURE_COUNT]; /* by cell: its vnode */
	/* By cell: the group that holds its leaf; GROUP_NONE.  Not where vnodes are groups. */
	uint32_t *self[2][MEASURE_COUNT];
	struct graph_sum all[2]; /* the population without filters */

	bool is_of_nodes; /* FRAMES, tuples: cells are at nodes, no stacks are needed */
	const struct stacks *stacks[2]; /* after transforms */
	struct stacks *owned_stacks[2];
	struct frame_groups frames;       /* by the keys of frames */
	struct frame_groups stack_frames; /* by what tells stacks apart */
	struct merged stack_tree;         /* of the key `stack` beside others */
	struct stack_order stack_order;
	uint32_t *match[2]; /* by vnode of stacks: outermost frame that fits the view's step */
	uint32_t
		*below[2]; /* VIEW_PEEK, by vnode below a match: the first one on the way from it */
	struct strtab names; /* texts that make groups of two files equal, and classes */

	struct space space;
	struct inverted *inverted;
	struct tuples *tuples;
	struct sums sums[2][MEASURE_COUNT];
	struct places *places[2]; /* [vnode_count / 64 + 1]: where cells of any measure are */
	struct prefix prefix[2];
	struct extremes extremes[2];
	uint32_t *cell_order[2],
		*cell_first[2]; /* cells of the main measure by vnode, for quantiles */
	struct lifetimes *lifetimes[2];
	struct values totals;

	int64_t base_bytes;            /* of percentages */
	struct row_match *row_matches; /* conditions on texts of rows, made once */
	size_t match_count, match_cap;
	bool has_cut_stacks; /* the row stages have acted on stacks: not again on the tree */
	bool explains_rows;
	bool has_no_memory; /* a name could not be made */
	size_t poll_mask;   /* rounds of hot loops between two polls, minus one */

	struct query_result *out;
	entry_id *first_entries; /* of x->frames, in the result's arena */
	uint32_t *row_of;        /* by group, if the plan needs samples: its row; UINT32_MAX */
};

/* exec_no_memory - as plan_no_memory. */
enum neap_err exec_no_memory(struct exec *x);
/* exec_polls - as plan_polls, for hot loops. */
static inline bool exec_polls(struct exec *x, size_t round)
{
	return !(round & x->poll_mask) && plan_polls(x->pl, round);
}
/* exec_each_measure - work on each measure of each side that the plan needs, in two threads if there is
 * much of it: work must not poll, and touch nothing but what is of its measure.  false: one failed. */
bool exec_each_measure(struct exec *x, bool (*work)(struct exec *x, size_t side, size_t m));
void exec_release(struct exec *x);
struct stack_cut;
/* exec_begin - everything up to the sums. */
enum neap_err exec_begin(struct exec *x, struct stack_cut *cut);
/* exec_make_result - all of x->out but its rows. */
enum neap_err exec_make_result(struct exec *x);

/* frame_groups_build - groups of entries by the frame keys among `keys` of the plan. */
enum neap_err frame_groups_build(struct exec *x, const struct plan_key *keys, size_t key_count,
				 struct frame_groups *out);
/* group_key - the cell of a key (index in the plan) of a group. */
struct result_cell group_key(struct exec *x, const struct group *g, size_t key_idx);

/* space_is_of_frames - are its rows functions, lines, ..., and not stacks or blocks? */
bool space_is_of_frames(const struct plan *pl);
/* space_is_of_tuples - are its rows values of keys of allocations, perhaps beside frames of the leaf? */
bool space_is_of_tuples(const struct plan *pl);
/* space_build - the space of the query, and where cells are in it; cells that zoom or a view's step
 * leave out are dropped (exec_space.c). */
enum neap_err space_build(struct exec *x);
void space_release(struct exec *x);
/* space_drop - of cells that were loaded apart: drop what zoom or the view's step leaves out. */
enum neap_err space_drop(struct exec *x, size_t side, struct cells *c);
/* space_need_self - room for x->self; false: no memory. */
bool space_need_self(struct exec *x);
/* space_leaf_entry - the leaf frame of a site's stack; ENTRY_NONE: zoomed away. */
entry_id space_leaf_entry(const struct exec *x, size_t side, size_t site);
/* space_group - what a group is called by; NULL for the root of a tree. */
const struct group *space_group(const struct exec *x, uint32_t group);
/* Trees and stacks (exec_tree.c). */
enum neap_err space_build_stacks(struct exec *x);
enum neap_err space_build_tree(struct exec *x);
/* mark_cells - the vnodes of a side's stacks where cells begin, and, if `upwards`, all above them; NULL: no memory. */
uint8_t *mark_cells(const struct exec *x, size_t side, bool upwards);
/* From the leaf up (exec_invert.c). */
enum neap_err space_build_inverted(struct exec *x);
void inverted_free(struct inverted *inv); /* NULL is fine */
/* inverted_open - the rows below one that have anything. */
enum neap_err inverted_open(struct exec *x, uint32_t v, struct row_list *out);
/* inverted_has_more - is there anything below a row that was not opened? */
bool inverted_has_more(const struct exec *x, uint32_t v);
/* inverted_mark - write a mark at each place in the stacks of side 0 whose cells are in a row. */
void inverted_mark(const struct exec *x, uint32_t v, uint32_t mark, uint32_t *by_place);
/* inverted_places - call add for each place in the stacks whose cells are in a row. */
void inverted_places(const struct exec *x, uint32_t v, size_t side,
		     void (*add)(const struct exec *x, size_t side, uint32_t place));
/* Values of keys (exec_tuple.c). */
enum neap_err space_build_tuples(struct exec *x);
/* tuples_place - the groups of other cells than the query's own; new groups come after all others. */
enum neap_err tuples_place(struct exec *x, size_t side, const struct cells *c, uint32_t *group_out);
void tuples_free(struct tuples *t); /* NULL is fine */
/* key_slice - where the slice of a key begins that a value is in. */
uint64_t key_slice(const struct plan_key *k, uint64_t value);
enum neap_err space_build_peek(struct exec *x);
/* peek_expand - give each cell its other rows; after values_of_cells. */
enum neap_err peek_expand(struct exec *x);
/* stack_groups_build - x->stack_frames. */
enum neap_err stack_groups_build(struct exec *x);
/*
 * tree_build - merge the stacks of both sides by groups of frames.  With x->match it begins at
 * the matches.  Free with merged_release.
 */
enum neap_err tree_build(struct exec *x, const struct frame_groups *fg, struct merged *out);

bool extremes_init(struct extremes *e, size_t count);
bool extremes_grow(struct extremes *e, size_t count); /* what is new is not set */
void extremes_clear(struct extremes *e, size_t at);
void extremes_of_cell(struct extremes *e, const struct cells *c, size_t i, size_t at);
void extremes_widen(struct extremes *to, size_t at, const struct extremes *from, size_t from_at);
void extremes_release(struct extremes *e);
/* grow - a larger array; false: no memory, and it is as it was. */
bool grow(void **data, size_t count, size_t elem_bytes);

bool frames_as_if_large(const struct exec *x);
/* frames_use_two_threads - is the way through a side's vnodes long enough? */
bool frames_use_two_threads(const struct exec *x, size_t side);
/* Each: false: no memory, or cancelled. */
bool frames_sum(struct exec *x, size_t side);
bool frames_find_extremes(struct exec *x, size_t side);
/* frames_sum_sets - add to `total` of each set what is on the stacks of any of its groups, once each.
 *   set_of_group  by group; GROUP_NONE: in no set */
bool frames_sum_sets(struct exec *x, size_t side, const uint32_t *set_of_group, size_t set_count,
		     struct values *sets);

enum neap_err sums_build(struct exec *x);
void sums_release(struct exec *x);
/* Of one measure. */
struct graph_sum self_of_group(const struct exec *x, size_t side, enum measure m, uint32_t group);
struct graph_sum total_of_group(const struct exec *x, size_t side, enum measure m, uint32_t group);
void values_of_cells(const struct exec *x, struct values *out);
void values_of_group(const struct exec *x, uint32_t group, struct values *out);
/* set_of_groups - these groups as set 0, for frames_sum_sets; NULL: no memory. */
uint32_t *set_of_groups(const struct exec *x, const uint32_t *groups, size_t count);
/* values_of_set - several groups as one: each cell counts once. */
enum neap_err values_of_set(struct exec *x, const uint32_t *groups, size_t count,
			    struct values *out);
/*
 * values_of_sets - many sets of groups, none of which share a group, in one pass.
 *
 *   set_of_group  by group; GROUP_NONE: in no set
 *   out           [set_count], without quantiles
 */
enum neap_err values_of_sets(struct exec *x, const uint32_t *set_of_group, size_t set_count,
			     struct values *out);

/* Quantiles of lifetimes (exec_lifetimes.c). */
/* lifetimes_order - of one side, once its cells are placed; false: no memory. */
bool lifetimes_order(struct exec *x, size_t side);
void lifetimes_release(struct exec *x, size_t side);
/* quantiles_prepare - of groups of frames, whose quantiles will be asked for one by one. */
enum neap_err quantiles_prepare(struct exec *x, const uint32_t *groups, size_t count);
enum neap_err quantiles_of_cells(struct exec *x, struct values *out);
enum neap_err quantiles_of_set(struct exec *x, const uint32_t *groups, size_t count,
			       struct values *out);

/* column_cell - a column of values. */
struct result_cell column_cell(const struct exec *x, const struct values *v, enum ast_column c);
enum result_type column_type(enum ast_column c);

/*
 * stack_order_compare - which of two stacks comes first: < 0, 0, > 0.
 *   tree  in preorder; its entries are groups of x->stack_frames
 * Cost: the depth of the stacks, in all comparisons together no more than sorting the tree.
 */
int stack_order_compare(struct exec *x, const struct stacks *tree, uint32_t a, uint32_t b);
void stack_order_release(struct stack_order *o);

/* Groups as rows, in order, and those that were cut away. */
struct row_list {
	uint32_t *groups, *others;
	size_t count, other_count, other_cap;
};
void row_list_release(struct row_list *rows);
bool row_has_values(const struct exec *x, uint32_t group);
/* rows_select - all groups that have anything, after the stages that act on rows. */
enum neap_err rows_select(struct exec *x, struct row_list *out);
/* rows_apply - the same for some groups: the children of one row of a tree. */
enum neap_err rows_apply(struct exec *x, struct row_list *rows);
/* totals_fit - does a condition hold for the total line? */
enum neap_err totals_fit(struct exec *x, const struct ast_expr *e, bool *out);
void row_matches_release(struct exec *x);
/* row_values - values of a group with what the plan's columns need. */
enum neap_err row_values(struct exec *x, uint32_t group, struct values *out);

/*
 * Rows of a tree that are not laid out (result.c): what a row shows comes from the sums of its
 * places and the names of its group.
 */
struct flat_row {
	uint32_t place, end;             /* of the vnode and what is below it */
	uint32_t depth : 31, is_own : 1; /* is the first of these places the vnode's own? */
	uint32_t group, parent;
};
struct result_flat {
	struct flat_row *rows;
	size_t row_cap;
	struct prefix prefix;
	struct result_cell *names; /* [group * name_count]: cells of the columns that are keys */
	size_t name_count;
	const entry_id *first_entries;     /* by group; in the result's arena */
	const struct plan_column *columns; /* of the result; in its arena */
	int64_t base_bytes;                /* of percentages */
	struct result_cell *row_cells; /* [column_count]: for result_cells; in the result's arena */
};
void result_flat_free(struct result_flat *flat); /* NULL is fine */
/* flat_value - a column from the sums of a vnode; false: it is none of those that a tree has unless
 * said otherwise. */
bool flat_value(const struct graph_sum *self, const struct graph_sum *total, int64_t base_bytes,
		enum ast_column c, struct result_cell *out);

/* Results (exec_result.c, exec_time.c, exec_classes.c).  Rows are gathered and copied to the result at the end. */
struct gathered {
	struct result_row *rows;
	struct result_cell *cells;
	size_t row_count, row_cap, cell_cap;
	struct result_flat *flat; /* instead of rows and cells */
};
/* gather_row - a row with the columns of the plan; group NULL: no keys. */
enum neap_err gather_row(struct exec *x, struct gathered *to, const struct result_row *row,
			 uint32_t group, const struct values *v);
struct stack_cut { /* the row `(other: N rows)` of the stacks that stages on rows cut */
	struct values values;
	size_t count;
};
/* gather_cut - that row, if there is one. */
enum neap_err gather_cut(struct exec *x, struct gathered *to, const struct stack_cut *cut);
enum neap_err gather_sum(struct exec *x, struct gathered *to);
/* gather_hist - buckets of the rows by the values of a column (exec_hist.c). */
enum neap_err gather_hist(struct exec *x, struct gathered *to);
enum neap_err gather_table(struct exec *x, struct gathered *to);
enum neap_err gather_tree(struct exec *x, struct gathered *to);
/* tree_is_plain - has a tree no stage on rows, and the usual order? */
bool tree_is_plain(const struct exec *x);
/* gather_plain_tree - such a tree, faster (exec_plain.c). */
enum neap_err gather_plain_tree(struct exec *x, struct gathered *to, uint32_t depth_most);
enum neap_err gather_timeline(struct exec *x, struct gathered *to);
/* Blocks apart by their sizes (exec_samples.c). */
/* samples_begin - before rows are gathered: x->row_of, if the plan needs samples. */
enum neap_err samples_begin(struct exec *x);
/* samples_make - the samples of the result, once all of its rows are there. */
enum neap_err samples_make(struct exec *x, const struct gathered *rows,
			   const struct stack_cut *cut);
/* tree_open - what is below a row of a tree, after the stages that act on rows.  From the leaf up
 * only once for each row. */
enum neap_err tree_open(struct exec *x, uint32_t v, struct row_list *out);
enum neap_err gather_other(struct exec *x, struct gathered *to, const struct row_list *rows,
			   uint32_t depth, uint32_t parent);

/* --explain: a line for a step that was done (explain.c). */
void explain_cells(struct exec *x, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void explain_rows(struct exec *x, const struct row_list *rows, const struct ast_stage *stage);

#endif
