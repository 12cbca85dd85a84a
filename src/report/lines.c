/* Reading source files. */
#include "config.h"

#include "src/report/lines.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"

#define SOURCE_MAX_BYTES (64u << 20)
#define TAB_COLS         8u
#define NS_PER_S         UINT64_C(1000000000)

void lines_release(struct lines *l)
{
	buf_release(&l->path);
	buf_release(&l->text);
	mem_free(l->start);
	*l = (struct lines){.count = 0};
}

/* Only a regular file: the path comes from the profile, and may name a device. */
static int open_regular(const char *path, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size <= (off_t)SOURCE_MAX_BYTES)
		return fd;
	close(fd);
	return -1;
}

static int try_path(struct lines *l, const char *directory, const char *path, struct stat *st)
{
	buf_clear(&l->path);
	buf_printf(&l->path, "%s%s%s", directory, *directory ? "/" : "", path);
	return l->path.has_failed ? -1 : open_regular(l->path.data, st);
}

/* ---- prefixes ------------------------------------------------------------------------- */

bool source_map_add(struct source_map *m, const char *from, size_t from_bytes, const char *to)
{
	if (!vec_reserve((void **)&m->items, &m->cap, m->count + 1, sizeof *m->items))
		return false;
	while (from_bytes > 1 && from[from_bytes - 1] == '/')
		from_bytes--;
	struct source_prefix p = {mem_strndup(from, from_bytes), mem_strdup(to)};
	if (!p.from || !p.to) {
		mem_free(p.from);
		mem_free(p.to);
		return false;
	}
	m->items[m->count++] = p;
	return true;
}

void source_map_release(struct source_map *m)
{
	for (size_t i = 0; i < m->count; i++) {
		mem_free(m->items[i].from);
		mem_free(m->items[i].to);
	}
	mem_free(m->items);
	*m = (struct source_map){.count = 0};
}

/* What follows a prefix that ends where a part of the path ends; NULL: another path. */
static const char *after_prefix(const char *path, const char *prefix)
{
	size_t bytes = strlen(prefix);
	if (strncmp(path, prefix, bytes) != 0)
		return NULL;
	if (prefix[bytes - 1] == '/') /* the root */
		return path + bytes;
	if (path[bytes] && path[bytes] != '/')
		return NULL;
	return path + bytes + (path[bytes] == '/');
}

static int open_mapped(struct lines *l, const char *path, const struct source_map *map,
		       struct stat *st)
{
	for (size_t i = 0; i < map->count; i++) {
		const char *rest = after_prefix(path, map->items[i].from);
		int fd = rest && *rest ? try_path(l, map->items[i].to, rest, st) : -1;
		if (fd >= 0)
			return fd;
	}
	return -1;
}

/* ---- finding ---------------------------------------------------------------------------- */

static int open_source(struct lines *l, const char *path, const struct profile_run *run,
		       struct stat *st)
{
	const char *cwd = run && run->cwd ? run->cwd : "";
	size_t bytes = strlen(cwd);
	if (!*path) /* not known */
		return -1;
	int fd = try_path(l, "", path, st);
	if (fd >= 0 || !bytes)
		return fd;
	if (*path != '/')
		return try_path(l, cwd, path, st);
	if (!strncmp(path, cwd, bytes) && path[bytes] == '/' && path[bytes + 1])
		return try_path(l, ".", path + bytes + 1, st);
	return -1;
}

static bool split_lines(struct lines *l)
{
	size_t bytes = l->text.count_bytes, cap = 0;
	const char *p = l->text.data, *end = p + bytes;
	while (p < end) {
		if (!vec_reserve((void **)&l->start, &cap, l->count + 2, sizeof *l->start))
			return false;
		l->start[l->count++] = p;
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		p = newline ? newline + 1 : end;
		l->start[l->count] = p;
	}
	return true;
}

/* By the user's map, by what the profile says, from elsewhere. */
static int open_anywhere(struct lines *l, const char *path, const struct profile_run *run,
			 const struct lines_search *search, struct stat *st)
{
	int fd = -1;
	if (*path && search && search->map)
		fd = open_mapped(l, path, search->map, st);
	if (fd < 0)
		fd = open_source(l, path, run, st);
	if (fd >= 0 || !*path || !search || !search->fetch)
		return fd;
	fd = search->fetch(search->context, path);
	if (fd < 0)
		return -1;
	buf_clear(&l->path);
	buf_puts(&l->path, path);
	if (!fstat(fd, st) && S_ISREG(st->st_mode) && st->st_size <= (off_t)SOURCE_MAX_BYTES) {
		st->st_mtim.tv_sec = 0; /* it is the one that was compiled, whenever it came */
		return fd;
	}
	close(fd);
	return -1;
}

bool lines_read(struct lines *l, const char *path, const struct profile_run *run, bool *has_failed)
{
	return lines_find(l, path, run, NULL, has_failed);
}

bool lines_find(struct lines *l, const char *path, const struct profile_run *run,
		const struct lines_search *search, bool *has_failed)
{
	struct stat st;
	char part[16384];
	ssize_t got;
	*l = (struct lines){.count = 0};
	int fd = open_anywhere(l, path, run, search, &st);
	if (fd < 0) {
		*has_failed = *has_failed || l->path.has_failed;
		lines_release(l);
		return false;
	}
	while ((got = read(fd, part, sizeof part)) > 0 && l->text.count_bytes <= SOURCE_MAX_BYTES)
		buf_put(&l->text, part, (size_t)got);
	close(fd);
	l->is_newer = run && run->start_unix_ns &&
		      (uint64_t)st.st_mtim.tv_sec > run->start_unix_ns / NS_PER_S;
	bool is_good = !l->text.has_failed && split_lines(l);
	*has_failed = *has_failed || !is_good;
	if (is_good && !got && l->count)
		return true;
	lines_release(l);
	return false;
}

void lines_expand(const struct lines *l, size_t line, size_t most_bytes, struct buf *out)
{
	const char *s = l->start[line - 1];
	size_t bytes = (size_t)(l->start[line] - s), at_cols = 0;
	while (bytes && (s[bytes - 1] == '\n' || s[bytes - 1] == '\r'))
		bytes--;
	for (size_t i = 0; i < bytes && at_cols < most_bytes; i++) {
		size_t cols = s[i] == '\t' ? TAB_COLS - at_cols % TAB_COLS : 1;
		if (s[i] == '\t')
			buf_repeat(out, " ", cols);
		else
			buf_putc(out, s[i]);
		at_cols += cols;
	}
}
