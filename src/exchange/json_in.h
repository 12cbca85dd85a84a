/*
 * JSON read piece by piece, for documents of any size: memory is bounded by the longest string and the depth.
 *
 *   struct json_token t;
 *   while (json_next(j, &t)) ...          values and keys in their order; JSON_END at the end
 *
 * The parser is yajl's; it is seen in json_in.c only.  Comments are not allowed, what is not UTF-8 is.
 * Failures are sticky: json_next then gives false, and json_error says what is wrong and where.
 */
#ifndef NEAP_EXCHANGE_JSON_IN_H
#define NEAP_EXCHANGE_JSON_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/err.h"
#include "src/exchange/input.h"

#define JSON_DEPTH_MOST 2000000u /* a call tree nested as deep as stacks are */

enum json_kind {
	JSON_END,
	JSON_OBJECT,
	JSON_OBJECT_END,
	JSON_ARRAY,
	JSON_ARRAY_END,
	JSON_KEY,
	JSON_STRING,
	JSON_NUMBER,
	JSON_BOOL, /* text is "true" or "false" */
	JSON_NULL,
};

struct json_token {
	enum json_kind kind;
	/* Of keys, strings (escapes undone) and numbers (as written); NUL-terminated, valid until the next call. */
	const char *text;
	size_t bytes;
	uint32_t depth; /* objects and arrays around it; of the document's value, and its end, 0 */
};

struct json_in;
/* json_new - read a document from in, which must stay open.  Fails: ERR_NOMEM. */
enum neap_err json_new(struct input *in, struct json_in **out, struct err *e);
void json_free(struct json_in *j); /* NULL is fine */

/* json_next - the next token; false after a failure.  After JSON_END it is given again. */
bool json_next(struct json_in *j, struct json_token *out);
/* json_skip - past the value that starts with this token (the end of an object or array included);
 * for a key: past its value.  False after a failure. */
bool json_skip(struct json_in *j, const struct json_token *start);
/* json_begins - may this be the beginning of a document that is an object? */
bool json_begins(const uint8_t *head, size_t bytes);
/* json_mentions - is a text in a beginning? */
bool json_mentions(const uint8_t *head, size_t bytes, const char *text);
/* json_unexpected - the failure of JSON, or "byte 12: expected WHAT". */
enum neap_err json_unexpected(const struct json_in *j, const char *what, struct err *e);
/* Is it this key (or string)? */
bool json_is(const struct json_token *t, const char *text);
/* json_u64 - a number that is whole and fits; else false.  1e3 and 12.0 are whole. */
bool json_u64(const struct json_token *t, uint64_t *out);
bool json_double(const struct json_token *t, double *out);

/* json_has_failed, json_error - what is wrong; JSON that ends early is ERR_FORMAT, see json_is_cut. */
bool json_has_failed(const struct json_in *j);
enum neap_err json_error(const struct json_in *j, struct err *e);
/* json_is_cut - the document ended early, and was right so far. */
bool json_is_cut(const struct json_in *j);

#endif
