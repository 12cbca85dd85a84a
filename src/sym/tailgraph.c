/*
 * The graph of tail calls, walked from the function that a call site names to the one whose
 * frame is next.
 *
 *   path: B --jump--> D --jump--> ...    one jump of each function on it, none twice
 *
 * All ways are tried.  The first one found is the chain, every other one cuts it down to what both
 * begin and end with; if that is nothing, nothing is proved.  A function is one place of one
 * module.  A name stands for a function only if no other module has one that could take its place.
 */
#include "config.h"

#include "src/sym/tail.h"

#include <string.h>

#include "src/sym/openmodule.h"
#include "src/sym/sym_priv.h"

#define LIMIT_PATH  64u   /* jumps between two frames */
#define LIMIT_TRIED 4096u /* jumps looked at for one pair */

struct place {
	mod_id module; /* the first one with this file */
	uint64_t entry_va;
};

enum target_kind {
	TARGET_UNKNOWN,
	TARGET_PLACE,
	TARGET_HOOK /* of the collector: it jumps to nobody's code */
};
struct target {
	enum target_kind kind;
	struct place place;
	const char *name; /* of a hook */
};

struct jump {
	struct target target;
	uint64_t after_va;
};
/* A function whose jumps were asked for. */
struct tail_func {
	struct place place;
	bool is_known, has_library_calls;
	struct jump *jumps; /* [jump_count] */
	size_t jump_count;
};

struct opened {
	struct sym_module *m; /* NULL: cannot be opened */
	bool is_tried;
};

struct step {
	uint32_t func;
	size_t next; /* jump to try; the one before is on the path */
};

struct explorer {
	const struct symbolise_request *req;
	struct symbolise_request local; /* without what a child process cannot use */
	mod_id *canon;                  /* [module_count + 1] */
	struct opened *opened;          /* [module_count + 1] */
	struct tail_func *funcs;
	size_t func_count, func_cap;
	struct map func_ids; /* hash of the place; only a cache */

	/* of the current pair */
	bool is_for_hook;
	struct place goal;
	enum profile_api api;
	struct step path[LIMIT_PATH];
	size_t depth, tried_count;
	struct tail_step chain[LIMIT_PATH];
	size_t chain_count, head_count, foot_count; /* of the chain, what is proved */
	bool has_chain, is_disproved;
	bool has_memory;
};

/* ---- modules -------------------------------------------------------------------------- */

static struct sym_module *module_of(struct explorer *x, mod_id id)
{
	struct opened *o = &x->opened[id];
	if (!o->is_tried) {
		int fd = x->req->module_fds ? x->req->module_fds[id - 1] : -1;
		o->is_tried = true;
		if (!profile_module_open(&x->local, &x->req->modules[id - 1], fd, &o->m, NULL) &&
		    sym_module_load_debuginfo(o->m, NULL))
			x->has_memory = false;
	}
	return o->m;
}

static bool is_same_file(const struct profile_module *a, const struct profile_module *b)
{
	return a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes) && !strcmp(a->path, b->path);
}

static mod_id find_canon(const struct symbolise_request *req, mod_id id)
{
	for (mod_id first = 1; first < id; first++)
		if (is_same_file(&req->modules[first - 1], &req->modules[id - 1]))
			return first;
	return id;
}

static bool explorer_init(struct explorer *x, const struct symbolise_request *req)
{
	*x = (struct explorer){.req = req, .local = *req, .has_memory = true};
	x->local.search.fetch = NULL;
	x->canon = mem_array(req->module_count + 1, sizeof *x->canon);
	x->opened = mem_zarray(req->module_count + 1, sizeof *x->opened);
	if (!x->canon || !x->opened)
		return false;
	for (mod_id id = 1; id <= req->module_count; id++)
		x->canon[id] = find_canon(req, id);
	return true;
}

static void explorer_release(struct explorer *x)
{
	for (size_t i = 0; i < x->func_count; i++)
		mem_free(x->funcs[i].jumps);
	for (mod_id id = 1; x->opened && id <= x->req->module_count; id++)
		sym_module_free(x->opened[id].m);
	mem_free(x->funcs);
	mem_free(x->opened);
	mem_free(x->canon);
	map_release(&x->func_ids);
}

/* ---- names ---------------------------------------------------------------------------- */

static bool starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool tail_is_api(const char *name, enum profile_api api)
{
	switch (api) {
	case API_UNKNOWN:
	case API_COUNT:
		return false;
	case API_NEW:
		return starts_with(name, "_Znw");
	case API_NEW_ARRAY:
		return starts_with(name, "_Zna");
	default:
		return !strcmp(name, profile_api_name(api));
	}
}

/* What the collector counts, unless the program itself has a function of that name. */
static bool is_hook(struct explorer *x, mod_id from, const char *name)
{
	bool is_one =
		!strcmp(name, "free") || starts_with(name, "_Zdl") || starts_with(name, "_Zda");
	for (unsigned api = API_MALLOC; !is_one && api < API_COUNT; api++)
		is_one = tail_is_api(name, (enum profile_api)api);
	uint64_t va;
	return is_one && sym_find_global(module_of(x, from), name, true, &va) == SYM_GLOBAL_ABSENT;
}

/* The one module of which others see a function of that name; 0: none, several, or nobody knows. */
static mod_id find_sharer(struct explorer *x, mod_id from, const char *name, uint64_t *va_out)
{
	mod_id found = 0;
	for (mod_id id = 1; id <= x->req->module_count; id++) {
		bool is_virtual = x->req->modules[id - 1].flags & MODULE_VDSO;
		if (id == from || x->canon[id] != id || is_virtual)
			continue;
		uint64_t va;
		struct sym_module *m = module_of(x, id);
		enum sym_global kind =
			m ? sym_find_global(m, name, false, &va) : SYM_GLOBAL_UNCLEAR;
		if (kind == SYM_GLOBAL_ABSENT)
			continue;
		if (kind == SYM_GLOBAL_UNCLEAR || found)
			return 0;
		found = id;
		*va_out = va;
	}
	return found;
}

static bool has_sharer(struct explorer *x, mod_id from, const char *name)
{
	uint64_t va;
	for (mod_id id = 1; id <= x->req->module_count; id++) {
		struct sym_module *m = id == from || x->canon[id] != id ? NULL : module_of(x, id);
		if (m && sym_find_global(m, name, false, &va) != SYM_GLOBAL_ABSENT)
			return true;
	}
	return false;
}

/* The program's own functions come first of all, and hidden ones are nobody else's. */
static struct target find_named(struct explorer *x, mod_id from, const char *name)
{
	struct target t = {.kind = TARGET_UNKNOWN, .name = name};
	if (is_hook(x, from, name)) {
		t.kind = TARGET_HOOK;
		return t;
	}
	uint64_t va;
	enum sym_global own = sym_find_global(module_of(x, from), name, true, &va);
	bool is_main = x->req->modules[from - 1].flags & MODULE_MAIN;
	mod_id module = from;
	if (own == SYM_GLOBAL_UNCLEAR)
		return t;
	if (own == SYM_GLOBAL_ABSENT)
		module = find_sharer(x, from, name, &va);
	else if (own == SYM_GLOBAL_SHARED && !is_main && has_sharer(x, from, name))
		return t;
	if (module)
		t = (struct target){TARGET_PLACE, {module, va}, NULL};
	return t;
}

static struct target target_of(struct explorer *x, mod_id module,
			       const struct debuginfo_callee *callee)
{
	if (callee->has_entry)
		return (struct target){TARGET_PLACE, {module, callee->entry_va}, NULL};
	if (callee->name)
		return find_named(x, module, callee->name);
	return (struct target){.kind = TARGET_UNKNOWN};
}

/* ---- functions ------------------------------------------------------------------------ */

static bool read_jumps(struct explorer *x, struct tail_func *f)
{
	struct sym_module *m = module_of(x, f->place.module);
	struct debuginfo_tail_calls calls = {0};
	if (!m || !sym_tail_calls(m, f->place.entry_va, &calls))
		return true;
	f->jumps = mem_array(calls.count, sizeof *f->jumps);
	for (size_t i = 0; f->jumps && i < calls.count; i++)
		f->jumps[i] = (struct jump){
			target_of(x, f->place.module, &calls.items[i].callee),
			calls.items[i].after_va,
		};
	f->jump_count = calls.count;
	f->has_library_calls = calls.has_library_calls;
	f->is_known = true;
	mem_free(calls.items);
	return f->jumps;
}

/* Index of the function at a place; SYM_NONE: out of memory. */
static uint32_t func_at(struct explorer *x, struct place place)
{
	uint64_t key = (uint64_t)place.module << 48 ^ place.entry_va;
	uint32_t id = map_find(&x->func_ids, key);
	if (id != MAP_ABSENT && x->funcs[id].place.module == place.module &&
	    x->funcs[id].place.entry_va == place.entry_va)
		return id;
	struct tail_func f = {.place = place};
	id = (uint32_t)x->func_count;
	if (!read_jumps(x, &f) ||
	    !vec_reserve((void **)&x->funcs, &x->func_cap, x->func_count + 1, sizeof *x->funcs) ||
	    !map_put(&x->func_ids, key, id)) {
		mem_free(f.jumps);
		x->has_memory = false;
		return SYM_NONE;
	}
	x->funcs[x->func_count++] = f;
	return id;
}

/* ---- ways ----------------------------------------------------------------------------- */

static bool is_goal(const struct explorer *x, const struct target *t)
{
	if (x->is_for_hook)
		return t->kind == TARGET_HOOK && tail_is_api(t->name, x->api);
	return t->kind == TARGET_PLACE && t->place.module == x->goal.module &&
	       t->place.entry_va == x->goal.entry_va;
}

static const struct jump *jump_of(const struct explorer *x, size_t depth)
{
	const struct step *s = &x->path[depth];
	return &x->funcs[s->func].jumps[s->next - 1];
}

static bool is_on_path(const struct explorer *x)
{
	const struct jump *last = jump_of(x, x->depth - 1);
	for (size_t i = 0; i + 1 < x->depth; i++)
		if (jump_of(x, i) == last)
			return true;
	return false;
}

static struct tail_step step_of(const struct explorer *x, size_t depth)
{
	return (struct tail_step){x->funcs[x->path[depth].func].place.module,
				  jump_of(x, depth)->after_va};
}

static bool is_same_step(struct tail_step a, struct tail_step b)
{
	return a.module == b.module && a.pc == b.pc;
}

/* The path leads to the goal. */
static void take_way(struct explorer *x)
{
	size_t least = x->chain_count < x->depth ? x->chain_count : x->depth, same;
	if (!x->has_chain) {
		for (size_t i = 0; i < x->depth; i++)
			x->chain[i] = step_of(x, i);
		x->has_chain = true;
		x->chain_count = x->head_count = x->foot_count = x->depth;
		return;
	}
	for (same = 0; same < least && is_same_step(x->chain[same], step_of(x, same));)
		same++;
	if (same < x->head_count)
		x->head_count = same;
	for (same = 0; same < least && is_same_step(x->chain[x->chain_count - 1 - same],
						    step_of(x, x->depth - 1 - same));)
		same++;
	if (same < x->foot_count)
		x->foot_count = same;
	x->is_disproved |= !x->head_count && !x->foot_count;
}

/* False: what it would do is unknown. */
static bool enter(struct explorer *x, struct place place)
{
	uint32_t id = x->depth < LIMIT_PATH ? func_at(x, place) : SYM_NONE;
	if (id == SYM_NONE || !x->funcs[id].is_known ||
	    (x->is_for_hook && !x->funcs[id].has_library_calls))
		return false;
	x->path[x->depth++] = (struct step){id, 0};
	return true;
}

static void try_jump(struct explorer *x)
{
	const struct target *t = &jump_of(x, x->depth - 1)->target;
	if (++x->tried_count > LIMIT_TRIED || t->kind == TARGET_UNKNOWN)
		x->is_disproved = true;
	else if (is_goal(x, t))
		take_way(x);
	else if (t->kind == TARGET_PLACE && !is_on_path(x))
		x->is_disproved = !enter(x, t->place);
}

static void explore(struct explorer *x, struct place start)
{
	x->is_disproved = !enter(x, start);
	while (x->depth && !x->is_disproved) {
		struct step *s = &x->path[x->depth - 1];
		if (s->next == x->funcs[s->func].jump_count) {
			x->depth--;
			continue;
		}
		s->next++;
		try_jump(x);
	}
}

/* ---- pairs ---------------------------------------------------------------------------- */

/* Where to go from and to.  False: one of them is unknown. */
static bool set_ends(struct explorer *x, const struct tail_pair *pair, struct target *start)
{
	const struct profile_frame *from = &x->req->frames[pair->caller - 1];
	mod_id module = x->canon[from->module];
	struct sym_module *m = module_of(x, module);
	struct debuginfo_callee callee;
	x->is_for_hook = !pair->callee;
	x->api = pair->api;
	x->depth = x->tried_count = 0;
	x->has_chain = x->is_disproved = false;
	x->chain_count = x->head_count = x->foot_count = 0;
	if (!m || !sym_callee(m, from->pc, &callee))
		return false;
	*start = target_of(x, module, &callee);
	if (x->is_for_hook)
		return true;
	const struct profile_frame *to = &x->req->frames[pair->callee - 1];
	x->goal.module = x->canon[to->module];
	m = module_of(x, x->goal.module);
	return m && sym_entry(m, to->pc - 1, &x->goal.entry_va);
}

static bool add_step(struct explorer *x, const struct tail_pair *pair, size_t i,
		     struct tail_chains *out, size_t *count)
{
	struct tail_step step = x->chain[i];
	const struct profile_frame *frames = x->req->frames;
	/* of a file that was loaded more than once, the one that is met here */
	if (step.module == x->canon[frames[pair->caller - 1].module])
		step.module = frames[pair->caller - 1].module;
	else if (pair->callee && step.module == x->canon[frames[pair->callee - 1].module])
		step.module = frames[pair->callee - 1].module;
	if (!vec_reserve((void **)&out->steps, &out->step_cap, *count + 1, sizeof *out->steps))
		return false;
	out->steps[(*count)++] = step;
	return true;
}

static bool prove(struct explorer *x, const struct tail_pair *pair, struct tail_chains *out)
{
	struct target start;
	size_t count = out->count ? out->first_step[out->count] : 0;
	if (set_ends(x, pair, &start) && start.kind == TARGET_PLACE && !is_goal(x, &start))
		explore(x, start.place);
	bool is_proved = x->has_chain && !x->is_disproved;
	for (size_t i = 0; x->has_memory && is_proved && i < x->chain_count; i++)
		if (i < x->head_count || i >= x->chain_count - x->foot_count)
			x->has_memory = add_step(x, pair, i, out, &count);
	if (!x->has_memory)
		return false;
	if (!is_proved)
		return true;
	if (!vec_reserve((void **)&out->pairs, &out->pair_cap, out->count + 1,
			 sizeof *out->pairs) ||
	    !vec_reserve((void **)&out->first_step, &out->first_cap, out->count + 2,
			 sizeof *out->first_step))
		return false;
	out->pairs[out->count++] = *pair;
	out->first_step[0] = 0;
	out->first_step[out->count] = (uint32_t)count;
	return true;
}

bool tail_prove(const struct symbolise_request *req, const struct tail_pair *pairs, size_t count,
		atomic_size_t *done, struct tail_chains *out)
{
	struct explorer *x = mem_alloc(sizeof *x);
	bool is_ok = x && explorer_init(x, req);
	for (size_t i = 0; is_ok && i < count; i++) {
		is_ok = prove(x, &pairs[i], out);
		atomic_store_explicit(done, i + 1, memory_order_relaxed); /* only a hint */
	}
	if (x)
		explorer_release(x);
	mem_free(x);
	return is_ok;
}

void tail_chains_release(struct tail_chains *c)
{
	mem_free(c->pairs);
	mem_free(c->first_step);
	mem_free(c->steps);
	*c = (struct tail_chains){0};
}

bool tails_of_chains(const struct tail_chains *c, struct profile_tails *out)
{
	size_t step_count = c->count ? c->first_step[c->count] : 0;
	struct map ids = {0};
	*out = (struct profile_tails){.count = c->count, .step_count = step_count};
	out->items = mem_array(c->count, sizeof *out->items);
	out->frames = mem_array(step_count, sizeof *out->frames);
	out->steps = mem_array(step_count, sizeof *out->steps);
	bool is_ok = out->items && out->frames && out->steps;
	for (size_t i = 0; is_ok && i < c->count; i++)
		out->items[i] = (struct profile_tail){
			.caller = c->pairs[i].caller,
			.callee = c->pairs[i].callee,
			.api = c->pairs[i].api,
			.first_step = c->first_step[i],
			.step_count = c->first_step[i + 1] - c->first_step[i],
		};
	for (size_t k = 0; is_ok && k < step_count; k++) {
		const struct tail_step *step = &c->steps[k];
		uint64_t key = (uint64_t)step->module << 48 ^ step->pc;
		uint32_t id = map_find(&ids, key);
		if (id == MAP_ABSENT || out->frames[id].module != step->module ||
		    out->frames[id].pc != step->pc) {
			id = (uint32_t)out->frame_count++;
			out->frames[id] =
				(struct profile_frame){.module = step->module, .pc = step->pc};
			is_ok = map_put(&ids, key, id);
		}
		out->steps[k] = id;
	}
	map_release(&ids);
	if (!is_ok)
		tails_release(out);
	return is_ok;
}
