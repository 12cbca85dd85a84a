/* See build_profile.h. */
#include "config.h"

#include "tests/unit/build_profile.h"

#include "src/base/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const default_argv[] = {"./demo", "--size", "10"};

const struct profile_run build_default_run = {
	.tool = "neap 0.1.0",
	.argv = default_argv,
	.argv_count = 3,
	.exe = "/home/user/demo/demo",
	.cwd = "/home/user/demo",
	.host = "box",
	.kernel = "Linux 6.1.0",
	.pid = 4711,
	.ppid = 4700,
	.cpu_count = 4,
	.start_unix_ns = 1714564800ull * 1000000000ull,
	.interval_ns = 10 * BUILD_MS,
};

struct build {
	struct profile_writer *w;
	char path[256];
	bool is_temporary, has_symbols, has_end;
	struct strtab funcs, files, modules, frames, nodes, sites;
	struct profile_line *lines;
	size_t line_count, line_cap;
	uint32_t *first_line;
	size_t frame_count, frame_cap;
	/* ids by number of the interned key */
	uint32_t frame_ids[4096], node_ids[65536], site_ids[65536];
	uint64_t next_pc;
	snap_id snap;
	uint64_t time_ns;
	struct profile_end end;
};

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "build_profile: %s\n", what);
	abort();
}

static void must_err(enum neap_err code, const struct err *e)
{
	must(code == NEAP_OK, e->text);
}

struct build *build_new(const char *path, const struct profile_run *run)
{
	struct err e = {0};
	struct build *b = mem_zalloc(sizeof *b);
	must(b, "out of memory");
	int fd;
	if (path) {
		must(strlen(path) < sizeof b->path, "path too long");
		snprintf(b->path, sizeof b->path, "%s", path);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	} else {
		const char *dir = getenv("TMPDIR");
		snprintf(b->path, sizeof b->path, "%s/neap-test-XXXXXX", dir ? dir : "/tmp");
		b->is_temporary = true;
		fd = mkstemp(b->path);
	}
	must(fd >= 0, "cannot make the file");
	must_err(profile_writer_new(fd, b->path, run ? run : &build_default_run, &b->w, &e), &e);
	b->has_symbols = true;
	b->next_pc = 0x1000;
	build_thread(b, "main");
	return b;
}

struct profile_writer *build_writer(struct build *b)
{
	return b->w;
}

static uint32_t intern(struct strtab *t, const void *key, size_t bytes)
{
	uint32_t id = strtab_add(t, key, bytes);
	must(id != UINT32_MAX, "out of memory");
	return id;
}

mod_id build_module(struct build *b, const char *path)
{
	size_t known = b->modules.count;
	uint32_t id = intern(&b->modules, path, strlen(path));
	if (id < known)
		return id + 1;
	uint64_t start = 0x550000000000ull + id * 0x10000000ull;
	struct profile_module m = {
		.path = path,
		.build_id = {(uint8_t)(id + 1)},
		.build_id_bytes = 20,
		.flags = id ? 0 : MODULE_MAIN,
		.start_va = start,
		.end_va = start + 0x10000000ull,
		.bias = start,
	};
	must(profile_add_module(b->w, &m) == id + 1, "cannot add a module");
	return id + 1;
}

thread_id build_thread(struct build *b, const char *name)
{
	static const struct profile_thread first = {.tid = 4711};
	struct profile_thread t = first;
	t.name = name;
	thread_id id = profile_add_thread(b->w, &t);
	must(id, "cannot add a thread");
	return id;
}

static void add_line(struct build *b, const struct build_line *line)
{
	must(vec_reserve((void **)&b->lines, &b->line_cap, b->line_count + 1, sizeof *b->lines),
	     "out of memory");
	b->lines[b->line_count++] = (struct profile_line){
		.func = intern(&b->funcs, line->name, strlen(line->name)) + 1,
		.file = *line->file ? intern(&b->files, line->file, strlen(line->file)) + 1 : 0,
		.line = line->line,
	};
}

frame_id build_frame(struct build *b, mod_id module, uint32_t flags, const struct build_line *lines,
		     size_t count)
{
	struct profile_frame f = {.module = module, .flags = flags, .pc = b->next_pc};
	b->next_pc += 0x10;
	frame_id id = profile_add_frame(b->w, &f);
	must(id == b->frame_count + 1, "cannot add a frame");
	must(vec_reserve((void **)&b->first_line, &b->frame_cap, b->frame_count + 2,
			 sizeof *b->first_line),
	     "out of memory");
	b->first_line[b->frame_count++] = (uint32_t)b->line_count;
	for (size_t i = 0; i < count; i++)
		add_line(b, &lines[i]);
	b->first_line[b->frame_count] = (uint32_t)b->line_count;
	return id;
}

node_id build_node(struct build *b, node_id parent, frame_id frame, uint32_t flags)
{
	uint32_t key[3] = {parent, frame, flags};
	size_t known = b->nodes.count;
	uint32_t at = intern(&b->nodes, key, sizeof key);
	must(at < sizeof b->node_ids / sizeof b->node_ids[0], "too many nodes");
	if (at == known)
		b->node_ids[at] = profile_add_node(b->w, parent, frame, flags);
	must(b->node_ids[at], "cannot add a node");
	return b->node_ids[at];
}

node_id build_call(struct build *b, node_id parent, const char *name, const char *file,
		   uint32_t line)
{
	char key[4096];
	int bytes = snprintf(key, sizeof key, "%s\n%s\n%u", name, file, line);
	must(bytes > 0 && (size_t)bytes < sizeof key, "name too long");
	size_t known = b->frames.count;
	uint32_t at = intern(&b->frames, key, (size_t)bytes);
	must(at < sizeof b->frame_ids / sizeof b->frame_ids[0], "too many frames");
	if (at == known) {
		struct build_line only = {name, file, line};
		mod_id module = build_module(b, "/home/user/demo/demo");
		b->frame_ids[at] = build_frame(b, module, 0, &only, 1);
	}
	return build_node(b, parent, b->frame_ids[at], 0);
}

snap_id build_snapshot(struct build *b, uint64_t time_ns)
{
	struct profile_snapshot s = {.time_ns = time_ns};
	b->snap = profile_snapshot_begin(b->w, &s);
	b->time_ns = time_ns;
	must(b->snap, "cannot begin a snapshot");
	return b->snap;
}

void build_end_snapshot(struct build *b)
{
	struct err e = {0};
	must_err(profile_snapshot_end(b->w, &e), &e);
}

static site_id site_of(struct build *b, node_id node, uint64_t size_bytes)
{
	uint64_t key[2] = {node, size_bytes};
	size_t known = b->sites.count;
	uint32_t at = intern(&b->sites, key, sizeof key);
	must(at < sizeof b->site_ids / sizeof b->site_ids[0], "too many sites");
	struct profile_site s = {.node = node, .size_bytes = size_bytes, .api = API_MALLOC};
	if (at == known)
		b->site_ids[at] = profile_add_site(b->w, &s);
	must(b->site_ids[at], "cannot add a site");
	return b->site_ids[at];
}

cohort_id build_alloc(struct build *b, node_id node, uint64_t size_bytes, thread_id thread,
		      uint64_t births)
{
	struct profile_change change = {.births = births};
	site_id site = site_of(b, node, size_bytes);
	cohort_id c = profile_add_cohort(b->w, site, thread, b->snap, 0, &change);
	must(c, "cannot add a cohort");
	return c;
}

void build_free(struct build *b, cohort_id c, uint64_t deaths, uint64_t temporary)
{
	struct profile_change change = {.deaths = deaths, .temporary = temporary};
	profile_change_cohort(b->w, c, &change);
}

void build_symbols(struct build *b, bool has_symbols)
{
	b->has_symbols = has_symbols;
}

void build_ending(struct build *b, const struct profile_end *end)
{
	b->end = *end;
	b->has_end = true;
}

static void add_symbols(struct build *b)
{
	struct profile_func *funcs = mem_array(b->funcs.count, sizeof *funcs);
	must(funcs, "out of memory");
	for (uint32_t i = 0; i < b->funcs.count; i++)
		funcs[i].name = funcs[i].linkage = strtab_get(&b->funcs, i);
	uint32_t none = 0;
	struct profile_symbols s = {
		.funcs = funcs,
		.func_count = b->funcs.count,
		.files = b->files.strings,
		.file_count = b->files.count,
		.lines = b->lines,
		.line_count = b->line_count,
		.first_line = b->frame_count ? b->first_line : &none,
		.frame_count = b->frame_count,
	};
	profile_add_symbols(b->w, &s);
	mem_free(funcs);
}

static void finish(struct build *b)
{
	struct err e = {0};
	struct profile_end fine = {
		.kind = END_EXITED, .has_status = true, .time_ns = b->time_ns, .reason = ""};
	if (b->has_symbols)
		add_symbols(b);
	profile_add_end(b->w, b->has_end ? &b->end : &fine);
	must_err(profile_writer_close(b->w, &e), &e);
}

static void release(struct build *b)
{
	strtab_release(&b->funcs);
	strtab_release(&b->files);
	strtab_release(&b->modules);
	strtab_release(&b->frames);
	strtab_release(&b->nodes);
	strtab_release(&b->sites);
	mem_free(b->lines);
	mem_free(b->first_line);
	mem_free(b);
}

void build_close(struct build *b)
{
	finish(b);
	release(b);
}

struct profile *build_read(struct build *b)
{
	struct err e = {0};
	struct profile *p = NULL;
	finish(b);
	enum neap_err code = profile_open(b->path, &p, &e);
	if (b->is_temporary)
		unlink(b->path);
	must_err(code, &e);
	release(b);
	return p;
}
