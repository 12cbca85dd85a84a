/* What keys do, whatever view is shown: those of all views come after those of the strip and the view. */
#include "config.h"

#include "tui/browser_priv.h"

#include "src/base/fmt.h"
#include "src/base/mem.h"
#include "tui/bookmarks.h"
#include "tui/help.h"
#include "tui/prompt.h"

static void find_again(struct browser *b, bool is_back)
{
	const struct view *v = browser_view(b);
	if (!b->find[0])
		browser_say(b, ROLE_DIM, "nothing to find yet: / asks for a name");
	else if (!v->find || !v->find(browser_self(b), b, b->find, is_back, false))
		browser_say(b, ROLE_WARNING, "'%s' is in no row here", b->find);
}

/* What is copied may be pasted into a shell: names have no ends of lines in it, and no escapes. */
static void put_row(struct browser *b, const struct view *v, struct buf *out)
{
	struct buf row = {0};
	v->row_text(browser_self(b), b, &row);
	size_t cap = 3 * row.count_bytes + 1;
	char *safe = row.has_failed ? NULL : mem_alloc(cap);
	if (safe && row.count_bytes)
		buf_puts(out, fmt_safe(safe, cap, row.data, row.count_bytes, b->names.is_utf8));
	mem_free(safe);
	buf_release(&row);
}

static void copy(struct browser *b, bool is_command)
{
	const struct view *v = browser_view(b);
	struct buf query = {0};
	buf_clear(&b->clipboard);
	if (is_command)
		browser_question(b, &query);
	if (is_command && !query.has_failed)
		model_command(&b->model, query.data, &b->clipboard);
	else if (v->row_text && !is_command)
		put_row(b, v, &b->clipboard);
	buf_release(&query);
	if (!b->clipboard.count_bytes || b->clipboard.has_failed)
		return;
	browser_say(b, ROLE_DIM, "copied: %.400s", b->clipboard.data);
}

/* To the subject before, or to the view that this one was opened from. */
static bool leave_subject(struct browser *b)
{
	const struct state *s = model_state(&b->model);
	bool is_about_one = s->screen == SCREEN_SOURCE || s->screen == SCREEN_BUTTERFLY;
	return is_about_one && s->subject && model_undo(&b->model);
}

/* The innermost thing first; never the last one. */
static void back(struct browser *b)
{
	if (b->cursor.has_start)
		b->cursor.has_start = false;
	else if (b->pane != PANE_ROWS)
		b->pane = PANE_ROWS;
	else if (b->find[0])
		b->find[0] = '\0';
	else if (!leave_subject(b) && !strip_drop_range(b, false) && !model_pop_chip(&b->model) &&
		 !strip_drop_range(b, true))
		browser_say(b, ROLE_DIM, "nothing to undo here; q goes back, U undoes");
}

static void quit(struct browser *b)
{
	if (!model_go_screen(&b->model, true))
		b->wants_quit = true;
}

/* From the rows to the time strip and the details, where there are any. */
static void next_pane(struct browser *b, bool is_back)
{
	const bool is_there[PANE_COUNT] = {
		[PANE_ROWS] = true,
		[PANE_STRIP] = b->strip_area.cols,
		[PANE_DETAILS] = b->has_details,
	};
	if (model_state(&b->model)->screen == SCREEN_TIME) {
		browser_say(b, ROLE_DIM, "left and right move the instant, up and down the class");
		return;
	}
	unsigned at = b->pane;
	do
		at = (at + (is_back ? PANE_COUNT - 1u : 1u)) % PANE_COUNT;
	while (!is_there[at]);
	b->pane = (enum pane)at;
	if (!b->strip_area.cols && !b->has_details)
		browser_say(b, ROLE_DIM, "there is no room for the time strip; 3 shows the run");
	else if (b->pane == PANE_STRIP)
		browser_say(b, ROLE_DIM,
			    "left and right move the instant; Esc goes back to the rows");
	else if (b->pane == PANE_DETAILS)
		browser_say(b, ROLE_DIM, "up and down move the source; Esc goes back to the rows");
}

static void next_detail(struct browser *b)
{
	static const char *const words[] = {
		"names as they fit", "names without the arguments of templates", "names in full"};
	b->names.detail = (b->names.detail + 1) % NAME_DETAIL_COUNT;
	browser_say(b, ROLE_DIM, "%s", words[b->names.detail]);
}

static void open_query(struct browser *b)
{
	struct buf text = {0};
	model_text(&b->model, &text);
	if (!text.has_failed)
		prompt_open(b, PROMPT_QUERY, text.data);
	buf_release(&text);
}

static bool act_prompt(struct browser *b, enum action action)
{
	switch (action) {
	case ACTION_QUERY:
		open_query(b);
		break;
	case ACTION_FIND:
		prompt_open(b, PROMPT_FIND, "");
		break;
	case ACTION_FIND_NEXT:
	case ACTION_FIND_PREVIOUS:
		find_again(b, action == ACTION_FIND_PREVIOUS);
		break;
	case ACTION_FILTER:
		prompt_open(b, PROMPT_FILTER, "");
		break;
	case ACTION_WRITE:
		prompt_open(b, PROMPT_WRITE, "");
		break;
	default:
		return false;
	}
	return true;
}

/* Of a key that the view did not want either; arrows at an end are no mistake. */
static void say_unused(struct browser *b, enum action action)
{
	static const enum action moves[] = {ACTION_UP,        ACTION_DOWN,  ACTION_PAGE_UP,
					    ACTION_PAGE_DOWN, ACTION_FIRST, ACTION_LAST,
					    ACTION_LEFT,      ACTION_RIGHT};
	for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
		if (moves[i] == action)
			return;
	}
	browser_say(b, ROLE_DIM, "this key does nothing here; ? shows the keys");
}

static void act_anywhere(struct browser *b, enum action action)
{
	if (edits_do(b, action) || act_prompt(b, action))
		return;
	switch (action) {
	case ACTION_COPY_ROW:
	case ACTION_COPY_COMMAND:
		copy(b, action == ACTION_COPY_COMMAND);
		break;
	case ACTION_NEXT_PANE:
	case ACTION_PREVIOUS_PANE:
		next_pane(b, action == ACTION_PREVIOUS_PANE);
		break;
	case ACTION_UNDO:
		if (!model_undo(&b->model))
			browser_say(b, ROLE_DIM, "nothing to undo");
		break;
	case ACTION_REDO:
		if (!model_redo(&b->model))
			browser_say(b, ROLE_DIM, "nothing to do again");
		break;
	case ACTION_HISTORY_BACK:
	case ACTION_HISTORY_FORTH:
		model_go_screen(&b->model, action == ACTION_HISTORY_BACK);
		break;
	case ACTION_BACK:
		back(b);
		break;
	case ACTION_HELP:
		help_open(b);
		break;
	case ACTION_BOOKMARK:
	case ACTION_GO_BOOKMARK:
		bookmarks_ask(b, action);
		break;
	case ACTION_EDITOR:
		editor_ask(b);
		break;
	case ACTION_REDRAW:
		b->wants_redraw = true;
		if (b->failure.code)
			model_forget(&b->model);
		break;
	case ACTION_NAMES:
		next_detail(b);
		break;
	case ACTION_QUIT:
		quit(b);
		break;
	case ACTION_CANCEL:
		if (b->was_cancelled)
			b->wants_quit = true;
		b->was_cancelled = true;
		browser_say(b, ROLE_DIM, "Ctrl-C again quits; so does q");
		break;
	default:
		say_unused(b, action);
		break;
	}
}

void actions_do(struct browser *b, enum action action)
{
	const struct view *v = browser_view(b);
	if (action >= ACTION_VIEW_TREE && action <= ACTION_VIEW_RUN) {
		edits_show_screen(b, (enum screen)(action - ACTION_VIEW_TREE));
		return;
	}
	if (strip_act(b, action))
		return;
	if (!b->failure.code && browser_self(b) && v->act(browser_self(b), b, action))
		return;
	act_anywhere(b, action);
}
