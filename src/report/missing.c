/*
 * Addresses without a name, by module.  What flows down the tree is a set of modules as bits:
 * those with such an address on the way to a node.
 */
#include "config.h"

#include "src/report/missing.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/fmt.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/report/name.h"

#define STARTUP_FRAMES 3u
#define SET_BITS       64u
#define NONE           UINT32_MAX

struct finder {
	const struct graph *g;
	const struct profile *p;
	struct missing *out;
	size_t cap;
	uint32_t *
		item_of_module; /* [module_count + 1]: equal files have one; index in out->items, or NONE */
	uint8_t *is_libc; /* [module_count + 1] */
	uint8_t *depth;   /* by node, at most STARTUP_FRAMES + 1 */
	mod_id *nameless; /* by frame: the module that its address lacks a name of; 0: none */
	uint8_t *is_seen; /* by frame: counted */
	uint64_t *set;    /* by node */
	struct graph_sum *cohorts;
};

/* ---- addresses ------------------------------------------------------------------------ */

static bool is_libc_path(const char *path)
{
	static const char *const names[] = {"libc.so", "libc-", "ld-linux",
					    "ld-musl", "ld-2",  "libpthread"};
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!strncmp(base, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

static bool has_name(const struct finder *f, frame_id id)
{
	const struct profile_symbols *s = &f->p->symbols;
	return f->p->has_symbols && id <= s->frame_count &&
	       s->first_line[id] > s->first_line[id - 1];
}

/* There are many nodes of each frame. */
static void find_nameless(struct finder *f)
{
	for (frame_id id = 1; id <= f->p->frame_count; id++) {
		mod_id module = f->p->frames[id - 1].module;
		bool has_file = module && !(f->p->modules[module - 1].flags & MODULE_VDSO);
		f->nameless[id] = has_file && !has_name(f, id) ? module : 0;
	}
}

/* The same of a node: what starts a program may go without a name. */
static mod_id module_missing(const struct finder *f, node_id n)
{
	mod_id module = f->nameless[n < PROFILE_NODE_FIRST ? 0 : profile_node_frame(f->p, n)];
	return module && f->is_libc[module] && f->depth[n] <= STARTUP_FRAMES ? 0 : module;
}

static uint8_t measure_depth(const struct finder *f, node_id n)
{
	node_id parent = profile_node_parent(f->p, n);
	uint8_t above = parent < PROFILE_NODE_FIRST ? 0 : f->depth[parent];
	return above > STARTUP_FRAMES ? above : above + 1;
}

/* Modules of one path and build id are one file. */
static bool find_modules(struct finder *f, uint32_t *first_of)
{
	struct strtab files = {0};
	struct buf key = {0};
	uint32_t *firsts = mem_array(f->p->module_count + 1, sizeof *firsts);
	bool is_ok = firsts;
	for (mod_id id = 1; is_ok && id <= f->p->module_count; id++) {
		const struct profile_module *m = &f->p->modules[id - 1];
		buf_clear(&key);
		buf_put(&key, m->build_id, m->build_id_bytes);
		buf_puts(&key, m->path);
		buf_putc(&key, '\0');
		size_t known_count = files.count;
		uint32_t file =
			key.has_failed ? UINT32_MAX : strtab_add(&files, key.data, key.count_bytes);
		is_ok = file != UINT32_MAX;
		if (!is_ok)
			break;
		if (files.count > known_count)
			firsts[file] = id;
		first_of[id] = firsts[file];
		f->is_libc[id] = is_libc_path(m->path);
		f->item_of_module[id] = NONE;
	}
	mem_free(firsts);
	strtab_release(&files);
	buf_release(&key);
	return is_ok;
}

/* Parents come first. */
static bool add_address(struct finder *f, const uint32_t *first_of, node_id n)
{
	f->depth[n] = measure_depth(f, n);
	mod_id module = module_missing(f, n);
	frame_id id = module ? profile_node_frame(f->p, n) : 0;
	if (!module || f->is_seen[id])
		return true;
	mod_id first = first_of[module];
	f->is_seen[id] = 1;
	if (f->item_of_module[first] == NONE) {
		if (!vec_reserve((void **)&f->out->items, &f->cap, f->out->count + 1,
				 sizeof *f->out->items))
			return false;
		f->item_of_module[first] = (uint32_t)f->out->count;
		f->out->items[f->out->count++] = (struct missing_module){.module = first};
	}
	f->item_of_module[module] = f->item_of_module[first];
	f->out->items[f->item_of_module[first]].frame_count++;
	return true;
}

static bool find_addresses(struct finder *f)
{
	uint32_t *first_of = mem_zarray(f->p->module_count + 1, sizeof *first_of);
	bool is_ok = first_of && find_modules(f, first_of);
	find_nameless(f);
	for (node_id n = PROFILE_NODE_FIRST; is_ok && n < f->p->node_count; n++)
		is_ok = add_address(f, first_of, n);
	mem_free(first_of);
	return is_ok;
}

/* ---- memory ------------------------------------------------------------------------------ */

static void add_sum(struct graph_sum *to, const struct graph_sum *v)
{
	to->blocks += v->blocks;
	to->bytes += v->bytes;
}

/* Which of the items from..from+63 lie on the way to each node. */
static void fill_sets(struct finder *f, size_t from)
{
	for (node_id n = PROFILE_NODE_FIRST; n < f->p->node_count; n++) {
		mod_id module = module_missing(f, n);
		uint32_t item = module ? f->item_of_module[module] : NONE;
		f->set[n] = f->set[profile_node_parent(f->p, n)];
		if (item != NONE && item >= from && item < from + SET_BITS)
			f->set[n] |= UINT64_C(1) << (item - from);
	}
}

static void add_cohorts(struct finder *f, size_t from, enum graph_pop pop)
{
	graph_pop_cohorts(f->g, pop, graph_whole_run(f->g), f->cohorts);
	for (size_t i = 0; i < f->p->cohort_count; i++) {
		uint64_t set = f->cohorts[i].blocks ? f->set[profile_cohort_node(f->p, i)] : 0;
		for (; set; set &= set - 1) {
			struct missing_module *m =
				&f->out->items[from + (size_t)__builtin_ctzll(set)];
			add_sum(pop == POP_PEAK ? &m->peak : &m->allocated, &f->cohorts[i]);
		}
	}
	struct graph_sum all = graph_add_up(f->cohorts, f->p->cohort_count);
	*(pop == POP_PEAK ? &f->out->peak : &f->out->allocated) = all;
}

static int compare_items(const void *left, const void *right)
{
	const struct missing_module *a = left, *b = right;
	if (a->peak.bytes != b->peak.bytes)
		return a->peak.bytes > b->peak.bytes ? -1 : 1;
	if (a->allocated.bytes != b->allocated.bytes)
		return a->allocated.bytes > b->allocated.bytes ? -1 : 1;
	return (a->module > b->module) - (a->module < b->module);
}

enum neap_err missing_find(const struct graph *g, struct missing *out, struct err *e)
{
	const struct profile *p = graph_profile(g);
	struct finder f = {.g = g, .p = p, .out = out};
	*out = (struct missing){.count = 0};
	f.item_of_module = mem_zarray(p->module_count + 1, sizeof *f.item_of_module);
	f.is_libc = mem_zarray(p->module_count + 1, 1);
	f.depth = mem_zarray(p->node_count, 1);
	f.nameless = mem_zarray(p->frame_count + 1, sizeof *f.nameless);
	f.is_seen = mem_zarray(p->frame_count + 1, 1);
	f.set = mem_zarray(p->node_count, sizeof *f.set);
	f.cohorts = mem_array(p->cohort_count, sizeof *f.cohorts);
	bool is_ok = f.item_of_module && f.is_libc && f.depth && f.nameless && f.is_seen && f.set &&
		     f.cohorts && find_addresses(&f);
	for (size_t from = 0; is_ok && from < out->count; from += SET_BITS) {
		fill_sets(&f, from);
		add_cohorts(&f, from, POP_PEAK);
		add_cohorts(&f, from, POP_ALLOCATED);
	}
	if (is_ok && out->count)
		qsort(out->items, out->count, sizeof *out->items, compare_items);
	mem_free(f.item_of_module);
	mem_free(f.is_libc);
	mem_free(f.depth);
	mem_free(f.nameless);
	mem_free(f.is_seen);
	mem_free(f.set);
	mem_free(f.cohorts);
	if (is_ok)
		return NEAP_OK;
	missing_release(out);
	return err_nomem(e, "the modules without names");
}

void missing_release(struct missing *m)
{
	mem_free(m->items);
	*m = (struct missing){.count = 0};
}

bool missing_is_grave(const struct missing *m, size_t i)
{
	const struct missing_module *item = &m->items[i];
	return (item->peak.bytes && item->peak.bytes >= m->peak.bytes / 100) ||
	       (item->allocated.bytes && item->allocated.bytes >= m->allocated.bytes / 100);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void write_item(struct buf *out, struct shortener *nm, const struct profile *p,
		       const struct missing_module *item)
{
	char peak[FMT_BYTES], blocks[FMT_BYTES], allocated[FMT_BYTES], frames[FMT_BYTES];
	char id[2 * sizeof p->modules[0].build_id + 1];
	const struct profile_module *m = &p->modules[item->module - 1];
	fmt_hex(id, sizeof id, m->build_id, m->build_id_bytes);
	buf_printf(out, "%10s  %10s  %10s  %9s  %s\n",
		   fmt_bytes(peak, sizeof peak, item->peak.bytes),
		   fmt_count(blocks, sizeof blocks, item->peak.blocks),
		   fmt_bytes(allocated, sizeof allocated, item->allocated.bytes),
		   fmt_count(frames, sizeof frames, (int64_t)item->frame_count),
		   name_text(nm, m->path, SIZE_MAX / 8));
	buf_printf(out, "%47s%s%s\n", "", m->build_id_bytes ? "build id " : "",
		   m->build_id_bytes
			   ? id
			   : "no build id: only the same file at the same path can be used");
}

static const char advice[] =
	"\nThe first two columns are what was live at the peak; a block counts for every module "
	"on\n"
	"its call path.  To supply names, on this machine or another:\n"
	"  neap symbolize --debug-dir DIR FILE   DIR has these programs with their symbols, or "
	"the\n"
	"                                        *.debug files split off from them\n"
	"  neap symbolize --debuginfod FILE      fetch them from the servers in DEBUGINFOD_URLS\n"
	"or install them (Debian: packages called NAME-dbgsym) and run neap symbolize FILE.\n"
	"Only files with the build id shown are used.\n";

void missing_write(const struct missing *m, const struct profile *p, bool is_utf8, struct buf *out)
{
	struct shortener nm = {.is_utf8 = is_utf8};
	if (!m->count) {
		buf_puts(out, "All code on the call paths has names.\n");
		return;
	}
	buf_printf(out, "%10s  %10s  %10s  %9s  %s\n", "peak", "blocks", "allocated", "addresses",
		   "module without names");
	for (size_t i = 0; i < m->count; i++)
		write_item(out, &nm, p, &m->items[i]);
	buf_puts(out, advice);
	out->has_failed |= nm.has_failed;
	shortener_release(&nm);
}
