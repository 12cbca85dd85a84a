/* One setting a line. */
#include "config.h"

#include "src/report/settings.h"

#include "src/base/buf.h"
#include "src/base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST_BYTES ((size_t)1 << 20)

enum neap_err settings_add_wrapper(struct settings *s, const char *regex, struct err *e)
{
	if (!*regex)
		return err_set(e, ERR_USAGE,
			       "an empty expression fits every function; expected the name of a "
			       "function, such as ^my_malloc$");
	return query_wrappers_add(&s->wrappers, regex, e);
}

/* "~/src" is below the home directory; a shell would have said so itself. */
static char *expand_home(const char *path)
{
	const char *home = getenv("HOME");
	struct buf out = {0};
	char *text = NULL;
	if (path[0] == '~' && (path[1] == '/' || !path[1]) && home && *home)
		buf_printf(&out, "%s%s", home, path + 1);
	else
		buf_puts(&out, path);
	if (!out.has_failed)
		text = mem_strdup(out.count_bytes ? out.data : "");
	buf_release(&out);
	return text;
}

enum neap_err settings_add_source_path(struct settings *s, const char *from_to, struct err *e)
{
	const char *equals = strchr(from_to, '=');
	if (!equals || equals == from_to || !equals[1])
		return err_set(e, ERR_USAGE,
			       "'%s' is no pair of paths; expected FROM=TO, such as "
			       "/build/app=/home/me/app",
			       from_to);
	char *to = expand_home(equals + 1);
	bool is_ok = to && source_map_add(&s->sources, from_to, (size_t)(equals - from_to), to);
	mem_free(to);
	return is_ok ? NEAP_OK : err_nomem(e, "the settings");
}

/* ---- the file ------------------------------------------------------------------------- */

static char *trim(char *s)
{
	s += strspn(s, " \t");
	size_t bytes = strlen(s);
	while (bytes && strchr(" \t\r", s[bytes - 1]))
		bytes--;
	s[bytes] = '\0';
	return s;
}

static enum neap_err take_line(struct settings *s, const char *path, unsigned number, char *line,
			       struct err *e)
{
	struct err why = {0};
	char *text = trim(line), *equals = strchr(text, '=');
	if (!*text || *text == '#')
		return NEAP_OK;
	if (!equals)
		return err_set(e, ERR_USAGE, "%s:%u: expected NAME = VALUE, not '%.100s'", path,
			       number, text);
	*equals = '\0';
	char *name = trim(text), *value = trim(equals + 1);
	enum neap_err code;
	if (!strcmp(name, "wrapper"))
		code = settings_add_wrapper(s, value, &why);
	else if (!strcmp(name, "source-path"))
		code = settings_add_source_path(s, value, &why);
	else
		return err_set(e, ERR_USAGE,
			       "%s:%u: there is no setting '%.100s'; expected wrapper or "
			       "source-path",
			       path, number, name);
	return code ? err_set(e, code, "%s:%u: %s", path, number, why.text) : NEAP_OK;
}

static enum neap_err take_text(struct settings *s, const char *path, char *text, struct err *e)
{
	enum neap_err code = NEAP_OK;
	unsigned number = 1;
	for (char *next; !code && text; text = next, number++) {
		next = strchr(text, '\n');
		if (next)
			*next++ = '\0';
		code = take_line(s, path, number, text, e);
	}
	return code;
}

static enum neap_err read_file(const char *path, bool is_needed, struct buf *out, struct err *e)
{
	char part[4096];
	size_t got;
	FILE *in = fopen(path, "re");
	/* Who became another user may still have the old one's home. */
	bool is_absent = errno == ENOENT || errno == ENOTDIR || errno == EACCES;
	if (!in)
		return !is_needed && is_absent ? NEAP_OK
					       : err_sys(e, errno, "read the settings", path);
	while ((got = fread(part, 1, sizeof part, in)) && out->count_bytes <= FILE_MOST_BYTES)
		buf_put(out, part, got);
	enum neap_err code = ferror(in) ? err_sys(e, errno, "read the settings", path) : NEAP_OK;
	fclose(in);
	if (!code && out->count_bytes > FILE_MOST_BYTES)
		code = err_set(e, ERR_LIMIT, "'%s' is too long for a file of settings", path);
	buf_putc(out, '\0');
	return !code && out->has_failed ? err_nomem(e, "the settings") : code;
}

static void default_path(struct buf *path)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && *config == '/')
		buf_printf(path, "%s/neap/config", config);
	else if (home && *home)
		buf_printf(path, "%s/.config/neap/config", home);
}

enum neap_err settings_load(struct settings *s, struct err *e)
{
	const char *named = getenv("NEAP_CONFIG");
	struct buf path = {0}, text = {0};
	enum neap_err code = NEAP_OK;
	if (named)
		buf_puts(&path, named);
	else
		default_path(&path);
	if (path.count_bytes)
		code = read_file(path.data, named, &text, e);
	if (!code && text.count_bytes)
		code = take_text(s, path.data, text.data, e);
	if (!code && path.has_failed)
		code = err_nomem(e, "the settings");
	buf_release(&path);
	buf_release(&text);
	return code;
}

void settings_release(struct settings *s)
{
	query_wrappers_free(s->wrappers);
	source_map_release(&s->sources);
	*s = (struct settings){.wrappers = NULL};
}
