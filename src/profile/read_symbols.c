/* The symbols block: strings stay where they are copied to, one piece of the arena. */
#include "config.h"

#include "src/profile/reader_priv.h"

#include <string.h>

/* Next NUL-terminated string; NULL if there is none or it is too long. */
static const char *next_string(const char **at, const char *end)
{
	const char *s = *at;
	const char *nul = s < end ? memchr(s, 0, (size_t)(end - s)) : NULL;
	if (!nul || (size_t)(nul - s) > LIMIT_NAME_BYTES)
		return NULL;
	*at = nul + 1;
	return s;
}

static bool split_strings(struct profile_symbols *s, const char *at, const char *end)
{
	for (size_t i = 0; i < s->func_count; i++) {
		const char *name = next_string(&at, end);
		const char *linkage = name ? next_string(&at, end) : NULL;
		if (!linkage)
			return false;
		s->funcs[i] = (struct profile_func){name, *linkage ? linkage : name};
	}
	for (size_t i = 0; i < s->file_count; i++)
		if (!(s->files[i] = next_string(&at, end)))
			return false;
	return at == end;
}

static enum neap_err read_strings(struct arena *a, struct reader *r, struct profile_symbols *s,
				  struct err *e)
{
	s->func_count = reader_count(r, 2);
	s->file_count = reader_count(r, 1);
	size_t bytes;
	const char *text = reader_str(r, &bytes);
	if (r->has_failed || s->func_count > bytes / 2 || s->file_count > bytes)
		return err_corrupt(e, "symbols whose names are cut");
	char *copy = arena_alloc(a, bytes);
	s->funcs = arena_array(a, s->func_count, sizeof *s->funcs);
	s->files = arena_array(a, s->file_count, sizeof *s->files);
	if (!copy || !s->funcs || !s->files)
		return err_nomem(e, "symbols of the profile");
	if (bytes)
		memcpy(copy, text, bytes);
	return split_strings(s, copy, copy + bytes) ? NEAP_OK
						    : err_corrupt(e, "symbols with a broken name");
}

/* A column of differences whose sums lie in least .. most. */
static bool next_in_range(struct reader *r, int64_t *sum, int64_t least, int64_t most,
			  uint32_t *out)
{
	*sum = (int64_t)((uint64_t)*sum + (uint64_t)get_svarint(r));
	*out = (uint32_t)*sum;
	return *sum >= least && *sum <= most;
}

static bool read_columns(struct reader *r, struct profile_symbols *s)
{
	int64_t func = 0, file = 0, line = 0;
	for (size_t i = 0; i < s->line_count; i++)
		if (!next_in_range(r, &func, 1, (int64_t)s->func_count, &s->lines[i].func))
			return false;
	for (size_t i = 0; i < s->line_count; i++)
		if (!next_in_range(r, &file, 0, (int64_t)s->file_count, &s->lines[i].file))
			return false;
	for (size_t i = 0; i < s->line_count; i++)
		if (!next_in_range(r, &line, 0, UINT32_MAX, &s->lines[i].line))
			return false;
	return !r->has_failed;
}

static enum neap_err read_lines(struct arena *a, struct reader *r, struct profile_symbols *s,
				struct err *e)
{
	s->frame_count = reader_count(r, 1);
	s->line_count = reader_count(r, 3);
	s->first_line = arena_alloc(a, (s->frame_count + 1) * sizeof *s->first_line);
	s->lines = arena_array(a, s->line_count, sizeof *s->lines);
	if (!s->first_line || !s->lines)
		return err_nomem(e, "symbols of the profile");
	uint64_t sum = 0;
	for (size_t f = 0; f < s->frame_count; f++) {
		s->first_line[f] = (uint32_t)sum;
		uint64_t run_count = get_varint(r);
		if (run_count > s->line_count - sum)
			return err_corrupt(e, "symbols with more lines than there are");
		sum += run_count;
	}
	s->first_line[s->frame_count] = (uint32_t)sum;
	if (sum != s->line_count || !read_columns(r, s))
		return err_corrupt(e, "symbols with wrong lines");
	return NEAP_OK;
}

enum neap_err read_symbols(struct loader *l, struct reader *r, struct err *e)
{
	struct profile_symbols s = {0};
	enum neap_err err = read_strings(&l->p->arena, r, &s, e);
	if (!err)
		err = read_lines(&l->p->arena, r, &s, e);
	if (err)
		return err;
	l->p->symbols = s;
	l->p->has_symbols = true;
	return NEAP_OK;
}

bool symbols_fit(struct profile *p)
{
	struct profile_symbols *s = &p->symbols;
	if (!p->has_symbols || s->frame_count == p->frame_count)
		return true;
	uint32_t *first = arena_array(&p->arena, p->frame_count + 1, sizeof *first);
	if (!first)
		return false;
	for (size_t f = 0; f <= p->frame_count; f++)
		first[f] = s->first_line[f < s->frame_count ? f : s->frame_count];
	s->first_line = first;
	s->frame_count = p->frame_count;
	s->line_count = first[s->frame_count];
	return true;
}
