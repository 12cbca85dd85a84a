/*
 * Where one is in a flame: how far it is scrolled, the way to the selected cell from below up, and
 * the way to what is zoomed into, "/" before each step, "!" before those where Esc stops.
 */
#include "config.h"

#include "tui/flame_priv.h"

#include <inttypes.h>
#include <stdlib.h>

#include "src/base/mem.h"

void flame_save_spot(const void *self, struct buf *out)
{
	const struct flame *f = self;
	const struct flame_cell *cells = f->layout.cells, *c = flame_selected(f);
	if (!c)
		return;
	buf_printf(out, "%u %u", f->top, c->level);
	for (; c->level; c = &cells[c->parent])
		buf_printf(out, " %" PRIx64, c->step);
	for (size_t i = 0; i < f->zoom_count; i++)
		buf_printf(out, "%c%" PRIx64 " %" PRId64, f->zoom[i].is_stop ? '!' : '/',
			   f->zoom[i].step, f->zoom[i].below);
}

/* Cells are found by their steps when the flame is laid out next. */
void flame_take_spot(void *self, const char *text)
{
	struct flame *f = self;
	char *end;
	unsigned top = (unsigned)strtoul(text, &end, 10);
	size_t level = strtoul(end, &end, 10);
	if (!vec_reserve((void **)&f->kept, &f->kept_cap, level, sizeof *f->kept))
		return;
	flame_begin(f);
	f->is_first = false;
	f->is_zoom_old = true;
	f->top = top;
	f->kept_count = level;
	while (level--)
		f->kept[level] = strtoull(end, &end, 16);
	f->zoom_count = 0;
	while (*end == '/' || *end == '!') {
		struct flame_cell c = {.row = OPENED_ROOT};
		bool is_stop = *end == '!';
		c.step = strtoull(end + 1, &end, 16);
		c.below = strtoll(end, &end, 10);
		if (!flame_push_zoom(f, &c))
			return;
		f->zoom[f->zoom_count - 1].is_stop = is_stop;
	}
}
