/*
 * Groups of frames, and what groups are called.
 *
 * A frame's value of a key is a pair of numbers.  In one file they are ids of the index, which
 * are equal for equal names; between two files names are made equal by a table of texts:
 * functions by name, files by path, modules by the last part of theirs.  Frames with equal
 * values of all keys are one group.
 */
#include "config.h"

#include "query/exec.h"

#include "query/names.h"

#include <inttypes.h>
#include <string.h>

struct key_id {
	uint64_t a, b;
};
#define UNKNOWN UINT64_MAX

static bool intern(struct exec *x, const char *s, size_t bytes, struct key_id *out)
{
	uint32_t id = strtab_add(&x->names, s, bytes);
	out->a = (uint64_t)id + 1; /* 0: unknown */
	return id != UINT32_MAX;
}

/* Names of different kinds may be equal: their ids then are too, which matters to nobody. */
static bool function_id(struct exec *x, struct query_file *f, const struct graph_frame *frame,
			struct key_id *out)
{
	if (x->pl->is_two_files) {
		const char *name = file_entry_name(f, frame->entry);
		return name && intern(x, name, strlen(name), out);
	}
	out->a = (uint64_t)frame->kind << 32 | (frame->func ? frame->func : frame->module);
	out->b = frame->kind == FRAME_ADDRESS ? frame->pc : 0;
	return true;
}

static bool path_id(struct exec *x, const char *path, uint32_t id, struct key_id *out)
{
	if (path && x->pl->is_two_files)
		return intern(x, path, strlen(path), out);
	out->a = id;
	return true;
}

static bool class_id(struct exec *x, struct query_file *f, const struct graph_frame *frame,
		     struct key_id *out)
{
	const char *name = file_entry_name(f, frame->entry);
	if (!name)
		return false;
	struct part part = {0, strlen(name)};
	if (frame->kind == FRAME_NAMED)
		part = name_class(name);
	return intern(x, name + part.start, part.end - part.start, out);
}

static uint64_t slice(const struct plan_key *k, uint64_t value)
{
	if (k->bucket_kind != BUCKET_EVEN || k->bucket <= 0)
		return value;
	return value - value % (uint64_t)k->bucket;
}

static bool frame_key_id(struct exec *x, struct query_file *f, const struct plan_key *k,
			 const struct graph_frame *frame, struct key_id *out)
{
	*out = (struct key_id){0, 0};
	if (k->kind == KEY_CLASS)
		return class_id(x, f, frame, out);
	switch (k->field) {
	case FIELD_FUNC:
		return function_id(x, f, frame, out);
	case FIELD_FILE:
		return path_id(x, frame->file_path, frame->file, out);
	case FIELD_MODULE: {
		const char *path = frame->module_path;
		return path_id(x, path && x->pl->is_two_files ? path_last(path) : path,
			       frame->module, out);
	}
	case FIELD_LINE:
		if (!frame->line) {
			out->a = UNKNOWN;
			return true;
		}
		out->b = slice(k, frame->line);
		return path_id(x, frame->file_path, frame->file, out);
	case FIELD_ADDR:
		if (!frame->frame) {
			out->a = UNKNOWN;
			return true;
		}
		out->b = slice(k, frame->pc);
		return path_id(x, frame->module_path, frame->module, out);
	default:
		return true;
	}
}

/* ---- grouping entries ----------------------------------------------------------------- */

struct grouping {
	struct exec *x;
	const struct plan_key *keys;
	size_t key_count;
	struct strtab ids;
	struct frame_groups *out;
	size_t cap;
};

/* The frame keys of one entry as bytes. */
static bool entry_tuple(struct grouping *gr, struct query_file *f, entry_id entry,
			struct key_id *tuple)
{
	struct graph_frame frame = graph_entry(f->g, entry);
	for (size_t k = 0; k < gr->key_count; k++) {
		tuple[k] = (struct key_id){0, 0};
		if (gr->keys[k].is_frame &&
		    !frame_key_id(gr->x, f, &gr->keys[k], &frame, &tuple[k]))
			return false;
	}
	return true;
}

static bool group_entries(struct grouping *gr, uint8_t side, uint32_t *group_of)
{
	struct query_file *f = gr->x->pl->sides[side].file;
	struct frame_groups *out = gr->out;
	size_t tuple_bytes = gr->key_count * sizeof(struct key_id);
	struct key_id *tuple = mem_array(gr->key_count, sizeof *tuple);
	bool is_good = tuple;
	for (entry_id i = 0; is_good && i < f->columns.entry_count; i++) {
		is_good = entry_tuple(gr, f, i, tuple);
		if (!is_good)
			break;
		uint32_t group = strtab_add(&gr->ids, (const char *)tuple, tuple_bytes);
		is_good = group != UINT32_MAX && vec_reserve((void **)&out->groups, &gr->cap,
							     out->count + 1, sizeof *out->groups);
		if (is_good && group == out->count)
			out->groups[out->count++] = (struct group){.side = side, .entry = i};
		group_of[i] = group;
	}
	mem_free(tuple);
	return is_good;
}

/* ---- kept groups ------------------------------------------------------------------------- */

static bool is_same_key(const struct plan_key *a, const struct plan_key *b)
{
	return a->kind == b->kind && a->field == b->field && a->bucket_kind == b->bucket_kind &&
	       a->bucket == b->bucket && a->is_frame == b->is_frame;
}

static struct granule *find_granule(struct query_file *f, const struct plan_key *keys, size_t count)
{
	for (size_t i = 0; i < GRANULES_KEPT; i++) {
		struct granule *gr = f->granules[i];
		bool is_same = gr && gr->key_count == count;
		for (size_t k = 0; is_same && k < count; k++)
			is_same = is_same_key(&gr->keys[k], &keys[k]);
		if (is_same)
			return gr;
	}
	return NULL;
}

/* A place for another one: none if all are in use. */
static struct granule **free_place(struct query_file *f)
{
	for (size_t i = 0; i < GRANULES_KEPT; i++) {
		struct granule **at = &f->granules[f->next_granule];
		f->next_granule = (f->next_granule + 1) % GRANULES_KEPT;
		if (!*at || !(*at)->users)
			return at;
	}
	return NULL;
}

/* Keep a copy of what was made; without memory it is made again next time. */
static void keep_granule(struct query_file *f, const struct grouping *gr)
{
	struct granule *copy = mem_zalloc(sizeof *copy);
	size_t entry_count = f->columns.entry_count;
	struct granule **at = free_place(f);
	if (!copy || !at || gr->key_count > GRANULE_KEYS_MOST)
		goto out;
	copy->group = mem_array(entry_count, sizeof *copy->group);
	copy->first = mem_array(gr->out->count, sizeof *copy->first);
	if (!copy->group || !copy->first)
		goto out;
	memcpy(copy->group, gr->out->group[0], entry_count * sizeof *copy->group);
	for (size_t i = 0; i < gr->out->count; i++)
		copy->first[i] = gr->out->groups[i].entry;
	copy->count = gr->out->count;
	memcpy(copy->keys, gr->keys, gr->key_count * sizeof *gr->keys);
	copy->key_count = gr->key_count;
	copy->users = 1;
	granule_free(*at);
	*at = gr->out->granule = copy;
	return;
out:
	granule_free(copy);
}

static bool use_granule(struct granule *gr, struct frame_groups *out)
{
	out->groups = mem_array(gr->count, sizeof *out->groups);
	if (!out->groups)
		return false;
	for (size_t i = 0; i < gr->count; i++)
		out->groups[i] = (struct group){.entry = gr->first[i]};
	out->count = gr->count;
	out->group[0] = out->group[1] = gr->group;
	out->granule = gr;
	gr->users++;
	return true;
}

void granule_drop_tree(struct granule *gr)
{
	stacks_free(gr->tree);
	mem_free(gr->place);
	gr->tree = NULL;
	gr->place = NULL;
}

static bool make_groups(struct grouping *gr)
{
	const struct plan *pl = gr->x->pl;
	struct frame_groups *out = gr->out;
	bool is_good = true;
	for (uint8_t side = 0; is_good && side < 2; side++) {
		if (side && !pl->is_two_files) {
			out->group[1] = out->group[0];
			break;
		}
		out->owned[side] = mem_array(pl->sides[side].file->columns.entry_count,
					     sizeof *out->owned[side]);
		is_good = out->owned[side] && group_entries(gr, side, out->owned[side]);
		out->group[side] = out->owned[side];
	}
	return is_good;
}

enum neap_err frame_groups_build(struct exec *x, const struct plan_key *keys, size_t key_count,
				 struct frame_groups *out)
{
	struct query_file *f = x->pl->sides[0].file;
	*out = (struct frame_groups){.count = 0};
	struct granule *known = x->pl->is_two_files ? NULL : find_granule(f, keys, key_count);
	if (known)
		return use_granule(known, out) ? NEAP_OK : exec_no_memory(x);
	struct grouping gr = {.x = x, .keys = keys, .key_count = key_count, .out = out};
	bool is_good = make_groups(&gr);
	if (is_good && !x->pl->is_two_files)
		keep_granule(f, &gr);
	strtab_release(&gr.ids);
	return is_good ? NEAP_OK : exec_no_memory(x);
}

void frame_groups_release(struct frame_groups *fg)
{
	mem_free(fg->owned[0]);
	mem_free(fg->owned[1]);
	mem_free(fg->groups);
	if (fg->granule)
		fg->granule->users--;
	*fg = (struct frame_groups){.count = 0};
}

/* ---- names of groups ------------------------------------------------------------------------ */

static struct result_cell text_cell(const char *text)
{
	return (struct result_cell){.text = text, .is_unknown = !text};
}

static struct result_cell number_cell(uint64_t value)
{
	if (value == UNKNOWN)
		return (struct result_cell){.is_unknown = true};
	return (struct result_cell){.value = (int64_t)value, .number = (double)value};
}

static const char *intern_printf(struct exec *x, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static const char *intern_printf(struct exec *x, const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	struct strtab *texts = &x->pl->session->texts;
	uint32_t id =
		b.has_failed ? UINT32_MAX : strtab_add(texts, b.data ? b.data : "", b.count_bytes);
	buf_release(&b);
	x->has_no_memory = x->has_no_memory || id == UINT32_MAX;
	return id == UINT32_MAX ? NULL : strtab_get(texts, id);
}

static const char *entry_name(struct exec *x, struct query_file *f, entry_id entry)
{
	const char *name = file_entry_name(f, entry);
	x->has_no_memory = x->has_no_memory || !name;
	return name;
}

static struct result_cell line_cell(struct exec *x, const struct plan_key *k,
				    const struct graph_frame *f)
{
	uint64_t line = slice(k, f->line);
	if (!f->line)
		return (struct result_cell){.is_unknown = true};
	if (k->type != RESULT_TEXT)
		return number_cell(line);
	return text_cell(intern_printf(x, "%s:%" PRIu64, f->file_path ? f->file_path : "?", line));
}

static struct result_cell address_cell(struct exec *x, const struct plan_key *k,
				       const struct graph_frame *f)
{
	uint64_t pc = slice(k, f->pc);
	if (!f->frame)
		return (struct result_cell){.is_unknown = true};
	if (k->type != RESULT_TEXT)
		return number_cell(pc);
	if (!f->module_path)
		return text_cell(intern_printf(x, "0x%" PRIx64, pc));
	return text_cell(intern_printf(x, "%s+0x%" PRIx64, path_last(f->module_path), pc));
}

static struct result_cell frame_cell(struct exec *x, const struct group *g,
				     const struct plan_key *k)
{
	if (g->entry == ENTRY_NONE)
		return (struct result_cell){.is_unknown = true};
	struct query_file *file = x->pl->sides[g->side].file;
	struct graph_frame f = graph_entry(file->g, g->entry);
	if (k->kind == KEY_CLASS) {
		const char *name = entry_name(x, file, g->entry);
		if (!name || f.kind != FRAME_NAMED)
			return text_cell(name);
		struct part part = name_class(name);
		return text_cell(
			intern_printf(x, "%.*s", (int)(part.end - part.start), name + part.start));
	}
	switch (k->field) {
	case FIELD_FUNC:
		return text_cell(entry_name(x, file, g->entry));
	case FIELD_FILE:
		return text_cell(f.file_path);
	case FIELD_MODULE:
		return text_cell(f.module_path);
	case FIELD_LINE:
		return line_cell(x, k, &f);
	case FIELD_ADDR:
		return address_cell(x, k, &f);
	default:
		return (struct result_cell){.is_unknown = true};
	}
}

static struct result_cell thread_cell(struct exec *x, const struct group *g, uint64_t id)
{
	struct query_file *f = x->pl->sides[g->value_side].file;
	if (id == UNKNOWN || !id || id > f->p->thread_count)
		return (struct result_cell){.is_unknown = true};
	const char *name = file_thread_name(f, (thread_id)id);
	x->has_no_memory = x->has_no_memory || !name;
	return text_cell(name);
}

static struct result_cell type_cell(struct exec *x, const struct group *g, uint64_t id)
{
	const struct graph_types *types =
		file_types(x->pl->session, x->pl->sides[g->value_side].file);
	x->has_no_memory = x->has_no_memory || !types;
	if (!types || id == UNKNOWN || !id)
		return (struct result_cell){.is_unknown = true};
	return text_cell(strtab_get(&types->names, (uint32_t)id - 1));
}

static struct result_cell role_cell(uint64_t role)
{
	static const char *const words[] = {"caller", "frame", "callee"};
	struct result_cell c = text_cell(role < 3 ? words[role] : NULL);
	c.value = (int64_t)role; /* their order */
	return c;
}

struct result_cell group_key(struct exec *x, const struct group *g, size_t key_idx)
{
	const struct plan_key *k = &x->pl->keys[key_idx];
	if (k->is_role)
		return role_cell(g->values[key_idx]);
	if (k->is_frame)
		return frame_cell(x, g, k);
	if (k->kind == KEY_STACK)
		return text_cell(""); /* its frames are listed instead */
	uint64_t value = g->values ? g->values[key_idx] : UNKNOWN;
	if (k->frame.of != QUANT_DEFAULT) {
		struct group of = {.side = g->value_side, .entry = (entry_id)value};
		if (value == UNKNOWN)
			return k->type == RESULT_TEXT ? text_cell("[none]") : number_cell(value);
		return frame_cell(x, &of, k);
	}
	if (k->kind == KEY_TIME)
		return number_cell(value);
	switch (k->field) {
	case FIELD_THREAD:
		return thread_cell(x, g, value);
	case FIELD_API:
		return value == UNKNOWN || !value
			       ? (struct result_cell){.is_unknown = true}
			       : text_cell(profile_api_name((enum profile_api)value));
	case FIELD_TYPE:
		return type_cell(x, g, value);
	case FIELD_LABEL:
		return (struct result_cell){.is_unknown = true};
	default:
		return number_cell(value);
	}
}
