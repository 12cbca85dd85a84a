/* The table of formats, finding out which one a file has, and running its reader. */
#include "config.h"

#include "src/exchange/exchange_priv.h"

#include "src/base/buf.h"
#include "src/base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NEAP_MAGIC       "\x89NEAP\r\n\x1a"
#define NEAP_MAGIC_BYTES 8u

static const struct {
	struct exchange_format_info info;
	detect_fn *detect;
	read_fn *read;
} formats[EXCHANGE_FORMAT_COUNT] = {
#define READS(x) .info.can_read = true, .detect = x##_detect, .read = x##_read,
#define NO_READER
#define WRITES(x) .info.can_write = true,
#define NO_WRITER
#define FORMAT(id, name_, suffixes_, title_, reader, writer, facts_) \
	[EXCHANGE_##id] = {.info.name = name_,                       \
			   .info.suffixes = suffixes_,               \
			   .info.title = title_,                     \
			   .info.facts = facts_,                     \
			   reader writer},
#include "src/exchange/formats.def"
};

const struct exchange_format_info *exchange_format_info(enum exchange_format f)
{
	return &formats[f].info;
}

enum exchange_format exchange_format_find(const char *name)
{
	for (int f = 0; f < EXCHANGE_FORMAT_COUNT; f++) {
		if (!strcmp(formats[f].info.name, name))
			return (enum exchange_format)f;
	}
	return EXCHANGE_ANY;
}

/* ---- detecting ------------------------------------------------------------------------------- */

/* What the beginning looks like, for who expected something else. */
static const char *looks_like(const uint8_t *p, size_t bytes)
{
	static const struct {
		const char *magic, *what;
	} known[] = {
		{"\x7f"
		 "ELF",
		 "a program or library"},
		{"SQLite format 3", "a database"},
		{"PK\x03\x04", "a zip archive"},
		{"<!DOCTYPE html", "a web page"},
		{"<html", "a web page"},
		{"%PDF", "a PDF document"},
		{"PERFILE2", "a recording of perf"},
		{"#!", "a script"},
		{"JFR\0", "a recording of Java's flight recorder"},
	};
	if (!bytes)
		return "empty";
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		size_t n = strlen(known[i].magic);
		if (bytes >= n && !strncasecmp((const char *)p, known[i].magic, n))
			return known[i].what;
	}
	for (size_t i = 0; i < bytes && i < 512; i++) {
		if (p[i] < 0x20 && p[i] != '\n' && p[i] != '\r' && p[i] != '\t' && p[i] != 0x1b)
			return "binary data of some other kind";
	}
	return "text of some other kind";
}

static bool has_our_magic(const uint8_t *head, size_t bytes)
{
	return bytes >= NEAP_MAGIC_BYTES && !memcmp(head, NEAP_MAGIC, NEAP_MAGIC_BYTES);
}

static enum neap_err detect(struct input *in, enum exchange_format *out, struct err *e)
{
	const uint8_t *head;
	size_t bytes = input_peek(in, DETECT_BYTES, &head);
	enum neap_err code = input_error(in, e);
	*out = EXCHANGE_ANY;
	if (code)
		return code;
	for (int f = 0; f < EXCHANGE_FORMAT_COUNT; f++) {
		if (!formats[f].detect ||
		    !formats[f].detect(head, bytes < DETECT_BYTES ? bytes : DETECT_BYTES))
			continue;
		*out = (enum exchange_format)f;
		return NEAP_OK;
	}
	if (has_our_magic(head, bytes))
		return err_set(e, ERR_FORMAT, "'%s' is a profile of neap %s%s%s", input_name(in),
			       *input_wrapper(in) ? "packed by "
						  : "already: there is nothing to import",
			       input_wrapper(in), *input_wrapper(in) ? "; unpack it first" : "");
	if (input_is_cut(in))
		return err_set(e, ERR_FORMAT,
			       "'%s' is cut: %zu bytes of its %s data can be unpacked, too few to "
			       "see what it is; copy or download it again",
			       input_name(in), bytes, input_wrapper(in));
	return err_set(e, ERR_FORMAT,
		       "'%s' is no profile that neap can read: it is %s%s%s; neap import --formats "
		       "lists what it reads",
		       input_name(in), looks_like(head, bytes),
		       *input_wrapper(in) ? ", packed by " : "", input_wrapper(in));
}

const char *exchange_title(const char *path)
{
	struct input *in;
	struct err e;
	enum exchange_format format = EXCHANGE_ANY;
	if (input_open(path, &in, &e))
		return NULL;
	bool is_known = !detect(in, &format, &e);
	input_close(in);
	return is_known ? formats[format].info.title : NULL;
}

/* ---- reading ---------------------------------------------------------------------------------- */

struct watch {
	const struct exchange_options *o;
};

static bool is_stopped(void *arg, const struct input *in)
{
	const struct exchange_options *o = ((struct watch *)arg)->o;
	uint64_t done, all;
	input_progress(in, &done, &all);
	return o->on_progress(o->arg, done, all);
}

/* The reader's failure, or that of what it stood on. */
static enum neap_err run_reader(struct input *in, enum exchange_format format, struct import *im,
				struct err *e)
{
	struct err failed = {0};
	enum neap_err code = formats[format].read(in, im, &failed);
	if (input_has_failed(in))
		code = input_error(in, &failed);
	else if (!code && input_is_cut(in))
		import_partial(im, "its %s data is cut", input_wrapper(in));
	if (code && e)
		*e = failed;
	return code;
}

static enum neap_err import_input_to(struct input *in, int fd, const char *out_path,
				     const struct exchange_options *o, struct err *e)
{
	enum exchange_format format = o ? o->format : EXCHANGE_ANY;
	struct watch watch = {o};
	struct import *im;
	enum neap_err code = NEAP_OK;
	if (o && o->on_progress)
		input_watch(in, is_stopped, &watch);
	if (format == EXCHANGE_ANY)
		code = detect(in, &format, e);
	else if (!formats[format].read)
		code = err_set(e, ERR_USAGE, "neap writes %s but does not read it",
			       formats[format].info.title);
	if (code) {
		close(fd);
		return code;
	}
	code = import_new(in, format, fd, out_path, o, &im, e);
	if (code)
		return code;
	code = run_reader(in, format, im, e);
	if (!code)
		return import_finish(im, e);
	import_abandon(im);
	return code;
}

enum neap_err exchange_import(const char *path, int fd, const char *out_path,
			      const struct exchange_options *o, struct err *e)
{
	struct input *in;
	enum neap_err code = input_open(path, &in, e);
	if (code) {
		close(fd);
		return code;
	}
	code = import_input_to(in, fd, out_path, o, e);
	input_close(in);
	return code;
}

/* ---- opening -------------------------------------------------------------------------------------- */

/* The profile that was written to fd, which is closed. */
static enum neap_err parse_fd(int fd, const char *name, struct profile **out, struct err *e)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	void *data =
		bytes > 0 ? mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	enum neap_err code;
	if (data == MAP_FAILED) {
		code = err_sys(e, errno, "map", name);
	} else {
		code = profile_parse(data, (size_t)bytes, name, out, e);
		munmap(data, (size_t)bytes);
	}
	close(fd);
	return code;
}

static enum neap_err open_input(struct input *in, const char *name,
				const struct exchange_options *o, struct profile **out,
				struct err *e)
{
	int fd = memfd_create("neap-import", MFD_CLOEXEC);
	int copy = fd < 0 ? -1 : dup(fd);
	if (copy < 0) {
		enum neap_err code = err_sys(e, errno, "make room in memory for", name);
		if (fd >= 0)
			close(fd);
		return code;
	}
	enum neap_err code = import_input_to(in, fd, name, o, e);
	if (!code)
		return parse_fd(copy, name, out, e);
	close(copy);
	return code;
}

static bool is_our_own(struct input *in)
{
	const uint8_t *head;
	size_t bytes = input_peek(in, NEAP_MAGIC_BYTES, &head);
	return !*input_wrapper(in) && has_our_magic(head, bytes);
}

/* A pipe cannot be opened again: what is in the window is its beginning. */
static enum neap_err open_own(struct input *in, const char *path, struct profile **out,
			      struct err *e)
{
	uint64_t done, all;
	struct buf file = {0};
	const uint8_t *data;
	input_progress(in, &done, &all);
	if (all)
		return profile_open(path, out, e);
	for (size_t n; (n = input_peek(in, 1, &data)) > 0; input_skip(in, n))
		buf_put(&file, data, n);
	enum neap_err code = input_error(in, e);
	if (!code && file.has_failed)
		code = err_nomem(e, "the profile");
	if (!code)
		code = profile_parse(file.data, file.count_bytes, path, out, e);
	buf_release(&file);
	return code;
}

enum neap_err exchange_open(const char *path, struct profile **out, struct err *e)
{
	struct input *in;
	*out = NULL;
	enum neap_err code = input_open(path, &in, e);
	if (code)
		return code;
	if (is_our_own(in))
		code = open_own(in, path, out, e);
	else
		code = open_input(in, path, NULL, out, e);
	input_close(in);
	return code;
}

enum neap_err exchange_parse(const void *data, size_t bytes, const char *name,
			     const struct exchange_options *o, struct profile **out, struct err *e)
{
	struct input *in;
	*out = NULL;
	enum neap_err code = input_open_memory(data, bytes, name, &in, e);
	if (code)
		return code;
	if (is_our_own(in))
		code = profile_parse(data, bytes, name, out, e);
	else
		code = open_input(in, name, o, out, e);
	input_close(in);
	return code;
}
