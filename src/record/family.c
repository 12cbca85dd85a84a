/*
 * The processes of a recording, the program and its children: greeted when their collectors say
 * hello, finished when they end or become other programs.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTICE_EXEC_NS (50 * NS_PER_MS) /* between looks at what the program is */

/* ---- hellos -------------------------------------------------------------------------- */

static struct process *find(struct recorder *r, pid_t pid, size_t *at_out)
{
	for (size_t i = 0; i < r->process_count; i++) {
		if (r->processes[i]->pid == pid) {
			*at_out = i;
			return r->processes[i];
		}
	}
	return NULL;
}

/* Finish the process at an index and take it off the list. */
static void finish(struct recorder *r, size_t at, struct profile_end end, uint64_t now)
{
	struct process *p = r->processes[at];
	r->processes[at] = r->processes[--r->process_count];
	end.time_ns = now > p->base_ns ? now - p->base_ns : 0;
	if (!end.reason)
		end.reason = "";
	process_finish(p, &end);
}

static void decline(struct recorder *r, struct hello *h, const struct err *e)
{
	if (e && ++r->declined_count <= MOST_DECLINED_SAID)
		speaker_say(&r->speaker, "process %d is not recorded: %s", (int)h->pid, e->text);
	meeting_answer(h, -1);
}

void family_say_kept(struct recorder *r, struct output *o)
{
	if (o->kept_path)
		speaker_say(&r->speaker,
			    "'%s' exists and is kept; writing '%s' (--force replaces it)",
			    o->kept_path, o->path);
	mem_free(o->kept_path);
	o->kept_path = NULL;
}

enum neap_err family_meet(struct recorder *r, struct hello *h, bool is_exec, struct process **out,
			  struct err *e)
{
	bool is_child = h->pid == r->child.pid;
	struct newcomer n = {
		.pid = h->pid,
		.seen_pid = h->text.pid,
		.ppid = h->text.ppid,
		.is_forked = h->text.is_forked == 1,
		.is_exec = is_exec,
		.is_first = is_child && r->has_first_output,
		.pidfd = -1,
		.output = {.fd = -1},
	};
	if (!is_child) {
		n.pidfd = (int)syscall(SYS_pidfd_open, h->pid, 0);
		if (n.pidfd < 0 && errno == ESRCH)
			return err_set(e, ERR_ABSENT, "it ended before neap had answered it");
		if (n.pidfd < 0)
			return err_sys(e, errno, "watch", "the process");
	}
	if (n.is_first) {
		n.output = r->first_output;
		n.program = path_base(r->options->argv[0]);
		r->first_output = (struct output){.fd = -1};
		r->has_first_output = false;
	}
	enum neap_err err = process_new(r, &n, out, e);
	if (!err && !is_child)
		recorder_watch(r, (*out)->pidfd, (uint64_t)h->pid << TAG_BITS | TAG_PROCESS);
	return err;
}

static void read_exe(const struct recorder *r, struct exe *out)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)r->child.pid);
	ssize_t n = readlink(path, out->path, sizeof out->path - 1);
	out->path[n > 0 ? n : 0] = '\0';
	bool is_known = !stat(path, &st);
	out->device = is_known ? st.st_dev : 0;
	out->inode = is_known ? st.st_ino : 0;
}

/* A program whose file is renamed, deleted or replaced has another path, and is still that file. */
static bool is_another(const struct exe *a, const struct exe *b)
{
	bool is_same_file = a->inode && a->inode == b->inode && a->device == b->device;
	return a->path[0] && b->path[0] && strcmp(a->path, b->path) != 0 && !is_same_file;
}

static void greet(struct recorder *r, struct hello *h, uint64_t now)
{
	struct process *p;
	struct err e;
	size_t at;
	bool is_child = h->pid == r->child.pid;
	r->has_connected |= is_child;
	if (h->is_wrong_version) {
		err_set(&e, ERR_UNSUPPORTED,
			"its collector is of another version of neap (%u, not %u)", h->text.version,
			NC_VERSION);
		decline(r, h, &e);
		return;
	}
	if ((r->options->has_no_children && !is_child) || (is_child && r->child_has_ended)) {
		decline(r, h, NULL);
		return;
	}
	bool is_running = find(r, h->pid, &at) != NULL;
	bool is_exec = is_running || (is_child && !r->has_first_output);
	if (is_running)
		finish(r, at, (struct profile_end){.kind = END_EXEC}, now);
	if (!vec_reserve((void **)&r->processes, &r->process_cap, r->process_count + 1,
			 sizeof r->processes[0])) {
		err_nomem(&e, "a process");
		decline(r, h, &e);
		return;
	}
	if (family_meet(r, h, is_exec, &p, &e)) {
		decline(r, h, &e);
		return;
	}
	r->processes[r->process_count++] = p;
	r->process_all_count++;
	if (is_child) {
		read_exe(r, &r->child_exe);
		r->unseen_exe[0] = '\0';
	}
	p->next_tick_ns = process_tick(p, now_ns());
	meeting_answer(h, p->region.fd);
	region_close_fd(&p->region);
	family_say_kept(r, &p->output);
}

void family_greet(struct recorder *r, uint64_t now)
{
	struct hello h;
	bool has_greeted;
	do { /* more may wait than are accepted at once */
		has_greeted = false;
		meeting_accept(&r->meeting, now);
		while (meeting_next(&r->meeting, now, &h)) {
			greet(r, &h, now);
			has_greeted = true;
		}
	} while (has_greeted);
}

/* ---- ends -------------------------------------------------------------------------- */

/*
 * Did the child end as another program than the one that said hello?  Then its name is another, and
 * it never came to its exit handlers.  For programs that are too short for notice_exec.
 */
static bool ended_as_another(const struct process *p, const char *comm)
{
	bool has_exited = __atomic_load_n(&p->region.header->has_exited, __ATOMIC_RELAXED);
	return !has_exited && p->comm[0] && comm[0] && strcmp(p->comm, comm) != 0;
}

void family_end_program(struct recorder *r, uint64_t now)
{
	int status;
	size_t at;
	pid_t pid;
	char comm[sizeof((struct process *)0)->comm];
	process_comm(r->child.pid, comm, sizeof comm); /* gone after waitpid */
	do
		pid = waitpid(r->child.pid, &status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid != r->child.pid)
		return;
	r->child_has_ended = true;
	r->child_wait_status = status;
	epoll_ctl(r->epoll_fd, EPOLL_CTL_DEL, r->child.pidfd, NULL);
	struct profile_end end = {.has_status = true};
	end.kind = WIFSIGNALED(status) ? END_SIGNALED : END_EXITED;
	end.status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	if (!find(r, pid, &at))
		return;
	if (end.kind == END_EXITED && ended_as_another(r->processes[at], comm)) {
		snprintf(r->unseen_exe, sizeof r->unseen_exe, "%s", comm);
		end = (struct profile_end){.kind = END_EXEC};
	}
	finish(r, at, end, now);
}

void family_end_child(struct recorder *r, pid_t pid, uint64_t now)
{
	size_t at;
	if (find(r, pid, &at) && r->processes[at]->pidfd >= 0)
		finish(r, at, (struct profile_end){.kind = END_EXITED}, now);
}

static bool has_died(const struct process *p)
{
	struct pollfd fd = {.fd = p->pidfd, .events = POLLIN};
	return p->pidfd >= 0 && poll(&fd, 1, 0) == 1;
}

void family_end_all(struct recorder *r)
{
	while (r->process_count) {
		struct profile_end end = {.kind = END_EXITED};
		if (!has_died(r->processes[r->process_count - 1]))
			end = (struct profile_end){.kind = END_STOPPED,
						   .reason = "the recording ended first"};
		finish(r, r->process_count - 1, end, now_ns());
	}
}

void family_notice_exec(struct recorder *r, uint64_t now)
{
	size_t at;
	if (now - r->noticed_exec_ns < NOTICE_EXEC_NS || r->child_has_ended)
		return;
	r->noticed_exec_ns = now;
	if (!find(r, r->child.pid, &at))
		return;
	struct exe exe;
	read_exe(r, &exe);
	if (!is_another(&exe, &r->child_exe))
		return;
	snprintf(r->unseen_exe, sizeof r->unseen_exe, "%s", exe.path);
	finish(r, at, (struct profile_end){.kind = END_EXEC}, now);
}
