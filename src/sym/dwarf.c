/*
 * DIEs, their attributes and where their code is, by libdwarf; dwarf_file.c has the rest.
 * What libdwarf allocates is given back in the function that got it, except DIEs, which are
 * the caller's, and strings, which point into its sections.  Its own bookkeeping of
 * allocations, a search tree that costs more than the parsing itself, is switched off; so
 * nothing may be forgotten.
 *
 * Whatever cannot be read is as if it were not there.
 */
#include "config.h"

#include "src/sym/dwarf.h"

#include <string.h>

#include "src/sym/dwarf_priv.h"

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

bool dw_is_ok(struct dw *d, int result, struct Dwarf_Error_s **err)
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
	if (!dw_is_ok(d, dwarf_die_text(die, attribute, &text, &err), &err))
		return NULL;
	return text && *text ? text : NULL;
}

static bool die_attr(struct dw *d, Dwarf_Die die, Dwarf_Half attribute, Dwarf_Attribute *out)
{
	Dwarf_Error err = NULL;
	return dw_is_ok(d, dwarf_attr(die, attribute, out, &err), &err);
}

static uint32_t die_number(struct dw *d, Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Error err = NULL;
	Dwarf_Unsigned n = 0;
	Dwarf_Signed s = 0;
	if (!die_attr(d, die, attribute, &attr))
		return 0;
	if (!dw_is_ok(d, dwarf_formudata(attr, &n, &err), &err) &&
	    dw_is_ok(d, dwarf_formsdata(attr, &s, &err), &err))
		n = s > 0 ? (Dwarf_Unsigned)s : 0;
	dwarf_dealloc_attribute(attr);
	return n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* An offset in some section; old compilers give it as a plain number. */
static bool attr_offset(struct dw *d, Dwarf_Attribute attr, Dwarf_Unsigned *out)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	if (dw_is_ok(d, dwarf_global_formref(attr, &off, &err), &err)) {
		*out = off;
		return true;
	}
	return dw_is_ok(d, dwarf_formudata(attr, out, &err), &err);
}

/* ---- DIEs ------------------------------------------------------------------------- */

enum dw_kind dw_kind(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Half tag = 0;
	if (!dw_is_ok(d, dwarf_tag(raw(die), &tag, &err), &err))
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
	case DW_TAG_call_site:
	case DW_TAG_GNU_call_site:
		return DW_CALL;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return DW_TYPE;
	case DW_TAG_template_type_parameter:
		return DW_TYPE_PARAMETER;
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
	return dw_is_ok(d, dwarf_offdie_b(d->dbg, off, 1, &die, &err), &err) ? own(die) : NULL;
}

struct dw_die *dw_child(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Die child = NULL;
	return dw_is_ok(d, dwarf_child(raw(die), &child, &err), &err) ? own(child) : NULL;
}

struct dw_die *dw_sibling(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Die next = NULL;
	return dw_is_ok(d, dwarf_siblingof_b(d->dbg, raw(die), 1, &next, &err), &err) ? own(next)
										      : NULL;
}

/* References of DWARF 5 into the file that dwz made, which libdwarf knows but does not read. */
static bool read_sup_ref(struct dw *d, const struct dw_die *die, Dwarf_Attribute attr,
			 Dwarf_Half form, Dwarf_Off *out)
{
	Dwarf_Error err = NULL;
	Dwarf_Off at = 0;
	size_t bytes, width = form == DW_FORM_ref_sup4 ? 4 : 8;
	const uint8_t *units = dw_section(d, ".debug_info", &bytes);
	if (!units || !dw_is_ok(d, dwarf_attr_offset(raw(die), attr, &at, &err), &err) ||
	    at > bytes || bytes - at < width)
		return false;
	*out = 0;
	memcpy(out, units + at, width);
	return true;
}

/* The DIE that an attribute of die names, and the file it is in; takes the attribute. */
static struct dw_die *follow(struct dw *d, const struct dw_die *die, Dwarf_Attribute attr,
			     struct dw **file_out)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	Dwarf_Half form = 0;
	bool found = dw_is_ok(d, dwarf_whatform(attr, &form, &err), &err);
	bool is_sup = form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8;
	if (is_sup)
		found = found && read_sup_ref(d, die, attr, form, &off);
	else
		found = found && dw_is_ok(d, dwarf_global_formref(attr, &off, &err), &err);
	dwarf_dealloc_attribute(attr);
	*file_out = is_sup || form == DW_FORM_GNU_ref_alt ? d->options.helper : d;
	return found && *file_out ? dw_die_at(*file_out, off) : NULL;
}

struct dw_die *dw_origin(struct dw *d, const struct dw_die *die, struct dw **file_out)
{
	Dwarf_Attribute attr;
	*file_out = d;
	if (die_attr(d, raw(die), DW_AT_abstract_origin, &attr) ||
	    die_attr(d, raw(die), DW_AT_specification, &attr))
		return follow(d, die, attr, file_out);
	return NULL;
}

uint64_t dw_die_off(struct dw *d, const struct dw_die *die)
{
	Dwarf_Error err = NULL;
	Dwarf_Off off = 0;
	return dw_is_ok(d, dwarf_dieoffset(raw(die), &off, &err), &err) ? off : 0;
}

const char *dw_text(struct dw *d, const struct dw_die *die, enum dw_text what)
{
	switch (what) {
	case DW_COMP_DIR:
		return die_text(d, raw(die), DW_AT_comp_dir);
	case DW_PRODUCER:
		return die_text(d, raw(die), DW_AT_producer);
	case DW_SPLIT_NAME: {
		const char *name = die_text(d, raw(die), DW_AT_dwo_name);
		return name ? name : die_text(d, raw(die), DW_AT_GNU_dwo_name);
	}
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

/* ---- calls -------------------------------------------------------------------------- */

static bool die_flag(struct dw *d, Dwarf_Die die, Dwarf_Half attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Error err = NULL;
	Dwarf_Bool is_set = 0;
	if (!die_attr(d, die, attribute, &attr))
		return false;
	bool is_ok = dw_is_ok(d, dwarf_formflag(attr, &is_set, &err), &err);
	dwarf_dealloc_attribute(attr);
	return is_ok && is_set;
}

static bool die_address(struct dw *d, Dwarf_Die die, Dwarf_Half attribute, uint64_t *va_out)
{
	Dwarf_Attribute attr;
	Dwarf_Error err = NULL;
	Dwarf_Addr va = 0;
	if (!die_attr(d, die, attribute, &attr))
		return false;
	bool is_ok = dw_is_ok(d, dwarf_formaddr(attr, &va, &err), &err);
	dwarf_dealloc_attribute(attr);
	*va_out = va;
	return is_ok;
}

/* GCC says what follows a jump, Clang where it is; before DWARF 5 it was DW_AT_low_pc. */
struct dw_call dw_call(struct dw *d, const struct dw_die *die)
{
	struct dw_call call = {.is_tail = die_flag(d, raw(die), DW_AT_call_tail_call) ||
					  die_flag(d, raw(die), DW_AT_GNU_tail_call)};
	uint64_t va = 0;
	if (die_address(d, raw(die), DW_AT_call_return_pc, &va) ||
	    die_address(d, raw(die), DW_AT_low_pc, &va))
		call.after_va = va;
	else if (die_address(d, raw(die), DW_AT_call_pc, &va))
		call.after_va = va + 1;
	return call;
}

bool dw_has_all_tail_calls(struct dw *d, const struct dw_die *function)
{
	static const Dwarf_Half attributes[] = {DW_AT_call_all_calls, DW_AT_call_all_tail_calls,
						DW_AT_GNU_all_call_sites,
						DW_AT_GNU_all_tail_call_sites};
	for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
		if (die_flag(d, raw(function), attributes[i]))
			return true;
	return false;
}

bool dw_is_external(struct dw *d, const struct dw_die *die)
{
	return die_flag(d, raw(die), DW_AT_external);
}

struct dw_die *dw_call_target(struct dw *d, const struct dw_die *die, struct dw **file_out)
{
	Dwarf_Attribute attr;
	*file_out = d;
	if (die_attr(d, raw(die), DW_AT_call_origin, &attr) ||
	    die_attr(d, raw(die), DW_AT_abstract_origin, &attr))
		return follow(d, die, attr, file_out);
	return NULL;
}

bool dw_split_id(struct dw *d, const struct dw_die *unit, uint64_t *id_out)
{
	Dwarf_Error err = NULL;
	Dwarf_Half version, offset_bytes, address_bytes, extension_bytes;
	Dwarf_Bool is_info, is_dwo;
	Dwarf_Sig8 *id = NULL;
	Dwarf_Off length_off;
	Dwarf_Unsigned length;
	int rc = dwarf_cu_header_basics(raw(unit), &version, &is_info, &is_dwo, &offset_bytes,
					&address_bytes, &extension_bytes, &id, &length_off, &length,
					&err);
	*id_out = 0;
	if (!dw_is_ok(d, rc, &err) || !id)
		return false;
	memcpy(id_out, id->signature, sizeof *id_out);
	return true;
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
static bool add_span(const struct dw *d, struct span_list *l, uint64_t low, uint64_t high,
		     uint32_t value)
{
	if ((low <= 1 && !d->has_code_at_start) || low >= UINT64_MAX - 1)
		return true;
	return spans_add(l, low, high, value);
}

#define SECT_RNGLISTS 8 /* DW_SECT_RNGLISTS of an index of DWARF 5 */

/* Where the part of a section that belongs to a DIE's unit begins: not at 0 in a .dwp only. */
static uint64_t part_off(struct dw *d, Dwarf_Die die, unsigned section)
{
	Dwarf_Debug_Fission_Per_CU index;
	Dwarf_Error err = NULL;
	memset(&index, 0, sizeof index);
	if (!dw_is_ok(d, dwarf_get_debugfission_for_die(die, &index, &err), &err) ||
	    section >= DW_FISSION_SECT_COUNT)
		return 0;
	return index.pcu_offset[section];
}

/*
 * Where list number idx of a split unit is.  The unit has no DW_AT_rnglists_base, since there is
 * one table only, and then libdwarf 20210528 gives up.
 */
static bool split_list_off(struct dw *d, Dwarf_Die die, uint64_t idx, Dwarf_Unsigned *off_out)
{
	size_t bytes = 0;
	const uint8_t *lists = dw_section(d, ".debug_rnglists.dwo", &bytes);
	uint64_t table_off = part_off(d, die, SECT_RNGLISTS);
	if (!lists || table_off > bytes || bytes - table_off < 20)
		return false;
	uint32_t length, count;
	memcpy(&length, lists + table_off, sizeof length);
	size_t offset_bytes = length == UINT32_MAX ? 8 : 4, header_bytes = offset_bytes + 8u;
	if (offset_bytes == 8)
		header_bytes += 4;
	uint64_t array_off = table_off + header_bytes, off = 0;
	memcpy(&count, lists + array_off - sizeof count, sizeof count);
	if (idx >= count || idx >= (bytes - array_off) / offset_bytes)
		return false;
	memcpy(&off, lists + array_off + idx * offset_bytes, offset_bytes);
	*off_out = array_off + off;
	return off < bytes - array_off;
}

static bool add_ranges_v5(struct dw *d, Dwarf_Die die, Dwarf_Attribute attr, struct span_list *l,
			  uint32_t value)
{
	Dwarf_Error err = NULL;
	Dwarf_Half form = 0;
	Dwarf_Unsigned at = 0, count = 0, set_off = 0;
	Dwarf_Rnglists_Head head = NULL;
	if (!dw_is_ok(d, dwarf_whatform(attr, &form, &err), &err))
		return true;
	bool has_at = form == DW_FORM_rnglistx ? dw_is_ok(d, dwarf_formudata(attr, &at, &err), &err)
					       : attr_offset(d, attr, &at);
	if (has_at && form == DW_FORM_rnglistx && d->options.has_split) {
		has_at = split_list_off(d, die, at, &at);
		form = DW_FORM_sec_offset;
	}
	if (!has_at ||
	    !dw_is_ok(d, dwarf_rnglists_get_rle_head(attr, form, at, &head, &count, &set_off, &err),
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
		if (!dw_is_ok(d, rc, &err) || kind == DW_RLE_end_of_list)
			break;
		if (kind == DW_RLE_base_address || kind == DW_RLE_base_addressx || is_unavailable)
			continue;
		has_memory = add_span(d, l, low, high, value);
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
	    !dw_is_ok(d,
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
			has_memory =
				add_span(d, l, base + r->dwr_addr1, base + r->dwr_addr2, value);
	}
#ifdef DW_LIBDWARF_VERSION
	dwarf_dealloc_ranges(d->dbg, ranges, count);
#else
	dwarf_ranges_dealloc(d->dbg, ranges, count);
#endif
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
	if (!dw_is_ok(d, dwarf_lowpc(die, &from, &err), &err))
		return false;
	*low = from;
	if (!dw_is_ok(d, dwarf_highpc_b(die, &to, &form, &class, &err), &err))
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
		has_memory = add_span(d, l, low, high, value);
	} else if (die_attr(d, raw(die), DW_AT_ranges, &attr)) {
		has_memory = base.version >= 5
				     ? add_ranges_v5(d, raw(die), attr, l, value)
				     : add_ranges_v2(d, raw(die), attr, base.low_va, l, value);
		dwarf_dealloc_attribute(attr);
	}
	*has_code_out = l->count > before;
	return has_memory;
}

/* Of several pieces the first one has the entry. */
bool dw_entry(struct dw *d, const struct dw_die *function, struct dw_base base, uint64_t *va_out)
{
	struct span_list pieces = {0};
	bool has_code = false;
	dw_ranges(d, function, base, &pieces, 0, &has_code);
	*va_out = has_code ? pieces.items[0].low_va : 0;
	mem_free(pieces.items);
	return has_code;
}

bool dw_says_where(struct dw *d, const struct dw_die *unit)
{
	Dwarf_Error err = NULL;
	Dwarf_Bool has_high = 0, has_ranges = 0;
	return (dw_is_ok(d, dwarf_hasattr(raw(unit), DW_AT_high_pc, &has_high, &err), &err) &&
		has_high) ||
	       (dw_is_ok(d, dwarf_hasattr(raw(unit), DW_AT_ranges, &has_ranges, &err), &err) &&
		has_ranges);
}

struct dw_base dw_unit_base(struct dw *d, const struct dw_die *unit)
{
	struct dw_base base = {0};
	Dwarf_Error err = NULL;
	Dwarf_Addr low = 0;
	Dwarf_Half offset_bytes = 0;
	if (dw_is_ok(d, dwarf_lowpc(raw(unit), &low, &err), &err))
		base.low_va = low;
	if (dwarf_get_version_of_die(raw(unit), &base.version, &offset_bytes) != DW_DLV_OK)
		base.version = 2;
	return base;
}
