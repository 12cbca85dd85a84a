/*
 * One recorded process, from its hello to the last snapshot.
 *
 * The main thread ticks it; its mark thread takes a snapshot in between when the
 * program asks for one.  Both hold the lock while they do.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TICK_MOST_NS       (50 * NS_PER_MS) /* tick_ns is never older than this */
#define IDLE_AFTER_NS      NS_PER_S
#define FLUSH_NS           NS_PER_S
#define FLUSH_MOST_NS      (4 * NS_PER_S)
#define LITTLE_BYTES       (32u << 10)     /* not worth blocks of their own, */
#define LITTLE_LATEST_NS   (10 * NS_PER_S) /* until then */
#define REFRESH_NS         (100 * NS_PER_MS)
#define COST_SHARE         64u /* the recorder takes at most 1/64 of a processor, */
#define APART_SHARE        8u  /* if intervals of 1/8 of the time so far make that possible */
#define FIRST_DOUBLING     1000u
#define FURTHER_DOUBLING   500u
#define UNSEEN_SHARE       3u /* memory from so many times the heap's peak is worth a word, */
#define UNSEEN_LEAST_BYTES (64u << 20) /* and this on top */

/* The rest of a map of made code is read at the end. */
#define JIT_BYTES_MEANWHILE ((size_t)64 << 20)

/* ---- what /proc says ---------------------------------------------------------- */

static void read_link(char *dst, size_t cap, pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
	ssize_t n = readlink(path, dst, cap - 1);
	dst[n > 0 ? n : 0] = '\0';
}

void process_comm(pid_t pid, char *dst, size_t cap)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, dst, cap - 1);
	dst[n > 0 ? n : 0] = '\0';
	dst[strcspn(dst, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

/* The whole command line, NUL-separated; empty if it cannot be read. */
static void read_cmdline(pid_t pid, struct buf *out)
{
	char path[64], chunk[4096];
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t n;
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		buf_put(out, chunk, (size_t)n);
	close(fd);
}

const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

struct command { /* what a process was started as */
	struct buf text;
	const char **argv;
	size_t count, cap;
	char exe[4096], cwd[4096];
};

static void command_release(struct command *c)
{
	buf_release(&c->text);
	mem_free(c->argv);
}

static bool command_load(struct command *c, pid_t pid, char *const *known_argv)
{
	read_link(c->exe, sizeof c->exe, pid, "exe");
	read_link(c->cwd, sizeof c->cwd, pid, "cwd");
	if (!known_argv)
		read_cmdline(pid, &c->text);
	size_t at = 0;
	for (size_t i = 0; known_argv ? known_argv[i] != NULL : at < c->text.count_bytes; i++) {
		const char *arg = known_argv ? known_argv[i] : c->text.data + at;
		at += known_argv ? 0 : strlen(arg) + 1;
		if (!vec_reserve((void **)&c->argv, &c->cap, i + 1, sizeof c->argv[0]))
			return false;
		c->argv[c->count++] = arg;
	}
	return true;
}

static const char *command_name(const struct command *c)
{
	if (c->count && c->argv[0][0])
		return path_base(c->argv[0]);
	return c->exe[0] ? path_base(c->exe) : "unknown";
}

static uint64_t cpu_ns(const struct process *p)
{
	struct timespec t;
	if (!p->has_cpu_clock || clock_gettime(p->cpu_clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec - p->cpu_base_ns;
}

static uint64_t rss_bytes(struct process *p)
{
	char text[128];
	unsigned long long all, resident, shared;
	ssize_t n = p->statm_fd < 0 ? 0 : pread(p->statm_fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%llu %llu %llu", &all, &resident, &shared) != 3)
		return 0;
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t own = resident > shared ? (resident - shared) * page_bytes : 0;
	if (own > p->own_most_bytes)
		p->own_most_bytes = own;
	return resident * page_bytes;
}

/*
 * Memory of its own, neither files nor shared, that is not the heap: mapped directly, of a pool below malloc, or
 * of an allocator that cannot be seen.  0 if it is little, or no more than our tables may be.
 */
static uint64_t unseen_bytes(const struct process *p)
{
	uint64_t seen = p->peak_bytes * UNSEEN_SHARE + UNSEEN_LEAST_BYTES;
	bool is_told = p->recorder->options->wants_mappings || p->own_most_bytes <= seen;
	return is_told ? 0 : p->own_most_bytes - p->peak_bytes;
}

/* ---- beginning ------------------------------------------------------------------- */

static enum neap_err open_writer(struct process *p, const struct newcomer *n,
				 const struct command *c, struct err *e)
{
	struct utsname system;
	if (uname(&system))
		memset(&system, 0, sizeof system);
	struct profile_run run = {
		.tool = p->recorder->options->tool,
		.argv = c->argv,
		.argv_count = c->count,
		.exe = c->exe,
		.cwd = c->cwd,
		.host = system.nodename,
		.kernel = system.release,
		.pid = (uint32_t)n->pid,
		.ppid = n->ppid,
		.cpu_count = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
		.is_forked = n->is_forked,
		.start_unix_ns = now_unix_ns(),
		.interval_ns = p->interval_ns,
	};
	p->base_ns = now_ns();
	int fd = p->output.fd;
	p->output.fd = -1; /* the writer's now, even if it fails */
	return profile_writer_new(fd, p->output.path, &run, &p->writer, e);
}

static void open_clocks(struct process *p, bool is_exec)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/statm", (int)p->pid);
	p->statm_fd = open(path, O_RDONLY | O_CLOEXEC);
	p->has_cpu_clock = clock_getcpuclockid(p->pid, &p->cpu_clock) == 0;
	if (is_exec)
		p->cpu_base_ns = cpu_ns(p);
}

static void process_free(struct process *p)
{
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->statm_fd >= 0)
		close(p->statm_fd);
	scanner_release(&p->scanner);
	queue_release(&p->queue);
	tree_release(&p->tree);
	modules_release(&p->modules);
	jit_follow_release(&p->jit);
	threads_release(&p->threads);
	recycler_release(&p->recycler);
	region_release(&p->region);
	output_release(&p->output);
	mem_free(p->job);
	mem_free(p->program);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}

static enum neap_err process_open(struct process *p, const struct newcomer *n,
				  const struct command *c, struct err *e)
{
	struct recorder *r = p->recorder;
	p->program = mem_strdup(n->program ? n->program : command_name(c));
	p->job = mem_zalloc(sizeof *p->job);
	if (!p->program || !p->job)
		return err_nomem(e, "a process");
	enum neap_err err = NEAP_OK;
	if (!p->output.path)
		err = namer_open(&r->namer, p->program, (uint32_t)p->pid, true, &p->output, e);
	if (!err)
		err = region_init(&p->region, e);
	if (!err) {
		p->region.header->wants_mappings = r->options->wants_mappings;
		p->region.header->filter_count = filters_of(p->pid);
	}
	if (!err)
		err = open_writer(p, n, c, e);
	if (!err && !marks_start(p))
		err = err_sys(e, errno, "start a thread for", p->program);
	return err;
}

enum neap_err process_new(struct recorder *r, struct newcomer *n, struct process **out,
			  struct err *e)
{
	*out = NULL;
	struct process *p = mem_zalloc(sizeof *p);
	if (!p) {
		output_discard(&n->output);
		return err_nomem(e, "a process");
	}
	p->recorder = r;
	p->pid = n->pid;
	p->seen_pid = n->seen_pid;
	p->is_first = n->is_first;
	p->pidfd = n->pidfd;
	p->statm_fd = -1;
	p->exe_fd = -1;
	p->output = n->output;
	p->region.fd = -1;
	p->interval = 1;
	p->interval_ns = r->options->interval_ns;
	p->is_adaptive = r->is_adaptive;
	pthread_mutex_init(&p->lock, NULL);
	scanner_init(&p->scanner);
	queue_init(&p->queue);
	tree_init(&p->tree);
	jit_follow_init(&p->jit);
	struct command c = {0};
	command_load(&c, n->pid, n->is_first ? r->options->argv : NULL);
	enum neap_err err = process_open(p, n, &c, e);
	command_release(&c);
	if (err) {
		profile_writer_close(p->writer, NULL);
		output_discard(&p->output);
		process_free(p);
		return err;
	}
	open_clocks(p, n->is_exec);
	modules_open_exe(p);
	process_comm(p->pid, p->comm, sizeof p->comm);
	p->last_busy_ns = p->flushed_ns = p->base_ns;
	p->next_snapshot_ns = p->base_ns + p->interval_ns;
	*out = p;
	return NEAP_OK;
}

/* ---- while it runs ------------------------------------------------------------------ */

void process_break(struct process *p, const struct err *e)
{
	if (p->is_broken)
		return;
	p->is_broken = true;
	speaker_say_broken(&p->recorder->speaker, e);
}

static void break_if_starved(struct process *p)
{
	struct err e;
	if (!p->is_starved || p->is_broken)
		return;
	err_nomem(&e, "the recording");
	process_break(p, &e);
}

static uint64_t start_unix_ns(const struct process *p)
{
	return now_unix_ns() - (now_ns() - p->base_ns);
}

static void refresh_tables(struct process *p, uint64_t now, bool is_last)
{
	if (!is_last && now - p->refreshed_ns < REFRESH_NS)
		return;
	p->refreshed_ns = now;
	threads_refresh(p, now, is_last);
	modules_refresh(p);
	const struct jit_process jit = {(uint32_t)p->pid, p->seen_pid, start_unix_ns(p)};
	jit_follow_read(&p->jit, &jit, is_last ? JIT_MAP_BYTES_MOST : JIT_BYTES_MEANWHILE);
}

/* After 1000 snapshots, and again after every further 500, they become half as frequent. */
static void slow_down(struct process *p)
{
	uint32_t n = p->snapshot_count;
	if (n < FIRST_DOUBLING || (n - FIRST_DOUBLING) % FURTHER_DOUBLING)
		return;
	if (p->interval_ns < RECORD_INTERVAL_MAX_NS)
		p->interval_ns *= 2;
}

uint64_t own_cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t recorder_spent_ns(const struct recorder *r)
{
	return own_cpu_ns() - r->start_cpu_ns;
}

/* Whole microseconds: what the file stores in the fewest bytes. */
static uint64_t whole_us(uint64_t ns)
{
	return ns / 1000 * 1000;
}

void process_measure(struct process *p, struct profile_snapshot *head)
{
	uint64_t cpu = whole_us(cpu_ns(p));
	if (cpu) /* it has none any more when it has ended */
		p->last_cpu_ns = cpu;
	head->cpu_ns = p->last_cpu_ns;
	head->rss_bytes = rss_bytes(p);
	head->live_bytes = region_live_bytes(&p->region);
}

void process_snapshot(struct process *p, uint64_t now, bool is_last)
{
	if (p->is_broken)
		return;
	uint64_t start = own_cpu_ns();
	struct profile_snapshot head = {.time_ns = whole_us(now - p->base_ns)};
	uint64_t busy_ns = now - p->last_busy_ns;
	p->recycler.busy_ns += busy_ns < TICK_MOST_NS ? busy_ns : TICK_MOST_NS;
	p->last_busy_ns = now;
	uint32_t before = p->snapshot_count;
	scan_snapshot(p, &head, is_last);
	refresh_tables(p, now, is_last);
	if (!is_last && !p->is_starved)
		recycle_run(p);
	break_if_starved(p);
	if (p->snapshot_count != before) {
		slow_down(p);
		steady_mark(p, now);
	}
	uint64_t cost = own_cpu_ns() - start;
	p->cost_ns = p->cost_ns ? (p->cost_ns * 7 + cost) / 8 : cost;
}

/* Hand everything to the system, and look whether the file is still there. */
static void write_out(struct process *p)
{
	struct err e;
	struct stat st;
	if (profile_writer_flush(p->writer, &e)) {
		process_break(p, &e);
	} else if (p->output.is_regular && stat(p->output.path, &st) && errno == ENOENT) {
		err_set(&e, ERR_IO, "'%s' was deleted while it was being written", p->output.path);
		process_break(p, &e);
	}
}

/* Time between flushes: as long as all before it, within bounds.  Large blocks compress better. */
static uint64_t flush_wait_ns(const struct process *p)
{
	uint64_t before = p->flushed_ns > p->base_ns ? p->flushed_ns - p->base_ns : 0;
	uint64_t wait = before < FLUSH_MOST_NS ? before : FLUSH_MOST_NS;
	return wait > FLUSH_NS ? wait : FLUSH_NS;
}

static void flush(struct process *p, uint64_t now)
{
	uint32_t written_count = p->queue.written_count;
	uint64_t since_ns = now - p->flushed_ns;
	if (p->is_broken || written_count == p->flushed_count || since_ns < flush_wait_ns(p) ||
	    (profile_writer_pending_bytes(p->writer) < LITTLE_BYTES && since_ns < LITTLE_LATEST_NS))
		return;
	p->flushed_ns = now;
	p->flushed_count = written_count;
	write_out(p);
}

/*
 * Time until the next snapshot: longer than asked if the recorder would take more of a processor than
 * it may, for this snapshot or for all it has done.  But never so long that a short program, whose
 * beginning is dear, would have few snapshots.  An interval that the user asked for is kept.
 */
static uint64_t wait_ns(const struct process *p, uint64_t now)
{
	const struct recorder *r = p->recorder;
	if (!p->is_adaptive)
		return p->interval_ns;
	uint64_t elapsed = now - r->start_ns;
	uint64_t spent = (recorder_spent_ns(r) + p->cost_ns) * COST_SHARE;
	uint64_t least = p->cost_ns * COST_SHARE;
	uint64_t most = (now - p->base_ns) / APART_SHARE;
	if (spent > elapsed && spent - elapsed > least)
		least = spent - elapsed;
	least = least < most ? least : most;
	return p->interval_ns > least ? p->interval_ns : least;
}

/* The time for a snapshot has come, and something happened. */
static void snapshot_or_wait(struct process *p, uint64_t now)
{
	uint64_t wait = p->interval_ns;
	if (!steady_holds(p, now)) {
		process_snapshot(p, now, false);
		wait = wait_ns(p, now);
	}
	p->next_snapshot_ns += wait;
	if (p->next_snapshot_ns <= now)
		p->next_snapshot_ns = now + wait;
}

uint64_t process_tick(struct process *p, uint64_t now)
{
	struct nc_header *h = p->region.header;
	__atomic_store_n(&h->tick_ns, now, __ATOMIC_RELAXED);
	pthread_mutex_lock(&p->lock);
	bool is_idle = false;
	if (now >= p->next_snapshot_ns && !p->is_broken) {
		if (scan_has_news(p))
			snapshot_or_wait(p, now);
		else
			is_idle = true;
	}
	queue_work(p, now, false);
	break_if_starved(p);
	flush(p, now);
	uint64_t wanted =
		wait_ns(p, now) / 2 > p->interval_ns ? wait_ns(p, now) / 2 : p->interval_ns;
	uint64_t tick = wanted < TICK_MOST_NS ? wanted : TICK_MOST_NS;
	if (p->is_broken || (is_idle && now - p->last_busy_ns > IDLE_AFTER_NS))
		tick = TICK_MOST_NS;
	uint64_t next = now + tick;
	if (!is_idle && !p->is_broken && p->next_snapshot_ns < next)
		next = p->next_snapshot_ns;
	pthread_mutex_unlock(&p->lock);
	return next;
}

/* ---- the end ---------------------------------------------------------------------------- */

static uint64_t lost_blocks(const uint64_t drops[DROP_COUNT])
{
	uint64_t lost = 0;
	for (unsigned d = DROP_NODES; d <= DROP_STARTUP; d++)
		lost += drops[d];
	return lost;
}

static uint64_t write_drops(struct process *p)
{
	_Static_assert((int)DROP_COUNT == (int)NC_DROP_COUNT, "same causes");
	uint64_t drops[DROP_COUNT];
	for (unsigned d = 0; d < DROP_COUNT; d++)
		drops[d] = __atomic_load_n(&p->region.header->drops[d], __ATOMIC_RELAXED);
	drops[DROP_COHORTS] += p->scanner.odd_count;
	profile_set_drops(p->writer, drops);
	return lost_blocks(drops);
}

/* Everything that is left to write except names. */
static uint64_t write_rest(struct process *p, const struct profile_end *end)
{
	uint64_t now = p->base_ns + end->time_ns, lost = 0;
	pthread_mutex_lock(&p->lock);
	process_snapshot(p, now, true);
	queue_work(p, now, true);
	break_if_starved(p);
	if (!p->is_broken) {
		marks_write(p, now);
		peak_write(p, now);
		lost = write_drops(p);
		profile_add_end(p->writer, end);
		write_out(p);
		break_if_starved(p);
	}
	pthread_mutex_unlock(&p->lock);
	return lost;
}

static void move_to_job(struct process *p, struct naming_job *job)
{
	job->writer = p->writer;
	job->is_broken = p->is_broken;
	job->output = p->output;
	job->modules = p->modules;
	job->frames = p->tree.frames;
	job->frame_count = p->tree.frame_count;
	job->jit = p->jit;
	job->file = (struct record_file){
		.program = p->program,
		.pid = (uint32_t)p->pid,
		.is_first = p->is_first,
		.is_incomplete = p->is_broken,
		.alloc_count = p->alloc_count,
		.alloc_bytes = p->alloc_bytes,
		.peak_bytes = p->peak_bytes,
		.live_bytes = p->live_bytes,
		.live_blocks = p->live_blocks,
		.unseen_bytes = unseen_bytes(p),
	};
	p->writer = NULL;
	p->program = NULL;
	p->output = (struct output){.fd = -1};
	p->modules = (struct modules){0};
	p->tree.frames = NULL;
	jit_follow_init(&p->jit);
}

/* The collector gave up between its hello and its first event. */
static bool never_started(const struct process *p)
{
	return !__atomic_load_n(&p->region.header->start_ns, __ATOMIC_ACQUIRE) &&
	       region_used(&p->region, NC_SEC_COHORTS) <= NC_COHORT_CHUNK;
}

/* Forked children with no descriptor to be had, or in a place from where the socket cannot be seen. */
static void say_unmet_children(const struct process *p)
{
	struct recorder *r = p->recorder;
	uint32_t count = __atomic_load_n(&p->region.header->unmet_children, __ATOMIC_RELAXED);
	if (count && !r->options->has_no_children && ++r->declined_count <= MOST_DECLINED_SAID)
		speaker_say(
			&r->speaker,
			"%u forked %s of process %d ('%s') %s not recorded: no descriptor could be "
			"opened (ulimit -n), a seccomp filter might forbid sockets, or the "
			"recorder's socket was out of reach",
			count, count == 1 ? "child" : "children", (int)p->pid, p->program,
			count == 1 ? "is" : "are");
}

static void say_not_started(const struct process *p)
{
	struct recorder *r = p->recorder;
	if (++r->declined_count <= MOST_DECLINED_SAID)
		speaker_say(&r->speaker,
			    "process %d ('%s') is not recorded: it had no descriptor left for it "
			    "(ulimit -n), or no address space",
			    (int)p->pid, p->program);
}

void process_finish(struct process *p, const struct profile_end *end)
{
	struct recorder *r = p->recorder;
	marks_stop(p);
	say_unmet_children(p);
	/* A program that was killed that early still gets its profile. */
	bool is_wanted = !never_started(p) || (p->is_first && end->kind == END_SIGNALED);
	if (is_wanted) {
		struct naming_job *job = p->job;
		p->job = NULL;
		uint64_t lost = write_rest(p, end);
		r->ended_alloc_count += p->alloc_count;
		r->ended_snapshot_count += p->snapshot_count;
		if (p->peak_bytes > r->ended_peak_bytes)
			r->ended_peak_bytes = p->peak_bytes;
		move_to_job(p, job);
		job->file.lost_count = lost;
		naming_add(&r->naming, job);
	} else {
		if (end->kind == END_EXITED)
			say_not_started(p);
		profile_writer_close(p->writer, NULL);
		output_discard(&p->output);
	}
	process_free(p);
}
