/*
 * What an importer feeds: a builder of profiles on top of profile_writer.
 *
 * Everything is interned, so that nobody keeps stacks or names: equal functions, files,
 * modules, frames and nodes get equal ids, which are those of the profile.
 *
 *   function, file -> lines of a frame -> frame -> node (parent, frame) -> account
 *
 * An account is (node, size, function called, thread): births and deaths are booked to it.
 * import_step closes a snapshot: what was booked since the last one is its change.  Deaths take the youngest
 * blocks of the account, because most formats do not say which block died; so a format whose facts have no
 * FACT_LIFETIMES does not know lifetimes.
 *
 * Memory: O(distinct things + snapshots of live blocks), never O(events).
 * Failures are sticky, as in profile_writer: ids are then 0, and import_finish reports.
 *
 * What a format does not know is never invented: an importer names it (import_lacks), and readers show
 * [unknown] instead of 0.
 */
#ifndef NEAP_EXCHANGE_IMPORT_H
#define NEAP_EXCHANGE_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/exchange/input.h"
#include "src/profile/profile.h"

struct import;
typedef uint32_t account_id; /* 0: none, after a failure */

/* ---- what is said of the whole file; any time before import_finish -------------------------- */

/* A command line as one text: it is split at blanks. */
void import_command(struct import *im, const char *text, size_t bytes);
void import_argv(struct import *im, const char *const *argv, size_t count);
struct import_process { /* 0 and NULL: unknown */
	uint32_t pid, cpu_count;
	const char *exe, *cwd, *host, *kernel;
	uint64_t start_unix_ns;
	uint64_t
		sample_bytes; /* mean bytes between samples; the numbers given are scaled already */
};
void import_process(struct import *im, const struct import_process *p);
/* import_producer - what wrote the file, with its version: "heaptrack 1.4.0". */
void import_producer(struct import *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* import_time_unit - times are no nanoseconds but a count of these ("instructions"), one for each
 * nanosecond.  The text is copied. */
void import_time_unit(struct import *im, const char *unit);
/* import_lacks, import_has - facts (enum profile_fact) that this file lacks though its format can have them, or
 * has after all. */
void import_lacks(struct import *im, uint64_t facts);
void import_has(struct import *im, uint64_t facts);
/* import_estimated - numbers are scaled samples. */
void import_estimated(struct import *im);
/* import_note - one sentence for people, kept in the profile; at most IMPORT_NOTES_MOST of them. */
#define IMPORT_NOTES_MOST 16
void import_note(struct import *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* import_odd - something at the current line (or offset, if no line was read) was left out; the first few
 * are kept as notes with their place, the others counted. */
void import_odd(struct import *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* import_partial - the file ends too early: what is there is kept and marked.  Reason: "it is cut in line 7". */
void import_partial(struct import *im, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- names and stacks ------------------------------------------------------------------------ */

/* Texts are (pointer, bytes) and copied; they need no NUL.  Empty ones give 0, which is none. */
func_id import_func(struct import *im, const char *name, size_t bytes);
/* With the name in the object file, when it is another one. */
func_id import_func_linkage(struct import *im, const char *name, size_t bytes, const char *linkage,
			    size_t linkage_bytes);
file_id import_file(struct import *im, const char *path, size_t bytes);
mod_id import_module(struct import *im, const char *path, size_t bytes);
/* With build id and range; one module for each path, build id and start. */
mod_id import_module_mapped(struct import *im, const struct profile_module *m);

struct import_frame {
	mod_id module; /* 0: none */
	/* A return address in the file's own terms (or at run time, if that is not known), so that looking
	 * up pc - 1 finds the call: if the format gives addresses of calls, add 1.  0: the format has none;
	 * the frame is then told apart by its lines, and gets a number as its address. */
	uint64_t pc;
	bool is_guessed;
	const struct profile_line *lines; /* innermost inlined function first; borrowed */
	size_t line_count;
};
frame_id import_frame(struct import *im, const struct import_frame *f);
/* A frame of which only a name is known, and maybe file and line (0). */
frame_id import_named_frame(struct import *im, func_id func, file_id file, uint32_t line);

/* parent: PROFILE_NODE_ROOT for outermost frames.  Interned. */
node_id import_node(struct import *im, node_id parent, frame_id frame);
/* import_node_new - without looking for an equal one: for formats whose own tree has none twice. */
node_id import_node_new(struct import *im, node_id parent, frame_id frame);
/* The whole stack at once, outermost frame first (or last). */
node_id import_stack(struct import *im, const frame_id *frames, size_t count, bool is_leaf_first);

/* tid: the format's number of the thread.  name may be NULL; a later name replaces an empty one. */
thread_id import_thread(struct import *im, uint32_t tid, const char *name, size_t bytes);
/* import_named_thread - one that the format knows by its name only. */
thread_id import_named_thread(struct import *im, const char *name, size_t bytes);

/* ---- blocks ------------------------------------------------------------------------------------ */

struct import_account {
	node_id node;
	uint64_t
		size_bytes; /* of each block; PROFILE_SIZE_MIXED: bytes are given with each booking */
	enum profile_api api;
	thread_id thread; /* 0: the format knows no threads */
};
account_id import_account(struct import *im, const struct import_account *a);
/* import_account_new - without looking for an equal one.  Each that is made gets the next number. */
account_id import_account_new(struct import *im, const struct import_account *a);
/*
 * import_account_again - one more of the same site and thread, whose deaths are told apart from
 * those of a: for formats that say which block died.  At most one of them has births in an interval.
 */
account_id import_account_again(struct import *im, account_id a);

/*
 * Bookings.  `bytes` counts for accounts of mixed size only; of others it is blocks * size.  Where a format knows bytes but
 * no blocks (no FACT_COUNTS), give blocks = bytes.
 * Deaths of more than is live are cut to that and reported as odd, once, with a count.
 * Cost: O(1) each, amortised.
 */
void import_born(struct import *im, account_id a, uint64_t blocks, uint64_t bytes);
/* temporary: how many of the blocks were freed before their thread allocated again. */
void import_died(struct import *im, account_id a, uint64_t blocks, uint64_t bytes,
		 uint64_t temporary);
/* import_set_live - births or deaths so that this much is live: for formats of snapshots. */
void import_set_live(struct import *im, account_id a, uint64_t blocks, uint64_t bytes);
/* import_touch - a booking of this account comes soon: fetch it; import_touch_again - if it is a
 * death, fetch what it needs besides. */
void import_touch(const struct import *im, account_id a);
void import_touch_again(const struct import *im, account_id a);
/* Live blocks and bytes of an account, and of all together, now. */
struct import_sum {
	uint64_t blocks, bytes;
};
struct import_sum import_live_of(const struct import *im, account_id a);
struct import_sum import_live(const struct import *im);

/* ---- time ---------------------------------------------------------------------------------------- */

struct import_instant {
	uint64_t time_ns;           /* since the beginning; going back counts as standing still */
	uint64_t cpu_ns, rss_bytes; /* 0: unknown */
};
/* import_step - close a snapshot here.  One must be closed after the last booking; import_finish does if
 * anything was booked. */
void import_step(struct import *im, const struct import_instant *at);
/* import_tick - the time now, from formats that have a clock rather than snapshots: closes one when
 * it is due (every 10 ms at first; the interval doubles after 1000 snapshots and every further 500, and after half a
 * million cohorts and every further quarter). */
void import_tick(struct import *im, const struct import_instant *at);
/* import_step_count - how many were closed so far. */
snap_id import_step_count(const struct import *im);
/* A mark at the end of the current interval. */
void import_mark(struct import *im, const char *name, uint64_t time_ns);

/*
 * The peak, in one of three ways (else it is the highest snapshot):
 *   import_track_peak   before the first booking: found while booking, exact in the order of events
 *   import_peak_here    what is live now is the peak the format speaks of
 *   import_peak_entry   the format says how much of an account was live at the peak; before the
 *                       import_step of the interval of the account's births (blocks beyond these are odd);
 *                       several entries of one account add up
 */
void import_track_peak(struct import *im);
void import_peak_here(struct import *im, uint64_t time_ns);
void import_peak_entry(struct import *im, account_id a, uint64_t blocks, uint64_t bytes);
void import_peak_time(struct import *im, uint64_t time_ns, uint64_t bound_bytes);
/* What was found by import_track_peak so far. */
uint64_t import_peak_bytes(const struct import *im);

/* How the program ended; without it: the recording stopped first (END_STOPPED), reason "". */
void import_end(struct import *im, enum profile_end_kind kind, uint64_t time_ns);

bool import_has_failed(const struct import *im);
struct input *import_input(const struct import *im);

#endif
