/* 87 entry points with odd arguments, what is refused, what asks about the heap, and memory that is not the heap's.
 * BUILD: gcc -g -O2 -o 87-entry-points 87-entry-points.c
 * RUN:   ./87-entry-points
 * TRUTH func=refused       allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=survivors     allocs=20 bytes=6180 live_blocks=10 live_bytes=2070 conv=realloc
 * TRUTH func=odd_alignment allocs=50 bytes=10550 live_blocks=10 live_bytes=2110
 * TRUTH func=no_bytes      allocs=60 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=nothing       allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=usable        allocs=20 bytes=8660 live_blocks=10 live_bytes=4440 conv=realloc
 * TRUTH func=chain         allocs=40 bytes=5650 live_blocks=0 live_bytes=0 conv=realloc
 * TRUTH func=asks          allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=on_stack      allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * INCLUSIVE func=every_pair allocs=90 bytes=20070 live_blocks=0 live_bytes=0
 * INCLUSIVE func=obstacks  allocs=4 bytes=16256 live_blocks=2 live_bytes=8128
 * A call that is refused counts nothing, leaves its result as it was, and sets errno as alone.  aligned_alloc with an
 * alignment that is no power of two is refused by some versions of libc: then malloc stands in.  obstacks
 * ask for chunks of 4064 bytes.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <malloc.h>
#include <obstack.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI                  __attribute__((noinline, noclone))
#define KEEP(p)             __asm__ volatile("" : "+r"(p) : : "memory")
#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free
#define CHECK(x)            ((x) ? (void)0 : fail(__LINE__))
static void *kept[64];
static int kept_count;
static volatile size_t most = SIZE_MAX;
static void fail(int line)
{
	_Exit(100 + line % 100);
}
static void *keep(void *p)
{
	KEEP(p);
	kept[kept_count++] = p;
	return p;
}
/* NULL, and this errno. */
static int is_refused(void *p, int errnum)
{
	int is = !p && errno == errnum;
	errno = 0;
	return is;
}
NI void refused(void)
{
	void *const mark = &most;
	void *p = mark;
	errno = 0;
	CHECK(posix_memalign(&p, 24, 100) == EINVAL && p == mark);
	CHECK(posix_memalign(&p, 0, 100) == EINVAL && p == mark);
	CHECK(posix_memalign(&p, 4, 100) == EINVAL && p == mark);
	CHECK(posix_memalign(&p, 64, most / 2 + 1) == ENOMEM && p == mark);
	errno = 0;
	CHECK(is_refused(malloc(most), ENOMEM));
	CHECK(is_refused(calloc(most, 2), ENOMEM));
	CHECK(is_refused(calloc(most / 2, 3), ENOMEM));
	CHECK(is_refused(realloc(NULL, most), ENOMEM));
	CHECK(is_refused(reallocarray(NULL, most, 2), ENOMEM));
	CHECK(is_refused(reallocarray(NULL, most / 2, 3), ENOMEM));
	CHECK(is_refused(aligned_alloc(64, most - 64), ENOMEM));
	CHECK(is_refused(memalign(most / 2 + 1, 10), ENOMEM) ||
	      is_refused(memalign(most, 10), EINVAL));
	CHECK(is_refused(valloc(most - 10), ENOMEM));
	CHECK(is_refused(pvalloc(most - 10), ENOMEM));
}
/* A block whose growth is refused is what it was, and can still be changed. */
NI void survivors(void)
{
	for (int i = 0; i < 10; i++) {
		char *p = malloc(411);
		KEEP(p);
		memset(p, i, 411);
		errno = 0;
		CHECK(is_refused(reallocarray(p, most / 2, 3), ENOMEM));
		CHECK(is_refused(realloc(p, most / 2), ENOMEM));
		CHECK(p[0] == i && p[410] == i);
		p = keep(reallocarray(p, 69, 3));
		CHECK(p[206] == i);
	}
}
NI void odd_alignment(void)
{
	static const size_t odd[5] = {24, 1, 0, 48, 3};
	for (int i = 0; i < 50; i++) {
		void *p = i % 5 ? memalign(odd[i % 5], 211) : aligned_alloc(24, 211);
		if (!p)
			p = malloc(211);
		KEEP(p);
		if (i % 5 == 4)
			keep(p);
		else
			free(p);
	}
}
NI void no_bytes(void)
{
	for (int i = 0; i < 10; i++) {
		void *p[6] = {aligned_alloc(64, 0), memalign(64, 0), valloc(0), pvalloc(0),
			      reallocarray(NULL, 0, 8)};
		CHECK(!posix_memalign(&p[5], 64, 0));
		for (int k = 0; k < 6; k++) {
			KEEP(p[k]);
			CHECK(p[k]);
			free(p[k]);
		}
	}
}
NI void nothing(void)
{
	void *none = NULL;
	for (int i = 0; i < 1000; i++) {
		KEEP(none);
		errno = i;
		free(none);
		CHECK(errno == i && malloc_usable_size(none) == 0);
	}
}
/* The whole of a block is used, not only what was asked for, and then asked for too. */
NI void usable(void)
{
	for (int i = 0; i < 10; i++) {
		unsigned char *p = malloc(422);
		KEEP(p);
		size_t bytes = malloc_usable_size(p);
		CHECK(bytes >= 422);
		memset(p, i, bytes);
		p = keep(realloc(p, 444));
		CHECK(p[421] == i);
	}
}
/* Whatever a block comes from, free, realloc to nothing and realloc to something take it. */
NI static void *make(int how)
{
	void *p = NULL;
	switch (how) {
	case 0:
		return malloc(223);
	case 1:
		return calloc(223, 1);
	case 2:
		return realloc(NULL, 223);
	case 3:
		return reallocarray(NULL, 1, 223);
	case 4:
		return aligned_alloc(16, 223);
	case 5:
		return memalign(128, 223);
	case 6:
		return valloc(223);
	case 7:
		return pvalloc(223);
	default:
		return posix_memalign(&p, 64, 223) ? NULL : p;
	}
}
NI void every_pair(void)
{
	for (int i = 0; i < 90; i++) {
		void *p = make(i % 9);
		KEEP(p);
		CHECK(p && malloc_usable_size(p) >= 223);
		if (i / 9 % 2)
			p = realloc(p, 0);
		else
			free(p);
		KEEP(p);
	}
}
NI void chain(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = NULL;
		for (size_t bytes = 1; bytes < 400; bytes = bytes * 2 + 50) {
			p = realloc(p, bytes); /* 1, 52, 154, 358 */
			KEEP(p);
			CHECK(p);
		}
		p = realloc(p, 0);
		KEEP(p);
	}
}
/* Nothing of this allocates; out is not buffered. */
NI void asks(FILE *out)
{
	CHECK(mallopt(M_TOP_PAD, 128 << 10) == 1);
	malloc_trim(0);
	CHECK(mallinfo2().uordblks > 0 && mallinfo().uordblks > 0);
	CHECK(!malloc_info(0, out));
	CHECK(malloc_info(1, out));
	CHECK(mallopt(M_MMAP_THRESHOLD, 128 << 10) == 1);
}
NI void on_stack(size_t bytes)
{
	char room[bytes];
	char *p = room, *q = alloca(bytes);
	memset(p, 1, bytes);
	memset(q, 1, bytes);
	KEEP(p);
	KEEP(q);
}
static struct obstack stay, go;
NI void obstacks(void)
{
	obstack_init(&stay);
	obstack_init(&go);
	for (int i = 0; i < 6; i++)
		obstack_alloc(&stay, 1000);
	for (int i = 0; i < 40; i++)
		obstack_grow(&go,
			     "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuv"
			     "wxyz0123456789abcdefghijklmnopqr",
			     100);
	obstack_finish(&go);
	obstack_alloc(&go, 3000);
	obstack_free(&go, NULL);
}
int main(void)
{
	FILE *out = fopen("/dev/null", "w");
	setvbuf(out, NULL, _IONBF, 0);
	refused();
	survivors();
	odd_alignment();
	no_bytes();
	nothing();
	usable();
	every_pair();
	chain();
	asks(out);
	for (size_t i = 1; i < 1000; i++)
		on_stack(i);
	obstacks();
	return 0;
}
