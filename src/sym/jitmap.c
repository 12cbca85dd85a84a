/*
 * Functions sorted by their beginning, each with the furthest end of those before it, so that
 * going back from an address stops where nothing can reach it any more.
 */
#include "config.h"

#include "src/sym/jitmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/base/limits.h"
#include "src/base/mem.h"

#define LIMIT_STEPS_BACK 4096u
#define NS_PER_S         1000000000u

struct jit_func {
	uint64_t start_pc, end_pc;
	uint64_t reach_pc; /* furthest end of this one and those before it */
	uint32_t name_at;  /* in text */
	uint32_t order;    /* of its line */
};

struct jit_map {
	char *text; /* of the file; names end with NUL */
	size_t text_bytes;
	struct jit_func *funcs;
	size_t count, cap;
};

/* Hexadecimal digits, with or without 0x, and what stops them; false: none. */
static bool take_hex(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p;
	uint64_t n = 0;
	unsigned digits = 0;
	while (s < end && *s == ' ')
		s++;
	if (end - s > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		s += 2;
	for (; s < end && digits <= 16; s++, digits++) {
		char c = *s;
		unsigned d;
		if (c >= '0' && c <= '9')
			d = (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			d = (unsigned)((c | 0x20) - 'a') + 10;
		else
			break;
		n = n << 4 | d;
	}
	*p = s;
	*out = n;
	return digits && digits <= 16;
}

/* One line; false: out of memory. */
static bool take_line(struct jit_map *m, char *line, char *end)
{
	const char *p = line;
	uint64_t start, bytes;
	*end = '\0';
	if (!take_hex(&p, end, &start) || !take_hex(&p, end, &bytes) || p == end || *p != ' ')
		return true;
	while (*p == ' ')
		p++;
	if (!*p || !bytes || bytes > UINT64_MAX - start || end - p > LIMIT_NAME_BYTES)
		return true;
	if (m->count >= LIMIT_IDS ||
	    !vec_reserve((void **)&m->funcs, &m->cap, m->count + 1, sizeof *m->funcs))
		return m->count >= LIMIT_IDS;
	m->funcs[m->count] = (struct jit_func){
		.start_pc = start,
		.end_pc = start + bytes,
		.name_at = (uint32_t)(p - m->text),
		.order = (uint32_t)m->count,
	};
	m->count++;
	return true;
}

static int compare_funcs(const void *pa, const void *pb)
{
	const struct jit_func *a = pa, *b = pb;
	if (a->start_pc != b->start_pc)
		return a->start_pc < b->start_pc ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* The last line may still be being written: it counts only with its end. */
static bool take_all(struct jit_map *m)
{
	char *line = m->text, *end = m->text + m->text_bytes;
	while (line < end) {
		char *stop = memchr(line, '\n', (size_t)(end - line));
		if (!stop)
			break;
		if (!take_line(m, line, stop))
			return false;
		line = stop + 1;
	}
	if (m->count)
		qsort(m->funcs, m->count, sizeof *m->funcs, compare_funcs);
	uint64_t reach = 0;
	for (size_t i = 0; i < m->count; i++) {
		if (m->funcs[i].end_pc > reach)
			reach = m->funcs[i].end_pc;
		m->funcs[i].reach_pc = reach;
	}
	return true;
}

/* ---- files -------------------------------------------------------------------------- */

void jit_follow_init(struct jit_follow *f)
{
	*f = (struct jit_follow){.fd = -1};
}

void jit_follow_release(struct jit_follow *f)
{
	if (f->fd >= 0)
		close(f->fd);
	buf_release(&f->text);
	jit_follow_init(f);
}

/* What is new in the open file, but no more than that in all. */
static void read_more(struct jit_follow *f, size_t most_bytes)
{
	char chunk[1 << 14];
	while (f->fd >= 0 && f->text.count_bytes < most_bytes && !f->text.has_failed) {
		ssize_t n = pread(f->fd, chunk, sizeof chunk, (off_t)f->read_bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		buf_put(&f->text, chunk, (size_t)n);
		f->read_bytes += (uint64_t)n;
	}
}

/* What follows is of another file: its first line begins here, and the last one has no end. */
static void begin_anew(struct jit_follow *f)
{
	while (f->text.count_bytes && f->text.data[f->text.count_bytes - 1] != '\n')
		f->text.count_bytes--;
	f->read_bytes = 0;
}

/* Anybody can write to /tmp: a file of our own counts, or any if we may do anything anyway. */
static bool is_credible(const struct stat *st, uint64_t since_unix_ns)
{
	return S_ISREG(st->st_mode) && (st->st_uid == geteuid() || !geteuid()) &&
	       (uint64_t)st->st_mtim.tv_sec >= since_unix_ns / NS_PER_S;
}

static void open_map(struct jit_follow *f, const char *path, uint64_t since_unix_ns,
		     size_t most_bytes)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	if (fstat(fd, &st) || !is_credible(&st, since_unix_ns)) {
		close(fd);
		return;
	}
	if (f->fd >= 0) {
		read_more(f, most_bytes);
		close(f->fd);
	}
	begin_anew(f);
	f->fd = fd;
	f->device = st.st_dev;
	f->inode = st.st_ino;
}

/* The program's own /tmp, while it lives, else ours. */
static bool find_path(char *path, size_t path_bytes, const struct jit_process *p, struct stat *st)
{
	snprintf(path, path_bytes, "/proc/%u/root/tmp/perf-%u.map", p->pid, p->seen_pid);
	if (p->pid && !lstat(path, st))
		return true;
	snprintf(path, path_bytes, "/tmp/perf-%u.map", p->seen_pid);
	return !lstat(path, st);
}

void jit_follow_read(struct jit_follow *f, const struct jit_process *p, size_t most_bytes)
{
	struct stat st;
	char path[64];
	if (find_path(path, sizeof path, p, &st)) {
		if (f->fd < 0 || st.st_dev != f->device || st.st_ino != f->inode)
			open_map(f, path, p->since_unix_ns, most_bytes);
		else if ((uint64_t)st.st_size < f->read_bytes)
			begin_anew(f);
		else if ((uint64_t)st.st_size == f->read_bytes)
			return;
	}
	read_more(f, most_bytes);
}

struct jit_map *jit_follow_map(struct jit_follow *f)
{
	struct jit_map *m = f->text.has_failed ? NULL : mem_zalloc(sizeof *m);
	if (m) {
		m->text = f->text.data; /* is freed as any other memory */
		m->text_bytes = f->text.count_bytes;
		f->text = (struct buf){0};
	}
	jit_follow_release(f);
	if (m && take_all(m) && m->count)
		return m;
	jit_map_free(m);
	return NULL;
}

void jit_map_free(struct jit_map *m)
{
	if (!m)
		return;
	mem_free(m->text);
	mem_free(m->funcs);
	mem_free(m);
}

const char *jit_map_find(const struct jit_map *m, uint64_t pc)
{
	size_t low = 0, high = m->count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (m->funcs[mid].start_pc <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	const struct jit_func *found = NULL;
	for (size_t i = low; i && low - i < LIMIT_STEPS_BACK && m->funcs[i - 1].reach_pc > pc; i--)
		if (m->funcs[i - 1].end_pc > pc && (!found || m->funcs[i - 1].order > found->order))
			found = &m->funcs[i - 1];
	return found ? m->text + found->name_at : NULL;
}
