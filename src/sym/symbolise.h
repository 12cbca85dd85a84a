/*
 * Names for all frames of a profile at once: opens each module, looks up every
 * frame's pc - 1 and builds the table of functions, files and lines that the
 * profile's symbols block holds.  Called by the recorder when a recording ends and
 * by `neap symbolize` later.
 */
#ifndef NEAP_SYM_SYMBOLISE_H
#define NEAP_SYM_SYMBOLISE_H

#include <stddef.h>

#include "src/base/err.h"
#include "src/base/map.h"
#include "src/profile/profile.h"
#include "src/sym/sym.h"

/*
 * struct symbol_cache - names found for one profile, to be used for the next: of all processes
 * of a recording.  One symbolise_frames at a time may use it.
 */
struct symbol_cache;
struct jit_map;
struct symbol_cache *symbol_cache_new(void); /* NULL: out of memory; a request goes without */
void symbol_cache_free(struct symbol_cache *c);

struct symbolise_request {
	const struct profile_module *modules; /* [module_count], mod_id - 1 */
	size_t module_count;
	const struct profile_frame *frames; /* [frame_count], frame_id - 1 */
	size_t frame_count;
	/* Who calls whom, by frame_id: for functions that left with a jump.  Empty: no such are sought */
	struct profile_tree tree;
	/*
	 * [module_count], or NULL: open files of the modules, for programs that are gone or
	 * replaced by now; -1 = open the module's path.  Borrowed, not closed.
	 */
	const int *module_fds;
	struct sym_search search;  /* where files are besides their own places */
	const struct jit_map *jit; /* names of code in no module (jitmap.h); may be NULL */
	/*
	 * When the profile was recorded, if that is over: a module without build id is then only
	 * believed to be the file at its path if that is no younger.  0: being recorded.
	 */
	uint64_t recorded_unix_ns;
	/*
	 * May be NULL.  Called now and then with the number of frames looked up so far, from the
	 * threads that do the work but never from two at once.
	 */
	void (*progress)(void *context, size_t done_count, size_t all_count);
	void *progress_context;
	struct symbol_cache *cache; /* may be NULL */
	unsigned thread_count;      /* 0 = one per processor, at most 2 */
};

/* What came out.  Everything is owned by the result; symbols can be given to profile_add_symbols. */
struct symbolise_result {
	struct profile_symbols
		symbols; /* one run per frame of the request, then of symbols.tails */
	/* one line each, for people: "no names for the code of /usr/lib/libfoo.so: build id ..." */
	char **warnings;
	size_t *warning_module_idx; /* [warning_count]: in modules of the request */
	size_t warning_count, warning_cap, warning_module_cap;
	size_t named_count; /* frames with at least a function */
	size_t lined_count; /* frames with a line of source */
	struct arena arena; /* strings of symbols */
};

/*
 * symbolise_frames - fill `out`, which need not be initialised.
 *
 * A module that cannot be opened or read costs the names of its own frames only and adds a
 * warning; that is no error.  Same modules and files: same result, whatever the threads do.
 * Cost:    each compilation unit that holds an address is read once; one module's debug
 *          information per thread is in memory at a time.
 * Fails:   ERR_NOMEM only.  `out` is then empty; releasing it is still allowed.
 */
enum neap_err symbolise_frames(const struct symbolise_request *req, struct symbolise_result *out,
			       struct err *e);
void symbolise_release(struct symbolise_result *out);

#endif
