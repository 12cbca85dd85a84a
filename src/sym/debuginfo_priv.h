/* Between the files that make functions, inlined calls and lines of DWARF. */
#ifndef NEAP_SYM_DEBUGINFO_PRIV_H
#define NEAP_SYM_DEBUGINFO_PRIV_H

#include "src/base/limits.h"
#include "src/sym/dwarf.h"
#include "src/sym/sym_priv.h"

#define LIMIT_DIE_DEPTH    (2 * LIMIT_INLINE_DEPTH) /* blocks and inlined functions alternate */
#define LIMIT_ORIGIN_STEPS 16u                      /* links from a function to its name */
#define LIMIT_PARAM_DIES   256u                     /* among which type parameters are */
#define LIMIT_UNITS        (64u << 20)

struct walk_step {
	struct dw_die *die;
	uint32_t func;       /* function or inlined call around it, or SYM_NONE */
	bool is_in_function; /* also if that one has no code of its own */
};

struct func_name {
	const char *linkage, *name; /* in strings; NULL: has none */
	const char *params;         /* see struct debuginfo_frame */
};

struct debuginfo {
	struct dw *dw;             /* the file itself */
	struct dw *common;         /* what dwz moved out of it; NULL: nothing */
	struct split_files *split; /* .dwo and .dwp files; NULL: not needed so far */
	char *program_path;        /* what a .dwp lies beside; NULL: unknown */
	char *file_path;           /* of the file itself */

	struct dw_unit *units; /* those that are known so far */
	size_t unit_count, unit_cap;
	struct map unit_ids;     /* offset of its DIE -> unit */
	struct segments aranges; /* address -> unit, of .debug_aranges */
	struct segments where;   /* address -> unit, of the other units, once is_whole */
	bool is_whole;

	struct strtab strings;  /* names and paths that were handed out */
	size_t cache_bytes;     /* of the units that are read */
	uint64_t clock;         /* counts uses of units */
	struct walk_step *walk; /* [LIMIT_DIE_DEPTH + 1] */
	/* file and offset of a DIE that others are named after -> index in names + 1 */
	struct map origins;
	struct func_name *names;
	size_t name_count, name_cap;
};

/* ---- debuginfo.c --------------------------------------------------------------------- */

/* debuginfo_unit - the unit with code at an address, read; NULL: there is none. */
struct dw_unit *debuginfo_unit(struct debuginfo *d, uint64_t va);
/* debuginfo_func - the function at va that is not inlined, in its unit; SYM_NONE. */
uint32_t debuginfo_func(struct debuginfo *d, struct dw_unit *u, uint64_t va);
/* debuginfo_name - of a function's DIE; NULL: out of memory. */
const struct func_name *debuginfo_name(struct debuginfo *d, struct dw *file,
				       const struct dw_die *die);
/* debuginfo_key - of a DIE, for maps; one in a million may have another's. */
static inline uint64_t debuginfo_key(struct dw *file, const struct dw_die *die)
{
	return (uint64_t)dw_serial(file) << 44 ^ dw_die_off(file, die);
}

/* ---- readunit.c --------------------------------------------------------------------- */

/*
 * unit_read - functions, rows and files, no deeper than that.  False: out of memory; the unit is
 * then as if it were empty.
 */
bool unit_read(struct debuginfo *d, struct dw_unit *u);
/* unit_read_deep - once more, for functions inside functions. */
bool unit_read_deep(struct debuginfo *d, struct dw_unit *u);
/* unit_read_inlined - what is inlined into a function; false: out of memory. */
bool unit_read_inlined(struct debuginfo *d, struct dw_unit *u, uint32_t func);
typedef bool tail_taker(void *context, const struct dw_die *call, uint64_t after_va);
/* unit_tail_calls - all tail calls of a function, until take returns false; returns whether it never did. */
bool unit_tail_calls(struct debuginfo *d, struct dw_unit *u, uint32_t func, tail_taker *take,
		     void *context);
/* unit_forget - everything that was read of it. */
void unit_forget(struct dw_unit *u);
/* unit_trim_cache - after a unit was used: forgets others until the rest fits. */
void unit_trim_cache(struct debuginfo *d, struct dw_unit *used);

/* ---- unitindex.c ------------------------------------------------------------------ */

/* unitindex_open - reads .debug_aranges.  False: out of memory. */
bool unitindex_open(struct debuginfo *d);
/* unitindex_find - the unit that has code at va, or SYM_NONE. */
uint32_t unitindex_find(struct debuginfo *d, uint64_t va);

/* ---- split.c ------------------------------------------------------------------------ */

/*
 * split_find - the unit of a .dwo or .dwp file that has the rest of a skeleton unit, and the file
 * it is in.  NULL: it is no skeleton, or there is no such file; then it has lines only.
 */
struct dw_die *split_find(struct debuginfo *d, const struct dw_die *skeleton, struct dw **file_out);
void split_free(struct split_files *s);

#endif
