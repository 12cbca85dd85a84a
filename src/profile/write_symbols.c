/*
 * The symbols block: names and files as one run of NUL-terminated strings each, then
 * the lines of every frame as columns.
 */
#include "config.h"

#include "src/profile/writer_priv.h"

#include <string.h>

static void put_strings(const struct profile_symbols *s, struct buf *out)
{
	struct buf texts = {0};
	for (size_t i = 0; i < s->func_count; i++) {
		const struct profile_func *f = &s->funcs[i];
		buf_put(&texts, f->name, strlen(f->name) + 1);
		/* A linkage name that says nothing new is left empty. */
		bool is_same = !strcmp(f->name, f->linkage);
		buf_put(&texts, f->linkage, is_same ? 0 : strlen(f->linkage));
		buf_putc(&texts, '\0');
	}
	for (size_t i = 0; i < s->file_count; i++)
		buf_put(&texts, s->files[i], strlen(s->files[i]) + 1);
	buf_varint(out, s->func_count);
	buf_varint(out, s->file_count);
	buf_str(out, texts.data, texts.count_bytes);
	out->has_failed |= texts.has_failed;
	buf_release(&texts);
}

void symbols_payload(const struct profile_symbols *s, struct buf *out)
{
	put_strings(s, out);
	buf_varint(out, s->frame_count);
	buf_varint(out, s->line_count);
	for (size_t f = 0; f < s->frame_count; f++)
		buf_varint(out, s->first_line[f + 1] - s->first_line[f]);
	uint32_t func = 0, file = 0, line = 0;
	for (size_t i = 0; i < s->line_count; i++) {
		buf_svarint(out, (int64_t)s->lines[i].func - func);
		func = s->lines[i].func;
	}
	for (size_t i = 0; i < s->line_count; i++) {
		buf_svarint(out, (int64_t)s->lines[i].file - file);
		file = s->lines[i].file;
	}
	for (size_t i = 0; i < s->line_count; i++) {
		buf_svarint(out, (int64_t)s->lines[i].line - line);
		line = s->lines[i].line;
	}
}
