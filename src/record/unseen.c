/*
 * Children that the collector never gets into: started with a cleared environment, or static programs.
 *
 * They say no hello, so a few recorded processes at a time are asked for their children, and a child of
 * which nothing was heard is looked at.  Only what is certain is said: it runs another file than its
 * parent, and what it was started with lacks our variables, or no library can be preloaded into
 * it.  What has ended between two looks is not noticed.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_NS        (100 * NS_PER_MS)
#define PARENTS        4u  /* asked at a time, */
#define THREADS        32u /* with so many threads, */
#define CHILDREN       32u /* and so many children looked at */
#define ENVIRONMENT_KB 1024u

/* Does a process run another file than the one that p said hello with? */
static bool runs_another(const struct process *p, pid_t pid)
{
	char path[64];
	struct stat own, its;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	return p->exe_fd >= 0 && !fstat(p->exe_fd, &own) && !stat(path, &its) &&
	       (own.st_dev != its.st_dev || own.st_ino != its.st_ino);
}

/* Was it started without our variables?  False if that cannot be read, as when it has ended. */
static bool lacks_variables(const struct recorder *r, pid_t pid)
{
	static const char preload[] = "\0LD_PRELOAD=";
	char path[64], chunk[4096];
	struct buf all = {0}, wanted = {0};
	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;
	buf_putc(&all, '\0');
	while (fd >= 0 && all.count_bytes < ENVIRONMENT_KB * 1024u &&
	       (n = read(fd, chunk, sizeof chunk)) > 0)
		buf_put(&all, chunk, (size_t)n);
	if (fd >= 0)
		close(fd);
	buf_putc(&wanted, '\0');
	buf_printf(&wanted, "NEAP_SOCKET=%s", r->meeting.path);
	bool has_both = memmem(all.data, all.count_bytes, wanted.data, wanted.count_bytes) &&
			memmem(all.data, all.count_bytes, preload, sizeof preload - 1);
	bool is_known = n == 0 && !all.has_failed && !wanted.has_failed;
	buf_release(&all);
	buf_release(&wanted);
	return is_known && !has_both;
}

/*
 * Was it seen like this at the last look too?  A process in the middle of execve may look like anything.
 * True once for each process.
 */
static bool is_second_time(struct unseen *u, pid_t pid)
{
	for (size_t i = 0; i < UNSEEN_KEPT; i++) {
		if (u->kept[i].pid == pid)
			return ++u->kept[i].count == 2;
	}
	u->kept[u->kept_next++ % UNSEEN_KEPT] = (struct unseen_child){pid, 1};
	return false;
}

static void say(struct recorder *r, pid_t pid, const char *exe, const char *why)
{
	if (++r->declined_count <= MOST_DECLINED_SAID)
		speaker_say(&r->speaker, "process %d is not recorded: '%s' %s", (int)pid, exe, why);
}

/* Such a process does not connect: collector/filters.c. */
static bool has_more_filters(pid_t pid)
{
	uint32_t own = filters_of(getpid()), its = filters_of(pid);
	return own != NC_FILTERS_UNKNOWN && its != NC_FILTERS_UNKNOWN && its > own;
}

/* pid: a child of p, or p itself, which may be another program by now. */
static void judge(struct recorder *r, const struct process *p, pid_t pid)
{
	char path[64], exe[PATH_MAX];
	struct err e;
	if (!runs_another(p, pid))
		return;
	bool lacks = lacks_variables(r, pid);
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, exe, sizeof exe - 1);
	if (n <= 0) /* it has ended */
		return;
	exe[n] = '\0';
	const char *why = NULL;
	if (lacks)
		why = "was started without LD_PRELOAD and NEAP_SOCKET in its environment";
	else if (record_check_target(path, NULL, &e) == ERR_UNSUPPORTED)
		why = "is static, or of a kind that ignores preloading";
	else if (has_more_filters(pid))
		why = "was started under a seccomp filter that might forbid it to make a socket";
	if (why && is_second_time(&r->unseen, pid))
		say(r, pid, exe, why);
}

static bool is_recorded(const struct recorder *r, pid_t pid)
{
	for (size_t i = 0; i < r->process_count; i++) {
		if (r->processes[i]->pid == pid)
			return true;
	}
	return false;
}

/* Children of one thread. */
static void look_at_thread(struct recorder *r, const struct process *p, const char *tid,
			   unsigned *left)
{
	char path[96], text[4096], *at = text;
	snprintf(path, sizeof path, "/proc/%d/task/%.16s/children", (int)p->pid, tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (char *end; *left; at = end) {
		long pid = strtol(at, &end, 10);
		if (end == at || *end != ' ') /* a number at the end may be cut */
			break;
		if (is_recorded(r, (pid_t)pid))
			continue;
		judge(r, p, (pid_t)pid);
		--*left;
	}
}

static void look_at(struct recorder *r, const struct process *p)
{
	char path[64];
	unsigned children = CHILDREN;
	if (p->pid != r->child.pid) /* for that one see notice_exec */
		judge(r, p, p->pid);
	snprintf(path, sizeof path, "/proc/%d/task", (int)p->pid);
	DIR *dir = opendir(path);
	const struct dirent *d;
	for (unsigned i = 0; dir && i < THREADS + 2 && (d = readdir(dir)); i++) {
		if (d->d_name[0] != '.')
			look_at_thread(r, p, d->d_name, &children);
	}
	if (dir)
		closedir(dir);
}

void unseen_look(struct recorder *r, uint64_t now)
{
	struct unseen *u = &r->unseen;
	if (now - u->looked_ns < LOOK_NS || r->options->has_no_children)
		return;
	u->looked_ns = now;
	size_t count = r->process_count < PARENTS ? r->process_count : PARENTS;
	for (size_t i = 0; i < count; i++)
		look_at(r, r->processes[u->turn++ % r->process_count]);
}
