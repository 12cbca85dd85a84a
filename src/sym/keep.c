/* Chooses run by run; functions and files that are used get new ids in order of frames. */
#include "config.h"

#include "src/sym/keep.h"

#include <string.h>

#include "src/base/mem.h"

struct run {
	const struct profile_symbols *from;
	const struct profile_line *lines;
	size_t count;
};

struct keeper {
	struct kept_symbols *out;
	struct strtab funcs, files; /* linkage name, NUL, name; paths */
	struct buf key;
	size_t func_cap, file_cap, line_cap;
};

static struct run run_of(const struct profile_symbols *s, size_t frame_idx)
{
	struct run r = {.from = s};
	if (frame_idx < s->frame_count) {
		r.lines = s->lines + s->first_line[frame_idx];
		r.count = s->first_line[frame_idx + 1] - s->first_line[frame_idx];
	}
	return r;
}

static bool has_line(const struct run *r)
{
	for (size_t i = 0; i < r->count; i++) {
		if (r->lines[i].file && r->lines[i].line)
			return true;
	}
	return false;
}

static bool is_better(const struct run *found, const struct run *known)
{
	bool a = has_line(found), b = has_line(known);
	return a != b ? a : found->count > known->count;
}

static uint32_t keep_func(struct keeper *k, const struct profile_func *f)
{
	struct profile_symbols *s = &k->out->symbols;
	buf_clear(&k->key);
	buf_put(&k->key, f->linkage, strlen(f->linkage) + 1);
	buf_puts(&k->key, f->name);
	uint32_t idx = k->key.has_failed ? UINT32_MAX
					 : strtab_add(&k->funcs, k->key.data, k->key.count_bytes);
	if (idx == UINT32_MAX ||
	    !vec_reserve((void **)&s->funcs, &k->func_cap, s->func_count + 1, sizeof *s->funcs))
		return 0;
	if (idx == s->func_count)
		s->funcs[s->func_count++] = *f;
	return idx + 1;
}

static bool keep_file(struct keeper *k, const char *path, file_id *id_out)
{
	struct profile_symbols *s = &k->out->symbols;
	uint32_t idx = strtab_add(&k->files, path, strlen(path));
	if (idx == UINT32_MAX ||
	    !vec_reserve((void **)&s->files, &k->file_cap, s->file_count + 1, sizeof *s->files))
		return false;
	if (idx == s->file_count)
		s->files[s->file_count++] = path;
	*id_out = idx + 1;
	return true;
}

static bool add_run(struct keeper *k, const struct run *r)
{
	struct profile_symbols *s = &k->out->symbols;
	if (!vec_reserve((void **)&s->lines, &k->line_cap, s->line_count + r->count,
			 sizeof *s->lines))
		return false;
	for (size_t i = 0; i < r->count; i++) {
		struct profile_line line = r->lines[i];
		line.func = keep_func(k, &r->from->funcs[line.func - 1]);
		if (!line.func ||
		    (line.file && !keep_file(k, r->from->files[line.file - 1], &line.file)))
			return false;
		s->lines[s->line_count++] = line;
	}
	return s->line_count < UINT32_MAX;
}

static bool keep_run(struct keeper *k, const struct run *r)
{
	k->out->named_count += r->count > 0;
	k->out->lined_count += has_line(r);
	return add_run(k, r);
}

/* ---- functions that left with a jump ------------------------------------------------ */

static size_t own_frames(const struct profile_symbols *s)
{
	return s->frame_count - s->tails.frame_count;
}

static struct run run_of_step(const struct profile_symbols *s, uint32_t tail_frame)
{
	return run_of(s, own_frames(s) + tail_frame);
}

static uint64_t key_of(const struct profile_tail *t)
{
	/* a profile's frame ids end long before those of apis begin */
	return (uint64_t)t->caller << 32 | (t->callee ? t->callee : UINT32_MAX - (uint32_t)t->api);
}

static bool is_same_chain(const struct profile_tails *a, const struct profile_tail *x,
			  const struct profile_tails *b, const struct profile_tail *y)
{
	for (size_t k = 0; x->step_count == y->step_count && k < x->step_count; k++) {
		const struct profile_frame *f = &a->frames[a->steps[x->first_step + k]];
		const struct profile_frame *g = &b->frames[b->steps[y->first_step + k]];
		if (f->module != g->module || f->pc != g->pc)
			return false;
	}
	return x->step_count == y->step_count;
}

/* Where one set's items and the frames of its steps go. */
struct tail_copier {
	struct keeper *keeper;
	const struct profile_symbols *from;
	uint32_t *moved; /* [from's tail frames] index of the copy + 1; 0: none yet */
	size_t frame_cap, run_cap, item_cap, step_cap;
};

static bool copy_frame(struct tail_copier *c, uint32_t tail_frame, uint32_t *to_out)
{
	struct profile_symbols *s = &c->keeper->out->symbols;
	struct profile_tails *t = &s->tails;
	struct run run = run_of_step(c->from, tail_frame);
	if (!c->moved[tail_frame]) {
		if (!vec_reserve((void **)&t->frames, &c->frame_cap, t->frame_count + 1,
				 sizeof *t->frames) ||
		    !vec_reserve((void **)&s->first_line, &c->run_cap, s->frame_count + 2,
				 sizeof *s->first_line) ||
		    !add_run(c->keeper, &run))
			return false;
		t->frames[t->frame_count++] = c->from->tails.frames[tail_frame];
		s->first_line[++s->frame_count] = (uint32_t)s->line_count;
		c->moved[tail_frame] = (uint32_t)t->frame_count;
	}
	*to_out = c->moved[tail_frame] - 1;
	return true;
}

static bool copy_item(struct tail_copier *c, const struct profile_tail *item)
{
	struct profile_tails *t = &c->keeper->out->symbols.tails;
	if (!vec_reserve((void **)&t->items, &c->item_cap, t->count + 1, sizeof *t->items) ||
	    !vec_reserve((void **)&t->steps, &c->step_cap, t->step_count + item->step_count,
			 sizeof *t->steps))
		return false;
	struct profile_tail copy = *item;
	copy.first_step = (uint32_t)t->step_count;
	for (size_t k = 0; k < item->step_count; k++)
		if (!copy_frame(c, c->from->tails.steps[item->first_step + k],
				&t->steps[t->step_count++]))
			return false;
	t->items[t->count++] = copy;
	return true;
}

/* Those of a set, but for pairs that are in `done`. */
static bool copy_tails(struct tail_copier *c, const struct profile_symbols *from,
		       const struct map *done)
{
	c->from = from;
	c->moved = mem_zarray(from->tails.frame_count, sizeof *c->moved);
	bool is_ok = c->moved;
	for (size_t i = 0; is_ok && i < from->tails.count; i++)
		if (map_find(done, key_of(&from->tails.items[i])) == MAP_ABSENT)
			is_ok = copy_item(c, &from->tails.items[i]);
	mem_free(c->moved);
	return is_ok;
}

static bool index_tails(const struct profile_tails *t, struct map *out)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (!map_put(out, key_of(&t->items[i]), i))
			return false;
	return true;
}

/* What was found is proved by what is here now; the rest was proved elsewhere. */
static bool keep_tails(struct keeper *k, const struct profile_symbols *known,
		       const struct profile_symbols *found)
{
	struct map old = {0}, new = {0};
	static const struct map none;
	struct tail_copier c = {.keeper = k};
	c.run_cap = k->out->symbols.frame_count + 1;
	bool is_ok = index_tails(&known->tails, &old) && index_tails(&found->tails, &new) &&
		     copy_tails(&c, found, &none) && copy_tails(&c, known, &new);
	for (size_t i = 0; is_ok && i < found->tails.count; i++) {
		const struct profile_tail *item = &found->tails.items[i];
		uint32_t was = map_find(&old, key_of(item));
		k->out->better_count +=
			was == MAP_ABSENT || !is_same_chain(&found->tails, item, &known->tails,
							    &known->tails.items[was]);
	}
	map_release(&old);
	map_release(&new);
	return is_ok;
}

enum neap_err symbols_keep(const struct profile_symbols *known, const struct profile_symbols *found,
			   struct kept_symbols *out, struct err *e)
{
	*out = (struct kept_symbols){0};
	struct keeper k = {.out = out};
	struct profile_symbols *s = &out->symbols;
	s->frame_count = own_frames(found);
	s->first_line = mem_zarray(s->frame_count + 1, sizeof *s->first_line);
	bool is_ok = s->first_line;
	for (size_t i = 0; is_ok && i < s->frame_count; i++) {
		struct run old = run_of(known, i), new = run_of(found, i);
		bool takes_new = is_better(&new, &old);
		out->better_count += takes_new;
		is_ok = keep_run(&k, takes_new ? &new : &old);
		s->first_line[i + 1] = (uint32_t)s->line_count;
	}
	is_ok = is_ok && keep_tails(&k, known, found);
	strtab_release(&k.funcs);
	strtab_release(&k.files);
	buf_release(&k.key);
	if (is_ok)
		return NEAP_OK;
	kept_symbols_release(out);
	return err_nomem(e, "names of functions");
}

void kept_symbols_release(struct kept_symbols *k)
{
	mem_free(k->symbols.funcs);
	mem_free(k->symbols.files);
	mem_free(k->symbols.lines);
	mem_free(k->symbols.first_line);
	tails_release(&k->symbols.tails);
	*k = (struct kept_symbols){0};
}

bool symbols_is_named(const struct profile_symbols *s, frame_id f)
{
	return f && f <= s->frame_count && s->first_line[f] > s->first_line[f - 1];
}
