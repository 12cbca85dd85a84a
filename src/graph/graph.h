/*
 * The index over a profile: who holds, allocated or freed how much, and from where.
 *
 * Everything is computed from the cohorts of the file, in signed 64-bit sums of
 * blocks and bytes, in time linear in the columns it reads.
 *
 * Populations.  For a cohort c with birth snapshot b, B births and T temporary
 * blocks, let D(s) be its deaths recorded by snapshots 1 .. s, and S the last
 * snapshot.  Inherited cohorts (live when the process was forked) have b = 0 and
 * were never allocated by this process.  The value of c is, in (from, to]:
 *
 *   live       [b <= to] B - D(to)
 *   peak       what the exact peak recorded for c; without one, live at the
 *              snapshot where the sum of live bytes is highest (the first such)
 *   leaked     live at S
 *   allocated  [from < b <= to, not inherited] B
 *   freed      D(to) - D(from)
 *   temporary  [from < b <= to, not inherited] T
 *   survivors  [from < b <= to, not inherited] (B - D(to))
 *   growth     live at to - live at from
 *
 * Bytes follow the same formulas with the bytes of the same blocks.
 *
 * Frames.  A return address stands for one or more functions (the inlined ones and
 * the one that holds the code); each is an entry.  Addresses without a name have
 * one entry with only module and address.  The roots [signal] and [truncated] are
 * entries too, and so is "[no stack]" for blocks charged to the bare root.
 */
#ifndef NEAP_GRAPH_GRAPH_H
#define NEAP_GRAPH_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/map.h"
#include "src/profile/profile.h"

struct graph; /* keeps a pointer to the profile, which must outlive it */

/* Row of a table of frames' functions; stable for the life of the graph. */
typedef uint32_t entry_id;
#define ENTRY_NONE UINT32_MAX

struct graph_options {
	/* Is this demangled name an allocation wrapper (sym_is_wrapper)?  NULL: none is. */
	bool (*is_wrapper)(const char *name);
	/* More of them, as the user says; asked where is_wrapper says no.  May be NULL. */
	bool (*is_more)(void *context, const char *name);
	void *context;
};

/*
 * graph_build - index a profile.
 * Cost:  linear; a few bytes a cohort, nothing for a node.
 * Fails: ERR_NOMEM; *out is then NULL.
 */
enum neap_err graph_build(const struct profile *p, const struct graph_options *options,
			  struct graph **out, struct err *e);
void graph_free(struct graph *g); /* NULL is fine */
const struct profile *graph_profile(const struct graph *g);

/* ---- time ------------------------------------------------------------------- */

/* graph_last_snap - S; 0 if there is no snapshot. */
snap_id graph_last_snap(const struct graph *g);
/* graph_snap_at - the last snapshot taken at or before time_ns; 0 (the start) if none. O(log S). */
snap_id graph_snap_at(const struct graph *g, uint64_t time_ns);
/* graph_snap_time - when it was taken; 0 for snapshot 0. */
uint64_t graph_snap_time(const struct graph *g, snap_id s);
/* graph_end_time - how long was recorded: the end record, the last snapshot or the peak, whichever is latest. */
uint64_t graph_end_time(const struct graph *g);

/* The instant of the population "peak". */
struct graph_peak {
	uint64_t time_ns;
	snap_id snap;         /* interval it fell in (exact) or snapshot it is (not exact) */
	int64_t bytes;        /* sum of the population */
	uint64_t bound_bytes; /* the true peak is within this; meaningful if is_exact */
	bool is_exact;        /* recorded by the process itself, not found among snapshots */
};
struct graph_peak graph_peak(const struct graph *g);

/* ---- populations --------------------------------------------------------------- */

struct graph_sum {
	int64_t blocks, bytes;
};

enum graph_pop {
	POP_LIVE,
	POP_PEAK,
	POP_LEAKED,
	POP_ALLOCATED,
	POP_FREED,
	POP_TEMPORARY,
	POP_SURVIVORS,
	POP_GROWTH,
	POP_COUNT,
};
const char *graph_pop_name(enum graph_pop pop); /* "live", ... */

struct graph_window {
	snap_id from, to; /* (from, to]; live uses `to`; peak and leaked use neither */
};
/* graph_whole_run - (0, S]. */
struct graph_window graph_whole_run(const struct graph *g);

/*
 * graph_pop_cohorts - value of every cohort in a population.
 *   cohorts_out  [cohort_count], indexed by cohort_id - 1
 * Snapshots past the last count as the last; from > to is an empty window.
 * Cost: one pass over the cohorts and over at most half of the deaths.
 */
void graph_pop_cohorts(const struct graph *g, enum graph_pop pop, struct graph_window w,
		       struct graph_sum *cohorts_out);

struct graph_sum graph_add_up(const struct graph_sum *values, size_t count);

/* graph_sum_sites - values of cohorts added up by site; [site_count], site_id - 1.  Overwrites. */
void graph_sum_sites(const struct graph *g, const struct graph_sum *cohorts,
		     struct graph_sum *sites_out);

struct graph_tick {
	uint64_t time_ns;
	struct graph_sum live;             /* at this snapshot */
	struct graph_sum allocated, freed; /* in the interval that ends with it */
};
/*
 * graph_timeline - one tick per snapshot, tick 0 being the start.
 *   keep       [cohort_count], 0 leaves a cohort out; NULL keeps all
 *   ticks_out  [snapshot_count + 1]
 */
void graph_timeline(const struct graph *g, const uint8_t *keep, struct graph_tick *ticks_out);

/* ---- frames ---------------------------------------------------------------------- */

enum graph_frame_kind {
	FRAME_NAMED,     /* func is known */
	FRAME_ADDRESS,   /* only module and address, or an address in no module */
	FRAME_SIGNAL,    /* everything further in ran below a signal handler */
	FRAME_TRUNCATED, /* the outer part of the stack is missing */
	FRAME_NO_STACK,  /* nothing is known of the stack */
};

/* What is known of one entry.  Strings belong to the profile and are not to be trusted. */
struct graph_frame {
	enum graph_frame_kind kind;
	entry_id entry;
	frame_id frame;          /* 0 for the roots */
	func_id func;            /* 0 unknown; equal names have equal ids */
	file_id file;            /* 0 unknown; equal paths have equal ids */
	uint32_t line;           /* 0 unknown */
	mod_id module;           /* 0 none; equal paths have equal ids */
	uint64_t pc;             /* in the module's own addresses */
	const char *name;        /* demangled; NULL unless FRAME_NAMED */
	const char *linkage;     /* NULL unless FRAME_NAMED */
	const char *file_path;   /* NULL unknown */
	const char *module_path; /* NULL unknown */
	bool is_wrapper;         /* allocation wrapper */
	bool is_inlined;         /* into the next entry of the same address */
	bool is_tail;            /* it jumped to the function further in, and left no frame */
	bool is_guessed;         /* the unwinder found it by frame pointer only */
};
struct graph_frame graph_entry(const struct graph *g, entry_id entry);
size_t graph_entry_count(const struct graph *g);

/* graph_leaf_node - node of the innermost frame of n's stack that is neither an allocation wrapper nor one that
 * jumped away (is_tail); O(these).  A stack of such only has its outermost frame as leaf, a stack without frames its root. */
node_id graph_leaf_node(const struct graph *g, node_id n);
/* graph_leaf_entry - the entry of a leaf node that is the leaf. */
entry_id graph_leaf_entry(const struct graph *g, node_id leaf_node);
/* graph_is_exiting - did the code of n run inside exit()?  O(depth). */
bool graph_is_exiting(const struct graph *g, node_id n);

/*
 * Walk a stack from n outwards, inlined functions first.
 *   struct graph_walk w = graph_walk_init(g, n);
 *   while ((entry = graph_walk_next(&w)) != ENTRY_NONE) ...
 * w.node is the node of the entry returned last.
 */
struct graph_walk {
	const struct graph *graph;
	node_id node, next_node;
	entry_id next_entry, end_entry;
};
struct graph_walk graph_walk_init(const struct graph *g, node_id n);
/* graph_walk_leaf - same, starting with the leaf entry of n's stack. */
struct graph_walk graph_walk_leaf(const struct graph *g, node_id n);
entry_id graph_walk_next(struct graph_walk *w);

/* ---- types ----------------------------------------------------------------------- */

/* Types of the objects that sites allocate, where a function's name tells. */
struct graph_types {
	struct strtab names;
	uint32_t *of_site; /* [site_count], site_id - 1: index in names plus 1; 0 unknown */
};

/*
 * graph_types_build - ask type_of (sym_type_of) about the functions of each stack.
 *
 * From the innermost frame outwards through the allocation wrappers to the first function that
 * is none: the first that tells a type counts.  Frames further out say nothing about the block.
 * Cost:  linear in functions and sites.
 * Fails: ERR_NOMEM; *out is then empty.
 */
enum neap_err graph_types_build(const struct graph *g,
				bool (*type_of)(const char *name, struct buf *out),
				struct graph_types *out, struct err *e);
void graph_types_release(struct graph_types *t);

/*
 * The index as flat columns, read-only, for scans.  The entries of a node n are
 * first_entry[graph_frame_of_node(g, n)] .. first_entry[... + 1] - 1, innermost first.
 */
struct graph_columns {
	size_t entry_count;
	const func_id *entry_func; /* by entry; 0 unknown */
	const file_id *entry_file;
	const uint32_t *entry_line;
	const uint8_t *func_is_wrapper; /* by func_id; of 0 false */
	size_t frame_count;             /* indexes of frames, those of the fixed nodes too */
	const uint32_t *first_entry;    /* by frame; one more */
	const entry_id *leaf_entry; /* by frame: its first entry that may be a leaf; ENTRY_NONE */
};
struct graph_columns graph_columns(const struct graph *g);
uint32_t graph_frame_of_node(const struct graph *g, node_id n);
/* graph_cohort_birth - the snapshot that ends the interval of its birth; 0 if inherited. */
snap_id graph_cohort_birth(const struct graph *g, size_t cohort_idx);

#endif
