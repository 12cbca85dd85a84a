/* What is written comes back. */
#include "config.h"

#include "sample_profile.h"
#include "src/base/mem.h"
#include "src/profile/info.h"
#include "src/profile/profile.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static struct buf write_file(sample_fn fn, void *ctx)
{
	struct buf file = {0};
	struct err e = {0};
	cr_assert_eq(sample_write(fn, ctx, &file, &e), NEAP_OK, "%s", e.text);
	return file;
}

static struct profile *parse(const struct buf *file)
{
	struct profile *p;
	struct err e = {0};
	cr_assert_eq(profile_parse(file->data, file->count_bytes, "test", &p, &e), NEAP_OK, "%s",
		     e.text);
	const char *wrong = sample_wrong(p);
	cr_assert_null(wrong, "%s", wrong);
	return p;
}

static struct profile *write_and_parse(sample_fn fn, void *ctx)
{
	struct buf file = write_file(fn, ctx);
	struct profile *p = parse(&file);
	buf_release(&file);
	return p;
}

Test(profile, run_and_end_come_back)
{
	struct profile *p = write_and_parse(sample_small, NULL);
	cr_assert_str_eq(p->damage.text, "");
	cr_assert_not(p->damage.is_cut);
	cr_assert_str_eq(p->run.tool, "neap test");
	cr_assert_eq(p->run.argv_count, 3);
	cr_assert_str_eq(p->run.argv[2], "a b");
	cr_assert_str_eq(p->run.cwd, "/home/me");
	cr_assert_eq(p->run.pid, 4711);
	cr_assert(p->run.is_forked);
	cr_assert_eq(p->run.start_unix_ns, 1700000000123456789ull);
	cr_assert_eq(p->run.interval_ns, 10000000);
	cr_assert_eq(p->end.kind, END_SIGNALED);
	cr_assert_eq(p->end.status, 9);
	cr_assert_eq(p->end.time_ns, 30500000);
	cr_assert_eq(p->drops[DROP_FOREIGN], 3);
	cr_assert_eq(p->drops[DROP_NODES], 0);
	cr_assert_eq(p->mark_count, 1);
	cr_assert_str_eq(p->marks[0].name, "loaded");
	cr_assert_eq(p->marks[0].time_ns, 20000001);
	profile_free(p);
}

Test(profile, later_facts_replace_earlier_ones)
{
	struct profile *p = write_and_parse(sample_small, NULL);
	cr_assert_eq(p->module_count, 2);
	cr_assert_eq(p->modules[0].build_id_bytes, 4);
	cr_assert_eq(p->modules[0].build_id[3], 0xef);
	cr_assert_eq(p->modules[0].bias, 0x555500000000);
	cr_assert_eq(p->modules[1].bias, 0x7effffff0000);
	cr_assert_eq(p->modules[1].last_snap, 2);
	cr_assert_eq(p->thread_count, 2);
	cr_assert_eq(p->threads[1].flags, THREAD_ENDED);
	cr_assert_str_eq(p->threads[1].name, "worker");
	profile_free(p);
}

Test(profile, source_comes_back)
{
	struct profile *p = write_and_parse(sample_small, NULL);
	cr_assert(p->has_source);
	cr_assert_str_eq(p->source.format, "heaptrack");
	cr_assert_str_eq(p->source.file, "/tmp/foreign.gz");
	cr_assert_str_eq(p->source.notes, "line 3: odd\nline 4: odder");
	cr_assert_eq(p->source.unknown, FACT_THREADS | FACT_LIFETIMES);
	cr_assert(p->source.is_estimated);
	cr_assert_not(p->source.is_partial);
	profile_free(p);
}

static void rename_run(struct profile_writer *w, void *ctx)
{
	static const char *const argv[] = {"later"};
	(void)ctx;
	profile_update_run(w, &(struct profile_run){.argv = argv, .argv_count = 1, .pid = 12});
}

Test(profile, a_later_run_replaces_the_first)
{
	struct profile *p = write_and_parse(rename_run, NULL);
	cr_assert_eq(p->run.argv_count, 1);
	cr_assert_str_eq(p->run.argv[0], "later");
	cr_assert_eq(p->run.pid, 12);
	cr_assert_not(p->has_source);
	cr_assert_str_eq(p->source.title, "");
	profile_free(p);
}

Test(profile, call_tree_comes_back)
{
	struct profile *p = write_and_parse(sample_small, NULL);
	cr_assert_eq(p->frame_count, 5);
	cr_assert_eq(p->frames[2].flags, FRAME_GUESSED);
	cr_assert_eq(p->frames[3].pc, 0x7fffffffe000);
	cr_assert_eq(p->frames[3].module, 0);
	cr_assert_eq(p->node_count, 12);
	/* frame 5 left with a jump: once above frame 2, twice above malloc */
	static const node_id parents[] = {1, 4, 5, 6, 6, 8, 2, 3};
	static const frame_id frames[] = {1, 5, 2, 2, 5, 5, 3, 4};
	for (size_t i = 0; i < 8; i++) {
		cr_assert_eq(profile_node_parent(p, 4 + i), parents[i]);
		cr_assert_eq(profile_node_frame(p, 4 + i), frames[i]);
		cr_assert_eq(profile_node_flags(p, 4 + i), i == 3 ? NODE_EXITING : 0);
	}
	cr_assert_eq(p->site_count, 5);
	cr_assert_eq(profile_site_size_bytes(p, 1), 0);
	cr_assert_eq(profile_site_size_bytes(p, 2), PROFILE_SIZE_MIXED);
	cr_assert_eq(profile_site_api(p, 2), API_REALLOC);
	cr_assert_eq(profile_site_node(p, 0), 9);
	cr_assert_eq(profile_site_node(p, 2), 7);
	cr_assert_eq(profile_site_node(p, 4), 9);
	cr_assert_eq(p->frames[4].flags, FRAME_TAIL);
	cr_assert_eq(p->frames[4].pc, 0x1100);
	cr_assert_eq(p->symbols.lines[p->symbols.first_line[4]].line, 80);
	profile_free(p);
}

Test(profile, counters_come_back)
{
	struct profile *p = write_and_parse(sample_small, NULL);
	static const uint64_t births[] = {10, 2, 3, 13, 1, 7, 2};
	static const uint64_t born[] = {480, 96, 777, 624, 1 << 20, 343, 9};
	static const uint64_t temporary[] = {6, 0, 1, 6, 0, 0, 0};
	static const snap_id birth[] = {1, 1, 1, 2, 2, 1, 3};
	cr_assert_eq(p->cohort_count, 7);
	for (size_t i = 0; i < 7; i++) {
		cr_assert_eq(profile_cohort_births(p, i), births[i]);
		cr_assert_eq(profile_cohort_born_bytes(p, i), born[i]);
		cr_assert_eq(profile_cohort_temporary(p, i), temporary[i]);
		cr_assert_eq(profile_cohort_birth(p, i), birth[i]);
	}
	cr_assert_eq(profile_cohort_flags(p, 1), COHORT_INHERITED);
	cr_assert_eq(profile_cohort_temporary_bytes(p, 2), 700);
	cr_assert_eq(p->snapshot_count, 3);
	cr_assert_eq(p->snapshots[0].live_bytes, 288);
	cr_assert_eq(p->snapshots[0].rss_bytes, 4096 * 300);
	cr_assert_eq(p->snapshots[2].time_ns, 30000123);
	cr_assert_eq(p->snapshots[2].cpu_ns, 0);
	cr_assert_eq(p->snapshots[2].rss_bytes, 12345);
	cr_assert_eq(p->snapshots[2].live_bytes, 1048576 + 96 + 7);
	cr_assert_eq(p->death_first[1], 2);
	cr_assert_eq(p->death_first[2], 5);
	cr_assert_eq(p->death_first[3], 7);
	profile_free(p);
}

Test(profile, peak_and_symbols_come_back)
{
	struct profile *p = write_and_parse(sample_small, NULL);
	cr_assert(p->has_peak);
	cr_assert_eq(p->peak.bytes, 1048576 + 96 + 7);
	cr_assert_eq(p->peak_entry_count, 3);
	cr_assert_eq(p->peak_entries[2].bytes, 7);
	cr_assert_eq(p->peak_entries[0].cohort, 5);
	cr_assert_eq(p->peak_entries[1].bytes, 96);
	cr_assert(p->has_symbols);
	cr_assert_str_eq(p->symbols.funcs[0].linkage, "main");
	cr_assert_str_eq(p->symbols.funcs[1].linkage, "_ZN2ns4workEi");
	cr_assert_str_eq(p->symbols.files[1], "/src/work.cc");
	cr_assert_eq(p->symbols.first_line[2], 3);
	cr_assert_eq(p->symbols.lines[1].line, 77);
	cr_assert_eq(p->symbols.lines[2].func, 1);
	profile_free(p);
}

/* ---- random profiles against a model ------------------------------------------------------ */

#define MODEL_SNAPS   40
#define MODEL_SITES   60
#define MODEL_COHORTS 20000

struct model {
	uint64_t seed;
	unsigned flush_every; /* snapshots; 0 = never */
	bool is_sorted, flushes_inside;
	size_t count;
	struct {
		site_id site;
		thread_id thread;
		snap_id birth;
		uint32_t flags;
		struct profile_change sum;
	} cohorts[MODEL_COHORTS];
	uint64_t deaths[MODEL_SNAPS + 1], died_bytes[MODEL_SNAPS + 1];
	struct profile_snapshot snaps[MODEL_SNAPS];
};

static uint64_t draw(struct model *m, uint64_t below)
{
	m->seed = m->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (m->seed >> 33) % below;
}

static uint64_t site_size(site_id site)
{
	return site % 7 == 3 ? PROFILE_SIZE_MIXED : site * 8;
}

static void add_to(struct model *m, snap_id snap, cohort_id c, const struct profile_change *ch)
{
	struct profile_change *s = &m->cohorts[c - 1].sum;
	uint64_t size = site_size(m->cohorts[c - 1].site);
	bool is_mixed = size == PROFILE_SIZE_MIXED;
	s->births += ch->births;
	s->deaths += ch->deaths;
	s->temporary += ch->temporary;
	s->born_bytes += is_mixed ? ch->born_bytes : ch->births * size;
	s->died_bytes += is_mixed ? ch->died_bytes : ch->deaths * size;
	s->temporary_bytes += is_mixed ? ch->temporary_bytes : ch->temporary * size;
	m->deaths[snap] += ch->deaths;
	m->died_bytes[snap] += is_mixed ? ch->died_bytes : ch->deaths * size;
}

static void draw_births(struct model *m, struct profile_writer *w, snap_id snap)
{
	for (site_id site = 1; site <= MODEL_SITES; site++) {
		if (draw(m, 3) == 0 || m->count == MODEL_COHORTS)
			continue;
		site_id used = m->is_sorted ? site : (site_id)(1 + draw(m, MODEL_SITES));
		struct profile_change ch = {.births = draw(m, 4) ? 1 + draw(m, 1000) : 1};
		ch.deaths = draw(m, 3) ? ch.births : draw(m, ch.births + 1);
		ch.temporary = draw(m, 3) ? 0 : ch.deaths / 2;
		if (site_size(used) == PROFILE_SIZE_MIXED) {
			ch.born_bytes = ch.births * 100;
			ch.died_bytes = ch.deaths * 100;
			ch.temporary_bytes = ch.temporary * 99;
		}
		m->cohorts[m->count].site = used;
		m->cohorts[m->count].thread = 1 + site % 3;
		m->cohorts[m->count].birth = draw(m, 20) || snap == 1 ? snap : snap - 1;
		m->cohorts[m->count].flags = draw(m, 50) ? 0 : COHORT_INHERITED;
		m->count++;
		cohort_id c = profile_add_cohort(w, used, m->cohorts[m->count - 1].thread,
						 m->cohorts[m->count - 1].birth,
						 m->cohorts[m->count - 1].flags, &ch);
		cr_assert_eq(c, m->count);
		add_to(m, snap, c, &ch);
	}
}

static void draw_changes(struct model *m, struct profile_writer *w, snap_id snap)
{
	for (size_t i = 0; i < m->count; i++) {
		struct profile_change *s = &m->cohorts[i].sum;
		uint64_t live = s->births - s->deaths;
		struct profile_change ch = {0};
		if (live && !draw(m, 3))
			ch.deaths = draw(m, 2) ? live : 1 + draw(m, live);
		if (!draw(m, 60)) { /* late ones */
			ch.births = 1 + draw(m, 5);
			ch.deaths += draw(m, 2);
		}
		if (!ch.births && !ch.deaths)
			continue;
		ch.temporary = ch.deaths && !draw(m, 4);
		if (site_size(m->cohorts[i].site) == PROFILE_SIZE_MIXED) {
			ch.born_bytes = ch.births * 100;
			ch.died_bytes = ch.deaths * 100;
			ch.temporary_bytes = ch.temporary * 99;
		}
		profile_change_cohort(w, (cohort_id)i + 1, &ch);
		add_to(m, snap, (cohort_id)i + 1, &ch);
	}
}

static void write_model(struct profile_writer *w, void *ctx)
{
	struct model *m = ctx;
	for (unsigned i = 0; i < 3; i++)
		profile_add_thread(w, &(struct profile_thread){.name = "t", .tid = i});
	profile_add_frame(w, &(struct profile_frame){.pc = 0x1000});
	profile_add_node(w, PROFILE_NODE_ROOT, 1, 0);
	for (site_id s = 1; s <= MODEL_SITES; s++)
		profile_add_site(
			w, &(struct profile_site){PROFILE_NODE_FIRST, site_size(s), API_MALLOC});
	uint64_t time_ns = 0;
	for (snap_id snap = 1; snap <= MODEL_SNAPS; snap++) {
		time_ns += 10000000 + draw(m, 2000) * (snap < 20 ? 1000 : 1);
		struct profile_snapshot *s = &m->snaps[snap - 1];
		*s = (struct profile_snapshot){time_ns, draw(m, 1 << 30), draw(m, 100) * 4096,
					       (int64_t)draw(m, 1 << 20) - 1000};
		cr_assert_eq(profile_snapshot_begin(w, s), snap);
		if (snap % 2)
			draw_changes(m, w, snap);
		draw_births(m, w, snap);
		if (m->flushes_inside)
			profile_writer_flush(w, NULL);
		if (snap % 2 == 0)
			draw_changes(m, w, snap);
		cr_assert_eq(profile_snapshot_end(w, NULL), NEAP_OK);
		if (m->flush_every && snap % m->flush_every == 0)
			profile_writer_flush(w, NULL);
	}
	profile_add_end(w, &(struct profile_end){.kind = END_EXITED, .time_ns = time_ns});
}

static void compare_cohorts(const struct profile *p, const struct model *m)
{
	cr_assert_eq(p->cohort_count, m->count);
	for (size_t i = 0; i < m->count; i++) {
		cr_assert_eq(profile_cohort_site(p, i), m->cohorts[i].site);
		cr_assert_eq(profile_cohort_thread(p, i), m->cohorts[i].thread);
		cr_assert_eq(profile_cohort_birth(p, i), m->cohorts[i].birth);
		cr_assert_eq(profile_cohort_flags(p, i), m->cohorts[i].flags);
		cr_assert_eq(profile_cohort_births(p, i), m->cohorts[i].sum.births);
		cr_assert_eq(profile_cohort_temporary(p, i), m->cohorts[i].sum.temporary);
		cr_assert_eq(profile_cohort_born_bytes(p, i), m->cohorts[i].sum.born_bytes);
		cr_assert_eq(profile_cohort_temporary_bytes(p, i),
			     m->cohorts[i].sum.temporary_bytes);
	}
}

static void compare_deaths(const struct profile *p, const struct model *m)
{
	uint64_t *deaths = mem_zarray(m->count, sizeof *deaths);
	cr_assert_eq(p->snapshot_count, MODEL_SNAPS);
	for (size_t s = 1; s <= MODEL_SNAPS; s++) {
		uint64_t blocks = 0, bytes = 0;
		for (size_t d = p->death_first[s - 1]; d < p->death_first[s]; d++) {
			blocks += profile_death_blocks(p, d);
			bytes += profile_death_bytes(p, d);
			deaths[profile_death_cohort(p, d) - 1] += profile_death_blocks(p, d);
		}
		cr_assert_eq(blocks, m->deaths[s]);
		cr_assert_eq(bytes, m->died_bytes[s]);
		cr_assert_eq(memcmp(&p->snapshots[s - 1], &m->snaps[s - 1], sizeof m->snaps[0]), 0);
	}
	for (size_t i = 0; i < m->count; i++)
		cr_assert_eq(deaths[i], m->cohorts[i].sum.deaths);
	mem_free(deaths);
}

static void try_model(uint64_t seed, unsigned flush_every, bool is_sorted, bool flushes_inside)
{
	struct model *m = mem_zalloc(sizeof *m);
	m->seed = seed;
	m->flush_every = flush_every;
	m->is_sorted = is_sorted;
	m->flushes_inside = flushes_inside;
	struct profile *p = write_and_parse(write_model, m);
	cr_assert_str_eq(p->damage.text, "");
	compare_cohorts(p, m);
	compare_deaths(p, m);
	profile_free(p);
	mem_free(m);
}

Test(profile, random_counters_come_back_in_any_order_and_any_flush)
{
	for (uint64_t seed = 1; seed <= 12; seed++)
		try_model(seed, (unsigned)seed % 4, seed & 1, seed % 3 == 0);
}

/* ---- size ------------------------------------------------------------------------------------ */

struct loop {
	unsigned sites, snaps;
};

/* A steady loop: rates over three decades, 3 % common noise, and half a block of its own. */
static void write_loop(struct profile_writer *w, void *ctx)
{
	const struct loop *l = ctx;
	struct model *m = mem_zalloc(sizeof *m);
	profile_add_thread(w, &(struct profile_thread){.name = "main"});
	for (site_id s = 1; s <= l->sites; s++) {
		profile_add_frame(w, &(struct profile_frame){.pc = s * 77});
		profile_add_node(w, PROFILE_NODE_ROOT, s, 0);
		profile_add_site(w, &(struct profile_site){PROFILE_NODE_FIRST + s - 1, s, API_NEW});
	}
	uint64_t time_ns = 0;
	for (snap_id snap = 1; snap <= l->snaps; snap++) {
		time_ns += 10000000 + draw(m, 100) * 1000;
		profile_snapshot_begin(w, &(struct profile_snapshot){.time_ns = time_ns});
		uint64_t pace = 1000 + draw(m, 60);
		for (site_id s = 1; s <= l->sites; s++) {
			uint64_t births = (3 + s * s % 1009) * pace / 1000 + draw(m, 2);
			struct profile_change ch = {.births = births, .deaths = births};
			profile_add_cohort(w, s, 1, snap, 0, &ch);
		}
		profile_snapshot_end(w, NULL);
		if (snap % 100 == 0)
			profile_writer_flush(w, NULL);
	}
	mem_free(m);
}

Test(profile, a_snapshot_of_a_steady_loop_takes_few_bytes)
{
	struct buf ten = write_file(write_loop, &(struct loop){256, 1000});
	struct buf one = write_file(write_loop, &(struct loop){256, 100});
	cr_assert_lt(ten.count_bytes - one.count_bytes, 900 * 90, "%zu bytes",
		     (ten.count_bytes - one.count_bytes) / 900);
	struct buf small = write_file(write_loop, &(struct loop){4, 1000});
	cr_assert_lt(small.count_bytes, 1000 * 8 + 500, "%zu", small.count_bytes);
	buf_release(&ten);
	buf_release(&one);
	buf_release(&small);
}

static void write_wide_tree(struct profile_writer *w, void *ctx)
{
	uint32_t count = *(uint32_t *)ctx;
	for (uint32_t i = 1; i <= count / 10; i++)
		profile_add_frame(w, &(struct profile_frame){.pc = i * 16});
	for (uint32_t i = 0; i < count; i++)
		profile_add_node(w, i % 8 ? PROFILE_NODE_FIRST + i - 1 : 1, 1 + i % (count / 10),
				 0);
}

#define RANDOM_NODES 3000u

/* Nodes below any earlier one, in the order in which a program might come to them; a site each. */
struct random_tree {
	node_id parent[RANDOM_NODES + PROFILE_NODE_FIRST];
};

static void write_random_tree(struct profile_writer *w, void *ctx)
{
	struct random_tree *t = ctx;
	uint64_t random = 7;
	for (uint32_t i = 0; i < RANDOM_NODES; i++)
		profile_add_frame(w, &(struct profile_frame){.pc = i + 1});
	for (node_id n = PROFILE_NODE_FIRST; n < RANDOM_NODES + PROFILE_NODE_FIRST; n++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		t->parent[n] = random >> 62 ? n - 1 : 1 + (node_id)((random >> 20) % (n - 1));
		profile_add_node(w, t->parent[n], n - PROFILE_NODE_FIRST + 1, 0);
		profile_add_site(w, &(struct profile_site){.node = n, .size_bytes = n});
	}
}

/* Frames tell the file's nodes: each node has its own. */
static node_id file_node(const struct profile *p, node_id n)
{
	return n < PROFILE_NODE_FIRST ? n : profile_node_frame(p, n) + PROFILE_NODE_FIRST - 1;
}

Test(profile, nodes_come_in_preorder_with_the_parents_and_sites_of_the_file)
{
	struct random_tree t;
	struct profile *p = write_and_parse(write_random_tree, &t);
	cr_assert_eq(p->node_count, RANDOM_NODES + PROFILE_NODE_FIRST);
	for (node_id n = PROFILE_NODE_FIRST; n < p->node_count; n++) {
		node_id parent = profile_node_parent(p, n), above = n - 1;
		cr_assert_eq(file_node(p, parent), t.parent[file_node(p, n)]);
		/* The node before is the parent, or below it; below the fixed nodes, in their order. */
		while (n > PROFILE_NODE_FIRST && above != parent && above >= PROFILE_NODE_FIRST)
			above = profile_node_parent(p, above);
		cr_assert(above == parent || (above < parent && parent < PROFILE_NODE_FIRST) ||
				  n == PROFILE_NODE_FIRST,
			  "node %u is below %u", n, parent);
	}
	for (size_t i = 0; i < p->site_count; i++)
		cr_assert_eq(file_node(p, profile_site_node(p, i)), profile_site_size_bytes(p, i));
	profile_free(p);
}

Test(profile, large_tables_are_split_into_blocks)
{
	uint32_t count = 500000;
	struct profile *p = write_and_parse(write_wide_tree, &count);
	cr_assert_eq(p->node_count, count + PROFILE_NODE_FIRST);
	cr_assert_eq(profile_node_parent(p, PROFILE_NODE_FIRST + 77), PROFILE_NODE_FIRST + 76);
	cr_assert_eq(profile_node_frame(p, PROFILE_NODE_FIRST + 499999), 50000);
	profile_free(p);
}

/* ---- writer's failures ------------------------------------------------------------------------ */

static void write_nothing(struct profile_writer *w, void *ctx)
{
	(void)w;
	(void)ctx;
}

Test(profile, an_empty_recording_is_readable_and_marked_as_cut)
{
	struct profile *p = write_and_parse(write_nothing, NULL);
	cr_assert(p->damage.is_cut);
	cr_assert_not_null(strstr(p->damage.text, "interrupted"));
	cr_assert_eq(p->snapshot_count, 0);
	cr_assert_eq(p->end.kind, END_UNKNOWN);
	cr_assert_eq(p->run.pid, 4711);
	profile_free(p);
}

static void name_unknown_node(struct profile_writer *w, void *ctx)
{
	(void)ctx;
	cr_assert_eq(profile_add_site(w, &(struct profile_site){99, 8, API_MALLOC}), 0);
}

static void name_unknown_site(struct profile_writer *w, void *ctx)
{
	(void)ctx;
	profile_snapshot_begin(w, &(struct profile_snapshot){.time_ns = 1});
	cr_assert_eq(profile_add_cohort(w, 1, 1, 1, 0, &(struct profile_change){.births = 1}), 0);
}

static void end_without_begin(struct profile_writer *w, void *ctx)
{
	(void)ctx;
	cr_assert_eq(profile_snapshot_end(w, NULL), ERR_USAGE);
}

Test(writer, refuses_ids_that_were_not_added)
{
	const sample_fn wrong[] = {name_unknown_node, name_unknown_site, end_without_begin};
	for (size_t i = 0; i < 3; i++) {
		struct buf file = {0};
		struct err e;
		cr_assert_eq(sample_write(wrong[i], NULL, &file, &e), ERR_USAGE);
		cr_assert_eq(strncmp(e.text, "cannot write 'sample': ", 23), 0);
		buf_release(&file);
	}
}

Test(writer, says_that_the_disk_is_full)
{
	struct profile_writer *w;
	struct err e;
	struct profile_run run = {.tool = "t"};
	int fd = open("/dev/full", O_WRONLY);
	cr_assert_geq(fd, 0);
	cr_assert_eq(profile_writer_new(fd, "/dev/full", &run, &w, &e), ERR_IO);
	cr_assert_null(w);
	cr_assert_str_eq(e.text, "cannot write to '/dev/full': No space left on device");
}

Test(writer, keeps_what_was_written_when_the_file_may_not_grow)
{
	char path[] = "/tmp/neap-t-profile-XXXXXX";
	struct profile_writer *w;
	struct err e;
	struct profile_run run = {.tool = "t"};
	int fd = mkstemp(path);
	cr_assert_geq(fd, 0);
	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(profile_writer_new(fd, path, &run, &w, &e), NEAP_OK);
	sample_small(w, NULL);
	cr_assert_eq(profile_writer_flush(w, &e), NEAP_OK);
	uint64_t whole = profile_writer_bytes(w);
	const struct rlimit limit = {whole + 20, whole + 20};
	setrlimit(RLIMIT_FSIZE, &limit);
	profile_add_mark(w, "one more", 1, 1);
	cr_assert_eq(profile_writer_flush(w, &e), ERR_IO);
	profile_add_mark(w, "ignored", 1, 1);
	cr_assert_eq(profile_writer_close(w, &e), ERR_IO);
	struct profile *p;
	cr_assert_eq(profile_open(path, &p, &e), NEAP_OK);
	cr_assert_eq(p->file_bytes, whole);
	cr_assert_str_eq(p->damage.text, "");
	cr_assert_eq(p->mark_count, 1);
	profile_free(p);
	unlink(path);
}

/* ---- opening ------------------------------------------------------------------------------------ */

Test(reader, says_why_a_file_is_no_profile)
{
	static const struct {
		const char *data;
		size_t bytes;
		const char *text;
	} files[] = {
		{"", 0, "'f' is empty, not a neap profile"},
		{"#!/bin/sh\n", 10, "'f' is not a neap profile"},
		{"\x89NEAP\n\x1a\x01", 8,
		 "'f' was damaged by a transfer as text; copy it as binary"},
		{"\x09NEAP\r\n\x1a", 8, "'f' was damaged by a transfer as text; copy it as binary"},
		{"\x89NEAP\r\n\x1a", 8, "'f' is cut inside its header (8 bytes)"},
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct profile *p;
		struct err e;
		cr_assert_eq(profile_parse(files[i].data, files[i].bytes, "f", &p, &e), ERR_FORMAT);
		cr_assert_null(p);
		cr_assert_str_eq(e.text, files[i].text);
	}
}

Test(reader, names_files_it_cannot_read)
{
	struct profile *p;
	struct err e;
	cr_assert_eq(profile_open("/nonexistent.neap", &p, &e), ERR_IO);
	cr_assert_str_eq(e.text, "cannot open '/nonexistent.neap': No such file or directory");
	cr_assert_eq(profile_open("/", &p, &e), ERR_IO);
	cr_assert_str_eq(e.text, "'/' is a directory, not a profile");
}

static void write_then_more_frames(struct profile_writer *w, void *ctx)
{
	sample_small(w, ctx);
	profile_add_frame(w, &(struct profile_frame){.module = 1, .pc = 0x4000});
}

/* Names that are of other frames, and their tail calls, are left out. */
Test(reader, gives_every_frame_a_run_of_lines)
{
	struct profile *p = write_and_parse(write_then_more_frames, NULL);
	cr_assert_eq(p->frame_count, 5);
	cr_assert_eq(p->node_count, 9);
	cr_assert_eq(p->symbols.frame_count, 5);
	cr_assert_eq(p->symbols.first_line[5], 3);
	profile_free(p);
}

/* ---- words ----------------------------------------------------------------------------------------- */

Test(dump, shows_every_record)
{
	static const char *const expected[] = {
		"header: version 1, ",
		"block run (1) at ",
		"  argv 2 \"a b\"\n",
		"  module 2 \"/lib/plugin.so\" build_id  flags 0x0 ",
		"  thread 2 \"worker\" tid 4712 flags 0x1 snapshots 1-3\n",
		"  frame 3 module 2 pc 0x88 flags 0x1\n",
		"  node 7 parent 5 frame 2 flags 0x1\n",
		"  site 3 node 7 size mixed api realloc\n",
		"  snapshot 3 time_ns 30000123 cpu_ns 0 rss_bytes 12345 live_bytes 1048679\n",
		"    new cohort 2 site 1 thread 2 birth 1 flags 0x1 births 2 bytes 96",
		"    deaths cohort 1 blocks 4 bytes 192\n",
		"    late cohort 4 births 1 bytes 48",
		"  mark \"loaded\" snapshot 2",
		"block tail calls (14) at ",
		"  frame 5 module 1 pc 0x1100\n",
		"  below frame 1, above frame 2: 5\n",
		"  below frame 2, above malloc: 5 5\n",
		"  producer \"heaptrack 1.4.0\"\n",
		"  estimated 1 partial 0 unknown 0x104: threads, lifetimes\n",
		"  drop foreign 3\n",
		"    live cohort 5 blocks 1 bytes 1048576\n",
		"  function 2 \"ns::work(int)\" linkage \"_ZN2ns4workEi\"\n",
		"  frame 2 function 2 file 2 line 77\n",
		"  end signaled status 9 time_ns 30500000 reason \"\"\n",
	};
	struct buf file = write_file(sample_small, NULL), text = {0};
	cr_assert_eq(profile_dump(file.data, file.count_bytes, "f", &text, NULL), NEAP_OK);
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		cr_assert_not_null(strstr(text.data, expected[i]), "%s\nin\n%s", expected[i],
				   text.data);
	cr_assert_null(strstr(text.data, "BROKEN"));
	buf_release(&file);
	buf_release(&text);
}

Test(info, says_what_a_person_wants_to_know)
{
	static const char *const expected[] = {
		"Command:    prog --loud 'a b'\n",
		"Process:    4711, started by 4700 as a copy of itself (fork)\n",
		"Ended:      killed by signal 9 (Killed)\n",
		"Duration:   30.5 ms, 3 snapshots, at first every 10.0 ms\n",
		"Peak:       1.0 MiB (1,048,679 bytes) at 25.0 ms, exact\n",
		"Imported:   from heaptrack (heaptrack 1.4.0), /tmp/foreign.gz, estimated",
		"Not known:  threads, lifetimes\n",
		"Note:       line 4: odder\n",
		"Call tree:  8 nodes, 4 frames, 5 sites, 7 cohorts\n",
		"Dropped:    3 frees of blocks that were never counted\n",
		"  deadbeef                                  /usr/bin/prog\n",
	};
	struct profile *p = write_and_parse(sample_small, NULL);
	struct buf text = {0};
	profile_info_text(p, true, &text);
	for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
		cr_assert_not_null(strstr(text.data, expected[i]), "%s\nin\n%s", expected[i],
				   text.data);
	buf_clear(&text);
	profile_info_json(p, &text);
	cr_assert_not_null(strstr(text.data, "\"command\":[\"prog\",\"--loud\",\"a b\"],\"tool\""));
	cr_assert_not_null(strstr(text.data, "\"end\":{\"kind\":\"signaled\",\"status\":9,"));
	cr_assert_not_null(strstr(text.data, "\"allocated_blocks\":36,"));
	cr_assert_not_null(strstr(text.data, "\"inherited_blocks\":2,"));
	cr_assert_not_null(strstr(text.data, "\"build_id\":\"deadbeef\""));
	cr_assert_not_null(strstr(text.data, "\"unknown\":[\"threads\",\"lifetimes\"]"));
	cr_assert_not_null(strstr(text.data, "\"thread_count\":null,"));
	buf_release(&text);
	profile_free(p);
}

Test(names, exist_for_every_number)
{
	for (unsigned i = 0; i < API_COUNT; i++)
		cr_assert_not_null(profile_api_name((enum profile_api)i));
	for (unsigned i = 0; i < DROP_COUNT; i++) {
		cr_assert_str_neq(profile_drop_name((enum profile_drop)i), "unknown");
		cr_assert_not_null(profile_drop_meaning((enum profile_drop)i));
	}
	for (unsigned i = 0; i < FACT_COUNT; i++)
		cr_assert_str_neq(profile_fact_name(i), "unknown");
	cr_assert_str_eq(profile_fact_name(FACT_COUNT), "unknown");
	cr_assert_str_eq(profile_api_name((enum profile_api)99), "unknown");
	cr_assert_str_eq(profile_drop_name((enum profile_drop)99), "unknown");
}
