/*
 * Asking profiles: a script is parsed, its queries run one after the other, results go to
 * stdout or to their files, everything else to stderr.
 */
#ifndef NEAP_CMD_ASK_H
#define NEAP_CMD_ASK_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"
#include "src/cmd/cmd.h"
#include "src/cmd/screen.h"
#include "src/report/settings.h"

enum ask_status { /* besides CMD_OK, CMD_USAGE and CMD_UNREADABLE */
	ASK_ASSERTION_FAILED = 1,
	ASK_INCOMPLETE = 4,
};

struct ask {
	const char *const *files; /* none: the newest profile here, if a query needs one */
	size_t file_count;
	bool is_strict;
	bool is_explaining;       /* the plans, not the results */
	struct settings settings; /* with what the file of settings says */
	enum colour_when colour;
	size_t width_cols; /* 0: the terminal's */
};

/*
 * ask_run - returns the exit status.  The first query that is wrong ends it; after a failed
 * assertion the rest still runs.
 *   name  of the text, for messages
 */
int ask_run(const struct ask *a, const char *name, const char *text, size_t bytes);

/* ask_run_made - the same of a query that was put together; without memory for it, a failure. */
int ask_run_made(const struct ask *a, const struct buf *text);
/* ask_check_files - CMD_OK, or CMD_USAGE after a message: there are too many. */
int ask_check_files(const struct cmd *c, int count, char *const *files);

/*
 * ask_run_default - when no query was given: `write` appends one to text, of the population that people look
 * at first ("peak"), or of one that files of other tools know ("live", "allocated").
 */
int ask_run_default(const struct ask *a,
		    void (*write)(void *arg, const char *population, struct buf *text), void *arg);

/* ask_complete - what may follow the text, one a line, with names from the profile if there is one. */
int ask_complete(const struct ask *a, const char *text);

#endif
