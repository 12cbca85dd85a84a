/* 88 programs that work against whoever watches them, one for each word; each must end, print, and see the same
 *    as alone.
 * BUILD: gcc -g -O2 -pthread -o 88-hostile 88-hostile.c -ldl
 * RUN:   ./88-hostile WORD; without a word, the words
 * TRUTH func=in_known allocs=100 bytes=100900 live_blocks=25 live_bytes=25225
 * in_known runs last, in the image that ends, whatever the word did before.  tests/integration/unseen.sh compares
 * it with itself alone, and with a preload that does nothing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")
#define KIB     1024ul
static volatile int is_over;
static char **argv;

NI static void give(size_t bytes)
{
	void *p = malloc(bytes);
	KEEP(p);
	free(p);
}
static void *churn(void *rounds)
{
	for (long i = 0; i < (long)rounds; i++)
		give((size_t)i % 3000);
	return NULL;
}
static void *churn_on(void *arg)
{
	while (!is_over)
		churn((void *)1000);
	return arg;
}
static int status_of(pid_t pid)
{
	int st = -1;
	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(st) ? WEXITSTATUS(st) : 256 + WTERMSIG(st);
}

/* ---- everything at once ----------------------------------------------------------------- */

static void on_timer(int sig)
{
	int saved = errno;
	sig = sig < 0;
	errno = saved + sig;
}
static void *open_and_close(void *failures)
{
	while (!is_over) {
		void *h = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
		if (h && dlclose(h))
			++*(int *)failures;
	}
	return NULL;
}
/* A timer, threads that load and unload, threads that allocate, and children that do so too. */
static void do_storm(void)
{
	pthread_t t[4];
	int failures = 0, bad = 0;
	struct sigaction sa = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	struct itimerval it = {{0, 1000}, {0, 1000}}, off = {{0, 0}, {0, 0}};
	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i & 1 ? open_and_close : churn_on, &failures);
	for (int i = 0; i < 60; i++) {
		pid_t p = fork();
		if (!p) {
			churn((void *)100);
			_exit(5);
		}
		bad += p < 0 || status_of(p) != 5;
	}
	is_over = 1;
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	setitimer(ITIMER_REAL, &off, NULL);
	printf("failures %d bad %d\n", failures, bad);
}

static void *replace(void *arg)
{
	char *args[] = {argv[0], "done", NULL};
	execv("/proc/self/exe", args);
	return arg;
}
/* The program is replaced by a thread that is not the first, while others allocate. */
static void do_threadexec(void)
{
	pthread_t t;
	for (int i = 0; i < 3; i++)
		pthread_create(&t, NULL, churn_on, NULL);
	usleep(5000);
	pthread_create(&t, NULL, replace, NULL);
	for (;;)
		pause();
}
static void do_done(void)
{
	printf("replaced\n");
}

static void *start_many(void *bad)
{
	char *args[] = {"true", NULL};
	for (int i = 0; i < 20; i++) {
		pid_t p = vfork();
		if (!p) {
			execv("/bin/true", args);
			_exit(9);
		}
		if (status_of(p))
			__atomic_fetch_add((int *)bad, 1, __ATOMIC_RELAXED);
		churn((void *)100);
	}
	return NULL;
}
static void do_vforkexec(void)
{
	pthread_t t[3];
	int bad = 0;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, start_many, &bad);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("bad %d\n", bad);
}

/* ---- descriptors -------------------------------------------------------------------------- */

static void *close_all(void *arg)
{
	while (!is_over) {
		close_range(3, ~0u, 0);
		usleep(1000);
	}
	return arg;
}
/* Children whose descriptors are closed all the time cannot be counted on to be recorded, but must live. */
static void do_closing(void)
{
	pthread_t t, u;
	int bad = 0;
	pthread_create(&t, NULL, close_all, NULL);
	for (int i = 0; i < 40; i++) {
		pthread_create(&u, NULL, churn, (void *)1000);
		pthread_join(u, NULL);
		pid_t p = fork();
		if (!p) {
			is_over = 0;
			pthread_create(&u, NULL, close_all, NULL);
			churn((void *)1000);
			_exit(5);
		}
		bad += status_of(p) != 5;
	}
	is_over = 1;
	pthread_join(t, NULL);
	printf("bad %d\n", bad);
}

/* ---- limits --------------------------------------------------------------------------------- */

static void do_nolimits(void)
{
	void *p[64];
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; i < 64; i++)
		p[i] = malloc(60000);
	for (int i = 0; i < 64; i++)
		free(p[i]);
	for (int i = 0; i < 16; i++) {
		struct rlimit none = {0, 0};
		if (i != RLIMIT_CPU && i != RLIMIT_NPROC && setrlimit(i, &none))
			printf("%d: %d\n", i, errno);
	}
	churn((void *)3000);
	pid_t child = fork();
	if (!child) {
		churn((void *)3000);
		_exit(5);
	}
	if (child < 0 || status_of(child) != 5)
		abort(); /* nothing can be printed into a file */
}
static void do_locked(void)
{
	int refused = mlockall(MCL_CURRENT | MCL_FUTURE);
	churn((void *)3000);
	printf("%d\n", refused);
	munlockall();
}
/* No further mapping can be made. */
static void do_mapcount(void)
{
	enum {
		PAGES = 140000
	};
	char *p = mmap(NULL, PAGES * 4096ul, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		       -1, 0);
	int i = 0;
	while (i < PAGES && !mprotect(p + i * 4096ul, 4096, PROT_READ))
		i += 2;
	printf("full %d\n", i < PAGES && errno == ENOMEM);
	churn((void *)3000);
	munmap(p, PAGES * 4096ul);
}

/* ---- kernels' newer calls -------------------------------------------------------------------- */

static void do_clone3(void)
{
	const uint64_t flags[] = {0, CLONE_CLEAR_SIGHAND, CLONE_FILES | CLONE_FS};
	for (int i = 0; i < 3; i++) {
		struct clone_args args = {.flags = flags[i], .exit_signal = SIGCHLD};
		long p = syscall(SYS_clone3, &args, sizeof args);
		if (!p) {
			churn((void *)1000);
			_exit(5);
		}
		printf("%d\n", p < 0 ? -1 : status_of((pid_t)p));
	}
}
static void do_landlock(void)
{
	struct landlock_ruleset_attr attr = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE |
								  LANDLOCK_ACCESS_FS_READ_DIR |
								  LANDLOCK_ACCESS_FS_WRITE_FILE};
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	printf("%ld\n", rules < 0 ? -1 : syscall(SYS_landlock_restrict_self, rules, 0));
	if (rules >= 0)
		close(rules);
	pthread_t t;
	pthread_create(&t, NULL, churn, (void *)3000);
	pthread_join(t, NULL);
	pid_t p = fork();
	if (!p) {
		churn((void *)1000);
		_exit(5);
	}
	printf("child %d, open %d\n", status_of(p), open("/etc/passwd", O_RDONLY));
}

static int faults_fd;
static void *serve_faults(void *arg)
{
	struct uffd_msg m;
	while (read(faults_fd, &m, sizeof m) == sizeof m) {
		char *page = malloc(4096);
		struct uffdio_copy copy = {.dst = m.arg.pagefault.address & -4096ull,
					   .src = (uintptr_t)page,
					   .len = 4096};
		memset(page, 0, 4096);
		if (ioctl(faults_fd, UFFDIO_COPY, &copy) && errno != EEXIST)
			exit(3);
		free(page);
	}
	return arg;
}
/* Deep enough that each level is a page of the stack that nobody has touched. */
NI static int descend(int levels)
{
	volatile char room[4096];
	room[0] = (char)levels;
	give(100);
	return levels ? descend(levels - 1) + room[0] * 0 : 0;
}
static void *on_served_stack(void *arg)
{
	descend(30);
	return arg;
}
/* The pages of a thread's stack come from another thread, which allocates to serve them. */
static void do_userfault(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	enum {
		STACK = 512 * 1024
	};
	faults_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (faults_fd < 0 || ioctl(faults_fd, UFFDIO_API, &api)) {
		printf("refused\n");
		return;
	}
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = {.range = {(uintptr_t)stack, STACK - 64 * KIB},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_attr_t a;
	pthread_t server, t;
	pthread_attr_init(&a);
	pthread_attr_setstack(&a, stack, STACK);
	printf("%d\n", ioctl(faults_fd, UFFDIO_REGISTER, &range));
	pthread_create(&server, NULL, serve_faults, NULL);
	pthread_create(&t, &a, on_served_stack, NULL);
	pthread_join(t, NULL);
	printf("served\n");
}

/* One read by a ring that is mapped by hand, from and into blocks. */
static void do_uring(void)
{
	struct io_uring_params par = {0};
	int fd = (int)syscall(SYS_io_uring_setup, 4, &par);
	if (fd < 0) {
		printf("refused\n");
		return;
	}
	size_t ring_bytes = par.cq_off.cqes + par.cq_entries * sizeof(struct io_uring_cqe) + 4096;
	char *sq =
		mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	char *cq = par.features & IORING_FEAT_SINGLE_MMAP
			   ? sq
			   : mmap(NULL, ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				  IORING_OFF_CQ_RING);
	struct io_uring_sqe *sqes = mmap(NULL, par.sq_entries * sizeof *sqes,
					 PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || sqes == MAP_FAILED) {
		printf("not mapped\n");
		return;
	}
	int zero = open("/dev/zero", O_RDONLY);
	char *to = malloc(5000);
	memset(to, 1, 5000);
	sqes[0] = (struct io_uring_sqe){
		.opcode = IORING_OP_READ, .fd = zero, .addr = (uintptr_t)to, .len = 5000};
	((unsigned *)(sq + par.sq_off.array))[0] = 0;
	__atomic_store_n((unsigned *)(sq + par.sq_off.tail), 1, __ATOMIC_RELEASE);
	long n = syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	struct io_uring_cqe *done = (void *)(cq + par.cq_off.cqes);
	printf("%ld %d %d\n", n, done->res, to[4999]);
	free(to);
	close(fd);
}

/* ---- a world of its own ------------------------------------------------------------------------ */

static void do_personality(void)
{
	char *args[] = {argv[0], "placed", NULL};
	personality(ADDR_NO_RANDOMIZE | READ_IMPLIES_EXEC | ADDR_COMPAT_LAYOUT);
	execv("/proc/self/exe", args);
}
static void do_placed(void)
{
	printf("%x\n", personality(0xffffffff));
	churn((void *)1000);
}
static void do_namespaces(void)
{
	pid_t p = fork();
	if (!p) {
		printf("%d\n", unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS));
		pid_t q = fork();
		if (!q) {
			churn((void *)1000);
			_exit(6);
		}
		printf("child %d\n", status_of(q));
		exit(5);
	}
	printf("child %d\n", status_of(p));
}

/* ---- calls that no compiler makes ------------------------------------------------------------------ */

/* With a stack pointer that is 8 off; frames are found by rbp. */
#define HAS_FRAME __attribute__((optimize("no-omit-frame-pointer")))
NI HAS_FRAME static void *misaligned_malloc(size_t bytes)
{
	void *p;
	void *(*volatile f)(size_t) = malloc;
	__asm__ volatile("movq %%rsp, %%rbx\n\tandq $-16, %%rsp\n\tsubq $136, %%rsp\n\t"
			 "call *%2\n\tmovq %%rbx, %%rsp"
			 : "=a"(p)
			 : "D"(bytes), "r"(f)
			 : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory", "cc");
	return p;
}
NI HAS_FRAME static void misaligned_free(void *p)
{
	void (*volatile f)(void *) = free;
	__asm__ volatile("movq %%rsp, %%rbx\n\tandq $-16, %%rsp\n\tsubq $136, %%rsp\n\t"
			 "call *%1\n\tmovq %%rbx, %%rsp"
			 : "+D"(p)
			 : "r"(f)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "memory",
			   "cc");
}
static void *misaligned_thread(void *arg)
{
	give(10); /* libc makes an arena for the thread, which needs an aligned stack */
	for (size_t i = 0; i < 100; i++)
		misaligned_free(misaligned_malloc(i * 17));
	return arg;
}
static void do_misaligned(void)
{
	pthread_t t;
	misaligned_thread(NULL);
	pthread_create(&t, NULL, misaligned_thread, NULL);
	pthread_join(t, NULL);
	printf("lives\n");
}
/* What libc exports besides malloc, as old allocators and tools call it. */
static void do_direct(void)
{
	void *(*direct)(size_t) = dlsym(RTLD_DEFAULT, "__libc_malloc");
	void (*release)(void *) = dlsym(RTLD_DEFAULT, "__libc_free");
	void *(*versioned)(size_t) = dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5");
	for (int i = 0; i < 20; i++) {
		void *p = direct ? direct(100) : malloc(100), *q = malloc(100),
		     *r = versioned ? versioned(100) : malloc(100);
		KEEP(p);
		KEEP(q);
		KEEP(r);
		free(p);
		release ? release(q) : free(q);
		free(r);
	}
	printf("%d %d %d\n", !!direct, !!release, !!versioned);
}

static void *known[100];
NI void in_known(void)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(1009);
		KEEP(p);
		if (i % 4)
			free(p);
		else
			known[i] = p;
	}
	__asm__ volatile("" : : "r"(known) : "memory");
}
static const struct {
	const char *word;
	void (*fn)(void);
} words[] = {
	{"storm", do_storm},           {"threadexec", do_threadexec},
	{"vforkexec", do_vforkexec},   {"closing", do_closing},
	{"nolimits", do_nolimits},     {"locked", do_locked},
	{"mapcount", do_mapcount},     {"clone3", do_clone3},
	{"landlock", do_landlock},     {"userfault", do_userfault},
	{"uring", do_uring},           {"personality", do_personality},
	{"namespaces", do_namespaces}, {"misaligned", do_misaligned},
	{"direct", do_direct},         {"done", do_done}, /* what others become */
	{"placed", do_placed},
};
int main(int count, char **args)
{
	argv = args;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (count < 2)
			puts(words[i].word);
		else if (!strcmp(argv[1], words[i].word)) {
			words[i].fn();
			in_known();
			return 7;
		}
	}
	return count > 1;
}
