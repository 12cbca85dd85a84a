/* Reading UTF-8 that may be broken. */
#ifndef NEAP_BASE_UTF8_H
#define NEAP_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT 0xfffdu

/*
 * utf8_decode - the code point at p < end, and how many bytes it takes.
 * Invalid input (stray or missing continuation, overlong form, surrogate, past
 * U+10FFFF) gives UTF8_REPLACEMENT for one byte.
 */
uint32_t utf8_decode(const uint8_t *p, const uint8_t *end, size_t *bytes_out);

#endif
