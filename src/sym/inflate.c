/*
 * The only file of src/sym that knows compression libraries.  libdeflate, where it is,
 * takes a third of zlib's time.
 */
#include "config.h"

#include "src/sym/sym_priv.h"

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif
#include <lzma.h>
#include <zstd.h>

#define XZ_MEMORY_BYTES ((uint64_t)256 << 20)
#define XZ_MOST_BYTES   ((size_t)256 << 20)
#define XZ_CHUNK_BYTES  ((size_t)64 << 10)

static bool inflate_zlib(const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
#ifdef HAVE_LIBDEFLATE
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	if (!d)
		return false;
	enum libdeflate_result result =
		libdeflate_zlib_decompress(d, in, in_bytes, out, out_bytes, NULL);
	libdeflate_free_decompressor(d);
	return result == LIBDEFLATE_SUCCESS;
#else
	uLongf got_bytes = (uLongf)out_bytes;
	return uncompress(out, &got_bytes, in, (uLong)in_bytes) == Z_OK && got_bytes == out_bytes;
#endif
}

bool inflate_exact(enum inflate_kind kind, const void *in, size_t in_bytes, void *out,
		   size_t out_bytes)
{
	if (kind == INFLATE_ZSTD)
		return ZSTD_decompress(out, out_bytes, in, in_bytes) == out_bytes;
	return inflate_zlib(in, in_bytes, out, out_bytes);
}

/* Until the stream ends; false: damaged, too large, or out of memory. */
static bool run_xz(lzma_stream *s, struct buf *out)
{
	char *chunk = mem_alloc(XZ_CHUNK_BYTES);
	lzma_ret rc = chunk ? LZMA_OK : LZMA_MEM_ERROR;
	while (rc == LZMA_OK && out->count_bytes <= XZ_MOST_BYTES && !out->has_failed) {
		s->next_out = (uint8_t *)chunk;
		s->avail_out = XZ_CHUNK_BYTES;
		rc = lzma_code(s, LZMA_FINISH);
		buf_put(out, chunk, XZ_CHUNK_BYTES - s->avail_out);
	}
	mem_free(chunk);
	return rc == LZMA_STREAM_END && out->count_bytes <= XZ_MOST_BYTES && !out->has_failed;
}

bool inflate_xz(const void *in, size_t in_bytes, struct buf *out)
{
	lzma_stream s = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&s, XZ_MEMORY_BYTES, 0) != LZMA_OK)
		return false;
	s.next_in = in;
	s.avail_in = in_bytes;
	bool is_ok = run_xz(&s, out);
	lzma_end(&s);
	return is_ok;
}
