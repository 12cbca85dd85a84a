/* A module of a profile as a file. */
#include "config.h"

#include "src/sym/openmodule.h"

#include <sys/stat.h>

#include "src/sym/standin.h"
#include "src/sym/sym_priv.h"

#define NS_PER_S UINT64_C(1000000000)

/* A file without build id may be any other by now. */
static bool is_too_young(const struct symbolise_request *req, const struct profile_module *m,
			 int fd)
{
	struct stat st;
	uint64_t recorded_s = req->recorded_unix_ns / NS_PER_S;
	return recorded_s && !m->build_id_bytes && fd < 0 && !stat(m->path, &st) &&
	       (uint64_t)st.st_mtim.tv_sec > recorded_s;
}

static enum neap_err open_itself(const struct symbolise_request *req,
				 const struct profile_module *module, int fd,
				 struct sym_module **out, struct err *e)
{
	struct sym_request file = {
		.path = module->path,
		.fd = fd,
		.build_id = module->build_id,
		.build_id_bytes = module->build_id_bytes,
		.search = req->search,
	};
	*out = NULL;
	if (is_too_young(req, module, fd))
		return err_set(e, ERR_ABSENT,
			       "'%s' was changed after the recording, and has no build id to tell "
			       "whether it is the same",
			       module->path);
	return sym_module_open_symbols(&file, out, e);
}

enum neap_err profile_module_open(const struct symbolise_request *req,
				  const struct profile_module *module, int fd,
				  struct sym_module **out, struct err *e)
{
	enum neap_err code = open_itself(req, module, fd, out, e);
	if (*out && sym_module_has_debuginfo(*out))
		return code;
	struct sym_module *other = standin_find(module, &req->search, *out != NULL);
	if (!other)
		return code;
	sym_module_free(*out);
	*out = other;
	return NEAP_OK;
}
