/* A scrolled list: which row is selected, which is at the top. */
#ifndef NEAP_TUI_LIST_H
#define NEAP_TUI_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/buf.h"
#include "tui/keymap.h"

struct list {
	size_t count, selected, top;
	size_t page_rows; /* what the last list_fit had room for */
};
/* list_fit - keep the selected row in range and on the screen; call it when drawing. */
void list_fit(struct list *l, size_t rows);
/* list_act - the keys that move; false: another key. */
bool list_act(struct list *l, enum action action);
/* list_mouse - wheel, and a press on a row (of the list's own area); false: nothing changed. */
bool list_mouse(struct list *l, const struct mouse *mouse);
struct browser;
/* What is looked for; self is the value of a view. */
struct list_search {
	const void *self;
	struct browser *b;
	const char *text;
	bool is_back;
	bool is_here; /* the selected row may be it */
};
/* list_find - select the next row that fits, or the one before, around the end; false: none. */
bool list_find(struct list *l, const struct list_search *s,
	       bool (*fits)(const struct list_search *s, size_t at));
/* list_place - append "12/132   9 %". */
void list_place(const struct list *l, struct buf *out);
/* list_save_spot - append where it is, for the view's save_spot. */
void list_save_spot(const struct list *l, struct buf *out);
/* list_take_spot - go there; returns what follows in the text. */
const char *list_take_spot(struct list *l, const char *text);

#endif
