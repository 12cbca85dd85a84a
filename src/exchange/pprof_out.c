/*
 * pprof's profile.proto, compressed with gzip.
 *
 *   sample_type   alloc_objects/count alloc_space/bytes inuse_... peak_...; the default is what the
 *                 query asked for
 *   sample        a stack, innermost first, and the numeric label "bytes": size of each block
 *   location      an address with the functions inlined there, innermost first
 *   mapping       a module with its build id; the program itself is the first
 *   period        1 byte where every block was counted, else what was sampled
 *
 * A profile is its fields one after the other in any order, so that no more than one message is
 * in memory at a time; what is compressed goes straight to the output.
 * Format: github.com/google/pprof, proto/profile.proto.
 */
#include "config.h"

#include "src/exchange/export_priv.h"

#include "src/base/limits.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/exchange/pprof_wire.h"
#include "src/exchange/profile.pb-c.h"

#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW 31     /* 15 bits, and a gzip header */
#define CHUNK_BYTES 65536u /* compressed at once */

/* A location as it grows outwards, frame by frame; its number is the part's plus one. */
struct part {
	uint32_t before, frame;
	bool is_used;
};
struct pprof {
	const struct export_about *about;
	const struct export_tree *t;
	struct buf *out;
	struct buf plain, text; /* not compressed yet; a clean string */
	z_stream z;
	bool has_failed;
	struct strtab strings;
	struct strtab function_keys;
	uint32_t *function_of; /* by frame: its id */
	struct map part_of;    /* the part before and a frame -> part */
	struct part *parts;
	size_t part_count, part_cap;
	uint32_t *location_at; /* by node: the location of a stack that goes on there */
	uint32_t *next_of;     /* by node: where the location after it begins */
	uint32_t *depth;       /* by node: locations up to the root */
	uint64_t *ids;         /* of one stack */
	size_t id_cap;
	NeapPprof__Line *lines; /* of one location */
	NeapPprof__Line **line_list;
	size_t line_cap, list_cap;
	uint8_t *packed;
	size_t packed_cap;
};

/* ---- bytes ---------------------------------------------------------------------------- */

static void compress_plain(struct pprof *p, int flush)
{
	uint8_t chunk[16384];
	p->z.next_in = (Bytef *)p->plain.data;
	p->z.avail_in = (uInt)p->plain.count_bytes;
	do {
		p->z.next_out = chunk;
		p->z.avail_out = sizeof chunk;
		if (deflate(&p->z, flush) == Z_STREAM_ERROR)
			p->has_failed = true;
		buf_put(p->out, chunk, sizeof chunk - p->z.avail_out);
	} while (!p->has_failed && !p->z.avail_out);
	p->has_failed = p->has_failed || p->plain.has_failed || p->out->has_failed;
	buf_clear(&p->plain);
}

static void put_key(struct pprof *p, enum field field, unsigned wire)
{
	if (p->plain.count_bytes >= CHUNK_BYTES)
		compress_plain(p, Z_NO_FLUSH);
	buf_varint(&p->plain, (uint64_t)field << 3 | wire);
}

static void put_number(struct pprof *p, enum field field, uint64_t value)
{
	put_key(p, field, WIRE_VARINT);
	buf_varint(&p->plain, value);
}

static void put_message(struct pprof *p, enum field field, const ProtobufCMessage *m)
{
	size_t bytes = protobuf_c_message_get_packed_size(m);
	if (!vec_reserve((void **)&p->packed, &p->packed_cap, bytes + 1, 1)) {
		p->has_failed = true;
		return;
	}
	protobuf_c_message_pack(m, p->packed);
	put_key(p, field, WIRE_BYTES);
	buf_varint(&p->plain, bytes);
	buf_put(&p->plain, p->packed, bytes);
}

/* Number of a string, made valid UTF-8; "" is 0. */
static int64_t string_id(struct pprof *p, const char *s)
{
	buf_clear(&p->text);
	export_clean(&p->text, s ? s : "", "", ' ');
	uint32_t id = p->text.has_failed
			      ? UINT32_MAX
			      : strtab_add(&p->strings, p->text.count_bytes ? p->text.data : "",
					   p->text.count_bytes);
	p->has_failed = p->has_failed || id == UINT32_MAX;
	return id;
}

/* ---- what is first ----------------------------------------------------------------------- */

static void put_type(struct pprof *p, enum field field, const char *name, const char *unit)
{
	NeapPprof__ValueType type = NEAP_PPROF__VALUE_TYPE__INIT;
	type.type = string_id(p, name);
	type.unit = string_id(p, unit);
	put_message(p, field, &type.base);
}

/* Packed, as proto3 has lists of numbers. */
static void put_comments(struct pprof *p)
{
	const char *comments[] = {p->about->tool, p->about->title, p->about->query,
				  p->about->population};
	struct buf ids = {0};
	for (size_t i = 0; i < sizeof comments / sizeof comments[0]; i++)
		buf_varint(&ids, (uint64_t)string_id(p, comments[i]));
	put_key(p, FIELD_COMMENT, WIRE_BYTES);
	buf_str(&p->plain, ids.count_bytes ? ids.data : "", ids.count_bytes);
	p->has_failed = p->has_failed || ids.has_failed;
	buf_release(&ids);
}

static void put_head(struct pprof *p)
{
	const struct export_tree *t = p->t;
	string_id(p, "");
	for (size_t i = 0; i < t->sample_value_count; i++)
		put_type(p, FIELD_SAMPLE_TYPE, t->sample_values[i].name,
			 t->sample_values[i].unit == EXPORT_BYTES ? "bytes" : "count");
	put_type(p, FIELD_PERIOD_TYPE, "space", "bytes");
	put_number(p, FIELD_PERIOD, p->about->sample_bytes ? p->about->sample_bytes : 1);
	if (t->sample_value_count)
		put_number(p, FIELD_DEFAULT_TYPE,
			   (uint64_t)string_id(p, t->sample_values[t->main_sample_value].name));
	if (p->about->start_unix_ns)
		put_number(p, FIELD_TIME, p->about->start_unix_ns);
	if (p->about->duration_ns)
		put_number(p, FIELD_DURATION, p->about->duration_ns);
	put_comments(p);
}

/* The program itself is the first mapping; numbers are places in the list of modules. */
static void put_mapping(struct pprof *p, size_t i)
{
	const struct export_module *m = &p->t->modules[i];
	NeapPprof__Mapping mapping = NEAP_PPROF__MAPPING__INIT;
	mapping.id = i + 1;
	mapping.memory_start = m->start_va;
	mapping.memory_limit = m->end_va;
	mapping.filename = string_id(p, m->path);
	mapping.build_id = string_id(p, m->build_id);
	mapping.has_functions = mapping.has_filenames = true;
	mapping.has_line_numbers = mapping.has_inline_frames = true;
	put_message(p, FIELD_MAPPING, &mapping.base);
}

static void put_mappings(struct pprof *p)
{
	for (int wants_main = 1; wants_main >= 0; wants_main--) {
		for (size_t i = 0; i < p->t->module_count; i++) {
			if (p->t->modules[i].is_main == wants_main)
				put_mapping(p, i);
		}
	}
}

/* ---- functions ---------------------------------------------------------------------------- */

/* Code without a name is known by its address, which pprof can look up. */
static bool is_bare(const struct export_frame *f)
{
	return !f->has_name && f->address && f->module != EXPORT_NONE;
}

static void put_function(struct pprof *p, const struct export_frame *f, uint32_t id)
{
	NeapPprof__Function function = NEAP_PPROF__FUNCTION__INIT;
	function.id = id;
	function.name = string_id(p, f->function);
	function.system_name = string_id(p, f->linkage ? f->linkage : f->function);
	function.filename = string_id(p, f->file);
	put_message(p, FIELD_FUNCTION, &function.base);
}

static void put_functions(struct pprof *p)
{
	struct buf key = {0};
	for (size_t i = 0; !p->has_failed && i < p->t->frame_count; i++) {
		const struct export_frame *f = &p->t->frames[i];
		size_t before = p->function_keys.count;
		buf_clear(&key);
		buf_printf(&key, "%s\n%s\n%s", f->function, f->linkage ? f->linkage : "",
			   f->file ? f->file : "");
		uint32_t id = key.has_failed
				      ? UINT32_MAX
				      : strtab_add(&p->function_keys, key.data, key.count_bytes);
		p->has_failed = id == UINT32_MAX;
		p->function_of[i] = id + 1;
		if (p->function_keys.count > before)
			put_function(p, f, id + 1);
	}
	buf_release(&key);
}

/* ---- locations ------------------------------------------------------------------------------ */

static uint32_t part_at(struct pprof *p, uint32_t before, uint32_t frame)
{
	uint64_t key = (uint64_t)before << 32 | frame;
	uint32_t id = map_find(&p->part_of, key);
	if (id != MAP_ABSENT)
		return id;
	if (!vec_reserve((void **)&p->parts, &p->part_cap, p->part_count + 1, sizeof *p->parts) ||
	    !map_put(&p->part_of, key, (uint32_t)p->part_count)) {
		p->has_failed = true;
		return 0;
	}
	p->parts[p->part_count] = (struct part){.before = before, .frame = frame};
	return (uint32_t)p->part_count++;
}

/* A location goes on outwards as long as its last frame is inlined into the next. */
static void find_locations(struct pprof *p)
{
	const struct export_tree *t = p->t;
	for (uint32_t i = 0; !p->has_failed && i < t->node_count; i++) {
		uint32_t node = i, next = t->nodes[i].parent;
		uint32_t part = part_at(p, EXPORT_NONE, t->nodes[node].frame);
		while (!p->has_failed && next != EXPORT_NONE) {
			const struct export_frame *inner = &t->frames[t->nodes[node].frame];
			const struct export_frame *outer = &t->frames[t->nodes[next].frame];
			if (!inner->is_inlined || inner->place == EXPORT_NONE ||
			    inner->place != outer->place)
				break;
			part = part_at(p, part, t->nodes[next].frame);
			node = next;
			next = t->nodes[node].parent;
		}
		p->location_at[i] = part;
		p->next_of[i] = next;
		p->depth[i] = next == EXPORT_NONE ? 1 : p->depth[next] + 1;
	}
}

/* Innermost first, as the parts were put together; false: no memory. */
static bool fill_lines(struct pprof *p, uint32_t part, size_t count)
{
	if (!vec_reserve((void **)&p->lines, &p->line_cap, count + 1, sizeof *p->lines) ||
	    !vec_reserve((void **)&p->line_list, &p->list_cap, count + 1, sizeof *p->line_list))
		return false;
	for (size_t i = count; i-- > 0; part = p->parts[part].before) {
		uint32_t frame = p->parts[part].frame;
		neap_pprof__line__init(&p->lines[i]);
		p->lines[i].function_id = p->function_of[frame];
		p->lines[i].line = p->t->frames[frame].line;
		p->line_list[i] = &p->lines[i];
	}
	return true;
}

static void put_location(struct pprof *p, uint32_t id)
{
	const struct export_frame *f = &p->t->frames[p->parts[id].frame];
	NeapPprof__Location location = NEAP_PPROF__LOCATION__INIT;
	size_t count = 0;
	for (uint32_t part = id; part != EXPORT_NONE; part = p->parts[part].before)
		count++;
	if (!fill_lines(p, id, count)) {
		p->has_failed = true;
		return;
	}
	location.id = (uint64_t)id + 1;
	if (f->module != EXPORT_NONE)
		location.mapping_id = (uint64_t)f->module + 1;
	if (f->address) { /* the call, not where it returns to */
		uint64_t bias = f->module < p->t->module_count ? p->t->modules[f->module].bias : 0;
		location.address = f->address + bias - 1;
	}
	location.n_line = is_bare(f) ? 0 : count;
	location.line = p->line_list;
	put_message(p, FIELD_LOCATION, &location.base);
}

/* ---- samples ---------------------------------------------------------------------------------- */

static bool is_empty(const struct pprof *p, const int64_t *numbers)
{
	for (size_t v = 0; v < p->t->sample_value_count; v++) {
		if (numbers[v])
			return false;
	}
	return true;
}

static void put_sample(struct pprof *p, size_t i, const NeapPprof__Label *bytes_label)
{
	const struct export_tree *t = p->t;
	const struct export_sample *s = &t->samples[i];
	const int64_t *numbers = &t->sample_numbers[i * t->sample_value_count];
	NeapPprof__Sample sample = NEAP_PPROF__SAMPLE__INIT;
	NeapPprof__Label label = *bytes_label;
	NeapPprof__Label *labels[] = {&label};
	if (is_empty(p, numbers))
		return;
	for (uint32_t node = s->node; node != EXPORT_NONE; node = p->next_of[node]) {
		if (!vec_reserve((void **)&p->ids, &p->id_cap, sample.n_location_id + 1,
				 sizeof *p->ids)) {
			p->has_failed = true;
			return;
		}
		p->parts[p->location_at[node]].is_used = true;
		p->ids[sample.n_location_id++] = (uint64_t)p->location_at[node] + 1;
	}
	sample.location_id = p->ids;
	sample.n_value = t->sample_value_count;
	sample.value = (int64_t *)numbers; /* it is only read */
	label.num = (int64_t)s->size_bytes;
	sample.n_label = s->size_bytes ? 1 : 0;
	sample.label = labels;
	put_message(p, FIELD_SAMPLE, &sample.base);
}

/* The format has each stack whole: deep ones that begin alike are too much for anybody who reads it. */
static enum neap_err check_depth(const struct pprof *p, struct err *e)
{
	const struct export_tree *t = p->t;
	uint64_t location_count = 0;
	for (size_t i = 0; i < t->sample_count; i++) {
		uint32_t node = t->samples[i].node;
		location_count += node == EXPORT_NONE ? 0 : p->depth[node];
	}
	if (location_count <= LIMIT_ANSWER_FRAMES)
		return NEAP_OK;
	return err_set(
		e, ERR_LIMIT,
		"the %zu stacks have %ju frames together, and a pprof file at most %u; `collapse "
		"recursion` makes them fewer, and speedscope files have each frame once",
		t->sample_count, (uintmax_t)location_count, LIMIT_ANSWER_FRAMES);
}

static void put_samples(struct pprof *p)
{
	NeapPprof__Label label = NEAP_PPROF__LABEL__INIT;
	label.key = label.num_unit = string_id(p, "bytes");
	for (size_t i = 0; !p->has_failed && i < p->t->sample_count; i++)
		put_sample(p, i, &label);
}

static void put_strings(struct pprof *p)
{
	for (uint32_t i = 0; i < p->strings.count; i++) {
		const char *s = strtab_get(&p->strings, i);
		put_key(p, FIELD_STRING, WIRE_BYTES);
		buf_str(&p->plain, s, strlen(s));
	}
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static bool prepare(struct pprof *p)
{
	const struct export_tree *t = p->t;
	p->function_of = mem_array(t->frame_count + 1, sizeof *p->function_of);
	p->location_at = mem_array(t->node_count + 1, sizeof *p->location_at);
	p->next_of = mem_array(t->node_count + 1, sizeof *p->next_of);
	p->depth = mem_array(t->node_count + 1, sizeof *p->depth);
	return p->function_of && p->location_at && p->next_of && p->depth;
}

static void put_all(struct pprof *p)
{
	put_head(p);
	put_mappings(p);
	put_functions(p);
	put_samples(p);
	for (uint32_t i = 0; !p->has_failed && i < p->part_count; i++) {
		if (p->parts[i].is_used)
			put_location(p, i);
	}
	put_strings(p);
	compress_plain(p, Z_FINISH);
}

static void release(struct pprof *p)
{
	buf_release(&p->plain);
	buf_release(&p->text);
	strtab_release(&p->strings);
	strtab_release(&p->function_keys);
	map_release(&p->part_of);
	mem_free(p->function_of);
	mem_free(p->parts);
	mem_free(p->location_at);
	mem_free(p->next_of);
	mem_free(p->depth);
	mem_free(p->ids);
	mem_free(p->lines);
	mem_free(p->line_list);
	mem_free(p->packed);
}

static void compress_all(struct pprof *p)
{
	p->has_failed = deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
				     Z_DEFAULT_STRATEGY) != Z_OK;
	if (p->has_failed)
		return;
	put_all(p);
	deflateEnd(&p->z);
}

enum neap_err export_pprof(const struct export_about *about, const struct export_tree *t,
			   struct buf *out, struct err *e)
{
	struct pprof p = {.about = about, .t = t, .out = out};
	enum neap_err code = NEAP_OK;
	p.has_failed = !prepare(&p);
	if (!p.has_failed)
		find_locations(&p);
	if (!p.has_failed)
		code = check_depth(&p, e);
	if (!p.has_failed && !code)
		compress_all(&p);
	release(&p);
	return p.has_failed ? err_nomem(e, "the pprof file") : code;
}
