/*
 * What neap needs of DWARF, without libdwarf's types.  dwarf.c implements it;
 * debuginfo.c makes functions, inlined calls and lines of it.
 *
 * A DIE belongs to whoever got it and is freed with dw_die_free before dw_close.
 * It is used with the struct dw it came from.  Strings live until dw_close.  What is damaged reads as not being there.
 */
#ifndef NEAP_SYM_DWARF_H
#define NEAP_SYM_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/sym/sym_priv.h"

struct dw;
struct dw_die;

enum dw_kind {
	DW_OTHER,
	DW_UNIT,
	DW_FUNCTION,
	DW_INLINED,
	DW_NAMESPACE,
	DW_BLOCK,
	DW_TYPE, /* that can have functions in it */
	DW_CALL, /* a call site */
	DW_TYPE_PARAMETER,
};
enum dw_text {
	DW_LINKAGE_NAME,
	DW_NAME,
	DW_COMP_DIR,
	DW_PRODUCER,
	DW_SPLIT_NAME /* of the .dwo file that has the rest of a skeleton unit */
};
enum dw_number {
	DW_CALL_FILE,
	DW_CALL_LINE,
	DW_DECL_FILE
};

struct dw_base { /* what the ranges of a unit's DIEs are relative to */
	uint64_t low_va;
	uint16_t version;
};

struct dw_options {
	bool has_split; /* read what is in .dwo sections instead of the rest */
	/*
	 * The file that this one refers to: for split units the one with their skeletons, else the
	 * one into which dwz moved what several have.  NULL: none.  Borrowed.
	 */
	struct dw *helper;
	uint32_t serial; /* the caller's number of the file, see dw_serial */
};
/*
 * dw_open - read a file's debug information.  It is mapped (see image.c), so f may be freed.
 * Fails: ERR_FORMAT, ERR_ABSENT (no debug information), ERR_NOMEM.
 */
enum neap_err dw_open(const struct elf_file *f, const struct dw_options *options, struct dw **out,
		      struct err *e);
uint32_t dw_serial(const struct dw *d);
void dw_close(struct dw *d);

struct dw_die *dw_die_at(struct dw *d, uint64_t off);
struct dw_die *dw_child(struct dw *d, const struct dw_die *die);
struct dw_die *dw_sibling(struct dw *d, const struct dw_die *die);
/* dw_origin - what its DW_AT_abstract_origin or DW_AT_specification names, and the file it is in. */
struct dw_die *dw_origin(struct dw *d, const struct dw_die *die, struct dw **file_out);
void dw_die_free(struct dw_die *die);

uint64_t dw_die_off(struct dw *d, const struct dw_die *die);
enum dw_kind dw_kind(struct dw *d, const struct dw_die *die);
const char *dw_text(struct dw *d, const struct dw_die *die, enum dw_text what);  /* NULL */
uint32_t dw_number(struct dw *d, const struct dw_die *die, enum dw_number what); /* 0 */

struct dw_call {
	uint64_t after_va; /* what follows the call or jump; 0: unknown */
	bool is_tail;      /* a jump, after which the function's frame is gone */
};
struct dw_call dw_call(struct dw *d, const struct dw_die *die);
/* dw_call_target - what is called, if the code says so, and the file it is in; NULL: computed. */
struct dw_die *dw_call_target(struct dw *d, const struct dw_die *die, struct dw **file_out);
/* dw_has_all_tail_calls - does a function's DIE say that all its tail calls have call sites? */
bool dw_has_all_tail_calls(struct dw *d, const struct dw_die *function);
bool dw_is_external(struct dw *d, const struct dw_die *die);

/* dw_split_id - what a skeleton and the unit in its .dwo file have in common; false: none. */
bool dw_split_id(struct dw *d, const struct dw_die *unit, uint64_t *id_out);
/* dw_has_code_in_types - is the unit's language one that puts functions inside types? */
bool dw_has_code_in_types(struct dw *d, const struct dw_die *unit);
struct dw_base dw_unit_base(struct dw *d, const struct dw_die *unit);

/* dw_ranges - append where a DIE's code is, with value.  False: out of memory. */
bool dw_ranges(struct dw *d, const struct dw_die *die, struct dw_base base, struct span_list *l,
	       uint32_t value, bool *has_code_out);
/* dw_entry - where a function's code begins; false: it has none. */
bool dw_entry(struct dw *d, const struct dw_die *function, struct dw_base base, uint64_t *va_out);
/* dw_says_where - does a unit's DIE give ranges, be it of code that was thrown away? */
bool dw_says_where(struct dw *d, const struct dw_die *unit);
/* dw_read_lines - rows and files of a unit.  False: out of memory. */
bool dw_read_lines(struct dw *d, const struct dw_die *unit, struct dw_unit *u,
		   unsigned *version_out);

/*
 * dw_unit_offs - offsets of the DIEs of all units of the file, in ascending order, by walking
 * their headers.  Returns false if memory runs out; *offs_out: mem_free.  Stops at a damaged one.
 */
bool dw_unit_offs(struct dw *d, uint64_t **offs_out, size_t *count_out);

/*
 * dw_next_unit - the same, one after another, as libdwarf goes through them: it finds addresses of
 * split units only in those that were visited so.  False: no more; *die_out NULL: it is empty.
 */
bool dw_next_unit(struct dw *d, struct dw_die **die_out);

typedef bool dw_arange_taker(void *context, uint64_t low_va, uint64_t high_va, uint64_t unit_off);
/* dw_aranges - all of .debug_aranges; stops when take returns false, and returns that. */
bool dw_aranges(struct dw *d, dw_arange_taker *take, void *context);

#endif
