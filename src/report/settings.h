/*
 * What the user sets for all commands that read profiles: in a file, and by options.
 *
 *   # comment
 *   wrapper = ^pool_(alloc|grow)$
 *   source-path = /build/server=~/src/server
 */
#ifndef NEAP_REPORT_SETTINGS_H
#define NEAP_REPORT_SETTINGS_H

#include <stddef.h>

#include "query/wrappers.h"
#include "src/base/err.h"
#include "src/report/lines.h"

/* Zero-initialised is nothing set. */
struct settings {
	struct query_wrappers *wrappers; /* NULL: none */
	struct source_map sources;
};

/*
 * settings_load - add what is in $NEAP_CONFIG, else $XDG_CONFIG_HOME/neap/config, else
 * ~/.config/neap/config.  No such file, or none that may be read, is fine unless NEAP_CONFIG names it; NEAP_CONFIG set to
 * nothing means none.
 * Fails: ERR_IO, ERR_USAGE (a line that is no setting; the message names it), ERR_NOMEM.
 */
enum neap_err settings_load(struct settings *s, struct err *e);
void settings_release(struct settings *s);

/* settings_add_wrapper - as the line `wrapper = REGEX`.  Fails: ERR_USAGE, ERR_NOMEM. */
enum neap_err settings_add_wrapper(struct settings *s, const char *regex, struct err *e);
/* settings_add_source_path - as `source-path = FROM=TO`.  The first that fits a path counts. */
enum neap_err settings_add_source_path(struct settings *s, const char *from_to, struct err *e);

#endif
