/*
 * Feeds bytes to what neap itself reads of modules: the ELF file with its symbol tables,
 * build id and debug link, call sites and the graph of tail calls, and names that are demangled
 * and compared with wrappers.
 *
 * Debug information is read in a child, because libdwarf crashes on some inputs
 * (src/sym/isolate.h).  A crash, or a complaint of the sanitizers, with libdwarf on the stack is
 * libdwarf's; any other is ours, and ends the fuzzer.
 *
 * The child gives back which code it ran, so that libFuzzer is led by it.
 *
 * With clang: libFuzzer.  With replay.c: a program that replays files.
 */
#include "config.h"

#include "src/base/mem.h"
#include "src/sym/sym.h"
#include "src/sym/sym_priv.h"
#include "src/sym/tail.h"

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
#define OURS          99     /* exit status of a child that failed in our code */
#define CODE_END_VA   0x2000 /* programs of the corpus have their code below it */
#define MOST_CALLS    32

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

/* ---- what code ran -------------------------------------------------------------------- */

/*
 * libFuzzer's counters, if this is a fuzzer; else nothing.  By names that the linker makes, which
 * clang would take for another's if they were declared in C.
 */
__asm__(".weak __start___sancov_cntrs\n.weak __stop___sancov_cntrs");
static uint8_t *shared_counters; /* written by the child */

static uint8_t *counters(size_t *bytes_out)
{
	uint8_t *begin, *end;
	__asm__("movq __start___sancov_cntrs@GOTPCREL(%%rip), %0" : "=r"(begin));
	__asm__("movq __stop___sancov_cntrs@GOTPCREL(%%rip), %0" : "=r"(end));
	*bytes_out = (size_t)((uintptr_t)end - (uintptr_t)begin);
	return begin;
}

static void share_counters(void)
{
	size_t bytes;
	counters(&bytes);
	if (bytes && !shared_counters)
		shared_counters = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(shared_counters != MAP_FAILED, "no memory for counters");
	if (shared_counters)
		memset(shared_counters, 0, bytes);
}

static void take_counters(void)
{
	size_t bytes;
	uint8_t *own = counters(&bytes);
	for (size_t i = 0; i < bytes; i++)
		if (shared_counters[i] > own[i])
			own[i] = shared_counters[i];
}

_Noreturn static void leave_child(int status)
{
	size_t bytes;
	const uint8_t *own = counters(&bytes);
	if (shared_counters)
		memcpy(shared_counters, own, bytes);
	_exit(status);
}

/* ---- call sites ----------------------------------------------------------------------- */

static void look_at_tail_calls(struct sym_module *m, uint64_t entry_va)
{
	struct debuginfo_tail_calls calls;
	if (sym_tail_calls(m, entry_va, &calls))
		mem_free(calls.items);
}

/* Addresses after calls, as many as fit. */
static size_t find_calls(struct sym_module *m, uint64_t *return_vas)
{
	size_t count = 0;
	struct debuginfo_callee callee;
	uint64_t entry_va;
	for (uint64_t va = 1; va < CODE_END_VA; va++) {
		const char *name = sym_callee_name(m, va);
		must(!name || strlen(name) < SIZE_MAX, "a name without end");
		bool is_call = sym_callee(m, va, &callee);
		if (is_call && callee.has_entry)
			look_at_tail_calls(m, callee.entry_va);
		if (is_call && count < MOST_CALLS)
			return_vas[count++] = va;
		if (va % 16 == 0 && sym_entry(m, va, &entry_va))
			look_at_tail_calls(m, entry_va);
	}
	return count;
}

/* Every call with every other as what was called, and with malloc. */
static size_t make_pairs(size_t call_count, struct tail_pair *pairs)
{
	size_t count = 0;
	for (frame_id caller = 1; caller <= call_count; caller++) {
		for (frame_id callee = 1; callee <= 2 * call_count; callee++)
			pairs[count++] = (struct tail_pair){.caller = caller, .callee = callee};
		pairs[count++] = (struct tail_pair){.caller = caller, .api = API_MALLOC};
	}
	return count;
}

static void must_be_chains(const struct tail_chains *c, size_t frame_count)
{
	for (size_t i = 0; i < c->count; i++) {
		must(c->pairs[i].caller && c->pairs[i].caller <= frame_count,
		     "a chain of no frame");
		must(c->first_step[i] < c->first_step[i + 1], "a chain without steps");
		for (size_t k = c->first_step[i]; k < c->first_step[i + 1]; k++)
			must(c->steps[k].module == 1 || c->steps[k].module == 2,
			     "a step in no module");
	}
}

/* The file as a program, and once more as a library that it calls. */
static void prove_tails(int fd, const uint64_t *return_vas, size_t call_count)
{
	static struct tail_pair pairs[MOST_CALLS * (2 * MOST_CALLS + 1)];
	struct profile_frame frames[2 * MOST_CALLS];
	const struct profile_module modules[2] = {{.path = "fuzz", .flags = MODULE_MAIN},
						  {.path = "libfuzz.so"}};
	const int fds[2] = {fd, fd};
	struct tail_chains chains = {0};
	atomic_size_t done = 0;
	for (size_t i = 0; i < 2 * call_count; i++)
		frames[i] = (struct profile_frame){
			.module = i < call_count ? 1 : 2,
			.pc = return_vas[i % call_count],
		};
	const struct symbolise_request req = {.modules = modules,
					      .module_count = 2,
					      .frames = frames,
					      .frame_count = 2 * call_count,
					      .module_fds = fds};
	if (tail_prove(&req, pairs, make_pairs(call_count, pairs), &done, &chains))
		must_be_chains(&chains, 2 * call_count);
	tail_chains_release(&chains);
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
		leave_child(OURS);
	leave_child(0);
}

/* AddressSanitizer calls it before it prints a report. */
void __asan_on_error(void);
void __asan_on_error(void)
{
	if (is_in_child && has_libdwarf_on_stack())
		leave_child(0);
}

static void read_debuginfo(struct sym_module *m, int fd)
{
	uint64_t return_vas[MOST_CALLS];
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
	const struct rlimit no_core = {0, 0};
	is_in_child = true;
	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
		signal(fatal[i], on_signal);
	alarm(CHILD_SECONDS);
	if (sym_module_load_debuginfo(m, NULL) == NEAP_OK) {
		for (uint64_t va = 0; va < CODE_END_VA; va += 0x80)
			look_around(m, va);
		look_around(m, UINT64_MAX - 100);
		size_t count = find_calls(m, return_vas);
		prove_tails(fd, return_vas, count);
	}
	leave_child(0);
}

static void try_debuginfo(struct sym_module *m, int fd)
{
	int status = 0;
	fflush(NULL);
	share_counters();
	pid_t pid = fork();
	if (pid == 0)
		read_debuginfo(m, fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
	}
	must(pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0),
	     "reading debug information failed outside of libdwarf");
	take_counters();
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
			try_debuginfo(m, fd);
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
