/* Which profile is meant when none is named. */
#ifndef NEAP_CMD_FIND_H
#define NEAP_CMD_FIND_H

#include "src/base/err.h"

/*
 * newest_profile - the regular file *.neap of a directory that was written last; of equally
 * old ones the last by name.
 *   path_out  freed by the caller with mem_free; "dir/name", or only the name if dir is "."
 * Fails: ERR_ABSENT (none there; says how to record one), ERR_IO, ERR_NOMEM; NULL then.
 */
enum neap_err newest_profile(const char *dir, char **path_out, struct err *e);

/* profile_fail - cmd_fail_to_read, and what to do with a file of another tool. */
int profile_fail(const char *path, const struct err *e);

/* profile_path - of a name at the command line: "-" is standard input, as for import and query. */
const char *profile_path(const char *name);

#endif
