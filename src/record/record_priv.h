/*
 * What the files of the recorder share.
 *
 *   loop.c      start, wait, tick, end: record_run
 *   family.c    the processes of a recording: greeted, finished
 *   spawn.c     starting the program           elfcheck.c  can it be preloaded?
 *   meet.c      socket, hello and welcome      files.c     names of profile files
 *   process.c   one recorded process: its life from hello to its last snapshot
 *   region.c    shared regions                 chunks.c    sparse arrays
 *   scan.c      region -> changes -> snapshot  tree.c      nodes, sites, frames
 *   modules.c   modules and their open files   threads.c   threads and their names
 *   recycle.c   dead cohorts back to threads   peak.c      live at the peak
 *   marks.c     neap_mark                      naming.c    symbols, in a thread
 *   unseen.c    children without a collector
 *
 * Guards: everything inside struct process is under its lock, except what is marked
 * otherwise.  Ranks: process lock, then the locks of modules.c and of messages.
 */
#ifndef NEAP_RECORD_RECORD_PRIV_H
#define NEAP_RECORD_RECORD_PRIV_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>

#include "src/base/err.h"
#include "src/base/map.h"
#include "src/profile/profile.h"
#include "src/record/chunks.h"
#include "src/record/record.h"
#include "src/record/region.h"
#include "src/sym/jitmap.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

uint64_t now_ns(void);      /* CLOCK_MONOTONIC, as tick_ns */
uint64_t now_unix_ns(void); /* CLOCK_REALTIME */
uint64_t own_cpu_ns(void);  /* processor time of the calling thread */

/* ---- messages: loop.c ------------------------------------------------------ */

struct speaker {
	const struct record_sink *sink;
	pthread_mutex_t lock;
	bool has_said_broken; /* under lock: that writing stopped is said once */
};
void speaker_say(struct speaker *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Says the error once per recording. */
void speaker_say_broken(struct speaker *s, const struct err *e);

/* ---- output files: files.c ---------------------------------------------------- */

struct namer {
	char *pattern; /* owned */
	bool wants_overwrite;
	char host[256];
	uint64_t start_unix_ns;
	struct strtab taken; /* paths of this recording: never overwritten */
};
enum neap_err namer_init(struct namer *n, const struct record_options *o, struct err *e);
void namer_release(struct namer *n);

struct output {
	int fd;          /* -1: none, or taken by a writer */
	char *path;      /* as the user should see it; owned */
	char *kept_path; /* existing file because of which another name was used; owned; or NULL */
	bool is_regular;
};
/*
 * namer_open - create the file for a process.  `is_extra`: not the first file of this
 * recording, so a pattern without %p gets the pid added.
 */
enum neap_err namer_open(struct namer *n, const char *program, uint32_t pid, bool is_extra,
			 struct output *out, struct err *e);
void output_discard(struct output *o); /* close, and remove the file that was created */
void output_release(struct output *o);

/* ---- starting the program: spawn.c ------------------------------------------------- */

struct saved_limits { /* of neap's own process, as they were */
	struct rlimit as, nofile;
};
void limits_lift(struct saved_limits *saved);

struct spawn {
	const char *path; /* resolved */
	char *const *argv;
	const char *collector;
	const char *socket_path;
	const sigset_t *mask; /* signal mask the program starts with */
	const struct saved_limits *limits;
};
struct spawned {
	pid_t pid;
	int pidfd;
	int go_fd;    /* write end: one byte lets the program start; closing it ends the child */
	int error_fd; /* read end: an errno if exec fails, end of file if it works */
};
enum neap_err spawn_prepare(const struct spawn *s, struct spawned *out, struct err *e);
/* spawn_go - let it run; fails if exec fails, with status_out 126 or 127. */
enum neap_err spawn_go(struct spawned *s, const char *path, int *status_out, struct err *e);
void spawn_cancel(struct spawned *s);
/* spawn_find - PROG as the shell would find it; status_out 126 or 127 if not. */
enum neap_err spawn_find(const char *prog, char **path_out, int *status_out, struct err *e);

/* ---- call tree: tree.c ------------------------------------------------------------------ */

struct tree {
	struct chunks ids;            /* uint32_t by region node: file node or site, TREE_EXITING */
	struct map frame_ids;         /* key of a region node -> frame_id */
	struct profile_frame *frames; /* [frame_count], for naming */
	size_t frame_count, frame_cap;
	uint32_t *path; /* scratch: unknown nodes from a site upward */
	size_t path_cap;
};
#define TREE_EXITING (1u << 31)

struct process;
void tree_init(struct tree *t);
void tree_release(struct tree *t);
/* tree_site - file site of a region node, added with its path; 0 if the node makes no sense
 * or memory ran out (then p->is_starved is set). */
site_id tree_site(struct process *p, uint32_t node);

/* ---- modules: modules.c ------------------------------------------------------------------- */

/* Open files of modules, one per file however many processes map it.  Shared by all processes. */
struct module_files {
	pthread_mutex_t lock;
	struct module_file {
		uint64_t dev, ino;
		int64_t mtime_ns;
		int fd;
	} * items;
	size_t count, cap;
	struct map by_id; /* mix of dev and ino -> index of items */
};
void module_files_init(struct module_files *f);
void module_files_release(struct module_files *f);

/* modules_open_exe - keep the program's file open, while the process waits for the answer to its hello. */
void modules_open_exe(struct process *p);

struct modules {
	struct module_entry {
		mod_id id;
		uint32_t last_interval;
	} * entries; /* by region index */
	size_t entry_count, entry_cap;
	struct profile_module *items; /* [count], mod_id - 1, for naming; paths owned by arena */
	int *fds;                     /* [count]; borrowed from module_files; -1 = none */
	size_t count, cap, fd_cap;
	struct arena arena;
};
/* modules_find - file module of a region index, added when it first appears; 0 if it has none. */
mod_id modules_find(struct process *p, uint32_t idx);
/* Notice modules that were unloaded. */
void modules_refresh(struct process *p);
void modules_release(struct modules *m);

/* ---- threads: threads.c ------------------------------------------------------------------------ */

struct retiree { /* a dead cohort on its way back to a thread */
	uint32_t idx, birth;
	uint32_t births; /* the low half: only to see whether it moved */
	snap_id since;   /* waits since this snapshot */
};
struct retirees {
	struct retiree *items;
	size_t first, count, cap; /* items[first .. count) wait */
};

struct thread_entry {
	thread_id id; /* 0: not seen yet */
	uint32_t tid, flags;
	snap_id first_snap;
	char name[16], region_name[16];
	struct retirees ready; /* for its ring */
};
struct threads {
	struct thread_entry *entries; /* by region index */
	size_t entry_count, entry_cap;
	uint32_t *live; /* region indexes of threads that have not ended */
	size_t live_count, live_cap;
	uint32_t seen_count; /* region indexes below this were looked at */
	size_t next_live;    /* round robin for cohorts of ended threads */
	uint64_t refreshed_ns;
};
/* threads_find - file thread of a region index, added if need be; 0 if it makes no sense. */
thread_id threads_find(struct process *p, uint32_t idx);
/* New threads, names, ends; everything if `is_last`. */
void threads_refresh(struct process *p, uint64_t now, bool is_last);
void threads_release(struct threads *t);

/* ---- recycling: recycle.c -------------------------------------------------------------------------- */

enum shadow_flags {
	SHADOW_MIXED =
		1, /* byte counters are in the next slot; its shadow holds what was seen of them */
	SHADOW_QUEUED = 2,  /* waits in recycler.young or in ready of its thread */
	SHADOW_PUSHED = 4,  /* was put on a ring and has not moved since */
	SHADOW_IGNORED = 8, /* its site or thread makes no sense */
	SHADOW_INHERITED = 16,
};
/* What was last read of a cohort. */
struct shadow {
	uint64_t births, deaths, temporary; /* deaths: by any thread */
	uint32_t number;      /* in the queue, which knows its id in the file; 0: none */
	uint32_t birth;       /* 0: never seen */
	uint32_t flags;       /* enum shadow_flags */
	uint32_t push_thread; /* region thread on whose ring it was put; 0 = never */
	uint32_t push_head;   /* ring_head at which it was put */
	uint32_t left_idx;    /* its entry in recycler.left, if pushed; checked on use */
	uint64_t size_bytes;  /* of a block; 0 if mixed */
};

/* Share of a recycled cohort in the peak of `recycler.epoch`. */
struct left_share {
	uint32_t idx, birth, number;
	uint64_t births, blocks, bytes;
};

struct recycler {
	/* Dead cohorts, oldest first.  A late event of a preempted owner may still reach a
	 * cohort after its interval, so they wait here for a while before they are handed on. */
	struct retirees young;
	uint64_t busy_ns; /* time with events */
	/* Recent snapshots and busy_ns at them, oldest first; what has waited since ripe_snap
	 * or longer has waited long enough. */
	struct ripening {
		snap_id snap;
		uint64_t busy_ns;
	} * recent;
	size_t recent_first, recent_count, recent_cap;
	snap_id ripe_snap;
	uint64_t epoch;
	struct left_share *left; /* of `epoch` only */
	size_t left_count, left_cap;
};
void recycler_release(struct recycler *r);
/* A cohort without live blocks whose birth interval is over. */
void recycle_queue(struct process *p, uint32_t idx, struct shadow *s);
/* Counters moved after it was pushed: it stays what it is. */
void recycle_revive(struct process *p, uint32_t idx, struct shadow *s);
/* Hand on what has waited long enough. */
void recycle_run(struct process *p);

/* ---- scanning: scan.c ------------------------------------------------------------------------------------- */

struct sort_item {
	uint64_t key;
	uint32_t i;
};
/* sort_items - stable, by key; tmp has room for count items. */
void sort_items(struct sort_item *items, struct sort_item *tmp, size_t count);

struct scanner {
	struct chunks shadows;            /* struct shadow by region cohort */
	uint32_t *dirty, *carry, *merged; /* groups, ascending */
	size_t dirty_count, dirty_cap, carry_count, carry_cap, merged_cap;
	bool has_checked_carry; /* nothing new in it after the last snapshot */
	uint64_t odd_count;     /* cohorts that made no sense */
};
void scanner_init(struct scanner *s);
void scanner_release(struct scanner *s);
/* scan_has_news - has anything changed since the last snapshot? */
bool scan_has_news(struct process *p);
/* scan_snapshot - end the current interval and queue its snapshot under `head`; the last one (the process is
 * gone, or recording ends) looks at every cohort. */
void scan_snapshot(struct process *p, struct profile_snapshot *head, bool is_last);

/* ---- snapshots on their way to the file: queue.c ------------------------------------------------- */

struct queued_counts { /* blocks; or where they are in `wide` (queue.c) */
	uint32_t births, deaths, temporary;
};
struct queued_change { /* of a cohort that was read before */
	uint32_t number;
	struct queued_counts counts;
};
struct queued_cohort {              /* a new one; its number is that of its place, from 1 */
	uint32_t site_node;         /* of the region; not checked yet */
	uint32_t thread;            /* of the file */
	uint32_t birth        : 31; /* snapshot */
	uint32_t is_inherited : 1;
	struct queued_counts counts; /* filled in by queue_newborn */
};
struct queued_snapshot {
	struct profile_snapshot head;
	size_t newborn_end,
		moved_end; /* what belongs to it lies before these, and after those of the
					* snapshot before */
};
struct queue {
	struct queued_snapshot *snapshots; /* [snapshot_first .. snapshot_count) wait */
	size_t snapshot_first, snapshot_count, snapshot_cap;
	struct chunks newborn; /* struct queued_cohort; [newborn_first .. newborn_count) wait */
	struct chunks moved;   /* struct queued_change */
	uint32_t newborn_first, newborn_count, moved_first, moved_count;
	struct profile_change *wide; /* changes that do not fit into a queued_change */
	size_t wide_count, wide_cap;

	uint32_t number_base;   /* cohorts that were taken out when the queue was last empty */
	struct chunks ids;      /* cohort_id by number; 0: not in the file */
	uint32_t written_count; /* snapshots */
	struct sort_item *order, *order_tmp;
	size_t order_cap, order_tmp_cap;
};
void queue_init(struct queue *q);
void queue_release(struct queue *q); /* empty again */
/* queue_newborn - a new cohort of the snapshot being read; returns its number, 0 if memory runs out. */
uint32_t queue_newborn(struct queue *q, const struct queued_cohort *cohort,
		       const struct profile_change *change);
/* queue_moved - a change of one that was read before; one without number is dropped when written. */
bool queue_moved(struct queue *q, uint32_t number, const struct profile_change *change);
/* queue_has_open - was anything put in since the last close?  queue_close - the snapshot is whole. */
bool queue_has_open(const struct queue *q);
bool queue_close(struct queue *q, const struct profile_snapshot *head);
/* queue_work - write what the recorder's share of time allows; all if `is_last`. */
void queue_work(struct process *p, uint64_t now, bool is_last);
/* queue_cohort_id - once it is written; 0 if it made no sense. */
cohort_id queue_cohort_id(const struct queue *q, uint32_t number);

/* ---- peak: peak.c --------------------------------------------------------------------------------------------- */

/* After the last snapshot: what was live at the peak, and live at the end. */
void peak_write(struct process *p, uint64_t now);

/* ---- steady stretches: steady.c ---------------------------------------------------------------------------------- */

struct steady {            /* what a process looked like at its last snapshot */
	uint64_t since_ns; /* 0: there was none */
	uint32_t node_count, thread_count;
	int64_t live_bytes, peak_bytes;
};
struct process;
/* steady_mark - after a snapshot.  steady_holds - may the interval go on although its time has come? */
void steady_mark(struct process *p, uint64_t now);
bool steady_holds(const struct process *p, uint64_t now);

/* ---- processes: process.c ------------------------------------------------------------------------------------------ */

struct recorder;

struct process {
	struct recorder *recorder;
	pid_t pid;
	uint32_t seen_pid;     /* in the target's own namespace, from its hello */
	bool is_first;         /* image of the process that neap started */
	uint64_t next_tick_ns; /* main thread */
	int pidfd;             /* -1 for the child of the recorder; main thread */
	int statm_fd;
	int exe_fd;    /* the program's file, which may be gone soon; -1; owned by module_files */
	char comm[32]; /* the name the system had for it at its hello */
	clockid_t cpu_clock;
	bool has_cpu_clock;
	uint64_t cpu_base_ns;
	char *program;
	struct naming_job *job; /* for the end, where lack of memory must not lose the recording */
	struct output output;

	pthread_mutex_t lock;
	struct region region;
	struct profile_writer *writer;
	bool is_broken;  /* writing failed: nothing more is written */
	bool is_starved; /* memory ran out in this process: turned into is_broken */
	uint64_t base_ns;
	uint64_t interval_ns; /* current */
	bool is_adaptive;     /* nobody asked for an interval */
	uint64_t next_snapshot_ns, flushed_ns, refreshed_ns, last_busy_ns, last_cpu_ns;
	uint64_t cost_ns;  /* of reading a snapshot, smoothed */
	uint32_t interval; /* number of the current one: id of the next snapshot */
	uint32_t snapshot_count, flushed_count;

	struct steady steady;
	struct scanner scanner;
	struct queue queue;
	struct tree tree;
	struct modules modules;
	struct threads threads;
	struct recycler recycler;
	struct jit_follow jit; /* names of code that it made */

	/* totals */
	uint64_t alloc_count, alloc_bytes; /* inherited ones not counted */
	uint64_t live_bytes, live_blocks;  /* set by peak_write */
	uint64_t peak_bytes;
	uint64_t own_most_bytes; /* resident memory of its own, at the snapshot with the most */

	/* marks.c */
	pthread_t mark_thread;
	bool has_mark_thread;
	uint32_t mark_count;  /* marks written */
	uint32_t must_stop;   /* atomic */
	uint32_t has_stopped; /* atomic */
};

/* signals_mask - what signals_handle reads from r->signal_fd: passes it on, or stops. */
void signals_mask(sigset_t *mask_out);
void signals_handle(struct recorder *r);
void signals_release(struct recorder *r); /* the mask as it was */

/* filters_of - seccomp filters of a process; NC_FILTERS_UNKNOWN. */
uint32_t filters_of(pid_t pid);
/* process_comm - the name the system has for a process, also for one that has ended; empty if unknown. */
void process_comm(pid_t pid, char *dst, size_t cap);
/* path_base - what follows the last slash, if anything does. */
const char *path_base(const char *path);

/* What the hello told, and whom the kernel says it came from. */
struct newcomer {
	pid_t pid;
	uint32_t seen_pid, ppid;
	bool is_forked;
	bool is_first;        /* the process that neap started, in its first image */
	bool is_exec;         /* the same process was recorded before, as another program */
	int pidfd;            /* taken */
	struct output output; /* taken */
	const char *program;
};
/* process_new - region, writer and mark thread; takes what newcomer says even if it fails. */
enum neap_err process_new(struct recorder *r, struct newcomer *n, struct process **out,
			  struct err *e);
/* process_tick - store the time; a snapshot if it is due and anything changed.  Returns when to
 * come again. */
uint64_t process_tick(struct process *p, uint64_t now);
/* A failure of the writer or of memory: say it once, stop writing. */
void process_break(struct process *p, const struct err *e);
/* process_finish - last snapshot, peak, drops; hands the file on to naming.  Frees p. */
void process_finish(struct process *p, const struct profile_end *end);
void process_snapshot(struct process *p, uint64_t now, bool is_last); /* under lock */
/* process_measure - fill in what the system and the collector say about the process now. */
void process_measure(struct process *p, struct profile_snapshot *head);

bool marks_start(struct process *p);
void marks_stop(struct process *p);
void marks_write(struct process *p, uint64_t now); /* under lock: those not written yet */

/* ---- naming: naming.c ------------------------------------------------------------------------------------------------ */

struct naming_job {
	struct naming_job *next;
	struct profile_writer *writer;
	bool is_broken;
	struct output output;
	struct profile_end end;
	struct modules modules;
	struct profile_frame *frames;
	size_t frame_count;
	struct jit_follow jit;
	struct record_file file;
};
struct naming {
	struct recorder *recorder;
	pthread_mutex_t lock;
	pthread_cond_t has_work;
	pthread_t thread;
	bool has_thread;
	struct naming_job *first, **last; /* under lock */
	struct record_result *result;     /* under lock */
	struct symbol_cache *cache;       /* of the thread */
	struct strtab said;               /* of the thread: warnings */
	bool must_end, has_ended;         /* under lock: no more jobs will come; the last is done */
	int ended_fd;                 /* readable when the last is done; -1: ask again and again */
	uint32_t wants_no_names;      /* atomic: the user is in a hurry */
	size_t done_count, all_count; /* atomic: addresses */
};
enum neap_err naming_init(struct naming *n, struct recorder *r, struct record_result *result,
			  struct err *e);
void naming_add(struct naming *n, struct naming_job *job); /* takes job */
/* naming_end - no more jobs; returns true once all are done. */
bool naming_end(struct naming *n);
void naming_release(struct naming *n);

/* ---- meeting: meet.c ------------------------------------------------------------------------------------------------------ */

#define MEET_PENDING 64
struct meeting {
	char *dir, *path; /* directory of mode 0700 and the socket in it */
	char *link;       /* collector under a name that LD_PRELOAD can take, or NULL */
	int fd;
	int epoll_fd; /* where connections are added under TAG_PENDING; -1 = nowhere */
	struct pending {
		int fd;
		uint64_t until_ns;
	} pending[MEET_PENDING];
	size_t pending_count;
	int spare_fd;      /* given up when no other is left */
	size_t away_count; /* processes turned away for lack of descriptors */
};
enum neap_err meeting_init(struct meeting *m, struct err *e);
void meeting_release(struct meeting *m); /* closes; removes socket and directory */
/* Accept waiting connections. */
void meeting_accept(struct meeting *m, uint64_t now);
/* meeting_next - a hello that has come in; false if there is none now. */
struct hello {
	int fd;
	pid_t pid;
	struct nc_hello text;
	bool is_wrong_version;
};
bool meeting_next(struct meeting *m, uint64_t now, struct hello *out);
/* Answer and close hello->fd; memfd -1 = declined. */
bool meeting_answer(struct hello *h, int memfd);
/* meeting_collector - path for LD_PRELOAD, which splits at spaces and colons. */
enum neap_err meeting_collector(struct meeting *m, const char *collector, const char **out,
				struct err *e);

/* ---- all of it: loop.c ---------------------------------------------------------------------------------------------------- */

/* Children that say no hello: unseen.c.  Main thread only. */
#define UNSEEN_KEPT        64
#define MOST_DECLINED_SAID 3u
struct unseen {
	uint64_t looked_ns;
	size_t turn; /* whose children are looked at next */
	struct unseen_child {
		pid_t pid;
		unsigned count; /* looks at which it was like this */
	} kept[UNSEEN_KEPT];
	size_t kept_next;
};
/* unseen_look - every tenth of a second: say which children cannot be recorded, and why. */
void unseen_look(struct recorder *r, uint64_t now);

struct recorder {
	const struct record_options *options;
	struct record_options defaults; /* options with what was left out filled in */
	bool is_adaptive;               /* nobody asked for an interval */
	struct speaker speaker;
	struct namer namer;
	struct meeting meeting;
	struct module_files module_files;
	struct naming naming;
	struct saved_limits limits;

	/* main thread only */
	int epoll_fd, signal_fd;
	sigset_t old_mask; /* as it was before, and as the program gets it */
	bool has_old_mask;
	struct spawned child;
	bool child_has_ended, wants_stop;
	size_t declined_count; /* processes not recorded although they should have been */
	struct unseen unseen;
	unsigned stop_count; /* signals since the program ended */
	int child_wait_status;
	struct output first_output; /* opened before the program starts; used by its first image */
	bool has_first_output;
	bool has_connected; /* the program itself */
	struct exe {        /* what a process runs */
		char path[4096];
		dev_t device; /* of the file; inode 0: unknown */
		ino_t inode;
	} child_exe;           /* when it said hello */
	char unseen_exe[4096]; /* what it is now, if that has not said hello; else "" */
	struct process **processes;
	size_t process_count, process_cap, process_all_count;
	uint64_t start_ns, shown_ns, noticed_exec_ns;
	uint64_t start_cpu_ns; /* the main thread's processor time at start_ns */
	uint64_t ended_alloc_count, ended_snapshot_count, ended_peak_bytes;
	uint64_t shown_alloc_count;
};

/* epoll data: a kind, and for a process its pid above it. */
enum tag {
	TAG_SIGNAL,
	TAG_LISTEN,
	TAG_PENDING,
	TAG_CHILD,
	TAG_PROCESS,
};
#define TAG_BITS 8
bool recorder_watch(struct recorder *r, int fd, uint64_t tag);

/* ---- its processes: family.c ---------------------------------------------------------------------------------------------- */

/* family_meet - a process to be recorded: its descriptor, and for the first one the output that waits
 * for it.  *out is not in the list yet. */
enum neap_err family_meet(struct recorder *r, struct hello *h, bool is_exec, struct process **out,
			  struct err *e);
/* family_say_kept - once: that an existing file is why another name was taken. */
void family_say_kept(struct recorder *r, struct output *o);
/* family_greet - all who have said hello get a region, or are turned away. */
void family_greet(struct recorder *r, uint64_t now);
/* family_end_program - the program itself seems to have ended: take its status, finish it. */
void family_end_program(struct recorder *r, uint64_t now);
void family_end_child(struct recorder *r, pid_t pid, uint64_t now);
void family_end_all(struct recorder *r); /* recording ends, whatever still runs */
/*
 * family_notice_exec - has the program replaced itself?  Usually the new one says hello at once; if it
 * does not, the old one's counters end here all the same.
 */
void family_notice_exec(struct recorder *r, uint64_t now);

/* Processor time of the main thread, which calls it, since the program was started. */
uint64_t recorder_spent_ns(const struct recorder *r);

#endif
