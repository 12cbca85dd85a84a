/* The list of foreign formats, for neap import --formats and neap export --formats. */
#ifndef NEAP_CMD_FORMATS_H
#define NEAP_CMD_FORMATS_H

#include <stdbool.h>

/* print_formats - those that can be read, or written, to standard output; returns the exit status. */
int print_formats(bool is_export);

#endif
