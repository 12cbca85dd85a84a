/*
 * One module: its file, its separate debug file, and the order in which they are asked.
 *
 *   address -> DWARF of the file, or of its debug file   functions, inlined calls, lines
 *           -> symbols (.symtab of both, of              the physical function's name if
 *              .gnu_debugdata, else .dynsym)             DWARF has no linkage name for it
 * Names are demangled when they are looked up, each once.
 *
 * Prelinking moves a file's addresses but not its debug file's: the difference, as that
 * between the places of a section of code in both, is added to what is looked up.
 */
#include "config.h"

#include "src/sym/sym.h"

#include <string.h>
#include <unistd.h>

#include "src/base/fmt.h"
#include "src/base/limits.h"
#include "src/base/mem.h"
#include "src/sym/sym_priv.h"

struct sym_module {
	struct elf_file *file, *debug_file; /* debug_file NULL: everything is in file, or nothing */
	struct elf_file *common_file;       /* what dwz moved out of either; NULL: nothing */
	uint64_t debug_shift;               /* debug_file's addresses less file's */
	struct debuginfo *debuginfo;        /* NULL: none */
	struct elf_symbols symbols;
	struct strtab strings; /* names that had to be made */
	struct map demangled; /* address of a linkage name -> its text in strings; or NOT_MANGLED */
	struct debuginfo_frame *found; /* [LIMIT_INLINE_DEPTH], for one lookup */
	struct globals *globals;       /* NULL: not read yet */
};

#define NOT_MANGLED (MAP_ABSENT - 1)

/* ---- opening ---------------------------------------------------------------------- */

static enum neap_err check_build_id(const struct sym_request *req, const struct elf_file *f,
				    struct err *e)
{
	char mapped[2 * SYM_BUILD_ID_BYTES + 1], found[2 * SYM_BUILD_ID_BYTES + 1];
	if (!req->build_id_bytes)
		return NEAP_OK;
	if (f->build_id_bytes == req->build_id_bytes &&
	    !memcmp(f->build_id, req->build_id, f->build_id_bytes))
		return NEAP_OK;
	size_t shown =
		req->build_id_bytes < SYM_BUILD_ID_BYTES ? req->build_id_bytes : SYM_BUILD_ID_BYTES;
	fmt_hex(mapped, sizeof mapped, req->build_id, shown);
	if (!f->build_id_bytes)
		return err_set(e, ERR_ABSENT,
			       "'%s' is another file now: build id %s ran, this has none", f->path,
			       mapped);
	return err_set(e, ERR_ABSENT, "'%s' is another file now: build id %s ran, this is %s",
		       f->path, mapped,
		       fmt_hex(found, sizeof found, f->build_id, f->build_id_bytes));
}

/* .gnu_debugdata leaves out what .dynsym has. */
static bool load_packed_symbols(struct sym_module *m)
{
	struct elf_symbols *t = &m->symbols;
	struct elf_file *mini = debugfile_open_mini(m->file);
	bool is_ok = !mini || elf_symbols_add(t, mini, SHT_SYMTAB, 0);
	elf_free(mini);
	return is_ok && elf_symbols_add(t, m->file, SHT_DYNSYM, 0);
}

static bool load_symbols(struct sym_module *m)
{
	struct elf_symbols *t = &m->symbols;
	bool is_ok = elf_symbols_add(t, m->file, SHT_SYMTAB, 0);
	if (is_ok && m->debug_file)
		is_ok = elf_symbols_add(t, m->debug_file, SHT_SYMTAB, m->debug_shift);
	if (is_ok && !t->count)
		is_ok = load_packed_symbols(m);
	if (is_ok)
		elf_symbols_seal(t);
	return is_ok;
}

/* By the first section of code that both have. */
static uint64_t shift_between(const struct elf_file *file, const struct elf_file *debug_file)
{
	for (size_t i = 1; i < file->section_count; i++) {
		const Elf64_Shdr *s = &file->sections[i];
		if (!(s->sh_flags & SHF_EXECINSTR))
			continue;
		const Elf64_Shdr *other = elf_find_section(debug_file, elf_section_name(file, s));
		if (other && other->sh_flags & SHF_EXECINSTR)
			return other->sh_addr - s->sh_addr;
	}
	return 0;
}

static const struct elf_file *file_with_debuginfo(const struct sym_module *m)
{
	if (elf_has_dwarf(m->file))
		return m->file;
	return m->debug_file && elf_has_dwarf(m->debug_file) ? m->debug_file : NULL;
}

static enum neap_err open_file(const struct sym_request *req, struct elf_file **out, struct err *e)
{
	int vdso = req->fd < 0 && !strcmp(req->path, "[vdso]") ? elf_own_vdso() : -1;
	enum neap_err rc = elf_open(req->path, vdso >= 0 ? vdso : req->fd, out, e);
	if (vdso >= 0)
		close(vdso);
	return rc;
}

static enum neap_err load(struct sym_module *m, const struct sym_request *req, struct err *e)
{
	m->found = mem_array(LIMIT_INLINE_DEPTH, sizeof *m->found);
	if (!m->found)
		return err_nomem(e, "a module");
	enum neap_err rc = open_file(req, &m->file, e);
	if (!rc)
		rc = check_build_id(req, m->file, e);
	if (rc)
		return rc;
	if (!elf_has_dwarf(m->file))
		m->debug_file = debugfile_find(m->file, &req->search);
	if (m->debug_file)
		m->debug_shift = shift_between(m->file, m->debug_file);
	const struct elf_file *f = file_with_debuginfo(m);
	if (f)
		m->common_file = debugfile_find_common(f, &req->search);
	return load_symbols(m) ? NEAP_OK : err_nomem(e, "symbols");
}

enum neap_err sym_module_open_symbols(const struct sym_request *req, struct sym_module **out,
				      struct err *e)
{
	*out = NULL;
	struct sym_module *m = mem_zalloc(sizeof *m);
	if (!m)
		return err_nomem(e, "a module");
	enum neap_err rc = load(m, req, e);
	if (rc) {
		sym_module_free(m);
		return rc;
	}
	*out = m;
	return NEAP_OK;
}

bool sym_module_has_debuginfo(const struct sym_module *m)
{
	return file_with_debuginfo(m) != NULL;
}

void sym_module_descriptors(const struct sym_module *m, int fds_out[ISOLATED_FDS])
{
	fds_out[0] = m->file->fd;
	fds_out[1] = m->debug_file ? m->debug_file->fd : -1;
	fds_out[2] = m->common_file ? m->common_file->fd : -1;
}

/* Damaged debug information costs lines and inlined names, not the module. */
enum neap_err sym_module_load_debuginfo(struct sym_module *m, struct err *e)
{
	const struct elf_file *f = file_with_debuginfo(m);
	if (!f || m->debuginfo)
		return NEAP_OK;
	struct debuginfo_files files = {
		.file = f, .common = m->common_file, .program_path = m->file->path};
	enum neap_err rc = debuginfo_open(&files, &m->debuginfo, e);
	return rc == ERR_NOMEM ? rc : NEAP_OK;
}

enum neap_err sym_module_open(const struct sym_request *req, struct sym_module **out, struct err *e)
{
	struct sym_module *m;
	enum neap_err rc = sym_module_open_symbols(req, &m, e);
	if (m)
		rc = sym_module_load_debuginfo(m, e);
	if (rc) {
		sym_module_free(m);
		m = NULL;
	}
	*out = m;
	return rc;
}

void sym_module_free(struct sym_module *m)
{
	if (!m)
		return;
	debuginfo_free(m->debuginfo); /* reads from the descriptors below */
	elf_free(m->common_file);
	elf_free(m->debug_file);
	elf_free(m->file);
	elf_symbols_release(&m->symbols);
	strtab_release(&m->strings);
	map_release(&m->demangled);
	globals_free(m->globals);
	mem_free(m->found);
	mem_free(m);
}

const char *sym_module_source(const struct sym_module *m)
{
	if (m->debuginfo)
		return "DWARF";
	return m->symbols.count ? "symbol table" : "none";
}

/* ---- names ------------------------------------------------------------------------ */

/* What a linkage name says, and what only the debug information knows. */
static bool demangle(const char *linkage, const struct debuginfo_frame *f, struct buf *out)
{
	if (!sym_demangle(linkage, out))
		return false;
	if (linkage != f->linkage || !f->name || !rust_is_legacy(linkage))
		return true;
	struct buf filled = {0};
	if (rust_fill_types(out->data, f->name, f->params, &filled) && !filled.has_failed) {
		buf_clear(out);
		buf_put(out, filled.data, filled.count_bytes);
	}
	buf_release(&filled);
	return true;
}

/* Demangled text of a linkage name that stays where it is. */
static const char *demangled(struct sym_module *m, const char *linkage,
			     const struct debuginfo_frame *f)
{
	uint64_t key = (uintptr_t)linkage;
	uint32_t id = map_find(&m->demangled, key);
	if (id == MAP_ABSENT) {
		struct buf text = {0};
		id = NOT_MANGLED;
		if (demangle(linkage, f, &text) && !text.has_failed)
			id = strtab_add(&m->strings, text.data, text.count_bytes);
		buf_release(&text);
		if (id == MAP_ABSENT || !map_put(&m->demangled, key, id))
			return linkage; /* out of memory: still the right function */
	}
	return id == NOT_MANGLED ? linkage : strtab_get(&m->strings, id);
}

/* A symbol's name without its version: "fopen" of "fopen@@GLIBC_2.2.5". */
static const char *symbol_name(struct sym_module *m, const struct elf_symbol *s)
{
	size_t bytes = strnlen(s->name, LIMIT_NAME_BYTES);
	const char *at = memchr(s->name, '@', bytes);
	if (!at && bytes < LIMIT_NAME_BYTES)
		return s->name;
	if (at == s->name)
		return NULL;
	return strtab_get(&m->strings,
			  strtab_add(&m->strings, s->name, at ? (size_t)(at - s->name) : bytes));
}

/* Does `symbol` name a piece that the compiler split off `name`, as "parse.cold" and "parse"? */
static bool is_part_of(const char *symbol, const char *name)
{
	size_t bytes = strlen(name);
	return !strncmp(symbol, name, bytes) && symbol[bytes] == '.';
}

/*
 * NULL: the function has no name anywhere.  A linkage name that is not mangled is a C
 * library's private alias, such as __GI___libc_malloc: there its other names are better.
 */
static const char *linkage_of(struct sym_module *m, const struct debuginfo_frame *f, uint64_t va,
			      bool is_inlined)
{
	if (f->linkage && elf_is_mangled(f->linkage))
		return f->linkage;
	const char *name = f->name ? f->name : f->linkage;
	const struct elf_symbol *s = is_inlined ? NULL : elf_symbols_find(&m->symbols, va);
	const char *symbol = s ? symbol_name(m, s) : NULL;
	if (!symbol || (name && is_part_of(symbol, name)))
		return name;
	return symbol;
}

/* Of addresses in debug information less the file's own. */
static uint64_t debug_shift(const struct sym_module *m)
{
	return file_with_debuginfo(m) == m->file ? 0 : m->debug_shift;
}

size_t sym_lookup(struct sym_module *m, uint64_t va, struct sym_line *lines_out, size_t cap)
{
	if (!cap)
		return 0;
	size_t most = cap < LIMIT_INLINE_DEPTH ? cap : LIMIT_INLINE_DEPTH;
	uint64_t debug_va = va + debug_shift(m);
	size_t found_count =
		m->debuginfo ? debuginfo_find(m->debuginfo, debug_va, m->found, most) : 0;
	if (!found_count) {
		m->found[0] = (struct debuginfo_frame){.file = ""};
		found_count = 1;
	}
	size_t count = 0;
	for (size_t i = 0; i < found_count; i++) {
		bool is_inlined = i + 1 < found_count;
		const char *linkage = linkage_of(m, &m->found[i], va, is_inlined);
		if (!linkage)
			continue; /* its caller is known better */
		lines_out[count++] = (struct sym_line){
			.linkage = linkage,
			.name = demangled(m, linkage, &m->found[i]),
			.file = m->found[i].file,
			.line = m->found[i].line,
			.is_inlined = is_inlined,
		};
	}
	if (count)
		lines_out[count - 1].is_inlined = false;
	return count;
}

/* ---- calls ------------------------------------------------------------------------ */

const char *sym_callee_name(struct sym_module *m, uint64_t return_va)
{
	return m->debuginfo ? debuginfo_callee_name(m->debuginfo, return_va + debug_shift(m))
			    : NULL;
}

bool sym_callee(struct sym_module *m, uint64_t return_va, struct debuginfo_callee *out)
{
	struct sym_line line;
	sym_lookup(m, return_va - 1, &line, 1); /* reads the calls around it */
	if (!m->debuginfo || !debuginfo_callee(m->debuginfo, return_va + debug_shift(m), out))
		return false;
	out->entry_va -= debug_shift(m);
	return true;
}

bool sym_entry(struct sym_module *m, uint64_t va, uint64_t *entry_va_out)
{
	if (m->debuginfo && debuginfo_entry(m->debuginfo, va + debug_shift(m), entry_va_out)) {
		*entry_va_out -= debug_shift(m);
		return true;
	}
	const struct elf_symbol *s = elf_symbols_find(&m->symbols, va);
	*entry_va_out = s ? s->va : 0;
	return s != NULL;
}

bool sym_tail_calls(struct sym_module *m, uint64_t entry_va, struct debuginfo_tail_calls *out)
{
	uint64_t shift = debug_shift(m);
	*out = (struct debuginfo_tail_calls){0};
	if (!m->debuginfo || !debuginfo_tail_calls(m->debuginfo, entry_va + shift, out))
		return false;
	for (size_t i = 0; i < out->count; i++) {
		out->items[i].callee.entry_va -= shift;
		out->items[i].after_va -= shift;
	}
	return true;
}

enum sym_global sym_find_global(struct sym_module *m, const char *name, bool is_from_inside,
				uint64_t *va_out)
{
	*va_out = 0;
	if (!m->globals)
		m->globals = globals_new(m->file, m->debug_file, m->debug_shift);
	return m->globals ? globals_find(m->globals, name, is_from_inside, va_out)
			  : SYM_GLOBAL_UNCLEAR;
}
