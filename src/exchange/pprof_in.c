/*
 * pprof's profile.proto: heap profiles of Go, C and C++ (tcmalloc), Rust, Node, and of Julia's PProf.jl.
 *
 * A profile is fields one after the other in any order; names come after what uses them.  So
 * the file is gone through once: strings, functions, locations and mappings go into tables, samples are
 * kept as they are in the file; then samples are unpacked one by one and booked.
 *
 *   sample_type   what the values of a sample are: alloc_objects/count, inuse_space/bytes, ...
 *   sample        a stack of locations, innermost first, a value for each type, labels
 *   location      an address in a mapping, and the functions inlined there, innermost first
 *   period        bytes between samples on average; values are scaled already, unlike in older formats
 *
 * Addresses are those of calls.  The label "bytes" is the size of each block; where scaling left
 * counts that do not fit it, only the sums are kept.  PProf.jl says the type of a block in the
 * label "type" and usually in an innermost frame "Alloc: TYPE", which is made if it is not there.
 */
#include "config.h"

#include "src/exchange/pprof_in.h"

#include "src/base/mem.h"
#include "src/exchange/exchange_priv.h"
#include "src/exchange/profile.pb-c.h"
#include "src/exchange/stackrows.h"

#include <inttypes.h>
#include <string.h>

/* ---- what it measures ---------------------------------------------------------------------------- */

static const struct {
	const char *type, *unit;
	enum measure measure;
} measures[] = {
	{"alloc_objects", "count", ALLOC_BLOCKS}, {"alloc_space", "bytes", ALLOC_BYTES},
	{"inuse_objects", "count", LIVE_BLOCKS},  {"inuse_space", "bytes", LIVE_BYTES},
	{"peak_objects", "count", PEAK_BLOCKS},   {"peak_space", "bytes", PEAK_BYTES},
	{"objects", "count", LIVE_BLOCKS},        {"space", "bytes", LIVE_BYTES},
	{"allocs", "count", ALLOC_BLOCKS},        {"size", "bytes", ALLOC_BYTES}, /* Julia */
};

/* A single type in bytes of another name is taken for what is live. */
static void find_bytes(struct pprof *p)
{
	for (size_t i = 0; i < p->type_count && p->value_of[LIVE_BYTES] < 0; i++) {
		if (!pprof_is_string(p, p->types[i].unit, "bytes"))
			continue;
		struct piece name = pprof_string(p, p->types[i].type);
		p->value_of[LIVE_BYTES] = (int)i;
		import_note(p->im, "its values '%.*s' are taken for bytes that are live",
			    name.bytes < 40 ? (int)name.bytes : 40, (const char *)name.data);
	}
}

static enum neap_err refuse(struct pprof *p, struct err *e)
{
	struct buf list = {0};
	for (size_t i = 0; i < p->type_count && i < 6; i++) {
		struct piece type = pprof_string(p, p->types[i].type),
			     unit = pprof_string(p, p->types[i].unit);
		buf_puts(&list, i ? ", " : "");
		buf_put(&list, type.data, type.bytes < 40 ? type.bytes : 40);
		buf_putc(&list, '/');
		buf_put(&list, unit.data, unit.bytes < 40 ? unit.bytes : 40);
	}
	err_set(e, ERR_UNSUPPORTED,
		"this is a pprof profile of %s: it has no heap in it; take a heap profile "
		"(/debug/pprof/heap of Go, Profile.Allocs of Julia)",
		list.count_bytes > 0 && !list.has_failed ? list.data : "nothing");
	buf_release(&list);
	return ERR_UNSUPPORTED;
}

static enum neap_err find_measures(struct pprof *p, struct err *e)
{
	for (size_t m = 0; m < MEASURE_COUNT; m++)
		p->value_of[m] = -1;
	for (size_t i = 0; i < p->type_count; i++)
		for (size_t k = 0; k < sizeof measures / sizeof measures[0]; k++)
			if (p->value_of[measures[k].measure] < 0 &&
			    pprof_is_string(p, p->types[i].type, measures[k].type) &&
			    pprof_is_string(p, p->types[i].unit, measures[k].unit))
				p->value_of[measures[k].measure] = (int)i;
	if (p->value_of[ALLOC_BYTES] < 0 && p->value_of[LIVE_BYTES] < 0)
		find_bytes(p);
	return p->value_of[ALLOC_BYTES] < 0 && p->value_of[LIVE_BYTES] < 0 ? refuse(p, e) : NEAP_OK;
}

/* ---- modules and frames ---------------------------------------------------------------------------- */

static int hex_value(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_build_id(struct piece text, struct profile_module *m)
{
	for (size_t i = 0; i + 1 < text.bytes && i / 2 < sizeof m->build_id; i += 2) {
		int high = hex_value(text.data[i]), low = hex_value(text.data[i + 1]);
		if (high < 0 || low < 0) {
			m->build_id_bytes = 0;
			return;
		}
		m->build_id[i / 2] = (uint8_t)(high << 4 | low);
		m->build_id_bytes = (uint32_t)(i / 2 + 1);
	}
}

static bool make_modules(struct pprof *p)
{
	for (size_t i = 0; i < p->mapping_table.count; i++) {
		struct mapping *at = &p->mappings[i];
		struct piece name = pprof_string(p, at->filename);
		if (name.bytes == 0)
			continue;
		char *path = mem_strndup((const char *)name.data, name.bytes);
		if (!path)
			return false;
		struct profile_module m = {
			.path = path,
			.start_va = at->start_va,
			.end_va = at->limit_va > at->start_va ? at->limit_va : UINT64_MAX,
			.bias = mapping_bias(at->start_va, at->offset_bytes),
			.flags = i == 0 ? MODULE_MAIN : 0,
			.first_snap = 1,
		};
		read_build_id(pprof_string(p, at->build_id), &m);
		at->module = import_module_mapped(p->im, &m);
		mem_free(path);
	}
	return true;
}

static struct profile_line make_line(struct pprof *p, const struct line *l)
{
	struct profile_line out = {0};
	uint32_t idx = pprof_find(&p->function_table, l->function_id);
	if (idx == MAP_ABSENT)
		return out;
	const struct function *f = &p->functions[idx];
	struct piece name = pprof_string(p, f->name), linkage = pprof_string(p, f->system_name),
		     file = pprof_string(p, f->filename);
	out.func = import_func_linkage(p->im, (const char *)name.data, name.bytes,
				       (const char *)linkage.data, linkage.bytes);
	out.file = import_file(p->im, (const char *)file.data, file.bytes);
	out.line = l->line > 0 && l->line <= UINT32_MAX ? (uint32_t)l->line : 0;
	return out;
}

/* 0: memory ran out, or the builder failed. */
static frame_id frame_of(struct pprof *p, struct location *l)
{
	if (l->frame)
		return l->frame;
	if (!vec_reserve((void **)&p->frame_lines, &p->frame_line_cap, l->line_count,
			 sizeof p->frame_lines[0]))
		return 0;
	struct import_frame f = {.lines = p->frame_lines};
	for (size_t i = 0; i < l->line_count; i++) {
		struct profile_line line = make_line(p, &p->lines[l->first_line + i]);
		if (line.func)
			p->frame_lines[f.line_count++] = line;
	}
	uint32_t idx = pprof_find(&p->mapping_table, l->mapping_id);
	if (l->address && l->address < UINT64_MAX)
		f.pc = l->address + 1;
	if (idx != MAP_ABSENT && p->mappings[idx].module) {
		uint64_t bias =
			mapping_bias(p->mappings[idx].start_va, p->mappings[idx].offset_bytes);
		f.module = p->mappings[idx].module;
		f.pc -= f.pc > bias ? bias : 0;
	}
	return l->frame = import_frame(p->im, &f);
}

/* ---- samples ---------------------------------------------------------------------------------------- */

struct labels {
	uint64_t size_bytes; /* 0: unknown */
	struct piece type;   /* of Julia's; empty: unknown */
	thread_id thread;
};

static bool is_thread_key(struct pprof *p, int64_t key)
{
	return pprof_is_string(p, key, "thread") || pprof_is_string(p, key, "thread_id") ||
	       pprof_is_string(p, key, "tid") || pprof_is_string(p, key, "thread_name");
}

static void read_labels(struct pprof *p, const NeapPprof__Sample *s, struct labels *out)
{
	uint64_t tid = 0;
	struct piece name = pprof_string(p, 0);
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < s->n_label; i++) {
		const NeapPprof__Label *l = s->label[i];
		bool is_in_bytes = l->num_unit == 0 || pprof_is_string(p, l->num_unit, "bytes");
		if (pprof_is_string(p, l->key, "bytes") && l->num > 0 && is_in_bytes)
			out->size_bytes = (uint64_t)l->num;
		else if (pprof_is_string(p, l->key, "type"))
			out->type = pprof_string(p, l->str);
		else if (is_thread_key(p, l->key) && l->str > 0)
			name = pprof_string(p, l->str);
		else if (is_thread_key(p, l->key) && l->num > 0)
			tid = (uint64_t)l->num;
	}
	if (tid > 0 && tid <= UINT32_MAX)
		out->thread =
			import_thread(p->im, (uint32_t)tid, (const char *)name.data, name.bytes);
	else
		out->thread = import_named_thread(p->im, (const char *)name.data, name.bytes);
	p->has_threads = p->has_threads || out->thread;
}

/* Whether the innermost function of a location says the type of the block. */
static bool says_type(struct pprof *p, const struct location *l)
{
	static const char prefix[] = "Alloc: ";
	uint32_t idx = l->line_count > 0
			       ? pprof_find(&p->function_table, p->lines[l->first_line].function_id)
			       : MAP_ABSENT;
	if (idx == MAP_ABSENT)
		return false;
	struct piece name = pprof_string(p, p->functions[idx].name);
	return name.bytes >= sizeof prefix - 1 && !memcmp(name.data, prefix, sizeof prefix - 1);
}

static frame_id type_frame(struct pprof *p, struct piece type)
{
	struct buf name = {0};
	buf_puts(&name, "Alloc: ");
	buf_put(&name, type.data, type.bytes);
	func_id func = name.has_failed ? 0 : import_func(p->im, name.data, name.count_bytes);
	buf_release(&name);
	return func ? import_named_frame(p->im, func, 0, 0) : 0;
}

static enum neap_err find_node(struct pprof *p, const NeapPprof__Sample *s, struct piece type,
			       node_id *out, struct err *e)
{
	size_t count = 0;
	if (!vec_reserve((void **)&p->frames, &p->frame_cap, s->n_location_id + 1,
			 sizeof p->frames[0]))
		return pprof_no_memory(p, e);
	for (size_t i = 0; i < s->n_location_id; i++) {
		uint32_t idx = pprof_find(&p->location_table, s->location_id[i]);
		if (idx == MAP_ABSENT)
			return err_corrupt(e,
					   "a sample goes through location %" PRIu64
					   ", which the file does not have: it is cut or damaged",
					   s->location_id[i]);
		if (i == 0 && type.bytes > 0 && !says_type(p, &p->locations[idx]))
			p->frames[count++] = type_frame(p, type);
		p->frames[count++] = frame_of(p, &p->locations[idx]);
		if (!p->frames[0] || !p->frames[count - 1])
			return pprof_no_memory(p, e);
	}
	*out = import_stack(p->im, p->frames, count, true);
	return NEAP_OK;
}

/* A value, 0 if the file has none of this kind. */
static enum neap_err value(const struct pprof *p, const NeapPprof__Sample *s, enum measure m,
			   uint64_t *out, struct err *e)
{
	int idx = p->value_of[m];
	*out = 0;
	if (idx < 0)
		return NEAP_OK;
	if ((size_t)idx >= s->n_value)
		return err_corrupt(e, "a sample has %zu values, expected %zu", s->n_value,
				   p->type_count);
	if (s->value[idx] < 0)
		return err_set(
			e, ERR_UNSUPPORTED,
			"the profile has values below 0, so it is the difference of two profiles: "
			"import each of the two by itself, then neap diff A B");
	*out = (uint64_t)s->value[idx];
	return NEAP_OK;
}

/* Blocks and bytes; a file without blocks counts each byte, and there are no bytes without a block. */
static enum neap_err amount(const struct pprof *p, const NeapPprof__Sample *s, enum measure blocks,
			    struct amount *out, struct err *e)
{
	enum neap_err err = value(p, s, blocks, &out->blocks, e);
	if (!err)
		err = value(p, s, blocks + 1, &out->bytes, e);
	if (p->value_of[blocks] < 0)
		out->blocks = out->bytes;
	else if (out->blocks == 0 && out->bytes > 0)
		out->blocks = 1;
	return err;
}

static bool fits(const struct amount *a, uint64_t size_bytes)
{
	uint64_t bytes;
	return !__builtin_mul_overflow(a->blocks, size_bytes, &bytes) && bytes == a->bytes;
}

static enum neap_err add_peak(struct pprof *p, account_id account, const struct amount *born,
			      const struct amount *peak, struct err *e)
{
	size_t known = p->peak_count;
	if (!vec_reserve((void **)&p->peaks, &p->peak_cap, (size_t)account + 1, sizeof p->peaks[0]))
		return pprof_no_memory(p, e);
	if (account >= known) {
		memset(p->peaks + known, 0, (account + 1 - known) * sizeof p->peaks[0]);
		p->peak_count = (size_t)account + 1;
	}
	struct peak *at = &p->peaks[account];
	at->born.blocks += born->blocks;
	at->born.bytes += born->bytes;
	at->peak.blocks += peak->blocks;
	at->peak.bytes += peak->bytes;
	return NEAP_OK;
}

/* Peaks that cannot be, of what was never allocated or less than what is live, are left out. */
static void book_peaks(struct pprof *p)
{
	uint64_t bytes = 0;
	size_t odd_count = 0;
	for (size_t i = 1; i < p->peak_count; i++) {
		const struct peak *at = &p->peaks[i];
		odd_count += at->peak.blocks > at->born.blocks || at->peak.bytes > at->born.bytes;
		bytes += at->peak.bytes;
	}
	if (odd_count > 0 || bytes < import_live(p->im).bytes) {
		if (p->peak_count > 0)
			import_note(p->im,
				    "the peak that the file gives does not fit what it says is "
				    "live, and is left out");
		p->peak_count = 0;
	}
	for (size_t i = 1; i < p->peak_count; i++)
		if (p->peaks[i].peak.blocks > 0)
			import_peak_entry(p->im, (account_id)i, p->peaks[i].peak.blocks,
					  p->peaks[i].peak.bytes);
}

static enum neap_err book(struct pprof *p, const NeapPprof__Sample *s, struct err *e)
{
	struct labels labels;
	struct amount born = {0}, live = {0}, peak = {0};
	struct import_account where = {.size_bytes = PROFILE_SIZE_MIXED};
	enum neap_err err = amount(p, s, ALLOC_BLOCKS, &born, e);
	if (!err)
		err = amount(p, s, LIVE_BLOCKS, &live, e);
	if (!err)
		err = amount(p, s, PEAK_BLOCKS, &peak, e);
	if (err || (born.blocks == 0 && live.blocks == 0))
		return err;
	read_labels(p, s, &labels);
	err = find_node(p, s, labels.type, &where.node, e);
	if (err)
		return err;
	if (p->value_of[ALLOC_BYTES] < 0)
		born = live;
	p->more_live_count += live.blocks > born.blocks || live.bytes > born.bytes;
	born.blocks = live.blocks > born.blocks ? live.blocks : born.blocks;
	born.bytes = live.bytes > born.bytes ? live.bytes : born.bytes;
	if (p->value_of[LIVE_BYTES] < 0)
		live = born;
	if (labels.size_bytes && fits(&born, labels.size_bytes) && fits(&live, labels.size_bytes) &&
	    fits(&peak, labels.size_bytes))
		where.size_bytes = labels.size_bytes;
	else
		p->has_mixed_sizes = true;
	where.thread = labels.thread;
	account_id account = import_account(p->im, &where);
	import_born(p->im, account, born.blocks, born.bytes);
	if (born.blocks > live.blocks || born.bytes > live.bytes)
		import_died(p->im, account, born.blocks - live.blocks, born.bytes - live.bytes, 0);
	bool has_peak = p->value_of[PEAK_BYTES] >= 0 && account;
	return has_peak ? add_peak(p, account, &born, &peak, e) : NEAP_OK;
}

static enum neap_err book_all(struct pprof *p, struct err *e)
{
	ProtobufCAllocator allocator = {pprof_allocate, pprof_deallocate, p};
	struct reader r = reader_init(p->samples.data, p->samples.count_bytes);
	enum neap_err err = NEAP_OK;
	while (!err && reader_left(&r) > 0 && !import_has_failed(p->im)) {
		size_t bytes;
		const char *data = reader_str(&r, &bytes);
		NeapPprof__Sample *s =
			neap_pprof__sample__unpack(&allocator, bytes, (const uint8_t *)data);
		if (!s)
			return pprof_malformed(p, "a sample", e);
		err = book(p, s, e);
		neap_pprof__sample__free_unpacked(s, &allocator);
	}
	if (!err)
		book_peaks(p);
	return err;
}

/* ---- facts --------------------------------------------------------------------------------------------- */

static void say_lacks(struct pprof *p)
{
	bool has_alloc = p->value_of[ALLOC_BYTES] >= 0, has_live = p->value_of[LIVE_BYTES] >= 0;
	if (!has_alloc)
		import_lacks(p->im, FACT_ALLOCATED | FACT_FREED);
	if (!has_live)
		import_lacks(p->im, FACT_LIVE | FACT_FREED);
	if ((has_alloc && p->value_of[ALLOC_BLOCKS] < 0) ||
	    (has_live && p->value_of[LIVE_BLOCKS] < 0))
		import_lacks(p->im, FACT_COUNTS);
	if (p->has_mixed_sizes)
		import_lacks(p->im, FACT_SIZES);
	if (p->has_threads)
		import_has(p->im, FACT_THREADS);
	if (p->peak_count > 0)
		import_has(p->im, FACT_PEAK | FACT_PEAK_EXACT);
}

static void say_facts(struct pprof *p)
{
	struct import_process process = {
		.start_unix_ns = p->time_ns > p->duration_ns ? p->time_ns - p->duration_ns : 0};
	bool is_sampled = p->period > 1 && pprof_is_string(p, p->period_type.unit, "bytes");
	struct piece main_path =
		pprof_string(p, p->mapping_table.count ? p->mappings[0].filename : 0);
	char *exe = mem_strndup((const char *)main_path.data, main_path.bytes);
	if (is_sampled) {
		process.sample_bytes = p->period;
		import_estimated(p->im);
	}
	process.exe = exe;
	import_process(p->im, &process);
	if (exe && *exe)
		import_argv(p->im, &(const char *){exe}, 1);
	mem_free(exe);
	say_lacks(p);
	for (size_t i = 0; i < p->comment_count; i++) {
		struct piece c = pprof_string(p, p->comments[i]);
		if (c.bytes > 0)
			import_note(p->im, "its comment: %.*s", c.bytes < 200 ? (int)c.bytes : 200,
				    (const char *)c.data);
	}
	if (p->more_live_count > 0)
		import_note(p->im,
			    "at %zu stacks more is live than was allocated; all of that counts as "
			    "allocated",
			    p->more_live_count);
}

static enum neap_err missing_name(const struct pprof *p, struct err *e)
{
	if (!p->has_missing_name)
		return NEAP_OK;
	return err_corrupt(
		e,
		"the file has %zu names and speaks of more: it is cut or damaged; copy or "
		"download it again",
		p->string_count);
}

/* Types without their names would be taken for others. */
static enum neap_err check_names(struct pprof *p, struct err *e)
{
	for (size_t i = 0; i < p->type_count; i++) {
		pprof_string(p, p->types[i].type);
		pprof_string(p, p->types[i].unit);
	}
	for (size_t i = 0; i < p->function_table.count; i++)
		pprof_string(p, p->functions[i].name);
	return missing_name(p, e);
}

static enum neap_err use(struct pprof *p, struct err *e)
{
	if (p->type_count == 0 || p->string_count == 0)
		return err_corrupt(e, "the file has no %s: it is cut, or no pprof profile",
				   p->type_count == 0 ? "types of values" : "names");
	enum neap_err err = check_names(p, e);
	if (!err)
		err = find_measures(p, e);
	if (!err && !make_modules(p))
		err = pprof_no_memory(p, e);
	if (!err)
		err = book_all(p, e);
	if (!err)
		err = missing_name(p, e);
	if (!err) {
		say_facts(p);
		import_step(p->im, &(struct import_instant){.time_ns = p->duration_ns});
	}
	return err;
}

enum neap_err pprof_read(struct input *in, struct import *im, struct err *e)
{
	struct pprof p = {.in = in, .im = im};
	enum neap_err err = pprof_fields(&p, e);
	if (!err && !input_has_failed(in))
		err = use(&p, e);
	pprof_fields_release(&p);
	mem_free(p.frames);
	mem_free(p.peaks);
	mem_free(p.frame_lines);
	return err;
}
