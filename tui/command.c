/* The query, and the command of a shell, that print what a screen shows. */
#include "config.h"

#include "tui/model.h"

#include <string.h>

#include "query/vocab.h"

/* For sh: between single quotes, where only they need care. */
static void put_shell(struct buf *out, const char *text)
{
	buf_putc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\'');
}

const char *state_columns(const struct state *s)
{
	if (query_population(s->head) == POP_COUNT)
		return NULL;
	if (s->screen == SCREEN_THREADS)
		return "select thread, total, share, count, allocs, frees, temp, peak";
	if (s->screen == SCREEN_MODULES)
		return "select module, self, total, share, count, allocs, temp";
	return NULL;
}

void state_subject_stage(const struct state *s, struct buf *out)
{
	if (s->subject && s->screen == SCREEN_SOURCE)
		buf_printf(out, "source %s", s->subject);
	else if (s->subject && s->screen == SCREEN_BUTTERFLY)
		buf_printf(out, "peek %s", s->subject);
}

/* The view stage that prints what a screen shows. */
static void put_view(const struct state *s, struct buf *out)
{
	struct buf subject = {0};
	state_subject_stage(s, &subject);
	if (subject.count_bytes)
		buf_printf(out, " | %s", subject.data);
	out->has_failed = out->has_failed || subject.has_failed;
	buf_release(&subject);
	switch (s->screen) {
	case SCREEN_TREE:
		buf_puts(out, s->is_inverted ? " | callers" : " | tree");
		break;
	case SCREEN_FLAME:
		buf_puts(out, s->is_inverted ? " | flame inverted" : " | flame");
		break;
	case SCREEN_SOURCE:
		if (!s->subject)
			buf_puts(out, " | source [file=*]");
		break;
	case SCREEN_SIZES:
		buf_printf(out, " | hist %s", s->hist ? s->hist : "size");
		break;
	default:
		break;
	}
	if (state_columns(s))
		buf_printf(out, " | %s", state_columns(s));
}

bool has_rows_of_keys(const struct state *s)
{
	return s->hist && vocab_find(&vocab_columns, s->hist, strlen(s->hist));
}

const char *state_own_keys(const struct state *s)
{
	if (s->screen == SCREEN_THREADS)
		return "thread";
	return s->screen == SCREEN_MODULES ? "module" : NULL;
}

/* Keys that a screen brings along. */
static const char *keys_of(const struct state *s)
{
	bool has_rows =
		s->screen == SCREEN_TABLE || (s->screen == SCREEN_SIZES && has_rows_of_keys(s));
	return has_rows && !state_chip(s, STAGE_BY) ? "func" : state_own_keys(s);
}

void model_query(const struct model *m, struct buf *out)
{
	const struct state *s = model_state(m);
	/* Screens that show all rows, whatever is cut in others. */
	bool shows_all = (s->screen == SCREEN_SIZES && !has_rows_of_keys(s)) ||
			 s->screen == SCREEN_BUTTERFLY;
	bool has_no_keys = s->screen == SCREEN_SIZES && !has_rows_of_keys(s);
	const struct compose c = {
		.by = keys_of(s), .without_keys = has_no_keys, .without_rows = shows_all};
	model_compose(m, &c, out);
	put_view(model_state(m), out);
}

void model_command(const struct model *m, const char *query, struct buf *out)
{
	const struct state *s = model_state(m);
	if (s->screen == SCREEN_RUN) {
		buf_puts(out, "neap info ");
		put_shell(out, m->paths[0]);
		return;
	}
	buf_puts(out, "neap query");
	for (size_t i = 0; i < m->path_count; i++) {
		buf_putc(out, ' ');
		put_shell(out, m->paths[i]);
	}
	buf_putc(out, ' ');
	put_shell(out, query);
}
