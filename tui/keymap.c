/* Keys by name and number. */
#include "config.h"

#include "tui/keymap.h"

#include <stdio.h>
#include <string.h>

#include "src/base/utf8.h"

const struct key_binding keymap_bindings[] = {
#define GROUP(title) {.action = ACTION_NONE, .group = (title)},
#define KEY(id, keys_, footer_, rank_, help_) \
	{.action = ACTION_##id,               \
	 .keys = (keys_),                     \
	 .footer = (footer_),                 \
	 .rank = (rank_),                     \
	 .help = (help_)},
#include "tui/keys.def"
};
const size_t keymap_count = sizeof keymap_bindings / sizeof keymap_bindings[0];

const struct key_binding *keymap_of(enum action action)
{
	for (size_t i = 0; i < keymap_count; i++) {
		if (keymap_bindings[i].action == action && !keymap_bindings[i].group)
			return &keymap_bindings[i];
	}
	return NULL;
}

/* ---- names of keys ------------------------------------------------------------------------ */

static const struct {
	uint32_t key;
	const char *name;
} names[] = {
	{SPECIAL_UP, "Up"},         {SPECIAL_DOWN, "Down"},      {SPECIAL_LEFT, "Left"},
	{SPECIAL_RIGHT, "Right"},   {SPECIAL_PAGE_UP, "PgUp"},   {SPECIAL_PAGE_DOWN, "PgDn"},
	{SPECIAL_HOME, "Home"},     {SPECIAL_END, "End"},        {SPECIAL_INSERT, "Insert"},
	{SPECIAL_DELETE, "Delete"}, {SPECIAL_BACK_TAB, "S-Tab"}, {CODE_TAB, "Tab"},
	{CODE_ENTER, "Enter"},      {CODE_ESCAPE, "Esc"},        {CODE_SPACE, "Space"},
	{CODE_BACKSPACE, "BS"},
};
#define NAME_COUNT (sizeof names / sizeof names[0])

const char *keymap_name(char *dst, size_t cap, uint32_t key)
{
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (names[i].key == key) {
			snprintf(dst, cap, "%s", names[i].name);
			return dst;
		}
	}
	if (key >= SPECIAL_F1 && key <= SPECIAL_F12)
		snprintf(dst, cap, "F%u", (unsigned)(key - SPECIAL_F1 + 1));
	else if (key < 0x20)
		snprintf(dst, cap, "C-%c", (char)(key + 0x60));
	else if (key < 0x7f)
		snprintf(dst, cap, "%c", (char)key);
	else
		snprintf(dst, cap, "U+%04X", (unsigned)key);
	return dst;
}

static bool parse_f_key(const char *name, size_t bytes, uint32_t *out)
{
	unsigned number = 0;
	if (bytes < 2 || bytes > 3 || name[0] != 'F')
		return false;
	for (size_t i = 1; i < bytes; i++) {
		if (name[i] < '0' || name[i] > '9')
			return false;
		number = number * 10 + (unsigned)(name[i] - '0');
	}
	*out = SPECIAL_F1 + number - 1;
	return number >= 1 && number <= 12;
}

bool keymap_parse(const char *name, size_t bytes, uint32_t *out)
{
	*out = 0;
	for (size_t i = 0; i < NAME_COUNT; i++) {
		if (strlen(names[i].name) == bytes && !memcmp(names[i].name, name, bytes)) {
			*out = names[i].key;
			return true;
		}
	}
	if (parse_f_key(name, bytes, out))
		return true;
	if (bytes == 3 && name[0] == 'C' && name[1] == '-' && name[2] >= 'a' && name[2] <= 'z') {
		*out = (uint32_t)name[2] - 0x60;
		return true;
	}
	size_t n = 0;
	if (!bytes)
		return false;
	*out = utf8_decode((const uint8_t *)name, (const uint8_t *)name + bytes, &n);
	return n == bytes && *out > 0x20;
}

/* ---- what keys do ------------------------------------------------------------------------------ */

static bool is_among(const char *keys, uint32_t key)
{
	while (*keys) {
		size_t bytes = strcspn(keys, " ");
		uint32_t one;
		if (keymap_parse(keys, bytes, &one) && one == key)
			return true;
		keys += bytes;
		keys += strspn(keys, " ");
	}
	return false;
}

enum action keymap_action(uint32_t key)
{
	for (size_t i = 0; i < keymap_count; i++) {
		const struct key_binding *b = &keymap_bindings[i];
		if (!b->group && is_among(b->keys, key))
			return b->action;
	}
	return ACTION_NONE;
}

void keymap_text(struct buf *out)
{
	for (size_t i = 0; i < keymap_count; i++) {
		const struct key_binding *b = &keymap_bindings[i];
		if (b->group)
			buf_printf(out, "%s%s\n", i ? "\n" : "", b->group);
		else
			buf_printf(out, "  %-16s %s\n", b->keys, b->help);
	}
}

static void put_roff(struct buf *out, const char *s)
{
	for (char before = ' '; *s; before = *s++) {
		/* A mark that is a word of its own would be a delimiter to mdoc. */
		if (before == ' ' && strchr(".,:;()[]?!|", *s))
			buf_puts(out, "\\&");
		if (*s == '\\')
			buf_puts(out, "\\e");
		else if (*s == '-')
			buf_puts(out, "\\-");
		else if (*s == '\'')
			buf_puts(out, "\\(aq");
		else if (*s == '^')
			buf_puts(out, "\\(ha");
		else
			buf_putc(out, *s);
	}
}

void keymap_roff(struct buf *out)
{
	for (size_t i = 0; i < keymap_count; i++) {
		const struct key_binding *b = &keymap_bindings[i];
		if (b->group) {
			buf_printf(out, "%s.Ss %s\n.Bl -tag -width 14n -compact\n",
				   i ? ".El\n" : "", b->group);
			continue;
		}
		buf_puts(out, ".It Ic ");
		put_roff(out, b->keys);
		buf_putc(out, '\n');
		put_roff(out, b->help);
		buf_putc(out, '\n');
	}
	buf_puts(out, ".El\n");
}
