/* Keys, their names, and what they do: keys.def as data. */
#ifndef NEAP_TUI_KEYMAP_H
#define NEAP_TUI_KEYMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/buf.h"

/* A key is a code point (control characters: Ctrl with a letter) or one of these. */
enum special_key {
	SPECIAL_UP = 0x110000,
	SPECIAL_DOWN,
	SPECIAL_LEFT,
	SPECIAL_RIGHT,
	SPECIAL_PAGE_UP,
	SPECIAL_PAGE_DOWN,
	SPECIAL_HOME,
	SPECIAL_END,
	SPECIAL_INSERT,
	SPECIAL_DELETE,
	SPECIAL_BACK_TAB,
	SPECIAL_F1, /* F1 .. F12 */
	SPECIAL_F12 = SPECIAL_F1 + 11,
	SPECIAL_RESIZE, /* the terminal has another size */
	SPECIAL_MOUSE,
	SPECIAL_TICK, /* time has passed; see follow.h */
	SPECIAL_LAST,
};
#define CODE_CANCEL    0x03u /* Ctrl-C */
#define CODE_TAB       0x09u
#define CODE_ENTER     0x0du
#define CODE_ESCAPE    0x1bu
#define CODE_SPACE     0x20u
#define CODE_BACKSPACE 0x7fu

enum action {
	ACTION_NONE,
#define KEY(id, keys, footer, rank, help) ACTION_##id,
#include "tui/keys.def"
	ACTION_COUNT,
};

enum mouse_kind {
	MOUSE_PRESS,
	MOUSE_DRAG,
	MOUSE_RELEASE,
	MOUSE_DOUBLE,
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
};
struct mouse {
	enum mouse_kind kind;
	unsigned row, col; /* of the grid; for views: of their area */
};

/* One thing that the user did. */
struct input {
	uint32_t key;
	struct mouse mouse; /* of SPECIAL_MOUSE */
};

enum action keymap_action(uint32_t key);

struct key_binding {
	enum action action;
	const char *keys, *footer, *help;
	unsigned rank;
	const char *group; /* title of the group that begins here, or NULL */
};
/* keymap_bindings - in the order of keys.def; [keymap_count]. */
extern const struct key_binding keymap_bindings[];
extern const size_t keymap_count;
const struct key_binding *keymap_of(enum action action);

/* keymap_name - "Enter", "C-r", "a", ...; written to dst. */
const char *keymap_name(char *dst, size_t cap, uint32_t key);
/* keymap_parse - a key by its name; false: there is none. */
bool keymap_parse(const char *name, size_t bytes, uint32_t *out);

/* keymap_text - the table for `neap browse --keys`, and as roff for the man page. */
void keymap_text(struct buf *out);
void keymap_roff(struct buf *out);

#endif
