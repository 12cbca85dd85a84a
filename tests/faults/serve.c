/*
 * In main's place.  The program is loaded and relocated once; each trial is a fork of
 * that, with its streams in files of its own, in the caller's working directory.  What
 * a trial leaves in the directory is looked at and removed.
 *
 * With NEAP_FAULTS_JUDGE a shell command judges the trials: FAULT_STATUS, FAULT_OUT and
 * FAULT_ERR (files), FAULT_NAME and FAULT_NUMBER are its environment; what it prints
 * goes to the log, and its status says whether the trial was good.  It also cleans up.
 */
#define _GNU_SOURCE
#include "tests/faults/faults.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIAL_MOST_S  60
#define BEFORE_MOST   256
#define EXAMPLES_MOST 20 /* bad trials shown of one program */

typedef int (*main_fn)(int argc, char **argv, char **envp);

static main_fn program_main;
static struct faults *shared;
static const char *judge_command;
static int log_fd, in_fd, out_fd, err_fd;
static uint64_t most_count, places_count, only_count, bad_count;
static char *before[BEFORE_MOST]; /* names in the working directory */
static size_t before_count;

__attribute__((noreturn)) static void give_up(const char *what)
{
	dprintf(STDERR_FILENO, "faults: %s: %s\n", what, strerror(errno));
	_exit(99);
}

/* ---- files -------------------------------------------------------------------------- */

static int new_memfd(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		give_up("memfd_create");
	return fd;
}

/* A pipe can be read once; every trial wants to. */
static int copy_of_input(void)
{
	struct stat st;
	char part[4096];
	ssize_t n;
	if (fstat(STDIN_FILENO, &st) || !S_ISFIFO(st.st_mode))
		return -1;
	int fd = new_memfd("stdin");
	while ((n = read(STDIN_FILENO, part, sizeof part)) > 0)
		if (write(fd, part, (size_t)n) != n)
			give_up("write");
	return fd;
}

static struct text content_of(int fd)
{
	struct stat st;
	struct text t = {0};
	if (fd < 0 || fstat(fd, &st))
		give_up("fstat");
	t.data = malloc((size_t)st.st_size + 1);
	t.bytes = (size_t)st.st_size;
	if (!t.data || pread(fd, t.data, t.bytes, 0) != (ssize_t)t.bytes)
		give_up("pread");
	t.data[t.bytes] = '\0';
	return t;
}

static bool is_old(const char *name)
{
	for (size_t i = 0; i < before_count; i++)
		if (!strcmp(before[i], name))
			return true;
	return false;
}

static void list_before(void)
{
	DIR *d = opendir(".");
	struct dirent *entry;
	if (!d)
		give_up("opendir");
	while ((entry = readdir(d))) {
		if (before_count == BEFORE_MOST)
			give_up("too many files here");
		before[before_count++] = strdup(entry->d_name);
	}
	closedir(d);
}

static void take_files(struct run *r)
{
	DIR *d = opendir(".");
	struct dirent *entry;
	if (!d)
		give_up("opendir");
	while ((entry = readdir(d))) {
		if (is_old(entry->d_name) || r->file_count == FILES_MOST)
			continue;
		size_t i = r->file_count++;
		int fd = open(entry->d_name, O_RDONLY | O_CLOEXEC);
		r->files[i] = content_of(fd);
		r->file_names[i].data = strdup(entry->d_name);
		r->file_names[i].bytes = strlen(entry->d_name);
		close(fd);
		unlink(entry->d_name);
	}
	closedir(d);
}

static void run_release(struct run *r)
{
	free(r->out.data);
	free(r->err.data);
	for (size_t i = 0; i < r->file_count; i++) {
		free(r->files[i].data);
		free(r->file_names[i].data);
	}
	*r = (struct run){0};
}

/* ---- a trial -------------------------------------------------------------------------- */

__attribute__((noreturn)) static void be_program(int argc, char **argv)
{
	bool is_full = shared->fault == FAULT_STDOUT;
	int full = is_full ? open("/dev/full", O_WRONLY | O_CLOEXEC) : -1;
	if (dup2(is_full ? full : out_fd, STDOUT_FILENO) < 0 || dup2(err_fd, STDERR_FILENO) < 0 ||
	    (in_fd >= 0 && dup2(in_fd, STDIN_FILENO) < 0))
		give_up("dup2");
	prctl(PR_SET_DUMPABLE, 0); /* a crash is a result; its dump would only cost time */
	alarm(TRIAL_MOST_S);
	if (shared->fault)
		faults = shared;
	int status = program_main(argc, argv, environ);
	exit(status);
}

/* The fault and its number are in `shared` already. */
static struct run try(int argc, char **argv)
{
	struct run r = {0};
	shared->seen_count = 0;
	shared->has_hit = shared->must_recover = false;
	shared->errnum = shared->fault == FAULT_STDOUT ? ENOSPC : 0;
	memset(shared->name, 0, sizeof shared->name);
	if (ftruncate(out_fd, 0) || ftruncate(err_fd, 0) || lseek(out_fd, 0, SEEK_SET) ||
	    lseek(err_fd, 0, SEEK_SET) || (in_fd >= 0 && lseek(in_fd, 0, SEEK_SET)))
		give_up("lseek");
	pid_t pid = fork();
	if (pid < 0)
		give_up("fork");
	if (!pid)
		be_program(argc, argv);
	while (waitpid(pid, &r.status, 0) < 0)
		if (errno != EINTR)
			give_up("waitpid");
	r.out = content_of(out_fd);
	r.err = content_of(err_fd);
	if (!judge_command)
		take_files(&r);
	return r;
}

static const char *ask_command(const struct run *r)
{
	char text[64];
	int status = WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status);
	snprintf(text, sizeof text, "%d", status);
	setenv("FAULT_STATUS", text, 1);
	snprintf(text, sizeof text, "%llu", (unsigned long long)shared->at_count);
	setenv("FAULT_NUMBER", text, 1);
	setenv("FAULT_NAME", shared->name, 1);
	snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), out_fd);
	setenv("FAULT_OUT", text, 1);
	snprintf(text, sizeof text, "/proc/%d/fd/%d", (int)getpid(), err_fd);
	setenv("FAULT_ERR", text, 1);
	pid_t pid = fork();
	if (!pid) {
		dup2(log_fd, STDOUT_FILENO);
		dup2(log_fd, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", judge_command, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		give_up("the judge");
	return status ? "so says the judge" : NULL;
}

static void show(const struct run *r, const char *word, const char *verdict)
{
	if (bad_count++ >= EXAMPLES_MOST)
		return;
	dprintf(log_fd, "BAD %s %llu (%s): %s; status %d\n", word,
		(unsigned long long)shared->at_count, shared->name, verdict,
		WIFSIGNALED(r->status) ? 128 + WTERMSIG(r->status) : WEXITSTATUS(r->status));
	dprintf(log_fd, "%.*s", (int)(r->err.bytes > 2000 ? 2000 : r->err.bytes), r->err.data);
	for (size_t i = 0; i < r->file_count; i++)
		dprintf(log_fd, "    it left: %s, %zu bytes\n", r->file_names[i].data,
			r->files[i].bytes);
}

/* ---- all trials --------------------------------------------------------------------------- */

struct kind {
	const char *word;
	enum fault fault;
};
static const struct kind kinds[] = {
	{"memory", FAULT_NOMEM},  {"memory-from", FAULT_NOMEM_FROM},
	{"calls", FAULT_ERROR},   {"calls", FAULT_EINTR},
	{"calls", FAULT_SHORT},   {"disk", FAULT_DISK},
	{"stdout", FAULT_STDOUT},
};

struct serving {
	int argc;
	char **argv;
	struct run refs[2];
	size_t ref_count;
	uint64_t trial_count;
};

static void judge(struct serving *s, const char *word)
{
	struct run r = try(s->argc, s->argv);
	const char *verdict =
		judge_command ? ask_command(&r) : judge_run(shared, &r, s->refs, s->ref_count);
	if (verdict)
		show(&r, word, verdict);
	s->trial_count++;
	run_release(&r);
}

/* Undisturbed, and undisturbed without a locale: setlocale may lack memory too. */
static void take_references(struct serving *s)
{
	const char *locale = getenv("LC_ALL");
	char *saved = locale ? strdup(locale) : NULL;
	shared->fault = FAULT_NONE;
	s->refs[s->ref_count++] = try(s->argc, s->argv);
	setenv("LC_ALL", "C", 1);
	s->refs[s->ref_count++] = try(s->argc, s->argv);
	if (saved)
		setenv("LC_ALL", saved, 1);
	else
		unsetenv("LC_ALL");
	free(saved);
}

/* Did less than so many failures before n happen at its place? */
static bool is_new_place(uint64_t n)
{
	uint64_t before = 0;
	if (!faults_places || n > PLACES_MOST)
		return true;
	for (uint64_t i = 0; i < n - 1 && before < places_count; i++)
		before += faults_places[i] == faults_places[n - 1];
	return before < places_count;
}

/* How often can it fail?  Then each, or some at equal distances. */
static void try_kind(struct serving *s, const struct kind *k)
{
	shared->fault = k->fault;
	shared->at_count = 0;
	if (faults_places)
		memset(faults_places, 0, PLACES_MOST * sizeof *faults_places);
	if (k->fault == FAULT_STDOUT) {
		if (s->refs[0].out.bytes)
			judge(s, k->word);
		return;
	}
	struct run counted = try(s->argc, s->argv);
	uint64_t all = shared->seen_count, step = 1;
	if (judge_command)
		ask_command(&counted);
	run_release(&counted);
	if (most_count && all > most_count)
		step = (all + most_count - 1) / most_count;
	for (uint64_t n = step > 1 ? 1 + all % step : 1; n <= all; n += step) {
		shared->at_count = n;
		if (only_count ? n == only_count : is_new_place(n))
			judge(s, k->word);
	}
}

static bool has_word(const char *words, const char *word)
{
	size_t bytes = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += bytes)
		if ((at == words || at[-1] == ' ') && (!at[bytes] || at[bytes] == ' '))
			return true;
	return false;
}

static void report(const struct serving *s)
{
	dprintf(log_fd, "%s %llu trials, %llu bad:", bad_count ? "FAIL" : "ok",
		(unsigned long long)s->trial_count, (unsigned long long)bad_count);
	for (int i = 0; i < s->argc; i++)
		dprintf(log_fd, " %s", s->argv[i]);
	dprintf(log_fd, "\n");
}

static void open_files(void)
{
	const char *log = getenv("NEAP_FAULTS_LOG");
	log_fd = log ? open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
	if (log_fd < 0)
		give_up("NEAP_FAULTS_LOG");
	in_fd = copy_of_input();
	out_fd = new_memfd("stdout");
	err_fd = new_memfd("stderr");
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		give_up("mmap");
	if (!places_count)
		return;
	faults_places = mmap(NULL, PLACES_MOST * sizeof *faults_places, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (faults_places == MAP_FAILED)
		give_up("mmap");
}

static int serve(int argc, char **argv, char **envp)
{
	(void)envp;
	static struct serving s; /* static: leak checkers look from there */
	static char *words;
	s.argc = argc;
	s.argv = argv;
	words = strdup(getenv("NEAP_FAULTS"));
	const char *most = getenv("NEAP_FAULTS_MOST"), *judge_text = getenv("NEAP_FAULTS_JUDGE");
	most_count = most ? strtoull(most, NULL, 10) : 0;
	judge_command = judge_text ? strdup(judge_text) : NULL;
	const char *places = getenv("NEAP_FAULTS_PLACES");
	places_count = places ? strtoull(places, NULL, 10) : 0;
	const char *only = getenv("NEAP_FAULTS_ONLY");
	only_count = only ? strtoull(only, NULL, 10) : 0;
	open_files();
	if (only_count)
		faults_trace_fd = log_fd;
	unsetenv("LD_PRELOAD"); /* what it starts is left alone */
	unsetenv("NEAP_FAULTS");
	for (int i = 1; i < argc; i++)
		shared->is_completing = shared->is_completing || !strcmp(argv[i], "--complete");
	list_before();
	if (!judge_command)
		take_references(&s);
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (has_word(words, kinds[i].word))
			try_kind(&s, &kinds[i]);
	report(&s);
	if (in_fd >= 0 && (lseek(in_fd, 0, SEEK_SET) || dup2(in_fd, STDIN_FILENO) < 0))
		give_up("lseek");
	return program_main(argc, argv, environ);
}

__attribute__((visibility("default"))) int __libc_start_main(main_fn main, int argc, char **argv,
							     void (*init)(void), void (*fini)(void),
							     void (*rtld_fini)(void),
							     void *stack_end)
{
	typedef int (*start_fn)(main_fn, int, char **, void (*)(void), void (*)(void),
				void (*)(void), void *);
	start_fn next = (start_fn)dlsym(RTLD_NEXT, "__libc_start_main");
	program_main = main;
	return next(getenv("NEAP_FAULTS") ? serve : main, argc, argv, init, fini, rtld_fini,
		    stack_end);
}
