/* Profiles for tests. */
#include "config.h"

#include "sample_profile.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct profile_run *sample_run(void)
{
	static const char *const argv[] = {"prog", "--loud", "a b"};
	static const struct profile_run run = {
		.tool = "neap test",
		.argv = argv,
		.argv_count = 3,
		.exe = "/usr/bin/prog",
		.cwd = "/home/me",
		.host = "here",
		.kernel = "Linux 6.1",
		.pid = 4711,
		.ppid = 4700,
		.cpu_count = 2,
		.is_forked = true,
		.start_unix_ns = 1700000000123456789ull,
		.interval_ns = 10000000,
	};
	return &run;
}

static enum neap_err read_back(int fd, struct buf *out)
{
	char chunk[4096];
	ssize_t n;
	for (off_t at = 0; (n = pread(fd, chunk, sizeof chunk, at)) > 0; at += n)
		buf_put(out, chunk, (size_t)n);
	return n < 0 ? ERR_IO : out->has_failed ? ERR_NOMEM : NEAP_OK;
}

enum neap_err sample_write(sample_fn fn, void *ctx, struct buf *out, struct err *e)
{
	struct profile_writer *w;
	int fd = memfd_create("profile", MFD_CLOEXEC);
	int keep = fd < 0 ? -1 : dup(fd);
	if (keep < 0)
		return err_set(e, ERR_IO, "no memfd");
	enum neap_err err = profile_writer_new(fd, "sample", sample_run(), &w, e);
	if (!err) {
		fn(w, ctx);
		err = profile_writer_close(w, e);
	}
	enum neap_err read_err = read_back(keep, out);
	close(keep);
	return err ? err : read_err;
}

/* ---- the small profile ------------------------------------------------------------------ */

static void add_code(struct profile_writer *w)
{
	struct profile_module m = {
		.path = "/usr/bin/prog",
		.build_id = {0xde, 0xad, 0xbe, 0xef},
		.build_id_bytes = 4,
		.flags = MODULE_MAIN,
		.start_va = 0x555500000000,
		.end_va = 0x555500010000,
		.bias = 0x555500000000,
		.first_snap = 1,
	};
	profile_add_module(w, &m);
	m = (struct profile_module){.path = "/lib/plugin.so",
				    .start_va = 0x7f0000000000,
				    .end_va = 0x7f0000002000,
				    .bias = 0x7effffff0000,
				    .first_snap = 1};
	mod_id plugin = profile_add_module(w, &m);
	m.last_snap = 2;
	profile_update_module(w, plugin, &m);
	struct profile_thread t = {.name = "main", .tid = 4711, .first_snap = 1};
	profile_add_thread(w, &t);
	t = (struct profile_thread){.name = "worker", .tid = 4712, .first_snap = 1};
	thread_id worker = profile_add_thread(w, &t);
	t.flags = THREAD_ENDED;
	t.last_snap = 3;
	profile_update_thread(w, worker, &t);
}

static void add_tree(struct profile_writer *w)
{
	static const struct profile_frame frames[] = {
		{1, 0, 0x1000},
		{1, 0, 0x1234},
		{2, FRAME_GUESSED, 0x88},
		{0, 0, 0x7fffffffe000},
	};
	for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
		profile_add_frame(w, &frames[i]);
	profile_add_node(w, PROFILE_NODE_ROOT, 1, 0);      /* 4 */
	profile_add_node(w, 4, 2, 0);                      /* 5 */
	profile_add_node(w, PROFILE_NODE_SIGNAL, 3, 0);    /* 6 */
	profile_add_node(w, 5, 2, NODE_EXITING);           /* 7: recursion */
	profile_add_node(w, PROFILE_NODE_TRUNCATED, 4, 0); /* 8 */
	static const struct profile_site sites[] = {
		{5, 48, API_MALLOC},   {6, 0, API_CALLOC},  {7, PROFILE_SIZE_MIXED, API_REALLOC},
		{8, 1 << 20, API_NEW}, {5, 49, API_MALLOC},
	};
	for (size_t i = 0; i < sizeof sites / sizeof sites[0]; i++)
		profile_add_site(w, &sites[i]);
}

static void change(struct profile_writer *w, cohort_id c, struct profile_change ch)
{
	profile_change_cohort(w, c, &ch);
}

static cohort_id add(struct profile_writer *w, site_id site, thread_id thread, snap_id birth,
		     uint32_t flags, struct profile_change ch)
{
	return profile_add_cohort(w, site, thread, birth, flags, &ch);
}

static void add_snapshots(struct profile_writer *w)
{
	struct profile_snapshot s = {
		.time_ns = 10000000, .cpu_ns = 9000000, .rss_bytes = 4096 * 300, .live_bytes = 288};
	profile_snapshot_begin(w, &s);
	add(w, 1, 1, 1, 0, (struct profile_change){.births = 10, .deaths = 6, .temporary = 5});
	add(w, 1, 2, 1, COHORT_INHERITED, (struct profile_change){.births = 2});
	add(w, 3, 1, 1, 0,
	    (struct profile_change){.births = 3,
				    .deaths = 3,
				    .temporary = 1,
				    .born_bytes = 777,
				    .died_bytes = 777,
				    .temporary_bytes = 700});
	profile_snapshot_end(w, NULL);

	s = (struct profile_snapshot){
		.time_ns = 20000000, .cpu_ns = 19000000, .live_bytes = 1048672};
	profile_snapshot_begin(w, &s);
	change(w, 1, (struct profile_change){.deaths = 4, .temporary = 1});
	add(w, 1, 1, 2, 0, (struct profile_change){.births = 12, .deaths = 12, .temporary = 6});
	add(w, 4, 1, 2, 0, (struct profile_change){.births = 1});
	add(w, 5, 1, 1, 0, (struct profile_change){.births = 7, .deaths = 7}); /* seen late */
	profile_snapshot_end(w, NULL);
	profile_add_mark(w, "loaded", 2, 20000001);
	profile_writer_flush(w, NULL);

	s = (struct profile_snapshot){.time_ns = 30000123,
				      .cpu_ns = 0,
				      .rss_bytes = 12345,
				      .live_bytes = 1048576 + 96 + 7};
	profile_snapshot_begin(w, &s);
	/* A transient one had a late birth and death; a new one that is still there. */
	change(w, 4, (struct profile_change){.births = 1, .deaths = 1});
	add(w, 3, 2, 3, 0,
	    (struct profile_change){.births = 2, .deaths = 1, .born_bytes = 9, .died_bytes = 2});
	profile_snapshot_end(w, NULL);
}

static void add_ends(struct profile_writer *w)
{
	static const struct profile_peak peak = {
		.bytes = 1048576 + 96 + 7, .time_ns = 25000000, .snap = 3};
	static const struct profile_peak_entry entries[] = {{5, 1, 1 << 20}, {2, 2, 96}, {7, 1, 7}};
	static const uint64_t drops[DROP_COUNT] = {[DROP_FOREIGN] = 3, [DROP_UNWIND] = 1};
	static struct profile_func funcs[] = {{"main", "main"}, {"ns::work(int)", "_ZN2ns4workEi"}};
	static const char *files[] = {"/src/main.c", "/src/work.cc"};
	static struct profile_line lines[] = {{1, 1, 10}, {2, 2, 77}, {1, 1, 12}, {2, 2, 80}};
	static uint32_t first_line[] = {0, 1, 3, 3, 3, 4};
	static struct profile_frame tail_frames[] = {{1, 0, 0x1100}};
	static struct profile_tail tails[] = {
		{.caller = 1, .callee = 2, .first_step = 0, .step_count = 1},
		{.caller = 2, .api = API_MALLOC, .first_step = 1, .step_count = 2},
	};
	static uint32_t steps[] = {0, 0, 0};
	static const struct profile_symbols symbols = {
		.funcs = funcs,
		.func_count = 2,
		.files = files,
		.file_count = 2,
		.lines = lines,
		.line_count = 4,
		.first_line = first_line,
		.frame_count = 5,
		.tails = {.frames = tail_frames,
			  .frame_count = 1,
			  .items = tails,
			  .count = 2,
			  .steps = steps,
			  .step_count = 3},
	};
	static const struct profile_end end = {
		.kind = END_SIGNALED, .status = 9, .has_status = true, .time_ns = 30500000};
	static const struct profile_source source = {
		.format = "heaptrack",
		.title = "heaptrack",
		.file = "/tmp/foreign.gz",
		.producer = "heaptrack 1.4.0",
		.time_unit = "",
		.notes = "line 3: odd\nline 4: odder",
		.unknown = FACT_THREADS | FACT_LIFETIMES,
		.is_estimated = true,
	};
	profile_set_drops(w, drops);
	profile_set_source(w, &source);
	profile_set_peak(w, &peak, entries, 3);
	profile_add_symbols(w, &symbols);
	profile_add_end(w, &end);
}

void sample_small(struct profile_writer *w, void *ctx)
{
	(void)ctx;
	add_code(w);
	add_tree(w);
	add_snapshots(w);
	add_ends(w);
}

/* ---- the judge ------------------------------------------------------------------------------ */

static const char *wrong_tree(const struct profile *p)
{
	for (size_t i = 0; i < p->frame_count; i++)
		if (p->frames[i].module > p->module_count)
			return "module of a frame";
	if (p->node_count < PROFILE_NODE_FIRST)
		return "fixed nodes";
	for (size_t i = PROFILE_NODE_FIRST; i < p->node_count; i++) {
		if (!profile_node_parent(p, i) || profile_node_parent(p, i) >= i)
			return "parent of a node";
		if (!profile_node_frame(p, i) || profile_node_frame(p, i) > p->frame_count)
			return "frame of a node";
	}
	for (size_t i = 0; i < p->site_count; i++)
		if (!profile_site_node(p, i) || profile_site_node(p, i) >= p->node_count ||
		    (unsigned)profile_site_api(p, i) >= API_COUNT)
			return "site";
	return NULL;
}

static const char *wrong_cohorts(const struct profile *p)
{
	for (size_t i = 0; i < p->cohort_count; i++) {
		if (!profile_cohort_site(p, i) || profile_cohort_site(p, i) > p->site_count)
			return "site of a cohort";
		if (!profile_cohort_thread(p, i) || profile_cohort_thread(p, i) > p->thread_count)
			return "thread of a cohort";
		if (!profile_cohort_birth(p, i) || profile_cohort_birth(p, i) > p->snapshot_count)
			return "birth of a cohort";
	}
	if (p->death_first[0] != 0 || p->death_first[p->snapshot_count] != p->death_count)
		return "ends of the deaths";
	for (size_t s = 1; s <= p->snapshot_count; s++) {
		if (p->death_first[s] < p->death_first[s - 1])
			return "order of the deaths";
		if (s > 1 && p->snapshots[s - 1].time_ns < p->snapshots[s - 2].time_ns)
			return "order of the times";
	}
	for (size_t i = 0; i < p->death_count; i++)
		if (!profile_death_cohort(p, i) || profile_death_cohort(p, i) > p->cohort_count)
			return "cohort of a death";
	return NULL;
}

static const char *wrong_symbols(const struct profile *p)
{
	const struct profile_symbols *s = &p->symbols;
	if (!p->has_symbols)
		return NULL;
	if (s->frame_count != p->frame_count || s->first_line[0] != 0)
		return "frames of the symbols";
	for (size_t f = 0; f < s->frame_count; f++)
		if (s->first_line[f] > s->first_line[f + 1] || s->first_line[f + 1] > s->line_count)
			return "run of lines";
	for (size_t i = 0; i < s->line_count; i++)
		if (!s->lines[i].func || s->lines[i].func > s->func_count ||
		    s->lines[i].file > s->file_count)
			return "line";
	size_t text_bytes = 0;
	for (size_t i = 0; i < s->func_count; i++)
		text_bytes += strlen(s->funcs[i].name) + strlen(s->funcs[i].linkage);
	for (size_t i = 0; i < s->file_count; i++)
		text_bytes += strlen(s->files[i]);
	return text_bytes < SIZE_MAX ? NULL : "names";
}

static const char *wrong_rest(const struct profile *p)
{
	for (size_t i = 0; i < p->module_count; i++)
		if (!p->modules[i].path || p->modules[i].build_id_bytes > 64 ||
		    p->modules[i].first_snap > p->snapshot_count ||
		    p->modules[i].last_snap > p->snapshot_count)
			return "module";
	for (size_t i = 0; i < p->thread_count; i++)
		if (!p->threads[i].name || p->threads[i].first_snap > p->snapshot_count ||
		    p->threads[i].last_snap > p->snapshot_count)
			return "thread";
	for (size_t i = 0; i < p->mark_count; i++)
		if (!p->marks[i].name || p->marks[i].snap > p->snapshot_count)
			return "mark";
	if (p->peak.snap > p->snapshot_count)
		return "snapshot of the peak";
	for (size_t i = 0; i < p->peak_entry_count; i++)
		if (!p->peak_entries[i].cohort || p->peak_entries[i].cohort > p->cohort_count)
			return "cohort of the peak";
	for (size_t i = 0; i < p->run.argv_count; i++)
		if (!p->run.argv[i])
			return "argv";
	if (!p->run.tool || !p->run.exe || !p->run.cwd || !p->run.host || !p->run.kernel)
		return "run";
	return p->end.reason && (unsigned)p->end.kind <= END_STOPPED ? NULL : "end";
}

const char *sample_wrong(const struct profile *p)
{
	const char *(*const judges[])(const struct profile *) = {wrong_tree, wrong_cohorts,
								 wrong_symbols, wrong_rest};
	for (size_t i = 0; i < sizeof judges / sizeof judges[0]; i++) {
		const char *wrong = judges[i](p);
		if (wrong)
			return wrong;
	}
	return NULL;
}
