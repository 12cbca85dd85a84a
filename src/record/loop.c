/*
 * record_run: start the program, observe it and its children, end.
 *
 * One loop in one thread waits for signals, hellos, ends of processes and the next
 * tick.  Two kinds of threads help: one per process that serves its marks, and one
 * that finds names for processes that have ended.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOW_NS       (250 * NS_PER_MS)
#define IDLE_WAIT_NS  (500 * NS_PER_MS)
#define TICK_SLACK_NS (NS_PER_MS / 5)
#define NAMES_WAIT_MS 20 /* between looks at how far they are */
#define EVENTS        64

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t now_unix_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/* ---- messages ---------------------------------------------------------------- */

void speaker_say(struct speaker *s, const char *fmt, ...)
{
	char text[ERR_TEXT_BYTES + 256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&s->lock);
	if (s->sink && s->sink->message)
		s->sink->message(s->sink->context, text);
	pthread_mutex_unlock(&s->lock);
}

void speaker_say_broken(struct speaker *s, const struct err *e)
{
	pthread_mutex_lock(&s->lock);
	bool is_first = !s->has_said_broken;
	s->has_said_broken = true;
	pthread_mutex_unlock(&s->lock);
	if (is_first)
		speaker_say(s,
			    "recording stopped: %s; what was written before is kept, and the "
			    "program goes on",
			    e->text);
}

/* ---- events ----------------------------------------------------------------------------- */

bool recorder_watch(struct recorder *r, int fd, uint64_t tag)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = tag};
	return epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

/* ---- progress ------------------------------------------------------------------------------- */

static void measure(struct recorder *r, struct record_progress *out)
{
	*out = (struct record_progress){
		.alloc_count = r->ended_alloc_count,
		.snapshot_count = r->ended_snapshot_count,
		.peak_bytes = r->ended_peak_bytes,
		.process_count = r->process_count,
		.process_all_count = r->process_all_count,
		.naming_done_count = __atomic_load_n(&r->naming.done_count, __ATOMIC_RELAXED),
		.naming_all_count = __atomic_load_n(&r->naming.all_count, __ATOMIC_RELAXED),
	};
	for (size_t i = 0; i < r->process_count; i++) {
		struct process *p = r->processes[i];
		pthread_mutex_lock(&p->lock);
		out->alloc_count += p->alloc_count;
		out->snapshot_count += p->snapshot_count;
		pthread_mutex_unlock(&p->lock);
		out->live_bytes += region_live_bytes(&p->region);
		uint64_t peak = nc_peak_bytes(p->region.header);
		if (peak > out->peak_bytes)
			out->peak_bytes = peak;
	}
}

static void show(struct recorder *r, uint64_t now, enum record_phase phase)
{
	const struct record_sink *sink = r->speaker.sink;
	if (!sink || !sink->progress || now - r->shown_ns < SHOW_NS)
		return;
	struct record_progress progress;
	measure(r, &progress);
	progress.phase = phase;
	progress.elapsed_ns = now - r->start_ns;
	uint64_t since = now - r->shown_ns;
	if (r->shown_ns > r->start_ns && progress.alloc_count > r->shown_alloc_count)
		progress.allocs_per_s =
			(uint64_t)((double)(progress.alloc_count - r->shown_alloc_count) *
				   (double)NS_PER_S / (double)since);
	r->shown_alloc_count = progress.alloc_count;
	r->shown_ns = now;
	pthread_mutex_lock(&r->speaker.lock);
	sink->progress(sink->context, &progress);
	pthread_mutex_unlock(&r->speaker.lock);
}

/* ---- the loop ----------------------------------------------------------------------------------- */

static uint64_t next_wake_ns(const struct recorder *r, uint64_t now)
{
	uint64_t next = now + IDLE_WAIT_NS;
	for (size_t i = 0; i < r->process_count; i++) {
		if (r->processes[i]->next_tick_ns < next)
			next = r->processes[i]->next_tick_ns;
	}
	bool shows = r->speaker.sink && r->speaker.sink->progress;
	if (shows && r->shown_ns + SHOW_NS < next)
		next = r->shown_ns + SHOW_NS;
	return next > now ? next : now;
}

static int wait_events(struct recorder *r, struct epoll_event *events, uint64_t wait_ns)
{
	struct timespec t = {.tv_sec = (time_t)(wait_ns / NS_PER_S),
			     .tv_nsec = (long)(wait_ns % NS_PER_S)};
	long n = syscall(SYS_epoll_pwait2, r->epoll_fd, events, EVENTS, &t, NULL, 0);
	if (n < 0 && errno == ENOSYS) /* before Linux 5.11: milliseconds have to do */
		n = epoll_wait(r->epoll_fd, events, EVENTS,
			       (int)((wait_ns + NS_PER_MS - 1) / NS_PER_MS));
	return n > 0 ? (int)n : 0;
}

/* Deaths before hellos: a pid may have been given to a new process. */
static void handle_events(struct recorder *r, const struct epoll_event *events, int count,
			  uint64_t now)
{
	bool has_hellos = false;
	for (int i = 0; i < count; i++) {
		uint64_t tag = events[i].data.u64 & ((1u << TAG_BITS) - 1);
		if (tag == TAG_SIGNAL)
			signals_handle(r);
		else if (tag == TAG_CHILD)
			family_end_program(r, now);
		else if (tag == TAG_PROCESS)
			family_end_child(r, (pid_t)(events[i].data.u64 >> TAG_BITS), now);
		else
			has_hellos = true;
	}
	if (has_hellos || r->meeting.pending_count)
		family_greet(r, now);
}

static void tick_all(struct recorder *r, uint64_t now)
{
	for (size_t i = 0; i < r->process_count; i++) {
		struct process *p = r->processes[i];
		if (p->next_tick_ns <= now + TICK_SLACK_NS)
			p->next_tick_ns = process_tick(p, now);
	}
}

static bool is_over(const struct recorder *r)
{
	if (!r->child_has_ended)
		return false;
	return r->wants_stop || !r->options->wants_wait_all || !r->process_count;
}

static void observe(struct recorder *r)
{
	struct epoll_event events[EVENTS];
	while (!is_over(r)) {
		uint64_t now = now_ns();
		int count = wait_events(r, events, next_wake_ns(r, now) - now);
		now = now_ns();
		handle_events(r, events, count, now);
		family_notice_exec(r, now);
		unseen_look(r, now);
		tick_all(r, now);
		show(r, now, RECORD_RUNNING);
	}
	family_end_all(r);
}

static void wait_for_names(struct recorder *r)
{
	while (!naming_end(&r->naming)) {
		struct pollfd fds[] = {{.fd = r->signal_fd, .events = POLLIN},
				       {.fd = r->naming.ended_fd, .events = POLLIN}};
		poll(fds, 2, NAMES_WAIT_MS);
		signals_handle(r);
		if (r->wants_stop) {
			/* Asked twice: everything but names is in the files. */
			signal(SIGTERM, SIG_DFL);
			sigset_t term;
			sigemptyset(&term);
			sigaddset(&term, SIGTERM);
			kill(getpid(), SIGTERM);
			pthread_sigmask(SIG_UNBLOCK, &term, NULL);
		}
		show(r, now_ns(), RECORD_NAMING);
	}
}

/* ---- start ---------------------------------------------------------------------------------------- */

static enum neap_err open_events(struct recorder *r, struct err *e)
{
	sigset_t mask;
	signals_mask(&mask);
	r->has_old_mask = pthread_sigmask(SIG_BLOCK, &mask, &r->old_mask) == 0;
	r->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (r->signal_fd < 0 || r->epoll_fd < 0 || !recorder_watch(r, r->signal_fd, TAG_SIGNAL) ||
	    !recorder_watch(r, r->meeting.fd, TAG_LISTEN))
		return err_sys(e, errno, "wait for", "events");
	r->meeting.epoll_fd = r->epoll_fd;
	return NEAP_OK;
}

/* Better to hear of limits that are too small before the program starts. */
static enum neap_err try_region(struct err *e)
{
	struct region r;
	enum neap_err err = region_init(&r, e);
	region_release(&r);
	return err;
}

/* The program is forked and waits; its file is open. */
static enum neap_err prepare(struct recorder *r, const char *program, struct err *e)
{
	const char *preload;
	enum neap_err err = meeting_init(&r->meeting, e);
	if (!err)
		err = meeting_collector(&r->meeting, r->options->collector, &preload, e);
	if (!err)
		err = open_events(r, e);
	if (err)
		return err;
	struct spawn s = {
		.path = program,
		.argv = r->options->argv,
		.collector = preload,
		.socket_path = r->meeting.path,
		.mask = &r->old_mask,
		.limits = &r->limits,
	};
	limits_lift(&r->limits);
	err = try_region(e);
	if (err)
		return err;
	err = spawn_prepare(&s, &r->child, e);
	if (err)
		return err;
	/* Only now, so that the program has them as they were. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	signal(SIGCHLD, SIG_DFL); /* if it is ignored, nobody learns how the program ended */
	err = namer_open(&r->namer, path_base(r->options->argv[0]), (uint32_t)r->child.pid, false,
			 &r->first_output, e);
	r->has_first_output = !err;
	if (!err && !recorder_watch(r, r->child.pidfd, TAG_CHILD))
		err = err_sys(e, errno, "watch", program);
	return err;
}

static int exit_status(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Killed before it could say hello: a profile without blocks, which says how it ended. */
static void write_empty(struct recorder *r)
{
	struct hello h = {.fd = -1, .pid = r->child.pid};
	struct process *p;
	struct err e;
	h.text.pid = (uint32_t)h.pid;
	h.text.ppid = (uint32_t)getpid();
	if (family_meet(r, &h, false, &p, &e)) {
		speaker_say(&r->speaker, "no profile of '%s': %s", r->options->argv[0], e.text);
		return;
	}
	r->process_all_count++;
	struct profile_end end = {.kind = END_SIGNALED,
				  .has_status = true,
				  .status = WTERMSIG(r->child_wait_status),
				  .time_ns = now_ns() - p->base_ns,
				  .reason = ""};
	family_say_kept(r, &p->output);
	process_finish(p, &end);
}

/* Why there is no profile where the user expects one. */
static void say_if_unseen(struct recorder *r)
{
	const char *program = r->options->argv[0];
	if (r->has_first_output && WIFSIGNALED(r->child_wait_status)) {
		speaker_say(&r->speaker, "'%s' was ended by signal %d before it allocated anything",
			    program, WTERMSIG(r->child_wait_status));
		write_empty(r);
		return;
	}
	const char *unseen = r->has_connected ? r->unseen_exe : program;
	if (!*unseen)
		return;
	speaker_say(&r->speaker,
		    "'%s' was not seen by the collector, so there is no profile of it: %sit may be "
		    "a static or set-user-id program, run under a seccomp filter, or without "
		    "LD_PRELOAD and NEAP_SOCKET in its environment",
		    unseen, r->has_connected ? "the program replaced itself by it, and " : "");
}

static void say_not_recorded(struct recorder *r)
{
	if (r->declined_count > MOST_DECLINED_SAID)
		speaker_say(&r->speaker,
			    "%zu more processes were not recorded for reasons like these",
			    r->declined_count - MOST_DECLINED_SAID);
	if (r->meeting.away_count)
		speaker_say(
			&r->speaker,
			"%zu processes were not recorded: too many at once for the limit on open "
			"files (ulimit -n)",
			r->meeting.away_count);
}

/* Before it starts: the profile may be emptier than the user expects. */
static void say_own_allocator(struct recorder *r, const char *allocator)
{
	const char *program = r->options->argv[0];
	if (!strcmp(allocator, RECORD_OWN_MALLOC))
		speaker_say(&r->speaker,
			    "'%s' defines malloc itself: only what it passes on to the next "
			    "malloc is counted",
			    program);
	else
		speaker_say(&r->speaker,
			    "'%s' has %s linked in: only what passes through malloc is counted, "
			    "not what it allocates there directly",
			    program, allocator);
}

static enum neap_err run(struct recorder *r, const char *program, struct record_result *out,
			 struct err *e)
{
	enum neap_err err = prepare(r, program, e);
	if (!err)
		err = naming_init(&r->naming, r, out, e);
	if (!err)
		err = spawn_go(&r->child, r->options->argv[0], &out->exit_status, e);
	if (err)
		return err;
	out->was_started = true;
	r->start_ns = now_ns();
	r->start_cpu_ns = own_cpu_ns();
	r->shown_ns = r->start_ns;
	observe(r);
	out->exit_status = exit_status(r->child_wait_status);
	say_if_unseen(r);
	say_not_recorded(r);
	wait_for_names(r);
	return NEAP_OK;
}

static void recorder_release(struct recorder *r)
{
	naming_release(&r->naming);
	if (!r->child_has_ended)
		spawn_cancel(&r->child);
	else if (r->child.pidfd >= 0)
		close(r->child.pidfd);
	output_discard(&r->first_output);
	meeting_release(&r->meeting);
	signals_release(r);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	mem_free(r->processes);
	module_files_release(&r->module_files);
	namer_release(&r->namer);
	pthread_mutex_destroy(&r->speaker.lock);
}

enum neap_err record_run(const struct record_options *options, const struct record_sink *sink,
			 struct record_result *out, struct err *e)
{
	struct recorder r = {
		.defaults = *options,
		.speaker.sink = sink,
		.meeting = {.fd = -1, .epoll_fd = -1, .spare_fd = -1},
		.epoll_fd = -1,
		.signal_fd = -1,
		.child = {.pid = -1, .pidfd = -1, .go_fd = -1, .error_fd = -1},
		.first_output = {.fd = -1},
	};
	char *program = NULL, *collector = NULL;
	const char *allocator = NULL;
	*out = (struct record_result){.exit_status = 2};
	r.options = &r.defaults;
	r.is_adaptive = !r.defaults.interval_ns;
	if (r.is_adaptive)
		r.defaults.interval_ns = RECORD_INTERVAL_NS;
	if (!r.defaults.recycle_from_count)
		r.defaults.recycle_from_count = RECORD_RECYCLE_FROM;
	pthread_mutex_init(&r.speaker.lock, NULL);
	module_files_init(&r.module_files);
	enum neap_err err = spawn_find(options->argv[0], &program, &out->exit_status, e);
	if (!err && record_check_target(program, &allocator, e) == ERR_UNSUPPORTED)
		err = ERR_UNSUPPORTED;
	if (!err && !options->collector)
		err = record_find_collector(&collector, e);
	if (collector)
		r.defaults.collector = collector;
	if (!err)
		err = namer_init(&r.namer, options, e);
	if (!err && allocator)
		say_own_allocator(&r, allocator);
	if (!err)
		err = run(&r, program, out, e);
	recorder_release(&r);
	mem_free(program);
	mem_free(collector);
	return err;
}

void record_result_release(struct record_result *out)
{
	for (size_t i = 0; i < out->file_count; i++) {
		mem_free(out->files[i].path);
		mem_free(out->files[i].program);
	}
	mem_free(out->files);
	*out = (struct record_result){0};
}
