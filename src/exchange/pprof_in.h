/*
 * A profile.proto file on its way into a profile: what its fields say (pprof_fields.c), and what
 * is made of it (pprof_in.c).
 */
#ifndef NEAP_EXCHANGE_PPROF_IN_H
#define NEAP_EXCHANGE_PPROF_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/exchange/import.h"

/* What the values of samples can be. */
enum measure {
	ALLOC_BLOCKS,
	ALLOC_BYTES,
	LIVE_BLOCKS,
	LIVE_BYTES,
	PEAK_BLOCKS,
	PEAK_BYTES,
	MEASURE_COUNT
};

#define COMMENTS_SHOWN 3u
#define TYPES_MOST     64u

struct value_type {
	int64_t type, unit;
};

struct function {
	int64_t name, system_name, filename;
};

struct mapping {
	uint64_t start_va, limit_va, offset_bytes;
	int64_t filename, build_id;
	mod_id module;
};

struct location {
	uint64_t mapping_id, address;
	size_t first_line, line_count;
	frame_id frame; /* 0: not made yet */
};

struct line {
	uint64_t function_id;
	int64_t line;
};

struct table { /* of things with ids of the file's choice */
	struct map idx_of;
	size_t count, cap;
};

struct amount {
	uint64_t blocks, bytes;
};

struct pprof {
	struct input *in;
	struct import *im;
	bool has_no_memory;
	bool has_missing_name; /* the file speaks of a text that it does not have */

	struct buf text; /* all strings */
	size_t *string_ends;
	size_t string_count, string_cap;
	struct table function_table, location_table, mapping_table;
	struct function *functions;
	struct location *locations;
	struct mapping *mappings;
	struct line *lines;
	size_t line_count, line_cap;
	struct buf samples; /* each with its length before it */
	size_t sample_count;

	struct value_type types[TYPES_MOST], period_type;
	size_t type_count;
	int64_t comments[COMMENTS_SHOWN];
	size_t comment_count;
	uint64_t period, time_ns, duration_ns;

	int value_of[MEASURE_COUNT]; /* index of the type; -1: the file has none */
	bool has_mixed_sizes, has_threads;
	size_t more_live_count;
	frame_id *frames; /* of one stack, innermost first */
	size_t frame_cap;
	struct peak {
		struct amount born, peak;
	} * peaks; /* by account, if the file knows peaks */
	size_t peak_count, peak_cap;
	struct profile_line *frame_lines; /* of one location */
	size_t frame_line_cap;
};

struct piece { /* of the file's bytes, or of text */
	const uint8_t *data;
	size_t bytes;
};

/* pprof_fields - all fields of the file into the tables.  Fails: ERR_FORMAT, ERR_LIMIT, ERR_NOMEM. */
enum neap_err pprof_fields(struct pprof *p, struct err *e);
/* Frees what pprof_fields made. */
void pprof_fields_release(struct pprof *p);

/* pprof_find - index of the thing with this id; MAP_ABSENT if there is none. */
uint32_t pprof_find(const struct table *t, uint64_t id);
/* pprof_string - a text by its number; an empty one if there is none, which p->has_missing_name tells. */
struct piece pprof_string(struct pprof *p, int64_t idx);
bool pprof_is_string(struct pprof *p, int64_t idx, const char *s);

/* For unpacking: memory from base/mem; arg is the struct pprof, whose has_no_memory is set. */
void *pprof_allocate(void *arg, size_t bytes);
void pprof_deallocate(void *arg, void *memory);
/* Why nothing could be unpacked: memory, or what was to be unpacked is damaged. */
enum neap_err pprof_malformed(struct pprof *p, const char *what, struct err *e);
enum neap_err pprof_no_memory(struct pprof *p, struct err *e);

#endif
