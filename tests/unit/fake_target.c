/*
 * A program that plays the collector: it connects to the recorder, maps the region
 * and writes a heap that it knows exactly.  What it wrote goes to the file FAKE_OUT.
 *
 *   fake_target heap           allocate and free for a while, end
 *   fake_target churn MS       the same few sites for MS milliseconds: cohorts are recycled
 *   fake_target remote MS      a second thread frees what the first allocates
 *   fake_target exec           heap, then the same again as a new program
 *   fake_target kill US        churn until SIGKILL after US microseconds, at any instruction
 *   fake_target marks N        N marks, each after one more block
 *   fake_target billions       counters far above 32 bits
 *   fake_target mixed          blocks of a site with many sizes
 *   fake_target wild           writes nonsense over everything the recorder reads
 *   fake_target silent         never connects
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "collector/format.h"

#define SITES  32u
#define BLOCKS 512u

static uint8_t *region;
static struct nc_header *header;

struct block {
	uint32_t cohort;
	uint64_t bytes;
};

static struct {
	uint64_t births, born_bytes, live_blocks, live_bytes, peak_bytes;
} truth;

static uint32_t sites[SITES], mixed_site;
static uint32_t current[SITES]; /* cohort of the current interval */
static uint32_t chunk_next, chunk_end;
static struct block blocks[BLOCKS];

static void *at(enum nc_section_id s, uint32_t idx)
{
	return region + header->sections[s].offset +
	       (uint64_t)idx * header->sections[s].entry_bytes;
}

static struct nc_cohort *cohort(uint32_t idx)
{
	return at(NC_SEC_COHORTS, idx);
}

static void die(const char *what)
{
	perror(what);
	_exit(99);
}

/* ---- meeting -------------------------------------------------------------------- */

static int meet(void)
{
	const char *path = getenv("NEAP_SOCKET");
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct nc_hello hello = {.magic = NC_HELLO_MAGIC,
				 .version = NC_VERSION,
				 .pid = (uint32_t)getpid(),
				 .ppid = (uint32_t)getppid()};
	struct nc_welcome welcome = {0};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {&welcome, sizeof welcome};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof control.bytes};
	if (!path || strlen(path) >= sizeof addr.sun_path)
		die("NEAP_SOCKET");
	memcpy(addr.sun_path, path, strlen(path));
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (connect(fd, (void *)&addr, sizeof addr) || send(fd, &hello, sizeof hello, 0) < 0)
		die("connect");
	if (recvmsg(fd, &msg, 0) != (ssize_t)sizeof welcome || !welcome.accepted)
		die("recvmsg");
	int memfd;
	memcpy(&memfd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof memfd);
	close(fd);
	return memfd;
}

static uint32_t add_node(uint64_t key, uint32_t parent)
{
	uint32_t id = header->used_count[NC_SEC_NODES]++;
	struct nc_node *n = at(NC_SEC_NODES, id);
	n->key = key;
	n->parent = parent;
	return id;
}

static void build_tree(void)
{
	uint32_t main_node = add_node(0x401000, NC_NODE_ROOT);
	for (uint32_t i = 0; i < SITES; i++) {
		uint32_t path = add_node(0x402000 + i * 16, main_node);
		sites[i] = add_node(NC_KEY_SITE | (uint64_t)NC_API_MALLOC << NC_KEY_API_SHIFT |
					    (100 + i),
				    path);
	}
	mixed_site =
		add_node(NC_KEY_SITE | (uint64_t)NC_API_MALLOC << NC_KEY_API_SHIFT | NC_SIZE_MIXED,
			 main_node);
}

static void add_thread(void)
{
	uint32_t id = header->used_count[NC_SEC_THREADS]++;
	struct nc_thread *t = at(NC_SEC_THREADS, id);
	t->tid = (uint32_t)syscall(SYS_gettid);
	t->start_interval = header->interval;
	memcpy(t->name, "fake", 5);
	__atomic_store_n(&t->flags, NC_THREAD_USED, __ATOMIC_RELEASE);
}

static void begin(void)
{
	int memfd = meet();
	struct nc_header first;
	if (pread(memfd, &first, sizeof first, 0) != (ssize_t)sizeof first)
		die("pread");
	region = mmap(NULL, first.region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
		      memfd, 0);
	if (region == MAP_FAILED)
		die("mmap");
	close(memfd);
	header = (void *)region;
	header->pid = (uint32_t)getpid();
	header->epoch_primary = 1;
	header->used_count[NC_SEC_NODES] = NC_NODE_FIRST_FREE;
	header->used_count[NC_SEC_COHORTS] = NC_COHORT_CHUNK;
	header->used_count[NC_SEC_THREADS] = 1;
	header->used_count[NC_SEC_MODULES] = 1;
	build_tree();
	add_thread();
	__atomic_store_n(&header->start_ns, 1, __ATOMIC_RELEASE);
}

/* ---- counting, as the collector does it -------------------------------------------- */

static void mark_dirty(uint32_t idx)
{
	uint8_t *d = at(NC_SEC_DIRTY, idx / NC_DIRTY_COHORTS);
	if (!__atomic_load_n(d, __ATOMIC_RELAXED))
		__atomic_store_n(d, 1, __ATOMIC_RELAXED);
}

static void stamp(struct nc_cohort *c)
{
	uint64_t epoch = header->epoch_primary + header->epoch_shared;
	if (c->epoch == epoch)
		return;
	c->at_peak = c->births - c->deaths - c->remote_deaths;
	if (c->site == mixed_site) {
		struct nc_cohort_bytes *b = (void *)(c + 1);
		b->at_peak_bytes = b->born_bytes - b->died_bytes - b->remote_died_bytes;
	}
	c->epoch = epoch;
}

static uint32_t recycled(void)
{
	struct nc_thread *t = at(NC_SEC_THREADS, 1);
	while (t->ring_tail != __atomic_load_n(&t->ring_head, __ATOMIC_ACQUIRE)) {
		uint64_t entry = t->ring[t->ring_tail % NC_RING_ENTRIES];
		uint32_t id = (uint32_t)entry;
		__atomic_store_n(&t->ring_tail, t->ring_tail + 1, __ATOMIC_RELEASE);
		struct nc_cohort *c = cohort(id);
		if (entry == nc_ring_entry(id, c->births) &&
		    c->births == c->deaths + __atomic_load_n(&c->remote_deaths, __ATOMIC_ACQUIRE))
			return id;
	}
	return 0;
}

static uint32_t new_cohort(uint32_t site, uint64_t bytes)
{
	bool is_mixed = site == mixed_site;
	uint32_t id = is_mixed ? 0 : recycled();
	if (!id && chunk_end - chunk_next < 2) {
		chunk_next = __atomic_fetch_add(&header->used_count[NC_SEC_COHORTS],
						NC_COHORT_CHUNK, __ATOMIC_RELAXED);
		chunk_end = chunk_next + NC_COHORT_CHUNK;
	}
	if (!id) {
		id = chunk_next;
		chunk_next += is_mixed ? 2 : 1;
	}
	struct nc_cohort *c = cohort(id);
	c->births = c->deaths = c->temporary = c->at_peak = c->epoch = 0;
	__atomic_store_n(&c->remote_deaths, 0, __ATOMIC_RELAXED);
	c->site = site;
	c->thread = 1;
	c->size_or_max = is_mixed ? UINT32_MAX : (uint32_t)bytes;
	if (is_mixed)
		((struct nc_cohort_bytes *)(void *)(c + 1))->is_bytes = UINT32_MAX;
	__atomic_store_n(&c->birth, __atomic_load_n(&header->interval, __ATOMIC_RELAXED),
			 __ATOMIC_RELEASE);
	return id;
}

static void add_live(int64_t bytes)
{
	header->live_primary_bytes += bytes;
	int64_t total = header->live_primary_bytes +
			__atomic_load_n(&header->live_shared_bytes, __ATOMIC_RELAXED);
	if (bytes > 0 && total > (int64_t)header->peak_primary_bytes) {
		header->peak_primary_bytes = (uint64_t)total;
		header->peak_tick_ns = header->tick_ns;
		header->peak_interval = header->interval;
		header->epoch_primary++;
	}
}

static void note_birth(uint64_t bytes)
{
	truth.births++;
	truth.born_bytes += bytes;
	truth.live_blocks++;
	truth.live_bytes += bytes;
	if (truth.live_bytes > truth.peak_bytes)
		truth.peak_bytes = truth.live_bytes;
}

static struct block born_mixed(uint64_t bytes)
{
	static uint32_t id;
	if (!id || cohort(id)->birth != __atomic_load_n(&header->interval, __ATOMIC_RELAXED))
		id = new_cohort(mixed_site, 0);
	struct nc_cohort *c = cohort(id);
	stamp(c);
	c->births++;
	((struct nc_cohort_bytes *)(void *)(c + 1))->born_bytes += bytes;
	mark_dirty(id);
	add_live((int64_t)bytes);
	note_birth(bytes);
	return (struct block){id, bytes};
}

static struct block born(uint32_t i)
{
	uint32_t id = current[i];
	uint64_t bytes = 100 + i;
	if (!id || cohort(id)->site != sites[i] ||
	    cohort(id)->birth != __atomic_load_n(&header->interval, __ATOMIC_RELAXED))
		id = current[i] = new_cohort(sites[i], bytes);
	struct nc_cohort *c = cohort(id);
	stamp(c);
	c->births++;
	__asm__ volatile("" ::: "memory");
	mark_dirty(id);
	add_live((int64_t)bytes);
	note_birth(bytes);
	return (struct block){id, bytes};
}

static void died(struct block *b)
{
	struct nc_cohort *c = cohort(b->cohort);
	stamp(c);
	if (c->site == mixed_site)
		((struct nc_cohort_bytes *)(void *)(c + 1))->died_bytes += b->bytes;
	c->deaths++;
	__asm__ volatile("" ::: "memory");
	mark_dirty(b->cohort);
	add_live(-(int64_t)b->bytes);
	truth.live_blocks--;
	truth.live_bytes -= b->bytes;
	*b = (struct block){0, 0};
}

/* ---- scenarios ------------------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252ull;

static uint32_t random_below(uint32_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)((random_state >> 20) % n);
}

static uint64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Slots are filled and emptied at random; `full` of BLOCKS of them may be in use. */
static void step(uint32_t full)
{
	struct block *b = &blocks[random_below(full)];
	if (b->cohort)
		died(b);
	else
		*b = born(random_below(SITES));
}

static void churn(uint64_t us)
{
	uint64_t end = now_us() + us;
	while (now_us() < end) {
		/* A burst, then only a few: most cohorts of the burst die. */
		for (uint32_t i = 0; i < 2000; i++)
			step(BLOCKS);
		for (uint32_t i = 16; i < BLOCKS; i++) {
			if (blocks[i].cohort)
				died(&blocks[i]);
		}
		for (uint32_t i = 0; i < 20000; i++)
			step(16);
	}
}

static void heap(void)
{
	struct timespec nap = {0, 3000000};
	for (uint32_t round = 0; round < 20; round++) {
		for (uint32_t i = 0; i < 1000; i++)
			step(BLOCKS);
		nanosleep(&nap, NULL);
	}
}

static struct block given;
static volatile uint32_t is_given; /* atomic */

static void *take_blocks(void *arg)
{
	(void)arg;
	for (;;) {
		while (!__atomic_load_n(&is_given, __ATOMIC_ACQUIRE))
			;
		if (!given.cohort)
			return NULL;
		struct nc_cohort *c = cohort(given.cohort);
		stamp(c);
		__atomic_fetch_add(&c->remote_deaths, 1, __ATOMIC_RELAXED);
		mark_dirty(given.cohort);
		__atomic_fetch_sub(&header->live_shared_bytes, (int64_t)given.bytes,
				   __ATOMIC_RELAXED);
		__atomic_store_n(&is_given, 0, __ATOMIC_RELEASE);
	}
}

static void give(struct block b)
{
	given = b;
	__atomic_store_n(&is_given, 1, __ATOMIC_RELEASE);
	while (b.cohort && __atomic_load_n(&is_given, __ATOMIC_ACQUIRE))
		;
}

static void remote(uint64_t us)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, take_blocks, NULL))
		die("pthread_create");
	uint64_t end = now_us() + us;
	while (now_us() < end) {
		struct block b = born(random_below(SITES));
		if (truth.births % 1000 == 0)
			continue; /* kept for ever */
		give(b);
		truth.live_blocks--;
		truth.live_bytes -= b.bytes;
	}
	give((struct block){0, 0});
	pthread_join(thread, NULL);
}

static void set_mark(uint32_t i)
{
	snprintf(header->mark_name[i % 8], sizeof header->mark_name[0], "mark %u", i);
	__atomic_store_n(&header->mark_ready, i + 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &header->mark_ready, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	for (uint32_t done; (done = __atomic_load_n(&header->mark_done, __ATOMIC_ACQUIRE)) <= i;) {
		struct timespec most = {10, 0};
		syscall(SYS_futex, &header->mark_done, FUTEX_WAIT, done, &most, NULL, 0);
	}
}

static void wild(void)
{
	for (uint32_t round = 0; round < 300; round++) {
		for (uint32_t i = 0; i < 2000; i++) {
			uint64_t *w = at(NC_SEC_COHORTS, 64 + random_below(4096));
			w[random_below(8)] = random_state >> random_below(64);
			w = at(NC_SEC_NODES, random_below(4096));
			w[random_below(3)] = random_state >> random_below(64);
			uint32_t *t = at(NC_SEC_THREADS, 1 + random_below(16));
			t[random_below(200)] = (uint32_t)random_state;
			uint32_t *m = at(NC_SEC_MODULES, random_below(4));
			m[random_below(1000)] = (uint32_t)random_state;
			mark_dirty(random_below(4096));
		}
		for (int s = 0; s < NC_SEC_COUNT; s++)
			header->used_count[s] = round % 3 ? 8192 : (uint32_t)random_state;
		header->mark_ready = (uint32_t)random_state;
		header->epoch_primary = random_state;
		header->peak_interval = (uint32_t)random_state;
		struct timespec nap = {0, 1000000};
		nanosleep(&nap, NULL);
	}
}

static void write_truth(void)
{
	const char *path = getenv("FAKE_OUT");
	FILE *f = path ? fopen(path, "w") : NULL;
	if (!f)
		die("FAKE_OUT");
	fprintf(f, "%llu %llu %llu %llu %llu %u\n", (unsigned long long)truth.births,
		(unsigned long long)truth.born_bytes, (unsigned long long)truth.live_blocks,
		(unsigned long long)truth.live_bytes, (unsigned long long)truth.peak_bytes,
		header->used_count[NC_SEC_COHORTS]);
	if (fclose(f))
		die("FAKE_OUT");
}

static void kill_self(int sig)
{
	(void)sig;
	kill(getpid(), SIGKILL);
}

static void mixed(void)
{
	struct block kept[64] = {{0, 0}};
	for (uint32_t i = 0; i < 20000; i++) {
		struct block *b = &kept[random_below(64)];
		if (b->cohort)
			died(b);
		else
			*b = born_mixed(1 + random_below(100000));
		if (i % 4000 == 0) {
			struct timespec nap = {0, 15000000};
			nanosleep(&nap, NULL);
		}
	}
}

/* More births and deaths than 32 bits hold, in cohorts of one interval and of several. */
static void billions(void)
{
	const uint64_t many = 5000000000u;
	for (uint32_t round = 0; round < 8; round++) {
		struct block b = born(round % 3);
		struct nc_cohort *c = cohort(b.cohort);
		c->births += many + round;
		truth.births += many + round;
		truth.born_bytes += (many + round) * b.bytes;
		truth.live_blocks += many + round;
		truth.live_bytes += (many + round) * b.bytes;
		add_live((int64_t)((many + round) * b.bytes));
		if (truth.live_bytes > truth.peak_bytes)
			truth.peak_bytes = truth.live_bytes;
		stamp(c);
		c->deaths += many - 7;
		c->temporary += many - 9;
		truth.live_blocks -= many - 7;
		truth.live_bytes -= (many - 7) * b.bytes;
		add_live(-(int64_t)((many - 7) * b.bytes));
		mark_dirty(b.cohort);
		struct timespec nap = {0, 15000000};
		nanosleep(&nap, NULL);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	if (!strcmp(what, "silent"))
		return 7;
	begin();
	if (!strcmp(what, "kill")) {
		struct itimerval after = {.it_value = {0, (suseconds_t)n + 1}};
		random_state += n;
		signal(SIGALRM, kill_self);
		setitimer(ITIMER_REAL, &after, NULL);
		churn(60000000);
	}
	if (!strcmp(what, "billions"))
		billions();
	if (!strcmp(what, "churn"))
		churn((uint64_t)n * 1000);
	if (!strcmp(what, "remote"))
		remote((uint64_t)n * 1000);
	if (!strcmp(what, "heap") || !strcmp(what, "exec"))
		heap();
	if (!strcmp(what, "mixed"))
		mixed();
	if (!strcmp(what, "wild"))
		wild();
	for (uint32_t i = 0; !strcmp(what, "marks") && i < n; i++) {
		blocks[i] = born(0);
		set_mark(i);
	}
	write_truth();
	if (!strcmp(what, "exec")) {
		argv[1] = "heap";
		execv("/proc/self/exe", argv);
		die("execv");
	}
	return 5;
}
