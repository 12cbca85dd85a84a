/*
 * Names that were looked up before, for processes that run the same modules: a program with
 * hundreds of small children would else read the same debug information hundreds of times.
 * Kept by build id and path, in memory, for one recording.
 */
#ifndef NEAP_SYM_CACHE_H
#define NEAP_SYM_CACHE_H

#include "src/sym/job.h"
#include "src/sym/symbolise.h"

/*
 * symbol_cache_find - what is known of a module: a job that belongs to the cache, with its
 * frames in ascending order, each address once.  Calls may come from several threads, but
 * only one may use what is known of one module at a time.
 * NULL: nothing is kept of this module (it has no build id, so another file may lie at its
 * path by the time of the next process), or memory ran out.
 */
struct job *symbol_cache_find(struct symbol_cache *c, const struct profile_module *m);

/*
 * symbol_cache_missing - the frames of a job whose addresses are not known yet, as a job of
 * its own with the same module.  Free its frames, and clear it.  False: out of memory.
 */
bool symbol_cache_missing(const struct job *known, const struct job *job, struct job *rest_out);
/* symbol_cache_learn - add what was found of a rest.  False: out of memory; *known is then empty. */
bool symbol_cache_learn(struct job *known, const struct job *rest);
/* symbol_cache_recall - give a job, all of whose addresses are known, their names.  False: out of memory. */
bool symbol_cache_recall(const struct job *known, struct job *job);

#endif
