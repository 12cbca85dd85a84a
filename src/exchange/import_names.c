/* Names, frames and nodes of the builder: equal things get equal ids. */
#include "config.h"

#include "src/exchange/import_priv.h"

#include "src/base/limits.h"

#include <string.h>

/* ---- index ------------------------------------------------------------------------------- */

uint32_t index_next(const struct index *ix, uint64_t hash, size_t *at)
{
	if (!ix->cap)
		return 0;
	return ix->slots[(hash + (*at)++) & (ix->cap - 1)];
}

static void put_slot(uint32_t *slots, size_t cap, uint64_t hash, uint32_t id)
{
	size_t i = hash & (cap - 1);
	while (slots[i])
		i = (i + 1) & (cap - 1);
	slots[i] = id;
}

bool index_add(struct index *ix, uint64_t hash, uint32_t id,
	       uint64_t (*hash_of)(const void *ctx, uint32_t id), const void *ctx)
{
	if ((ix->count + 1) * 4 > ix->cap * 3) {
		size_t cap = ix->cap ? ix->cap * 2 : 1024;
		uint32_t *slots = mem_zarray(cap, sizeof *slots);
		if (!slots)
			return false;
		for (size_t i = 0; i < ix->cap; i++) {
			if (ix->slots[i])
				put_slot(slots, cap, hash_of(ctx, ix->slots[i]), ix->slots[i]);
		}
		mem_free(ix->slots);
		ix->slots = slots;
		ix->cap = cap;
	}
	put_slot(ix->slots, ix->cap, hash, id);
	ix->count++;
	return true;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What may be kept of a text: up to a NUL, and not more than a reader takes. */
static size_t text_bytes(const char *s, size_t bytes)
{
	if (bytes > LIMIT_NAME_BYTES)
		bytes = LIMIT_NAME_BYTES;
	const char *nul = bytes ? memchr(s, '\0', bytes) : NULL;
	return nul ? (size_t)(nul - s) : bytes;
}

/* Id from 1; 0 for nothing or after a failure. */
static uint32_t intern(struct import *im, struct strtab *t, const char *s, size_t bytes)
{
	if (!bytes || import_has_failed(im))
		return 0;
	uint32_t id = strtab_add(t, s, bytes);
	if (id == UINT32_MAX) {
		import_no_memory(im);
		return 0;
	}
	return id + 1;
}

func_id import_func(struct import *im, const char *name, size_t bytes)
{
	return intern(im, &im->funcs, name, text_bytes(name, bytes));
}

func_id import_func_linkage(struct import *im, const char *name, size_t bytes, const char *linkage,
			    size_t linkage_bytes)
{
	bytes = text_bytes(name, bytes);
	linkage_bytes = text_bytes(linkage, linkage_bytes);
	bool is_same = bytes == linkage_bytes && (!bytes || !memcmp(name, linkage, bytes));
	if (!bytes || !linkage_bytes || is_same)
		return import_func(im, bytes ? name : linkage, bytes ? bytes : linkage_bytes);
	/* Both in one text, with a NUL between. */
	struct buf both = {0};
	buf_put(&both, name, bytes);
	buf_putc(&both, '\0');
	buf_put(&both, linkage, linkage_bytes);
	func_id id = 0;
	if (both.has_failed)
		import_no_memory(im);
	else
		id = intern(im, &im->funcs, both.data, both.count_bytes);
	buf_release(&both);
	return id;
}

file_id import_file(struct import *im, const char *path, size_t bytes)
{
	return intern(im, &im->files, path, text_bytes(path, bytes));
}

/* ---- modules --------------------------------------------------------------------------------- */

static mod_id module_by_key(struct import *im, const char *key, size_t key_bytes,
			    const struct profile_module *m)
{
	size_t known_count = im->modules.count;
	uint32_t string = intern(im, &im->modules, key, key_bytes);
	if (!string)
		return 0;
	if (im->modules.count == known_count)
		return im->module_of[string - 1];
	if (!vec_reserve((void **)&im->module_of, &im->module_cap, string, sizeof *im->module_of)) {
		import_no_memory(im);
		return 0;
	}
	return im->module_of[string - 1] = profile_add_module(im->w, m);
}

mod_id import_module(struct import *im, const char *path, size_t bytes)
{
	bytes = text_bytes(path, bytes);
	char *copy = mem_strndup(path, bytes);
	if (!copy) {
		import_no_memory(im);
		return 0;
	}
	/* The range is not known; one that holds something keeps checkers and readers content. */
	mod_id id = module_by_key(
		im, path, bytes,
		&(struct profile_module){.path = copy, .end_va = UINT64_MAX, .first_snap = 1});
	mem_free(copy);
	return id;
}

mod_id import_module_mapped(struct import *im, const struct profile_module *m)
{
	struct buf key = {0};
	buf_put(&key, m->path, text_bytes(m->path, strlen(m->path)));
	buf_putc(&key, '\0');
	buf_put(&key, m->build_id, m->build_id_bytes);
	buf_u64(&key, m->start_va);
	mod_id id = 0;
	if (key.has_failed)
		import_no_memory(im);
	else
		id = module_by_key(im, key.data, key.count_bytes, m);
	buf_release(&key);
	return id;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static uint64_t hash_lines(uint64_t h, const struct profile_line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		h = hash_mix(h, (uint64_t)lines[i].func << 32 | lines[i].file);
		h = hash_mix(h, lines[i].line);
	}
	return h;
}

/* A frame without an address has a number as its pc, which is no part of what it is. */
static uint64_t hash_frame(const struct frame_record *f, const struct profile_line *lines)
{
	uint64_t h = hash_mix(f->module, f->has_number ? 0 : f->pc);
	return hash_lines(hash_mix(h, f->is_guessed), lines, f->line_count);
}

static const struct profile_line *lines_of(const struct import *im, const struct frame_record *f)
{
	return f->line_count ? im->lines + f->first_line : NULL;
}

static uint64_t frame_hash_of(const void *ctx, uint32_t id)
{
	const struct import *im = ctx;
	const struct frame_record *f = &im->frames[id - 1];
	return hash_frame(f, lines_of(im, f));
}

static bool is_same_frame(const struct import *im, const struct frame_record *a,
			  const struct import_frame *b)
{
	if (a->module != b->module || a->is_guessed != b->is_guessed ||
	    a->line_count != b->line_count || (a->has_number ? 0 : a->pc) != b->pc)
		return false;
	const struct profile_line *lines = lines_of(im, a);
	for (size_t i = 0; i < b->line_count; i++) {
		const struct profile_line *x = &lines[i], *y = &b->lines[i];
		if (x->func != y->func || x->file != y->file || x->line != y->line)
			return false;
	}
	return true;
}

static frame_id add_frame(struct import *im, const struct import_frame *f, uint64_t hash)
{
	size_t n = im->frame_count;
	if (im->line_count + f->line_count > UINT32_MAX ||
	    !vec_reserve((void **)&im->frames, &im->frame_cap, n + 1, sizeof *im->frames) ||
	    !vec_reserve((void **)&im->lines, &im->line_cap, im->line_count + f->line_count,
			 sizeof *im->lines)) {
		import_no_memory(im);
		return 0;
	}
	im->frames[n] = (struct frame_record){
		.module = f->module,
		.is_guessed = f->is_guessed,
		.has_number = !f->pc,
		.pc = f->pc ? f->pc : ++im->next_number,
		.first_line = (uint32_t)im->line_count,
		.line_count = (uint32_t)f->line_count,
	};
	if (f->line_count)
		memcpy(im->lines + im->line_count, f->lines, f->line_count * sizeof *f->lines);
	im->line_count += f->line_count;
	im->frame_count++;
	const struct profile_frame record = {.module = f->module,
					     .flags = f->is_guessed ? FRAME_GUESSED : 0,
					     .pc = im->frames[n].pc};
	frame_id id = profile_add_frame(im->w, &record);
	if (id && !index_add(&im->frame_index, hash, id, frame_hash_of, im)) {
		import_no_memory(im);
		return 0;
	}
	return id;
}

frame_id import_frame(struct import *im, const struct import_frame *f)
{
	if (import_has_failed(im))
		return 0;
	struct import_frame cut = *f;
	if (cut.line_count > LIMIT_INLINE_DEPTH)
		cut.line_count = LIMIT_INLINE_DEPTH;
	const struct frame_record key = {.module = cut.module,
					 .is_guessed = cut.is_guessed,
					 .has_number = !cut.pc,
					 .pc = cut.pc,
					 .line_count = (uint32_t)cut.line_count};
	uint64_t hash = hash_frame(&key, cut.lines);
	frame_id id;
	for (size_t at = 0; (id = index_next(&im->frame_index, hash, &at)) != 0;) {
		if (is_same_frame(im, &im->frames[id - 1], &cut))
			return id;
	}
	return add_frame(im, &cut, hash);
}

frame_id import_named_frame(struct import *im, func_id func, file_id file, uint32_t line)
{
	const struct profile_line at = {func, file, line};
	return import_frame(im, &(struct import_frame){.lines = &at, .line_count = func ? 1 : 0});
}

/* ---- nodes ----------------------------------------------------------------------------------- */

node_id import_node_new(struct import *im, node_id parent, frame_id frame)
{
	if (import_has_failed(im))
		return 0;
	node_id id = profile_add_node(im->w, parent, frame, 0);
	if (id)
		im->node_count++;
	return id;
}

node_id import_node(struct import *im, node_id parent, frame_id frame)
{
	if (import_has_failed(im))
		return 0;
	uint64_t key = (uint64_t)parent << 32 | frame;
	uint32_t known = map_find(&im->nodes, key);
	if (known != MAP_ABSENT)
		return known;
	node_id id = import_node_new(im, parent, frame);
	if (id && !map_put(&im->nodes, key, id)) {
		import_no_memory(im);
		return 0;
	}
	return id;
}

node_id import_stack(struct import *im, const frame_id *frames, size_t count, bool is_leaf_first)
{
	node_id node = PROFILE_NODE_ROOT;
	for (size_t i = 0; i < count && node; i++)
		node = import_node(im, node, frames[is_leaf_first ? count - 1 - i : i]);
	return node;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* The writer numbers threads in this order too. */
static thread_id add_thread(struct import *im, uint32_t tid, const char *name)
{
	size_t n = im->thread_count;
	if (!vec_reserve((void **)&im->thread_name, &im->thread_name_cap, n + 1,
			 sizeof *im->thread_name)) {
		import_no_memory(im);
		return 0;
	}
	im->thread_name[n] = name;
	im->thread_count++;
	return profile_add_thread(
		im->w,
		&(struct profile_thread){.name = name, .tid = tid, .first_snap = im->snap + 1});
}

thread_id import_unknown_thread(struct import *im)
{
	if (!im->unknown_thread)
		im->unknown_thread = add_thread(im, 0, "");
	return im->unknown_thread;
}

/* Threads by number, and those without one by their name. */
static thread_id find_or_add_thread(struct import *im, uint64_t key, uint32_t tid, const char *name)
{
	thread_id id = map_find(&im->thread_of, key);
	if (id != MAP_ABSENT)
		return id;
	id = add_thread(im, tid, name);
	if (id && !map_put(&im->thread_of, key, id))
		import_no_memory(im);
	return id;
}

thread_id import_thread(struct import *im, uint32_t tid, const char *name, size_t bytes)
{
	if (import_has_failed(im))
		return 0;
	uint32_t text = intern(im, &im->threads, name, text_bytes(name, bytes));
	const char *kept = text ? strtab_get(&im->threads, text - 1) : "";
	thread_id id = find_or_add_thread(im, tid, tid, kept);
	if (id && !*im->thread_name[id - 1] && *kept) {
		im->thread_name[id - 1] = kept;
		profile_update_thread(
			im->w, id,
			&(struct profile_thread){.name = kept, .tid = tid, .first_snap = 1});
	}
	return id;
}

thread_id import_named_thread(struct import *im, const char *name, size_t bytes)
{
	uint32_t text = intern(im, &im->threads, name, text_bytes(name, bytes));
	if (!text || import_has_failed(im))
		return 0;
	return find_or_add_thread(im, UINT64_C(1) << 32 | text, 0,
				  strtab_get(&im->threads, text - 1));
}

void import_names_release(struct import *im)
{
	strtab_release(&im->funcs);
	strtab_release(&im->files);
	strtab_release(&im->modules);
	strtab_release(&im->threads);
	mem_free(im->module_of);
	mem_free(im->frames);
	mem_free(im->lines);
	mem_free(im->frame_index.slots);
	map_release(&im->nodes);
	map_release(&im->thread_of);
	mem_free(im->thread_name);
}
