/*
 * The window: a piece of the input that grows only for what is asked for in one piece.
 *
 *   data[0 ...... start ......... end ...... cap]
 *         taken      given next      free
 */
#include "config.h"

#include "src/exchange/input_priv.h"

#include "src/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES ((size_t)1 << 20)
#define HEAD_BYTES   16u /* enough to know a wrapper or a byte order mark */

struct input {
	struct source *source;
	struct file *file; /* the lowest source */
	char *name;
	const char *wrapper;
	uint8_t *data;
	size_t start, end, cap;
	bool is_at_end;    /* the source has no more */
	bool has_cut_line; /* the last line had no end */
	uint64_t taken_bytes, line;
	bool (*is_stopped)(void *arg, const struct input *in);
	void *stopped_arg;
	struct err err;
};

void source_free(struct source *s)
{
	while (s) {
		struct source *below = s->below;
		s->class->free(s);
		s = below;
	}
}

/* ---- the file ----------------------------------------------------------------------------- */

struct file {
	struct source source;
	int fd;                /* -1: from memory */
	const uint8_t *memory; /* borrowed */
	uint64_t done_bytes, all_bytes;
	const char *name;
	uint8_t head[HEAD_BYTES]; /* read to see what it is, given first */
	size_t head_pos, head_count;
};

static size_t read_some(struct file *f, uint8_t *dst, size_t cap, struct err *e)
{
	if (f->fd < 0) {
		uint64_t left = f->all_bytes - f->done_bytes;
		size_t n = left < cap ? (size_t)left : cap;
		if (n)
			memcpy(dst, f->memory + f->done_bytes, n);
		f->done_bytes += n;
		return n;
	}
	for (;;) {
		ssize_t n = read(f->fd, dst, cap);
		if (n >= 0) {
			f->done_bytes += (size_t)n;
			return (size_t)n;
		}
		if (errno != EINTR) {
			err_sys(e, errno, "read", f->name);
			return 0;
		}
	}
}

static size_t file_fill(struct source *s, uint8_t *dst, size_t cap, struct err *e)
{
	struct file *f = (struct file *)s;
	if (f->head_pos < f->head_count) {
		size_t left = f->head_count - f->head_pos, n = left < cap ? left : cap;
		memcpy(dst, f->head + f->head_pos, n);
		f->head_pos += n;
		return n;
	}
	return read_some(f, dst, cap, e);
}

static void file_free(struct source *s)
{
	struct file *f = (struct file *)s;
	if (f->fd > STDERR_FILENO)
		close(f->fd);
	mem_free(f);
}

static const struct source_class file_class = {file_fill, file_free};

/* ---- UTF-16 --------------------------------------------------------------------------------- */

struct utf16 {
	struct source source;
	bool is_big_endian;
	uint8_t in[4096];
	size_t pos, count;
	uint32_t high; /* first half of a pair */
};

static bool next_unit(struct utf16 *u, uint32_t *out, struct err *e)
{
	struct source *below = u->source.below;
	if (u->count - u->pos < 2) {
		uint8_t odd = u->pos < u->count ? u->in[u->pos] : 0;
		size_t kept = u->count - u->pos;
		u->in[0] = odd;
		u->pos = 0;
		u->count = kept + below->class->fill(below, u->in + kept, sizeof u->in - kept, e);
		if (u->count < 2 && u->count > kept) /* one byte at a time, from a pipe */
			u->count += below->class->fill(below, u->in + u->count, 1, e);
		if (u->count < 2)
			return false;
	}
	const uint8_t *p = u->in + u->pos;
	*out = u->is_big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
	u->pos += 2;
	return true;
}

static size_t put_utf8(uint8_t *dst, uint32_t c)
{
	if (c < 0x80) {
		dst[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (uint8_t)(0xc0 | c >> 6);
		dst[1] = (uint8_t)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		dst[0] = (uint8_t)(0xe0 | c >> 12);
		dst[1] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
		dst[2] = (uint8_t)(0x80 | (c & 0x3f));
		return 3;
	}
	dst[0] = (uint8_t)(0xf0 | c >> 18);
	dst[1] = (uint8_t)(0x80 | (c >> 12 & 0x3f));
	dst[2] = (uint8_t)(0x80 | (c >> 6 & 0x3f));
	dst[3] = (uint8_t)(0x80 | (c & 0x3f));
	return 4;
}

/* Halves of pairs that stand alone become U+FFFD. */
static size_t utf16_fill(struct source *s, uint8_t *dst, size_t cap, struct err *e)
{
	struct utf16 *u = (struct utf16 *)s;
	size_t n = 0;
	uint32_t unit;
	while (cap - n >= 8 && next_unit(u, &unit, e)) {
		bool is_low = unit >= 0xdc00 && unit < 0xe000;
		if (u->high && is_low) {
			n += put_utf8(dst + n,
				      0x10000 + ((u->high - 0xd800) << 10) + (unit - 0xdc00));
			u->high = 0;
			continue;
		}
		if (u->high)
			n += put_utf8(dst + n, 0xfffd);
		u->high = unit >= 0xd800 && unit < 0xdc00 ? unit : 0;
		if (!u->high)
			n += put_utf8(dst + n, is_low ? 0xfffd : unit);
	}
	return n;
}

static void utf16_free(struct source *s)
{
	mem_free(s);
}

static const struct source_class utf16_class = {utf16_fill, utf16_free};

/* ---- the window -------------------------------------------------------------------------------- */

/* Bytes that are not taken yet go to the front; room for `want` bytes in all. */
static bool make_room(struct input *in, size_t want)
{
	size_t kept = in->end - in->start;
	if (in->start) {
		memmove(in->data, in->data + in->start, kept);
		in->start = 0;
		in->end = kept;
	}
	if (want < WINDOW_BYTES)
		want = WINDOW_BYTES;
	if (!vec_reserve((void **)&in->data, &in->cap, want, 1)) {
		err_nomem(&in->err, "the input");
		return false;
	}
	return true;
}

/* One more filling; false at the end or after a failure. */
static bool fill_more(struct input *in)
{
	if (in->is_at_end || in->err.code)
		return false;
	struct source *s = in->source;
	if (in->is_stopped && in->is_stopped(in->stopped_arg, in)) {
		err_set(&in->err, ERR_USAGE, "stopped while reading '%s'", in->name);
		return false;
	}
	size_t n = s->class->fill(s, in->data + in->end, in->cap - in->end, &in->err);
	in->end += n;
	if (!n)
		in->is_at_end = true;
	return n > 0;
}

size_t input_peek(struct input *in, size_t want_bytes, const uint8_t **data_out)
{
	if (want_bytes > INPUT_PIECE_MOST)
		want_bytes = INPUT_PIECE_MOST;
	if (in->end - in->start < want_bytes && !in->is_at_end && !in->err.code &&
	    make_room(in, want_bytes)) {
		while (in->end - in->start < want_bytes && fill_more(in))
			;
	}
	*data_out = in->data + in->start;
	return in->err.code ? 0 : in->end - in->start;
}

void input_skip(struct input *in, size_t bytes)
{
	if (bytes > in->end - in->start)
		bytes = in->end - in->start;
	in->start += bytes;
	in->taken_bytes += bytes;
}

bool input_read(struct input *in, void *dst, size_t bytes)
{
	const uint8_t *data;
	if (input_peek(in, bytes, &data) < bytes)
		return false;
	if (bytes)
		memcpy(dst, data, bytes);
	input_skip(in, bytes);
	return true;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

static void take_line(struct input *in, size_t bytes, size_t end_bytes, const char **line_out,
		      size_t *bytes_out)
{
	const uint8_t *line = in->data + in->start;
	input_skip(in, bytes + end_bytes);
	in->line++;
	if (bytes && line[bytes - 1] == '\r')
		bytes--;
	*line_out = (const char *)line;
	*bytes_out = bytes;
}

bool input_line(struct input *in, const char **line_out, size_t *bytes_out)
{
	*line_out = "";
	*bytes_out = 0;
	for (size_t seen = 0;;) {
		size_t there = in->end - in->start;
		const uint8_t *from = in->data + in->start;
		const uint8_t *lf = there > seen ? memchr(from + seen, '\n', there - seen) : NULL;
		if (in->err.code)
			return false;
		if (lf) {
			take_line(in, (size_t)(lf - from), 1, line_out, bytes_out);
			return true;
		}
		if (in->is_at_end) {
			in->has_cut_line |= there > 0;
			if (there)
				take_line(in, there, 0, line_out, bytes_out);
			return there > 0;
		}
		if (there >= INPUT_PIECE_MOST) {
			err_set(&in->err, ERR_LIMIT, "line %ju of '%s' is longer than 64 MiB",
				(uintmax_t)in->line + 1, in->name);
			return false;
		}
		seen = there;
		if ((in->start || in->end == in->cap) && !make_room(in, there + WINDOW_BYTES / 2))
			return false;
		fill_more(in);
	}
}

bool input_line_is_cut(const struct input *in)
{
	return in->has_cut_line;
}

size_t input_lines(struct input *in, const char **lines_out)
{
	for (size_t want = 1;; want = in->end - in->start + WINDOW_BYTES / 2) {
		const uint8_t *data;
		size_t there = input_peek(in, want, &data);
		const uint8_t *last = there ? memrchr(data, '\n', there) : NULL;
		size_t bytes = last ? (size_t)(last - data) + 1 : 0;
		*lines_out = (const char *)data;
		if (!bytes && in->is_at_end) {
			bytes = there;
			in->has_cut_line |= there > 0;
		}
		if (bytes || in->is_at_end || in->err.code) {
			input_skip(in, bytes);
			return bytes;
		}
		if (there >= INPUT_PIECE_MOST) {
			err_set(&in->err, ERR_LIMIT, "line %ju of '%s' is longer than 64 MiB",
				(uintmax_t)in->line + 1, in->name);
			return 0;
		}
	}
}

void input_count_lines(struct input *in, uint64_t lines)
{
	in->line += lines;
}

/* ---- begin and end ---------------------------------------------------------------------------------- */

/* How the data of a file begins, without taking it. */
static bool read_head(struct file *f, struct err *e)
{
	while (f->head_count < HEAD_BYTES) {
		size_t n = read_some(f, f->head + f->head_count, HEAD_BYTES - f->head_count, e);
		if (!n)
			break;
		f->head_count += n;
	}
	return !e->code;
}

#define FIRST_BYTES 2048u /* of the unwrapped data, all of which fits into a decoder */

/* A byte order mark goes; UTF-16 gets its decoder.  The window holds FIRST_BYTES at most. */
static enum neap_err decode_text(struct input *in, struct err *e)
{
	const uint8_t *p = in->data;
	size_t bytes = in->end;
	if (bytes >= 3 && !memcmp(p, "\xef\xbb\xbf", 3))
		input_skip(in, 3);
	if (bytes < 2 || (memcmp(p, "\xff\xfe", 2) != 0 && memcmp(p, "\xfe\xff", 2) != 0))
		return NEAP_OK;
	struct utf16 *u = mem_zalloc(sizeof *u);
	if (!u)
		return err_nomem(e, "the input");
	u->source = (struct source){.class = &utf16_class, .below = in->source};
	u->is_big_endian = p[0] == 0xfe;
	/* What is in the window already goes through it too. */
	u->count = bytes;
	memcpy(u->in, p, bytes);
	u->pos = 2;
	in->source = &u->source;
	in->start = in->end = 0;
	in->is_at_end = false;
	return NEAP_OK;
}

static enum neap_err input_begin(struct input *in, struct err *e)
{
	struct err failed = {0};
	if (!read_head(in->file, &failed)) {
		if (e)
			*e = failed;
		return failed.code;
	}
	enum neap_err code = unwrap(&in->source, in->file->head, in->file->head_count, in->name,
				    &in->wrapper, e);
	if (code)
		return code;
	if (*in->wrapper)
		in->file->head_pos = in->file->head_count; /* the decompressor has them */
	if (!vec_reserve((void **)&in->data, &in->cap, FIRST_BYTES, 1))
		return err_nomem(e, "the input");
	while (in->end < 4 && !in->is_at_end && !in->err.code) {
		struct source *s = in->source;
		size_t n = s->class->fill(s, in->data + in->end, FIRST_BYTES - in->end, &in->err);
		in->end += n;
		in->is_at_end = !n;
	}
	return decode_text(in, e);
}

static enum neap_err input_new(struct file f, const char *name, struct input **out, struct err *e)
{
	struct input *in = mem_zalloc(sizeof *in);
	struct file *file = mem_zalloc(sizeof *file);
	char *copy = mem_strdup(name);
	*out = NULL;
	if (!in || !file || !copy) {
		mem_free(in);
		mem_free(file);
		mem_free(copy);
		if (f.fd > STDERR_FILENO)
			close(f.fd);
		return err_nomem(e, "the input");
	}
	*file = f;
	file->name = copy;
	file->source.class = &file_class;
	*in = (struct input){.source = &file->source, .file = file, .name = copy, .wrapper = ""};
	enum neap_err code = input_begin(in, e);
	if (code) {
		input_close(in);
		return code;
	}
	*out = in;
	return NEAP_OK;
}

enum neap_err input_open(const char *path, struct input **out, struct err *e)
{
	struct file f = {.fd = STDIN_FILENO};
	struct stat st;
	*out = NULL;
	if (strcmp(path, "-") != 0)
		f.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f.fd < 0)
		return err_sys(e, errno, "open", path);
	if (!fstat(f.fd, &st)) {
		if (S_ISDIR(st.st_mode)) {
			close(f.fd);
			return err_set(e, ERR_IO, "'%s' is a directory, not a profile", path);
		}
		f.all_bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
	}
	return input_new(f, strcmp(path, "-") != 0 ? path : "standard input", out, e);
}

enum neap_err input_open_memory(const void *data, size_t bytes, const char *name,
				struct input **out, struct err *e)
{
	struct file f = {.fd = -1, .memory = data, .all_bytes = bytes};
	return input_new(f, name, out, e);
}

void input_close(struct input *in)
{
	if (!in)
		return;
	source_free(in->source);
	mem_free(in->data);
	mem_free(in->name);
	mem_free(in);
}

/* ---- what is known ------------------------------------------------------------------------------------ */

const char *input_name(const struct input *in)
{
	return in->name;
}

const char *input_wrapper(const struct input *in)
{
	return in->wrapper;
}

uint64_t input_offset(const struct input *in)
{
	return in->taken_bytes;
}

uint64_t input_line_number(const struct input *in)
{
	return in->line;
}

bool input_is_cut(const struct input *in)
{
	for (const struct source *s = in->source; s; s = s->below) {
		if (s->is_cut)
			return true;
	}
	return false;
}

void input_watch(struct input *in, bool (*is_stopped)(void *arg, const struct input *in), void *arg)
{
	in->is_stopped = is_stopped;
	in->stopped_arg = arg;
}

bool input_has_failed(const struct input *in)
{
	return in->err.code != NEAP_OK;
}

enum neap_err input_error(const struct input *in, struct err *e)
{
	if (in->err.code && e)
		*e = in->err;
	return in->err.code;
}

void input_progress(const struct input *in, uint64_t *done_bytes, uint64_t *all_bytes)
{
	*done_bytes = in->file->done_bytes;
	*all_bytes = in->file->all_bytes;
}
