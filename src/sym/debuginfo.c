/*
 * Functions, inlined calls and lines of addresses, from DWARF.
 *
 *   find   unit of the address (unitindex.c) -> read it now, once (readunit.c) -> its
 *          functions, rows and files
 *
 * Debug information is read no deeper than it is asked for.  Names are followed through
 * DW_AT_abstract_origin and DW_AT_specification when they are needed.
 */
#include "config.h"

#include <string.h>

#include "src/sym/debuginfo_priv.h"

/* ---- opening ---------------------------------------------------------------------------- */

/* What dwz moved away is missed if it cannot be read, but the rest is not. */
static enum neap_err open_all(struct debuginfo *d, const struct debuginfo_files *files,
			      struct err *e)
{
	struct dw_options options = {0};
	d->walk = mem_array(LIMIT_DIE_DEPTH + 1, sizeof *d->walk);
	d->file_path = mem_strdup(files->file->path);
	d->program_path = files->program_path ? mem_strdup(files->program_path) : NULL;
	if (!d->walk || !d->file_path || (files->program_path && !d->program_path))
		return err_nomem(e, "debug information");
	if (files->common &&
	    dw_open(files->common, &(struct dw_options){.serial = 1}, &d->common, e) == ERR_NOMEM)
		return ERR_NOMEM;
	options.helper = d->common;
	enum neap_err rc = dw_open(files->file, &options, &d->dw, e);
	if (!rc && !unitindex_open(d))
		rc = err_nomem(e, "an index of debug information");
	return rc;
}

enum neap_err debuginfo_open(const struct debuginfo_files *files, struct debuginfo **out,
			     struct err *e)
{
	*out = NULL;
	struct debuginfo *d = mem_zalloc(sizeof *d);
	if (!d)
		return err_nomem(e, "debug information");
	enum neap_err rc = open_all(d, files, e);
	if (rc) {
		debuginfo_free(d);
		return rc;
	}
	*out = d;
	return NEAP_OK;
}

void debuginfo_free(struct debuginfo *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->unit_count; i++)
		unit_forget(&d->units[i]);
	mem_free(d->units);
	map_release(&d->unit_ids);
	segments_release(&d->aranges);
	segments_release(&d->where);
	strtab_release(&d->strings);
	map_release(&d->origins);
	mem_free(d->names);
	mem_free(d->walk);
	mem_free(d->program_path);
	mem_free(d->file_path);
	split_free(d->split); /* refers to the other two */
	dw_close(d->dw);
	dw_close(d->common);
	mem_free(d);
}

/* ---- names ------------------------------------------------------------------------------------ */

static const char *keep(struct debuginfo *d, const char *s)
{
	if (!s)
		return NULL;
	size_t bytes = strnlen(s, LIMIT_NAME_BYTES);
	return strtab_get(&d->strings, strtab_add(&d->strings, s, bytes));
}

/* "T,A": what types a function of Rust depends on; NULL: its DIE does not say. */
static const char *keep_params(struct debuginfo *d, struct dw *file, const struct dw_die *die)
{
	struct buf params = {0};
	struct dw_die *at = dw_child(file, die);
	for (unsigned i = 0; at && i < LIMIT_PARAM_DIES; i++) {
		bool is_param = dw_kind(file, at) == DW_TYPE_PARAMETER;
		const char *name = is_param ? dw_text(file, at, DW_NAME) : NULL;
		if (is_param)
			buf_printf(&params, "%s%s", params.count_bytes ? "," : "",
				   name ? name : "?");
		struct dw_die *next = dw_sibling(file, at);
		dw_die_free(at);
		at = next;
	}
	dw_die_free(at);
	const char *kept = params.count_bytes && !params.has_failed ? keep(d, params.data) : NULL;
	buf_release(&params);
	return kept;
}

/* Index of a name in d->names + 1; 0: out of memory.  die: where the linkage name was found. */
static uint32_t add_name(struct debuginfo *d, const char *linkage, const char *name,
			 struct dw *file, const struct dw_die *die)
{
	if (!vec_reserve((void **)&d->names, &d->name_cap, d->name_count + 1, sizeof *d->names))
		return 0;
	struct func_name *n = &d->names[d->name_count++];
	*n = (struct func_name){.linkage = keep(d, linkage), .name = keep(d, name)};
	if (die && n->linkage && n->name && rust_is_legacy(n->linkage) && strchr(n->name, '<'))
		n->params = keep_params(d, file, die);
	return (uint32_t)d->name_count;
}

/* The name that a chain of origins ends with, die being its first. */
static uint32_t name_of_origins(struct debuginfo *d, struct dw *file, struct dw_die *die,
				const char *name)
{
	const char *linkage = NULL;
	struct dw_die *at = die;
	uint32_t idx = 0;
	for (unsigned steps = 0; at; steps++) {
		struct dw *next_file = file;
		struct dw_die *next = NULL;
		linkage = dw_text(file, at, DW_LINKAGE_NAME);
		if (!name)
			name = dw_text(file, at, DW_NAME);
		if (!linkage && steps < LIMIT_ORIGIN_STEPS)
			next = dw_origin(file, at, &next_file);
		if (!next)
			idx = add_name(d, linkage, name, file, at);
		if (at != die)
			dw_die_free(at);
		at = next;
		file = next_file;
	}
	return idx;
}

/* Copies of one inlined function share its origin: that is looked up once. */
static uint32_t find_name(struct debuginfo *d, struct dw *file, const struct dw_die *die)
{
	const char *linkage = dw_text(file, die, DW_LINKAGE_NAME);
	const char *name = dw_text(file, die, DW_NAME);
	struct dw *origin_file;
	struct dw_die *origin = linkage ? NULL : dw_origin(file, die, &origin_file);
	if (!origin)
		return add_name(d, linkage, name, file, die);
	uint64_t off = name ? 0 : dw_die_off(origin_file, origin); /* a name of its own: no copy */
	uint64_t key = (uint64_t)dw_serial(origin_file) << 44 ^ off;
	uint32_t idx = off ? map_find(&d->origins, key) : MAP_ABSENT;
	if (idx == MAP_ABSENT) {
		idx = name_of_origins(d, origin_file, origin, name);
		if (off && idx)
			map_put(&d->origins, key, idx); /* only a cache: may fail */
	}
	dw_die_free(origin);
	return idx;
}

const struct func_name *debuginfo_name(struct debuginfo *d, struct dw *file,
				       const struct dw_die *die)
{
	uint64_t key = debuginfo_key(file, die);
	uint32_t idx = map_find(&d->origins, key);
	if (idx == MAP_ABSENT) {
		idx = find_name(d, file, die);
		if (idx)
			map_put(&d->origins, key, idx); /* only a cache: may fail */
	}
	return idx ? &d->names[idx - 1] : NULL;
}

static const struct func_name *name_func(struct debuginfo *d, const struct dw_unit *u,
					 struct dw_func *f)
{
	static const struct func_name nameless;
	if (!f->name_idx)
		f->name_idx = find_name(d, u->file, f->die);
	return f->name_idx ? &d->names[f->name_idx - 1] : &nameless;
}

/* ---- looking up ------------------------------------------------------------------------------- */

uint32_t debuginfo_func(struct debuginfo *d, struct dw_unit *u, uint64_t va)
{
	uint32_t id = segments_find(&u->where, va);
	if (id == SYM_NONE && !u->is_deep && unit_read_deep(d, u))
		id = segments_find(&u->where, va);
	return id;
}

/* The innermost inlined call at va. */
static uint32_t find_innermost(struct debuginfo *d, struct dw_unit *u, uint64_t va)
{
	uint32_t id = debuginfo_func(d, u, va);
	for (uint32_t depth = 0; id != SYM_NONE && depth < LIMIT_INLINE_DEPTH; depth++) {
		if (!u->funcs[id].is_read && !unit_read_inlined(d, u, id))
			return id;
		uint32_t inner = segments_find(&u->funcs[id].inner, va);
		if (inner == SYM_NONE)
			return id;
		id = inner;
	}
	return id;
}

static size_t find_in_unit(struct debuginfo *d, struct dw_unit *u, uint64_t va,
			   struct debuginfo_frame *out, size_t cap)
{
	const struct dw_row *row = unit_find_row(u, va);
	const char *file = row ? unit_file_path(u, row->file, &d->strings) : "";
	uint32_t line = row ? row->line : 0;
	size_t count = 0;
	uint32_t id = find_innermost(d, u, va);
	if (id == SYM_NONE) {
		out[0] = (struct debuginfo_frame){.file = file, .line = line};
		return row ? 1 : 0;
	}
	/* outer ids are smaller: a function is added before what is in it, so this ends */
	for (; id != SYM_NONE; id = u->funcs[id].outer) {
		struct dw_func *f = &u->funcs[id];
		/* if they are too many, the last place is the outermost function's */
		if (count < cap - 1 || f->outer == SYM_NONE) {
			const struct func_name *name = name_func(d, u, f);
			out[count++] = (struct debuginfo_frame){name->linkage, name->name,
								name->params, file, line};
		}
		file = unit_file_path(u, f->call_file, &d->strings);
		line = f->call_line;
	}
	return count;
}

struct dw_unit *debuginfo_unit(struct debuginfo *d, uint64_t va)
{
	uint32_t id = unitindex_find(d, va);
	struct dw_unit *u = id == SYM_NONE ? NULL : &d->units[id];
	if (u && !u->is_read)
		unit_read(d, u);
	return u;
}

size_t debuginfo_find(struct debuginfo *d, uint64_t va, struct debuginfo_frame *out, size_t cap)
{
	struct dw_unit *u = cap ? debuginfo_unit(d, va) : NULL;
	if (!u)
		return 0;
	size_t count = find_in_unit(d, u, va, out, cap);
	unit_trim_cache(d, u);
	return count;
}
