/*
 * A bounded reader of ELF files.  Everything in the file is hostile: offsets and
 * sizes are compared with the size of the file before anything is read, and
 * nothing is allocated that the file could not fill.
 *
 * Left out: 32-bit and big-endian files.  Compressed sections are image.c's.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_SECTIONS   (1u << 20)
#define LIMIT_NOTE_BYTES (64u << 10)

/* Exactly `bytes` at `off`, or false. */
static bool read_at(const struct elf_file *f, uint64_t off, void *dst, size_t bytes)
{
	if (off > f->file_bytes || bytes > f->file_bytes - off)
		return false;
	for (char *p = dst; bytes;) {
		ssize_t n = pread(f->fd, p, bytes, (off_t)off);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false; /* the file became shorter */
		p += n;
		off += (size_t)n;
		bytes -= (size_t)n;
	}
	return true;
}

static void *read_blob(const struct elf_file *f, uint64_t off, uint64_t bytes)
{
	if (off > f->file_bytes || bytes > f->file_bytes - off)
		return NULL;
	char *p = mem_alloc((size_t)bytes + 1);
	if (!p || !read_at(f, off, p, (size_t)bytes)) {
		mem_free(p);
		return NULL;
	}
	p[bytes] = '\0';
	return p;
}

void *elf_read_section(const struct elf_file *f, const Elf64_Shdr *s, size_t *bytes_out)
{
	*bytes_out = 0;
	if (s->sh_type == SHT_NOBITS)
		return NULL;
	void *p = read_blob(f, s->sh_offset, s->sh_size);
	if (p)
		*bytes_out = (size_t)s->sh_size;
	return p;
}

const char *elf_section_name(const struct elf_file *f, const Elf64_Shdr *s)
{
	return s->sh_name < f->names_bytes ? f->names + s->sh_name : "";
}

const Elf64_Shdr *elf_find_section(const struct elf_file *f, const char *name)
{
	for (size_t i = 1; i < f->section_count; i++)
		if (!strcmp(elf_section_name(f, &f->sections[i]), name))
			return &f->sections[i];
	return NULL;
}

bool elf_has_id(const struct elf_file *f, const uint8_t *id, size_t id_bytes)
{
	return f->build_id_bytes == id_bytes && !memcmp(f->build_id, id, id_bytes);
}

bool elf_has_dwarf(const struct elf_file *f)
{
	const Elf64_Shdr *s = elf_find_section(f, ".debug_info");
	if (!s)
		s = elf_find_section(f, ".zdebug_info");
	return s && s->sh_type != SHT_NOBITS && s->sh_size;
}

/* ---- build id ----------------------------------------------------------------- */

static uint64_t round_up_4(uint64_t n)
{
	return (n + 3) & ~(uint64_t)3;
}

/* Notes are (name size, descriptor size, type), name, descriptor; both padded to 4 bytes. */
static bool find_build_id(struct elf_file *f, const uint8_t *notes, size_t bytes)
{
	size_t at = 0;
	while (bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		memcpy(&n, notes + at, sizeof n);
		at += sizeof n;
		uint64_t name_bytes = round_up_4(n.n_namesz), desc_bytes = round_up_4(n.n_descsz);
		if (name_bytes > bytes - at || n.n_descsz > bytes - at - name_bytes)
			return false;
		const uint8_t *name = notes + at, *desc = name + name_bytes;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(name, "GNU", 4) &&
		    n.n_descsz && n.n_descsz <= SYM_BUILD_ID_BYTES) {
			memcpy(f->build_id, desc, n.n_descsz);
			f->build_id_bytes = n.n_descsz;
			return true;
		}
		if (desc_bytes > bytes - at - name_bytes)
			return false;
		at += name_bytes + desc_bytes;
	}
	return false;
}

static bool read_build_id(struct elf_file *f, uint64_t off, uint64_t bytes)
{
	if (bytes > LIMIT_NOTE_BYTES)
		return false;
	uint8_t *notes = read_blob(f, off, bytes);
	bool found = notes && find_build_id(f, notes, (size_t)bytes);
	mem_free(notes);
	return found;
}

/* Sections first: in a separate debug file the segments point at nothing. */
static void load_build_id(struct elf_file *f)
{
	for (size_t i = 1; i < f->section_count; i++) {
		const Elf64_Shdr *s = &f->sections[i];
		if (s->sh_type == SHT_NOTE && read_build_id(f, s->sh_offset, s->sh_size))
			return;
	}
	if (f->header.e_phentsize != sizeof(Elf64_Phdr))
		return;
	for (unsigned i = 0; i < f->header.e_phnum; i++) {
		Elf64_Phdr p;
		if (f->header.e_phoff > f->file_bytes ||
		    !read_at(f, f->header.e_phoff + i * sizeof p, &p, sizeof p))
			return;
		if (p.p_type == PT_NOTE && read_build_id(f, p.p_offset, p.p_filesz))
			return;
	}
}

/* ---- opening -------------------------------------------------------------------- */

static enum neap_err load_header(struct elf_file *f, struct err *e)
{
	if (!read_at(f, 0, &f->header, sizeof f->header))
		return err_corrupt(e, "'%s' is too short for an ELF file", f->path);
	const Elf64_Ehdr *h = &f->header;
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return err_corrupt(e, "'%s' is not an ELF file", f->path);
	if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(e, ERR_UNSUPPORTED, "'%s' is not a 64-bit little-endian ELF file",
			       f->path);
	return NEAP_OK;
}

/* A file without sections, or with damaged ones, can still have a build id. */
static enum neap_err load_sections(struct elf_file *f, struct err *e)
{
	const Elf64_Ehdr *h = &f->header;
	Elf64_Shdr first;
	if (!h->e_shoff || h->e_shentsize != sizeof first ||
	    !read_at(f, h->e_shoff, &first, sizeof first))
		return NEAP_OK;
	/* Numbers that do not fit the header are in section 0. */
	uint64_t count = h->e_shnum ? h->e_shnum : first.sh_size;
	uint64_t names_idx = h->e_shstrndx == SHN_XINDEX ? first.sh_link : h->e_shstrndx;
	if (count > LIMIT_SECTIONS || count > (f->file_bytes - h->e_shoff) / sizeof first)
		return err_corrupt(e, "'%s' is damaged: its %llu sections do not fit the file",
				   f->path, (unsigned long long)count);
	f->sections = mem_array((size_t)count, sizeof *f->sections);
	if (!f->sections)
		return err_nomem(e, "section headers");
	if (!read_at(f, h->e_shoff, f->sections, (size_t)count * sizeof first))
		return err_corrupt(e, "'%s' became shorter while it was read", f->path);
	f->section_count = (size_t)count;
	if (names_idx && names_idx < count)
		f->names = elf_read_section(f, &f->sections[names_idx], &f->names_bytes);
	return NEAP_OK;
}

static int open_description(const char *path, int fd)
{
	if (fd < 0)
		return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	/* dup() would share the offset, which libdwarf moves, with other users of fd */
	char proc[48];
	snprintf(proc, sizeof proc, "/proc/self/fd/%d", fd);
	int own = open(proc, O_RDONLY | O_CLOEXEC);
	return own >= 0 ? own : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static enum neap_err load(struct elf_file *f, const char *path, int fd, struct err *e)
{
	f->path = mem_strdup(path);
	if (!f->path)
		return err_nomem(e, "a path");
	f->fd = open_description(path, fd);
	struct stat st;
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		return err_sys(e, errno, "open", path);
	if (!S_ISREG(st.st_mode))
		return err_corrupt(e, "'%s' is not a regular file", path);
	f->file_bytes = (uint64_t)st.st_size;
	enum neap_err rc = load_header(f, e);
	if (!rc)
		rc = load_sections(f, e);
	if (!rc)
		load_build_id(f);
	return rc;
}

enum neap_err elf_open(const char *path, int fd, struct elf_file **out, struct err *e)
{
	*out = NULL;
	struct elf_file *f = mem_zalloc(sizeof *f);
	if (!f)
		return err_nomem(e, "a module");
	f->fd = -1;
	enum neap_err rc = load(f, path, fd, e);
	if (rc) {
		elf_free(f);
		return rc;
	}
	*out = f;
	return NEAP_OK;
}

void elf_free(struct elf_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	mem_free(f->path);
	mem_free(f->sections);
	mem_free(f->names);
	mem_free(f);
}

/* ---- the vdso ------------------------------------------------------------------- */

/* It has its section headers last, and lies in memory as it would in a file. */
int elf_own_vdso(void)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
		return -1;
	size_t bytes = (size_t)h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
	int fd = memfd_create("neap-vdso", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, h, bytes) != (ssize_t)bytes) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- .gnu_debuglink ------------------------------------------------------------- */

/* A file name, NUL, padding to 4 bytes, CRC. */
bool elf_debuglink(const struct elf_file *f, char **name_out, uint32_t *crc_out)
{
	*name_out = NULL;
	*crc_out = 0;
	const Elf64_Shdr *s = elf_find_section(f, ".gnu_debuglink");
	size_t bytes;
	char *data = s ? elf_read_section(f, s, &bytes) : NULL;
	if (!data)
		return false;
	size_t name_bytes = strlen(data); /* elf_read_section ends it with a NUL */
	size_t crc_off = (size_t)round_up_4(name_bytes + 1);
	if (!name_bytes || strchr(data, '/') || crc_off > bytes || bytes - crc_off < 4) {
		mem_free(data);
		return false;
	}
	memcpy(crc_out, data + crc_off, 4);
	*name_out = data;
	return true;
}

static void crc_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		table[i] = c;
	}
}

bool elf_crc(const struct elf_file *f, uint32_t *crc_out)
{
	enum {
		CHUNK_BYTES = 1 << 18
	};
	uint32_t table[256], crc = ~0u;
	uint8_t *chunk = mem_alloc(CHUNK_BYTES);
	bool is_whole = chunk != NULL;
	crc_table(table);
	for (uint64_t off = 0; is_whole && off < f->file_bytes; off += CHUNK_BYTES) {
		uint64_t left = f->file_bytes - off;
		size_t n = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
		is_whole = read_at(f, off, chunk, n);
		for (size_t i = 0; is_whole && i < n; i++)
			crc = table[(crc ^ chunk[i]) & 0xff] ^ crc >> 8;
	}
	mem_free(chunk);
	*crc_out = ~crc;
	return is_whole;
}
