/*
 * The frame of the file: its header, and blocks with checksum and compression.
 *
 *   header   magic 8, version 4, required 4, optional 4, names length 4, names, CRC-32C 4
 *   block    type 1, flags 1, stored bytes 4, raw bytes 4, CRC-32C of the stored
 *            bytes 4, CRC-32C of these 14 bytes 4; then the stored bytes
 *
 * The checksum of the header makes the length trustworthy, so a damaged payload can be
 * stepped over; a damaged header is left behind by looking for the next good one.
 */
#include "config.h"

#include "src/profile/profile_priv.h"

#include <string.h>
#include <zstd.h>

#include "src/base/crc32c.h"

#define LEVEL 3

/* ---- file header ------------------------------------------------------------------- */

void file_header_put(struct buf *out)
{
	static const char names[] = "zstd"; /* one NUL-terminated name per set bit */
	size_t start = out->count_bytes;
	buf_put(out, FILE_MAGIC, FILE_MAGIC_BYTES);
	buf_u32(out, FILE_VERSION);
	buf_u32(out, FEATURE_ZSTD);
	buf_u32(out, 0);
	buf_u32(out, sizeof names);
	buf_put(out, names, sizeof names);
	if (!out->has_failed)
		buf_u32(out, crc32c(0, out->data + start, out->count_bytes - start));
}

/* Name of required feature `bit`: as many names stand before it as there are lower bits set. */
static const char *feature_name(uint32_t required, unsigned bit, const char *names, size_t bytes)
{
	const char *end = names + bytes;
	for (unsigned before = 0; before < bit; before++) {
		if (!(required >> before & 1))
			continue;
		const char *nul = names < end ? memchr(names, 0, (size_t)(end - names)) : NULL;
		if (!nul)
			return "";
		names = nul + 1;
	}
	return names < end && memchr(names, 0, (size_t)(end - names)) ? names : "";
}

static enum neap_err check_magic(const uint8_t *data, size_t bytes, const char *name, struct err *e)
{
	size_t n = bytes < FILE_MAGIC_BYTES ? bytes : FILE_MAGIC_BYTES;
	if (!bytes)
		return err_corrupt(e, "'%s' is empty, not a neap profile", name);
	if (!memcmp(data, FILE_MAGIC, n))
		return NEAP_OK;
	/* The name is there, but not the line end: what a transfer as text does. */
	if (bytes >= FILE_MAGIC_BYTES && !memcmp(data + 1, "NEAP", 4))
		return err_corrupt(e, "'%s' was damaged by a transfer as text; copy it as binary",
				   name);
	return err_corrupt(e, "'%s' is not a neap profile", name);
}

enum neap_err file_header_check(const void *data, size_t bytes, const char *name, size_t *bytes_out,
				struct err *e)
{
	*bytes_out = 0;
	enum neap_err err = check_magic(data, bytes, name, e);
	if (err)
		return err;
	struct reader r = reader_init(data, bytes);
	reader_bytes(&r, FILE_MAGIC_BYTES);
	uint32_t version = reader_u32(&r), required = reader_u32(&r);
	reader_u32(&r); /* optional features may be unknown */
	uint32_t names_bytes = reader_u32(&r);
	if (!r.has_failed && names_bytes > FILE_NAMES_MOST_BYTES)
		return err_corrupt(e, "the header of '%s' is damaged", name);
	const char *names = (const char *)reader_bytes(&r, names_bytes);
	uint32_t crc = reader_u32(&r);
	if (r.has_failed)
		return err_corrupt(e, "'%s' is cut inside its header (%zu bytes)", name, bytes);
	if (crc != crc32c(0, data, FILE_FIXED_BYTES + names_bytes))
		return err_corrupt(e, "the header of '%s' is damaged", name);
	if (version != FILE_VERSION)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' has format version %u; this neap reads version %u", name,
			       version, FILE_VERSION);
	uint32_t unknown = required & ~FEATURE_ZSTD;
	if (unknown) {
		unsigned bit = (unsigned)__builtin_ctz(unknown);
		const char *feature = feature_name(required, bit, names, names_bytes);
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' needs the feature '%s' (bit %u), which this neap does not have", name,
			feature, bit);
	}
	*bytes_out = FILE_FIXED_BYTES + names_bytes + 4;
	return NEAP_OK;
}

/* ---- finding blocks ------------------------------------------------------------------- */

/* A header with a right checksum at data; whether its payload is there is not looked at. */
static bool parse_header(const uint8_t *data, size_t bytes, struct block *out)
{
	struct reader r = reader_init(data, bytes);
	out->type = reader_u8(&r);
	out->flags = reader_u8(&r);
	out->stored_bytes = reader_u32(&r);
	out->raw_bytes = reader_u32(&r);
	out->crc = reader_u32(&r);
	uint32_t header_crc = reader_u32(&r);
	out->stored = r.p;
	return !r.has_failed && header_crc == crc32c(0, data, BLOCK_HEADER_BYTES - 4);
}

/* After a damaged header: the next place that starts with a good one, or `bytes`. */
static size_t resync(const uint8_t *data, size_t bytes, size_t pos)
{
	struct block b;
	while (pos < bytes && !parse_header(data + pos, bytes - pos, &b))
		pos++;
	return pos;
}

enum block_state block_next(const uint8_t *data, size_t bytes, size_t *pos, struct block *out)
{
	*out = (struct block){.offset = *pos};
	if (*pos >= bytes)
		return BLOCK_LAST;
	if (!parse_header(data + *pos, bytes - *pos, out)) {
		*out = (struct block){.offset = *pos};
		size_t next = resync(data, bytes, *pos + 1);
		if (next >= bytes)
			return BLOCK_CUT;
		*pos = next;
		return BLOCK_DAMAGED;
	}
	size_t left = bytes - *pos - BLOCK_HEADER_BYTES;
	if (out->stored_bytes > left)
		return BLOCK_CUT;
	*pos += BLOCK_HEADER_BYTES + out->stored_bytes;
	return crc32c(0, out->stored, out->stored_bytes) == out->crc ? BLOCK_WHOLE : BLOCK_DAMAGED;
}

/* ---- reading ---------------------------------------------------------------------------- */

struct block_opener {
	ZSTD_DCtx *zstd;
	uint8_t *raw;
	size_t raw_cap;
};

struct block_opener *block_opener_new(void)
{
	struct block_opener *o = mem_zalloc(sizeof *o);
	if (o && !(o->zstd = ZSTD_createDCtx())) {
		mem_free(o);
		return NULL;
	}
	return o;
}

void block_opener_free(struct block_opener *o)
{
	if (!o)
		return;
	ZSTD_freeDCtx(o->zstd);
	mem_free(o->raw);
	mem_free(o);
}

enum neap_err block_open(struct block_opener *o, const struct block *b, struct reader *out,
			 struct err *e)
{
	*out = reader_init(NULL, 0);
	if (b->flags & ~(unsigned)BLOCK_IS_ZSTD)
		return err_corrupt(e, "block at %llu has unknown flags 0x%x",
				   (unsigned long long)b->offset, b->flags);
	if (!(b->flags & BLOCK_IS_ZSTD)) {
		if (b->raw_bytes != b->stored_bytes)
			return err_corrupt(e, "block at %llu has two lengths",
					   (unsigned long long)b->offset);
		*out = reader_init(b->stored, b->stored_bytes);
		return NEAP_OK;
	}
	if (b->raw_bytes > LIMIT_BLOCK_BYTES ||
	    b->raw_bytes > (uint64_t)b->stored_bytes * BLOCK_RATIO_MOST)
		return err_corrupt(e, "block at %llu claims %u bytes in %u",
				   (unsigned long long)b->offset, b->raw_bytes, b->stored_bytes);
	if (!vec_reserve((void **)&o->raw, &o->raw_cap, b->raw_bytes, 1))
		return err_nomem(e, "a block of the profile");
	size_t n = ZSTD_decompressDCtx(o->zstd, o->raw, b->raw_bytes, b->stored, b->stored_bytes);
	if (ZSTD_isError(n) || n != b->raw_bytes)
		return err_corrupt(e, "block at %llu cannot be decompressed: %s",
				   (unsigned long long)b->offset,
				   ZSTD_isError(n) ? ZSTD_getErrorName(n) : "wrong length");
	*out = reader_init(o->raw, n);
	return NEAP_OK;
}

/* ---- writing ----------------------------------------------------------------------------- */

struct block_packer {
	ZSTD_CCtx *zstd;
	char *stored;
	size_t stored_cap;
};

struct block_packer *block_packer_new(void)
{
	struct block_packer *k = mem_zalloc(sizeof *k);
	if (k && !(k->zstd = ZSTD_createCCtx())) {
		mem_free(k);
		return NULL;
	}
	return k;
}

void block_packer_free(struct block_packer *k)
{
	if (!k)
		return;
	ZSTD_freeCCtx(k->zstd);
	mem_free(k->stored);
	mem_free(k);
}

/* Zeros in a frame that zstd skips, so that no block exceeds BLOCK_RATIO_MOST. */
static void put_padding(struct block_packer *k, size_t *stored_bytes, size_t raw_bytes)
{
	size_t least = raw_bytes / BLOCK_RATIO_MOST + 1;
	if (*stored_bytes >= least)
		return;
	size_t pad = least - *stored_bytes;
	if (pad < 8)
		pad = 8;
	uint8_t *at = (uint8_t *)k->stored + *stored_bytes;
	memset(at, 0, pad);
	memcpy(at, "\x50\x2a\x4d\x18", 4); /* a skippable frame: magic, length, content */
	for (unsigned i = 0; i < 4; i++)
		at[4 + i] = (uint8_t)((pad - 8) >> (8 * i));
	*stored_bytes += pad;
}

static void put_block(struct buf *out, unsigned type, unsigned flags, size_t raw_bytes,
		      const void *stored, size_t stored_bytes)
{
	size_t start = out->count_bytes;
	buf_u8(out, (uint8_t)type);
	buf_u8(out, (uint8_t)flags);
	buf_u32(out, (uint32_t)stored_bytes);
	buf_u32(out, (uint32_t)raw_bytes);
	buf_u32(out, crc32c(0, stored, stored_bytes));
	if (!out->has_failed)
		buf_u32(out, crc32c(0, out->data + start, BLOCK_HEADER_BYTES - 4));
	buf_put(out, stored, stored_bytes);
}

enum neap_err block_pack(struct block_packer *k, enum block_type type, const struct buf *raw,
			 struct buf *out, struct err *e)
{
	size_t raw_bytes = raw->count_bytes;
	if (raw->has_failed)
		return err_nomem(e, "the profile's buffers");
	if (raw_bytes > LIMIT_BLOCK_BYTES)
		return err_set(e, ERR_LIMIT, "a block of %zu bytes of %s exceeds LIMIT_BLOCK_BYTES",
			       raw_bytes, block_type_name(type));
	/* Room for the padding too: it is smaller than the payload, or 8 bytes. */
	size_t room = ZSTD_compressBound(raw_bytes) + raw_bytes / BLOCK_RATIO_MOST + 16;
	if (!vec_reserve((void **)&k->stored, &k->stored_cap, room, 1))
		return err_nomem(e, "a block of the profile");
	size_t n = ZSTD_compressCCtx(k->zstd, k->stored, room, raw->data, raw_bytes, LEVEL);
	if (!ZSTD_isError(n) && n < raw_bytes) {
		put_padding(k, &n, raw_bytes);
		put_block(out, type, BLOCK_IS_ZSTD, raw_bytes, k->stored, n);
	} else {
		put_block(out, type, 0, raw_bytes, raw->data, raw_bytes);
	}
	return out->has_failed ? err_nomem(e, "the profile's buffers") : NEAP_OK;
}
