/* Moving in lists. */
#include "config.h"

#include "tui/list.h"

#include <stdlib.h>

#define WHEEL_ROWS 3u

void list_fit(struct list *l, size_t rows)
{
	l->page_rows = rows;
	if (!l->count) {
		l->selected = l->top = 0;
		return;
	}
	if (l->selected >= l->count)
		l->selected = l->count - 1;
	if (l->top > l->selected)
		l->top = l->selected;
	if (rows && l->selected >= l->top + rows)
		l->top = l->selected - rows + 1;
	/* No empty rows at the end while there are rows above. */
	if (l->top + rows > l->count)
		l->top = l->count > rows ? l->count - rows : 0;
}

static void move(struct list *l, size_t rows, bool is_up)
{
	if (is_up)
		l->selected = l->selected > rows ? l->selected - rows : 0;
	else
		l->selected = l->count - l->selected > rows ? l->selected + rows : l->count - 1;
}

bool list_act(struct list *l, enum action action)
{
	size_t page = l->page_rows > 1 ? l->page_rows - 1 : 1;
	if (!l->count)
		return false;
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
		move(l, 1, action == ACTION_UP);
		return true;
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		move(l, page, action == ACTION_PAGE_UP);
		return true;
	case ACTION_FIRST:
		l->selected = 0;
		return true;
	case ACTION_LAST:
		l->selected = l->count - 1;
		return true;
	default:
		return false;
	}
}

bool list_mouse(struct list *l, const struct mouse *mouse)
{
	if (!l->count)
		return false;
	switch (mouse->kind) {
	case MOUSE_WHEEL_UP:
	case MOUSE_WHEEL_DOWN:
		move(l, WHEEL_ROWS, mouse->kind == MOUSE_WHEEL_UP);
		return true;
	case MOUSE_PRESS:
	case MOUSE_DOUBLE:
		if (l->top + mouse->row >= l->count)
			return false;
		l->selected = l->top + mouse->row;
		return true;
	default:
		return false;
	}
}

bool list_find(struct list *l, const struct list_search *s,
	       bool (*fits)(const struct list_search *s, size_t at))
{
	for (size_t i = s->is_here ? 0 : 1; i <= l->count && l->count; i++) {
		size_t away = s->is_back ? l->count - i % l->count : i;
		size_t at = (l->selected + away) % l->count;
		if (!fits(s, at))
			continue;
		l->selected = at;
		return true;
	}
	return false;
}

void list_place(const struct list *l, struct buf *out)
{
	if (l->count)
		buf_printf(out, "%zu/%zu", l->selected + 1, l->count);
}

void list_save_spot(const struct list *l, struct buf *out)
{
	buf_printf(out, "%zu %zu ", l->selected, l->top);
}

const char *list_take_spot(struct list *l, const char *text)
{
	char *end;
	l->selected = strtoul(text, &end, 10);
	l->top = strtoul(end, &end, 10);
	if (l->count && l->selected >= l->count)
		l->selected = l->count - 1;
	return end + (*end == ' ');
}
