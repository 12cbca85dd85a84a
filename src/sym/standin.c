/* Candidates in order; the reader of modules checks the build id. */
#include "config.h"

#include "src/sym/standin.h"

#include <string.h>
#include <unistd.h>

#include "src/base/buf.h"
#include "src/base/fmt.h"
#include "src/sym/sym_priv.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

struct standin {
	const struct profile_module *module;
	const struct sym_search *search;
	bool has_file;
	struct buf path;
	struct sym_module *found;
};

/* What is at a path, or in fd if that is not -1; true: the search is over. */
static bool try_file(struct standin *s, const char *path, int fd)
{
	struct sym_module *m = NULL;
	struct sym_request req = {
		.path = path,
		.fd = fd,
		.build_id = s->module->build_id,
		.build_id_bytes = s->module->build_id_bytes,
		.search = *s->search,
	};
	if (sym_module_open_symbols(&req, &m, NULL) == NEAP_OK && s->has_file &&
	    !sym_module_has_debuginfo(m)) {
		sym_module_free(m);
		m = NULL;
	}
	s->found = m;
	return m;
}

static bool try_path(struct standin *s)
{
	bool is_over = !s->path.has_failed && try_file(s, s->path.data, -1);
	buf_clear(&s->path);
	return is_over;
}

static bool try_build_id(struct standin *s, const char *dir)
{
	char hex[2 * SYM_BUILD_ID_BYTES + 1];
	const struct profile_module *m = s->module;
	static const char *const endings[] = {".debug", ""};
	if (m->build_id_bytes < 2)
		return false;
	fmt_hex(hex, sizeof hex, m->build_id, m->build_id_bytes);
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		buf_printf(&s->path, "%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, endings[i]);
		if (try_path(s))
			return true;
	}
	return false;
}

static bool try_name(struct standin *s, const char *dir, const char *name)
{
	buf_printf(&s->path, "%s/%s", dir, name);
	if (try_path(s))
		return true;
	buf_printf(&s->path, "%s/%s.debug", dir, name);
	return try_path(s);
}

static bool try_dir(struct standin *s, const char *dir)
{
	const char *path = s->module->path, *slash = strrchr(path, '/');
	if (try_build_id(s, dir))
		return true;
	if (path[0] == '/' && try_name(s, dir, path + 1))
		return true;
	return try_name(s, dir, slash ? slash + 1 : path);
}

static void try_fetch(struct standin *s)
{
	const struct profile_module *m = s->module;
	const struct sym_search *search = s->search;
	if (!search->fetch)
		return;
	int fd = search->fetch(search->fetch_context, SYM_FILE_DEBUG, m->build_id,
			       m->build_id_bytes);
	if (fd < 0)
		return;
	try_file(s, m->path, fd);
	close(fd);
}

struct sym_module *standin_find(const struct profile_module *m, const struct sym_search *search,
				bool has_file)
{
	struct standin s = {.module = m, .search = search, .has_file = has_file};
	if (!m->build_id_bytes || m->build_id_bytes > SYM_BUILD_ID_BYTES)
		return NULL;
	bool is_over = false;
	for (size_t i = 0; !is_over && search->debug_dirs && search->debug_dirs[i]; i++)
		is_over = try_dir(&s, search->debug_dirs[i]);
	if (!is_over && !try_build_id(&s, SYSTEM_DEBUG_DIR))
		try_fetch(&s);
	buf_release(&s.path);
	return s.found;
}
