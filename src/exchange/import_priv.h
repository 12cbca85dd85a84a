/*
 * The builder's parts: names and stacks in import_names.c, what blocks belong to in import_accounts.c, bookings,
 * snapshots and the peak in import_blocks.c, what goes into the file at the end in import_write.c, the whole in
 * import.c.
 */
#ifndef NEAP_EXCHANGE_IMPORT_PRIV_H
#define NEAP_EXCHANGE_IMPORT_PRIV_H

#include "src/exchange/exchange_priv.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"

/* Ids by the hash of what they stand for; who asks compares. */
struct index {
	uint32_t *slots; /* id; 0 = free */
	size_t count, cap;
};
/* index_next - candidates for a hash, one after the other: *at is 0 at first; 0 = no more. */
uint32_t index_next(const struct index *ix, uint64_t hash, size_t *at);
/* index_add - hash_of gives the hash of an id, for when the table grows.  False: out of memory. */
bool index_add(struct index *ix, uint64_t hash, uint32_t id,
	       uint64_t (*hash_of)(const void *ctx, uint32_t id), const void *ctx);

/* An array whose items begin where lines of the cache do. */
#define LINE_BYTES 64u
struct lines {
	void *block;
	size_t cap;
};
/*
 * lines_reserve - room for one more; *items are moved there if need be.
 *   item_bytes  LINE_BYTES; false: out of memory
 */
bool lines_reserve(struct lines *l, void **items, size_t count);

struct frame_record {
	mod_id module;
	bool is_guessed;
	bool has_number; /* its pc is only a number */
	uint64_t pc;
	uint32_t first_line, line_count;
};

/* Blocks of one account that were born in one interval, some of them live: a cohort. */
#define LOT_NONE UINT32_MAX
struct lot { /* a line of the cache, as is an account */
	cohort_id cohort;
	uint32_t below;      /* the next older one with live blocks */
	uint32_t change_idx; /* its entry in changes, if that names this cohort */
	uint64_t live_blocks, live_bytes;
	uint64_t epoch; /* of the peak that the next two are for */
	uint64_t peak_blocks, peak_bytes;
	uint64_t unused;
};

/* What every booking touches lies together, in 64 bytes; the rest in arrays beside it. */
struct account {
	uint64_t size_bytes;
	/* Of the current interval. */
	uint64_t births, deaths, temporary; /* deaths of blocks born in it too */
	uint64_t epoch, peak_blocks;
	uint32_t top;   /* youngest lot with live blocks */
	uint32_t mixed; /* its entry in mixed; MIXED_NONE: all blocks are of size_bytes */
	bool is_dirty;
};
#define MIXED_NONE UINT32_MAX
struct account_name { /* what an account stands for */
	node_id node;
	site_id site;
	thread_id thread;
	uint32_t api;
};
struct mixed { /* bytes of the current interval, for accounts of many sizes */
	uint64_t born_bytes, died_bytes, temporary_bytes, peak_bytes;
};

/* A set of ids that is walked in their order: a bit for each, and one for each word of these. */
struct id_set {
	uint64_t *bits, *words;
	size_t bit_cap, word_cap; /* in words of 64 */
};

struct change {
	cohort_id cohort;
	struct profile_change change;
};

enum peak_mode {
	PEAK_NONE,
	PEAK_TRACK, /* each new maximum of all live bytes */
	PEAK_HERE,  /* where the importer said */
	PEAK_GIVEN, /* entries of the format */
};

struct import {
	struct input *in;
	struct profile_writer *w;
	struct err err; /* the builder's own; the writer keeps its */
	enum exchange_format format;
	const struct exchange_options *options; /* may be NULL */

	/* of the whole file */
	struct arena arena;
	struct profile_run run;
	uint64_t unknown;
	const char *producer, *time_unit;
	bool is_estimated, is_partial;
	struct buf notes;
	unsigned note_count;
	uint64_t odd_count, more_odd_count, excess_deaths;
	struct profile_end end;
	bool has_end;

	/* names and stacks */
	struct strtab funcs, files, modules, threads;
	mod_id *module_of; /* by string of modules */
	size_t module_cap;
	struct frame_record *frames;
	size_t frame_count, frame_cap;
	struct profile_line *lines;
	size_t line_count, line_cap;
	struct index frame_index;
	uint64_t next_number;
	struct map nodes;
	uint32_t node_count;
	struct map thread_of;     /* by tid */
	const char **thread_name; /* id - 1 */
	size_t thread_count, thread_name_cap;
	thread_id unknown_thread; /* of blocks that have none; 0: not made yet */

	/* blocks */
	struct account *accounts; /* id - 1 */
	struct account_name *names;
	struct lines account_lines;
	size_t account_count, name_cap;
	struct mixed *mixed;
	size_t mixed_count, mixed_cap;
	struct index account_index, site_index;
	struct lot *lots;
	struct lines lot_lines;
	size_t lot_count;
	uint32_t free_lot;
	struct id_set dirty; /* accounts - 1 */
	struct change *changes;
	size_t change_count, change_cap;
	struct import_sum live, born; /* now; ever */

	/* the peak */
	enum peak_mode peak_mode;
	uint64_t epoch; /* counts peaks; what has not changed since the last has an older one */
	struct profile_peak peak;
	struct profile_peak_entry *gone; /* live at the peak of gone_epoch, dead now */
	size_t gone_count, gone_cap;
	uint64_t gone_epoch;

	/* time */
	snap_id snap; /* the last one that was closed */
	struct import_instant now, last;
	uint64_t interval_ns, due_ns;
	uint64_t cohort_count, cohort_most; /* where the interval doubles */
	bool is_booked;                     /* since the last snapshot */
};

/* import_fail - remember the first failure. */
void import_fail(struct import *im, enum neap_err code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void import_no_memory(struct import *im);
void import_names_release(struct import *im);
/* import_unknown_thread - stands for the threads of blocks that say none. */
thread_id import_unknown_thread(struct import *im);
/* import_write_end - peak, threads, symbols, source, run, end. */
void import_write_end(struct import *im);

static inline uint64_t hash_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

#endif
