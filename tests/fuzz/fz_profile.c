/*
 * Feeds bytes to the reader, the checker and the dump of profiles.
 *
 * First as they are; then with every checksum made right, because nearly every change
 * of a valid file fails at a checksum and would never reach the code behind it; then as
 * the raw content of single blocks behind a good beginning, because changed bytes are
 * rarely valid zstd.  What the reader accepts is judged by sample_wrong: no id may lead
 * outside of its table.
 *
 * With clang: libFuzzer.  With replay.c: a program that replays files.
 */
#include "config.h"

#include "src/base/crc32c.h"
#include "src/profile/info.h"
#include "src/profile/profile_priv.h"
#include "tests/unit/sample_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void use(const void *data, size_t bytes)
{
	struct profile *p;
	struct err e;
	struct buf text = {0};
	if (!profile_parse(data, bytes, "fuzz", &p, &e)) {
		const char *wrong = sample_wrong(p);
		if (wrong) {
			fprintf(stderr, "reader let through: %s\n", wrong);
			abort();
		}
		profile_check(p, &text);
		profile_info_text(p, true, &text);
		profile_info_json(p, &text);
		profile_free(p);
	}
	profile_dump(data, bytes, "fuzz", &text, &e);
	buf_release(&text);
}

static void put_le32(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> (8 * i));
}

static uint32_t get_le32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Header and blocks get the checksums they should have; lengths are believed as far as they go. */
static void fix_checksums(uint8_t *data, size_t bytes)
{
	if (bytes < FILE_FIXED_BYTES + 4)
		return;
	size_t names = get_le32(data + FILE_FIXED_BYTES - 4);
	if (names > bytes - FILE_FIXED_BYTES - 4)
		return;
	size_t pos = FILE_FIXED_BYTES + names;
	put_le32(data + pos, crc32c(0, data, pos));
	for (pos += 4; bytes - pos >= BLOCK_HEADER_BYTES;) {
		uint8_t *b = data + pos;
		size_t stored = get_le32(b + 2);
		if (stored > bytes - pos - BLOCK_HEADER_BYTES)
			return;
		put_le32(b + 10, crc32c(0, b + BLOCK_HEADER_BYTES, stored));
		put_le32(b + 14, crc32c(0, b, BLOCK_HEADER_BYTES - 4));
		pos += BLOCK_HEADER_BYTES + stored;
	}
}

static void put_raw_block(struct buf *out, unsigned type, const uint8_t *raw, size_t bytes)
{
	size_t start = out->count_bytes;
	buf_u8(out, (uint8_t)type);
	buf_u8(out, 0);
	buf_u32(out, (uint32_t)bytes);
	buf_u32(out, (uint32_t)bytes);
	buf_u32(out, crc32c(0, raw, bytes));
	if (!out->has_failed)
		buf_u32(out, crc32c(0, out->data + start, BLOCK_HEADER_BYTES - 4));
	buf_put(out, raw, bytes);
}

/*
 * The input as raw blocks behind a profile that has a bit of everything: for each its type
 * in one byte, its length in two, then the content.
 */
static void use_as_blocks(const uint8_t *data, size_t bytes)
{
	static struct buf beginning; /* the same for every input, so it is made once */
	struct buf file = {0};
	struct err e;
	if (!beginning.count_bytes && sample_write(sample_small, NULL, &beginning, &e))
		abort();
	buf_put(&file, beginning.data, beginning.count_bytes);
	while (bytes >= 3) {
		size_t length = data[1] | (size_t)data[2] << 8;
		if (length > bytes - 3)
			length = bytes - 3;
		put_raw_block(&file, data[0] % (BLOCK_TYPE_COUNT + 1), data + 3, length);
		data += 3 + length;
		bytes -= 3 + length;
	}
	use(file.data, file.count_bytes);
	buf_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	use(data, bytes);
	uint8_t *copy = mem_array(bytes, 1);
	if (!copy)
		return 0;
	if (bytes)
		memcpy(copy, data, bytes);
	fix_checksums(copy, bytes);
	use(copy, bytes);
	mem_free(copy);
	if (bytes < FILE_MAGIC_BYTES || memcmp(data, FILE_MAGIC, FILE_MAGIC_BYTES) != 0)
		use_as_blocks(data, bytes);
	return 0;
}
