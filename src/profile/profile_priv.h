/*
 * What writer and reader of the profile file share: constants of the format, blocks,
 * and the state that predicts the next snapshot.  The bytes: neap-file(5).
 */
#ifndef NEAP_PROFILE_PROFILE_PRIV_H
#define NEAP_PROFILE_PROFILE_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/limits.h"
#include "src/base/mem.h"
#include "src/profile/profile.h"

/* ---- file header --------------------------------------------------------------- */

#define FILE_MAGIC            "\x89NEAP\r\n\x1a"
#define FILE_MAGIC_BYTES      8u
#define FILE_VERSION          1u
#define FILE_FIXED_BYTES      24u /* magic, version, two feature masks, length of the names */
#define FILE_NAMES_MOST_BYTES 4096u

#define FEATURE_ZSTD 1u /* the only required feature so far */

/* ---- blocks ------------------------------------------------------------------------ */

enum block_type {
	BLOCK_RUN = 1,
	BLOCK_MODULES,
	BLOCK_THREADS,
	BLOCK_FRAMES,
	BLOCK_NODES,
	BLOCK_SITES,
	BLOCK_SNAPSHOTS,
	BLOCK_MARKS,
	BLOCK_DROPS,
	BLOCK_PEAK,
	BLOCK_SYMBOLS,
	BLOCK_END,
	BLOCK_SOURCE,
	BLOCK_TAILS,
	BLOCK_TYPE_COUNT,
};
const char *block_type_name(unsigned type);

enum source_flags {
	SOURCE_ESTIMATED = 1,
	SOURCE_PARTIAL = 2,
	SOURCE_LEFT_OUT = 4
};

enum block_flags {
	BLOCK_IS_ZSTD = 1
};

#define BLOCK_HEADER_BYTES 18u
/* Raw bytes that one stored byte may stand for: what keeps a small file from asking for a lot of memory. */
#define BLOCK_RATIO_MOST   128u

struct block {
	unsigned type, flags;
	uint32_t stored_bytes, raw_bytes, crc;
	uint64_t offset; /* of its header, in the file */
	const uint8_t *stored;
};

enum block_state {
	BLOCK_WHOLE,
	BLOCK_DAMAGED, /* a checksum does not match; the next block was found */
	BLOCK_CUT,     /* the file ends inside it, or nothing that follows is a block */
	BLOCK_LAST,    /* the file ended with the block before */
};

/* block_next - the block at *pos; moves *pos to the next one, not after BLOCK_CUT. */
enum block_state block_next(const uint8_t *data, size_t bytes, size_t *pos, struct block *out);

struct block_opener; /* decompression context and buffer, used again for each block */
struct block_opener *block_opener_new(void); /* NULL: out of memory */
void block_opener_free(struct block_opener *o);
/* block_open - the raw payload, valid until the next call. */
enum neap_err block_open(struct block_opener *o, const struct block *b, struct reader *out,
			 struct err *e);

struct block_packer;
struct block_packer *block_packer_new(void); /* NULL: out of memory */
void block_packer_free(struct block_packer *k);
/* block_pack - append a whole block with this payload to out.  Fails: ERR_NOMEM, ERR_LIMIT. */
enum neap_err block_pack(struct block_packer *k, enum block_type type, const struct buf *raw,
			 struct buf *out, struct err *e);

/* file_header_put - append the header that this version writes. */
void file_header_put(struct buf *out);
/* file_header_check - length of the header; ERR_FORMAT or ERR_UNSUPPORTED if it is not ours. */
enum neap_err file_header_check(const void *data, size_t bytes, const char *name, size_t *bytes_out,
				struct err *e);

/*
 * profile_parse_with - profile_parse, with a second thread from that many uncompressed bytes on.
 * The profile is the same.
 */
enum neap_err profile_parse_with(const void *data, size_t bytes, const char *name,
				 uint64_t thread_from_bytes, struct profile **out, struct err *e);

/* ---- reading fast --------------------------------------------------------------------- */

/* Most numbers of a profile take one byte.  A failed reader has p == end, so it gets zeros here too. */
static inline uint64_t get_varint(struct reader *r)
{
	if (r->p < r->end && *r->p < 0x80)
		return *r->p++;
	return reader_varint(r);
}

static inline int64_t get_svarint(struct reader *r)
{
	uint64_t z = get_varint(r);
	return (int64_t)((z >> 1) ^ -(z & 1));
}

/* An id: too large a number becomes UINT32_MAX, which no table has. */
static inline uint32_t get_id(struct reader *r)
{
	uint64_t v = get_varint(r);
	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

/* ---- snapshots ----------------------------------------------------------------------- */

/*
 * Columns of a snapshots block.  All snapshots of the block share them, so that equal
 * things lie side by side for the compressor.
 */
enum snap_column {
	SNAP_HEAD,  /* per snapshot: time, cpu, rss, live, births of the known pairs */
	SNAP_PAIRS, /* new cohorts of pairs that were not known: where, site, thread, births */
	SNAP_BIRTHS, /* births of known pairs that should have some, against the expected; 0: no cohort */
	SNAP_RARE,          /* sparse: births of known pairs that should have none */
	SNAP_SURVIVORS,     /* sparse: new cohorts with live blocks */
	SNAP_TEMPORARY,     /* sparse: temporary blocks of new cohorts, against the prediction */
	SNAP_UNUSUAL,       /* sparse: new cohorts born earlier or with flags */
	SNAP_MIXED,         /* bytes where the site has many sizes */
	SNAP_DEATHS,        /* older cohorts that lost blocks: which, and how many */
	SNAP_OLD_TEMPORARY, /* sparse: how many of those deaths are of temporary blocks */
	SNAP_OTHER,         /* any other change of a cohort, written out */
	SNAP_COLUMN_COUNT,
};

/* A pair of site and thread that recently had new cohorts, and how many blocks to expect. */
struct known {
	site_id site;
	thread_id thread;
	uint16_t seen_count;     /* snapshots with a new cohort, at most KNOWN_SEEN_MOST */
	uint16_t idle_count;     /* snapshots without, since the last that had one */
	uint64_t mean;           /* births, smoothed, in 1/KNOWN_ONE */
	uint64_t temporary_mean; /* temporary blocks, likewise */
};
#define KNOWN_ONE       256u
#define KNOWN_SEEN_MOST 16u
#define KNOWN_SMOOTH_LG 3

/*
 * The state of prediction, the same at the same place of a file in writer and reader.
 * Arithmetic is unsigned and may wrap: a wrong guess costs bytes, nothing else.
 */
struct snap_state {
	struct known *known, *next; /* before and after the current snapshot */
	size_t known_count, known_cap, next_count, next_cap;

	/* Cohorts that had live blocks after the snapshot of their birth, in order of ids. */
	cohort_id *survivor_cohort;
	uint64_t *survivor_live;
	size_t survivor_count, survivor_cohort_cap, survivor_live_cap;

	uint64_t time_ns, cpu_ns, rss_bytes; /* of the last snapshot */
	uint64_t time_step_ns, cpu_step_ns;  /* smoothed */
	uint64_t live_bytes;                 /* what the changes add up to */
};
void snap_state_release(struct snap_state *s);
/* snap_survivor_add - false: out of memory. */
bool snap_survivor_add(struct snap_state *s, cohort_id cohort, uint64_t live);
/* snap_survivor_find - index, or SIZE_MAX. */
size_t snap_survivor_find(const struct snap_state *s, cohort_id cohort);

/* snap_next_reserve - room for `extra` pairs beside the known ones; false: out of memory. */
bool snap_next_reserve(struct snap_state *s, size_t extra);
/* Carry a known pair over to the next snapshot: it was idle, had births, or is new. */
void snap_next_idle(struct snap_state *s, const struct known *k);
void snap_next_taken(struct snap_state *s, const struct known *k, uint64_t births,
		     uint64_t temporary);
void snap_next_new(struct snap_state *s, site_id site, thread_id thread, uint64_t births,
		   uint64_t temporary);
/* snap_next_commit - the next pairs become the known ones. */
void snap_next_commit(struct snap_state *s);
void snap_time_commit(struct snap_state *s, uint64_t time_ns, uint64_t cpu_ns, uint64_t rss_bytes);

/* Scale by which means of pairs become expected births, if `births` fall on pairs of mean sum. */
uint64_t snap_scale(uint64_t births, uint64_t mean_sum);
uint64_t snap_mean_sum(const struct snap_state *s); /* of all known pairs */
uint64_t snap_expect(const struct known *k, uint64_t scale);
uint64_t snap_expect_temporary(const struct known *k, uint64_t births);

/* What a (site, thread) pair sorts by. */
static inline uint64_t pair_key(site_id site, thread_id thread)
{
	return (uint64_t)site << 32 | thread;
}

#endif
