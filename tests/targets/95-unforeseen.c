/* 95 programs that nobody had thought of, one for each word; each must end, print, and see the same as alone.
 * BUILD: gcc -g -O2 -shared -fPIC -pthread -DLIBRARY -o lib95odd.so 95-unforeseen.c;
 *        gcc -g -O2 -pthread -o 95-unforeseen 95-unforeseen.c -ldl
 * RUN:   ./95-unforeseen WORD; without a word, the words
 * TRUTH func=in_known allocs=100 bytes=100900 live_blocks=25 live_bytes=25225
 * in_known runs last, in the first process, whatever the word did before.  A word that allocates in functions of its
 * own prints a line of truth as well.  tests/integration/unseen.sh compares it with itself alone, and with a preload
 * that does nothing. */
#define _GNU_SOURCE
#include <argz.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <iconv.h>
#include <link.h>
#include <locale.h>
#include <malloc.h>
#include <obstack.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <wordexp.h>
#define NI      __attribute__((noinline, noclone))
#define KEEP(p) __asm__ volatile("" : "+r"(p) : : "memory")

#ifdef LIBRARY
NI void in_odd_library(void)
{
	for (int i = 0; i < 10; i++) {
		void *p = malloc(77);
		KEEP(p);
	}
}
NI static void *in_thread_of_constructor(void *arg)
{
	for (int i = 0; i < 50; i++) {
		void *p = malloc(91);
		KEEP(p);
	}
	return arg;
}
/* The loader's lock is held, and a new thread runs code of a library that is not quite there. */
__attribute__((constructor)) static void begin(void)
{
	pthread_t t;
	if (!getenv("ODD_THREAD"))
		return;
	pthread_create(&t, NULL, in_thread_of_constructor, NULL);
	pthread_join(t, NULL);
}
#else
static char **argv;

static void say_truth(const char *func, unsigned long allocs, unsigned long bytes,
		      unsigned long live_blocks, unsigned long live_bytes)
{
	printf("%s func=%s allocs=%lu bytes=%lu live_blocks=%lu live_bytes=%lu\n", "TRUTH", func,
	       allocs, bytes, live_blocks, live_bytes);
}
NI static void work(void)
{
	void *p[100];
	for (size_t i = 0; i < 100; i++) {
		p[i] = malloc(10 + 3 * i);
		KEEP(p[i]);
	}
	for (int i = 0; i < 100; i++)
		free(p[i]);
}
static void work_and_end(void)
{
	work();
	_exit(3);
}
static int status_of(pid_t pid)
{
	int status = -1;
	waitpid(pid, &status, 0);
	return status;
}
static void in_child(void (*run)(void))
{
	fflush(stdout);
	pid_t child = fork();
	if (!child)
		run();
	printf("child %x\n", status_of(child));
}
static void do_ended(void)
{
	work_and_end();
}

/* ---- entry points ------------------------------------------------------------------------- */

/* Every byte that the allocator says is there is used, and asked for. */
static unsigned long usable_bytes;
NI static void *in_usable(size_t bytes)
{
	char *p = malloc(bytes);
	KEEP(p);
	size_t usable = malloc_usable_size(p);
	memset(p, 1, usable);
	char *q = realloc(p, usable);
	usable_bytes += bytes + usable;
	if (q != p)
		printf("moved\n");
	return q;
}
static void do_usable(void)
{
	for (size_t i = 0; i < 2000; i++)
		free(in_usable(i * 7 % 5000));
	malloc_trim(0);
	say_truth("in_usable", 4000, usable_bytes, 0, 0);
}
static void keep(void *p)
{
	(void)p;
}
static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}
/* Functions of libc that allocate and are seldom met. */
#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free
NI static void in_obstack(void)
{
	struct obstack o;
	obstack_init(&o);
	for (int i = 0; i < 1000; i++)
		obstack_copy0(&o, "twelve bytes", 12);
	printf("obstack %d\n", (int)_obstack_memory_used(&o));
	obstack_free(&o, NULL);
}
static void do_library(void)
{
	char *text = NULL, *list = NULL;
	size_t bytes = 0, list_bytes = 0;
	FILE *f = open_memstream(&text, &bytes);
	for (int i = 0; i < 3000; i++)
		fprintf(f, "%d ", i);
	fclose(f);
	printf("stream %zu\n", bytes);
	argz_create_sep(text, ' ', &list, &list_bytes);
	printf("words %zu\n", argz_count(list, list_bytes));
	void *root = NULL;
	for (char *word = NULL; (word = argz_next(list, list_bytes, word));)
		tsearch(word, &root, by_text);
	tdestroy(root, keep);
	free(list);
	free(text);
	struct hsearch_data table = {0};
	hcreate_r(500, &table);
	hdestroy_r(&table);
	glob_t found;
	printf("glob %d\n", glob("/proc/self/st*", 0, NULL, &found));
	globfree(&found);
	wordexp_t words;
	printf("wordexp %d\n", wordexp("a b '$c'", &words, WRDE_NOCMD));
	wordfree(&words);
	locale_t c = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
	freelocale(c);
	iconv_t convert = iconv_open("UTF-16", "ISO-8859-15");
	printf("iconv %d\n", convert != (iconv_t)-1);
	iconv_close(convert);
	in_obstack();
}

/* ---- beginning and end ---------------------------------------------------------------------- */

static sem_t asked, answered;
static void *answer(void *arg)
{
	sem_wait(&asked);
	work();
	sem_post(&answered);
	return arg;
}
static int in_list(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	(void)info, (void)bytes, (void)arg;
	sem_post(&asked);
	sem_wait(&answered);
	return 1;
}
/* A thread's first allocation, while the loader's lock is held by somebody who waits for it. */
static void do_loaderlock(void)
{
	pthread_t t;
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_create(&t, NULL, answer, NULL);
	dl_iterate_phdr(in_list, NULL);
	pthread_join(t, NULL);
	printf("answered\n");
}
static const char *beside(const char *name)
{
	static char path[4096];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof path - 100);
	path[bytes < 0 ? 0 : bytes] = 0;
	strcpy(strrchr(path, '/') + 1, name);
	return path;
}
static void do_constructor(void)
{
	setenv("ODD_THREAD", "1", 1);
	void *library = dlopen(beside("lib95odd.so"), RTLD_NOW);
	printf("library %d\n", library != NULL);
	say_truth("in_thread_of_constructor", 50, 50 * 91, 50, 50 * 91);
}
NI static void at_end(void)
{
	static int left = 40;
	void *p = malloc(333);
	KEEP(p);
	if (--left > 0)
		atexit(at_end);
}
static void at_end_with(int status, void *arg)
{
	work();
	printf("ends with %d, %s\n", status, (const char *)arg);
}
/* What runs at the end asks for more to run at the end. */
static void do_exits(void)
{
	atexit(at_end);
	on_exit(at_end_with, "as it should");
	say_truth("at_end", 40, 40 * 333, 40, 40 * 333);
}

/* ---- processes -------------------------------------------------------------------------------- */

static void do_timens(void)
{
	if (unshare(CLONE_NEWTIME)) {
		printf("%s\n", strerror(errno));
		return;
	}
	int fd = open("/proc/self/timens_offsets", O_WRONLY);
	dprintf(fd, "monotonic 5000000 0\nboottime 5000000 0\n");
	close(fd);
	in_child(work_and_end);
}
/* A session of its own, without any descriptor. */
static void do_spawn(void)
{
	char *args[] = {argv[0], "ended", NULL};
	extern char **environ;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addclosefrom_np(&actions, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
	sigset_t all;
	sigfillset(&all);
	posix_spawnattr_setsigdefault(&attributes, &all);
	pid_t child = -1;
	int error = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, args, environ);
	printf("%d, %x\n", error, status_of(child));
}
static int copy_to_memory(const char *path, const char *name)
{
	int from = open(path, O_RDONLY), to = memfd_create(name, MFD_CLOEXEC);
	struct stat s;
	fstat(from, &s);
	while (s.st_size > 0) {
		ssize_t done = sendfile(to, from, NULL, (size_t)s.st_size);
		if (done <= 0)
			break;
		s.st_size -= done;
	}
	close(from);
	return to;
}
static void become_copy(void)
{
	char *args[] = {"another name", "ended", NULL};
	extern char **environ;
	fexecve(copy_to_memory("/proc/self/exe", "copy"), args, environ);
	_exit(97);
}
static void do_fexec(void)
{
	in_child(become_copy);
}

/* ---- threads and stacks --------------------------------------------------------------------- */

static ucontext_t walker, host[2];
static sem_t turn[2];
static int is_on, walks_left = 1000;
NI static void in_walker(int depth)
{
	if (depth) {
		in_walker(depth - 1);
		KEEP(depth);
		return;
	}
	void *p = malloc(123);
	KEEP(p);
	swapcontext(&walker, &host[is_on]);
	free(p);
	p = malloc(45);
	KEEP(p);
	walks_left--;
}
static void walk(void)
{
	for (int i = 0; walks_left > 0; i++)
		in_walker(i % 7);
	swapcontext(&walker, &host[is_on]);
}
static void *carry(void *arg)
{
	int me = (int)(long)arg;
	do {
		sem_wait(&turn[me]);
		if (walks_left > 0) {
			is_on = me;
			swapcontext(&host[me], &walker);
		}
		sem_post(&turn[!me]);
	} while (walks_left > 0);
	return NULL;
}
/* A coroutine that two threads run in turn, so that each resumes what the other left. */
static void do_migrate(void)
{
	pthread_t t[2];
	getcontext(&walker);
	walker.uc_stack.ss_sp = malloc(65536);
	walker.uc_stack.ss_size = 65536;
	makecontext(&walker, walk, 0);
	for (int i = 0; i < 2; i++)
		sem_init(&turn[i], 0, i == 0);
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, carry, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	say_truth("in_walker", 2000, 168 * 1000, 1000, 45 * 1000);
}
static sigjmp_buf out_of_it;
NI static void in_handler(void)
{
	for (int i = 0; i < 3; i++)
		free(malloc(210));
}
static void overflowed(int number)
{
	(void)number;
	in_handler();
	siglongjmp(out_of_it, 1);
}
NI static long deeper(volatile char *before, long n)
{
	volatile char room[500];
	room[0] = before[0];
	if (n % 50 == 0)
		free(malloc(19));
	return deeper(room, n + 1) + room[0];
}
/* The stack overflows, within malloc or without, and the program goes on. */
static void do_overflow(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction action = {.sa_handler = overflowed, .sa_flags = SA_ONSTACK};
	volatile int count = 0;
	struct rlimit limit = {1 << 20, RLIM_INFINITY};
	setrlimit(RLIMIT_STACK, &limit);
	sigaltstack(&alternate, NULL);
	sigaction(SIGSEGV, &action, NULL);
	while (!sigsetjmp(out_of_it, 1) || ++count < 20)
		if (count < 20)
			deeper("", 1 + count);
	signal(SIGSEGV, SIG_DFL);
	printf("overflows %d\n", count);
}

/* ---- modules ------------------------------------------------------------------------------------ */

static void call_library(void *library)
{
	void (*function)(void) =
		(void (*)(void))(library ? dlsym(library, "in_odd_library") : NULL);
	if (function)
		function();
	else
		printf("no library: %s\n", dlerror());
}
/* The recorder opens what it has met while the program lives. */
extern void neap_mark(const char *name) __attribute__((weak));
static void seen(void)
{
	if (neap_mark)
		neap_mark("seen");
}
/* A library whose name means another file, or none, to everybody else. */
static void do_fdlib(void)
{
	char path[64];
	int fd = copy_to_memory(beside("lib95odd.so"), "odd");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	void *library = dlopen(path, RTLD_NOW);
	close(fd);
	call_library(library);
	seen();
	say_truth("in_odd_library", 10, 770, 10, 770);
}
enum {
	COPIES = 150
};
static void do_manylibs(void)
{
	char path[64];
	for (int i = 0; i < COPIES; i++) {
		int fd = copy_to_memory(beside("lib95odd.so"), "odd");
		snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
		call_library(dlopen(path, RTLD_NOW));
	}
	seen();
	say_truth("in_odd_library", COPIES * 10ul, COPIES * 770ul, COPIES * 10ul, COPIES * 770ul);
}

/* ---- limits --------------------------------------------------------------------------------------- */

#ifndef SYS_mseal
#define SYS_mseal 462
#endif
/* Nothing that is mapped by now, but the heap and the stack, may ever be moved or unmapped. */
static void do_sealed(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[5000];
	unsigned long start, end, ranges[500][2];
	int count = 0, sealed = 0;
	while (fgets(line, sizeof line, f) && count < 500)
		if (!strstr(line, "[heap]") && !strstr(line, "[stack]") && !strstr(line, "[v") &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2) {
			ranges[count][0] = start;
			ranges[count++][1] = end;
		}
	fclose(f);
	for (int i = 0; i < count; i++)
		sealed += !syscall(SYS_mseal, ranges[i][0], ranges[i][1] - ranges[i][0], 0);
	printf("sealed %s\n", sealed == count ? "all" : "not all");
	for (int i = 0; i < 200; i++)
		work();
	in_child(work_and_end);
}

NI static void in_known(void)
{
	char *known[25];
	for (int i = 0; i < 100; i++) {
		char *p = malloc(1009);
		KEEP(p);
		if (i % 4)
			free(p);
		else
			known[i / 4] = p;
	}
	__asm__ volatile("" : : "r"(known) : "memory");
}
static const struct {
	const char *word;
	void (*fn)(void);
} words[] = {
	{"usable", do_usable},         {"library", do_library},
	{"loaderlock", do_loaderlock}, {"constructor", do_constructor},
	{"exits", do_exits},           {"timens", do_timens},
	{"spawn", do_spawn},           {"fexec", do_fexec},
	{"migrate", do_migrate},       {"overflow", do_overflow},
	{"fdlib", do_fdlib},           {"manylibs", do_manylibs},
	{"sealed", do_sealed},         {"ended", do_ended}, /* what others become */
};
int main(int count, char **args)
{
	argv = args;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (count < 2 && words[i].fn != do_ended)
			puts(words[i].word);
		else if (count > 1 && !strcmp(argv[1], words[i].word)) {
			words[i].fn();
			in_known();
			return 7;
		}
	}
	return count > 1;
}
#endif
