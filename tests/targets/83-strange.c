/* 83 programs that do strange things, one for each word; each must end, print, and see the same as alone.
 * BUILD: gcc -g -O2 -pthread -o 83-strange 83-strange.c
 * RUN:   ./83-strange WORD; without a word, the words
 * TRUTH func=in_known allocs=100 bytes=100900 live_blocks=25 live_bytes=25225
 * in_known runs last, in the first process, whatever the word did before (strict has ended by then).
 * tests/integration/unseen.sh compares it with itself alone, and with a preload that does nothing. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")
static int count(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}
static void look(const char *when)
{
	printf("%s fds=%d tasks=%d\n", when, count("/proc/self/fd"), count("/proc/self/task"));
}
static void *thread_look(void *a)
{
	void *p = malloc(10);
	KEEP(p);
	look("thread");
	free(p);
	return a;
}
static void at_exit(void)
{
	look("atexit");
}
static void do_fds(void)
{
	look("main");
	atexit(at_exit);
	pthread_t t;
	pthread_create(&t, 0, thread_look, 0);
	pthread_join(t, 0);
	look("after thread");
	fflush(stdout);
	if (!fork()) {
		void *p = malloc(10);
		KEEP(p);
		look("child");
		exit(0);
	}
	wait(0);
	int fd = open("/dev/null", O_RDONLY);
	printf("next fd %d\n", fd);
}
static void do_inherit(void)
{
	for (int i = 0; i < 16; i++) {
		struct rlimit r;
		getrlimit(i, &r);
		printf("rlimit %d %lx %lx\n", i, r.rlim_cur, r.rlim_max);
	}
	sigset_t s;
	sigprocmask(0, 0, &s);
	for (int i = 1; i < 65; i++) {
		struct sigaction a;
		if (sigismember(&s, i))
			printf("blocked %d\n", i);
		if (!sigaction(i, 0, &a) && a.sa_handler != SIG_DFL)
			printf("handler %d %p\n", i, (void *)a.sa_handler);
	}
	mode_t u = umask(0);
	umask(u);
	printf("umask %o nice %d pdeath ", u, getpriority(PRIO_PROCESS, 0));
	int sig = -1;
	prctl(PR_GET_PDEATHSIG, &sig);
	printf("%d dumpable %d nnp %d sub %d\n", sig, prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_KEEPCAPS));
	printf("sched %d seccomp %d thp %d slack %d\n", sched_getscheduler(0),
	       prctl(PR_GET_SECCOMP), prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0),
	       prctl(PR_GET_TIMERSLACK));
	cpu_set_t c;
	sched_getaffinity(0, sizeof c, &c);
	printf("cpus %d\n", CPU_COUNT(&c));
	int r;
	prctl(PR_GET_CHILD_SUBREAPER, &r);
	printf("reaper %d pgrp %d sid %d tty %d\n", r, getpgrp() == getpid(), getsid(0) == getpid(),
	       isatty(0));
	extern char **environ;
	for (char **e = environ; *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) && strncmp(*e, "NEAP_SOCKET=", 12))
			printf("env %s\n", *e);
	stack_t a;
	sigaltstack(0, &a);
	printf("alt %d\n", a.ss_flags);
	struct itimerval it;
	getitimer(ITIMER_REAL, &it);
	printf("timer %ld\n", it.it_value.tv_sec);
	char b[100];
	int fd = open("/proc/self/oom_score_adj", O_RDONLY);
	b[read(fd, b, 99)] = 0;
	printf("oom %s", b);
}
static void do_mallinfo(void)
{
	void *p[100];
	for (int i = 0; i < 100; i++)
		p[i] = malloc(1000 + i * 10);
	for (int i = 0; i < 50; i++)
		free(p[i]);
	struct mallinfo2 m = mallinfo2();
	printf("%zu %zu %zu %zu %zu\n", m.arena, m.hblks, m.uordblks, m.fordblks, m.keepcost);
	printf("trim %d opt %d\n", malloc_trim(0), mallopt(M_MXFAST, 0));
	for (int i = 50; i < 100; i++) {
		size_t n = malloc_usable_size(p[i]);
		memset(p[i], 7, n);
		printf("%zu ", n);
		free(p[i]);
	}
	m = mallinfo2();
	printf("\n%zu %zu %zu\n", m.arena, m.uordblks, m.fordblks);
	fflush(stdout);
	malloc_stats();
	malloc_info(0, stdout);
}
static void prep(void)
{
	free(malloc(11));
}
static void par(void)
{
	free(malloc(12));
}
static void chi(void)
{
	free(malloc(13));
	void *p = malloc(14);
	KEEP(p);
}
static void *churn(void *a)
{
	for (int i = 0; i < 300000; i++) {
		void *p = malloc(i % 3000);
		KEEP(p);
		free(p);
	}
	return a;
}
static void do_atfork(void)
{
	pthread_t t[2];
	pthread_atfork(prep, par, chi);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], 0, churn, 0);
	int bad = 0;
	for (int i = 0; i < 30; i++) {
		pid_t p = fork();
		if (!p) {
			free(malloc(100));
			_exit(3);
		}
		int st;
		waitpid(p, &st, 0);
		bad += WEXITSTATUS(st) != 3;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], 0);
	printf("bad %d\n", bad);
}
static void do_vforkfail(void)
{
	for (int i = 0; i < 300; i++) {
		pid_t p = vfork();
		if (!p) {
			char *a[] = {"x", 0};
			void *q = malloc(50);
			KEEP(q);
			free(q);
			execv("/nonexistent", a);
			_exit(9);
		}
		int st;
		waitpid(p, &st, 0);
		if (WEXITSTATUS(st) != 9)
			printf("bad\n");
	}
	pid_t p;
	char *a[] = {"x", 0};
	printf("spawn %d\n", posix_spawn(&p, "/nonexistent", 0, 0, a, a));
	void *q = malloc(77);
	KEEP(q);
}
static void do_dlmopen(void)
{
	void *h = dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW);
	void *c = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	printf("%d %d\n", !!h, !!c);
	if (c) {
		void *(*m)(size_t) = dlsym(c, "malloc");
		void (*f)(void *) = dlsym(c, "free");
		char *(*sd)(const char *) = dlsym(c, "strdup");
		for (int i = 0; i < 100; i++) {
			void *p = m(100);
			KEEP(p);
			char *s = sd("hello");
			f(s);
			f(p);
		}
		dlclose(c);
	}
	if (h)
		dlclose(h);
	void *p = malloc(33);
	KEEP(p);
}
static void do_dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	for (int i = 0; i < 1000; i++) {
		void *p = malloc(i);
		KEEP(p);
		if (i % 2)
			free(p);
	}
	void *h = dlopen("libz.so.1", RTLD_NOW);
	printf("%d\n", !!h);
	pthread_t t;
	pthread_create(&t, 0, churn, 0);
	pthread_join(t, 0);
	if (!fork()) {
		void *p = malloc(3);
		KEEP(p);
		_exit(0);
	}
	wait(0);
}
static void do_strict(void)
{
	void *warm = malloc(60000);
	free(warm);
	printf("strict\n");
	fflush(stdout);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	void *p[40];
	for (int i = 0; i < 40; i++) {
		p[i] = malloc(100 + i);
		KEEP(p[i]);
	}
	for (int i = 0; i < 40; i++)
		free(p[i]);
	write(1, "alive\n", 6);
	syscall(SYS_exit, 0);
}
static int clone_child(void *a)
{
	for (int i = 0; i < 100; i++) {
		void *p = malloc(40);
		KEEP(p);
		free(p);
	}
	*(void **)a = malloc(41);
	return 5;
}
static void do_clonevm(void)
{
	static char st[65536];
	void *out = 0;
	int s = 0;
	pid_t p = clone(clone_child, st + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, &out);
	waitpid(p, &s, 0);
	printf("%d %d\n", WEXITSTATUS(s), !!out);
	free(out);
	out = 0;
	p = clone(clone_child, st + 65536, CLONE_VM | SIGCHLD, &out);
	waitpid(p, &s, 0);
	printf("%d %d\n", WEXITSTATUS(s), !!out);
	free(out);
}
static sigjmp_buf jb;
static void *volatile alt_p;
static void on_alt(int s)
{
	void *p = malloc(61);
	KEEP(p);
	free(p);
	alt_p = malloc(62);
	if (s == SIGUSR2)
		siglongjmp(jb, 1);
}
static void do_smallalt(void)
{
	size_t n = getauxval(AT_MINSIGSTKSZ) + 2048;
	static char st[65536];
	stack_t a = {.ss_sp = st, .ss_size = n};
	sigaltstack(&a, 0);
	struct sigaction sa = {.sa_handler = on_alt, .sa_flags = SA_ONSTACK};
	sigaction(SIGUSR1, &sa, 0);
	sigaction(SIGUSR2, &sa, 0);
	memset(st, 0, sizeof st);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	for (int i = 0; i < 100; i++)
		if (!sigsetjmp(jb, 1))
			raise(SIGUSR2);
	printf("ok %d\n", !!alt_p);
}
static ucontext_t scheduler, c1;
static void co(void)
{
	for (int i = 0; i < 50; i++) {
		void *p = malloc(70);
		KEEP(p);
		free(p);
		swapcontext(&c1, &scheduler);
	}
}
static void do_smallctx(void)
{
	char *st = mmap(0, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(st, 4096, PROT_NONE);
	getcontext(&c1);
	c1.uc_stack.ss_sp = st + 4096;
	c1.uc_stack.ss_size = 8192;
	c1.uc_link = &scheduler;
	makecontext(&c1, co, 0);
	for (int i = 0; i < 50; i++)
		swapcontext(&scheduler, &c1);
	printf("ctx ok\n");
}
static void on_timer(int s)
{
	pid_t p = fork();
	if (!p) {
		void *q = malloc(9);
		KEEP(q);
		_exit(0);
	}
}
static void do_forksignal(void)
{
	struct sigaction sa = {.sa_handler = on_timer, .sa_flags = SA_RESTART};
	sigaction(SIGALRM, &sa, 0);
	struct itimerval it = {{0, 3000}, {0, 3000}};
	setitimer(ITIMER_REAL, &it, 0);
	churn(0);
	it = (struct itimerval){0};
	setitimer(ITIMER_REAL, &it, 0);
	while (wait(0) > 0)
		;
	printf("done\n");
}
static void *cancelled(void *a)
{
	for (;;) {
		void *p = malloc(100);
		KEEP(p);
		free(p);
		pthread_testcancel();
	}
	return a;
}
static void do_cancel(void)
{
	int n = 0;
	for (int i = 0; i < 100; i++) {
		pthread_t t;
		void *r;
		pthread_create(&t, 0, cancelled, 0);
		usleep(300);
		pthread_cancel(t);
		pthread_join(t, &r);
		n += r == PTHREAD_CANCELED;
	}
	printf("cancelled %d\n", n);
}
static void do_overcommit(void)
{
	void *p = malloc(1ul << 36);
	printf("%d\n", !!p);
	if (p) {
		((char *)p)[1ul << 35] = 1;
		p = realloc(p, 1ul << 37);
		printf("%d\n", !!p);
	}
	free(p);
	p = calloc(1 << 20, 1 << 15);
	printf("%d\n", !!p);
	free(p);
	p = aligned_alloc(1ul << 30, 1ul << 30);
	printf("%d\n", p && !((unsigned long)p & ((1ul << 30) - 1)));
	free(p);
	errno = 0;
	p = malloc(1ul << 62);
	printf("%d %d\n", !!p, errno);
}
static void do_fdtable(void)
{
	struct rlimit r = {3, 3};
	setrlimit(RLIMIT_NOFILE, &r);
	pthread_t t;
	pthread_create(&t, 0, churn, 0);
	pthread_join(t, 0);
	void *p = malloc(9);
	KEEP(p);
	printf("ok\n");
	if (!fork()) {
		void *q = malloc(9);
		KEEP(q);
		printf("child\n");
		exit(0);
	}
	wait(0);
}
static void do_closeall(void)
{
	close_range(3, ~0u, 0);
	for (int i = 0; i < 10; i++) {
		int fd = open("/dev/zero", O_RDONLY);
		printf("%d ", fd);
	}
	printf("\n");
	churn(0);
	pthread_t t;
	pthread_create(&t, 0, churn, 0);
	pthread_join(t, 0);
	close_range(3, ~0u, 0);
}
static void do_stackrlimit(void)
{
	struct rlimit r = {256 << 10, 256 << 10};
	setrlimit(RLIMIT_STACK, &r);
	pthread_t t;
	printf("%d\n", pthread_create(&t, 0, churn, 0));
	pthread_join(t, 0);
}
static void do_unshare(void)
{
	printf("%d\n", unshare(CLONE_FILES | CLONE_FS));
	churn(0);
	if (!fork()) {
		int refused = unshare(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET);
		printf("%d\n", refused);
		if (!fork()) {
			void *p = malloc(5);
			KEEP(p);
			printf("pid %d\n", refused ? 0 : getpid());
			exit(0);
		}
		wait(0);
		exit(0);
	}
	fflush(stdout);
	wait(0);
}
static void do_ptrace(void)
{
	pid_t p = fork();
	if (!p) {
		prctl(PR_SET_PTRACER, -1);
		syscall(SYS_ptrace, 0, 0, 0, 0);
		raise(SIGSTOP);
		void *q = malloc(9);
		KEEP(q);
		_exit(4);
	}
	int st;
	waitpid(p, &st, 0);
	printf("stopped %d\n", WIFSTOPPED(st));
	syscall(SYS_ptrace, 7, p, 0, 0);
	while (waitpid(p, &st, 0) == p && WIFSTOPPED(st)) {
		printf("sig %d\n", WSTOPSIG(st));
		syscall(SYS_ptrace, 7, p, 0, WSTOPSIG(st));
	}
	printf("end %d\n", WEXITSTATUS(st));
}
static void do_waitany(void)
{
	printf("children %d %d\n", (int)waitpid(-1, 0, WNOHANG), errno);
	FILE *f = popen("echo hi", "r");
	char b[10];
	fgets(b, 10, f);
	printf("%s%d\n", b, pclose(f));
	printf("%d\n", system("exit 3"));
}
static int argc;
static char **argv;
static void do_title(void)
{
	char *e = argv[argc - 1];
	for (char **x = argv + argc + 1; *x; x++)
		e = *x;
	size_t n = (size_t)(e + strlen(e) - argv[0]);
	memset(argv[0], 'x', n);
	void *p = malloc(5);
	KEEP(p);
	if (!fork()) {
		void *q = malloc(9);
		KEEP(q);
		printf("child\n");
		exit(0);
	}
	wait(0);
	clearenv();
	if (!fork()) {
		void *q = malloc(9);
		KEEP(q);
		printf("child2\n");
		exit(0);
	}
	wait(0);
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
	KEEP(known);
}
static const struct {
	const char *word;
	void (*fn)(void);
} words[] = {
	{"fds", do_fds},           {"inherit", do_inherit},         {"mallinfo", do_mallinfo},
	{"atfork", do_atfork},     {"vforkfail", do_vforkfail},     {"dlmopen", do_dlmopen},
	{"dumpable", do_dumpable}, {"strict", do_strict},           {"clonevm", do_clonevm},
	{"smallalt", do_smallalt}, {"smallctx", do_smallctx},       {"forksignal", do_forksignal},
	{"cancel", do_cancel},     {"overcommit", do_overcommit},   {"fdtable", do_fdtable},
	{"closeall", do_closeall}, {"stackrlimit", do_stackrlimit}, {"unshare", do_unshare},
	{"ptrace", do_ptrace},     {"waitany", do_waitany},         {"title", do_title},
};
int main(int count, char **args)
{
	argc = count;
	argv = args;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (argc < 2)
			puts(words[i].word);
		else if (!strcmp(argv[1], words[i].word)) {
			words[i].fn();
			in_known();
			return 7;
		}
	}
	return argc > 1;
}
