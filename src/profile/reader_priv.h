/* The reader's parts: blocks in reader.c, tables in read_tables.c, the call tree in read_tree.c, snapshots
 * in read_snap.c. */
#ifndef NEAP_PROFILE_READER_PRIV_H
#define NEAP_PROFILE_READER_PRIV_H

#include "src/profile/profile_priv.h"

/* A short way to say that a block's content is wrong. */
#define broken(e, what) err_corrupt((e), "%s", (what))

/* A change of a cohort from an earlier snapshot, or a late one: applied when its snapshot is whole. */
struct adjustment {
	cohort_id cohort;
	struct profile_change change;
};

/*
 * New cohorts of the current snapshot, not committed yet: what goes into narrow columns.
 */
struct new_cohorts {
	uint64_t *sites, *threads, *birth_snaps, *flags, *births, *temporary;
	uint64_t *born_bytes, *temporary_bytes, *live; /* live: blocks */
	size_t count, cap;
};

/* Deaths of the current snapshot, as these. */
struct new_deaths {
	uint64_t *cohorts, *blocks, *bytes;
	size_t count, cap;
};

struct snap_reader {
	struct snap_state state;
	bool is_closed; /* a block was lost or broken: what follows cannot be understood */
	uint64_t unit_ns, rss_unit_bytes;
	struct reader columns[SNAP_COLUMN_COUNT];

	struct adjustment *adjustments; /* of the current snapshot */
	size_t adjustment_count, adjustment_cap;
	struct new_cohorts born;
	struct new_deaths died;
};

/*
 * A profile while it is read.  Columns are filled behind the profile's counts, and the
 * counts are raised when a block, or a snapshot of it, turned out to be whole.
 */
struct loader {
	struct profile *p;
	struct block_opener *opener;
	const char *name;
	size_t module_cap, thread_cap, frame_cap, mark_cap, snapshot_cap;
	uint64_t *numbers; /* of a block, on their way into a narrow column */
	size_t number_cap;
	node_id *parents; /* of a block's nodes, the same */
	size_t parent_cap;

	/* As the writer's. */
	uint64_t last_pc;
	mod_id last_module;
	frame_id *follower;
	size_t follower_cap;
	frame_id top_frame;
	node_id last_site_node;
	struct snap_reader snap;

	/* One of two that share the blocks (read_lanes.c): ids of the other's tables are not checked
	 * yet, and the largest that a block names is kept. */
	bool is_lane;
	uint32_t most_named;

	struct profile_tails tails; /* arrays of the profile's arena */
	size_t tails_first_frame;   /* after this one come their frames */

	bool has_end;
	uint32_t block_count; /* whole ones of a known type */
	uint32_t
		lost_count[BLOCK_TYPE_COUNT]; /* blocks without effect, by type; 0 = type unknown */

	/* For profile_dump; may be NULL.  A module, thread or mark was read, with this id. */
	void (*on_record)(void *ctx, const struct profile *p, enum block_type type, size_t id);
	/* A snapshot was decoded; its cohorts and deaths are l->snap's. */
	void (*on_snapshot)(void *ctx, const struct loader *l, const struct profile_snapshot *s);
	void *ctx;
};

enum neap_err loader_init(struct loader *l, const char *name, uint64_t bytes, struct err *e);
/* Frees everything but l->p; what loader_finish needs stays. */
void loader_release(struct loader *l);
/* loader_block - decode a whole block.  ERR_FORMAT: it has no effect; ERR_NOMEM: give up. */
enum neap_err loader_block(struct loader *l, const struct block *b, struct err *e);

/* loader_finish - after the last block: what records name that is not there, the nodes in preorder, and what
 * to say of damage. */
enum neap_err loader_finish(struct loader *l, struct err *e);

/* What a first look at the blocks shows. */
struct survey {
	struct surveyed {
		struct block block;
		/* Noted by the lane that reads it: see read_lanes.c. */
		uint32_t most_named;
		size_t node_count, module_count; /* after it */
	} * blocks;                              /* the whole ones */
	size_t count, cap;
	uint64_t raw_bytes;
	bool is_whole; /* no block is damaged or cut */
};
/*
 * read_in_lanes - read all blocks, with two threads, up to loader_finish.
 * Fails: ERR_NOMEM; ERR_FORMAT: nothing is said, the file is to be read another way.  *out is then empty.
 */
enum neap_err read_in_lanes(struct survey *s, const char *name, uint64_t bytes, struct loader *out,
			    struct err *e);

/* A group of columns that grow together. */
struct column {
	void **data;
	size_t elem_bytes;
};
/* columns_reserve - room for `need` elements in all of them; false: out of memory. */
bool columns_reserve(const struct column *columns, size_t count, size_t *cap, size_t need);
/* add_capped - a + b, or the largest number. */
static inline uint64_t add_capped(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Each: NEAP_OK, ERR_FORMAT or ERR_NOMEM. */
enum neap_err read_run(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_modules(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_threads(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_frames(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_nodes(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_sites(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_snapshots(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_marks(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_drops(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_peak(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_symbols(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_source(struct loader *l, struct reader *r, struct err *e);
enum neap_err read_end(struct loader *l, struct reader *r, struct err *e);
void snap_reader_release(struct snap_reader *s);

enum neap_err read_tails(struct loader *l, struct reader *r, struct err *e);
/* tails_apply - put them into the tree, once all is read; false: out of memory, or too many nodes. */
bool tails_apply(struct loader *l);
/* preorder_apply - put the nodes in preorder (preorder.c); false: out of memory, the profile is broken. */
bool preorder_apply(struct profile *p);
/* symbols_fit - make the symbols have a run for every frame; false: out of memory. */
bool symbols_fit(struct profile *p);

#endif
