/*
 * Entries: what each return address stands for, in flat columns.
 *
 *   frame f ->  first_entry[f] .. first_entry[f + 1] - 1
 *               | func file line |   inlined function, innermost first
 *               | func file line |   ...
 *               | func file line |   the function that holds the code
 *
 * A frame without symbols has one entry with func 0.  Names are compared once, here:
 * func_canon, file_canon and module_canon map an id to the first id of the same text.
 */
#include "config.h"

#include "src/graph/graph_priv.h"

#include <string.h>

/* Texts already met: hash of the text -> first id with it. */
struct canon {
	struct map map;
	const char *(*text)(const struct profile *p, uint32_t id);
	const struct profile *p;
};

static const char *func_text(const struct profile *p, uint32_t id)
{
	return p->symbols.funcs[id - 1].name;
}

static const char *file_text(const struct profile *p, uint32_t id)
{
	return p->symbols.files[id - 1];
}

static const char *module_text(const struct profile *p, uint32_t id)
{
	return p->modules[id - 1].path;
}

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0x9e3779b97f4a7c15ull;
	size_t left = strlen(s);
	while (left) {
		uint64_t word = 0;
		size_t n = left < sizeof word ? left : sizeof word;
		memcpy(&word, s, n);
		h = (h ^ word ^ (uint64_t)left << 56) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
		s += n;
		left -= n;
	}
	return h;
}

/* Two texts with one hash keep their own ids: they are then merely not merged. */
static bool canon_add(struct canon *c, uint32_t id, uint32_t *canon_out)
{
	const char *text = c->text(c->p, id);
	uint64_t hash = hash_text(text);
	uint32_t first = map_find(&c->map, hash);
	canon_out[id] = id;
	if (first == MAP_ABSENT)
		return map_put(&c->map, hash, id);
	if (!strcmp(c->text(c->p, first), text))
		canon_out[id] = first;
	return true;
}

static uint32_t *canon_build(const struct profile *p, size_t count,
			     const char *(*text)(const struct profile *, uint32_t))
{
	struct canon c = {.text = text, .p = p};
	uint32_t *canon = mem_zarray(count + 1, sizeof *canon);
	for (uint32_t id = 1; canon && id <= count; id++) {
		if (!canon_add(&c, id, canon)) {
			mem_free(canon);
			canon = NULL;
		}
	}
	map_release(&c.map);
	return canon;
}

static bool build_canons(struct graph *g)
{
	const struct profile *p = g->p;
	g->func_canon = canon_build(p, p->symbols.func_count, func_text);
	g->file_canon = canon_build(p, p->symbols.file_count, file_text);
	g->module_canon = canon_build(p, p->module_count, module_text);
	return g->func_canon && g->file_canon && g->module_canon;
}

static bool find_wrappers(struct graph *g, const struct graph_options *options)
{
	size_t count = g->p->symbols.func_count;
	g->func_is_wrapper = mem_zarray(count + 1, 1);
	if (!g->func_is_wrapper)
		return false;
	for (uint32_t id = 1; options && id <= count; id++) {
		const char *name = func_text(g->p, id);
		if (g->func_canon[id] == id)
			g->func_is_wrapper[id] =
				(options->is_wrapper && options->is_wrapper(name)) ||
				(options->is_more && options->is_more(options->context, name));
	}
	return true;
}

static size_t lines_of(const struct profile *p, frame_id f, const struct profile_line **out)
{
	*out = NULL;
	if (!p->has_symbols || f == 0 || f > p->symbols.frame_count)
		return 0;
	const uint32_t *first = p->symbols.first_line;
	*out = p->symbols.lines + first[f - 1];
	return first[f] - first[f - 1];
}

static size_t count_entries(const struct profile *p)
{
	size_t count = PSEUDO_COUNT;
	const struct profile_line *lines;
	for (frame_id f = 1; f <= p->frame_count; f++) {
		size_t n = lines_of(p, f, &lines);
		count += n ? n : 1;
	}
	return count;
}

static uint32_t add_entry(struct graph *g, uint32_t frame, const struct profile_line *line)
{
	uint32_t at = (uint32_t)g->entry_count++;
	g->entry_frame[at] = frame;
	g->entry_func[at] = line ? g->func_canon[line->func] : 0;
	g->entry_file[at] = line ? g->file_canon[line->file] : 0;
	g->entry_line[at] = line ? line->line : 0;
	return at;
}

/* What jumped away was not on the stack any more: it is shown, but nothing is charged to it. */
static bool is_tail(const struct profile *p, frame_id f)
{
	return f && p->frames[f - 1].flags & FRAME_TAIL;
}

static void fill_frame(struct graph *g, uint32_t frame_idx, frame_id f)
{
	const struct profile_line *lines;
	size_t n = lines_of(g->p, f, &lines);
	g->first_entry[frame_idx] = (uint32_t)g->entry_count;
	g->leaf_entry[frame_idx] = ENTRY_NONE;
	for (size_t i = 0; i < (n ? n : 1); i++) {
		entry_id at = add_entry(g, f, n ? &lines[i] : NULL);
		bool is_skipped = g->func_is_wrapper[g->entry_func[at]] || is_tail(g->p, f);
		if (!is_skipped && g->leaf_entry[frame_idx] == ENTRY_NONE)
			g->leaf_entry[frame_idx] = at;
	}
}

static bool allocate_entries(struct graph *g, size_t entry_count)
{
	size_t runs = g->frame_count + PSEUDO_COUNT;
	g->first_entry = mem_array(runs + 1, sizeof *g->first_entry);
	g->leaf_entry = mem_array(runs, sizeof *g->leaf_entry);
	g->entry_frame = mem_array(entry_count, sizeof *g->entry_frame);
	g->entry_line = mem_array(entry_count, sizeof *g->entry_line);
	g->entry_func = mem_array(entry_count, sizeof *g->entry_func);
	g->entry_file = mem_array(entry_count, sizeof *g->entry_file);
	return g->first_entry && g->leaf_entry && g->entry_frame && g->entry_line &&
	       g->entry_func && g->entry_file;
}

enum neap_err graph_build_entries(struct graph *g, const struct graph_options *options,
				  struct err *e)
{
	const struct profile *p = g->p;
	size_t count = count_entries(p);
	if (count >= LIMIT_IDS)
		return err_set(e, ERR_LIMIT, "the profile has too many frames (%zu)", count);
	g->frame_count = p->frame_count + 1;
	if (!build_canons(g) || !find_wrappers(g, options) || !allocate_entries(g, count))
		return err_nomem(e, "the index of frames");
	g->first_entry[0] = 0;
	g->leaf_entry[0] = ENTRY_NONE;
	for (frame_id f = 1; f <= p->frame_count; f++)
		fill_frame(g, f, f);
	for (uint32_t i = 0; i < PSEUDO_COUNT; i++)
		fill_frame(g, (uint32_t)g->frame_count + i, 0);
	g->first_entry[g->frame_count + PSEUDO_COUNT] = (uint32_t)g->entry_count;
	return NEAP_OK;
}

/* ---- reading ------------------------------------------------------------------- */

size_t graph_entry_count(const struct graph *g)
{
	return g->entry_count;
}

static struct graph_frame pseudo_entry(const struct graph *g, entry_id entry)
{
	static const enum graph_frame_kind kinds[] = {
		[PSEUDO_NO_STACK] = FRAME_NO_STACK,
		[PSEUDO_SIGNAL] = FRAME_SIGNAL,
		[PSEUDO_TRUNCATED] = FRAME_TRUNCATED,
	};
	entry_id first = g->first_entry[g->frame_count];
	return (struct graph_frame){.kind = kinds[entry - first], .entry = entry};
}

struct graph_frame graph_entry(const struct graph *g, entry_id entry)
{
	frame_id id = g->entry_frame[entry];
	if (!id)
		return pseudo_entry(g, entry);
	const struct profile *p = g->p;
	const struct profile_frame *frame = &p->frames[id - 1];
	struct graph_frame f = {
		.kind = FRAME_ADDRESS,
		.entry = entry,
		.frame = id,
		.func = g->entry_func[entry],
		.file = g->entry_file[entry],
		.line = g->entry_line[entry],
		.module = g->module_canon[frame->module],
		.pc = frame->pc,
		.is_inlined = entry + 1 < g->first_entry[id + 1],
		.is_tail = frame->flags & FRAME_TAIL && entry + 1 == g->first_entry[id + 1],
		.is_guessed = frame->flags & FRAME_GUESSED,
	};
	if (f.func) {
		f.kind = FRAME_NAMED;
		f.name = p->symbols.funcs[f.func - 1].name;
		f.linkage = p->symbols.funcs[f.func - 1].linkage;
		f.is_wrapper = g->func_is_wrapper[f.func];
	}
	if (f.file)
		f.file_path = p->symbols.files[f.file - 1];
	if (f.module)
		f.module_path = p->modules[f.module - 1].path;
	return f;
}
