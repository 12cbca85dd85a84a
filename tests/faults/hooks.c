/*
 * What stands between the program and libc.  Every function counts itself while its
 * kind of fault is on, and fails when its number is up.  A program that was forked
 * counts along; one that was executed does not have this library.
 */
#define _GNU_SOURCE
#include "tests/faults/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct faults *faults;
uint64_t *faults_places;
int faults_trace_fd = -1;

#define EXPORT __attribute__((visibility("default")))

/* The function that would have been called without us. */
#define NEXT(name)                     \
	static __typeof__(&name) next; \
	if (!next)                     \
	next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* Who has to live with it; read with addr2line. */
static void trace(void)
{
	void *frames[32];
	struct faults *saved = faults;
	if (faults_trace_fd < 0)
		return;
	faults = NULL; /* backtrace allocates */
	backtrace_symbols_fd(frames, backtrace(frames, 32), faults_trace_fd);
	faults = saved;
}

/* A number for the stack; where the libraries lie is the same in all trials. */
static void note_place(uint64_t n)
{
	void *frames[24];
	struct faults *saved = faults;
	uint64_t place = 1;
	if (!faults_places || n > PLACES_MOST)
		return;
	faults = NULL; /* backtrace allocates */
	int count = backtrace(frames, 24);
	for (int i = 0; i < count; i++)
		place = (place ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15ull;
	faults = saved;
	faults_places[n - 1] = place ^ place >> 32;
}

static bool is_hit(const char *name, int errnum)
{
	uint64_t n = __atomic_add_fetch(&faults->seen_count, 1, __ATOMIC_RELAXED);
	if (!faults->at_count)
		note_place(n);
	bool is_lasting = faults->fault == FAULT_NOMEM_FROM || faults->fault == FAULT_DISK;
	if (!faults->at_count || n < faults->at_count || (n > faults->at_count && !is_lasting))
		return false;
	if (!faults->has_hit) {
		strncpy(faults->name, name, sizeof faults->name - 1);
		faults->errnum = errnum;
		trace();
	}
	faults->has_hit = true;
	return true;
}

/* ---- memory ------------------------------------------------------------------------ */

static bool lacks_memory(const char *name)
{
	if (!faults || (faults->fault != FAULT_NOMEM && faults->fault != FAULT_NOMEM_FROM))
		return false;
	if (!is_hit(name, ENOMEM))
		return false;
	errno = ENOMEM;
	return true;
}

/* dlsym may allocate before it knows who allocates. */
static void *early(size_t bytes)
{
	static char pool[1 << 16] __attribute__((aligned(16)));
	static size_t used;
	void *p = pool + used;
	used += (bytes + 15) & ~(size_t)15;
	return used <= sizeof pool ? p : NULL;
}

static bool is_looking;

EXPORT void *malloc(size_t bytes)
{
	static void *(*next)(size_t);
	if (!next && is_looking)
		return early(bytes);
	if (!next) {
		is_looking = true;
		next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
		is_looking = false;
	}
	return lacks_memory("malloc") ? NULL : next(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes)
{
	static void *(*next)(size_t, size_t);
	if (!next && is_looking)
		return early(count * bytes);
	if (!next) {
		is_looking = true;
		next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
		is_looking = false;
	}
	return lacks_memory("calloc") ? NULL : next(count, bytes);
}

EXPORT void *realloc(void *p, size_t bytes)
{
	NEXT(realloc);
	return lacks_memory("realloc") ? NULL : next(p, bytes);
}

EXPORT void *aligned_alloc(size_t align, size_t bytes)
{
	NEXT(aligned_alloc);
	return lacks_memory("aligned_alloc") ? NULL : next(align, bytes);
}

EXPORT int posix_memalign(void **p, size_t align, size_t bytes)
{
	NEXT(posix_memalign);
	return lacks_memory("posix_memalign") ? ENOMEM : next(p, align, bytes);
}

EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*start)(void *),
			  void *arg)
{
	NEXT(pthread_create);
	return lacks_memory("pthread_create") ? EAGAIN : next(id, attr, start, arg);
}

/* ---- calls --------------------------------------------------------------------------- */

enum trait {
	CAN_EINTR = 1, /* and has to be repeated then */
	CAN_SHORT = 2,
	IS_WRITE = 4,
};

/* The fault that this call has now; errno is set for those that are errors. */
static enum fault fault_of(const char *name, int errnum, int traits)
{
	if (!faults)
		return FAULT_NONE;
	enum fault f = faults->fault;
	bool is_meant = f == FAULT_ERROR || (f == FAULT_EINTR && (traits & CAN_EINTR)) ||
			(f == FAULT_SHORT && (traits & CAN_SHORT)) ||
			(f == FAULT_DISK && (traits & IS_WRITE));
	if (!is_meant || !is_hit(name, f == FAULT_EINTR ? EINTR : errnum))
		return FAULT_NONE;
	if (f == FAULT_EINTR || f == FAULT_SHORT)
		faults->must_recover = true;
	if (f != FAULT_SHORT)
		errno = f == FAULT_EINTR ? EINTR : errnum;
	return f == FAULT_SHORT ? f : FAULT_ERROR;
}

#define FAILS(name, errnum, traits) (fault_of(name, errnum, traits) == FAULT_ERROR)

static mode_t mode_of(int flags, va_list ap)
{
	return (flags & (O_CREAT | O_TMPFILE)) ? (mode_t)va_arg(ap, int) : 0;
}

EXPORT int open(const char *path, int flags, ...)
{
	NEXT(open);
	va_list ap;
	va_start(ap, flags);
	mode_t mode = mode_of(flags, ap);
	va_end(ap);
	return FAILS("open", (flags & O_CREAT) ? ENOSPC : EIO, 0) ? -1 : next(path, flags, mode);
}

EXPORT int close(int fd)
{
	NEXT(close);
	bool fails = FAILS("close", EIO, 0);
	int saved = errno, status = next(fd);
	if (!fails)
		return status;
	errno = saved;
	return -1;
}

EXPORT ssize_t read(int fd, void *data, size_t bytes)
{
	NEXT(read);
	enum fault f = fault_of("read", EIO, CAN_EINTR | CAN_SHORT);
	if (f == FAULT_ERROR)
		return -1;
	return next(fd, data, f == FAULT_SHORT && bytes ? 1 : bytes);
}

EXPORT ssize_t pread(int fd, void *data, size_t bytes, off_t off)
{
	NEXT(pread);
	enum fault f = fault_of("pread", EIO, CAN_EINTR | CAN_SHORT);
	if (f == FAULT_ERROR)
		return -1;
	return next(fd, data, f == FAULT_SHORT && bytes ? 1 : bytes, off);
}

EXPORT ssize_t write(int fd, const void *data, size_t bytes)
{
	NEXT(write);
	enum fault f = fault_of("write", ENOSPC, CAN_EINTR | CAN_SHORT | IS_WRITE);
	if (f == FAULT_ERROR)
		return -1;
	return next(fd, data, f == FAULT_SHORT && bytes ? 1 : bytes);
}

EXPORT void *mmap(void *at, size_t bytes, int prot, int flags, int fd, off_t off)
{
	NEXT(mmap);
	bool fails = (flags & MAP_ANONYMOUS) ? lacks_memory("mmap") : FAILS("mmap", ENODEV, 0);
	return fails ? MAP_FAILED : next(at, bytes, prot, flags, fd, off);
}

EXPORT int fstat(int fd, struct stat *st)
{
	NEXT(fstat);
	return FAILS("fstat", EIO, 0) ? -1 : next(fd, st);
}

EXPORT int stat(const char *path, struct stat *st)
{
	NEXT(stat);
	return FAILS("stat", EIO, 0) ? -1 : next(path, st);
}

EXPORT int fchmod(int fd, mode_t mode)
{
	NEXT(fchmod);
	return FAILS("fchmod", EIO, 0) ? -1 : next(fd, mode);
}

EXPORT int fsync(int fd)
{
	NEXT(fsync);
	return FAILS("fsync", EIO, 0) ? -1 : next(fd);
}

EXPORT int ftruncate(int fd, off_t bytes)
{
	NEXT(ftruncate);
	return FAILS("ftruncate", EIO, 0) ? -1 : next(fd, bytes);
}

EXPORT int rename(const char *old, const char *new)
{
	NEXT(rename);
	return FAILS("rename", EIO, 0) ? -1 : next(old, new);
}

EXPORT int mkstemp(char *name)
{
	NEXT(mkstemp);
	return FAILS("mkstemp", ENOSPC, 0) ? -1 : next(name);
}

EXPORT char *mkdtemp(char *name)
{
	NEXT(mkdtemp);
	return FAILS("mkdtemp", ENOSPC, 0) ? NULL : next(name);
}

EXPORT DIR *opendir(const char *path)
{
	NEXT(opendir);
	return FAILS("opendir", EIO, 0) ? NULL : next(path);
}

EXPORT struct dirent *readdir(DIR *d)
{
	NEXT(readdir);
	return FAILS("readdir", EIO, 0) ? NULL : next(d);
}

EXPORT int pipe2(int fds[2], int flags)
{
	NEXT(pipe2);
	return FAILS("pipe2", EMFILE, 0) ? -1 : next(fds, flags);
}

EXPORT pid_t fork(void)
{
	NEXT(fork);
	return FAILS("fork", EAGAIN, 0) ? -1 : next();
}

EXPORT pid_t waitpid(pid_t pid, int *status, int flags)
{
	NEXT(waitpid);
	/* Its error would be that there is no such child, which is not so. */
	if (faults && faults->fault == FAULT_EINTR && FAILS("waitpid", EINTR, CAN_EINTR))
		return -1;
	return next(pid, status, flags);
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int wait_ms)
{
	NEXT(poll);
	if (faults && faults->fault == FAULT_EINTR && FAILS("poll", EINTR, CAN_EINTR))
		return -1;
	return next(fds, count, wait_ms);
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
	NEXT(memfd_create);
	return FAILS("memfd_create", EMFILE, 0) ? -1 : next(name, flags);
}

EXPORT long syscall(long number, ...)
{
	NEXT(syscall);
	long a[6];
	va_list ap;
	va_start(ap, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_pidfd_open && FAILS("pidfd_open", EMFILE, 0))
		return -1;
	if (number == SYS_epoll_pwait2 && faults && faults->fault == FAULT_EINTR &&
	    FAILS("epoll_pwait2", EINTR, CAN_EINTR))
		return -1;
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
