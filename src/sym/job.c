/*
 * Looking up the frames of one module, and the bytes in which a child process sends what
 * it found:
 *
 *   count of functions, each: linkage name, 0 or 1, demangled name if 1
 *   count of files, each: path
 *   count of names of called functions, each: linkage name
 *   each frame, except repetitions of one address: called function + 1, or 0; count of lines,
 *      each: function, file, line
 */
#include "config.h"

#include "src/sym/job.h"

#include <string.h>

#include "src/base/limits.h"
#include "src/sym/sym_priv.h"

#define COUNTED_FRAMES 64 /* between two calls of the counter */

/* Adds a function; name is NULL if it is the same.  UINT32_MAX: out of memory. */
static uint32_t add_func(struct job *job, const char *linkage, size_t linkage_bytes,
			 const char *name, size_t name_bytes)
{
	size_t before = job->linkages.count;
	uint32_t func = strtab_add(&job->linkages, linkage, linkage_bytes);
	if (job->linkages.count == before)
		return func;
	if (!vec_reserve((void **)&job->names, &job->names_cap, before + 1, sizeof *job->names))
		return UINT32_MAX;
	job->names[before] = NULL;
	if (name) {
		job->names[before] = arena_strndup(&job->arena, name, name_bytes);
		if (!job->names[before])
			return UINT32_MAX;
	}
	return func;
}

static bool append_line(struct job *job, struct profile_line line)
{
	if (!vec_reserve((void **)&job->lines, &job->line_cap, job->line_count + 1,
			 sizeof *job->lines))
		return false;
	job->lines[job->line_count++] = line;
	return true;
}

static bool add_line(struct job *job, const struct sym_line *line)
{
	const char *name = strcmp(line->name, line->linkage) ? line->name : NULL;
	uint32_t func =
		add_func(job, line->linkage, strlen(line->linkage), name, name ? strlen(name) : 0);
	uint32_t file = strtab_add(&job->files, line->file, strlen(line->file));
	return func != UINT32_MAX && file != UINT32_MAX &&
	       append_line(job, (struct profile_line){func, file, line->line});
}

/* Is frame i at the same address as the one before?  Then it has the same lines. */
static bool is_repetition(struct job *job, size_t i)
{
	if (!i || job->frames[i - 1].va != job->frames[i].va)
		return false;
	job->frames[i].first_line = job->frames[i - 1].first_line;
	job->frames[i].line_count = job->frames[i - 1].line_count;
	job->frames[i].callee = job->frames[i - 1].callee;
	return true;
}

/* False: out of memory. */
static bool set_callee(struct job *job, struct job_frame *f, const char *name)
{
	f->callee = 0;
	if (!name)
		return true;
	uint32_t id = strtab_add(&job->callees, name, strlen(name));
	f->callee = id + 1;
	return id != UINT32_MAX;
}

static bool look_up(struct job *job, struct sym_module *m, size_t i, struct sym_line *found)
{
	struct job_frame *f = &job->frames[i];
	if (is_repetition(job, i))
		return true;
	size_t count = sym_lookup(m, f->va, found, LIMIT_INLINE_DEPTH);
	f->first_line = (uint32_t)job->line_count;
	f->line_count = (uint32_t)count;
	for (size_t k = 0; k < count; k++)
		if (!add_line(job, &found[k]))
			return false;
	return job->line_count < UINT32_MAX - LIMIT_INLINE_DEPTH &&
	       set_callee(job, f, sym_callee_name(m, f->va + 1));
}

bool job_look_up(struct job *job, struct sym_module *m, job_counter *count, void *context)
{
	struct sym_line *found = mem_array(LIMIT_INLINE_DEPTH, sizeof *found);
	bool is_ok = found != NULL;
	for (size_t i = 0; is_ok && i < job->frame_count; i++) {
		is_ok = look_up(job, m, i, found);
		if ((i + 1) % COUNTED_FRAMES == 0)
			count(context, i + 1);
	}
	count(context, job->frame_count);
	mem_free(found);
	return is_ok;
}

bool job_name_frame(struct job *job, size_t i, const char *name)
{
	const struct sym_line line = {.linkage = name, .name = name, .file = ""};
	job->frames[i].first_line = (uint32_t)job->line_count;
	job->frames[i].line_count = 1;
	return add_line(job, &line);
}

bool job_copy_frame(struct job *to, struct job_frame *frame, const struct job *from,
		    const struct job_frame *source)
{
	frame->first_line = (uint32_t)to->line_count;
	frame->line_count = source->line_count;
	for (uint32_t k = 0; k < source->line_count; k++) {
		const struct profile_line *line = &from->lines[source->first_line + k];
		const char *linkage = strtab_get(&from->linkages, line->func);
		const char *name = from->names[line->func];
		const char *file = strtab_get(&from->files, line->file);
		uint32_t func =
			add_func(to, linkage, strlen(linkage), name, name ? strlen(name) : 0);
		uint32_t path = strtab_add(&to->files, file, strlen(file));
		if (func == UINT32_MAX || path == UINT32_MAX ||
		    !append_line(to, (struct profile_line){func, path, line->line}))
			return false;
	}
	return to->line_count < UINT32_MAX - LIMIT_INLINE_DEPTH &&
	       set_callee(to, frame,
			  source->callee ? strtab_get(&from->callees, source->callee - 1) : NULL);
}

void job_clear(struct job *job)
{
	strtab_release(&job->linkages);
	strtab_release(&job->files);
	strtab_release(&job->callees);
	arena_release(&job->arena);
	mem_free(job->names);
	mem_free(job->lines);
	job->names = NULL;
	job->lines = NULL;
	job->names_cap = job->line_count = job->line_cap = 0;
	for (size_t i = 0; i < job->frame_count; i++)
		job->frames[i].first_line = job->frames[i].line_count = job->frames[i].callee = 0;
}

/* ---- as bytes ----------------------------------------------------------------------- */

static void encode_string(struct buf *out, const char *s)
{
	buf_str(out, s, strlen(s));
}

static void encode_strings(struct buf *out, const struct strtab *t)
{
	buf_varint(out, t->count);
	for (uint32_t i = 0; i < t->count; i++)
		encode_string(out, strtab_get(t, i));
}

void job_encode(const struct job *job, struct buf *out)
{
	buf_varint(out, job->linkages.count);
	for (uint32_t i = 0; i < job->linkages.count; i++) {
		encode_string(out, strtab_get(&job->linkages, i));
		buf_varint(out, job->names[i] != NULL);
		if (job->names[i])
			encode_string(out, job->names[i]);
	}
	encode_strings(out, &job->files);
	encode_strings(out, &job->callees);
	for (size_t i = 0; i < job->frame_count; i++) {
		const struct job_frame *f = &job->frames[i];
		if (i && job->frames[i - 1].va == f->va)
			continue;
		buf_varint(out, f->callee);
		buf_varint(out, f->line_count);
		for (uint32_t k = 0; k < f->line_count; k++) {
			const struct profile_line *line = &job->lines[f->first_line + k];
			buf_varint(out, line->func);
			buf_varint(out, line->file);
			buf_varint(out, line->line);
		}
	}
}

static bool decode_funcs(struct job *job, struct reader *r)
{
	size_t count = reader_count(r, 2);
	for (size_t i = 0; i < count && !r->has_failed; i++) {
		size_t linkage_bytes, name_bytes = 0;
		const char *linkage = reader_str(r, &linkage_bytes), *name = NULL;
		if (reader_varint(r))
			name = reader_str(r, &name_bytes);
		if (r->has_failed || add_func(job, linkage, linkage_bytes, name, name_bytes) != i)
			return false;
	}
	return !r->has_failed;
}

static bool decode_strings(struct strtab *t, struct reader *r)
{
	size_t count = reader_count(r, 1);
	for (size_t i = 0; i < count && !r->has_failed; i++) {
		size_t bytes;
		const char *text = reader_str(r, &bytes);
		if (r->has_failed || strtab_add(t, text, bytes) != i)
			return false;
	}
	return !r->has_failed;
}

static bool decode_frame(struct job *job, struct job_frame *f, struct reader *r)
{
	uint64_t callee = reader_varint(r);
	size_t count = reader_count(r, 3);
	if (callee > job->callees.count)
		return false;
	f->callee = (uint32_t)callee;
	f->first_line = (uint32_t)job->line_count;
	f->line_count = (uint32_t)count;
	for (size_t k = 0; k < count; k++) {
		uint64_t func = reader_varint(r), file = reader_varint(r), line = reader_varint(r);
		if (r->has_failed || func >= job->linkages.count || file >= job->files.count ||
		    line > UINT32_MAX)
			return false;
		if (!append_line(job, (struct profile_line){(func_id)func, (file_id)file,
							    (uint32_t)line}))
			return false;
	}
	return !r->has_failed && job->line_count < UINT32_MAX;
}

bool job_decode(struct job *job, const void *data, size_t bytes)
{
	struct reader r = reader_init(data, bytes);
	if (!decode_funcs(job, &r) || !decode_strings(&job->files, &r) ||
	    !decode_strings(&job->callees, &r))
		return false;
	for (size_t i = 0; i < job->frame_count; i++)
		if (!is_repetition(job, i) && !decode_frame(job, &job->frames[i], &r))
			return false;
	return reader_left(&r) == 0;
}
