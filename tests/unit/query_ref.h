/*
 * The slow, obvious counterpart of query/: the same questions answered from the raw columns
 * of a profile, one group of blocks at a time, with each stack as a list of strings.
 *
 * It shares the parser with what it checks, nothing else: populations follow the formulas of
 * query/exec_cells.c, conditions are tried frame by frame, paths by backtracking.
 */
#ifndef NEAP_TESTS_UNIT_QUERY_REF_H
#define NEAP_TESTS_UNIT_QUERY_REF_H

#include "query/parse.h"
#include "src/graph/graph.h"

#define REF_FRAMES 96

struct ref_frame {
	char func[96];           /* as shown: "libx.so+0x10" without a name */
	const char *linkage;     /* NULL without a name */
	const char *file, *path; /* NULL unknown; path of the module */
	uint32_t line;
	uint64_t pc;
	bool is_named, has_code;
};
struct ref_stack { /* outermost first */
	struct ref_frame frames[REF_FRAMES];
	int count, leaf;
	bool is_dropped; /* by zoom, or by the step of the view */
};

/* One side: a population with instants. */
struct ref_side {
	const struct profile *p;
	enum graph_pop pop;
	struct graph_window window;
	uint64_t instant_ns;
	bool (*is_wrapper)(const char *name);
	const char *(*type)(const char *name); /* of what a function allocates, or NULL */
};

enum ref_view {
	REF_FRAME_KEYS,
	REF_TUPLES,
	REF_TREE,
	REF_INVERTED,
	REF_STACKS,
	REF_SUM
};

/* A row: values of one side. */
struct ref_row {
	char *key;
	struct graph_sum self, total;
	int64_t max_bytes;
	uint64_t first_ns, last_ns;
	struct ref_lifetime {
		uint64_t ns;
		int64_t blocks;
	} * lifetimes;
	size_t lifetime_count, lifetime_cap;
};
struct ref_table {
	struct ref_row *rows;
	size_t count, cap;
	struct ref_row totals, other; /* other: of the keys in `cut` */
	struct graph_sum all;         /* before the filters */
};

struct ref_question {
	const struct ast_query *query;
	enum ref_view view;
	const struct ast_key *keys;
	size_t key_count;
	bool line_is_number;         /* another key names the file */
	bool stacks_by_name;         /* without files and lines */
	const struct ast_step *step; /* of the view, or NULL */
	/* Is this key of a frame cut away?  For table->other of REF_FRAME_KEYS; may be NULL. */
	bool (*is_cut)(const char *key, void *arg);
	void *arg;
};

/* ref_answer - rows with anything in the population; free with ref_table_release. */
void ref_answer(const struct ref_question *q, const struct ref_side *side, struct ref_table *out);
void ref_table_release(struct ref_table *t);
struct ref_row *ref_find(const struct ref_table *t, const char *key); /* NULL: none */
/* ref_quantile - false: no block. */
bool ref_quantile(const struct ref_row *r, int percent, uint64_t *out);

#endif
