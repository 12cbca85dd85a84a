/*
 * /proc/self/maps, read with raw system calls.
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <fcntl.h>

static const char *parse_hex(const char *p, const char *end, uint64_t *out)
{
	uint64_t v = 0;
	for (; p < end; p++) {
		unsigned digit = (unsigned char)*p - '0';
		if (digit > 9)
			digit = ((unsigned char)*p | 32u) - 'a' + 10u;
		if (digit > 15)
			break;
		v = v << 4 | digit;
	}
	*out = v;
	return p;
}

/* After offset, device and inode, each behind one space, and any number of them. */
static void find_path(const char *p, const char *end, struct nc_mapped *out)
{
	for (int fields = 0; fields < 3 && p < end; fields++)
		for (p++; p < end && *p != ' ';)
			p++;
	while (p < end && *p == ' ')
		p++;
	out->path = p < end ? p : NULL;
	out->path_bytes = (size_t)(end - p);
}

/* One line: "start-end rwxp offset device inode path"; false if it is none. */
static bool parse_line(const char *line, const char *end, struct nc_mapped *out)
{
	const char *p = parse_hex(line, end, &out->range.start);
	if (p == end || *p != '-')
		return false;
	p = parse_hex(p + 1, end, &out->range.end);
	if (end - p < 5)
		return false;
	out->is_readable = p[1] != '-';
	out->is_executable = p[3] != '-';
	find_path(p + 5, end, out);
	return true;
}

struct reader {
	char *text;
	size_t have_bytes, cap_bytes;
	bool is_in_tail; /* of a line whose head was taken: a path may be longer than the buffer */
	nc_mapped_fn *fn;
	void *arg;
};

/* A line, or the head of one; true if more are wanted. */
static bool take_line(struct reader *r, const char *line, const char *end, bool is_head)
{
	struct nc_mapped mapped;
	bool is_tail = r->is_in_tail;
	r->is_in_tail = is_head;
	if (is_tail || !parse_line(line, end, &mapped))
		return true;
	if (is_head)
		mapped.path = NULL;
	return r->fn(&mapped, r->arg);
}

/* Take the whole lines of what was read and keep the rest; true if more are wanted. */
static bool take_lines(struct reader *r)
{
	size_t line = 0;
	bool goes_on = true;
	for (size_t i = 0; i < r->have_bytes && goes_on; i++) {
		if (r->text[i] != '\n')
			continue;
		goes_on = take_line(r, r->text + line, r->text + i, false);
		line = i + 1;
	}
	if (goes_on && line == 0 && r->have_bytes == r->cap_bytes) {
		line = r->have_bytes;
		goes_on = take_line(r, r->text, r->text + line, true);
	}
	for (size_t i = line; i < r->have_bytes; i++)
		r->text[i - line] = r->text[i];
	r->have_bytes -= line;
	return goes_on;
}

bool nc_maps_each(char *buffer, size_t buffer_bytes, nc_mapped_fn *fn, void *arg)
{
	struct reader r = {.text = buffer, .cap_bytes = buffer_bytes, .fn = fn, .arg = arg};
	long fd = nc_syscall3(SYS_open, (long)"/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (nc_sys_failed(fd))
		return false;
	long got;
	do {
		got = nc_syscall3(SYS_read, fd, (long)(r.text + r.have_bytes),
				  (long)(r.cap_bytes - r.have_bytes));
		if (nc_sys_failed(got))
			got = 0;
		r.have_bytes += (size_t)got;
	} while (got && take_lines(&r));
	nc_syscall3(SYS_close, fd, 0, 0);
	return true;
}
