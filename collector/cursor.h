/*
 * Bounded reading of the encodings of .eh_frame.  A failed cursor returns zeros.
 * Class: R0.
 */
#ifndef NEAP_COLLECTOR_CURSOR_H
#define NEAP_COLLECTOR_CURSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct nc_cursor {
	const uint8_t *p, *end;
	bool has_failed;
};

static inline bool nc_cursor_has(struct nc_cursor *c, uint64_t bytes)
{
	if ((uint64_t)(c->end - c->p) >= bytes)
		return true;
	c->has_failed = true;
	return false;
}

#define NC_DEFINE_READ(name, type)                   \
	static inline type name(struct nc_cursor *c) \
	{                                            \
		type v = 0;                          \
		if (nc_cursor_has(c, sizeof v)) {    \
			memcpy(&v, c->p, sizeof v);  \
			c->p += sizeof v;            \
		}                                    \
		return v;                            \
	}
NC_DEFINE_READ(nc_read_u8, uint8_t)
NC_DEFINE_READ(nc_read_u16, uint16_t)
NC_DEFINE_READ(nc_read_u32, uint32_t)
NC_DEFINE_READ(nc_read_u64, uint64_t)
#undef NC_DEFINE_READ

static inline uint64_t nc_read_uleb(struct nc_cursor *c)
{
	uint64_t v = 0;
	uint32_t shift = 0;
	uint8_t byte;
	do {
		byte = nc_read_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return v;
}

static inline int64_t nc_read_sleb(struct nc_cursor *c)
{
	uint64_t v = 0;
	uint32_t shift = 0;
	uint8_t byte;
	do {
		byte = nc_read_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (shift < 64 && (byte & 64))
		v |= -(1ull << shift);
	return (int64_t)v;
}

/* A pointer in a DW_EH_PE encoding; relative to its own place where the encoding says so. */
static inline uint64_t nc_read_encoded(struct nc_cursor *c, uint8_t encoding)
{
	uint64_t at = (uint64_t)c->p, v;
	switch (encoding & 15) {
	case 0x01:
		v = nc_read_uleb(c);
		break;
	case 0x02:
		v = nc_read_u16(c);
		break;
	case 0x03:
		v = nc_read_u32(c);
		break;
	case 0x09:
		v = (uint64_t)nc_read_sleb(c);
		break;
	case 0x0a:
		v = (uint64_t)(int64_t)(int16_t)nc_read_u16(c);
		break;
	case 0x0b:
		v = (uint64_t)(int64_t)(int32_t)nc_read_u32(c);
		break;
	default: /* 0x00, 0x04, 0x0c */
		v = nc_read_u64(c);
		break;
	}
	return v && (encoding & 0x70) == 0x10 ? v + at : v;
}

/* The contents of the entry at `entry`, after its length; p is NULL at the terminator. */
static inline struct nc_cursor nc_cursor_entry(const uint8_t *entry)
{
	struct nc_cursor none = {0, 0, true};
	uint32_t bytes32;
	memcpy(&bytes32, entry, sizeof bytes32);
	if (bytes32 == 0)
		return none;
	if (bytes32 != 0xffffffffu)
		return (struct nc_cursor){entry + 4, entry + 4 + bytes32, false};
	return none; /* 64-bit entries: no linker writes them into .eh_frame */
}

#endif
