/*
 * Feeds bytes to what neap itself reads of modules: the ELF file with its symbol tables,
 * build id and debug link, and names that are demangled and compared with wrappers.
 *
 * Debug information is read in a child, because libdwarf crashes on some inputs
 * (src/sym/isolate.h).  A crash, or a complaint of the sanitizers, with libdwarf on the stack is
 * libdwarf's; any other is ours, and ends the fuzzer.
 *
 * With clang: libFuzzer.  With replay.c: a program that replays files.
 */
#include "config.h"

#include "src/base/mem.h"
#include "src/sym/sym.h"
#include "src/sym/sym_priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 20
#define OURS          99 /* exit status of a child that failed in our code */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void must(bool is_true, const char *what)
{
	if (!is_true) {
		fprintf(stderr, "%s\n", what);
		abort();
	}
}

static void look_around(struct sym_module *m, uint64_t va)
{
	struct sym_line found[4];
	for (uint64_t i = 0; i < 64; i++) {
		size_t count = sym_lookup(m, va + i * 7, found, 4);
		must(count <= 4, "too many lines");
		for (size_t k = 0; k < count; k++)
			must(found[k].linkage && found[k].name && found[k].file,
			     "a line without names");
	}
}

/* ---- the child that reads debug information ------------------------------------------ */

static bool is_in_child;

static bool has_libdwarf_on_stack(void)
{
	void *frames[64];
	int count = backtrace(frames, 64);
	for (int i = 0; i < count; i++) {
		Dl_info info;
		if (dladdr(frames[i], &info) && info.dli_fname &&
		    strstr(info.dli_fname, "libdwarf"))
			return true;
	}
	return false;
}

static void on_signal(int number)
{
	if (number == SIGALRM || !has_libdwarf_on_stack())
		_exit(OURS);
	_exit(0);
}

/* AddressSanitizer calls it before it prints a report. */
void __asan_on_error(void);
void __asan_on_error(void)
{
	if (is_in_child && has_libdwarf_on_stack())
		_exit(0);
}

static void read_debuginfo(struct sym_module *m)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
	const struct rlimit no_core = {0, 0};
	is_in_child = true;
	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		signal(fatal[i], on_signal);
	alarm(CHILD_SECONDS);
	if (sym_module_load_debuginfo(m, NULL) == NEAP_OK) {
		for (uint64_t va = 0; va < 0x2000; va += 0x80)
			look_around(m, va);
		look_around(m, UINT64_MAX - 100);
	}
	_exit(0);
}

static void try_debuginfo(struct sym_module *m)
{
	int status = 0;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		read_debuginfo(m);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	must(pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0),
	     "reading debug information failed outside of libdwarf");
}

static void try_module(const uint8_t *data, size_t bytes)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes)
		abort();
	struct sym_request req = {.path = "fuzz", .fd = fd};
	struct sym_module *m = NULL;
	struct err e = {0};
	enum neap_err rc = sym_module_open_symbols(&req, &m, &e);
	must(rc ? !m && e.text[0] : m != NULL, "result and error do not agree");
	if (m) {
		look_around(m, 0);
		look_around(m, 0x1000);
		look_around(m, UINT64_MAX - 100);
		if (sym_module_has_debuginfo(m))
			try_debuginfo(m);
	}
	sym_module_free(m);
	close(fd);
}

static void try_name(const uint8_t *data, size_t bytes)
{
	char *name = mem_strndup((const char *)data, bytes < 4096 ? bytes : 4096);
	struct buf text = {0};
	struct buf path = {0};
	if (!name)
		abort();
	if (sym_demangle(name, &text))
		sym_is_wrapper(text.data);
	else
		must(!text.count_bytes, "text for a name that is not mangled");
	sym_is_wrapper(name);
	path_join_clean(&path, "/build", NULL, name);
	must(path.count_bytes <= strlen(name) + 8, "a path grew");
	mem_free(name);
	buf_release(&text);
	buf_release(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	if (bytes >= 4 && !memcmp(data, "\177ELF", 4))
		try_module(data, bytes);
	else
		try_name(data, bytes);
	return 0;
}
