/* Only one thread: the one that has most of what is selected. */
#ifndef NEAP_TUI_ONLY_THREAD_H
#define NEAP_TUI_ONLY_THREAD_H

#include "tui/browser.h"

/*
 * only_thread - keep the thread that has most bytes of the blocks with this function on their
 * stack; NULL: of all that are shown.  Says how much that is.  Cost: one query.
 */
void only_thread(struct browser *b, const struct graph_frame *f);
/* only_thread_where - the same of the blocks for which a condition of the language holds. */
void only_thread_where(struct browser *b, const char *condition);
/* only_thread_id - of what the row of a thread is called, "name #2"; 0: unknown. */
thread_id only_thread_id(const struct browser *b, const char *key);
/* only_thread_put - append "thread=2" for what the row of a thread is called, "name #2". */
void only_thread_put(const struct browser *b, const char *key, struct buf *out);
/* only_thread_named - keep a thread by what its row is called, "name #2". */
void only_thread_named(struct browser *b, const char *key);

#endif
