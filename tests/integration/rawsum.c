/*
 * rawsum - totals of raw logs, counted the slow and obvious way.
 *
 *   rawsum FILE.raw...
 *
 * Prints one line per file, in the words of `truth --totals`:
 *
 *   exe=jq forked=0 allocations=N bytes=B leaked_blocks=L leaked_bytes=M peak=P temporary=T temporary_bytes=U
 *
 * realloc counts as free(old) + alloc(new); a failed realloc changes nothing.
 * Temporary: freed before the same thread allocated anything else.  A forked child
 * starts with the parent's live blocks; they are not allocations of the child, but
 * they count in its leaks and in its peak.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rawlog.h"

struct block {
	uint64_t ptr; /* 0: free slot; 1: was deleted */
	uint64_t bytes;
};

struct counter {
	struct block *slots; /* open addressing */
	size_t slot_count, used_count;
	uint64_t alloc_count, alloc_bytes, live_count, live_bytes, peak_bytes;
	uint64_t temporary_count, temporary_bytes, foreign_count;
	uint64_t *last; /* [TID_COUNT] block last allocated by a thread, by tid */
	struct block undo;
};

#define TID_COUNT (1u << 22)

static void *zalloc(size_t count, size_t bytes)
{
	void *p = calloc(count, bytes);
	if (!p) {
		fprintf(stderr, "rawsum: out of memory\n");
		exit(2);
	}
	return p;
}

static struct block *find(const struct counter *c, uint64_t ptr, bool is_insert)
{
	size_t i = (ptr * 0x9e3779b97f4a7c15ull) >> 20;
	struct block *grave = NULL;
	for (;; i++) {
		struct block *b = &c->slots[i & (c->slot_count - 1)];
		if (b->ptr == ptr)
			return b;
		if (b->ptr == 1 && !grave)
			grave = b;
		if (!b->ptr)
			return is_insert ? (grave ? grave : b) : NULL;
	}
}

static void grow(struct counter *c)
{
	struct block *old = c->slots;
	size_t old_count = c->slot_count;
	c->slot_count = 1024;
	while (c->slot_count < c->live_count * 4)
		c->slot_count *= 2;
	c->slots = zalloc(c->slot_count, sizeof c->slots[0]);
	c->used_count = 0;
	for (size_t i = 0; i < old_count; i++) {
		if (old[i].ptr <= 1)
			continue;
		*find(c, old[i].ptr, true) = old[i];
		c->used_count++;
	}
	free(old);
}

static void block_add(struct counter *c, uint64_t ptr, uint64_t bytes)
{
	if (c->used_count * 2 >= c->slot_count)
		grow(c);
	struct block *b = find(c, ptr, true);
	c->used_count += b->ptr == 0;
	if (b->ptr == ptr) { /* freed without our seeing it */
		c->live_count--;
		c->live_bytes -= b->bytes;
		fprintf(stderr, "rawsum: block %" PRIx64 " allocated twice\n", ptr);
	}
	*b = (struct block){ptr, bytes};
	c->live_count++;
	c->live_bytes += bytes;
	if (c->live_bytes > c->peak_bytes)
		c->peak_bytes = c->live_bytes;
}

static void on_alloc(struct counter *c, const struct rawlog_record *r)
{
	block_add(c, r->ptr, r->bytes);
	c->alloc_count++;
	c->alloc_bytes += r->bytes;
	c->last[r->tid % TID_COUNT] = r->ptr;
}

static void on_free(struct counter *c, const struct rawlog_record *r)
{
	struct block *b = find(c, r->ptr, false);
	c->undo = (struct block){0};
	if (!b) {
		c->foreign_count++;
		return;
	}
	if (c->last[r->tid % TID_COUNT] == r->ptr) {
		c->temporary_count++;
		c->temporary_bytes += b->bytes;
	}
	c->live_count--;
	c->live_bytes -= b->bytes;
	c->undo = *b;
	b->ptr = 1;
}

static void replay(struct counter *c, const struct rawlog_record *r, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		if (r[i].op == RAWLOG_ALLOC)
			on_alloc(c, &r[i]);
		else if (r[i].op == RAWLOG_FREE)
			on_free(c, &r[i]);
		else if (r[i].op == RAWLOG_UNDO && c->undo.ptr == r[i].ptr)
			block_add(c, r[i].ptr, c->undo.bytes);
	}
}

/* Maps a log; its end is the last record written, not the sparse file's. */
static const struct rawlog_header *map_log(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) || (size_t)st.st_size < sizeof(struct rawlog_header)) {
		fprintf(stderr, "rawsum: cannot read %s\n", path);
		exit(2);
	}
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	const struct rawlog_header *h = map;
	if (map == MAP_FAILED || h->magic != RAWLOG_MAGIC || h->used_count > h->record_max) {
		fprintf(stderr, "rawsum: %s is not a whole raw log\n", path);
		exit(2);
	}
	return h;
}

static void replay_file(struct counter *c, const char *path, uint64_t limit, int depth)
{
	const struct rawlog_header *h = map_log(path);
	if (h->is_forked && depth < 64) {
		const char *slash = strrchr(path, '/');
		char parent[1024];
		snprintf(parent, sizeof parent, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path,
			 h->parent);
		replay_file(c, parent, h->parent_count, depth + 1);
	}
	/* What came before the fork is not this process's doing. */
	c->alloc_count = c->alloc_bytes = c->temporary_count = c->temporary_bytes = 0;
	c->foreign_count = 0;
	c->peak_bytes = c->live_bytes;
	memset(c->last, 0, TID_COUNT * sizeof c->last[0]);
	uint64_t count = h->used_count < limit ? h->used_count : limit;
	replay(c, (const struct rawlog_record *)(h + 1), count);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct counter c = {0};
		c.last = zalloc(TID_COUNT, sizeof c.last[0]);
		grow(&c);
		replay_file(&c, argv[i], UINT64_MAX, 0);
		const struct rawlog_header *h = map_log(argv[i]);
		const char *slash = strrchr(h->exe, '/');
		printf("exe=%s forked=%u allocations=%" PRIu64 " bytes=%" PRIu64
		       " leaked_blocks=%" PRIu64 " leaked_bytes=%" PRIu64 " peak=%" PRIu64
		       " temporary=%" PRIu64 " temporary_bytes=%" PRIu64 "\n",
		       slash ? slash + 1 : h->exe, h->is_forked, c.alloc_count, c.alloc_bytes,
		       c.live_count, c.live_bytes, c.peak_bytes, c.temporary_count,
		       c.temporary_bytes);
		free(c.slots);
		free(c.last);
	}
	return 0;
}
