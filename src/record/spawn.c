/*
 * Starting the program.  The child is forked first and waits, so that its pid is known
 * before the output file is named and nothing has run if that fails.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND      127

/* ---- limits -------------------------------------------------------------------- */

/* The regions of many processes are mapped here: as much as is allowed.  Children get it as it was. */
static void lift(int what, struct rlimit *saved)
{
	if (getrlimit(what, saved))
		return;
	struct rlimit all = {saved->rlim_max, saved->rlim_max};
	setrlimit(what, &all);
}

void limits_lift(struct saved_limits *saved)
{
	lift(RLIMIT_AS, &saved->as);
	lift(RLIMIT_NOFILE, &saved->nofile);
}

/* ---- finding ------------------------------------------------------------------------ */

static bool is_program(const char *path, int *errnum)
{
	struct stat st;
	if (stat(path, &st)) {
		if (errno != ENOENT && errno != ENOTDIR)
			*errnum = errno;
		return false;
	}
	if (S_ISDIR(st.st_mode)) {
		*errnum = EISDIR;
		return false;
	}
	if (access(path, X_OK)) {
		*errnum = errno;
		return false;
	}
	return true;
}

static enum neap_err not_found(const char *prog, int errnum, int *status_out, struct err *e)
{
	*status_out = errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	if (errnum == ENOENT && strchr(prog, '/'))
		return err_set(e, ERR_ABSENT, "there is no program '%s'", prog);
	if (errnum == ENOENT)
		return err_set(e, ERR_ABSENT, "there is no program '%s' in PATH", prog);
	if (errnum == EACCES)
		return err_set(e, ERR_IO, "'%s' is not executable (permission denied)", prog);
	if (errnum == EISDIR)
		return err_set(e, ERR_IO, "'%s' is a directory, not a program", prog);
	return err_sys(e, errnum, "execute", prog);
}

static char *join(const char *dir, size_t dir_bytes, const char *name)
{
	struct buf b = {0};
	if (dir_bytes) {
		buf_put(&b, dir, dir_bytes);
		buf_putc(&b, '/');
	}
	buf_puts(&b, name);
	char *path = b.has_failed ? NULL : mem_strdup(b.data);
	buf_release(&b);
	return path;
}

enum neap_err spawn_find(const char *prog, char **path_out, int *status_out, struct err *e)
{
	int errnum = ENOENT;
	*path_out = NULL;
	if (strchr(prog, '/')) {
		if (!is_program(prog, &errnum))
			return not_found(prog, errnum, status_out, e);
		*path_out = mem_strdup(prog);
		return *path_out ? NEAP_OK : err_nomem(e, "the program's path");
	}
	const char *dirs = getenv("PATH");
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (const char *dir = dirs; *prog; dir++) {
		size_t bytes = strcspn(dir, ":");
		char *path = join(dir, bytes, prog);
		if (!path)
			return err_nomem(e, "the program's path");
		if (is_program(path, &errnum)) {
			*path_out = path;
			return NEAP_OK;
		}
		mem_free(path);
		dir += bytes;
		if (!*dir)
			break;
	}
	return not_found(prog, errnum, status_out, e);
}

/* ---- environment ------------------------------------------------------------------------ */

static bool is_variable(const char *entry, const char *name)
{
	size_t bytes = strlen(name);
	return !strncmp(entry, name, bytes) && entry[bytes] == '=';
}

struct environment {
	char **entries;
	struct buf preload, socket;
};

static void environment_release(struct environment *v)
{
	mem_free(v->entries);
	buf_release(&v->preload);
	buf_release(&v->socket);
}

static bool environment_build(struct environment *v, const struct spawn *s)
{
	size_t count = 0, kept = 0;
	const char *old = getenv("LD_PRELOAD");
	while (environ[count])
		count++;
	buf_printf(&v->preload, "LD_PRELOAD=%s", s->collector);
	if (old && *old)
		buf_printf(&v->preload, ":%s", old);
	buf_printf(&v->socket, "NEAP_SOCKET=%s", s->socket_path);
	v->entries = mem_zarray(count + 3, sizeof v->entries[0]);
	if (!v->entries || v->preload.has_failed || v->socket.has_failed)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!is_variable(environ[i], "LD_PRELOAD") &&
		    !is_variable(environ[i], "NEAP_SOCKET"))
			v->entries[kept++] = environ[i];
	}
	v->entries[kept++] = v->preload.data;
	v->entries[kept] = v->socket.data;
	return true;
}

/* ---- the child ------------------------------------------------------------------------------ */

static void write_int(int fd, int value)
{
	ssize_t n = write(fd, &value, sizeof value);
	(void)n; /* the reader sees the end of the pipe instead */
}

__attribute__((noreturn)) static void run_child(const struct spawn *s, char **envp, int go_fd,
						int error_fd)
{
	char go;
	ssize_t n;
	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(STATUS_NOT_FOUND);
	setrlimit(RLIMIT_AS, &s->limits->as);
	setrlimit(RLIMIT_NOFILE, &s->limits->nofile);
	sigprocmask(SIG_SETMASK, s->mask, NULL);
	execve(s->path, s->argv, envp);
	write_int(error_fd, errno);
	_exit(STATUS_NOT_FOUND);
}

static void close_pair(int fds[2])
{
	for (size_t i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

enum neap_err spawn_prepare(const struct spawn *s, struct spawned *out, struct err *e)
{
	*out = (struct spawned){.pid = -1, .pidfd = -1, .go_fd = -1, .error_fd = -1};
	struct environment env = {0};
	int go[2] = {-1, -1}, error[2] = {-1, -1};
	enum neap_err err = NEAP_OK;
	if (!environment_build(&env, s))
		err = err_nomem(e, "the program's environment");
	else if (pipe2(go, O_CLOEXEC) || pipe2(error, O_CLOEXEC) || (out->pid = fork()) < 0)
		err = err_sys(e, errno, "start", s->path);
	if (!err && out->pid == 0) {
		close(go[1]);
		close(error[0]);
		run_child(s, env.entries, go[0], error[1]);
	}
	environment_release(&env);
	if (err) {
		close_pair(go);
		close_pair(error);
		return err;
	}
	close(go[0]);
	close(error[1]);
	out->go_fd = go[1];
	out->error_fd = error[0];
	out->pidfd = (int)syscall(SYS_pidfd_open, out->pid, 0);
	if (out->pidfd < 0) {
		err = err_sys(e, errno, "watch", s->path);
		err_context(e, "Linux 5.3 or later is needed");
		spawn_cancel(out);
	}
	return err;
}

static void reap(struct spawned *s)
{
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = -1;
}

static void close_ends(struct spawned *s)
{
	if (s->go_fd >= 0)
		close(s->go_fd);
	if (s->error_fd >= 0)
		close(s->error_fd);
	s->go_fd = s->error_fd = -1;
}

void spawn_cancel(struct spawned *s)
{
	close_ends(s);
	if (s->pid > 0)
		reap(s);
	if (s->pidfd >= 0)
		close(s->pidfd);
	s->pidfd = -1;
}

enum neap_err spawn_go(struct spawned *s, const char *path, int *status_out, struct err *e)
{
	int errnum = 0;
	ssize_t n;
	if (write(s->go_fd, "g", 1) != 1 && errno != EPIPE) /* EPIPE: it was killed meanwhile */
		return err_sys(e, errno, "start", path);
	do
		n = read(s->error_fd, &errnum, sizeof errnum);
	while (n < 0 && errno == EINTR);
	close_ends(s);
	if (n != (ssize_t)sizeof errnum)
		return NEAP_OK;
	*status_out = errnum == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	if (errnum == ENOENT)
		return err_set(e, ERR_IO, "cannot start '%s': its interpreter does not exist",
			       path);
	return err_sys(e, errnum, "start", path);
}
