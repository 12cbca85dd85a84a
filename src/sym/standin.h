/*
 * A module whose file is gone, or is another one by now, or has no names: a copy of it, or its
 * debug information, that lies elsewhere.  Only a file with the module's build id is taken.
 */
#ifndef NEAP_SYM_STANDIN_H
#define NEAP_SYM_STANDIN_H

#include "src/profile/profile.h"
#include "src/sym/sym.h"

/*
 * standin_find - look below each of the user's folders D, then below /usr/lib/debug:
 *   D/.build-id/xx/yyyy.debug, D/.build-id/xx/yyyy, and, below the user's, D/PATH,
 *   D/PATH.debug, D/NAME, D/NAME.debug
 * and then fetch it.
 *   has_file  the module itself was found: only files with debug information are of use
 * NULL: there is none, or memory ran out.
 */
struct sym_module *standin_find(const struct profile_module *m, const struct sym_search *search,
				bool has_file);

#endif
