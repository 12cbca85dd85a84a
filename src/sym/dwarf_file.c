/*
 * Files of debug information and the tables in them, by libdwarf: opening, units, address
 * ranges, lines.  libdwarf asks for sections, and gets them from image.c: so only what is
 * needed is inflated, with any compression, and no section that libdwarf does not know hurts it.
 *
 *   a file with skeletons  <-helper- .dwo, .dwp     addresses of split units
 *   a file that dwz made   <-helper- what used it   DIEs and strings that were moved
 */
#include "config.h"

#include <pthread.h>
#include <string.h>

#include "src/sym/dwarf_priv.h"

#ifdef HAVE_LIBDWARF_LIBDWARF_H
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#else
#include <dwarf.h>
#include <libdwarf.h>
#endif

/* A struct dw_die is libdwarf's DIE under another name. */
static Dwarf_Die raw(const struct dw_die *die)
{
	return (Dwarf_Die)(uintptr_t)die;
}

/* ---- sections ---------------------------------------------------------------------- */

/* From 0.3 on libdwarf has a version, and other names for the same things. */
#ifdef DW_LIBDWARF_VERSION
typedef Dwarf_Obj_Access_Interface_a object_access;
typedef Dwarf_Obj_Access_Methods_a object_methods;
typedef Dwarf_Obj_Access_Section_a object_section;
typedef Dwarf_Unsigned section_number;
typedef Dwarf_Small byte_order_code;
#define BYTE_ORDER_LSB DW_END_little
#define OBJECT(name)   om_##name
#define SECTION(name)  as_##name
#else
typedef Dwarf_Obj_Access_Interface object_access;
typedef Dwarf_Obj_Access_Methods object_methods;
typedef Dwarf_Obj_Access_Section object_section;
typedef Dwarf_Half section_number;
typedef Dwarf_Endianness byte_order_code;
#define BYTE_ORDER_LSB DW_OBJECT_LSB
#define OBJECT(name)   name
#define SECTION(name)  name
#endif

struct dw_object {
	object_access access;
	struct image *image;
};

/* Section 0 is nobody's in ELF, and libdwarf expects it so. */
static int section_info(void *object, section_number idx, object_section *out, int *error)
{
	const struct dw_object *o = object;
	(void)error;
	*out = (object_section){.SECTION(name) = "", .SECTION(type) = SHT_NULL};
	if (idx > image_count(o->image))
		return DW_DLV_NO_ENTRY;
	if (!idx)
		return DW_DLV_OK;
	size_t bytes;
	out->SECTION(name) = image_name(o->image, idx - 1u, &bytes);
	out->SECTION(size) = bytes;
	out->SECTION(type) = SHT_PROGBITS;
	return DW_DLV_OK;
}

static byte_order_code byte_order(void *object)
{
	(void)object;
	return BYTE_ORDER_LSB;
}

static Dwarf_Small word_bytes(void *object)
{
	(void)object;
	return 8;
}

static Dwarf_Unsigned section_count(void *object)
{
	const struct dw_object *o = object;
	return image_count(o->image) + 1;
}

#ifdef DW_LIBDWARF_VERSION
/* What sections that are not compressed are compared with: as large as they are, inflated. */
static Dwarf_Unsigned file_bytes(void *object)
{
	const struct dw_object *o = object;
	Dwarf_Unsigned all = 0;
	for (size_t i = 0; i < image_count(o->image); i++) {
		size_t bytes;
		image_name(o->image, i, &bytes);
		all += bytes;
	}
	return all;
}
#endif

static int load_section(void *object, section_number idx, Dwarf_Small **data_out, int *error)
{
	struct dw_object *o = object;
	if (!idx || idx > image_count(o->image))
		return DW_DLV_NO_ENTRY;
	/* libdwarf only reads it */
	*data_out = (Dwarf_Small *)(uintptr_t)image_data(o->image, idx - 1u);
	*error = DW_DLE_COMPRESSED_EMPTY_SECTION;
	return *data_out ? DW_DLV_OK : DW_DLV_ERROR;
}

static struct dw_object *object_open(const struct elf_file *f)
{
	static const object_methods methods = {
		.OBJECT(get_section_info) = section_info,
		.OBJECT(get_byte_order) = byte_order,
		.OBJECT(get_length_size) = word_bytes,
		.OBJECT(get_pointer_size) = word_bytes,
		.OBJECT(get_section_count) = section_count,
		.OBJECT(load_section) = load_section,
#ifdef DW_LIBDWARF_VERSION
		.om_get_filesize = file_bytes,
#endif
	};
	struct dw_object *o = mem_zalloc(sizeof *o);
	struct image *image = o ? image_open(f) : NULL;
	if (!image) {
		mem_free(o);
		return NULL;
	}
	*o = (struct dw_object){{o, &methods}, image};
	return o;
}

static void object_close(struct dw_object *o)
{
	if (o)
		image_free(o->image);
	mem_free(o);
}

const uint8_t *dw_section(const struct dw *d, const char *name, size_t *bytes_out)
{
	struct image *m = d->object->image;
	for (size_t i = 0; i < image_count(m); i++)
		if (!strcmp(image_name(m, i, bytes_out), name))
			return image_data(m, i);
	return NULL;
}

/* The bytes of all units; NULL: there are none. */
static const uint8_t *units_of(const struct dw *d, size_t *bytes_out)
{
	return dw_section(d, d->options.has_split ? ".debug_info.dwo" : ".debug_info", bytes_out);
}

/* ---- lines of a unit ---------------------------------------------------------------- */

/* DWARF 5 counts directories from 0; releases of libdwarf differ in how it is asked for. */
static Dwarf_Signed first_dir_index(struct dw *d, Dwarf_Line_Context lines, Dwarf_Unsigned version)
{
	Dwarf_Error err = NULL;
	const char *name = NULL;
	if (version < 5)
		return 1;
	return dw_is_ok(d, dwarf_srclines_include_dir_data(lines, 0, &name, &err), &err) ? 0 : 1;
}

static const char *include_dir(struct dw *d, Dwarf_Line_Context lines, Dwarf_Unsigned version,
			       Dwarf_Signed first, Dwarf_Unsigned dir)
{
	Dwarf_Error err = NULL;
	const char *name = NULL;
	if (dir > INT32_MAX || (version < 5 && dir == 0))
		return NULL; /* the compilation directory */
	Dwarf_Signed i = (Dwarf_Signed)dir + (version < 5 ? 0 : first);
	return dw_is_ok(d, dwarf_srclines_include_dir_data(lines, i, &name, &err), &err) ? name
											 : NULL;
}

static bool read_files(struct dw *d, struct dw_unit *u, Dwarf_Line_Context lines,
		       Dwarf_Unsigned version)
{
	Dwarf_Error err = NULL;
	Dwarf_Signed first = 0, count = 0, end = 0;
	if (!dw_is_ok(d, dwarf_srclines_files_indexes(lines, &first, &count, &end, &err), &err) ||
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
		if (!dw_is_ok(d, rc, &err))
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
	if (!dw_is_ok(d, dwarf_lineendsequence(row, &is_end, &err), &err) || !is_end)
		return false;
	int rc = dwarf_prologue_end_etc(row, &is_prologue_end, &is_epilogue, &isa, &discriminator,
					&err);
	return !(dw_is_ok(d, rc, &err) && is_epilogue);
}

static bool read_rows(struct dw *d, struct dw_unit *u, Dwarf_Line_Context lines)
{
	Dwarf_Error err = NULL;
	Dwarf_Line *all = NULL;
	Dwarf_Signed count = 0;
	if (!dw_is_ok(d, dwarf_srclines_from_linecontext(lines, &all, &count, &err), &err))
		return true;
	for (Dwarf_Signed i = 0; i < count; i++) {
		Dwarf_Addr va = 0;
		Dwarf_Unsigned file = 0, line = 0;
		if (!dw_is_ok(d, dwarf_lineaddr(all[i], &va, &err), &err))
			continue;
		dw_is_ok(d, dwarf_line_srcfileno(all[i], &file, &err), &err);
		dw_is_ok(d, dwarf_lineno(all[i], &line, &err), &err);
		if (!unit_add_row(u, va, file <= UINT32_MAX ? (uint32_t)file : 0,
				  line <= UINT32_MAX ? (uint32_t)line : 0,
				  is_end_of_sequence(d, all[i])))
			return false;
	}
	unit_seal_rows(u, d->has_code_at_start);
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
	if (!dw_is_ok(d, dwarf_srclines_b(raw(unit), &version, &table_count, &lines, &err), &err))
		return true;
	bool has_memory =
		read_files(d, u, lines, version) && (table_count != 1 || read_rows(d, u, lines));
	dwarf_srclines_dealloc_b(lines);
	*version_out = (unsigned)version;
	return has_memory;
}

/* ---- units ------------------------------------------------------------------------ */

static uint64_t number_at(const uint8_t *p, unsigned bytes)
{
	uint64_t n = 0;
	memcpy(&n, p, bytes);
	return n;
}

/*
 * The header of a unit: initial length, version, then in DWARF 5 the kind of the unit and the
 * size of addresses, else only that size; the offset of its abbreviations; some kinds have more.
 * False: it does not fit.
 */
static bool read_unit_header(const uint8_t *info, size_t bytes, uint64_t off, uint64_t *die_off_out,
			     uint64_t *next_off_out)
{
	enum {
		MOST_HEADER_BYTES = 12 + 2 + 2 + 8 + 8 + 8
	};
	if (off > bytes || bytes - off < MOST_HEADER_BYTES)
		return false;
	const uint8_t *p = info + off;
	unsigned offset_bytes = number_at(p, 4) == 0xffffffff ? 8 : 4;
	unsigned length_bytes = offset_bytes == 8 ? 12 : 4;
	uint64_t length = number_at(p + length_bytes - offset_bytes, offset_bytes);
	if (length > bytes - off - length_bytes)
		return false;
	unsigned header_bytes = length_bytes + 2 + 1 + offset_bytes;
	if (number_at(p + length_bytes, 2) >= 5) {
		unsigned kind = p[length_bytes + 2];
		header_bytes++;
		if (kind == DW_UT_skeleton || kind == DW_UT_split_compile)
			header_bytes += 8;
		else if (kind == DW_UT_type || kind == DW_UT_split_type)
			header_bytes += 8 + offset_bytes;
	}
	*die_off_out = off + header_bytes;
	*next_off_out = off + length_bytes + length;
	return true;
}

bool dw_next_unit(struct dw *d, struct dw_die **die_out)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned length, type_off, next;
	Dwarf_Half version, address_bytes, length_bytes, extension_bytes, type;
	Dwarf_Off abbrev_off;
	Dwarf_Sig8 signature;
	Dwarf_Die die = NULL;
	*die_out = NULL;
	int rc = dwarf_next_cu_header_d(d->dbg, 1, &length, &version, &abbrev_off, &address_bytes,
					&length_bytes, &extension_bytes, &signature, &type_off,
					&next, &type, &err);
	if (!dw_is_ok(d, rc, &err))
		return false;
	if (dw_is_ok(d, dwarf_siblingof_b(d->dbg, NULL, 1, &die, &err), &err))
		*die_out = (struct dw_die *)die;
	return true;
}

bool dw_unit_offs(struct dw *d, uint64_t **offs_out, size_t *count_out)
{
	size_t bytes = 0, cap = 0;
	const uint8_t *info = units_of(d, &bytes);
	*offs_out = NULL;
	*count_out = 0;
	uint64_t off = 0, die_off;
	while (info && read_unit_header(info, bytes, off, &die_off, &off)) {
		if (!vec_reserve((void **)offs_out, &cap, *count_out + 1, sizeof **offs_out)) {
			mem_free(*offs_out);
			*offs_out = NULL;
			*count_out = 0;
			return false;
		}
		(*offs_out)[(*count_out)++] = die_off;
	}
	return true;
}

static bool take_arange(struct dw *d, Dwarf_Arange arange, dw_arange_taker *take, void *context)
{
	Dwarf_Error err = NULL;
	Dwarf_Unsigned segment = 0, segment_bytes = 0, bytes = 0;
	Dwarf_Addr low = 0;
	Dwarf_Off off = 0;
	size_t info_bytes = 0;
	uint64_t die_off, next_off;
	const uint8_t *info = units_of(d, &info_bytes);
	int rc =
		dwarf_get_arange_info_b(arange, &segment, &segment_bytes, &low, &bytes, NULL, &err);
	if (!dw_is_ok(d, rc, &err) || !bytes ||
	    !dw_is_ok(d, dwarf_get_arange_cu_header_offset(arange, &off, &err), &err) ||
	    (low <= 1 && !d->has_code_at_start) || bytes > UINT64_MAX - low || !info ||
	    !read_unit_header(info, info_bytes, off, &die_off, &next_off))
		return true;
	return take(context, low, low + bytes, die_off);
}

bool dw_aranges(struct dw *d, dw_arange_taker *take, void *context)
{
	Dwarf_Error err = NULL;
	Dwarf_Arange *aranges = NULL;
	Dwarf_Signed count = 0;
	if (!dw_is_ok(d, dwarf_get_aranges(d->dbg, &aranges, &count, &err), &err))
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

static bool has_code_at_start(const struct elf_file *f)
{
	for (size_t i = 1; i < f->section_count; i++) {
		const Elf64_Shdr *s = &f->sections[i];
		if (s->sh_flags & SHF_EXECINSTR && s->sh_addr <= 1 && s->sh_size > 1 &&
		    f->header.e_type != ET_REL)
			return true;
	}
	return false;
}

static enum neap_err open_file(struct dw *d, const struct elf_file *f, struct err *e)
{
	Dwarf_Error err = NULL;
	struct dw *helper = d->options.helper;
	d->object = object_open(f);
	if (!d->object)
		return err_nomem(e, "debug information");
	unsigned group = d->options.has_split ? DW_GROUPNUMBER_DWO : DW_GROUPNUMBER_BASE;
	int rc = dwarf_object_init_b(&d->object->access, NULL, NULL, group, &d->dbg, &err);
	if (rc == DW_DLV_OK && helper)
		rc = dwarf_set_tied_dbg(d->dbg, helper->dbg, &err);
	enum neap_err result = NEAP_OK;
	if (rc == DW_DLV_NO_ENTRY)
		result = err_set(e, ERR_ABSENT, "'%s' has no debug information", f->path);
	else if (rc != DW_DLV_OK)
		result = err_corrupt(e, "cannot read the debug information of '%s': %s", f->path,
				     err ? dwarf_errmsg(err) : "out of memory");
	if (err)
		dwarf_dealloc_error(d->dbg, err);
	return result;
}

enum neap_err dw_open(const struct elf_file *f, const struct dw_options *options, struct dw **out,
		      struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, set_up_libdwarf);
	*out = NULL;
	struct dw *d = mem_zalloc(sizeof *d);
	if (!d)
		return err_nomem(e, "debug information");
	d->options = *options;
	d->has_code_at_start = has_code_at_start(f);
	enum neap_err rc = open_file(d, f, e);
	if (rc) {
		dw_close(d);
		return rc;
	}
	*out = d;
	return NEAP_OK;
}

uint32_t dw_serial(const struct dw *d)
{
	return d->options.serial;
}

void dw_close(struct dw *d)
{
	if (!d)
		return;
#ifdef DW_LIBDWARF_VERSION
	if (d->dbg)
		dwarf_object_finish(d->dbg);
#else
	Dwarf_Error err = NULL;
	if (d->dbg && dwarf_object_finish(d->dbg, &err) == DW_DLV_ERROR && err)
		dwarf_dealloc_error(NULL, err);
#endif
	object_close(d->object);
	mem_free(d);
}
