/* Where one was. */
#include "config.h"

#include "tui/spots.h"

#include "src/base/mem.h"

/* A spot that has no room is not kept: one is somewhere else then. */
void spots_leave(struct browser *b, const struct state *s, enum screen screen)
{
	const struct view *v = view_of(screen);
	struct buf text = {0};
	if (!v->save_spot || !b->selves[screen])
		return;
	v->save_spot(b->selves[screen], &text);
	if (text.count_bytes && !text.has_failed)
		model_leave(&b->model, s, mem_strdup(text.data));
	buf_release(&text);
}

void spots_arrive(struct browser *b)
{
	enum screen screen = model_state(&b->model)->screen;
	const struct view *v = view_of(screen);
	char *text = model_arrive(&b->model);
	if (text && v->take_spot)
		v->take_spot(b->selves[screen], text);
	mem_free(text);
}
