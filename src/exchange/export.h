/*
 * What writers of foreign formats are given: a call tree, a series over time, snapshots, or the
 * sections of a page, with words about where they come from.
 *
 * The report makes these from results of queries; the writers know nothing of queries.  Texts come
 * from profiles and are hostile: each writer escapes them as its format wants, invalid UTF-8 and
 * control characters become U+FFFD.  Everything is borrowed for the duration of a call.
 *
 * Writers append to a buffer and fail with ERR_NOMEM only, unless they say otherwise.
 */
#ifndef NEAP_EXCHANGE_EXPORT_H
#define NEAP_EXCHANGE_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"

#define EXPORT_NONE UINT32_MAX

/* Where the numbers come from. */
struct export_about {
	const char *title;        /* of the program: its command line, or its name */
	const char *query;        /* canonical; repeats this answer with neap query */
	const char *population;   /* "live at 12.00 s (snapshot 400 of 1000)" */
	const char *file;         /* the profile, as the user named it */
	const char *new_file;     /* the second one, if there are two; else NULL */
	const char *tool;         /* "neap 0.1.0" */
	uint64_t start_unix_ns;   /* 0: unknown */
	uint64_t duration_ns;     /* of the recording */
	uint64_t instant_ns;      /* since the recording began: what the values are of */
	uint64_t sample_bytes;    /* 0: every block was counted */
	bool is_estimated;        /* the numbers were scaled up from samples */
	const char *const *notes; /* losses and warnings, one line each */
	size_t note_count;
};

enum export_unit {
	EXPORT_BYTES,
	EXPORT_BLOCKS
};
struct export_value {
	const char *name; /* "total", "inuse_space" */
	enum export_unit unit;
};

struct export_module {
	const char *path;
	const char *build_id;      /* hexadecimal; "" if unknown */
	uint64_t start_va, end_va; /* where it was mapped */
	uint64_t bias;             /* run-time address - bias = address in the file */
	bool is_main;
};

struct export_frame {
	const char
		*function; /* what it is called; "libc.so.6+0x1234" or "[signal]" without a name */
	const char *label; /* the same, short, for people */
	const char *linkage;     /* as in the object file; NULL unknown */
	const char *file;        /* NULL unknown */
	const char *module_path; /* NULL unknown */
	uint32_t line;           /* 0 unknown */
	uint32_t module;         /* index; EXPORT_NONE: none */
	uint64_t address;        /* return address in the module's own addresses; 0 unknown */
	uint32_t place;  /* frames of one return address have one number; EXPORT_NONE: unknown */
	bool has_name;   /* function is one */
	bool is_inlined; /* into the frame around it at the same address */
	bool is_tail;    /* it left with a jump */
	bool is_other;   /* stands for rows that a query cut away */
};

/* One node: a frame below the frames of its parents. */
struct export_node {
	uint32_t parent; /* its index, smaller than the node's own; EXPORT_NONE */
	uint32_t frame;
	uint32_t depth; /* of a root 0 */
	uint32_t end;   /* the nodes below it are those up to this one */
};

/* Blocks of one size at a node, for formats that tell sizes apart. */
struct export_sample {
	uint32_t node;       /* EXPORT_NONE: the stack is unknown */
	uint64_t size_bytes; /* of each block; 0: of many sizes */
};

/*
 * A call tree in preorder.  With is_inverted roots are the innermost frames and children their
 * callers.  Values of a node include those below it; what is its own is the rest.
 */
struct export_tree {
	const struct export_frame *frames;
	size_t frame_count;
	const struct export_module *modules;
	size_t module_count;
	const struct export_node *nodes;
	size_t node_count;
	const struct export_value *values;
	size_t value_count; /* at least 1 */
	size_t main_value;
	const int64_t *totals; /* [node_count * value_count] */
	const int64_t *selfs;  /* the same, without what is below */
	const int64_t *whole;  /* [value_count]: the roots together */
	bool is_inverted;
	/* Of differences: values of the two sides; SIZE_MAX otherwise. */
	size_t before_value, after_value;
	/* For pprof; else none, and nodes have what they have. */
	const struct export_sample *samples;
	size_t sample_count;
	const struct export_value *sample_values;
	size_t sample_value_count, main_sample_value;
	const int64_t *sample_numbers; /* [sample_count * sample_value_count] */
};

struct export_point {
	uint64_t time_ns;
	int64_t value;
};
struct export_mark {
	const char *name;
	uint64_t time_ns;
};
/* A part of a curve: values of one class of what it counts. */
struct export_layer {
	const char *name;
	const int64_t *values; /* [point_count] */
	int64_t peak;          /* its part of the peak, if that has a value */
	bool is_rest;          /* all classes that have no layer of their own */
};
#define EXPORT_LAYERS_MOST 12u /* as many as there are colours that can be told apart */
/* A curve; each value holds until the next point. */
struct export_series {
	const char *name; /* "live bytes" */
	enum export_unit unit;
	const struct export_point *points; /* times do not go back */
	size_t point_count;
	const struct export_layer
		*layers; /* that add up to the points, the largest first; or none */
	size_t layer_count;
	uint64_t start_ns, end_ns;
	const struct export_mark *marks;
	size_t mark_count;
	bool is_signed;
	bool has_peak; /* of the process */
	bool has_peak_value;
	struct export_point peak;
};

/* One snapshot; nodes are a tree from the leaf up, or none. */
struct export_snapshot {
	uint64_t time_ns;
	int64_t bytes;
	bool is_peak;
	const struct export_tree *tree; /* NULL: totals only */
};

/* ---- writers ----------------------------------------------------------------------- */

/* export_pprof - profile.proto, compressed with gzip.  Fails with ERR_LIMIT, too: LIMIT_ANSWER_FRAMES in all stacks. */
enum neap_err export_pprof(const struct export_about *about, const struct export_tree *t,
			   struct buf *out, struct err *e);
/* export_speedscope - one profile for each value; of differences one for more, one for less. */
enum neap_err export_speedscope(const struct export_about *about, const struct export_tree *t,
				struct buf *out, struct err *e);
/* export_callgrind - the Callgrind profile format, version 1; no negative values. */
enum neap_err export_callgrind(const struct export_about *about, const struct export_tree *t,
			       struct buf *out, struct err *e);
/* export_dot - functions and calls for Graphviz; what is smaller than min_share of the whole is
 * left out, and the graph's label says how much. */
enum neap_err export_dot(const struct export_about *about, const struct export_tree *t,
			 double min_share, struct buf *out, struct err *e);
/* export_massif - valgrind's massif; trees are cut where they are, threshold_pct says at what. */
enum neap_err export_massif(const struct export_about *about,
			    const struct export_snapshot *snapshots, size_t count,
			    double threshold_pct, struct buf *out, struct err *e);
/* export_flame - an SVG of its own, with zoom and search by script. */
enum neap_err export_flame(const struct export_about *about, const struct export_tree *t,
			   struct buf *out, struct err *e);
/* export_chart - an SVG of its own. */
enum neap_err export_chart(const struct export_about *about, const struct export_series *s,
			   struct buf *out, struct err *e);

/* ---- the page ---------------------------------------------------------------------- */

struct export_column {
	const char *word;
	bool is_text;
	bool is_code; /* a name from a profile */
};
struct export_cell {
	const char *text;  /* as shown */
	const char *title; /* more of it, or NULL */
	double number;     /* to sort by */
};
struct export_table {
	const struct export_column *columns;
	size_t column_count;
	const struct export_cell *cells; /* [row_count * column_count] */
	const uint32_t *depths;          /* [row_count] of trees, or NULL */
	size_t row_count;
	const struct export_cell *totals; /* [column_count], or NULL */
	const char *other; /* "(other: 12 rows)", the last line before the totals, or NULL */
	const struct export_cell *others; /* [column_count] with it */
	size_t bar_column;                /* shares as bars; SIZE_MAX: none */
};

/* One of tree, series and table; a section with none of them says `empty`. */
struct export_section {
	const char *title, *query, *population;
	const char *empty;
	const struct export_tree *tree;
	const struct export_series *series;
	const struct export_table *table;
};
struct export_fact { /* one of the large numbers at the top */
	const char *name, *value, *more;
};
struct export_page {
	const struct export_fact *facts;
	size_t fact_count;
	const struct export_section *sections;
	size_t section_count;
};
/* export_page - one HTML document that loads nothing. */
enum neap_err export_html(const struct export_about *about, const struct export_page *p,
			  struct buf *out, struct err *e);

#endif
