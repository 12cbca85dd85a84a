/*
 * The rest of skeleton units: functions that were left in .dwo files, or collected in a .dwp.
 *
 *   skeleton: id, name of the .dwo, compilation directory
 *      -> PROGRAM.dwp, FILE.dwp        units by id; FILE is what has the skeletons
 *      -> the .dwo where the compiler left it
 *      -> the same name beside the program
 *
 * A unit counts only if it has the skeleton's id: sources may have been compiled again.
 */
#include "config.h"

#include <string.h>

#include "src/sym/debuginfo_priv.h"

struct split_file {
	struct dw *dw;   /* NULL: there is no such file, or it is none */
	uint64_t *units; /* [unit_count] offsets of their DIEs */
	size_t unit_count, unit_cap;
	struct map ids; /* what they share with skeletons -> index in units */
};

struct split_files {
	struct strtab paths; /* id: index in items */
	struct split_file *items;
	size_t cap;
};

static bool index_file(struct split_file *f)
{
	bool has_memory = true;
	struct dw_die *die;
	while (has_memory && f->unit_count < LIMIT_UNITS && dw_next_unit(f->dw, &die)) {
		uint64_t id;
		if (die && dw_kind(f->dw, die) == DW_UNIT && dw_split_id(f->dw, die, &id)) {
			has_memory = vec_reserve((void **)&f->units, &f->unit_cap,
						 f->unit_count + 1, sizeof *f->units) &&
				     map_put(&f->ids, id, (uint32_t)f->unit_count);
			if (has_memory)
				f->units[f->unit_count++] = dw_die_off(f->dw, die);
		}
		dw_die_free(die);
	}
	return has_memory;
}

static void file_release(struct split_file *f)
{
	map_release(&f->ids);
	mem_free(f->units);
	dw_close(f->dw);
	*f = (struct split_file){0};
}

/* The file at a path, opened once; NULL: out of memory. */
static struct split_file *file_at(struct debuginfo *d, const char *path, size_t bytes)
{
	struct split_files *s = d->split;
	size_t before = s->paths.count;
	uint32_t id = strtab_add(&s->paths, path, bytes);
	if (id == UINT32_MAX ||
	    !vec_reserve((void **)&s->items, &s->cap, s->paths.count, sizeof *s->items))
		return NULL;
	struct split_file *f = &s->items[id];
	if (id < before)
		return f;
	*f = (struct split_file){0};
	struct elf_file *elf;
	if (elf_open(strtab_get(&s->paths, id), -1, &elf, NULL) != NEAP_OK)
		return f;
	struct dw_options options = {.has_split = true, .helper = d->dw, .serial = 2 + id};
	if (dw_open(elf, &options, &f->dw, NULL) == NEAP_OK && !index_file(f))
		file_release(f);
	elf_free(elf);
	return f;
}

static struct dw_die *find_in(struct debuginfo *d, const struct buf *path, uint64_t id,
			      struct dw **file_out)
{
	if (path->has_failed || !path->count_bytes)
		return NULL;
	struct split_file *f = file_at(d, path->data, path->count_bytes);
	uint32_t idx = f && f->dw ? map_find(&f->ids, id) : MAP_ABSENT;
	if (idx == MAP_ABSENT)
		return NULL;
	*file_out = f->dw;
	return dw_die_at(f->dw, f->units[idx]);
}

static struct dw_die *find_package(struct debuginfo *d, const char *beside, struct buf *path,
				   uint64_t id, struct dw **file_out)
{
	if (!beside)
		return NULL;
	buf_clear(path);
	buf_printf(path, "%s.dwp", beside);
	return find_in(d, path, id, file_out);
}

/* `name` without its folders, in the folder of the program. */
static struct dw_die *find_beside(struct debuginfo *d, const char *name, struct buf *path,
				  uint64_t id, struct dw **file_out)
{
	const char *slash = d->program_path ? strrchr(d->program_path, '/') : NULL;
	const char *base = strrchr(name, '/');
	buf_clear(path);
	if (slash)
		buf_put(path, d->program_path, (size_t)(slash - d->program_path) + 1);
	buf_puts(path, base ? base + 1 : name);
	return find_in(d, path, id, file_out);
}

struct dw_die *split_find(struct debuginfo *d, const struct dw_die *skeleton, struct dw **file_out)
{
	uint64_t id;
	const char *name = dw_text(d->dw, skeleton, DW_SPLIT_NAME);
	*file_out = NULL;
	if (!name || !dw_split_id(d->dw, skeleton, &id))
		return NULL;
	if (!d->split)
		d->split = mem_zalloc(sizeof *d->split);
	if (!d->split)
		return NULL;
	struct buf path = {0};
	struct dw_die *die = find_package(d, d->program_path, &path, id, file_out);
	if (!die)
		die = find_package(d, d->file_path, &path, id, file_out);
	if (!die) {
		buf_clear(&path);
		path_join_clean(&path, dw_text(d->dw, skeleton, DW_COMP_DIR), NULL, name);
		die = find_in(d, &path, id, file_out);
	}
	if (!die)
		die = find_beside(d, name, &path, id, file_out);
	buf_release(&path);
	return die;
}

void split_free(struct split_files *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->paths.count && i < s->cap; i++)
		file_release(&s->items[i]);
	mem_free(s->items);
	strtab_release(&s->paths);
	mem_free(s);
}
