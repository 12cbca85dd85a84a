/*
 *   caller                            child
 *   pipe, fork  ------------------->  close what is not needed, work
 *   poll, tick  <-- shared counter    counts
 *   read        <-- length, bytes     writes the result, _exit
 *
 * A result counts if it is as long as it was announced; how the child ended does not
 * matter.  fork, not a thread: a thread's crash is the process's.  glibc makes malloc
 * usable in the child of a process with threads, src/base/mem.c its large blocks; nothing
 * else with a lock is used there.  Other allocators may have been preloaded that do not: with
 * one of them a child hangs at once if another thread was allocating at the fork.  So a child
 * allocates first, and if it does not say soon that it could, another one is started, which may
 * have more luck and gets more time.
 */
#include "config.h"

#include "src/sym/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/mem.h"

#define TICK_MS            100
#define FIRST_START_MS     100 /* doubled each time */
#define MOST_STARTS        7
#define CHUNK_BYTES        (64u << 10)
#define LIMIT_RESULT_BYTES ((uint64_t)1 << 30)

/* Shared by caller and child. */
struct progress {
	atomic_size_t done;  /* only a hint */
	atomic_bool is_able; /* the child could allocate */
};

/* ---- the child -------------------------------------------------------------------- */

static void close_between(int low, int high)
{
#ifdef SYS_close_range
	if (low <= high)
		syscall(SYS_close_range, (unsigned)low, (unsigned)high, 0u);
#else
	(void)low;
	(void)high;
#endif
}

/* The lowest of some descriptors and `lowest` that is not below `next`; -1: none. */
static int lowest_from(int next, int lowest, const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= next && (lowest < 0 || fds[i] < lowest))
			lowest = fds[i];
	return lowest;
}

/* Only out_fd, the job's descriptors and an empty stdio stay open. */
static void shed_descriptors(const struct isolated *job, int out_fd)
{
	int null = open("/dev/null", O_RDWR);
	for (int fd = 0; null >= 0 && fd <= 2; fd++)
		dup2(null, fd);
	int next = 3;
	for (;;) {
		int keep = out_fd >= next ? out_fd : -1;
		keep = lowest_from(next, keep, job->fds, ISOLATED_FDS);
		keep = lowest_from(next, keep, job->more_fds, job->more_count);
		if (keep < 0)
			break;
		close_between(next, keep - 1);
		next = keep + 1;
	}
	close_between(next, INT32_MAX);
}

static bool write_all(int fd, const void *data, size_t bytes)
{
	for (const char *p = data; bytes;) {
		ssize_t n = write(fd, p, bytes);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		bytes -= (size_t)n;
	}
	return true;
}

static void try_allocator(struct progress *p)
{
	void *volatile few = mem_alloc(48), *volatile many = mem_alloc((size_t)1 << 18);
	mem_free(many);
	mem_free(few);
	atomic_store(&p->is_able, true);
}

static void run_child(const struct isolated *job, struct progress *p, int out_fd)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	const struct rlimit no_core = {0, 0};
	sigset_t all;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	sigfillset(&all); /* what the terminal sends is for the recorder */
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
		signal(fatal[i], SIG_DFL);
		sigdelset(&all, fatal[i]);
	}
	sigprocmask(SIG_SETMASK, &all, NULL);
	shed_descriptors(job, out_fd);
	try_allocator(p);
	struct buf out = {0};
	if (job->work(job->context, &p->done, &out) && !out.has_failed) {
		uint64_t bytes = out.count_bytes;
		if (write_all(out_fd, &bytes, sizeof bytes))
			write_all(out_fd, out.data, out.count_bytes);
	}
	_exit(0);
}

/* ---- the caller --------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Some bytes into b; false at the end of the pipe. */
static bool read_some(int fd, struct buf *b)
{
	char chunk[CHUNK_BYTES];
	ssize_t n = read(fd, chunk, sizeof chunk);
	if (n < 0)
		return errno == EINTR;
	buf_put(b, chunk, (size_t)n);
	return n > 0 && !b->has_failed && b->count_bytes <= LIMIT_RESULT_BYTES;
}

/* Until the child closes the pipe or seems to hang; start_ms: if it cannot allocate by then. */
static void receive(const struct isolated *job, struct progress *progress, int fd,
		    unsigned start_ms, struct buf *b)
{
	size_t last_count = 0;
	uint64_t start = now_ms(), last_ms = start;
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		int ready = poll(&p, 1, TICK_MS);
		size_t count = atomic_load_explicit(&progress->done, memory_order_relaxed);
		if (job->tick)
			job->tick(job->context, count);
		if (count != last_count || ready > 0)
			last_ms = now_ms();
		last_count = count;
		if (ready > 0 && !read_some(fd, b))
			return;
		if (now_ms() - last_ms > job->patience_ms)
			return;
		if (now_ms() - start > start_ms && !atomic_load(&progress->is_able))
			return;
	}
}

static bool take_result(const struct buf *received, struct buf *result)
{
	struct reader r = reader_init(received->data, received->count_bytes);
	uint64_t bytes = reader_u64(&r);
	if (r.has_failed || received->has_failed || bytes != reader_left(&r))
		return false;
	buf_put(result, r.p, (size_t)bytes);
	return !result->has_failed;
}

/* Under the lock: else another thread's child would inherit the writing end and hold it open. */
static pid_t start(const struct isolated *job, struct progress *p, int *in_fd_out)
{
	int ends[2];
	pid_t pid = -1;
	*in_fd_out = -1;
	pthread_mutex_lock(job->lock);
	if (pipe2(ends, O_CLOEXEC) == 0) {
		pid = fork();
		if (pid == 0)
			run_child(job, p, ends[1]);
		close(ends[1]);
		if (pid < 0)
			close(ends[0]);
		else
			*in_fd_out = ends[0];
	}
	pthread_mutex_unlock(job->lock);
	return pid;
}

/* One child; false: it gave no result. */
static bool run_once(const struct isolated *job, struct progress *p, unsigned start_ms,
		     struct buf *result)
{
	int fd;
	struct buf received = {0};
	pid_t pid = start(job, p, &fd);
	if (pid <= 0) {
		atomic_store(&p->is_able, true); /* it is not the allocator */
		return false;
	}
	receive(job, p, fd, start_ms, &received);
	kill(pid, SIGKILL); /* it has ended, or it never will */
	close(fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
	}
	bool has_result = take_result(&received, result);
	buf_release(&received);
	return has_result;
}

bool isolate_run(const struct isolated *job, struct buf *result)
{
	struct progress *p =
		mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return false;
	bool has_result = false;
	for (unsigned i = 0; i < MOST_STARTS && !atomic_load(&p->is_able); i++)
		has_result = run_once(job, p, FIRST_START_MS << i, result);
	munmap(p, sizeof *p);
	return has_result;
}
