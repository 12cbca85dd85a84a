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

static bool keep_run(struct keeper *k, const struct run *r)
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
	k->out->named_count += r->count > 0;
	k->out->lined_count += has_line(r);
	return s->line_count < UINT32_MAX;
}

enum neap_err symbols_keep(const struct profile_symbols *known, const struct profile_symbols *found,
			   struct kept_symbols *out, struct err *e)
{
	*out = (struct kept_symbols){0};
	struct keeper k = {.out = out};
	struct profile_symbols *s = &out->symbols;
	s->frame_count = found->frame_count;
	s->first_line = mem_zarray(s->frame_count + 1, sizeof *s->first_line);
	bool is_ok = s->first_line;
	for (size_t i = 0; is_ok && i < s->frame_count; i++) {
		struct run old = run_of(known, i), new = run_of(found, i);
		bool takes_new = is_better(&new, &old);
		out->better_count += takes_new;
		is_ok = keep_run(&k, takes_new ? &new : &old);
		s->first_line[i + 1] = (uint32_t)s->line_count;
	}
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
	*k = (struct kept_symbols){0};
}

bool symbols_is_named(const struct profile_symbols *s, frame_id f)
{
	return f && f <= s->frame_count && s->first_line[f] > s->first_line[f - 1];
}
