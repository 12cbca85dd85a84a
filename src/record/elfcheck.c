/*
 * Can this program be recorded by preloading a library?  Better to say no before it
 * starts than to write an empty profile.
 *
 * Follows #! lines as the kernel does, then looks at the ELF file: the loader it asks
 * for, what it links with, whether it defines the start-up function of a sanitizer,
 * and what the kernel would do with its set-user-id bits.
 */
#include "config.h"

#include "src/record/record_priv.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MOST_SCRIPTS       5u /* the kernel's own limit on #! */
#define MOST_HEADERS       4096u
#define MOST_SECTION_BYTES ((uint64_t)256 << 20)

struct elf {
	int fd;
	const char *path;
	uint64_t file_bytes;
	Elf64_Ehdr head;
	Elf64_Phdr *segments;
	const char *sanitizer; /* what its symbols tell: a name for people, or NULL */
	const char *allocator;
};

/* Exactly these bytes of the file; false if it has not so many. */
static bool read_at(const struct elf *f, void *dst, uint64_t bytes, uint64_t offset)
{
	if (offset > f->file_bytes || bytes > f->file_bytes - offset)
		return false;
	for (uint64_t got = 0; got < bytes;) {
		ssize_t n = pread(f->fd, (char *)dst + got, bytes - got, (off_t)(offset + got));
		if (n <= 0)
			return false;
		got += (uint64_t)n;
	}
	return true;
}

/* A range of the file in memory, NUL added; NULL if it is not there or too large. */
static char *load_range(const struct elf *f, uint64_t offset, uint64_t bytes)
{
	if (bytes > MOST_SECTION_BYTES || offset > f->file_bytes || bytes > f->file_bytes - offset)
		return NULL;
	char *data = mem_alloc(bytes + 1);
	if (data && read_at(f, data, bytes, offset)) {
		data[bytes] = '\0';
		return data;
	}
	mem_free(data);
	return NULL;
}

static const Elf64_Phdr *find_segment(const struct elf *f, uint32_t type)
{
	for (size_t i = 0; f->segments && i < f->head.e_phnum; i++) {
		if (f->segments[i].p_type == type)
			return &f->segments[i];
	}
	return NULL;
}

/* ---- what it links with ------------------------------------------------------------ */

static const struct {
	const char *library, *function, *name;
} sanitizers[] = {
	{"libasan.", "__asan_init", "AddressSanitizer"},
	{"libclang_rt.asan", "__asan_init", "AddressSanitizer"},
	{"libtsan.", "__tsan_init", "ThreadSanitizer"},
	{"libclang_rt.tsan", "__tsan_init", "ThreadSanitizer"},
	{"liblsan.", "__lsan_init", "LeakSanitizer"},
	{"libhwasan.", "__hwasan_init", "HWAddressSanitizer"},
	{"libclang_rt.hwasan", "__hwasan_init", "HWAddressSanitizer"},
	{"libclang_rt.msan", "__msan_init", "MemorySanitizer"},
};
#define SANITIZER_COUNT (sizeof sanitizers / sizeof sanitizers[0])

static const char *sanitizer_of_library(const char *name)
{
	for (size_t i = 0; i < SANITIZER_COUNT; i++) {
		if (!strncmp(name, sanitizers[i].library, strlen(sanitizers[i].library)))
			return sanitizers[i].name;
	}
	return NULL;
}

static const char *sanitizer_of_function(const char *name)
{
	if (strncmp(name, "__", 2) != 0)
		return NULL;
	for (size_t i = 0; i < SANITIZER_COUNT; i++) {
		if (!strcmp(name, sanitizers[i].function))
			return sanitizers[i].name;
	}
	return NULL;
}

/* Functions of allocators that are linked into programs under names of their own. */
static const struct {
	const char *function, *name;
} allocators[] = {
	{"je_malloc", "jemalloc"},     {"_rjem_malloc", "jemalloc"},
	{"mi_malloc", "mimalloc"},     {"tc_malloc", "tcmalloc"},
	{"rpmalloc", "rpmalloc"},      {"snmalloc_alloc", "snmalloc"},
	{"scudo_malloc", "Scudo"},     {"runtime.mallocgc", "the Go runtime"},
	{"GC_malloc", "the Boehm GC"},
};

static const char *allocator_of_function(const char *name, bool is_dynamic)
{
	if (is_dynamic && !strcmp(name, "malloc"))
		return RECORD_OWN_MALLOC;
	for (size_t i = 0; i < sizeof allocators / sizeof allocators[0]; i++) {
		if (!strcmp(name, allocators[i].function))
			return allocators[i].name;
	}
	return NULL;
}

/* File offset of a mapped address; UINT64_MAX if the file does not hold it. */
static uint64_t offset_of(const struct elf *f, uint64_t va)
{
	for (size_t i = 0; i < f->head.e_phnum; i++) {
		const Elf64_Phdr *p = &f->segments[i];
		if (p->p_type == PT_LOAD && va >= p->p_vaddr && va - p->p_vaddr < p->p_filesz)
			return p->p_offset + (va - p->p_vaddr);
	}
	return UINT64_MAX;
}

struct dynamic {
	Elf64_Dyn *items;
	size_t count;
	char *strings;
	uint64_t strings_bytes;
};

static void dynamic_release(struct dynamic *d)
{
	mem_free(d->items);
	mem_free(d->strings);
}

static uint64_t dynamic_value(const struct dynamic *d, int64_t tag)
{
	for (size_t i = 0; i < d->count && d->items[i].d_tag != DT_NULL; i++) {
		if (d->items[i].d_tag == tag)
			return d->items[i].d_un.d_val;
	}
	return 0;
}

static const char *dynamic_string(const struct dynamic *d, uint64_t at)
{
	return d->strings && at < d->strings_bytes ? d->strings + at : "";
}

static void dynamic_load(const struct elf *f, struct dynamic *out)
{
	*out = (struct dynamic){0};
	const Elf64_Phdr *p = find_segment(f, PT_DYNAMIC);
	if (!p)
		return;
	out->items = (void *)load_range(f, p->p_offset, p->p_filesz);
	out->count = out->items ? p->p_filesz / sizeof(Elf64_Dyn) : 0;
	out->strings_bytes = dynamic_value(out, DT_STRSZ);
	uint64_t at = offset_of(f, dynamic_value(out, DT_STRTAB));
	if (at != UINT64_MAX)
		out->strings = load_range(f, at, out->strings_bytes);
}

static const char *sanitizer_linked(const struct dynamic *d)
{
	for (size_t i = 0; i < d->count && d->items[i].d_tag != DT_NULL; i++) {
		if (d->items[i].d_tag != DT_NEEDED)
			continue;
		const char *found = sanitizer_of_library(dynamic_string(d, d->items[i].d_un.d_val));
		if (found)
			return found;
	}
	return NULL;
}

/* A program that defines a function of a sanitizer or an allocator has it linked in. */
static void read_symbols(struct elf *f, const Elf64_Shdr *table, const Elf64_Shdr *names)
{
	Elf64_Sym *symbols = (void *)load_range(f, table->sh_offset, table->sh_size);
	char *strings = load_range(f, names->sh_offset, names->sh_size);
	size_t count = symbols && strings ? table->sh_size / sizeof *symbols : 0;
	for (size_t i = 0; i < count; i++) {
		if (symbols[i].st_shndx == SHN_UNDEF || symbols[i].st_name >= names->sh_size)
			continue;
		const char *name = strings + symbols[i].st_name;
		if (!f->sanitizer)
			f->sanitizer = sanitizer_of_function(name);
		if (!f->allocator)
			f->allocator = allocator_of_function(name, table->sh_type == SHT_DYNSYM);
	}
	mem_free(symbols);
	mem_free(strings);
}

static void read_all_symbols(struct elf *f)
{
	if (f->head.e_shentsize != sizeof(Elf64_Shdr) || f->head.e_shnum > MOST_HEADERS)
		return;
	uint64_t bytes = (uint64_t)f->head.e_shnum * sizeof(Elf64_Shdr);
	Elf64_Shdr *sections = (void *)load_range(f, f->head.e_shoff, bytes);
	for (size_t i = 0; sections && i < f->head.e_shnum; i++) {
		bool is_table =
			sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM;
		if (is_table && sections[i].sh_link < f->head.e_shnum)
			read_symbols(f, &sections[i], &sections[sections[i].sh_link]);
	}
	mem_free(sections);
}

/* ---- judgement ---------------------------------------------------------------------- */

static enum neap_err check_links(struct elf *f, struct err *e)
{
	struct dynamic d;
	dynamic_load(f, &d);
	const char *soname = dynamic_string(&d, dynamic_value(&d, DT_SONAME));
	/* The loader itself, started with a program as its argument: it obeys LD_PRELOAD. */
	bool is_loader = dynamic_value(&d, DT_SONAME) && !strncmp(soname, "ld-linux", 8);
	const char *sanitizer = sanitizer_linked(&d);
	dynamic_release(&d);
	read_all_symbols(f);
	if (!sanitizer)
		sanitizer = f->sanitizer;
	if (sanitizer)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' was built with %s, which replaces the allocator itself; build it "
			"without -fsanitize to record it",
			f->path, sanitizer);
	if (!find_segment(f, PT_INTERP) && !is_loader)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' is a static program: nothing can be preloaded into it; link it "
			"dynamically (without -static) to record it",
			f->path);
	return NEAP_OK;
}

static enum neap_err check_loader(const struct elf *f, struct err *e)
{
	const Elf64_Phdr *p = find_segment(f, PT_INTERP);
	char *interp = p && p->p_filesz < 4096 ? load_range(f, p->p_offset, p->p_filesz) : NULL;
	bool is_musl = interp && strstr(interp, "ld-musl");
	mem_free(interp);
	if (is_musl)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' uses musl libc; the collector works with glibc programs only",
			       f->path);
	return NEAP_OK;
}

static enum neap_err check_machine(const struct elf *f, struct err *e)
{
	if (f->head.e_ident[EI_CLASS] != ELFCLASS64)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' is a 32-bit program; only 64-bit x86-64 programs can be recorded",
			f->path);
	if (f->head.e_ident[EI_DATA] != ELFDATA2LSB || f->head.e_machine != EM_X86_64)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' is for another processor (ELF machine %u); only x86-64 programs "
			"can be recorded",
			f->path, f->head.e_machine);
	if (f->head.e_type != ET_EXEC && f->head.e_type != ET_DYN)
		return err_set(e, ERR_UNSUPPORTED, "'%s' is an ELF file, but not a program",
			       f->path);
	return NEAP_OK;
}

/* The loader ignores LD_PRELOAD where the kernel gives a program more rights than its user has. */
static enum neap_err check_rights(const struct elf *f, const struct stat *st, struct err *e)
{
	struct statvfs fs;
	bool is_ignored = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ||
			  (!fstatvfs(f->fd, &fs) && fs.f_flag & ST_NOSUID);
	if (is_ignored)
		return NEAP_OK;
	bool is_setuid = st->st_mode & S_ISUID && st->st_uid != getuid();
	bool is_setgid = (st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
			 st->st_gid != getgid();
	if (is_setuid || is_setgid)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' is a set-%s program: the system ignores preloaded libraries for it; "
			"record a copy without that bit, or run neap as its owner",
			f->path, is_setuid ? "user-id" : "group-id");
	if (geteuid() != 0 && fgetxattr(f->fd, "security.capability", NULL, 0) > 0)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' has file capabilities: the system ignores preloaded libraries for "
			"it; record a copy, which has none",
			f->path);
	return NEAP_OK;
}

static enum neap_err load_segments(struct elf *f, struct err *e)
{
	uint64_t bytes = (uint64_t)f->head.e_phnum * sizeof(Elf64_Phdr);
	if (f->head.e_phentsize == sizeof(Elf64_Phdr) && f->head.e_phnum <= MOST_HEADERS)
		f->segments = (void *)load_range(f, f->head.e_phoff, bytes);
	if (!f->segments)
		return err_set(e, ERR_UNSUPPORTED, "'%s' is a damaged ELF file", f->path);
	return NEAP_OK;
}

static enum neap_err check_elf(struct elf *f, const struct stat *st, struct err *e)
{
	if (!read_at(f, &f->head, sizeof f->head, 0))
		return err_set(e, ERR_UNSUPPORTED, "'%s' is a damaged ELF file", f->path);
	enum neap_err err = check_machine(f, e);
	if (!err)
		err = load_segments(f, e);
	if (!err)
		err = check_links(f, e);
	if (!err)
		err = check_loader(f, e);
	if (!err)
		err = check_rights(f, st, e);
	mem_free(f->segments);
	return err;
}

/* ---- scripts ----------------------------------------------------------------------------- */

/* The interpreter of "#! /path arg", in place; NULL if the line names none. */
static char *interpreter_of(char *text)
{
	char *s = text + 2 + strspn(text + 2, " \t");
	s[strcspn(s, " \t\n")] = '\0';
	return *s ? s : NULL;
}

enum next_step {
	STEP_DONE,
	STEP_INTERPRETER
};

static enum next_step check_file(const char *path, char *interpreter, size_t cap,
				 const char **allocator_out, enum neap_err *err_out, struct err *e)
{
	struct stat st;
	struct elf f = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), .path = path};
	if (f.fd < 0 || fstat(f.fd, &st)) {
		*err_out = err_sys(e, errno, "read", path);
		if (f.fd >= 0)
			close(f.fd);
		return STEP_DONE;
	}
	f.file_bytes = (uint64_t)st.st_size;
	char start[512] = "";
	ssize_t n = pread(f.fd, start, sizeof start - 1, 0);
	enum next_step step = STEP_DONE;
	*err_out = NEAP_OK;
	if (n >= 4 && !memcmp(start, ELFMAG, SELFMAG)) {
		*err_out = check_elf(&f, &st, e);
		*allocator_out = f.allocator;
	} else if (n >= 2 && start[0] == '#' && start[1] == '!') {
		const char *name = interpreter_of(start);
		if (name && strlen(name) < cap) {
			memcpy(interpreter, name, strlen(name) + 1);
			step = STEP_INTERPRETER;
		}
	} else {
		*err_out = err_set(
			e, ERR_UNSUPPORTED,
			"'%s' is neither an ELF program nor a script that starts with #!, so "
			"nothing can be preloaded into it",
			path);
	}
	close(f.fd);
	return step;
}

enum neap_err record_check_target(const char *path, const char **allocator_out, struct err *e)
{
	const char *allocator = NULL;
	char name[512], next[512];
	const char *file = path;
	enum neap_err err = NEAP_OK;
	for (unsigned i = 0; i <= MOST_SCRIPTS; i++) {
		if (check_file(file, next, sizeof next, &allocator, &err, e) == STEP_DONE)
			break;
		memcpy(name, next, sizeof name);
		file = name;
	}
	if (err == ERR_UNSUPPORTED && file != path)
		err_context(e, "the interpreter of '%s'", path);
	if (allocator_out)
		*allocator_out = allocator;
	return err;
}
