/*
 * mmap, mremap and munmap, which are passed on and counted only if the recording wants them.
 *
 * Counted are anonymous mappings, private or shared: memory, as malloc gives it.  Those the
 * allocator takes for itself are not: their bytes are counted as the blocks it hands out.
 * What libc and ld.so map for themselves (stacks of threads, libraries) and what the
 * collector maps does not come here.
 *
 * Order: pages are taken out of the map before they are released, as others may get them
 * at once, and put back if that failed; a mapping is entered after it exists.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <stdarg.h>

#define NC_EXPORT __attribute__((visibility("default"), noinline))

NC_EXPORT void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset);
NC_EXPORT void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset);
NC_EXPORT void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...);
NC_EXPORT int munmap(void *at, size_t bytes);

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* A recording without mappings must not start any earlier for them. */
static bool is_counting(void)
{
	const struct nc_header *h = nc.header;
	if (NC_LIKELY(h && !h->wants_mappings))
		return false;
	return nc_is_on() && nc.header->wants_mappings;
}

static bool is_in_allocator(uint64_t pc)
{
	return pc - nc_real.allocator.start < nc_real.allocator.end - nc_real.allocator.start;
}

static void mapped(void *block, size_t bytes, int flags, const struct nc_origin *at)
{
	if (block == MAP_FAILED || !is_counting())
		return;
	if (flags & MAP_ANONYMOUS && !is_in_allocator(at->pc)) {
		nc_pages_map((uint64_t)block, bytes, at);
		return;
	}
	struct nc_unmapped was;
	if (!(flags & MAP_FIXED))
		return;
	nc_pages_take(nc_pages_of((uint64_t)block, bytes), &was);
	nc_unmapped_done(&was);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	const struct nc_origin *origin = NC_ORIGIN();
	void *block = NC_REAL(mmap)(at, bytes, protection, flags, fd, offset);
	mapped(block, bytes, flags, origin);
	return block;
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t offset)
{
	const struct nc_origin *origin = NC_ORIGIN();
	void *block = NC_REAL_OR(mmap64, nc_boot_mmap)(at, bytes, protection, flags, fd, offset);
	mapped(block, bytes, flags, origin);
	return block;
}

int munmap(void *at, size_t bytes)
{
	struct nc_unmapped gone;
	if (!is_counting())
		return NC_REAL(munmap)(at, bytes);
	nc_pages_take(nc_pages_of((uint64_t)at, bytes), &gone);
	int result = NC_REAL(munmap)(at, bytes);
	if (result)
		nc_unmapped_undo(&gone);
	else
		nc_unmapped_done(&gone);
	return result;
}

/*
 * Like realloc: the end of the old pages and the birth of the new, charged to the caller.
 * With an old size of 0, or MREMAP_DONTUNMAP, the old ones stay.
 */
static void *moved(void *old, size_t old_bytes, size_t bytes, int flags, void *to,
		   const struct nc_origin *at)
{
	struct nc_unmapped gone;
	bool stays = !old_bytes || flags & MREMAP_DONTUNMAP;
	/* Then the first page tells whether they are counted. */
	nc_pages_take(nc_pages_of((uint64_t)old, stays ? 1 : old_bytes), &gone);
	bool is_ours = gone.count != 0;
	if (stays)
		nc_unmapped_undo(&gone);
	void *block = NC_REAL(mremap)(old, old_bytes, bytes, flags, to);
	if (!stays && block == MAP_FAILED)
		nc_unmapped_undo(&gone);
	if (block == MAP_FAILED)
		return block;
	if (!stays)
		nc_unmapped_done(&gone);
	if (is_ours)
		nc_pages_map((uint64_t)block, bytes, at);
	else
		mapped(block, bytes, flags & MREMAP_FIXED ? MAP_FIXED : 0, at);
	return block;
}

void *mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	const struct nc_origin *origin = NC_ORIGIN();
	va_list ap;
	va_start(ap, flags);
	void *to =
		va_arg(ap, void *); /* whatever lies there if none was passed: not looked at then */
	va_end(ap);
	if (!is_counting() || is_in_allocator(origin->pc))
		return NC_REAL(mremap)(old, old_bytes, bytes, flags, to);
	return moved(old, old_bytes, bytes, flags, to, origin);
}
