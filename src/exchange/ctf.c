/*
 * The decoder of memtrace's packets.  Per domain it keeps
 *
 *   files   31 names, the last used first; each has a table of 31 names of definitions
 *   cache   16384 slots: what code was seen there, and which slot followed it last time
 *   stack   the last one, outermost first
 *
 * A packet tells an entry of the cache as it was when the packet was begun; if ours is
 * different, a packet before was lost or damaged, and what follows would be decoded wrong.
 * Not kept: columns in lines, and what a domain number means.
 */
#include "config.h"

#include "src/exchange/ctf.h"

#include "src/base/buf.h"
#include "src/base/map.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define MTF_COUNT     31u
#define CACHE_COUNT   (1u << 14)
#define NO_VERIFIER   0xffffu
#define TIME_BITS     25u
#define HEADER_BYTES  66u
#define NONE          UINT32_MAX
#define LIMIT_DOMAINS 4096u
#define LIMIT_CODES   (4u << 20) /* frames of one stack */

enum {
	EVENT_INFO = 0,
	EVENT_LOCATION = 1,
	EVENT_ALLOC = 2,
	EVENT_PROMOTE = 3,
	EVENT_COLLECT = 4,
	EVENT_SHORT = 100, /* 101 to 116: an allocation of 1 to 16 words */
	EVENT_SHORT_LAST = 116
};

struct defs {
	uint32_t names[MTF_COUNT]; /* NONE: free */
};

struct file_entry {
	uint32_t name;     /* NONE: free */
	struct defs *defs; /* in the arena; NULL if free */
};

struct cache {
	uint64_t code[CACHE_COUNT];
	uint16_t next[CACHE_COUNT];
};

struct domain {
	uint32_t id;
	uint64_t last_us;
	struct file_entry files[MTF_COUNT];
	struct cache *cache; /* NULL: nothing but zeros yet */
	uint64_t *stack;
	size_t stack_count, stack_cap;
};

struct ctf {
	struct ctf_info info;
	bool has_info;
	struct arena arena;
	struct strtab names;
	struct domain **domains;
	size_t domain_count, domain_cap;
	struct map domain_idx; /* id -> index */
	struct ctf_location locations[UINT8_MAX];

	/* the packet */
	struct reader in;
	const uint8_t *data;
	uint64_t at; /* where it lies in the file */
	uint64_t begin_us, end_us, next_id, end_id, packet_pid;
	struct domain *domain;
	uint64_t packet_count, skipped_count;
};

struct ctf *ctf_new(void)
{
	return mem_zalloc(sizeof(struct ctf));
}

void ctf_free(struct ctf *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->domain_count; i++) {
		mem_free(c->domains[i]->cache);
		mem_free(c->domains[i]->stack);
		mem_free(c->domains[i]);
	}
	mem_free(c->domains);
	map_release(&c->domain_idx);
	strtab_release(&c->names);
	arena_release(&c->arena);
	mem_free(c);
}

const struct ctf_info *ctf_info(const struct ctf *c)
{
	return c->has_info ? &c->info : NULL;
}

uint64_t ctf_packet_end_us(const struct ctf *c)
{
	return c->end_us;
}

uint64_t ctf_skipped_packet_count(const struct ctf *c)
{
	return c->skipped_count;
}

/* Where reading stands in the file. */
static uint64_t position(const struct ctf *c)
{
	return c->at + (uint64_t)(c->in.p - c->data);
}

#define damaged(c, e, ...)                                                           \
	(err_corrupt(e, __VA_ARGS__),                                                \
	 err_context(e, "memtrace packet %" PRIu64 ", byte %" PRIu64 " of the file", \
		     (c)->packet_count, position(c)))

/* ---- packets ----------------------------------------------------------------- */

static uint16_t read_u16(struct reader *r)
{
	uint16_t low = reader_u8(r);
	return (uint16_t)(low | (uint16_t)reader_u8(r) << 8);
}

enum neap_err ctf_packet_bytes(const uint8_t head[CTF_HEAD_BYTES], uint64_t at, size_t *bytes_out,
			       struct err *e)
{
	struct reader r = reader_init(head, CTF_HEAD_BYTES);
	uint32_t magic = reader_u32(&r), bits = reader_u32(&r);
	*bytes_out = 0;
	if (magic != CTF_MAGIC)
		return err_corrupt(e,
				   "byte %" PRIu64
				   ": no memtrace packet begins here (found %08" PRIx32
				   ", expected %08x)",
				   at, magic, CTF_MAGIC);
	if (bits % 8 != 0 || bits / 8 < HEADER_BYTES)
		return err_corrupt(e, "byte %" PRIu64 ": a memtrace packet of %" PRIu32 " bits", at,
				   bits);
	*bytes_out = bits / 8;
	return NEAP_OK;
}

static struct domain *find_domain(struct ctf *c, uint32_t id, struct err *e)
{
	uint32_t idx = map_find(&c->domain_idx, id);
	if (idx != MAP_ABSENT)
		return c->domains[idx];
	if (c->domain_count >= LIMIT_DOMAINS) {
		err_set(e, ERR_LIMIT, "a memtrace file of more than %u domains", LIMIT_DOMAINS);
		return NULL;
	}
	struct domain *d = mem_zalloc(sizeof *d);
	if (!d ||
	    !vec_reserve((void **)&c->domains, &c->domain_cap, c->domain_count + 1, sizeof d) ||
	    !map_put(&c->domain_idx, id, (uint32_t)c->domain_count)) {
		mem_free(d);
		err_nomem(e, "a domain of a memtrace file");
		return NULL;
	}
	d->id = id;
	for (size_t i = 0; i < MTF_COUNT; i++)
		d->files[i].name = NONE;
	c->domains[c->domain_count++] = d;
	return d;
}

static enum neap_err verify(struct ctf *c, uint16_t slot, uint16_t next, uint64_t code,
			    struct err *e)
{
	static const struct cache empty;
	if (slot == NO_VERIFIER)
		return NEAP_OK;
	if (slot >= CACHE_COUNT)
		return damaged(c, e, "slot %u of a table of %u", slot, CACHE_COUNT);
	const struct cache *cache = c->domain->cache ? c->domain->cache : &empty;
	if (cache->next[slot] != next || cache->code[slot] != code)
		return damaged(
			c, e,
			"the table of stacks is not what the writer had (slot %u); a packet before "
			"this one is damaged or missing",
			slot);
	return NEAP_OK;
}

static enum neap_err read_cstr(struct ctf *c, const char **out, struct err *e)
{
	const uint8_t *start = c->in.p;
	const uint8_t *end = memchr(start, 0, reader_left(&c->in));
	*out = "";
	if (!end)
		return damaged(c, e, "a text without an end");
	c->in.p = end + 1;
	uint32_t id = strtab_add(&c->names, (const char *)start, (size_t)(end - start));
	if (id == NONE)
		return err_nomem(e, "names of a memtrace file");
	*out = strtab_get(&c->names, id);
	return NEAP_OK;
}

static enum neap_err read_info(struct ctf *c, struct err *e)
{
	uint64_t bits = reader_u64(&c->in);
	memcpy(&c->info.rate, &bits, sizeof bits);
	c->info.word_bytes = reader_u8(&c->in) / 8u;
	enum neap_err err = read_cstr(c, &c->info.exe, e);
	if (!err)
		err = read_cstr(c, &c->info.host, e);
	if (!err)
		err = read_cstr(c, &c->info.params, e);
	c->info.pid = reader_u64(&c->in);
	c->info.context = "";
	if (!err && c->info.version >= 2)
		err = read_cstr(c, &c->info.context, e);
	if (err)
		return err;
	if (c->in.has_failed || reader_left(&c->in) != 0)
		return damaged(c, e, "the facts about the trace do not fill their packet");
	if (!isfinite(c->info.rate) || c->info.rate <= 0 || c->info.rate > 1)
		return damaged(c, e, "a sampling rate of %g, expected more than 0 and at most 1",
			       c->info.rate);
	if (c->info.word_bytes != 4 && c->info.word_bytes != 8)
		return damaged(c, e, "words of %u bytes", c->info.word_bytes);
	c->info.start_us = c->begin_us;
	c->has_info = true;
	return NEAP_OK;
}

/* The first packet: nothing but one event with the facts about the trace. */
static enum neap_err begin_trace(struct ctf *c, uint32_t version, struct err *e)
{
	c->info.version = version;
	uint32_t head = reader_u32(&c->in);
	if (c->in.has_failed || head >> TIME_BITS != EVENT_INFO)
		return damaged(c, e, "does not begin with the facts about the trace");
	return read_info(c, e);
}

enum neap_err ctf_begin(struct ctf *c, const uint8_t *data, size_t bytes, uint64_t at,
			struct err *e)
{
	c->in = reader_init(data, bytes);
	c->data = data;
	c->at = at;
	c->packet_count++;
	reader_u64(&c->in); /* magic and size */
	c->begin_us = reader_u64(&c->in);
	c->end_us = reader_u64(&c->in);
	reader_u32(&c->in); /* duration of the flush, 0 */
	uint16_t version = read_u16(&c->in);
	if (!c->in.has_failed && (version < 1 || version > 3))
		return err_set(e, ERR_UNSUPPORTED,
			       "a memtrace file of version %u; neap reads versions 1 to 3",
			       version);
	c->packet_pid = reader_u64(&c->in);
	uint32_t domain = version >= 3 ? read_u16(&c->in) : 0;
	uint16_t slot = read_u16(&c->in), next = read_u16(&c->in);
	uint64_t code = reader_u64(&c->in);
	c->next_id = reader_u64(&c->in);
	c->end_id = reader_u64(&c->in);
	if (c->in.has_failed)
		return damaged(c, e, "the packet is shorter than its header");
	if (c->begin_us > c->end_us || c->next_id > c->end_id)
		return damaged(c, e, "a packet that ends before it begins");
	if (!c->has_info)
		return begin_trace(c, version, e);
	if (version != c->info.version)
		return damaged(c, e, "a packet of version %u in a file of version %u", version,
			       c->info.version);
	if (c->packet_pid != c->info.pid) { /* a fork wrote on with the parent's descriptor */
		c->skipped_count++;
		c->in.p = c->in.end;
		c->next_id = c->end_id;
		return NEAP_OK;
	}
	c->domain = find_domain(c, domain, e);
	return c->domain ? verify(c, slot, next, code, e) : e ? e->code : ERR_NOMEM;
}

/* ---- locations ----------------------------------------------------------------- */

/* Moves entry i of a table of file entries to the front. */
static void file_to_front(struct file_entry *files, size_t i)
{
	struct file_entry entry = files[i];
	memmove(files + 1, files, i * sizeof *files);
	files[0] = entry;
}

/*
 * A file that is new to the table takes the place of the last one.  Writers of version 1 went
 * on using that one's table of definitions as it was.
 */
static enum neap_err push_file(struct ctf *c, struct file_entry *files, uint32_t name,
			       struct err *e)
{
	struct file_entry entry = files[MTF_COUNT - 1];
	entry.name = name;
	if (!entry.defs) {
		entry.defs = arena_alloc(&c->arena, sizeof *entry.defs);
		if (!entry.defs)
			return err_nomem(e, "names of a memtrace file");
		memset(entry.defs, 0xff, sizeof *entry.defs);
	} else if (c->info.version >= 2) {
		memset(entry.defs, 0xff, sizeof *entry.defs);
	}
	memmove(files + 1, files, (MTF_COUNT - 1) * sizeof *files);
	files[0] = entry;
	return NEAP_OK;
}

static enum neap_err read_name(struct ctf *c, uint32_t *out, struct err *e)
{
	const char *s;
	enum neap_err err = read_cstr(c, &s, e);
	*out = err ? NONE : strtab_find(&c->names, s, strlen(s));
	return err;
}

static enum neap_err read_file(struct ctf *c, uint32_t idx, struct err *e)
{
	struct file_entry *files = c->domain->files;
	if (idx < MTF_COUNT) {
		if (files[idx].name == NONE)
			return damaged(c, e, "file %u of the table, which is free", idx);
		file_to_front(files, idx);
		return NEAP_OK;
	}
	uint32_t name;
	enum neap_err err = read_name(c, &name, e);
	return err ? err : push_file(c, files, name, e);
}

static enum neap_err read_def(struct ctf *c, struct defs *defs, uint32_t idx, struct err *e)
{
	uint32_t name;
	if (idx < MTF_COUNT) {
		name = defs->names[idx];
		if (name == NONE)
			return damaged(c, e, "definition %u of the table, which is free", idx);
	} else {
		enum neap_err err = read_name(c, &name, e);
		if (err)
			return err;
		idx = MTF_COUNT - 1;
	}
	memmove(defs->names + 1, defs->names, idx * sizeof defs->names[0]);
	defs->names[0] = name;
	return NEAP_OK;
}

/* One place: 20 bits of line, 18 of columns, 5 of file, 5 of definition. */
static enum neap_err read_place(struct ctf *c, struct ctf_location *out, struct err *e)
{
	uint64_t bits = reader_u32(&c->in);
	bits |= (uint64_t)read_u16(&c->in) << 32;
	if (c->in.has_failed)
		return damaged(c, e, "the packet ends inside a location");
	struct file_entry *files = c->domain->files;
	enum neap_err err = read_file(c, (uint32_t)(bits >> 38) & 31u, e);
	if (!err)
		err = read_def(c, files[0].defs, (uint32_t)(bits >> 43) & 31u, e);
	if (err)
		return err;
	out->line = (uint32_t)bits & 0xfffffu;
	out->file = strtab_get(&c->names, files[0].name);
	out->def = strtab_get(&c->names, files[0].defs->names[0]);
	return NEAP_OK;
}

static enum neap_err read_location(struct ctf *c, struct ctf_event *out, struct err *e)
{
	out->kind = CTF_LOCATION;
	out->code = reader_u64(&c->in);
	out->location_count = reader_u8(&c->in);
	out->locations = c->locations;
	for (size_t i = 0; i < out->location_count; i++) {
		enum neap_err err = read_place(c, &c->locations[i], e);
		if (err)
			return err;
	}
	return NEAP_OK;
}

/* ---- allocations ----------------------------------------------------------------- */

static uint64_t read_vint(struct reader *r)
{
	uint8_t first = reader_u8(r);
	if (first == 253)
		return read_u16(r);
	if (first == 254)
		return reader_u32(r);
	return first == 255 ? reader_u64(r) : first;
}

static enum neap_err push_code(struct domain *d, uint64_t code, struct err *e)
{
	if (d->stack_count >= LIMIT_CODES)
		return err_set(e, ERR_LIMIT, "a stack of more than %u frames", LIMIT_CODES);
	if (!vec_reserve((void **)&d->stack, &d->stack_cap, d->stack_count + 1, sizeof d->stack[0]))
		return err_nomem(e, "a stack of a memtrace file");
	d->stack[d->stack_count++] = code;
	return NEAP_OK;
}

/*
 * What follows the frames that are the same: words of 16 bits, a slot of the cache and what to
 * do there.  Stacks that are not kept are gone through for what they change in the cache.
 */
static enum neap_err read_codes(struct ctf *c, size_t word_count, struct err *e)
{
	struct domain *d = c->domain;
	uint16_t slot = 0;
	enum neap_err err = NEAP_OK;
	for (size_t i = 0; i < word_count && !err; i++) {
		uint16_t word = read_u16(&c->in), tag = word & 3u;
		d->cache->next[slot] = (uint16_t)(word >> 2);
		slot = (uint16_t)(word >> 2);
		if (tag == 3)
			d->cache->code[slot] = reader_u64(&c->in);
		unsigned predicted_count = tag == 3 ? 0 : tag == 2 ? reader_u8(&c->in) : tag;
		if (c->in.has_failed)
			return damaged(c, e, "the packet ends inside a stack");
		err = push_code(d, d->cache->code[slot], e);
		for (; predicted_count > 0 && !err; predicted_count--) {
			slot = d->cache->next[slot];
			err = push_code(d, d->cache->code[slot], e);
		}
	}
	return err;
}

static enum neap_err read_stack(struct ctf *c, uint64_t common_count, size_t word_count,
				struct ctf_event *out, struct err *e)
{
	struct domain *d = c->domain;
	if (!d->cache && !(d->cache = mem_zalloc(sizeof *d->cache)))
		return err_nomem(e, "the stacks of a memtrace file");
	if (c->in.has_failed || word_count > reader_left(&c->in) / 2)
		return damaged(c, e,
			       "a stack of %zu parts in the remaining %zu bytes of the packet",
			       word_count, reader_left(&c->in));
	/* The writer cuts long stacks; the next one may share more with one than is here. */
	size_t kept_count = d->stack_count;
	out->is_cut = common_count > kept_count;
	if (!out->is_cut)
		d->stack_count = (size_t)common_count;
	enum neap_err err = read_codes(c, word_count, e);
	if (out->is_cut)
		d->stack_count = kept_count;
	out->codes = d->stack;
	out->code_count = d->stack_count;
	out->common_count = out->is_cut ? kept_count : (size_t)common_count;
	return err;
}

static enum neap_err read_alloc(struct ctf *c, unsigned kind, struct ctf_event *out, struct err *e)
{
	bool is_short = kind > EVENT_SHORT;
	out->kind = CTF_ALLOC;
	out->length_words = kind - EVENT_SHORT;
	out->sample_count = 1;
	out->source = CTF_MINOR;
	if (!is_short) {
		out->length_words = read_vint(&c->in);
		out->sample_count = read_vint(&c->in);
		uint8_t source = reader_u8(&c->in);
		if (source > CTF_EXTERNAL)
			return damaged(c, e, "an allocation of kind %u, expected 0 to 2", source);
		out->source = (enum ctf_source)source;
	}
	uint64_t common_count = read_vint(&c->in);
	size_t word_count = is_short ? reader_u8(&c->in) : read_u16(&c->in);
	if (c->next_id >= c->end_id)
		return damaged(c, e, "more allocations than the packet says");
	out->id = c->next_id++;
	return read_stack(c, common_count, word_count, out, e);
}

/* ---- events ------------------------------------------------------------------------ */

static enum neap_err read_time(struct ctf *c, uint32_t head, uint64_t *out, struct err *e)
{
	uint64_t mask = (1u << TIME_BITS) - 1;
	uint64_t low = head & mask;
	if (low < (c->begin_us & mask))
		low += mask + 1;
	*out = (c->begin_us & ~mask) + low;
	if (*out < c->begin_us || *out > c->end_us)
		return damaged(c, e, "an event outside the time of its packet");
	if (*out < c->domain->last_us)
		return damaged(c, e, "an event before the event before it");
	c->domain->last_us = *out;
	return NEAP_OK;
}

static enum neap_err read_event(struct ctf *c, struct ctf_event *out, struct err *e)
{
	uint32_t head = reader_u32(&c->in);
	if (c->in.has_failed)
		return damaged(c, e, "the packet ends inside an event");
	enum neap_err err = read_time(c, head, &out->time_us, e);
	if (err)
		return err;
	unsigned kind = head >> TIME_BITS;
	out->domain = c->domain->id;
	if (kind == EVENT_LOCATION) {
		err = read_location(c, out, e);
	} else if (kind == EVENT_ALLOC || (kind > EVENT_SHORT && kind <= EVENT_SHORT_LAST)) {
		err = read_alloc(c, kind, out, e);
	} else if (kind == EVENT_PROMOTE || kind == EVENT_COLLECT) {
		out->kind = kind == EVENT_PROMOTE ? CTF_PROMOTE : CTF_COLLECT;
		out->id = c->next_id - 1 - read_vint(&c->in); /* may wrap: ids of another domain */
	} else {
		err = damaged(c, e, "an event of kind %u", kind);
	}
	if (!err && c->in.has_failed)
		err = damaged(c, e, "the packet ends inside an event");
	return err;
}

enum ctf_kind ctf_next(struct ctf *c, struct ctf_event *out, struct err *e)
{
	memset(out, 0, sizeof *out);
	if (reader_left(&c->in) == 0) {
		if (c->next_id == c->end_id)
			return CTF_END;
		damaged(c, e, "%" PRIu64 " allocations fewer than the packet says",
			c->end_id - c->next_id);
		out->kind = CTF_FAILED;
	} else if (read_event(c, out, e)) {
		out->kind = CTF_FAILED;
	}
	return out->kind;
}
