/* Editing a line: UTF-8, words, the keys that shells have. */
#include "config.h"

#include "tui/line.h"

#include <string.h>

#include "src/base/limits.h"
#include "tui/keymap.h"

#define CTRL(letter) ((uint32_t)(letter)-0x60)

void line_release(struct line_edit *l)
{
	buf_release(&l->text);
	l->cursor = 0;
}

const char *line_text(const struct line_edit *l)
{
	return l->text.count_bytes && !l->text.has_failed ? l->text.data : "";
}

void line_set(struct line_edit *l, const char *text)
{
	buf_clear(&l->text);
	buf_puts(&l->text, text);
	l->cursor = l->text.has_failed ? 0 : l->text.count_bytes;
}

static void splice(struct line_edit *l, size_t from, size_t to, const char *text, size_t bytes)
{
	struct buf next = {0};
	const char *old = line_text(l);
	if (strlen(old) - (to - from) + bytes > LIMIT_QUERY_BYTES)
		return;
	buf_put(&next, old, from);
	buf_put(&next, text, bytes);
	buf_puts(&next, old + to);
	if (next.has_failed) {
		buf_release(&next);
		return;
	}
	buf_release(&l->text);
	l->text = next;
	l->cursor = from + bytes;
}

void line_replace(struct line_edit *l, size_t bytes, const char *text)
{
	if (bytes > l->cursor)
		bytes = l->cursor;
	splice(l, l->cursor - bytes, l->cursor, text, strlen(text));
}

static bool is_inside(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t before(const struct line_edit *l, size_t at)
{
	const char *text = line_text(l);
	if (at)
		at--;
	while (at && is_inside(text[at]))
		at--;
	return at;
}

static size_t after(const struct line_edit *l, size_t at)
{
	const char *text = line_text(l);
	if (text[at])
		at++;
	while (is_inside(text[at]))
		at++;
	return at;
}

static size_t word_before(const struct line_edit *l, size_t at)
{
	const char *text = line_text(l);
	while (at && text[at - 1] == ' ')
		at--;
	while (at && text[at - 1] != ' ')
		at--;
	return at;
}

static void insert(struct line_edit *l, uint32_t c)
{
	char utf8[4];
	size_t n = 0;
	if (c < 0x80) {
		utf8[n++] = (char)c;
	} else if (c < 0x800) {
		utf8[n++] = (char)(0xc0 | c >> 6);
	} else if (c < 0x10000) {
		utf8[n++] = (char)(0xe0 | c >> 12);
		utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	} else {
		utf8[n++] = (char)(0xf0 | c >> 18);
		utf8[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		utf8[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	if (c >= 0x80)
		utf8[n++] = (char)(0x80 | (c & 0x3f));
	splice(l, l->cursor, l->cursor, utf8, n);
}

static bool move_key(struct line_edit *l, uint32_t key)
{
	switch (key) {
	case SPECIAL_LEFT:
	case CTRL('b'):
		l->cursor = before(l, l->cursor);
		return true;
	case SPECIAL_RIGHT:
		l->cursor = after(l, l->cursor);
		return true;
	case SPECIAL_HOME:
	case CTRL('a'):
		l->cursor = 0;
		return true;
	case SPECIAL_END:
	case CTRL('e'):
		l->cursor = strlen(line_text(l));
		return true;
	default:
		return false;
	}
}

bool line_key(struct line_edit *l, uint32_t key)
{
	if (move_key(l, key))
		return true;
	switch (key) {
	case CODE_BACKSPACE:
	case CTRL('h'):
		splice(l, before(l, l->cursor), l->cursor, "", 0);
		return true;
	case SPECIAL_DELETE:
	case CTRL('d'): {
		size_t at = l->cursor;
		splice(l, at, after(l, at), "", 0);
		return true;
	}
	case CTRL('w'):
		splice(l, word_before(l, l->cursor), l->cursor, "", 0);
		return true;
	case CTRL('u'):
		splice(l, 0, l->cursor, "", 0);
		return true;
	case CTRL('k'):
		splice(l, l->cursor, strlen(line_text(l)), "", 0);
		return true;
	default:
		break;
	}
	if (key < 0x20 || key >= SPECIAL_UP)
		return false;
	insert(l, key);
	return true;
}
