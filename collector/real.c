/*
 * The functions behind the hooks: the next definition after ours in the target's
 * search order, libc's or that of an allocator library.
 *
 * dlsym may itself allocate, and the loader may call code that allocates before it has relocated this
 * library: resolvers of indirect functions in libraries it has relocated before.  Calls that arrive
 * then are served from a small static pool whose blocks are never given back; the hooks recognise
 * them.  Nothing on that way may call libc or read a pointer that needs relocation.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <string.h>

#define BOOT_HEADER_BYTES 16u

/* Mutable: each entry is set once, before the target has threads. */
struct nc_real nc_real = {.round_mask = 15};

/* The pool; used only while a starting program, which has one thread, is being relocated or is inside dlsym. */
uint8_t nc_boot_pool[NC_BOOT_POOL_BYTES] __attribute__((aligned(16)));
static size_t pool_used_bytes;
/* Volatile: dlsym is declared never to call back into this file, but it may. */
static volatile bool is_resolving;
static uint64_t early_count;

/* Filled in by the loader, as all that is imported here. */
static void *(*const volatile imported)(void *, const char *) = dlsym;

bool nc_is_relocated(void)
{
	return imported != NULL;
}

uint64_t nc_boot_early_count(void)
{
	return early_count;
}

void nc_copy(void *dst, const void *src, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(dst), "+S"(src), "+c"(bytes) : : "memory");
}

size_t nc_boot_block_bytes(const void *block)
{
	size_t bytes = 0;
	nc_copy(&bytes, (const uint8_t *)block - BOOT_HEADER_BYTES, sizeof bytes);
	return bytes;
}

static void *pool_alloc(size_t align_bytes, size_t bytes)
{
	if (align_bytes < 16)
		align_bytes = 16;
	uintptr_t start = (uintptr_t)nc_boot_pool + pool_used_bytes + BOOT_HEADER_BYTES;
	start = (start + align_bytes - 1) & ~(uintptr_t)(align_bytes - 1);
	size_t offset = start - (uintptr_t)nc_boot_pool;
	if (offset > NC_BOOT_POOL_BYTES || bytes > NC_BOOT_POOL_BYTES - offset)
		return NULL;
	nc_copy(nc_boot_pool + offset - BOOT_HEADER_BYTES, &bytes, sizeof bytes);
	pool_used_bytes = (offset + bytes + 15) & ~(size_t)15;
	early_count += !nc_is_relocated();
	return nc_boot_pool + offset;
}

/*
 * Only names that every libc has: a dlsym that fails allocates a message, which would be
 * counted as the target's, and leaves it for the target's dlerror.
 */
static void resolve(void *slot, const char *name, const char *version)
{
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);
	if (found)
		memcpy(slot, &found, sizeof found);
}

/* By module: tcmalloc and mimalloc define even __libc_malloc. */
static bool is_in_libc(void *function)
{
	struct dl_find_object its, libc;
	void *in_libc = dlsym(RTLD_NEXT, "__libc_start_main");
	return in_libc && _dl_find_object(function, &its) == 0 &&
	       _dl_find_object(in_libc, &libc) == 0 && its.dlfo_link_map == libc.dlfo_link_map;
}

/*
 * glibc places every block on a multiple of 16; other allocators place requests
 * of 8 bytes 8 bytes apart, where two would share a slot of the live map.
 */
static void look_at_allocator(struct nc_real *found)
{
	struct dl_find_object allocator;
	bool is_libcs = is_in_libc((void *)found->malloc);
	found->round_mask = is_libcs ? 0 : 15;
	if (!is_libcs && _dl_find_object((void *)found->malloc, &allocator) == 0)
		found->allocator = (struct nc_code_range){(uint64_t)allocator.dlfo_map_start,
							  (uint64_t)allocator.dlfo_map_end};
}

/* mtrace and checks of blocks, in front of libc's own allocator. */
static bool is_libc_debug(const char *path)
{
	static const char name[] = "/libc_malloc_debug.so.0";
	size_t bytes = strlen(path);
	return bytes >= sizeof name - 1 && !strcmp(path + bytes - (sizeof name - 1), name);
}

/*
 * libc_malloc_debug.so hides its functions from whoever does not ask for their version, as programs
 * do.  Other allocators have none, and stand before libc: they have been found by then.
 */
static void look_behind_versions(struct nc_real *found)
{
	static const char ever[] = "GLIBC_2.2.5";
	void *hidden = dlvsym(RTLD_NEXT, "malloc", ever);
	struct dl_find_object module;
	if (!hidden || _dl_find_object(hidden, &module) ||
	    !is_libc_debug(module.dlfo_link_map->l_name))
		return;
	resolve(&found->malloc, "malloc", ever);
	resolve(&found->calloc, "calloc", ever);
	resolve(&found->realloc, "realloc", ever);
	resolve(&found->free, "free", ever);
	resolve(&found->posix_memalign, "posix_memalign", ever);
	resolve(&found->aligned_alloc, "aligned_alloc", "GLIBC_2.16");
	resolve(&found->memalign, "memalign", ever);
	resolve(&found->valloc, "valloc", ever);
	resolve(&found->pvalloc, "pvalloc", ever);
	resolve(&found->malloc_usable_size, "malloc_usable_size", ever);
}

static void resolve_all(struct nc_real *found)
{
	resolve(&found->malloc, "malloc", NULL);
	resolve(&found->calloc, "calloc", NULL);
	resolve(&found->realloc, "realloc", NULL);
	resolve(&found->free, "free", NULL);
	resolve(&found->posix_memalign, "posix_memalign", NULL);
	resolve(&found->aligned_alloc, "aligned_alloc", NULL);
	resolve(&found->memalign, "memalign", NULL);
	resolve(&found->valloc, "valloc", NULL);
	resolve(&found->pvalloc, "pvalloc", NULL);
	resolve(&found->malloc_usable_size, "malloc_usable_size", NULL);
	resolve(&found->dlclose, "dlclose", NULL);
	resolve(&found->mmap, "mmap", NULL);
	resolve(&found->mmap64, "mmap64", NULL);
	resolve(&found->mremap, "mremap", NULL);
	resolve(&found->munmap, "munmap", NULL);
	resolve(&found->mlockall, "mlockall", NULL);
	found->has_libcs_mlockall = is_in_libc((void *)found->mlockall);
	look_at_allocator(found);
	if (!found->round_mask) /* libc's */
		look_behind_versions(found);
}

void nc_real_resolve(void)
{
	if (is_resolving || nc_real.malloc || !nc_is_relocated())
		return;
	is_resolving = true;
	struct nc_real found = nc_real;
	resolve_all(&found);
	nc_real = found;
	is_resolving = false;
}

static bool is_resolved(void)
{
	nc_real_resolve();
	return nc_real.malloc != NULL;
}

void *nc_boot_malloc(size_t bytes)
{
	return is_resolved() ? nc_real.malloc(bytes) : pool_alloc(16, bytes);
}

void *nc_boot_calloc(size_t count, size_t bytes)
{
	if (is_resolved())
		return nc_real.calloc(count, bytes);
	size_t total;
	/* The pool is zeroed and its blocks are used once. */
	return __builtin_mul_overflow(count, bytes, &total) ? NULL : pool_alloc(16, total);
}

void *nc_boot_realloc(void *block, size_t bytes)
{
	/* The hooks take blocks of the pool out of it by themselves. */
	return is_resolved() ? nc_real.realloc(block, bytes) : pool_alloc(16, bytes);
}

void nc_boot_free(void *block)
{
	if (!nc_is_boot_block(block) && is_resolved())
		nc_real.free(block);
}

int nc_boot_posix_memalign(void **out, size_t align_bytes, size_t bytes)
{
	if (is_resolved())
		return nc_real.posix_memalign(out, align_bytes, bytes);
	void *block = pool_alloc(align_bytes, bytes);
	if (block)
		*out = block;
	return block ? 0 : 12; /* ENOMEM */
}

void *nc_boot_memalign(size_t align_bytes, size_t bytes)
{
	return is_resolved() ? nc_real.memalign(align_bytes, bytes)
			     : pool_alloc(align_bytes, bytes);
}

void *nc_boot_valloc(size_t bytes)
{
	return is_resolved() ? nc_real.valloc(bytes) : pool_alloc(NC_PAGE_BYTES, bytes);
}

size_t nc_boot_malloc_usable_size(void *block)
{
	return is_resolved() && nc_real.malloc_usable_size ? nc_real.malloc_usable_size(block) : 0;
}

int nc_boot_dlclose(void *handle)
{
	return is_resolved() && nc_real.dlclose ? nc_real.dlclose(handle) : -1;
}

/* ---- mappings: the kernel serves as well ------------------------------------------- */

static long with_errno(long ret)
{
	if (!nc_sys_failed(ret))
		return ret;
	errno = (int)-ret;
	return -1;
}

void *nc_boot_mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	nc_real_resolve();
	if (nc_real.mmap)
		return nc_real.mmap(at, bytes, protection, flags, fd, offset);
	return (void *)with_errno(
		nc_syscall6(SYS_mmap, (long)at, (long)bytes, protection, flags, fd, offset));
}

void *nc_boot_mremap(void *old, size_t old_bytes, size_t bytes, int flags, ...)
{
	va_list ap;
	va_start(ap, flags);
	void *to = va_arg(ap, void *);
	va_end(ap);
	nc_real_resolve();
	if (nc_real.mremap)
		return nc_real.mremap(old, old_bytes, bytes, flags, to);
	return (void *)with_errno(nc_syscall6(SYS_mremap, (long)old, (long)old_bytes, (long)bytes,
					      flags, (long)to, 0));
}

int nc_boot_munmap(void *at, size_t bytes)
{
	nc_real_resolve();
	if (nc_real.munmap)
		return nc_real.munmap(at, bytes);
	return (int)with_errno(nc_syscall3(SYS_munmap, (long)at, (long)bytes, 0));
}

int nc_boot_mlockall(int flags)
{
	nc_real_resolve();
	if (nc_real.mlockall)
		return nc_real.mlockall(flags);
	return (int)with_errno(nc_syscall3(SYS_mlockall, flags, 0, 0));
}
