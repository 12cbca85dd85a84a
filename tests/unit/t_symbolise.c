/* Whole profiles get their names; the process that reads debug information may die. */
#include "config.h"

#include "src/sym/symbolise.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "src/base/mem.h"
#include "src/sym/isolate.h"
#include "src/sym/sym.h"

#define MOST_FRAMES 3000
#define MOST_LINES  64

static char dir[] = "/tmp/neap-t_symbolise-XXXXXX";

static const char source[] = "#include <map>\n"
			     "#include <string>\n"
			     "#include <vector>\n"
			     "extern \"C\" int NAME(int n)\n"
			     "{\n"
			     "	std::map<int, std::string> m;\n"
			     "	std::vector<std::string> v;\n"
			     "	for (int i = 0; i < n; i++) {\n"
			     "		m[i] = std::to_string(i * 3);\n"
			     "		v.push_back(m[i] + \"x\");\n"
			     "	}\n"
			     "	return (int)v.size();\n"
			     "}\n";

static void shell(const char *command)
{
	char line[1024];
	snprintf(line, sizeof line, "cd '%s' && { %s; }", dir, command);
	cr_assert_eq(system(line), 0, "failed: %s", command);
}

static void set_up(void)
{
	cr_assert_not_null(mkdtemp(dir));
	char path[256];
	snprintf(path, sizeof path, "%s/s.cpp", dir);
	FILE *f = fopen(path, "w");
	cr_assert_not_null(f);
	fputs(source, f);
	fclose(f);
	shell("for n in one two; do g++ -O2 -g -shared -fPIC -Wl,--build-id -DNAME=$n s.cpp -o "
	      "$n.so; done");
}

static void tear_down(void)
{
	char line[256];
	snprintf(line, sizeof line, "rm -rf '%s'", dir);
	cr_expect_eq(system(line), 0);
}

static const char *in_dir(const char *name)
{
	static char path[16][256];
	static unsigned next;
	char *p = path[next++ % 16];
	snprintf(p, sizeof path[0], "%s/%s", dir, name);
	return p;
}

/* Frames at every address of the functions of a file, as return addresses. */
static size_t add_frames(struct profile_frame *frames, size_t count, mod_id module,
			 const char *name)
{
	char line[1024];
	snprintf(line, sizeof line, "nm -S --defined-only '%s' | awk '$3 ~ /^[tTW]$/ && $4'",
		 in_dir(name));
	FILE *f = popen(line, "r");
	cr_assert_not_null(f);
	unsigned long va, bytes;
	while (fgets(line, sizeof line, f))
		if (sscanf(line, "%lx %lx", &va, &bytes) == 2)
			for (unsigned long i = 0; i < bytes && count < MOST_FRAMES; i += 5)
				frames[count++] =
					(struct profile_frame){.module = module, .pc = va + i + 1};
	cr_assert_eq(pclose(f), 0);
	return count;
}

static void expect_run(const struct symbolise_result *r, size_t frame_idx, struct sym_module *m,
		       uint64_t va)
{
	static struct sym_line found[MOST_LINES];
	const struct profile_symbols *s = &r->symbols;
	size_t count = sym_lookup(m, va, found, MOST_LINES);
	uint32_t first = s->first_line[frame_idx], last = s->first_line[frame_idx + 1];
	cr_assert_eq(last - first, count);
	for (size_t i = 0; i < count; i++) {
		const struct profile_line *l = &s->lines[first + i];
		cr_assert(l->func >= 1 && l->func <= s->func_count && l->file <= s->file_count);
		cr_assert_str_eq(s->funcs[l->func - 1].linkage, found[i].linkage);
		cr_assert_str_eq(s->funcs[l->func - 1].name, found[i].name);
		cr_assert_str_eq(l->file ? s->files[l->file - 1] : "", found[i].file);
		cr_assert_eq(l->line, found[i].line);
	}
}

struct progress {
	size_t calls, last_count, all_count;
	bool went_back;
};

static void note_progress(void *context, size_t done_count, size_t all_count)
{
	struct progress *p = context;
	p->calls++;
	p->went_back |= done_count < p->last_count;
	p->last_count = done_count;
	p->all_count = all_count;
}

static bool is_same(const struct symbolise_result *a, const struct symbolise_result *b)
{
	const struct profile_symbols *x = &a->symbols, *y = &b->symbols;
	if (x->func_count != y->func_count || x->file_count != y->file_count ||
	    x->line_count != y->line_count || x->frame_count != y->frame_count)
		return false;
	for (size_t i = 0; i < x->func_count; i++)
		if (strcmp(x->funcs[i].linkage, y->funcs[i].linkage) != 0)
			return false;
	for (size_t i = 0; i < x->line_count; i++)
		if (x->lines[i].func != y->lines[i].func || x->lines[i].file != y->lines[i].file ||
		    x->lines[i].line != y->lines[i].line)
			return false;
	return !memcmp(x->first_line, y->first_line,
		       (x->frame_count + 1) * sizeof x->first_line[0]);
}

TestSuite(symbolise, .init = set_up, .fini = tear_down, .timeout = 300);

Test(symbolise, gives_every_frame_what_a_lookup_gives)
{
	static struct profile_frame frames[MOST_FRAMES];
	const struct profile_module modules[] = {
		{.path = in_dir("one.so")}, {.path = in_dir("two.so")}, {.path = in_dir("one.so")}};
	size_t count = add_frames(frames, 0, 1, "one.so"), one_count = count;
	count = add_frames(frames, count, 2, "two.so");
	frames[count++] = (struct profile_frame){.module = 0, .pc = 0x1234};
	frames[count++] = (struct profile_frame){.module = 99, .pc = 0x1234};
	frames[count] = frames[0];
	frames[count++].module = 3; /* loaded a second time */
	struct progress p = {0};
	struct symbolise_request req = {.modules = modules,
					.module_count = 3,
					.frames = frames,
					.frame_count = count,
					.progress = note_progress,
					.progress_context = &p,
					.thread_count = 2};
	struct symbolise_result r, again;
	struct err e = {0};
	cr_assert_eq(symbolise_frames(&req, &r, &e), NEAP_OK, "%s", e.text);
	cr_expect_eq(r.warning_count, 0, "%s", r.warning_count ? r.warnings[0] : "");
	cr_expect_eq(r.symbols.frame_count, count);
	cr_expect_eq(r.named_count, count - 2);
	cr_expect_gt(r.lined_count, count / 2);
	cr_expect(p.calls && !p.went_back);
	cr_expect_eq(p.last_count, count - 2);
	cr_expect_eq(p.all_count, count - 2);
	for (mod_id id = 1; id <= 3; id++) {
		struct sym_request sym = {.path = modules[id - 1].path, .fd = -1};
		struct sym_module *m;
		cr_assert_eq(sym_module_open(&sym, &m, &e), NEAP_OK);
		for (size_t i = 0; i < count; i++)
			if (frames[i].module == id)
				expect_run(&r, i, m, frames[i].pc - 1);
		sym_module_free(m);
	}
	cr_expect_gt(one_count, 100);
	req.thread_count = 1;
	cr_assert_eq(symbolise_frames(&req, &again, &e), NEAP_OK);
	cr_expect(is_same(&r, &again), "ids depend on threads");
	symbolise_release(&again);
	symbolise_release(&r);
}

Test(symbolise, goes_on_without_a_module_and_says_so)
{
	static struct profile_frame frames[MOST_FRAMES];
	struct profile_module modules[] = {
		{.path = in_dir("one.so"), .build_id = {1, 2}, .build_id_bytes = 2},
		{.path = in_dir("gone.so")},
		{.path = in_dir("s.cpp")},
		{.path = in_dir("two.so")},
		{.path = "[vdso]", .flags = MODULE_VDSO}};
	size_t count = 0;
	for (mod_id id = 1; id <= 5; id++)
		if (id != 4)
			frames[count++] = (struct profile_frame){.module = id, .pc = 0x1235};
	size_t bad_count = count;
	count = add_frames(frames, count, 4, "two.so");
	struct symbolise_request req = {
		.modules = modules, .module_count = 5, .frames = frames, .frame_count = count};
	struct symbolise_result r;
	struct err e = {0};
	cr_assert_eq(symbolise_frames(&req, &r, &e), NEAP_OK, "%s", e.text);
	cr_expect_eq(r.named_count, count - bad_count);
	cr_expect_eq(r.symbols.first_line[bad_count], 0);
	cr_assert_eq(r.warning_count, 3);
	bool has_id = false, has_gone = false, has_text = false;
	for (size_t i = 0; i < 3; i++) {
		has_id |= strstr(r.warnings[i], "one.so") && strstr(r.warnings[i], "build id 0102");
		has_gone |= strstr(r.warnings[i], "gone.so") != NULL;
		has_text |= strstr(r.warnings[i], "not an ELF file") != NULL;
	}
	cr_expect(has_id && has_gone && has_text);
	symbolise_release(&r);
}

Test(symbolise, reads_from_descriptors_that_were_kept_open)
{
	static struct profile_frame frames[MOST_FRAMES];
	const struct profile_module module = {.path = in_dir("one.so")};
	size_t count = add_frames(frames, 0, 1, "one.so");
	int fd = open(in_dir("one.so"), O_RDONLY);
	shell("rm one.so");
	struct symbolise_request req = {.modules = &module,
					.module_count = 1,
					.frames = frames,
					.frame_count = count,
					.module_fds = &fd};
	struct symbolise_result r;
	struct err e = {0};
	cr_assert_eq(symbolise_frames(&req, &r, &e), NEAP_OK);
	cr_expect_eq(r.named_count, count);
	cr_expect_eq(r.warning_count, 0);
	symbolise_release(&r);
	cr_expect_eq(close(fd), 0, "it is still the caller's");
}

Test(symbolise, falls_back_on_symbols_if_debug_information_is_damaged)
{
	static struct profile_frame frames[MOST_FRAMES];
	const struct profile_module module = {.path = in_dir("bad.so")};
	shell("head -c 5000 /dev/urandom > junk && "
	      "objcopy --update-section .debug_abbrev=junk one.so bad.so");
	size_t count = add_frames(frames, 0, 1, "bad.so");
	struct symbolise_request req = {
		.modules = &module, .module_count = 1, .frames = frames, .frame_count = count};
	struct symbolise_result r;
	struct err e = {0};
	cr_assert_eq(symbolise_frames(&req, &r, &e), NEAP_OK);
	cr_expect_eq(r.named_count, count);
	symbolise_release(&r);
}

/* The build id of a file, as readelf prints it. */
static void read_build_id(const char *name, struct profile_module *m)
{
	char line[512];
	snprintf(line, sizeof line, "readelf -n '%s' | awk '/Build ID/ { print $3 }'",
		 in_dir(name));
	FILE *f = popen(line, "r");
	cr_assert_not_null(f);
	unsigned byte;
	while (fscanf(f, "%2x", &byte) == 1)
		m->build_id[m->build_id_bytes++] = (uint8_t)byte;
	cr_assert_eq(pclose(f), 0);
	cr_assert_gt(m->build_id_bytes, 8);
}

Test(symbolise, looks_up_only_what_no_earlier_process_had)
{
	static struct profile_frame frames[MOST_FRAMES];
	struct profile_module module = {.path = in_dir("one.so")};
	read_build_id("one.so", &module);
	size_t count = add_frames(frames, 0, 1, "one.so"), half = count / 2;
	struct symbolise_request req = {
		.modules = &module, .module_count = 1, .frames = frames, .frame_count = count};
	struct symbolise_result without, with;
	struct err e = {0};
	struct progress p = {0};
	cr_assert_eq(symbolise_frames(&req, &without, &e), NEAP_OK);
	req.cache = symbol_cache_new();
	req.progress = note_progress;
	req.progress_context = &p;
	/* Every second frame, then all of them: known and new ones in turn. */
	static struct profile_frame even[MOST_FRAMES];
	for (size_t i = 0; i < half; i++)
		even[i] = frames[2 * i];
	req.frames = even;
	req.frame_count = half;
	cr_assert_eq(symbolise_frames(&req, &with, &e), NEAP_OK);
	cr_expect_eq(with.named_count, half);
	symbolise_release(&with);
	for (int times = 0; times < 2; times++) {
		p = (struct progress){0};
		req.frames = frames;
		req.frame_count = count;
		cr_assert_eq(symbolise_frames(&req, &with, &e), NEAP_OK);
		cr_expect(is_same(&without, &with), "names differ, time %d", times);
		cr_expect_eq(with.warning_count, 0);
		cr_expect(p.last_count == count && !p.went_back);
		symbolise_release(&with);
		shell("rm -f one.so"); /* nothing is read any more */
	}
	struct profile_module other = module;
	other.build_id[0] ^= 1;
	req.modules = &other;
	cr_assert_eq(symbolise_frames(&req, &with, &e), NEAP_OK);
	cr_expect_eq(with.named_count, 0, "another file's names were used");
	symbolise_release(&with);
	symbolise_release(&without);
	symbol_cache_free(req.cache);
}

Test(symbolise, of_nothing_is_nothing)
{
	struct symbolise_request req = {.frame_count = 0};
	struct symbolise_result r;
	cr_assert_eq(symbolise_frames(&req, &r, NULL), NEAP_OK);
	cr_expect_eq(r.symbols.frame_count, 0);
	cr_assert_not_null(r.symbols.first_line);
	symbolise_release(&r);
}

Test(symbolise, survives_any_failing_allocation)
{
	static struct profile_frame frames[MOST_FRAMES];
	shell("strip -g -o plain.so one.so"); /* no debug information: all in this process */
	struct profile_module modules[] = {{.path = in_dir("plain.so")},
					   {.path = in_dir("gone.so")}};
	read_build_id("plain.so", &modules[0]);
	size_t count = add_frames(frames, 0, 1, "plain.so"), failed_count = 0;
	frames[count++] = (struct profile_frame){.module = 2, .pc = 1};
	struct symbolise_request req = {.modules = modules,
					.module_count = 2,
					.frames = frames,
					.frame_count = count,
					.thread_count = 1};
	for (uint64_t n = 1;; n++) {
		struct symbolise_result r;
		struct err e = {0};
		req.cache = n % 2 ? symbol_cache_new() : NULL;
		uint64_t before = mem_count();
		mem_fail_at(n);
		enum neap_err rc = symbolise_frames(&req, &r, &e);
		bool was_reached = mem_count() - before >= n;
		mem_fail_at(0);
		cr_assert(rc == NEAP_OK || rc == ERR_NOMEM, "%s", e.text);
		failed_count += rc == ERR_NOMEM;
		if (rc == ERR_NOMEM)
			cr_assert_null(r.symbols.lines);
		symbolise_release(&r);
		symbol_cache_free(req.cache);
		if (!was_reached && n % 2)
			break;
	}
	cr_expect_gt(failed_count, 20);
}

/* ---- the child ------------------------------------------------------------------------- */

enum deed {
	ANSWERS,
	ANSWERS_MUCH,
	DECLINES,
	CRASHES,
	ABORTS,
	ENDS,
	HANGS,
	SHOUTS
};

static bool do_deed(void *context, atomic_size_t *done, struct buf *out)
{
	volatile char *nowhere = NULL;
	buf_puts(out, "before");
	switch (*(enum deed *)context) {
	case ANSWERS:
		atomic_store(done, 7);
		break;
	case ANSWERS_MUCH:
		for (int i = 0; i < 1000000; i++)
			buf_u32(out, (uint32_t)i);
		break;
	case DECLINES:
		return false;
	case CRASHES:
		*nowhere = 1; /* NOLINT */
		break;
	case ABORTS:
		raise(SIGABRT);
		break;
	case ENDS:
		_exit(0);
	case HANGS:
		for (;;)
			pause();
	case SHOUTS:
		fputs("must not be seen\n", stderr);
		fflush(stderr);
		if (write(STDERR_FILENO, "x", 1) != 1 || fcntl(200, F_GETFD) >= 0)
			return false;
		break;
	}
	return true;
}

static bool run_deed(enum deed deed, struct buf *result)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	const struct isolated job = {.work = do_deed,
				     .context = &deed,
				     .fds = {-1, -1},
				     .lock = &lock,
				     .patience_ms = deed == HANGS ? 300 : 30000};
	return isolate_run(&job, result);
}

Test(isolate, brings_the_result_home, .timeout = 60)
{
	struct buf result = {0};
	buf_puts(&result, "kept, ");
	cr_assert(run_deed(ANSWERS, &result));
	cr_expect_str_eq(result.data, "kept, before");
	cr_assert(run_deed(ANSWERS_MUCH, &result));
	cr_expect_eq(result.count_bytes, 6 + 6 + 6 + 4000000);
	buf_release(&result);
}

Test(isolate, outlives_whatever_the_child_does, .timeout = 60)
{
	const enum deed deeds[] = {DECLINES, CRASHES, ABORTS, ENDS, HANGS};
	struct buf result = {0};
	buf_puts(&result, "kept");
	for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
		cr_expect_not(run_deed(deeds[i], &result), "deed %zu", i);
		cr_expect_str_eq(result.data, "kept");
	}
	buf_release(&result);
}

static int hang_count; /* children of fork that hang at once, as with an allocator that is locked */
static void hang_in_child(void)
{
	while (hang_count > 0)
		pause();
}
static void count_forks(void)
{
	hang_count--;
}

Test(isolate, starts_another_child_if_the_allocator_hangs_in_it, .timeout = 60)
{
	struct buf result = {0};
	cr_assert_eq(pthread_atfork(NULL, count_forks, hang_in_child), 0);
	hang_count = 3;
	cr_expect(run_deed(ANSWERS, &result));
	cr_expect_str_eq(result.data, "before");
	hang_count = 1000;
	buf_clear(&result);
	cr_expect_not(run_deed(ANSWERS, &result));
	cr_expect_eq(result.count_bytes, 0);
	buf_release(&result);
}

Test(isolate, gives_the_child_no_descriptor_it_does_not_need, .timeout = 60)
{
	struct buf result = {0};
	int null = open("/dev/null", O_RDONLY);
	cr_assert_eq(dup2(null, 200), 200);
	cr_expect(run_deed(SHOUTS, &result));
	close(200);
	close(null);
	buf_release(&result);
}
