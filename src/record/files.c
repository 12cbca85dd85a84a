/*
 * Names of profile files.  A file that exists is never written over, unless the user
 * said so, and never one of this recording: the next free number is used instead.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PART_BYTES      100u /* of a program or host in a name */
#define SUFFIX          ".neap"
#define DEFAULT_PATTERN "%n.%p" SUFFIX
#define MOST_NUMBER     99999u

static bool is_directory(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static enum neap_err check_pattern(const char *pattern, struct err *e)
{
	if (!*pattern)
		return err_set(e, ERR_USAGE, "the name of the output file is empty");
	for (const char *s = pattern; *s; s++) {
		if (*s != '%')
			continue;
		s++;
		if (!*s || !strchr("pnht%", *s))
			return err_set(
				e, ERR_USAGE,
				"'%s': after %% comes one of p (pid), n (program), h (host), t "
				"(time) or %%",
				pattern);
	}
	return NEAP_OK;
}

enum neap_err namer_init(struct namer *n, const struct record_options *o, struct err *e)
{
	*n = (struct namer){.wants_overwrite = o->wants_overwrite, .start_unix_ns = now_unix_ns()};
	if (gethostname(n->host, sizeof n->host - 1))
		n->host[0] = '\0';
	const char *pattern = o->output ? o->output : DEFAULT_PATTERN;
	enum neap_err err = check_pattern(pattern, e);
	if (err)
		return err;
	struct buf b = {0};
	buf_puts(&b, pattern);
	if (is_directory(pattern))
		buf_puts(&b, pattern[strlen(pattern) - 1] == '/' ? DEFAULT_PATTERN
								 : "/" DEFAULT_PATTERN);
	n->pattern = b.has_failed ? NULL : mem_strdup(b.data);
	buf_release(&b);
	return n->pattern ? NEAP_OK : err_nomem(e, "the name of the output file");
}

void namer_release(struct namer *n)
{
	mem_free(n->pattern);
	strtab_release(&n->taken);
}

/*
 * A part of a file name: no slash, and not too long, as the names of programs that write over
 * their arguments to change their title may be.
 */
static void put_part(struct buf *b, const char *s)
{
	size_t bytes = strlen(s);
	if (bytes > PART_BYTES)
		for (bytes = PART_BYTES; bytes && ((unsigned char)s[bytes] & 0xc0) == 0x80;)
			bytes--; /* no half characters */
	for (size_t i = 0; i < bytes; i++)
		buf_putc(b, s[i] == '/' || (unsigned char)s[i] < ' ' ? '_' : s[i]);
}

static void put_time(struct buf *b, uint64_t unix_ns)
{
	time_t t = (time_t)(unix_ns / NS_PER_S);
	struct tm tm;
	char text[32] = "";
	if (localtime_r(&t, &tm))
		strftime(text, sizeof text, "%Y%m%d-%H%M%S", &tm);
	buf_puts(b, text);
}

static bool expand(const struct namer *n, const char *program, uint32_t pid, struct buf *out)
{
	bool has_pid = false;
	for (const char *s = n->pattern; *s; s++) {
		if (*s != '%') {
			buf_putc(out, *s);
			continue;
		}
		switch (*++s) {
		case 'p':
			buf_printf(out, "%u", pid);
			has_pid = true;
			break;
		case 'n':
			put_part(out, program);
			break;
		case 'h':
			put_part(out, n->host);
			break;
		case 't':
			put_time(out, n->start_unix_ns);
			break;
		default:
			buf_putc(out, '%');
		}
	}
	return has_pid;
}

static size_t stem_bytes(const char *name)
{
	size_t bytes = strlen(name), suffix = strlen(SUFFIX);
	return bytes > suffix && !strcmp(name + bytes - suffix, SUFFIX) ? bytes - suffix : bytes;
}

/* NAME.NUMBER.neap */
static void put_numbered(struct buf *out, const char *name, uint32_t number)
{
	size_t stem = stem_bytes(name);
	buf_clear(out);
	buf_put(out, name, stem);
	buf_printf(out, ".%u", number);
	buf_puts(out, name + stem);
}

/* Descriptor, or -1 with errno. */
static int open_new(struct namer *n, const char *path, struct output *out)
{
	struct stat st;
	bool is_ours = strtab_find(&n->taken, path, strlen(path)) != UINT32_MAX;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST && !stat(path, &st) && !S_ISREG(st.st_mode)) {
		out->is_regular = false;
		return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	}
	if (fd < 0 && errno == EEXIST && n->wants_overwrite && !is_ours) {
		/* Made new: somebody may have the old one open. */
		if (unlink(path))
			return -1;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	out->is_regular = fd >= 0;
	if (fd >= 0)
		strtab_add(&n->taken, path, strlen(path));
	return fd;
}

static enum neap_err open_free_name(struct namer *n, const char *name, struct output *out,
				    struct err *e)
{
	struct buf numbered = {0};
	const char *path = name;
	out->fd = open_new(n, path, out);
	for (uint32_t i = 1; out->fd < 0 && errno == EEXIST && i <= MOST_NUMBER; i++) {
		put_numbered(&numbered, name, i);
		if (numbered.has_failed)
			break;
		path = numbered.data;
		out->fd = open_new(n, path, out);
	}
	int errnum = errno;
	enum neap_err err = NEAP_OK;
	if (out->fd < 0)
		err = err_sys(e, errnum, "create", path);
	else if (!(out->path = mem_strdup(path))) {
		err = err_nomem(e, "the name of the output file");
		if (out->is_regular)
			unlink(path); /* nobody else will know it */
	} else if (path != name && strtab_find(&n->taken, name, strlen(name)) == UINT32_MAX)
		out->kept_path = mem_strdup(name);
	buf_release(&numbered);
	return err;
}

enum neap_err namer_open(struct namer *n, const char *program, uint32_t pid, bool is_extra,
			 struct output *out, struct err *e)
{
	*out = (struct output){.fd = -1};
	struct buf name = {0}, with_pid = {0};
	bool has_pid = expand(n, program, pid, &name);
	if (is_extra && !has_pid && !name.has_failed)
		put_numbered(&with_pid, name.data, pid);
	enum neap_err err;
	if (name.has_failed || with_pid.has_failed)
		err = err_nomem(e, "the name of the output file");
	else
		err = open_free_name(n, with_pid.count_bytes ? with_pid.data : name.data, out, e);
	buf_release(&name);
	buf_release(&with_pid);
	if (err)
		output_discard(out);
	return err;
}

void output_discard(struct output *o)
{
	if (o->is_regular && o->path)
		unlink(o->path);
	output_release(o);
}

void output_release(struct output *o)
{
	if (o->fd >= 0)
		close(o->fd);
	mem_free(o->path);
	mem_free(o->kept_path);
	*o = (struct output){.fd = -1};
}
