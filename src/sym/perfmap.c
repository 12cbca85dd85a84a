/* Each line names the frames that it covers; later lines take them over. */
#include "config.h"

#include "src/sym/perfmap.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/mem.h"

#define FILE_MOST_BYTES ((size_t)256 << 20)
#define NAME_MOST_BYTES ((size_t)4096)

/* A hex number with or without 0x, and the blank behind it. */
static bool read_hex(const char **at, const char *end, uint64_t *out)
{
	const char *s = *at;
	unsigned digits = 0;
	*out = 0;
	if (end - s > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X'))
		s += 2;
	for (; s < end; s++, digits++) {
		char c = *s;
		unsigned value = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
							: 16;
		if (value == 16)
			break;
		*out = *out << 4 | value;
	}
	if (!digits || digits > 16 || s >= end || *s != ' ')
		return false;
	*at = s + 1;
	return true;
}

/* The first frame that is not below an address. */
static size_t first_at(const struct job *job, uint64_t va)
{
	size_t low = 0, high = job->frame_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (job->frames[middle].va < va)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool take_line(const struct job *job, const char *s, const char *end, struct strtab *names,
		      uint32_t *name_of)
{
	uint64_t start, size_bytes;
	if (!read_hex(&s, end, &start) || !read_hex(&s, end, &size_bytes) || s >= end)
		return true; /* no line of ours */
	uint32_t name = UINT32_MAX;
	for (size_t i = first_at(job, start);
	     i < job->frame_count && job->frames[i].va - start < size_bytes; i++) {
		size_t most = (size_t)(end - s);
		if (name == UINT32_MAX)
			name = strtab_add(
				names, s,
				strnlen(s, most < NAME_MOST_BYTES ? most : NAME_MOST_BYTES));
		if (name == UINT32_MAX)
			return false;
		name_of[i] = name + 1;
	}
	return true;
}

/* In the form that job_decode reads. */
static bool give_names(struct job *job, const struct strtab *names, const uint32_t *name_of)
{
	struct buf out = {0};
	buf_varint(&out, names->count);
	for (uint32_t i = 0; i < names->count; i++) {
		buf_str(&out, strtab_get(names, i), names->lengths[i]);
		buf_varint(&out, 0); /* not mangled */
	}
	buf_varint(&out, 1); /* no file */
	buf_str(&out, "", 0);
	for (size_t i = 0; i < job->frame_count; i++) {
		if (i && job->frames[i - 1].va == job->frames[i].va)
			continue;
		buf_varint(&out, name_of[i] != 0);
		if (!name_of[i])
			continue;
		buf_varint(&out, name_of[i] - 1);
		buf_varint(&out, 0);
		buf_varint(&out, 0);
	}
	bool is_ok = !out.has_failed && job_decode(job, out.data, out.count_bytes);
	buf_release(&out);
	if (!is_ok)
		job_clear(job);
	return is_ok;
}

bool perfmap_name(struct job *job, const char *text, size_t bytes)
{
	struct strtab names = {0};
	uint32_t *name_of = mem_zarray(job->frame_count, sizeof *name_of);
	bool is_ok = name_of;
	const char *end = text + bytes;
	while (is_ok && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;
		is_ok = take_line(job, text, stop, &names, name_of);
		text = newline ? newline + 1 : end;
	}
	is_ok = is_ok && give_names(job, &names, name_of);
	strtab_release(&names);
	mem_free(name_of);
	return is_ok;
}

/* Anybody can write to /tmp: only a file of our own, or any if we are root, counts. */
static int open_map(uint32_t pid)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/tmp/perf-%u.map", (unsigned)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == geteuid() || !geteuid()))
		return fd;
	close(fd);
	return -1;
}

void perfmap_read(uint32_t pid, struct buf *out)
{
	char part[16384];
	ssize_t got;
	int fd = open_map(pid);
	if (fd < 0)
		return;
	while ((got = read(fd, part, sizeof part)) > 0 && out->count_bytes < FILE_MOST_BYTES)
		buf_put(out, part, (size_t)got);
	close(fd);
}
