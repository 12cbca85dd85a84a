/*
 * Functions, inlined calls and lines of addresses, from DWARF.
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
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <string.h>

#include "src/base/limits.h"
#include "src/sym/dwarf.h"

#define LIMIT_DIE_DEPTH    (2 * LIMIT_INLINE_DEPTH) /* blocks and inlined functions alternate */
#define LIMIT_ORIGIN_STEPS 16u                      /* links from a function to its name */
#define LIMIT_UNITS        (64u << 20)

struct walk_step {
	struct dw_die *die;
	uint32_t func;       /* function or inlined call around it, or SYM_NONE */
	bool is_in_function; /* also if that one has no code of its own */
};

struct func_name {
	const char *linkage, *name; /* in strings; NULL: has none */
};

struct debuginfo {
	struct dw *dw;
	struct dw_unit *units;
	size_t unit_count, unit_cap;
	struct segments where;  /* address -> unit */
	struct strtab strings;  /* names and paths that were handed out */
	size_t cache_bytes;     /* of the units that are read */
	uint64_t clock;         /* counts uses of units */
	struct walk_step *walk; /* [LIMIT_DIE_DEPTH + 1] */
	struct map origins; /* offset of a DIE that others are named after -> index in names + 1 */
	struct func_name *names;
	size_t name_count, name_cap;
};

/* ---- walking ---------------------------------------------------------------------- */

struct unit_reader;
/*
 * Takes note of a DIE.  Returns whether to go on below it, where `below` is then what holds
 * for its children.  Sets at->die to NULL if it keeps the DIE.
 */
typedef bool visitor(struct unit_reader *r, struct walk_step *at, struct walk_step *below);

struct unit_reader {
	struct debuginfo *d;
	struct dw_unit *u;
	struct dw_base base;
	struct span_list spans; /* of the functions found by this walk */
	bool has_memory;
};

/* Depth first over everything below `root`, whose own state is `first`. */
static void walk(struct unit_reader *r, const struct dw_die *root, struct walk_step first,
		 visitor *visit)
{
	struct dw *dw = r->d->dw;
	struct walk_step *stack = r->d->walk;
	stack[0] = first;
	stack[0].die = dw_child(dw, root);
	size_t top = stack[0].die ? 1 : 0;
	while (top) {
		struct walk_step *at = &stack[top - 1], *below = at + 1;
		const struct dw_die *die = at->die;
		*below = *at;
		bool goes_below = r->has_memory && visit(r, at, below) && top < LIMIT_DIE_DEPTH;
		/* the visitor may have taken the DIE, but it is still there */
		below->die = goes_below ? dw_child(dw, die) : NULL;
		struct dw_die *next = r->has_memory ? dw_sibling(dw, die) : NULL;
		dw_die_free(at->die);
		at->die = next;
		if (!next)
			top--;
		if (!below->die)
			continue;
		if (!next) /* nothing to come back to: its place is free */
			stack[top] = *below;
		top++;
	}
}

/* ---- functions of a unit ------------------------------------------------------------ */

/* Appends a function or inlined call; takes the DIE if it returns an id. */
static uint32_t add_func(struct unit_reader *r, struct dw_die *die, uint32_t outer,
			 bool *has_code_out)
{
	struct dw_unit *u = r->u;
	uint32_t id = (uint32_t)u->func_count;
	*has_code_out = false;
	if (u->func_count >= LIMIT_IDS)
		return SYM_NONE;
	r->has_memory = dw_ranges(r->d->dw, die, r->base, &r->spans, id, has_code_out);
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
	struct dw_die *die = at->die;
	if (add_func(r, die, SYM_NONE, &has_code) != SYM_NONE)
		at->die = NULL;
	return has_code;
}

/* Functions at the level of the file and of namespaces. */
static bool visit_shallow(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	(void)below;
	switch (dw_kind(r->d->dw, at->die)) {
	case DW_FUNCTION:
		visit_function(r, at);
		return false;
	case DW_NAMESPACE:
		return true;
	default:
		return false;
	}
}

/* Also those inside other functions, and inside types that are local to a function. */
static bool visit_deep(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	switch (dw_kind(r->d->dw, at->die)) {
	case DW_FUNCTION:
		visit_function(r, at);
		below->is_in_function = true;
		return true; /* without code it may be the model of inlined copies */
	case DW_NAMESPACE:
	case DW_BLOCK:
		return true;
	case DW_TYPE:
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
	struct dw_die *die = at->die;
	switch (dw_kind(r->d->dw, die)) {
	case DW_INLINED:
		below->func = add_func(r, die, at->func, &has_code);
		if (below->func == SYM_NONE)
			return false;
		at->die = NULL;
		r->u->funcs[below->func].call_file = dw_number(r->d->dw, die, DW_CALL_FILE);
		r->u->funcs[below->func].call_line = dw_number(r->d->dw, die, DW_CALL_LINE);
		return !has_code;
	case DW_BLOCK:
		return true;
	default:
		return false;
	}
}

static void forget_funcs(struct dw_unit *u)
{
	for (size_t i = 0; i < u->func_count; i++) {
		dw_die_free(u->funcs[i].die);
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
static void read_funcs(struct unit_reader *r, const struct dw_die *unit, visitor *visit)
{
	forget_funcs(r->u);
	walk(r, unit, (struct walk_step){.func = SYM_NONE}, visit);
	if (r->has_memory)
		r->has_memory = spans_flatten(&r->spans, &r->u->where);
	mem_free(r->spans.items);
	r->spans = (struct span_list){0};
}

/* What is inlined into a function; false: out of memory. */
static bool read_inlined(struct debuginfo *d, struct dw_unit *u, uint32_t func)
{
	struct unit_reader r = {.d = d, .u = u, .has_memory = true};
	r.base = (struct dw_base){u->low_va, u->version};
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

/* The file that a function is declared in, by the unit's own numbers; 0 also if unknown. */
static uint32_t decl_file_of(struct debuginfo *d, const struct dw_die *die)
{
	uint32_t file = dw_number(d->dw, die, DW_DECL_FILE);
	struct dw_die *at = file ? NULL : dw_origin(d->dw, die);
	for (unsigned steps = 0; at; steps++) {
		file = dw_number(d->dw, at, DW_DECL_FILE);
		struct dw_die *next =
			!file && steps < LIMIT_ORIGIN_STEPS ? dw_origin(d->dw, at) : NULL;
		dw_die_free(at);
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

static void read_lines(struct unit_reader *r, const struct dw_die *unit)
{
	unsigned version;
	r->u->comp_dir = dw_text(r->d->dw, unit, DW_COMP_DIR);
	r->has_memory = dw_read_lines(r->d->dw, unit, r->u, &version);
	if (r->has_memory && version >= 5) {
		const char *producer = dw_text(r->d->dw, unit, DW_PRODUCER);
		mend_first_files(r, producer && !strncmp(producer, "GNU ", 4));
	}
}

/* ---- units -------------------------------------------------------------------------- */

/* False: out of memory; the unit is then as if it were empty. */
static bool read_unit(struct debuginfo *d, struct dw_unit *u)
{
	u->is_read = true;
	struct dw_die *die = dw_die_at(d->dw, u->die_off);
	if (!die)
		return true;
	struct unit_reader r = {
		.d = d, .u = u, .base = dw_unit_base(d->dw, die), .has_memory = true};
	u->has_code_in_types = dw_has_code_in_types(d->dw, die);
	u->version = r.base.version;
	u->low_va = r.base.low_va;
	read_funcs(&r, die, visit_shallow);
	if (r.has_memory)
		read_lines(&r, die);
	dw_die_free(die);
	if (!r.has_memory)
		forget_unit(u);
	u->is_read = true;
	return r.has_memory;
}

/* Once more, for functions inside functions. */
static bool read_unit_deep(struct debuginfo *d, struct dw_unit *u)
{
	u->is_deep = true;
	struct dw_die *die = dw_die_at(d->dw, u->die_off);
	if (!die)
		return true;
	struct unit_reader r = {.d = d, .u = u, .has_memory = true};
	r.base = (struct dw_base){u->low_va, u->version};
	read_funcs(&r, die, visit_deep);
	dw_die_free(die);
	return r.has_memory;
}

/* Forgets the units that were not used for longest until the rest fits. */
static void trim_cache(struct debuginfo *d, struct dw_unit *used)
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

/* ---- the index of units --------------------------------------------------------------- */

static bool add_unit(struct debuginfo *d, const struct dw_die *die, struct span_list *spans)
{
	if (dw_kind(d->dw, die) != DW_UNIT)
		return true;
	if (!vec_reserve((void **)&d->units, &d->unit_cap, d->unit_count + 1, sizeof *d->units))
		return false;
	uint32_t id = (uint32_t)d->unit_count++;
	d->units[id] = (struct dw_unit){.die_off = dw_die_off(d->dw, die)};
	return dw_ranges(d->dw, die, dw_unit_base(d->dw, die), spans, id, &d->units[id].has_ranges);
}

/* Stops at the first damaged header: what comes after it cannot be found. */
static bool index_units(struct debuginfo *d, struct span_list *spans)
{
	while (d->unit_count < LIMIT_UNITS) {
		struct dw_die *die = dw_next_unit(d->dw);
		if (!die)
			return true;
		bool has_memory = add_unit(d, die, spans);
		dw_die_free(die);
		if (!has_memory)
			return false;
	}
	return true;
}

/* Units are in the order of their offsets. */
static uint32_t unit_at(const struct debuginfo *d, uint64_t die_off)
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

struct arange_context {
	struct debuginfo *d;
	struct span_list *spans;
	bool *has_aranges; /* [unit_count] */
};

static bool take_arange(void *context, uint64_t low_va, uint64_t high_va, uint64_t unit_off)
{
	struct arange_context *c = context;
	uint32_t id = unit_at(c->d, unit_off);
	if (id == SYM_NONE || c->d->units[id].has_ranges)
		return true;
	c->has_aranges[id] = true;
	return spans_add(c->spans, low_va, high_va, id);
}

/* The last resort: where its functions are. */
static bool add_functions_of(struct debuginfo *d, uint32_t id, struct span_list *spans)
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

static bool add_units_without_ranges(struct debuginfo *d, struct span_list *spans)
{
	bool has_memory = true, is_needed = false;
	for (size_t i = 0; i < d->unit_count; i++)
		is_needed |= !d->units[i].has_ranges;
	if (!is_needed)
		return true;
	bool *has_aranges = mem_zarray(d->unit_count, sizeof *has_aranges);
	struct arange_context c = {d, spans, has_aranges};
	has_memory = has_aranges && dw_aranges(d->dw, take_arange, &c);
	for (size_t i = 0; has_memory && i < d->unit_count; i++)
		if (!d->units[i].has_ranges && !has_aranges[i])
			has_memory = add_functions_of(d, (uint32_t)i, spans);
	mem_free(has_aranges);
	return has_memory;
}

static bool build_index(struct debuginfo *d)
{
	struct span_list spans = {0};
	bool has_memory = index_units(d, &spans) && add_units_without_ranges(d, &spans) &&
			  spans_flatten(&spans, &d->where);
	mem_free(spans.items);
	return has_memory;
}

/* ---- opening ---------------------------------------------------------------------------- */

static enum neap_err open_all(struct debuginfo *d, int fd, const char *path, struct err *e)
{
	d->walk = mem_array(LIMIT_DIE_DEPTH + 1, sizeof *d->walk);
	if (!d->walk)
		return err_nomem(e, "debug information");
	enum neap_err rc = dw_open(fd, path, &d->dw, e);
	if (!rc && !build_index(d))
		rc = err_nomem(e, "an index of debug information");
	return rc;
}

enum neap_err debuginfo_open(int fd, const char *path, struct debuginfo **out, struct err *e)
{
	*out = NULL;
	struct debuginfo *d = mem_zalloc(sizeof *d);
	if (!d)
		return err_nomem(e, "debug information");
	enum neap_err rc = open_all(d, fd, path, e);
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
		forget_unit(&d->units[i]);
	mem_free(d->units);
	segments_release(&d->where);
	strtab_release(&d->strings);
	map_release(&d->origins);
	mem_free(d->names);
	mem_free(d->walk);
	dw_close(d->dw);
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

/* Index of a name in d->names + 1; 0: out of memory. */
static uint32_t add_name(struct debuginfo *d, const char *linkage, const char *name)
{
	if (!vec_reserve((void **)&d->names, &d->name_cap, d->name_count + 1, sizeof *d->names))
		return 0;
	d->names[d->name_count++] = (struct func_name){keep(d, linkage), keep(d, name)};
	return (uint32_t)d->name_count;
}

/* The name that a chain of origins ends with, die being its first. */
static uint32_t name_of_origins(struct debuginfo *d, struct dw_die *die, const char *name)
{
	const char *linkage = NULL;
	struct dw_die *at = die;
	for (unsigned steps = 0; at; steps++) {
		linkage = dw_text(d->dw, at, DW_LINKAGE_NAME);
		if (!name)
			name = dw_text(d->dw, at, DW_NAME);
		struct dw_die *next =
			!linkage && steps < LIMIT_ORIGIN_STEPS ? dw_origin(d->dw, at) : NULL;
		if (at != die)
			dw_die_free(at);
		at = next;
	}
	return add_name(d, linkage, name);
}

/* Copies of one inlined function share its origin: that is looked up once. */
static uint32_t find_name(struct debuginfo *d, const struct dw_die *die)
{
	const char *linkage = dw_text(d->dw, die, DW_LINKAGE_NAME);
	const char *name = dw_text(d->dw, die, DW_NAME);
	struct dw_die *origin = linkage ? NULL : dw_origin(d->dw, die);
	if (!origin)
		return add_name(d, linkage, name);
	uint64_t off = name ? 0 : dw_die_off(d->dw, origin); /* a name of its own: no copy */
	uint32_t idx = off ? map_find(&d->origins, off) : MAP_ABSENT;
	if (idx == MAP_ABSENT) {
		idx = name_of_origins(d, origin, name);
		if (off && idx)
			map_put(&d->origins, off, idx); /* only a cache: may fail */
	}
	dw_die_free(origin);
	return idx;
}

static const struct func_name *name_func(struct debuginfo *d, struct dw_func *f)
{
	static const struct func_name nameless;
	if (!f->name_idx)
		f->name_idx = find_name(d, f->die);
	return f->name_idx ? &d->names[f->name_idx - 1] : &nameless;
}

/* ---- looking up ------------------------------------------------------------------------------- */

/* The function at va that is not inlined. */
static uint32_t find_func(struct debuginfo *d, struct dw_unit *u, uint64_t va)
{
	uint32_t id = segments_find(&u->where, va);
	if (id == SYM_NONE && !u->is_deep && read_unit_deep(d, u))
		id = segments_find(&u->where, va);
	return id;
}

/* The innermost inlined call at va. */
static uint32_t find_innermost(struct debuginfo *d, struct dw_unit *u, uint64_t va)
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
			const struct func_name *name = name_func(d, f);
			out[count++] =
				(struct debuginfo_frame){name->linkage, name->name, file, line};
		}
		file = unit_file_path(u, f->call_file, &d->strings);
		line = f->call_line;
	}
	return count;
}

size_t debuginfo_find(struct debuginfo *d, uint64_t va, struct debuginfo_frame *out, size_t cap)
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
