/* Which modules have code from a source. */
#include "config.h"

#include "src/report/source_ask.h"

#include <string.h>

#include "src/profile/profile.h"

int source_ask(void *context, const char *path)
{
	const struct source_ask *ask = context;
	const struct profile *p = graph_profile(ask->graph);
	mod_id asked = 0;
	int fd = -1;
	for (entry_id i = 0; fd < 0 && i < graph_entry_count(ask->graph); i++) {
		struct graph_frame f = graph_entry(ask->graph, i);
		if (!f.file || !f.module || f.module == asked || strcmp(f.file_path, path) != 0)
			continue;
		asked = f.module;
		const struct profile_module *m = &p->modules[f.module - 1];
		fd = ask->fetch(ask->context, m->build_id, m->build_id_bytes, path);
	}
	return fd;
}
