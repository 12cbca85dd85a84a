/*
 * A second opinion on every stack: the collector, built with NC_ORACLE, whose
 * captures are compared with libunwind's, frame by frame.
 *
 * Test only.  Every NEAP_ORACLE_EVERY-th capture (default 1) of each thread is unwound
 * by libunwind too.  The totals and the first differences go to the file named by
 * NEAP_ORACLE_OUT when the process ends:
 *
 *   compared N frames F different D shorter S
 *
 * `different`: a frame on which the two disagree.  `shorter`: our stack ends under
 * [truncated] where libunwind's goes on.  Stacks under [signal] end at the handler by
 * design and are compared up to there.  libunwind stops where it has no CFI; what we
 * have beyond that is not judged.
 *
 * libunwind is opened with local scope: in the global scope its _Unwind_* functions
 * would take the place of libgcc's for the target's exceptions.
 */
#define UNW_LOCAL_ONLY
#include "config.h"

#include "collector/nc.h"
#include "collector/same.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORTS_MAX 20u
#define DEPTH_MAX   20000

static __thread bool is_inside __attribute__((tls_model("initial-exec")));
static __thread uint32_t countdown __attribute__((tls_model("initial-exec")));

static struct {
	int (*getcontext)(unw_context_t *);
	int (*init_local)(unw_cursor_t *, unw_context_t *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
} unw;

static struct {
	uint64_t compared, frames, different, shorter, reports;
} totals;
static char report_text[64 << 10];
static size_t report_bytes;

static void report(const char *what, const uint64_t *ours, size_t our_count, const uint64_t *theirs,
		   size_t their_count)
{
	if (__atomic_fetch_add(&totals.reports, 1, __ATOMIC_RELAXED) >= REPORTS_MAX)
		return;
	char *p = report_text + report_bytes, *end = report_text + sizeof report_text;
	p += snprintf(p, (size_t)(end - p), "%s: ours %zu frames, libunwind %zu\n", what, our_count,
		      their_count);
	size_t most = our_count > their_count ? our_count : their_count;
	for (size_t i = 0; i < most && i < 40 && end - p > 100; i++)
		p += snprintf(p, (size_t)(end - p), "  %2zu %#14lx %#14lx%s\n", i,
			      i < our_count ? ours[i] : 0, i < their_count ? theirs[i] : 0,
			      i < our_count && i < their_count && ours[i] == theirs[i] ? "" : " <");
	report_bytes = (size_t)(p - report_text);
}

/* Return addresses of a path, innermost first. */
static size_t our_frames(uint32_t path, uint64_t *out, uint32_t *root)
{
	size_t count = 0;
	while (nc_node(path)->parent && count < DEPTH_MAX) {
		out[count++] = nc_node(path)->key & NC_KEY_PC_MASK;
		path = nc_node(path)->parent;
	}
	*root = path;
	return count;
}

static size_t their_frames(const struct nc_origin *at, uint64_t *out)
{
	unw_context_t context;
	unw_cursor_t cursor;
	unw.getcontext(&context);
	unw.init_local(&cursor, &context);
	unw_word_t ip, sp;
	do {
		if (unw.step(&cursor) <= 0)
			return 0;
		unw.get_reg(&cursor, UNW_REG_IP, &ip);
		unw.get_reg(&cursor, UNW_REG_SP, &sp);
	} while (sp != nc_origin_sp(at));
	size_t count = 0;
	while (ip && count < DEPTH_MAX) {
		out[count++] = ip;
		if (unw.step(&cursor) <= 0)
			break;
		unw.get_reg(&cursor, UNW_REG_IP, &ip);
	}
	return count;
}

static void compare(uint32_t path, const struct nc_origin *at)
{
	static __thread uint64_t *ours __attribute__((tls_model("initial-exec")));
	if (!ours)
		ours = malloc(2 * DEPTH_MAX * sizeof *ours);
	uint64_t *theirs = ours + DEPTH_MAX;
	uint32_t root;
	size_t our_count = our_frames(path, ours, &root);
	size_t their_count = their_frames(at, theirs);
	__atomic_fetch_add(&totals.compared, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&totals.frames, our_count, __ATOMIC_RELAXED);
	size_t both = our_count < their_count ? our_count : their_count;
	if (memcmp(ours, theirs, both * sizeof *ours)) {
		__atomic_fetch_add(&totals.different, 1, __ATOMIC_RELAXED);
		report("different", ours, our_count, theirs, their_count);
	} else if (our_count < their_count && root != NC_NODE_SIGNAL) {
		__atomic_fetch_add(&totals.shorter, 1, __ATOMIC_RELAXED);
		report("shorter", ours, our_count, theirs, their_count);
	}
}

uint32_t nc_path(struct nc_ctx *t, const struct nc_origin *at)
{
	static uint32_t every;
	uint32_t path = nc_capture_same(t, at);
	if (!path)
		path = nc_capture(t, at);
	if (!every)
		every = getenv("NEAP_ORACLE_EVERY")
				? (uint32_t)strtoul(getenv("NEAP_ORACLE_EVERY"), NULL, 10)
				: 1;
	if (is_inside || !path || !unw.step || countdown-- > 0)
		return path;
	countdown = every - 1;
	is_inside = true;
	compare(path, at);
	is_inside = false;
	return path;
}

static void find(void *lib, const char *name, void *slot)
{
	void *found = lib ? dlsym(lib, name) : NULL;
	if (!found)
		_exit(98);
	memcpy(slot, &found, sizeof found);
}

__attribute__((constructor)) static void open_libunwind(void)
{
	is_inside = true;
	void *lib = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	find(lib, "_Ux86_64_getcontext", &unw.getcontext);
	find(lib, "_ULx86_64_init_local", &unw.init_local);
	find(lib, "_ULx86_64_get_reg", &unw.get_reg);
	find(lib, "_ULx86_64_step", &unw.step);
	is_inside = false;
}

__attribute__((destructor)) static void write_totals(void)
{
	const char *name = getenv("NEAP_ORACLE_OUT");
	int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
	if (fd < 0)
		return;
	char line[200];
	int n = snprintf(line, sizeof line, "compared %lu frames %lu different %lu shorter %lu\n",
			 totals.compared, totals.frames, totals.different, totals.shorter);
	if (write(fd, line, (size_t)n) < 0 || write(fd, report_text, report_bytes) < 0)
		_exit(99);
	close(fd);
}
