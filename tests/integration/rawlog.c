/*
 * rawlog.so - a preload that logs every allocation event, for tests only.
 *
 * An independent witness for the numbers of neap: it shares no code with the
 * collector, keeps no counters and takes no stacks.  The directory for the logs
 * is the value of the environment variable RAWLOG_VARIABLE (a macro), which is
 * NEAP_SOCKET, so that a run under rawlog has the same environment as one under
 * neap, byte for byte; trailing slashes are fine.
 *
 * It uses glibc's __libc_* entry points, so nothing has to be looked up.  A
 * forked child notices by a page under MADV_WIPEONFORK and starts its own file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rawlog.h"

#ifndef RAWLOG_VARIABLE
#define RAWLOG_VARIABLE "NEAP_SOCKET"
#endif
#define RECORD_MAX (1ull << 27) /* 3 GiB of a sparse file */
#define EXPORT     __attribute__((visibility("default")))

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t m);
extern void *__libc_realloc(void *p, size_t n);
extern void *__libc_memalign(size_t a, size_t n);
extern void __libc_free(void *p);

static struct rawlog_header *header; /* NULL: not started, or could not start */
static uint32_t *alive;              /* *alive is 0 in a forked child */
static char file_name[64];
static int starting;
/* Records made so far; private, so that a child has what the parent had at the fork. */
static uint64_t own_count;

static struct rawlog_record *records(void)
{
	return (struct rawlog_record *)(header + 1);
}

static int open_new(const char *dir, size_t dir_bytes)
{
	char path[512];
	for (int seq = 0; seq < 1000; seq++) {
		snprintf(file_name, sizeof file_name, "%d.%03d.raw", (int)getpid(), seq);
		if (dir_bytes + 1 + sizeof file_name > sizeof path)
			return -1;
		memcpy(path, dir, dir_bytes);
		path[dir_bytes] = '/';
		memcpy(path + dir_bytes + 1, file_name, strlen(file_name) + 1);
		int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static void start(bool is_forked)
{
	const char *dir = getenv(RAWLOG_VARIABLE);
	if (!dir)
		return;
	char parent[sizeof file_name];
	memcpy(parent, file_name, sizeof parent);
	uint64_t parent_count = own_count;
	size_t bytes = sizeof *header + RECORD_MAX * sizeof(struct rawlog_record);
	int fd = open_new(dir, strlen(dir));
	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		return;
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	header = map;
	own_count = 0;
	header->magic = RAWLOG_MAGIC;
	header->record_max = RECORD_MAX;
	header->pid = (uint32_t)getpid();
	header->is_forked = is_forked;
	if (is_forked) {
		header->parent_count = parent_count;
		memcpy(header->parent, parent, sizeof parent);
	}
	if (readlink("/proc/self/exe", header->exe, sizeof header->exe - 1) < 0)
		header->exe[0] = '\0';
	if (!alive) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK))
			return;
		alive = page;
	}
	*alive = 1;
}

static void check_started(void)
{
	if (alive && *alive)
		return;
	if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQUIRE))
		return;
	start(alive != NULL);
	__atomic_store_n(&starting, 0, __ATOMIC_RELEASE);
}

static void add(enum rawlog_op op, const void *p, size_t bytes)
{
	int saved = errno;
	check_started();
	if (header && alive && *alive) {
		uint64_t i = __atomic_fetch_add(&header->used_count, 1, __ATOMIC_RELAXED);
		own_count = i + 1;
		if (i < header->record_max) {
			struct rawlog_record *r = records() + i;
			r->ptr = (uint64_t)(uintptr_t)p;
			r->bytes = bytes;
			r->tid = (uint32_t)syscall(SYS_gettid);
			__atomic_store_n(&r->op, (uint32_t)op, __ATOMIC_RELEASE);
		}
	}
	errno = saved;
}

static void *returned(void *p, size_t bytes)
{
	if (p)
		add(RAWLOG_ALLOC, p, bytes);
	return p;
}

EXPORT void *malloc(size_t n)
{
	return returned(__libc_malloc(n), n);
}

EXPORT void *calloc(size_t n, size_t m)
{
	return returned(__libc_calloc(n, m), n * m);
}

EXPORT void free(void *p)
{
	if (p)
		add(RAWLOG_FREE, p, 0);
	__libc_free(p);
}

EXPORT void *realloc(void *old, size_t n)
{
	if (old)
		add(RAWLOG_FREE, old, 0);
	void *p = __libc_realloc(old, n);
	if (!p && old && n)
		add(RAWLOG_UNDO, old, 0);
	return returned(p, n);
}

EXPORT void *reallocarray(void *old, size_t n, size_t m)
{
	size_t bytes;
	if (__builtin_mul_overflow(n, m, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

EXPORT void *memalign(size_t a, size_t n)
{
	return returned(__libc_memalign(a, n), n);
}

EXPORT void *aligned_alloc(size_t a, size_t n)
{
	return memalign(a, n);
}

EXPORT int posix_memalign(void **out, size_t a, size_t n)
{
	if (a % sizeof(void *) || !a || a & (a - 1))
		return EINVAL;
	int saved = errno;
	void *p = memalign(a, n);
	errno = saved;
	if (!p)
		return ENOMEM;
	*out = p;
	return 0;
}

EXPORT void *valloc(size_t n)
{
	return memalign((size_t)sysconf(_SC_PAGESIZE), n);
}

EXPORT void *pvalloc(size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *p = __libc_memalign(page, (n + page - 1) & ~(page - 1));
	return returned(p, n);
}
