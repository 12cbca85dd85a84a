/*
 * Errors as objects of the caller.  One that cannot be made for lack of memory is a
 * constant, so that there always is one to look at.
 */
#include "config.h"

#include "src/lib/lib_priv.h"

#include "src/base/mem.h"
#include "src/base/utf8.h"
#include "src/lib/neap/query.h"

#include <string.h>

#define SAME(code, status) \
	_Static_assert((int)(code) == (int)(status), "codes and statuses are in the same order")
SAME(NEAP_OK, NEAP_STATUS_OK);
SAME(ERR_NOMEM, NEAP_STATUS_NOMEM);
SAME(ERR_IO, NEAP_STATUS_IO);
SAME(ERR_FORMAT, NEAP_STATUS_FORMAT);
SAME(ERR_LIMIT, NEAP_STATUS_LIMIT);
SAME(ERR_UNSUPPORTED, NEAP_STATUS_UNSUPPORTED);
SAME(ERR_USAGE, NEAP_STATUS_USAGE);
SAME(ERR_ABSENT, NEAP_STATUS_ABSENT);

struct neap_error {
	enum neap_status status;
	bool has_place;
	struct neap_place place;
	const char *message, *expected, *help, *report; /* in the arena */
	struct arena arena;
};

static const struct neap_error no_memory = {
	.status = NEAP_STATUS_NOMEM,
	.message = "out of memory",
	.expected = "",
	.help = "",
	.report = "error: out of memory\n",
};

static enum neap_status fail_no_memory(struct neap_error *e, struct neap_error **out)
{
	neap_error_free(e);
	/* It is never written to: neap_error_free knows it. */
	*out = (struct neap_error *)&no_memory;
	return no_memory.status;
}

void neap_error_free(struct neap_error *e)
{
	if (!e || e == &no_memory)
		return;
	arena_release(&e->arena);
	mem_free(e);
}

static const char *keep(struct neap_error *e, const char *s)
{
	return arena_strndup(&e->arena, s, strlen(s));
}

static void find_place(struct neap_place *place, const char *text, struct ast_span span)
{
	size_t bytes = strlen(text), at = 0;
	place->offset_bytes = span.start < bytes ? span.start : bytes;
	place->span_bytes =
		span.bytes < bytes - place->offset_bytes ? span.bytes : bytes - place->offset_bytes;
	place->line = place->column = 1;
	while (at < place->offset_bytes) {
		size_t char_bytes;
		place->column++;
		if (text[at] == '\n') {
			place->line++;
			place->column = 1;
		}
		utf8_decode((const uint8_t *)text + at, (const uint8_t *)text + bytes, &char_bytes);
		at += char_bytes;
	}
}

enum neap_status error_from_err(const struct err *from, struct neap_error **out)
{
	struct buf report = {0};
	if (!out)
		return (enum neap_status)from->code;
	struct neap_error *e = mem_zalloc(sizeof *e);
	if (!e)
		return fail_no_memory(NULL, out);
	buf_printf(&report, "error: %s\n", from->text);
	e->status = (enum neap_status)from->code;
	e->expected = e->help = "";
	e->message = keep(e, from->text);
	e->report = report.has_failed ? NULL : keep(e, report.data);
	buf_release(&report);
	if (!e->message || !e->report)
		return fail_no_memory(e, out);
	*out = e;
	return e->status;
}

enum neap_status error_from_query(const struct query_error *from, const char *text,
				  enum neap_status status, struct neap_error **out)
{
	struct buf report = {0};
	if (!status)
		status = (enum neap_status)from->code;
	if (!out)
		return status;
	struct neap_error *e = mem_zalloc(sizeof *e);
	if (!e)
		return fail_no_memory(NULL, out);
	query_error_print(from, "query", text, strlen(text), &report);
	e->status = status;
	e->has_place = from->code != ERR_NOMEM && status != NEAP_STATUS_CANCELLED;
	find_place(&e->place, text, from->span);
	e->message = keep(e, from->text);
	e->expected = keep(e, from->expected);
	e->help = keep(e, from->help);
	e->report = report.has_failed ? NULL : keep(e, report.data);
	buf_release(&report);
	if (!e->message || !e->expected || !e->help || !e->report)
		return fail_no_memory(e, out);
	*out = e;
	return status;
}

/* ---- looking at one ------------------------------------------------------------------ */

enum neap_status neap_error_status(const struct neap_error *e)
{
	return e->status;
}

const char *neap_error_message(const struct neap_error *e)
{
	return e->message;
}

bool neap_error_place(const struct neap_error *e, struct neap_place *out)
{
	if (e->has_place)
		*out = e->place;
	return e->has_place;
}

const char *neap_error_expected(const struct neap_error *e)
{
	return e->expected;
}

const char *neap_error_help(const struct neap_error *e)
{
	return e->help;
}

const char *neap_error_report(const struct neap_error *e)
{
	return e->report;
}
