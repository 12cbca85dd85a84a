/*
 * The shared region: what the collector writes and the recorder reads.
 *
 * One region per process.  The recorder creates it as a sparse memfd, fills in
 * the header and sends the descriptor over the socket named by NEAP_SOCKET; the
 * collector maps the header page and the beginning of every section, closes
 * both descriptors, and maps more as the sections fill.
 *
 *   offset 0        struct nc_header                       one page
 *   sections[i].offset, chunk after chunk, contiguous in the file:
 *     NODES         struct nc_node      call tree, and sites as its leaves
 *     COHORTS       struct nc_cohort    all counters
 *     DIRTY         uint8_t             one per NC_DIRTY_COHORTS cohorts
 *     THREADS       struct nc_thread    one per thread that ever allocated
 *     MODULES       struct nc_module    one per mapped ELF file
 *
 * Invariants
 *   - Index 0 of every section is reserved and means "none".
 *   - Nodes are insert-only: once a node can be reached from its parent, its
 *     key and parent never change.  Ids handed out but never linked stay unused.
 *   - A cohort's counters are written by its owner thread with plain stores,
 *     except remote_deaths, which any thread adds to atomically.  A death is
 *     stored after the birth it ends, so a reader that loads deaths before
 *     births never sees a negative number of live blocks (x86-64 keeps the
 *     order of stores).
 *   - The target sets the dirty byte after it changed a counter.  The recorder
 *     clears the byte before it reads, and looks at doubtful groups once more at
 *     the next snapshot, so an event that crosses the clearing may be late by a
 *     snapshot or some; the last scan reads everything, so none is lost.
 *
 * Only fixed-width types; both sides are the same machine, so native order.
 */
#ifndef NEAP_COLLECTOR_FORMAT_H
#define NEAP_COLLECTOR_FORMAT_H

#include <stdint.h>

#define NC_REGION_MAGIC     0x3147455250414e45ull /* "ENAPREG1" */
#define NC_HELLO_MAGIC      0x304f4c4c4850414eull /* "NAPHLLO0" */
#define NC_VERSION          3u
#define NC_PAGE_BYTES       4096u
#define NC_CACHE_LINE_BYTES 64
#define NC_DIRTY_COHORTS    8u   /* cohorts behind one dirty byte */
#define NC_COHORT_CHUNK     64u  /* cohorts that a thread takes at once */
#define NC_RING_ENTRIES     256u /* recycled cohorts on their way back to a thread */

/* ---- sections ---------------------------------------------------------- */

enum nc_section_id {
	NC_SEC_NODES,
	NC_SEC_COHORTS,
	NC_SEC_DIRTY,
	NC_SEC_THREADS,
	NC_SEC_MODULES,
	NC_SEC_COUNT,
};

/* Entries per chunk, as log2: constants, so that an index is a shift and a mask. */
#define NC_NODES_CHUNK_LG   16
#define NC_COHORTS_CHUNK_LG 16
#define NC_DIRTY_CHUNK_LG   23
#define NC_THREADS_CHUNK_LG 8
#define NC_MODULES_CHUNK_LG 4

/* Most entries a section can hold. */
#define NC_NODES_MAX   (1u << 28)
#define NC_COHORTS_MAX (1u << 26)
#define NC_DIRTY_MAX   (NC_COHORTS_MAX / NC_DIRTY_COHORTS)
#define NC_THREADS_MAX (1u << 20)
#define NC_MODULES_MAX (1u << 15)

struct nc_section {
	uint64_t offset;      /* in the region, bytes, page aligned */
	uint32_t entry_bytes; /* sizeof of the entry, checked by the collector */
	uint32_t max_count;   /* entries the recorder made room for */
};

/* ---- call tree ---------------------------------------------------------- */

/*
 * The children of a node form a digital search tree: starting at `kid`, compare
 * the key, else follow next[bit] with successive top bits of nc_key_hash(key).
 * Insertion is one compare-and-swap of a NC_NONE link.  (The structure is
 * known as a digital search tree, Coffman and Eve 1970.)
 */
struct nc_node {
	uint64_t key;     /* see below */
	uint32_t parent;  /* node */
	uint32_t kid;     /* root of the search tree of children; atomic.  Of a site, which has
			   * no children: the cohort the primary thread last counted in */
	uint32_t next[2]; /* further children of `parent`; atomic */
};

#define NC_NONE            0u
/* Fixed nodes.  Their keys are 0; their parent is NC_NONE. */
#define NC_NODE_ROOT       1u /* ordinary stacks */
#define NC_NODE_SIGNAL     2u /* frames below a signal handler */
#define NC_NODE_TRUNCATED  3u /* stacks whose outer part could not be unwound or kept */
#define NC_NODE_FIRST_FREE 16u

/*
 * Key of a frame: bits 0..46 the return address, bit 47 set if the step that
 * found it was a guess (frame pointer, no CFI), bits 48..62 the module index
 * (0 = in no module), bit 63 clear.
 *
 * Key of a site: bit 63 set, bits 56..60 enum nc_api, bits 0..47 the requested
 * size in bytes, or NC_SIZE_MIXED.  A site is the child of the path it belongs to.
 */
#define NC_KEY_PC_MASK      ((1ull << 47) - 1)
#define NC_KEY_GUESSED      (1ull << 47)
#define NC_KEY_MODULE_SHIFT 48
#define NC_KEY_MODULE_MASK  0x7fffull
#define NC_KEY_SITE         (1ull << 63)
#define NC_KEY_API_SHIFT    56
#define NC_KEY_API_MASK     0x1full
#define NC_KEY_SIZE_MASK    ((1ull << 48) - 1)
/* Blocks of a path with too many distinct sizes; their bytes are in nc_cohort_bytes. */
#define NC_SIZE_MIXED       NC_KEY_SIZE_MASK

static inline uint64_t nc_key_hash(uint64_t key)
{
	uint64_t h = key * 0x9e3779b97f4a7c15ull;
	return h ^ (h << 32);
}

/* What the program called.  Order is part of the file format too. */
enum nc_api {
	NC_API_UNKNOWN,
	NC_API_MALLOC,
	NC_API_CALLOC,
	NC_API_REALLOC,
	NC_API_REALLOCARRAY,
	NC_API_POSIX_MEMALIGN,
	NC_API_ALIGNED_ALLOC,
	NC_API_MEMALIGN,
	NC_API_VALLOC,
	NC_API_PVALLOC,
	NC_API_NEW,       /* operator new of an allocator library that does not call malloc */
	NC_API_NEW_ARRAY, /* operator new[], likewise */
	NC_API_MMAP,      /* mmap and mremap, if header.wants_mappings; always NC_SIZE_MIXED */
	NC_API_COUNT,
};

/* ---- cohorts ------------------------------------------------------------ */

/*
 * Blocks born at one site in one thread in one interval.  One cache line.
 *
 * live = births - deaths - remote_deaths.  Live at the peak is `at_peak` if
 * `epoch` equals the current peak epoch, else live.
 *
 * Recycling: a cohort without live blocks whose birth interval is over may be
 * pushed by the recorder on the ring of its thread.  The owner reuses it only
 * if it is still without live blocks and no block was born there since it was read: it zeroes the counters, writes the new
 * identity, and stores `birth` last.  A changed `birth` is how the recorder
 * sees a new cohort at an old index.
 */
struct nc_cohort {
	uint32_t site;          /* node whose key has NC_KEY_SITE */
	uint32_t birth;         /* interval; 0 = never used */
	uint32_t thread;        /* owner */
	uint32_t size_or_max;   /* requested bytes; UINT32_MAX: look at the site's key */
	uint64_t births;        /* owner */
	uint64_t deaths;        /* by the owner thread; owner */
	uint64_t remote_deaths; /* by other threads; atomic add */
	uint64_t temporary;     /* freed before the thread allocated again; owner */
	uint64_t at_peak;       /* live when `epoch` began */
	uint64_t epoch;         /* peak epoch of at_peak */
};

/*
 * Byte counters of a cohort of a NC_SIZE_MIXED site: they lie in the cohort slot
 * that follows it (same dirty group), never in a slot of its own meaning.
 */
struct nc_cohort_bytes {
	uint32_t is_bytes; /* UINT32_MAX, where a cohort has `site`: never a valid node */
	uint32_t zero[3];
	uint64_t born_bytes;        /* owner */
	uint64_t died_bytes;        /* owner */
	uint64_t remote_died_bytes; /* atomic add */
	uint64_t temporary_bytes;   /* owner */
	uint64_t at_peak_bytes;     /* live when `epoch` began; stamped before the cohort itself */
	uint64_t epoch;
};

/* Cohorts with this birth interval were inherited from the parent over fork:
 * `births` are the blocks that were live then; they are not allocations of this process. */
#define NC_BIRTH_INHERITED UINT32_MAX

/* ---- threads and modules ------------------------------------------------ */

struct nc_thread {
	uint32_t tid;            /* kernel thread id, as the target sees it */
	uint32_t flags;          /* enum nc_thread_flags; atomic */
	uint32_t start_interval; /* owner */
	uint32_t end_interval;   /* owner, valid with NC_THREAD_ENDED */
	char name[16];           /* NUL-padded comm; owner */
	uint64_t unflushed;      /* reserved */
	/* Recycled cohorts: the recorder adds at head, the owner takes at tail. */
	uint32_t ring_head; /* recorder stores with release */
	uint32_t ring_tail; /* owner stores with release */
	uint32_t pad[4];
	uint64_t ring[NC_RING_ENTRIES]; /* cohort, and its births above it: nc_ring_entry */
};

/*
 * An entry of the ring.  With the low bits of its births when the recorder last read it: if
 * they differ, something happened since that was not written yet.
 */
static inline uint64_t nc_ring_entry(uint32_t cohort, uint64_t births)
{
	return births << 32 | cohort;
}

enum nc_thread_flags {
	NC_THREAD_USED = 1,  /* set after the other fields */
	NC_THREAD_ENDED = 2, /* its owner is gone: its cohorts may go to any thread */
	NC_THREAD_NESTED =
		4, /* events of signal handlers that interrupted a hook of thread `tid` */
};

#define NC_MODULE_PATH_BYTES 3984

struct nc_module {
	uint64_t start_va; /* first mapped address */
	uint64_t end_va;   /* after the last */
	uint64_t bias;     /* run-time address - address in the ELF file */
	uint32_t flags;    /* enum nc_module_flags; atomic, NC_MODULE_USED is set last */
	uint32_t build_id_bytes;
	uint32_t first_interval;
	uint32_t last_interval; /* when it was found unloaded; 0 = still there */
	uint8_t build_id[64];
	char path[NC_MODULE_PATH_BYTES]; /* NUL-terminated, absolute where it could be made so */
	uint8_t pad[8];
};

enum nc_module_flags {
	NC_MODULE_USED = 1,
	NC_MODULE_MAIN = 2,      /* the program itself */
	NC_MODULE_VDSO = 4,      /* the kernel's */
	NC_MODULE_COLLECTOR = 8, /* ours */
	NC_MODULE_LOADER = 16,   /* ld.so */
};

/* ---- header -------------------------------------------------------------- */

enum nc_drop {
	NC_DROP_NODES,   /* blocks not counted: no room for their path */
	NC_DROP_COHORTS, /* blocks not counted: no room for their cohort */
	NC_DROP_THREADS, /* blocks not counted: no room for the thread's tables */
	NC_DROP_MAP,     /* blocks not counted: no room in the live map */
	NC_DROP_REENTRY, /* blocks not counted: third hook nested in one thread */
	NC_DROP_STARTUP, /* blocks not counted: asked for before the collector was ready */
	NC_DROP_MODULES, /* modules without a record; their frames have no name */
	NC_DROP_FRAMES,  /* stacks cut at NC_MAX_FRAMES */
	NC_DROP_FOREIGN, /* frees of blocks that were never counted */
	NC_DROP_UNWIND,  /* stacks that end before the root: no rule for a frame */
	NC_DROP_COUNT,
};

#define NC_MAX_FRAMES 16384u

struct nc_header {
	/* Written by the recorder before the region is sent. */
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes;
	uint64_t region_bytes;
	struct nc_section sections[NC_SEC_COUNT];
	uint32_t wants_mappings; /* 1: count mmap, mremap and munmap too */
	uint32_t
		filter_count; /* seccomp filters of the process at its start, or NC_FILTERS_UNKNOWN */
	uint32_t reserved0[6];

	/* Written once by the collector at start. */
	uint64_t start_ns; /* CLOCK_MONOTONIC of the first event; written last */
	uint32_t pid;      /* as the target sees it */
	uint32_t ppid;
	uint32_t is_forked;        /* 1: memory image inherited by fork without exec */
	uint32_t allocator_module; /* module that provides the real malloc */
	uint64_t live_map_root_va; /* address of the live map, for readers of /proc/PID/mem */
	uint32_t live_map_lg[3];   /* address bits resolved by root, middle and leaf; granule 16 */
	uint32_t has_exited;       /* 1: exit() came to our destructor; atomic */
	uint64_t exit_start_va;    /* code of exit(): frames inside mark work done while exiting */
	uint64_t exit_end_va;
	char exe_path[512]; /* what /proc/self/exe said; may be cut */
	/*
	 * A child of fork has its parent's live map.  Cohorts in it below first_cohort are the
	 * parent's; inherited_va is where its own ones for them are: uint32_t [first_cohort].
	 * No cohort of this region is below first_cohort.
	 */
	uint64_t inherited_va;
	uint32_t first_cohort;
	char reserved1[52];

	/* Written by the recorder while the target runs.  Own cache line. */
	uint32_t interval __attribute__((aligned(NC_CACHE_LINE_BYTES))); /* current, from 1 */
	uint32_t mark_done; /* marks the recorder has taken a snapshot for; futex */
	uint64_t tick_ns;   /* CLOCK_MONOTONIC at the recorder's last tick */

	/*
	 * Written by the primary thread (the first that allocated) with plain stores.
	 * Live bytes of the process = live_primary + live_shared (as signed numbers);
	 * peak epoch = epoch_primary + epoch_shared, starting at 1.
	 *
	 * The live bytes change at every event and only their owner reads them at every event;
	 * the epoch and the peak are read by all threads at every event and change seldom.  So
	 * they lie apart, by two lines, which processors like to fetch together.
	 */
	int64_t live_primary_bytes __attribute__((aligned(2 * NC_CACHE_LINE_BYTES)));
	uint64_t epoch_primary __attribute__((aligned(2 * NC_CACHE_LINE_BYTES)));
	uint64_t peak_primary_bytes; /* the highest total it saw; the peak is nc_peak_bytes() */
	/* From here on also by other threads. */
	uint64_t peak_shared_bytes;  /* the highest total they saw; compare-and-swap */
	uint64_t peak_tick_ns;       /* tick_ns when the peak was raised */
	uint64_t slack_before_bytes; /* slack_bytes when the peak was raised; or less */
	uint32_t peak_interval;
	uint32_t pad0;

	/* Written by any thread, atomic adds. */
	int64_t live_shared_bytes __attribute__((aligned(NC_CACHE_LINE_BYTES)));
	uint64_t epoch_shared;
	uint32_t batching_threads; /* threads that add to live_shared_bytes in batches */
	uint32_t batch_bytes;      /* each of them may hold back up to this much */
	/* By how much cohorts at a peak may differ from it besides: events that a new epoch came
	 * in between of, and changes of the total between the look at it and the new epoch. */
	uint64_t slack_bytes;

	/* Entries handed out so far; atomic adds. */
	uint32_t used_count[NC_SEC_COUNT] __attribute__((aligned(NC_CACHE_LINE_BYTES)));

	uint64_t drops[NC_DROP_COUNT] __attribute__((aligned(NC_CACHE_LINE_BYTES)));
	uint32_t unmet_children; /* forks that could not reach the recorder; atomic adds by them */
	uint32_t pad2;

	/* Marks: the caller takes a ticket, waits until its slot is free, writes the
	 * name, then stores mark_ready = ticket + 1 in turn and waits for mark_done. */
	uint32_t mark_next __attribute__((aligned(NC_CACHE_LINE_BYTES)));
	uint32_t mark_ready; /* marks whose name is written; futex the recorder waits on */
	uint32_t pad1[14];
	char mark_name[8][64]; /* name of mark i in slot i % 8, NUL-terminated */
};

_Static_assert(sizeof(struct nc_header) <= NC_PAGE_BYTES, "the header is one page");

/* nc_peak_bytes - the peak so far. */
static inline uint64_t nc_peak_bytes(const struct nc_header *h)
{
	uint64_t primary = __atomic_load_n(&h->peak_primary_bytes, __ATOMIC_RELAXED);
	uint64_t shared = __atomic_load_n(&h->peak_shared_bytes, __ATOMIC_RELAXED);
	return primary > shared ? primary : shared;
}

/* nc_peak_bound_bytes - by how much it may differ from what cohorts held then. */
static inline uint64_t nc_peak_bound_bytes(const struct nc_header *h)
{
	uint64_t slack = __atomic_load_n(&h->slack_bytes, __ATOMIC_RELAXED) -
			 __atomic_load_n(&h->slack_before_bytes, __ATOMIC_RELAXED);
	return (uint64_t)h->batching_threads * h->batch_bytes + slack;
}

_Static_assert(sizeof(struct nc_node) == 24, "node");
_Static_assert(sizeof(struct nc_cohort) == NC_CACHE_LINE_BYTES, "a cohort is one cache line");
_Static_assert(sizeof(struct nc_cohort_bytes) == sizeof(struct nc_cohort), "same slots");
_Static_assert(sizeof(struct nc_module) == NC_PAGE_BYTES, "a module is one page");

/* ---- meeting -------------------------------------------------------------- */

/*
 * The name of the socket ends with NC_FILTERS_MARK and how many seccomp filters the recorder has.
 * Who has more does not connect: to make a socket may be what it would be killed for.
 */
#define NC_FILTERS_MARK    '-'
#define NC_FILTERS_UNKNOWN UINT32_MAX

/* Collector to recorder, over the stream socket, right after connect. */
struct nc_hello {
	uint64_t magic; /* NC_HELLO_MAGIC */
	uint32_t version;
	uint32_t pid; /* as the target sees it; the recorder trusts SO_PEERCRED */
	uint32_t ppid;
	uint32_t is_forked;
};

/* Recorder to collector: with the memfd as SCM_RIGHTS if accepted is 1. */
struct nc_welcome {
	uint64_t magic; /* NC_HELLO_MAGIC */
	uint32_t version;
	uint32_t accepted; /* 0: stay inert */
};

#endif
