/*
 * Where a module's debug information is when it is not in the module.
 *
 * Looked for in this order, R being each of the user's debug directories and then
 * /usr/lib/debug:
 *   R/.build-id/xx/yyyy.debug                      by build id
 *   DIR/LINK, DIR/.debug/LINK, R/DIR/LINK, R/LINK  by .gnu_debuglink; DIR is the module's folder
 *   R/PATH, R/PATH.debug                           by the module's own path
 * and then fetched by build id, if the caller can.  Distributions with a merged /usr have
 * modules that are known as /lib/x and /usr/lib/x; both spellings of DIR and PATH are tried
 * below R.
 *
 * What dwz moved out of several files (.gnu_debugaltlink: a name and a build id; .debug_sup of
 * DWARF 5: a name and a checksum, which the file has in a .debug_sup of its own):
 *   NAME, DIR/NAME with DIR the folder of the file that says so, R/NAME, R/.dwz/LAST-OF-NAME,
 *   R/.build-id/xx/yyyy.debug
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

static void put_build_id_path(struct buf *path, const char *root, const uint8_t *id, size_t bytes)
{
	buf_clear(path);
	buf_printf(path, "%s/.build-id/%02x/", root, id[0]);
	for (size_t i = 1; i < bytes; i++)
		buf_printf(path, "%02x", id[i]);
	buf_puts(path, ".debug");
}

static struct elf_file *try_build_id(struct search *s, const char *root)
{
	const struct elf_file *m = s->main;
	if (m->build_id_bytes < 2)
		return NULL;
	put_build_id_path(&s->path, root, m->build_id, m->build_id_bytes);
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

/* The file with an id, from elsewhere; NULL if there is none, or it is not what it should be. */
static struct elf_file *fetch(const struct sym_search *where, const char *name, const uint8_t *id,
			      size_t id_bytes)
{
	struct elf_file *f = NULL;
	int fd = where->fetch && id_bytes
			 ? where->fetch(where->fetch_context, SYM_FILE_DEBUG, id, id_bytes)
			 : -1;
	if (fd < 0)
		return NULL;
	if (elf_open(name, fd, &f, NULL) == NEAP_OK && !elf_has_id(f, id, id_bytes)) {
		elf_free(f);
		f = NULL;
	}
	close(fd);
	return f;
}

struct elf_file *debugfile_find(const struct elf_file *main, const struct sym_search *where)
{
	struct search s = {.main = main};
	elf_debuglink(main, &s.link, &s.link_crc);
	struct elf_file *f = NULL;
	for (size_t i = 0; !f && where->debug_dirs && where->debug_dirs[i]; i++)
		f = try_root(&s, where->debug_dirs[i]);
	if (!f)
		f = try_beside(&s);
	if (!f)
		f = try_root(&s, SYSTEM_DEBUG_DIR);
	if (!f)
		f = fetch(where, main->path, main->build_id, main->build_id_bytes);
	mem_free(s.link);
	buf_release(&s.path);
	return f;
}

/* ---- what dwz moved away ------------------------------------------------------------ */

struct common {
	char *data;       /* the section */
	const char *name; /* in it */
	const uint8_t *id;
	size_t id_bytes;
	struct buf path;
};

static bool set_link(struct common *c, const char *name, const void *id, size_t id_bytes)
{
	c->name = name;
	c->id = id;
	c->id_bytes = id_bytes;
	return *name && id_bytes > 1 && id_bytes <= SYM_BUILD_ID_BYTES;
}

/* A name, NUL, and the build id up to the end of the section. */
static bool read_altlink(struct common *c, const struct elf_file *of)
{
	const Elf64_Shdr *section = elf_find_section(of, ".gnu_debugaltlink");
	size_t bytes;
	c->data = section ? elf_read_section(of, section, &bytes) : NULL;
	if (!c->data)
		return false;
	size_t name_bytes = strlen(c->data) + 1; /* elf_read_section adds a NUL */
	return name_bytes < bytes && set_link(c, c->data, c->data + name_bytes, bytes - name_bytes);
}

/* Version, 1 in the file that others refer to, else 0, a name, NUL, size of the checksum, checksum. */
static bool read_sup(struct common *c, const struct elf_file *of, bool is_common)
{
	const Elf64_Shdr *section = elf_find_section(of, ".debug_sup");
	size_t bytes;
	c->data = section ? elf_read_section(of, section, &bytes) : NULL;
	if (!c->data)
		return false;
	struct reader r = reader_init(c->data, bytes);
	unsigned version = reader_u8(&r);
	version |= (unsigned)reader_u8(&r) << 8;
	unsigned kind = reader_u8(&r);
	const char *name = c->data + 3;
	if (r.has_failed || version != 5 || kind != (unsigned)is_common)
		return false;
	reader_bytes(&r, strnlen(name, reader_left(&r)) + 1);
	size_t id_bytes = reader_varint(&r);
	const void *id = reader_bytes(&r, id_bytes);
	return !r.has_failed && set_link(c, is_common ? "itself" : name, id, id_bytes);
}

static bool has_checksum(const struct elf_file *f, const struct common *wanted)
{
	struct common own = {0};
	bool is_it = read_sup(&own, f, true) && own.id_bytes == wanted->id_bytes &&
		     !memcmp(own.id, wanted->id, own.id_bytes);
	mem_free(own.data);
	return is_it;
}

static struct elf_file *try_common(struct common *c)
{
	struct elf_file *f;
	if (c->path.has_failed || elf_open(c->path.data, -1, &f, NULL) != NEAP_OK)
		return NULL;
	if ((elf_has_id(f, c->id, c->id_bytes) || has_checksum(f, c)) && elf_has_dwarf(f))
		return f;
	elf_free(f);
	return NULL;
}

static struct elf_file *try_common_below(struct common *c, const char *root)
{
	const char *slash = strrchr(c->name, '/');
	put_build_id_path(&c->path, root, c->id, c->id_bytes);
	struct elf_file *f = try_common(c);
	if (f)
		return f;
	buf_clear(&c->path);
	buf_printf(&c->path, "%s/.dwz/%s", root, slash ? slash + 1 : c->name);
	f = try_common(c);
	if (f || c->name[0] != '/')
		return f;
	buf_clear(&c->path);
	buf_printf(&c->path, "%s%s", root, c->name);
	return try_common(c);
}

static struct elf_file *try_common_beside(struct common *c, const struct elf_file *of)
{
	const char *slash = strrchr(of->path, '/');
	buf_clear(&c->path);
	if (c->name[0] != '/' && slash)
		buf_put(&c->path, of->path, (size_t)(slash - of->path) + 1);
	buf_puts(&c->path, c->name);
	return try_common(c);
}

struct elf_file *debugfile_find_common(const struct elf_file *of, const struct sym_search *where)
{
	struct common c = {0};
	struct elf_file *f = NULL;
	bool has_altlink = read_altlink(&c, of);
	if (!has_altlink)
		mem_free(c.data);
	if (has_altlink || read_sup(&c, of, false)) {
		f = try_common_beside(&c, of);
		for (size_t i = 0; !f && where->debug_dirs && where->debug_dirs[i]; i++)
			f = try_common_below(&c, where->debug_dirs[i]);
		if (!f)
			f = try_common_below(&c, SYSTEM_DEBUG_DIR);
		/* a checksum is no build id, which is all that servers know */
		if (!f && has_altlink)
			f = fetch(where, c.name, c.id, c.id_bytes);
	}
	mem_free(c.data);
	buf_release(&c.path);
	return f;
}

/* ---- .gnu_debugdata ------------------------------------------------------------------ */

struct elf_file *debugfile_open_mini(const struct elf_file *main)
{
	const Elf64_Shdr *section = elf_find_section(main, ".gnu_debugdata");
	size_t bytes;
	void *packed = section ? elf_read_section(main, section, &bytes) : NULL;
	struct buf plain = {0};
	struct elf_file *f = NULL;
	int fd = -1;
	if (packed && inflate_xz(packed, bytes, &plain))
		fd = memfd_create("neap-debugdata", MFD_CLOEXEC);
	if (fd >= 0 && write(fd, plain.data, plain.count_bytes) == (ssize_t)plain.count_bytes)
		elf_open(main->path, fd, &f, NULL);
	if (fd >= 0)
		close(fd);
	mem_free(packed);
	buf_release(&plain);
	return f;
}
