/*
 * Numbers, times and hostile names for people.  All functions write at most
 * cap bytes including the NUL and return dst, so that they can be used inside
 * a printf.  FMT_BYTES is enough for every number.  Locale-independent.
 */
#ifndef NEAP_BASE_FMT_H
#define NEAP_BASE_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FMT_BYTES 32

const char *fmt_bytes(char *dst, size_t cap, int64_t bytes); /* "0 B", "42.1 MiB", "-3.0 KiB" */
const char *fmt_count(char *dst, size_t cap, int64_t count); /* "1,234,567" */
/* "1 block", "1,234 blocks", of the word for one; FMT_THINGS_BYTES is enough. */
#define FMT_THINGS_BYTES 64
const char *fmt_things(char *dst, size_t cap, int64_t count, const char *thing);
const char *fmt_pct(char *dst, size_t cap, double part,
		    double whole);                            /* "12.3 %"; "-" if whole is 0 */
const char *fmt_duration(char *dst, size_t cap, uint64_t ns); /* "0.50 s", "12.3 ms", "1 h 02 m" */
const char *fmt_hex(char *dst, size_t cap, const uint8_t *data, size_t bytes);

/*
 * fmt_safe - copy a name for a terminal: control characters, escape sequences, bidi
 * controls and invalid UTF-8 become U+FFFD (or '?' unless is_utf8).
 */
const char *fmt_safe(char *dst, size_t cap, const char *s, size_t bytes, bool is_utf8);
/* fmt_width - columns the UTF-8 string takes on a terminal (wcwidth of a fixed table, not the locale). */
size_t fmt_width(const char *s, size_t bytes);
/*
 * fmt_elide - fit s into width columns by cutting in the middle with "…" ("..." unless is_utf8),
 * keeping the end, where a qualified name has the function's own name.
 */
const char *fmt_elide(char *dst, size_t cap, const char *s, size_t width, bool is_utf8);

#endif
