/*
 * System calls without libc: no errno, no cancellation point, no import.
 * Each returns what the kernel returned, a negative error number on failure.
 * x86-64 only.  Class: R0.
 */
#ifndef NEAP_COLLECTOR_SYS_H
#define NEAP_COLLECTOR_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static inline long nc_syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long nc_syscall3(long n, long a, long b, long c)
{
	return nc_syscall6(n, a, b, c, 0, 0, 0);
}

static inline bool nc_sys_failed(long ret)
{
	return (unsigned long)ret >= (unsigned long)-4095;
}

/*
 * nc_map - private zeroed memory, page granular; NULL if refused.  Where the program has all
 * locked that is mapped from now on, lock.c has set nc_unlocked_page, and this is not.
 */
extern void *nc_unlocked_page __attribute__((visibility("hidden"))); /* set once */
__attribute__((visibility("hidden"))) void *nc_map_unlocked(size_t bytes);
static inline void *nc_map(size_t bytes)
{
	void *unlocked =
		__builtin_expect(nc_unlocked_page != NULL, 0) ? nc_map_unlocked(bytes) : NULL;
	if (unlocked)
		return unlocked;
	long p = nc_syscall6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return nc_sys_failed(p) ? NULL : (void *)p;
}

static inline void nc_unmap(void *p, size_t bytes)
{
	if (p)
		nc_syscall3(SYS_munmap, (long)p, (long)bytes, 0);
}

static inline uint32_t nc_gettid(void)
{
	return (uint32_t)nc_syscall3(SYS_gettid, 0, 0, 0);
}

static inline uint32_t nc_getpid(void)
{
	return (uint32_t)nc_syscall3(SYS_getpid, 0, 0, 0);
}

#endif
