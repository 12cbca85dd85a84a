/* Key scripts. */
#include "config.h"

#include "tui/script.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/utf8.h"

#define ROWS_FIRST 24u
#define COLS_FIRST 80u
#define SIZE_MOST  1000u

struct script {
	struct browser *b;
	const char *name;
	size_t line_number;
	unsigned rows, cols;
	struct err *e;
};

static enum neap_err fail(const struct script *s, const char *what, const char *text)
{
	return err_set(s->e, ERR_USAGE, "%s:%zu: %s '%s'", s->name, s->line_number, what, text);
}

static enum neap_err feed(struct script *s, const struct input *in)
{
	browser_input(s->b, in);
	return browser_draw(s->b, s->rows, s->cols) ? NEAP_OK : err_nomem(s->e, "the screen");
}

static enum neap_err feed_keys(struct script *s, const char *line)
{
	enum neap_err code = NEAP_OK;
	while (!code && *line) {
		size_t bytes = strcspn(line, " \t");
		struct input in = {.key = 0};
		if (!keymap_parse(line, bytes, &in.key))
			return fail(s, "no key is called", line);
		code = feed(s, &in);
		line += bytes;
		line += strspn(line, " \t");
	}
	return code;
}

static enum neap_err feed_text(struct script *s, const char *text)
{
	const uint8_t *p = (const uint8_t *)text, *end = p + strlen(text);
	enum neap_err code = NEAP_OK;
	while (!code && p < end) {
		size_t n;
		const struct input in = {.key = utf8_decode(p, end, &n)};
		code = feed(s, &in);
		p += n;
	}
	return code;
}

static enum neap_err take_size(struct script *s, const char *text)
{
	char *end;
	unsigned long rows = strtoul(text, &end, 10);
	unsigned long cols = strtoul(end, &end, 10);
	if (!rows || !cols || rows > SIZE_MOST || cols > SIZE_MOST || *end)
		return fail(s, "a size is two numbers, rows and columns, not", text);
	s->rows = (unsigned)rows;
	s->cols = (unsigned)cols;
	const struct input in = {.key = SPECIAL_RESIZE};
	return feed(s, &in);
}

static enum neap_err take_mouse(struct script *s, const char *text)
{
	static const char *const kinds[] = {"press", "drag", "release", "double", "up", "down"};
	size_t bytes = strcspn(text, " ");
	struct input in = {.key = SPECIAL_MOUSE};
	char *end;
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		if (strlen(kinds[i]) != bytes || memcmp(kinds[i], text, bytes) != 0)
			continue;
		in.mouse.kind = (enum mouse_kind)i;
		in.mouse.row = (unsigned)strtoul(text + bytes, &end, 10);
		in.mouse.col = (unsigned)strtoul(end, &end, 10);
		return feed(s, &in);
	}
	return fail(s, "no mouse event is", text);
}

static enum neap_err take_screenshot(struct script *s, const char *path)
{
	struct buf text = {0};
	size_t bytes = strlen(path);
	bool is_styled = bytes > 7 && !strcmp(path + bytes - 7, ".styled");
	if (is_styled)
		grid_styled(&s->b->grid, &text);
	else
		grid_text(&s->b->grid, &text);
	FILE *out = text.has_failed ? NULL : fopen(path, "we");
	bool is_good = out && fwrite(text.data, 1, text.count_bytes, out) == text.count_bytes;
	if (out && fclose(out))
		is_good = false;
	buf_release(&text);
	return is_good ? NEAP_OK : err_sys(s->e, errno, "write", path);
}

static enum neap_err take_expect(struct script *s, const char *text)
{
	struct buf screen = {0};
	grid_text(&s->b->grid, &screen);
	bool is_there = screen.count_bytes && strstr(screen.data, text);
	buf_release(&screen);
	return is_there ? NEAP_OK : fail(s, "the screen does not show", text);
}

static enum neap_err run_line(struct script *s, const char *line)
{
	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return NEAP_OK;
	if (!strncmp(line, "size ", 5))
		return take_size(s, line + 5);
	if (!strncmp(line, "text ", 5))
		return feed_text(s, line + 5);
	if (!strncmp(line, "mouse ", 6))
		return take_mouse(s, line + 6);
	if (!strncmp(line, ":screenshot ", 12))
		return take_screenshot(s, line + 12);
	if (!strncmp(line, ":expect ", 8))
		return take_expect(s, line + 8);
	return feed_keys(s, line);
}

enum neap_err script_run(struct browser *b, const char *name, const char *text, size_t bytes,
			 struct err *e)
{
	struct script s = {.b = b, .name = name, .rows = ROWS_FIRST, .cols = COLS_FIRST, .e = e};
	struct buf line = {0};
	size_t at = 0;
	enum neap_err code = browser_draw(b, s.rows, s.cols) ? NEAP_OK : err_nomem(e, "the screen");
	while (!code && at < bytes && !b->wants_quit) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t length = end ? (size_t)(end - (text + at)) : bytes - at;
		s.line_number++;
		buf_clear(&line);
		buf_put(&line, text + at, length);
		buf_putc(&line, '\0');
		code = line.has_failed ? err_nomem(e, "the script") : run_line(&s, line.data);
		at += length + 1;
	}
	buf_release(&line);
	return code;
}
