/* The file of a module of a profile, wherever it is.  Private to src/sym. */
#ifndef NEAP_SYM_OPENMODULE_H
#define NEAP_SYM_OPENMODULE_H

#include "src/sym/symbolise.h"

/*
 * profile_module_open - the module, or what lies elsewhere with the same build id if that is all
 * there is, or says more.  Its debug information is not read yet.
 *   fd  >= 0: read this instead of opening its path; borrowed
 */
enum neap_err profile_module_open(const struct symbolise_request *req,
				  const struct profile_module *module, int fd,
				  struct sym_module **out, struct err *e);

#endif
