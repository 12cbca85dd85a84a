/*
 * The functions the target calls instead of the allocator's own.
 *
 * Order: a death is taken out of the live map before the block is released and a
 * birth entered after the block exists, because another thread may be given the
 * same address in between.  Sizes are those the program asked for.  realloc is the
 * death of the old block and the birth of a new one, charged to the caller of
 * realloc; if it fails, nothing happened.
 *
 * Blocks from the start-up pool of real.c are never counted and never released.
 */
#include "config.h"

#include "collector/nc.h"

#define NC_EXPORT __attribute__((visibility("default"), noinline))

/* Declared here, because libc's headers would add attributes the compiler acts upon. */
NC_EXPORT void *malloc(size_t bytes);
NC_EXPORT void *calloc(size_t count, size_t bytes);
NC_EXPORT void *realloc(void *block, size_t bytes);
NC_EXPORT void *reallocarray(void *block, size_t count, size_t bytes);
NC_EXPORT void free(void *block);
NC_EXPORT void cfree(void *block);
NC_EXPORT int posix_memalign(void **out, size_t align_bytes, size_t bytes);
NC_EXPORT void *aligned_alloc(size_t align_bytes, size_t bytes);
NC_EXPORT void *memalign(size_t align_bytes, size_t bytes);
NC_EXPORT void *valloc(size_t bytes);
NC_EXPORT void *pvalloc(size_t bytes);
NC_EXPORT void free_sized(void *block, size_t bytes);
NC_EXPORT void free_aligned_sized(void *block, size_t align_bytes, size_t bytes);
NC_EXPORT size_t malloc_usable_size(void *block);
NC_EXPORT int dlclose(void *handle);

NC_INLINE size_t rounded(size_t bytes)
{
	if (NC_LIKELY(!nc_real.round_mask))
		return bytes;
	/* Blocks of no bytes may lie 8 bytes apart as well. */
	size_t up = bytes ? (bytes + nc_real.round_mask) & ~nc_real.round_mask : 16;
	return up >= bytes ? up : bytes;
}

#define BORN(block, bytes, api)                                        \
	do {                                                           \
		if (NC_LIKELY((block) && nc_is_on())) {                \
			nc_born((block), (bytes), (api), NC_ORIGIN()); \
		}                                                      \
	} while (0)

NC_INLINE void *real_malloc(size_t bytes)
{
	return NC_LIKELY(!nc_real.round_mask) ? nc_real.malloc(bytes)
					      : NC_REAL(malloc)(rounded(bytes));
}

void *malloc(size_t bytes)
{
	void *block = real_malloc(bytes);
	BORN(block, bytes, NC_API_MALLOC);
	return block;
}

void *calloc(size_t count, size_t bytes)
{
	size_t total;
	bool fits = !__builtin_mul_overflow(count, bytes, &total);
	void *block = NC_LIKELY(!nc_real.round_mask) ? nc_real.calloc(count, bytes)
		      : fits                         ? NC_REAL(calloc)(1, rounded(total))
						     : NC_REAL(calloc)(count, bytes);
	BORN(block, total, NC_API_CALLOC);
	return block;
}

NC_INLINE void release(void *block)
{
	if (NC_UNLIKELY(!block || nc_is_boot_block(block)))
		return;
	if (NC_LIKELY(nc_is_on())) {
		nc_freed(block);
		nc_real.free(block);
	} else {
		NC_REAL(free)(block);
	}
}

void free(void *block)
{
	release(block);
}

void cfree(void *block)
{
	release(block);
}

/* C23: the size is a hint for the allocator, which it does not need. */
void free_sized(void *block, size_t bytes)
{
	(void)bytes;
	release(block);
}

void free_aligned_sized(void *block, size_t align_bytes, size_t bytes)
{
	(void)align_bytes;
	(void)bytes;
	release(block);
}

static void *move_from_pool(void *block, size_t bytes)
{
	void *moved = real_malloc(bytes);
	size_t old_bytes = nc_boot_block_bytes(block);
	if (moved)
		nc_copy(moved, block, old_bytes < bytes ? old_bytes : bytes);
	return moved;
}

/*
 * What to pass on for realloc(p, 0).  Most allocators free the block, which must stay so; where
 * one has been seen to return a block, further ones must not lie 8 bytes apart.
 */
static bool keeps_empty_blocks; /* atomic */
static size_t empty_bytes(void)
{
	return __atomic_load_n(&keeps_empty_blocks, __ATOMIC_RELAXED) ? rounded(0) : 0;
}

NC_INLINE void *resize(void *block, size_t bytes, enum nc_api api, const struct nc_origin *at)
{
	bool is_on = nc_is_on();
	struct nc_taken taken = {0, 0};
	size_t wanted = NC_UNLIKELY(block && !bytes) ? empty_bytes() : rounded(bytes);
	if (NC_LIKELY(is_on && block))
		taken = nc_take(block);
	void *moved = NC_UNLIKELY(nc_is_boot_block(block)) ? move_from_pool(block, bytes)
							   : NC_REAL(realloc)(block, wanted);
	if (NC_UNLIKELY(!is_on))
		return moved;
	if (NC_UNLIKELY(moved && block && !bytes))
		__atomic_store_n(&keeps_empty_blocks, true, __ATOMIC_RELAXED);
	if (NC_UNLIKELY(!moved && bytes)) { /* failed: the old block lives on */
		nc_untake(block, taken);
		return moved;
	}
	if (block)
		nc_died(block, taken);
	if (NC_LIKELY(moved))
		nc_born(moved, bytes, api, at);
	return moved;
}

void *realloc(void *block, size_t bytes)
{
	return resize(block, bytes, NC_API_REALLOC, NC_ORIGIN());
}

void *reallocarray(void *block, size_t count, size_t bytes)
{
	size_t total;
	if (__builtin_mul_overflow(count, bytes, &total))
		total = SIZE_MAX; /* lets the real function fail with its own errno */
	return resize(block, total, NC_API_REALLOCARRAY, NC_ORIGIN());
}

int posix_memalign(void **out, size_t align_bytes, size_t bytes)
{
	int error = NC_REAL(posix_memalign)(out, align_bytes, rounded(bytes));
	if (!error)
		BORN(*out, bytes, NC_API_POSIX_MEMALIGN);
	return error;
}

void *aligned_alloc(size_t align_bytes, size_t bytes)
{
	void *block = NC_REAL_OR(aligned_alloc, nc_boot_memalign)(align_bytes, rounded(bytes));
	BORN(block, bytes, NC_API_ALIGNED_ALLOC);
	return block;
}

void *memalign(size_t align_bytes, size_t bytes)
{
	void *block = NC_REAL(memalign)(align_bytes, rounded(bytes));
	BORN(block, bytes, NC_API_MEMALIGN);
	return block;
}

void *valloc(size_t bytes)
{
	void *block = NC_REAL(valloc)(rounded(bytes));
	BORN(block, bytes, NC_API_VALLOC);
	return block;
}

void *pvalloc(size_t bytes)
{
	void *block = NC_REAL_OR(pvalloc, nc_boot_valloc)(rounded(bytes));
	BORN(block, bytes, NC_API_PVALLOC);
	return block;
}

size_t malloc_usable_size(void *block)
{
	if (NC_UNLIKELY(nc_is_boot_block(block)))
		return nc_boot_block_bytes(block);
	return NC_REAL(malloc_usable_size)(block);
}

int dlclose(void *handle)
{
	bool is_on = nc_is_on();
	if (is_on)
		nc_modules_unload_begin();
	int result = NC_REAL(dlclose)(handle);
	if (is_on)
		nc_modules_unload_end();
	return result;
}
