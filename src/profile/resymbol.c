/* A profile with other names: all blocks as they are, but for those of symbols and of tail calls. */
#include "config.h"

#include "src/profile/profile_priv.h"
#include "src/profile/writer_priv.h"

/* Every block that is no symbols block; what follows the last whole one is left out. */
static void copy_blocks(const uint8_t *data, size_t bytes, size_t pos, struct buf *out)
{
	struct block b;
	enum block_state state;
	size_t start = pos;
	while ((state = block_next(data, bytes, &pos, &b)) != BLOCK_LAST && state != BLOCK_CUT) {
		if (b.type != BLOCK_SYMBOLS && b.type != BLOCK_TAILS)
			buf_put(out, data + start, pos - start);
		start = pos;
	}
}

static enum neap_err put_symbols(const struct profile_symbols *s, struct buf *out, struct err *e)
{
	struct buf payload = {0};
	struct block_packer *packer = block_packer_new();
	enum neap_err code = packer ? NEAP_OK : err_nomem(e, "symbols of the profile");
	if (!code) {
		symbols_payload(s, &payload);
		code = block_pack(packer, BLOCK_SYMBOLS, &payload, out, e);
	}
	if (!code && s->tails.count) {
		buf_clear(&payload);
		tails_payload(s, &payload);
		code = block_pack(packer, BLOCK_TAILS, &payload, out, e);
	}
	buf_release(&payload);
	block_packer_free(packer);
	return code;
}

enum neap_err profile_replace_symbols(const void *data, size_t bytes, const char *name,
				      const struct profile_symbols *s, struct buf *out,
				      struct err *e)
{
	size_t header_bytes;
	enum neap_err code = file_header_check(data, bytes, name, &header_bytes, e);
	if (code)
		return code;
	buf_put(out, data, header_bytes);
	copy_blocks(data, bytes, header_bytes, out);
	return put_symbols(s, out, e);
}
