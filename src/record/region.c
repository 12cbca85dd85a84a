/*
 * Shared regions.  The memfd is sparse: only pages that the target touches take
 * memory.  It is sealed against shrinking, so that nothing the target does can
 * turn a read here into SIGBUS.
 */
#include "config.h"

#include "src/record/region.h"

#include "src/base/fmt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static const struct section_shape {
	uint32_t entry_bytes, chunk_lg, max_count;
} shapes[NC_SEC_COUNT] = {
	[NC_SEC_NODES] = {sizeof(struct nc_node), NC_NODES_CHUNK_LG, NC_NODES_MAX},
	[NC_SEC_COHORTS] = {sizeof(struct nc_cohort), NC_COHORTS_CHUNK_LG, NC_COHORTS_MAX},
	[NC_SEC_DIRTY] = {1, NC_DIRTY_CHUNK_LG, NC_DIRTY_MAX},
	[NC_SEC_THREADS] = {sizeof(struct nc_thread), NC_THREADS_CHUNK_LG, NC_THREADS_MAX},
	[NC_SEC_MODULES] = {sizeof(struct nc_module), NC_MODULES_CHUNK_LG, NC_MODULES_MAX},
};

#define CHUNK_IS_PAGES(entry_bytes, lg) (((uint64_t)(entry_bytes) << (lg)) % NC_PAGE_BYTES == 0)
_Static_assert(CHUNK_IS_PAGES(sizeof(struct nc_node), NC_NODES_CHUNK_LG), "nodes");
_Static_assert(CHUNK_IS_PAGES(sizeof(struct nc_cohort), NC_COHORTS_CHUNK_LG), "cohorts");
_Static_assert(CHUNK_IS_PAGES(1, NC_DIRTY_CHUNK_LG), "dirty");
_Static_assert(CHUNK_IS_PAGES(sizeof(struct nc_thread), NC_THREADS_CHUNK_LG), "threads");
_Static_assert(CHUNK_IS_PAGES(sizeof(struct nc_module), NC_MODULES_CHUNK_LG), "modules");

/* Lay the sections out with maxima divided by 2^less_lg, but never below one chunk. */
static void lay_out(struct nc_header *h, unsigned less_lg)
{
	uint64_t offset = NC_PAGE_BYTES;
	for (unsigned i = 0; i < NC_SEC_COUNT; i++) {
		uint32_t chunk = 1u << shapes[i].chunk_lg;
		uint32_t max = shapes[i].max_count >> less_lg;
		if (max < chunk)
			max = chunk;
		h->sections[i].offset = offset;
		h->sections[i].entry_bytes = shapes[i].entry_bytes;
		h->sections[i].max_count = max;
		offset += (uint64_t)max * shapes[i].entry_bytes;
	}
	h->magic = NC_REGION_MAGIC;
	h->version = NC_VERSION;
	h->header_bytes = sizeof *h;
	h->region_bytes = offset;
}

/* A limit on file sizes concerns profiles, not this: lift it while the memfd gets its size. */
static int truncate_unlimited(int fd, uint64_t bytes)
{
	struct rlimit old;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old_action;
	bool has_old = getrlimit(RLIMIT_FSIZE, &old) == 0;
	sigaction(SIGXFSZ, &ignore, &old_action);
	if (has_old) {
		struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
		struct rlimit hard = {old.rlim_max, old.rlim_max};
		if (setrlimit(RLIMIT_FSIZE, &all))
			setrlimit(RLIMIT_FSIZE, &hard);
	}
	int failed = ftruncate(fd, (off_t)bytes);
	int errnum = errno;
	if (has_old)
		setrlimit(RLIMIT_FSIZE, &old);
	sigaction(SIGXFSZ, &old_action, NULL);
	errno = errnum;
	return failed;
}

static bool map_sized(struct region *r, const struct nc_header *h)
{
	if (truncate_unlimited(r->fd, h->region_bytes))
		return false;
	void *base = mmap(NULL, h->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			  r->fd, 0);
	if (base == MAP_FAILED)
		return false;
	r->base = base;
	r->bytes = h->region_bytes;
	return true;
}

static void set_sections(struct region *r)
{
	const struct nc_section *s = r->header->sections;
	r->nodes = (const void *)(r->base + s[NC_SEC_NODES].offset);
	r->cohorts = (const void *)(r->base + s[NC_SEC_COHORTS].offset);
	r->dirty = r->base + s[NC_SEC_DIRTY].offset;
	r->threads = (void *)(r->base + s[NC_SEC_THREADS].offset);
	r->modules = (const void *)(r->base + s[NC_SEC_MODULES].offset);
	/* Kept here, since the target could write over the header. */
	for (unsigned i = 0; i < NC_SEC_COUNT; i++)
		r->max_count[i] = s[i].max_count;
}

static enum neap_err no_room(int errnum, uint64_t bytes, struct err *e)
{
	char text[FMT_BYTES];
	fmt_bytes(text, sizeof text, (int64_t)bytes);
	if (errnum == EFBIG)
		return err_set(
			e, ERR_IO,
			"the limit on the size of files (ulimit -f) is too small: the counters of "
			"a process need %s of shared memory",
			text);
	if (errnum == ENOMEM)
		return err_set(
			e, ERR_IO,
			"the limit on virtual memory (ulimit -v) is too small: the counters of a "
			"process need %s of address space",
			text);
	return err_sys(e, errnum, "make shared memory for", "counters");
}

enum neap_err region_init(struct region *r, struct err *e)
{
	*r = (struct region){.fd = -1};
	r->fd = memfd_create("neap-region", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (r->fd < 0)
		return err_sys(e, errno, "create a shared region", "memfd");
	struct nc_header h = {0};
	for (unsigned less_lg = 0;; less_lg++) {
		lay_out(&h, less_lg);
		if (map_sized(r, &h))
			break;
		if (less_lg == 16) {
			int errnum = errno;
			region_release(r);
			return no_room(errnum, h.region_bytes, e);
		}
	}
	fcntl(r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	r->header = (void *)r->base;
	*r->header = h;
	r->header->interval = 1;
	r->header->epoch_primary = 1;
	set_sections(r);
	return NEAP_OK;
}

void region_close_fd(struct region *r)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = -1;
}

void region_release(struct region *r)
{
	if (r->base)
		munmap(r->base, r->bytes);
	region_close_fd(r);
	*r = (struct region){.fd = -1};
}

uint32_t region_used(const struct region *r, enum nc_section_id section)
{
	uint32_t used = __atomic_load_n(&r->header->used_count[section], __ATOMIC_ACQUIRE);
	return used < r->max_count[section] ? used : r->max_count[section];
}

int64_t region_live_bytes(const struct region *r)
{
	const struct nc_header *h = r->header;
	return __atomic_load_n(&h->live_primary_bytes, __ATOMIC_RELAXED) +
	       __atomic_load_n(&h->live_shared_bytes, __ATOMIC_RELAXED);
}

uint64_t region_peak_epoch(const struct region *r)
{
	const struct nc_header *h = r->header;
	return __atomic_load_n(&h->epoch_primary, __ATOMIC_ACQUIRE) +
	       __atomic_load_n(&h->epoch_shared, __ATOMIC_ACQUIRE);
}
