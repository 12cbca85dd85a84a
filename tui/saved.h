/*
 * What the browser remembers of a profile from one time to the next: the view, the query,
 * folds, bookmarks.
 *
 * Files are $XDG_STATE_HOME/neap/browse/HASH, or below ~/.local/state; HASH is of what the
 * recording says of itself (when, where, which process), so that a profile that was
 * moved, copied or is still growing is the same one.  Text, a word and its value a line:
 *
 *   neap-browse 1
 *   view Tree down 0
 *   query live | min 1%
 *   subject [func="f"]
 *   mark a                  begins a bookmark; view, query and subject follow
 *   folds Tree 1f00...      what a view wants to find again
 *   end
 */
#ifndef NEAP_TUI_SAVED_H
#define NEAP_TUI_SAVED_H

#include "tui/browser.h"

#define SAVED_FILE_MOST  (256u << 10) /* bytes; larger ones are neither written nor read */
#define SAVED_FILES_KEPT 300u

/* saved_read - take over what was kept, if anything was.  What is damaged is left alone and said. */
void saved_read(struct browser *b);
/*
 * saved_write - write the file anew, whole or not at all, and remove the oldest files above
 * SAVED_FILES_KEPT.  Bookmarks that another browser has written there meanwhile are taken over.  Fails: ERR_IO, ERR_NOMEM, ERR_LIMIT, ERR_ABSENT (there is no home).
 */
enum neap_err saved_write(struct browser *b, struct err *e);

/* saved_text, saved_take - the text of the file.  saved_take: false, and nothing has changed,
 * if it is damaged. */
void saved_text(const struct browser *b, struct buf *out);
bool saved_take(struct browser *b, const char *text, size_t bytes);
/* saved_hash - of what the recordings say of themselves: others have another one. */
uint64_t saved_hash(const struct model *m);
/* saved_path - the name of the file.  False: there is no home, or no memory. */
bool saved_path(const struct browser *b, struct buf *out);

#endif
