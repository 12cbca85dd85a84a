/* Files that are written whole or not at all. */
#ifndef NEAP_CMD_SAVE_H
#define NEAP_CMD_SAVE_H

#include <stddef.h>

#include "src/base/err.h"

/*
 * save_file - make a file hold these bytes: a temporary beside it takes its place when all is
 * written.  What exists and is no regular file (a pipe, a device) is written to directly.
 */
enum neap_err save_file(const char *path, const char *data, size_t bytes, struct err *e);

#endif
