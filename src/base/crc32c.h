/* CRC-32C (Castagnoli), the checksum of the blocks of a profile. */
#ifndef NEAP_BASE_CRC32C_H
#define NEAP_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc32c - checksum of data going on from `crc`, which is 0 at the start.  Uses SSE 4.2 if there. */
uint32_t crc32c(uint32_t crc, const void *data, size_t bytes);
/* The same without special instructions: the fallback, and the reference in tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t bytes);

#endif
