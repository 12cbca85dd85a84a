/*
 * The first event: meet the recorder and map the region.
 *
 * Bounded in time, without libc, and without trace: both descriptors are closed
 * before the hook returns.  If anything fails, the collector stays inert.  Runs again in
 * a child of fork, where the kernel has wiped the gate (see fork.c).
 */
#include "config.h"

#include "collector/nc.h"
#include "collector/sys.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define MEET_WAIT_MS    5000
#define STOPPED_WAIT_MS 1000 /* it may go on soon */
#define LOOK_MS         100
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

struct nc_gate nc_gate __attribute__((aligned(NC_PAGE_BYTES)));

/* ---- the socket -------------------------------------------------------------------- */

extern void *__libc_stack_end; /* ld.so: where the kernel put argc, argv and the environment */

/*
 * The path of the recorder's socket, from the environment the process was started with:
 * `environ` is not set yet when preinit functions run, and programs overwrite the original
 * to change their title, so it is read once and kept for children of fork.
 */
static const char *socket_path(void)
{
	static char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	static const char name[] = "NEAP_SOCKET=";
	if (path[0] || !__libc_stack_end)
		return path;
	long argc = *(long *)__libc_stack_end;
	char **env = (char **)__libc_stack_end + 1 + argc + 1;
	for (; *env; env++) {
		const char *value = *env + sizeof name - 1;
		if (!strncmp(*env, name, sizeof name - 1) && strlen(value) < sizeof path)
			memcpy(path, value, strlen(value));
	}
	return path;
}

/* The state of a process as proc(5) has it, such as 'T' for stopped; 0 if it cannot be read. */
static char state_of(uint32_t pid)
{
	static const char before[] = "/proc/", after[] = "/stat";
	char path[32], text[128], digits[10], state = 0;
	size_t at = sizeof before - 1, count = 0;
	for (; pid; pid /= 10)
		digits[count++] = (char)('0' + pid % 10);
	memcpy(path, before, at);
	while (count)
		path[at++] = digits[--count];
	memcpy(path + at, after, sizeof after);
	long fd = nc_syscall3(SYS_open, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (nc_sys_failed(fd))
		return 0;
	long bytes = nc_syscall3(SYS_read, fd, (long)text, sizeof text);
	nc_syscall3(SYS_close, fd, 0, 0);
	/* The name in front of it has at most 15 bytes, of any kind. */
	for (long i = 0; i + 2 < bytes; i++)
		if (text[i] == ')')
			state = text[i + 2];
	return state;
}

/* Was the recorder stopped, by a terminal or a debugger?  Then nobody is to wait for long. */
static bool is_peer_stopped(long fd)
{
	struct ucred peer = {0};
	socklen_t bytes = sizeof peer;
	long ret = nc_syscall6(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, (long)&peer,
			       (long)&bytes, 0);
	char state = nc_sys_failed(ret) || peer.pid <= 0 ? 0 : state_of((uint32_t)peer.pid);
	return state == 'T' || state == 't';
}

static bool has_answered(long fd)
{
	struct pollfd p = {.fd = (int)fd, .events = POLLIN};
	int stopped_ms = 0;
	for (int waited_ms = 0; waited_ms < MEET_WAIT_MS && stopped_ms < STOPPED_WAIT_MS;) {
		long n;
		do
			n = nc_syscall3(SYS_poll, (long)&p, 1, LOOK_MS);
		while (n == -4); /* EINTR */
		if (n)
			return n == 1;
		waited_ms += LOOK_MS;
		stopped_ms = is_peer_stopped(fd) ? stopped_ms + LOOK_MS : 0;
	}
	return false;
}

static long connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	if (!path[0])
		return -1;
	memcpy(addr.sun_path, path, strlen(path));
	long fd = nc_syscall3(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (nc_sys_failed(fd))
		return -1;
	/* A full backlog answers EAGAIN at once: try for a while. */
	for (int i = 0; i < MEET_WAIT_MS / 10; i++) {
		long ret = nc_syscall3(SYS_connect, fd, (long)&addr, sizeof addr);
		if (ret == 0)
			return fd;
		if (ret != -11 && ret != -4)
			break;
		struct timespec nap = {0, 10000000};
		nc_syscall3(SYS_nanosleep, (long)&nap, 0, 0);
	}
	nc_syscall3(SYS_close, fd, 0, 0);
	return -1;
}

static bool send_hello(long fd, bool is_forked)
{
	struct nc_hello hello = {
		.magic = NC_HELLO_MAGIC,
		.version = NC_VERSION,
		.pid = nc_getpid(),
		.ppid = (uint32_t)nc_syscall3(SYS_getppid, 0, 0, 0),
		.is_forked = is_forked,
	};
	return nc_syscall6(SYS_sendto, fd, (long)&hello, sizeof hello, MSG_NOSIGNAL, 0, 0) ==
	       (long)sizeof hello;
}

/* The descriptor of the region; -1 if the recorder declined or is gone. */
static long receive_region(long fd)
{
	struct nc_welcome welcome = {0};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	memset(&control, 0, sizeof control);
	struct iovec iov = {&welcome, sizeof welcome};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof control};
	if (!has_answered(fd) ||
	    nc_syscall3(SYS_recvmsg, fd, (long)&msg, MSG_CMSG_CLOEXEC) != (long)sizeof welcome)
		return -1;
	struct cmsghdr *head = CMSG_FIRSTHDR(&msg);
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return -1;
	int region;
	memcpy(&region, CMSG_DATA(head), sizeof region);
	if (welcome.magic == NC_HELLO_MAGIC && welcome.version == NC_VERSION && welcome.accepted)
		return region;
	nc_syscall3(SYS_close, region, 0, 0);
	return -1;
}

/* How many filters there were where this process comes from: in its parent, or in the recorder. */
static uint32_t known_filters(const struct nc_global *parent, const char *path)
{
	uint32_t n = 0;
	if (parent)
		return parent->header->filter_count;
	const char *end = path + strlen(path), *s = end;
	while (s > path && s[-1] >= '0' && s[-1] <= '9')
		s--;
	if (s == end || s == path || s[-1] != NC_FILTERS_MARK)
		return NC_FILTERS_UNKNOWN;
	for (; s < end; s++)
		n = n * 10 + (uint32_t)(*s - '0');
	return n;
}

/* A child of fork that does not get as far as a hello leaves word where its parent counts. */
static long meet_recorder(const struct nc_global *parent)
{
	const char *path = socket_path();
	bool may_connect = !nc_has_more_filters(known_filters(parent, path));
	long fd = may_connect ? connect_to(path) : -1;
	bool has_met = fd >= 0 && send_hello(fd, parent != NULL);
	long region = has_met ? receive_region(fd) : -1;
	if (fd >= 0)
		nc_syscall3(SYS_close, fd, 0, 0);
	if (parent && !has_met)
		__atomic_fetch_add(&parent->header->unmet_children, 1, __ATOMIC_RELAXED);
	return region;
}

/* ---- the region ---------------------------------------------------------------------- */

static void *map_shared(long fd, uint64_t offset, size_t bytes)
{
	long p = nc_syscall6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			     (long)offset);
	return nc_sys_failed(p) ? NULL : (void *)p;
}

static bool header_is_ours(const struct nc_header *h)
{
	static const uint32_t entry_bytes[NC_SEC_COUNT] = {
		sizeof(struct nc_node),   sizeof(struct nc_cohort), 1,
		sizeof(struct nc_thread), sizeof(struct nc_module),
	};
	for (int s = 0; s < NC_SEC_COUNT; s++)
		if (h->sections[s].entry_bytes != entry_bytes[s])
			return false;
	return h->magic == NC_REGION_MAGIC && h->version == NC_VERSION;
}

/* Header and beginning of every section, into nc. */
static bool map_region(long fd)
{
	struct nc_header *h = map_shared(fd, 0, NC_PAGE_BYTES);
	if (!h || !header_is_ours(h))
		return false;
	nc.header = h;
	for (int s = 0; s < NC_SEC_COUNT; s++) {
		void *first = map_shared(fd, h->sections[s].offset, nc_region_first_bytes(s));
		if (!first)
			return false;
		nc_region_begin(s, first);
	}
	return true;
}

static void read_exit_range(struct nc_header *h)
{
	void *exit_function = dlsym(RTLD_DEFAULT, "exit");
	struct dl_find_object found;
	struct nc_scratch *scratch = nc_map(sizeof *scratch);
	struct nc_code_range range;
	if (exit_function && scratch && _dl_find_object(exit_function, &found) == 0 &&
	    found.dlfo_eh_frame &&
	    nc_cfi_row(scratch, found.dlfo_eh_frame, (uint64_t)exit_function, &range) ==
		    NC_CFI_FOUND) {
		h->exit_start_va = range.start;
		h->exit_end_va = range.end;
	}
	nc_unmap(scratch, sizeof *scratch);
}

static void fill_header(bool is_forked)
{
	struct nc_header *h = nc.header;
	h->pid = nc_getpid();
	h->ppid = (uint32_t)nc_syscall3(SYS_getppid, 0, 0, 0);
	h->is_forked = is_forked;
	h->live_map_root_va = (uint64_t)nc_live_root;
	h->live_map_lg[0] = NC_MAP_ROOT_LG;
	h->live_map_lg[1] = NC_MAP_MID_LG;
	h->live_map_lg[2] = NC_MAP_LEAF_LG;
	h->batch_bytes = NC_BATCH_BYTES;
	h->epoch_primary = 1;
	long n = nc_syscall3(SYS_readlink, (long)"/proc/self/exe", (long)h->exe_path,
			     sizeof h->exe_path - 1);
	h->exe_path[nc_sys_failed(n) ? 0 : n] = 0;
	read_exit_range(h);
	h->drops[NC_DROP_STARTUP] = is_forked ? 0 : nc_boot_early_count();
	/* Index 0 means none; the fixed nodes and a whole group of cohorts are set aside. */
	h->used_count[NC_SEC_NODES] = NC_NODE_FIRST_FREE;
	h->used_count[NC_SEC_COHORTS] = NC_COHORT_CHUNK;
	h->used_count[NC_SEC_THREADS] = 1;
	h->used_count[NC_SEC_MODULES] = 1;
}

static bool begin_region(long fd, const struct nc_global *parent)
{
	bool ok = map_region(fd);
	nc_syscall3(SYS_close, fd, 0, 0);
	if (!ok || !nc_rules_init())
		return false;
	nc_thread_init();
	if (!parent)
		nc_modules_init();
	fill_header(parent != NULL);
	if (parent && !nc_fork_copy(parent))
		return false;
	struct timespec now = {0, 0};
	nc_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	__atomic_store_n(&nc.header->start_ns,
			 (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
			 __ATOMIC_RELEASE);
	return true;
}

static bool begin(bool is_forked)
{
	/* Static, because it is large; only a child of fork uses it. */
	static struct nc_global parent;
	if (is_forked) {
		parent = nc;
		memset(&nc, 0, sizeof nc);
	}
	long fd = meet_recorder(is_forked ? &parent : NULL);
	if (fd >= 0)
		return begin_region(fd, is_forked ? &parent : NULL);
	if (is_forked)
		nc_fork_release(&parent);
	return false;
}

/*
 * A process that could not start.  Its children of fork do not try again: their memory, the live
 * map above all, has the numbers of a region that was let go of.
 */
static bool has_given_up;

/* Calls libc, which needs an aligned stack; programs may call malloc on one that is 8 off. */
__attribute__((force_align_arg_pointer)) bool nc_start(void)
{
	uint32_t expected = NC_OFF;
	if (!nc_is_relocated())
		return false;
	if (!__atomic_compare_exchange_n(&nc_gate.state, &expected, NC_STARTING, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return expected == NC_ON;
	if (has_given_up) {
		__atomic_store_n(&nc_gate.state, NC_INERT, __ATOMIC_RELEASE);
		return false;
	}
	nc_real_resolve();
	bool is_forked = nc.header != NULL;
	/* Before anything can fork: a child must find the gate closed. */
	nc_syscall3(SYS_madvise, (long)&nc_gate, NC_PAGE_BYTES, MADV_WIPEONFORK);
	bool ok = begin(is_forked);
	has_given_up = !ok;
	__atomic_store_n(&nc_gate.state, ok ? NC_ON : NC_INERT, __ATOMIC_RELEASE);
	return ok;
}

/* The first event is usually earlier; programs that never allocate are recorded too. */
__attribute__((constructor)) static void start_at_load(void)
{
	nc_is_on();
}

/* A process that ends without this was ended by _exit or a signal, or replaced by execve. */
__attribute__((destructor)) static void note_exit(void)
{
	if (__atomic_load_n(&nc_gate.state, __ATOMIC_RELAXED) == NC_ON)
		__atomic_store_n(&nc.header->has_exited, 1, __ATOMIC_RELAXED);
}
