/*
 * gzip, zstd, bzip2 and xz: one decompressor each behind the same three steps.
 *
 * Several streams one after the other count as one.  What follows a stream and is no further one is
 * ignored for gzip (tools pad with zeros) and an error for the others.
 */
#include "config.h"

#include "src/exchange/input_priv.h"

#include "src/base/mem.h"

#include <bzlib.h>
#include <lzma.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define IN_BYTES        ((size_t)128 << 10)
#define XZ_MEMORY_BYTES ((uint64_t)256 << 20) /* dictionaries larger than that are refused */
#define ZSTD_WINDOW_LG  27                    /* likewise: 128 MiB */

enum step {
	STEP_MORE, /* goes on */
	STEP_END,  /* a stream ended; another may follow */
	STEP_BROKEN,
	STEP_NOMEM,
};

struct unwrapper {
	struct source source;
	const char *file_name, *kind;
	/* Use in[pos .. count] and fill *dst; moves all four. */
	enum step (*step)(struct unwrapper *u, uint8_t **dst, size_t *cap);
	bool (*restart)(struct unwrapper *u); /* for the next stream; false: out of memory */
	void (*end)(struct unwrapper *u);
	uint8_t *in;
	size_t pos, count;
	bool is_at_end;    /* of what is below */
	bool is_in_stream; /* began one and did not end it */
	bool is_done;
	union {
		z_stream gzip;
		bz_stream bzip2;
		lzma_stream xz;
		ZSTD_DStream *zstd;
	} of;
};

/* ---- gzip ------------------------------------------------------------------------------ */

static void *take_memory(void *ctx, unsigned count, unsigned bytes)
{
	(void)ctx;
	return mem_array(count, bytes);
}

static void give_memory(void *ctx, void *p)
{
	(void)ctx;
	mem_free(p);
}

static bool gzip_restart(struct unwrapper *u)
{
	return inflateReset(&u->of.gzip) == Z_OK;
}

static bool gzip_begin(struct unwrapper *u)
{
	u->of.gzip = (z_stream){.zalloc = take_memory, .zfree = give_memory};
	return inflateInit2(&u->of.gzip, 15 + 16) == Z_OK; /* 16: with gzip's header */
}

static enum step gzip_step(struct unwrapper *u, uint8_t **dst, size_t *cap)
{
	z_stream *z = &u->of.gzip;
	z->next_in = u->in + u->pos;
	z->avail_in = (uInt)(u->count - u->pos);
	z->next_out = *dst;
	z->avail_out = (uInt)(*cap < IN_BYTES ? *cap : IN_BYTES);
	int result = inflate(z, Z_NO_FLUSH);
	u->pos = u->count - z->avail_in;
	*cap -= (size_t)(z->next_out - *dst);
	*dst = z->next_out;
	switch (result) {
	case Z_STREAM_END:
		return STEP_END;
	case Z_OK:
	case Z_BUF_ERROR: /* nothing to do: needs more */
		return STEP_MORE;
	case Z_MEM_ERROR:
		return STEP_NOMEM;
	default:
		return STEP_BROKEN;
	}
}

static void gzip_end(struct unwrapper *u)
{
	inflateEnd(&u->of.gzip);
}

/* ---- bzip2 ----------------------------------------------------------------------------- */

static void *bzip2_take(void *ctx, int count, int bytes)
{
	(void)ctx;
	return mem_array((size_t)count, (size_t)bytes);
}

static bool bzip2_begin(struct unwrapper *u)
{
	u->of.bzip2 = (bz_stream){.bzalloc = bzip2_take, .bzfree = give_memory};
	return BZ2_bzDecompressInit(&u->of.bzip2, 0, 0) == BZ_OK;
}

static void bzip2_end(struct unwrapper *u)
{
	BZ2_bzDecompressEnd(&u->of.bzip2);
}

static bool bzip2_restart(struct unwrapper *u)
{
	bzip2_end(u);
	return bzip2_begin(u);
}

static enum step bzip2_step(struct unwrapper *u, uint8_t **dst, size_t *cap)
{
	bz_stream *z = &u->of.bzip2;
	z->next_in = (char *)u->in + u->pos;
	z->avail_in = (unsigned)(u->count - u->pos);
	z->next_out = (char *)*dst;
	z->avail_out = (unsigned)(*cap < IN_BYTES ? *cap : IN_BYTES);
	int result = BZ2_bzDecompress(z);
	u->pos = u->count - z->avail_in;
	*cap -= (size_t)((uint8_t *)z->next_out - *dst);
	*dst = (uint8_t *)z->next_out;
	if (result == BZ_STREAM_END)
		return STEP_END;
	if (result == BZ_MEM_ERROR)
		return STEP_NOMEM;
	return result == BZ_OK ? STEP_MORE : STEP_BROKEN;
}

/* ---- xz -------------------------------------------------------------------------------- */

static bool xz_begin(struct unwrapper *u)
{
	u->of.xz = (lzma_stream)LZMA_STREAM_INIT;
	return lzma_stream_decoder(&u->of.xz, XZ_MEMORY_BYTES, 0) == LZMA_OK;
}

static void xz_end(struct unwrapper *u)
{
	lzma_end(&u->of.xz);
}

static bool xz_restart(struct unwrapper *u)
{
	xz_end(u);
	return xz_begin(u);
}

static enum step xz_step(struct unwrapper *u, uint8_t **dst, size_t *cap)
{
	lzma_stream *z = &u->of.xz;
	z->next_in = u->in + u->pos;
	z->avail_in = u->count - u->pos;
	z->next_out = *dst;
	z->avail_out = *cap;
	lzma_ret result = lzma_code(z, LZMA_RUN);
	u->pos = u->count - z->avail_in;
	*dst = z->next_out;
	*cap = z->avail_out;
	switch (result) {
	case LZMA_STREAM_END:
		return STEP_END;
	case LZMA_OK:
	case LZMA_BUF_ERROR:
		return STEP_MORE;
	case LZMA_MEM_ERROR:
		return STEP_NOMEM;
	default:
		return STEP_BROKEN;
	}
}

/* ---- zstd ------------------------------------------------------------------------------ */

static bool zstd_restart(struct unwrapper *u)
{
	return !ZSTD_isError(ZSTD_DCtx_reset(u->of.zstd, ZSTD_reset_session_only));
}

static bool zstd_begin(struct unwrapper *u)
{
	u->of.zstd = ZSTD_createDStream();
	return u->of.zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(u->of.zstd, ZSTD_d_windowLogMax,
								  ZSTD_WINDOW_LG));
}

static enum step zstd_step(struct unwrapper *u, uint8_t **dst, size_t *cap)
{
	ZSTD_inBuffer in = {u->in, u->count, u->pos};
	ZSTD_outBuffer out = {*dst, *cap, 0};
	size_t result = ZSTD_decompressStream(u->of.zstd, &out, &in);
	u->pos = in.pos;
	*dst += out.pos;
	*cap -= out.pos;
	if (ZSTD_isError(result))
		return STEP_BROKEN;
	return result ? STEP_MORE : STEP_END;
}

static void zstd_end(struct unwrapper *u)
{
	ZSTD_freeDStream(u->of.zstd);
}

/* ---- all ------------------------------------------------------------------------------- */

static const struct {
	const char *kind, *magic;
	size_t magic_bytes;
	bool (*begin)(struct unwrapper *u);
	bool (*restart)(struct unwrapper *u);
	enum step (*step)(struct unwrapper *u, uint8_t **dst, size_t *cap);
	void (*end)(struct unwrapper *u);
} kinds[] = {
	{"gzip", "\x1f\x8b\x08", 3, gzip_begin, gzip_restart, gzip_step, gzip_end},
	{"zstd", "\x28\xb5\x2f\xfd", 4, zstd_begin, zstd_restart, zstd_step, zstd_end},
	{"bzip2", "BZh", 3, bzip2_begin, bzip2_restart, bzip2_step, bzip2_end},
	{"xz", "\xfd\x37zXZ\0", 6, xz_begin, xz_restart, xz_step, xz_end},
};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

/* More compressed bytes; false at the end, or after a failure below. */
static bool take_input(struct unwrapper *u, struct err *e)
{
	if (u->pos < u->count)
		return true;
	if (u->is_at_end)
		return false;
	struct source *below = u->source.below;
	u->pos = 0;
	u->count = below->class->fill(below, u->in, IN_BYTES, e);
	u->is_at_end = !u->count;
	return u->count > 0;
}

static void fail(struct unwrapper *u, enum step step, struct err *e)
{
	u->is_done = true;
	if (step == STEP_NOMEM)
		err_nomem(e, "unpacking");
	else
		err_corrupt(e, "'%s' is damaged: its %s data cannot be unpacked", u->file_name,
			    u->kind);
}

/* After a whole stream: is there another, and is the decompressor ready for it? */
static bool next_stream(struct unwrapper *u, struct err *e)
{
	u->is_in_stream = false;
	if (!take_input(u, e)) {
		u->is_done = true;
		return false;
	}
	if (u->kind == kinds[0].kind && u->in[u->pos] != 0x1f) {
		u->is_done = true; /* padding behind the last */
		return false;
	}
	if (!u->restart(u)) {
		fail(u, STEP_NOMEM, e);
		return false;
	}
	return true;
}

static size_t unwrapper_fill(struct source *s, uint8_t *dst, size_t cap, struct err *e)
{
	struct unwrapper *u = (struct unwrapper *)s;
	uint8_t *start = dst;
	while (!u->is_done && dst == start) {
		size_t old_pos = u->pos;
		bool has_input = take_input(u, e);
		if (!has_input && e->code)
			break;
		u->is_in_stream = u->is_in_stream || has_input;
		enum step step = u->step(u, &dst, &cap);
		if (step == STEP_BROKEN || step == STEP_NOMEM) {
			fail(u, step, e);
			return (size_t)(dst - start);
		}
		if (step == STEP_END && !next_stream(u, e))
			break;
		if (step == STEP_MORE && !has_input && dst == start && u->pos == old_pos) {
			s->is_cut = u->is_in_stream;
			u->is_done = true;
		}
	}
	return (size_t)(dst - start);
}

static void unwrapper_free(struct source *s)
{
	struct unwrapper *u = (struct unwrapper *)s;
	u->end(u);
	mem_free(u->in);
	mem_free(u);
}

static const struct source_class unwrapper_class = {unwrapper_fill, unwrapper_free};

/* What was read to see the kind is given first: it waits in u->in. */
static struct unwrapper *unwrapper_new(size_t k, const uint8_t *head, size_t bytes)
{
	struct unwrapper *u = mem_zalloc(sizeof *u);
	uint8_t *in = mem_alloc(IN_BYTES);
	if (!u || !in || bytes > IN_BYTES)
		goto failed;
	u->in = in;
	memcpy(in, head, bytes);
	u->count = bytes;
	u->source.class = &unwrapper_class;
	u->kind = kinds[k].kind;
	u->step = kinds[k].step;
	u->restart = kinds[k].restart;
	u->end = kinds[k].end;
	if (kinds[k].begin(u))
		return u;
	if (k == 1)
		zstd_end(u);
failed:
	mem_free(in);
	mem_free(u);
	return NULL;
}

enum neap_err unwrap(struct source **s, const uint8_t *head, size_t bytes, const char *file_name,
		     const char **name_out, struct err *e)
{
	*name_out = "";
	for (size_t k = 0; k < KIND_COUNT; k++) {
		if (bytes < kinds[k].magic_bytes ||
		    memcmp(head, kinds[k].magic, kinds[k].magic_bytes))
			continue;
		struct unwrapper *u = unwrapper_new(k, head, bytes);
		if (!u)
			return err_nomem(e, "unpacking");
		u->file_name = file_name;
		u->source.below = *s;
		*s = &u->source;
		*name_out = u->kind;
		break;
	}
	return NEAP_OK;
}
