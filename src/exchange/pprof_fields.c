/*
 * The fields of a profile.proto file, gone through one by one; see pprof_in.c.
 */
#include "config.h"

#include "src/exchange/pprof_in.h"

#include "src/base/mem.h"
#include "src/exchange/exchange_priv.h"
#include "src/exchange/pprof_wire.h"
#include "src/exchange/profile.pb-c.h"

#include <inttypes.h>
#include <string.h>

/* ---- detecting ---------------------------------------------------------------------------- */

/* The key of a field with the wire type it must have; 0 if it is none. */
static unsigned field_of(uint64_t key)
{
	unsigned field = (unsigned)(key >> 3), wire = key & 7u;
	bool is_number = field == FIELD_TIME || field == FIELD_DURATION || field == FIELD_PERIOD ||
			 field == FIELD_DEFAULT_TYPE || field == FIELD_DROP_FRAMES ||
			 field == FIELD_KEEP_FRAMES || field == FIELD_DOC_URL;
	if (key >> 3 == 0 || key >> 3 >= FIELD_COUNT)
		return 0;
	if (field == FIELD_COMMENT) /* numbers, alone or packed */
		return wire == WIRE_VARINT || wire == WIRE_BYTES ? field : 0;
	return wire == (is_number ? WIRE_VARINT : WIRE_BYTES) ? field : 0;
}

/* A message ValueType: nothing but two numbers. */
static bool is_value_type(struct piece p)
{
	struct reader r = reader_init(p.data, p.bytes);
	while (reader_left(&r) > 0 && !r.has_failed) {
		uint8_t key = reader_u8(&r);
		reader_varint(&r);
		if (key != (1 << 3 | WIRE_VARINT) && key != (2 << 3 | WIRE_VARINT))
			return false;
	}
	return !r.has_failed && p.bytes > 0;
}

bool pprof_detect(const uint8_t *head, size_t bytes)
{
	struct reader r = reader_init(head, bytes);
	bool has_type = false, has_other = false;
	while (reader_left(&r) > 0) {
		unsigned field = field_of(reader_varint(&r));
		if (r.has_failed) /* the end of the window */
			break;
		if (field == 0)
			return false;
		uint64_t value = reader_varint(&r);
		if (field >= FIELD_DROP_FRAMES && field != FIELD_PERIOD_TYPE &&
		    field != FIELD_COMMENT)
			continue;
		if (r.has_failed || value > reader_left(&r))
			break;
		struct piece p = {reader_bytes(&r, (size_t)value), (size_t)value};
		if (field == FIELD_SAMPLE_TYPE && !is_value_type(p))
			return false;
		has_type = has_type || field == FIELD_SAMPLE_TYPE;
		has_other = has_other || field != FIELD_SAMPLE_TYPE;
	}
	return has_type || (has_other && bytes == DETECT_BYTES);
}

/* ---- tables ----------------------------------------------------------------------------------- */

void *pprof_allocate(void *arg, size_t bytes)
{
	void *p = mem_alloc(bytes ? bytes : 1);
	if (!p)
		((struct pprof *)arg)->has_no_memory = true;
	return p;
}

void pprof_deallocate(void *arg, void *memory)
{
	(void)arg;
	mem_free(memory);
}

/* Where a thing with this id goes: a new place, zeroed; NULL if memory ran out. */
static void *table_add(struct table *t, void **items, size_t elem_bytes, uint64_t id)
{
	if (t->count >= MAP_ABSENT - 1 || !vec_reserve(items, &t->cap, t->count + 1, elem_bytes) ||
	    !map_put(&t->idx_of, id, (uint32_t)t->count))
		return NULL;
	void *item = (char *)*items + t->count++ * elem_bytes;
	memset(item, 0, elem_bytes);
	return item;
}

uint32_t pprof_find(const struct table *t, uint64_t id)
{
	return map_find(&t->idx_of, id);
}

struct piece pprof_string(struct pprof *p, int64_t idx)
{
	if (idx < 0 || (uint64_t)idx >= p->string_count)
		p->has_missing_name = true;
	if (idx <= 0 || (uint64_t)idx >= p->string_count)
		return (struct piece){(const uint8_t *)"", 0};
	size_t start = p->string_ends[idx - 1];
	return (struct piece){(const uint8_t *)p->text.data + start, p->string_ends[idx] - start};
}

bool pprof_is_string(struct pprof *p, int64_t idx, const char *s)
{
	struct piece t = pprof_string(p, idx);
	return t.bytes == strlen(s) && !memcmp(t.data, s, t.bytes);
}

/* ---- fields -------------------------------------------------------------------------------------- */

enum neap_err pprof_malformed(struct pprof *p, const char *what, struct err *e)
{
	if (p->has_no_memory)
		return err_nomem(e, "a pprof profile");
	return err_corrupt(e, "byte %" PRIu64 ": %s is damaged", input_offset(p->in), what);
}

enum neap_err pprof_no_memory(struct pprof *p, struct err *e)
{
	p->has_no_memory = true;
	return pprof_malformed(p, "", e);
}

static enum neap_err read_string(struct pprof *p, struct piece b, struct err *e)
{
	buf_put(&p->text, b.data, b.bytes);
	if (p->text.has_failed || !vec_reserve((void **)&p->string_ends, &p->string_cap,
					       p->string_count + 1, sizeof p->string_ends[0]))
		return pprof_no_memory(p, e);
	p->string_ends[p->string_count++] = p->text.count_bytes;
	return NEAP_OK;
}

static enum neap_err read_type(struct pprof *p, struct piece b, struct value_type *out,
			       struct err *e)
{
	ProtobufCAllocator allocator = {pprof_allocate, pprof_deallocate, p};
	NeapPprof__ValueType *m = neap_pprof__value_type__unpack(&allocator, b.bytes, b.data);
	if (!m)
		return pprof_malformed(p, "a type of values", e);
	*out = (struct value_type){m->type, m->unit};
	neap_pprof__value_type__free_unpacked(m, &allocator);
	return NEAP_OK;
}

static enum neap_err read_sample_type(struct pprof *p, struct piece b, struct err *e)
{
	if (p->type_count == TYPES_MOST)
		return err_set(e, ERR_LIMIT, "a pprof profile with more than %u types of values",
			       TYPES_MOST);
	return read_type(p, b, &p->types[p->type_count++], e);
}

static enum neap_err read_function(struct pprof *p, struct piece b, struct err *e)
{
	ProtobufCAllocator allocator = {pprof_allocate, pprof_deallocate, p};
	NeapPprof__Function *m = neap_pprof__function__unpack(&allocator, b.bytes, b.data);
	if (!m)
		return pprof_malformed(p, "a function", e);
	struct function *f =
		table_add(&p->function_table, (void **)&p->functions, sizeof *f, m->id);
	if (f)
		*f = (struct function){m->name, m->system_name, m->filename};
	neap_pprof__function__free_unpacked(m, &allocator);
	return f ? NEAP_OK : pprof_no_memory(p, e);
}

static enum neap_err read_mapping(struct pprof *p, struct piece b, struct err *e)
{
	ProtobufCAllocator allocator = {pprof_allocate, pprof_deallocate, p};
	NeapPprof__Mapping *m = neap_pprof__mapping__unpack(&allocator, b.bytes, b.data);
	if (!m)
		return pprof_malformed(p, "a mapping", e);
	struct mapping *at = table_add(&p->mapping_table, (void **)&p->mappings, sizeof *at, m->id);
	if (at)
		*at = (struct mapping){m->memory_start, m->memory_limit, m->file_offset,
				       m->filename,     m->build_id,     0};
	neap_pprof__mapping__free_unpacked(m, &allocator);
	return at ? NEAP_OK : pprof_no_memory(p, e);
}

static enum neap_err read_location(struct pprof *p, struct piece b, struct err *e)
{
	ProtobufCAllocator allocator = {pprof_allocate, pprof_deallocate, p};
	NeapPprof__Location *m = neap_pprof__location__unpack(&allocator, b.bytes, b.data);
	if (!m)
		return pprof_malformed(p, "a location", e);
	struct location *l =
		table_add(&p->location_table, (void **)&p->locations, sizeof *l, m->id);
	bool is_done = l && vec_reserve((void **)&p->lines, &p->line_cap, p->line_count + m->n_line,
					sizeof p->lines[0]);
	if (is_done) {
		*l = (struct location){m->mapping_id, m->address, p->line_count, m->n_line, 0};
		for (size_t i = 0; i < m->n_line; i++)
			p->lines[p->line_count++] =
				(struct line){m->line[i]->function_id, m->line[i]->line};
	}
	neap_pprof__location__free_unpacked(m, &allocator);
	return is_done ? NEAP_OK : pprof_no_memory(p, e);
}

static void read_comments(struct pprof *p, struct piece b)
{
	struct reader r = reader_init(b.data, b.bytes);
	while (reader_left(&r) > 0 && p->comment_count < COMMENTS_SHOWN)
		p->comments[p->comment_count++] = (int64_t)reader_varint(&r);
}

static enum neap_err read_message(struct pprof *p, unsigned field, struct piece b, struct err *e)
{
	switch (field) {
	case FIELD_SAMPLE_TYPE:
		return read_sample_type(p, b, e);
	case FIELD_SAMPLE:
		buf_str(&p->samples, (const char *)b.data, b.bytes);
		p->sample_count++;
		return p->samples.has_failed ? pprof_no_memory(p, e) : NEAP_OK;
	case FIELD_MAPPING:
		return read_mapping(p, b, e);
	case FIELD_LOCATION:
		return read_location(p, b, e);
	case FIELD_FUNCTION:
		return read_function(p, b, e);
	case FIELD_STRING:
		return read_string(p, b, e);
	case FIELD_PERIOD_TYPE:
		return read_type(p, b, &p->period_type, e);
	case FIELD_COMMENT:
		read_comments(p, b);
		return NEAP_OK;
	default:
		return NEAP_OK;
	}
}

static void read_number(struct pprof *p, unsigned field, uint64_t value)
{
	if (field == FIELD_TIME)
		p->time_ns = value;
	else if (field == FIELD_DURATION)
		p->duration_ns = value;
	else if (field == FIELD_PERIOD)
		p->period = value;
	else if (field == FIELD_COMMENT && p->comment_count < COMMENTS_SHOWN)
		p->comments[p->comment_count++] = (int64_t)value;
}

static bool take_varint(struct pprof *p, uint64_t *out)
{
	const uint8_t *data;
	size_t bytes = input_peek(p->in, 10, &data);
	struct reader r = reader_init(data, bytes < 10 ? bytes : 10);
	*out = reader_varint(&r);
	if (r.has_failed)
		return false;
	input_skip(p->in, (size_t)(r.p - data));
	return true;
}

static enum neap_err cut(struct pprof *p, struct err *e)
{
	return err_corrupt(
		e,
		"the file is cut after %" PRIu64
		" bytes%s; a pprof profile has its names at the end, so nothing of it can be "
		"used: copy or download it again",
		input_offset(p->in),
		input_is_cut(p->in) ? " of unpacked data (the compression ends too early)" : "");
}

static enum neap_err read_piece(struct pprof *p, unsigned field, uint64_t bytes, struct err *e)
{
	struct piece b = {NULL, (size_t)bytes};
	if (bytes > INPUT_PIECE_MOST)
		return err_corrupt(e, "byte %" PRIu64 ": a field of %" PRIu64 " bytes",
				   input_offset(p->in), bytes);
	if (input_peek(p->in, b.bytes, &b.data) < b.bytes)
		return cut(p, e);
	enum neap_err err = read_message(p, field, b, e);
	input_skip(p->in, b.bytes);
	return err;
}

static enum neap_err read_field(struct pprof *p, struct err *e)
{
	uint64_t key, value = 0;
	if (!take_varint(p, &key))
		return cut(p, e);
	unsigned wire = key & 7u, field = key >> 3 < FIELD_COUNT ? (unsigned)(key >> 3) : 0;
	if (wire == WIRE_FIXED64 || wire == WIRE_FIXED32)
		return read_piece(p, 0, wire == WIRE_FIXED64 ? 8 : 4, e);
	if (wire != WIRE_VARINT && wire != WIRE_BYTES)
		return pprof_malformed(p, "the beginning of a field", e);
	if (!take_varint(p, &value))
		return cut(p, e);
	if (wire == WIRE_BYTES)
		return read_piece(p, field, value, e);
	read_number(p, field, value);
	return NEAP_OK;
}

enum neap_err pprof_fields(struct pprof *p, struct err *e)
{
	const uint8_t *data;
	enum neap_err err = NEAP_OK;
	while (!err && input_peek(p->in, 1, &data) > 0)
		err = read_field(p, e);
	if (!err && !input_has_failed(p->in) && input_is_cut(p->in))
		return cut(p, e);
	return err;
}

void pprof_fields_release(struct pprof *p)
{
	buf_release(&p->text);
	buf_release(&p->samples);
	mem_free(p->string_ends);
	mem_free(p->functions);
	mem_free(p->locations);
	mem_free(p->mappings);
	mem_free(p->lines);
	map_release(&p->function_table.idx_of);
	map_release(&p->location_table.idx_of);
	map_release(&p->mapping_table.idx_of);
}
