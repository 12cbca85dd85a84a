/* The plan's memory, its notes, and errors with a place in the query. */
#include "config.h"

#include "query/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum neap_err query_fail(struct query_error *error, enum neap_err code, struct ast_span span,
			 const char *fmt, ...)
{
	va_list ap;
	*error = (struct query_error){.code = code, .span = span};
	va_start(ap, fmt);
	vsnprintf(error->text, sizeof error->text, fmt, ap);
	va_end(ap);
	return code;
}

enum neap_err query_fail_help(struct query_error *error, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(error->help, sizeof error->help, fmt, ap);
	va_end(ap);
	return error->code;
}

enum neap_err query_fail_expected(struct query_error *error, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(error->expected, sizeof error->expected, fmt, ap);
	va_end(ap);
	return error->code;
}

enum neap_err query_no_memory(struct query_error *error)
{
	return query_fail(error, ERR_NOMEM, (struct ast_span){0, 0}, "out of memory");
}

enum neap_err query_fail_err(struct query_error *error, struct ast_span span, const struct err *e)
{
	return query_fail(error, e->code, span, "%s", e->text);
}

void *plan_alloc(struct plan *pl, size_t count, size_t elem_bytes)
{
	return arena_array(&pl->arena, count, elem_bytes);
}

static char *plan_vprintf(struct plan *pl, const char *fmt, va_list ap)
{
	struct buf b = {0};
	buf_vprintf(&b, fmt, ap);
	char *text = b.has_failed ? NULL
				  : arena_strndup(&pl->arena, b.data ? b.data : "", b.count_bytes);
	buf_release(&b);
	return text;
}

char *plan_printf(struct plan *pl, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = plan_vprintf(pl, fmt, ap);
	va_end(ap);
	return text;
}

enum neap_err plan_note(struct plan *pl, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	char *text = plan_vprintf(pl, fmt, ap);
	va_end(ap);
	if (!text)
		return query_no_memory(pl->error);
	for (size_t i = 0; i < pl->note_count; i++) {
		if (!strcmp(pl->notes[i], text))
			return NEAP_OK;
	}
	if (!vec_reserve((void **)&pl->notes, &pl->note_cap, pl->note_count + 1, sizeof *pl->notes))
		return query_no_memory(pl->error);
	pl->notes[pl->note_count++] = text;
	return NEAP_OK;
}

bool plan_append(struct plan *pl, struct plan_pointers *list, const void *item)
{
	/* Doubled in the arena: the old halves are few. */
	if ((list->count & (list->count + 1)) == 0) {
		const void **items = plan_alloc(pl, 2 * list->count + 2, sizeof *items);
		if (!items)
			return false;
		if (list->count)
			memcpy(items, list->items, list->count * sizeof *items);
		list->items = items;
	}
	list->items[list->count++] = item;
	return true;
}

bool plan_is_cancelled(struct plan *pl)
{
	const struct query_options *o = &pl->session->options;
	if (!pl->was_cancelled && !pl->cannot_stop && o->is_cancelled)
		pl->was_cancelled = o->is_cancelled(o->arg);
	return pl->was_cancelled;
}

bool plan_polls(struct plan *pl, size_t round)
{
	bool is_asked = !(round % POLL_ROUNDS) || pl->session->options.is_as_if_large;
	return is_asked && plan_is_cancelled(pl);
}

enum neap_err plan_no_memory(struct plan *pl)
{
	if (pl->was_cancelled)
		return query_fail(pl->error, ERR_LIMIT, (struct ast_span){0, 0}, "cancelled");
	return query_no_memory(pl->error);
}

void plan_release(struct plan *pl)
{
	mem_free(pl->notes);
	arena_release(&pl->arena);
	*pl = (struct plan){.session = NULL};
}
