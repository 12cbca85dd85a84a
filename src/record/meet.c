/*
 * Where target and recorder meet: a Unix socket in a directory that only this user
 * may enter, and the peer's uid is checked on top.
 *
 * The programs of root may change their user before they first allocate, or start others as
 * another user.  So root's directory may be passed through by all but not listed, and the
 * socket's name, which only those know who inherited it, is a secret instead.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SECRET_BYTES   12
#define FILTER_DIGITS  3
#define MOST_FILTERS   1000u /* of FILTER_DIGITS digits */
#define HELLO_WAIT_NS  (5 * NS_PER_S)
#define HELLO_NEEDS_NS 200000000ull /* to say hello after connecting, at most, as a rule */
#define BACKLOG        512

/* ---- directory and socket ------------------------------------------------------ */

static bool is_for_all_users(void)
{
	return geteuid() == 0;
}

static void release_buf_to(struct buf *b, char **out)
{
	*out = b->has_failed || !b->count_bytes ? NULL : mem_strdup(b->data);
	buf_release(b);
}

/* Make PARENT/neap-XXXXXX, if the socket's path then fits into an address. */
static bool make_dir(struct meeting *m, const char *parent)
{
	struct buf b = {0};
	char cwd[PATH_MAX];
	if (!parent || !*parent)
		return false;
	if (*parent != '/' && getcwd(cwd, sizeof cwd))
		buf_printf(&b, "%s/", cwd);
	buf_printf(&b, "%s/neap-XXXXXX", parent);
	release_buf_to(&b, &m->dir);
	const size_t most =
		sizeof((struct sockaddr_un){0}).sun_path - 2 * SECRET_BYTES - FILTER_DIGITS - 3;
	if (m->dir && strlen(m->dir) <= most && mkdtemp(m->dir))
		return true;
	mem_free(m->dir);
	m->dir = NULL;
	return false;
}

static enum neap_err listen_at(struct meeting *m, struct err *e)
{
	struct buf b = {0};
	uint8_t secret[SECRET_BYTES];
	if (getrandom(secret, sizeof secret, 0) != (ssize_t)sizeof secret)
		return err_sys(e, errno, "get random bytes for", "the socket's name");
	buf_printf(&b, "%s/", m->dir);
	for (size_t i = 0; i < sizeof secret; i++)
		buf_printf(&b, "%02x", secret[i]);
	uint32_t filters = filters_of(getpid());
	if (filters < MOST_FILTERS)
		buf_printf(&b, "%c%u", NC_FILTERS_MARK, filters);
	release_buf_to(&b, &m->path);
	if (!m->path)
		return err_nomem(e, "the socket's path");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	memcpy(addr.sun_path, m->path, strlen(m->path) + 1);
	m->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->fd < 0 || bind(m->fd, (const void *)&addr, sizeof addr) || listen(m->fd, BACKLOG))
		return err_sys(e, errno, "listen at", m->path);
	if (is_for_all_users() && (chmod(m->path, 0666) || chmod(m->dir, 0711)))
		return err_sys(e, errno, "open for other users", m->path);
	return NEAP_OK;
}

enum neap_err meeting_init(struct meeting *m, struct err *e)
{
	*m = (struct meeting){.fd = -1, .epoll_fd = -1};
	m->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* Other users cannot get into the first. */
	const char *own = is_for_all_users() ? NULL : getenv("XDG_RUNTIME_DIR");
	if (!make_dir(m, own) && !make_dir(m, getenv("TMPDIR")) && !make_dir(m, "/tmp")) {
		err_sys(e, errno, "make a directory in", "/tmp");
		return err_context(e, "no place for the socket");
	}
	return listen_at(m, e);
}

void meeting_release(struct meeting *m)
{
	for (size_t i = 0; i < m->pending_count; i++)
		close(m->pending[i].fd);
	if (m->fd >= 0)
		close(m->fd);
	if (m->path)
		unlink(m->path);
	if (m->link)
		unlink(m->link);
	if (m->dir)
		rmdir(m->dir);
	mem_free(m->path);
	mem_free(m->link);
	mem_free(m->dir);
	if (m->spare_fd >= 0)
		close(m->spare_fd);
	*m = (struct meeting){.fd = -1, .epoll_fd = -1, .spare_fd = -1};
}

enum neap_err meeting_collector(struct meeting *m, const char *collector, const char **out,
				struct err *e)
{
	*out = collector;
	if (!strpbrk(collector, " :$"))
		return NEAP_OK;
	struct buf b = {0};
	buf_printf(&b, "%s/libneap-collector.so", m->dir);
	release_buf_to(&b, &m->link);
	if (!m->link)
		return err_nomem(e, "the collector's path");
	if (symlink(collector, m->link))
		return err_sys(e, errno, "link", m->link);
	*out = m->link;
	return NEAP_OK;
}

/* ---- hello ----------------------------------------------------------------------- */

static void forget_pending(struct meeting *m, size_t i)
{
	m->pending[i] = m->pending[--m->pending_count];
}

/* No descriptor is left: accept and close, so that the process does not wait for an answer. */
static bool turn_away(struct meeting *m)
{
	if (m->spare_fd < 0)
		return false;
	close(m->spare_fd);
	int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	m->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	m->away_count += fd >= 0;
	return fd >= 0;
}

/* Who has waited longest without a word, and longer than anybody needs; pending_count: nobody. */
static size_t find_silent(const struct meeting *m, uint64_t now)
{
	size_t found = m->pending_count;
	uint64_t least = now + HELLO_WAIT_NS - HELLO_NEEDS_NS;
	for (size_t i = 0; i < m->pending_count; i++) {
		char byte;
		ssize_t n = recv(m->pending[i].fd, &byte, 1, MSG_PEEK);
		bool is_silent = n < 0 && (errno == EAGAIN || errno == EINTR);
		if (!is_silent || m->pending[i].until_ns >= least)
			continue;
		found = i;
		least = m->pending[i].until_ns;
	}
	return found;
}

/* False: there is no room for one more, until somebody of them was heard. */
static bool make_room(struct meeting *m, uint64_t now)
{
	size_t i = m->pending_count < MEET_PENDING ? m->pending_count : find_silent(m, now);
	if (i < m->pending_count) {
		close(m->pending[i].fd);
		forget_pending(m, i);
	}
	return m->pending_count < MEET_PENDING;
}

void meeting_accept(struct meeting *m, uint64_t now)
{
	while (make_room(m, now)) {
		int fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno == EMFILE && turn_away(m))
			continue;
		if (fd < 0)
			return;
		m->pending[m->pending_count++] = (struct pending){fd, now + HELLO_WAIT_NS};
		struct epoll_event ev = {.events = EPOLLIN, .data.u64 = TAG_PENDING};
		if (m->epoll_fd >= 0)
			epoll_ctl(m->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
	}
}

/* Who is at the other end, if it may be one of our own. */
static bool read_peer(int fd, pid_t *pid_out)
{
	struct ucred cred;
	socklen_t bytes = sizeof cred;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &bytes))
		return false;
	*pid_out = cred.pid;
	return (cred.uid == geteuid() || is_for_all_users()) && cred.pid > 0;
}

enum heard {
	HEARD_NOTHING,
	HEARD_HELLO,
	HEARD_NOISE
};

static enum heard hear(int fd, struct hello *out)
{
	*out = (struct hello){.fd = fd};
	ssize_t n = recv(fd, &out->text, sizeof out->text, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return HEARD_NOTHING;
	if (n < (ssize_t)(sizeof out->text.magic + sizeof out->text.version) ||
	    out->text.magic != NC_HELLO_MAGIC || !read_peer(fd, &out->pid))
		return HEARD_NOISE;
	out->is_wrong_version = out->text.version != NC_VERSION;
	return n == (ssize_t)sizeof out->text || out->is_wrong_version ? HEARD_HELLO : HEARD_NOISE;
}

bool meeting_next(struct meeting *m, uint64_t now, struct hello *out)
{
	for (size_t i = 0; i < m->pending_count;) {
		struct pending *p = &m->pending[i];
		enum heard heard = hear(p->fd, out);
		if (heard == HEARD_HELLO) {
			forget_pending(m, i);
			return true;
		}
		if (heard == HEARD_NOTHING && now < p->until_ns) {
			i++;
			continue;
		}
		close(p->fd);
		forget_pending(m, i);
	}
	return false;
}

bool meeting_answer(struct hello *h, int memfd)
{
	struct nc_welcome welcome = {
		.magic = NC_HELLO_MAGIC, .version = NC_VERSION, .accepted = memfd >= 0};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	memset(&control, 0, sizeof control);
	struct iovec iov = {&welcome, sizeof welcome};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	if (memfd >= 0) {
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &memfd, sizeof memfd);
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof control.bytes;
	}
	bool is_sent = sendmsg(h->fd, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof welcome;
	close(h->fd);
	h->fd = -1;
	return is_sent;
}
