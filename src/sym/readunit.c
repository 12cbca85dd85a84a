/*
 * Reading one unit of debug information, no deeper than it is asked for.
 *
 * Reading a unit finds its functions by walking namespaces only; a function's inlined calls are
 * read when an address in it is looked up, theirs when it lies in one of them, and so on.
 * Functions inside functions (lambdas, as GCC writes them) are searched for when an address of
 * the unit is in none of the others.
 *
 * A skeleton unit says where its code and its lines are; its functions are in a .dwo file.
 */
#include "config.h"

#include <string.h>

#include "src/sym/debuginfo_priv.h"

/* ---- walking ---------------------------------------------------------------------- */

struct unit_reader;
/*
 * Takes note of a DIE.  Returns whether to go on below it, where `below` is then what holds
 * for its children.  Sets at->die to NULL if it keeps the DIE.
 */
typedef bool visitor(struct unit_reader *r, struct walk_step *at, struct walk_step *below);

struct unit_reader {
	struct debuginfo *d;
	struct dw *dw; /* the file that has the unit's functions */
	struct dw_unit *u;
	struct dw_base base;
	struct span_list spans; /* of the functions found by this walk */
	tail_taker *take_tail;
	void *taker;
	bool has_memory;
};

/* Depth first over everything below `root`, whose own state is `first`. */
static void walk(struct unit_reader *r, const struct dw_die *root, struct walk_step first,
		 visitor *visit)
{
	struct dw *dw = r->dw;
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
	r->has_memory = dw_ranges(r->dw, die, r->base, &r->spans, id, has_code_out);
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
	switch (dw_kind(r->dw, at->die)) {
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
	switch (dw_kind(r->dw, at->die)) {
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

/* Calls that return are found again by where they return to. */
static void note_call(struct unit_reader *r, const struct dw_die *die)
{
	struct dw_unit *u = r->u;
	struct dw_call call = dw_call(r->dw, die);
	if (call.is_tail || !call.after_va || u->call_count >= LIMIT_IDS)
		return;
	r->has_memory = vec_reserve((void **)&u->call_offs, &u->call_cap, u->call_count + 1,
				    sizeof *u->call_offs) &&
			map_put(&u->calls, call.after_va, (uint32_t)u->call_count);
	if (r->has_memory)
		u->call_offs[u->call_count++] = dw_die_off(r->dw, die);
}

/*
 * Calls inlined into a function.  One that has no code is kept and looked into: calls
 * inlined into it may have code (strict DWARF 2 cannot say that code is in several pieces,
 * and then says nothing, or one of them).
 */
static bool visit_inlined(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	bool has_code;
	struct dw_die *die = at->die;
	switch (dw_kind(r->dw, die)) {
	case DW_INLINED:
		below->func = add_func(r, die, at->func, &has_code);
		if (below->func == SYM_NONE)
			return false;
		at->die = NULL;
		r->u->funcs[below->func].call_file = dw_number(r->dw, die, DW_CALL_FILE);
		r->u->funcs[below->func].call_line = dw_number(r->dw, die, DW_CALL_LINE);
		return !has_code || r->base.version < 3;
	case DW_BLOCK:
		return true;
	case DW_CALL:
		note_call(r, die);
		return false;
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
	u->has_copies = false;
	map_clear(&u->copies);
	segments_release(&u->where);
}

void unit_forget(struct dw_unit *u)
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

static struct unit_reader reader_of(struct debuginfo *d, struct dw_unit *u)
{
	return (struct unit_reader){
		.d = d, .dw = u->file, .u = u, .base = {u->low_va, u->version}, .has_memory = true};
}

bool unit_read_inlined(struct debuginfo *d, struct dw_unit *u, uint32_t func)
{
	struct unit_reader r = reader_of(d, u);
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

/* The tail calls of a function, and of what is inlined into it. */
static bool visit_tail_calls(struct unit_reader *r, struct walk_step *at, struct walk_step *below)
{
	(void)below;
	switch (dw_kind(r->dw, at->die)) {
	case DW_CALL: {
		struct dw_call call = dw_call(r->dw, at->die);
		if (call.is_tail)
			r->has_memory = r->take_tail(r->taker, at->die, call.after_va);
		return false;
	}
	case DW_INLINED:
	case DW_BLOCK:
		return true;
	default:
		return false;
	}
}

bool unit_tail_calls(struct debuginfo *d, struct dw_unit *u, uint32_t func, tail_taker *take,
		     void *context)
{
	struct unit_reader r = reader_of(d, u);
	r.take_tail = take;
	r.taker = context;
	walk(&r, u->funcs[func].die, (struct walk_step){.func = func}, visit_tail_calls);
	return r.has_memory;
}

/* ---- lines of a unit ---------------------------------------------------------------- */

/* The file that a function is declared in, by the unit's own numbers; 0 also if unknown. */
static uint32_t decl_file_of(struct dw *file, const struct dw_die *die)
{
	uint32_t number = dw_number(file, die, DW_DECL_FILE);
	struct dw *at_file;
	struct dw_die *at = number ? NULL : dw_origin(file, die, &at_file);
	for (unsigned steps = 0; at; steps++) {
		struct dw *next_file = at_file;
		struct dw_die *next = NULL;
		number = dw_number(at_file, at, DW_DECL_FILE);
		if (!number && steps < LIMIT_ORIGIN_STEPS)
			next = dw_origin(at_file, at, &next_file);
		dw_die_free(at);
		at = next;
		at_file = next_file;
	}
	return number;
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
		if (!is_gcc && (func == SYM_NONE || decl_file_of(r->dw, u->funcs[func].die) != 1))
			continue;
		for (uint32_t k = 0; k < seq->row_count && !rows[k].file; k++)
			rows[k].file = 1;
	}
}

/* `unit` has the line table, `body` the functions. */
static void read_lines(struct unit_reader *r, const struct dw_die *unit, const struct dw_die *body)
{
	unsigned version;
	r->u->comp_dir = dw_text(r->d->dw, unit, DW_COMP_DIR);
	if (!r->u->comp_dir)
		r->u->comp_dir = dw_text(r->dw, body, DW_COMP_DIR);
	r->has_memory = dw_read_lines(r->d->dw, unit, r->u, &version);
	if (r->has_memory && version >= 5) {
		const char *producer = dw_text(r->dw, body, DW_PRODUCER);
		mend_first_files(r, producer && !strncmp(producer, "GNU ", 4));
	}
}

/* ---- units -------------------------------------------------------------------------- */

static void read_all(struct unit_reader *r, const struct dw_die *unit, const struct dw_die *body)
{
	struct dw_unit *u = r->u;
	u->file = r->dw;
	u->body_off = dw_die_off(r->dw, body);
	u->has_code_in_types = dw_has_code_in_types(r->dw, body);
	u->version = r->base.version;
	u->low_va = r->base.low_va;
	read_funcs(r, body, visit_shallow);
	if (r->has_memory)
		read_lines(r, unit, body);
}

bool unit_read(struct debuginfo *d, struct dw_unit *u)
{
	u->is_read = true;
	struct dw_die *unit = dw_die_at(d->dw, u->die_off);
	if (!unit)
		return true;
	struct unit_reader r = {
		.d = d, .dw = d->dw, .u = u, .base = dw_unit_base(d->dw, unit), .has_memory = true};
	struct dw *split_file;
	struct dw_die *split = split_find(d, unit, &split_file);
	if (split)
		r.dw = split_file;
	read_all(&r, unit, split ? split : unit);
	dw_die_free(split);
	dw_die_free(unit);
	if (!r.has_memory)
		unit_forget(u);
	u->is_read = true;
	return r.has_memory;
}

bool unit_read_deep(struct debuginfo *d, struct dw_unit *u)
{
	u->is_deep = true;
	struct dw_die *body = u->file ? dw_die_at(u->file, u->body_off) : NULL;
	if (!body)
		return true;
	struct unit_reader r = reader_of(d, u);
	read_funcs(&r, body, visit_deep);
	dw_die_free(body);
	return r.has_memory;
}

void unit_trim_cache(struct debuginfo *d, struct dw_unit *used)
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
		unit_forget(oldest);
	}
}
