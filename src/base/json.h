/* Strings for JSON. */
#ifndef NEAP_BASE_JSON_H
#define NEAP_BASE_JSON_H

#include <stddef.h>

#include "src/base/buf.h"

/* json_string - append s with quotes, control characters escaped; invalid UTF-8 becomes U+FFFD. */
void json_string(struct buf *out, const char *s, size_t bytes);

#endif
