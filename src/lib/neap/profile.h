/*
 * libneap: heap profiles recorded by neap, for programs.  This header: open a profile and
 * read what is known of it as a whole; <neap/query.h> asks it questions.  See libneap(3).
 *
 * Nothing here prints, exits, handles signals or depends on the locale.  A thread is started only while a
 * large profile is opened or asked; it takes no signals and has ended when the call returns.
 *
 * Ownership.  Whatever a handle hands out (strings, arrays, structs by pointer) belongs to
 * the handle and stays until it is freed.  Strings come from the profiled program and from
 * files: they may hold any byte but NUL and are not to be trusted.
 *
 * Threads.  A profile, and all results made from it, are used by one thread at a time.
 * Different handles, of the same file too, can be used by different threads at once.
 *
 * Errors.  A function that can fail returns a status and takes `struct neap_error **` last: NULL,
 * or the address of a pointer that is set to NULL, or to an error that the caller frees.
 * What it makes is then NULL.
 *
 * Units stand at the end of names: _bytes, _count, _ns (nanoseconds since the recording began),
 * _unix_ns (since 1970), _idx (from 0).  Snapshots are numbered from 1; 0 is the start.
 *
 * Structs and enumerations of this version never change; new facts will be new functions.
 * A value that an enumeration does not name counts as its first.
 */
#ifndef NEAP_NEAP_PROFILE_H
#define NEAP_NEAP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* neap_version - of the library that is in use: "0.1.0". */
const char *neap_version(void);

/* ---- errors ------------------------------------------------------------------- */

enum neap_status {
	NEAP_STATUS_OK = 0,
	NEAP_STATUS_NOMEM,       /* out of memory */
	NEAP_STATUS_IO,          /* the system refused: the message names the file and why */
	NEAP_STATUS_FORMAT,      /* not a profile */
	NEAP_STATUS_LIMIT,       /* too large, too deep, too long */
	NEAP_STATUS_UNSUPPORTED, /* correct, but not possible with this version */
	NEAP_STATUS_USAGE,       /* the query, or the call, makes no sense */
	NEAP_STATUS_ABSENT,      /* a named thing does not exist */
	NEAP_STATUS_CANCELLED,   /* the caller's is_cancelled said so */
};

struct neap_error;
void neap_error_free(struct neap_error *e); /* NULL is fine */
enum neap_status neap_error_status(const struct neap_error *e);
/* neap_error_message - one line, without "error: ". */
const char *neap_error_message(const struct neap_error *e);

/* ---- profiles ------------------------------------------------------------------- */

struct neap_profile;

/*
 * neap_profile_open - read and index a profile.
 * Fails: NEAP_STATUS_IO, _FORMAT, _UNSUPPORTED (needs a newer version), _NOMEM.
 *        A file that is cut or damaged in part is not an error: neap_profile_damage.
 * Cost:  linear in the file, which may be changed or removed afterwards.
 */
enum neap_status neap_profile_open(const char *path, struct neap_profile **out,
				   struct neap_error **error_out);
/* neap_profile_free - after all results made from it.  NULL is fine. */
void neap_profile_free(struct neap_profile *p);

/* The recorded process. */
struct neap_run {
	const char *path;        /* as given to neap_profile_open */
	const char *tool;        /* that recorded it: "neap 0.1.0" */
	const char *const *argv; /* the command: argv_count strings */
	size_t argv_count;
	const char *exe, *cwd, *host, *kernel; /* "" if unknown */
	uint32_t pid, ppid, cpu_count;         /* 0 if unknown */
	bool is_forked;                        /* started as a copy of ppid's memory */
	uint64_t file_bytes;
	uint64_t start_unix_ns; /* wall clock when the recording began */
	uint64_t duration_ns;
	uint64_t interval_ns;  /* first interval between snapshots */
	uint64_t sample_bytes; /* 0: every block was counted */
};
void neap_profile_run(const struct neap_profile *p, struct neap_run *out);

enum neap_end {
	NEAP_END_UNKNOWN, /* the recorder died or the file was cut */
	NEAP_END_EXITED,
	NEAP_END_SIGNALED,
	NEAP_END_EXEC,    /* the program replaced itself */
	NEAP_END_STOPPED, /* the recording ended first */
};
struct neap_ending {
	enum neap_end kind;
	bool has_status;
	int status; /* exit status or signal number; 0 unless has_status */
	uint64_t time_ns;
	const char *reason; /* of NEAP_END_STOPPED, else "" */
};
void neap_profile_ending(const struct neap_profile *p, struct neap_ending *out);

/* ---- how exact it is --------------------------------------------------------------- */

/* neap_profile_is_exact - were all blocks counted: nothing sampled, dropped or damaged, here or in what was imported? */
bool neap_profile_is_exact(const struct neap_profile *p);

struct neap_damage {
	bool is_cut;          /* ends early */
	uint64_t whole_bytes; /* up to the last whole block of the file */
	uint64_t lost_bytes;  /* after it */
	uint32_t bad_count;   /* blocks of the file that were skipped */
	const char *text;     /* for people; "" if nothing is wrong */
};
void neap_profile_damage(const struct neap_profile *p, struct neap_damage *out);

/* One reason why something was not counted, and how often. */
struct neap_drop {
	const char *name;    /* short: "nodes" */
	const char *meaning; /* one phrase for people */
	uint64_t count;      /* often 0 */
};
size_t neap_profile_drop_count(const struct neap_profile *p);
/* neap_profile_drop - false and *out untouched past the last; so are the functions below. */
bool neap_profile_drop(const struct neap_profile *p, size_t drop_idx, struct neap_drop *out);

/* ---- sums of the whole run ------------------------------------------------------------ */

struct neap_amount {
	int64_t blocks, bytes;
};
enum neap_population {
	NEAP_ALLOCATED, /* by the process, over the run */
	NEAP_FREED,
	NEAP_TEMPORARY, /* freed before the same thread allocated again */
	NEAP_PEAK,      /* live when most bytes were */
	NEAP_LEAKED,    /* live at the end */
};
/* neap_profile_amount - blocks and bytes; other populations are a query away.  O(1). */
struct neap_amount neap_profile_amount(const struct neap_profile *p, enum neap_population of);

struct neap_peak {
	uint64_t time_ns;
	uint32_t snapshot; /* it fell in the interval that ends with this */
	bool is_exact;     /* noticed by the process itself, not found among the snapshots */
	int64_t bytes;
	uint64_t bound_bytes; /* the true peak is within this of bytes; 0 unless is_exact */
};
void neap_profile_peak(const struct neap_profile *p, struct neap_peak *out);

/* ---- lists ------------------------------------------------------------------------------- */

struct neap_module {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_bytes;                  /* 0: unknown */
	bool is_main;                           /* the program itself */
	uint64_t start_va, end_va, bias;        /* run-time address - bias = address in the file */
	uint32_t first_snapshot, last_snapshot; /* last 0: until the end */
};
size_t neap_profile_module_count(const struct neap_profile *p);
bool neap_profile_module(const struct neap_profile *p, size_t module_idx, struct neap_module *out);

struct neap_thread {
	const char *name; /* "" if unknown */
	uint32_t tid;
	bool has_ended;
	uint32_t first_snapshot, last_snapshot; /* last 0: until the end */
};
size_t neap_profile_thread_count(const struct neap_profile *p);
bool neap_profile_thread(const struct neap_profile *p, size_t thread_idx, struct neap_thread *out);

struct neap_snapshot { /* number snapshot_idx + 1 */
	uint64_t time_ns;
	uint64_t cpu_ns, rss_bytes; /* 0: unknown */
	int64_t live_bytes;         /* running total of the process */
};
size_t neap_profile_snapshot_count(const struct neap_profile *p);
bool neap_profile_snapshot(const struct neap_profile *p, size_t snapshot_idx,
			   struct neap_snapshot *out);

struct neap_instant { /* an instant that the program named: neap_mark in <neap/neap.h> */
	const char *name;
	uint32_t snapshot;
	uint64_t time_ns;
};
size_t neap_profile_mark_count(const struct neap_profile *p);
/* neap_profile_mark - the mark of an index, in order of time. */
bool neap_profile_mark(const struct neap_profile *p, size_t mark_idx, struct neap_instant *out);

#ifdef __cplusplus
}
#endif

#endif
