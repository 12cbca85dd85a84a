/*
 * libdwarf; no other file includes its header.  What it allocates is given back in the
 * function that got it, except DIEs, which are the caller's, and strings, which point
 * into its sections.  Its own bookkeeping of allocations, a search tree that costs more
 * than the parsing itself, is switched off; so nothing may be forgotten.
 *
 * Whatever cannot be read is as if it were not there.
 *
 * Left out: split DWARF (a skeleton unit still gives lines) and dwz files (a name that
 * is in one is missing; the symbol table stands in).
 */
#include "config.h"

#include "src/sym/dwarf.h"

#include <pthread.h>
#include <string.h>

#ifdef HAVE_LIBDWARF_LIBDWARF_H
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

#define LIMIT_RANGES (16u << 20) /* of one DIE */

/* A struct dw_die is libdwarf's DIE under another name. */
static Dwarf_Die raw(const struct dw_die *die)
{
	return (Dwarf_Die)(uintptr_t)die;
}

static struct dw_die *own(Dwarf_Die die)
{
	return (struct dw_die *)die;
}

struct dw {
	Dwarf_Debug dbg;
};

static bool is_ok(struct dw *d, int result, Dwarf_Error *err)
{
	if (result == DW_DLV_ERROR && *err)
		dwarf_dealloc_error(d->dbg, *err);
	*err = NULL;
	return result == DW_DLV_OK;
}

/* ---- attributes ------------------------------------------------------------------- */

static const char *die_text(struct dw *d, Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Error err = NULL;
	char *text = NULL;
	if (!is_ok(d, dwarf_die_text(die, attribute, &text, &err), &err))
		return NULL;
	return text && *text ? text : NULL;
}

static bool die_attr(struct dw *d, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Attribute *out)
{
	Dwarf_Error err = NULL;
	return is_ok(d, dwarf_attr(die, attribute, out, &err), &err);
}

static uint32_t die_number(struct dw *d, Dwarf_Die die, Dwarf_Half attribute)
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
static bool attr_offset(struct dw *d, Dwarf_Attribute attr, Dwarf_Unsigned *out)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	if (is_ok(d, dwarf_global_formref(attr, &off, &err), &err)) {
		*out = off;
		return true;
	}
	return is_ok(d, dwarf_formudata(attr, out, &err), &err);
}

/* ---- DIEs ------------------------------------------------------------------------- */

enum dw_kind dw_kind(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Half tag = 0;
	if (!is_ok(d, dwarf_tag(raw(die), &tag, &err), &err))
		return DW_OTHER;
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_skeleton_unit:
		return DW_UNIT;
	case DW_TAG_subprogram:
		return DW_FUNCTION;
	case DW_TAG_inlined_subroutine:
		return DW_INLINED;
	case DW_TAG_namespace:
	case DW_TAG_module:
		return DW_NAMESPACE;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return DW_BLOCK;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return DW_TYPE;
	default:
		return DW_OTHER;
	}
}

void dw_die_free(struct dw_die *die)
{
	if (die)
		dwarf_dealloc_die(raw(die));
}

struct dw_die *dw_die_at(struct dw *d, uint64_t off)
{
	Dwarf_Error err = NULL;
	Dwarf_Die die = NULL;
	return is_ok(d, dwarf_offdie_b(d->dbg, off, 1, &die, &err), &err) ? own(die) : NULL;
}

struct dw_die *dw_child(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Die child = NULL;
	return is_ok(d, dwarf_child(raw(die), &child, &err), &err) ? own(child) : NULL;
}

struct dw_die *dw_sibling(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Die next = NULL;
	return is_ok(d, dwarf_siblingof_b(d->dbg, raw(die), 1, &next, &err), &err) ? own(next)
										   : NULL;
}

struct dw_die *dw_origin(struct dw *d, const struct dw_die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	if (!die_attr(d, raw(die), DW_AT_abstract_origin, &attr) &&
	    !die_attr(d, raw(die), DW_AT_specification, &attr))
		return NULL;
	bool found = is_ok(d, dwarf_global_formref(attr, &off, &err), &err);
	dwarf_dealloc_attribute(attr);
	return found ? dw_die_at(d, off) : NULL;
}

uint64_t dw_die_off(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	return is_ok(d, dwarf_dieoffset(raw(die), &off, &err), &err) ? off : 0;
}

const char *dw_text(struct dw *d, const struct dw_die *die, enum dw_text what)
{
	switch (what) {
	case DW_COMP_DIR:
		return die_text(d, raw(die), DW_AT_comp_dir);
	case DW_PRODUCER:
		return die_text(d, raw(die), DW_AT_producer);
	case DW_NAME:
		return die_text(d, raw(die), DW_AT_name);
	case DW_LINKAGE_NAME:
		break;
	}
	const char *linkage = die_text(d, raw(die), DW_AT_linkage_name);
	return linkage ? linkage : die_text(d, raw(die), DW_AT_MIPS_linkage_name);
}

uint32_t dw_number(struct dw *d, const struct dw_die *die, enum dw_number what)
{
	static const Dwarf_Half attributes[] = {
		[DW_CALL_FILE] = DW_AT_call_file,
		[DW_CALL_LINE] = DW_AT_call_line,
		[DW_DECL_FILE] = DW_AT_decl_file,
	};
	return die_number(d, raw(die), attributes[what]);
}

bool dw_has_code_in_types(struct dw *d, const struct dw_die *unit)
{
	uint32_t language = die_number(d, raw(unit), DW_AT_language);
	return language == DW_LANG_Rust || language == DW_LANG_D || language == DW_LANG_Swift;
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

static bool add_ranges_v5(struct dw *d, Dwarf_Attribute attr, struct span_list *l, uint32_t value)
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

static bool add_ranges_v2(struct dw *d, Dwarf_Die die, Dwarf_Attribute attr, uint64_t base,
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
static bool die_low_high(struct dw *d, Dwarf_Die die, uint64_t *low, uint64_t *high)
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

bool dw_ranges(struct dw *d, const struct dw_die *die, struct dw_base base, struct span_list *l,
	       uint32_t value, bool *has_code_out)
{
	uint64_t low, high;
	size_t before = l->count;
	bool has_memory = true;
	Dwarf_Attribute attr;
	if (die_low_high(d, raw(die), &low, &high)) {
		has_memory = add_span(l, low, high, value);
	} else if (die_attr(d, raw(die), DW_AT_ranges, &attr)) {
		has_memory = base.version >= 5
				     ? add_ranges_v5(d, attr, l, value)
				     : add_ranges_v2(d, raw(die), attr, base.low_va, l, value);
		dwarf_dealloc_attribute(attr);
	}
	*has_code_out = l->count > before;
	return has_memory;
}

struct dw_base dw_unit_base(struct dw *d, const struct dw_die *unit)
{
	struct dw_base base = {0};
	Dwarf_Error err = NULL;
	Dwarf_Addr low = 0;
	Dwarf_Half offset_bytes = 0;
	if (is_ok(d, dwarf_lowpc(raw(unit), &low, &err), &err))
		base.low_va = low;
	if (dwarf_get_version_of_die(raw(unit), &base.version, &offset_bytes) != DW_DLV_OK)
		base.version = 2;
	return base;
}

/* ---- lines of a unit ---------------------------------------------------------------- */

/* DWARF 5 counts directories from 0; releases of libdwarf differ in how it is asked for. */
static Dwarf_Signed first_dir_index(struct dw *d, Dwarf_Line_Context lines, Dwarf_Unsigned version)
{
	Dwarf_Error err = NULL;
	const char *name = NULL;
	if (version < 5)
		return 1;
	return is_ok(d, dwarf_srclines_include_dir_data(lines, 0, &name, &err), &err) ? 0 : 1;
}

static const char *include_dir(struct dw *d, Dwarf_Line_Context lines, Dwarf_Unsigned version,
			       Dwarf_Signed first, Dwarf_Unsigned dir)
{
	Dwarf_Error err = NULL;
	const char *name = NULL;
	if (dir > INT32_MAX || (version < 5 && dir == 0))
		return NULL; /* the compilation directory */
	Dwarf_Signed i = (Dwarf_Signed)dir + (version < 5 ? 0 : first);
	return is_ok(d, dwarf_srclines_include_dir_data(lines, i, &name, &err), &err) ? name : NULL;
}

static bool read_files(struct dw *d, struct dw_unit *u, Dwarf_Line_Context lines,
		       Dwarf_Unsigned version)
{
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
static bool is_end_of_sequence(struct dw *d, Dwarf_Line row)
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

static bool read_rows(struct dw *d, struct dw_unit *u, Dwarf_Line_Context lines)
{
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
		if (!unit_add_row(u, va, file <= UINT32_MAX ? (uint32_t)file : 0,
				  line <= UINT32_MAX ? (uint32_t)line : 0,
				  is_end_of_sequence(d, all[i])))
			return false;
	}
	unit_seal_rows(u);
	return true;
}

bool dw_read_lines(struct dw *d, const struct dw_die *unit, struct dw_unit *u,
		   unsigned *version_out)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned version = 0;
	Dwarf_Small table_count = 0;
	Dwarf_Line_Context lines = NULL;
	*version_out = 0;
	if (!is_ok(d, dwarf_srclines_b(raw(unit), &version, &table_count, &lines, &err), &err))
		return true;
	bool has_memory =
		read_files(d, u, lines, version) && (table_count != 1 || read_rows(d, u, lines));
	dwarf_srclines_dealloc_b(lines);
	*version_out = (unsigned)version;
	return has_memory;
}

/* ---- units ------------------------------------------------------------------------ */

struct dw_die *dw_next_unit(struct dw *d)
{
	for (;;) {
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
			return NULL;
		if (is_ok(d, dwarf_siblingof_b(d->dbg, NULL, 1, &die, &err), &err))
			return own(die);
	}
}

static bool take_arange(struct dw *d, Dwarf_Arange arange, dw_arange_taker *take, void *context)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned segment = 0, segment_bytes = 0, bytes = 0;
	Dwarf_Addr low = 0;
	Dwarf_Off off = 0;
	int rc =
		dwarf_get_arange_info_b(arange, &segment, &segment_bytes, &low, &bytes, &off, &err);
	if (!is_ok(d, rc, &err) || !bytes || low <= 1 ||
	    !is_ok(d, dwarf_get_cu_die_offset(arange, &off, &err), &err))
		return true;
	return take(context, low, low + bytes, off);
}

bool dw_aranges(struct dw *d, dw_arange_taker *take, void *context)
{
	Dwarf_Error err = NULL;
	Dwarf_Arange *aranges = NULL;
	Dwarf_Signed count = 0;
	if (!is_ok(d, dwarf_get_aranges(d->dbg, &aranges, &count, &err), &err))
		return true;
	bool has_memory = true;
	for (Dwarf_Signed i = 0; i < count; i++) {
		has_memory = has_memory && take_arange(d, aranges[i], take, context);
		dwarf_dealloc(d->dbg, aranges[i], DW_DLA_ARANGE);
	}
	dwarf_dealloc(d->dbg, aranges, DW_DLA_LIST);
	return has_memory;
}

/* ---- opening ---------------------------------------------------------------------- */

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

enum neap_err dw_open(int fd, const char *path, struct dw **out, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, set_up_libdwarf);
	*out = NULL;
	struct dw *d = mem_zalloc(sizeof *d);
	if (!d)
		return err_nomem(e, "debug information");
	Dwarf_Error err = NULL;
	enum neap_err result = NEAP_OK;
	int rc = init_libdwarf(fd, &d->dbg, &err);
	if (rc == DW_DLV_NO_ENTRY)
		result = err_set(e, ERR_ABSENT, "'%s' has no debug information", path);
	else if (rc != DW_DLV_OK)
		result = err_corrupt(e, "cannot read the debug information of '%s': %s", path,
				     err ? dwarf_errmsg(err) : "out of memory");
	if (err)
		dwarf_dealloc_error(d->dbg, err);
	if (result) {
		dw_close(d);
		return result;
	}
	*out = d;
	return NEAP_OK;
}

void dw_close(struct dw *d)
{
	if (!d)
		return;
	Dwarf_Error err = NULL;
	if (d->dbg && dwarf_finish(d->dbg, &err) == DW_DLV_ERROR && err)
		dwarf_dealloc_error(NULL, err);
	mem_free(d);
}
