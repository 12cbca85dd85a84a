/* Distributions of sizes and lifetimes: results of queries as bins without gaps. */
#ifndef NEAP_TUI_SIZES_DATA_H
#define NEAP_TUI_SIZES_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "tui/model.h"

struct bin {
	bool is_unknown;      /* the file does not know how large, or how old */
	uint64_t from, below; /* bytes or ns */
	int64_t bytes, blocks;
};

struct quantile {
	const char *word; /* "p50" */
	uint64_t value;
};
#define QUANTILES_MOST 3u

struct distribution {
	bool is_time; /* lifetimes; else sizes */
	bool is_signed;
	struct bin
		*bins; /* [bin_count], ascending, with empty ones between; the unknown one last */
	size_t bin_count, bin_cap;
	bool is_unknown;                 /* of no block: there are no bins */
	bool has_blocks;                 /* numbers of blocks are known */
	int64_t bytes, blocks;           /* of all */
	int64_t bytes_most, blocks_most; /* of one bin, without sign */
	struct quantile quantiles[QUANTILES_MOST];
	size_t quantile_count;
	uint64_t mean, most; /* sizes: of a block, of the largest block */
	/* Sizes: blocks of that size and more hold half of the bytes. */
	uint64_t half_bytes;
};

/* distribution_load - from the model's current query.  Fails: as model_result. */
enum neap_err distribution_load(struct distribution *d, struct model *m, bool is_time,
				struct query_error *error);
void distribution_release(struct distribution *d);

/* bin_text - "64..128", "1K..2K", "100ms..200ms": from, and below which. */
void bin_text(const struct distribution *d, const struct bin *b, struct buf *out);
/* bin_query - a stage that keeps the blocks of a bin: "| where size >= 64 and size < 128". */
void bin_query(const struct distribution *d, const struct bin *b, struct buf *out);
/* distribution_value - a size or a duration, for people. */
const char *distribution_value(const struct distribution *d, uint64_t value, char *dst, size_t cap);

#endif
