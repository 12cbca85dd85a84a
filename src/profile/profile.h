/*
 * The profile file: its model, its writer and its reader.  The bytes are
 * described in neap-file(5); this header is the model that both sides share.
 *
 * Ids of each table count from 1 in the order of appearance; 0 means none.
 * Interval k ends with snapshot k (k from 1): a block born in interval k is
 * first seen by snapshot k.  Times are nanoseconds since the recording began.
 */
#ifndef NEAP_PROFILE_PROFILE_H
#define NEAP_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/map.h"
#include "src/base/narrow.h"
#include "src/base/parents.h"

typedef uint32_t mod_id, thread_id, frame_id, node_id, site_id, cohort_id, snap_id, func_id,
	file_id;

/* Fixed nodes: they exist in every profile, have no frame and no parent. */
#define PROFILE_NODE_ROOT      1u
#define PROFILE_NODE_SIGNAL    2u
#define PROFILE_NODE_TRUNCATED 3u
#define PROFILE_NODE_FIRST     4u

#define PROFILE_SIZE_MIXED UINT64_MAX /* blocks of many sizes: bytes are counted apart */

/* Same order as enum nc_api of the collector. */
enum profile_api {
	API_UNKNOWN,
	API_MALLOC,
	API_CALLOC,
	API_REALLOC,
	API_REALLOCARRAY,
	API_POSIX_MEMALIGN,
	API_ALIGNED_ALLOC,
	API_MEMALIGN,
	API_VALLOC,
	API_PVALLOC,
	API_NEW,
	API_NEW_ARRAY,
	API_MMAP,
	API_COUNT,
};
const char *profile_api_name(enum profile_api api); /* "malloc", ...; "unknown" */

/* Same order as enum nc_drop of the collector. */
enum profile_drop {
	DROP_NODES,
	DROP_COHORTS,
	DROP_THREADS,
	DROP_MAP,
	DROP_REENTRY,
	DROP_STARTUP,
	DROP_MODULES,
	DROP_FRAMES,
	DROP_FOREIGN,
	DROP_UNWIND,
	DROP_COUNT,
};
const char *profile_drop_name(enum profile_drop d);    /* short key: "nodes", ... */
const char *profile_drop_meaning(enum profile_drop d); /* one phrase for people */

/* ---- records --------------------------------------------------------------- */

struct profile_run {
	const char *tool;        /* "neap 0.1.0" */
	const char *const *argv; /* argv_count strings */
	size_t argv_count;
	const char *exe, *cwd, *host, *kernel;
	uint32_t pid, ppid, cpu_count;
	bool is_forked;         /* started as a copy of ppid's memory */
	uint64_t start_unix_ns; /* wall clock when the recording began */
	uint64_t interval_ns;   /* first snapshot interval */
	uint64_t sample_bytes;  /* 0 = every block is counted */
};

enum profile_module_flags {
	MODULE_MAIN = 1,
	MODULE_VDSO = 2,
	MODULE_COLLECTOR = 4,
	MODULE_LOADER = 8
};

struct profile_module {
	const char *path;
	uint8_t build_id[64];
	uint32_t build_id_bytes;
	uint32_t flags;
	uint64_t start_va, end_va,
		bias; /* run-time range; run-time address - bias = address in the ELF file */
	snap_id first_snap, last_snap; /* last 0 = until the end */
};

enum profile_thread_flags {
	THREAD_ENDED = 1,
	THREAD_NESTED = 2
};

struct profile_thread {
	const char *name;
	uint32_t tid, flags;
	snap_id first_snap, last_snap;
};

enum profile_frame_flags {
	FRAME_GUESSED = 1,
	FRAME_TAIL =
		2 /* never in a file: a function that left with a jump, see struct profile_tails */
};

struct profile_frame { /* a return address; look up pc - 1 */
	mod_id module; /* 0: pc is a run-time address in no module */
	uint32_t flags;
	uint64_t pc; /* in the ELF file's own addresses */
};

enum profile_node_flags {
	NODE_EXITING = 1 /* inside exit() */
};

struct profile_site {
	node_id node;
	uint64_t size_bytes; /* or PROFILE_SIZE_MIXED */
	enum profile_api api;
};

/* The call tree as columns, of a file that is written or was read. */
struct profile_tree {
	const node_id *node_parent; /* [node_count], by node_id */
	const frame_id *node_frame;
	size_t node_count;
	const node_id *site_node; /* [site_count], site_id - 1 */
	const uint8_t *site_api;
	size_t site_count;
};

enum profile_cohort_flags {
	COHORT_INHERITED = 1 /* live at fork; not allocations of this process */
};

struct profile_snapshot {
	uint64_t time_ns, cpu_ns, rss_bytes; /* cpu and rss 0 if unknown */
	int64_t live_bytes;                  /* what the collector's running total said */
};

struct profile_change {                     /* of one cohort since the snapshot before */
	uint64_t births, deaths, temporary; /* blocks */
	uint64_t born_bytes, died_bytes, temporary_bytes; /* only for PROFILE_SIZE_MIXED, else 0 */
};

struct profile_peak_entry {
	cohort_id cohort;
	uint64_t blocks, bytes;
};

struct profile_peak {
	uint64_t bytes, time_ns, bound_bytes; /* bound: the true peak is within this of `bytes` */
	snap_id snap;                         /* interval it fell in */
};

enum profile_end_kind {
	END_UNKNOWN, /* no end block: the recorder died or the file was cut */
	END_EXITED,
	END_SIGNALED,
	END_EXEC,    /* the program replaced itself */
	END_STOPPED, /* the recording stopped first (disk full, recorder asked to stop) */
};
struct profile_end {
	enum profile_end_kind kind;
	int status;      /* exit status or signal number; meaningful if has_status */
	bool has_status; /* false for processes whose parent is not the recorder */
	uint64_t time_ns;
	const char *reason; /* for END_STOPPED, else "" */
};

/*
 * What a profile can know besides stacks and bytes.  Our own recordings know all of it; what other
 * tools write often does not, and then nobody may take a 0 for an answer.
 */
enum profile_fact {
	FACT_LIVE = 1 << 0,        /* what was live at the end */
	FACT_TIME = 1 << 1,        /* when blocks were born and died */
	FACT_THREADS = 1 << 2,     /* which thread allocated */
	FACT_SIZES = 1 << 3,       /* sizes of single blocks */
	FACT_COUNTS = 1 << 4,      /* numbers of blocks */
	FACT_ALLOCATED = 1 << 5,   /* everything that was born, not only what lived on */
	FACT_FREED = 1 << 6,       /* what died */
	FACT_TEMPORARY = 1 << 7,   /* what was freed before its thread allocated again */
	FACT_LIFETIMES = 1 << 8,   /* which blocks died, so how long they lived */
	FACT_APIS = 1 << 9,        /* malloc, calloc, ... */
	FACT_PEAK = 1 << 10,       /* what was live at the peak */
	FACT_PEAK_EXACT = 1 << 11, /* the peak itself, not the highest of some instants */
	FACT_ADDRESSES = 1 << 12,  /* addresses of code */
};
#define FACT_COUNT 13u
#define FACT_ALL   ((1u << FACT_COUNT) - 1)
const char *profile_fact_name(unsigned bit); /* of 1 << bit, as one says it: "threads"; "unknown" */
/* profile_facts_text - append the names: "threads, sizes of blocks". */
void profile_facts_text(uint64_t facts, struct buf *out);

/* Where an imported profile comes from; a recorded one has none. */
struct profile_source {
	const char *format;   /* as --format takes it: "heaptrack" */
	const char *title;    /* whose format that is: "valgrind's massif" */
	const char *file;     /* what was imported */
	const char *producer; /* what wrote it, if it says so, else "" */
	const char *
		time_unit; /* "": times are nanoseconds; else what one stands for: "instructions" */
	const char *notes; /* for people, one a line; "" */
	uint64_t unknown;  /* enum profile_fact: what is not known */
	bool is_estimated; /* numbers were scaled from samples */
	bool is_partial;   /* the file ended too early */
	bool has_left_out; /* what made no sense in it; the notes say which */
};

/* ---- symbols ----------------------------------------------------------------- */

struct profile_func {
	const char *name;    /* demangled, with parameters as the demangler prints them */
	const char *linkage; /* as in the object file; same as name if not mangled */
};
struct profile_line {
	func_id func;
	file_id file;
	uint32_t line; /* 0 unknown */
};

/*
 * Functions that called the next one with a jump and so left no frame: they were between the frame
 * of `caller` and that of `callee`, or the allocator's function `api` if callee is 0.
 */
struct profile_tail {
	frame_id caller, callee;
	enum profile_api api;
	uint32_t first_step, step_count; /* in steps */
};
struct profile_tails {
	struct profile_frame *frames; /* [frame_count] where they jumped, each once */
	size_t frame_count;
	struct profile_tail *items; /* [count]; at most one of each caller, callee and api */
	size_t count;
	uint32_t *steps; /* [step_count] indexes in frames; of each item the outermost first */
	size_t step_count;
};

/* tails_release - frees the arrays, if they are not an arena's. */
void tails_release(struct profile_tails *t);

/*
 * For every frame a run of profile_line, innermost inlined function first, the
 * function that holds the code last.  An empty run: nothing is known.
 */
struct profile_symbols {
	struct profile_func *funcs; /* [func_count], func_id - 1 */
	size_t func_count;
	const char **files; /* [file_count], file_id - 1; full paths */
	size_t file_count;
	struct profile_line *lines; /* all runs, in order of frames */
	size_t line_count;
	uint32_t *
		first_line; /* [frame_count + 1]: run of frame f is first_line[f-1] .. first_line[f]-1 */
	size_t frame_count;
	struct profile_tails tails; /* the last tails.frame_count runs are of its frames */
};

/* ---- writer --------------------------------------------------------------------- */

/*
 * Append-only.  Records are buffered and written as compressed blocks; each call of
 * profile_writer_flush leaves a file that is readable up to here.  A failed write is
 * sticky: later calls return the same error, what was written stays valid.
 * Calls must name only ids that were added before.  Not thread-safe.
 */
struct profile_writer;

/* Takes over fd (an empty, writable file); path is only for messages. */
enum neap_err profile_writer_new(int fd, const char *path, const struct profile_run *run,
				 struct profile_writer **out, struct err *e);
/* Each returns the new id, or 0 after a failure that flush will report. */
mod_id profile_add_module(struct profile_writer *w, const struct profile_module *m);
thread_id profile_add_thread(struct profile_writer *w, const struct profile_thread *t);
/* What is known of the run only later; replaces what profile_writer_new got. */
void profile_update_run(struct profile_writer *w, const struct profile_run *run);
void profile_set_source(struct profile_writer *w,
			const struct profile_source *s); /* last one counts */
/* Later facts about a module or thread (last_snap, name, flags) replace the earlier record. */
void profile_update_module(struct profile_writer *w, mod_id id, const struct profile_module *m);
void profile_update_thread(struct profile_writer *w, thread_id id, const struct profile_thread *t);
frame_id profile_add_frame(struct profile_writer *w, const struct profile_frame *f);
node_id profile_add_node(struct profile_writer *w, node_id parent, frame_id frame, uint32_t flags);
site_id profile_add_site(struct profile_writer *w, const struct profile_site *s);

/*
 * A snapshot: begin, then changes, then end.  Cohorts are added only inside one; added in
 * ascending order of (site, thread) they take the least room, and so do rounded times
 * (to 100 microseconds, say).  A time before the last snapshot's counts as equal to it.
 */
snap_id profile_snapshot_begin(struct profile_writer *w, const struct profile_snapshot *s);
cohort_id profile_add_cohort(struct profile_writer *w, site_id site, thread_id thread,
			     snap_id birth, uint32_t flags, const struct profile_change *first);
void profile_change_cohort(struct profile_writer *w, cohort_id c,
			   const struct profile_change *change);
enum neap_err profile_snapshot_end(struct profile_writer *w, struct err *e);

void profile_add_mark(struct profile_writer *w, const char *name, snap_id snap, uint64_t time_ns);
void profile_set_drops(struct profile_writer *w,
		       const uint64_t drops[DROP_COUNT]); /* last one counts */
void profile_set_peak(struct profile_writer *w, const struct profile_peak *p,
		      const struct profile_peak_entry *entries, size_t count); /* last one counts;
		      each one that is flushed takes room, so call it rarely; bytes are stored only
		      for sites of mixed size */
void profile_add_symbols(struct profile_writer *w,
			 const struct profile_symbols *s); /* last one counts */
/* profile_writer_tree - what was added so far; valid until more is. */
struct profile_tree profile_writer_tree(const struct profile_writer *w);
void profile_add_end(struct profile_writer *w, const struct profile_end *end);

enum neap_err profile_writer_flush(struct profile_writer *w, struct err *e);
size_t profile_writer_pending_bytes(
	const struct profile_writer *w); /* waiting for a flush, before compression */
uint64_t profile_writer_bytes(const struct profile_writer *w); /* written so far */
/* Flushes, closes the descriptor, frees w.  NULL is fine. */
enum neap_err profile_writer_close(struct profile_writer *w, struct err *e);

/* ---- reader ------------------------------------------------------------------------ */

/* What was wrong with a file that could still be read in part. */
struct profile_damage {
	bool is_cut;          /* ends inside a block, or without an end block */
	uint64_t whole_bytes; /* bytes of the file up to the last whole block */
	uint64_t lost_bytes;  /* after it */
	uint32_t bad_blocks;  /* blocks skipped because their checksum did not match */
	char text[256];       /* for people; empty if nothing is wrong */
};

/*
 * A loaded profile: read-only columns, owned by the profile.  Column [i] belongs to
 * id i + 1, except node columns, which have an entry for every id from 0.
 */
struct profile {
	char *path;
	uint64_t file_bytes;
	struct profile_run run;
	bool has_source; /* imported */
	struct profile_source source;
	struct profile_end end;
	struct profile_damage damage;

	struct profile_module *modules;
	size_t module_count;
	struct profile_thread *threads;
	size_t thread_count;
	struct profile_frame *frames;
	size_t frame_count;

	/*
	 * Nodes, indexed by node_id; node_count includes ids 0..3.  They are in preorder, so their ids
	 * are not those of the file: all that is below a node comes right after it, and what is below
	 * PROFILE_NODE_ROOT before what is below the other fixed ones.
	 */
	struct parents node_parents;
	struct narrow node_frames, node_flags;
	size_t node_count;

	struct narrow site_nodes;
	struct narrow site_sizes; /* bytes + 1; 0: PROFILE_SIZE_MIXED */
	struct narrow site_apis;
	size_t site_count;

	/* cohorts; their bytes are stored only for sites of mixed size, in the order of the set */
	struct narrow cohort_sites;
	struct narrow cohort_threads, cohort_birth_snaps, cohort_flags;
	struct narrow cohort_births, cohort_temporary; /* blocks */
	struct rowset cohort_mixed;
	struct narrow mixed_born_bytes, mixed_temporary_bytes;
	size_t cohort_count;

	/*
	 * Deaths, grouped by snapshot: those of snapshot s are death_first[s-1] .. death_first[s]-1.
	 * Bytes as of cohorts.
	 */
	struct narrow death_cohorts, death_blocks;
	struct rowset death_mixed;
	struct narrow mixed_died_bytes;
	size_t death_count;
	size_t *death_first; /* [snapshot_count + 1] */

	struct profile_snapshot *snapshots;
	size_t snapshot_count;
	struct profile_mark {
		const char *name;
		snap_id snap;
		uint64_t time_ns;
	} * marks;
	size_t mark_count;

	bool has_peak;
	struct profile_peak peak;
	struct profile_peak_entry *peak_entries;
	size_t peak_entry_count;
	uint64_t drops[DROP_COUNT];
	bool has_symbols;
	struct profile_symbols symbols;

	struct arena arena; /* strings and small arrays */
};

/* ---- columns ----------------------------------------------------------------------------- */

/*
 * One value of a column; columns are as narrow as they can be.  Rows count from 0.  Bytes of a
 * cohort or a death are those of its blocks, whether its site has one size or many.
 */
static inline uint8_t profile_node_flags(const struct profile *p, node_id n)
{
	return (uint8_t)narrow_get(&p->node_flags, n);
}

static inline node_id profile_node_parent(const struct profile *p, node_id n)
{
	return parents_of(&p->node_parents, n);
}

static inline frame_id profile_node_frame(const struct profile *p, node_id n)
{
	return (frame_id)narrow_get(&p->node_frames, n);
}

static inline node_id profile_site_node(const struct profile *p, size_t row)
{
	return (node_id)narrow_get(&p->site_nodes, row);
}

static inline uint64_t profile_site_size_bytes(const struct profile *p, size_t row)
{
	return narrow_get(&p->site_sizes, row) - 1; /* 0 becomes PROFILE_SIZE_MIXED */
}

static inline enum profile_api profile_site_api(const struct profile *p, size_t row)
{
	return (enum profile_api)narrow_get(&p->site_apis, row);
}

static inline site_id profile_cohort_site(const struct profile *p, size_t row)
{
	return (site_id)narrow_get(&p->cohort_sites, row);
}

static inline node_id profile_cohort_node(const struct profile *p, size_t row)
{
	return profile_site_node(p, profile_cohort_site(p, row) - 1);
}

static inline uint64_t profile_cohort_size_bytes(const struct profile *p, size_t row)
{
	return profile_site_size_bytes(p, profile_cohort_site(p, row) - 1);
}

static inline thread_id profile_cohort_thread(const struct profile *p, size_t row)
{
	return (thread_id)narrow_get(&p->cohort_threads, row);
}

static inline snap_id profile_cohort_birth(const struct profile *p, size_t row)
{
	return (snap_id)narrow_get(&p->cohort_birth_snaps, row);
}

static inline uint8_t profile_cohort_flags(const struct profile *p, size_t row)
{
	return (uint8_t)narrow_get(&p->cohort_flags, row);
}

static inline uint64_t profile_cohort_births(const struct profile *p, size_t row)
{
	return narrow_get(&p->cohort_births, row);
}

static inline uint64_t profile_cohort_temporary(const struct profile *p, size_t row)
{
	return narrow_get(&p->cohort_temporary, row);
}

/* profile_bytes - of blocks of one size; the largest number if they are more. */
static inline uint64_t profile_bytes(uint64_t blocks, uint64_t size_bytes)
{
	uint64_t bytes;
	return __builtin_mul_overflow(blocks, size_bytes, &bytes) ? UINT64_MAX : bytes;
}

static inline uint64_t profile_cohort_born_bytes(const struct profile *p, size_t row)
{
	uint64_t size = profile_cohort_size_bytes(p, row);
	if (size != PROFILE_SIZE_MIXED)
		return profile_bytes(profile_cohort_births(p, row), size);
	return narrow_get(&p->mixed_born_bytes, rowset_find(&p->cohort_mixed, row));
}

static inline uint64_t profile_cohort_temporary_bytes(const struct profile *p, size_t row)
{
	uint64_t size = profile_cohort_size_bytes(p, row);
	if (size != PROFILE_SIZE_MIXED)
		return profile_bytes(profile_cohort_temporary(p, row), size);
	return narrow_get(&p->mixed_temporary_bytes, rowset_find(&p->cohort_mixed, row));
}

static inline cohort_id profile_death_cohort(const struct profile *p, size_t row)
{
	return (cohort_id)narrow_get(&p->death_cohorts, row);
}

static inline uint64_t profile_death_blocks(const struct profile *p, size_t row)
{
	return narrow_get(&p->death_blocks, row);
}

static inline uint64_t profile_death_bytes(const struct profile *p, size_t row)
{
	uint64_t size = profile_cohort_size_bytes(p, profile_death_cohort(p, row) - 1);
	if (size != PROFILE_SIZE_MIXED)
		return profile_bytes(profile_death_blocks(p, row), size);
	return narrow_get(&p->mixed_died_bytes, rowset_find(&p->death_mixed, row));
}

/* ---- reading ---------------------------------------------------------------------------------- */

/* profile_own_frames - how many are of the file: after them come functions that left with a jump. */
static inline size_t profile_own_frames(const struct profile *p)
{
	return p->frame_count - p->symbols.tails.frame_count;
}

/*
 * profile_open - read a profile file.
 * Fails:  ERR_IO, ERR_FORMAT (not a neap profile, or nothing whole in it),
 *         ERR_UNSUPPORTED (needs a feature this version does not know, named), ERR_NOMEM.
 *         A cut or partly damaged file is not an error: see p->damage.
 * Cost:   linear in the file; every id in the columns is checked, so users need not.
 */
enum neap_err profile_open(const char *path, struct profile **out, struct err *e);
/* profile_read_file - the bytes of a file, for profile_parse and profile_dump.  Fails: ERR_IO, ERR_NOMEM. */
enum neap_err profile_read_file(const char *path, struct buf *out, struct err *e);
/* Same from memory, for tests and fuzzing; data is borrowed during the call only. */
enum neap_err profile_parse(const void *data, size_t bytes, const char *name, struct profile **out,
			    struct err *e);
void profile_free(struct profile *p);

/*
 * profile_replace_symbols - append to out the bytes of a profile file with other symbols.
 *   data, name  the file and what it is called in messages; must be what s->frame_count is of
 * All other blocks stay as they are, damaged ones too; after a cut only what is whole stays.
 * Fails: ERR_FORMAT, ERR_UNSUPPORTED (not ours); ERR_LIMIT (too many names), ERR_NOMEM.
 */
enum neap_err profile_replace_symbols(const void *data, size_t bytes, const char *name,
				      const struct profile_symbols *s, struct buf *out,
				      struct err *e);

/* profile_check - counters against each other: deaths never exceed births, peak entries add up to
 * the peak within its bound, ...  Appends one line per finding to out; returns how many. */
size_t profile_check(const struct profile *p, struct buf *out);

/* profile_dump - every block of a file: offset, type, sizes, checksum, decoded records. */
enum neap_err profile_dump(const void *data, size_t bytes, const char *name, struct buf *out,
			   struct err *e);

#endif
