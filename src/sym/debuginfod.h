/*
 * Debug information and sources from debuginfod servers, by build id.
 *
 * The library is opened when it is needed, so that neap neither depends on it nor has its
 * network code in every process.  What it fetched it keeps in its own cache
 * (DEBUGINFOD_CACHE_PATH, else ~/.cache/debuginfod_client).
 */
#ifndef NEAP_SYM_DEBUGINFOD_H
#define NEAP_SYM_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/sym/sym.h"

struct debuginfod;

struct debuginfod_options {
	/*
	 * May be NULL.  Called about once a second while something is fetched, from the thread that
	 * waits for it.  all_bytes 0: not known yet.
	 */
	void (*progress)(void *context, const char *what, uint64_t done_bytes, uint64_t all_bytes);
	void *context;
	/* May be NULL.  Asked as often, from the same thread: is what is fetched not wanted any more? */
	bool (*is_stopped)(void *context);
	unsigned patience_ms; /* a server that sends nothing for so long is given up; 0: 20 s */
};

/* debuginfod_is_set_up - does DEBUGINFOD_URLS name a server? */
bool debuginfod_is_set_up(void);

/*
 * debuginfod_new
 * Fails: ERR_ABSENT (DEBUGINFOD_URLS is not set), ERR_UNSUPPORTED (no library), ERR_NOMEM;
 *        the message says what to do.
 */
enum neap_err debuginfod_new(const struct debuginfod_options *o, struct debuginfod **out,
			     struct err *e);
void debuginfod_free(struct debuginfod *d); /* NULL is fine */

/*
 * debuginfod_fetch - as fetch of struct sym_search; context is a struct debuginfod.  May be
 * called from several threads, which wait for each other.  After a server did not answer
 * nothing is asked any more, so that a broken network costs its time once.
 */
int debuginfod_fetch(void *context, enum sym_file_kind kind, const uint8_t *build_id,
		     size_t build_id_bytes);
/* debuginfod_fetch_source - the same for a source file by its path in the debug information. */
int debuginfod_fetch_source(struct debuginfod *d, const uint8_t *build_id, size_t build_id_bytes,
			    const char *path);
/* debuginfod_trouble - why nothing is asked any more; "" if all is well. */
const char *debuginfod_trouble(const struct debuginfod *d);

#endif
