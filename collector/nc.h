/*
 * What the files of the collector share.
 *
 *   hooks.c     the functions the target calls instead of libc's;  hooks_new.c: C++ operators
 *   real.c      the functions behind them
 *   start.c     first event: meet the recorder, map the region; fork.c: again in a child
 *   filters.c   may this process make a socket?
 *   region.c    the shared region in this process's memory
 *   thread.c    the private tables of a thread
 *   stack.c     memoised unwinding: registers -> path node
 *   rules.c     cache of unwind rules by return address
 *   cfi.c       .eh_frame -> row of rules;  full.c: unwinding by rows of any kind
 *   bounds.c    which addresses of a stack may be read;  maps.c: what is mapped
 *   module.c    code address -> module record
 *   tree.c      the call tree
 *   livemap.c   block address -> cohort
 *   count.c     births, deaths, peak
 *   pages.c     page -> mapping;  hooks_map.c: mmap and its kin, if they are recorded
 *   lock.c      mlockall, for all but what is ours
 *   mark.c      neap_mark
 *
 * Everything here runs inside the target's malloc; see the rules in HACKING.md,
 * "Code that runs inside the target".  Class of all functions: R0, except
 * start.c, fork.c and real.c: R3.
 */
#ifndef NEAP_COLLECTOR_NC_H
#define NEAP_COLLECTOR_NC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/format.h"

/* What is declared here is reached without a table that the loader has yet to fill in. */
#pragma GCC visibility push(hidden)

#define NC_LIKELY(x)   __builtin_expect(!!(x), 1)
#define NC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NC_NOINLINE    __attribute__((noinline))
#define NC_INLINE      static inline __attribute__((always_inline))

/* ---- the gate ------------------------------------------------------------- */

enum nc_state {
	NC_OFF = 0, /* not started, or a fresh child of fork: the kernel wiped the page */
	NC_ON = 1,
	NC_INERT = 2, /* no recorder, or it declined: one branch per call, for ever */
	NC_STARTING = 3,
};

/* One page, wiped by the kernel in children of fork (MADV_WIPEONFORK). */
struct nc_gate {
	uint32_t state; /* enum nc_state; atomic */
	uint8_t pad[NC_PAGE_BYTES - 4];
};
extern struct nc_gate nc_gate;

/* nc_is_on - true if events are to be counted; starts the collector on the first event. */
NC_NOINLINE bool nc_start(void);
NC_INLINE bool nc_is_on(void)
{
	uint32_t state = __atomic_load_n(&nc_gate.state, __ATOMIC_RELAXED);
	if (NC_LIKELY(state == NC_ON))
		return true;
	return state == NC_OFF && nc_start();
}

/* ---- the region ------------------------------------------------------------ */

#define NC_CHUNKS(max, lg) ((max) >> (lg))
#define NC_STEPS           6 /* at most, to the whole first chunk of a section */

/*
 * Process-wide state, private memory.  Pointers to chunks go from NULL to their value once
 * (compare-and-swap), those to first chunks on to further mappings of it (steps[], region.c). All
 * change again only in a child of fork, while it has one thread.
 */
struct nc_global {
	struct nc_header *header;
	/*
	 * In a child of fork: cohorts in the live map that are below inherited_end are the parent's,
	 * and inherited[] has this process's for them.  Written while it has one thread;
	 * each free reads it, so it lies with what is not written.
	 */
	uint32_t inherited_end;
	uint32_t *inherited;
	struct nc_node *nodes[NC_CHUNKS(NC_NODES_MAX, NC_NODES_CHUNK_LG)];
	struct nc_cohort *cohorts[NC_CHUNKS(NC_COHORTS_MAX, NC_COHORTS_CHUNK_LG)];
	uint8_t *dirty;
	struct nc_thread *threads[NC_CHUNKS(NC_THREADS_MAX, NC_THREADS_CHUNK_LG)];
	struct nc_module *modules[NC_CHUNKS(NC_MODULES_MAX, NC_MODULES_CHUNK_LG)];
	uint32_t unload_count;   /* bumped when code disappeared; atomic */
	uint32_t unloading;      /* calls of dlclose under way; atomic */
	uint64_t spare_cohorts;  /* rest of an ended thread's chunk: next << 32 | end; atomic */
	uint32_t primary_is_set; /* atomic */
	uint32_t batching_now;   /* live threads that batch; atomic */
	uint32_t last_interval;  /* newest birth interval of any cohort; a hint, relaxed */
	void *steps[NC_SEC_COUNT]
		   [NC_STEPS]; /* mappings of first chunks; from NULL to their value once */
};
extern struct nc_global nc;

/* Entries the recorder made room for: fewer if its own address space is limited. */
uint32_t nc_region_max(enum nc_section_id section);
/* Map what holds an index handed out by nc_region_take; false if refused. */
bool nc_region_map(enum nc_section_id section, uint32_t idx);
/* At the start: `first` is where the first bytes of a section were mapped. */
size_t nc_region_first_bytes(enum nc_section_id section);
void nc_region_begin(enum nc_section_id section, void *first);
/* nc_region_has - is this entry mapped?  nc_region_each - calls fn for every mapping of a region. */
bool nc_region_has(const struct nc_global *g, enum nc_section_id section, uint32_t idx);
typedef void nc_own_fn(const void *at, size_t bytes, void *arg);
void nc_region_each(const struct nc_global *g, nc_own_fn *fn, void *arg);
/* Hand out `count` entries; 0 if the section is full.  They are mapped. count divides the chunk size. */
uint32_t nc_region_take(enum nc_section_id section, uint32_t count);
void nc_drop(enum nc_drop cause);

/* nc_has_more_filters - more seccomp filters than known_count; false if that is not to be found out. */
bool nc_has_more_filters(uint32_t known_count);

NC_INLINE struct nc_node *nc_node(uint32_t id)
{
	return &__atomic_load_n(&nc.nodes[id >> NC_NODES_CHUNK_LG],
				__ATOMIC_RELAXED)[id & ((1u << NC_NODES_CHUNK_LG) - 1)];
}
NC_INLINE struct nc_cohort *nc_cohort(uint32_t id)
{
	return &__atomic_load_n(&nc.cohorts[id >> NC_COHORTS_CHUNK_LG],
				__ATOMIC_RELAXED)[id & ((1u << NC_COHORTS_CHUNK_LG) - 1)];
}
NC_INLINE struct nc_thread *nc_thread(uint32_t id)
{
	return &__atomic_load_n(&nc.threads[id >> NC_THREADS_CHUNK_LG],
				__ATOMIC_RELAXED)[id & ((1u << NC_THREADS_CHUNK_LG) - 1)];
}
NC_INLINE struct nc_module *nc_module(uint32_t id)
{
	return &__atomic_load_n(&nc.modules[id >> NC_MODULES_CHUNK_LG],
				__ATOMIC_RELAXED)[id & ((1u << NC_MODULES_CHUNK_LG) - 1)];
}

/* ---- threads ----------------------------------------------------------------- */

/*
 * Whether the way outwards from a frame depends on the rbp it was entered with: code that
 * keeps data in rbp changes it all the time, and it does not matter where nobody's CFA is
 * relative to it.
 */
enum nc_rbp_use {
	NC_RBP_UNUSED,
	NC_RBP_USED,
	NC_RBP_PASSED, /* only in nc_fresh: as the caller */
};

struct nc_frame { /* a frame of the remembered stack, with the state of its registers */
	uint64_t pc, sp, rbp;
	uint32_t node;
	uint32_t check_end : 30; /* checks of it and of all outer frames: checks[0 .. check_end) */
	uint32_t uses_rbp  : 1;
	uint32_t is_guess  : 1;
};

struct nc_check { /* a stack slot that the step from a frame to its caller depended on */
	uint64_t addr, value;
};

/* Deepest stack that is walked and remembered; paths end at NC_MAX_FRAMES. */
#define NC_WALK_FRAMES (1u << 22)

#define NC_FRAME_CHECKS 3 /* return address, saved rbp, pointer to the frame of a realigned stack */

struct nc_fresh { /* a frame found in this capture, not yet placed; a cache line */
	uint64_t pc, sp, rbp;
	uint64_t key;                    /* of its node */
	uint64_t ret_va, rbp_va, cfa_va; /* slots that hold pc, rbp and sp of its caller; or 0 */
	uint32_t rbp_use;                /* enum nc_rbp_use */
	bool is_guess;
};

/*
 * The way from a hook's caller to a remembered frame further out, when it is short.  A
 * thread keeps several, so that a loop that allocates at some places of one function, or of
 * functions called from it, need not step at all.
 */
#define NC_SEGMENT_CHECKS 8
#define NC_SEGMENTS_LG    6
#define NC_SEGMENT_WAYS   4 /* segments of one set: they may begin at the same place */
struct nc_segment {
	uint64_t pc, sp, rbp; /* where it begins */
	uint64_t outer_sp, outer_rbp;
	uint32_t outer;      /* index in `frames` of the frame it leads to */
	uint32_t outer_node; /* that frame, with outer_sp and outer_rbp */
	uint32_t node;       /* its path */
	uint32_t epoch;      /* nc_ctx.segment_epoch when it was made */
	uint32_t check_count;
	bool uses_rbp;
	struct nc_check checks[NC_SEGMENT_CHECKS];
};

struct nc_site_slot { /* (path, api, size) -> the cohort it was last counted in */
	uint64_t key; /* path << 36 | api << 32 | size; 0 = free */
	uint32_t site, cohort;
};

struct nc_range { /* a mapping known to be readable stack */
	uint64_t start, end;
};
#define NC_RANGES      16
#define NC_CODE_RANGES 8

/* Callee-saved registers, stack pointer and return address: what a frame hands to its caller. */
enum nc_reg {
	NC_RBX,
	NC_RBP,
	NC_RSP,
	NC_R12,
	NC_R13,
	NC_R14,
	NC_R15,
	NC_RIP,
	NC_REGS
};

/* nc_reg_of - enum nc_reg of a DWARF register number; -1 for those nobody needs. */
static inline int nc_reg_of(uint64_t dwarf_reg)
{
	static const int8_t map[17] = {-1, -1, -1, NC_RBX, -1,     -1,     NC_RBP, NC_RSP, -1,
				       -1, -1, -1, NC_R12, NC_R13, NC_R14, NC_R15, NC_RIP};
	return dwarf_reg < 17 ? map[dwarf_reg] : -1;
}

enum nc_rule_kind {
	NC_RULE_SAME,
	NC_RULE_UNDEFINED,
	NC_RULE_OFFSET,
	NC_RULE_VALUE,
	NC_RULE_EXPR,
	NC_RULE_VALUE_EXPR,
	NC_RULE_REGISTER,
	NC_RULE_UNKNOWN
};

struct nc_reg_rule {
	uint8_t kind; /* enum nc_rule_kind */
	uint8_t reg;  /* DWARF number, for NC_RULE_REGISTER */
	int64_t offset;
	const uint8_t *expr; /* ULEB length, then the expression */
};

struct nc_row {          /* how to get from a frame to its caller */
	uint8_t cfa_reg; /* DWARF number */
	bool cfa_is_expr;
	int64_t cfa_offset;
	const uint8_t *cfa_expr; /* ULEB length, then the expression */
	struct nc_reg_rule regs[NC_REGS];
};

#define NC_ROW_STACK 16
struct nc_scratch { /* working memory that is too large for the target's stack */
	struct nc_row row, initial, saved[NC_ROW_STACK];
	uint64_t expr_stack[64];
	char text[4096];
};

struct nc_ctx {
	uint64_t
		busy; /* stack pointer of the hook that runs in this context, 0 if none does: then a
			  * signal handler must use `nested` */
	uint32_t thread; /* index of its nc_thread */
	bool is_primary;
	bool is_late; /* shared by threads that are past their end; see thread.c */
	uint8_t exit_rounds;

	/* remembered stack, outermost frame first */
	uint32_t frame_count, frame_cap;
	struct nc_frame *frames;
	struct nc_check *checks;
	struct nc_fresh *fresh;
	uint32_t root;                     /* fixed node the remembered stack hangs on */
	uint32_t unload_count;             /* nc.unload_count when it was taken */
	bool is_careful;                   /* code may be changing under us: trust no cache */
	uint32_t range_looked;             /* interval in which the range was last looked up anew */
	uint64_t range_start, range_bytes; /* stack it lies on */
	struct nc_range ranges[NC_RANGES];
	struct nc_range code_ranges[NC_CODE_RANGES]; /* executable, but in no module: JIT code */

	/* sites */
	struct nc_site_slot *slots;
	uint32_t slot_lg, slot_used;
	uint32_t cohort_next, cohort_end; /* rest of the chunk taken from the region */
	uint32_t node_next, node_end;

	/* counting */
	int64_t unflushed_bytes; /* not yet in live_shared_bytes */
	void *last_block;        /* the block allocated last, for `temporary` */

	struct nc_thread *shared;
	struct nc_ctx *nested;
	struct nc_scratch *scratch;
	uint32_t nest_level;

	uint32_t segment_turn;
	uint32_t segment_epoch; /* segments of another epoch are not to be used */
	struct nc_segment segments[1 << NC_SEGMENTS_LG];
};

extern __thread struct nc_ctx *nc_tls __attribute__((tls_model("initial-exec")));

/*
 * nc_enter - the context for an event of this thread, marked busy; NULL if the event
 * cannot be counted (the cause is then counted).  Leave with nc_leave.
 */
NC_NOINLINE struct nc_ctx *nc_enter_slow(void);
NC_INLINE void nc_mark_busy(struct nc_ctx *t)
{
	__asm__ volatile("movq %%rsp, %0" : "=m"(t->busy)::"memory");
}
NC_INLINE struct nc_ctx *nc_enter(void)
{
	struct nc_ctx *t = nc_tls;
	if (NC_UNLIKELY(!t || t->busy))
		return nc_enter_slow();
	nc_mark_busy(t);
	return t;
}
NC_INLINE void nc_leave(struct nc_ctx *t)
{
	__asm__ volatile("" ::: "memory");
	t->busy = 0;
}
void nc_thread_init(void); /* once per process: the key whose destructor ends threads */
/* In a child of fork: this thread's context under a new number, made if needed; NULL if refused. */
struct nc_ctx *nc_thread_forked(void);
bool nc_frames_grow(struct nc_ctx *t);       /* double the remembered stack; false at the limit */
void nc_ctxs_each(nc_own_fn *fn, void *arg); /* calls fn for the tables of this thread */

/* ---- unwinding ------------------------------------------------------------------ */

/*
 * Where the call of a hook came from: the frame of the hook's caller.  What the hook has to keep of
 * it anyway is used where it lies: hooks keep a frame pointer (COLLECTOR_CFLAGS).
 */
struct nc_origin {
	uint64_t rbp, pc;
};
#define NC_ORIGIN() ((const struct nc_origin *)__builtin_frame_address(0))
NC_INLINE uint64_t nc_origin_sp(const struct nc_origin *at)
{
	return (uint64_t)(at + 1);
}

/* nc_capture - the path node of the stack at `at`; NC_NONE if there is no room for it. */
uint32_t nc_capture(struct nc_ctx *t, const struct nc_origin *at);
/* The same with every register tracked; for frames whose rule is not a simple one. Fills t->fresh. */
struct nc_unwound {
	uint32_t frame_count;
	uint32_t root;
};
struct nc_unwound nc_unwind_full(struct nc_ctx *t, const struct nc_origin *at);

/* How the step from one return address works. */
enum nc_step {
	NC_STEP_RSP,     /* CFA = rsp + cfa_offset */
	NC_STEP_RBP,     /* CFA = rbp + cfa_offset */
	NC_STEP_DEREF,   /* CFA = *(rbp + cfa_offset): a realigned stack */
	NC_STEP_END,     /* outermost frame */
	NC_STEP_SIGNAL,  /* the kernel's frame under a signal handler */
	NC_STEP_NONE,    /* no CFI: the frame pointer is all there is */
	NC_STEP_COMPLEX, /* needs nc_unwind_full */
	NC_STEP_LOST,    /* not a code address */
};
enum nc_rbp_at {
	NC_RBP_SAME,
	NC_RBP_CFA /* at CFA + rbp_offset */,
	NC_RBP_RBP /* at rbp + rbp_offset */
};
struct nc_rule {
	uint8_t step, rbp_at;
	uint16_t module;
	int32_t cfa_offset, rbp_offset;
};
/* Layout of a cached rule; see rules.c. */
#define NC_RULES_LG         17
#define NC_RULE_PC_BITS     47
#define NC_RULE_TAG_BITS    (NC_RULE_PC_BITS - (NC_RULES_LG - 1))
#define NC_RULE_TAG_MASK    ((1ull << NC_RULE_TAG_BITS) - 1)
#define NC_RULE_CFA_BITS    12
#define NC_RULE_RBP_BITS    3
#define NC_RULE_STEP_BITS   3
#define NC_RULE_MODULE_BITS 15
#define NC_RULE_RBP_AT      NC_RULE_CFA_BITS
#define NC_RULE_STEP_AT     (NC_RULE_RBP_AT + NC_RULE_RBP_BITS)
#define NC_RULE_MODULE_AT   (NC_RULE_STEP_AT + NC_RULE_STEP_BITS)
#define NC_RULE_TAG_AT      (NC_RULE_MODULE_AT + NC_RULE_MODULE_BITS)
_Static_assert(NC_RULE_TAG_AT + NC_RULE_TAG_BITS == 64, "a rule is one word");
extern uint64_t *nc_rule_table;

#define NC_RULE_FACTOR  0x9e3779b97f4a7c15ull
#define NC_RULE_INVERSE 0x3e19937733dull /* NC_RULE_FACTOR times it is 1, modulo 2^47 */
NC_INLINE uint64_t nc_rule_hash(uint64_t pc)
{
	return pc * NC_RULE_FACTOR & ((1ull << NC_RULE_PC_BITS) - 1);
}
NC_INLINE uint64_t nc_rule_unhash(uint64_t hash)
{
	return hash * NC_RULE_INVERSE & ((1ull << NC_RULE_PC_BITS) - 1);
}
NC_INLINE size_t nc_rule_first(uint64_t hash)
{
	return hash >> (NC_RULE_PC_BITS - NC_RULES_LG);
}

NC_INLINE uint32_t nc_rule_bits(uint64_t word, int at, int bits)
{
	return (uint32_t)(word >> at) & ((1u << bits) - 1);
}
NC_INLINE struct nc_rule nc_rule_of_word(uint64_t word)
{
	uint32_t rbp = nc_rule_bits(word, NC_RULE_RBP_AT, NC_RULE_RBP_BITS);
	const int unused_bits = 32 - NC_RULE_CFA_BITS;
	return (struct nc_rule){
		.step = (uint8_t)nc_rule_bits(word, NC_RULE_STEP_AT, NC_RULE_STEP_BITS),
		.rbp_at = rbp ? NC_RBP_CFA : NC_RBP_SAME,
		.module = (uint16_t)nc_rule_bits(word, NC_RULE_MODULE_AT, NC_RULE_MODULE_BITS),
		.cfa_offset = ((int32_t)((uint32_t)word << unused_bits) >> unused_bits) * 8,
		.rbp_offset = -8 * (int32_t)rbp,
	};
}

/* nc_rule_get - the rule of a return address, made if it is not in the cache. */
NC_NOINLINE struct nc_rule nc_rule_find(struct nc_ctx *t, uint64_t pc);
NC_NOINLINE struct nc_rule nc_rule_make(struct nc_ctx *t, uint64_t pc); /* past the cache */
NC_INLINE struct nc_rule nc_rule_get(struct nc_ctx *t, uint64_t pc)
{
	uint64_t hash = nc_rule_hash(pc);
	uint64_t word = __atomic_load_n(&nc_rule_table[nc_rule_first(hash)], __ATOMIC_RELAXED);
	if (NC_LIKELY(word >> NC_RULE_TAG_AT == (hash & NC_RULE_TAG_MASK)))
		return nc_rule_of_word(word);
	return nc_rule_find(t, pc);
}
/* No code lies below: what is found there in place of a return address, 0 or argc, ends the stack. */
#define NC_CODE_MIN_VA 4096ull
/* nc_is_code - is this an address of code that is known? */
NC_INLINE bool nc_is_code(struct nc_ctx *t, uint64_t pc)
{
	return pc >= NC_CODE_MIN_VA && pc <= NC_KEY_PC_MASK &&
	       nc_rule_get(t, pc).step != NC_STEP_LOST;
}
void nc_rules_purge(uint64_t start_va, uint64_t end_va);
void nc_rules_purge_modules(bool (*is_kept)(uint32_t module)); /* 0: in no module */
/* Rules of code in no module: as nc_rules_purge, if there ever was one. */
void nc_rules_purge_strange(uint64_t start_va, uint64_t end_va);
bool nc_rules_init(void);
void nc_rules_each(nc_own_fn *fn, void *arg); /* calls fn for both tables */

/* nc_cfi_row - the row for a code address; the result is in s->row. */
enum nc_cfi_result {
	NC_CFI_FOUND,
	NC_CFI_ABSENT,
	NC_CFI_SIGNAL
};
struct nc_code_range {
	uint64_t start, end;
};
enum nc_cfi_result nc_cfi_row(struct nc_scratch *s, const void *eh_frame_hdr, uint64_t va,
			      struct nc_code_range *function_out);

/* nc_maps_each - calls fn for each mapping of the process, until it says false.  Of a long
 * line the head is enough, so any buffer will do.  False if they cannot be read. */
struct nc_mapped {
	struct nc_range range;
	bool is_readable, is_executable;
	const char *path; /* NULL if there is none, or it does not fit into the buffer */
	size_t path_bytes;
};
typedef bool nc_mapped_fn(const struct nc_mapped *mapped, void *arg);
bool nc_maps_each(char *buffer, size_t buffer_bytes, nc_mapped_fn *fn, void *arg);

/* The stack that holds sp: sets t->range_*; forgets the remembered stack. */
void nc_range_switch(struct nc_ctx *t, uint64_t sp);
/* nc_range_follow - the walk goes on at `va`, on another stack: sets t->range_* for the rest of it. */
#define NC_FOLLOW_MAX 1024u /* times in a walk */
bool nc_range_follow(struct nc_ctx *t, uint64_t va);
/* An address beyond the range was met: has the mapping grown?  At most once per interval. */
bool nc_range_has_grown(struct nc_ctx *t, uint64_t sp);
/* Is this address executable?  For code that is in no module. */
bool nc_is_executable(struct nc_ctx *t, uint64_t va);

/* nc_module_at - module of a code address and its .eh_frame_hdr (NULL if it has none); 0 if in none. */
uint32_t nc_module_at(struct nc_ctx *t, uint64_t va, const void **eh_frame_hdr_out);
/* Around a call of dlclose, during which other threads may load code at the same addresses. */
void nc_modules_unload_begin(void);
void nc_modules_unload_end(void);
void nc_modules_forked(void);
void nc_modules_abandon(void); /* a hook of this thread was left by longjmp and never comes back */
uint32_t nc_modules_count(void); /* records known to this process, number 0 included */
void nc_modules_init(void);      /* at the first event: what is loaded now is never unloaded */

/*
 * A thread besides the first holds back up to NC_HOLD_BYTES before it adds to the live total; together with
 * the smallest event of the first thread that is not looked at twice, it is what the file says.
 */
#define NC_SMALL_BYTES (4 << 10)
#define NC_HOLD_BYTES  (60 << 10)
#define NC_BATCH_BYTES (NC_HOLD_BYTES + NC_SMALL_BYTES)

/* ---- tree and counters ------------------------------------------------------------- */

/* nc_child - the child of a node with this key, made if needed; NC_NONE if there is no room. */
uint32_t nc_child(struct nc_ctx *t, uint32_t parent, uint64_t key);
/* nc_site - site of (path, api, size); goes to the mixed site if the path has too many sizes. */
uint32_t nc_site(struct nc_ctx *t, uint32_t path, enum nc_api api, uint64_t size_bytes);
/*
 * nc_first_site - the same, if it is the first node below its path, where it most often lies
 * in the cache line next to the path's; else NC_NONE.
 */
NC_INLINE uint64_t nc_site_key(enum nc_api api, uint64_t size_bytes)
{
	return NC_KEY_SITE | (uint64_t)api << NC_KEY_API_SHIFT | size_bytes;
}
NC_INLINE uint32_t nc_first_site(uint32_t path, enum nc_api api, uint64_t size_bytes)
{
	uint32_t id = __atomic_load_n(&nc_node(path)->kid, __ATOMIC_ACQUIRE);
	return id && nc_node(id)->key == nc_site_key(api, size_bytes) ? id : NC_NONE;
}

/* nc_slot_find - where the live map keeps the cohort of a block; NULL if there is none (and none may be made). */
#define NC_MAP_ROOT_LG    13
#define NC_MAP_MID_LG     14
#define NC_MAP_LEAF_LG    16
#define NC_MAP_MID_VA_LG  (4 + NC_MAP_LEAF_LG)               /* addresses of a leaf */
#define NC_MAP_ROOT_VA_LG (NC_MAP_MID_VA_LG + NC_MAP_MID_LG) /* addresses of a middle table */
extern uint32_t **nc_live_root[1u << NC_MAP_ROOT_LG];
NC_NOINLINE uint32_t *nc_slot_make(const void *block);
NC_INLINE uint32_t *nc_slot_find(const void *block)
{
	uint64_t va = (uint64_t)block;
	if (NC_UNLIKELY(va >> 47))
		return NULL;
	uint32_t **mid = nc_live_root[va >> NC_MAP_ROOT_VA_LG];
	if (NC_UNLIKELY(!mid))
		return NULL;
	uint32_t *leaf = mid[(va >> NC_MAP_MID_VA_LG) & ((1u << NC_MAP_MID_LG) - 1)];
	if (NC_UNLIKELY(!leaf))
		return NULL;
	return &leaf[(va >> 4) & ((1u << NC_MAP_LEAF_LG) - 1)];
}
/* nc_own_cohort - the cohort that a slot stands for; 0: it is none of this process. */
NC_INLINE uint32_t nc_own_cohort(uint32_t slot)
{
	return NC_UNLIKELY(slot < nc.inherited_end) ? nc.inherited[slot] : slot;
}
/* nc_map_each - calls fn for every table.  nc_slots_each - for every slot that is not 0. */
void nc_map_each(nc_own_fn *fn, void *arg);
void nc_slots_each(void (*fn)(uint32_t *slot, uint64_t block_va, void *arg), void *arg);

/*
 * nc_born - count a new block.  nc_take - take a block out of the live map before it is
 * released; nc_died - count its death; nc_untake - it was not released after all.
 */
struct nc_taken {
	uint32_t cohort; /* 0: the block is not ours */
	uint64_t size_bytes;
};
void nc_born(void *block, size_t size_bytes, enum nc_api api, const struct nc_origin *at);
bool nc_is_counted(const void *block);
struct nc_taken nc_take(void *block);
void nc_died(const void *block, struct nc_taken taken);
void nc_untake(void *block, struct nc_taken taken);
void nc_freed(void *block); /* nc_take and nc_died in one */
void nc_flush_live(struct nc_ctx *t);

/* ---- mappings ------------------------------------------------------------------------------ */

/*
 * nc_mapping_born - count a new mapping; its cohort, 0 if it was dropped.  All of a path share one
 * mixed site, so that nc_mapping_shrank can count the bytes of a part that is given back.
 */
uint32_t nc_mapping_born(uint64_t bytes, const struct nc_origin *at);
void nc_mapping_shrank(uint32_t cohort, uint64_t bytes, bool has_gone);

#define NC_PAGE_LG 12
struct nc_pages { /* page aligned, below 2^47; empty if there are none */
	uint64_t start, end;
};
NC_INLINE struct nc_pages nc_pages_of(uint64_t start_va, uint64_t bytes)
{
	const uint64_t limit = 1ull << 47, page = NC_PAGE_BYTES;
	if (start_va >= limit || bytes > limit - start_va)
		return (struct nc_pages){0, 0};
	return (struct nc_pages){start_va & -page, (start_va + bytes + page - 1) & -page};
}

/* Pages taken out of the map while it is not yet certain that they go. */
#define NC_UNMAPPED_RUNS 16
struct nc_unmapped {
	uint32_t count;
	struct nc_unmapped_run {
		uint32_t mapping;
		struct nc_pages pages;
	} runs[NC_UNMAPPED_RUNS];
};
/* nc_pages_take - before pages are released; then nc_unmapped_done if they were, else _undo.
 * Of more than NC_UNMAPPED_RUNS mappings the first go at once. */
void nc_pages_take(struct nc_pages range, struct nc_unmapped *out);
void nc_unmapped_done(const struct nc_unmapped *u);
void nc_unmapped_undo(const struct nc_unmapped *u);
void nc_unmapped_add(struct nc_unmapped *u, uint32_t mapping, struct nc_pages pages);
/* nc_pages_map - a new mapping, counted for `at`; whatever was mapped there is gone. */
void nc_pages_map(uint64_t start_va, uint64_t bytes, const struct nc_origin *at);
/* Calls fn for every counted mapping, with the bytes that are left of it. */
void nc_mappings_each(void (*fn)(uint32_t *cohort, uint64_t bytes, void *arg), void *arg);

/* ---- the real allocator ----------------------------------------------------------------- */

struct nc_real {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
	size_t (*malloc_usable_size)(void *);
	int (*dlclose)(void *);
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mmap64)(void *, size_t, int, int, int, off64_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*munmap)(void *, size_t);
	int (*mlockall)(int);
	bool has_libcs_mlockall;
	struct nc_code_range allocator; /* the module of malloc, unless it is libc */
	size_t round_mask; /* 15 if the allocator may place small blocks 8 bytes apart, else 0 */
};
/*
 * All NULL until they are looked up, and round_mask is 15: nothing here may need to be relocated, as
 * the loader calls resolvers of other libraries, which may allocate, before it comes to this one.
 */
extern struct nc_real nc_real;
/* What takes the place of a function that is not known yet. */
void *nc_boot_malloc(size_t bytes);
void *nc_boot_calloc(size_t count, size_t bytes);
void *nc_boot_realloc(void *block, size_t bytes);
void nc_boot_free(void *block);
int nc_boot_posix_memalign(void **out, size_t align_bytes, size_t bytes);
void *nc_boot_memalign(size_t align_bytes, size_t bytes);
void *nc_boot_valloc(size_t bytes);
size_t nc_boot_malloc_usable_size(void *block);
int nc_boot_dlclose(void *handle);
void *nc_boot_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
void *nc_boot_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...);
int nc_boot_munmap(void *at, size_t bytes);
int nc_boot_mlockall(int flags);
/* NC_REAL - the function to call; while nc_is_on() its entry of nc_real will do. */
#define NC_REAL_OR(function, boot) (NC_LIKELY(nc_real.function != NULL) ? nc_real.function : (boot))
#define NC_REAL(function)          NC_REAL_OR(function, nc_boot_##function)
/* Is this block from the pool that serves calls made before the real functions are known? */
#define NC_BOOT_POOL_BYTES         (256u << 10)
extern uint8_t nc_boot_pool[NC_BOOT_POOL_BYTES];
NC_INLINE bool nc_is_boot_block(const void *block)
{
	return (uint64_t)block - (uint64_t)nc_boot_pool < NC_BOOT_POOL_BYTES;
}
size_t nc_boot_block_bytes(const void *block);
uint64_t nc_boot_early_count(void); /* blocks that were asked for before nc_is_relocated */
void nc_copy(void *dst, const void *src, size_t bytes); /* memcpy may not be bound yet */
bool nc_is_relocated(void);                             /* may functions of libc be called? */
void nc_real_resolve(void);

/* ---- fork ----------------------------------------------------------------------------------- */

/* nc_fork_copy - fill the child's new, mapped region from the parent's, then let go of that. */
bool nc_fork_copy(const struct nc_global *parent);
/* nc_fork_release - unmap the parent's region. */
void nc_fork_release(const struct nc_global *parent);

#pragma GCC visibility pop

#endif
