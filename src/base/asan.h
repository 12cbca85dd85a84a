/* Whether AddressSanitizer watches, whichever compiler it is of; and memory that nobody may touch for a while. */
#ifndef NEAP_BASE_ASAN_H
#define NEAP_BASE_ASAN_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

#if HAS_ASAN
void __asan_poison_memory_region(void const volatile *p, size_t bytes);
void __asan_unpoison_memory_region(void const volatile *p, size_t bytes);
#endif

static inline void asan_forbid(const void *p, size_t bytes)
{
#if HAS_ASAN
	__asan_poison_memory_region(p, bytes);
#else
	(void)p;
	(void)bytes;
#endif
}

static inline void asan_allow(const void *p, size_t bytes)
{
#if HAS_ASAN
	__asan_unpoison_memory_region(p, bytes);
#else
	(void)p;
	(void)bytes;
#endif
}

#endif
