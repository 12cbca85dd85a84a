/*
 * mlockall, for all but what is ours.
 *
 * A program without rights may lock so much, and mlockall(MCL_CURRENT) asks whether the whole
 * address space fits into that.  With our mappings it may not, where it would without; and what they take
 * of the limit is missing for the program's later mappings.  So what it has now is locked here, mapping
 * by mapping, leaving ours out.  Where the program alone is too large as well, or /proc is not there
 * to tell, the kernel gets the call as it is.
 *
 * After MCL_FUTURE the kernel locks, and counts, whatever is mapped - but not what mremap makes of a mapping
 * that is not locked.  So from then on we get our memory from one such page, which stays for ever.
 *
 * The tables of other threads that run already are taken for the program's.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/resource.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

__attribute__((visibility("default"), noinline)) int mlockall(int flags);

/* ---- memory that is not locked ----------------------------------------------------- */

void *nc_unlocked_page;

static bool have_unlocked_page(void)
{
	void *expected = NULL;
	if (__atomic_load_n(&nc_unlocked_page, __ATOMIC_ACQUIRE))
		return true;
	void *page = nc_map(NC_PAGE_BYTES);
	if (page && !__atomic_compare_exchange_n(&nc_unlocked_page, &expected, page, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		nc_unmap(page, NC_PAGE_BYTES);
	return page != NULL;
}

void *nc_map_unlocked(size_t bytes)
{
	long page = nc_syscall6(SYS_mremap, (long)nc_unlocked_page, NC_PAGE_BYTES, NC_PAGE_BYTES,
				MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0, 0);
	if (nc_sys_failed(page))
		return NULL; /* also from a kernel before 5.7 */
	long p = nc_syscall6(SYS_mremap, page, NC_PAGE_BYTES, (long)bytes, MREMAP_MAYMOVE, 0, 0);
	if (!nc_sys_failed(p))
		return (void *)p;
	nc_unmap((void *)page, NC_PAGE_BYTES);
	return NULL;
}

/* ---- what is ours -------------------------------------------------------------------- */

struct next {
	uint64_t from;
	struct nc_range range; /* the first of ours that ends after it */
};

static void note(const void *at, size_t bytes, void *arg)
{
	struct next *next = arg;
	uint64_t start = (uint64_t)at;
	uint64_t end = (start + bytes + NC_PAGE_BYTES - 1) & -(uint64_t)NC_PAGE_BYTES;
	if (at && end > next->from && start < next->range.start)
		next->range = (struct nc_range){start, end};
}

static void note_image(struct next *next)
{
	struct dl_find_object self;
	if (_dl_find_object((void *)&note_image, &self) == 0)
		note(self.dlfo_map_start,
		     (size_t)((uint8_t *)self.dlfo_map_end - (uint8_t *)self.dlfo_map_start), next);
}

static struct nc_range next_own(uint64_t from)
{
	struct next next = {.from = from, .range = {UINT64_MAX, UINT64_MAX}};
	note_image(&next);
	nc_region_each(&nc, note, &next);
	nc_map_each(note, &next);
	nc_rules_each(note, &next);
	nc_ctxs_each(note, &next);
	note(nc.inherited, sizeof *nc.inherited * nc.inherited_end, &next);
	note(nc_unlocked_page, NC_PAGE_BYTES, &next);
	return next.range;
}

/* ---- what is the program's ------------------------------------------------------------ */

struct walk {
	void (*fn)(struct nc_range range, struct walk *w);
	uint64_t bytes; /* for add_up */
	int lock_flags; /* for lock */
};

static bool program_parts(const struct nc_mapped *mapped, void *arg)
{
	struct walk *w = arg;
	uint64_t va = mapped->range.start, end = mapped->range.end;
	if (va >> 47) /* [vsyscall] is in no address space */
		return false;
	while (va < end) {
		struct nc_range own = next_own(va);
		uint64_t stop = own.start < end ? own.start : end;
		if (va < stop)
			w->fn((struct nc_range){va, stop}, w);
		va = stop < end ? own.end : end;
	}
	return true;
}

#define MAPS_BUFFER_BYTES 1024

static void add_up(struct nc_range range, struct walk *w)
{
	w->bytes += range.end - range.start;
}

/* Could the program lock all it has if we were not here? */
static bool would_fit(void)
{
	char buffer[MAPS_BUFFER_BYTES];
	struct walk w = {.fn = add_up};
	struct rlimit limit;
	return !nc_sys_failed(
		       nc_syscall6(SYS_prlimit64, 0, RLIMIT_MEMLOCK, 0, (long)&limit, 0, 0)) &&
	       nc_maps_each(buffer, sizeof buffer, program_parts, &w) && w.bytes <= limit.rlim_cur;
}

/* As with mlockall, it does not matter if there is nothing to fill the pages with. */
static void lock(struct nc_range range, struct walk *w)
{
	nc_syscall3(SYS_mlock2, (long)range.start, (long)(range.end - range.start), w->lock_flags);
}

static void lock_current(int flags)
{
	char buffer[MAPS_BUFFER_BYTES];
	struct walk w = {.fn = lock, .lock_flags = flags & MCL_ONFAULT ? MLOCK_ONFAULT : 0};
	nc_maps_each(buffer, sizeof buffer, program_parts, &w);
}

/* MCL_CURRENT alone takes back an earlier MCL_FUTURE, which the kernel can only do with all the rest. */
static int lock_future(int flags)
{
	if (flags & MCL_FUTURE)
		return nc_real.mlockall(flags & ~MCL_CURRENT);
	if (nc_unlocked_page)
		nc_syscall3(SYS_munlockall, 0, 0, 0);
	return 0;
}

int mlockall(int flags)
{
	if (!nc_is_on() || !nc_real.has_libcs_mlockall ||
	    flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		return NC_REAL(mlockall)(flags);
	if (flags & MCL_FUTURE && !have_unlocked_page())
		return nc_real.mlockall(flags);
	if (!(flags & MCL_CURRENT) || !would_fit())
		return nc_real.mlockall(flags);
	int result = lock_future(flags);
	if (!result)
		lock_current(flags);
	return result;
}
