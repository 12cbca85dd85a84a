/* Frames as valgrind's tools write them: "0x4C2FB0F: malloc (vg_replace_malloc.c:299)". */
#ifndef NEAP_EXCHANGE_VALGRIND_H
#define NEAP_EXCHANGE_VALGRIND_H

#include "src/exchange/import.h"

/*
 * valgrind_frame - the frame that a text describes:
 *   0xADDR: FUNCTION (FILE:LINE)   or (FILE:LINE:COLUMN), or (in MODULE), or nothing in brackets
 * Functions called ??? have no name.  Text that begins with no address is a name.
 * Returns 0 after a failure of the builder.
 */
frame_id valgrind_frame(struct import *im, const char *text, size_t bytes);

#endif
