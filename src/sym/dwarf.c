/*
 * Debug information through libdwarf; no other file includes its headers.
 *
 *   open   one pass over the unit headers: ranges of each unit's own DIE -> segments
 *          (address -> unit).  Units that do not say where they are (DWARF 2 has no way
 *          to, if the code is in several pieces) are looked up in .debug_aranges, and
 *          those that are not there either are read at once.
 *   find   unit of the address -> read it now, once -> its functions, rows and files
 *
 * Debug information is read no deeper than it is asked for.  Reading a unit finds its
 * functions by walking namespaces only; a function's inlined calls are read when an
 * address in it is looked up, theirs when it lies in one of them, and so on.  Functions
 * inside functions (lambdas, as GCC writes them) are searched for when an address of the
 * unit is in none of the others.  Names are followed through DW_AT_abstract_origin and
 * DW_AT_specification when they are needed.
 *
 * Invariants: what libdwarf allocates is given back in the function that got it, except
 * strings, which point into its sections.  Its bookkeeping of allocations, a search tree
 * that costs more than the parsing itself, is switched off; so nothing may be forgotten.
 *
 * Left out: split DWARF (a skeleton unit still gives lines) and dwz files (a name that
 * is in one is missing; the symbol table stands in).
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_LIBDWARF_LIBDWARF_H
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

#include "src/base/limits.h"

#define LIMIT_DIE_DEPTH    (2 * LIMIT_INLINE_DEPTH) /* blocks and inlined functions alternate */
#define LIMIT_ORIGIN_STEPS 16u                      /* links from a function to its name */
#define LIMIT_UNITS        (64u << 20)
#define LIMIT_RANGES       (16u << 20) /* of one DIE */

struct walk_step {
	Dwarf_Die die;
	uint32_t func;       /* function or inlined call around it, or SYM_NONE */
	bool is_in_function; /* also if that one has no code of its own */
};

struct dwarf {
	Dwarf_Debug dbg;
	struct dw_unit *units;
	size_t unit_count, unit_cap;
	struct segments where;  /* address -> unit */
	struct strtab strings;  /* names and paths that were handed out */
	size_t cache_bytes;     /* of the units that are read */
	uint64_t clock;         /* counts uses of units */
	struct walk_step *walk; /* [LIMIT_DIE_DEPTH + 1] */
	struct map origins; /* offset of a DIE that others take their name from -> index in names */
	struct func_name {
		const char *linkage, *name; /* in strings; NULL: has none */
	} * names;
	size_t name_count, name_cap;
};

/* What the ranges of a unit's DIEs are relative to. */
struct range_base {
	uint64_t low_va;
	Dwarf_Half version;
};

static bool is_ok(struct dwarf *d, int result, Dwarf_Error *err)
{
	if (result == DW_DLV_ERROR && *err)
		dwarf_dealloc_error(d->dbg, *err);
	*err = NULL;
	return result == DW_DLV_OK;
}

/* ---- attributes ------------------------------------------------------------------- */

static const char *die_text(struct dwarf *d, Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Error err = NULL;
	char *text = NULL;
	if (!is_ok(d, dwarf_die_text(die, attribute, &text, &err), &err))
		return NULL;
	return text && *text ? text : NULL;
}

static bool die_attr(struct dwarf *d, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Attribute *out)
{
	Dwarf_Error err = NULL;
	return is_ok(d, dwarf_attr(die, attribute, out, &err), &err);
}

static uint32_t die_number(struct dwarf *d, Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Error err = NULL;
	Dwarf_Unsigned n = 0;
	Dwarf_Signed s = 0;
	if (!die_attr(d, die, attribute, &attr))
		return 0;
	if (!is_ok(d, dwarf_formudata(attr, &n, &err), &err) &&
	    is_ok(d, dwarf_formsdata(attr, &s, &err), &err))
		n = s > 0 ? (Dwarf_Unsigned)s : 0;
	dwarf_dealloc_attribute(attr);
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* An offset in some section; old compilers give it as a plain number. */
static bool attr_offset(struct dwarf *d, Dwarf_Attribute attr, Dwarf_Unsigned *out)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	if (is_ok(d, dwarf_global_formref(attr, &off, &err), &err)) {
		*out = off;
		return true;
	}
	return is_ok(d, dwarf_formudata(attr, out, &err), &err);
}

static bool open_die(struct dwarf *d, uint64_t off, Dwarf_Die *out)
{
	Dwarf_Error err = NULL;
	return is_ok(d, dwarf_offdie_b(d->dbg, off, 1, out, &err), &err);
}

/* The DIE that die's origin or specification names. */
static bool next_origin(struct dwarf *d, Dwarf_Die die, Dwarf_Die *out)
{
	Dwarf_Attribute attr;
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	if (!die_attr(d, die, DW_AT_abstract_origin, &attr) &&
	    !die_attr(d, die, DW_AT_specification, &attr))
		return false;
	bool found = is_ok(d, dwarf_global_formref(attr, &off, &err), &err);
	dwarf_dealloc_attribute(attr);
	return found && open_die(d, off, out);
}

/* ---- ranges ------------------------------------------------------------------------- */

/*
 * Code that the linker threw away is said to be at 0, at 1 (lld, in range lists), or at
 * the end of all addresses.
 */
static bool add_span(struct span_list *l, uint64_t low, uint64_t high, uint32_t value)
{
	if (low <= 1 || low >= UINT64_MAX - 1)
		return true;
	return spans_add(l, low, high, value);
}

static bool add_ranges_v5(struct dwarf *d, Dwarf_Attribute attr, struct span_list *l,
			  uint32_t value)
{
	Dwarf_Error err = NULL;
	Dwarf_Half form = 0;
	Dwarf_Unsigned at = 0, count = 0, set_off = 0;
	Dwarf_Rnglists_Head head = NULL;
	if (!is_ok(d, dwarf_whatform(attr, &form, &err), &err))
		return true;
	bool has_at = form == DW_FORM_rnglistx ? is_ok(d, dwarf_formudata(attr, &at, &err), &err)
					       : attr_offset(d, attr, &at);
	if (!has_at ||
	    !is_ok(d, dwarf_rnglists_get_rle_head(attr, form, at, &head, &count, &set_off, &err),
		   &err))
		return true;
	bool has_memory = true;
	for (Dwarf_Unsigned i = 0; has_memory && i < count && i < LIMIT_RANGES; i++) {
		unsigned entry_bytes = 0, kind = 0;
		Dwarf_Unsigned raw1, raw2, low = 0, high = 0;
		Dwarf_Bool is_unavailable = 0;
		int rc = dwarf_get_rnglists_entry_fields_a(head, i, &entry_bytes, &kind, &raw1,
							   &raw2, &is_unavailable, &low, &high,
							   &err);
		if (!is_ok(d, rc, &err) || kind == DW_RLE_end_of_list)
			break;
		if (kind == DW_RLE_base_address || kind == DW_RLE_base_addressx || is_unavailable)
			continue;
		has_memory = add_span(l, low, high, value);
	}
	dwarf_dealloc_rnglists_head(head);
	return has_memory;
}

static bool add_ranges_v2(struct dwarf *d, Dwarf_Die die, Dwarf_Attribute attr, uint64_t base,
			  struct span_list *l, uint32_t value)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned at = 0, used_bytes = 0;
	Dwarf_Off real_off = 0;
	Dwarf_Ranges *ranges = NULL;
	Dwarf_Signed count = 0;
	if (!attr_offset(d, attr, &at) ||
	    !is_ok(d,
		   dwarf_get_ranges_b(d->dbg, at, die, &real_off, &ranges, &count, &used_bytes,
				      &err),
		   &err))
		return true;
	bool has_memory = true;
	for (Dwarf_Signed i = 0; has_memory && i < count && i < LIMIT_RANGES; i++) {
		const Dwarf_Ranges *r = &ranges[i];
		if (r->dwr_type == DW_RANGES_END)
			break;
		if (r->dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = r->dwr_addr2;
		else if (r->dwr_addr1 < r->dwr_addr2)
			has_memory = add_span(l, base + r->dwr_addr1, base + r->dwr_addr2, value);
	}
	dwarf_ranges_dealloc(d->dbg, ranges, count);
	return has_memory;
}

/* DW_AT_low_pc and DW_AT_high_pc, which is an address or a size. */
static bool die_low_high(struct dwarf *d, Dwarf_Die die, uint64_t *low, uint64_t *high)
{
	Dwarf_Error err = NULL;
	Dwarf_Addr from = 0, to = 0;
	Dwarf_Half form = 0;
	enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
	*low = *high = 0;
	if (!is_ok(d, dwarf_lowpc(die, &from, &err), &err))
		return false;
	*low = from;
	if (!is_ok(d, dwarf_highpc_b(die, &to, &form, &class, &err), &err))
		return false;
	*high = class == DW_FORM_CLASS_CONSTANT ? from + to : to;
	return *high > *low;
}

/* Returns false only if memory runs out; count_out tells whether there was any code. */
static bool add_die_ranges(struct dwarf *d, Dwarf_Die die, const struct range_base *base,
			   struct span_list *l, uint32_t value, bool *has_code_out)
{
	uint64_t low, high;
	size_t before = l->count;
	bool has_memory = true;
	Dwarf_Attribute attr;
	if (die_low_high(d, die, &low, &high)) {
		has_memory = add_span(l, low, high, value);
	} else if (die_attr(d, die, DW_AT_ranges, &attr)) {
		has_memory = base->version >= 5
				     ? add_ranges_v5(d, attr, l, value)
				     : add_ranges_v2(d, die, attr, base->low_va, l, value);
		dwarf_dealloc_attribute(attr);
	}
	*has_code_out = l->count > before;
	return has_memory;
}

static struct range_base unit_base(struct dwarf *d, Dwarf_Die unit_die)
{
	struct range_base base = {0};
	Dwarf_Error err = NULL;
	Dwarf_Addr low = 0;
	Dwarf_Half offset_bytes = 0;
	if (is_ok(d, dwarf_lowpc(unit_die, &low, &err), &err))
		base.low_va = low;
	if (dwarf_get_version_of_die(unit_die, &base.version, &offset_bytes) != DW_DLV_OK)
		base.version = 2;
	return base;
}

/* ---- walking ---------------------------------------------------------------------- */

static bool die_child(struct dwarf *d, Dwarf_Die die, Dwarf_Die *out)
{
	Dwarf_Error err = NULL;
	return is_ok(d, dwarf_child(die, out, &err), &err);
}

static bool die_sibling(struct dwarf *d, Dwarf_Die die, Dwarf_Die *out)
{
	Dwarf_Error err = NULL;
	return is_ok(d, dwarf_siblingof_b(d->dbg, die, 1, out, &err), &err);
}

static Dwarf_Half die_tag(struct dwarf *d, Dwarf_Die die)
{
	Dwarf_Error err = NULL;
	Dwarf_Half tag = 0;
	return is_ok(d, dwarf_tag(die, &tag, &err), &err) ? tag : 0;
}

struct unit_reader;
/*
 * Takes note of a DIE.  Returns whether to go on below it, where `below` is then what holds
 * for its children.  Sets at->die to NULL if it keeps the DIE.
 */
typedef bool visitor(struct unit_reader *r, struct walk_step *at, struct walk_step *below);

struct unit_reader {
	struct dwarf *d;
	struct dw_unit *u;
	struct range_base base;
	struct span_list spans; /* of the functions found by this walk */
	bool has_memory;
};

/* Depth first over everything below `root`, whose own state is `first`. */
static void walk(struct unit_reader *r, Dwarf_Die root, struct walk_step first, visitor *visit)
{
	struct dwarf *d = r->d;
	struct walk_step *stack = d->walk;
	size_t top = 0;
	stack[0] = first;
	if (die_child(d, root, &stack[0].die))
		top = 1;
	while (top) {
		struct walk_step *at = &stack[top - 1], *below = at + 1;
		Dwarf_Die die = at->die, next = NULL;
		*below = *at;
		bool goes_below = r->has_memory && visit(r, at, below) && top < LIMIT_DIE_DEPTH &&
				  die_child(d, die, &below->die);
		/* the sibling first: the visitor may have taken the DIE, but it is still there */
		bool has_next = r->has_memory && die_sibling(d, die, &next);
		if (at->die)
			dwarf_dealloc_die(at->die);
		at->die = next;
		if (!has_next)
			top--;
		if (!goes_below)
			continue;
		if (!has_next) /* nothing to come back to: its place is free */
			stack[top] = *below;
		top++;
	}
}

/* ---- functions of a unit ------------------------------------------------------------ */

/* Appends a function or inlined call; takes the DIE if it returns an id. */
static uint32_t add_func(struct unit_reader *r, Dwarf_Die die, uint32_t outer, bool *has_code_out)
{
	struct dw_unit *u = r->u;
	uint32_t id = (uint32_t)u->func_count;
	*has_code_out = false;
	if (u->func_count >= LIMIT_IDS)
		return SYM_NONE;
	r->has_memory = add_die_ranges(r->d, die, &r->base, &r->spans, id, has_code_out);
	if (!r->has_memory || (!*has_code_out && outer == SYM_NONE))
		return SYM_NONE;
	r->has_memory =
		vec_reserve((void **)&u->funcs, &u->func_cap, u->func_count + 1, sizeof *u->funcs);
	if (!r->has_memory)
		return SYM_NONE;
	u->funcs[u->func_count++] = (struct dw_func){.die = die, .outer = outer};
	return id;
}

static bool visit_function(struct unit_reader *r, struct walk_step *at)
{
	bool has_code;
	Dwarf_Die die = at->die;
	if (add_func(r, die, SYM_NONE, &has_code) != SYM_NONE)
		at->die = NULL;
	return has_code;
}

/* Functions at the level of the file and of namespaces. */
static bool visit_shallow(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	(void)below;
	switch (die_tag(r->d, at->die)) {
	case DW_TAG_subprogram:
		visit_function(r, at);
		return false;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	default:
		return false;
	}
}

/* Also those inside other functions, and inside types that are local to a function. */
static bool visit_deep(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	switch (die_tag(r->d, at->die)) {
	case DW_TAG_subprogram:
		visit_function(r, at);
		below->is_in_function = true;
		return true; /* without code it may be the model of inlined copies */
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return at->is_in_function || r->u->has_code_in_types;
	default:
		return false;
	}
}

/*
 * Calls inlined into a function.  One that has no code is kept and looked into: calls
 * inlined into it may have code (strict DWARF 2 cannot say that code is in several pieces,
 * and then says nothing).
 */
static bool visit_inlined(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	bool has_code;
	Dwarf_Die die = at->die;
	switch (die_tag(r->d, die)) {
	case DW_TAG_inlined_subroutine:
		below->func = add_func(r, die, at->func, &has_code);
		if (below->func == SYM_NONE)
			return false;
		at->die = NULL;
		r->u->funcs[below->func].call_file = die_number(r->d, die, DW_AT_call_file);
		r->u->funcs[below->func].call_line = die_number(r->d, die, DW_AT_call_line);
		return !has_code;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

static void forget_funcs(struct dw_unit *u)
{
	for (size_t i = 0; i < u->func_count; i++) {
		dwarf_dealloc_die(u->funcs[i].die);
		segments_release(&u->funcs[i].inner);
	}
	u->func_count = 0;
	u->inner_bytes = 0;
	segments_release(&u->where);
}

static void forget_unit(struct dw_unit *u)
{
	forget_funcs(u);
	unit_clear(u);
}

/* Replaces the functions of the unit by what the walk finds. */
static void read_funcs(struct unit_reader *r, Dwarf_Die unit_die, visitor *visit)
{
	forget_funcs(r->u);
	walk(r, unit_die, (struct walk_step){.func = SYM_NONE}, visit);
	if (r->has_memory)
		r->has_memory = spans_flatten(&r->spans, &r->u->where);
	mem_free(r->spans.items);
	r->spans = (struct span_list){0};
}

/* What is inlined into a function; false: out of memory. */
static bool read_inlined(struct dwarf *d, struct dw_unit *u, uint32_t func)
{
	struct unit_reader r = {.d = d, .u = u, .has_memory = true};
	r.base = (struct range_base){u->low_va, u->version};
	u->funcs[func].is_read = true;
	walk(&r, u->funcs[func].die, (struct walk_step){.func = func}, visit_inlined);
	struct segments inner = {0};
	if (r.has_memory)
		r.has_memory = spans_flatten(&r.spans, &inner);
	u->funcs[func].inner = inner;
	u->inner_bytes += inner.cap * sizeof *inner.items;
	mem_free(r.spans.items);
	return r.has_memory;
}

/* ---- lines of a unit ---------------------------------------------------------------- */

/* DWARF 5 counts directories from 0; releases of libdwarf differ in how it is asked for. */
static Dwarf_Signed first_dir_index(struct dwarf *d, Dwarf_Line_Context lines,
				    Dwarf_Unsigned version)
{
	Dwarf_Error err = NULL;
	const char *name = NULL;
	if (version < 5)
		return 1;
	return is_ok(d, dwarf_srclines_include_dir_data(lines, 0, &name, &err), &err) ? 0 : 1;
}

static const char *include_dir(struct dwarf *d, Dwarf_Line_Context lines, Dwarf_Unsigned version,
			       Dwarf_Signed first, Dwarf_Unsigned dir)
{
	Dwarf_Error err = NULL;
	const char *name = NULL;
	if (dir > INT32_MAX || (version < 5 && dir == 0))
		return NULL; /* the compilation directory */
	Dwarf_Signed i = (Dwarf_Signed)dir + (version < 5 ? 0 : first);
	return is_ok(d, dwarf_srclines_include_dir_data(lines, i, &name, &err), &err) ? name : NULL;
}

static bool read_files(struct unit_reader *r, Dwarf_Line_Context lines, Dwarf_Unsigned version)
{
	struct dwarf *d = r->d;
	struct dw_unit *u = r->u;
	Dwarf_Error err = NULL;
	Dwarf_Signed first = 0, count = 0, end = 0;
	if (!is_ok(d, dwarf_srclines_files_indexes(lines, &first, &count, &end, &err), &err) ||
	    first < 0 || end < first)
		return true;
	Dwarf_Signed first_dir = first_dir_index(d, lines, version);
	u->first_file = (uint32_t)first;
	for (Dwarf_Signed i = first; i < end; i++) {
		const char *name = NULL;
		Dwarf_Unsigned dir = 0, changed, bytes;
		Dwarf_Form_Data16 *md5 = NULL;
		if (!vec_reserve((void **)&u->files, &u->file_cap, u->file_count + 1,
				 sizeof *u->files))
			return false;
		struct dw_file *f = &u->files[u->file_count++];
		*f = (struct dw_file){0};
		int rc = dwarf_srclines_files_data_b(lines, i, &name, &dir, &changed, &bytes, &md5,
						     &err);
		if (!is_ok(d, rc, &err))
			continue;
		f->name = name;
		f->dir = include_dir(d, lines, version, first_dir, dir);
	}
	return true;
}

/*
 * Does the row end its sequence?  The release of 2021 says so, wrongly, of most rows that
 * are marked as the beginning of an epilogue (Rust and clang do); those never are an end.
 */
static bool is_end_of_sequence(struct dwarf *d, Dwarf_Line row)
{
	Dwarf_Error err = NULL;
	Dwarf_Bool is_end = 0, is_prologue_end = 0, is_epilogue = 0;
	Dwarf_Unsigned isa = 0, discriminator = 0;
	if (!is_ok(d, dwarf_lineendsequence(row, &is_end, &err), &err) || !is_end)
		return false;
	int rc = dwarf_prologue_end_etc(row, &is_prologue_end, &is_epilogue, &isa, &discriminator,
					&err);
	return !(is_ok(d, rc, &err) && is_epilogue);
}

static bool read_rows(struct unit_reader *r, Dwarf_Line_Context lines)
{
	struct dwarf *d = r->d;
	Dwarf_Error err = NULL;
	Dwarf_Line *all = NULL;
	Dwarf_Signed count = 0;
	if (!is_ok(d, dwarf_srclines_from_linecontext(lines, &all, &count, &err), &err))
		return true;
	for (Dwarf_Signed i = 0; i < count; i++) {
		Dwarf_Addr va = 0;
		Dwarf_Unsigned file = 0, line = 0;
		if (!is_ok(d, dwarf_lineaddr(all[i], &va, &err), &err))
			continue;
		is_ok(d, dwarf_line_srcfileno(all[i], &file, &err), &err);
		is_ok(d, dwarf_lineno(all[i], &line, &err), &err);
		if (!unit_add_row(r->u, va, file <= UINT32_MAX ? (uint32_t)file : 0,
				  line <= UINT32_MAX ? (uint32_t)line : 0,
				  is_end_of_sequence(d, all[i])))
			return false;
	}
	unit_seal_rows(r->u);
	return true;
}

/* The file that a function is declared in, by the unit's own numbers; 0 also if unknown. */
static uint32_t decl_file_of(struct dwarf *d, Dwarf_Die die)
{
	uint32_t file = die_number(d, die, DW_AT_decl_file);
	Dwarf_Die at = NULL, next = NULL;
	bool is_open = !file && next_origin(d, die, &at);
	for (unsigned steps = 0; is_open; steps++) {
		file = die_number(d, at, DW_AT_decl_file);
		is_open = !file && steps < LIMIT_ORIGIN_STEPS && next_origin(d, at, &next);
		dwarf_dealloc_die(at);
		at = next;
	}
	return file;
}

/*
 * A line program begins with file 1; the release of 2021 begins with file 0 if it is of
 * DWARF 5.  Rows before the first change of file are then in the wrong one.  GCC never uses
 * file 0, so all of them are wrong.  Clang does use it: there, the function at the
 * beginning of the sequence tells by where it was declared.
 */
static void mend_first_files(struct unit_reader *r, bool is_gcc)
{
	struct dw_unit *u = r->u;
	for (size_t i = 0; i < u->seq_count; i++) {
		const struct dw_seq *seq = &u->seqs[i];
		struct dw_row *rows = u->rows + seq->first_row;
		if (rows[0].file)
			continue;
		uint32_t func = segments_find(&u->where, seq->low_va);
		if (!is_gcc && (func == SYM_NONE || decl_file_of(r->d, u->funcs[func].die) != 1))
			continue;
		for (uint32_t k = 0; k < seq->row_count && !rows[k].file; k++)
			rows[k].file = 1;
	}
}

static void read_lines(struct unit_reader *r, Dwarf_Die unit_die)
{
	struct dwarf *d = r->d;
	Dwarf_Error err = NULL;
	Dwarf_Unsigned version = 0;
	Dwarf_Small table_count = 0;
	Dwarf_Line_Context lines = NULL;
	r->u->comp_dir = die_text(d, unit_die, DW_AT_comp_dir);
	if (!is_ok(d, dwarf_srclines_b(unit_die, &version, &table_count, &lines, &err), &err))
		return;
	r->has_memory = read_files(r, lines, version) && (table_count != 1 || read_rows(r, lines));
	dwarf_srclines_dealloc_b(lines);
	if (r->has_memory && version >= 5) {
		const char *producer = die_text(d, unit_die, DW_AT_producer);
		mend_first_files(r, producer && !strncmp(producer, "GNU ", 4));
	}
}

/* ---- units ---------------------------------------------------------------------------- */

static bool language_has_code_in_types(uint32_t language)
{
	return language == DW_LANG_Rust || language == DW_LANG_D || language == DW_LANG_Swift;
}

/* False: out of memory; the unit is then as if it were empty. */
static bool read_unit(struct dwarf *d, struct dw_unit *u)
{
	Dwarf_Die die = NULL;
	u->is_read = true;
	if (!open_die(d, u->die_off, &die))
		return true;
	struct unit_reader r = {.d = d, .u = u, .base = unit_base(d, die), .has_memory = true};
	u->has_code_in_types = language_has_code_in_types(die_number(d, die, DW_AT_language));
	u->version = r.base.version;
	u->low_va = r.base.low_va;
	read_funcs(&r, die, visit_shallow);
	if (r.has_memory)
		read_lines(&r, die);
	dwarf_dealloc_die(die);
	if (!r.has_memory)
		forget_unit(u);
	u->is_read = true;
	return r.has_memory;
}

/* Once more, for functions inside functions. */
static bool read_unit_deep(struct dwarf *d, struct dw_unit *u)
{
	Dwarf_Die die = NULL;
	u->is_deep = true;
	if (!open_die(d, u->die_off, &die))
		return true;
	struct unit_reader r = {.d = d, .u = u, .has_memory = true};
	r.base = (struct range_base){u->low_va, u->version};
	read_funcs(&r, die, visit_deep);
	dwarf_dealloc_die(die);
	return r.has_memory;
}

/* Forgets the units that were not used for longest until the rest fits. */
static void trim_cache(struct dwarf *d, struct dw_unit *used)
{
	size_t bytes = unit_bytes(used);
	d->cache_bytes = d->cache_bytes - used->counted_bytes + bytes;
	used->counted_bytes = bytes;
	used->last_use = ++d->clock;
	while (d->cache_bytes > SYM_UNIT_CACHE_BYTES) {
		struct dw_unit *oldest = NULL;
		for (size_t i = 0; i < d->unit_count; i++) {
			struct dw_unit *u = &d->units[i];
			if (u->counted_bytes && u != used &&
			    (!oldest || u->last_use < oldest->last_use))
				oldest = u;
		}
		if (!oldest)
			return;
		d->cache_bytes -= oldest->counted_bytes;
		forget_unit(oldest);
	}
}

/* ---- the index of units ------------------------------------------------------------------ */

static bool add_unit(struct dwarf *d, Dwarf_Die die, struct span_list *spans)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	Dwarf_Half tag = 0;
	if (!is_ok(d, dwarf_tag(die, &tag, &err), &err) ||
	    !is_ok(d, dwarf_dieoffset(die, &off, &err), &err))
		return true;
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return true;
	if (!vec_reserve((void **)&d->units, &d->unit_cap, d->unit_count + 1, sizeof *d->units))
		return false;
	uint32_t id = (uint32_t)d->unit_count++;
	d->units[id] = (struct dw_unit){.die_off = off};
	struct range_base base = unit_base(d, die);
	return add_die_ranges(d, die, &base, spans, id, &d->units[id].has_ranges);
}

/* Stops at the first damaged header: what comes after it cannot be found. */
static bool index_units(struct dwarf *d, struct span_list *spans)
{
	while (d->unit_count < LIMIT_UNITS) {
		Dwarf_Error err = NULL;
		Dwarf_Unsigned length, type_off, next;
		Dwarf_Half version, address_bytes, length_bytes, extension_bytes, type;
		Dwarf_Off abbrev_off;
		Dwarf_Sig8 signature;
		Dwarf_Die die = NULL;
		int rc = dwarf_next_cu_header_d(d->dbg, 1, &length, &version, &abbrev_off,
						&address_bytes, &length_bytes, &extension_bytes,
						&signature, &type_off, &next, &type, &err);
		if (!is_ok(d, rc, &err))
			return true;
		if (!is_ok(d, dwarf_siblingof_b(d->dbg, NULL, 1, &die, &err), &err))
			continue;
		bool has_memory = add_unit(d, die, spans);
		dwarf_dealloc_die(die);
		if (!has_memory)
			return false;
	}
	return true;
}

/* Units are in the order of their offsets. */
static uint32_t unit_at(const struct dwarf *d, uint64_t die_off)
{
	size_t low = 0, high = d->unit_count;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (d->units[mid].die_off < die_off)
			low = mid + 1;
		else
			high = mid;
	}
	return low < d->unit_count && d->units[low].die_off == die_off ? (uint32_t)low : SYM_NONE;
}

static bool add_arange(struct dwarf *d, Dwarf_Arange arange, struct span_list *spans,
		       bool *has_aranges)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned segment = 0, segment_bytes = 0, bytes = 0;
	Dwarf_Addr low = 0;
	Dwarf_Off off = 0;
	int rc =
		dwarf_get_arange_info_b(arange, &segment, &segment_bytes, &low, &bytes, &off, &err);
	if (!is_ok(d, rc, &err) || !bytes ||
	    !is_ok(d, dwarf_get_cu_die_offset(arange, &off, &err), &err))
		return true;
	uint32_t id = unit_at(d, off);
	if (id == SYM_NONE || d->units[id].has_ranges)
		return true;
	has_aranges[id] = true;
	return add_span(spans, low, low + bytes, id);
}

static bool add_aranges(struct dwarf *d, struct span_list *spans, bool *has_aranges)
{
	Dwarf_Error err = NULL;
	Dwarf_Arange *aranges = NULL;
	Dwarf_Signed count = 0;
	if (!is_ok(d, dwarf_get_aranges(d->dbg, &aranges, &count, &err), &err))
		return true;
	bool has_memory = true;
	for (Dwarf_Signed i = 0; i < count; i++) {
		has_memory = has_memory && add_arange(d, aranges[i], spans, has_aranges);
		dwarf_dealloc(d->dbg, aranges[i], DW_DLA_ARANGE);
	}
	dwarf_dealloc(d->dbg, aranges, DW_DLA_LIST);
	return has_memory;
}

/* The last resort: where its functions are. */
static bool add_functions_of(struct dwarf *d, uint32_t id, struct span_list *spans)
{
	struct dw_unit *u = &d->units[id];
	if (!read_unit(d, u))
		return false;
	for (size_t i = 0; i + 1 < u->where.count; i++)
		if (u->where.items[i].value != SYM_NONE &&
		    !spans_add(spans, u->where.items[i].low_va, u->where.items[i + 1].low_va, id))
			return false;
	trim_cache(d, u);
	return true;
}

static bool add_units_without_ranges(struct dwarf *d, struct span_list *spans)
{
	bool has_memory = true, is_needed = false;
	for (size_t i = 0; i < d->unit_count; i++)
		is_needed |= !d->units[i].has_ranges;
	if (!is_needed)
		return true;
	bool *has_aranges = mem_zarray(d->unit_count, sizeof *has_aranges);
	has_memory = has_aranges && add_aranges(d, spans, has_aranges);
	for (size_t i = 0; has_memory && i < d->unit_count; i++)
		if (!d->units[i].has_ranges && !has_aranges[i])
			has_memory = add_functions_of(d, (uint32_t)i, spans);
	mem_free(has_aranges);
	return has_memory;
}

static bool build_index(struct dwarf *d)
{
	struct span_list spans = {0};
	bool has_memory = index_units(d, &spans) && add_units_without_ranges(d, &spans) &&
			  spans_flatten(&spans, &d->where);
	mem_free(spans.items);
	return has_memory;
}

/* ---- opening -------------------------------------------------------------------------------- */

static void set_up_libdwarf(void)
{
	dwarf_set_de_alloc_flag(0);
}

static int init_libdwarf(int fd, Dwarf_Debug *dbg, Dwarf_Error *err)
{
#ifdef DWARF_INIT_PATH_12 /* up to 2021 there was one more argument, always 0 */
	return dwarf_init_b(fd, 0, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, err);
#else
	return dwarf_init_b(fd, DW_GROUPNUMBER_ANY, NULL, NULL, dbg, err);
#endif
}

enum neap_err dwarf_open_file(int fd, const char *path, struct dwarf **out, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, set_up_libdwarf);
	*out = NULL;
	struct dwarf *d = mem_zalloc(sizeof *d);
	if (!d)
		return err_nomem(e, "debug information");
	d->walk = mem_array(LIMIT_DIE_DEPTH + 1, sizeof *d->walk);
	Dwarf_Error err = NULL;
	int rc = d->walk ? init_libdwarf(fd, &d->dbg, &err) : DW_DLV_ERROR;
	enum neap_err result = NEAP_OK;
	if (!d->walk)
		result = err_nomem(e, "debug information");
	else if (rc == DW_DLV_NO_ENTRY)
		result = err_set(e, ERR_ABSENT, "'%s' has no debug information", path);
	else if (rc != DW_DLV_OK)
		result = err_corrupt(e, "cannot read the debug information of '%s': %s", path,
				     err ? dwarf_errmsg(err) : "out of memory");
	else if (!build_index(d))
		result = err_nomem(e, "an index of debug information");
	if (err)
		dwarf_dealloc_error(d->dbg, err);
	if (result) {
		dwarf_close_file(d);
		return result;
	}
	*out = d;
	return NEAP_OK;
}

void dwarf_close_file(struct dwarf *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->unit_count; i++)
		forget_unit(&d->units[i]);
	mem_free(d->units);
	segments_release(&d->where);
	strtab_release(&d->strings);
	map_release(&d->origins);
	mem_free(d->names);
	mem_free(d->walk);
	Dwarf_Error err = NULL;
	if (d->dbg && dwarf_finish(d->dbg, &err) == DW_DLV_ERROR && err)
		dwarf_dealloc_error(NULL, err);
	mem_free(d);
}

/* ---- names ------------------------------------------------------------------------------------ */

static const char *keep(struct dwarf *d, const char *s)
{
	if (!s)
		return NULL;
	size_t bytes = strnlen(s, LIMIT_NAME_BYTES);
	return strtab_get(&d->strings, strtab_add(&d->strings, s, bytes));
}

/* Index of a name in d->names + 1; 0: out of memory. */
static uint32_t add_name(struct dwarf *d, const char *linkage, const char *name)
{
	if (!vec_reserve((void **)&d->names, &d->name_cap, d->name_count + 1, sizeof *d->names))
		return 0;
	d->names[d->name_count++] = (struct func_name){keep(d, linkage), keep(d, name)};
	return (uint32_t)d->name_count;
}

static const char *linkage_of(struct dwarf *d, Dwarf_Die die)
{
	const char *linkage = die_text(d, die, DW_AT_linkage_name);
	return linkage ? linkage : die_text(d, die, DW_AT_MIPS_linkage_name);
}

/* The name that a chain of origins ends with, die being its first. */
static uint32_t name_of_origins(struct dwarf *d, Dwarf_Die die, const char *name)
{
	const char *linkage = NULL;
	Dwarf_Die at = die, next = NULL;
	for (unsigned steps = 0; steps < LIMIT_ORIGIN_STEPS; steps++) {
		linkage = linkage_of(d, at);
		if (!name)
			name = die_text(d, at, DW_AT_name);
		bool goes_on = !linkage && next_origin(d, at, &next);
		if (at != die)
			dwarf_dealloc_die(at);
		at = next;
		next = NULL;
		if (!goes_on)
			break;
	}
	if (at && at != die)
		dwarf_dealloc_die(at);
	return add_name(d, linkage, name);
}

/* Copies of one inlined function share its origin: that is looked up once. */
static const struct func_name *name_func(struct dwarf *d, struct dw_func *f)
{
	static const struct func_name nameless;
	Dwarf_Die origin = NULL;
	if (!f->name_idx) {
		const char *linkage = linkage_of(d, f->die),
			   *name = die_text(d, f->die, DW_AT_name);
		Dwarf_Off off = 0;
		Dwarf_Error err = NULL;
		if (linkage || !next_origin(d, f->die, &origin)) {
			f->name_idx = add_name(d, linkage, name);
		} else if (name || !is_ok(d, dwarf_dieoffset(origin, &off, &err), &err)) {
			f->name_idx = name_of_origins(d, origin, name);
		} else {
			uint32_t known = map_find(&d->origins, off);
			f->name_idx =
				known != MAP_ABSENT ? known : name_of_origins(d, origin, NULL);
			if (known == MAP_ABSENT && f->name_idx)
				map_put(&d->origins, off, f->name_idx); /* only a cache */
		}
		if (origin)
			dwarf_dealloc_die(origin);
	}
	return f->name_idx ? &d->names[f->name_idx - 1] : &nameless;
}

/* ---- looking up ------------------------------------------------------------------------------- */

/* The function at va that is not inlined. */
static uint32_t find_func(struct dwarf *d, struct dw_unit *u, uint64_t va)
{
	uint32_t id = segments_find(&u->where, va);
	if (id == SYM_NONE && !u->is_deep && read_unit_deep(d, u))
		id = segments_find(&u->where, va);
	return id;
}

/* The innermost inlined call at va. */
static uint32_t find_innermost(struct dwarf *d, struct dw_unit *u, uint64_t va)
{
	uint32_t id = find_func(d, u, va);
	for (uint32_t depth = 0; id != SYM_NONE && depth < LIMIT_INLINE_DEPTH; depth++) {
		if (!u->funcs[id].is_read && !read_inlined(d, u, id))
			return id;
		uint32_t inner = segments_find(&u->funcs[id].inner, va);
		if (inner == SYM_NONE)
			return id;
		id = inner;
	}
	return id;
}

static size_t find_in_unit(struct dwarf *d, struct dw_unit *u, uint64_t va, struct dwarf_frame *out,
			   size_t cap)
{
	const struct dw_row *row = unit_find_row(u, va);
	const char *file = row ? unit_file_path(u, row->file, &d->strings) : "";
	uint32_t line = row ? row->line : 0;
	size_t count = 0;
	uint32_t id = find_innermost(d, u, va);
	if (id == SYM_NONE) {
		out[0] = (struct dwarf_frame){.file = file, .line = line};
		return row ? 1 : 0;
	}
	/* outer ids are smaller: a function is added before what is in it, so this ends */
	for (; id != SYM_NONE; id = u->funcs[id].outer) {
		struct dw_func *f = &u->funcs[id];
		/* if they are too many, the last place is the outermost function's */
		if (count < cap - 1 || f->outer == SYM_NONE) {
			const struct func_name *name = name_func(d, f);
			out[count++] = (struct dwarf_frame){name->linkage, name->name, file, line};
		}
		file = unit_file_path(u, f->call_file, &d->strings);
		line = f->call_line;
	}
	return count;
}

size_t dwarf_find(struct dwarf *d, uint64_t va, struct dwarf_frame *out, size_t cap)
{
	uint32_t id = cap ? segments_find(&d->where, va) : SYM_NONE;
	if (id == SYM_NONE)
		return 0;
	struct dw_unit *u = &d->units[id];
	if (!u->is_read)
		read_unit(d, u);
	size_t count = find_in_unit(d, u, va, out, cap);
	trim_cache(d, u);
	return count;
}
