/* Looks at one directory, not below it. */
#include "config.h"

#include "src/cmd/find.h"

#include "src/base/buf.h"
#include "src/base/mem.h"
#include "src/cmd/cmd.h"
#include "src/exchange/exchange.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct best {
	char *name; /* NULL: none yet */
	struct timespec written;
};

static bool is_profile_name(const char *name)
{
	size_t bytes = strlen(name);
	return bytes > 5 && !strcmp(name + bytes - 5, ".neap") && name[0] != '.';
}

static bool is_newer(const struct best *best, const struct timespec *written, const char *name)
{
	if (!best->name)
		return true;
	if (written->tv_sec != best->written.tv_sec)
		return written->tv_sec > best->written.tv_sec;
	if (written->tv_nsec != best->written.tv_nsec)
		return written->tv_nsec > best->written.tv_nsec;
	return strcmp(name, best->name) > 0;
}

/* A file that vanishes while we look is none of ours. */
static enum neap_err consider(int dir_fd, const char *name, struct best *best, struct err *e)
{
	struct stat st;
	if (!is_profile_name(name) || fstatat(dir_fd, name, &st, 0) || !S_ISREG(st.st_mode) ||
	    !is_newer(best, &st.st_mtim, name))
		return NEAP_OK;
	char *copy = mem_strdup(name);
	if (!copy)
		return err_nomem(e, "a file name");
	mem_free(best->name);
	best->name = copy;
	best->written = st.st_mtim;
	return NEAP_OK;
}

static enum neap_err scan(DIR *d, const char *dir, struct best *best, struct err *e)
{
	for (;;) {
		errno = 0;
		struct dirent *entry = readdir(d);
		if (!entry)
			return errno ? err_sys(e, errno, "read directory", dir) : NEAP_OK;
		enum neap_err code = consider(dirfd(d), entry->d_name, best, e);
		if (code)
			return code;
	}
}

static enum neap_err join(const char *dir, const char *name, char **path_out, struct err *e)
{
	struct buf path = {0};
	if (strcmp(dir, ".") != 0)
		buf_printf(&path, "%s/", dir);
	buf_puts(&path, name);
	if (!path.has_failed)
		*path_out = mem_strdup(path.data);
	buf_release(&path);
	return *path_out ? NEAP_OK : err_nomem(e, "a file name");
}

enum neap_err newest_profile(const char *dir, char **path_out, struct err *e)
{
	*path_out = NULL;
	DIR *d = opendir(dir);
	if (!d)
		return err_sys(e, errno, "read directory", dir);
	struct best best = {0};
	enum neap_err code = scan(d, dir, &best, e);
	closedir(d);
	if (!code && !best.name)
		code = err_set(e, ERR_ABSENT,
			       "no *.neap file in '%s'; make one with: neap record PROGRAM", dir);
	if (!code)
		code = join(dir, best.name, path_out, e);
	mem_free(best.name);
	return code;
}

const char *profile_path(const char *name)
{
	return strcmp(name, "-") != 0 ? name : "/dev/stdin";
}

int profile_fail(const char *path, const struct err *e)
{
	bool is_pipe = !strcmp(path, "/dev/stdin");
	const char *title = e->code == ERR_FORMAT && !is_pipe ? exchange_title(path) : NULL;
	int status = cmd_fail_to_read(e);
	if (title)
		fprintf(stderr, "neap: it comes from %s; neap import makes a profile of it\n",
			title);
	return status;
}
