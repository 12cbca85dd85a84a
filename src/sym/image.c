/*
 * Sections of debug information as bytes: the file is mapped, a compressed section is
 * inflated when it is first asked for, and what is never asked for costs nothing.
 *
 *   .debug_info    in the file as it is             -> pointer into the mapping
 *   .debug_info    SHF_COMPRESSED: Elf64_Chdr, data -> zlib or zstd
 *   .zdebug_info   "ZLIB", size (big-endian), data  -> zlib; known as .debug_info
 *
 * Sizes that are claimed are believed only as far as the data could give them.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <string.h>
#include <sys/mman.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif
#define LIMIT_IMAGE_SECTIONS 4096u
#define ZLIB_MOST_RATIO      1040u /* 258 bytes take 2 bits at least */
#define ZSTD_MOST_RATIO      32768u
#define LIMIT_SECTION_BYTES  ((uint64_t)8 << 30)

struct image_part {
	const char *name;
	const uint8_t *raw; /* in the mapping, without the header of a compressed section */
	size_t raw_bytes;
	bool is_compressed;
	enum inflate_kind kind;
	size_t bytes;  /* inflated */
	uint8_t *data; /* inflated, ours; NULL: not yet */
	bool is_bad;   /* it could not be inflated */
};

struct image {
	uint8_t *map;
	size_t map_bytes;
	struct image_part *parts;
	size_t count, cap;
	struct strtab names;
};

/* Others are not shown, so that nobody inflates them: locations of variables, macros, types. */
static bool is_wanted(const char *name)
{
	static const char *const wanted[] = {
		"info",     "abbrev",      "line", "line_str", "str",      "aranges", "ranges",
		"rnglists", "str_offsets", "addr", "cu_index", "tu_index", "sup"};
	bool is_zdebug = !strncmp(name, ".zdebug_", 8);
	if (!is_zdebug && strncmp(name, ".debug_", 7) != 0)
		return false;
	const char *rest = name + (is_zdebug ? 8 : 7), *dot = strstr(rest, ".dwo");
	size_t bytes = dot && !dot[4] ? (size_t)(dot - rest) : strlen(rest);
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (strlen(wanted[i]) == bytes && !memcmp(rest, wanted[i], bytes))
			return true;
	return false;
}

static bool set_size(struct image_part *p, uint64_t bytes)
{
	uint64_t ratio = p->kind == INFLATE_ZSTD ? ZSTD_MOST_RATIO : ZLIB_MOST_RATIO;
	if (bytes > LIMIT_SECTION_BYTES || bytes / ratio > p->raw_bytes)
		return false;
	p->bytes = (size_t)bytes;
	return true;
}

/* Sets raw, kind and bytes of a part from what is in the file.  False: it is damaged. */
static bool take_header(struct image_part *p, const Elf64_Shdr *s, bool is_zdebug)
{
	Elf64_Chdr h;
	if (s->sh_flags & SHF_COMPRESSED) {
		if (p->raw_bytes < sizeof h)
			return false;
		memcpy(&h, p->raw, sizeof h);
		if (h.ch_type != ELFCOMPRESS_ZLIB && h.ch_type != ELFCOMPRESS_ZSTD)
			return false;
		p->kind = h.ch_type == ELFCOMPRESS_ZSTD ? INFLATE_ZSTD : INFLATE_ZLIB;
		p->raw += sizeof h;
		p->raw_bytes -= sizeof h;
		p->is_compressed = true;
		return set_size(p, h.ch_size);
	}
	if (is_zdebug && p->raw_bytes >= 12 && !memcmp(p->raw, "ZLIB", 4)) {
		uint64_t bytes = 0;
		for (size_t i = 4; i < 12; i++)
			bytes = bytes << 8 | p->raw[i];
		p->raw += 12;
		p->raw_bytes -= 12;
		p->is_compressed = true;
		return set_size(p, bytes);
	}
	p->bytes = p->raw_bytes;
	return true;
}

static bool is_known(const struct image *m, const char *name)
{
	for (size_t i = 0; i < m->count; i++)
		if (!strcmp(m->parts[i].name, name))
			return true;
	return false;
}

/* False: out of memory.  Of two sections with one name the first counts. */
static bool add_part(struct image *m, const struct elf_file *f, const Elf64_Shdr *s)
{
	const char *name = elf_section_name(f, s);
	struct image_part p = {0};
	bool is_zdebug = name[1] == 'z';
	if (s->sh_type == SHT_NOBITS || !s->sh_size || s->sh_offset > m->map_bytes ||
	    s->sh_size > m->map_bytes - s->sh_offset || m->count == LIMIT_IMAGE_SECTIONS)
		return true;
	p.raw = m->map + s->sh_offset;
	p.raw_bytes = (size_t)s->sh_size;
	if (!take_header(&p, s, is_zdebug) || !p.bytes)
		return true;
	struct buf plain = {0};
	buf_printf(&plain, ".%s", name + (is_zdebug ? 2 : 1));
	uint32_t id = plain.has_failed ? UINT32_MAX
				       : strtab_add(&m->names, plain.data, plain.count_bytes);
	buf_release(&plain);
	p.name = strtab_get(&m->names, id);
	if (!p.name)
		return false;
	if (is_known(m, p.name))
		return true;
	if (!vec_reserve((void **)&m->parts, &m->cap, m->count + 1, sizeof *m->parts))
		return false;
	m->parts[m->count++] = p;
	return true;
}

struct image *image_open(const struct elf_file *f)
{
	struct image *m = mem_zalloc(sizeof *m);
	if (!m)
		return NULL;
	void *map = mmap(NULL, (size_t)f->file_bytes, PROT_READ, MAP_PRIVATE, f->fd, 0);
	if (map == MAP_FAILED) {
		mem_free(m);
		return NULL;
	}
	m->map = map;
	m->map_bytes = (size_t)f->file_bytes;
	bool is_ok = true;
	for (size_t i = 1; is_ok && i < f->section_count; i++)
		if (is_wanted(elf_section_name(f, &f->sections[i])))
			is_ok = add_part(m, f, &f->sections[i]);
	if (!is_ok) {
		image_free(m);
		return NULL;
	}
	return m;
}

void image_free(struct image *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->count; i++)
		mem_free(m->parts[i].data);
	mem_free(m->parts);
	strtab_release(&m->names);
	munmap(m->map, m->map_bytes);
	mem_free(m);
}

size_t image_count(const struct image *m)
{
	return m->count;
}

const char *image_name(const struct image *m, size_t i, size_t *bytes_out)
{
	*bytes_out = m->parts[i].bytes;
	return m->parts[i].name;
}

const uint8_t *image_data(struct image *m, size_t i)
{
	struct image_part *p = &m->parts[i];
	if (!p->is_compressed)
		return p->raw;
	if (p->data || p->is_bad)
		return p->data;
	p->data = mem_alloc(p->bytes);
	if (!p->data)
		return NULL;
	p->is_bad = !inflate_exact(p->kind, p->raw, p->raw_bytes, p->data, p->bytes);
	if (p->is_bad) {
		mem_free(p->data);
		p->data = NULL;
	}
	return p->data;
}
