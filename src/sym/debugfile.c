/*
 * Where a module's debug information is when it is not in the module.
 *
 * Looked for in this order, R being each of the user's debug directories and then
 * /usr/lib/debug:
 *   R/.build-id/xx/yyyy.debug                      by build id
 *   DIR/LINK, DIR/.debug/LINK, R/DIR/LINK, R/LINK  by .gnu_debuglink; DIR is the module's folder
 *   R/PATH, R/PATH.debug                           by the module's own path
 * Distributions with a merged /usr have modules that are known as /lib/x and
 * /usr/lib/x; both spellings of DIR and PATH are tried below R.
 *
 * Left out so far: .gnu_debugaltlink, .gnu_debugdata, debuginfod.  They are further
 * places of search() and further checks of is_match().
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <string.h>

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

struct search {
	const struct elf_file *main;
	char *link; /* NULL: has none */
	uint32_t link_crc;
	struct buf path; /* of the candidate */
};

/* A stripped file has nothing to add, and may be main itself under another name. */
static bool has_names(const struct elf_file *f)
{
	const Elf64_Shdr *s = elf_find_section(f, ".symtab");
	return elf_has_dwarf(f) || (s && s->sh_type == SHT_SYMTAB);
}

static bool is_match(const struct search *s, const struct elf_file *candidate)
{
	const struct elf_file *m = s->main;
	if (!has_names(candidate))
		return false;
	if (m->build_id_bytes && candidate->build_id_bytes)
		return m->build_id_bytes == candidate->build_id_bytes &&
		       !memcmp(m->build_id, candidate->build_id, m->build_id_bytes);
	uint32_t crc;
	return s->link && elf_crc(candidate, &crc) && crc == s->link_crc;
}

/* Opens what s->path names; NULL if it is not the file. */
static struct elf_file *try_path(struct search *s)
{
	struct elf_file *f;
	if (s->path.has_failed || elf_open(s->path.data, -1, &f, NULL) != NEAP_OK)
		return NULL;
	if (is_match(s, f))
		return f;
	elf_free(f);
	return NULL;
}

static struct elf_file *try_build_id(struct search *s, const char *root)
{
	const struct elf_file *m = s->main;
	if (m->build_id_bytes < 2)
		return NULL;
	buf_clear(&s->path);
	buf_printf(&s->path, "%s/.build-id/%02x/", root, m->build_id[0]);
	for (size_t i = 1; i < m->build_id_bytes; i++)
		buf_printf(&s->path, "%02x", m->build_id[i]);
	buf_puts(&s->path, ".debug");
	return try_path(s);
}

static struct elf_file *try_join(struct search *s, const char *root, const char *dir,
				 size_t dir_bytes, const char *name)
{
	buf_clear(&s->path);
	buf_puts(&s->path, root);
	buf_put(&s->path, dir, dir_bytes);
	buf_puts(&s->path, name);
	return try_path(s);
}

/* `path` is the module's, as it is or with /usr in front or taken away; dir_bytes ends with '/'. */
static struct elf_file *try_below(struct search *s, const char *root, const char *path,
				  size_t dir_bytes)
{
	struct elf_file *f = NULL;
	if (s->link)
		f = try_join(s, root, path, dir_bytes, s->link);
	if (!f)
		f = try_join(s, root, path, strlen(path), "");
	if (!f)
		f = try_join(s, root, path, strlen(path), ".debug");
	return f;
}

static struct elf_file *try_root(struct search *s, const char *root)
{
	const char *path = s->main->path;
	struct elf_file *f = try_build_id(s, root);
	if (f)
		return f;
	if (s->link) {
		f = try_join(s, root, "/", 1, s->link);
		if (f)
			return f;
	}
	const char *slash = strrchr(path, '/');
	if (path[0] != '/' || !slash)
		return NULL;
	size_t dir_bytes = (size_t)(slash - path) + 1;
	f = try_below(s, root, path, dir_bytes);
	if (!f && !strncmp(path, "/usr/", 5))
		return try_below(s, root, path + 4, dir_bytes - 4);
	if (f)
		return f;
	struct buf merged = {0};
	buf_printf(&merged, "/usr%s", path);
	if (!merged.has_failed)
		f = try_below(s, root, merged.data, dir_bytes + 4);
	buf_release(&merged);
	return f;
}

/* Next to the module itself. */
static struct elf_file *try_beside(struct search *s)
{
	const char *path = s->main->path, *slash = strrchr(path, '/');
	size_t dir_bytes = slash ? (size_t)(slash - path) + 1 : 0;
	if (!s->link)
		return NULL;
	struct elf_file *f = try_join(s, "", path, dir_bytes, s->link);
	if (f)
		return f;
	buf_clear(&s->path);
	buf_put(&s->path, path, dir_bytes);
	buf_printf(&s->path, ".debug/%s", s->link);
	return try_path(s);
}

struct elf_file *debugfile_find(const struct elf_file *main, const char *const *debug_dirs)
{
	struct search s = {.main = main};
	elf_debuglink(main, &s.link, &s.link_crc);
	struct elf_file *f = NULL;
	for (size_t i = 0; !f && debug_dirs && debug_dirs[i]; i++)
		f = try_root(&s, debug_dirs[i]);
	if (!f)
		f = try_beside(&s);
	if (!f)
		f = try_root(&s, SYSTEM_DEBUG_DIR);
	mem_free(s.link);
	buf_release(&s.path);
	return f;
}
