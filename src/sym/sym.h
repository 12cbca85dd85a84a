/*
 * Names for code addresses: module files, debug information, demangling.
 *
 * libdwarf is used in one file, libiberty's demangler in another; this header
 * shows neither.  A module's file is only used if its build id equals the one
 * that was mapped: it is better to show module+offset than another binary's name.
 */
#ifndef NEAP_SYM_SYM_H
#define NEAP_SYM_SYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"
#include "src/base/err.h"

struct sym_module; /* one opened module with what was found for it */

enum sym_file_kind {
	SYM_FILE_DEBUG,  /* debug information that was split off, or that dwz took together */
	SYM_FILE_PROGRAM /* the program or library itself */
};

/* Where files are looked for besides a module's own folder and the system's. */
struct sym_search {
	/* NULL-terminated, each laid out as /usr/lib/debug or flat; before the system's.  May be NULL */
	const char *const *debug_dirs;
	/*
	 * A file with this build id, for when there is none on this machine; as debuginfod.
	 * Returns a descriptor, which is then ours, or -1.  What it gives is checked.  May be
	 * called from several threads at once.  May be NULL.
	 */
	int (*fetch)(void *context, enum sym_file_kind kind, const uint8_t *build_id,
		     size_t build_id_bytes);
	void *fetch_context;
};

struct sym_request {
	const char *path; /* for messages and for the search */
	int fd;           /* >= 0: read this instead of opening path (borrowed, dup'ed) */
	const uint8_t *
		build_id; /* as mapped; build_id_bytes 0 = unknown, then the file is accepted as it is */
	size_t build_id_bytes;
	struct sym_search search;
};

/*
 * sym_module_open - open a module and find its debug information.
 * Sources: the file itself, .gnu_debuglink (CRC checked), build-id directories,
 * .gnu_debugaltlink where libdwarf supports it, .symtab, .dynsym.
 * Fails: ERR_IO, ERR_FORMAT (not ELF, damaged), ERR_ABSENT (build id differs), ERR_NOMEM.
 */
enum neap_err sym_module_open(const struct sym_request *req, struct sym_module **out,
			      struct err *e);
void sym_module_free(struct sym_module *m);

struct sym_line {
	const char *linkage; /* name in the object file; owned by the module; never NULL */
	const char *name;    /* demangled, or the same as linkage */
	const char *file;    /* full path (compilation directory applied), or "" */
	uint32_t line;       /* 0 unknown */
	bool is_inlined;     /* this function was inlined into the next one */
};

/*
 * sym_lookup - all functions at an address, innermost inlined first.
 *
 *   va         address in the ELF file's own terms, already return address - 1
 *   lines_out  at most cap entries
 * Returns the number of entries; 0 = nothing known.  If they are too many, the innermost
 * and the physical function stay.  The physical function's name is the mangled one of DWARF
 * if it has one, else from .symtab/.dynsym, else DWARF's plain name.
 * Cost: reading a compilation unit once, then O(log n) per address.  Sort addresses first.
 * Broken DWARF costs the names of its unit only, never an error.
 */
size_t sym_lookup(struct sym_module *m, uint64_t va, struct sym_line *lines_out, size_t cap);

/* What is known about where the names come from, for messages: "DWARF", "symbol table", "none". */
const char *sym_module_source(const struct sym_module *m);

/* sym_demangle - C++, Rust (legacy and v0), D, OCaml.  Appends to out; returns false and appends nothing if it is not mangled. */
bool sym_demangle(const char *linkage, struct buf *out);

/* sym_is_wrapper - an allocation wrapper by its demangled name: malloc family, operator new, std::allocator
 * and friends, strdup, asprintf, g_malloc, xmalloc, Rust alloc shims.  The table is src/sym/wrappers.def. */
bool sym_is_wrapper(const char *name);

/* sym_is_clone_suffix - does ".part.0" or the like begin here, the mark of what a compiler split off or
 * specialised? */
bool sym_is_clone_suffix(const char *s);

#endif
