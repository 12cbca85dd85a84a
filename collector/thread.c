/*
 * The private tables of a thread.
 *
 * Made at the thread's first allocation, freed by the destructor of a thread-specific
 * key in its last round, so that what other destructors allocate is still counted.
 * A signal handler that interrupts a hook gets a context of its own (`nested`): then
 * no table is ever used by two activities at once, and nothing has to be dropped.
 *
 * Destructors of other keys may allocate even after that last round's destructor.  For such
 * an event a thread takes one of some shared contexts: `busy` is its lock, which nobody waits
 * for, and it gets the number of the thread that has it.  So that stays one thread in the profile.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define FIRST_FRAMES  256u
#define FIRST_SLOT_LG 8u
#define MAX_NEST      2u

/* Round of thread-specific destructors in which a thread is let go of: the last. */
#ifdef __SANITIZE_THREAD__ /* whose own destructor ends the thread for it in the last round */
#define END_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define END_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

__thread struct nc_ctx *nc_tls __attribute__((tls_model("initial-exec")));

/* Set once at start. */
static pthread_key_t end_key;
static bool has_end_key;
#define LATE_MAX 64u                       /* late threads inside a hook at once */
static struct nc_ctx *late_ctxs[LATE_MAX]; /* from NULL to their value once; atomic */

/* The number of this thread, once it has ended. */
static __thread uint32_t ended_thread __attribute__((tls_model("initial-exec")));

/* The tables of the remembered stack, for `cap` frames. */
struct tables {
	struct nc_frame *frames;
	struct nc_check *checks;
	struct nc_fresh *fresh;
};

static void tables_free(const struct tables *of, uint32_t cap)
{
	nc_unmap(of->frames, sizeof *of->frames * cap);
	nc_unmap(of->checks, sizeof *of->checks * NC_FRAME_CHECKS * cap);
	nc_unmap(of->fresh, sizeof *of->fresh * cap);
}

bool nc_frames_grow(struct nc_ctx *t)
{
	uint32_t old_cap = t->frame_cap;
	uint32_t cap = old_cap ? old_cap * 4 : FIRST_FRAMES;
	if (cap > NC_WALK_FRAMES)
		return false;
	struct tables old = {t->frames, t->checks, t->fresh};
	struct tables bigger = {
		.frames = nc_map(sizeof *t->frames * cap),
		.checks = nc_map(sizeof *t->checks * NC_FRAME_CHECKS * cap),
		.fresh = nc_map(sizeof *t->fresh * cap),
	};
	if (!bigger.frames || !bigger.checks || !bigger.fresh) {
		tables_free(&bigger, cap);
		return false;
	}
	if (old_cap) {
		memcpy(bigger.frames, old.frames, sizeof *old.frames * old_cap);
		memcpy(bigger.checks, old.checks, sizeof *old.checks * NC_FRAME_CHECKS * old_cap);
		memcpy(bigger.fresh, old.fresh, sizeof *old.fresh * old_cap);
	}
	/* In this order: a signal handler may leave this place by longjmp. */
	t->frames = bigger.frames;
	t->checks = bigger.checks;
	t->fresh = bigger.fresh;
	__atomic_store_n(&t->frame_cap, cap, __ATOMIC_RELEASE);
	tables_free(&old, old_cap);
	return true;
}

/* Enter the thread in the region under a number of its own. */
static bool thread_register(struct nc_ctx *t)
{
	uint32_t id = nc_region_take(NC_SEC_THREADS, 1);
	if (!id)
		return false;
	struct nc_thread *shared = nc_thread(id);
	shared->tid = nc_gettid();
	shared->start_interval = __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED);
	nc_syscall3(SYS_prctl, PR_GET_NAME, (long)shared->name, 0);
	__atomic_store_n(&shared->flags, NC_THREAD_USED | (t->nest_level ? NC_THREAD_NESTED : 0),
			 __ATOMIC_RELEASE);
	t->thread = id;
	t->shared = shared;
	return true;
}

/* The first context of the process keeps its live total exact; all others batch. */
static void choose_batching(struct nc_ctx *t)
{
	t->is_primary = !__atomic_exchange_n(&nc.primary_is_set, 1, __ATOMIC_ACQ_REL);
	if (t->is_primary)
		return;
	uint32_t now = __atomic_add_fetch(&nc.batching_now, 1, __ATOMIC_RELAXED);
	uint32_t *most = &nc.header->batching_threads;
	uint32_t seen = __atomic_load_n(most, __ATOMIC_RELAXED);
	while (seen < now && !__atomic_compare_exchange_n(most, &seen, now, true, __ATOMIC_RELAXED,
							  __ATOMIC_RELAXED))
		;
}

static void ctx_free(struct nc_ctx *t)
{
	if (!t)
		return;
	tables_free(&(struct tables){t->frames, t->checks, t->fresh}, t->frame_cap);
	nc_unmap(t->slots, sizeof *t->slots << t->slot_lg);
	nc_unmap(t->scratch, sizeof *t->scratch);
	nc_unmap(t, sizeof *t);
}

void nc_ctxs_each(nc_own_fn *fn, void *arg)
{
	for (const struct nc_ctx *t = nc_tls; t; t = t->nested) {
		fn(t->frames, sizeof *t->frames * t->frame_cap, arg);
		fn(t->checks, sizeof *t->checks * NC_FRAME_CHECKS * t->frame_cap, arg);
		fn(t->fresh, sizeof *t->fresh * t->frame_cap, arg);
		fn(t->slots, sizeof *t->slots << t->slot_lg, arg);
		fn(t->scratch, sizeof *t->scratch, arg);
		fn(t, sizeof *t, arg);
	}
}

static struct nc_ctx *ctx_map(uint32_t nest_level)
{
	struct nc_ctx *t = nc_map(sizeof *t);
	if (!t)
		return NULL;
	nc_mark_busy(t);
	t->nest_level = nest_level;
	t->slot_lg = FIRST_SLOT_LG;
	t->slots = nc_map(sizeof *t->slots << t->slot_lg);
	t->scratch = nc_map(sizeof *t->scratch);
	t->root = NC_NODE_ROOT;
	if (t->slots && t->scratch && nc_frames_grow(t))
		return t;
	ctx_free(t);
	return NULL;
}

static struct nc_ctx *ctx_new(uint32_t nest_level)
{
	struct nc_ctx *t = ctx_map(nest_level);
	if (!t)
		return NULL;
	if (!thread_register(t)) {
		ctx_free(t);
		return NULL;
	}
	choose_batching(t);
	return t;
}

/* Stacks and cohorts known so far are another thread's, or another process's. */
static void ctx_forget(struct nc_ctx *t)
{
	t->frame_count = 0;
	t->segment_epoch++;
	memset(t->slots, 0, sizeof *t->slots << t->slot_lg);
	t->slot_used = 0;
}

static void thread_end_mark(struct nc_ctx *t)
{
	struct nc_thread *shared = t->shared;
	nc_flush_live(t);
	/* What is left of the chunk, never touched, goes to the next thread that needs one. */
	if (t->cohort_next < t->cohort_end)
		__atomic_store_n(&nc.spare_cohorts, (uint64_t)t->cohort_next << 32 | t->cohort_end,
				 __ATOMIC_RELAXED);
	if (!t->is_primary)
		__atomic_fetch_sub(&nc.batching_now, 1, __ATOMIC_RELAXED);
	shared->end_interval = __atomic_load_n(&nc.header->interval, __ATOMIC_RELAXED);
	nc_syscall3(SYS_prctl, PR_GET_NAME, (long)shared->name, 0);
	__atomic_fetch_or(&shared->flags, NC_THREAD_ENDED, __ATOMIC_RELEASE);
}

/* Destructor of end_key: waits for the last round, then lets go of everything. */
static void thread_end(void *arg)
{
	struct nc_ctx *t = arg;
	if (!nc_is_on() || t != nc_tls)
		return;
	if (++t->exit_rounds < END_ROUND) {
		pthread_setspecific(end_key, t);
		return;
	}
	ended_thread = t->thread;
	nc_tls = NULL;
	__asm__ volatile("" ::: "memory");
	if (t->nested) {
		thread_end_mark(t->nested);
		ctx_free(t->nested);
	}
	thread_end_mark(t);
	ctx_free(t);
}

void nc_thread_init(void)
{
	if (!has_end_key)
		has_end_key = pthread_key_create(&end_key, thread_end) == 0;
}

static struct nc_ctx *first_ctx(void)
{
	struct nc_ctx *t = ctx_new(0);
	if (!t)
		return NULL;
	nc_tls = t; /* busy: whatever the next call allocates goes to a nested context */
	if (has_end_key)
		pthread_setspecific(end_key, t);
	return t;
}

static bool is_taken(struct nc_ctx *t, uint64_t sp)
{
	uint64_t idle = 0;
	return __atomic_compare_exchange_n(&t->busy, &idle, sp, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* A context that no thread is in, from now on busy; a new one if need be; NULL if there is no room. */
static struct nc_ctx *late_ctx_take(uint64_t sp)
{
	for (uint32_t i = 0; i < LATE_MAX; i++) {
		struct nc_ctx *t = __atomic_load_n(&late_ctxs[i], __ATOMIC_ACQUIRE);
		if (t && is_taken(t, sp))
			return t;
		if (t)
			continue;
		struct nc_ctx *fresh = ctx_map(0), *expected = NULL;
		if (!fresh)
			return NULL;
		if (__atomic_compare_exchange_n(&late_ctxs[i], &expected, fresh, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			choose_batching(fresh);
			return fresh;
		}
		ctx_free(fresh);
		if (is_taken(expected, sp))
			return expected;
	}
	return NULL;
}

/* A shared context, for this thread, which has ended. */
static struct nc_ctx *late_enter(uint64_t sp)
{
	struct nc_ctx *t = late_ctx_take(sp);
	if (!t || t->thread == ended_thread)
		return t;
	t->is_late = true;
	t->thread = ended_thread;
	t->shared = nc_thread(ended_thread);
	/* The stacks of the one before may be unmapped. */
	memset(t->ranges, 0, sizeof t->ranges);
	t->range_bytes = 0;
	ctx_forget(t);
	return t;
}

/* Does this thread run on its alternate signal stack? */
static bool is_on_signal_stack(void)
{
	stack_t now = {0};
	long ret = nc_syscall3(SYS_sigaltstack, 0, (long)&now, 0);
	return nc_sys_failed(ret) || now.ss_flags & SS_ONSTACK;
}

/*
 * All contexts of this thread are busy.  Most likely their hooks were interrupted by signal
 * handlers that left by longjmp: then their frames were further in than the one that calls
 * now.  Such contexts are free again; what they remembered may be half written.
 */
static bool have_been_left(struct nc_ctx *outermost, uint64_t sp)
{
	for (struct nc_ctx *t = outermost; t; t = t->nested)
		if (t->busy > sp)
			return false;
	if (is_on_signal_stack())
		return false;
	for (struct nc_ctx *t = outermost; t; t = t->nested) {
		t->frame_count = 0;
		t->segment_epoch++;
		t->busy = 0;
	}
	nc_modules_abandon();
	return true;
}

struct nc_ctx *nc_enter_slow(void)
{
	struct nc_ctx *t = nc_tls;
	uint64_t sp = (uint64_t)__builtin_frame_address(0) + 16; /* of the caller */
	if (!t) {
		t = ended_thread ? late_enter(sp) : first_ctx();
		if (!t)
			nc_drop(NC_DROP_THREADS);
		return t; /* made busy */
	}
	while (t && t->busy && t->nest_level < MAX_NEST) {
		if (!t->nested)
			t->nested = ctx_new(t->nest_level + 1);
		else if (!t->nested->busy)
			nc_mark_busy(t->nested);
		else {
			t = t->nested;
			continue;
		}
		return t->nested;
	}
	if (have_been_left(nc_tls, sp)) {
		nc_mark_busy(nc_tls);
		return nc_tls;
	}
	nc_drop(NC_DROP_REENTRY);
	return NULL;
}

struct nc_ctx *nc_thread_forked(void)
{
	struct nc_ctx *t = nc_tls;
	nc.primary_is_set = 0;
	nc.batching_now = 0;
	memset(late_ctxs, 0, sizeof late_ctxs); /* may be in the middle of something */
	ended_thread = 0;
	if (!t) {
		t = first_ctx();
		if (t)
			nc_leave(t);
		return t;
	}
	/* Numbers of the parent's region mean nothing here.  Other threads' tables stay unused. */
	t->nested = NULL;
	t->cohort_next = t->cohort_end = 0;
	t->node_next = t->node_end = 0;
	t->unflushed_bytes = 0;
	ctx_forget(t);
	if (!thread_register(t)) {
		nc_tls = NULL;
		return NULL;
	}
	choose_batching(t);
	return t;
}
