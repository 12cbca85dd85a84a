/*
 * Between the files of src/sym: the ELF reader, symbol tables, the search for
 * separate debug files, flattened ranges and what is read of a unit.
 */
#ifndef NEAP_SYM_SYM_PRIV_H
#define NEAP_SYM_SYM_PRIV_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"
#include "src/base/map.h"
#include "src/base/mem.h"
#include "src/sym/isolate.h"
#include "src/sym/sym.h"

#define SYM_NONE             UINT32_MAX
#define COPIES_MANY          (UINT32_MAX - 1)
#define SYM_BUILD_ID_BYTES   64u
#define SYM_UNIT_CACHE_BYTES ((size_t)32 << 20) /* of parsed units, per module */

/* ---- elf.c ------------------------------------------------------------------ */

/*
 * A 64-bit little-endian ELF file, read with pread: a mapping of a file that
 * another process truncates would kill us with SIGBUS.
 */
struct elf_file {
	char *path; /* for messages */
	int fd;     /* own description, so that its offset is nobody else's */
	uint64_t file_bytes;
	Elf64_Ehdr header;
	Elf64_Shdr *sections; /* [section_count]; offsets and sizes are not checked yet */
	size_t section_count;
	char *names; /* of sections, NUL-terminated as a whole */
	size_t names_bytes;
	uint8_t build_id[SYM_BUILD_ID_BYTES];
	size_t build_id_bytes; /* 0 = none */
};

/*
 * elf_open - read header, sections and build id.
 *   fd  >= 0: read this instead of opening path (borrowed: a new description is opened)
 * Fails: ERR_IO, ERR_FORMAT, ERR_UNSUPPORTED (32 bit, big-endian), ERR_NOMEM.
 */
enum neap_err elf_open(const char *path, int fd, struct elf_file **out, struct err *e);
void elf_free(struct elf_file *f);

/*
 * elf_own_vdso - the code that the kernel maps into every process, as a file: a descriptor, or -1.
 * Another process has the same one if its build id is the same.
 */
int elf_own_vdso(void);

const char *elf_section_name(const struct elf_file *f, const Elf64_Shdr *s);    /* never NULL */
const Elf64_Shdr *elf_find_section(const struct elf_file *f, const char *name); /* NULL: none */
/* elf_has_id - is that its build id? */
bool elf_has_id(const struct elf_file *f, const uint8_t *id, size_t id_bytes);
/* elf_has_dwarf - there is a .debug_info, compressed or not. */
bool elf_has_dwarf(const struct elf_file *f);
/*
 * elf_read_section - the bytes of a section as they are in the file, plus one NUL; free with
 * mem_free.  NULL if it has none, lies outside the file, or memory ran out.
 */
void *elf_read_section(const struct elf_file *f, const Elf64_Shdr *s, size_t *bytes_out);
/* elf_debuglink - file name and CRC of .gnu_debuglink; false if there is none.  name: mem_free. */
bool elf_debuglink(const struct elf_file *f, char **name_out, uint32_t *crc_out);
/* elf_crc - of the whole file, as .gnu_debuglink has it; false if it cannot be read. */
bool elf_crc(const struct elf_file *f, uint32_t *crc_out);

/* ---- inflate.c -------------------------------------------------------------- */

enum inflate_kind {
	INFLATE_ZLIB,
	INFLATE_ZSTD
};
/* inflate_exact - decompress to exactly out_bytes.  False: damaged, another length, no memory. */
bool inflate_exact(enum inflate_kind kind, const void *in, size_t in_bytes, void *out,
		   size_t out_bytes);
/* inflate_xz - append what a .xz stream has, at most 256 MiB.  False: damaged, larger, no memory. */
bool inflate_xz(const void *in, size_t in_bytes, struct buf *out);

/* ---- image.c ---------------------------------------------------------------- */

/*
 * The sections of a file whose names begin with .debug_ or .zdebug_, the latter known as the
 * former.  The file is mapped: if it is truncated meanwhile, reading kills the process, so
 * this is for a child process (isolate.h) and for files that nobody changes.
 */
struct image;
struct image *image_open(const struct elf_file *f); /* NULL: out of memory */
void image_free(struct image *m);
size_t image_count(const struct image *m);
/* image_name - of section i, and its size when inflated. */
const char *image_name(const struct image *m, size_t i, size_t *bytes_out);
/* image_data - its bytes, inflated on the first call; NULL: damaged or out of memory. */
const uint8_t *image_data(struct image *m, size_t i);

/* ---- elfsyms.c ---------------------------------------------------------------- */

struct elf_symbol {
	uint64_t va, end_va;
	const char *name;
	uint32_t outer;            /* index of the symbol around this one, or SYM_NONE */
	uint32_t rank        : 31; /* of several at one address the highest stays */
	uint32_t is_indirect : 1;  /* what it stands for is chosen at run time */
};

/* Functions by address.  Zero-initialised is empty. */
struct elf_symbols {
	struct elf_symbol *items; /* sorted by va once sealed, one per address */
	size_t count, cap;
	char *strings[4]; /* string tables the names point into */
	size_t strings_count;
};
/*
 * elf_symbols_add - functions of .symtab or .dynsym (SHT_SYMTAB, SHT_DYNSYM), their addresses
 * less `shift`.  False: out of memory.
 */
bool elf_symbols_add(struct elf_symbols *t, const struct elf_file *f, uint32_t section_type,
		     uint64_t shift);
void elf_symbols_seal(struct elf_symbols *t);
/* elf_symbols_find - the innermost function that holds va; NULL if none does. */
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *t, uint64_t va);
void elf_symbols_release(struct elf_symbols *t);
/* elf_symbols_is_global - may other files use it, under its name without a version? */
bool elf_symbol_is_global(const struct elf_symbol *s);
/* elf_is_mangled - does the name begin as one of C++, Rust or D? */
bool elf_is_mangled(const char *name);

/* ---- debugfile.c ---------------------------------------------------------------- */

/*
 * debugfile_find - the file with the debug information that was split off main.
 * A candidate counts if its build id is main's, or, where one of them has no id, if its
 * CRC is the one that .gnu_debuglink names.  NULL if there is none.
 */
struct elf_file *debugfile_find(const struct elf_file *main, const struct sym_search *where);
/* debugfile_find_common - the file into which dwz moved what `of` shares with others; NULL. */
struct elf_file *debugfile_find_common(const struct elf_file *of, const struct sym_search *where);
/* debugfile_open_mini - the file with symbols only that is packed in .gnu_debugdata; NULL. */
struct elf_file *debugfile_open_mini(const struct elf_file *main);

/* ---- demangle_ocaml.c ------------------------------------------------------------- */

/* demangle_ocaml - appends Stdlib.Hashtbl.replace for camlStdlib__Hashtbl__replace_1044; false, and nothing
 * appended, if OCaml makes no such names. */
bool demangle_ocaml(const char *name, size_t bytes, struct buf *out);

/* ---- rustname.c ------------------------------------------------------------------- */

/* rust_is_legacy - a name of Rust's older mangling, which has "T" where there is a type. */
bool rust_is_legacy(const char *linkage);
/*
 * rust_fill_types - the demangled text with the types for which its parameters stand.
 *   name    DW_AT_name, which ends with them: "new<shop::Item>"
 *   params  the names of the function's type parameters: "T,A"; NULL if the DIE has none
 * False: nothing is known for sure; out is then to be thrown away.
 */
bool rust_fill_types(const char *text, const char *name, const char *params, struct buf *out);

/* ---- spans.c -------------------------------------------------------------------- */

/* Half-open ranges that may nest or overlap, to be turned into disjoint segments. */
struct span {
	uint64_t low_va, high_va;
	uint32_t
		value; /* of two that start together the shorter one is on top, then the higher value */
};
struct span_list {
	struct span *items;
	size_t count, cap;
};
struct segment { /* from low_va up to the next segment's low_va */
	uint64_t low_va;
	uint32_t value; /* SYM_NONE: a gap */
};
struct segments {
	struct segment *items;
	size_t count, cap;
};
bool spans_add(struct span_list *l, uint64_t low_va, uint64_t high_va, uint32_t value);
/* spans_flatten - at every address the span that started last wins.  Sorts l.  False: out of memory. */
bool spans_flatten(struct span_list *l, struct segments *out);
uint32_t segments_find(const struct segments *s, uint64_t va); /* SYM_NONE */
void segments_release(struct segments *s);

/* ---- units.c: what is known of one compilation unit ------------------------------- */

struct dw; /* dwarf.h */

struct dw_func {                       /* a function, or one inlined call of one */
	void *die;                     /* its DIE, kept open; dwarf.c gives it back */
	uint32_t outer;                /* the function it was inlined into; SYM_NONE: not inlined */
	uint32_t call_file, call_line; /* where outer calls it */
	uint32_t name_idx;             /* + 1; 0: not looked up yet */
	bool is_read;                  /* inner is valid */
	struct segments inner;         /* address -> the call inlined into this one */
};

struct dw_row {
	uint64_t va;
	uint32_t file, line;
};
struct dw_seq { /* rows of one contiguous piece of code */
	uint64_t low_va, high_va;
	uint32_t first_row, row_count;
};
struct dw_file {
	const char *name, *dir; /* inside sections of the debug file; dir may be NULL */
	const char *path;       /* made when first needed */
};

struct dw_unit {
	uint64_t die_off;  /* of its DW_TAG_compile_unit or DW_TAG_skeleton_unit */
	struct dw *file;   /* that has its functions; NULL: not read */
	uint64_t body_off; /* of the DIE around them */
	bool is_read;
	bool is_deep;           /* functions inside functions were searched for, too */
	bool has_aranges;       /* .debug_aranges says where its code is */
	bool has_code_in_types; /* Rust and D put functions inside types */
	uint16_t version;       /* of DWARF */
	uint64_t low_va;        /* what ranges are relative to */
	const char *comp_dir;

	struct dw_func *funcs; /* those that are not inlined first */
	size_t func_count, func_cap;
	struct segments where; /* address -> function that is not inlined */
	size_t inner_bytes;    /* in inner of all funcs */

	uint64_t *call_offs; /* [call_count] DIEs of call sites that were met, but of tail calls */
	size_t call_count, call_cap;
	struct map calls;  /* address after the call -> index in call_offs */
	struct map copies; /* DIE that functions are named after -> function, or COPIES_MANY */
	bool has_copies;   /* copies is filled */

	struct dw_row *rows;
	size_t row_count, row_cap;
	struct dw_seq *seqs; /* sorted by low_va */
	size_t seq_count, seq_cap;
	struct dw_file *files;
	size_t file_count, file_cap;
	uint32_t first_file; /* index of files[0]: 0 in DWARF 5, else 1 */

	uint64_t last_use;    /* for the cache */
	size_t counted_bytes; /* what the cache thinks it takes */
};
void unit_clear(struct dw_unit *u); /* forgets what was read, except DIEs of functions */
size_t unit_bytes(const struct dw_unit *u);
/* unit_add_row - rows come in the order of the line program.  False: out of memory. */
bool unit_add_row(struct dw_unit *u, uint64_t va, uint32_t file, uint32_t line, bool is_end);
/* unit_seal_rows - has_code_at_start: what is said to be at address 0 is there, not thrown away. */
void unit_seal_rows(struct dw_unit *u, bool has_code_at_start);
const struct dw_row *unit_find_row(const struct dw_unit *u, uint64_t va); /* NULL: none */
/* unit_file_path - full path of a file by its DWARF index, kept in strings; "" if unknown. */
const char *unit_file_path(struct dw_unit *u, uint32_t file, struct strtab *strings);
/* path_join_clean - comp_dir/dir/name with "//", "/./" and "/x/../" taken out; parts may be NULL. */
void path_join_clean(struct buf *out, const char *comp_dir, const char *dir, const char *name);

/* ---- debuginfo.c ------------------------------------------------------------------ */

struct debuginfo;
struct debuginfo_frame {
	const char *linkage, *name; /* as DWARF has them; NULL: not there */
	const char *params;         /* of Rust: names of its type parameters; NULL: not there */
	const char *file;           /* "" unknown */
	uint32_t line;
};
/* What it is read from; all but file may be NULL.  Files stay the caller's, open until the end. */
struct debuginfo_files {
	const struct elf_file *file;   /* has .debug_info */
	const struct elf_file *common; /* what dwz moved out of it */
	const char *program_path;      /* a .dwp lies beside it, and .dwo files may */
};
/*
 * debuginfo_open - index the units of a file by address.
 * Fails: ERR_FORMAT, ERR_ABSENT (no debug information), ERR_NOMEM.
 */
enum neap_err debuginfo_open(const struct debuginfo_files *files, struct debuginfo **out,
			     struct err *e);
void debuginfo_free(struct debuginfo *d);
/*
 * debuginfo_find - functions at an address, innermost first, the one that is not inlined
 * last.  If only the line is known, one entry without names.  Strings live as long as d.
 */
size_t debuginfo_find(struct debuginfo *d, uint64_t va, struct debuginfo_frame *out, size_t cap);

/* ---- callsites.c -------------------------------------------------------------------- */

/* A function that is called, or is jumped to at the end of another. */
struct debuginfo_callee {
	bool has_entry;    /* entry_va is where it begins */
	uint64_t entry_va; /* in the file's own addresses */
	const char *name;  /* else its linkage name, if it is a global one; NULL: unknown */
};
struct debuginfo_tail_call {
	struct debuginfo_callee callee;
	uint64_t after_va; /* what follows the jump */
};
struct debuginfo_tail_calls {
	struct debuginfo_tail_call *items; /* mem_free */
	size_t count, cap;
	/* Calls of the C library's own functions are in it: Clang leaves those out. */
	bool has_library_calls;
};
/*
 * debuginfo_callee_name - what the call that returns to an address calls, by its linkage name, or
 * its plain one; NULL: it is computed or not known.  Cheap, after debuginfo_find of the address
 * before it.  Another function may have the same name.
 */
const char *debuginfo_callee_name(struct debuginfo *d, uint64_t return_va);
/* debuginfo_callee - the same to the exact function; false: unknown. */
bool debuginfo_callee(struct debuginfo *d, uint64_t return_va, struct debuginfo_callee *out);
/* debuginfo_entry - where the function that holds an address begins; false: no function does. */
bool debuginfo_entry(struct debuginfo *d, uint64_t va, uint64_t *entry_va_out);
/*
 * debuginfo_tail_calls - all tail calls of the function that begins at an address.
 * False: no function does, its debug information does not say that these are all, or no memory.
 */
bool debuginfo_tail_calls(struct debuginfo *d, uint64_t entry_va, struct debuginfo_tail_calls *out);

/* ---- globals.c ------------------------------------------------------------------------ */

enum sym_global {
	SYM_GLOBAL_ABSENT,
	SYM_GLOBAL_HIDDEN, /* only the file itself can use it */
	SYM_GLOBAL_SHARED, /* every file in the process can, and one may have another of that name */
	SYM_GLOBAL_UNCLEAR /* several, or one that is chosen at run time */
};
/* Functions of a file by name. */
struct globals;
/* globals_new - debug_file may be NULL; shift: its addresses less file's.  NULL: out of memory. */
struct globals *globals_new(const struct elf_file *file, const struct elf_file *debug_file,
			    uint64_t shift);
void globals_free(struct globals *g);
enum sym_global globals_find(const struct globals *g, const char *name, bool is_from_inside,
			     uint64_t *va_out);

/* ---- module.c: sym_module_open in two steps ---------------------------------------- */

/* sym_module_open_symbols - as sym_module_open, but debug information is not read yet. */
enum neap_err sym_module_open_symbols(const struct sym_request *req, struct sym_module **out,
				      struct err *e);
/* sym_module_has_debuginfo - is there any to load? */
bool sym_module_has_debuginfo(const struct sym_module *m);
/* sym_module_load_debuginfo - fails with ERR_NOMEM only; damage reads as there being none. */
enum neap_err sym_module_load_debuginfo(struct sym_module *m, struct err *e);
/* sym_module_descriptors - what m reads debug information from; -1: nothing. */
void sym_module_descriptors(const struct sym_module *m, int fds_out[ISOLATED_FDS]);

/*
 * As those of callsites.c, in the file's own addresses; sym_callee_name after sym_lookup of the
 * address before.  sym_entry goes by symbols where there is no debug information.
 */
const char *sym_callee_name(struct sym_module *m, uint64_t return_va);
bool sym_callee(struct sym_module *m, uint64_t return_va, struct debuginfo_callee *out);
bool sym_entry(struct sym_module *m, uint64_t va, uint64_t *entry_va_out);
bool sym_tail_calls(struct sym_module *m, uint64_t entry_va, struct debuginfo_tail_calls *out);
/* sym_find_global - a global function, as code of this file sees it or as that of others does. */
enum sym_global sym_find_global(struct sym_module *m, const char *name, bool is_from_inside,
				uint64_t *va_out);

#endif
