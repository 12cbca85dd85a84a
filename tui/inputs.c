/* Inputs: to whom they are given. */
#include "config.h"

#include "tui/browser_priv.h"

#include "tui/bookmarks.h"
#include "tui/follow.h"
#include "tui/help.h"
#include "tui/prompt.h"
#include "tui/spots.h"

static bool press_tab(struct browser *b, const struct mouse *m)
{
	for (size_t i = 0; i < SCREEN_COUNT && !m->row && m->kind != MOUSE_RELEASE; i++) {
		if (m->col < b->tabs[i].from || m->col >= b->tabs[i].end)
			continue;
		if (m->kind == MOUSE_PRESS || m->kind == MOUSE_DOUBLE)
			edits_show_screen(b, (enum screen)i);
		return true;
	}
	return false;
}

static void mouse(struct browser *b, const struct mouse *m)
{
	const struct area *a = &b->view_area;
	const struct view *v = browser_view(b);
	bool is_time = model_state(&b->model)->screen == SCREEN_TIME;
	bool goes_on = b->is_dragging && (m->kind == MOUSE_DRAG || m->kind == MOUSE_RELEASE);
	if (!goes_on && press_tab(b, m))
		return;
	if ((goes_on || !is_time) && strip_mouse(b, m))
		return;
	if (m->row < a->row || m->row >= a->row + a->rows || m->col < a->col ||
	    m->col >= a->col + a->cols || !v->mouse || b->failure.code)
		return;
	struct mouse inside = *m;
	inside.row -= a->row;
	inside.col -= a->col;
	v->mouse(browser_self(b), b, &inside);
}

static void press_key(struct browser *b, uint32_t key)
{
	char name[16];
	enum action action = keymap_action(key);
	if (action != ACTION_CANCEL)
		b->was_cancelled = false;
	if (action != ACTION_NONE)
		actions_do(b, action);
	else if (key != SPECIAL_RESIZE)
		browser_say(b, ROLE_DIM, "%s does nothing; ? shows the keys",
			    keymap_name(name, sizeof name, key));
}

/* To whom it belongs: the innermost that is open. */
static void pass_on(struct browser *b, const struct input *in)
{
	if (bookmarks_input(b, in))
		return;
	if (b->prompt)
		prompt_input(b, in);
	else if (b->help)
		help_input(b, in);
	else if (in->key == SPECIAL_MOUSE)
		mouse(b, &in->mouse);
	else
		press_key(b, in->key);
}

void browser_input(struct browser *b, const struct input *in)
{
	if (in->key == SPECIAL_TICK) {
		follow_tick(b);
		return;
	}
	b->message[0] = '\0';
	if (!browser_load(b))
		return;
	const struct state *before = model_state(&b->model);
	enum screen screen = before->screen;
	bool was_shown = !b->failure.code;
	pass_on(b, in);
	if (was_shown && model_state(&b->model) != before)
		spots_leave(b, before, screen);
}
