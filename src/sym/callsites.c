/*
 * Who calls whom, from the call sites of debug information.
 *
 *   return address --calls--> call site --DW_AT_call_origin--> DIE of the function called
 *      1. that DIE has code: there it begins
 *      2. one function of the unit is its copy (the DIE is a model or a declaration): there
 *      3. several are: nobody knows which
 *      4. none is, and it is a global one: its name, for whoever knows the symbols
 */
#include "config.h"

#include <string.h>

#include "src/sym/debuginfo_priv.h"

/* ---- the function that a DIE stands for ----------------------------------------------- */

/* Everything that a function is named after, its model and that one's declaration. */
static bool note_origins(struct debuginfo *d, struct dw_unit *u, uint32_t func)
{
	(void)d;
	bool has_memory = true;
	struct dw *file;
	struct dw_die *at = dw_origin(u->file, u->funcs[func].die, &file);
	for (unsigned steps = 0; at && has_memory; steps++) {
		uint64_t key = debuginfo_key(file, at);
		bool is_first = map_find(&u->copies, key) == MAP_ABSENT;
		has_memory = map_put(&u->copies, key, is_first ? func : COPIES_MANY);
		struct dw *next_file = file;
		struct dw_die *next =
			steps < LIMIT_ORIGIN_STEPS ? dw_origin(file, at, &next_file) : NULL;
		dw_die_free(at);
		at = next;
		file = next_file;
	}
	dw_die_free(at);
	return has_memory;
}

static uint32_t find_copy(struct debuginfo *d, struct dw_unit *u, struct dw *file,
			  const struct dw_die *die)
{
	bool has_memory = true;
	for (size_t i = 0; !u->has_copies && has_memory && i < u->func_count; i++)
		if (u->funcs[i].outer == SYM_NONE)
			has_memory = note_origins(d, u, (uint32_t)i);
	u->has_copies = true;
	uint32_t copy = map_find(&u->copies, debuginfo_key(file, die));
	return has_memory ? copy : COPIES_MANY;
}

static struct dw_base base_of(const struct dw_unit *u)
{
	return (struct dw_base){u->low_va, u->version};
}

static bool has_external(struct dw *file, const struct dw_die *die)
{
	bool is_external = dw_is_external(file, die);
	struct dw *at_file;
	struct dw_die *at = is_external ? NULL : dw_origin(file, die, &at_file);
	for (unsigned steps = 0; at; steps++) {
		struct dw *next_file = at_file;
		struct dw_die *next = NULL;
		is_external = dw_is_external(at_file, at);
		if (!is_external && steps < LIMIT_ORIGIN_STEPS)
			next = dw_origin(at_file, at, &next_file);
		dw_die_free(at);
		at = next;
		at_file = next_file;
	}
	return is_external;
}

static const char *name_of(struct debuginfo *d, struct dw *file, const struct dw_die *die)
{
	const struct func_name *name = debuginfo_name(d, file, die);
	if (!name)
		return NULL;
	return name->linkage ? name->linkage : name->name;
}

/* Ranges of a DIE in another unit are relative to that one: only what says where it begins is taken. */
static bool resolve(struct debuginfo *d, struct dw_unit *u, const struct dw_die *call,
		    struct debuginfo_callee *out)
{
	struct dw *file;
	struct dw_die *target = dw_call_target(u->file, call, &file);
	*out = (struct debuginfo_callee){0};
	if (!target)
		return false;
	if (file == u->file && dw_entry(file, target, base_of(u), &out->entry_va)) {
		out->has_entry = true;
	} else {
		uint32_t copy = find_copy(d, u, file, target);
		if (copy < u->func_count)
			out->has_entry =
				dw_entry(u->file, u->funcs[copy].die, base_of(u), &out->entry_va);
		else if (copy == MAP_ABSENT && has_external(file, target))
			out->name = name_of(d, file, target);
	}
	dw_die_free(target);
	return out->has_entry || out->name;
}

/* ---- calls ---------------------------------------------------------------------------- */

static struct dw_die *call_at(struct dw_unit *u, uint64_t return_va)
{
	uint32_t idx = u && u->file ? map_find(&u->calls, return_va) : MAP_ABSENT;
	return idx == MAP_ABSENT ? NULL : dw_die_at(u->file, u->call_offs[idx]);
}

const char *debuginfo_callee_name(struct debuginfo *d, uint64_t return_va)
{
	struct dw_unit *u = debuginfo_unit(d, return_va - 1);
	struct dw_die *call = call_at(u, return_va);
	struct dw *file;
	struct dw_die *target = call ? dw_call_target(u->file, call, &file) : NULL;
	const char *name = target ? name_of(d, file, target) : NULL;
	dw_die_free(target);
	dw_die_free(call);
	return name;
}

bool debuginfo_callee(struct debuginfo *d, uint64_t return_va, struct debuginfo_callee *out)
{
	struct dw_unit *u = debuginfo_unit(d, return_va - 1);
	struct dw_die *call = call_at(u, return_va);
	bool is_known = call && resolve(d, u, call, out);
	dw_die_free(call);
	return is_known;
}

bool debuginfo_entry(struct debuginfo *d, uint64_t va, uint64_t *entry_va_out)
{
	struct dw_unit *u = debuginfo_unit(d, va);
	uint32_t func = u ? debuginfo_func(d, u, va) : SYM_NONE;
	return func != SYM_NONE && dw_entry(u->file, u->funcs[func].die, base_of(u), entry_va_out);
}

/* ---- tail calls ----------------------------------------------------------------------- */

struct collector {
	struct debuginfo *d;
	struct dw_unit *u;
	struct debuginfo_tail_calls *out;
};

static bool take_tail_call(void *context, const struct dw_die *call, uint64_t after_va)
{
	struct collector *c = context;
	struct debuginfo_tail_calls *out = c->out;
	struct debuginfo_tail_call tail = {.after_va = after_va};
	resolve(c->d, c->u, call, &tail.callee);
	if (!vec_reserve((void **)&out->items, &out->cap, out->count + 1, sizeof *out->items))
		return false;
	out->items[out->count++] = tail;
	return true;
}

static bool is_of_gcc(const struct dw_unit *u)
{
	struct dw_die *body = dw_die_at(u->file, u->body_off);
	const char *producer = body ? dw_text(u->file, body, DW_PRODUCER) : NULL;
	bool is_gcc = producer && !strncmp(producer, "GNU ", 4);
	dw_die_free(body);
	return is_gcc;
}

bool debuginfo_tail_calls(struct debuginfo *d, uint64_t entry_va, struct debuginfo_tail_calls *out)
{
	*out = (struct debuginfo_tail_calls){0};
	struct dw_unit *u = debuginfo_unit(d, entry_va);
	uint32_t func = u ? debuginfo_func(d, u, entry_va) : SYM_NONE;
	uint64_t begin_va;
	if (func == SYM_NONE || !dw_entry(u->file, u->funcs[func].die, base_of(u), &begin_va) ||
	    begin_va != entry_va || !dw_has_all_tail_calls(u->file, u->funcs[func].die))
		return false;
	struct collector c = {.d = d, .u = u, .out = out};
	out->has_library_calls = is_of_gcc(u);
	if (unit_tail_calls(d, u, func, take_tail_call, &c))
		return true;
	mem_free(out->items);
	*out = (struct debuginfo_tail_calls){0};
	return false;
}
