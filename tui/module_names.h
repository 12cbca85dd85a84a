/* How much of each module has names: what a person needs to know to get better ones. */
#ifndef NEAP_TUI_MODULE_NAMES_H
#define NEAP_TUI_MODULE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "src/profile/profile.h"

struct module_names {
	size_t frames, named, with_lines; /* return addresses in it */
	bool has_symbols;                 /* the file has names of anything */
};
/* module_names_count - into [module_count].  Cost: linear in frames. */
void module_names_count(const struct profile *p, struct module_names *out);
/* module_names_say - "120 of 5,000 call sites have names, ...", and what would help. */
void module_names_say(const struct module_names *n, struct buf *out);

#endif
