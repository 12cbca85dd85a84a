/* A temporary in the same directory, then rename; symbolic links are followed. */
#include "config.h"

#include "src/cmd/save.h"

#include "src/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(fd, data, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

static enum neap_err write_directly(const char *path, const char *data, size_t bytes, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, errno, "write", path);
	int error = write_all(fd, data, bytes);
	if (close(fd) && !error)
		error = errno;
	return error ? err_sys(e, error, "write", path) : NEAP_OK;
}

/* As open() would have made it, or as the file that is replaced was. */
static mode_t mode_for(const struct stat *old)
{
	mode_t mask = umask(0);
	umask(mask);
	return old ? old->st_mode & 07777 : 0666 & ~mask;
}

static enum neap_err replace(const char *path, mode_t mode, const char *data, size_t bytes,
			     struct err *e)
{
	struct buf temporary = {0};
	buf_printf(&temporary, "%s.XXXXXX", path);
	if (temporary.has_failed)
		return err_nomem(e, "a file name");
	int error = 0, fd = mkstemp(temporary.data);
	if (fd < 0) {
		error = errno;
	} else {
		error = write_all(fd, data, bytes);
		if (!error && fchmod(fd, mode))
			error = errno;
		if (close(fd) && !error)
			error = errno;
		if (!error && rename(temporary.data, path))
			error = errno;
		if (error)
			unlink(temporary.data);
	}
	buf_release(&temporary);
	return error ? err_sys(e, error, "write", path) : NEAP_OK;
}

enum neap_err save_file(const char *path, const char *data, size_t bytes, struct err *e)
{
	struct stat st;
	bool exists = !stat(path, &st);
	if (exists && !S_ISREG(st.st_mode))
		return write_directly(path, data, bytes, e);
	char *target = exists ? realpath(path, NULL) : NULL;
	enum neap_err code =
		replace(target ? target : path, mode_for(exists ? &st : NULL), data, bytes, e);
	free(target); /* libc free: realpath allocated it */
	return code;
}
