/* Where the collector is. */
#include "config.h"

#include "src/record/record_priv.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool try_path(char **out, const char *fmt, const char *dir)
{
	struct buf b = {0};
	char real[PATH_MAX];
	buf_printf(&b, "%s%s/" NEAP_COLLECTOR_NAME, dir, fmt);
	bool is_there = !b.has_failed && access(b.data, R_OK) == 0 && realpath(b.data, real);
	buf_release(&b);
	if (is_there)
		*out = mem_strdup(real);
	return is_there;
}

static void own_dir(char *dst, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", dst, cap - 1);
	dst[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(dst, '/');
	if (slash)
		*slash = '\0';
}

enum neap_err record_find_collector(char **path_out, struct err *e)
{
	char dir[PATH_MAX], real[PATH_MAX];
	const char *named = getenv("NEAP_COLLECTOR");
	*path_out = NULL;
	if (named && *named) {
		if (access(named, R_OK) || !realpath(named, real))
			return err_set(e, ERR_ABSENT,
				       "the collector '%s' named by NEAP_COLLECTOR cannot be read",
				       named);
		*path_out = mem_strdup(real);
	} else {
		own_dir(dir, sizeof dir);
		/* In the build tree the program is there or, with libtool, in .libs of it. */
		if (!try_path(path_out, "/" NEAP_COLLECTOR_BUILD_DIR, dir) &&
		    !try_path(path_out, "/../" NEAP_COLLECTOR_BUILD_DIR, dir) &&
		    !try_path(path_out, "", NEAP_PKGLIBDIR) &&
		    !try_path(path_out, "/../lib/neap", dir))
			return err_set(e, ERR_ABSENT,
				       "the collector " NEAP_COLLECTOR_NAME
				       " is not in " NEAP_PKGLIBDIR
				       ": install neap, or set NEAP_COLLECTOR to its path");
	}
	return *path_out ? NEAP_OK : err_nomem(e, "the collector's path");
}
