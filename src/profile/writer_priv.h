/*
 * The writer's parts: blocks and the file in writer.c, tables in write_tables.c, snapshots in
 * write_snap.c, symbols in write_symbols.c.
 */
#ifndef NEAP_PROFILE_WRITER_PRIV_H
#define NEAP_PROFILE_WRITER_PRIV_H

#include "src/profile/profile_priv.h"

/* Records of one table that are not in the file yet. */
struct pending {
	struct buf columns[3];
	struct buf sparse; /* (gap, value) pairs: values of the last column that are not 0 */
	size_t sparse_count, sparse_next;
	size_t count;
	uint32_t total_count; /* ids handed out, those in the file included */
};

/* A list of (gap, value) pairs: gap is how many items lie between it and the one before. */
struct sparse {
	struct buf items;
	size_t count, next;
};

/* The columns of a snapshot that begin with a count, and are made apart until it is known. */
enum sparse_id {
	SPARSE_PAIRS,
	SPARSE_RARE,
	SPARSE_SURVIVORS,
	SPARSE_TEMPORARY,
	SPARSE_UNUSUAL,
	SPARSE_DEATHS,
	SPARSE_OLD_TEMPORARY,
	SPARSE_OTHER,
	SPARSE_COUNT,
};

struct newborn {
	site_id site;
	thread_id thread;
	snap_id birth;
	uint32_t flags;
	struct profile_change change;
	bool is_known; /* its pair is known[known_idx]; else it comes before that one */
	size_t known_idx;
};

struct changed {
	cohort_id cohort;
	struct profile_change change;
};

struct snap_writer {
	struct snap_state state;
	struct buf columns[SNAP_COLUMN_COUNT];
	uint32_t total_count;             /* snapshots, those in the file included */
	uint32_t pending_count;           /* whole snapshots in the columns */
	uint32_t first_cohort;            /* first id of the pending ones */
	bool is_open;                     /* between begin and end */
	uint64_t unit_ns, unit_rss_bytes; /* largest that the pending snapshots are multiples of */

	struct profile_snapshot current;
	struct newborn *newborn;
	size_t newborn_count, newborn_cap;
	struct changed *changed;
	size_t changed_count, changed_cap;
	size_t rare_idx; /* of the known pairs without expected births */
	struct sparse sparse[SPARSE_COUNT];

	site_id *cohort_site; /* [cohort_count], id - 1 */
	size_t cohort_count, cohort_cap;
};

struct profile_writer {
	int fd;
	char *path;
	uint64_t written_bytes;
	struct err err; /* of the first failure; NEAP_OK until then */
	struct block_packer *packer;
	struct buf payload, out;

	struct pending modules, threads, frames, nodes, sites, marks;
	uint64_t last_pc; /* of the frame before */
	mod_id last_module;
	frame_id *node_frame; /* [node_count] */
	size_t node_frame_cap;
	frame_id *follower; /* by frame: the frame that last came below it */
	size_t follower_count, follower_cap;
	frame_id top_frame; /* highest that a node has */
	node_id last_site_node;
	node_id *node_parent; /* [node_count], for profile_writer_tree, as site_node and site_api */
	size_t node_parent_cap;
	uint64_t *site_size; /* [site_count], id - 1 */
	node_id *site_node;
	uint8_t *site_api;
	size_t site_size_cap, site_node_cap, site_api_cap;

	struct snap_writer snap;

	struct buf run, source, drops, peak, symbols, tails, end; /* payloads; empty: nothing new */
	uint64_t last_drops[DROP_COUNT];
};

/* writer_fail - remember the first failure. */
void writer_fail(struct profile_writer *w, enum neap_err code, const char *what);
static inline bool writer_has_failed(const struct profile_writer *w)
{
	return w->err.code != NEAP_OK;
}

/* writer_knows - false, and a failure, if the caller names something that was not added: better a
 * clear end than a wrong file.  Ids are 1 .. count. */
bool writer_knows(struct profile_writer *w, uint32_t id, uint64_t count, const char *what);
/* writer_pack - the payload becomes a block that waits for the file; it is empty then. */
void writer_pack(struct profile_writer *w, enum block_type type, struct buf *payload);
/* writer_text - its length and bytes; NULL is the empty text. */
void writer_text(struct buf *b, const char *s);

/* pending_pack - the records that wait become a block; none: no block. */
void pending_pack(struct profile_writer *w, enum block_type type, struct pending *p,
		  bool has_sparse);
/* pending_pack_rows - the same for rows with their id, of which a later one can replace an earlier. */
void pending_pack_rows(struct profile_writer *w, enum block_type type, struct pending *p);
size_t pending_bytes(const struct pending *p);
void pending_release(struct pending *p);

/* snap_encode - the snapshot that was begun goes into the columns. */
enum neap_err snap_encode(struct profile_writer *w);
/* snap_writer_units - the largest units, for a new block. */
void snap_writer_units(struct snap_writer *s);
/* snap_payload - what a snapshots block holds; empties the columns. */
void snap_payload(struct snap_writer *s, struct buf *out);
size_t snap_pending_bytes(const struct snap_writer *s);
void snap_writer_release(struct snap_writer *s);

/* symbols_payload - the whole symbols block. */
void symbols_payload(const struct profile_symbols *s, struct buf *out);
/* tails_payload - the tail calls block that goes with it; only if there are any. */
void tails_payload(const struct profile_symbols *s, struct buf *out);

#endif
