/* Asking for a source that is not here: the first module that has code from it can say which one it is. */
#ifndef NEAP_REPORT_SOURCE_ASK_H
#define NEAP_REPORT_SOURCE_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "src/graph/graph.h"

struct source_ask {
	const struct graph *graph;
	/* The source of a module by its path in the debug information: a descriptor, or -1. */
	int (*fetch)(void *context, const uint8_t *build_id, size_t build_id_bytes,
		     const char *path);
	void *context;
};
/* source_ask - as fetch of struct lines_search; context is a struct source_ask. */
int source_ask(void *context, const char *path);

#endif
