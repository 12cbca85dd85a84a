/* Names, functions and instants as queries spell them. */
#include "config.h"

#include "tui/model.h"

#include <inttypes.h>
#include <string.h>

#include "query/vocab.h"

static bool has_control(const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			return true;
	}
	return false;
}

/* The same text as a regular expression, which has escapes for all of them. */
static void put_regex(struct buf *out, const char *text)
{
	buf_puts(out, "/^");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else if (strchr("\\/^$.[|()?*+{", c))
			buf_printf(out, "\\%c", c);
		else
			buf_putc(out, (char)c);
	}
	buf_puts(out, "\\z/");
}

void query_quote(struct buf *out, const char *text)
{
	if (out->count_bytes && out->data[out->count_bytes - 1] == '=' && has_control(text)) {
		out->data[out->count_bytes - 1] = '~';
		put_regex(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(out, '\\');
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if (*text == '\t')
			buf_puts(out, "\\t");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

void query_step(struct buf *out, const struct graph_frame *f)
{
	buf_putc(out, '[');
	if (f->name) {
		buf_puts(out, "func=");
		query_quote(out, f->name);
	} else if (f->kind == FRAME_NO_STACK && f->file_path) {
		buf_puts(out, "file=");
		query_quote(out, f->file_path);
		if (f->line)
			buf_printf(out, " and line=%" PRIu32, f->line);
	} else if (f->kind == FRAME_NO_STACK && f->module_path) {
		buf_puts(out, "module=");
		query_quote(out, f->module_path);
	} else if (f->module_path) {
		buf_puts(out, "module=");
		query_quote(out, f->module_path);
		buf_printf(out, " and addr=%" PRIu64, f->pc);
	} else {
		buf_printf(out, "addr=%" PRIu64, f->pc);
	}
	buf_putc(out, ']');
}

void query_time(struct buf *out, uint64_t ns)
{
	static const struct {
		const char *word;
		uint64_t ns;
	} units[] = {{"h", 3600000000000u}, {"m", 60000000000u}, {"s", 1000000000u},
		     {"ms", 1000000u},      {"us", 1000u},       {"ns", 1u}};
	size_t i = 0;
	while (units[i].ns > 1 && (!ns || ns % units[i].ns))
		i++;
	buf_printf(out, "%" PRIu64 "%s", ns / units[i].ns, units[i].word);
}

enum graph_pop query_population(const char *head)
{
	const char *last = strrchr(head, ';');
	const char *word = last ? last + 1 : head;
	word += strspn(word, " \n");
	size_t bytes = strcspn(word, " ");
	const struct vocab_word *w = vocab_find(&vocab_populations, word, bytes);
	return w ? (enum graph_pop)w->id : POP_COUNT;
}
