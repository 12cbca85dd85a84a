/*
 * yajl calls back; what it says is queued, one chunk of input at a time, and given out by json_next.
 *
 * yajl does not look whether it got memory.  So an allocation that fails jumps out of yajl, which is not
 * called again, and all that it ever got hangs in a list of ours.
 */
#include "config.h"

#include "src/exchange/json_in.h"

#include "src/base/asan.h"
#include "src/base/buf.h"
#include "src/base/mem.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#define CHUNK_BYTES ((size_t)16 << 10)

struct queued {
	enum json_kind kind;
	uint32_t depth;
	size_t text, bytes; /* in texts */
};

struct piece { /* in front of each piece of memory that yajl has */
	struct piece *next, **link;
};

struct json_in {
	struct input *in;
	yajl_handle parser;
	yajl_alloc_funcs memory;
	struct piece *pieces;
	jmp_buf no_memory;
	struct queued *queue;
	size_t count, cap, next;
	struct buf texts; /* each with a NUL behind it */
	uint32_t depth;
	bool is_done, is_cut;
	uint64_t parsed_bytes; /* before the current chunk */
	struct err err;
};

/* ---- what yajl says ------------------------------------------------------------------------ */

static int put(struct json_in *j, enum json_kind kind, uint32_t depth, const void *text,
	       size_t bytes)
{
	if (!vec_reserve((void **)&j->queue, &j->cap, j->count + 1, sizeof *j->queue)) {
		err_nomem(&j->err, "JSON");
		return 0;
	}
	j->queue[j->count] = (struct queued){kind, depth, j->texts.count_bytes, bytes};
	if (bytes)
		buf_put(&j->texts, text, bytes);
	buf_putc(&j->texts, '\0');
	if (j->texts.has_failed) {
		err_nomem(&j->err, "JSON");
		return 0;
	}
	j->count++;
	return 1;
}

static int open_one(struct json_in *j, enum json_kind kind)
{
	if (j->depth >= JSON_DEPTH_MOST) {
		err_set(&j->err, ERR_LIMIT, "'%s' has JSON nested more than %u deep",
			input_name(j->in), JSON_DEPTH_MOST);
		return 0;
	}
	return put(j, kind, j->depth++, NULL, 0);
}

static int close_one(struct json_in *j, enum json_kind kind)
{
	return put(j, kind, --j->depth, NULL, 0);
}

static int on_null(void *ctx)
{
	struct json_in *j = ctx;
	return put(j, JSON_NULL, j->depth, NULL, 0);
}

static int on_bool(void *ctx, int value)
{
	struct json_in *j = ctx;
	const char *text = value ? "true" : "false";
	return put(j, JSON_BOOL, j->depth, text, strlen(text));
}

static int on_number(void *ctx, const char *text, size_t bytes)
{
	struct json_in *j = ctx;
	return put(j, JSON_NUMBER, j->depth, text, bytes);
}

static int on_string(void *ctx, const unsigned char *text, size_t bytes)
{
	struct json_in *j = ctx;
	return put(j, JSON_STRING, j->depth, text, bytes);
}

static int on_key(void *ctx, const unsigned char *text, size_t bytes)
{
	struct json_in *j = ctx;
	return put(j, JSON_KEY, j->depth, text, bytes);
}

static int on_object(void *ctx)
{
	return open_one(ctx, JSON_OBJECT);
}

static int on_object_end(void *ctx)
{
	return close_one(ctx, JSON_OBJECT_END);
}

static int on_array(void *ctx)
{
	return open_one(ctx, JSON_ARRAY);
}

static int on_array_end(void *ctx)
{
	return close_one(ctx, JSON_ARRAY_END);
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_object_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_array_end,
};

/* ---- what yajl gets --------------------------------------------------------------------------- */

static void link_piece(struct json_in *j, struct piece *p)
{
	p->next = j->pieces;
	p->link = &j->pieces;
	if (p->next)
		p->next->link = &p->next;
	j->pieces = p;
}

static void unlink_piece(struct piece *p)
{
	*p->link = p->next;
	if (p->next)
		p->next->link = p->link;
}

static void *take_memory(void *ctx, size_t bytes)
{
	struct json_in *j = ctx;
	struct piece *p = bytes < SIZE_MAX - sizeof *p ? mem_alloc(sizeof *p + bytes) : NULL;
	if (!p) {
		err_nomem(&j->err, "JSON");
		longjmp(j->no_memory, 1);
	}
	link_piece(j, p);
	return p + 1;
}

static void give_memory(void *ctx, void *memory)
{
	(void)ctx;
	if (!memory)
		return;
	struct piece *p = (struct piece *)memory - 1;
	unlink_piece(p);
	mem_free(p);
}

static void *more_memory(void *ctx, void *memory, size_t bytes)
{
	struct json_in *j = ctx;
	if (!memory)
		return take_memory(ctx, bytes);
	struct piece *p = (struct piece *)memory - 1;
	unlink_piece(p);
	struct piece *grown =
		bytes < SIZE_MAX - sizeof *p ? mem_realloc_array(p, sizeof *p + bytes, 1) : NULL;
	link_piece(j, grown ? grown : p);
	if (!grown) {
		err_nomem(&j->err, "JSON");
		longjmp(j->no_memory, 1);
	}
	return grown + 1;
}

/* ---- chunks ----------------------------------------------------------------------------------- */

/* yajl's words, without its picture of the place. */
static void fail_syntax(struct json_in *j, const uint8_t *data, size_t bytes)
{
	unsigned char *text = yajl_get_error(j->parser, 0, data, bytes);
	size_t used = yajl_get_bytes_consumed(j->parser);
	if (text) {
		for (char *nl; (nl = strchr((char *)text, '\n')) != NULL;)
			*nl = nl[1] ? ';' : '\0';
	}
	err_set(&j->err, ERR_FORMAT, "'%s' is not the JSON it should be, at byte %" PRIu64 ": %s",
		input_name(j->in), j->parsed_bytes + used, text ? (const char *)text : "?");
	yajl_free_error(j->parser, text);
}

/* yajl gives up on memory with an error of its own. */
static void finish(struct json_in *j)
{
	j->is_done = true;
	if (setjmp(j->no_memory))
		return;
	yajl_status status = yajl_complete_parse(j->parser);
	if (j->err.code || (status == yajl_status_ok && !input_is_cut(j->in)))
		return;
	j->is_cut = true;
	err_set(&j->err, ERR_FORMAT, "'%s' is cut: its JSON ends after %" PRIu64 " bytes",
		input_name(j->in), j->parsed_bytes);
}

static void call_yajl(struct json_in *j, const uint8_t *data, size_t bytes)
{
	if (setjmp(j->no_memory))
		return;
	if (yajl_parse(j->parser, data, bytes) != yajl_status_ok && !j->err.code)
		fail_syntax(j, data, bytes);
}

static void parse_chunk(struct json_in *j)
{
	const uint8_t *data;
	size_t bytes = input_peek(j->in, 1, &data);
	j->count = j->next = 0;
	asan_allow(j->texts.data, j->texts.cap_bytes);
	buf_clear(&j->texts);
	if (bytes > CHUNK_BYTES)
		bytes = CHUNK_BYTES;
	if (input_has_failed(j->in)) {
		input_error(j->in, &j->err);
		return;
	}
	if (!bytes) {
		finish(j);
		return;
	}
	call_yajl(j, data, bytes);
	j->parsed_bytes += bytes;
	input_skip(j->in, bytes);
}

static bool make_parser(struct json_in *j)
{
	if (setjmp(j->no_memory))
		return false;
	j->parser = yajl_alloc(&callbacks, &j->memory, j);
	yajl_config(j->parser, yajl_dont_validate_strings, 1);
	return true;
}

enum neap_err json_new(struct input *in, struct json_in **out, struct err *e)
{
	*out = NULL;
	struct json_in *j = mem_zalloc(sizeof *j);
	if (!j)
		return err_nomem(e, "JSON");
	j->in = in;
	j->memory = (yajl_alloc_funcs){take_memory, more_memory, give_memory, j};
	if (!make_parser(j)) {
		json_free(j);
		return err_nomem(e, "JSON");
	}
	*out = j;
	return NEAP_OK;
}

void json_free(struct json_in *j)
{
	if (!j)
		return;
	while (j->pieces)
		give_memory(j, j->pieces + 1);
	mem_free(j->queue);
	asan_allow(j->texts.data, j->texts.cap_bytes);
	buf_release(&j->texts);
	mem_free(j);
}

/* ---- tokens ------------------------------------------------------------------------------------ */

/* A sanitizer finds who looks at a token's text after the next token was asked for. */
static void forget_last(const struct json_in *j)
{
	if (j->next > 0)
		asan_forbid(j->texts.data + j->queue[j->next - 1].text,
			    j->queue[j->next - 1].bytes + 1);
}

bool json_next(struct json_in *j, struct json_token *out)
{
	*out = (struct json_token){.kind = JSON_END, .text = ""};
	forget_last(j);
	while (j->next == j->count && !j->is_done && !j->err.code)
		parse_chunk(j);
	if (j->next < j->count) { /* what came before a failure too */
		const struct queued *q = &j->queue[j->next++];
		*out = (struct json_token){q->kind, j->texts.data + q->text, q->bytes, q->depth};
		return true;
	}
	return !j->err.code;
}

bool json_skip(struct json_in *j, const struct json_token *start)
{
	uint32_t depth = start->depth;
	struct json_token t = *start;
	if (start->kind == JSON_KEY && !json_next(j, &t))
		return false;
	if (t.kind != JSON_OBJECT && t.kind != JSON_ARRAY)
		return true;
	while (json_next(j, &t)) {
		if (t.kind == JSON_END)
			return true;
		if (t.depth == depth && (t.kind == JSON_OBJECT_END || t.kind == JSON_ARRAY_END))
			return true;
	}
	return false;
}

bool json_begins(const uint8_t *head, size_t bytes)
{
	size_t at = 0;
	while (at < bytes && memchr(" \t\r\n", head[at], 4))
		at++;
	return at < bytes && head[at] == '{';
}

bool json_mentions(const uint8_t *head, size_t bytes, const char *text)
{
	return memmem(head, bytes, text, strlen(text)) != NULL;
}

enum neap_err json_unexpected(const struct json_in *j, const char *what, struct err *e)
{
	if (json_has_failed(j))
		return json_error(j, e);
	return err_corrupt(e, "byte %" PRIu64 ": expected %s", input_offset(j->in), what);
}

bool json_is(const struct json_token *t, const char *text)
{
	return t->bytes == strlen(text) && !memcmp(t->text, text, t->bytes);
}

/* Digits alone, without losing any of 64 bits. */
static bool digits_u64(const char *text, size_t bytes, uint64_t *out)
{
	uint64_t v = 0;
	for (size_t i = 0; i < bytes; i++) {
		unsigned digit = (unsigned char)text[i] - '0';
		if (digit > 9 || __builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*out = v;
	return bytes > 0;
}

bool json_u64(const struct json_token *t, uint64_t *out)
{
	double number;
	*out = 0;
	if (t->kind != JSON_NUMBER)
		return false;
	if (digits_u64(t->text, t->bytes, out))
		return true;
	if (!json_double(t, &number) || number < 0 || number >= 18446744073709551616.0 ||
	    number != floor(number))
		return false;
	*out = (uint64_t)number;
	return true;
}

bool json_double(const struct json_token *t, double *out)
{
	char *end;
	*out = 0;
	if (t->kind != JSON_NUMBER)
		return false;
	/* The decimal point of the locale: programs of ours set LC_CTYPE only. */
	*out = strtod(t->text, &end);
	return end == t->text + t->bytes && isfinite(*out);
}

/* ---- failures ------------------------------------------------------------------------------------ */

bool json_has_failed(const struct json_in *j)
{
	return j->err.code != NEAP_OK;
}

enum neap_err json_error(const struct json_in *j, struct err *e)
{
	if (j->err.code && e)
		*e = j->err;
	return j->err.code;
}

bool json_is_cut(const struct json_in *j)
{
	return j->is_cut;
}
