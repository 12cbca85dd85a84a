/* 79 memory that is mapped, grown, moved, given back in parts and mapped over, besides a heap.
 * BUILD: gcc -g -O2 -pthread -o 79-mappings 79-mappings.c
 * RUN:   ./79-mappings                        (recorded with --mmap; without, only in_heap is there)
 * TRUTH func=in_heap    allocs=20 bytes=2020 live_blocks=10 live_bytes=1010
 * TRUTH func=plain      allocs=10 bytes=1000010 live_blocks=4 live_bytes=400004
 * TRUTH func=trimmed    allocs=1 bytes=10485760 live_blocks=1 live_bytes=4194304
 * TRUTH func=holed      allocs=3 bytes=1228800 live_blocks=2 live_bytes=720896
 * TRUTH func=to_grow    allocs=3 bytes=196608 live_blocks=0 live_bytes=0
 * TRUTH func=grown      allocs=3 bytes=2113536 live_blocks=3 live_bytes=2113536
 * TRUTH func=over       allocs=1 bytes=262144 live_blocks=1 live_bytes=196608
 * TRUTH func=on_top     allocs=1 bytes=65536 live_blocks=1 live_bytes=65536
 * TRUTH func=under_file allocs=1 bytes=65536 live_blocks=1 live_bytes=61440
 * TRUTH func=shared     allocs=2 bytes=131072 live_blocks=1 live_bytes=65536
 * TRUTH func=many       allocs=40 bytes=655360 live_blocks=0 live_bytes=0
 * TRUTH func=huge       allocs=1 bytes=1099511627776 live_blocks=1 live_bytes=1099507433472
 * TRUTH func=in_thread  allocs=4000 bytes=36864000 live_blocks=0 live_bytes=0
 * TRUTH func=of_file    allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=failing    allocs=0 bytes=0 live_blocks=0 live_bytes=0
 * TRUTH func=anywhere   allocs=1 bytes=1048576 live_blocks=0 live_bytes=0
 * With the argument "fork" the rest is in targets.sh.
 * Bytes are those asked for.  A mapping of which a part is given back stays one block with fewer bytes; one
 * that is given back in two halves dies once.  mremap is the end of the old mapping and the birth
 * of a new one, for who called it.  Mappings of files are not counted; nor are stacks of threads. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
#define KIB     1024ul
#define MIB     (1024 * KIB)
NI char *anywhere(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		exit(77);
	KEEP(p);
	return p;
}
#define MAP(bytes) mmap(NULL, (bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
#define CHECK(ok)                            \
	do {                                 \
		if (!(ok))                   \
			exit(__LINE__ & 63); \
	} while (0)
static void *heap[20];
NI void in_heap(void)
{
	for (int i = 0; i < 20; i++) {
		heap[i] = malloc(101);
		KEEP(heap[i]);
	}
	for (int i = 0; i < 10; i++)
		free(heap[i]);
	KEEP(heap);
}
NI void plain(void)
{
	char *p[10];
	for (int i = 0; i < 10; i++) {
		p[i] = MAP(100001);
		CHECK(p[i] != MAP_FAILED);
		p[i][0] = 1;
	}
	for (int i = 0; i < 6; i++)
		CHECK(munmap(p[i], 100001) == 0);
	KEEP(p);
}
/* 4 MiB on a multiple of 4 MiB, as allocators do it. */
NI char *trimmed(void)
{
	char *p = MAP(10 * MIB);
	CHECK(p != MAP_FAILED);
	char *start = (char *)(((unsigned long)p + 4 * MIB - 1) & -(4 * MIB));
	if (start > p)
		CHECK(munmap(p, (size_t)(start - p)) == 0);
	CHECK(munmap(start + 4 * MIB, (size_t)(p + 10 * MIB - start - 4 * MIB)) == 0);
	KEEP(start);
	return start;
}
NI void holed(void)
{
	char *p[3];
	for (int i = 0; i < 3; i++) {
		p[i] = MAP(400 * KIB);
		CHECK(p[i] != MAP_FAILED);
	}
	CHECK(munmap(p[0] + 100 * KIB, 96 * KIB) == 0); /* a hole: one block still */
	CHECK(munmap(p[1], 200 * KIB) == 0);
	CHECK(munmap(p[1] + 200 * KIB, 200 * KIB) == 0);
	CHECK(munmap(p[2] + 400 * KIB, 4096) == 0 || 1); /* not ours, or nothing there */
	KEEP(p);
}
static char *old[3];
NI void to_grow(void)
{
	for (int i = 0; i < 3; i++) {
		old[i] = MAP(64 * KIB);
		CHECK(old[i] != MAP_FAILED);
	}
	KEEP(old);
}
NI void grown(void)
{
	old[0] = mremap(old[0], 64 * KIB, 1 * MIB, MREMAP_MAYMOVE);
	CHECK(old[0] != MAP_FAILED);
	old[1] = mremap(old[1], 64 * KIB, 16 * KIB, 0);
	CHECK(old[1] != MAP_FAILED);
	char *there = anywhere(1 * MIB);
	old[2] = mremap(old[2], 64 * KIB, 1 * MIB, MREMAP_MAYMOVE | MREMAP_FIXED, there);
	CHECK(old[2] == there);
	CHECK(mremap(old[2], 1 * MIB, 1ul << 46, 0) == MAP_FAILED); /* changes nothing */
	KEEP(old);
}
NI char *over(void)
{
	char *p = MAP(256 * KIB);
	CHECK(p != MAP_FAILED);
	KEEP(p);
	return p;
}
NI void on_top(char *where)
{
	char *p = mmap(where + 64 * KIB, 64 * KIB, PROT_READ,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	CHECK(p == where + 64 * KIB);
	KEEP(p);
}
NI char *under_file(void)
{
	char *p = MAP(64 * KIB);
	CHECK(p != MAP_FAILED);
	KEEP(p);
	return p;
}
NI void of_file(const char *self, char *where)
{
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	char *p = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(fd >= 0 && p != MAP_FAILED);
	p = mremap(p, 8192, 4096, 0);
	CHECK(p != MAP_FAILED && munmap(p, 4096) == 0);
	p = mmap(where, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	CHECK(p == where);
	close(fd);
	KEEP(p);
}
NI void shared(void)
{
	char *p = mmap64(NULL, 64 * KIB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	char *q = mremap(p, 0, 64 * KIB, MREMAP_MAYMOVE); /* the same pages once more */
	CHECK(q != MAP_FAILED);
	p[0] = 7;
	CHECK(q[0] == 7 && munmap(p, 64 * KIB) == 0);
	KEEP(q);
}
/* One call gives back forty mappings at once. */
NI void many(void)
{
	char *room = mmap(NULL, 40 * 16 * KIB, PROT_NONE, MAP_PRIVATE,
			  open("/dev/zero", O_RDONLY | O_CLOEXEC), 0);
	CHECK(room != MAP_FAILED);
	for (int i = 0; i < 40; i++)
		CHECK(mmap(room + i * 16 * KIB, 16 * KIB, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED);
	CHECK(munmap(room, 40 * 16 * KIB) == 0);
	KEEP(room);
}
/* A terabyte of addresses costs next to nothing. */
NI void huge(void)
{
	char *p = mmap(NULL, 1ul << 40, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
		       0);
	if (p == MAP_FAILED)
		exit(77);
	CHECK(munmap(p + (1ul << 39) + 4096, 4 * MIB) == 0);
	KEEP(p);
}
NI void failing(void)
{
	CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	CHECK(mmap(NULL, 1ul << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	CHECK(munmap(heap, 0) == -1 && munmap((void *)(1ul << 62), 4096) == -1);
	CHECK(munmap((char *)old[2] + 1, 4096) == -1);
	CHECK(mremap((void *)4096, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED);
}
NI void *in_thread(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		char *p = MAP(9 * KIB);
		CHECK(p != MAP_FAILED);
		p[9 * KIB - 1] = 1;
		CHECK(munmap(p, 4 * KIB) == 0 && munmap(p + 4 * KIB, 8 * KIB) == 0);
	}
	KEEP(arg);
	return arg;
}
static char *inherited[4];
NI void before_fork(void)
{
	for (int i = 0; i < 4; i++)
		CHECK((inherited[i] = MAP(100 * KIB)) != MAP_FAILED);
	CHECK(munmap(inherited[0], 40 * KIB) == 0);
}
NI void in_child(void)
{
	char *p = MAP(30 * KIB);
	CHECK(p != MAP_FAILED && munmap(inherited[0] + 40 * KIB, 60 * KIB) == 0);
	CHECK(munmap(inherited[1], 20 * KIB) == 0);
	inherited[2] = mremap(inherited[2], 100 * KIB, 10 * KIB, 0);
	CHECK(inherited[2] != MAP_FAILED);
	KEEP(p);
}
/* The child's first call is munmap. */
static int with_fork(void)
{
	int status;
	before_fork();
	pid_t child = fork();
	if (!child) {
		CHECK(munmap(inherited[3], 100 * KIB) == 0);
		in_child();
		return 0;
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
	CHECK(munmap(inherited[0] + 40 * KIB, 60 * KIB) == 0);
	return 0;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	if (argc > 1 && !strcmp(argv[1], "fork"))
		return with_fork();
	in_heap();
	plain();
	trimmed();
	holed();
	to_grow();
	grown();
	on_top(over());
	of_file(argv[0], under_file());
	shared();
	many();
	huge();
	failing();
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&t[i], NULL, in_thread, NULL) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}
